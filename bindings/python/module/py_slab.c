/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays that are declared and then filled by boxes, from any number of threads at a time. */
#include "cippy.h"

static cip_status declare_now(cippy_change *c, const char *path, const char *text, int ndim,
                              const int64_t *shape, const cip_array_options *options,
                              cip_slab **slab, cip_err *err)
{
    cip_dtype *dtype = cip_dtype_parse(text, err);
    if (dtype == NULL)
        return (cip_status)err->code;
    const cip_status status =
        cip_change_declare(c->change, path, dtype, ndim, shape, options, slab, err);
    cip_dtype_free(dtype);
    return status;
}

static PyObject *slab_new(cippy_change *c, cip_slab *slab, int ndim)
{
    cippy_slab *s = (cippy_slab *)PyType_GenericAlloc(c->state->slab, 0);
    if (s == NULL)
        return NULL;
    s->change = (cippy_change *)Py_NewRef((PyObject *)c);
    s->file = (cippy_file *)Py_NewRef((PyObject *)c->file);
    s->slab = slab;
    s->of = c->change;
    s->ndim = ndim;
    return (PyObject *)s;
}

/* declare(path, dtype, shape, codec, storage, chunk, options) -> a slab */
PyObject *cippy_declare(PyObject *self, PyObject *args)
{
    cippy_change *c = (cippy_change *)self;
    const char *path, *dtype;
    PyObject *lengths, *chunk, *texts, *made = NULL;
    int64_t shape[CIP_MAX_NDIM];
    cip_array_options o = { .size = sizeof o };
    cip_slab *slab = NULL;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (!PyArg_ParseTuple(args, "ssO!zzOO", &path, &dtype, &PyTuple_Type, &lengths, &o.codec,
                          &o.storage, &chunk, &texts))
        return NULL;
    const int ndim = cippy_lengths(lengths, CIP_MAX_NDIM, shape);
    if (ndim < 0 || (chunk != Py_None && cippy_lengths(chunk, CIP_MAX_NDIM, o.chunk) < 0))
        return NULL;
    const char **options = cippy_texts(texts);
    if (!PyErr_Occurred() && cippy_change_begin(c)) {
        o.format_options = options;
        c->file->serial++;
        c->file->tree_changed = true;
        Py_BEGIN_ALLOW_THREADS status = declare_now(c, path, dtype, ndim, shape, &o, &slab, &err);
        Py_END_ALLOW_THREADS if (status == CIP_OK) made = slab_new(c, slab, ndim);
        c->declared = c->declared || status == CIP_OK;
        PyObject *done = cippy_change_end(c, status, &err);
        Py_XDECREF(done);
    }
    PyMem_Free((void *)options);
    return made;
}

/* As cippy_change_begin, but for any number of threads at a time. */
static bool begin(cippy_slab *s)
{
    cippy_change *c = s->change;
    atomic_fetch_add(&c->writing, 1);
    if (!atomic_load(&c->ending) && s->of == c->change)
        return true;
    atomic_fetch_sub(&c->writing, 1);
    PyErr_SetString(PyExc_ValueError, "I/O operation on closed file");
    return false;
}

/* write(start, stop, data): elements of the slab's dtype, packed in C order */
static PyObject *slab_write(PyObject *self, PyObject *args)
{
    static const char nothing = 0;
    cippy_slab *s = (cippy_slab *)self;
    PyObject *start, *stop, *done = NULL;
    Py_buffer data;
    cip_box box;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (!PyArg_ParseTuple(args, "O!O!y*", &PyTuple_Type, &start, &PyTuple_Type, &stop, &data))
        return NULL;
    const int n = cippy_lengths(start, CIP_MAX_NDIM, box.start),
              m = n < 0 ? -1 : cippy_lengths(stop, CIP_MAX_NDIM, box.stop);
    if (m >= 0 && (n != s->ndim || m != n)) {
        PyErr_Format(PyExc_ValueError, "expected bounds along %d axes", s->ndim);
    } else if (m >= 0 && begin(s)) {
        const void *bytes = data.len != 0 ? data.buf : &nothing;
        cippy_calls calls = cippy_calls_of(Py_None, Py_None); /* of this thread */
        CIPPY_BEGIN_STOPPABLE(&calls)
        status = cip_slab_write(s->slab, &box, bytes, (size_t)data.len, &err);
        CIPPY_END_STOPPABLE atomic_fetch_sub(&s->change->writing, 1);
        uint64_t none = 0;
        if (status != CIP_OK)
            atomic_compare_exchange_strong(&s->change->part_failed, &none, s->change->marks + 1);
        if (!cippy_calls_raised(&calls))
            done = status == CIP_OK
                       ? Py_NewRef(Py_None)
                       : cippy_fail(s->change->state, status, &err, s->change->path, false);
        cippy_calls_clear(&calls);
    }
    PyBuffer_Release(&data);
    return done;
}

static void slab_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF((PyObject *)((cippy_slab *)self)->change);
    Py_XDECREF((PyObject *)((cippy_slab *)self)->file);
    cippy_free(self);
}

static int slab_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT((PyObject *)((cippy_slab *)self)->file);
    return 0;
}

static PyMethodDef methods[] = {
    { "write", slab_write, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, slab_dealloc },
    { Py_tp_traverse, slab_traverse },
    { Py_tp_methods, methods },
    { 0, NULL },
};

PyType_Spec cippy_slab_spec = { "cippus._cippus.Slab", sizeof(cippy_slab), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                    Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                slots };
