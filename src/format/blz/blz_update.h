/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of a folder that is there: of the attributes, the same for both forms; of what the arrays
 * hold, in the form that the folder has. */
#ifndef CIP_FORMAT_BLZ_UPDATE_H
#define CIP_FORMAT_BLZ_UPDATE_H

#include "format/blz/blz_write.h"
#include "tree/edit.h"

/* What becomes of a column. */
typedef struct cip_blz_changed {
    const cip_chunk_changes *chunks; /* once they are known */
    bool takes;                      /* new chunks may stay as another file has them */
    /* Of those in superchunks: */
    cip_bp_how *in_superchunks; /* how new chunks are stored; NULL: not asked for yet */
    int64_t least;              /* rows that it had at one time: there are no others to keep */
    /* Of those that the old programs wrote: */
    cip_blosc_spec *how;    /* of new chunks; NULL: not asked for yet */
    const char *attributes; /* path in the tree, of a table's column */
    bool mends;             /* its files, not meta/sizes, said how long it was */
    bool gone;
    const char *name; /* that it gets, and its folder; NULL: as they are */
} cip_blz_changed;

/* A field of records, and its columns, one behind the other. */
struct cip_blz_came;
typedef struct cip_blz_found {
    struct cip_blz_came *came; /* one that came, which has nothing of what follows; or NULL */
    size_t first, n;
    const cip_dtype *in; /* the record that it lies in */
    size_t depth;
    const cip_field *way[CIP_BLZ_MAX_DEPTH + 2]; /* down to it, itself the last */
} cip_blz_found;

/* All that a new folder has; or a column that comes, or (of the document's) a field with those that
 * it is stored in. */
typedef struct cip_blz_coming {
    cip_blz_writer w;
    /* Of one that comes: */
    char *name;
    cip_spec_array array;
    cip_spec spec; /* of it alone */
    cip_blz_like like;
    cip_layout *seen; /* its chunks, where they wait: a child of the folder's layout, whose records
                         show them */
} cip_blz_coming;

/* One that came. */
typedef struct cip_blz_came {
    cip_blz_coming *x; /* lives as long as the update */
    const char *name;
    const char *attributes; /* as above */
    bool gone;
    size_t place; /* of a table's: the column whose place it has (as in cip_blz_name_now), or
                     SIZE_MAX: behind the others */
} cip_blz_came;

typedef struct cip_blz_state {
    cip_env *env;
    cip_arena *arena;
    cip_spec spec;  /* of what is stored */
    cip_blz *b;     /* the folder that is there, or NULL */
    cip_build tree; /* attributes as they become; its root NULL: there are none */
    bool tree_changed;
    cip_blz_changed *column; /* of b->column */
    cip_out *out;            /* for files that come */
    cip_io *temporary;
    cip_coming *coming; /* or NULL: */
    cip_blz_coming own; /* what is written: of a new folder, or of what comes into one */
    cip_blz_came *came; /* what came into the folder, in order */
    size_t ncame, came_cap;
    const cip_array *records; /* with columns that came, went or moved, or NULL: to be made */
    /* Of the document's records: */
    cip_blz_found moved; /* the field that gets another name; its depth 0: none does */
    const char *name;    /* that one, */
    char *folder;        /* and its folder's */
    cip_undo *undo;      /* of cip_store_begin */
    int64_t *found;      /* of each column: rows that its files hold; -1: not looked for */
    size_t at;           /* column that was asked for last */
} cip_blz_state;

/* --- blz_update.c: the store's functions for a folder that is there --------------------------- */

cip_status cip_blz_update_begin(cip_blz_state *u, cip_err *err);
cip_status cip_blz_update_set(void *state, const char *path, const cip_node *value, cip_err *err);
cip_status cip_blz_update_remove(void *state, const char *path, cip_err *err);
cip_status cip_blz_update_mark(void *state, void **at, cip_err *err);
/* Before anything but elements becomes other than it is: of the state, its columns apart, ... */
cip_status cip_blz_keep(cip_blz_state *u, cip_err *err);
/* ... and of one of them (as in cip_blz_name_now). */
cip_status cip_blz_keep_column(cip_blz_state *u, size_t column, cip_err *err);
cip_status cip_blz_update_tree_now(void *state, const cip_node **root, cip_err *err);
cip_status cip_blz_update_move(void *state, const char *from, const char *to, bool replace,
                               cip_err *err);
