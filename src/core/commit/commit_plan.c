/* SPDX-License-Identifier: BSD-3-Clause
 * What a revision changes in a file, found by comparing the two, and the safest cheap way to get it
 * there. Bytes that stay equal are never written. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "core/commit/commit_impl.h"

enum {
    SECTOR = 512, /* what a disk writes whole or not at all */
    GAP = 64,     /* equal bytes no dearer to write than another operation */
    PIECE = 64 << 10
};

typedef struct range {
    uint64_t from, to;
} range;

typedef struct finder {
    cip_commit *c;
    cip_commit_plan *p;
    range *suspect; /* where the two may differ */
    size_t nsuspect, cap;
    range *run; /* where they do, in rising order */
    size_t nrun, run_cap;
    uint64_t nbytes; /* in the runs */
    uint8_t *old, *new;
} finder;

static cip_status push(cip_mem *mem, range **list, size_t *n, size_t *cap, range what, cip_err *err)
{
    if (*n == *cap) {
        size_t more = *cap != 0 ? *cap * 2 : 16, nbytes;
        if (cip_mul_overflow(more, sizeof(range), &nbytes))
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "over %zu ranges", *n);
        CIP_TRY(cip_mem_resize(mem, (void **)list, nbytes, err));
        *cap = more;
    }
    (*list)[(*n)++] = what;
    return CIP_OK;
}

static cip_status add_suspect(finder *f, uint64_t from, uint64_t to, cip_err *err)
{
    to = cip_min_u64(to, cip_min_u64(f->c->io->size, f->p->after->size));
    return from < to
               ? push(&f->c->env->mem, &f->suspect, &f->nsuspect, &f->cap, (range){ from, to }, err)
               : CIP_OK;
}

/* Whether a piece is the file's own bytes in their old place: it may be of a part of the file, or
 * of an io of its own over the same descriptor. */
static bool stays(const cip_commit *c, const cip_segment *s, uint64_t at)
{
    uint64_t off = s->off, there = s->off, own = 0;
    if (s->io == NULL)
        return false;
    if (cip_io_whole(s->io, &off) == c->io)
        return off == at;
    int fd = cip_io_descriptor(s->io, &there);
    return fd != -1 && fd == cip_io_descriptor(c->io, &own) && there == at;
}

/* Changes, and the pieces that are not the file's own bytes in their old place. */
static cip_status list_suspects(finder *f, cip_err *err)
{
    const cip_revision *r = f->p->r;
    uint64_t at = r->anew ? 0 : r->tail_off;
    for (size_t i = 0; i < r->patch.n; i++) {
        const cip_patch_op *op = &r->patch.op[i];
        uint64_t end = op->kind == CIP_PATCH_LENGTH ? UINT64_MAX : op->offset + op->after.len;
        CIP_TRY(add_suspect(f, op->offset, end, err));
    }
    for (size_t i = 0; i < r->nsegment; i++) {
        const cip_segment *s = &r->segment[i];
        if (!stays(f->c, s, at))
            CIP_TRY(add_suspect(f, at, at + s->len, err));
        at += s->len;
    }
    return CIP_OK;
}

static int by_start(const void *a, const void *b)
{
    uint64_t x = ((const range *)a)->from, y = ((const range *)b)->from;
    return (x > y) - (x < y);
}

/* Joins a difference to the last run or starts another. */
static cip_status add_run(finder *f, uint64_t from, uint64_t to, cip_err *err)
{
    range *last = f->nrun != 0 ? &f->run[f->nrun - 1] : NULL;
    if (last != NULL && from <= last->to + GAP) {
        if (to > last->to) {
            f->nbytes += to - last->to;
            last->to = to;
        }
        return CIP_OK;
    }
    f->nbytes += to - from;
    return push(&f->c->env->mem, &f->run, &f->nrun, &f->run_cap, (range){ from, to }, err);
}

static cip_status compare_piece(finder *f, uint64_t off, size_t n, cip_err *err)
{
    CIP_TRY(cip_io_read(f->c->io, off, f->old, n, err));
    CIP_TRY(cip_io_read(f->p->after, off, f->new, n, err));
    if (memcmp(f->old, f->new, n) == 0)
        return CIP_OK;
    for (size_t i = 0; i < n; i++) {
        size_t from = i;
        while (i < n && f->old[i] != f->new[i])
            i++;
        if (i != from)
            CIP_TRY(add_run(f, off + from, off + i, err));
    }
    return CIP_OK;
}

/* Bytes that a journal may have: less where memory is short, as it is made there. */
static uint64_t journal_most(const cip_commit *c)
{
    return cip_min_u64(CIP_JOURNAL_MAX, c->env->limits.max_memory / 4) - 4096;
}

static uint64_t journal_bytes(const finder *f)
{
    return 2 * f->nbytes + 48 * (uint64_t)f->nrun;
}

