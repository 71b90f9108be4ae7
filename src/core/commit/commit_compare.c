/* SPDX-License-Identifier: BSD-3-Clause
 * Where a file and what is to become of it differ: only what a revision changes is looked at, and
 * bytes that stay equal are left out. */
#include <stdlib.h>
#include <string.h>

#include "base/difference.h"
#include "base/num.h"
#include "core/commit/commit_impl.h"

enum {
    GAP = 64, /* equal bytes no dearer to write than another operation */
    PIECE = 64 << 10
};

typedef struct finder {
    cip_mem *mem;
    const cip_revision *r;
    cip_io *was, *after;
    uint64_t most;    /* bytes that a journal may have */
    cip_run *suspect; /* where the two may differ */
    size_t nsuspect, cap, run_cap;
    cip_runs *out;
} finder;

static cip_status add_suspect(finder *f, uint64_t from, uint64_t to, cip_err *err)
{
    to = cip_min_u64(to, cip_min_u64(f->was->size, f->after->size));
    if (from >= to)
        return CIP_OK;
    CIP_TRY(CIP_ROOM(f->mem, &f->suspect, f->nsuspect, &f->cap, err));
    f->suspect[f->nsuspect++] = (cip_run){ from, to };
    return CIP_OK;
}

/* Whether a piece is the file's own bytes in their old place: it may be of a part of the file, or
 * of an io of its own over the same descriptor. */
static bool stays(cip_io *was, const cip_segment *s, uint64_t at)
{
    uint64_t off = s->off, there = s->off, own = 0;
    if (s->io == NULL)
        return false;
    if (cip_io_whole(s->io, &off) == was)
        return off == at;
    int fd = cip_io_descriptor(s->io, &there);
    return fd != -1 && fd == cip_io_descriptor(was, &own) && there == at;
}

/* Changes, and the pieces that are not the file's own bytes in their old place. */
static cip_status list_suspects(finder *f, cip_err *err)
{
    const cip_revision *r = f->r;
    uint64_t at = r->anew ? 0 : r->tail_off;
    for (size_t i = 0; i < r->patch.n; i++) {
        const cip_patch_op *op = &r->patch.op[i];
        uint64_t end = op->kind == CIP_PATCH_LENGTH ? UINT64_MAX : op->offset + op->after.len;
        CIP_TRY(add_suspect(f, op->offset, end, err));
    }
    for (size_t i = 0; i < r->nsegment; i++) {
        const cip_segment *s = &r->segment[i];
        if (!stays(f->was, s, at))
            CIP_TRY(add_suspect(f, at, at + s->len, err));
        at += s->len;
    }
    return CIP_OK;
}

static int by_start(const void *a, const void *b)
{
    uint64_t x = ((const cip_run *)a)->from, y = ((const cip_run *)b)->from;
    return (x > y) - (x < y);
}

/* Joins a difference to the last run or starts another. */
static cip_status add_run(finder *f, uint64_t from, uint64_t to, cip_err *err)
{
    cip_run *last = f->out->n != 0 ? &f->out->run[f->out->n - 1] : NULL;
    if (last != NULL && from <= last->to + GAP) {
        if (to > last->to) {
            f->out->nbytes += to - last->to;
            last->to = to;
        }
        return CIP_OK;
    }
    f->out->nbytes += to - from;
    CIP_TRY(CIP_ROOM(f->mem, &f->out->run, f->out->n, &f->run_cap, err));
    f->out->run[f->out->n++] = (cip_run){ from, to };
    return CIP_OK;
}

/* Ranges that touch are compared as one. Stops when the journal would
 * become too large. */
