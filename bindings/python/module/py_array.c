/* SPDX-License-Identifier: BSD-3-Clause
 * An array: what it is and how it is stored. It keeps its file alive, not open. */
#include "cippy.h"

static bool take_shape(cippy_array *a)
{
    uint64_t nbytes;
    cip_err err = CIP_ERR_INIT;
    if (a->field == NULL) {
        a->ndim = cip_array_ndim(a->array);
        memcpy(a->shape, cip_array_shape(a->array), sizeof *a->shape * (size_t)a->ndim);
        return true;
    }
    const cip_read_args args = { .size = sizeof args, .field = PyBytes_AsString(a->field) };
    const cip_status status = cip_read_shape(a->array, &args, &a->ndim, a->shape, &nbytes, &err);
    if (status == CIP_OK)
        return true;
    cippy_fail(a->file->state, status, &err, a->path, false);
    return false;
}

/* The C array at its path: after a change of the file, as what it was then no longer is. */
static bool find_by(cippy_array *a, cippy_change *c)
{
    cippy_file *f = a->file;
    cip_err err = CIP_ERR_INIT;
    const cip_array *array = NULL;
    PyObject *path = PyUnicode_AsEncodedString(a->path, "utf-8", "surrogateescape");
    if (path == NULL)
        return false;
    if (c != NULL)
        cip_change_array(c->change, PyBytes_AsString(path), &array, &err);
    else
        array = cip_find(f->file, PyBytes_AsString(path), &err);
    Py_DECREF(path);
    if (array == NULL) {
        cippy_fail(f->state, (cip_status)err.code, &err, a->path, false);
        return false;
    }
    a->array = array;
    a->masked = 0;
    Py_CLEAR(a->dtype);
    return take_shape(a);
}

static bool find_again(cippy_array *a)
{
    cippy_change *c;
    if (!cippy_look_begin(a->file, &c))
        return false;
    const unsigned serial = a->file->serial;
    const bool found = find_by(a, c);
    if (found) {
        a->generation = a->file->generation;
        a->serial = serial;
    }
    cippy_look_end(c);
    return found;
}

bool cippy_array_enter(cippy_array *a)
{
    if (!cippy_enter(a->file))
        return false;
    bool is = false;
    CIPPY_BEGIN_ALONE(a)
    is = a->generation == a->file->generation && a->serial == a->file->serial;
    is = is || find_again(a);
    CIPPY_END_ALONE
    if (!is)
        cippy_leave(a->file);
    return is;
}

bool cippy_array_enter_stored(cippy_array *a)
{
    cip_err err = CIP_ERR_INIT;
    if (!cippy_array_enter(a))
        return false;
    if (a->file->change == NULL)
        return true;
    snprintf(err.text, sizeof err.text,
             "the file has changes that are not committed, so what is stored may be of before");
    cippy_fail(a->file->state, CIP_ERR_UNSUPPORTED, &err, a->path, false);
    cippy_leave(a->file);
    return false;
}

bool cippy_array_is_masked(cippy_array *a)
{
    cip_array_storage s = { .size = sizeof s };
    if (a->masked == 0) /* what cannot be told is said by the reading that follows */
        a->masked = cip_array_get_storage(a->array, &s, NULL) == CIP_OK && s.masked ? 2 : 1;
    return a->masked == 2;
}

PyObject *cippy_array_new(cippy_file *f, const cip_array *array, const char *field,
                          const char *path)
{
    cippy_array *a = (cippy_array *)PyType_GenericAlloc((PyTypeObject *)f->state->array_class, 0);
    if (a == NULL)
        return NULL;
    path = path != NULL ? path : cip_array_path(array);
    a->file = (cippy_file *)Py_NewRef((PyObject *)f);
    a->array = array;
    a->generation = f->generation;
    a->serial = f->serial - (f->change != NULL); /* it is to be looked for as the update has it */
    a->path = cippy_text(path, strlen(path));
    a->field = field != NULL ? PyBytes_FromString(field) : NULL;
    if (a->path == NULL || (field != NULL && a->field == NULL) || !take_shape(a))
        Py_CLEAR(a);
    return (PyObject *)a;
}

