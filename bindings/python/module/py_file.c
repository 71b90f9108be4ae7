/* SPDX-License-Identifier: BSD-3-Clause
 * An open file. Its pins, in one atomic number: the low bits count the uses that are going on (the
 * owner's, from opening to close(), is one), CLOSED ends further ones, ALONE keeps others out while
 * the file itself changes. Whoever takes away the last pin closes the C file. */
#include "cippy.h"

#define CLOSED 0x80000000u
#define ALONE 0x40000000u

static void close_now(cippy_file *f)
{
    cip_file *file = f->file;
    if (f->change != NULL && f->change->is_new) /* the file is the change's */
        return;
    f->file = NULL;
    Py_BEGIN_ALLOW_THREADS cip_file_close(file);
    Py_END_ALLOW_THREADS if (f->bytes.obj != NULL) PyBuffer_Release(&f->bytes);
}

void cippy_leave(cippy_file *f)
{
    if (atomic_fetch_sub(&f->pins, 1) == (CLOSED | 1))
        close_now(f);
}

static bool refuse(unsigned pins, cippy_file *f)
{
    if (pins & CLOSED) {
        PyErr_SetString(PyExc_ValueError, "I/O operation on closed file");
    } else {
        cip_err err = CIP_ERR_INIT;
        snprintf(err.text, sizeof err.text,
                 "another thread is changing the file, or a view or a "
                 "read of another thread keeps it as it is");
        cippy_file_fail(f, CIP_ERR_BUSY, &err);
    }
    return false;
}

bool cippy_enter(cippy_file *f)
{
    unsigned pins = atomic_load(&f->pins);
    do {
        if (pins & (CLOSED | ALONE))
            return refuse(pins, f);
    } while (!atomic_compare_exchange_weak(&f->pins, &pins, pins + 1));
    return true;
}

bool cippy_enter_file(cippy_file *f, bool *nothing)
{
    if (!cippy_enter(f))
        return false;
    if (cippy_show(f, nothing))
        return true;
    cippy_leave(f);
    return false;
}

bool cippy_is_there(cippy_file *f)
{
    cip_err err = CIP_ERR_INIT;
    if (f->change == NULL || !f->change->is_new)
        return true;
    snprintf(err.text, sizeof err.text, "the file is new and not there before its commit");
    cippy_file_fail(f, CIP_ERR_UNSUPPORTED, &err);
    return false;
}

bool cippy_enter_alone(cippy_file *f)
{
    unsigned pins = 1;
    return atomic_compare_exchange_strong(&f->pins, &pins, ALONE | 2) || refuse(pins, f);
}

void cippy_leave_alone(cippy_file *f)
{
    if (atomic_fetch_sub(&f->pins, ALONE | 1) == (CLOSED | ALONE | 1))
        close_now(f); /* close() came meanwhile */
}

bool cippy_in_use(const cippy_file *f)
{
    const unsigned pins = atomic_load(&((cippy_file *)f)->pins);
    const unsigned others =
        atomic_load(&((cippy_file *)f)->views) + atomic_load(&((cippy_file *)f)->waiting);
    return (pins & ~(CLOSED | ALONE)) > others + !(pins & CLOSED);
}

PyObject *cippy_file_fail(cippy_file *f, cip_status status, const cip_err *err)
{
    if (status == CIP_ERR_IO && cippy_call_raised(&f->source))
        return NULL;
    return cippy_fail(f->state, status, err, f->path, false);
}

cippy_file *cippy_file_new(PyObject *module, PyObject *class, PyObject *path)
{
    cippy_state *st = cippy_state_of(module);
    cippy_file *f = NULL;
    if (st->map_class == NULL)
        PyErr_SetString(PyExc_RuntimeError, "import cippus, not cippus._cippus alone");
    else if (!PyType_Check(class) || !PyType_IsSubtype((PyTypeObject *)class, st->file))
        PyErr_SetString(PyExc_TypeError, "expected a class of files");
    else
        f = (cippy_file *)PyType_GenericAlloc((PyTypeObject *)class, 0);
    if (f == NULL)
        return NULL;
    f->module = Py_NewRef(module);
    f->state = st;
    f->path = Py_NewRef(path);
    atomic_init(&f->pins, CLOSED); /* until there is a C file */
    return f;
}

void cippy_close(cippy_file *f)
{
    if (!(atomic_fetch_or(&f->pins, CLOSED) & CLOSED))
        cippy_leave(f);
}

static PyObject *file_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    cippy_close((cippy_file *)self);
    Py_RETURN_NONE;
}

