/* SPDX-License-Identifier: BSD-3-Clause
 * The tree: mappings and sequences as objects that look into it when they are asked, scalars as
 * Python's own values. Nothing is made before it is asked for, so large trees open at once. */
#include <stdlib.h>

#include "cippy.h"

enum { INDEXED_FROM = 16 }; /* keys that are looked through one by one below */

/* ASDF's integers that fit in no YAML integer: mappings that are one value. */
#define CORE_INTEGER "tag:stsci.edu:asdf/core/integer-1."

static PyObject *with_tag(cippy_file *f, const cip_node *node)
{
    size_t len = 0;
    const char *text = cip_node_text(node, &len), *tag = cip_node_tag(node);
    PyObject *t = cippy_text(text != NULL ? text : "", text != NULL ? len : 0);
    if (t == NULL)
        return NULL;
    PyObject *value =
        PyObject_CallFunction(f->state->scalar, "iNz", (int)cip_node_kind(node), t, tag);
    return value;
}

static PyObject *number(const cip_node *node)
{
    int64_t i;
    uint64_t u;
    double d;
    if (cip_node_kind(node) == CIP_NODE_FLOAT)
        return cip_tree_get_double(node, "", &d, NULL) == CIP_OK ? PyFloat_FromDouble(d) : NULL;
    if (cip_tree_get_int(node, "", &i, NULL) == CIP_OK)
        return PyLong_FromLongLong(i);
    if (cip_tree_get_uint(node, "", &u, NULL) == CIP_OK)
        return PyLong_FromUnsignedLongLong(u);
    return NULL;
}

static PyObject *scalar(cippy_file *f, const cip_node *node)
{
    bool b = false;
    size_t len = 0;
    const char *tag = cip_node_tag(node), *text;
    PyObject *value = NULL;
    const bool plain = tag == NULL || strncmp(tag, "tag:yaml.org,2002:", 18) == 0;
    switch (cip_node_kind(node)) {
    case CIP_NODE_NULL:
        return Py_NewRef(Py_None);
    case CIP_NODE_BOOL:
        return cip_tree_get_bool(node, "", &b, NULL) == CIP_OK ? PyBool_FromLong(b)
                                                               : with_tag(f, node);
    case CIP_NODE_STRING:
        text = cip_node_text(node, &len);
        return plain ? cippy_text(text, len) : with_tag(f, node);
    case CIP_NODE_INT:
    case CIP_NODE_FLOAT:
        value = plain ? number(node) : NULL;
        break;
    default:
        break;
    }
    return value != NULL || PyErr_Occurred() ? value : with_tag(f, node);
}

static PyObject *collection(cippy_file *f, const cip_node *node, const char *at)
{
    PyObject *class =
        cip_node_kind(node) == CIP_NODE_MAP ? f->state->map_class : f->state->seq_class;
    cippy_node *n = (cippy_node *)PyType_GenericAlloc((PyTypeObject *)class, 0);
    if (n != NULL) {
        n->file = (cippy_file *)Py_NewRef((PyObject *)f);
        n->node = node;
        n->generation = f->generation;
        n->serial = f->serial;
        n->at = at != NULL ? PyBytes_FromString(at) : NULL;
        if (at != NULL && n->at == NULL)
            Py_CLEAR(n);
    }
    return (PyObject *)n;
}

bool cippy_tag_is_of_array(const char *tag)
{
    return tag != NULL &&
           (strstr(tag, "core/ndarray") != NULL || strstr(tag, "/quantity-") != NULL);
}

/* The array that a node of an update's tree describes, or None: it describes none. What the update
 * does not know before it is committed is told by its tag. */
static PyObject *array_now(cippy_file *f, const cip_node *node, cippy_change *c, const char *at)
{
    cip_err err = CIP_ERR_INIT;
    const cip_array *a;
    const cip_status status = cip_change_array(c->change, at, &a, &err);
    if (status == CIP_OK && cip_array_node(a) != NULL)
        return cippy_array_new(f, a, NULL, at);
    if (status != CIP_ERR_UNSUPPORTED || !cippy_tag_is_of_array(cip_node_tag(node)))
        Py_RETURN_NONE;
    return cippy_file_fail(f, status, &err);
}

