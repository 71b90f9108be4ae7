/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of a file that is open, whatever it was opened from: a path, memory, methods of the
 * caller's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/fail_alloc.h"
#include "support/test_store.h"

static const cip_io_methods reads = TEST_STORE_READS;
static scratch dir;

/* A file in one kind of store. */
enum { PATH, MEMORY, METHODS, STORES };
typedef struct place {
    int kind;
    const char *path;
    cip_memory *memory;
    test_store store;
    test_file *file;
} place;

/* The same with a stream at its end, and without. */
static char *first, *plain;
static size_t nfirst, nplain;

static int setup(void **state)
{
    (void)state;
    if (!scratch_open(&dir))
        return -1;
    first = edit_bytes(edit_file(&dir, "first.asdf", true), &nfirst);
    plain = edit_bytes(edit_file(&dir, "plain.asdf", false), &nplain);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(first);
    free(plain);
    scratch_close(&dir);
    return 0;
}

static void place_open_of(place *p, int kind, const char *bytes, size_t n, cip_file **f)
{
    memset(p, 0, sizeof *p);
    p->kind = kind;
    if (kind == PATH) {
        p->path = scratch_write(&dir, "x.asdf", bytes, n);
        OK(cip_open(p->path, NULL, f, err));
    } else if (kind == MEMORY) {
        OK(cip_memory_new(bytes, n, &p->memory, err));
        OK(cip_memory_open(p->memory, NULL, f, err));
    } else {
        p->file = test_store_put(&p->store, "x.asdf", bytes, n);
        OK(cip_open_io(&reads, p->file, NULL, f, err));
    }
}

static void place_open(place *p, int kind, cip_file **f)
{
    place_open_of(p, kind, first, nfirst, f);
}

static void place_close(place *p, cip_file *f)
{
    cip_file_close(f);
    cip_memory_free(p->memory);
    test_store_clear(&p->store);
}

/* free() them */
static char *place_bytes(const place *p, size_t *n)
{
    if (p->kind == PATH)
        return edit_bytes(p->path, n);
    const char *from = p->kind == MEMORY ? cip_memory_bytes(p->memory, n) : p->file->bytes;
    *n = p->kind == METHODS ? p->file->n : *n;
    return memcpy(malloc(*n + 1), from, *n);
}

static cip_status change(cip_change *e, cip_err *err)
{
    static const float seven = 7;
    static const int16_t rows[] = { 50, 51, 52, 53 };
    static const int64_t shape[] = { 2 }, less[] = { 2 };
    cip_change_set_string(e, "meta/name", "a longer name than the first", err);
    cip_change_write(e, "image", "[1, 2]", cip_dtype_as_stored(), &seven, sizeof seven, err);
    cip_change_append(e, "packed", cip_dtype_as_stored(), rows, sizeof rows, err);
    cip_change_resize(e, "few", 1, less, err);
    cip_change_freeze(e, err);
    cip_change_put(e, "more/two", cip_dtype_of(CIP_I16), 1, shape, rows, NULL, err);
    cip_change_move(e, "meta/name", "called", false, err);
    return edit_end(e, err);
}

/* As cip_open, cip_memory_open and cip_open_io have it. */
static void expect_read_no_more(cip_file *f)
{
    float v[24];
    FAILS(CIP_ERR_BUSY, "open it again",
          cip_read(cip_find(f, "image", NULL), NULL, cip_dtype_as_stored(), v, sizeof v, err));
}

static void updates_begin_at_an_open_file(void **state)
{
    char *made[STORES];
    size_t n[STORES];
    (void)state;
    for (int kind = 0; kind < STORES; kind++) {
        float v[24];
        place p;
        cip_file *f;
        cip_change *e;
        place_open(&p, kind, &f);
        OK(cip_change_begin(f, NULL, &e, err));
        cip_change_abort(&e);
        OK(cip_change_begin(f, NULL, &e, err));
        OK(cip_read(cip_find(f, "image", NULL), NULL, cip_dtype_as_stored(), v, sizeof v, err));
        OK(change(e, err));
        expect_read_no_more(f);
        FAILS(CIP_ERR_BUSY, "changed since it was opened", cip_change_begin(f, NULL, &e, err));
        assert_null(e);
        made[kind] = place_bytes(&p, &n[kind]);
        assert_int_equal(n[kind], n[PATH]);
        assert_memory_equal(made[kind], made[PATH], n[PATH]);
        if (kind == METHODS)
            assert_true(p.file->closed == 3 && p.file->complete == 1);
        place_close(&p, f);
    }
    for (int kind = 0; kind < STORES; kind++)
        free(made[kind]);
}

