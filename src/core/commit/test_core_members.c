/* SPDX-License-Identifier: BSD-3-Clause
 * Revisions with members: files beside that come and go with a file's update, or not at all.
 * Crashes are tests/fault's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/commit/commit_impl.h"
#include "support/core/writing/edit_testing.h"
#include "support/test_store.h"

static scratch dir;
static cip_env env;
static const char old[] = "the old bytes name m0", changed[] = "the old bytes name m1";

/* x, which names m0, and m0; sub/m0. */
static int setup(void **state)
{
    (void)state;
    if (!scratch_open(&dir) || mkdir(scratch_path(&dir, "sub"), 0755) != 0)
        return -1;
    scratch_write(&dir, "x", old, sizeof old - 1);
    scratch_write(&dir, "m0", "zero", 4);
    scratch_write(&dir, "sub/m0", "below", 5);
    return (int)cip_env_init(&env, NULL, NULL, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    size_t left = (size_t)env.mem.used;
    scratch_close(&dir);
    cip_env_clear(&env);
    return left != 0;
}

static bool is_there(const char *name)
{
    struct stat st;
    return lstat(scratch_path(&dir, name), &st) == 0;
}

static void holds(const char *name, const char *bytes)
{
    size_t n;
    char *found = edit_bytes(scratch_path(&dir, name), &n);
    assert_int_equal(n, strlen(bytes));
    assert_memory_equal(found, bytes, n);
    free(found);
}

/* Nothing was done, and nothing lies beside. */
static void expect_old(void)
{
    holds("x", old);
    holds("m0", "zero");
    holds("sub/m0", "below");
    assert_false(is_there("m1") || is_there("sub/m1"));
    assert_false(is_there(".x.cip-tmp") || is_there(".x.cip-journal"));
}

static cip_revision new_revision(void)
{
    cip_revision r = { .patch = { .arena = { .mem = &env.mem } } };
    cip_bytes none = { NULL, 0 }, one = { (const uint8_t *)"1", 1 };
    assert_int_equal(cip_patch_write(&r.patch, "", sizeof old - 2, none, one, NULL), CIP_OK);
    return r;
}

static cip_status create(cip_revision *r, const char *name, const char *bytes, cip_err *err)
{
    const cip_segment s = { .ptr = (const uint8_t *)bytes, .len = strlen(bytes) };
    return cip_revision_create(r, name, &s, err);
}

static cip_commit *begin(void)
{
    cip_commit *c;
    OK(cip_commit_begin(&env, scratch_path(&dir, "x"), NULL, &c, err));
    return c;
}

static void apply(cip_revision *r, cip_status want, const char *words)
{
    cip_err err = CIP_ERR_INIT;
    cip_commit *c = begin();
    assert_int_equal(cip_commit_apply(c, r, &err), want);
    if (strstr(err.text, words) == NULL)
        fail_msg("expected '%s' in '%s'", words, err.text);
    cip_commit_end(c);
    cip_revision_clear(r);
}

static void members_come_and_go_in_folders_below_too(void **state)
{
    char text[256];
    cip_revision r = new_revision();
    struct stat of_file, of_member;
    (void)state;
    assert_int_equal(chmod(scratch_path(&dir, "x"), 0640), 0);
    OK(create(&r, "m1", "one", err));
    OK(create(&r, "sub/m1", "one below", err));
    OK(cip_revision_create(&r, "zeros", &(cip_segment){ .len = 3 }, err));
    OK(cip_revision_unlink(&r, "m0", NULL, err));
    OK(cip_revision_unlink(&r, "sub/m0", NULL, err));
    cip_commit *c = begin();
    OK(cip_commit_kind(c, &r, text, sizeof text, err));
    assert_string_equal(text, "would change 1 byte in place; the file stays 21 bytes long; would "
                              "make 3 other files, remove 2");
    cip_commit_end(c);
    apply(&r, CIP_OK, "");
    holds("x", changed);
    holds("m1", "one");
    holds("sub/m1", "one below");
    assert_true(is_there("zeros"));
    assert_false(is_there("m0") || is_there("sub/m0"));
    assert_false(is_there(".x.cip-tmp") || is_there(".x.cip-journal"));
    assert_int_equal(stat(scratch_path(&dir, "x"), &of_file), 0);
    assert_int_equal(stat(scratch_path(&dir, "m1"), &of_member), 0);
    assert_int_equal(of_member.st_mode, of_file.st_mode);
}

static void members_alone_are_a_revision_too(void **state)
{
    cip_revision r = { .patch = { .arena = { .mem = &env.mem } } };
    (void)state;
    OK(create(&r, "m1", "one", err));
    apply(&r, CIP_OK, "");
    holds("x", old);
    holds("m1", "one");
    assert_false(is_there(".x.cip-tmp") || is_there(".x.cip-journal"));
}

static void a_name_that_is_taken_stays(void **state)
{
    cip_revision r = new_revision();
    (void)state;
    OK(create(&r, "m1", "one", err));
    OK(create(&r, "m0", "another", err));
    apply(&r, CIP_ERR_EXISTS, "'m0' exists");
    expect_old();
    r = new_revision();
    OK(create(&r, "m1", "one", err));
    assert_int_equal(symlink("x", scratch_path(&dir, "link")), 0);
    OK(create(&r, "link", "another", err));
    apply(&r, CIP_ERR_EXISTS, "exists");
    expect_old();
}

static void a_member_that_is_another_file_now_stays(void **state)
{
    cip_revision r = new_revision();
    cip_io *m0;
    (void)state;
    cip_commit *c = begin();
    OK(cip_io_open_member(cip_commit_io(c), "m0", 0, &m0, err));
    OK(create(&r, "m1", "one", err));
    OK(cip_revision_unlink(&r, "m0", m0, err));
    scratch_write(&dir, "other", "zero", 4);
    assert_int_equal(rename(scratch_path(&dir, "other"), scratch_path(&dir, "m0")), 0);
    cip_io_close(m0);
    cip_commit_end(c);
    apply(&r, CIP_ERR_STALE, "was replaced");
    expect_old();
    r = new_revision();
    OK(create(&r, "m1", "one", err));
    OK(cip_revision_unlink(&r, "m2", NULL, err));
    apply(&r, CIP_ERR_STALE, "no longer exists");
    expect_old();
    r = new_revision();
    OK(cip_revision_unlink(&r, "sub", NULL, err));
    apply(&r, CIP_ERR_BUSY, "not a regular file");
    expect_old();
}

static void names_stay_beneath_the_folder(void **state)
{
    static const char *const bad[] = { "../m1", "/m1", "sub/../m1", "", ".", "sub//m1" };
    cip_revision r = new_revision();
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        FAILS(CIP_ERR_ARG, "not a plain member name", create(&r, bad[i], "one", err));
        FAILS(CIP_ERR_ARG, "not a plain member name", cip_revision_unlink(&r, bad[i], NULL, err));
    }
    OK(create(&r, "m1", "one", err));
    FAILS(CIP_ERR_ARG, "twice", cip_revision_unlink(&r, "m1", NULL, err));
    assert_int_equal(symlink("sub", scratch_path(&dir, "away")), 0);
    OK(create(&r, "away/m1", "one", err));
    apply(&r, CIP_ERR_CORRUPT, "link");
    r = new_revision();
    OK(cip_revision_unlink(&r, "away/m0", NULL, err));
    apply(&r, CIP_ERR_CORRUPT, "link");
    expect_old();
}

