/* SPDX-License-Identifier: BSD-3-Clause
 * Buffers for stored and decoded bytes that are used again, so that their pages are not faulted in
 * anew for each chunk. Thread-safe. */
#ifndef CIP_SPACE_BUFFER_POOL_H
#define CIP_SPACE_BUFFER_POOL_H

#include "space/read/cache.h"

typedef struct cip_buffer_pool cip_buffer_pool;

/* A buffer of at least the bytes asked for. {NULL, 0} is none. */
typedef struct cip_pooled {
    uint8_t *ptr;
    size_t cap;
} cip_pooled;

struct cip_decoders;

/* `cache` and `decoders` are dropped when memory is short. */
cip_status cip_buffer_pool_new(cip_env *env, cip_cache *cache, struct cip_decoders *decoders,
                               cip_buffer_pool **out, cip_err *err);
void cip_buffer_pool_free(cip_buffer_pool *s);
/* n bytes, uninitialised; *out is none on failure. LIMIT, NOMEM: after what is kept for later use
 * was given back. */
cip_status cip_buffer_pool_take(cip_buffer_pool *s, size_t n, cip_pooled *out, cip_err *err);
/* Back, to be kept while not too much is; *r becomes none. */
void cip_buffer_pool_give(cip_buffer_pool *s, cip_pooled *r);
/* n bytes of env->mem that are the caller's to cip_mem_put; frees what is kept when short. */
cip_status cip_buffer_pool_get(cip_buffer_pool *s, size_t n, uint8_t **out, cip_err *err);

#endif