/* A stream at the end of the file, and an array that grows by updates. */
static void rows_are_appended_to_an_open_file(void **state)
{
    static const double rows[] = { 1, 2, 3, 4 };
    static const char *const paths[] = { "rows", "packed" };
    float v[24];
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        char *made[STORES];
        size_t n[STORES];
        for (int kind = 0; kind < STORES; kind++) {
            place p;
            cip_file *f;
            place_open_of(&p, kind, k == 0 ? first : plain, k == 0 ? nfirst : nplain, &f);
            for (int i = 0; i < 3; i++)
                OK(cip_append(f, paths[k], cip_dtype_of(CIP_F64), rows, sizeof rows, err));
            OK(cip_sync(f, err));
            if (k == 0) /* which it reads on as it was */
                OK(cip_read(cip_find(f, "image", NULL), NULL, cip_dtype_as_stored(), v, sizeof v,
                            err));
            made[kind] = place_bytes(&p, &n[kind]);
            assert_int_equal(n[kind], n[PATH]);
            assert_memory_equal(made[kind], made[PATH], n[PATH]);
            place_close(&p, f);
        }
        const char *path = scratch_write(&dir, "made.asdf", made[PATH], n[PATH]);
        edit_expect(path, paths[k],
                    k == 0 ? "1.0 2.0\n3.0 4.0\n1.0 2.0\n3.0 4.0\n1.0 2.0\n3.0 4.0\n"
                           : "0 1 2 3\n4 5 6 7\n8 9 10 11\n1 2 3 4\n1 2 3 4\n1 2 3 4\n");
        edit_verify(path);
        for (int kind = 0; kind < STORES; kind++)
            free(made[kind]);
    }
}

/* The file and the one beside it that its stream lies in, in both kinds of stores. */
static void streams_in_members_grow(void **state)
{
    static const double rows[] = { 1, 2, 3, 4 };
    size_t n[2], nmade;
    char *bytes[2];
    test_store store = { .calls = 0 };
    cip_memory *m;
    cip_file *f;
    (void)state;
    const char *path = scratch_write(&dir, "x.asdf", first, nfirst);
    OK(cip_explode(path, scratch_path(&dir, "apart.asdf"), NULL, err));
    for (int i = 0; i < 2; i++)
        bytes[i] = edit_bytes(scratch_path(&dir, i == 0 ? "apart.asdf" : "apart0002.asdf"), &n[i]);
    OK(cip_memory_new(bytes[0], n[0], &m, err));
    OK(cip_memory_add(m, "apart0002.asdf", bytes[1], n[1], err));
    test_file *in = test_store_put(&store, "apart0002.asdf", bytes[1], n[1]);
    test_file *file = test_store_put(&store, "apart.asdf", bytes[0], n[0]);
    for (int k = 0; k < 3; k++) {
        OK(k == 0   ? cip_open(scratch_path(&dir, "apart.asdf"), NULL, &f, err)
           : k == 1 ? cip_memory_open(m, NULL, &f, err)
                    : cip_open_io(&reads, file, NULL, &f, err));
        for (int i = 0; i < 3; i++)
            OK(cip_append(f, "rows", cip_dtype_of(CIP_F64), rows, sizeof rows, err));
        OK(cip_sync(f, err));
        cip_file_close(f);
    }
    char *made = edit_bytes(scratch_path(&dir, "apart0002.asdf"), &nmade);
    const void *found;
    assert_string_equal(cip_memory_member(m, 0, &found, &n[0]), "apart0002.asdf");
    assert_true(nmade > n[1] && n[0] == nmade && in->n == nmade);
    assert_memory_equal(found, made, nmade);
    assert_memory_equal(in->bytes, made, nmade);
    assert_true(in->opened == 1 && in->closed == 1 && in->complete == 3);
    free(made);
    free(bytes[0]);
    free(bytes[1]);
    cip_memory_free(m);
    test_store_clear(&store);
}