static void array_dealloc(PyObject *self)
{
    cippy_array *a = (cippy_array *)self;
    Py_XDECREF(a->path);
    Py_XDECREF(a->field);
    Py_XDECREF(a->dtype);
    Py_XDECREF((PyObject *)a->file);
    cippy_free(self);
}

/* Whether the first len bytes of `step`, in which "~1" is a slash and "~0" a tilde, are that name.
 */
static bool is_step(const char *step, size_t len, const char *name)
{
    for (size_t i = 0; i < len; i++, name++) {
        char c = step[i];
        if (c == '~' && i + 1 < len && (step[i + 1] == '0' || step[i + 1] == '1'))
            c = step[++i] == '0' ? '~' : '/';
        if (c != *name)
            return false;
    }
    return *name == '\0';
}

/* The dtype of the field at `path` ("site/x") of a record; NULL: there is none. */
static const cip_dtype *dtype_of_field(const cip_dtype *d, const char *path)
{
    while (d != NULL && *path != '\0') {
        const size_t len = strcspn(path, "/"), n = cip_dtype_nfield(d);
        const cip_dtype *found = NULL;
        for (size_t i = 0; i < n && found == NULL; i++) {
            const cip_field *f = cip_dtype_field(d, i);
            found = is_step(path, len, f->name) ? f->dtype : NULL;
        }
        d = found;
        path += len + (path[len] == '/');
    }
    return d;
}

/* An array of an update is another thread's to look at, too, which changes what was seen of it: so
 * it is looked for again, and nobody else looks meanwhile. NULL: an exception. */
