/* SPDX-License-Identifier: BSD-3-Clause
 * The last block of deflate streams by libdeflate and by zlib: its mark can be taken back and the
 * stream goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "codec/entropy/inflate.h"

enum { N = 700000, CAP = 2 * N };

static uint8_t *raw, *packed, *back;
static cip_mem memory;

static bool find_last(const uint8_t *p, size_t n, uint64_t *last, uint64_t *end)
{
    return cip_deflate_last(&memory, (cip_bytes){ p, n }, last, end, NULL) == CIP_OK;
}

static void fill(unsigned kind, size_t n)
{
    uint32_t r = kind + 1;
    for (size_t i = 0; i < n; i++) {
        r = r * 1664525u + 1013904223u;
        uint32_t skewed = (r >> 20) & (r >> 8);
        raw[i] = kind == 0   ? (uint8_t)(r >> 24)         /* stored */
                 : kind == 1 ? (uint8_t)(r >> 29)         /* short codes */
                 : kind == 2 ? (uint8_t)(skewed * skewed) /* codes of all lengths */
                 : kind == 3 ? (uint8_t)(i / 1000)        /* far matches */
                             : (uint8_t)(r >> 30 ? i % 251 : r >> 16);
    }
}

static size_t by_zlib(size_t n, int level, int strategy)
{
    z_stream z = { .next_in = raw, .avail_in = (uInt)n, .next_out = packed, .avail_out = CAP };
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, -15, 9, strategy), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return CAP - z.avail_out;
}

static size_t by_libdeflate(size_t n, int level)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    size_t len = libdeflate_deflate_compress(c, raw, n, packed, CAP);
    libdeflate_free_compressor(c);
    assert_int_not_equal(len, 0);
    return len;
}

/* The mark taken back, and an empty last block behind it: 3 bits of head and the fixed code's end.
 */
static void goes_on(size_t n, size_t len)
{
    uint64_t last, end;
    assert_true(find_last(packed, len, &last, &end));
    assert_int_equal((end + 7) / 8, len);
    assert_int_equal(packed[last / 8] >> last % 8 & 1, 1);
    packed[last / 8] = (uint8_t)(packed[last / 8] & ~(1u << last % 8));
    assert_false(find_last(packed, len, &last, &end)); /* no end any more */
    for (uint64_t k = 0; k < 10; k++, end++) {
        if (end % 8 == 0)
            packed[end / 8] = 0;
        packed[end / 8] = (uint8_t)(packed[end / 8] & ~(1u << end % 8));
        packed[end / 8] = (uint8_t)(packed[end / 8] | (3u >> k & 1u) << end % 8);
    }
    size_t got, nall = (size_t)((end + 7) / 8);
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    assert_int_equal(libdeflate_deflate_decompress(d, packed, nall, back, N, &got),
                     LIBDEFLATE_SUCCESS);
    libdeflate_free_decompressor(d);
    assert_int_equal(got, n);
    assert_memory_equal(back, raw, n);
}

static void every_stream_can_be_gone_on_with(void **state)
{
    (void)state;
    const size_t sizes[] = { 0, 1, 2, 3, 10, 100, 1000, 5000, 70000, N };
    for (unsigned kind = 0; kind < 5; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            size_t n = sizes[i];
            fill(kind, n);
            for (int level = 1; level < 10; level += 3)
                goes_on(n, by_libdeflate(n, level));
            goes_on(n, by_zlib(n, 6, Z_DEFAULT_STRATEGY));
            goes_on(n, by_zlib(n, 6, Z_FIXED));
            goes_on(n, by_zlib(n, 6, Z_HUFFMAN_ONLY));
            goes_on(n, by_zlib(n, 6, Z_RLE));
            goes_on(n, by_zlib(n, 0, Z_DEFAULT_STRATEGY));
        }
}

/* In memory of exactly the bytes, so that reads beyond them are seen. */
static void try_exactly(size_t len)
{
    uint64_t last = 7, end = 7;
    uint8_t *p = malloc(len + (len == 0));
    memcpy(p, packed, len);
    bool good = find_last(p, len, &last, &end);
    assert_true(good ? end <= 8 * (uint64_t)len && last < end : last == 7 && end == 7);
    free(p);
}

static void cut_streams_have_no_end(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 5; kind++) {
        fill(kind, 3000);
        size_t len = by_libdeflate(3000, 6);
        for (size_t n = 0; n < len; n++) {
            uint64_t last, end;
            uint8_t *p = malloc(n + (n == 0));
            memcpy(p, packed, n);
            assert_false(find_last(p, n, &last, &end));
            free(p);
        }
    }
}

static void damaged_streams_stay_within_their_bytes(void **state)
{
    uint32_t r = 1;
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        size_t n = 200;
        if (round % 500 == 0)
            fill(round / 500 % 5, 2000);
        size_t len = round % 2 ? by_libdeflate(n + round % 1000, 6) : n;
        for (int k = 0; k < 3; k++) {
            r = r * 1664525u + 1013904223u;
            packed[(r >> 8) % len] ^= (uint8_t)(1u << (r >> 28) % 8);
        }
        if (round % 2 == 0)
            for (size_t i = 0; i < len; i++)
                packed[i] = (uint8_t)((r = r * 1664525u + 1013904223u) >> 24);
        try_exactly(len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stream_can_be_gone_on_with),
        cmocka_unit_test(cut_streams_have_no_end),
        cmocka_unit_test(damaged_streams_stay_within_their_bytes),
    };
    cip_mem_init(&memory, NULL, 0);
    raw = malloc(N);
    packed = malloc(CAP);
    back = malloc(N);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(raw);
    free(packed);
    free(back);
    return failed;
}
