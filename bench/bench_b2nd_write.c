/* SPDX-License-Identifier: BSD-3-Clause
 * Writing .b2nd files, ours against c-blosc2's library: `bench_worker b2nd-write LIBRARY ROUNDS
 * FILE`, whose array is a square of float32. Both write it in the same chunks and blocks to a new
 * file, in turn; what they wrote is read by us and compared by digest. Nothing is synced. A line
 * for each row: "WORK BYTES", then pairs of ours and theirs: bytes of the file, nanoseconds at one
 * and at two threads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

/* Of blosc2.h 3.x: what its functions take. */
typedef struct peer_cparams {
    uint8_t codec, codec_meta, level;
    int dict;
    int32_t typesize;
    int16_t threads;
    int32_t blocksize, split;
    void *schunk;
    uint8_t filter[6], filter_meta[6];
    void *rest[16];
} peer_cparams;

typedef struct peer_dparams {
    int16_t threads;
    void *schunk, *postfilter, *postparams;
    int32_t typesize;
} peer_dparams;

typedef struct peer_storage {
    bool contiguous;
    const char *path;
    peer_cparams *cparams;
    peer_dparams *dparams;
    void *io;
} peer_storage;

enum { AUTO_SPLIT = 3, BYTE_SHUFFLE = 1 };

static struct {
    void (*init)(void);
    const char *(*version)(void);
    void *(*context)(const peer_storage *s, int8_t ndim, const int64_t *shape, const int32_t *chunk,
                     const int32_t *block, const char *dtype, int8_t dtype_format, const void *meta,
                     int32_t nmeta);
    int (*free_context)(void *context);
    int (*write)(void *context, void **array, const void *src, int64_t nbytes);
    int (*free)(void *array);
} peer;

static void load_peer(const char *path)
{
    const bench_symbol symbols[] = {
        { "blosc2_init", &peer.init },        { "blosc2_get_version_string", &peer.version },
        { "b2nd_create_ctx", &peer.context }, { "b2nd_free_ctx", &peer.free_context },
        { "b2nd_from_cbuffer", &peer.write }, { "b2nd_free", &peer.free },
    };
    bench_symbols(path, symbols, sizeof symbols / sizeof symbols[0]);
    peer.init();
}

/* --- one file ----------------------------------------------------------------------------------
 */

enum { CHUNK = 1024, BLOCK = 128 };

typedef struct work {
    const char *codec;
    uint8_t number, level;
} work;

typedef struct subject {
    const uint8_t *npy; /* its elements behind a head */
    size_t nbytes;
    int64_t side;
    char path[2][2200]; /* ours, theirs */
} subject;

static void write_ours(const subject *s, const work *w, unsigned threads)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    char codec[32];
    snprintf(codec, sizeof codec, "%s:%d", w->codec, w->level);
    if (cip_open_memory(s->npy, BENCH_NPY_HEAD + s->nbytes, CIP_OPEN_OPTIONS(.threads = threads),
                        &f, &err) != CIP_OK ||
        cip_convert_file(
            f, s->path[0],
            CIP_CONVERT_OPTIONS(.codec = codec, .level = CIP_LEVEL_PROCESS,
                                .format_options = CIP_TEXTS("chunks=1024,1024", "blocks=128,128")),
            &err) != CIP_OK)
        bench_die(s->path[0], &err);
    cip_file_close(f);
}

static void write_theirs(const subject *s, const work *w, unsigned threads)
{
    peer_cparams c = { .codec = w->number,
                       .level = w->level,
                       .typesize = 4,
                       .threads = (int16_t)threads,
                       .split = AUTO_SPLIT,
                       .filter = { [5] = BYTE_SHUFFLE } };
    peer_dparams d = { .threads = (int16_t)threads, .typesize = 4 };
    const peer_storage storage = { true, s->path[1], &c, &d, NULL };
    const int64_t shape[] = { s->side, s->side };
    const int32_t chunk[] = { CHUNK, CHUNK }, block[] = { BLOCK, BLOCK };
    void *array = NULL,
         *context = peer.context(&storage, 2, shape, chunk, block, "<f4", 0, NULL, 0);
    if (context == NULL ||
        peer.write(context, &array, s->npy + BENCH_NPY_HEAD, (int64_t)s->nbytes) < 0)
        bench_die("the peer's writing", NULL);
    peer.free(array);
    peer.free_context(context);
}

static uint64_t turn(const subject *s, const work *w, bool ours, unsigned threads)
{
    unlink(s->path[!ours]);
    const uint64_t start = bench_now();
    (ours ? write_ours : write_theirs)(s, w, threads);
    return bench_now() - start;
}

static bench_pair take_turns(const subject *s, const work *w, int rounds, unsigned threads)
{
    bench_pair pair = { 0 };
    uint64_t ns[2];
    char text[16];
    snprintf(text, sizeof text, "%u", threads);
    setenv("BLOSC_NTHREADS", text, 1);
    for (int i = 0; i < 2 * rounds; i++) { /* there and back: who comes first may pay */
        const int who = (i + i / 2) % 2;
        ns[who] = turn(s, w, who == 0, threads);
        if (i % 2 == 1)
            bench_pair_add(&pair, ns[0], ns[1]);
    }
    return pair;
}

/* What was written is the data; bytes of the file. */
static uint64_t check(const subject *s, const char *path)
{
    struct stat st;
    cip_err err = CIP_ERR_INIT;
    cip_file *f = bench_open(path, 2);
    uint8_t *back = bench_room(s->nbytes);
    if (cip_read(cip_file_array(f, 0), NULL, cip_dtype_as_stored(), back, s->nbytes, &err) !=
        CIP_OK)
        bench_die(path, &err);
    cip_file_close(f);
    if (bench_digest(back, s->nbytes) != bench_digest(s->npy + BENCH_NPY_HEAD, s->nbytes) ||
        stat(path, &st) != 0)
        bench_die("what was written is not what was to be", NULL);
    return (uint64_t)st.st_size;
}

static void run(const subject *s, const work *w, int rounds)
{
    uint64_t stored[2];
    const bench_pair one = take_turns(s, w, rounds, 1);
    for (int who = 0; who < 2; who++)
        stored[who] = check(s, s->path[who]);
    const bench_pair two = take_turns(s, w, rounds, 2);
    for (int who = 0; who < 2; who++)
        check(s, s->path[who]);
    printf("write-%s-%d %zu %" PRIu64 " %" PRIu64, w->codec, w->level, s->nbytes, stored[0],
           stored[1]);
    bench_pair_print(&one);
    bench_pair_print(&two);
    printf("\n");
    fflush(stdout);
}

int bench_b2nd_write(int argc, char **argv)
{
    static const work works[] = {
        { "blosclz", 0, 5 }, { "lz4", 1, 5 }, { "zstd", 5, 1 }, { "zstd", 5, 5 }
    };
    subject s;
    if (argc != 5)
        bench_die("b2nd-write LIBRARY ROUNDS FILE", NULL);
    load_peer(argv[2]);
    printf("c-blosc2 %s\n", peer.version());
    s.npy = bench_npy(argv[4], &s.nbytes);
    s.nbytes -= BENCH_NPY_HEAD;
    for (s.side = 1; (uint64_t)(s.side * s.side) * 4 < s.nbytes;)
        s.side++;
    for (int who = 0; who < 2; who++)
        snprintf(s.path[who], sizeof s.path[who], "%s.%d.b2nd", argv[4], who);
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        run(&s, &works[i], (int)strtol(argv[3], NULL, 10));
    for (int who = 0; who < 2; who++)
        unlink(s.path[who]);
    return 0;
}
