/* SPDX-License-Identifier: BSD-3-Clause
 * A bzip2 stream in order. libbz2 does not tell where a block ends, so it is given the bytes only
 * up to the next place where one may begin: when it has given a block and waits there, and then
 * takes the 48 bits for a beginning, one begins there. The checksum of the whole is folded here, so
 * that a decoder that began at a checkpoint knows it too. */
#include "codec/entropy/bzip2_blocks.h"

#if CIP_WITH_BZIP2

#include <string.h>

#include "base/endian.h"

enum { BUF = 16 << 10, HEADER = 4, MAGIC_BITS = 48, PLACE_BITS = 80, WINDOW = 5 };

typedef struct bzip2_state {
    cip_lib_mem lib;
    bz_stream z;
    bool started;     /* z is there; it begins inside a byte once that byte is known */
    unsigned bit;     /* of the first byte, where the first block begins */
    uint64_t raw;     /* given */
    uint64_t base;    /* stored bytes before buf */
    size_t at, len;   /* buf[at, len) is still to be given to z */
    size_t limit;     /* z may have the bytes before it */
    uint64_t scan;    /* bit of buf where the search goes on, not before buf[at - 1] */
    bool found;       /* `place`, in buf, lies at `limit` */
    bool ready;       /* z gave something of the block, or there was none yet: it may end */
    bool end;         /* of the stream */
    bool want, stand; /* a checkpoint is wanted; the last step ended at one */
    uint8_t level;
    uint32_t sum, crc; /* of the blocks before this one; of this one */
    bool open;         /* there is a block that `crc` is of */
    cip_bzip2_place place;
    uint64_t checkpoint_bit; /* the latest block begins there, of the stored bytes */
    uint8_t window[WINDOW];
    cip_bzip2_finder finder;
    uint8_t buf[BUF];
} bzip2_state;

static cip_status bzip2_fail(const bzip2_state *s, int code, cip_err *err)
{
    if (code == BZ_MEM_ERROR)
        return cip_lib_fail(&s->lib, err);
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a bzip2 stream, found %s",
                    code == BZ_DATA_ERROR_MAGIC ? "other bytes at its start" : "damaged data");
}

static cip_status make_state(const cip_codec_env *env, bzip2_state **s, cip_err *err)
{
    void *p;
    CIP_TRY(cip_mem_get(env->mem, sizeof **s, &p, err));
    *s = p;
    memset(*s, 0, offsetof(bzip2_state, finder));
    cip_bzip2_finder_init(&(*s)->finder);
    (*s)->lib.mem = env->mem;
    (*s)->ready = true;
    return CIP_OK;
}

static void bzip2_finish(void *state)
{
    bzip2_state *s = state;
    if (s == NULL)
        return;
    if (s->started)
        BZ2_bzDecompressEnd(&s->z);
    cip_mem_put(s->lib.mem, s);
}

static cip_status bzip2_begin(const void *args, const cip_codec_env *env, void **state,
                              cip_err *err)
{
    (void)args;
    bzip2_state *s;
    *state = NULL;
    CIP_TRY(make_state(env, &s, err));
    cip_bzip2_use(&s->z, &s->lib);
    int code = BZ2_bzDecompressInit(&s->z, 0, 0);
    s->started = code == BZ_OK;
    if (s->started) {
        *state = s;
        return CIP_OK;
    }
    cip_status st = bzip2_fail(s, code, err);
    bzip2_finish(s);
    return st;
}

static cip_status bzip2_resume(const void *args, const cip_codec_env *env,
                               const cip_checkpoint *from, void **state, cip_err *err)
{
    (void)args;
    bzip2_state *s;
    *state = NULL;
    if (from->window_len != WINDOW || from->window[0] < 1 || from->window[0] > 9)
        return cip_fail(
            err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
            "expected a checkpoint of a bzip2 stream, found a checkpoint of another kind");
    CIP_TRY(make_state(env, &s, err));
    s->bit = from->in_bits % 8;
    s->base = from->in_bits / 8;
    s->scan = s->bit;
    s->checkpoint_bit = from->in_bits;
    s->raw = from->raw;
    s->level = from->window[0];
    s->sum = cip_load_u32(from->window + 1, true);
    *state = s;
    return CIP_OK;
}