static void readers_keep_it_waiting(void **state)
{
    cip_revision r = new_revision();
    cip_io *reader;
    (void)state;
    OK(cip_io_open_file(&env, scratch_path(&dir, "x"), &reader, err));
    OK(cip_io_lock(reader, err));
    OK(create(&r, "m1", "one", err));
    OK(cip_revision_unlink(&r, "m0", NULL, err));
    apply(&r, CIP_ERR_BUSY, "is reading the file");
    cip_io_close(reader);
    expect_old();
}

static void a_file_that_must_be_replaced_refuses_them(void **state)
{
    cip_revision r = new_revision();
    (void)state;
    assert_int_equal(link(scratch_path(&dir, "x"), scratch_path(&dir, "sub/x")), 0);
    OK(create(&r, "m1", "one", err));
    cip_commit *c;
    OK(cip_commit_begin(&env, scratch_path(&dir, "x"), CIP_CHANGE_OPTIONS(.break_links = true), &c,
                        err));
    FAILS(CIP_ERR_UNSUPPORTED, "must be replaced", cip_commit_apply(c, &r, err));
    cip_commit_end(c);
    cip_revision_clear(&r);
    expect_old();
}

/* --- what an interrupted update left ---------------------------------------------------------- */

static ino_t inode(const char *name)
{
    struct stat st;
    assert_int_equal(stat(scratch_path(&dir, name), &st), 0);
    return st.st_ino;
}

