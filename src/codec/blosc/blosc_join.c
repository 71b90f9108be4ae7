/* SPDX-License-Identifier: BSD-3-Clause
 * Joining chunks of Blosc1. Blocks stand alone, and only the table says where they are: they move
 * as they are stored. Three things are made anew: blocks of a chunk that is stored as it is (the
 * table has no mark for these, but streams of full length are taken as they are), a last chunk
 * shorter than a block (in one of its own it may have been split, as a short last block it is not),
 * and places. */
#include "codec/blosc/blosc_join.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/blosc/blosc_encoder.h"

enum { SIZE_LEN = 4 };

struct cip_blosc_join {
    cip_mem *mem;
    cip_blosc_form form;
    cip_blosc_encoder encoder;
    cip_buf starts; /* of the blocks so far, from the first one's */
    cip_buf again;  /* a chunk that is made anew */
    uint64_t raw, stored;
};

bool cip_blosc_join_like(const cip_blosc_head *h, uint64_t nbytes, cip_blosc_spec *out)
{
    cip_blosc_form form;
    cip_blosc_spec p = { .typesize = h->typesize,
                         .compcode = h->compcode,
                         .level = 5,
                         .blocksize = h->blocksize,
                         .split = h->split ? CIP_BLOSC_SPLIT_ALWAYS : CIP_BLOSC_SPLIT_NEVER,
                         .blosc1 = true,
                         .joined = true };
    memcpy(p.filter, h->filter, sizeof p.filter);
    if (h->version != CIP_BLOSC1_VERSION || h->compcode < 0 || h->compcode > CIP_BLOSC_ZSTD ||
        h->compcode == CIP_BLOSC_SNAPPY || cip_blosc_form_make(&p, nbytes, &form, NULL) != CIP_OK)
        return false;
    *out = p;
    return form.p.blocksize == h->blocksize && form.split == h->split;
}

cip_status cip_blosc_join_new(cip_mem *mem, const cip_blosc_spec *p, uint64_t nbytes,
                              cip_blosc_join **out, cip_err *err)
{
    cip_blosc_form form;
    *out = NULL;
    if (nbytes > CIP_BLOSC_MAX_NBYTES)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d bytes for a Blosc chunk, found %" PRIu64,
                        CIP_BLOSC_MAX_NBYTES, nbytes);
    if (!p->blosc1 || p->blocksize == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected Blosc1 chunks and a block size");
    CIP_TRY(cip_blosc_form_make(p, nbytes, &form, err));
    CIP_TRY(CIP_NEW(mem, out, 1, err));
    **out = (cip_blosc_join){ .mem = mem,
                              .form = form,
                              .encoder = { .mem = mem, .compressor = { .mem = mem } },
                              .starts = { .mem = mem },
                              .again = { .mem = mem } };
    return CIP_OK;
}

void cip_blosc_join_free(cip_blosc_join *j)
{
    if (j == NULL)
        return;
    cip_blosc_encoder_clear(&j->encoder);
    cip_buf_clear(&j->starts);
    cip_buf_clear(&j->again);
    cip_mem_put(j->mem, j);
}

/* --- a block ---------------------------------------------------------------------------------- */

static size_t streams_of(const cip_blosc_join *j, size_t nraw)
{
    return j->form.split && nraw == j->form.p.blocksize ? j->form.typesize : 1;
}

