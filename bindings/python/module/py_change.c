/* SPDX-License-Identifier: BSD-3-Clause
 * What is being written: a new file, or an update of one that is open. Either is used by one thread
 * at a time, and ends with commit() or abort(). */
#include "cippy.h"

static bool fail_busy(cippy_change *c, const char *why)
{
    cip_err err = CIP_ERR_INIT;
    snprintf(err.text, sizeof err.text, "%s", why);
    cippy_fail(c->state, CIP_ERR_BUSY, &err, c->path, false);
    return false;
}

static void wait_a_little(void)
{
    const struct timespec some = { .tv_nsec = 50000 };
    Py_BEGIN_ALLOW_THREADS nanosleep(&some, NULL);
    Py_END_ALLOW_THREADS
}

static bool fail_closed(void)
{
    PyErr_SetString(PyExc_ValueError, "I/O operation on closed file");
    return false;
}

/* What reading or writing through Python raised. */
static cippy_call *raised_of(cippy_change *c)
{
    return c->is_new || c->file == NULL ? &c->raised : &c->file->source;
}

/* The change is in use by this thread. */
static bool begin_used(cippy_change *c)
{
    c->calls.thread = PyThread_get_thread_ident();
    atomic_store(&c->calls.stopped, false);
    c->calls.source[0] = raised_of(c);
    if (c->change != NULL)
        return true;
    atomic_flag_clear(&c->used);
    return fail_closed();
}

/* Who looks into the update is waited for, who changes it is not. New looks wait meanwhile: threads
 * that look without end would leave no gap. */
bool cippy_change_begin(cippy_change *c)
{
    bool busy = false;
    atomic_fetch_add(&c->changers, 1);
    while (!busy && atomic_flag_test_and_set(&c->used)) {
        busy = c->depth == 0 || c->looker == PyThread_get_thread_ident();
        if (!busy)
            wait_a_little();
    }
    atomic_fetch_sub(&c->changers, 1);
    if (busy)
        return fail_busy(c, c->depth == 0 ? "another thread is writing"
                                          : "the file is being read by this very call");
    return begin_used(c);
}

/* Another thread is waited for: who waits here has nothing of the update that it could go on with,
 * and looks anew. */
static void wait_for_others(cippy_file *f)
{
    atomic_fetch_add(&f->waiting, 1);
    wait_a_little();
    atomic_fetch_sub(&f->waiting, 1);
}

static bool wait_for_look(cippy_file *f)
{
    cippy_change *c = f->change;
    if ((c->depth != 0 ? c->looker : c->calls.thread) == PyThread_get_thread_ident())
        return fail_busy(c, "the file is being written by this very call");
    wait_for_others(f);
    return true;
}

/* By a look that the thread has begun: others wait for it, also to change something. */
static bool make_draft(cippy_change *c)
{
    cip_err err = CIP_ERR_INIT;
    const cip_node *root;
    cip_status status;
    if (!begin_used(c))
        return false;
    c->looker = c->calls.thread;
    c->depth = 1;
    CIPPY_BEGIN_STOPPABLE(&c->calls) status = cip_change_tree(c->change, &root, &err);
    CIPPY_END_STOPPABLE if (status == CIP_OK) c->file->tree_changed = c->declared;
    c->depth = 0;
    PyObject *done = cippy_change_end(c, status, &err);
    Py_XDECREF(done);
    return done != NULL;
}

bool cippy_show(cippy_file *f, bool *nothing)
{
    if (nothing != NULL)
        *nothing = false;
    while (f->file == NULL) {
        if (f->change == NULL)
            return fail_closed();
        if (nothing != NULL && !f->change->begun) {
            *nothing = true;
            return true;
        }
        if (!atomic_flag_test_and_set(&f->change->used))
            return make_draft(f->change);
        if (!wait_for_look(f))
            return false;
    }
    return true;
}

