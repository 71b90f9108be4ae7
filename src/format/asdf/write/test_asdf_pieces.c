/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/asdf/write/asdf_write_testing.h"
#include "support/fail_alloc.h"
#include "support/needs.h"

static const char *const all_codecs[] = { "none", "zlib", "bzp2", "lz4", "lz4f", "zstd" };

/* --- a file as it stands ---------------------------------------------------------------------- */

/* Block 0 with bytes of its own in the header and free space behind, block 1 that nothing names. */
static void make_odd(asdf_make *m)
{
    uint8_t head[ASDF_HEADER_LEN + 8] = ASDF_MAGIC;
    make_text(m, "#ASDF 1.0.0\n# a comment\n#ASDF_STANDARD 1.4.0\n" MAKE_YAML
                 "# kept\nb: 1   # and this\na: " MAKE_INT32 "...\n");
    cip_store_u16(head + 4, 48 + 8, true);
    cip_store_u64(head + 14, 40, true);
    cip_store_u64(head + 22, 24, true);
    cip_store_u64(head + 30, 24, true);
    memcpy(head + 54, "own\0\0\0\0\0", 8);
    make_bytes(m, head, sizeof head);
    for (uint32_t i = 0; i < 10; i++) {
        uint8_t b[4];
        cip_store_u32(b, i, false);
        make_bytes(m, b, 4);
    }
    make_three(m);
}

static cip_status rewrite_with(made *m, const asdf_make *in, const cip_spec *spec)
{
    one_file f;
    assert_int_equal(make_open(&f, in, 0), CIP_OK);
    made_start(m, NULL);
    cip_status st = made_open(m);
    if (st == CIP_OK)
        st = cip_format_asdf.rewrite(f.layout, spec, &m->out[0], &m->err);
    one_close(&f);
    return st;
}

/* In a file of 0.1 a header with unknown flags is taken for another layout's when it is longer. */
static void headers_whose_length_tells_the_layout_are_not_padded(void **state)
{
    (void)state;
    asdf_make in = { 0 };
    made m;
    one_file f;
    const cip_spec spec = { .big = -1 }, aligned = { .big = -1, .align = 64 };
    make_text(&in, "#ASDF 0.1.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/0.1.0/\n--- !core/asdf\n"
                   "a: !core/ndarray {source: 0, datatype: int32, byteorder: little, shape: [6]}\n"
                   "...\n");
    size_t at = make_six(&in);
    cip_store_u32(in.ptr + at + 6, 0xce0000, true);
    assert_int_equal(rewrite_with(&m, &in, &spec), CIP_OK);
    made_reopen(&m, &f);
    assert_true(make_gives_six(&f, "a"));
    one_close(&f);
    made_end(&m);
    assert_int_equal(rewrite_with(&m, &in, &aligned), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(m.err.text, "expected no alignment for blocks of ASDF 0.1"));
    made_end(&m);
    make_clear(&in);
}

/* A block of layout B, of 36 bytes, with 64 bytes more in its header, of which the eighth is `own`.
 */
static void make_large_header(asdf_make *m, uint32_t flags, uint8_t own)
{
    uint8_t head[6 + 36 + 64] = ASDF_MAGIC;
    cip_store_u16(head + 4, 36 + 64, true);
    cip_store_u32(head + 6, flags, true);
    for (size_t at = 10; at < 34; at += 8)
        cip_store_u64(head + at, 24, true);
    head[42 + 7] = own;
    make_bytes(m, head, sizeof head);
    for (uint32_t i = 0; i < 6; i++) {
        uint8_t b[4];
        cip_store_u32(b, i, false);
        make_bytes(m, b, 4);
    }
}

/* Without the zeros behind that byte it would be a header of 44 bytes, layout A's. */
static void headers_do_not_shrink_to_another_layouts(void **state)
{
    (void)state;
    asdf_make in = { 0 };
    made m;
    one_file f;
    const cip_spec spec = { .big = -1 };
    make_text(&in, "#ASDF 0.1.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/0.1.0/\n--- !core/asdf\n"
                   "a: !core/ndarray {source: 0, datatype: int32, byteorder: little, shape: [6]}\n"
                   "b: !core/ndarray {source: 1, datatype: int32, byteorder: little, shape: [6]}\n"
                   "...\n");
    make_large_header(&in, 0x39206c68, 9);
    make_large_header(&in, 0, 0);
    assert_int_equal(rewrite_with(&m, &in, &spec), CIP_OK);
    made_reopen(&m, &f);
    assert_true(make_gives_six(&f, "a"));
    assert_true(make_gives_six(&f, "b"));
    one_close(&f);
    made_end(&m);
    make_clear(&in);
}

