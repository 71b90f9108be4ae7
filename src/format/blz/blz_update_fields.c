/* SPDX-License-Identifier: BSD-3-Clause
 * Fields of the document's records that come, go or get another name: in the dtype and dflt of
 * meta/storage; and of those that go or move the folders that they lie in. Other columns stay as
 * they are: none of them knows of the others. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_update.h"
#include "tree/json_read.h"

/* A field is known by its columns, those of its fields that are no records, one behind the other.
 */
bool cip_blz_has_left(const cip_blz_state *u, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++)
        if (!u->column[i].gone)
            return true;
    return false;
}

static bool has_all(const cip_blz_state *u)
{
    for (size_t i = 0; i < u->b->ncolumn; i++)
        if (u->column[i].gone)
            return false;
    return true;
}

/* --- what is asked for ------------------------------------------------------------------------ */

static const char *name_of(const cip_blz_state *u, const cip_field *f)
{
    return u->moved.depth != 0 && u->moved.way[u->moved.depth - 1] == f ? u->name : f->name;
}

static bool is_step(const char *path, size_t n, const char *name)
{
    return cip_path_step_is((cip_bytes){ (const uint8_t *)path, n },
                            (cip_bytes){ (const uint8_t *)name, strlen(name) });
}

/* One that came is `came`, without a way. */
bool cip_blz_find_field(const cip_blz_state *u, const char *path, cip_blz_found *out)
{
    const cip_dtype *d = u->b->ncolumn != 0 ? u->b->column[0]->array->dtype : NULL;
    *out = (cip_blz_found){ .in = d };
    for (size_t i = 0; u->b->document && i < u->ncame; i++)
        if (!u->came[i].gone && is_step(path, strlen(path), u->came[i].name))
            out->came = &u->came[i];
    if (out->came != NULL)
        return true;
    while (d != NULL && d->kind == CIP_RECORD) { /* records nest at most 32 deep */
        const size_t n = strcspn(path, "/");
        size_t i = 0;
        for (; i < d->nfield; i++) {
            out->n = cip_blz_count_columns(d->field[i].dtype);
            if (is_step(path, n, name_of(u, &d->field[i])) &&
                cip_blz_has_left(u, out->first, out->n))
                break;
            out->first += out->n;
        }
        if (i == d->nfield)
            return false;
        out->in = d;
        out->way[out->depth++] = &d->field[i];
        if (path[n] == '\0')
            return true;
        d = d->field[i].dtype;
        path += n + 1;
    }
    return false;
}

/* As in cip_blz_name_now. */
static size_t number_of(const cip_blz_state *u, const cip_blz_came *came)
{
    return u->b->ncolumn + (size_t)(came - u->came);
}

cip_status cip_blz_remove_field(cip_blz_state *u, const cip_blz_found *f, bool replaced,
                                cip_err *err)
{
    const size_t behind = f->first + f->n;
    const cip_blz_found *m = &u->moved;
    bool others = f->came == NULL ? cip_blz_has_left(u, 0, f->first) ||
                                        cip_blz_has_left(u, behind, u->b->ncolumn - behind)
                                  : cip_blz_has_left(u, 0, u->b->ncolumn);
    for (size_t i = 0; i < u->ncame; i++)
        others = others || (!u->came[i].gone && &u->came[i] != f->came);
    if (!others && !replaced)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the last field of the records, '%.80s', cannot be removed",
                        f->came != NULL ? f->came->name : name_of(u, f->way[f->depth - 1]));
    CIP_TRY(cip_blz_keep(u, err));
    u->records = NULL;
    if (f->came != NULL) {
        CIP_TRY(cip_blz_keep_column(u, number_of(u, f->came), err));
        f->came->gone = true;
        return CIP_OK;
    }
    if (m->depth != 0 && f->first < m->first + m->n && m->first < behind) {
        if (m->way[m->depth - 1] != f->way[f->depth - 1])
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the field '%.80s' was moved in this update; commit it first", u->name);
        u->moved.depth = 0;
    }
    for (size_t i = f->first; i < behind; i++)
        CIP_TRY(cip_blz_keep_column(u, i, err));
    for (size_t i = f->first; i < behind; i++)
        u->column[i].gone = true;
    return CIP_OK;
}

