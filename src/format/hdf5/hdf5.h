/* SPDX-License-Identifier: BSD-3-Clause
 * HDF5 files: superblock, object headers, groups, datatypes and chunk indexes by the
 * "HDF5 File Format Specification Version 3.0"; chunks are decoded by the core through one codec
 * that undoes a dataset's filters. */
#ifndef CIP_FORMAT_HDF5_H
#define CIP_FORMAT_HDF5_H

#include "format/blosc2/blosc2.h"
#include "space/read/window.h"

enum {
    CIP_H5_MAX_RANK = 32,    /* the library's limit */
    CIP_H5_MAX_FILTERS = 32, /* bits of a chunk's filter mask */
    CIP_H5_TYPE_DEPTH = 32,
    CIP_H5_DEFLATE = 1, /* the filters */
    CIP_H5_SHUFFLE = 2,
    CIP_H5_FLETCHER32 = 3,
    CIP_H5_SZIP = 4, /* libaec */
    CIP_H5_BLOSC = 32001,
    CIP_H5_LZ4 = 32004,
    CIP_H5_ZSTD = 32015,
    CIP_H5_BLOSC2 = 32026
};
#define CIP_H5_NONE UINT64_MAX /* an address that is not set */

extern const cip_format cip_format_hdf5;

/* --- hdf5_file.c: the superblock and metadata blocks ------------------------------------------ */

typedef struct cip_h5 {
    cip_layout *layout;
    uint64_t base;        /* where address 0 is in the file */
    uint64_t size;        /* bytes from there to the file's end */
    uint8_t osize, lsize; /* bytes of an address and of a length */
    uint8_t version;      /* of the superblock */
    uint64_t root;        /* address of the root group's object header */
    uint64_t extension;   /* ... of the superblock's extension, or NONE */
    cip_err *damage;      /* what could not be read when the file was opened, ndamage errors */
    size_t ndamage, damage_cap;
} cip_h5;

/* One piece of work on a file's metadata: blocks that were read live in `arena` until it ends.
 * `left` bounds the bytes that are read, so that blocks which name each other in a circle end. */
typedef struct cip_h5_work {
    const cip_h5 *f;
    cip_arena arena;
    uint64_t left;
    uint64_t global_at; /* the global heap collection that was read last, or NONE */
    cip_bytes global;
} cip_h5_work;

/* Where the superblock is: 0, 512, 1024, 2048 ... of what `head` holds; false: nowhere. */
bool cip_h5_find(cip_bytes head, uint64_t *at);
cip_status cip_h5_superblock(cip_layout *l, cip_h5 *f, cip_err *err);
cip_h5_work cip_h5_begin(const cip_h5 *f);
/* n bytes at an address, in the arena. `what` names the block. CORRUPT, TRUNCATED or LIMIT. */
cip_status cip_h5_get(cip_h5_work *w, uint64_t at, uint64_t n, const char *what, cip_bytes *out,
                      cip_err *err);
/* The same of a block that begins with `magic`. With `sum` its last 4 bytes are its checksum, which
 * is compared. The cursor stands behind the magic. */
cip_status cip_h5_block(cip_h5_work *w, uint64_t at, uint64_t n, const char *magic, bool sum,
                        cip_cursor *out, cip_err *err);
/* Compares the last 4 bytes with the lookup3 checksum of those before. */
cip_status cip_h5_check(const cip_h5 *f, uint64_t at, cip_bytes block, const char *what,
                        cip_err *err);
/* The lookup3 checksum of metadata. */
uint32_t cip_h5_sum(const uint8_t *p, size_t n);
/* A little-endian number of n bytes, at most 8. */
uint64_t cip_h5_uint(cip_cursor *c, size_t n);
/* An address; all bits set is NONE. */
uint64_t cip_h5_address(const cip_h5 *f, cip_cursor *c);
static inline uint64_t cip_h5_length(const cip_h5 *f, cip_cursor *c)
{
    return cip_h5_uint(c, f->lsize);
}
/* CORRUPT, with the place in the file, when the cursor read past its end. */
cip_status cip_h5_end(const cip_cursor *c, const char *what, uint64_t at, cip_err *err);
/* floor(log2(v)), 0 for 0; bytes that hold numbers up to v. */
static inline unsigned cip_h5_log2(uint64_t v)
{
    return v == 0 ? 0 : 63 - (unsigned)__builtin_clzll(v);
}
static inline unsigned cip_h5_width(uint64_t v)
{
    return cip_h5_log2(v) / 8 + 1;
}

/* --- hdf5_header.c: object headers ------------------------------------------------------------ */

