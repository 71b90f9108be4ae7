/* SPDX-License-Identifier: BSD-3-Clause
 * Blocks of floats through libzfp in its three modes: fixed accuracy, precision and rate. libzfp
 * trusts its input: it is given a copy with zeros behind it, as long as it could ever read. */
#include "codec/blosc/blosc_decode.h"

#include "codec/with.h"

#if CIP_WITH_ZFP

#include <math.h>
#include <string.h>
#include <zfp.h>

#include "base/endian.h"
#include "base/num.h"

enum { DIMS = 4, SPARE = 64 }; /* libzfp reads whole words */

static cip_status check_block(const cip_blosc_lib *lib, size_t n, cip_err *err)
{
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
                        "expected a block of its shape's size for zfp, found %zu bytes", n);
    return CIP_OK;
}

static void set_mode(zfp_stream *z, const cip_blosc_lib *lib, zfp_type type, unsigned dims)
{
    unsigned prec;
    switch (lib->compcode) {
    case CIP_BLOSC_ZFP_ACC:
        zfp_stream_set_accuracy(z, pow(10, (int8_t)lib->meta));
        break;
    case CIP_BLOSC_ZFP_PREC:
        prec = lib->meta + 3 + 2 * dims;
        zfp_stream_set_precision(z, prec < ZFP_MAX_PREC ? prec : ZFP_MAX_PREC);
        break;
    default:
        zfp_stream_set_rate(z, lib->meta / 100.0 * lib->typesize * 8, type, dims, zfp_false);
    }
}

/* The dimensions are given to zfp with the fastest first. */
static void set_field(zfp_field *f, const cip_codec_env *env, zfp_type type, uint8_t *dst)
{
    size_t size[DIMS] = { 0 };
    for (int k = 0; k < env->ndim; k++)
        size[k] = (size_t)env->block[env->ndim - 1 - k];
    *f = (zfp_field){
        .type = type, .nx = size[0], .ny = size[1], .nz = size[2], .nw = size[3], .data = dst
    };
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

/* libzfp gives numbers, in this machine's order; a chunk has its writer's. */
static void to_order_of_chunk(const cip_blosc_lib *lib, uint8_t *dst, size_t n)
{
    if (lib->big == (CIP_HOST_BIG != 0))
        return;
    for (size_t i = 0; i + lib->typesize <= n; i += lib->typesize)
        if (lib->typesize == 4)
            cip_store_u32(dst + i, cip_load_u32(dst + i, false), true);
        else
            cip_store_u64(dst + i, cip_load_u64(dst + i, false), true);
}

cip_status cip_blosc_zfp_decode(const cip_blosc_lib *lib, cip_bytes src, uint8_t *dst, size_t n,
                                cip_err *err)
{
    zfp_field field;
    zfp_type type = lib->typesize == 4 ? zfp_type_float : zfp_type_double;
    CIP_TRY(check_block(lib, n, err));
    zfp_stream *z = zfp_stream_open(NULL);
    if (z == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libzfp");
    set_mode(z, lib, type, (unsigned)lib->env->ndim);
    set_field(&field, lib->env, type, dst);
    cip_status st = run(z, &field, lib, src, err);
    zfp_stream_close(z);
    to_order_of_chunk(lib, dst, n);
    return st;
}

#endif
