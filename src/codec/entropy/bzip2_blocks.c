/* SPDX-License-Identifier: BSD-3-Clause
 * Places are found by looking at every fourth pair of bytes: one of four that follow each other
 * lies wholly inside the 48 bits, and of 65536 pairs 64 do. A block is decoded alone in a stream
 * made for it: a header, a tiny block that fills up to the bit where it begins, the block's own
 * bytes as they are, an end with the checksum. That libbz2 takes all of it to the end proves that
 * the block ends exactly there. */
#include "codec/entropy/bzip2_blocks.h"

#if CIP_WITH_BZIP2

#include <string.h>

#include "base/endian.h"

#define BLOCK UINT64_C(0x314159265359)
#define END UINT64_C(0x177245385090)

enum { PLACE_BITS = 80, STEP = 4 };

/* --- places ----------------------------------------------------------------------------------- */

static void allow(cip_bzip2_finder *f, uint64_t mark)
{
    for (unsigned i = 1; i <= STEP; i++)
        for (unsigned bit = 0; bit < 8;
             bit++) { /* of the byte that it begins in; pair i bytes on */
            unsigned pair = mark >> (32 - (8 * i - bit)) & 0xffffu;
            f->may[pair / 32] |= UINT32_C(1) << pair % 32;
        }
}

void cip_bzip2_finder_init(cip_bzip2_finder *f)
{
    memset(f, 0, sizeof *f);
    allow(f, BLOCK);
    allow(f, END);
}

/* 80 bits from `bit` on are there. */
static bool is_place(const uint8_t *p, uint64_t bit, cip_bzip2_place *out)
{
    const uint8_t *b = p + bit / 8;
    unsigned shift = bit % 8;
    uint64_t mark = cip_load_u64(b, true) >> (16 - shift) & (UINT64_MAX >> 16);
    if (mark != BLOCK && mark != END)
        return false;
    uint64_t crc = (uint64_t)cip_load_u32(b + 6, true) << 8 | (shift != 0 ? b[10] : 0);
    *out = (cip_bzip2_place){ bit, (uint32_t)(crc >> (8 - shift)), mark == END };
    return true;
}

bool cip_bzip2_find(const cip_bzip2_finder *f, cip_bytes in, uint64_t *at, cip_bzip2_place *out)
{
    if (in.len < PLACE_BITS / 8)
        return false;
    uint64_t end = 8 * (uint64_t)in.len - PLACE_BITS + 1, bit = *at; /* it may begin before `end` */
    for (size_t b = (size_t)(bit / 8 / STEP * STEP); 8 * (uint64_t)b < end; b += STEP) {
        const unsigned pair = cip_load_u16(in.ptr + b + STEP, true);
        if ((f->may[pair / 32] >> pair % 32 & 1) == 0) /* nothing begins in the STEP bytes before */
            continue;
        uint64_t last = cip_min_u64(8 * (uint64_t)(b + STEP), end);
        for (bit = cip_max_u64(bit, 8 * (uint64_t)b); bit < last; bit++)
            if (is_place(in.ptr, bit, out)) {
                *at = bit + 1;
                return true;
            }
    }
    *at = cip_max_u64(*at, end);
    return false;
}

/* --- decoders that begin inside a byte -------------------------------------------------------- */

/* Blocks of a few bytes, as libbz2 makes them, by the number of their bits modulo 8. */
static const struct filler {
    unsigned nbit, raw;
    uint8_t bytes[25];
} fillers[8] = {
    { 0, 0, { 0 } },
    { 193, 8, { 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xdb, 0xf5, 0xf4, 0x6c, 0x00, 0x00, 0x01,
                0x81, 0x00, 0x30, 0x00, 0x20, 0x00, 0x30, 0x80, 0x67, 0xa1, 0xf1, 0x00 } },
    { 186, 7, { 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x00, 0x4c, 0xe7, 0x36, 0x00, 0x00,
                0x01, 0x01, 0x00, 0x28, 0x00, 0x20, 0x00, 0x21, 0x00, 0x82, 0x24, 0xc0 } },
    { 179, 1, { 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x19, 0x93, 0x9b, 0x6b, 0x00, 0x00,
                0x00, 0x01, 0x00, 0x20, 0x00, 0x20, 0x00, 0x21, 0x18, 0x46, 0x80 } },
    { 180, 2, { 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xe9, 0x93, 0xfd, 0xcd, 0x00, 0x00,
                0x00, 0x01, 0x00, 0x30, 0x00, 0x20, 0x00, 0x21, 0x00, 0x82, 0xb0 } },
    { 181, 3, { 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x1f, 0xe5, 0xdf, 0xce, 0x00, 0x00,
                0x01, 0x01, 0x00, 0x20, 0x00, 0x20, 0x00, 0x30, 0x8c, 0x14, 0x18 } },
    { 182, 3, { 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x12, 0xa6, 0xf9, 0x17, 0x00, 0x00,
                0x00, 0x01, 0x00, 0x30, 0x00, 0x20, 0x00, 0x21, 0x00, 0x82, 0x8c } },
    { 191, 4, { 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xf3, 0x7b, 0x57, 0x1b, 0x00, 0x00,
                0x00, 0x01, 0x00, 0x38, 0x00, 0x20, 0x00, 0x21, 0x98, 0x19, 0x84, 0xcc } },
};