enum {
    CIP_H5_DATASPACE = 0x01,
    CIP_H5_LINK_INFO = 0x02,
    CIP_H5_DATATYPE = 0x03,
    CIP_H5_OLD_FILL = 0x04,
    CIP_H5_FILL = 0x05,
    CIP_H5_LINK = 0x06,
    CIP_H5_EXTERNAL = 0x07,
    CIP_H5_LAYOUT = 0x08,
    CIP_H5_FILTERS = 0x0b,
    CIP_H5_ATTRIBUTE = 0x0c,
    CIP_H5_SHARED_TABLE = 0x0f,
    CIP_H5_CONTINUATION = 0x10,
    CIP_H5_SYMBOLS = 0x11,
    CIP_H5_ATTRIBUTE_INFO = 0x15
};

typedef struct cip_h5_message {
    uint16_t type;
    uint8_t flags;
    uint64_t at; /* in the file, for errors */
    cip_bytes data;
} cip_h5_message;

typedef struct cip_h5_object {
    uint64_t at;
    cip_h5_message *message;
    size_t n, cap;
} cip_h5_object;

cip_status cip_h5_object_read(cip_h5_work *w, uint64_t at, cip_h5_object *out, cip_err *err);
/* The first message of a type, or NULL. */
const cip_h5_message *cip_h5_find_message(const cip_h5_object *o, uint16_t type);
/* A message's own bytes: those of the object that it names when it is shared. */
cip_status cip_h5_own(cip_h5_work *w, const cip_h5_message *m, cip_h5_message *out, cip_err *err);
/* The same of a shared datatype or dataspace within another message. */
cip_status cip_h5_shared(cip_h5_work *w, uint16_t type, uint64_t at, cip_bytes in,
                         cip_h5_message *out, cip_err *err);

/* --- hdf5_heap.c ------------------------------------------------------------------------------ */

/* A group's names: the data segment of a local heap. */
cip_status cip_h5_local_heap(cip_h5_work *w, uint64_t at, cip_bytes *out, cip_err *err);
/* The text at `off` of it, up to its NUL; CORRUPT without one. */
cip_status cip_h5_local_text(cip_bytes heap, uint64_t off, const char **out, cip_err *err);
/* Object `index` of a collection of the global heap; borrowed until the work ends. */
cip_status cip_h5_global(cip_h5_work *w, uint64_t at, uint32_t index, cip_bytes *out, cip_err *err);

typedef struct cip_h5_heap {
    uint64_t at, huge, root;
    uint16_t id_len, width, rows, max_bits;
    bool sums;
    uint64_t start, max_direct;
    unsigned off_len, len_len;
} cip_h5_heap;
cip_status cip_h5_heap_open(cip_h5_work *w, uint64_t at, cip_h5_heap *out, cip_err *err);
cip_status cip_h5_heap_get(cip_h5_work *w, const cip_h5_heap *h, cip_bytes id, cip_bytes *out,
                           cip_err *err);

/* --- hdf5_btree.c ----------------------------------------------------------------------------- */

/* Each record of a version 2 B-tree, in order. A status other than OK ends the walk. */
typedef cip_status cip_h5_record_fn(void *user, cip_bytes record, cip_err *err);
cip_status cip_h5_btree2(cip_h5_work *w, uint64_t at, uint8_t type, cip_h5_record_fn *fn,
                         void *user, cip_err *err);
/* Each leaf entry of a version 1 B-tree of groups (type 0, rank 0) or chunks (type 1): the key
 * before it and its address. */
typedef cip_status cip_h5_leaf_fn(void *user, cip_bytes key, uint64_t child, cip_err *err);
cip_status cip_h5_btree1(cip_h5_work *w, uint64_t at, uint8_t type, int32_t rank,
                         cip_h5_leaf_fn *fn, void *user, cip_err *err);

/* --- hdf5_type.c ------------------------------------------------------------------------------ */

typedef enum cip_h5_class {
    CIP_H5_FIXED,
    CIP_H5_FLOAT,
    CIP_H5_TIME,
    CIP_H5_STRING,
    CIP_H5_BITS,
    CIP_H5_OPAQUE,
    CIP_H5_COMPOUND,
    CIP_H5_REFERENCE,
    CIP_H5_ENUM,
    CIP_H5_VARIABLE,
    CIP_H5_ARRAY,
    CIP_H5_COMPLEX
} cip_h5_class;

typedef struct cip_h5_type cip_h5_type;

/* A field of a compound, or a name of an enumeration. */
typedef struct cip_h5_member {
    const char *name;
    uint64_t offset;
    const cip_h5_type *type;
    const uint8_t *value;
} cip_h5_member;

struct cip_h5_type {
    uint8_t cls; /* cip_h5_class */
    uint32_t bits;
    uint64_t size;
    cip_bytes props;         /* FIXED, FLOAT, BITS: as stored; OPAQUE: the tag */
    const cip_h5_type *base; /* ENUM, VARIABLE, ARRAY, COMPLEX */
    uint32_t n;              /* COMPOUND, ENUM: members; ARRAY: axes */
    const cip_h5_member *member;
    const int64_t *dim;
};

