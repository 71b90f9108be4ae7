/* SPDX-License-Identifier: BSD-3-Clause
 * Shards by the key's hash, each a small hash table whose entries also stand in a ring that the
 * clock's hand goes round: an entry that was asked for since the hand last came by gets another
 * round. The bound on bytes is of all shards together; a shard short of room empties itself first,
 * then its neighbours, one lock at a time. */
#include "space/read/cache.h"

#include <pthread.h>

enum { NSHARD = 16, NBUCKET = 64, NLOOK = 64 };

struct cip_cache_entry {
    cip_cache_entry *chain;       /* next in the bucket */
    cip_cache_entry *prev, *next; /* the ring */
    cip_cache_key key;
    uint8_t *bytes;
    size_t len;
    unsigned pins; /* guarded by the shard's lock */
    bool used;     /* since the hand came by */
    bool kept;     /* in the table; otherwise it lives until it is unpinned */
};

typedef struct shard {
    pthread_mutex_t lock; /* guards all of the shard; a leaf */
    cip_cache_entry *bucket[NBUCKET];
    cip_cache_entry *hand; /* NULL: empty */
    uint32_t look[NLOOK];  /* parts of hashes of keys that were looked for, and how often */
} shard;

struct cip_cache {
    cip_env *env;
    uint64_t max;
    _Atomic uint64_t nbytes;
    shard shard[NSHARD];
};

cip_status cip_cache_new(cip_env *env, uint64_t max_bytes, cip_cache **out, cip_err *err)
{
    CIP_TRY(CIP_NEW(&env->mem, out, 1, err));
    (*out)->env = env;
    (*out)->max = max_bytes;
    atomic_init(&(*out)->nbytes, 0);
    for (size_t i = 0; i < NSHARD; i++)
        pthread_mutex_init(&(*out)->shard[i].lock, NULL);
    return CIP_OK;
}

