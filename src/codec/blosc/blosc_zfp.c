/* SPDX-License-Identifier: BSD-3-Clause
 * Blocks of floats through libzfp in its three modes: fixed accuracy, precision and rate, both
 * ways. libzfp trusts its input: it is given a copy with zeros behind it, as long as it could ever
 * read.
 */
#include "codec/blosc/blosc_compressor.h"
#include "codec/blosc/blosc_decode.h"

#include "codec/with.h"

#if CIP_WITH_ZFP

#include <math.h>
#include <string.h>
#include <zfp.h>

#include "base/endian.h"
#include "base/num.h"

enum { DIMS = 4, SPARE = 64 }; /* libzfp reads whole words */

/* A block as libzfp takes it. */
typedef struct floats {
    int compcode;
    uint8_t meta;
    uint32_t typesize;
    int32_t ndim;
    const int64_t *shape;
    void *values; /* in this machine's order */
} floats;

static double tolerance(uint8_t meta)
{
    return pow(10, (int8_t)meta);
}

/* The dimensions are given to zfp with the fastest first. */
static cip_status open_zfp(const floats *b, zfp_stream **out, zfp_field *field, cip_err *err)
{
    const zfp_type type = b->typesize == 4 ? zfp_type_float : zfp_type_double;
    const unsigned dims = (unsigned)b->ndim, prec = b->meta + 3 + 2 * dims;
    size_t size[DIMS] = { 0 };
    zfp_stream *z = zfp_stream_open(NULL);
    if (z == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libzfp");
    if (b->compcode == CIP_BLOSC_ZFP_ACC)
        zfp_stream_set_accuracy(z, tolerance(b->meta));
    else if (b->compcode == CIP_BLOSC_ZFP_PREC)
        zfp_stream_set_precision(z, prec < ZFP_MAX_PREC ? prec : ZFP_MAX_PREC);
    else
        zfp_stream_set_rate(z, b->meta / 100.0 * b->typesize * 8, type, dims, zfp_false);
    for (int k = 0; k < b->ndim; k++)
        size[k] = (size_t)b->shape[b->ndim - 1 - k];
    *field = (zfp_field){
        .type = type, .nx = size[0], .ny = size[1], .nz = size[2], .nw = size[3], .data = b->values
    };
    *out = z;
    return CIP_OK;
}

static cip_status run(zfp_stream *z, zfp_field *f, const cip_blosc_lib *lib, cip_bytes src,
                      cip_err *err)
{
    size_t most = zfp_stream_maximum_size(z, f), room;
    void *padded;
    if (cip_add_overflow(most, src.len, &room) || cip_add_overflow(room, (size_t)SPARE, &room))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "zfp data of %zu bytes", most);
    CIP_TRY(cip_mem_zeroed(lib->env->mem, room, 1, &padded, err));
    memcpy(padded, src.ptr, src.len);
    bitstream *bits = stream_open(padded, room);
    cip_status st = CIP_OK;
    if (bits == NULL) {
        st = cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libzfp");
    } else {
        zfp_stream_set_bit_stream(z, bits);
        zfp_stream_rewind(z);
        size_t took = zfp_decompress(z, f);
        if (took == 0 || took > src.len + sizeof(uint64_t))
            st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                          "expected zfp data of %zu bytes, found an end after %zu", took, src.len);
        stream_close(bits);
    }
    cip_mem_put(lib->env->mem, padded);
    return st;
}

/* libzfp takes and gives numbers in this machine's order; a chunk's are in the order it says. */
static void swap_unless_native(bool big, size_t typesize, uint8_t *p, size_t n)
{
    if (big == (CIP_HOST_BIG != 0))
        return;
    for (size_t i = 0; i + typesize <= n; i += typesize)
        if (typesize == 4)
            cip_store_u32(p + i, cip_load_u32(p + i, false), true);
        else
            cip_store_u64(p + i, cip_load_u64(p + i, false), true);
}

