/* SPDX-License-Identifier: BSD-3-Clause
 * One chunk as a form stores it, from its elements. Private to src/space. */
#ifndef CIP_SPACE_CHUNK_MAKE_H
#define CIP_SPACE_CHUNK_MAKE_H

#include "array/cast.h"
#include "space/layout/form.h"

/* What is the same for all chunks of an array. Buffer sizes are for one chunk. */
typedef struct cip_chunk_maker {
    cip_mem *mem;
    const cip_array_form *form; /* borrowed */
    cip_codec_env codec_env;
    cip_cast as_is;    /* grids: elements are moved without a change */
    size_t raw;        /* elements in C order: the grid's `chunk`, or the longest linear chunk */
    size_t arranged;   /* as the steps take them: `stored`, padded; 0: they take them in C order */
    size_t encoded[2]; /* what steps encode to, in turn; 0: not needed */
} cip_chunk_maker;

/* A chunk's elements. `raw` may be the caller's memory; the others are buffers of the maker's
 * sizes. */
typedef struct cip_chunk_work {
    cip_bytes raw;                /* lent: its first element, and the maker's `raw` */
    bool lent;                    /* elements lie at `stride`; for makers with `arranged` */
    int64_t stride[CIP_MAX_NDIM]; /* bytes */
    int64_t coord[CIP_MAX_NDIM];  /* grids: in the chunk grid */
    int64_t valid[CIP_MAX_NDIM];  /* and how much of each axis is of the array */
    uint8_t *arranged, *encoded[2];
} cip_chunk_work;

/* The state that a chunk full of this element, of the form's dtype, has. */
cip_chunk_state cip_chunk_state_of(const cip_array_form *form, const uint8_t *elem);
/* `longest`: raw bytes of the longest linear chunk. UNSUPPORTED for a codec that cannot encode;
 * LIMIT for chunks that are too long. */
cip_status cip_chunk_maker_init(cip_chunk_maker *m, cip_mem *mem, const cip_array_form *form,
                                uint64_t longest, cip_err *err);
/* The end of it: out->bytes, elements as the steps take them, through the steps, and their sum. */
cip_status cip_chunk_encode(const cip_chunk_maker *m, cip_chunk_work *w, bool own,
                            cip_chunk_in *out, cip_err *err);
/* Fills *out (its run is 1), which points into the work's buffers or its raw bytes; own: only into
 * its `encoded` ones. Many threads may make chunks of one maker. */
cip_status cip_chunk_make(const cip_chunk_maker *m, cip_chunk_work *w, bool own, cip_chunk_in *out,
                          cip_err *err);

#endif
