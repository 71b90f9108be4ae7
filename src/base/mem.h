/* SPDX-License-Identifier: BSD-3-Clause
 * Memory that is counted: what an open file holds, through the caller's allocator, under
 * cip_limits.max_memory. Thread-safe. The test allocator fails the n-th call through it. */
#ifndef CIP_BASE_MEM_H
#define CIP_BASE_MEM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cippus/options.h"

typedef struct cip_mem {
    cip_allocator from;    /* resize is never NULL after cip_mem_init */
    uint64_t limit;        /* bytes */
    _Atomic uint64_t used; /* bytes */
} cip_mem;

/* `from` NULL: the C library's. `limit` 0: none. */
void cip_mem_init(cip_mem *m, const cip_allocator *from, uint64_t limit);

/* n bytes, uninitialised, aligned for any type; *out is NULL on failure. n may be 0 (a non-NULL
 * pointer). LIMIT names the number of bytes needed; NOMEM when the allocator has none. */
cip_status cip_mem_get(cip_mem *m, size_t n, void **out, cip_err *err);
/* n zeroed items of `each` bytes; the product is checked. */
cip_status cip_mem_zeroed(cip_mem *m, size_t n, size_t each, void **out, cip_err *err);
/* Grows or shrinks; on failure *ptr is unchanged. *ptr NULL: as cip_mem_get. */
cip_status cip_mem_resize(cip_mem *m, void **ptr, size_t n, cip_err *err);
/* Room for one item more in a list of n items of `each` bytes that has it for *cap: twice as many,
 * if need be. */
cip_status cip_mem_room(cip_mem *m, void **list, size_t n, size_t *cap, size_t each, cip_err *err);
/* A copy of n bytes with a NUL after them. */
cip_status cip_mem_copy(cip_mem *m, const void *src, size_t n, char **out, cip_err *err);
/* NULL is fine. */
void cip_mem_put(cip_mem *m, void *ptr);

/* A zeroed handle that counts its own memory, which it is no part of, from `from` (NULL: the C
 * library's); and back to it: `from` may lie in the handle. */
cip_status cip_mem_handle(const cip_allocator *from, size_t size, void **out, cip_err *err);
void cip_mem_handle_free(const cip_allocator *from, void *handle);

/* Typed: CIP_NEW(m, &p, n, err) gives n zeroed *p, CIP_ROOM(m, &list, n, &cap, err) room for one
 * item more. */
#define CIP_NEW(m, pp, n, err) cip_mem_zeroed((m), (n), sizeof **(pp), (void **)(pp), (err))
#define CIP_ROOM(m, pp, n, cap, err)                                                               \
    cip_mem_room((m), (void **)(pp), (n), (cap), sizeof **(pp), (err))

#endif
