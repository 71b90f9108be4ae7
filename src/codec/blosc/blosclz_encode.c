/* SPDX-License-Identifier: BSD-3-Clause
 * BloscLZ, encoding: greedy matches from one table of positions, at higher levels with a look at
 * the next byte first. The stream begins and ends with literals, as libblosc2's decoder needs: it
 * does not perform a match that is the last thing. */
#include <string.h>

#include "base/endian.h"
#include "codec/blosc/blosc.h"

enum {
    MIN_INPUT = 16,
    HASH_LOG = 14,
    MIN_MATCH = 4,
    NEAR = 8191,             /* the longest distance of the two-byte form */
    FAR = 65535 + NEAR - 1,  /* that every decoder takes */
    SHORT_MATCH = 8,         /* the longest without more length bytes */
    LITERALS = 32,           /* of one token */
    TAIL = 8,                /* no match begins so near the end */
    FIRST_LITERALS = 1 << 5, /* the mark in the first token */
    LAZY_LENGTH = 48         /* what is as long is taken as it is */
};

/* How a level searches. Short matches save little and cost time, most of all when they are decoded.
 * By four bytes the table finds them, but in noise of few values most of the time goes into those
 * that are too short to be taken. By six, what it gives is nearly always worth looking at; 32 KiB
 * of table stay in the nearest cache.
 */
typedef struct way {
    int patience;             /* misses before the steps grow, log2 */
    size_t near_min, far_min; /* shortest matches taken */
    bool lazy, by_four;
    int hash_log;
} way;
static const way ways[4] = {
    { 4, 7, 12, false, true, HASH_LOG },
    { 5, 6, 10, false, true, HASH_LOG },
    { 5, 4, 6, true, false, 13 },
    { 7, 4, 7, true, true, HASH_LOG },
};
static const uint8_t way_of_level[10] = { 0, 0, 0, 0, 1, 1, 1, 2, 3, 3 };

#define INLINE static inline __attribute__((always_inline))

typedef struct encoder {
    const uint8_t *src;
    size_t n, last; /* no match begins beyond `last` */
    uint32_t *table;
    int shift; /* of a hash, down to the table in use */
    const way *way;
    uint8_t *out, *end;
} encoder;

typedef struct match {
    size_t at, from, len; /* len 0: none */
} match;

_Static_assert(1 << HASH_LOG == CIP_BLOSCLZ_TABLE, "the table as its users allocate it");

