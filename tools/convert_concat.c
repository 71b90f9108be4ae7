/* SPDX-License-Identifier: BSD-3-Clause
 * Several arrays as one, along an axis. The output is filled in the order of its first axis, a few
 * rows of every input at a time, so that memory does not depend on how large they are. */
#include "convert_concat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "convert_several.h"
#include "input.h"
#include "suggest.h"

enum { PIECE_NBYTES = 8 << 20 };

typedef struct joined_input {
    const char *name;
    cip_file *file;
    const cip_array *array;
    int64_t start; /* along the axis, in the output */
} joined_input;

typedef struct joining {
    const opts *o;
    joined_input *in;
    int n, axis, ndim;
    int64_t shape[CIP_MAX_NDIM];
    const cip_dtype *dtype;
    cip_slab *slab;
} joining;

static int wrong_use(const char *what)
{
    fprintf(stderr, "cippus: %s\n", what);
    return EXIT_USAGE;
}

static int open_input(const opts *o, const char *name, joined_input *in)
{
    int rc;
    cip_err err = CIP_ERR_INIT;
    opts how = *o;
    how.byteorder = NULL; /* of the output */
    how.check = !how.no_check;
    in->name = name;
    in->file = input_open(name, &how, &rc);
    if (in->file == NULL)
        return rc;
    in->array = cip_find(in->file, o->path != NULL ? o->path : "", &err);
    if (in->array != NULL)
        return EXIT_FINE;
    suggest_path(in->file, o->path, true, &err);
    return complain(name, &err);
}

/* "b.npy: int16 [3, 1] cannot be joined to int16 [3, 4] of a.npy along axis 0". */
static int unlike(const joining *j, const joined_input *in)
{
    const joined_input *pair[] = { in, &j->in[0] };
    fputs("cippus: ", stderr);
    print_escaped(stderr, in->name);
    for (int i = 0; i < 2; i++) {
        fputs(i == 0 ? ": " : " cannot be joined to ", stderr);
        print_escaped(stderr, cip_dtype_name(cip_array_dtype(pair[i]->array)));
        putc(' ', stderr);
        print_shape(stderr, cip_array_shape(pair[i]->array), cip_array_ndim(pair[i]->array));
    }
    fputs(" of ", stderr);
    print_escaped(stderr, j->in[0].name);
    fprintf(stderr, " along axis %d\n", j->axis);
    return EXIT_FAILED;
}

/* Adds an input's length; all else of its shape, and its type, are those of the first. */
static int take_shape(joining *j, joined_input *in)
{
    const int64_t *shape = cip_array_shape(in->array);
    bool fits = cip_array_ndim(in->array) == j->ndim &&
                strcmp(cip_dtype_name(cip_array_dtype(in->array)),
                       cip_dtype_name(cip_array_dtype(j->in[0].array))) == 0;
    for (int d = 0; fits && d < j->ndim; d++)
        fits = d == j->axis || shape[d] == j->shape[d];
    in->start = j->shape[j->axis];
    fits = fits && !__builtin_add_overflow(in->start, shape[j->axis], &j->shape[j->axis]);
    return fits ? EXIT_FINE : unlike(j, in);
}

static int open_inputs(joining *j, cip_finding_fn *tell, void *user, const char *axis)
{
    char *end;
    bool loss = false;
    cip_err err = CIP_ERR_INIT;
    int rc = EXIT_FINE;
    for (int i = 0; i < j->n && rc == EXIT_FINE; i++)
        rc = open_input(j->o, j->o->pos[i], &j->in[i]);
    if (rc != EXIT_FINE)
        return rc;
    errno = 0;
    const long k = strtol(axis, &end, 10);
    j->ndim = cip_array_ndim(j->in[0].array);
    if (errno != 0 || end == axis || *end != '\0' || k < -j->ndim || k >= j->ndim) {
        fprintf(stderr, "cippus: --concat: expected an axis of %d dimensions, found '", j->ndim);
        print_escaped(stderr, axis);
        fputs("'\n", stderr);
        return EXIT_USAGE;
    }
    j->axis = (int)(k < 0 ? k + j->ndim : k);
    memcpy(j->shape, cip_array_shape(j->in[0].array), (size_t)j->ndim * sizeof *j->shape);
    j->shape[j->axis] = 0;
    j->dtype = cip_array_native_dtype(j->in[0].array, &err);
    if (j->dtype == NULL)
        return complain(j->in[0].name, &err);
    for (int i = 0; i < j->n && rc == EXIT_FINE; i++) {
        rc = take_shape(j, &j->in[i]);
        loss |= rc == EXIT_FINE && j->o->path == NULL &&
                tell_left_out(j->in[i].file, j->in[i].name, tell, user);
    }
    if (rc == EXIT_FINE && loss && !j->o->accept_loss) {
        fputs("cippus: not all of the inputs can be kept; accept it with --accept-loss\n", stderr);
        rc = EXIT_FAILED;
    }
    return rc;
}

