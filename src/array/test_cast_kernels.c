/* SPDX-License-Identifier: BSD-3-Clause
 * The loops that convert and turn round numbers give at each level of vector instructions that this
 * machine has what plain C gives: bytes and counts, at all lengths and alignments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array/cast_kernels.h"
#include "base/cpu.h"

enum { MAX = 600, WIDEST = 8 };

static const cip_kind kinds[] = { CIP_BOOL, CIP_I8,  CIP_I16, CIP_I32, CIP_I64, CIP_U8,
                                  CIP_U16,  CIP_U32, CIP_U64, CIP_F32, CIP_F64 };
enum { NKIND = sizeof kinds / sizeof kinds[0] };

static uint64_t seed = 9;

static uint64_t draw(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed >> 32 | seed << 32;
}

static size_t size_of(cip_kind kind)
{
    return (size_t)cip_dtype_fixed(kind, false)->itemsize;
}

/* A number near what some target just holds or just does not; with any bits where `any`. */
static void put_number(cip_kind kind, bool any, uint8_t *to)
{
    static const double special[] = { 0.0,      -0.0,      0.5,  -0.5,  -1.0,   1.5,   NAN,
                                      INFINITY, -INFINITY, 1e30, -1e30, 3.5e38, 1e308, 1e-320 };
    uint64_t bits = draw();
    int power = (int)(draw() % 65);
    int64_t whole = (int64_t)((power < 64 ? UINT64_C(1) << power : 0) + draw() % 5 - 2);
    if (draw() % 2 == 0)
        whole = (int64_t)(0 - (uint64_t)whole);
    double value = draw() % 4 == 0 ? special[draw() % (sizeof special / sizeof special[0])]
                                   : (double)whole + (double)(draw() % 3) / 2;
    float single = (float)value;
    if (any || (kind != CIP_F32 && kind != CIP_F64)) {
        const uint8_t b[1] = { (uint8_t)(any ? bits : (uint64_t)whole) };
        uint16_t h = (uint16_t)(any ? bits : (uint64_t)whole);
        uint32_t w = (uint32_t)(any ? bits : (uint64_t)whole);
        uint64_t d = any ? bits : (uint64_t)whole;
        const void *from = size_of(kind) == 1   ? (const void *)b
                           : size_of(kind) == 2 ? (const void *)&h
                           : size_of(kind) == 4 ? (const void *)&w
                                                : (const void *)&d;
        memcpy(to, from, size_of(kind));
    } else
        memcpy(to, kind == CIP_F32 ? (const void *)&single : (const void *)&value, size_of(kind));
}

/* n numbers of a kind, in memory of just that size from a place `off` on. */
static uint8_t *numbers(cip_kind kind, size_t n, size_t off)
{
    uint8_t *p = malloc(n * size_of(kind) + off + 1);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        put_number(kind, draw() % 4 == 0, p + off + i * size_of(kind));
    return p;
}

static void levels_agree(cip_kind from, cip_kind to, bool exact, bool wrap, size_t n)
{
    size_t a = n % 9, b = n % 7, nbytes = n * size_of(to);
    uint8_t *src = numbers(from, n, a), *dst = malloc(nbytes + b + 1), *want = malloc(nbytes + 1);
    assert_true(dst != NULL && want != NULL);
    cip_cpu_limit(CIP_CPU_GENERIC);
    uint64_t over = cip_num_kernel_of(from, to, exact)(n, src + a, want, wrap);
    for (int level = CIP_CPU_GENERIC + 1; level < CIP_CPU_LEVELS; level++) {
        if (cip_cpu_limit(level) != level)
            continue;
        memset(dst, 0xa5, nbytes + b + 1);
        uint64_t found = cip_num_kernel_of(from, to, exact)(n, src + a, dst + b, wrap);
        if (found != over || memcmp(dst + b, want, nbytes) != 0)
            fail_msg("kind %d to %d, %zu numbers: %s differs", (int)from, (int)to, n,
                     cip_cpu_name(level));
        assert_int_equal(dst[b + nbytes], 0xa5);
    }
    free(src);
    free(dst);
    free(want);
}

/* Not of a kind to itself: compilers may leave out what makes signalling NaNs quiet. */
static void every_level_converts_the_same(void **state)
{
    (void)state;
    for (size_t i = 1; i < NKIND; i++)
        for (size_t j = 0; j < NKIND; j++)
            for (size_t n = 0; n < MAX; n += n < 70 ? 1 : 53)
                for (int how = 0; how < 3 && i != j; how++) /* clamped, wrapped, exact */
                    levels_agree(kinds[i], kinds[j], how == 2, how == 1, n);
}

static void every_level_turns_words_round(void **state)
{
    (void)state;
    for (unsigned swap = 2; swap <= WIDEST; swap *= 2)
        for (size_t n = 0; n < MAX; n++) {
            size_t nbytes = n * swap, off = n % 33;
            uint8_t *src = numbers(CIP_U8, nbytes, off), *dst = malloc(nbytes + 1);
            assert_non_null(dst);
            for (int level = CIP_CPU_GENERIC; level < CIP_CPU_LEVELS; level++) {
                cip_run there = { n, src + off, swap, dst, swap },
                        here = { n, dst, swap, dst, swap };
                cip_cpu_limit(level);
                memset(dst, 0xa5, nbytes + 1);
                cip_move(&there, swap, swap);
                for (size_t k = 0; k < nbytes; k++)
                    assert_int_equal(dst[k], src[off + (k ^ (swap - 1))]);
                cip_move(&here, swap, swap);
                assert_memory_equal(dst, src + off, nbytes);
                assert_int_equal(dst[nbytes], 0xa5);
            }
            free(src);
            free(dst);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_converts_the_same),
        cmocka_unit_test(every_level_turns_words_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