static cip_status start_block(cip_blosc_join *j, const cip_buf *body, size_t from, cip_err *err)
{
    uint8_t at[SIZE_LEN];
    const uint64_t start = j->stored + (body->len - from);
    if (start > INT32_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a Blosc chunk of less than 2^31 stored bytes");
    cip_store_u32(at, (uint32_t)start, false);
    return cip_buf_add(&j->starts, at, sizeof at, err);
}

/* --- a chunk ---------------------------------------------------------------------------------- */

static cip_status put_raw(cip_blosc_join *j, cip_bytes raw, cip_buf *body, cip_err *err)
{
    const size_t from = body->len;
    for (size_t off = 0; off < raw.len; off += j->form.p.blocksize) {
        const size_t nraw = (size_t)cip_min_u64(j->form.p.blocksize, raw.len - off);
        const size_t n = streams_of(j, nraw), len = nraw / n;
        uint8_t size[SIZE_LEN];
        cip_bytes b = { raw.ptr + off, nraw };
        CIP_TRY(start_block(j, body, from, err));
        CIP_TRY(cip_blosc_encoder_filter(&j->encoder, &j->form, b, NULL, &b, err));
        cip_store_u32(size, (uint32_t)len, false);
        for (size_t k = 0; k < n; k++) {
            CIP_TRY(cip_buf_add(body, size, sizeof size, err));
            CIP_TRY(cip_buf_add(body, b.ptr + k * len, len, err));
        }
    }
    return CIP_OK;
}

static cip_status put_stored(cip_blosc_join *j, cip_bytes chunk, const cip_blosc_head *h,
                             cip_buf *body, cip_err *err)
{
    const size_t from = body->len;
    if ((chunk.len - h->header) / SIZE_LEN < h->nblock)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a table of blocks");
    for (uint32_t i = 0; i < h->nblock; i++) {
        const size_t off = (size_t)i * h->blocksize;
        const size_t nraw = (size_t)cip_min_u64(h->blocksize, h->nbytes - off);
        const uint32_t at = cip_load_u32(chunk.ptr + h->header + (size_t)i * SIZE_LEN, false);
        size_t len;
        /* Bytes of the block that is stored at `at`: its streams, each behind its length. */
        size_t nstream = streams_of(j, nraw);
        size_t end = at;
        for (size_t k = 0; k < nstream; k++) {
            if (end > chunk.len || chunk.len - end < SIZE_LEN ||
                chunk.len - end - SIZE_LEN < cip_load_u32(chunk.ptr + end, false))
                return cip_fail(err, CIP_ERR_CORRUPT, end,
                                "expected a block within its Blosc chunk of %zu bytes", chunk.len);
            end += SIZE_LEN + cip_load_u32(chunk.ptr + end, false);
        }
        len = end - at;
        CIP_TRY(start_block(j, body, from, err));
        CIP_TRY(cip_buf_add(body, chunk.ptr + at, len, err));
    }
    if (body->len - from != chunk.len - h->header - (size_t)h->nblock * SIZE_LEN)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected only blocks in a Blosc chunk of %zu bytes", chunk.len);
    return CIP_OK;
}

/* The last bytes, fewer than a block has, as a block that is not split. */
static cip_status put_short(cip_blosc_join *j, cip_bytes chunk, const cip_blosc_head *h,
                            cip_buf *body, cip_err *err)
{
    const cip_codec_env env = { .mem = j->mem };
    cip_blosc_spec p = j->form.p;
    cip_blosc_head now;
    uint8_t *at;
    size_t n;
    j->again.len = 0;
    CIP_TRY(cip_buf_reserve(&j->again, h->nbytes + cip_blosc_stored_bound(h->nbytes), &at, err));
    CIP_TRY(cip_codec_blosc.decode(NULL, &env, chunk, at, h->nbytes, err));
    const cip_bytes raw = { at, h->nbytes };
    uint8_t *to = at + h->nbytes;
    p.split = CIP_BLOSC_SPLIT_NEVER;
    CIP_TRY(
        cip_blosc_encoder_run(&j->encoder, &p, raw, to, cip_blosc_stored_bound(raw.len), &n, err));
    CIP_TRY(cip_blosc_head_parse((cip_bytes){ to, n }, &now, err));
    if (now.memcpyed || now.nblock != 1) /* two where the last element is cut */
        return put_raw(j, raw, body, err);
    return put_stored(j, (cip_bytes){ to, n }, &now, body, err);
}

cip_status cip_blosc_join_add(cip_blosc_join *j, cip_bytes chunk, cip_buf *body, cip_err *err)
{
    const cip_blosc_form *f = &j->form;
    const size_t from = body->len;
    const int reads = f->p.compcode == CIP_BLOSC_LZ4HC ? CIP_BLOSC_LZ4 : f->p.compcode;
    cip_blosc_head h;
    cip_status st;
    CIP_TRY(cip_blosc_head_parse(chunk, &h, err));
    const bool last = j->raw + h.nbytes == f->nbytes;
    if (h.version != CIP_BLOSC1_VERSION || h.typesize != f->typesize ||
        memcmp(h.filter, f->p.filter, sizeof h.filter) != 0 || h.nbytes > f->nbytes - j->raw ||
        (!last && h.nbytes % f->p.blocksize != 0) ||
        (h.blocksize != f->p.blocksize && h.nbytes >= f->p.blocksize) || h.cbytes > chunk.len)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected Blosc1 chunks of whole blocks of %" PRIu32
                        " bytes, found a different one",
                        f->p.blocksize);
    if (h.memcpyed)
        st = put_raw(j, (cip_bytes){ chunk.ptr + h.header, h.nbytes }, body, err);
    else if (h.nbytes < f->p.blocksize)
        st = put_short(j, chunk, &h, body, err);
    else if (h.split != f->split || h.compcode != reads) /* lz4hc writes what lz4 reads */
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected blocks of one form");
    else
        st = put_stored(j, (cip_bytes){ chunk.ptr, h.cbytes }, &h, body, err);
    j->raw += h.nbytes;
    j->stored += body->len - from;
    return st;
}

cip_status cip_blosc_join_head(cip_blosc_join *j, cip_buf *head, cip_err *err)
{
    const cip_blosc_form *f = &j->form;
    const uint64_t front = f->header + j->starts.len, all = front + j->stored;
    uint8_t *at;
    if (j->raw != f->nbytes || j->starts.len != (size_t)f->nblock * SIZE_LEN)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu32 " bytes in chunks, found %" PRIu64, f->nbytes, j->raw);
    if (all > INT32_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a Blosc chunk of less than 2^31 stored bytes, found %" PRIu64,
                        all);
    CIP_TRY(cip_buf_reserve(head, (size_t)front, &at, err));
    cip_blosc_form_write(f, (cip_blosc_marks){ .memcpyed = false }, (uint32_t)all, at);
    for (size_t i = 0; i < j->starts.len; i += SIZE_LEN)
        cip_store_u32(at + f->header + i, (uint32_t)front + cip_load_u32(j->starts.ptr + i, false),
                      false);
    head->len += (size_t)front;
    return CIP_OK;
}
