/* SPDX-License-Identifier: BSD-3-Clause
 * The payloads of `blsc` and `bls2`. Both name places of blocks and chunks before these, which are
 * known last: chunks wait in a temporary file.
 *
 * `blsc` is one Blosc1 chunk, as other readers take no more than one: it is made of many, joined.
 * Its blocks of 128 KiB are what a window decodes. `bls2` is a frame of Blosc2, a list of items. */
#include <string.h>

#include "base/num.h"
#include "codec/blosc/blosc_join.h"
#include "format/asdf/write/asdf_write.h"
#include "format/blosc2/blosc2.h"
#include "io/temporary.h"
#include "space/make/chunker.h"

enum {
    LEVEL_BLSC = 9, /* as asdf-compression's */
    LEVEL_BLS2 = 5,
    BLOCK = 128 << 10,
    CHUNK_BLOCKS = 32 /* that are encoded at once */
};

struct asdf_bloscw {
    cip_env *env;
    cip_blosc_spec spec;
    cip_array_form form; /* bytes in linear chunks */
    cip_chunker *chunker;
    cip_io *temporary;
    cip_out out;          /* to it */
    cip_blosc_join *join; /* of blsc */
    cip_buf part;
    cip_arena arena; /* of bls2 */
    void *frame;
};

/* --- what is asked for ------------------------------------------------------------------------ */

cip_status cip_asdf_blosc_packing(const char *codec, asdf_packing *p, cip_err *err)
{
    const bool blsc = p->codec->blosc == 1;
    uint8_t meta = 0;
    p->blosc = (cip_blosc_spec){ .compcode = blsc || !cip_codec_available(cip_codec_find("zstd"))
                                                 ? CIP_BLOSC_BLOSCLZ
                                                 : CIP_BLOSC_ZSTD,
                                 .level = blsc ? LEVEL_BLSC : LEVEL_BLS2,
                                 .blosc1 = blsc };
    p->blosc.filter[CIP_BLOSC_FILTERS - 1] = CIP_BLOSC_SHUFFLE;
    p->named = codec[0] != '\0' || p->level != 0;
    if (p->level != 0)
        p->blosc.level = p->level;
    if (p->level < 0 || p->level > 9)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a level of 1 to 9 for %s, found %d", cip_asdf_packing_name(p),
                        p->level);
    if (codec[0] != '\0' &&
        (cip_blosc_codec_parse(codec, &p->blosc.compcode, &meta, NULL) != CIP_OK ||
         p->blosc.compcode > CIP_BLOSC_ZSTD))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected one of the codecs blosclz, lz4, lz4hc, zlib, zstd in %s, found "
                        "'%.40s'",
                        cip_asdf_packing_name(p), codec);
    return CIP_OK;
}

cip_status cip_asdf_packing_filter(const char *filter, asdf_packing *p, cip_err *err)
{
    int n = 0;
    bool other = false;
    if (filter == NULL)
        return CIP_OK;
    if (!cip_asdf_is_blosc(p))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected the codec blsc or bls2 for filters, found %s",
                        cip_asdf_packing_name(p));
    p->named = true;
    memset(p->blosc.filter, 0, sizeof p->blosc.filter);
    CIP_TRY(cip_blosc_filters_parse(filter, p->blosc.filter, p->blosc.filter_meta, err));
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++) {
        n += p->blosc.filter[i] != CIP_BLOSC_NOFILTER;
        other = other || p->blosc.filter[i] > CIP_BLOSC_BITSHUFFLE;
    }
    if (p->blosc.blosc1 ? n > 1 || other : cip_blosc_is_lossy(&p->blosc))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "expected %s for %s, found %.60s",
                        p->blosc.blosc1 ? "shuffle, bitshuffle or none" : "lossless filters",
                        cip_asdf_packing_name(p), filter);
    return CIP_OK;
}

uint64_t cip_asdf_block_item(const cip_layout *l, size_t block)
{
    for (size_t i = 0; i < l->narray; i++)
        if (l->array[i]->storage.block == (int64_t)block)
            return l->array[i]->dtype->itemsize;
    return 0;
}

/* What is no codec or filter that we write stays. */
static void take_like(int compcode, const uint8_t *filter, const uint8_t *meta, asdf_packing *p)
{
    cip_blosc_spec b = p->blosc;
    memcpy(b.filter, filter, sizeof b.filter);
    memcpy(b.filter_meta, meta, sizeof b.filter_meta);
    if (compcode < 0 || compcode > CIP_BLOSC_ZSTD || compcode == CIP_BLOSC_SNAPPY ||
        cip_blosc_is_lossy(&b))
        return;
    b.compcode = compcode;
    p->blosc = b;
}

void cip_asdf_blosc_like(cip_layout *l, const asdf_block *b, asdf_packing *p)
{
    uint8_t head[CIP_B2_HEADER_MIN];
    cip_blosc_head one;
    cip_b2_header frame;
    size_t n = (size_t)cip_min_u64(sizeof head, b->stored);
    const cip_bytes in = { head, n };
    if (!cip_asdf_is_blosc(p) || p->codec != cip_asdf_codec_of(b->code) ||
        cip_io_read(l->io, b->data_off, head, n, NULL) != CIP_OK)
        return;
    if (p->blosc.blosc1 && cip_blosc_head_parse(in, &one, NULL) == CIP_OK) {
        take_like(one.compcode, one.filter, one.filter_meta, p);
    } else if (!p->blosc.blosc1 && cip_b2_header_read(in, b->stored, &frame, NULL) == CIP_OK) {
        take_like(frame.codec, frame.filter, frame.filter_meta, p);
        if (frame.level >= 1 && frame.level <= 9)
            p->blosc.level = frame.level;
    }
}

