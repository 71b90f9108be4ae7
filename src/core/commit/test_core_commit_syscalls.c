/* SPDX-License-Identifier: BSD-3-Clause
 * What commits ask of the system: how often folders are synced, and what is said when writing
 * fails after the seal. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/core/commit/commit_testing.h"

static int nsync; /* of folders */

/* In place of the system's. */
int fsync(int fd)
{
    struct stat st;
    nsync += fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    return (int)syscall(SYS_fsync, fd);
}

enum { MANY = 300 };

static const char *member(int i)
{
    static char name[32];
    snprintf(name, sizeof name, "s/%s%d", i % 2 != 0 ? "sub/" : "", i);
    return name;
}

/* All of `n` members but the first go; how often folders were synced. */
static int syncs_of_removal(int n)
{
    cip_commit *c;
    cip_revision r = new_revision();
    mkdir(scratch_path(&dir, "s"), 0755);
    mkdir(scratch_path(&dir, "s/sub"), 0755);
    for (int i = 0; i < n; i++)
        scratch_write(&dir, member(i), "m", 1);
    for (int sub = 0; sub < 2; sub++)
        for (int i = 1; i < n; i++)
            if (i % 2 == sub)
                assert_int_equal(cip_revision_unlink(&r, member(i) + 2, NULL, NULL), CIP_OK);
    assert_int_equal(cip_commit_begin(&env, scratch_path(&dir, "s"), NULL, &c, NULL), CIP_OK);
    nsync = 0;
    assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_OK);
    cip_commit_end(c);
    cip_revision_clear(&r);
    for (int i = 1; i < n; i++)
        assert_false(is_there(member(i)));
    return nsync;
}

static void many_members_that_go_cost_one_sync_for_each_folder(void **state)
{
    (void)state;
    const int few = syncs_of_removal(4);
    assert_int_not_equal(few, 0);
    assert_int_equal(syncs_of_removal(MANY), few);
}

static void a_write_that_fails_after_the_seal_says_that_the_change_counts(void **state)
{
    (void)state;
    struct rlimit was, small = { 2000, 2000 };
    cip_err err = CIP_ERR_INIT;
    uint8_t want[N];
    cip_revision r = new_revision();
    write_old();
    cip_commit *c = begin(NULL);
    change(&r, 2046, "abcd"); /* in two sectors */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    small.rlim_max = was.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(cip_commit_apply(c, &r, &err), CIP_ERR_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_non_null(strstr(err.text, "cannot write"));
    assert_non_null(strstr(err.text, "the next program that writes to the file completes it"));
    cip_commit_end(c);
    cip_revision_clear(&r);
    assert_true(is_there(".a.bin.cip-journal"));
    assert_file(old, N);
    cip_commit_end(begin(NULL)); /* the next writer */
    memcpy(want, old, N);
    memcpy(want + 2046, "abcd", 4);
    assert_file(want, N);
    assert_nothing_beside();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_members_that_go_cost_one_sync_for_each_folder),
        cmocka_unit_test(a_write_that_fails_after_the_seal_says_that_the_change_counts),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
