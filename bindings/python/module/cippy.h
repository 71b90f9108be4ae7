/* SPDX-License-Identifier: BSD-3-Clause
 * What the files of the extension share. The objects, who keeps whom alive, and how a call enters
 * the library: README.md beside this folder. */
#ifndef CIPPY_H
#define CIPPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cippus/cippus.h"

/* Around what an object keeps for later calls, in builds of Python without the interpreter's lock
 * (never with the limited API). What is between may not return. */
#ifdef Py_GIL_DISABLED
#define CIPPY_BEGIN_ALONE(object) Py_BEGIN_CRITICAL_SECTION(object);
#define CIPPY_END_ALONE Py_END_CRITICAL_SECTION();
#define CIPPY_MUTEX PyMutex mutex;
#define CIPPY_LOCK(call) PyMutex_Lock(&(call)->mutex)
#define CIPPY_UNLOCK(call) PyMutex_Unlock(&(call)->mutex)
#else
#define CIPPY_BEGIN_ALONE(object) {
#define CIPPY_END_ALONE }
#define CIPPY_MUTEX
#define CIPPY_LOCK(call) ((void)0)
#define CIPPY_UNLOCK(call) ((void)0)
#endif

/* Of the module: the types made in C, and what the Python layer gives it by `_bind`. */
typedef struct cippy_state {
    PyTypeObject *file, *node, *array, *view, *change, *slab;
    PyObject *map_class, *seq_class, *array_class;
    PyObject *make_error; /* (status, errno, text, part, offset, path, of a file) -> an exception */
    PyObject *scalar;     /* (kind, text or mapping, tag) -> the value of what is not plain */
    PyObject *empty;      /* numpy.empty */
    PyObject *dtype;      /* numpy.dtype */
    PyObject *ndarray;    /* numpy.ndarray */
} cippy_state;

/* A Python callable handed to the library, and the exception that it ended with. */
typedef struct cippy_call {
    PyObject *fn;
    PyObject *type, *value, *trace;
    atomic_bool interrupted; /* it is no Exception but a Ctrl-C, or something else that ends all */
    CIPPY_MUTEX
} cippy_call;

/* The callbacks of one call of the library: its `user`. */
typedef struct cippy_calls {
    cippy_call finding, progress;
    cippy_call *source[2]; /* of files that are read: an interrupt within ends the call; or NULL */
    unsigned long thread;  /* that called */
    int64_t looked;        /* when it looked for signals, in ns */
    atomic_bool stopped;   /* by an exception: whatever asks afterwards is told so again */
} cippy_calls;

/* An open file. `pins` counts the owner (until close) and every use; see py_file.c. A new file is
 * open until its change ends: `file` is what was put before it was first looked into, which is the
 * change's, and NULL until then. */
typedef struct cippy_file {
    PyObject_HEAD PyObject *module;
    cippy_state *state;
    cip_file *file;
    atomic_uint pins;
    unsigned generation; /* grows when the file is shown anew; changes only without other pins */
    struct cippy_change *change; /* what is being put together, or NULL; borrowed */
    unsigned serial;             /* grows with each call of it, and when it ends */
    bool tree_changed;           /* by it, or arrays came or went */
    atomic_uint views;           /* pins of views, which need nothing but the bytes */
    atomic_uint waiting;         /* pins of those who wait to look into the update */
    PyObject *path;              /* the path, or a description of the source */
    Py_buffer bytes;             /* of a file in memory */
    cippy_call source;           /* what reading through Python raised */
} cippy_file;

/* What is being written: a new file, in memory too, or an update of one (file). */
typedef struct cippy_change {
    PyObject_HEAD PyObject *module;
    cippy_state *state;
    cip_change *change;
    bool is_new;
    bool begun; /* a call of a new file went well: there is something in it */
    cip_memory *memory;
    cippy_file *file;     /* borrowed: ends this when it goes; NULL once this has ended */
    cippy_call raised;    /* by what a new file is written to */
    cippy_calls calls;    /* of the call that is going on: it looks for signals alone */
    atomic_flag used;     /* a call is going on: one thread at a time */
    atomic_uint changers; /* those who wait for a look to end, to change something */
    unsigned long looker; /* the thread that looks into the update (it has `used`), and how often */
    unsigned depth;
    bool declared; /* an array that is filled by parts: a draft has it beside the file's own */
    bool reading;  /* elements: what looks into the update meanwhile would disturb that */
    atomic_uint writing;          /* slabs that are being written, by any threads */
    _Atomic uint64_t marks;       /* the number of the last mark */
    _Atomic uint64_t part_failed; /* of a slab: 1 + that number then; 0: none. There is no commit,
                                     unless a mark before it is gone back to */
    atomic_bool ending;           /* no slab may be written any more */
    PyObject *path;
} cippy_change;

/* An array of a change that is filled by boxes. */
typedef struct cippy_slab {
    PyObject_HEAD cippy_change *change;
    cippy_file *file; /* of the change */
    cip_slab *slab;
    const void *of; /* the writer or edit that it is of, as long as that is the change's */
    int ndim;
} cippy_slab;

