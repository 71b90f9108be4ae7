/* SPDX-License-Identifier: BSD-3-Clause
 * Checksums over bytes given piece by piece. */
#ifndef CIP_CODEC_CHECKSUM_H
#define CIP_CODEC_CHECKSUM_H

#include "base/mem.h"

typedef enum cip_sum_id { CIP_SUM_NONE = 0, CIP_SUM_MD5 = 1, CIP_SUM_XXH3_128 = 2 } cip_sum_id;

enum { CIP_SUM_MAX = 32 }; /* bytes of the longest */

typedef struct cip_sum cip_sum;

/* A running checksum, of CIP_SUM_MD5 or CIP_SUM_XXH3_128; NOMEM, LIMIT or UNSUPPORTED. Not shared
 * between threads. */
cip_status cip_sum_new(cip_mem *mem, cip_sum_id id, cip_sum **out, cip_err *err);
void cip_sum_add(cip_sum *s, const void *p, size_t n);
/* Writes cip_sum_size(id) bytes, most significant first; the checksum starts anew. */
void cip_sum_take(cip_sum *s, uint8_t *out);
void cip_sum_free(cip_sum *s); /* NULL is fine */
/* Bytes of the result, 0 for none and unknown ones; "md5", "xxh3-128" or "none". */
size_t cip_sum_size(cip_sum_id id);
const char *cip_sum_name(cip_sum_id id);

#endif
