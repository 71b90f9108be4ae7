/* SPDX-License-Identifier: BSD-3-Clause
 * Reading: a key becomes a numpy array, filled without the interpreter's lock; single elements; and
 * views of data that lie in the file as numpy wants them. */
#include "cippy.h"

/* Where elements go: an array of numpy, as a buffer. */
typedef struct target {
    PyObject *array;
    Py_buffer buffer;
    int64_t strides[2 * CIP_MAX_NDIM];
    bool packed;
    bool blank; /* elements of no bytes, each of which numpy has as one character: they are set */
} target;

static bool same_size(PyObject *dtype, target *t)
{
    PyObject *number = PyObject_GetAttrString(dtype, "itemsize");
    const Py_ssize_t size = number != NULL ? PyLong_AsSsize_t(number) : -1;
    Py_XDECREF(number);
    t->blank = size == 0 && t->buffer.itemsize != 0;
    PyObject *done = t->blank ? PyObject_CallMethod(t->array, "fill", "s", "") : NULL;
    Py_XDECREF(done);
    return size == t->buffer.itemsize || done != NULL;
}

/* A new array, or `out`, whose shape has to be that of the key; dtypes were compared before. */
static bool take_target(cippy_array *a, const cippy_key *k, PyObject *out, target *t)
{
    PyObject *dtype = cippy_array_dtype_of(a);
    if (dtype == NULL)
        return false;
    if (out == Py_None) {
        PyObject *shape = cippy_shape_tuple(k->ndim, k->shape);
        t->array = shape == NULL
                       ? NULL
                       : PyObject_CallFunctionObjArgs(a->file->state->empty, shape, dtype, NULL);
        Py_XDECREF(shape);
    } else {
        t->array = Py_NewRef(out);
    }
    if (t->array == NULL)
        return false;
    if (PyObject_GetBuffer(t->array, &t->buffer, PyBUF_WRITABLE | PyBUF_STRIDES) != 0) {
        Py_CLEAR(t->array);
        return false;
    }
    bool fits = t->buffer.ndim == k->ndim && same_size(dtype, t);
    for (int i = 0; fits && i < k->ndim; i++) {
        fits = t->buffer.shape[i] == k->shape[i];
        t->strides[i] = t->buffer.strides[i];
    }
    t->packed = PyBuffer_IsContiguous(&t->buffer, 'C');
    if (fits)
        return true;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "out has another shape or itemsize than the selection");
    PyBuffer_Release(&t->buffer);
    Py_CLEAR(t->array);
    return false;
}

static uint8_t *take_mask(cippy_array *a, const cippy_key *k, PyObject **mask, Py_buffer *buffer)
{
    PyObject *shape = cippy_shape_tuple(k->ndim, k->shape);
    *mask = shape == NULL ? NULL : PyObject_CallFunction(a->file->state->empty, "Os", shape, "?");
    Py_XDECREF(shape);
    if (*mask != NULL && PyObject_GetBuffer(*mask, buffer, PyBUF_WRITABLE) == 0)
        return buffer->buf;
    Py_CLEAR(*mask);
    return NULL;
}

bool cippy_read_begin(cippy_array *a, cippy_change **c)
{
    if (!cippy_look_begin(a->file, c))
        return false;
    if (a->serial == a->file->serial) {
        if (*c != NULL)
            (*c)->reading = true;
        return true;
    }
    cippy_look_end(*c);
    cip_err err = CIP_ERR_INIT;
    snprintf(err.text, sizeof err.text, "another thread is changing the file");
    cippy_file_fail(a->file, CIP_ERR_BUSY, &err);
    return false;
}

void cippy_read_end(cippy_change *c)
{
    if (c != NULL)
        c->reading = false;
    cippy_look_end(c);
}

static cip_status read_into(cippy_array *a, const cippy_key *k, target *t, uint8_t *mask,
                            cippy_calls *calls, cip_err *err)
{
    cip_status status;
    static const char nothing = 0;
    cip_read_args args = {
        .size = sizeof args,
        .slices = k->whole ? NULL : &k->slices,
        .field = a->field != NULL ? PyBytes_AsString(a->field) : NULL,
        .dst = t->buffer.len != 0 && !t->blank ? t->buffer.buf : (void *)&nothing,
        .strides = t->packed || t->blank ? NULL : t->strides,
        .mask = mask,
        .progress = calls->progress.fn != NULL ? cippy_on_progress : NULL,
        .user = calls,
    };
    args.dst_nbytes = t->blank    ? 0
                      : t->packed ? (size_t)t->buffer.len
                                  : CIP_UNCHECKED; /* numpy's own strides */
    cippy_change *c;
    if (!cippy_read_begin(a, &c))
        return CIP_ERR_BUSY;
    CIPPY_BEGIN_STOPPABLE(calls) status = cip_read_into(a->array, &args, err);
    CIPPY_END_STOPPABLE cippy_read_end(c);
    return status;
}

