/* SPDX-License-Identifier: BSD-3-Clause
 * Buffers for stored and decoded bytes that are used again, so that their pages are not faulted in
 * anew for each chunk. Thread-safe. */
#ifndef CIP_SPACE_SPACE_SCRATCH_H
#define CIP_SPACE_SPACE_SCRATCH_H

#include "space/cache.h"

typedef struct cip_scratch cip_scratch;

/* A buffer of at least the bytes asked for. {NULL, 0} is none. */
typedef struct cip_room {
    uint8_t *ptr;
    size_t cap;
} cip_room;

struct cip_decoders;

/* `cache` and `decoders` are dropped when memory is short. */
cip_status cip_space_scratch_new(cip_env *env, cip_cache *cache, struct cip_decoders *decoders,
                                 cip_scratch **out, cip_err *err);
void cip_scratch_free(cip_scratch *s);
/* n bytes, uninitialised; *out is none on failure. LIMIT, NOMEM: after what is kept for later use
 * was given back. */
cip_status cip_scratch_take(cip_scratch *s, size_t n, cip_room *out, cip_err *err);
/* Back, to be kept while not too much is; *r becomes none. */
void cip_scratch_give(cip_scratch *s, cip_room *r);
/* n bytes of env->mem that are the caller's to cip_mem_put; frees what is kept when short. */
cip_status cip_scratch_get(cip_scratch *s, size_t n, uint8_t **out, cip_err *err);

#endif
