/* SPDX-License-Identifier: BSD-3-Clause
 * Codecs by name and code, and the framings of LZ4: that of `lz4\0` (section 2.6), pieces of 4 MiB,
 * each with its stored length in big-endian and its raw length in little-endian order before it;
 * and one LZ4 frame of independent blocks, since other readers of `lz4f` stop at its end. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/asdf/write/asdf_write.h"

enum { LZ4_PIECE = 4 << 20, LZ4_HEAD = 8 };

static size_t lz4_bound(size_t n)
{
    return LZ4_HEAD + cip_codec_find("lz4")->bound(n);
}

static cip_status lz4_encode(cip_mem *mem, int level, bool first, bool last, cip_bytes raw,
                             uint8_t *dst, size_t cap, size_t *n, uint64_t *sum, cip_err *err)
{
    cip_codec_env env = { .mem = mem };
    size_t len;
    (void)first;
    (void)last;
    (void)sum;
    if (cap < LZ4_HEAD)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET, "expected room for an LZ4 block");
    CIP_TRY(cip_codec_find("lz4")->encode(NULL, &env, level, raw, dst + LZ4_HEAD, cap - LZ4_HEAD,
                                          &len, err));
    cip_store_u32(dst, (uint32_t)(len + 4), true);
    cip_store_u32(dst + 4, (uint32_t)raw.len, false);
    *n = len + LZ4_HEAD;
    return CIP_OK;
}

static const cip_framing lz4_framing = {
    .name = "lz4",
    .piece = LZ4_PIECE,
    .empty_piece = false,
    .bound = lz4_bound,
    .encode = lz4_encode,
};

/* Magic; version 1 with independent blocks, of 4 MiB at most; the second byte of their xxh32. */
static const uint8_t frame_head[] = { 0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73 };
enum { FRAME_ENDS = sizeof frame_head + 4 + 4, FRAME_STORED = 0x80 };

static size_t frame_bound(size_t n)
{
    return FRAME_ENDS + cip_codec_find("lz4")->bound(n);
}

/* One block: what does not become smaller is stored as it is, which its length's top bit says. */
static cip_status frame_block(cip_mem *mem, int level, cip_bytes raw, uint8_t *dst, size_t cap,
                              size_t *n, cip_err *err)
{
    cip_codec_env env = { .mem = mem };
    size_t len;
    CIP_TRY(cip_codec_find("lz4")->encode(NULL, &env, level, raw, dst + 4, cap - 4, &len, err));
    bool stored = len >= raw.len;
    if (stored)
        memcpy(dst + 4, raw.ptr, len = raw.len);
    cip_store_u32(dst, (uint32_t)len, false);
    dst[3] |= stored ? FRAME_STORED : 0;
    *n = len + 4;
    return CIP_OK;
}

static cip_status frame_encode(cip_mem *mem, int level, bool first, bool last, cip_bytes raw,
                               uint8_t *dst, size_t cap, size_t *n, uint64_t *sum, cip_err *err)
{
    size_t at = 0, len = 0;
    (void)sum;
    if (cap < frame_bound(raw.len))
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET, "expected room for an LZ4 frame");
    if (first)
        memcpy(dst, frame_head, at = sizeof frame_head);
    if (raw.len != 0)
        CIP_TRY(frame_block(mem, level, raw, dst + at, cap - at - 4, &len, err));
    at += len;
    if (last)
        memset(dst + at, 0, 4);
    *n = at + (last ? 4 : 0);
    return CIP_OK;
}

static const cip_framing lz4f_framing = {
    .name = "lz4f",
    .piece = LZ4_PIECE,
    .empty_piece = true,
    .bound = frame_bound,
    .encode = frame_encode,
};

typedef struct row {
    const char *name, *codec;
    char code[5];
    const cip_framing *framing; /* of this folder */
} row;

static const row rows[] = {
    { "zlib", "zlib", "zlib", NULL },  { "bzip2", "bzip2", "bzp2", NULL },
    { "bzp2", "bzip2", "bzp2", NULL }, { "lz4", "lz4", "lz4", &lz4_framing },
    { "zstd", "zstd", "zstd", NULL },  { "lz4f", "lz4f", "lz4f", &lz4f_framing },
    { "blsc", "blsc", "blsc", NULL },  { "bls2", "bls2", "bls2", NULL },
};

static const row *find_row(const char *codec, const char **within)
{
    const size_t n = strcspn(codec, ":");
    *within = codec[n] == ':' ? codec + n + 1 : "";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strlen(rows[i].name) == n && memcmp(rows[i].name, codec, n) == 0)
            return &rows[i];
    return NULL;
}

cip_status cip_asdf_packing(const char *codec, int level, asdf_packing *out, cip_err *err)
{
    asdf_packing p = { .name = "none", .level = level };
    if (codec == NULL || strcmp(codec, "none") == 0) {
        *out = p;
        return CIP_OK;
    }
    const char *within;
    const row *r = find_row(codec, &within);
    if (r != NULL && within[0] != '\0' && strncmp(r->code, "bls", 3) != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %s:LEVEL, found '%.40s'",
                        r->name, codec);
    if (r == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected one of the codecs none, zlib, bzp2, lz4, lz4f, zstd, blsc, bls2 "
                        "for ASDF, found '%.40s'",
                        codec);
    p.name = r->codec;
    memcpy(p.code, r->code, sizeof p.code);
    if (cip_asdf_is_blosc(&p)) {
        CIP_TRY(cip_asdf_blosc_packing(within, &p, err));
        *out = p;
        return CIP_OK;
    }
    p.framing = r->framing != NULL ? r->framing : cip_framing_find(p.name);
    if (p.framing == NULL || !cip_codec_available(cip_codec_find(p.name)))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the codec %s was left out of this build", p.name);
    const cip_codec *c = cip_codec_find(p.name);
    if (c->level != NULL)
        CIP_TRY(c->level(level, err));
    *out = p;
    return CIP_OK;
}

cip_status cip_asdf_packing_of(const cip_spec *spec, asdf_packing *out, cip_err *err)
{
    CIP_TRY(cip_asdf_packing(spec->codec, spec->level, out, err));
    return cip_asdf_packing_filter(cip_option_given(spec->option, ASDF_OPTION_FILTER), out, err);
}

cip_status cip_asdf_sum(const char *text, asdf_sum *out, cip_err *err)
{
    if (text == NULL || strcmp(text, "md5") == 0)
        *out = ASDF_SUM_STORED;
    else if (strcmp(text, "legacy") == 0)
        *out = ASDF_SUM_DECODED;
    else if (strcmp(text, "none") == 0)
        *out = ASDF_SUM_NONE;
    else
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected the checksum md5, legacy or none, found '%.40s'", text);
    return CIP_OK;
}

cip_status cip_asdf_sum_of(const asdf_standard *s, const char *text, asdf_sum *out, cip_err *err)
{
    CIP_TRY(cip_asdf_sum(text, out, err));
    if (!s->early)
        return CIP_OK;
    if (text != NULL && *out != ASDF_SUM_NONE)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected the checksum none for ASDF 0.1.0, which has no other, found "
                        "'%.40s'",
                        text);
    *out = ASDF_SUM_NONE;
    return CIP_OK;
}
