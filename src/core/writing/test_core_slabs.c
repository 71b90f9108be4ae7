/* SPDX-License-Identifier: BSD-3-Clause
 * Slabs that many threads fill: what comes of them is what one thread in order would have written,
 * in a file whose arrays come one behind the other, and in a store whose chunks lie apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "base/endian.h"
#include "support/core/writing/edit_testing.h"
#include "core/writing/writer.h"

enum { THREADS = 8, ROWS = 300, COLUMNS = 701, SIDE = 23, LONGEST = 90, NBOX = 200 };

static scratch s;
static int32_t *values;
static const int64_t shape[] = { ROWS, COLUMNS };

static int setup(void **state)
{
    (void)state;
    values = malloc(sizeof *values * ROWS * COLUMNS);
    for (int i = 0; values != NULL && i < ROWS * COLUMNS; i++)
        values[i] = i / 5 * 7;
    return values != NULL && scratch_open(&s) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&s);
    free(values);
    return 0;
}

/* --- boxes ------------------------------------------------------------------------------------ */

static uint64_t draw(uint64_t *seed, uint64_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (*seed >> 33) % n;
}

/* The array cut in two, over and over, and shuffled. */
static void cut(cip_box *box, uint64_t seed)
{
    size_t n = 1;
    box[0] = (cip_box){ { 0, 0 }, { ROWS, COLUMNS } };
    while (n < NBOX) {
        cip_box *b = &box[draw(&seed, n)];
        int k = (int)draw(&seed, 2);
        if (b->stop[k] - b->start[k] < 2)
            continue;
        box[n] = *b;
        b->stop[k] = box[n].start[k] =
            b->start[k] + 1 + (int64_t)draw(&seed, (uint64_t)(b->stop[k] - b->start[k] - 1));
        n++;
    }
    for (; n > 1; n--) {
        size_t i = draw(&seed, n);
        cip_box swap = box[n - 1];
        box[n - 1] = box[i];
        box[i] = swap;
    }
}

typedef struct crew {
    cip_slab *slab;
    const cip_box *box;
    _Atomic size_t next;
} crew;

static cip_status write_box(cip_slab *slab, const cip_box *b, cip_err *err)
{
    const int64_t w = b->stop[1] - b->start[1];
    const size_t n = (size_t)((b->stop[0] - b->start[0]) * w);
    int32_t *elems = malloc(n * sizeof *elems);
    assert_non_null(elems);
    for (int64_t y = b->start[0]; y < b->stop[0]; y++)
        memcpy(elems + (y - b->start[0]) * w, values + y * COLUMNS + b->start[1],
               (size_t)w * sizeof *elems);
    cip_status st = cip_slab_write(slab, b, elems, n * sizeof *elems, err);
    free(elems);
    return st;
}

static void *work(void *arg)
{
    crew *c = arg;
    for (size_t i; (i = c->next++) < NBOX;)
        OK(write_box(c->slab, &c->box[i], err));
    return NULL;
}

static void fill(cip_slab *slab, uint64_t seed, cip_change *also)
{
    static cip_box box[NBOX];
    pthread_t t[THREADS];
    crew c = { .slab = slab, .box = box };
    cut(box, seed);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, work, &c), 0);
    if (also != NULL)
        OK(cip_change_put(also, "other", cip_dtype_of(CIP_I32), 2, shape, values, NULL, err));
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

/* --- one array behind the other --------------------------------------------------------------- */

static char *written(const char *codec, uint64_t seed, size_t *n)
{
    cip_change *w;
    cip_slab *slab;
    const char *path = scratch_path(&s, "slab.asdf");
    const cip_box all = { { 0, 0 }, { ROWS, COLUMNS } };
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true, .codec = codec), &w, err));
    OK(cip_change_declare(w, "a", cip_dtype_of(CIP_I32), 2, shape, NULL, &slab, err));
    if (seed != 0)
        fill(slab, seed, NULL);
    else
        OK(write_box(slab, &all, err));
    OK(cip_change_commit(&w, err));
    return edit_bytes(path, n);
}

static void a_file_is_the_same_whoever_filled_its_slab(void **state)
{
    static const char *const codec[] = { "none", "zlib:1" };
    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t n, m;
        char *one = written(codec[i], 0, &n);
        for (uint64_t seed = 1; seed < 4; seed++) {
            char *many = written(codec[i], seed, &m);
            assert_int_equal(n, m);
            assert_memory_equal(one, many, n);
            free(many);
        }
        free(one);
    }
}

/* --- chunks that lie apart -------------------------------------------------------------------- */

/* A store of two arrays: one in n-d chunks, the other in linear ones; both big-endian. */
enum { NDOWN = (ROWS + SIDE - 1) / SIDE, NACROSS = (COLUMNS + SIDE - 1) / SIDE };
enum { NLINEAR = (ROWS * COLUMNS + LONGEST - 1) / LONGEST };

typedef struct apart {
    int32_t nd[NDOWN * NACROSS][SIDE * SIDE], linear[NLINEAR][LONGEST];
    int count[2][NDOWN * NACROSS + NLINEAR];
    size_t narray, ended, early; /* early: chunks that came before the commit */
    bool committing, inside;
    uint64_t fail_at; /* the chunk of array 0 that cannot be stored; 0: none */
} apart;

