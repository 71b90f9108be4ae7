/* SPDX-License-Identifier: BSD-3-Clause
 * Pictures of arrays, as PNG files in memory. */
#include "cippy.h"

#include <stdio.h>
#include <stdlib.h>

static int add_piece(void *user, const void *bytes, size_t n)
{
    return fwrite(bytes, 1, n, user) != n;
}

/* The file's bytes, to be freed; NULL where it failed. */
static char *png_of(const cip_picture *p, bool axes, size_t *n, cip_status *status, cip_err *err)
{
    char *bytes = NULL;
    FILE *memory = open_memstream(&bytes, n);
    *status = memory != NULL ? cip_picture_png(p, axes, add_piece, memory, err) : CIP_ERR_NOMEM;
    if (memory != NULL && fclose(memory) != 0)
        *status = CIP_ERR_NOMEM;
    if (*status == CIP_OK)
        return bytes;
    free(bytes);
    return NULL;
}

/* (PNG, low, high, bytes read) of a key; entered. */
static PyObject *picture_of(cippy_array *a, const cippy_key *k, const cip_picture_options *options,
                            bool axes, cippy_calls *calls)
{
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    cip_picture *p = NULL;
    cip_picture_facts f = { .size = sizeof f };
    char *png = NULL;
    size_t n = 0;
    cippy_change *c;
    const cip_read_args args = {
        .size = sizeof args,
        .slices = k->whole ? NULL : &k->slices,
        .field = a->field != NULL ? PyBytes_AsString(a->field) : NULL,
        .progress = calls->progress.fn != NULL ? cippy_on_progress : NULL,
        .user = calls,
    };
    if (!cippy_read_begin(a, &c))
        return NULL;
    CIPPY_BEGIN_STOPPABLE(calls)
    status = cip_picture_make(a->array, &args, options, &p, &err);
    if (status == CIP_OK)
        png = png_of(p, axes, &n, &status, &err);
    CIPPY_END_STOPPABLE cippy_read_end(c);
    PyObject *found = NULL;
    if (cippy_calls_raised(calls) || PyErr_Occurred())
        found = NULL;
    else if (status != CIP_OK)
        cippy_file_fail(a->file, status, &err);
    else if (cip_picture_get(p, &f, NULL) == CIP_OK)
        found =
            Py_BuildValue("y#ddK", png, (Py_ssize_t)n, f.low, f.high, (unsigned long long)f.nbytes);
    free(png);
    cip_picture_free(p);
    return found;
}

/* picture(key, width, height, zoom, scale, reduce, map, limits or None, percentiles, bad,
 * transparent, axes, max_nbytes, progress); NotImplemented for a key that is not basic */
PyObject *cippy_array_picture(PyObject *self, PyObject *args)
{
    cippy_array *a = (cippy_array *)self;
    cippy_key k;
    PyObject *key, *progress;
    int scale, reduce, has_limits, transparent, axes;
    unsigned int width, height, zoom, bad;
    unsigned long long max_nbytes;
    cip_picture_options o = { .size = sizeof o };
    if (!PyArg_ParseTuple(args, "OIIIiispddddIppKO", &key, &width, &height, &zoom, &scale, &reduce,
                          &o.map, &has_limits, &o.low, &o.high, &o.low_percentile,
                          &o.high_percentile, &bad, &transparent, &axes, &max_nbytes, &progress) ||
        !cippy_array_enter(a))
        return NULL;
    o.max_width = width;
    o.max_height = height;
    o.zoom = zoom;
    o.scale = (cip_picture_scale)scale;
    o.reduce = (cip_picture_reduce)reduce;
    o.has_limits = has_limits != 0;
    o.bad = bad;
    o.transparent = transparent != 0;
    o.max_nbytes = max_nbytes;
    PyObject *found = NULL;
    const int basic = cippy_key_parse(key, a->ndim, a->shape, &k);
    if (basic == 0)
        found = Py_NewRef(Py_NotImplemented);
    if (basic == 1) {
        cippy_calls calls = cippy_calls_of(Py_None, progress);
        calls.source[0] = &a->file->source;
        found = picture_of(a, &k, &o, axes != 0, &calls);
        cippy_calls_clear(&calls);
    }
    cippy_leave(a->file);
    return found;
}
