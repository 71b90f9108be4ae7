/* SPDX-License-Identifier: BSD-3-Clause
 * Stores that are damaged or lie: arrays are refused one by one, with what was expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/zarr/zarr_testing.h"

/* The only array of a store, refused like that. */
static void refused(const char *text, cip_status st, const char *why)
{
    zarr_folder f;
    zarr_start(&f);
    zarr_text(&f, "zarr.json", text);
    const cip_status got = zarr_open(&f);
    assert_int_equal(got, CIP_OK);
    assert_int_equal(f.layout->array[0]->st, st);
    if (strstr(f.layout->array[0]->why->text, why) == NULL)
        fail_msg("expected '%s' in '%s'", why, f.layout->array[0]->why->text);
    zarr_end(&f);
}

static void metadata_that_cannot_be_are_refused(void **state)
{
    (void)state;
    refused(ZARR_ARRAY("[3]", "[0]", "[" ZARR_BYTES "]"), CIP_ERR_CORRUPT, "at least 1");
    refused(ZARR_ARRAY("[-3]", "[1]", "[" ZARR_BYTES "]"), CIP_ERR_CORRUPT, "at least 0");
    refused(ZARR_ARRAY("[3]", "[1, 1]", "[" ZARR_BYTES "]"), CIP_ERR_CORRUPT, "1 lengths, found 2");
    refused(ZARR_ARRAY("[3, 3]", "[4611686018427387904, 4611686018427387904]", "[" ZARR_BYTES "]"),
            CIP_ERR_CORRUPT, "2^63");
    refused(ZARR_ARRAY("[4611686018427387904]", "[1]", "[" ZARR_BYTES "]"), CIP_ERR_UNSUPPORTED,
            "2^63");
    refused(ZARR_ARRAY("[1152921504606846976]", "[1]", "[" ZARR_BYTES "]"), CIP_ERR_LIMIT,
            "chunks in the store");
    refused(ZARR_ARRAY("[4]", "[4]", "[" ZARR_SHARDS("[3]", "[" ZARR_BYTES "]") "]"),
            CIP_ERR_CORRUPT, "divides the shard");
    refused(ZARR_ARRAY("[4]", "[4]", "[" ZARR_SHARDS("[0]", "[" ZARR_BYTES "]") "]"),
            CIP_ERR_CORRUPT, "divides the shard");
    refused(
        ZARR_ARRAY("[4]", "[4611686018427387904]", "[" ZARR_SHARDS("[1]", "[" ZARR_BYTES "]") "]"),
        CIP_ERR_CORRUPT, "2^63");
    refused(ZARR_ARRAY("[4]", "[4]", "[" ZARR_BYTES ", {\"name\": \"lzma\"}]"), CIP_ERR_UNSUPPORTED,
            "'lzma'");
    refused(ZARR_ARRAY("[4]", "[4]", "[{\"name\": \"bytes\"}]"), CIP_ERR_CORRUPT, "endian");
    refused(ZARR_ARRAY("[4]", "[4]", "[]"), CIP_ERR_UNSUPPORTED, "found neither");
    refused(ZARR_ARRAY("[4]", "[4]", "{}"), CIP_ERR_CORRUPT, "expected a list");
    refused(ZARR_ARRAY("[4]", "[4]", "[" ZARR_BYTES "], \"new\": {}"), CIP_ERR_UNSUPPORTED,
            "'new'");
    refused(ZARR_ARRAY("[4, 4]", "[4, 4]",
                       "[{\"name\": \"transpose\", \"configuration\": {\"order\": [0, 0]}}, "
                       "" ZARR_BYTES "]"),
            CIP_ERR_CORRUPT, "an order of 2 axes");
    refused(ZARR_ARRAY("[4]", "[4]", "[" ZARR_BYTES "], \"data_type\": \"bfloat16\""),
            CIP_ERR_UNSUPPORTED, "'bfloat16'");
    refused(ZARR_ARRAY("[4]", "[4]", "[" ZARR_BYTES "], \"data_type\": \"string\""),
            CIP_ERR_UNSUPPORTED, "'string'");
    refused(ZARR_ARRAY("[4]", "[4]", "[" ZARR_BYTES "], \"fill_value\": \"x\""),
            CIP_ERR_UNSUPPORTED, "fill_value");
    refused(ZARR_ARRAY("[4]", "[4]", "[" ZARR_BYTES "], \"fill_value\": 4294967296"),
            CIP_ERR_UNSUPPORTED, "fill_value");
}

