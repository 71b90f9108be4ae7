/* SPDX-License-Identifier: BSD-3-Clause
 * Symbols go through two tables of 32-bit entries, indexed by the next bits of the stream: what
 * they are worth, and how many bits that takes. Codes that are longer than an index share a second
 * table with all that begin alike. Where 8 bytes of input and the longest match fit, no bound is
 * checked for a symbol (`fast`); near the ends each is taken only when all of its bits are there
 * (`careful`), so input may end anywhere.
 *
 * The output lies behind its last 32 KiB in one buffer, from which it is handed out. */
#include "codec/entropy/inflate.h"

#include <string.h>

#include "base/endian.h"

enum {
    CODE_MAX = 15, /* bits of a code */
    LITLEN_MAX = 288,
    OFFSET_MAX = 32,
    LENGTHS_MAX = LITLEN_MAX + OFFSET_MAX,
    LITLEN_BITS = 10, /* of the tables' indices */
    OFFSET_BITS = 8,
    /* Second tables: one of 2^k entries has k + 1 codes at least, and k is 5 or 7 at most. */
    LITLEN_SECOND = LITLEN_MAX / 6 * 32,
    OFFSET_SECOND = OFFSET_MAX / 8 * 128,
    END_OF_BLOCK = 256,
    MATCH_MAX = 258,
    PIECE = 256 << 10,          /* of output: with the tables it stays in the L2 cache */
    SLACK = MATCH_MAX + 2 * 16, /* what may be written behind the end of a match */
    LIMIT = CIP_INFLATE_WINDOW + PIECE
};

/* Entries: bits 0 to 5 what it takes in all, 8 to 11 of these the code's, 16 to 31 the value: one
 * or two literals, or the least length or offset. With LONG: the bits of the index of a second
 * table, and where that begins. */
enum {
    ALL_BITS = 63,
    CODE_SHIFT = 8,
    LITERAL = 1 << 12,
    PAIR = 1 << 13,  /* two literals */
    OTHER = 1 << 14, /* END or BAD; or, besides, */
    LONG = 1 << 15,
    VALUE_SHIFT = 16,
    END = 0,
    BAD = 1 /* no symbol has this code */
};

typedef uint32_t entry;

/* A canonical code. */
typedef struct code {
    uint16_t count[CODE_MAX + 1];
    uint16_t symbol[LITLEN_MAX];
} code;

typedef enum phase {
    AT_BLOCK,
    AT_STORED, /* at the length of its bytes */
    IN_STORED,
    AT_COUNTS, /* of the code lengths */
    IN_FIRST,  /* in the lengths of the code lengths' codes */
    IN_LENGTHS,
    IN_SYMBOLS,
    AT_END
} phase;

struct cip_inflate {
    const uint8_t *in, *in_end; /* of the step */
    uint64_t bits;              /* taken and not used, the next one lowest; zeros above them */
    unsigned have;              /* how many */
    unsigned skip;              /* bits of the first byte that are left out */
    phase phase;
    bool last;        /* the block is the last one */
    bool told;        /* that a block begins here */
    const char *why;  /* damaged */
    uint32_t nstored; /* bytes that are left of a stored block */
    unsigned nlitlen, noffset, nfirst, at;
    uint8_t len[LENGTHS_MAX];
    code first, litlen, offset;
    entry litlen_at[(1 << LITLEN_BITS) + LITLEN_SECOND];
    entry offset_at[(1 << OFFSET_BITS) + OFFSET_SECOND];
    uint8_t *out;      /* in `buf` behind CIP_INFLATE_FRONT bytes */
    size_t pos, given; /* of `out`: up to here there is output, it was given */
    uint8_t buf[CIP_INFLATE_FRONT + LIMIT + SLACK];
};

/* --- codes --------------------------------------------------------------------------------------
 */

/* How many codes are left over; -1: more are used than there are. */
static int code_make(code *c, const uint8_t *len, unsigned n)
{
    uint16_t at[CODE_MAX + 2] = { 0 };
    int left = 1;
    memset(c->count, 0, sizeof c->count);
    for (unsigned i = 0; i < n; i++)
        c->count[len[i]]++;
    c->count[0] = 0;
    for (int b = 1; b <= CODE_MAX; b++) {
        left = 2 * left - c->count[b];
        if (left < 0)
            return -1;
        at[b + 1] = (uint16_t)(at[b] + c->count[b]);
    }
    for (unsigned i = 0; i < n; i++)
        if (len[i] != 0)
            c->symbol[at[len[i]]++] = (uint16_t)i;
    return left;
}

