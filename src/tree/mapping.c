/* SPDX-License-Identifier: BSD-3-Clause
 * Keys of mappings: equality, duplicates and the index. Few keys are compared one by one; many are
 * hashed with the process's secret key, so that a file cannot choose collisions: by their value to
 * find duplicates, then by their text to be looked up. Slots are open addressing with linear
 * probing, at most half full, and hold the pair's place + 1. */
#include <math.h>
#include <stdio.h>
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

enum { VALUE_SIZE = 16 };

/* What two keys of one type have in common when they are equal: numbers, bools and nulls their
 * value, however it is written; others their text. */
static cip_bytes value_of(const cip_node *key, uint8_t room[VALUE_SIZE])
{
    double f;
    switch (key->type) {
    case CIP_NODE_NULL:
        return (cip_bytes){ room, 0 };
    case CIP_NODE_BOOL:
        room[0] = key->b;
        return (cip_bytes){ room, 1 };
    case CIP_NODE_INT:
        room[0] = key->negative;
        memcpy(room + 1, &key->u, sizeof key->u);
        return (cip_bytes){ room, 1 + sizeof key->u };
    case CIP_NODE_FLOAT:
        f = isnan(key->f) ? (double)NAN : key->f + 0.0; /* -0 is 0 */
        memcpy(room, &f, sizeof f);
        return (cip_bytes){ room, sizeof f };
    default:
        return text_of(key);
    }
}

bool cip_key_equal(const cip_node *a, const cip_node *b)
{
    uint8_t of_a[VALUE_SIZE], of_b[VALUE_SIZE];
    if (a->type != b->type || !is_scalar(a))
        return false;
    cip_bytes x = value_of(a, of_a), y = value_of(b, of_b);
    return x.len == y.len && (x.len == 0 || memcmp(x.ptr, y.ptr, x.len) == 0);
}

/* An integer key in decimal; no bytes for others. */
static cip_bytes decimal_of(const cip_node *key, char digits[CIP_STEP_DIGITS])
{
    int n = 0;
    if (key->type == CIP_NODE_INT)
        n = snprintf(digits, CIP_STEP_DIGITS, key->negative ? "%" PRId64 : "%" PRIu64, key->u);
    return (cip_bytes){ (const uint8_t *)digits, (size_t)n };
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
    uint8_t room[VALUE_SIZE];
    size_t i = first_slot(s, value_of(key, room));
    while (s->slot[i] != 0 && !cip_key_equal(pairs[s->slot[i] - 1].key, key))
        i = (i + 1) & s->mask;
    if (s->slot[i] != 0)
        return s->slot[i] - 1;
    s->slot[i] = (uint32_t)n + 1;
    return n;
}

/* `s` is empty and holds the values of `pairs` afterwards; NULL when they are few. */
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

static bool has_spelling(const cip_node *key, cip_bytes decimal)
{
    return decimal.len != 0 && !same_text(key, decimal);
}

/* Entries of the index: a number that is written otherwise is found in decimal too. */
static size_t count_texts(const cip_pair *pair, size_t npair)
{
    char digits[CIP_STEP_DIGITS];
    size_t n = npair;
    for (size_t i = 0; i < npair; i++)
        n += has_spelling(pair[i].key, decimal_of(pair[i].key, digits));
    return n;
}

static void add_text(slots *s, cip_bytes text, size_t place)
{
    size_t i = first_slot(s, text);
    while (s->slot[i] != 0)
        i = (i + 1) & s->mask;
    s->slot[i] = (uint32_t)place + 1;
}

/* Enters the key of the i-th pair. There may be a key of each type with its text, so a search goes
 * on to the first free slot. */
static void enter(slots *s, const cip_node *key, size_t i)
{
    char digits[CIP_STEP_DIGITS];
    if (!is_scalar(key))
        return;
    cip_bytes decimal = decimal_of(key, digits);
    add_text(s, text_of(key), i);
    if (has_spelling(key, decimal))
        add_text(s, decimal, i);
}

