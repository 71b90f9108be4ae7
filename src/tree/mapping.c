/* SPDX-License-Identifier: BSD-3-Clause
 * Keys of mappings: equality, duplicates and the index. Few keys are compared one by one; many are
 * hashed with the process's secret key, so that a file cannot choose collisions. Slots are open
 * addressing with linear probing, at most half full, and hold the pair's place + 1. */
#include <string.h>

#include "base/strmap.h"
#include "tree/node.h"

enum { MANY = 16 };

typedef struct slots {
    uint64_t key[2];
    size_t mask; /* number of slots - 1; a power of two */
    uint32_t slot[];
} slots;

static bool is_scalar(const cip_node *n)
{
    return n->type < CIP_NODE_SEQ;
}

static bool same_text(const cip_node *n, cip_bytes text)
{
    return n->len == text.len && (text.len == 0 || memcmp(n->text, text.ptr, text.len) == 0);
}

static cip_bytes text_of(const cip_node *n)
{
    return (cip_bytes){ (const uint8_t *)n->text, n->len };
}

/* A null that is not written is one that is. */
static cip_bytes key_text(const cip_node *key)
{
    return key->type == CIP_NODE_NULL && key->len == 0 ? (cip_bytes){ (const uint8_t *)"null", 4 }
                                                       : text_of(key);
}

bool cip_key_equal(const cip_node *a, const cip_node *b)
{
    if (a->type != b->type || !is_scalar(a))
        return false;
    cip_bytes x = key_text(a), y = key_text(b);
    return x.len == y.len && memcmp(x.ptr, y.ptr, x.len) == 0;
}

static size_t slot_count(size_t n)
{
    size_t count = 2 * MANY;
    while (count < 2 * n)
        count *= 2;
    return count;
}

static size_t slots_size(size_t n)
{
    return sizeof(slots) + slot_count(n) * sizeof(uint32_t);
}

static void slots_init(slots *s, size_t n)
{
    memset(s, 0, slots_size(n));
    cip_hash_seed(s->key);
    s->mask = slot_count(n) - 1;
}

static size_t first_slot(const slots *s, cip_bytes text)
{
    return (size_t)cip_siphash(s->key, text) & s->mask;
}

/* The slot that holds the place of a key equal to `key`, or the free one where it belongs. */
static uint32_t *slot_of(slots *s, const cip_pair *pairs, const cip_node *key)
{
    size_t i = first_slot(s, key_text(key));
    while (s->slot[i] != 0 && !cip_key_equal(pairs[s->slot[i] - 1].key, key))
        i = (i + 1) & s->mask;
    return &s->slot[i];
}

/* Where among the first n pairs the key of `pair` stands already, or n. */
static size_t earlier_place(slots *s, const cip_pair *pairs, size_t n, const cip_node *key)
{
    if (s == NULL) {
        size_t i = 0;
        while (i < n && !cip_key_equal(pairs[i].key, key))
            i++;
        return i;
    }
    if (!is_scalar(key))
        return n;
    uint32_t *slot = slot_of(s, pairs, key);
    if (*slot != 0)
        return *slot - 1;
    *slot = (uint32_t)n + 1;
    return n;
}

/* `s` is empty and stands for `pairs` afterwards; NULL when they are few. */
static void drop_earlier(slots *s, cip_pairs *pairs, cip_pair_fn *dropped, void *user)
{
    size_t kept = 0;
    for (size_t i = 0; i < pairs->n; i++) {
        const cip_pair pair = pairs->pair[i];
        size_t place = earlier_place(s, pairs->pair, kept, pair.key);
        if (place < kept && dropped != NULL)
            dropped(user, &pairs->pair[place], &pair);
        pairs->pair[place] = pair;
        kept += place == kept;
    }
    pairs->n = kept;
}

cip_status cip_pairs_unique(cip_mem *mem, cip_pairs *pairs, cip_pair_fn *dropped, void *user,
                            cip_err *err)
{
    slots *s = NULL;
    if (pairs->n > MANY) {
        CIP_TRY(cip_mem_get(mem, slots_size(pairs->n), (void **)&s, err));
        slots_init(s, pairs->n);
    }
    drop_earlier(s, pairs, dropped, user);
    cip_mem_put(mem, s);
    return CIP_OK;
}

