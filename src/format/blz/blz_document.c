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

/* A name in data/, or below, of one shard. */
typedef struct entry {
    const char *name;
    uint64_t number; /* of a superchunk's file; 0: another */
    uint32_t shard;
    bool is_folder;
} entry;

typedef struct entries {
    entry *at;
    size_t n;
} entries;

/* What is listed by cip_io_list. */
typedef struct listing {
    cip_layout *layout;
    cip_buf *out; /* of entry */
    uint32_t shard;
    cip_status st;
    cip_err *err;
} listing;

/* --- names ------------------------------------------------------------------------------------ */

/* The number in "__12__.bin"; 0 for other names. */
static uint64_t number_of(const char *name)
{
    char back[64];
    if (strncmp(name, "__", 2) != 0 || name[2] < '1' || name[2] > '9')
        return 0;
    uint64_t n = strtoull(name + 2, NULL, 10);
    snprintf(back, sizeof back, "__%" PRIu64 "__.bin", n);
    return strcmp(back, name) == 0 ? n : 0;
}

static int hex_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* Whether a folder's name stands for the field: percent-encoded bytes are decoded once. */
static bool stands_for(const char *name, const char *field)
{
    for (; *name != '\0' && *field != '\0'; name++, field++) {
        int c = (unsigned char)*name;
        if (c == '%' && hex_of(name[1]) >= 0 && hex_of(name[2]) >= 0) {
            c = hex_of(name[1]) * 16 + hex_of(name[2]);
            name += 2;
        }
        if (c != (unsigned char)*field)
            return false;
    }
    return *name == *field;
}

static int keep_entry(void *user, const char *name, bool is_folder)
{
    listing *k = user;
    char *copy = NULL;
    k->st = cip_arena_printf(&k->layout->arena, &copy, k->err, "%s", name);
    const entry e = { copy, is_folder ? 0 : number_of(name), k->shard, is_folder };
    if (k->st == CIP_OK)
        k->st = cip_buf_add(k->out, &e, sizeof e, k->err);
    return k->st != CIP_OK;
}

/* The names in a shard's folder; none where it has no such folder. */
static cip_status list_folder(cip_blz *b, uint32_t shard, const char *dir, cip_buf *out,
                              cip_err *err)
{
    cip_layout *l = b->layout;
    listing k = { .layout = l, .out = out, .shard = shard, .err = err };
    cip_io *io = b->shard[shard].of != NULL ? b->shard[shard].of : l->io;
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_io_list(io, dir, cip_blz_flags(l), keep_entry, &k, &why);
    if (k.st != CIP_OK)
        return k.st;
    if (st == CIP_OK || st == CIP_ERR_NOT_FOUND)
        return CIP_OK;
    return cip_fail_in(err, cip_fail(err, st, why.offset, "%s", why.text), "%s", dir);
}

/* Whose data files a folder holds. */
typedef struct kinds {
    bool document, old;
} kinds;

static int see_kind(void *user, const char *name, bool is_folder)
{
    kinds *k = user;
    size_t n = strlen(name);
    k->document = k->document || is_folder || number_of(name) != 0;
    k->old = k->old || (n > 4 && strcmp(name + n - 4, ".blp") == 0);
    return k->document || k->old;
}

/* An array without any data is the document's unless it has what the old programs always wrote. */
bool cip_blz_is_document(cip_io *io)
{
    static const char *const old[] = { "__attrs__", "data/__0.blp" };
    kinds k = { .document = false };
    cip_io *member;
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
        if (cip_io_open_beneath(io, old[i], 0, &member, NULL) == CIP_OK) {
            cip_io_close(member);
            return false;
        }
    cip_io_list(io, "data", 0, see_kind, &k, NULL);
    return !k.old;
}

/* --- shards ----------------------------------------------------------------------------------- */

static cip_status add_shard(cip_blz *b, cip_io *of, const char *dir, const char *name, cip_err *err)
{
    cip_blz_shard *more;
    CIP_TRY(CIP_ARENA_NEW(&b->layout->arena, &more, b->nshard + 1, err));
    if (b->nshard != 0)
        memcpy(more, b->shard, b->nshard * sizeof *more);
    more[b->nshard] = (cip_blz_shard){ of, dir, name };
    b->shard = more;
    b->nshard++;
    return CIP_OK;
}

static bool has_shard(const cip_blz *b, const char *dir)
{
    for (size_t i = 0; i < b->nshard; i++)
        if (b->shard[i].of == NULL && strcmp(b->shard[i].dir, dir) == 0)
            return true;
    return false;
}

