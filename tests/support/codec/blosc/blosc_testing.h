/* SPDX-License-Identifier: BSD-3-Clause
 * For tests and fuzz targets of decoding: a chunk whole and in pieces, each stored range and each
 * wanted piece in memory of exactly its size. */
#ifndef CIP_TESTS_BLOSC_TESTING_H
#define CIP_TESTS_BLOSC_TESTING_H

#include <stdlib.h>
#include <string.h>

#include "codec/blosc/blosc.h"

enum { BLOSC_NEEDS = 64, BLOSC_COLUMNS = 8 };

/* What chunks are decoded in. */
typedef struct blosc_world {
    cip_mem mem;
    cip_codec_env env;
    int64_t block[2];
} blosc_world;

static inline void blosc_require(bool holds)
{
    if (!holds)
        abort();
}

static inline uint8_t *blosc_copy(const void *src, size_t n)
{
    uint8_t *p = malloc(n != 0 ? n : 1);
    blosc_require(p != NULL);
    if (n != 0 && src != NULL)
        memcpy(p, src, n);
    return p;
}

static inline void blosc_open(blosc_world *w, cip_bytes chunk)
{
    cip_blosc_head h;
    memset(w, 0, sizeof *w);
    cip_mem_init(&w->mem, NULL, 64 << 20);
    w->env.mem = &w->mem;
    if (cip_blosc_head_parse(chunk, &h, NULL) != CIP_OK)
        return;
    w->block[1] = BLOSC_COLUMNS;
    w->block[0] = h.blocksize / h.typesize / BLOSC_COLUMNS;
    w->env.ndim = 2;
    w->env.block = w->block;
}

/* A range that is not in the chunk, as the callers of `needs` find it, is CORRUPT. */
static inline cip_status blosc_spans(const blosc_world *w, cip_bytes chunk, uint64_t raw_len,
                                     const cip_want *want, size_t nwant, cip_err *err)
{
    cip_need need[BLOSC_NEEDS];
    uint8_t *own[BLOSC_NEEDS];
    cip_needs needs = { .at = need, .max = BLOSC_NEEDS };
    size_t made = 0, head_len = cip_codec_blosc.head_len;
    uint8_t *head = blosc_copy(chunk.ptr, chunk.len < head_len ? chunk.len : head_len);
    cip_status st = cip_codec_blosc.needs(
        NULL, &w->env, (cip_bytes){ head, chunk.len < head_len ? chunk.len : head_len },
        &(cip_wants){ want, nwant, raw_len }, &needs, err);
    free(head);
    if (st == CIP_ERR_LIMIT || (st == CIP_ERR_TRUNCATED && needs.n == 1)) {
        need[0] = (cip_need){ 0, chunk.len };
        needs.n = 1;
        st = CIP_OK;
    }
    for (; st == CIP_OK && made < needs.n; made++) {
        if (need[made].off > chunk.len || need[made].len > chunk.len - need[made].off)
            st = CIP_ERR_CORRUPT;
        else
            own[made] = blosc_copy(chunk.ptr + need[made].off, (size_t)need[made].len);
        if (st != CIP_OK)
            break;
    }
    if (st == CIP_OK) {
        const cip_stored stored = { chunk.len, needs.n, need, (const uint8_t *const *)own };
        st = cip_codec_blosc.decode_spans(NULL, &w->env, &stored,
                                          &(cip_wants){ want, nwant, raw_len }, err);
    }
    while (made-- > 0)
        free(own[made]);
    return st;
}

/* Whole to *out (NULL on failure), the caller's to free. */
static inline cip_status blosc_whole(const blosc_world *w, cip_bytes chunk, size_t raw_len,
                                     uint8_t **out, cip_err *err)
{
    uint8_t *in = blosc_copy(chunk.ptr, chunk.len), *dst = blosc_copy(NULL, raw_len);
    cip_status st = cip_codec_blosc.decode(NULL, &w->env, (cip_bytes){ in, chunk.len },
                                           raw_len != 0 ? dst : NULL, raw_len, err);
    blosc_require(chunk.len == 0 || memcmp(in, chunk.ptr, chunk.len) == 0);
    free(in);
    if (st != CIP_OK) {
        free(dst);
        dst = NULL;
    }
    *out = dst;
    return st;
}

/* The chunk whole and in pieces of its own claim, if that is at most `max` bytes: if it decodes,
 * the pieces do, to the same. If all of it in pieces decodes, so does the whole. */
static inline cip_status blosc_both_ways_agree(cip_bytes chunk, size_t max)
{
    blosc_world w;
    cip_blosc_head h;
    uint8_t *all;
    blosc_open(&w, chunk);
    if (cip_blosc_head_parse(chunk, &h, NULL) != CIP_OK || h.nbytes > max)
        h.nbytes = 100;
    cip_status st = blosc_whole(&w, chunk, h.nbytes, &all, NULL);
    size_t third = h.nbytes / 3, half = h.nbytes / 2;
    const cip_want parts[2] = { { half, h.nbytes - half, blosc_copy(NULL, h.nbytes - half) },
                                { third / 2, third, blosc_copy(NULL, third) } };
    cip_status part = blosc_spans(&w, chunk, h.nbytes, parts, 2, NULL);
    if (st == CIP_OK) {
        blosc_require(part == CIP_OK);
        for (int i = 0; i < 2; i++)
            blosc_require(parts[i].len == 0 ||
                          memcmp(parts[i].dst, all + parts[i].off, parts[i].len) == 0);
    }
    const cip_want whole = { 0, h.nbytes, blosc_copy(NULL, h.nbytes) };
    part = blosc_spans(&w, chunk, h.nbytes, &whole, 1, NULL);
    blosc_require((part == CIP_OK) == (st == CIP_OK));
    free(parts[0].dst);
    free(parts[1].dst);
    free(whole.dst);
    free(all);
    blosc_require(w.mem.used == 0);
    return st;
}

#endif
