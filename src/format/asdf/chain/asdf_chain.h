/* SPDX-License-Identifier: BSD-3-Clause
 * Encoding chains of ASDF 0.1 (docs/formats/asdf-0.1.md; "Block encoding" of the 0.1 document): the
 * YAML in front of an encoded block's bytes, taken apart, as spaces in spaces, and put together. */
#ifndef CIP_FORMAT_ASDF_CHAIN_H
#define CIP_FORMAT_ASDF_CHAIN_H

#include "codec/quantize.h"
#include "format/asdf/asdf.h"

enum {
    ASDF_CHAIN_STEPS = 8,           /* more are refused */
    ASDF_CHAIN_TEXT_MAX = 64 << 10, /* bytes of its YAML */
    ASDF_QUANTIZE_QUALITY = 4       /* where none is given */
};

typedef enum asdf_step_kind {
    ASDF_STEP_TILE = 1, /* array to array */
    ASDF_STEP_QUANTIZE, /* array to binary */
    ASDF_STEP_CODEC     /* binary to binary: zlib, or one that an application registered */
} asdf_step_kind;

/* One step, as written: applied in order to encode, in reverse order to decode. */
typedef struct asdf_step {
    asdf_step_kind kind;
    const char *name;
    const cip_node *args;        /* the mapping as it stands, or NULL */
    const cip_codec *codec;      /* CODEC */
    const void *codec_args;      /* CODEC: for it */
    int32_t ndim;                /* TILE: entries of shape */
    int64_t shape[CIP_MAX_NDIM]; /* TILE */
    bool has_original;           /* original_shape is there */
    int32_t original_ndim;
    int64_t original[CIP_MAX_NDIM];
    uint64_t item_size; /* TILE; 0: not told */
    int dtype;          /* QUANTIZE: 32 or 64; 0: not told */
    double quality;     /* QUANTIZE, writing: > 0, or 0 with `bits` */
    int bits;           /* QUANTIZE, writing: bits of every value, 1 to 64, or 0 */
} asdf_step;

typedef struct asdf_chain {
    size_t n; /* 0: identity */
    asdf_step step[ASDF_CHAIN_STEPS];
} asdf_chain;

/* What the arrays that use a block say of it, where the chain itself says too little. */
typedef struct asdf_chain_hint {
    int32_t ndim; /* -1: nothing is known */
    const int64_t *shape;
    uint64_t float_size; /* of an element that is a float, or 0 */
    bool big;            /* order of decoded floats */
} asdf_chain_hint;

/* Takes a chain apart: a list of names and [name, {args}] pairs, or a bare name. CORRUPT for what
 * is no chain or has its steps in an order that does not fit; UNSUPPORTED for an unknown encoding,
 * with its name. Nodes are borrowed. */
cip_status cip_asdf_chain_parse(cip_env *env, cip_arena *a, const cip_node *root, asdf_chain *out,
                                cip_err *err);
/* The same from YAML text such as "[[tile, {shape: [32, 32]}], zlib]", to write by: CORRUPT for a
 * wrong quality or bits, which reading leaves alone. Nodes live in `a`. */
cip_status cip_asdf_chain_read(cip_env *env, cip_arena *a, cip_bytes text, asdf_chain *out,
                               cip_err *err);
/* How many of the payload's first bytes are the chain's YAML, end marker included. CORRUPT when
 * there is no end within ASDF_CHAIN_TEXT_MAX bytes. */
cip_status cip_asdf_chain_len(cip_bytes payload, size_t *len, cip_err *err);
/* The decoded space, of raw_len bytes, of `stored`: the payload behind the YAML. */
cip_status cip_asdf_chain_space(const asdf_chain *chain, cip_space *stored, uint64_t raw_len,
                                const asdf_chain_hint *hint, cip_space **out, cip_err *err);

/* --- asdf_quantize.c ------------------------------------------------------------------------- */

/* The space of `len` bytes of floats that the chunks in `below` decode to. Their headers are walked
 * once, when it is first needed: CORRUPT then for one that claims more than is there, or when they
 * hold fewer values. What they hold beyond is left alone, a rest that is no header is warned of. */
cip_status cip_asdf_quantize_space(cip_layout *l, cip_space *below, uint64_t len,
                                   cip_quantize_args args, cip_space **out, cip_err *err);

/* What the arrays say of a block. */
typedef struct asdf_user {
    asdf_chain_hint hint;
    int64_t shape[CIP_MAX_NDIM];
    uint64_t itemsize;
    bool covers; /* the array has all bytes of the block */
    int tries;   /* arrays looked at */
} asdf_user;

/* --- asdf_encoded.c ------------------------------------------------------------------------- */

/* The YAML in front of an encoded block's payload, end marker included, read into `a`. CORRUPT as
 * cip_asdf_chain_len. */
cip_status cip_asdf_chain_stored(const asdf_file *f, const asdf_block *b, cip_arena *a,
                                 cip_bytes *out, cip_err *err);
/* Fills codec and data of an encoded block, which is whole, from its chain. Any failure but NOMEM
 * is the block's. */
cip_status cip_asdf_make_encoded(asdf_file *f, size_t i, cip_block *cb, cip_err *err);
/* The same for a block whose compression code the application knows. */
cip_status cip_asdf_make_coded(asdf_file *f, size_t i, const cip_codec_methods *m, cip_block *cb,
                               cip_err *err);

#endif
