/* SPDX-License-Identifier: BSD-3-Clause
 * Columns that come to a table, fields that come to the records of superchunks. Each is written as
 * one of a new folder, in the form of those that are there; that it is there is said at the end. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_update.h"
#include "format/one_array.h"
#include "tree/json_read.h"

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

cip_status cip_blz_check_coming(const cip_blz_state *u, cip_err *err)
{
    for (size_t k = 0; k < u->ncoming; k++) {
        const cip_blz_coming *x = u->coming[k];
        CIP_TRY(cip_blz_check_ended(&x->w, err));
        for (size_t i = 0; i < u->b->ncolumn; i++) {
            int64_t rows;
            if (cip_blz_rows_now(u, i, &rows) && rows != x->rows)
                return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                "expected columns of one length, '%.80s' would have %" PRId64
                                " rows and '%.80s' %" PRId64,
                                x->name, x->rows, u->b->column[i]->array->path, rows);
        }
    }
    return CIP_OK;
}

/* --- names ------------------------------------------------------------------------------------ */

/* A field's folder may be that of one who left it. */
static cip_status expect_no_folder(const cip_blz_state *u, const char *name, cip_err *err)
{
    cip_blz *b = u->b;
    cip_buf found = { .mem = &u->env->mem };
    cip_status st = CIP_OK;
    for (uint32_t s = 0; s < b->nshard && st == CIP_OK; s++) {
        char *dir;
        found.len = 0;
        st = cip_arena_printf(u->arena, &dir, err, "%sdata", b->shard[s].dir);
        if (st == CIP_OK)
            st = cip_blz_list_folder(b, s, dir, &found, err);
        const cip_blz_entry *e = (const cip_blz_entry *)(const void *)found.ptr;
        for (size_t i = 0; st == CIP_OK && i < found.len / sizeof *e; i++)
            if (cip_blz_stands_for(e[i].name, name))
                st = cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.80s/%.80s' exists", dir,
                              e[i].name);
    }
    cip_buf_clear(&found);
    return st;
}

/* A field behind the others; *records are then as they become. */
static cip_status add_field(const cip_blz_state *u, const cip_spec_array *a, char *name,
                            const cip_dtype **records, cip_err *err)
{
    const cip_dtype *was = u->records != NULL ? u->records : u->b->column[0]->array->dtype;
    const int32_t ndim = u->b->column[0]->meta.ndim;
    cip_field *f;
    if (cip_dtype_find_field(was, name, strlen(name)) != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "the field '%.80s' exists", name);
    if (cip_blz_changes_fields(u))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "fields were moved or removed in this update; commit it first");
    CIP_TRY(expect_no_folder(u, name, err));
    CIP_TRY(CIP_ARENA_NEW(u->arena, &f, was->nfield + 1, err));
    memcpy(f, was->field, was->nfield * sizeof *f);
    f[was->nfield].name = name;
    f[was->nfield].ndim = a->ndim - ndim;
    f[was->nfield].shape = a->shape + ndim;
    CIP_TRY(cip_numpy_stored(u->arena, &u->spec, a->dtype, &f[was->nfield].dtype, err));
    return cip_dtype_record(u->arena, was->nfield + 1, f, true, 0, records, err);
}

/* --- as the others are ------------------------------------------------------------------------ */

static void like_table(const cip_blz_state *u, cip_blz_kind kind, cip_blz_like *like)
{
    cip_blz_usual_blosc(kind, &like->blosc);
    for (size_t i = 0; i < u->b->ncolumn; i++) {
        const cip_blz_column *c = u->b->column[i];
        if (c->array->st != CIP_OK) /* of Python objects too, each a chunk of its own */
            continue;
        cip_blz_blosc_of(c, &like->blosc);
        like->chunklen = c->meta.chunklen;
        return;
    }
}

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

