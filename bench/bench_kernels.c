/* SPDX-License-Identifier: BSD-3-Clause
 * The kernels of filters and casts at each level of vector instructions that this machine has, in
 * turns: `bench_kernels [KERNEL [LIBRARY]]`. A line for each kernel, width and size (in the second
 * cache and in memory): medians in GB/s of one side, the wider one of a cast. LIBRARY: c-blosc2's,
 * whose shuffles take turns too. Inner headers are included, as no caller of the library sees a
 * kernel. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array/cast_kernels.h"
#include "base/cpu.h"
#include "codec/filter/apply.h"
#include "codec/filter/filter.h"

enum {
    SMALL = 127 << 10, /* planes of a power of two would share lines of the cache */
    LARGE = 64 << 20,
    ROUNDS = 41,
    PEER = CIP_CPU_LEVELS, /* columns: the levels, and */
    COLUMNS
};

typedef void kernel_fn(size_t width, const uint8_t *src, uint8_t *dst, size_t n);
typedef int peer_fn(int32_t width, int32_t n, const void *src, void *dst);

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

static void swap(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    cip_run r = { n / width, src, (int64_t)width, dst, (int64_t)width };
    cip_move(&r, width, (unsigned)width);
}

static void swap_in_place(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    (void)src;
    swap(width, dst, dst, n);
}

/* In blocks, as numbers are converted; what overflows is clamped, or (exact) counted. */
static void cast(cip_kind from, cip_kind to, bool exact, const uint8_t *src, uint8_t *dst, size_t n)
{
    enum { BLOCK = 256 };
    size_t a = (size_t)cip_dtype_fixed(from, false)->itemsize;
    size_t b = (size_t)cip_dtype_fixed(to, false)->itemsize;
    for (size_t at = 0; at + BLOCK <= n / (a > b ? a : b); at += BLOCK)
        cip_num_kernel_of(from, to, exact)(BLOCK, src + at * a, dst + at * b, false);
}

