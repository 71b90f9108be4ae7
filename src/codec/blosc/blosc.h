/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks of Blosc1 and Blosc2: a header, a table of blocks, and for each block one or more streams,
 * each through a codec, the block through filters. What is shared by decoding and encoding. */
#ifndef CIP_CODEC_BLOSC_BLOSC_H
#define CIP_CODEC_BLOSC_BLOSC_H

#include "codec/codec.h"

enum {
    CIP_BLOSC_MIN_HEADER = 16,
    CIP_BLOSC_HEADER = 32, /* extended */
    CIP_BLOSC_FILTERS = 6,
    CIP_BLOSC1_VERSION = 2, /* of the chunks that c-blosc reads */
    CIP_BLOSC2_VERSION = 5, /* of the chunks that all of c-blosc2 reads */
    CIP_BLOSC_MAX_TYPESIZE = 255,
    CIP_BLOSC_MAX_BLOCKSIZE = 536866816,
    CIP_BLOSC_MAX_NBYTES = INT32_MAX - CIP_BLOSC_HEADER,
    CIP_BLOSC_MAX_DICT = 32768
};

/* Compressors as the API numbers them. */
typedef enum cip_blosc_compcode {
    CIP_BLOSC_BLOSCLZ = 0,
    CIP_BLOSC_LZ4 = 1,
    CIP_BLOSC_LZ4HC = 2,
    CIP_BLOSC_SNAPPY = 3, /* Blosc1 only */
    CIP_BLOSC_ZLIB = 4,
    CIP_BLOSC_ZSTD = 5,
    CIP_BLOSC_NDLZ = 32,
    CIP_BLOSC_ZFP_ACC = 33,
    CIP_BLOSC_ZFP_PREC = 34,
    CIP_BLOSC_ZFP_RATE = 35
} cip_blosc_compcode;

typedef enum cip_blosc_filter_id {
    CIP_BLOSC_NOFILTER = 0,
    CIP_BLOSC_SHUFFLE = 1,
    CIP_BLOSC_BITSHUFFLE = 2,
    CIP_BLOSC_DELTA = 3,
    CIP_BLOSC_TRUNC_PREC = 4,
    CIP_BLOSC_NDCELL = 32,
    CIP_BLOSC_NDMEAN = 33,
    CIP_BLOSC_BYTEDELTA_OLD = 34,
    CIP_BLOSC_BYTEDELTA = 35,
    CIP_BLOSC_INT_TRUNC = 36
} cip_blosc_filter_id;

typedef enum cip_blosc_special {
    CIP_BLOSC_NOT_SPECIAL = 0,
    CIP_BLOSC_ZEROS,
    CIP_BLOSC_NANS,
    CIP_BLOSC_VALUE,
    CIP_BLOSC_UNINIT
} cip_blosc_special;

/* A chunk's header, every field checked by itself and against the others. */
typedef struct cip_blosc_head {
    uint8_t version, versionlz, flags;
    uint32_t typesize;  /* 1 to 255 */
    uint32_t nbytes;    /* decoded */
    uint32_t blocksize; /* as used: clipped to nbytes; VL: 0 */
    uint32_t cbytes;    /* stored, header included */
    uint32_t header;    /* its own length: 16 or 32 */
    uint32_t nblock;
    bool extended, memcpyed, split, vl, dict, big, instrumented;
    uint8_t special; /* cip_blosc_special */
    int compcode;    /* cip_blosc_compcode or a user's id (160..255); -1: a format with no number */
    uint8_t codec_meta;
    uint8_t filter[CIP_BLOSC_FILTERS], filter_meta[CIP_BLOSC_FILTERS];
} cip_blosc_head;

/* The header from the chunk's first bytes (16 are enough for a chunk without the extended part).
 * TRUNCATED, CORRUPT; UNSUPPORTED (with the value) for a future version, reserved bits or specials.
 * Does not judge whether the codec or the filters are known. */
cip_status cip_blosc_head_parse(cip_bytes in, cip_blosc_head *out, cip_err *err);
/* "lz4", "zfp_acc", ...; NULL for a number that is none. The filters' the same. */
const char *cip_blosc_codec_name(int compcode);
/* "zeros", "nans", "value", "uninit"; "" for a chunk with data (cip_blosc_special). */
const char *cip_blosc_special_name(uint8_t special);
/* What made the chunk's bytes: its codec, "none" where they are stored as they are, the special
 * value's name; "unknown" for a codec without a name. */
const char *cip_blosc_coder_name(const cip_blosc_head *h);
const char *cip_blosc_filter_name(int id);
/* Whether this build decodes it: UNSUPPORTED with the codec's or filter's name and number. */
cip_status cip_blosc_known(const cip_blosc_head *h, cip_err *err);

/* A chunk as a cip_codec, "blosc": decode; needs and decode_spans, so that a part costs its blocks;
 * encode, whose args are a cip_blosc_spec (NULL: ARG), with its level where none (0) is given.
 * Decoding needs no args. env.typesize is the super-chunk's (0: the chunk's), ndim and block are
 * those of a b2nd array for the filters and codecs that need them. */
extern const cip_codec cip_codec_blosc;
/* Which of the libraries that can be left out chunks are decoded with. */
const char *cip_blosc_version(void);

