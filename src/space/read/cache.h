/* SPDX-License-Identifier: BSD-3-Clause
 * Decoded chunks kept between reads: bounded bytes, keyed by (space, chunk, block), CLOCK, sharded
 * locks, pinned entries. A chunk that another thread is decoding is decoded privately. */
#ifndef CIP_SPACE_CACHE_H
#define CIP_SPACE_CACHE_H

#include <stdbool.h>

#include "base/cursor.h"
#include "base/env.h"

typedef struct cip_cache cip_cache;
typedef struct cip_cache_entry cip_cache_entry;

/* `max_bytes` 0: keeps nothing. */
cip_status cip_cache_new(cip_env *env, uint64_t max_bytes, cip_cache **out, cip_err *err);
void cip_cache_free(cip_cache *c);

typedef struct cip_cache_key {
    uint64_t space, chunk, block;
} cip_cache_key;

/* The bytes kept under the key, pinned, or NULL. Every result is given back with cip_cache_unpin.
 */
const uint8_t *cip_cache_get(cip_cache *c, cip_cache_key key, size_t *len, cip_cache_entry **pin);
/* The same; *times: how often the key was asked for this way not long ago, this time included, as
 * far as CIP_CACHE_TIMES. What is to be kept takes fresh memory, whose pages cost up to twice what
 * decoding into memory that is used again does: see who asks. */
enum { CIP_CACHE_TIMES = 3 };
const uint8_t *cip_cache_look(cip_cache *c, cip_cache_key key, size_t *len, cip_cache_entry **pin,
                              unsigned *times);
void cip_cache_unpin(cip_cache *c, cip_cache_entry *pin);
/* Bytes for the cache, from env->mem. `alone`: what is larger than all of the cache is kept too,
 * until the next entry takes its place. */
typedef struct cip_cache_data {
    uint8_t *bytes;
    size_t len;
    bool alone;
} cip_cache_data;
/* Takes them over, on failure too, and pins the entry; where there is no room or someone was faster
 * the bytes are only held until unpinned. *pin is never NULL on success. */
cip_status cip_cache_put(cip_cache *c, cip_cache_key key, cip_cache_data data,
                         cip_cache_entry **pin, cip_err *err);
/* Drops all that is not pinned: when memory is short. */
void cip_cache_drop(cip_cache *c);
/* Bytes held, for tests. */
uint64_t cip_cache_nbytes(cip_cache *c);
uint64_t cip_cache_max(const cip_cache *c);

#endif
