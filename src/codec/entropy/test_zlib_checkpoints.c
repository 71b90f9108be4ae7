/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/codec/codec_testing.h"

#include <libdeflate.h>
#include <zlib.h>

enum { RAW = 200000, CHECKPOINTS = 4096 };

static uint8_t raw[RAW], coded[2 * RAW], out[RAW + 1];

static uint32_t rnd(uint32_t *s)
{
    *s = *s * 1664525u + 1013904223u;
    return *s >> 8;
}

/* Runs, near and far repeats, noise, letters. */
static void make_raw(uint32_t seed)
{
    for (size_t i = 0; i < RAW;) {
        size_t n = 1 + rnd(&seed) % 400, kind = rnd(&seed) % 5;
        n = n < RAW - i ? n : RAW - i;
        size_t back = i == 0 ? 0 : 1 + rnd(&seed) % (kind == 1 ? 9 : 32768);
        back = back < i ? back : i;
        for (size_t k = 0; k < n; k++, i++)
            raw[i] = kind <= 1 && back != 0 ? raw[i - back]
                     : kind == 2            ? 7
                     : kind == 3            ? (uint8_t)rnd(&seed)
                                            : (uint8_t)('a' + rnd(&seed) % 16);
    }
}

static size_t by_zlib(int level, int strategy, int mem_level)
{
    z_stream z = { .next_in = raw, .avail_in = RAW, .next_out = coded, .avail_out = sizeof coded };
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 15, mem_level, strategy), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

static size_t by_libdeflate(int level)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    size_t n = libdeflate_zlib_compress(c, raw, RAW, coded, sizeof coded);
    libdeflate_free_compressor(c);
    return n;
}

typedef struct checkpoints {
    size_t n;
    cip_checkpoint at[CHECKPOINTS];
    uint8_t *window[CHECKPOINTS];
} checkpoints;

static void keep_checkpoint(checkpoints *m, const cip_checkpoint *at)
{
    if (m->n != 0 && m->at[m->n - 1].raw == at->raw)
        return;
    assert_true(m->n < CHECKPOINTS);
    m->at[m->n] = *at;
    m->window[m->n] = malloc(at->window_len + 1);
    memcpy(m->window[m->n], at->window, at->window_len);
    m->at[m->n].window = m->window[m->n];
    m->n++;
}

static void drop_checkpoints(checkpoints *m)
{
    while (m->n != 0)
        free(m->window[--m->n]);
}

static const cip_deflate_args
    *bare; /* deflate alone is decoded, with these arguments; NULL: zlib */

/* From `from` (NULL: the beginning) to the end in pieces; every block is marked with `m`. */
static cip_status run(cip_bytes src, const cip_checkpoint *from, uint32_t seed, checkpoints *m,
                      size_t *got)
{
    test_env t;
    const cip_stream_codec *z =
        (bare != NULL ? &cip_codec_deflate : cip_codec_find("zlib"))->stream;
    const cip_codec_env *env = test_env_open(&t, 0, 0);
    void *s = NULL;
    cip_flow f = { 0 };
    size_t pos = from != NULL ? (size_t)(from->in_bits / 8) : 0;
    cip_checkpoint checkpoint = { 0 };
    cip_status st =
        from != NULL ? z->resume(bare, env, from, &s, &t.err) : z->begin(bare, env, &s, &t.err);
    for (*got = 0; st == CIP_OK && !f.end;) {
        size_t nin = 1 + rnd(&seed) % (seed & 1 ? 20 : 9000), nout = 1 + rnd(&seed) % 30000;
        nin = nin < src.len - pos ? nin : src.len - pos;
        nout = nout < RAW + 1 - *got ? nout : RAW + 1 - *got;
        if (m != NULL)
            z->checkpoint(s, true, NULL);
        f = (cip_flow){ .in = src.ptr + pos,
                        .in_len = nin,
                        .last = pos + nin == src.len,
                        .out = out + *got,
                        .out_len = nout };
        st = z->step(s, &f, &t.err);
        if (st != CIP_OK)
            break;
        pos += f.took;
        *got += f.gave;
        if (m != NULL && z->checkpoint(s, false, &checkpoint)) {
            assert_int_equal(checkpoint.raw, *got);
            keep_checkpoint(m, &checkpoint);
        }
    }
    z->finish(s);
    test_env_close(&t);
    return st;
}

