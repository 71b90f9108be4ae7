/* SPDX-License-Identifier: BSD-3-Clause
 * The inside of reading: what goes along with a read, and the readers of each kind of space.
 * Private to src/space. */
#ifndef CIP_SPACE_READER_H
#define CIP_SPACE_READER_H

#include "base/num.h"
#include "space/read/cache.h"
#include "space/sequential/checkpoints.h"
#include "space/read/nd_walk.h"
#include "space/read/read.h"
#include "space/read/buffer_pool.h"
#include "space/read/tuning.h"

/* Spaces in spaces and lazies that give lazies: a cycle ends here. */
enum { CIP_SPACE_MAX_DEPTH = 16 };

/* A read under way. */
typedef struct cip_rd {
    cip_env *env;
    cip_cache *cache;
    cip_buffer_pool *buffers;
    struct cip_decoders *decoders;
    cip_checkpoints *checkpoints;
    struct cip_sidecar *sidecar; /* or NULL */
    const cip_tuning *tune;
    cip_pool *pool;            /* NULL: in this thread */
    const cip_space *in_order; /* a SEQ that is not decoded as a whole, or NULL */
    unsigned depth;            /* of the space being read in those that it is part of */
    const char *label;         /* of the innermost space with one, for errors; or NULL */
    bool made_only;            /* descending makes no lazy space */
} cip_rd;

/* In a thread that makes a lazy space the pool is left out: a job of it could wait for the lazy
 * lock that this thread holds. */
cip_rd cip_rd_make(const cip_read_how *how);
/* The same one level deeper; CORRUPT where that is too deep. */
cip_status cip_rd_deeper(const cip_rd *rd, cip_rd *out, cip_err *err);
/* Whether this thread is making a lazy space. */
bool cip_lazy_in_maker(void);

/* Whether a failure says something about the data, and not about the machine. */
static inline bool cip_is_damage(cip_status st)
{
    return st == CIP_ERR_CORRUPT || st == CIP_ERR_TRUNCATED || st == CIP_ERR_CHECKSUM;
}

/* --- spans: wants[].off + shift (modulo 2^64) are positions in s ------------------------------ */

cip_status cip_rd_spans(const cip_rd *rd, cip_space *s, uint64_t shift, const cip_want *want,
                        size_t n, cip_err *err);
cip_status cip_rd_at(const cip_rd *rd, cip_space *s, uint64_t off, void *dst, size_t n,
                     cip_err *err);
/* Down through lazy spaces and parts to the space that holds the bytes, or what they are decoded
 * from: *shift, rd->depth and rd->label move along. [off, off + len) with *shift has to lie in
 * each: RANGE beyond the outermost one, TRUNCATED beyond those below. */
cip_status cip_rd_descend(cip_rd *rd, cip_space **s, uint64_t *shift, uint64_t off, uint64_t len,
                          cip_err *err);
/* Names in the error what was read. */
cip_status cip_rd_fail(const cip_rd *rd, cip_status st, cip_err *err);
/* Whether all of an extent is there: TRUNCATED naming `what` otherwise. Resolves at->in. */
cip_status cip_extent_check(const cip_extent *at, const char *what, cip_err *err);
/* Follows parts of parts to the FILE or MEM that holds the bytes as they are; false where they are
 * decoded or not there. `make`: lazy spaces are made on the way. */
bool cip_space_follow(cip_space **s, uint64_t *off, uint64_t len, bool make);
/* Where a position lies in the file, for messages; CIP_NO_OFFSET where it does not. */
uint64_t cip_space_file_offset(cip_space *s, uint64_t off);

cip_status cip_chunked_spans(const cip_rd *rd, cip_space *s, uint64_t shift, const cip_want *want,
                             size_t n, cip_err *err);
cip_status cip_grid_spans(const cip_rd *rd, cip_space *s, uint64_t shift, const cip_want *want,
                          size_t n, cip_err *err);
cip_status cip_records_spans(const cip_rd *rd, cip_space *s, uint64_t shift, const cip_want *want,
                             size_t n, cip_err *err);
