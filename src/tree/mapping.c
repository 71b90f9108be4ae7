/* SPDX-License-Identifier: BSD-3-Clause
 * Keys of mappings: equality, duplicates and the index. Few keys are compared one by one; many are
 * hashed with the process's secret key, so that a file cannot choose collisions: by their value to
 * find duplicates, then by their text to be looked up. Slots are open addressing with linear
 * probing, at most half full, and hold the pair's place. A byte of the hash beside each slot tells
 * most other keys apart without a look at their nodes, which of a million keys are in no cache. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/strmap.h"
#include "tree/node.h"

enum { MANY = 16 };

typedef struct slots {
    uint64_t key[2];
    size_t mask;     /* number of slots - 1; a power of two */
    uint32_t slot[]; /* then for each of them a byte, its tag; 0: the slot is free */
} slots;

static uint8_t *tags_of(const slots *s)
{
    return (uint8_t *)(s->slot + s->mask + 1);
}

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
    return sizeof(slots) + slot_count(n) * (sizeof(uint32_t) + 1);
}

static void slots_empty(slots *s)
{
    memset(tags_of(s), 0, s->mask + 1);
}

static void slots_init(slots *s, size_t n)
{
    cip_hash_seed(s->key);
    s->mask = slot_count(n) - 1;
    slots_empty(s);
}

/* A place in the slots, and the tag that is looked for. */
typedef struct probe {
    size_t at;
    uint8_t tag;
} probe;

static probe probe_for(const slots *s, cip_bytes text)
{
    const uint64_t hash = cip_siphash(s->key, text);
    return (probe){ (size_t)hash & s->mask, (uint8_t)(0x80 | hash >> 57) };
}

/* To the next slot with that tag, from p->at on; false: there is a free one before. */
static bool probe_finds(const slots *s, probe *p)
{
    const uint8_t *tag = tags_of(s);
    while (tag[p->at] != p->tag && tag[p->at] != 0)
        p->at = (p->at + 1) & s->mask;
    return tag[p->at] != 0;
}

static void probe_on(const slots *s, probe *p)
{
    p->at = (p->at + 1) & s->mask;
}

static void probe_take(slots *s, const probe *p, size_t place)
{
    tags_of(s)[p->at] = p->tag;
    s->slot[p->at] = (uint32_t)place;
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
    probe p = probe_for(s, value_of(key, room));
    for (; probe_finds(s, &p); probe_on(s, &p))
        if (cip_key_equal(pairs[s->slot[p.at]].key, key))
            return s->slot[p.at];
    probe_take(s, &p, n);
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
    probe p = probe_for(s, text);
    for (; probe_finds(s, &p); probe_on(s, &p))
        ;
    probe_take(s, &p, place);
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
    slots_empty(s);
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
    for (probe p = probe_for(s, text); probe_finds(s, &p); probe_on(s, &p))
        offer(map, s->slot[p.at], text, any, &b);
    return b.place;
}