PyObject *cippy_value(cippy_file *f, const cip_node *node, cippy_change *c, const char *at)
{
    const cip_node_type kind = cip_node_kind(node);
    if (at != NULL && *at != '\0' && (kind == CIP_NODE_MAP || kind == CIP_NODE_SEQ)) {
        PyObject *found = array_now(f, node, c, at);
        if (found != Py_None)
            return found;
        Py_DECREF(found);
    }
    const cip_array *a = at == NULL ? cip_array_of_node(f->file, node) : NULL;
    if (a != NULL)
        return cippy_array_new(f, a, NULL, NULL);
    if (kind != CIP_NODE_MAP && kind != CIP_NODE_SEQ)
        return scalar(f, node);
    PyObject *value = collection(f, node, at);
    const char *tag = cip_node_tag(node);
    if (value == NULL || tag == NULL || strncmp(tag, CORE_INTEGER, sizeof CORE_INTEGER - 1) != 0)
        return value;
    return PyObject_CallFunction(f->state->scalar, "iNz", (int)kind, value, tag);
}

/* A use begins: false, with an exception, of a closed file and of a tree that has changed since.
 * *c: the update that the thread looks into for a node of it. */
static bool enter(cippy_node *n, cippy_change **c)
{
    cippy_file *f = n->file;
    *c = NULL;
    if (!cippy_enter(f))
        return false;
    if (n->at != NULL && !cippy_look_begin(f, c)) {
        cippy_leave(f);
        return false;
    }
    if (n->generation == f->generation &&
        (n->at != NULL ? *c != NULL && n->serial == f->serial : !f->tree_changed))
        return true;
    cippy_look_end(*c);
    cippy_leave(f);
    PyErr_SetString(PyExc_ValueError, "the file has changed: fetch this part of its tree again");
    return false;
}

static void leave(cippy_node *n, cippy_change *c)
{
    cippy_look_end(c);
    cippy_leave(n->file);
}

/* A part of a node: `step` is text of len bytes, one step of a path below it or (escaped) several.
 */
static PyObject *part(cippy_node *n, cippy_change *c, const cip_node *node, const char *step,
                      size_t len, bool escaped)
{
    if (n->at == NULL)
        return cippy_value(n->file, node, NULL, NULL);
    const char *at = PyBytes_AsString(n->at);
    const size_t room = strlen(at) + 2 * len + 2;
    char *path = PyMem_Malloc(room), *p = path;
    if (path == NULL)
        return PyErr_NoMemory();
    p += snprintf(p, room, "%s%s", at, *at != '\0' || len == 0 ? "/" : "");
    for (size_t i = 0; i < len; i++) {
        const char x = step[i];
        if (!escaped && (x == '~' || x == '/')) {
            *p++ = '~';
            *p++ = x == '~' ? '0' : '1';
        } else {
            *p++ = x;
        }
    }
    *p = '\0';
    PyObject *value = cippy_value(n->file, node, c, path);
    PyMem_Free(path);
    return value;
}

static void node_dealloc(PyObject *self)
{
    cippy_node *n = (cippy_node *)self;
    Py_XDECREF(n->at);
    Py_XDECREF(n->index);
    Py_XDECREF((PyObject *)n->file);
    cippy_free(self);
}

static Py_ssize_t node_len(PyObject *self)
{
    cippy_node *n = (cippy_node *)self;
    cippy_change *c;
    if (!enter(n, &c))
        return -1;
    const size_t len = cip_node_len(n->node);
    leave(n, c);
    return (Py_ssize_t)len;
}

/* The i-th item of a sequence, or value of a mapping. */
static PyObject *value_at(cippy_node *n, cippy_change *c, size_t i)
{
    char number[24];
    size_t len = (size_t)snprintf(number, sizeof number, "%zu", i);
    const char *step = number;
    if (cip_node_kind(n->node) == CIP_NODE_MAP) {
        step = cip_node_text(cip_node_key(n->node, i), &len);
        len = step != NULL ? len : (size_t)snprintf(number, sizeof number, "?%zu", i);
        step = step != NULL ? step : number;
    }
    return part(n, c, cip_node_at(n->node, i), step, len, false);
}

