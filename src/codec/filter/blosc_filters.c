/* SPDX-License-Identifier: BSD-3-Clause
 * The filters of Blosc by their numbers, undone. */
#include "codec/filter/filter.h"

#include <string.h>

cip_status cip_filter_undo(int id, const cip_filter_env *env, const uint8_t *src, uint8_t *dst,
                           size_t n, cip_err *err)
{
    const uint64_t streams = env->meta != 0 ? env->meta : cip_filter_typesize(env);
    switch (id) {
    case CIP_BLOSC_NOFILTER:
    case CIP_BLOSC_TRUNC_PREC: /* what they took away is gone */
    case CIP_BLOSC_INT_TRUNC:
        memcpy(dst, src, n);
        return CIP_OK;
    case CIP_BLOSC_SHUFFLE:
        cip_unshuffle(env->meta != 0 ? env->meta : env->typesize, src, dst, n);
        return CIP_OK;
    case CIP_BLOSC_BITSHUFFLE:
        cip_bitunshuffle(env->typesize, env->version <= 2, src, dst, n);
        return CIP_OK;
    case CIP_BLOSC_DELTA:
        cip_undelta(env->typesize, env->first, src, dst, n);
        return CIP_OK;
    case CIP_BLOSC_NDCELL:
    case CIP_BLOSC_NDMEAN:
        return cip_ndcell_undo(env, id == CIP_BLOSC_NDMEAN, src, dst, n, err);
    case CIP_BLOSC_BYTEDELTA_OLD:
    case CIP_BLOSC_BYTEDELTA:
        if (streams <= n)
            cip_unbytedelta((size_t)streams, id == CIP_BLOSC_BYTEDELTA_OLD, src, dst, n);
        else
            memcpy(dst, src, n);
        return CIP_OK;
    default:
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a known filter, found %d", id);
    }
}