static cip_status compare(finder *f, cip_err *err)
{
    if (f->nsuspect != 0)
        qsort(f->suspect, f->nsuspect, sizeof *f->suspect, by_start);
    cip_runs *r = f->out;
    uint64_t at = 0;
    for (size_t i = 0, next; i < f->nsuspect; i = next) {
        at = cip_max_u64(at, f->suspect[i].from);
        uint64_t end = f->suspect[i].to;
        for (next = i + 1; next < f->nsuspect && f->suspect[next].from <= end; next++)
            end = cip_max_u64(end, f->suspect[next].to);
        while (at < end && cip_runs_bytes(f->out) <= f->most) {
            size_t n = (size_t)cip_min_u64(end - at, PIECE);
            r->len = 0;
            CIP_TRY(cip_io_read(f->was, at, r->old, n, err));
            CIP_TRY(cip_io_read(f->after, at, r->new, n, err));
            r->at = at;
            r->len = n;
            for (size_t k = 0, stop; cip_next_difference(r->old, r->new, n, GAP, &k, &stop);
                 k = stop)
                CIP_TRY(add_run(f, at + k, at + stop, err));
            at += n;
        }
    }
    return CIP_OK;
}

uint64_t cip_runs_bytes(const cip_runs *r)
{
    return 2 * r->nbytes + 48 * (uint64_t)r->n;
}

void cip_runs_clear(cip_runs *r)
{
    cip_mem *mem = &r->was->env->mem;
    cip_mem_put(mem, r->run);
    cip_mem_put(mem, r->old);
    cip_mem_put(mem, r->new);
    *r = (cip_runs){ .run = NULL };
}

cip_status cip_commit_compare(cip_runs *out, const cip_revision *r, uint64_t most, cip_err *err)
{
    cip_mem *mem = &out->was->env->mem;
    finder f = {
        .mem = mem, .r = r, .was = out->was, .after = out->after, .most = most, .out = out
    };
    cip_status st;
    CIP_GO(cip_mem_get(mem, PIECE, (void **)&out->old, err));
    CIP_GO(cip_mem_get(mem, PIECE, (void **)&out->new, err));
    CIP_GO(list_suspects(&f, err));
    st = compare(&f, err);
done:
    cip_mem_put(mem, f.suspect);
    return st;
}

/* The operation of one run; old, new: its bytes of both files. */
static cip_status push_write(cip_patch *patch, const char *member, const cip_run *run,
                             const uint8_t *old, const uint8_t *new, cip_err *err)
{
    const size_t n = (size_t)(run->to - run->from);
    cip_patch_op op = { .kind = CIP_PATCH_WRITE, .member = member, .to = "", .offset = run->from };
    uint8_t *both;
    CIP_TRY(cip_arena_get(&patch->arena, 2 * n, (void **)&both, err));
    memcpy(both, old, n);
    memcpy(both + n, new, n);
    op.before = (cip_bytes){ both, n };
    op.after = (cip_bytes){ both + n, n };
    return cip_patch_push(patch, &op, err);
}

/* Runs near each other are read together. */
cip_status cip_commit_add_writes(cip_patch *patch, const char *member, const cip_runs *r,
                                 cip_err *err)
{
    cip_mem *mem = &r->was->env->mem;
    cip_status st = CIP_OK;
    uint8_t *old = NULL, *new = NULL;
    for (size_t i = 0, next; i < r->n; i = next) {
        const uint64_t from = r->run[i].from;
        for (next = i + 1; next < r->n && r->run[next].to - from <= PIECE; next++)
            ;
        const size_t n = (size_t)(r->run[next - 1].to - from);
        const bool read = from >= r->at && r->run[next - 1].to <= r->at + r->len;
        if (!read) {
            CIP_GO(cip_mem_resize(mem, (void **)&old, n, err));
            CIP_GO(cip_mem_resize(mem, (void **)&new, n, err));
            CIP_GO(cip_io_read(r->was, from, old, n, err));
            CIP_GO(cip_io_read(r->after, from, new, n, err));
        }
        for (; i < next; i++) {
            const size_t skip = (size_t)(r->run[i].from - (read ? r->at : from));
            CIP_GO(push_write(patch, member, &r->run[i], (read ? r->old : old) + skip,
                              (read ? r->new : new) + skip, err));
        }
    }
done:
    cip_mem_put(mem, old);
    cip_mem_put(mem, new);
    return st;
}
