/* SPDX-License-Identifier: BSD-3-Clause
 * Runs one contender of one row at a time: reads "ROW CONTENDER FILE" lines, answers "NANOSECONDS
 * DIGEST STORED" (bytes stored, or held by checkpoints). The digest of what was computed is taken
 * outside the timing. With words on the command line: bench_blosc.c, bench_b2nd*.c,
 * bench_run.c, bench_steps.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bare.h"
#include "bench.h"

static uint8_t *buf; /* the destination of all that is read: touched once, before any timing */
static size_t buf_nbytes;

void bench_die(const char *what, const cip_err *err)
{
    fprintf(stderr, "bench: %s: %s\n", what, err != NULL ? err->text : "");
    exit(1);
}

uint64_t bench_now(void)
{
    struct timespec t;
    clock_gettime(getenv("BENCH_CPU") != NULL ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void bench_pair_add(bench_pair *p, uint64_t ours, uint64_t theirs)
{
    const uint64_t ratio = ours != 0 ? (theirs * 1000 + ours / 2) / ours : 0;
    size_t i = p->n < BENCH_ROUNDS ? p->n : BENCH_ROUNDS - 1;
    p->best[0] = p->n == 0 || ours < p->best[0] ? ours : p->best[0];
    p->best[1] = p->n == 0 || theirs < p->best[1] ? theirs : p->best[1];
    for (; i > 0 && p->ratios[i - 1] > ratio; i--)
        p->ratios[i] = p->ratios[i - 1];
    p->ratios[i] = ratio;
    p->n += p->n < BENCH_ROUNDS;
}

void bench_pair_print(const bench_pair *p)
{
    printf(" %" PRIu64 " %" PRIu64 " %" PRIu64, p->best[0], p->best[1], p->ratios[p->n / 2]);
}

uint64_t bench_digest(const void *p, size_t n)
{
    uint64_t h = 1469598103934665603u, w;
    const uint8_t *b = p;
    for (; n >= 8; b += 8, n -= 8) {
        memcpy(&w, b, 8);
        h = (h ^ w) * 1099511628211u;
        h ^= h >> 29;
    }
    for (; n > 0; b++, n--)
        h = (h ^ *b) * 1099511628211u;
    return h;
}

static void need(size_t n)
{
    if (n <= buf_nbytes)
        return;
    free(buf);
    buf = aligned_alloc(1 << 21, (n + (1 << 21)) & ~((size_t)(1 << 21) - 1));
    if (buf == NULL)
        bench_die("memory", NULL);
    madvise(buf, n, MADV_HUGEPAGE);
    memset(buf, 1, n);
    buf_nbytes = n;
}

uint8_t *bench_room(size_t n)
{
    need(n);
    return buf;
}

static cip_file *open_with(const char *path, unsigned threads, cip_check check)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    cip_limits limits = { .size = sizeof limits, .max_memory = UINT64_C(4) << 30 };
    if (cip_open(path, CIP_OPEN_OPTIONS(.limits = &limits, .threads = threads, .check = check), &f,
                 &err) != CIP_OK)
        bench_die(path, &err);
    return f;
}

cip_file *bench_open(const char *path, unsigned threads)
{
    return open_with(path, threads, CIP_CHECK_OFF);
}

static const cip_array *first_array(const cip_file *f)
{
    return cip_file_array(f, 0);
}

const uint8_t *bench_load(const char *path, size_t *nbytes, const cip_dtype **dtype)
{
    cip_err err = CIP_ERR_INIT;
    uint64_t n = 0;
    cip_file *f = bench_open(path, 0);
    const cip_array *a = cip_file_array(f, 0);
    cip_read_shape(a, NULL, NULL, NULL, &n, &err);
    need(n);
    if (cip_read(a, NULL, cip_dtype_as_stored(), buf, n, &err) != CIP_OK)
        bench_die(path, &err);
    *nbytes = n;
    if (dtype != NULL) /* the file goes: the type has to be a static one */
        *dtype = cip_dtype_of(cip_dtype_kind(cip_array_dtype(a)));
    cip_file_close(f);
    return buf;
}

/* --- rows: each sets *result to the digest --------------------------------------------------- */

typedef uint64_t row_fn(const char *path, unsigned threads, uint64_t *result);

static uint64_t tree_open(const char *path, unsigned threads, uint64_t *result)
{
    uint64_t start = bench_now();
    cip_file *f = bench_open(path, threads);
    uint64_t n = cip_file_narray(f), end = bench_now();
    cip_file_close(f);
    *result = n;
    return end - start;
}

static uint64_t tree_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    uint64_t start = bench_now();
    size_t n = bare_yaml(path);
    *result = n != 0 ? UINT64_MAX : 0; /* nothing to compare */
    return bench_now() - start;
}

