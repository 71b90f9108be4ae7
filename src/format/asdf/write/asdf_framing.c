/* SPDX-License-Identifier: BSD-3-Clause
 * Codecs as they are asked for, and the framings of LZ4: that of `lz4\0` (section 2.6), pieces of 4
 * MiB, each with its stored length in big-endian and its raw length in little-endian order before
 * it; and one LZ4 frame of independent blocks, since other readers of `lz4f` stop at its end. */
#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/asdf/write/asdf_write.h"

enum { LZ4_PIECE = 4 << 20, LZ4_HEAD = 8 };

static size_t lz4_bound(size_t n)
{
    return LZ4_HEAD + cip_codec_find("lz4")->bound(n);
}

static cip_status lz4_encode(cip_mem *mem, int level, cip_framing_piece *p, cip_err *err)
{
    cip_codec_env env = { .mem = mem };
    if (p->out.cap < LZ4_HEAD)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET, "expected room for an LZ4 block");
    cip_dst block = { p->out.ptr + LZ4_HEAD, p->out.cap - LZ4_HEAD, 0 };
    CIP_TRY(cip_codec_find("lz4")->encode(NULL, &env, level, p->raw, &block, err));
    cip_store_u32(p->out.ptr, (uint32_t)(block.len + 4), true);
    cip_store_u32(p->out.ptr + 4, (uint32_t)p->raw.len, false);
    p->out.len = block.len + LZ4_HEAD;
    return CIP_OK;
}

const cip_framing cip_asdf_framing_lz4 = {
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
static cip_status frame_block(cip_mem *mem, int level, cip_bytes raw, cip_dst *out, cip_err *err)
{
    cip_codec_env env = { .mem = mem };
    cip_dst in = { out->ptr + 4, out->cap - 4, 0 };
    CIP_TRY(cip_codec_find("lz4")->encode(NULL, &env, level, raw, &in, err));
    bool stored = in.len >= raw.len;
    if (stored)
        memcpy(in.ptr, raw.ptr, in.len = raw.len);
    cip_store_u32(out->ptr, (uint32_t)in.len, false);
    out->ptr[3] |= stored ? FRAME_STORED : 0;
    out->len = in.len + 4;
    return CIP_OK;
}

static cip_status frame_encode(cip_mem *mem, int level, cip_framing_piece *p, cip_err *err)
{
    size_t at = p->first ? sizeof frame_head : 0;
    if (p->out.cap < frame_bound(p->raw.len))
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET, "expected room for an LZ4 frame");
    cip_dst block = { p->out.ptr + at, p->out.cap - at - 4, 0 };
    memcpy(p->out.ptr, frame_head, at);
    if (p->raw.len != 0)
        CIP_TRY(frame_block(mem, level, p->raw, &block, err));
    at += block.len;
    if (p->last)
        memset(p->out.ptr + at, 0, 4);
    p->out.len = at + (p->last ? 4 : 0);
    return CIP_OK;
}

const cip_framing cip_asdf_framing_lz4f = {
    .name = "lz4f",
    .piece = LZ4_PIECE,
    .empty_piece = true,
    .bound = frame_bound,
    .encode = frame_encode,
};

static bool is_name(const char *name, const char *text, size_t n)
{
    return name != NULL && strlen(name) == n && memcmp(name, text, n) == 0;
}

static cip_status find_codec(const char *text, size_t n, const asdf_codec **out, cip_err *err)
{
    char names[128];
    size_t len = 0;
    for (const asdf_codec *c = cip_asdf_codecs; c->name != NULL; c++) {
        *out = c;
        if (is_name(c->name, text, n) || is_name(c->alias, text, n))
            return CIP_OK;
        len += (size_t)snprintf(names + len, sizeof names - len, ", %s", c->name);
    }
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected one of the codecs none%s for ASDF, found '%.40s'", names, text);
}

cip_status cip_asdf_packing(const char *codec, int level, asdf_packing *out, cip_err *err)
{
    asdf_packing p = { .level = level };
    if (codec != NULL && strcmp(codec, "none") != 0) {
        const size_t n = strcspn(codec, ":");
        const char *within = codec[n] == ':' ? codec + n + 1 : "";
        CIP_TRY(find_codec(codec, n, &p.codec, err));
        if (within[0] != '\0' && !cip_asdf_is_blosc(&p))
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %.*s:LEVEL, found '%.40s'",
                            (int)n, codec, codec);
        if (cip_asdf_is_blosc(&p)) {
            CIP_TRY(cip_asdf_blosc_packing(within, &p, err));
        } else {
            const cip_codec *c = cip_codec_find(p.codec->codec);
            p.framing = p.codec->framing;
            if (p.framing == NULL)
                p.framing = cip_framing_find(p.codec->codec);
            if (p.framing == NULL || !cip_codec_available(c))
                return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                "this build does not include the codec %s",
                                cip_asdf_packing_name(&p));
            if (c->level != NULL)
                CIP_TRY(c->level(level, err));
        }
    }
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
