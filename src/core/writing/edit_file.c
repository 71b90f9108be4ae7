/* SPDX-License-Identifier: BSD-3-Clause
 * A file as an update has made it so far: its tree, and its arrays, those that were there by the
 * paths that they have by now, those that came, and what else the tree describes. It is put
 * together again when it is asked for after a change. */
#include <string.h>

#include "core/writing/edit_impl.h"
#include "array/elem.h"
#include "tree/node.h"
#include "tree/value.h"

/* What the update did, the first deed first. */
typedef struct deeds {
    cip_edit *e;
    const cip_edit_place **at;
    size_t n;
    cip_arena mem;
} deeds;

static cip_status take_deeds(deeds *d, cip_err *err)
{
    size_t n = 0;
    for (const cip_edit_place *x = d->e->places; x != NULL; x = x->next)
        n++;
    CIP_TRY(CIP_ARENA_NEW(&d->mem, &d->at, n + 1, err));
    d->n = n;
    for (const cip_edit_place *x = d->e->places; x != NULL; x = x->next)
        d->at[--n] = x;
    return CIP_OK;
}

/* The path by now of what had one when the first `from` deeds were done: NULL where it is gone.
 * What was moved nobody knows where (*lost) keeps its path, by which looking for it is refused. */
static cip_status path_by_now(deeds *d, size_t from, const char *path, const char **out, bool *lost,
                              cip_err *err)
{
    char *moved;
    *out = path;
    *lost = false;
    for (size_t i = from; i < d->n; i++) {
        const cip_edit_place *x = d->at[i], *next = i + 1 < d->n ? d->at[i + 1] : NULL;
        const bool left = x->deed == CIP_EDIT_LEFT;
        if (left && next != NULL && next->deed == CIP_EDIT_MOVED && next->from != NULL &&
            cip_path_within(*out, next->from)) {
            CIP_TRY(cip_arena_printf(&d->mem, &moved, err, "%s%s", next->path,
                                     *out + strlen(next->from)));
            *out = moved;
            i++;
        } else if (cip_path_within(*out, x->path)) {
            *lost = left || (x->deed == CIP_EDIT_MOVED && x->from == NULL);
            *out = *lost ? *out : NULL;
            return CIP_OK;
        }
    }
    return CIP_OK;
}

/* How many deeds were done when the array had the path that it is known by. */
static size_t deeds_before(const deeds *d, const cip_array *a)
{
    size_t n = d->n;
    if (cip_edit_added_of(d->e, a) == NULL)
        return 0;
    while (n != 0 && cip_edit_added_array(d->e, d->at[n - 1], NULL) != a)
        n--;
    return n;
}

cip_status cip_edit_path_now(void *edit, const cip_array *a, cip_arena *arena, const char **out,
                             cip_err *err)
{
    deeds d = { .e = edit, .mem = { .mem = &((cip_edit *)edit)->file->env.mem } };
    const char *path = NULL;
    char *own, *copy = NULL;
    bool lost = false;
    cip_status st;
    CIP_GO(take_deeds(&d, err));
    CIP_GO(cip_path_plain(&d.e->file->env, &d.mem, a->path, &own, err));
    CIP_GO(path_by_now(&d, deeds_before(&d, a), own, &path, &lost, err));
    if (path != NULL && !lost)
        CIP_GO(cip_arena_copy(arena, path, strlen(path), &copy, err));
done:
    *out = copy;
    cip_arena_clear(&d.mem);
    return st;
}

/* Whether an array is, or may be, listed by the node's path. */
static bool is_array(const cip_edit *e, const cip_node *node)
{
    bool within;
    return node != NULL && e->ops->is_array != NULL && e->ops->is_array(node, &within);
}

static cip_status new_array(cip_edit *e, const char *path, cip_array **out, cip_err *err)
{
    cip_file *f = e->seen.file;
    const size_t n = strlen(path);
    char *copy;
    CIP_TRY(cip_layout_add_array(f->layout, true, out, err));
    CIP_TRY(cip_arena_copy(&f->layout->arena, path, n, &copy, err));
    (*out)->path = copy;
    const cip_bytes key = { (const uint8_t *)copy, n };
    return cip_strmap_get(&f->by_path, key) != SIZE_MAX
               ? CIP_OK
               : cip_strmap_put(&f->by_path, key, f->layout->narray - 1, NULL, err);
}

