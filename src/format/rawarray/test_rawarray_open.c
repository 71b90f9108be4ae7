/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "format/rawarray/ra_make.h"
#include "format/rawarray/rawarray.h"
#include "support/fail_alloc.h"
#include "support/fault_io.h"
#include "support/needs.h"
#include "support/one_format.h"

#define CORPUS CIP_SOURCE_DIR "/src/format/rawarray/corpus/fuzz_rawarray/"

static ra_bytes load(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, CORPUS "%s.ra", name);
    FILE *f = fopen(path, "rb");
    ra_bytes b = { malloc(4096), 0 };
    assert_non_null(f);
    b.len = fread(b.ptr, 1, 4096, f);
    assert_in_range(b.len, 1, 4095);
    fclose(f);
    return b;
}

static cip_status open_name(one_file *f, const char *name)
{
    ra_bytes b = load(name);
    cip_status st = one_open(f, &cip_format_rawarray, b.ptr, b.len, 0, NULL);
    free(b.ptr);
    return st;
}

static cip_status open_made(one_file *f, const ra_make *m)
{
    ra_bytes b = ra_build(m);
    cip_status st = one_open(f, &cip_format_rawarray, b.ptr, b.len, 0, NULL);
    free(b.ptr);
    return st;
}

static void assert_elements(one_file *f, const void *want, size_t n)
{
    size_t len;
    uint8_t *raw = one_read(f, 0, &len);
    assert_non_null(raw);
    assert_int_equal(len, n);
    assert_memory_equal(raw, want, n);
    free(raw);
}

static void good_files_are_what_they_are(void **state)
{
    (void)state;
    NEEDS(LZ4);
    static const struct {
        const char *name, *dtype, *kind, *codec;
        int ndim;
        int64_t shape[3];
        uint64_t stored;
    } row[] = {
        { "good-complex12", "complex64", "contiguous", "none", 2, { 4, 3 }, 96 },
        { "good-int16-scalar", "int16", "contiguous", "none", 0, { 0 }, 2 },
        { "good-empty", "float64", "contiguous", "none", 3, { 3, 0, 2 }, 0 },
        { "good-big-data", "int16", "contiguous", "none", 1, { 3 }, 6 },
        { "good-big-all", "int16", "contiguous", "none", 1, { 3 }, 6 },
        { "good-big-magic", "int16", "contiguous", "none", 1, { 3 }, 6 },
        { "good-lz4", "uint8", "contiguous", "lz4", 2, { 10, 100 }, 14 },
        { "good-lz4-big", "uint16", "contiguous", "lz4", 1, { 500 }, 14 },
        { "good-int24", "int24", "contiguous", "none", 1, { 2 }, 6 },
        { "good-float128", "float128", "contiguous", "none", 1, { 2 }, 32 },
        { "good-user80", "bytes80", "contiguous", "none", 1, { 2 }, 160 },
        { "good-metadata-text", "uint8", "contiguous", "none", 1, { 2 }, 2 },
        { "good-metadata-bytes", "uint8", "contiguous", "none", 1, { 2 }, 2 },
        { "good-nested", "rawarray(float32[3, 4])", "nested", "none", 1, { 3 }, 336 },
        { "good-nested-unequal", "rawarray", "nested", "none", 1, { 2 }, 224 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        size_t len;
        assert_int_equal(open_name(&f, row[i].name), CIP_OK);
        assert_int_equal(f.layout->narray, 1);
        const cip_array *a = f.layout->array[0];
        assert_string_equal(a->path, "");
        assert_string_equal(cip_dtype_name(a->dtype), row[i].dtype);
        assert_string_equal(cip_storage_text(&a->storage), row[i].kind);
        assert_string_equal(a->storage.codec, row[i].codec);
        assert_int_equal(a->storage.nbytes, row[i].stored);
        assert_int_equal(a->storage.block, 0);
        assert_int_equal(a->view.ndim, row[i].ndim);
        for (int d = 0; d < row[i].ndim; d++)
            assert_int_equal(a->view.shape[d], row[i].shape[d]);
        assert_true(a->f_order);
        free(one_read(&f, 0, &len));
        assert_int_equal(f.err.code, CIP_OK);
        one_close(&f);
    }
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        cip_status st;
    } row[] = {
        { "bad-size", CIP_ERR_CORRUPT },
        { "bad-eltype", CIP_ERR_CORRUPT },
        { "bad-complex-odd", CIP_ERR_CORRUPT },
        { "bad-overflow", CIP_ERR_CORRUPT },
        { "bad-truncated", CIP_ERR_TRUNCATED },
        { "unsupported-flags", CIP_ERR_UNSUPPORTED },
        { "unsupported-65-dims", CIP_ERR_UNSUPPORTED },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        assert_int_equal(open_name(&f, row[i].name), row[i].st);
        assert_string_equal(f.err.part, "header");
        one_close(&f);
    }
}

