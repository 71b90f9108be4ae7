/* SPDX-License-Identifier: BSD-3-Clause
 * The inside of an update. */
#ifndef CIP_CORE_EDIT_IMPL_H
#define CIP_CORE_EDIT_IMPL_H

#include "base/strmap.h"
#include "base/undo.h"
#include "core/commit/commit.h"
#include "core/reading/read_plan.h"
#include "core/writing/change.h"
#include "core/writing/given.h"
#include "space/change/chunk_changes.h"

/* Chunks, or linear bytes, that an update changes. */
typedef struct cip_edit_chunks {
    struct cip_edit_chunks *next;
    cip_chunk_changes *c;
} cip_edit_chunks;

/* An array that no longer lies where the file says, or has another shape, among linear bytes. */
typedef struct cip_edit_placed {
    struct cip_edit_placed *next;
    const cip_array *of;
    cip_chunk_changes *c; /* NULL: it is back where it was, or gone */
    cip_nd at;            /* in its bytes */
    bool reshaped;        /* it has another shape */
    cip_array seen;
} cip_edit_placed;

/* What an update did at a path: an array there is no longer what the file has. */
typedef enum cip_edit_deed {
    CIP_EDIT_SET,  /* a value in its place */
    CIP_EDIT_PUT,  /* an array that comes */
    CIP_EDIT_GONE, /* removed */
    CIP_EDIT_LEFT, /* moved away */
    CIP_EDIT_MOVED /* moved to it */
} cip_edit_deed;

typedef struct cip_edit_place {
    struct cip_edit_place *next; /* the one before it */
    const char *path;            /* with each step in one spelling */
    cip_edit_deed deed;
    const char *from; /* MOVED: the path that it had, in the same spelling, and noted as LEFT right
                         before; NULL: nobody can tell */
} cip_edit_place;

/* An array as it was last looked at. */
typedef struct cip_edit_looked {
    struct cip_edit_looked *next;
    const cip_array *of;
    cip_array seen;
} cip_edit_looked;

/* An array that is filled by boxes, as it can be read until it is the file's. */
typedef struct cip_edit_slab {
    struct cip_edit_slab *next; /* the one declared before it */
    cip_slab *slab;
    const char *place;   /* its path, in one spelling: that of the array */
    bool over;           /* the file has zeros in its place, ... */
    const cip_array *of; /* ... which are this array; NULL: a field of records */
    bool is_view;        /* of one that another fills */
    cip_array array;     /* with a layout of its own */
} cip_edit_slab;

/* Where the update was when it was marked, but for what e->undo keeps. */
typedef struct cip_edit_mark_of {
    struct cip_edit_mark_of *next; /* the one before it */
    uint64_t number;
    size_t before, undo; /* in e->undo: what the store keeps for it lies between them */
    void *format;        /* from the store's mark */
    cip_edit_place *places;
    struct cip_addition *added;
    cip_edit_chunks *chunks;
    cip_edit_slab *slabs;
    cip_status st;
    cip_err why;
} cip_edit_mark_of;