static void text_header_bytes_and_unnamed_blocks_survive(void **state)
{
    (void)state;
    asdf_make in = { 0 };
    made m;
    one_file f;
    const cip_spec spec = { .big = -1 };
    make_odd(&in);
    assert_int_equal(rewrite_with(&m, &in, &spec), CIP_OK);
    made_reopen(&m, &f);
    size_t end = (size_t)((char *)memmem(in.ptr, in.len, "\n...\n", 5) - (char *)in.ptr) + 5;
    assert_memory_equal(f.bytes, in.ptr, end);
    assert_int_equal(f.layout->nblock, 2);
    const asdf_file *a = cip_asdf_of(f.layout);
    assert_int_equal(a->blocks.at[0].allocated, 40);
    assert_int_equal(a->blocks.at[0].used, 24);
    assert_memory_equal(f.bytes + a->blocks.at[0].offset + 54, "own", 3);
    assert_int_equal(a->blocks.at[0].header_size, 48 + 3);
    assert_int_equal(a->blocks.at[0].data_off % 64, 0);
    assert_int_equal(a->blocks.at[1].data_off % 64, 0);
    assert_int_equal(a->index.state, ASDF_INDEX_GOOD);
    assert_true(a->blocks.at[0].offset - end >= 4096);
    assert_true(make_gives_six(&f, "a"));
    one_close(&f);
    made_end(&m);
    make_clear(&in);
}

static void without_room_the_header_aligns(void **state)
{
    (void)state;
    asdf_make in = { 0 };
    made m;
    one_file f;
    const cip_spec spec = { .tree_slack = -1, .align = 128 };
    make_odd(&in);
    assert_int_equal(rewrite_with(&m, &in, &spec), CIP_OK);
    made_reopen(&m, &f);
    const asdf_file *a = cip_asdf_of(f.layout);
    assert_int_equal(a->blocks.at[0].offset, a->tree_off + a->tree_len);
    assert_int_equal(a->blocks.at[0].data_off % 128, 0);
    one_close(&f);
    made_end(&m);
    make_clear(&in);
}

static void line_ends_and_a_missing_marker_are_made_right(void **state)
{
    (void)state;
    static const char crlf[] =
        "#ASDF 1.0.0\r\n#ASDF_STANDARD 1.5.0\r\n%YAML 1.1\r\n---\r\na: 1\r\n";
    for (int marker = 0; marker < 2; marker++) {
        asdf_make in = { 0 };
        made m;
        size_t n;
        const cip_spec spec = { .big = -1 };
        make_text(&in, crlf);
        make_text(&in, marker ? "...\r\n" : "");
        make_six(&in);
        assert_int_equal(rewrite_with(&m, &in, &spec), CIP_OK);
        const char *text = made_bytes(&m, 0, &n);
        assert_non_null(memmem(text, n, "a: 1\r\n...", 9));
        assert_non_null(memmem(text, n, "#ASDF BLOCK INDEX\r\n%YAML 1.1\r\n---\r\n- ", 37));
        assert_string_equal(text + n - 5, "...\r\n");
        made_end(&m);
        make_clear(&in);
    }
}

/* Headers that are believed only where a block is expected. */
static void odd_headers_stay_where_they_are_found(void **state)
{
    (void)state;
    for (int what = 0; what < 3; what++) {
        asdf_make in = { 0 };
        made m;
        one_file f;
        size_t at[3];
        const cip_spec spec = { .big = -1 };
        make_two(&in, at);
        if (what == 0)
            cip_store_u64(in.ptr + at[0] + 30, 99, true); /* data_size */
        if (what == 1)
            cip_store_u32(in.ptr + at[0] + 6, 2, true);
        if (what == 2)
            in.ptr[at[0] + 10] = 1;
        assert_int_equal(rewrite_with(&m, &in, &spec), CIP_OK);
        made_reopen(&m, &f);
        assert_int_equal(f.layout->nblock, 2);
        assert_int_equal(make_gives_six(&f, "a"), what != 2);
        assert_true(make_gives_three(&f, "b"));
        assert_int_equal(f.layout->block[0].info.offset == cip_asdf_of(f.layout)->blocks_from,
                         what != 0);
        one_close(&f);
        made_end(&m);
        make_clear(&in);
    }
}

