/* SPDX-License-Identifier: BSD-3-Clause
 * Writing frames: how one is to be stored, and its parts as bytes. */
#ifndef CIP_FORMAT_BLOSC2_WRITE_H
#define CIP_FORMAT_BLOSC2_WRITE_H

#include "format/blosc2/blosc2.h"

/* --- blosc2_how.c: what is asked for ---------------------------------------------------------- */

typedef struct cip_b2_how {
    bool plain;  /* a list of items, without the metalayer b2nd */
    bool bare;   /* plain: one chunk without a frame */
    bool sparse; /* in a folder, a file for each chunk */
    bool takes;  /* nothing was asked of codec and filters: chunks may stay as they are stored */
    cip_blosc_spec blosc;
    cip_b2_nd nd;        /* not plain */
    uint64_t chunk_size; /* decoded bytes of a chunk, padding included; at most a Blosc chunk's */
    uint64_t block_size; /* not plain: bytes of a block */
    uint64_t nchunk;
    uint64_t nbytes; /* decoded, of all chunks */
} cip_b2_how;

extern const cip_format_option cip_b2_options[];
extern const cip_format_kind cip_b2_kinds[];

/* Names what the frame cannot hold of the array: type, axes, values that filters change. */
void cip_b2_check_array(const cip_spec *spec, const cip_spec_array *a, cip_report *loss);
/* Whether no frame is wanted, but a chunk. */
bool cip_b2_is_bare(const cip_spec *spec);
/* Whether the frame is to be a folder. */
bool cip_b2_is_sparse(const cip_spec *spec);
/* The frame that all of the only array lies in, or NULL. */
const cip_b2_frame *cip_b2_frame_of(const cip_spec *spec);
/* Of the only array of the spec, whose elements are stored as `d`. The arena keeps texts. ARG and
 * UNSUPPORTED for options, types and shapes that Blosc2 does not have. */
cip_status cip_b2_choose(const cip_spec *spec, const cip_dtype *d, cip_arena *arena,
                         cip_b2_how *out, cip_err *err);
/* Of new chunks in the frame `f`, which all of the only array of the spec lies in: its own chunks
 * and blocks (where it has none yet: as for a new frame), and its codec and filters where no others
 * are asked for. */
cip_status cip_b2_choose_again(const cip_spec *spec, const cip_b2_frame *f, cip_b2_how *out,
                               cip_err *err);
/* Another shape of a list of one axis, or of an n-d array: how many chunks and bytes that makes. */
cip_status cip_b2_how_reshape(cip_b2_how *how, const int64_t *shape, uint64_t item, cip_err *err);

/* --- blosc2_shape.c: chunks and blocks -------------------------------------------------------- */

/* Shapes of chunks and blocks for an array of `nd->shape` with items of `item` bytes; those of
 * chunk and block that are given (first entry not 0) stay. Blocks are at least `least` long along
 * each axis, over the array's end if need be, but not over that of chunks that are given. */
void cip_b2_choose_shapes(cip_b2_nd *nd, uint64_t item, int64_t least);

/* --- blosc2_write_frame.c: fields to bytes ---------------------------------------------------- */

/* The fixed part of a header: version 2, with what `h` says. */
void cip_b2_header_write(const cip_b2_header *h, bool vlmeta, uint8_t out[CIP_B2_HEADER_MIN]);
/* Appends the metalayers: of the header, which `out` holds so far, or of a trailer. */
cip_status cip_b2_metas_write(cip_buf *out, const cip_b2_metas *m, bool in_trailer, cip_err *err);
/* Appends the value of the metalayer b2nd. */
cip_status cip_b2_nd_write(cip_buf *out, const cip_b2_nd *nd, cip_err *err);
/* The entry in the index of a chunk without data; 0: it has data. `bytes`: as it is stored, as far
 * as they are at hand (a head is enough, of a chunk of `len` bytes). */
uint64_t cip_b2_special_entry(uint8_t state, const uint8_t *bytes, uint64_t len);
/* Appends a chunk of raw_len bytes that repeats a value of `item` bytes. */
cip_status cip_b2_value_write(cip_buf *out, const cip_blosc_spec *how, uint64_t item,
                              const uint8_t *value, uint64_t raw_len, cip_err *err);
/* Appends n equal entries as the index has them before it is encoded. */
cip_status cip_b2_entries_add(cip_buf *out, uint64_t entry, uint64_t n, cip_err *err);
/* Appends the index chunk of n offsets, as they are stored. */
cip_status cip_b2_index_write(cip_env *env, const uint8_t *offsets, uint64_t n, cip_buf *out,
                              cip_err *err);
/* Appends a trailer. */
cip_status cip_b2_trailer_write(cip_buf *out, const cip_b2_metas *m, cip_err *err);

/* --- blosc2_write_tree.c: metadata ------------------------------------------------------------ */

/* What of the spec's tree a frame keeps, without the metalayer b2nd; values as they are stored, in
 * the arena. Or, with `loss`, what is lost is told, and the values are no more than tried. */
cip_status cip_b2_keep_tree(const cip_spec *spec, cip_arena *a, cip_b2_metas *meta,
                            cip_b2_metas *vlmeta, cip_report *loss, cip_err *err);
/* Tells (notes NULL: nobody) of so many vlmetalayers that the peer cannot change the frame. */
void cip_b2_tell_many(cip_report *notes, size_t vlmetalayers);
/* Whether a metalayer of this name makes python-blosc2 take a frame for something else than its
 * array. */
bool cip_b2_is_object(const char *name, size_t n);
/* The chunk that a vlmetalayer stores a value as, in the arena. */
cip_status cip_b2_value_encode(cip_arena *a, cip_bytes raw, cip_bytes *value, cip_err *err);

extern const cip_array_store cip_b2_store;

#endif
