/* SPDX-License-Identifier: BSD-3-Clause
 * Stores as they should be: which chunks are read, what is where nothing was written, the tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/fail_alloc.h"
#include "support/format/zarr/zarr_testing.h"

static void chunks_are_padded_and_missing_ones_are_the_fill_value(void **state)
{
    (void)state;
    zarr_folder f;
    zarr_start(&f);
    zarr_text(&f, "zarr.json", ZARR_ARRAY("[3, 3]", "[2, 2]", "[" ZARR_BYTES "]"));
    zarr_chunk(&f, "c/0/0", 0, 4);
    zarr_chunk(&f, "c/1/1", 40, 4);
    assert_int_equal(zarr_open(&f), CIP_OK);
    assert_int_equal(f.layout->narray, 1);
    static const int32_t want[] = { 0, 1, 7, 2, 3, 7, 7, 7, 40 };
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(zarr_at(&f, 0, i), want[i]);
    assert_int_equal(zarr_verify(&f).count[CIP_BAD], 0);
    zarr_end(&f);
}

static void keys_of_version_2_are_flat_or_paths(void **state)
{
    (void)state;
    for (int slash = 0; slash < 2; slash++) {
        zarr_folder f;
        char text[400];
        zarr_start(&f);
        snprintf(text, sizeof text,
                 "{\"zarr_format\": 2, \"shape\": [2, 4], \"chunks\": [1, 2], \"dtype\": \"<i4\", "
                 "\"compressor\": null, \"fill_value\": null, \"order\": \"C\", \"filters\": null, "
                 "\"dimension_separator\": \"%s\"}",
                 slash ? "/" : ".");
        zarr_text(&f, "a/.zarray", text);
        zarr_text(&f, ".zgroup", "{\"zarr_format\": 2}");
        zarr_text(&f, "a/.zattrs", "{\"_ARRAY_DIMENSIONS\": [\"t\", \"x\"], \"unit\": \"m\"}");
        zarr_chunk(&f, slash ? "a/1/1" : "a/1.1", 5, 2);
        assert_int_equal(zarr_open(&f), CIP_OK);
        assert_string_equal(f.layout->version, "2");
        assert_string_equal(f.layout->array[0]->path, "a");
        assert_int_equal(zarr_at(&f, 0, 0), 0);
        assert_int_equal(zarr_at(&f, 0, 6), 5);
        assert_int_equal(zarr_at(&f, 0, 7), 6);
        const cip_node *t = f.layout->tree;
        assert_true(cip_node_is_string(cip_tree_get(t, "dims/a/1", NULL), "x"));
        assert_true(cip_node_is_string(cip_tree_get(t, "attrs/a/unit", NULL), "m"));
        assert_null(cip_tree_get(t, "attrs/a/_ARRAY_DIMENSIONS", NULL));
        assert_int_equal(zarr_verify(&f).count[CIP_BAD], 0);
        zarr_end(&f);
    }
}

static void shards_give_their_chunks(void **state)
{
    (void)state;
    static const uint64_t some[] = { 8, 8, UINT64_MAX, UINT64_MAX, 0, 8 };
    zarr_folder f;
    zarr_start(&f);
    zarr_text(&f, "zarr.json",
              ZARR_ARRAY("[18]", "[6]", "[" ZARR_SHARDS("[2]", "[" ZARR_BYTES "]") "]"));
    zarr_shard(&f, "c/0", 3, NULL);
    zarr_shard(&f, "c/2", 3, some);
    assert_int_equal(zarr_open(&f), CIP_OK);
    static const int32_t want[] = { 0, 1, 2, 3, 4, 5, 7, 7, 7, 7, 7, 7, 2, 3, 7, 7, 0, 1 };
    for (size_t i = 0; i < 18; i++)
        assert_int_equal(zarr_at(&f, 0, i), want[i]);
    assert_int_equal(zarr_verify(&f).count[CIP_BAD], 0);
    zarr_end(&f);
}

/* 2^40 chunks, of which one is there: what is missing is found from names. */
static void missing_chunks_are_runs(void **state)
{
    (void)state;
    static const char *const key[] = { "c/3/5", "c.3.5" };
    for (int flat = 0; flat < 2; flat++) {
        zarr_folder f;
        zarr_start(&f);
        zarr_text(&f, "zarr.json",
                  flat ? "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [4000, 4000], "
                         "\"data_type\": \"int32\", \"chunk_grid\": {\"name\": \"regular\", "
                         "\"configuration\": {\"chunk_shape\": [1, 1]}}, \"chunk_key_encoding\": "
                         "{\"name\": \"default\", \"configuration\": {\"separator\": \".\"}}, "
                         "\"fill_value\": 0, \"codecs\": [" ZARR_BYTES "]}"
                       : ZARR_ARRAY("[4000, 4000]", "[1, 1]", "[" ZARR_BYTES "]"));
        zarr_chunk(&f, key[flat], 9, 1);
        assert_int_equal(zarr_open(&f), CIP_OK);
        cip_zarr *z = f.layout->own;
        static const uint64_t from[] = { 0, 4000, 3 * 4000, 3 * 4000 + 6, 4 * 4000 };
        static const uint64_t end[2][5] = {
            { 3 * 4000, 3 * 4000, 3 * 4000 + 5, 4 * 4000, 16000000 },
            { 3 * 4000 + 5, 3 * 4000 + 5, 3 * 4000 + 5, 16000000, 16000000 }
        };
        for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
            cip_chunk c = { .run = 0 };
            assert_int_equal(cip_zarr_find(z->array[0], 0, from[i], &c, NULL), CIP_OK);
            assert_int_equal(c.state, flat ? CIP_CHUNK_ZERO : CIP_CHUNK_VALUE);
            assert_int_equal(from[i] + c.run, end[flat][i]);
        }
        assert_int_equal(zarr_at(&f, 0, 3 * 4000 + 5), 9);
        zarr_end(&f);
    }
}