/* Whether a field outside of other records has the name by now. */
static bool has_name(const cip_blz_state *u, const char *name)
{
    const cip_dtype *d = u->b->column[0]->array->dtype;
    size_t first = 0, n;
    for (size_t i = 0; i < u->ncame; i++)
        if (!u->came[i].gone && strcmp(u->came[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < d->nfield; i++, first += n) {
        n = cip_blz_count_columns(d->field[i].dtype);
        if (cip_blz_has_left(u, first, n) && strcmp(name_of(u, &d->field[i]), name) == 0)
            return true;
    }
    return false;
}

/* A field's folder may be that of one who left it. */
cip_status cip_blz_expect_no_field(cip_blz_state *u, const char *name, bool comes, cip_err *err)
{
    cip_blz *b = u->b;
    const cip_dtype *was = b->column[0]->array->dtype;
    cip_buf found = { .mem = &u->env->mem };
    cip_status st = CIP_OK;
    if (has_name(u, name))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "the field '%.80s' exists", name);
    const bool leaves = cip_dtype_find_field(was, name, strlen(name)) != NULL;
    if (leaves && !comes)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the field '%.80s' was moved or removed in this update; commit it first",
                        name);
    for (uint32_t s = 0; s < b->nshard && st == CIP_OK && !leaves; s++) {
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

/* Of the folder's fields one alone gets another name, and no elements then: its files would change
 * and move at once. */
static cip_status expect_unchanged(const cip_blz_state *u, const cip_blz_found *f, cip_err *err)
{
    bool changed = u->moved.depth != 0 && u->moved.way[u->moved.depth - 1] != f->way[f->depth - 1];
    for (size_t i = 0; i < u->b->ncolumn; i++)
        changed = changed || (!u->column[i].gone && u->column[i].in_superchunks != NULL) ||
                  (u->column[i].gone && i >= f->first && i < f->first + f->n);
    return !changed ? CIP_OK
                    : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                               "the array changed in this update; commit it first");
}

cip_status cip_blz_move_field(cip_blz_state *u, const cip_blz_found *f, const char *from,
                              const char *to, cip_err *err)
{
    const char *slash = strrchr(from, '/');
    const size_t within = slash != NULL ? (size_t)(slash + 1 - from) : 0;
    cip_buf folder = { .mem = &u->env->mem };
    char *name, *dir = NULL;
    if (f->came == NULL)
        CIP_TRY(expect_unchanged(u, f, err));
    if (strncmp(from, to, within) != 0 || strpbrk(to + within, "/~") != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a name in the same record, '%.*sNAME', found '%.80s'",
                        (int)within, from, to);
    CIP_TRY(cip_arena_printf(u->arena, &name, err, "%s", to + within));
    const bool back = f->came == NULL && strcmp(name, f->way[f->depth - 1]->name) == 0;
    if (within != 0 ? !back && cip_dtype_find_field(f->in, name, strlen(name)) != NULL
                    : back && has_name(u, name))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.80s' exists", to);
    if (within == 0 && !back)
        CIP_TRY(cip_blz_expect_no_field(u, name, f->came != NULL, err));
    cip_status st = cip_blz_folder_name(name, &folder, err);
    if (st == CIP_OK)
        st = cip_arena_copy(u->arena, folder.ptr, folder.len, &dir, err);
    cip_buf_clear(&folder);
    CIP_TRY(st);
    CIP_TRY(cip_blz_keep(u, err));
    u->records = NULL;
    if (f->came != NULL) {
        CIP_TRY(cip_blz_keep_column(u, number_of(u, f->came), err));
        f->came->name = name;
        return CIP_OK;
    }
    u->moved = *f;
    u->moved.depth = back ? 0 : f->depth;
    u->name = name;
    u->folder = dir;
    return CIP_OK;
}

/* --- meta/storage ----------------------------------------------------------------------------- */

static cip_status copy_item(cip_arena *a, const cip_node *seq, size_t at, const cip_node *item,
                            cip_node **out, cip_err *err)
{
    CIP_TRY(cip_node_new_seq(a, seq->len, out, err));
    for (size_t i = 0; i < seq->len; i++)
        cip_node_set_item(*out, i, i == at ? item : seq->item[i]);
    return CIP_OK;
}

/* The fields that are left of a record whose columns begin with number `first`, as numpy's list of
 * them, [[name, type, shape], ...]. */
static cip_status keep_fields(const cip_blz_state *u, const cip_dtype *d, size_t first,
                              const cip_node *type, const cip_node **out, cip_err *err)
{
    size_t n = 0;
    cip_node *kept, *own;
    if (type == NULL || type->type != CIP_NODE_SEQ || type->len != d->nfield)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a dtype that lists the fields, found another form");
    CIP_TRY(cip_node_new_seq(u->arena, d->nfield, &kept, err));
    for (size_t i = 0; i < d->nfield; i++) { /* records nest at most 32 deep */
        const cip_dtype *f = d->field[i].dtype;
        const cip_node *item = type->item[i], *inner;
        const size_t columns = cip_blz_count_columns(f);
        if (f->kind == CIP_RECORD && cip_blz_has_left(u, first, columns)) {
            CIP_TRY(keep_fields(u, f, first, item->item[1], &inner, err));
            CIP_TRY(copy_item(u->arena, item, 1, inner, &own, err));
            item = own;
        }
        if (name_of(u, &d->field[i]) != d->field[i].name) {
            cip_node *name;
            CIP_TRY(cip_node_new_string(u->arena, u->name, strlen(u->name), &name, err));
            CIP_TRY(copy_item(u->arena, item, 0, name, &own, err));
            item = own;
        }
        if (cip_blz_has_left(u, first, columns))
            cip_node_set_item(kept, n++, item);
        first += columns;
    }
    kept->len = (uint32_t)n;
    *out = kept;
    return CIP_OK;
}

/* The bytes of a record that are left of it, behind `dst`: elements are packed. */
static uint8_t *keep_bytes(const cip_blz_state *u, const cip_dtype *d, size_t first,
                           const uint8_t *src, uint8_t *dst)
{
    for (size_t i = 0; i < d->nfield; i++) { /* records nest at most 32 deep */
        const cip_field *f = &d->field[i];
        const uint64_t all = cip_field_nbytes(f), each = f->dtype->itemsize;
        const bool record = f->dtype->kind == CIP_RECORD;
        for (uint64_t at = 0; record && at < all && each != 0; at += each)
            dst = keep_bytes(u, f->dtype, first, src + f->offset + at, dst);
        if (!record && !u->column[first].gone && all != 0) {
            memcpy(dst, src + f->offset, (size_t)all);
            dst += all;
        }
        first += cip_blz_count_columns(f->dtype);
    }
    return dst;
}

/* Which lists of dflt are along axes is told by the first field: with another one they must mean
 * the same. */
static cip_status check_dflt(cip_blz_state *u, const cip_blz_meta *was, const cip_blz_meta *now,
                             cip_err *err)
{
    const uint8_t *before, *after;
    uint8_t *left;
    CIP_TRY(cip_blz_dflt(u->arena, was, &before, err));
    CIP_TRY(cip_blz_dflt(u->arena, now, &after, err));
    if (before == NULL && after == NULL)
        return CIP_OK;
    CIP_TRY(cip_arena_zeroed(u->arena, (size_t)was->row, 1, (void **)&left, err));
    uint8_t *end = left;
    for (uint64_t at = 0; before != NULL && at < was->row; at += was->dtype->itemsize)
        end = keep_bytes(u, was->dtype, 0, before + at, end);
    for (uint64_t i = 0; i < now->row; i++)
        if (left[i] != (after != NULL ? after[i] : 0))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected a dflt whose lists stay valid without the field");
    return CIP_OK;
}

/* What JSON says of fields that come: their types, their zeros. */
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

/* NULL: none comes. */
static cip_status came_type(const cip_blz_state *u, const cip_dtype **out, cip_err *err)
{
    const int32_t ndim = u->b->column[0]->meta.ndim;
    cip_field *f;
    size_t n = 0;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &f, u->ncame, err));
    for (size_t i = 0; i < u->ncame; i++) {
        const cip_spec_array *a = &u->came[i].x->array;
        if (!u->came[i].gone)
            f[n++] = (cip_field){ .name = u->came[i].name,
                                  .dtype = u->came[i].x->w.dtype,
                                  .ndim = a->ndim - ndim,
                                  .shape = a->shape + ndim };
    }
    *out = NULL;
    return n == 0 ? CIP_OK : cip_dtype_record(u->arena, n, f, true, 0, out, err);
}

