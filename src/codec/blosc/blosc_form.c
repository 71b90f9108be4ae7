/* SPDX-License-Identifier: BSD-3-Clause
 * What a chunk is going to look like: parameters checked, the size of blocks and their split into
 * streams chosen, the header written. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/blosc/blosc_encoder.h"

enum {
    VERSION_VL = 6,
    VERSIONLZ = 1,
    FORMAT_USER = 6,
    MAX_AUTO_STREAMS = 16, /* a split into more costs more than it brings */
    MIN_AUTO_STREAM = 32,  /* bytes */
    MIN_BLOSC1_STREAM = 128,
    MIN_BLOSC1_BLOCK = 128,
    MAX_DEFAULT_BLOCK = 4 << 20,
    MAX_BLOSC1_BLOCK = 1 << 20, /* as Blosc 1.21 */
    KIB = 1 << 10
};

static cip_status bad_param(cip_err *err, const char *expected, int64_t found)
{
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %s, found %" PRId64, expected,
                    found);
}

static bool has_filter(const cip_blosc_spec *p, int id)
{
    return memchr(p->filter, id, CIP_BLOSC_FILTERS) != NULL;
}

/* --- checks ---------------------------------------------------------------------------------- */

/* What is not first has other bytes before it when it is undone than when it was done: delta's
 * reference is block 0 as it was at first. A filter that loses more than low bits breaks it too. */
static cip_status check_delta(const cip_blosc_spec *p, cip_err *err)
{
    int first = 0;
    while (first < CIP_BLOSC_FILTERS && p->filter[first] == CIP_BLOSC_NOFILTER)
        first++;
    for (int i = first + 1; i < CIP_BLOSC_FILTERS; i++)
        if (p->filter[i] == CIP_BLOSC_DELTA)
            return bad_param(err, "the filter delta only in first place", i);
    if (has_filter(p, CIP_BLOSC_DELTA) && has_filter(p, CIP_BLOSC_NDMEAN))
        return bad_param(err, "no delta together with the filter", CIP_BLOSC_NDMEAN);
    return CIP_OK;
}

bool cip_blosc_filter_is_lossy(uint8_t filter)
{
    return filter == CIP_BLOSC_TRUNC_PREC || filter == CIP_BLOSC_INT_TRUNC ||
           filter == CIP_BLOSC_NDMEAN;
}

static bool is_zfp(int compcode)
{
    return compcode >= CIP_BLOSC_ZFP_ACC && compcode <= CIP_BLOSC_ZFP_RATE;
}

bool cip_blosc_is_lossy(const cip_blosc_spec *p)
{
    bool lossy = is_zfp(p->compcode);
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++)
        lossy = lossy || cip_blosc_filter_is_lossy(p->filter[i]);
    return lossy;
}

/* --- codecs that look at a block as the part of an array that it is --- */

/* Bytes of a block by its shape; 0: it has none, or more than a block may. */
static uint32_t shape_bytes(const cip_blosc_spec *p)
{
    uint64_t n = p->typesize;
    for (int32_t k = 0; k < p->ndim && n != 0; k++)
        if (p->block == NULL || p->block[k] < 1 || cip_mul_overflow(n, (uint64_t)p->block[k], &n) ||
            n > CIP_BLOSC_MAX_BLOCKSIZE)
            n = 0;
    return p->ndim > 0 ? (uint32_t)n : 0;
}

/* Each dimension as long as a cell of its; libblosc2 refuses others, too. */
static cip_status check_zfp(const cip_blosc_spec *p, cip_err *err)
{
    const int last = p->compcode == CIP_BLOSC_ZFP_PREC ? 64 : 100;
    if (p->typesize != 4 && p->typesize != 8)
        return bad_param(err, "floats of 4 or 8 bytes for zfp", p->typesize);
    if (p->ndim < 1 || p->ndim > 4)
        return bad_param(err, "a block of 1 to 4 dimensions for zfp", p->ndim);
    for (int32_t k = 0; k < p->ndim; k++)
        if (p->block[k] < 4)
            return bad_param(err, "a block of 4 elements or more along each axis for zfp",
                             p->block[k]);
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++)
        if (p->filter[i] != CIP_BLOSC_NOFILTER)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected no filter before zfp, which takes numbers, found %s",
                            cip_blosc_filter_name(p->filter[i]));
    if (p->split == CIP_BLOSC_SPLIT_ALWAYS)
        return bad_param(err, "no split before zfp", p->split);
    if (p->compcode != CIP_BLOSC_ZFP_ACC && (p->codec_meta < 1 || p->codec_meta > last))
        return bad_param(err,
                         p->compcode == CIP_BLOSC_ZFP_PREC ? "1 to 64 for zfp:prec"
                                                           : "1 to 100 for zfp:rate",
                         p->codec_meta);
    return CIP_OK;
}

