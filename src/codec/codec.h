/* SPDX-License-Identifier: BSD-3-Clause
 * A codec turns a chunk's stored bytes into its raw bytes and back. One const object each; all
 * state is in the caller's hands, so every function may run on many threads at once. */
#ifndef CIP_CODEC_CODEC_H
#define CIP_CODEC_CODEC_H

#include <stdbool.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/spares.h"

/* What a codec may need to know beyond its bytes. Zero where unknown. */
typedef struct cip_codec_env {
    cip_mem *mem;  /* working memory */
    uint8_t *room; /* room_len bytes of it that are at hand; may be NULL */
    size_t room_len;
    cip_spares *zstd;     /* decoders of libzstd that are at hand; may be NULL */
    uint64_t typesize;    /* bytes of an element of the array (a super-chunk's typesize) */
    int32_t ndim;         /* of the grid */
    const int64_t *chunk; /* shape of a stored chunk */
    const int64_t *block; /* shape of a block in a chunk */
} cip_codec_env;

/* A wanted piece of a chunk's raw bytes and where it goes. */
typedef struct cip_want {
    uint64_t off; /* in the raw chunk */
    size_t len;
    uint8_t *dst;
} cip_want;

/* n of them, of a chunk of raw_len bytes. */
typedef struct cip_wants {
    const cip_want *at;
    size_t n;
    uint64_t raw_len;
} cip_wants;

/* Room for cap bytes, of which a call that succeeds makes len. */
typedef struct cip_dst {
    uint8_t *ptr;
    size_t cap;
    size_t len;
} cip_dst;

/* A range of a chunk's stored bytes. */
typedef struct cip_need {
    uint64_t off;
    uint64_t len;
} cip_need;

/* What wanted pieces of a chunk take. */
typedef struct cip_needs {
    cip_need *at; /* stored ranges: n, with room for max */
    size_t n, max;
    uint64_t unit, unit_end; /* raw bytes that are decoded together with the first wanted one,
                                whatever is wanted of them, and take what it takes; equal where a
                                part costs its part, or where that is not told */
} cip_needs;

/* Stored bytes at hand: all of them (one piece at 0), or what `needs` asked for, in rising order.
 */
typedef struct cip_stored {
    uint64_t total; /* length of the whole stored chunk */
    size_t n;
    const cip_need *at;
    const uint8_t *const *ptr;
} cip_stored;

/* Where the stored bytes of a need are at hand; false: they are not. */
bool cip_stored_find(const cip_stored *s, cip_need need, const uint8_t **out);
/* RANGE where a piece does not lie in the chunk. */
cip_status cip_wants_check(const cip_wants *w, cip_err *err);

/* A place within a chunk's stored bytes where decoding may start anew. */
typedef struct cip_checkpoint {
    uint64_t in_bits;  /* stored bits before it (of a byte: in the codec's own order) */
    uint64_t raw;      /* raw bytes before it */
    size_t window_len; /* what decoding has to know of what came before, the codec's own (zlib: the
                          checksum so far and the last raw bytes, bzip2: level and checksum) */
    const uint8_t *window;
} cip_checkpoint;
enum {
    CIP_CHECKPOINT_WINDOW = 4 + (32 << 10),
    CIP_SPLIT_WINDOW = 8
}; /* the longest; of a codec that splits */

/* Stored bits [from, to) of `in`: perhaps a piece that decodes alone. */
typedef struct cip_split_piece {
    cip_bytes in;
    uint64_t from, to;
} cip_split_piece;

/* Pieces of a chunk that decode alone, of a codec whose checkpoints are their beginnings. Nothing
 * in the data lists them: a place is a guess until `decode` says true. All functions are
 * thread-safe. */
typedef struct cip_split_codec {
    size_t in_usual, raw_usual; /* stored and raw bytes of a piece, mostly at most */
    size_t raw_most;            /* raw bytes of a piece that is worth decoding alone */
    /* Bits at or after *from where a piece may begin or the data may end, rising, at most max;
     * *from: where to look on. */
    size_t (*find)(cip_bytes in, uint64_t *from, uint64_t *bit, size_t max);
    /* Decodes a piece to at most *len bytes (sets how many); `like`: a checkpoint of the same
     * chunk. True only where a decoder in order that comes to `from` gives these bytes and goes on
     * at `to`; false for all else, want of memory too. */
    bool (*decode)(cip_mem *mem, const cip_checkpoint *like, const cip_split_piece *piece,
                   uint8_t *dst, size_t *len);
    /* Moves a checkpoint that stands at a piece that was decoded to `raw` bytes behind it; its
     * window becomes `window`, which may be where it is. */
    void (*pass)(cip_checkpoint *checkpoint, const cip_split_piece *piece, size_t raw,
                 uint8_t window[CIP_SPLIT_WINDOW]);
} cip_split_codec;

/* What goes through a stream in one step. */
typedef struct cip_flow {
    const uint8_t *in; /* in_len bytes */
    size_t in_len;
    bool last;    /* nothing comes after this input */
    bool end;     /* the stream's: nothing follows; more steps give nothing */
    uint8_t *out; /* room for out_len bytes */
    size_t out_len;
    size_t took, gave; /* the step's: of in and of out */
} cip_flow;

/* Decoding a chunk piece by piece in order, with bounded memory: for chunks that have no inner
 * structure. A state belongs to one thread at a time. */
