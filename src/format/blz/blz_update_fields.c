/* SPDX-License-Identifier: BSD-3-Clause
 * Fields of the document's records that go or get another name: out of the dtype and dflt of
 * meta/storage, nbytes and cbytes of meta/sizes, and with them the folders that they lie in. Other
 * columns stay as they are: none of them knows of the others. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_update.h"

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

bool cip_blz_find_field(const cip_blz_state *u, const char *path, cip_blz_found *out)
{
    const cip_dtype *d = u->b->ncolumn != 0 ? u->b->column[0]->array->dtype : NULL;
    *out = (cip_blz_found){ .in = d };
    while (d != NULL && d->kind == CIP_RECORD) { /* records nest at most 32 deep */
        const cip_bytes step = { (const uint8_t *)path, strcspn(path, "/") };
        size_t i = 0;
        for (; i < d->nfield; i++) {
            const char *name = d->field[i].name;
            out->n = cip_blz_count_columns(d->field[i].dtype);
            if (cip_path_step_is(step, (cip_bytes){ (const uint8_t *)name, strlen(name) }))
                break;
            out->first += out->n;
        }
        if (i == d->nfield)
            return false;
        out->in = d;
        out->way[out->depth++] = &d->field[i];
        if (path[step.len] == '\0')
            return cip_blz_has_left(u, out->first, out->n);
        d = d->field[i].dtype;
        path += step.len + 1;
    }
    return false;
}

/* Fields change in an update of their own, and one alone gets another name. */
static cip_status expect_unchanged(const cip_blz_state *u, bool moves, cip_err *err)
{
    bool changed = u->moved.depth != 0 || u->ncoming != 0 || (moves && !has_all(u));
    for (size_t i = 0; i < u->b->ncolumn; i++)
        changed = changed || u->column[i].in_superchunks != NULL;
    return !changed ? CIP_OK
                    : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                               "the array changed in this update; commit it first");
}

cip_status cip_blz_remove_field(cip_blz_state *u, const cip_blz_found *f, cip_err *err)
{
    const size_t behind = f->first + f->n;
    CIP_TRY(expect_unchanged(u, false, err));
    if (!cip_blz_has_left(u, 0, f->first) && !cip_blz_has_left(u, behind, u->b->ncolumn - behind))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the last field of the records, '%.80s', cannot be removed",
                        f->way[f->depth - 1]->name);
    for (size_t i = f->first; i < behind; i++)
        CIP_TRY(cip_blz_keep_column(u, i, err));
    for (size_t i = f->first; i < behind; i++)
        u->column[i].gone = true;
    return CIP_OK;
}