/* A plane of bytes is a stream: of longer elements each byte by itself. */
static cip_status check_ndlz(const cip_blosc_spec *p, cip_err *err)
{
    if (p->codec_meta != 4 && p->codec_meta != 8)
        return bad_param(err, "cells of side 4 or 8 for ndlz", p->codec_meta);
    if (p->ndim != 2)
        return bad_param(err, "a block of 2 dimensions for ndlz", p->ndim);
    if (p->typesize > CIP_BLOSC_MAX_TYPESIZE)
        return bad_param(err, "elements of at most 255 bytes for ndlz", p->typesize);
    if (p->typesize != 1 && p->split == CIP_BLOSC_SPLIT_NEVER)
        return bad_param(err, "a split of elements longer than a byte for ndlz", p->split);
    return CIP_OK;
}

static cip_status check_shaped(const cip_blosc_spec *p, uint64_t nbytes, cip_err *err)
{
    const uint32_t block = shape_bytes(p);
    if (p->compcode != CIP_BLOSC_NDLZ && !is_zfp(p->compcode))
        return CIP_OK;
    if (block == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected the shape of a block for the codec %s, found none",
                        cip_blosc_codec_name(p->compcode));
    CIP_TRY(p->compcode == CIP_BLOSC_NDLZ ? check_ndlz(p, err) : check_zfp(p, err));
    if ((p->blocksize != 0 && p->blocksize != block) || nbytes % block != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected whole blocks of %" PRIu32
                        " bytes for the codec %s, found %" PRIu64 " bytes in blocks of %" PRIu32,
                        block, cip_blosc_codec_name(p->compcode), nbytes,
                        p->blocksize != 0 ? p->blocksize : block);
    return CIP_OK;
}

static cip_status check_blosc1(const cip_blosc_spec *p, cip_err *err)
{
    int n = 0;
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++) {
        if (p->filter[i] > CIP_BLOSC_BITSHUFFLE)
            return bad_param(err, "shuffle, bitshuffle or no filter for Blosc1", p->filter[i]);
        if (p->filter[i] != CIP_BLOSC_NOFILTER && p->filter_meta[i] != 0)
            return bad_param(err, "a filter without a parameter for Blosc1", p->filter_meta[i]);
        n += p->filter[i] != CIP_BLOSC_NOFILTER;
    }
    if (n > 1)
        return bad_param(err, "one filter at most for Blosc1", n);
    if (p->dict)
        return bad_param(err, "no dictionary for Blosc1", p->dict);
    if (p->compcode > CIP_BLOSC_ZSTD)
        return bad_param(err, "a codec that Blosc1 supports", p->compcode);
    return CIP_OK;
}

