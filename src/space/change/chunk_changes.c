/* SPDX-License-Identifier: BSD-3-Clause
 * What becomes of each chunk, as a list of runs, which is also the table that the array is read by
 * meanwhile. A change of elements replaces runs where they are; a change of a grid's shape, which
 * gives chunks other numbers, makes the list anew. */
#include "space/change/chunk_changes_impl.h"

#include <string.h>

#include "base/num.h"
#include "codec/checksum/checksum.h"
#include "space/read/chunk_list.h"
#include "space/make/chunk_move.h"
#include "space/make/chunker.h"
#include "space/read/grid.h"
#include "space/change/grid_change.h"

/* --- runs ------------------------------------------------------------------------------------- */

cip_chunk_run *cip_chunk_run_of(const cip_chunk_changes *c, uint64_t i)
{
    const cip_chunk_runs *l = &c->runs;
    return l->n < 2 ? l->at : &l->at[cip_last_at_most(&l->at->i, sizeof *l->at, l->n, i)];
}

/* The chunks of a run from its k-th on. */
static cip_chunk_run behind(const cip_chunk_changes *c, cip_chunk_run r, uint64_t k)
{
    r.i += k;
    r.run -= k;
    if (r.from != UINT64_MAX)
        r.from += k;
    else if (c->bytes)
        r.off += k;
    return r;
}

static bool joins(const cip_chunk_changes *c, const cip_chunk_run *a, const cip_chunk_run *b)
{
    if (a->from != UINT64_MAX || b->from != UINT64_MAX)
        return b->from != UINT64_MAX && a->from != UINT64_MAX && a->from + a->run == b->from;
    if (a->state != b->state || a->raw_len != b->raw_len || a->state == CIP_CHUNK_VALUE)
        return false;
    if (a->state != CIP_CHUNK_DATA || !a->raw || !b->raw)
        return a->state != CIP_CHUNK_DATA;
    return c->bytes ? a->shared == b->shared && a->off + a->run == b->off : a->shared && b->shared;
}

cip_status cip_chunk_runs_add(cip_chunk_changes *c, cip_chunk_runs *l, cip_chunk_run r,
                              cip_err *err)
{
    if (r.run == 0)
        return CIP_OK;
    if (l->n != 0 && joins(c, &l->at[l->n - 1], &r)) {
        l->at[l->n - 1].run += r.run;
        return CIP_OK;
    }
    CIP_TRY(CIP_ROOM(c->mem, &l->at, l->n, &l->cap, err));
    l->at[l->n++] = r;
    return CIP_OK;
}

/* --- what is put back ------------------------------------------------------------------------- */

typedef struct state {
    int64_t shape[CIP_MAX_NDIM];
    uint64_t len, made;
    bool reshaped;
} state;

static void set_len(cip_chunk_changes *c, uint64_t len)
{
    c->now->len = len;
    if (c->linear == NULL)
        return;
    c->linear->size = len;
    if (!c->bytes)
        c->now->table.raw_each = cip_max_u64(1, cip_linear_chunk_len(&c->form, 0, len));
}

static void state_back(void *self, const void *kept, size_t n)
{
    cip_chunk_changes *c = self;
    state was;
    (void)n;
    memcpy(&was, kept, sizeof was);
    memcpy(c->shape, was.shape, sizeof c->shape);
    c->made = was.made;
    c->reshaped = was.reshaped;
    set_len(c, was.len);
    cip_space_renew(c->now);
}

cip_status cip_chunk_changes_begin(cip_chunk_changes *c, cip_err *err)
{
    cip_undo *u = c->undo;
    state is = { .len = c->now->len, .made = c->made, .reshaped = c->reshaped };
    if (u == NULL || c->call == u->call)
        return CIP_OK;
    memcpy(is.shape, c->shape, sizeof is.shape);
    CIP_TRY(cip_undo_add(u, state_back, c, (cip_bytes){ (const uint8_t *)&is, sizeof is },
                         (cip_bytes){ NULL, 0 }, err));
    if (c->mark != u->mark)
        c->floor = u->mark != 0 ? c->elems->size : 0;
    c->mark = u->mark;
    c->call = u->call;
    c->before = c->elems->size;
    return CIP_OK;
}

