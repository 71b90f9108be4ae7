/* SPDX-License-Identifier: BSD-3-Clause
 * A file as an update has made it so far: its tree, and its arrays, those that were there by the
 * paths that they have by now, then those that came. It is put together anew when it is asked for
 * after a change. */
#include <string.h>

#include "core/writing/edit_impl.h"
#include "tree/node.h"

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
 * What was moved nobody knows where keeps its path, by which looking for it is refused. */
static cip_status path_by_now(deeds *d, size_t from, const char *path, const char **out,
                              cip_err *err)
{
    char *moved;
    *out = path;
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
            if (left || (x->deed == CIP_EDIT_MOVED && x->from == NULL))
                return CIP_OK;
            *out = NULL;
            return CIP_OK;
        }
    }
    return CIP_OK;
}

/* Lists the array that is at `path` by now; `was` as the file has it, NULL: it came. */
static cip_status list(cip_edit *e, const cip_node *root, const char *path, const cip_array *was,
                       cip_err *err)
{
    cip_layout *l = e->seen.file->layout;
    cip_err why = CIP_ERR_INIT;
    const cip_array *now;
    cip_array *a;
    char *copy;
    const cip_status st = cip_edit_array(e, path, &now, &why);
    if (st == CIP_ERR_NOT_FOUND)
        return CIP_OK;
    if (st != CIP_OK && (st != CIP_ERR_UNSUPPORTED || was == NULL))
        return cip_err_give(err, &why, st);
    CIP_TRY(cip_layout_add_array(l, true, &a, err));
    CIP_TRY(cip_arena_copy(&l->arena, path, strlen(path), &copy, err));
    *a = st == CIP_OK ? *now : *was;
    a->path = copy;
    a->same = NULL;
    a->attributes = NULL;
    a->was = was;
    if (a->node != NULL)
        a->node = path[0] != '\0' ? cip_tree_get(root, path, NULL) : root;
    if (st != CIP_OK)
        cip_array_refuse(a, st, &why);
    return CIP_OK;
}

static cip_status list_all(deeds *d, const cip_node *root, cip_err *err)
{
    const cip_layout *old = d->e->file->layout;
    const char *path;
    char *own;
    CIP_TRY(take_deeds(d, err));
    for (size_t i = 0; i < old->narray; i++) {
        const cip_array *a = old->array[i];
        CIP_TRY(cip_path_plain(&d->e->file->env, &d->mem, a->path, &own, err));
        CIP_TRY(path_by_now(d, 0, own, &path, err));
        if (path != NULL)
            CIP_TRY(list(d->e, root, path == own ? a->path : path, a, err));
    }
    for (size_t i = 0; i < d->n; i++) {
        if (d->at[i]->deed != CIP_EDIT_PUT)
            continue;
        CIP_TRY(path_by_now(d, i + 1, d->at[i]->path, &path, err));
        if (path != NULL)
            CIP_TRY(list(d->e, root, path, NULL, err));
    }
    return CIP_OK;
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
    return st == CIP_OK ? cip_file_index_arrays(f, err) : st;
}

cip_status cip_edit_file(cip_edit *e, const cip_file **file, cip_err *err)
{
    CIP_TRY(cip_edit_there(e, err));
    err = cip_err_enter(err);
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
