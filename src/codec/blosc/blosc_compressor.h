/* SPDX-License-Identifier: BSD-3-Clause
 * The compressors behind Blosc chunks, each with its contexts, which are kept from one stream to
 * the next and from one chunk to the next. */
#ifndef CIP_CODEC_BLOSC_BLOSC_PRESS_H
#define CIP_CODEC_BLOSC_BLOSC_PRESS_H

#include "codec/blosc/blosc.h"

/* Belongs to one thread. Zero-initialise with the memory it uses: { .mem = m }. */
typedef struct cip_blosc_compressor {
    cip_mem *mem; /* libdeflate's and libzstd's contexts are not counted in it */
    int compcode, level;
    const cip_blosc_spec *spec; /* borrowed */
    void *state;                /* the compressor's context */
    cip_bytes dict;             /* borrowed */
    void *primed;               /* what the dictionary became */
} cip_blosc_compressor;

/* Chooses the compressor and its level (1 where it is 0) for streams of chunks of that kind, which
 * cip_blosc_form_make let pass, until the next choice; drops the dictionary. A context that fits is
 * kept. UNSUPPORTED when the build lacks the compressor or none of them can be written. */
cip_status cip_blosc_compressors(cip_blosc_compressor *p, const cip_blosc_spec *spec, cip_err *err);
/* Whether the compressor in use takes dictionaries. */
bool cip_blosc_compressor_takes_dict(const cip_blosc_compressor *p);
/* A dictionary for all streams until the next cip_blosc_compressors; borrowed. */
cip_status cip_blosc_compressor_use_dict(cip_blosc_compressor *p, cip_bytes dict, cip_err *err);
/* One stream into at most cap bytes; *n 0: it does not fit. */
cip_status cip_blosc_compressor_run(cip_blosc_compressor *p, cip_bytes src, uint8_t *dst,
                                    size_t cap, size_t *n, cip_err *err);
void cip_blosc_compressor_clear(cip_blosc_compressor *p);

/* blosc_zfp.c: a block of floats as p->spec says. What zfp cannot hold is said not to fit: NaN,
 * infinities, and where an accuracy was asked for what would come back farther off. */
cip_status cip_blosc_zfp_encode(cip_blosc_compressor *p, cip_bytes src, uint8_t *dst, size_t cap,
                                size_t *n, cip_err *err);

/* blosc_ndlz_encode.c: one plane of bytes. */
typedef struct cip_ndlz_plane {
    const uint8_t *src; /* nrow * ncol */
    uint32_t nrow, ncol;
    size_t side; /* of a cell: 4 or 8 */
} cip_ndlz_plane;
/* *n 0: it does not fit in cap bytes. `table` holds CIP_BLOSCLZ_TABLE entries. */
void cip_ndlz_encode(const cip_ndlz_plane *plane, uint32_t *table, uint8_t *dst, size_t cap,
                     size_t *n);

/* A dictionary from samples that lie one after the other, of `each` bytes: at most cap bytes. 0:
 * none was found (too few samples, or a build without zstd, which makes them). */
size_t cip_blosc_train(cip_bytes samples, size_t each, uint8_t *dict, size_t cap);

#endif
