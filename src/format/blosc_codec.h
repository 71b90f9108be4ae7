/* SPDX-License-Identifier: BSD-3-Clause
 * The codec of Blosc chunks as it is asked for, for all formats that hold such. */
#ifndef CIP_FORMAT_BLOSC_CODEC_H
#define CIP_FORMAT_BLOSC_CODEC_H

#include <stdio.h>
#include <string.h>

#include "codec/blosc/blosc.h"
#include "format/format.h"

/* The array's own wish (a may be NULL), else that of all; what is not asked for stays. A number
 * behind ndlz is the side of its cells. ARG; UNSUPPORTED for a codec that chunks cannot be encoded
 * with. */
static inline cip_status cip_blosc_take_codec(const cip_spec *spec, const cip_spec_array *a,
                                              cip_blosc_spec *b, cip_err *err)
{
    const bool own = a != NULL && a->codec != NULL;
    const char *codec = own ? a->codec : spec->codec;
    const int level = own ? a->level : spec->level;
    const bool ndlz = codec != NULL && strcmp(codec, "ndlz") == 0 && level != 0;
    char text[64];
    b->level = level != 0 && !ndlz ? level : b->level;
    if (b->level < 0 || b->level > 9)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a level from 0 to 9, found %d",
                        b->level);
    if (codec == NULL)
        return CIP_OK;
    if (strcmp(codec, "none") == 0) {
        b->level = 0;
        return CIP_OK;
    }
    if (ndlz)
        snprintf(text, sizeof text, "ndlz:%d", level);
    else
        snprintf(text, sizeof text, "%.60s", codec);
    const cip_status st = cip_blosc_codec_parse(text, &b->compcode, &b->codec_meta, err);
    if ((st != CIP_OK && strchr(text, ':') == NULL) || (b->blosc1 && b->compcode > CIP_BLOSC_ZSTD))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected the codec blosclz, lz4, lz4hc, zlib, zstd%s or none, found %.60s",
                        b->blosc1 ? "" : ", ndlz:4, ndlz:8, zfp:acc=N, zfp:prec=N, zfp:rate=N",
                        text);
    return st;
}

#endif