/* A record that makes m1 and removes m0, which have these inodes. */
static void put_record(const char *name, ino_t m1, ino_t m0)
{
    cip_buf b = { .mem = &env.mem };
    cip_patch p = { .arena = { .mem = &env.mem },
                    .old_len = sizeof old - 1,
                    .new_len = sizeof old - 1 };
    const cip_bytes was = { (const uint8_t *)"0", 1 }, is = { (const uint8_t *)"1", 1 };
    cip_patch_op made = { .kind = CIP_PATCH_CREATE, .member = "m1", .offset = (uint64_t)m1 };
    cip_patch_op gone = { .kind = CIP_PATCH_UNLINK, .member = "m0", .offset = (uint64_t)m0 };
    OK(cip_patch_write(&p, "", sizeof old - 2, was, is, err));
    OK(cip_patch_add(&p, &made, err));
    OK(cip_patch_add(&p, &gone, err));
    OK(cip_journal_encode(&p, 0, (uint64_t)inode("x"), &b, err));
    scratch_write(&dir, name, b.ptr, b.len);
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static void left_members_are_cleared_away_with_their_update(void **state)
{
    (void)state;
    scratch_write(&dir, "m1", "one", 3);
    put_record(".x.cip-tmp", inode("m1"), inode("m0"));
    cip_commit_end(begin());
    expect_old();
    scratch_write(&dir, "m1", "one", 3);
    put_record(".x.cip-journal", inode("m1"), inode("m0"));
    cip_commit_end(begin());
    holds("x", changed);
    holds("m1", "one");
    assert_false(is_there("m0") || is_there(".x.cip-journal"));
}

static void other_files_of_those_names_stay(void **state)
{
    (void)state;
    scratch_write(&dir, "m1", "one", 3);
    put_record(".x.cip-tmp", inode("m1") + 1, inode("m0"));
    cip_commit_end(begin());
    holds("m1", "one");
    put_record(".x.cip-journal", inode("m1"), inode("m0") + 1);
    cip_commit_end(begin());
    holds("x", changed);
    holds("m0", "zero");
}

static void a_discarded_update_takes_its_members_along(void **state)
{
    cip_recover_info info = { .size = sizeof info };
    (void)state;
    for (int sealed = 0; sealed < 2; sealed++) {
        scratch_write(&dir, "m1", "one", 3);
        put_record(sealed ? ".x.cip-journal" : ".x.cip-tmp", inode("m1"), inode("m0"));
        OK(cip_recover(scratch_path(&dir, "x"), CIP_RECOVER_DISCARD, &info, err));
        assert_int_equal(info.state, sealed ? 1 : 4);
        expect_old();
    }
    scratch_write(&dir, "m1", "one", 3);
    put_record(".x.cip-journal", inode("m1"), inode("m0"));
    assert_int_equal(unlink(scratch_path(&dir, "m0")), 0);
    FAILS(CIP_ERR_CORRUPT, "has removed 'm0' already",
          cip_recover(scratch_path(&dir, "x"), CIP_RECOVER_DISCARD, &info, err));
    OK(cip_recover(scratch_path(&dir, "x"), CIP_RECOVER_APPLY, &info, err));
    holds("x", changed);
    holds("m1", "one");
}

/* --- in a store ------------------------------------------------------------------------------- */

/* The same, in a store whose call n fails. *calls: how many there were. */
static cip_status run_in_store(int n, int *calls, bool *all_old, bool *all_new)
{
    static const cip_io_methods reads = TEST_STORE_READS;
    static const cip_io_write_methods writes = TEST_STORE_WRITES;
    test_store s = { .calls = 0 };
    cip_revision r = new_revision();
    cip_commit *c = NULL;
    cip_target t;
    cip_io *io;
    test_file *x = test_store_put(&s, "x", old, sizeof old - 1);
    test_store_put(&s, "m0", "zero", 4);
    s.fail_at = n;
    OK(create(&r, "m1", "one", err));
    OK(cip_revision_create(&r, "m2", &(cip_segment){ .off = 7, .len = 5000 }, err));
    OK(cip_revision_unlink(&r, "m0", NULL, err));
    OK(cip_target_take(&t, &writes, x, err));
    cip_status st = cip_io_open_user(&env, &reads, x, &io, NULL);
    if (st == CIP_OK)
        st = cip_commit_begin_io(&env, io, &t, NULL, &c, NULL);
    else
        cip_target_close(&t);
    if (st == CIP_OK)
        st = cip_commit_apply(c, &r, NULL);
    cip_commit_end(c);
    cip_revision_clear(&r);
    const test_file *m1 = test_store_find(&s, "m1"), *m2 = test_store_find(&s, "m2");
    bool m0 = test_store_find(&s, "m0") != NULL;
    *all_old = m0 && m1 == NULL && m2 == NULL && memcmp(x->bytes, old, sizeof old - 1) == 0;
    *all_new = !m0 && m1 != NULL && m2 != NULL && m2->n == 5000 &&
               memcmp(x->bytes, changed, sizeof old - 1) == 0 && m1->complete == 1;
    *calls = s.calls;
    assert_int_equal(x->closed, 1);
    test_store_clear(&s);
    return st;
}

static void in_a_store_they_come_and_go_too(void **state)
{
    int calls;
    bool all_old, all_new;
    (void)state;
    assert_int_equal(run_in_store(0, &calls, &all_old, &all_new), CIP_OK);
    assert_true(all_new);
    for (int n = 1, last = calls; n <= last; n++) {
        cip_status st = run_in_store(n, &calls, &all_old, &all_new);
        assert_int_equal(st, n < last ? CIP_ERR_IO : CIP_OK); /* the last one removes m0 */
        assert_true(n < last ? all_old : all_new);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(members_come_and_go_in_folders_below_too),
        TEST(members_alone_are_a_revision_too),
        TEST(a_name_that_is_taken_stays),
        TEST(a_member_that_is_another_file_now_stays),
        TEST(names_stay_beneath_the_folder),
        TEST(readers_keep_it_waiting),
        TEST(a_file_that_must_be_replaced_refuses_them),
        TEST(left_members_are_cleared_away_with_their_update),
        TEST(other_files_of_those_names_stay),
        TEST(a_discarded_update_takes_its_members_along),
        TEST(in_a_store_they_come_and_go_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