/* Stops when the journal would become too large. */
static cip_status compare(finder *f, cip_err *err)
{
    if (f->nsuspect != 0)
        qsort(f->suspect, f->nsuspect, sizeof *f->suspect, by_start);
    uint64_t at = 0;
    for (size_t i = 0; i < f->nsuspect; i++) {
        at = cip_max_u64(at, f->suspect[i].from);
        while (at < f->suspect[i].to && journal_bytes(f) <= journal_most(f->c)) {
            size_t n = (size_t)cip_min_u64(f->suspect[i].to - at, PIECE);
            CIP_TRY(compare_piece(f, at, n, err));
            at += n;
        }
    }
    return CIP_OK;
}

/* Several runs in one sector are one. */
static void join_sector(finder *f)
{
    if (f->nrun < 2 || f->run[0].from / SECTOR != (f->run[f->nrun - 1].to - 1) / SECTOR)
        return;
    f->run[0].to = f->run[f->nrun - 1].to;
    f->nrun = 1;
    f->nbytes = f->run[0].to - f->run[0].from;
}

/* --- several names ---------------------------------------------------------------------------- */

/* Whether the file has this many names in its folder. */
static bool has_names(const cip_commit *c, uint64_t many)
{
    int fd = openat(c->place.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd != -1 ? fdopendir(fd) : NULL;
    struct stat st;
    const struct dirent *e;
    if (dir == NULL) {
        close(fd); /* -1 is fine */
        return false;
    }
    while (many != 0 && (e = readdir(dir)) != NULL)
        if ((e->d_type == DT_REG || e->d_type == DT_UNKNOWN) &&
            fstatat(c->place.dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_dev == c->st.st_dev && st.st_ino == c->st.st_ino)
            many--;
    closedir(dir);
    return many == 0;
}

/* Whether an update with a record beside the file, if it were cut off, would be found under every
 * name of it. */
static bool is_found(const cip_commit *c)
{
    struct stat st;
    return fstat(c->fd, &st) == 0 &&
           (st.st_nlink <= 1 || (cip_record_able(c->fd) && has_names(c, st.st_nlink)));
}

static bool keeps_record(const cip_commit_plan *p, const cip_commit *c)
{
    return p->way == CIP_WAY_APPEND || p->way == CIP_WAY_JOURNAL ||
           (p->way == CIP_WAY_SWITCH && p->after->size != c->io->size);
}

static cip_status choose_for_links(finder *f, cip_err *err)
{
    const cip_commit *c = f->c;
    if (cip_commit_has_target(c) || !keeps_record(f->p, c) || is_found(c))
        return CIP_OK;
    if (!c->break_links)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the file has several names (hard links), and not under all of them an "
                        "update that is cut off would be found; --break-links replaces the file "
                        "under this name");
    f->p->way = CIP_WAY_REPLACE;
    return CIP_OK;
}

/* Members come and go by a journal, whatever else there is to change: it says which. */
static void choose_for_members(finder *f)
{
    if (f->p->r->nmember != 0)
        f->p->way = journal_bytes(f) > journal_most(f->c) ? CIP_WAY_REPLACE : CIP_WAY_JOURNAL;
}

static cip_status check_members(const finder *f, cip_err *err)
{
    return f->p->r->nmember == 0 || f->p->way == CIP_WAY_JOURNAL || cip_commit_has_target(f->c)
               ? CIP_OK
               : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                          "a file that has to be replaced cannot change together with files "
                          "beside it");
}

static cip_commit_way choose(const finder *f)
{
    uint64_t was = f->c->io->size, becomes = f->p->after->size;
    if (f->nrun == 0 && was == becomes)
        return CIP_WAY_NOTHING;
    if (f->p->r->anew || journal_bytes(f) > journal_most(f->c))
        return CIP_WAY_REPLACE;
    if (f->nrun == 0)
        return becomes < was ? CIP_WAY_CUT : CIP_WAY_APPEND;
    if (f->nrun == 1 && becomes >= was && f->run[0].from / SECTOR == (f->run[0].to - 1) / SECTOR)
        return CIP_WAY_SWITCH;
    return CIP_WAY_JOURNAL;
}

static cip_status read_into(cip_arena *a, cip_io *io, range run, cip_bytes *out, cip_err *err)
{
    void *ptr;
    size_t n = (size_t)(run.to - run.from);
    CIP_TRY(cip_arena_get(a, n, &ptr, err));
    CIP_TRY(cip_io_read(io, run.from, ptr, n, err));
    *out = (cip_bytes){ ptr, n };
    return CIP_OK;
}

static cip_status add_op(finder *f, range run, cip_err *err)
{
    cip_patch *patch = &f->p->patch;
    cip_patch_op op = { .kind = CIP_PATCH_WRITE, .member = "", .to = "", .offset = run.from };
    CIP_TRY(read_into(&patch->arena, f->c->io, run, &op.before, err));
    CIP_TRY(read_into(&patch->arena, f->p->after, run, &op.after, err));
    return cip_patch_push(patch, &op, err);
}