static void a_transposed_array_is_a_view(void **state)
{
    (void)state;
    zarr_folder f;
    zarr_start(&f);
    zarr_text(&f, "zarr.json",
              ZARR_ARRAY("[2, 3]", "[2, 3]",
                         "[{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}}, "
                         "" ZARR_BYTES "]"));
    zarr_chunk(&f, "c/0/0", 0, 6);
    assert_int_equal(zarr_open(&f), CIP_OK);
    const cip_array *a = f.layout->array[0];
    assert_int_equal(a->view.shape[0], 2);
    assert_int_equal(a->view.stride[0], 4);
    assert_int_equal(a->view.stride[1], 8);
    assert_true(a->f_order);
    zarr_end(&f);
}

static void groups_are_mappings(void **state)
{
    (void)state;
    zarr_folder f;
    zarr_start(&f);
    zarr_text(&f, "zarr.json",
              "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {\"title\": \"t\", "
              "\"g\": 1}}");
    zarr_text(&f, "g/zarr.json", ZARR_GROUP);
    zarr_text(&f, "g/a~b/zarr.json", ZARR_ARRAY("[1]", "[1]", "[" ZARR_BYTES "]"));
    zarr_text(&f, "other/file", "not of the store");
    assert_int_equal(zarr_open(&f), CIP_OK);
    assert_string_equal(f.layout->array[0]->path, "g/a~0b");
    assert_true(cip_node_is_string(cip_tree_get(f.layout->tree, "title", NULL), "t"));
    assert_non_null(cip_tree_get(f.layout->tree, "_g", NULL));
    assert_ptr_equal(cip_tree_get(f.layout->tree, "g/a~0b", NULL), f.layout->array[0]->node);
    zarr_end(&f);
}