/* Whether a view of RECORDS lies in one part of one column: then *out is the same in *in. */
bool cip_records_narrow(const cip_space *s, const cip_nd *v, cip_space **in, cip_nd *out);
/* The number of that column; of none: as many as there are. */
size_t cip_records_column(const cip_space *s, const cip_nd *v, cip_nd *out);
cip_status cip_seq_spans(const cip_rd *rd, cip_space *s, uint64_t shift, const cip_want *want,
                         size_t n, cip_err *err);

/* --- one chunk -------------------------------------------------------------------------------- */

/* Decoded bytes at hand. */
typedef struct cip_pinned {
    const uint8_t *ptr;
    cip_cache_entry *pin;
    cip_pooled room;
} cip_pinned;

enum { CIP_HEAD_ROOM = 4096 }; /* more of its chunk is looked at by few codecs */
/* Chunk i of the table, checked as far as it can be without reading: run is at least 1, CHUNKED:
 * it lies in the space; GRID: raw_len is `raw_len`. `head`: CIP_HEAD_ROOM bytes for out->head, or
 * NULL. */
cip_status cip_chunk_entry(cip_space *s, uint64_t i, uint64_t raw_len, uint8_t *head,
                           cip_chunk *out, cip_err *err);
/* The number of the linear chunk that byte `pos` is in. */
static inline cip_status cip_chunk_number_at(const cip_space *s, uint64_t pos, uint64_t *i,
                                             cip_err *err)
{
    if (s->table.find != NULL)
        return s->table.find(s->table.self, pos, i, err);
    if (s->table.raw_each == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "chunks of no size");
    *i = pos / s->table.raw_each;
    return CIP_OK;
}

/* What is wanted of a chunk, as far as it decides how the chunk is read. */
typedef struct cip_chunk_ask {
    uint64_t nbytes; /* wanted bytes */
    bool direct;     /* they are all of the chunk and go to one place as they are */
    bool staged;     /* elements: pieces are gathered in a buffer before they are cast */
    bool batches;    /* inner blocks: decoded a few at a time and cast while they are hot */
    uint64_t again;  /* entries of the chunk's table of blocks that later batches look at again */
    bool first_look; /* nothing of it was read before, and little is wanted */
} cip_chunk_ask;

typedef enum cip_chunk_way {
    CIP_WAY_STORED,  /* stored as it is: pieces are read where they lie */
    CIP_WAY_DIRECT,  /* decoded to where all of it goes */
    CIP_WAY_WHOLE,   /* decoded into the cache; into a buffer where it is too large to be kept */
    CIP_WAY_PIECES,  /* what the codec says that it needs; a small part of what is decoded together:
                        all of that, into the cache when it is asked for often */
    CIP_WAY_IN_ORDER /* decoded from its beginning to the last piece, with little memory */
} cip_chunk_way;

/* The one place where it is decided how a chunk with data is read, if it is not in the cache: */
cip_chunk_way cip_chunk_way_of(const cip_rd *rd, const cip_space *s, const cip_chunk *c,
                               const cip_chunk_ask *a);

/* The key of chunk i. */
static inline cip_cache_key cip_chunk_key(const cip_space *s, uint64_t i)
{
    return (cip_cache_key){ .space = s->id, .chunk = i };
}

/* The key of its block that begins at raw byte `off`. */
static inline cip_cache_key cip_block_key(const cip_space *s, uint64_t i, uint64_t off)
{
    return (cip_cache_key){ .space = s->id, .chunk = i, .block = 1 + off };
}

/* A chunk that is read, or going to be: what of its raw bytes (rising, not overlapping, within). */
typedef struct cip_chunk_wish {
    uint64_t i, raw_len; /* raw_len: of a GRID's chunk */
    const cip_want *piece;
    size_t n;
    cip_chunk_ask ask;
} cip_chunk_wish;

/* Of pieces that are wanted for themselves. */
static inline cip_chunk_wish cip_chunk_wish_of(uint64_t i, uint64_t raw_len, const cip_want *piece,
                                               size_t n)
{
    cip_chunk_wish w = { .i = i, .raw_len = raw_len, .piece = piece, .n = n };
    for (size_t k = 0; k < n; k++)
        w.ask.nbytes += piece[k].len;
    w.ask.direct = n == 1 && piece->len == raw_len;
    return w;
}

