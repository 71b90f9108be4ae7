/* SPDX-License-Identifier: BSD-3-Clause
 * Handles that are made to show what their file has become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "support/core/core_testing.h"
#include "support/fail_alloc.h"
#include "support/temp_folder.h"

enum { COLUMNS = 3 };

static scratch dir;

static int setup(void **state)
{
    (void)state;
    return scratch_open(&dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&dir);
    return 0;
}

/* One that every build has. */
static const char *codec_of(const char *format)
{
    const bool is_blosc = format[0] == 'b';
    return is_blosc ? "blosclz" : NULL;
}

/* n rows whose elements are all `value`. */
static void make(const char *path, const char *format, int64_t n, int32_t value)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    int32_t row[64 * COLUMNS];
    const int64_t shape[] = { n, COLUMNS };
    for (int64_t i = 0; i < n * COLUMNS; i++)
        row[i] = value;
    const cip_change_options o = {
        .size = sizeof o, .overwrite = true, .format = format, .codec = codec_of(format)
    };
    const cip_status st = cip_create(path, &o, &w, &err);
    if (st != CIP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 2, shape, row, NULL, &err),
                     CIP_OK);
    if (cip_change_commit(&w, &err) != CIP_OK)
        fail_msg("%s", err.text);
}

static const char *name_in(const char *format)
{
    return strcmp(format, "asdf") == 0 ? "a" : "";
}

static cip_file *opened_with(const char *path, const cip_open_options *options)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    if (cip_open(path, options, &f, &err) != CIP_OK)
        fail_msg("%s", err.text);
    return f;
}

static cip_file *opened(const char *path)
{
    return opened_with(path, NULL);
}

static const cip_array *only(const cip_file *f)
{
    const cip_array *a = cip_find(f, NULL, NULL);
    assert_non_null(a);
    return a;
}

static bool refreshed(cip_file *f)
{
    cip_err err = CIP_ERR_INIT;
    bool changed;
    if (cip_file_refresh(f, &changed, &err) != CIP_OK)
        fail_msg("%s", err.text);
    return changed;
}

/* A row through a handle of its own. */
static void append(const char *path, const char *format, int32_t value)
{
    cip_err err = CIP_ERR_INIT;
    const int32_t row[COLUMNS] = { value, value, value };
    cip_change *e;
    if (cip_change_open(path, NULL, &e, &err) == CIP_OK &&
        cip_change_append(e, name_in(format), cip_dtype_as_stored(), row, sizeof row, &err) !=
            CIP_OK)
        fail_msg("%s", err.text);
    if (cip_change_commit(&e, &err) != CIP_OK)
        fail_msg("%s", err.text);
}

static cip_status first_row(const cip_array *a, int32_t row[COLUMNS])
{
    return cip_read(a, "[0]", cip_dtype_of(CIP_I32), row, COLUMNS * sizeof *row, NULL);
}

static const char *const formats[] = { "rawarray", "blosc2", "bcolz", "blz", "bloscpack" };

static void a_handle_shows_what_others_appended(void **state)
{
    (void)state;
    int32_t row[COLUMNS];
    const size_t nformat = sizeof formats / sizeof *formats;
    for (size_t k = 0; k < 2 * nformat; k++) {
        const size_t i = k % nformat;
        const cip_open_options options = { .size = sizeof options, .map = k >= nformat };
        char path[300];
        snprintf(path, sizeof path, "%s", scratch_path(&dir, formats[i]));
        make(path, formats[i], 4, 7);
        cip_file *f = opened_with(path, &options);
        const cip_array *was = only(f);
        assert_false(refreshed(f));
        assert_ptr_equal(only(f), was);
        cip_file_close(f); /* some updates want readers gone */
        f = opened_with(path, &options);
        was = only(f);
        cip_err err = CIP_ERR_INIT;
        const int32_t more[COLUMNS] = { 8, 8, 8 };
        if (cip_append(f, cip_array_path(was), cip_dtype_of(CIP_I32), more, sizeof more, &err) !=
            CIP_OK)
            fail_msg("%s: %s", formats[i], err.text);
        assert_true(refreshed(f));
        const cip_array *is = only(f);
        assert_int_equal(cip_array_shape(is)[0], 5);
        assert_int_equal(cip_array_shape(was)[0], 4);
        cip_status st = first_row(was, row);
        assert_true(st == CIP_ERR_BUSY || (st == CIP_OK && row[0] == 7));
        assert_int_equal(cip_read(is, "[4]", cip_dtype_of(CIP_I32), row, sizeof row, NULL), CIP_OK);
        assert_int_equal(row[2], 8);
        assert_false(refreshed(f));
        cip_file_drop_old(f);
        assert_int_equal(first_row(is, row), CIP_OK);
        assert_int_equal(row[0], 7);
        cip_file_close(f);
    }
}

