/* SPDX-License-Identifier: BSD-3-Clause
 * Columns that come to a table, fields that come to the records of superchunks. Each is made as one
 * of a new folder, in the form of those that are there, by a state of its own. Its chunks wait in
 * the update's temporary file, where they are read and changed as those of the folder are. At the
 * end it is written as a column of a new folder is, from its chunks as they are by then. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_update.h"
#include "format/one_array.h"
#include "io/temporary.h"

/* --- what may come ---------------------------------------------------------------------------- */

static cip_status expect_columns(const cip_blz *b, cip_err *err)
{
    if (b->table)
        return CIP_OK;
    if (!b->document || (b->ncolumn != 0 && b->column[0]->array->dtype->kind != CIP_RECORD))
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "columns can be added only to a table or to records; the folder is one array");
    const cip_node *d = b->ncolumn != 0 ? cip_map_get(b->column[0]->meta.storage, "dtype") : NULL;
    if (d != NULL && d->type == CIP_NODE_SEQ)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected records with fields, which meta/storage lists");
}

static cip_status too_many(size_t most, const char *what, cip_err *err)
{
    return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected at most %zu %s, found more", most,
                    what);
}

/* As many rows as the table; of records all their axes. Columns that change in this update are
 * looked at in the end. */
static cip_status check_shape(const cip_blz_state *u, const cip_spec_array *a, cip_err *err)
{
    const int32_t ndim = u->b->document ? u->b->column[0]->meta.ndim : 1;
    if (a->ndim < ndim)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at least the %d axes of the records, found %d", (int)ndim,
                        (int)a->ndim);
    for (size_t i = 0; i < u->b->ncolumn; i++) {
        const cip_blz_changed *x = &u->column[i];
        const int64_t *has = u->b->column[i]->meta.shape;
        int64_t rows;
        if (!cip_blz_rows_now(u, i, &rows))
            continue;
        for (int32_t k = x->how != NULL || x->in_superchunks != NULL; k < ndim; k++)
            if (a->shape[k] != has[k])
                return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                "expected %" PRId64
                                " rows%s, as in the other columns, found %" PRId64,
                                has[k], k == 0 ? "" : " along another axis", a->shape[k]);
    }
    return CIP_OK;
}

cip_status cip_blz_check_came(const cip_blz_state *u, cip_err *err)
{
    /* The first column, and the first that has not as many rows. */
    size_t first = SIZE_MAX, other = SIZE_MAX;
    int64_t most = 0, rows;
    for (size_t k = 0; k < u->b->ncolumn + u->ncame; k++) {
        if (!cip_blz_rows_now(u, k, &rows))
            continue;
        const size_t i = first != SIZE_MAX && rows != most ? first : other;
        int64_t others;
        if (k >= u->b->ncolumn && i != SIZE_MAX && cip_blz_rows_now(u, i, &others))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected columns of one length, '%.80s' would have %" PRId64
                            " rows and '%.80s' %" PRId64,
                            cip_blz_name_now(u, k), rows,
                            u->b->document ? "the records" : cip_blz_name_now(u, i), others);
        if (first == SIZE_MAX) {
            first = k;
            most = rows;
        } else if (rows != most && other == SIZE_MAX) {
            other = k;
        }
    }
    return CIP_OK;
}

static uint64_t parts_of(const cip_blz_writer *w)
{
    uint64_t n = 0;
    for (size_t k = 0; k < w->ncolumn; k++)
        n += w->column[k].from != NULL ? w->column[k].from->npart : 1;
    return n;
}

/* Bytes that one that comes has of a record. */
static uint64_t record_of(const cip_blz_meta *m, const cip_blz_coming *x)
{
    uint64_t n = x->w.dtype->itemsize;
    for (int32_t k = m->ndim; k < x->array.ndim; k++)
        n *= (uint64_t)x->array.shape[k]; /* fits: the array does */
    return n;
}

