/* SPDX-License-Identifier: BSD-3-Clause
 * The chunks of an array as they are stored, references to them, and Blosc chunks from buffer to
 * buffer. */
#include "cippy.h"

#include <stdlib.h>

static const char *const state_names[] = { "data", "zero", "nan", "uninit", "value", "missing" };
static const char *const place_names[] = { "none", "file", "memory", "decoded" };

static PyObject *shape_or_none(int ndim, const int64_t *shape)
{
    return shape != NULL ? cippy_shape_tuple(ndim, shape) : Py_NewRef(Py_None);
}

/* A value for each field of cippus.Chunk, in its order; NULL with an exception. */
static PyObject *chunk_tuple(const cip_chunk_info *c)
{
    PyObject *offset =
        c->offset != CIP_NO_OFFSET ? PyLong_FromUnsignedLongLong(c->offset) : Py_NewRef(Py_None);
    return Py_BuildValue(
        "(KKsNNOKKOKLNNNsNKNNzNNz)", (unsigned long long)c->index, (unsigned long long)c->run,
        state_names[c->state], cippy_shape_tuple(c->ndim, c->box.start),
        cippy_shape_tuple(c->ndim, c->box.stop), c->box_exact ? Py_True : Py_False,
        (unsigned long long)c->first, (unsigned long long)c->nelem,
        c->range_exact ? Py_True : Py_False, (unsigned long long)c->decoded_nbytes,
        (long long)c->origin, shape_or_none(c->ndim, c->strides), shape_or_none(c->ndim, c->padded),
        shape_or_none(c->ndim, c->block), place_names[c->place], offset,
        (unsigned long long)c->stored_nbytes, cippy_text(c->member, strlen(c->member)),
        cippy_text(c->codec, strlen(c->codec)), c->checksum,
        PyBytes_FromStringAndSize((const char *)c->checksum_value, (Py_ssize_t)c->checksum_nbytes),
        PyBytes_FromStringAndSize((const char *)c->value, (Py_ssize_t)c->value_nbytes),
        c->why != CIP_OK ? cip_status_name(c->why) : NULL);
}

PyObject *cippy_array_nchunk(PyObject *self, PyObject *unused)
{
    (void)unused;
    cippy_array *a = (cippy_array *)self;
    uint64_t n = 0;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (!cippy_array_enter_stored(a))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = cip_chunk_count(a->array, &n, &err);
    Py_END_ALLOW_THREADS PyObject *count =
        status == CIP_OK ? PyLong_FromUnsignedLongLong(n) : cippy_file_fail(a->file, status, &err);
    cippy_leave(a->file);
    return count;
}

PyObject *cippy_array_chunk(PyObject *self, PyObject *index)
{
    cippy_array *a = (cippy_array *)self;
    const uint64_t i = PyLong_AsUnsignedLongLong(index);
    cip_chunk_info c = { .size = sizeof c };
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (PyErr_Occurred() || !cippy_array_enter_stored(a))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = cip_chunk_at(a->array, i, &c, &err);
    Py_END_ALLOW_THREADS PyObject *found =
        status == CIP_OK ? chunk_tuple(&c) : cippy_file_fail(a->file, status, &err);
    cippy_leave(a->file);
    return found;
}

/* read_chunk(index, stored): its bytes. Entered. */
static PyObject *read_chunk(cippy_array *a, uint64_t i, bool stored)
{
    cip_chunk_info c = { .size = sizeof c };
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    size_t got = 0;
    Py_BEGIN_ALLOW_THREADS status = cip_chunk_at(a->array, i, &c, &err);
    Py_END_ALLOW_THREADS if (status != CIP_OK) return cippy_file_fail(a->file, status, &err);
    const uint64_t n = stored ? c.stored_nbytes : c.decoded_nbytes;
    PyObject *bytes =
        n <= PY_SSIZE_T_MAX ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n) : PyErr_NoMemory();
    if (bytes == NULL)
        return NULL;
    char *dst = PyBytes_AsString(bytes);
    cippy_calls calls = cippy_calls_of(Py_None, Py_None);
    calls.source[0] = &a->file->source;
    CIPPY_BEGIN_STOPPABLE(&calls)
    status = cip_chunk_read(a->array, i, stored, dst, (size_t)n, &got, &err);
    CIPPY_END_STOPPABLE const bool raised = cippy_calls_raised(&calls);
    cippy_calls_clear(&calls);
    if (!raised && status == CIP_OK && got == n)
        return bytes;
    PyObject *part = raised             ? NULL
                     : status == CIP_OK ? PyBytes_FromStringAndSize(dst, (Py_ssize_t)got)
                                        : cippy_file_fail(a->file, status, &err);
    Py_DECREF(bytes);
    return part;
}

PyObject *cippy_array_read_chunk(PyObject *self, PyObject *args)
{
    cippy_array *a = (cippy_array *)self;
    unsigned long long i;
    int stored;
    if (!PyArg_ParseTuple(args, "Kp", &i, &stored) || !cippy_array_enter_stored(a))
        return NULL;
    PyObject *bytes = read_chunk(a, i, stored != 0);
    cippy_leave(a->file);
    return bytes;
}

/* --- references ----------------------------------------------------------------------------- */

/* The document as it grows, without the interpreter's lock; and the callbacks of the call. */
typedef struct text {
    cippy_calls calls; /* first: it is the `user` of cippy_on_finding */
    char *bytes;
    size_t n, cap;
} text;

