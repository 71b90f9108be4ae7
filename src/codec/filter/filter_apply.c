/* SPDX-License-Identifier: BSD-3-Clause
 * One filter of Blosc over one block, forward; delta and bytedelta themselves. */
#include <string.h>

#include "codec/filter/apply.h"
#include "codec/filter/filter.h"

/* In block 0 each word against the one before it, in the others against block 0's. */
static void delta(const cip_filter_env *env, const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t word = cip_delta_width(env->typesize), done = n - n % word, at = 0;
    if (env->first == NULL)
        for (at = done < word ? done : word; at < done; at++)
            dst[at] = src[at] ^ src[at - word];
    else
        for (; at < done; at++)
            dst[at] = src[at] ^ env->first[at];
    if (env->first == NULL)
        memcpy(dst, src, done < word ? done : word);
    memcpy(dst + done, src + done, n - done);
}

/* Each of the planes that shuffle made, byte by byte against the one before. */
static void bytedelta(size_t nplane, const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t len = n / nplane, done = len * nplane;
    for (size_t p = 0; p < done; p += len) {
        dst[p] = src[p];
        for (size_t i = p + 1; i < p + len; i++)
            dst[i] = (uint8_t)(src[i] - src[i - 1]);
    }
    memcpy(dst + done, src + done, n - done);
}

cip_status cip_filter_apply(int id, const cip_filter_env *env, const uint8_t *src, uint8_t *dst,
                            size_t n, cip_err *err)
{
    switch (id) {
    case CIP_BLOSC_NOFILTER:
        memcpy(dst, src, n);
        return CIP_OK;
    case CIP_BLOSC_SHUFFLE:
        cip_shuffle_apply(env->meta != 0 ? env->meta : env->typesize, src, dst, n);
        return CIP_OK;
    case CIP_BLOSC_BITSHUFFLE:
        cip_bitshuffle_apply(env->typesize, env->version <= 2, src, dst, n);
        return CIP_OK;
    case CIP_BLOSC_DELTA:
        delta(env, src, dst, n);
        return CIP_OK;
    case CIP_BLOSC_BYTEDELTA:
        bytedelta(env->meta != 0 ? env->meta : (size_t)cip_filter_typesize(env), src, dst, n);
        return CIP_OK;
    case CIP_BLOSC_TRUNC_PREC:
        return cip_trunc_prec_apply(env, src, dst, n, err);
    case CIP_BLOSC_INT_TRUNC:
        return cip_int_trunc_apply(env, src, dst, n, err);
    case CIP_BLOSC_NDCELL:
        return cip_ndcell_apply(env, src, dst, n, err);
    case CIP_BLOSC_NDMEAN:
        return cip_ndmean_apply(env, src, dst, n, err);
    default: /* bytedelta's first number is not written: what it means depends on its reader */
        break;
    }
    const char *name = cip_blosc_filter_name(id);
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a filter that can be written, found %s (%d)",
                    name != NULL ? name : "an unknown one", id);
}
