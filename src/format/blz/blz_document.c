/* SPDX-License-Identifier: BSD-3-Clause
 * The folder as BLZ's document has it: superchunks in data/, of records a folder for each field, at
 * any depth; and in other folders of the same names, the shards. Names are listed when the folder
 * is opened, files are not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/num.h"
#include "format/blz/blz.h"
#include "io/file_io.h"

typedef struct entries {
    cip_blz_entry *at;
    size_t n;
    cip_strmap folder; /* by the name of the field that it stands for: the first one */
} entries;

/* --- superchunks ------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    const cip_blz_entry *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->shard < y->shard ? -1 : x->shard > y->shard;
}

/* dirs: of each shard the folder, with a slash at the end; NULL: it has none. */
static cip_status same_file(cip_blz *b, const char *const *dirs, const cip_blz_entry *x,
                            const cip_blz_entry *y, bool *same, cip_err *err)
{
    const cip_blz_entry *e[2] = { x, y };
    struct stat st[2];
    *same = true;
    for (int i = 0; i < 2; i++) {
        char path[CIP_IO_NUMBER_NAME];
        cip_io *of = b->shard[e[i]->shard].of, *io;
        snprintf(path, sizeof path, "%s%s", dirs[e[i]->shard], e[i]->name);
        CIP_TRY(cip_io_open_beneath(of != NULL ? of : b->layout->io, path, cip_blz_flags(b->layout),
                                    &io, err));
        *same = cip_io_stat(io, &st[i]) && *same;
        cip_io_close(io);
    }
    *same = *same && st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino;
    return CIP_OK;
}

/* Two files of one number are an error, unless they are the same one. */
static cip_status drop_twins(cip_blz *b, const char *const *dirs, entries *e, cip_err *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->n; i++) {
        bool same = false;
        const cip_blz_entry *was = kept == 0 ? NULL : &e->at[kept - 1];
        if (was != NULL && was->number == e->at[i].number) {
            CIP_TRY(same_file(b, dirs, was, &e->at[i], &same, err));
            if (!same)
                return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                                "two superchunks have one number: '%.100s%.60s' and '%.100s%.60s'",
                                dirs[was->shard], was->name, dirs[e->at[i].shard], e->at[i].name);
        }
        if (!same)
            e->at[kept++] = e->at[i];
    }
    e->n = kept;
    return CIP_OK;
}

/* The superchunks among the entries become the column's. */
static cip_status take_files(cip_blz_column *c, const char *const *dirs, entries *e, cip_err *err)
{
    cip_blz *b = c->blz;
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        if (e->at[i].number != 0)
            e->at[n++] = e->at[i];
    e->n = n;
    if (n > 1)
        qsort(e->at, n, sizeof *e->at, by_number);
    CIP_TRY(drop_twins(b, dirs, e, err));
    CIP_TRY(CIP_ARENA_NEW(&b->layout->arena, &c->super, e->n, err));
    c->nsuper = e->n;
    for (size_t i = 0; i < e->n; i++) {
        const cip_blz_files file = { .number = e->at[i].number,
                                     .of = b->shard[e->at[i].shard].of,
                                     .dir = dirs[e->at[i].shard],
                                     .super = true };
        c->super[i].number = e->at[i].number;
        CIP_TRY(cip_blz_add_files(b, &file, 1, &c->super[i].member, err));
    }
    return CIP_OK;
}

/* --- columns ---------------------------------------------------------------------------------- */

typedef struct opening {
    cip_blz *b;
    cip_array *array;
    cip_blz_meta meta; /* of the whole array */
    uint64_t per;
    cip_buf columns; /* of cip_record_column */
    uint64_t nparts;
    size_t ncolumn; /* that there will be */
} opening;

static cip_status list_all(cip_blz *b, const char *const *dirs, cip_buf *out, cip_err *err)
{
    for (uint32_t s = 0; s < b->nshard; s++) {
        char path[CIP_IO_NUMBER_NAME];
        if (dirs[s] == NULL)
            continue;
        size_t n = strlen(dirs[s]);
        if (n > sizeof path)
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a path of %zu bytes", n);
        memcpy(path, dirs[s], n);
        path[n - 1] = '\0'; /* the slash */
        CIP_TRY(cip_blz_list_folder(b, s, path, out, err));
    }
    return CIP_OK;
}

