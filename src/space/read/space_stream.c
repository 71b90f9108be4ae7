/* SPDX-License-Identifier: BSD-3-Clause
 * All bytes of a space in order. Several chunks are decoded at once and then handed on in pieces.
 */
#include "space/sequential/seq_parallel.h"

/* Enough for each thread to have a chunk of its own, as far as memory is to be bounded: whole
 * chunks where they are equal. */
static size_t buffer_size(const cip_rd *rd, const cip_space *s, size_t piece)
{
    const cip_tuning *t = rd->tune;
    bool chunks = s->kind == CIP_SPACE_CHUNKED || s->kind == CIP_SPACE_GRID;
    uint64_t n = chunks ? t->stream_max / 2 : t->stream_min;
    if (s->kind == CIP_SPACE_SEQ)
        n = cip_max_u64(n, cip_ahead_nbytes(rd, s->step[0].codec->stream));
    uint64_t each = s->kind == CIP_SPACE_CHUNKED ? s->table.raw_each : 0;
    if (each != 0 && each <= t->stream_max)
        n = each * cip_pool_threads(rd->pool);
    n = cip_min_u64(cip_max_u64(n, piece), t->stream_max);
    if (each != 0 && each <= n)
        n -= n % each;
    return (size_t)cip_min_u64(n, s->len);
}

cip_status cip_space_stream(const cip_read_how *how, cip_space *s, size_t piece,
                            int (*fn)(void *user, const uint8_t *p, size_t n), void *user,
                            cip_err *err)
{
    cip_rd rd = cip_rd_make(how);
    cip_pooled room;
    cip_status st = CIP_OK;
    if (piece == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "pieces of no bytes");
    CIP_TRY(cip_space_resolve(s, &s, err));
    size_t cap = buffer_size(&rd, s, piece);
    CIP_TRY(cip_buffer_pool_take(rd.buffers, cap, &room, err));
    for (uint64_t off = 0; off < s->len && st == CIP_OK;) {
        size_t n = (size_t)cip_min_u64(cap, s->len - off);
        st = cip_rd_at(&rd, s, off, room.ptr, n, err);
        for (size_t at = 0; st == CIP_OK && at < n; at += piece)
            if (fn(user, room.ptr + at, n - at < piece ? n - at : piece) != 0)
                st = cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
        off += n;
    }
    cip_buffer_pool_give(rd.buffers, &room);
    return st;
}

typedef struct taker {
    cip_out *out;
    cip_err *err;
    cip_status st;
} taker;

static int write_piece(void *user, const uint8_t *p, size_t n)
{
    taker *t = user;
    t->st = cip_out_write(t->out, p, n, t->err);
    return t->st != CIP_OK;
}

cip_status cip_space_write_out(const cip_read_how *how, cip_space *s, cip_out *out, cip_err *err)
{
    enum { OUT_PIECE = 1 << 20 };
    cip_err why = CIP_ERR_INIT;
    taker t = { out, err, CIP_OK };
    cip_status st = cip_space_stream(how, s, OUT_PIECE, write_piece, &t, &why);
    if (t.st != CIP_OK)
        return t.st;
    return cip_err_give(err, &why, st);
}