static cip_status check(const cip_blosc_spec *p, uint64_t nbytes, cip_err *err)
{
    if (nbytes > CIP_BLOSC_MAX_NBYTES)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected at most %d bytes for a Blosc chunk, found %" PRIu64,
                        CIP_BLOSC_MAX_NBYTES, nbytes);
    if (p->typesize == 0 || p->typesize > CIP_BLOSC_MAX_BLOCKSIZE)
        return bad_param(err, "a typesize of 1 to 536866816", p->typesize);
    if (p->level < 0 || p->level > 9)
        return bad_param(err, "a level from 0 to 9", p->level);
    if (p->blocksize > CIP_BLOSC_MAX_BLOCKSIZE)
        return bad_param(err, "a blocksize up to 536866816", p->blocksize);
    if (p->split < CIP_BLOSC_SPLIT_AUTO || p->split > CIP_BLOSC_SPLIT_NEVER)
        return bad_param(err, "a way to split", p->split);
    CIP_TRY(check_delta(p, err));
    /* What takes bits from numbers has to find them whole. */
    uint8_t before = CIP_BLOSC_NOFILTER;
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++) {
        const uint8_t f = p->filter[i];
        if (f == CIP_BLOSC_SHUFFLE || f == CIP_BLOSC_BITSHUFFLE || f == CIP_BLOSC_BYTEDELTA)
            before = f;
        if (cip_blosc_filter_is_lossy(f) && before != CIP_BLOSC_NOFILTER)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected the filter %s before %s, found it after",
                            cip_blosc_filter_name(f), cip_blosc_filter_name(before));
    }
    return p->blosc1 ? check_blosc1(p, err) : check_shaped(p, nbytes, err);
}

/* --- blocks and streams ---------------------------------------------------------------------- */

/* Whether streams of one byte of each element pay: the fast codecs find more in them. A Blosc1
 * before 1.11 takes them for granted. */
static bool worth_splitting(const cip_blosc_spec *p, uint32_t typesize)
{
    if (p->split != CIP_BLOSC_SPLIT_AUTO)
        return p->split == CIP_BLOSC_SPLIT_ALWAYS;
    if (p->compcode == CIP_BLOSC_NDLZ)
        return true;
    if (typesize > MAX_AUTO_STREAMS)
        return false;
    if (p->blosc1)
        return true;
    bool fast = p->compcode == CIP_BLOSC_BLOSCLZ || p->compcode == CIP_BLOSC_LZ4 ||
                (p->compcode == CIP_BLOSC_ZSTD && p->level <= 5);
    return fast && has_filter(p, CIP_BLOSC_SHUFFLE);
}

/* Whether blocks of that size can be split. Blosc1 decodes a split only where it would have made
 * it, whatever its flag says. */
static bool can_split(const cip_blosc_spec *p, uint32_t typesize, uint32_t blocksize)
{
    if (typesize == 1 || blocksize % typesize != 0 || blocksize == 0)
        return false;
    if (p->blosc1)
        return typesize <= MAX_AUTO_STREAMS && blocksize / typesize >= MIN_BLOSC1_STREAM;
    return p->split == CIP_BLOSC_SPLIT_ALWAYS || p->compcode == CIP_BLOSC_NDLZ ||
           blocksize / typesize >= MIN_AUTO_STREAM;
}

/* Large enough for the codec to find something, small enough for a part of a chunk to be cheap and
 * for a block to stay in the cache while it is filtered. Streams of split Blosc1 blocks have 128
 * KiB and more: below 64 KiB LZ4 looks for shorter matches, which takes half as long again, and
 * zstd's tables for a stream cost as much as 16 KiB of it. Those of Blosc2 are as libblosc2 has
 * them. */
static uint32_t default_blocksize(const cip_blosc_spec *p, uint32_t typesize, bool split)
{
    static const uint16_t whole[10] = { 16, 16, 32, 64, 128, 128, 256, 256, 256, 512 };
    static const uint16_t streams[10] = { 32, 32, 32, 32, 64, 64, 64, 128, 256, 512 };
    static const uint16_t blosc1[10] = { 128, 128, 128, 128, 128, 128, 256, 256, 256, 256 };
    uint32_t size, most = p->blosc1 ? MAX_BLOSC1_BLOCK : MAX_DEFAULT_BLOCK;
    if (split) {
        size = (p->blosc1 ? blosc1 : streams)[p->level] * (uint32_t)KIB * typesize;
    } else {
        size = whole[p->level] * (uint32_t)KIB;
        if (p->compcode == CIP_BLOSC_LZ4HC || p->compcode == CIP_BLOSC_ZLIB ||
            p->compcode == CIP_BLOSC_ZSTD)
            size *= 2;
    }
    return (uint32_t)cip_min_u64(size, most);
}

