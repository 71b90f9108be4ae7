/* SPDX-License-Identifier: BSD-3-Clause
 * Changes of linear chunks. A change first makes each chunk that it touches one of elements, in the
 * file of those, and then writes there. */
#include "space/change/chunk_changes_impl.h"

#include <string.h>

#include "base/num.h"
#include "io/io.h"

enum { PIECE = 1 << 20 };

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

void cip_linear_set_len(cip_chunk_changes *c, uint64_t len)
{
    c->now->len = c->linear->size = len;
    if (!c->bytes)
        c->now->table.raw_each = cip_max_u64(1, cip_linear_chunk_len(&c->form, 0, len));
}

cip_io *cip_chunk_changes_io(const cip_chunk_changes *c)
{
    return c->linear;
}

cip_status cip_linear_changes_write(cip_chunk_changes *c, const cip_nd *at, const cip_feed *feed,
                                    cip_err *err)
{
    const cip_scatter_to to = { .io = c->linear, .live = true, .put = put, .user = c };
    if (c->bytes)
        return cip_byte_changes_write(c, at, feed, err);
    return cip_scatter(c->layout->env, &to, at, feed, err);
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
    CIP_TRY(cip_changes_reorder(c, shape, s, &made, err));
    CIP_TRY(add_elems(c, 0, cip_linear_chunk_count(&c->form, made.len), made.off, made.len, err));
    return cip_chunk_runs_take(c, made.len, err);
}

cip_status cip_linear_changes_resize(cip_chunk_changes *c, const int64_t *shape, cip_err *err)
{
    uint64_t len;
    bool rows_only = true;
    if (c->bytes)
        return cip_byte_changes_resize(c, shape, err);
    CIP_TRY(cip_linear_len(&c->grid, shape, &len, err));
    for (int32_t k = 1; k < c->grid.ndim; k++)
        rows_only = rows_only && shape[k] == c->shape[k];
    return rows_only || len == 0 || c->now->len == 0 ? resize_end(c, len, err)
                                                     : reorder(c, shape, NULL, err);
}

/* --- rows in the midst ------------------------------------------------------------------------ */

/* The bytes as they become: those before `at` stay, `added` come, those behind follow, which began
 * at `from`. */
typedef struct splicing {
    cip_chunk_changes *c;
    const cip_feed *feed;
    uint64_t at, added, from;
    uint8_t *buf;
    size_t cap; /* whole elements */
} splicing;

/* n bytes of one kind, which will lie from `to` on. */
static cip_status get_bytes(const splicing *s, uint64_t to, size_t n, cip_err *err)
{
    const cip_chunk_changes *c = s->c;
    if (to < s->at)
        return read_now(c, to, s->buf, n, err);
    if (to >= s->at + s->added)
        return read_now(c, to - s->at - s->added + s->from, s->buf, n, err);
    if (s->feed != NULL)
        return s->feed->next(s->feed->self, n / c->grid.itemsize, s->buf, err);
    memset(s->buf, 0, n);
    return CIP_OK;
}

/* Bytes that will lie from `to` up to `end`, behind those in the file of elements. */
static cip_status copy_bytes(const splicing *s, uint64_t to, uint64_t end, cip_err *err)
{
    const uint64_t edge[] = { s->at, s->at + s->added };
    while (to < end) {
        uint64_t n = cip_min_u64(end - to, s->cap);
        for (size_t k = 0; k < 2; k++)
            if (to < edge[k])
                n = cip_min_u64(n, edge[k] - to);
        CIP_TRY(get_bytes(s, to, (size_t)n, err));
        CIP_TRY(cip_chunk_elems_write(s->c, s->c->elems->size, s->buf, (size_t)n, err));
        to += n;
    }
    return CIP_OK;
}

/* Chunks in front stay. From the one on that rows come or go in, they are made of elements: all of
 * them, or, where bytes move by whole chunks, up to the first that holds only what is behind; the
 * others move as they are. The last one of those is as long as it was, as it ends with the array.
 */
static cip_status splice_bytes(splicing *s, uint64_t len, cip_err *err)
{
    cip_chunk_changes *c = s->c;
    const uint64_t each = cip_max_u64(1, c->form.chunk_nbytes), off = c->elems->size;
    const uint64_t n = cip_linear_chunk_count(&c->form, len), kept = s->at / each,
                   behind = cip_div_up(s->at + s->added, each);
    const bool moves = behind < n && (behind * each - (s->at + s->added) + s->from) % each == 0;
    const uint64_t made = moves ? behind : n;
    CIP_TRY(cip_chunk_runs_copy(c, &c->next, 0, 0, kept, err));
    CIP_TRY(copy_bytes(s, kept * each, cip_min_u64(made * each, len), err));
    CIP_TRY(add_elems(c, kept, made, off, len, err));
    if (moves)
        CIP_TRY(cip_chunk_runs_copy(c, &c->next, behind,
                                    (behind * each - (s->at + s->added) + s->from) / each,
                                    n - behind, err));
    return cip_chunk_runs_take(c, len, err);
}

/* Rows of the slowest axis, or of one that is: they follow each other. */
static cip_status splice_rows(cip_chunk_changes *c, const cip_splice *what, uint64_t row,
                              uint64_t len, cip_err *err)
{
    splicing s = { .c = c, .feed = what->feed };
    const uint64_t item = cip_max_u64(1, c->grid.itemsize);
    s.at = (uint64_t)what->start * row;
    s.added = (uint64_t)what->added * row;
    s.from = s.at + (uint64_t)what->removed * row;
    s.cap = (size_t)(cip_max_u64(1, PIECE / item) * item);
    CIP_TRY(cip_mem_get(c->mem, s.cap, (void **)&s.buf, err));
    cip_status st = splice_bytes(&s, len, err);
    cip_mem_put(c->mem, s.buf);
    return st;
}

cip_status cip_linear_changes_splice(cip_chunk_changes *c, const cip_splice *s,
                                     const int64_t *shape, cip_err *err)
{
    uint64_t len, row = c->grid.itemsize;
    if (c->bytes)
        return cip_byte_changes_splice(c, s, shape, err);
    CIP_TRY(cip_linear_len(&c->grid, shape, &len, err));
    if (len == 0)
        return resize_end(c, 0, err);
    if (!cip_splice_in_one_piece(s, shape))
        return reorder(c, shape, s, err);
    for (int32_t k = s->axis + 1; k < c->grid.ndim; k++)
        row *= (uint64_t)shape[k];
    return splice_rows(c, s, row, len, err);
}
