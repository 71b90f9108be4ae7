/* SPDX-License-Identifier: BSD-3-Clause
 * Changes of elements that come as views and feeds. The format says how the array is stored; its
 * chunks, or linear bytes, are changed here and told to it at the end. */
#include "core/writing/edit_impl.h"

#include <string.h>

#include "base/num.h"
#include "space/make/chunk_move.h"
#include "space/read/grid.h"
#include "tree/node.h"

/* --- arrays as they are now ------------------------------------------------------------------- */

/* What an array is known by under all its names: a description that an alias names has its data
 * once, and the tree shows some arrays under another name beside. */
static const void *key_of(const cip_array *a)
{
    a = a->same != NULL ? a->same : a;
    return cip_node_kind(a->node) == CIP_NODE_MAP ? (const void *)a->node : a;
}

static cip_edit_placed *placed_of(const cip_edit *e, const cip_array *a)
{
    const size_t at = cip_strmap_get_ptr(&e->placed_at, key_of(a));
    cip_edit_placed *p = at != SIZE_MAX ? (cip_edit_placed *)(uintptr_t)at : NULL;
    return p != NULL && p->c != NULL ? p : NULL;
}

cip_chunk_changes *cip_edit_changes_of(const cip_edit *e, const cip_array *a)
{
    const cip_edit_placed *p = placed_of(e, a);
    return p != NULL ? p->c : cip_chunk_changes_of(a);
}

const cip_array *cip_edit_now(cip_edit *e, const cip_array *a)
{
    cip_edit_placed *p = placed_of(e, a);
    cip_chunk_changes *c = cip_edit_changes_of(e, a);
    if (p == NULL)
        return c != NULL ? cip_chunk_changes_now(c, a) : cip_edit_records_now(e, a);
    p->seen = *a;
    p->seen.view = p->at;
    p->seen.space = cip_chunk_changes_space(c);
    return &p->seen;
}

const cip_array *cip_edit_changed(void *edit, const cip_array *a)
{
    const cip_chunk_changes *c = cip_edit_changes_of(edit, a);
    const cip_edit_placed *p = placed_of(edit, a);
    return c != NULL && ((p != NULL && p->reshaped) || cip_chunk_changes_made(c) != 0)
               ? cip_edit_now(edit, a)
               : a;
}

/* The array as the file has it, or as it came, of one that cip_edit_now gave. */
static const cip_array *as_it_was(const cip_edit *e, const cip_array *a)
{
    const cip_array *listed = cip_file_array_at(e->file, a->path, strlen(a->path));
    if (listed != NULL && listed->path == a->path)
        return listed;
    const cip_array *came = cip_edit_added_of(e, a);
    came = came != NULL ? came : cip_edit_records_of(e, a);
    return came != NULL ? came : a;
}

/* --- chunks that change ----------------------------------------------------------------------- */

static cip_status add_chunks(cip_edit *e, cip_chunk_changes *c, cip_err *err)
{
    cip_edit_chunks *x;
    cip_status st = CIP_ARENA_NEW(&e->arena, &x, 1, err);
    if (st != CIP_OK) {
        cip_chunk_changes_free(c);
        return st;
    }
    *x = (cip_edit_chunks){ e->chunks, c };
    e->chunks = x;
    return CIP_OK;
}

/* Where the array is from now on. */
static cip_status set_placed(cip_edit *e, const cip_array *a, cip_chunk_changes *c,
                             const cip_nd *at, cip_err *err)
{
    cip_edit_placed *p = placed_of(e, a);
    if (p == NULL) {
        CIP_TRY(CIP_ARENA_NEW(&e->arena, &p, 1, err));
        CIP_TRY(cip_strmap_put_ptr(&e->placed_at, &e->arena, key_of(a), (size_t)(uintptr_t)p, NULL,
                                   err));
        p->of = a;
        p->next = e->placed;
        e->placed = p;
    }
    CIP_TRY(cip_undo_keep(&e->undo, p, sizeof *p, err));
    p->c = c;
    p->at = *at;
    return CIP_OK;
}