/* Records of this type, and bytes of a row of them. */
static void set_dtype(cip_blz_meta *m, const cip_dtype *d)
{
    m->dtype = d;
    m->row = d->itemsize;
    for (int32_t k = 1; k < m->ndim; k++)
        m->row *= (uint64_t)m->shape[k]; /* fits: that was checked of the records and what comes */
}

static cip_status read_dtype(cip_blz_state *u, const cip_node *dtype, cip_blz_meta *m, cip_err *err)
{
    CIP_TRY(cip_blz_dtype(u->b->layout, dtype, m, err));
    set_dtype(m, m->dtype);
    return CIP_OK;
}

static cip_status kept_dtype(cip_blz_state *u, const cip_node **out, cip_err *err)
{
    return keep_fields(u, u->b->column[0]->array->dtype, 0,
                       cip_map_get(u->b->column[0]->meta.storage, "dtype"), out, err);
}

cip_status cip_blz_fields_now(cip_blz_state *u, const cip_node **dtype, cip_blz_meta *now,
                              cip_err *err)
{
    const cip_dtype *came;
    const cip_node *left, *more;
    cip_node *all;
    *now = u->b->column[0]->meta;
    CIP_TRY(kept_dtype(u, &left, err));
    CIP_TRY(came_type(u, &came, err));
    *dtype = left;
    if (came != NULL) {
        CIP_TRY(as_json(u, came, false, &more, err));
        CIP_TRY(cip_node_new_seq(u->arena, left->len + more->len, &all, err));
        for (uint32_t i = 0; i < all->len; i++)
            cip_node_set_item(all, i, i < left->len ? left->item[i] : more->item[i - left->len]);
        *dtype = all;
    }
    return read_dtype(u, *dtype, now, err);
}

