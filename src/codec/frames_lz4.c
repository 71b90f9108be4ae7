/* SPDX-License-Identifier: BSD-3-Clause
 * The blocks of LZ4 frames (lz4_Frame_format.md 1.6): magic, descriptor (flags, largest block,
 * content size, dictionary id, checksum of these), blocks with their size in front and an optional
 * checksum behind, an end mark, an optional checksum of the content. The format does not tell how
 * much a block decodes to; encoders fill every block but a frame's last. */
#include <string.h>
#include <xxhash.h>

#include "base/endian.h"
#include "codec/entropy/lz4_walk.h"
#include "codec/frames_read.h"

#define BLOCK_STORED UINT32_C(0x80000000)

enum {
    FLG_DICTIONARY = 0x01,
    FLG_RESERVED = 0x02,
    FLG_CONTENT_SUM = 0x04,
    FLG_CONTENT_SIZE = 0x08,
    FLG_BLOCK_SUM = 0x10,
    FLG_INDEPENDENT = 0x20,
    FLG_VERSION = 0xc0,
    FLG_VERSION_1 = 0x40,
    BD_RESERVED = 0x8f,
    SUM_SIZE = 4
};

typedef struct descriptor {
    unsigned flags;
    uint32_t block_max;    /* bytes of a full block */
    uint64_t content_size; /* with FLG_CONTENT_SIZE */
} descriptor;

typedef struct lz4f_scan {
    cip_frames f;
    size_t open; /* the piece whose size only the whole run's tells; SIZE_MAX: none */
} lz4f_scan;

/* The descriptor's checksum comes first: it tells damaged from unsupported. */
static cip_status read_descriptor(cip_frames *f, descriptor *out, cip_err *err)
{
    const uint8_t *p;
    uint8_t d[2 + 8 + 4];
    CIP_TRY(cip_frames_get(f, 2, &p, err));
    memcpy(d, p, 2);
    size_t more = (d[0] & FLG_CONTENT_SIZE ? 8 : 0) + (d[0] & FLG_DICTIONARY ? 4 : 0);
    CIP_TRY(cip_frames_get(f, more + 1, &p, err));
    memcpy(d + 2, p, more);
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    unsigned sum = XXH32(d, 2 + more, 0) >> 8 & 0xff;
    if (sum != p[more])
        return cip_fail(err, CIP_ERR_CHECKSUM, CIP_NO_OFFSET,
                        "expected checksum %02x of an LZ4 frame's header, found %02x", sum,
                        p[more]);
#endif
    if ((d[0] & FLG_VERSION) != FLG_VERSION_1 || (d[0] & FLG_RESERVED) != 0 ||
        (d[1] & BD_RESERVED) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an LZ4 frame of version 1, found flags %02x %02x", d[0], d[1]);
    if (d[1] >> 4 < 4)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected 4 to 7 for the largest block of an LZ4 frame, found %d",
                        d[1] >> 4);
    out->flags = d[0];
    out->block_max = UINT32_C(1) << (8 + 2 * (d[1] >> 4)); /* 4: 64 KiB, 5: 256 KiB, ... */
    out->content_size = d[0] & FLG_CONTENT_SIZE ? cip_load_u64(d + 2, false) : 0;
    return CIP_OK;
}

/* Lists a frame's blocks, all of them as full. */
static cip_status walk_blocks(cip_frames *f, const descriptor *d, cip_err *err)
{
    const cip_codec *lz4 = cip_codec_find("lz4");
    for (;;) {
        const uint8_t *p;
        CIP_TRY(cip_frames_get(f, 4, &p, err));
        uint32_t word = cip_load_u32(p, false);
        if (word == 0)
            break;
        bool stored = (word & BLOCK_STORED) != 0;
        uint32_t size = word & ~BLOCK_STORED;
        if (size > d->block_max)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected an LZ4 block of at most %" PRIu32 " bytes, found %" PRIu32,
                            d->block_max, size);
        cip_frame_piece piece = { .off = f->at,
                                  .len = size,
                                  .raw_len = stored ? size : d->block_max,
                                  .codec = stored ? NULL : lz4 };
        CIP_TRY(cip_frames_skip(f, size, err));
        CIP_TRY(cip_frames_skip(f, d->flags & FLG_BLOCK_SUM ? SUM_SIZE : 0, err));
        if (size != 0)
            CIP_TRY(cip_frames_add(f, piece, err));
    }
    return cip_frames_skip(f, d->flags & FLG_CONTENT_SUM ? SUM_SIZE : 0, err);
}

