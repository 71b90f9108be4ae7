/* SPDX-License-Identifier: BSD-3-Clause
 * Columns that come to tables and to records in superchunks, and what cannot come. What the files
 * hold is read by another program in tests/compat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blz/blz_out_testing.h"
#include "support/format/blz/blz_update_testing.h"
#include "support/fail_alloc.h"

enum { ROWS = 250, KEPT = 8 };

/* Arrays that come live as long as the update. */
typedef struct coming {
    cip_spec_array array[KEPT];
    int64_t shape[KEPT][3];
    cip_coming how[KEPT];
    size_t n;
} coming;

/* The k-th of them, which is complete then, or leaves nothing. */
static cip_status put_coming(job *j, coming *all, size_t k, const void *data)
{
    cip_array_form form = { .dtype = NULL };
    const cip_spec spec = { .big = -1, .array = &all->array[k], .narray = 1 };
    const cip_store_begin b = {
        .env = &j->f->env, .arena = &j->arena, .spec = &spec, .coming = &all->how[k], .form = &form
    };
    void *w;
    all->how[k] = (cip_coming){ .update = j->u, .path = all->array[k].path };
    CIP_TRY(store->begin(&b, &w, &j->err));
    cip_status st = blz_out_put(&j->f->env, w, 0, &all->array[k], &form, data, &j->err);
    if (st == CIP_OK)
        st = store->finish(w, NULL, &j->err);
    if (st == CIP_OK && j->ncame < CAME)
        j->came[j->ncame++] = w;
    else
        store->clear(w);
    return st;
}

static uint64_t value_of(size_t array, uint64_t i)
{
    return 1000 * (array + 1) + i;
}

/* An array of `rows` int64 (of `each` int64 with axis), or of what `d` says, which counts up. */
static cip_status add_as(job *j, coming *all, const char *path, const cip_dtype *d, int64_t rows,
                         int64_t axis)
{
    static uint64_t data[ROWS * 8];
    const size_t k = all->n++;
    assert_true(k < KEPT && rows * axis * (int64_t)d->itemsize <= (int64_t)sizeof data);
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        cip_store_u64(&data[i], value_of(k, i), false);
    all->shape[k][0] = rows;
    all->shape[k][1] = axis;
    all->array[k] = (cip_spec_array){ .path = path,
                                      .dtype = d,
                                      .ndim = axis != 1 ? 2 : 1,
                                      .shape = all->shape[k],
                                      .of = -1,
                                      .mask = -1 };
    return put_coming(j, all, k, data);
}

static cip_status add(job *j, coming *all, const char *path, int64_t rows)
{
    return add_as(j, all, path, cip_dtype_fixed(CIP_I64, false), rows, 1);
}

/* --- tables ----------------------------------------------------------------------------------- */

static const char names_ab[] = "{\"names\": [\"a\", \"b\"], \"more\": 1}\n";

static void a_column_comes_as_the_first_is(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    coming all = { .n = 0 };
    blz_start_table(&f, names_ab);
    OK(&j, job_open(&j, &f));
    OK(&j, add(&j, &all, "c", ROWS));
    OK(&j, add_as(&j, &all, "d", cip_dtype_fixed(CIP_I64, false), ROWS, 2));
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j),
                        "made c/data/__0.blp\nmade c/data/__1.blp\nmade c/data/__2.blp\n"
                        "made c/__attrs__\nmade c/meta/storage\nmade c/meta/sizes\n"
                        "made d/data/__0.blp\nmade d/data/__1.blp\nmade d/data/__2.blp\n"
                        "made d/__attrs__\nmade d/meta/storage\nmade d/meta/sizes\n"
                        "last replaced __rootdirs__\n");
    assert_member(&j, "__rootdirs__", "{\"names\": [\"a\", \"b\", \"c\", \"d\"], \"more\": 1}\n");
    assert_member(&j, "c/__attrs__", "{}\n");
    assert_member(&j, "c/meta/storage",
                  "{\"dtype\": \"int64\", \"cparams\": {\"clevel\": 5, \"shuffle\": 1, \"cname\": "
                  "\"blosclz\", \"quantize\": 0}, \"chunklen\": 100, \"expectedlen\": 250, "
                  "\"dflt\": 0}\n");
    assert_int_equal(j.layout->narray, 5);
    assert_string_equal(j.layout->array[3]->path, "c");
    for (uint64_t i = 0; i < ROWS; i++) {
        assert_int_equal(value_at(&j, 1, i), i);
        assert_int_equal(value_at(&j, 3, i), value_of(0, i));
        assert_int_equal(value_at(&j, 4, 2 * i + 1), value_of(1, 2 * i + 1));
    }
    job_close(&j);
    blz_end(&f);
}

