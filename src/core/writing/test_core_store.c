/* SPDX-License-Identifier: BSD-3-Clause
 * Writing into memory and into a store of the caller's: the bytes that a file would have, all of
 * them or nothing that is called complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/fail_alloc.h"
#include "support/test_store.h"

static const cip_io_write_methods writes = TEST_STORE_WRITES;
static const cip_io_methods reads = TEST_STORE_READS;
static scratch dir;

static int setup(void **state)
{
    (void)state;
    return scratch_open(&dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&dir);
    return 0;
}

/* --- what is written ------------------------------------------------------------------------ */

enum { PLAIN, TREE, OUTSIDE, LARGE };

/* One array; a tree with several; one with data in other files; more than is kept in memory. */
static void put(cip_change *w, int what)
{
    static const int64_t shape[] = { 3, 4 }, large[] = { 2000, 700 };
    static float values[2000 * 700];
    for (int i = 0; i < 2000 * 700; i++)
        values[i] = (float)i / 3;
    if (what != PLAIN)
        cip_change_set_string(w, "meta/name", "first", NULL);
    cip_change_put(w, what == PLAIN ? "" : "a", cip_dtype_of(CIP_F32), 2,
                   what == LARGE ? large : shape, values, NULL, NULL);
    if (what == OUTSIDE)
        for (int i = 0; i < 2; i++)
            cip_change_put(w, i == 0 ? "b" : "c", cip_dtype_of(CIP_F32), 2, shape, values + i,
                           CIP_ARRAY_OPTIONS(.storage = "external"), NULL);
    if (what == TREE)
        cip_change_put(w, "d", cip_dtype_of(CIP_F32), 2, shape, values,
                       CIP_ARRAY_OPTIONS(.storage = "streamed"), NULL);
}

static cip_status commit(cip_change *w, int what, cip_err *err)
{
    put(w, what);
    return cip_change_commit(&w, err);
}

static void expect_same(const char *file, const void *bytes, size_t n)
{
    size_t nfile;
    char *found = edit_bytes(scratch_path(&dir, file), &nfile);
    assert_int_equal(nfile, n);
    assert_memory_equal(found, bytes, n);
    free(found);
}

static void memory_and_store_get_the_bytes_of_a_file(void **state)
{
    static const struct {
        const char *name, *format;
        int what;
    } cases[] = { { "out.asdf", "asdf", TREE },
                  { "out.asdf", "asdf", LARGE },
                  { "out.ra", "rawarray", PLAIN },
                  { "out.npy", "npy", PLAIN },
                  { "out.asdf", "asdf", OUTSIDE } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cip_change_options how = { .size = sizeof how, .format = cases[i].format };
        cip_change *w;
        cip_memory *m;
        size_t n;
        test_store s = { .calls = 0 };
        test_file *f = test_store_file(&s, cases[i].name);
        OK(cip_create(scratch_path(&dir, cases[i].name), CIP_CHANGE_OPTIONS(.overwrite = true), &w,
                      err));
        OK(commit(w, cases[i].what, err));
        OK(cip_create_io(&writes, f, &how, &w, err));
        put(w, cases[i].what);
        assert_int_equal(s.calls, 0);
        OK(cip_change_commit(&w, err));
        assert_true(f->complete == 1 && f->closed == 1 && s.syncs >= 1);
        expect_same(cases[i].name, f->bytes, f->n);
        OK(cip_create_memory(cases[i].format, NULL, &m, &w, err));
        put(w, cases[i].what);
        assert_null(cip_memory_bytes(m, &n));
        assert_int_equal(n, 0);
        if (cases[i].what == OUTSIDE) {
            FAILS(CIP_ERR_UNSUPPORTED, "external data", cip_change_commit(&w, err));
            assert_null(cip_memory_bytes(m, NULL));
            for (int k = 0; k < 2; k++) {
                f = test_store_find(&s, k == 0 ? "out0000.asdf" : "out0001.asdf");
                assert_true(f != NULL && f->complete == 1 && f->closed == 1);
                expect_same(f->name, f->bytes, f->n);
            }
        } else {
            OK(cip_change_commit(&w, err));
            const void *bytes = cip_memory_bytes(m, &n);
            expect_same(cases[i].name, bytes, n);
        }
        cip_memory_free(m);
        test_store_clear(&s);
    }
}

