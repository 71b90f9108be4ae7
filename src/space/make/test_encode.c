/* SPDX-License-Identifier: BSD-3-Clause
 * Payloads made of pieces: any reader of the codec takes them, whatever the sizes, and the threads
 * do not show in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "codec/checksum/checksum.h"
#include "codec/frames.h"
#include "codec/with.h"
#include "space/make/encode.h"
#include "support/fail_alloc.h"
#include "support/needs.h"

static const char *const codecs[] = { "zlib", "bzip2", "lz4f", "zstd" };

typedef struct sink {
    cip_out out;
    cip_buf got;
    size_t ncall;
    size_t fail_at; /* the call that fails; 0: none */
} sink;

static cip_status sink_write(void *user, const void *p, size_t n, cip_err *err)
{
    sink *s = user;
    if (++s->ncall == s->fail_at)
        return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "the disk is full");
    return cip_buf_add(&s->got, p, n, err);
}

/* The bytes are kept in memory of the C library's, so that nothing but the encoder counts. */
static cip_mem plain;

static void sink_open(sink *s)
{
    *s = (sink){ .out = { .write = sink_write, .user = s }, .got = { .mem = &plain } };
}

static uint8_t *numbers(size_t n, unsigned kind)
{
    uint32_t r = 12345;
    uint8_t *p = malloc(n + 1);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++) {
        r = r * 1664525u + 1013904223u;
        p[i] = kind == 0   ? (uint8_t)(r >> 24)                 /* stored blocks */
               : kind == 1 ? (uint8_t)(r >> 30)                 /* literals and matches */
               : kind == 2 ? (uint8_t)(i / 4)                   /* runs of four: bzip2's worst */
                           : (uint8_t)(r >> 31 ? i >> 8 : 'a'); /* all mixed */
    }
    return p;
}

typedef struct how {
    const cip_framing *framing;
    int level;
    uint64_t piece;
    size_t each; /* bytes given at once */
} how;

static cip_status encode(cip_env *env, const how *h, cip_bytes raw, sink *to, cip_err *err)
{
    cip_encoder *e;
    cip_status st = cip_encoder_new(env, h->framing, h->level, h->piece, &to->out, &e, err);
    for (size_t i = 0; st == CIP_OK && i < raw.len; i += h->each)
        st = cip_encoder_write(e, raw.ptr + i, raw.len - i < h->each ? raw.len - i : h->each, err);
    if (st == CIP_OK)
        st = cip_encoder_finish(e, err);
    cip_encoder_free(e);
    return st;
}

static void check_decodes(const char *codec, const sink *s, cip_bytes raw)
{
    cip_err err = CIP_ERR_INIT;
    cip_codec_env env = { .mem = &plain };
    cip_bytes in = { s->got.ptr, s->got.len };
    uint8_t *back = malloc(raw.len + 1);
    const cip_codec *c = cip_codec_find(codec);
    if (c->decode(NULL, &env, in, back, raw.len, &err) != CIP_OK)
        fail_msg("%s, %zu bytes: %s", codec, raw.len, err.text);
    assert_memory_equal(back, raw.ptr, raw.len);
    free(back);
}

static void env_open(cip_env *env, cip_pool *pool, const cip_allocator *from)
{
    assert_int_equal(cip_env_init(env, NULL, from, pool, NULL), CIP_OK);
}

static void check_sizes(const char *codec, unsigned kind, uint64_t piece, cip_pool *const pool[2])
{
    const size_t sizes[] = { 0,
                             1,
                             2,
                             3,
                             4,
                             5,
                             99,
                             piece - 1,
                             piece,
                             piece + 1,
                             2 * piece - 1,
                             2 * piece,
                             2 * piece + 1,
                             4 * piece,
                             4 * piece + 1,
                             9 * piece + 17 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sink first = { 0 };
        cip_bytes raw = { numbers(sizes[i], kind), sizes[i] };
        for (int t = 0; t < 4; t++) {
            cip_env env;
            sink s;
            how h = { cip_framing_find(codec), 0, piece, t < 2 ? raw.len + 1 : 333 };
            cip_err err = CIP_ERR_INIT;
            sink_open(&s);
            env_open(&env, t % 2 == 0 ? NULL : pool[t / 2], NULL);
            if (encode(&env, &h, raw, &s, &err) != CIP_OK)
                fail_msg("%s %zu: %s", codec, raw.len, err.text);
            assert_int_equal(s.out.n, s.got.len);
            assert_int_equal(env.mem.used, 0);
            cip_env_clear(&env);
            if (t == 0) {
                check_decodes(codec, &s, raw);
                first = s;
                continue;
            }
            assert_int_equal(s.got.len, first.got.len);
            assert_memory_equal(s.got.ptr, first.got.ptr, s.got.len);
            cip_buf_clear(&s.got);
        }
        cip_buf_clear(&first.got);
        free((void *)raw.ptr);
    }
}

