/* SPDX-License-Identifier: BSD-3-Clause
 * numpy's .npy files: a short text header, then one array. */
#ifndef CIP_FORMAT_NPY_H
#define CIP_FORMAT_NPY_H

#include "format/format.h"

enum {
    CIP_NPY_PREAMBLE_MAX = 12,   /* magic, version, length of the header text */
    CIP_NPY_HEADER_MAX = 1 << 20 /* longer header texts are not read */
};

typedef struct cip_npy_preamble {
    uint8_t major, minor;
    uint32_t text_off, text_len; /* of the header text */
} cip_npy_preamble;

typedef struct cip_npy_header {
    cip_npy_preamble pre; /* set by `open` */
    const char *descr;    /* as written, NUL-terminated; without the quotes of a string */
    cip_bytes literal;    /* the same with quotes, as it goes into another header */
    const cip_dtype *dtype;
    cip_err
        why; /* UNSUPPORTED for types that are not read (Python objects: their data are a pickle,
                which may run any program); dtype then is a byte with the descr as its name */
    bool f_order;
    int32_t ndim;
    int64_t shape[CIP_MAX_NDIM];
} cip_npy_header;

/* The first bytes of a file of `total` bytes (all of them or CIP_NPY_PREAMBLE_MAX). `force`: later
 * versions are read like 3.0. FORMAT, UNSUPPORTED (version), TRUNCATED, LIMIT. */
cip_status cip_npy_preamble_read(cip_bytes in, uint64_t total, bool force, cip_npy_preamble *out,
                                 cip_err *err);
/* The header text, a Python dict of exactly descr, fortran_order and shape. `text` is UTF-8;
 * `base`: where it lies in the file, for errors. What is made lives in the arena. CORRUPT; LIMIT
 * for too deep nesting; UNSUPPORTED for over 64 dimensions. */
cip_status cip_npy_text_read(cip_arena *a, cip_bytes text, uint64_t base, cip_npy_header *out,
                             cip_err *err);

/* The header at the beginning of a space, which is not lazy: one of a file or a part of it, or what
 * a part decodes to. */
cip_status cip_npy_header_read(cip_layout *l, cip_space *in, cip_npy_header *h, cip_err *err);
/* Type, order, shape and data of the array (zeroed but for its path and layout), whose header and
 * data are all of the space `in` or what it begins with: TRUNCATED, CORRUPT. One of h->why is
 * refused. */
cip_status cip_npy_array_fill(cip_array *a, const cip_npy_header *h, cip_space *in, cip_err *err);

/* Appends the text of cip_dtype_numpy as Python's repr writes it, in UTF-8. */
cip_status cip_npy_repr(cip_buf *out, const char *descr, cip_err *err);

/* Appends a header of the literal, order and shape, magic to line feed, as numpy.save (2.x) writes
 * it; if the text fits into the room that the preamble h->pre names (text_len 0: there is none), of
 * its version and length. UNSUPPORTED for a longer one than can be stored, or read again. */
cip_status cip_npy_header_write(cip_env *env, const cip_npy_header *h, cip_buf *out, cip_err *err);

/* npy_write.c: appends the header of a new file of the array, whose elements are stored as such;
 * and what of the arrays gets lost, `who` being the files that have no masks. */
cip_status cip_npy_head(cip_env *env, const cip_spec_array *a, const cip_dtype *stored,
                        cip_arena *arena, cip_buf *out, cip_err *err);
void cip_npy_tell_lost(const cip_spec *spec, const char *who, cip_report *loss);

/* The store's state, of a new file or of one that is there. In the arena of its beginning. */
typedef struct cip_npy_state {
    cip_env *env;
    cip_layout *l; /* the file as it is; NULL: a new one */
    /* A new file: data go to its output as they come. */
    cip_out *out;
    uint64_t left; /* bytes of data still to come */
    /* A file that is there. */
    const cip_chunk_changes *c; /* NULL: none changed */
} cip_npy_state;

/* npy_update.c: the store's functions for a file that is there. */
cip_status cip_npy_update_begin(const cip_store_begin *b, void **state, cip_err *err);
cip_status cip_npy_update_form(void *state, const cip_array *a, cip_change_kind kind,
                               const int64_t *shape, cip_change_form *out, cip_err *err);
cip_status cip_npy_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err);
cip_status cip_npy_update_finish(cip_npy_state *u, cip_revision *r, cip_err *err);

extern const cip_array_store cip_npy_store;
extern const cip_format cip_format_npy;

#endif
