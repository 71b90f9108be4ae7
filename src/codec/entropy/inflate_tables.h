/* SPDX-License-Identifier: BSD-3-Clause
 * The decoding tables of a deflate block: indexed by the next bits; an entry says how many of them
 * are used up, and stands for a literal, a base with extra bits, or a table for long codes. */
#ifndef CIP_CODEC_ENTROPY_INFLATE_TABLES_H
#define CIP_CODEC_ENTROPY_INFLATE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CIP_INFLATE_NLIT = 288,
    CIP_INFLATE_NOFF = 32,
    CIP_INFLATE_LIT_BITS = 11, /* of the first tables' indices */
    CIP_INFLATE_OFF_BITS = 9,
    CIP_INFLATE_PRE_BITS = 7,
    CIP_INFLATE_PRE_MASK = (1 << CIP_INFLATE_PRE_BITS) - 1,
    CIP_INFLATE_CODE_MAX = 15
};

/* An entry: bits 0-7 what it uses up, extra bits included; 8-11 the code alone; 12-15 the kind;
 * 16-31 the value (LONG: where its table begins, whose index has as many bits as bits 0-7 say). */
enum {
    CIP_INFLATE_LITERAL = 1 << 12,
    CIP_INFLATE_LONG = 2 << 12,
    CIP_INFLATE_END = 4 << 12,
    CIP_INFLATE_NONE = 8 << 12, /* no such code */
    CIP_INFLATE_SPECIAL = CIP_INFLATE_LONG | CIP_INFLATE_END | CIP_INFLATE_NONE
};

/* Long codes: at least two for each first index, a full table for each. */
typedef struct cip_inflate_tables {
    uint32_t lit[(1 << CIP_INFLATE_LIT_BITS) +
                 (CIP_INFLATE_NLIT / 2 << (CIP_INFLATE_CODE_MAX - CIP_INFLATE_LIT_BITS))];
    uint32_t off[(1 << CIP_INFLATE_OFF_BITS) +
                 (CIP_INFLATE_NOFF / 2 << (CIP_INFLATE_CODE_MAX - CIP_INFLATE_OFF_BITS))];
} cip_inflate_tables;

/* From code lengths: nlit + noff of them. False, with the reason in *why, for a set that is over-
 * subscribed, or incomplete and not just one code of one bit (what zlib refuses). */
bool cip_inflate_dynamic(cip_inflate_tables *t, const uint8_t *len, unsigned nlit, unsigned noff,
                         const char **why);
void cip_inflate_fixed(cip_inflate_tables *t);
/* The code of the code lengths (19 of them), into t->off; an entry's value is the symbol. */
bool cip_inflate_pre(cip_inflate_tables *t, const uint8_t *len);

#endif
