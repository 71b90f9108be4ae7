/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "codec/blosc/blosc.h"
#include "support/format/asdf/asdf_testing.h"
#include "support/format/blosc2/b2_testing.h"
#include "support/needs.h"

#define BYTES                                                                                      \
    "a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: ['*']}\n"

typedef struct packed {
    uint8_t *ptr;
    size_t len;
} packed;

/* Appends the encoded bytes. */
static void pack(packed *out, const char *codec, const void *p, size_t n)
{
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    const cip_codec_env env = { .mem = &mem };
    const cip_codec *c = cip_codec_find(codec);
    size_t cap = c->bound(n);
    out->ptr = realloc(out->ptr, out->len + cap + 1);
    assert_non_null(out->ptr);
    cip_dst to = { out->ptr + out->len, cap, 0 };
    assert_int_equal(c->encode(NULL, &env, 0, (cip_bytes){ p, n }, &to, NULL), CIP_OK);
    out->len += to.len;
}

static void add(packed *out, const void *p, size_t n)
{
    out->ptr = realloc(out->ptr, out->len + n + 1);
    assert_non_null(out->ptr);
    memcpy(out->ptr + out->len, p, n);
    out->len += n;
}

/* One chunk of the `lz4` code's framing. */
static void add_chunk(packed *out, const void *p, size_t n)
{
    packed block = { 0 };
    uint8_t head[8];
    pack(&block, "lz4", p, n);
    cip_store_u32(head, (uint32_t)block.len + 4, true);
    cip_store_u32(head + 4, (uint32_t)n, false);
    add(out, head, sizeof head);
    add(out, block.ptr, block.len);
    free(block.ptr);
}

static void fill(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(i / 7 + i % 3);
}

/* Opens a file with one block of the code; `declared` is its data_size. */
static void open_block(one_file *f, const char code[4], const packed *p, uint64_t declared,
                       bool streamed)
{
    asdf_make m = { 0 };
    make_tree(&m, BYTES);
    size_t at = make_block(&m, code, p->ptr, p->len, declared);
    if (streamed)
        m.ptr[at + 9] = ASDF_STREAMED;
    assert_int_equal(make_open(f, &m, 0), CIP_OK);
    assert_int_equal(f->layout->nblock, 1);
    make_clear(&m);
}

static void assert_block(const char code[4], const packed *p, const void *want, size_t n)
{
    one_file f;
    open_block(&f, code, p, n, false);
    cip_status st = make_try(&f, "a");
    if (st != CIP_OK)
        print_error("%.4s: %s\n", code, f.err.text);
    assert_true(make_gives(&f, "a", want, n));
    assert_int_equal(f.layout->block[0].info.decoded_nbytes, n);
    assert_int_equal(f.env.warnings.n, 0);
    one_close(&f);
}

static void assert_fails(const char code[4], const packed *p, uint64_t declared, cip_status st,
                         const char *why)
{
    one_file f;
    open_block(&f, code, p, declared, false);
    cip_status got = make_try(&f, "a");
    if (got != st || strstr(f.err.text, why) == NULL)
        print_error("%.4s: %s: %s\n", code, cip_status_name(got), f.err.text);
    assert_int_equal(got, st);
    assert_non_null(strstr(f.err.text, why));
    one_close(&f);
}

static const struct {
    const char *code, *codec, *name;
} streams[] = {
    { "zlib", "zlib", "zlib" },
    { "bzp2", "bzip2", "bzp2" },
    { "lz4f", "lz4f", "lz4f" },
    { "zstd", "zstd", "zstd" },
};

static uint8_t data[100000];

static void every_code_decodes(void **state)
{
    (void)state;
    NEEDS_CODECS();
    fill(data, sizeof data);
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        packed p = { 0 };
        pack(&p, streams[i].codec, data, sizeof data);
        assert_block(streams[i].code, &p, data, sizeof data);
        one_file f;
        open_block(&f, streams[i].code, &p, sizeof data, false);
        assert_string_equal(f.layout->block[0].info.codec, streams[i].name);
        assert_string_equal(make_find(&f, "a")->storage.codec, streams[i].name);
        one_close(&f);
        free(p.ptr);
    }
}

