/* SPDX-License-Identifier: BSD-3-Clause
 * Encoding a chunk: block by block through the filters, then stream by stream through the codec,
 * right behind each other. What would not become smaller than the raw bytes is stored as them. */
#include "codec/blosc/blosc.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "base/stop.h"
#include "codec/blosc/blosc_encoder.h"

enum {
    MIN_BLOSC1 = 128, /* bytes that Blosc1 takes the trouble to compress */
    SIZE_LEN = 4,     /* of a stream's size, a dictionary's, a block's place */
    MIN_DICT = 256,
    DICT_SHARE = 20, /* of the raw bytes */
    MAX_SAMPLE = 4096
};

/* One chunk on its way. */
typedef struct job {
    cip_blosc_encoder *e;
    cip_blosc_form form;
    cip_bytes raw;
    uint8_t *dst;
    size_t limit, at;    /* where the chunk has to end, where it is */
    bool full, all_zero; /* it did not fit; nothing but zeros so far */
    bool dict;
} job;

/* --- working memory -------------------------------------------------------------------------- */

cip_status cip_blosc_buffer_ask(cip_mem *mem, cip_blosc_buffer *s, size_t n, cip_err *err)
{
    if (s->len >= n)
        return CIP_OK;
    cip_mem_put(mem, s->ptr);
    *s = (cip_blosc_buffer){ NULL, 0 };
    CIP_TRY(cip_mem_get(mem, n, &s->ptr, err));
    s->len = n;
    return CIP_OK;
}

static void give_back(cip_blosc_encoder *e, cip_blosc_buffer *s)
{
    cip_mem_put(e->mem, s->ptr);
    *s = (cip_blosc_buffer){ NULL, 0 };
}

void cip_blosc_encoder_clear(cip_blosc_encoder *e)
{
    cip_blosc_compressor_clear(&e->compressor);
    give_back(e, &e->work[0]);
    give_back(e, &e->work[1]);
    give_back(e, &e->spare);
    give_back(e, &e->all);
}

/* --- filters --------------------------------------------------------------------------------- */

cip_status cip_blosc_encoder_filter(cip_blosc_encoder *e, const cip_blosc_form *form,
                                    cip_bytes block, const uint8_t *first, cip_bytes *out,
                                    cip_err *err)
{
    const cip_blosc_spec *p = &form->p;
    cip_filter_env env = { .typesize = form->typesize,
                           .super_typesize = p->typesize,
                           .version = p->blosc1 ? CIP_BLOSC1_VERSION : 5,
                           .big = p->big,
                           .first = first,
                           .ndim = p->ndim,
                           .shape = p->block };
    int turn = 0;
    for (int k = 0; k < CIP_BLOSC_FILTERS; k++) {
        if (p->filter[k] == CIP_BLOSC_NOFILTER)
            continue;
        cip_blosc_buffer *to = &e->work[turn];
        CIP_TRY(cip_blosc_buffer_ask(e->mem, to, block.len, err));
        env.meta = p->filter_meta[k];
        CIP_TRY(cip_filter_apply(p->filter[k], &env, block.ptr, to->ptr, block.len, err));
        block.ptr = to->ptr;
        turn = !turn;
    }
    *out = block;
    return CIP_OK;
}

static cip_bytes block_at(const job *j, cip_bytes of, uint32_t i)
{
    size_t off = (size_t)i * j->form.p.blocksize;
    return (cip_bytes){ of.ptr + off, cip_min_u64(j->form.p.blocksize, of.len - off) };
}

static cip_status filter_block(job *j, uint32_t i, cip_bytes *out, cip_err *err)
{
    return cip_blosc_encoder_filter(j->e, &j->form, block_at(j, j->raw, i),
                                    i != 0 ? j->raw.ptr : NULL, out, err);
}

/* --- streams --------------------------------------------------------------------------------- */

static size_t room(const job *j)
{
    return j->limit - j->at;
}

static void put_u32(job *j, uint32_t v)
{
    cip_store_u32(j->dst + j->at, v, false);
    j->at += SIZE_LEN;
}

