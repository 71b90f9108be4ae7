/* SPDX-License-Identifier: BSD-3-Clause
 * How changes begin: new files (at a path, in memory, in an object of Python), updates of open
 * ones. */
#include "cippy.h"

/* Where a new file goes: a path, `sink` with its name, or (both NULL) memory. */
typedef struct place {
    PyObject *path, *name; /* bytes; what they are made of */
    PyObject *sink;
} place;

static bool take_place(PyObject *from, place *out)
{
    *out = (place){ .path = NULL };
    if (from == Py_None)
        return true;
    if (!PyObject_HasAttrString(from, "write_at"))
        return PyUnicode_FSConverter(from, &out->path) != 0;
    PyObject *name = PyObject_GetAttrString(from, "name");
    out->sink = from;
    if (name != NULL && name != Py_None)
        out->name = PyUnicode_AsUTF8String(name);
    Py_XDECREF(name);
    return PyErr_Occurred() == NULL;
}

static void clear_place(place *p)
{
    Py_XDECREF(p->path);
    Py_XDECREF(p->name);
}

static cip_status create_at(cippy_change *c, const place *at, const cip_change_options *o,
                            cip_err *err)
{
    cip_status status = CIP_ERR_NOMEM;
    cip_io_write_methods methods = { .struct_size = 0 };
    const char *path = at->path != NULL ? PyBytes_AsString(at->path) : NULL;
    void *user = at->sink != NULL ? cippy_sink_new(at->sink, &c->raised, &methods) : NULL;
    if (at->sink != NULL && user == NULL)
        return status;
    if (user != NULL)
        methods.name = at->name != NULL ? PyBytes_AsString(at->name) : NULL;
    Py_BEGIN_ALLOW_THREADS status =
        path != NULL   ? cip_create(path, o, &c->change, err)
        : user != NULL ? cip_create_io(&methods, user, o, &c->change, err)
                       : cip_create_memory(o->format, o, &c->memory, &c->change, err);
    Py_END_ALLOW_THREADS return status;
}

/* create(class, path, None or an object that is written to, ...): the file and its change */
PyObject *cippy_create(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "class",     "path",     "format",    "version",     "codec",
                             "byteorder", "checksum", "overwrite", "accept_loss", "sync",
                             "threads",   "options",  NULL };
    PyObject *class, *path, *texts = Py_None, *made = NULL;
    place at;
    cip_change_options o = { .size = sizeof o };
    int overwrite = 0, accept_loss = 0, sync = 1;
    cip_err err = CIP_ERR_INIT;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$zzzzzpppIO", names, &class, &path,
                                     &o.format, &o.version, &o.codec, &o.byteorder, &o.checksum,
                                     &overwrite, &accept_loss, &sync, &o.threads, &texts))
        return NULL;
    const char **options = take_place(path, &at) ? cippy_texts(texts) : NULL;
    cippy_file *f = PyErr_Occurred() ? NULL : cippy_file_new(module, class, path);
    cippy_change *c = f == NULL ? NULL : cippy_change_new(module, path);
    if (c != NULL) {
        c->is_new = true;
        o.overwrite = overwrite != 0;
        o.accept_loss = accept_loss != 0;
        o.level = sync ? CIP_LEVEL_POWER : CIP_LEVEL_PROCESS;
        o.format_options = options;
        o.progress = cippy_on_progress;
        o.user = &c->calls;
        const cip_status status = create_at(c, &at, &o, &err);
        if (status == CIP_OK) {
            c->file = f;
            f->change = c;
            atomic_store(&f->pins, 1);
            made = PyTuple_Pack(2, f, c);
        } else if (!PyErr_Occurred()) {
            cippy_fail(c->state, status, &err, path, true);
        }
    }
    Py_XDECREF((PyObject *)c);
    Py_XDECREF((PyObject *)f);
    PyMem_Free((void *)options);
    clear_place(&at);
    return made;
}

/* save(path, bytes, overwrite): any bytes under a name, by one commit of the library */
PyObject *cippy_save(PyObject *module, PyObject *args)
{
    PyObject *path;
    Py_buffer bytes;
    int overwrite;
    cip_memory *memory = NULL;
    cip_change_options o = { .size = sizeof o };
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (!PyArg_ParseTuple(args, "O&y*p", PyUnicode_FSConverter, &path, &bytes, &overwrite))
        return NULL;
    const char *name = PyBytes_AsString(path);
    o.overwrite = overwrite != 0;
    cippy_calls calls = cippy_calls_of(Py_None, Py_None);
    PyObject *result = NULL;
    CIPPY_BEGIN_STOPPABLE(&calls)
    status = cip_memory_new(bytes.buf, (size_t)bytes.len, &memory, &err);
    if (status == CIP_OK)
        status = cip_memory_save(memory, name, &o, &err);
    cip_memory_free(memory);
    CIPPY_END_STOPPABLE if (!cippy_calls_raised(&calls)) result =
        status == CIP_OK ? Py_NewRef(Py_None)
                         : cippy_fail(cippy_state_of(module), status, &err, path, true);
    cippy_calls_clear(&calls);
    PyBuffer_Release(&bytes);
    Py_DECREF(path);
    return result;
}

/* publish(from, path, overwrite, sync): a complete file takes another name */
PyObject *cippy_publish(PyObject *module, PyObject *args)
{
    PyObject *from, *path;
    int overwrite, sync;
    cip_change_options o = { .size = sizeof o };
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (!PyArg_ParseTuple(args, "O&O&pp", PyUnicode_FSConverter, &from, PyUnicode_FSConverter,
                          &path, &overwrite, &sync))
        return NULL;
    const char *made = PyBytes_AsString(from), *name = PyBytes_AsString(path);
    o.overwrite = overwrite != 0;
    o.level = sync ? CIP_LEVEL_POWER : CIP_LEVEL_PROCESS;
    Py_BEGIN_ALLOW_THREADS status = cip_publish(made, name, &o, &err);
    Py_END_ALLOW_THREADS PyObject *result =
        status == CIP_OK ? Py_NewRef(Py_None)
                         : cippy_fail(cippy_state_of(module), status, &err, path, true);
    Py_DECREF(from);
    Py_DECREF(path);
    return result;
}

/* edit(file): an update of an open file, which ends with it at the latest. */
PyObject *cippy_edit(PyObject *module, PyObject *file)
{
    cippy_state *st = cippy_state_of(module);
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (!PyObject_TypeCheck(file, st->file)) {
        PyErr_SetString(PyExc_TypeError, "expected a file of cippus");
        return NULL;
    }
    cippy_file *f = (cippy_file *)file;
    cippy_change *c = cippy_enter(f) ? cippy_change_new(module, f->path) : NULL;
    if (c == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = cip_change_begin(f->file, NULL, &c->change, &err);
    Py_END_ALLOW_THREADS cippy_leave(f);
    if (status == CIP_OK) {
        c->file = f;
        f->change = c;
        f->serial++;
    } else {
        cippy_fail(st, status, &err, f->path, false);
        Py_CLEAR(c);
    }
    return (PyObject *)c;
}
