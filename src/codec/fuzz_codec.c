/* SPDX-License-Identifier: BSD-3-Clause
 * Every codec on any bytes. The first byte picks the codec, the second the expected length (times
 * the third) and the sizes of steps; the rest is stored data. What decodes whole must decode to the
 * same in steps and in pieces. */
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"

enum { HEAD = 3 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Through the stream in steps of at most nin and nout bytes; `whole` is NULL or what must come. */
static void run_stream(const cip_codec *c, const cip_codec_env *env, cip_bytes src, size_t nin,
                       size_t nout, const uint8_t *whole, size_t len)
{
    void *state;
    uint8_t out[256];
    size_t got = 0;
    cip_flow f = { .in = src.ptr, .out = out, .out_len = nout };
    if (c->stream == NULL || c->stream->begin(NULL, env, &state, NULL) != CIP_OK)
        return;
    while (!f.end && got <= len) {
        f.in_len = src.len < nin ? src.len : nin;
        f.last = f.in_len == src.len;
        cip_status st = c->stream->step(state, &f, NULL);
        require(st == CIP_OK || st == CIP_ERR_LIMIT || whole == NULL); /* LIMIT: a window */
        if (st != CIP_OK)
            break;
        require(whole == NULL || (f.gave <= len - got && memcmp(whole + got, out, f.gave) == 0));
        f.in += f.took;
        src.len -= f.took;
        got += f.gave;
    }
    require(whole == NULL || !f.end || got == len);
    c->stream->finish(state);
}

static bool two_zeros(cip_bytes src)
{
    for (size_t i = 1; i < src.len; i++)
        if (src.ptr[i - 1] == 0 && src.ptr[i] == 0)
            return true;
    return false;
}

static void run_spans(const cip_codec *c, const cip_codec_env *env, cip_bytes src,
                      const uint8_t *whole, size_t len)
{
    const cip_need all = { 0, src.len };
    const cip_stored stored = { src.len, 1, &all, &src.ptr };
    size_t n = len / 3;
    uint8_t *out = malloc(2 * n + 1);
    const cip_want want[] = { { n / 2, n, out }, { 0, n, out + n } };
    if (c->decode_spans == NULL || out == NULL) {
        free(out);
        return;
    }
    cip_status st = c->decode_spans(NULL, env, &stored, &(cip_wants){ want, 2, len }, NULL);
    require(whole == NULL || st == CIP_OK);
    /* What a match 0 bytes back gives is not told, and not the same in a part of a block. */
    if (whole != NULL && !two_zeros(src))
        require(memcmp(out, whole + n / 2, n) == 0 && memcmp(out + n, whole, n) == 0);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *version;
    if (size < HEAD)
        return 0;
    const cip_codec *c = cip_codec_row(data[0] % 5, &version);
    size_t len = (size_t)data[1] * data[2];
    size_t nin = 1 + data[1] % 64, nout = 1 + data[2];
    uint8_t *dst = malloc(len + 1);
    cip_mem mem;
    cip_mem_init(&mem, NULL, 64 << 20);
    const cip_codec_env env = { .mem = &mem };
    cip_bytes src = { data + HEAD, size - HEAD };
    if (dst != NULL) {
        uint8_t *exact = dst + 1; /* its end is the memory's */
        bool good = c->decode(NULL, &env, src, exact, len, NULL) == CIP_OK;
        run_stream(c, &env, src, nin, nout, good ? exact : NULL, len);
        run_spans(c, &env, src, good ? exact : NULL, len);
    }
    free(dst);
    require(mem.used == 0);
    return 0;
}
