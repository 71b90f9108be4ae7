/* SPDX-License-Identifier: BSD-3-Clause
 * A file seen through a patch. The operations' ends cut the file into pieces; each piece shows the
 * last operation over it, found by painting from the last to the first, so that a patch of n
 * operations costs n log n whatever they overlap. */
#include "io/patch.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "io/io_impl.h"

typedef struct overlay_io {
    cip_io io;
    cip_io *under;          /* borrowed, but of a member */
    const cip_patch *patch; /* borrowed */
    cip_patch own;          /* a member's: its part of the other's */
    uint64_t *start;        /* of each piece, rising; a last entry ends the last piece */
    size_t *shows;          /* for each piece: an operation, or UNDER */
    size_t npiece;
} overlay_io;

#define UNDER SIZE_MAX
enum { BATCH = 64 };

/* Ranges of the file underneath, read together. */
typedef struct batch {
    cip_io *under;
    size_t n;
    cip_range r[BATCH];
} batch;

static cip_status batch_read(batch *b, cip_err *err)
{
    size_t n = b->n;
    b->n = 0;
    return cip_io_read_ranges(b->under, b->r, n, err);
}

/* n bytes at off from underneath; zeros behind its end. */
static cip_status show_under(batch *b, uint64_t off, uint8_t *dst, size_t n, cip_err *err)
{
    uint64_t left = cip_bytes_left(b->under->size, off);
    size_t there = (size_t)cip_min_u64(left, n);
    memset(dst + there, 0, n - there);
    if (there != 0)
        b->r[b->n++] = (cip_range){ .offset = off, .nbytes = there, .dst = dst };
    return b->n == BATCH ? batch_read(b, err) : CIP_OK;
}

static cip_status show_range(const overlay_io *o, const cip_range *r, batch *b, cip_err *err)
{
    uint64_t off = r->offset;
    uint8_t *dst = r->dst;
    size_t left = r->nbytes;
    for (size_t i = cip_last_at_most(o->start, sizeof *o->start, o->npiece, off); left != 0; i++) {
        size_t now = (size_t)cip_min_u64(left, o->start[i + 1] - off);
        const cip_patch_op *op = o->shows[i] != UNDER ? &o->patch->op[o->shows[i]] : NULL;
        if (op == NULL)
            CIP_TRY(show_under(b, off, dst, now, err));
        else if (op->kind == CIP_PATCH_WRITE)
            CIP_TRY(cip_patch_op_read(op, off - op->offset, dst, now, err));
        else
            memset(dst, 0, now); /* behind a length */
        off += now;
        dst += now;
        left -= now;
    }
    return CIP_OK;
}

static cip_status overlay_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    const overlay_io *o = (const overlay_io *)io;
    batch b = { .under = o->under };
    for (size_t i = 0; i < n; i++)
        CIP_TRY(show_range(o, &r[i], &b, err));
    return batch_read(&b, err);
}

static cip_status overlay_member(cip_io *io, const char *name, uint32_t flags, cip_io **out,
                                 cip_err *err);

static cip_status overlay_list(cip_io *io, const char *path, uint32_t flags, cip_io_list_fn *fn,
                               void *user, cip_err *err);

static cip_status overlay_unchanged(cip_io *io, cip_err *err)
{
    return cip_io_unchanged(((overlay_io *)io)->under, err);
}

static void overlay_close(cip_io *io)
{
    overlay_io *o = (overlay_io *)io;
    cip_mem_put(&io->env->mem, o->start);
    cip_mem_put(&io->env->mem, o->shows);
    if (o->patch == &o->own)
        cip_io_close(o->under);
    cip_patch_clear(&o->own);
    cip_io_free(io);
}

/* Two sets, so that an overlay of something without members has none either. */
static const cip_io_ops overlay_ops = {
    .name = "overlay",
    .through = true,
    .read_ranges = overlay_read,
    .unchanged = overlay_unchanged,
    .close = overlay_close,
};
static const cip_io_ops overlay_ops_members = {
    .name = "overlay",
    .through = true,
    .read_ranges = overlay_read,
    .open_member = overlay_member,
    .list = overlay_list,
    .unchanged = overlay_unchanged,
    .close = overlay_close,
};

/* The bytes an operation replaces; behind a length all are zeros. False: none of this file's. */
static bool op_covers(const cip_patch_op *op, uint64_t *from, uint64_t *to)
{
    if (!cip_patch_op_own(op))
        return false;
    *from = op->offset;
    *to = op->kind == CIP_PATCH_LENGTH ? UINT64_MAX : op->offset + op->after.len;
    return true;
}

/* Where pieces start or end: 0, 2^64-1 and the ends of every operation, once each. */
static void cut(overlay_io *o)
{
    uint64_t *v = o->start, from, to;
    size_t n = 0, kept = 1;
    v[n++] = 0;
    v[n++] = UINT64_MAX;
    for (size_t i = 0; i < o->patch->n; i++) {
        if (op_covers(&o->patch->op[i], &from, &to)) {
            v[n++] = from;
            v[n++] = to;
        }
    }
    qsort(v, n, sizeof *v, cip_compare_u64);
    for (size_t i = 1; i < n; i++)
        if (v[i] != v[kept - 1])
            v[kept++] = v[i];
    o->npiece = kept - 1;
}

/* The first piece from i on that nothing was painted on; paths are halved on the way. */
static size_t unpainted(size_t *next, size_t i)
{
    while (next[i] != i) {
        next[i] = next[next[i]];
        i = next[i];
    }
    return i;
}