static uint64_t read_small(const char *path, unsigned threads, uint64_t *result)
{
    cip_err err = CIP_ERR_INIT;
    double v[64];
    uint64_t start = bench_now();
    cip_file *f = bench_open(path, threads);
    if (cip_read(first_array(f), NULL, cip_dtype_as_stored(), v, sizeof v, &err) != CIP_OK)
        bench_die(path, &err);
    cip_file_close(f);
    uint64_t end = bench_now();
    *result = bench_digest(v, sizeof v);
    return end - start;
}

static uint64_t small_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    double v[64];
    uint64_t start = bench_now();
    bare_block b = bare_open(path);
    bare_pread(b.fd, b.offset, v, sizeof v);
    bare_close(&b);
    uint64_t end = bench_now();
    *result = bench_digest(v, sizeof v);
    return end - start;
}

static float sum(const float *p, size_t n)
{
    float s[16] = { 0 };
    for (size_t i = 0; i + 16 <= n; i += 16)
        for (int k = 0; k < 16; k++)
            s[k] += p[i + (size_t)k];
    for (int k = 1; k < 16; k++)
        s[0] += s[k];
    return s[0];
}

static uint64_t view_sum(const char *path, unsigned threads, uint64_t *result)
{
    cip_err err = CIP_ERR_INIT;
    uint64_t nbytes = 0, start = bench_now();
    cip_file *f = bench_open(path, threads);
    cip_read_shape(first_array(f), NULL, NULL, NULL, &nbytes, &err);
    const float *p = cip_view(first_array(f), &err);
    if (p == NULL)
        bench_die(path, &err);
    float s = sum(p, nbytes / 4);
    uint64_t end = bench_now();
    cip_file_close(f);
    *result = bench_digest(&s, sizeof s);
    return end - start;
}

static uint64_t view_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    uint64_t start = bench_now();
    bare_block b = bare_open(path);
    float s = sum((const float *)(const void *)(b.map + b.offset), b.used / 4);
    uint64_t end = bench_now();
    bare_close(&b);
    *result = bench_digest(&s, sizeof s);
    return end - start;
}

static uint64_t read_first(const char *path, cip_file *f, uint64_t *result)
{
    cip_err err = CIP_ERR_INIT;
    uint64_t nbytes = 0;
    cip_read_shape(first_array(f), NULL, NULL, NULL, &nbytes, &err);
    need(nbytes);
    uint64_t start = bench_now();
    if (cip_read(first_array(f), NULL, cip_dtype_as_stored(), buf, nbytes, &err) != CIP_OK)
        bench_die(path, &err);
    uint64_t end = bench_now();
    cip_file_close(f);
    *result = bench_digest(buf, nbytes);
    return end - start;
}

static uint64_t read_all(const char *path, unsigned threads, uint64_t *result)
{
    return read_first(path, bench_open(path, threads), result);
}

static uint64_t read_checked(const char *path, unsigned threads, uint64_t *result)
{
    return read_first(path, open_with(path, threads, CIP_CHECK_ON), result);
}

static uint64_t copy_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    bare_block b = bare_open(path);
    need(b.used);
    uint64_t start = bench_now();
    bare_pread(b.fd, b.offset, buf, b.used);
    uint64_t end = bench_now();
    *result = bench_digest(buf, b.used);
    bare_close(&b);
    return end - start;
}

static uint64_t inflate_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    bare_block b = bare_open(path);
    need(b.decoded);
    uint64_t start = bench_now();
    bare_inflate(&b, buf);
    uint64_t end = bench_now();
    *result = bench_digest(buf, b.decoded);
    bare_close(&b);
    return end - start;
}

static uint64_t bzip2_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    bare_block b = bare_open(path);
    need(b.decoded);
    uint64_t start = bench_now();
    bare_bzip2(&b, buf);
    uint64_t end = bench_now();
    *result = bench_digest(buf, b.decoded);
    bare_close(&b);
    return end - start;
}

static uint64_t lz4_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    bare_block b = bare_open(path);
    need(b.decoded);
    uint64_t start = bench_now();
    bare_lz4(&b, buf);
    uint64_t end = bench_now();
    *result = bench_digest(buf, b.decoded);
    bare_close(&b);
    return end - start;
}

