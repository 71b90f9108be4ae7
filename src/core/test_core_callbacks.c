/* SPDX-License-Identifier: BSD-3-Clause
 * Every function of the caller's that a public header takes is called, and can stop the call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/writing/edit_testing.h"

enum { ROWS = 600, COLUMNS = 4096, N = ROWS * COLUMNS }; /* 19.7 MB, three parts */

static scratch s;
static int32_t *values, *got;

/* in.asdf: `a`, large, and a text; `plain.ra` and `plain.npy`: `a` alone. */
static int setup(void **state)
{
    static const int64_t shape[] = { ROWS, COLUMNS };
    (void)state;
    cip_change *w;
    values = malloc(N * sizeof *values);
    got = calloc(N, sizeof *got);
    for (int i = 0; i < N; i++)
        values[i] = i / 7;
    if (!scratch_open(&s) || chdir(s.dir) != 0)
        return -1;
    OK(cip_create("in.asdf", NULL, &w, err));
    OK(cip_change_set_string(w, "name", "first", err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 2, shape, values, NULL, err));
    OK(cip_change_commit(&w, err));
    OK(cip_convert("in.asdf", "plain.ra", CIP_CONVERT_OPTIONS(.path = "a"), err));
    OK(cip_convert("in.asdf", "plain.npy", CIP_CONVERT_OPTIONS(.path = "a"), err));
    return mkdir("sub", 0755);
}

static int teardown(void **state)
{
    (void)state;
    int rc = chdir("/");
    scratch_close(&s);
    free(values);
    free(got);
    return rc;
}

/* What was told, and the call that stops (0: none). */
typedef struct listener {
    int calls, stop_at;
    uint64_t done, total;
} listener;

static int on_progress(void *user, uint64_t done, uint64_t total)
{
    listener *l = user;
    assert_true(done >= l->done);
    assert_true(total == 0 || done <= total);
    l->done = done;
    l->total = total;
    return ++l->calls == l->stop_at;
}

static int on_finding(void *user, const cip_finding *f)
{
    listener *l = user;
    assert_non_null(f->text);
    return ++l->calls == l->stop_at;
}

static int on_bytes(void *user, const void *p, size_t n)
{
    listener *l = user;
    assert_true(p != NULL && n != 0);
    return ++l->calls == l->stop_at;
}

/* --- progress ------------------------------------------------------------------------------- */

static void expect_all(const listener *l)
{
    assert_true(l->calls >= 2 && l->done > 0);
    assert_true(l->total == 0 || l->done == l->total);
}

static cip_status read_with(const char *file, cip_read_args args, listener *l)
{
    cip_file *f;
    cip_err why = CIP_ERR_INIT;
    OK(cip_open(file, NULL, &f, err));
    args.size = sizeof args;
    args.progress = on_progress;
    args.user = l;
    cip_status st = cip_read_into(cip_file_array(f, 0), &args, &why);
    cip_file_close(f);
    return st;
}

static void reading_tells_its_progress_and_stops(void **state)
{
    (void)state;
    listener all = { 0 }, stop = { .stop_at = 2 };
    const cip_read_args args = { .dst = got, .dst_nbytes = N * sizeof *got };
    assert_int_equal(read_with("in.asdf", args, &all), CIP_OK);
    expect_all(&all);
    assert_int_equal(all.total, N);
    assert_memory_equal(got, values, N * sizeof *got);
    assert_int_equal(read_with("in.asdf", args, &stop), CIP_ERR_CANCELLED);
    assert_int_equal(stop.calls, 2);
}