static void the_documents_numbers_are_read(void **state)
{
    (void)state;
    one_file f;
    float want[24];
    for (int k = 0; k < 12; k++) {
        want[2 * k] = (float)k;
        want[2 * k + 1] = k == 0 ? -__builtin_inff() : (float)(-1.0 / k);
    }
    uint8_t bytes[96];
    for (size_t i = 0; i < 24; i++) {
        uint32_t u;
        memcpy(&u, &want[i], 4);
        cip_store_u32(bytes + 4 * i, u, false);
    }
    assert_int_equal(open_name(&f, "good-complex12"), CIP_OK);
    assert_elements(&f, bytes, 96);
    one_close(&f);
}

static void big_endian_data_are_swapped_in_every_form(void **state)
{
    (void)state;
    static const char *const name[] = { "good-big-data", "good-big-all", "good-big-magic" };
    static const uint8_t want[] = { 1, 0, 0xfe, 0xff, 0x2c, 1 };
    for (size_t i = 0; i < 3; i++) {
        one_file f;
        assert_int_equal(open_name(&f, name[i]), CIP_OK);
        assert_true(cip_dtype_is_big(f.layout->array[0]->dtype));
        assert_elements(&f, want, 6);
        one_close(&f);
    }
}

/* --- LZ4 ------------------------------------------------------------------------------------ */

static void lz4_blocks_are_decoded(void **state)
{
    (void)state;
    NEEDS(LZ4);
    one_file f;
    uint8_t want[1000];
    memset(want, 7, sizeof want);
    assert_int_equal(open_name(&f, "good-lz4"), CIP_OK);
    assert_elements(&f, want, 1000);
    one_close(&f);
    assert_int_equal(open_name(&f, "good-lz4-big"), CIP_OK);
    assert_elements(&f, want, 1000);
    one_close(&f);
}

static void damaged_lz4_opens_and_fails_when_read(void **state)
{
    (void)state;
    NEEDS(LZ4);
    one_file f;
    size_t len;
    assert_int_equal(open_name(&f, "bad-lz4"), CIP_OK);
    assert_null(one_read(&f, 0, &len));
    assert_true(f.err.code == CIP_ERR_CORRUPT || f.err.code == CIP_ERR_TRUNCATED);
    one_close(&f);
}

static void lz4_that_makes_more_than_the_dims_is_damaged(void **state)
{
    (void)state;
    NEEDS(LZ4);
    one_file f;
    size_t len;
    ra_bytes b = load("good-lz4");
    cip_store_u64(b.ptr + 48, 99, false);
    assert_int_equal(one_open(&f, &cip_format_rawarray, b.ptr, b.len, 0, NULL), CIP_OK);
    assert_null(one_read(&f, 0, &len));
    assert_int_equal(f.err.code, CIP_ERR_CORRUPT);
    one_close(&f);
    free(b.ptr);
}

static void an_empty_array_needs_no_lz4(void **state)
{
    (void)state;
    one_file f;
    const uint64_t none[] = { 0 };
    ra_make m = { .flags = 2, .eltype = 1, .elbyte = 4, .ndim = 1, .dims = none, .data = "\0bc" };
    for (m.size = 0; m.size < 2; m.size++) { /* LZ4 makes one byte of nothing */
        m.data_len = (size_t)m.size;
        assert_int_equal(open_made(&f, &m), CIP_OK);
        assert_elements(&f, "", 0);
        one_close(&f);
    }
}