typedef struct cippy_node {
    PyObject_HEAD cippy_file *file;
    const cip_node *node;
    unsigned generation;
    PyObject *at;    /* bytes: its path in the tree of an update; NULL: a node of the file's own */
    unsigned serial; /* of an update's: it is gone after the next change */
    PyObject *index; /* of a mapping with many keys: string -> position; made at the first search */
    size_t next;     /* where the next key is looked for first: walks go from key to key */
} cippy_node;

typedef struct cippy_array {
    PyObject_HEAD cippy_file *file;
    const cip_array *array;
    unsigned generation, serial;
    PyObject *path;     /* str */
    PyObject *field;    /* bytes: a field of records; NULL: whole elements */
    PyObject *dtype;    /* numpy's; made at the first use */
    atomic_char masked; /* whether elements may be missing: 0 nobody has asked, 1 no, 2 yes */
    int ndim;
    int64_t shape[CIP_MAX_NDIM];
} cippy_array;

/* Bytes of a file in place, for the buffer protocol. Has a pin. */
typedef struct cippy_view {
    PyObject_HEAD cippy_file *file;
    const void *bytes;
    Py_ssize_t nbytes;
} cippy_view;

/* A basic key of an array: the library's selection and the shape that it leaves. */
typedef struct cippy_key {
    cip_selection slices;
    int ndim;
    int64_t shape[2 * CIP_MAX_NDIM];
    bool whole;  /* all of it, as it is */
    bool scalar; /* an element, not an array without axes */
} cippy_key;

/* --- py_module.c --- */
cippy_state *cippy_state_of(PyObject *module);
/* Sets the exception of a status and returns NULL. `path` may be NULL; of_file: what is not found
 * would be a file. */
PyObject *cippy_fail(cippy_state *state, cip_status status, const cip_err *err, PyObject *path,
                     bool of_file);
/* UTF-8 of a file, which may be none. */
PyObject *cippy_text(const char *text, size_t len);
/* tp_free and the type's reference, at the end of a tp_dealloc. */
void cippy_free(void *self);

/* --- py_file.c --- */
extern PyType_Spec cippy_file_spec;
/* A file of a Python class below the module's own; NULL with an exception. */
cippy_file *cippy_file_new(PyObject *module, PyObject *class, PyObject *path);
/* A use begins: false, with an exception, of a closed file. */
bool cippy_enter(cippy_file *f);
void cippy_leave(cippy_file *f);
/* For a use of f->file. A new file is by this what was put so far; *nothing: nothing was, and there
 * is no f->file (NULL: that is a use of it, too). */
bool cippy_enter_file(cippy_file *f, bool *nothing);
/* Refuses, with an exception, what a new file has not before its commit. */
bool cippy_is_there(cippy_file *f);
/* Ends further uses. */
void cippy_close(cippy_file *f);
/* For a change of the file itself: false, with an exception, while there are other pins. */
bool cippy_enter_alone(cippy_file *f);
void cippy_leave_alone(cippy_file *f);
/* Whether calls are going on in it; views do not count, nor who waits to look into its update. */
bool cippy_in_use(const cippy_file *f);
PyObject *cippy_file_fail(cippy_file *f, cip_status status, const cip_err *err);

/* --- py_source.c --- */
/* *methods by which `from` is read (see there) and their user, NULL with an exception. */
void *cippy_source_new(cippy_file *file, PyObject *from, cip_io_methods *methods);
cippy_calls cippy_calls_of(PyObject *finding, PyObject *progress); /* None: not wanted */
/* user: cippy_calls. The thread that called looks for signals, so that Ctrl-C ends what the library
 * is at, and calls the callable if there is one. */
int cippy_on_progress(void *user, uint64_t done, uint64_t total);
/* user: cippy_calls. The same, for what tells no progress: a call between the two macros. */
int cippy_on_stop(void *user);
#define CIPPY_BEGIN_STOPPABLE(calls)                                                               \
    {                                                                                              \
        const cip_stop stop_before = cip_stop_set((cip_stop){ cippy_on_stop, (calls) });           \
        Py_BEGIN_ALLOW_THREADS
#define CIPPY_END_STOPPABLE                                                                        \
    Py_END_ALLOW_THREADS cip_stop_set(stop_before);                                                \
    }
int cippy_on_finding(void *user, const cip_finding *finding);
PyObject *cippy_finding_tuple(const cip_finding *finding);
/* Whether there was an exception of a callback, which is set instead of any other. */
bool cippy_calls_raised(cippy_calls *calls);
void cippy_calls_clear(cippy_calls *calls);
/* What a call came to: 0 to go on. `result` is taken over. */
int cippy_call_end(cippy_call *call, PyObject *result);
/* The exception that is set is kept, its words go to err. One that was kept is of a call that the
 * library made again. */
cip_status cippy_call_failed(cippy_call *kept, const char *doing, cip_err *err);
bool cippy_call_raised(cippy_call *call);
void cippy_call_clear(cippy_call *call);