static void reading_in_parts_gives_what_reading_at_once_gives(void **state)
{
    (void)state;
    listener l = { 0 };
    const int64_t down[] = { 4, ROWS * 4 }, up[] = { -(int64_t)COLUMNS * 4, 4 };
    assert_int_equal(
        read_with("in.asdf",
                  (cip_read_args){ .dst = got, .dst_nbytes = CIP_UNCHECKED, .strides = down }, &l),
        CIP_OK);
    for (int i = 0; i < N; i++)
        assert_true(got[i % COLUMNS * ROWS + i / COLUMNS] == values[i]);
    l = (listener){ 0 };
    int32_t *last = got + (size_t)(ROWS - 1) * COLUMNS;
    assert_int_equal(
        read_with("in.asdf",
                  (cip_read_args){ .dst = last, .dst_nbytes = CIP_UNCHECKED, .strides = up }, &l),
        CIP_OK);
    for (int i = 0; i < N; i++)
        assert_true(got[(ROWS - 1 - i / COLUMNS) * COLUMNS + i % COLUMNS] == values[i]);
    uint64_t told = 0, plain = 0;
    cip_read_args clamp = { .size = sizeof clamp,
                            .dst = got,
                            .dst_nbytes = CIP_UNCHECKED,
                            .dtype = cip_dtype_of(CIP_I16),
                            .overflow = CIP_OVERFLOW_CLAMP,
                            .noverflow = &told };
    l = (listener){ 0 };
    assert_int_equal(read_with("in.asdf", clamp, &l), CIP_OK);
    cip_file *f;
    OK(cip_open("in.asdf", NULL, &f, err));
    clamp.noverflow = &plain;
    OK(cip_read_into(cip_file_array(f, 0), &clamp, err));
    assert_true(plain == told && told == N - 32768 * 7);
    cip_err in_parts = CIP_ERR_INIT, at_once = CIP_ERR_INIT;
    cip_read_args strict = {
        .size = sizeof strict, .dst = got, .dst_nbytes = CIP_UNCHECKED, .selection = "[::-1]"
    };
    strict.dtype = cip_dtype_of(CIP_I16);
    l = (listener){ 0 };
    assert_int_equal(cip_read_into(cip_file_array(f, 0), &strict, &at_once), CIP_ERR_RANGE);
    strict.progress = on_progress;
    strict.user = &l;
    assert_int_equal(cip_read_into(cip_file_array(f, 0), &strict, &in_parts), CIP_ERR_RANGE);
    assert_string_equal(in_parts.text, at_once.text);
    cip_file_close(f);
}

static void exports_and_statistics_tell_their_progress_and_stop(void **state)
{
    (void)state;
    static const char *const to[] = { "raw", "npy", "rawarray", "text", "csv", "json" };
    cip_file *f;
    cip_stats stats = { .size = sizeof stats };
    OK(cip_open("in.asdf", NULL, &f, err));
    const cip_array *a = cip_file_array(f, 0);
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++) {
        listener all = { 0 }, stop = { .stop_at = 1 }, bytes = { 0 }, full = { .stop_at = 1 };
        cip_read_args args = { .size = sizeof args, .progress = on_progress, .user = &all };
        args.selection = i < 3 ? NULL : "[:50]";
        OK(cip_export(a, &args, to[i], on_bytes, &bytes, err));
        expect_all(&all);
        assert_int_equal(all.done, i < 3 ? N : 50 * COLUMNS);
        args.user = &stop;
        FAILS(CIP_ERR_CANCELLED, "", cip_export(a, &args, to[i], on_bytes, &bytes, err));
        assert_int_equal(stop.calls, 1);
        args.progress = NULL;
        FAILS(CIP_ERR_CANCELLED, "", cip_export(a, &args, to[i], on_bytes, &full, err));
        assert_int_equal(full.calls, 1);
    }
    listener all = { 0 }, stop = { .stop_at = 1 };
    cip_read_args args = { .size = sizeof args, .progress = on_progress, .user = &all };
    OK(cip_stat(a, &args, &stats, err));
    expect_all(&all);
    args.user = &stop;
    FAILS(CIP_ERR_CANCELLED, "", cip_stat(a, &args, &stats, err));
    cip_file_close(f);
}

static void expect_conversion(const char *in, const char *out, cip_convert_options o)
{
    listener all = { 0 };
    o.size = sizeof o;
    o.progress = on_progress;
    o.user = &all;
    OK(cip_convert(in, out, &o, err));
    expect_all(&all);
    assert_true(all.total != 0 && access(out, F_OK) == 0);
    assert_int_equal(remove(out), 0);
    for (int k = 1; k <= all.calls; k++) {
        listener stop = { .stop_at = k };
        o.user = &stop;
        FAILS(CIP_ERR_CANCELLED, "", cip_convert(in, out, &o, err));
        assert_int_equal(stop.calls, k);
        assert_int_equal(access(out, F_OK), -1);
    }
}

