/* SPDX-License-Identifier: BSD-3-Clause
 * Quantized floats of ASDF 0.1: one chunk, whole or the values that are asked for; packed integers
 * lie at any bit, so a part of a chunk costs its part. */
#include "codec/quantize.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"

enum {
    WINDOW = 16, /* bytes that the widest value may need, and more */
    SAME = 512   /* bytes of alike values that are made one by one, the others copied */
};

/* --- headers -------------------------------------------------------------------------------- */

cip_status cip_quantize_head_parse(cip_bytes in, cip_quantize_head *out, cip_err *err)
{
    uint64_t bits;
    if (in.len < CIP_QUANTIZE_HEAD)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected a quantize header of %d bytes, found %zu", CIP_QUANTIZE_HEAD,
                        in.len);
    const cip_quantize_head h = { .bits = in.ptr[0],
                                  .offset = cip_load_float(in.ptr + 1, 8, true),
                                  .scale = cip_load_float(in.ptr + 9, 8, true),
                                  .n = cip_load_u64(in.ptr + 17, true) };
    if (h.bits > CIP_QUANTIZE_BITS_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected at most %d bits a quantized value, found %d",
                        CIP_QUANTIZE_BITS_MAX, h.bits);
    if (cip_mul_overflow(h.n, (uint64_t)h.bits, &bits) || bits > INT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected quantized values of less than 2^63 bits, found %" PRIu64 " of %d",
                        h.n, h.bits);
    *out = h;
    return CIP_OK;
}

void cip_quantize_head_bytes(const cip_quantize_head *h, uint8_t out[CIP_QUANTIZE_HEAD])
{
    out[0] = h->bits;
    cip_store_float(out + 1, h->offset, 8, true);
    cip_store_float(out + 9, h->scale, 8, true);
    cip_store_u64(out + 17, h->n, true);
}

uint64_t cip_quantize_payload(const cip_quantize_head *h)
{
    return cip_div_up(h->n * h->bits, 8);
}

/* --- values --------------------------------------------------------------------------------- */

/* Packed bytes: those of bit `first` on are at p, n of them. */
typedef struct packed {
    const uint8_t *p;
    size_t n;
    uint64_t first; /* of the chunk's bits, the first one of p; a multiple of 8 */
} packed;

static int64_t value_at(const packed *from, const cip_quantize_head *h, uint64_t i)
{
    uint8_t own[WINDOW] = { 0 };
    uint64_t bit = i * h->bits - from->first;
    size_t at = (size_t)(bit / 8);
    const uint8_t *p = from->p + at;
    if (h->bits == 0)
        return 0;
    if (from->n - at < WINDOW) { /* near the end, where 9 bytes may be too many */
        memcpy(own, p, from->n - at);
        p = own;
    }
    const unsigned shift = bit % 8;
    uint64_t w = cip_load_u64(p, true) << shift, sign = (uint64_t)1 << (h->bits - 1);
    if (shift != 0)
        w |= (uint64_t)p[8] >> (8 - shift);
    w >>= 64 - h->bits;
    return (int64_t)((w ^ sign) - sign);
}

static size_t width_of(const cip_quantize_args *a)
{
    return a->wide ? 8 : 4;
}

/* The i-th value's bytes, as many as its width. */
static void decode_one(const cip_quantize_args *a, const cip_quantize_head *h, const packed *from,
                       uint64_t i, uint8_t out[8])
{
    double v = h->offset;
    if (h->bits != 0) {
        double product = (double)value_at(from, h, i) * h->scale; /* rounded apart from the sum */
        v = product + h->offset;
    }
    cip_store_float(out, v, width_of(a), a->big);
}

/* Raw bytes [off, off + len), which may begin and end within values. */
static void decode_range(const cip_quantize_args *a, const cip_quantize_head *h, const packed *from,
                         const cip_want *want)
{
    size_t width = width_of(a), done = 0;
    const size_t each = h->bits != 0 ? want->len : (size_t)cip_min_u64(want->len, SAME);
    while (done < each) {
        uint64_t at = want->off + done;
        size_t skip = (size_t)(at % width), n = width - skip;
        uint8_t one[8];
        if (n > want->len - done)
            n = want->len - done;
        if (n == width) {
            decode_one(a, h, from, at / width, want->dst + done);
        } else {
            decode_one(a, h, from, at / width, one);
            memcpy(want->dst + done, one + skip, n);
        }
        done += n;
    }
    while (done < want->len) { /* values of no bits are all alike, any number of them in no bytes */
        const size_t back = done - done % width, n = (size_t)cip_min_u64(back, want->len - done);
        memcpy(want->dst + done, want->dst + done - back, n);
        done += n;
    }
}

