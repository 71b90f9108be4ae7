/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks as they are written: layout, choices, refusals. That they decode is shown elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "codec/blosc/blosc_encoder.h"
#include "support/fail_alloc.h"
#include "support/needs.h"

enum { N = 40000 };

static uint8_t ramp[N], noise[N], zeros[N], words[N];

static int fill(void **state)
{
    (void)state;
    uint32_t seed = 11;
    for (size_t i = 0; i < N; i++) {
        seed = seed * 1664525u + 1013904223u;
        noise[i] = (uint8_t)(seed >> 24);
    }
    for (uint32_t i = 0; i < N / 4; i++)
        cip_store_u32(ramp + 4 * i, i * 3 + (noise[i] & 3), false);
    for (size_t i = 0, n = 0; i < N; i += n) {
        static const char *const some[] = { "exposure ", "filter F150W ",
                                            "quality: ", "detector " };
        n = strlen(some[noise[i] & 3]);
        n = n < N - i ? n : N - i;
        memcpy(words + i, some[noise[i] & 3], n);
    }
    return 0;
}

/* One chunk in memory of its own, of just `cap` bytes. */
typedef struct chunk {
    uint8_t *p;
    size_t n;
    cip_blosc_head head;
    cip_status st;
} chunk;

static chunk encode_into(const cip_blosc_spec *spec, const uint8_t *raw, size_t nbytes, size_t cap)
{
    cip_err err = CIP_ERR_INIT;
    cip_mem mem;
    chunk c = { .p = malloc(cap + (cap == 0)), .n = 77 };
    cip_mem_init(&mem, NULL, 0);
    uint8_t *src = malloc(nbytes + (nbytes == 0));
    memcpy(src, raw, nbytes);
    c.st = cip_blosc_encode(&mem, spec, (cip_bytes){ src, nbytes }, c.p, cap, &c.n, &err);
    assert_memory_equal(src, raw, nbytes);
    free(src);
    assert_int_equal(mem.used, 0);
    assert_int_equal(err.code, c.st);
    if (c.st != CIP_OK) {
        assert_int_equal(c.n, 77);
        return c;
    }
    assert_true(c.n <= cap && c.n <= cip_blosc_stored_bound(nbytes));
    assert_int_equal(cip_blosc_head_parse((cip_bytes){ c.p, c.n }, &c.head, NULL), CIP_OK);
    assert_int_equal(c.head.cbytes, c.n);
    assert_int_equal(c.head.nbytes, nbytes);
    return c;
}

static chunk encode(const cip_blosc_spec *spec, const uint8_t *raw, size_t nbytes)
{
    return encode_into(spec, raw, nbytes, cip_blosc_stored_bound(nbytes));
}

static cip_blosc_spec spec_of(uint32_t typesize, int compcode, const char *filters)
{
    cip_blosc_spec s = { .typesize = typesize, .compcode = compcode, .level = 5 };
    assert_int_equal(cip_blosc_filters_parse(filters, s.filter, s.filter_meta, NULL), CIP_OK);
    return s;
}

static bool has(int compcode)
{
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_blosc_compressor p = { .mem = &mem };
    bool there = cip_blosc_compressors(&p, &(cip_blosc_spec){ .compcode = compcode, .level = 5 },
                                       NULL) == CIP_OK;
    cip_blosc_compressor_clear(&p);
    return there;
}

static uint32_t u32_at(const chunk *c, size_t at)
{
    assert_true(at + 4 <= c->n);
    return cip_load_u32(c->p + at, false);
}

/* The streams of a chunk that lie one behind the other from its first block on. */
static size_t count_streams(const chunk *c)
{
    size_t n = 0, at = c->head.header + 4 * (size_t)c->head.nblock;
    for (; at < c->n; n++) {
        int32_t size = (int32_t)u32_at(c, at);
        at += 4 + (size > 0 ? (size_t)size : size < 0);
    }
    assert_int_equal(at, c->n);
    return n;
}