static void level_process_syncs_nothing(void **state)
{
    test_store s = { .calls = 0 };
    cip_change *w;
    (void)state;
    OK(cip_create_io(&writes, test_store_file(&s, "out.asdf"),
                     CIP_CHANGE_OPTIONS(.level = CIP_LEVEL_PROCESS), &w, err));
    OK(commit(w, OUTSIDE, err));
    assert_int_equal(s.syncs, 0);
    test_store_clear(&s);
}

/* All of a set in memory, as the files of the folder. */
static void expect_set(cip_memory *m, const char *name, size_t nmember)
{
    const void *bytes;
    size_t n, i = 0;
    bytes = cip_memory_bytes(m, &n);
    expect_same(name, bytes, n);
    for (const char *member; (member = cip_memory_member(m, i, &bytes, &n)) != NULL; i++)
        expect_same(member, bytes, n);
    assert_int_equal(i, nmember);
}

/* As a program gets it from somewhere. */
static cip_memory *copy_set(const cip_memory *from)
{
    cip_memory *m;
    const char *member;
    size_t n;
    const void *bytes = cip_memory_bytes(from, &n);
    OK(cip_memory_new(bytes, n, &m, err));
    for (size_t i = 0; (member = cip_memory_member(from, i, &bytes, &n)) != NULL; i++)
        OK(cip_memory_add(m, member, bytes, n, err));
    return m;
}

static void expect_last(cip_memory *m, const char *path, float value)
{
    float found[12];
    cip_file *f;
    OK(cip_memory_open(m, NULL, &f, err));
    OK(cip_read(cip_find(f, path, NULL), "", cip_dtype_of(CIP_F32), found, sizeof found, err));
    assert_true(found[11] == value);
    cip_file_close(f);
}

static cip_status change_outside(cip_change *e, cip_err *err)
{
    const float seven = 7;
    cip_change_write(e, "a", "[2, 3]", cip_dtype_as_stored(), &seven, sizeof seven, err);
    cip_change_set_string(e, "meta/name", "a name that is longer than the first", err);
    return edit_end(e, err);
}

static void sets_in_memory_are_written_read_and_updated(void **state)
{
    cip_memory *m, *again;
    cip_change *w;
    cip_change *e;
    (void)state;
    OK(cip_create(scratch_path(&dir, "night.asdf"), NULL, &w, err));
    OK(commit(w, OUTSIDE, err));
    OK(cip_create_memory("night.asdf", NULL, &m, &w, err));
    put(w, OUTSIDE);
    assert_null(cip_memory_member(m, 0, NULL, NULL));
    OK(cip_change_commit(&w, err));
    expect_set(m, "night.asdf", 2);
    again = copy_set(m);
    cip_memory_free(m);
    expect_last(again, "c", 4);
    OK(cip_change_open(scratch_path(&dir, "night.asdf"), NULL, &e, err));
    OK(change_outside(e, err));
    OK(cip_change_open_memory(again, NULL, &e, err));
    expect_last(again, "c", 4);
    OK(change_outside(e, err));
    expect_set(again, "night.asdf", 2);
    expect_last(again, "a", 7);
    expect_last(again, "c", 4);
    cip_memory_free(again);
}

