/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of arrays that the old programs wrote: what becomes of each file, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/blz/blz_update.h"
#include "support/format/blz/blz_update_testing.h"

/* --- rows ------------------------------------------------------------------------------------- */

static void a_chunk_that_changes_replaces_its_file(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    start(&f);
    OK(&j, job_open(&j, &f));
    OK(&j, put_rows(&j, 0, 195, 10, 5000));
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j), "replaced data/__1.blp\nreplaced data/__2.blp\n"
                                        "last replaced meta/sizes\n");
    for (uint64_t i = 0; i < 250; i++)
        assert_int_equal(value_at(&j, 0, i), i >= 195 && i < 205 ? 5000 + i - 195 : i);
    job_close(&j);
    blz_end(&f);
}

static void rows_behind_the_end_fill_the_last_chunk(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    start(&f);
    OK(&j, job_open(&j, &f));
    OK(&j, put_rows(&j, 0, 250, 200, 250));
    OK(&j, put_rows(&j, 0, 450, 1, 450));
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j),
                        "replaced data/__2.blp\nmade data/__3.blp\nmade data/__4.blp\n"
                        "last replaced meta/sizes\n");
    assert_int_equal(j.layout->array[0]->view.shape[0], 451);
    for (uint64_t i = 0; i < 451; i++)
        assert_int_equal(value_at(&j, 0, i), i);
    assert_int_equal(f.env.warnings.count[CIP_WARN], 0);
    job_close(&j);
    blz_end(&f);
}

static void fewer_rows_remove_files(void **state)
{
    (void)state;
    static const struct {
        int64_t rows;
        const char *changes;
    } row[] = {
        /* without data the folder is the old programs' by its attributes */
        { 120, "replaced data/__1.blp\ngone data/__2.blp\ngone data/__9.blp\n" },
        { 100, "gone data/__1.blp\ngone data/__2.blp\ngone data/__9.blp\n" },
        { 0, "made __attrs__\ngone data/__0.blp\ngone data/__1.blp\ngone data/__2.blp\ngone "
             "data/__9.blp\n" },
        { 250, "gone data/__9.blp\n" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        blz_folder f;
        job j;
        char all[300];
        start(&f);
        blz_chunk(&f, "data/__9.blp", 0, 100); /* left over: rows do not go on there */
        OK(&j, job_open(&j, &f));
        OK(&j, resize(&j, 0, row[i].rows));
        OK(&j, job_finish(&j));
        snprintf(all, sizeof all, "%slast replaced meta/sizes\n", row[i].changes);
        assert_string_equal(changes_of(&j), all);
        assert_int_equal(j.layout->array[0]->view.shape[0], row[i].rows);
        for (int64_t k = 0; k < row[i].rows; k++)
            assert_int_equal(value_at(&j, 0, (uint64_t)k), k);
        job_close(&j);
        blz_end(&f);
    }
}

/* As they counted: the stored bytes of full chunks, in BLZ 128 more for each, and room for one. */
static void sizes_count_as_the_programs_did(void **state)
{
    (void)state;
    for (int blz = 0; blz < 2; blz++) {
        blz_folder f;
        job j;
        cip_blosc_head head;
        cip_extent at;
        int64_t want = 800, found;
        start(&f);
        if (blz)
            blz_text(&f, "meta/storage",
                     "{\"dtype\": \"int64\", \"bparams\": {\"clevel\": 5, "
                     "\"shuffle\": true}, \"chunklen\": 100}");
        blz_text(&f, "meta/sizes", "{\"shape\": [250], \"more\": 1, \"nbytes\": 2000}");
        OK(&j, job_open(&j, &f));
        OK(&j, put_rows(&j, 0, 250, 160, 7));
        OK(&j, job_finish(&j));
        const cip_blz_column *c = ((cip_blz *)j.layout->own)->column[0];
        for (uint64_t i = 0; i < 4; i++) {
            assert_int_equal(cip_blz_chunk_head(c, i, &head, &at, NULL), CIP_OK);
            want += head.cbytes + (blz ? 128 : 0);
        }
        assert_true(cip_node_as_int(cip_map_get(c->meta.sizes, "cbytes"), &found));
        assert_int_equal(found, want);
        assert_non_null(cip_map_get(c->meta.sizes, "more"));
        assert_true(cip_node_as_int(cip_map_get(c->meta.sizes, "nbytes"), &found));
        assert_int_equal(found, 3280);
        job_close(&j);
        blz_end(&f);
    }
}

/* What a program that was cut off left behind the rows was never counted. */
static void files_left_over_take_nothing_from_the_count(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    int64_t found;
    start(&f);
    blz_chunk(&f, "data/__3.blp", 300, 100);
    blz_text(&f, "meta/sizes", "{\"shape\": [250], \"nbytes\": 2000, \"cbytes\": 5000}");
    OK(&j, job_open(&j, &f));
    OK(&j, resize(&j, 0, 200));
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j), "gone data/__2.blp\ngone data/__3.blp\n"
                                        "last replaced meta/sizes\n");
    const cip_blz_column *c = ((cip_blz *)j.layout->own)->column[0];
    assert_true(cip_node_as_int(cip_map_get(c->meta.sizes, "cbytes"), &found));
    assert_int_equal(found, 5000); /* of __2.blp neither: it was not full */
    job_close(&j);
    blz_end(&f);
}

