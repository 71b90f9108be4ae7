/* SPDX-License-Identifier: BSD-3-Clause
 * The file as a change has made it so far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cippus/check.h"
#include "cippus/convert.h"
#include "cippus/ext/refs.h"
#include "support/core/writing/edit_testing.h"
#include "support/fail_alloc.h"
#include "support/own_folder.h"

static cip_change *begin(const char *path)
{
    cip_change *c = NULL;
    OK(cip_change_open(path, NULL, &c, err));
    return c;
}

/* "path shape elements" of each array, one below the other; or why it cannot be read. */
typedef struct listing {
    char text[4096];
    size_t n;
} listing;

static int add(void *user, const void *bytes, size_t n)
{
    listing *l = user;
    assert_true(l->n + n < sizeof l->text);
    memcpy(l->text + l->n, bytes, n);
    l->n += n;
    return 0;
}

static listing list_of(const cip_file *f)
{
    listing l = { .n = 0 };
    assert_non_null(f);
    for (size_t i = 0; i < cip_file_narray(f); i++) {
        const cip_array *a = cip_file_array(f, i);
        cip_err why = CIP_ERR_INIT;
        add(&l, cip_array_path(a), strlen(cip_array_path(a)));
        add(&l, " ", 1);
        if (cip_array_state(a, &why) == CIP_OK)
            OK(cip_export(a, NULL, "csv", add, &l, err));
        else
            add(&l, why.text, strlen(why.text));
        add(&l, "\n", 1);
        assert_ptr_equal(cip_find(f, cip_array_path(a), NULL), a);
        if (cip_array_node(a) != NULL)
            assert_ptr_equal(cip_array_of_node(f, cip_array_node(a)), a);
    }
    l.text[l.n] = '\0';
    return l;
}

/* What it lists before the commit is what the file has afterwards, in the same order. */
static void expect_the_same(cip_change *c, const char *path)
{
    const listing now = list_of(cip_change_file(c, NULL));
    cip_file *f;
    OK(cip_change_commit(&c, err));
    OK(cip_open(path, NULL, &f, err));
    const listing then = list_of(f);
    assert_string_equal(now.text, then.text);
    cip_file_close(f);
    edit_verify(path);
}

