/* SPDX-License-Identifier: BSD-3-Clause
 * Changes of linear chunks, and of linear bytes, which are chunks of one byte each as soon as rows
 * come and go. A change of elements first makes each chunk that it touches one of elements, in the
 * file of those, and then writes there; pages of bytes are written anew without that. */
#include "space/change/chunk_changes_impl.h"

#include <string.h>

#include "base/num.h"
#include "io/io.h"

enum { PAGE = 1 << 10, PIECE = 1 << 20 };

uint64_t cip_linear_chunk_len(const cip_array_form *f, uint64_t i, uint64_t len)
{
    if (f->chunk_nbytes >= len)
        return i == 0 ? len : 0;
    return cip_min_u64(f->chunk_nbytes, len - i * f->chunk_nbytes);
}

uint64_t cip_linear_chunk_count(const cip_array_form *f, uint64_t len)
{
    return len == 0 ? 0 : cip_div_up(len, cip_min_u64(f->chunk_nbytes, len));
}

static cip_status read_now(const cip_chunk_changes *c, uint64_t at, uint8_t *dst, size_t n,
                           cip_err *err)
{
    return cip_space_read_at(&c->how, c->now, at, dst, n, err);
}

/* Chunk i as elements in a place of its own, where it has room for `want` bytes, with the bytes of
 * `over` in it. *off: that place. */