/* A thread may look again while it does: values of the tree are made in Python. */
bool cippy_look_begin(cippy_file *f, cippy_change **out)
{
    const unsigned long me = PyThread_get_thread_ident();
    for (*out = NULL; f->change != NULL;) {
        cippy_change *c = f->change;
        if (c->depth != 0 && c->looker == me) {
            if (c->reading)
                return fail_busy(c, "the file is being read by this very call");
        } else if (atomic_load(&c->changers) != 0) {
            wait_for_others(f);
            continue;
        } else if (atomic_flag_test_and_set(&c->used)) {
            if (!wait_for_look(f))
                return false;
            continue;
        }
        c->looker = me;
        c->depth++;
        *out = c;
        return true;
    }
    return f->file != NULL || fail_closed(); /* a new file ends with its change */
}

void cippy_look_end(cippy_change *c)
{
    if (c != NULL && --c->depth == 0)
        atomic_flag_clear(&c->used);
}

/* What was seen of the file's update is to be looked for again; `tree`: of its tree and of which
 * arrays there are, too. */
static void note_change(cippy_change *c, bool tree)
{
    c->file->serial++;
    c->file->tree_changed = c->file->tree_changed || tree;
}

/* The same for what only a file that is there, or a draft, can do. */
static bool begin_edit(cippy_change *c)
{
    return (c->file == NULL || cippy_show(c->file, NULL)) && cippy_change_begin(c);
}

/* What failed halfway is not forgotten: all that follows fails with it. Nor is a part of a slab,
 * whose exception may have been another thread's: zeros are not to look like its elements. */
void cippy_change_forget(cippy_change *c)
{
    if (c->part_failed != 0)
        return;
    if (c->change != NULL)
        cip_change_forget_failure(c->change, NULL);
}

/* Without the words that lead to options which updates of an open file have not. */
static cip_err without_options(const cip_err *err)
{
    static const char *const option[] = { " .accept_loss", " .by_position" };
    cip_err told = *err;
    for (size_t i = 0; i < sizeof option / sizeof *option; i++) {
        char *at = strstr(told.text, option[i]);
        while (at != NULL && at > told.text && *at != ';')
            at--;
        if (at != NULL && *at == ';')
            *at = '\0';
    }
    return told;
}

PyObject *cippy_change_end(cippy_change *c, cip_status status, const cip_err *err)
{
    cippy_call *raised = raised_of(c);
    if (status != CIP_OK)
        cippy_change_forget(c);
    c->begun = c->begun || status == CIP_OK;
    if (c->change == NULL)
        c->file = NULL;
    else if (c->is_new && c->file->file == NULL) /* which does not close it */
        c->file->file = (cip_file *)cip_change_base(c->change);
    atomic_store(&c->ending, false);
    atomic_flag_clear(&c->used);
    if (status == CIP_ERR_IO && cippy_call_raised(raised))
        return NULL;
    if (cippy_calls_raised(&c->calls))
        return NULL;
    if (status == CIP_OK)
        Py_RETURN_NONE;
    const cip_err told = c->is_new ? *err : without_options(err);
    return cippy_fail(c->state, status, &told, c->path, false);
}

cippy_change *cippy_change_new(PyObject *module, PyObject *path)
{
    cippy_state *st = cippy_state_of(module);
    cippy_change *c = (cippy_change *)PyType_GenericAlloc(st->change, 0);
    if (c != NULL) {
        c->module = Py_NewRef(module);
        c->state = st;
        c->path = Py_NewRef(path);
        atomic_flag_clear(&c->used);
    }
    return c;
}

/* The file shows itself again; a new one is closed. */
static void end_update(cippy_change *c)
{
    cippy_file *f = c->file;
    if (f == NULL || f->change != c)
        return;
    note_change(c, false);
    f->change = NULL;
    f->tree_changed = false;
    if (c->is_new) {
        f->file = NULL;
        cippy_close(f);
    }
}

static void give_up(cippy_change *c)
{
    cip_change *change = c->change;
    c->change = NULL;
    end_update(c);
    Py_BEGIN_ALLOW_THREADS cip_change_abort(&change);
    Py_END_ALLOW_THREADS
}

void cippy_change_orphan(cippy_change *c)
{
    give_up(c);
    c->file = NULL;
}

static void change_dealloc(PyObject *self)
{
    cippy_change *c = (cippy_change *)self;
    give_up(c);
    cip_memory_free(c->memory);
    cippy_call_clear(&c->raised);
    cippy_calls_clear(&c->calls);
    Py_XDECREF(c->path);
    Py_XDECREF(c->module);
    cippy_free(self);
}