/* Of the table: `now` runs from number `at` on, for which there were others. */
typedef struct stretch {
    size_t at, now;
} stretch;

/* There is room: the table never gets less. */
static void runs_back(void *self, const void *kept, size_t n)
{
    cip_chunk_changes *c = self;
    cip_chunk_runs *l = &c->runs;
    stretch s;
    const size_t had = (n - sizeof s) / sizeof *l->at;
    memcpy(&s, kept, sizeof s);
    if (l->n != s.at + s.now)
        memmove(l->at + s.at + had, l->at + s.at + s.now, (l->n - s.at - s.now) * sizeof *l->at);
    if (had != 0)
        memcpy(l->at + s.at, (const uint8_t *)kept + sizeof s, had * sizeof *l->at);
    l->n = l->n - s.now + had;
    cip_space_renew(c->now);
}

cip_status cip_chunk_runs_keep(cip_chunk_changes *c, size_t at, size_t n, size_t now, cip_err *err)
{
    const stretch s = { at, now };
    const cip_chunk_run *first = n != 0 ? c->runs.at + at : NULL; /* an empty table is nowhere */
    const cip_bytes was = { (const uint8_t *)first, n * sizeof *first };
    return cip_undo_add(c->undo, runs_back, c, (cip_bytes){ (const uint8_t *)&s, sizeof s }, was,
                        err);
}

/* --- runs that change ------------------------------------------------------------------------- */

cip_status cip_chunk_runs_set(cip_chunk_changes *c, const cip_chunk_run *r, cip_err *err)
{
    const uint64_t end = r->i + r->run;
    cip_chunk_runs *l = &c->runs;
    CIP_TRY(CIP_ROOM(c->mem, &l->at, l->n + 1, &l->cap, err)); /* for two more */
    cip_chunk_run *at = cip_chunk_run_of(c, r->i), *last = cip_chunk_run_of(c, end - 1);
    const cip_chunk_run rest = behind(c, *last, end - last->i);
    const bool before = at->i != r->i, after = rest.run != 0;
    const size_t first = (size_t)(at - l->at), n = (size_t)(last + 1 - at);
    CIP_TRY(cip_chunk_runs_keep(c, first, n, (size_t)before + 1 + after, err));
    c->made++;
    memmove(at + before + 1 + after, last + 1, (size_t)(l->at + l->n - (last + 1)) * sizeof *at);
    l->n = l->n - n + before + 1 + after;
    if (before)
        at->run = r->i - at->i;
    at[before] = *r;
    if (after)
        at[before + 1] = rest;
    return CIP_OK;
}

cip_status cip_chunk_runs_copy(cip_chunk_changes *c, cip_chunk_runs *l, uint64_t i, uint64_t from,
                               uint64_t run, cip_err *err)
{
    for (const cip_chunk_run *r = run != 0 ? cip_chunk_run_of(c, from) : NULL; run != 0; r++) {
        cip_chunk_run part = behind(c, *r, from - r->i);
        part.run = cip_min_u64(part.run, run);
        part.i = i;
        i += part.run;
        from += part.run;
        run -= part.run;
        CIP_TRY(cip_chunk_runs_add(c, l, part, err));
    }
    return CIP_OK;
}

/* As data they all have the same bytes, which lie there once and are encoded once. */
cip_status cip_chunk_runs_zeros(cip_chunk_changes *c, cip_chunk_runs *l, uint64_t i, uint64_t run,
                                uint64_t raw_len, cip_err *err)
{
    cip_chunk_run r = { .i = i, .run = run, .from = UINT64_MAX, .raw_len = raw_len };
    r.state = CIP_CHUNK_ZERO;
    if ((c->form.specials & CIP_FORM_SPECIAL(CIP_CHUNK_ZERO)) == 0) {
        if (run != 0 && (c->zeros == UINT64_MAX || c->zeros_len < raw_len)) {
            CIP_TRY(cip_chunk_elems_room(c, raw_len, &c->zeros, err));
            c->zeros_len = raw_len;
        }
        r.state = CIP_CHUNK_DATA;
        r.raw = r.shared = true;
        r.off = c->zeros;
        r.len = raw_len;
    }
    return cip_chunk_runs_add(c, l, r, err);
}

