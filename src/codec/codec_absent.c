/* SPDX-License-Identifier: BSD-3-Clause
 * The functions of a codec whose library this build was made without. */
#include "codec/entropy/entropy.h"

static cip_status absent(cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "this build does not include the codec's library");
}

cip_status cip_absent_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                             uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args, (void)env, (void)src, (void)dst, (void)dst_len;
    return absent(err);
}

cip_status cip_absent_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                             cip_dst *out, cip_err *err)
{
    (void)args, (void)env, (void)level, (void)src, (void)out;
    return absent(err);
}

size_t cip_absent_bound(size_t n)
{
    (void)n;
    return 0;
}

static cip_status absent_begin(const void *args, const cip_codec_env *env, void **state,
                               cip_err *err)
{
    (void)args, (void)env;
    *state = NULL;
    return absent(err);
}

static cip_status absent_step(void *state, cip_flow *f, cip_err *err)
{
    (void)state, (void)f;
    return absent(err);
}

static void absent_finish(void *state)
{
    (void)state;
}

const cip_stream_codec cip_absent_stream = { .begin = absent_begin,
                                             .step = absent_step,
                                             .finish = absent_finish };
