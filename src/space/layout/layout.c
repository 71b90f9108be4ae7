/* SPDX-License-Identifier: BSD-3-Clause
 * Layouts: made over an io, filled by a format, freed with all that hangs on them. Spaces, arrays
 * and facts live in the layout's arena; a layout for another file hangs on the one that opened it.
 */
#include "space/layout/layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/num.h"
#include "io/io.h"
#include "space/read/far.h"
#include "space/read/cache.h"
#include "space/sequential/checkpoints.h"
#include "space/read/reader.h"
#include "space/sequential/sidecar.h"
#include "space/read/buffer_pool.h"

/* A part of the parent's file shares what was read ahead of that. */
static cip_status take_far(cip_layout *l, cip_err *err)
{
    const cip_layout *parent = l->parent;
    uint64_t off = 0, outer = 0;
    if (!l->io->far)
        return CIP_OK;
    if (parent == NULL || parent->far == NULL ||
        cip_io_whole(l->io, &off) != cip_io_whole(parent->io, &outer))
        return cip_far_new(l->env, l->io, l->tuning, &l->far, err);
    l->far = parent->far;
    l->far_off = parent->far_off + (off - outer);
    return CIP_OK;
}

static cip_status new_layout(cip_env *env, cip_io *io, cip_layout *parent, cip_layout **out,
                             cip_err *err)
{
    CIP_TRY(CIP_NEW(&env->mem, out, 1, err));
    cip_layout *l = *out;
    l->env = env;
    l->arena.mem = &env->mem;
    l->io = io;
    l->parent = parent;
    l->tuning = &cip_tuning_default;
    atomic_init(&l->next_id, 1);
    pthread_mutexattr_t attr;
    pthread_mutex_init(&l->lock, NULL);
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&l->lazy, &attr);
    pthread_mutexattr_destroy(&attr);
    return take_far(l, err);
}

cip_status cip_layout_new(cip_env *env, cip_io *io, cip_layout **out, cip_err *err)
{
    cip_status st;
    cip_layout *l = NULL;
    *out = NULL;
    CIP_GO(new_layout(env, io, NULL, &l, err));
    CIP_GO(cip_cache_new(env, env->limits.max_cache, &l->cache, err));
    CIP_GO(cip_decoders_new(env, &l->decoders, err));
    CIP_GO(cip_buffer_pool_new(env, l->cache, l->decoders, &l->buffers, err));
    CIP_GO(cip_checkpoints_new(env, l->tuning->checkpoint_bytes, l->tuning->checkpoint_gap,
                               &l->checkpoints, err));
    CIP_GO(cip_space_new_file(l, io, &l->file, err));
    *out = l;
    return CIP_OK;
done:
    cip_layout_free(l);
    return st;
}

cip_status cip_layout_new_child(cip_layout *parent, cip_io *io, cip_layout **out, cip_err *err)
{
    cip_status st;
    cip_layout *l = NULL;
    *out = NULL;
    CIP_GO(new_layout(parent->env, io, parent, &l, err));
    l->cache = parent->cache;
    l->buffers = parent->buffers;
    l->decoders = parent->decoders;
    l->checkpoints = parent->checkpoints;
    l->flags = parent->flags;
    l->tuning = parent->tuning;
    CIP_GO(cip_space_new_file(l, io, &l->file, err));
    pthread_mutex_lock(&parent->lock);
    st = CIP_ROOM(&parent->env->mem, &parent->child, parent->nchild, &parent->child_cap, err);
    if (st == CIP_OK)
        parent->child[parent->nchild++] = l;
    pthread_mutex_unlock(&parent->lock);
    if (st != CIP_OK)
        goto done;
    *out = l;
    return CIP_OK;
done:
    cip_layout_free(l);
    return st;
}

cip_status cip_layout_read_exactly(cip_layout *layout, cip_err *err)
{
    cip_tuning *t;
    CIP_TRY(CIP_ARENA_NEW(&layout->arena, &t, 1, err));
    *t = *layout->tuning;
    t->gap = 0;
    t->near = 1; /* of spans that are shorter, which there are none */
    layout->tuning = t;
    return CIP_OK;
}

/* Children may be deeper than the stack likes, were it not for the bound on how deep externals go.
 */
void cip_layout_free(cip_layout *l)
{
    if (l == NULL)
        return;
    cip_env *env = l->env;
    for (size_t i = 0; i < l->nchild; i++)
        cip_layout_free(l->child[i]);
    cip_mem_put(&env->mem, l->child);
    if (l->clear != NULL)
        l->clear(l);
    if (l->parent == NULL) {
        cip_decoders_free(l->decoders);
        cip_checkpoints_free(l->checkpoints);
        cip_sidecar_free(l->sidecar);
        cip_buffer_pool_free(l->buffers);
        cip_cache_free(l->cache);
    }
    cip_mem_put(&env->mem, l->array);
    cip_mem_put(&env->mem, l->fact);
    cip_arena_clear(&l->arena);
    if (l->parent == NULL || l->far != l->parent->far)
        cip_far_free(l->far);
    if (l->owns_io)
        cip_io_close(l->io);
    pthread_mutex_destroy(&l->lazy);
    pthread_mutex_destroy(&l->lock);
    cip_mem_put(&env->mem, l);
}

