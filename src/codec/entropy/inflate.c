/* SPDX-License-Identifier: BSD-3-Clause
 * Deflate in pieces. A state machine whose steps take at most 48 bits each, so that input may end
 * anywhere; the symbols of a block in a loop of their own as long as there is input and room. All
 * goes to a buffer that begins with the last 32 KiB, and from there to the caller. */
#include "codec/entropy/inflate.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/entropy/inflate_tables.h"

enum {
    WORK = 96 << 10,     /* between two slides of the window */
    SLACK = 2 + 258 + 7, /* what may be written behind the limit */
    FAST_IN = 16         /* bytes that the loop may look ahead */
};

enum { HEAD, STORED_LEN, STORED, COUNTS, PRE_LENGTHS, LENGTHS, SYMBOLS, ENDED, BAD };

struct cip_inflate {
    cip_mem *mem;
    const uint8_t *in, *in_end; /* of this call */
    uint64_t bits;              /* `have` valid ones; above them zeros or those that come next */
    unsigned have, skip;
    int state;
    bool last;     /* this block is */
    bool want;     /* stop where the next one begins */
    bool told;     /* that this one begins here */
    uint32_t left; /* STORED: bytes; lengths: which is next */
    unsigned nlit, noff, npre;
    const char *why;
    size_t at, given, low; /* in buf: written up to, given up to, the first byte that there is */
    uint8_t len[CIP_INFLATE_NLIT + CIP_INFLATE_NOFF];
    cip_inflate_tables t;
    uint8_t buf[CIP_MARK_WINDOW + WORK + SLACK];
};

cip_status cip_inflate_new(cip_mem *mem, const uint8_t *window, size_t window_len, unsigned skip,
                           cip_inflate **out, cip_err *err)
{
    cip_inflate *s = NULL;
    *out = NULL;
    CIP_TRY(cip_mem_get(mem, sizeof *s, (void **)&s, err));
    memset(s, 0, offsetof(cip_inflate, t));
    size_t n = window_len < CIP_MARK_WINDOW ? window_len : CIP_MARK_WINDOW;
    s->mem = mem;
    s->skip = skip;
    s->at = s->given = CIP_MARK_WINDOW;
    s->low = CIP_MARK_WINDOW - n;
    if (n != 0)
        memcpy(s->buf + s->low, window + (window_len - n), n);
    *out = s;
    return CIP_OK;
}

void cip_inflate_free(cip_inflate *s)
{
    if (s != NULL)
        cip_mem_put(s->mem, s);
}

void cip_inflate_want_block(cip_inflate *s)
{
    s->want = true;
}

unsigned cip_inflate_bits_left(const cip_inflate *s)
{
    return s->have;
}

size_t cip_inflate_window(const cip_inflate *s, const uint8_t **window)
{
    size_t n = s->at - s->low;
    n = n < CIP_MARK_WINDOW ? n : CIP_MARK_WINDOW;
    *window = s->buf + (s->at - n);
    return n;
}

size_t cip_inflate_left(const cip_inflate *s, uint8_t left[8])
{
    cip_store_u64(left, s->bits, false);
    return s->have / 8;
}

const char *cip_inflate_why(const cip_inflate *s)
{
    return s->why;
}

/* --- bits ------------------------------------------------------------------------------------ */

/* At least 56 bits, or all there are. */
static void pull(cip_inflate *s)
{
    if (s->in_end - s->in >= 8) {
        s->bits |= cip_load_u64(s->in, false) << s->have;
        s->in += (63 - s->have) >> 3;
        s->have |= 56;
        return;
    }
    while (s->have < 56 && s->in != s->in_end) {
        s->bits |= (uint64_t)*s->in++ << s->have;
        s->have += 8;
    }
}

static void drop(cip_inflate *s, unsigned n)
{
    s->bits >>= n;
    s->have -= n;
}

static unsigned take(cip_inflate *s, unsigned n)
{
    unsigned v = (unsigned)(s->bits & ((UINT64_C(1) << n) - 1));
    drop(s, n);
    return v;
}

static bool bad(cip_inflate *s, const char *why)
{
    s->why = why;
    s->state = BAD;
    return true;
}

/* --- headers: false when input is short ------------------------------------------------------ */

