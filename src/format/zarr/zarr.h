/* SPDX-License-Identifier: BSD-3-Clause
 * Zarr, versions 2 and 3: a tree of groups and arrays, each a folder with its metadata as JSON and
 * its chunks as members of known names. README.md has the tables. */
#ifndef CIP_FORMAT_ZARR_H
#define CIP_FORMAT_ZARR_H

#include <stdio.h>

#include "codec/blosc/blosc.h"
#include "format/format.h"

enum {
    CIP_ZARR_JSON_MAX = 64 << 20,
    CIP_ZARR_MAX_DEPTH = 32,      /* of groups in groups */
    CIP_ZARR_MAX_NODES = 1 << 16, /* groups and arrays */
    CIP_ZARR_MAX_CODECS = 16,     /* of a chunk, one after the other */
    CIP_ZARR_MAX_LEVELS = 4,      /* the store's keys, and shards within each other */
    CIP_ZARR_ENTRY = 16,          /* of a shard's index: offset and length */
    CIP_ZARR_SUM = 4              /* a CRC-32C behind what it is of */
};

/* --- zarr_pipe.c: what is undone of a chunk -------------------------------------------------- */

typedef enum cip_zarr_kind {
    CIP_ZARR_ENTROPY = 1, /* `codec` alone: zlib, gzip, bzip2, zstd, blosc */
    CIP_ZARR_LZ4,         /* numcodecs': the decoded length as 4 bytes, one raw block */
    CIP_ZARR_CRC32C,      /* 4 bytes behind the data */
    CIP_ZARR_CRC32,       /* numcodecs': 4 bytes in front of the data */
    CIP_ZARR_ADLER32,     /* the same */
    CIP_ZARR_SHUFFLE,     /* bytes of elements of `width` */
    CIP_ZARR_DELTA,       /* differences of the elements that `number` says */
    CIP_ZARR_PACKBITS     /* a number of bits that are no data, 8 elements a byte */
} cip_zarr_kind;

typedef struct cip_zarr_step {
    cip_zarr_kind kind;
    const cip_codec *codec;
    const cip_node *conf; /* as the metadata have it, or NULL */
    /* To encode: */
    int level;
    const cip_blosc_spec *blosc;
    size_t width;    /* bytes of an element; SHUFFLE, DELTA */
    cip_kind number; /* DELTA */
    bool big;
} cip_zarr_step;

/* Steps in the order of decoding. */
typedef struct cip_zarr_pipe {
    size_t n;
    cip_zarr_step step[CIP_ZARR_MAX_CODECS];
} cip_zarr_pipe;

/* A chunk through all steps; its arguments are a cip_zarr_pipe. */
extern const cip_codec cip_zarr_codec;
/* A shard's index, checked and as little-endian numbers; its arguments are a cip_zarr_level. */
extern const cip_codec cip_zarr_index_codec;
/* Compares the checksums that are around a stored chunk, if there are any. */
cip_status cip_zarr_check_sum(const cip_zarr_pipe *p, cip_mem *mem, cip_bytes stored, cip_err *err);
static inline bool cip_zarr_is_summed(const cip_zarr_pipe *p)
{
    return p->n != 0 && p->step[0].kind >= CIP_ZARR_CRC32C && p->step[0].kind <= CIP_ZARR_ADLER32;
}
/* CRC-32C (Castagnoli) of more bytes behind those that `crc` is of; 0 of none. */
uint32_t cip_zarr_crc32c(uint32_t crc, const void *p, size_t n);

/* --- zarr_meta.c: an array's metadata -------------------------------------------------------- */

/* Chunks of one size. All lengths are of the axes as elements are stored in the innermost chunks;
 * `axis` says which of them each axis is in the order of this level's chunk numbers. */
typedef struct cip_zarr_level {
    int64_t chunk[CIP_MAX_NDIM];
    uint64_t nchunk[CIP_MAX_NDIM]; /* of the whole array along each axis */
    uint64_t all;                  /* their product */
    int32_t axis[CIP_MAX_NDIM];
    /* Of chunks within a shard: */
    uint64_t ratio[CIP_MAX_NDIM]; /* chunks of a shard along each axis */
    uint64_t count;               /* their product */
    bool index_first, index_big, index_sum;
    cip_space *index; /* the indices of all shards one behind the other, of `count` entries each */
} cip_zarr_level;

typedef struct cip_zarr cip_zarr;

/* The numbers in the names of one folder of an array, which it was asked for last: they are listed
 * once a chunk is missing there. */
typedef struct cip_zarr_listing {
    char *dir; /* below the array's; NULL: none is listed */
    cip_buf numbers;
} cip_zarr_listing;

/* An array of the store. Thread-safe once opened. */
typedef struct cip_zarr_array {
    cip_zarr *zarr;
    const char *dir;      /* "" or with a slash at the end */
    const cip_node *meta; /* zarr.json or .zarray */
    cip_array *array;
    const cip_dtype *dtype;
    const uint8_t *fill; /* an element; NULL: zeros */
    bool unfilled;       /* nobody can tell what was never written: reading it fails */
    int32_t ndim;
    int64_t shape[CIP_MAX_NDIM]; /* as users see it */
    bool prefix;                 /* keys begin with "c" */
    char separator;
    size_t nlevel;
    cip_zarr_level level[CIP_ZARR_MAX_LEVELS];
    cip_zarr_pipe pipe;         /* of the innermost chunks */
    const char *codec;          /* in words */
    uint64_t member;            /* number of the file of chunk 0 among all */
    uint64_t gap_from, gap_end; /* the missing chunks that were found last; guarded by the lock */
    cip_zarr_listing *listing;  /* of folders with chunks, one for each axis; guarded by the lock */
    pthread_mutex_t lock;       /* a leaf but for the layout's */
} cip_zarr_array;

