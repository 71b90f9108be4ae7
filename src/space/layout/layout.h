/* SPDX-License-Identifier: BSD-3-Clause
 * What a format makes of a file: spaces, arrays that lie in them, and the metadata tree.
 *
 * A space is a linear run of bytes. It may be a member of the file, memory, a part of another
 * space, or be made of chunks that lie in other spaces and decode through codecs; so nesting,
 * sharing and laziness are one thing. Arrays point to a space; pipeline, table and cache belong to
 * the space. */
#ifndef CIP_SPACE_LAYOUT_H
#define CIP_SPACE_LAYOUT_H

#include <pthread.h>
#include <stdatomic.h>

#include "array/elem.h"
#include "array/view.h"
#include "codec/checksum/checksum.h"
#include "cippus/ext/chunk.h"
#include "cippus/file.h"
#include "codec/codec.h"
#include "io/io.h"
#include "tree/value.h"

typedef struct cip_space cip_space;
typedef struct cip_layout cip_layout;
struct cip_cache;

/* Where stored bytes lie: [off, off + len) of a space. */
typedef struct cip_extent {
    cip_space *in;
    uint64_t off, len;
} cip_extent;

/* A chunk's state is cip_chunk_state. NAN: floats of codec_env.typesize (4 or 8) bytes, in the
 * order that the space's `big` says. MISSING: `why` says why. */

/* The asker's room, `cap` bytes (0: none), for the first stored bytes of a chunk: a table that has
 * to look into the chunk leaves there what it read, `len` bytes of it. */
typedef struct cip_chunk_head {
    uint8_t *ptr;
    size_t cap, len;
} cip_chunk_head;

/* One chunk, or `run` equal special ones in a row (0 counts as 1). raw_off, raw_len and run are of
 * the chunk that was asked for: a table asked for chunks 5 and 6 of a run 0..9 gives runs of 5 and
 * 4. Only special chunks run on. */
typedef struct cip_chunk {
    cip_extent at;
    uint64_t raw_off,
        raw_len; /* in the space; of a GRID: bytes of the stored (padded) chunk, raw_off unused */
    uint64_t run;
    uint8_t state; /* cip_chunk_state */
    cip_status why;
    const char *lack;     /* MISSING: why, in words that live as long as the table; or NULL */
    const uint8_t *value; /* VALUE: value_len bytes, borrowed from the layout; raw byte p of the
                             chunk is value[p % value_len] */
    uint32_t value_len;
    const cip_codec
        *codec;     /* overrides the space's steps (NULL args then); &cip_codec_stored: as it is */
    uint8_t sum_id; /* cip_sum_id, of the stored bytes: compared whenever they are decoded */
    uint8_t sum[CIP_SUM_MAX];
    cip_chunk_head head;
} cip_chunk;

/* Checkpoints a chunk that is stored as it is in a space whose other chunks have a codec. */
extern const cip_codec cip_codec_stored;

/* A table is a function: an index may be compressed, a walk, or 2^40 zero chunks in 240 bytes.
 * Thread-safe; may be lazy. */
typedef struct cip_table {
    /* Chunks i .. i+n-1 into out[] (zeroed before, but for `head`). RANGE beyond the end. */
    cip_status (*at)(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err);
    /* The chunk that holds the raw byte, after what lazy work that takes; NULL for equal chunks
     * (then raw_off / raw_each). */
    cip_status (*find)(void *self, uint64_t raw_off, uint64_t *i, cip_err *err);
    /* Number of chunks; called before the others where `find` is NULL, may do the lazy work. */
    cip_status (*count)(void *self, uint64_t *n, cip_err *err);
    /* Where chunk i's stored bytes begin, for reading ahead: of a table that looks into a chunk
     * before it tells of it. NULL: `at` reads nothing. at->in NULL: nowhere. */
    void (*place)(void *self, uint64_t i, cip_extent *at);
    uint64_t raw_each; /* bytes of every chunk but the last (beside `find`: as it should be, damaged
                          files may have shorter ones); 0: unequal */
    void *self;
} cip_table;