/* Of the fields that are left, which must mean what it meant, then of those that come. */
static cip_status dflt_now(cip_blz_state *u, const cip_node **out, cip_err *err)
{
    const cip_blz_meta *own = &u->b->column[0]->meta;
    cip_blz_meta was = *own, kept = *own;
    cip_build b = { .arena = u->arena };
    const cip_node *dtype, *more = NULL;
    const cip_dtype *came;
    CIP_TRY(kept_dtype(u, &dtype, err));
    set_dtype(&was, u->b->column[0]->array->dtype);
    CIP_TRY(cip_blz_keep_dflt(u, &was, out, err));
    CIP_TRY(came_type(u, &came, err));
    if (came != NULL)
        CIP_TRY(as_json(u, came, true, &more, err));
    if (dtype->len == 0) { /* all is new */
        *out = (*out)->type == CIP_NODE_SEQ ? more : *out;
        return CIP_OK;
    }
    CIP_TRY(read_dtype(u, dtype, &kept, err));
    CIP_TRY(cip_build_set(&b, "", own->storage, err));
    CIP_TRY(cip_build_set(&b, "dflt", *out, err));
    kept.storage = b.root;
    if (!has_all(u))
        CIP_TRY(check_dflt(u, &was, &kept, err));
    return came != NULL ? cip_blz_dflt_with(u->arena, &kept, more, out, err) : CIP_OK;
}