static void chunks_are_stored_as_storage_says(void **state)
{
    (void)state;
    static const struct {
        const char *params;
        int compcode;
        uint8_t filter;
    } row[] = {
        { "\"cparams\": {\"clevel\": 3, \"shuffle\": 2, \"cname\": \"zlib\"}", CIP_BLOSC_ZLIB,
          CIP_BLOSC_BITSHUFFLE },
        { "\"cparams\": {\"clevel\": 3, \"shuffle\": false, \"cname\": \"lz4hc\"}", CIP_BLOSC_LZ4,
          CIP_BLOSC_NOFILTER },
        { "\"cparams\": {\"clevel\": 9, \"shuffle\": 1, \"cname\": \"snappy\"}", CIP_BLOSC_BLOSCLZ,
          CIP_BLOSC_SHUFFLE },
        { "\"bparams\": {\"clevel\": 5, \"shuffle\": true}", CIP_BLOSC_BLOSCLZ, CIP_BLOSC_SHUFFLE },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        blz_folder f;
        job j;
        char text[300];
        cip_blosc_head head;
        cip_extent at;
        start(&f);
        snprintf(text, sizeof text, "{\"dtype\": \"int64\", %s, \"chunklen\": 100}", row[i].params);
        blz_text(&f, "meta/storage", text);
        OK(&j, job_open(&j, &f));
        OK(&j, put_rows(&j, 0, 0, 1, 3));
        OK(&j, job_finish(&j));
        const cip_blz_column *c = ((cip_blz *)j.layout->own)->column[0];
        assert_int_equal(cip_blz_chunk_head(c, 0, &head, &at, NULL), CIP_OK);
        assert_int_equal(head.compcode, row[i].compcode);
        assert_int_equal(head.filter[CIP_BLOSC_FILTERS - 1], row[i].filter);
        assert_int_equal(head.header, 16);
        job_close(&j);
        blz_end(&f);
    }
}

/* --- what new rows hold ----------------------------------------------------------------------- */

