/* SPDX-License-Identifier: BSD-3-Clause
 * The header of a Blosc chunk: 16 bytes, or 32 where the flags of both shuffles are set. Every
 * field is checked by itself and against the others; what lies behind the header is not looked at.
 */
#include "codec/blosc/blosc_decode.h"

#include "base/endian.h"
#include "base/num.h"

enum { /* byte 2 */
       FLAG_SHUFFLE = 0x01,
       FLAG_MEMCPYED = 0x02,
       FLAG_BITSHUFFLE = 0x04,
       FLAG_DELTA = 0x08,
       FLAG_DONT_SPLIT = 0x10,
       FLAG_EXTENDED = FLAG_SHUFFLE | FLAG_BITSHUFFLE
};

enum { /* byte 31 */
       FLAG_DICT = 0x01,
       FLAG_BIG = 0x02,
       FLAG_RESERVED = 0x04,
       FLAG_LAZY = 0x08,
       FLAG_INSTRUMENTED = 0x80
};

enum {
    VERSION_ALPHA = 3,
    VERSION_STABLE = 5, /* the first whose byte 30 means something */
    VERSION_MAX = 6,
    VERSIONLZ = 1, /* of all our codecs */
    FORMAT_USER = 6,
    FLAG2_VL = 0x01 /* byte 30 */
};

static cip_status bad_field(cip_err *err, cip_status st, const char *what, int64_t found)
{
    return cip_fail(err, st, CIP_NO_OFFSET, "expected a Blosc chunk with %s, found %" PRId64, what,
                    found);
}

/* --- the fields ------------------------------------------------------------------------------ */

/* The first 16 bytes; the sizes as they stand there. */
static cip_status parse_short(const uint8_t *p, cip_blosc_head *h, cip_err *err)
{
    int64_t nbytes = (int32_t)cip_load_u32(p + 4, false);
    int64_t blocksize = (int32_t)cip_load_u32(p + 8, false);
    int64_t cbytes = (int32_t)cip_load_u32(p + 12, false);
    h->version = p[0];
    h->versionlz = p[1];
    h->flags = p[2];
    h->typesize = p[3];
    if (h->version == 0)
        return bad_field(err, CIP_ERR_CORRUPT, "a version of 1 or more", h->version);
    if (h->version > VERSION_MAX)
        return bad_field(err, CIP_ERR_UNSUPPORTED, "a version up to 6", h->version);
    h->extended = (h->flags & FLAG_EXTENDED) == FLAG_EXTENDED;
    h->header = h->extended ? CIP_BLOSC_HEADER : CIP_BLOSC_MIN_HEADER;
    if (h->extended && h->version <= CIP_BLOSC1_VERSION)
        return bad_field(err, CIP_ERR_CORRUPT, "one shuffle at most in version 2, flags", h->flags);
    if ((h->flags & FLAG_DELTA) != 0 && h->version <= CIP_BLOSC1_VERSION)
        return bad_field(err, CIP_ERR_UNSUPPORTED, "a clear flag 8 in version 2, flags", h->flags);
    if (h->typesize == 0)
        return bad_field(err, CIP_ERR_CORRUPT, "a typesize of 1 or more", 0);
    if (nbytes < 0 || nbytes > INT32_MAX - (int64_t)h->header)
        return bad_field(err, CIP_ERR_CORRUPT, "0 to 2^31 - 33 decoded bytes", nbytes);
    if (blocksize < 0 || blocksize > CIP_BLOSC_MAX_BLOCKSIZE || (blocksize == 0 && nbytes != 0))
        return bad_field(err, CIP_ERR_CORRUPT, "a blocksize of 1 to 536866816", blocksize);
    if (cbytes < h->header)
        return bad_field(err, CIP_ERR_CORRUPT, "at least its header's stored bytes", cbytes);
    h->nbytes = (uint32_t)nbytes;
    h->blocksize = (uint32_t)blocksize;
    h->cbytes = (uint32_t)cbytes;
    h->memcpyed = (h->flags & FLAG_MEMCPYED) != 0;
    return CIP_OK;
}

