/* SPDX-License-Identifier: BSD-3-Clause
 * Many small calls in one update, or of one open file: what each of them costs must not grow with
 * those before it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct steps {
    cip_file *file;
    cip_change *change;
    int64_t n, length; /* steps, and elements of `data` */
} steps;

typedef cip_status step_fn(const steps *s, int64_t i, cip_err *err);

static const int32_t value = 7;
static const int64_t one = 1;

static cip_status set_key(const steps *s, int64_t i, cip_err *err)
{
    char path[64];
    snprintf(path, sizeof path, "keys/k%" PRId64, i);
    return cip_change_set_int(s->change, path, i, err);
}

static cip_status set_again(const steps *s, int64_t i, cip_err *err)
{
    return cip_change_set_int(s->change, "again", i, err);
}

static cip_status put_array(const steps *s, int64_t i, cip_err *err)
{
    char path[64];
    snprintf(path, sizeof path, "arrays/a%" PRId64, i);
    return cip_change_put(s->change, path, cip_dtype_of(CIP_I32), 1, &one, &value, NULL, err);
}

static cip_status write_apart(const steps *s, int64_t i, cip_err *err)
{
    char where[64];
    snprintf(where, sizeof where, "[%" PRId64 "]", i * (s->length > s->n ? s->length / s->n : 1));
    return cip_change_write(s->change, "", where, cip_dtype_of(CIP_I32), &value, sizeof value, err);
}

static cip_status append(const steps *s, int64_t i, cip_err *err)
{
    (void)i;
    return cip_change_append(s->change, "", cip_dtype_of(CIP_I32), &value, sizeof value, err);
}

/* The step's own array. */
static const char *own(const steps *s, int64_t i)
{
    size_t at = (size_t)i;
    return cip_array_path(cip_file_next_array(s->file, NULL, &at));
}

static cip_status write_own(const steps *s, int64_t i, cip_err *err)
{
    return cip_change_write(s->change, own(s, i), "[0]", cip_dtype_of(CIP_I32), &value,
                            sizeof value, err);
}

static cip_status append_own(const steps *s, int64_t i, cip_err *err)
{
    return cip_change_append(s->change, own(s, i), cip_dtype_of(CIP_I32), &value, sizeof value,
                             err);
}

static cip_status insert(const steps *s, int64_t i, cip_err *err)
{
    return cip_change_insert(s->change, "", 0, i * 2, cip_dtype_of(CIP_I32), &value, sizeof value,
                             err);
}

static cip_status read_element(const steps *s, int64_t i, cip_err *err)
{
    char where[64];
    int32_t got;
    snprintf(where, sizeof where, "[%" PRId64 "]", i * (s->length > s->n ? s->length / s->n : 1));
    return cip_read(cip_find(s->file, "", err), where, cip_dtype_of(CIP_I32), &got, sizeof got,
                    err);
}

static const struct {
    const char *name;
    step_fn *step;
    bool is_new, reads;
} kinds[] = {
    { "set", set_key, false, false },         { "set-again", set_again, false, false },
    { "put", put_array, false, false },       { "write", write_apart, false, false },
    { "append", append, false, false },       { "insert", insert, false, false },
    { "write-own", write_own, false, false }, { "append-own", append_own, false, false },
    { "read", read_element, false, true },    { "new-set", set_key, true, false },
    { "new-put", put_array, true, false },
};

static void begin(steps *s, const char *path, bool is_new, bool reads, cip_err *err)
{
    const cip_change_options *quick = CIP_CHANGE_OPTIONS(.level = CIP_LEVEL_PROCESS);
    int64_t shape[CIP_MAX_NDIM];
    if (is_new) {
        cip_create(path, CIP_CHANGE_OPTIONS(.level = CIP_LEVEL_PROCESS, .overwrite = true),
                   &s->change, err);
        return;
    }
    s->file = bench_open(path, 1);
    const cip_array *a = cip_find(s->file, "", NULL); /* or many */
    if (a != NULL && cip_read_shape(a, NULL, NULL, shape, NULL, err) == CIP_OK)
        s->length = shape[0];
    if (!reads)
        cip_change_begin(s->file, quick, &s->change, err);
}

/* steps KIND FILE N */
int bench_steps(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    steps s = { .n = argc == 5 ? strtoll(argv[4], NULL, 10) : 0 };
    size_t k = 0;
    while (argc == 5 && k < sizeof kinds / sizeof kinds[0] && strcmp(kinds[k].name, argv[2]) != 0)
        k++;
    if (argc != 5 || k == sizeof kinds / sizeof kinds[0] || s.n <= 0)
        bench_die("steps KIND FILE N", NULL);
    begin(&s, argv[3], kinds[k].is_new, kinds[k].reads, &err);
    for (int64_t i = 0; i < s.n && err.code == CIP_OK; i++)
        (void)kinds[k].step(&s, i, &err);
    if (err.code == CIP_OK && s.change != NULL)
        cip_change_commit(&s.change, &err);
    if (err.code != CIP_OK)
        bench_die(argv[2], &err);
    cip_file_close(s.file);
    return 0;
}
