/* SPDX-License-Identifier: BSD-3-Clause
 * Checksums over bytes given piece by piece. */
#ifndef CIP_CODEC_CHECKSUM_H
#define CIP_CODEC_CHECKSUM_H

#include "base/cursor.h"
#include "base/mem.h"

typedef enum cip_sum_id {
    CIP_SUM_NONE = 0,
    CIP_SUM_MD5,
    CIP_SUM_XXH3_128,
    CIP_SUM_ADLER32,
    CIP_SUM_CRC32,
    CIP_SUM_SHA1,
    CIP_SUM_SHA224,
    CIP_SUM_SHA256,
    CIP_SUM_SHA384,
    CIP_SUM_SHA512
} cip_sum_id;

enum { CIP_SUM_MAX = 64 }; /* bytes of the longest */

typedef struct cip_sum cip_sum;

/* A running checksum of any kind but NONE; NOMEM, LIMIT or UNSUPPORTED. Not shared between threads.
 */
cip_status cip_sum_new(cip_mem *mem, cip_sum_id id, cip_sum **out, cip_err *err);
void cip_sum_add(cip_sum *s, const void *p, size_t n);
/* Writes cip_sum_size(id) bytes, most significant first; the checksum starts anew. */
void cip_sum_take(cip_sum *s, uint8_t *out);
void cip_sum_free(cip_sum *s); /* NULL is fine */
/* Bytes of the result, 0 for none and unknown ones; "md5", "sha256", ... or "none". */
size_t cip_sum_size(cip_sum_id id);
const char *cip_sum_name(cip_sum_id id);
/* The sum of bytes at hand, as cip_sum_take gives it. */
cip_status cip_sum_of(cip_mem *mem, cip_sum_id id, cip_bytes in, uint8_t out[CIP_SUM_MAX],
                      cip_err *err);

/* The CRC-32 of data in which n bytes became others, `after` bytes before their end: from the one
 * that they had and those of the n bytes alone. It is right where that was, and else as wrong. */
uint32_t cip_crc32_changed(uint32_t crc, uint32_t was, uint32_t now, uint64_t after);

#endif
