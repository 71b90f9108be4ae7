/* SPDX-License-Identifier: BSD-3-Clause
 * The blocks of a raw deflate stream (RFC 1951), walked without producing a byte: of every symbol
 * only the number of bits matters. One look into a table takes as many literals as its index
 * holds, so this costs a tenth of what making the stream did. */
#include <string.h>

#include "base/endian.h"
#include "codec/framing.h"

enum {
    CODE_MAX = 15,
    LITLEN_MAX = 288,
    OFFSET_MAX = 32,
    LITLEN_BITS = 11, /* of the tables' indices */
    OFFSET_BITS = 9,
    END_OF_BLOCK = 256
};

typedef enum kind { LONG = 0, LITERALS, MATCH, END, BAD } kind;

typedef struct entry {
    uint8_t kind; /* LONG: the code is longer than the index */
    uint8_t bits; /* of the code(s) and the extra bits of the last */
} entry;

/* A canonical code. */
typedef struct code {
    uint16_t count[CODE_MAX + 1];
    uint16_t symbol[LITLEN_MAX];
} code;

typedef struct walk {
    cip_bytes in;
    uint64_t pos; /* bits */
    uint8_t len[LITLEN_MAX + OFFSET_MAX];
    code litlen, offset;
    entry lit_at[1 << LITLEN_BITS];
    entry off_at[1 << OFFSET_BITS];
} walk;

/* Bits from pos on, the first one lowest; zeros behind the end. */
static uint64_t load(const walk *w)
{
    uint64_t at = w->pos >> 3, v = 0;
    for (int i = 0; i < 8 && at + (uint64_t)i < w->in.len; i++)
        v |= (uint64_t)w->in.ptr[at + (uint64_t)i] << (8 * i);
    return v >> (w->pos & 7);
}

static unsigned take_bits(walk *w, unsigned n)
{
    unsigned v = (unsigned)(load(w) & ((1u << n) - 1));
    w->pos += n;
    return v;
}

/* false: more codes than there is room for. A code that is not complete is fine: what it leaves out
 * is BAD where it occurs. */
static bool code_make(code *c, const uint8_t *len, unsigned n)
{
    uint16_t at[CODE_MAX + 2] = { 0 };
    memset(c->count, 0, sizeof c->count);
    for (unsigned i = 0; i < n; i++)
        c->count[len[i]]++;
    c->count[0] = 0;
    int left = 1;
    for (int b = 1; b <= CODE_MAX; b++) {
        left = 2 * left - c->count[b];
        if (left < 0)
            return false;
        at[b + 1] = (uint16_t)(at[b] + c->count[b]);
    }
    for (unsigned i = 0; i < n; i++)
        if (len[i] != 0)
            c->symbol[at[len[i]]++] = (uint16_t)i;
    return true;
}

/* The symbol at the lowest bits of v, -1 for none; *bits: of its code. */
static int code_next(const code *c, uint64_t v, unsigned *bits)
{
    int value = 0, first = 0, index = 0;
    for (unsigned b = 1; b <= CODE_MAX; b++) {
        value |= (int)(v & 1);
        v >>= 1;
        int count = c->count[b];
        if (value - count < first) {
            *bits = b;
            return c->symbol[index + (value - first)];
        }
        index += count;
        first = (first + count) << 1;
        value <<= 1;
    }
    return -1;
}

static entry litlen_entry(int symbol, unsigned bits)
{
    if (symbol < END_OF_BLOCK)
        return (entry){ symbol < 0 ? BAD : LITERALS, (uint8_t)bits };
    if (symbol == END_OF_BLOCK)
        return (entry){ END, (uint8_t)bits };
    if (symbol > 285)
        return (entry){ BAD, 0 };
    unsigned i = (unsigned)symbol - 257; /* extra bits: section 3.2.5 */
    unsigned extra = i < 8 || i == 28 ? 0 : i / 4 - 1;
    return (entry){ MATCH, (uint8_t)(bits + extra) };
}