/* Nothing is locked: whoever comes second is told. */
static void of_two_who_append_one_is_busy(void **state)
{
    static const double rows[] = { 1, 2 };
    cip_memory *m;
    cip_file *f, *g;
    (void)state;
    OK(cip_memory_new(first, nfirst, &m, err));
    OK(cip_memory_open(m, NULL, &f, err));
    OK(cip_memory_open(m, NULL, &g, err));
    OK(cip_append(f, "rows", cip_dtype_of(CIP_F64), rows, sizeof rows, err));
    FAILS(CIP_ERR_BUSY, "changed since it was opened",
          cip_append(g, "rows", cip_dtype_of(CIP_F64), rows, sizeof rows, err));
    cip_file_close(g);
    OK(cip_memory_open(m, NULL, &g, err));
    OK(cip_append(g, "rows", cip_dtype_of(CIP_F64), rows, sizeof rows, err));
    FAILS(CIP_ERR_BUSY, "file changed since open",
          cip_append(f, "rows", cip_dtype_of(CIP_F64), rows, sizeof rows, err));
    cip_file_close(g);
    cip_file_close(f);
    size_t n;
    cip_memory_bytes(m, &n);
    assert_int_equal(n, nfirst + 2 * sizeof rows);
    cip_memory_free(m);
}

static cip_status change_elsewhere(place *p, cip_err *err)
{
    static const cip_io_write_methods writes = TEST_STORE_WRITES;
    cip_change *e;
    cip_status st = p->kind == MEMORY ? cip_change_open_memory(p->memory, NULL, &e, err)
                                      : cip_change_open_io(&reads, &writes, p->file, NULL, &e, err);
    if (st != CIP_OK)
        return st;
    cip_change_set_string(e, "meta/name", "other", err);
    return edit_end(e, err);
}

static void a_file_that_changed_since_it_was_opened_is_busy(void **state)
{
    static const double rows[] = { 1, 2 };
    (void)state;
    for (int kind = MEMORY; kind < STORES; kind++) { /* of a path: test_core_edit.c */
        place p;
        cip_file *f;
        cip_change *e;
        place_open(&p, kind, &f);
        OK(change_elsewhere(&p, err));
        if (kind == MEMORY) /* which tells without being asked */
            expect_read_no_more(f);
        FAILS(CIP_ERR_BUSY, "changed since it was opened", cip_change_begin(f, NULL, &e, err));
        FAILS(CIP_ERR_BUSY, "changed since it was opened",
              cip_append(f, "rows", cip_dtype_of(CIP_F64), rows, sizeof rows, err));
        place_close(&p, f);
    }
}

/* Between the beginning of an update and its commit, where nothing is locked. */
static void what_another_changed_meanwhile_is_not_written_over(void **state)
{
    (void)state;
    for (int kind = MEMORY; kind < STORES; kind++) {
        place p;
        cip_file *f;
        cip_change *e;
        size_t n, nother;
        place_open(&p, kind, &f);
        OK(cip_change_begin(f, NULL, &e, err));
        OK(change_elsewhere(&p, err));
        char *other = place_bytes(&p, &nother);
        FAILS(CIP_ERR_BUSY, "file changed since open", change(e, err));
        char *bytes = place_bytes(&p, &n);
        assert_int_equal(n, nother);
        assert_memory_equal(bytes, other, n);
        free(bytes);
        free(other);
        place_close(&p, f);
    }
}

static void what_cannot_be_written_is_refused(void **state)
{
    static const double rows[] = { 1, 2 };
    test_store store = { .calls = 0 };
    test_file *file = test_store_put(&store, "x.asdf", first, nfirst);
    (void)state;
    for (int k = 0; k < 3; k++) {
        cip_io_methods few = reads;
        cip_file *f;
        cip_change *e;
        if (k == 0)
            few.open_write = NULL;
        if (k == 1)
            few.version = NULL;
        if (k < 2)
            OK(cip_open_io(&few, file, NULL, &f, err));
        else
            OK(cip_open_memory(first, nfirst, NULL, &f, err));
        FAILS(CIP_ERR_UNSUPPORTED, "open_write and version", cip_change_begin(f, NULL, &e, err));
        assert_null(e);
        FAILS(CIP_ERR_UNSUPPORTED, "opened by its name",
              cip_append(f, "rows", cip_dtype_of(CIP_F64), rows, sizeof rows, err));
        cip_file_close(f);
    }
    assert_int_equal(file->closed, 0);
    test_store_clear(&store);
}

/* Call n of the update fails, whichever it is: all old or all new, and all closed. */
static void a_call_that_fails_leaves_the_old_file(void **state)
{
    static const double rows[] = { 1, 2 };
    int failed = 0;
    (void)state;
    for (int appends = 0; appends < 2; appends++)
        for (int n = 1;; n++) {
            place p;
            cip_file *f;
            cip_change *e;
            place_open(&p, METHODS, &f);
            int opening = p.store.calls;
            p.store.fail_at = opening + n;
            cip_status st = CIP_OK;
            if (appends) {
                st = cip_append(f, "rows", cip_dtype_of(CIP_F64), rows, sizeof rows, NULL);
            } else {
                st = cip_change_begin(f, NULL, &e, NULL);
                if (st == CIP_OK)
                    st = change(e, NULL);
            }
            int calls = p.store.calls - opening;
            bool old = p.file->n == nfirst && memcmp(p.file->bytes, first, nfirst) == 0;
            assert_int_equal(old, st != CIP_OK);
            cip_file_close(f);
            assert_int_equal(p.file->closed, p.file->opened);
            place_close(&p, NULL);
            failed += st != CIP_OK;
            if (calls < n) {
                assert_int_equal(st, CIP_OK);
                break;
            }
        }
    assert_true(failed > 20);
}

