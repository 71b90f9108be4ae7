/* SPDX-License-Identifier: BSD-3-Clause
 * Rows for arrays that grow: at the end of the file, or by updates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/own_folder.h"

static void rows_show_to_others_while_the_file_is_open(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "a.asdf", true);
    const double r[] = { 1, 2, 3, 4 };
    const int32_t i[] = { 5, 6 };
    cip_file *f;
    OK(cip_open(path, NULL, &f, err));
    OK(cip_sync(f, err)); /* nothing yet */
    OK(cip_append(f, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    edit_expect(path, "rows", "1.0 2.0\n3.0 4.0\n");
    OK(cip_append(f, "rows", cip_dtype_of(CIP_I32), i, sizeof i, err)); /* cast */
    OK(cip_append(f, "rows", cip_dtype_as_stored(), NULL, 0, err));
    OK(cip_sync(f, err));
    edit_expect(path, "rows", "1.0 2.0\n3.0 4.0\n5.0 6.0\n");
    cip_file_close(f);
    edit_verify(path);
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "b.asdf", true);
    const double r[] = { 1, 2, 1e300, 4 };
    cip_file *f;
    OK(cip_open(path, NULL, &f, err));
    FAILS(CIP_ERR_ARG, "", cip_append(NULL, "rows", cip_dtype_as_stored(), r, 16, err));
    FAILS(CIP_ERR_ARG, "", cip_append(f, "rows", cip_dtype_as_stored(), NULL, 16, err));
    FAILS(CIP_ERR_NOT_FOUND, "", cip_append(f, "none", cip_dtype_as_stored(), r, 16, err));
    FAILS(CIP_ERR_RANGE, "whole rows", cip_append(f, "rows", cip_dtype_as_stored(), r, 8, err));
    FAILS(CIP_ERR_ARG, "", cip_sync(NULL, err));
    cip_file_close(f);
}

/* What is in memory is no file that happens to have the name that messages give it. */
static void what_was_opened_without_a_name_is_refused(void **state)
{
    (void)state;
    const double r[] = { 1, 2 };
    char was[4096];
    size_t n;
    cip_file *f;
    char *bytes = edit_bytes(edit_file(&s, "m.asdf", true), &n);
    assert_non_null(getcwd(was, sizeof was));
    assert_int_equal(chdir(scratch_path(&s, "")), 0);
    assert_int_equal(rename("m.asdf", "memory"), 0);
    OK(cip_open_memory(bytes, n, NULL, &f, err));
    FAILS(CIP_ERR_UNSUPPORTED, "opened by its name",
          cip_append(f, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    FAILS(CIP_ERR_UNSUPPORTED, "opened by its name",
          cip_append(f, "packed", cip_dtype_of(CIP_F64), r, 16, err));
    cip_file_close(f);
    assert_int_equal(chdir(was), 0);
    free(bytes);
}

static void a_value_that_does_not_fit_writes_nothing(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "c.asdf");
    const int64_t none[] = { 0 };
    const int32_t v[] = { 1, 2, 70000 };
    cip_change *w;
    cip_file *f;
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_put(w, "h", cip_dtype_of(CIP_I16), 1, none, NULL,
                      CIP_ARRAY_OPTIONS(.storage = "streamed"), err));
    OK(cip_change_commit(&w, err));
    OK(cip_open(path, NULL, &f, err));
    OK(cip_append(f, "h", cip_dtype_of(CIP_I32), v, 8, err));
    FAILS(CIP_ERR_RANGE, "", cip_append(f, "h", cip_dtype_of(CIP_I32), v, sizeof v, err));
    cip_file_close(f);
    edit_expect(path, "h", "1 2\n");
}