/* A stream through the codec, or as it is. What the codec gives may depend on the room it has, so
 * it always has the same: where the chunk has less left, that of a buffer beside it. */
static cip_status put_coded(job *j, cip_bytes s, cip_err *err)
{
    cip_blosc_encoder *e = j->e;
    size_t n = 0, cap = s.len - 1;
    if (room(j) < SIZE_LEN) {
        j->full = true;
        return CIP_OK;
    }
    bool tight = room(j) - SIZE_LEN < cap;
    if (tight)
        CIP_TRY(cip_blosc_buffer_ask(e->mem, &e->spare, cap, err));
    uint8_t *to = tight ? e->spare.ptr : j->dst + j->at + SIZE_LEN;
    CIP_TRY(cip_blosc_compressor_run(&e->compressor, s, to, cap, &n, err));
    const uint8_t *from = n != 0 ? to : s.ptr;
    n = n != 0 ? n : s.len;
    if (n > room(j) - SIZE_LEN) {
        j->full = true;
        return CIP_OK;
    }
    put_u32(j, (uint32_t)n);
    if (from != j->dst + j->at)
        memcpy(j->dst + j->at, from, n);
    j->at += n;
    return CIP_OK;
}

/* --- dictionaries ---------------------------------------------------------------------------- */

/* Filters all blocks first and trains a dictionary on them: *filtered is set, and the dictionary
 * stands in the chunk, if one was found. */
static cip_status put_dict(job *j, cip_bytes *filtered, cip_err *err)
{
    cip_blosc_encoder *e = j->e;
    size_t nbytes = j->raw.len, cap = cip_min_u64(nbytes / DICT_SHARE, CIP_BLOSC_MAX_DICT);
    if (!cip_blosc_compressor_takes_dict(&e->compressor) || cap < MIN_DICT)
        return CIP_OK;
    CIP_TRY(cip_blosc_buffer_ask(e->mem, &e->all, nbytes + cap, err));
    uint8_t *all = e->all.ptr, *dict = all + nbytes;
    for (uint32_t i = 0; i < j->form.nblock; i++) {
        cip_bytes b;
        CIP_TRY(filter_block(j, i, &b, err));
        memcpy(all + (size_t)i * j->form.p.blocksize, b.ptr, b.len);
    }
    *filtered = (cip_bytes){ all, nbytes };
    size_t stream = j->form.p.blocksize / (j->form.split ? j->form.typesize : 1);
    size_t n = cip_blosc_train(*filtered, cip_min_u64(stream, MAX_SAMPLE), dict, cap);
    j->full = n + SIZE_LEN > room(j);
    if (n == 0 || j->full)
        return CIP_OK;
    CIP_TRY(cip_blosc_compressor_use_dict(&e->compressor, (cip_bytes){ dict, n }, err));
    put_u32(j, (uint32_t)n);
    memcpy(j->dst + j->at, dict, n);
    j->at += n;
    j->dict = true;
    return CIP_OK;
}

/* --- the chunk ------------------------------------------------------------------------------- */

static cip_status put_blocks(job *j, cip_err *err)
{
    cip_blosc_form *form = &j->form;
    cip_bytes filtered = { NULL, 0 }, b;
    size_t table = (size_t)form->nblock * SIZE_LEN;
    if (form->header > j->limit || table > j->limit - form->header) {
        j->full = true;
        return CIP_OK;
    }
    j->at = form->header + table;
    if (form->p.dict)
        CIP_TRY(put_dict(j, &filtered, err));
    for (uint32_t i = 0; i < form->nblock && !j->full; i++) {
        CIP_TRY(cip_stop_ask(err));
        if (filtered.ptr != NULL)
            b = block_at(j, filtered, i);
        else
            CIP_TRY(filter_block(j, i, &b, err));
        bool split = form->split && b.len == form->p.blocksize;
        size_t nstream = split ? form->typesize : 1, len = b.len / nstream;
        cip_store_u32(j->dst + form->header + (size_t)i * SIZE_LEN, (uint32_t)j->at, false);
        for (size_t k = 0; k < nstream && !j->full; k++) {
            cip_bytes s = { b.ptr + k * len, len };
            const bool run = !form->p.blosc1 && memcmp(s.ptr, s.ptr + 1, s.len - 1) == 0;
            j->all_zero = j->all_zero && run && s.ptr[0] == 0;
            if (!run) {
                CIP_TRY(put_coded(j, s, err));
            } else if (room(j) < SIZE_LEN + 1) {
                j->full = true;
            } else { /* of one value: its size says it */
                put_u32(j, 0u - s.ptr[0]);
                if (s.ptr[0] != 0)
                    j->dst[j->at++] = 1;
            }
        }
    }
    return CIP_OK;
}