#define SHARDS(inner, n)                                                                           \
    ZARR_ARRAY("[" n "]", "[" n "]", "[" ZARR_SHARDS("[" inner "]", "[" ZARR_BYTES "]") "]")

static void a_shard_that_is_nested_too_deep_is_refused(void **state)
{
    (void)state;
    refused(
        ZARR_ARRAY("[2]", "[2]",
                   "[" ZARR_SHARDS(
                       "[2]", "[" ZARR_SHARDS(
                                  "[2]", "[" ZARR_SHARDS(
                                             "[2]", "[" ZARR_SHARDS("[2]", "[" ZARR_BYTES
                                                                           "]") "]") "]") "]") "]"),
        CIP_ERR_LIMIT, "deep");
}

static void entries_outside_the_shard_fail_alone(void **state)
{
    (void)state;
    static const uint64_t bad[] = { 0, 8, 1000, 8, UINT64_MAX - 3, 8, 16, UINT64_MAX - 1 };
    zarr_folder f;
    int32_t v;
    zarr_start(&f);
    zarr_text(&f, "zarr.json", SHARDS("2", "8"));
    zarr_shard(&f, "c/0", 4, bad);
    assert_int_equal(zarr_open(&f), CIP_OK);
    assert_int_equal(zarr_at(&f, 0, 1), 1);
    for (uint64_t i = 1; i < 4; i++) {
        assert_int_equal(zarr_read(&f, 0, 2 * i, &v), CIP_ERR_CORRUPT);
        assert_non_null(strstr(f.err.text, "of its shard"));
    }
    assert_int_equal(zarr_verify(&f).count[CIP_BAD], 3);
    zarr_end(&f);
}

static void entries_that_overlap_are_told(void **state)
{
    (void)state;
    static const uint64_t bad[] = { 0, 8, 4, 8 };
    static const uint64_t in_index[] = { 0, 8, 12, 8 };
    const uint64_t *const entry[] = { bad, in_index };
    for (size_t i = 0; i < 2; i++) {
        zarr_folder f;
        zarr_start(&f);
        zarr_text(&f, "zarr.json", SHARDS("2", "4"));
        zarr_shard(&f, "c/0", 2, entry[i]);
        assert_int_equal(zarr_open(&f), CIP_OK);
        const zarr_findings found = zarr_verify(&f);
        assert_int_equal(found.count[CIP_BAD], 1);
        assert_non_null(strstr(found.text, "one beside the other"));
        zarr_end(&f);
    }
}

static void a_damaged_index_is_no_data(void **state)
{
    (void)state;
    zarr_folder f;
    int32_t v;
    zarr_start(&f);
    zarr_text(&f, "zarr.json", SHARDS("2", "8"));
    zarr_shard(&f, "c/0", 4, NULL);
    FILE *file = fopen(scratch_path(&f.dir, "c/0"), "r+b");
    fseek(file, 40, SEEK_SET);
    fputc(1, file);
    fclose(file);
    assert_int_equal(zarr_open(&f), CIP_OK);
    assert_int_equal(zarr_read(&f, 0, 0, &v), CIP_ERR_CHECKSUM);
    assert_int_equal(zarr_verify(&f).count[CIP_BAD], 1);
    zarr_bytes(&f, "c/0", "short", 5);
    zarr_close(&f);
    assert_int_equal(zarr_open(&f), CIP_OK);
    assert_int_equal(zarr_read(&f, 0, 0, &v), CIP_ERR_TRUNCATED);
    zarr_end(&f);
}

