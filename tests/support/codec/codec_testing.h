/* SPDX-License-Identifier: BSD-3-Clause
 * What the tests of codecs share: an environment, data, and memory of exactly the size asked for,
 * so that AddressSanitizer sees a byte too many. */
#ifndef CIP_TESTS_CODEC_TESTING_H
#define CIP_TESTS_CODEC_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "support/fail_alloc.h"

typedef struct test_env {
    fail_alloc alloc;
    cip_mem mem;
    cip_codec_env env;
    cip_err err;
} test_env;

static inline cip_codec_env *test_env_open(test_env *t, size_t fail_at, uint64_t limit)
{
    memset(t, 0, sizeof *t);
    t->alloc.fail_at = fail_at;
    cip_mem_init(&t->mem, &(cip_allocator){ fail_alloc_resize, &t->alloc }, limit);
    t->env.mem = &t->mem;
    return &t->env;
}

/* All is given back. */
static inline void test_env_close(test_env *t)
{
    assert_int_equal(t->alloc.held, 0);
    assert_int_equal(t->mem.used, 0);
}

/* A copy on the heap; NULL for nothing. */
static inline uint8_t *test_copy(const void *src, size_t n)
{
    uint8_t *p = n != 0 ? malloc(n) : NULL;
    assert_true(p != NULL || n == 0);
    if (n != 0)
        memcpy(p, src, n);
    return p;
}

typedef enum test_kind { TEST_ZEROS, TEST_WORDS, TEST_NOISE, TEST_NKIND } test_kind;

/* n bytes: zeros, something compressible, or noise. */
static inline uint8_t *test_data(test_kind kind, size_t n)
{
    uint8_t *p = calloc(n + 1, 1);
    uint32_t x = 2463534242u;
    assert_non_null(p);
    for (size_t i = 0; kind != TEST_ZEROS && i < n; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        p[i] = (uint8_t)(kind == TEST_NOISE ? x >> 9 : (i % 97 < 90 ? i % 97 : x >> 13));
    }
    return p;
}

/* Encoded bytes of exactly the size, on the heap. */
static inline uint8_t *test_encode(const cip_codec *c, int level, const void *src, size_t n,
                                   size_t *len)
{
    test_env t;
    cip_codec_env *env = test_env_open(&t, 0, 0);
    cip_dst room = { .cap = c->bound(n) };
    room.ptr = malloc(room.cap);
    assert_non_null(room.ptr);
    assert_int_equal(
        c->encode(NULL, env, level, (cip_bytes){ (const uint8_t *)src, n }, &room, &t.err), CIP_OK);
    *len = room.len;
    assert_true(*len <= room.cap);
    test_env_close(&t);
    uint8_t *exact = test_copy(room.ptr, *len);
    free(room.ptr);
    return exact;
}

/* Decodes from and to memory of exactly the size; *out (may be NULL) is the caller's to free. */
static inline cip_status test_decode(const cip_codec *c, const void *src, size_t n, size_t dst_len,
                                     uint8_t **out, cip_err *err)
{
    test_env t;
    cip_codec_env *env = test_env_open(&t, 0, 0);
    uint8_t *in = test_copy(src, n);
    uint8_t *dst = dst_len != 0 ? malloc(dst_len) : NULL;
    assert_true(dst != NULL || dst_len == 0);
    cip_status st = c->decode(NULL, env, (cip_bytes){ in, n }, dst, dst_len, err);
    test_env_close(&t);
    free(in);
    if (out != NULL)
        *out = dst;
    else
        free(dst);
    return st;
}

/* Decodes through the stream, at most nin and nout bytes at once, with up to `room` bytes of
 * output; *got is how many there were. */
static inline cip_status test_stream(const cip_codec *c, cip_bytes src, size_t nin, size_t nout,
                                     uint8_t *out, size_t room, size_t *got, cip_err *err)
{
    test_env t;
    cip_codec_env *env = test_env_open(&t, 0, 0);
    void *state;
    cip_status st = c->stream->begin(NULL, env, &state, err);
    cip_flow f = { 0 };
    size_t pos = 0;
    *got = 0;
    while (st == CIP_OK && !f.end && *got < room) {
        size_t take = src.len - pos < nin ? src.len - pos : nin;
        size_t give = room - *got < nout ? room - *got : nout;
        uint8_t *in = test_copy(src.ptr + pos, take), *exact = malloc(give);
        assert_non_null(exact);
        f = (cip_flow){
            .in = in, .in_len = take, .last = pos + take == src.len, .out = exact, .out_len = give
        };
        st = c->stream->step(state, &f, err);
        if (st == CIP_OK) {
            assert_true(f.took <= take && f.gave <= give);
            memcpy(out + *got, exact, f.gave);
            pos += f.took;
            *got += f.gave;
        }
        free(in);
        free(exact);
    }
    c->stream->finish(state);
    test_env_close(&t);
    return st;
}

/* Bytes behind frames of "abc" that begin like no frame; then half of one more. */
static inline void test_junk_is_left_out(const cip_codec *c, cip_bytes frame)
{
    static const char *const junk[] = { "x", "abc", "junk", "more of it" };
    uint8_t all[200], got[10];
    size_t n;
    memcpy(all, frame.ptr, frame.len);
    for (size_t i = 0; i <= sizeof junk / sizeof junk[0]; i++) {
        const bool half = i == sizeof junk / sizeof junk[0];
        const size_t more = half ? frame.len - 1 : strlen(junk[i]);
        const cip_status want = half ? CIP_ERR_TRUNCATED : CIP_OK;
        const cip_bytes in = { all, frame.len + more };
        memcpy(all + frame.len, half ? (const void *)frame.ptr : junk[i], more);
        for (size_t nin = 1; nin < 9; nin++)
            assert_int_equal(test_stream(c, in, nin, 1, got, sizeof got, &n, NULL), want);
        if (half)
            continue;
        uint8_t *out;
        assert_int_equal(n, 3);
        assert_memory_equal(got, "abc", 3);
        assert_int_equal(test_decode(c, in.ptr, in.len, 3, &out, NULL), CIP_OK);
        free(out);
    }
}

#endif