/* An item of a sequence, the value or the key of a mapping's pair; IndexError behind the last. */
static PyObject *part_at(PyObject *self, PyObject *index, bool key)
{
    cippy_node *n = (cippy_node *)self;
    cippy_change *c;
    Py_ssize_t i = PyNumber_AsSsize_t(index, PyExc_IndexError);
    if ((i == -1 && PyErr_Occurred()) || !enter(n, &c))
        return NULL;
    const size_t len = cip_node_len(n->node);
    i += i < 0 ? (Py_ssize_t)len : 0;
    PyObject *found = NULL;
    if (i < 0 || (size_t)i >= len)
        PyErr_SetString(PyExc_IndexError, "list index out of range");
    else
        found = key ? cippy_value(n->file, cip_node_key(n->node, (size_t)i), c,
                                  n->at != NULL ? "" : NULL)
                    : value_at(n, c, (size_t)i);
    leave(n, c);
    return found;
}

static PyObject *node_at(PyObject *self, PyObject *index)
{
    return part_at(self, index, false);
}

static PyObject *node_key(PyObject *self, PyObject *index)
{
    return part_at(self, index, true);
}

/* --- keys ----------------------------------------------------------------------------------- */

static bool is_key(const cip_node *key, const char *text, size_t len)
{
    size_t n = 0;
    const char *t = cip_node_kind(key) == CIP_NODE_STRING ? cip_node_text(key, &n) : NULL;
    return t != NULL && n == len && memcmp(t, text, len) == 0;
}

static bool make_index(cippy_node *n)
{
    PyObject *index = PyDict_New();
    const size_t len = cip_node_len(n->node);
    for (size_t i = 0; index != NULL && i < len; i++) {
        const cip_node *key = cip_node_key(n->node, i);
        if (cip_node_kind(key) != CIP_NODE_STRING)
            continue;
        size_t nbytes = 0;
        const char *text = cip_node_text(key, &nbytes);
        PyObject *k = PyBytes_FromStringAndSize(text, (Py_ssize_t)nbytes),
                 *v = PyLong_FromSize_t(i);
        if (k == NULL || v == NULL || PyDict_SetItem(index, k, v) != 0)
            Py_CLEAR(index);
        Py_XDECREF(k);
        Py_XDECREF(v);
    }
    PyObject *old = n->index;
    n->index = index;
    Py_XDECREF(old);
    return index != NULL;
}

/* The position of a string among the keys; its length where it is none; -1: an exception. */
static Py_ssize_t position(cippy_node *n, PyObject *bytes)
{
    const size_t len = cip_node_len(n->node);
    const char *text = PyBytes_AsString(bytes);
    const size_t nbytes = (size_t)PyBytes_Size(bytes);
    if (n->next < len && is_key(cip_node_key(n->node, n->next), text, nbytes))
        return (Py_ssize_t)n->next;
    if (len >= INDEXED_FROM) {
        if (n->index == NULL && !make_index(n))
            return -1;
        PyObject *i = PyDict_GetItemWithError(n->index, bytes);
        if (i == NULL && PyErr_Occurred())
            return -1;
        return i != NULL ? PyLong_AsSsize_t(i) : (Py_ssize_t)len;
    }
    size_t i = 0;
    while (i < len && !is_key(cip_node_key(n->node, i), text, nbytes))
        i++;
    return (Py_ssize_t)i;
}

/* find(str) -> (value,), or None where no key is just that string. */
static PyObject *node_find(PyObject *self, PyObject *key)
{
    cippy_node *n = (cippy_node *)self;
    cippy_change *c;
    PyObject *bytes = PyUnicode_AsEncodedString(key, "utf-8", "surrogateescape"), *found = NULL;
    if (bytes == NULL || !enter(n, &c)) {
        Py_XDECREF(bytes);
        return NULL;
    }
    Py_ssize_t i = 0;
    CIPPY_BEGIN_ALONE(self)
    i = position(n, bytes);
    if (i >= 0)
        n->next = (size_t)i + 1;
    CIPPY_END_ALONE
    if (i >= 0 && (size_t)i < cip_node_len(n->node)) {
        PyObject *value = value_at(n, c, (size_t)i);
        found = value != NULL ? PyTuple_Pack(1, value) : NULL;
        Py_XDECREF(value);
    } else if (i >= 0) {
        found = Py_NewRef(Py_None);
    }
    leave(n, c);
    Py_DECREF(bytes);
    return found;
}