/* An append changes no byte that could tell its file later on; so its record names some that stay,
 * at both ends of what there is. */
static cip_status add_witnesses(finder *f, cip_err *err)
{
    uint64_t size = f->c->io->size, n = cip_min_u64(size / 2, SECTOR);
    if (n == 0)
        return CIP_OK;
    CIP_TRY(add_op(f, (range){ 0, n }, err));
    return add_op(f, (range){ size - n, size }, err);
}

static cip_status fill_patch(finder *f, cip_err *err)
{
    cip_commit_plan *p = f->p;
    p->nrun = f->nrun;
    p->nbytes = f->nbytes;
    p->patch.old_len = f->c->io->size;
    p->patch.new_len = p->after->size;
    if (p->way == CIP_WAY_REPLACE)
        return CIP_OK;
    for (size_t i = 0; i < f->nrun; i++)
        CIP_TRY(add_op(f, f->run[i], err));
    if (p->way == CIP_WAY_APPEND || (p->r->nmember != 0 && f->nrun == 0))
        CIP_TRY(add_witnesses(f, err));
    cip_patch_op length = { .kind = CIP_PATCH_LENGTH, .offset = p->after->size };
    return p->patch.new_len != p->patch.old_len ? cip_patch_add(&p->patch, &length, err) : CIP_OK;
}

static cip_status find_runs(finder *f, cip_err *err)
{
    cip_status st;
    CIP_GO(cip_mem_get(&f->c->env->mem, PIECE, (void **)&f->old, err));
    CIP_GO(cip_mem_get(&f->c->env->mem, PIECE, (void **)&f->new, err));
    CIP_GO(list_suspects(f, err));
    /* one that is made anew only needs to know whether there is anything to do */
    if (!f->p->r->anew || f->p->r->nmember != 0 || f->c->io->size == f->p->after->size)
        CIP_GO(compare(f, err));
    join_sector(f);
    f->p->way = choose(f);
    choose_for_members(f);
    CIP_GO(choose_for_links(f, err));
    CIP_GO(check_members(f, err));
    st = fill_patch(f, err);
done:
    cip_mem_put(&f->c->env->mem, f->old);
    cip_mem_put(&f->c->env->mem, f->new);
    cip_mem_put(&f->c->env->mem, f->suspect);
    cip_mem_put(&f->c->env->mem, f->run);
    return st;
}

cip_status cip_commit_plan_make(cip_commit *c, const cip_revision *r, cip_commit_plan *p,
                                cip_err *err)
{
    finder f = { .c = c, .p = p };
    *p = (cip_commit_plan){ .r = r, .patch = { .arena = { .mem = &c->env->mem } } };
    CIP_TRY(cip_io_open_revision(c->io, r, &p->after, err));
    return find_runs(&f, err);
}

void cip_commit_plan_clear(cip_commit_plan *p)
{
    cip_io_close(p->after);
    cip_patch_clear(&p->patch);
    p->after = NULL;
}

cip_status cip_commit_kind(cip_commit *c, const cip_revision *r, char *text, size_t cap,
                           cip_err *err)
{
    cip_commit_plan p;
    cip_status st;
    CIP_GO(cip_commit_plan_make(c, r, &p, err));
    uint64_t size = p.after->size, more = cip_bytes_left(size, c->io->size);
    switch (p.way) {
    case CIP_WAY_NOTHING:
        snprintf(text, cap, "nothing changes");
        break;
    case CIP_WAY_CUT:
        snprintf(text, cap, "cut to %" PRIu64 " bytes", size);
        break;
    case CIP_WAY_APPEND:
        snprintf(text, cap, "append %" PRIu64 " bytes", more);
        break;
    case CIP_WAY_SWITCH:
        snprintf(text, cap, "switch: append %" PRIu64 " bytes, write %" PRIu64 " within a sector",
                 more, p.nbytes);
        break;
    case CIP_WAY_JOURNAL:
        snprintf(text, cap,
                 "%s: append %" PRIu64 " bytes, write %" PRIu64 " in %zu places, %" PRIu64
                 " bytes in the end",
                 cip_commit_has_target(c) ? "in place" : "journal", more, p.nbytes, p.nrun, size);
        break;
    case CIP_WAY_REPLACE:
        snprintf(text, cap, "replace: a new file of %" PRIu64 " bytes", size);
        break;
    }
    size_t gone = 0, len = strlen(text);
    for (size_t i = 0; i < r->nmember; i++)
        gone += r->member[i].gone;
    if (r->nmember != 0)
        snprintf(text + len, cap - len, "; %zu files beside it are made, %zu removed",
                 r->nmember - gone, gone);
done:
    cip_commit_plan_clear(&p);
    return st;
}