static void a_column_of_blz_gets_a_folder_that_is_listed(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    coming all = { .n = 0 };
    blz_start_table(
        &f, "{\"dirs\": {\"a\": \"/was/a\", \"b\": \"/was/b\"}, \"names\": [\"a\", \"b\"]}");
    OK(&j, job_open(&j, &f));
    OK(&j, store->move(j.u, "b", "c", false, &j.err));
    OK(&j, add(&j, &all, "d", ROWS));
    assert_refused(&j, add(&j, &all, "c", ROWS), CIP_ERR_ARG, "'c' exists");
    assert_refused(&j, add(&j, &all, "d", ROWS), CIP_ERR_ARG, "'d' exists");
    assert_refused(&j, store->move(j.u, "a", "d", false, &j.err), CIP_ERR_ARG, "'d' exists");
    OK(&j, job_finish(&j));
    assert_member(&j, "__rootdirs__",
                  "{\"dirs\": {\"a\": \"a\", \"c\": \"c\", \"d\": \"d\"}, \"names\": [\"a\", "
                  "\"c\", \"d\"]}\n");
    assert_member(&j, "d/meta/storage",
                  "{\"dtype\": \"int64\", \"bparams\": {\"clevel\": 5, \"shuffle\": true}, "
                  "\"chunklen\": 100, \"expectedlen\": 250, \"dflt\": 0}\n");
    assert_int_equal(value_at(&j, 3, 200), value_of(0, 200));
    job_close(&j);
    blz_end(&f);
}

static void what_is_asked_for_counts(void **state)
{
    (void)state;
    static const char *option[8] = { "40", "none" };
    const cip_spec how = { .big = -1, .codec = "zlib", .level = 9, .option = option };
    blz_folder f;
    job j;
    coming all = { .n = 0 };
    blz_start_table(&f, names_ab);
    OK(&j, job_open_as(&j, &f, &how, NULL));
    OK(&j, add(&j, &all, "c", ROWS));
    OK(&j, job_finish(&j));
    assert_member(&j, "c/meta/storage",
                  "{\"dtype\": \"int64\", \"cparams\": {\"clevel\": 9, \"shuffle\": 0, \"cname\": "
                  "\"zlib\", \"quantize\": 0}, \"chunklen\": 40, \"expectedlen\": 250, \"dflt\": "
                  "0}\n");
    for (uint64_t i = 0; i < ROWS; i++)
        assert_int_equal(value_at(&j, 3, i), value_of(0, i));
    job_close(&j);
    option[4] = "5"; /* spare */
    OK(&j, job_open_as(&j, &f, &how, NULL));
    assert_refused(&j, add(&j, &all, "c", ROWS), CIP_ERR_UNSUPPORTED, "spare applies only to new");
    job_close(&j);
    option[4] = NULL;
    blz_end(&f);
}

static void rows_are_those_of_the_table(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    coming all = { .n = 0 };
    blz_start_table(&f, names_ab);
    OK(&j, job_open(&j, &f));
    assert_refused(&j, add(&j, &all, "c", ROWS - 1), CIP_ERR_UNSUPPORTED,
                   "expected 250 rows, as in the other columns, found 249");
    job_close(&j);
    for (int64_t rows = ROWS - 1; rows <= ROWS; rows++) { /* as it becomes */
        all.n = 0;
        OK(&j, job_open(&j, &f));
        OK(&j, resize(&j, 1, ROWS - 1));
        OK(&j, resize(&j, 2, ROWS - 1));
        OK(&j, add(&j, &all, "c", rows));
        if (rows == ROWS)
            assert_refused(&j, job_finish(&j), CIP_ERR_UNSUPPORTED, "'c' would have 250 rows");
        else
            OK(&j, job_finish(&j));
        job_close(&j);
    }
    blz_end(&f);
}