static void a_file_without_a_tree_stays_one(void **state)
{
    (void)state;
    asdf_make in = { 0 };
    made m;
    size_t n;
    const cip_spec spec = { .big = -1 };
    make_text(&in, MAKE_LINES);
    size_t at = in.len;
    make_six(&in);
    assert_int_equal(rewrite_with(&m, &in, &spec), CIP_OK);
    const char *text = made_bytes(&m, 0, &n);
    assert_memory_equal(text + at, ASDF_MAGIC, 4);
    assert_int_equal((at + 6 + cip_load_u16(text + at + 4, true)) % 64, 0);
    made_end(&m);
    make_clear(&in);
}

static void blocks_are_coded_anew_where_that_is_asked_for(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const uint8_t zeros[16];
    for (size_t i = 0; i < 6; i++) {
        asdf_make in = { 0 };
        made m;
        one_file f;
        uint8_t want[16];
        cip_spec spec = { .codec = all_codecs[i] };
        make_tree(&in, "a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, "
                       "shape: [5000]}\nb: " MAKE_FLOAT64);
        uint8_t *data = calloc(5000, 1);
        make_raw(&in, data, 5000);
        make_three(&in);
        assert_int_equal(rewrite_with(&m, &in, &spec), CIP_OK);
        made_reopen(&m, &f);
        const asdf_block *b = cip_asdf_of(f.layout)->blocks.at;
        assert_true(i == 0 ? b[0].used == 5000 : b[0].used < 200);
        assert_int_equal(b[0].data_size, 5000);
        make_md5(f.bytes + b[0].data_off, (size_t)b[0].used, want);
        assert_memory_equal(b[0].checksum, want, 16);
        assert_true(cip_asdf_is_raw(&b[1]) ? b[1].used == 24 : b[1].used < 24);
        assert_true(make_gives(&f, "a", data, 5000));
        assert_true(make_gives_three(&f, "b"));
        one_close(&f);
        made_end(&m);
        spec.checksum = i % 2 != 0 ? "legacy" : "none";
        assert_int_equal(rewrite_with(&m, &in, &spec), CIP_OK);
        made_reopen(&m, &f);
        make_md5(data, 5000, want);
        assert_memory_equal(cip_asdf_of(f.layout)->blocks.at[0].checksum, i % 2 != 0 ? want : zeros,
                            16);
        one_close(&f);
        made_end(&m);
        free(data);
        make_clear(&in);
    }
}

/* The block does not end where the next one starts, so its data wait for its checksum. */
static void data_that_wait_for_their_checksum_are_coded_anew(void **state)
{
    (void)state;
    NEEDS_CODECS();
    enum { N = 5 << 20 }; /* over a piece of the codec */
    asdf_make in = { 0 };
    made m;
    one_file f;
    cip_spec spec = { .codec = "zstd" };
    uint8_t *data = calloc(N, 1);
    make_tree(&in, "a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, "
                   "shape: [5242880]}\nb: " MAKE_FLOAT64);
    make_raw(&in, data, N);
    make_bytes(&in, "junk", 4);
    make_three(&in);
    assert_int_equal(rewrite_with(&m, &in, &spec), CIP_OK);
    made_reopen(&m, &f);
    assert_true(make_gives(&f, "a", data, N));
    one_close(&f);
    made_end(&m);
    free(data);
    make_clear(&in);
}

static void checksums_alone_are_made_anew(void **state)
{
    (void)state;
    static const uint8_t zeros[16];
    const char *const which[] = { "none", "md5", "legacy" };
    asdf_make in = { 0 };
    size_t at[3];
    make_two(&in, at);
    memset(in.ptr + at[0] + 38, 7, 16);
    for (size_t i = 0; i < 3; i++) {
        made m;
        one_file f;
        uint8_t want[16];
        const cip_spec spec = { .checksum = which[i] };
        assert_int_equal(rewrite_with(&m, &in, &spec), CIP_OK);
        made_reopen(&m, &f);
        make_md5(f.bytes + cip_asdf_of(f.layout)->blocks.at[0].data_off, 24, want);
        assert_memory_equal(cip_asdf_of(f.layout)->blocks.at[0].checksum, i == 0 ? zeros : want,
                            16);
        one_close(&f);
        made_end(&m);
    }
    make_clear(&in);
}