/* An n-d array cut in chunks: chunk (i, j, ...) in C order of the chunk grid holds elements
 * [i * chunk[0], (i+1) * chunk[0]) x ... as an array of shape `stored` (>= chunk; = chunk when
 * NULL) in C order. Edge chunks are padded to full size. The space's linear bytes are the whole
 * array in C order without padding. `blocked`: a chunk's bytes are its inner blocks one behind the
 * other, in C order of the block grid, each complete and in C order; `stored` is then a multiple of
 * `block`. */
typedef struct cip_grid {
    uint64_t itemsize;
    int32_t ndim;
    bool blocked;
    const int64_t *shape, *chunk;
    const int64_t *stored; /* or NULL */
    const int64_t *block;  /* inner blocks, or NULL; not `blocked`: only handed to the codec */
} cip_grid;

/* A step of a chunk's pipeline: steps are applied in order to decode, each to as many bytes as the
 * chunk has raw ones. */
typedef struct cip_step {
    const cip_codec *codec;
    const void *args;
} cip_step;

enum { CIP_MAX_STEPS = 8 };

/* A run of a record's bytes that is one of a column's row, too. */
typedef struct cip_record_part {
    uint64_t off;  /* in the record */
    uint64_t from; /* in the row */
    uint64_t len;
} cip_record_part;

/* What lies together of all records: a row for each. */
typedef struct cip_record_column {
    cip_space *in;
    uint64_t row; /* bytes */
    const cip_record_part *part;
    size_t npart;
    const struct cip_array *array; /* all rows of `in`, of so many bytes: what an update of the
                                      records changes; NULL: they cannot be */
} cip_record_column;

typedef enum cip_space_kind {
    CIP_SPACE_FILE = 1, /* all bytes of an io */
    CIP_SPACE_MEM,      /* bytes that the layout owns */
    CIP_SPACE_SUB,      /* a part of another space */
    CIP_SPACE_CHUNKED,  /* linear chunks through steps */
    CIP_SPACE_GRID,     /* n-d chunks through steps */
    CIP_SPACE_SEQ,      /* one extent through one codec, decoded in order */
    CIP_SPACE_RECORDS,  /* records put together of columns */
    CIP_SPACE_LAZY      /* made at first use */
} cip_space_kind;

struct cip_space {
    cip_space_kind kind;
    cip_layout *layout;
    uint64_t id;       /* unique within the layout and its children: the cache's key */
    uint64_t len;      /* bytes. LAZY: known after cip_space_resolve */
    const char *label; /* for messages: "block 3"; borrowed from the layout, may be NULL */
    union {
        cip_io *io;      /* FILE */
        cip_bytes mem;   /* MEM */
        cip_extent sub;  /* SUB, SEQ */
        cip_table table; /* CHUNKED, GRID */
        struct {         /* RECORDS */
            uint64_t itemsize;
            const cip_record_column *column;
            size_t n;
        } records;
        struct { /* LAZY */
            cip_status (*make)(void *self, cip_space **out,
                               cip_err *err); /* called once, under the lazy lock */
            void *self;
            _Atomic(cip_space *) made;
            _Atomic int state; /* 0 not yet, 1 made, 2 failed, 3 being made (by the lock's owner) */
            cip_status st;     /* of a failure */
            const cip_err *err; /* its text; NULL when there was no memory for it */
        } lazy;
    };
    const cip_grid *grid;              /* GRID */
    struct cip_chunk_changes *changes; /* of an update: what becomes of its chunks; or NULL */
    uint8_t nstep;                     /* SEQ: exactly 1 */
    cip_step step[CIP_MAX_STEPS];
    bool big; /* CHUNKED, GRID: byte order of NaN chunks */
    cip_codec_env
        codec_env; /* typesize, shapes: what codecs are told (mem is filled in when decoding) */
    cip_space
        *in_order; /* CHUNKED: the same bytes decoded in order (SEQ): tried when a chunk does not
                      fit the table (CORRUPT), and used from then on if it serves; or NULL */
    _Atomic bool use_in_order;
    _Atomic bool touched; /* SEQ: something of it was read before */
    _Atomic bool broken;  /* SEQ: it does not decode to its end; what lies before is given */
};

