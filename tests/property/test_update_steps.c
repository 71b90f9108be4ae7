/* SPDX-License-Identifier: BSD-3-Clause
 * Random updates of small arrays in every format that is changed in place, against a plain model:
 * elements, rows and shapes, one after the other in one update, refused calls among them, and what
 * is read meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cippus/cippus.h"

#include "support/effort.h"

enum { ROWS = 24, COLUMNS = 6, STEPS = 14 };

typedef struct kind {
    const char *name, *format, *option, *codec, *storage, *array;
    int32_t columns;
} kind;

static const kind kinds[] = {
    { "a.asdf", NULL, NULL, NULL, NULL, "a", 3 },
    { "a.asdf", NULL, NULL, "zlib", NULL, "a", 3 },
    { "a.asdf", NULL, NULL, "lz4", NULL, "a", 1 },
    { "a.asdf", NULL, NULL, NULL, "inline", "a", 2 },
    { "a.asdf", NULL, NULL, NULL, "streamed", "a", 2 },
    { "a.b2nd", NULL, NULL, NULL, NULL, "", 3 },
    { "a.b2nd", NULL, "sparse=yes", NULL, NULL, "", 2 },
    { "a.npy", NULL, NULL, NULL, NULL, "", 3 },
    { "a.npz", NULL, NULL, NULL, NULL, "", 3 },
    { "a.npz", NULL, NULL, "zlib", NULL, "", 2 },
    { "a.fits", NULL, NULL, NULL, NULL, "", 3 },
    { "a.ra", NULL, NULL, NULL, NULL, "", 3 },
    { "a.ra", NULL, NULL, "lz4", NULL, "", 3 },
    { "a.blp", NULL, "chunk_size=32", NULL, NULL, "", 2 },
    { NULL, "bcolz", "chunklen=5", NULL, NULL, "", 3 },
    { NULL, "blz-dir", "chunklen=5", NULL, NULL, "", 3 },
    { NULL, "blz", "chunklen=5", NULL, NULL, "", 2 },
    { NULL, "zarr", "chunks=5,2", NULL, NULL, "a", 3 },
    { NULL, "zarr", "shards=6,2", "lz4", NULL, "a", 2 },
    { "a.zarr.zip", NULL, "chunks=5,2", NULL, NULL, "a", 3 },
    { "a.zarr.zip", NULL, "shards=6,2", "lz4", NULL, "a", 2 },
};

enum { NKIND = sizeof kinds / sizeof kinds[0] };

/* The array as it should be. */
typedef struct model {
    const kind *k;
    int64_t shape[2];
    int32_t v[ROWS * COLUMNS];
} model;

static uint64_t seed = 1;
static int32_t counter;

static uint64_t any(uint64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return n == 0 ? 0 : (seed >> 33) % n;
}

static size_t count(const model *m)
{
    return (size_t)(m->shape[0] * m->shape[1]);
}

static void fail_at(const model *m, const char *what, const cip_err *err)
{
    fail_msg("%s (%s, %s): %s: %s: %s", m->k->name != NULL ? m->k->name : m->k->format,
             m->k->codec != NULL ? m->k->codec : "", m->k->storage != NULL ? m->k->storage : "",
             what, err->part, err->text);
}

/* Whether the call was made. What a format cannot do is refused, and leaves all as it is. */
static bool done(const model *m, cip_change *e, cip_status st, const cip_err *why, const char *what)
{
    cip_err err = CIP_ERR_INIT;
    if (st == CIP_OK)
        return true;
    if (st != CIP_ERR_UNSUPPORTED)
        fail_at(m, what, why);
    if (cip_change_forget_failure(e, &err) != CIP_OK)
        fail_at(m, what, &err);
    return false;
}

static void new_values(int32_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = ++counter;
}

/* Rows of another axis-0 length, as they are in `from`, zeros behind. */
static void reshape(model *m, int64_t rows, int64_t columns)
{
    const model was = *m;
    m->shape[0] = rows;
    m->shape[1] = columns;
    memset(m->v, 0, sizeof m->v);
    for (int64_t i = 0; i < rows && i < was.shape[0]; i++)
        for (int64_t k = 0; k < columns && k < was.shape[1]; k++)
            m->v[i * columns + k] = was.v[i * was.shape[1] + k];
}

