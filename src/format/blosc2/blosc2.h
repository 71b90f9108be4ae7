/* SPDX-License-Identifier: BSD-3-Clause
 * Blosc2: contiguous and sparse frames, the n-d arrays (b2nd) in them, and bare chunks of Blosc1
 * and Blosc2. Section numbers are those of README.md. */
#ifndef CIP_FORMAT_BLOSC2_H
#define CIP_FORMAT_BLOSC2_H

#include "codec/blosc/blosc.h"
#include "format/format.h"

enum {
    CIP_B2_HEADER_MIN = 87,      /* up to the metalayers */
    CIP_B2_FRAME_LEN = 0x10,     /* where the header says how long the frame is: u64, big-endian */
    CIP_B2_TRAILER_MIN = 25,     /* without vlmetalayers */
    CIP_B2_MAX_META = 16,        /* metalayers of a header */
    CIP_B2_MAX_VLMETA = 8192,    /* of a trailer */
    CIP_B2_NAME_MAX = 31,        /* bytes of a metalayer's name */
    CIP_B2_VALUE_MAX = 16 << 20, /* of a value: longer ones are not put into the tree */
    CIP_B2_MAX_NDIM = 16,
    CIP_B2_USER_CODEC = 6, /* the nibble that sends readers to the byte behind the filters */
    CIP_B2_MAX_WIDTH = 32  /* bytes of an offset in the index */
};

/* One metalayer: bytes borrowed from where it was parsed. */
typedef struct cip_b2_meta {
    cip_bytes name, value;
    uint64_t at; /* of the value's first byte, from the beginning of header or trailer */
} cip_b2_meta;

typedef struct cip_b2_metas {
    cip_b2_meta *at;
    size_t n;
} cip_b2_metas;

/* The fixed part of a frame's header, every field checked by itself and against the others. */
typedef struct cip_b2_header {
    uint64_t header_len, frame_len;
    uint8_t version; /* 1 to 3 */
    uint8_t
        width_code; /* offset width as stored, 0 to 3 for 4 to 32 bytes; libblosc2 writes 0 whatever
                       the width, so it is ignored: the index chunk's typesize decides */
    bool variable, vl;    /* as the flags say */
    bool sparse;          /* chunks lie in files beside */
    uint8_t codec, level; /* codec: as the nibble says; CIP_B2_USER_CODEC: user_codec is it */
    uint8_t split;        /* 0 always, 1 never, 2 auto, 3 forward-compat */
    uint64_t nbytes;      /* decoded */
    uint64_t cbytes;      /* bytes between header and index (sparse: of all chunk files) */
    uint64_t typesize;    /* at least 1 */
    uint64_t blocksize;   /* 0: not said */
    uint64_t chunksize;   /* 0: every chunk has its own */
    uint8_t filter[CIP_BLOSC_FILTERS], filter_meta[CIP_BLOSC_FILTERS];
    uint8_t user_codec, codec_meta;
    bool dict;
} cip_b2_header;

typedef struct cip_b2_trailer {
    uint64_t len;
    uint8_t version;
    bool wrapped;             /* the document's bin32 lies around the vlmetalayers */
    uint8_t fingerprint_type; /* 0 none, 1 to 3 for 4, 8, 16 bytes */
    uint8_t fingerprint[16];
} cip_b2_trailer;

/* --- blosc2_header.c: bytes to fields --------------------------------------------------------- */

/* Whether a frame begins here. */
bool cip_b2_magic(cip_bytes in);
/* The fixed part from the first bytes; `total`: all there are from here on. FORMAT (the magic),
 * TRUNCATED, CORRUPT, UNSUPPORTED (a future version). */
cip_status cip_b2_header_read(cip_bytes in, uint64_t total, cip_b2_header *out, cip_err *err);
/* The metalayers behind it; `in`: all of the header. They live in the arena, their bytes in `in`.
 */
cip_status cip_b2_header_metas(cip_bytes in, cip_arena *a, cip_b2_metas *out, cip_err *err);
/* The trailer's length from the frame's last 23 bytes. */
cip_status cip_b2_trailer_len(cip_bytes in, const cip_b2_header *h, uint64_t *len, cip_err *err);
/* All of a trailer. Its length and fingerprint are known also when the vlmetalayers are damaged
 * (CORRUPT); their bytes lie in `in`. */
