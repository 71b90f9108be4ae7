/* SPDX-License-Identifier: BSD-3-Clause
 * Quantized floats as ASDF 0.1 has them ("quantize"): chunks of a header (bits, offset, scale,
 * number of values; big-endian, 25 bytes) and packed two's complement integers, most significant
 * bit first. decoded = encoded * scale + offset, in double. */
#ifndef CIP_CODEC_QUANTIZE_H
#define CIP_CODEC_QUANTIZE_H

#include "codec/codec.h"

enum { CIP_QUANTIZE_HEAD = 25, CIP_QUANTIZE_BITS_MAX = 64 };

typedef struct cip_quantize_head {
    uint8_t bits; /* 0: every value is `offset` */
    double offset, scale;
    uint64_t n; /* values */
} cip_quantize_head;

/* How values are decoded. */
typedef struct cip_quantize_args {
    bool wide; /* to float64, else float32 */
    bool big;
} cip_quantize_args;

/* A chunk's header. TRUNCATED; CORRUPT for more than 64 bits or more values than 2^63 bits hold. */
cip_status cip_quantize_head_parse(cip_bytes in, cip_quantize_head *out, cip_err *err);
void cip_quantize_head_bytes(const cip_quantize_head *h, uint8_t out[CIP_QUANTIZE_HEAD]);
/* Bytes of the packed values behind the header. */
uint64_t cip_quantize_payload(const cip_quantize_head *h);
/* Decodes one chunk, header and all (args: cip_quantize_args); decode_spans for a part of it. */
extern const cip_codec cip_codec_quantize;

#endif