/* Whether the records can be read again: blz_meta.c, blz_document.c. */
static cip_status check_records(cip_blz_state *u, const cip_blz_coming *x, cip_err *err)
{
    const cip_blz_meta *m = &u->b->column[0]->meta;
    const cip_node *dtype;
    cip_blz_meta now;
    uint64_t item = record_of(m, x), row, all, chunk, parts = parts_of(&x->w);
    if (u->ncame == 0) /* the fields that are there can be listed again */
        CIP_TRY(cip_blz_fields_now(u, &dtype, &now, err));
    for (size_t i = 0; i < x->w.ncolumn; i++)
        if (x->w.column[i].chunklen != m->chunklen)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected %" PRId64 " rows to make a chunk, found rows of %" PRIu64
                            " bytes",
                            m->chunklen, x->w.column[i].row);
    for (size_t i = 0; i < u->b->ncolumn; i++) {
        const cip_record_column *c = &u->b->column[i]->in_records;
        item += u->column[i].gone ? 0 : c->row; /* records are packed */
        parts += c->npart;
    }
    for (size_t i = 0; i < u->ncame; i++) {
        item += u->came[i].gone ? 0 : record_of(m, u->came[i].x);
        parts += parts_of(&u->came[i].x->w);
    }
    row = item;
    for (int32_t k = 1; k < m->ndim; k++)
        if (cip_mul_overflow(row, (uint64_t)m->shape[k], &row))
            row = UINT64_MAX;
    if (cip_mul_overflow(row, (uint64_t)x->array.shape[0], &all) || all > INT64_MAX ||
        cip_mul_overflow(row, (uint64_t)m->chunklen, &chunk) || chunk > INT32_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected %" PRId64 " records below 2^31 bytes, found records of %" PRIu64,
                        m->chunklen, item);
    return parts <= CIP_BLZ_MAX_PARTS ? CIP_OK
                                      : too_many(CIP_BLZ_MAX_PARTS, "parts of records", err);
}

/* --- as the others are ------------------------------------------------------------------------ */

static cip_status like_document(cip_blz_state *u, const cip_spec_array *a, cip_blz_like *like,
                                cip_err *err)
{
    cip_blz_column *c = u->b->column[0];
    cip_bp_how how;
    bool takes;
    uint64_t n;
    like->chunklen = c->meta.chunklen;
    CIP_TRY(cip_blz_keep_chunklen(&u->spec, a, like->chunklen, err));
    CIP_TRY(cip_blz_document_how(u, c, &how, &takes, err));
    like->blosc = how.blosc;
    like->super.sum = how.sum;
    CIP_TRY(cip_blz_super_like(c, &like->super, err));
    if (c->per == 0 && c->data != NULL) /* then all superchunks are known */
        CIP_TRY(c->data->table.count(c->data->table.self, &n, err));
    like->super.per = cip_blz_super_nominal(c);
    n = cip_div_up((uint64_t)a->shape[0], (uint64_t)like->chunklen);
    /* The shards that `nsuper` superchunks are dealt to. */
    uint64_t nsuper = cip_div_up(n, like->super.per);
    cip_blz_super_how *out = &like->super;
    const cip_blz *b = u->b;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &out->shard, b->nshard, err));
    for (size_t s = 0; s < b->nshard; s++) {
        const char *dir = b->shard[s].dir;
        char *name;
        if (!cip_blz_is_dealt_to(b, s))
            continue;
        if (out->nshard < nsuper)
            CIP_TRY(cip_blz_expect_within(&b->shard[s], out->nshard + 1, err));
        CIP_TRY(cip_arena_copy(u->arena, dir, dir[0] != '\0' ? strlen(dir) - 1 : 0, &name, err));
        out->shard[out->nshard++] = name;
    }
    return CIP_OK;
}

/* --- one that comes --------------------------------------------------------------------------- */