cip_status cip_blz_update_form(void *state, const cip_array *a, cip_change_kind kind,
                               const int64_t *shape, cip_change_form *out, cip_err *err);
cip_status cip_blz_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err);
cip_status cip_blz_update_records(void *state, const cip_array *a, const cip_array **out,
                                  cip_err *err);
cip_status cip_blz_update_finish(cip_blz_state *u, cip_revision *r, cip_err *err);
/* The columns of a table in order, those that are left and came (as in cip_blz_name_now): *n of
 * them, in the arena. */
cip_status cip_blz_order(const cip_blz_state *u, size_t **out, size_t *n, cip_err *err);
/* Rows that a column is to have, one of the folder's or (behind them) of those that came; false:
 * its length is not known, or it goes. */
bool cip_blz_rows_now(const cip_blz_state *u, size_t column, int64_t *rows);
/* The name that such a column has by now, or NULL: it goes. */
const char *cip_blz_name_now(const cip_blz_state *u, size_t column);
/* Where the files of a column of the folder lie by then, as in cip_blz_column. */
cip_status cip_blz_dir_now(const cip_blz_state *u, size_t column, const char **out, cip_err *err);
/* The path in the tree of the attributes of a column at `path`. */
cip_status cip_blz_attributes_of(cip_blz_state *u, const char *path, const char **out,
                                 cip_err *err);

/* The node as one line of JSON, as Python writes it, is all that the file at `path` holds: made, or
 * in place of the one that is there. */
cip_status cip_blz_put_json(cip_blz_state *u, cip_revision *r, const char *path,
                            const cip_node *value, cip_err *err);
/* The column's meta/sizes with so many rows of elements of `itemsize` bytes, which changes after
 * all other files; *cbytes are the bytes of all chunks, NULL: what is there stays. */
cip_status cip_blz_put_sizes(cip_blz_state *u, size_t column, int64_t rows, uint64_t itemsize,
                             const int64_t *cbytes, cip_revision *r, cip_err *err);

/* --- blz_dflt.c ------------------------------------------------------------------------------- */

/* What growing adds: a row of the dflt in meta/storage, in the arena; NULL for zeros. UNSUPPORTED
 * for one that the dtype does not have. */
cip_status cip_blz_dflt(cip_arena *a, const cip_blz_meta *m, const uint8_t **row, cip_err *err);

/* The dflt of meta/storage, which is there, without the fields that go. */
cip_status cip_blz_keep_dflt(const cip_blz_state *u, const cip_blz_meta *m, const cip_node **out,
                             cip_err *err);
/* The dflt of meta/storage with another such value for fields behind the records' (`more`: a list);
 * one value for all fields stays. */
cip_status cip_blz_dflt_with(cip_arena *a, const cip_blz_meta *m, const cip_node *more,
                             const cip_node **out, cip_err *err);

/* --- blz_update_add.c: columns that come ------------------------------------------------------ */

/* The store's functions of one that comes. */
cip_status cip_blz_coming_begin(cip_blz_state *s, cip_array_form *form, cip_err *err);
cip_status cip_blz_coming_store(cip_blz_state *s, cip_blz_new *c, const cip_bp_piece *p,
                                cip_err *err);
cip_status cip_blz_coming_finish(cip_blz_state *s, cip_err *err);
/* The column of one that came whose rows these are, or NULL. */
cip_blz_new *cip_blz_find_came(const cip_blz_state *u, const cip_array *rows);
/* Whether those that came are as long as the others. */
cip_status cip_blz_check_came(const cip_blz_state *u, cip_err *err);
/* Writes those that came; *cbytes is added the bytes of their chunks. */
cip_status cip_blz_put_came(cip_blz_state *u, int64_t *cbytes, cip_err *err);

/* --- blz_update_files.c: chunks in files of their own ----------------------------------------- */

/* Of b->column[column]. */
cip_status cip_blz_files_form(cip_blz_state *u, size_t column, cip_change_kind kind,
                              const int64_t *shape, cip_change_form *out, cip_err *err);
cip_status cip_blz_files_finish(cip_blz_state *u, size_t column, cip_revision *r, cip_err *err);

/* --- blz_update_table.c: columns that go or get another name ---------------------------------- */