cip_status cip_h5_type_read(cip_arena *a, cip_bytes in, uint64_t at, const cip_h5_type **out,
                            cip_err *err);
/* What its elements are here. UNSUPPORTED with the reason for what is not shown. */
cip_status cip_h5_dtype(cip_arena *a, const cip_h5_type *t, const cip_dtype **out, cip_err *err);
bool cip_h5_is_bool(const cip_h5_type *t);
static inline bool cip_h5_is_text(const cip_h5_type *t)
{
    return t->cls == CIP_H5_VARIABLE && (t->bits & 0xf) == 1;
}

/* --- hdf5_message.c: what a dataset is ------------------------------------------------------- */

typedef struct cip_h5_shape {
    bool null; /* no elements, not even one */
    int32_t rank;
    int64_t dim[CIP_H5_MAX_RANK];
    uint64_t max[CIP_H5_MAX_RANK]; /* CIP_H5_NONE: unlimited */
} cip_h5_shape;
cip_status cip_h5_shape_read(const cip_h5 *f, cip_bytes in, uint64_t at, cip_h5_shape *out,
                             cip_err *err);

typedef struct cip_h5_filter {
    uint16_t id;
    const char *name; /* as the file says it, may be "" */
    uint32_t n;
    const uint32_t *value;
} cip_h5_filter;

typedef enum cip_h5_index {
    CIP_H5_BTREE1 = 0,
    CIP_H5_SINGLE,
    CIP_H5_IMPLICIT,
    CIP_H5_FIXED_ARRAY,
    CIP_H5_EXTENSIBLE,
    CIP_H5_BTREE2
} cip_h5_index;

typedef struct cip_h5_dataset {
    const cip_h5 *f;
    const char *path; /* for errors */
    cip_h5_shape shape;
    uint64_t itemsize; /* bytes of an element as stored */
    uint8_t layout;    /* 0 compact, 1 contiguous, 2 chunked, 3 virtual */
    uint8_t version;   /* of the layout message */
    bool external;     /* the data lie in other files */
    bool bare_edges;   /* chunks that reach over the edge are not filtered */
    bool single_filtered;
    cip_bytes compact;
    uint64_t at, nbytes; /* of the data, or of the chunk index */
    uint8_t index;       /* cip_h5_index */
    uint32_t single_mask;
    int64_t chunk[CIP_H5_MAX_RANK];
    uint64_t chunk_nbytes;
    uint32_t nfilter;
    const cip_h5_filter *filter;
    cip_bytes fill; /* one element; none: zeros */
} cip_h5_dataset;

/* From the messages of an object that has a layout; all that it keeps is in the layout's arena. The
 * shape and itemsize are set. */
cip_status cip_h5_dataset_read(cip_h5_work *w, const cip_h5_object *o, cip_h5_dataset *d,
                               cip_err *err);

/* --- hdf5_index.c: where the chunks lie ------------------------------------------------------- */

typedef struct cip_h5_chunk {
    uint64_t i; /* in C order of the grid */
    uint64_t at, nbytes;
    uint32_t mask; /* bit k: filter k was left out */
} cip_h5_chunk;

/* All stored chunks by rising number, in the layout's arena. */
cip_status cip_h5_index_read(const cip_h5_dataset *d, const cip_h5_chunk **out, size_t *n,
                             cip_err *err);
/* For the files of the index: a chunk at scaled coordinates. */
typedef struct cip_h5_found cip_h5_found;
cip_status cip_h5_found_add(cip_h5_found *k, const uint64_t *scaled, uint64_t at, uint64_t nbytes,
                            uint32_t mask, cip_err *err);
struct cip_h5_found {
    const cip_h5_dataset *d;
    cip_h5_work work;
    cip_buf list;                   /* cip_h5_chunk */
    uint64_t grid[CIP_H5_MAX_RANK]; /* chunks along each axis */
    int32_t unlimited;              /* of the axis that comes first in an extensible array, or -1 */
    uint64_t last[CIP_H5_MAX_RANK]; /* of arrays: chunks along each axis in its order */
};
/* hdf5_index_array.c: fixed and extensible arrays. */
cip_status cip_h5_fixed_array(cip_h5_found *k, cip_err *err);
cip_status cip_h5_extensible_array(cip_h5_found *k, cip_err *err);

/* --- hdf5_space.c: the elements as a space --------------------------------------------------- */

/* Lazy where chunks have an index. UNSUPPORTED for filters that are not known. *codec (static or in
 * the arena) names the filters. */
cip_status cip_h5_space(cip_h5_dataset *d, cip_space **out, const char **codec, cip_err *err);