static void bytes_behind_a_stream_are_ignored(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (size_t i = 0; i < 2; i++) {
        packed p = { 0 };
        pack(&p, streams[i].codec, data, 1000);
        add(&p, "junk", 4);
        assert_block(streams[i].code, &p, data, 1000);
        free(p.ptr);
    }
}

static void a_wrong_data_size_is_corrupt(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        packed p = { 0 };
        pack(&p, streams[i].codec, data, 1000);
        for (int d = -1; d <= 1; d += 2) {
            one_file f;
            open_block(&f, streams[i].code, &p, (uint64_t)(1000 + d), false);
            cip_status st = make_try(&f, "a");
            assert_true(st == CIP_ERR_CORRUPT || st == CIP_ERR_TRUNCATED);
            assert_string_equal(f.err.part, "block 0");
            one_close(&f);
        }
        free(p.ptr);
    }
}

static void a_wrong_data_size_refuses_arrays_that_do_not_reach_the_end_too(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const struct {
        int rows;
        uint64_t declared;
    } of[] = { { 1000, 1001 }, { 1000, 1500 }, { 900, 999 }, { 900, 1001 }, { 500, 3000 } };
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
            char tree[200];
            one_file f;
            asdf_make m = { 0 };
            packed p = { 0 };
            pack(&p, streams[i].codec, data, 1000);
            snprintf(tree, sizeof tree,
                     "a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, "
                     "shape: [%d]}\n",
                     of[k].rows);
            make_tree(&m, tree);
            make_block(&m, streams[i].code, p.ptr, p.len, of[k].declared);
            assert_int_equal(make_open(&f, &m, 0), CIP_OK);
            assert_int_equal(make_try(&f, "a"), CIP_ERR_CORRUPT);
            assert_non_null(strstr(f.err.text, "decoded bytes, found"));
            assert_int_equal(make_try(&f, "a"), CIP_ERR_CORRUPT); /* and again */
            one_close(&f);
            make_clear(&m);
            free(p.ptr);
        }
}

static void rows_of_an_absurd_data_size_are_refused(void **state)
{
    (void)state;
    packed p = { 0 };
    pack(&p, "zlib", data, 1000);
    assert_fails("zlib", &p, UINT64_MAX, CIP_ERR_CORRUPT, "expected at most 2^63 rows");
    assert_fails("zlib", &p, (uint64_t)INT64_MAX + 1, CIP_ERR_CORRUPT,
                 "expected at most 2^63 rows");
    one_file f;
    open_block(&f, "zlib", &p, INT64_MAX, false);
    assert_int_equal(make_find(&f, "a")->view.shape[0], INT64_MAX);
    one_close(&f);
    free(p.ptr);
}

static void lz4_chunks_may_be_of_any_size(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const size_t sizes[] = { 100, 1, 5000, 4096, 17, 70000 };
    fill(data, sizeof data);
    for (int tail = 0; tail <= 3; tail++) { /* up to three bytes may follow */
        packed p = { 0 };
        size_t at = 0;
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            add_chunk(&p, data + at, sizes[i]);
            at += sizes[i];
        }
        add(&p, "\xff\xff\xff", (size_t)tail);
        assert_block("lz4\0", &p, data, at);
        free(p.ptr);
    }
}

static void lz4_windows_decode_only_their_chunks(void **state)
{
    (void)state;
    NEEDS_CODECS();
    packed p = { 0 };
    fill(data, sizeof data);
    for (size_t i = 0; i < 10; i++)
        add_chunk(&p, data + i * 1000, 1000);
    p.ptr[12] ^= 0xff; /* the first chunk is damaged; its sizes are not */
    one_file f;
    open_block(&f, "lz4\0", &p, 10000, false);
    uint8_t got[1500];
    const cip_read_how how = { f.layout, NULL };
    const cip_array *a = make_find(&f, "a");
    assert_int_equal(cip_space_read_at(&how, a->space, 4700, got, sizeof got, &f.err), CIP_OK);
    assert_memory_equal(got, data + 4700, sizeof got);
    cip_space *made;
    assert_int_equal(cip_space_resolve(a->space, &made, NULL), CIP_OK);
    assert_int_equal(made->kind, CIP_SPACE_CHUNKED);
    one_close(&f);
    free(p.ptr);
}