static void make_streamed(asdf_make *m)
{
    make_tree(m, "a: !core/ndarray-1.0.0 {source: -1, datatype: int32, byteorder: little, shape: "
                 "['*']}\n");
    size_t at = make_six(m);
    cip_store_u32(m->ptr + at + 6, 1, true);
    memset(m->ptr + at + 14, 0, 40);
}

static void a_streamed_block_stays_one_unless_it_is_compressed(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (size_t i = 0; i < 3; i++) {
        asdf_make in = { 0 };
        made m;
        one_file f;
        const cip_spec spec = { .codec = i == 0   ? NULL
                                         : i == 1 ? "none"
                                                  : "lz4",
                                .checksum = "md5" };
        make_streamed(&in);
        assert_int_equal(rewrite_with(&m, &in, &spec), CIP_OK);
        made_reopen(&m, &f);
        const asdf_file *a = cip_asdf_of(f.layout);
        assert_int_equal(a->blocks.at[0].flags, i == 2 ? 0 : 1);
        assert_int_equal(a->index.state, i == 2 ? ASDF_INDEX_GOOD : ASDF_INDEX_NONE);
        assert_int_equal(a->blocks.at[0].used, i == 2 ? 24 : 0);
        assert_true(make_gives_six(&f, "a"));
        one_close(&f);
        made_end(&m);
        make_clear(&in);
    }
}

static void damaged_blocks_are_not_copied(void **state)
{
    (void)state;
    asdf_make in = { 0 };
    made m;
    size_t at[3];
    const cip_spec spec = { .big = -1 };
    make_two(&in, at);
    in.len = at[1] + 60; /* cut within the second */
    assert_int_equal(rewrite_with(&m, &in, &spec), CIP_ERR_TRUNCATED);
    made_end(&m);
    make_clear(&in);
}

static void room_is_a_quarter_of_a_large_tree(void **state)
{
    (void)state;
    assert_int_equal(cip_asdf_slack(0, 0), 4096);
    assert_int_equal(cip_asdf_slack(0, 16384), 4096);
    assert_int_equal(cip_asdf_slack(0, 16388), 4097);
    assert_int_equal(cip_asdf_slack(-1, 16388), 0);
    assert_int_equal(cip_asdf_slack(7, 16388), 7);
}

/* --- sources ---------------------------------------------------------------------------------- */

static cip_status renumber(const char *tree, const int64_t *to, size_t n, char *out, size_t cap)
{
    cip_env env;
    assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
    cip_buf b = { .mem = &env.mem };
    cip_err err = CIP_ERR_INIT;
    cip_status st = cip_asdf_renumber(&env, (cip_bytes){ (const uint8_t *)tree, strlen(tree) }, to,
                                      n, &b, &err);
    assert_true(b.len < cap);
    if (st == CIP_OK)
        memcpy(out, b.ptr, b.len);
    out[b.len] = '\0';
    cip_buf_clear(&b);
    cip_env_clear(&env);
    return st;
}

