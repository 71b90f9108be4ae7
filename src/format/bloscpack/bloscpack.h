/* SPDX-License-Identifier: BSD-3-Clause
 * bloscpack files (.blp): chunks of Blosc1 one behind the other, each perhaps followed by a digest,
 * behind a header, metadata and a table of offsets that all but the header may lack. */
#ifndef CIP_FORMAT_BLOSCPACK_H
#define CIP_FORMAT_BLOSCPACK_H

#include "codec/blosc/blosc.h"
#include "format/format.h"
#include "space/read/window.h"

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

/* --- bloscpack_header.c: bytes to fields ------------------------------------------------------ */

/* The header from the first bytes of a file of `total` bytes. `force`: a later version is read like
 * 3, unknown option bits count for nothing. FORMAT, TRUNCATED, CORRUPT; UNSUPPORTED with the number
 * for an unknown version, option bit or checksum. */
cip_status cip_bp_header_read(cip_bytes in, uint64_t total, bool force, cip_bp_header *out,
                              cip_err *err);
/* The header of the metadata section at `at`, of which `left` bytes of the file are left. The same
 * failures. */
cip_status cip_bp_meta_read(cip_bytes in, uint64_t at, uint64_t left, cip_bp_meta *out,
                            cip_err *err);
/* A digest as it is stored (integers little-endian) as cip_sum_take gives it, and back. */
void cip_bp_digest(cip_sum_id id, const uint8_t *stored, uint8_t *out);
/* Back: version 3, and that of the metadata section. */
void cip_bp_header_write(const cip_bp_header *h, uint8_t out[CIP_BP_HEADER]);
void cip_bp_meta_write(const cip_bp_meta *m, uint8_t out[CIP_BP_META_HEADER]);
/* The kind of digest of this name that files may have; false: none of them. */
bool cip_bp_sum_named(const char *name, cip_sum_id *out);

/* --- the open file ---------------------------------------------------------------------------- */

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
    uint8_t head[CIP_BP_HEADER]; /* as the file has it */
    cip_window front;            /* its first bytes, while it is opened */
    cip_blosc_head first;        /* of the first chunk, where it is known */
    bool first_known;
    cip_err unread; /* why the metadata cannot be read or do not fit: what the array is, is then not
                       known */
    bool numpy;     /* the metadata describe the array */
    uint64_t wanted;    /* decoded bytes that the metadata promise where the header does not say how
                           many there are */
    bool spare;         /* a superchunk of BLZ: bytes of zeros may follow each chunk */
    uint64_t bare_meta; /* its metadata: bytes of JSON behind the header */
    const char *part;   /* what findings call it; NULL: "data" */
    cip_bp_chunks chunks;
    cip_space *data;
} cip_bp_file;

/* --- bloscpack.c: what lies where ------------------------------------------------------------- */

/* The header of the metadata section, and where the offsets and chunks are. */
cip_status cip_bp_place(cip_bp_file *f, cip_err *err);

/* --- bloscpack_super.c ------------------------------------------------------------------------ */

/* The layout's file as a superchunk of BLZ's document, or version 3 as it became. `part` (borrowed)
 * is what errors call it. CORRUPT for another magic. */
cip_status cip_bp_superchunk_open(cip_layout *l, const char *part, cip_bp_file **out, cip_err *err);

/* --- bloscpack_chunks.c ----------------------------------------------------------------------- */

/* Whether header alone says how many decoded bytes there are, and how many: CORRUPT over 2^63. */
cip_status cip_bp_sized(const cip_bp_header *h, bool *sized, uint64_t *nbytes, cip_err *err);
/* The space of all decoded bytes. */
cip_status cip_bp_data(cip_bp_file *f, cip_space **out, cip_err *err);
/* Where the decoded bytes of chunk i are among those of all. */
void cip_bp_raw(const cip_bp_file *f, uint64_t i, uint64_t *off, uint64_t *len);
/* Chunk i's place, compared with what the file says of it; in a walk over the chunks. */
cip_status cip_bp_chunk_place(const cip_bp_file *f, cip_window *heads, uint64_t i, cip_chunk *out,
                              cip_err *err);
/* Adds up the stored bytes of all chunks; those that cannot be read make *all false. */
cip_status cip_bp_count_bytes(const cip_bp_file *f, uint64_t *nbytes, bool *all, cip_err *err);
/* The same with its head and digest. */
cip_status cip_bp_chunk(const cip_bp_file *f, uint64_t i, cip_blosc_head *head, cip_chunk *out,
                        cip_err *err);

/* --- bloscpack_meta.c ------------------------------------------------------------------------- */