static void lz4_framing_that_lies_is_refused(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const struct {
        uint32_t n, m; /* of the second chunk */
        cip_status st;
        const char *why;
    } rows[] = {
        { 0, 10, CIP_ERR_CORRUPT, "expected an lz4 chunk of more than 4 bytes, found 0" },
        { 4, 10, CIP_ERR_CORRUPT, "found 4" },
        { UINT32_MAX, 10, CIP_ERR_TRUNCATED, "expected an lz4 chunk of 4294967295 bytes" },
        { 16, 10, CIP_ERR_TRUNCATED, "expected an lz4 chunk of 16 bytes, found 15" },
        { 15, UINT32_MAX, CIP_ERR_CORRUPT, "that 11 bytes can hold, found 4294967295" },
        { 15, 0x7e000001, CIP_ERR_CORRUPT, "that 11 bytes can hold" },
        { 15, 4080, CIP_ERR_CORRUPT, "that 11 bytes can hold, found 4080" },
        { 15, 11, CIP_ERR_CORRUPT, "expected 110 decoded bytes, found 111" },
        { 15, 9, CIP_ERR_CORRUPT, "expected 110 decoded bytes, found 109" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        packed p = { 0 };
        add_chunk(&p, data, 100);
        size_t at = p.len;
        add_chunk(&p, "0123456789", 10); /* 4 + 4 + 11 bytes */
        assert_int_equal(p.len - at, 19);
        cip_store_u32(p.ptr + at, rows[i].n, true);
        cip_store_u32(p.ptr + at + 4, rows[i].m, false);
        assert_fails("lz4\0", &p, 110, rows[i].st, rows[i].why);
        free(p.ptr);
    }
    packed two = { 0 };
    add(&two, "\0\0", 2);
    assert_fails("lz4\0", &two, 24, CIP_ERR_TRUNCATED, "expected an lz4 chunk, found 2 bytes");
    assert_fails("lz4\0", &two, 0, CIP_ERR_TRUNCATED, "expected an lz4 chunk");
    two.len = 0;
    assert_fails("lz4\0", &two, 24, CIP_ERR_CORRUPT, "expected 24 decoded bytes, found 0");
    free(two.ptr);
}

static void empty_payloads_are_empty_arrays(void **state)
{
    (void)state;
    NEEDS_CODECS();
    packed p = { 0 };
    assert_block("lz4\0", &p, "", 0);
    assert_block("\0\0\0\0", &p, "", 0);
    add_chunk(&p, "", 0); /* a chunk of nothing */
    add_chunk(&p, "abc", 3);
    assert_block("lz4\0", &p, "abc", 3);
    free(p.ptr);
    p = (packed){ 0 };
    pack(&p, "zlib", "", 0);
    assert_block("zlib", &p, "", 0);
    free(p.ptr);
}

static void more_lz4_chunks_than_the_limit_are_refused(void **state)
{
    (void)state;
    NEEDS_CODECS();
    packed p = { 0 };
    asdf_make m = { 0 };
    for (int i = 0; i < 4; i++)
        add_chunk(&p, "x", 1);
    make_tree(&m, BYTES);
    make_block(&m, "lz4\0", p.ptr, p.len, 4);
    for (uint64_t max = 3; max <= 4; max++) {
        one_file f;
        const cip_limits limits = { .size = sizeof limits, .max_blocks = max };
        assert_int_equal(one_open_limited(&f, &cip_format_asdf, m.ptr, m.len, 0, NULL, &limits),
                         CIP_OK);
        assert_int_equal(make_try(&f, "a"), max == 3 ? CIP_ERR_LIMIT : CIP_OK);
        one_close(&f);
    }
    make_clear(&m);
    free(p.ptr);
}

static void a_frame_under_the_code_lz4_is_read_as_one(void **state)
{
    (void)state;
    NEEDS_CODECS();
    packed p = { 0 };
    pack(&p, "lz4f", data, sizeof data);
    assert_block("lz4\0", &p, data, sizeof data);
    p.ptr[6] ^= 0xff; /* its header's checksum is wrong: then it is a chunk of 69356824 bytes */
    assert_fails("lz4\0", &p, sizeof data, CIP_ERR_TRUNCATED,
                 "expected an lz4 chunk of 69356824 bytes");
    free(p.ptr);
}

static void the_last_nul_belongs_to_the_code_lz4(void **state)
{
    (void)state;
    NEEDS_CODECS();
    packed p = { 0 };
    add_chunk(&p, "abc", 3);
    assert_fails("lz4 ", &p, 3, CIP_ERR_UNSUPPORTED, "found 'lz4\\x20'");
    free(p.ptr);
}

static void frames_become_chunks_where_they_can(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const struct {
        const char *codec;
        size_t n;
        cip_space_kind kind;
    } rows[] = {
        { "lz4f", 1 << 20, CIP_SPACE_CHUNKED },
        { "zstd", 1 << 20, CIP_SPACE_CHUNKED }, /* one small frame */
        { "zstd", 8 << 20, CIP_SPACE_CHUNKED },
        { "zstd", (8 << 20) + 1, CIP_SPACE_SEQ }, /* one large one */
    };
    uint8_t *big = calloc((8 << 20) + 1, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        packed p = { 0 };
        one_file f;
        cip_space *made;
        pack(&p, rows[i].codec, big, rows[i].n);
        open_block(&f, rows[i].codec, &p, rows[i].n, false);
        assert_int_equal(cip_space_resolve(make_find(&f, "a")->space, &made, &f.err), CIP_OK);
        assert_int_equal(made->kind, rows[i].kind);
        assert_int_equal(made->len, rows[i].n);
        if (made->kind == CIP_SPACE_CHUNKED)
            assert_non_null(made->in_order);
        assert_true(make_gives(&f, "a", big, rows[i].n));
        one_close(&f);
        free(p.ptr);
    }
    free(big);
}

static void streamed_payloads_are_decoded_to_the_end_of_the_file(void **state)
{
    (void)state;
    NEEDS_CODECS();
    fill(data, sizeof data);
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        one_file f;
        packed p = { 0 };
        pack(&p, streams[i].codec, data, sizeof data);
        open_block(&f, streams[i].code, &p, 5, true);
        assert_true(make_gives(&f, "a", data, sizeof data));
        assert_int_equal(make_warned(&f, "it is decoded up to the file's end"), 1);
        assert_string_equal(cip_storage_text(&make_find(&f, "a")->storage), "streamed");
        one_close(&f);
        p.len /= 2;
        open_block(&f, streams[i].code, &p, 5, true);
        assert_true(make_try(&f, "a") == CIP_ERR_TRUNCATED || make_try(&f, "a") == CIP_ERR_CORRUPT);
        one_close(&f);
        free(p.ptr);
    }
    one_file f;
    packed p = { 0 };
    add_chunk(&p, data, 1000);
    add_chunk(&p, data + 1000, 50);
    open_block(&f, "lz4\0", &p, 5, true);
    assert_true(make_gives(&f, "a", data, 1050));
    one_close(&f);
    free(p.ptr);
}