static void all_sizes_decode_and_threads_do_not_show(void **state)
{
    NEEDS_CODECS();
    cip_pool *pool[2];
    (void)state;
    assert_int_equal(cip_pool_new(2, &pool[0], NULL), CIP_OK);
    assert_int_equal(cip_pool_new(3, &pool[1], NULL), CIP_OK);
    for (size_t c = 0; c < sizeof codecs / sizeof codecs[0]; c++)
        for (unsigned kind = 0; kind < 4; kind++)
            check_sizes(codecs[c], kind, 500, pool);
    cip_pool_free(pool[0]);
    cip_pool_free(pool[1]);
}

/* At their own sizes: blocks of libdeflate and libbz2 that are full, and more than one a piece. */
static void whole_pieces_decode(void **state)
{
    NEEDS_CODECS();
    cip_env env;
    (void)state;
    env_open(&env, cip_pool_shared(), NULL);
    for (size_t c = 0; c < sizeof codecs / sizeof codecs[0]; c++) {
        const cip_framing *f = cip_framing_find(codecs[c]);
        for (unsigned kind = 0; kind < 4; kind++)
            for (int level = 0; level < 2; level++) {
                sink s;
                how h = { f, level, 0, 1000003 };
                cip_bytes raw = { numbers((size_t)f->piece + 70000, kind),
                                  (size_t)f->piece + 70000 };
                sink_open(&s);
                assert_int_equal(encode(&env, &h, raw, &s, NULL), CIP_OK);
                check_decodes(codecs[c], &s, raw);
                cip_buf_clear(&s.got);
                free((void *)raw.ptr);
            }
    }
    cip_env_clear(&env);
}

static cip_status read_sink(void *user, uint64_t off, size_t n, void *dst, cip_err *err)
{
    const sink *s = user;
    (void)err;
    assert_true(off <= s->got.len && n <= s->got.len - off);
    memcpy(dst, s->got.ptr + off, n);
    return CIP_OK;
}

/* Others read but the first frame. The bytes do not tell how many threads there were. */
static void zstd_is_one_frame_of_a_known_size(void **state)
{
    const cip_framing *f = cip_framing_find("zstd");
    cip_pool *pool;
    (void)state;
    NEEDS(ZSTD);
    assert_int_equal(cip_pool_new(3, &pool, NULL), CIP_OK);
    const size_t sizes[] = { f->piece, f->piece + 1, 3 * f->piece + 12345 };
    for (size_t i = 0; i < 3; i++) {
        cip_bytes raw = { numbers(sizes[i], 1), sizes[i] };
        sink s[3];
        for (int t = 0; t < 3; t++) { /* one thread; three; three with little memory */
            cip_env env;
            cip_encoder *e;
            sink_open(&s[t]);
            env_open(&env, t == 0 ? NULL : pool, NULL);
            env.mem.limit = t == 2 ? 40 << 20 : UINT64_MAX;
            assert_int_equal(cip_encoder_new(&env, f, 0, 0, &s[t].out, &e, NULL), CIP_OK);
            cip_encoder_expect(e, raw.len);
            for (size_t at = 0, n; at < raw.len; at += n) {
                n = raw.len - at < 1000000 ? raw.len - at : 1000000;
                assert_int_equal(cip_encoder_write(e, raw.ptr + at, n, NULL), CIP_OK);
            }
            assert_int_equal(cip_encoder_finish(e, NULL), CIP_OK);
            cip_encoder_free(e);
            assert_int_equal(env.mem.used, 0);
            cip_env_clear(&env);
        }
        check_decodes("zstd", &s[0], raw);
        cip_frame_pieces found = { 0 };
        assert_int_equal(
            cip_zstd_scan(&plain, &(cip_frame_run){ read_sink, &s[0], s[0].got.len, raw.len, 10 },
                          &found, NULL),
            CIP_OK);
        assert_int_equal(found.n, 1);
        assert_false(found.sequential);
        cip_mem_put(&plain, found.piece);
        for (int t = 1; t < 3; t++) {
            assert_int_equal(s[t].got.len, s[0].got.len);
            assert_memory_equal(s[t].got.ptr, s[0].got.ptr, s[0].got.len);
        }
        for (int t = 0; t < 3; t++)
            cip_buf_clear(&s[t].got);
        free((void *)raw.ptr);
    }
    cip_pool_free(pool);
}