static PyObject *make_dtype(cippy_array *a)
{
    cip_err err = CIP_ERR_INIT;
    const cip_dtype *d;
    cippy_change *c;
    if (!cippy_look_begin(a->file, &c))
        return NULL;
    if (a->serial != a->file->serial && !find_by(a, c)) {
        cippy_look_end(c);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS /* it waits for a lock of the library */
        d = cip_array_native_dtype(a->array, &err);
    Py_END_ALLOW_THREADS cippy_look_end(c);
    if (d != NULL && a->field != NULL)
        d = dtype_of_field(d, PyBytes_AsString(a->field));
    if (d != NULL)
        return cippy_dtype_numpy(a->file->state, d);
    cip_status status = err.code != CIP_OK ? (cip_status)err.code : CIP_ERR_NOT_FOUND;
    return cippy_fail(a->file->state, status, &err, a->path, false);
}

PyObject *cippy_array_dtype_of(cippy_array *a)
{
    PyObject *kept = NULL;
    CIPPY_BEGIN_ALONE(a)
    kept = a->dtype;
    CIPPY_END_ALONE
    if (kept != NULL)
        return kept;
    PyObject *dtype = make_dtype(a);
    if (dtype == NULL)
        return NULL;
    CIPPY_BEGIN_ALONE(a)
    if (a->dtype == NULL) { /* another thread may have made it, and lent it, meanwhile */
        a->dtype = dtype;
        dtype = NULL;
    }
    kept = a->dtype;
    CIPPY_END_ALONE
    Py_XDECREF(dtype);
    return kept;
}

static PyObject *array_shape(PyObject *self, void *unused)
{
    (void)unused;
    cippy_array *a = (cippy_array *)self;
    if (!cippy_array_enter(a))
        return NULL;
    PyObject *shape = cippy_shape_tuple(a->ndim, a->shape);
    cippy_leave(a->file);
    return shape;
}

static PyObject *array_dtype(PyObject *self, void *unused)
{
    (void)unused;
    cippy_array *a = (cippy_array *)self;
    if (!cippy_array_enter(a))
        return NULL;
    PyObject *dtype = cippy_array_dtype_of(a);
    Py_XINCREF(dtype);
    cippy_leave(a->file);
    return dtype;
}

static PyObject *array_stored_dtype(PyObject *self, void *unused)
{
    (void)unused;
    cippy_array *a = (cippy_array *)self;
    if (!cippy_array_enter(a))
        return NULL;
    const cip_dtype *d = cip_array_dtype(a->array);
    if (a->field != NULL)
        d = dtype_of_field(d, PyBytes_AsString(a->field));
    PyObject *dtype = cippy_dtype_numpy(a->file->state, d);
    cippy_leave(a->file);
    return dtype;
}

static Py_ssize_t array_len(PyObject *self)
{
    cippy_array *a = (cippy_array *)self;
    if (!cippy_array_enter(a))
        return -1;
    const Py_ssize_t n = a->ndim > 0 ? (Py_ssize_t)a->shape[0] : -1;
    cippy_leave(a->file);
    if (n < 0)
        PyErr_SetString(PyExc_TypeError, "len() of unsized object");
    return n;
}

/* (kind, codec, stored bytes, chunk shape or None, block or None, masked) */
static PyObject *array_storage(PyObject *self, void *unused)
{
    (void)unused;
    cippy_array *a = (cippy_array *)self;
    cip_array_storage s = { .size = sizeof s };
    cip_err err = CIP_ERR_INIT;
    if (!cippy_array_enter(a))
        return NULL;
    PyObject *storage = NULL;
    const cip_status status = cip_array_get_storage(a->array, &s, &err);
    if (status == CIP_OK)
        storage =
            Py_BuildValue("(ssKNLO)", s.kind, s.codec, (unsigned long long)s.stored_nbytes,
                          s.chunk != NULL ? cippy_shape_tuple(cip_array_ndim(a->array), s.chunk)
                                          : Py_NewRef(Py_None),
                          (long long)s.block, s.masked ? Py_True : Py_False);
    else
        cippy_file_fail(a->file, status, &err);
    cippy_leave(a->file);
    return storage;
}

/* A mapping of the tree (None for anything else) without the look that sees an array in it. `at` as
 * for cippy_value. */
static PyObject *mapping(cippy_array *a, const cip_node *node, const char *at)
{
    if (cip_node_kind(node) != CIP_NODE_MAP)
        return Py_NewRef(Py_None);
    cippy_node *n = (cippy_node *)PyType_GenericAlloc((PyTypeObject *)a->file->state->map_class, 0);
    if (n == NULL)
        return NULL;
    n->file = (cippy_file *)Py_NewRef((PyObject *)a->file);
    n->node = node;
    n->generation = a->generation;
    n->serial = a->file->serial;
    n->at = at != NULL ? PyBytes_FromString(at) : NULL;
    if (at != NULL && n->at == NULL)
        Py_CLEAR(n);
    return (PyObject *)n;
}

/* The array's description, or what holds it, in the tree as the update has it. */
static PyObject *mapping_now(cippy_array *a, cippy_change *c, bool parent)
{
    cip_err err = CIP_ERR_INIT;
    const cip_node *root;
    PyObject *found = NULL, *path = PyUnicode_AsEncodedString(a->path, "utf-8", "surrogateescape");
    const char *whole = path != NULL ? PyBytes_AsString(path) : NULL;
    char *at = whole != NULL ? PyMem_Malloc(strlen(whole) + 1) : NULL; /* the bytes may be shared */
    if (at != NULL)
        strcpy(at, whole);
    else if (whole != NULL)
        PyErr_NoMemory();
    if (at != NULL && cip_change_tree(c->change, &root, &err) != CIP_OK) {
        cippy_file_fail(a->file, (cip_status)err.code, &err);
    } else if (at != NULL) {
        char *end = strrchr(at, '/');
        const char *tag = cip_node_tag(cip_tree_get(root, at, NULL));
        if (parent && (tag == NULL || strstr(tag, "/quantity-") == NULL))
            *(end != NULL ? end : at) = '\0';
        found = mapping(a, cip_tree_get(root, at, NULL), at);
    }
    PyMem_Free(at);
    Py_XDECREF(path);
    return found;
}

static PyObject *look_at_tree(cippy_array *a, bool parent)
{
    PyObject *found = NULL;
    cippy_change *c;
    if (!cippy_array_enter(a))
        return NULL;
    if (cippy_look_begin(a->file, &c)) {
        if (cip_array_node(a->array) == NULL && !parent)
            found = Py_NewRef(Py_None);
        else if (c != NULL)
            found = mapping_now(a, c, parent);
        else
            found = mapping(
                a, parent ? cip_array_parent(a->file->file, a->array) : cip_array_node(a->array),
                NULL);
        cippy_look_end(c);
    }
    cippy_leave(a->file);
    return found;
}

static PyObject *array_node(PyObject *self, void *unused)
{
    (void)unused;
    return look_at_tree((cippy_array *)self, false);
}

static PyObject *array_parent(PyObject *self, void *unused)
{
    (void)unused;
    return look_at_tree((cippy_array *)self, true);
}

static PyObject *array_file(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)((cippy_array *)self)->file);
}

