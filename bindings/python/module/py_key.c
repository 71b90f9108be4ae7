/* SPDX-License-Identifier: BSD-3-Clause
 * Keys of arrays: numpy's basic ones (integers, slices, `...`, None) become selections here; what
 * is wrong with them is said in numpy's words. */
#include "cippy.h"

PyObject *cippy_shape_tuple(int ndim, const int64_t *shape)
{
    PyObject *tuple = PyTuple_New(ndim);
    for (int i = 0; tuple != NULL && i < ndim; i++) {
        PyObject *n = PyLong_FromLongLong(shape[i]);
        if (n == NULL || PyTuple_SetItem(tuple, i, n) != 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static cip_slice range_of(int64_t start, int64_t stop, int64_t step)
{
    return (cip_slice)CIP_STEPS(start, stop, step);
}

static void add(cippy_key *k, cip_slice item, int64_t len)
{
    k->slices.item[k->slices.n++] = item;
    if (len >= 0)
        k->shape[k->ndim++] = len;
}

static void add_whole(cippy_key *k, int axes, const int64_t *shape)
{
    for (int i = 0; i < axes; i++)
        add(k, range_of(0, shape[i], 1), shape[i]);
}

static int add_slice(cippy_key *k, PyObject *item, int64_t len)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(item, &start, &stop, &step) != 0)
        return -1;
    const Py_ssize_t n = PySlice_AdjustIndices(len, &start, &stop, step);
    if (n == 0)
        add(k, range_of(0, 0, 1), 0);
    else
        add(k, range_of(start, stop < 0 ? CIP_OPEN : stop, step), n);
    return 1;
}

static int add_index(cippy_key *k, PyObject *item, int axis, int64_t len)
{
    const Py_ssize_t i = PyNumber_AsSsize_t(item, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred())
        return -1;
    if (i < -len || i >= len) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis %d with size %lld", i,
                     axis, (long long)len);
        return -1;
    }
    add(k, (cip_slice)CIP_INDEX(i < 0 ? i + len : i), -1);
    return 1;
}

/* Whether it counts as a basic item at all: numpy's booleans and arrays have __index__ too. */
static bool is_integer(PyObject *item)
{
    return PyLong_Check(item) ? !PyBool_Check(item)
                              : PyIndex_Check(item) && !PyObject_HasAttrString(item, "__len__") &&
                                    !PyObject_HasAttrString(item, "all");
}

/* 1 for numpy's integer scalars, which have methods of arrays: told by their dtype. */
static int is_numpy_integer(PyObject *item)
{
    if (!PyIndex_Check(item) || PyObject_HasAttrString(item, "__setitem__"))
        return 0;
    PyObject *dtype = PyObject_GetAttrString(item, "dtype");
    PyObject *kind = dtype != NULL ? PyObject_GetAttrString(dtype, "kind") : NULL;
    const int is = kind != NULL && PyUnicode_Check(kind) &&
                   (PyUnicode_CompareWithASCIIString(kind, "i") == 0 ||
                    PyUnicode_CompareWithASCIIString(kind, "u") == 0);
    Py_XDECREF(kind);
    Py_XDECREF(dtype);
    PyErr_Clear();
    return is;
}

static bool counts(PyObject *item)
{
    return PySlice_Check(item) || is_integer(item) || is_numpy_integer(item);
}

/* Axes that the items name, and whether there is an ellipsis; -1: not basic, -2: an exception. */
static int axes_of(PyObject *const *item, Py_ssize_t n, bool *ellipsis)
{
    int axes = 0;
    *ellipsis = false;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (item[i] == Py_Ellipsis) {
            if (*ellipsis) {
                PyErr_SetString(PyExc_IndexError,
                                "an index can only have a single ellipsis ('...')");
                return -2;
            }
            *ellipsis = true;
        } else if (item[i] != Py_None) {
            if (!counts(item[i]))
                return -1;
            axes++;
        }
    }
    return axes;
}

static int parse_items(PyObject *const *item, Py_ssize_t n, int ndim, const int64_t *shape,
                       cippy_key *k)
{
    bool ellipsis;
    const int axes = axes_of(item, n, &ellipsis);
    if (axes < 0)
        return axes + 1;
    if (axes > ndim) {
        PyErr_Format(PyExc_IndexError,
                     "too many indices for array: array is %d-dimensional, but %d were indexed",
                     ndim, axes);
        return -1;
    }
    int axis = 0, status = 1;
    for (Py_ssize_t i = 0; i < n && status == 1; i++) {
        if (item[i] == Py_Ellipsis) {
            add_whole(k, ndim - axes, shape + axis);
            axis += ndim - axes;
        } else if (item[i] == Py_None) {
            add(k, (cip_slice)CIP_NEWAXIS, 1);
        } else if (PySlice_Check(item[i])) {
            status = add_slice(k, item[i], shape[axis]);
            axis++;
        } else {
            status = add_index(k, item[i], axis, shape[axis]);
            axis++;
        }
    }
    if (status == 1)
        add_whole(k, ndim - axis, shape + axis);
    if (status == 1 && k->ndim > CIP_MAX_NDIM) {
        PyErr_Format(PyExc_IndexError,
                     "number of dimensions must be within [0, %d], indexing result would have %d",
                     CIP_MAX_NDIM, k->ndim);
        status = -1;
    }
    k->scalar = k->ndim == 0 && !ellipsis;
    return status;
}

int cippy_key_parse(PyObject *key, int ndim, const int64_t *shape, cippy_key *out)
{
    PyObject *item[2 * CIP_MAX_NDIM];
    Py_ssize_t n = 1;
    out->slices.n = out->slices.reserved = 0;
    out->ndim = 0;
    item[0] = key;
    if (PyTuple_Check(key)) {
        n = PyTuple_Size(key);
        /* as many as there is room for: each item may become an axis, and whole ones come on top */
        if (n + ndim > 2 * CIP_MAX_NDIM) {
            PyErr_Format(PyExc_IndexError, "too many indices for array: %zd", n);
            return -1;
        }
        for (Py_ssize_t i = 0; i < n; i++)
            item[i] = PyTuple_GetItem(key, i);
    }
    out->whole = n == 0 || (n == 1 && item[0] == Py_Ellipsis);
    return parse_items(item, n, ndim, shape, out);
}