/* --- what is stored -------------------------------------------------------------------------- */

static void the_header_says_what_was_done(void **state)
{
    (void)state;
    cip_blosc_spec s = spec_of(4, CIP_BLOSC_BLOSCLZ, "delta+shuffle");
    s.blocksize = 8192;
    chunk c = encode(&s, ramp, N);
    uint8_t head[32] = { 5,       1,       0x0d, 4, 0x40, 0x9c, 0, 0, 0, 0x20, 0, 0,
                         c.p[12], c.p[13], 0,    0, 0,    0,    0, 0, 3, 1,    0, 0 };
    assert_memory_equal(c.p, head, 32);
    assert_true(c.head.split && c.n < N / 2);
    assert_int_equal(c.head.nblock, 5);
    assert_int_equal(u32_at(&c, 32), 32 + 5 * 4); /* the first block behind the table */
    assert_int_equal(count_streams(&c), 4 * 4 + 1);
    free(c.p);
    s.big = true;
    c = encode(&s, ramp, N);
    head[31] = 2; /* big-endian elements, on whatever machine */
    assert_memory_equal(c.p + 16, head + 16, 16);
    free(c.p);
}

static void blosc1_has_the_short_header(void **state)
{
    (void)state;
    cip_blosc_spec s = spec_of(4, CIP_BLOSC_BLOSCLZ, "bitshuffle");
    s.blosc1 = true;
    s.blocksize = 8192;
    chunk c = encode(&s, ramp, N);
    const uint8_t head[12] = { 2, 1, 0x04, 4, 0x40, 0x9c, 0, 0, 0, 0x20, 0, 0 };
    assert_memory_equal(c.p, head, 12);
    assert_int_equal(u32_at(&c, 16), 16 + 5 * 4);
    free(c.p);
    c = encode(&s, zeros, N); /* it knows no special values and no runs */
    assert_false(c.head.special);
    assert_true((int32_t)u32_at(&c, 16 + 5 * 4) > 0);
    free(c.p);
    c = encode(&s, zeros, 127);
    assert_true(c.head.memcpyed && c.n == 127 + 16);
    free(c.p);
    c = encode(&s, zeros, 128);
    assert_false(c.head.memcpyed);
    free(c.p);
}

static void zeros_become_a_special_chunk(void **state)
{
    (void)state;
    cip_blosc_spec s = spec_of(8, CIP_BLOSC_BLOSCLZ, "shuffle");
    chunk c = encode(&s, zeros, N);
    assert_true(c.n == 32 && c.head.special == CIP_BLOSC_ZEROS);
    free(c.p);
    c = encode(&s, zeros, N - 1); /* older readers refuse what is not whole elements */
    assert_true(c.n > 32 && !c.head.special && !c.head.memcpyed);
    free(c.p);
    s.level = 0;
    c = encode(&s, zeros, N);
    assert_true(c.head.memcpyed && c.n == N + 32);
    free(c.p);
}

static void a_stream_of_one_value_is_its_size(void **state)
{
    (void)state;
    uint8_t v[1024];
    const uint8_t want[] = { 0x24, 0, 0, 0, 0xf9, 0xff, 0xff, 0xff, 1 };
    memset(v, 7, sizeof v);
    cip_blosc_spec s = spec_of(1, CIP_BLOSC_BLOSCLZ, "none");
    chunk c = encode(&s, v, sizeof v);
    assert_int_equal(c.n, 32 + sizeof want);
    assert_memory_equal(c.p + 32, want, sizeof want);
    free(c.p);
    memset(v + 512, 0, 512);
    s.blocksize = 512;
    c = encode(&s, v, sizeof v);
    assert_int_equal(c.n, 32 + 8 + 5 + 4); /* of zeros nothing but the size */
    assert_int_equal(u32_at(&c, 36), 45);
    assert_int_equal(u32_at(&c, 45), 0);
    free(c.p);
}