static void new_rows_hold_what_dflt_says(void **state)
{
    (void)state;
    static const struct {
        const char *dtype, *dflt, *shape;
        const char *hex; /* NULL: zeros */
    } row[] = {
        { "int64", "-7", "0", "f9ffffffffffffff" },
        { "int64", "0", "0", NULL },
        { ">i4", "258", "0", "00000102" },
        { "uint64", "18446744073709551614", "0", "feffffffffffffff" },
        { "float32", "1.5", "0", "0000c03f" },
        { "bool", "true", "0", "01" },
        { "|S3", "\"ab\"", "0", "616200" },
        { "|S3", "\"\"", "0", NULL },
        { "<U2", "\"x\"", "0", "7800000000000000" },
        { "int16", "[1, 2]", "0, 2", "01000200" },
        { "int16", "3", "0, 2", "03000300" },
        { "complex64", "[1.0, 0.0]", "0", "0000803f00000000" },
        { "datetime64[ns]", "0", "0", NULL },
        { "[('a', '<i2'), ('b', 'u1')]", "[1, 2]", "0", "010002" },
        { "[('a', 'u1'), ('b', 'V2')]", "[1, \"\"]", "0", "010000" },
        { "[('p', [('x', 'u1'), ('y', 'u1', (2,))], (3,))]", "[[1, 2]]", "0",
          "010202010202010202" },
        { "[('p', [('x', 'u1'), ('y', 'u1')], (2,))]", "[[[1, 2], [3, 4]]]", "0", "01020304" },
        { "[('p', [('a', [('x', 'u1')]), ('b', [('x', 'u1')])], (2,))]", "[[[9], [0]]]", "0",
          "09000900" },
        { "complex64", "[1.0, 0.0]", "0, 2", "0000803f000000000000803f00000000" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        blz_folder f;
        job j;
        char text[300], hex[40] = "";
        const uint8_t *fill;
        start(&f);
        snprintf(text, sizeof text,
                 "{\"dtype\": \"%s\", \"cparams\": {}, \"chunklen\": 100, \"dflt\": %s}",
                 row[i].dtype, row[i].dflt);
        blz_text(&f, "meta/storage", text);
        blz_text(&f, "__attrs__", "{}");
        snprintf(text, sizeof text, "{\"shape\": [%s]}", row[i].shape);
        blz_text(&f, "meta/sizes", text);
        for (int k = 0; k < 3; k++) {
            snprintf(text, sizeof text, "data/__%d.blp", k);
            unlink(scratch_path(&f.dir, text));
        }
        OK(&j, job_open(&j, &f));
        const cip_blz_meta *m = &((cip_blz *)f.layout->own)->column[0]->meta;
        OK(&j, cip_blz_dflt(&j.arena, m, &fill, &j.err));
        for (uint64_t k = 0; fill != NULL && k < m->row; k++)
            snprintf(hex + 2 * k, 3, "%02x", fill[k]);
        assert_string_equal(hex, row[i].hex != NULL ? row[i].hex : "");
        job_close(&j);
        blz_end(&f);
    }
}

static void a_dflt_that_does_not_fit_refuses_new_rows(void **state)
{
    (void)state;
    static const char *const row[][2] = { { "int8", "300" },     { "int8", "\"x\"" },
                                          { "|S2", "\"long\"" }, { "|S2", "5" },
                                          { "int64", "1.5" },    { "int64", "[1, 2]" } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        blz_folder f;
        job j;
        char text[300];
        cip_change_form form = { .fill = NULL };
        const int64_t more[1] = { 5 };
        start(&f);
        snprintf(text, sizeof text,
                 "{\"dtype\": \"%s\", \"cparams\": {}, \"chunklen\": 100, \"dflt\": %s}", row[i][0],
                 row[i][1]);
        blz_text(&f, "meta/storage", text);
        blz_text(&f, "meta/sizes", "{\"shape\": [0]}");
        blz_text(&f, "__attrs__", "{}");
        for (int k = 0; k < 3; k++) {
            snprintf(text, sizeof text, "data/__%d.blp", k);
            unlink(scratch_path(&f.dir, text));
        }
        OK(&j, job_open(&j, &f));
        assert_refused(&j,
                       store->form(j.u, f.layout->array[0], CIP_CHANGE_SHAPE, more, &form, &j.err),
                       CIP_ERR_UNSUPPORTED, "dflt");
        job_close(&j);
        blz_end(&f);
    }
}

/* --- folders that lie ------------------------------------------------------------------------- */

static void lie(blz_folder *f, int64_t rows)
{
    char text[100];
    start(f);
    snprintf(text, sizeof text, "{\"shape\": [%" PRId64 "], \"nbytes\": %" PRId64 "}\n", rows,
             8 * rows);
    blz_text(f, "meta/sizes", text);
}

static void where_sizes_lie_no_rows_are_added(void **state)
{
    (void)state;
    static const int64_t said[] = { 0, 1, 50, 100, 150, 200, 249, 251, 299, 300, 301, 1000 };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        blz_folder f;
        job j;
        lie(&f, said[i]);
        OK(&j, job_open(&j, &f));
        assert_refused(&j, put_rows(&j, 0, said[i], 5, 0), CIP_ERR_CORRUPT,
                       "the data hold 250; resize to 250 first");
        assert_refused(&j, resize(&j, 0, 1001), CIP_ERR_CORRUPT, "the data hold 250");
        job_close(&j);
        blz_end(&f);
    }
}