/* The number of the column at a path (as in cip_blz_name_now), or as many as there are. */
size_t cip_blz_find_column(const cip_blz_state *u, const char *path);
/* `replaced`: another comes in its place. */
cip_status cip_blz_remove_column(cip_blz_state *u, size_t i, bool replaced, cip_err *err);
cip_status cip_blz_move_column(cip_blz_state *u, size_t i, const char *to, cip_err *err);
/* ARG for a name that something in the folder has, or gets; UNSUPPORTED where none can have it. One
 * that comes may have the name of a column that goes or moves; a folder that moves cannot. */
cip_status cip_blz_expect_free(const cip_blz_state *u, const char *name, bool comes, cip_err *err);
cip_status cip_blz_table_finish(cip_blz_state *u, cip_revision *r, cip_err *err);

/* --- blz_update_fields.c: fields of the document's records that go or move -------------------- */

/* Whether one of these columns stays. */
bool cip_blz_has_left(const cip_blz_state *u, size_t first, size_t n);
/* The field at a path, if there is one. */
bool cip_blz_find_field(const cip_blz_state *u, const char *path, cip_blz_found *out);
cip_status cip_blz_remove_field(cip_blz_state *u, const cip_blz_found *f, bool replaced,
                                cip_err *err);
cip_status cip_blz_move_field(cip_blz_state *u, const cip_blz_found *f, const char *from,
                              const char *to, cip_err *err);
/* The same of the name that a field is to get: in the records, and in the folders of the shards. */
cip_status cip_blz_expect_no_field(cip_blz_state *u, const char *name, bool comes, cip_err *err);
/* Whether fields come, go or move. */
bool cip_blz_changes_fields(const cip_blz_state *u);
/* meta/storage with the fields that are left and come: its dtype and, as it is read then, type and
 * bytes of a row. */
cip_status cip_blz_fields_now(cip_blz_state *u, const cip_node **dtype, cip_blz_meta *now,
                              cip_err *err);
/* ... and written, but for folders of fields that go or move. */
cip_status cip_blz_put_storage(cip_blz_state *u, cip_revision *r, cip_err *err);
/* These folders; *gone is added the bytes of chunks in them. */
cip_status cip_blz_move_fields(cip_blz_state *u, cip_revision *r, int64_t *gone, cip_err *err);

/* --- blz_update_document.c: arrays in superchunks --------------------------------------------- */

/* Of b->column[column]. */
cip_status cip_blz_document_form(cip_blz_state *u, size_t column, cip_change_kind kind,
                                 const int64_t *shape, cip_change_form *out, cip_err *err);
/* How chunks of the column are, where nothing else is asked for. */
cip_status cip_blz_document_how(const cip_blz_state *u, cip_blz_column *c, cip_bp_how *how,
                                bool *takes, cip_err *err);
/* Of all columns that changed, came, go and move. */
cip_status cip_blz_document_finish(cip_blz_state *u, cip_revision *r, cip_err *err);

/* --- blz_update_super.c ----------------------------------------------------------------------- */

/* The superchunks of b->column[column], whose chunks changed; *delta is added what all chunks
 * together have more bytes than before. */
cip_status cip_blz_supers_finish(cip_blz_state *u, size_t column, cip_revision *r, int64_t *delta,
                                 cip_err *err);

/* Chunks of a superchunk, all of which are known, or usually: of one that comes. */
uint64_t cip_blz_super_nominal(const cip_blz_column *c);
/* As the column's last superchunk is, but for its metadata. Without any `sum` stays. */
cip_status cip_blz_super_like(cip_blz_column *c, cip_blz_super_how *out, cip_err *err);

/* --- blz_update_place.c ----------------------------------------------------------------------- */

/* Whether superchunks that come are dealt to the shard, by turns: to those that meta/shards lists,
 * or without it to all; without any the folder itself has all. */
bool cip_blz_is_dealt_to(const cip_blz *b, size_t shard);
/* UNSUPPORTED: what lies in a shard outside of the folder does not change. */
cip_status cip_blz_lies_outside(const char *name, const char *shard, cip_err *err);
/* UNSUPPORTED for a shard outside of the folder. */
cip_status cip_blz_expect_within(const cip_blz_shard *shard, uint64_t number, cip_err *err);
/* The name, beneath the folder, of the file of a superchunk that comes. */
cip_status cip_blz_super_name(const cip_blz_column *c, uint64_t number, cip_arena *a, char **out,
                              cip_err *err);

#endif