static void raw_bytes_go_out_as_they_are(void **state)
{
    sink s;
    cip_env env;
    how h = { .each = 4 };
    (void)state;
    sink_open(&s);
    env_open(&env, NULL, NULL);
    assert_int_equal(encode(&env, &h, (cip_bytes){ (const uint8_t *)"raw bytes", 9 }, &s, NULL),
                     CIP_OK);
    assert_int_equal(s.got.len, 9);
    assert_memory_equal(s.got.ptr, "raw bytes", 9);
    cip_buf_clear(&s.got);
    cip_env_clear(&env);
}

static void a_wrong_level_is_told_at_once(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (size_t c = 0; c < sizeof codecs / sizeof codecs[0]; c++) {
        sink s;
        cip_env env;
        cip_encoder *e = (cip_encoder *)&s;
        sink_open(&s);
        env_open(&env, NULL, NULL);
        assert_int_equal(
            cip_encoder_new(&env, cip_framing_find(codecs[c]), 99, 0, &s.out, &e, NULL),
            CIP_ERR_ARG);
        assert_null(e);
        assert_int_equal(env.mem.used, 0);
        cip_env_clear(&env);
    }
    assert_null(cip_framing_find("none"));
}

/* As zlib's own: what 0x78 is followed by. */
static void zlib_headers_tell_the_level(void **state)
{
    const uint8_t expected[] = { 0x9c, 0x01, 0x5e, 0x5e, 0x5e, 0x5e, 0x9c,
                                 0xda, 0xda, 0xda, 0xda, 0xda, 0xda };
    (void)state;
    for (int level = 0; level <= 12; level++) {
        sink s;
        cip_env env;
        how h = { cip_framing_find("zlib"), level, 0, 4 };
        sink_open(&s);
        env_open(&env, NULL, NULL);
        assert_int_equal(encode(&env, &h, (cip_bytes){ (const uint8_t *)"text", 4 }, &s, NULL),
                         CIP_OK);
        assert_int_equal(s.got.ptr[0], 0x78);
        assert_int_equal(s.got.ptr[1], expected[level]);
        cip_buf_clear(&s.got);
        cip_env_clear(&env);
    }
}

/* A failing output ends the encoding with its error, at any call. */
static void a_failing_output_is_passed_on(void **state)
{
    NEEDS_CODECS();
    cip_pool *pool;
    (void)state;
    assert_int_equal(cip_pool_new(2, &pool, NULL), CIP_OK);
    for (size_t c = 0; c < sizeof codecs / sizeof codecs[0]; c++) {
        cip_bytes raw = { numbers(5000, 3), 5000 };
        how h = { cip_framing_find(codecs[c]), 0, 500, 5000 };
        for (size_t n = 1;; n++) {
            sink s;
            cip_env env;
            cip_err err = CIP_ERR_INIT;
            sink_open(&s);
            s.fail_at = n;
            env_open(&env, pool, NULL);
            cip_status st = encode(&env, &h, raw, &s, &err);
            bool failed = s.ncall >= n;
            assert_int_equal(st, failed ? CIP_ERR_IO : CIP_OK);
            if (failed)
                assert_string_equal(err.text, "the disk is full");
            assert_int_equal(s.ncall, failed ? n : n - 1); /* nothing after the failure */
            cip_buf_clear(&s.got);
            assert_int_equal(env.mem.used, 0);
            cip_env_clear(&env);
            if (!failed)
                break;
        }
        free((void *)raw.ptr);
    }
    cip_pool_free(pool);
}

static void a_failing_allocation_is_passed_on(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (size_t c = 0; c < sizeof codecs / sizeof codecs[0]; c++) {
        cip_bytes raw = { numbers(3000, 3), 3000 };
        how h = { cip_framing_find(codecs[c]), 0, 500, 700 };
        size_t nfail = 0;
        for (size_t n = 1;; n++) {
            sink s;
            cip_env env;
            fail_alloc f = { .fail_at = n };
            cip_allocator from = { fail_alloc_resize, &f };
            sink_open(&s);
            env_open(&env, NULL, &from);
            cip_status st = encode(&env, &h, raw, &s, NULL);
            assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
            nfail += st != CIP_OK;
            cip_buf_clear(&s.got);
            assert_int_equal(env.mem.used, 0);
            cip_env_clear(&env);
            if (st == CIP_OK)
                break;
        }
        assert_true(nfail >= 3); /* the encoder and its buffers */
        free((void *)raw.ptr);
    }
}

