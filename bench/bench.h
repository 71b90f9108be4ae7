/* SPDX-License-Identifier: BSD-3-Clause
 * What the parts of bench_worker share. */
#ifndef CIPPUS_BENCH_BENCH_H
#define CIPPUS_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "cippus/cippus.h"

/* One turn of a contender ("cippus-2", "bare", "check") over a file: nanoseconds, and what to
 * compare. */
typedef struct bench_turn {
    uint64_t ns;
    uint64_t digest; /* UINT64_MAX: nothing to compare */
    uint64_t stored; /* bytes of the result, where they matter; 0: not told */
} bench_turn;

void bench_die(const char *what, const cip_err *err);
uint64_t bench_now(void);
/* Order-dependent, and fast enough for a GiB. */
uint64_t bench_digest(const void *p, size_t n);
/* Memory that all rows share, of at least n bytes; touched before. */
uint8_t *bench_room(size_t n);
cip_file *bench_open(const char *path, unsigned threads);
/* The first array as it is, read into memory that is used again. */
const uint8_t *bench_load(const char *path, size_t *nbytes, const cip_dtype **dtype);

enum { BENCH_NPY_HEAD = 128 };
/* The first array, of float32, as a .npy file in memory, with so many bytes before its data: a file
 * whose elements are taken from where they lie. The same until the next call with another path. */
const uint8_t *bench_npy(const char *path, size_t *total);

/* Turns of two contenders, ours and theirs, in the same rounds. */
enum { BENCH_ROUNDS = 64 }; /* of which the ratios are kept */
typedef struct bench_pair {
    uint64_t best[2];
    uint64_t ratios[BENCH_ROUNDS]; /* thousandths: theirs / ours in each round */
    size_t n;
} bench_pair;
void bench_pair_add(bench_pair *p, uint64_t ours, uint64_t theirs);
/* " OURS THEIRS RATIO": the best of each, and the median of the ratios, in thousandths. All 0 where
 * there was no round. */
void bench_pair_print(const bench_pair *p);

/* A function of the peer's library, and the pointer to it. */
typedef struct bench_symbol {
    const char *name;
    void *to;
} bench_symbol;
/* Sets the pointers; the library stays loaded. */
void bench_symbols(const char *library, const bench_symbol *s, size_t n);

/* Rows that write. `who` "check": what another contender left is looked at, nothing is timed. False
 * for a row of another name. */
bool bench_write_row(const char *row, const char *who, const char *path, bench_turn *out);
/* The same of rows of bloscpack and bcolz, which read too. */
bool bench_bloscpack_row(const char *row, const char *who, const char *path, bench_turn *out);

/* Runs of their own, by the words of the command line: chunks and files of Blosc against c-blosc2.
 */
int bench_blosc(int argc, char **argv);
int bench_b2nd(int argc, char **argv);
int bench_b2nd_write(int argc, char **argv);
int bench_b2nd_update(int argc, char **argv);
/* "run" COMMAND ARG...: its output goes to stderr; "STATUS CPU WALL PEAK", microseconds and KiB, to
 * stdout. */
int bench_run(int argc, char **argv);
/* "steps" KIND FILE N: so many calls of that kind in one update, or of one open file. */
int bench_steps(int argc, char **argv);

#endif