typedef struct cip_stream_codec {
    cip_status (*begin)(const void *args, const cip_codec_env *env, void **state, cip_err *err);
    /* Takes and gives as much as there is (there must be room for one byte at least). No progress
     * with `last` set is TRUNCATED. After a failure only `finish` may be called. */
    cip_status (*step)(void *state, cip_flow *f, cip_err *err);
    void (*finish)(void *state); /* NULL is fine */
    /* Optional pair: checkpoints. checkpoint: asks that the next step ends as soon as it reaches a
     * place for one (`want`), or whether the last step ended at one: then *out says where (its
     * window is borrowed until the next call) and the result is true. resume: begin at a
     * checkpoint; the input starts with the byte that holds bit in_bits. Raw bytes and failures are
     * those of a decoder that came from the beginning; a checkpoint that is a lie gives other bytes
     * or CORRUPT, never more.
     */
    bool (*checkpoint)(void *state, bool want, cip_checkpoint *out);
    cip_status (*resume)(const void *args, const cip_codec_env *env, const cip_checkpoint *from,
                         void **state, cip_err *err);
    const cip_split_codec *split; /* optional, beside checkpoints; its checkpoints are theirs */
} cip_stream_codec;

enum {
    CIP_CODER_HEAD = 64,
    CIP_RECAST_MORE = 16 /* bytes that a chunk may become longer */
};

/* What became of a chunk that was to be as those of other arguments are. */
typedef enum cip_recast {
    CIP_RECAST_SAME, /* nothing: it is so already */
    CIP_RECAST_MADE, /* it is, in other bytes */
    CIP_RECAST_NOT   /* it cannot be: it has to be decoded */
} cip_recast;

typedef struct cip_codec {
    const char *name;
    /* Decodes all of a chunk to exactly dst_len bytes; never writes beyond them. CORRUPT when it
     * holds more or fewer, or is damaged; CHECKSUM where the damage shows in a checksum inside;
     * TRUNCATED when it ends early; UNSUPPORTED when it needs a dictionary. */
    cip_status (*decode)(const void *args, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                         size_t dst_len, cip_err *err);
    /* Optional pair. needs: what the wanted pieces take, given the first bytes of the chunk
     * (`head`, head_len of them unless the reader has others at hand): appended to out->at; LIMIT
     * when there is no room (then all is read); TRUNCATED when a longer head is needed, whose
     * length is then that of the one need. decode_spans: just the wanted pieces. */
    size_t head_len;
    cip_status (*needs)(const void *args, const cip_codec_env *env, cip_bytes head,
                        const cip_wants *want, cip_needs *out, cip_err *err);
    cip_status (*decode_spans)(const void *args, const cip_codec_env *env, const cip_stored *src,
                               const cip_wants *want, cip_err *err);
    /* Optional, of a container of codecs: the name of the one that made this chunk, from the
     * chunk's first CIP_CODER_HEAD bytes (all of a shorter one); static storage, never NULL. */
    const char *(*coder)(cip_bytes head);
    /* Optional, of a codec whose chunks tell by themselves how they are decoded: whether this one
     * (`head`: as for `coder`; `len` stored bytes, which should decode to raw_len) may stand among
     * those that `args` encode, whatever encoded it. Its data are not looked at. */
    bool (*takes)(const void *args, cip_bytes head, uint64_t len, uint64_t raw_len);
    /* Optional, beside `takes`: a whole chunk that it took, as those are that `args` encode, with
     * no data decoded. Room for CIP_RECAST_MORE bytes more than it has is enough. */
    cip_recast (*recast)(const void *args, cip_bytes chunk, cip_dst *out);
    /* Optional: sequential decoding. */
    const cip_stream_codec *stream;
    /* Optional pair: encoding, always to the same bytes. `level` as the codec's own (0: its
     * default; ARG when it has no such level). bound(n) bytes are enough for n (0: n is more than
     * the codec takes); less may be given: RANGE when it was too little. A failure leaves out->len.
     */
    size_t (*bound)(size_t n);
    cip_status (*encode)(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                         cip_dst *out, cip_err *err);
    /* Optional: whether `encode` knows the level, before there is anything to encode. */
    cip_status (*level)(int level, cip_err *err);
} cip_codec;

/* The built-in ones, with their levels:
 *   "zlib"   1 to 12, 6   RFC 1950; ends where the stream ends, what follows is ignored
 *   "bzip2"  1 to 9, 9    one stream, the same
 *   "lz4"    up to 12     one raw block; under 3 the fast encoder, below 0 faster still
 *   "lz4f"   the same     LZ4 frames, concatenated; encodes only into bound(n) bytes
 *   "zstd"   up to 22, 3  frames, concatenated
 *   "blosc"               a chunk of Blosc1 or Blosc2; encodes with arguments (codec/blosc/blosc.h)
 * No frames at all are 0 bytes; what follows the frames is CORRUPT. NULL: unknown to us. */
const cip_codec *cip_codec_find(const char *name);
/* Whether this build has it; a codec that was left out answers UNSUPPORTED to everything. */
bool cip_codec_available(const cip_codec *c);
/* The i-th built-in codec and the version text of the library under it ("" for none), or NULL: for
 * `--version`. */
const cip_codec *cip_codec_row(size_t i, const char **library_version);

/* The name of what made a chunk that begins so, as users are told it. */
static inline const char *cip_codec_shown(const cip_codec *c, cip_bytes head)
{
    const size_t n = head.len < CIP_CODER_HEAD ? head.len : CIP_CODER_HEAD;
    return c->coder != NULL && n == CIP_CODER_HEAD ? c->coder((cip_bytes){ head.ptr, n }) : c->name;
}

/* Deflate alone (RFC 1951), as members of zip archives are compressed: no name of its own for
 * users. With arguments the data are compared with their CRC-32 where they are decoded to the end.
 * It only decodes. */
typedef struct cip_deflate_args {
    uint32_t crc;
} cip_deflate_args;
extern const cip_codec cip_codec_deflate;

#endif
