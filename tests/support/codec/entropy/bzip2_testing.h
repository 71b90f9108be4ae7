/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a bzip2 stream, decoded by libbz2 alone and in each of our ways: the same raw bytes
 * and the same kind of failure, from the beginning, from each checkpoint, and block by block. For
 * the unit tests (with asserts) and the fuzz target. */
#ifndef CIP_TESTS_BZIP2_TESTING_H
#define CIP_TESTS_BZIP2_TESTING_H

#include <stdlib.h>
#include <string.h>

#include "codec/entropy/bzip2_blocks.h"

enum { BZIP2_MARKS = 64 };

/* What came out of a decoder. */
typedef struct bzip2_result {
    uint8_t *raw;
    size_t len;
    bool cut; /* there was more than the room */
    cip_status st;
} bzip2_result;

static inline void bzip2_must(bool so)
{
    if (!so)
        abort();
}

/* libbz2 by itself, nout bytes at once. What a call gave that fails is lost, more or less of it as
 * libbz2 likes: *lost is what is in raw all the same. 1 byte at once loses nothing. */
static inline bzip2_result bzip2_plain(cip_bytes src, size_t room, size_t nout, size_t *lost)
{
    bzip2_result r = { malloc(room + 1), 0, false, CIP_ERR_TRUNCATED };
    bz_stream z = { 0 };
    int code = BZ_OK;
    size_t gave = 1;
    bzip2_must(r.raw != NULL && BZ2_bzDecompressInit(&z, 0, 0) == BZ_OK);
    z.next_in = (char *)src.ptr;
    z.avail_in = (unsigned)src.len;
    for (; code == BZ_OK && gave != 0 && r.len <= room; r.len += gave) {
        gave = room + 1 - r.len < nout ? room + 1 - r.len : nout;
        z.next_out = (char *)r.raw + r.len;
        z.avail_out = (unsigned)gave;
        code = BZ2_bzDecompress(&z);
        gave -= z.avail_out;
    }
    r.cut = r.len > room;
    if (code != BZ_OK)
        r.st = code == BZ_STREAM_END ? CIP_OK : CIP_ERR_CORRUPT;
    *lost = r.st == CIP_ERR_CORRUPT ? gave : 0;
    BZ2_bzDecompressEnd(&z);
    return r;
}

typedef struct bzip2_checkpoints {
    size_t n;
    cip_checkpoint at[BZIP2_MARKS];
    uint8_t window[BZIP2_MARKS][CIP_SPLIT_WINDOW];
} bzip2_checkpoints;

static inline void bzip2_note(bzip2_checkpoints *m, const cip_checkpoint *at)
{
    if (m->n == BZIP2_MARKS)
        return;
    m->at[m->n] = *at;
    memcpy(m->window[m->n], at->window, at->window_len);
    m->at[m->n].window = m->window[m->n];
    m->n++;
}

/* Our decoder from a checkpoint (NULL: the beginning), nin and nout bytes at once; all checkpoints
 * on the way.
 */
static inline bzip2_result bzip2_ours(cip_bytes src, size_t room, const cip_checkpoint *from,
                                      const size_t step[2], bzip2_checkpoints *checkpoints)
{
    bzip2_result r = { malloc(room + 1), 0, false, CIP_OK };
    const cip_stream_codec *c = &cip_bzip2_stream;
    cip_mem mem;
    void *state;
    cip_flow f = { 0 };
    cip_mem_init(&mem, NULL, 0);
    cip_codec_env env = { .mem = &mem };
    bzip2_must(r.raw != NULL);
    if (checkpoints != NULL)
        checkpoints->n = 0;
    r.st = from == NULL ? c->begin(NULL, &env, &state, NULL)
                        : c->resume(NULL, &env, from, &state, NULL);
    for (size_t pos = from == NULL ? 0 : (size_t)(from->in_bits / 8); r.st == CIP_OK && !f.end;) {
        size_t left = src.len - pos, take = left < step[0] ? left : step[0];
        size_t give = room + 1 - r.len < step[1] ? room + 1 - r.len : step[1];
        cip_checkpoint m;
        if (checkpoints != NULL)
            c->checkpoint(state, true, &m);
        f = (cip_flow){ .in = src.ptr + pos,
                        .in_len = take,
                        .last = take == left,
                        .out = r.raw + r.len,
                        .out_len = give };
        r.st = c->step(state, &f, NULL);
        if (r.st != CIP_OK)
            break;
        pos += f.took;
        r.len += f.gave;
        r.cut = r.len > room;
        if (r.cut)
            break;
        if (checkpoints != NULL && c->checkpoint(state, false, &m)) {
            bzip2_must(m.raw == r.len + (from == NULL ? 0 : from->raw));
            bzip2_note(checkpoints, &m);
        }
    }
    c->finish(state);
    bzip2_must(mem.used == 0);
    return r;
}