cip_status cip_blz_put_storage(cip_blz_state *u, cip_revision *r, cip_err *err)
{
    const cip_node *was = u->b->column[0]->meta.storage, *n;
    cip_blz_meta now;
    cip_build b = { .arena = u->arena };
    CIP_TRY(cip_blz_fields_now(u, &n, &now, err));
    CIP_TRY(cip_build_set(&b, "", was, err));
    CIP_TRY(cip_build_set(&b, "dtype", n, err));
    if (cip_map_get(was, "dflt") != NULL) {
        CIP_TRY(dflt_now(u, &n, err));
        CIP_TRY(cip_build_set(&b, "dflt", n, err));
    }
    CIP_TRY(cip_blz_put_json(u, r, "meta/storage", b.root, err));
    return cip_revision_switch(r, "meta/storage", err);
}

/* Bytes of chunks of the columns that go, as far as anybody can tell. */
static cip_status count_gone(const cip_blz_state *u, uint64_t *gone, cip_err *err)
{
    for (size_t i = 0; i < u->b->ncolumn; i++)
        for (size_t j = 0; u->column[i].gone && j < u->b->column[i]->nsuper; j++) {
            cip_bp_file *f;
            cip_space *s;
            cip_err why = CIP_ERR_INIT;
            bool all = true;
            cip_status st = cip_blz_super_open(u->b->column[i], j, &f, &why);
            if (st == CIP_OK)
                st = cip_space_resolve(f->data, &s, &why);
            if (st == CIP_OK)
                st = cip_bp_count_bytes(f, gone, &all, &why);
            if (st == CIP_ERR_NOMEM || st == CIP_ERR_IO)
                return cip_fail(err, st, why.offset, "%s", why.text);
        }
    return CIP_OK;
}

/* --- folders ---------------------------------------------------------------------------------- */

/* The folder in shard s of a field that is so many levels above its columns' folders, without the
 * slash at the end; NULL: there is none. */
static cip_status folder_of(cip_blz_state *u, size_t s, size_t first, size_t n, size_t depth,
                            char **out, cip_err *err)
{
    *out = NULL;
    for (size_t i = first; i < first + n; i++) {
        const cip_blz_column *c = u->b->column[i];
        size_t up = 0, len;
        if (c->dirs[s] == NULL)
            continue;
        for (const cip_blz_step *step = c->step; step != NULL; step = step->up)
            up++;
        len = strlen(c->dirs[s]) - 1;
        for (up -= depth; up != 0; up--)
            while (c->dirs[s][--len] != '/')
                ;
        return cip_arena_copy(u->arena, c->dirs[s], len, out, err);
    }
    return CIP_OK;
}

static cip_status drop_field(cip_blz_state *u, size_t first, size_t n, size_t depth,
                             cip_revision *r, cip_err *err)
{
    for (size_t s = 0; s < u->b->nshard; s++) {
        char *dir;
        CIP_TRY(folder_of(u, s, first, n, depth, &dir, err));
        if (dir != NULL && u->b->shard[s].of != NULL)
            return cip_blz_lies_outside(dir, u->b->shard[s].name, err);
        if (dir != NULL)
            CIP_TRY(cip_revision_move_folder(r, u->b->layout->io, dir, NULL, true, err));
    }
    return CIP_OK;
}

