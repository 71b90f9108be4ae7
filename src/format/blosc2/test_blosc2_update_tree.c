/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of metalayers: what of the frame changes, which values keep their bytes, what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blosc2/b2_update_testing.h"
#include "support/fail_alloc.h"

#define OK(j, x)                                                                                   \
    do {                                                                                           \
        if ((x) != CIP_OK)                                                                         \
            fail_msg("%s: %s: %s", #x, (j)->err.part, (j)->err.text);                              \
    } while (0)

static const cip_array_store *const store = &cip_b2_store;

/* --- frames ----------------------------------------------------------------------------------- */

/* A frame, and the chunks that its vlmetalayers are. */
typedef struct made {
    b2_make m;
    uint8_t value[4][256];
    b2_bytes b;
} made;

static void add_value(made *f, size_t i, const char *name, const void *raw, size_t n)
{
    b2_bytes b = { f->value[i], 0 };
    b2_chunk(&b, raw, (uint32_t)n, 1, false);
    f->m.vl_name[i] = name;
    f->m.vl[i] = f->value[i];
    f->m.vl_len[i] = b.len;
}

/* meta: m 1, raw (four bytes that are no msgpack); vlmeta: unit "m", info {"a": 1, "l": [1, 2]}. */
static void make(made *f)
{
    *f = (made){ .m = { .typesize = 4,
                        .chunksize = 40,
                        .nchunk = 5,
                        .last = 12,
                        .meta_name = { "m", "raw" },
                        .meta = { "\x01", "\xc1\xc1\xc1\xc1" },
                        .meta_len = { 1, 4 } } };
    add_value(f, 0, "unit", "\xa1m", 2);
    add_value(f, 1, "info",
              "\x82\xa1"
              "a\x01\xa1"
              "l\x92\x01\x02",
              9);
}

static void start(job *j, made *f)
{
    f->b = b2_build(&f->m);
    OK(j, job_open(j, (cip_bytes){ f->b.ptr, f->b.len }, NULL));
}

static void stop(job *j, made *f)
{
    job_close(j);
    free(f->b.ptr);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static const cip_node *yaml(job *j, const char *text)
{
    const cip_node *n = NULL;
    OK(j, cip_yaml_value(&j->f.env, &j->arena, text, NULL, &n, &j->err));
    return n;
}

static cip_status set(job *j, const char *path, const char *text)
{
    return store->set(j->u, path, yaml(j, text), &j->err);
}

static void refused(const job *j, cip_status st, cip_status code, const char *text)
{
    if (st != code || strstr(j->err.text, text) == NULL)
        fail_msg("expected %d and '%s', found %d and '%s'", code, text, st, j->err.text);
}

/* --- the frame as it will be ------------------------------------------------------------------ */

typedef struct after {
    one_file f;
    const cip_b2_frame *frame;
    uint8_t *bytes;
    size_t n;
} after;

static void look(job *j, after *a)
{
    OK(j, job_finish(j));
    a->n = (size_t)j->after->size;
    a->bytes = malloc(a->n);
    OK(j, cip_io_read(j->after, 0, a->bytes, a->n, &j->err));
    if (one_open(&a->f, &cip_format_blosc2, a->bytes, a->n, 0, NULL) != CIP_OK)
        fail_msg("%s: %s", a->f.err.part, a->f.err.text);
    a->frame = ((const cip_b2_file *)a->f.layout->own)->frame;
    size_t len;
    uint8_t *raw = one_read(&a->f, 0, &len), want[256];
    assert_non_null(raw);
    b2_pattern(0, want, len);
    assert_memory_equal(raw, want, len);
    free(raw);
}

static void look_away(after *a)
{
    one_close(&a->f);
    free(a->bytes);
}

/* The tree's node as a line of YAML. */
static void expect_line(after *a, const char *path, const char *text)
{
    cip_buf out = { .mem = &a->f.env.mem };
    const cip_node *n = cip_tree_get(a->f.layout->tree, path, NULL);
    assert_non_null(n);
    assert_int_equal(cip_yaml_emit_line(&a->f.env, n, NULL, true, &out, NULL), CIP_OK);
    assert_int_equal(cip_buf_add(&out, "", 1, NULL), CIP_OK);
    assert_string_equal((const char *)out.ptr, text);
    cip_buf_clear(&out);
}

static void expect_stored(const cip_b2_metas *list, const char *name, const void *bytes, size_t n)
{
    const cip_b2_meta *m = cip_b2_meta_find(list, name);
    assert_non_null(m);
    assert_int_equal(m->value.len, n);
    assert_memory_equal(m->value.ptr, bytes, n);
}

/* --- where they go ---------------------------------------------------------------------------- */

static void a_vlmetalayer_changes_by_a_trailer_behind_the_frame(void **state)
{
    (void)state;
    made f;
    job j;
    after a;
    make(&f);
    start(&j, &f);
    OK(&j, set(&j, "vlmeta/unit", "K"));
    OK(&j, set(&j, "vlmeta/info/a", "[x, 1.5]"));
    OK(&j, set(&j, "vlmeta/info/l/-", "3"));
    OK(&j, set(&j, "vlmeta/new/deep", "{k: null}"));
    look(&j, &a);
    assert_false(j.r.anew);
    assert_int_equal(j.r.tail_off, f.b.len);
    assert_int_equal(a.frame->index.at, cip_load_u64(f.b.ptr + 0x27, true) + a.frame->h.header_len);
    assert_int_equal(a.n - f.b.len, a.frame->trailer.len);
    for (size_t i = 0; i < j.r.patch.n; i++)
        assert_true(j.r.patch.op[i].offset + j.r.patch.op[i].after.len <= 512);
    expect_line(&a, "vlmeta",
                "{unit: K, info: {a: [x, 1.5], l: [1, 2, 3]}, new: {deep: {k: null}}}");
    expect_stored(&a.frame->meta, "raw", "\xc1\xc1\xc1\xc1", 4);
    look_away(&a);
    stop(&j, &f);
}

static void a_metalayer_of_equal_length_changes_in_its_place(void **state)
{
    (void)state;
    made f;
    job j;
    after a;
    make(&f);
    start(&j, &f);
    OK(&j, set(&j, "meta/m", "7"));
    look(&j, &a);
    assert_false(j.r.anew || j.r.has_tail);
    assert_int_equal(a.n, f.b.len);
    expect_stored(&a.frame->meta, "m", "\x07", 1);
    expect_line(&a, "vlmeta/unit", "m");
    look_away(&a);
    stop(&j, &f);
}

static void a_header_that_grows_or_shrinks_is_made_anew(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        made f;
        job j;
        after a;
        make(&f);
        f.m.gap = i == 1 ? 100 : 0;
        start(&j, &f);
        if (i == 2)
            OK(&j, store->remove(j.u, "meta/raw", &j.err));
        else
            OK(&j, set(&j, "meta/new", "[a, {b: 70000}]"));
        look(&j, &a);
        assert_true(j.r.anew);
        if (i != 2)
            expect_line(&a, "meta/new", "[a, {b: 70000}]");
        assert_int_equal(a.frame->meta.n, i == 2 ? 1 : 3);
        expect_line(&a, "vlmeta/unit", "m");
        look_away(&a);
        stop(&j, &f);
    }
}

static void a_frame_without_chunks_has_metalayers_too(void **state)
{
    (void)state;
    made f = { .m = { .typesize = 4, .chunksize = 40 } };
    job j;
    after a;
    start(&j, &f);
    OK(&j, set(&j, "vlmeta/unit", "K"));
    OK(&j, set(&j, "meta/m", "1"));
    look(&j, &a);
    expect_line(&a, "vlmeta/unit", "K");
    expect_line(&a, "meta/m", "1");
    look_away(&a);
    stop(&j, &f);
}

/* --- values ----------------------------------------------------------------------------------- */

/* An integer in nine bytes, an extension type that nobody knows, text that is no UTF-8. */
static void values_that_nobody_touches_keep_their_bytes(void **state)
{
    (void)state;
    static const char *const raw[] = { "\xd3\0\0\0\0\0\0\0\x05", "\x91\xd4\x09\x01",
                                       "\x91\xa1\xff" };
    static const size_t len[] = { 9, 4, 3 };
    static const char *const name[] = { "long", "ext", "text" };
    made f;
    job j;
    after a;
    make(&f);
    for (size_t i = 0; i < 3; i++)
        add_value(&f, i, name[i], raw[i], len[i]);
    start(&j, &f);
    OK(&j, set(&j, "vlmeta/other", "1"));
    OK(&j, store->move(j.u, "vlmeta/ext", "vlmeta/moved", false, &j.err));
    OK(&j, store->move(j.u, "vlmeta/text", "meta/text", false, &j.err));
    OK(&j, store->move(j.u, "meta/raw", "vlmeta/raw", false, &j.err));
    look(&j, &a);
    expect_stored(&a.frame->vlmeta, "long", f.m.vl[0], f.m.vl_len[0]);
    expect_stored(&a.frame->vlmeta, "moved", f.m.vl[1], f.m.vl_len[1]);
    expect_stored(&a.frame->meta, "text", raw[2], len[2]);
    expect_line(&a, "vlmeta/raw", "!!binary wcHBwQ==");
    look_away(&a);
    stop(&j, &f);
}

static void what_the_tree_does_not_show_is_not_lost_by_a_change_within(void **state)
{
    (void)state;
    static const char *const raw[] = { "\x92\xd4\x09\x01\x01", "\x92\xa1\xff\x01",
                                       "\x92\xca\0\0\0\0\x01", "\x92\xcc\x01\x01" };
    static const size_t len[] = { 5, 4, 7, 4 };
    for (size_t i = 0; i < 4; i++) {
        made f;
        job j;
        make(&f);
        add_value(&f, 0, "v", raw[i], len[i]);
        start(&j, &f);
        refused(&j, set(&j, "vlmeta/v/1", "2"), CIP_ERR_UNSUPPORTED, "vlmeta/v holds more");
        refused(&j, store->remove(j.u, "vlmeta/v/1", &j.err), CIP_ERR_UNSUPPORTED, "holds more");
        refused(&j, store->move(j.u, "vlmeta/v/1", "vlmeta/w", false, &j.err), CIP_ERR_UNSUPPORTED,
                "holds more");
        refused(&j, store->move(j.u, "vlmeta/info", "vlmeta/v/2", false, &j.err),
                CIP_ERR_UNSUPPORTED, "holds more");
        refused(&j, store->move(j.u, "vlmeta/v", "vlmeta/info/v", false, &j.err),
                CIP_ERR_UNSUPPORTED, "holds more");
        OK(&j, set(&j, "vlmeta/v", "[1, 2]"));
        OK(&j, set(&j, "vlmeta/v/1", "3"));
        stop(&j, &f);
    }
}

static void values_beyond_msgpack_are_refused(void **state)
{
    (void)state;
    made f;
    job j;
    make(&f);
    start(&j, &f);
    refused(&j, set(&j, "vlmeta/a", "2020-01-01"), CIP_ERR_UNSUPPORTED, "a time");
    refused(&j, set(&j, "vlmeta/a", "[99999999999999999999]"), CIP_ERR_UNSUPPORTED, "64 bits");
    refused(&j, set(&j, "vlmeta/a", "{b: !other 1}"), CIP_ERR_UNSUPPORTED, "a tag");
    refused(&j, set(&j, "vlmeta/unit/x", "1"), CIP_ERR_TYPE, "found a scalar");
    OK(&j, set(&j, "vlmeta/t", "!tuple [1, !set [2]]"));
    stop(&j, &f);
}

/* --- what moves and goes ---------------------------------------------------------------------- */

static void metalayers_move_and_go(void **state)
{
    (void)state;
    made f;
    job j;
    after a;
    make(&f);
    start(&j, &f);
    OK(&j, store->move(j.u, "vlmeta/unit", "meta/unit", false, &j.err));
    OK(&j, store->move(j.u, "vlmeta/info/l", "vlmeta/list", false, &j.err));
    OK(&j, store->move(j.u, "meta/m", "vlmeta/info/a", true, &j.err));
    OK(&j, store->remove(j.u, "meta/raw", &j.err));
    OK(&j, set(&j, "vlmeta/x", "1"));
    OK(&j, store->move(j.u, "vlmeta/x", "vlmeta/list", true, &j.err));
    look(&j, &a);
    expect_line(&a, "", "{meta: {unit: m}, vlmeta: {info: {a: 1}, list: 1}}");
    look_away(&a);
    stop(&j, &f);
}

static void moves_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    made f;
    job j;
    make(&f);
    start(&j, &f);
    refused(&j, store->move(j.u, "vlmeta/info", "vlmeta/unit", false, &j.err), CIP_ERR_ARG,
            "exists");
    refused(&j, store->move(j.u, "vlmeta/info", "vlmeta/info/a", true, &j.err), CIP_ERR_ARG,
            "is inside");
    refused(&j, store->move(j.u, "vlmeta/info", "vlmeta/info", true, &j.err), CIP_ERR_ARG,
            "is inside");
    refused(&j, store->move(j.u, "vlmeta/info/l", "vlmeta/info/l/0", true, &j.err), CIP_ERR_ARG,
            "is inside");
    refused(&j, store->move(j.u, "vlmeta/no", "vlmeta/x", false, &j.err), CIP_ERR_NOT_FOUND, "no");
    refused(&j, store->move(j.u, "vlmeta", "meta/x", false, &j.err), CIP_ERR_UNSUPPORTED,
            "vlmeta/NAME");
    refused(&j, store->remove(j.u, "vlmeta/info/no", &j.err), CIP_ERR_NOT_FOUND, "no");
    stop(&j, &f);
}

