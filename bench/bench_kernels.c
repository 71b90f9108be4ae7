/* SPDX-License-Identifier: BSD-3-Clause
 * The kernels of filters and casts at each level of vector instructions that this machine has, in
 * turns: `bench_kernels [KERNEL [LIBRARY]]`. A line for each kernel and width: medians in GB/s of
 * bytes read, in 128 KiB less a bit and in 64 MiB; in memory, those of plain memcpy beside.
 * LIBRARY: c-blosc2's, whose shuffles come first. Inner headers are included, as no caller of the
 * library sees a kernel. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
} kernels[] = {
    { "memcpy", copy, NULL, { 1 } },
    { "shuffle", cip_shuffle_apply, "blosc2_shuffle", { 2, 4, 8, 16 } },
    { "unshuffle", cip_unshuffle, "blosc2_unshuffle", { 2, 4, 8, 16 } },
    { "bitshuffle", bitshuffle, "blosc2_bitshuffle", { 1, 2, 4, 8, 16 } },
    { "bitunshuffle", bitunshuffle, "blosc2_bitunshuffle", { 1, 2, 4, 8, 16 } },
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
    printf("%-13s %2zu  %8zu", k->name, width, n);
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

int main(int argc, char **argv)
{
    void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (posix_memalign((void **)&src, 4096, LARGE) != 0 ||
        posix_memalign((void **)&dst, 4096, LARGE) != 0 || (argc > 2 && library == NULL)) {
        fputs("bench_kernels: no memory, or no such library\n", stderr);
        return 1;
    }
    for (size_t i = 0; i < LARGE; i++)
        src[i] = (uint8_t)(i * i >> 7);
    memset(dst, 1, LARGE);
    for (size_t i = 0; i < NKERNEL; i++) {
        const struct kernel *k = &kernels[i];
        peer_fn *peer = NULL;
        void *p = library != NULL && k->peer != NULL ? dlsym(library, k->peer) : NULL;
        memcpy(&peer, &p, sizeof peer); /* ISO C has no cast from it to a function */
        for (size_t w = 0; w < 6 && k->width[w] != 0; w++)
            if (argc < 2 || strcmp(argv[1], "all") == 0 || strcmp(argv[1], k->name) == 0) {
                row(k, peer, k->width[w], SMALL);
                row(k, peer, k->width[w], LARGE);
            }
    }
    return 0;
}
