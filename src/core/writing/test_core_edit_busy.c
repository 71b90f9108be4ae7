/* SPDX-License-Identifier: BSD-3-Clause
 * A commit that somebody is in the way of: the update is kept, and committed when he is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/core/writing/edit_testing.h"
#include "support/needs.h"
#include "support/own_folder.h"

enum { ROWS = 4000, COLS = 8 };

/* Another process that has the file open until it is let go. */
typedef struct reader {
    pid_t pid;
    int to, from;
} reader;

static void read_elsewhere(reader *r, const char *path)
{
    int to[2], from[2];
    char c;
    assert_true(pipe(to) == 0 && pipe(from) == 0);
    r->pid = fork();
    if (r->pid == 0) {
        cip_file *f = NULL;
        close(to[1]);
        c = cip_open(path, CIP_OPEN_OPTIONS(.threads = 1), &f, NULL) == CIP_OK;
        if (write(from[1], &c, 1) == 1)
            (void)!read(to[0], &c, 1); /* until the other end is closed */
        _exit(0);
    }
    close(to[0]);
    close(from[1]);
    r->to = to[1];
    r->from = from[0];
    assert_true(read(from[0], &c, 1) == 1 && c == 1);
}

static void let_go(const reader *r)
{
    close(r->to);
    close(r->from);
    waitpid(r->pid, NULL, 0);
}

static void make(const char *path, const char *codec, const char *option)
{
    static const int64_t shape[] = { ROWS, COLS };
    static int32_t v[ROWS * COLS];
    const char *const texts[] = { option, NULL };
    cip_change *w;
    for (int i = 0; i < ROWS * COLS; i++)
        v[i] = i;
    OK(cip_create(path,
                  CIP_CHANGE_OPTIONS(.overwrite = true, .codec = codec, .format_options = texts),
                  &w, err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 2, shape, v, NULL, err));
    OK(cip_change_commit(&w, err));
}

/* The file as it is, or with the change. */
static void check(const char *path, bool changed)
{
    static int32_t v[ROWS * COLS];
    cip_file *f;
    OK(cip_open(path, NULL, &f, err));
    const cip_array *a = cip_file_array(f, 0);
    assert_int_equal(cip_array_shape(a)[0], ROWS);
    OK(cip_read(a, NULL, cip_dtype_of(CIP_I32), v, sizeof v, err));
    for (int i = 0; i < ROWS * COLS; i++)
        assert_int_equal(v[i], changed && i / COLS >= 10 && i / COLS < 3000 ? -i : i);
    cip_file_close(f);
    edit_verify(path);
}

static void change(cip_change *e)
{
    static int32_t v[2990 * COLS];
    for (int i = 0; i < 2990 * COLS; i++)
        v[i] = -(i + 10 * COLS);
    OK(cip_change_write(e, "", "[10:3000]", cip_dtype_as_stored(), v, sizeof v, err));
}

static const struct {
    const char *name, *codec, *option;
    bool at_once; /* what is read stays where it is */
} files[] = {
    { "x.asdf", NULL, NULL, false },         { "z.asdf", "zlib", NULL, false },
    { "x.ra", NULL, NULL, false },           { "x.b2nd", NULL, NULL, true },
    { "s.b2nd", NULL, "sparse=yes", false }, { "x.blz", NULL, NULL, false },
    { "x.blp", NULL, NULL, false },
};

static cip_change *changed(const char *path)
{
    cip_change *e;
    OK(cip_change_open(path, CIP_CHANGE_OPTIONS(.open = CIP_OPEN_OPTIONS(.threads = 1)), &e, err));
    change(e);
    return e;
}

static void a_commit_that_readers_are_in_the_way_of_is_made_later(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const char *path = scratch_path(&s, files[i].name);
        const cip_status st = files[i].at_once ? CIP_OK : CIP_ERR_BUSY;
        reader r;
        make(path, files[i].codec, files[i].option);
        read_elsewhere(&r, path);
        cip_change *e = changed(path), *other;
        for (int k = 0; k < (files[i].at_once ? 1 : 2); k++)
            assert_int_equal(cip_change_commit(&e, NULL), st);
        check(path, files[i].at_once);
        let_go(&r);
        if (st == CIP_ERR_BUSY) {
            FAILS(CIP_ERR_BUSY, "another writer", cip_change_open(path, NULL, &other, err));
            OK(cip_change_commit(&e, err));
        }
        check(path, true);
        OK(cip_change_open(path, NULL, &other, err));
        cip_change_abort(&other);
    }
}