static void lz4_data_for_dims_without_elements_are_damage(void **state)
{
    (void)state;
    one_file f;
    const uint64_t none[] = { 0 };
    ra_make m = {
        .flags = 2, .eltype = 1, .elbyte = 4, .ndim = 1, .dims = none, .size = 3, .data = "abc"
    };
    m.data_len = 3;
    assert_int_equal(open_made(&f, &m), CIP_ERR_CORRUPT);
    one_close(&f);
}

/* --- tree, facts ---------------------------------------------------------------------------- */

static uint64_t tree_uint(const one_file *f, const char *path)
{
    uint64_t v = 12345;
    assert_int_equal(cip_tree_get_uint(f->layout->tree, path, &v, NULL), CIP_OK);
    return v;
}

static void the_tree_shows_the_header_as_stored(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_name(&f, "good-lz4"), CIP_OK);
    const cip_node *t = f.layout->tree;
    assert_int_equal(cip_node_len(t), 5);
    assert_int_equal(tree_uint(&f, "flags"), 2);
    assert_int_equal(tree_uint(&f, "eltype"), 2);
    assert_int_equal(tree_uint(&f, "elbyte"), 1);
    assert_int_equal(tree_uint(&f, "size"), 14);
    assert_int_equal(cip_node_len(cip_tree_get(t, "dims", NULL)), 2);
    assert_int_equal(tree_uint(&f, "dims/0"), 100);
    assert_int_equal(tree_uint(&f, "dims/1"), 10);
    one_close(&f);
}

static const char *fact(const one_file *f, const char *key)
{
    for (size_t i = 0; i < f->layout->nfact; i++)
        if (strcmp(f->layout->fact[i].key, key) == 0)
            return f->layout->fact[i].value;
    return "";
}

static void facts_say_what_the_header_says(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_name(&f, "good-lz4"), CIP_OK);
    assert_string_equal(fact(&f, "dims as stored"), "[100, 10], the first varies fastest");
    assert_string_equal(fact(&f, "element type"), "uint8 (eltype 2, elbyte 1)");
    assert_string_equal(fact(&f, "byte order"), "little");
    assert_int_equal(f.layout->nfact, 3);
    one_close(&f);
    assert_int_equal(open_name(&f, "good-big-data"), CIP_OK);
    assert_string_equal(fact(&f, "byte order"), "big (data)");
    one_close(&f);
    assert_int_equal(open_name(&f, "good-big-all"), CIP_OK);
    assert_string_equal(fact(&f, "byte order"), "big (header and data)");
    one_close(&f);
    assert_int_equal(open_name(&f, "good-metadata-bytes"), CIP_OK);
    assert_string_equal(fact(&f, "trailing metadata"), "7 bytes");
    one_close(&f);
}

static void the_data_are_a_block(void **state)
{
    (void)state;
    NEEDS(LZ4);
    one_file f;
    uint8_t b[14];
    assert_int_equal(open_name(&f, "good-lz4"), CIP_OK);
    assert_int_equal(f.layout->nblock, 1);
    const cip_block *block = &f.layout->block[0];
    const cip_read_how how = { f.layout, NULL };
    assert_int_equal(block->info.offset, 64);
    assert_int_equal(block->info.data_offset, 64);
    assert_int_equal(block->info.stored_nbytes, 14);
    assert_int_equal(block->info.allocated_nbytes, 14);
    assert_int_equal(block->info.decoded_nbytes, 1000);
    assert_int_equal(block->info.flags, 2);
    assert_string_equal(block->info.codec, "lz4");
    assert_int_equal(cip_space_read_at(&how, block->stored, 0, b, 14, NULL), CIP_OK);
    assert_memory_equal(b, f.bytes + 64, 14);
    assert_int_equal(cip_space_read_at(&how, block->data, 990, b, 10, NULL), CIP_OK);
    assert_int_equal(b[9], 7);
    one_close(&f);
    assert_int_equal(open_name(&f, "good-int24"), CIP_OK);
    assert_string_equal(f.layout->block[0].info.codec, "none");
    assert_ptr_equal(f.layout->block[0].stored, f.layout->block[0].data);
    one_close(&f);
}

