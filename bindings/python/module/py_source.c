/* SPDX-License-Identifier: BSD-3-Clause
 * Python under the library: what bytes are read from, callbacks that are told things. Each takes
 * the interpreter's lock itself, as it may be called from any thread; an exception is kept, and
 * comes out of the call that the library then ends. */
#include "cippy.h"

static void keep_exception(cippy_call *call)
{
    const bool interrupted = !PyErr_ExceptionMatches(PyExc_Exception);
    CIPPY_LOCK(call);
    if (call->type == NULL) {
        PyErr_Fetch(&call->type, &call->value, &call->trace);
        atomic_store(&call->interrupted, interrupted);
    } else {
        PyErr_Clear();
    }
    CIPPY_UNLOCK(call);
}

/* What was kept, which is nothing from then on. */
static cippy_call taken(cippy_call *call)
{
    cippy_call was = { .fn = NULL };
    CIPPY_LOCK(call);
    was.type = call->type;
    was.value = call->value;
    was.trace = call->trace;
    call->type = call->value = call->trace = NULL;
    atomic_store(&call->interrupted, false);
    CIPPY_UNLOCK(call);
    return was;
}

bool cippy_call_raised(cippy_call *call)
{
    const cippy_call was = taken(call);
    if (was.type != NULL)
        PyErr_Restore(was.type, was.value, was.trace);
    return was.type != NULL;
}

void cippy_call_clear(cippy_call *call)
{
    Py_CLEAR(call->fn);
    Py_CLEAR(call->type);
    Py_CLEAR(call->value);
    Py_CLEAR(call->trace);
}

cip_status cippy_call_failed(cippy_call *kept, const char *doing, cip_err *err)
{
    cippy_call now = { .fn = NULL };
    PyErr_Fetch(&now.type, &now.value, &now.trace);
    PyErr_NormalizeException(&now.type, &now.value, &now.trace);
    PyObject *text = now.value != NULL ? PyObject_Str(now.value) : NULL;
    const char *words = text != NULL ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    err->code = CIP_ERR_IO;
    snprintf(err->text, sizeof err->text, "%s raised an exception: %.200s", doing,
             words != NULL ? words : "");
    PyErr_Clear();
    Py_XDECREF(text);
    cippy_call older = taken(kept);
    cippy_call_clear(&older);
    PyErr_Restore(now.type, now.value, now.trace);
    keep_exception(kept);
    return CIP_ERR_IO;
}

/* --- sources: Python objects that are read through cip_io_methods ----------------------------
 * .nbytes; .read_ranges([(offset, memoryview), ...]) fills all of them or raises; if .has_members:
 * .member(name), another source, and .names(path), [(name, whether a folder), ...]; if .writable:
 * .version, and what py_sink.c writes to. */

/* The user of the methods. The file outlives it: what it raises is kept there. */
typedef struct source {
    cippy_file *file;
    PyObject *from;
} source;

static cip_status failed(const source *s, cip_err *err)
{
    return cippy_call_failed(&s->file->source, "reading", err);
}

enum { AT_ONCE = 64 << 20 }; /* bytes that one call of read_ranges() is asked for, at most */

/* A view of n bytes of Python's own: whoever keeps it, or a slice of it, keeps no memory of the
 * library's. */
static bool add_range(PyObject *kept, PyObject *given, uint64_t offset, size_t n)
{
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)n);
    PyObject *view = bytes != NULL ? PyMemoryView_FromObject(bytes) : NULL;
    PyObject *pair = view != NULL ? Py_BuildValue("KN", (unsigned long long)offset, view) : NULL;
    const bool added =
        pair != NULL && PyList_Append(given, pair) == 0 && PyList_Append(kept, bytes) == 0;
    Py_XDECREF(pair);
    Py_XDECREF(bytes);
    return added;
}

static bool copy_out(PyObject *bytes, uint8_t *dst, size_t n)
{
    if ((size_t)PyByteArray_Size(bytes) != n) {
        PyErr_SetString(PyExc_BufferError, "the source made the buffer another size");
        return false;
    }
    if (n != 0)
        memcpy(dst, PyByteArray_AsString(bytes), n);
    return true;
}