int cip_layout_depth(const cip_layout *l)
{
    int depth = 0;
    for (l = l->parent; l != NULL; l = l->parent)
        depth++;
    return depth;
}

/* Deflate makes 2^10 of a byte, zstd 2^15, bzip2 2^16. */
bool cip_layout_expects(const cip_layout *l, uint64_t nbytes)
{
    enum { BITS = 17 };
    uint64_t honest;
    return nbytes <= UINT64_C(1) << 32 ||
           cip_mul_overflow(l->io->size, UINT64_C(1) << BITS, &honest) || nbytes <= honest;
}

const char *cip_layout_kind(const cip_layout *l, char text[CIP_LAYOUT_KIND])
{
    if (cip_io_is_folder(l->io))
        return "a folder";
    snprintf(text, CIP_LAYOUT_KIND, "a file of %" PRIu64 " bytes", l->io->size);
    return text;
}

cip_status cip_layout_add_array(cip_layout *l, bool listed, cip_array **out, cip_err *err)
{
    cip_array *a = NULL;
    *out = NULL;
    pthread_mutex_lock(&l->lock);
    cip_status st = CIP_ARENA_NEW(&l->arena, &a, 1, err);
    if (st == CIP_OK && listed)
        st = CIP_ROOM(&l->env->mem, &l->array, l->narray, &l->array_cap, err);
    if (st == CIP_OK && listed)
        l->array[l->narray++] = a;
    pthread_mutex_unlock(&l->lock);
    if (st != CIP_OK)
        return st;
    a->layout = l;
    a->path = "";
    a->storage.block = -1;
    *out = a;
    return CIP_OK;
}

const cip_err *cip_layout_keep_err(cip_layout *l, const cip_err *err)
{
    cip_err *kept = NULL;
    pthread_mutex_lock(&l->lock);
    if (cip_arena_get(&l->arena, sizeof *kept, (void **)&kept, NULL) == CIP_OK)
        *kept = *err;
    pthread_mutex_unlock(&l->lock);
    return kept;
}

void cip_array_refuse(cip_array *a, cip_status st, const cip_err *err)
{
    a->st = st;
    a->space = NULL;
    if (err != NULL)
        a->why = cip_layout_keep_err(a->layout, err);
}

/* Under the lock. */
static cip_status add_fact(cip_layout *l, const char *key, const char *value, cip_err *err)
{
    cip_fact f = { NULL, NULL };
    CIP_TRY(CIP_ROOM(&l->env->mem, &l->fact, l->nfact, &l->fact_cap, err));
    CIP_TRY(cip_arena_copy(&l->arena, key, strlen(key), (char **)&f.key, err));
    CIP_TRY(cip_arena_copy(&l->arena, value, strlen(value), (char **)&f.value, err));
    l->fact[l->nfact++] = f;
    return CIP_OK;
}

cip_status cip_layout_add_fact(cip_layout *l, const char *key, cip_err *err, const char *fmt, ...)
{
    cip_buf text = { .mem = &l->env->mem };
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    uint8_t *at = NULL;
    cip_status st =
        n < 0 ? cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "a text that cannot be formatted")
              : cip_buf_reserve(&text, (size_t)n + 1, &at, err);
    if (st == CIP_OK) {
        va_start(ap, fmt);
        vsnprintf((char *)at, (size_t)n + 1, fmt, ap);
        va_end(ap);
        pthread_mutex_lock(&l->lock);
        st = add_fact(l, key, (const char *)at, err);
        pthread_mutex_unlock(&l->lock);
    }
    cip_buf_clear(&text);
    return st;
}

const char *cip_storage_kind_text(cip_storage_kind kind)
{
    static const char *const text[] = {
        [CIP_STORAGE_UNSAID] = "",
        [CIP_STORAGE_INTERNAL] = "internal",
        [CIP_STORAGE_INLINE] = "inline",
        [CIP_STORAGE_EXTERNAL] = "external",
        [CIP_STORAGE_STREAMED] = "streamed",
        [CIP_STORAGE_REFERENCE] = "reference",
        [CIP_STORAGE_CONTIGUOUS] = "contiguous",
        [CIP_STORAGE_CHUNKED] = "chunked",
        [CIP_STORAGE_NESTED] = "nested",
        [CIP_STORAGE_OWN] = "",
    };
    return text[kind];
}
