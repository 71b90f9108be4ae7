/* SPDX-License-Identifier: BSD-3-Clause
 * Python under the library: file-likes that bytes are read from, callbacks that are told things.
 * Each takes the interpreter's lock itself, as it may be called from any thread; the first
 * exception is kept, and comes out of the call that the library then ends. */
#include "cippy.h"

static void keep_exception(cippy_call *call)
{
    if (call->type == NULL)
        PyErr_Fetch(&call->type, &call->value, &call->trace);
    else
        PyErr_Clear();
}

bool cippy_call_raised(cippy_call *call)
{
    if (call->type == NULL)
        return false;
    PyErr_Restore(call->type, call->value, call->trace);
    call->type = call->value = call->trace = NULL;
    return true;
}

void cippy_call_clear(cippy_call *call)
{
    Py_CLEAR(call->fn);
    Py_CLEAR(call->type);
    Py_CLEAR(call->value);
    Py_CLEAR(call->trace);
}

static cip_status failed(cippy_call *call, cip_err *err)
{
    keep_exception(call);
    err->code = CIP_ERR_IO;
    snprintf(err->text, sizeof err->text, "the file-like raised an exception");
    return CIP_ERR_IO;
}

/* fn(offset, writable memoryview) fills it whole or raises. */
static cip_status read_ranges(void *user, const cip_range *range, size_t nrange, cip_err *err)
{
    cippy_call *call = &((cippy_file *)user)->source;
    cip_status status = CIP_OK;
    PyGILState_STATE gil = PyGILState_Ensure();
    for (size_t i = 0; i < nrange && status == CIP_OK; i++) {
        PyObject *view =
            PyMemoryView_FromMemory(range[i].dst, (Py_ssize_t)range[i].nbytes, PyBUF_WRITE);
        PyObject *result =
            view == NULL
                ? NULL
                : PyObject_CallFunction(call->fn, "KO", (unsigned long long)range[i].offset, view);
        /* whoever kept the memoryview must not reach the memory any more */
        PyObject *error[3];
        PyErr_Fetch(&error[0], &error[1], &error[2]);
        PyObject *done = view == NULL ? NULL : PyObject_CallMethod(view, "release", NULL);
        if (done == NULL && view != NULL)
            PyErr_Clear();
        PyErr_Restore(error[0], error[1], error[2]);
        if (result == NULL)
            status = failed(call, err);
        Py_XDECREF(done);
        Py_XDECREF(result);
        Py_XDECREF(view);
    }
    PyGILState_Release(gil);
    return status;
}

static cip_status size_of(void *user, uint64_t *nbytes, cip_err *err)
{
    cippy_file *f = user;
    cip_status status = CIP_OK;
    PyGILState_STATE gil = PyGILState_Ensure();
    const unsigned long long n = PyLong_AsUnsignedLongLong(f->source_size);
    if (n == (unsigned long long)-1 && PyErr_Occurred())
        status = failed(&f->source, err);
    else
        *nbytes = n;
    PyGILState_Release(gil);
    return status;
}

const cip_io_methods cippy_source_methods = {
    CIP_IO_METHODS_INIT,
    .read_ranges = read_ranges,
    .size = size_of,
};

/* --- callbacks ------------------------------------------------------------------------------ */

cippy_calls cippy_calls_of(PyObject *finding, PyObject *progress)
{
    const cippy_calls calls = {
        .finding.fn = finding != Py_None ? Py_NewRef(finding) : NULL,
        .progress.fn = progress != Py_None ? Py_NewRef(progress) : NULL,
    };
    return calls;
}

bool cippy_calls_raised(cippy_calls *calls)
{
    return cippy_call_raised(&calls->finding) || cippy_call_raised(&calls->progress);
}

void cippy_calls_clear(cippy_calls *calls)
{
    cippy_call_clear(&calls->finding);
    cippy_call_clear(&calls->progress);
}

/* What a call came to: 0 to go on. `result` is taken over. */
static int ended(cippy_call *call, PyObject *result)
{
    if (result == NULL)
        keep_exception(call);
    Py_XDECREF(result);
    return result == NULL;
}

int cippy_on_progress(void *user, uint64_t done, uint64_t total)
{
    cippy_call *call = &((cippy_calls *)user)->progress;
    PyGILState_STATE gil = PyGILState_Ensure();
    const int stop = ended(call, PyObject_CallFunction(call->fn, "KK", (unsigned long long)done,
                                                       (unsigned long long)total));
    PyGILState_Release(gil);
    return stop;
}

PyObject *cippy_finding_tuple(const cip_finding *x)
{
    return Py_BuildValue("(iiNKNNO)", (int)x->severity, (int)x->code,
                         x->offset == CIP_NO_OFFSET ? Py_NewRef(Py_None)
                                                    : PyLong_FromUnsignedLongLong(x->offset),
                         (unsigned long long)x->length, cippy_text(x->part, strlen(x->part)),
                         cippy_text(x->text, strlen(x->text)), x->fixable ? Py_True : Py_False);
}

int cippy_on_finding(void *user, const cip_finding *finding)
{
    cippy_call *call = &((cippy_calls *)user)->finding;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *args = cippy_finding_tuple(finding);
    const int stop = ended(call, args != NULL ? PyObject_CallObject(call->fn, args) : NULL);
    Py_XDECREF(args);
    PyGILState_Release(gil);
    return stop;
}
