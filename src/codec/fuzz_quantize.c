/* SPDX-License-Identifier: BSD-3-Clause
 * A chunk of quantized floats. The first byte says how it is decoded, the second where a part of it
 * begins, the third how long it is; the rest is the chunk. What decodes whole decodes to the same
 * in a part that sees only the bytes it asked for. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "codec/quantize.h"

enum { OWN = 3, NEEDS = 4 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void run_part(const cip_quantize_args *a, cip_bytes src, uint64_t raw_len, cip_want want,
                     const uint8_t *whole)
{
    const cip_codec_env env = { 0 };
    cip_need need[NEEDS];
    const uint8_t *ptr[NEEDS];
    cip_needs needs = { .at = need, .max = NEEDS };
    cip_bytes head = { src.ptr, cip_min_u64(src.len, CIP_QUANTIZE_HEAD) };
    cip_status st =
        cip_codec_quantize.needs(a, &env, head, &(cip_wants){ &want, 1, raw_len }, &needs, NULL);
    for (size_t i = 0; i < needs.n && st == CIP_OK; i++) {
        if (need[i].off > src.len || need[i].len > src.len - need[i].off)
            st = CIP_ERR_CORRUPT; /* as who reads them finds */
        ptr[i] = src.ptr + need[i].off;
    }
    const cip_stored stored = { src.len, needs.n, need, ptr };
    if (st == CIP_OK)
        st = cip_codec_quantize.decode_spans(a, &env, &stored, &(cip_wants){ &want, 1, raw_len },
                                             NULL);
    require(whole == NULL || st == CIP_OK);
    require(whole == NULL || memcmp(want.dst, whole + want.off, want.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cip_codec_env env = { 0 };
    cip_quantize_head h;
    uint64_t raw;
    if (size < OWN)
        return 0;
    const cip_quantize_args a = { (data[0] & 1) != 0, (data[0] & 2) != 0 };
    cip_bytes src = { data + OWN, size - OWN };
    if (cip_quantize_head_parse(src, &h, NULL) != CIP_OK ||
        cip_mul_overflow(h.n, a.wide ? (uint64_t)8 : 4, &raw))
        return 0;
    uint64_t off = raw != 0 ? data[1] % raw : 0;
    size_t len = (size_t)cip_min_u64(data[2], raw - off), all = raw <= 1 << 20 ? (size_t)raw : 0;
    uint8_t *whole = malloc(all + 1), *part = malloc(len + 1);
    require(whole != NULL && part != NULL);
    bool good = all == raw && cip_codec_quantize.decode(&a, &env, src, whole, all, NULL) == CIP_OK;
    run_part(&a, src, raw, (cip_want){ off, len, part }, good ? whole : NULL);
    free(whole);
    free(part);
    return 0;
}