struct cip_edit {
    cip_change change; /* first */
    cip_file *file;    /* as the update found it; its env is what everything works within */
    cip_commit *commit;
    cip_arena arena;
    const cip_array_store *ops;
    cip_io *temporary; /* for what is stored until the commit */
    cip_out out;       /* of folders: what is new in them, in the temporary file */
    void *state;
    cip_change_options o; /* texts in the arena */
    struct {              /* for arrays that come: in a new file, what that was begun with */
        const char *codec, *byteorder;
        const char *const *format_options;
    } come;
    cip_revision rev;
    cip_report notes;
    cip_edit_chunks *chunks;          /* of arrays that are there, the last one first */
    cip_edit_placed *placed;          /* the last one first, ... */
    cip_strmap placed_at;             /* ... and each by what its array is known by */
    struct cip_edit_records *records; /* arrays whose columns changed */
    struct cip_addition *added;       /* arrays that come, last one first */
    cip_edit_slab *slabs;             /* those that are filled by boxes, last one first */
    struct {                          /* what cip_edit_slabs_in gave last, */
        const cip_array *records, *of;
        const cip_edit_slab *last; /* and what of */
    } filled;
    cip_edit_place *places; /* where something came or went, last one first */
    cip_edit_looked *looked;
    struct { /* what cip_change_file gave last, and at which call */
        cip_file *file;
        uint64_t ncall;
    } seen;
    uint64_t ncall;         /* calls that may have changed something */
    int *became;            /* NULL, or told by the commit: cip_commit_became */
    int big;                /* order of elements in memory, or -1: the machine's */
    bool packed;            /* defrag was asked for */
    bool finished;          /* rev is made */
    pid_t owner;            /* the process that began it */
    cip_undo undo;          /* what changes overwrite, for calls that fail and for marks */
    cip_edit_mark_of *mark; /* the newest one; or NULL */
    uint64_t nmark;         /* set so far */
    bool halfway;  /* the call under way changed what `undo` has not: if it fails, that stays */
    bool torn;     /* such a one failed: nothing can follow */
    cip_status st; /* of the first change that failed and was not forgotten: no commit then */
    cip_err why;
};

/* Behind each call that changes something: `found` is what it filled. The first failure is kept, as
 * the commit must not follow unless it is forgotten. What a call that fails has changed is put
 * back, unless it sets e->halfway, or e->undo has lost something: then the update cannot go on, but
 * from a mark. */
cip_status cip_edit_leave(cip_edit *e, cip_status st, const cip_err *found, cip_err *err);

/* --- the calls of cip_change */

/* Elements that a caller gives, in memory or an array of another file. */
typedef struct cip_elements {
    const cip_dtype *dtype;
    cip_bytes data;
    const cip_array *array;
    bool of_array;
} cip_elements;

/* Where rows come or go: from one of an axis on, or (end) behind the last of the first axis.
 * Negative ones count from the end. */
typedef struct cip_rows_at {
    bool end;
    int32_t axis;
    int64_t start;
} cip_rows_at;

cip_status cip_edit_set(cip_edit *e, const char *path, const cip_given *value, cip_err *err);
cip_status cip_edit_remove(cip_edit *e, const char *path, cip_err *err);
cip_status cip_edit_move(cip_edit *e, const char *from, const char *to, bool replace, cip_err *err);
cip_status cip_edit_text(cip_edit *e, const char **text, size_t *nbytes, cip_err *err);
cip_status cip_edit_set_text(cip_edit *e, const char *text, size_t nbytes, cip_err *err);
cip_status cip_edit_put(cip_edit *e, const cip_new_array *a, cip_err *err);
cip_status cip_edit_put_chunk(cip_edit *e, const char *path, uint64_t i, bool stored,
                              cip_bytes bytes, cip_err *err);
cip_status cip_edit_write(cip_edit *e, const char *path, const char *selection,
                          const cip_elements *from, cip_err *err);
cip_status cip_edit_insert(cip_edit *e, const char *path, const cip_rows_at *at,
                           const cip_elements *rows, cip_err *err);
cip_status cip_edit_delete(cip_edit *e, const char *path, const cip_rows_at *at, int64_t count,
                           cip_err *err);
cip_status cip_edit_range(cip_edit *e, const char *path, const char *selection, int *axis,
                          int64_t *start, int64_t *count, cip_err *err);
cip_status cip_edit_resize(cip_edit *e, const char *path, int ndim, const int64_t *shape,
                           cip_err *err);
cip_status cip_edit_freeze(cip_edit *e, cip_err *err);
cip_status cip_edit_defrag(cip_edit *e, cip_finding_fn *fn, void *user, cip_err *err);
/* `field` as in cip_edit_find. */
cip_status cip_edit_field(cip_edit *e, const char *path, const char **field,
                          const cip_array **array, cip_err *err);