static void it_is_the_file_after_the_commit(void **state)
{
    (void)state;
    static const int64_t two[] = { 2 }, shape[] = { 3, 6 };
    const int16_t pair[] = { 1, 2 };
    const int64_t nine = 9;
    const char *path = edit_file(&s, "a.asdf", false);
    cip_change *c = begin(path);
    OK(cip_change_resize(c, "image", 2, shape, err));
    OK(cip_change_write(c, "few", "[1]", cip_dtype_of(CIP_I64), &nine, sizeof nine, err));
    OK(cip_change_remove(c, "packed", err));
    OK(cip_change_put(c, "new/one", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
    expect_the_same(c, path);

    c = begin(path);
    OK(cip_change_move(c, "image", "few2", false, err));
    OK(cip_change_move(c, "few2", "group/image", false, err));
    OK(cip_change_remove(c, "new/one", err));
    OK(cip_change_put(c, "new/one", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
    OK(cip_change_move(c, "new", "newer", false, err));
    OK(cip_change_remove(c, "few", err));
    OK(cip_change_set_int(c, "few", 4, err));
    expect_the_same(c, path);
}

static void it_is_made_anew_after_a_change(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "b.asdf", false);
    cip_change *c = begin(path);
    const cip_file *f = cip_change_file(c, NULL);
    assert_int_equal(cip_file_narray(f), 3);
    assert_ptr_equal(cip_change_file(c, NULL), f);
    OK(cip_change_set_string(c, "meta/name", "second", err));
    f = cip_change_file(c, NULL);
    const char *name;
    OK(cip_tree_get_string(cip_file_tree(f), "meta/name", &name, err));
    assert_string_equal(name, "second");
    OK(cip_change_mark(c, NULL, err));
    OK(cip_change_remove(c, "few", err));
    assert_int_equal(cip_file_narray(cip_change_file(c, NULL)), 2);
    OK(cip_change_undo(c, 0, err));
    assert_int_equal(cip_file_narray(cip_change_file(c, NULL)), 3);
    FAILS(CIP_ERR_NOT_FOUND, "", cip_change_remove(c, "nothing", err));
    OK(cip_change_forget_failure(c, err));
    assert_non_null(cip_find(cip_change_file(c, NULL), "few", NULL));
    cip_change_abort(&c);
}

/* What the commit will do, as differences from the file as it is. */
static void it_is_compared(void **state)
{
    (void)state;
    const float one = 1.5F;
    const char *path = edit_file(&s, "c.asdf", false);
    cip_file *f;
    cip_change *c;
    uint64_t n = 9;
    OK(cip_open(path, NULL, &f, err));
    OK(cip_change_begin(f, NULL, &c, err));
    OK(cip_diff(f, cip_change_file(c, NULL), NULL, &n, err));
    assert_int_equal(n, 0);
    OK(cip_change_write(c, "image", "[0, 0]", cip_dtype_of(CIP_F32), &one, sizeof one, err));
    OK(cip_change_set_int(c, "meta/count", 1, err));
    OK(cip_diff(f, cip_change_file(c, NULL), NULL, &n, err));
    assert_int_equal(n, 2);
    cip_change_abort(&c);
    cip_file_close(f);
}

static void what_it_does_not_know_it_says(void **state)
{
    (void)state;
    static const int64_t two[] = { 2 };
    const int16_t pair[] = { 1, 2 };
    const char *path = scratch_path(&s, "d.asdf");
    cip_change *c;
    cip_slab *slab;
    int16_t got[2];
    OK(cip_create(path, NULL, &c, err));
    OK(cip_change_put(c, "l/0", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
    OK(cip_change_put(c, "l/1", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
    OK(cip_change_put(c, "x", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
    OK(cip_change_commit(&c, err));
    c = begin(path);
    OK(cip_change_remove(c, "l/0", err));
    const cip_file *f = cip_change_file(c, NULL);
    assert_int_equal(cip_file_narray(f), 2);
    FAILS(CIP_ERR_UNSUPPORTED, "moved", cip_array_state(cip_find(f, "l/0", NULL), err));
    OK(cip_array_state(cip_find(f, "x", NULL), err));
    FAILS(CIP_ERR_UNSUPPORTED, "commit it first",
          cip_convert_file(f, scratch_path(&s, "no.asdf"), NULL, err));
    FAILS(CIP_ERR_UNSUPPORTED, "commit it first",
          cip_refs_write(f, CIP_OPTIONS(cip_refs_options, .url = "u"), add, NULL, err));
    FAILS(CIP_ERR_UNSUPPORTED, "commit it first",
          cip_change_set_node(c, "y", f, cip_file_tree(f), err));
    assert_true(cip_file_nblock(f) >= 3);
    cip_change_abort(&c);
    c = begin(path);
    OK(cip_change_declare(c, "later", cip_dtype_of(CIP_I16), 1, two, NULL, &slab, err));
    f = cip_change_file(c, NULL);
    assert_non_null(f);
    assert_int_equal(cip_file_narray(f), 4);
    FAILS(CIP_ERR_UNSUPPORTED, "element [0] has not been written yet",
          cip_read(cip_find(f, "later", NULL), NULL, cip_dtype_of(CIP_I16), got, sizeof got, err));
    OK(cip_change_remove(c, "x", err));
    OK(cip_change_commit(&c, err));
    edit_expect(path, "later", "0 0\n");
}

static void it_has_no_query(void **state)
{
    (void)state;
    static const int64_t two[] = { 2 };
    const int16_t pair[] = { 1, 2 };
    const char *path = scratch_path(&s, "q.ra");
    cip_change *c;
    OK(cip_create(path, NULL, &c, err));
    OK(cip_change_put(c, "", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
    OK(cip_change_commit(&c, err));
    c = begin(path);
    listing l = { .n = 0 };
    FAILS(CIP_ERR_UNSUPPORTED, "commit it first",
          cip_file_query(cip_change_file(c, NULL), add, &l, err));
    cip_change_abort(&c);
}

/* Each array is listed, or said to be unknown, by the path that it has after the commit. */
static void expect_listed(cip_change *c, const char *const *known, const char *const *unknown)
{
    const cip_file *f = cip_change_file(c, NULL);
    size_t n = 0;
    assert_non_null(f);
    for (; *known != NULL; known++, n++)
        OK(cip_array_state(cip_find(f, *known, NULL), err));
    for (; *unknown != NULL; unknown++, n++)
        FAILS(CIP_ERR_UNSUPPORTED, "commit it first",
              cip_array_state(cip_find(f, *unknown, NULL), err));
    assert_int_equal(cip_file_narray(f), n);
}

static void what_came_within_values_is_listed(void **state)
{
    (void)state;
    static const int64_t two[] = { 2 };
    const int16_t pair[] = { 1, 2 };
    const char *path = edit_file(&s, "w.asdf", false);
    const char *inlined = "!core/ndarray-1.1.0 [1, 2]";
    cip_change *c = begin(path);
    OK(cip_change_set_yaml(c, "plain", "{$ref: '#/meta'}", err));
    OK(cip_change_commit(&c, err));
    c = begin(path);
    expect_listed(c, CIP_TEXTS("image", "packed", "few"), CIP_TEXTS(NULL));
    OK(cip_change_set_yaml(c, "v", "{w: [0]}", err));
    OK(cip_change_set_yaml(c, "v/w/0", inlined, err));
    OK(cip_change_set_yaml(c, "r", "{$ref: '#/image'}", err));
    OK(cip_change_set_yaml(c, "q", "!unit/quantity-1.1.0 {unit: m}", err));
    OK(cip_change_put(c, "q/value", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
    expect_listed(c, CIP_TEXTS("image", "packed", "few", "q/value"), CIP_TEXTS("v/w/0", "r", "q"));
    OK(cip_change_commit(&c, err));
    edit_verify(path);

    c = begin(path);
    OK(cip_change_put(c, "v/w/-", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
    expect_listed(c, CIP_TEXTS("image", "packed", "few", "q", "q/value", "v/w/0"),
                  CIP_TEXTS("r", "v/w/1"));
    OK(cip_change_remove(c, "v/w/0", err));
    OK(cip_change_move(c, "few", "v/w/1", false, err));
    expect_listed(c, CIP_TEXTS("image", "packed", "q", "q/value", "v/w/1"),
                  CIP_TEXTS("r", "v/w/0"));
    cip_change_abort(&c);
}

/* The file as it was may have had a plain value where a list has an array by now. */
static void what_moved_in_a_list_is_no_error_of_before(void **state)
{
    (void)state;
    static const int64_t two[] = { 2 };
    const int16_t pair[] = { 1, 2 };
    const char *path = edit_file(&s, "l.asdf", false);
    const cip_array_options replace = { .size = sizeof replace, .replace = 1 };
    const cip_array *a;
    cip_change *c = begin(path);
    OK(cip_change_set_yaml(c, "v", "[[1, 2], 3]", err));
    OK(cip_change_commit(&c, err));
    c = begin(path);
    OK(cip_change_put(c, "v/0", cip_dtype_of(CIP_I16), 1, two, pair, &replace, err));
    OK(cip_change_move(c, "v/1", "w", false, err));
    FAILS(CIP_ERR_UNSUPPORTED, "moved", cip_change_array(c, "v/0", &a, err));
    expect_listed(c, CIP_TEXTS("image", "packed", "few"), CIP_TEXTS("v/0"));
    cip_change_abort(&c);
}

/* What a quantity or a reference shows lies elsewhere, and that changes. */
static void what_shows_another_array_is_not_of_before(void **state)
{
    (void)state;
    static const int64_t shape[] = { 2, 6 };
    const char *path = edit_file(&s, "o.asdf", false);
    const cip_array *a;
    cip_change *c = begin(path);
    OK(cip_change_set_yaml(c, "r", "{$ref: '#/image'}", err));
    OK(cip_change_set_yaml(c, "q", "!unit/quantity-1.1.0 {unit: m}", err));
    OK(cip_change_move(c, "packed", "q/value", false, err));
    OK(cip_change_commit(&c, err));

    c = begin(path);
    OK(cip_change_array(c, "r", &a, err));
    OK(cip_change_resize(c, "image", 2, shape, err));
    FAILS(CIP_ERR_UNSUPPORTED, "the target of", cip_change_array(c, "r", &a, err));
    expect_listed(c, CIP_TEXTS("image", "few", "q", "q/value"), CIP_TEXTS("r"));
    cip_change_abort(&c);

    c = begin(path);
    OK(cip_change_move(c, "q", "p", false, err));
    OK(cip_change_array(c, "p", &a, err));
    OK(cip_change_move(c, "few", "p/value", true, err));
    FAILS(CIP_ERR_UNSUPPORTED, "moved", cip_change_array(c, "p", &a, err));
    expect_listed(c, CIP_TEXTS("image", "p/value"), CIP_TEXTS("p", "r"));
    OK(cip_change_move(c, "p", "q", false, err));
    FAILS(CIP_ERR_UNSUPPORTED, "moved", cip_change_array(c, "q", &a, err));
    cip_change_abort(&c);

    c = begin(path);
    OK(cip_change_move(c, "few", "q/value", true, err));
    FAILS(CIP_ERR_NOT_FOUND, "replaced", cip_change_array(c, "q", &a, err));
    expect_listed(c, CIP_TEXTS("image", "q/value"), CIP_TEXTS("q", "r"));
    cip_change_abort(&c);

    c = begin(path);
    OK(cip_change_move(c, "q/value", "free", false, err));
    expect_listed(c, CIP_TEXTS("image", "few", "free"), CIP_TEXTS("r"));
    cip_change_abort(&c);
}

/* Items of a list count as moved also where there was no memory to see that it is one. */
static void running_out_of_memory_shows_nothing_of_before(void **state)
{
    (void)state;
    static const int64_t two[] = { 2 };
    const int16_t pair[] = { 1, 2 };
    const char *path = scratch_path(&s, "m.asdf");
    const cip_array *a;
    cip_change *c;
    OK(cip_create(path, NULL, &c, err));
    for (size_t i = 0; i < 3; i++)
        OK(cip_change_put(c, CIP_TEXTS("l/0", "l/1", "l/2")[i], cip_dtype_of(CIP_I16), 1, two, pair,
                          NULL, err));
    OK(cip_change_commit(&c, err));
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        fail_alloc fa = { .fail_at = 0 };
        const cip_allocator from = { fail_alloc_resize, &fa };
        OK(cip_change_open(path, CIP_CHANGE_OPTIONS(.allocator = &from, .threads = 1), &c, err));
        OK(cip_change_set_int(c, "n", 1, err));
        fa.fail_at = fa.requests + n;
        const bool removed = cip_change_remove(c, "l/0", NULL) == CIP_OK;
        failed = fa.requests >= fa.fail_at;
        assert_true(removed || failed);
        fa.fail_at = 0;
        if (removed)
            FAILS(CIP_ERR_UNSUPPORTED, "moved", cip_change_array(c, "l/1", &a, err));
        bool enough = !removed;
        for (size_t k = 1; !enough; k++) {
            fa.fail_at = fa.requests + k;
            const cip_file *f = cip_change_file(c, NULL);
            enough = fa.requests < fa.fail_at;
            if (f != NULL)
                assert_int_equal(cip_file_narray(f), 2);
        }
        cip_change_abort(&c);
        assert_int_equal(fa.held, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_file_after_the_commit),
        cmocka_unit_test(it_is_made_anew_after_a_change),
        cmocka_unit_test(it_is_compared),
        cmocka_unit_test(what_it_does_not_know_it_says),
        cmocka_unit_test(it_has_no_query),
        cmocka_unit_test(what_came_within_values_is_listed),
        cmocka_unit_test(what_moved_in_a_list_is_no_error_of_before),
        cmocka_unit_test(what_shows_another_array_is_not_of_before),
        cmocka_unit_test(running_out_of_memory_shows_nothing_of_before),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