static void splice(model *m, int64_t start, int64_t removed, int64_t added, const int32_t *v)
{
    const size_t row = (size_t)m->shape[1];
    const int64_t behind = m->shape[0] - start - removed;
    memmove(m->v + (size_t)(start + added) * row, m->v + (size_t)(start + removed) * row,
            (size_t)behind * row * sizeof *v);
    memcpy(m->v + (size_t)start * row, v, (size_t)added * row * sizeof *v);
    m->shape[0] += added - removed;
}

/* --- what is read ------------------------------------------------------------------------------*/

static void expect_elements(const model *m, cip_change *e)
{
    int32_t got[ROWS * COLUMNS];
    cip_err err = CIP_ERR_INIT;
    const cip_array *a;
    if (cip_change_array(e, m->k->array, &a, &err) != CIP_OK)
        fail_at(m, "cip_change_array", &err);
    const int64_t *shape = cip_array_shape(a);
    assert_int_equal(cip_array_ndim(a), 2);
    if (shape[0] != m->shape[0] || shape[1] != m->shape[1])
        fail_at(m, "another shape", &err);
    if (cip_read_into(a, CIP_READ_ARGS(.dst = got, .dst_nbytes = count(m) * sizeof *got), &err) !=
        CIP_OK)
        fail_at(m, "cip_read_into", &err);
    if (memcmp(got, m->v, count(m) * sizeof *got) != 0)
        fail_at(m, "other elements within the update", &err);
    const cip_file *now = cip_change_file(e, &err);
    a = cip_find(now, m->k->array, &err);
    if (a == NULL || cip_array_shape(a)[0] != m->shape[0] || cip_array_shape(a)[1] != m->shape[1])
        fail_at(m, "cip_change_file", &err);
    memset(got, 0, sizeof got);
    if (cip_read(a, NULL, cip_dtype_as_stored(), got, count(m) * sizeof *got, &err) != CIP_OK ||
        memcmp(got, m->v, count(m) * sizeof *got) != 0)
        fail_at(m, "other elements in the file of the update", &err);
}

static void expect_file(const model *m, cip_memory *memory)
{
    int32_t got[ROWS * COLUMNS];
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    if (cip_memory_open(memory, NULL, &f, &err) != CIP_OK)
        fail_at(m, "open", &err);
    const cip_array *a = cip_find(f, m->k->array, &err);
    const int64_t *shape = a != NULL ? cip_array_shape(a) : NULL;
    if (shape == NULL || shape[0] != m->shape[0] || shape[1] != m->shape[1])
        fail_at(m, "another shape in the file", &err);
    if (cip_read(a, NULL, cip_dtype_of(CIP_I32), got, count(m) * sizeof *got, &err) != CIP_OK)
        fail_at(m, "read", &err);
    if (memcmp(got, m->v, count(m) * sizeof *got) != 0)
        fail_at(m, "other elements in the file", &err);
    cip_file_close(f);
}

/* --- steps -------------------------------------------------------------------------------------*/

static void write_box(model *m, cip_change *e)
{
    char text[96];
    int32_t v[ROWS * COLUMNS];
    cip_err err = CIP_ERR_INIT;
    const int64_t a = (int64_t)any((uint64_t)m->shape[0] + 1),
                  b = a + (int64_t)any((uint64_t)(m->shape[0] - a) + 1),
                  c = (int64_t)any((uint64_t)m->shape[1] + 1),
                  d = c + (int64_t)any((uint64_t)(m->shape[1] - c) + 1);
    const size_t n = (size_t)((b - a) * (d - c));
    new_values(v, n);
    snprintf(text, sizeof text, "[%d:%d, %d:%d]", (int)a, (int)b, (int)c, (int)d);
    if (!done(m, e,
              cip_change_write(e, m->k->array, text, cip_dtype_as_stored(), v, n * sizeof *v, &err),
              &err, text))
        return;
    for (int64_t i = a; i < b; i++)
        for (int64_t k = c; k < d; k++)
            m->v[i * m->shape[1] + k] = v[(i - a) * (d - c) + (k - c)];
}