/* What the metadata say, but for the attributes. CORRUPT, UNSUPPORTED, LIMIT. */
cip_status cip_zarr_meta_read(cip_layout *l, cip_zarr_array *a, int version, cip_err *err);
/* "the text" of a node for messages. */
const char *cip_zarr_text(const cip_node *n);

/* zarr_dtype.c: data_type of version 3 or dtype of version 2; `big`: byte order of version 3. */
cip_status cip_zarr_dtype(cip_layout *l, const cip_node *n, int version, bool big,
                          const cip_dtype **out, cip_err *err);
/* The element that stands for what was never written; *out NULL: zeros. */
cip_status cip_zarr_fill(cip_layout *l, const cip_node *n, const cip_dtype *d, const uint8_t **out,
                         cip_err *err);

/* zarr_codecs.c: steps, levels and axes. */
cip_status cip_zarr_codecs_3(cip_layout *l, cip_zarr_array *a, const cip_node *codecs,
                             cip_err *err);
cip_status cip_zarr_codecs_2(cip_layout *l, cip_zarr_array *a, cip_err *err);
/* The byte order that version 3's codecs say, before the dtype is known; *said: whether they do. */
cip_status cip_zarr_order_3(const cip_node *codecs, bool *big, bool *said, cip_err *err);

/* --- zarr_chunks.c: chunks as tables --------------------------------------------------------- */

/* Whether a file of a chunk or shard may have `len` bytes: UNSUPPORTED for what would not be read.
 */
static inline cip_status cip_zarr_check_len(uint64_t len, cip_err *err)
{
    return len >> CIP_IO_NUMBER_SHIFT == 0
               ? CIP_OK
               : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                          "expected a file below 4 GiB, found %" PRIu64 " bytes", len);
}
/* Makes the array's space. */
cip_status cip_zarr_array_open(cip_zarr_array *a, cip_err *err);
/* Where chunk i of a level is along each stored axis, and back. */
void cip_zarr_place(const cip_zarr_array *a, const cip_zarr_level *v, uint64_t i,
                    uint64_t at[CIP_MAX_NDIM]);
uint64_t cip_zarr_number_at(const cip_zarr_array *a, const cip_zarr_level *v,
                            const uint64_t at[CIP_MAX_NDIM]);
/* Chunk i of a level: where it lies, or VALUE or ZERO in runs. */
cip_status cip_zarr_find(cip_zarr_array *a, size_t level, uint64_t i, cip_chunk *out, cip_err *err);
/* The key of chunk i of the first level, without the array's folder. */
void cip_zarr_key(const cip_zarr_array *a, uint64_t i, char *key, size_t cap);
/* The number of the chunk that a key stands for; false for other names. */
bool cip_zarr_number(const cip_zarr_array *a, const char *key, uint64_t *i);

/* --- zarr.c: the store ----------------------------------------------------------------------- */

/* A group or an array, as its metadata were found. */
typedef struct cip_zarr_node {
    const char *path;                      /* "" or without a slash at the end */
    const cip_node *group, *array, *attrs; /* of the first two one */
} cip_zarr_node;

/* Names of axes: dimension_names, or what xarray writes into version 2. NULL: none. */
const cip_node *cip_zarr_dims_of(const cip_zarr_node *e);

struct cip_zarr {
    cip_layout *layout;
    int version; /* 2 or 3 */
    bool consolidated;
    cip_io *root;     /* the folder: the file, or */
    cip_io *zip;      /* what the archive holds; NULL: it is none */
    cip_io *numbered; /* all chunks as one */
    cip_space *files; /* the same as a space */
    cip_zarr_array **array;
    size_t narray, array_cap;
    cip_zarr_node *node; /* groups before what is in them */
    size_t nnode;
    uint64_t nmember;
};

static inline uint32_t cip_zarr_flags(const cip_layout *l)
{
    return (l->flags & CIP_OPEN_EXTERNAL) != 0 ? CIP_IO_EXTERNAL : 0;
}

static inline cip_io *cip_zarr_root(const cip_layout *l)
{
    return ((const cip_zarr *)l->own)->root;
}

/* The members that a group or array has one of; NULL last. */
extern const char *const cip_zarr_names[];
/* How sure it is that a file (no folder) is an archive with a store in it, as of a format's probe.
 */
int cip_zarr_probe_zip(cip_io *io, cip_bytes head);
/* Sets zip and root. FORMAT for what is no archive. */
cip_status cip_zarr_open_zip(cip_zarr *z, cip_err *err);
/* The CRC-32 of every member. */
cip_status cip_zarr_verify_zip(const cip_zarr *z, cip_report *report, cip_err *err);

/* The JSON value of a member, in the arena; NOT_FOUND. */
cip_status cip_zarr_json(cip_layout *l, const char *path, const cip_node **out, cip_err *err);
cip_status cip_zarr_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err);

/* zarr_write.c */
extern const cip_array_store cip_zarr_store;
extern const cip_format_option cip_zarr_options[];
extern const cip_format_kind cip_zarr_kinds[];

extern const cip_format cip_format_zarr;

#endif