static bool same_run(const cip_chunk_run *a, const cip_chunk_run *b)
{
    return a->i == b->i && a->run == b->run && a->from == b->from && a->off == b->off &&
           a->len == b->len && a->raw_len == b->raw_len && a->value == b->value &&
           a->sum == b->sum && a->state == b->state && a->plain == b->plain && a->raw == b->raw &&
           a->shared == b->shared;
}

cip_status cip_chunk_runs_take(cip_chunk_changes *c, uint64_t len, cip_err *err)
{
    const cip_chunk_runs old = c->runs;
    size_t same = 0;
    while (same < old.n && same < c->next.n && same_run(&old.at[same], &c->next.at[same]))
        same++;
    if (c->next.cap < old.cap) {
        CIP_TRY(cip_mem_resize(c->mem, (void **)&c->next.at, old.cap * sizeof *old.at, err));
        c->next.cap = old.cap;
    }
    CIP_TRY(cip_chunk_runs_keep(c, same, old.n - same, c->next.n - same, err));
    c->made++;
    c->runs = c->next;
    c->next = old;
    c->next.n = 0;
    set_len(c, len);
    cip_space_renew(c->now);
    return CIP_OK;
}

/* --- as a table ------------------------------------------------------------------------------- */

static void show(const cip_chunk_changes *c, const cip_chunk_run *r, uint64_t i, cip_chunk *out)
{
    *out = (cip_chunk){ .state = r->state, .raw_len = r->raw_len, .run = r->i + r->run - i };
    if (r->state == CIP_CHUNK_VALUE) {
        out->value = r->value;
        out->value_len = (uint32_t)c->form.dtype->itemsize;
    }
    if (r->state != CIP_CHUNK_DATA)
        return;
    if (c->bytes) {
        out->at = (cip_extent){ c->in_elems, r->off + (i - r->i), out->run };
        out->codec = &cip_codec_stored;
        return;
    }
    out->run = 1;
    out->at = (cip_extent){ r->raw ? c->in_elems : c->in_finished, r->off, r->len };
    out->codec = r->raw || r->plain ? &cip_codec_stored : NULL;
    if (r->sum != NULL) {
        out->sum_id = c->form.sum_id;
        memcpy(out->sum, r->sum, cip_sum_size((cip_sum_id)c->form.sum_id));
    }
}

static cip_status table_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const cip_chunk_changes *c = self;
    const uint64_t count = cip_chunk_changes_count(c);
    if (i > count || n > count - i)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a chunk below %" PRIu64 ", found %" PRIu64, count, i);
    for (const cip_chunk_run *r = n != 0 ? cip_chunk_run_of(c, i) : NULL; n != 0; r++)
        for (; n != 0 && i < r->i + r->run; i++, n--, out++) {
            if (r->from == UINT64_MAX) {
                show(c, r, i, out);
            } else {
                CIP_TRY(c->was->table.at(c->was->table.self, r->from + (i - r->i), 1, out, err));
                out->run = cip_min_u64(out->run, r->i + r->run - i);
            }
            out->raw_off = c->form.grid != NULL ? 0 : i * c->now->table.raw_each;
        }
    return CIP_OK;
}

static cip_status table_count(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = cip_chunk_changes_count(self);
    return CIP_OK;
}

/* --- beginning -------------------------------------------------------------------------------- */

static bool is_whole(const cip_chunk_changes *c, const cip_chunk_list *l)
{
    if (l->s->kind == CIP_SPACE_GRID)
        return l->own_grid;
    return l->first == 0 && l->end == c->was->len && cip_view_is_contiguous(&l->view);
}

static cip_space *space_of(const cip_array *a)
{
    cip_space *s;
    return a->space != NULL && cip_space_resolve(a->space, &s, NULL) == CIP_OK ? s : NULL;
}