static void conversions_tell_their_progress_and_leave_nothing_when_stopped(void **state)
{
    (void)state;
    expect_conversion("in.asdf", "out.ra", (cip_convert_options){ .path = "a" });
    expect_conversion("plain.ra", "out.asdf", (cip_convert_options){ .codec = "none" });
    expect_conversion("in.asdf", "out.asdf", (cip_convert_options){ .format = NULL });
    expect_conversion("in.asdf", "out.asdf", (cip_convert_options){ .checksum = "md5" });
    expect_conversion("in.asdf", "out.asdf", (cip_convert_options){ .codec = "zlib:1" });
    expect_conversion("in.asdf", "out.asdf", (cip_convert_options){ .byteorder = "big" });
}

/* An array as it is, one with a mask that is cast, a slab; what waits, and what goes on at once. */
static cip_status write_all(const char *name, const cip_array *in, bool several, listener *l)
{
    cip_change *w;
    cip_slab *slab;
    static const int64_t shape[] = { ROWS, COLUMNS };
    uint8_t *mask = calloc(N, 1);
    assert_non_null(mask);
    OK(cip_create(name, CIP_CHANGE_OPTIONS(.progress = on_progress, .user = l), &w, err));
    cip_change_put_array(w, "a", in, CIP_READ_ARGS(.dtype = cip_dtype_of(CIP_F64)), NULL, NULL);
    if (several) {
        cip_change_put(w, "b", cip_dtype_of(CIP_I32), 2, shape, values,
                       CIP_ARRAY_OPTIONS(.mask = mask), NULL);
        cip_change_put(w, "s", cip_dtype_of(CIP_I32), 2, shape, values,
                       CIP_ARRAY_OPTIONS(.storage = "streamed"), NULL);
        if (cip_change_declare(w, "c", cip_dtype_of(CIP_I32), 2, shape, NULL, &slab, NULL) ==
            CIP_OK)
            cip_slab_write(slab, CIP_BOX({ 0, 0 }, { 1, 1 }), values, 4, NULL);
    }
    free(mask);
    return cip_change_commit(&w, NULL);
}

static void writers_tell_their_progress_and_leave_nothing_when_stopped(void **state)
{
    (void)state;
    static const char *const names[] = { "out.asdf", "out.ra", "out.npy" };
    cip_file *f;
    OK(cip_open("in.asdf", NULL, &f, err));
    for (int i = 0; i < 3; i++) {
        listener all = { 0 };
        assert_int_equal(write_all(names[i], cip_find(f, "a", NULL), i == 0, &all), CIP_OK);
        expect_all(&all);
        assert_true(all.total != 0 && access(names[i], F_OK) == 0);
        assert_int_equal(remove(names[i]), 0);
        for (int k = 1; k <= all.calls; k += 1 + k / 8) {
            listener stop = { .stop_at = k };
            assert_int_equal(write_all(names[i], cip_find(f, "a", NULL), i == 0, &stop),
                             CIP_ERR_CANCELLED);
            assert_int_equal(stop.calls, k);
            assert_int_equal(access(names[i], F_OK), -1);
        }
    }
    cip_file_close(f);
}

static void checks_tell_their_progress_and_stop(void **state)
{
    (void)state;
    static const char *const name[] = { "in.asdf", "plain.ra", "plain.npy" };
    for (int i = 0; i < 6; i++) {
        listener all = { 0 }, stop = { .stop_at = 2 };
        cip_verify_options o = {
            .size = sizeof o, .deep = i >= 3, .progress = on_progress, .user = &all
        };
        OK(cip_verify(name[i % 3], &o, err));
        expect_all(&all);
        assert_true((all.total == 0) == (o.deep));
        o.user = &stop;
        FAILS(CIP_ERR_CANCELLED, "", cip_verify(name[i % 3], &o, err));
        assert_int_equal(stop.calls, 2);
    }
}

/* A callback that opens and reads another file, by all threads, amid a call that uses them too. */
typedef struct second_reader {
    listener heard;
    int32_t *into;
} second_reader;

static int read_another(void *user, uint64_t done, uint64_t total)
{
    second_reader *r = user;
    cip_file *f;
    OK(cip_open("plain.npy", NULL, &f, err));
    OK(cip_read(cip_file_array(f, 0), NULL, cip_dtype_of(CIP_I32), r->into, N * sizeof *r->into,
                err));
    cip_file_close(f);
    return on_progress(&r->heard, done, total);
}