/* `leaf`: of one element of the column; `pieces` times it lies in a record. */
static cip_status new_column(opening *o, const cip_dtype *leaf, uint64_t per_record,
                             cip_blz_column **out, cip_err *err)
{
    cip_blz *b = o->b;
    cip_blz_column *c;
    CIP_TRY(CIP_ARENA_NEW(&b->layout->arena, &c, 1, err));
    if (b->column == NULL)
        CIP_TRY(CIP_ARENA_NEW(&b->layout->arena, &b->column, o->ncolumn, err));
    *c = (cip_blz_column){
        .blz = b, .dir = "", .array = o->array, .meta = o->meta, .document = true, .per = o->per
    };
    c->meta.dtype = leaf;
    c->meta.row = per_record;
    for (int32_t k = 1; k < o->meta.ndim; k++)
        c->meta.row *=
            (uint64_t)o->meta.shape[k]; /* no more than the record's, which was checked */
    pthread_mutex_init(&c->lock, NULL);
    b->column[b->ncolumn++] = c;
    *out = c;
    return CIP_OK;
}

static cip_status add_leaf(opening *o, const cip_dtype *leaf, const cip_blz_piece *p,
                           const char *const *dirs, entries *e, cip_err *err)
{
    cip_record_column rc = { .npart = 0 };
    cip_blz_column *c;
    CIP_TRY(cip_blz_make_parts(&o->b->layout->arena, p, &o->nparts, &rc, err));
    CIP_TRY(new_column(o, leaf, rc.row, &c, err));
    c->dir = dirs[0] != NULL ? dirs[0] : "data/";
    CIP_TRY(take_files(c, dirs, e, err));
    CIP_TRY(cip_blz_column_open(c, err));
    c->space->label = c->dir;
    rc.in = c->space;
    c->dirs = dirs;
    c->step = p->field;
    if (rc.row != 0) {
        /* The column's rows as an array, which is what an update of the records changes. */
        cip_layout *l = o->b->layout;
        cip_array *a = o->array;
        if (o->meta.dtype->kind == CIP_RECORD) {
            CIP_TRY(CIP_ARENA_NEW(&l->arena, &a, 1, err));
            *a = (cip_array){ .layout = l, .path = c->dir, .space = c->space };
            CIP_TRY(cip_dtype_opaque(&l->arena, rc.row, "row", &a->dtype, err));
            CIP_TRY(cip_view_c_order(o->meta.ndim, o->meta.shape, rc.row, &a->view, err));
            rc.array = a;
        }
        c->rows = a;
        c->in_records = rc;
    }
    return rc.row == 0 ? CIP_OK : cip_buf_add(&o->columns, &rc, sizeof rc, err);
}

/* By field, so that a record of thousands of them is not looked through for each. */
static cip_status sort_folders(cip_blz *b, entries *e, cip_err *err)
{
    for (size_t i = e->n; i-- != 0;) {
        cip_bytes field;
        if (!e->at[i].is_folder)
            continue;
        CIP_TRY(cip_blz_field_of(&b->layout->arena, e->at[i].name, &field, err));
        CIP_TRY(cip_strmap_put(&e->folder, field, i, &e->at[i].next, err));
    }
    return CIP_OK;
}

/* Of each shard the folder that stands for the field. */
static cip_status find_dirs(cip_blz *b, const char *const *dirs, const entries *e,
                            const char *field, const char **out, cip_err *err)
{
    const cip_bytes key = { (const uint8_t *)field, strlen(field) };
    for (size_t i = cip_strmap_get(&e->folder, key); i != SIZE_MAX; i = e->at[i].next) {
        const cip_blz_entry *x = &e->at[i];
        char *dir;
        if (out[x->shard] != NULL)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "two folders of '%.100s' hold the field '%.60s'", dirs[x->shard],
                            field);
        CIP_TRY(cip_arena_printf(&b->layout->arena, &dir, err, "%s%s/", dirs[x->shard], x->name));
        out[x->shard] = dir;
    }
    return CIP_OK;
}

