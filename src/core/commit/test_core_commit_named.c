/* SPDX-License-Identifier: BSD-3-Clause
 * Files that lose their names while an update of them is open: whatever kind of commit it is,
 * nothing is written to the file that has the name then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/core/commit/commit_testing.h"

/* What another program does to the name. */
typedef void act_fn(void);

static void replace_it(void)
{
    scratch_write(&dir, "theirs", "theirs", 6);
    char from[512];
    snprintf(from, sizeof from, "%s", scratch_path(&dir, "theirs"));
    assert_int_equal(rename(from, path()), 0);
}

static void remove_it(void)
{
    assert_int_equal(unlink(path()), 0);
}

static void rotate_it(void)
{
    char from[512];
    snprintf(from, sizeof from, "%s", path());
    assert_int_equal(rename(from, scratch_path(&dir, "rotated")), 0);
}

/* Another writer is at work on the file that has the name by now. */
static void replace_and_update_it(void)
{
    replace_it();
    unlink(scratch_path(&dir, ".a.bin.cip-tmp"));
    scratch_write(&dir, ".a.bin.cip-tmp", "record", 6);
}

/* The other program acts when the new bytes are read: in the middle of the commit, when the record
 * is written, or the file that replaces. NULL: it acted before. */
static act_fn *act_now;
enum { TAIL = 1000 };

static cip_status tail_read(void *user, const cip_range *r, size_t n, cip_err *err)
{
    (void)user;
    (void)err;
    if (act_now != NULL)
        act_now();
    act_now = NULL;
    for (size_t i = 0; i < n; i++)
        memset(r[i].dst, 't', r[i].nbytes);
    return CIP_OK;
}

static cip_status tail_size(void *user, uint64_t *nbytes, cip_err *err)
{
    (void)user;
    (void)err;
    *nbytes = TAIL;
    return CIP_OK;
}

/* A kind of commit: what changes below the old end, and whether there is a new end. */
typedef struct kind {
    const char *name; /* as a plan begins */
    uint64_t at;
    const char *text; /* NULL: nothing */
    bool anew, tail, cut;
} kind;

static const kind kinds[] = {
    { "would change nothing", 0, NULL, false, false, false },
    { "would cut the file", 0, NULL, false, false, true },
    { " bytes; the file becomes", 0, NULL, false, true, false },
    { "would change 3 bytes in place, at byte 600", 600, "abc", false, false, false },
    { "and change 3 bytes in place, at byte 600", 600, "abc", false, true, false },
    { "would change 4 bytes in place; ", 510, "abcd", false, false, false },
    { "and change 4 bytes in place; ", 510, "abcd", false, true, false },
    { "would replace the file", 0, NULL, true, true, false },
};

static void revise(const kind *k, cip_io *tail, cip_revision *r)
{
    *r = new_revision();
    r->anew = k->anew;
    r->has_tail = k->tail || k->cut;
    r->tail_off = k->anew ? 0 : k->cut ? 100 : N;
    if (k->text != NULL)
        change(r, k->at, k->text);
    if (k->tail)
        assert_int_equal(cip_revision_range(r, tail, 0, TAIL, NULL), CIP_OK);
}

static void expect_bytes(const char *at, const void *want, size_t n)
{
    static uint8_t got[4 * N];
    FILE *f = fopen(at, "rb");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, sizeof got, f), n);
    fclose(f);
    assert_memory_equal(got, want, n);
}

/* The file that was opened has its old bytes, whatever its name is by now; the other is whole. */
static void expect_untouched(act_fn *act)
{
    expect_bytes(scratch_path(&dir, "kept"), old, N);
    if (act == replace_it || act == replace_and_update_it)
        expect_bytes(path(), "theirs", 6);
    else
        assert_false(is_there("a.bin"));
    assert_int_equal(is_there(".a.bin.cip-tmp"), act == replace_and_update_it);
    assert_false(is_there(".a.bin.cip-journal"));
    assert_false(is_there(".a.bin.cip-new"));
    unlink(scratch_path(&dir, ".a.bin.cip-tmp"));
    unlink(scratch_path(&dir, "rotated"));
}

static void open_update(cip_commit **c)
{
    char a[512];
    unlink(scratch_path(&dir, "kept"));
    unlink(path());
    write_old();
    snprintf(a, sizeof a, "%s", path());
    assert_int_equal(link(a, scratch_path(&dir, "kept")), 0);
    *c = begin(CIP_CHANGE_OPTIONS(.break_links = true));
}