static cip_status add_beneath(cip_blz *b, const char *name, cip_err *err)
{
    char *dir;
    CIP_TRY(cip_arena_printf(&b->layout->arena, &dir, err, "%s/", name));
    return has_shard(b, dir) ? CIP_OK : add_shard(b, NULL, dir, name, err);
}

static int stop_listing(void *user, const char *name, bool is_folder)
{
    (void)user, (void)name, (void)is_folder;
    return 1;
}

/* Folders directly under the root that hold a data/. */
static cip_status find_shards(cip_blz *b, cip_err *err)
{
    cip_layout *l = b->layout;
    cip_buf found = { .mem = &l->env->mem };
    cip_status st = list_folder(b, 0, "", &found, err);
    const entry *e = (const entry *)(const void *)found.ptr;
    for (size_t i = 0; st == CIP_OK && i < found.len / sizeof *e; i++) {
        char path[CIP_IO_NUMBER_NAME];
        snprintf(path, sizeof path, "%.255s/data", e[i].name);
        if (!e[i].is_folder || strcmp(e[i].name, "data") == 0 || strcmp(e[i].name, "meta") == 0)
            continue;
        cip_status is = cip_io_list(l->io, path, cip_blz_flags(l), stop_listing, NULL, NULL);
        if (is == CIP_OK || is == CIP_ERR_CANCELLED)
            st = add_beneath(b, e[i].name, err);
    }
    cip_buf_clear(&found);
    return st;
}

/* A path that leaves the folder is somebody else's to allow. */
static cip_status add_outside(cip_blz *b, const char *path, cip_err *err)
{
    cip_io *io;
    cip_layout *l = b->layout;
    char full[4096];
    const char *root = cip_io_path(l->io);
    if ((l->flags & CIP_OPEN_EXTERNAL) == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "the shard '%.120s' lies outside the folder (--allow-external opens it)",
                        path);
    snprintf(full, sizeof full, "%s%s%s", path[0] == '/' || root == NULL ? "" : root,
             path[0] == '/' || root == NULL ? "" : "/", path);
    CIP_TRY(cip_io_open_folder(l->env, full, &io, err));
    cip_status st = add_shard(b, io, "", path, err);
    if (st != CIP_OK)
        cip_io_close(io);
    return st;
}

static bool is_beneath(const char *path)
{
    return path[0] != '/' && strcmp(path, "..") != 0 && strncmp(path, "../", 3) != 0 &&
           strstr(path, "/../") == NULL;
}