static cip_status load(cip_chunk_changes *c, uint64_t i, uint64_t want, cip_scatter_run over,
                       uint64_t *off, cip_err *err)
{
    const cip_chunk_run *r = cip_chunk_run_of(c, i);
    const uint64_t len = cip_linear_chunk_len(&c->form, i, c->now->len);
    uint8_t *buf = NULL;
    cip_status st = CIP_OK;
    size_t n;
    *off = r->off;
    if (cip_chunk_run_is_own(c, r) && want <= r->len)
        return over.bytes.len == 0
                   ? CIP_OK
                   : cip_chunk_elems_write(c, *off + over.off, over.bytes.ptr, over.bytes.len, err);
    if (!cip_to_size(len, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a chunk of %" PRIu64 " bytes", len);
    CIP_TRY(cip_mem_get(c->mem, n, (void **)&buf, err));
    if (over.bytes.len != n) /* else nothing of it stays */
        st = read_now(c, i * c->now->table.raw_each, buf, n, err);
    if (over.bytes.len != 0)
        memcpy(buf + over.off, over.bytes.ptr, over.bytes.len);
    *off = c->elems->size;
    if (st == CIP_OK && want > len)
        st = cip_chunk_elems_room(c, want, off, err);
    if (st == CIP_OK)
        st = cip_chunk_elems_write(c, *off, buf, n, err);
    cip_mem_put(c->mem, buf);
    const cip_chunk_run now = {
        .i = i, .run = 1, .from = UINT64_MAX, .off = *off, .len = len, .raw_len = len, .raw = true
    };
    return st == CIP_OK ? cip_chunk_runs_set(c, &now, err) : st;
}

static cip_status put_run(cip_chunk_changes *c, uint64_t at, cip_bytes bytes, cip_err *err)
{
    const uint64_t each = c->now->table.raw_each;
    while (bytes.len != 0) {
        const uint64_t i = at / each, in = at % each;
        const uint64_t len = cip_linear_chunk_len(&c->form, i, c->now->len);
        const size_t n = (size_t)cip_min_u64(len - in, bytes.len);
        uint64_t off;
        CIP_TRY(load(c, i, len, (cip_scatter_run){ in, { bytes.ptr, n } }, &off, err));
        at += n;
        bytes.ptr += n;
        bytes.len -= n;
    }
    return CIP_OK;
}

static cip_status put(void *user, const cip_scatter_run *run, size_t n, cip_err *err)
{
    cip_chunk_changes *c = user;
    for (size_t i = 0; i < n; i++)
        CIP_TRY(put_run(c, run[i].off, run[i].bytes, err));
    cip_space_renew(c->now);
    return CIP_OK;
}

/* --- as an io --------------------------------------------------------------------------------- */

typedef struct now_io {
    cip_io io;
    const cip_chunk_changes *c;
} now_io;

static cip_status now_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    const cip_chunk_changes *c = ((now_io *)io)->c;
    for (size_t i = 0; i < n; i++)
        CIP_TRY(c->bytes ? cip_byte_changes_read(c, r[i].offset, r[i].dst, r[i].nbytes, err)
                         : read_now(c, r[i].offset, r[i].dst, r[i].nbytes, err));
    return CIP_OK;
}

static const cip_io_ops now_ops = { .name = "changes",
                                    .read_ranges = now_read,
                                    .close = cip_io_free };

cip_status cip_linear_open(cip_chunk_changes *c, cip_err *err)
{
    CIP_TRY(cip_io_new(c->layout->env, &now_ops, sizeof(now_io), "changes", &c->linear, err));
    ((now_io *)c->linear)->c = c;
    c->linear->size = c->now->len;
    return CIP_OK;
}

cip_io *cip_chunk_changes_io(const cip_chunk_changes *c)
{
    return c->linear;
}

cip_status cip_linear_changes_write(cip_chunk_changes *c, const cip_nd *at, const cip_feed *feed,
                                    cip_err *err)
{
    const cip_scatter_to to = { .io = c->linear,
                                .live = true,
                                .unit = c->bytes ? PAGE : 0,
                                .put = c->bytes ? cip_byte_changes_put : put,
                                .user = c };
    uint64_t first, end, nbytes;
    CIP_TRY(cip_view_bounds(at, &first, &end, err));
    if (!cip_shape_nelem(at->ndim, at->shape, &nbytes) ||
        cip_mul_overflow(nbytes, at->itemsize, &nbytes) || nbytes > end - first)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "elements that share bytes cannot be written one by one");
    CIP_TRY(cip_byte_changes_load(c, err));
    CIP_TRY(cip_scatter(c->layout->env, &to, at, feed, err));
    c->made += (c->form.caps & CIP_FORM_STREAM) != 0; /* it is encoded again in any case */
    return CIP_OK;
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* Bytes at the end come or go: the last chunk that stays may get another length. */
static cip_status resize_end(cip_chunk_changes *c, uint64_t len, cip_err *err)
{
    const uint64_t was = c->now->len, old = cip_linear_chunk_count(&c->form, was),
                   n = cip_linear_chunk_count(&c->form, len), both = cip_min_u64(old, n);
    if (both != 0) {
        const uint64_t before = cip_linear_chunk_len(&c->form, both - 1, was),
                       now = cip_linear_chunk_len(&c->form, both - 1, len);
        uint64_t off;
        if (before != now) {
            CIP_TRY(load(c, both - 1, cip_max_u64(before, now), (cip_scatter_run){ 0 }, &off, err));
            cip_chunk_run r = *cip_chunk_run_of(c, both - 1);
            r.len = r.raw_len = now;
            CIP_TRY(cip_chunk_runs_set(c, &r, err));
        }
    }
    CIP_TRY(cip_chunk_runs_copy(c, &c->next, 0, 0, both, err));
    if (n > old) {
        const uint64_t last = cip_linear_chunk_len(&c->form, n - 1, len);
        CIP_TRY(cip_chunk_runs_zeros(c, &c->next, old, n - 1 - old,
                                     cip_linear_chunk_len(&c->form, 0, len), err));
        CIP_TRY(cip_chunk_runs_zeros(c, &c->next, n - 1, 1, last, err));
    }
    return cip_chunk_runs_take(c, len, err);
}

/* Chunks [i, n), of an array of `len` bytes, of the file of elements from `at` on. */
static cip_status add_elems(cip_chunk_changes *c, uint64_t i, uint64_t n, uint64_t at, uint64_t len,
                            cip_err *err)
{
    const cip_chunk_run all = { .i = i, .run = n - i, .from = UINT64_MAX, .off = at, .raw = true };
    if (c->bytes)
        return cip_chunk_runs_add(c, &c->next, all, err);
    for (; i < n; i++) {
        const uint64_t each = cip_linear_chunk_len(&c->form, i, len);
        const cip_chunk_run r = { .i = i,
                                  .run = 1,
                                  .from = UINT64_MAX,
                                  .off = at,
                                  .len = each,
                                  .raw_len = each,
                                  .raw = true };
        CIP_TRY(cip_chunk_runs_add(c, &c->next, r, err));
        at += each;
    }
    return CIP_OK;
}

cip_status cip_linear_len(const cip_grid *g, const int64_t *shape, uint64_t *len, cip_err *err)
{
    uint64_t nelem;
    if (cip_shape_nelem(g->ndim, shape, &nelem) && !cip_mul_overflow(nelem, g->itemsize, len) &&
        *len <= INT64_MAX)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an array of over 2^63 bytes");
}

/* All elements move: to the file of elements, in their new order. `s`: rows come and go; NULL:
 * elements inside both shapes stay. */
static cip_status reorder(cip_chunk_changes *c, const int64_t *shape, const cip_splice *s,
                          cip_err *err)
{
    cip_need made;
    cip_nd was;
    CIP_TRY(cip_view_c_order(c->grid.ndim, c->shape, c->grid.itemsize, &was, err));
    CIP_TRY(cip_changes_gather(c, &was, shape, s, &made, err));
    CIP_TRY(add_elems(c, 0, cip_linear_chunk_count(&c->form, made.len), made.off, made.len, err));
    return cip_chunk_runs_take(c, made.len, err);
}

cip_status cip_linear_changes_resize(cip_chunk_changes *c, const int64_t *shape, cip_err *err)
{
    uint64_t len;
    bool rows_only = true;
    CIP_TRY(cip_linear_len(&c->grid, shape, &len, err));
    CIP_TRY(cip_byte_changes_load(c, err));
    for (int32_t k = 1; k < c->grid.ndim; k++)
        rows_only = rows_only && shape[k] == c->shape[k];
    return rows_only || len == 0 || c->now->len == 0 ? resize_end(c, len, err)
                                                     : reorder(c, shape, NULL, err);
}

/* --- rows in the midst ------------------------------------------------------------------------ */

/* The bytes as they become: those before `at` stay, `added` come, those behind follow, which began
 * at `from`. */
typedef struct splicing {
    const cip_feed *feed;
    uint64_t at, added, from;
    uint64_t itemsize; /* of the feed's elements */
} splicing;

/* Bytes that will lie from `to` up to `end`, behind those in the file of elements; each piece is of
 * one kind, and of whole elements of the feed. */
static cip_status copy_bytes(cip_chunk_changes *c, const splicing *s, uint64_t to, uint64_t end,
                             cip_err *err)
{
    const uint64_t edge[] = { s->at, s->at + s->added }, item = cip_max_u64(1, s->itemsize);
    cip_status st = CIP_OK;
    uint8_t *buf;
    size_t cap;
    if (to == end)
        return CIP_OK;
    if (!cip_to_size(cip_min_u64(cip_max_u64(1, PIECE / item) * item, end - to), &cap))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an element of over %zu bytes",
                        SIZE_MAX);
    CIP_TRY(cip_mem_get(c->mem, cap, (void **)&buf, err));
    for (size_t n; to < end && st == CIP_OK; to += n) {
        n = (size_t)cip_min_u64(end - to, cap);
        for (size_t k = 0; k < 2; k++)
            if (to < edge[k])
                n = (size_t)cip_min_u64(n, edge[k] - to);
        if (to < edge[0])
            st = read_now(c, to, buf, n, err);
        else if (to >= edge[1])
            st = read_now(c, to - edge[1] + s->from, buf, n, err);
        else if (s->feed != NULL)
            st = s->feed->next(s->feed->self, n / item, buf, err);
        else
            memset(buf, 0, n);
        if (st == CIP_OK)
            st = cip_chunk_elems_write(c, c->elems->size, buf, n, err);
    }
    cip_mem_put(c->mem, buf);
    return st;
}