static void what_does_not_become_smaller_is_stored(void **state)
{
    (void)state;
    for (int blosc1 = 0; blosc1 < 2; blosc1++) {
        cip_blosc_spec s = spec_of(4, CIP_BLOSC_BLOSCLZ, "shuffle");
        s.blosc1 = blosc1 != 0;
        chunk c = encode(&s, noise, N);
        assert_true(c.head.memcpyed && c.n == N + c.head.header);
        assert_memory_equal(c.p + c.head.header, noise, N);
        free(c.p);
    }
    cip_blosc_spec s = spec_of(4, CIP_BLOSC_BLOSCLZ, "none");
    chunk c = encode(&s, noise, 0);
    assert_true(c.n == 32 && c.head.memcpyed && u32_at(&c, 8) == 1);
    free(c.p);
    uint8_t half[2048]; /* one block pays for the other, which is stored raw within */
    memcpy(half, noise, 1024);
    memset(half + 1024, 5, 1024);
    s.blocksize = 1024;
    c = encode(&s, half, sizeof half);
    assert_true(!c.head.memcpyed && u32_at(&c, 40) == 1024);
    assert_memory_equal(c.p + 44, noise, 1024);
    free(c.p);
}

static void long_elements_are_called_bytes(void **state)
{
    (void)state;
    cip_blosc_spec s = spec_of(300, CIP_BLOSC_BLOSCLZ, "shuffle+bytedelta");
    chunk c = encode(&s, ramp, N);
    assert_true(c.head.typesize == 1 && !c.head.split && c.head.blocksize % 300 == 0);
    assert_int_equal(c.head.filter_meta[5], 1); /* spelled out: as the chunk says */
    free(c.p);
}

/* --- choices --------------------------------------------------------------------------------- */