static void chunks_of_another_size_are_no_data(void **state)
{
    (void)state;
    static const char text[] = ZARR_ARRAY("[8]", "[4]", "[" ZARR_BYTES ", " ZARR_CRC "]");
    zarr_folder f;
    int32_t v;
    zarr_start(&f);
    zarr_text(&f, "zarr.json", text);
    uint8_t chunk[20] = { 0 };
    cip_store_u32(chunk + 12, cip_zarr_crc32c(0, chunk, 12), false);
    zarr_bytes(&f, "c/0", chunk, 16); /* three elements, whose checksum fits */
    zarr_bytes(&f, "c/1", chunk, 20); /* a checksum of others */
    assert_int_equal(zarr_open(&f), CIP_OK);
    assert_int_equal(zarr_read(&f, 0, 0, &v), CIP_ERR_TRUNCATED);
    assert_int_equal(zarr_read(&f, 0, 4, &v), CIP_ERR_CHECKSUM);
    assert_int_equal(zarr_verify(&f).count[CIP_BAD], 1);
    zarr_text(&f, "zarr.json", ZARR_ARRAY("[8]", "[4]", "[" ZARR_BYTES "]"));
    zarr_close(&f);
    assert_int_equal(zarr_open(&f), CIP_OK);
    assert_int_equal(zarr_at(&f, 0, 0), 0);
    assert_int_equal(zarr_read(&f, 0, 4, &v), CIP_ERR_CORRUPT);
    assert_int_equal(zarr_verify(&f).count[CIP_BAD], 1);
    zarr_end(&f);
}

static void names_that_stand_for_nothing_are_told(void **state)
{
    (void)state;
    zarr_folder f;
    zarr_start(&f);
    zarr_text(&f, "zarr.json", ZARR_ARRAY("[8]", "[4]", "[" ZARR_BYTES "]"));
    zarr_chunk(&f, "c/2", 0, 4);
    zarr_chunk(&f, "c/x", 0, 4);
    zarr_text(&f, "notes.txt", "");
    assert_int_equal(zarr_open(&f), CIP_OK);
    assert_int_equal(zarr_verify(&f).count[CIP_NOTE], 3);
    zarr_end(&f);
}

static void a_link_in_a_circle_ends(void **state)
{
    (void)state;
    zarr_folder f;
    zarr_start(&f);
    zarr_text(&f, "zarr.json", ZARR_GROUP);
    zarr_text(&f, "g/zarr.json", ZARR_GROUP);
    assert_int_equal(symlink("../g", scratch_path(&f.dir, "g/again")), 0);
    assert_int_equal(symlink("/", scratch_path(&f.dir, "g/out")), 0);
    assert_int_equal(zarr_open(&f), CIP_OK);
    assert_int_equal(f.layout->narray, 0);
    assert_true(f.env.warnings.count[CIP_WARN] != 0);
    zarr_end(&f);
}

static void what_is_no_json_leaves_out_its_member(void **state)
{
    (void)state;
    zarr_folder f;
    zarr_start(&f);
    zarr_text(&f, "zarr.json", ZARR_GROUP);
    zarr_text(&f, "a/zarr.json", "{\"zarr_format\": 3");
    zarr_text(&f, "b/zarr.json", "{\"zarr_format\": 4, \"node_type\": \"group\"}");
    zarr_text(&f, "c/zarr.json", "{\"zarr_format\": 3, \"node_type\": \"ball\"}");
    zarr_text(&f, "d/zarr.json", ZARR_ARRAY("[1]", "[1]", "[" ZARR_BYTES "]"));
    assert_int_equal(zarr_open(&f), CIP_OK);
    assert_int_equal(f.layout->narray, 1);
    assert_int_equal(f.env.warnings.count[CIP_WARN], 3);
    zarr_end(&f);
    zarr_start(&f);
    zarr_text(&f, "zarr.json", "{\"zarr_format\": 3");
    assert_int_equal(zarr_open(&f), CIP_ERR_CORRUPT);
    zarr_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_that_cannot_be_are_refused),
        cmocka_unit_test(a_shard_that_is_nested_too_deep_is_refused),
        cmocka_unit_test(entries_outside_the_shard_fail_alone),
        cmocka_unit_test(entries_that_overlap_are_told),
        cmocka_unit_test(a_damaged_index_is_no_data),
        cmocka_unit_test(chunks_of_another_size_are_no_data),
        cmocka_unit_test(names_that_stand_for_nothing_are_told),
        cmocka_unit_test(a_link_in_a_circle_ends),
        cmocka_unit_test(what_is_no_json_leaves_out_its_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
