/* SPDX-License-Identifier: BSD-3-Clause
 * Whole files: convert and verify by name or open, repair by name, diff of two that are open. */
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

/* What a verb looks into: a path, or a file that is open, which it has entered. */
typedef struct input {
    PyObject *path; /* bytes */
    cippy_file *file;
} input;

static bool take_input(PyObject *module, PyObject *from, input *in)
{
    *in = (input){ .path = NULL };
    if (!PyObject_TypeCheck(from, cippy_state_of(module)->file))
        return PyUnicode_FSConverter(from, &in->path) != 0;
    if (!cippy_is_there((cippy_file *)from) || !cippy_enter((cippy_file *)from))
        return false;
    in->file = (cippy_file *)Py_NewRef(from);
    return true;
}

/* None, or the exception of a callback, of the source or of the status. Ends the use of `in`. */
static PyObject *result_of(PyObject *module, cip_status status, const cip_err *err,
                           cippy_calls *calls, input *in)
{
    PyObject *path = in->file != NULL ? in->file->path : in->path, *result = NULL;
    const bool raised =
        PyErr_Occurred() != NULL || cippy_calls_raised(calls) ||
        (status == CIP_ERR_IO && in->file != NULL && cippy_call_raised(&in->file->source));
    if (!raised)
        result = status == CIP_OK ? Py_NewRef(Py_None)
                                  : cippy_fail(cippy_state_of(module), status, err, path, true);
    cippy_calls_clear(calls);
    if (in->file != NULL)
        cippy_leave(in->file);
    Py_XDECREF((PyObject *)in->file);
    Py_XDECREF(in->path);
    return result;
}

PyObject *cippy_convert(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "source",    "target",  "format",   "path",        "codec",
                             "byteorder", "version", "checksum", "accept_loss", "overwrite",
                             "options",   "on_loss", "progress", NULL };
    PyObject *from, *out, *texts = Py_None, *on_loss = Py_None, *progress = Py_None;
    cip_convert_options o = { .size = sizeof o };
    int accept_loss = 0, overwrite = 0;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    input in;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO&|$zzzzzzppOOO", names, &from,
                                     PyUnicode_FSConverter, &out, &o.format, &o.path, &o.codec,
                                     &o.byteorder, &o.version, &o.checksum, &accept_loss,
                                     &overwrite, &texts, &on_loss, &progress))
        return NULL;
    const char **options = cippy_texts(texts);
    PyObject *result = NULL;
    if (!PyErr_Occurred() && take_input(module, from, &in)) {
        cippy_calls calls = cippy_calls_of(on_loss, progress);
        calls.source[0] = in.file != NULL ? &in.file->source : NULL;
        const char *source = in.path != NULL ? PyBytes_AsString(in.path) : NULL,
                   *target = PyBytes_AsString(out);
        o.accept_loss = accept_loss != 0;
        o.overwrite = overwrite != 0;
        o.format_options = options;
        o.on_loss = calls.finding.fn != NULL ? cippy_on_finding : NULL;
        o.progress = cippy_on_progress;
        o.user = &calls;
        CIPPY_BEGIN_STOPPABLE(&calls)
        status = source != NULL ? cip_convert(source, target, &o, &err)
                                : cip_convert_file(in.file->file, target, &o, &err);
        CIPPY_END_STOPPABLE result = result_of(module, status, &err, &calls, &in);
    }
    PyMem_Free((void *)options);
    Py_DECREF(out);
    return result;
}

PyObject *cippy_verify(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "file", "deep", "on_finding", "progress", NULL };
    PyObject *from, *on_finding = Py_None, *progress = Py_None;
    cip_verify_options o = { .size = sizeof o };
    int deep = 0;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    input in;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$pOO", names, &from, &deep, &on_finding,
                                     &progress) ||
        !take_input(module, from, &in))
        return NULL;
    cippy_calls calls = cippy_calls_of(on_finding, progress);
    calls.source[0] = in.file != NULL ? &in.file->source : NULL;
    const char *name = in.path != NULL ? PyBytes_AsString(in.path) : NULL;
    o.deep = deep != 0;
    o.on_finding = calls.finding.fn != NULL ? cippy_on_finding : NULL;
    o.progress = cippy_on_progress;
    o.user = &calls;
    CIPPY_BEGIN_STOPPABLE(&calls)
    status = name != NULL ? cip_verify(name, &o, &err) : cip_verify_file(in.file->file, &o, &err);
    CIPPY_END_STOPPABLE return result_of(module, status, &err, &calls, &in);
}