/* --- the tree ------------------------------------------------------------------------------- */

/* set(path, text, is_yaml): a string, or any other value as YAML writes it */
static PyObject *change_set(PyObject *self, PyObject *args)
{
    cippy_change *c = (cippy_change *)self;
    const char *path, *text;
    int yaml;
    cip_err err = CIP_ERR_INIT;
    if (!PyArg_ParseTuple(args, "ssp", &path, &text, &yaml) || !cippy_change_begin(c))
        return NULL;
    note_change(c, true);
    return cippy_change_end(
        c, (yaml ? cip_change_set_yaml : cip_change_set_string)(c->change, path, text, &err), &err);
}

static PyObject *change_remove(PyObject *self, PyObject *args)
{
    cippy_change *c = (cippy_change *)self;
    const char *path;
    cip_err err = CIP_ERR_INIT;
    if (!PyArg_ParseTuple(args, "s", &path) || !begin_edit(c))
        return NULL;
    note_change(c, true);
    return cippy_change_end(c, cip_change_remove(c->change, path, &err), &err);
}

static PyObject *change_move(PyObject *self, PyObject *args)
{
    cippy_change *c = (cippy_change *)self;
    const char *from, *to;
    int replace;
    cip_err err = CIP_ERR_INIT;
    if (!PyArg_ParseTuple(args, "ssp", &from, &to, &replace) || !begin_edit(c))
        return NULL;
    note_change(c, true);
    return cippy_change_end(c, cip_change_move(c->change, from, to, replace != 0, &err), &err);
}

/* mark() -> where undo(mark) goes back to, until release(mark) */
static PyObject *change_mark(PyObject *self, PyObject *unused)
{
    (void)unused;
    cippy_change *c = (cippy_change *)self;
    cip_err err = CIP_ERR_INIT;
    uint64_t mark = 0;
    if (!begin_edit(c))
        return NULL;
    const cip_status status = cip_change_mark(c->change, &mark, &err);
    if (status == CIP_OK)
        c->marks = mark;
    PyObject *none = cippy_change_end(c, status, &err);
    if (none == NULL)
        return NULL;
    Py_DECREF(none);
    return PyLong_FromUnsignedLongLong(mark);
}

static PyObject *change_undo(PyObject *self, PyObject *arg)
{
    cippy_change *c = (cippy_change *)self;
    cip_err err = CIP_ERR_INIT;
    const uint64_t mark = PyLong_AsUnsignedLongLong(arg);
    if (PyErr_Occurred() || !begin_edit(c))
        return NULL;
    note_change(c, true);
    const cip_status status = cip_change_undo(c->change, mark, &err);
    if (status == CIP_OK && c->part_failed > mark)
        c->part_failed = 0;
    return cippy_change_end(c, status, &err);
}

static PyObject *change_release(PyObject *self, PyObject *arg)
{
    cippy_change *c = (cippy_change *)self;
    cip_err err = CIP_ERR_INIT;
    const uint64_t mark = PyLong_AsUnsignedLongLong(arg);
    if (PyErr_Occurred() || !begin_edit(c))
        return NULL;
    return cippy_change_end(c, cip_change_release(c->change, mark, &err), &err);
}

/* --- arrays --------------------------------------------------------------------------------- */

