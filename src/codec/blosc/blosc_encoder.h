/* SPDX-License-Identifier: BSD-3-Clause
 * Encoding chunks with working memory and contexts that are kept from one to the next. */
#ifndef CIP_CODEC_BLOSC_BLOSC_ENCODER_H
#define CIP_CODEC_BLOSC_BLOSC_ENCODER_H

#include "codec/blosc/blosc_compressor.h"

/* What a chunk is going to look like: its parameters checked, its gaps filled in. */
typedef struct cip_blosc_form {
    cip_blosc_spec p;  /* filter_meta of bytedelta spelled out; blocksize as used */
    uint32_t nbytes;   /* raw */
    uint32_t typesize; /* as the header says it: 1 to 255 */
    uint32_t nblock;   /* of p.blocksize bytes, the last one maybe shorter */
    uint32_t header;   /* its length: 16 or 32 */
    bool split;        /* a block is typesize streams; the last one never, if it is shorter */
} cip_blosc_form;

/* What a header says beyond its form. */
typedef struct cip_blosc_marks {
    bool memcpyed, dict;
    cip_blosc_special special;
    uint32_t vl_blocks; /* how many blocks of their own lengths there are; 0: a regular chunk */
} cip_blosc_marks;

/* ARG when the parameters do not fit each other or nbytes. */
cip_status cip_blosc_form_make(const cip_blosc_spec *p, uint64_t nbytes, cip_blosc_form *out,
                               cip_err *err);
/* Writes a header of form->header bytes for a chunk of cbytes. */
void cip_blosc_form_write(const cip_blosc_form *form, cip_blosc_marks marks, uint32_t cbytes,
                          uint8_t *dst);

typedef struct cip_blosc_buffer {
    void *ptr;
    size_t len;
} cip_blosc_buffer;

/* Belongs to one thread. Zero-initialise with the memory it uses: { .mem = m, .compressor.mem = m
 * }. */
typedef struct cip_blosc_encoder {
    cip_mem *mem;
    cip_blosc_compressor compressor;
    cip_blosc_buffer work[2]; /* a block between its filters */
    cip_blosc_buffer spare;   /* a stream that may not fit into the chunk */
    cip_blosc_buffer all;     /* the filtered chunk, and its dictionary */
} cip_blosc_encoder;

/* Makes the buffer hold n bytes; what was in it is lost. */
cip_status cip_blosc_buffer_ask(cip_mem *mem, cip_blosc_buffer *s, size_t n, cip_err *err);
/* A block through the form's filters: in one of the work buffers, or where it was if there are
 * none. `first`: block 0 as it is raw, NULL for block 0 itself. */
cip_status cip_blosc_encoder_filter(cip_blosc_encoder *e, const cip_blosc_form *form,
                                    cip_bytes block, const uint8_t *first, cip_bytes *out,
                                    cip_err *err);
/* As cip_blosc_encode. */
cip_status cip_blosc_encoder_run(cip_blosc_encoder *e, const cip_blosc_spec *p, cip_bytes raw,
                                 uint8_t *dst, size_t cap, size_t *n, cip_err *err);
void cip_blosc_encoder_clear(cip_blosc_encoder *e);

#endif