static cip_status add_dtype(opening *o, const cip_dtype *d, const cip_blz_piece *p,
                            const char *const *dirs, unsigned depth, cip_err *err)
{
    cip_buf found = { .mem = &o->b->layout->env->mem };
    entries e = { .folder = { .mem = &o->b->layout->env->mem } };
    cip_status st;
    if (depth > CIP_BLZ_MAX_DEPTH)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "records nested more than %d levels deep", CIP_BLZ_MAX_DEPTH);
    CIP_GO(list_all(o->b, dirs, &found, err));
    e.at = (cip_blz_entry *)(void *)found.ptr;
    e.n = found.len / sizeof *e.at;
    if (d->kind == CIP_RECORD)
        CIP_GO(sort_folders(o->b, &e, err));
    else
        CIP_GO(add_leaf(o, d, p, dirs, &e, err));
    for (size_t i = 0; d->kind == CIP_RECORD && i < d->nfield; i++) {
        const cip_field *f = &d->field[i];
        cip_blz_piece part = *p;
        const char **own;
        cip_blz_step *in;
        CIP_GO(CIP_ARENA_NEW(&o->b->layout->arena, &own, o->b->nshard, err));
        CIP_GO(CIP_ARENA_NEW(&o->b->layout->arena, &in, 1, err));
        *in = (cip_blz_step){ f->name, p->field };
        part.field = in;
        CIP_GO(find_dirs(o->b, dirs, &e, f->name, own, err));
        CIP_GO(cip_blz_enter_field(f, &part, err));
        CIP_GO(add_dtype(o, f->dtype, &part, own, depth + 1, err));
    }
    st = CIP_OK;
done:
    cip_strmap_clear(&e.folder);
    cip_buf_clear(&found);
    return st;
}

/* --- the array -------------------------------------------------------------------------------- */

static cip_status read_per(opening *o, cip_err *err)
{
    const cip_node *n = cip_map_get(o->meta.storage, "superchunk");
    if (n == NULL || n->type == CIP_NODE_NULL)
        return CIP_OK;
    if (cip_node_as_uint(n, &o->per) && o->per != 0 && o->per <= INT64_MAX)
        return CIP_OK;
    return cip_fail_in(err,
                       cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                                "superchunk: expected a number of chunks, found '%.40s'",
                                n->text != NULL ? n->text : "a collection"),
                       "meta/storage");
}

static cip_status open_columns(opening *o, cip_err *err)
{
    cip_blz *b = o->b;
    const cip_blz_piece whole = { .len = o->meta.dtype->itemsize };
    const char **dirs;
    o->ncolumn = cip_blz_count_columns(o->meta.dtype);
    if (o->ncolumn > CIP_BLZ_MAX_COLUMNS)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected at most %d fields, found %zu",
                        CIP_BLZ_MAX_COLUMNS, o->ncolumn);
    CIP_TRY(CIP_ARENA_NEW(&b->layout->arena, &dirs, b->nshard, err));
    for (size_t s = 0; s < b->nshard; s++) {
        char *dir;
        CIP_TRY(cip_arena_printf(&b->layout->arena, &dir, err, "%sdata/", b->shard[s].dir));
        dirs[s] = dir;
    }
    CIP_TRY(add_dtype(o, o->meta.dtype, &whole, dirs, 0, err));
    const cip_dtype *d = o->meta.dtype;
    cip_layout *l = o->b->layout;
    uint64_t n;
    const cip_record_column *c = (const cip_record_column *)(const void *)o->columns.ptr;
    if (d->kind != CIP_RECORD) {
        o->array->space = o->b->column[0]->space;
        return CIP_OK;
    }
    if (d->itemsize == 0)
        return cip_space_new_mem(l, (cip_bytes){ NULL, 0 }, &o->array->space, err);
    cip_shape_nelem(o->meta.ndim, o->meta.shape, &n); /* checked when it was read */
    return cip_space_new_records(l, n, d->itemsize, c, o->columns.len / sizeof *c, &o->array->space,
                                 err);
}

/* --- metadata --------------------------------------------------------------------------------- */

bool cip_blz_is_meta(const char *name)
{
    static const char *const known[] = { "sizes", "storage", "attributes", "shards" };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i]) == 0)
            return true;
    return false;
}