static cip_status parse_extended(const uint8_t *p, cip_blosc_head *h, cip_err *err)
{
    uint8_t flags2 = p[30], flags = p[31];
    memcpy(h->filter, p + 16, CIP_BLOSC_FILTERS);
    memcpy(h->filter_meta, p + 24, CIP_BLOSC_FILTERS);
    if (h->version == VERSION_ALPHA) /* it left these as they were in memory */
        h->filter[CIP_BLOSC_FILTERS - 1] = h->filter_meta[CIP_BLOSC_FILTERS - 1] = 0;
    h->codec_meta = p[23];
    h->vl = h->version >= VERSION_STABLE && (flags2 & FLAG2_VL) != 0;
    h->dict = (flags & FLAG_DICT) != 0;
    h->big = (flags & FLAG_BIG) != 0;
    h->special = flags >> 4 & 7;
    h->instrumented = (flags & FLAG_INSTRUMENTED) != 0;
    if (h->version >= VERSION_STABLE && (flags2 & ~FLAG2_VL) != 0)
        return bad_field(err, CIP_ERR_UNSUPPORTED, "known bits in byte 30", flags2);
    if ((flags & FLAG_LAZY) != 0)
        return bad_field(err, CIP_ERR_UNSUPPORTED, "its data, not a lazy chunk, byte 31", flags);
    if ((flags & FLAG_RESERVED) != 0)
        return bad_field(err, CIP_ERR_UNSUPPORTED, "known bits in byte 31", flags);
    if (h->special > CIP_BLOSC_UNINIT)
        return bad_field(err, CIP_ERR_UNSUPPORTED, "a special value of 0 to 4", h->special);
    if (h->special != CIP_BLOSC_NOT_SPECIAL && h->vl)
        return bad_field(err, CIP_ERR_CORRUPT,
                         "blocks of variable length or a special value, not "
                         "both, byte 31",
                         flags);
    return CIP_OK;
}

/* `user`: the number in byte 22, or -1. Formats 5 and 7 are reserved. */
static int compcode_of(uint8_t flags, int user)
{
    static const int of_format[8] = { CIP_BLOSC_BLOSCLZ,
                                      CIP_BLOSC_LZ4,
                                      CIP_BLOSC_SNAPPY,
                                      CIP_BLOSC_ZLIB,
                                      CIP_BLOSC_ZSTD,
                                      -1,
                                      -1,
                                      -1 };
    int format = flags >> 5;
    if (format == FORMAT_USER && user >= CIP_BLOSC_NDLZ)
        return user;
    if (of_format[format] == CIP_BLOSC_LZ4 && user == CIP_BLOSC_LZ4HC)
        return CIP_BLOSC_LZ4HC;
    return of_format[format];
}

/* --- sizes against each other ---------------------------------------------------------------- */

static cip_status check_cbytes(const cip_blosc_head *h, uint64_t expected, cip_err *err)
{
    if (h->cbytes == expected)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected a Blosc chunk of %" PRIu64 " stored bytes, found %" PRIu32, expected,
                    h->cbytes);
}

static cip_status check_special(const cip_blosc_head *h, cip_err *err)
{
    uint32_t width = h->cbytes - h->header;
    if (h->special == CIP_BLOSC_NANS && h->typesize != 4 && h->typesize != 8)
        return bad_field(err, CIP_ERR_CORRUPT, "NaNs of 4 or 8 bytes", h->typesize);
    if (h->special == CIP_BLOSC_NANS && h->nbytes % h->typesize != 0)
        return bad_field(err, CIP_ERR_CORRUPT, "whole NaNs, bytes", h->nbytes);
    if (h->special != CIP_BLOSC_VALUE)
        return check_cbytes(h, h->header, err);
    if (width == 0 || h->nbytes % width != 0)
        return bad_field(err, CIP_ERR_CORRUPT, "a value that its bytes hold repeated, its length",
                         width);
    return CIP_OK;
}

/* A block takes its entry in the table and a size at least. */
static cip_status count_blocks(cip_blosc_head *h, cip_err *err)
{
    if (h->vl) {
        h->nblock = h->blocksize;
        h->blocksize = 0;
    } else {
        h->blocksize = (uint32_t)cip_min_u64(h->blocksize, h->nbytes);
        h->nblock = (uint32_t)cip_div_up(h->nbytes, h->blocksize);
    }
    if (h->nblock > (h->cbytes - h->header) / 8)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a Blosc chunk of %" PRIu32 " blocks, found %" PRIu32
                        " stored bytes",
                        h->nblock, h->cbytes);
    return CIP_OK;
}

cip_status cip_blosc_head_parse(cip_bytes in, cip_blosc_head *out, cip_err *err)
{
    cip_blosc_head h = { 0 };
    int user = -1;
    if (in.len < CIP_BLOSC_MIN_HEADER)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected a Blosc chunk's header of 16 bytes, found %zu", in.len);
    CIP_TRY(parse_short(in.ptr, &h, err));
    if (in.len < h.header)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected a Blosc chunk's header of 32 bytes, found %zu", in.len);
    if (h.extended) {
        user = in.ptr[22];
        CIP_TRY(parse_extended(in.ptr, &h, err));
    } else { /* it has only flags for its filters */
        if ((h.flags & FLAG_SHUFFLE) != 0)
            h.filter[CIP_BLOSC_FILTERS - 1] = CIP_BLOSC_SHUFFLE;
        if ((h.flags & FLAG_BITSHUFFLE) != 0)
            h.filter[CIP_BLOSC_FILTERS - 1] = CIP_BLOSC_BITSHUFFLE;
        if ((h.flags & FLAG_DELTA) != 0)
            h.filter[CIP_BLOSC_FILTERS - 2] = CIP_BLOSC_DELTA;
    }
    h.compcode = compcode_of(h.flags, user);
    h.split = (h.flags & FLAG_DONT_SPLIT) == 0 && !h.vl;
    if (h.special != CIP_BLOSC_NOT_SPECIAL) {
        h.memcpyed = false;
        CIP_TRY(check_special(&h, err));
    } else if (h.memcpyed && !h.vl) {
        CIP_TRY(check_cbytes(&h, (uint64_t)h.header + h.nbytes, err));
    } else if (h.nbytes != 0) {
        h.memcpyed = false; /* blocks of variable length are never stored that way */
        CIP_TRY(count_blocks(&h, err));
    }
    if (h.nblock == 0)
        h.blocksize = (uint32_t)cip_min_u64(h.blocksize, h.nbytes);
    *out = h;
    return CIP_OK;
}

