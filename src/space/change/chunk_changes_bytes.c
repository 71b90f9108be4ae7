/* SPDX-License-Identifier: BSD-3-Clause
 * Changes of linear bytes, which lie in the file as they are or are decoded in order. Runs count
 * bytes: each is a range of the bytes as they were, a range of the file of new bytes, or zeros. So
 * rows come and go at the cost of the runs that they touch, and what follows them moves by its
 * number alone. New bytes begin and end where pages do: elements that change here and there make
 * at most one run in a page, which bounds the list whatever changes. */
#include "space/change/chunk_changes_impl.h"

#include <string.h>

#include "base/num.h"

enum { NEAR = 64 << 10 }; /* bytes between changes that are compared rather than named apart */

/* --- as a table: a chunk for each run --------------------------------------------------------- */

static cip_status table_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const cip_chunk_changes *c = self;
    if (i > c->runs.n || n > c->runs.n - i)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a run below %zu, found %" PRIu64, c->runs.n, i);
    for (size_t k = 0; k < n; k++) {
        const cip_chunk_run *r = &c->runs.at[i + k];
        const bool kept = r->from != UINT64_MAX;
        out[k] = (cip_chunk){ .raw_off = r->i, .raw_len = r->run, .run = 1, .state = r->state };
        if (r->state == CIP_CHUNK_DATA) {
            out[k].at = kept ? (cip_extent){ c->was, r->from, r->run }
                             : (cip_extent){ c->in_elems, r->off, r->run };
            out[k].codec = &cip_codec_stored;
        }
    }
    return CIP_OK;
}

static cip_status table_find(void *self, uint64_t at, uint64_t *i, cip_err *err)
{
    const cip_chunk_changes *c = self;
    if (at >= c->now->len)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a byte below %" PRIu64 ", found %" PRIu64, c->now->len, at);
    *i = (uint64_t)(cip_chunk_run_of(c, at) - c->runs.at);
    return CIP_OK;
}

static cip_status table_count(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((const cip_chunk_changes *)self)->runs.n;
    return CIP_OK;
}

/* --- as an io --------------------------------------------------------------------------------- */

/* Runs that one read takes: all kept ones lie as far from their old places. */
typedef struct group {
    const cip_chunk_run *run, *end;
    uint64_t at; /* the bytes wanted of them */
    size_t len;
} group;

static group group_at(const cip_chunk_changes *c, uint64_t at, size_t n)
{
    const cip_chunk_run *r = cip_chunk_run_of(c, at), *stop = c->runs.at + c->runs.n;
    const cip_chunk_run *kept = NULL;
    group g = { .run = r, .at = at };
    for (; r < stop && r->i < at + n; r++) {
        if (r->from != UINT64_MAX && kept != NULL && r->from - r->i != kept->from - kept->i)
            break;
        kept = r->from != UINT64_MAX ? r : kept;
    }
    g.end = r;
    g.len = (size_t)cip_min_u64(n, r[-1].i + r[-1].run - at);
    return g;
}

/* What of the group's bytes lies in the run: its first byte, and (returned) how many. */
static size_t part_of(const group *g, const cip_chunk_run *r, uint64_t *first)
{
    *first = cip_max_u64(r->i, g->at);
    return (size_t)(cip_min_u64(r->i + r->run, g->at + g->len) - *first);
}

/* Kept runs as one range of the old bytes, with what lies between them. */
static cip_status read_kept(const cip_chunk_changes *c, const group *g, uint8_t *dst, cip_err *err)
{
    uint64_t first, from = UINT64_MAX, end = 0, shift = 0;
    for (const cip_chunk_run *r = g->run; r < g->end; r++) {
        if (r->from == UINT64_MAX)
            continue;
        const size_t n = part_of(g, r, &first);
        from = cip_min_u64(from, first);
        end = first + n;
        shift = r->from - r->i;
    }
    return end == 0 ? CIP_OK
                    : cip_space_read_at(&c->how, c->was, from + shift, dst + (from - g->at),
                                        (size_t)(end - from), err);
}

static bool is_new(const cip_chunk_run *r)
{
    return r->from == UINT64_MAX && r->state == CIP_CHUNK_DATA;
}

