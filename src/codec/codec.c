/* SPDX-License-Identifier: BSD-3-Clause
 * The table of codecs: a row for each, there or left out. */
#include "codec/codec.h"

#include <string.h>

#include "codec/blosc/blosc.h"
#include "codec/entropy/entropy.h"
#include "codec/with.h"

typedef struct row {
    const cip_codec *codec;
    const char *(*version)(void); /* NULL: left out */
} row;

#define ABSENT_CODEC(id)                                                                           \
    {                                                                                              \
        .name = (id), .decode = cip_absent_decode, .stream = &cip_absent_stream,                   \
        .bound = cip_absent_bound, .encode = cip_absent_encode                                     \
    }
#define ABSENT(id)                                                                                 \
    {                                                                                              \
        &(const cip_codec)ABSENT_CODEC(id), NULL                                                   \
    }

#if !CIP_WITH_ZLIB
const cip_codec cip_codec_deflate = ABSENT_CODEC("deflate");
#endif

static const row rows[] = {
#if CIP_WITH_ZLIB
    { &cip_codec_zlib, cip_zlib_version },
#else
    ABSENT("zlib"),
#endif
#if CIP_WITH_BZIP2
    { &cip_codec_bzip2, cip_bzip2_version },
#else
    ABSENT("bzip2"),
#endif
#if CIP_WITH_LZ4
    { &cip_codec_lz4, cip_lz4_version },     { &cip_codec_lz4f, cip_lz4_version },
#else
    ABSENT("lz4"),
    ABSENT("lz4f"),
#endif
#if CIP_WITH_ZSTD
    { &cip_codec_zstd, cip_zstd_version },
#else
    ABSENT("zstd"),
#endif
    { &cip_codec_blosc, cip_blosc_version },
};

enum { NROW = sizeof rows / sizeof rows[0] };

bool cip_stored_find(const cip_stored *s, cip_need need, const uint8_t **out)
{
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t skip = need.off - s->at[i].off;
        if (need.off >= s->at[i].off && skip <= s->at[i].len && need.len <= s->at[i].len - skip) {
            *out = s->ptr[i] + skip;
            return true;
        }
    }
    return false;
}

cip_status cip_wants_check(const cip_wants *w, cip_err *err)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i].off > w->raw_len || w->at[i].len > w->raw_len - w->at[i].off)
            return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected a piece within %" PRIu64 " bytes, found %zu at %" PRIu64,
                            w->raw_len, w->at[i].len, w->at[i].off);
    return CIP_OK;
}

const cip_codec *cip_codec_find(const char *name)
{
    for (size_t i = 0; i < NROW; i++)
        if (strcmp(rows[i].codec->name, name) == 0)
            return rows[i].codec;
    return NULL;
}

bool cip_codec_available(const cip_codec *c)
{
    return c->decode != cip_absent_decode;
}

const cip_codec *cip_codec_row(size_t i, const char **library_version)
{
    if (i >= NROW)
        return NULL;
    *library_version = rows[i].version != NULL ? rows[i].version() : "";
    return rows[i].codec;
}
