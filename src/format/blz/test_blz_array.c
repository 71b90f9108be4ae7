/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays as the old programs left them, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blz/blz_testing.h"

static void an_array_is_read_whatever_lies_beside(void **state)
{
    (void)state;
    blz_folder f;
    blz_start(&f);
    blz_array_at(&f, "");
    blz_text(&f, "__attrs__", "{\"unit\": \"mm\"}\n");
    blz_text(&f, "data/notes.txt", "x");
    assert_int_equal(blz_open(&f), CIP_OK);
    const cip_array *a = f.layout->array[0];
    assert_int_equal(a->view.shape[0], 250);
    assert_int_equal(a->storage.chunk[0], 100);
    assert_string_equal(a->storage.codec, "blosclz");
    assert_string_equal(f.layout->version, "bcolz");
    assert_string_equal(cip_tree_get(f.layout->tree, "attributes/unit", NULL)->text, "mm");
    for (uint64_t i = 0; i < 250; i += 7)
        assert_int_equal(blz_read(&f, 0, i), CIP_OK);
    blz_findings b = blz_verify(&f);
    assert_int_equal(b.count[CIP_NOTE], 1);
    assert_non_null(strstr(b.text, "'notes.txt' is not a data file"));
    assert_int_equal(b.count[CIP_WARN] + b.count[CIP_BAD], 0);
    blz_end(&f);
}

static void a_missing_chunk_costs_its_own_rows(void **state)
{
    (void)state;
    blz_folder f;
    blz_start(&f);
    blz_array_at(&f, "");
    unlink(scratch_path(&f.dir, "data/__1.blp"));
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_int_equal(blz_read(&f, 0, 99), CIP_OK);
    assert_int_equal(blz_read(&f, 0, 100), CIP_ERR_NOT_FOUND);
    assert_int_equal(blz_read(&f, 0, 200), CIP_OK);
    blz_findings b = blz_verify(&f);
    assert_int_equal(b.count[CIP_BAD], 1);
    assert_non_null(strstr(b.text, "rows 100 to 199 are missing"));
    blz_end(&f);
}

static void sizes_that_promise_more_cost_what_is_not_there(void **state)
{
    (void)state;
    blz_folder f;
    blz_start(&f);
    blz_array_at(&f, "");
    blz_text(&f, "meta/sizes", "{\"shape\": [1000], \"nbytes\": 2000, \"cbytes\": 900}\n");
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_int_equal(f.env.warnings.count[CIP_WARN], 1); /* nbytes */
    assert_int_equal(blz_read(&f, 0, 249), CIP_OK);
    assert_int_equal(blz_read(&f, 0, 250), CIP_ERR_NOT_FOUND);
    assert_int_equal(blz_read(&f, 0, 999), CIP_ERR_NOT_FOUND);
    blz_findings b = blz_verify(&f);
    assert_non_null(
        strstr(b.text, "expected 100 rows from row 200 on, as in meta/sizes, found 50"));
    assert_non_null(strstr(b.text, "rows 300 to 999 are missing"));
    blz_end(&f);
}

static void sizes_that_promise_less_show_less(void **state)
{
    (void)state;
    blz_folder f;
    blz_start(&f);
    blz_array_at(&f, "");
    blz_text(&f, "meta/sizes", "{\"shape\": [150], \"nbytes\": 1200, \"cbytes\": 900}\n");
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_int_equal(f.env.warnings.count[CIP_WARN], 2); /* the last chunk, and one more */
    assert_int_equal(blz_read(&f, 0, 149), CIP_OK);
    assert_int_equal(blz_read(&f, 0, 150), CIP_ERR_RANGE);
    blz_findings b = blz_verify(&f);
    assert_non_null(strstr(b.text, "it holds 100 rows, 50 more than in meta/sizes"));
    assert_non_null(strstr(b.text, "1 chunk files after the 150 rows"));
    assert_int_equal(b.count[CIP_BAD], 0);
    blz_end(&f);
}

static void chunks_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t byte;
        cip_status st;
    } row[] = {
        { 0, 'x', CIP_ERR_CORRUPT },       /* magic */
        { 4, 3, CIP_ERR_UNSUPPORTED },     /* version */
        { 8, 2, CIP_ERR_CORRUPT },         /* chunks */
        { 16 + 4, 0x21, CIP_ERR_CORRUPT }, /* bytes decoded: no whole rows */
        { 16 + 5, 0x7f, CIP_ERR_CORRUPT }, /* more than a chunk has */
        { 16 + 13, 0x7f, CIP_ERR_TRUNCATED },
    };
    blz_folder f;
    blz_start(&f);
    blz_array_at(&f, "");
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        blz_chunk(&f, "data/__1.blp", 100, 100);
        int fd = open(scratch_path(&f.dir, "data/__1.blp"), O_WRONLY);
        assert_int_equal(pwrite(fd, &row[i].byte, 1, (off_t)row[i].at), 1);
        close(fd);
        assert_int_equal(blz_open(&f), CIP_OK);
        assert_int_equal(blz_read(&f, 0, 150), row[i].st);
        assert_int_equal(blz_read(&f, 0, 50), CIP_OK);
        assert_non_null(strstr(blz_verify(&f).text, "__1.blp"));
        blz_close(&f);
    }
    blz_end(&f);
}