/* `fill` is an open array of one element, or None. */
PyObject *cippy_repair(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "source",    "target",     "format",   "fill", "accept_loss",
                             "overwrite", "on_finding", "progress", NULL };
    PyObject *out, *fill = Py_None, *on_finding = Py_None, *progress = Py_None;
    cip_repair_options o = { .size = sizeof o };
    int accept_loss = 0, overwrite = 0;
    cip_err err = CIP_ERR_INIT;
    cip_status status = CIP_ERR_ARG;
    input in = { .path = NULL };
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|$zOppOO", names, PyUnicode_FSConverter,
                                     &in.path, PyUnicode_FSConverter, &out, &o.format, &fill,
                                     &accept_loss, &overwrite, &on_finding, &progress))
        return NULL;
    PyObject *result = NULL;
    cippy_array *one = fill != Py_None ? (cippy_array *)fill : NULL;
    if (one != NULL && !PyObject_TypeCheck(fill, cippy_state_of(module)->array)) {
        PyErr_SetString(PyExc_TypeError, "fill: an array of cippus is needed");
    } else if (one == NULL || cippy_array_enter(one)) {
        cippy_calls calls = cippy_calls_of(on_finding, progress);
        const char *source = PyBytes_AsString(in.path), *target = PyBytes_AsString(out);
        o.accept_loss = accept_loss != 0;
        o.overwrite = overwrite != 0;
        o.fill = one != NULL ? one->array : NULL;
        o.on_finding = calls.finding.fn != NULL ? cippy_on_finding : NULL;
        o.progress = cippy_on_progress;
        o.user = &calls;
        CIPPY_BEGIN_STOPPABLE(&calls) status = cip_repair(source, target, &o, &err);
        CIPPY_END_STOPPABLE if (one != NULL) cippy_leave(one->file);
        result = result_of(module, status, &err, &calls, &in);
        in.path = NULL;
    }
    Py_XDECREF(in.path);
    Py_DECREF(out);
    return result;
}

static int on_difference(void *user, const cip_difference *x)
{
    cippy_calls *calls = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *first = x->first != NULL ? cippy_shape_tuple(x->ndim, x->first) : Py_NewRef(Py_None);
    PyObject *args = Py_BuildValue(
        "(iNNiKKNdd)", (int)x->kind, cippy_text(x->path, strlen(x->path)),
        cippy_text(x->text, strlen(x->text)), (int)x->code, (unsigned long long)x->nelem,
        (unsigned long long)x->ndiffer, first, x->max_abs, x->max_rel);
    const int stop = cippy_call_end(
        &calls->finding, args != NULL ? PyObject_CallObject(calls->finding.fn, args) : NULL);
    Py_XDECREF(args);
    PyGILState_Release(gil);
    return stop;
}

/* Both files are entered. Ends the use of `a`. */
static PyObject *diff_files(input *a, cippy_file *b, cip_diff_options *o, cippy_calls *calls)
{
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    o->on_difference = on_difference;
    o->progress = cippy_on_progress;
    o->user = calls;
    CIPPY_BEGIN_STOPPABLE(calls) status = cip_diff(a->file->file, b->file, o, NULL, &err);
    CIPPY_END_STOPPABLE if (status == CIP_ERR_IO) cippy_call_raised(&b->source);
    return result_of(a->file->module, status, &err, calls, a);
}

PyObject *cippy_diff(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {
        "a",          "b",           "rtol",        "atol",          "ignore",   "path",
        "other_path", "ignore_tags", "bookkeeping", "on_difference", "progress", NULL
    };
    PyTypeObject *type = cippy_state_of(module)->file;
    PyObject *a, *b, *texts = Py_None, *tell = Py_None, *progress = Py_None, *result = NULL;
    cip_diff_options o = { .size = sizeof o, .max_told = UINT64_MAX };
    int ignore_tags = 0, bookkeeping = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!|$ddOzzppOO", names, type, &a, type, &b,
                                     &o.rtol, &o.atol, &texts, &o.path_a, &o.path_b, &ignore_tags,
                                     &bookkeeping, &tell, &progress))
        return NULL;
    const char **ignore = cippy_texts(texts);
    if (PyErr_Occurred())
        return NULL;
    o.ignore = ignore;
    o.nignore = ignore != NULL ? (size_t)PyTuple_Size(texts) : 0;
    o.ignore_tags = ignore_tags != 0;
    o.bookkeeping = bookkeeping != 0;
    if (cippy_is_there((cippy_file *)b) && cippy_enter((cippy_file *)b)) {
        input in;
        if (take_input(module, a, &in)) {
            cippy_calls calls = cippy_calls_of(tell, progress);
            calls.source[0] = &in.file->source;
            calls.source[1] = &((cippy_file *)b)->source;
            result = diff_files(&in, (cippy_file *)b, &o, &calls);
        }
        cippy_leave((cippy_file *)b);
    }
    PyMem_Free((void *)ignore);
    return result;
}
