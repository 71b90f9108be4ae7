/* SPDX-License-Identifier: BSD-3-Clause
 * Several calls as one step; and what goes and comes at one path within an update. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/writing/edit_testing.h"

static scratch s;
static const int64_t two[] = { 2 }, three[] = { 3 };
static const int16_t pair[] = { 1, 2 }, row[] = { 7, 8, 9 };

static int setup(void **state)
{
    (void)state;
    return scratch_open(&s) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&s);
    return 0;
}

static cip_change *begin(const char *path)
{
    cip_change *e;
    OK(cip_change_open(path, NULL, &e, err));
    return e;
}

static void put(cip_change *e, const char *path, size_t n)
{
    OK(cip_change_put(e, path, cip_dtype_of(CIP_I16), 1, n == 2 ? two : three, n == 2 ? pair : row,
                      NULL, err));
}

static void expect_bytes_of(const char *a, const char *b)
{
    size_t n, m;
    char *x = edit_bytes(a, &n), *y = edit_bytes(b, &m);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
}

/* An array, one of another type, a value and a mapping are replaced by arrays. */
static void what_goes_may_come_in_the_same_update(void **state)
{
    (void)state;
    static const char *const paths[] = { "image", "packed", "few", "meta/name", "meta" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char name[24];
        snprintf(name, sizeof name, "comes%zu.asdf", i);
        const char *path = edit_file(&s, name, false);
        cip_change *e = begin(path);
        FAILS(CIP_ERR_ARG, "names nothing yet",
              cip_change_put(e, paths[i], cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
        OK(cip_change_forget_failure(e, err));
        OK(cip_change_remove(e, paths[i], err));
        put(e, paths[i], 3);
        OK(cip_change_remove(e, paths[i], err));
        put(e, paths[i], 2);
        OK(cip_change_commit(&e, err));
        edit_expect(path, paths[i], "1 2\n");
        edit_verify(path);
    }
}

/* What came and went leaves no block. */
static void what_comes_may_go_in_the_same_update(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "goes.asdf", false), *same = edit_file(&s, "b.asdf", false);
    cip_change *e = begin(path), *f = begin(same);
    put(e, "new/x", 3);
    put(e, "new/y", 2);
    OK(cip_change_remove(e, "new/x", err));
    put(e, "z", 3);
    put(f, "new/y", 2);
    put(f, "z", 3);
    OK(cip_change_commit(&e, err));
    OK(cip_change_commit(&f, err));
    expect_bytes_of(path, same);
    edit_expect(path, "new/y", "1 2\n");
    edit_expect(path, "z", "7 8 9\n");
    edit_verify(path);
}

/* A column's name is free with the next update: the one that goes is there until the end. */
static void a_column_that_goes_holds_its_name(void **state)
{
    (void)state;
    static const char *const kinds[] = { "bcolz", "blz-dir", "blz" };
    for (size_t i = 0; i < 3; i++) {
        const char *path = scratch_path(&s, kinds[i]);
        cip_change *w;
        OK(cip_create(path, CIP_CHANGE_OPTIONS(.format = kinds[i]), &w, err));
        OK(cip_change_put(w, "a", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
        OK(cip_change_put(w, "b", cip_dtype_of(CIP_I16), 1, two, pair + 0, NULL, err));
        OK(cip_change_commit(&w, err));
        cip_change *e = begin(path);
        OK(cip_change_mark(e, err));
        OK(cip_change_remove(e, "a", err));
        assert_int_not_equal(
            cip_change_put(e, "a", cip_dtype_of(CIP_I32), 1, two, (int32_t[]){ 1, 2 }, NULL, NULL),
            CIP_OK);
        OK(cip_change_undo(e, err));
        OK(cip_change_set_int(e, "attributes/k", 1, err));
        OK(cip_change_commit(&e, err));
        cip_file *f;
        const char *field;
        OK(cip_open(path, NULL, &f, err));
        assert_non_null(cip_find_field(f, "a", &field, NULL));
        cip_file_close(f);
    }
}

static void a_step_is_taken_back_whole(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "step.asdf", false), *same = edit_file(&s, "c.asdf", false);
    for (int i = 0; i < 2; i++) {
        cip_change *e = begin(i == 0 ? path : same);
        cip_slab *slab;
        OK(cip_change_set_string(e, "meta/name", "second", err));
        put(e, "before", 2);
        for (int k = 0; k < 2 && i == 0; k++) {
            OK(cip_change_mark(e, err));
            OK(cip_change_remove(e, "image", err));
            OK(cip_change_set_string(e, "image/title", "no array", err));
            put(e, "image/x", 2);
            OK(cip_change_declare(e, "image/y", cip_dtype_of(CIP_I16), 1, two, NULL, &slab, err));
            OK(cip_change_move(e, "meta", "image/meta", false, err));
            FAILS(CIP_ERR_ARG, "names nothing yet",
                  cip_change_put(e, "image/x", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
            OK(cip_change_undo(e, err));
        }
        put(e, "behind", 3);
        OK(cip_change_write(e, "image", "[0, 0]", cip_dtype_as_stored(), (float[]){ 5 }, 4, err));
        OK(cip_change_commit(&e, err));
    }
    expect_bytes_of(path, same);
    edit_verify(path);
}

static void a_step_changes_no_elements(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "elements.asdf", false);
    cip_change *e = begin(path);
    FAILS(CIP_ERR_ARG, "mark", cip_change_undo(e, err));
    OK(cip_change_forget_failure(e, err));
    OK(cip_change_mark(e, err));
    OK(cip_change_write(e, "image", "[0, 0]", cip_dtype_as_stored(), (float[]){ 5 }, 4, err));
    FAILS(CIP_ERR_UNSUPPORTED, "changed elements", cip_change_undo(e, err));
    OK(cip_change_forget_failure(e, err));
    OK(cip_change_mark(e, err));
    OK(cip_change_undo(e, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
}

/* Of a slab's boxes those that were refused are forgotten with the rest. */
static void a_box_that_is_refused_is_forgotten(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "boxes.asdf", false);
    for (int forgets = 0; forgets < 2; forgets++) {
        cip_change *e = begin(path);
        cip_slab *slab;
        OK(cip_change_declare(e, "x", cip_dtype_of(CIP_I16), 1, two, NULL, &slab, err));
        FAILS(CIP_ERR_RANGE, "4 bytes", cip_slab_write(slab, CIP_BOX({ 0 }, { 2 }), pair, 3, err));
        OK(cip_slab_write(slab, CIP_BOX({ 0 }, { 2 }), pair, 4, err));
        if (forgets == 0) {
            FAILS(CIP_ERR_RANGE, "4 bytes", cip_change_commit(&e, err));
            continue;
        }
        OK(cip_change_forget_failure(e, err));
        OK(cip_change_commit(&e, err));
    }
    edit_expect(path, "x", "1 2\n");
}

static void metalayers_go_back(void **state)
{
    (void)state;
    const char *path[] = { scratch_path(&s, "a.b2nd"), NULL };
    char *copy = strdup(path[0]);
    path[0] = copy;
    path[1] = scratch_path(&s, "b.b2nd");
    for (int i = 0; i < 2; i++) {
        cip_change *w;
        OK(cip_create(path[i], NULL, &w, err));
        OK(cip_change_set_int(w, "vlmeta/k", 1, err));
        OK(cip_change_put(w, "", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
        OK(cip_change_commit(&w, err));
        cip_change *e = begin(path[i]);
        for (int k = 0; k < 2 && i == 0; k++) {
            OK(cip_change_mark(e, err));
            OK(cip_change_set_int(e, "vlmeta/j/x", 1, err));
            OK(cip_change_move(e, "vlmeta/k", "vlmeta/l", false, err));
            OK(cip_change_remove(e, "vlmeta/j", err));
            OK(cip_change_undo(e, err));
        }
        OK(cip_change_set_int(e, "vlmeta/m", 2, err));
        OK(cip_change_commit(&e, err));
    }
    expect_bytes_of(path[0], path[1]);
    free(copy);
}

/* The changes of the tree that wait are made when a mark is set; here there are too many of them.
 */
static void a_mark_that_fails_keeps_the_one_before(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "limit.asdf", false);
    const cip_limits few = { .size = sizeof few, .max_nodes = 110 };
    char list[2 * 60 + 2] = "[";
    cip_file *f;
    cip_change *e;
    cip_err why = CIP_ERR_INIT;
    for (size_t i = 1; i < sizeof list - 1; i += 2)
        memcpy(list + i, i + 2 < sizeof list - 1 ? "1," : "1]", 2);
    list[sizeof list - 1] = '\0';
    OK(cip_open(path, CIP_OPEN_OPTIONS(.limits = &few), &f, err));
    OK(cip_change_begin(f, NULL, &e, err));
    OK(cip_change_mark(e, err));
    OK(cip_change_set_yaml(e, "x", list, err));
    OK(cip_change_set_yaml(e, "y", list, err));
    assert_int_equal(cip_change_mark(e, &why), CIP_ERR_LIMIT);
    cip_change_undo(e, NULL);
    cip_change_commit(&e, NULL);
    cip_file_close(f);
    edit_expect(path, "few", "10 20 30\n"); /* whatever of it went well */
}

static void an_array_that_comes_in_another_spelling_keeps_its_elements(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "spelling.asdf", false);
    const int64_t was[] = { 1, 2, 3 };
    cip_change *e = begin(path);
    OK(cip_change_write(e, "few", "", cip_dtype_as_stored(), was, sizeof was, err));
    OK(cip_change_put(e, "\"few\"", cip_dtype_of(CIP_I16), 1, two, pair,
                      CIP_ARRAY_OPTIONS(.replace = true, .storage = "inline"), err));
    OK(cip_change_commit(&e, err));
    edit_expect(path, "few", "1 2\n");
}

/* Its elements are written into the tree by the move; taken back, they still wait for the commit.
 */
static void an_inline_array_that_moved_goes_back_with_its_elements(void **state)
{
    (void)state;
    const int64_t now[] = { 4, 5, 6 };
    for (int back = 0; back < 2; back++) {
        const char *path = edit_file(&s, back ? "back.asdf" : "moved.asdf", false);
        cip_change *e = begin(path);
        OK(cip_change_write(e, "few", "", cip_dtype_as_stored(), now, sizeof now, err));
        OK(cip_change_mark(e, err));
        OK(cip_change_move(e, "few", "other", false, err));
        if (back)
            OK(cip_change_undo(e, err));
        OK(cip_change_commit(&e, err));
        edit_expect(path, back ? "few" : "other", "4 5 6\n");
        edit_verify(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_may_come_in_the_same_update),
        cmocka_unit_test(what_comes_may_go_in_the_same_update),
        cmocka_unit_test(a_column_that_goes_holds_its_name),
        cmocka_unit_test(a_step_is_taken_back_whole),
        cmocka_unit_test(a_step_changes_no_elements),
        cmocka_unit_test(a_box_that_is_refused_is_forgotten),
        cmocka_unit_test(metalayers_go_back),
        cmocka_unit_test(a_mark_that_fails_keeps_the_one_before),
        cmocka_unit_test(an_array_that_comes_in_another_spelling_keeps_its_elements),
        cmocka_unit_test(an_inline_array_that_moved_goes_back_with_its_elements),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
