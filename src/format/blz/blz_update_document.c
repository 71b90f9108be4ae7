/* SPDX-License-Identifier: BSD-3-Clause
 * What becomes of an array in superchunks. Each column of it changes by itself: the superchunks
 * that hold chunks which change, come or go (blz_update_super.c). meta/sizes changes after all of
 * them, so that an update which is cut off leaves rows that nobody reads. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_update.h"

/* --- the chunks as an update takes them ------------------------------------------------------- */

/* Whatever lies in the superchunks, the update sees chunks of chunklen rows and a last one that
 * ends with the last row: pieces of the column as it is read. */
static cip_status piece_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const cip_blz_column *c = self;
    (void)err;
    for (size_t k = 0; k < n; k++, i++) {
        const uint64_t off = i * c->each, len = cip_min_u64(c->each, c->space->len - off);
        out[k] = (cip_chunk){ .raw_off = off,
                              .raw_len = len,
                              .run = 1,
                              .state = CIP_CHUNK_DATA,
                              .at = { c->space, off, len },
                              .codec = &cip_codec_stored };
    }
    return CIP_OK;
}

static cip_status piece_count(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((const cip_blz_column *)self)->nchunk;
    return CIP_OK;
}

/* --- the form --------------------------------------------------------------------------------- */

/* The head of the column's first chunk that can be read, and the file that it lies in, or NULL. */
static cip_status find_head(cip_blz_column *c, cip_blosc_head *head, cip_bp_file **f, cip_err *err)
{
    for (size_t j = 0; j < c->nsuper; j++) {
        cip_chunk chunk = { .run = 0 };
        cip_space *s;
        cip_err why = CIP_ERR_INIT;
        cip_status st = cip_blz_super_open(c, j, f, &why);
        if (st == CIP_OK)
            st = cip_space_resolve((*f)->data, &s, &why);
        if (st == CIP_OK && (*f)->chunks.nfound == 0)
            continue;
        if (st == CIP_OK)
            st = cip_bp_chunk(*f, 0, head, &chunk, &why);
        if (st == CIP_OK || st == CIP_ERR_NOMEM)
            return st == CIP_OK ? CIP_OK : cip_fail(err, st, why.offset, "%s", why.text);
    }
    *f = NULL;
    return CIP_OK;
}

/* As the column's first chunk is, or, without one, as meta/storage says. */
cip_status cip_blz_document_how(const cip_blz_state *u, cip_blz_column *c, cip_bp_how *how,
                                bool *takes, cip_err *err)
{
    cip_blosc_head head;
    cip_bp_file *f;
    CIP_TRY(find_head(c, &head, &f, err));
    CIP_TRY(cip_blz_choose_like(&u->spec, c, &how->blosc, takes, err));
    if (f != NULL && *takes) {
        cip_blosc_spec *out = &how->blosc;
        if (head.compcode >= 0 && head.compcode <= CIP_BLOSC_ZSTD &&
            head.compcode != CIP_BLOSC_SNAPPY) {
            out->compcode = head.compcode;
            memcpy(out->filter, head.filter, sizeof out->filter);
        }
    }
    how->chunk_size = c->each;
    how->sum = f != NULL ? f->h.sum : CIP_SUM_CRC32;
    CIP_TRY(cip_bp_choose_sum(&u->spec, &how->sum, err));
    if (f == NULL || f->h.sum == how->sum)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected %s, the checksum of the existing chunks, found %.40s",
                    cip_sum_name(f->h.sum), cip_sum_name(how->sum));
}

/* Of superchunks of any number of chunks each chunk must be one as the update sees it. */
static cip_status check_chunks(cip_blz_column *c, cip_err *err)
{
    uint64_t n, at = 0;
    if (c->per != 0 || c->data == NULL)
        return CIP_OK;
    CIP_TRY(c->data->table.count(c->data->table.self, &n, err)); /* and all is known */
    for (size_t j = 0; j < c->known; j++) {
        const cip_blz_super *s = &c->super[j];
        const uint64_t *raw = s->file->chunks.raw;
        for (uint64_t k = 0; k < s->nchunk && at < c->space->len; k++, at += c->each) {
            const uint64_t off = raw != NULL ? raw[k] : k * (uint64_t)s->file->h.chunk_size;
            const uint64_t end = k + 1 == s->nchunk ? s->nbytes
                                 : raw != NULL      ? raw[k + 1]
                                                    : off + (uint64_t)s->file->h.chunk_size;
            if (s->raw + off != at)
                return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                "expected chunks of %" PRId64
                                " rows to change, found one that begins with row %" PRIu64,
                                c->meta.chunklen, (s->raw + off) / c->meta.row);
            if (end - off > c->each) /* what is appended behind it would lie elsewhere */
                return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                "expected chunks of at most %" PRIu64
                                " bytes to change, found one of %" PRIu64
                                " that begins with row %" PRIu64,
                                c->each, end - off, (s->raw + off) / c->meta.row);
        }
    }
    return at >= c->space->len
               ? CIP_OK
               : cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                          "expected the file that holds row %" PRIu64, at / c->meta.row);
}