/* step(path) -> (value,), or None where the path names no node below this one. */
static PyObject *node_step(PyObject *self, PyObject *path)
{
    cippy_node *n = (cippy_node *)self;
    cippy_change *c;
    PyObject *bytes = PyUnicode_AsEncodedString(path, "utf-8", "surrogateescape"), *found = NULL;
    if (bytes == NULL || !enter(n, &c)) {
        Py_XDECREF(bytes);
        return NULL;
    }
    const char *text = PyBytes_AsString(bytes);
    const size_t len = strlen(text);
    const cip_node *node =
        len == (size_t)PyBytes_Size(bytes) ? cip_tree_get(n->node, text, NULL) : NULL;
    PyObject *value = node != NULL ? part(n, c, node, text, len, true) : NULL;
    if (value != NULL)
        found = PyTuple_Pack(1, value);
    else if (!PyErr_Occurred())
        found = Py_NewRef(Py_None);
    Py_XDECREF(value);
    leave(n, c);
    Py_DECREF(bytes);
    return found;
}

static PyObject *node_tag(PyObject *self, void *unused)
{
    (void)unused;
    cippy_node *n = (cippy_node *)self;
    cippy_change *c;
    if (!enter(n, &c))
        return NULL;
    const char *tag = cip_node_tag(n->node);
    PyObject *text = tag != NULL ? cippy_text(tag, strlen(tag)) : Py_NewRef(Py_None);
    leave(n, c);
    return text;
}

/* Whether both are the same node: aliases make a tree shared, and may close a ring. */
static PyObject *node_id(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr((void *)((cippy_node *)self)->node);
}

typedef struct printed {
    char *text;
    size_t n, cap;
} printed;

static int take_text(void *user, const void *bytes, size_t nbytes)
{
    printed *p = user;
    if (p->n + nbytes > p->cap) {
        const size_t cap = 2 * p->cap + nbytes;
        char *more = realloc(p->text, cap);
        if (more == NULL)
            return 1;
        p->text = more;
        p->cap = cap;
    }
    memcpy(p->text + p->n, bytes, nbytes);
    p->n += nbytes;
    return 0;
}

/* text(depth, json): as YAML or JSON, arrays in one line each. */
static PyObject *node_print(PyObject *self, PyObject *args)
{
    cippy_node *n = (cippy_node *)self;
    unsigned depth;
    int json;
    printed p = { 0 };
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    cippy_change *c;
    if (!PyArg_ParseTuple(args, "Ip", &depth, &json) || !enter(n, &c))
        return NULL;
    cip_tree_print_options options = { .size = sizeof options, .depth = depth, .json = json != 0 };
    Py_BEGIN_ALLOW_THREADS status =
        cip_tree_print(n->file->file, n->node, &options, take_text, &p, &err);
    Py_END_ALLOW_THREADS leave(n, c);
    PyObject *text = status == CIP_OK ? cippy_text(p.text != NULL ? p.text : "", p.n)
                                      : cippy_file_fail(n->file, status, &err);
    free(p.text);
    return text;
}

static PyMethodDef methods[] = {
    { "_at", node_at, METH_O, NULL },
    { "_key", node_key, METH_O, NULL },
    { "_find", node_find, METH_O, NULL },
    { "_step", node_step, METH_O, NULL },
    { "_text", node_print, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef getset[] = {
    { "tag", node_tag, NULL, "The tag in full, or None.", NULL },
    { "_id", node_id, NULL, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, node_dealloc },
    { Py_sq_length, node_len },
    { Py_tp_methods, methods },
    { Py_tp_getset, getset },
    { 0, NULL },
};

PyType_Spec cippy_node_spec = { "cippus._cippus.Node", sizeof(cippy_node), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                                    Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                slots };