cip_status cip_edit_tree(cip_edit *e, const cip_node **root, cip_err *err);
cip_status cip_edit_file(cip_edit *e, const cip_file **file, cip_err *err);
/* *number (may be NULL) is over 0. */
cip_status cip_edit_mark(cip_edit *e, uint64_t *number, cip_err *err);
/* To the mark of this number; 0: the newest. */
cip_status cip_edit_undo(cip_edit *e, uint64_t number, cip_err *err);
cip_status cip_edit_release(cip_edit *e, uint64_t number, cip_err *err);
/* There are no marks any more, and nothing is kept. */
void cip_edit_marks_end(cip_edit *e);
cip_status cip_edit_plan(cip_edit *e, cip_write_fn *fn, void *user, cip_err *err);
/* Goes on without the calls that failed: OK where none failed. Where one failed halfway, this gives
 * its error again, as all further calls do. */
cip_status cip_edit_forget(cip_edit *e, cip_err *err);
/* *edit becomes NULL where it was freed: not for BUSY. */
cip_status cip_edit_commit(cip_edit **edit, cip_err *err);
/* NULL is fine. */
void cip_edit_abort(cip_edit *e);

/* All elements of an array, or of a field; path NULL: of the only array. */
cip_status cip_edit_write_whole(cip_edit *e, const char *path, const cip_array *from, cip_err *err);
/* UNSUPPORTED when the file was opened from something that cannot be changed. */
cip_status cip_edit_may_begin(const cip_file *file, cip_err *err);
/* An update of the open file. `same`: it must not have changed since (BUSY). */
cip_status cip_edit_of(cip_file *file, bool same, cip_edit **edit, cip_err *err);
/* Of a new file under way, begun with options `o`, whose texts are borrowed: of what was written to
 * the output, which stays the caller's. */
struct cip_output;
cip_status cip_edit_draft(struct cip_output *output, const cip_change_options *o, cip_edit **edit,
                          cip_err *err);
/* UNSUPPORTED when the format cannot make this kind of change; ARG after the plan was made. */
cip_status cip_edit_check(const cip_edit *e, bool able, const char *what, cip_err *err);
/* The array at the path as cip_edit_now has it; what cannot be read is refused. `field` (may be
 * NULL: the path names none): what it names in the array, or "". */
cip_status cip_edit_find(cip_edit *e, const char *path, const char **field, const cip_array **out,
                         cip_err *err);

/* --- edit_change.c: elements, on their way to what the format makes of them */

/* The array as the update has it by now; borrowed until the next change, or look at an array that
 * lies in the same chunks. */
const cip_array *cip_edit_now(cip_edit *e, const cip_array *a);
/* For the format: the same of one that changed, any other as it is. */
const cip_array *cip_edit_changed(void *edit, const cip_array *a);
/* The changes of the chunks that it lies in, or NULL: there are none yet. */
cip_chunk_changes *cip_edit_changes_of(const cip_edit *e, const cip_array *a);
/* Another shape; `fill` as in cip_change_form. */
cip_status cip_edit_resize_chunks(cip_chunk_changes *c, const cip_array *a, const uint8_t *fill,
                                  const int64_t *shape, cip_err *err);
/* Elements of it: `at` is a view (of any order) of its space's bytes as they are now. */
cip_status cip_edit_elements(cip_edit *e, const cip_array *a, const cip_nd *at,
                             const cip_feed *feed, cip_err *err);
/* nrow rows more along the first axis. */
cip_status cip_edit_rows(cip_edit *e, const cip_array *a, uint64_t nrow, const cip_feed *feed,
                         cip_err *err);
cip_status cip_edit_shape(cip_edit *e, const cip_array *a, const int64_t *shape, cip_err *err);
/* Rows of any axis come or go in the midst of it. */
cip_status cip_edit_splice(cip_edit *e, const cip_array *a, const cip_splice *s, cip_err *err);
/* How the array's elements change, and the changes of its chunks. */
cip_status cip_edit_form(cip_edit *e, const cip_array *a, cip_change_kind kind,
                         const int64_t *shape, cip_change_form *f, cip_chunk_changes **chunks,
                         cip_err *err);