/* As much as one call may ask for, from byte *at of range *i on, which move on. */
static bool read_some(const source *s, const cip_range *range, size_t nrange, size_t *i, size_t *at)
{
    PyObject *kept = PyList_New(0), *given = PyList_New(0), *result = NULL;
    size_t left = AT_ONCE, n = 0, first = *i, done = *at;
    bool whole = kept != NULL && given != NULL;
    for (; whole && *i < nrange && left != 0; left -= n) {
        n = range[*i].nbytes - *at < left ? range[*i].nbytes - *at : left;
        whole = add_range(kept, given, range[*i].offset + *at, n);
        *at += n;
        if (*at == range[*i].nbytes) {
            ++*i;
            *at = 0;
        }
    }
    if (whole)
        result = PyObject_CallMethod(s->from, "read_ranges", "O", given);
    whole = result != NULL;
    for (Py_ssize_t k = 0; whole && k < PyList_Size(kept); k++, first++, done = 0) {
        const bool last = first == *i;
        n = last ? *at - done : range[first].nbytes - done;
        whole = copy_out(PyList_GetItem(kept, k), (uint8_t *)range[first].dst + done, n);
    }
    Py_XDECREF(result);
    Py_XDECREF(given);
    Py_XDECREF(kept);
    return whole;
}

static cip_status read_ranges(void *user, const cip_range *range, size_t nrange, cip_err *err)
{
    const source *s = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    size_t i = 0, at = 0;
    bool whole = true;
    while (whole && i < nrange)
        whole = read_some(s, range, nrange, &i, &at);
    const cip_status status = whole ? CIP_OK : failed(s, err);
    PyGILState_Release(gil);
    return status;
}

static cip_status size_of(void *user, uint64_t *nbytes, cip_err *err)
{
    const source *s = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *size = PyObject_GetAttrString(s->from, "nbytes");
    const unsigned long long n = size != NULL ? PyLong_AsUnsignedLongLong(size) : 0;
    const cip_status status = PyErr_Occurred() ? failed(s, err) : CIP_OK;
    *nbytes = n;
    Py_XDECREF(size);
    PyGILState_Release(gil);
    return status;
}

/* That a member or folder is not there is no failure: formats look for what may be missing. */
static cip_status missing_or_failed(const source *s, const char *name, cip_err *err)
{
    if (!PyErr_ExceptionMatches(PyExc_FileNotFoundError))
        return failed(s, err);
    PyErr_Clear();
    snprintf(err->text, sizeof err->text, "there is no '%.200s'", name);
    return CIP_ERR_NOT_FOUND;
}

static cip_status open_member(void *user, const char *name, cip_io_methods *methods,
                              void **member_user, cip_err *err)
{
    const source *s = user;
    cip_status status = CIP_OK;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *member = PyObject_CallMethod(s->from, "member", "N", cippy_text(name, strlen(name)));
    if (member == NULL)
        status = missing_or_failed(s, name, err);
    else if ((*member_user = cippy_source_new(s->file, member, methods)) == NULL)
        status = failed(s, err);
    Py_XDECREF(member);
    PyGILState_Release(gil);
    return status;
}

static cip_status list_names(void *user, const char *path, cip_io_list_fn *fn, void *fn_user,
                             cip_err *err)
{
    const source *s = user;
    cip_status status = CIP_OK;
    const char *name;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *found = PyObject_CallMethod(s->from, "names", "N", cippy_text(path, strlen(path)));
    PyObject *names = found != NULL ? PySequence_Tuple(found) : NULL;
    if (names == NULL)
        status = missing_or_failed(s, path, err);
    for (Py_ssize_t i = 0; status == CIP_OK && i < PyTuple_Size(names); i++) {
        int folder;
        if (!PyArg_ParseTuple(PyTuple_GetItem(names, i), "sp", &name, &folder))
            status = failed(s, err);
        else if (fn(fn_user, name, folder != 0) != 0)
            break;
    }
    Py_XDECREF(names);
    Py_XDECREF(found);
    PyGILState_Release(gil);
    return status;
}

static cip_status version_of(void *user, uint64_t *version, cip_err *err)
{
    const source *s = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *found = PyObject_GetAttrString(s->from, "version");
    const unsigned long long n = found != NULL ? PyLong_AsUnsignedLongLong(found) : 0;
    const cip_status status = PyErr_Occurred() ? failed(s, err) : CIP_OK;
    *version = n;
    Py_XDECREF(found);
    PyGILState_Release(gil);
    return status;
}

static cip_status open_write(void *user, cip_io_write_methods *methods, void **write_user,
                             cip_err *err)
{
    const source *s = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    *write_user = cippy_sink_new(s->from, &s->file->source, methods);
    const cip_status status = *write_user == NULL ? failed(s, err) : CIP_OK;
    PyGILState_Release(gil);
    return status;
}

static void give_back(void *user)
{
    source *s = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(s->from);
    PyMem_Free(s);
    PyGILState_Release(gil);
}