static void a_commit_waits_for_another_programs_lock(void **state)
{
    (void)state;
    NEEDS_CODECS();
    const char *path = scratch_path(&s, "l.b2nd");
    make(path, NULL, NULL);
    const char *lock = scratch_write(&s, "l.b2nd.b2lock", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    cip_change *e = changed(path);
    int fd = open(lock, O_RDWR);
    assert_int_equal(flock(fd, LOCK_SH), 0);
    FAILS(CIP_ERR_BUSY, "holds the lock", cip_change_commit(&e, err));
    check(path, false);
    close(fd);
    OK(cip_change_commit(&e, err));
    check(path, true);
}

static void open_again_and_again(const char *path)
{
    for (cip_file *f;; cip_file_close(f))
        cip_open(path, CIP_OPEN_OPTIONS(.threads = 1), &f, NULL);
}

/* Readers that come amid it, after it was begun, too. */
static void a_commit_among_many_readers_is_whole(void **state)
{
    (void)state;
    NEEDS_CODECS();
    int busy = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const char *path = scratch_path(&s, files[i].name);
        cip_status st = CIP_ERR_BUSY;
        make(path, files[i].codec, files[i].option);
        cip_change *e = changed(path);
        const pid_t pid = fork();
        if (pid == 0)
            open_again_and_again(path);
        while (st == CIP_ERR_BUSY) {
            st = cip_change_commit(&e, NULL);
            busy += st == CIP_ERR_BUSY;
        }
        assert_int_equal(st, CIP_OK);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        check(path, true);
    }
    print_message("%d times busy\n", busy);
}

/* By one who knows no locks: what the update was made from is gone. */
static void a_commit_stays_busy_where_the_file_changed(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "w.asdf");
    make(path, NULL, NULL);
    cip_change *e = changed(path);
    FILE *f = fopen(path, "ab");
    assert_true(fputs("#", f) >= 0 && fclose(f) == 0);
    FAILS(CIP_ERR_BUSY, "changed since open", cip_change_commit(&e, err));
    FAILS(CIP_ERR_BUSY, "changed since open", cip_change_commit(&e, err));
    cip_change_abort(&e);
}

static cip_change *new_one(const char *path, const char *option)
{
    static const int64_t shape[] = { 3 };
    const char *const texts[] = { option, NULL };
    const int32_t v[] = { 7, 8, 9 };
    cip_change *w;
    OK(cip_create(path,
                  CIP_CHANGE_OPTIONS(.overwrite = true, .threads = 1, .format_options = texts), &w,
                  err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 1, shape, v, NULL, err));
    return w;
}

/* A new folder in place of one that is read, looked at before or not. */
static void a_new_folder_that_readers_are_in_the_way_of_comes_later(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (size_t i = 0; i < 4; i++) {
        const char *option = i < 2 ? "sparse=yes" : NULL;
        const char *path = scratch_path(&s, i < 2 ? "n.b2nd" : "n.blz");
        const cip_array *a;
        reader r;
        make(path, NULL, option);
        read_elsewhere(&r, path);
        cip_change *w = new_one(path, option), *other;
        if (i % 2 != 0)
            OK(cip_change_array(w, "", &a, err));
        FAILS(CIP_ERR_BUSY, "is reading the file", cip_change_commit(&w, err));
        FAILS(CIP_ERR_BUSY, "is reading the file", cip_change_commit(&w, err));
        check(path, false);
        FAILS(CIP_ERR_ARG, "complete", cip_change_array(w, "", &a, err));
        FAILS(CIP_ERR_ARG, "complete", cip_change_remove(w, "a", err));
        FAILS(CIP_ERR_BUSY, "another writer", cip_change_open(path, NULL, &other, err));
        OK(cip_change_forget_failure(w, err));
        let_go(&r);
        OK(cip_change_commit(&w, err));
        assert_null(w);
        edit_expect(path, NULL, "7 8 9\n");
        edit_verify(path);
    }
}

