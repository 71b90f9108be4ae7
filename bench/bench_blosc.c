/* SPDX-License-Identifier: BSD-3-Clause
 * Blosc chunks of 2 MiB, ours against c-blosc2's library, which is loaded from where the Python
 * package has it: `bench_worker blosc LIBRARY ROUNDS NBYTES KIND TYPESIZE FILE ...`. Both encode;
 * then each decodes the chunks of both. All take their turns in each round, in reverse in every
 * other one; what is decoded is compared each time. One thread, level 5. A line for each row: "NAME
 * RAW OUR-STORED THEIR-STORED", then (bench_pair_print) of nanoseconds to encode, to decode theirs
 * and to decode ours. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { CHUNK = 2 << 20, LEVEL = 5, NTIME = 6 };

/* What is used of the peer; its functions keep a context of their own between calls. */
static struct {
    void (*init)(void);
    int16_t (*set_nthreads)(int16_t n);
    int (*set_compressor)(const char *name);
    int (*compress)(int level, int shuffle, int32_t typesize, const void *src, int32_t nbytes,
                    void *dst, int32_t cap);
    int (*decompress)(const void *src, int32_t nbytes, void *dst, int32_t cap);
    const char *(*version)(void);
} peer;

void bench_symbols(const char *library, const bench_symbol *s, size_t n)
{
    void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < n; i++) {
        void *p = lib != NULL ? dlsym(lib, s[i].name) : NULL;
        if (p == NULL)
            bench_die(dlerror(), NULL);
        memcpy(s[i].to, &p, sizeof p); /* ISO C has no cast from it to a function */
    }
}

static void load_peer(const char *path)
{
    const bench_symbol symbols[] = {
        { "blosc2_init", &peer.init },
        { "blosc2_set_nthreads", &peer.set_nthreads },
        { "blosc1_set_compressor", &peer.set_compressor },
        { "blosc2_compress", &peer.compress },
        { "blosc2_decompress", &peer.decompress },
        { "blosc2_get_version_string", &peer.version },
    };
    bench_symbols(path, symbols, sizeof symbols / sizeof symbols[0]);
    peer.init();
    peer.set_nthreads(1);
}

/* Chunks one after the other, each at a multiple of the most that one takes. */
typedef struct chunks {
    uint8_t *at;
    size_t *len;
} chunks;

typedef struct row {
    cip_blosc *context;
    int shuffle; /* the peer's number of the filter */
    uint32_t typesize;
    const uint8_t *raw;
    size_t nchunk;
    chunks ours, theirs;
    uint8_t *back;
    uint64_t ns[NTIME]; /* of the last round */
} row;

static chunks get_chunks(size_t n)
{
    chunks c = { malloc(n * cip_blosc_bound(CHUNK)), malloc(n * sizeof(size_t)) };
    if (c.at == NULL || c.len == NULL)
        bench_die("memory", NULL);
    memset(c.at, 1, n * cip_blosc_bound(CHUNK));
    return c;
}

static uint8_t *place(const chunks *c, size_t i)
{
    return c->at + i * cip_blosc_bound(CHUNK);
}

static size_t stored(const chunks *c, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += c->len[i];
    return sum;
}

static void encode_ours(row *r)
{
    cip_err err = CIP_ERR_INIT;
    for (size_t i = 0; i < r->nchunk; i++)
        if (cip_blosc_compress(r->context, r->raw + i * CHUNK, CHUNK, place(&r->ours, i),
                               cip_blosc_bound(CHUNK), &r->ours.len[i], &err) != CIP_OK)
            bench_die("compress", &err);
}

static void encode_theirs(row *r)
{
    for (size_t i = 0; i < r->nchunk; i++) {
        int n = peer.compress(LEVEL, r->shuffle, (int32_t)r->typesize, r->raw + i * CHUNK, CHUNK,
                              place(&r->theirs, i), (int32_t)cip_blosc_bound(CHUNK));
        if (n <= 0)
            bench_die("the peer's compress", NULL);
        r->theirs.len[i] = (size_t)n;
    }
}