/* Fewer pieces at once where memory is short; LIMIT where it is too short for one. */
static void memory_is_bounded(void **state)
{
    NEEDS_CODECS();
    cip_pool *pool;
    (void)state;
    assert_int_equal(cip_pool_new(4, &pool, NULL), CIP_OK);
    const cip_framing *f = cip_framing_find("lz4f");
    cip_bytes raw = { numbers(400000, 3), 400000 };
    how h = { f, 0, 10000, 400000 };
    uint64_t one = 10000 + 2 * f->bound(10000), most = 4096 + 8 * one;
    const uint64_t limits[] = { UINT64_MAX, most, most / 2, one + 4096, one, 100 };
    sink all = { 0 };
    for (size_t i = 0; i < 6; i++) {
        sink s;
        cip_env env;
        sink_open(&s);
        env_open(&env, pool, NULL);
        env.mem.limit = limits[i];
        assert_int_equal(encode(&env, &h, raw, &s, NULL), i < 4 ? CIP_OK : CIP_ERR_LIMIT);
        assert_int_equal(env.mem.used, 0);
        if (i == 0) {
            all = s;
        } else if (i < 4) {
            assert_int_equal(s.got.len, all.got.len);
            assert_memory_equal(s.got.ptr, all.got.ptr, all.got.len);
        }
        if (i != 0)
            cip_buf_clear(&s.got);
        cip_env_clear(&env);
    }
    cip_buf_clear(&all.got);
    free((void *)raw.ptr);
    cip_pool_free(pool);
}

/* --- sums ------------------------------------------------------------------------------------- */

static void sums_are_those_of_all_that_went_out(void **state)
{
    cip_pool *pool;
    (void)state;
    assert_int_equal(cip_pool_new(2, &pool, NULL), CIP_OK);
    const size_t n = 3 << 20, cut[] = { 0, 5, 5, (1 << 17) + 4, (1 << 18) + 5, n };
    uint8_t *p = numbers(n, 0), expected[16], found[16];
    cip_sum *sum;
    assert_int_equal(cip_sum_new(&plain, CIP_SUM_MD5, &sum, NULL), CIP_OK);
    cip_sum_add(sum, p, n);
    cip_sum_take(sum, expected);
    cip_sum_free(sum);
    for (int t = 0; t < 2; t++) {
        sink s;
        cip_env env;
        cip_summed *m;
        sink_open(&s);
        env_open(&env, t ? pool : NULL, NULL);
        assert_int_equal(cip_summed_new(&env, CIP_SUM_MD5, &s.out, &m, NULL), CIP_OK);
        for (int i = 0; i < 5; i++)
            assert_int_equal(
                cip_out_write(cip_summed_out(m), p + cut[i], cut[i + 1] - cut[i], NULL), CIP_OK);
        assert_int_equal(cip_summed_out(m)->n, n);
        assert_int_equal(cip_summed_finish(m, found, NULL), CIP_OK);
        assert_memory_equal(found, expected, 16);
        assert_int_equal(s.got.len, n);
        assert_memory_equal(s.got.ptr, p, n);
        cip_summed_free(m);
        cip_buf_clear(&s.got);
        assert_int_equal(env.mem.used, 0);
        cip_env_clear(&env);
    }
    free(p);
    cip_pool_free(pool);
}

static void sums_pass_failures_on(void **state)
{
    sink s;
    cip_env env;
    cip_summed *m;
    cip_err err = CIP_ERR_INIT;
    uint8_t *p = numbers(1 << 18, 0);
    (void)state;
    sink_open(&s);
    env_open(&env, NULL, NULL);
    assert_int_equal(cip_summed_new(&env, 99, &s.out, &m, NULL), CIP_ERR_UNSUPPORTED);
    assert_null(m);
    assert_int_equal(cip_summed_new(&env, CIP_SUM_MD5, &s.out, &m, NULL), CIP_OK);
    for (size_t n = 10; n < 1 << 18; n = 1 << 18) {
        s.ncall = 0;
        s.fail_at = 1;
        assert_int_equal(cip_out_write(cip_summed_out(m), p, n, &err), CIP_ERR_IO);
    }
    s.ncall = 0;
    assert_int_equal(cip_out_write(cip_summed_out(m), p, 1 << 18, &err), CIP_ERR_IO);
    assert_string_equal(err.text, "the disk is full");
    cip_summed_free(m);
    cip_summed_free(NULL);
    cip_encoder_free(NULL);
    cip_env_clear(&env);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sizes_decode_and_threads_do_not_show),
        cmocka_unit_test(whole_pieces_decode),
        cmocka_unit_test(zstd_is_one_frame_of_a_known_size),
        cmocka_unit_test(raw_bytes_go_out_as_they_are),
        cmocka_unit_test(a_wrong_level_is_told_at_once),
        cmocka_unit_test(zlib_headers_tell_the_level),
        cmocka_unit_test(a_failing_output_is_passed_on),
        cmocka_unit_test(a_failing_allocation_is_passed_on),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(sums_are_those_of_all_that_went_out),
        cmocka_unit_test(sums_pass_failures_on),
    };
    cip_mem_init(&plain, NULL, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