static apart *kept; /* the store that is tested */

static cip_status add(void *state, const cip_spec_array *array, cip_array_form *form, cip_err *err)
{
    static const int64_t chunk[] = { SIDE, SIDE };
    static const cip_grid grid = { .ndim = 2, .itemsize = 4, .shape = shape, .chunk = chunk };
    (void)state;
    (void)err;
    assert_non_null(array->path);
    form->dtype = cip_dtype_fixed(CIP_I32, true);
    if (kept->narray++ == 0)
        form->grid = &grid;
    else
        form->chunk_nbytes = LONGEST * 4;
    form->caps = CIP_FORM_ANY_ORDER;
    return CIP_OK;
}

static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    (void)state;
    assert_false(kept->inside); /* one thread at a time */
    kept->inside = true;
    for (size_t k = 0; k < n; k++, i++) {
        if (array == 0 && i == kept->fail_at && i != 0) {
            kept->inside = false;
            return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "the disk is full");
        }
        assert_true(chunk[k].bytes.len <= (array == 0 ? sizeof kept->nd[0] : LONGEST * 4));
        memcpy(array == 0 ? kept->nd[i] : kept->linear[i], chunk[k].bytes.ptr, chunk[k].bytes.len);
        kept->count[array][i]++;
        kept->early += array == 0 && !kept->committing;
    }
    kept->inside = false;
    return CIP_OK;
}

static cip_status end(void *state, size_t array, bool *again, cip_err *err)
{
    (void)state;
    (void)array;
    (void)err;
    if (again != NULL)
        *again = false;
    kept->ended++;
    return CIP_OK;
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    (void)state;
    (void)r;
    (void)err;
    return CIP_OK;
}

/* A file of a format whose store is the one above, in place of ASDF's. */
static cip_change *begin_apart(cip_format *format, cip_array_store *ops)
{
    cip_change *c;
    OK(cip_create(scratch_path(&s, "apart.asdf"), CIP_CHANGE_OPTIONS(.overwrite = true), &c, err));
    cip_writer *w = (cip_writer *)(void *)c;
    *format = *w->format;
    *ops = *format->store;
    ops->caps |= CIP_STORE_APART;
    ops->add = add;
    ops->store = store;
    ops->end = end;
    ops->finish = finish;
    format->store = ops;
    w->format = format;
    w->engine.store = ops;
    kept = calloc(1, sizeof *kept);
    assert_non_null(kept);
    return c;
}

static void expect_apart(size_t narray)
{
    assert_int_equal(kept->narray, narray);
    assert_int_equal(kept->ended, narray);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        int64_t y = i / COLUMNS, x = i % COLUMNS, c = y / SIDE * NACROSS + x / SIDE;
        assert_int_equal(kept->count[0][c], 1);
        assert_int_equal(cip_load_u32(&kept->nd[c][y % SIDE * SIDE + x % SIDE], true), values[i]);
        if (narray < 2)
            continue;
        assert_int_equal(kept->count[1][i / LONGEST], 1);
        assert_int_equal(cip_load_u32(&kept->linear[i / LONGEST][i % LONGEST], true), values[i]);
    }
}

static void chunks_that_lie_apart_are_stored_as_they_come(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 5; seed++) {
        cip_format format;
        cip_array_store ops;
        cip_slab *slab;
        cip_change *w = begin_apart(&format, &ops);
        OK(cip_change_declare(w, "a", cip_dtype_of(CIP_I32), 2, shape, NULL, &slab, err));
        fill(slab, seed, seed % 2 != 0 ? w : NULL);
        assert_true(kept->early != 0);
        kept->committing = true;
        OK(cip_change_commit(&w, err));
        expect_apart(1 + seed % 2);
        free(kept);
    }
}

static void a_box_over_a_stored_chunk_or_one_that_is_not_stored_fails_the_commit(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        cip_format format;
        cip_array_store ops;
        cip_slab *slab;
        cip_change *w = begin_apart(&format, &ops);
        const cip_box all = { { 0, 0 }, { ROWS, COLUMNS } }, one = { { 3, 3 }, { 4, 4 } };
        OK(cip_change_declare(w, "a", cip_dtype_of(CIP_I32), 2, shape, NULL, &slab, err));
        kept->fail_at = i == 0 ? 7 : 0;
        if (i == 0) {
            FAILS(CIP_ERR_IO, "the disk is full", write_box(slab, &all, err));
        } else {
            OK(write_box(slab, &all, err));
            FAILS(CIP_ERR_ARG, "without common elements", write_box(slab, &one, err));
        }
        FAILS(i == 0 ? CIP_ERR_IO : CIP_ERR_ARG,
              i == 0 ? "the disk is full" : "without common elements", cip_change_commit(&w, err));
        free(kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_the_same_whoever_filled_its_slab),
        cmocka_unit_test(chunks_that_lie_apart_are_stored_as_they_come),
        cmocka_unit_test(a_box_over_a_stored_chunk_or_one_that_is_not_stored_fails_the_commit),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