/* --- beginning -------------------------------------------------------------------------------- */

static cip_status store_part(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk,
                             cip_err *err)
{
    asdf_bloscw *w = user;
    (void)i;
    for (size_t k = 0; k < n; k++) {
        w->part.len = 0;
        CIP_TRY(cip_blosc_join_add(w->join, chunk[k].bytes, &w->part, err));
        CIP_TRY(cip_out_write(&w->out, w->part.ptr, w->part.len, err));
    }
    return CIP_OK;
}

static cip_status begin_blsc(asdf_bloscw *w, uint64_t nbytes, cip_err *err)
{
    const uint64_t unit = 8 * (uint64_t)w->spec.typesize; /* that bitshuffle takes whole */
    if (nbytes > CIP_BLOSC_MAX_NBYTES)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d bytes for the codec blsc, found %" PRIu64
                        "; bls2 allows more",
                        CIP_BLOSC_MAX_NBYTES, nbytes);
    if (w->spec.blocksize == 0)
        w->spec.blocksize = (uint32_t)(BLOCK / unit * unit);
    w->form.chunk_nbytes = CHUNK_BLOCKS * (uint64_t)w->spec.blocksize;
    w->form.step[0] = (cip_form_step){ .codec = &cip_codec_blosc, .args = &w->spec };
    w->form.nstep = 1;
    return cip_blosc_join_new(&w->env->mem, &w->spec, nbytes, &w->join, err);
}

static cip_status begin(asdf_bloscw *w, const asdf_packing *how, uint64_t nbytes, cip_err *err)
{
    const bool blsc = how->blosc.blosc1;
    const uint64_t item = how->typesize;
    w->spec = how->blosc;
    if (w->spec.typesize == 0)
        w->spec.typesize = item == 0 || nbytes % item != 0 ||
                                   item > (blsc ? CIP_BLOSC_MAX_TYPESIZE : CIP_BLOSC_MAX_BLOCKSIZE)
                               ? 1
                               : (uint32_t)item;
    CIP_TRY(cip_temporary_new(w->env, NULL, &w->temporary, err));
    w->out = cip_temporary_out(w->temporary);
    const cip_b2_nested n = { .env = w->env,
                              .blosc = how->source == NULL ? &w->spec : NULL,
                              .source = how->source,
                              .typesize = w->spec.typesize,
                              .nitem = nbytes / w->spec.typesize };
    if (blsc) {
        CIP_TRY(begin_blsc(w, nbytes, err));
    } else {
        CIP_TRY(cip_b2_nested_begin(&n, &w->arena, &w->out, &w->form, &w->frame, err));
        /* zeros are found; a value of a single byte would say nothing of items */
        w->form.specials &= CIP_FORM_SPECIAL(CIP_CHUNK_ZERO);
        w->form.chunk_nbytes = cip_form_chunk_nbytes(&w->form);
    }
    if (how->source != NULL)
        return CIP_OK;
    const cip_chunker_to to = { blsc ? store_part : cip_b2_nested_store,
                                blsc ? (void *)w : w->frame, NULL };
    w->form.dtype = cip_dtype_fixed(CIP_U8, false);
    return cip_chunker_new(w->env, &w->form, nbytes, &to, &w->chunker, err);
}

cip_status cip_asdf_bloscw_new(cip_env *env, const asdf_packing *how, uint64_t nbytes,
                               asdf_bloscw **out, cip_err *err)
{
    asdf_bloscw *w;
    *out = NULL;
    CIP_TRY(CIP_NEW(&env->mem, &w, 1, err));
    *w = (asdf_bloscw){ .env = env, .part = { .mem = &env->mem }, .arena = { .mem = &env->mem } };
    cip_status st = begin(w, how, nbytes, err);
    if (st == CIP_OK)
        *out = w;
    else
        cip_asdf_bloscw_free(w);
    return st;
}

/* --- bytes ------------------------------------------------------------------------------------ */

cip_status cip_asdf_bloscw_write(asdf_bloscw *w, const void *p, size_t n, cip_err *err)
{
    return cip_chunker_write(w->chunker, (cip_bytes){ p, n }, err);
}

cip_status cip_asdf_bloscw_chunk(asdf_bloscw *w, uint64_t i, const cip_chunk_in *c, cip_err *err)
{
    return w->frame != NULL ? cip_b2_nested_store(w->frame, i, 1, c, err)
                            : store_part(w, i, 1, c, err);
}

static cip_status put(void *user, const void *p, size_t n, cip_err *err)
{
    return cip_out_write(user, p, n, err);
}

cip_status cip_asdf_bloscw_finish(asdf_bloscw *w, cip_out *to, cip_err *err)
{
    if (w->chunker != NULL)
        CIP_TRY(cip_chunker_finish(w->chunker, err));
    if (w->frame != NULL) {
        CIP_TRY(cip_b2_nested_end(w->frame, &w->env->mem, &w->out, err));
    } else {
        w->part.len = 0;
        CIP_TRY(cip_blosc_join_head(w->join, &w->part, err));
        CIP_TRY(cip_out_write(to, w->part.ptr, w->part.len, err));
    }
    /* a copy: outputs may borrow segments, and the temporary file goes */
    return cip_io_each(w->temporary, 0, w->temporary->size, put, to, err);
}

void cip_asdf_bloscw_free(asdf_bloscw *w)
{
    if (w == NULL)
        return;
    cip_chunker_free(w->chunker);
    cip_blosc_join_free(w->join);
    cip_b2_nested_clear(w->frame);
    cip_arena_clear(&w->arena);
    cip_buf_clear(&w->part);
    cip_io_close(w->temporary);
    cip_mem_put(&w->env->mem, w);
}