cip_status cip_b2_trailer_read(cip_bytes in, cip_arena *a, cip_b2_trailer *out, cip_b2_metas *metas,
                               cip_err *err);
/* The one of that name, or NULL. */
const cip_b2_meta *cip_b2_meta_find(const cip_b2_metas *m, const char *name);
/* The metalayer of an n-d array, "b2nd" or in old frames "caterva", or NULL. */
const cip_b2_meta *cip_b2_meta_nd(const cip_b2_metas *m);
/* "lz4" for what a frame's header says of its codec. */
const char *cip_b2_codec_name(const cip_b2_header *h);

/* --- blosc2_partial.c: frames that do not hold all of their array --------------------------------
 */

typedef struct cip_b2_frame cip_b2_frame;

/* What of the array lies in the frame. Borrowed from the layout's tree. */
typedef struct cip_b2_partial {
    const char *kind;  /* "lazyexpr", "proxy" ...; NULL: the frame holds its data, as most do */
    const char *what;  /* in words */
    bool cache;        /* chunks may have been fetched: */
    bool none;         /* no chunk is here, or nothing says which are */
    cip_bytes fetched; /* per_chunk bits a chunk, least significant first; NULL: what is no special
                          chunk was */
    uint64_t per_chunk;
} cip_b2_partial;

/* What the bytes of a list are for python-blosc2, where they are no elements. */
typedef struct cip_b2_store_kind {
    const char *meta; /* the metalayer that says so */
    const char *kind; /* "objectarray", ... */
    const char *what; /* in words */
} cip_b2_store_kind;

/* NULL: they are the elements. */
const cip_b2_store_kind *cip_b2_store_kind_of(const cip_b2_frame *f);

extern const char cip_b2_partial_missing[]; /* why a chunk of a cache is not there */

/* From metalayers and the layout's tree. */
cip_status cip_b2_partial_find(cip_layout *l, const cip_b2_frame *f, cip_b2_partial *out,
                               cip_err *err);
/* Whether chunk i is here whole; `special`: cip_blosc_special of its entry. */
bool cip_b2_partial_chunk(const cip_b2_partial *h, uint64_t i, uint8_t special);
/* Fails as reading a chunk that is not here does: UNSUPPORTED, or of a cache NOT_FOUND. */
cip_status cip_b2_partial_fail(const cip_b2_partial *h, cip_err *err);

/* --- blosc2_index.c: where the chunks lie ----------------------------------------------------- */

/* The index: offsets in the order of the chunks, behind the header. Thread-safe. */
typedef struct cip_b2_index {
    cip_layout *layout;
    cip_space *in; /* that holds the frame */
    uint64_t base; /* where it begins there */
    const cip_b2_header *h;
    cip_space *numbered;    /* sparse: the chunk files (io/numbered.h); otherwise NULL */
    cip_space *space;       /* decoded offsets; NULL when there are no chunks */
    uint64_t at, len;       /* the index chunk, from base */
    uint64_t n;             /* chunks */
    uint32_t width;         /* bytes of an offset */
    cip_b2_partial partial; /* set before chunks are read */
    bool constant;          /* all are `value` */
    uint8_t value[CIP_B2_MAX_WIDTH];
    pthread_mutex_t ready; /* held while all heads are looked at for the first time */
    _Atomic bool is_ready;
    bool document;        /* offsets count from the frame's beginning */
    uint64_t *start;      /* with chunks of different sizes: n + 1 of them */
    pthread_mutex_t lock; /* guards the page; a leaf */
    size_t page_size;     /* entries do not straddle pages */
    uint8_t *page;
    uint64_t page_at;
    size_t page_len;
} cip_b2_index;

/* One entry, judged. */
typedef struct cip_b2_entry {
    uint8_t special; /* cip_blosc_special; otherwise it lies at: */
    uint64_t at;     /* bytes behind the header (or the number of its file) */
} cip_b2_entry;

/* `in` and what `h` points to are borrowed. */
void cip_b2_index_init(cip_b2_index *x, cip_layout *l, cip_space *in, uint64_t base,
                       const cip_b2_header *h);
