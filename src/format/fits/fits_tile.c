/* SPDX-License-Identifier: BSD-3-Clause
 * One tile: compressed bytes to items, quantized integers back to floats, items to the elements
 * that are shown, a tile at an edge to its place in a whole one (standard 4.0, 10). */
#include "format/fits/fits_tile.h"

#include <math.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/entropy/entropy.h"
#include "codec/filter/filter.h"

#define QUANTIZED_ZERO (-2147483646) /* of SUBTRACTIVE_DITHER_2: exactly 0 */

void cip_fits_tile_put(const fits_tile *t, uint8_t p[FITS_TILE_HEAD])
{
    cip_store_u64(p, t->index, true);
    cip_store_float(p + 8, t->scale, 8, true);
    cip_store_float(p + 16, t->zero, 8, true);
    cip_store_u64(p + 24, (uint64_t)t->blank, true);
    memset(p + 32, 0, FITS_TILE_HEAD - 32);
    p[32] = (uint8_t)t->how;
    p[33] = (uint8_t)t->raw;
    p[34] = t->has_blank;
    p[35] = t->quantized;
}

static fits_tile get_head(const uint8_t *p)
{
    return (fits_tile){ .index = cip_load_u64(p, true),
                        .scale = cip_load_float(p + 8, 8, true),
                        .zero = cip_load_float(p + 16, 8, true),
                        .blank = (int64_t)cip_load_u64(p + 24, true),
                        .how = (fits_how)p[32],
                        .raw = (char)p[33],
                        .has_blank = p[34] != 0,
                        .quantized = p[35] != 0 };
}

/* --- one tile --------------------------------------------------------------------------------- */

/* Items as they come out of the compression. */
typedef struct items {
    char type; /* B I J K E D */
    uint32_t width;
    uint64_t n;
    uint8_t *ptr; /* big-endian */
} items;

static uint32_t item_width(char type)
{
    return cip_fits_item(type);
}

/* Of so many bytes each; floats where the image is of floats that were not quantized. */
static bool type_of_width(const fits_tiling *m, bool quantized, uint64_t width, char *type)
{
    const bool floats = m->bitpix < 0 && !quantized;
    *type = width == 1   ? 'B'
            : width == 2 ? 'I'
            : width == 4 ? (floats ? 'E' : 'J')
            : width == 8 ? (floats ? 'D' : 'K')
                         : '\0';
    return *type != '\0';
}

static cip_status wrong_length(uint64_t n, uint64_t found, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected a tile of %" PRIu64 " items of 1, 2, 4 or 8 bytes, found %" PRIu64
                    " bytes",
                    n, found);
}

static cip_status unzip(const fits_tiling *m, const fits_tile *t, const cip_codec_env *env,
                        cip_bytes in, items *out, cip_err *err)
{
    enum { SHORTEST = 18 };
    uint8_t *plain = NULL;
    if (in.len < SHORTEST)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected a gzip member, found %zu bytes", in.len);
    /* A member ends with its decoded length. */
    const uint64_t len = cip_load_u32(in.ptr + in.len - 4, false);
    if (len % out->n != 0 || !type_of_width(m, t->quantized, len / out->n, &out->type))
        return wrong_length(out->n, len, err);
    out->width = (uint32_t)(len / out->n);
    CIP_TRY(cip_mem_get(env->mem, (size_t)len, (void **)&out->ptr, err));
    if (t->how == FITS_GZIP_1)
        return cip_codec_gzip.decode(NULL, env, in, out->ptr, (size_t)len, err);
    CIP_TRY(cip_mem_get(env->mem, (size_t)len, (void **)&plain, err));
    const cip_status st = cip_codec_gzip.decode(NULL, env, in, plain, (size_t)len, err);
    if (st == CIP_OK)
        cip_unshuffle(out->width, plain, out->ptr, (size_t)len);
    cip_mem_put(env->mem, plain);
    return st;
}