static void lose(const kind *k, act_fn *act, bool amid)
{
    static const cip_io_methods methods = { CIP_IO_METHODS_INIT, .read_ranges = tail_read,
                                            .size = tail_size };
    cip_io *tail;
    cip_commit *c;
    cip_revision r;
    cip_err err = CIP_ERR_INIT;
    char text[256];
    assert_int_equal(cip_io_open_user(&env, &methods, NULL, &tail, NULL), CIP_OK);
    open_update(&c);
    revise(k, tail, &r);
    assert_int_equal(cip_commit_kind(c, &r, text, sizeof text, NULL), CIP_OK);
    assert_non_null(strstr(text, k->name));
    if (amid)
        act_now = act;
    else
        act();
    assert_int_equal(cip_commit_apply(c, &r, &err), CIP_ERR_STALE);
    assert_null(act_now);
    assert_non_null(strstr(err.text, act == replace_it || act == replace_and_update_it
                                         ? "another file took its name"
                                         : "it was moved or removed"));
    assert_false(cip_commit_is_ready(c));
    cip_commit_end(c);
    expect_untouched(act);
    cip_revision_clear(&r);
    cip_io_close(tail);
}

static void no_kind_of_commit_writes_to_another_file(void **state)
{
    static act_fn *const acts[] = { replace_it, remove_it, rotate_it };
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t k = 0; k < sizeof acts / sizeof *acts; k++) {
            lose(&kinds[i], acts[k], false);
            if (kinds[i].tail)
                lose(&kinds[i], acts[k], true);
        }
}

static void a_record_of_another_writer_is_left_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].tail)
            lose(&kinds[i], replace_and_update_it, true);
}

static void a_file_with_its_name_back_is_updated(void **state)
{
    cip_commit *c;
    char other[512];
    (void)state;
    open_update(&c);
    snprintf(other, sizeof other, "%s", scratch_path(&dir, "rotated"));
    rotate_it();
    assert_int_equal(rename(other, path()), 0);
    cip_revision r = new_revision();
    change(&r, 600, "abc");
    assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_OK);
    cip_commit_end(c);
    cip_revision_clear(&r);
    unlink(scratch_path(&dir, "kept"));
}

static void rows_go_to_no_other_file(void **state)
{
    static act_fn *const acts[] = { replace_it, remove_it, rotate_it };
    (void)state;
    for (size_t k = 0; k < sizeof acts / sizeof *acts; k++) {
        cip_commit *c;
        cip_err err = CIP_ERR_INIT;
        open_update(&c);
        acts[k]();
        assert_int_equal(cip_commit_append(c, "row", 3, &err), CIP_ERR_STALE);
        assert_int_equal(cip_commit_sync(c, NULL), CIP_ERR_STALE);
        cip_commit_end(c);
        expect_untouched(acts[k]);
    }
}

static void a_link_may_lead_elsewhere_but_its_target_must_stay(void **state)
{
    cip_commit *c;
    cip_revision r = new_revision();
    (void)state;
    unlink(path());
    write_old();
    const char *link_path = scratch_path(&dir, "link");
    assert_int_equal(symlink("a.bin", link_path), 0);
    assert_int_equal(cip_commit_begin(&env, link_path, NULL, &c, NULL), CIP_OK);
    unlink(link_path);
    assert_int_equal(symlink("nowhere", scratch_path(&dir, "link")), 0);
    change(&r, 600, "abc");
    assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_OK);
    cip_commit_end(c);
    unlink(scratch_path(&dir, "link"));
    assert_int_equal(symlink("a.bin", scratch_path(&dir, "link")), 0);
    assert_int_equal(cip_commit_begin(&env, scratch_path(&dir, "link"), NULL, &c, NULL), CIP_OK);
    replace_it();
    cip_revision_clear(&r);
    change(&r, 600, "abc");
    assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_ERR_STALE);
    cip_commit_end(c);
    assert_file("theirs", 6);
    cip_revision_clear(&r);
    unlink(scratch_path(&dir, "link"));
}

static void swap_folder(void)
{
    char from[512];
    snprintf(from, sizeof from, "%s", scratch_path(&dir, "s"));
    assert_int_equal(rename(from, scratch_path(&dir, "was")), 0);
    mkdir(from, 0755);
}

/* A folder itself, and one that a file lies in: another one took its name. */
static void another_folder_of_the_name_stays_as_it_is(void **state)
{
    (void)state;
    for (int inside = 0; inside < 2; inside++) {
        cip_commit *c;
        cip_revision r = new_revision();
        const cip_segment data = { .ptr = (const uint8_t *)"new", .len = 3 };
        mkdir(scratch_path(&dir, "s"), 0755);
        scratch_write(&dir, "s/a", old, N);
        const char *what = scratch_path(&dir, inside ? "s/a" : "s");
        assert_int_equal(cip_commit_begin(&env, what, NULL, &c, NULL), CIP_OK);
        assert_int_equal(cip_revision_create(&r, "new", &data, NULL), CIP_OK);
        swap_folder();
        if (inside)
            scratch_write(&dir, "s/a", "theirs", 6);
        assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_ERR_STALE);
        cip_commit_end(c);
        expect_bytes(scratch_path(&dir, "was/a"), old, N);
        assert_false(is_there("was/new"));
        assert_false(is_there("s/new"));
        cip_revision_clear(&r);
        unlink(scratch_path(&dir, "was/a"));
        unlink(scratch_path(&dir, "s/a"));
        assert_int_equal(rmdir(scratch_path(&dir, "was")), 0); /* nothing is left in it */
        assert_int_equal(rmdir(scratch_path(&dir, "s")), 0);
    }
}