static void a_split_is_chosen_where_it_pays(void **state)
{
    (void)state;
    const struct {
        int compcode, level;
        const char *filter;
        uint32_t typesize, blocksize;
        int split;
        bool blosc1, want;
    } rows[] = {
        { CIP_BLOSC_BLOSCLZ, 5, "shuffle", 4, 0, 0, false, true },
        { CIP_BLOSC_LZ4, 9, "shuffle", 16, 0, 0, false, true },
        { CIP_BLOSC_LZ4, 9, "shuffle", 17, 0, 0, false, false },
        { CIP_BLOSC_LZ4, 5, "bitshuffle", 4, 0, 0, false, false },
        { CIP_BLOSC_LZ4HC, 5, "shuffle", 4, 0, 0, false, false },
        { CIP_BLOSC_ZSTD, 5, "shuffle", 4, 0, 0, false, true },
        { CIP_BLOSC_ZSTD, 6, "shuffle", 4, 0, 0, false, false },
        { CIP_BLOSC_ZLIB, 5, "shuffle", 4, 0, 0, false, false },
        { CIP_BLOSC_BLOSCLZ, 5, "shuffle", 4, 128, 0, false, true },
        { CIP_BLOSC_BLOSCLZ, 5, "shuffle", 4, 124, 0, false, false },
        { CIP_BLOSC_BLOSCLZ, 5, "shuffle", 1, 0, 0, false, false },
        { CIP_BLOSC_ZLIB, 5, "none", 255, 0, CIP_BLOSC_SPLIT_ALWAYS, false, true },
        { CIP_BLOSC_ZLIB, 5, "none", 4, 8, CIP_BLOSC_SPLIT_ALWAYS, false, true },
        { CIP_BLOSC_BLOSCLZ, 5, "shuffle", 4, 0, CIP_BLOSC_SPLIT_NEVER, false, false },
        /* as Blosc before 1.11 takes for granted, and no other way */
        { CIP_BLOSC_ZLIB, 9, "none", 16, 2048, 0, true, true },
        { CIP_BLOSC_ZLIB, 9, "none", 16, 2032, 0, true, false },
        { CIP_BLOSC_ZLIB, 9, "none", 17, 8192, CIP_BLOSC_SPLIT_ALWAYS, true, false },
        { CIP_BLOSC_ZLIB, 9, "none", 16, 2048, CIP_BLOSC_SPLIT_NEVER, true, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cip_blosc_spec s = spec_of(rows[i].typesize, rows[i].compcode, rows[i].filter);
        cip_blosc_form form;
        s.level = rows[i].level;
        s.blocksize = rows[i].blocksize;
        s.split = rows[i].split;
        s.blosc1 = rows[i].blosc1;
        assert_int_equal(cip_blosc_form_make(&s, 1 << 20, &form, NULL), CIP_OK);
        if (form.split != rows[i].want)
            fail_msg("row %zu", i);
    }
}

static uint32_t chosen(cip_blosc_spec s, uint64_t nbytes)
{
    cip_blosc_form form;
    assert_int_equal(cip_blosc_form_make(&s, nbytes, &form, NULL), CIP_OK);
    return form.p.blocksize;
}

static void blocks_are_whole_elements_of_a_fitting_size(void **state)
{
    (void)state;
    const uint64_t big = 100 << 20;
    cip_blosc_spec s = spec_of(4, CIP_BLOSC_LZ4, "shuffle");
    assert_int_equal(chosen(s, big), 4 * 64 << 10);
    s.level = 9;
    assert_int_equal(chosen(s, big), 4 * 512 << 10);
    s.typesize = 16;
    assert_int_equal(chosen(s, big), 4 << 20);
    s = spec_of(4, CIP_BLOSC_LZ4, "bitshuffle");
    assert_int_equal(chosen(s, big), 128 << 10);
    s.compcode = CIP_BLOSC_ZLIB;
    assert_int_equal(chosen(s, big), 256 << 10);
    s.typesize = 7;
    assert_int_equal(chosen(s, big), (256 << 10) / 56 * 56);
    s.typesize = 300;
    assert_int_equal(chosen(s, big), (256 << 10) / 2400 * 2400);
    assert_int_equal(chosen(s, 1000), 1000);
    s.typesize = 7;
    assert_int_equal(chosen(s, 1000), 952);
    assert_int_equal(chosen(s, 50), 49);
    assert_int_equal(chosen(s, 6), 6);
    assert_int_equal(chosen(s, 0), 0);
    s.blocksize = 1000; /* asked for */
    assert_int_equal(chosen(s, big), 994);
    s.blocksize = 3;
    assert_int_equal(chosen(s, big), 7);
    s.blosc1 = true;
    assert_int_equal(chosen(s, big), 133);
}

/* LZ4 looks for shorter matches in streams below 64 KiB, which takes half as long again. */
static void split_blocks_of_blosc1_have_long_streams(void **state)
{
    (void)state;
    const uint64_t big = 100 << 20;
    cip_blosc_spec s = spec_of(4, CIP_BLOSC_LZ4, "shuffle");
    s.blosc1 = true;
    assert_int_equal(chosen(s, big), 4 * 128 << 10);
    s.compcode = CIP_BLOSC_ZSTD;
    s.level = 1;
    assert_int_equal(chosen(s, big), 4 * 128 << 10);
    s.level = 9;
    assert_int_equal(chosen(s, big), 1 << 20);
    s.typesize = 2;
    assert_int_equal(chosen(s, big), 2 * 256 << 10);
    s.typesize = 16;
    assert_int_equal(chosen(s, big), 1 << 20);
    s.typesize = 17; /* is not split */
    assert_int_equal(chosen(s, big), (1 << 20) / 136 * 136);
    assert_int_equal(chosen(s, 1 << 16), (1 << 16) / 136 * 136);
}

static void dictionaries_stand_behind_the_table(void **state)
{
    (void)state;
    const int codecs[] = { CIP_BLOSC_ZSTD, CIP_BLOSC_LZ4, CIP_BLOSC_LZ4HC, CIP_BLOSC_ZLIB };
    SKIP_UNLESS(has(CIP_BLOSC_ZSTD), "built without ZSTD");
    for (size_t i = 0; i < 4; i++) {
        cip_blosc_spec s = spec_of(4, codecs[i], "none");
        if (!has(codecs[i]))
            continue;
        s.dict = true;
        s.blocksize = 512;
        chunk c = encode(&s, words, N);
        assert_int_equal(c.head.dict, codecs[i] != CIP_BLOSC_ZLIB);
        if (c.head.dict) {
            size_t at = 32 + 4 * (size_t)c.head.nblock, len = u32_at(&c, at);
            assert_in_range(len, 1, N / 20);
            assert_int_equal(u32_at(&c, 32), at + 4 + len); /* the first block */
        }
        free(c.p);
        c = encode(&s, words, 2000); /* too little to train on */
        assert_false(c.head.dict);
        free(c.p);
        s.blocksize = 8192; /* a single sample */
        c = encode(&s, words, 6000);
        assert_true(!c.head.dict && !c.head.memcpyed);
        free(c.p);
        c = encode(&s, zeros, N);
        assert_true(c.head.special == CIP_BLOSC_ZEROS && !c.head.dict);
        free(c.p);
    }
}

/* --- refusals -------------------------------------------------------------------------------- */

static void parameters_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const struct {
        cip_blosc_spec s;
        cip_status st;
    } rows[] = {
        { { .typesize = 0 }, CIP_ERR_ARG },
        { { .typesize = CIP_BLOSC_MAX_BLOCKSIZE + 1 }, CIP_ERR_ARG },
        { { .typesize = 4, .level = 10 }, CIP_ERR_ARG },
        { { .typesize = 4, .level = -1 }, CIP_ERR_ARG },
        { { .typesize = 4, .split = 3 }, CIP_ERR_ARG },
        { { .typesize = 4, .split = -1 }, CIP_ERR_ARG },
        { { .typesize = 4, .blocksize = CIP_BLOSC_MAX_BLOCKSIZE + 1 }, CIP_ERR_ARG },
        { { .typesize = 4, .filter = { 1, 3 } }, CIP_ERR_ARG },
        { { .typesize = 4, .filter = { 0, 3, 3 } }, CIP_ERR_ARG },
        { { .typesize = 4, .filter = { 0, 3, 33 } }, CIP_ERR_ARG },
        { { .typesize = 4, .blosc1 = true, .filter = { 3 } }, CIP_ERR_ARG },
        { { .typesize = 4, .blosc1 = true, .filter = { 1, 2 } }, CIP_ERR_ARG },
        { { .typesize = 4, .blosc1 = true, .filter = { 1 }, .filter_meta = { 2 } }, CIP_ERR_ARG },
        { { .typesize = 4, .blosc1 = true, .dict = true }, CIP_ERR_ARG },
        { { .typesize = 4, .blosc1 = true, .compcode = CIP_BLOSC_ZFP_ACC }, CIP_ERR_ARG },
        { { .typesize = 4, .compcode = CIP_BLOSC_SNAPPY }, CIP_ERR_UNSUPPORTED },
        { { .typesize = 4, .compcode = 200 }, CIP_ERR_UNSUPPORTED },
        { { .typesize = 4, .compcode = -1 }, CIP_ERR_UNSUPPORTED },
        { { .typesize = 4, .level = 1, .filter = { 34 } }, CIP_ERR_UNSUPPORTED },
        { { .typesize = 2, .level = 1, .filter = { 4 }, .filter_meta = { 5 } }, CIP_ERR_ARG },
        { { .typesize = 4, .level = 9, .filter = { 0, 3, 0, 1, 35, 2 } }, CIP_OK },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        chunk c = encode(&rows[i].s, ramp, 1000);
        if (c.st != rows[i].st)
            fail_msg("row %zu: %d", i, (int)c.st);
        free(c.p);
    }
    cip_blosc_form form;
    cip_blosc_spec s = spec_of(4, CIP_BLOSC_BLOSCLZ, "shuffle");
    assert_int_equal(cip_blosc_form_make(&s, CIP_BLOSC_MAX_NBYTES, &form, NULL), CIP_OK);
    assert_int_equal(cip_blosc_form_make(&s, (uint64_t)CIP_BLOSC_MAX_NBYTES + 1, &form, NULL),
                     CIP_ERR_ARG);
}

