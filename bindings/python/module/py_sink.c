/* SPDX-License-Identifier: BSD-3-Clause
 * What files are written to that is no path: a Python object with .write_at(offset, bytes),
 * .resize(nbytes), .sync() and .complete(), and .name for a new file. What it raises is kept, and
 * comes out of the call that the library then ends. */
#include "cippy.h"

enum { PIECE = 4 << 20 }; /* of one call, as Python gets a copy */

typedef struct sink {
    PyObject *to;
    cippy_call *raised; /* of the file or change, which outlives this */
} sink;

/* The end of a call: `result` is taken over. */
static cip_status ended(const sink *s, PyObject *result, cip_err *err)
{
    if (result == NULL)
        return cippy_call_failed(s->raised, "writing", err);
    Py_DECREF(result);
    return CIP_OK;
}

static cip_status write_at(void *user, uint64_t offset, const void *bytes, size_t nbytes,
                           cip_err *err)
{
    const sink *s = user;
    cip_status status = CIP_OK;
    PyGILState_STATE gil = PyGILState_Ensure();
    for (size_t at = 0, n; status == CIP_OK && at < nbytes; at += n) {
        n = nbytes - at < PIECE ? nbytes - at : PIECE;
        PyObject *piece = PyBytes_FromStringAndSize((const char *)bytes + at, (Py_ssize_t)n);
        PyObject *done = piece != NULL
                             ? PyObject_CallMethod(s->to, "write_at", "KO",
                                                   (unsigned long long)(offset + at), piece)
                             : NULL;
        status = ended(s, done, err);
        Py_XDECREF(piece);
    }
    PyGILState_Release(gil);
    return status;
}

static cip_status resize(void *user, uint64_t nbytes, cip_err *err)
{
    const sink *s = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    const cip_status status =
        ended(s, PyObject_CallMethod(s->to, "resize", "K", (unsigned long long)nbytes), err);
    PyGILState_Release(gil);
    return status;
}

static cip_status sync_now(void *user, cip_err *err)
{
    const sink *s = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    const cip_status status = ended(s, PyObject_CallMethod(s->to, "sync", NULL), err);
    PyGILState_Release(gil);
    return status;
}

static cip_status complete(void *user, cip_err *err)
{
    const sink *s = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    const cip_status status = ended(s, PyObject_CallMethod(s->to, "complete", NULL), err);
    PyGILState_Release(gil);
    return status;
}

static void give_back(void *user)
{
    sink *s = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(s->to);
    PyMem_Free(s);
    PyGILState_Release(gil);
}

void *cippy_sink_new(PyObject *to, cippy_call *raised, cip_io_write_methods *methods)
{
    sink *s = PyMem_Malloc(sizeof *s);
    if (s == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    *s = (sink){ Py_NewRef(to), raised };
    *methods = (cip_io_write_methods){
        CIP_IO_WRITE_METHODS_INIT, .write_at = write_at, .resize = resize,
        .sync = sync_now,          .complete = complete, .close = give_back,
    };
    return s;
}
