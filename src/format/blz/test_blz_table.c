/* SPDX-License-Identifier: BSD-3-Clause
 * Tables: columns, and all of them as records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blz/blz_testing.h"

static void columns_are_arrays_and_one_of_records(void **state)
{
    (void)state;
    blz_folder f;
    uint8_t got[16];
    blz_start_table(
        &f, "{\"names\": [\"b\", \"x\"], \"dirs\": {\"x\": \"/long/gone/a\", \"b\": \"b\"}}");
    blz_text(&f, "a/__attrs__", "{\"k\": 1}");
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_int_equal(f.layout->narray, 3);
    assert_string_equal(f.layout->array[0]->path, "");
    assert_string_equal(cip_dtype_name(f.layout->array[0]->dtype), "{b: int64, x: int64}");
    assert_string_equal(f.layout->array[1]->path, "b");
    assert_string_equal(f.layout->version, "BLZ");
    assert_int_equal(blz_read(&f, 1, 240), CIP_OK);
    assert_int_equal(blz_read(&f, 2, 17), CIP_OK);
    assert_non_null(cip_tree_get(f.layout->tree, "column_attributes/x/k", NULL));
    const cip_read_how how = { f.layout, NULL };
    assert_int_equal(cip_space_read_at(&how, f.layout->array[0]->space, 249 * 16, got, 16, NULL),
                     CIP_OK);
    assert_int_equal(cip_load_u64(got, false), 249);
    assert_int_equal(cip_load_u64(got + 8, false), 249);
    assert_int_equal(blz_verify(&f).count[CIP_BAD], 0);
    blz_end(&f);
}

static void the_shortest_column_gives_the_rows(void **state)
{
    (void)state;
    blz_folder f;
    blz_start_table(&f, "{\"names\": [\"a\", \"b\"]}");
    blz_text(&f, "b/meta/sizes", "{\"shape\": [200], \"nbytes\": 1600, \"cbytes\": 0}");
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_int_equal(f.layout->array[0]->view.shape[0], 200);
    assert_int_equal(f.layout->array[1]->view.shape[0], 250);
    assert_int_equal(f.env.warnings.count[CIP_WARN], 2); /* and a file behind the last row */
    blz_end(&f);
}

static void a_column_that_cannot_be_read_leaves_the_others(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        cip_status st;
    } row[] = { { "gone", CIP_ERR_NOT_FOUND },
                { "../a", CIP_ERR_CORRUPT },
                { "/etc", CIP_ERR_CORRUPT } };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        blz_folder f;
        char text[100];
        snprintf(text, sizeof text, "{\"names\": [\"%s\", \"a\"]}", row[i].name);
        blz_start_table(&f, text);
        assert_int_equal(blz_open(&f), CIP_OK);
        assert_int_equal(f.layout->array[1]->st, row[i].st);
        assert_int_equal(f.layout->array[0]->st, row[i].st);
        assert_int_equal(blz_read(&f, 2, 5), CIP_OK);
        blz_end(&f);
    }
}

static void names_that_are_none_are_corrupt(void **state)
{
    (void)state;
    const char *const text[] = { "{\"names\": [\"a\", \"a\"]}", "{\"names\": [\"\"]}",
                                 "{\"names\": [\"a\\u0000\"]}", "{\"names\": [1]}",
                                 "{\"names\": \"a\"}",          "[]" };
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        blz_folder f;
        blz_start_table(&f, text[i]);
        assert_int_equal(blz_open(&f), CIP_ERR_CORRUPT);
        assert_string_equal(f.err.part, "__rootdirs__");
        blz_end(&f);
    }
}

static void attributes_get_out_of_the_way_of_columns(void **state)
{
    (void)state;
    blz_folder f;
    blz_start_table(&f, "{\"names\": [\"attributes\"], \"dirs\": {\"attributes\": \"a\"}}");
    blz_text(&f, "__attrs__", "{\"k\": 1}");
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_non_null(cip_tree_get(f.layout->tree, "_attributes/k", NULL));
    blz_end(&f);
}

static void too_many_columns_are_refused(void **state)
{
    (void)state;
    blz_folder f;
    enum { MANY = CIP_BLZ_MAX_COLUMNS + 1, EACH = 10 };
    char *text = malloc(MANY * EACH + 40), *p = text;
    assert_non_null(text);
    p += sprintf(p, "{\"names\": [\"a\"");
    for (int i = 1; i < MANY; i++)
        p += sprintf(p, ", \"%05d\"", i);
    sprintf(p, "]}");
    blz_start_table(&f, text);
    assert_int_equal(blz_open(&f), CIP_ERR_LIMIT);
    blz_end(&f);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_arrays_and_one_of_records),
        cmocka_unit_test(the_shortest_column_gives_the_rows),
        cmocka_unit_test(a_column_that_cannot_be_read_leaves_the_others),
        cmocka_unit_test(names_that_are_none_are_corrupt),
        cmocka_unit_test(attributes_get_out_of_the_way_of_columns),
        cmocka_unit_test(too_many_columns_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
