/* SPDX-License-Identifier: BSD-3-Clause
 * Blosc chunks from buffer to buffer: what a caller keeps per thread around the chunk codec. */
#include "cippus/ext/blosc.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "base/sized.h"
#include "codec/blosc/blosc_encoder.h"

enum { DEFAULT_LEVEL = 5, STORED = -1, NKEPT = 8, MAX_NDIM = 16 };

/* Memory handed back, for the next that asks for as much: decoding asks for the same with each
 * chunk. */
typedef struct keeper {
    cip_mem mem;
    uint64_t limit; /* what is kept and what is in use together, bytes */
    struct {
        void *ptr;
        size_t len;
    } kept[NKEPT];
    size_t turn; /* whose place is taken when all are */
} keeper;

struct cip_blosc {
    keeper keeper;
    cip_mem mem; /* from the keeper */
    cip_blosc_spec spec;
    int64_t block[MAX_NDIM]; /* the spec's */
    cip_blosc_encoder encoder;
};

static void drop_kept(keeper *k)
{
    for (size_t i = 0; i < NKEPT; i++) {
        cip_mem_put(&k->mem, k->kept[i].ptr);
        k->kept[i].ptr = NULL;
    }
}

static void *take_kept(keeper *k, size_t len)
{
    for (size_t i = 0; i < NKEPT; i++) {
        void *ptr = k->kept[i].ptr;
        if (ptr != NULL && k->kept[i].len == len) {
            k->kept[i].ptr = NULL;
            return ptr;
        }
    }
    return NULL;
}

/* cip_allocator.resize */
static void *keeper_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    keeper *k = user;
    if (new_size == 0) {
        if (ptr != NULL) {
            size_t at = 0;
            while (at < NKEPT && k->kept[at].ptr != NULL)
                at++;
            if (at == NKEPT)
                at = k->turn++ % NKEPT;
            cip_mem_put(&k->mem, k->kept[at].ptr);
            k->kept[at].ptr = ptr;
            k->kept[at].len = old_size;
        }
        return NULL;
    }
    void *p = ptr == NULL ? take_kept(k, new_size) : NULL;
    if (p != NULL)
        return p;
    if (k->mem.used + new_size > k->limit)
        drop_kept(k);
    p = ptr;
    return cip_mem_resize(&k->mem, &p, new_size, NULL) == CIP_OK ? p : NULL;
}

/* --- the context ----------------------------------------------------------------------------- */

static cip_status take_params(const cip_blosc_params *p, cip_blosc_spec *spec, cip_err *err)
{
    const char *filter = p->filter;
    *spec = (cip_blosc_spec){ .typesize = p->typesize != 0 ? p->typesize : 1,
                              .level = p->level == 0 ? DEFAULT_LEVEL : p->level,
                              .blocksize = p->blocksize,
                              .split = (int)p->split,
                              .blosc1 = p->blosc1,
                              .dict = p->dict,
                              .big = CIP_HOST_BIG != 0, /* numbers as the caller has them */
                              .ndim = p->ndim,
                              .block = p->block };
    CIP_TRY(cip_blosc_codec_parse(p->codec != NULL ? p->codec : "blosclz", &spec->compcode,
                                  &spec->codec_meta, err));
    if (p->ndim < 0 || p->ndim > MAX_NDIM || (p->block == NULL) != (p->ndim == 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a block of up to %d dimensions and its shape, found %d", MAX_NDIM,
                        (int)p->ndim);
    if (p->level < STORED || p->level > 9)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a level from -1 to 9, found %d",
                        p->level);
    if (p->level == STORED)
        spec->level = 0;
    if (filter == NULL)
        filter = spec->compcode >= CIP_BLOSC_ZFP_ACC ? "none" : "shuffle";
    CIP_TRY(cip_blosc_filters_parse(filter, spec->filter, spec->filter_meta, err));
    cip_blosc_form form;
    return cip_blosc_form_make(spec, 0, &form, err);
}

static cip_status make(const cip_blosc_params *in, cip_blosc **out, cip_err *err)
{
    cip_blosc_params p;
    cip_blosc_spec spec;
    cip_mem mem;
    cip_blosc *b;
    CIP_TRY(CIP_SIZED_TAKE(cip_blosc_params, in, &p, err));
    CIP_TRY(take_params(&p, &spec, err));
    uint64_t limit = p.max_memory != 0 ? p.max_memory : (uint64_t)2 << 30;
    cip_mem_init(&mem, p.allocator, 0);
    CIP_TRY(CIP_NEW(&mem, &b, 1, err));
    cip_mem_init(&b->keeper.mem, p.allocator, 0);
    b->keeper.mem.used = mem.used; /* this struct */
    b->keeper.limit = limit;
    cip_mem_init(&b->mem, &(cip_allocator){ keeper_resize, &b->keeper }, limit);
    b->spec = spec;
    b->spec.block = b->block;
    if (spec.ndim != 0)
        memcpy(b->block, spec.block, (size_t)spec.ndim * sizeof *spec.block);
    b->encoder.mem = b->encoder.compressor.mem = &b->mem;
    *out = b;
    return CIP_OK;
}

cip_blosc *cip_blosc_new(const cip_blosc_params *params, cip_err *err)
{
    err = cip_err_enter(err);
    cip_blosc *b = NULL;
    if (make(params, &b, err) != CIP_OK)
        return NULL;
    cip_status st = cip_blosc_compressors(&b->encoder.compressor, &b->spec, err);
    if (st == CIP_OK)
        return b;
    cip_blosc_free(b);
    return NULL;
}