static void resizing_to_the_rows_that_are_there_mends(void **state)
{
    (void)state;
    static const int64_t said[] = { 0, 50, 100, 150, 200, 249, 251, 300, 1000 };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        for (int part = 0; part < 2; part++) {
            blz_folder f;
            job j;
            const int64_t rows = part ? 249 : 250;
            lie(&f, said[i]);
            OK(&j, job_open(&j, &f));
            OK(&j, resize(&j, 0, rows));
            OK(&j, put_rows(&j, 0, rows, 1, (uint64_t)rows)); /* in the same update */
            OK(&j, job_finish(&j));
            assert_int_equal(j.layout->array[0]->view.shape[0], rows + 1);
            for (int64_t k = 0; k <= rows; k++)
                assert_int_equal(value_at(&j, 0, (uint64_t)k), k);
            job_close(&j);
            blz_end(&f);
        }
}

static void a_missing_chunk_refuses_what_needs_it(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    start(&f);
    unlink(scratch_path(&f.dir, "data/__1.blp"));
    OK(&j, job_open(&j, &f));
    assert_refused(&j, put_rows(&j, 0, 150, 1, 0), CIP_ERR_NOT_FOUND, "missing");
    OK(&j, put_rows(&j, 0, 5, 1, 77));
    OK(&j, put_rows(&j, 0, 250, 1, 250));
    OK(&j, job_finish(&j));
    assert_int_equal(value_at(&j, 0, 5), 77);
    assert_string_equal(changes_of(&j), "replaced data/__0.blp\nreplaced data/__2.blp\n"
                                        "last replaced meta/sizes\n");
    job_close(&j);
    blz_end(&f);
}

static void what_cannot_be_changed_is_refused(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    cip_change_form form;
    start(&f);
    blz_text(&f, "meta/storage", "{\"dtype\": \"|S0\", \"chunklen\": 100}");
    OK(&j, job_open(&j, &f));
    assert_refused(&j, open_chunks(&j, 0, CIP_CHANGE_ELEMENTS, NULL, &form), CIP_ERR_UNSUPPORTED,
                   "rows of at least one byte");
    job_close(&j);
    blz_text(&f, "meta/storage", "{\"dtype\": \"int32\", \"chunklen\": 100}");
    blz_text(&f, "meta/sizes", "{\"shape\": [250, 2]}");
    const int64_t wider[2] = { 250, 3 };
    OK(&j, job_open(&j, &f));
    assert_refused(&j, open_chunks(&j, 0, CIP_CHANGE_SHAPE, wider, &form), CIP_ERR_UNSUPPORTED,
                   "only the first axis");
    job_close(&j);
    const cip_spec asked[] = { { .big = -1, .checksum = "md5" }, { .big = -1, .codec = "snappy" } };
    for (size_t i = 0; i < 2; i++) {
        OK(&j, job_open_as(&j, &f, &asked[i], NULL));
        assert_refused(&j, open_chunks(&j, 0, CIP_CHANGE_ELEMENTS, NULL, &form),
                       CIP_ERR_UNSUPPORTED, i == 0 ? "no checksum" : "codec");
        job_close(&j);
    }
    blz_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chunk_that_changes_replaces_its_file),
        cmocka_unit_test(rows_behind_the_end_fill_the_last_chunk),
        cmocka_unit_test(fewer_rows_remove_files),
        cmocka_unit_test(sizes_count_as_the_programs_did),
        cmocka_unit_test(files_left_over_take_nothing_from_the_count),
        cmocka_unit_test(chunks_are_stored_as_storage_says),
        cmocka_unit_test(new_rows_hold_what_dflt_says),
        cmocka_unit_test(a_dflt_that_does_not_fit_refuses_new_rows),
        cmocka_unit_test(where_sizes_lie_no_rows_are_added),
        cmocka_unit_test(resizing_to_the_rows_that_are_there_mends),
        cmocka_unit_test(a_missing_chunk_refuses_what_needs_it),
        cmocka_unit_test(what_cannot_be_changed_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