static void names_that_a_column_cannot_have_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        cip_status st;
    } row[] = {
        { "", CIP_ERR_UNSUPPORTED },     { "_c", CIP_ERR_UNSUPPORTED },
        { ".c", CIP_ERR_UNSUPPORTED },   { "..", CIP_ERR_UNSUPPORTED },
        { "c/d", CIP_ERR_UNSUPPORTED },  { "c~1d", CIP_ERR_UNSUPPORTED },
        { "c~0d", CIP_ERR_UNSUPPORTED }, { "c\nd", CIP_ERR_UNSUPPORTED },
        { "\xff", CIP_ERR_UNSUPPORTED }, { "a", CIP_ERR_ARG },
        { "other", CIP_ERR_ARG },
    };
    blz_folder f;
    job j;
    char text[256];
    blz_start_table(&f, names_ab);
    blz_mkdir(&f, "other");
    OK(&j, job_open(&j, &f));
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        coming all = { .n = 0 };
        assert_int_equal(add(&j, &all, row[i].name, ROWS), row[i].st);
    }
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    coming all = { .n = 0 };
    assert_int_equal(add(&j, &all, text, ROWS), CIP_ERR_UNSUPPORTED);
    OK(&j, job_finish(&j));
    assert_int_equal(j.r.nmember, 0);
    job_close(&j);
    blz_text(&f, "__rootdirs__", "{\"dirs\": {\"b\": \"gone\"}, \"names\": [\"a\", \"b\"]}");
    OK(&j, job_open(&j, &f));
    assert_refused(&j, add(&j, &all, "gone", ROWS), CIP_ERR_ARG, "'gone' exists");
    job_close(&j);
    blz_end(&f);
}

static void an_array_gets_no_columns(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    coming all = { .n = 0 };
    start(&f);
    OK(&j, job_open(&j, &f));
    assert_refused(&j, add(&j, &all, "c", ROWS), CIP_ERR_UNSUPPORTED, "the folder is one array");
    job_close(&j);
    blz_end(&f);
}

/* --- records ---------------------------------------------------------------------------------- */

/* Records of two int64 in superchunks of 2 chunks of 30, whose dflt is another text. */
static void start_records(blz_folder *f, const char *shards, const char *dflt)
{
    static const int64_t shape[] = { ROWS };
    static uint64_t data[ROWS];
    static const void *const both[] = { data, data };
    static const char *option[8] = { "30" };
    static blz_out o;
    char text[400];
    cip_spec_array array[2];
    option[3] = "2";
    option[7] = shards;
    for (uint64_t i = 0; i < ROWS; i++)
        cip_store_u64(&data[i], i, false);
    for (size_t k = 0; k < 2; k++)
        array[k] = (cip_spec_array){ .path = k == 0 ? "a" : "b",
                                     .dtype = cip_dtype_fixed(CIP_I64, false),
                                     .ndim = 1,
                                     .shape = shape,
                                     .of = -1,
                                     .mask = -1 };
    const cip_spec spec = { .big = -1, .array = array, .narray = 2, .option = option };
    assert_int_equal(blz_out_folder(&o, f, &spec, both), CIP_OK);
    snprintf(text, sizeof text,
             "{\"dtype\": [[\"a\", \"<i8\"], [\"b\", \"<i8\"]], \"chunklen\": 30, \"superchunk\": "
             "2, %s\"user\": null}\n",
             dflt);
    blz_text(f, "meta/storage", text);
}