static void a_new_folder_waits_for_another_programs_lock(void **state)
{
    (void)state;
    NEEDS_CODECS();
    const char *path = scratch_path(&s, "k.b2nd");
    make(path, NULL, "sparse=yes");
    const char *lock = scratch_write(&s, "k.b2nd/.b2lock", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    cip_change *w = new_one(path, "sparse=yes");
    cip_file *f;
    int fd = open(lock, O_RDWR);
    assert_int_equal(flock(fd, LOCK_SH), 0);
    FAILS(CIP_ERR_BUSY, "holds the lock", cip_change_commit(&w, err));
    OK(cip_open(path, NULL, &f, err)); /* who comes meanwhile may read */
    FAILS(CIP_ERR_BUSY, "is reading the file", cip_change_commit(&w, err));
    cip_file_close(f);
    close(fd);
    OK(cip_change_commit(&w, err));
    edit_expect(path, NULL, "7 8 9\n");
}

/* What a change would do after the commit was tried is not in what is written. */
static void a_new_file_that_is_busy_takes_nothing_more(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const int64_t shape[] = { 2 };
    const char *path = scratch_path(&s, "t.blz");
    const int32_t v[] = { 1, 2 };
    cip_change *w;
    cip_slab *slab;
    reader r;
    make(path, NULL, NULL);
    read_elsewhere(&r, path);
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true, .threads = 1), &w, err));
    OK(cip_change_declare(w, "a", cip_dtype_of(CIP_I32), 1, shape, NULL, &slab, err));
    OK(cip_slab_write(slab, CIP_BOX({ 0 }, { 2 }), v, 8, err));
    assert_int_equal(cip_change_commit(&w, NULL), CIP_ERR_BUSY);
    FAILS(CIP_ERR_ARG, "complete", cip_slab_write(slab, CIP_BOX({ 0 }, { 1 }), v, 4, err));
    let_go(&r);
    FAILS(CIP_ERR_ARG, "complete", cip_change_commit(&w, err));
    assert_null(w);
    check(path, false);
}

static void a_file_that_is_updated_is_replaced_later(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "u.ra");
    cip_change *w = new_one(path, NULL), *other;
    make(path, NULL, NULL);
    OK(cip_change_open(path, NULL, &other, err));
    FAILS(CIP_ERR_BUSY, "another writer", cip_change_commit(&w, err));
    check(path, false);
    cip_change_abort(&other);
    OK(cip_change_commit(&w, err));
    edit_expect(path, NULL, "7 8 9\n");
}

/* Behind a file that another program changed nothing is written, however often it is tried. */
static void what_comes_behind_a_changed_file_stays_busy(void **state)
{
    (void)state;
    static const int64_t shape[] = { 1 };
    const char *path = scratch_write(&s, "b.asdf", "front", 5);
    uint64_t at;
    size_t n;
    cip_change *w;
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.at_end = &at), &w, err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_U8), 1, shape, "x", NULL, err));
    FILE *f = fopen(path, "ab");
    assert_true(fputs("#", f) >= 0 && fclose(f) == 0);
    assert_int_equal(cip_change_commit(&w, NULL), CIP_ERR_BUSY);
    assert_int_equal(cip_change_commit(&w, NULL), CIP_ERR_BUSY);
    cip_change_abort(&w);
    char *bytes = edit_bytes(path, &n);
    assert_true(n == 6 && memcmp(bytes, "front#", 6) == 0);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_that_readers_are_in_the_way_of_is_made_later),
        cmocka_unit_test(a_commit_waits_for_another_programs_lock),
        cmocka_unit_test(a_commit_among_many_readers_is_whole),
        cmocka_unit_test(a_commit_stays_busy_where_the_file_changed),
        cmocka_unit_test(a_new_folder_that_readers_are_in_the_way_of_comes_later),
        cmocka_unit_test(a_new_folder_waits_for_another_programs_lock),
        cmocka_unit_test(a_new_file_that_is_busy_takes_nothing_more),
        cmocka_unit_test(a_file_that_is_updated_is_replaced_later),
        cmocka_unit_test(what_comes_behind_a_changed_file_stays_busy),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
