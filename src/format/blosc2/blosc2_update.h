/* SPDX-License-Identifier: BSD-3-Clause
 * The store's state, of a new frame or of one that is there, and what becomes of the latter. */
#ifndef CIP_FORMAT_BLOSC2_UPDATE_H
#define CIP_FORMAT_BLOSC2_UPDATE_H

#include "format/blosc2/blosc2_write.h"
#include "tree/edit.h"

/* A chunk file that goes. */
typedef struct cip_b2_gone {
    const char *name;
    struct cip_b2_gone *next;
} cip_b2_gone;

typedef struct cip_b2_state {
    cip_env *env;
    cip_arena *arena;
    cip_spec spec;  /* of chunks that come */
    cip_b2_how how; /* of chunks, once there are changes of them; its shape as it becomes */
    cip_grid grid;  /* of how.nd */
    /* Of a new frame: */
    cip_out *out;
    cip_b2_header h;
    cip_buf header;  /* all of it */
    uint64_t next;   /* the next chunk's number */
    cip_buf offsets; /* of the chunks so far, as the index has them */
    cip_buf part;    /* bytes on their way out */
    /* Of one that is there: */
    cip_layout *l;
    const cip_b2_frame *f; /* as it is; NULL: there is none */
    const cip_array *array;
    bool (*alone)(void *user); /* as in cip_store_begin */
    void *alone_user;
    cip_spec_array spec_array;
    bool has_how;
    const cip_chunk_changes *c; /* NULL: elements stay as they are */
    bool reshaped;
    /* Metadata as they become: of a new frame `vlmeta` alone; else all metalayers of the header and
     * of the trailer, in order, values as they are stored; with new ones is_changed is set. That of
     * b2nd need not be kept up: the shape is put into it at the end. */
    cip_b2_metas meta, vlmeta;
    bool meta_changed, vlmeta_changed;
    bool packs;        /* chunks are to lie in their order, without holes: */
    bool untidy;       /* as they do not yet */
    cip_b2_gone *gone; /* of a sparse frame */
    cip_build tree;    /* the same as nodes; its root NULL: nothing was asked of it */
    cip_undo *undo;    /* of cip_store_begin */
} cip_b2_state;

/* The store's functions (format.h). */
cip_status cip_b2_update_begin(cip_b2_state *u, const cip_store_begin *b, cip_err *err);
/* Chunks of elements `d` as u->how has them, in an array of that shape; borrows `shape`. */
void cip_b2_fill_form(cip_b2_state *u, const cip_dtype *d, const int64_t *shape,
                      cip_array_form *form);
cip_status cip_b2_update_form(void *state, const cip_array *a, cip_change_kind kind,
                              const int64_t *shape, cip_change_form *out, cip_err *err);
cip_status cip_b2_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err);
cip_status cip_b2_update_finish(cip_b2_state *u, cip_revision *r, cip_err *err);

/* --- blosc2_update_holes.c: bytes that nothing names ------------------------------------------ */

/* From the header's end on, as all places here. */
typedef struct cip_b2_hole {
    uint64_t at, end;
} cip_b2_hole;

typedef struct cip_b2_holes {
    cip_mem *mem;
    cip_b2_hole *hole; /* rising */
    size_t n, cap;
    uint64_t chunks_end; /* no chunk of the frame as it is reaches beyond this */
} cip_b2_holes;

/* None where there might be readers of what was there. */
cip_status cip_b2_holes_find(cip_b2_state *u, cip_b2_holes *h, cip_err *err);
/* The first `len` bytes at `from` or behind it. */
bool cip_b2_holes_take(cip_b2_holes *h, uint64_t from, uint64_t len, uint64_t *at);
void cip_b2_holes_clear(cip_b2_holes *h);

/* UNSUPPORTED for a frame that holds not all of its array, or whose index has another form. */
cip_status cip_b2_update_check(const cip_b2_frame *f, cip_err *err);

/* --- blosc2_update_defrag.c: what nothing names ----------------------------------------------- */

cip_status cip_b2_update_defrag(void *state, cip_report *report, cip_err *err);
/* Takes chunk files out, but those that the revision changes anyway. */
cip_status cip_b2_update_drop_files(const cip_b2_state *u, cip_revision *r, cip_err *err);

/* --- blosc2_update_tree.c: metalayers --------------------------------------------------------- */

cip_status cip_b2_update_set(void *state, const char *path, const cip_node *value, cip_err *err);
cip_status cip_b2_update_remove(void *state, const char *path, cip_err *err);
cip_status cip_b2_update_mark(void *state, void **at, cip_err *err);
cip_status cip_b2_update_tree_now(void *state, const cip_node **root, cip_err *err);
cip_status cip_b2_update_move(void *state, const char *from, const char *to, bool replace,
                              cip_err *err);
/* Values that became others as they are stored; before the metalayers are written. */
cip_status cip_b2_update_pack(cip_b2_state *u, cip_err *err);

/* --- blosc2_update_place.c: where chunks go --------------------------------------------------- */

/* A chunk that comes. */
typedef struct cip_b2_new_chunk {
    cip_segment bytes;
    uint64_t at; /* from the header's end */
} cip_b2_new_chunk;

typedef struct cip_b2_places {
    cip_mem *mem;
    cip_buf entries; /* of all chunks, as the index has them before it is encoded */
    cip_b2_new_chunk *chunk;
    size_t n, cap;
    uint64_t base, end; /* chunks without a hole lie from `base` to `end` */
    uint64_t filled;    /* where the last hole that a chunk took ends */
    bool numbered;      /* sparse: places are numbers of files: */
    cip_buf used;       /* those that are not free, rising; `seen` of them below `end` */
    size_t seen;
    cip_b2_holes holes;
} cip_b2_places;

/* Of all chunks, new ones in holes or from `end` on. */
cip_status cip_b2_places_find(cip_b2_state *u, cip_b2_places *p, cip_err *err);
/* New chunks in the order in which they lie. */
void cip_b2_places_sort(cip_b2_places *p);
void cip_b2_places_clear(cip_b2_places *p);

/* --- blosc2_update_sparse.c: chunks that are files -------------------------------------------- */

/* Which numbers are in use. */
cip_status cip_b2_sparse_numbers(const cip_b2_state *u, cip_b2_places *p, cip_err *err);
/* The lowest one that is free. */
uint64_t cip_b2_sparse_next(cip_b2_places *p);
/* UNSUPPORTED where a chunk file of the frame as it is is a symbolic link. */
cip_status cip_b2_sparse_check_links(const cip_b2_state *u, cip_err *err);
/* New chunk files, and removals of those that nothing names any more. *cbytes: of all by then. */
cip_status cip_b2_sparse_files(const cip_b2_state *u, const cip_b2_places *p, cip_revision *r,
                               uint64_t *cbytes, cip_err *err);
/* The file with header, index and trailer, anew and the switch; *as is to be filled. */
cip_status cip_b2_sparse_index_file(const cip_b2_state *u, cip_revision *r, cip_revision **as,
                                    cip_err *err);

#endif
