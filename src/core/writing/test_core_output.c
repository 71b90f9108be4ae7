/* SPDX-License-Identifier: BSD-3-Clause
 * Outputs that replace a file: what else lies in the folder, links, locks, journals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/writing/output.h"
#include "support/own_folder_env.h"

static const cip_output_how over = { .level = CIP_LEVEL_PROCESS, .overwrite = true };

static int clean(void **state)
{
    (void)state;
    scratch_close(&dir);
    return mkdir(dir.dir, 0755);
}

static void put(const char *name, const char *text)
{
    scratch_write(&dir, name, text, strlen(text));
}

static bool is_there(const char *name)
{
    struct stat st;
    return lstat(scratch_path(&dir, name), &st) == 0;
}

static void holds(const char *name, const char *text)
{
    char got[64] = "";
    FILE *f = fopen(scratch_path(&dir, name), "rb");
    assert_non_null(f);
    size_t n = fread(got, 1, sizeof got - 1, f);
    fclose(f);
    assert_int_equal(n, strlen(text));
    assert_string_equal(got, text);
}

static cip_output *begin(const char *name)
{
    cip_output *o;
    cip_err err = CIP_ERR_INIT;
    if (cip_output_begin(&env, scratch_path(&dir, name), &over, &o, &err) != CIP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(cip_out_write(cip_output_out(o), "new", 3, NULL), CIP_OK);
    return o;
}

static void add_member(cip_output *o, const char *name)
{
    cip_out *to = cip_output_out(o), *member;
    assert_int_equal(to->member(to->member_user, name, &member, NULL), CIP_OK);
    assert_int_equal(cip_out_write(member, name, strlen(name), NULL), CIP_OK);
}

static void end(cip_output *o)
{
    cip_err err = CIP_ERR_INIT;
    if (cip_output_commit(o, NULL, &err) != CIP_OK)
        fail_msg("%s", err.text);
    cip_output_end(o);
}

static cip_status refused(const char *name, cip_err *err)
{
    cip_output *o;
    *err = (cip_err)CIP_ERR_INIT;
    cip_status st = cip_output_begin(&env, scratch_path(&dir, name), &over, &o, err);
    assert_null(o);
    return st;
}

static void names_that_are_taken_keep_their_files(void **state)
{
    (void)state;
    put("x", "old");
    put("p0", "precious");
    assert_int_equal(symlink("p0", scratch_path(&dir, "p1")), 0);
    assert_int_equal(symlink("nowhere", scratch_path(&dir, "p2")), 0);
    cip_output *o = begin("x");
    cip_out *to = cip_output_out(o), *member;
    for (int i = 0; i < 3; i++) {
        const char name[] = { 'p', (char)('0' + i), '\0' };
        assert_true(to->taken(to->member_user, name));
        assert_int_equal(to->member(to->member_user, name, &member, NULL), CIP_ERR_EXISTS);
    }
    assert_false(to->taken(to->member_user, "p3"));
    add_member(o, "p3");
    end(o);
    holds("x", "new");
    holds("p0", "precious");
    holds("p1", "precious");
    holds("p3", "p3");
    assert_true(is_there("p2"));
}

static void members_of_a_failure_are_taken_back(void **state)
{
    (void)state;
    cip_output *o;
    const cip_output_how how = { .level = CIP_LEVEL_PROCESS };
    assert_int_equal(cip_output_begin(&env, scratch_path(&dir, "x"), &how, &o, NULL), CIP_OK);
    add_member(o, "p0");
    put("x", "meanwhile");
    assert_int_equal(cip_output_commit(o, NULL, NULL), CIP_ERR_EXISTS);
    cip_output_end(o);
    assert_false(is_there("p0"));
    holds("x", "meanwhile");
}

static void a_link_is_followed_for_members_too(void **state)
{
    (void)state;
    assert_int_equal(mkdir(scratch_path(&dir, "sub"), 0755), 0);
    put("sub/real", "old");
    assert_int_equal(symlink("sub/real", scratch_path(&dir, "link")), 0);
    cip_output *o = begin("link");
    assert_string_equal(cip_output_out(o)->name, "real");
    add_member(o, "p0");
    end(o);
    holds("sub/real", "new");
    holds("sub/p0", "p0");
    holds("link", "new");
    assert_false(is_there("p0"));
}

static void a_file_that_is_updated_is_not_replaced(void **state)
{
    (void)state;
    cip_commit *c;
    cip_err err = CIP_ERR_INIT;
    put("x", "old");
    assert_int_equal(cip_commit_begin(&env, scratch_path(&dir, "x"), NULL, &c, NULL), CIP_OK);
    assert_int_equal(refused("x", &err), CIP_ERR_BUSY);
    assert_string_equal(err.text, "another writer is updating the file");
    cip_commit_end(c);
    cip_output *o = begin("x");
    assert_int_equal(cip_commit_begin(&env, scratch_path(&dir, "x"), NULL, &c, NULL), CIP_ERR_BUSY);
    end(o);
    assert_int_equal(cip_commit_begin(&env, scratch_path(&dir, "x"), NULL, &c, NULL), CIP_OK);
    cip_commit_end(c);
    holds("x", "new");
}

static void a_file_that_came_meanwhile_is_looked_at_too(void **state)
{
    (void)state;
    cip_commit *c;
    cip_output *o = begin("x");
    put("x", "meanwhile");
    assert_int_equal(cip_commit_begin(&env, scratch_path(&dir, "x"), NULL, &c, NULL), CIP_OK);
    assert_int_equal(cip_output_commit(o, NULL, NULL), CIP_ERR_BUSY);
    cip_commit_end(c);
    holds("x", "meanwhile");
    end(o);
    holds("x", "new");
}

/* Beside x, a journal that makes "01" of its first two bytes. */
static void put_journal(const char *name, const char *old)
{
    struct stat st;
    cip_buf b = { .mem = &env.mem };
    cip_patch p = { .arena = { .mem = &env.mem }, .old_len = 3, .new_len = 3 };
    assert_int_equal(stat(scratch_path(&dir, "x"), &st), 0);
    assert_int_equal(cip_patch_write(&p, "", 0, (cip_bytes){ (const uint8_t *)old, 2 },
                                     (cip_bytes){ (const uint8_t *)"01", 2 }, NULL),
                     CIP_OK);
    assert_int_equal(cip_journal_encode(&p, st.st_dev, st.st_ino, &b, NULL), CIP_OK);
    scratch_write(&dir, name, b.ptr, b.len);
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static void an_interrupted_update_is_completed_first(void **state)
{
    (void)state;
    put("x", "old");
    put_journal(".x.cip-journal", "ol");
    cip_output *o = begin("x");
    holds("x", "old");
    end(o);
    holds("x", "new");
    assert_false(is_there(".x.cip-journal"));
    put_journal(".x.cip-tmp", "ne");
    end(begin("x"));
    assert_false(is_there(".x.cip-tmp"));
    put_journal(".x.cip-journal", "yy"); /* it does not fit */
    o = begin("x");
    assert_int_equal(cip_output_commit(o, NULL, NULL), CIP_ERR_CORRUPT);
    cip_output_end(o);
    assert_true(is_there(".x.cip-journal"));
}

static void a_journal_without_its_file_is_told(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    put(".x.cip-journal", "left");
    assert_int_equal(refused("x", &err), CIP_ERR_CORRUPT);
    assert_non_null(strstr(err.text, "'.x.cip-journal' is in the way"));
    assert_true(is_there(".x.cip-journal"));
    assert_false(is_there("x"));
    cip_output *o = begin("y");
    cip_out *to = cip_output_out(o), *member;
    assert_int_equal(to->member(to->member_user, "x", &member, NULL), CIP_ERR_CORRUPT);
    end(o);
}

static void a_long_name_needs_no_journal(void **state)
{
    (void)state;
    char name[256];
    for (size_t n = 242; n <= 243; n++) {
        memset(name, 'a', n);
        name[n] = '\0';
        end(begin(name));
        end(begin(name));
        holds(name, "new");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names_that_are_taken_keep_their_files, clean),
        cmocka_unit_test_setup(members_of_a_failure_are_taken_back, clean),
        cmocka_unit_test_setup(a_link_is_followed_for_members_too, clean),
        cmocka_unit_test_setup(a_file_that_is_updated_is_not_replaced, clean),
        cmocka_unit_test_setup(a_file_that_came_meanwhile_is_looked_at_too, clean),
        cmocka_unit_test_setup(an_interrupted_update_is_completed_first, clean),
        cmocka_unit_test_setup(a_journal_without_its_file_is_told, clean),
        cmocka_unit_test_setup(a_long_name_needs_no_journal, clean),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
