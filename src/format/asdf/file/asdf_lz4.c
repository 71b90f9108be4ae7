/* SPDX-License-Identifier: BSD-3-Clause
 * Payloads with pieces that decode alone: the `lz4` code's own framing, LZ4 frames, zstd frames and
 * Blosc chunks. They become chunked spaces, so that a window decodes just what it touches.
 *
 * The framing of `lz4`: N (u32 big-endian), then N bytes: M (u32 little-endian), the decoded size,
 * and a raw LZ4 block of N - 4 bytes. Pieces may be of any size; up to three bytes may follow the
 * last. Some writers put an LZ4 frame under this code. */
#include "format/asdf/asdf.h"
#include "format/blosc2/blosc2.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/blosc/blosc.h"

enum {
    PIECE_HEAD = 8,
    FAR_WALK = 4 << 20,
    LZ4_MAX_INPUT = 0x7e000000, /* the most that one LZ4 block decodes to */
    LZ4_MAX_RATIO = 255,
    SOLE_PIECE_MAX = 8 << 20, /* a larger one is decoded in order instead, in less memory */
    COUNT_PIECE = 64 << 10
};

/* A growing list of chunks. */
typedef struct chunk_list {
    cip_env *env;
    cip_chunk *at;
    size_t n, cap;
    uint64_t raw_len; /* of all */
} chunk_list;

static cip_status add_chunk(chunk_list *list, const cip_chunk *c, cip_err *err)
{
    uint64_t sum;
    if (list->n >= list->env->limits.max_blocks)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "more than %" PRIu64 " chunks (max_blocks)", list->env->limits.max_blocks);
    if (cip_add_overflow(list->raw_len, c->raw_len, &sum))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "chunks of over 2^64 bytes");
    CIP_TRY(CIP_ROOM(&list->env->mem, &list->at, list->n, &list->cap, err));
    list->at[list->n] = *c;
    list->at[list->n++].raw_off = list->raw_len;
    list->raw_len = sum;
    return CIP_OK;
}

/* --- the framing of `lz4` ------------------------------------------------------------------- */

/* One piece's sizes, which must agree with each other and with the `left` bytes. */
static cip_status check_piece(uint64_t n, uint64_t m, uint64_t left, uint64_t at, cip_err *err)
{
    if (n <= 4)
        return cip_fail(err, CIP_ERR_CORRUPT, at,
                        "expected an lz4 chunk of more than 4 bytes, found %" PRIu64, n);
    if (n > left)
        return cip_fail(err, CIP_ERR_TRUNCATED, at,
                        "expected an lz4 chunk of %" PRIu64 " bytes, found %" PRIu64, n, left);
    if (m > LZ4_MAX_INPUT || m / LZ4_MAX_RATIO > n)
        return cip_fail(err, CIP_ERR_CORRUPT, at,
                        "expected a decoded size that %" PRIu64 " bytes can hold, found %" PRIu64,
                        n - 4, m);
    return CIP_OK;
}

/* Adds the pieces of a payload to the list; raw_len as for a space. */
typedef cip_status scan_fn(const asdf_stored *s, cip_window *w, uint64_t raw_len, chunk_list *list,
                           cip_err *err);

static cip_status scan_lz4(const asdf_stored *s, cip_window *w, uint64_t raw_len, chunk_list *list,
                           cip_err *err)
{
    const asdf_block *b = s->block;
    uint64_t pos = 0;
    (void)raw_len;
    while (b->stored - pos > 3) {
        cip_bytes in;
        uint64_t left = b->stored - pos - 4;
        CIP_TRY(cip_window_next(w, b->data_off + pos, PIECE_HEAD, &in, err));
        uint64_t n = cip_load_u32(in.ptr, true);
        uint64_t m = in.len == PIECE_HEAD ? cip_load_u32(in.ptr + 4, false) : 0;
        CIP_TRY(check_piece(n, m, left, b->data_off + pos, err));
        const cip_chunk c = { .at = { .in = s->bytes, .off = pos + PIECE_HEAD, .len = n - 4 },
                              .raw_len = m };
        if (m != 0) /* an empty one is nothing to a table of chunks */
            CIP_TRY(add_chunk(list, &c, err));
        pos += 4 + n;
    }
    if (pos == 0 && b->stored != 0)
        return cip_fail(err, CIP_ERR_TRUNCATED, b->data_off,
                        "expected an lz4 chunk, found %" PRIu64 " bytes", b->stored);
    return CIP_OK;
}

static cip_status new_chunked(cip_layout *l, const chunk_list *list, const cip_codec *codec,
                              cip_space **out, cip_err *err)
{
    cip_table table;
    const cip_step step = { .codec = codec };
    if (list->n == 0)
        return cip_space_new_mem(l, (cip_bytes){ (const uint8_t *)"", 0 }, out, err);
    CIP_TRY(cip_table_from_array(l, list->at, list->n, &table, err));
    return cip_space_new_chunked(l, &table, list->raw_len, &step, 1, out, err);
}