static void file_dealloc(PyObject *self)
{
    cippy_file *f = (cippy_file *)self;
    if (f->change != NULL)
        cippy_change_orphan(f->change);
    if (f->file != NULL)
        close_now(f); /* pins have references: there are none */
    else if (f->bytes.obj != NULL)
        PyBuffer_Release(&f->bytes);
    cippy_call_clear(&f->source);
    Py_XDECREF(f->path);
    Py_XDECREF(f->module);
    cippy_free(self);
}

/* --- what is in it -------------------------------------------------------------------------- */

/* The text of a step or path, with the file entered; NULL with an exception and not entered. */
static const char *enter_with_text(cippy_file *f, PyObject *text, PyObject **bytes, bool *nothing)
{
    *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
    if (*bytes == NULL || !cippy_enter_file(f, nothing))
        goto none;
    if (strlen(PyBytes_AsString(*bytes)) == (size_t)PyBytes_Size(*bytes))
        return PyBytes_AsString(*bytes);
    cippy_leave(f);
    PyErr_SetObject(PyExc_KeyError, text);
none:
    Py_CLEAR(*bytes);
    return NULL;
}

/* The array, or a field of it (field not ""); None where there is no such field. `path` as in
 * cippy_array_new. */
static PyObject *array_or_field(cippy_file *f, const cip_array *a, const char *field,
                                const char *path)
{
    PyObject *found = cippy_array_new(f, a, *field != '\0' ? field : NULL, path);
    if (found != NULL || *field == '\0' || !PyErr_ExceptionMatches(PyExc_KeyError))
        return found;
    PyErr_Clear();
    Py_RETURN_NONE;
}

/* An array that no node of the tree describes, or a field of an array. None where there is nothing.
 */
static PyObject *look_up_array(cippy_file *f, const char *path)
{
    cip_err err = CIP_ERR_INIT;
    const char *field = "";
    const cip_array *a = cip_find_field(f->file, path, &field, &err);
    if (a != NULL)
        return array_or_field(f, a, field, NULL);
    if (err.code == CIP_ERR_NOT_FOUND || err.code == CIP_ERR_ARG)
        Py_RETURN_NONE;
    return cippy_file_fail(f, (cip_status)err.code, &err);
}

/* The path of an array that was found at `path`, which leads to a field of it, in bytes. The
 * array's own is the one that it had before it was moved; one without a name is not moved. */
static PyObject *path_without(const char *path, const char *field, const cip_array *a)
{
    path += cip_array_node(a) == NULL && *path == '/';
    const size_t n = strlen(path), m = strlen(field) + (*field != '\0');
    const bool named = cip_array_node(a) != NULL || *cip_array_path(a) != '\0';
    const bool ends = m < n && strcmp(path + n - strlen(field), field) == 0;
    return named && ends ? PyBytes_FromStringAndSize(path, (Py_ssize_t)(n - m))
                         : PyBytes_FromString(cip_array_path(a));
}

/* The same in a file whose update changed the tree, or brought or took arrays. */
static PyObject *look_up_changed(cippy_file *f, cippy_change *c, const cip_node *root,
                                 const char *path)
{
    cip_err err = CIP_ERR_INIT;
    const char *field;
    const cip_array *a = cip_find_field(f->file, path, &field, NULL);
    PyObject *found = NULL;
    /* another may be declared at its path since: the tree has that one at the end only */
    const bool gone = a != NULL && *field == '\0' && cip_array_node(a) != NULL &&
                      cip_tree_get(root, cip_array_path(a), NULL) == NULL;
    const cip_status status = cip_change_field(c->change, path, &a, &field, &err);
    if (status == CIP_ERR_NOT_FOUND || status == CIP_ERR_ARG || status == CIP_ERR_TYPE ||
        (status == CIP_ERR_UNSUPPORTED && gone))
        Py_RETURN_NONE;
    if (status != CIP_OK)
        return cippy_file_fail(f, status, &err);
    PyObject *own = path_without(path, field, a);
    if (own != NULL)
        found = array_or_field(f, a, field, PyBytes_AsString(own));
    Py_XDECREF(own);
    return found;
}

/* What a path names: first a node of the tree (and the array that it describes). */
static PyObject *look_up(cippy_file *f, cippy_change *c, const char *path)
{
    cip_err err = CIP_ERR_INIT;
    const cip_node *root = cip_file_tree(f->file);
    const bool changed = c != NULL && f->tree_changed;
    const cip_status status = changed ? cip_change_tree(c->change, &root, &err) : CIP_OK;
    if (status != CIP_OK)
        return cippy_file_fail(f, status, &err);
    const cip_node *node = *path == '\0' ? NULL : cip_tree_get(root, path, NULL);
    if (node != NULL)
        return cippy_value(f, node, c, changed ? path : NULL);
    return changed ? look_up_changed(f, c, root, path) : look_up_array(f, path);
}