/* memcpy of as many bytes: what a change of byte order is held against. */
static uint64_t swap_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    bare_block b = bare_open(path);
    need(b.used);
    memcpy(buf, b.map + b.offset, b.used); /* the pages are there */
    uint64_t start = bench_now();
    memcpy(buf, b.map + b.offset, b.used);
    uint64_t end = bench_now();
    bare_close(&b);
    *result = UINT64_MAX;
    return end - start;
}

enum { SIDE = 100 };

/* Rows and columns [k/8, k/8 + 100) of a square float32 array. */
static void read_window(const cip_file *f, int64_t k, float win[SIDE][SIDE])
{
    cip_err err = CIP_ERR_INIT;
    char text[96];
    int64_t at = cip_array_shape(first_array(f))[0] / 8 * k;
    snprintf(text, sizeof text, "[%" PRId64 ":%" PRId64 ", %" PRId64 ":%" PRId64 "]", at, at + SIDE,
             at, at + SIDE);
    if (cip_read(first_array(f), text, cip_dtype_as_stored(), win, sizeof(float) * SIDE * SIDE,
                 &err) != CIP_OK)
        bench_die("window", &err);
}

static uint64_t window(const char *path, unsigned threads, uint64_t *result)
{
    static float win[SIDE][SIDE];
    uint64_t start = bench_now();
    cip_file *f = bench_open(path, threads);
    read_window(f, 3, win);
    cip_file_close(f);
    uint64_t end = bench_now();
    *result = bench_digest(win, sizeof win);
    return end - start;
}

static uint64_t checkpoints_nbytes; /* of the last later window */

/* Another window of a file that one was read of before. */
static uint64_t window_later(const char *path, unsigned threads, uint64_t *result)
{
    static float win[SIDE][SIDE];
    cip_file *f = bench_open(path, threads);
    read_window(f, 3, win);
    uint64_t start = bench_now();
    read_window(f, 2, win);
    uint64_t end = bench_now();
    checkpoints_nbytes = cip_file_checkpoints_nbytes(f);
    cip_file_close(f);
    *result = bench_digest(win, sizeof win);
    return end - start;
}

static int64_t side_of(uint64_t nbytes)
{
    int64_t n = 1;
    while ((uint64_t)(n * n) * 4 < nbytes)
        n++;
    return n;
}

static void cut_at(const uint8_t *from, int64_t n, int64_t k, float win[SIDE][SIDE])
{
    int64_t at = n / 8 * k;
    for (int64_t i = 0; i < SIDE; i++)
        memcpy(win[i], from + ((at + i) * n + at) * 4, SIDE * 4);
}

static uint64_t window_raw_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    static float win[SIDE][SIDE];
    uint64_t start = bench_now();
    bare_block b = bare_open(path);
    int64_t n = side_of(b.used), at = n / 8 * 3;
    for (int64_t i = 0; i < SIDE; i++)
        bare_pread(b.fd, b.offset + (uint64_t)((at + i) * n + at) * 4, win[i], SIDE * 4);
    bare_close(&b);
    uint64_t end = bench_now();
    *result = bench_digest(win, sizeof win);
    return end - start;
}

/* By the plain library in order, no further than the window's end. */
static uint64_t decode_to_window(const char *path, int64_t k, uint64_t *result,
                                 void (*decode)(const bare_block *b, void *dst, uint64_t n))
{
    static float win[SIDE][SIDE];
    bare_block b = bare_open(path);
    need(b.decoded);
    int64_t n = side_of(b.decoded), at = n / 8 * k;
    uint64_t start = bench_now();
    decode(&b, buf, (uint64_t)((at + SIDE - 1) * n + at + SIDE) * 4);
    cut_at(buf, n, k, win);
    uint64_t end = bench_now();
    bare_close(&b);
    *result = bench_digest(win, sizeof win);
    return end - start;
}

static uint64_t window_zlib_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    return decode_to_window(path, 3, result, bare_inflate_to);
}

static uint64_t later_zlib_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    return decode_to_window(path, 2, result, bare_inflate_to);
}

static uint64_t window_bzp2_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    return decode_to_window(path, 3, result, bare_bzip2_to);
}

static uint64_t later_bzp2_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    return decode_to_window(path, 2, result, bare_bzip2_to);
}