static void an_allocation_that_fails_leaves_the_old_file(void **state)
{
    (void)state;
    for (size_t n = 1, went = 0; went == 0; n++) {
        fail_alloc fa = { .fail_at = 0 };
        cip_allocator a = { fail_alloc_resize, &fa };
        place p = { .kind = MEMORY };
        cip_file *f;
        cip_change *e;
        size_t now;
        OK(cip_memory_new(first, nfirst, &p.memory, err));
        OK(cip_memory_open(p.memory, CIP_OPEN_OPTIONS(.allocator = &a, .threads = 1), &f, err));
        fa.fail_at = fa.requests + n;
        cip_status st = cip_change_begin(f, NULL, &e, NULL);
        if (st == CIP_OK)
            st = change(e, NULL);
        went = fa.requests < fa.fail_at;
        assert_true(st == CIP_OK || !went);
        char *bytes = place_bytes(&p, &now);
        assert_int_equal(now == nfirst && memcmp(bytes, first, now) == 0, st != CIP_OK);
        free(bytes);
        place_close(&p, f);
        assert_int_equal(fa.held, 0);
    }
}

/* A frame of Blosc2 with metadata that come, change, move and go, and without unused bytes then. */
static void frames_have_their_metadata_changed_anywhere(void **state)
{
    static const int32_t v[12] = { 1, 2, 3 };
    static const int64_t shape[] = { 12 };
    char *made[STORES];
    size_t n[STORES], nframe;
    cip_memory *m;
    cip_change *w;
    (void)state;
    OK(cip_create_memory("x.b2nd", NULL, &m, &w, err));
    OK(cip_change_put(w, "", cip_dtype_of(CIP_I32), 1, shape, v,
                      CIP_ARRAY_OPTIONS(.codec = "blosclz"), err));
    OK(cip_change_commit(&w, err));
    const char *frame = cip_memory_bytes(m, &nframe);
    for (int kind = 0; kind < STORES; kind++) {
        const char *unit = "";
        int32_t got[12];
        place p;
        cip_file *f;
        cip_change *e;
        place_open_of(&p, kind, frame, nframe, &f);
        OK(cip_change_begin(f, NULL, &e, err));
        OK(cip_change_set_string(e, "vlmeta/info/unit", "K", err));
        OK(cip_change_set_double(e, "vlmeta/info/scale", 0.5, err));
        OK(cip_change_move(e, "vlmeta/info/unit", "meta/unit", false, err));
        OK(cip_change_remove(e, "vlmeta/info", err));
        OK(cip_change_defrag(e, NULL, NULL, err));
        OK(cip_change_commit(&e, err));
        made[kind] = place_bytes(&p, &n[kind]);
        assert_int_equal(n[kind], n[PATH]);
        assert_memory_equal(made[kind], made[PATH], n[PATH]);
        place_close(&p, f);
        place_open_of(&p, kind, made[kind], n[kind], &f);
        OK(cip_tree_get_string(cip_file_tree(f), "meta/unit", &unit, err));
        assert_string_equal(unit, "K");
        OK(cip_read(cip_find(f, "", NULL), NULL, cip_dtype_of(CIP_I32), got, sizeof got, err));
        assert_memory_equal(got, v, sizeof got);
        place_close(&p, f);
    }
    for (int kind = 0; kind < STORES; kind++)
        free(made[kind]);
    cip_memory_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_begin_at_an_open_file),
        cmocka_unit_test(frames_have_their_metadata_changed_anywhere),
        cmocka_unit_test(rows_are_appended_to_an_open_file),
        cmocka_unit_test(streams_in_members_grow),
        cmocka_unit_test(of_two_who_append_one_is_busy),
        cmocka_unit_test(a_file_that_changed_since_it_was_opened_is_busy),
        cmocka_unit_test(what_another_changed_meanwhile_is_not_written_over),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(a_call_that_fails_leaves_the_old_file),
        cmocka_unit_test(an_allocation_that_fails_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