static cip_status scanned(const asdf_stored *s, uint64_t raw_len, scan_fn *scan, cip_space **out,
                          cip_err *err)
{
    cip_layout *l = s->layout;
    cip_window w = { .layout = l, .in = l->file };
    chunk_list list = { .env = l->env };
    cip_status st;
    CIP_GO(scan(s, &w, raw_len, &list, err));
    if (raw_len != UINT64_MAX && list.raw_len != raw_len)
        CIP_GO(cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %" PRIu64 " decoded bytes, found %" PRIu64, raw_len,
                        list.raw_len));
    CIP_GO(new_chunked(l, &list, cip_codec_find(s->codec->codec), out, err));
done:
    cip_window_clear(&w);
    cip_mem_put(&l->env->mem, list.at);
    return st;
}

/* --- `blsc`: Blosc chunks one behind the other, mostly one ------------------------------------ */

static cip_status scan_blosc(const asdf_stored *s, cip_window *w, uint64_t raw_len,
                             chunk_list *list, cip_err *err)
{
    const asdf_block *b = s->block;
    for (uint64_t pos = 0; list->raw_len < raw_len && pos < b->stored;) {
        cip_bytes in;
        cip_blosc_head h;
        CIP_TRY(cip_window_peek(w, b->data_off + pos,
                                (size_t)cip_min_u64(CIP_BLOSC_HEADER, b->stored - pos), 0, &in,
                                err));
        CIP_TRY(cip_blosc_head_parse(in, &h, err));
        if (h.cbytes > b->stored - pos)
            return cip_fail(err, CIP_ERR_TRUNCATED, b->data_off + pos,
                            "expected a Blosc chunk of %" PRIu32 " bytes, found %" PRIu64, h.cbytes,
                            b->stored - pos);
        const cip_chunk c = { .at = { .in = s->bytes, .off = pos, .len = h.cbytes },
                              .raw_len = h.nbytes };
        if (h.nbytes != 0)
            CIP_TRY(add_chunk(list, &c, err));
        pos += h.cbytes;
    }
    return CIP_OK;
}

cip_status cip_asdf_blsc_space(const asdf_stored *s, uint64_t raw_len, cip_space **out,
                               cip_err *err)
{
    return scanned(s, raw_len, scan_blosc, out, err);
}

/* --- `bls2`: a Blosc2 frame ----------------------------------------------------------------- */

cip_status cip_asdf_bls2_space(const asdf_stored *s, uint64_t raw_len, cip_space **out,
                               cip_err *err)
{
    const asdf_block *b = s->block;
    if (b->stored == 0 && raw_len == 0) /* nothing is stored of no elements */
        return cip_asdf_blsc_space(s, raw_len, out, err);
    CIP_TRY(cip_b2_nested_space(s->layout, b->data_off, b->stored, out, err));
    if (raw_len != UINT64_MAX && (*out)->len != raw_len)
        return cip_fail(err, CIP_ERR_CORRUPT, b->data_off,
                        "expected %" PRIu64 " decoded bytes, found %" PRIu64, raw_len, (*out)->len);
    return CIP_OK;
}

/* --- frames --------------------------------------------------------------------------------- */

static cip_status read_payload(void *user, uint64_t off, size_t n, void *dst, cip_err *err)
{
    const asdf_stored *s = user;
    const asdf_block *b = s->block;
    if (off > b->stored || b->stored - off < n)
        return cip_fail(err, CIP_ERR_TRUNCATED, b->data_off + b->stored,
                        "expected %zu more bytes of the block", n);
    return cip_space_read_at(&(cip_read_how){ .layout = s->layout }, s->layout->file,
                             b->data_off + off, dst, n, err);
}

static cip_status frames_space(const asdf_stored *s, const cip_codec *codec,
                               const cip_frame_pieces *pieces, uint64_t raw_len, cip_space **out,
                               cip_err *err)
{
    cip_layout *l = s->layout;
    const cip_extent all = { .in = s->bytes, .len = s->bytes->len };
    const cip_step step = { .codec = codec };
    chunk_list list = { .env = l->env };
    cip_space *in_order = NULL;
    cip_status st;
    CIP_GO(cip_space_new_seq(l, &all, raw_len, &step, &in_order, err));
    *out = in_order;
    if (pieces->sequential || pieces->n == 0 ||
        (pieces->n == 1 && pieces->piece[0].raw_len > SOLE_PIECE_MAX))
        goto done;
    for (size_t i = 0; i < pieces->n; i++) {
        const cip_frame_piece *p = &pieces->piece[i];
        const cip_chunk c = { .at = { .in = s->bytes, .off = p->off, .len = p->len },
                              .raw_len = p->raw_len,
                              .codec = p->codec != NULL ? p->codec : &cip_codec_stored };
        CIP_GO(add_chunk(&list, &c, err));
    }
    CIP_GO(new_chunked(l, &list, codec, out, err));
    (*out)->in_order = in_order;
done:
    cip_mem_put(&l->env->mem, list.at);
    return st;
}

