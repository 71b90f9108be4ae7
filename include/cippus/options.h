/* SPDX-License-Identifier: BSD-3-Clause
 * Limits, allocators, and options structs, which are filled in the call: CIP_OPEN_OPTIONS(.threads
 * = 1), in C and in C++. */
#ifndef CIPPUS_OPTIONS_H
#define CIPPUS_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

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

/* Callbacks: `user` is their first argument. It is the field `user` of the same options struct (one
 * for all callbacks of a struct), or the argument after the callback. Callbacks run during the call
 * that received them, in one thread at a time, but perhaps not the caller's. Their arguments are
 * borrowed until they return. A nonzero result ends the call with CANCELLED, as soon as it can,
 * unless the callback's type says otherwise. They may use the library, but of the file or change
 * that the call works on only getters. They may not leave by longjmp or an exception. */

/* The struct lives until the end of the enclosing block in C, of the full expression in C++. Its
 * `size` says which version of the struct the caller was compiled with; 0 is refused with ARG. */
#ifdef __cplusplus
#pragma GCC system_header /* the fields that a caller leaves out are no fault of theirs */
template <class T> inline const T *cip_address_of(const T &t)
{
    return &t;
}
#define CIP_OPTIONS(type, ...) (cip_address_of(type{ .size = sizeof(type), __VA_ARGS__ }))
#else
#define CIP_OPTIONS(type, ...) (&(const type){ .size = sizeof(type), __VA_ARGS__ })
#endif

/* Texts with NULL after them: .format_options = CIP_TEXTS("encode=[zlib]"). In C++, which has no
 * arrays without a name, an array of the caller's. */
#ifndef __cplusplus
#define CIP_TEXTS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#endif

#endif