static void unknown_flags_are_warned_about_when_forced(void **state)
{
    (void)state;
    one_file f;
    ra_bytes b = load("unsupported-flags");
    assert_int_equal(one_open(&f, &cip_format_rawarray, b.ptr, b.len, CIP_OPEN_FORCE, NULL),
                     CIP_OK);
    assert_string_equal(fact(&f, "unknown flags"), "0xff00");
    const cip_finding *w = cip_report_get(&f.env.warnings, 0);
    assert_non_null(w);
    assert_int_equal(w->code, CIP_ERR_UNSUPPORTED);
    assert_int_equal(w->offset, 8);
    one_close(&f);
    free(b.ptr);
    assert_int_equal(open_name(&f, "good-int24"), CIP_OK);
    assert_null(cip_report_get(&f.env.warnings, 0));
    one_close(&f);
}

/* --- trailing metadata ---------------------------------------------------------------------- */

static cip_status open_with_tail(one_file *f, const void *tail, size_t n, const cip_limits *limits)
{
    ra_make m = { .eltype = 2, .elbyte = 1, .size = 1, .data_len = 1 + n };
    uint8_t *data = malloc(n + 1);
    data[0] = 'x';
    memcpy(data + 1, tail, n);
    m.data = data;
    ra_bytes b = ra_build(&m);
    cip_status st = one_open_limited(f, &cip_format_rawarray, b.ptr, b.len, 0, NULL, limits);
    free(b.ptr);
    free(data);
    return st;
}

static void assert_tail(const void *tail, size_t n, cip_node_type type, const char *text)
{
    one_file f;
    size_t len;
    cip_buf back = { 0 };
    assert_int_equal(open_with_tail(&f, tail, n, NULL), CIP_OK);
    const cip_node *m = cip_tree_get(f.layout->tree, "metadata", NULL);
    assert_int_equal(cip_node_kind(m), type);
    assert_string_equal(cip_node_text(m, &len), text);
    assert_int_equal(len, strlen(text));
    back.mem = &f.env.mem;
    assert_int_equal(cip_ra_metadata(m, &back, NULL), CIP_OK);
    assert_int_equal(back.len, n);
    assert_memory_equal(back.ptr, tail, n);
    cip_buf_clear(&back);
    assert_elements(&f, "x", 1);
    one_close(&f);
}

static void trailing_text_is_a_string(void **state)
{
    (void)state;
    assert_tail("name: \xc3\xa9\t1\r\n", 12, CIP_NODE_STRING, "name: \xc3\xa9\t1\r\n");
    assert_tail("~", 1, CIP_NODE_STRING, "~");
}

static void trailing_bytes_are_binary(void **state)
{
    (void)state;
    assert_tail("\xff", 1, CIP_NODE_BINARY, "/w==");
    assert_tail("\xff\xfe", 2, CIP_NODE_BINARY, "//4=");
    assert_tail("\xff\xfe\xfd", 3, CIP_NODE_BINARY, "//79");
    assert_tail("\0\1\2\3", 4, CIP_NODE_BINARY, "AAECAw==");
    assert_tail("a\033[1m", 5, CIP_NODE_BINARY, "YRtbMW0="); /* a terminal would obey */
    assert_tail("\xc3", 1, CIP_NODE_BINARY, "ww==");
    one_file f;
    assert_int_equal(open_name(&f, "good-metadata-bytes"), CIP_OK);
    const cip_node *m = cip_tree_get(f.layout->tree, "metadata", NULL);
    assert_string_equal(cip_node_tag(m), "tag:yaml.org,2002:binary");
    one_close(&f);
}

static void no_tail_means_no_metadata(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_with_tail(&f, "", 0, NULL), CIP_OK);
    assert_null(cip_tree_get(f.layout->tree, "metadata", NULL));
    assert_string_equal(fact(&f, "trailing metadata"), "");
    one_close(&f);
}