static void what_is_no_set_is_refused(void **state)
{
    cip_memory *m, *none;
    cip_change *w;
    cip_file *f;
    (void)state;
    FAILS(CIP_ERR_ARG, "without a folder", cip_create_memory("a/b.asdf", NULL, &m, &w, err));
    FAILS(CIP_ERR_ARG, "does not tell the format", cip_create_memory("b.what", NULL, &m, &w, err));
    OK(cip_create_memory("b.asdf", NULL, &none, &w, err));
    FAILS(CIP_ERR_ARG, "complete", cip_memory_add(none, "b", "", 0, err));
    FAILS(CIP_ERR_ARG, "complete", cip_memory_open(none, NULL, &f, err));
    cip_change_abort(&w);
    cip_memory_free(none);
    OK(cip_create_memory("b.asdf", NULL, &m, &w, err));
    OK(commit(w, OUTSIDE, err));
    FAILS(CIP_ERR_EXISTS, "already", cip_memory_add(m, "b0001.asdf", "", 0, err));
    static const char *const bad[] = { "", "/a", "..", "a/../b", "../a", "a/..", "./a", "a//b" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        FAILS(CIP_ERR_ARG, "not a plain member name", cip_memory_add(m, bad[i], "", 0, err));
    FAILS(CIP_ERR_ARG, "NULL", cip_memory_add(m, NULL, "", 0, err));
    FAILS(CIP_ERR_ARG, "NULL", cip_memory_add(m, "c", NULL, 1, err));
    OK(cip_memory_add(m, "a/..b", NULL, 0, err));
    assert_string_equal(cip_memory_member(m, 0, NULL, NULL), "a/..b");
    assert_null(cip_memory_member(NULL, 0, NULL, NULL));
    assert_null(cip_memory_member(m, 3, NULL, NULL));
    cip_memory_free(m);
    OK(cip_memory_new("what", 4, &m, err));
    FAILS(CIP_ERR_FORMAT, "", cip_memory_open(m, NULL, &f, err));
    cip_memory_free(m);
}

static void a_member_that_is_not_there_is_named(void **state)
{
    float found[12];
    cip_memory *m, *alone;
    cip_change *w;
    cip_file *f;
    size_t n;
    (void)state;
    OK(cip_create_memory("b.asdf", NULL, &m, &w, err));
    OK(commit(w, OUTSIDE, err));
    const void *bytes = cip_memory_bytes(m, &n);
    OK(cip_memory_new(bytes, n, &alone, err));
    cip_memory_free(m);
    OK(cip_memory_open(alone, NULL, &f, err));
    FAILS(CIP_ERR_NOT_FOUND, "b0001.asdf",
          cip_read(cip_find(f, "c", NULL), "", cip_dtype_of(CIP_F32), found, sizeof found, err));
    cip_file_close(f);
    cip_memory_free(alone);
}

/* --- failures ------------------------------------------------------------------------------- */

static void a_call_that_fails_ends_the_writer_with_its_status(void **state)
{
    static const struct {
        const char *format;
        int what, status, expected;
    } cases[] = { { "asdf", TREE, CIP_ERR_BUSY, CIP_ERR_BUSY },
                  { "asdf", OUTSIDE, CIP_ERR_IO, CIP_ERR_IO },
                  { "asdf", LARGE, 77, CIP_ERR_IO },
                  { "rawarray", PLAIN, -1, CIP_ERR_IO },
                  { "npy", PLAIN, CIP_ERR_CANCELLED, CIP_ERR_CANCELLED } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int n = 1;; n++) {
            cip_change_options how = { .size = sizeof how, .format = cases[i].format };
            test_store s = { .fail_at = n, .status = cases[i].status };
            test_file *f = test_store_file(&s, "out.asdf");
            cip_change *w;
            cip_err e = CIP_ERR_INIT;
            OK(cip_create_io(&writes, f, &how, &w, err));
            put(w, cases[i].what);
            cip_status st = cip_change_commit(&w, &e);
            int calls = s.calls, members = 0;
            for (int k = 1; k < TEST_STORE_FILES; k++)
                members += s.file[k].there;
            assert_int_equal(f->closed, 1);
            assert_int_equal(f->complete, st == CIP_OK);
            assert_int_equal(members, st == CIP_OK && cases[i].what == OUTSIDE ? 2 : 0);
            test_store_clear(&s);
            if (calls < n) {
                assert_int_equal(st, CIP_OK);
                break;
            }
            assert_int_equal(st, cases[i].expected);
            assert_non_null(strstr(e.text, "without a reason"));
            assert_string_equal(e.part, "output");
        }
    }
}