cip_status cip_edit_form(cip_edit *e, const cip_array *a, cip_change_kind kind,
                         const int64_t *shape, cip_change_form *f, cip_chunk_changes **chunks,
                         cip_err *err)
{
    a = as_it_was(e, a);
    *f = (cip_change_form){ .fill = NULL };
    if (cip_edit_in_columns(a))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the array's fields are stored in columns, so it has no chunks of its own");
    CIP_TRY(e->ops->form(e->state, a, kind, shape, f, err));
    *chunks = f->own && placed_of(e, a) == NULL ? NULL : cip_edit_changes_of(e, a);
    if (*chunks != NULL)
        return CIP_OK;
    CIP_TRY(cip_chunk_changes_new(a, &f->form, e->temporary, chunks, err));
    cip_chunk_changes_keep_in(*chunks, &e->undo, f->own);
    CIP_TRY(add_chunks(e, *chunks, err));
    return f->own ? set_placed(e, a, *chunks, &a->view, err) : CIP_OK;
}

bool cip_edit_any_made(const cip_edit *e)
{
    const cip_edit_chunks *x = e->chunks;
    while (x != NULL && cip_chunk_changes_made(x->c) == 0)
        x = x->next;
    return x != NULL;
}

cip_status cip_edit_elements(cip_edit *e, const cip_array *a, const cip_nd *at,
                             const cip_feed *feed, cip_err *err)
{
    cip_change_form f;
    cip_chunk_changes *x;
    if (cip_edit_in_columns(a))
        return cip_edit_records_elements(e, as_it_was(e, a), at, feed, err);
    CIP_TRY(cip_edit_form(e, a, CIP_CHANGE_ELEMENTS, NULL, &f, &x, err));
    return cip_chunk_changes_write(x, at, feed, err);
}

/* --- rows and shapes -------------------------------------------------------------------------- */

/* Another shape of an array: with rows at the end, with zeros or cut off, or with rows that come
 * or go in the midst. */
typedef struct reshaping {
    cip_change_kind kind;
    const int64_t *shape;
    const cip_nd *rows; /* ROWS: where they are in it; NULL: they have no elements */
    const cip_feed *feed;
    const cip_splice *splice; /* SPLICE */
    const uint8_t *fill;      /* SHAPE: as in cip_change_form */
} reshaping;