cip_status cip_blz_move_field(cip_blz_state *u, const cip_blz_found *f, const char *from,
                              const char *to, cip_err *err)
{
    const char *slash = strrchr(from, '/');
    const size_t within = slash != NULL ? (size_t)(slash + 1 - from) : 0;
    cip_buf folder = { .mem = &u->env->mem };
    char *name;
    CIP_TRY(expect_unchanged(u, true, err));
    if (strncmp(from, to, within) != 0 || strpbrk(to + within, "/~") != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a name in the same record, '%.*sNAME', found '%.80s'",
                        (int)within, from, to);
    CIP_TRY(cip_arena_printf(u->arena, &name, err, "%s", to + within));
    if (cip_dtype_find_field(f->in, name, strlen(name)) != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.80s' exists", to);
    cip_status st = cip_blz_folder_name(name, &folder, err);
    if (st == CIP_OK)
        st = cip_arena_copy(u->arena, folder.ptr, folder.len, &u->folder, err);
    cip_buf_clear(&folder);
    CIP_TRY(st);
    u->moved = *f;
    u->name = name;
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
        if (u->moved.depth != 0 && u->moved.way[u->moved.depth - 1] == &d->field[i]) {
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

/* *now: as meta/storage is read then. */
static cip_status put_storage(cip_blz_state *u, cip_revision *r, cip_blz_meta *now, cip_err *err)
{
    const cip_blz_meta *own = &u->b->column[0]->meta;
    const cip_dtype *d = u->b->column[0]->array->dtype;
    cip_blz_meta was = *own;
    cip_build b = { .arena = u->arena };
    const cip_node *n;
    uint64_t records = 1; /* of a row; fits: that was checked when they were read */
    for (int32_t k = 1; k < was.ndim; k++)
        records *= (uint64_t)was.shape[k];
    was.dtype = d;
    was.row = records * d->itemsize;
    *now = was;
    CIP_TRY(cip_build_set(&b, "", own->storage, err));
    CIP_TRY(keep_fields(u, d, 0, cip_map_get(own->storage, "dtype"), &n, err));
    CIP_TRY(cip_blz_dtype(u->b->layout, n, now, err));
    CIP_TRY(cip_build_set(&b, "dtype", n, err));
    if (cip_map_get(own->storage, "dflt") != NULL) {
        CIP_TRY(cip_blz_keep_dflt(u, &was, &n, err));
        CIP_TRY(cip_build_set(&b, "dflt", n, err));
    }
    now->storage = b.root;
    now->row = records * now->dtype->itemsize;
    CIP_TRY(check_dflt(u, &was, now, err));
    return cip_blz_put_json(u, r, "meta/storage", b.root, err);
}

/* --- meta/sizes ------------------------------------------------------------------------------- */

static cip_status put_sizes(cip_blz_state *u, cip_revision *r, const cip_blz_meta *now,
                            cip_err *err)
{
    const cip_node *was = cip_map_get(now->sizes, "cbytes");
    cip_build b = { .arena = u->arena };
    cip_node *n;
    int64_t cbytes;
    uint64_t gone = 0;
    for (size_t i = 0; i < u->b->ncolumn; i++)
        if (u->column[i].gone) {
            /* Bytes of the column's chunks, as far as anybody can tell. */
            for (size_t j = 0; j < u->b->column[i]->nsuper; j++) {
                cip_bp_file *f;
                cip_space *s;
                cip_err why = CIP_ERR_INIT;
                bool all = true;
                cip_status st = cip_blz_super_open(u->b->column[i], j, &f, &why);
                if (st == CIP_OK)
                    st = cip_space_resolve(f->data, &s, &why);
                if (st == CIP_OK)
                    st = cip_bp_count_bytes(f, &gone, &all, &why);
                if (st == CIP_ERR_NOMEM || st == CIP_ERR_IO)
                    return cip_fail(err, st, why.offset, "%s", why.text);
            }
        }
    CIP_TRY(cip_build_set(&b, "", now->sizes, err));
    CIP_TRY(cip_node_new_uint(u->arena, now->row * (uint64_t)now->shape[0], &n, err));
    CIP_TRY(cip_build_set(&b, "nbytes", n, err));
    if (was != NULL && cip_node_as_int(was, &cbytes)) {
        CIP_TRY(cip_node_new_int(u->arena, cbytes > (int64_t)gone ? cbytes - (int64_t)gone : 0, &n,
                                 err));
        CIP_TRY(cip_build_set(&b, "cbytes", n, err));
    }
    return cip_blz_put_json(u, r, "meta/sizes", b.root, err);
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
            CIP_TRY(cip_blz_move_folder(u, dir, NULL, r, err));
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
    return cip_blz_move_folder(u, own, to, r, err);
}

bool cip_blz_changes_fields(const cip_blz_state *u)
{
    return u->b->document && (u->moved.depth != 0 || !has_all(u));
}

cip_status cip_blz_fields_finish(cip_blz_state *u, cip_revision *r, cip_err *err)
{
    cip_blz_meta now;
    CIP_TRY(put_storage(u, r, &now, err));
    if (!has_all(u))
        CIP_TRY(put_sizes(u, r, &now, err));
    CIP_TRY(drop_fields(u, u->b->column[0]->array->dtype, 0, 1, r, err));
    for (size_t s = 0; s < u->b->nshard && u->moved.depth != 0; s++)
        CIP_TRY(rename_in_shard(u, &u->b->shard[s], r, err));
    return cip_revision_switch(r, "meta/storage", err);
}