/* `next`: npiece + 1 numbers of room. */
static void paint(overlay_io *o, size_t *next)
{
    for (size_t i = 0; i <= o->npiece; i++)
        next[i] = i;
    for (size_t i = 0; i < o->npiece; i++)
        o->shows[i] = UNDER;
    for (size_t k = o->patch->n; k-- > 0;) {
        uint64_t from, to;
        if (!op_covers(&o->patch->op[k], &from, &to))
            continue;
        size_t i =
            unpainted(next, cip_last_at_most(o->start, sizeof *o->start, o->npiece + 1, from));
        while (o->start[i] < to) {
            o->shows[i] = k;
            next[i] = i + 1;
            i = unpainted(next, i + 1);
        }
    }
}

static cip_status build(overlay_io *o, cip_err *err)
{
    cip_mem *mem = &o->io.env->mem;
    size_t most;
    size_t *next = NULL;
    if (cip_mul_overflow(o->patch->n, (size_t)2, &most) || cip_add_overflow(most, 2, &most))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%zu operations", o->patch->n);
    CIP_TRY(CIP_NEW(mem, &o->start, most, err));
    CIP_TRY(CIP_NEW(mem, &o->shows, most, err));
    CIP_TRY(CIP_NEW(mem, &next, most, err));
    cut(o);
    paint(o, next);
    cip_mem_put(mem, next);
    return CIP_OK;
}

static cip_status open_new(cip_io *under, const cip_patch *patch, uint64_t size, cip_io **out,
                           cip_err *err)
{
    const cip_io_ops *ops = under->ops->open_member != NULL ? &overlay_ops_members : &overlay_ops;
    CIP_TRY(cip_io_new(under->env, ops, sizeof(overlay_io), under->name, out, err));
    overlay_io *o = (overlay_io *)*out;
    o->under = under;
    o->patch = patch;
    o->own.arena.mem = &under->env->mem;
    o->io.size = size;
    o->io.base = under->base;
    o->io.folder = under->folder;
    return CIP_OK;
}

cip_status cip_io_open_overlay(cip_io *under, const cip_patch *patch, cip_io **out, cip_err *err)
{
    uint64_t size = cip_patch_size_after(patch, under->size);
    cip_io *io;
    *out = NULL;
    if (size != patch->new_len)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a patch to %" PRIu64 " bytes, found one to %" PRIu64,
                        patch->new_len, size);
    CIP_TRY(open_new(under, patch, size, &io, err));
    cip_status st = build((overlay_io *)io, err);
    if (st != CIP_OK) {
        overlay_close(io);
        return st;
    }
    *out = io;
    return CIP_OK;
}

/* --- members ---------------------------------------------------------------------------------- */

/* Operations on the member itself: those that follow one of its length; bytes stay borrowed. */
static cip_status add_own(const cip_patch *all, const char *name, cip_patch *own, cip_err *err)
{
    bool known = false;
    for (size_t i = 0; i < all->n; i++) {
        uint64_t inode, old_len;
        cip_patch_op op = all->op[i];
        if (strcmp(op.member, name) != 0)
            continue;
        known = known || cip_member_op_was(&op, &inode, &old_len);
        op.member = "";
        if (known && (op.kind == CIP_PATCH_LENGTH || op.kind == CIP_PATCH_WRITE))
            CIP_TRY(cip_patch_push(own, &op, err));
    }
    return CIP_OK;
}

/* The bytes of operations live as long as the overlay that the member was opened through, and may
 * outlive it: they are copied. Takes `member` over. */
static cip_status open_changed(cip_io *member, const cip_patch *changes, cip_io **out, cip_err *err)
{
    cip_io *io;
    cip_status st = open_new(member, NULL, cip_patch_size_after(changes, member->size), &io, err);
    if (st != CIP_OK) {
        cip_io_close(member);
        return st;
    }
    overlay_io *o = (overlay_io *)io;
    o->patch = &o->own;
    for (size_t i = 0; st == CIP_OK && i < changes->n; i++)
        st = cip_patch_add(&o->own, &changes->op[i], err);
    if (st == CIP_OK)
        st = build(o, err);
    if (st == CIP_OK)
        *out = io;
    else
        overlay_close(io);
    return st;
}

static cip_status overlay_member(cip_io *io, const char *name, uint32_t flags, cip_io **out,
                                 cip_err *err)
{
    const overlay_io *o = (const overlay_io *)io;
    cip_patch changes = { .arena = { .mem = &io->env->mem } };
    cip_io *member;
    cip_status st;
    *out = NULL;
    if (o->patch == &o->own) /* of a member there is nothing to be known of others */
        return o->under->ops->open_member(o->under, name, flags, out, err);
    CIP_TRY(cip_patch_open_member(o->under, o->patch, name, flags, &member, err));
    st = add_own(o->patch, name, &changes, err);
    if (st != CIP_OK)
        cip_io_close(member);
    else if (changes.n == 0)
        *out = member;
    else
        st = open_changed(member, &changes, out, err);
    cip_patch_clear(&changes);
    return st;
}

static cip_status overlay_list(cip_io *io, const char *path, uint32_t flags, cip_io_list_fn *fn,
                               void *user, cip_err *err)
{
    const overlay_io *o = (const overlay_io *)io;
    cip_changed_names c = { .view = io, .under = o->under };
    CIP_TRY(CIP_NEW(&io->env->mem, &c.name, 2 * o->patch->n, err));
    for (size_t i = 0; i < o->patch->n; i++) {
        const cip_patch_op *op = &o->patch->op[i];
        if (op->kind == CIP_PATCH_RENAME)
            c.name[c.n++] = op->to;
        if (op->kind == CIP_PATCH_RENAME || op->kind == CIP_PATCH_UNLINK)
            c.name[c.n++] = op->member;
    }
    cip_status st = cip_io_list_changed(&c, path, flags, fn, user, err);
    cip_mem_put(&io->env->mem, c.name);
    return st;
}