static void views_share_the_decoded_bytes_and_are_checked_when_opening(void **state)
{
    (void)state;
    NEEDS_CODECS();
    one_file f;
    asdf_make m = { 0 };
    packed p = { 0 };
    fill(data, sizeof data);
    pack(&p, "lz4f", data, 1000);
    make_tree(
        &m,
        "a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [10], "
        "offset: 500, "
        "strides: [-50]}\n"
        "b: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [1000]}\n"
        "c: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [1001]}\n");
    make_block(&m, "lz4f", p.ptr, p.len, 1000);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_ptr_equal(make_find(&f, "a")->space, make_find(&f, "b")->space);
    uint8_t want[10];
    for (size_t i = 0; i < 10; i++)
        want[i] = data[500 - 50 * i];
    assert_true(make_gives(&f, "a", want, 10));
    assert_int_equal(make_find(&f, "c")->st, CIP_ERR_RANGE);
    one_close(&f);
    make_clear(&m);
    free(p.ptr);
}

/* One Blosc1 chunk in blocks of 512 bytes. */
static void add_blosc(packed *out, const void *p, size_t n)
{
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    const cip_blosc_spec spec = {
        .typesize = 4, .compcode = CIP_BLOSC_BLOSCLZ, .level = 5, .blocksize = 512, .blosc1 = true
    };
    packed room = { malloc(cip_blosc_stored_bound(n)), 0 };
    assert_non_null(room.ptr);
    assert_int_equal(cip_blosc_encode(&mem, &spec, (cip_bytes){ p, n }, room.ptr,
                                      cip_blosc_stored_bound(n), &room.len, NULL),
                     CIP_OK);
    add(out, room.ptr, room.len);
    free(room.ptr);
}