static void links_that_leave_the_folder_are_refused(void **state)
{
    (void)state;
    blz_folder f, other;
    blz_start(&other);
    blz_array_at(&other, "");
    blz_start(&f);
    blz_array_at(&f, "");
    unlink(scratch_path(&f.dir, "data/__1.blp"));
    assert_int_equal(
        symlink(scratch_path(&other.dir, "data/__1.blp"), scratch_path(&f.dir, "data/__1.blp")), 0);
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_int_equal(blz_read(&f, 0, 150), CIP_ERR_CORRUPT);
    assert_int_equal(blz_read(&f, 0, 50), CIP_OK);
    blz_close(&f);
    assert_int_equal(blz_open_flags(&f, CIP_OPEN_EXTERNAL), CIP_OK);
    assert_int_equal(blz_read(&f, 0, 150), CIP_OK);
    blz_end(&f);
    scratch_close(&other.dir);
}

static void objects_are_listed_and_their_bytes_are_blocks(void **state)
{
    (void)state;
    blz_folder f;
    blz_start(&f);
    blz_array_at(&f, "");
    blz_text(&f, "meta/storage", "{\"dtype\": \"object\", \"chunklen\": 1, \"cparams\": {}}");
    blz_text(&f, "meta/sizes", "{\"shape\": [3], \"nbytes\": 123, \"cbytes\": 900}");
    assert_int_equal(blz_open(&f), CIP_OK);
    const cip_array *a = f.layout->array[0];
    assert_string_equal(cip_dtype_name(a->dtype), "object");
    assert_int_equal(a->st, CIP_ERR_UNSUPPORTED);
    assert_int_equal(f.layout->list_blocks(f.layout, &f.err), CIP_OK);
    assert_int_equal(f.layout->nblock, 3);
    const cip_block *b = &f.layout->block[2];
    uint8_t raw[400];
    const cip_read_how how = { f.layout, NULL };
    assert_string_equal(b->info.member, "data/__2.blp");
    assert_int_equal(b->data->len, 400);
    assert_int_equal(b->stored->len, b->info.stored_nbytes);
    assert_int_equal(cip_space_read_at(&how, b->data, 0, raw, sizeof raw, &f.err), CIP_OK);
    assert_int_equal(cip_load_u64(raw + 392, false), 249);
    assert_int_equal(blz_verify(&f).count[CIP_BAD], 0);
    blz_end(&f);
}

static void metadata_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        cip_status st;
    } row[] = {
        { "meta/sizes", "{\"shape\": [4611686018427387904]}", CIP_ERR_CORRUPT },
        { "meta/sizes", "{\"shape\": [100000000000000]}", CIP_ERR_LIMIT }, /* files */
        { "meta/sizes", "{\"shape\": []}", CIP_ERR_CORRUPT },
        { "meta/sizes", "[]", CIP_ERR_CORRUPT },
        { "meta/sizes", "{\"shape\": [2.5]}", CIP_ERR_CORRUPT },
        { "meta/storage", "{\"dtype\": \"int64\", \"chunklen\": 0}", CIP_ERR_CORRUPT },
        { "meta/storage", "{\"dtype\": \"int64\", \"chunklen\": 300000000}", CIP_ERR_CORRUPT },
        { "meta/storage", "{\"dtype\": 5, \"chunklen\": 100}", CIP_ERR_CORRUPT },
        { "meta/storage", "{\"dtype\": \"nope\", \"chunklen\": 100}", CIP_ERR_CORRUPT },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        blz_folder f;
        blz_start(&f);
        blz_array_at(&f, "");
        blz_text(&f, row[i].name, row[i].text);
        assert_int_equal(blz_open(&f), row[i].st);
        assert_true(row[i].st == CIP_ERR_LIMIT || strncmp(f.err.part, "meta/", 5) == 0);
        blz_end(&f);
    }
}

static void dtypes_come_as_text_or_as_lists(void **state)
{
    (void)state;
    static const char *const row[][2] = {
        { "\"|S8\"", "ascii8" },
        { "\"<U2\"", "ucs4-2" },
        { "\">i8\"", "int64" },
        { "\"datetime64[ns]\"", "datetime64[ns]" },
        { "\"[('a', '<i4'), ('b', '<f4')]\"", "{a: int32, b: float32}" },
        { "[[\"a\", \"<i4\"], [\"it's\", \"<f4\"]]", "{a: int32, 'it\\'s': float32}" },
        { "[[\"a\", \"<i2\", [2]], [\"b\", [[\"c\", \"<i2\"], [\"d\", \"u1\", 2]]]]",
          "{a: int16[2], b: {c: int16, d: uint8[2]}}" },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        blz_folder f;
        char text[200];
        blz_start(&f);
        blz_array_at(&f, "");
        snprintf(text, sizeof text, "{\"dtype\": %s, \"chunklen\": 100}", row[i][0]);
        blz_text(&f, "meta/storage", text);
        assert_int_equal(blz_open(&f), CIP_OK);
        assert_string_equal(cip_dtype_name(f.layout->array[0]->dtype), row[i][1]);
        blz_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_is_read_whatever_lies_beside),
        cmocka_unit_test(a_missing_chunk_costs_its_own_rows),
        cmocka_unit_test(sizes_that_promise_more_cost_what_is_not_there),
        cmocka_unit_test(sizes_that_promise_less_show_less),
        cmocka_unit_test(chunks_that_do_not_fit_are_refused),
        cmocka_unit_test(links_that_leave_the_folder_are_refused),
        cmocka_unit_test(objects_are_listed_and_their_bytes_are_blocks),
        cmocka_unit_test(metadata_that_lie_are_refused),
        cmocka_unit_test(dtypes_come_as_text_or_as_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
