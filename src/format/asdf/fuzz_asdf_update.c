/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a file that is changed: the first says how. What comes of it must open again, and
 * an array that changed must read as the update showed it before the commit, or not at all where
 * the file was damaged: what its blocks are may be judged by their data. */
#include "support/fuzz_update.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first array that can be read and is small, by its path; NULL: there is none. */
static char *first_array(cip_memory *m, bool *opens, bool *sound)
{
    const cip_open_options o = { .size = sizeof o, .limits = fuzz_limits(), .threads = 1 };
    cip_file *f;
    char *path = NULL;
    *opens = cip_memory_open(m, &o, &f, NULL) == CIP_OK;
    *sound = *opens && cip_verify_file(f, NULL, NULL) == CIP_OK;
    for (size_t i = 0; *opens && path == NULL && i < cip_file_narray(f); i++) {
        const cip_array *a = cip_file_array(f, i);
        if (cip_array_state(a, NULL) == CIP_OK && cip_dtype_itemsize(cip_array_dtype(a)) < 1 << 12)
            path = strdup(cip_array_path(a));
    }
    if (*opens)
        cip_file_close(f);
    return path;
}

/* Bytes of all elements, at most FUZZ_NBYTES; SIZE_MAX: there are more. */
static size_t count_bytes(const cip_array *a, const cip_dtype *d)
{
    uint64_t n = cip_dtype_itemsize(d);
    for (int k = 0; k < cip_array_ndim(a); k++)
        if (__builtin_mul_overflow(n, (uint64_t)cip_array_shape(a)[k], &n))
            return SIZE_MAX;
    return n <= FUZZ_NBYTES ? (size_t)n : SIZE_MAX;
}

/* All elements of such an array; NULL: it is larger, or they cannot be read. */
static uint8_t *read_all(const cip_array *a, size_t *nbytes)
{
    const cip_dtype *d = a != NULL ? cip_array_native_dtype(a, NULL) : NULL;
    if (d == NULL || (*nbytes = count_bytes(a, d)) == SIZE_MAX)
        return NULL;
    uint8_t *elems = calloc(*nbytes + 1, 1);
    if (elems != NULL && cip_read(a, NULL, d, elems, *nbytes, NULL) == CIP_OK)
        return elems;
    free(elems);
    return NULL;
}

static cip_status change_data(cip_change *e, const char *path, unsigned how)
{
    const cip_array *a;
    const cip_dtype *d;
    int64_t shape[CIP_MAX_NDIM];
    size_t all;
    if (cip_change_array(e, path, &a, NULL) != CIP_OK ||
        (d = cip_array_native_dtype(a, NULL)) == NULL || (all = count_bytes(a, d)) == SIZE_MAX)
        return CIP_ERR_UNSUPPORTED;
    const int ndim = cip_array_ndim(a);
    memcpy(shape, cip_array_shape(a), (size_t)ndim * sizeof *shape);
    const size_t row = ndim != 0 && shape[0] != 0 ? all / (size_t)shape[0] : 0;
    if (how % 3 == 2 && how != 14) {
        shape[0] = shape[0] / 2 + 1;
        return cip_change_resize(e, path, ndim, shape, NULL);
    }
    if (how % 3 == 2)
        return cip_change_delete(e, path, 0, shape[0] / 3, (shape[0] + 1) / 2, NULL);
    void *zeros = calloc(6 * all + 1, 1);
    if (zeros == NULL)
        abort();
    cip_status st =
        how % 3 == 0
            ? cip_change_write(e, path, NULL, cip_dtype_as_stored(), zeros, all, NULL)
            : cip_change_append(e, path, cip_dtype_as_stored(), zeros, row * (1 + how % 5), NULL);
    free(zeros);
    return st;
}

static cip_status change(cip_change *e, const char *path, unsigned how)
{
    static const int64_t shape[] = { 3 };
    char text[] = "0123456789";
    text[how % 11] = '\0';
    if (how / 16 == 14)
        return cip_change_move(e, path != NULL ? path : "a", how % 2 ? "b" : "c/d", how / 2 % 2,
                               NULL);
    if (how / 16 == 15) {
        const cip_status st =
            cip_change_put(e, path, cip_dtype_of(CIP_U8), 1, shape, "abc", NULL, NULL);
        return st != CIP_OK || how % 16 < 2 ? st : change_data(e, path, how % 16);
    }
    switch (how / 16 % 5) {
    case 0:
        return cip_change_set_string(e, how % 2 ? "a/b" : "fuzz", text, NULL);
    case 1:
        return path != NULL ? cip_change_remove(e, path, NULL) : CIP_OK;
    case 2:
        return path != NULL ? change_data(e, path, how % 16) : CIP_OK;
    case 3:
        return cip_change_freeze(e, NULL);
    default:
        return cip_change_defrag(e, NULL, NULL, NULL);
    }
}

/* What was to be there, or the file only opens. */
static void look(cip_memory *m, const char *path, bool sound, const uint8_t *elems, size_t nbytes)
{
    const cip_open_options o = { .size = sizeof o, .limits = fuzz_limits(), .threads = 1 };
    cip_file *f;
    cip_err err = CIP_ERR_INIT;
    cip_status st = cip_memory_open(m, &o, &f, &err);
    if (st == CIP_ERR_LIMIT || st == CIP_ERR_NOMEM)
        return;
    if (st != CIP_OK)
        abort();
    size_t n = 0;
    uint8_t *now = elems != NULL ? read_all(cip_find(f, path, NULL), &n) : NULL;
    if (elems != NULL && now == NULL && sound)
        abort();
    if (now != NULL && (n != nbytes || memcmp(now, elems, n) != 0))
        abort();
    free(now);
    cip_file_close(f);
}

static void update(cip_memory *m, const char *path, bool sound, unsigned how)
{
    const cip_open_options open = { .size = sizeof open, .limits = fuzz_limits(), .threads = 1 };
    const cip_change_options o = { .size = sizeof o, .open = &open };
    const cip_array *a;
    cip_change *e;
    uint8_t *elems = NULL;
    size_t nbytes = 0;
    if (cip_change_open_memory(m, &o, &e, NULL) != CIP_OK)
        return;
    const bool data = how / 16 == 15 || (how / 16 % 5 == 2 && how / 16 < 14);
    if (how / 16 == 15)
        path = how % 2 ? "new" : "new/of/it";
    cip_status st = change(e, path, how);
    if (st == CIP_OK && data && path != NULL && cip_change_array(e, path, &a, NULL) == CIP_OK)
        elems = read_all(a, &nbytes);
    const bool changed = st == CIP_OK;
    if (changed)
        st = cip_change_commit(&e, NULL);
    if (!changed || st == CIP_ERR_BUSY)
        cip_change_abort(&e);
    else if (st == CIP_OK)
        look(m, path, sound, elems, nbytes);
    free(elems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cip_memory *m;
    bool opens, sound;
    if (size == 0 || cip_memory_new(data + 1, size - 1, &m, NULL) != CIP_OK)
        return 0;
    char *path = first_array(m, &opens, &sound);
    if (opens)
        update(m, path, sound, data[0]);
    free(path);
    cip_memory_free(m);
    return 0;
}