static bool read_head(cip_inflate *s)
{
    if (s->skip != 0) { /* a mark inside of this byte */
        if (s->have < s->skip)
            return false;
        drop(s, s->skip);
        s->skip = 0;
    }
    if (s->have < 3)
        return false;
    s->told = false;
    s->last = take(s, 1);
    switch (take(s, 2)) {
    case 0:
        drop(s, s->have & 7);
        s->state = STORED_LEN;
        return true;
    case 1:
        cip_inflate_fixed(&s->t);
        s->state = SYMBOLS;
        return true;
    case 2:
        s->state = COUNTS;
        return true;
    default:
        return bad(s, "invalid block type");
    }
}

static bool read_stored_len(cip_inflate *s)
{
    if (s->have < 32)
        return false;
    s->left = take(s, 16);
    if ((s->left ^ take(s, 16)) != 0xffff)
        return bad(s, "invalid stored block lengths");
    s->state = STORED;
    return true;
}

static bool read_counts(cip_inflate *s)
{
    if (s->have < 14)
        return false;
    s->nlit = 257 + take(s, 5);
    s->noff = 1 + take(s, 5);
    s->npre = 4 + take(s, 4);
    if (s->nlit > 286 || s->noff > 30)
        return bad(s, "too many length or distance symbols");
    memset(s->len, 0, 19);
    s->left = 0;
    s->state = PRE_LENGTHS;
    return true;
}

static bool read_pre_lengths(cip_inflate *s)
{
    static const uint8_t order[19] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                       11, 4,  12, 3, 13, 2, 14, 1, 15 };
    for (; s->left < s->npre && s->have >= 3; s->left++) {
        s->len[order[s->left]] = (uint8_t)take(s, 3);
        if (s->have < 3)
            pull(s);
    }
    if (s->left < s->npre)
        return false;
    if (!cip_inflate_pre(&s->t, s->len))
        return bad(s, "invalid code lengths set");
    s->left = 0;
    s->state = LENGTHS;
    return true;
}

/* One item of the code lengths: one length or one repeated. False: input is short. */
static bool read_length(cip_inflate *s)
{
    uint32_t e = s->t.off[s->bits & CIP_INFLATE_PRE_MASK]; /* the table of offsets serves for it */
    unsigned symbol = e >> 16, nbits = e & 0xff, n = 1, value = symbol;
    if (nbits > s->have)
        return false;
    if (symbol >= 16) {
        unsigned extra = symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
        if (nbits + extra > s->have)
            return false;
        if (symbol == 16 && s->left == 0)
            return bad(s, "invalid bit length repeat");
        value = symbol == 16 ? s->len[s->left - 1] : 0;
        n = (unsigned)(s->bits >> nbits & ((1u << extra) - 1)) + (symbol == 18 ? 11 : 3);
        nbits += extra;
    }
    if (n > s->nlit + s->noff - s->left)
        return bad(s, "invalid bit length repeat");
    drop(s, nbits);
    memset(s->len + s->left, (int)value, n);
    s->left += n;
    return true;
}

static bool read_lengths(cip_inflate *s)
{
    while (s->left < s->nlit + s->noff) {
        pull(s);
        if (!read_length(s))
            return false;
        if (s->state == BAD)
            return true;
    }
    if (s->len[256] == 0)
        return bad(s, "invalid code -- missing end-of-block");
    if (!cip_inflate_dynamic(&s->t, s->len, s->nlit, s->noff, &s->why)) {
        s->state = BAD;
        return true;
    }
    s->state = SYMBOLS;
    return true;
}

/* --- data: false when input is short --------------------------------------------------------- */

static bool end_of_block(cip_inflate *s)
{
    s->state = s->last ? ENDED : HEAD;
    if (s->last)
        drop(s, s->have & 7);
    return true;
}

static bool copy_stored(cip_inflate *s, size_t limit)
{
    while (s->left != 0 && s->at < limit && s->have >= 8) {
        s->buf[s->at++] = (uint8_t)take(s, 8);
        s->left--;
    }
    if (s->have == 0) { /* what stood above them are bytes that are read again here */
        s->bits = 0;
        size_t n = (size_t)cip_min_u64(s->left, (uint64_t)(s->in_end - s->in));
        n = s->at < limit ? (size_t)cip_min_u64(n, limit - s->at) : 0;
        memcpy(s->buf + s->at, s->in, n);
        s->at += n;
        s->in += n;
        s->left -= (uint32_t)n;
    }
    if (s->left == 0)
        return end_of_block(s);
    return s->at >= limit;
}