static void consolidated_metadata_count(void **state)
{
    (void)state;
    zarr_folder f;
    zarr_start(&f);
    zarr_text(&f, "zarr.json",
              "{\"zarr_format\": 3, \"node_type\": \"group\", \"consolidated_metadata\": {"
              "\"kind\": \"inline\", \"must_understand\": false, \"metadata\": {"
              "\"b/x\": " ZARR_ARRAY("[1]", "[1]", "[" ZARR_BYTES "]") ", \"b\": " ZARR_GROUP
                                                                       ", \"a\": " ZARR_GROUP
                                                                       ", \"../c\": " ZARR_GROUP
                                                                       ", \"lost/y\": " ZARR_GROUP
                                                                       "}}}");
    zarr_text(&f, "unseen/zarr.json", ZARR_GROUP);
    zarr_chunk(&f, "b/x/c/0", 3, 1);
    assert_int_equal(zarr_open(&f), CIP_OK);
    assert_int_equal(f.layout->narray, 1);
    assert_int_equal(zarr_at(&f, 0, 0), 3);
    assert_non_null(cip_tree_get(f.layout->tree, "a", NULL));
    assert_null(cip_tree_get(f.layout->tree, "unseen", NULL));
    assert_int_equal(f.env.warnings.count[CIP_WARN], 2);
    zarr_end(&f);
}

static void checksums_of_the_standard(void **state)
{
    (void)state;
    assert_int_equal(cip_zarr_crc32c(0, "123456789", 9), 0xE3069283);
    assert_int_equal(cip_zarr_crc32c(cip_zarr_crc32c(0, "1234567890", 4), "56789", 5), 0xE3069283);
    assert_int_equal(cip_zarr_crc32c(0, "", 0), 0);
}

static void keys_and_numbers_are_inverse(void **state)
{
    (void)state;
    zarr_folder f;
    uint64_t n;
    char key[64];
    zarr_start(&f);
    zarr_text(&f, "zarr.json", ZARR_ARRAY("[5, 7]", "[1, 1]", "[" ZARR_BYTES "]"));
    assert_int_equal(zarr_open(&f), CIP_OK);
    const cip_zarr *z = f.layout->own;
    for (uint64_t i = 0; i < 35; i++) {
        cip_zarr_key(z->array[0], i, key, sizeof key);
        assert_true(cip_zarr_number(z->array[0], key, &n));
        assert_int_equal(n, i);
    }
    static const char *const none[] = { "c/5/0", "c/0/7",  "c/00/0", "c/0",    "c/0/0/0", "c.0.0",
                                        "0/0",   "c/ 0/0", "c/0/0x", "c/-1/0", "c",       "" };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(cip_zarr_number(z->array[0], none[i], &n));
    zarr_end(&f);
}

static void failing_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    zarr_folder f;
    zarr_start(&f);
    zarr_text(&f, "zarr.json", ZARR_GROUP);
    zarr_text(
        &f, "a/zarr.json",
        ZARR_ARRAY("[18]", "[6]", "[" ZARR_SHARDS("[2]", "[" ZARR_BYTES ", " ZARR_CRC "]") "]"));
    zarr_shard(&f, "a/c/0", 3, NULL);
    for (uint64_t n = 1;; n++) {
        fail_alloc bad = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &bad };
        const cip_status st = zarr_open_from(&f, &from);
        zarr_close(&f);
        if (st == CIP_OK)
            break;
        assert_int_equal(st, CIP_ERR_NOMEM);
    }
    scratch_close(&f.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_padded_and_missing_ones_are_the_fill_value),
        cmocka_unit_test(keys_of_version_2_are_flat_or_paths),
        cmocka_unit_test(shards_give_their_chunks),
        cmocka_unit_test(missing_chunks_are_runs),
        cmocka_unit_test(a_transposed_array_is_a_view),
        cmocka_unit_test(groups_are_mappings),
        cmocka_unit_test(consolidated_metadata_count),
        cmocka_unit_test(checksums_of_the_standard),
        cmocka_unit_test(keys_and_numbers_are_inverse),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
