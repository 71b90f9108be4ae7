/* SPDX-License-Identifier: BSD-3-Clause
 * Each level of vector instructions that this machine has gives what plain C gives, at all lengths
 * and alignments, in memory of just the size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "codec/filter/apply.h"
#include "codec/filter/filter.h"

enum { LONG = 40000, MAX = 66000 };

static uint8_t noise[MAX], want[MAX];

static int make_noise(void **state)
{
    (void)state;
    uint32_t x = 5;
    for (size_t i = 0; i < MAX; i++) {
        x = x * 1664525 + 1013904223;
        noise[i] = (uint8_t)(x >> 24);
    }
    return 0;
}

typedef void filter_fn(size_t width, const uint8_t *src, uint8_t *dst, size_t n);

static void bitshuffle(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    cip_bitshuffle_apply(width, false, src, dst, n);
}

static void bitunshuffle(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    cip_bitunshuffle(width, false, src, dst, n);
}

static void undelta(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    cip_undelta((uint32_t)width, NULL, src, dst, n);
}

static void unbytedelta(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    cip_unbytedelta(width, false, src, dst, n);
}

static void unbytedelta_old(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    cip_unbytedelta(width, true, src, dst, n);
}

static const struct {
    const char *name;
    filter_fn *fn;
} filters[] = {
    { "shuffle", cip_shuffle_apply },
    { "unshuffle", cip_unshuffle },
    { "bitshuffle", bitshuffle },
    { "bitunshuffle", bitunshuffle },
    { "undelta", undelta },
    { "unbytedelta", unbytedelta },
    { "old unbytedelta", unbytedelta_old },
};
enum { NFILTER = sizeof filters / sizeof filters[0] };

/* The first n bytes of the noise, `off` bytes behind an aligned place, through a filter at each
 * level: all give the bytes of plain C, and touch no others. */
static void levels_agree(size_t f, size_t width, size_t n, size_t off)
{
    size_t len = n + off + (n + off == 0); /* no longer, which the sanitizer sees */
    uint8_t *src = malloc(len), *dst = malloc(len);
    assert_true(src != NULL && dst != NULL);
    memcpy(src + off, noise, n);
    cip_cpu_limit(CIP_CPU_GENERIC);
    filters[f].fn(width, src + off, want, n);
    for (int level = CIP_CPU_GENERIC + 1; level < CIP_CPU_LEVELS; level++) {
        if (cip_cpu_limit(level) != level)
            continue;
        memset(dst, 0xa5, n + off);
        filters[f].fn(width, src + off, dst + off, n);
        if (memcmp(dst + off, want, n) != 0)
            fail_msg("%s of width %zu, %zu bytes at %zu: %s differs", filters[f].name, width, n,
                     off, cip_cpu_name(level));
        for (size_t i = 0; i < off; i++)
            assert_int_equal(dst[i], 0xa5);
    }
    free(src);
    free(dst);
}

static void every_level_gives_the_same_at_all_lengths(void **state)
{
    (void)state;
    for (size_t f = 0; f < NFILTER; f++)
        for (size_t width = 1; width <= 16; width *= 2)
            for (size_t n = 0; n <= 300; n++)
                levels_agree(f, width, n, n % 17);
}

/* Elements from none to two of the longest vectors of groups, and a bit more than a tile. */
static void every_level_gives_the_same_for_many_elements(void **state)
{
    (void)state;
    static const size_t widths[] = { 1, 2, 3, 4, 5, 8, 12, 16, 24, 32, 255 };
    for (size_t f = 0; f < NFILTER; f++)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
            for (size_t count = 0; count * widths[w] <= LONG && count < 2300; count += 61)
                levels_agree(f, widths[w], count * widths[w] + count % 3, count % 5);
}

static void every_level_gives_the_same_at_all_alignments(void **state)
{
    (void)state;
    for (size_t f = 0; f < NFILTER; f++)
        for (size_t width = 1; width <= 16; width *= 2)
            for (size_t off = 0; off < 64; off++)
                levels_agree(f, width, 1100 * width + off, off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_gives_the_same_at_all_lengths),
        cmocka_unit_test(every_level_gives_the_same_for_many_elements),
        cmocka_unit_test(every_level_gives_the_same_at_all_alignments),
    };
    return cmocka_run_group_tests(tests, make_noise, NULL);
}