static cip_status copy_raw(const fits_tiling *m, const fits_tile *t, const cip_codec_env *env,
                           cip_bytes in, items *out, cip_err *err)
{
    out->type = t->raw;
    if (in.len % out->n != 0 ||
        (t->raw == '\0' && !type_of_width(m, t->quantized, in.len / out->n, &out->type)) ||
        item_width(out->type) != in.len / out->n)
        return wrong_length(out->n, in.len, err);
    out->width = item_width(out->type);
    CIP_TRY(cip_mem_get(env->mem, in.len, (void **)&out->ptr, err));
    memcpy(out->ptr, in.ptr, in.len);
    return CIP_OK;
}

static cip_status unpack(const fits_tiling *m, const fits_tile *t, const cip_codec_env *env,
                         cip_bytes in, items *out, cip_err *err)
{
    if (t->how == FITS_GZIP_1 || t->how == FITS_GZIP_2)
        return unzip(m, t, env, in, out, err);
    if (t->how == FITS_RAW)
        return copy_raw(m, t, env, in, out, err);
    out->width = m->width;
    out->type = m->width == 1 ? 'B' : m->width == 2 ? 'I' : 'J';
    CIP_TRY(cip_mem_get(env->mem, (size_t)(out->n * out->width), (void **)&out->ptr, err));
    return cip_fits_rice(in, m->width, m->block, out->n, out->ptr, err);
}

static int64_t int_at(const items *x, uint64_t i)
{
    const uint8_t *p = x->ptr + i * x->width;
    return x->type == 'B'   ? *p
           : x->type == 'I' ? (int16_t)cip_load_u16(p, true)
           : x->type == 'J' ? (int32_t)cip_load_u32(p, true)
                            : (int64_t)cip_load_u64(p, true);
}

/* The place in the random numbers that item i is dithered by; it goes on from tile to tile. */
typedef struct dither {
    uint32_t first, next;
} dither;

static dither dither_begin(const fits_tiling *m, uint64_t index)
{
    const int64_t row = (int64_t)(index % FITS_NRANDOM) + m->seed % FITS_NRANDOM - 1;
    const uint32_t first = (uint32_t)((row % FITS_NRANDOM + FITS_NRANDOM) % FITS_NRANDOM);
    return (dither){ first, (uint32_t)(m->random[first] * 500) };
}

static double dither_next(const fits_tiling *m, dither *d)
{
    const double v = (double)m->random[d->next];
    if (++d->next == FITS_NRANDOM) {
        d->first = d->first + 1 == FITS_NRANDOM ? 0 : d->first + 1;
        d->next = (uint32_t)(m->random[d->first] * 500);
    }
    return v;
}

/* Quantized integers to floats of the image, in place of what they were (room for 8 bytes each). */
static void unquantize(const fits_tiling *m, const fits_tile *t, const items *x, uint8_t *out)
{
    const uint32_t width = m->bitpix == -32 ? 4 : 8;
    dither d = { 0 };
    if (m->dither != FITS_NO_DITHER)
        d = dither_begin(m, t->index);
    for (uint64_t i = 0; i < x->n; i++) {
        const int64_t q = int_at(x, i);
        const double random = m->dither != FITS_NO_DITHER ? dither_next(m, &d) : 0;
        double v;
        if (m->dither == FITS_DITHER_2 && q == QUANTIZED_ZERO) {
            v = 0;
        } else if (m->dither == FITS_NO_DITHER) {
            v = (double)q * t->scale;
            v += t->zero;
        } else {
            v = ((double)q - random + 0.5) * t->scale;
            v += t->zero;
        }
        if (t->has_blank && q == t->blank)
            v = (double)NAN;
        cip_store_float(out + i * width, v, width, true);
    }
}