/* --- the codec ------------------------------------------------------------------------------ */

static cip_status check_lengths(const cip_quantize_args *a, const cip_quantize_head *h,
                                uint64_t stored, uint64_t raw, cip_err *err)
{
    uint64_t need = CIP_QUANTIZE_HEAD + cip_quantize_payload(h), want;
    if (stored != need)
        return cip_fail(err, stored < need ? CIP_ERR_TRUNCATED : CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %" PRIu64 " bytes of quantized values, found %" PRIu64, need,
                        stored);
    if (cip_mul_overflow(h->n, (uint64_t)width_of(a), &want) || want != raw)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected quantized values of %" PRIu64 " bytes, found %" PRIu64
                        " of %zu bytes",
                        raw, h->n, width_of(a));
    return CIP_OK;
}

static cip_status decode(const void *args, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                         size_t dst_len, cip_err *err)
{
    cip_quantize_head h;
    (void)env;
    CIP_TRY(cip_quantize_head_parse(src, &h, err));
    CIP_TRY(check_lengths(args, &h, src.len, dst_len, err));
    const packed from = { src.ptr + CIP_QUANTIZE_HEAD, src.len - CIP_QUANTIZE_HEAD, 0 };
    decode_range(args, &h, &from, &(cip_want){ 0, dst_len, dst });
    return CIP_OK;
}

/* The packed bytes that a wanted piece needs, behind the header. */
static cip_need need_of(const cip_quantize_args *a, const cip_quantize_head *h, const cip_want *w)
{
    uint64_t first = w->off / width_of(a), end = cip_div_up(w->off + w->len, width_of(a));
    uint64_t from = first * h->bits / 8, to = cip_div_up(end * h->bits, 8);
    return (cip_need){ CIP_QUANTIZE_HEAD + from, to - from };
}

static cip_status check_want(const cip_want *w, uint64_t raw_len, cip_err *err)
{
    if (w->off > raw_len || w->len > raw_len - w->off)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a piece within %" PRIu64 " bytes", raw_len);
    return CIP_OK;
}

static cip_status needs(const void *args, const cip_codec_env *env, cip_bytes head,
                        const cip_wants *w, cip_needs *out, cip_err *err)
{
    const cip_quantize_args *a = args;
    cip_quantize_head h;
    uint64_t raw;
    (void)env;
    CIP_TRY(cip_quantize_head_parse(head, &h, err));
    if (cip_mul_overflow(h.n, (uint64_t)width_of(a), &raw) || raw != w->raw_len)
        return check_lengths(a, &h, CIP_QUANTIZE_HEAD + cip_quantize_payload(&h), w->raw_len, err);
    if (out->n >= out->max || w->n >= out->max - out->n)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%zu pieces of a chunk", w->n);
    out->at[out->n++] = (cip_need){ 0, CIP_QUANTIZE_HEAD };
    for (size_t i = 0; i < w->n; i++) {
        CIP_TRY(check_want(&w->at[i], w->raw_len, err));
        if (w->at[i].len != 0 && h.bits != 0)
            out->at[out->n++] = need_of(a, &h, &w->at[i]);
    }
    return CIP_OK;
}

static cip_status missing(cip_err *err)
{
    return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                    "expected more bytes of quantized values");
}

static cip_status decode_spans(const void *args, const cip_codec_env *env, const cip_stored *src,
                               const cip_wants *w, cip_err *err)
{
    const cip_quantize_args *a = args;
    const cip_need first = { 0, CIP_QUANTIZE_HEAD };
    const uint8_t *head;
    cip_quantize_head h;
    (void)env;
    if (!cip_stored_find(src, first, &head))
        return missing(err);
    CIP_TRY(cip_quantize_head_parse((cip_bytes){ head, CIP_QUANTIZE_HEAD }, &h, err));
    CIP_TRY(check_lengths(a, &h, src->total, w->raw_len, err));
    for (size_t i = 0; i < w->n; i++) {
        CIP_TRY(check_want(&w->at[i], w->raw_len, err));
        cip_need need = need_of(a, &h, &w->at[i]);
        packed from = { head, (size_t)need.len, 8 * (need.off - CIP_QUANTIZE_HEAD) };
        if (h.bits != 0 && w->at[i].len != 0 && !cip_stored_find(src, need, &from.p))
            return missing(err);
        decode_range(a, &h, &from, &w->at[i]);
    }
    return CIP_OK;
}

const cip_codec cip_codec_quantize = {
    .name = "quantize",
    .decode = decode,
    .head_len = CIP_QUANTIZE_HEAD,
    .needs = needs,
    .decode_spans = decode_spans,
};