/* How a chunk is encoded. Zero-initialise; typesize is needed. */
typedef struct cip_blosc_spec {
    uint32_t typesize;  /* of the elements; above 255 the chunk says 1 */
    int compcode;       /* cip_blosc_compcode */
    int level;          /* 0 (stored) to 9 */
    uint32_t blocksize; /* 0: chosen from level, codec and typesize */
    int split;          /* cip_blosc_split */
    bool blosc1;        /* a Blosc1 chunk (16-byte header, version 2) */
    bool joined;        /* ... that is to be one with others: only what is like them is taken */
    bool recast;        /* chunks of the other version are taken, too, with another header; and
                           none that both versions have not */
    bool dict;          /* a dictionary of its own (zstd, lz4, lz4hc) */
    bool big;           /* order of the elements, for lossy filters and zfp; Blosc2 chunks say it */
    uint8_t codec_meta;
    uint8_t filter[CIP_BLOSC_FILTERS], filter_meta[CIP_BLOSC_FILTERS];
    int32_t ndim;         /* for ndcell, ndmean, zfp, ndlz; 0: unknown */
    const int64_t *block; /* ndim entries: shape of a block, whose size is then blocksize */
} cip_blosc_spec;

/* Whether other values may come back than were encoded. */
bool cip_blosc_is_lossy(const cip_blosc_spec *p);
bool cip_blosc_filter_is_lossy(uint8_t filter);

typedef enum cip_blosc_split {
    CIP_BLOSC_SPLIT_AUTO = 0,
    CIP_BLOSC_SPLIT_ALWAYS,
    CIP_BLOSC_SPLIT_NEVER
} cip_blosc_split;

/* Stored bytes of a chunk of nbytes, at most. */
static inline size_t cip_blosc_stored_bound(size_t nbytes)
{
    return nbytes + CIP_BLOSC_HEADER;
}
/* Encodes raw bytes to one chunk of at most cip_blosc_stored_bound(raw.len) bytes: always the same
 * bytes for the same input and parameters. What does not become smaller is stored as it is. ARG for
 * parameters that do not fit; RANGE when cap is too little; UNSUPPORTED. mem: working memory. */
cip_status cip_blosc_encode(cip_mem *mem, const cip_blosc_spec *p, cip_bytes raw, uint8_t *dst,
                            size_t cap, size_t *n, cip_err *err);
/* A special chunk: nbytes of zeros, NaNs, a repeated value (of p->typesize bytes) or nothing. */
cip_status cip_blosc_encode_special(const cip_blosc_spec *p, cip_blosc_special special,
                                    const void *value, uint32_t nbytes, uint8_t *dst, size_t cap,
                                    size_t *n, cip_err *err);

/* --- names (blosc_text.c) --------------------------------------------------------------------- */

/* The number of a codec, or of a filter, by its name; -1: there is none. */
int cip_blosc_codec_id(const char *name);
int cip_blosc_filter_id_of(const char *name, size_t len);
/* A codec that can be encoded with, as text: "lz4"; "zfp:acc=-3" (to 10^-3), "zfp:prec=16",
 * "zfp:rate=25" (per cent), "ndlz:4" and "ndlz:8" (side of a cell), whose number is its meta. ARG;
 * UNSUPPORTED for a codec that is read only. */
cip_status cip_blosc_codec_parse(const char *text, int *compcode, uint8_t *meta, cip_err *err);
/* Filters as text in the order they are applied: "delta+shuffle", "trunc_prec:10+bitshuffle", a
 * number where there is no name; "none". A list with commas, "shuffle,delta", is put into the
 * order that serves. They are put into the last slots. ARG. */
cip_status cip_blosc_filters_parse(const char *text, uint8_t filter[CIP_BLOSC_FILTERS],
                                   uint8_t meta[CIP_BLOSC_FILTERS], cip_err *err);
enum { CIP_BLOSC_FILTERS_TEXT = 128 };
void cip_blosc_filters_print(const uint8_t filter[CIP_BLOSC_FILTERS],
                             const uint8_t meta[CIP_BLOSC_FILTERS],
                             char text[CIP_BLOSC_FILTERS_TEXT]);

/* --- BloscLZ (blosclz.c) ---------------------------------------------------------------------- */

/* Decodes one stream to at most cap bytes; *n: how many. CORRUPT; never reads or writes beyond. */
cip_status cip_blosclz_decode(cip_bytes src, uint8_t *dst, size_t cap, size_t *n, cip_err *err);
/* Encodes; *n 0: it does not fit in cap bytes. `table` holds CIP_BLOSCLZ_TABLE entries. */
enum { CIP_BLOSCLZ_TABLE = 1 << 14 };
void cip_blosclz_encode(int level, cip_bytes src, uint32_t *table, uint8_t *dst, size_t cap,
                        size_t *n);

/* --- filters (filter/blosc_filters.c): one block ---------------------------------------------- */

/* What a filter knows of the block it works on. */
typedef struct cip_filter_env {
    uint32_t typesize;       /* of the chunk */
    uint64_t super_typesize; /* of the super-chunk; 0: the chunk's */
    uint8_t version;         /* of the chunk */
    uint8_t meta;
    bool big;             /* order of the elements, for filters that lose bits */
    uint64_t block;       /* its number */
    const uint8_t *first; /* decoded block 0, for delta; NULL in block 0 itself */
    int32_t ndim;
    const int64_t *shape; /* of a block, ndim entries */
} cip_filter_env;

/* dst and src hold n bytes each and do not overlap. CORRUPT, UNSUPPORTED. */
cip_status cip_filter_undo(int id, const cip_filter_env *env, const uint8_t *src, uint8_t *dst,
                           size_t n, cip_err *err);
cip_status cip_filter_apply(int id, const cip_filter_env *env, const uint8_t *src, uint8_t *dst,
                            size_t n, cip_err *err);

#endif