/* The metadata as a node; NULL, and f->unread, where they cannot be read. */
cip_status cip_bp_meta_tree(cip_bp_file *f, const cip_node **out, cip_err *err);
/* Type and shape of the array that the metadata describe; *meta is what they say besides (NULL:
 * nothing). *is false for data that are only bytes, and, with f->unread, where an array of numpy's
 * is none that the data hold. */
cip_status cip_bp_numpy(cip_bp_file *f, const cip_node **meta, cip_array *a, bool *is,
                        cip_err *err);

/* --- bloscpack_how.c: how a file is to be stored ---------------------------------------------- */

typedef struct cip_bp_how {
    cip_blosc_spec blosc;
    bool takes; /* nothing was asked of codec and filter: chunks may stay as they are stored */
    cip_sum_id sum;
    uint64_t chunk_size; /* whole elements */
    bool offsets;
    uint64_t spare; /* free offsets; UINT64_MAX: as many for each chunk as bloscpack makes */
} cip_bp_how;

extern const cip_format_option cip_bp_options[];

/* What is asked for of the Blosc chunks of array `a` (NULL: of those of all): codec, level and the
 * filter named by the text (NULL: none is asked for). *b has what counts otherwise; *takes: nothing
 * was asked, so that chunks may stay as they are stored. ARG for another filter, UNSUPPORTED for
 * another codec. */
cip_status cip_bp_choose_blosc(const cip_spec *spec, const cip_spec_array *a, const char *filter,
                               cip_blosc_spec *b, bool *takes, cip_err *err);
/* The digest that is asked for; *sum stays where none is. UNSUPPORTED for another. */
cip_status cip_bp_choose_sum(const cip_spec *spec, cip_sum_id *sum, cip_err *err);
/* A number of these as an option's text; false: it is none, and *v stays. */
bool cip_bp_number(const char *text, uint64_t least, uint64_t most, uint64_t *v);
/* What was asked for, for elements of this type; codec and filter otherwise as those of the chunk
 * `like` (NULL: bloscpack's defaults), and chunks as large as those of the source that can be taken
 * as they are. ARG, UNSUPPORTED. */
cip_status cip_bp_choose(const cip_spec *spec, const cip_dtype *d, const cip_blosc_head *like,
                         cip_bp_how *out, cip_err *err);
/* The header of a file of so many decoded bytes; without any, one chunk of nothing. */
cip_status cip_bp_make_header(const cip_bp_how *how, uint64_t nbytes, cip_bp_header *h,
                              cip_err *err);

/* An array as numpy's metadata describe it. */
typedef struct cip_bp_described {
    const cip_dtype *dtype;
    int32_t ndim;
    const int64_t *shape;
    bool f_order;
    const cip_node *more; /* a mapping of other keys, or NULL */
} cip_bp_described;

/* Whether the key is one of those that describe the array. */
bool cip_bp_is_numpy_key(const cip_node *key);
/* Appends the JSON. UNSUPPORTED for a type that numpy does not have. */
cip_status cip_bp_numpy_json(cip_env *env, const cip_bp_described *d, cip_buf *b, cip_err *err);
/* Appends the metadata section that holds it. room: bytes kept for it (at least its length); 0: as
 * many as bloscpack keeps. */
cip_status cip_bp_meta_section(cip_env *env, cip_bytes json, cip_sum_id sum, uint32_t room,
                               cip_buf *out, cip_err *err);

/* --- bloscpack_container.c: files as they are written ----------------------------------------- */

/* A file that is there while it changes: each head is looked at once. */
typedef struct cip_bp_old {
    cip_bp_file *f;
    cip_window heads;
    uint64_t *end; /* of each chunk, with its digest; 0: not looked at yet */
} cip_bp_old;

/* CIP_OK or not, it is to be cleared. */
cip_status cip_bp_old_open(cip_bp_file *f, cip_bp_old *out, cip_err *err);
cip_status cip_bp_old_end(cip_bp_old *o, uint64_t i, uint64_t *end, cip_err *err);
/* Bytes that are left free after each of its chunks. */
cip_status cip_bp_old_spare(cip_bp_old *o, uint64_t *spare, cip_err *err);
void cip_bp_old_clear(cip_bp_old *o);

/* A chunk on its way into a file. */
typedef struct cip_bp_piece {
    cip_segment bytes;
    uint64_t raw_len;
    bool stored;              /* its digest follows it */
    cip_sum_id sum;           /* the kind of its digest, which is known */
    uint8_t own[CIP_SUM_MAX]; /* of one that is not stored: that, as cip_sum_take gives it */
} cip_bp_piece;