/* --- hdf5_filter.c, hdf5_lzf.c, hdf5_framed.c, hdf5_blosc2.c, hdf5_szip.c, hdf5_scaleoffset.c: the
 * filters
 * --------------------- */

typedef cip_status cip_h5_undo(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src,
                               uint8_t *dst, size_t n, cip_err *err);
/* What undoes a filter; NULL: not known here. *packs: it changes the length in ways that only the
 * data tell. *codec: it is nothing but this codec. */
cip_h5_undo *cip_h5_filter_find(uint16_t id, bool *packs, const cip_codec **codec);
/* The name of a filter, of those that are not known as well. */
const char *cip_h5_filter_name(const cip_h5_filter *f);
cip_h5_undo cip_h5_lzf, cip_h5_lz4, cip_h5_bitshuffle, cip_h5_blosc2, cip_h5_szip,
    cip_h5_scaleoffset, cip_h5_nbit;

/* A dataset's filters but those of a mask, as the arguments of cip_h5_codec. */
typedef struct cip_h5_pipeline {
    uint32_t n;
    const cip_h5_filter *filter[CIP_H5_MAX_FILTERS];
    const void *blosc; /* how Blosc encodes (cip_blosc_spec); not needed to decode */
} cip_h5_pipeline;
extern const cip_codec cip_h5_codec;

/* --- hdf5_blosc2.c: chunks of Blosc2 read where they lie in their frames ---------------------- */

/* What the frames of a dataset have in common, as its first one has it. */
typedef struct cip_h5_frames {
    cip_bytes meta;  /* the metalayers, byte for byte */
    uint64_t nbytes; /* of a decoded chunk, with what pads its blocks */
    cip_b2_nd nd;    /* ndim 0: the bytes are in C order */
} cip_h5_frames;

/* From the frame at `at`; false: it is none whose chunk can be read as that of a grid. */
bool cip_h5_frames_find(const cip_h5_dataset *d, const cip_extent *at, cip_h5_frames *out);
/* Moves *at from a frame to the Blosc chunk in it, and gives the first bytes of that to `head`;
 * false: the frame is unlike the others or holds no bytes, or something is wrong with it. Only the
 * filter decodes it. */
bool cip_h5_frames_look(const cip_h5_dataset *d, const cip_h5_frames *f, cip_extent *at,
                        cip_chunk_head *head);
/* What decodes other chunks to a grid's chunk of blocks. */
typedef struct cip_h5_blocked {
    const cip_b2_nd *nd;
    const cip_h5_pipeline *pipeline; /* NULL: the filter was left out */
} cip_h5_blocked;
extern const cip_codec cip_h5_blocked_codec;

/* --- hdf5_value.c: attributes as nodes -------------------------------------------------------- */

/* A reference in the tree whose text is known when all objects have been seen. */
typedef struct cip_h5_pointer {
    cip_node *node;
    uint64_t at; /* of the object that it names */
    bool last;   /* the text is the last name of its path, not all of it */
} cip_h5_pointer;

typedef struct cip_h5_pointers {
    cip_h5_pointer *at;
    size_t n, cap;
} cip_h5_pointers;

/* A warning of what could not be read, which left `node` (NULL: nothing) null; kept, for verify,
 * where it is damage. */
cip_status cip_h5_left_out(const cip_h5 *f, const cip_node *node, const cip_err *why,
                           const char *part, cip_err *err);
/* The attributes of an object as a mapping (NULL: none). What cannot be shown is null, with a
 * warning that names it. */
cip_status cip_h5_attributes(cip_h5_work *w, const cip_h5_object *o, const char *path,
                             cip_h5_pointers *refs, cip_node **out, cip_err *err);

/* --- hdf5_group.c ----------------------------------------------------------------------------- */

typedef enum cip_h5_link_kind {
    CIP_H5_HARD = 0,
    CIP_H5_SOFT = 1,
    CIP_H5_OUTSIDE = 64
} cip_h5_link_kind;

typedef struct cip_h5_link {
    const char *name;
    uint8_t kind;
    uint64_t at;      /* HARD: of the object's header */
    const char *path; /* SOFT, OUTSIDE */
    const char *file; /* OUTSIDE */
    int64_t order;    /* -1: not kept */
} cip_h5_link;

typedef struct cip_h5_links {
    cip_h5_link *at;
    size_t n, cap;
} cip_h5_links;

/* In order of creation where that is kept for all, else of their names. */
cip_status cip_h5_links_read(cip_h5_work *w, const cip_h5_object *o, cip_h5_links *out,
                             cip_err *err);
bool cip_h5_is_group(const cip_h5_object *o);

/* --- hdf5_tree.c ------------------------------------------------------------------------------ */

/* Groups as mappings, datasets as arrays. */
cip_status cip_h5_tree(cip_h5 *f, cip_err *err);
/* hdf5_verify.c */
cip_status cip_h5_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err);

#endif