/* A cip_write_fn. */
static int add_text(void *user, const void *bytes, size_t n)
{
    text *t = user;
    if (n > t->cap - t->n) {
        const size_t cap = 2 * t->cap + n + 4096;
        char *larger = cap > n ? realloc(t->bytes, cap) : NULL;
        if (larger == NULL)
            return 1;
        t->bytes = larger;
        t->cap = cap;
    }
    if (n != 0)
        memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    return 0;
}

/* refs(url, members, path, inline, on_finding): JSON as bytes. `self` is a file. */
PyObject *cippy_file_refs(PyObject *self, PyObject *args)
{
    cippy_file *f = (cippy_file *)self;
    cip_refs_options o = { .size = sizeof o };
    unsigned long long inline_nbytes;
    PyObject *on_finding, *found = NULL;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (!PyArg_ParseTuple(args, "szzKO", &o.url, &o.members, &o.path, &inline_nbytes,
                          &on_finding) ||
        !cippy_is_there(f) || !cippy_enter(f))
        return NULL;
    text t = { .calls = cippy_calls_of(on_finding, Py_None) };
    t.calls.source[0] = &f->source;
    o.inline_nbytes = inline_nbytes;
    o.on_finding = t.calls.finding.fn != NULL ? cippy_on_finding : NULL;
    o.user = &t.calls;
    CIPPY_BEGIN_STOPPABLE(&t.calls) status = cip_refs_write(f->file, &o, add_text, &t, &err);
    CIPPY_END_STOPPABLE if (!cippy_calls_raised(&t.calls)) found =
        status == CIP_OK ? PyBytes_FromStringAndSize(t.bytes, (Py_ssize_t)t.n)
                         : cippy_file_fail(f, status, &err);
    free(t.bytes);
    cippy_calls_clear(&t.calls);
    cippy_leave(f);
    return found;
}

/* --- Blosc ---------------------------------------------------------------------------------- */

/* A new bytes object of what the chunk at `src` holds; NULL with an exception. */
static PyObject *decode(PyObject *module, const Py_buffer *src, uint64_t most)
{
    cip_blosc_chunk_info info = { .size = sizeof info };
    cip_err err = CIP_ERR_INIT;
    cip_status status = cip_blosc_info(src->buf, (size_t)src->len, &info, &err);
    if (status == CIP_OK && info.nbytes > most) {
        snprintf(err.text, sizeof err.text, "expected a chunk of at most %llu bytes, found %llu",
                 (unsigned long long)most, (unsigned long long)info.nbytes);
        status = CIP_ERR_LIMIT;
    }
    PyObject *bytes = NULL;
    if (status == CIP_OK) {
        bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)info.nbytes);
        if (bytes == NULL)
            return NULL;
        char *dst = PyBytes_AsString(bytes);
        Py_BEGIN_ALLOW_THREADS cip_blosc *b = cip_blosc_new(NULL, &err);
        status = b == NULL ? (cip_status)err.code
                           : cip_blosc_decompress(b, src->buf, (size_t)src->len, dst,
                                                  (size_t)info.nbytes, &err);
        cip_blosc_free(b);
        Py_END_ALLOW_THREADS
    }
    if (status == CIP_OK)
        return bytes;
    Py_XDECREF(bytes);
    return cippy_fail(cippy_state_of(module), status, &err, Py_None, false);
}

/* blosc_decode(chunk, most): the elements of a chunk of at most as many bytes. */
PyObject *cippy_blosc_decode(PyObject *module, PyObject *args)
{
    Py_buffer src;
    unsigned long long most;
    if (!PyArg_ParseTuple(args, "y*K", &src, &most))
        return NULL;
    PyObject *bytes = decode(module, &src, most);
    PyBuffer_Release(&src);
    return bytes;
}

/* blosc_encode(bytes, codec, level, typesize, filter, blocksize, blosc1): a chunk. */
PyObject *cippy_blosc_encode(PyObject *module, PyObject *args)
{
    Py_buffer src;
    int blosc1;
    cip_blosc_params p = { .size = sizeof p };
    cip_err err = CIP_ERR_INIT;
    cip_status status = CIP_OK;
    size_t n = 0;
    if (!PyArg_ParseTuple(args, "y*siIsIp", &src, &p.codec, &p.level, &p.typesize, &p.filter,
                          &p.blocksize, &blosc1))
        return NULL;
    p.blosc1 = blosc1 != 0;
    const size_t cap = cip_blosc_bound((size_t)src.len);
    PyObject *chunk = NULL;
    char *dst = PyMem_Malloc(cap);
    if (dst == NULL) {
        PyErr_NoMemory();
    } else {
        Py_BEGIN_ALLOW_THREADS cip_blosc *b = cip_blosc_new(&p, &err);
        status = b == NULL ? (cip_status)err.code
                           : cip_blosc_compress(b, src.buf, (size_t)src.len, dst, cap, &n, &err);
        cip_blosc_free(b);
        Py_END_ALLOW_THREADS chunk =
            status == CIP_OK ? PyBytes_FromStringAndSize(dst, (Py_ssize_t)n)
                             : cippy_fail(cippy_state_of(module), status, &err, Py_None, false);
    }
    PyMem_Free(dst);
    PyBuffer_Release(&src);
    return chunk;
}
