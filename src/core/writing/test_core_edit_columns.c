/* SPDX-License-Identifier: BSD-3-Clause
 * Columns that come to tables and records, wherever the folder is: on a disk, in memory, in a store
 * of the caller's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/test_store.h"

enum { ROWS = 500 };

static const char *const kinds[] = { "bcolz", "blz-dir", "blz" };
static const int64_t rows[] = { ROWS }, pairs[] = { ROWS, 2 };
static int32_t numbers[2 * ROWS];
static scratch dir;

enum { PATH, MEMORY, METHODS, STORES };
typedef struct place {
    int kind;
    char path[600];
    cip_memory *memory;
    test_store store;
    test_file *file;
} place;

static int setup(void **state)
{
    (void)state;
    for (int32_t i = 0; i < 2 * ROWS; i++)
        numbers[i] = i;
    return scratch_open(&dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&dir);
    return 0;
}

/* Columns a and b. */
static void place_make(place *p, int kind, const char *format)
{
    static const cip_io_write_methods writes = TEST_STORE_WRITES;
    const cip_change_options *o =
        CIP_CHANGE_OPTIONS(.format = format, .format_options = CIP_TEXTS("chunklen=70"));
    cip_change *w;
    memset(p, 0, sizeof *p);
    p->kind = kind;
    snprintf(p->path, sizeof p->path, "%s", scratch_path(&dir, format));
    if (kind == PATH) {
        OK(cip_create(p->path, o, &w, err));
    } else if (kind == MEMORY) {
        OK(cip_create_memory(NULL, o, &p->memory, &w, err));
    } else {
        p->file = test_store_file(&p->store, "(root)");
        OK(cip_create_io(&writes, p->file, o, &w, err));
    }
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 1, rows, numbers, NULL, err));
    OK(cip_change_put(w, "b", cip_dtype_of(CIP_I32), 2, pairs, numbers, NULL, err));
    OK(cip_change_commit(&w, err));
}

static cip_file *place_open(place *p)
{
    static const cip_io_methods reads = TEST_STORE_READS;
    cip_file *f = NULL;
    if (p->kind == PATH)
        OK(cip_open(p->path, NULL, &f, err));
    else if (p->kind == MEMORY)
        OK(cip_memory_open(p->memory, NULL, &f, err));
    else
        OK(cip_open_io(&reads, p->file, NULL, &f, err));
    return f;
}

static void place_close(place *p)
{
    cip_memory_free(p->memory);
    test_store_clear(&p->store);
}

/* A column of a table, or a field of records. */
static const cip_array *find(cip_file *f, const char *name, const char **field)
{
    const cip_array *a = cip_find_field(f, name, field, NULL);
    if (a != NULL && (*field)[0] == '\0')
        *field = NULL;
    return a;
}

static bool has_column(cip_file *f, const char *name)
{
    int32_t got[2 * ROWS];
    const char *field;
    const cip_array *a = find(f, name, &field);
    return a != NULL &&
           cip_read_into(a, CIP_READ_ARGS(.field = field, .dst = got, .dst_nbytes = CIP_UNCHECKED),
                         NULL) == CIP_OK;
}

static void expect_column(cip_file *f, const char *name, const int32_t *want, size_t n)
{
    int32_t got[2 * ROWS];
    const char *field;
    const cip_array *a = find(f, name, &field);
    OK(cip_read_into(a,
                     CIP_READ_ARGS(.field = field, .dtype = cip_dtype_of(CIP_I32), .dst = got,
                                   .dst_nbytes = CIP_UNCHECKED),
                     err));
    assert_memory_equal(got, want, n * sizeof *got);
}

static int no_line(void *user, const void *bytes, size_t n)
{
    (void)user;
    (void)bytes;
    (void)n;
    return 0;
}

static void expect_all(cip_file *f)
{
    expect_column(f, "a", numbers, ROWS);
    expect_column(f, "b", numbers, 2 * ROWS);
    expect_column(f, "c", numbers + 7, ROWS);
    expect_column(f, "d", numbers, 2 * ROWS);
    expect_column(f, "e", numbers, 2 * ROWS);
}

/* From memory, from another array of the very file, by boxes. */
static void add_three(cip_change *e, cip_file *f)
{
    cip_slab *slab;
    OK(cip_change_put(e, "c", cip_dtype_of(CIP_I32), 1, rows, numbers + 7, NULL, err));
    OK(cip_change_declare(e, "e", cip_dtype_of(CIP_I32), 2, pairs, NULL, &slab, err));
    for (int64_t i = 0; i < ROWS; i += 100) {
        const cip_box box = { .start = { i, 0 }, .stop = { i + 100, 2 } };
        OK(cip_slab_write(slab, &box, numbers + 2 * i, 800, err));
    }
    const char *field;
    const cip_array *from = find(f, "b", &field);
    OK(cip_change_put_array(e, "d", from, CIP_READ_ARGS(.field = field),
                            CIP_ARRAY_OPTIONS(.codec = "zlib"), err));
}

static void columns_come_wherever_the_folder_is(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3 * STORES; k++) {
        place p;
        cip_change *e;
        place_make(&p, (int)(k / 3), kinds[k % 3]);
        cip_file *f = place_open(&p), *from = place_open(&p);
        OK(cip_change_begin(f, NULL, &e, err));
        add_three(e, from);
        OK(cip_change_plan(e, no_line, NULL, err));
        cip_change_abort(&e);
        cip_file_close(f);
        f = place_open(&p);
        assert_false(has_column(f, "c")); /* nothing happened */
        OK(cip_change_begin(f, NULL, &e, err));
        add_three(e, from);
        cip_file_close(from); /* or it would be changed while it is read */
        OK(cip_change_commit(&e, err));
        cip_file_close(f);
        f = place_open(&p);
        expect_all(f);
        cip_file_close(f);
        place_close(&p);
    }
}