static cip_status look(cip_chunk_changes *c, const cip_array *a, cip_err *err)
{
    cip_chunk_list l;
    CIP_TRY(cip_chunk_list_open(a, &l, err));
    CIP_TRY(cip_space_resolve(a->space, &c->was, err));
    const bool none = l.n == 0 && l.s->kind == CIP_SPACE_GRID && c->form.grid != NULL &&
                      l.s->grid->itemsize == c->form.grid->itemsize;
    if (c->was != l.s || (!none && !cip_chunks_are(l.s, l.s->len, &c->form)))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an array of chunks that can be extended");
    /* The array, or the one of the layout that is all of the space that it is a part of. */
    c->array = a;
    c->whole = is_whole(c, &l);
    for (size_t i = 0; i < c->layout->narray && !c->whole; i++) {
        const cip_array *other = c->layout->array[i];
        cip_chunk_list of;
        if (other == a || other->st != CIP_OK || space_of(other) != c->was ||
            cip_chunk_list_open(other, &of, NULL) != CIP_OK || of.s != l.s || !is_whole(c, &of))
            continue;
        c->array = other;
        c->whole = true;
    }
    const cip_nd *v = &c->array->view;
    c->grid = (cip_grid){ .itemsize = v->itemsize, .ndim = v->ndim, .shape = v->shape };
    if (c->form.grid != NULL) {
        c->grid = none ? *c->form.grid : *l.s->grid;
        c->form.grid = &c->grid;
    }
    memcpy(c->shape, c->grid.shape, (size_t)c->grid.ndim * sizeof *c->shape);
    c->grid.shape = c->shape;
    return cip_chunk_runs_add(c, &c->runs, (cip_chunk_run){ .run = l.n }, err);
}

static cip_status open_space(cip_chunk_changes *c, cip_err *err)
{
    const cip_space *s = c->was;
    const bool grid = c->form.grid != NULL;
    cip_table t = { .at = table_at, .count = table_count, .self = c };
    t.raw_each = grid ? 0 : cip_max_u64(1, cip_linear_chunk_len(&c->form, 0, s->len));
    if (grid)
        CIP_TRY(cip_space_new_grid(c->layout, &c->grid, &t, s->step, s->nstep, &c->now, err));
    else
        CIP_TRY(cip_space_new_chunked(c->layout, &t, s->len, s->step, s->nstep, &c->now, err));
    if (grid)
        c->now->grid = &c->grid;
    c->now->codec_env = s->codec_env;
    c->now->big = s->big;
    c->now->label = s->label;
    return cip_space_new_file(c->layout, c->finished, &c->in_finished, err);
}

cip_status cip_chunk_changes_new(const cip_array *a, const cip_array_form *form, cip_io *temporary,
                                 cip_chunk_changes **out, cip_err *err)
{
    cip_chunk_changes *c;
    cip_mem *mem = &a->layout->env->mem;
    *out = NULL;
    CIP_TRY(CIP_NEW(mem, &c, 1, err));
    c->layout = a->layout;
    c->mem = c->arena.mem = mem;
    c->how = (cip_read_how){ a->layout, a->layout->env->pool };
    c->form = *form;
    c->form.chunk_nbytes = cip_form_chunk_nbytes(form);
    c->bytes = (form->caps & CIP_FORM_BYTES) != 0;
    c->finished = temporary;
    c->zeros = UINT64_MAX;
    cip_status st;
    CIP_GO(cip_temporary_new(c->layout->env, cip_io_path(c->layout->io), &c->elems, err));
    CIP_GO(cip_space_new_file(c->layout, c->elems, &c->in_elems, err));
    if (c->bytes) {
        CIP_GO(cip_byte_changes_open(c, a, err));
    } else {
        CIP_GO(look(c, a, err));
        CIP_GO(open_space(c, err));
        if (c->form.grid == NULL)
            CIP_GO(cip_linear_open(c, err));
    }
    if (c->form.grid != NULL) { /* makes chunks as the steps take them */
        c->bare = c->form;
        c->bare.nstep = 0;
        c->bare.sum_id = CIP_SUM_NONE;
        c->bare.caps &= ~(uint32_t)CIP_FORM_PLAIN;
        CIP_GO(cip_chunk_maker_init(&c->maker, c->mem, &c->bare, 0, err));
        if (c->maker.arranged != 0)
            CIP_GO(cip_mem_get(c->mem, c->maker.arranged, (void **)&c->work.arranged, err));
    }
    *out = c;
    c = NULL;
done:
    cip_chunk_changes_free(c);
    return st;
}