/* --- what z may have -------------------------------------------------------------------------- */

/* As many of n bytes as there is room for behind those that are left; one that was given stays. */
static size_t fill(bzip2_state *s, const uint8_t *in, size_t n)
{
    size_t drop = s->at != 0 ? s->at - 1 : 0;
    if (BUF - s->len < n && drop >= BUF / 2) {
        memmove(s->buf, s->buf + drop, s->len - drop);
        s->base += drop;
        s->at -= drop;
        s->len -= drop;
        s->limit -= drop;
        s->scan -= 8 * (uint64_t)drop;
        s->place.bit -= 8 * (uint64_t)drop;
    }
    n = n < BUF - s->len ? n : BUF - s->len;
    uint64_t before = s->base + s->len;
    if (!s->open && s->level == 0 && before < HEADER && before + n >= HEADER)
        s->level = (uint8_t)(in[HEADER - 1 - before] - '0');
    if (n != 0)
        memcpy(s->buf + s->len, in, n);
    s->len += n;
    return n;
}

/* z has given all of a block and waits at a place. */
static cip_status pass_place(bzip2_state *s, cip_err *err)
{
    char spare;
    size_t until = (size_t)((s->place.bit + MAGIC_BITS + 7) / 8);
    s->z.next_in = (char *)s->buf + s->at;
    s->z.avail_in = (unsigned)(until - s->at);
    s->z.next_out = &spare;
    s->z.avail_out = 1;
    int code = BZ2_bzDecompress(&s->z);
    if (code != BZ_OK)
        return bzip2_fail(s, code, err);
    s->at = s->limit = until;
    s->scan = s->place.bit + MAGIC_BITS;
    s->ready = false;
    if (s->open)
        s->sum = cip_bzip2_fold(s->sum, s->crc);
    s->open = true;
    s->crc = s->place.crc;
    if (!s->place.end) {
        uint64_t bit = 8 * s->base + s->place.bit;
        s->stand = s->want && bit > s->checkpoint_bit;
        s->want = s->want && !s->stand;
        s->checkpoint_bit = bit;
        return CIP_OK;
    }
    if (s->crc != s->sum)
        return bzip2_fail(s, BZ_DATA_ERROR, err);
    s->at = (size_t)((s->place.bit + PLACE_BITS + 7) / 8);
    s->end = true;
    return CIP_OK;
}

/* Runs z up to the limit; *n: room, then what it gave. */
static cip_status run(bzip2_state *s, uint8_t *out, size_t *n, cip_err *err)
{
    unsigned room = cip_piece32(*n);
    s->z.next_in = (char *)s->buf + s->at;
    s->z.avail_in = (unsigned)(s->limit - s->at);
    s->z.next_out = (char *)out;
    s->z.avail_out = room;
    int code = BZ2_bzDecompress(&s->z);
    if (code != BZ_OK)
        return bzip2_fail(s, code, err);
    s->at = s->limit - s->z.avail_in;
    *n = room - s->z.avail_out;
    s->raw += *n;
    s->ready = s->ready || *n != 0;
    return CIP_OK;
}

/* z waits at the limit: passes what is there, or moves the limit; *more false: there is nothing. */
static cip_status move_on(bzip2_state *s, bool all, bool *more, cip_err *err)
{
    bool was = s->found;
    size_t limit = s->limit;
    s->found = false;
    if (was && s->ready)
        CIP_TRY(pass_place(s, err));
    if (!s->end && !s->stand) {
        /* How far z may go: to the next place, or as far as there surely is none. */
        s->found = cip_bzip2_find(&s->finder, (cip_bytes){ s->buf, s->len }, &s->scan, &s->place);
        if (s->found)
            s->limit = (size_t)((s->place.bit + 7) / 8);
        else if (all)
            s->limit = s->len;
        else
            s->limit = (size_t)((s->scan + 7) / 8);
    }
    *more = !s->end && !s->stand && (was || s->found || s->limit != limit);
    return CIP_OK;
}

