/* SPDX-License-Identifier: BSD-3-Clause
 * What nothing in a frame names any more goes: of a contiguous one the bytes between its chunks,
 * for which it is made anew with the chunks in their order; of a sparse one chunk files that its
 * index does not name. An index whose chunks overlap is damaged, and nothing is made of it: each of
 * them would come out as bytes of its own. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "format/blosc2/blosc2_update.h"

/* --- holes ------------------------------------------------------------------------------------ */

/* A chunk's bytes, from the frame's beginning. */
typedef struct extent {
    uint64_t at, len;
} extent;

typedef struct extents {
    extent *at;
    size_t n;
    bool in_order; /* as the index lists them */
} extents;

static int by_place(const void *a, const void *b)
{
    const extent *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static cip_status add_extent(cip_b2_index *x, uint64_t i, extents *e, cip_err *err)
{
    cip_b2_entry entry;
    cip_blosc_head head;
    cip_chunk c = { .run = 1 };
    CIP_TRY(cip_b2_index_entry(x, i, &entry, err));
    if (entry.special != CIP_BLOSC_NOT_SPECIAL)
        return CIP_OK;
    CIP_TRY(cip_b2_index_head(x, i, &entry, &head, &c, err));
    e->in_order = e->in_order && (e->n == 0 || e->at[e->n - 1].at < c.at.off);
    e->at[e->n++] = (extent){ c.at.off, c.at.len };
    return CIP_OK;
}

/* Of all chunks with data, by their places. */
static cip_status find_extents(const cip_b2_state *u, extents *e, cip_err *err)
{
    cip_b2_index *x = (cip_b2_index *)&u->f->index;
    CIP_TRY(CIP_NEW(&u->env->mem, &e->at, x->constant ? 0 : x->n, err));
    for (uint64_t i = 0; i < x->n && !x->constant; i++)
        CIP_TRY(cip_fail_in(err, add_extent(x, i, e, err), "chunk %" PRIu64, i));
    if (e->n != 0)
        qsort(e->at, e->n, sizeof *e->at, by_place);
    for (size_t k = 1; k < e->n; k++)
        if (e->at[k].at - e->at[k - 1].at < e->at[k - 1].len)
            return cip_fail(err, CIP_ERR_CORRUPT, e->at[k].at,
                            "expected separate chunks, found two that share bytes");
    return CIP_OK;
}

static uint64_t tell_hole(uint64_t from, uint64_t to, cip_report *report)
{
    if (to <= from)
        return 0;
    cip_report_add(report, CIP_NOTE, CIP_OK, from, to - from, "chunks",
                   "%" PRIu64 " bytes from %" PRIu64 " on, which belong to no chunk, are removed",
                   to - from, from);
    return to - from;
}

static cip_status find_holes(cip_b2_state *u, cip_report *report, cip_err *err)
{
    const cip_b2_frame *f = u->f;
    const uint64_t trailer = f->h.frame_len - f->trailer.len;
    uint64_t end = f->h.header_len, holes = 0;
    extents e = { .in_order = true };
    cip_status st = find_extents(u, &e, err);
    for (size_t k = 0; k < e.n && st == CIP_OK; k++) {
        holes += tell_hole(end, e.at[k].at, report);
        end = e.at[k].at + e.at[k].len;
    }
    if (st == CIP_OK && f->index.n != 0) {
        holes += tell_hole(end, f->index.at, report);
        end = f->index.at + f->index.len;
    }
    if (st == CIP_OK)
        holes += tell_hole(end, trailer, report);
    u->packs = true;
    u->untidy = holes != 0 || !e.in_order;
    cip_mem_put(&u->env->mem, e.at);
    return st;
}

/* --- chunk files ------------------------------------------------------------------------------ */

typedef struct files {
    cip_b2_state *u;
    cip_report *report;
    uint64_t *named; /* numbers in the index, rising */
    size_t n;
    cip_status st;
    cip_err *err;
} files;

static cip_status find_named(files *f, cip_err *err)
{
    cip_b2_index *x = (cip_b2_index *)&f->u->f->index;
    CIP_TRY(CIP_NEW(&f->u->env->mem, &f->named, x->constant ? 0 : x->n, err));
    for (uint64_t i = 0; i < x->n && !x->constant; i++) {
        cip_b2_entry e;
        CIP_TRY(cip_fail_in(err, cip_b2_index_entry(x, i, &e, err), "chunk %" PRIu64, i));
        if (e.special == CIP_BLOSC_NOT_SPECIAL)
            f->named[f->n++] = e.at;
    }
    if (f->n != 0)
        qsort(f->named, f->n, sizeof *f->named, cip_compare_u64);
    return CIP_OK;
}

/* Whether a file has the name of a chunk's, of 32 bits, just as it is written. */
static bool is_chunk_file(const char *name, uint64_t *number)
{
    char again[CIP_IO_NUMBER_NAME];
    *number = strtoull(name, NULL, 16);
    cip_b2_member_name(NULL, *number, NULL, again);
    return *number <= UINT32_MAX && strcmp(name, again) == 0;
}

static cip_status drop_file(files *f, const char *name, cip_err *err)
{
    cip_b2_state *u = f->u;
    cip_b2_gone *gone;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &gone, 1, err));
    CIP_TRY(cip_arena_copy(u->arena, name, strlen(name), (char **)&gone->name, err));
    gone->next = u->gone;
    u->gone = gone;
    cip_report_add(f->report, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, "chunks",
                   "%s, which the index does not list, is removed", name);
    return CIP_OK;
}

static int see_name(void *user, const char *name, bool is_folder)
{
    files *f = user;
    uint64_t number;
    if (!is_folder && is_chunk_file(name, &number) &&
        (f->n == 0 || bsearch(&number, f->named, f->n, sizeof *f->named, cip_compare_u64) == NULL))
        f->st = drop_file(f, name, f->err);
    return f->st != CIP_OK;
}

cip_status cip_b2_update_drop_files(const cip_b2_state *u, cip_revision *r, cip_err *err)
{
    for (const cip_b2_gone *g = u->gone; g != NULL; g = g->next) {
        cip_io *known;
        const cip_bytes name = { (const uint8_t *)g->name, strlen(g->name) };
        if (cip_strmap_get(&r->name, name) != SIZE_MAX)
            continue;
        CIP_TRY(cip_io_open_beneath(u->l->io, g->name, 0, &known, err));
        cip_status st = cip_revision_unlink(r, g->name, known, err);
        cip_io_close(known);
        CIP_TRY(st);
    }
    return CIP_OK;
}

cip_status cip_b2_update_defrag(void *state, cip_report *report, cip_err *err)
{
    cip_b2_state *u = state;
    CIP_TRY(cip_b2_update_check(u->f, err));
    CIP_TRY(cip_b2_index_ready((cip_b2_index *)&u->f->index, err));
    if (!u->f->h.sparse)
        return find_holes(u, report, err);
    CIP_TRY(cip_b2_sparse_check_links(u, err));
    files f = { .u = u, .report = report, .err = err };
    cip_err why = CIP_ERR_INIT;
    cip_status st = find_named(&f, err);
    if (st == CIP_OK) {
        st = cip_io_list(u->l->io, "", 0, see_name, &f, &why);
        st = f.st != CIP_OK ? f.st
             : st == CIP_OK ? CIP_OK
                            : cip_fail(err, st, why.offset, "%s", why.text);
    }
    cip_mem_put(&u->env->mem, f.named);
    return st;
}