/* Whether elements of any array changed. */
bool cip_edit_any_made(const cip_edit *e);
/* All elements of an array of another file, whose chunks are taken as they are stored, to where the
 * box `at` (or nrow more rows: NULL) has them; *taken false, with nothing done, where that cannot
 * be. */
cip_status cip_edit_take_chunks(cip_edit *e, const cip_array *a, const cip_nd *at, uint64_t nrow,
                                const cip_read_plan *from, bool *taken, cip_err *err);
/* Finishes the chunks, and tells the format of them. */
cip_status cip_edit_settle(cip_edit *e, cip_err *err);
/* Frees those that were added after `from`; NULL: all. */
void cip_edit_chunks_end(cip_edit *e, cip_edit_chunks *from);
/* Chunks of arrays of the layout (NULL: nothing) are as if nobody had wanted to change them. */
void cip_edit_chunks_drop(cip_edit *e, const cip_layout *l);

/* --- edit_stage.c: elements that are all had before anything changes */

typedef struct cip_edit_stage {
    cip_feed feed; /* to be taken instead; of this struct, which stays where it is */
    cip_io *io;    /* NULL: it is the one that was given */
    uint64_t at, itemsize;
} cip_edit_stage;

/* nelem elements of the feed, of `dtype` as they are stored, which are to go into the array; ends
 * itself when it fails. */
cip_status cip_edit_stage_begin(cip_edit *e, const cip_array *a, const cip_feed *feed,
                                uint64_t nelem, const cip_dtype *dtype, cip_edit_stage *s,
                                cip_err *err);
void cip_edit_stage_end(cip_edit_stage *s);

/* --- edit_records.c: arrays of records whose fields lie in columns, each an array of its own; `a`
 * as the file has it */

/* Whether it is one. */
bool cip_edit_in_columns(const cip_array *a);
/* What it is put together of; NULL: it is none. */
const cip_space *cip_edit_records_space(const cip_array *a);
const cip_array *cip_edit_records_now(cip_edit *e, const cip_array *a);
/* What cip_edit_records_now gave, or a copy of it, is made of; NULL: it is another array. */
const cip_array *cip_edit_records_of(const cip_edit *e, const cip_array *a);
cip_status cip_edit_records_elements(cip_edit *e, const cip_array *a, const cip_nd *at,
                                     const cip_feed *feed, cip_err *err);
cip_status cip_edit_records_splice(cip_edit *e, const cip_array *a, const cip_splice *s,
                                   cip_err *err);
/* Another number of rows (kind ROWS: elements of those that come follow). */
cip_status cip_edit_records_rows(cip_edit *e, const cip_array *a, cip_change_kind kind,
                                 const int64_t *shape, cip_err *err);

/* --- edit_add.c: arrays that come */

/* Where the format puts new files of a folder; NULL: it is none. */
cip_out *cip_edit_out(cip_edit *e);
/* Failures of boxes are forgotten. */
cip_status cip_edit_added_forget(cip_edit *e, cip_err *err);
/* Those behind `was` (NULL: all) are as if they had not come. */
void cip_edit_added_drop(cip_edit *e, struct cip_addition *was);
/* Those that were filled by boxes are done. */
cip_status cip_edit_complete_slabs(cip_edit *e, cip_err *err);
/* Frees what brought them, behind the format's own end. */
void cip_edit_added_end(cip_edit *e);

/* The array that came to the place, where it can be read; NULL: it cannot. *within (may be NULL):
 * what came is a part of records, and no array by itself. */
const cip_array *cip_edit_added_array(const cip_edit *e, const cip_edit_place *at, bool *within);
/* The array that came, of one that cip_edit_now gave; NULL: it did not come. */
const cip_array *cip_edit_added_of(const cip_edit *e, const cip_array *a);