static cip_status bzip2_step(void *state, cip_flow *f, cip_err *err)
{
    bzip2_state *s = state;
    size_t took = 0, gave = 0;
    bool more = !s->end;
    s->stand = false;
    while (more && gave < f->out_len) {
        took += fill(s, f->in + took, f->in_len - took);
        if (!s->started && s->len != 0) {
            /* The decoder for the first byte, which has bits from before the checkpoint. */
            cip_bzip2_lead lead;
            cip_bzip2_lead_make(s->level, s->bit, s->buf[0], &lead);
            int code = cip_bzip2_start(&s->z, &s->lib, &lead);
            s->started = code == BZ_OK;
            s->at = s->limit = s->bit != 0;
            if (!s->started)
                CIP_TRY(bzip2_fail(s, code, err));
        }
        if (!s->started)
            break;
        size_t n = f->out_len - gave;
        CIP_TRY(run(s, f->out + gave, &n, err));
        gave += n;
        if (gave < f->out_len)
            CIP_TRY(move_on(s, f->last && took == f->in_len, &more, err));
        more = more || (took < f->in_len && !s->end && !s->stand);
    }
    if (s->end) /* what follows was not taken */
        took -= cip_min_u64(took, s->len - s->at);
    f->took = took;
    f->gave = gave;
    f->end = s->end;
    return s->stand ? CIP_OK : cip_step_end(f, err);
}

/* --- checkpoints and pieces ------------------------------------------------------------------- */

static void make_window(uint8_t *window, unsigned level, uint32_t sum)
{
    window[0] = (uint8_t)level;
    cip_store_u32(window + 1, sum, true);
}

static bool bzip2_checkpoint(void *state, bool want, cip_checkpoint *out)
{
    bzip2_state *s = state;
    if (want)
        s->want = true;
    if (want || !s->stand)
        return false;
    make_window(s->window, s->level, s->sum);
    *out = (cip_checkpoint){ s->checkpoint_bit, s->raw, WINDOW, s->window };
    return true;
}

static size_t bzip2_find(cip_bytes in, uint64_t *from, uint64_t *bit, size_t max)
{
    cip_bzip2_finder f;
    cip_bzip2_place place;
    size_t n = 0;
    cip_bzip2_finder_init(&f);
    while (n < max && cip_bzip2_find(&f, in, from, &place))
        bit[n++] = place.bit;
    return n;
}

static bool bzip2_decode_piece(cip_mem *mem, const cip_checkpoint *like,
                               const cip_split_piece *piece, uint8_t *dst, size_t *len)
{
    return cip_bzip2_decode_block(mem, like->window[0], piece, dst, len);
}

static void bzip2_pass(cip_checkpoint *checkpoint, const cip_split_piece *piece, size_t raw,
                       uint8_t window[CIP_SPLIT_WINDOW])
{
    const uint8_t *p = piece->in.ptr + (piece->from + MAGIC_BITS) / 8;
    uint64_t crc = (uint64_t)cip_load_u32(p, true) << 8 | p[4];
    uint32_t sum = cip_load_u32(checkpoint->window + 1, true);
    unsigned bit = piece->from % 8;
    sum = cip_bzip2_fold(sum, (uint32_t)(crc >> (8 - bit)));
    make_window(window, checkpoint->window[0], sum);
    checkpoint->window = window;
    checkpoint->in_bits += piece->to - piece->from;
    checkpoint->raw += raw;
}

static const cip_split_codec bzip2_split = {
    .in_usual = 920 << 10, /* 900 kB that hardly get smaller */
    .raw_usual = 900000,
    .raw_most = 2 << 20, /* mostly runs beyond that: quick in order too */
    .find = bzip2_find,
    .decode = bzip2_decode_piece,
    .pass = bzip2_pass,
};

const cip_stream_codec cip_bzip2_stream = {
    .begin = bzip2_begin,
    .step = bzip2_step,
    .finish = bzip2_finish,
    .checkpoint = bzip2_checkpoint,
    .resume = bzip2_resume,
    .split = &bzip2_split,
};

#endif