void cip_bzip2_lead_make(int level, unsigned bit, uint8_t first, cip_bzip2_lead *out)
{
    const struct filler *f = &fillers[bit];
    size_t n = (f->nbit + 7) / 8;
    *out = (cip_bzip2_lead){ .bytes = { 'B', 'Z', 'h', (uint8_t)('0' + level) }, .n = 4 + n };
    if (bit == 0)
        return;
    memcpy(out->bytes + 4, f->bytes, n);
    out->bytes[3 + n] = (uint8_t)(out->bytes[3 + n] | (first & 0xff >> bit));
    out->raw = f->raw;
    out->sum = cip_load_u32(f->bytes + 6, true);
}

static void *lib_get(void *self, int items, int each)
{
    return cip_lib_get(self, (size_t)items, (size_t)each);
}

static void lib_put(void *self, void *p)
{
    cip_mem_put(((cip_lib_mem *)self)->mem, p);
}

void cip_bzip2_use(bz_stream *z, cip_lib_mem *lib)
{
    z->bzalloc = lib_get;
    z->bzfree = lib_put;
    z->opaque = lib;
}

static int give(bz_stream *z, const uint8_t *p, size_t n)
{
    z->next_in = (char *)p;
    z->avail_in = (unsigned)n;
    return BZ2_bzDecompress(z);
}

int cip_bzip2_start(bz_stream *z, cip_lib_mem *lib, const cip_bzip2_lead *lead)
{
    char drop[16]; /* more than it gives, so that it also sees the end */
    memset(z, 0, sizeof *z);
    cip_bzip2_use(z, lib);
    int code = BZ2_bzDecompressInit(z, 0, 0);
    if (code != BZ_OK)
        return code;
    z->next_out = drop;
    z->avail_out = sizeof drop;
    code = give(z, lead->bytes, lead->n);
    if (code == BZ_OK && z->avail_out == sizeof drop - lead->raw)
        return BZ_OK;
    BZ2_bzDecompressEnd(z);
    return code == BZ_OK ? BZ_DATA_ERROR : code;
}

/* --- one block -------------------------------------------------------------------------------- */

/* What follows the whole bytes: the last bits of the block, the end of the stream. */
static size_t make_tail(unsigned bit, unsigned last, uint32_t sum, uint8_t tail[11])
{
    uint8_t end[PLACE_BITS / 8];
    cip_store_u64(end, END << 16, true);
    cip_store_u32(end + 6, sum, true);
    unsigned carry = last & 0xff00 >> bit & 0xff;
    for (size_t i = 0; i < sizeof end; i++) {
        tail[i] = (uint8_t)(carry | end[i] >> bit);
        carry = (unsigned)end[i] << (8 - bit) & 0xff;
    }
    tail[sizeof end] = (uint8_t)carry;
    return sizeof end + (bit != 0);
}

/* libbz2 has to take all of it, end there, and give no more than there is room for. */
static bool run_block(bz_stream *z, cip_bytes whole, const uint8_t *tail, size_t ntail)
{
    char spare;
    if (give(z, whole.ptr, whole.len) != BZ_OK || z->avail_in != 0)
        return false;
    int code = give(z, tail, ntail);
    if (code == BZ_OK && z->avail_out == 0) { /* the end shows only where there is room */
        z->next_out = &spare;
        z->avail_out = 1;
        code = BZ2_bzDecompress(z);
        if (z->avail_out == 0)
            return false;
        z->avail_out = 0;
    }
    return code == BZ_STREAM_END && z->avail_in == 0;
}

bool cip_bzip2_decode_block(cip_mem *mem, int level, const cip_split_piece *piece, uint8_t *dst,
                            size_t *len)
{
    const cip_bytes in = piece->in;
    const uint64_t from = piece->from, to = piece->to;
    cip_bzip2_lead lead;
    cip_bzip2_place place;
    cip_lib_mem lib = { .mem = mem };
    bz_stream z;
    uint8_t tail[11];
    size_t first = (size_t)((from + 7) / 8), last = (size_t)(to / 8);
    if (to > 8 * (uint64_t)in.len || to < from + PLACE_BITS || last - first > UINT32_MAX ||
        !is_place(in.ptr, from, &place) || place.end)
        return false;
    cip_bzip2_lead_make(level, from % 8, in.ptr[from / 8], &lead);
    if (cip_bzip2_start(&z, &lib, &lead) != BZ_OK)
        return false;
    unsigned room = cip_piece32(*len), bit = to % 8;
    z.next_out = (char *)dst;
    z.avail_out = room;
    uint32_t sum = cip_bzip2_fold(lead.sum, place.crc);
    size_t ntail = make_tail(bit, bit != 0 ? in.ptr[last] : 0, sum, tail);
    bool good = run_block(&z, (cip_bytes){ in.ptr + first, last - first }, tail, ntail);
    *len = room - z.avail_out;
    BZ2_bzDecompressEnd(&z);
    return good;
}

#endif