static void blosc_chunks_one_or_more_are_read(void **state)
{
    (void)state;
    packed p = { 0 };
    one_file f;
    fill(data, sizeof data);
    add_blosc(&p, data, 5000);
    assert_block("blsc", &p, data, 5000);
    add_blosc(&p, "", 0);
    add_blosc(&p, data + 5000, 30);
    assert_block("blsc", &p, data, 5030);
    open_block(&f, "blsc", &p, 5, true); /* streamed */
    assert_true(make_gives(&f, "a", data, 5030));
    one_close(&f);
    add(&p, "junk", 4); /* what follows is ignored */
    assert_block("blsc", &p, data, 5030);
    open_block(&f, "blsc", &p, 5, true);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_TRUNCATED);
    one_close(&f);
    free(p.ptr);
}

static void blosc_windows_decode_only_their_blocks(void **state)
{
    (void)state;
    packed p = { 0 };
    one_file f;
    uint8_t got[700];
    for (size_t i = 0; i < 8000; i++)
        data[i] = (uint8_t)(i / 60);
    add_blosc(&p, data, 8000);
    assert_true(p.len < 4000);
    uint32_t first = cip_load_u32(p.ptr + 16, false); /* of the table: block 0 */
    memset(p.ptr + first, 0xff, 8);
    open_block(&f, "blsc", &p, 8000, false);
    const cip_read_how how = { f.layout, NULL };
    const cip_array *a = make_find(&f, "a");
    assert_int_equal(cip_space_read_at(&how, a->space, 900, got, sizeof got, &f.err), CIP_OK);
    assert_memory_equal(got, data + 900, sizeof got);
    assert_int_equal(cip_space_read_at(&how, a->space, 400, got, sizeof got, &f.err),
                     CIP_ERR_CORRUPT);
    one_close(&f);
    free(p.ptr);
}

static void blosc_chunks_that_lie_are_refused(void **state)
{
    (void)state;
    packed p = { 0 };
    fill(data, sizeof data);
    add_blosc(&p, data, 5000);
    assert_fails("blsc", &p, 4999, CIP_ERR_CORRUPT, "expected 4999 decoded bytes, found 5000");
    assert_fails("blsc", &p, 5001, CIP_ERR_CORRUPT, "expected 5001 decoded bytes, found 5000");
    p.len--;
    assert_fails("blsc", &p, 5000, CIP_ERR_TRUNCATED, "found");
    p.len = 15;
    assert_fails("blsc", &p, 5000, CIP_ERR_TRUNCATED, "header of 16 bytes, found 15");
    p.len = 0;
    assert_fails("blsc", &p, 5000, CIP_ERR_CORRUPT, "expected 5000 decoded bytes, found 0");
    add(&p, "\2\1\3\0", 4); /* typesize 0 */
    add(&p, "\0\1\0\0\0\1\0\0\x10\0\0\0", 12);
    assert_fails("blsc", &p, 256, CIP_ERR_CORRUPT, "typesize");
    free(p.ptr);
}

