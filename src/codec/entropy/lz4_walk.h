/* SPDX-License-Identifier: BSD-3-Clause
 * A raw LZ4 block without decoding it. */
#ifndef CIP_CODEC_ENTROPY_LZ4_WALK_H
#define CIP_CODEC_ENTROPY_LZ4_WALK_H

#include "base/cursor.h"
#include "base/err.h"

/* *len is what the block decodes to. TRUNCATED when it ends within a sequence; CORRUPT when a match
 * lies outside what is decoded by then, or there are more than max bytes. */
cip_status cip_lz4_walk(cip_bytes src, uint64_t max, uint64_t *len, cip_err *err);

#endif
