/* SPDX-License-Identifier: BSD-3-Clause
 * The compression codes of blocks, one row for each: whoever reads, writes, updates or announces a
 * codec asks here, so that a new one is a row and what it brings along. Rows are in the order in
 * which messages list them. */
#include "format/asdf/asdf.h"

#include <string.h>

#define EXTENSION(name, class)                                                                     \
    .extension_class = "asdf_compression." name ".extensions." class,                              \
    .extension_uri = "asdf://asdf-format.org/compression/extensions/" name "-1.0.0"

const asdf_codec cip_asdf_codecs[] = {
    { .name = "zlib", .code = "zlib", .codec = "zlib" },
    { .name = "bzp2", .alias = "bzip2", .code = "bzp2", .codec = "bzip2" },
    { .name = "lz4",
      .code = "lz4", /* and its NUL */
      .codec = "lz4",
      .space = cip_asdf_lz4_space,
      .framing = &cip_asdf_framing_lz4,
      .grows = true },
    { .name = "lz4f",
      .code = "lz4f",
      .codec = "lz4f",
      .space = cip_asdf_frames_space,
      .scan = cip_lz4f_scan,
      .framing = &cip_asdf_framing_lz4f,
      EXTENSION("lz4f", "LZ4FrameExtension") },
    { .name = "zstd",
      .code = "zstd",
      .codec = "zstd",
      .space = cip_asdf_frames_space,
      .scan = cip_zstd_scan,
      EXTENSION("zstd", "ZstdExtension") },
    { .name = "blsc",
      .code = "blsc",
      .codec = "blosc",
      .space = cip_asdf_blsc_space,
      .blosc = 1,
      EXTENSION("blsc", "BloscExtension") },
    { .name = "bls2", .code = "bls2", .codec = "blosc", .space = cip_asdf_bls2_space, .blosc = 2 },
    { .name = NULL },
};

const asdf_codec *cip_asdf_codec_of(const uint8_t code[4])
{
    for (const asdf_codec *c = cip_asdf_codecs; c->name != NULL; c++)
        if (memcmp(c->code, code, sizeof c->code) == 0)
            return c;
    return NULL;
}
