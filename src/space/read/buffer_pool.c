/* SPDX-License-Identifier: BSD-3-Clause
 * A few buffers kept between uses. Fresh pages cost more than the copy that fills them, so large
 * ones ask for huge pages. */
#include <sys/mman.h>

#include "space/read/reader.h"

enum { KEPT_MAX = 16, HUGE_PAGE = 2 << 20, ROUND = 4096 };
static const size_t kept_bytes_max = (size_t)16 << 20;

struct cip_buffer_pool {
    cip_env *env;
    cip_cache *cache;
    cip_decoders *decoders;
    pthread_mutex_t lock; /* guards all below; a leaf */
    size_t nkept, kept_bytes;
    cip_pooled kept[KEPT_MAX];
};

cip_status cip_buffer_pool_new(cip_env *env, cip_cache *cache, cip_decoders *decoders,
                               cip_buffer_pool **out, cip_err *err)
{
    CIP_TRY(CIP_NEW(&env->mem, out, 1, err));
    (*out)->env = env;
    (*out)->cache = cache;
    (*out)->decoders = decoders;
    pthread_mutex_init(&(*out)->lock, NULL);
    return CIP_OK;
}

static void drop_kept(cip_buffer_pool *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->nkept != 0)
        cip_mem_put(&s->env->mem, s->kept[--s->nkept].ptr);
    s->kept_bytes = 0;
    pthread_mutex_unlock(&s->lock);
}

void cip_buffer_pool_free(cip_buffer_pool *s)
{
    if (s == NULL)
        return;
    drop_kept(s);
    pthread_mutex_destroy(&s->lock);
    cip_mem_put(&s->env->mem, s);
}

cip_status cip_buffer_pool_get(cip_buffer_pool *s, size_t n, uint8_t **out, cip_err *err)
{
    void *p;
    if (cip_mem_get(&s->env->mem, n, &p, NULL) != CIP_OK) {
        drop_kept(s);
        cip_cache_drop(s->cache);
        cip_decoders_drop(s->decoders);
        CIP_TRY(cip_mem_get(&s->env->mem, n, &p, err));
    }
#ifdef MADV_HUGEPAGE
    const uintptr_t mask = ~(uintptr_t)(HUGE_PAGE - 1),
                    first = ((uintptr_t)p + HUGE_PAGE - 1) & mask, end = ((uintptr_t)p + n) & mask;
    if (n >= HUGE_PAGE && end > first)
        madvise((void *)first, end - first, MADV_HUGEPAGE); /* only a wish */
#endif
    *out = p;
    return CIP_OK;
}

/* The smallest kept buffer that is large enough, and not so large that it would be wasted. */
static bool take_kept(cip_buffer_pool *s, size_t n, cip_pooled *out)
{
    size_t best = KEPT_MAX;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->nkept; i++)
        if (s->kept[i].cap >= n && (best == KEPT_MAX || s->kept[i].cap < s->kept[best].cap))
            best = i;
    if (best != KEPT_MAX) {
        *out = s->kept[best];
        s->kept_bytes -= out->cap;
        s->kept[best] = s->kept[--s->nkept];
    }
    pthread_mutex_unlock(&s->lock);
    return best != KEPT_MAX;
}

cip_status cip_buffer_pool_take(cip_buffer_pool *s, size_t n, cip_pooled *out, cip_err *err)
{
    size_t cap = n > SIZE_MAX - ROUND ? n : (n / ROUND + 1) * ROUND;
    *out = (cip_pooled){ NULL, 0 };
    if (take_kept(s, n, out))
        return CIP_OK;
    CIP_TRY(cip_buffer_pool_get(s, cap, &out->ptr, err));
    out->cap = cap;
    return CIP_OK;
}

void cip_buffer_pool_give(cip_buffer_pool *s, cip_pooled *r)
{
    if (r->ptr == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    bool keep = s->nkept < KEPT_MAX && r->cap <= kept_bytes_max - s->kept_bytes;
    if (keep) {
        s->kept[s->nkept++] = *r;
        s->kept_bytes += r->cap;
    }
    pthread_mutex_unlock(&s->lock);
    if (!keep)
        cip_mem_put(&s->env->mem, r->ptr);
    *r = (cip_pooled){ NULL, 0 };
}
