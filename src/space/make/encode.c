/* SPDX-License-Identifier: BSD-3-Clause
 * Pieces are encoded in batches on the pool while the batch before is written: by the caller's own
 * thread, in order, so that the output sees one thread and the same calls whatever the pool. The
 * last piece is known only at the end, so a batch starts when a byte more than it holds is there.
 */
#include "space/make/encode.h"

#include <string.h>

#include "base/num.h"
#include "space/make/alongside.h"

enum {
    PIECES_PER_THREAD = 2, /* so that a slow one keeps no other thread waiting */
    LARGE_PIECE = 2 << 20  /* of these one is enough: they take memory that has to be touched */
};

typedef struct slot {
    cip_framing_piece piece;
    cip_status st;
    cip_err err;
} slot;

/* Pieces of a batch; two batches take turns. */
typedef struct batch {
    slot *slot;
    size_t n; /* encoded, not yet written */
} batch;

struct cip_encoder {
    cip_env *env;
    const cip_framing *framing;
    int level;
    size_t piece, bound, nslot;
    cip_out *out;
    uint8_t *raw; /* nslot pieces: what was taken and not yet encoded */
    uint8_t *dst; /* 2 * nslot * bound */
    size_t nraw;
    batch turn[2];
    int now; /* the batch that is encoded next */
    uint64_t sum;
    bool begun;             /* a piece was encoded */
    unsigned carry, ncarry; /* bits that do not make a byte yet */
    uint64_t total;         /* UINT64_MAX: not known */
    void *state;            /* of a framing that encodes in order, once there is a second piece */
};

/* --- writing ---------------------------------------------------------------------------------- */

static cip_status put(cip_encoder *e, uint8_t *p, size_t n, cip_err *err)
{
    if (e->framing->bits) {
        /* Shifts n bits of p behind the carried ones, in place; *n becomes whole bytes. */
        size_t nbyte = n / 8, whole = (n + e->ncarry) / 8;
        unsigned rest = n % 8, carry = e->carry, shift = e->ncarry;
        unsigned tail = rest == 0 ? 0 : p[nbyte] & (0xff00u >> rest) & 0xffu;
        for (size_t i = 0; i < nbyte; i++) {
            unsigned v = p[i];
            p[i] = (uint8_t)(carry | v >> shift);
            carry = v << (8 - shift) & 0xffu;
        }
        if (whole > nbyte) {
            p[nbyte] = (uint8_t)(carry | tail >> shift);
            carry = tail << (8 - shift) & 0xffu;
        } else {
            carry |= tail >> shift;
        }
        e->carry = carry;
        e->ncarry = (shift + rest) % 8;
        n = whole;
    }
    return n == 0 ? CIP_OK : cip_out_write(e->out, p, n, err);
}

static cip_status write_batch(cip_encoder *e, batch *b, cip_err *err)
{
    size_t n = b->n;
    b->n = 0;
    for (size_t i = 0; i < n; i++) {
        slot *s = &b->slot[i];
        if (s->st != CIP_OK) {
            cip_err_pass(err, &s->err);
            return s->st;
        }
        if (e->framing->join != NULL)
            e->framing->join(&e->sum, s->piece.sum, s->piece.raw.len);
        CIP_TRY(put(e, s->piece.out.ptr, s->piece.out.len, err));
    }
    return CIP_OK;
}

/* --- a batch ---------------------------------------------------------------------------------- */

static void encode_one(void *arg, size_t i)
{
    cip_encoder *e = arg;
    slot *s = &e->turn[e->now].slot[i];
    s->piece.sum = 0;
    s->err = (cip_err)CIP_ERR_INIT;
    s->st = e->framing->encode(&e->env->mem, e->level, &s->piece, &s->err);
}

static cip_status write_before(void *arg, cip_err *err)
{
    cip_encoder *e = arg;
    return write_batch(e, &e->turn[!e->now], err);
}

