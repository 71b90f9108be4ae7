/* SPDX-License-Identifier: BSD-3-Clause
 * The text of a tree edited as a whole: what may change in it and what may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/own_folder.h"

/* The tree's text with the first `find` made `put`, in the caller's hands. */
static char *changed(cip_change *e, const char *find, const char *put, size_t *n)
{
    const char *text;
    size_t len;
    OK(cip_change_text(e, &text, &len, err));
    const char *at = memmem(text, len, find, strlen(find));
    if (at == NULL)
        fail_msg("expected '%s' in %.*s", find, (int)len, text);
    char *out = malloc(len + strlen(put) + 1);
    const size_t front = (size_t)(at - text), rest = len - front - strlen(find);
    memcpy(out, text, front);
    memcpy(out + front, put, strlen(put));
    memcpy(out + front + strlen(put), at + strlen(find), rest);
    *n = front + strlen(put) + rest;
    return out;
}

static cip_status try_change(cip_change *e, const char *find, const char *put, cip_err *err)
{
    size_t n;
    char *text = changed(e, find, put, &n);
    cip_status st = cip_change_set_text(e, text, n, err);
    free(text);
    return st;
}

static void anything_but_descriptions_of_data_may_change(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "a.asdf", false);
    cip_change *e;
    cip_file *f;
    OK(cip_change_open(path, NULL, &e, err));
    OK(try_change(e, "image:", "# by hand\npicture:", err));
    OK(try_change(e, "name: first", "name: second, more: [1]", err));
    OK(try_change(e, "[10, 20, 30]", "[7, 8, 9]", err));
    OK(cip_change_set_string(e, "note", "and a value", err));
    OK(cip_change_commit(&e, err));
    OK(cip_open(path, NULL, &f, err));
    const char *name;
    OK(cip_tree_get_string(cip_file_tree(f), "meta/name", &name, err));
    assert_string_equal(name, "second");
    assert_non_null(cip_tree_get(cip_file_tree(f), "note", NULL));
    assert_null(cip_find(f, "image", NULL));
    cip_file_close(f);
    edit_expect(path, "picture",
                "0.0 1.0 2.0 3.0 4.0 5.0\n6.0 7.0 8.0 9.0 10.0 11.0\n"
                "12.0 13.0 14.0 15.0 16.0 17.0\n18.0 19.0 20.0 21.0 22.0 23.0\n");
    edit_expect(path, "few", "7 8 9\n");
    edit_verify(path);
}

static void data_cannot_be_described_otherwise(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "b.asdf", false);
    size_t n, m;
    char *before = edit_bytes(path, &n);
    cip_change *e;
    OK(cip_change_open(path, NULL, &e, err));
    const uint16_t one = 1; /* arrays are written in this machine's order */
    const bool little = *(const uint8_t *)&one == 1;
    const char *const changes[][2] = {
        { "float32", "int32" },
        { "shape: [4,", "shape: [3," },
        { "source: 0", "source: 1" },
        { little ? "little" : "big", little ? "big" : "little" },
        { little ? "little, shape" : "big, shape",
          little ? "little, offset: 2, shape" : "big, offset: 2, shape" },
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        FAILS(CIP_ERR_ARG, "does not describe", try_change(e, changes[i][0], changes[i][1], err));
    FAILS(CIP_ERR_ARG, "does not describe", cip_change_commit(&e, err));
    char *after = edit_bytes(path, &m);
    assert_int_equal(n, m);
    assert_memory_equal(before, after, n);
    free(before);
    free(after);
}