cip_status cip_blosc_zfp_decode(const cip_blosc_lib *lib, cip_bytes src, uint8_t *dst, size_t n,
                                cip_err *err)
{
    floats block = {
        lib->compcode, lib->meta, lib->typesize, lib->env->ndim, lib->env->block, dst
    };
    zfp_stream *z;
    zfp_field field;
    const cip_codec_env *env = lib->env;
    uint64_t total = lib->typesize;
    bool far = false;
    if (lib->typesize != 4 && lib->typesize != 8)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected elements of 4 or 8 bytes for zfp, found %" PRIu32, lib->typesize);
    if (env->ndim < 1 || env->ndim > DIMS || env->block == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a block's shape of 1 to 4 dimensions for zfp, found %d",
                        (int)env->ndim);
    for (int k = 0; k < env->ndim; k++)
        far = far || env->block[k] <= 0 || cip_mul_overflow(total, env->block[k], &total);
    if (far || total != n)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a block whose size matches its shape for zfp, found %zu bytes",
                        n);
    CIP_TRY(open_zfp(&block, &z, &field, err));
    cip_status st = run(z, &field, lib, src, err);
    zfp_stream_close(z);
    swap_unless_native(lib->big, lib->typesize, dst, n);
    return st;
}

/* --- encoding --------------------------------------------------------------------------------- */

/* Whether the values that come back are as near as was asked for: where small ones lie beside very
 * large ones libzfp has no bits left for them. */
static bool holds(zfp_stream *z, zfp_field *f, const floats *b, cip_bytes src, bool big)
{
    const double most = tolerance(b->meta);
    const uint8_t *back = b->values;
    zfp_stream_rewind(z);
    if (zfp_decompress(z, f) == 0)
        return false;
    for (size_t i = 0; i < src.len; i += b->typesize) /* not <=: what overflowed is NaN */
        if (!(fabs(cip_load_float(src.ptr + i, b->typesize, big) -
                   cip_load_float(back + i, b->typesize, CIP_HOST_BIG != 0)) <= most))
            return false;
    return true;
}

static size_t whole_words(size_t n)
{
    return cip_div_up(n, sizeof(uint64_t)) * sizeof(uint64_t);
}

/* Whole words of 8 bytes: a libzfp may have shorter ones, but libblosc2's does not, and reads no
 * stream without one. */
static size_t squeeze(zfp_stream *z, zfp_field *f, const floats *b, const cip_blosc_spec *s,
                      cip_bytes src, bitstream *bits)
{
    zfp_stream_set_bit_stream(z, bits);
    zfp_stream_rewind(z);
    size_t len = zfp_compress(z, f), whole = whole_words(len);
    if (len == 0)
        return 0;
    memset((uint8_t *)stream_data(bits) + len, 0, whole - len);
    return b->compcode != CIP_BLOSC_ZFP_ACC || holds(z, f, b, src, s->big) ? whole : 0;
}

cip_status cip_blosc_zfp_encode(cip_blosc_compressor *p, cip_bytes src, uint8_t *dst, size_t cap,
                                size_t *n, cip_err *err)
{
    const cip_blosc_spec *s = p->spec;
    floats block = { s->compcode, s->codec_meta, s->typesize, s->ndim, s->block, NULL };
    zfp_stream *z;
    zfp_field field;
    *n = 0;
    for (size_t i = 0; i < src.len; i += s->typesize) /* zfp has no word for NaN and infinities */
        if (!isfinite(cip_load_float(src.ptr + i, s->typesize, s->big)))
            return CIP_OK;
    CIP_TRY(open_zfp(&block, &z, &field, err));
    size_t most = zfp_stream_maximum_size(z, &field), values = whole_words(src.len), room;
    cip_status st = cip_add_overflow(values + sizeof(uint64_t), most, &room)
                        ? cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "zfp data of %zu bytes", most)
                        : cip_mem_get(p->mem, room, &block.values, err);
    if (st == CIP_OK) {
        uint8_t *out = (uint8_t *)block.values + values;
        memcpy(block.values, src.ptr, src.len);
        swap_unless_native(s->big, s->typesize, block.values, src.len);
        field.data = block.values;
        bitstream *bits = stream_open(out, most);
        if (bits == NULL)
            st = cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libzfp");
        else
            *n = squeeze(z, &field, &block, s, src, bits);
        if (*n > cap)
            *n = 0;
        memcpy(dst, out, *n);
        stream_close(bits);
        cip_mem_put(p->mem, block.values);
    }
    zfp_stream_close(z);
    return st;
}

#endif
