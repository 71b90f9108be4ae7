/* SPDX-License-Identifier: BSD-3-Clause
 * Encodings that the application brings along (cippus/ext/codec.h), as codecs. */
#ifndef CIP_CODEC_CODEC_APP_H
#define CIP_CODEC_CODEC_APP_H

#include "base/env.h"
#include "codec/codec.h"

/* The args of cip_codec_app. */
typedef struct cip_app_codec {
    const cip_codec_methods *methods;
    const char *args; /* as text */
} cip_app_codec;

/* Decodes with the application's function (args: cip_app_codec); its failures come back as they
 * are, a length that is not the expected one as CORRUPT. */
extern const cip_codec cip_codec_app;

/* The application's encoding of that name or code, or NULL. */
const cip_codec_methods *cip_app_codec_named(const cip_env *env, const char *name);
const cip_codec_methods *cip_app_codec_coded(const cip_env *env, const uint8_t code[4]);
/* How many bytes a payload decodes to; UNSUPPORTED when the application cannot tell. */
cip_status cip_app_codec_len(const cip_app_codec *c, cip_bytes src, uint64_t *len, cip_err *err);
/* Whether it can be written. */
bool cip_app_codec_encodes(const cip_app_codec *c);
/* Encodes all of src: *n bytes at *dst, which is put back to `mem` by the caller. CORRUPT when the
 * application claims more than the room that it asked for. */
cip_status cip_app_codec_encode(const cip_app_codec *c, cip_mem *mem, cip_bytes src, void **dst,
                                size_t *n, cip_err *err);

#endif