int cippy_lengths(PyObject *tuple, int most, int64_t *length)
{
    const Py_ssize_t n = PyTuple_Size(tuple);
    if (n < 0)
        return -1;
    if (n > most) {
        PyErr_Format(PyExc_ValueError, "expected at most %d axes, found %zd", most, n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        length[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
        if (length[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return (int)n;
}

typedef struct put {
    const char *path, *dtype;
    int ndim;
    int64_t shape[CIP_MAX_NDIM];
    Py_buffer data, mask;
    cip_array_options options;
} put;

static cip_status put_now(cippy_change *c, put *p, cip_err *err)
{
    static const char nothing = 0;
    cip_dtype *dtype = cip_dtype_parse(p->dtype, err);
    if (dtype == NULL)
        return (cip_status)err->code;
    const void *data = p->data.len != 0 ? p->data.buf : &nothing;
    p->options.mask = p->mask.obj != NULL ? p->mask.buf : NULL;
    const cip_status status =
        cip_change_put(c->change, p->path, dtype, p->ndim, p->shape, data, &p->options, err);
    cip_dtype_free(dtype);
    return status;
}

/* Whether the buffers have what the shape and dtype say: what a call here could get wrong. */
static bool sizes_fit(const put *p, uint64_t itemsize)
{
    uint64_t n = 1, nbytes;
    for (int i = 0; i < p->ndim; i++)
        if (p->shape[i] < 0 || __builtin_mul_overflow(n, (uint64_t)p->shape[i], &n))
            return false;
    return !__builtin_mul_overflow(n, itemsize, &nbytes) && (uint64_t)p->data.len == nbytes &&
           (p->mask.obj == NULL || (uint64_t)p->mask.len == n);
}

static PyObject *put_checked(cippy_change *c, put *p, PyObject *shape, PyObject *chunk,
                             PyObject *texts, unsigned long long itemsize)
{
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    p->ndim = cippy_lengths(shape, CIP_MAX_NDIM, p->shape);
    if (p->ndim < 0 ||
        (chunk != Py_None && cippy_lengths(chunk, CIP_MAX_NDIM, p->options.chunk) < 0))
        return NULL;
    if (!sizes_fit(p, itemsize)) {
        PyErr_SetString(PyExc_ValueError, "the data have not as many bytes as their shape needs");
        return NULL;
    }
    const char **options = cippy_texts(texts);
    if (PyErr_Occurred() || !cippy_change_begin(c)) {
        PyMem_Free((void *)options);
        return NULL;
    }
    p->options.format_options = options;
    p->options.replace = c->file->file != NULL;
    note_change(c, true);
    CIPPY_BEGIN_STOPPABLE(&c->calls) status = put_now(c, p, &err);
    CIPPY_END_STOPPABLE PyMem_Free((void *)options);
    return cippy_change_end(c, status, &err);
}

/* put(path, dtype, itemsize, shape, data, mask, codec, storage, chunk, options): in an update in
 * the place of what is there */
static PyObject *change_put(PyObject *self, PyObject *args)
{
    put p = { .options.size = sizeof p.options };
    PyObject *shape, *mask, *chunk, *texts, *done = NULL;
    unsigned long long itemsize;
    if (!PyArg_ParseTuple(args, "ssKO!y*OzzOO", &p.path, &p.dtype, &itemsize, &PyTuple_Type, &shape,
                          &p.data, &mask, &p.options.codec, &p.options.storage, &chunk, &texts))
        return NULL;
    if (mask == Py_None || PyObject_GetBuffer(mask, &p.mask, PyBUF_SIMPLE) == 0) {
        done = put_checked((cippy_change *)self, &p, shape, chunk, texts, itemsize);
        if (p.mask.obj != NULL)
            PyBuffer_Release(&p.mask);
    }
    PyBuffer_Release(&p.data);
    return done;
}

static cip_status edit_data(cip_change *e, const char *path, const char *selection,
                            const Py_buffer *data, cip_err *err)
{
    static const char nothing = 0;
    const void *bytes = data->len != 0 ? data->buf : &nothing;
    return selection != NULL
               ? cip_change_write(e, path, selection, cip_dtype_as_stored(), bytes,
                                  (size_t)data->len, err)
               : cip_change_append(e, path, cip_dtype_as_stored(), bytes, (size_t)data->len, err);
}

/* write(path, selection or None to append, data): packed, of the array's dtype */
static PyObject *change_write(PyObject *self, PyObject *args)
{
    cippy_change *c = (cippy_change *)self;
    const char *path, *selection;
    Py_buffer data;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    PyObject *done = NULL;
    if (!PyArg_ParseTuple(args, "szy*", &path, &selection, &data))
        return NULL;
    if (begin_edit(c)) {
        note_change(c, false);
        CIPPY_BEGIN_STOPPABLE(&c->calls)
        status = edit_data(c->change, path, selection, &data, &err);
        CIPPY_END_STOPPABLE done = cippy_change_end(c, status, &err);
    }
    PyBuffer_Release(&data);
    return done;
}

/* The path may lead to a field. */
static cip_status read_now(cippy_change *c, const char *path, const char *selection,
                           const Py_buffer *out, cip_err *err)
{
    static char nothing;
    const cip_array *now;
    cip_read_args args = {
        .size = sizeof args,
        .selection = selection,
        .dst = out->len != 0 ? out->buf : &nothing,
        .dst_nbytes = (size_t)out->len,
    };
    const cip_status status = cip_change_field(c->change, path, &now, &args.field, err);
    return status == CIP_OK ? cip_read_into(now, &args, err) : status;
}

/* read(path, selection, out): as the changes so far have them, packed, of the array's dtype */
static PyObject *change_read(PyObject *self, PyObject *args)
{
    cippy_change *c = (cippy_change *)self;
    const char *path, *selection;
    Py_buffer out;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    PyObject *done = NULL;
    if (!PyArg_ParseTuple(args, "ssw*", &path, &selection, &out))
        return NULL;
    if (begin_edit(c)) {
        CIPPY_BEGIN_STOPPABLE(&c->calls) status = read_now(c, path, selection, &out, &err);
        CIPPY_END_STOPPABLE done = cippy_change_end(c, status, &err);
    }
    PyBuffer_Release(&out);
    return done;
}

static cip_status edit_array(cip_change *e, const char *path, const char *selection,
                             const cip_array *from, cip_err *err)
{
    return selection != NULL ? cip_change_write_array(e, path, selection, from, err)
                             : cip_change_append_array(e, path, from, err);
}

/* write_array(path, selection or None to append, an array of another file) */
static PyObject *change_write_array(PyObject *self, PyObject *args)
{
    cippy_change *c = (cippy_change *)self;
    const char *path, *selection;
    PyObject *from, *done = NULL;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (!PyArg_ParseTuple(args, "szO!", &path, &selection, c->state->array, &from) ||
        !cippy_array_enter((cippy_array *)from))
        return NULL;
    if (begin_edit(c)) {
        const cip_array *a = ((cippy_array *)from)->array;
        note_change(c, false);
        CIPPY_BEGIN_STOPPABLE(&c->calls) status = edit_array(c->change, path, selection, a, &err);
        CIPPY_END_STOPPABLE done = cippy_change_end(c, status, &err);
    }
    cippy_leave(((cippy_array *)from)->file);
    return done;
}

static PyObject *change_resize(PyObject *self, PyObject *args)
{
    cippy_change *c = (cippy_change *)self;
    const char *path;
    PyObject *tuple;
    int64_t shape[CIP_MAX_NDIM];
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    if (!PyArg_ParseTuple(args, "sO!", &path, &PyTuple_Type, &tuple))
        return NULL;
    const int ndim = cippy_lengths(tuple, CIP_MAX_NDIM, shape);
    if (ndim < 0 || !begin_edit(c))
        return NULL;
    note_change(c, false);
    CIPPY_BEGIN_STOPPABLE(&c->calls) status = cip_change_resize(c->change, path, ndim, shape, &err);
    CIPPY_END_STOPPABLE return cippy_change_end(c, status, &err);
}

/* --- the end -------------------------------------------------------------------------------- */

static cip_status commit_edit(cippy_change *c, bool *changed, cip_err *err)
{
    const cip_stop before = cip_stop_set((cip_stop){ cippy_on_stop, &c->calls });
    cip_status status = cip_change_commit(&c->change, err);
    cip_stop_set(before);
    if (status == CIP_ERR_BUSY) /* it is kept, to be tried again */
        return status;
    end_update(c);
    if (status == CIP_OK)
        status = cip_file_refresh(c->file->file, changed, err);
    if (*changed)
        cip_file_drop_old(
            c->file->file); /* nobody has anything of it: pointers are of a generation */
    return status;
}

/* For what ends it: not while slabs are being written. */
static bool begin_last(cippy_change *c)
{
    cip_err err = CIP_ERR_INIT;
    if (!cippy_change_begin(c))
        return false;
    atomic_store(&c->ending, true);
    if (atomic_load(&c->writing) == 0)
        return true;
    atomic_store(&c->ending, false);
    snprintf(err.text, sizeof err.text, "another thread is writing");
    cippy_change_end(c, CIP_ERR_BUSY, &err);
    return false;
}

/* Uses of the file that may have something of its update: other threads', which are soon over.
 * Those that would look into it wait for this call, and then see that it is gone. */
static bool wait_for_uses(cippy_change *c)
{
    for (int i = 0; i < 200000; i++) {
        if (!cippy_in_use(c->file))
            return true;
        wait_a_little();
    }
    return fail_busy(c, "another thread is reading the file");
}

/* An update has the file for itself: nothing of its old state is in use, and it is shown anew. */
static PyObject *change_commit(PyObject *self, PyObject *unused)
{
    (void)unused;
    cippy_change *c = (cippy_change *)self;
    cip_err err = CIP_ERR_INIT;
    cip_status status;
    bool changed = false;
    if (!begin_last(c))
        return NULL;
    if (c->is_new) {
        if (!wait_for_uses(c)) {
            atomic_store(&c->ending, false);
            atomic_flag_clear(&c->used);
            return NULL;
        }
        cip_change *change = c->change;
        c->change = NULL;
        end_update(c);
        CIPPY_BEGIN_STOPPABLE(&c->calls) status = cip_change_commit(&change, &err);
        cip_change_abort(&change); /* one that is BUSY is not tried again */
        CIPPY_END_STOPPABLE return cippy_change_end(c, status, &err);
    }
    if (!cippy_enter_alone(c->file)) {
        atomic_store(&c->ending, false);
        atomic_flag_clear(&c->used);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status = commit_edit(c, &changed, &err);
    Py_END_ALLOW_THREADS c->file->generation += changed;
    cippy_leave_alone(c->file);
    return cippy_change_end(c, status, &err);
}

static PyObject *change_abort(PyObject *self, PyObject *unused)
{
    (void)unused;
    cippy_change *c = (cippy_change *)self;
    if (c->change == NULL)
        Py_RETURN_NONE;
    if (!begin_last(c))
        return NULL;
    if (!wait_for_uses(c)) {
        atomic_store(&c->ending, false);
        atomic_flag_clear(&c->used);
        return NULL;
    }
    give_up(c);
    return cippy_change_end(c, CIP_OK, NULL);
}

/* The bytes of a file in memory; None before a commit has completed it. */
static PyObject *change_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    cippy_change *c = (cippy_change *)self;
    size_t n = 0;
    const void *bytes = c->memory != NULL ? cip_memory_bytes(c->memory, &n) : NULL;
    return bytes != NULL ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)n) : Py_NewRef(Py_None);
}

/* Whether what it changes can be looked into: not a new file that is written as it comes. */
static PyObject *change_shown(PyObject *self, void *unused)
{
    (void)unused;
    cippy_change *c = (cippy_change *)self;
    return PyBool_FromLong(c->file != NULL && c->file->file != NULL);
}

static PyObject *change_open(PyObject *self, void *unused)
{
    (void)unused;
    cippy_change *c = (cippy_change *)self;
    return PyBool_FromLong(c->change != NULL);
}

static PyMethodDef methods[] = {
    { "set", change_set, METH_VARARGS, NULL },
    { "put", change_put, METH_VARARGS, NULL },
    { "commit", change_commit, METH_NOARGS, NULL },
    { "abort", change_abort, METH_NOARGS, NULL },
    { "bytes", change_bytes, METH_NOARGS, NULL },
    { "remove", change_remove, METH_VARARGS, NULL },
    { "move", change_move, METH_VARARGS, NULL },
    { "write", change_write, METH_VARARGS, NULL },
    { "write_array", change_write_array, METH_VARARGS, NULL },
    { "declare", cippy_declare, METH_VARARGS, NULL },
    { "read", change_read, METH_VARARGS, NULL },
    { "resize", change_resize, METH_VARARGS, NULL },
    { "mark", change_mark, METH_NOARGS, NULL },
    { "undo", change_undo, METH_O, NULL },
    { "release", change_release, METH_O, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef getset[] = {
    { "open", change_open, NULL, NULL, NULL },
    { "shown", change_shown, NULL, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, change_dealloc },
    { Py_tp_methods, methods },
    { Py_tp_getset, getset },
    { 0, NULL },
};

PyType_Spec cippy_change_spec = { "cippus._cippus.Change", sizeof(cippy_change), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots };
