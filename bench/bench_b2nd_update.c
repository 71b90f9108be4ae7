/* SPDX-License-Identifier: BSD-3-Clause
 * Changing .b2nd files, ours against c-blosc2's library: `bench_worker b2nd-update LIBRARY ROUNDS
 * FILE`, of whose float32 elements an array of 512 columns is made, in lz4 chunks of 1 MiB. Each
 * contender changes a copy of its own, step by step: a step of ours is an update with its commit,
 * after which a reader sees it; the library keeps its array open. What came of it is read by us and
 * compared by digest. A line for each row: "WORK BYTES", then (bench_pair_print) of nanoseconds a
 * step at level process, and of ours at level power against the same. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "cippus/change.h"

enum { COLUMNS = 512, CHUNK = 512, ROWS = 16 * CHUNK, SIDE = 100, NSTEP = 16 };

static struct {
    void (*init)(void);
    const char *(*version)(void);
    int (*open)(const char *path, void **array);
    int (*free)(void *array);
    int (*append)(void *array, const void *data, int64_t nbytes, int8_t axis);
    int (*resize)(void *array, const int64_t *shape, const int64_t *start);
    int (*set)(const void *data, const int64_t *shape, int64_t nbytes, const int64_t *start,
               const int64_t *stop, void *array);
} peer;

static void load_peer(const char *path)
{
    const bench_symbol symbols[] = {
        { "blosc2_init", &peer.init },
        { "blosc2_get_version_string", &peer.version },
        { "b2nd_open", &peer.open },
        { "b2nd_free", &peer.free },
        { "b2nd_append", &peer.append },
        { "b2nd_resize", &peer.resize },
        { "b2nd_set_slice_cbuffer", &peer.set },
    };
    bench_symbols(path, symbols, sizeof symbols / sizeof symbols[0]);
    peer.init();
}

/* A file on its way; `theirs` NULL: we change it. */
typedef struct subject {
    const char *path;
    const uint8_t *data; /* elements to take */
    void *theirs;
    cip_level level;
    int64_t rows;
    int step;
} subject;

static void need(bool holds, const cip_err *err)
{
    if (!holds)
        bench_die("an update", err);
}

static cip_change *begin(const subject *s)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *e;
    need(cip_change_open(s->path, CIP_CHANGE_OPTIONS(.level = s->level), &e, &err) == CIP_OK, &err);
    return e;
}

static void commit(cip_change *e)
{
    cip_err err = CIP_ERR_INIT;
    need(cip_change_commit(&e, &err) == CIP_OK, &err);
}

/* --- the rows: a step each --------------------------------------------------------------------
 */

typedef void work_fn(subject *s);

static void append(subject *s)
{
    const uint8_t *data = s->data + ((size_t)s->step << 20);
    cip_err err = CIP_ERR_INIT;
    s->rows += CHUNK;
    if (s->theirs != NULL) {
        need(peer.append(s->theirs, data, 1 << 20, 0) >= 0, NULL);
        return;
    }
    cip_change *e = begin(s);
    need(cip_change_append(e, "", cip_dtype_as_stored(), data, 1 << 20, &err) == CIP_OK, &err);
    commit(e);
}

static void set(subject *s, int64_t row, int64_t column, int64_t side)
{
    const int64_t shape[2] = { side, side }, start[2] = { row, column };
    const int64_t stop[2] = { row + side, column + side }, n = side * side * 4;
    const uint8_t *data = s->data + (size_t)s->step * 4096;
    cip_err err = CIP_ERR_INIT;
    char text[96];
    if (s->theirs != NULL) {
        need(peer.set(data, shape, n, start, stop, s->theirs) >= 0, NULL);
        return;
    }
    snprintf(text, sizeof text, "[%" PRId64 ":%" PRId64 ", %" PRId64 ":%" PRId64 "]", row, stop[0],
             column, stop[1]);
    cip_change *e = begin(s);
    need(cip_change_write(e, "", text, cip_dtype_as_stored(), data, (size_t)n, &err) == CIP_OK,
         &err);
    commit(e);
}

static void set_chunk(subject *s)
{
    set(s, s->step * 7 % (ROWS / CHUNK) * CHUNK, 0, CHUNK);
}

static void set_window(subject *s)
{
    set(s, s->step * INT64_C(2654435761) % (ROWS - SIDE), s->step * 37 % (COLUMNS - SIDE), SIDE);
}

