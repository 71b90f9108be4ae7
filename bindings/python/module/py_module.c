/* SPDX-License-Identifier: BSD-3-Clause
 * The module: its types, opening, and how a status becomes an exception. It has no state but that
 * of the module object. */
#include "cippy.h"

cippy_state *cippy_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

PyObject *cippy_text(const char *text, size_t len)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "surrogateescape");
}

void cippy_free(void *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

PyObject *cippy_fail(cippy_state *state, cip_status status, const cip_err *err, PyObject *path,
                     bool of_file)
{
    PyObject *text = cippy_text(err->text, strlen(err->text));
    PyObject *part = cippy_text(err->part, strlen(err->part));
    PyObject *offset = err->code != CIP_OK && err->offset != CIP_NO_OFFSET
                           ? PyLong_FromUnsignedLongLong(err->offset)
                           : Py_NewRef(Py_None);
    PyObject *error = NULL;
    if (text != NULL && part != NULL && offset != NULL)
        error = PyObject_CallFunction(state->make_error, "iiOOOOO", (int)status, (int)err->sys,
                                      text, part, offset, path != NULL ? path : Py_None,
                                      of_file ? Py_True : Py_False);
    if (error != NULL)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(text);
    Py_XDECREF(part);
    Py_XDECREF(offset);
    return NULL;
}

/* --- opening -------------------------------------------------------------------------------- */

typedef enum source { SOURCE_PATH, SOURCE_BYTES, SOURCE_READER } source;

/* What a file is read from, ready to be used without the interpreter's lock. */
typedef struct ready_source {
    source kind;
    PyObject *path; /* bytes */
    cip_io_methods methods;
    void *user;
} ready_source;

static bool take_source(cippy_file *f, PyObject *from, ready_source *out)
{
    if (out->kind == SOURCE_PATH)
        return PyUnicode_FSConverter(from, &out->path) != 0;
    if (out->kind == SOURCE_BYTES)
        return PyObject_GetBuffer(from, &f->bytes, PyBUF_SIMPLE) == 0;
    out->user = cippy_source_new(f, from, &out->methods);
    return out->user != NULL;
}

static cip_status open_source(cippy_file *f, const ready_source *s, const cip_open_options *options,
                              cippy_calls *calls, cip_err *err)
{
    cip_status status;
    const char *path = s->path != NULL ? PyBytes_AsString(s->path) : NULL;
    CIPPY_BEGIN_STOPPABLE(calls)
    if (s->kind == SOURCE_PATH)
        status = cip_open(path, options, &f->file, err);
    else if (s->kind == SOURCE_BYTES)
        status = cip_open_memory(f->bytes.buf, (size_t)f->bytes.len, options, &f->file, err);
    else
        status = cip_open_io(&s->methods, s->user, options, &f->file, err);
    CIPPY_END_STOPPABLE return status;
}

/* open(class, kind, from, name, format, threads, check, allow_external, force, sidecar, mmap,
 * offset) */
static PyObject *module_open(PyObject *module, PyObject *args)
{
    int kind, check, external, force, sidecar, map;
    PyObject *class, *from, *name;
    ready_source ready = { .path = NULL };
    cip_open_options options = { .size = sizeof options };
    unsigned long long offset;
    cip_err err = CIP_ERR_INIT;
    if (!PyArg_ParseTuple(args, "OiOOzIippppK", &class, &kind, &from, &name, &options.format,
                          &options.threads, &check, &external, &force, &sidecar, &map, &offset))
        return NULL;
    options.check = (cip_check)check;
    options.allow_external = external != 0;
    options.force = force != 0;
    options.sidecar = sidecar != 0;
    options.map = map != 0;
    options.offset = offset;
    cippy_file *f = cippy_file_new(module, class, name);
    cippy_calls calls = cippy_calls_of(Py_None, Py_None);
    ready.kind = (source)kind;
    if (f != NULL && take_source(f, from, &ready)) {
        calls.source[0] = &f->source;
        const cip_status status = open_source(f, &ready, &options, &calls, &err);
        const bool stopped = cippy_calls_raised(&calls);
        Py_XDECREF(ready.path);
        if (status == CIP_OK && !stopped) {
            atomic_store(&f->pins, 1);
            return (PyObject *)f;
        }
        if (!stopped && !cippy_call_raised(&f->source))
            cippy_fail(cippy_state_of(module), status, &err, name, kind == SOURCE_PATH);
    }
    cippy_calls_clear(&calls);
    Py_XDECREF((PyObject *)f);
    return NULL;
}

/* --- what the build has --------------------------------------------------------------------- */

static PyObject *module_formats(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    const char *title, *caps, *name;
    for (size_t i = 0; list != NULL && (name = cip_format_at(i, &title, &caps)) != NULL; i++) {
        if (caps[0] == '\0')
            break; /* those that this build leaves out */
        PyObject *row = Py_BuildValue("(sss)", name, title, caps);
        if (row == NULL || PyList_Append(list, row) != 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* A cip_status in words: the command prints the same. */
static PyObject *module_status_name(PyObject *module, PyObject *status)
{
    (void)module;
    const long n = PyLong_AsLong(status);
    return PyErr_Occurred() ? NULL : PyUnicode_FromString(cip_status_name((cip_status)n));
}

static PyObject *module_codecs(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    const char *version, *name;
    bool there;
    for (size_t i = 0; list != NULL && (name = cip_codec_at(i, &there, &version)) != NULL; i++) {
        PyObject *row = Py_BuildValue("(sOz)", name, there ? Py_True : Py_False, version);
        if (row == NULL || PyList_Append(list, row) != 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* --- the module ----------------------------------------------------------------------------- */

/* bind(Map, Seq, Array, make_error, scalar, numpy): once, when the package is imported. */
static PyObject *module_bind(PyObject *module, PyObject *args)
{
    cippy_state *st = cippy_state_of(module);
    PyObject *numpy;
    if (st->map_class != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "cippus is bound already");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OOOOOO", &st->map_class, &st->seq_class, &st->array_class,
                          &st->make_error, &st->scalar, &numpy))
        return NULL;
    Py_INCREF(st->map_class);
    Py_INCREF(st->seq_class);
    Py_INCREF(st->array_class);
    Py_INCREF(st->make_error);
    Py_INCREF(st->scalar);
    st->empty = PyObject_GetAttrString(numpy, "empty");
    st->dtype = PyObject_GetAttrString(numpy, "dtype");
    st->ndarray = PyObject_GetAttrString(numpy, "ndarray");
    if (st->empty == NULL || st->dtype == NULL || st->ndarray == NULL)
        return NULL;
    Py_RETURN_NONE;
}

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddType(module, (PyTypeObject *)type) != 0)
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static int module_exec(PyObject *module)
{
    cippy_state *st = cippy_state_of(module);
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) { /* callbacks could not tell */
        PyErr_SetString(PyExc_ImportError, "cippus runs in the main interpreter only");
        return -1;
    }
    st->file = add_type(module, &cippy_file_spec);
    st->node = add_type(module, &cippy_node_spec);
    st->array = add_type(module, &cippy_array_spec);
    st->view = add_type(module, &cippy_view_spec);
    st->change = add_type(module, &cippy_change_spec);
    st->slab = add_type(module, &cippy_slab_spec);
    if (st->file == NULL || st->node == NULL || st->array == NULL || st->view == NULL ||
        st->change == NULL || st->slab == NULL)
        return -1;
    return PyModule_AddStringConstant(module, "version", cip_version());
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    cippy_state *st = cippy_state_of(module);
    Py_VISIT(st->file);
    Py_VISIT(st->node);
    Py_VISIT(st->array);
    Py_VISIT(st->view);
    Py_VISIT(st->change);
    Py_VISIT(st->slab);
    Py_VISIT(st->map_class);
    Py_VISIT(st->seq_class);
    Py_VISIT(st->array_class);
    Py_VISIT(st->make_error);
    Py_VISIT(st->scalar);
    Py_VISIT(st->empty);
    Py_VISIT(st->dtype);
    Py_VISIT(st->ndarray);
    return 0;
}

static int module_clear(PyObject *module)
{
    cippy_state *st = cippy_state_of(module);
    Py_CLEAR(st->file);
    Py_CLEAR(st->node);
    Py_CLEAR(st->array);
    Py_CLEAR(st->view);
    Py_CLEAR(st->change);
    Py_CLEAR(st->slab);
    Py_CLEAR(st->map_class);
    Py_CLEAR(st->seq_class);
    Py_CLEAR(st->array_class);
    Py_CLEAR(st->make_error);
    Py_CLEAR(st->scalar);
    Py_CLEAR(st->empty);
    Py_CLEAR(st->dtype);
    Py_CLEAR(st->ndarray);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

#define WITH_KEYWORDS(f) ((PyCFunction)(void (*)(void))(f))

static PyMethodDef methods[] = {
    { "bind", module_bind, METH_VARARGS, NULL },
    { "open", module_open, METH_VARARGS, NULL },
    { "formats", module_formats, METH_NOARGS, NULL },
    { "codecs", module_codecs, METH_NOARGS, NULL },
    { "status_name", module_status_name, METH_O, NULL },
    { "create", WITH_KEYWORDS(cippy_create), METH_VARARGS | METH_KEYWORDS, NULL },
    { "edit", cippy_edit, METH_O, NULL },
    { "publish", cippy_publish, METH_VARARGS, NULL },
    { "save", cippy_save, METH_VARARGS, NULL },
    { "convert", WITH_KEYWORDS(cippy_convert), METH_VARARGS | METH_KEYWORDS, NULL },
    { "verify", WITH_KEYWORDS(cippy_verify), METH_VARARGS | METH_KEYWORDS, NULL },
    { "repair", WITH_KEYWORDS(cippy_repair), METH_VARARGS | METH_KEYWORDS, NULL },
    { "diff", WITH_KEYWORDS(cippy_diff), METH_VARARGS | METH_KEYWORDS, NULL },
    { "blosc_decode", cippy_blosc_decode, METH_VARARGS, NULL },
    { "blosc_encode", cippy_blosc_encode, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyModuleDef_Slot module_slots[] = {
    { Py_mod_exec, module_exec },
#ifdef Py_GIL_DISABLED
    { Py_mod_gil, Py_MOD_GIL_NOT_USED },
#endif
    { 0, NULL },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "cippus._cippus",
    .m_doc = "The library in C. Use the package cippus.",
    .m_size = sizeof(cippy_state),
    .m_methods = methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__cippus(void); /* which Python.h leaves to the module to declare */

PyMODINIT_FUNC PyInit__cippus(void)
{
    return PyModuleDef_Init(&definition);
}