void cip_blosc_free(cip_blosc *b)
{
    if (b == NULL)
        return;
    cip_blosc_encoder_clear(&b->encoder);
    drop_kept(&b->keeper);
    cip_mem mem = b->keeper.mem; /* it holds b itself */
    cip_mem_put(&mem, b);
}

/* --- chunks ---------------------------------------------------------------------------------- */

size_t cip_blosc_bound(size_t nbytes)
{
    return cip_blosc_stored_bound(nbytes);
}

static cip_status check_buffers(const cip_blosc *b, const void *src, size_t nsrc, const void *dst,
                                size_t ndst, cip_err *err)
{
    if (b == NULL || (src == NULL && nsrc != 0) || (dst == NULL && ndst != 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a context and buffers, found NULL");
    return CIP_OK;
}

cip_status cip_blosc_compress(cip_blosc *b, const void *src, size_t nbytes, void *dst, size_t cap,
                              size_t *n, cip_err *err)
{
    err = cip_err_enter(err);
    CIP_TRY(check_buffers(b, src, nbytes, dst, cap, err));
    CIP_TRY(cip_arg_given(n, "a pointer for the length", err));
    return cip_blosc_encoder_run(&b->encoder, &b->spec, (cip_bytes){ src, nbytes }, dst, cap, n,
                                 err);
}

/* The header, and the chunk without what may follow it. */
static cip_status take_chunk(const void *chunk, size_t n, cip_blosc_head *head, cip_bytes *in,
                             cip_err *err)
{
    CIP_TRY(cip_blosc_head_parse((cip_bytes){ chunk, n }, head, err));
    if (head->cbytes > n)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected a Blosc chunk of %" PRIu32 " bytes, found %zu", head->cbytes, n);
    *in = (cip_bytes){ chunk, head->cbytes };
    return CIP_OK;
}

/* A chunk says 1 where its elements are too long for it. */
static uint32_t item_size(const cip_blosc *b, const cip_blosc_head *head)
{
    return head->typesize == 1 && b->spec.typesize > CIP_BLOSC_MAX_TYPESIZE ? b->spec.typesize
                                                                            : head->typesize;
}

static cip_codec_env env_of(cip_blosc *b, uint32_t typesize)
{
    return (cip_codec_env){
        .mem = &b->mem, .typesize = typesize, .ndim = b->spec.ndim, .block = b->block
    };
}

cip_status cip_blosc_decompress(cip_blosc *b, const void *chunk, size_t n, void *dst, size_t nbytes,
                                cip_err *err)
{
    err = cip_err_enter(err);
    cip_blosc_head head;
    cip_bytes in;
    CIP_TRY(check_buffers(b, chunk, n, dst, nbytes, err));
    CIP_TRY(take_chunk(chunk, n, &head, &in, err));
    if (head.nbytes != nbytes)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected room for the %" PRIu32 " bytes of a Blosc chunk, found %zu",
                        head.nbytes, nbytes);
    cip_codec_env env = env_of(b, item_size(b, &head));
    return cip_codec_blosc.decode(NULL, &env, in, dst, nbytes, err);
}

cip_status cip_blosc_items(cip_blosc *b, const void *chunk, size_t n, uint64_t first,
                           uint64_t count, void *dst, cip_err *err)
{
    err = cip_err_enter(err);
    cip_blosc_head head;
    cip_bytes in;
    uint64_t end;
    CIP_TRY(check_buffers(b, chunk, n, dst, count != 0, err));
    CIP_TRY(take_chunk(chunk, n, &head, &in, err));
    uint32_t size = item_size(b, &head);
    if (cip_add_overflow(first, count, &end) || end > head.nbytes / size)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a range within the %" PRIu32
                        " items of a Blosc chunk, found %" PRIu64 " from %" PRIu64,
                        head.nbytes / size, count, first);
    if (count == 0)
        return CIP_OK;
    cip_codec_env env = env_of(b, size);
    cip_need all = { 0, in.len };
    cip_stored stored = { .total = in.len, .n = 1, .at = &all, .ptr = &in.ptr };
    cip_want want = { first * size, (size_t)count * size, dst };
    return cip_codec_blosc.decode_spans(NULL, &env, &stored, &(cip_wants){ &want, 1, head.nbytes },
                                        err);
}

cip_status cip_blosc_info(const void *chunk, size_t n, cip_blosc_chunk_info *out, cip_err *err)
{
    err = cip_err_enter(err);
    cip_blosc_head h;
    if (chunk == NULL && n != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a chunk, found NULL");
    CIP_TRY(cip_sized_room("cip_blosc_chunk_info", out, err));
    CIP_TRY(cip_blosc_head_parse((cip_bytes){ chunk, n }, &h, err));
    const char *codec = cip_blosc_codec_name(h.compcode);
    cip_blosc_chunk_info info = { .version = h.version,
                                  .typesize = h.typesize,
                                  .nbytes = h.nbytes,
                                  .cbytes = h.cbytes,
                                  .blocksize = h.blocksize,
                                  .nblock = h.nblock,
                                  .codec = codec != NULL ? codec : "",
                                  .codec_id = h.compcode,
                                  .special = cip_blosc_special_name(h.special),
                                  .memcpyed = h.memcpyed,
                                  .split = h.split,
                                  .dict = h.dict,
                                  .big_endian = h.big };
    cip_blosc_filters_print(h.filter, h.filter_meta, info.filter);
    cip_sized_give(out, &info, sizeof info);
    return CIP_OK;
}
