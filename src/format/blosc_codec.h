/* SPDX-License-Identifier: BSD-3-Clause
 * The codec of Blosc chunks as it is asked for, for all formats that hold such. */
#ifndef CIP_FORMAT_BLOSC_CODEC_H
#define CIP_FORMAT_BLOSC_CODEC_H

#include "codec/blosc/blosc.h"
#include "format/format.h"

/* The array's own wish (a may be NULL), else that of all; what is not asked for stays. UNSUPPORTED
 * for a codec that chunks cannot be encoded with. */
static inline cip_status cip_blosc_take_codec(const cip_spec *spec, const cip_spec_array *a,
                                              cip_blosc_spec *b, cip_err *err)
{
    const bool own = a != NULL && a->codec != NULL;
    const char *codec = own ? a->codec : spec->codec;
    const int level = own ? a->level : spec->level;
    b->level = level != 0 ? level : b->level;
    if (codec == NULL)
        return CIP_OK;
    if (strcmp(codec, "none") == 0) {
        b->level = 0;
        return CIP_OK;
    }
    b->compcode = cip_blosc_codec_id(codec);
    if (b->compcode < 0 || b->compcode > CIP_BLOSC_ZSTD || b->compcode == CIP_BLOSC_SNAPPY)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected the codec blosclz, lz4, lz4hc, zlib, zstd or none, found %.60s",
                        codec);
    return CIP_OK;
}

#endif