/* x->array, in columns as those of a new folder; x->w has env, arena and out. */
static cip_status make_columns(cip_blz_state *u, cip_blz_coming *x, cip_array_form *form,
                               cip_err *err)
{
    cip_blz_kind kind = CIP_BLZ_DOCUMENT;
    if (!u->b->document)
        kind = strcmp(u->b->layout->version, "BLZ") == 0 ? CIP_BLZ_DIR : CIP_BLZ_BCOLZ;
    x->spec = u->spec;
    x->spec.array = &x->array;
    x->spec.narray = 1;
    x->spec.kind = kind != CIP_BLZ_DOCUMENT ? cip_blz_kinds[kind - 1].name : NULL;
    x->w.spec = &x->spec;
    x->w.kind = kind;
    x->w.named = true;
    x->w.like = &x->like;
    CIP_TRY(cip_blz_choose_kind(&x->spec, &kind, err));
    cip_blz_usual_blosc(kind, &x->like.blosc);
    if (u->b->document)
        CIP_TRY(like_document(u, &x->array, &x->like, err));
    for (size_t i = 0; !u->b->document && i < u->b->ncolumn; i++) {
        const cip_blz_column *c = u->b->column[i];
        if (c->array->st != CIP_OK) /* of Python objects too, each a chunk of its own */
            continue;
        cip_blz_blosc_of(c, &x->like.blosc);
        x->like.chunklen = c->meta.chunklen;
        break;
    }
    return cip_blz_make_columns(&x->w, form, err);
}

static cip_status expect_free(cip_blz_state *u, const cip_blz_coming *x, cip_err *err)
{
    return u->b->document ? cip_blz_expect_no_field(u, x->name, true, err)
                          : cip_blz_expect_free(u, x->name, true, err);
}

cip_status cip_blz_coming_begin(cip_blz_state *s, cip_array_form *form, cip_err *err)
{
    cip_blz_state *u = s->coming->update;
    cip_blz_coming *x = &s->own;
    cip_blz_found f;
    x->array = s->spec.array[0];
    x->array.path = s->coming->path;
    x->w.env = s->env;
    x->w.arena = s->arena;
    CIP_TRY(expect_columns(u->b, err));
    CIP_TRY(cip_blz_keep_form(&u->spec, &x->array, err));
    /* The folder has no more columns than it is opened with. */
    size_t n = u->b->ncolumn + (u->b->document ? cip_blz_count_columns(x->array.dtype) : 1);
    for (size_t i = 0; i < u->ncame; i++)
        n += u->came[i].gone ? 0 : u->came[i].x->w.ncolumn;
    if (n > CIP_BLZ_MAX_COLUMNS)
        CIP_TRY(too_many(CIP_BLZ_MAX_COLUMNS, "columns", err));
    CIP_TRY(check_shape(u, &x->array, err));
    CIP_TRY(cip_blz_column_name(s->arena, x->array.path,
                                u->b->document ? CIP_BLZ_DOCUMENT : CIP_BLZ_DIR, &x->name, err));
    const bool there = u->b->document
                           ? cip_blz_find_field(u, x->array.path, &f)
                           : cip_blz_find_column(u, x->array.path) < u->b->ncolumn + u->ncame;
    if (!s->coming->replace || !there)
        CIP_TRY(expect_free(u, x, err));
    CIP_TRY(make_columns(u, x, form, err));
    return u->b->document ? check_records(u, x, err) : CIP_OK;
}

cip_status cip_blz_coming_store(cip_blz_state *s, cip_blz_new *c, const cip_bp_piece *p,
                                cip_err *err)
{
    cip_io *to = ((cip_blz_state *)s->coming->update)->temporary;
    cip_bp_piece waits = *p;
    waits.bytes = (cip_segment){ .io = to, .off = to->size, .len = p->bytes.len };
    CIP_TRY(cip_temporary_write(to, to->size, p->bytes.ptr, (size_t)p->bytes.len, err));
    c->cbytes += p->bytes.len;
    c->waiting.mem = &s->env->mem;
    return cip_buf_add(&c->waiting, &waits, sizeof waits, err);
}

/* --- as an array ------------------------------------------------------------------------------ */

static const cip_bp_piece *waiting(const cip_blz_new *c, uint64_t i)
{
    return (const cip_bp_piece *)(const void *)c->waiting.ptr + i;
}

static cip_status waiting_count(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((const cip_blz_new *)self)->waiting.len / sizeof(cip_bp_piece);
    return CIP_OK;
}