/* --- edit_slab.c: arrays that are being filled by boxes */

/* The slab's array comes to `place`, and boxes that are written since a mark can be taken back. */
cip_status cip_edit_slab_add(cip_edit *e, cip_slab *slab, const char *place, cip_err *err);
/* The slab fills what is at the path in the file, of its dtype and shape, when the update ends:
 * until then it is read in its place. `view`: an array that shows that part of its bytes; or NULL.
 */
cip_status cip_edit_slab_over(cip_edit *e, cip_slab *slab, const char *path, const cip_nd *view,
                              cip_err *err);
/* What is read in place of an array of the file: itself, or the slab that fills it. */
const cip_array *cip_edit_slab_of(const cip_edit *e, const cip_array *a);
/* The same of any; where slabs are columns of records, the records with them. */
cip_status cip_edit_slabs_in(cip_edit *e, const cip_array *a, const cip_array **out, cip_err *err);
/* What a box of such a one that failed left: it is the update's. */
cip_status cip_edit_slabs_failure(cip_edit *e, cip_err *err);
/* Those that fill one do so. */
cip_status cip_edit_slabs_fill(cip_edit *e, cip_err *err);
/* Those behind `to` (NULL: all) are no arrays any more. Before what has the slabs ends. */
void cip_edit_slabs_drop(cip_edit *e, cip_edit_slab *to);
/* A mark is set, or there is none any more. */
cip_status cip_edit_slabs_mark(cip_edit *e, cip_err *err);
void cip_edit_slabs_unmark(cip_edit *e);
/* The array of the slab that was declared at that very place (its pointer); NULL: there is none. */
const cip_array *cip_edit_slab_array(const cip_edit *e, const char *place);
/* UNSUPPORTED where the array is one of them: nothing but boxes can change it. */
cip_status cip_edit_no_slab(const cip_edit *e, const cip_array *a, cip_err *err);
/* ... where one is at the path, above it or below it: its place stays as it is until it comes. */
cip_status cip_edit_no_slab_at(const cip_edit *e, const char *path, cip_err *err);
/* Refuses, where a field of records that has zeros is filled by boxes: it keeps its number among
 * them until then. */
cip_status cip_edit_no_filled_field(const cip_edit *e, cip_err *err);

/* --- edit_file.c: all arrays by now */

/* For the format: the path that one of them has by now, as cip_store_begin has it. */
cip_status cip_edit_path_now(void *edit, const cip_array *a, cip_arena *arena, const char **out,
                             cip_err *err);

/* --- edit_look.c: what the update has made of arrays and the tree */

/* Notes what is about to be done at a path; cip_edit_did takes it back where it failed. */
cip_status cip_edit_note(cip_edit *e, const char *path, cip_edit_deed deed, cip_err *err);
cip_status cip_edit_note_move(cip_edit *e, const char *from, const char *to, cip_err *err);
cip_status cip_edit_did(cip_edit *e, cip_edit_place *before, cip_status st);
/* The array at the path by now, as the file has it, or as it came: NOT_FOUND, UNSUPPORTED. `field`
 * as in cip_edit_find. */
cip_status cip_edit_base(cip_edit *e, const char *path, const char **field, const cip_array **out,
                         cip_err *err);

/* TYPE where times would become bare numbers, whose unit nobody could tell: who reads them asks for
 * that, who changes an array does not. */
cip_status cip_times_stay(const cip_dtype *from, const cip_dtype *to, cip_err *err);
/* Rows of an axis of an array of v's shape in nbytes of elements of itemsize bytes each; ARG for an
 * axis that there is not, RANGE when they are not whole. */
cip_status cip_rows_count(const cip_nd *v, int32_t axis, uint64_t itemsize, uint64_t nbytes,
                          uint64_t *nrow, cip_err *err);

#endif
