/* SPDX-License-Identifier: BSD-3-Clause
 * Columns that come to tables and records, wherever the folder is: on a disk, in memory, in a store
 * of the caller's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/fail_alloc.h"
#include "support/test_store.h"

#include <stdlib.h>

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

/* A new file with columns a and b. */
static cip_change *place_new(place *p, int kind, const char *format)
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
    return w;
}

static void place_make(place *p, int kind, const char *format)
{
    cip_change *w = place_new(p, kind, format);
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
                FAILS(CIP_ERR_ARG, "exists",
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
            case 6: /* by boxes it is refused at once, too */
                FAILS(CIP_ERR_ARG, "exists",
                      cip_change_declare(e, "b", d, 1, rows, NULL, &slab, err));
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

/* --- before the commit ------------------------------------------------------------------------ */

/* All records, which are the reader's to free. */
static void *all_records(const cip_array *a, size_t *nbytes)
{
    uint64_t n = cip_array_dtype(a) != NULL ? cip_dtype_itemsize(cip_array_dtype(a)) : 0;
    for (int k = 0; k < cip_array_ndim(a); k++)
        n *= (uint64_t)cip_array_shape(a)[k];
    *nbytes = (size_t)n;
    void *got = malloc((size_t)n + 1);
    assert_non_null(got);
    OK(cip_read(a, NULL, cip_dtype_as_stored(), got, (size_t)n, err));
    return got;
}

static void expect_same_arrays(const cip_file *f, const cip_file *want)
{
    assert_int_equal(cip_file_narray(f), cip_file_narray(want));
    for (size_t i = 0; i < cip_file_narray(f); i++) {
        const cip_array *w = cip_file_array(want, i), *a = NULL;
        for (size_t k = 0; k < cip_file_narray(f); k++)
            if (strcmp(cip_array_path(cip_file_array(f, k)), cip_array_path(w)) == 0)
                a = cip_file_array(f, k);
        if (a == NULL)
            fail_msg("'%s' is not listed", cip_array_path(w));
        size_t n, nwant;
        void *got = all_records(a, &n), *expected = all_records(w, &nwant);
        assert_string_equal(cip_dtype_name(cip_array_dtype(a)), cip_dtype_name(cip_array_dtype(w)));
        assert_int_equal(n, nwant);
        assert_memory_equal(got, expected, n);
        free(got);
        free(expected);
    }
}

static uint8_t bytes[8 * ROWS];

/* The bytes of n of the records. */
static cip_status records_size(cip_change *e, size_t n, size_t *nbytes, cip_err *why)
{
    const cip_array *a;
    const cip_status st = cip_change_array(e, "", &a, why);
    *nbytes = st == CIP_OK ? n * (size_t)cip_dtype_itemsize(cip_array_dtype(a)) : 0;
    return st;
}

enum { STEPS = 16 };

/* The k-th thing that is done to the columns a (int32) and b (2 x int32). */
static cip_status change_columns(cip_change *e, int k, bool table, cip_err *why)
{
    static const double halves[2 * ROWS + 10] = { 0.5, 1.5, 2.5 };
    static const int64_t now[] = { ROWS + 5 }, pairs_now[] = { ROWS + 5, 2 },
                         less[] = { ROWS - 90 };
    const cip_dtype *i32 = cip_dtype_of(CIP_I32), *f64 = cip_dtype_of(CIP_F64),
                    *u8 = cip_dtype_of(CIP_U8), *own = cip_dtype_as_stored();
    cip_status st = CIP_OK;
    size_t n;
    switch (k) {
    case 0:
        st = cip_change_write(e, "a", "0:2", i32, numbers + 99, 8, why);
        return st != CIP_OK ? st : cip_change_put(e, "c", i32, 1, rows, numbers + 7, NULL, why);
    case 1:
        return cip_change_write(e, "c", "65:75", i32, numbers, 40, why);
    case 2: /* to all of them */
        st = records_size(e, 5, &n, why);
        return st != CIP_OK ? st : cip_change_append(e, "", own, bytes, n, why);
    case 3:
        return cip_change_put(e, "d", f64, 2, pairs_now, halves,
                              CIP_ARRAY_OPTIONS(.codec = "zlib:9"), why);
    case 4:
        return cip_change_move(e, "c", "e", false, why);
    case 5:
        return cip_change_write(e, "e", "-1", i32, numbers + 3, 4, why);
    case 6:
        return cip_change_remove(e, "a", why);
    case 7: /* in the place of the one that was there */
        return cip_change_put(e, "a", f64, 1, now, halves, CIP_ARRAY_OPTIONS(.codec = "lz4"), why);
    case 8:
        return cip_change_delete(e, "", 0, 60, 85, why);
    case 9:
        st = records_size(e, 4, &n, why);
        return st != CIP_OK ? st : cip_change_insert(e, "", 0, 3, own, bytes, n, why);
    case 10:
        return cip_change_remove(e, "e", why);
    case 11: /* what came goes, and another comes */
        return cip_change_remove(e, "d", why);
    case 12:
        return cip_change_resize(e, "", 1, less, why);
    case 13:
        return cip_change_put(e, "d", u8, 1, less, bytes, NULL, why);
    case 14: /* a column's place, taken at once */
        return cip_change_put(e, "b", u8, 1, less, bytes + 9, CIP_ARRAY_OPTIONS(.replace = 1), why);
    default: /* one by one; together they are as long as before */
        for (size_t i = 0; table && i < 3 && st == CIP_OK; i++)
            st = cip_change_append(e, CIP_TEXTS("a", "d", "b")[i], own, bytes, i == 0 ? 8 : 1, why);
        return st;
    }
}

static void expect_same_now(cip_change *e, const cip_file *want)
{
    cip_err why = CIP_ERR_INIT;
    const cip_file *now = cip_change_file(e, &why);
    if (now == NULL)
        fail_msg("%s: %s", why.part, why.text);
    expect_same_arrays(now, want);
}

static void fill_bytes(void)
{
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i % 63);
}

static void columns_change_before_the_commit(void **state)
{
    (void)state;
    fill_bytes();
    for (size_t k = 0; k < 3 * STORES; k++) {
        for (int most = k / 3 == MEMORY ? 1 : STEPS; most <= STEPS; most++) {
            place p, q;
            cip_change *e, *other;
            place_make(&p, (int)(k / 3), kinds[k % 3]);
            place_make(&q, MEMORY, kinds[k % 3]);
            cip_file *f = place_open(&p), *g;
            OK(cip_change_begin(f, NULL, &e, err));
            for (int step = 0; step < most; step++) {
                OK(change_columns(e, step, k % 3 != 2, err));
                OK(cip_change_open_memory(q.memory, NULL, &other, err));
                OK(change_columns(other, step, k % 3 != 2, err));
                OK(cip_change_commit(&other, err));
                g = place_open(&q);
                expect_same_now(e, g);
                cip_file_close(g);
            }
            OK(cip_change_commit(&e, err));
            cip_file_close(f);
            if (p.kind == PATH)
                edit_verify(p.path);
            f = place_open(&p);
            g = place_open(&q);
            expect_same_arrays(f, g);
            cip_file_close(f);
            cip_file_close(g);
            place_close(&p);
            place_close(&q);
        }
    }
}

/* Before each step it and those that follow are made, each in a mark of its own, and taken back at
 * once; then all but the step itself. */
static void columns_go_back_to_any_mark(void **state)
{
    (void)state;
    fill_bytes();
    for (size_t k = 0; k < 3; k++) {
        const bool table = k != 2;
        place p, q;
        cip_change *e, *same;
        uint64_t mark[STEPS + 1];
        place_make(&p, MEMORY, kinds[k]);
        place_make(&q, MEMORY, kinds[k]);
        OK(cip_change_open_memory(p.memory, NULL, &e, err));
        OK(cip_change_open_memory(q.memory, NULL, &same, err));
        for (int step = 0; step < STEPS; step++) {
            for (int more = step; more < STEPS; more++) {
                OK(cip_change_mark(e, &mark[more], err));
                OK(change_columns(e, more, table, err));
            }
            OK(cip_change_undo(e, mark[step], err));
            expect_same_now(e, cip_change_file(same, NULL));
            OK(change_columns(e, step, table, err));
            OK(change_columns(same, step, table, err));
            for (int more = step + 1; more < STEPS && more < step + 4; more++) {
                OK(cip_change_mark(e, &mark[more], err));
                OK(change_columns(e, more, table, err));
            }
            for (int more = STEPS - 1; more > step; more--)
                if (more < step + 4)
                    OK(cip_change_undo(e, mark[more], err));
            expect_same_now(e, cip_change_file(same, NULL));
        }
        OK(cip_change_commit(&e, err));
        OK(cip_change_commit(&same, err));
        edit_expect_same(p.memory, q.memory);
        place_close(&p);
        place_close(&q);
    }
}

/* A column that does not come leaves nothing even without a mark. */
static bool is_put(int step)
{
    return step == 3 || step == 7 || step == 13 || step == 14;
}

static void where_memory_is_too_little_columns_go_back(void **state)
{
    (void)state;
    fill_bytes();
    for (size_t k = 0; k < 3; k++) {
        const bool table = k != 2;
        fail_alloc fa = { .fail_at = 0 };
        const cip_allocator from = { fail_alloc_resize, &fa };
        place p, q;
        cip_change *e, *same;
        place_make(&p, MEMORY, kinds[k]);
        place_make(&q, MEMORY, kinds[k]);
        OK(cip_change_open_memory(p.memory, CIP_CHANGE_OPTIONS(.allocator = &from, .threads = 1),
                                  &e, err));
        OK(cip_change_open_memory(q.memory, NULL, &same, err));
        for (int step = 0; step < STEPS; step++) {
            const size_t before = fa.requests;
            bool done = false;
            for (size_t n = 1, failed = 1; failed != 0; n += n < 60 ? 1 : 7) {
                const bool marked = !is_put(step) || n % 2 == 0;
                if (marked)
                    OK(cip_change_mark(e, NULL, err));
                fa.fail_at = fa.requests + n;
                const cip_status st = change_columns(e, step, table, NULL);
                failed = fa.requests >= fa.fail_at;
                fa.fail_at = 0;
                assert_true(st == CIP_OK || (failed && st == CIP_ERR_NOMEM));
                done = !marked && st == CIP_OK;
                if (done)
                    break;
                OK(marked ? cip_change_undo(e, 0, err) : cip_change_forget_failure(e, err));
                if (marked)
                    OK(cip_change_release(e, 0, err));
            }
            assert_true(fa.requests > before);
            if (!done) {
                expect_same_now(e, cip_change_file(same, NULL));
                OK(change_columns(e, step, table, err));
            }
            OK(change_columns(same, step, table, err));
            expect_same_now(e, cip_change_file(same, NULL));
        }
        OK(cip_change_commit(&e, err));
        OK(cip_change_commit(&same, err));
        edit_expect_same(p.memory, q.memory);
        assert_int_equal(fa.held, 0);
        place_close(&p);
        place_close(&q);
    }
}

/* A field of the file and one that came get other names in one update. */
static void both_kinds_of_columns_move(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (int marked = 0; marked < 2; marked++) {
            place p;
            cip_change *e;
            place_make(&p, MEMORY, kinds[k]);
            OK(cip_change_open_memory(p.memory, NULL, &e, err));
            OK(cip_change_put(e, "c", cip_dtype_of(CIP_I32), 1, rows, numbers + 7, NULL, err));
            OK(cip_change_move(e, "a", "x", false, err));
            const cip_array *a;
            if (k == 2) /* in records the name is nobody's */
                FAILS(CIP_ERR_NOT_FOUND, "no array or field", cip_change_array(e, "a", &a, err));
            for (int i = 0; i < marked; i++) {
                OK(cip_change_mark(e, NULL, err));
                OK(cip_change_move(e, "x", "a", false, err));
                OK(cip_change_move(e, "c", "d", false, err));
                OK(cip_change_undo(e, 0, err));
            }
            OK(cip_change_move(e, "c", "y", false, err));
            OK(cip_change_commit(&e, err));
            cip_file *f = place_open(&p);
            expect_column(f, "x", numbers, ROWS);
            expect_column(f, "y", numbers + 7, ROWS);
            assert_false(has_column(f, "a") || has_column(f, "c") || has_column(f, "d"));
            cip_file_close(f);
            place_close(&p);
        }
}

/* Before the commit of a new file, whose members get their names anew. */
static void a_field_takes_the_name_of_one_that_moved(void **state)
{
    (void)state;
    for (int kind = PATH; kind <= MEMORY; kind++) {
        place p;
        cip_change *e = place_new(&p, kind, "blz");
        OK(cip_change_move(e, "b", "c", false, err));
        OK(cip_change_put(e, "b", cip_dtype_of(CIP_I32), 1, rows, numbers + 7, NULL, err));
        OK(cip_change_commit(&e, err));
        cip_file *f = place_open(&p);
        expect_column(f, "a", numbers, ROWS);
        expect_column(f, "b", numbers + 7, ROWS);
        expect_column(f, "c", numbers, 2 * ROWS);
        cip_file_close(f);
        place_close(&p);
    }
}

static void fields_stay_while_one_is_filled(void **state)
{
    (void)state;
    place p;
    cip_slab *slab;
    const cip_box box = { .start = { 0 }, .stop = { ROWS } };
    cip_change *e = place_new(&p, MEMORY, "blz");
    OK(cip_change_declare(e, "c", cip_dtype_of(CIP_I32), 1, rows, NULL, &slab, err));
    OK(cip_slab_write(slab, &box, numbers + 7, ROWS * 4, err));
    FAILS(CIP_ERR_UNSUPPORTED, "'c' is being filled", cip_change_move(e, "a", "x", false, err));
    OK(cip_change_forget_failure(e, err));
    OK(cip_change_commit(&e, err));
    cip_file *f = place_open(&p);
    expect_column(f, "a", numbers, ROWS);
    expect_column(f, "c", numbers + 7, ROWS);
    cip_file_close(f);
    place_close(&p);
}

static void expect_unit(cip_change *e, const char *column, const char *unit)
{
    const cip_node *root;
    char path[80];
    snprintf(path, sizeof path, "column_attributes/%s/unit", column);
    OK(cip_change_tree(e, &root, err));
    const cip_node *node = cip_tree_get(root, path, NULL);
    assert_int_equal(node != NULL, unit != NULL);
    if (unit != NULL)
        assert_string_equal(cip_node_text(node, NULL), unit);
}

/* They move and go with their column. */
static void attributes_of_columns_go_back(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        place p, q;
        cip_change *e, *same;
        uint64_t first, second;
        place_make(&p, MEMORY, kinds[k]);
        place_make(&q, MEMORY, kinds[k]);
        OK(cip_change_open_memory(p.memory, NULL, &e, err));
        OK(cip_change_open_memory(q.memory, NULL, &same, err));
        OK(cip_change_set_string(e, "column_attributes/a/unit", "mm", err));
        OK(cip_change_mark(e, &first, err));
        OK(cip_change_move(e, "a", "x", false, err));
        OK(cip_change_set_string(e, "column_attributes/x/unit", "cm", err));
        OK(cip_change_put(e, "c", cip_dtype_of(CIP_I32), 1, rows, numbers, NULL, err));
        OK(cip_change_set_string(e, "column_attributes/c/unit", "km", err));
        OK(cip_change_mark(e, &second, err));
        OK(cip_change_remove(e, "x", err));
        OK(cip_change_move(e, "c", "d", false, err));
        expect_unit(e, "d", "km");
        expect_unit(e, "x", NULL);
        OK(cip_change_undo(e, second, err));
        expect_unit(e, "c", "km");
        expect_unit(e, "d", NULL);
        expect_unit(e, "x", "cm");
        expect_unit(e, "a", NULL);
        OK(cip_change_undo(e, first, err));
        expect_unit(e, "a", "mm");
        expect_unit(e, "x", NULL);
        expect_unit(e, "c", NULL);
        OK(cip_change_set_string(same, "column_attributes/a/unit", "mm", err));
        for (int i = 0; i < 2; i++)
            OK(cip_change_move(i == 0 ? e : same, "a", "z", false, err));
        expect_unit(e, "z", "mm");
        OK(cip_change_commit(&e, err));
        OK(cip_change_commit(&same, err));
        edit_expect_same(p.memory, q.memory);
        place_close(&p);
        place_close(&q);
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
        TEST(columns_change_before_the_commit),
        TEST(columns_go_back_to_any_mark),
        TEST(where_memory_is_too_little_columns_go_back),
        TEST(both_kinds_of_columns_move),
        TEST(a_field_takes_the_name_of_one_that_moved),
        TEST(fields_stay_while_one_is_filled),
        TEST(attributes_of_columns_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