/* Files in meta/ that the document does not name, by their names. */
static cip_status other_meta(cip_blz *b, cip_node **out, cip_err *err)
{
    cip_layout *l = b->layout;
    cip_buf found = { .mem = &l->env->mem };
    cip_status st;
    size_t n = 0, at = 0;
    *out = NULL;
    CIP_GO(cip_blz_list_folder(b, 0, "meta", &found, err));
    const cip_blz_entry *e = (const cip_blz_entry *)(const void *)found.ptr;
    size_t all = found.len / sizeof *e;
    for (size_t i = 0; i < all; i++)
        n += !e[i].is_folder && !cip_blz_is_meta(e[i].name);
    if (n != 0)
        CIP_GO(cip_node_new_map(&l->arena, n, out, err));
    for (size_t i = 0; i < all; i++) {
        char path[CIP_IO_NUMBER_NAME];
        const cip_node *value;
        cip_node *none;
        cip_err why = CIP_ERR_INIT;
        if (e[i].is_folder || cip_blz_is_meta(e[i].name))
            continue;
        snprintf(path, sizeof path, "meta/%.255s", e[i].name);
        st = cip_blz_json(l, path, &value, &why);
        if (st == CIP_ERR_NOMEM)
            CIP_GO(cip_fail(err, st, why.offset, "%s", why.text));
        if (st != CIP_OK) {
            CIP_GO(cip_node_new_null(&l->arena, &none, err));
            cip_warn_lack(l->env, CIP_LACKS_NODE, none, st, why.offset, path,
                          "%s; its content is left out", why.text);
            value = none;
        }
        CIP_GO(cip_node_set_key(&l->arena, *out, at++, e[i].name, value, err));
    }
    st = CIP_OK;
done:
    cip_buf_clear(&found);
    return st;
}

static cip_status add_facts(const opening *o, cip_err *err)
{
    cip_layout *l = o->b->layout;
    uint64_t files = 0;
    for (size_t i = 0; i < o->b->ncolumn; i++)
        files += o->b->column[i]->nsuper;
    CIP_TRY(cip_layout_add_fact(l, "layout", err, "superchunks, %" PRIu64 " files", files));
    if (o->per != 0)
        CIP_TRY(cip_layout_add_fact(l, "superchunk", err, "%" PRIu64 " chunks", o->per));
    for (size_t i = 1; i < o->b->nshard; i++)
        CIP_TRY(cip_layout_add_fact(l, "shard", err, "%.200s", o->b->shard[i].name));
    return cip_blz_facts(l, &o->meta, err);
}

static cip_status open_array(opening *o, cip_err *err)
{
    cip_layout *l = o->b->layout;
    cip_blz_column shown = { .blz = o->b };
    CIP_TRY(cip_blz_meta_read(l, "", &o->meta, err));
    CIP_TRY(read_per(o, err));
    CIP_TRY(cip_layout_add_array(l, true, &o->array, err));
    o->array->layout = l;
    o->array->path = "";
    shown.array = o->array;
    shown.meta = o->meta;
    CIP_TRY(cip_blz_describe(&shown, "superchunks", err));
    CIP_TRY(cip_blz_open_shards(o->b, err));
    CIP_TRY(open_columns(o, err));
    cip_blz_compare_nbytes(&shown);
    cip_arena *a = &o->b->layout->arena;
    const cip_node *attrs;
    cip_node *other, *root;
    size_t n = 0;
    CIP_TRY(cip_arena_printf(a, &o->b->key[0], err, "attributes"));
    CIP_TRY(cip_blz_attributes(o->b->layout, "meta/attributes", NULL, &attrs, err));
    CIP_TRY(other_meta(o->b, &other, err));
    if (attrs != NULL || other != NULL) {
        CIP_TRY(cip_node_new_map(a, (attrs != NULL) + (other != NULL), &root, err));
        o->b->layout->tree = root;
        if (attrs != NULL)
            CIP_TRY(cip_node_set_key(a, root, n++, "attributes", attrs, err));
        if (other != NULL)
            CIP_TRY(cip_node_set_key(a, root, n, "meta", other, err));
    }
    return add_facts(o, err);
}

cip_status cip_blz_open_document(cip_blz *b, cip_err *err)
{
    opening o = { .b = b, .columns = { .mem = &b->layout->env->mem } };
    b->document = true;
    b->layout->version = "document";
    cip_status st = open_array(&o, err);
    cip_buf_clear(&o.columns);
    return st;
}