static void what_failed_before_reaches_no_store(void **state)
{
    test_store s = { .calls = 0 };
    test_file *f = test_store_file(&s, "out.asdf");
    cip_memory *m;
    cip_change *w;
    (void)state;
    OK(cip_create_io(&writes, f, NULL, &w, err));
    put(w, TREE);
    FAILS(CIP_ERR_TYPE, "", cip_change_set_int(w, "meta/name/deeper", 1, err));
    FAILS(CIP_ERR_TYPE, "", cip_change_commit(&w, err));
    assert_true(s.calls == 0 && f->closed == 1 && f->complete == 0);
    OK(cip_create_memory("asdf", NULL, &m, &w, err));
    put(w, TREE);
    cip_change_abort(&w);
    assert_null(cip_memory_bytes(m, NULL));
    cip_memory_free(m);
    test_store_clear(&s);
}

static void methods_are_checked(void **state)
{
    test_store s = { .calls = 0 };
    test_file *f = test_store_file(&s, "out.asdf");
    cip_change *w;
    cip_memory *m;
    (void)state;
    cip_io_write_methods bad = writes;
    FAILS(CIP_ERR_ARG, "found NULL", cip_create_io(NULL, f, NULL, &w, err));
    bad.struct_size = 8;
    FAILS(CIP_ERR_ARG, "struct_size", cip_create_io(&bad, f, NULL, &w, err));
    bad = writes;
    bad.write_at = NULL;
    FAILS(CIP_ERR_ARG, "write_at", cip_create_io(&bad, f, NULL, &w, err));
    bad = writes;
    bad.name = "../out.asdf";
    FAILS(CIP_ERR_ARG, "without a folder", cip_create_io(&bad, f, NULL, &w, err));
    assert_int_equal(f->closed, 2); /* not by methods that are none, or of another version */
    bad.name = "out.what";
    FAILS(CIP_ERR_ARG, "does not tell the format", cip_create_io(&bad, f, NULL, &w, err));
    bad.name = NULL;
    FAILS(CIP_ERR_ARG, "a name that tells the format", cip_create_io(&bad, f, NULL, &w, err));
    const cip_change_options old = { .size = 0 };
    FAILS(CIP_ERR_ARG, "size", cip_create_io(&writes, f, &old, &w, err));
    assert_int_equal(f->closed, 5);
    FAILS(CIP_ERR_ARG, "no format is named", cip_create_memory("what", NULL, &m, &w, err));
    FAILS(CIP_ERR_ARG, "a name that tells the format", cip_create_memory(NULL, NULL, &m, &w, err));
    assert_null(m);
    cip_memory_free(NULL);
    bad = writes;
    bad.create_member = NULL;
    OK(cip_create_io(&bad, f, NULL, &w, err));
    put(w, OUTSIDE);
    FAILS(CIP_ERR_UNSUPPORTED, "know no members", cip_change_commit(&w, err));
    assert_int_equal(s.calls, 0);
    bad.name = NULL;
    OK(cip_create_io(&bad, f, CIP_CHANGE_OPTIONS(.format = "asdf"), &w, err));
    put(w, OUTSIDE);
    FAILS(CIP_ERR_UNSUPPORTED, "with a name", cip_change_commit(&w, err));
    test_store_clear(&s);
}