static entry offset_entry(int symbol, unsigned bits)
{
    if (symbol < 0 || symbol > 29)
        return (entry){ BAD, 0 };
    unsigned extra = symbol < 4 ? 0 : (unsigned)symbol / 2 - 1;
    return (entry){ MATCH, (uint8_t)(bits + extra) };
}

static void table_make(const code *c, entry *at, unsigned index_bits, entry (*of)(int, unsigned))
{
    memset(at, 0, sizeof *at << index_bits); /* LONG */
    unsigned value = 0, index = 0;
    for (unsigned b = 1; b <= index_bits; b++, value <<= 1) {
        for (unsigned k = 0; k < c->count[b]; k++, value++) {
            unsigned reversed = 0;
            for (unsigned i = 0; i < b; i++)
                reversed |= (value >> i & 1) << (b - 1 - i);
            entry e = of(c->symbol[index++], b);
            for (unsigned i = reversed; i < 1u << index_bits; i += 1u << b)
                at[i] = e;
        }
    }
}

static bool tables(walk *w, unsigned nlit, unsigned noff)
{
    if (!code_make(&w->litlen, w->len, nlit) || !code_make(&w->offset, w->len + nlit, noff))
        return false;
    table_make(&w->litlen, w->lit_at, LITLEN_BITS, litlen_entry);
    /* Literals are followed by what other literals the index holds. From the high indices down:
     * what follows one has a lower index, so it still stands for one symbol. */
    for (unsigned i = (1u << LITLEN_BITS) - 1; i != 0; i--) {
        entry e = w->lit_at[i];
        while (e.kind == LITERALS && e.bits < LITLEN_BITS) {
            entry next = w->lit_at[i >> e.bits];
            if (next.kind != LITERALS || next.bits + e.bits > LITLEN_BITS)
                break;
            e.bits = (uint8_t)(e.bits + next.bits);
        }
        w->lit_at[i] = e;
    }
    table_make(&w->offset, w->off_at, OFFSET_BITS, offset_entry);
    return true;
}