/* What pieces from `first` on decode to. The sum cannot overflow: 4 MiB at most for each. */
static uint64_t sum_of(const cip_frame_pieces *p, size_t first)
{
    uint64_t sum = 0;
    for (size_t i = first; i < p->n; i++)
        sum += p->piece[i].raw_len;
    return sum;
}

/* Gives the piece, counted as full so far in `sum`, what is left to `total`. False when that is
 * nothing or more than a block: then some block before was not full. */
static bool fit(cip_frame_piece *piece, uint64_t sum, uint64_t total)
{
    uint64_t before = sum - piece->raw_len;
    if (total <= before || total - before > piece->raw_len)
        return false;
    piece->raw_len = total - before;
    return true;
}

/* Whether the block really decodes to what is left to it. As no block is more than full, that
 * proves all the others full, which an encoder that flushes need not make them: the wrong places
 * would go unnoticed where only other blocks are read. */
static cip_status prove(lz4f_scan *s, const cip_frame_piece *piece, bool *told, cip_err *err)
{
    size_t n = (size_t)piece->len; /* a block of 4 MiB at most */
    uint64_t len;
    void *bytes;
    cip_status st;
    CIP_TRY(cip_mem_get(s->f.mem, n, &bytes, err));
    CIP_GO(s->f.run.read(s->f.run.user, piece->off, n, bytes, err));
    *told = cip_lz4_walk((cip_bytes){ bytes, n }, piece->raw_len, &len, NULL) == CIP_OK &&
            len == piece->raw_len;
done:
    cip_mem_put(s->f.mem, bytes);
    return st;
}

/* Settles the size of a frame's last block, or leaves it open; *told is false when the sizes of the
 * frame's blocks cannot be told. */
static cip_status settle_frame(lz4f_scan *s, const descriptor *d, size_t first, bool *told,
                               cip_err *err)
{
    cip_frame_pieces *p = &s->f.found;
    cip_frame_piece *last = p->n > first ? &p->piece[p->n - 1] : NULL;
    bool sized = (d->flags & FLG_CONTENT_SIZE) != 0;
    if (last == NULL || last->codec == NULL) {
        *told = !sized || sum_of(p, first) == d->content_size;
    } else if (sized) {
        *told = fit(last, sum_of(p, first), d->content_size);
        if (*told && p->n - first > 1)
            return prove(s, last, told, err);
    } else {
        *told = s->open == SIZE_MAX;
        s->open = p->n - 1;
    }
    return CIP_OK;
}

/* *told is false as soon as it is clear that the run has to be decoded in order. */
static cip_status scan(lz4f_scan *s, bool *told, cip_err *err)
{
    for (*told = true; *told;) {
        bool more;
        descriptor d;
        CIP_TRY(cip_frames_next(&s->f, CIP_LZ4F_MAGIC, &more, err));
        if (!more) {
            /* Settles the one size that is open and the places; *told is false when they contradict
             * the run's length. */
            cip_frame_pieces *p = &s->f.found;
            uint64_t sum = sum_of(p, 0), at = 0;
            if (s->open != SIZE_MAX) {
                cip_frame_piece *open = &p->piece[s->open];
                *told = fit(open, sum, s->f.run.raw_len);
                if (*told && p->n > 1)
                    CIP_TRY(prove(s, open, told, err));
            } else {
                *told = sum == s->f.run.raw_len;
            }
            for (size_t i = 0; i < p->n; i++) {
                p->piece[i].raw_off = at;
                at += p->piece[i].raw_len;
            }
            return CIP_OK;
        }
        CIP_TRY(read_descriptor(&s->f, &d, err));
        *told = (d.flags & (FLG_INDEPENDENT | FLG_DICTIONARY)) == FLG_INDEPENDENT;
        if (*told) {
            size_t first = s->f.found.n;
            CIP_TRY(walk_blocks(&s->f, &d, err));
            CIP_TRY(settle_frame(s, &d, first, told, err));
        }
    }
    return CIP_OK;
}

cip_status cip_lz4f_scan(cip_mem *mem, const cip_frame_run *run, cip_frame_pieces *out,
                         cip_err *err)
{
    lz4f_scan s = { .f = { .mem = mem, .run = *run }, .open = SIZE_MAX };
    bool told;
    cip_status st = scan(&s, &told, err);
    if (st == CIP_OK && !told)
        cip_frames_sequential(&s.f);
    return cip_frames_end(&s.f, st, out);
}
