/* SPDX-License-Identifier: BSD-3-Clause
 * numpy's .npz files: zip archives whose members are .npy files. */
#ifndef CIP_FORMAT_NPZ_H
#define CIP_FORMAT_NPZ_H

#include "format/npy/npy.h"
#include "io/zip.h"
#include "space/make/encode.h"

/* A member that is no folder. */
typedef struct cip_npz_member {
    const cip_zip_member *zip;
    cip_array *array;
    cip_npy_header *header; /* NULL: of bytes that are no .npy file, or are not read */
    uint64_t off;           /* where its stored bytes are */
    cip_space *stored;      /* they; NULL: they could not be found */
    cip_space *data;        /* all decoded bytes; NULL: they cannot be had */
    cip_space *checked;     /* the same, compared with their CRC-32 before they are read */
    cip_deflate_args deflate;
} cip_npz_member;

typedef struct cip_npz {
    cip_layout *layout;
    cip_zip zip;
    cip_npz_member *at; /* n of them, for each array of the layout one */
    size_t n;
} cip_npz;

/* A member that is to be written. */
typedef struct cip_npz_coming {
    cip_zip_member zip;
    cip_bytes head; /* of the .npy file */
    uint64_t data;  /* where its bytes begin in the output */
    uint64_t left;  /* bytes of data still to come */
} cip_npz_coming;

/* A member of which elements, or all, become others. */
typedef struct cip_npz_change {
    const cip_npz_member *m;
    const cip_chunk_changes *c;
    bool anew;        /* it is written again as a whole */
    cip_bytes head;   /* of the .npy file by then */
    cip_segment data; /* deflated: all that the member stores */
} cip_npz_change;

/* The store's state, of a new file or of one that is there. In the arena of its beginning. */
typedef struct cip_npz_state {
    cip_env *env;
    /* A new file: members go to its output one by one. */
    cip_out *out;
    const cip_spec *spec;
    cip_npz_coming *at; /* n of them */
    size_t n, cap;
    size_t next; /* the first that did not end */
    bool open;   /* it has begun */
    const cip_framing *framing;
    int level;
    cip_encoder *enc; /* of what is open */
    cip_sum *sum;
    /* A file that is there. */
    const cip_npz *old; /* NULL: a new one */
    cip_arena *arena;
    cip_io *temporary;
    cip_npz_change *change; /* nchange of them */
    size_t nchange, change_cap;
    cip_zip_member *now; /* the members by then, in the order of the directory */
} cip_npz_state;

/* npz_update.c: the store's functions for a file that is there. */
cip_status cip_npz_update_begin(const cip_store_begin *b, void **state, cip_err *err);
cip_status cip_npz_update_form(void *state, const cip_array *a, cip_change_kind kind,
                               const int64_t *shape, cip_change_form *out, cip_err *err);
cip_status cip_npz_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err);
cip_status cip_npz_update_finish(cip_npz_state *u, cip_revision *r, cip_err *err);

extern const cip_array_store cip_npz_store;
extern const cip_format cip_format_npz;

#endif