static void a_member_that_is_there_stays(void **state)
{
    test_store s = { .calls = 0 };
    test_file *f = test_store_file(&s, "out.asdf"), *other = test_store_file(&s, "out0001.asdf");
    cip_change *w;
    (void)state;
    OK(cip_create_io(&writes, f, NULL, &w, err));
    put(w, OUTSIDE);
    FAILS(CIP_ERR_EXISTS, "create_member", cip_change_commit(&w, err));
    assert_true(other->there && other->closed == 0 && other->n == 0);
    assert_null(test_store_find(&s, "out0000.asdf"));
    test_store_clear(&s);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t n = 1; n != 0; n++) {
        for (int to = 0; to < 3; to++) {
            fail_alloc fa = { .fail_at = n };
            cip_allocator a = { fail_alloc_resize, &fa };
            test_store s = { .calls = 0 };
            cip_change *w = NULL;
            cip_memory *m = NULL;
            cip_status st =
                to != 1
                    ? cip_create_memory(to == 0 ? "asdf" : "out.asdf",
                                        CIP_CHANGE_OPTIONS(.allocator = &a, .threads = 1), &m, &w,
                                        NULL)
                    : cip_create_io(&writes, test_store_file(&s, "out.asdf"),
                                    CIP_CHANGE_OPTIONS(.allocator = &a, .threads = 1), &w, NULL);
            if (st == CIP_OK)
                st = commit(w, to == 0 ? TREE : OUTSIDE, NULL);
            assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
            assert_int_equal(s.file[0].closed, to == 1);
            assert_int_equal(s.file[0].complete, to == 1 && st == CIP_OK);
            assert_int_equal(cip_memory_member(m, 1, NULL, NULL) != NULL, to == 2 && st == CIP_OK);
            cip_memory_free(m);
            test_store_clear(&s);
            assert_int_equal(fa.held, 0);
            assert_true((st == CIP_OK) == (fa.requests < n));
            if (st == CIP_OK && to == 2)
                return;
        }
    }
}

/* --- updates -------------------------------------------------------------------------------- */

/* Kinds of changes: within a sector; a longer tree; an array that grows; a shorter file; a file
 * laid out anew; a tree that no longer fits; nothing. */
enum { NUMBER, NAME, ROWS, SHORTER, ANEW, MOVED, NOTHING, KINDS };

static cip_status change(cip_change *e, int kind, cip_err *err)
{
    static const double rows[] = { 1, 2, 3, 4 };
    static const int64_t less[] = { 0, 2 };
    static char text[9000];
    const float seven = 7;
    memset(text, 'x', sizeof text - 1);
    switch (kind) {
    case NUMBER:
        cip_change_write(e, "image", "[1, 2]", cip_dtype_as_stored(), &seven, sizeof seven, err);
        break;
    case NAME:
        cip_change_set_string(e, "meta/name", "second", err);
        cip_change_write(e, "image", "[3, 5]", cip_dtype_as_stored(), &seven, sizeof seven, err);
        break;
    case ROWS:
        cip_change_append(e, "rows", cip_dtype_as_stored(), rows, sizeof rows, err);
        break;
    case SHORTER:
        cip_change_resize(e, "rows", 2, less, err);
        break;
    case ANEW:
        cip_change_remove(e, "image", err);
        cip_change_defrag(e, NULL, NULL, err);
        break;
    case MOVED:
        cip_change_set_string(e, "meta/text", text, err);
        break;
    default:
        break;
    }
    return edit_end(e, err);
}

/* old[k] becomes new[k] on disk, by change k. */
static char *old[KINDS], *new[KINDS];
static size_t nold[KINDS], nnew[KINDS];

static int setup_updates(void **state)
{
    (void)state;
    const char *path = scratch_path(&dir, "edited.asdf");
    for (int k = 0; k < KINDS; k++) {
        cip_change *e;
        edit_file(&dir, "edited.asdf", true);
        if (k == SHORTER) {
            OK(cip_change_open(path, NULL, &e, err));
            OK(change(e, ROWS, err));
        }
        old[k] = edit_bytes(path, &nold[k]);
        OK(cip_change_open(path, NULL, &e, err));
        OK(change(e, k, err));
        new[k] = edit_bytes(path, &nnew[k]);
        assert_int_equal(unlink(path), 0);
    }
    assert_true(nnew[SHORTER] < nold[SHORTER] && nnew[ROWS] > nold[ROWS]);
    return 0;
}

static int teardown_updates(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        free(old[k]);
        free(new[k]);
    }
    return 0;
}

