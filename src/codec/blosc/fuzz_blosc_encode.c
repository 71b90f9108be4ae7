/* SPDX-License-Identifier: BSD-3-Clause
 * Any parameters and any bytes: what is encoded fits its bound and decodes to the same bytes, whole
 * and a piece of it. The first eight bytes are the parameters. */
#include <stdlib.h>
#include <string.h>

#include "codec/blosc/blosc.h"

enum { HEAD = 8 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static cip_blosc_spec take_spec(const uint8_t *p)
{
    static const uint8_t filters[][3] = { { 0 },       { 0, 0, 1 },  { 0, 0, 2 },  { 0, 0, 3 },
                                          { 0, 3, 1 }, { 0, 3, 2 },  { 0, 1, 35 }, { 3, 1, 35 },
                                          { 0, 4, 1 }, { 0, 36, 2 }, { 0, 2, 1 },  { 0, 1, 3 } };
    static const int codecs[] = { CIP_BLOSC_BLOSCLZ, CIP_BLOSC_LZ4,     CIP_BLOSC_LZ4HC,
                                  CIP_BLOSC_SNAPPY,  CIP_BLOSC_ZLIB,    CIP_BLOSC_ZSTD,
                                  CIP_BLOSC_NDLZ,    CIP_BLOSC_ZFP_ACC, CIP_BLOSC_ZFP_PREC,
                                  CIP_BLOSC_ZFP_RATE };
    cip_blosc_spec s = { .compcode = codecs[p[0] % 10],
                         .level = p[1] % 8,
                         .typesize = p[2] != 0 ? p[2] : 300,
                         .blocksize = p[4] | (uint32_t)p[5] << 8,
                         .split = p[6] % 3,
                         .blosc1 = (p[6] & 64) != 0,
                         .dict = (p[6] & 128) != 0 };
    memcpy(s.filter + 3, filters[p[3] % 12], 3);
    s.filter_meta[4] = p[3] % 12 >= 8 ? p[7] : 0;
    return s;
}

/* For the codecs that take one: a shape of blocks, from the bytes that say how large one is, and
 * as many of the bytes as are whole ones. */
static void take_shape(const uint8_t *p, int64_t shape[4], cip_blosc_spec *s, size_t *len)
{
    size_t block = s->typesize;
    if (s->compcode < CIP_BLOSC_NDLZ)
        return;
    s->codec_meta = p[7];
    s->blocksize = 0;
    s->block = shape;
    s->ndim = 1 + (p[1] >> 3) % 4;
    for (int k = 0; k < s->ndim; k++) {
        shape[k] = (k % 2 == 0 ? p[4] : p[5]) % 40;
        block *= (size_t)shape[k];
    }
    *len -= block != 0 ? *len % block : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    cip_blosc_spec s = take_spec(data);
    cip_bytes raw = { data + HEAD, size - HEAD };
    int64_t shape[4];
    take_shape(data, shape, &s, &raw.len);
    size_t bound = cip_blosc_stored_bound(raw.len), n = 0;
    uint8_t *dst = malloc(bound), *back = malloc(raw.len + 1);
    cip_mem mem;
    cip_mem_init(&mem, NULL, 256 << 20);
    cip_status st = dst == NULL || back == NULL
                        ? CIP_ERR_NOMEM
                        : cip_blosc_encode(&mem, &s, raw, dst, bound, &n, NULL);
    require(st == CIP_OK || st == CIP_ERR_ARG || st == CIP_ERR_UNSUPPORTED || st == CIP_ERR_NOMEM);
    if (st == CIP_OK) {
        cip_bytes chunk = { dst, n };
        cip_codec_env env = {
            .mem = &mem, .typesize = s.typesize, .ndim = s.ndim, .block = s.block
        };
        require(n <= bound);
        require(cip_codec_blosc.decode(NULL, &env, chunk, back, raw.len, NULL) == CIP_OK);
        require(cip_blosc_is_lossy(&s) || memcmp(back, raw.ptr, raw.len) == 0);
        if (raw.len != 0) {
            uint8_t middle;
            cip_need all = { 0, n };
            cip_stored stored = { .total = n, .n = 1, .at = &all, .ptr = &chunk.ptr };
            cip_want want = { raw.len / 2, 1, &middle };
            require(cip_codec_blosc.decode_spans(
                        NULL, &env, &stored, &(cip_wants){ &want, 1, raw.len }, NULL) == CIP_OK);
            require(middle == back[raw.len / 2]);
        }
    }
    require(mem.used == 0);
    free(dst);
    free(back);
    return 0;
}