/* meta/shards: a list of paths. */
static cip_status listed_shards(cip_blz *b, cip_err *err)
{
    const cip_node *list;
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_blz_json(b->layout, "meta/shards", &list, &why);
    if (st == CIP_ERR_NOT_FOUND)
        return CIP_OK;
    if (st == CIP_OK && list->type != CIP_NODE_SEQ)
        st = cip_fail(&why, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a list of paths");
    for (uint32_t i = 0; st == CIP_OK && i < list->len; i++) {
        const cip_node *n = list->item[i];
        if (n->type != CIP_NODE_STRING || n->len == 0 || strlen(n->text) != n->len)
            st = cip_fail(&why, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a list of paths");
        else
            st = (is_beneath(n->text) ? add_beneath : add_outside)(b, n->text, &why);
    }
    if (st != CIP_OK)
        return cip_fail_in(err, cip_fail(err, st, why.offset, "%s", why.text), "meta/shards");
    return CIP_OK;
}

static cip_status open_shards(cip_blz *b, cip_err *err)
{
    CIP_TRY(add_shard(b, NULL, "", "", err));
    CIP_TRY(listed_shards(b, err));
    return find_shards(b, err);
}

/* --- superchunks ------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->shard < y->shard ? -1 : x->shard > y->shard;
}

/* dirs: of each shard the folder, with a slash at the end; NULL: it has none. */
static cip_status same_file(cip_blz *b, const char *const *dirs, const entry *x, const entry *y,
                            bool *same, cip_err *err)
{
    const entry *e[2] = { x, y };
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
        const entry *was = kept == 0 ? NULL : &e->at[kept - 1];
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

/* What a field's column becomes of each record. */
typedef struct piece {
    uint64_t off;                /* in the record */
    uint64_t step[CIP_MAX_NDIM]; /* of the axes of the records that it lies in */
    int64_t count[CIP_MAX_NDIM];
    int32_t ndim;
    uint64_t len; /* bytes at each place */
} piece;

typedef struct opening {
    cip_blz *b;
    cip_array *array;
    cip_blz_meta meta; /* of the whole array */
    uint64_t per;
    cip_buf columns; /* of cip_record_column */
    uint64_t nparts;
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
        CIP_TRY(list_folder(b, s, path, out, err));
    }
    return CIP_OK;
}

/* `leaf`: of one element of the column; `pieces` times it lies in a record. */
static cip_status new_column(opening *o, const cip_dtype *leaf, uint64_t per_record,
                             cip_blz_column **out, cip_err *err)
{
    cip_blz *b = o->b;
    cip_blz_column *c, **more;
    CIP_TRY(CIP_ARENA_NEW(&b->layout->arena, &c, 1, err));
    CIP_TRY(CIP_ARENA_NEW(&b->layout->arena, &more, b->ncolumn + 1, err));
    if (b->ncolumn != 0)
        memcpy(more, b->column, b->ncolumn * sizeof *more);
    *c = (cip_blz_column){
        .blz = b, .dir = "", .array = o->array, .meta = o->meta, .document = true, .per = o->per
    };
    c->meta.dtype = leaf;
    c->meta.row = per_record;
    for (int32_t k = 1; k < o->meta.ndim; k++)
        c->meta.row *=
            (uint64_t)o->meta.shape[k]; /* no more than the record's, which was checked */
    pthread_mutex_init(&c->lock, NULL);
    more[b->ncolumn] = c;
    b->column = more;
    b->ncolumn++;
    *out = c;
    return CIP_OK;
}

/* The parts of a record that a row of the column is cut into. */
static cip_status make_parts(opening *o, const piece *p, cip_record_column *out, cip_err *err)
{
    uint64_t n = 1, at[CIP_MAX_NDIM] = { 0 };
    cip_record_part *part;
    for (int32_t k = 0; k < p->ndim; k++)
        if (cip_mul_overflow(n, (uint64_t)p->count[k], &n) || n > CIP_BLZ_MAX_PARTS)
            break;
    o->nparts += n;
    if (n > CIP_BLZ_MAX_PARTS || o->nparts > CIP_BLZ_MAX_PARTS)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "records put together of over %d parts",
                        CIP_BLZ_MAX_PARTS);
    CIP_TRY(CIP_ARENA_NEW(&o->b->layout->arena, &part, (size_t)n, err));
    for (uint64_t i = 0; i < n; i++) {
        part[i] = (cip_record_part){ p->off, i * p->len, p->len };
        for (int32_t k = 0; k < p->ndim; k++)
            part[i].off += at[k] * p->step[k];
        for (int32_t k = p->ndim; k-- > 0 && ++at[k] == (uint64_t)p->count[k];)
            at[k] = 0;
    }
    out->part = part;
    out->npart = (size_t)n;
    out->row = n * p->len;
    return CIP_OK;
}

static cip_status add_leaf(opening *o, const cip_dtype *leaf, const piece *p,
                           const char *const *dirs, entries *e, cip_err *err)
{
    cip_record_column rc = { .npart = 0 };
    cip_blz_column *c;
    CIP_TRY(make_parts(o, p, &rc, err));
    CIP_TRY(new_column(o, leaf, rc.row, &c, err));
    c->dir = dirs[0] != NULL ? dirs[0] : "data/";
    CIP_TRY(take_files(c, dirs, e, err));
    CIP_TRY(cip_blz_column_open(c, err));
    c->space->label = c->dir;
    rc.in = c->space;
    return rc.row == 0 ? CIP_OK : cip_buf_add(&o->columns, &rc, sizeof rc, err);
}

/* Of each shard the folder that stands for the field. */
static cip_status find_dirs(cip_blz *b, const char *const *dirs, const entries *e,
                            const char *field, const char **out, cip_err *err)
{
    for (size_t i = 0; i < e->n; i++) {
        const entry *x = &e->at[i];
        char *dir;
        if (!x->is_folder || !stands_for(x->name, field))
            continue;
        if (out[x->shard] != NULL)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "two folders of '%.100s' stand for the field '%.60s'", dirs[x->shard],
                            field);
        CIP_TRY(cip_arena_printf(&b->layout->arena, &dir, err, "%s%s/", dirs[x->shard], x->name));
        out[x->shard] = dir;
    }
    return CIP_OK;
}

static cip_status add_dtype(opening *o, const cip_dtype *d, const piece *p, const char *const *dirs,
                            unsigned depth, cip_err *err);

