/* SPDX-License-Identifier: BSD-3-Clause
 * Whole files by name: convert, verify, repair. */
#include "cippy.h"

const char **cippy_texts(PyObject *tuple)
{
    if (tuple == Py_None)
        return NULL;
    const Py_ssize_t n = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (n < 0) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple of bytes");
        return NULL;
    }
    const char **texts = PyMem_Calloc((size_t)n + 1, sizeof *texts);
    if (texts == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; texts != NULL && i < n; i++) {
        texts[i] = PyBytes_AsString(PyTuple_GetItem(tuple, i));
        if (texts[i] == NULL) {
            PyMem_Free((void *)texts);
            return NULL;
        }
    }
    return texts;
}

/* None, or the exception of a callback or of the status. */
static PyObject *result_of(PyObject *module, cip_status status, const cip_err *err,
                           cippy_calls *calls, PyObject *path)
{
    const bool raised = cippy_calls_raised(calls);
    cippy_calls_clear(calls);
    if (raised)
        return NULL;
    return status == CIP_OK ? Py_NewRef(Py_None)
                            : cippy_fail(cippy_state_of(module), status, err, path, true);
}

PyObject *cippy_convert(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "source",    "target",  "format",   "path",        "codec",
                             "byteorder", "version", "checksum", "accept_loss", "overwrite",
                             "options",   "on_loss", "progress", NULL };
    PyObject *in, *out, *texts = Py_None, *on_loss = Py_None, *progress = Py_None;
    cip_convert_options o = { .size = sizeof o };
    int accept_loss = 0, overwrite = 0;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "O&O&|$zzzzzzppOOO", names, PyUnicode_FSConverter, &in,
            PyUnicode_FSConverter, &out, &o.format, &o.path, &o.codec, &o.byteorder, &o.version,
            &o.checksum, &accept_loss, &overwrite, &texts, &on_loss, &progress))
        return NULL;
    const char **options = cippy_texts(texts);
    PyObject *result = NULL;
    if (!PyErr_Occurred()) {
        cippy_calls calls = cippy_calls_of(on_loss, progress);
        const char *source = PyBytes_AsString(in), *target = PyBytes_AsString(out);
        o.accept_loss = accept_loss != 0;
        o.overwrite = overwrite != 0;
        o.format_options = options;
        o.on_loss = calls.finding.fn != NULL ? cippy_on_finding : NULL;
        o.progress = calls.progress.fn != NULL ? cippy_on_progress : NULL;
        o.user = &calls;
        Py_BEGIN_ALLOW_THREADS status = cip_convert(source, target, &o, &err);
        Py_END_ALLOW_THREADS result = result_of(module, status, &err, &calls, in);
    }
    PyMem_Free((void *)options);
    Py_DECREF(in);
    Py_DECREF(out);
    return result;
}

PyObject *cippy_verify(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "path", "deep", "on_finding", "progress", NULL };
    PyObject *path, *on_finding = Py_None, *progress = Py_None;
    cip_verify_options o = { .size = sizeof o };
    int deep = 0;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$pOO", names, PyUnicode_FSConverter, &path,
                                     &deep, &on_finding, &progress))
        return NULL;
    cippy_calls calls = cippy_calls_of(on_finding, progress);
    const char *name = PyBytes_AsString(path);
    o.deep = deep != 0;
    o.on_finding = calls.finding.fn != NULL ? cippy_on_finding : NULL;
    o.progress = calls.progress.fn != NULL ? cippy_on_progress : NULL;
    o.user = &calls;
    Py_BEGIN_ALLOW_THREADS status = cip_verify(name, &o, &err);
    Py_END_ALLOW_THREADS PyObject *result = result_of(module, status, &err, &calls, path);
    Py_DECREF(path);
    return result;
}

/* `fill` is an open array of one element, or None. */
PyObject *cippy_repair(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "source",    "target",     "format",   "fill", "accept_loss",
                             "overwrite", "on_finding", "progress", NULL };
    PyObject *in, *out, *fill = Py_None, *on_finding = Py_None, *progress = Py_None;
    cip_repair_options o = { .size = sizeof o };
    int accept_loss = 0, overwrite = 0;
    cip_err err = CIP_ERR_INIT;
    cip_status status = CIP_ERR_ARG;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|$zOppOO", names, PyUnicode_FSConverter,
                                     &in, PyUnicode_FSConverter, &out, &o.format, &fill,
                                     &accept_loss, &overwrite, &on_finding, &progress))
        return NULL;
    PyObject *result = NULL;
    cippy_array *one = fill != Py_None ? (cippy_array *)fill : NULL;
    if (one != NULL && !PyObject_TypeCheck(fill, cippy_state_of(module)->array)) {
        PyErr_SetString(PyExc_TypeError, "fill: expected an array of cippus");
    } else if (one == NULL || cippy_array_enter(one)) {
        cippy_calls calls = cippy_calls_of(on_finding, progress);
        const char *source = PyBytes_AsString(in), *target = PyBytes_AsString(out);
        o.accept_loss = accept_loss != 0;
        o.overwrite = overwrite != 0;
        o.fill = one != NULL ? one->array : NULL;
        o.on_finding = calls.finding.fn != NULL ? cippy_on_finding : NULL;
        o.progress = calls.progress.fn != NULL ? cippy_on_progress : NULL;
        o.user = &calls;
        Py_BEGIN_ALLOW_THREADS status = cip_repair(source, target, &o, &err);
        Py_END_ALLOW_THREADS if (one != NULL) cippy_leave(one->file);
        result = result_of(module, status, &err, &calls, in);
    }
    Py_DECREF(in);
    Py_DECREF(out);
    return result;
}