void cip_chunk_changes_free(cip_chunk_changes *c)
{
    if (c == NULL)
        return;
    cip_io_close(c->linear);
    if (c->was != NULL && c->was->changes == c)
        c->was->changes = NULL;
    if (!c->apart)
        cip_io_close(c->elems);
    cip_mem_put(c->mem, c->work.arranged);
    cip_mem_put(c->mem, c->runs.at);
    cip_mem_put(c->mem, c->next.at);
    cip_arena_clear(&c->arena);
    cip_mem_put(c->mem, c);
}

void cip_chunk_changes_keep_in(cip_chunk_changes *c, cip_undo *undo, bool hidden)
{
    c->undo = undo;
    if (!hidden)
        c->was->changes = c;
}

cip_chunk_changes *cip_chunk_changes_of(const cip_array *a)
{
    const cip_space *s = space_of(a);
    return s != NULL ? s->changes : NULL;
}

const cip_array *cip_chunk_changes_now(cip_chunk_changes *c, const cip_array *a)
{
    c->seen = *a;
    c->seen.space = c->now;
    if (c->reshaped && a == c->array) {
        cip_view_c_order(c->grid.ndim, c->shape, a->view.itemsize, &c->seen.view, NULL);
    } else if (c->reshaped) {
        c->seen.st = cip_fail(
            &c->why, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "'%.80s', which shares its data, changed its shape in this update; commit it first",
            c->array->path);
        c->seen.why = &c->why;
    }
    return &c->seen;
}

uint64_t cip_chunk_changes_made(const cip_chunk_changes *c)
{
    return c->made;
}

/* --- elements --------------------------------------------------------------------------------- */

cip_status cip_chunk_elems_write(cip_chunk_changes *c, uint64_t off, const void *p, size_t n,
                                 cip_err *err)
{
    c->made += off < c->elems->size; /* else nobody knows of them yet */
    if (off < c->before && c->undo != NULL)
        c->undo->lost = true;
    CIP_TRY(cip_temporary_write(c->elems, off, p, n, err));
    c->in_elems->len = c->elems->size;
    return CIP_OK;
}

cip_status cip_chunk_elems_room(cip_chunk_changes *c, uint64_t n, uint64_t *off, cip_err *err)
{
    *off = c->elems->size;
    CIP_TRY(cip_temporary_resize(c->elems, *off + n, err));
    c->in_elems->len = c->elems->size;
    return CIP_OK;
}

static cip_status copy_value(cip_chunk_changes *c, const uint8_t *value, cip_chunk_run *r,
                             cip_err *err)
{
    uint8_t *copy = NULL;
    const size_t n = (size_t)c->form.dtype->itemsize;
    CIP_TRY(cip_arena_get(&c->arena, n, (void **)&copy, err));
    r->value = memcpy(copy, value, n);
    return CIP_OK;
}

/* A chunk from its elements, in the place that it has already in the file of elements, if any. */
static cip_status from_elements(cip_chunk_changes *c, const cip_grid_part *p, cip_chunk_run *r,
                                cip_err *err)
{
    cip_chunk_in in;
    c->work.raw = p->elems;
    memcpy(c->work.coord, p->coord, (size_t)c->grid.ndim * sizeof *p->coord);
    memcpy(c->work.valid, p->valid, (size_t)c->grid.ndim * sizeof *p->valid);
    CIP_TRY(cip_chunk_make(&c->maker, &c->work, false, &in, err));
    *r = (cip_chunk_run){
        .i = p->i, .run = 1, .from = UINT64_MAX, .raw_len = in.raw_len, .state = in.state
    };
    if (in.state == CIP_CHUNK_VALUE)
        return copy_value(c, in.value, r, err);
    if (in.state != CIP_CHUNK_DATA)
        return CIP_OK;
    const cip_chunk_run *old = p->from != UINT64_MAX ? cip_chunk_run_of(c, p->from) : NULL;
    const bool place = old != NULL && cip_chunk_run_is_own(c, old);
    r->raw = true;
    r->len = in.bytes.len;
    r->off = place ? old->off : c->elems->size;
    return cip_chunk_elems_write(c, r->off, in.bytes.ptr, in.bytes.len, err);
}