static void add_rows(model *m, cip_change *e, bool end)
{
    int32_t v[ROWS * COLUMNS];
    cip_err err = CIP_ERR_INIT;
    const int64_t n = (int64_t)any((uint64_t)(ROWS - m->shape[0] < 4 ? ROWS - m->shape[0] : 4) + 1),
                  at = end ? m->shape[0] : (int64_t)any((uint64_t)m->shape[0] + 1);
    const size_t nbytes = (size_t)(n * m->shape[1]) * sizeof *v;
    new_values(v, (size_t)(n * m->shape[1]));
    if (done(m, e,
             end ? cip_change_append(e, m->k->array, cip_dtype_as_stored(), v, nbytes, &err)
                 : cip_change_insert(e, m->k->array, 0, at, cip_dtype_as_stored(), v, nbytes, &err),
             &err, end ? "append" : "insert"))
        splice(m, at, 0, n, v);
}

static void take_rows(model *m, cip_change *e)
{
    cip_err err = CIP_ERR_INIT;
    const int64_t at = (int64_t)any((uint64_t)m->shape[0] + 1),
                  n = (int64_t)any((uint64_t)(m->shape[0] - at) + 1);
    if (done(m, e, cip_change_delete(e, m->k->array, 0, at, n, &err), &err, "delete"))
        splice(m, at, n, 0, m->v);
}

static void resize(model *m, cip_change *e)
{
    cip_err err = CIP_ERR_INIT;
    const int64_t shape[] = { (int64_t)any(ROWS + 1),
                              any(3) == 0 ? 1 + (int64_t)any(COLUMNS) : m->shape[1] };
    if (done(m, e, cip_change_resize(e, m->k->array, 2, shape, &err), &err, "resize"))
        reshape(m, shape[0], shape[1]);
}

/* A call that fails, whatever the array is. */
static void wrong(model *m, cip_change *e)
{
    cip_err err = CIP_ERR_INIT;
    const cip_status st = any(2) == 0 ? cip_change_write(e, m->k->array, "[0:1]",
                                                         cip_dtype_as_stored(), m->v, 1, &err)
                                      : cip_change_delete(e, m->k->array, 0, m->shape[0], 1, &err);
    assert_int_not_equal(st, CIP_OK);
    if (cip_change_forget_failure(e, &err) != CIP_OK)
        fail_at(m, "forgetting", &err);
}

static void step(model *m, cip_change *e)
{
    switch (any(8)) {
    case 0:
    case 1:
    case 2:
        write_box(m, e);
        break;
    case 3:
        add_rows(m, e, true);
        break;
    case 4:
        add_rows(m, e, false);
        break;
    case 5:
        take_rows(m, e);
        break;
    case 6:
        resize(m, e);
        break;
    default:
        wrong(m, e);
    }
    if (any(2) == 0)
        expect_elements(m, e);
}

static cip_memory *make(model *m, const kind *k)
{
    cip_memory *memory;
    cip_change *w;
    cip_err err = CIP_ERR_INIT;
    *m = (model){ .k = k, .shape = { 1 + (int64_t)any(12), k->columns } };
    new_values(m->v, count(m));
    const char *const options[] = { k->option, NULL };
    cip_create_memory(k->name,
                      CIP_CHANGE_OPTIONS(.format = k->format,
                                         .format_options = k->option != NULL ? options : NULL),
                      &memory, &w, &err);
    cip_change_put(w, "a", cip_dtype_of(CIP_I32), 2, m->shape, m->v,
                   CIP_ARRAY_OPTIONS(.codec = k->codec, .storage = k->storage), &err);
    if (cip_change_commit(&w, &err) != CIP_OK)
        fail_at(m, "create", &err);
    return memory;
}

static void one_file(const kind *k)
{
    model m;
    cip_memory *memory = make(&m, k);
    for (int i = 0; i < 3; i++) {
        cip_err err = CIP_ERR_INIT;
        cip_change *e;
        if (cip_change_open_memory(memory, NULL, &e, &err) != CIP_OK)
            fail_at(&m, "begin", &err);
        for (uint64_t n = any(STEPS); n != 0; n--)
            step(&m, e);
        if (cip_change_commit(&e, &err) != CIP_OK)
            fail_at(&m, "commit", &err);
        expect_file(&m, memory);
    }
    cip_memory_free(memory);
}

static void updates_are_what_the_model_says(void **state)
{
    (void)state;
    const uint64_t n = test_full() ? 3000 : 150, first = test_seed();
    for (size_t k = 0; k < NKIND; k++)
        for (uint64_t i = 0; i < n; i++) {
            seed = first * 1000003 + k * 7919 + i;
            one_file(&kinds[k]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(updates_are_what_the_model_says) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