static void what_cannot_come_changes_nothing(void **state)
{
    (void)state;
    static uint8_t mask[ROWS] = { 1 };
    static const int64_t less[] = { ROWS - 1 };
    const cip_dtype *d = cip_dtype_of(CIP_I32);
    for (size_t k = 0; k < 3; k++) {
        place p;
        cip_change *e;
        cip_slab *slab;
        place_make(&p, MEMORY, kinds[k]);
        cip_file *f = place_open(&p);
        for (int i = 0; i < 9; i++) {
            OK(cip_change_begin(f, NULL, &e, err));
            OK(cip_change_put(e, "fine", d, 1, rows, numbers, NULL, err));
            switch (i) {
            case 0:
                FAILS(CIP_ERR_UNSUPPORTED, "expected 500 rows",
                      cip_change_put(e, "c", d, 1, less, numbers, NULL, err));
                break;
            case 1:
                FAILS(CIP_ERR_ARG, "exists",
                      cip_change_put(e, "a", d, 1, rows, numbers, NULL, err));
                break;
            case 2:
                FAILS(CIP_ERR_ARG, "exists already",
                      cip_change_put(e, "fine", d, 1, rows, numbers, NULL, err));
                break;
            case 3:
                FAILS(CIP_ERR_UNSUPPORTED, "mask",
                      cip_change_put(e, "c", d, 1, rows, numbers, CIP_ARRAY_OPTIONS(.mask = mask),
                                     err));
                break;
            case 4:
                FAILS(CIP_ERR_UNSUPPORTED, "another file",
                      cip_change_put(e, "c", d, 1, rows, numbers,
                                     CIP_ARRAY_OPTIONS(.storage = "external"), err));
                break;
            case 5:
                FAILS(CIP_ERR_UNSUPPORTED, "inside",
                      cip_change_put(e, "c", d, 1, rows, numbers,
                                     CIP_ARRAY_OPTIONS(.storage = "inline"), err));
                break;
            case 6: /* by boxes it is refused when it comes */
                OK(cip_change_declare(e, "b", d, 1, rows, NULL, &slab, err));
                break;
            case 7:
                FAILS(CIP_ERR_ARG, "", cip_change_put(e, "", d, 1, rows, numbers, NULL, err));
                break;
            default:
                FAILS(CIP_ERR_UNSUPPORTED, "codec",
                      cip_change_put(e, "c", d, 1, rows, numbers, CIP_ARRAY_OPTIONS(.codec = "x"),
                                     err));
            }
            assert_int_not_equal(cip_change_commit(&e, NULL), CIP_OK);
        }
        cip_file_close(f);
        f = place_open(&p);
        assert_false(has_column(f, "fine"));
        cip_file_close(f);
        place_close(&p);
    }
}

/* Rows for all, the new column among them. */
static void rows_and_a_column_come_in_one_update(void **state)
{
    (void)state;
    static const int64_t more[] = { ROWS + 2 };
    int32_t records[6] = { 1, 2, 3, 4, 5, 6 };
    for (size_t k = 0; k < 3; k++)
        for (int first = 0; first < 2; first++) {
            place p;
            cip_change *e;
            place_make(&p, MEMORY, kinds[k]);
            cip_file *f = place_open(&p);
            OK(cip_change_begin(f, NULL, &e, err));
            if (first == 0)
                OK(cip_change_append(e, "", cip_dtype_as_stored(), records, sizeof records, err));
            cip_status st =
                cip_change_put(e, "c", cip_dtype_of(CIP_I32), 1, more, numbers, NULL, NULL);
            if (first == 1) /* that there will be more is not known yet */
                assert_int_equal(st, CIP_ERR_UNSUPPORTED);
            assert_int_equal(cip_change_commit(&e, NULL),
                             first == 0 ? CIP_OK : CIP_ERR_UNSUPPORTED);
            cip_file_close(f);
            f = place_open(&p);
            if (first == 0) {
                expect_column(f, "a", numbers, ROWS);
                expect_column(f, "c", numbers, ROWS + 2);
            }
            cip_file_close(f);
            place_close(&p);
        }
}

static void another_process_may_have_made_it_since(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        place p;
        cip_change *e;
        place_make(&p, PATH, kinds[k]);
        OK(cip_change_open(p.path, NULL, &e, err));
        OK(cip_change_put(e, "c", cip_dtype_of(CIP_I32), 1, rows, numbers, NULL, err));
        char name[700];
        snprintf(name, sizeof name, "%s/%sc", p.path, k == 2 ? "data/" : "");
        assert_int_equal(mkdir(name, 0755), 0);
        snprintf(name + strlen(name), 100, "/%s", k == 2 ? "__1__.bin" : "__attrs__");
        FILE *other = fopen(name, "w");
        assert_true(other != NULL && fclose(other) == 0);
        assert_int_not_equal(cip_change_commit(&e, NULL), CIP_OK);
        cip_file *f = place_open(&p);
        assert_false(has_column(f, "c"));
        cip_file_close(f);
        place_close(&p);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(columns_come_wherever_the_folder_is),
        TEST(what_cannot_come_changes_nothing),
        TEST(rows_and_a_column_come_in_one_update),
        TEST(another_process_may_have_made_it_since),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