/* Longer and shorter by turns. */
static void resize(subject *s)
{
    const int64_t rows = s->step % 2 == 0 ? ROWS + 3 * CHUNK + 7 : ROWS - CHUNK - s->step;
    const int64_t shape[2] = { rows, COLUMNS };
    cip_err err = CIP_ERR_INIT;
    s->rows = rows;
    if (s->theirs != NULL) {
        need(peer.resize(s->theirs, shape, NULL) >= 0, NULL);
        return;
    }
    cip_change *e = begin(s);
    need(cip_change_resize(e, "", 2, shape, &err) == CIP_OK, &err);
    commit(e);
}

/* --- turns ------------------------------------------------------------------------------------
 */

static void make(const char *path, const uint8_t *data)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    const int64_t shape[] = { ROWS, COLUMNS };
    unlink(path);
    cip_create(path,
               CIP_CHANGE_OPTIONS(.codec = "lz4:5", .level = CIP_LEVEL_PROCESS,
                                  .format_options = CIP_TEXTS("chunks=512,512", "blocks=128,128")),
               &w, &err);
    cip_change_put(w, "data", cip_dtype_of(CIP_F32), 2, shape, data, NULL, &err);
    need(cip_change_commit(&w, &err) == CIP_OK, &err);
}

static uint64_t digest(const subject *s)
{
    cip_err err = CIP_ERR_INIT;
    const size_t n = (size_t)s->rows * COLUMNS * 4;
    uint8_t *back = bench_room(n);
    cip_file *f = bench_open(s->path, 1);
    need(cip_read(cip_file_array(f, 0), NULL, cip_dtype_as_stored(), back, n, &err) == CIP_OK,
         &err);
    cip_file_close(f);
    return bench_digest(back, n);
}

static uint64_t turn(subject s, work_fn *run, bool ours, uint64_t *found)
{
    make(s.path, s.data);
    const uint64_t start = bench_now();
    if (!ours)
        need(peer.open(s.path, &s.theirs) >= 0, NULL);
    for (s.step = 0; s.step < NSTEP; s.step++)
        run(&s);
    if (!ours)
        peer.free(s.theirs);
    const uint64_t ns = (bench_now() - start) / NSTEP;
    *found = digest(&s);
    unlink(s.path);
    return ns;
}

static void take_turns(const char *name, work_fn *run, const subject *s, int rounds)
{
    enum { WHO = 3 }; /* ours, theirs, ours with power */
    bench_pair process = { 0 }, power = { 0 };
    uint64_t ns[WHO], found[WHO];
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < WHO; k++) {
            const int who = i % 2 == 0 ? k : WHO - 1 - k;
            subject own = *s;
            own.level = who == 2 ? CIP_LEVEL_POWER : CIP_LEVEL_PROCESS;
            ns[who] = turn(own, run, who != 1, &found[who]);
        }
        bench_pair_add(&process, ns[0], ns[1]);
        bench_pair_add(&power, ns[2], ns[1]);
        if (found[0] != found[1] || found[0] != found[2])
            bench_die("what came of the updates differs", NULL);
    }
    printf("%s %d", name, ROWS * COLUMNS * 4);
    bench_pair_print(&process);
    bench_pair_print(&power);
    printf("\n");
    fflush(stdout);
}

int bench_b2nd_update(int argc, char **argv)
{
    char path[2200];
    size_t n;
    if (argc != 5)
        bench_die("b2nd-update LIBRARY ROUNDS FILE", NULL);
    load_peer(argv[2]);
    printf("c-blosc2 %s\n", peer.version());
    setenv("BLOSC_NTHREADS", "1", 1);
    const uint8_t *npy = bench_npy(argv[4], &n);
    if (n < BENCH_NPY_HEAD + ROWS * COLUMNS * 4)
        bench_die("expected a file of 16 MiB or more", NULL);
    snprintf(path, sizeof path, "%s.update.b2nd", argv[4]);
    const subject s = { .path = path, .data = npy + BENCH_NPY_HEAD, .rows = ROWS };
    const int rounds = (int)strtol(argv[3], NULL, 10);
    take_turns("append", append, &s, rounds);
    take_turns("set-chunk", set_chunk, &s, rounds);
    take_turns("set-window", set_window, &s, rounds);
    take_turns("resize", resize, &s, rounds);
    return 0;
}