static void long_tails_are_not_read(void **state)
{
    (void)state;
    one_file f;
    char *tail = malloc(CIP_RA_METADATA_MAX + 1);
    memset(tail, 'a', CIP_RA_METADATA_MAX + 1);
    assert_int_equal(open_with_tail(&f, tail, CIP_RA_METADATA_MAX, NULL), CIP_OK);
    assert_int_equal(cip_node_kind(cip_tree_get(f.layout->tree, "metadata", NULL)),
                     CIP_NODE_STRING);
    one_close(&f);
    assert_int_equal(open_with_tail(&f, tail, CIP_RA_METADATA_MAX + 1, NULL), CIP_OK);
    assert_int_equal(cip_node_kind(cip_tree_get(f.layout->tree, "metadata", NULL)), CIP_NODE_NULL);
    assert_string_equal(fact(&f, "trailing metadata"), "16777217 bytes");
    one_close(&f);
    const cip_limits limits = { .size = sizeof limits, .max_tree_bytes = 99 };
    assert_int_equal(open_with_tail(&f, tail, 100, &limits), CIP_OK);
    assert_int_equal(cip_node_kind(cip_tree_get(f.layout->tree, "metadata", NULL)), CIP_NODE_NULL);
    one_close(&f);
    free(tail);
}

static void only_base64_becomes_bytes(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_name(&f, "good-metadata-bytes"), CIP_OK);
    cip_buf out = { .mem = &f.env.mem };
    cip_node n = { .type = CIP_NODE_BINARY, .text = "AA!=", .len = 4 };
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_ra_metadata(&n, &out, &err), CIP_ERR_CORRUPT);
    n.text = "A\0==";
    assert_int_equal(cip_ra_metadata(&n, &out, &err), CIP_ERR_CORRUPT);
    n.text = "====";
    assert_int_equal(cip_ra_metadata(&n, &out, &err), CIP_OK);
    assert_int_equal(out.len, 0);
    cip_buf_clear(&out);
    one_close(&f);
}

/* --- probe, query --------------------------------------------------------------------------- */

static int probe(const void *bytes, size_t n)
{
    cip_io io = { .size = n };
    return cip_format_rawarray.probe(&io, (cip_bytes){ bytes, n });
}

static void the_magic_is_recognised(void **state)
{
    (void)state;
    ra_bytes b = load("good-int24");
    assert_int_equal(probe(b.ptr, b.len), 100);
    assert_int_equal(probe(b.ptr, b.len - 1), 90);
    assert_int_equal(probe(b.ptr, 8), 90);
    assert_int_equal(probe(b.ptr, 7), 0);
    b.ptr[8] = 4; /* an unknown flag */
    assert_int_equal(probe(b.ptr, b.len), 100);
    free(b.ptr);
    b = load("unsupported-65-dims");
    assert_int_equal(probe(b.ptr, b.len), 90);
    b.ptr[0] = 'R';
    assert_int_equal(probe(b.ptr, b.len), 0);
    free(b.ptr);
}

static void assert_query(const char *name, const char *io_name, const char *want)
{
    one_file f;
    assert_int_equal(open_name(&f, name), CIP_OK);
    cip_buf out = { .mem = &f.env.mem };
    const char *real = f.io->name;
    f.io->name = io_name;
    assert_int_equal(cip_format_rawarray.query(f.layout, &out, NULL), CIP_OK);
    assert_int_equal(cip_buf_nul(&out, NULL), CIP_OK);
    assert_string_equal((char *)out.ptr, want);
    f.io->name = real;
    cip_buf_clear(&out);
    one_close(&f);
}

static void the_query_is_the_documents(void **state)
{
    (void)state;
    assert_query("good-complex12", "dir/test.ra",
                 "---\nname: test.ra\nendian: little\ntype: complex64\nsize: 96\ndimension: 2\n"
                 "shape:\n- 3\n- 4\n...\n");
    assert_query("good-big-data", "-x.ra",
                 "---\nname: \"-x.ra\"\nendian: big\ntype: int16\nsize: 6\ndimension: 1\n"
                 "shape:\n- 3\n...\n");
    assert_query("good-int16-scalar", "a/no: 1",
                 "---\nname: \"no: 1\"\nendian: little\ntype: int16\nsize: 2\ndimension: 0\n"
                 "shape: []\n...\n");
    assert_query("good-user80", "/true",
                 "---\nname: \"true\"\nendian: little\ntype: user640\nsize: 160\ndimension: 1\n"
                 "shape:\n- 2\n...\n");
    assert_query("good-lz4", "Zz0_-.9a",
                 "---\nname: Zz0_-.9a\nendian: little\ntype: uint8\nsize: 14\ndimension: 2\n"
                 "shape:\n- 100\n- 10\n...\n");
    assert_query("good-big-all", NULL,
                 "---\nname: \"\"\nendian: big\ntype: int16\nsize: 6\ndimension: 1\n"
                 "shape:\n- 3\n...\n");
}