/* The shape with nrow rows more, and where these are in it. */
static cip_status add_rows(const cip_array *a, uint64_t nrow, int64_t *shape, cip_nd *rows,
                           cip_err *err)
{
    memcpy(shape, a->view.shape, (size_t)a->view.ndim * sizeof *shape);
    if (a->view.ndim == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected an array of at least one axis");
    if (cip_add_overflow(shape[0], nrow, &shape[0]))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected an axis that can grow");
    CIP_TRY(cip_view_c_order(a->view.ndim, shape, a->view.itemsize, rows, err));
    rows->off = (uint64_t)a->view.shape[0] * (uint64_t)rows->stride[0];
    rows->shape[0] = (int64_t)nrow;
    return CIP_OK;
}

/* Of an array that is all of the chunks; `a` as the file has it. */
static cip_status reshape_all(cip_chunk_changes *c, const cip_array *a, const reshaping *r,
                              cip_err *err)
{
    if (r->kind == CIP_CHANGE_SPLICE)
        return cip_chunk_changes_splice(c, a, r->splice, err);
    if (r->kind == CIP_CHANGE_ROWS)
        return cip_chunk_changes_resize(c, a, r->shape, r->rows, r->feed, err);
    return cip_edit_resize_chunks(c, a, r->fill, r->shape, err);
}

/* The array among linear bytes has another shape, the view `at` of them (`own`: of its own). */
static cip_status tell_shape(cip_edit *e, const cip_array *a, cip_chunk_changes *c,
                             const cip_nd *at, bool own, cip_err *err)
{
    cip_status st = e->ops->reshaped(e->state, a, at->shape, own ? c : NULL, err);
    e->halfway = st == CIP_ERR_NOMEM; /* a refusal leaves no trace */
    CIP_TRY(st);
    st = set_placed(e, a, c, at, err);
    e->halfway = st != CIP_OK; /* the format has the shape already */
    if (st == CIP_OK)
        placed_of(e, a)->reshaped = true;
    return st;
}

/* Rows that follow the last of the bytes. */
static cip_status grow(cip_edit *e, const cip_array *now, cip_chunk_changes *c, uint64_t end,
                       const reshaping *r, cip_err *err)
{
    const uint64_t off = now->view.off;
    uint64_t nelem = 0;
    cip_nd at;
    if (r->rows != NULL)
        cip_shape_nelem(r->rows->ndim, r->rows->shape, &nelem);
    CIP_TRY(cip_view_c_order(now->view.ndim, r->shape, now->view.itemsize, &at, err));
    at.off = off;
    CIP_TRY(cip_chunk_changes_grow(c, end, nelem, now->view.itemsize, r->feed, err));
    return tell_shape(e, as_it_was(e, now), c, &at, false, err);
}

/* The array in bytes of its own from now on, with its new shape: which the format may have no place
 * for, where rows that follow the last of the bytes have one. */
static cip_status cut_out(cip_edit *e, const cip_array *now, cip_chunk_changes **c,
                          const reshaping *r, cip_err *err)
{
    cip_chunk_changes *own;
    cip_change_form f;
    const cip_array *a = as_it_was(e, now);
    if (r->kind == CIP_CHANGE_ROWS)
        CIP_TRY(e->ops->form(e->state, a, CIP_CHANGE_SHAPE, r->shape, &f, err));
    CIP_TRY(cip_chunk_changes_apart(*c, a, now, &own, err));
    CIP_TRY(add_chunks(e, own, err));
    *c = own;
    return reshape_all(own, a, r, err);
}

static cip_status reshape_shared(cip_edit *e, const cip_array *now, const cip_change_form *f,
                                 cip_chunk_changes *c, const reshaping *r, cip_err *err)
{
    uint64_t end;
    cip_nd at;
    const bool apart = cip_chunk_changes_are_apart(c);
    if (!apart && r->kind == CIP_CHANGE_ROWS) {
        const bool none = r->rows == NULL, packed = cip_view_is_contiguous(&now->view);
        if (none && !packed)
            return CIP_OK; /* no rows at all, as the array has elements */
        if (cip_chunk_changes_ends(c, &now->view, f->torn, &end) || none)
            return grow(e, now, c, end, r, err);
    }
    CIP_TRY(cip_view_c_order(now->view.ndim, r->shape, now->view.itemsize, &at, err));
    const cip_array *a = as_it_was(e, now);
    CIP_TRY(apart ? reshape_all(c, cip_chunk_changes_array(c), r, err)
                  : cut_out(e, now, &c, r, err));
    return tell_shape(e, a, c, &at, true, err);
}

/* `a` as it is now. */
static cip_status reshape(cip_edit *e, const cip_array *a, reshaping *r, cip_err *err)
{
    cip_change_form f;
    cip_chunk_changes *c;
    CIP_TRY(
        cip_edit_form(e, a, r->kind, r->kind == CIP_CHANGE_ROWS ? NULL : r->shape, &f, &c, err));
    r->fill = f.fill;
    if (f.shared)
        return reshape_shared(e, cip_edit_now(e, as_it_was(e, a)), &f, c, r, err);
    return reshape_all(c, as_it_was(e, a), r, err);
}

cip_status cip_edit_rows(cip_edit *e, const cip_array *a, uint64_t nrow, const cip_feed *feed,
                         cip_err *err)
{
    int64_t shape[CIP_MAX_NDIM];
    cip_nd rows;
    uint64_t nelem;
    CIP_TRY(add_rows(a, nrow, shape, &rows, err));
    if (cip_edit_in_columns(a)) {
        CIP_TRY(cip_edit_records_rows(e, as_it_was(e, a), CIP_CHANGE_ROWS, shape, err));
        return cip_edit_records_elements(e, as_it_was(e, a), &rows, feed, err);
    }
    const bool none = !cip_shape_nelem(rows.ndim, rows.shape, &nelem) || nelem == 0;
    reshaping r = {
        .kind = CIP_CHANGE_ROWS, .shape = shape, .rows = none ? NULL : &rows, .feed = feed
    };
    return reshape(e, a, &r, err);
}

/* The same row again and again, of elements that are parts of it. */
typedef struct row_feed {
    const uint8_t *row;
    uint64_t len, at, itemsize;
} row_feed;

static cip_status next_of_row(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    row_feed *r = self;
    (void)err;
    for (; nelem != 0; nelem--, dst += r->itemsize) {
        memcpy(dst, r->row + r->at, (size_t)r->itemsize);
        r->at = r->at + r->itemsize == r->len ? 0 : r->at + r->itemsize;
    }
    return CIP_OK;
}

cip_status cip_edit_resize_chunks(cip_chunk_changes *c, const cip_array *a, const uint8_t *fill,
                                  const int64_t *shape, cip_err *err)
{
    const cip_array *now = cip_chunk_changes_now(c, a);
    const int64_t more = shape[0] - now->view.shape[0];
    int64_t all[CIP_MAX_NDIM];
    cip_nd rows;
    if (fill == NULL || more <= 0)
        return cip_chunk_changes_resize(c, a, shape, NULL, NULL, err);
    CIP_TRY(add_rows(now, (uint64_t)more, all, &rows, err));
    row_feed r = { .row = fill, .len = (uint64_t)rows.stride[0], .itemsize = rows.itemsize };
    const cip_feed feed = { .next = next_of_row, .self = &r };
    return cip_chunk_changes_resize(c, a, shape, &rows, &feed, err);
}

cip_status cip_edit_shape(cip_edit *e, const cip_array *a, const int64_t *shape, cip_err *err)
{
    reshaping r = { .kind = CIP_CHANGE_SHAPE, .shape = shape };
    return cip_edit_in_columns(a)
               ? cip_edit_records_rows(e, as_it_was(e, a), CIP_CHANGE_SHAPE, shape, err)
               : reshape(e, a, &r, err);
}

cip_status cip_edit_splice(cip_edit *e, const cip_array *a, const cip_splice *s, cip_err *err)
{
    int64_t shape[CIP_MAX_NDIM];
    cip_nd now;
    reshaping r = { .kind = CIP_CHANGE_SPLICE, .shape = shape, .splice = s };
    CIP_TRY(cip_splice_shape(s, a->view.ndim, a->view.shape, shape, err));
    CIP_TRY(cip_view_c_order(a->view.ndim, shape, a->view.itemsize, &now, err));
    if (s->removed == 0 && s->added == 0)
        return CIP_OK;
    return cip_edit_in_columns(a) ? cip_edit_records_splice(e, as_it_was(e, a), s, err)
                                  : reshape(e, a, &r, err);
}

/* --- chunks of another file ------------------------------------------------------------------- */

/* Chunks on their way from an array of the form to a box of one. */
typedef struct taking {
    cip_chunk_changes *to;
    cip_grid from, into;         /* the grids; `into` as the array becomes */
    int64_t first[CIP_MAX_NDIM]; /* the chunk that the box begins with */
    uint64_t shift;              /* linear chunks: its number */
    bool linear;
} taking;

static cip_status take_one(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk,
                           cip_err *err)
{
    const taking *t = user;
    for (size_t k = 0; k < n; k++)
        for (uint64_t j = 0; j < chunk[k].run; j++, i++) {
            int64_t coord[CIP_MAX_NDIM];
            cip_grid_chunk c = { .i = i + t->shift };
            cip_chunk_in in = chunk[k];
            in.run = 1;
            if (!t->linear) {
                cip_grid_coord(&t->from, i, coord);
                for (int32_t d = 0; d < t->from.ndim; d++)
                    coord[d] += t->first[d];
                cip_grid_chunk_at(&t->into, coord, &c);
            }
            CIP_TRY(cip_chunk_changes_put(t->to, c.i, &in, err));
        }
    return CIP_OK;
}

/* Where a view that is a box of the array, in C order, begins; false for any other. */
static bool box_of(const cip_array *a, const cip_nd *at, int64_t *first)
{
    const cip_nd *v = &a->view;
    uint64_t off = at->off - v->off;
    if (at->ndim != v->ndim || at->itemsize != v->itemsize || at->off < v->off)
        return false;
    for (int32_t k = 0; k < v->ndim; k++) {
        if (v->stride[k] <= 0 || (at->shape[k] > 1 && at->stride[k] != v->stride[k]))
            return false;
        first[k] = (int64_t)(off / (uint64_t)v->stride[k]);
        off %= (uint64_t)v->stride[k];
    }
    return off == 0;
}

/* Whether chunks of a box's own grid are chunks of the array, `shape` by then: it begins where one
 * begins, and ends where one or the array ends. */
static bool box_is_chunks(taking *t, const cip_array_form *f, int32_t ndim, const int64_t *first,
                          const int64_t *box, const int64_t *shape)
{
    if (f->grid == NULL) { /* rows, as chunks follow each other */
        uint64_t before, row = f->dtype->itemsize;
        for (int32_t k = 1; k < ndim; k++) {
            if (first[k] != 0 || box[k] != shape[k])
                return false;
            row *= (uint64_t)shape[k];
        }
        before = ndim == 0 ? 0 : (uint64_t)first[0] * row;
        t->linear = true;
        t->shift = before / f->chunk_nbytes;
        return before % f->chunk_nbytes == 0 && (ndim == 0 || first[0] + box[0] == shape[0] ||
                                                 (uint64_t)box[0] * row % f->chunk_nbytes == 0);
    }
    t->from = t->into = *f->grid;
    t->from.shape = box;
    t->into.shape = shape;
    for (int32_t k = 0; k < ndim; k++) {
        const int64_t each = f->grid->chunk[k], end = first[k] + box[k];
        if (first[k] % each != 0 || (end != shape[k] && end % each != 0))
            return false;
        t->first[k] = first[k] / each;
    }
    return true;
}

cip_status cip_edit_take_chunks(cip_edit *e, const cip_array *a, const cip_nd *at, uint64_t nrow,
                                const cip_read_plan *from, bool *taken, cip_err *err)
{
    int64_t first[CIP_MAX_NDIM] = { 0 }, shape[CIP_MAX_NDIM];
    cip_change_form f;
    cip_chunk_changes *x;
    cip_nd rows;
    *taken = false;
    if (!cip_read_plan_is_whole(from) || from->nelem == 0 || cip_edit_in_columns(a))
        return CIP_OK;
    memcpy(shape, a->view.shape, sizeof shape);
    if (at == NULL) {
        CIP_TRY(add_rows(a, nrow, shape, &rows, err));
        first[0] = a->view.shape[0];
        at = &rows;
    } else if (!box_of(a, at, first)) {
        return CIP_OK;
    }
    CIP_TRY(cip_edit_form(e, a, at == &rows ? CIP_CHANGE_ROWS : CIP_CHANGE_ELEMENTS, NULL, &f, &x,
                          err));
    if ((f.form.caps & CIP_FORM_TAKES) == 0)
        return CIP_OK;
    taking t = { .to = x };
    cip_array_form form = *cip_chunk_changes_form(x);
    if (!box_is_chunks(&t, &form, a->view.ndim, first, at->shape, shape))
        return CIP_OK;
    form.grid = t.linear ? NULL : &t.from;
    const cip_chunk_mover m = { .env = &e->file->env,
                                .how = from->how,
                                .array = from->array,
                                .form = &form,
                                .store = take_one,
                                .user = &t };
    CIP_TRY(cip_chunk_move_may(&m, taken, err));
    if (!*taken)
        return CIP_OK;
    if (at == &rows)
        CIP_TRY(cip_chunk_changes_resize(x, as_it_was(e, a), shape, NULL, NULL, err));
    return cip_chunk_move(&m, taken, err);
}

/* --- the end ---------------------------------------------------------------------------------- */

static cip_status tell(void *user, uint64_t done, uint64_t total, cip_err *err)
{
    const cip_edit *e = user;
    if (e->o.progress == NULL || e->o.progress(e->o.user, done, total) == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
}

/* The array that was changed first comes first. */
cip_status cip_edit_settle(cip_edit *e, cip_err *err)
{
    cip_edit_chunks *first = NULL;
    for (cip_edit_chunks *x = e->chunks, *next; x != NULL; x = next) {
        next = x->next;
        x->next = first;
        first = x;
    }
    e->chunks = first;
    for (cip_edit_chunks *x = first; x != NULL; x = x->next) {
        if (cip_chunk_changes_made(x->c) == 0)
            continue; /* no change of it was made in the end */
        cip_status st = cip_chunk_changes_finish(x->c, tell, e, err);
        if (st == CIP_OK)
            st = e->ops->chunks(e->state, x->c, err);
        if (st != CIP_OK)
            return cip_fail_in(err, st, "%s", cip_chunk_changes_array(x->c)->path);
    }
    return CIP_OK;
}

void cip_edit_chunks_drop(cip_edit *e, const cip_layout *l)
{
    for (cip_edit_placed *p = e->placed; l != NULL && p != NULL; p = p->next)
        if (p->c != NULL && p->of->layout == l)
            p->c = NULL;
    for (cip_edit_chunks **x = &e->chunks; l != NULL && *x != NULL;) {
        if (cip_chunk_changes_array((*x)->c)->layout == l) {
            cip_chunk_changes_free((*x)->c);
            *x = (*x)->next;
        } else {
            x = &(*x)->next;
        }
    }
}

void cip_edit_chunks_end(cip_edit *e, cip_edit_chunks *from)
{
    for (; e->chunks != from; e->chunks = e->chunks->next)
        cip_chunk_changes_free(e->chunks->c);
}
