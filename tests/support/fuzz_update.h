/* SPDX-License-Identifier: BSD-3-Clause
 * For fuzz targets of updates: changes the first array of a file in memory, and reads of the file
 * what must have come of it. A file that cannot be read whole before has only to open afterwards.
 */
#ifndef CIP_TESTS_FUZZ_UPDATE_H
#define CIP_TESTS_FUZZ_UPDATE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cippus/cippus.h"

enum { FUZZ_NBYTES = 1 << 17 };

/* Rows that come without elements are not zeros, but what the file says: set by the target. */
static bool fuzz_fills;

/* The array as the machine has it. */
typedef struct fuzz_array {
    int ndim;
    int64_t shape[CIP_MAX_NDIM];
    size_t row, rows; /* bytes of an element along the first axis; how many */
    size_t filled;    /* of them, at the end, that the format fills with a value of the file's */
    bool known;       /* the elements could be read */
    uint8_t *elems;   /* 4 * FUZZ_NBYTES: a change at most doubles it, and needs room for rows */
} fuzz_array;

static inline const cip_limits *fuzz_limits(void)
{
    static const cip_limits limits = { .size = sizeof limits,
                                       .max_memory = 64 << 20,
                                       .max_elements = 1 << 20 };
    return &limits;
}

/* False: there is none, or it has more than `most` bytes, or no axes or bytes. */
static inline bool fuzz_measure(const cip_array *a, uint64_t most, fuzz_array *out)
{
    const cip_dtype *d = a != NULL ? cip_array_native_dtype(a, NULL) : NULL;
    uint64_t row;
    if (d == NULL || cip_array_state(a, NULL) != CIP_OK || cip_array_ndim(a) == 0)
        return false;
    out->ndim = cip_array_ndim(a);
    memcpy(out->shape, cip_array_shape(a), (size_t)out->ndim * sizeof *out->shape);
    row = cip_dtype_itemsize(d);
    for (int k = 1; k < out->ndim; k++)
        if (__builtin_mul_overflow(row, (uint64_t)out->shape[k], &row))
            return false;
    if (row == 0 || row > most || (uint64_t)out->shape[0] > most / row)
        return false;
    out->row = (size_t)row;
    out->rows = (size_t)out->shape[0];
    return true;
}

/* Opens the file: its format, or NULL when it cannot be opened. */
static inline const char *fuzz_look(cip_memory *m, uint64_t most, fuzz_array *out, bool *fits)
{
    cip_file *f;
    cip_open_options o = { .size = sizeof o, .limits = fuzz_limits(), .threads = 1 };
    if (cip_memory_open(m, &o, &f, NULL) != CIP_OK)
        return NULL;
    const char *name = cip_file_format(f);
    const cip_array *a = cip_file_array(f, 0);
    *fits = fuzz_measure(a, most, out);
    out->known = *fits && cip_read(a, NULL, cip_array_native_dtype(a, NULL), out->elems,
                                   out->row * out->rows, NULL) == CIP_OK;
    cip_file_close(f);
    return name;
}

/* n rows go, as far as there are as many, or come before one. */
static inline cip_status fuzz_splice(cip_change *e, unsigned how, size_t n, fuzz_array *a)
{
    const size_t start = how / 2 % (a->rows + 1), left = a->rows - start;
    uint8_t *at = a->elems + start * a->row, *rows = a->elems + 3 * FUZZ_NBYTES;
    if (how % 2 == 0) {
        n = n < left ? n : left;
        memmove(at, at + n * a->row, (left - n) * a->row);
        a->rows -= n;
        a->shape[0] -= (int64_t)n;
        return cip_change_delete(e, "", 0, (int64_t)start, (int64_t)n, NULL);
    }
    memcpy(rows, a->elems, n * a->row);
    memmove(at + n * a->row, at, left * a->row);
    memcpy(at, rows, n * a->row);
    a->rows += n;
    a->shape[0] += (int64_t)n;
    return cip_change_insert(e, "", 0, (int64_t)start, cip_dtype_as_stored(), rows, n * a->row,
                             NULL);
}

