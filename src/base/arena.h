/* SPDX-License-Identifier: BSD-3-Clause
 * Many small pieces freed together: trees, layouts. One thread at a time. */
#ifndef CIP_BASE_ARENA_H
#define CIP_BASE_ARENA_H

#include "base/mem.h"

typedef struct cip_arena_slab cip_arena_slab;

/* Zero-initialise with the memory it uses: cip_arena a = { .mem = m }. */
typedef struct cip_arena {
    cip_mem *mem;
    cip_arena_slab *slabs;
    uint8_t *next; /* free bytes of the newest slab */
    size_t left;
} cip_arena;

/* n bytes, uninitialised, aligned for any type. They live until cip_arena_clear. */
cip_status cip_arena_get(cip_arena *a, size_t n, void **out, cip_err *err);
cip_status cip_arena_zeroed(cip_arena *a, size_t n, size_t each, void **out, cip_err *err);
/* As cip_mem_room; the list that grew out of its place stays where it is. */
cip_status cip_arena_room(cip_arena *a, void **list, size_t n, size_t *cap, size_t each,
                          cip_err *err);
/* A copy of n bytes with a NUL after them. */
cip_status cip_arena_copy(cip_arena *a, const void *src, size_t n, char **out, cip_err *err);
cip_status cip_arena_printf(cip_arena *a, char **out, cip_err *err, const char *fmt, ...)
    CIP_PRINTF(4, 5);
void cip_arena_clear(cip_arena *a);

#define CIP_ARENA_NEW(a, pp, n, err) cip_arena_zeroed((a), (n), sizeof **(pp), (void **)(pp), (err))
#define CIP_ARENA_ROOM(a, pp, n, cap, err)                                                         \
    cip_arena_room((a), (void **)(pp), (n), (cap), sizeof **(pp), (err))

#endif
