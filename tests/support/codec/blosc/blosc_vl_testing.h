/* SPDX-License-Identifier: BSD-3-Clause
 * For tests of decoding: encodes chunks of blocks that have lengths of their own (version 6), which
 * the library reads and never writes: for each block its raw length, then one stream up to where
 * the next block begins, which is raw when it is as long as that. */
#ifndef CIP_TESTS_BLOSC_VL_TESTING_H
#define CIP_TESTS_BLOSC_VL_TESTING_H

#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/blosc/blosc_encoder.h"

enum { BLOSC_VL_LEN = 4 }; /* of a block's place, of its length */

typedef struct blosc_vl_job {
    cip_blosc_encoder e;
    cip_blosc_form form;
    uint8_t *dst;
    size_t cap, at;
} blosc_vl_job;

static cip_status blosc_vl_no_room(const blosc_vl_job *j, cip_err *err)
{
    return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                    "expected room for a Blosc chunk, found %zu bytes", j->cap);
}

/* The stream has the same room wherever it goes, so that its bytes are always the same. */
static cip_status blosc_vl_put(blosc_vl_job *j, cip_bytes block, cip_err *err)
{
    cip_bytes b;
    size_t n = 0;
    if (j->cap - j->at < BLOSC_VL_LEN)
        return blosc_vl_no_room(j, err);
    CIP_TRY(cip_blosc_encoder_filter(&j->e, &j->form, block, NULL, &b, err));
    if (j->form.p.level != 0) {
        CIP_TRY(cip_blosc_buffer_ask(j->e.mem, &j->e.spare, b.len, err));
        CIP_TRY(cip_blosc_compressor_run(&j->e.compressor, b, j->e.spare.ptr, b.len - 1, &n, err));
    }
    const uint8_t *from = n != 0 ? j->e.spare.ptr : b.ptr;
    n = n != 0 ? n : b.len;
    if (n > j->cap - j->at - BLOSC_VL_LEN)
        return blosc_vl_no_room(j, err);
    cip_store_u32(j->dst + j->at, (uint32_t)b.len, false);
    memcpy(j->dst + j->at + BLOSC_VL_LEN, from, n);
    j->at += BLOSC_VL_LEN + n;
    return CIP_OK;
}

static cip_status blosc_vl_check(const cip_blosc_spec *p, const cip_bytes *blocks, uint32_t nblock,
                                 uint64_t *nbytes, cip_err *err)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < nblock; i++) {
        if (blocks[i].len == 0 || cip_add_overflow(sum, blocks[i].len, &sum))
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected blocks of a byte or more, found %zu", blocks[i].len);
    }
    if (nblock == 0 || p->blosc1 || p->dict || p->compcode >= CIP_BLOSC_NDLZ ||
        memchr(p->filter, CIP_BLOSC_DELTA, CIP_BLOSC_FILTERS) != NULL)
        return cip_fail(
            err, CIP_ERR_ARG, CIP_NO_OFFSET,
            "expected blocks for a chunk of Blosc2 without delta, dictionary and a codec "
            "of shapes");
    *nbytes = sum;
    return CIP_OK;
}

static cip_status blosc_vl_encode_blocks(blosc_vl_job *j, const cip_bytes *blocks, uint32_t nblock,
                                         cip_err *err)
{
    CIP_TRY(cip_blosc_compressors(&j->e.compressor, &j->form.p, err));
    size_t table = j->form.header;
    if (j->cap < table || (j->cap - table) / BLOSC_VL_LEN < nblock)
        return blosc_vl_no_room(j, err);
    j->at = table + (size_t)nblock * BLOSC_VL_LEN;
    for (uint32_t i = 0; i < nblock; i++) {
        cip_store_u32(j->dst + table + (size_t)i * BLOSC_VL_LEN, (uint32_t)j->at, false);
        CIP_TRY(blosc_vl_put(j, blocks[i], err));
    }
    return CIP_OK;
}

/* Each block has a byte or more: at most CIP_BLOSC_HEADER bytes, 8 for each block, and the blocks'
 * own. No delta, no dictionary, no Blosc1: ARG; the rest as cip_blosc_encode. */
static cip_status blosc_encode_vl(cip_mem *mem, const cip_blosc_spec *p, const cip_bytes *blocks,
                                  uint32_t nblock, uint8_t *dst, size_t cap, size_t *n,
                                  cip_err *err)
{
    uint64_t nbytes;
    blosc_vl_job j = { .e = { .mem = mem, .compressor = { .mem = mem } }, .dst = dst };
    j.cap = cip_min_u64(cap, INT32_MAX); /* of a chunk */
    CIP_TRY(blosc_vl_check(p, blocks, nblock, &nbytes, err));
    CIP_TRY(cip_blosc_form_make(p, nbytes, &j.form, err));
    j.form.split = false;
    cip_status st = blosc_vl_encode_blocks(&j, blocks, nblock, err);
    cip_blosc_encoder_clear(&j.e);
    CIP_TRY(st);
    cip_blosc_form_write(&j.form, (cip_blosc_marks){ .vl_blocks = nblock }, (uint32_t)j.at, dst);
    *n = j.at;
    return CIP_OK;
}

#endif