/* The symbol at the lowest bits of v, -1 for none; *bits: of its code. A code that leaves symbols
 * out is of one bit, so that one is enough to know. */
static int code_next(const code *c, uint64_t v, unsigned *bits)
{
    int value = 0, first = 0, index = 0;
    for (unsigned b = 1; b <= CODE_MAX; b++) {
        value |= (int)(v & 1);
        v >>= 1;
        if (value - c->count[b] < first) {
            *bits = b;
            return c->symbol[index + (value - first)];
        }
        index += c->count[b];
        first = (first + c->count[b]) << 1;
        value <<= 1;
    }
    *bits = 1;
    return -1;
}

static entry entry_of(unsigned value, unsigned bits, unsigned extra, unsigned flags)
{
    return value << VALUE_SHIFT | flags | bits << CODE_SHIFT | (bits + extra);
}

/* Section 3.2.5. */
static entry litlen_entry(int symbol, unsigned bits)
{
    if (symbol < 0 || symbol > 285)
        return entry_of(BAD, bits, 0, OTHER);
    if (symbol < END_OF_BLOCK)
        return entry_of((unsigned)symbol, bits, 0, LITERAL);
    if (symbol == END_OF_BLOCK)
        return entry_of(END, bits, 0, OTHER);
    const unsigned i = (unsigned)symbol - 257, extra = i < 8 || i == 28 ? 0 : i / 4 - 1;
    const unsigned least = i < 8 ? i + 3 : i == 28 ? MATCH_MAX : ((4 + i % 4) << extra) + 3;
    return entry_of(least, bits, extra, 0);
}

static entry offset_entry(int symbol, unsigned bits)
{
    if (symbol < 0 || symbol > 29)
        return entry_of(BAD, bits, 0, OTHER);
    const unsigned i = (unsigned)symbol, extra = i < 4 ? 0 : i / 2 - 1;
    return entry_of(i < 4 ? i + 1 : ((2 + i % 2) << extra) + 1, bits, extra, 0);
}

static unsigned reversed(unsigned v, unsigned bits)
{
    v = (v & 0x5555) << 1 | (v >> 1 & 0x5555);
    v = (v & 0x3333) << 2 | (v >> 2 & 0x3333);
    v = (v & 0x0f0f) << 4 | (v >> 4 & 0x0f0f);
    return ((v & 0xff) << 8 | v >> 8) >> (16 - bits);
}

/* `step` apart from the first on. */
static void fill_entries(entry *at, unsigned first, unsigned step, unsigned end, entry e)
{
    for (unsigned i = first; i < end; i += step)
        at[i] = e;
}

/* The codes that are longer than the index: `value` is the first of them, of index_bits + 1 bits,
 * `index` its place in c->symbol. */
static void second_tables(const code *c, entry *at, unsigned index_bits, unsigned value,
                          unsigned index, entry (*of)(int, unsigned))
{
    unsigned next = 1u << index_bits, begin = 0, size = 0, prefix = UINT32_MAX;
    for (unsigned b = index_bits + 1; b <= CODE_MAX; b++, value <<= 1) {
        for (unsigned k = 0; k < c->count[b]; k++, value++) {
            if (value >> (b - index_bits) != prefix) {
                unsigned bits = b - index_bits;
                int left = (1 << bits) - (c->count[b] - (int)k);
                for (; left > 0; left = 2 * left - c->count[bits + index_bits])
                    bits++;
                prefix = value >> (b - index_bits);
                begin = next;
                size = 1u << bits;
                next += size;
                at[reversed(prefix, index_bits)] = begin << VALUE_SHIFT | OTHER | LONG | bits;
            }
            fill_entries(at + begin, reversed(value, b) >> index_bits, 1u << (b - index_bits), size,
                         of(c->symbol[index++], b));
        }
    }
}

static void table_make(const code *c, entry *at, unsigned index_bits, bool complete,
                       entry (*of)(int, unsigned))
{
    unsigned value = 0, index = 0;
    if (!complete)
        fill_entries(at, 0, 1, 1u << index_bits, of(-1, 1));
    for (unsigned b = 1; b <= index_bits; b++, value <<= 1)
        for (unsigned k = 0; k < c->count[b]; k++, value++)
            fill_entries(at, reversed(value, b), 1u << b, 1u << index_bits,
                         of(c->symbol[index++], b));
    second_tables(c, at, index_bits, value, index, of);
}