/* Rows [from, to) of an input, of which it has at least so many. */
static cip_status copy_rows(joining *j, const joined_input *in, int64_t from, int64_t to,
                            void *buffer, uint64_t row, cip_err *err)
{
    cip_box box = { .start = { 0 } };
    char slice[64];
    const size_t n = (size_t)(row * (uint64_t)(to - from));
    for (int d = 0; d < j->ndim; d++)
        box.stop[d] = cip_array_shape(in->array)[d];
    box.start[0] = from;
    box.stop[0] = to;
    box.start[j->axis] += in->start;
    box.stop[j->axis] += in->start;
    snprintf(slice, sizeof slice, "[%" PRId64 ":%" PRId64 "]", from, to);
    cip_array_storage s = { .size = sizeof s };
    const cip_status st = cip_read(in->array, slice, j->dtype, buffer, n, err);
    if (st == CIP_ERR_UNSUPPORTED && cip_array_get_storage(in->array, &s, NULL) == CIP_OK &&
        s.masked)
        snprintf(err->text, sizeof err->text, "arrays with missing elements cannot be joined");
    return st == CIP_OK ? cip_slab_write(j->slab, &box, buffer, n, err) : st;
}

/* Bytes of the rows of each input, and of the largest; false where there are too many. */
static bool measure_rows(const joining *j, uint64_t *row, uint64_t *largest)
{
    *largest = 1;
    for (int i = 0; i < j->n; i++) {
        row[i] = cip_dtype_itemsize(j->dtype);
        for (int d = 1; d < j->ndim; d++)
            if (__builtin_mul_overflow(row[i], (uint64_t)cip_array_shape(j->in[i].array)[d],
                                       &row[i]))
                return false;
        *largest = row[i] > *largest ? row[i] : *largest;
    }
    return *largest < SIZE_MAX / 2;
}

/* Of inputs that follow each other along the first axis all of one, then the next; else the same
 * rows of all. */
static int copy_rows_of_all(joining *j, const uint64_t *row, void *buffer, int64_t step)
{
    cip_err err = CIP_ERR_INIT;
    const int ngroup = j->axis == 0 ? j->n : 1, each = j->axis == 0 ? 1 : j->n;
    for (int g = 0; g < ngroup; g++) {
        const int64_t all = cip_array_shape(j->in[g].array)[0];
        for (int64_t at = 0; at < all; at += step)
            for (int i = g; i < g + each; i++)
                if (row[i] != 0 && copy_rows(j, &j->in[i], at, at + step < all ? at + step : all,
                                             buffer, row[i], &err) != CIP_OK)
                    return complain(j->in[i].name, &err);
    }
    return EXIT_FINE;
}

static int copy_all(joining *j)
{
    uint64_t largest = 0, *row = calloc((size_t)j->n, sizeof *row);
    const bool fits = row != NULL && measure_rows(j, row, &largest);
    const int64_t step = fits && largest < PIECE_NBYTES ? (int64_t)(PIECE_NBYTES / largest) : 1;
    void *buffer = fits ? malloc((size_t)largest * (size_t)step) : NULL;
    const int rc = buffer != NULL ? copy_rows_of_all(j, row, buffer, step)
                                  : wrong_use("no memory for a row of the inputs");
    free(buffer);
    free(row);
    return rc;
}

/* Without a name where the format can do without. */
static cip_status declare(joining *j, cip_change *w, cip_err *err)
{
    const cip_array_options a = { .size = sizeof a, .storage = j->o->inlined ? "inline" : NULL };
    cip_err why = CIP_ERR_INIT;
    const char *name = j->o->nname != 0 ? j->o->names[0] : "";
    cip_status st = cip_change_declare(w, name, j->dtype, j->ndim, j->shape, &a, &j->slab, &why);
    if (st == CIP_ERR_ARG && j->o->nname == 0 && cip_change_forget_failure(w, err) == CIP_OK)
        return cip_change_declare(w, "data", j->dtype, j->ndim, j->shape, &a, &j->slab, err);
    *err = why;
    return st;
}

static int write_joined(joining *j, const cip_change_options *how)
{
    const char *out = j->o->pos[j->n];
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    if (cip_create(out, how, &w, &err) != CIP_OK || declare(j, w, &err) != CIP_OK) {
        cip_change_abort(&w);
        return complain(out, &err);
    }
    int rc = copy_all(j);
    if (rc == EXIT_FINE && cip_change_commit(&w, &err) != CIP_OK)
        rc = complain(out, &err);
    cip_change_abort(&w);
    return rc;
}

int convert_concat(const opts *o, const cip_change_options *how, cip_finding_fn *tell, void *user)
{
    joining j = { .o = o, .n = o->npos - 1 };
    if (o->nname > 1 || o->resolve_refs || strcmp(o->pos[j.n], "-") == 0)
        return wrong_use("--concat makes one array in a file: at most one --name, no "
                         "--resolve-refs, no standard output");
    j.in = calloc((size_t)j.n, sizeof *j.in);
    if (j.in == NULL)
        return wrong_use("no memory");
    int rc = open_inputs(&j, tell, user, o->concat);
    if (rc == EXIT_FINE)
        rc = write_joined(&j, how);
    for (int i = 0; i < j.n; i++)
        cip_file_close(j.in[i].file);
    free(j.in);
    return rc;
}