/* Their file did not exist when the folder was opened. */
static void first_attributes_are_noticed(void **state)
{
    static const char *const kind[] = { "blz", "bcolz" };
    (void)state;
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        char path[300], file[320];
        snprintf(path, sizeof path, "%s_attrs", scratch_path(&dir, kind[i]));
        snprintf(file, sizeof file, "%s/__attrs__", path);
        make(path, kind[i], 4, 7);
        cip_file *f = opened(path);
        assert_null(cip_file_tree(f));
        assert_false(refreshed(f));
        FILE *to = fopen(file, "w");
        assert_non_null(to);
        fputs("{\"n\": 3}", to);
        fclose(to);
        assert_true(refreshed(f));
        assert_non_null(cip_file_tree(f));
        assert_false(refreshed(f));
        cip_file_close(f);
    }
}

static void another_file_of_the_name_is_shown(void **state)
{
    (void)state;
    const char *const kind[] = { "rawarray", "asdf", "blosc2", "npy" };
    char path[300];
    int32_t row[COLUMNS];
    snprintf(path, sizeof path, "%s", scratch_path(&dir, "another"));
    make(path, "asdf", 2, 0);
    cip_file *f = opened(path);
    for (int i = 0; i < 4; i++) {
        const cip_array *was = only(f);
        make(path, kind[i], 3 + i, i);
        assert_true(refreshed(f));
        assert_string_equal(cip_file_format(f), kind[i]);
        assert_int_equal(cip_array_shape(only(f))[0], 3 + i);
        assert_int_equal(first_row(only(f), row), CIP_OK);
        assert_int_equal(row[0], i);
        assert_int_equal(first_row(was, row), CIP_OK); /* it is open still */
        assert_int_equal(row[0], i == 0 ? 0 : i - 1);
    }
    cip_file_close(f);
}

static void what_cannot_be_opened_leaves_the_handle_as_it_was(void **state)
{
    (void)state;
    char path[300];
    int32_t row[COLUMNS];
    bool changed = true;
    snprintf(path, sizeof path, "%s", scratch_path(&dir, "gone"));
    make(path, "rawarray", 2, 5);
    cip_file *f = opened(path);
    const cip_array *a = only(f);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(cip_file_refresh(f, &changed, NULL), CIP_ERR_NOT_FOUND);
    assert_true(changed); /* untouched */
    scratch_write(&dir, "gone", "rubbish", 7);
    assert_int_equal(cip_file_refresh(f, &changed, NULL), CIP_ERR_FORMAT);
    assert_ptr_equal(only(f), a);
    assert_int_equal(first_row(a, row), CIP_OK);
    make(path, "rawarray", 3, 6);
    assert_true(refreshed(f));
    assert_int_equal(first_row(only(f), row), CIP_OK);
    assert_int_equal(row[0], 6);
    cip_file_close(f);
    assert_int_equal(cip_file_refresh(NULL, NULL, NULL), CIP_ERR_ARG);
    cip_file_drop_old(NULL);
}