static void a_field_comes_to_the_records(void **state)
{
    (void)state;
    static const struct {
        const char *dflt, *now;
    } row[] = {
        { "\"dflt\": [5, 6], ", "\"dflt\": [5, 6, 0, 0], " },
        { "\"dflt\": 0, ", "\"dflt\": 0, " },
        { "\"dflt\": null, ", "\"dflt\": null, " },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        blz_folder f;
        job j;
        coming all = { .n = 0 };
        char text[400];
        start_records(&f, NULL, row[i].dflt);
        OK(&j, job_open(&j, &f));
        OK(&j, add(&j, &all, "_c", ROWS));
        OK(&j, add_as(&j, &all, "d~1", cip_dtype_fixed(CIP_I64, false), ROWS, 3));
        OK(&j, job_finish(&j));
        snprintf(text, sizeof text,
                 "{\"dtype\": [[\"a\", \"<i8\"], [\"b\", \"<i8\"], [\"_c\", \"<i8\"], [\"d/\", "
                 "\"<i8\", [3]]], \"chunklen\": 30, \"superchunk\": 2, %s\"user\": null}\n",
                 row[i].now);
        assert_member(&j, "meta/storage", text);
        assert_non_null(strstr(changes_of(&j), "made data/d%2F/__5__.bin\n"));
        assert_non_null(strstr(changes_of(&j), "last replaced meta/storage\n"));
        for (uint64_t r = 0; r < ROWS; r++) {
            assert_int_equal(value_at(&j, 0, 6 * r + 1), r);
            assert_int_equal(value_at(&j, 0, 6 * r + 2), value_of(0, r));
            assert_int_equal(value_at(&j, 0, 6 * r + 5), value_of(1, 3 * r + 2));
        }
        const cip_node *sizes;
        int64_t nbytes;
        OK(&j, cip_blz_json(j.layout, "meta/sizes", &sizes, &j.err));
        assert_true(cip_node_as_int(cip_map_get(sizes, "nbytes"), &nbytes));
        assert_int_equal(nbytes, ROWS * 48);
        blz_findings b = { .text = "" };
        cip_report report;
        cip_report_init(&report, &f.env.mem, false, blz_note, &b);
        OK(&j, cip_format_blz.verify(j.layout, false, &report, &j.err));
        cip_report_clear(&report);
        assert_string_equal(b.text, "");
        job_close(&j);
        blz_end(&f);
    }
}

static void superchunks_of_a_field_go_to_the_shards_in_turn(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    coming all = { .n = 0 };
    start_records(&f, "one,two,three", "");
    OK(&j, job_open(&j, &f));
    OK(&j, add(&j, &all, "c", ROWS));
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j), "made one/data/c/__1__.bin\nmade two/data/c/__2__.bin\n"
                                        "made three/data/c/__3__.bin\nmade one/data/c/__4__.bin\n"
                                        "made two/data/c/__5__.bin\nreplaced meta/sizes\n"
                                        "last replaced meta/storage\n");
    for (uint64_t r = 0; r < ROWS; r++)
        assert_int_equal(value_at(&j, 0, 3 * r + 2), value_of(0, r));
    job_close(&j);
    blz_mkdir(&f, "two/data/left");
    OK(&j, job_open(&j, &f));
    assert_refused(&j, add(&j, &all, "left", ROWS), CIP_ERR_ARG, "'two/data/left' exists");
    job_close(&j);
    blz_end(&f);
}

static void records_of_a_field_are_stored_by_their_fields(void **state)
{
    (void)state;
    const cip_field field[] = { { .name = "x", .dtype = cip_dtype_fixed(CIP_I64, false) },
                                { .name = "y", .dtype = cip_dtype_fixed(CIP_I64, false) } };
    blz_folder f;
    job j;
    coming all = { .n = 0 };
    const cip_dtype *d;
    start_records(&f, NULL, "\"dflt\": [1, 2], ");
    OK(&j, job_open(&j, &f));
    OK(&j, cip_dtype_record(&j.arena, 2, field, true, 0, &d, &j.err));
    OK(&j, add_as(&j, &all, "p", d, ROWS, 1));
    OK(&j, add_as(&j, &all, "q", d, ROWS, 2));
    OK(&j, job_finish(&j));
    assert_member(&j, "meta/storage",
                  "{\"dtype\": [[\"a\", \"<i8\"], [\"b\", \"<i8\"], [\"p\", [[\"x\", \"<i8\"], "
                  "[\"y\", \"<i8\"]]], [\"q\", [[\"x\", \"<i8\"], [\"y\", \"<i8\"]], [2]]], "
                  "\"chunklen\": 30, \"superchunk\": 2, \"dflt\": [1, 2, [0, 0], [0, 0]], "
                  "\"user\": null}\n");
    assert_non_null(strstr(changes_of(&j), "made data/q/y/__5__.bin\n"));
    for (uint64_t r = 0; r < ROWS; r++) {
        for (uint64_t k = 0; k < 2; k++)
            assert_int_equal(value_at(&j, 0, 8 * r + 2 + k), value_of(0, 2 * r + k));
        for (uint64_t k = 0; k < 4; k++)
            assert_int_equal(value_at(&j, 0, 8 * r + 4 + k), value_of(1, 4 * r + k));
    }
    job_close(&j);
    blz_end(&f);
}