static void sources_change_where_they_stand(void **state)
{
    (void)state;
    char out[1024];
    static const int64_t to[] = { 10, -1, 0 };
    static const char before[] = MAKE_YAML
        "a: !core/ndarray-1.1.0 {source: 0, datatype: int8}   # keep\n"
        "b: !core/ndarray-1.0.0\n  source:   -1\n  mask: !core/ndarray-1.0.0 {\"source\": 2}\n"
        "c: &x !core/ndarray-1.0.0 {source: 1}\nd: *x\ne: {source: 0}\n"
        "f: !core/ndarray-1.0.0 {source: other.asdf}\ng: [*x, !core/ndarray-1.0.0 [1]]\n"
        "h: !<tag:stsci.edu:asdf/core/ndarray-1.0.0> {source: -3}\n"
        "i: !core/ndarray-1.0.0 {source: 3}\nj: !core/ndarray-1.0.0 {source: -4}\n...\n";
    static const char after[] = MAKE_YAML
        "a: !core/ndarray-1.1.0 {source: 10, datatype: int8}   # keep\n"
        "b: !core/ndarray-1.0.0\n  source:   0\n  mask: !core/ndarray-1.0.0 {\"source\": 0}\n"
        "c: &x !core/ndarray-1.0.0 {source: 1}\nd: *x\ne: {source: 0}\n"
        "f: !core/ndarray-1.0.0 {source: other.asdf}\ng: [*x, !core/ndarray-1.0.0 [1]]\n"
        "h: !<tag:stsci.edu:asdf/core/ndarray-1.0.0> {source: 10}\n"
        "i: !core/ndarray-1.0.0 {source: 3}\nj: !core/ndarray-1.0.0 {source: -4}\n...\n";
    assert_int_equal(renumber(before, to, 3, out, sizeof out), CIP_OK);
    assert_string_equal(out, after);
}

static void an_aliased_ndarray_is_changed_once(void **state)
{
    (void)state;
    char out[512];
    static const int64_t to[] = { 5 };
    assert_int_equal(
        renumber("a: &x !core/ndarray-1.0.0 {source: 0}\nb: *x\n", to, 1, out, sizeof out), CIP_OK);
    assert_string_equal(out, "a: &x !core/ndarray-1.0.0 {source: 5}\nb: *x\n");
}

static void a_source_with_an_anchor_is_refused(void **state)
{
    (void)state;
    char out[512];
    static const int64_t to[] = { 5 };
    assert_int_equal(renumber("a: !core/ndarray-1.0.0 {source: &s 0}\n", to, 1, out, sizeof out),
                     CIP_ERR_UNSUPPORTED);
    assert_string_equal(out, "");
    assert_int_equal(renumber("a: [\n", to, 1, out, sizeof out), CIP_ERR_CORRUPT);
}

/* --- apart ------------------------------------------------------------------------------------ */

static cip_status explode_with(made *m, one_file *f, const cip_explosion *how, int64_t slack)
{
    const cip_spec spec = { .big = -1, .tree_slack = slack };
    made_start(m, NULL);
    CIP_TRY(made_open(m));
    return cip_format_asdf.explode(f->layout, how, &spec, &m->out[0], &m->err);
}

static cip_status explode(made *m, one_file *f, const cip_explosion *how)
{
    return explode_with(m, f, how, 0);
}

static void room_is_made_in_the_file_alone(void **state)
{
    (void)state;
    asdf_make in = { 0 };
    made m;
    one_file f;
    size_t at[3], n;
    make_two(&in, at);
    assert_int_equal(make_open(&f, &in, 0), CIP_OK);
    const cip_array *only[] = { make_find(&f, "a") };
    const cip_explosion how = { .narray = 1, .array = only };
    assert_int_equal(explode_with(&m, &f, &how, 1 << 20), CIP_OK);
    made_bytes(&m, 0, &n);
    assert_true(n > 1 << 20);
    made_bytes(&m, 1, &n);
    assert_true(n > 1 << 12 && n < 1 << 14);
    made_end(&m);
    assert_int_equal(explode_with(&m, &f, &how, -1), CIP_OK);
    made_bytes(&m, 1, &n);
    assert_true(n < 1 << 12);
    made_end(&m);
    one_close(&f);
    make_clear(&in);
}

static void chosen_blocks_leave_and_the_others_are_renumbered(void **state)
{
    (void)state;
    asdf_make in = { 0 };
    made m;
    one_file f, g;
    size_t at[3], n;
    make_two(&in, at);
    assert_int_equal(make_open(&f, &in, 0), CIP_OK);
    const cip_array *only[] = { make_find(&f, "a") };
    const cip_explosion how = { .narray = 1, .array = only, .bare = true };
    assert_int_equal(explode(&m, &f, &how), CIP_OK);
    assert_int_equal(m.nmember, 1);
    made_reopen(&m, &g);
    assert_int_equal(g.layout->nblock, 1);
    assert_true(make_gives_three(&g, "b"));
    assert_string_equal(cip_storage_text(&make_find(&g, "a")->storage), "external");
    assert_non_null(memmem(g.bytes, m.io[0]->size, "source: 'm%20x0000.asdf', datatype", 34));
    one_close(&g);
    const char *part = made_bytes(&m, 1, &n);
    assert_memory_equal(part, "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n\323BLK", 37);
    one_close(&f);
    made_end(&m);
    make_clear(&in);
}