/* --- py_sink.c --- */
/* A user for the methods, which give it back; NULL with an exception. */
void *cippy_sink_new(PyObject *to, cippy_call *raised, cip_io_write_methods *methods);

/* --- py_node.c --- */
extern PyType_Spec cippy_node_spec;
/* The value of a node: a scalar, an array, or a node. The file is entered. `at`: the path of the
 * node in the tree of an update, which the thread looks into (c); NULL: a node of the file's own.
 */
PyObject *cippy_value(cippy_file *f, const cip_node *node, cippy_change *c, const char *at);
/* Whether nodes with that tag (or none: NULL) describe arrays. */
bool cippy_tag_is_of_array(const char *tag);

/* --- py_array.c --- */
extern PyType_Spec cippy_array_spec;
/* `path` NULL: the array's own. */
PyObject *cippy_array_new(cippy_file *f, const cip_array *array, const char *field,
                          const char *path);
/* A use of it begins: after a change of the file, or a call of its update, it is looked for again.
 */
bool cippy_array_enter(cippy_array *a);
/* The same to see how it is stored: false, with an exception, while an update is put together. */
bool cippy_array_enter_stored(cippy_array *a);
/* Whether elements of it may be missing; entered. */
bool cippy_array_is_masked(cippy_array *a);
/* Its numpy dtype, borrowed; the array is entered. NULL with an exception. */
PyObject *cippy_array_dtype_of(cippy_array *a);

/* --- py_dtype.c --- */
/* What numpy.dtype() takes: a text, or names, formats, offsets and itemsize. */
PyObject *cippy_dtype_spec(const cip_dtype *dtype);
PyObject *cippy_dtype_numpy(cippy_state *state, const cip_dtype *dtype);

/* --- py_key.c --- */
/* 1: a basic key, parsed; 0: another one; -1: an exception, in numpy's words. */
int cippy_key_parse(PyObject *key, int ndim, const int64_t *shape, cippy_key *out);
PyObject *cippy_shape_tuple(int ndim, const int64_t *shape);

/* --- py_read.c --- */
extern PyType_Spec cippy_view_spec;
PyObject *cippy_array_getitem(PyObject *self, PyObject *key);
PyObject *cippy_array_read(PyObject *self, PyObject *args);
PyObject *cippy_array_points(PyObject *self, PyObject *args);
PyObject *cippy_array_view(PyObject *self, PyObject *unused);
/* Elements are read: of a file with an update by one thread at a time. False: an exception. */
bool cippy_read_begin(cippy_array *a, cippy_change **c);
void cippy_read_end(cippy_change *c);

/* --- py_picture.c --- */
PyObject *cippy_array_picture(PyObject *self, PyObject *args);

/* --- py_chunk.c --- */
PyObject *cippy_array_nchunk(PyObject *self, PyObject *unused);
PyObject *cippy_array_chunk(PyObject *self, PyObject *index);
PyObject *cippy_array_read_chunk(PyObject *self, PyObject *args);
PyObject *cippy_file_refs(PyObject *self, PyObject *args);
PyObject *cippy_blosc_decode(PyObject *module, PyObject *args);
PyObject *cippy_blosc_encode(PyObject *module, PyObject *args);

/* --- py_change.c --- */
extern PyType_Spec cippy_change_spec;
PyObject *cippy_create(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *cippy_edit(PyObject *module, PyObject *file);
/* A call begins, and ends with the exception of a status or None: one thread at a time. */
cippy_change *cippy_change_new(PyObject *module, PyObject *path);
bool cippy_change_begin(cippy_change *c);
/* The exception tells of the call that failed, and what follows goes on without it. */
void cippy_change_forget(cippy_change *c);
/* What was put into a new file so far becomes f->file; nothing as in cippy_enter_file. */
bool cippy_show(cippy_file *f, bool *nothing);
/* The file goes, and with it what is not committed. */
void cippy_change_orphan(cippy_change *c);
/* The calling thread looks into the file's update: what is read then is as the changes so far have
 * it. *c NULL: there is none. False: an exception. */
bool cippy_look_begin(cippy_file *f, cippy_change **c);
void cippy_look_end(cippy_change *c);
PyObject *cippy_change_end(cippy_change *c, cip_status status, const cip_err *err);
/* How many lengths a tuple has, at `length`; -1 with an exception. */
int cippy_lengths(PyObject *tuple, int most, int64_t *length);

/* --- py_slab.c --- */
extern PyType_Spec cippy_slab_spec;
PyObject *cippy_declare(PyObject *change, PyObject *args);

/* --- py_verbs.c --- */
PyObject *cippy_publish(PyObject *module, PyObject *args);
PyObject *cippy_save(PyObject *module, PyObject *args);
PyObject *cippy_convert(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *cippy_verify(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *cippy_repair(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *cippy_diff(PyObject *module, PyObject *args, PyObject *kwargs);
/* A tuple of bytes as texts with NULL behind them, to be freed by PyMem_Free; NULL for None, or
 * with an exception. */
const char **cippy_texts(PyObject *tuple);

#endif