static void decode(row *r, const chunks *from, bool by_us)
{
    cip_err err = CIP_ERR_INIT;
    for (size_t i = 0; i < r->nchunk; i++) {
        uint8_t *dst = r->back + i * CHUNK;
        if (!by_us && peer.decompress(place(from, i), (int32_t)from->len[i], dst, CHUNK) != CHUNK)
            bench_die("the peer's decompress", NULL);
        if (by_us && cip_blosc_decompress(r->context, place(from, i), from->len[i], dst, CHUNK,
                                          &err) != CIP_OK)
            bench_die("decompress", &err);
    }
}

static void turn(row *r, int which)
{
    uint64_t start = bench_now();
    if (which == 0)
        encode_ours(r);
    else if (which == 1)
        encode_theirs(r);
    else
        decode(r, which < 4 ? &r->theirs : &r->ours, which % 2 == 0);
    uint64_t ns = bench_now() - start;
    if (which >= 2) {
        if (memcmp(r->back, r->raw, r->nchunk * CHUNK) != 0)
            bench_die("what was decoded is not what was encoded", NULL);
        memset(r->back, 1, r->nchunk * CHUNK);
    }
    r->ns[which] = ns;
}

static void run(row *r, const char *kind, const char *codec, const char *filter, int rounds)
{
    cip_err err = CIP_ERR_INIT;
    r->context = cip_blosc_new(
        CIP_BLOSC_PARAMS(.codec = codec, .level = LEVEL, .typesize = r->typesize, .filter = filter),
        &err);
    if (r->context == NULL || peer.set_compressor(codec) < 0)
        bench_die(codec, &err);
    r->shuffle = strcmp(filter, "shuffle") == 0 ? 1 : 2;
    bench_pair pairs[NTIME / 2] = { { .n = 0 } };
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < NTIME; k++)
            turn(r, i % 2 == 0 ? k : NTIME - 1 - k); /* who is first finds colder chunks */
        for (int k = 0; k < NTIME / 2; k++)
            bench_pair_add(&pairs[k], r->ns[2 * k], r->ns[2 * k + 1]);
    }
    printf("%s-%s-%s %zu %zu %zu", codec, filter, kind, r->nchunk * CHUNK,
           stored(&r->ours, r->nchunk), stored(&r->theirs, r->nchunk));
    for (int k = 0; k < NTIME / 2; k++)
        bench_pair_print(&pairs[k]);
    printf("\n");
    fflush(stdout);
    cip_blosc_free(r->context);
}

static void run_kind(const char *kind, uint32_t typesize, const char *path, size_t nbytes,
                     int rounds)
{
    static const char *const codecs[] = { "blosclz", "lz4", "lz4hc", "zlib", "zstd" };
    static const char *const filters[] = { "shuffle", "bitshuffle" };
    size_t n;
    row r = { .typesize = typesize, .raw = bench_load(path, &n, NULL) };
    r.nchunk = (n < nbytes ? n : nbytes) / CHUNK;
    r.ours = get_chunks(r.nchunk);
    r.theirs = get_chunks(r.nchunk);
    r.back = malloc(r.nchunk * CHUNK);
    memset(r.back, 1, r.nchunk * CHUNK);
    for (size_t c = 0; c < sizeof codecs / sizeof codecs[0]; c++)
        for (size_t f = 0; f < sizeof filters / sizeof filters[0]; f++)
            run(&r, kind, codecs[c], filters[f], rounds);
    free(r.ours.at);
    free(r.ours.len);
    free(r.theirs.at);
    free(r.theirs.len);
    free(r.back);
}

int bench_blosc(int argc, char **argv)
{
    if (argc < 8 || argc % 3 != 2)
        bench_die("blosc LIBRARY ROUNDS NBYTES KIND TYPESIZE FILE ...", NULL);
    load_peer(argv[2]);
    printf("c-blosc2 %s\n", peer.version());
    for (int i = 5; i < argc; i += 3)
        run_kind(argv[i], (uint32_t)strtoul(argv[i + 1], NULL, 10), argv[i + 2],
                 strtoul(argv[4], NULL, 10), (int)strtol(argv[3], NULL, 10));
    return 0;
}