/* Every checkpoint leads to the same bytes. At least `least` of them. */
static void check_checkpoints(size_t n, size_t least, uint32_t seed)
{
    static checkpoints m;
    size_t got;
    const cip_bytes src = { coded, n };
    assert_int_equal(run(src, NULL, seed, NULL, &got), CIP_OK);
    assert_int_equal(got, RAW);
    assert_memory_equal(out, raw, RAW);
    assert_int_equal(run(src, NULL, seed + 1, &m, &got), CIP_OK);
    assert_int_equal(got, RAW);
    assert_memory_equal(out, raw, RAW);
    assert_true(m.n >= least);
    for (size_t i = 0; i < m.n; i += 1 + m.n / 20) {
        size_t left = RAW - m.at[i].raw;
        assert_true(m.at[i].window_len <= CIP_CHECKPOINT_WINDOW &&
                    m.at[i].window_len <= 4 + m.at[i].raw);
        assert_int_equal(run(src, &m.at[i], seed + (uint32_t)i, NULL, &got), CIP_OK);
        assert_int_equal(got, left);
        assert_memory_equal(out, raw + m.at[i].raw, left);
        coded[n - 1] ^= 1; /* the checksum of all, which no checkpoint loses */
        assert_int_equal(run(src, &m.at[i], seed + (uint32_t)i, NULL, &got), CIP_ERR_CHECKSUM);
        coded[n - 1] ^= 1;
    }
    drop_checkpoints(&m);
}

static void checkpoints_of_every_kind_of_block_lead_to_the_same_bytes(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 3; seed++) {
        make_raw(seed);
        check_checkpoints(by_zlib(6, Z_DEFAULT_STRATEGY, 1), 100, seed); /* many small blocks */
        check_checkpoints(by_zlib(6, Z_DEFAULT_STRATEGY, 9), 1, seed);
        check_checkpoints(by_zlib(9, Z_FIXED, 1), 50, seed);
        check_checkpoints(by_zlib(0, Z_DEFAULT_STRATEGY, 8), 3, seed); /* stored */
        check_checkpoints(by_zlib(6, Z_HUFFMAN_ONLY, 2), 100, seed);
        check_checkpoints(by_zlib(6, Z_RLE, 2), 100, seed);
        check_checkpoints(by_libdeflate(1), 1, seed);
        check_checkpoints(by_libdeflate(12), 1, seed);
    }
}

/* The stream without zlib's head and tail, and a CRC-32 that is kept apart. */
static void deflate_alone_is_compared_with_its_crc(void **state)
{
    (void)state;
    static checkpoints m;
    const cip_codec *d = &cip_codec_deflate;
    size_t got;
    make_raw(4);
    const cip_bytes src = { coded + 2, by_zlib(6, Z_DEFAULT_STRATEGY, 1) - 6 };
    const cip_deflate_args right = { libdeflate_crc32(0, raw, RAW) }, wrong = { right.crc ^ 1 };
    bare = &right;
    assert_int_equal(run(src, NULL, 1, &m, &got), CIP_OK);
    assert_int_equal(got, RAW);
    assert_memory_equal(out, raw, RAW);
    assert_true(m.n > 100);
    for (size_t i = 0; i < m.n; i += 1 + m.n / 20) {
        bare = &right;
        assert_int_equal(run(src, &m.at[i], 2, NULL, &got), CIP_OK);
        assert_memory_equal(out, raw + m.at[i].raw, RAW - m.at[i].raw);
        bare = &wrong;
        assert_int_equal(run(src, &m.at[i], 2, NULL, &got), CIP_ERR_CHECKSUM);
    }
    bare = NULL;
    drop_checkpoints(&m);

    test_env t;
    const cip_codec_env *env = test_env_open(&t, 0, 0);
    memset(out, 0, sizeof out);
    assert_int_equal(d->decode(&right, env, src, out, RAW, &t.err), CIP_OK);
    assert_memory_equal(out, raw, RAW);
    assert_int_equal(d->decode(NULL, env, src, out, RAW, &t.err), CIP_OK);
    assert_int_equal(d->decode(&wrong, env, src, out, RAW, &t.err), CIP_ERR_CHECKSUM);
    assert_non_null(strstr(t.err.text, "crc32 mismatch: expected"));
    assert_int_equal(d->decode(&right, env, src, out, RAW - 1, &t.err), CIP_ERR_CORRUPT);
    assert_int_equal(d->decode(&right, env, src, out, RAW + 1, &t.err), CIP_ERR_CORRUPT);
    const cip_bytes cut = { src.ptr, src.len - 1 };
    assert_int_equal(d->decode(&right, env, cut, out, RAW, &t.err), CIP_ERR_TRUNCATED);
    test_env_close(&t);
}