/* Literals whose codes fit into an index together are one entry. From the high indices down: what
 * follows has a lower index, so it still stands for one. */
static void pair_literals(const uint8_t *len, entry *at)
{
    unsigned least = CODE_MAX;
    for (unsigned i = 0; i < END_OF_BLOCK; i++)
        least = len[i] != 0 && len[i] < least ? len[i] : least;
    for (unsigned i = (1u << LITLEN_BITS) - 1; 2 * least <= LITLEN_BITS && i != 0; i--) {
        const unsigned bits = at[i] & ALL_BITS;
        const entry next = at[i >> bits];
        if ((at[i] & next & LITERAL) == 0 || bits + (next & ALL_BITS) > LITLEN_BITS)
            continue;
        const unsigned both = (at[i] >> VALUE_SHIFT) | (next >> VALUE_SHIFT) << 8;
        at[i] = entry_of(both, bits + (next & ALL_BITS), 0, LITERAL | PAIR);
    }
}

/* --- bits ---------------------------------------------------------------------------------------
 */

/* Whether n bits are there, n <= 48: as many as there are are taken. */
static bool need(cip_inflate *s, unsigned n)
{
    while (s->have <= 48 && s->in < s->in_end) {
        s->bits |= (uint64_t)*s->in++ << s->have;
        s->have += 8;
    }
    return s->have >= n;
}

static unsigned use(cip_inflate *s, unsigned n)
{
    const unsigned v = (unsigned)(s->bits & ((UINT64_C(1) << n) - 1));
    s->bits >>= n;
    s->have -= n;
    return v;
}

/* Whole bytes that were taken in this step and not used go back. */
static void give_back(cip_inflate *s, const uint8_t *begin)
{
    unsigned n = s->have / 8;
    n = (size_t)(s->in - begin) < n ? (unsigned)(s->in - begin) : n;
    s->in -= n;
    s->have -= 8 * n;
    s->bits &= (UINT64_C(1) << s->have) - 1;
}

/* --- what is in a block -------------------------------------------------------------------------
 */

typedef enum result { GO_ON, WAIT, DAMAGED } result; /* WAIT: for input */

static result damaged(cip_inflate *s, const char *why)
{
    s->why = why;
    return DAMAGED;
}

/* No symbols are left out, but of one of a single bit, or of none (which only offsets may be). */
static bool is_whole(const code *c, int left)
{
    unsigned n = 0;
    for (unsigned b = 1; b <= CODE_MAX; b++)
        n += c->count[b];
    return left == 0 || (left > 0 && (n == 0 || (n == 1 && c->count[1] == 1)));
}

static result begin_symbols(cip_inflate *s)
{
    const int litlen_left = code_make(&s->litlen, s->len, s->nlitlen);
    if (!is_whole(&s->litlen, litlen_left))
        return damaged(s, "invalid literal/lengths set");
    const int offset_left = code_make(&s->offset, s->len + s->nlitlen, s->noffset);
    if (!is_whole(&s->offset, offset_left))
        return damaged(s, "invalid distances set");
    table_make(&s->litlen, s->litlen_at, LITLEN_BITS, litlen_left == 0, litlen_entry);
    pair_literals(s->len, s->litlen_at);
    table_make(&s->offset, s->offset_at, OFFSET_BITS, offset_left == 0, offset_entry);
    s->phase = IN_SYMBOLS;
    return GO_ON;
}

