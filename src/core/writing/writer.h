/* SPDX-License-Identifier: BSD-3-Clause
 * The inside of a file being written. A store gets arrays at once, if it takes them as they come or
 * holds but one; what must come last or is filled bit by bit waits in temporary files. */
#ifndef CIP_CORE_WRITER_H
#define CIP_CORE_WRITER_H

#include "core/writing/change.h"
#include "core/writing/engine.h"
#include "core/writing/given.h"
#include "core/writing/output.h"
#include "core/writing/slab.h"
#include "tree/edit.h"

typedef struct cip_entry cip_entry;

/* An array of the output, or a mask. */
struct cip_entry {
    cip_entry *next;
    cip_spec_array spec; /* of and mask are set when it is given to the store */
    cip_entry *of, *mask;
    cip_io *temporary;    /* its data, where they wait; or NULL */
    const uint8_t *value; /* the one that all its elements are; or NULL */
    bool unset;           /* ... as nobody has set them */
    cip_slab *slab;       /* by which it is filled until the commit; or NULL */
    bool given;
    size_t index;        /* in the store */
    cip_array_form form; /* how the store has it */
    cip_writer *writer;
};

/* What a call that adds an array began with. */
typedef struct cip_writer_mark {
    cip_entry **last;
    size_t nentry, narray;
    uint64_t total;
    bool placed; /* the array has its place in the tree since */
} cip_writer_mark;

struct cip_writer {
    cip_change change; /* first */
    cip_env env;       /* at a fixed address */
    cip_pool *own_pool;
    cip_change_options o;
    const cip_format *format;
    cip_arena arena;
    cip_spec spec;
    cip_report notes;
    cip_codec_methods *codec; /* env.ncodec of them */
    cip_build tree;
    cip_entry *first, **last;
    size_t nentry, narray; /* narray: without masks */
    size_t nslab;          /* entries that are filled by one */
    cip_slab *slabs;       /* that were declared in it, the last one first */
    cip_entry *moved;      /* whose arrays go on in the draft, the first one first */
    cip_writer_mark mark;  /* of the call under way */
    char *path;            /* NULL: it is no file of a folder */
    cip_target target;     /* the caller's, or none */
    cip_output *file;      /* NULL: what is written comes into one by an update */
    cip_coming *coming;    /* or NULL */
    cip_edit *draft;       /* NULL until what was written is looked at or changed: then it goes on
                              as an update of that */
    cip_engine engine;     /* its state once begun; counts what is put from the first call on */
    cip_revision rev;      /* of the output, by its commit */
    bool begun;
    bool complete; /* all is written: the output takes its name, or is given up */
    bool early;    /* the only array goes to the store before the tree is whole */
    pid_t owner;   /* the process that began it */
    bool torn;     /* a call failed when a part of its array was stored: nothing can follow */
    cip_status st; /* of the first call that failed and was not forgotten: no commit then */
    cip_err why;
    pthread_mutex_t store_lock; /* of engine: slabs store from any thread; a leaf */
};

/* Whether arrays have names, and with them places in a tree. */
static inline bool cip_writer_has_names(const cip_writer *w)
{
    return (w->format->store->caps & (CIP_STORE_TREE | CIP_STORE_NAMES)) != 0;
}

/* A writer of an array that comes into a file by an update (CIP_STORE_ADDS), with a state of its
 * own. What it gave lives as long as it does. The options are whole and tell the format. */
cip_status cip_writer_into(cip_coming *coming, const cip_change_options *o, cip_writer **writer,
                           cip_err *err);
/* All that was put so far is written, and becomes the draft, in which arrays that are filled by
 * boxes go on; a format of one array must have it. `changes`: the call would have changed
 * something, so the commit fails where this does. */
cip_status cip_writer_draft(cip_writer *w, bool changes, cip_edit **draft, cip_err *err);
/* What waits goes to that state, which ends. */
cip_status cip_writer_settle(cip_writer *w, cip_err *err);
/* The calls of cip_change, each between cip_writer_enter and cip_writer_leave. */
cip_status cip_writer_set(cip_writer *w, const char *path, const cip_given *value, cip_err *err);
cip_status cip_writer_put(cip_writer *w, const cip_new_array *a, cip_err *err);
cip_status cip_writer_put_view(cip_writer *w, const char *path, const char *of,
                               const char *selection, cip_err *err);