static void a_text_that_readers_would_not_find_is_refused(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "c.asdf", false);
    cip_change *e;
    OK(cip_change_open(path, NULL, &e, err));
    FAILS(CIP_ERR_CORRUPT, "start of the tree", try_change(e, "%YAML", "\n%YAML", err));
    FAILS(CIP_ERR_CORRUPT, "end of the tree", try_change(e, "\n...\n", "\n", err));
    FAILS(CIP_ERR_CORRUPT, "end of the tree", try_change(e, "\n...\n", "\n...\n# x\n", err));
    FAILS(CIP_ERR_CORRUPT, "end of the tree", try_change(e, "name: first", "\n...\n", err));
    FAILS(CIP_ERR_CORRUPT, "", try_change(e, "first", "[", err));
    FAILS(CIP_ERR_CORRUPT, "", try_change(e, "first", "\xff", err));
    FAILS(CIP_ERR_CORRUPT, "start of the tree", cip_change_set_text(e, "", 0, err));
    FAILS(CIP_ERR_ARG, "NULL", cip_change_set_text(e, NULL, 0, err));
    FAILS(CIP_ERR_ARG, "NULL", cip_change_text(e, NULL, NULL, err));
    cip_change_abort(&e);
}

static void it_comes_before_changes_of_data(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "d.asdf", false);
    const float row[6] = { 0 };
    const int64_t two[2] = { 1, 2 };
    cip_change *e;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_append(e, "image", cip_dtype_as_stored(), row, sizeof row, err));
    FAILS(CIP_ERR_UNSUPPORTED, "after data", try_change(e, "first", "x", err));
    cip_change_abort(&e);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_write(e, "few", "[:2]", cip_dtype_as_stored(), two, sizeof two, err));
    FAILS(CIP_ERR_UNSUPPORTED, "after data", try_change(e, "first", "x", err));
    cip_change_abort(&e);
}

static void paths_are_of_utf_8(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "utf.asdf", false);
    const int64_t shape[] = { 1 };
    const float v = 1;
    cip_change *e;
    cip_change *w;
    OK(cip_change_open(path, NULL, &e, err));
    FAILS(CIP_ERR_ARG, "UTF-8", cip_change_set_int(e, "a\xff", 1, err));
    FAILS(CIP_ERR_ARG, "UTF-8", cip_change_move(e, "image", "a\xff", false, err));
    FAILS(CIP_ERR_ARG, "UTF-8",
          cip_change_put(e, "b\xfe", cip_dtype_of(CIP_F32), 1, shape, &v, NULL, err));
    cip_change_abort(&e);
    OK(cip_create(scratch_path(&s, "utf2.asdf"), NULL, &w, err));
    FAILS(CIP_ERR_ARG, "UTF-8", cip_change_set_int(w, "a\xff", 1, err));
    cip_change_abort(&w);
    OK(cip_create(scratch_path(&s, "utf2.asdf"), NULL, &w, err));
    FAILS(CIP_ERR_ARG, "UTF-8",
          cip_change_put(w, "b\xfe", cip_dtype_of(CIP_F32), 1, shape, &v, NULL, err));
    cip_change_abort(&w);
}

/* A mask of fewer axes fits as long as the axes that it has stay as they are. */
static void a_mask_of_the_last_axes_stays(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "mask.asdf", false);
    cip_change *e;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_set_yaml(e, "b",
                           "!core/ndarray-1.1.0 {data: [[1, 2], [3, 4]], datatype: uint8, mask: "
                           "!core/ndarray-1.1.0 {data: [true, false], datatype: bool8}}",
                           err));
    OK(cip_change_commit(&e, err));
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_resize(e, "b", 2, (const int64_t[]){ 3, 2 }, err));
    FAILS(CIP_ERR_UNSUPPORTED, "mask",
          cip_change_resize(e, "b", 2, (const int64_t[]){ 3, 1 }, err));
    OK(cip_change_forget_failure(e, err));
    OK(cip_change_commit(&e, err));
    edit_expect(path, "b", "-- 2\n-- 4\n-- 0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_of_utf_8),
        cmocka_unit_test(anything_but_descriptions_of_data_may_change),
        cmocka_unit_test(data_cannot_be_described_otherwise),
        cmocka_unit_test(a_text_that_readers_would_not_find_is_refused),
        cmocka_unit_test(it_comes_before_changes_of_data),
        cmocka_unit_test(a_mask_of_the_last_axes_stays),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