static void fields_that_cannot_come_are_refused(void **state)
{
    (void)state;
    static const char *option[8] = { "30" };
    const cip_spec other = { .big = -1, .option = option },
                   sum = { .big = -1, .checksum = "sha256" };
    const cip_dtype *wide;
    blz_folder f;
    job j;
    coming all = { .n = 0 };
    start_records(&f, NULL, "");
    OK(&j, job_open(&j, &f));
    assert_refused(&j, add(&j, &all, "a", ROWS), CIP_ERR_ARG, "the field 'a' exists");
    assert_refused(&j, add(&j, &all, "c", ROWS + 1), CIP_ERR_UNSUPPORTED, "expected 250 rows");
    assert_refused(&j, add(&j, &all, "", ROWS), CIP_ERR_UNSUPPORTED, "name of a column");
    assert_refused(&j, add(&j, &all, "a/b", ROWS), CIP_ERR_UNSUPPORTED, "name of a column");
    assert_refused(&j, add(&j, &all, "\xc3", ROWS), CIP_ERR_UNSUPPORTED, "in UTF-8");
    OK(&j, store->remove(j.u, "b", &j.err));
    OK(&j, add(&j, &all, "c", ROWS));
    job_close(&j);
    all.n = 0;
    OK(&j, job_open(&j, &f));
    OK(&j, add(&j, &all, "c", ROWS));
    OK(&j, store->remove(j.u, "b", &j.err));
    job_close(&j);
    OK(&j, job_open(&j, &f));
    OK(&j, cip_dtype_opaque(&j.arena, 1 << 27, NULL, &wide, &j.err));
    const int64_t shape[] = { ROWS };
    all.array[0] = (cip_spec_array){ .path = "w", .dtype = wide, .ndim = 1, .shape = shape };
    assert_refused(&j, put_coming(&j, &all, 0, NULL), CIP_ERR_UNSUPPORTED, "rows to make");
    job_close(&j);
    OK(&j, job_open_as(&j, &f, &other, NULL));
    assert_refused(&j, add(&j, &all, "c", ROWS), CIP_ERR_UNSUPPORTED, "a chunklen of 30");
    job_close(&j);
    OK(&j, job_open_as(&j, &f, &sum, NULL));
    assert_refused(&j, add(&j, &all, "c", ROWS), CIP_ERR_UNSUPPORTED, "checksum");
    job_close(&j);
    blz_text(&f, "meta/storage", "{\"dtype\": \"<i8\", \"chunklen\": 30, \"superchunk\": 2}");
    OK(&j, job_open(&j, &f));
    assert_refused(&j, add(&j, &all, "c", ROWS), CIP_ERR_UNSUPPORTED, "the folder is one array");
    job_close(&j);
    blz_end(&f);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    static const cip_spec as_it_is = { .big = -1 };
    for (int kind = 0; kind < 2; kind++) {
        blz_folder f;
        if (kind == 0)
            blz_start_table(&f, names_ab);
        else
            start_records(&f, "one,two", "\"dflt\": [1, 2], ");
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = 0 };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            coming all = { .n = 0 };
            job j;
            OK(&j, job_open_as(&j, &f, &as_it_is, &from));
            alloc.fail_at = alloc.requests + n;
            cip_status st = add(&j, &all, "c", ROWS);
            if (st == CIP_OK)
                st = job_plan(&j);
            job_close(&j);
            assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
            assert_int_equal(alloc.held, 0);
            if (alloc.requests < alloc.fail_at) {
                assert_int_equal(st, CIP_OK);
                break;
            }
        }
        blz_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_comes_as_the_first_is),
        cmocka_unit_test(a_column_of_blz_gets_a_folder_that_is_listed),
        cmocka_unit_test(what_is_asked_for_counts),
        cmocka_unit_test(rows_are_those_of_the_table),
        cmocka_unit_test(names_that_a_column_cannot_have_are_refused),
        cmocka_unit_test(an_array_gets_no_columns),
        cmocka_unit_test(a_field_comes_to_the_records),
        cmocka_unit_test(superchunks_of_a_field_go_to_the_shards_in_turn),
        cmocka_unit_test(records_of_a_field_are_stored_by_their_fields),
        cmocka_unit_test(fields_that_cannot_come_are_refused),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