/* n bytes from `back` bytes before; up to 7 more may be written. */
static inline void copy_match(uint8_t *dst, size_t back, size_t n)
{
    const uint8_t *src = dst - back, *end = dst + n;
    if (back >= 8) {
        memcpy(dst, src, 8);
        while ((dst += 8) < end)
            memcpy(dst, src += 8, 8);
    } else if (back == 1) {
        memset(dst, *src, n);
    } else { /* each time `back` more bytes are right */
        do {
            memcpy(dst, src, 8);
            dst += back;
            src += back;
        } while (dst < end);
    }
}

/* An entry's base and its extra bits. */
static inline size_t value_of(uint32_t e, uint64_t bits)
{
    unsigned all = e & 0xff, code = e >> 8 & 0xf;
    return (e >> 16) + (size_t)((bits & ((UINT64_C(1) << all) - 1)) >> code);
}

static inline uint32_t find(const uint32_t *at, unsigned index_bits, uint64_t bits)
{
    uint32_t e = at[bits & ((1u << index_bits) - 1)];
    if (e & CIP_INFLATE_LONG)
        e = at[(e >> 16) + (bits >> index_bits & ((1u << (e & 0xff)) - 1))];
    return e;
}

/* One symbol, near the end of the input. False: it is short. */
static bool careful_step(cip_inflate *s)
{
    pull(s);
    uint32_t e = find(s->t.lit, CIP_INFLATE_LIT_BITS, s->bits);
    unsigned n = e & 0xff;
    if (n > s->have)
        return false;
    if (e & CIP_INFLATE_LITERAL) {
        s->buf[s->at++] = (uint8_t)(e >> 16);
        drop(s, n);
        return true;
    }
    if (e & CIP_INFLATE_END) {
        drop(s, n);
        return end_of_block(s);
    }
    if (e & CIP_INFLATE_NONE)
        return bad(s, "invalid literal/length code");
    uint64_t rest = s->bits >> n;
    uint32_t o = find(s->t.off, CIP_INFLATE_OFF_BITS, rest);
    if (n + (o & 0xff) > s->have)
        return false;
    if (o & CIP_INFLATE_NONE)
        return bad(s, "invalid distance code");
    size_t len = value_of(e, s->bits), back = value_of(o, rest);
    if (back > s->at - s->low)
        return bad(s, "invalid distance too far back");
    copy_match(s->buf + s->at, back, len);
    s->at += len;
    drop(s, n + (o & 0xff));
    return true;
}

#define REFILL()                                                                                   \
    do {                                                                                           \
        bits |= cip_load_u64(in, false) << have;                                                   \
        in += (63 - have) >> 3;                                                                    \
        have |= 56;                                                                                \
    } while (0)
#define LOOK() lit[bits & ((1 << CIP_INFLATE_LIT_BITS) - 1)]
#define PUT_LITERAL()                                                                              \
    do {                                                                                           \
        *out++ = (uint8_t)(e >> 16);                                                               \
        bits >>= e & 63;                                                                           \
        have -= e & 0xff;                                                                          \
        e = LOOK();                                                                                \
    } while (0)

/* Symbols as long as there are input and room; leaves what is special to careful_step, untouched.
 * A refill gives 56 bits: three literals (33), or a length and its distance (48). All
 * state is in registers, so this is one function. */
static inline __attribute__((always_inline)) void symbols(cip_inflate *s, size_t limit)
{
    const uint8_t *in = s->in, *in_end = s->in_end - FAST_IN;
    uint64_t bits = s->bits;
    unsigned have = s->have;
    uint8_t *out = s->buf + s->at;
    const uint8_t *out_end = s->buf + limit, *low = s->buf + s->low;
    const uint32_t *lit = s->t.lit, *off = s->t.off;
    REFILL();
    uint32_t e = LOOK();
    while (in <= in_end && out < out_end) {
        if ((e & CIP_INFLATE_LITERAL) != 0) {
            PUT_LITERAL();
            if ((e & CIP_INFLATE_LITERAL) != 0) {
                PUT_LITERAL();
                if ((e & CIP_INFLATE_LITERAL) != 0) {
                    PUT_LITERAL();
                    REFILL();
                    continue;
                }
            }
            REFILL();
        }
        if ((e & CIP_INFLATE_SPECIAL) != 0) {
            if ((e & CIP_INFLATE_LONG) == 0)
                break;
            e = lit[(e >> 16) + (bits >> CIP_INFLATE_LIT_BITS & ((1u << (e & 0xff)) - 1))];
            if ((e & CIP_INFLATE_LITERAL) != 0) {
                PUT_LITERAL();
                REFILL();
                continue;
            }
            if ((e & CIP_INFLATE_SPECIAL) != 0)
                break;
        }
        uint64_t rest = bits >> (e & 63);
        uint32_t o = off[rest & ((1 << CIP_INFLATE_OFF_BITS) - 1)];
        if ((o & CIP_INFLATE_SPECIAL) != 0)
            o = find(off, CIP_INFLATE_OFF_BITS, rest);
        size_t len = value_of(e, bits), back = value_of(o, rest);
        if ((o & CIP_INFLATE_NONE) != 0 || back > (size_t)(out - low))
            break;
        bits = rest >> (o & 63);
        have -= (e & 0xff) + (o & 0xff);
        e = LOOK(); /* of 64 bits at most 48 are used: it need not wait for the refill */
        REFILL();
        copy_match(out, back, len);
        out += len;
    }
    s->in = in;
    s->bits = bits;
    s->have = have;
    s->at = (size_t)(out - s->buf);
}