static result begin_block(cip_inflate *s)
{
    if (!need(s, 3))
        return WAIT;
    s->told = false;
    s->last = use(s, 1) != 0;
    switch (use(s, 2)) {
    case 0:
        s->phase = AT_STORED;
        use(s, s->have % 8);
        return GO_ON;
    case 1:
        for (unsigned i = 0; i < LITLEN_MAX; i++)
            s->len[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
        memset(s->len + LITLEN_MAX, 5, OFFSET_MAX);
        s->nlitlen = LITLEN_MAX;
        s->noffset = OFFSET_MAX;
        return begin_symbols(s);
    case 2:
        s->phase = AT_COUNTS;
        return GO_ON;
    default:
        return damaged(s, "invalid block type");
    }
}

static result stored_length(cip_inflate *s)
{
    if (!need(s, 32))
        return WAIT;
    s->nstored = use(s, 16);
    if (use(s, 16) != (s->nstored ^ 0xffff))
        return damaged(s, "invalid stored block lengths");
    s->phase = IN_STORED;
    return GO_ON;
}

static result stored_bytes(cip_inflate *s, size_t limit)
{
    while (s->nstored != 0 && s->pos < limit && s->have != 0) {
        s->out[s->pos++] = (uint8_t)use(s, 8);
        s->nstored--;
    }
    size_t n = s->nstored < limit - s->pos ? s->nstored : limit - s->pos;
    n = n < (size_t)(s->in_end - s->in) ? n : (size_t)(s->in_end - s->in);
    memcpy(s->out + s->pos, s->in, n);
    s->pos += n;
    s->in += n;
    s->nstored -= (uint32_t)n;
    if (s->nstored == 0)
        s->phase = s->last ? AT_END : AT_BLOCK;
    return s->nstored == 0 || s->pos == limit ? GO_ON : WAIT;
}

static result counts(cip_inflate *s)
{
    if (!need(s, 14))
        return WAIT;
    s->nlitlen = 257 + use(s, 5);
    s->noffset = 1 + use(s, 5);
    s->nfirst = 4 + use(s, 4);
    s->at = 0;
    if (s->nlitlen > 286 || s->noffset > 30)
        return damaged(s, "too many length or distance symbols");
    s->phase = IN_FIRST;
    return GO_ON;
}

/* Section 3.2.7. */
static result first_lengths(cip_inflate *s)
{
    static const uint8_t order[19] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                       11, 4,  12, 3, 13, 2, 14, 1, 15 };
    if (s->at == 0)
        memset(s->len, 0, sizeof order);
    for (; s->at < s->nfirst; s->at++) {
        if (!need(s, 3))
            return WAIT;
        s->len[order[s->at]] = (uint8_t)use(s, 3);
    }
    const int left = code_make(&s->first, s->len, sizeof order);
    if (left != 0 && left != 1 << CODE_MAX) /* without any, zlib takes each bit for a length of 0 */
        return damaged(s, "invalid code lengths set");
    s->at = 0;
    s->phase = IN_LENGTHS;
    return GO_ON;
}

static result lengths(cip_inflate *s)
{
    const unsigned n = s->nlitlen + s->noffset;
    while (s->at < n) {
        unsigned bits, value = 0;
        need(s, 0);
        const int symbol = code_next(&s->first, s->bits, &bits);
        const unsigned extra = symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
        if (s->have < bits + extra)
            return WAIT;
        use(s, bits);
        if (symbol < 16) {
            s->len[s->at++] = (uint8_t)(symbol < 0 ? 0 : symbol);
            continue;
        }
        const unsigned again = (symbol == 18 ? 11 : 3) + use(s, extra);
        if ((symbol == 16 && s->at == 0) || again > n - s->at)
            return damaged(s, "invalid bit length repeat");
        if (symbol == 16)
            value = s->len[s->at - 1];
        memset(s->len + s->at, (int)value, again);
        s->at += again;
    }
    if (s->len[END_OF_BLOCK] == 0)
        return damaged(s, "invalid code -- missing end-of-block");
    return begin_symbols(s);
}

/* `length` bytes from `offset` before; may write 2 * 16 bytes behind them. */
static inline void copy_match(uint8_t *out, size_t length, size_t offset)
{
    const uint8_t *from = out - offset, *const end = out + length;
    if (offset >= 16) {
        do {
            memcpy(out, from, 16);
            out += 16, from += 16;
        } while (out < end);
        return;
    }
    if (offset < 8) { /* the first bytes singly; then from so many repeats back that 8 are there */
        for (int i = 0; i < 8; i++)
            out[i] = from[i];
        out += 8;
        from = out - offset * ((7 + offset) / offset);
    }
    for (; out < end; out += 8, from += 8)
        memcpy(out, from, 8);
}

static unsigned value_of(entry e, uint64_t v)
{
    const uint64_t all = v & ((UINT64_C(1) << (e & ALL_BITS)) - 1);
    return (e >> VALUE_SHIFT) + (unsigned)(all >> (e >> CODE_SHIFT & 15));
}

/* Of an entry with LONG: what has the code. */
static entry second(const entry *at, entry e, uint64_t v, unsigned index_bits)
{
    return at[(e >> VALUE_SHIFT) + (v >> index_bits & ((1u << (e & ALL_BITS)) - 1))];
}

/* Symbols while nothing has to be checked; what is special is left to `careful`. A refill gives 56
 * bits: an entry of literals takes 10, one with a long code 15, a match 20 and its offset 28. */
