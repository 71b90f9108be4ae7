/* SPDX-License-Identifier: BSD-3-Clause
 * A store that is there while it is changed. */
#ifndef CIP_FORMAT_ZARR_UPDATE_H
#define CIP_FORMAT_ZARR_UPDATE_H

#include "format/zarr/zarr_write.h"
#include "tree/edit.h"

typedef struct cip_zarr_update cip_zarr_update;

/* What becomes of an array of the store. */
typedef struct cip_zarr_changed {
    const cip_chunk_changes *chunks; /* once they are known */
    cip_zarr_pipe *pipe;             /* how new chunks are encoded; NULL: not asked for yet */
    const int64_t *shape;            /* in the end, along the array's axes; NULL: it stays */
} cip_zarr_changed;

/* A chunk of an array that comes, in the update's temporary file. */
typedef struct cip_zarr_piece {
    uint64_t i, off, len;
} cip_zarr_piece;

/* An array that comes: a new one in all but where its chunks go. */
typedef struct cip_zarr_coming {
    cip_zarr_writer w; /* first; of one array */
    cip_zarr_update *u;
    cip_coming *coming;
    cip_spec spec;
    cip_spec_array array;
    cip_array_form form;
    cip_buf waiting;                  /* cip_zarr_piece, rising */
    cip_layout *seen;                 /* of the array as it can be read until it is the store's */
    cip_space *in;                    /* the temporary file */
    cip_array *rows;                  /* it */
    const cip_chunk_changes *changes; /* of its chunks; or NULL */
} cip_zarr_coming;

/* A group or array of the store by now. */
typedef struct cip_zarr_now {
    cip_zarr_node n;
    const char *was; /* the path that it was moved from, at which the files are; or NULL */
    bool gone, came;
    bool moved;         /* gone, as it has another path now */
    cip_zarr_coming *x; /* of an array that came */
} cip_zarr_now;

/* Something that is said of a group or array, and perhaps no longer what the file has. */
typedef struct cip_zarr_touched {
    size_t node;
    const char *key, *shown; /* the attribute, and the key that the tree has for it; NULL: all */
    bool axes;               /* the names of axes */
} cip_zarr_touched;

struct cip_zarr_update {
    cip_zarr_writer w;         /* first; of it `old`, env and arena count */
    cip_zarr_changed *changed; /* of the store's arrays */
    bool asked;                /* a codec or an option, which arrays that come have */
    cip_undo *undo;
    cip_io *temporary;
    cip_build tree; /* as it is by now */
    cip_zarr_now *node;
    size_t nnode, node_cap;
    cip_zarr_touched *touched;
    size_t ntouched, touched_cap;
};

/* --- zarr_update.c */

cip_status cip_zarr_update_begin(const cip_store_begin *b, void **state, cip_err *err);
cip_status cip_zarr_update_form(void *state, const cip_array *a, cip_change_kind kind,
                                const int64_t *shape, cip_change_form *out, cip_err *err);
cip_status cip_zarr_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err);
cip_status cip_zarr_update_finish(cip_zarr_update *u, cip_revision *r, cip_err *err);
/* Whether there is a file of this name, whoever left it. */
cip_status cip_zarr_is_there(const cip_zarr_update *u, const char *path, bool *yes, cip_err *err);

/* --- zarr_update_tree.c: what is said of groups and arrays */

cip_status cip_zarr_update_set(void *state, const char *path, const cip_node *value, cip_err *err);
cip_status cip_zarr_update_remove(void *state, const char *path, cip_err *err);
cip_status cip_zarr_update_move(void *state, const char *from, const char *to, bool replace,
                                cip_err *err);
cip_status cip_zarr_update_mark(void *state, void **at, cip_err *err);
cip_status cip_zarr_update_tree_now(void *state, const cip_node **root, cip_err *err);
/* Keeps the state for `undo`, before it changes. */
cip_status cip_zarr_keep(cip_zarr_update *u, cip_err *err);
/* The group or array of this path, or SIZE_MAX. */
size_t cip_zarr_find_node(const cip_zarr_update *u, const char *path, size_t len);
/* That of the store that had this path, wherever it is now. */
size_t cip_zarr_find_old(const cip_zarr_update *u, const char *path, size_t len);
cip_status cip_zarr_add_node(cip_zarr_update *u, const cip_zarr_now *n, cip_err *err);
/* The tree gets what it shows of a group or array. */
cip_status cip_zarr_show_node(cip_zarr_update *u, const char *path, const cip_node *value,
                              cip_err *err);
/* It goes with all in it. */
cip_status cip_zarr_remove_node(cip_zarr_update *u, size_t i, cip_err *err);
/* The mapping that the tree has for a group by now. */
const cip_node *cip_zarr_group_map(const cip_zarr_update *u, const char *path, size_t len);
/* What the tree says by now where something was touched; NULL: nothing. */
const cip_node *cip_zarr_touched_value(const cip_zarr_update *u, const cip_zarr_touched *t);

/* --- zarr_update_add.c: arrays that come */

/* Goes through the groups on the way; `dir`: with a slash at the end. Those that are missing come,
 * if `make` says so, and *there is the array that is to be replaced, or SIZE_MAX. */
cip_status cip_zarr_make_way(cip_zarr_update *u, const char *dir, bool replace, bool make,
                             size_t *there, cip_err *err);

cip_status cip_zarr_coming_begin(const cip_store_begin *b, void **state, cip_err *err);
cip_status cip_zarr_coming_store(cip_zarr_coming *x, uint64_t i, size_t n,
                                 const cip_chunk_in *chunk, cip_err *err);
cip_status cip_zarr_coming_finish(cip_zarr_coming *x, cip_err *err);
cip_status cip_zarr_came_form(cip_zarr_coming *x, cip_change_kind kind, cip_change_form *out,
                              cip_err *err);
/* Its chunks; the metadata get its shape by then. */
cip_status cip_zarr_put_came(cip_zarr_update *u, cip_zarr_coming *x, cip_revision *r, cip_err *err);

/* --- zarr_update_meta.c: metadata of all that changed, came or went */

cip_status cip_zarr_put_changes(cip_zarr_update *u, cip_revision *r, cip_err *err);

#endif