/* Whether the file as it was opened has anything at the path, whatever its update did since: an
 * answer that costs no look at the update. */
static PyObject *file_had(PyObject *self, PyObject *path)
{
    cippy_file *f = (cippy_file *)self;
    PyObject *bytes;
    bool nothing = false;
    const char *field;
    const char *text = enter_with_text(f, path, &bytes, &nothing);
    if (text == NULL)
        return NULL;
    const bool had = !nothing && (cip_tree_get(cip_file_tree(f->file), text, NULL) != NULL ||
                                  cip_find_field(f->file, text, &field, NULL) != NULL);
    cippy_leave(f);
    Py_DECREF(bytes);
    return PyBool_FromLong(had);
}

static PyObject *file_find(PyObject *self, PyObject *path)
{
    cippy_file *f = (cippy_file *)self;
    PyObject *bytes, *found = NULL;
    bool nothing = false;
    if (!PyUnicode_Check(path))
        return Py_NewRef(Py_None);
    const char *text = enter_with_text(f, path, &bytes, &nothing);
    if (text != NULL) {
        cippy_change *c;
        if (nothing) {
            found = Py_NewRef(Py_None);
        } else if (cippy_look_begin(f, &c)) {
            found = look_up(f, c, text);
            cippy_look_end(c);
        }
        cippy_leave(f);
        Py_DECREF(bytes);
    }
    return found;
}

static PyObject *file_tree(PyObject *self, PyObject *unused)
{
    (void)unused;
    cippy_file *f = (cippy_file *)self;
    cippy_change *c;
    cip_err err = CIP_ERR_INIT;
    PyObject *tree = NULL;
    bool nothing;
    if (!cippy_enter_file(f, &nothing))
        return NULL;
    if (nothing) {
        tree = Py_NewRef(Py_None);
    } else if (cippy_look_begin(f, &c)) {
        const cip_node *root = cip_file_tree(f->file);
        const bool changed = c != NULL && f->tree_changed;
        const cip_status status = changed ? cip_change_tree(c->change, &root, &err) : CIP_OK;
        if (status != CIP_OK)
            cippy_file_fail(f, status, &err);
        else
            tree = root != NULL ? cippy_value(f, root, c, changed ? "" : NULL) : Py_NewRef(Py_None);
        cippy_look_end(c);
    }
    cippy_leave(f);
    return tree;
}

/* Whether the array is none that the tree of the file has at its path. */
static bool is_apart(const cip_file *file, const cip_array *a)
{
    const char *path = cip_array_path(a);
    return cip_array_node(a) == NULL &&
           (*path == '\0' || cip_tree_get(cip_file_tree(file), path, NULL) == NULL);
}

static PyObject *list_paths(const cip_file *file, bool apart)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < cip_file_narray(file); i++) {
        const cip_array *a = cip_file_array(file, i);
        if (apart && !is_apart(file, a))
            continue;
        const char *text = cip_array_path(a);
        PyObject *path = cippy_text(text, strlen(text));
        if (path == NULL || PyList_Append(list, path) != 0)
            Py_CLEAR(list);
        Py_XDECREF(path);
    }
    return list;
}

/* The paths of all arrays, or only of those that no node of the tree describes. Where the change so
 * far cannot be shown (columns came or went) those of the table that it changes. */
static PyObject *file_paths(PyObject *self, PyObject *args)
{
    cippy_file *f = (cippy_file *)self;
    cippy_change *c;
    cip_err err = CIP_ERR_INIT;
    PyObject *list = NULL;
    int apart;
    bool nothing;
    if (!PyArg_ParseTuple(args, "p", &apart) || !cippy_enter_file(f, &nothing))
        return NULL;
    if (nothing) {
        list = PyList_New(0);
    } else if (cippy_look_begin(f, &c)) {
        const bool changed = c != NULL && f->tree_changed;
        const cip_file *now = changed ? cip_change_file(c->change, &err) : f->file;
        if (now == NULL && err.code == CIP_ERR_UNSUPPORTED)
            now = f->file;
        list = now != NULL ? list_paths(now, apart != 0)
                           : cippy_file_fail(f, (cip_status)err.code, &err);
        cippy_look_end(c);
    }
    cippy_leave(f);
    return list;
}