/* --- failures ------------------------------------------------------------------------------- */

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    NEEDS(LZ4);
    static const char *const name[] = { "good-lz4", "good-metadata-bytes", "good-nested",
                                        "good-float128", "good-metadata-text" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        ra_bytes b = load(name[i]);
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = n };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            one_file f;
            size_t len;
            cip_status st = one_open(&f, &cip_format_rawarray, b.ptr, b.len, 0, &from);
            if (st == CIP_OK) {
                cip_buf out = { .mem = &f.env.mem };
                uint8_t *raw = one_read(&f, 0, &len);
                st = raw == NULL ? (cip_status)f.err.code : CIP_OK;
                free(raw);
                if (st == CIP_OK)
                    st = cip_format_rawarray.query(f.layout, &out, &f.err);
                cip_buf_clear(&out);
            }
            assert_true(st == CIP_OK || (st == CIP_ERR_NOMEM && f.err.code == CIP_ERR_NOMEM));
            one_close(&f);
            assert_int_equal(alloc.held, 0);
            if (alloc.requests < n) {
                assert_int_equal(st, CIP_OK);
                break;
            }
        }
        free(b.ptr);
    }
}

static void failing_reads_are_reported(void **state)
{
    (void)state;
    static const char *const name[] = { "good-nested", "good-metadata-text" };
    for (size_t i = 0; i < 2; i++) {
        ra_bytes b = load(name[i]);
        for (size_t n = 1;; n++) {
            cip_env env;
            fault_io fault;
            cip_layout *l;
            cip_err err = CIP_ERR_INIT;
            assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
            cip_io *io = fault_io_init(&fault, &env, b.ptr, b.len);
            fault.fail_at = n;
            assert_int_equal(cip_layout_new(&env, io, &l, NULL), CIP_OK);
            cip_status st = cip_format_rawarray.open(l, &err);
            assert_int_equal(st, fault.reads < n ? CIP_OK : CIP_ERR_IO);
            assert_int_equal(err.code, st);
            cip_layout_free(l);
            cip_env_clear(&env);
            if (st == CIP_OK) {
                assert_in_range(n, 3, 10); /* header, and a record or the tail: both were tried */
                break;
            }
        }
        free(b.ptr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files_are_what_they_are),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(the_documents_numbers_are_read),
        cmocka_unit_test(big_endian_data_are_swapped_in_every_form),
        cmocka_unit_test(lz4_blocks_are_decoded),
        cmocka_unit_test(damaged_lz4_opens_and_fails_when_read),
        cmocka_unit_test(lz4_that_makes_more_than_the_dims_is_damaged),
        cmocka_unit_test(an_empty_array_needs_no_lz4),
        cmocka_unit_test(lz4_data_for_dims_without_elements_are_damage),
        cmocka_unit_test(the_tree_shows_the_header_as_stored),
        cmocka_unit_test(facts_say_what_the_header_says),
        cmocka_unit_test(the_data_are_a_block),
        cmocka_unit_test(unknown_flags_are_warned_about_when_forced),
        cmocka_unit_test(trailing_text_is_a_string),
        cmocka_unit_test(trailing_bytes_are_binary),
        cmocka_unit_test(no_tail_means_no_metadata),
        cmocka_unit_test(long_tails_are_not_read),
        cmocka_unit_test(only_base64_becomes_bytes),
        cmocka_unit_test(the_magic_is_recognised),
        cmocka_unit_test(the_query_is_the_documents),
        cmocka_unit_test(failing_allocations_are_reported),
        cmocka_unit_test(failing_reads_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