cip_status cip_blosc_encoder_run(cip_blosc_encoder *e, const cip_blosc_spec *p, cip_bytes raw,
                                 uint8_t *dst, size_t cap, size_t *n, cip_err *err)
{
    job j = { .e = e, .raw = raw, .dst = dst, .all_zero = !p->blosc1 };
    CIP_TRY(cip_blosc_form_make(p, raw.len, &j.form, err));
    CIP_TRY(cip_blosc_compressors(&e->compressor, &j.form.p, err));
    j.limit = cip_min_u64(cap, j.form.header + raw.len - (raw.len != 0));
    j.full = p->level == 0 || raw.len == 0 || (p->blosc1 && raw.len < MIN_BLOSC1);
    if (!j.full)
        CIP_TRY(put_blocks(&j, err));
    /* The chunk's end: its header, by what became of its blocks. */
    const cip_blosc_form *form = &j.form;
    cip_blosc_marks marks = { .memcpyed = j.full, .dict = j.dict };
    size_t len = j.at;
    if (j.full) {
        len = form->header + j.raw.len;
        if (len > cap)
            return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected room for %zu bytes of a Blosc chunk, found %zu", len, cap);
        marks.dict = false;
        if (j.raw.len != 0)
            memcpy(j.dst + form->header, j.raw.ptr, j.raw.len);
    } else if (j.all_zero && form->nbytes % form->typesize == 0) {
        marks = (cip_blosc_marks){ .special = CIP_BLOSC_ZEROS };
        len = form->header;
    }
    cip_blosc_form_write(form, marks, (uint32_t)len, j.dst);
    *n = len;
    return CIP_OK;
}

cip_status cip_blosc_encode(cip_mem *mem, const cip_blosc_spec *p, cip_bytes raw, uint8_t *dst,
                            size_t cap, size_t *n, cip_err *err)
{
    cip_blosc_encoder e = { .mem = mem, .compressor = { .mem = mem } };
    cip_status st = cip_blosc_encoder_run(&e, p, raw, dst, cap, n, err);
    cip_blosc_encoder_clear(&e);
    return st;
}

/* --- special chunks -------------------------------------------------------------------------- */

cip_status cip_blosc_encode_special(const cip_blosc_spec *p, cip_blosc_special special,
                                    const void *value, uint32_t nbytes, uint8_t *dst, size_t cap,
                                    size_t *n, cip_err *err)
{
    cip_blosc_form form;
    CIP_TRY(cip_blosc_form_make(p, nbytes, &form, err));
    size_t width = special == CIP_BLOSC_VALUE ? p->typesize : 0, len = form.header + width;
    if (special == CIP_BLOSC_NOT_SPECIAL || p->blosc1)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a special chunk of Blosc2");
    if (special == CIP_BLOSC_NANS && p->typesize != 4 && p->typesize != 8)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a typesize of 4 or 8 for NaNs, found %" PRIu32, p->typesize);
    if (nbytes % p->typesize != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected whole elements of %" PRIu32 " bytes, found %" PRIu32 " bytes",
                        p->typesize, nbytes);
    if (len > cap)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected room for %zu bytes of a Blosc chunk, found %zu", len, cap);
    cip_blosc_form_write(&form, (cip_blosc_marks){ .special = special }, (uint32_t)len, dst);
    if (width != 0)
        memcpy(dst + form.header, value, width);
    *n = len;
    return CIP_OK;
}