/* The array of just this path, or None. */
static PyObject *file_array_named(PyObject *self, PyObject *path)
{
    cippy_file *f = (cippy_file *)self;
    const char *field;
    PyObject *bytes, *array = NULL;
    bool nothing = false;
    const char *text = PyUnicode_Check(path) ? enter_with_text(f, path, &bytes, &nothing) : NULL;
    if (text == NULL)
        return PyUnicode_Check(path) ? NULL : Py_NewRef(Py_None);
    const cip_array *a = nothing ? NULL : cip_find_field(f->file, text, &field, NULL);
    const bool found = a != NULL && strcmp(cip_array_path(a), text) == 0;
    array = found ? cippy_array_new(f, a, NULL, NULL) : Py_NewRef(Py_None);
    cippy_leave(f);
    Py_DECREF(bytes);
    return array;
}

static PyObject *file_array_at(PyObject *self, PyObject *index)
{
    cippy_file *f = (cippy_file *)self;
    const size_t i = PyLong_AsSize_t(index);
    if ((i == (size_t)-1 && PyErr_Occurred()) || !cippy_enter_file(f, NULL))
        return NULL;
    const cip_array *a = cip_file_array(f->file, i);
    PyObject *array = a != NULL ? cippy_array_new(f, a, NULL, NULL) : Py_NewRef(Py_None);
    cippy_leave(f);
    return array;
}

/* (format, version, nbytes, facts, findings) */
static PyObject *file_info(PyObject *self, PyObject *unused)
{
    (void)unused;
    cippy_file *f = (cippy_file *)self;
    const char *key, *value;
    const cip_finding *found;
    if (!cippy_enter_file(f, NULL))
        return NULL;
    PyObject *facts = PyList_New(0), *findings = PyList_New(0), *row;
    for (size_t i = 0; facts != NULL && cip_file_fact(f->file, i, &key, &value); i++) {
        row = Py_BuildValue("(NN)", cippy_text(key, strlen(key)), cippy_text(value, strlen(value)));
        if (row == NULL || PyList_Append(facts, row) != 0)
            Py_CLEAR(facts);
        Py_XDECREF(row);
    }
    for (size_t i = 0; findings != NULL && (found = cip_file_finding(f->file, i)) != NULL; i++) {
        row = cippy_finding_tuple(found);
        if (row == NULL || PyList_Append(findings, row) != 0)
            Py_CLEAR(findings);
        Py_XDECREF(row);
    }
    PyObject *info = NULL;
    if (facts != NULL && findings != NULL)
        info = Py_BuildValue("(ssKOO)", cip_file_format(f->file), cip_file_version(f->file),
                             (unsigned long long)cip_file_nbytes(f->file), facts, findings);
    cippy_leave(f);
    Py_XDECREF(facts);
    Py_XDECREF(findings);
    return info;
}

static PyObject *file_closed(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong((atomic_load(&((cippy_file *)self)->pins) & CLOSED) != 0);
}

static PyObject *file_path(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((cippy_file *)self)->path);
}

static PyObject *file_refresh(PyObject *self, PyObject *unused)
{
    (void)unused;
    cippy_file *f = (cippy_file *)self;
    bool changed = false;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (!cippy_is_there(f) || !cippy_enter_alone(f))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = cip_file_refresh(f->file, &changed, &err);
    if (changed)
        cip_file_drop_old(f->file); /* nobody has anything of it: pointers are of a generation */
    Py_END_ALLOW_THREADS f->generation += changed;
    cippy_leave_alone(f);
    return status == CIP_OK ? PyBool_FromLong(changed) : cippy_file_fail(f, status, &err);
}

static PyMethodDef methods[] = {
    { "close", file_close, METH_NOARGS,
      "Close the file. Its arrays cannot be used any more; views stay valid." },
    { "refresh", file_refresh, METH_NOARGS,
      "Look at the file as it is now, and return whether it changed. Arrays can be used as "
      "before;\n"
      "tree nodes must be fetched again." },
    { "_find", file_find, METH_O, NULL },
    { "_had", file_had, METH_O, NULL },
    { "_tree", file_tree, METH_NOARGS, NULL },
    { "_paths", file_paths, METH_VARARGS, NULL },
    { "_array_at", file_array_at, METH_O, NULL },
    { "_array_named", file_array_named, METH_O, NULL },
    { "_refs", cippy_file_refs, METH_VARARGS, NULL },
    { "_info", file_info, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef getset[] = {
    { "closed", file_closed, NULL, "Whether close() was called.", NULL },
    { "path", file_path, NULL, "The path of the file, or a description of what was opened.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, file_dealloc },
    { Py_tp_methods, methods },
    { Py_tp_getset, getset },
    { 0, NULL },
};

PyType_Spec cippy_file_spec = { "cippus._cippus.File", sizeof(cippy_file), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                                    Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                slots };