static cip_status waiting_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const cip_blz_new *c = self;
    (void)err;
    for (size_t k = 0; k < n; k++, i++) {
        const cip_bp_piece *p = waiting(c, i);
        out[k] = (cip_chunk){ .raw_off = i * c->form.chunk_nbytes,
                              .raw_len = p->raw_len,
                              .run = 1,
                              .state = CIP_CHUNK_DATA,
                              .at = { c->in, p->bytes.off, p->bytes.len } };
    }
    return CIP_OK;
}

/* Of the document's: as many bytes as each record has of the column. */
static cip_status describe_rows(const cip_blz_state *u, const cip_blz_coming *x, cip_blz_new *c,
                                cip_err *err)
{
    const cip_blz_meta *m = &u->b->column[0]->meta;
    cip_array *a = c->rows;
    int64_t shape[CIP_MAX_NDIM];
    uint64_t row = c->from != NULL ? c->from->row : c->dtype->itemsize;
    memcpy(shape, m->shape, sizeof shape);
    shape[0] = x->array.shape[0];
    for (int32_t k = m->ndim; k < x->array.ndim; k++)
        row *= (uint64_t)x->array.shape[k]; /* fits: the array does */
    a->path = c->dir;
    CIP_TRY(cip_dtype_opaque(&x->seen->arena, row, "row", &a->dtype, err));
    c->form.dtype = a->dtype;
    return cip_view_c_order(m->ndim, shape, row, &a->view, err);
}

static cip_status describe_column(const cip_blz_coming *x, cip_blz_new *c, cip_err *err)
{
    cip_array *a = c->rows;
    int64_t *chunk;
    CIP_TRY(CIP_ARENA_NEW(&x->seen->arena, &chunk, (size_t)c->ndim, err));
    memcpy(chunk, c->shape, (size_t)c->ndim * sizeof *chunk);
    chunk[0] = c->chunklen;
    a->path = x->array.path;
    a->dtype = c->dtype;
    a->storage =
        (cip_storage){ .kind = CIP_STORAGE_OWN,
                       .own = "chunk files",
                       .codec = x->w.kind == CIP_BLZ_BCOLZ ? cip_blosc_codec_name(c->blosc.compcode)
                                                           : "blosc",
                       .nbytes = c->cbytes,
                       .chunk = chunk,
                       .block = -1 };
    return cip_view_c_order(c->ndim, c->shape, a->dtype->itemsize, &a->view, err);
}

static cip_status see(cip_blz_state *s, cip_err *err)
{
    const cip_blz_state *u = s->coming->update;
    cip_blz_coming *x = &s->own;
    cip_space *in;
    CIP_TRY(cip_layout_new_child(u->b->layout, u->temporary, &x->seen, err));
    CIP_TRY(cip_space_new_file(x->seen, u->temporary, &in, err));
    for (size_t k = 0; k < x->w.ncolumn; k++) {
        cip_blz_new *c = &x->w.column[k];
        const cip_table t = { .at = waiting_at, .count = waiting_count, .self = c };
        if (u->b->document)
            CIP_TRY(CIP_ARENA_NEW(&x->seen->arena, &c->rows, 1, err));
        else
            CIP_TRY(cip_layout_add_array(x->seen, true, &c->rows, err));
        c->in = in;
        c->rows->layout = x->seen;
        CIP_TRY(u->b->document ? describe_rows(u, x, c, err) : describe_column(x, c, err));
        CIP_TRY(
            cip_blz_new_space(x->seen, &t, c->form.chunk_nbytes, c->nbytes, &c->rows->space, err));
    }
    return CIP_OK;
}

/* What it takes the place of goes. */
static cip_status replace(cip_blz_state *u, const char *path, size_t *place, cip_err *err)
{
    const size_t i = u->b->document ? SIZE_MAX : cip_blz_find_column(u, path);
    cip_blz_found f;
    if (i < u->b->ncolumn + u->ncame) {
        *place = i;
        return cip_blz_remove_column(u, i, true, err);
    }
    return u->b->document && cip_blz_find_field(u, path, &f)
               ? cip_blz_remove_field(u, &f, true, err)
               : CIP_OK;
}