static void symbols_any(cip_inflate *s, size_t limit)
{
    symbols(s, limit);
}

#if defined(__x86_64__)
__attribute__((target("bmi2"))) static void symbols_bmi2(cip_inflate *s, size_t limit)
{
    symbols(s, limit);
}
#endif

static void fast_symbols(cip_inflate *s, size_t limit)
{
    if (s->in_end - s->in < FAST_IN)
        return;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("bmi2")) {
        symbols_bmi2(s, limit);
        return;
    }
#endif
    symbols_any(s, limit);
}

/* False: input is short. */
static bool turn(cip_inflate *s, size_t limit)
{
    pull(s);
    switch (s->state) {
    case HEAD:
        return read_head(s);
    case STORED_LEN:
        return read_stored_len(s);
    case STORED:
        return copy_stored(s, limit);
    case COUNTS:
        return read_counts(s);
    case PRE_LENGTHS:
        return read_pre_lengths(s);
    case LENGTHS:
        return read_lengths(s);
    default:
        fast_symbols(s, limit);
        return s->at >= limit || careful_step(s);
    }
}

/* The last 32 KiB to the front, when the rest is full and given. */
static void slide(cip_inflate *s)
{
    size_t by = s->at - CIP_MARK_WINDOW;
    memmove(s->buf, s->buf + by, CIP_MARK_WINDOW);
    s->low = s->low > by ? s->low - by : 0;
    s->at = s->given = CIP_MARK_WINDOW;
}

static size_t give(cip_inflate *s, uint8_t *out, size_t room)
{
    size_t n = s->at - s->given;
    n = n < room ? n : room;
    if (n != 0)
        memcpy(out, s->buf + s->given, n);
    s->given += n;
    return n;
}

static bool is_at_block(const cip_inflate *s)
{
    return s->want && !s->told && s->state == HEAD && s->skip == 0;
}

/* Decodes until `room` bytes are there or something else ends it. */
static void produce(cip_inflate *s, size_t room)
{
    if (s->at >= CIP_MARK_WINDOW + WORK && s->given == s->at)
        slide(s);
    size_t limit = s->given + room;
    limit = limit < CIP_MARK_WINDOW + WORK ? limit : CIP_MARK_WINDOW + WORK;
    while (s->state < ENDED && s->at < limit && !is_at_block(s))
        if (!turn(s, limit))
            break;
}

static cip_inflate_state state_of(cip_inflate *s)
{
    if (s->given != s->at)
        return CIP_INFLATE_GOES_ON;
    if (is_at_block(s)) {
        s->want = false;
        s->told = true;
        return CIP_INFLATE_AT_BLOCK;
    }
    return s->state == ENDED ? CIP_INFLATE_ENDED
           : s->state == BAD ? CIP_INFLATE_BAD
                             : CIP_INFLATE_GOES_ON;
}

cip_inflate_state cip_inflate_step(cip_inflate *s, const uint8_t *in, size_t *in_len, uint8_t *out,
                                   size_t *out_len)
{
    size_t room = *out_len, gave = 0;
    s->in = in;
    s->in_end = in + *in_len;
    for (;;) {
        gave += give(s, out + gave, room - gave);
        if (gave == room)
            break;
        size_t before = s->at;
        int state = s->state;
        produce(s, room - gave);
        if (s->at == before && s->state == state) /* input is short, or it ended */
            break;
    }
    if (s->state == ENDED && s->given == s->at) {
        size_t extra = s->have / 8, took = (size_t)(s->in - in);
        extra = extra < took ? extra : took;
        s->in -= extra;
        s->have -= 8 * (unsigned)extra; /* those above are not of this stream */
    }
    *in_len = (size_t)(s->in - in);
    *out_len = gave;
    return state_of(s);
}