static void codes_of_every_length_decode(void **state)
{
    (void)state;
    size_t n = 0;
    uint32_t seed = 9;
    for (unsigned v = 0; v < 24; v++) /* Fibonacci: codes as long as there are */
        for (uint32_t a = 1, b = 1, k = 0; k <= v && n < RAW; k++, b = a + b, a = b - a)
            for (uint32_t i = 0; k == v && i < a && n < RAW; i++)
                raw[n++] = (uint8_t)(v * 9);
    for (size_t i = RAW - 1; i > 0; i--) {
        size_t k = rnd(&seed) % (i + 1);
        uint8_t swap = raw[i];
        raw[i] = raw[k];
        raw[k] = swap;
    }
    check_checkpoints(by_zlib(6, Z_HUFFMAN_ONLY, 9), 1, 1);
}

/* What zlib says to the same bytes. */
static cip_status by_inflate(cip_bytes src)
{
    z_stream z = { .next_in = (z_const Bytef *)src.ptr, .avail_in = (uInt)src.len };
    int code = Z_OK;
    size_t got = 0;
    assert_int_equal(inflateInit(&z), Z_OK);
    while (code == Z_OK && got <= RAW) {
        z.next_out = out;
        z.avail_out = RAW;
        code = inflate(&z, Z_NO_FLUSH);
        got += RAW - z.avail_out;
    }
    bool sum = z.msg != NULL && strcmp(z.msg, "incorrect data check") == 0;
    inflateEnd(&z);
    return code == Z_STREAM_END   ? CIP_OK
           : code == Z_NEED_DICT  ? CIP_ERR_UNSUPPORTED
           : code == Z_DATA_ERROR ? sum ? CIP_ERR_CHECKSUM : CIP_ERR_CORRUPT
                                  : CIP_ERR_TRUNCATED;
}

static void damage_is_judged_as_zlib_does(void **state)
{
    (void)state;
    enum { SMALL = 700 };
    static uint8_t good[4 * SMALL];
    size_t seen[CIP_ERR_CANCELLED + 1] = { 0 };
    uint32_t seed = 5;
    for (int i = 0; i < 6000; i++) {
        if (i % 100 == 0)
            make_raw((uint32_t)i);
        z_stream z = {
            .next_in = raw, .avail_in = SMALL, .next_out = good, .avail_out = sizeof good
        };
        const int strategy[] = { Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY };
        deflateInit2(&z, i % 7 == 0 ? 0 : 6, Z_DEFLATED, 15, 1, strategy[i % 3]);
        deflate(&z, Z_FINISH);
        deflateEnd(&z);
        size_t n = z.total_out, got;
        for (uint32_t k = rnd(&seed) % 3; k != 0; k--)
            good[rnd(&seed) % (i % 2 != 0 ? n : 90)] ^= (uint8_t)(1u << rnd(&seed) % 8);
        n -= rnd(&seed) % 8 == 0 ? rnd(&seed) % n : 0;
        cip_status st = by_inflate((cip_bytes){ good, n });
        assert_int_equal(run((cip_bytes){ good, n }, NULL, (uint32_t)i, NULL, &got), st);
        seen[st]++;
    }
    assert_true(seen[CIP_OK] > 100 && seen[CIP_ERR_CORRUPT] > 100 && seen[CIP_ERR_TRUNCATED] > 50 &&
                seen[CIP_ERR_CHECKSUM] > 50);
}

