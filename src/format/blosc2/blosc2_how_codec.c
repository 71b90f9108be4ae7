/* SPDX-License-Identifier: BSD-3-Clause
 * Codec and filters of a frame: what was asked for, else as the frame has them that the array comes
 * from, else the defaults. */
#include <string.h>

#include "codec/with.h"
#include "format/blosc2/blosc2_how.h"
#include "format/blosc_codec.h"

enum { LEVEL = 5 };

/* Lossy filters are for numbers of one kind and take how many bits they keep: python-blosc2 opens
 * no frame that has the number of those that go, a negative one. */
static cip_status check_filters(const cip_dtype *d, cip_blosc_spec *b, cip_err *err)
{
    const bool is_float = d->kind == CIP_F32 || d->kind == CIP_F64;
    const bool is_int = d->kind >= CIP_I8 && d->kind <= CIP_U64;
    const int bits = is_int ? 8 * (int)d->itemsize : d->kind == CIP_F32 ? 23 : 52;
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++) {
        const uint8_t f = b->filter[i];
        const int8_t meta = (int8_t)b->filter_meta[i];
        const bool fits = f == CIP_BLOSC_INT_TRUNC ? is_int : is_float;
        if (cip_blosc_filter_is_lossy(f) && (!fits || d->big))
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected a filter for elements of %.40s, found %s", cip_dtype_name(d),
                            cip_blosc_filter_name(f));
        if (f != CIP_BLOSC_TRUNC_PREC && f != CIP_BLOSC_INT_TRUNC)
            continue;
        const int stay = meta < 0 ? bits + meta : meta;
        if (stay <= 0 || stay > bits)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected from 1 to %d bits for %s to keep, or -1 to %d to zero, "
                            "found %d",
                            bits, cip_blosc_filter_name(f), 1 - bits, meta);
        b->filter_meta[i] = (uint8_t)stay;
    }
    return CIP_OK;
}

/* zfp takes floats as they are; of longer elements ndlz takes each byte by itself, which a header
 * has to say, or python-blosc2 fails to change the frame. */
static cip_status fit_codec(const cip_dtype *d, const char *filter, const char *split,
                            cip_blosc_spec *b, cip_err *err)
{
    if (cip_b2_is_zfp(b) && ((d->kind != CIP_F32 && d->kind != CIP_F64) || d->big))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected elements of float32 or float64 for zfp, found %.40s",
                        cip_dtype_name(d));
    if (cip_b2_is_zfp(b) && filter == NULL) {
        memset(b->filter, 0, sizeof b->filter);
        memset(b->filter_meta, 0, sizeof b->filter_meta);
    }
    if (cip_b2_is_zfp(b) && split == NULL)
        b->split = CIP_BLOSC_SPLIT_NEVER;
    if (b->compcode == CIP_BLOSC_NDLZ && split == NULL)
        b->split = d->itemsize != 1 ? CIP_BLOSC_SPLIT_ALWAYS : CIP_BLOSC_SPLIT_NEVER;
    return CIP_OK;
}

/* Codec and filters as a frame's header has them, without what changes values once more. */
static void set_like(const cip_b2_header *h, cip_blosc_spec *b)
{
    static const int split[] = { CIP_BLOSC_SPLIT_ALWAYS, CIP_BLOSC_SPLIT_NEVER,
                                 CIP_BLOSC_SPLIT_AUTO, CIP_BLOSC_SPLIT_AUTO };
    b->compcode = h->codec == CIP_B2_USER_CODEC ? h->user_codec : h->codec;
    b->codec_meta = h->codec == CIP_B2_USER_CODEC ? h->codec_meta : 0;
    b->level = h->level;
    b->split = split[h->split];
    b->dict = h->dict;
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++) {
        const uint8_t f = h->filter[i];
        const bool kept =
            (f >= CIP_BLOSC_SHUFFLE && f <= CIP_BLOSC_DELTA) || f == CIP_BLOSC_BYTEDELTA;
        b->filter[i] = kept ? f : CIP_BLOSC_NOFILTER;
        b->filter_meta[i] = kept ? h->filter_meta[i] : 0;
    }
}

/* Whether chunks can be encoded so in this build: an empty one is. */
static cip_status try_spec(const cip_spec *spec, const cip_blosc_spec *b, cip_err *err)
{
    uint8_t bytes[CIP_BLOSC_HEADER];
    size_t n;
    return cip_blosc_encode(&spec->env->mem, b, (cip_bytes){ NULL, 0 }, bytes, sizeof bytes, &n,
                            err);
}

/* The same as an answer: only NOMEM comes back. */
static cip_status can_encode(const cip_spec *spec, const cip_blosc_spec *b, bool *can, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    const cip_status st = try_spec(spec, b, &why);
    *can = st == CIP_OK;
    return st == CIP_ERR_NOMEM ? cip_err_give(err, &why, st) : CIP_OK;
}