/* Fills the pieces of a chunk with data that is not in the cache. */
cip_status cip_chunk_pieces_by(const cip_rd *rd, cip_space *s, const cip_chunk *c,
                               const cip_chunk_wish *w, cip_chunk_way way, cip_err *err);
/* Fills the pieces of any chunk, the way that is best. */
cip_status cip_chunk_pieces(const cip_rd *rd, cip_space *s, const cip_chunk *c,
                            const cip_chunk_wish *w, cip_err *err);
/* Whether what the space is made of lies in a far file, so that wishes are worth making. */
static inline bool cip_space_is_far(const cip_space *s)
{
    return s->layout->far != NULL;
}

/* The extent is going to be read, all of it. */
void cip_extent_expect(const cip_extent *at);
/* Reads ahead what n chunks need, in one request for their heads and one for the rest. What fails
 * is left to the reading itself. */
void cip_chunks_expect(const cip_rd *rd, cip_space *s, const cip_chunk_wish *w, size_t n);
/* Stored bytes, as places in their FILE, that reading chunk `c` so will ask for beside its head:
 * into need[0..max). */
size_t cip_chunk_needs(const cip_rd *rd, cip_space *s, const cip_chunk_wish *w, const cip_chunk *c,
                       cip_need *need, size_t max);
/* Fills pieces of a special chunk, or says why it is missing; *special false: it has data. */
cip_status cip_chunk_special(const cip_space *s, const cip_chunk *c, const cip_want *piece,
                             size_t n, bool *special, cip_err *err);
/* The repeated bytes of a special chunk (not MISSING); false for DATA. */
bool cip_chunk_pattern(const cip_space *s, const cip_chunk *c, cip_bytes *out, uint8_t own[8]);

/* All of one chunk's raw bytes to dst. */
cip_status cip_chunk_decode(const cip_rd *rd, cip_space *s, const cip_chunk *c, uint8_t *dst,
                            cip_err *err);
/* Compares a chunk's stored bytes with its sum, where it has one: CHECKSUM. */
cip_status cip_chunk_check_sum(cip_mem *mem, const cip_chunk *c, cip_bytes stored, cip_err *err);
/* Pieces of a chunk that is stored as it is. */
cip_status cip_chunk_read_stored(const cip_rd *rd, const cip_chunk *c, const cip_want *piece,
                                 size_t n, cip_err *err);
/* The steps that a chunk with data went through; none: it is stored as it is. */
typedef struct cip_steps {
    const cip_step *at;
    size_t n;
} cip_steps;
/* `own`: room for a step of the chunk's own. */
cip_steps cip_chunk_steps(const cip_space *s, const cip_chunk *c, cip_step *own);
/* What the space's codecs are told. */
cip_codec_env cip_rd_codec_env(const cip_rd *rd, const cip_space *s);
/* All of one chunk's raw bytes somewhere; `keep`: in the cache for the next who asks. */
cip_status cip_chunk_pin(const cip_rd *rd, cip_space *s, uint64_t i, const cip_chunk *c, bool keep,
                         cip_pinned *out, cip_err *err);
/* The same if they are in the cache. */
bool cip_chunk_hold_cached(const cip_rd *rd, const cip_space *s, uint64_t i, const cip_chunk *c,
                           cip_pinned *out);
void cip_pinned_drop(const cip_rd *rd, cip_pinned *h);
/* Names the chunk in an error. */
cip_status cip_chunk_fail_in(cip_err *err, cip_status st, const cip_space *s, uint64_t i);

/* --- decoding in order ------------------------------------------------------------------------ */

/* A decoder somewhere in an extent. One thread at a time. */
typedef struct cip_seq cip_seq;
/* UNSUPPORTED when the codec cannot. */
cip_status cip_seq_begin(const cip_rd *rd, const cip_step *step, const cip_codec_env *env,
                         const cip_extent *at, cip_seq **out, cip_err *err);
/* The next n raw bytes to dst, or passed over (dst NULL). TRUNCATED, CORRUPT when there are fewer.
 */
