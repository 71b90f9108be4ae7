/* SPDX-License-Identifier: BSD-3-Clause
 * A map from byte strings to numbers with a keyed hash, so that a file cannot choose collisions. */
#ifndef CIP_BASE_STRMAP_H
#define CIP_BASE_STRMAP_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/mem.h"

typedef struct cip_strmap_slot cip_strmap_slot;

/* Zero-initialise with the memory it uses: cip_strmap m = { .mem = mem }. Keys are borrowed. */
typedef struct cip_strmap {
    cip_mem *mem;
    cip_strmap_slot *slots;
    size_t nslot, len;
    uint64_t key[2];
} cip_strmap;

/* Sets key -> value; *was (may be NULL) is the earlier value or SIZE_MAX. */
cip_status cip_strmap_put(cip_strmap *m, cip_bytes key, size_t value, size_t *was, cip_err *err);
/* The value, or SIZE_MAX when there is none. */
size_t cip_strmap_get(const cip_strmap *m, cip_bytes key);
/* The same of addresses, in a map of such; a key lies in the arena. */
cip_status cip_strmap_put_ptr(cip_strmap *m, cip_arena *a, const void *key, size_t value,
                              size_t *was, cip_err *err);
size_t cip_strmap_get_ptr(const cip_strmap *m, const void *key);
void cip_strmap_clear(cip_strmap *m);

/* SipHash-2-4 of the bytes. */
uint64_t cip_siphash(const uint64_t key[2], cip_bytes in);
/* 16 bytes from the system, made once per process. */
void cip_hash_seed(uint64_t key[2]);
/* Another number at each call, which no other process has: for names that nobody else uses. */
uint64_t cip_unique_number(void);

#endif