static void updates_make_the_bytes_of_an_updated_file(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        test_store s = { .calls = 0 };
        test_file *f = test_store_put(&s, "out.asdf", old[k], nold[k]);
        cip_change *e;
        cip_memory *m;
        size_t n;
        OK(cip_change_open_io(&reads, &writes, f, NULL, &e, err));
        assert_memory_equal(f->bytes, old[k], nold[k]);
        OK(change(e, k, err));
        assert_int_equal(f->n, nnew[k]);
        assert_memory_equal(f->bytes, new[k], nnew[k]);
        assert_int_equal(f->closed, 1);
        assert_int_equal(f->complete, k != NOTHING);
        test_store_clear(&s);
        OK(cip_memory_new(old[k], nold[k], &m, err));
        OK(cip_change_open_memory(m, NULL, &e, err));
        OK(change(e, k, err));
        const void *bytes = cip_memory_bytes(m, &n);
        assert_int_equal(n, nnew[k]);
        assert_memory_equal(bytes, new[k], n);
        cip_memory_free(m);
    }
}

static void an_update_whose_call_fails_is_undone(void **state)
{
    (void)state;
    int failed = 0;
    for (int k = 0; k < KINDS; k++) {
        for (int n = 1;; n++) {
            test_store s = { .fail_at = n, .status = CIP_ERR_BUSY };
            test_file *f = test_store_put(&s, "out.asdf", old[k], nold[k]);
            cip_change *e;
            cip_err e2 = CIP_ERR_INIT;
            cip_status st = cip_change_open_io(&reads, &writes, f, NULL, &e, &e2);
            if (st == CIP_OK)
                st = change(e, k, &e2);
            assert_int_equal(f->closed, 1);
            assert_true(st == CIP_OK || st == CIP_ERR_BUSY);
            assert_int_equal(f->complete, st == CIP_OK && k != NOTHING);
            assert_int_equal(f->n, st == CIP_OK ? nnew[k] : nold[k]);
            assert_memory_equal(f->bytes, st == CIP_OK ? new[k] : old[k], f->n);
            int calls = s.calls;
            test_store_clear(&s);
            if (calls < n)
                break;
            assert_int_equal(st, CIP_ERR_BUSY);
            failed++;
        }
    }
    assert_true(failed > 50);
}

/* Nothing can be done; the error says so where anything was written, and only there. */
static void an_update_that_cannot_be_undone_is_told(void **state)
{
    (void)state;
    int told = 0;
    for (int k = 0; k < KINDS; k++) {
        for (int n = 1;; n++) {
            test_store s = { .fail_from = n };
            test_file *f = test_store_put(&s, "out.asdf", old[k], nold[k]);
            cip_change *e;
            cip_err e2 = CIP_ERR_INIT;
            cip_status st = cip_change_open_io(&reads, &writes, f, NULL, &e, &e2);
            if (st == CIP_OK)
                st = change(e, k, &e2);
            bool same = f->n == nold[k] && memcmp(f->bytes, old[k], f->n) == 0;
            bool says = strstr(e2.text, "could not be written back") != NULL;
            assert_int_equal(f->complete, st == CIP_OK && k != NOTHING);
            assert_true(st == CIP_OK || same || says);
            told += says;
            test_store_clear(&s);
            if (st == CIP_OK)
                break;
        }
    }
    assert_true(told > 10);
}