/* Items of another type to that of the image; integers that it cannot hold are CORRUPT. */
static cip_status retype(const fits_tiling *m, const fits_tile *t, const items *x, uint8_t *out,
                         cip_err *err)
{
    const uint32_t width = (uint32_t)(m->bitpix < 0 ? -m->bitpix : m->bitpix) / 8;
    const bool floats = x->type == 'E' || x->type == 'D';
    for (uint64_t i = 0; i < x->n; i++) {
        uint8_t whole[8];
        const int64_t v = floats ? 0 : int_at(x, i);
        if (m->bitpix < 0) {
            double f = floats ? cip_load_float(x->ptr + i * x->width, x->width, true) : (double)v;
            if (!floats && t->has_blank && v == t->blank)
                f = (double)NAN;
            cip_store_float(out + i * width, f, width, true);
            continue;
        }
        const int64_t low = width == 1 ? 0 : INT64_MIN >> (64 - 8 * width);
        const int64_t high = width == 1 ? UINT8_MAX : INT64_MAX >> (64 - 8 * width);
        if (v < low || v > high)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected integers of %u bits in the tile, found %" PRId64, 8 * width,
                            v);
        cip_store_u64(whole, (uint64_t)v, true);
        memcpy(out + i * width, whole + 8 - width, width);
    }
    return CIP_OK;
}

/* The lengths of tile `index`: at the end of an axis it is shorter. */
static uint64_t tile_shape(const fits_tiling *m, uint64_t index, int64_t *len)
{
    uint64_t n = 1;
    for (int32_t k = m->ndim; k-- > 0;) {
        const uint64_t count = cip_div_up((uint64_t)m->shape[k], (uint64_t)m->tile[k]);
        const int64_t at = (int64_t)(index % count) * m->tile[k];
        len[k] = cip_min_i64(m->tile[k], m->shape[k] - at);
        n *= (uint64_t)len[k]; /* no more than the image has */
        index /= count;
    }
    return n;
}

/* Rows of the shorter tile to where they are in the whole one. */
static void spread(const fits_tiling *m, const int64_t *len, const uint8_t *from, uint8_t *dst)
{
    int64_t at[CIP_MAX_NDIM] = { 0 };
    const size_t run = (size_t)len[m->ndim - 1] * m->out.to;
    for (;;) {
        uint64_t off = 0;
        for (int32_t k = 0; k < m->ndim; k++)
            off = off * (uint64_t)m->tile[k] + (uint64_t)at[k];
        memcpy(dst + off * m->out.to, from, run);
        from += run;
        int32_t k = m->ndim - 1;
        while (k-- > 0 && ++at[k] == len[k])
            at[k] = 0;
        if (k < 0)
            return;
    }
}

/* Everything between the compressed bytes and the elements that are shown. */
static cip_status decode_tile(const fits_tiling *m, const fits_tile *t, const cip_codec_env *env,
                              cip_bytes in, uint8_t *dst, size_t dst_len, cip_err *err)
{
    int64_t len[CIP_MAX_NDIM];
    const uint64_t n = tile_shape(m, t->index, len);
    const size_t shown = (size_t)(n * m->out.to);
    items x = { .n = n };
    uint8_t *as = NULL, *packed = NULL;
    cip_status st;
    CIP_GO(unpack(m, t, env, in, &x, err));
    CIP_GO(cip_mem_get(env->mem, (size_t)n * 8, (void **)&as, err));
    if (t->quantized)
        unquantize(m, t, &x, as);
    else if (x.type == m->out.type)
        memcpy(as, x.ptr, (size_t)(n * x.width));
    else
        CIP_GO(retype(m, t, &x, as, err));
    if (shown == dst_len) {
        st = cip_fits_convert(&m->out, as, n, dst, err);
        goto done;
    }
    CIP_GO(cip_mem_get(env->mem, shown, (void **)&packed, err));
    CIP_GO(cip_fits_convert(&m->out, as, n, packed, err));
    memset(dst, 0, dst_len);
    spread(m, len, packed, dst);
done:
    cip_mem_put(env->mem, x.ptr);
    cip_mem_put(env->mem, as);
    cip_mem_put(env->mem, packed);
    return st;
}

static cip_status decode(const void *args, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                         size_t dst_len, cip_err *err)
{
    const fits_tiling *m = args;
    if (src.len < FITS_TILE_HEAD)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET, "expected a tile");
    const fits_tile t = get_head(src.ptr);
    return decode_tile(m, &t, env,
                       (cip_bytes){ src.ptr + FITS_TILE_HEAD, src.len - FITS_TILE_HEAD }, dst,
                       dst_len, err);
}

const cip_codec cip_fits_tile_codec = { .name = "tile", .decode = decode };