static void all_vlmetalayers_go_at_once(void **state)
{
    (void)state;
    made f;
    job j;
    after a;
    make(&f);
    start(&j, &f);
    OK(&j, store->remove(j.u, "vlmeta", &j.err));
    OK(&j, set(&j, "vlmeta/one", "1"));
    OK(&j, store->remove(j.u, "vlmeta/one", &j.err));
    look(&j, &a);
    assert_int_equal(a.frame->vlmeta.n, 0);
    assert_int_equal(a.bytes[0x44], 0xc2);
    look_away(&a);
    stop(&j, &f);
}

/* --- names ------------------------------------------------------------------------------------ */

static void names_and_numbers_have_limits(void **state)
{
    (void)state;
    static const char *const bad[] = { "vlmeta/12345678901234567890123456789012", "vlmeta/\"\"" };
    made f;
    job j;
    char path[32];
    make(&f);
    start(&j, &f);
    for (size_t i = 0; i < 2; i++)
        refused(&j, set(&j, bad[i], "1"), CIP_ERR_UNSUPPORTED, "1 to 31");
    refused(&j, set(&j, "meta/\xff", "1"), CIP_ERR_ARG, "UTF-8");
    OK(&j, set(&j, "vlmeta/1234567890123456789012345678901", "1"));
    for (int i = 2; i < CIP_B2_MAX_META; i++) {
        snprintf(path, sizeof path, "meta/n%d", i);
        OK(&j, set(&j, path, "1"));
    }
    refused(&j, set(&j, "meta/more", "1"), CIP_ERR_UNSUPPORTED, "at most 16");
    OK(&j, store->move(j.u, "meta/n2", "meta/more", false, &j.err));
    refused(&j, set(&j, "unit", "1"), CIP_ERR_UNSUPPORTED, "vlmeta/NAME or meta/NAME");
    refused(&j, set(&j, "", "{}"), CIP_ERR_UNSUPPORTED, "vlmeta/NAME");
    refused(&j, set(&j, "vlmeta", "{}"), CIP_ERR_UNSUPPORTED, "vlmeta/NAME");
    stop(&j, &f);
}