/* `r` is what `plain` has from byte `off` on. After damage fewer bytes may have been given. */
static inline void bzip2_same(const bzip2_result *plain, size_t off, bzip2_result *r)
{
    bzip2_must(r->len == 0 || (off <= plain->len && r->len <= plain->len - off));
    bzip2_must(r->len == 0 || memcmp(plain->raw + off, r->raw, r->len) == 0);
    bzip2_must(r->cut == plain->cut);
    bzip2_must(plain->cut || r->st == plain->st);
    bzip2_must(plain->st == CIP_ERR_CORRUPT || r->len == plain->len - off);
    free(r->raw);
}

/* The block at checkpoint i alone, up to each place behind it. */
static inline size_t bzip2_check_pieces(cip_bytes src, const bzip2_result *plain,
                                        const bzip2_checkpoints *m, size_t i)
{
    const cip_split_codec *s = cip_bzip2_stream.split;
    size_t ngood = 0;
    uint64_t bit[8], from = m->at[i].in_bits;
    size_t n = s->find(src, &from, bit, 8);
    bzip2_must(n != 0 && bit[0] == m->at[i].in_bits);
    for (size_t k = 1; k < n; k++) {
        cip_split_piece p = { src, bit[0], bit[k] };
        size_t room = plain->len - (size_t)m->at[i].raw, len = room;
        uint8_t *dst = malloc(room + 1), window[CIP_SPLIT_WINDOW];
        cip_mem mem;
        cip_checkpoint at = m->at[i];
        cip_mem_init(&mem, NULL, 0);
        bzip2_must(dst != NULL && bit[k] > bit[k - 1]);
        if (s->decode(&mem, &at, &p, dst, &len)) {
            ngood++;
            bzip2_must(memcmp(dst, plain->raw + at.raw, len) == 0);
            s->pass(&at, &p, len, window);
            bzip2_must(at.raw == m->at[i].raw + len && at.in_bits == bit[k]);
            if (i + 1 < m->n)
                bzip2_must(at.in_bits == m->at[i + 1].in_bits && at.raw == m->at[i + 1].raw &&
                           memcmp(window, m->window[i + 1], at.window_len) == 0);
        }
        bzip2_must(mem.used == 0);
        free(dst);
    }
    bzip2_must(ngood <= 1);
    return ngood;
}

/* All ways; up to `room` raw bytes. How many blocks decoded alone. */
static inline size_t bzip2_check(cip_bytes src, size_t room, const size_t step[2],
                                 bzip2_checkpoints *checkpoints)
{
    size_t ngood = 0, lost;
    bzip2_result coarse = bzip2_plain(src, room, step[1], &lost), r;
    r = bzip2_ours(src, room, NULL, (size_t[2]){ src.len + 1, step[1] }, NULL);
    bzip2_must(coarse.cut || r.len >= coarse.len - lost); /* it comes as far as libbz2 */
    free(coarse.raw);
    bzip2_result plain = bzip2_plain(src, room, 1, &lost);
    bzip2_same(&plain, 0, &r);
    r = bzip2_ours(src, room, NULL, step, checkpoints);
    bzip2_same(&plain, 0, &r);
    for (size_t i = 0; i < checkpoints->n; i++) {
        if (checkpoints->at[i].raw > plain.len || plain.cut)
            continue;
        size_t off = (size_t)checkpoints->at[i].raw;
        r = bzip2_ours(src, room - off, &checkpoints->at[i], step, NULL);
        bzip2_same(&plain, off, &r);
        ngood += bzip2_check_pieces(src, &plain, checkpoints, i);
    }
    free(plain.raw);
    return ngood;
}

#endif