static void index_texts(slots *s, const cip_pair *pair, size_t npair)
{
    memset(s->slot, 0, (s->mask + 1) * sizeof s->slot[0]);
    for (size_t i = 0; i < npair; i++)
        enter(s, pair[i].key, i);
}

cip_status cip_map_fill(cip_arena *a, cip_node *map, cip_pairs pairs, cip_pair_fn *dropped,
                        void *user, cip_err *err)
{
    slots *s = NULL;
    size_t n = 0;
    cip_pair *copy = NULL;
    if (pairs.n > MANY) {
        n = count_texts(pairs.pair, pairs.n);
        CIP_TRY(cip_arena_get(a, slots_size(n), (void **)&s, err));
        slots_init(s, n);
    }
    drop_earlier(s, &pairs, dropped, user);
    if (s != NULL)
        index_texts(s, pairs.pair, pairs.n);
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

cip_status cip_map_reserve(cip_arena *a, cip_node *map, size_t cap, cip_err *err)
{
    slots *s = NULL;
    cip_pair *copy = NULL;
    const size_t front = cap > MANY;
    const size_t n = cap + count_texts(map->pair, map->len) - map->len;
    if (cap > MANY)
        CIP_TRY(cip_arena_get(a, slots_size(n), (void **)&s, err));
    CIP_TRY(cip_arena_get(a, (front + cap) * sizeof *copy, (void **)&copy, err));
    copy += front;
    if (map->len != 0)
        memcpy(copy, map->pair, map->len * sizeof *copy);
    map->pair = copy;
    map->indexed = s != NULL;
    if (s == NULL)
        return CIP_OK;
    ((slots **)(void *)copy)[-1] = s;
    slots_init(s, n);
    index_texts(s, map->pair, map->len);
    return CIP_OK;
}

void cip_map_add(cip_node *map, cip_pair pair)
{
    ((cip_pair *)map->pair)[map->len] = pair;
    if (map->indexed)
        enter((slots *)index_of(map), pair.key, map->len);
    map->len++;
}

void cip_map_drop(cip_node *map, size_t i)
{
    cip_pair *p = (cip_pair *)map->pair + i;
    memmove(p, p + 1, (map->len - i - 1) * sizeof *p);
    map->len--;
    if (map->indexed) /* the places behind are others now */
        index_texts((slots *)index_of(map), map->pair, map->len);
}

enum { NO_MATCH, AS_STRING, BY_VALUE, BY_TEXT };

static int match(const cip_node *key, cip_bytes text, bool any)
{
    char digits[CIP_STEP_DIGITS];
    if (key == NULL || !is_scalar(key) || (!any && key->type != CIP_NODE_STRING))
        return NO_MATCH;
    if (same_text(key, text))
        return key->type == CIP_NODE_STRING ? AS_STRING : BY_TEXT;
    cip_bytes decimal = decimal_of(key, digits);
    bool same =
        decimal.len != 0 && decimal.len == text.len && memcmp(decimal.ptr, text.ptr, text.len) == 0;
    return same ? BY_VALUE : NO_MATCH;
}

typedef struct best {
    size_t place;
    int match;
} best;

/* Keeps the better of two pairs: the first of those that match best. */
static void offer(const cip_node *map, size_t i, cip_bytes text, bool any, best *b)
{
    int found = match(map->pair[i].key, text, any);
    if (found > b->match || (found != NO_MATCH && found == b->match && i < b->place))
        *b = (best){ i, found };
}

size_t cip_map_find(const cip_node *map, cip_bytes text, bool any)
{
    best b = { SIZE_MAX, NO_MATCH };
    if (!map->indexed) {
        for (size_t i = 0; i < map->len; i++)
            offer(map, i, text, any, &b);
        return b.place;
    }
    const slots *s = index_of(map);
    for (size_t i = first_slot(s, text); s->slot[i] != 0; i = (i + 1) & s->mask)
        offer(map, s->slot[i] - 1, text, any, &b);
    return b.place;
}