static cip_status add_field(opening *o, const cip_field *f, piece p, const char *const *dirs,
                            const entries *e, unsigned depth, cip_err *err)
{
    const char **own;
    uint64_t step = f->dtype->itemsize;
    CIP_TRY(CIP_ARENA_NEW(&o->b->layout->arena, &own, o->b->nshard, err));
    CIP_TRY(find_dirs(o->b, dirs, e, f->name, own, err));
    p.off += f->offset;
    if (f->dtype->kind != CIP_RECORD) {
        p.len = cip_field_nbytes(f);
        return add_dtype(o, f->dtype, &p, own, depth, err);
    }
    if (p.ndim + f->ndim > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "expected at most %d axes",
                        CIP_MAX_NDIM);
    for (int32_t k = f->ndim; k-- > 0; step *= (uint64_t)f->shape[k]) { /* fits: a field's bytes */
        p.step[p.ndim + k] = step;
        p.count[p.ndim + k] = f->shape[k];
    }
    p.ndim += f->ndim;
    return add_dtype(o, f->dtype, &p, own, depth, err);
}

static cip_status add_dtype(opening *o, const cip_dtype *d, const piece *p, const char *const *dirs,
                            unsigned depth, cip_err *err)
{
    cip_buf found = { .mem = &o->b->layout->env->mem };
    cip_status st;
    if (depth > CIP_BLZ_MAX_DEPTH)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "records nested over %d deep",
                        CIP_BLZ_MAX_DEPTH);
    CIP_GO(list_all(o->b, dirs, &found, err));
    entries e = { (entry *)(void *)found.ptr, found.len / sizeof(entry) };
    if (d->kind != CIP_RECORD)
        CIP_GO(add_leaf(o, d, p, dirs, &e, err));
    for (size_t i = 0; d->kind == CIP_RECORD && i < d->nfield; i++)
        CIP_GO(add_field(o, &d->field[i], *p, dirs, &e, depth + 1, err));
    st = CIP_OK;
done:
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

static cip_status make_space(opening *o, cip_err *err)
{
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

static cip_status open_columns(opening *o, cip_err *err)
{
    cip_blz *b = o->b;
    const piece whole = { .len = o->meta.dtype->itemsize };
    const char **dirs;
    CIP_TRY(CIP_ARENA_NEW(&b->layout->arena, &dirs, b->nshard, err));
    for (size_t s = 0; s < b->nshard; s++) {
        char *dir;
        CIP_TRY(cip_arena_printf(&b->layout->arena, &dir, err, "%sdata/", b->shard[s].dir));
        dirs[s] = dir;
    }
    CIP_TRY(add_dtype(o, o->meta.dtype, &whole, dirs, 0, err));
    return make_space(o, err);
}

/* --- metadata --------------------------------------------------------------------------------- */

static bool is_known(const char *name)
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
    CIP_GO(list_folder(b, 0, "meta", &found, err));
    const entry *e = (const entry *)(const void *)found.ptr;
    size_t all = found.len / sizeof *e;
    for (size_t i = 0; i < all; i++)
        n += !e[i].is_folder && !is_known(e[i].name);
    if (n != 0)
        CIP_GO(cip_node_new_map(&l->arena, n, out, err));
    for (size_t i = 0; i < all; i++) {
        char path[CIP_IO_NUMBER_NAME];
        const cip_node *value;
        cip_node *none;
        cip_err why = CIP_ERR_INIT;
        if (e[i].is_folder || is_known(e[i].name))
            continue;
        snprintf(path, sizeof path, "meta/%.255s", e[i].name);
        st = cip_blz_json(l, path, &value, &why);
        if (st == CIP_ERR_NOMEM)
            CIP_GO(cip_fail(err, st, why.offset, "%s", why.text));
        if (st != CIP_OK) {
            cip_warn(l->env, st, why.offset, path, "%s; its content is left out", why.text);
            CIP_GO(cip_node_new_null(&l->arena, &none, err));
            value = none;
        }
        CIP_GO(cip_node_set_key(&l->arena, *out, at++, e[i].name, value, err));
    }
    st = CIP_OK;
done:
    cip_buf_clear(&found);
    return st;
}

static cip_status make_tree(cip_blz *b, cip_err *err)
{
    cip_arena *a = &b->layout->arena;
    const cip_node *attrs;
    cip_node *other, *root;
    size_t n = 0;
    CIP_TRY(cip_blz_attributes(b->layout, "meta/attributes", &attrs, err));
    CIP_TRY(other_meta(b, &other, err));
    if (attrs == NULL && other == NULL)
        return CIP_OK;
    CIP_TRY(cip_node_new_map(a, (attrs != NULL) + (other != NULL), &root, err));
    b->layout->tree = root;
    if (attrs != NULL)
        CIP_TRY(cip_node_set_key(a, root, n++, "attributes", attrs, err));
    return other == NULL ? CIP_OK : cip_node_set_key(a, root, n, "meta", other, err);
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
    CIP_TRY(open_shards(o->b, err));
    CIP_TRY(open_columns(o, err));
    cip_blz_compare_nbytes(&shown);
    CIP_TRY(make_tree(o->b, err));
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