/* Lists the array that is at `path` by now; `was` as the file has it, NULL: it came. Where the tree
 * describes arrays, list_unknown() has those that are elsewhere, or unknown, by then. */
static cip_status list(cip_edit *e, const cip_node *root, const char *path, const cip_array *was,
                       cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    const cip_array *now;
    cip_array *a;
    const cip_status st = cip_edit_field(e, path, NULL, &now, &why);
    const cip_node *node = path[0] != '\0' ? cip_tree_get(root, path, NULL) : root;
    /* Slabs are not in the tree yet. */
    const bool is = is_array(e, node) || (st == CIP_OK && cip_edit_no_slab(e, now, NULL) != CIP_OK);
    const bool refused = st == CIP_ERR_UNSUPPORTED;
    const bool is_field = st == CIP_ERR_ARG && was == NULL; /* of records, which are listed */
    if (st == CIP_ERR_NOT_FOUND || is_field || (st == CIP_OK && now->was != was) ||
        (e->ops->is_array != NULL && (st == CIP_OK ? !is : refused && (is || was != NULL))))
        return CIP_OK;
    if (st != CIP_OK && (!refused || was == NULL))
        return cip_err_give(err, &why, st);
    CIP_TRY(new_array(e, path, &a, err));
    path = a->path;
    *a = st == CIP_OK ? *now : *was;
    a->path = path;
    a->same = NULL;
    a->attributes = NULL;
    a->was = was;
    if (a->node != NULL)
        a->node = node;
    if (st != CIP_OK)
        cip_array_refuse(a, st, &why);
    return CIP_OK;
}

static cip_status list_all(deeds *d, const cip_node *root, cip_err *err)
{
    const cip_layout *old = d->e->file->layout;
    const char *path;
    char *own;
    bool lost;
    CIP_TRY(take_deeds(d, err));
    for (size_t i = 0; i < old->narray; i++) {
        const cip_array *a = old->array[i];
        CIP_TRY(cip_path_plain(&d->e->file->env, &d->mem, a->path, &own, err));
        CIP_TRY(path_by_now(d, 0, own, &path, &lost, err));
        if (path != NULL)
            CIP_TRY(list(d->e, root, path == own ? a->path : path, a, err));
    }
    for (size_t i = 0; i < d->n; i++) {
        if (d->at[i]->deed != CIP_EDIT_PUT)
            continue;
        bool within;
        const cip_array *a = cip_edit_added_array(d->e, d->at[i], &within);
        CIP_TRY(path_by_now(d, i + 1, d->at[i]->path, &path, &lost, err));
        if (path != NULL && !within && (!lost || a == NULL))
            CIP_TRY(list(d->e, root, path, NULL, err));
    }
    return CIP_OK;
}

typedef struct unknown {
    cip_edit *e;
    cip_status st;
    cip_err why;
} unknown;

static cip_status add_unknown(unknown *u, const char *path, cip_err *err)
{
    cip_layout *l = u->e->seen.file->layout;
    cip_err why = CIP_ERR_INIT;
    const cip_array *now;
    cip_array *a;
    CIP_TRY(new_array(u->e, path, &a, err));
    CIP_TRY(cip_dtype_opaque(&l->arena, 0, "unknown", &a->dtype, err));
    a->storage.codec = "";
    if (cip_edit_field(u->e, path, NULL, &now, &why) != CIP_ERR_UNSUPPORTED)
        cip_fail(&why, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                 "'%.100s' was added in this update; commit it first", path);
    cip_array_refuse(a, CIP_ERR_UNSUPPORTED, &why);
    return CIP_OK;
}

/* An array that the tree has and list() has not: it cannot be read before the commit, or no deed
 * tells of it (within a value that was set, a quantity whose value came, an item of a list). What
 * the file has too and does not list is none. */