/* A row of the column's own of what fills rows that nobody wrote. */
static cip_status make_fill(cip_blz_state *u, cip_blz_column *c, const uint8_t **out, cip_err *err)
{
    const cip_record_column *r = &c->in_records;
    cip_blz_meta whole = c->meta;
    uint8_t *own;
    const uint8_t *row;
    if (c->rows == c->array)
        return cip_blz_dflt(u->arena, &c->meta, out, err);
    whole.dtype = c->array->dtype;
    whole.row = c->meta.row / r->row * whole.dtype->itemsize;
    CIP_TRY(cip_blz_dflt(u->arena, &whole, &row, err));
    *out = NULL;
    if (row == NULL)
        return CIP_OK;
    CIP_TRY(cip_arena_zeroed(u->arena, (size_t)c->meta.row, 1, (void **)&own, err));
    for (uint64_t i = 0; i < c->meta.row / r->row; i++)
        for (size_t k = 0; k < r->npart; k++)
            memcpy(own + i * r->row + r->part[k].from,
                   row + i * whole.dtype->itemsize + r->part[k].off, (size_t)r->part[k].len);
    *out = own;
    return CIP_OK;
}

cip_status cip_blz_document_form(cip_blz_state *u, size_t column, cip_change_kind kind,
                                 const int64_t *shape, cip_change_form *out, cip_err *err)
{
    cip_blz_column *c = u->b->column[column];
    cip_blz_changed *x = &u->column[column];
    if (x->in_superchunks == NULL) {
        cip_bp_how *how;
        CIP_TRY(check_chunks(c, err));
        CIP_TRY(CIP_ARENA_NEW(u->arena, &how, 1, err));
        CIP_TRY(cip_blz_document_how(u, c, how, &x->takes, err));
        const cip_table t = { .at = piece_at, .count = piece_count, .self = c };
        CIP_TRY(
            cip_blz_new_space(c->blz->layout, &t, c->each, c->space->len, &c->rows->space, err));
        x->in_superchunks = how;
        x->least = c->meta.shape[0];
    }
    if (kind == CIP_CHANGE_SHAPE && shape[0] > x->least)
        CIP_TRY(make_fill(u, c, &out->fill, err));
    else if (shape != NULL && shape[0] < x->least)
        x->least = shape[0];
    cip_bp_form(x->in_superchunks, c->rows->dtype, &out->form);
    out->form.sum_id = CIP_SUM_NONE; /* each superchunk has digests of its own kind, or none */
    out->form.caps = x->takes ? CIP_FORM_TAKES : 0;
    return CIP_OK;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Rows of all columns that are left or come. */
static cip_status rows_now(const cip_blz_state *u, int64_t *rows, cip_err *err)
{
    const size_t n = u->b->ncolumn + u->ncame;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        int64_t own;
        if (!cip_blz_rows_now(u, i, &own))
            continue;
        if (any && own != *rows)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected fields of %" PRId64 " rows, found one with %" PRId64, *rows,
                            own);
        *rows = own;
        any = true;
    }
    return CIP_OK;
}

/* Folders that go or move come first: what comes may take their files' names. */
cip_status cip_blz_document_finish(cip_blz_state *u, cip_revision *r, cip_err *err)
{
    const cip_blz *b = u->b;
    const cip_node *dtype;
    cip_blz_meta now;
    int64_t delta = 0, gone = 0, rows = 0;
    const bool fields = cip_blz_changes_fields(u);
    if (b->ncolumn == 0)
        return CIP_OK;
    now = b->column[0]->meta;
    now.dtype = b->column[0]->array->dtype;
    CIP_TRY(rows_now(u, &rows, err));
    if (fields) {
        CIP_TRY(cip_blz_fields_now(u, &dtype, &now, err));
        CIP_TRY(cip_blz_move_fields(u, r, &gone, err));
    }
    for (size_t i = 0; i < b->ncolumn; i++)
        if (u->column[i].chunks != NULL && !u->column[i].gone)
            CIP_TRY(cip_fail_in(err, cip_blz_supers_finish(u, i, r, &delta, err), "%s",
                                b->column[i]->dir));
    CIP_TRY(cip_blz_put_came(u, &delta, err));
    delta -= gone;
    if (delta != 0 || rows != b->column[0]->meta.shape[0] ||
        now.dtype->itemsize != b->column[0]->array->dtype->itemsize) {
        /* What meta/sizes says of the bytes of all chunks goes on from there, right or wrong. */
        const cip_node *was = cip_map_get(b->column[0]->meta.sizes, "cbytes");
        int64_t cbytes;
        const bool said = was != NULL && cip_node_as_int(was, &cbytes);
        if (said)
            cbytes = cbytes + delta > 0 ? cbytes + delta : 0;
        CIP_TRY(cip_blz_put_sizes(u, 0, rows, now.dtype->itemsize, said ? &cbytes : NULL, r, err));
    }
    return fields ? cip_blz_put_storage(u, r, err) : CIP_OK;
}
