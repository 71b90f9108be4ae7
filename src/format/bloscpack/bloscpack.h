/* SPDX-License-Identifier: BSD-3-Clause
 * bloscpack files (.blp): chunks of Blosc1 one behind the other, each perhaps followed by a digest,
 * behind a header, metadata and a table of offsets that all but the header may lack. */
#ifndef CIP_FORMAT_BLOSCPACK_H
#define CIP_FORMAT_BLOSCPACK_H

#include "codec/blosc/blosc.h"
#include "format/format.h"

enum {
    CIP_BP_HEADER = 32,      /* of versions 2 and 3 */
    CIP_BP_META_HEADER = 32, /* of the metadata section */
    CIP_BP_OFFSETS = 1,      /* option bits */
    CIP_BP_METADATA = 2,
    CIP_BP_METADATA_MAX = 16 << 20 /* longer metadata are left out */
};

typedef struct cip_bp_header {
    uint8_t version, options;
    cip_sum_id sum; /* behind each chunk, of its stored bytes */
    uint8_t typesize;
    int64_t chunk_size, last_chunk; /* decoded bytes; -1: not said */
    int64_t nchunk;                 /* -1: not said */
    uint64_t nspare;                /* offsets kept free for chunks that are appended */
    uint64_t len;                   /* bytes of the header */
} cip_bp_header;

/* The header of the metadata section, which is followed by `stored` bytes of JSON, the fill, and
 * the digest of the stored bytes. */
typedef struct cip_bp_meta {
    cip_sum_id sum;
    uint8_t codec, level; /* codec: 0 none, 1 zlib; others are not known */
    uint32_t size;        /* decoded */
    uint32_t room;        /* bytes kept for it */
    uint32_t stored;
    char user_codec[9];
    uint64_t len; /* bytes of the whole section */
} cip_bp_meta;

/* --- bloscpack_header.c: bytes to fields --------------------------------------------------------
 */

/* The header from the first bytes of a file of `total` bytes. `force`: a later version is read like
 * 3, unknown option bits count for nothing. FORMAT, TRUNCATED, CORRUPT; UNSUPPORTED with the number
 * for an unknown version, option bit or checksum. */
cip_status cip_bp_header_read(cip_bytes in, uint64_t total, bool force, cip_bp_header *out,
                              cip_err *err);
/* The header of the metadata section at `at`, of which `left` bytes of the file are left. The same
 * failures. */
cip_status cip_bp_meta_read(cip_bytes in, uint64_t at, uint64_t left, cip_bp_meta *out,
                            cip_err *err);
/* A digest as it is stored (integers little-endian) as cip_sum_take gives it. */
void cip_bp_digest(cip_sum_id id, const uint8_t *stored, uint8_t out[CIP_SUM_MAX]);

/* --- the open file ------------------------------------------------------------------------------
 */

/* Where chunks lie. Sized: header and offsets tell everything but their stored lengths, which stand
 * in their heads. Otherwise heads were walked through from the first chunk on. */
typedef struct cip_bp_chunks {
    uint64_t n;          /* chunks that the array has */
    uint64_t nfound;     /* ... whose place is known; the rest is missing */
    const uint64_t *at;  /* nfound places in the file */
    const uint64_t *raw; /* n + 1 positions of the decoded bytes, or NULL: all but the last are of
                            chunk_size */
    uint64_t raw_len;    /* decoded bytes of all */
    uint64_t end;   /* one past the last chunk with its digest, as far as it was looked for; 0 */
    cip_status why; /* of chunks that are missing */
    const char *lack;
} cip_bp_chunks;

typedef struct cip_bp_file {
    cip_layout *layout;
    cip_bp_header h;
    cip_bp_meta meta; /* with CIP_BP_METADATA */
    uint64_t meta_at, offsets_at, chunks_at;
    cip_err unread; /* why the metadata cannot be read or do not fit: what the array is, is then not
                       known */
    uint64_t wanted;    /* decoded bytes that the metadata promise where the header does not say how
                           many there are */
    bool spare;         /* a superchunk of BLZ: bytes of zeros may follow each chunk */
    uint64_t bare_meta; /* its metadata: bytes of JSON behind the header */
    const char *part;   /* what findings call it; NULL: "data" */
    cip_bp_chunks chunks;
    cip_space *data;
} cip_bp_file;

/* --- bloscpack.c: what lies where ----------------------------------------------------------------
 */

/* The header of the metadata section, and where the offsets and chunks are. */
cip_status cip_bp_place(cip_bp_file *f, cip_err *err);

/* --- bloscpack_super.c ---------------------------------------------------------------------------
 */

/* The layout's file as a superchunk of BLZ's document, or version 3 as it became. `part` (borrowed)
 * is what errors call it. CORRUPT for another magic. */
cip_status cip_bp_superchunk_open(cip_layout *l, const char *part, cip_bp_file **out, cip_err *err);

/* --- bloscpack_chunks.c ------------------------------------------------------------------------
 */

/* Whether header alone says how many decoded bytes there are, and how many: CORRUPT over 2^63. */
cip_status cip_bp_sized(const cip_bp_header *h, bool *sized, uint64_t *nbytes, cip_err *err);
/* The space of all decoded bytes. */
cip_status cip_bp_data(cip_bp_file *f, cip_space **out, cip_err *err);
/* Chunk i's head and place, compared with what the file says of it. */
cip_status cip_bp_chunk(const cip_bp_file *f, uint64_t i, cip_blosc_head *head, cip_chunk *out,
                        cip_err *err);

/* --- bloscpack_meta.c ----------------------------------------------------------------------------
 */

/* The stored bytes of the metadata (in the arena), compared with their digest: CHECKSUM. */
cip_status cip_bp_meta_stored(const cip_bp_file *f, cip_bytes *out, cip_err *err);
/* The metadata as a node; NULL, and f->unread, where they cannot be read. */
cip_status cip_bp_meta_tree(cip_bp_file *f, const cip_node **out, cip_err *err);
/* Type and shape of the array that the metadata describe; *meta is what they say besides (NULL:
 * nothing). *is false for data that are only bytes, and, with f->unread, where an array of numpy's
 * is none that the data hold. */
cip_status cip_bp_numpy(cip_bp_file *f, const cip_node **meta, cip_array *a, bool *is,
                        cip_err *err);

cip_status cip_bp_verify(cip_layout *l, uint32_t flags, cip_report *report, cip_err *err);

extern const cip_format cip_format_bloscpack;

#endif
