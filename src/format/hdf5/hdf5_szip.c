/* SPDX-License-Identifier: BSD-3-Clause
 * szip: the length of the data in 4 bytes, then samples in the extended Rice code of CCSDS 121.0-B.
 * Samples stand in scanlines, and each of them begins with a sample as it is. A scanline that is no
 * whole number of the code's blocks is filled up. Samples of 4 and 8 bytes are coded as bytes: all
 * first ones, then all second ones. What does the work is libaec. */
#include "codec/filter/filter.h"
#include "codec/with.h"
#include "format/hdf5/hdf5.h"

#if CIP_WITH_AEC
#include <libaec.h>

enum { MSB = 16, NEAREST_NEIGHBOUR = 32, MOST_BLOCK = 32, MOST_LINE = 4096 };

/* The filter's values: options, samples of a block, bits of a sample, samples of a scanline. */
typedef struct szip {
    uint32_t bits, block, line;
    unsigned flags;
    size_t words; /* bytes of a sample that is coded as bytes; 1: it is coded as it is */
    size_t width; /* bytes of what is coded */
} szip;

static cip_status take_values(const cip_h5_filter *f, size_t n, szip *z, cip_err *err)
{
    if (f->n < 4)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "szip: expected 4 values of the filter, found %u", f->n);
    z->block = f->value[1];
    z->bits = f->value[2];
    z->line = f->value[3];
    z->flags = AEC_NOT_ENFORCE | ((f->value[0] & MSB) != 0 ? AEC_DATA_MSB : 0) |
               ((f->value[0] & NEAREST_NEIGHBOUR) != 0 ? AEC_DATA_PREPROCESS : 0);
    z->words = z->bits == 32 || z->bits == 64 ? z->bits / 8 : 1;
    z->bits = z->words != 1 ? 8 : z->bits;
    z->width = z->bits <= 8 ? 1 : z->bits <= 16 ? 2 : 4;
    if (z->block < 2 || z->block > MOST_BLOCK || z->block % 2 != 0 || z->line == 0 ||
        z->line > MOST_LINE || z->bits == 0 || z->bits > 24 || n % (z->words * z->width) != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "szip: expected blocks of 2 to %d samples of 1 to 24, 32 or 64 bits in "
                        "scanlines of up to %d, found %u, %u and %u for %zu bytes",
                        MOST_BLOCK, MOST_LINE, f->value[1], f->value[2], f->value[3], n);
    return CIP_OK;
}

/* n bytes of a scanline, of which the rest is thrown away in `line`. */
static bool decode_line(struct aec_stream *s, uint8_t *line, size_t filled, uint8_t *dst, size_t n)
{
    s->next_out = line;
    s->avail_out = filled;
    if (aec_decode(s, AEC_FLUSH) != AEC_OK || filled - s->avail_out < n)
        return false;
    memcpy(dst, line, n);
    return true;
}

/* All scanlines; false: something is wrong with them, or they end early. */
static bool decode_all(const szip *z, cip_bytes src, uint8_t *dst, size_t n)
{
    uint8_t line[(MOST_LINE + MOST_BLOCK) * 4];
    const uint32_t rsi = (z->line + z->block - 1) / z->block;
    const size_t each = z->line * z->width, filled = (size_t)rsi * z->block * z->width;
    struct aec_stream s = { .next_in = src.ptr,
                            .avail_in = src.len,
                            .next_out = dst,
                            .avail_out = n,
                            .bits_per_sample = z->bits,
                            .block_size = z->block,
                            .rsi = rsi,
                            .flags = z->flags };
    if (aec_decode_init(&s) != AEC_OK)
        return false;
    bool fine = true;
    if (each == filled)
        fine = aec_decode(&s, AEC_FLUSH) == AEC_OK && s.avail_out == 0;
    for (size_t at = 0; each != filled && at < n && fine; at += each)
        fine = decode_line(&s, line, filled, dst + at, n - at < each ? n - at : each);
    aec_decode_end(&s);
    return fine;
}

cip_status cip_h5_szip(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src,
                       uint8_t *dst, size_t n, cip_err *err)
{
    szip z;
    uint8_t *planes = NULL;
    CIP_TRY(take_values(f, n, &z, err));
    cip_cursor c = cip_cursor_le(src);
    const uint32_t len = cip_get_u32(&c);
    if (c.bad || len != n)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "szip: expected %zu bytes of data, found %" PRIu32, n, c.bad ? 0 : len);
    if (z.words != 1)
        CIP_TRY(cip_mem_get(env->mem, n, (void **)&planes, err));
    cip_status st = CIP_OK;
    if (!decode_all(&z, (cip_bytes){ src.ptr + 4, src.len - 4 }, planes != NULL ? planes : dst, n))
        st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                      "szip: expected %zu bytes of data, found damage", n);
    else if (planes != NULL)
        cip_unshuffle(z.words, planes, dst, n);
    cip_mem_put(env->mem, planes);
    return st;
}
#endif