static void memory_is_shown_as_it_is(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    const int32_t rows[2 * COLUMNS] = { 1, 1, 1, 1, 1, 1 };
    const int64_t shape[] = { 2, COLUMNS };
    cip_memory *memory;
    cip_change *w;
    cip_change *e;
    cip_file *f;
    assert_int_equal(cip_create_memory("asdf", NULL, &memory, &w, &err), CIP_OK);
    assert_int_equal(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 2, shape, rows, NULL, &err),
                     CIP_OK);
    assert_int_equal(cip_change_commit(&w, &err), CIP_OK);
    assert_int_equal(cip_memory_open(memory, NULL, &f, &err), CIP_OK);
    assert_false(refreshed(f));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cip_change_open_memory(memory, NULL, &e, &err), CIP_OK);
        assert_int_equal(cip_change_append(e, "a", cip_dtype_as_stored(), rows, sizeof rows, &err),
                         CIP_OK);
        assert_int_equal(cip_change_commit(&e, &err), CIP_OK);
        assert_true(refreshed(f));
        assert_false(refreshed(f));
        assert_int_equal(cip_array_shape(only(f))[0], 4 + 2 * i);
        if (i == 1)
            cip_file_drop_old(f);
    }
    cip_file_close(f);
    cip_memory_free(memory);
    char *mem;
    f = test_open_asdf("a: 1", &mem);
    assert_false(refreshed(f));
    cip_file_close(f);
    free(mem);
}

static void memory_that_runs_out_leaves_the_handle_as_it_was(void **state)
{
    (void)state;
    char path[300];
    int32_t row[COLUMNS];
    snprintf(path, sizeof path, "%s", scratch_path(&dir, "small"));
    bool done = false;
    for (size_t n = 1; !done; n++) {
        fail_alloc a = { .fail_at = 0 };
        const cip_allocator from = { fail_alloc_resize, &a };
        cip_file *f;
        make(path, "blosc2", 2, 1);
        assert_int_equal(
            cip_open(path, CIP_OPEN_OPTIONS(.allocator = &from, .threads = 1), &f, NULL), CIP_OK);
        make(path, "blosc2", 3, 2);
        a.fail_at = a.requests + n;
        cip_status st = cip_file_refresh(f, NULL, NULL);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        a.fail_at = 0;
        done = st == CIP_OK;
        assert_int_equal(first_row(only(f), row), CIP_OK);
        assert_int_equal(row[0], done ? 2 : 1);
        cip_file_close(f);
        assert_int_equal(a.held, 0);
    }
}

/* --- threads ---------------------------------------------------------------------------------- */

typedef struct reader {
    const cip_array *array;
    int nread;
} reader;

static void *read_often(void *arg)
{
    reader *r = arg;
    int32_t rows[2 * COLUMNS];
    for (int i = 0; i < 200; i++) {
        cip_status st = cip_read(r->array, "[0:2]", cip_dtype_of(CIP_I32), rows, sizeof rows, NULL);
        bool fine = st == CIP_ERR_BUSY;
        for (int k = 0; st == CIP_OK && k < 2 * COLUMNS; k++)
            fine = (k == 0 || fine) && rows[k] == 3;
        r->nread += fine && cip_array_shape(r->array)[0] == 2;
    }
    return NULL;
}

static void threads_go_on_reading_old_arrays(void **state)
{
    (void)state;
    const char *const kind[] = { "rawarray", "blosc2", "asdf" };
    for (int k = 0; k < 3; k++) {
        char path[300];
        pthread_t thread[2];
        snprintf(path, sizeof path, "%s", scratch_path(&dir, "threads"));
        make(path, kind[k], 2, 3);
        cip_file *f = opened(path);
        reader r[2] = { { only(f), 0 }, { only(f), 0 } };
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, read_often, &r[i]), 0);
        for (int i = 0; i < 5; i++) {
            if (k < 2)
                append(path, kind[k], 4);
            else
                make(path, kind[k], 3 + i, 4);
            assert_true(refreshed(f));
            assert_int_equal(cip_array_shape(only(f))[0], 3 + i);
        }
        for (int i = 0; i < 2; i++) {
            assert_int_equal(pthread_join(thread[i], NULL), 0);
            assert_int_equal(r[i].nread, 200);
        }
        cip_file_close(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handle_shows_what_others_appended),
        cmocka_unit_test(first_attributes_are_noticed),
        cmocka_unit_test(another_file_of_the_name_is_shown),
        cmocka_unit_test(what_cannot_be_opened_leaves_the_handle_as_it_was),
        cmocka_unit_test(memory_is_shown_as_it_is),
        cmocka_unit_test(memory_that_runs_out_leaves_the_handle_as_it_was),
        cmocka_unit_test(threads_go_on_reading_old_arrays),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