/* A block that is a whole Blosc2 frame: three chunks of 40 bytes. */
static void frames_of_blosc2_are_read(void **state)
{
    (void)state;
    const b2_make m = { .typesize = 4, .chunksize = 40, .nchunk = 3, .last = 20 };
    b2_bytes b = b2_build(&m);
    packed p = { 0 };
    uint8_t want[100];
    one_file f;
    b2_pattern(0, want, sizeof want);
    add(&p, b.ptr, b.len);
    assert_block("bls2", &p, want, 100);
    open_block(&f, "bls2", &p, 5, true); /* streamed */
    assert_true(make_gives(&f, "a", want, 100));
    one_close(&f);
    assert_fails("bls2", &p, 99, CIP_ERR_CORRUPT, "expected 99 decoded bytes, found 100");
    p.ptr[0] = 'x';
    assert_fails("bls2", &p, 100, CIP_ERR_FORMAT, "expected the magic");
    p.ptr[0] = 0x9e;
    p.len -= 1;
    assert_fails("bls2", &p, 100, CIP_ERR_TRUNCATED, "expected a frame");
    free(p.ptr);
    free(b.ptr);
}

static void codes_that_are_not_read_cost_their_block_only(void **state)
{
    (void)state;
    static const struct {
        const char *code, *why;
    } rows[] = {
        { "quux", "expected a known compression, found 'quux'" },
        { "\xff\x1b[0", "found '\\xff\\x1b[0'" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        asdf_make m = { 0 };
        make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
        make_block(&m, rows[i].code, "whatever", 8, 24);
        make_three(&m);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(make_try(&f, "a"), CIP_ERR_UNSUPPORTED);
        assert_non_null(strstr(f.err.text, rows[i].why));
        assert_true(make_gives_three(&f, "b"));
        assert_int_equal(f.env.warnings.n, 0);
        uint8_t stored[8];
        const cip_read_how how = { f.layout, NULL };
        assert_int_equal(cip_space_read_at(&how, f.layout->block[0].stored, 0, stored, 8, NULL),
                         CIP_OK);
        assert_memory_equal(stored, "whatever", 8);
        one_close(&f);
        make_clear(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_decodes),
        cmocka_unit_test(bytes_behind_a_stream_are_ignored),
        cmocka_unit_test(a_wrong_data_size_is_corrupt),
        cmocka_unit_test(a_wrong_data_size_refuses_arrays_that_do_not_reach_the_end_too),
        cmocka_unit_test(rows_of_an_absurd_data_size_are_refused),
        cmocka_unit_test(lz4_chunks_may_be_of_any_size),
        cmocka_unit_test(lz4_windows_decode_only_their_chunks),
        cmocka_unit_test(lz4_framing_that_lies_is_refused),
        cmocka_unit_test(empty_payloads_are_empty_arrays),
        cmocka_unit_test(more_lz4_chunks_than_the_limit_are_refused),
        cmocka_unit_test(a_frame_under_the_code_lz4_is_read_as_one),
        cmocka_unit_test(the_last_nul_belongs_to_the_code_lz4),
        cmocka_unit_test(frames_become_chunks_where_they_can),
        cmocka_unit_test(streamed_payloads_are_decoded_to_the_end_of_the_file),
        cmocka_unit_test(views_share_the_decoded_bytes_and_are_checked_when_opening),
        cmocka_unit_test(blosc_chunks_one_or_more_are_read),
        cmocka_unit_test(blosc_windows_decode_only_their_blocks),
        cmocka_unit_test(blosc_chunks_that_lie_are_refused),
        cmocka_unit_test(frames_of_blosc2_are_read),
        cmocka_unit_test(codes_that_are_not_read_cost_their_block_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