/* The folder that is open is another one by now. Rows need only the path to lead to the file; an
 * update, which may put a new file into that folder, is refused even then. */
static void rows_follow_the_path_when_the_folder_was_exchanged(void **state)
{
    cip_commit *c;
    cip_revision r = new_revision();
    char was[512];
    (void)state;
    mkdir(scratch_path(&dir, "s"), 0755);
    scratch_write(&dir, "s/a", old, N);
    assert_int_equal(cip_commit_begin(&env, scratch_path(&dir, "s/a"), NULL, &c, NULL), CIP_OK);
    swap_folder();
    assert_int_equal(cip_commit_append(c, "row", 3, NULL), CIP_ERR_STALE);
    scratch_write(&dir, "s/a", "theirs", 6);
    assert_int_equal(cip_commit_append(c, "row", 3, NULL), CIP_ERR_STALE);
    expect_bytes(scratch_path(&dir, "s/a"), "theirs", 6);
    expect_bytes(scratch_path(&dir, "was/a"), old, N);
    unlink(scratch_path(&dir, "s/a"));
    snprintf(was, sizeof was, "%s", scratch_path(&dir, "was/a"));
    assert_int_equal(link(was, scratch_path(&dir, "s/a")), 0);
    unlink(was);
    assert_int_equal(cip_commit_append(c, "row", 3, NULL), CIP_OK);
    change(&r, 600, "abc");
    assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_ERR_STALE);
    cip_commit_end(c);
    cip_revision_clear(&r);
    uint8_t with[N + 3];
    memcpy(with, old, N);
    memcpy(with + N, "row", 3);
    expect_bytes(scratch_path(&dir, "s/a"), with, sizeof with);
    unlink(scratch_path(&dir, "s/a"));
    assert_int_equal(rmdir(scratch_path(&dir, "was")), 0);
    assert_int_equal(rmdir(scratch_path(&dir, "s")), 0);
}

/* An update that was killed left its record, and then the file lost its name to another. */
static void what_was_left_of_an_update_is_not_made_in_another_file(void **state)
{
    cip_commit *c;
    cip_err err = CIP_ERR_INIT;
    cip_recover_info info = { .size = sizeof info };
    (void)state;
    open_update(&c);
    struct stat was;
    assert_int_equal(stat(path(), &was), 0);
    cip_patch p = { .arena = { .mem = &env.mem }, .old_len = N, .new_len = N };
    cip_bytes before = { old + 510, 4 }, after = { (const uint8_t *)"abcd", 4 };
    assert_int_equal(cip_patch_write(&p, "", 510, before, after, NULL), CIP_OK);
    assert_int_equal(cip_commit_write_tmp(c, &p, NULL), CIP_OK);
    assert_int_equal(cip_store_rename(&c->place, c->tmp, c->journal, false, NULL), CIP_OK);
    cip_commit_end(c); /* killed */
    cip_patch_clear(&p);
    rotate_it();
    replace_it();
    assert_int_equal(cip_commit_begin_of(&env, path(), &was, NULL, &c, &err), CIP_ERR_STALE);
    assert_null(c);
    assert_true(is_there(".a.bin.cip-journal"));
    assert_int_equal(cip_commit_begin(&env, path(), NULL, &c, NULL), CIP_ERR_CORRUPT);
    assert_file("theirs", 6);
    const char *moved = scratch_path(&dir, "rotated");
    assert_int_equal(cip_recover(moved, CIP_RECOVER_APPLY, &info, NULL), CIP_OK);
    assert_int_equal(info.state, 1);
    assert_nothing_beside();
    cip_commit_end(begin(NULL));
    assert_file("theirs", 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_kind_of_commit_writes_to_another_file),
        cmocka_unit_test(a_record_of_another_writer_is_left_alone),
        cmocka_unit_test(a_file_with_its_name_back_is_updated),
        cmocka_unit_test(rows_go_to_no_other_file),
        cmocka_unit_test(a_link_may_lead_elsewhere_but_its_target_must_stay),
        cmocka_unit_test(another_folder_of_the_name_stays_as_it_is),
        cmocka_unit_test(rows_follow_the_path_when_the_folder_was_exchanged),
        cmocka_unit_test(what_was_left_of_an_update_is_not_made_in_another_file),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