static void fast(cip_inflate *s, size_t limit)
{
    const entry *const litlen_at = s->litlen_at, *const offset_at = s->offset_at;
    const uint8_t *in = s->in;
    const uint8_t *const in_end = s->in_end - 24;
    uint8_t *const base = s->out, *out = base + s->pos;
    const uint8_t *const out_end = base + limit;
    uint64_t v = s->bits;
    unsigned have = s->have;
#define REFILL() (v |= cip_load_u64(in, false) << have, in += (63 - have) >> 3, have |= 56)
#define USE(e) (v >>= (e)&ALL_BITS, have -= (e)&ALL_BITS)
#define LITERALS(e)                                                                                \
    (cip_store_u16(out, (uint16_t)((e) >> VALUE_SHIFT), false), out += 1 + ((e) / PAIR & 1), USE(e))
    REFILL();
    entry e = litlen_at[v & ((1 << LITLEN_BITS) - 1)];
    while (in <= in_end && out < out_end) {
        if (e & LITERAL) {
            LITERALS(e);
            e = litlen_at[v & ((1 << LITLEN_BITS) - 1)];
            if (e & LITERAL) {
                LITERALS(e);
                e = litlen_at[v & ((1 << LITLEN_BITS) - 1)];
                if (e & LITERAL) {
                    LITERALS(e);
                    REFILL();
                    e = litlen_at[v & ((1 << LITLEN_BITS) - 1)];
                    continue;
                }
            }
            REFILL();
        }
        if (e & OTHER) {
            if (e & LONG)
                e = second(litlen_at, e, v, LITLEN_BITS);
            if (e & LITERAL) {
                LITERALS(e);
                REFILL();
                e = litlen_at[v & ((1 << LITLEN_BITS) - 1)];
                continue;
            }
            if (e & OTHER)
                break;
        }
        const uint64_t behind = v >> (e & ALL_BITS);
        entry o = offset_at[behind & ((1 << OFFSET_BITS) - 1)];
        if (o & LONG)
            o = second(offset_at, o, behind, OFFSET_BITS);
        if (o & OTHER)
            break;
        const size_t length = value_of(e, v), offset = value_of(o, behind);
        if (offset > (size_t)(out - base))
            break;
        v = behind >> (o & ALL_BITS);
        have -= (e & ALL_BITS) + (o & ALL_BITS);
        REFILL();
        e = litlen_at[v & ((1 << LITLEN_BITS) - 1)];
        copy_match(out, length, offset);
        out += length;
    }
#undef REFILL
#undef USE
#undef LITERALS
    s->in = in;
    s->bits = v & ((UINT64_C(1) << have) - 1);
    s->have = have;
    s->pos = (size_t)(out - base);
}

/* One symbol, when all of its bits are there. */
static result careful(cip_inflate *s)
{
    need(s, 0);
    uint64_t v = s->bits;
    unsigned bits;
    int symbol = code_next(&s->litlen, v, &bits);
    const entry e = litlen_entry(symbol, bits);
    unsigned all = e & ALL_BITS;
    if (s->have < all)
        return WAIT;
    if (e & LITERAL) {
        s->out[s->pos++] = (uint8_t)(e >> VALUE_SHIFT);
        use(s, all);
        return GO_ON;
    }
    if (e & OTHER) {
        if (e >> VALUE_SHIFT == BAD)
            return damaged(s, "invalid literal/length code");
        use(s, all);
        s->phase = s->last ? AT_END : AT_BLOCK;
        return GO_ON;
    }
    const size_t length = value_of(e, v);
    v >>= all;
    symbol = code_next(&s->offset, v, &bits);
    if (s->have < all + bits)
        return WAIT;
    const entry o = offset_entry(symbol, bits);
    if (o & OTHER)
        return damaged(s, "invalid distance code");
    all += o & ALL_BITS;
    if (s->have < all)
        return WAIT;
    const size_t offset = value_of(o, v);
    if (offset > s->pos)
        return damaged(s, "invalid distance too far back");
    copy_match(s->out + s->pos, length, offset);
    s->pos += length;
    use(s, all);
    return GO_ON;
}

static result symbols(cip_inflate *s, size_t limit)
{
    result r = GO_ON;
    while (r == GO_ON && s->phase == IN_SYMBOLS && s->pos < limit) {
        if (s->in_end - s->in >= 32)
            fast(s, limit);
        if (s->pos < limit)
            r = careful(s);
    }
    return r;
}

/* --- pieces -------------------------------------------------------------------------------------
 */

