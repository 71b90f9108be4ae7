/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays through encoding chains of ASDF 0.1 on their way into a block. */
#ifndef CIP_FORMAT_ASDF_CHAIN_WRITE_H
#define CIP_FORMAT_ASDF_CHAIN_WRITE_H

#include "format/asdf/chain/asdf_chain.h"

/* The array whose bytes, packed in C order, are encoded. Borrowed. */
typedef struct asdf_encoded {
    int32_t ndim;
    const int64_t *shape;
    const cip_dtype *dtype; /* as it is stored */
} asdf_encoded;

/* A chain that a caller gives as text. ARG for one that is none; UNSUPPORTED for an unknown
 * encoding. Nodes live in `a`. */
cip_status cip_asdf_chain_given(cip_env *env, cip_arena *a, const char *text, asdf_chain *out,
                                cip_err *err);
/* UNSUPPORTED: an array that is inline, or else streamed, has no chain. */
cip_status cip_asdf_chain_has_no_place(bool inlined, cip_err *err);
/* The first step of a kind, or NULL. */
const asdf_step *cip_asdf_chain_find(const asdf_chain *c, asdf_step_kind kind);
/* A step's tile for the array: axes that it does not name are taken whole. */
void cip_asdf_full_tile(const asdf_step *s, const asdf_encoded *of, int64_t *tile);
/* Whether what is decoded may differ from what was encoded. */
bool cip_asdf_chain_is_lossy(const asdf_chain *c);
/* Whether it is a chain for the array: no more lengths of a tile than axes, quantize for floats,
 * codecs that encode, no tiles of tiles. ARG or UNSUPPORTED. */
cip_status cip_asdf_chain_check(const asdf_chain *c, const asdf_encoded *of, cip_err *err);
/* The chain without what only floats can go through: for a mask. */
void cip_asdf_chain_lossless(const asdf_chain *c, asdf_chain *out);
/* The YAML in front of a payload, end marker included: arguments as they are given, and those that
 * a reader needs: a tile's whole shape, original_shape, item_size, dtype. */
cip_status cip_asdf_chain_text(cip_env *env, const asdf_chain *c, const asdf_encoded *of,
                               cip_buf *out, cip_err *err);

/* --- asdf_chain_write.c: what goes through ---------------------------------------------------- */

typedef struct asdf_chainw asdf_chainw;

/* Encodes to `out`, which is borrowed, as are chain and array. level: of zlib, 0 its default. */
cip_status cip_asdf_chainw_new(cip_env *env, const asdf_chain *c, const asdf_encoded *of, int level,
                               cip_out *out, asdf_chainw **w, cip_err *err);
/* n bytes more; where the chain quantizes whole values, and RANGE for one that is no finite number,
 * with its place in the array. */
cip_status cip_asdf_chainw_write(asdf_chainw *w, const void *p, size_t n, cip_err *err);
/* Ends it; *worst is the largest |decoded - original|. ARG when elements are missing. */
cip_status cip_asdf_chainw_finish(asdf_chainw *w, double *worst, cip_err *err);
/* NULL is fine. */
void cip_asdf_chainw_free(asdf_chainw *w);

#endif
