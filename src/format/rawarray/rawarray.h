/* SPDX-License-Identifier: BSD-3-Clause
 * RawArray: 48 bytes of header, the dims, the data, and whatever somebody put behind them. */
#ifndef CIP_FORMAT_RAWARRAY_H
#define CIP_FORMAT_RAWARRAY_H

#include "format/format.h"

enum {
    CIP_RA_FLAG_BIG = 1, /* the data are big-endian */
    CIP_RA_FLAG_LZ4 = 2, /* the data are one LZ4 block */
    CIP_RA_FLAGS_KNOWN = 3
};

enum { CIP_RA_USER = 0, CIP_RA_INT = 1, CIP_RA_UINT = 2, CIP_RA_FLOAT = 3, CIP_RA_COMPLEX = 4 };

enum {
    CIP_RA_HEADER_MIN = 48,
    CIP_RA_HEADER_MAX = CIP_RA_HEADER_MIN + 8 * CIP_MAX_NDIM,
    CIP_RA_LZ4_MAX = 0x7E000000,  /* LZ4_MAX_INPUT_SIZE: bytes that one block can hold */
    CIP_RA_METADATA_MAX = 1 << 24 /* longer trailing metadata are not put into the tree */
};

typedef struct cip_ra_header {
    uint64_t flags, eltype, elbyte;
    uint64_t size;               /* bytes of the data as stored */
    uint64_t dims[CIP_MAX_NDIM]; /* as stored: the first varies fastest */
    int32_t ndim;
    bool header_big; /* every field is big-endian (and the data are, whatever the flags) */
    bool data_big;
    uint64_t raw_len;  /* bytes of the data decoded: elbyte times the dims; at most 2^63 - 1 */
    uint64_t data_off; /* where they start; at most CIP_RA_HEADER_MAX */
} cip_ra_header;

/* Whether the bytes start with the magic in either byte order. */
bool cip_ra_magic(cip_bytes in);
/* Reads and checks a header. `in`: the first bytes of a file of `total` bytes, all of them or
 * at least CIP_RA_HEADER_MAX. `force`: unknown flags are taken. FORMAT (the magic), TRUNCATED,
 * CORRUPT, UNSUPPORTED (over 64 dimensions, unknown flags, more data than LZ4 blocks hold). */
cip_status cip_ra_header_read(cip_bytes in, uint64_t total, bool force, cip_ra_header *out,
                              cip_err *err);
/* Writes magic, flags, eltype, elbyte, size, ndim and dims, little-endian, to out
 * (CIP_RA_HEADER_MAX bytes). Returns the header's length. */
size_t cip_ra_header_write(const cip_ra_header *h, uint8_t *out);
/* The dims reversed: the shape in C order over the same bytes. Room for CIP_MAX_NDIM. */
void cip_ra_shape(const cip_ra_header *h, int64_t *shape);

/* The dtype of the elements. Widths that we have no kind for are opaque with a name that says so:
 * "int24", "float128", and "int24be" where they are big-endian. Lives in the arena. */
cip_status cip_ra_dtype(cip_arena *a, const cip_ra_header *h, const cip_dtype **out, cip_err *err);
/* The eltype for elements of `d`, given the byte order they are written in. CIP_RA_USER for
 * everything that RawArray has no type for; then *name_lost says whether a reader is told less than
 * `d` does. */
uint64_t cip_ra_eltype(const cip_dtype *d, bool big, bool *name_lost);
/* "float32", "user640": as the document's query names types. For 0 < elbyte. */
cip_status cip_ra_type_name(const cip_ra_header *h, cip_buf *out, cip_err *err);

/* Whether the data are records that each are a RawArray file: looks at the first 16 and the last
 * one. *label is then "rawarray(float32[3, 4])", or "rawarray" where their headers differ; NULL
 * otherwise. */
cip_status cip_ra_nested(cip_layout *l, const cip_ra_header *h, cip_space *data, const char **label,
                         cip_err *err);
/* Looks at all of them, for verify: each that is none is a finding. */
cip_status cip_ra_nested_verify(cip_layout *l, const cip_ra_header *h, cip_space *data,
                                cip_report *report, cip_err *err);

/* The tree: flags, eltype, elbyte, size, dims and `metadata` (NULL: there are none). Flags and size
 * are null for a size of CIP_RA_SIZE_UNKNOWN. */
#define CIP_RA_SIZE_UNKNOWN UINT64_MAX
cip_status cip_ra_tree(cip_arena *a, const cip_ra_header *h, const cip_node *metadata,
                       const cip_node **out, cip_err *err);
/* What the file has behind its data: a string if it is UTF-8 text, binary otherwise, null over
 * CIP_RA_METADATA_MAX; *out NULL: nothing. */
cip_status cip_ra_metadata_node(cip_layout *l, const cip_ra_header *h, cip_node **out,
                                cip_err *err);
/* Appends the bytes that such a `metadata` node stands for. */
cip_status cip_ra_metadata(const cip_node *node, cip_buf *out, cip_err *err);
/* Bytes behind the data. */
uint64_t cip_ra_tail(const cip_layout *l, const cip_ra_header *h);

cip_status cip_ra_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err);

/* The store's state, of a new file or of one that is there. In the arena of its beginning. */
typedef struct cip_ra_state {
    cip_env *env;
    cip_layout *l;     /* the file as it is; NULL: a new one */
    cip_ra_header was; /* its header */
    cip_ra_header h;   /* as it becomes */
    /* A new file: data go to its output as they come. */
    cip_out *out;
    uint64_t left;            /* raw bytes still to come */
    const cip_codec *codec;   /* LZ4, or NULL */
    const cip_node *metadata; /* or NULL */
    /* A file that is there. */
    int level;
    bool packed, pack;          /* the data were one LZ4 block, are to be one */
    const cip_chunk_changes *c; /* NULL: none changed */
    cip_io *temporary;
    cip_arena *arena;
    const cip_array *(*now)(void *user, const cip_array *a); /* as cip_store_begin has it */
    void *now_user;
    cip_segment data; /* all of them, of a file that is made anew */
    bool plain;       /* ... as they are: LZ4 did not make them smaller */
} cip_ra_state;

/* rawarray_update.c: the store's functions for a file that is there. */
cip_status cip_ra_update_begin(const cip_store_begin *b, void **state, cip_err *err);
cip_status cip_ra_update_form(void *state, const cip_array *a, cip_change_kind kind,
                              const int64_t *shape, cip_change_form *out, cip_err *err);
cip_status cip_ra_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err);
cip_status cip_ra_update_tree_now(void *state, const cip_node **root, cip_err *err);
cip_status cip_ra_update_finish(void *state, cip_revision *r, cip_err *err);

extern const cip_array_store cip_ra_store;
extern const cip_format cip_format_rawarray;

#endif