typedef enum cip_mask_kind {
    CIP_MASK_NONE = 0,
    CIP_MASK_VALUE,       /* elements equal to `value` are missing (NaN: those that are NaN); never
                             of records */
    CIP_MASK_SET_MISSING, /* nonzero in `array` = missing; broadcast to the array's shape */
    CIP_MASK_SET_VALID,
    CIP_MASK_BITS /* one bit each, LSB first, nonzero = valid */
} cip_mask_kind;

/* A field of records, no record itself, with items that are missing on their own. */
typedef struct cip_masked_field {
    uint64_t off;     /* of its first item, in the record */
    const char *name; /* its path in the record; borrowed */
    bool nan;         /* they read as NaN, so that whole records show them too */
} cip_masked_field;

typedef struct cip_mask {
    cip_mask_kind kind;
    struct cip_array *array; /* SET_*, BITS */
    const uint8_t *value;    /* VALUE: one element of the array's own dtype */
    /* Besides, of records: the masked fields, and a space as long as the array's whose byte where
     * an item of theirs begins is 1 when it is missing, else 0. */
    const cip_masked_field *field;
    size_t nfield;
    cip_space *in_fields; /* with nfield */
} cip_mask;

/* Where an array's data lie. The kinds that only one format has are OWN. */
typedef enum cip_storage_kind {
    CIP_STORAGE_UNSAID = 0,
    CIP_STORAGE_INTERNAL,   /* in a block of the file */
    CIP_STORAGE_INLINE,     /* as values in the tree */
    CIP_STORAGE_EXTERNAL,   /* in a file of its own beside it */
    CIP_STORAGE_STREAMED,   /* at the end of the file, to grow there */
    CIP_STORAGE_REFERENCE,  /* another array's, which the tree names */
    CIP_STORAGE_CONTIGUOUS, /* in one run of the file */
    CIP_STORAGE_CHUNKED,    /* in linear chunks */
    CIP_STORAGE_NESTED,     /* files inside its elements */
    CIP_STORAGE_OWN
} cip_storage_kind;

/* "internal" ...; "" for UNSAID and OWN. */
const char *cip_storage_kind_text(cip_storage_kind kind);

/* How an array's data are stored: for `ls`, `info`. All borrowed. */
typedef struct cip_storage {
    cip_storage_kind kind;
    const char *own;      /* OWN: the kind in words, "sparse" */
    const char *codec;    /* "zlib", "none", ... */
    uint64_t nbytes;      /* stored bytes (of the whole block where shared) */
    const int64_t *chunk; /* chunk shape, ndim entries, or NULL */
    int64_t block;        /* index of the block it lies in, or -1 */
} cip_storage;

static inline const char *cip_storage_text(const cip_storage *s)
{
    return s->kind == CIP_STORAGE_OWN ? s->own : cip_storage_kind_text(s->kind);
}

struct cip_array {
    cip_layout *layout;
    const char *path; /* as `ls` prints it: no leading "/" unless the first key is empty */
    const cip_dtype *dtype;
    cip_nd view;      /* itemsize, shape, strides, off: in the linear bytes of `space` */
    cip_space *space; /* NULL only when st != CIP_OK */
    cip_mask mask;
    const cip_node *node;         /* its description in the tree, or NULL */
    const struct cip_array *same; /* the array that the tree describes, where this is only another
                                     name of it; NULL: it is none */
    const cip_node *attributes;   /* what users said of this array, where its format tells that from
                                     what they said of the file: a map, or NULL */
    cip_storage storage;
    cip_status st; /* not CIP_OK: it is listed, but cannot be read; `why` says why */
    const cip_err *why;
    const cip_dtype
        *packed[2]; /* its dtype packed, little and big: made when asked for, under `lock` */
    const struct cip_array *was; /* the array as its file lists it, where an update has made this of
                                    it; NULL: itself, or it came */
    bool f_order;                /* stored first axis fastest: what --column-major shows reversed */
    const cip_node *unwritten;   /* what rows that come without values hold, as the format says it;
                                    NULL: zeros */
};

static inline const cip_array *cip_array_listed(const cip_array *a)
{
    return a->was != NULL ? a->was : a;
}

