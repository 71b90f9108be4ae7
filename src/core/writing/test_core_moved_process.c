/* SPDX-License-Identifier: BSD-3-Clause
 * Writers and updates of a process that changes its working directory, or that forks, before they
 * end: the file that was named first is written, by the process that began. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/core/writing/edit_testing.h"

static scratch dir;
static char was[PATH_MAX];

/* Two files of one name, here and in a folder below, to which the process goes. */
static int setup(void **state)
{
    (void)state;
    if (!scratch_open(&dir) || getcwd(was, sizeof was) == NULL)
        return -1;
    assert_int_equal(mkdir(scratch_path(&dir, "below"), 0755), 0);
    edit_file(&dir, "x.asdf", true);
    edit_file(&dir, "below/x.asdf", true);
    return chdir(dir.dir);
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(chdir(was), 0);
    scratch_close(&dir);
    return 0;
}

static void assert_name(const char *name, const char *expected)
{
    cip_file *f;
    const char *text;
    OK(cip_open(scratch_path(&dir, name), NULL, &f, err));
    OK(cip_tree_get_string(cip_file_tree(f), "meta/name", &text, err));
    assert_string_equal(text, expected);
    cip_file_close(f);
}

/* A value of 4 bytes goes in place; one of 70,000 needs a new file. */
static void an_update_goes_to_the_file_that_was_opened(void **state)
{
    (void)state;
    static char text[70001];
    const size_t lengths[] = { 4, sizeof text - 1 };
    for (size_t i = 0; i < 2; i++) {
        cip_file *f;
        cip_change *e;
        memset(text, 'a' + (int)i, lengths[i]);
        text[lengths[i]] = '\0';
        OK(cip_open("x.asdf", NULL, &f, err));
        OK(cip_change_begin(f, NULL, &e, err));
        OK(cip_change_set_string(e, "meta/name", text, err));
        assert_int_equal(chdir("below"), 0);
        OK(cip_change_commit(&e, err));
        cip_file_close(f);
        assert_name("x.asdf", text);
        assert_name("below/x.asdf", "first");
        assert_int_equal(chdir(".."), 0);
    }
}

static void an_update_begins_where_the_file_was_opened(void **state)
{
    (void)state;
    bool changed;
    cip_file *f;
    cip_change *e;
    OK(cip_open("x.asdf", NULL, &f, err));
    assert_int_equal(chdir("below"), 0);
    OK(cip_change_begin(f, NULL, &e, err));
    OK(cip_change_set_string(e, "meta/name", "here", err));
    OK(cip_change_commit(&e, err));
    OK(cip_file_refresh(f, &changed, err));
    assert_true(changed);
    const double row[] = { 1, 2 };
    OK(cip_append(f, "rows", cip_dtype_of(CIP_F64), row, sizeof row, err));
    cip_file_close(f);
    assert_int_equal(chdir(".."), 0);
    assert_name("x.asdf", "here");
    assert_name("below/x.asdf", "first");
    edit_expect("x.asdf", "rows", "1.0 2.0\n");
}

static void put_one(cip_change *w)
{
    const int64_t shape[] = { 3 };
    const int32_t v[] = { 1, 2, 3 };
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 1, shape, v, NULL, err));
}

/* In a folder, all is under a name of ours meanwhile. */
static void a_child_leaves_a_new_file_to_its_parent(void **state)
{
    (void)state;
    static const char *const names[] = { "new.asdf", "new.bcolz" };
    for (size_t i = 0; i < 2; i++) {
        cip_change *w;
        int status = -1;
        OK(cip_create(names[i], NULL, &w, err));
        put_one(w);
        const pid_t child = fork();
        if (child == 0) {
            const int32_t one = 1;
            const bool refused = cip_change_put(w, "b", cip_dtype_of(CIP_I32), 0, NULL, &one, NULL,
                                                NULL) == CIP_ERR_ARG &&
                                 cip_change_commit(&w, NULL) != CIP_OK;
            _exit(refused ? 0 : 1); /* the commit freed it */
        }
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
        OK(cip_change_commit(&w, err));
        edit_expect(names[i], i == 0 ? "a" : "", "1 2 3\n");
    }
}

static void a_child_leaves_an_update_to_its_parent(void **state)
{
    (void)state;
    cip_file *f;
    cip_change *e;
    int status = -1;
    OK(cip_open("below/x.asdf", NULL, &f, err));
    OK(cip_change_begin(f, NULL, &e, err));
    OK(cip_change_set_string(e, "meta/name", "parent", err));
    const pid_t child = fork();
    if (child == 0) {
        const bool refused = cip_change_set_string(e, "meta/name", "child", NULL) == CIP_ERR_ARG &&
                             cip_change_commit(&e, NULL) != CIP_OK;
        _exit(refused ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    OK(cip_change_commit(&e, err));
    cip_file_close(f);
    assert_name("below/x.asdf", "parent");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_goes_to_the_file_that_was_opened),
        cmocka_unit_test(an_update_begins_where_the_file_was_opened),
        cmocka_unit_test(a_child_leaves_a_new_file_to_its_parent),
        cmocka_unit_test(a_child_leaves_an_update_to_its_parent),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
