/* SPDX-License-Identifier: BSD-3-Clause
 * The caller's cip_err: what it keeps, what leaves it alone, and records of other sizes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/writing/edit_testing.h"

static scratch dir;

static const char *at(const char *name)
{
    return scratch_path(&dir, name);
}

static void the_first_error_is_kept(void **state)
{
    (void)state;
    cip_file *f;
    cip_err why = CIP_ERR_INIT, first;
    assert_int_equal(cip_open(at("missing"), NULL, &f, &why), CIP_ERR_NOT_FOUND);
    first = why;
    assert_int_equal(cip_open_memory("hello", 5, NULL, &f, &why), CIP_ERR_FORMAT);
    assert_memory_equal(&why, &first, sizeof why);
    OK(cip_open(edit_file(&dir, "kept.asdf", false), NULL, &f, err));
    assert_null(cip_find(f, "none", &why));
    assert_int_equal(cip_tree_get_int(cip_file_tree(f), "meta/name", &(int64_t){ 0 }, &why),
                     CIP_ERR_TYPE);
    assert_memory_equal(&why, &first, sizeof why);
    assert_int_equal(cip_read(NULL, NULL, NULL, NULL, 0, &why), CIP_ERR_NOT_FOUND); /* passed on */
    cip_err_clear(&why);
    assert_null(cip_find(f, "none", &why));
    assert_int_equal(why.code, CIP_ERR_NOT_FOUND);
    cip_file_close(f);
}

static void a_record_is_cleared_but_for_its_size(void **state)
{
    (void)state;
    cip_file *f;
    const cip_err none = CIP_ERR_INIT;
    cip_err why = CIP_ERR_INIT, zero = { 0 };
    cip_err_clear(NULL);
    assert_int_equal(cip_open(at("missing"), NULL, &f, &why), CIP_ERR_NOT_FOUND);
    assert_int_equal(why.sys, ENOENT);
    cip_err_clear(&why);
    assert_memory_equal(&why, &none, sizeof why);
    assert_int_equal(cip_open(at("missing"), NULL, &f, &zero), CIP_ERR_NOT_FOUND);
    assert_true(zero.offset == CIP_NO_OFFSET && zero.text[0] != '\0');
    assert_int_equal(zero.size, 0);
    assert_int_equal(cip_open_memory("hello", 5, NULL, &f, NULL), CIP_ERR_FORMAT);
    cip_err_clear(&zero);
    assert_int_equal(cip_open_memory("hello", 5, NULL, &f, &zero), CIP_ERR_FORMAT);
    assert_int_equal(zero.sys, 0); /* of the system call of this failure, not of one before */
}

static void records_of_other_versions_are_not_written_beyond(void **state)
{
    (void)state;
    cip_file *f;
    struct {
        cip_err err;
        uint8_t more[64];
    } later = { .err = CIP_ERR_INIT }, before;
    later.err.size = sizeof later;
    memset(later.more, 7, sizeof later.more);
    before = later;
    assert_int_equal(cip_open(at("missing"), NULL, &f, &later.err), CIP_ERR_NOT_FOUND);
    assert_int_equal(later.err.code, CIP_ERR_NOT_FOUND);
    assert_int_equal(later.err.size, sizeof later);
    assert_memory_equal(later.more, before.more, sizeof later.more);
    const size_t none[] = { 1, sizeof later.err - 1, SIZE_MAX };
    for (size_t i = 0; i < 3; i++) {
        cip_err why = CIP_ERR_INIT, as_it_was;
        why.size = none[i];
        as_it_was = why;
        assert_int_equal(cip_open(at("missing"), NULL, &f, &why), CIP_ERR_NOT_FOUND);
        assert_memory_equal(&why, &as_it_was, sizeof why);
    }
}

static void a_name_that_is_taken_is_told_from_a_lock(void **state)
{
    (void)state;
    cip_change *w;
    cip_change *e, *other;
    const char *path = edit_file(&dir, "taken.asdf", false);
    FAILS(CIP_ERR_EXISTS, "the output exists", cip_create(path, NULL, &w, err));
    FAILS(CIP_ERR_EXISTS, "the output exists", cip_convert(path, path, NULL, err));
    OK(cip_change_open(path, NULL, &e, err));
    FAILS(CIP_ERR_BUSY, "another writer", cip_change_open(path, NULL, &other, err));
    cip_change_abort(&e);
}

/* Statuses need to be looked at only at the commit: what was not there to be written is named. */
static void what_is_put_from_nothing_makes_the_commit_fail(void **state)
{
    (void)state;
    cip_file *f;
    OK(cip_open(edit_file(&dir, "from.asdf", false), NULL, &f, err));
    for (int i = 0; i < 3; i++) {
        cip_err why = CIP_ERR_INIT;
        cip_change *w;
        OK(cip_create(at("to.asdf"), NULL, &w, err));
        if (i == 0)
            cip_change_put_array(w, "a", cip_find(f, "none", &why), NULL, NULL, &why);
        else if (i == 1)
            cip_change_set_node(w, "a", f, cip_tree_get(cip_file_tree(f), "none", &why), &why);
        else
            cip_change_put_filled(w, "a", cip_dtype_parse("flaot", &why), 0, NULL, NULL, NULL,
                                  &why);
        assert_int_equal(cip_change_commit(&w, NULL), i < 2 ? CIP_ERR_NOT_FOUND : CIP_ERR_FORMAT);
        assert_int_equal(why.code, i < 2 ? CIP_ERR_NOT_FOUND : CIP_ERR_FORMAT);
    }
    cip_file_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_error_is_kept),
        cmocka_unit_test(a_record_is_cleared_but_for_its_size),
        cmocka_unit_test(records_of_other_versions_are_not_written_beyond),
        cmocka_unit_test(a_name_that_is_taken_is_told_from_a_lock),
        cmocka_unit_test(what_is_put_from_nothing_makes_the_commit_fail),
    };
    scratch_open(&dir);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_close(&dir);
    return failed;
}