/* New bytes that follow each other in their file, from *r on: *r becomes the run after the last. */
static cip_status read_new(const cip_chunk_changes *c, const group *g, const cip_chunk_run **r,
                           uint8_t *dst, cip_err *err)
{
    uint64_t first;
    const cip_chunk_run *begin = *r, *x = begin;
    uint8_t *buf = NULL;
    size_t all = part_of(g, x, &first);
    const uint64_t off = x->off + (first - x->i);
    for (x++; x < g->end && (!is_new(x) || x->off == off + all); x++)
        all += is_new(x) ? part_of(g, x, &first) : 0;
    *r = x;
    CIP_TRY(cip_mem_get(c->mem, all, (void **)&buf, err));
    const cip_status st = cip_io_read(c->elems, off, buf, all, err);
    const uint8_t *src = buf;
    for (x = begin; x < *r && st == CIP_OK; x++) {
        const size_t n = is_new(x) ? part_of(g, x, &first) : 0;
        if (n != 0)
            memcpy(dst + (first - g->at), src, n);
        src += n;
    }
    cip_mem_put(c->mem, buf);
    return st;
}

cip_status cip_byte_changes_read(const cip_chunk_changes *c, uint64_t at, uint8_t *dst, size_t n,
                                 cip_err *err)
{
    group g;
    uint64_t first;
    for (; n != 0; at += g.len, dst += g.len, n -= g.len) {
        g = group_at(c, at, n);
        CIP_TRY(read_kept(c, &g, dst, err));
        for (const cip_chunk_run *r = g.run; r < g.end; r++) {
            const size_t len = part_of(&g, r, &first);
            if (r->state == CIP_CHUNK_ZERO)
                memset(dst + (first - at), 0, len);
        }
        for (const cip_chunk_run *r = g.run; r < g.end;)
            if (is_new(r))
                CIP_TRY(read_new(c, &g, &r, dst, err));
            else
                r++;
    }
    return CIP_OK;
}

/* --- beginning -------------------------------------------------------------------------------- */

/* The array is all of the bytes, if its elements are packed there from the first byte on. */
static void own(cip_chunk_changes *c, const cip_array *a, const cip_nd *at)
{
    uint64_t first, end = 0;
    c->array = a;
    c->whole = cip_view_is_contiguous(at) && cip_view_bounds(at, &first, &end, NULL) == CIP_OK &&
               at->off == 0 && end == c->was->len;
    memcpy(c->shape, at->shape, (size_t)at->ndim * sizeof *c->shape);
    c->grid = (cip_grid){ .itemsize = at->itemsize, .ndim = at->ndim, .shape = c->shape };
}

static cip_status open_now(cip_chunk_changes *c, uint64_t len, cip_err *err)
{
    const cip_table t = { .at = table_at, .find = table_find, .count = table_count, .self = c };
    c->form.chunk_nbytes = 1;
    c->form.specials = CIP_FORM_SPECIAL(CIP_CHUNK_ZERO);
    CIP_TRY(cip_space_new_chunked(c->layout, &t, len, NULL, 0, &c->now, err));
    c->now->label = c->was->label;
    return cip_linear_open(c, err);
}

cip_status cip_byte_changes_open(cip_chunk_changes *c, const cip_array *a, cip_err *err)
{
    CIP_TRY(cip_space_resolve(a->space, &c->was, err));
    own(c, a, &a->view);
    CIP_TRY(cip_chunk_runs_add(c, &c->runs, (cip_chunk_run){ .run = c->was->len }, err));
    return open_now(c, c->was->len, err);
}

/* --- elements --------------------------------------------------------------------------------- */

/* New bytes of the runs of one call, which go to the file together. */
typedef struct batch {
    uint8_t *ptr;
    size_t len;
} batch;

static cip_status put_run(cip_chunk_changes *c, uint64_t at, cip_bytes bytes, batch *b,
                          cip_err *err)
{
    for (size_t n; bytes.len != 0; at += n, bytes.ptr += n, bytes.len -= n) {
        const cip_chunk_run *r = cip_chunk_run_of(c, at), *end = c->runs.at + c->runs.n;
        const bool is_own = cip_chunk_run_is_own(c, r);
        while (!is_own && r + 1 < end && r->i + r->run < at + bytes.len &&
               !cip_chunk_run_is_own(c, r + 1))
            r++; /* new bytes go up to the next run that can be changed where it lies */
        n = (size_t)cip_min_u64(bytes.len, r->i + r->run - at);
        if (is_own) {
            CIP_TRY(cip_chunk_elems_write(c, r->off + (at - r->i), bytes.ptr, n, err));
            continue;
        }
        const cip_chunk_run now = {
            .i = at, .run = n, .from = UINT64_MAX, .off = c->elems->size + b->len, .raw = true
        };
        memcpy(b->ptr + b->len, bytes.ptr, n);
        b->len += n;
        CIP_TRY(cip_chunk_runs_set(c, &now, err));
    }
    return CIP_OK;
}