/* A block or chunk as it lies in the file: for `info --blocks`, `cat --block`, verify. */
typedef struct cip_block {
    cip_block_info info; /* what users see */
    uint8_t sum_id;      /* cip_sum_id of info.checksum_value; NONE: none stored */
    cip_space *stored;   /* the used bytes as they are */
    cip_space *data;     /* decoded; NULL when info.state is set */
    const cip_err *why;
} cip_block;

/* A fact about the file in words: for `info`. */
typedef struct cip_fact {
    const char *key, *value;
} cip_fact;

struct cip_layout {
    cip_env *env;
    struct cip_cache *cache;  /* decoded chunks; shared with children */
    cip_arena arena;          /* all below; guarded by `lock` after open */
    pthread_mutex_t lock;     /* guards arena and children after open; a leaf */
    pthread_mutex_t lazy;     /* of the root layout, recursive: held while a lazy space is made */
    _Atomic uint64_t next_id; /* of the root layout: the next space's */
    struct cip_buffer_pool *buffers; /* decoding buffers; shared with children */
    const struct cip_tuning *tuning; /* how reads go about it */
    struct cip_decoders *decoders;   /* sequential decoders kept open where a read stopped, for the
                                        read that goes on there; shared with child layouts */
    struct cip_checkpoints
        *checkpoints; /* where later reads of a SEQ may begin decoding; shared with child layouts */
    struct cip_sidecar *sidecar; /* checkpoints beside the file, or NULL; the root layout's */
    cip_layout *parent;          /* of an external file: who opened it */
    cip_layout **child;
    size_t nchild, child_cap;
    cip_io *io;          /* the file; closed with the layout when owned */
    struct cip_far *far; /* bytes of a far file that were read ahead, or NULL; the parent's where
                            the io is a part of the parent's */
    uint64_t far_off;    /* where the io's first byte lies in what `far` was made for */
    bool owns_io;
    uint64_t beside;      /* bytes of members that belong to the file as well */
    cip_space *file;      /* all of its bytes */
    cip_bytes head;       /* while it is opened: the first of them, read to choose the format */
    const char *format;   /* "asdf" */
    const char *version;  /* of the format, as the file says */
    const char *uri;      /* name of the file, for external references */
    const cip_node *tree; /* or NULL */
    cip_array **array;
    size_t narray, array_cap;
    cip_block *block;
    size_t nblock;
    cip_status (*list_blocks)(cip_layout *layout, cip_err *err); /* optional: makes them when they
                                                                    are first asked for */
    _Atomic bool blocks_listed;
    cip_fact *fact;
    size_t nfact, fact_cap;
    void *own; /* the format's own state, in the arena or freed by `clear` */
    void (*clear)(cip_layout *layout);
    uint32_t flags;          /* cip_open_flags */
    const char *const *root; /* other folders that parts of the file lie in, nroot of them;
                                borrowed */
    size_t nroot;
    bool uses_roots; /* the format looked into them */
    uint64_t generation;
    _Atomic bool may_change; /* the file may change under this layout: reads look whether it did */
};

/* What the caller of open asked for. */
enum {
    CIP_OPEN_EXTERNAL = 1,  /* external files outside the folder may be opened */
    CIP_OPEN_FORCE = 2,     /* go on where the version or flags are unknown */
    CIP_OPEN_CHECK = 4,     /* blocks are compared with their checksums before they are read */
    CIP_OPEN_SALVAGE = 8,   /* what is damaged is opened as far as what it holds is certain */
    CIP_OPEN_IN_ORDER = 16, /* besides: chunks whose order is lost lie in it in the file */
    CIP_OPEN_MAPPED = 32,   /* reads are copies from a mapping of the file */
    CIP_OPEN_NO_LINK = 64   /* a path that is a link is not followed */
};