static void a_torn_row_is_cut_before_the_next(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "d.asdf", true);
    const double r[] = { 1, 2 };
    cip_file *f;
    OK(cip_open(path, NULL, &f, err));
    OK(cip_append(f, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    cip_file_close(f);
    FILE *raw = fopen(path, "ab");
    assert_int_equal(fwrite("torn", 1, 4, raw), 4);
    fclose(raw);
    OK(cip_open(path, NULL, &f, err));
    OK(cip_append(f, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    OK(cip_append(f, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    cip_file_close(f);
    edit_expect(path, "rows", "1.0 2.0\n1.0 2.0\n1.0 2.0\n");
    edit_verify(path);
}

static void a_masked_stream_does_not_outgrow_its_mask(void **state)
{
    (void)state;
    static const char text[] =
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n"
        "--- !core/asdf-1.1.0\n"
        "a: !core/ndarray-1.1.0 {source: -1, datatype: uint8, byteorder: little, shape: ['*'],\n"
        "  mask: !core/ndarray-1.1.0 {data: [true, false], datatype: bool8}}\n...\n"
        "\323BLK\0\60\0\0\0\1";
    char all[sizeof text + 64] = { 0 };
    const uint8_t row = 3;
    cip_file *f;
    memcpy(all, text, sizeof text);
    size_t n = sizeof text - 1 + 44;
    all[n] = 1;
    all[n + 1] = 2;
    const char *path = scratch_write(&s, "g.asdf", all, n + 2);
    edit_expect(path, "a", "-- 2\n");
    OK(cip_open(path, NULL, &f, err));
    FAILS(CIP_ERR_UNSUPPORTED, "mask", cip_append(f, "a", cip_dtype_as_stored(), &row, 1, err));
    cip_file_close(f);
    edit_expect(path, "a", "-- 2\n");
}

static void streams_in_files_beside_grow_at_once(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "h.asdf", true), *apart = scratch_path(&s, "apart.asdf");
    const double r[] = { 1, 2, 3, 4 };
    cip_file *f;
    OK(cip_explode(path, apart, NULL, err));
    OK(cip_open(apart, NULL, &f, err));
    OK(cip_append(f, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    OK(cip_append(f, "rows", cip_dtype_as_stored(), r, 16, err));
    OK(cip_sync(f, err));
    edit_expect(apart, "rows", "1.0 2.0\n3.0 4.0\n1.0 2.0\n");
    cip_file_close(f);
    OK(cip_open(apart, NULL, &f, err)); /* and again, later */
    OK(cip_append(f, "rows", cip_dtype_as_stored(), r, 16, err));
    cip_file_close(f);
    edit_expect(apart, "rows", "1.0 2.0\n3.0 4.0\n1.0 2.0\n1.0 2.0\n");
    edit_verify(apart);
}

static void arrays_that_end_no_file_grow_by_updates(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "e.asdf", false);
    const int16_t h[] = { 1, 2, 3, 4 };
    const double d[] = { 9, 8, 7, 6 };
    cip_file *f;
    OK(cip_open(path, NULL, &f, err));
    OK(cip_append(f, "packed", cip_dtype_as_stored(), h, sizeof h, err));
    OK(cip_append(f, "packed", cip_dtype_of(CIP_F64), d, sizeof d, err));
    cip_file_close(f);
    edit_expect(path, "packed", "0 1 2 3\n4 5 6 7\n8 9 10 11\n1 2 3 4\n9 8 7 6\n");
    edit_verify(path);
}

static void a_file_that_another_changed_is_busy(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "f.asdf", true);
    const double r[] = { 1, 2 };
    cip_file *f, *g;
    OK(cip_open(path, NULL, &f, err));
    OK(cip_open(path, NULL, &g, err));
    OK(cip_append(f, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    FAILS(CIP_ERR_BUSY, "",
          cip_append(g, "rows", cip_dtype_as_stored(), r, sizeof r, err)); /* it has the lock */
    cip_file_close(f);
    for (int i = 0; i < 2; i++)
        FAILS(CIP_ERR_BUSY, "changed since it was opened",
              cip_append(g, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    cip_file_close(g);
    edit_expect(path, "rows", "1.0 2.0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_show_to_others_while_the_file_is_open),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(what_was_opened_without_a_name_is_refused),
        cmocka_unit_test(a_value_that_does_not_fit_writes_nothing),
        cmocka_unit_test(a_torn_row_is_cut_before_the_next),
        cmocka_unit_test(a_masked_stream_does_not_outgrow_its_mask),
        cmocka_unit_test(streams_in_files_beside_grow_at_once),
        cmocka_unit_test(arrays_that_end_no_file_grow_by_updates),
        cmocka_unit_test(a_file_that_another_changed_is_busy),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