/* A chunk that is finished, in memory: of an array of which *left decoded bytes are to come yet.
 * ARG for more. `sum`: the kind of its digest. */
cip_status cip_bp_piece_in(const cip_chunk_in *c, cip_sum_id sum, uint64_t *left, cip_bp_piece *out,
                           cip_err *err);
/* One that an update made. */
cip_bp_piece cip_bp_piece_made(const cip_chunk *c);

/* A file that is written: header, metadata, offsets, and slots of a chunk, its digest and space. A
 * new one goes to `out`, its chunks as they are finished; else it becomes what `r` says. */
typedef struct cip_bp_container {
    cip_env *env;
    cip_out *out;
    cip_revision *r;
    uint8_t head[CIP_BP_HEADER];
    cip_sum_id sum;
    bool offsets;
    uint64_t n, nfree; /* offsets, and free ones */
    uint64_t spare;
    uint64_t offsets_at;
    cip_buf places; /* of chunks so far whose offsets are not in the file, as they are stored */
    /* Of a revision: */
    const cip_chunk_changes *changes; /* from `first` on */
    uint64_t first;
    const cip_bp_piece *only; /* instead of them: all there is */
    cip_bp_old *old;          /* or NULL */
    /* Chunk i of the changes, which had the number `from`, where it had another one or the old file
     * does not have it; NULL: all of them are the old file's. */
    cip_status (*other)(void *self, uint64_t i, uint64_t from, cip_bp_piece *out, cip_err *err);
    void *self;
} cip_bp_container;

/* What lies before the chunks, with offsets of -1; the next chunk; and the offsets of the chunks so
 * far, where they are not in the file yet. */
cip_status cip_bp_put_front(cip_bp_container *c, const cip_segment *meta, cip_err *err);
cip_status cip_bp_put_chunk(cip_bp_container *c, const cip_bp_piece *p, cip_err *err);
cip_status cip_bp_put_offsets(cip_bp_container *c, cip_err *err);
/* Of revisions: chunk i; whether it stays where it is; the number of the first one that can neither
 * stay nor change there, or which one of both files does not have. */
cip_status cip_bp_piece_at(const cip_bp_container *c, uint64_t i, cip_bp_piece *p, cip_err *err);
cip_status cip_bp_find_tail(const cip_bp_container *c, uint64_t *k, cip_err *err);
/* The old file changes, its end from chunk k on; `meta` is the new section, or empty. */
cip_status cip_bp_change(cip_bp_container *c, uint64_t k, cip_bytes meta, cip_err *err);
/* The whole file (k 0), with these metadata behind the header; or (`meta` NULL) its slots from k
 * on, behind what stays. They are the revision's tail. */
cip_status cip_bp_make(cip_bp_container *c, const cip_segment *meta, uint64_t k, cip_err *err);

/* --- bloscpack_write.c ------------------------------------------------------------------------ */

/* The store's, of a new file or of one that is there. */
typedef struct cip_bp_state {
    cip_env *env;
    const cip_spec *spec;
    cip_bp_file *old;   /* or NULL */
    cip_bp_described d; /* the array as it becomes */
    cip_bp_how how;     /* of chunks that come */
    cip_bp_header h;    /* as it becomes */
    cip_bp_container file;
    uint64_t left; /* of a new file: decoded bytes that are still to come */
    bool reshaped;
} cip_bp_state;

/* Appends the metadata section of a new file. */
cip_status cip_bp_new_meta(const cip_bp_state *s, cip_buf *out, cip_err *err);
/* Chunks as a file stored so takes them; `how` is borrowed. */
void cip_bp_form(const cip_bp_how *how, const cip_dtype *d, cip_array_form *form);
/* The chunk of an array of nothing, in `bytes` (CIP_BLOSC_HEADER of them). */
cip_status cip_bp_empty_chunk(const cip_bp_state *s, cip_bp_piece *out, uint8_t *bytes,
                              cip_err *err);

extern const cip_array_store cip_bp_store;

/* --- bloscpack_update.c ----------------------------------------------------------------------- */

/* Of the store, for files that are there. */
cip_status cip_bp_update_begin(cip_bp_state *s, cip_err *err);
cip_status cip_bp_update_form(void *state, const cip_array *a, cip_change_kind kind,
                              const int64_t *shape, cip_change_form *out, cip_err *err);
cip_status cip_bp_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err);
cip_status cip_bp_update_finish(cip_bp_state *s, cip_revision *r, cip_err *err);

cip_status cip_bp_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err);

extern const cip_format cip_format_bloscpack;

#endif