/* Encodes n pieces that lie at p, nbytes in all, and writes what was encoded before. */
static cip_status run_batch(cip_encoder *e, const uint8_t *p, size_t nbytes, size_t n, bool last,
                            cip_err *err)
{
    batch *b = &e->turn[e->now];
    for (size_t i = 0; i < n; i++) {
        cip_framing_piece *s = &b->slot[i].piece;
        size_t at = i * e->piece;
        s->raw = (cip_bytes){ p + at, (size_t)cip_min_u64(e->piece, nbytes - at) };
        s->first = !e->begun && i == 0;
        s->last = last && i == n - 1;
    }
    e->begun = true;
    CIP_TRY(cip_run_alongside(e->env->pool, n, encode_one, write_before, e, err));
    b->n = n;
    e->now = !e->now;
    return CIP_OK;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void put_buffers(cip_encoder *e)
{
    cip_mem *mem = &e->env->mem;
    cip_mem_put(mem, e->raw);
    cip_mem_put(mem, e->dst);
    cip_mem_put(mem, e->turn[0].slot);
    e->raw = e->dst = NULL;
    e->turn[0].slot = NULL;
}

static cip_status get_buffers(cip_encoder *e, cip_err *err)
{
    cip_status st;
    cip_mem *mem = &e->env->mem;
    size_t nraw, ndst;
    if (cip_mul_overflow(e->nslot, e->piece, &nraw) ||
        cip_mul_overflow(2 * e->nslot, e->bound, &ndst))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "pieces of over 2^64 bytes");
    CIP_GO(cip_mem_get(mem, nraw, (void **)&e->raw, err));
    CIP_GO(cip_mem_get(mem, ndst, (void **)&e->dst, err));
    CIP_GO(CIP_NEW(mem, &e->turn[0].slot, 2 * e->nslot, err));
    e->turn[1].slot = e->turn[0].slot + e->nslot;
    for (size_t i = 0; i < 2 * e->nslot; i++)
        e->turn[0].slot[i].piece.out = (cip_dst){ e->dst + i * e->bound, e->bound, 0 };
done:
    if (st != CIP_OK)
        put_buffers(e);
    return st;
}

/* As many pieces at once as keep the threads busy, fewer where memory is short. */
static cip_status get_room(cip_encoder *e, cip_err *err)
{
    unsigned threads = e->framing->begin != NULL ? 1 : cip_pool_threads(e->env->pool);
    e->bound = e->framing->bound(e->piece);
    if (e->bound == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "%s cannot encode pieces of %zu "
                        "bytes",
                        e->framing->name, e->piece);
    e->nslot = threads;
    if (threads > 1 && e->piece < LARGE_PIECE)
        e->nslot *= PIECES_PER_THREAD;
    for (;; e->nslot /= 2) {
        cip_err why = CIP_ERR_INIT;
        cip_status st = get_buffers(e, &why);
        if (st == CIP_OK || e->nslot == 1)
            return cip_err_give(err, &why, st);
    }
}

cip_status cip_encoder_new(cip_env *env, const cip_framing *framing, int level, uint64_t piece,
                           cip_out *out, cip_encoder **enc, cip_err *err)
{
    *enc = NULL;
    cip_encoder *e;
    CIP_TRY(CIP_NEW(&env->mem, &e, 1, err));
    *e = (cip_encoder){
        .env = env, .framing = framing, .level = level, .out = out, .total = UINT64_MAX
    };
    cip_status st = CIP_OK;
    if (framing != NULL) {
        if (!cip_to_size(piece != 0 ? piece : framing->piece, &e->piece))
            CIP_GO(
                cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "pieces of %" PRIu64 " bytes", piece));
        CIP_GO(get_room(e, err));
        cip_framing_piece none = {
            true, true, { (const uint8_t *)"", 0 }, { e->dst, e->bound, 0 }, 0
        };
        CIP_GO(e->framing->encode(&e->env->mem, e->level, &none, err));
    }
    *enc = e;