static uint64_t raw_len_of(const cip_chunk_changes *c, uint64_t i)
{
    return c->form.grid != NULL ? cip_grid_raw_len(&c->grid)
                                : cip_linear_chunk_len(&c->form, i, c->now->len);
}

static cip_status take_part(void *user, const cip_grid_part *p, cip_err *err)
{
    cip_chunk_changes *c = user;
    cip_chunk_run r;
    if (p->kind == CIP_GRID_KEPT)
        return cip_chunk_runs_copy(c, &c->next, p->i, p->from, p->run, err);
    if (p->kind == CIP_GRID_ZEROS)
        return cip_chunk_runs_zeros(c, &c->next, p->i, p->run, raw_len_of(c, p->i), err);
    CIP_TRY(from_elements(c, p, &r, err));
    return c->reshapes ? cip_chunk_runs_add(c, &c->next, r, err) : cip_chunk_runs_set(c, &r, err);
}

cip_status cip_chunk_changes_write(cip_chunk_changes *c, const cip_nd *at, const cip_feed *feed,
                                   cip_err *err)
{
    CIP_TRY(cip_chunk_changes_begin(c, err));
    if (c->form.grid == NULL)
        return cip_linear_changes_write(c, at, feed, err);
    const cip_grid_change change = {
        .how = c->how, .old = c->now, .grid = &c->grid, .at = at, .feed = feed
    };
    c->reshapes = false;
    cip_status st = cip_grid_change_run(&change, take_part, c, err);
    cip_space_renew(c->now);
    return st;
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* In a copy of the space as it was, as the grid changes under the one that is kept. `change` says
 * what is written, and what comes or goes in the midst. */
static cip_status reshape_grid(cip_chunk_changes *c, const int64_t *shape, cip_grid_change *change,
                               cip_err *err)
{
    int64_t before[CIP_MAX_NDIM];
    cip_grid was = c->grid;
    cip_space old = *c->now;
    uint64_t len;
    CIP_TRY(cip_linear_len(&c->grid, shape, &len, err));
    memcpy(before, c->shape, sizeof before);
    was.shape = before;
    old.grid = &was;
    memcpy(c->shape, shape, (size_t)c->grid.ndim * sizeof *shape);
    change->how = c->how;
    change->old = &old;
    change->grid = &c->grid;
    c->reshapes = true;
    cip_status st = cip_grid_change_run(change, take_part, c, err);
    if (st == CIP_OK)
        st = cip_chunk_runs_take(c, len, err);
    if (st != CIP_OK)
        memcpy(c->shape, before, sizeof before);
    c->reshaped = c->reshaped || st == CIP_OK;
    return st;
}

static cip_status expect_whole(const cip_chunk_changes *c, const cip_array *a, cip_err *err)
{
    return c->whole && a == c->array ? CIP_OK
                                     : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                                "the array is a part of the data stored in chunks");
}

cip_status cip_chunk_changes_resize(cip_chunk_changes *c, const cip_array *a, const int64_t *shape,
                                    const cip_nd *at, const cip_feed *feed, cip_err *err)
{
    const size_t n = (size_t)c->grid.ndim * sizeof *shape;
    cip_grid_change change = { .at = at, .feed = feed };
    CIP_TRY(expect_whole(c, a, err));
    CIP_TRY(cip_chunk_changes_begin(c, err));
    if (memcmp(shape, c->shape, n) == 0) {
        c->made += at == NULL; /* the shape of the data, where the file says another one */
        return at != NULL ? cip_chunk_changes_write(c, at, feed, err) : CIP_OK;
    }
    c->next.n = 0; /* of a change that failed */
    if (c->form.grid != NULL)
        return reshape_grid(c, shape, &change, err);
    if (at != NULL && at->off == c->now->len && shape[0] > c->shape[0]) {
        const cip_splice rows = { .start = c->shape[0],
                                  .added = shape[0] - c->shape[0],
                                  .feed = feed }; /* at the end: no zeros are written before */
        CIP_TRY(cip_linear_changes_splice(c, &rows, shape, err));
        at = NULL;
    } else {
        CIP_TRY(cip_linear_changes_resize(c, shape, err));
    }
    memcpy(c->shape, shape, n);
    c->reshaped = true;
    return at != NULL ? cip_linear_changes_write(c, at, feed, err) : CIP_OK;
}