static void a_checkpoint_that_lies_gives_other_bytes_or_corrupt(void **state)
{
    (void)state;
    static const uint8_t window[CIP_CHECKPOINT_WINDOW];
    uint32_t seed = 3;
    make_raw(1);
    const cip_bytes src = { coded, by_zlib(6, Z_DEFAULT_STRATEGY, 1) };
    for (int i = 0; i < 300; i++) {
        cip_checkpoint m = { .in_bits = 16 + rnd(&seed) % (8 * (src.len - 2)),
                             .window = window,
                             .window_len = rnd(&seed) % (CIP_CHECKPOINT_WINDOW + 1) };
        size_t got;
        cip_status st = run(src, &m, seed, NULL, &got);
        assert_true(st == CIP_ERR_CORRUPT || st == CIP_ERR_TRUNCATED || st == CIP_ERR_CHECKSUM);
    }
    cip_checkpoint in_head = { .in_bits = 15 };
    size_t got;
    assert_int_equal(run(src, &in_head, 1, NULL, &got), CIP_ERR_CORRUPT);
}

static void a_checkpoint_behind_the_head_has_no_window(void **state)
{
    (void)state;
    static const uint8_t sum[] = { 0, 0, 0, 1 };
    size_t got;
    make_raw(2);
    const cip_bytes src = { coded, by_zlib(6, Z_DEFAULT_STRATEGY, 9) };
    const cip_checkpoint from = { 16, 0, sizeof sum, sum };
    assert_int_equal(run(src, &from, 1, NULL, &got), CIP_OK);
    assert_int_equal(got, RAW);
    assert_memory_equal(out, raw, RAW);
}

static void a_dictionary_is_told_when_its_checksum_is_there(void **state)
{
    (void)state;
    static const uint8_t head[] = { 0x78, 0xbb, 1, 2, 3, 4 };
    size_t got;
    for (size_t n = 0; n <= sizeof head; n++) {
        const cip_bytes src = { head, n };
        const cip_status want = n < sizeof head ? CIP_ERR_TRUNCATED : CIP_ERR_UNSUPPORTED;
        assert_int_equal(by_inflate(src), want);
        assert_int_equal(run(src, NULL, 1, NULL, &got), want);
    }
}

static void a_failing_allocation_is_reported(void **state)
{
    (void)state;
    const cip_stream_codec *z = cip_codec_find("zlib")->stream;
    for (size_t at = 1; at <= 2; at++) {
        test_env t;
        void *s = &t;
        const cip_codec_env *env = test_env_open(&t, at, 0);
        assert_int_equal(z->begin(NULL, env, &s, &t.err), CIP_ERR_NOMEM);
        assert_null(s);
        test_env_close(&t);
    }
    static const uint8_t window[CIP_CHECKPOINT_WINDOW];
    const cip_checkpoint from = { 99, 1 << 20, sizeof window, window };
    for (size_t at = 1; at <= 2; at++) {
        test_env t;
        void *s = &t;
        const cip_codec_env *env = test_env_open(&t, at, 0);
        assert_int_equal(z->resume(NULL, env, &from, &s, &t.err), CIP_ERR_NOMEM);
        assert_null(s);
        test_env_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoints_of_every_kind_of_block_lead_to_the_same_bytes),
        cmocka_unit_test(deflate_alone_is_compared_with_its_crc),
        cmocka_unit_test(codes_of_every_length_decode),
        cmocka_unit_test(damage_is_judged_as_zlib_does),
        cmocka_unit_test(a_checkpoint_that_lies_gives_other_bytes_or_corrupt),
        cmocka_unit_test(a_checkpoint_behind_the_head_has_no_window),
        cmocka_unit_test(a_dictionary_is_told_when_its_checksum_is_there),
        cmocka_unit_test(a_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