static bool fixed_codes(walk *w)
{
    for (unsigned i = 0; i < LITLEN_MAX; i++)
        w->len[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(w->len + LITLEN_MAX, 5, 30);
    return tables(w, LITLEN_MAX, 30);
}

/* Code lengths, themselves encoded (section 3.2.7). */
static bool read_lengths(walk *w, const code *pre, unsigned n)
{
    for (unsigned i = 0; i < n;) {
        unsigned bits, again, value = 0;
        int symbol = code_next(pre, load(w), &bits);
        if (symbol < 0 || w->pos > 8 * (uint64_t)w->in.len)
            return false;
        w->pos += bits;
        if (symbol < 16) {
            w->len[i++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 16 && i == 0)
            return false;
        if (symbol == 16)
            value = w->len[i - 1];
        again = symbol == 16   ? 3 + take_bits(w, 2)
                : symbol == 17 ? 3 + take_bits(w, 3)
                               : 11 + take_bits(w, 7);
        if (again > n - i)
            return false;
        memset(w->len + i, (int)value, again);
        i += again;
    }
    return true;
}

static bool dynamic_codes(walk *w)
{
    static const uint8_t order[19] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                       11, 4,  12, 3, 13, 2, 14, 1, 15 };
    uint8_t len[19] = { 0 };
    code pre;
    unsigned nlit = 257 + take_bits(w, 5), noff = 1 + take_bits(w, 5), npre = 4 + take_bits(w, 4);
    for (unsigned i = 0; i < npre; i++)
        len[order[i]] = (uint8_t)take_bits(w, 3);
    return nlit <= LITLEN_MAX && code_make(&pre, len, 19) && read_lengths(w, &pre, nlit + noff) &&
           tables(w, nlit, noff);
}

static entry long_entry(const code *c, uint64_t v, entry (*of)(int, unsigned))
{
    unsigned bits = 0;
    int symbol = code_next(c, v, &bits);
    return of(symbol, bits);
}

/* One symbol or a few literals. False: the block ends here, well or badly (*good). */
static bool careful_step(walk *w, bool *good)
{
    uint64_t v = load(w);
    entry e = w->lit_at[v & ((1 << LITLEN_BITS) - 1)];
    if (e.kind == LONG)
        e = long_entry(&w->litlen, v, litlen_entry);
    w->pos += e.bits;
    *good = e.kind == END && w->pos <= 8 * (uint64_t)w->in.len;
    if (e.kind == LITERALS)
        return w->pos <= 8 * (uint64_t)w->in.len;
    if (e.kind != MATCH)
        return false;
    v >>= e.bits;
    e = w->off_at[v & ((1 << OFFSET_BITS) - 1)];
    if (e.kind == LONG)
        e = long_entry(&w->offset, v, offset_entry);
    w->pos += e.bits;
    return e.kind == MATCH && w->pos <= 8 * (uint64_t)w->in.len;
}

/* Symbols as long as there is room to load and no code is long: all state in registers. Stops
 * before what it leaves to careful_step. A refill gives 56 bits: four times literals (11), or
 * literals and then a match (16) with its offset (9 + 13). */
static void fast_steps(walk *w)
{
    const entry *lit_at = w->lit_at, *off_at = w->off_at;
    const uint8_t *p = w->in.ptr + w->pos / 8, *end = w->in.ptr + w->in.len;
    uint64_t v = 0;
    unsigned have = 0;
    entry e;
    if (end - p < 16)
        return;
    v = cip_load_u64(p, false) >> (w->pos & 7);
    have = 56 - (w->pos & 7);
    p += 7;
    while (end - p >= 8) {
        v |= cip_load_u64(p, false) << have;
        p += (63 - have) >> 3;
        have |= 56;
        e = lit_at[v & ((1 << LITLEN_BITS) - 1)];
        if (e.kind == LITERALS) {
            v >>= e.bits;
            have -= e.bits;
            e = lit_at[v & ((1 << LITLEN_BITS) - 1)];
        }
        for (int i = 0; e.kind == LITERALS; i++) {
            v >>= e.bits;
            have -= e.bits;
            if (i == 2)
                break;
            e = lit_at[v & ((1 << LITLEN_BITS) - 1)];
        }
        if (e.kind == LITERALS || (e.kind == MATCH && have < 38)) /* it comes again */
            continue;
        if (e.kind != MATCH)
            break;
        entry o = off_at[(v >> e.bits) & ((1 << OFFSET_BITS) - 1)];
        if (o.kind != MATCH)
            break;
        v >>= e.bits + o.bits;
        have -= (unsigned)e.bits + o.bits;
    }
    w->pos = 8 * (uint64_t)(p - w->in.ptr) - have;
}

/* The symbols of a block, its end included. */
static bool symbols(walk *w)
{
    bool good = false;
    do
        fast_steps(w);
    while (careful_step(w, &good));
    return good;
}

static bool stored(walk *w)
{
    w->pos = (w->pos + 7) & ~UINT64_C(7);
    uint64_t v = load(w), n = v & 0xffff;
    w->pos += 32 + 8 * n;
    return (n ^ (v >> 16 & 0xffff)) == 0xffff && w->pos <= 8 * (uint64_t)w->in.len;
}

bool cip_deflate_last(cip_bytes in, uint64_t *last, uint64_t *end)
{
    walk w;
    w.in = in;
    w.pos = 0;
    for (;;) {
        uint64_t at = w.pos;
        unsigned head = take_bits(&w, 3), type = head >> 1;
        if (w.pos > 8 * (uint64_t)w.in.len)
            return false;
        bool good = type == 0   ? stored(&w)
                    : type == 1 ? fixed_codes(&w) && symbols(&w)
                    : type == 2 ? dynamic_codes(&w) && symbols(&w)
                                : false;
        if (!good)
            return false;
        if (head & 1) {
            *last = at;
            *end = w.pos;
            return true;
        }
    }
}
