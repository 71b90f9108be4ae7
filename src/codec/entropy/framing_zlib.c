/* SPDX-License-Identifier: BSD-3-Clause
 * One zlib stream (RFC 1950) of pieces that libdeflate made each by itself. libdeflate marks the
 * last block of a piece as the last of all: the mark is taken back and an empty stored block leads
 * to the next byte, as zlib's Z_SYNC_FLUSH does. Pieces share no history, which costs little at
 * 1 MiB each (32 KiB of window). The same without head and tail is deflate alone. */
#include "codec/entropy/entropy.h"
#include "codec/entropy/inflate.h"
#include "codec/framing.h"

#if CIP_WITH_ZLIB

#include <libdeflate.h>
#include <zlib.h>

enum { LEVEL_DEFAULT = 6, LEVEL_MIN = 1, LEVEL_MAX = 12, HEADER = 2, FLUSH = 5 };

/* A sum is an Adler-32 with this bit, so that 0 is none. */
#define THERE (UINT64_C(1) << 32)

static size_t framing_zlib_bound(size_t n)
{
    size_t bound = libdeflate_deflate_compress_bound(NULL, n);
    return bound < n || cip_add_overflow(bound, HEADER + FLUSH, &bound) ? 0 : bound;
}

static cip_status open_end(cip_mem *mem, uint8_t *dst, size_t cap, size_t *n, cip_err *err)
{
    uint64_t last, end;
    static const uint8_t empty[4] = { 0, 0, 0xff, 0xff };
    CIP_TRY(cip_deflate_last(mem, (cip_bytes){ dst, *n }, &last, &end, err));
    size_t at = (size_t)((end + 3 + 7) / 8);
    if (cap < FLUSH || at > cap - sizeof empty)
        return cip_fail_room(err, cap);
    dst[last / 8] = (uint8_t)(dst[last / 8] & ~(1u << last % 8));
    if (at > *n) /* the three bits of the empty block's head reach into the next byte */
        dst[*n] = 0;
    for (size_t i = 0; i < sizeof empty; i++)
        dst[at + i] = empty[i];
    *n = at + sizeof empty;
    return CIP_OK;
}

/* Behind `head` bytes that the caller fills. */
static cip_status encode_piece(cip_mem *mem, int level, size_t head, cip_framing_piece *p,
                               cip_err *err)
{
    level = level == 0 ? LEVEL_DEFAULT : level;
    CIP_TRY(cip_check_level(level, LEVEL_MIN, LEVEL_MAX, err));
    size_t cap = p->out.cap;
    uint8_t *dst = p->out.ptr;
    if (cap < head)
        return cip_fail_room(err, cap);
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    if (c == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libdeflate");
    size_t got = libdeflate_deflate_compress(c, p->raw.ptr, p->raw.len, dst + head, cap - head);
    libdeflate_free_compressor(c);
    if (got == 0)
        return cip_fail_room(err, cap);
    if (!p->last)
        CIP_TRY(open_end(mem, dst + head, cap - head, &got, err));
    p->out.len = head + got;
    return CIP_OK;
}

static cip_status framing_zlib_encode(cip_mem *mem, int level, cip_framing_piece *p, cip_err *err)
{
    CIP_TRY(encode_piece(mem, level, p->first ? HEADER : 0, p, err));
    if (p->first) { /* CMF and FLG: deflate, a window of 32 KiB, and zlib's words for the levels */
        level = level == 0 ? LEVEL_DEFAULT : level;
        const unsigned flevel = level < 2 ? 0 : level < 6 ? 1 : level == 6 ? 2 : 3;
        unsigned words = 0x7800 | flevel << 6;
        words += 31 - words % 31;
        p->out.ptr[0] = (uint8_t)(words >> 8);
        p->out.ptr[1] = (uint8_t)words;
    }
    p->sum = THERE | libdeflate_adler32(1, p->raw.ptr, p->raw.len);
    return CIP_OK;
}

static cip_status framing_deflate_encode(cip_mem *mem, int level, cip_framing_piece *p,
                                         cip_err *err)
{
    return encode_piece(mem, level, 0, p, err);
}

static void framing_zlib_join(uint64_t *all, uint64_t sum, uint64_t nraw)
{
    *all = *all == 0 ? sum
                     : THERE | adler32_combine((uLong)(*all ^ THERE), (uLong)(sum ^ THERE),
                                               (z_off_t)nraw);
}

static size_t framing_zlib_tail(uint64_t all, uint8_t dst[64])
{
    for (int i = 0; i < 4; i++)
        dst[i] = (uint8_t)(all >> (24 - 8 * i));
    return 4;
}

const cip_framing cip_framing_zlib = { .name = "zlib",
                                       .piece = 1 << 20,
                                       .empty_piece = true,
                                       .bound = framing_zlib_bound,
                                       .encode = framing_zlib_encode,
                                       .join = framing_zlib_join,
                                       .tail = framing_zlib_tail };

const cip_framing cip_framing_deflate = { .name = "deflate",
                                          .piece = 1 << 20,
                                          .empty_piece = true,
                                          .bound = framing_zlib_bound,
                                          .encode = framing_deflate_encode };

#endif
