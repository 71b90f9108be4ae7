/* SPDX-License-Identifier: BSD-3-Clause
 * The table of framings. Codecs of frames need nothing but a frame for each piece. */
#include "codec/framing.h"

#include <string.h>

#include "codec/entropy/entropy.h"

/* A way for each codec whose pieces simply follow each other. */
#define FRAMES(id)                                                                                 \
    static size_t id##_frame_bound(size_t n)                                                       \
    {                                                                                              \
        return cip_codec_find(#id)->bound(n);                                                      \
    }                                                                                              \
    static cip_status id##_frame(cip_mem *mem, int level, cip_framing_piece *p, cip_err *err)      \
    {                                                                                              \
        cip_codec_env env = { .mem = mem };                                                        \
        return cip_codec_find(#id)->encode(NULL, &env, level, p->raw, &p->out, err);               \
    }                                                                                              \
    static const cip_framing id##_frames = { .name = #id,                                          \
                                             .piece = 1 << 22,                                     \
                                             .empty_piece = true,                                  \
                                             .bound = id##_frame_bound,                            \
                                             .encode = id##_frame }

FRAMES(lz4f);
#if !CIP_WITH_ZSTD
FRAMES(zstd);
#define cip_framing_zstd zstd_frames
#endif
#if !CIP_WITH_ZLIB
FRAMES(zlib); /* answers UNSUPPORTED */
#define cip_framing_zlib zlib_frames
#endif
#if !CIP_WITH_BZIP2
FRAMES(bzip2);
#define cip_framing_bzip2 bzip2_frames
#endif

const cip_framing *cip_framing_find(const char *codec)
{
    static const cip_framing *const all[] = {
        &cip_framing_zlib,
#if CIP_WITH_ZLIB
        &cip_framing_deflate,
#endif
        &cip_framing_bzip2,
        &lz4f_frames,
        &cip_framing_zstd,
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i]->name, codec) == 0)
            return all[i];
    return NULL;
}