/* Reads the index chunk's head and compares it with header and lengths. `end`: where what may be
 * chunks and index ends (the trailer), from base. */
cip_status cip_b2_index_open(cip_b2_index *x, uint64_t end, cip_err *err);
/* In its place: n offsets of 8 bytes as an index has them, borrowed; `at`: where what may be chunks
 * ends. What was given or opened before is dropped. */
cip_status cip_b2_index_given(cip_b2_index *x, const uint8_t *entry, uint64_t n, uint64_t at,
                              cip_err *err);
void cip_b2_index_clear(cip_b2_index *x);
/* The table for spaces. */
cip_table cip_b2_index_table(cip_b2_index *x);
/* Entry i. UNSUPPORTED for reserved special values, CORRUPT for offsets outside. */
cip_status cip_b2_index_entry(cip_b2_index *x, uint64_t i, cip_b2_entry *out, cip_err *err);
/* Adds the offsets (a uint64_t each; of a sparse frame the numbers) of all chunks with data,
 * rising.
 */
cip_status cip_b2_index_offsets(cip_b2_index *x, cip_buf *out, cip_err *err);
/* The head of chunk i (not a special one), checked against what the frame says of it; and where
 * its stored bytes lie: out->at, and out->head where there is room. */
cip_status cip_b2_index_head(cip_b2_index *x, uint64_t i, const cip_b2_entry *e,
                             cip_blosc_head *head, cip_chunk *out, cip_err *err);
/* Decoded bytes that chunk i must have; 0: only its head knows. */
uint64_t cip_b2_index_expected(const cip_b2_index *x, uint64_t i);
/* What only the heads of all chunks say: the sizes of variable ones. */
cip_status cip_b2_index_ready(cip_b2_index *x, cip_err *err);

/* --- blosc2_nd.c: n-d arrays ------------------------------------------------------------------ */

typedef struct cip_b2_nd {
    int32_t ndim;
    int64_t shape[CIP_B2_MAX_NDIM], chunk[CIP_B2_MAX_NDIM], block[CIP_B2_MAX_NDIM];
    int64_t stored[CIP_B2_MAX_NDIM]; /* chunk rounded up to whole blocks */
    uint64_t nchunk;
    uint64_t item; /* bytes of an element, as the frame has them */
    bool unset;    /* chunks and blocks are not chosen yet: those of an array of nothing may be 0 */
    bool has_dtype;
    uint8_t dtype_format; /* 0: numpy's text */
    cip_bytes dtype;
} cip_b2_nd;

/* The b2nd (or caterva) metalayer. */
cip_status cip_b2_nd_read(cip_bytes in, cip_b2_nd *out, cip_err *err);
/* What follows from the lengths: chunks rounded up to whole blocks, and their number. CORRUPT for
 * lengths that cannot be. */
cip_status cip_b2_nd_derive(cip_b2_nd *nd, cip_err *err);
/* Compares it with the frame it lies in; sets `item`. */
cip_status cip_b2_nd_check(cip_b2_nd *nd, const cip_b2_header *h, uint64_t nchunk, cip_err *err);
/* The type of its elements: that of the dtype text where it has `item` bytes, otherwise opaque
 * with *why (NULL: nothing is wrong) saying why. */
cip_status cip_b2_nd_dtype(cip_arena *a, const cip_b2_nd *nd, const cip_dtype **out,
                           const char **why, cip_err *err);

/* --- blosc2_frame.c: a frame as spaces -------------------------------------------------------- */

struct cip_b2_frame {
    cip_layout *layout;
    cip_space *in;
    uint64_t base;
    cip_b2_header h;
    cip_bytes header; /* all of it */
    cip_b2_metas meta;
    cip_b2_trailer trailer;
    uint8_t *trailer_bytes;
    cip_b2_metas vlmeta;
    bool vlmeta_read; /* false: damaged, and left out */
    cip_b2_index index;
    const cip_b2_meta *nd_meta; /* or NULL */
    cip_b2_nd nd;
    cip_io *numbered; /* sparse: owned */
    cip_space *data;  /* decoded: a GRID with nd, otherwise CHUNKED */
};

/* Opens the frame whose first byte is byte `off` of the space; it may end before `len` bytes do.
 * Lives until cip_b2_frame_clear; its memory is the layout's arena. For frames in other formats
 * (ASDF's bls2 blocks) as well: no other format needs to know what a frame looks like. */
