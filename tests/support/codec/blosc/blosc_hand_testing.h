/* SPDX-License-Identifier: BSD-3-Clause
 * For tests of decoding: chunks embedded by hand, and what is expected of them. */
#ifndef CIP_TESTS_BLOSC_HAND_TESTING_H
#define CIP_TESTS_BLOSC_HAND_TESTING_H

#include "support/codec/codec_testing.h"

#include "base/endian.h"
#include "support/codec/blosc/blosc_testing.h"
#include "codec/with.h"

typedef struct chunk {
    size_t len;
    uint8_t b[4096];
} chunk;

static inline void put32(chunk *c, uint32_t v)
{
    cip_store_u32(c->b + c->len, v, false);
    c->len += 4;
}

static inline void put(chunk *c, const void *p, size_t n)
{
    memcpy(c->b + c->len, p, n);
    c->len += n;
}

/* A header; cbytes is set by `done`. */
static inline chunk start(uint8_t version, uint8_t flags, uint8_t typesize, uint32_t nbytes,
                          uint32_t blocksize)
{
    chunk c = { 0 };
    put(&c, (uint8_t[]){ version, 1, flags, typesize }, 4);
    put32(&c, nbytes);
    put32(&c, blocksize);
    put32(&c, 0);
    c.len = (flags & 5) == 5 ? 32 : 16;
    return c;
}

static inline cip_bytes done(chunk *c)
{
    cip_store_u32(c->b + 12, (uint32_t)c->len, false);
    return (cip_bytes){ c->b, c->len };
}

static inline void assert_gives(cip_bytes in, const void *want, size_t n)
{
    blosc_world w;
    uint8_t *out;
    cip_err err = CIP_ERR_INIT;
    blosc_open(&w, in);
    if (blosc_whole(&w, in, n, &out, &err) != CIP_OK)
        fail_msg("%s", err.text);
    if (n != 0)
        assert_memory_equal(out, want, n);
    free(out);
    assert_int_equal(blosc_both_ways_agree(in, 1 << 20), CIP_OK);
}

static inline void assert_refused(cip_bytes in, size_t n, cip_status st, const char *why)
{
    blosc_world w;
    uint8_t *out;
    cip_err err = CIP_ERR_INIT;
    blosc_open(&w, in);
    cip_status found = blosc_whole(&w, in, n, &out, &err);
    if (found != st || strstr(err.text, why) == NULL)
        fail_msg("expected %d, '%s', found %d, '%s'", (int)st, why, (int)found, err.text);
    assert_int_not_equal(blosc_both_ways_agree(in, 1 << 20), CIP_OK);
}

#endif