/* --- codecs and filters ---------------------------------------------------------------------- */

typedef struct named {
    int id;
    const char *name;
} named;

static const named codecs[] = {
    { CIP_BLOSC_BLOSCLZ, "blosclz" },
    { CIP_BLOSC_LZ4, "lz4" },
    { CIP_BLOSC_LZ4HC, "lz4hc" },
    { CIP_BLOSC_SNAPPY, "snappy" },
    { CIP_BLOSC_ZLIB, "zlib" },
    { CIP_BLOSC_ZSTD, "zstd" },
    { CIP_BLOSC_NDLZ, "ndlz" },
    { CIP_BLOSC_ZFP_ACC, "zfp_acc" },
    { CIP_BLOSC_ZFP_PREC, "zfp_prec" },
    { CIP_BLOSC_ZFP_RATE, "zfp_rate" },
    { 36, "openhtj2k" },
    { 37, "grok" },
    { 38, "openzl" },
    { 39, "j2k" },
    { 40, "htj2k" },
};

static const named filters[] = {
    { CIP_BLOSC_NOFILTER, "nofilter" },     { CIP_BLOSC_SHUFFLE, "shuffle" },
    { CIP_BLOSC_BITSHUFFLE, "bitshuffle" }, { CIP_BLOSC_DELTA, "delta" },
    { CIP_BLOSC_TRUNC_PREC, "trunc_prec" }, { CIP_BLOSC_NDCELL, "ndcell" },
    { CIP_BLOSC_NDMEAN, "ndmean" },         { CIP_BLOSC_BYTEDELTA_OLD, "bytedelta_buggy" },
    { CIP_BLOSC_BYTEDELTA, "bytedelta" },   { CIP_BLOSC_INT_TRUNC, "int_trunc" },
};

static const char *find_name(const named *in, size_t n, int id)
{
    for (size_t i = 0; i < n; i++)
        if (in[i].id == id)
            return in[i].name;
    return NULL;
}

const char *cip_blosc_codec_name(int compcode)
{
    return find_name(codecs, sizeof codecs / sizeof codecs[0], compcode);
}

const char *cip_blosc_special_name(uint8_t special)
{
    static const char *const names[] = { [CIP_BLOSC_NOT_SPECIAL] = "",
                                         [CIP_BLOSC_ZEROS] = "zeros",
                                         [CIP_BLOSC_NANS] = "nans",
                                         [CIP_BLOSC_VALUE] = "value",
                                         [CIP_BLOSC_UNINIT] = "uninit" };
    return names[special];
}

const char *cip_blosc_coder_name(const cip_blosc_head *h)
{
    const char *name = cip_blosc_codec_name(h->compcode);
    if (h->special != CIP_BLOSC_NOT_SPECIAL)
        return cip_blosc_special_name(h->special);
    return h->memcpyed ? "none" : name != NULL ? name : "unknown";
}

const char *cip_blosc_filter_name(int id)
{
    return find_name(filters, sizeof filters / sizeof filters[0], id);
}

cip_status cip_blosc_known(const cip_blosc_head *h, cip_err *err)
{
    if (h->memcpyed || h->special != CIP_BLOSC_NOT_SPECIAL || h->nbytes == 0)
        return CIP_OK;
    if (h->instrumented)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a Blosc chunk of data, found measurements of a codec");
    if (cip_blosc_stream_of(h->compcode) == NULL) {
        const char *name = cip_blosc_codec_name(h->compcode);
        if (h->compcode < 0)
            return bad_field(err, CIP_ERR_UNSUPPORTED, "a known codec format", h->flags >> 5);
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a codec that this build has, found %s (%d)",
                        name != NULL ? name : "a user-defined codec", h->compcode);
    }
    if (h->versionlz != VERSIONLZ)
        return bad_field(err, CIP_ERR_UNSUPPORTED, "version 1 of its codec", h->versionlz);
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++)
        if (cip_blosc_filter_name(h->filter[i]) == NULL)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected a known filter, found %s (%d)",
                            h->filter[i] >= 160 ? "a user's" : "a reserved one", h->filter[i]);
    return CIP_OK;
}