/* Chunks in front stay. From the one on that rows come or go in, they are made of elements: all of
 * them, or, where bytes move by whole chunks, up to the first that holds only what is behind; the
 * others move as they are. The last one of those is as long as it was, as it ends with the array.
 * Linear bytes, as chunks of one byte, all move. */
static cip_status splice_bytes(cip_chunk_changes *c, const splicing *s, cip_err *err)
{
    const uint64_t each = cip_max_u64(1, c->form.chunk_nbytes), off = c->elems->size;
    const uint64_t len = c->now->len - (s->from - s->at) + s->added;
    const uint64_t n = cip_linear_chunk_count(&c->form, len), kept = s->at / each,
                   behind = cip_div_up(s->at + s->added, each);
    const bool moves = behind < n && (behind * each - (s->at + s->added) + s->from) % each == 0;
    const uint64_t made = moves ? behind : n;
    CIP_TRY(cip_chunk_runs_copy(c, &c->next, 0, 0, kept, err));
    if (c->bytes && s->feed == NULL) {
        CIP_TRY(cip_chunk_runs_zeros(c, &c->next, kept, made - kept, 1, err));
    } else {
        CIP_TRY(copy_bytes(c, s, kept * each, cip_min_u64(made * each, len), err));
        CIP_TRY(add_elems(c, kept, made, off, len, err));
    }
    if (moves)
        CIP_TRY(cip_chunk_runs_copy(c, &c->next, behind,
                                    (behind * each - (s->at + s->added) + s->from) / each,
                                    n - behind, err));
    return cip_chunk_runs_take(c, len, err);
}