cip_status cip_seq_take(const cip_rd *rd, cip_seq *q, uint8_t *dst, uint64_t n, cip_err *err);
/* Whether the data end here: CORRUPT when more follow. */
cip_status cip_seq_check_end(const cip_rd *rd, cip_seq *q, cip_err *err);
uint64_t cip_seq_pos(const cip_seq *q);
/* Whether the data are known to end where it stands; finds out where that needs no more output. */
bool cip_seq_ends_here(cip_seq *q);
/* Checkpoints met from here on are kept for space `id` of `len` bytes. */
void cip_seq_keep_checkpoints(cip_seq *q, cip_checkpoints *checkpoints, uint64_t id, uint64_t len);
/* To raw position `pos`, not before where it stands: passing over what lies between, or from a
 * checkpoint that is kept. */
cip_status cip_seq_go(const cip_rd *rd, cip_seq *q, uint64_t pos, cip_err *err);
/* A read goes on up to there, perhaps with gaps. */
void cip_seq_aim(cip_seq *q, uint64_t raw_end);
void cip_seq_free(cip_seq *q);

/* Decoders kept open where a read of a SEQ space ended, for the read that goes on there: a few, the
 * one unused for longest goes. Thread-safe. */
typedef struct cip_decoders cip_decoders;
cip_status cip_decoders_new(cip_env *env, cip_decoders **out, cip_err *err);
void cip_decoders_free(cip_decoders *d);
/* Frees all decoders that are kept for later reads: memory is short. */
void cip_decoders_drop(cip_decoders *d);
/* One of space `id` that stands at `pos` or before, now the caller's; NULL. */
cip_seq *cip_decoders_take(cip_decoders *d, uint64_t id, uint64_t pos);
void cip_decoders_give(cip_decoders *d, uint64_t id, cip_seq *q);

/* All bytes of a SEQ space in memory, if it is small enough to be kept, [0, end) is not just a
 * first look at its beginning, and it is not damaged behind that: h->ptr is NULL otherwise, and rd
 * knows how to read on. */
cip_status cip_seq_pin(cip_rd *rd, cip_space *s, uint64_t end, cip_pinned *h, cip_err *err);

/* --- elements --------------------------------------------------------------------------------- */

/* Elements from a space to memory: all that the jobs of one gather share. */
typedef struct cip_gather {
    cip_rd rd;
    cip_space *s;
    cip_walk w; /* w.off: in the linear bytes of s */
    const cip_cast *cast;
    uint8_t *dst;         /* of the walk's to_off 0 */
    pthread_mutex_t lock; /* guards stats */
    cip_cast_stats stats;
} cip_gather;

/* Casts elements of a walk to their places behind g->dst (a.cast and a.dst are g's). */
void cip_gather_cast(cip_gather *g, const cip_walk *w, cip_walk_cast_args a);
/* Reads through tiles of spans: FILE, SEQ, and whatever the others do not do. */
cip_status cip_gather_tiles(cip_gather *g, cip_err *err);
/* From memory that holds the linear bytes. */
cip_status cip_gather_memory(cip_gather *g, const uint8_t *base, cip_err *err);
cip_status cip_gather_chunked(cip_gather *g, cip_err *err);
/* n-d; *done false (and nothing done) where the view is no box of the grid. `from` is the view. */
cip_status cip_gather_grid(cip_gather *g, const cip_nd *from, const cip_nd *to, bool *done,
                           cip_err *err);
/* Source elements [e0, e1) of the walk that lie wholly in chunk i. */
typedef struct cip_chunk_part {
    uint64_t i;
    const cip_chunk *chunk;
    const cip_walk *w;
    uint64_t e0, e1;
    uint64_t base; /* where the chunk's first byte lies, as the walk counts */
} cip_chunk_part;
/* Its runs of bytes into piece[], to lie one behind the other at dst; 0 when there are more than
 * max. The walk is nested. */
size_t cip_chunk_list_pieces(const cip_chunk_part *p, uint8_t *dst, cip_want *piece, size_t max);
cip_status cip_chunk_cast(cip_gather *g, const cip_chunk_part *p, cip_err *err);
#endif
