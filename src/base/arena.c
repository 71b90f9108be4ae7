/* SPDX-License-Identifier: BSD-3-Clause
 * Slabs that double from 4 KiB to 1 MiB; a piece larger than that has a slab of its own. */
#include "base/arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

enum { FIRST_SLAB = 4096, LARGEST_SLAB = 1 << 20 };

struct cip_arena_slab {
    cip_arena_slab *older;
    size_t size; /* bytes after this header */
    max_align_t data[];
};

static cip_status add_slab(cip_arena *a, size_t n, cip_err *err)
{
    size_t size = a->slabs == NULL ? FIRST_SLAB : a->slabs->size * 2;
    if (size > LARGEST_SLAB)
        size = LARGEST_SLAB;
    if (size < n)
        size = n;
    size_t total;
    if (cip_add_overflow(size, sizeof(cip_arena_slab), &total))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a piece of %zu bytes", n);
    cip_arena_slab *slab = NULL;
    CIP_TRY(cip_mem_get(a->mem, total, (void **)&slab, err));
    slab->older = a->slabs;
    slab->size = size;
    a->slabs = slab;
    a->next = (uint8_t *)slab->data;
    a->left = size;
    return CIP_OK;
}

cip_status cip_arena_get(cip_arena *a, size_t n, void **out, cip_err *err)
{
    const size_t align = sizeof(max_align_t) < 16 ? sizeof(max_align_t) : 16;
    size_t room;
    *out = NULL;
    if (cip_add_overflow(n, align - 1, &room))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a piece of %zu bytes", n);
    room &= ~(align - 1);
    if (room > a->left || a->next == NULL)
        CIP_TRY(add_slab(a, room, err));
    *out = a->next;
    a->next += room;
    a->left -= room;
    return CIP_OK;
}

cip_status cip_arena_zeroed(cip_arena *a, size_t n, size_t each, void **out, cip_err *err)
{
    size_t total;
    *out = NULL;
    if (cip_mul_overflow(n, each, &total))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%zu items of %zu bytes", n, each);
    CIP_TRY(cip_arena_get(a, total, out, err));
    memset(*out, 0, total);
    return CIP_OK;
}

cip_status cip_arena_room(cip_arena *a, void **list, size_t n, size_t *cap, size_t each,
                          cip_err *err)
{
    size_t more;
    void *grown;
    if (n < *cap)
        return CIP_OK;
    if (cip_mul_overflow(*cap != 0 ? *cap : 4, (size_t)2, &more))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a list of over %zu items", n);
    CIP_TRY(cip_arena_zeroed(a, more, each, &grown, err));
    if (n != 0)
        memcpy(grown, *list, n * each);
    *list = grown;
    *cap = more;
    return CIP_OK;
}

cip_status cip_arena_copy(cip_arena *a, const void *src, size_t n, char **out, cip_err *err)
{
    size_t total;
    *out = NULL;
    if (cip_add_overflow(n, 1, &total))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a text of %zu bytes", n);
    CIP_TRY(cip_arena_get(a, total, (void **)out, err));
    if (n != 0)
        memcpy(*out, src, n);
    (*out)[n] = '\0';
    return CIP_OK;
}

cip_status cip_arena_printf(cip_arena *a, char **out, cip_err *err, const char *fmt, ...)
{
    va_list ap;
    *out = NULL;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "a text that cannot be formatted");
    CIP_TRY(cip_arena_get(a, (size_t)n + 1, (void **)out, err));
    va_start(ap, fmt);
    vsnprintf(*out, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return CIP_OK;
}

void cip_arena_clear(cip_arena *a)
{
    while (a->slabs != NULL) {
        cip_arena_slab *older = a->slabs->older;
        cip_mem_put(a->mem, a->slabs);
        a->slabs = older;
    }
    *a = (cip_arena){ .mem = a->mem };
}
