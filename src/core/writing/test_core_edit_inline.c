/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of inline arrays, whose type and shape readers may have to make of the lists: they stay
 * what they are while the lists change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/own_folder.h"

/* A file without blocks whose only array is `a`. */
static const char *with_array(const char *array)
{
    char text[512];
    const int n = snprintf(text, sizeof text,
                           "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%%YAML 1.1\n"
                           "%%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\na: %s\n...\n",
                           array);
    return scratch_write(&s, "inline.asdf", text, (size_t)n);
}

static cip_change *begin(const char *path)
{
    cip_change *e = NULL;
    OK(cip_change_open(path, NULL, &e, err));
    return e;
}

/* Name, width and shape of the array at `a`. */
static const char *described(const cip_file *f)
{
    static char text[64];
    const cip_array *a = cip_find(f, "a", NULL);
    assert_non_null(a);
    OK(cip_array_state(a, err));
    int n = snprintf(text, sizeof text, "%s", cip_dtype_name(cip_array_dtype(a)));
    for (int k = 0; k < cip_array_ndim(a); k++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %d", (int)cip_array_shape(a)[k]);
    return text;
}

static void expect_described(const char *path, const char *how)
{
    cip_file *f;
    OK(cip_open(path, NULL, &f, err));
    assert_string_equal(described(f), how);
    cip_file_close(f);
}

/* What readers make of the lists that are left may be another type or shape. */
static void type_and_shape_stay_when_rows_go(void **state)
{
    (void)state;
    static const struct {
        const char *array;
        int64_t at, count;
        const char *how, *elements;
    } cases[] = {
        { "!core/ndarray-1.1.0 [z, xy, w]", 1, 1, "ucs4-2 2", "'z' 'w'\n" },
        { "!core/ndarray-1.1.0 [z, xy, w]", 0, 1, "ucs4-2 2", "'xy' 'w'\n" },
        { "!core/ndarray-1.1.0 {data: [z, xy], byteorder: big}", 1, 1, "ucs4-2 1", "'z'\n" },
        { "!core/ndarray-1.1.0 [1.5, 2]", 0, 2, "float64 0", "" },
        { "!core/ndarray-1.1.0 [1, 2]", 0, 2, "int64 0", "" },
        { "!core/ndarray-1.1.0 {data: [[1, 2], [3, 4]]}", 0, 2, "int64 0 2", "" },
        { "!core/ndarray-1.1.0 {data: [[1, 2]], datatype: int8}", 0, 1, "int8 0 2", "" },
        { "!core/ndarray-1.1.0 [[true, false]]", 0, 1, "bool 0 2", "" },
        { "!core/ndarray-1.1.0 [18446744073709551615, 7]", 0, 1, "uint64 1", "7\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = with_array(cases[i].array);
        cip_change *e = begin(path);
        OK(cip_change_delete(e, "a", 0, cases[i].at, cases[i].count, err));
        assert_string_equal(described(cip_change_file(e, NULL)), cases[i].how);
        OK(edit_end(e, err));
        expect_described(path, cases[i].how);
        edit_expect(path, "a", cases[i].elements);
        edit_verify(path);
    }
}

/* A list that says all of it stays one. */
static void lists_get_no_description_that_they_do_not_need(void **state)
{
    (void)state;
    const int64_t v = 9;
    size_t n;
    const char *path = with_array("!core/ndarray-1.1.0 [1, 2, 3]");
    cip_change *e = begin(path);
    OK(cip_change_delete(e, "a", 0, 0, 1, err));
    OK(cip_change_append(e, "a", cip_dtype_as_stored(), &v, sizeof v, err));
    OK(edit_end(e, err));
    char *text = edit_bytes(path, &n);
    text[n] = '\0';
    assert_non_null(strstr(text, "a: !core/ndarray-1.1.0 [2, 3, 9]\n"));
    free(text);
}

/* What the tree has no text for is refused by the call: the update goes on without it. */
static void values_that_no_tree_holds_are_refused_at_once(void **state)
{
    (void)state;
    static const uint64_t all = UINT64_MAX, seven = 7; /* the first one is 0xff in each byte */
    static const struct {
        const char *array, *words;
        const void *good;
        size_t size;
        const char *after;
    } cases[] = {
        { "!core/ndarray-1.1.0 {data: [1, 2], datatype: uint64}", "below 2^63", &seven, 8,
          "1 2 7\n" },
        { "!core/ndarray-1.1.0 {data: [a, b], datatype: [ascii, 1]}", "ASCII", "c", 1,
          "'a' 'b' 'c'\n" },
        { "!core/ndarray-1.1.0 {data: [[1, 2]], datatype: [{name: x, datatype: uint64}, {name: y, "
          "datatype: uint64}]}",
          "below 2^63", &seven, 8, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = with_array(cases[i].array), *field = i == 2 ? "a/y" : "a";
        cip_change *e = begin(path);
        FAILS(CIP_ERR_RANGE, cases[i].words,
              cip_change_write(e, field, "[0]", cip_dtype_as_stored(), &all, cases[i].size, err));
        OK(cip_change_forget_failure(e, err));
        if (i < 2) {
            FAILS(CIP_ERR_RANGE, cases[i].words,
                  cip_change_append(e, "a", cip_dtype_as_stored(), &all, cases[i].size, err));
            OK(cip_change_forget_failure(e, err));
            FAILS(CIP_ERR_RANGE, cases[i].words,
                  cip_change_insert(e, "a", 0, 0, cip_dtype_as_stored(), &all, cases[i].size, err));
            OK(cip_change_forget_failure(e, err));
            OK(cip_change_append(e, "a", cip_dtype_as_stored(), cases[i].good, cases[i].size, err));
        }
        OK(edit_end(e, err));
        if (i < 2)
            edit_expect(path, "a", cases[i].after);
        edit_verify(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(type_and_shape_stay_when_rows_go),
        cmocka_unit_test(values_that_no_tree_holds_are_refused_at_once),
        cmocka_unit_test(lists_get_no_description_that_they_do_not_need),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