/* A field goes whole, or of a record those of its fields that go. */
static cip_status drop_fields(cip_blz_state *u, const cip_dtype *d, size_t first, size_t depth,
                              cip_revision *r, cip_err *err)
{
    for (size_t i = 0; i < d->nfield; i++) { /* records nest at most 32 deep */
        const cip_dtype *f = d->field[i].dtype;
        const size_t n = cip_blz_count_columns(f);
        if (!cip_blz_has_left(u, first, n))
            CIP_TRY(drop_field(u, first, n, depth, r, err));
        else if (f->kind == CIP_RECORD)
            CIP_TRY(drop_fields(u, f, first, depth + 1, r, err));
        first += n;
    }
    return CIP_OK;
}

typedef struct search {
    cip_blz_state *u;
    const char *dir, *field;
    char *found; /* the folder that stands for the field */
    cip_status st;
    cip_err *err;
} search;

static int see_folder(void *user, const char *name, bool is_folder)
{
    search *s = user;
    if (is_folder && cip_blz_stands_for(name, s->field))
        s->st = cip_arena_printf(s->u->arena, &s->found, s->err, "%s/%s", s->dir, name);
    return s->st != CIP_OK;
}

/* *out NULL: there is none. */
static cip_status find_folder(cip_blz_state *u, cip_io *io, const char *dir, const char *field,
                              char **out, cip_err *err)
{
    search s = { .u = u, .dir = dir, .field = field, .err = err };
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_io_list(io, dir, cip_blz_flags(u->b->layout), see_folder, &s, &why);
    *out = s.found;
    CIP_TRY(s.st);
    return st == CIP_OK || st == CIP_ERR_NOT_FOUND ? CIP_OK
                                                   : cip_fail(err, st, why.offset, "%s", why.text);
}

/* What stands for the new name already would become the field's. */
static cip_status rename_in_shard(cip_blz_state *u, const cip_blz_shard *shard, cip_revision *r,
                                  cip_err *err)
{
    cip_io *io = shard->of != NULL ? shard->of : u->b->layout->io;
    char *dir, *own, *other, *to;
    CIP_TRY(cip_arena_printf(u->arena, &dir, err, "%sdata", shard->dir));
    for (size_t i = 0; i + 1 < u->moved.depth && dir != NULL; i++)
        CIP_TRY(find_folder(u, io, dir, u->moved.way[i]->name, &dir, err));
    if (dir == NULL)
        return CIP_OK;
    CIP_TRY(find_folder(u, io, dir, u->moved.way[u->moved.depth - 1]->name, &own, err));
    CIP_TRY(find_folder(u, io, dir, u->name, &other, err));
    if (other != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.120s' is in the way", other);
    if (own == NULL)
        return CIP_OK;
    if (shard->of != NULL)
        return cip_blz_lies_outside(own, shard->name, err);
    CIP_TRY(cip_arena_printf(u->arena, &to, err, "%s/%s", dir, u->folder));
    return cip_revision_move_folder(r, u->b->layout->io, own, to, true, err);
}

bool cip_blz_changes_fields(const cip_blz_state *u)
{
    bool came = false;
    for (size_t i = 0; i < u->ncame; i++)
        came = came || !u->came[i].gone;
    return came || (u->b->document && (u->moved.depth != 0 || !has_all(u)));
}

cip_status cip_blz_move_fields(cip_blz_state *u, cip_revision *r, int64_t *gone, cip_err *err)
{
    uint64_t nbytes = 0;
    CIP_TRY(count_gone(u, &nbytes, err));
    *gone += (int64_t)nbytes;
    CIP_TRY(drop_fields(u, u->b->column[0]->array->dtype, 0, 1, r, err));
    for (size_t s = 0; s < u->b->nshard && u->moved.depth != 0; s++)
        CIP_TRY(rename_in_shard(u, &u->b->shard[s], r, err));
    return CIP_OK;
}
