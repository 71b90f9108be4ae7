/* SPDX-License-Identifier: BSD-3-Clause
 * Counted memory. Each piece carries its size in front of it, so that freeing needs no size. */
#include "base/mem.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

/* In front of each piece; as large as the strictest alignment, so what follows is aligned too. */
typedef union piece {
    size_t total; /* bytes, this header included */
    max_align_t align;
} piece;

static void *libc_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

void cip_mem_init(cip_mem *m, const cip_allocator *from, uint64_t limit)
{
    m->from = from != NULL ? *from : (cip_allocator){ libc_resize, NULL };
    m->limit = limit != 0 ? limit : UINT64_MAX;
    atomic_init(&m->used, 0);
}

/* Counts `more` bytes in, or fails without counting them. */
static cip_status reserve(cip_mem *m, uint64_t more, cip_err *err)
{
    uint64_t was = atomic_fetch_add_explicit(&m->used, more, memory_order_relaxed);
    uint64_t now;
    if (!cip_add_overflow(was, more, &now) && now <= m->limit)
        return CIP_OK;
    atomic_fetch_sub_explicit(&m->used, more, memory_order_relaxed);
    return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                    "needs %" PRIu64 " bytes more than the %" PRIu64
                    " in use, which exceeds the memory limit of %" PRIu64,
                    more, was, m->limit);
}

static void release(cip_mem *m, uint64_t less)
{
    atomic_fetch_sub_explicit(&m->used, less, memory_order_relaxed);
}

cip_status cip_mem_resize(cip_mem *m, void **ptr, size_t n, cip_err *err)
{
    piece *old = *ptr == NULL ? NULL : (piece *)*ptr - 1;
    size_t was = old == NULL ? 0 : old->total;
    size_t total;
    if (cip_add_overflow(n, sizeof(piece), &total))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a request of %zu bytes", n);
    if (total > was)
        CIP_TRY(reserve(m, total - was, err));
    piece *p = m->from.resize(m->from.user, old, was, total);
    if (p == NULL) {
        if (total > was)
            release(m, total - was);
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for %zu bytes", n);
    }
    if (total < was)
        release(m, was - total);
    p->total = total;
    *ptr = p + 1;
    return CIP_OK;
}

cip_status cip_mem_get(cip_mem *m, size_t n, void **out, cip_err *err)
{
    *out = NULL;
    return cip_mem_resize(m, out, n, err);
}

cip_status cip_mem_zeroed(cip_mem *m, size_t n, size_t each, void **out, cip_err *err)
{
    size_t total;
    *out = NULL;
    if (cip_mul_overflow(n, each, &total))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%zu items of %zu bytes", n, each);
    CIP_TRY(cip_mem_get(m, total, out, err));
    memset(*out, 0, total);
    return CIP_OK;
}

cip_status cip_mem_room(cip_mem *m, void **list, size_t n, size_t *cap, size_t each, cip_err *err)
{
    size_t more, nbytes;
    if (n < *cap)
        return CIP_OK;
    if (cip_mul_overflow(*cap != 0 ? *cap : 4, (size_t)2, &more) ||
        cip_mul_overflow(more, each, &nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a list of over %zu items", n);
    CIP_TRY(cip_mem_resize(m, list, nbytes, err));
    *cap = more;
    return CIP_OK;
}

cip_status cip_mem_copy(cip_mem *m, const void *src, size_t n, char **out, cip_err *err)
{
    size_t total;
    *out = NULL;
    if (cip_add_overflow(n, 1, &total))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a text of %zu bytes", n);
    CIP_TRY(cip_mem_get(m, total, (void **)out, err));
    if (n != 0)
        memcpy(*out, src, n);
    (*out)[n] = '\0';
    return CIP_OK;
}

void cip_mem_put(cip_mem *m, void *ptr)
{
    if (ptr == NULL)
        return;
    piece *p = (piece *)ptr - 1;
    size_t total = p->total;
    m->from.resize(m->from.user, p, total, 0);
    release(m, total);
}

cip_status cip_mem_handle(const cip_allocator *from, size_t size, void **out, cip_err *err)
{
    cip_mem mem;
    cip_mem_init(&mem, from, 0);
    return cip_mem_zeroed(&mem, 1, size, out, err);
}

void cip_mem_handle_free(const cip_allocator *from, void *handle)
{
    cip_mem mem; /* what frees the handle must not lie in it */
    cip_mem_init(&mem, from, 0);
    cip_mem_put(&mem, handle);
}