/* Places of names are of 16 bits. */
static void names_of_over_64_kib_are_refused(void **state)
{
    (void)state;
    made f;
    job j;
    char path[48];
    make(&f);
    start(&j, &f);
    for (int i = 0; i < 2000; i++) {
        snprintf(path, sizeof path, "vlmeta/%031d", i);
        OK(&j, set(&j, path, "1"));
    }
    refused(&j, job_finish(&j), CIP_ERR_UNSUPPORTED, "64 KiB");
    stop(&j, &f);
}

static void what_describes_the_data_is_not_metadata(void **state)
{
    (void)state;
    static const int64_t shape[] = { 7, 5 }, chunk[] = { 3, 4 }, block[] = { 2, 2 };
    static const char *const names[] = {
        "meta/b2nd",       "vlmeta/__pack_tensor__", "meta/b2o",
        "meta/caterva",    "vlmeta/proxy-fetched",   "meta/vlarray",
        "meta/b2nd/shape", "vlmeta/_LazyArray"
    };
    uint8_t meta[256];
    made f = { .m = { .typesize = 2, .blocksize = 8, .chunksize = 32, .nchunk = 6 } };
    job j;
    f.m.meta_name[0] = "b2nd";
    f.m.meta[0] = meta;
    f.m.meta_len[0] = b2_nd_meta(meta, 2, shape, chunk, block, "<i2");
    start(&j, &f);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        refused(&j, set(&j, names[i], "1"), CIP_ERR_UNSUPPORTED, "describes");
    refused(&j, store->remove(j.u, "meta/b2nd", &j.err), CIP_ERR_UNSUPPORTED, "describes");
    refused(&j, store->remove(j.u, "meta", &j.err), CIP_ERR_UNSUPPORTED, "describes");
    refused(&j, store->move(j.u, "meta/b2nd", "meta/x", false, &j.err), CIP_ERR_UNSUPPORTED,
            "describes");
    OK(&j, set(&j, "vlmeta/x", "1"));
    refused(&j, store->move(j.u, "vlmeta/x", "meta/b2o", false, &j.err), CIP_ERR_UNSUPPORTED,
            "describes");
    stop(&j, &f);
}

