/* SPDX-License-Identifier: BSD-3-Clause
 * Bounds on what a file may make the library do, and where its memory comes from. */
#ifndef CIPPUS_LIMITS_H
#define CIPPUS_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "cippus/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bounds on hostile input. A field that is zero means its default; so does NULL for the whole. */
typedef struct cip_limits {
    size_t size;             /* sizeof(cip_limits), so that fields can be appended */
    uint64_t max_memory;     /* bytes held at any time for one open file (2 GiB) */
    uint64_t max_cache;      /* bytes of decoded chunks kept between reads (64 MiB) */
    uint64_t max_tree_bytes; /* length of the text of a metadata tree (256 MiB) */
    uint64_t max_nodes;      /* nodes of a metadata tree (16 million) */
    uint32_t max_depth;      /* nesting of a metadata tree (256) */
    uint32_t max_directives; /* YAML directives (64) */
    uint64_t max_work;       /* sum of nesting depth over all events of a tree (2^28) */
    uint64_t max_expansion;  /* nodes printed or visited through aliases and merge keys (2^24) */
    uint64_t max_blocks;     /* blocks or chunks listed one by one (2^24) */
    uint64_t max_elements;   /* elements that one streaming call may produce; 0: as many as make
                                2^17 bytes for each byte of the file, and 4 GiB in any case */
    uint32_t max_external;   /* external files opened for one file (1024) */
    uint32_t reserved;       /* 0 */
} cip_limits;

#define CIP_LIMITS_INIT                                                                            \
    {                                                                                              \
        sizeof(cip_limits), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                     \
    }

/** Memory for everything that an open file owns. `resize` works like realloc with both sizes
 *  given (new_size 0 frees and returns NULL) and may be called from any thread. */
typedef struct cip_allocator {
    void *(*resize)(void *user, void *ptr, size_t old_size, size_t new_size);
    void *user;
} cip_allocator;

#ifdef __cplusplus
}
#endif
#endif
