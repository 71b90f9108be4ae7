/* SPDX-License-Identifier: BSD-3-Clause
 * Rows of Blosc1 chunks: "pack/CODEC:LEVEL/SUM" writes FILE's array to FILE.WHO.blp, with the sum
 * "folder" to FILE.WHO.bcolz (what the peer wrote is looked at by "check"), "unpack" reads all of a
 * file or folder, "points" 1000 elements of it. Nothing is synced. */
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

enum { NPOINT = 1000 };

static unsigned threads_of(const char *who)
{
    return strncmp(who, "cippus-", 7) == 0 ? (unsigned)strtoul(who + 7, NULL, 10) : 1;
}

const uint8_t *bench_npy(const char *path, size_t *total)
{
    static uint8_t *npy;
    static size_t nbytes;
    static char of[2048];
    size_t n;
    if (strcmp(of, path) != 0) {
        cip_file *f = bench_open(path, 1);
        const cip_array *a = cip_file_array(f, 0);
        char shape[64] = "", head[BENCH_NPY_HEAD];
        for (int i = 0; i < cip_array_ndim(a); i++)
            snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%" PRId64 ", ",
                     cip_array_shape(a)[i]);
        cip_file_close(f);
        const uint8_t *data = bench_load(path, &n, NULL);
        snprintf(head, sizeof head, "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }",
                 shape);
        free(npy);
        nbytes = BENCH_NPY_HEAD + n;
        npy = malloc(nbytes);
        if (npy == NULL)
            bench_die("memory", NULL);
        memset(npy, ' ', BENCH_NPY_HEAD);
        memcpy(npy, "\x93NUMPY\1\0\x76\0", 10);
        memcpy(npy + 10, head, strlen(head));
        npy[BENCH_NPY_HEAD - 1] = '\n';
        memcpy(npy + BENCH_NPY_HEAD, data, n);
        snprintf(of, sizeof of, "%s", path);
    }
    *total = nbytes;
    return npy;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void remove_folder(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void pack(char *row, const char *who, const char *path, bench_turn *out)
{
    char to[2200];
    size_t n;
    struct stat st;
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    char *codec = strtok(row, "/"), *sum = strtok(NULL, "/");
    const bool folder = strcmp(sum, "folder") == 0;
    snprintf(to, sizeof to, "%s.%s.%s", path, strcmp(who, "check") == 0 ? "peer" : who,
             folder ? "bcolz" : "blp");
    if (strcmp(who, "check") != 0) {
        const uint8_t *npy = bench_npy(path, &n);
        if (folder)
            remove_folder(to);
        unlink(to);
        const uint64_t start = bench_now();
        if (cip_open_memory(npy, n, CIP_OPEN_OPTIONS(.threads = threads_of(who)), &f, &err) !=
                CIP_OK ||
            cip_convert_file(
                f, to,
                CIP_CONVERT_OPTIONS(.codec = codec, .checksum = folder ? NULL : sum,
                                    .format_options = folder ? CIP_TEXTS("chunklen=262144") : NULL,
                                    .level = CIP_LEVEL_PROCESS),
                &err) != CIP_OK)
            bench_die(to, &err);
        cip_file_close(f);
        out->ns = bench_now() - start;
    }
    const uint8_t *back = bench_load(to, &n, NULL);
    out->digest = bench_digest(back, n);
    out->stored = !folder && stat(to, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void unpack(const char *who, const char *path, bench_turn *out)
{
    uint64_t n = 0;
    cip_err err = CIP_ERR_INIT;
    cip_file *f = bench_open(path, threads_of(who));
    cip_read_shape(cip_file_array(f, 0), NULL, NULL, NULL, &n, &err);
    cip_file_close(f);
    uint8_t *dst = bench_room(n);
    const uint64_t start = bench_now();
    f = bench_open(path, threads_of(who));
    if (cip_read(cip_file_array(f, 0), NULL, cip_dtype_as_stored(), dst, n, &err) != CIP_OK)
        bench_die(path, &err);
    cip_file_close(f);
    out->ns = bench_now() - start;
    out->digest = bench_digest(dst, n);
}

/* Elements as peer_bloscpack.py takes them. */
static void points(const char *who, const char *path, bench_turn *out)
{
    static int64_t at[NPOINT];
    float v[NPOINT];
    cip_err err = CIP_ERR_INIT;
    const uint64_t start = bench_now();
    cip_file *f = bench_open(path, threads_of(who));
    const cip_array *a = cip_file_array(f, 0);
    for (int64_t i = 0; i < NPOINT; i++)
        at[i] = (i * INT64_C(2654435761)) % cip_array_shape(a)[0];
    if (cip_read_points(a, NPOINT, at, cip_dtype_as_stored(), v, &err) != CIP_OK)
        bench_die(path, &err);
    cip_file_close(f);
    out->ns = bench_now() - start;
    out->digest = bench_digest(v, sizeof v);
}

bool bench_bloscpack_row(const char *row, const char *who, const char *path, bench_turn *out)
{
    char words[64];
    snprintf(words, sizeof words, "%s", row);
    if (strncmp(row, "pack/", 5) == 0)
        pack(words + 5, who, path, out);
    else if (strcmp(row, "unpack") == 0)
        unpack(who, path, out);
    else if (strcmp(row, "points") == 0)
        points(who, path, out);
    else
        return false;
    return true;
}