/* Something else may have come since it was asked for. */
cip_status cip_blz_coming_finish(cip_blz_state *s, cip_err *err)
{
    cip_blz_state *u = s->coming->update;
    cip_blz_coming *x = &s->own;
    cip_blz_came came = { .x = x, .name = x->name, .place = SIZE_MAX };
    CIP_TRY(see(s, err));
    if (u->b->table)
        CIP_TRY(cip_blz_attributes_of(u, x->array.path, &came.attributes, err));
    CIP_TRY(cip_blz_keep(u, err));
    CIP_TRY(CIP_ARENA_ROOM(u->arena, &u->came, u->ncame, &u->came_cap, err));
    came.gone = true; /* not to be found itself */
    u->came[u->ncame] = came;
    CIP_TRY(s->coming->replace ? replace(u, x->array.path, &u->came[u->ncame].place, err)
                               : expect_free(u, x, err));
    u->came[u->ncame++].gone = false;
    u->records = NULL;
    s->coming->seen = x->seen;
    s->coming->array = u->b->document ? NULL : x->w.column[0].rows;
    return CIP_OK;
}

/* --- the end ---------------------------------------------------------------------------------- */

cip_blz_new *cip_blz_find_came(const cip_blz_state *u, const cip_array *rows)
{
    for (size_t i = 0; i < u->ncame; i++)
        for (size_t k = 0; k < u->came[i].x->w.ncolumn; k++)
            if (u->came[i].x->w.column[k].rows == rows)
                return &u->came[i].x->w.column[k];
    return NULL;
}

static cip_status put_chunks(cip_blz_writer *w, cip_blz_new *to, const cip_blz_new *from,
                             cip_err *err)
{
    const cip_chunk_changes *x = from->changes;
    const uint64_t n =
        x != NULL ? cip_chunk_changes_count(x) : from->waiting.len / sizeof(cip_bp_piece);
    for (uint64_t i = 0; i < n; i++) {
        cip_chunk_now now = { .from = i };
        cip_bp_piece p;
        if (x != NULL)
            cip_chunk_changes_at(x, i, &now);
        p = now.from != UINT64_MAX ? *waiting(from, now.from) : cip_bp_piece_made(&now.chunk);
        CIP_TRY(cip_blz_store_chunk(w, to, &p, err));
    }
    return CIP_OK;
}

/* Under the name and with the rows that it has by now. */
static cip_status put_one(cip_blz_state *u, size_t i, int64_t *cbytes, cip_err *err)
{
    const cip_blz_came *came = &u->came[i];
    const cip_blz_writer *was = &came->x->w;
    const cip_node *root = u->tree.root;
    const cip_node *attributes =
        u->b->table && root != NULL ? cip_tree_get(root, u->b->key[1], NULL) : NULL;
    cip_blz_coming x = { .w = { .env = u->env, .arena = u->arena, .out = u->out } };
    cip_array_form form = { .dtype = NULL };
    int64_t shape[CIP_MAX_NDIM];
    x.array = came->x->array;
    memcpy(shape, x.array.shape, (size_t)x.array.ndim * sizeof *shape);
    cip_blz_rows_now(u, u->b->ncolumn + i, &shape[0]);
    x.array.shape = shape;
    x.array.path = came->name == came->x->name ? x.array.path : came->name;
    CIP_TRY(make_columns(u, &x, &form, err));
    cip_status st = CIP_OK;
    for (size_t k = 0; k < x.w.ncolumn && st == CIP_OK; k++) {
        st = put_chunks(&x.w, &x.w.column[k], &was->column[k], err);
        *cbytes += (int64_t)x.w.column[k].cbytes;
    }
    if (st == CIP_OK && u->b->table)
        st = cip_blz_put_columns_meta(&x.w, attributes, err);
    for (size_t k = 0; k < x.w.ncolumn; k++)
        cip_buf_clear(&x.w.column[k].file.places);
    return st;
}

cip_status cip_blz_put_came(cip_blz_state *u, int64_t *cbytes, cip_err *err)
{
    for (size_t i = 0; i < u->ncame; i++)
        if (!u->came[i].gone)
            CIP_TRY(cip_fail_in(err, put_one(u, i, cbytes, err), "%s", u->came[i].name));
    return CIP_OK;
}