static int list_unknown(void *user, const cip_visit *v)
{
    unknown *u = user;
    const cip_file *f = u->e->file;
    const cip_bytes key = { (const uint8_t *)v->path, strlen(v->path) };
    bool within;
    if (u->e->ops->is_array(v->node, &within) &&
        cip_strmap_get(&u->e->seen.file->by_path, key) == SIZE_MAX &&
        (cip_find(f, v->path, NULL) != NULL ||
         !is_array(u->e, cip_tree_get(f->layout->tree, v->path, NULL))))
        u->st = add_unknown(u, v->path, &u->why);
    return u->st != CIP_OK ? -1 : within ? 0 : 1;
}

/* The arrays that the tree has, in its order. */
typedef struct order {
    cip_edit *e;
    cip_array **at;
    size_t n;
    bool *met; /* of each array of the layout */
} order;

static int meet(void *user, const cip_visit *v)
{
    order *o = user;
    const cip_file *f = o->e->seen.file;
    const cip_bytes key = { (const uint8_t *)v->path, strlen(v->path) };
    const size_t i = cip_strmap_get(&f->by_path, key);
    bool within;
    o->e->ops->is_array(v->node, &within);
    if (i != SIZE_MAX && !o->met[i]) {
        o->met[i] = true;
        o->at[o->n++] = f->layout->array[i];
    }
    return within ? 0 : 1;
}

/* As the file lists them after the commit: in the order of the tree, then others. */
static cip_status sort(cip_edit *e, const cip_node *root, cip_err *err)
{
    cip_layout *l = e->seen.file->layout;
    cip_mem *mem = &e->file->env.mem;
    order o = { .e = e };
    if (e->ops->is_array == NULL || root == NULL)
        return CIP_OK;
    cip_status st = CIP_NEW(mem, &o.at, l->narray, err);
    if (st == CIP_OK)
        st = CIP_NEW(mem, &o.met, l->narray, err);
    if (st == CIP_OK)
        st = cip_tree_walk(root, &e->file->env, meet, &o, err);
    for (size_t i = 0; st == CIP_OK && i < l->narray; i++)
        if (!o.met[i])
            o.at[o.n++] = l->array[i];
    if (st == CIP_OK && o.n != 0)
        memcpy(l->array, o.at, o.n * sizeof *o.at);
    cip_strmap_clear(&e->seen.file->by_path);
    cip_mem_put(mem, o.met);
    cip_mem_put(mem, o.at);
    return st;
}

static cip_status make(cip_edit *e, cip_err *err)
{
    const cip_layout *old = e->file->layout;
    deeds d = { .e = e, .mem = { .mem = &e->file->env.mem } };
    cip_file *f = e->seen.file;
    const cip_node *root;
    CIP_TRY(cip_edit_tree(e, &root, err));
    CIP_TRY(cip_layout_new(&f->env, old->io, &f->layout, err));
    f->format = e->file->format;
    f->layout->format = old->format;
    f->layout->version = old->version;
    f->layout->flags = old->flags;
    f->layout->tree = root;
    cip_status st = list_all(&d, root, err);
    cip_arena_clear(&d.mem);
    unknown u = { .e = e };
    if (st == CIP_OK && e->ops->is_array != NULL && root != NULL)
        st = cip_tree_walk(root, &e->file->env, list_unknown, &u, err);
    if (u.st != CIP_OK)
        st = cip_err_give(err, &u.why, u.st);
    if (st == CIP_OK)
        st = sort(e, root, err);
    return st == CIP_OK ? cip_file_index_arrays(f, err) : st;
}

cip_status cip_edit_file(cip_edit *e, const cip_file **file, cip_err *err)
{
    CIP_TRY(cip_edit_check(e, true, "looking", err));
    if (e->seen.file == NULL) {
        CIP_TRY(cip_file_prepare_like(e->file, &e->seen.file, err));
        e->seen.file->of = e->file;
    } else if (e->seen.ncall == e->ncall && e->seen.file->layout != NULL) {
        *file = e->seen.file;
        return CIP_OK;
    }
    cip_file_shut(e->seen.file);
    const cip_status st = make(e, err);
    if (st != CIP_OK) {
        cip_file_shut(e->seen.file);
        return st;
    }
    e->seen.ncall = e->ncall;
    *file = e->seen.file;
    return CIP_OK;
}