/* An io of the caller's has no folder: not the present one either, which may be anybody's. */
static void temporary_files_of_an_update_lie_where_temporary_files_lie(void **state)
{
    static const int64_t shape[] = { 2000, 700 };
    static const float values[2000 * 700];
    char *was = getenv("TMPDIR") != NULL ? strdup(getenv("TMPDIR")) : NULL;
    cip_memory *m;
    cip_change *e;
    (void)state;
    size_t n;
    char *bytes = edit_bytes(edit_file(&dir, "plain.asdf", false), &n);
    OK(cip_memory_new(bytes, n, &m, err));
    free(bytes);
    assert_int_equal(setenv("TMPDIR", "/no such folder", 1), 0);
    OK(cip_change_open_memory(m, NULL, &e, err));
    FAILS(CIP_ERR_NOT_FOUND, "/no such folder",
          cip_change_put(e, "large", cip_dtype_of(CIP_F32), 2, shape, values, NULL, err));
    cip_change_abort(&e);
    if (was != NULL)
        setenv("TMPDIR", was, 1);
    else
        unsetenv("TMPDIR");
    free(was);
    OK(cip_change_open_memory(m, NULL, &e, err));
    OK(cip_change_put(e, "large", cip_dtype_of(CIP_F32), 2, shape, values, NULL, err));
    OK(cip_change_commit(&e, err));
    cip_memory_free(m);
}

static void what_cannot_be_updated_is_refused(void **state)
{
    test_store s = { .calls = 0 };
    test_file *f = test_store_put(&s, "out.asdf", old[NAME], nold[NAME]);
    cip_io_methods bad = reads;
    cip_io_write_methods bad_writes = writes;
    cip_memory *m;
    cip_change *w;
    cip_change *e;
    (void)state;
    FAILS(CIP_ERR_ARG, "found NULL", cip_change_open_io(NULL, &writes, f, NULL, &e, err));
    FAILS(CIP_ERR_ARG, "found NULL", cip_change_open_io(&reads, NULL, f, NULL, &e, err));
    bad_writes.resize = NULL;
    FAILS(CIP_ERR_ARG, "resize", cip_change_open_io(&reads, &bad_writes, f, NULL, &e, err));
    assert_int_equal(f->closed, 2);
    bad.struct_size = 3;
    FAILS(CIP_ERR_ARG, "struct_size", cip_change_open_io(&bad, &writes, f, NULL, &e, err));
    const cip_change_options no_size = { .size = 0 };
    FAILS(CIP_ERR_ARG, "size", cip_change_open_io(&reads, &writes, f, &no_size, &e, err));
    assert_int_equal(f->closed, 4);
    f->n = 3;
    FAILS(CIP_ERR_FORMAT, "", cip_change_open_io(&reads, &writes, f, NULL, &e, err));
    assert_int_equal(f->closed, 5);
    assert_null(e);
    OK(cip_create_memory("asdf", NULL, &m, &w, err));
    FAILS(CIP_ERR_ARG, "complete", cip_change_open_memory(m, NULL, &e, err));
    cip_change_abort(&w);
    cip_memory_free(m);
    FAILS(CIP_ERR_ARG, "complete", cip_change_open_memory(NULL, NULL, &e, err));
    FAILS(CIP_ERR_ARG, "found NULL", cip_memory_new(NULL, 3, &m, err));
    OK(cip_memory_new(NULL, 0, &m, err));
    FAILS(CIP_ERR_FORMAT, "empty", cip_change_open_memory(m, NULL, &e, err));
    cip_memory_free(m);
    test_store_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_and_store_get_the_bytes_of_a_file),
        cmocka_unit_test(sets_in_memory_are_written_read_and_updated),
        cmocka_unit_test(what_is_no_set_is_refused),
        cmocka_unit_test(a_member_that_is_not_there_is_named),
        cmocka_unit_test(level_process_syncs_nothing),
        cmocka_unit_test(a_call_that_fails_ends_the_writer_with_its_status),
        cmocka_unit_test(what_failed_before_reaches_no_store),
        cmocka_unit_test(methods_are_checked),
        cmocka_unit_test(a_member_that_is_there_stays),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test_setup(updates_make_the_bytes_of_an_updated_file, setup_updates),
        cmocka_unit_test(an_update_whose_call_fails_is_undone),
        cmocka_unit_test(an_update_that_cannot_be_undone_is_told),
        cmocka_unit_test(temporary_files_of_an_update_lie_where_temporary_files_lie),
        cmocka_unit_test_teardown(what_cannot_be_updated_is_refused, teardown_updates),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