cip_status cip_linear_changes_splice(cip_chunk_changes *c, const cip_splice *s,
                                     const int64_t *shape, cip_err *err)
{
    uint64_t len, row = c->grid.itemsize;
    CIP_TRY(cip_linear_len(&c->grid, shape, &len, err));
    if (len == 0)
        return resize_end(c, 0, err);
    if (!cip_splice_in_one_piece(s, shape)) {
        CIP_TRY(cip_byte_changes_load(c, err));
        return reorder(c, shape, s, err);
    }
    /* Rows of the slowest axis, or of one that is: they follow each other. */
    for (int32_t k = s->axis + 1; k < c->grid.ndim; k++)
        row *= (uint64_t)shape[k];
    splicing how = { .feed = s->feed, .itemsize = c->grid.itemsize };
    how.at = (uint64_t)s->start * row;
    how.added = (uint64_t)s->added * row;
    how.from = how.at + (uint64_t)s->removed * row;
    if (how.at != c->now->len)
        CIP_TRY(cip_byte_changes_load(c, err));
    return splice_bytes(c, &how, err);
}

bool cip_chunk_changes_ends(const cip_chunk_changes *c, const cip_nd *at, bool torn, uint64_t *end)
{
    uint64_t first, row = at->itemsize;
    if (!cip_view_is_contiguous(at) || cip_view_bounds(at, &first, end, NULL) != CIP_OK)
        return false;
    if (*end == 0) /* no elements */
        *end = at->off;
    for (int32_t i = 1; i < at->ndim; i++) /* of fewer bytes than there are */
        row *= (uint64_t)at->shape[i];
    return *end == c->now->len || (torn && *end < c->now->len && c->now->len - *end < row);
}

cip_status cip_chunk_changes_grow(cip_chunk_changes *c, uint64_t end, uint64_t nelem,
                                  uint64_t itemsize, const cip_feed *feed, cip_err *err)
{
    splicing rows = { .feed = feed, .at = end, .from = c->now->len, .itemsize = itemsize };
    if (nelem == 0)
        return CIP_OK;
    if (cip_mul_overflow(nelem, itemsize, &rows.added) || rows.added > INT64_MAX - c->now->len)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "rows of over 2^63 bytes");
    CIP_TRY(cip_chunk_changes_begin(c, err));
    c->next.n = 0;
    return splice_bytes(c, &rows, err);
}
