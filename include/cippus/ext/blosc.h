/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks of Blosc1 and Blosc2 from buffer to buffer, without a file around them. */
#ifndef CIPPUS_EXT_BLOSC_H
#define CIPPUS_EXT_BLOSC_H

#include <stdbool.h>

#include "cippus/error.h"
#include "cippus/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** When a block is stored as one stream for each byte of an element. */
typedef enum cip_blosc_streams {
    CIP_BLOSC_AUTO = 0, /* where it pays: blosclz, lz4 and quick zstd after a shuffle */
    CIP_BLOSC_ALWAYS,   /* wherever the format can */
    CIP_BLOSC_NEVER
} cip_blosc_streams;

/** How chunks are made. Zero fields mean the default. */
typedef struct cip_blosc_params {
    size_t size; /* sizeof(cip_blosc_params) */
    /* "blosclz" (the default), "lz4", "lz4hc", "zlib", "zstd". For arrays, with `block`, also
     * "ndlz:4" and "ndlz:8" (lossless, side of a cell). For floats of 4 or 8 bytes, with a loss:
     * "zfp:acc=-3" (of at most 10^-3), "zfp:prec=16", "zfp:rate=25" (per cent of the bytes). */
    const char *codec;
    int level;         /* 1 to 9; 0: 5; -1: stored, not compressed */
    uint32_t typesize; /* bytes of an element; 0: 1 */
    /* Filters of a block, in order: "shuffle" (the default; zfp: none), "bitshuffle",
     * "delta+shuffle", "trunc_prec:10+shuffle", "none"; with commas, "shuffle,delta", in a useful
     * order. A number is the filter's own: bits kept by trunc_prec and int_trunc (negative:
     * zeroed), width of shuffle and bytedelta, side of the cells of ndcell and ndmean. */
    const char *filter;
    uint32_t blocksize; /* bytes that are decoded together; 0: chosen by codec, level, typesize */
    cip_blosc_streams split;
    bool dict;   /* a dictionary in each chunk, trained on it (zstd, lz4, lz4hc) */
    bool blosc1; /* chunks that Blosc 1.x reads: no dictionary, "shuffle" or "bitshuffle" at most */
    const cip_allocator *allocator; /* NULL: the C library's */
    uint64_t max_memory;            /* bytes held by the context; 0: 2 GiB */
    /* The shape of a block, if chunks are parts of an array: ndcell, ndmean, ndlz and zfp need it,
     * both ways. A block is then as large as this shape, and chunks of ndlz and zfp are whole
     * blocks. At most 16 dimensions; 0: unknown. */
    int32_t ndim;
    const int64_t *block; /* copied */
} cip_blosc_params;

#define CIP_BLOSC_PARAMS(...) CIP_OPTIONS(cip_blosc_params, __VA_ARGS__)

/** Parameters, working memory and the codecs' own contexts, kept from one chunk to the next. It
 * belongs to one thread at a time. */
typedef struct cip_blosc cip_blosc;

/** A context; `params` NULL: all defaults. Texts are not kept. NULL on failure: ARG when the
 * parameters do not fit each other, UNSUPPORTED for a codec that this build lacks or cannot write,
 * NOMEM. */
CIP_API cip_blosc *cip_blosc_new(const cip_blosc_params *params, cip_err *err);
/** NULL is fine. */
CIP_API void cip_blosc_free(cip_blosc *b);

/** Bytes that are enough for a chunk of `nbytes` bytes. */
CIP_API size_t cip_blosc_bound(size_t nbytes);
/** Encodes nbytes of `src` (at most 2^31 - 33) as one chunk into `dst`. *n is its length:
 * cip_blosc_bound(nbytes) at most. The same bytes for the same input, parameters and versions of
 * the codecs. `src` is not touched. RANGE when `cap` bytes are too few, ARG, NOMEM, LIMIT. */
CIP_API cip_status cip_blosc_compress(cip_blosc *b, const void *src, size_t nbytes, void *dst,
                                      size_t cap, size_t *n, cip_err *err);
/** Decodes the chunk at the beginning of n bytes to exactly `nbytes` bytes, whatever its parameters
 * (except the shape of blocks, which chunks do not contain). RANGE if it holds another number of
 * bytes; cip_blosc_info gives it. After a failure the contents of `dst` are undefined. CORRUPT,
 * TRUNCATED, UNSUPPORTED (with the name of the codec or filter), NOMEM, LIMIT. */
CIP_API cip_status cip_blosc_decompress(cip_blosc *b, const void *chunk, size_t n, void *dst,
                                        size_t nbytes, cip_err *err);
/** Decodes elements first to first + count - 1, and only the blocks that contain them (and block 0
 * if delta needs it). An element is as long as the chunk says. If it says 1, because more than 255
 * do not fit there, it is as long as the context's. RANGE if there are not that many. */
CIP_API cip_status cip_blosc_items(cip_blosc *b, const void *chunk, size_t n, uint64_t first,
                                   uint64_t count, void *dst, cip_err *err);

/** The contents of a chunk's header. */
typedef struct cip_blosc_chunk_info {
    size_t size;      /* sizeof(cip_blosc_chunk_info), set by the caller */
    uint32_t version; /* 1, 2: Blosc1; 3 to 6: Blosc2 */
    uint32_t typesize;
    uint64_t nbytes;    /* decoded */
    uint64_t cbytes;    /* the chunk itself, its header included */
    uint64_t blocksize; /* 0: blocks of different sizes */
    uint64_t nblock;
    const char *codec;   /* its name, "" for one that has none; static storage */
    int codec_id;        /* as Blosc numbers them; -1: a reserved format */
    const char *special; /* "zeros", "nans", "value", "uninit", or "" */
    char filter[128];    /* as cip_blosc_params has it; filters without a name are numbers */
    bool memcpyed;       /* stored as it is */
    bool split;
    bool dict;
    bool big_endian; /* the writer's byte order, which its elements have */
} cip_blosc_chunk_info;

/** Fills *out, whose size is set, from the header at the beginning of n bytes; the bytes after it
 * are ignored. A codec or filter that this build cannot decode is no failure. TRUNCATED, CORRUPT,
 * UNSUPPORTED (versions and flags of the future). */
CIP_API cip_status cip_blosc_info(const void *chunk, size_t n, cip_blosc_chunk_info *out,
                                  cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
