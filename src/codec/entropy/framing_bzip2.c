/* SPDX-License-Identifier: BSD-3-Clause
 * One bzip2 stream of blocks that libbz2 made in streams of their own: the blocks, which begin and
 * end at any bit, are cut out and joined; the stream's checksum is folded from the blocks'. */
#include "codec/entropy/entropy.h"
#include "codec/framing.h"

#if CIP_WITH_BZIP2

#include <string.h>

enum {
    LEVEL_DEFAULT = 9,
    LEVEL_MIN = 1,
    LEVEL_MAX = 9,
    HEADER = 4,        /* "BZh9" */
    TRAILER_BITS = 80, /* the end mark and the stream's checksum */
    SHORTER = 19       /* libbz2 fills a block up to so many bytes less than 100000 x level */
};

#define END_MARK UINT64_C(0x177245385090)

/* Sums: the folded checksum in the low 32 bits, the number of blocks above it. */
static uint64_t sum_make(uint32_t crc, uint64_t nblock)
{
    return nblock << 32 | crc;
}

static uint32_t rotate(uint32_t v, unsigned by)
{
    by %= 32;
    return by == 0 ? v : v << by | v >> (32 - by);
}

/* crc' = rotate(crc, 1) ^ block is linear: k blocks at once rotate by k. */
static void framing_bzip2_join(uint64_t *all, uint64_t sum, uint64_t nraw)
{
    (void)nraw;
    unsigned nblock = (unsigned)(sum >> 32);
    *all = rotate((uint32_t)*all, nblock) ^ (uint32_t)sum;
}

/* Bytes that libbz2 puts into its blocks for n raw ones: runs of 4 to 255 become 5. */
static size_t run_coded(const uint8_t *p, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; i < n;) {
        size_t run = 1;
        while (run < 255 && i + run < n && p[i + run] == p[i])
            run++;
        total += run < 4 ? run : 5;
        i += run;
    }
    return total;
}

static size_t framing_bzip2_bound(size_t n)
{
    size_t bound;
    /* Blocks of the least level: each may cost its own beginning. */
    return cip_add_overflow(n, n / 50 + n / 1000 + 2 * 1024, &bound) ? 0 : bound;
}

static uint64_t bits_at(const uint8_t *p, uint64_t pos, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++, pos++)
        v = v << 1 | (p[pos / 8] >> (7 - pos % 8) & 1u);
    return v;
}

/* Where the blocks of a whole stream end, 0 for nowhere. */
static uint64_t blocks_end(const uint8_t *p, size_t n)
{
    for (unsigned pad = 0; pad < 8 && n >= HEADER + TRAILER_BITS / 8 + 1; pad++) {
        uint64_t at = 8 * (uint64_t)n - TRAILER_BITS - pad;
        if (bits_at(p, at, 48) == END_MARK && bits_at(p, 8 * (uint64_t)n - pad, pad) == 0)
            return at;
    }
    return 0;
}

/* nbit bits of p, from its start, behind *pos bits of dst; what follows them there is zeros. The
 * two may be one, p not before dst. */
static void add_bits(uint8_t *dst, uint64_t *pos, const uint8_t *p, uint64_t nbit)
{
    unsigned shift = (unsigned)(*pos % 8);
    uint8_t *at = dst + *pos / 8;
    unsigned carry = shift == 0 ? 0 : *at & (0xffu << (8 - shift)) & 0xffu;
    size_t n = (size_t)((nbit + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        unsigned v = p[i];
        if (i == n - 1 && nbit % 8 != 0)
            v &= 0xff00u >> nbit % 8;
        at[i] = (uint8_t)(carry | v >> shift);
        carry = v << (8 - shift) & 0xffu;
    }
    *pos += nbit;
    if (shift != 0 && (*pos + 7) / 8 > (uint64_t)(at - dst) + n)
        at[n] = (uint8_t)carry;
}

typedef struct join {
    cip_mem *mem;
    int level;
    uint8_t *dst;
    size_t cap;
    cip_dst one;  /* a block, in a stream of its own */
    uint64_t pos; /* bits in dst */
    uint64_t sum;
} join;

/* Raw bytes as blocks: one if they fit it, else two halves (4 bytes make 5 at most). */
static cip_status add_raw(join *j, cip_bytes raw, uint64_t *nblock, cip_err *err)
{
    size_t most = (size_t)j->level * 100000 - SHORTER;
    while (raw.len != 0) {
        cip_bytes part = { raw.ptr, raw.len < most ? raw.len : most };
        if (run_coded(part.ptr, part.len) > most)
            part.len /= 2;
        /* One block. */
        cip_codec_env env = { .mem = j->mem };
        CIP_TRY(cip_codec_bzip2.encode(NULL, &env, j->level, part, &j->one, err));
        uint64_t end = blocks_end(j->one.ptr, j->one.len);
        if (end == 0)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected a bzip2 stream as libbz2 writes it, found a different one");
        uint64_t nbit = end - 8 * HEADER;
        if ((j->pos + nbit + 7) / 8 > j->cap)
            return cip_fail_room(err, j->cap);
        uint32_t crc = (uint32_t)bits_at(j->one.ptr, end + 48, 32);
        add_bits(j->dst, &j->pos, j->one.ptr + HEADER, nbit);
        framing_bzip2_join(&j->sum, sum_make(crc, 1), part.len);
        raw.ptr += part.len;
        raw.len -= part.len;
        ++*nblock;
    }
    return CIP_OK;
}

static cip_status framing_bzip2_encode(cip_mem *mem, int level, cip_framing_piece *p, cip_err *err)
{
    cip_status st;
    level = level == 0 ? LEVEL_DEFAULT : level;
    CIP_TRY(cip_check_level(level, LEVEL_MIN, LEVEL_MAX, err));
    join j = { .mem = mem, .level = level, .dst = p->out.ptr, .cap = p->out.cap };
    uint64_t nblock = 0;
    if (p->first && j.cap < HEADER)
        return cip_fail_room(err, j.cap);
    if (p->first) {
        memcpy(j.dst, "BZh", 3);
        j.dst[3] = (uint8_t)('0' + level);
        j.pos = 8 * HEADER;
    }
    j.one.cap = framing_bzip2_bound(p->raw.len < 900000 ? p->raw.len : 900000);
    CIP_GO(cip_mem_get(mem, j.one.cap, (void **)&j.one.ptr, err));
    CIP_GO(add_raw(&j, p->raw, &nblock, err));
    p->out.len = (size_t)j.pos;
    p->sum = sum_make((uint32_t)j.sum, nblock);
done:
    cip_mem_put(mem, j.one.ptr);
    return st;
}

static size_t framing_bzip2_tail(uint64_t all, uint8_t dst[64])
{
    for (int i = 0; i < 6; i++)
        dst[i] = (uint8_t)(END_MARK >> (40 - 8 * i));
    for (int i = 0; i < 4; i++)
        dst[6 + i] = (uint8_t)(all >> (24 - 8 * i));
    return TRAILER_BITS / 8;
}

const cip_framing cip_framing_bzip2 = { .name = "bzip2",
                                        .piece = 900000 - SHORTER,
                                        .empty_piece = true,
                                        .bits = true,
                                        .bound = framing_bzip2_bound,
                                        .encode = framing_bzip2_encode,
                                        .join = framing_bzip2_join,
                                        .tail = framing_bzip2_tail };

#endif