/* Making a layout; `io` is borrowed unless owns_io is set afterwards. The env outlives it. */
cip_status cip_layout_new(cip_env *env, cip_io *io, cip_layout **out, cip_err *err);
/* A layout for another file seen from this one: shares env and cache; freed with the parent. */
cip_status cip_layout_new_child(cip_layout *parent, cip_io *io, cip_layout **out, cip_err *err);
void cip_layout_free(cip_layout *layout);
/* Reads ask its io for no byte but those that are wanted, as others may be refused. */
cip_status cip_layout_read_exactly(cip_layout *layout, cip_err *err);
/* How many external files deep: 0 for the file itself. */
int cip_layout_depth(const cip_layout *layout);
/* Whether the file can honestly stand for so many decoded bytes: 2^17 for each of its own, which no
 * codec that we know exceeds but by repeating one value, and always 4 GiB. */
bool cip_layout_expects(const cip_layout *layout, uint64_t nbytes);
/* What messages say of that: "a file of 314 bytes"; a folder has no size of its own. */
enum { CIP_LAYOUT_KIND = 48 };
const char *cip_layout_kind(const cip_layout *layout, char text[CIP_LAYOUT_KIND]);

/* Spaces, in the layout's arena (these lock it, so that lazy makers may call them). */
/* All bytes of an io (borrowed): a member beside the file. */
cip_status cip_space_new_file(cip_layout *l, cip_io *io, cip_space **out, cip_err *err);
cip_status cip_space_new_mem(cip_layout *l, cip_bytes mem, cip_space **out, cip_err *err);
/* RANGE when [off, off + len) does not lie in `in` (checked when its length is known). */
cip_status cip_space_new_sub(cip_layout *l, cip_space *in, uint64_t off, uint64_t len,
                             cip_space **out, cip_err *err);
cip_status cip_space_new_chunked(cip_layout *l, const cip_table *table, uint64_t len,
                                 const cip_step *step, size_t nstep, cip_space **out, cip_err *err);
/* The grid is copied. */
cip_status cip_space_new_grid(cip_layout *l, const cip_grid *grid, const cip_table *table,
                              const cip_step *step, size_t nstep, cip_space **out, cip_err *err);
cip_status cip_space_new_seq(cip_layout *l, const cip_extent *at, uint64_t len,
                             const cip_step *step, cip_space **out, cip_err *err);
/* n records of `itemsize` (not 0) bytes, put together of columns (copied; their parts are borrowed
 * and lie within records and rows). Bytes of no part are zeros. LIMIT over 2^63 bytes. */
cip_status cip_space_new_records(cip_layout *l, uint64_t n, uint64_t itemsize,
                                 const cip_record_column *column, size_t ncolumn, cip_space **out,
                                 cip_err *err);
/* `make` is called at first use, once; its result or error is kept (no memory for the error's text:
 * its status is). It may make spaces, children and read spaces; reads that it makes run in its own
 * thread. A lazy space that needs itself to be made is CORRUPT. Makers run one at a time. */
cip_status cip_space_new_lazy(cip_layout *l,
                              cip_status (*make)(void *self, cip_space **out, cip_err *err),
                              void *self, cip_space **out, cip_err *err);
/* The space holds other bytes from now on: what was kept of it counts no more. */
void cip_space_renew(cip_space *s);
/* Follows LAZY to what was made (any other kind: itself). Thread-safe. The error is kept and given
 * again. */
cip_status cip_space_resolve(cip_space *s, cip_space **out, cip_err *err);
/* A table over n chunks kept in the layout's arena (copied). Equal-sized ones are found by
 * division. */
cip_status cip_table_from_array(cip_layout *l, const cip_chunk *chunk, size_t n, cip_table *out,
                                cip_err *err);

/* Adds an array (zeroed, owned by the arena) to the list, or only makes one (`listed` false:
 * masks). */
cip_status cip_layout_add_array(cip_layout *l, bool listed, cip_array **out, cip_err *err);
/* A copy that lives as long as the layout; NULL where there is no memory for it. */
const cip_err *cip_layout_keep_err(cip_layout *l, const cip_err *err);
/* The array cannot be read: err as it stands is copied. */
void cip_array_refuse(cip_array *a, cip_status st, const cip_err *err);
cip_status cip_layout_add_fact(cip_layout *l, const char *key, cip_err *err, const char *fmt, ...)
    CIP_PRINTF(4, 5);

#endif