/* What a reader that decodes the whole block pays. */
static uint64_t lz4_window(const char *path, int64_t k, uint64_t *result)
{
    static float win[SIDE][SIDE];
    bare_block b = bare_open(path);
    need(b.decoded);
    uint64_t start = bench_now();
    bare_lz4(&b, buf);
    cut_at(buf, side_of(b.decoded), k, win);
    uint64_t end = bench_now();
    bare_close(&b);
    *result = bench_digest(win, sizeof win);
    return end - start;
}

static uint64_t window_lz4_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    return lz4_window(path, 3, result);
}

static uint64_t later_lz4_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    return lz4_window(path, 2, result);
}

static int count_bad(void *user, const cip_finding *f)
{
    *(uint64_t *)user += f->severity >= CIP_WARN;
    return 0;
}

static uint64_t verify_md5(const char *path, unsigned threads, uint64_t *result)
{
    cip_err err = CIP_ERR_INIT;
    uint64_t nbad = 0, start = bench_now();
    cip_file *f = bench_open(path, threads);
    if (cip_verify_file(f, CIP_VERIFY_OPTIONS(.on_finding = count_bad, .user = &nbad), &err) !=
        CIP_OK)
        bench_die(path, &err);
    cip_file_close(f);
    *result = nbad;
    return bench_now() - start;
}

static uint64_t md5_bare(const char *path, unsigned threads, uint64_t *result)
{
    (void)threads;
    uint8_t sum16[16];
    uint64_t start = bench_now();
    bare_block b = bare_open(path);
    bare_md5(&b, sum16);
    *result = memcmp(sum16, b.map + b.offset - 16, 16) != 0;
    uint64_t end = bench_now();
    bare_close(&b);
    return end - start;
}

/* The MD5 of the block, then a copy of it. */
static uint64_t checked_bare(const char *path, unsigned threads, uint64_t *result)
{
    uint64_t wrong, sum = md5_bare(path, threads, &wrong);
    uint64_t copy = copy_bare(path, threads, result);
    *result += wrong;
    return sum + copy;
}

static const struct {
    const char *name;
    row_fn *ours, *bare;
} rows[] = {
    { "tree", tree_open, tree_bare },
    { "small", read_small, small_bare },
    { "view", view_sum, view_bare },
    { "copy", read_all, copy_bare },
    { "copy-checked", read_checked, checked_bare },
    { "swap", read_all, swap_bare },
    { "window-raw", window, window_raw_bare },
    { "window-lz4", window, window_lz4_bare },
    { "later-lz4", window_later, later_lz4_bare },
    { "window-zlib", window, window_zlib_bare },
    { "later-zlib", window_later, later_zlib_bare },
    { "window-bzp2", window, window_bzp2_bare },
    { "later-bzp2", window_later, later_bzp2_bare },
    { "zlib", read_all, inflate_bare },
    { "bzp2", read_all, bzip2_bare },
    { "lz4", read_all, lz4_bare },
    { "md5", verify_md5, md5_bare },
};

/* Contenders: "cippus-N" with N threads, "bare". */
static uint64_t run(const char *row, const char *who, const char *path, uint64_t *result)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, row) == 0)
            return strcmp(who, "bare") == 0
                       ? rows[i].bare(path, 1, result)
                       : rows[i].ours(path, (unsigned)strtoul(who + 7, NULL, 10), result);
    bench_die(row, NULL);
    return 0;
}

static int run_library(int argc, char **argv)
{
    const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } runs[] = {
        { "blosc", bench_blosc },
        { "b2nd", bench_b2nd },
        { "b2nd-write", bench_b2nd_write },
        { "b2nd-update", bench_b2nd_update },
        { "run", bench_run },
        { "steps", bench_steps },
    };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        if (strcmp(argv[1], runs[i].name) == 0)
            return runs[i].run(argc, argv);
    bench_die(argv[1], NULL);
    return 1;
}

int main(int argc, char **argv)
{
    char row[64], who[64], path[2048];
    if (argc > 1)
        return run_library(argc, argv);
    while (scanf("%63s %63s %2047s", row, who, path) == 3) {
        bench_turn t = { 0, 0, 0 };
        checkpoints_nbytes = 0;
        if (!bench_write_row(row, who, path, &t) && !bench_bloscpack_row(row, who, path, &t)) {
            t.ns = run(row, who, path, &t.digest);
            t.stored = checkpoints_nbytes;
        }
        printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", t.ns, t.digest, t.stored);
        fflush(stdout);
    }
    free(buf);
    return 0;
}