cip_status cip_chunk_changes_splice(cip_chunk_changes *c, const cip_array *a, const cip_splice *s,
                                    cip_err *err)
{
    int64_t shape[CIP_MAX_NDIM];
    cip_nd room;
    cip_grid_change change = { .splice = s, .feed = s->feed };
    CIP_TRY(expect_whole(c, a, err));
    CIP_TRY(cip_splice_shape(s, c->grid.ndim, c->shape, shape, err));
    CIP_TRY(cip_chunk_changes_begin(c, err));
    c->next.n = 0;
    if (c->form.grid == NULL) {
        CIP_TRY(cip_linear_changes_splice(c, s, shape, err));
        memcpy(c->shape, shape, (size_t)c->grid.ndim * sizeof *shape);
        c->reshaped = true;
        return CIP_OK;
    }
    CIP_TRY(cip_view_c_order(c->grid.ndim, shape, c->grid.itemsize, &room, err));
    room = cip_splice_room(s, &room);
    change.at = s->feed != NULL ? &room : NULL;
    return reshape_grid(c, shape, &change, err);
}

/* --- finished chunks -------------------------------------------------------------------------- */

/* What a finished chunk is, its bytes behind the others. */
static cip_status keep(cip_chunk_changes *c, const cip_chunk_in *in, cip_chunk_run *r, cip_err *err)
{
    *r = (cip_chunk_run){
        .run = 1, .from = UINT64_MAX, .raw_len = in->raw_len, .state = in->state, .plain = in->plain
    };
    if (in->state == CIP_CHUNK_VALUE)
        return copy_value(c, in->value, r, err);
    if (in->state != CIP_CHUNK_DATA)
        return CIP_OK;
    if (c->form.sum_id != CIP_SUM_NONE) {
        uint8_t *sum = NULL;
        CIP_TRY(cip_arena_get(&c->arena, CIP_SUM_MAX, (void **)&sum, err));
        r->sum = memcpy(sum, in->sum, CIP_SUM_MAX);
    }
    r->off = c->finished->size;
    r->len = in->bytes.len;
    CIP_TRY(cip_temporary_write(c->finished, r->off, in->bytes.ptr, in->bytes.len, err));
    c->in_finished->len = c->finished->size;
    return CIP_OK;
}

cip_status cip_chunk_changes_raw_len(const cip_chunk_changes *c, uint64_t i, uint64_t *len,
                                     cip_err *err)
{
    const uint64_t count = cip_chunk_changes_count(c);
    if (i >= count)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a chunk below %" PRIu64 ", found %" PRIu64, count, i);
    *len = raw_len_of(c, i);
    return CIP_OK;
}

static cip_status set_chunk(cip_chunk_changes *c, const cip_chunk_run *r, cip_err *err)
{
    uint64_t len;
    CIP_TRY(cip_chunk_changes_raw_len(c, r->i, &len, err));
    if (r->raw_len != len)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a chunk of %" PRIu64 " bytes, found one of %" PRIu64, len,
                        r->raw_len);
    cip_space_renew(c->now);
    return cip_chunk_runs_set(c, r, err);
}

