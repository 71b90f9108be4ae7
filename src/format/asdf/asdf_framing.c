/* SPDX-License-Identifier: BSD-3-Clause
 * Codecs by name and code, and the framing of the code `lz4\0` (section 2.6): pieces of 4 MiB, each
 * with its stored length in big-endian and its raw length in little-endian order before it. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/asdf/asdf_write.h"

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

typedef struct row {
    const char *name, *framing;
    char code[5];
} row;

static const row rows[] = {
    { "zlib", "zlib", "zlib" },   { "bzip2", "bzip2", "bzp2" }, { "bzp2", "bzip2", "bzp2" },
    { "lz4", NULL, { "lz4\0" } }, { "lz4f", "lz4f", "lz4f" },   { "zstd", "zstd", "zstd" },
};

cip_status cip_asdf_packing(const char *codec, int level, asdf_packing *out, cip_err *err)
{
    asdf_packing p = { .name = "none", .level = level };
    if (codec == NULL || strcmp(codec, "none") == 0) {
        *out = p;
        return CIP_OK;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, codec) != 0)
            continue;
        p.name = rows[i].framing != NULL ? rows[i].framing : "lz4";
        p.framing = rows[i].framing != NULL ? cip_framing_find(rows[i].framing) : &lz4_framing;
        memcpy(p.code, rows[i].code, sizeof p.code);
        if (p.framing == NULL || !cip_codec_available(cip_codec_find(p.name)))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the codec %s was left out of this build", p.name);
        *out = p;
        return CIP_OK;
    }
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected one of the codecs none, zlib, bzp2, lz4, lz4f, zstd for ASDF, found "
                    "'%.40s'",
                    codec);
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