/* Until there is output up to `limit`, a block ends, or input is wanted. */
static result decode(cip_inflate *s, size_t limit)
{
    result r = GO_ON;
    do {
        switch (s->phase) {
        case AT_BLOCK:
            r = begin_block(s);
            break;
        case AT_STORED:
            r = stored_length(s);
            break;
        case IN_STORED:
            r = stored_bytes(s, limit);
            break;
        case AT_COUNTS:
            r = counts(s);
            break;
        case IN_FIRST:
            r = first_lengths(s);
            break;
        case IN_LENGTHS:
            r = lengths(s);
            break;
        case IN_SYMBOLS:
            r = symbols(s, limit);
            break;
        case AT_END:
            break;
        }
    } while (r == GO_ON && s->pos < limit && s->phase != AT_BLOCK && s->phase != AT_END);
    return r;
}

static void hand_out(cip_inflate *s, cip_flow *f)
{
    const size_t room = f->out_len - f->gave, left = s->pos - s->given;
    const size_t n = left < room ? left : room;
    if (n != 0 && f->out != NULL)
        memcpy(f->out + f->gave, s->out + s->given, n);
    s->given += n;
    f->gave += n;
}

cip_inflate_stop cip_inflate_step(cip_inflate *s, cip_flow *f, bool at_block)
{
    result r = GO_ON;
    cip_inflate_stop stop = CIP_INFLATE_MORE;
    s->in = f->in;
    s->in_end = f->in + f->in_len;
    f->gave = 0;
    if (s->skip != 0 && need(s, 8)) {
        use(s, s->skip);
        s->skip = 0;
    }
    for (;;) {
        hand_out(s, f);
        if (s->given < s->pos || r == WAIT)
            break;
        if (r == DAMAGED) {
            stop = CIP_INFLATE_DAMAGED;
            break;
        }
        if (s->phase == AT_BLOCK && at_block && !s->told) {
            s->told = true;
            stop = CIP_INFLATE_BLOCK;
            break;
        }
        if (s->phase == AT_END) {
            stop = CIP_INFLATE_END;
            break;
        }
        if (f->gave == f->out_len)
            break;
        if (s->pos >= LIMIT) {
            memmove(s->out, s->out + s->pos - CIP_INFLATE_WINDOW, CIP_INFLATE_WINDOW);
            s->pos = s->given = CIP_INFLATE_WINDOW;
        }
        const size_t room = f->out_len - f->gave;
        r = decode(s, room < LIMIT - s->pos ? s->pos + room : LIMIT);
    }
    if (r != WAIT)
        give_back(s, f->in);
    f->took = (size_t)(s->in - f->in);
    return stop;
}

unsigned cip_inflate_bits(const cip_inflate *s)
{
    return s->have;
}

uint8_t *cip_inflate_window(cip_inflate *s, size_t *n)
{
    *n = s->given < CIP_INFLATE_WINDOW ? s->given : CIP_INFLATE_WINDOW;
    return s->out + s->given - *n;
}

cip_status cip_deflate_last(cip_mem *mem, cip_bytes in, uint64_t *last, uint64_t *end, cip_err *err)
{
    cip_inflate *s;
    cip_flow f = { .in = in.ptr, .in_len = in.len, .out_len = SIZE_MAX };
    cip_inflate_stop stop;
    uint64_t block = 0, at = 0;
    CIP_TRY(cip_inflate_new(mem, (cip_bytes){ 0 }, 0, &s, err));
    do {
        block = at;
        stop = cip_inflate_step(s, &f, true);
        f.in += f.took;
        f.in_len -= f.took;
        at = 8 * (uint64_t)(in.len - f.in_len) - s->have;
    } while (stop == CIP_INFLATE_BLOCK);
    cip_mem_put(mem, s);
    if (stop != CIP_INFLATE_END)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected deflate blocks to the last, found damaged or missing ones");
    *last = block;
    *end = at;
    return CIP_OK;
}

const char *cip_inflate_why(const cip_inflate *s)
{
    return s->why;
}

cip_status cip_inflate_new(cip_mem *mem, cip_bytes window, unsigned skip, cip_inflate **out,
                           cip_err *err)
{
    cip_inflate *s;
    CIP_TRY(cip_mem_get(mem, sizeof *s, (void **)&s, err));
    memset(s, 0, offsetof(cip_inflate, first));
    s->skip = skip;
    s->told = true;
    s->out = s->buf + CIP_INFLATE_FRONT;
    s->pos = s->given = window.len;
    if (window.len != 0)
        memcpy(s->out, window.ptr, window.len);
    *out = s;
    return CIP_OK;
}