done:
    if (st != CIP_OK)
        cip_encoder_free(e);
    return st;
}

void cip_encoder_expect(cip_encoder *e, uint64_t total)
{
    e->total = total;
}

/* --- in order --------------------------------------------------------------------------------- */

static cip_status step_on(cip_encoder *e, const uint8_t *p, size_t n, bool last, cip_err *err)
{
    cip_flow f = { .in = p, .in_len = n, .last = last, .out = e->dst, .out_len = e->bound };
    while (last ? !f.end : f.in_len != 0) {
        CIP_TRY(e->framing->step(e->state, &f, err));
        if (f.gave != 0)
            CIP_TRY(cip_out_write(e->out, e->dst, f.gave, err));
        f.in += f.took;
        f.in_len -= f.took;
    }
    return CIP_OK;
}

/* A single piece is kept until it is known to be that. */
static cip_status write_in_order(cip_encoder *e, const uint8_t *p, size_t n, cip_err *err)
{
    const cip_framing_order order = { e->total, e->piece, cip_pool_threads(e->env->pool) };
    if (e->state == NULL && n <= e->piece - e->nraw) {
        memcpy(e->raw + e->nraw, p, n);
        e->nraw += n;
        return CIP_OK;
    }
    if (e->state == NULL) {
        size_t kept = e->nraw;
        CIP_TRY(e->framing->begin(&e->env->mem, e->level, &order, &e->state, err));
        e->nraw = 0;
        CIP_TRY(step_on(e, e->raw, kept, false, err));
    }
    return step_on(e, p, n, false, err);
}

/* --- all -------------------------------------------------------------------------------------- */

cip_status cip_encoder_write(cip_encoder *e, const void *p, size_t n, cip_err *err)
{
    const uint8_t *at = p;
    if (n == 0)
        return CIP_OK;
    if (e->framing == NULL)
        return cip_out_write(e->out, p, n, err);
    if (e->framing->begin != NULL)
        return write_in_order(e, p, n, err);
    const size_t all = e->nslot * e->piece;
    for (;;) {
        /* whole batches straight from the caller's memory, as long as something follows them */
        for (; e->nraw == 0 && n > all; at += all, n -= all)
            CIP_TRY(run_batch(e, at, all, e->nslot, false, err));
        size_t k = (size_t)cip_min_u64(n, all - e->nraw);
        memcpy(e->raw + e->nraw, at, k);
        e->nraw += k;
        at += k;
        n -= k;
        if (n == 0)
            return CIP_OK;
        size_t full = e->nraw;
        e->nraw = 0;
        CIP_TRY(run_batch(e, e->raw, full, e->nslot, false, err));
    }
}

cip_status cip_encoder_finish(cip_encoder *e, cip_err *err)
{
    if (e->framing == NULL)
        return CIP_OK;
    if (e->state != NULL)
        return step_on(e, e->raw, 0, true, err);
    size_t n = (size_t)cip_div_up(e->nraw, e->piece);
    if (n == 0 && e->framing->empty_piece) /* more than nothing never leaves nothing for the end */
        n = 1;
    if (n != 0)
        CIP_TRY(run_batch(e, e->raw, e->nraw, n, true, err));
    CIP_TRY(write_batch(e, &e->turn[!e->now], err));
    uint8_t buf[65];
    n = e->framing->tail == NULL || !e->begun ? 0 : e->framing->tail(e->sum, buf);
    if (n != 0)
        CIP_TRY(put(e, buf, e->framing->bits ? 8 * n : n, err));
    if (e->ncarry == 0)
        return CIP_OK;
    buf[0] = (uint8_t)e->carry;
    return cip_out_write(e->out, buf, 1, err);
}

void cip_encoder_free(cip_encoder *e)
{
    if (e == NULL)
        return;
    if (e->state != NULL)
        e->framing->finish(e->state);
    put_buffers(e);
    cip_mem_put(&e->env->mem, e);
}
