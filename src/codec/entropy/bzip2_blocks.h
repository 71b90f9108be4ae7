/* SPDX-License-Identifier: BSD-3-Clause
 * The blocks of a bzip2 stream: where they begin, at any bit, and one of them decoded alone. Bits
 * count from the highest one of the first byte. Only in builds that have libbz2. */
#ifndef CIP_CODEC_ENTROPY_BZIP2_BLOCKS_H
#define CIP_CODEC_ENTROPY_BZIP2_BLOCKS_H

#include <bzlib.h>

#include "codec/entropy/entropy.h"

/* Where a block seems to begin, or the stream to end: 48 bits that say so and 32 of a checksum. The
 * same bits may stand inside a block: only a decoder knows. */
typedef struct cip_bzip2_place {
    uint64_t bit;
    uint32_t crc; /* of the block, or of all blocks folded */
    bool end;
} cip_bzip2_place;

/* The pairs of bytes that stand inside such 48 bits, one bit each. */
typedef struct cip_bzip2_finder {
    uint32_t may[2048];
} cip_bzip2_finder;

void cip_bzip2_finder_init(cip_bzip2_finder *f);
/* The first place at or after bit *at that lies in `in` with all its 80 bits. *at becomes the bit
 * after its first one; without one, the first bit that more input is needed for. */
bool cip_bzip2_find(const cip_bzip2_finder *f, cip_bytes in, uint64_t *at, cip_bzip2_place *out);

/* The checksum of a stream is folded from those of its blocks. */
static inline uint32_t cip_bzip2_fold(uint32_t sum, uint32_t crc)
{
    return (sum << 1 | sum >> 31) ^ crc;
}

/* What a decoder of libbz2 is given so that it goes on inside a byte: a stream's header and a block
 * that ends there. All further bytes go in as they are. */
typedef struct cip_bzip2_lead {
    uint8_t bytes[32];
    size_t n;     /* bytes; the last one is `first` from bit `bit` on, unless `bit` is 0 */
    size_t raw;   /* what it decodes to, at most 8 bytes: not part of the data */
    uint32_t sum; /* what its checksum folds to */
} cip_bzip2_lead;

/* level 1 to 9; bit below 8: of the byte `first`, in which the first block begins. */
void cip_bzip2_lead_make(int level, unsigned bit, uint8_t first, cip_bzip2_lead *out);
/* A decoder for what follows the lead, which it was given. Memory is counted in lib->mem; lib stays
 * where it is. The result is libbz2's; only after BZ_OK there is something to end. */
int cip_bzip2_start(bz_stream *z, cip_lib_mem *lib, const cip_bzip2_lead *lead);
/* libbz2 allocates through `lib`. */
void cip_bzip2_use(bz_stream *z, cip_lib_mem *lib);

/* One stream in order, with marks at its blocks, and its blocks apart. */
extern const cip_stream_codec cip_bzip2_stream;

/* Decodes the bits [from, to) of `in`, from a place on, to at most *len bytes (sets how many).
 * False when they are not exactly one block of at most `level` in good order, when it holds more,
 * or when memory is short. */
bool cip_bzip2_decode_block(cip_mem *mem, int level, const cip_split_piece *piece, uint8_t *dst,
                            size_t *len);

#endif
