/* SPDX-License-Identifier: BSD-3-Clause
 * An array as a Zarr v2 array whose chunks are bytes of a file: how it is cut and decoded. */
#ifndef CIP_CORE_REFS_ARRAY_H
#define CIP_CORE_REFS_ARRAY_H

#include "cippus/ext/chunk.h"
#include "core/handle.h"
#include "space/read/chunk_list.h"

/* The codec of all chunks of an array, as numcodecs or cippus.zarr_codecs name it. */
typedef enum cip_refs_codec {
    CIP_REFS_RAW,
    CIP_REFS_ZLIB,
    CIP_REFS_BZ2,
    CIP_REFS_ZSTD,
    CIP_REFS_LZ4,      /* with its length before it: from 4 bytes before the chunk on */
    CIP_REFS_LZ4_BARE, /* a block without any header */
    CIP_REFS_LZ4_ASDF, /* all pieces of an ASDF block as one chunk: from 8 bytes before the first */
    CIP_REFS_BLOSC1,
    CIP_REFS_BLOSC
} cip_refs_codec;

typedef struct cip_refs_form {
    const cip_array *array;
    const cip_dtype *dtype; /* of what is referred to */
    cip_chunk_list list;
    cip_refs_codec codec;
    int ndim;
    int64_t shape[CIP_MAX_NDIM], chunk[CIP_MAX_NDIM];
    bool f_order;
    int axis;            /* along which linear data are cut */
    uint64_t row_nbytes; /* of one step along it */
    uint64_t nbytes;     /* of all elements */
    uint64_t origin;     /* raw data: where the first element lies in the only chunk */
    uint64_t pad;        /* a decoded chunk becomes as long: the last one is shorter; 0: none is */
    bool grid;           /* chunks of an n-d grid */
    bool reorder;        /* their elements are in blocks, or in a larger shape */
    int64_t padded[CIP_MAX_NDIM], block[CIP_MAX_NDIM];
} cip_refs_form;

/* How the array can be referred to; UNSUPPORTED with the reason where it cannot. */
cip_status cip_refs_form_make(const cip_array *a, cip_refs_form *out, cip_err *err);
/* The whole array as one chunk that holds its values in C order, little-endian. */
cip_status cip_refs_form_inline(const cip_array *a, cip_refs_form *out, cip_err *err);
/* The text of .zarray. */
cip_status cip_refs_zarray(const cip_refs_form *f, cip_buf *out, cip_err *err);

/* A chunk for the receiver of cip_refs_chunks: its place, or else the bytes themselves. */
typedef struct cip_refs_chunk {
    const int64_t *index; /* in Zarr's grid, ndim of them */
    const char *member;
    uint64_t offset, nbytes;
    cip_bytes bytes; /* ptr NULL: at offset */
} cip_refs_chunk;

typedef cip_status cip_refs_chunk_fn(void *arg, const cip_refs_chunk *chunk, cip_err *err);
/* Tells all chunks; UNSUPPORTED for what the form did not show. */
cip_status cip_refs_chunks(const cip_refs_form *f, cip_refs_chunk_fn *fn, void *arg, cip_err *err);

#endif