static uint64_t count_parts(const cip_blz_state *u)
{
    uint64_t n = 0;
    for (size_t i = 0; i < u->b->ncolumn; i++)
        n += u->b->column[i]->in_records.npart;
    for (size_t i = 0; i < u->ncoming; i++)
        for (size_t k = 0; k < u->coming[i]->w.ncolumn; k++) {
            const cip_record_column *from = u->coming[i]->w.column[k].from;
            n += from != NULL ? from->npart : 1;
        }
    return n;
}

/* Whether the records can be read again: blz_meta.c, blz_document.c. */
static cip_status check_records(const cip_blz_state *u, const cip_blz_coming *x, cip_err *err)
{
    const cip_blz_meta *m = &u->b->column[0]->meta;
    uint64_t row = u->records->itemsize, all, chunk;
    for (size_t i = 0; i < x->w.ncolumn; i++)
        if (x->w.column[i].chunklen != m->chunklen)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected %" PRId64 " rows to make a chunk, found rows of %" PRIu64
                            " bytes",
                            m->chunklen, x->w.column[i].row);
    for (int32_t k = 1; k < m->ndim; k++)
        if (cip_mul_overflow(row, (uint64_t)m->shape[k], &row))
            row = UINT64_MAX;
    if (cip_mul_overflow(row, (uint64_t)m->shape[0], &all) || all > INT64_MAX ||
        cip_mul_overflow(row, (uint64_t)m->chunklen, &chunk) || chunk > INT32_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected %" PRId64 " records below 2^31 bytes, found records of %" PRIu64,
                        m->chunklen, u->records->itemsize);
    return count_parts(u) <= CIP_BLZ_MAX_PARTS
               ? CIP_OK
               : too_many(CIP_BLZ_MAX_PARTS, "parts of records", err);
}

/* --- one that comes --------------------------------------------------------------------------- */

cip_status cip_blz_new_coming(cip_blz_state *u, cip_blz_coming **out, cip_err *err)
{
    cip_blz_coming *x;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &x, 1, err));
    CIP_TRY(CIP_ARENA_ROOM(u->arena, &u->coming, u->ncoming, &u->coming_cap, err));
    x->spec = u->spec;
    x->w = (cip_blz_writer){ .env = u->env,
                             .arena = u->arena,
                             .spec = &x->spec,
                             .out = u->out,
                             .number = (u->ncoming + 1) * CIP_BLZ_MAX_COLUMNS };
    u->coming[u->ncoming] = *out = x;
    return CIP_OK;
}

static cip_status begin_coming(cip_blz_state *u, const cip_spec_array *a, cip_blz_coming **out,
                               cip_err *err)
{
    cip_blz_coming *x;
    cip_blz_kind kind = CIP_BLZ_DOCUMENT;
    if (!u->b->document)
        kind = strcmp(u->b->layout->version, "BLZ") == 0 ? CIP_BLZ_DIR : CIP_BLZ_BCOLZ;
    CIP_TRY(cip_blz_new_coming(u, &x, err));
    x->rows = a->shape[0];
    x->spec.array = a;
    x->spec.narray = 1;
    x->spec.kind = kind != CIP_BLZ_DOCUMENT ? cip_blz_kinds[kind - 1].name : NULL;
    x->w.kind = kind;
    x->w.named = true;
    x->w.like = &x->like;
    CIP_TRY(cip_blz_column_name(u->arena, a->path, kind, &x->name, err));
    *out = x;
    return cip_blz_choose_kind(&x->spec, &kind, err);
}

/* The column did not come. */
static void drop_coming(void *self, const void *kept, size_t n)
{
    cip_blz_coming *x = self;
    (void)kept;
    (void)n;
    for (size_t k = 0; k < x->w.ncolumn; k++)
        cip_buf_clear(&x->w.column[k].file.places);
}