static void less_room_gives_the_same_chunk_or_none(void **state)
{
    (void)state;
    for (int code = CIP_BLOSC_BLOSCLZ; code <= CIP_BLOSC_ZSTD; code++) {
        if (code == CIP_BLOSC_SNAPPY || !has(code))
            continue;
        cip_blosc_spec s = spec_of(4, code, "shuffle");
        s.blocksize = 1024;
        chunk c = encode(&s, ramp, 3000);
        assert_false(c.head.memcpyed);
        for (size_t cap = 0; cap < c.n; cap += cap < 100 || cap + 40 > c.n ? 1 : 29) {
            chunk d = encode_into(&s, ramp, 3000, cap);
            assert_int_equal(d.st, CIP_ERR_RANGE);
            free(d.p);
        }
        chunk d = encode_into(&s, ramp, 3000, c.n);
        assert_int_equal(d.n, c.n);
        assert_memory_equal(d.p, c.p, c.n);
        free(d.p);
        free(c.p);
    }
    cip_blosc_spec s = spec_of(4, CIP_BLOSC_BLOSCLZ, "shuffle");
    chunk d = encode_into(&s, noise, 3000, 3031);
    assert_int_equal(d.st, CIP_ERR_RANGE);
    free(d.p);
    if (!has(CIP_BLOSC_ZSTD))
        return;
    s = spec_of(1, CIP_BLOSC_ZSTD, "none");
    s.dict = true;
    s.blocksize = 1024;
    chunk c = encode(&s, words, N);
    assert_true(c.head.dict);
    for (size_t cap = 0; cap < c.n;
         cap += 997) { /* without the dictionary it would fit the sooner */
        d = encode_into(&s, words, N, cap);
        assert_int_equal(d.st, CIP_ERR_RANGE);
        free(d.p);
    }
    free(c.p);
}

