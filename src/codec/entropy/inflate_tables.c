/* SPDX-License-Identifier: BSD-3-Clause
 * Canonical codes to decoding tables (RFC 1951, section 3.2.2). Codes are taken in rising length,
 * kept as they are read (first bit lowest); what the table holds so far is doubled at each length.
 */
#include "codec/entropy/inflate_tables.h"

#include <string.h>

typedef uint32_t entry_of(unsigned symbol, unsigned nbits);

static uint32_t make(unsigned kind, unsigned value, unsigned nbits, unsigned extra)
{
    return (uint32_t)value << 16 | kind | nbits << 8 | (nbits + extra);
}

static uint32_t lit_entry(unsigned symbol, unsigned nbits)
{
    static const uint16_t base[29] = { 3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                       15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                       67, 83, 99, 115, 131, 163, 195, 227, 258 };
    if (symbol < 256)
        return make(CIP_INFLATE_LITERAL, symbol, nbits, 0);
    if (symbol == 256)
        return make(CIP_INFLATE_END, 0, nbits, 0);
    unsigned i = symbol - 257;
    if (i >= 29)
        return make(CIP_INFLATE_NONE, 0, nbits, 0);
    return make(0, base[i], nbits, i < 8 || i == 28 ? 0 : i / 4 - 1);
}

static uint32_t off_entry(unsigned symbol, unsigned nbits)
{
    if (symbol >= 30)
        return make(CIP_INFLATE_NONE, 0, nbits, 0);
    unsigned extra = symbol < 4 ? 0 : symbol / 2 - 1;
    unsigned base = symbol < 4 ? symbol + 1 : ((2 + (symbol & 1)) << extra) + 1;
    return make(0, base, nbits, extra);
}

static uint32_t pre_entry(unsigned symbol, unsigned nbits)
{
    return make(0, symbol, nbits, 0);
}

typedef struct code {
    uint16_t count[CIP_INFLATE_CODE_MAX + 1];
    uint16_t symbol[CIP_INFLATE_NLIT]; /* by length, then by value */
    unsigned max;                      /* the longest */
    int left;                          /* room that they leave: negative: over-subscribed */
} code;

static void sort_symbols(code *c, const uint8_t *len, unsigned n)
{
    uint16_t at[CIP_INFLATE_CODE_MAX + 2] = { 0 };
    memset(c->count, 0, sizeof c->count);
    for (unsigned i = 0; i < n; i++)
        c->count[len[i]]++;
    c->count[0] = 0;
    c->max = 0;
    c->left = 1;
    for (unsigned b = 1; b <= CIP_INFLATE_CODE_MAX; b++) {
        if (c->left >= 0)
            c->left = 2 * c->left - c->count[b];
        if (c->count[b] != 0)
            c->max = b;
        at[b + 1] = (uint16_t)(at[b] + c->count[b]);
    }
    for (unsigned i = 0; i < n; i++)
        if (len[i] != 0)
            c->symbol[at[len[i]]++] = (uint16_t)i;
}

/* The code of the same length that follows a code that is not all ones. */
static unsigned next_code(unsigned value, unsigned nbits)
{
    unsigned bit = 1u << (nbits - 1);
    while (value & bit)
        bit >>= 1;
    return bit == 0 ? 0 : (value & (bit - 1)) | bit;
}

/* Codes longer than the first index, each in the table of its first bits. */
static void fill_long(const code *c, uint32_t *at, unsigned index_bits, unsigned value, unsigned i,
                      entry_of *of)
{
    unsigned sub_bits = c->max - index_bits, end = 1u << index_bits, start = 0, last = ~0u;
    for (unsigned b = index_bits + 1; b <= c->max; b++) {
        for (unsigned k = 0; k < c->count[b]; k++, i++, value = next_code(value, b)) {
            unsigned first = value & ((1u << index_bits) - 1);
            if (first != last) {
                last = first;
                start = end;
                end += 1u << sub_bits;
                at[first] = make(CIP_INFLATE_LONG, start, 0, sub_bits);
            }
            for (unsigned x = value >> index_bits; x < 1u << sub_bits; x += 1u << (b - index_bits))
                at[start + x] = of(c->symbol[i], b);
        }
    }
}

/* Of a set that leaves no room, or of at most one code of one bit. */
static void fill(const code *c, uint32_t *at, unsigned index_bits, entry_of *of)
{
    unsigned value = 0, i = 0;
    at[0] = make(CIP_INFLATE_NONE, 0, 0, 1);
    for (unsigned b = 1; b <= index_bits; b++) {
        memcpy(at + (1u << (b - 1)), at, sizeof *at << (b - 1));
        for (unsigned k = 0; k < c->count[b]; k++, value = next_code(value, b))
            at[value] = of(c->symbol[i++], b);
    }
    if (c->max > index_bits)
        fill_long(c, at, index_bits, value, i, of);
}

static bool is_usable(const code *c, bool one_is_fine)
{
    return c->left == 0 || (c->left > 0 && one_is_fine && c->max <= 1);
}

bool cip_inflate_dynamic(cip_inflate_tables *t, const uint8_t *len, unsigned nlit, unsigned noff,
                         const char **why)
{
    code c;
    sort_symbols(&c, len, nlit);
    *why = "invalid literal/lengths set";
    if (!is_usable(&c, true))
        return false;
    fill(&c, t->lit, CIP_INFLATE_LIT_BITS, lit_entry);
    sort_symbols(&c, len + nlit, noff);
    *why = "invalid distances set";
    if (!is_usable(&c, true))
        return false;
    fill(&c, t->off, CIP_INFLATE_OFF_BITS, off_entry);
    return true;
}

void cip_inflate_fixed(cip_inflate_tables *t)
{
    uint8_t len[CIP_INFLATE_NLIT + CIP_INFLATE_NOFF];
    const char *why;
    for (unsigned i = 0; i < CIP_INFLATE_NLIT; i++)
        len[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(len + CIP_INFLATE_NLIT, 5, CIP_INFLATE_NOFF);
    cip_inflate_dynamic(t, len, CIP_INFLATE_NLIT, CIP_INFLATE_NOFF, &why);
}

bool cip_inflate_pre(cip_inflate_tables *t, const uint8_t *len)
{
    code c;
    sort_symbols(&c, len, 19);
    if (!is_usable(&c, false))
        return false;
    fill(&c, t->off, CIP_INFLATE_PRE_BITS, pre_entry);
    return true;
}