static void arrays_without_a_block_cannot_leave(void **state)
{
    (void)state;
    made m;
    one_file f;
    assert_int_equal(make_open_tree(&f, "a: !core/ndarray-1.0.0 [1, 2]\n", 0), CIP_OK);
    const cip_array *only[] = { f.layout->array[0] };
    const cip_explosion how = { .narray = 1, .array = only };
    assert_int_equal(explode(&m, &f, &how), CIP_ERR_UNSUPPORTED);
    one_close(&f);
    made_end(&m);
}

static void what_nothing_names_stays_in_the_file(void **state)
{
    (void)state;
    asdf_make in = { 0 };
    made m;
    one_file f, g;
    const cip_explosion how = { .narray = 0 };
    make_odd(&in);
    assert_int_equal(make_open(&f, &in, 0), CIP_OK);
    assert_int_equal(explode(&m, &f, &how), CIP_OK);
    assert_int_equal(m.nmember, 1);
    made_reopen(&m, &g);
    assert_int_equal(g.layout->nblock, 1);
    assert_int_equal(g.layout->block[0].info.stored_nbytes, 24);
    one_close(&g);
    one_close(&f);
    made_end(&m);
    make_clear(&in);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    asdf_make in = { 0 };
    size_t at[3];
    make_two(&in, at);
    for (int what = 0; what < 3; what++)
        for (size_t n = 1;; n++) {
            fail_alloc fa = { .fail_at = 0 };
            const cip_allocator from = { fail_alloc_resize, &fa };
            made m;
            one_file f;
            const cip_spec spec = { .codec = what == 0 ? "zlib" : NULL };
            const cip_explosion how = { .narray = 0 };
            assert_int_equal(one_open(&f, &cip_format_asdf, in.ptr, in.len, 0, &from), CIP_OK);
            made_start(&m, NULL);
            assert_int_equal(made_open(&m), CIP_OK);
            fa.requests = 0;
            fa.fail_at = n;
            cip_status st = what == 1
                                ? cip_format_asdf.explode(f.layout, &how, &spec, &m.out[0], NULL)
                                : cip_format_asdf.rewrite(f.layout, &spec, &m.out[0], NULL);
            bool through = fa.requests < n;
            one_close(&f);
            made_end(&m);
            assert_int_equal(fa.held, 0);
            assert_true(st == CIP_OK || (!through && st == CIP_ERR_NOMEM)); /* caches do without */
            if (through)
                break;
        }
    make_clear(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_whose_length_tells_the_layout_are_not_padded),
        cmocka_unit_test(headers_do_not_shrink_to_another_layouts),
        cmocka_unit_test(text_header_bytes_and_unnamed_blocks_survive),
        cmocka_unit_test(without_room_the_header_aligns),
        cmocka_unit_test(line_ends_and_a_missing_marker_are_made_right),
        cmocka_unit_test(odd_headers_stay_where_they_are_found),
        cmocka_unit_test(a_file_without_a_tree_stays_one),
        cmocka_unit_test(blocks_are_coded_anew_where_that_is_asked_for),
        cmocka_unit_test(data_that_wait_for_their_checksum_are_coded_anew),
        cmocka_unit_test(checksums_alone_are_made_anew),
        cmocka_unit_test(a_streamed_block_stays_one_unless_it_is_compressed),
        cmocka_unit_test(damaged_blocks_are_not_copied),
        cmocka_unit_test(room_is_a_quarter_of_a_large_tree),
        cmocka_unit_test(sources_change_where_they_stand),
        cmocka_unit_test(an_aliased_ndarray_is_changed_once),
        cmocka_unit_test(a_source_with_an_anchor_is_refused),
        cmocka_unit_test(room_is_made_in_the_file_alone),
        cmocka_unit_test(chosen_blocks_leave_and_the_others_are_renumbered),
        cmocka_unit_test(arrays_without_a_block_cannot_leave),
        cmocka_unit_test(what_nothing_names_stays_in_the_file),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