/* The array, or (array, mask); entered. */
static PyObject *read_key(cippy_array *a, const cippy_key *k, PyObject *out, bool masked,
                          PyObject *progress)
{
    target t = { 0 };
    cip_err err = CIP_ERR_INIT;
    PyObject *mask = NULL, *result = NULL;
    Py_buffer mask_buffer;
    uint8_t *mask_bytes = NULL;
    cippy_calls calls = cippy_calls_of(Py_None, progress);
    calls.source[0] = &a->file->source;
    if (!take_target(a, k, out, &t))
        goto done;
    if (masked && (mask_bytes = take_mask(a, k, &mask, &mask_buffer)) == NULL)
        goto done;
    const cip_status status = read_into(a, k, &t, mask_bytes, &calls, &err);
    if (cippy_calls_raised(&calls) || PyErr_Occurred())
        goto done;
    if (status != CIP_OK)
        cippy_file_fail(a->file, status, &err);
    else
        result = masked ? PyTuple_Pack(2, t.array, mask) : Py_NewRef(t.array);
done:
    if (mask_bytes != NULL)
        PyBuffer_Release(&mask_buffer);
    if (t.array != NULL)
        PyBuffer_Release(&t.buffer);
    Py_XDECREF(t.array);
    Py_XDECREF(mask);
    cippy_calls_clear(&calls);
    return result;
}

/* An array without axes as the element that it holds. */
static PyObject *element(PyObject *array)
{
    PyObject *key = array != NULL ? PyTuple_New(0) : NULL;
    PyObject *value = key != NULL ? PyObject_GetItem(array, key) : NULL;
    Py_XDECREF(key);
    Py_XDECREF(array);
    return value;
}

PyObject *cippy_array_getitem(PyObject *self, PyObject *key)
{
    cippy_array *a = (cippy_array *)self;
    cippy_key k;
    if (!cippy_array_enter(a))
        return NULL;
    const int basic = cippy_key_parse(key, a->ndim, a->shape, &k);
    const bool masked = basic == 1 && cippy_array_is_masked(a);
    PyObject *found = basic == 1 && !masked ? read_key(a, &k, Py_None, false, Py_None) : NULL;
    cippy_leave(a->file);
    if (basic == 0 || masked)
        return PyObject_CallMethod(self, "_fancy", "(O)", key);
    return basic == 1 && k.scalar ? element(found) : found;
}

/* read(key, out, mask, progress) of a basic key; NotImplemented for others */
PyObject *cippy_array_read(PyObject *self, PyObject *args)
{
    cippy_array *a = (cippy_array *)self;
    cippy_key k;
    PyObject *key, *out, *progress;
    int masked;
    if (!PyArg_ParseTuple(args, "OOpO", &key, &out, &masked, &progress) || !cippy_array_enter(a))
        return NULL;
    const int basic = cippy_key_parse(key, a->ndim, a->shape, &k);
    PyObject *found = basic == 1   ? read_key(a, &k, out, masked != 0, progress)
                      : basic == 0 ? Py_NewRef(Py_NotImplemented)
                                   : NULL;
    cippy_leave(a->file);
    return found;
}