/* --- what depends on the elements ------------------------------------------------------------- */

static void resize(job *j, int64_t n)
{
    const cip_array *a = j->f.layout->array[0];
    cip_change_form form = { .fill = NULL };
    OK(j, store->form(j->u, a, CIP_CHANGE_SHAPE, &n, &form, &j->err));
    OK(j, cip_chunk_changes_new(a, &form.form, j->temporary, &j->c, &j->err));
    OK(j, cip_chunk_changes_resize(j->c, a, &n, NULL, NULL, &j->err));
}

/* {"indexes": {"a/b": {"stale": false}, "c": {}, "d": 1}} */
static void indexes_of_elements_that_changed_are_stale(void **state)
{
    (void)state;
    static const char indexes[] = "\x81\xa7indexes\x83\xa3"
                                  "a/b\x81\xa5stale\xc2\xa1"
                                  "c\x80\xa1"
                                  "d\x81\xa5stale\xc3";
    for (int i = 0; i < 2; i++) {
        made f;
        job j;
        after a;
        make(&f);
        add_value(&f, 0, "blosc2_indexes", indexes, sizeof indexes - 1);
        start(&j, &f);
        if (i == 0)
            OK(&j, set(&j, "vlmeta/other", "1"));
        else
            resize(&j, 40);
        look(&j, &a);
        expect_line(&a, "vlmeta/blosc2_indexes",
                    i == 0 ? "{indexes: {a/b: {stale: false}, c: {}, d: {stale: true}}}"
                           : "{indexes: {a/b: {stale: true}, c: {stale: true}, d: {stale: true}}}");
        look_away(&a);
        stop(&j, &f);
    }
}