static void an_encoder_that_was_used_gives_the_same_bytes(void **state)
{
    (void)state;
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_blosc_encoder e = { .mem = &mem, .compressor = { .mem = &mem } };
    uint8_t dst[N + 32];
    for (int round = 0; round < 2; round++)
        for (int code = CIP_BLOSC_BLOSCLZ; code <= CIP_BLOSC_ZSTD; code++)
            for (int level = 1; level <= 9; level += 4) {
                size_t n;
                if (code == CIP_BLOSC_SNAPPY || !has(code))
                    continue;
                cip_blosc_spec s = spec_of(4, code, level == 5 ? "delta+bitshuffle" : "shuffle");
                s.level = level;
                s.dict = level == 9 && round == 0;
                s.blocksize = 2048;
                cip_bytes raw = { ramp, N };
                assert_int_equal(cip_blosc_encoder_run(&e, &s, raw, dst, sizeof dst, &n, NULL),
                                 CIP_OK);
                chunk c = encode(&s, ramp, N);
                assert_int_equal(c.n, n);
                assert_memory_equal(c.p, dst, n);
                free(c.p);
            }
    cip_blosc_encoder_clear(&e);
    assert_int_equal(mem.used, 0);
}

static void without_memory_nothing_is_left_behind(void **state)
{
    (void)state;
    const int codecs[] = { CIP_BLOSC_BLOSCLZ, CIP_BLOSC_LZ4, CIP_BLOSC_LZ4HC, CIP_BLOSC_ZSTD };
    for (size_t i = 0; i < 4; i++) {
        if (!has(codecs[i]))
            continue;
        for (size_t n = 1;; n++) {
            fail_alloc f = { .fail_at = n };
            cip_allocator a = { fail_alloc_resize, &f };
            cip_mem mem;
            cip_mem_init(&mem, &a, 0);
            cip_blosc_spec s = spec_of(4, codecs[i], "delta+shuffle");
            s.dict = true;
            s.blocksize = 4096;
            uint8_t dst[N];
            size_t len;
            cip_status st =
                cip_blosc_encode(&mem, &s, (cip_bytes){ ramp, N }, dst, N / 2, &len, NULL);
            assert_int_equal(f.held, 0);
            if (f.requests < n) {
                assert_int_equal(st, CIP_OK);
                break;
            }
            assert_int_equal(st, CIP_ERR_NOMEM);
        }
    }
}