cip_status cip_b2_frame_open(cip_layout *l, cip_space *in, uint64_t off, uint64_t len,
                             cip_b2_frame **out, cip_err *err);
void cip_b2_frame_clear(cip_b2_frame *f);
/* blosc2_salvage.c: index and trailer of a frame whose header is read, and of which `len` bytes are
 * there, where they are not as the header says: what is found is warned of. CORRUPT where the order
 * of the chunks is not certain. */
cip_status cip_b2_salvage(cip_b2_frame *f, uint64_t len, cip_err *err);
/* All raw bytes of the chunks one behind the other, padding included, whatever the array makes of
 * them. */
cip_status cip_b2_frame_linear(const cip_b2_frame *f, cip_space **out, cip_err *err);

/* The array's linear bytes of a frame that is bytes [off, off + len) of the layout's file, for
 * formats in whose files frames lie (ASDF's bls2 blocks). It is opened as a file of its own whose
 * layout is a child of this one. */
cip_status cip_b2_nested_space(cip_layout *l, uint64_t off, uint64_t len, cip_space **out,
                               cip_err *err);

/* --- blosc2_write_nested.c: such frames written ----------------------------------------------- */

/* A list of items, of which nothing is said but their size. */
typedef struct cip_b2_nested {
    cip_env *env;
    const cip_blosc_spec *blosc; /* codec, level and filters; NULL: by default */
    uint64_t typesize, nitem;
    const cip_array *source; /* that has just these items, whose chunks may move; or NULL */
} cip_b2_nested;

/* To `out`, which is empty and can be changed; *form: how the items are stored. What it makes lives
 * in the arena until cip_b2_nested_clear. */
cip_status cip_b2_nested_begin(const cip_b2_nested *n, cip_arena *a, cip_out *out,
                               cip_array_form *form, void **state, cip_err *err);
cip_store_fn cip_b2_nested_store;
cip_status cip_b2_nested_end(void *state, cip_mem *mem, cip_out *out, cip_err *err);
/* NULL is fine. */
void cip_b2_nested_clear(void *state);

/* --- blosc2_tensor.c -------------------------------------------------------------------------- */

/* Type and shape that pack_tensor noted, into the array; *is false (and a warning, where the note
 * cannot be used) otherwise. */
cip_status cip_b2_tensor(cip_layout *l, const cip_b2_frame *f, cip_array *a, bool *is,
                         cip_err *err);

/* --- the rest --------------------------------------------------------------------------------- */

/* Bare chunks: whether all of the io is one. */
bool cip_b2_is_chunk(cip_io *io, cip_bytes head);
cip_status cip_b2_chunk_open(cip_layout *l, cip_err *err);

/* What an open file is: a frame, or with neither a bare chunk. */
typedef struct cip_b2_file {
    cip_b2_frame *frame;
    cip_io *index; /* of a folder: chunks.b2frame, owned */
} cip_b2_file;

/* Metadata: tree and facts. */
/* The filters as cip_blosc_filters_print has them. */
cip_status cip_b2_filter_fact(cip_layout *l, const uint8_t *filter, const uint8_t *meta,
                              cip_err *err);
/* The value of a vlmetalayer, to be put by the caller, out of its chunk. LIMIT for one of over
 * CIP_B2_VALUE_MAX bytes or of more than *left, which becomes less. */
cip_status cip_b2_value_decode(cip_mem *mem, cip_bytes in, uint64_t *left, uint8_t **raw, size_t *n,
                               cip_err *err);
cip_status cip_b2_tree(cip_layout *l, const cip_b2_frame *f, const cip_node **out, cip_err *err);
cip_status cip_b2_facts(cip_layout *l, const cip_b2_frame *f, cip_err *err);

/* blosc2_blocks.c: the chunks, for those who look at them one by one. */
cip_status cip_b2_list_blocks(cip_layout *l, cip_err *err);
/* The names of a sparse frame's index and of its chunk files. */
extern const char cip_b2_sparse_index[];
cip_io_number_place cip_b2_member_name;
cip_status cip_b2_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err);

extern const cip_format cip_format_blosc2;

#endif