/* The index of an indexed mapping: a pointer to it lies in front of the pairs. */
static const slots *index_of(const cip_node *map)
{
    return ((const slots *const *)(const void *)map->pair)[-1];
}

cip_status cip_map_fill(cip_arena *a, cip_node *map, cip_pairs pairs, cip_pair_fn *dropped,
                        void *user, cip_err *err)
{
    slots *s = NULL;
    cip_pair *copy = NULL;
    if (pairs.n > MANY) {
        CIP_TRY(cip_arena_get(a, slots_size(pairs.n), (void **)&s, err));
        slots_init(s, pairs.n);
    }
    drop_earlier(s, &pairs, dropped, user);
    const size_t front = s != NULL;
    CIP_TRY(cip_arena_get(a, (front + pairs.n) * sizeof *copy, (void **)&copy, err));
    copy += front;
    if (s != NULL)
        ((slots **)(void *)copy)[-1] = s;
    if (pairs.n != 0)
        memcpy(copy, pairs.pair, pairs.n * sizeof *copy);
    map->pair = copy;
    map->len = (uint32_t)pairs.n;
    map->indexed = s != NULL;
    return CIP_OK;
}

/* Enters the i-th pair into the index, which has no equal key. */
static void enter(const cip_node *map, slots *s, size_t i)
{
    const cip_node *key = map->pair[i].key;
    if (!is_scalar(key))
        return;
    size_t at = first_slot(s, key_text(key));
    while (s->slot[at] != 0)
        at = (at + 1) & s->mask;
    s->slot[at] = (uint32_t)i + 1;
}

cip_status cip_map_reserve(cip_arena *a, cip_node *map, size_t cap, cip_err *err)
{
    slots *s = NULL;
    cip_pair *copy = NULL;
    const size_t front = cap > MANY;
    if (cap > MANY)
        CIP_TRY(cip_arena_get(a, slots_size(cap), (void **)&s, err));
    CIP_TRY(cip_arena_get(a, (front + cap) * sizeof *copy, (void **)&copy, err));
    copy += front;
    if (map->len != 0)
        memcpy(copy, map->pair, map->len * sizeof *copy);
    map->pair = copy;
    map->indexed = s != NULL;
    if (s == NULL)
        return CIP_OK;
    ((slots **)(void *)copy)[-1] = s;
    slots_init(s, cap);
    for (size_t i = 0; i < map->len; i++)
        enter(map, s, i);
    return CIP_OK;
}

void cip_map_add(cip_node *map, cip_pair pair)
{
    ((cip_pair *)map->pair)[map->len] = pair;
    if (map->indexed)
        enter(map, (slots *)index_of(map), map->len);
    map->len++;
}

void cip_map_drop(cip_node *map, size_t i)
{
    cip_pair *p = (cip_pair *)map->pair + i;
    memmove(p, p + 1, (map->len - i - 1) * sizeof *p);
    map->len--;
    if (!map->indexed)
        return;
    slots *s = (slots *)index_of(map); /* the places behind are others now */
    memset(s->slot, 0, (s->mask + 1) * sizeof s->slot[0]);
    for (size_t k = 0; k < map->len; k++)
        enter(map, s, k);
}

/* Keeps the better of two places: a string key is found before all others. */
static void offer(const cip_node *map, size_t i, cip_bytes text, bool any, size_t *best)
{
    const cip_node *key = map->pair[i].key;
    if (key == NULL || !is_scalar(key) || !same_text(key, text))
        return;
    if (key->type == CIP_NODE_STRING || (any && *best == SIZE_MAX))
        *best = i;
}

size_t cip_map_find(const cip_node *map, cip_bytes text, bool any)
{
    size_t best = SIZE_MAX;
    if (!map->indexed) {
        for (size_t i = 0; i < map->len; i++)
            offer(map, i, text, any, &best);
        return best;
    }
    const slots *s = index_of(map);
    for (size_t i = first_slot(s, text); s->slot[i] != 0; i = (i + 1) & s->mask)
        offer(map, s->slot[i] - 1, text, any, &best);
    return best;
}