/* --- special chunks -------------------------------------------------------------------------- */

static void special_chunks_are_a_header_and_a_value(void **state)
{
    (void)state;
    uint8_t dst[400];
    size_t n = 0;
    cip_blosc_spec s = spec_of(300, CIP_BLOSC_LZ4, "shuffle");
    assert_int_equal(
        cip_blosc_encode_special(&s, CIP_BLOSC_VALUE, noise, 900, dst, sizeof dst, &n, NULL),
        CIP_OK);
    assert_int_equal(n, 332);
    assert_int_equal(dst[31], 0x30);
    assert_int_equal(dst[3], 1);
    assert_memory_equal(dst + 32, noise, 300);
    assert_int_equal(cip_blosc_encode_special(&s, CIP_BLOSC_VALUE, noise, 900, dst, 331, &n, NULL),
                     CIP_ERR_RANGE);
    assert_int_equal(cip_blosc_encode_special(&s, CIP_BLOSC_NANS, NULL, 900, dst, 400, &n, NULL),
                     CIP_ERR_ARG);
    s.typesize = 8;
    for (int kind = CIP_BLOSC_ZEROS; kind <= CIP_BLOSC_UNINIT; kind++) {
        cip_blosc_head h;
        assert_int_equal(
            cip_blosc_encode_special(&s, (cip_blosc_special)kind, noise, 80, dst, 400, &n, NULL),
            CIP_OK);
        assert_int_equal(n, kind == CIP_BLOSC_VALUE ? 40 : 32);
        assert_int_equal(cip_blosc_head_parse((cip_bytes){ dst, n }, &h, NULL), CIP_OK);
        assert_true(h.special == kind && h.nbytes == 80);
    }
    assert_int_equal(cip_blosc_encode_special(&s, CIP_BLOSC_ZEROS, NULL, 81, dst, 400, &n, NULL),
                     CIP_ERR_ARG);
    assert_int_equal(
        cip_blosc_encode_special(&s, CIP_BLOSC_NOT_SPECIAL, NULL, 80, dst, 400, &n, NULL),
        CIP_ERR_ARG);
    s.blosc1 = true;
    assert_int_equal(cip_blosc_encode_special(&s, CIP_BLOSC_ZEROS, NULL, 80, dst, 400, &n, NULL),
                     CIP_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_says_what_was_done),
        cmocka_unit_test(blosc1_has_the_short_header),
        cmocka_unit_test(zeros_become_a_special_chunk),
        cmocka_unit_test(a_stream_of_one_value_is_its_size),
        cmocka_unit_test(what_does_not_become_smaller_is_stored),
        cmocka_unit_test(long_elements_are_called_bytes),
        cmocka_unit_test(a_split_is_chosen_where_it_pays),
        cmocka_unit_test(blocks_are_whole_elements_of_a_fitting_size),
        cmocka_unit_test(split_blocks_of_blosc1_have_long_streams),
        cmocka_unit_test(dictionaries_stand_behind_the_table),
        cmocka_unit_test(parameters_that_do_not_fit_are_refused),
        cmocka_unit_test(less_room_gives_the_same_chunk_or_none),
        cmocka_unit_test(an_encoder_that_was_used_gives_the_same_bytes),
        cmocka_unit_test(without_memory_nothing_is_left_behind),
        cmocka_unit_test(special_chunks_are_a_header_and_a_value),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