/* points(coords, out): coords int64 of shape (n, ndim), in C order, checked; out n elements. */
PyObject *cippy_array_points(PyObject *self, PyObject *args)
{
    cippy_array *a = (cippy_array *)self;
    Py_buffer coords, out;
    cip_err err = CIP_ERR_INIT;
    cip_status status = CIP_ERR_ARG;
    if (!PyArg_ParseTuple(args, "y*w*", &coords, &out))
        return NULL;
    if (cippy_array_enter(a)) {
        const size_t each = sizeof(int64_t) * (size_t)a->ndim;
        const size_t n = each != 0 ? (size_t)coords.len / each : 0;
        const cip_dtype *native;
        cippy_change *c;
        cippy_calls calls = cippy_calls_of(Py_None, Py_None);
        calls.source[0] = &a->file->source;
        if (cippy_read_begin(a, &c)) {
            CIPPY_BEGIN_STOPPABLE(&calls) native = cip_array_native_dtype(a->array, &err);
            if (native != NULL && (uint64_t)out.len == n * cip_dtype_itemsize(native))
                status = cip_read_points_into(
                    a->array, n, coords.buf,
                    CIP_READ_ARGS(.dst = out.buf, .dst_nbytes = (size_t)out.len), &err);
            CIPPY_END_STOPPABLE if (!cippy_calls_raised(&calls) && status != CIP_OK)
                cippy_file_fail(a->file, status, &err);
            cippy_read_end(c);
        }
        cippy_calls_clear(&calls);
        cippy_leave(a->file);
    }
    PyBuffer_Release(&coords);
    PyBuffer_Release(&out);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* --- views ---------------------------------------------------------------------------------- */

static void view_dealloc(PyObject *self)
{
    cippy_view *v = (cippy_view *)self;
    if (v->bytes != NULL) {
        atomic_fetch_sub(&v->file->views, 1);
        cippy_leave(v->file);
    }
    Py_XDECREF((PyObject *)v->file);
    cippy_free(self);
}

static int view_buffer(PyObject *self, Py_buffer *buffer, int flags)
{
    cippy_view *v = (cippy_view *)self;
    return PyBuffer_FillInfo(buffer, self, (void *)v->bytes, v->nbytes, 1, flags);
}

/* The bytes, with a pin of their own. */
static PyObject *view_new(cippy_array *a, const void *bytes, uint64_t nbytes)
{
    cippy_view *v = (cippy_view *)PyType_GenericAlloc(a->file->state->view, 0);
    if (v == NULL)
        return NULL;
    v->file = (cippy_file *)Py_NewRef((PyObject *)a->file);
    v->nbytes = (Py_ssize_t)nbytes;
    if (cippy_enter(a->file)) {
        atomic_fetch_add(&a->file->views, 1);
        v->bytes = bytes;
    } else {
        Py_CLEAR(v);
    }
    return (PyObject *)v;
}

static PyObject *view_of(cippy_array *a)
{
    cip_err err = CIP_ERR_INIT;
    const void *bytes;
    uint64_t nbytes = cip_dtype_itemsize(cip_array_dtype(a->array));
    Py_BEGIN_ALLOW_THREADS bytes = cip_view(a->array, &err);
    Py_END_ALLOW_THREADS if (bytes == NULL) return cippy_file_fail(a->file, (cip_status)err.code,
                                                                   &err);
    for (int i = 0; i < a->ndim; i++) /* in the file's bytes: no overflow */
        nbytes *= (uint64_t)a->shape[i];
    PyObject *view = view_new(a, bytes, nbytes);
    PyObject *dtype = cippy_dtype_numpy(a->file->state, cip_array_dtype(a->array));
    PyObject *shape = cippy_shape_tuple(a->ndim, a->shape), *array = NULL;
    if (view != NULL && dtype != NULL && shape != NULL)
        array = PyObject_CallFunctionObjArgs(a->file->state->ndarray, shape, dtype, view, NULL);
    Py_XDECREF(view);
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    return array;
}

PyObject *cippy_array_view(PyObject *self, PyObject *unused)
{
    (void)unused;
    cippy_array *a = (cippy_array *)self;
    if (!cippy_array_enter_stored(a))
        return NULL;
    PyObject *array = NULL;
    cip_err err = CIP_ERR_INIT;
    const bool masked = cippy_array_is_masked(a);
    if (a->field == NULL && !masked) {
        array = view_of(a);
    } else {
        snprintf(err.text, sizeof err.text, "%s",
                 masked ? "elements may be missing, which a view does not show: read(mask=False)"
                        : "a field has no view of its own: view the records");
        cippy_file_fail(a->file, CIP_ERR_UNSUPPORTED, &err);
    }
    cippy_leave(a->file);
    return array;
}

static PyType_Slot slots[] = {
    { Py_tp_dealloc, view_dealloc },
    { Py_bf_getbuffer, view_buffer },
    { 0, NULL },
};

PyType_Spec cippy_view_spec = { "cippus._cippus.View", sizeof(cippy_view), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots };
