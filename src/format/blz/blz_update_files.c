/* SPDX-License-Identifier: BSD-3-Clause
 * What becomes of an array whose chunks are files of their own. A chunk that changes is a new file
 * that takes the name of the old one; files behind the last row go; meta/sizes changes after all of
 * them, as the old programs write it last.
 * Where meta/sizes does not say how many rows there are (a program was cut off), rows must not be
 * added: they would lie over others, or behind a gap. Another shape of at most the rows that the
 * files hold mends that. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_update.h"

enum { FOOTPRINT = 128 /* what BLZ adds to the bytes of a chunk */ };

/* --- how many rows they hold ------------------------------------------------------------------ */

/* Rows of chunk i; -1: it is damaged. */
static cip_status rows_of(const cip_blz_column *c, uint64_t i, int64_t *rows, cip_err *err)
{
    cip_blosc_head head;
    cip_extent at;
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_blz_chunk_head(c, i, &head, &at, &why);
    *rows = st == CIP_OK ? (int64_t)(head.nbytes / c->meta.row) : -1;
    if (st == CIP_ERR_NOMEM || st == CIP_ERR_IO)
        return cip_fail(err, st, why.offset, "%s", why.text);
    return CIP_OK;
}

/* Chunks in a row behind those that meta/sizes knows become the column's, to be looked at. */
static cip_status add_behind(cip_blz_column *c, const cip_buf *f, cip_err *err)
{
    cip_blz_files more = { .number = 0 };
    char *dir;
    uint64_t n = c->nchunk;
    while (cip_blz_numbers_have(f, n))
        n++;
    CIP_TRY(cip_arena_printf(&c->blz->layout->arena, &dir, err, "%sdata/", c->dir));
    more.dir = dir;
    return n == c->nchunk ? CIP_OK : cip_blz_add_files(c->blz, &more, n, &c->member, err);
}

/* Up to the end of the last chunk that meta/sizes knows, and on as long as chunks are full. Where
 * the last one is damaged nothing is known better. */
static cip_status count_rows(const cip_blz_column *c, const cip_buf *f, int64_t *rows, cip_err *err)
{
    const int64_t each = c->meta.chunklen;
    const size_t behind = cip_blz_numbers_from(f, c->nchunk);
    uint64_t i = c->nchunk != 0 ? c->nchunk - 1 : 0;
    int64_t last = 0;
    if (c->nchunk != 0 && !cip_blz_numbers_have(f, i)) { /* up to the last one that is there */
        *rows = 0;
        if (behind == 0)
            return CIP_OK;
        i = cip_blz_numbers_at(f, behind - 1);
        CIP_TRY(rows_of(c, i, &last, err));
        *rows = last < 0 ? c->meta.shape[0] : (int64_t)i * each + last;
        return CIP_OK;
    }
    *rows = (int64_t)i * each;
    for (; cip_blz_numbers_have(f, i) && *rows == (int64_t)i * each; i++) {
        CIP_TRY(rows_of(c, i, &last, err));
        if (last < 0 && i < c->nchunk)
            *rows = c->meta.shape[0];
        if (last < 0)
            return CIP_OK;
        *rows += last;
    }
    return CIP_OK;
}

/* --- the chunks as an update takes them ------------------------------------------------------- */

/* Chunks of exactly the rows that the shape says. */
static cip_status exact_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    cip_blz_column *c = self;
    const uint64_t rows = (uint64_t)c->array->view.shape[0], each = (uint64_t)c->meta.chunklen;
    for (size_t k = 0; k < n; k++, i++) {
        const uint64_t wanted = cip_min_u64(each, rows - i * each);
        CIP_TRY(cip_blz_file_chunk(c, i, &out[k], err));
        out[k].raw_off = i * c->each;
        if (out[k].state == CIP_CHUNK_DATA && out[k].raw_len != wanted * c->meta.row)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected %" PRIu64 " rows in __%" PRIu64
                            ".blp, as in meta/sizes, found %" PRIu64,
                            wanted, i, out[k].raw_len / c->meta.row);
        out[k].raw_len = wanted * c->meta.row;
        if (out[k].run > 1) /* the last chunk may be shorter */
            out[k].run = cip_max_u64(1, cip_min_u64(out[k].run, rows / each - i));
    }
    return CIP_OK;
}

static cip_status exact_count(void *self, uint64_t *n, cip_err *err)
{
    const cip_blz_column *c = self;
    (void)err;
    *n = cip_div_up((uint64_t)c->array->view.shape[0], (uint64_t)c->meta.chunklen);
    return CIP_OK;
}

/* --- the form --------------------------------------------------------------------------------- */

static bool is_open(const cip_blz_column *c)
{
    return c->array->space != c->space;
}

/* Whether rows may come or go, and from how many on. */
static cip_status check_rows(cip_blz_changed *x, cip_blz_column *c, cip_change_kind kind,
                             const int64_t *shape, int64_t *found, int64_t *rows, cip_err *err)
{
    const int64_t said = c->meta.shape[0];
    *rows = said;
    if (x->mends)
        return CIP_OK;
    cip_buf f;
    if (*found < 0) {
        cip_status st = cip_blz_numbers_list(c, NULL, &f, err);
        if (st == CIP_OK)
            st = add_behind(c, &f, err);
        if (st == CIP_OK)
            st = count_rows(c, &f, found, err);
        cip_buf_clear(&f);
        CIP_TRY(st);
    }
    if (*found == said)
        return CIP_OK;
    if (kind != CIP_CHANGE_SHAPE || shape[0] > *found || is_open(c))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %" PRId64 " rows, as in %smeta/sizes, but the data hold %" PRId64
                        "; resize to %" PRId64 " first, or to the number of rows to keep",
                        c->meta.shape[0], c->dir, *found, *found);
    x->mends = true;
    *rows = *found;
    return CIP_OK;
}

cip_status cip_blz_files_form(cip_blz_state *u, size_t column, cip_change_kind kind,
                              const int64_t *shape, cip_change_form *out, cip_err *err)
{
    cip_blz_column *c = u->b->column[column];
    cip_blz_changed *x = &u->column[column];
    int64_t rows = c->meta.shape[0];
    if (kind != CIP_CHANGE_ELEMENTS)
        CIP_TRY(check_rows(x, c, kind, shape, &u->found[column], &rows, err));
    if (!is_open(c))
        x->least = rows;
    if (kind == CIP_CHANGE_SHAPE && shape[0] > x->least)
        CIP_TRY(cip_blz_dflt(u->arena, &c->meta, &out->fill, err));
    else if (shape != NULL && shape[0] < x->least)
        x->least = shape[0];
    if (x->how == NULL) {
        CIP_TRY(CIP_ARENA_NEW(u->arena, &x->how, 1, err));
        CIP_TRY(cip_blz_choose_like(&u->spec, c, x->how, &x->takes, err));
    }
    if (!is_open(c)) {
        /* The array is all of a space of them from here on. */
        const cip_table t = { .at = exact_at, .count = exact_count, .self = c };
        c->array->view.shape[0] = rows;
        CIP_TRY(cip_blz_new_space(c->blz->layout, &t, c->each, (uint64_t)rows * c->meta.row,
                                  &c->array->space, err));
    }
    out->form = (cip_array_form){ .dtype = c->meta.dtype,
                                  .chunk_nbytes = c->each,
                                  .step = { { .codec = &cip_codec_blosc, .args = x->how } },
                                  .nstep = 1,
                                  .codec_env = { .typesize = x->how->typesize },
                                  .caps = x->takes ? CIP_FORM_TAKES : 0 };
    return CIP_OK;
}

/* --- the files -------------------------------------------------------------------------------- */

typedef struct rewrite {
    cip_blz_state *u;
    cip_blz_column *c;
    const cip_blz_changed *x;
    const char *dir; /* where they lie by then */
    cip_revision *r;
    cip_buf files;  /* numbers of those that are there */
    uint64_t n;     /* chunks, as it becomes */
    bool anew;      /* cbytes is counted from all chunks, not from those that change */
    int64_t cbytes; /* as the old programs count: those of full chunks, and room for one */
} rewrite;

static cip_status path_in(const rewrite *w, const char *dir, uint64_t i, char **path, cip_err *err)
{
    return cip_arena_printf(w->u->arena, path, err, "%sdata/__%" PRIu64 ".blp", dir, i);
}

static int64_t footprint(const cip_blz_column *c)
{
    return cip_map_get(c->meta.storage, "bparams") != NULL ? FOOTPRINT : 0;
}

/* What the file of a chunk counts, if it is there and full. */
static int64_t old_cbytes(const rewrite *w, uint64_t i)
{
    cip_blosc_head head;
    cip_extent at;
    if (!cip_blz_numbers_have(&w->files, i) ||
        cip_blz_chunk_head(w->c, i, &head, &at, NULL) != CIP_OK || head.nbytes != w->c->each)
        return 0;
    return head.cbytes + footprint(w->c);
}

static cip_status put_chunks(rewrite *w, cip_err *err)
{
    const uint64_t full =
        (uint64_t)cip_chunk_changes_shape(w->x->chunks)[0] / (uint64_t)w->c->meta.chunklen;
    for (uint64_t i = 0, run = 0; i < w->n; i += run) {
        cip_chunk_now now;
        cip_extent at;
        cip_chunk_changes_at(w->x->chunks, i, &now);
        run = now.from == i ? now.run : 1;
        for (uint64_t k = i; now.from == i && w->anew && k < cip_min_u64(i + run, full); k++)
            w->cbytes += old_cbytes(w, k);
        if (now.from == i)
            continue;
        /* The bytes of a chunk that is new, or that had another number. */
        cip_chunk old = { .run = 1 };
        at = now.chunk.at;
        if (now.from != UINT64_MAX) {
            CIP_TRY(exact_at(w->c, now.from, 1, &old, err));
            at = old.at;
            if (old.state != CIP_CHUNK_DATA)
                return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                                "expected %sdata/__%" PRIu64 ".blp, found none", w->c->dir,
                                now.from);
        }
        if (!w->anew && i < w->c->nchunk)
            w->cbytes -= old_cbytes(w, i);
        if (i < full)
            w->cbytes += (int64_t)at.len + footprint(w->c);
        cip_revision *as;
        char *path;
        CIP_TRY(path_in(w, w->dir, i, &path, err));
        if (cip_blz_numbers_have(&w->files, i) && w->x->name == NULL)
            CIP_TRY(cip_revision_replace(w->r, path, NULL, &as, err));
        else
            CIP_TRY(cip_revision_make(w->r, path, &as, err));
        CIP_TRY(cip_revision_bytes(as, cip_blz_header_of_one, CIP_BLZ_HEADER_1, err));
        CIP_TRY(cip_revision_range(as, at.in->io, at.off, at.len, err));
    }
    return CIP_OK;
}

/* Those behind the last row, whoever left them. */
static cip_status remove_behind(rewrite *w, cip_err *err)
{
    char *path;
    for (size_t k = cip_blz_numbers_from(&w->files, w->n); k < cip_blz_numbers_count(&w->files);
         k++) {
        const uint64_t i = cip_blz_numbers_at(&w->files, k);
        CIP_TRY(path_in(w, w->c->dir, i, &path, err));
        if (!w->anew && i < w->c->nchunk)
            w->cbytes -= old_cbytes(w, i);
        CIP_TRY(cip_revision_unlink(w->r, path, NULL, err));
    }
    return CIP_OK;
}

cip_status cip_blz_files_finish(cip_blz_state *u, size_t column, cip_revision *r, cip_err *err)
{
    rewrite w = { .u = u, .c = u->b->column[column], .x = &u->column[column], .r = r };
    CIP_TRY(cip_blz_dir_now(u, column, &w.dir, err));
    w.n = cip_chunk_changes_count(w.x->chunks);
    /* Counted anew where what meta/sizes says is no number to go on from. */
    const cip_node *n = cip_map_get(w.c->meta.sizes, "cbytes");
    const int64_t least = (int64_t)w.c->each;
    int64_t was;
    w.anew = w.x->mends || n == NULL || !cip_node_as_int(n, &was) || was < least;
    w.cbytes = w.anew ? least : was;
    cip_status st = cip_blz_numbers_list(w.c, NULL, &w.files, err);
    if (st == CIP_OK)
        st = put_chunks(&w, err);
    if (st == CIP_OK)
        st = remove_behind(&w, err);
    if (st == CIP_OK) {
        w.cbytes = w.cbytes < (int64_t)w.c->each ? (int64_t)w.c->each : w.cbytes;
        st = cip_blz_put_sizes(u, column, cip_chunk_changes_shape(w.x->chunks)[0],
                               w.c->array->dtype->itemsize, &w.cbytes, r, err);
    }
    cip_buf_clear(&w.files);
    return st;
}