/* Whether the attribute is there, and True. */
static bool says(PyObject *from, const char *name)
{
    PyObject *found = PyObject_GetAttrString(from, name);
    if (found == NULL)
        PyErr_Clear();
    Py_XDECREF(found);
    return found == Py_True;
}

void *cippy_source_new(cippy_file *file, PyObject *from, cip_io_methods *methods)
{
    source *s = PyMem_Malloc(sizeof *s);
    if (s == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    *s = (source){ file, Py_NewRef(from) };
    *methods = (cip_io_methods){
        CIP_IO_METHODS_INIT,
        .read_ranges = read_ranges,
        .size = size_of,
        .close = give_back,
    };
    if (says(from, "has_members")) {
        methods->open_member = open_member;
        methods->list = list_names;
    }
    if (says(from, "writable")) {
        methods->open_write = open_write;
        methods->version = version_of;
    }
    return s;
}

/* --- callbacks ------------------------------------------------------------------------------ */

cippy_calls cippy_calls_of(PyObject *finding, PyObject *progress)
{
    const cippy_calls calls = {
        .finding.fn = finding != Py_None ? Py_NewRef(finding) : NULL,
        .progress.fn = progress != Py_None ? Py_NewRef(progress) : NULL,
        .thread = PyThread_get_thread_ident(),
    };
    return calls;
}

/* The source that an interrupt came within, or NULL. It counts also where the library, which sees a
 * failure, went on in another way. */
static cippy_call *interrupted(const cippy_calls *calls)
{
    for (int i = 0; i < 2; i++)
        if (calls->source[i] != NULL && atomic_load(&calls->source[i]->interrupted))
            return calls->source[i];
    return NULL;
}

bool cippy_calls_raised(cippy_calls *calls)
{
    return cippy_call_raised(&calls->finding) || cippy_call_raised(&calls->progress) ||
           (interrupted(calls) != NULL && cippy_call_raised(interrupted(calls)));
}

void cippy_calls_clear(cippy_calls *calls)
{
    cippy_call_clear(&calls->finding);
    cippy_call_clear(&calls->progress);
}

int cippy_call_end(cippy_call *call, PyObject *result)
{
    if (result == NULL)
        keep_exception(call);
    Py_XDECREF(result);
    return result == NULL;
}

/* Whether the thread that called has not looked for signals for a while: Python handles them in the
 * main thread alone, which cannot before the library returns or calls. Not every time, as it needs
 * the interpreter's lock. */
static bool is_time_to_look(cippy_calls *calls)
{
    enum { EVERY = 50 * 1000 * 1000 };
    struct timespec t;
    if (calls->thread != PyThread_get_thread_ident() || clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return false;
    const int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    const bool begins = calls->looked == 0; /* Python looked itself just before the call */
    if (!begins && now - calls->looked < EVERY)
        return false;
    calls->looked = now;
    return !begins;
}

/* A call that goes on after one thing was stopped (checks report it, and take the next) asks again.
 */
static int noted(cippy_calls *calls, int stop)
{
    if (stop)
        atomic_store(&calls->stopped, true);
    return stop;
}

static bool has_stopped(const cippy_calls *calls)
{
    return atomic_load(&((cippy_calls *)calls)->stopped) || interrupted(calls) != NULL;
}

int cippy_on_stop(void *user)
{
    cippy_calls *calls = user;
    if (has_stopped(calls) || !is_time_to_look(calls))
        return has_stopped(calls);
    PyGILState_STATE gil = PyGILState_Ensure();
    const int stop = PyErr_CheckSignals() != 0 ? cippy_call_end(&calls->progress, NULL) : 0;
    PyGILState_Release(gil);
    return noted(calls, stop);
}

int cippy_on_progress(void *user, uint64_t done, uint64_t total)
{
    cippy_calls *calls = user;
    cippy_call *call = &calls->progress;
    if (has_stopped(calls))
        return 1;
    const bool look = is_time_to_look(calls);
    if (call->fn == NULL && !look)
        return 0;
    PyGILState_STATE gil = PyGILState_Ensure();
    int stop = look && PyErr_CheckSignals() != 0 ? cippy_call_end(call, NULL) : 0;
    if (!stop && call->fn != NULL)
        stop = cippy_call_end(call, PyObject_CallFunction(call->fn, "KK", (unsigned long long)done,
                                                          (unsigned long long)total));
    PyGILState_Release(gil);
    return noted(calls, stop);
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
    cippy_calls *calls = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *args = cippy_finding_tuple(finding);
    const int stop = cippy_call_end(
        &calls->finding, args != NULL ? PyObject_CallObject(calls->finding.fn, args) : NULL);
    Py_XDECREF(args);
    PyGILState_Release(gil);
    return noted(calls, stop);
}