/* One change, made of the array's own rows, in the file and in `a`. */
static inline cip_status fuzz_change(cip_change *e, unsigned how, fuzz_array *a)
{
    char selection[64];
    const size_t n = a->rows == 0 ? 0 : how / 3 % a->rows + 1;
    if (how % 3 == 0 && n != 0) {
        const size_t to = how / 7 % (a->rows - n + 1);
        uint8_t *rows = a->elems + FUZZ_NBYTES;
        memcpy(rows, a->elems, n * a->row);
        memcpy(a->elems + to * a->row, rows, n * a->row);
        snprintf(selection, sizeof selection, "[%zu:%zu]", to, to + n);
        return cip_change_write(e, "", selection, cip_dtype_as_stored(), rows, n * a->row, NULL);
    }
    if (how % 3 == 1) {
        memcpy(a->elems + a->rows * a->row, a->elems, n * a->row);
        a->rows += n;
        a->shape[0] += (int64_t)n;
        return cip_change_append(e, "", cip_dtype_as_stored(), a->elems + (a->rows - n) * a->row,
                                 n * a->row, NULL);
    }
    if (how % 6 == 5)
        return fuzz_splice(e, how / 6, n, a);
    const size_t rows = how / 3 * a->rows / 40 + how % 5;
    if (rows > 2 * FUZZ_NBYTES / a->row)
        return CIP_ERR_LIMIT;
    if (rows > a->rows && fuzz_fills)
        a->filled = rows - a->rows;
    if (rows > a->rows)
        memset(a->elems + a->rows * a->row, 0, (rows - a->rows) * a->row);
    a->rows = rows;
    a->shape[0] = (int64_t)rows;
    return cip_change_resize(e, "", a->ndim, a->shape, NULL);
}

static inline cip_status fuzz_edit(cip_memory *m, unsigned how, fuzz_array *a)
{
    cip_change *e;
    const cip_open_options open = { .size = sizeof open, .limits = fuzz_limits(), .threads = 1 };
    const cip_change_options o = { .size = sizeof o, .open = &open };
    cip_status st = cip_change_open_memory(m, &o, &e, NULL);
    if (st != CIP_OK)
        return st;
    st = fuzz_change(e, how, a);
    if (st == CIP_OK && (st = cip_change_commit(&e, NULL)) != CIP_ERR_BUSY)
        return st;
    cip_change_abort(&e);
    return st;
}

/* Makes the change `how` (0 to 255) and aborts where the file that it leaves does not open, or an
 * array that was read whole before does not read as it must then. False: no more can be done. */
static inline bool fuzz_update(cip_memory *m, const char *format, unsigned how)
{
    fuzz_array was = { .ndim = 0 }, now = { .ndim = 0 };
    bool fits, ends = true;
    was.elems = (uint8_t *)malloc(4 * FUZZ_NBYTES);
    now.elems = (uint8_t *)malloc(4 * FUZZ_NBYTES);
    if (was.elems == NULL || now.elems == NULL)
        abort();
    const char *name = fuzz_look(m, FUZZ_NBYTES, &was, &fits);
    if (name != NULL && strcmp(name, format) == 0 && fits && fuzz_edit(m, how, &was) == CIP_OK) {
        if (fuzz_look(m, 2 * FUZZ_NBYTES, &now, &fits) == NULL || !fits || now.rows != was.rows)
            abort();
        if (was.known &&
            (!now.known || memcmp(now.elems, was.elems, (was.rows - was.filled) * was.row) != 0))
            abort();
        ends = false;
    }
    free(was.elems);
    free(now.elems);
    return !ends;
}

/* Any bytes as a file of the format that is changed twice: the first two say how. */
static inline int fuzz_update_twice(const char *format, const uint8_t *data, size_t size)
{
    cip_memory *m;
    if (size < 2 || cip_memory_new(data + 2, size - 2, &m, NULL) != CIP_OK)
        return 0;
    if (fuzz_update(m, format, data[0]))
        fuzz_update(m, format, data[1]);
    cip_memory_free(m);
    return 0;
}

#endif