/* Whole elements, by eights where there are as many, for bitshuffle; at most nbytes. */
static uint32_t fit_blocksize(const cip_blosc_form *form, uint32_t wanted)
{
    uint32_t ts = form->typesize, least = form->p.blosc1 ? MIN_BLOSC1_BLOCK + ts - 1 : ts;
    uint32_t size = (uint32_t)cip_max_u64(wanted, least);
    if (size > form->nbytes)
        size = form->nbytes;
    uint64_t unit = form->p.blocksize == 0 ? 8 * (uint64_t)form->p.typesize : ts;
    if (size < unit)
        unit = ts;
    return size > unit ? size - size % (uint32_t)unit : size;
}

cip_status cip_blosc_form_make(const cip_blosc_spec *p, uint64_t nbytes, cip_blosc_form *out,
                               cip_err *err)
{
    CIP_TRY(check(p, nbytes, err));
    uint32_t ts = p->typesize > CIP_BLOSC_MAX_TYPESIZE ? 1 : p->typesize;
    bool split = worth_splitting(p, ts);
    *out = (cip_blosc_form){ .p = *p,
                             .nbytes = (uint32_t)nbytes,
                             .typesize = ts,
                             .header = p->blosc1 ? CIP_BLOSC_MIN_HEADER : CIP_BLOSC_HEADER };
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++) /* else only a super-chunk's reader knows it */
        if (p->filter[i] == CIP_BLOSC_BYTEDELTA && p->filter_meta[i] == 0)
            out->p.filter_meta[i] = (uint8_t)ts;
    if (p->blocksize == 0)
        out->p.blocksize = shape_bytes(p);
    uint32_t size = out->p.blocksize != 0 ? out->p.blocksize : default_blocksize(p, ts, split);
    out->p.blocksize = size = fit_blocksize(out, size);
    out->nblock = size != 0 ? (uint32_t)cip_div_up(nbytes, size) : 0;
    out->split = split && can_split(p, ts, size);
    return CIP_OK;
}

/* --- the header ------------------------------------------------------------------------------ */

static uint8_t flags_of(const cip_blosc_form *form, cip_blosc_marks marks)
{
    static const uint8_t formats[] = { 0, 1, 1, 2, 3, 4 };
    const cip_blosc_spec *p = &form->p;
    unsigned flags = (p->compcode <= CIP_BLOSC_ZSTD ? formats[p->compcode] : FORMAT_USER) << 5;
    if (!p->blosc1 || has_filter(p, CIP_BLOSC_SHUFFLE))
        flags |= 0x01;
    if (!p->blosc1 || has_filter(p, CIP_BLOSC_BITSHUFFLE))
        flags |= 0x04; /* with the other one: extended */
    if (has_filter(p, CIP_BLOSC_DELTA))
        flags |= 0x08;
    if (marks.memcpyed)
        flags |= 0x02;
    if (!form->split)
        flags |= 0x10;
    return (uint8_t)flags;
}

void cip_blosc_form_write(const cip_blosc_form *form, cip_blosc_marks marks, uint32_t cbytes,
                          uint8_t *dst)
{
    const cip_blosc_spec *p = &form->p;
    uint32_t blocksize = p->blocksize != 0 ? p->blocksize : 1; /* readers refuse 0 */
    dst[0] = p->blosc1              ? CIP_BLOSC1_VERSION
             : marks.vl_blocks != 0 ? VERSION_VL
                                    : CIP_BLOSC2_VERSION;
    dst[1] = VERSIONLZ;
    dst[2] = flags_of(form, marks);
    dst[3] = (uint8_t)form->typesize;
    cip_store_u32(dst + 4, form->nbytes, false);
    cip_store_u32(dst + 8, marks.vl_blocks != 0 ? marks.vl_blocks : blocksize, false);
    cip_store_u32(dst + 12, cbytes, false);
    if (p->blosc1)
        return;
    memcpy(dst + 16, p->filter, CIP_BLOSC_FILTERS);
    dst[22] = (uint8_t)p->compcode;
    dst[23] = p->codec_meta;
    memcpy(dst + 24, p->filter_meta, CIP_BLOSC_FILTERS);
    dst[30] = marks.vl_blocks != 0;
    dst[31] = (uint8_t)((unsigned)marks.special << 4 | (marks.dict ? 1u : 0u) | (p->big ? 2u : 0u));
}