/* Where the length is not told, it is counted first. */
static cip_status framed(asdf_stored s, const cip_codec *codec, cip_frames_scan_fn *scan,
                         uint64_t raw_len, cip_space **out, cip_err *err)
{
    cip_layout *l = s.layout;
    cip_frame_pieces pieces = { 0 };
    if (raw_len == UINT64_MAX)
        CIP_TRY(cip_asdf_count_decoded(l, codec, s.bytes, UINT64_MAX, &raw_len, err));
    const cip_frame_run run = { read_payload, &s, s.block->stored, raw_len,
                                l->env->limits.max_blocks };
    cip_status st = scan(&l->env->mem, &run, &pieces, err);
    if (st == CIP_OK)
        st = frames_space(&s, codec, &pieces, raw_len, out, err);
    cip_mem_put(&l->env->mem, pieces.piece);
    return st;
}

/* A request is dearer than so many bytes, which are kept. */
static void expect_walk(const asdf_stored *s)
{
    if (s->block->stored <= FAR_WALK)
        cip_space_expect(s->bytes);
}

cip_status cip_asdf_frames_space(const asdf_stored *s, uint64_t raw_len, cip_space **out,
                                 cip_err *err)
{
    expect_walk(s);
    return framed(*s, cip_codec_find(s->codec->codec), s->codec->scan, raw_len, out, err);
}

/* --- what stands under the code `lz4` ------------------------------------------------------- */

cip_status cip_asdf_lz4_space(const asdf_stored *s, uint64_t raw_len, cip_space **out, cip_err *err)
{
    uint8_t head[4] = { 0 };
    expect_walk(s);
    if (s->block->stored >= sizeof head)
        CIP_TRY(read_payload((void *)s, 0, sizeof head, head, err));
    if (cip_load_u32(head, false) != CIP_LZ4F_MAGIC)
        return scanned(s, raw_len, scan_lz4, out, err);
    cip_status st = framed(*s, cip_codec_find("lz4f"), cip_lz4f_scan, raw_len, out, err);
    /* A first chunk of 66 MiB starts with the same bytes; then the frame's header is wrong. */
    if (st == CIP_ERR_CHECKSUM || st == CIP_ERR_CORRUPT || st == CIP_ERR_UNSUPPORTED ||
        st == CIP_ERR_TRUNCATED)
        return scanned(s, raw_len, scan_lz4, out, err);
    return st;
}

/* --- counting ------------------------------------------------------------------------------- */

typedef struct counter {
    const cip_codec *codec;
    void *state;
    uint8_t *out;
    uint64_t len, max;
    bool end;
    cip_status st;
    cip_err *err;
} counter;

/* Takes a piece of the payload; `last` when nothing follows. */
static cip_status count_piece(counter *c, const uint8_t *p, size_t n, bool last)
{
    cip_flow f = { .in = p, .in_len = n, .last = last, .out = c->out, .out_len = COUNT_PIECE };
    do {
        CIP_TRY(c->codec->stream->step(c->state, &f, c->err));
        c->len += f.gave;
        c->end = f.end;
        if (c->len > c->max)
            return cip_fail(c->err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected at most %" PRIu64 " decoded bytes, found more", c->max);
        f.in += f.took;
        f.in_len -= f.took;
        if (f.took == 0 && f.gave == 0)
            break;
    } while (!f.end && (f.in_len != 0 || last));
    return CIP_OK;
}

static int take_piece(void *user, const uint8_t *p, size_t n)
{
    counter *c = user;
    if (!c->end)
        c->st = count_piece(c, p, n, false);
    return c->st != CIP_OK || c->end;
}

cip_status cip_asdf_count_decoded(cip_layout *l, const cip_codec *codec, cip_space *stored,
                                  uint64_t max, uint64_t *len, cip_err *err)
{
    const cip_codec_env env = { .mem = &l->env->mem };
    const cip_read_how how = { .layout = l };
    counter c = { .codec = codec, .max = max, .err = err };
    cip_err ignored = CIP_ERR_INIT;
    cip_status st;
    CIP_TRY(cip_mem_get(&l->env->mem, COUNT_PIECE, (void **)&c.out, err));
    CIP_GO(codec->stream->begin(NULL, &env, &c.state, err));
    st = cip_space_stream(&how, stored, COUNT_PIECE, take_piece, &c, &ignored);
    if (c.st != CIP_OK || c.end) /* we stopped it */
        st = c.st;
    else if (st != CIP_OK && err != NULL)
        cip_err_pass(err, &ignored);
    if (st == CIP_OK && !c.end)
        st = count_piece(&c, (const uint8_t *)"", 0, true);
    if (st == CIP_OK)
        *len = c.len;
done:
    if (c.state != NULL)
        codec->stream->finish(c.state);
    cip_mem_put(&l->env->mem, c.out);
    return st;
}
