/* SPDX-License-Identifier: BSD-3-Clause
 * What the codec files share: their objects, decoding a whole chunk through a stream, and memory
 * for libraries that take an allocator. */
#ifndef CIP_CODEC_ENTROPY_ENTROPY_H
#define CIP_CODEC_ENTROPY_ENTROPY_H

#include "base/num.h"
#include "codec/codec.h"
#include "codec/framing.h"
#include "codec/with.h"

extern const cip_codec cip_codec_zlib, cip_codec_bzip2, cip_codec_lz4, cip_codec_lz4f,
    cip_codec_zstd;
/* "gzip", levels 1 to 12, 6: members of RFC 1952, one behind the other. It has no row in the table
 * of codecs, as the formats that name their codecs by it have no gzip. */
extern const cip_codec cip_codec_gzip;
extern const cip_framing cip_framing_zlib, cip_framing_deflate, cip_framing_bzip2, cip_framing_zstd;
/* The version text of the library under a codec; static storage. */
const char *cip_zlib_version(void);
const char *cip_bzip2_version(void);
const char *cip_lz4_version(void);
const char *cip_zstd_version(void);

/* One of libzstd's decoders, a ZSTD_DCtx, for one thread: of env's spare ones, or a new one. */
cip_status cip_zstd_decoder(const cip_codec_env *env, void **out, cip_err *err);
void cip_zstd_decoder_end(const cip_codec_env *env, void *ctx); /* NULL is fine */

/* The functions of a codec that was left out: all fail with UNSUPPORTED, bound gives 0. */
cip_status cip_absent_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                             uint8_t *dst, size_t dst_len, cip_err *err);
cip_status cip_absent_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                             cip_dst *out, cip_err *err);
size_t cip_absent_bound(size_t n);
extern const cip_stream_codec cip_absent_stream;

/* As cip_codec.decode, by way of the stream: to exactly dst_len bytes. */
cip_status cip_decode_whole(const cip_stream_codec *stream, const cip_codec_env *env, cip_bytes src,
                            uint8_t *dst, size_t dst_len, cip_err *err);
/* The two ways a chunk can hold another number of bytes than it should; both CORRUPT. */
cip_status cip_fail_short(cip_err *err, uint64_t expected, uint64_t found);
cip_status cip_fail_long(cip_err *err, uint64_t expected);

/* Ends cip_stream_codec.step: TRUNCATED where there was no progress and nothing more comes. */
cip_status cip_step_end(const cip_flow *f, cip_err *err);

/* Between frames that stand one behind the other: what begins like none is no part of the data, as
 * readers of ASDF's other codecs have it. */
typedef struct cip_frame_gate {
    bool any; /* a frame came before */
    uint8_t n;
    uint8_t head[4]; /* the next one's first bytes, n of them so far */
} cip_frame_gate;

/* Takes the next frame's magic from the input, *took bytes of it; true when it is all there, a
 * frame's or a skippable one's: `head` is to be decoded first then. */
bool cip_gate_pass(cip_frame_gate *g, uint32_t magic, const uint8_t *in, size_t n, size_t *took);
/* Where it is not: whether the data have ended. */
bool cip_gate_ends(const cip_frame_gate *g, bool last);

/* As much as a library that counts in 32 bits takes at once. */
static inline unsigned cip_piece32(size_t n)
{
    return (unsigned)cip_min_u64(n, UINT32_MAX);
}

/* Counted memory for a library that reports a failing allocator only as "no memory": the reason is
 * kept here. */
typedef struct cip_lib_mem {
    cip_mem *mem;
    cip_status why; /* of the latest allocation */
    cip_err err;
} cip_lib_mem;

/* items * each bytes, uninitialised, or NULL. */
void *cip_lib_get(cip_lib_mem *m, size_t items, size_t each);
/* The library says it has no memory: hands on the reason. */
cip_status cip_lib_fail(const cip_lib_mem *m, cip_err *err);

/* Checks the arguments that every encoder has: `level` in [min, max], else ARG. */
cip_status cip_check_level(int level, int min, int max, cip_err *err);
/* `cap` bytes are too few; RANGE. */
cip_status cip_fail_room(cip_err *err, size_t cap);

#endif