static inline uint32_t load4(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Where the table has what begins at `at`, which eight bytes follow. */
INLINE uint32_t slot(const encoder *e, bool by_four, size_t at)
{
    if (by_four)
        return cip_load_u32(e->src + at, false) * 2654435761u >> e->shift;
    uint64_t six = cip_load_u64(e->src + at, false) << 16;
    return (uint32_t)(six * UINT64_C(0x9E3779B185EBCA87) >> 32) >> e->shift;
}

/* How many bytes at a and b are alike; b is the later one and stops before `end`. */
static inline size_t alike(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
    const uint8_t *from = b;
    while (end - b >= 8) {
        uint64_t d = cip_load_u64(a, false) ^ cip_load_u64(b, false);
        if (d != 0)
            return (size_t)(b - from) + ((size_t)__builtin_ctzll(d) >> 3);
        a += 8;
        b += 8;
    }
    while (b < end && *a == *b) {
        a++;
        b++;
    }
    return (size_t)(b - from);
}

/* The match at `at`, which enters the table. */
INLINE match look(const encoder *e, bool by_four, size_t at)
{
    uint32_t h = slot(e, by_four, at);
    match m = { at, e->table[h], 0 };
    e->table[h] = (uint32_t)at;
    if (load4(e->src + m.from) != load4(e->src + at) || at - m.from > FAR)
        return m;
    const uint8_t *end = e->src + e->n - 1; /* a literal comes last */
    m.len = MIN_MATCH + alike(e->src + m.from + MIN_MATCH, e->src + at + MIN_MATCH, end);
    if (m.len < (at - m.from > NEAR ? e->way->far_min : e->way->near_min))
        m.len = 0;
    return m;
}

/* The next match from *at on. */
INLINE match find(const encoder *e, bool by_four, size_t at)
{
    for (size_t misses = (size_t)1 << e->way->patience; at <= e->last;
         at += misses++ >> e->way->patience) {
        match m = look(e, by_four, at);
        if (m.len != 0)
            return m;
    }
    return (match){ .len = 0 };
}

/* Takes one that begins a byte later and is longer by more than that byte, as long as there is one.
 */
INLINE match find_better(const encoder *e, bool by_four, match m)
{
    while (m.len < LAZY_LENGTH && m.at + 1 <= e->last) {
        match next = look(e, by_four, m.at + 1);
        if (next.len <= m.len + 1 + (next.at - next.from > NEAR && m.at - m.from <= NEAR ? 2 : 0))
            break;
        m = next;
    }
    return m;
}

static inline bool put_literals(encoder *e, size_t from, size_t n)
{
    if ((size_t)(e->end - e->out) < n + (n + LITERALS - 1) / LITERALS)
        return false;
    for (; n > LITERALS; n -= LITERALS, from += LITERALS) {
        *e->out++ = LITERALS - 1;
        memcpy(e->out, e->src + from, LITERALS);
        e->out += LITERALS;
    }
    if (n == 0)
        return true;
    *e->out++ = (uint8_t)(n - 1);
    if (e->end - e->out >= LITERALS && e->n - from >= LITERALS)
        memcpy(e->out, e->src + from, LITERALS); /* a fixed length is quicker */
    else
        memcpy(e->out, e->src + from, n);
    e->out += n;
    return true;
}

static inline bool put_match(encoder *e, size_t distance, size_t len)
{
    size_t more = len > SHORT_MATCH ? len - SHORT_MATCH - 1 : 0;
    if ((size_t)(e->end - e->out) < 5 + more / 255)
        return false;
    bool far = distance > NEAR;
    size_t d = far ? distance - 1 - NEAR : distance - 1;
    size_t high = far ? 31 : d >> 8;
    *e->out++ = (uint8_t)((len > SHORT_MATCH ? 7 : len - 2) << 5 | high);
    if (len > SHORT_MATCH) {
        for (; more >= 255; more -= 255)
            *e->out++ = 255;
        *e->out++ = (uint8_t)more;
    }
    if (far) {
        *e->out++ = 255;
        *e->out++ = (uint8_t)(d >> 8);
    }
    *e->out++ = (uint8_t)d;
    return true;
}

/* With both wishes constant there is a loop of its own for each way. */
INLINE bool encode(encoder *e, bool lazy, bool by_four)
{
    size_t done = 0, low = 1; /* a literal comes first */
    for (size_t at = 1;;) {
        match m = find(e, by_four, at);
        if (m.len == 0)
            return put_literals(e, done, e->n - done);
        if (lazy)
            m = find_better(e, by_four, m);
        while (m.at > low && m.from > 0 && e->src[m.at - 1] == e->src[m.from - 1]) {
            m.at--; /* it begins earlier where the bytes before are alike too */
            m.from--;
            m.len++;
        }
        if (!put_literals(e, done, m.at - done) || !put_match(e, m.at - m.from, m.len))
            return false;
        at = low = done = m.at + m.len;
        if (at <= e->last)
            e->table[slot(e, by_four, at - 2)] = (uint32_t)(at - 2);
    }
}

void cip_blosclz_encode(int level, cip_bytes src, uint32_t *table, uint8_t *dst, size_t cap,
                        size_t *n)
{
    *n = 0;
    if (src.len < MIN_INPUT || src.len > UINT32_MAX)
        return;
    const way *how = &ways[way_of_level[level]];
    int log = 8;
    while (log < how->hash_log && (size_t)1 << log < src.len / 2)
        log++;
    memset(table, 0, sizeof *table << log);
    encoder e = { .src = src.ptr,
                  .n = src.len,
                  .last = src.len - TAIL,
                  .table = table,
                  .shift = 32 - log,
                  .way = how,
                  .out = dst,
                  .end = dst + cap };
    bool fits = !how->lazy     ? encode(&e, false, true)
                : how->by_four ? encode(&e, true, true)
                               : encode(&e, true, false);
    if (fits) {
        dst[0] |= FIRST_LITERALS;
        *n = (size_t)(e.out - dst);
    }
}