/* --- odd frames ------------------------------------------------------------------------------- */

static void damaged_vlmetalayers_are_not_written_over(void **state)
{
    (void)state;
    made f;
    job j;
    after a;
    make(&f);
    start(&j, &f);
    const size_t trailer = f.b.len - cip_load_u32(f.b.ptr + f.b.len - 22, true);
    job_close(&j);
    f.b.ptr[trailer + 2] = 0;
    OK(&j, job_open(&j, (cip_bytes){ f.b.ptr, f.b.len }, NULL));
    refused(&j, set(&j, "vlmeta/x", "1"), CIP_ERR_CORRUPT, "damaged");
    refused(&j, store->remove(j.u, "vlmeta", &j.err), CIP_ERR_CORRUPT, "damaged");
    OK(&j, set(&j, "meta/m", "2"));
    look(&j, &a);
    assert_memory_equal(a.frame->trailer_bytes, f.b.ptr + trailer, f.b.len - trailer);
    look_away(&a);
    stop(&j, &f);
}

/* A header that grows would move what their offsets count from. */
static void frames_laid_out_as_documents_say_keep_the_length_of_their_header(void **state)
{
    (void)state;
    made f;
    job j;
    after a;
    make(&f);
    f.m.document = f.m.wrapped = true;
    start(&j, &f);
    OK(&j, set(&j, "vlmeta/unit", "K"));
    look(&j, &a);
    expect_line(&a, "vlmeta/unit", "K");
    look_away(&a);
    stop(&j, &f);
    start(&j, &f);
    OK(&j, set(&j, "meta/new", "K"));
    refused(&j, job_finish(&j), CIP_ERR_UNSUPPORTED, "keep its length");
    stop(&j, &f);
}