cip_status cip_chunk_changes_put(cip_chunk_changes *c, uint64_t i, const cip_chunk_in *in,
                                 cip_err *err)
{
    cip_chunk_run r;
    if (in->state == CIP_CHUNK_DATA ? in->plain && (c->form.caps & CIP_FORM_PLAIN) == 0
                                    : (c->form.specials & CIP_FORM_SPECIAL(in->state)) == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a chunk of the same kind as the array's");
    CIP_TRY(cip_chunk_changes_begin(c, err));
    CIP_TRY(keep(c, in, &r, err));
    for (r.i = i; r.i < i + cip_max_u64(1, in->run); r.i++)
        CIP_TRY(set_chunk(c, &r, err));
    return CIP_OK;
}

cip_status cip_chunk_changes_put_raw(cip_chunk_changes *c, uint64_t i, cip_bytes raw, cip_err *err)
{
    const cip_chunk_run r = { .i = i,
                              .run = 1,
                              .from = UINT64_MAX,
                              .off = c->elems->size,
                              .len = raw.len,
                              .raw_len = raw.len,
                              .raw = true };
    CIP_TRY(cip_chunk_changes_begin(c, err));
    CIP_TRY(cip_chunk_elems_write(c, r.off, raw.ptr, raw.len, err));
    return set_chunk(c, &r, err);
}

/* --- the end ---------------------------------------------------------------------------------- */

typedef struct finishing {
    cip_chunk_changes *c;
    cip_status (*tell)(void *user, uint64_t done, uint64_t total, cip_err *err);
    void *user;
    uint64_t done, total;
} finishing;

/* Chunks as they were made, of runs that are all of one chunk, or of one that stands for many. */
static cip_status take_finished(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk,
                                cip_err *err)
{
    finishing *f = user;
    for (size_t k = 0; k < n; k++)
        for (uint64_t j = 0; j < chunk[k].run; j++, i++) {
            cip_chunk_run *r = cip_chunk_run_of(f->c, i), made;
            CIP_TRY(keep(f->c, &chunk[k], &made, err));
            made.i = r->i;
            made.run = r->run;
            made.shared = r->shared;
            *r = made;
            if (f->tell != NULL)
                CIP_TRY(f->tell(f->user, ++f->done, f->total, err));
        }
    return CIP_OK;
}

cip_status cip_chunk_changes_finish(cip_chunk_changes *c,
                                    cip_status (*tell)(void *user, uint64_t done, uint64_t total,
                                                       cip_err *err),
                                    void *user, cip_err *err)
{
    finishing f = { .c = c, .tell = tell, .user = user };
    const cip_chunker_to to = { take_finished, &f, c->layout->tuning };
    cip_chunker *chunker;
    uint64_t longest = 0;
    cip_status st = CIP_OK;
    const bool bare = c->form.grid != NULL && c->form.nstep == 0 && c->form.sum_id == CIP_SUM_NONE;
    if (c->bytes) /* what will be encoded with what changed is decoded by all threads, and once */
        return (c->form.caps & CIP_FORM_GROWS) != 0 && cip_chunk_changes_kept(c) == c->was->len
                   ? CIP_OK
                   : cip_byte_changes_load(c, err);
    for (size_t k = 0; k < c->runs.n && !bare; k++) {
        f.total += c->runs.at[k].raw;
        if (c->runs.at[k].raw)
            longest = cip_max_u64(longest, c->runs.at[k].len);
    }
    if (f.total == 0)
        return CIP_OK;
    CIP_TRY(cip_chunker_new_apart(c->layout->env, &c->form, longest, f.total, &to, &chunker, err));
    for (size_t k = 0; k < c->runs.n; k++) {
        const cip_chunk_run *r = &c->runs.at[k];
        if (r->raw)
            CIP_GO(cip_chunker_chunk(chunker, r->i, c->elems, r->off, r->len, err));
    }
    st = cip_chunker_finish(chunker, err);
done:
    cip_chunker_free(chunker);
    cip_space_renew(c->now);
    return st;
}

cip_space *cip_chunk_changes_space(const cip_chunk_changes *c)
{
    return c->now;
}

const cip_array_form *cip_chunk_changes_form(const cip_chunk_changes *c)
{
    return &c->form;
}

const cip_array *cip_chunk_changes_array(const cip_chunk_changes *c)
{
    return c->array;
}

const int64_t *cip_chunk_changes_shape(const cip_chunk_changes *c)
{
    return c->shape;
}

uint64_t cip_chunk_changes_count(const cip_chunk_changes *c)
{
    const cip_chunk_run *last = c->runs.n != 0 ? &c->runs.at[c->runs.n - 1] : NULL;
    return last != NULL ? last->i + last->run : 0;
}

void cip_chunk_changes_at(const cip_chunk_changes *c, uint64_t i, cip_chunk_now *out)
{
    const cip_chunk_run *r = cip_chunk_run_of(c, i);
    *out = (cip_chunk_now){ .from = UINT64_MAX, .run = r->i + r->run - i };
    if (r->from != UINT64_MAX) {
        out->from = r->from + (i - r->i);
        return;
    }
    show(c, r, i, &out->chunk);
    out->run = out->chunk.run;
}
