/* SPDX-License-Identifier: BSD-3-Clause
 * Zstd frames (RFC 8878, 3.1.1): magic, header (descriptor, window, dictionary id, content size),
 * blocks with 3 bytes of last flag, type and size in front, an optional checksum. Frames do not
 * depend on each other; blocks do. */
#include "base/endian.h"
#include "base/num.h"
#include "codec/entropy/entropy.h"
#include "codec/frames_read.h"

enum {
    FHD_DICTIONARY = 0x03, /* 0, 1, 2, 4 bytes of id */
    FHD_SUM = 0x04,
    FHD_RESERVED = 0x08,
    FHD_SINGLE_SEGMENT = 0x20, /* no window descriptor */
    BLOCK_RLE = 1,
    BLOCK_RESERVED = 3,
    BLOCK_MAX = 128 << 10, /* what a block decodes to at most, and its stored bytes */
    SUM_SIZE = 4
};

typedef struct frame_header {
    bool sum;
    bool sized; /* content_size is told */
    uint64_t content_size;
} frame_header;

/* A little-endian number of 0 to 8 bytes. */
static uint64_t load_le(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    while (n > 0)
        v = v << 8 | p[--n];
    return v;
}

static cip_status read_header(cip_frames *f, frame_header *h, cip_err *err)
{
    static const uint8_t id_size[] = { 0, 1, 2, 4 };
    const uint8_t *p;
    CIP_TRY(cip_frames_get(f, 1, &p, err));
    unsigned fhd = *p;
    if (fhd & FHD_RESERVED)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a zstd frame as in RFC 8878, found the reserved bit in %02x",
                        fhd);
    bool single = (fhd & FHD_SINGLE_SEGMENT) != 0;
    size_t nwindow = single ? 0 : 1;
    size_t nid = id_size[fhd & FHD_DICTIONARY];
    size_t nsize = fhd >> 6 != 0 ? (size_t)1 << (fhd >> 6) : single;
    CIP_TRY(cip_frames_get(f, nwindow + nid + nsize, &p, err));
    uint64_t id = load_le(p + nwindow, nid);
    if (id != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a zstd frame without dictionary, found dictionary %" PRIu64, id);
    h->sum = (fhd & FHD_SUM) != 0;
    h->sized = nsize != 0;
    h->content_size = load_le(p + nwindow + nid, nsize) + (nsize == 2 ? 256 : 0);
    return CIP_OK;
}

/* Walks to the end of a frame; *n is its number of blocks. */
static cip_status walk_blocks(cip_frames *f, uint64_t *n, cip_err *err)
{
    bool last = false;
    for (*n = 0; !last; ++*n) {
        const uint8_t *p;
        CIP_TRY(cip_frames_get(f, 3, &p, err));
        uint32_t word = (uint32_t)load_le(p, 3);
        uint32_t type = word >> 1 & 3, size = word >> 3;
        last = (word & 1) != 0;
        if (type == BLOCK_RESERVED || size > BLOCK_MAX)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected a zstd block of type 0 to 2 and at most %d bytes, found type "
                            "%" PRIu32 " and %" PRIu32,
                            BLOCK_MAX, type, size);
        CIP_TRY(cip_frames_skip(f, type == BLOCK_RLE ? 1 : size, err));
    }
    return CIP_OK;
}

/* One frame, whose magic has been read, and its piece; *raw_at moves on. */
static cip_status scan_frame(cip_frames *f, uint64_t *raw_at, cip_err *err)
{
    frame_header h;
    uint64_t start = f->at - 4, nblock;
    CIP_TRY(read_header(f, &h, err));
    if (!h.sized) {
        cip_frames_sequential(f);
        return CIP_OK;
    }
    CIP_TRY(walk_blocks(f, &nblock, err));
    CIP_TRY(cip_frames_skip(f, h.sum ? SUM_SIZE : 0, err));
    if (cip_div_up(h.content_size, BLOCK_MAX) > nblock)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %" PRIu64 " bytes from a zstd frame, found %" PRIu64
                        " blocks of at most %d",
                        h.content_size, nblock, BLOCK_MAX);
    if (h.content_size == 0)
        return CIP_OK;
    cip_frame_piece piece = { .off = start,
                              .len = f->at - start,
                              .raw_off = *raw_at,
                              .raw_len = h.content_size,
                              .codec = cip_codec_find("zstd") };
    CIP_TRY(cip_frames_add(f, piece, err));
    if (cip_add_overflow(*raw_at, h.content_size, raw_at))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "zstd frames of over 2^64 bytes");
    return CIP_OK;
}

cip_status cip_zstd_scan(cip_mem *mem, const cip_frame_run *run, cip_frame_pieces *out,
                         cip_err *err)
{
    cip_frames f = { .mem = mem, .run = *run };
    cip_status st = CIP_OK;
    uint64_t raw_at = 0;
    for (bool more = true; more && !f.found.sequential && st == CIP_OK;) {
        st = cip_frames_next(&f, CIP_ZSTD_MAGIC, &more, err);
        if (st == CIP_OK && more)
            st = scan_frame(&f, &raw_at, err);
        else if (st == CIP_OK && raw_at != run->raw_len)
            st = cip_fail_short(err, run->raw_len, raw_at);
    }
    return cip_frames_end(&f, st, out);
}