cip_status cip_byte_changes_put(void *user, const cip_scatter_run *run, size_t n, cip_err *err)
{
    cip_chunk_changes *c = user;
    cip_status st = CIP_OK;
    batch b = { NULL, 0 };
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += run[i].bytes.len; /* of a window */
    CIP_TRY(cip_mem_get(c->mem, all, (void **)&b.ptr, err));
    for (size_t i = 0; i < n && st == CIP_OK; i++)
        st = put_run(c, run[i].off, run[i].bytes, &b, err);
    if (st == CIP_OK)
        st = cip_chunk_elems_write(c, c->elems->size, b.ptr, b.len, err);
    cip_mem_put(c->mem, b.ptr);
    cip_space_renew(c->now);
    return st;
}

/* --- a stream --------------------------------------------------------------------------------- */

static bool is_was(const cip_chunk_changes *c, cip_space *s)
{
    return s != NULL && cip_space_resolve(s, &s, NULL) == CIP_OK && s == c->was;
}

/* A few stored bytes may claim any length, all of which is decoded to the file of elements. */
static cip_status check_amount(const cip_chunk_changes *c, cip_err *err)
{
    const cip_layout *l = c->layout;
    const uint64_t most = l->env->limits.max_elements;
    char kind[CIP_LAYOUT_KIND];
    uint64_t itemsize = 1;
    size_t k = 0;
    for (size_t i = 0; i < l->narray; i++)
        if (l->array[i]->dtype != NULL && is_was(c, l->array[i]->space))
            itemsize = cip_max_u64(itemsize, l->array[i]->dtype->itemsize);
    if (most != 0 ? c->was->len / itemsize <= most : cip_layout_expects(l, c->was->len))
        return CIP_OK;
    while (k < l->nblock && !is_was(c, l->block[k].data))
        k++;
    return cip_fail(err, CIP_ERR_LIMIT, k < l->nblock ? l->block[k].info.offset : CIP_NO_OFFSET,
                    "%s would decode to %" PRIu64 " bytes from %s; set .max_elements to allow them",
                    k < l->nblock ? l->block[k].stored->label : "the data", c->was->len,
                    cip_layout_kind(l, kind));
}

cip_status cip_byte_changes_load(cip_chunk_changes *c, cip_err *err)
{
    const uint64_t off = c->elems->size;
    cip_out out = cip_temporary_out(c->elems);
    size_t kept = 0;
    if ((c->form.caps & CIP_FORM_STREAM) == 0)
        return CIP_OK;
    while (kept < c->runs.n && c->runs.at[kept].from == UINT64_MAX)
        kept++;
    if (kept == c->runs.n)
        return CIP_OK;
    CIP_TRY(check_amount(c, err));
    CIP_TRY(cip_chunk_changes_begin(c, err));
    CIP_TRY(cip_chunk_runs_keep(c, 0, c->runs.n, c->runs.n, err));
    CIP_TRY(cip_space_write_out(&c->how, c->was, &out, err));
    c->in_elems->len = c->elems->size;
    for (; kept < c->runs.n; kept++) {
        cip_chunk_run *r = &c->runs.at[kept];
        if (r->from == UINT64_MAX)
            continue;
        r->off = off + r->from;
        r->from = UINT64_MAX;
        r->raw = true;
    }
    cip_space_renew(c->now);
    return CIP_OK;
}

uint64_t cip_chunk_changes_kept(const cip_chunk_changes *c)
{
    return c->runs.n != 0 && c->runs.at[0].from == 0 ? c->runs.at[0].run : 0;
}

/* --- where they go ---------------------------------------------------------------------------- */

cip_status cip_chunk_changes_patch(const cip_chunk_changes *c, uint64_t end, uint64_t base,
                                   cip_patch *to, cip_err *err)
{
    uint64_t from = 0, until = 0; /* of the range that is being put together */
    for (size_t k = 0; k < c->runs.n && c->runs.at[k].i < end; k++) {
        const cip_chunk_run *r = &c->runs.at[k];
        if (r->from == r->i)
            continue;
        if (until == 0 || r->i - until > NEAR) {
            CIP_TRY(cip_patch_range(to, base + from, c->linear, from, until - from, err));
            from = r->i;
        }
        until = cip_min_u64(r->i + r->run, end);
    }
    return cip_patch_range(to, base + from, c->linear, from, until - from, err);
}