cip_status cip_blz_update_add(void *state, const cip_spec_array *a, cip_array_form *form,
                              cip_err *err)
{
    cip_blz_state *u = state;
    const bool document = u->b->document;
    const cip_dtype *records = NULL;
    cip_blz_coming *x;
    CIP_TRY(expect_columns(u->b, err));
    CIP_TRY(cip_blz_keep_form(&u->spec, a, err));
    /* The folder has no more columns than it is opened with. */
    size_t n = u->b->ncolumn + (u->b->document ? cip_blz_count_columns(a->dtype) : 1);
    for (size_t i = 0; i < u->ncoming; i++)
        n += u->coming[i]->w.ncolumn;
    if (n > CIP_BLZ_MAX_COLUMNS)
        CIP_TRY(too_many(CIP_BLZ_MAX_COLUMNS, "columns", err));
    CIP_TRY(check_shape(u, a, err));
    CIP_TRY(cip_undo_keep(u->undo, u, sizeof *u, err));
    CIP_TRY(begin_coming(u, a, &x, err));
    const cip_bytes none = { NULL, 0 };
    CIP_TRY(cip_undo_add(u->undo, drop_coming, x, none, none, err));
    CIP_TRY(document ? add_field(u, a, x->name, &records, err)
                     : cip_blz_expect_free(u, x->name, err));
    if (document)
        CIP_TRY(like_document(u, a, &x->like, err));
    else
        like_table(u, x->w.kind, &x->like);
    CIP_TRY(cip_blz_make_columns(&x->w, form, err));
    u->ncoming++;
    u->records = records;
    return document ? check_records(u, x, err) : CIP_OK;
}

/* --- meta/storage of records ------------------------------------------------------------------ */

/* What JSON says of the records: their types, their zeros. */
static cip_status as_json(cip_blz_state *u, const cip_dtype *d, bool zero, const cip_node **out,
                          cip_err *err)
{
    const cip_json_source from = { .env = u->env, .arena = u->arena };
    cip_buf text = { .mem = &u->env->mem };
    cip_node *n = NULL;
    cip_status st = zero ? cip_blz_zero_json(&text, d, CIP_BLZ_DOCUMENT, err)
                         : cip_blz_descr_json(&text, d, err);
    if (st == CIP_OK)
        st = cip_json_read(&from, (cip_bytes){ text.ptr, text.len }, &n, err);
    cip_buf_clear(&text);
    *out = n;
    return st;
}

cip_status cip_blz_put_fields(cip_blz_state *u, cip_revision *r, cip_err *err)
{
    const cip_blz_meta *m = &u->b->column[0]->meta;
    const cip_dtype *was = u->b->column[0]->array->dtype, *fields;
    const cip_node *dtype, *dflt;
    cip_build b = { .arena = u->arena };
    CIP_TRY(cip_dtype_record(u->arena, u->ncoming, u->records->field + was->nfield, true, 0,
                             &fields, err));
    CIP_TRY(as_json(u, fields, false, &dtype, err));
    /* Items of a list behind those of another. */
    const cip_node *list = cip_map_get(m->storage, "dtype");
    cip_node *seq;
    CIP_TRY(cip_node_new_seq(u->arena, list->len + dtype->len, &seq, err));
    for (uint32_t i = 0; i < list->len + dtype->len; i++)
        cip_node_set_item(seq, i, i < list->len ? list->item[i] : dtype->item[i - list->len]);
    dtype = seq;
    CIP_TRY(as_json(u, fields, true, &dflt, err));
    CIP_TRY(cip_blz_dflt_with(u->arena, m, was, dflt, &dflt, err));
    CIP_TRY(cip_build_set(&b, "", m->storage, err));
    CIP_TRY(cip_build_set(&b, "dtype", dtype, err));
    if (dflt != NULL)
        CIP_TRY(cip_build_set(&b, "dflt", dflt, err));
    CIP_TRY(cip_blz_put_json(u, r, "meta/storage", b.root, err));
    return cip_revision_switch(r, "meta/storage", err);
}