static PyObject *array_path(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((cippy_array *)self)->path);
}

static PyObject *array_field_name(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *field = ((cippy_array *)self)->field;
    return field == NULL ? Py_NewRef(Py_None)
                         : cippy_text(PyBytes_AsString(field), (size_t)PyBytes_Size(field));
}

/* field(step): the array of a field, whose name is escaped as a step of a path. */
static PyObject *array_field(PyObject *self, PyObject *name)
{
    cippy_array *a = (cippy_array *)self;
    PyObject *bytes = PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape"), *whole = NULL,
             *found = NULL;
    if (bytes != NULL)
        whole = a->field == NULL ? Py_NewRef(bytes)
                                 : PyBytes_FromFormat("%s/%s", PyBytes_AsString(a->field),
                                                      PyBytes_AsString(bytes));
    if (whole != NULL && cippy_array_enter(a)) {
        PyObject *path = PyUnicode_AsEncodedString(a->path, "utf-8", "surrogateescape");
        if (path != NULL)
            found =
                cippy_array_new(a->file, a->array, PyBytes_AsString(whole), PyBytes_AsString(path));
        Py_XDECREF(path);
        cippy_leave(a->file);
    }
    Py_XDECREF(whole);
    Py_XDECREF(bytes);
    return found;
}

static PyMethodDef methods[] = {
    { "_field", array_field, METH_O, NULL },
    { "_read", cippy_array_read, METH_VARARGS, NULL },
    { "_points", cippy_array_points, METH_VARARGS, NULL },
    { "_picture", cippy_array_picture, METH_VARARGS, NULL },
    { "_nchunk", cippy_array_nchunk, METH_NOARGS, NULL },
    { "_chunk", cippy_array_chunk, METH_O, NULL },
    { "_read_chunk", cippy_array_read_chunk, METH_VARARGS, NULL },
    { "view", cippy_array_view, METH_NOARGS,
      "The elements in place, read-only and without a copy, where they lie in the file as numpy\n"
      "needs them; otherwise UnsupportedError. The view stays valid after close()." },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef getset[] = {
    { "shape", array_shape, NULL, "The number of elements along each axis.", NULL },
    { "dtype", array_dtype, NULL,
      "numpy's dtype of what reading gives: packed, in the machine's byte order.", NULL },
    { "stored_dtype", array_stored_dtype, NULL,
      "numpy's dtype of the elements as they lie in the file.", NULL },
    { "file", array_file, NULL, "The file that it is in.", NULL },
    { "path", array_path, NULL, "Its path in the file.", NULL },
    { "node", array_node, NULL, "Its description in the metadata tree, or None.", NULL },
    { "parent", array_parent, NULL,
      "The mapping that holds it in the tree, or None; of a quantity the quantity.", NULL },
    { "_storage", array_storage, NULL, NULL, NULL },
    { "_field_name", array_field_name, NULL, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, array_dealloc },
    { Py_mp_length, array_len },
    { Py_mp_subscript, cippy_array_getitem },
    { Py_tp_methods, methods },
    { Py_tp_getset, getset },
    { 0, NULL },
};

PyType_Spec cippy_array_spec = { "cippus._cippus.Array", sizeof(cippy_array), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                                     Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 slots };