/* Goes on without the calls and boxes that failed: OK where none failed. Where one failed halfway,
 * so that a part of its array is stored, this gives its error again. */
cip_status cip_writer_forget(cip_writer *w, cip_err *err);
/* *writer becomes NULL, whatever the result, but for BUSY (not of the caller's store). */
cip_status cip_writer_commit(cip_writer **writer, cip_err *err);
/* NULL is fine. */
void cip_writer_abort(cip_writer *w);

/* ARG: nothing more comes into what is complete. */
cip_status cip_fail_complete(cip_err *err);
/* Begins a call: OK, or what an earlier failure (or the creation's, with w NULL) left. */
cip_status cip_writer_enter(cip_writer *w, cip_err *err);
/* Ends it: of a call that failed the failure is kept and nothing else, unless a part of its array
 * is stored. `found` is what the call filled; copied to err. */
cip_status cip_writer_leave(cip_writer *w, cip_status st, const cip_err *found, cip_err *err);

/* UNSUPPORTED naming the first thing of the array that the format cannot hold. */
cip_status cip_writer_check(cip_writer *w, const cip_spec *spec, cip_err *err);
/* ARG when an array lies at `path` or below it. */
cip_status cip_writer_no_array(const cip_writer *w, const char *path, cip_err *err);

/* A new array, checked, its place in the tree taken; not in the list yet. */
cip_status cip_writer_add(cip_writer *w, const cip_new_array *a, cip_entry **out, cip_err *err);
void cip_writer_link(cip_writer *w, cip_entry *e);
/* The mask of the options, if they have one, of an array that is not one of a file. */
cip_status cip_writer_mask(cip_writer *w, const cip_new_array *a, cip_entry *e, cip_err *err);
/* An array that is filled by boxes. */
cip_status cip_writer_put_slab(cip_writer *w, const cip_new_array *a, cip_err *err);
/* The mask of an entry, before the entry: its elements (nonzero: missing) are kept at once. Nothing
 * where the format has none. */
cip_status cip_writer_add_mask(cip_writer *w, cip_entry *e, const cip_source *from, cip_err *err);
/* Whether its data wait until the commit. */
bool cip_writer_waits(const cip_writer *w, const cip_entry *e);
/* The store begins: with all arrays of the spec, or, where they come later, with none. */
cip_status cip_writer_begin(cip_writer *w, cip_array_form *form, cip_err *err);
/* A temporary file for data that wait. */
cip_status cip_writer_room(cip_writer *w, cip_entry *e, cip_err *err);
/* Data that wait: into a temporary file as elements of the entry's dtype. */
cip_status cip_writer_keep(cip_writer *w, cip_entry *e, const cip_source *from, cip_err *err);
/* The next array of the store, and how it is stored. */
cip_status cip_writer_name(cip_writer *w, cip_entry *e, cip_array_form *form, cip_err *err);
/* Its boxes are in their places; what is left of one that was given is stored. */
cip_status cip_writer_end_slab(cip_writer *w, cip_entry *e, cip_err *err);
/* UNSUPPORTED where the entry is filled by boxes and cannot be an update's until it is whole. */
cip_status cip_writer_may_move(const cip_entry *e, cip_err *err);
/* Before what was put is written: slabs are left out, or, in a format of one array, zeros. */
cip_status cip_writer_leave_out(cip_writer *w, cip_err *err);
/* Behind that: they go on in the draft. */
cip_status cip_writer_move_on(cip_writer *w, cip_err *err);
/* An entry goes: its slab, if it is still the entry's, takes no more boxes. */
void cip_writer_drop_entry(cip_entry *e);
/* What an entry's data are when they waited. */
cip_source cip_writer_waited(const cip_entry *e);
/* An entry and its data (NULL: its temporary file, or none for a view) to the store. */
cip_status cip_writer_give(cip_writer *w, cip_entry *e, const cip_source *from, cip_err *err);
/* Elements that were given or wait (dtype, nelem and mem or io) to the store as array `index`. */
cip_status cip_writer_run(cip_writer *w, size_t index, const cip_array_form *form,
                          const cip_source *from, cip_err *err);

#endif