#define CAST(from, to, exact)                                                                      \
    static void cast_##from##_##to(size_t width, const uint8_t *src, uint8_t *dst, size_t n)       \
    {                                                                                              \
        (void)width;                                                                               \
        cast(CIP_##from, CIP_##to, exact, src, dst, n);                                            \
    }

CAST(F32, F64, false)
CAST(F64, F32, false)
CAST(I16, F32, false)
CAST(U8, F32, false)
CAST(I64, F64, true)
CAST(I32, I16, false)
CAST(F32, I16, false)
CAST(F32, I32, true)
CAST(F64, I64, true)

static void copy(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    (void)width;
    memcpy(dst, src, n);
}

static const struct kernel {
    const char *name;
    kernel_fn *fn;
    const char *peer;
    size_t width[6];
    cip_kind from; /* numbers are read, not any bytes */
} kernels[] = {
    { "memcpy", copy, NULL, { 1 }, CIP_NONE },
    { "shuffle", cip_shuffle_apply, "blosc2_shuffle", { 2, 4, 8, 16 }, CIP_NONE },
    { "unshuffle", cip_unshuffle, "blosc2_unshuffle", { 2, 4, 8, 16 }, CIP_NONE },
    { "bitshuffle", bitshuffle, "blosc2_bitshuffle", { 1, 2, 4, 8, 16 }, CIP_NONE },
    { "bitunshuffle", bitunshuffle, "blosc2_bitunshuffle", { 1, 2, 4, 8, 16 }, CIP_NONE },
    { "undelta", undelta, NULL, { 1, 2, 4, 8 }, CIP_NONE },
    { "unbytedelta", unbytedelta, NULL, { 4 }, CIP_NONE },
    { "swap", swap, NULL, { 2, 4, 8 }, CIP_NONE },
    { "swap in place", swap_in_place, NULL, { 2, 4, 8 }, CIP_NONE },
    { "f4 to f8", cast_F32_F64, NULL, { 4 }, CIP_F32 },
    { "f8 to f4", cast_F64_F32, NULL, { 8 }, CIP_F64 },
    { "i2 to f4", cast_I16_F32, NULL, { 2 }, CIP_I16 },
    { "u1 to f4", cast_U8_F32, NULL, { 1 }, CIP_U8 },
    { "i8 to f8 exact", cast_I64_F64, NULL, { 8 }, CIP_I64 },
    { "i4 to i2", cast_I32_I16, NULL, { 4 }, CIP_I32 },
    { "f4 to i2", cast_F32_I16, NULL, { 4 }, CIP_F32 },
    { "f4 to i4 exact", cast_F32_I32, NULL, { 4 }, CIP_F32 },
    { "f8 to i8 exact", cast_F64_I64, NULL, { 8 }, CIP_F64 },
};
enum { NKERNEL = sizeof kernels / sizeof kernels[0] };

static uint8_t *src, *dst;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double once(const struct kernel *k, peer_fn *peer, size_t width, size_t n)
{
    double start = now();
    for (size_t done = 0; done < (2u << 20); done += n) /* small ones several times */
        if (peer != NULL)
            peer((int32_t)width, (int32_t)n, src, dst);
        else
            k->fn(width, src, dst, n);
    return now() - start;
}

static void row(const struct kernel *k, peer_fn *peer, size_t width, size_t n)
{
    static double ns[COLUMNS][ROUNDS];
    size_t rounds = n == SMALL ? ROUNDS : ROUNDS / 4, each = (2u << 20) / n + ((2u << 20) % n != 0);
    double best = 0;
    printf("%-14s %2zu  %8zu", k->name, width, n);
    for (size_t r = 0; r < rounds; r++)
        for (int c = 0; c < COLUMNS; c++)
            if (c == PEER ? peer != NULL : cip_cpu_limit(c) == c)
                ns[c][r] = once(k, c == PEER ? peer : NULL, width, n);
    for (int c = 0; c < COLUMNS; c++) {
        if (c == PEER ? peer == NULL : cip_cpu_limit(c) != c)
            continue;
        qsort(ns[c], rounds, sizeof(double), by_value);
        double gb = (double)(n * each) / ns[c][rounds / 2];
        printf("  %s %.1f", c == PEER ? "c-blosc2" : cip_cpu_name(c), gb);
        if (c == PEER)
            printf("  best / it %.2f", best / gb);
        best = gb > best ? gb : best;
    }
    putchar('\n');
    fflush(stdout);
}

/* Small numbers of a kind, or bytes of any value. */
static void fill(cip_kind kind)
{
    uint8_t last = 0;
    size_t size = kind != CIP_NONE ? (size_t)cip_dtype_fixed(kind, false)->itemsize : 1;
    for (size_t i = 0; i < LARGE / size; i++) {
        int64_t v = (int64_t)(i % 100);
        if (kind != CIP_NONE)
            cip_num_kernel_of(CIP_I64, kind, false)(1, (const uint8_t *)&v, src + i * size, false);
        else
            src[i] = last = (uint8_t)(last * 5 + (i >> 7));
    }
}

int main(int argc, char **argv)
{
    void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (posix_memalign((void **)&src, 4096, LARGE) != 0 ||
        posix_memalign((void **)&dst, 4096, LARGE) != 0 || (argc > 2 && library == NULL)) {
        fputs("bench_kernels: no memory, or no such library\n", stderr);
        return 1;
    }
    memset(dst, 1, LARGE);
    for (size_t i = 0; i < NKERNEL; i++) {
        const struct kernel *k = &kernels[i];
        peer_fn *peer = NULL;
        void *p = library != NULL && k->peer != NULL ? dlsym(library, k->peer) : NULL;
        memcpy(&peer, &p, sizeof peer); /* ISO C has no cast from it to a function */
        if (argc > 1 && strcmp(argv[1], "all") != 0 && strcmp(argv[1], k->name) != 0)
            continue;
        fill(k->from);
        for (size_t w = 0; w < 6 && k->width[w] != 0; w++) {
            row(k, peer, k->width[w], SMALL);
            row(k, peer, k->width[w], LARGE);
        }
    }
    return 0;
}