const cip_b2_frame *cip_b2_frame_of(const cip_spec *spec)
{
    const cip_array *a = spec->narray == 1 ? spec->array[0].source : NULL;
    if (a == NULL || a->layout->format == NULL ||
        strcmp(a->layout->format, cip_format_blosc2.name) != 0)
        return NULL;
    const cip_b2_file *f = a->layout->own;
    return f->frame;
}

cip_status cip_b2_choose_codec(const cip_spec *spec, const cip_dtype *d, cip_b2_how *how,
                               cip_err *err)
{
    static const char *const splits[] = { "auto", "always", "never" };
    const char *filter = cip_b2_given(spec, CIP_B2_OPTION_FILTER),
               *split = cip_b2_given(spec, CIP_B2_OPTION_SPLIT),
               *dict = cip_b2_given(spec, CIP_B2_OPTION_DICT);
    const cip_b2_frame *like = cip_b2_is_blosc1(spec) ? NULL : cip_b2_frame_of(spec);
    cip_blosc_spec *b = &how->blosc;
    b->blosc1 = cip_b2_is_blosc1(spec);
    b->typesize = b->blosc1 && d->itemsize > CIP_BLOSC_MAX_TYPESIZE ? 1 : (uint32_t)d->itemsize;
    bool stays = false;
    if (like != NULL) {
        set_like(&like->h, b);
        CIP_TRY(can_encode(spec, b, &stays, err));
    }
    if (!stays || b->compcode > CIP_BLOSC_ZSTD) {
        /* Texts are shuffled by character, as python-blosc2 does. */
        b->compcode = CIP_WITH_ZSTD && !b->blosc1 ? CIP_BLOSC_ZSTD : CIP_BLOSC_BLOSCLZ;
        b->level = LEVEL;
        b->split = CIP_BLOSC_SPLIT_AUTO;
        b->dict = false;
        memset(b->filter, 0, sizeof b->filter);
        memset(b->filter_meta, 0, sizeof b->filter_meta);
        b->filter[CIP_BLOSC_FILTERS - 1] = CIP_BLOSC_SHUFFLE;
        b->filter_meta[CIP_BLOSC_FILTERS - 1] = d->kind == CIP_UCS4 && !b->blosc1 ? 4 : 0;
    }
    how->takes = filter == NULL && split == NULL && dict == NULL && spec->codec == NULL &&
                 spec->array[0].codec == NULL;
    CIP_TRY(cip_blosc_take_codec(spec, &spec->array[0], b, err));
    if (filter != NULL) {
        /* A frame's width of bytedelta: 0 is the item's, which python-blosc2 fails to open from 128
         * on. */
        CIP_TRY(cip_blosc_filters_parse(filter, b->filter, b->filter_meta, err));
        for (int i = 0; i < CIP_BLOSC_FILTERS; i++)
            if (b->filter[i] == CIP_BLOSC_BYTEDELTA && b->filter_meta[i] == 0 &&
                d->itemsize > INT8_MAX)
                b->filter_meta[i] = 1;
    }
    CIP_TRY(check_filters(d, b, err));
    for (int i = 0; split != NULL && i <= CIP_BLOSC_SPLIT_NEVER; i++)
        if (strcmp(split, splits[i]) == 0)
            b->split = i;
    if (split != NULL && strcmp(split, splits[b->split]) != 0)
        return cip_b2_bad_option(spec, CIP_B2_OPTION_SPLIT, "always, never or auto", err);
    CIP_TRY(cip_option_take_yes(dict, cip_b2_options[CIP_B2_OPTION_DICT].key, &b->dict, err));
    return fit_codec(d, filter, split, b, err);
}

/* Once the shape of blocks is known. Where nothing else is asked for, ndlz stays if it takes them;
 * zfp does not, as it would change the values once more. */
cip_status cip_b2_settle_codec(const cip_spec *spec, cip_b2_how *how, cip_err *err)
{
    const cip_b2_frame *like = cip_b2_frame_of(spec);
    cip_blosc_spec same = how->blosc;
    bool stays;
    if (how->takes && like != NULL && like->h.codec == CIP_B2_USER_CODEC) {
        set_like(&like->h, &same);
        CIP_TRY(can_encode(spec, &same, &stays, err));
        if (same.compcode == CIP_BLOSC_NDLZ && stays)
            how->blosc = same;
        if (cip_b2_is_zfp(&same) && spec->notes != NULL)
            cip_report_add(spec->notes, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, NULL,
                           "%s changes values and is not applied again: rewritten chunks have %s",
                           cip_blosc_codec_name(same.compcode),
                           cip_blosc_codec_name(how->blosc.compcode));
    }
    return try_spec(spec, &how->blosc, err);
}