/* Keys are small counting numbers: mixed so that neighbours fall into different shards. */
static uint64_t hash(cip_cache_key k)
{
    uint64_t h = k.space * UINT64_C(0x9E3779B97F4A7C15) + k.chunk;
    h = (h ^ (h >> 32)) * UINT64_C(0xD6E8FEB86659FD93) + k.block;
    h = (h ^ (h >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
    return h ^ (h >> 32);
}

static shard *shard_of(cip_cache *c, cip_cache_key k)
{
    return &c->shard[hash(k) % NSHARD];
}

static cip_cache_entry **slot_of(shard *s, cip_cache_key k)
{
    cip_cache_entry **at = &s->bucket[hash(k) / NSHARD % NBUCKET];
    while (*at != NULL && ((*at)->key.space != k.space || (*at)->key.chunk != k.chunk ||
                           (*at)->key.block != k.block))
        at = &(*at)->chain;
    return at;
}

static void free_entry(cip_cache *c, cip_cache_entry *e)
{
    cip_mem_put(&c->env->mem, e->bytes);
    cip_mem_put(&c->env->mem, e);
}

/* Out of the table and the ring; under the lock. */
static void take_out(cip_cache *c, shard *s, cip_cache_entry *e)
{
    *slot_of(s, e->key) = e->chain;
    s->hand = e->next == e ? NULL : s->hand == e ? e->next : s->hand;
    e->prev->next = e->next;
    e->next->prev = e->prev;
    e->kept = false;
    atomic_fetch_sub_explicit(&c->nbytes, e->len, memory_order_relaxed);
}

/* Under the lock; its bytes are counted in. */
static void put_in(shard *s, cip_cache_entry *e)
{
    cip_cache_entry **at = slot_of(s, e->key);
    e->chain = *at;
    *at = e;
    if (s->hand == NULL) {
        s->hand = e->prev = e->next = e;
    } else { /* just behind the hand: the last to be looked at */
        e->next = s->hand;
        e->prev = s->hand->prev;
        e->prev->next = e->next->prev = e;
    }
    e->kept = true;
}

/* Whether `need` bytes more would fit. */
static bool fits(cip_cache *c, uint64_t need)
{
    uint64_t now = atomic_load_explicit(&c->nbytes, memory_order_relaxed);
    return need <= c->max && now <= c->max - need;
}

/* Counts the bytes in, unless they do not fit. `alone`: more than the cache may hold fits where
 * nothing else is kept. */
static bool reserve(cip_cache *c, uint64_t need, bool alone)
{
    uint64_t now = atomic_load_explicit(&c->nbytes, memory_order_relaxed);
    do
        if (need > c->max ? !alone || now != 0 : now > c->max - need)
            return false;
    while (!atomic_compare_exchange_weak_explicit(&c->nbytes, &now, now + need,
                                                  memory_order_relaxed, memory_order_relaxed));
    return true;
}

/* Goes round at most twice, under the lock: the first round takes the marks off. */
static void make_room(cip_cache *c, shard *s, uint64_t need)
{
    size_t n = 0;
    for (cip_cache_entry *e = s->hand; e != NULL && (n == 0 || e != s->hand); e = e->next)
        n++;
    for (size_t left = 2 * n; left != 0 && s->hand != NULL && !fits(c, need); left--) {
        cip_cache_entry *e = s->hand;
        if (e->pins != 0 || e->used) {
            e->used = false;
            s->hand = e->next;
        } else {
            take_out(c, s, e);
            free_entry(c, e);
        }
    }
}

void cip_cache_drop(cip_cache *c)
{
    for (size_t i = 0; i < NSHARD; i++) {
        pthread_mutex_lock(&c->shard[i].lock);
        make_room(c, &c->shard[i], UINT64_MAX);
        pthread_mutex_unlock(&c->shard[i].lock);
    }
}

void cip_cache_free(cip_cache *c)
{
    if (c == NULL)
        return;
    cip_cache_drop(c);
    for (size_t i = 0; i < NSHARD; i++)
        pthread_mutex_destroy(&c->shard[i].lock);
    cip_mem_put(&c->env->mem, c);
}

const uint8_t *cip_cache_get(cip_cache *c, cip_cache_key key, size_t *len, cip_cache_entry **pin)
{
    shard *s = shard_of(c, key);
    pthread_mutex_lock(&s->lock);
    cip_cache_entry *e = *slot_of(s, key);
    if (e != NULL) {
        e->pins++;
        e->used = true;
    }
    pthread_mutex_unlock(&s->lock);
    *pin = e;
    if (e == NULL)
        return NULL;
    *len = e->len;
    return e->bytes;
}

const uint8_t *cip_cache_look(cip_cache *c, cip_cache_key key, size_t *len, cip_cache_entry **pin,
                              unsigned *times)
{
    shard *s = shard_of(c, key);
    uint64_t h = hash(key);
    const uint32_t mark = (uint32_t)(h >> 32) & ~(uint32_t)CIP_CACHE_TIMES; /* its bits count */
    pthread_mutex_lock(&s->lock);
    uint32_t *at = &s->look[h / NSHARD % NLOOK], seen = *at & CIP_CACHE_TIMES;
    *times = *at - seen != mark ? 1 : seen < CIP_CACHE_TIMES ? seen + 1 : seen;
    *at = mark | *times;
    pthread_mutex_unlock(&s->lock);
    return cip_cache_get(c, key, len, pin);
}

void cip_cache_unpin(cip_cache *c, cip_cache_entry *pin)
{
    if (pin == NULL)
        return;
    shard *s = shard_of(c, pin->key);
    pthread_mutex_lock(&s->lock);
    bool last = --pin->pins == 0 && !pin->kept;
    pthread_mutex_unlock(&s->lock);
    if (last)
        free_entry(c, pin);
}

cip_status cip_cache_put(cip_cache *c, cip_cache_key key, cip_cache_data data,
                         cip_cache_entry **pin, cip_err *err)
{
    bool alone = data.alone && c->max != 0;
    cip_cache_entry *e = NULL;
    *pin = NULL;
    cip_status st = CIP_NEW(&c->env->mem, &e, 1, err);
    if (st != CIP_OK) {
        cip_mem_put(&c->env->mem, data.bytes);
        return st;
    }
    *e = (cip_cache_entry){ .key = key, .bytes = data.bytes, .len = data.len, .pins = 1 };
    bool counted = reserve(c, data.len, alone);
    if (!counted && (data.len <= c->max || alone)) {
        const size_t own = hash(key) % NSHARD;
        for (size_t i = 0; i < NSHARD && !fits(c, data.len);
             i++) { /* the entry's own comes first */
            shard *s = &c->shard[(own + i) % NSHARD];
            pthread_mutex_lock(&s->lock);
            make_room(c, s, data.len);
            pthread_mutex_unlock(&s->lock);
        }
        counted = reserve(c, data.len, alone);
    }
    shard *s = shard_of(c, key);
    pthread_mutex_lock(&s->lock);
    bool put = counted && *slot_of(s, key) == NULL;
    if (put)
        put_in(s, e);
    pthread_mutex_unlock(&s->lock);
    if (counted && !put) /* somebody was faster */
        atomic_fetch_sub_explicit(&c->nbytes, data.len, memory_order_relaxed);
    *pin = e;
    return CIP_OK;
}

uint64_t cip_cache_nbytes(cip_cache *c)
{
    return atomic_load_explicit(&c->nbytes, memory_order_relaxed);
}

uint64_t cip_cache_max(const cip_cache *c)
{
    return c->max;
}