cip_status cip_chunk_changes_revise(const cip_chunk_changes *c, cip_io *file, uint64_t base,
                                    cip_revision *r, cip_err *err)
{
    const uint64_t n = cip_chunk_changes_count(c), end = base + c->was->len;
    cip_chunk_now now;
    uint64_t rest = 0; /* the first byte that moved, is zero now, or came behind the old end */
    for (const uint64_t both = r->anew ? 0 : cip_min_u64(n, c->was->len); rest < both;) {
        cip_chunk_changes_at(c, rest, &now);
        if (now.from == UINT64_MAX ? now.chunk.state == CIP_CHUNK_ZERO : now.from != rest)
            break;
        rest = cip_min_u64(both, rest + now.run);
    }
    CIP_TRY(cip_chunk_changes_patch(c, rest, base, &r->patch, err));
    if (!r->anew && rest == n && n == c->was->len)
        return CIP_OK;
    if (!r->anew) {
        r->has_tail = true;
        r->tail_off = base + rest;
        r->head = rest == c->was->len ? base : 0;
    }
    for (uint64_t i = rest; i < n; i += now.run) {
        cip_chunk_changes_at(c, i, &now);
        if (now.from != UINT64_MAX)
            CIP_TRY(cip_revision_range(r, file, base + now.from, now.run, err));
        else if (now.chunk.state == CIP_CHUNK_ZERO)
            CIP_TRY(cip_revision_fill(r, 0, now.run, err));
        else
            CIP_TRY(cip_revision_range(r, now.chunk.at.in->io, now.chunk.at.off, now.run, err));
    }
    return cip_revision_range(r, file, end, file->size - end, err);
}

/* --- an array alone --------------------------------------------------------------------------- */

/* Both have the new bytes now, so that neither may change them. */
static void share(cip_chunk_runs *l)
{
    for (size_t k = 0; k < l->n; k++)
        l->at[k].shared = l->at[k].shared || l->at[k].raw;
}

static cip_status fill_apart(cip_chunk_changes *c, cip_chunk_changes *from, const cip_nd *at,
                             cip_err *err)
{
    uint64_t first, end = 0;
    if (!cip_view_is_contiguous(at)) {
        cip_need made;
        CIP_TRY(cip_byte_changes_load(from, err));
        CIP_TRY(cip_changes_gather(from, at, at->shape, NULL, &made, err));
        const cip_chunk_run all = {
            .run = made.len, .from = UINT64_MAX, .off = made.off, .raw = true
        };
        return cip_chunk_runs_add(c, &c->runs, all, err);
    }
    CIP_TRY(cip_view_bounds(at, &first, &end, err));
    CIP_TRY(cip_chunk_runs_copy(from, &c->runs, 0, first, end - first, err));
    share(&c->runs);
    share(&from->runs);
    return CIP_OK;
}

cip_status cip_chunk_changes_apart(cip_chunk_changes *from, const cip_array *a,
                                   const cip_array *now, cip_chunk_changes **out, cip_err *err)
{
    cip_chunk_changes *c;
    *out = NULL;
    CIP_TRY(cip_array_check(now, err)); /* the bytes may be fewer than it claims */
    CIP_TRY(CIP_NEW(from->mem, &c, 1, err));
    c->layout = from->layout;
    c->mem = c->arena.mem = from->mem;
    c->how = from->how;
    c->undo = from->undo;
    c->form = from->form;
    c->finished = from->finished;
    c->zeros = UINT64_MAX;
    c->bytes = c->apart = true;
    c->was = from->was;
    c->elems = from->elems;
    c->in_elems = from->in_elems;
    own(c, a, &now->view);
    c->whole = c->reshaped = true;
    cip_status st = fill_apart(c, from, &now->view, err);
    if (st == CIP_OK)
        st = open_now(c, cip_chunk_changes_count(c), err);
    if (st != CIP_OK)
        cip_chunk_changes_free(c);
    else
        *out = c;
    return st;
}

bool cip_chunk_changes_are_apart(const cip_chunk_changes *c)
{
    return c->apart;
}
