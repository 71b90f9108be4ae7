/* SPDX-License-Identifier: BSD-3-Clause
 * Checking: every chunk's place, head and digest, the offsets against the chunks' lengths, what is
 * left over. What opening found is not said again. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/bloscpack/bloscpack.h"

enum {
    PIECE = 1 << 20,  /* bytes summed at once */
    BAD_MAX = 1 << 12 /* after so many bad chunks no more are looked at */
};

typedef struct check {
    cip_bp_file *f;
    cip_report *rep;
    uint8_t *piece;
    uint64_t end; /* one past the last chunk and its digest */
    uint64_t nbad, holes;
} check;

static cip_status sum_stored(check *c, const cip_chunk *chunk, cip_sum *sum, cip_err *err)
{
    const cip_read_how how = { c->f->layout, NULL };
    for (uint64_t done = 0, n; done < chunk->at.len; done += n) {
        n = cip_min_u64(PIECE, chunk->at.len - done);
        CIP_TRY(
            cip_space_read_at(&how, chunk->at.in, chunk->at.off + done, c->piece, (size_t)n, err));
        cip_sum_add(sum, c->piece, (size_t)n);
        if (cip_report_progress(c->rep, n))
            return cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
    }
    return CIP_OK;
}

static cip_status check_digest(check *c, const cip_chunk *chunk, cip_err *err)
{
    cip_mem *mem = &c->f->layout->env->mem;
    cip_sum_id id = (cip_sum_id)chunk->sum_id;
    cip_sum *sum;
    uint8_t found[CIP_SUM_MAX];
    if (id == CIP_SUM_NONE)
        return CIP_OK;
    if (c->piece == NULL)
        CIP_TRY(cip_mem_get(mem, PIECE, (void **)&c->piece, err));
    CIP_TRY(cip_sum_new(mem, id, &sum, err));
    cip_status st = sum_stored(c, chunk, sum, err);
    cip_sum_take(sum, found);
    cip_sum_free(sum);
    CIP_TRY(st);
    if (memcmp(found, chunk->sum, cip_sum_size(id)) == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CHECKSUM, chunk->at.off,
                    "the stored bytes do not match the %s stored after them", cip_sum_name(id));
}

static cip_status check_chunk(check *c, uint64_t i, cip_err *err)
{
    cip_bp_file *f = c->f;
    cip_blosc_head head;
    cip_chunk chunk = { .run = 0 };
    CIP_TRY(cip_bp_chunk(f, i, &head, &chunk, err));
    c->holes += chunk.at.off > c->end ? chunk.at.off - c->end : 0;
    c->end = chunk.at.off + chunk.at.len + cip_sum_size(f->h.sum);
    CIP_TRY(check_digest(c, &chunk, err));
    return cip_blosc_known(&head, err);
}

static cip_status check_chunks(check *c, cip_err *err)
{
    const cip_bp_chunks *t = &c->f->chunks;
    const char *part = c->f->part;
    for (uint64_t i = 0; i < t->nfound && c->nbad < BAD_MAX; i++) {
        cip_err why = CIP_ERR_INIT;
        cip_status st = check_chunk(c, i, &why);
        if (cip_is_passing(st))
            return cip_fail(err, st, why.offset, "%s", why.text);
        if (st == CIP_OK)
            continue;
        c->nbad++;
        cip_fail_in(&why, st, "%s, chunk %" PRIu64, part != NULL ? part : "data", i);
        cip_report_err(c->rep, cip_severity_of(st), &why);
    }
    if (t->nfound < t->n)
        cip_report_add(c->rep, CIP_BAD, t->why, c->end, 0, part != NULL ? part : "chunks",
                       "expected %" PRIu64 " chunks, found %" PRIu64 ": %s", t->n, t->nfound,
                       t->lack);
    return CIP_OK;
}

/* What tells of earlier states of the file. */
static void note_rest(const check *c)
{
    const cip_bp_file *f = c->f;
    uint64_t size = f->layout->io->size;
    if (c->nbad != 0 || f->chunks.nfound < f->chunks.n)
        return;
    if (c->holes != 0 && !f->spare)
        cip_report_add(c->rep, CIP_WARN, CIP_ERR_CORRUPT, f->chunks_at, 0, "chunks",
                       "%" PRIu64 " bytes between chunks: bloscpack expects chunks without gaps",
                       c->holes);
    if (c->end < size && !f->spare)
        cip_report_add(c->rep, CIP_NOTE, CIP_OK, c->end, size - c->end, NULL,
                       "%" PRIu64 " bytes after the last chunk, as append may leave them",
                       size - c->end);
}

/* Spare offsets are -1; and so are all where the writer was stopped before its end. */
static cip_status check_offsets(const check *c, cip_err *err)
{
    const cip_bp_file *f = c->f;
    const cip_read_how how = { f->layout, NULL };
    uint8_t bytes[4096];
    uint64_t at = f->offsets_at, spare = at + 8 * (uint64_t)f->h.nchunk, unset = 0, used = 0;
    if ((f->h.options & CIP_BP_OFFSETS) == 0)
        return CIP_OK;
    for (size_t n; at < f->chunks_at; at += n) {
        n = (size_t)cip_min_u64(sizeof bytes, f->chunks_at - at);
        CIP_TRY(cip_space_read_at(&how, f->layout->file, at, bytes, n, err));
        for (size_t k = 0; k < n; k += 8) {
            bool is_unset = cip_load_u64(bytes + k, false) == UINT64_MAX;
            unset += at + k < spare && is_unset;
            used += at + k >= spare && !is_unset;
        }
    }
    if (unset != 0)
        cip_report_fixable(c->rep, CIP_WARN, CIP_ERR_CORRUPT, f->offsets_at, spare - f->offsets_at,
                           "offsets",
                           "%" PRIu64 " of %" PRId64
                           " offsets were never written: the chunks are found one after the other",
                           unset, f->h.nchunk);
    if (used != 0)
        cip_report_add(c->rep, CIP_WARN, CIP_ERR_CORRUPT, spare, f->chunks_at - spare, "offsets",
                       "expected -1 in %" PRIu64 " free offsets, found another value in %" PRIu64,
                       f->h.nspare, used);
    return CIP_OK;
}

cip_status cip_bp_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    cip_bp_file *f = l->own;
    check c = { .f = f, .rep = report, .end = f->chunks_at };
    cip_space *data;
    cip_err why = CIP_ERR_INIT;
    (void)deep;
    cip_status st = cip_space_resolve(f->data, &data, &why); /* finds the chunks */
    CIP_TRY(cip_report_outcome(report, st, &why, err));
    if (st != CIP_OK)
        return cip_report_status(report, err);
    CIP_TRY(check_offsets(&c, err));
    st = check_chunks(&c, err);
    cip_mem_put(&l->env->mem, c.piece);
    CIP_TRY(st);
    note_rest(&c);
    return cip_report_status(report, err);
}
