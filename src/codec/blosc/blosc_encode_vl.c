/* SPDX-License-Identifier: BSD-3-Clause
 * Encoding chunks of blocks that have lengths of their own: for each its raw length, then one
 * stream up to where the next block begins, which is raw when it is as long as that. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/blosc/blosc_encoder.h"

enum { LEN = 4 }; /* of a block's place, of its length */

typedef struct job {
    cip_blosc_encoder e;
    cip_blosc_form form;
    uint8_t *dst;
    size_t cap, at;
} job;

static cip_status no_room(const job *j, cip_err *err)
{
    return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                    "expected room for a Blosc chunk, found %zu bytes", j->cap);
}

/* The stream has the same room wherever it goes, so that its bytes are always the same. */
static cip_status put_block(job *j, cip_bytes block, cip_err *err)
{
    cip_bytes b;
    size_t n = 0;
    if (j->cap - j->at < LEN)
        return no_room(j, err);
    CIP_TRY(cip_blosc_encoder_filter(&j->e, &j->form, block, NULL, &b, err));
    if (j->form.p.level != 0) {
        CIP_TRY(cip_blosc_buffer_ask(j->e.mem, &j->e.spare, b.len, err));
        CIP_TRY(cip_blosc_compressor_run(&j->e.compressor, b, j->e.spare.ptr, b.len - 1, &n, err));
    }
    const uint8_t *from = n != 0 ? j->e.spare.ptr : b.ptr;
    n = n != 0 ? n : b.len;
    if (n > j->cap - j->at - LEN)
        return no_room(j, err);
    cip_store_u32(j->dst + j->at, (uint32_t)b.len, false);
    memcpy(j->dst + j->at + LEN, from, n);
    j->at += LEN + n;
    return CIP_OK;
}

static cip_status check(const cip_blosc_spec *p, const cip_bytes *blocks, uint32_t nblock,
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

static cip_status encode(job *j, const cip_bytes *blocks, uint32_t nblock, cip_err *err)
{
    CIP_TRY(cip_blosc_compressors(&j->e.compressor, &j->form.p, err));
    size_t table = j->form.header;
    if (j->cap < table || (j->cap - table) / LEN < nblock)
        return no_room(j, err);
    j->at = table + (size_t)nblock * LEN;
    for (uint32_t i = 0; i < nblock; i++) {
        cip_store_u32(j->dst + table + (size_t)i * LEN, (uint32_t)j->at, false);
        CIP_TRY(put_block(j, blocks[i], err));
    }
    return CIP_OK;
}

cip_status cip_blosc_encode_vl(cip_mem *mem, const cip_blosc_spec *p, const cip_bytes *blocks,
                               uint32_t nblock, uint8_t *dst, size_t cap, size_t *n, cip_err *err)
{
    uint64_t nbytes;
    job j = { .e = { .mem = mem, .compressor = { .mem = mem } }, .dst = dst };
    j.cap = cip_min_u64(cap, INT32_MAX); /* of a chunk */
    CIP_TRY(check(p, blocks, nblock, &nbytes, err));
    CIP_TRY(cip_blosc_form_make(p, nbytes, &j.form, err));
    j.form.split = false;
    cip_status st = encode(&j, blocks, nblock, err);
    cip_blosc_encoder_clear(&j.e);
    CIP_TRY(st);
    cip_blosc_form_write(&j.form, (cip_blosc_marks){ .vl_blocks = nblock }, (uint32_t)j.at, dst);
    *n = j.at;
    return CIP_OK;
}