static void a_callback_may_read_another_file(void **state)
{
    (void)state;
    second_reader r = { .into = calloc(N, sizeof *r.into) };
    assert_non_null(r.into);
    OK(cip_convert("in.asdf", "zlib.asdf",
                   CIP_CONVERT_OPTIONS(.codec = "zlib:1", .progress = read_another, .user = &r),
                   err));
    expect_all(&r.heard);
    assert_memory_equal(r.into, values, N * sizeof *values);
    r.heard = (listener){ 0 };
    OK(cip_verify("zlib.asdf",
                  CIP_VERIFY_OPTIONS(.deep = true, .progress = read_another, .user = &r), err));
    expect_all(&r.heard);
    free(r.into);
}

/* --- findings ------------------------------------------------------------------------------- */

static void put_text(const char *name, const char *mode, const char *text)
{
    FILE *f = fopen(name, mode);
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The call ended as the listener asked for, and heard of something. */
static void expect_stop(cip_status st, const listener *l)
{
    assert_true(l->stop_at == 0 ? l->calls > 0 : l->calls == l->stop_at);
    assert_int_equal(st, l->stop_at == 0 ? CIP_OK : CIP_ERR_CANCELLED);
}

static void a_finding_of_a_check_or_a_folder_stops_it(void **state)
{
    (void)state;
    OK(cip_convert("plain.npy", "tail.npy", NULL, err));
    put_text("tail.npy", "ab", "behind");
    put_text("sub/.cip-new-1", "wb", "left");
    for (int k = 0; k < 2; k++) {
        listener check = { .stop_at = k }, folder = { .stop_at = k };
        expect_stop(cip_verify("tail.npy",
                               CIP_VERIFY_OPTIONS(.on_finding = on_finding, .user = &check), NULL),
                    &check);
        expect_stop(cip_recover_folder("sub", CIP_RECOVER_LOOK, on_finding, &folder, NULL),
                    &folder);
    }
    assert_int_equal(remove("sub/.cip-new-1"), 0);
}

static void a_loss_stops_what_writes(void **state)
{
    (void)state;
    put_text("ref.asdf", "wb",
             "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n"
             "--- !core/asdf-1.1.0\nlink: {$ref: other.asdf#/x}\n...\n");
    for (int k = 1; k >= 0; k--) {
        listener x = { .stop_at = k }, y = { .stop_at = k }, z = { .stop_at = k };
        const cip_explode_options apart = {
            .size = sizeof apart, .accept_loss = true, .on_loss = on_finding, .user = &y
        };
        expect_stop(
            cip_convert("ref.asdf", "sub/x.asdf",
                        CIP_CONVERT_OPTIONS(.accept_loss = true, .on_loss = on_finding, .user = &x),
                        NULL),
            &x);
        expect_stop(cip_explode("ref.asdf", "sub/y.asdf", &apart, NULL), &y);
        assert_int_equal(access("sub/x.asdf", F_OK), k == 0 ? 0 : -1);
        assert_int_equal(access("sub/y.asdf", F_OK), k == 0 ? 0 : -1);
        expect_stop(
            cip_convert("in.asdf", "z.ra",
                        CIP_CONVERT_OPTIONS(.accept_loss = true, .on_loss = on_finding, .user = &z),
                        NULL),
            &z);
        assert_int_equal(access("z.ra", F_OK), k == 0 ? 0 : -1);
    }
}

/* A file of ASDF 0.1 whose values a chain makes less exact. */
static cip_status write_lossy(const char *name, listener *l)
{
    static const int64_t shape[] = { 4 };
    static const float x[] = { 0, 1, 2.7f, 3.14f };
    cip_change *w;
    OK(cip_create(name,
                  CIP_CHANGE_OPTIONS(.version = "0.1.0", .accept_loss = true, .on_note = on_finding,
                                     .user = l),
                  &w, err));
    cip_change_put(
        w, "q", cip_dtype_of(CIP_F32), 1, shape, x,
        CIP_ARRAY_OPTIONS(.format_options = CIP_TEXTS("encode=[[quantize, {bits: 12}]]")),
        NULL); /* the commit tells it again */
    return cip_change_commit(&w, NULL);
}

static cip_status change_lossy(const char *name, listener *l)
{
    const float x[] = { 1.3f };
    cip_change *e;
    OK(cip_change_open(
        name, CIP_CHANGE_OPTIONS(.accept_loss = true, .on_note = on_finding, .user = l), &e, err));
    OK(cip_change_write(e, "q", "[1:2]", cip_dtype_as_stored(), x, sizeof x, err));
    return cip_change_commit(&e, NULL);
}

static cip_status type_octal(const char *name, listener *l)
{
    cip_change *e;
    OK(cip_change_open(name, CIP_CHANGE_OPTIONS(.on_note = on_finding, .user = l), &e, err));
    cip_status st = cip_change_set_typed(e, "n", "017", NULL);
    cip_change_abort(&e);
    return st;
}

static void a_note_stops_writers_and_updates(void **state)
{
    (void)state;
    for (int k = 1; k >= 0; k--) {
        listener x = { .stop_at = k };
        expect_stop(write_lossy("lossy.asdf", &x), &x);
        assert_int_equal(access("lossy.asdf", F_OK), k == 0 ? 0 : -1);
    }
    size_t n, m;
    listener stop = { .stop_at = 1 }, go = { 0 }, typed = { 0 }, not_typed = { .stop_at = 1 };
    char *before = edit_bytes("lossy.asdf", &n);
    expect_stop(change_lossy("lossy.asdf", &stop), &stop);
    char *after = edit_bytes("lossy.asdf", &m);
    assert_true(n == m && memcmp(before, after, n) == 0);
    expect_stop(change_lossy("lossy.asdf", &go), &go);
    expect_stop(type_octal("in.asdf", &typed), &typed);
    expect_stop(type_octal("in.asdf", &not_typed), &not_typed);
    free(before);
    free(after);
}

/* --- bytes and nodes -------------------------------------------------------------------------- */

static int on_node(void *user, const char *path, const cip_node *node, uint32_t depth)
{
    listener *l = user;
    assert_true(path != NULL && node != NULL && depth < 100);
    return ++l->calls == l->stop_at ? 2 : 0;
}

static void what_takes_text_or_nodes_stops_it(void **state)
{
    (void)state;
    cip_file *f, *ra;
    OK(cip_open("in.asdf", NULL, &f, err));
    OK(cip_open("plain.ra", NULL, &ra, err));
    for (int k = 0; k < 2; k++) {
        listener print = { .stop_at = k }, query = { .stop_at = k }, visit = { .stop_at = k };
        const cip_status want = k == 0 ? CIP_OK : CIP_ERR_CANCELLED;
        assert_int_equal(cip_tree_print(f, NULL, NULL, on_bytes, &print, NULL), want);
        assert_int_equal(cip_file_query(ra, on_bytes, &query, NULL), want);
        assert_int_equal(cip_tree_visit(f, NULL, on_node, &visit, NULL), want);
        assert_true(print.calls > 0 && query.calls > 0 && visit.calls > 0);
    }
    cip_file_close(f);
    cip_file_close(ra);
}

static void what_hears_of_an_update_stops_it(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "small.asdf", false);
    for (int k = 0; k < 2; k++) {
        listener drop = { .stop_at = k }, plan = { .stop_at = k };
        cip_change *e;
        OK(cip_change_open(path, NULL, &e, err));
        OK(cip_change_remove(e, "image", err));
        expect_stop(cip_change_defrag(e, on_finding, &drop, NULL), &drop);
        cip_change_abort(&e);
        OK(cip_change_open(path, NULL, &e, err));
        OK(cip_change_set_string(e, "meta/name", "x", err));
        assert_int_equal(cip_change_plan(e, on_bytes, &plan, NULL),
                         k == 0 ? CIP_OK : CIP_ERR_CANCELLED);
        assert_true(plan.calls > 0);
        cip_change_abort(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_tells_its_progress_and_stops),
        cmocka_unit_test(reading_in_parts_gives_what_reading_at_once_gives),
        cmocka_unit_test(exports_and_statistics_tell_their_progress_and_stop),
        cmocka_unit_test(conversions_tell_their_progress_and_leave_nothing_when_stopped),
        cmocka_unit_test(writers_tell_their_progress_and_leave_nothing_when_stopped),
        cmocka_unit_test(checks_tell_their_progress_and_stop),
        cmocka_unit_test(a_callback_may_read_another_file),
        cmocka_unit_test(a_finding_of_a_check_or_a_folder_stops_it),
        cmocka_unit_test(a_loss_stops_what_writes),
        cmocka_unit_test(a_note_stops_writers_and_updates),
        cmocka_unit_test(what_takes_text_or_nodes_stops_it),
        cmocka_unit_test(what_hears_of_an_update_stops_it),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