static cip_status try_changes(made *f, const cip_allocator *from)
{
    static const cip_node seven = { .type = CIP_NODE_INT, .u = 7, .text = "7", .len = 1 };
    job j;
    cip_status st = job_open(&j, (cip_bytes){ f->b.ptr, f->b.len }, from);
    if (st == CIP_OK)
        st = store->set(j.u, "vlmeta/info/a", &seven, &j.err);
    if (st == CIP_OK)
        st = store->move(j.u, "vlmeta/unit", "meta/unit", false, &j.err);
    if (st == CIP_OK)
        st = store->move(j.u, "meta/raw", "vlmeta/raw", false, &j.err);
    if (st == CIP_OK)
        st = job_finish(&j);
    job_close(&j);
    return st;
}

static void lack_of_memory_at_any_point_is_told(void **state)
{
    (void)state;
    made f;
    cip_status st = CIP_ERR_NOMEM;
    make(&f);
    f.b = b2_build(&f.m);
    for (size_t n = 1; st != CIP_OK; n++) {
        fail_alloc fail = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &fail };
        st = try_changes(&f, &from);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        assert_int_equal(fail.held, 0);
    }
    free(f.b.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vlmetalayer_changes_by_a_trailer_behind_the_frame),
        cmocka_unit_test(a_metalayer_of_equal_length_changes_in_its_place),
        cmocka_unit_test(a_header_that_grows_or_shrinks_is_made_anew),
        cmocka_unit_test(a_frame_without_chunks_has_metalayers_too),
        cmocka_unit_test(values_that_nobody_touches_keep_their_bytes),
        cmocka_unit_test(what_the_tree_does_not_show_is_not_lost_by_a_change_within),
        cmocka_unit_test(values_beyond_msgpack_are_refused),
        cmocka_unit_test(metalayers_move_and_go),
        cmocka_unit_test(moves_that_make_no_sense_are_refused),
        cmocka_unit_test(all_vlmetalayers_go_at_once),
        cmocka_unit_test(names_and_numbers_have_limits),
        cmocka_unit_test(names_of_over_64_kib_are_refused),
        cmocka_unit_test(what_describes_the_data_is_not_metadata),
        cmocka_unit_test(indexes_of_elements_that_changed_are_stale),
        cmocka_unit_test(damaged_vlmetalayers_are_not_written_over),
        cmocka_unit_test(frames_laid_out_as_documents_say_keep_the_length_of_their_header),
        cmocka_unit_test(lack_of_memory_at_any_point_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
