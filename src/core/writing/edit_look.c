/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays and the tree as an update has made them so far. An array is found by its path in the file
 * as it was, so the paths are kept at which the update put, moved, removed or set something: what
 * lies at one of them, or below, is no longer what the file has there, but where it was moved to is
 * what the file has at the path that it was moved from. */
#include "array/elem.h"
#include "core/writing/edit_impl.h"
#include "tree/node.h"

#include <string.h>

/* --- places ----------------------------------------------------------------------------------- */

/* What goes from a list moves the items behind it, so all of the list counts as changed. */
static cip_status take_list(cip_edit *e, char *path, cip_edit_deed *deed, cip_err *err)
{
    const cip_node *root;
    char *last = strrchr(path, '/');
    if (last == NULL)
        return CIP_OK;
    CIP_TRY(cip_edit_tree(e, &root, err));
    *last = '\0';
    if (cip_node_kind(cip_tree_get(root, path, NULL)) == CIP_NODE_SEQ)
        *deed = CIP_EDIT_LEFT;
    else
        *last = '/';
    return CIP_OK;
}

cip_status cip_edit_note(cip_edit *e, const char *path, cip_edit_deed deed, cip_err *err)
{
    cip_edit_place *x;
    char *text;
    if (path == NULL)
        return CIP_OK;
    /* Could a value set there take the place of an array: of one that the file has there or below,
     * or of one that this update brought? */
    if (deed == CIP_EDIT_SET && e->places == NULL &&
        cip_node_kind(cip_tree_get(e->file->layout->tree, path, NULL)) < CIP_NODE_SEQ)
        return CIP_OK;
    CIP_TRY(cip_path_plain(&e->file->env, &e->arena, path, &text, err));
    CIP_TRY(CIP_ARENA_NEW(&e->arena, &x, 1, err));
    if (deed == CIP_EDIT_GONE || deed == CIP_EDIT_LEFT)
        CIP_TRY(take_list(e, text, &deed, err));
    *x = (cip_edit_place){ e->places, text, deed, NULL };
    e->places = x;
    return CIP_OK;
}

/* Steps in quotes and such of numbers ("?3") may name other keys than the plain ones. */
static bool is_sure(const char *path)
{
    return strpbrk(path, "\"?") == NULL;
}

cip_status cip_edit_note_move(cip_edit *e, const char *from, const char *to, cip_err *err)
{
    cip_edit_place *const before = e->places;
    char *text = NULL;
    CIP_TRY(cip_path_plain(&e->file->env, &e->arena, from, &text, err));
    CIP_TRY(cip_edit_note(e, from, CIP_EDIT_LEFT, err));
    CIP_TRY(cip_edit_did(e, before, cip_edit_note(e, to, CIP_EDIT_MOVED, err)));
    const bool sure = is_sure(from) && is_sure(to) && e->places->path[0] != '\0';
    e->places->from = sure ? text : NULL;
    return CIP_OK;
}

cip_status cip_edit_did(cip_edit *e, cip_edit_place *before, cip_status st)
{
    if (st != CIP_OK)
        e->places = before;
    return st;
}

/* The last deed that reached `path`, or NULL. */
static const cip_edit_place *reached(const cip_edit *e, const char *path)
{
    const cip_edit_place *x = e->places;
    while (x != NULL && !cip_path_within(path, x->path))
        x = x->next;
    return x;
}

/* Whether `path`, at the place of a put or below it, names what was put or a field of it. */
static bool is_put(const cip_edit *e, const cip_edit_place *x, const char *path)
{
    const char *rest = path + strlen(x->path);
    const cip_array *a = cip_edit_added_array(e, x, NULL);
    return *rest == '\0' ||
           (a != NULL && cip_dtype_find_field(a->dtype, rest + 1, strcspn(rest + 1, "/")) != NULL);
}

/* `path` in one spelling. */
static cip_status not_the_files(const cip_edit *e, const cip_edit_place *x, const char *path,
                                cip_err *err)
{
    if (x->deed == CIP_EDIT_PUT && is_put(e, x, path))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the array '%.100s' was added in this update; commit it first", path);
    if (x->deed == CIP_EDIT_MOVED || x->deed == CIP_EDIT_LEFT)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.100s' was moved in this update; commit it first", path);
    return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                    "the array '%.100s' was removed or replaced in this update", path);
}

/* An array that the tree does not describe is replaced by no value of it. */
static bool counts(const cip_edit_place *x, const cip_array *a)
{
    return x != NULL && (x->deed != CIP_EDIT_SET || a->node != NULL || a->path[0] != '\0');
}

/* Where the tree describes it under another path (a quantity's value): that this is still there.
 * What reached `own`, its path, with that below does not count here. */
static cip_status still_described(const cip_edit *e, cip_arena *mem, const cip_array *a,
                                  const char *own, cip_err *err)
{
    char *same;
    if (a->same == NULL)
        return CIP_OK;
    CIP_TRY(cip_path_plain(&e->file->env, mem, a->same->path, &same, err));
    const cip_edit_place *x = reached(e, same);
    if (x == NULL || cip_path_within(own, x->path))
        return CIP_OK;
    const cip_status st = cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                                   "the array was removed or replaced in this update");
    return cip_fail_in(err, st, "%s", a->path);
}

/* That the array, which was found at `path`, is still the file's. */
static cip_status still(cip_edit *e, const char *path, const cip_array *a, cip_err *err)
{
    cip_arena mem = { .mem = &e->file->env.mem };
    char *asked, *own;
    cip_status st = CIP_OK;
    if (e->places == NULL)
        return CIP_OK;
    CIP_GO(cip_path_plain(&e->file->env, &mem, path != NULL ? path : "", &asked, err));
    CIP_GO(cip_path_plain(&e->file->env, &mem, a->path, &own, err));
    const cip_edit_place *x = asked[0] != '\0' ? reached(e, asked) : NULL;
    x = counts(x, a) ? x : reached(e, own);
    st = counts(x, a) ? not_the_files(e, x, asked[0] != '\0' ? asked : own, err)
                      : still_described(e, &mem, a, own, err);
done:
    cip_arena_clear(&mem);
    return st;
}

/* Why there is no array at `path` in the file as it was (`why`), or what the update did there. */
static cip_status not_found(cip_edit *e, const char *path, const cip_err *why, cip_err *err)
{
    cip_arena mem = { .mem = &e->file->env.mem };
    char *asked;
    cip_status st = cip_path_plain(&e->file->env, &mem, path != NULL ? path : "", &asked, err);
    const cip_edit_place *x = st == CIP_OK && asked[0] != '\0' ? reached(e, asked) : NULL;
    /* Columns are known by the names that they have by now, but for those that boxes fill. */
    const bool tells = x != NULL && (e->ops->records_now != NULL
                                         ? x->deed == CIP_EDIT_PUT
                                         : x->deed != CIP_EDIT_SET && x->deed != CIP_EDIT_GONE);
    if (tells)
        st = not_the_files(e, x, asked, err);
    else if (st == CIP_OK)
        st = cip_err_give(err, why, (cip_status)why->code);
    cip_arena_clear(&mem);
    return st;
}

/* --- arrays and the tree ---------------------------------------------------------------------- */

/* The path that what is at `path` had before all that the update moved, and (*x) the last deed that
 * reached it there, or NULL. */
static cip_status find_origin(const cip_edit *e, cip_arena *mem, const char *path, const char **out,
                              const cip_edit_place **x, cip_err *err)
{
    char *own;
    for (*x = e->places;; *x = (*x)->next->next) {
        while (*x != NULL && !cip_path_within(path, (*x)->path))
            *x = (*x)->next;
        if (*x == NULL || (*x)->deed != CIP_EDIT_MOVED || (*x)->from == NULL || !is_sure(path))
            break;
        CIP_TRY(cip_arena_printf(mem, &own, err, "%s%s", (*x)->from, path + strlen((*x)->path)));
        path = own;
    }
    *out = path;
    return CIP_OK;
}

/* Whether a quantity that is at `path` by now still has the value that the file has in it. */
static bool keeps_value(const cip_edit *e, cip_arena *mem, const char *path, const cip_array *was)
{
    const cip_edit_place *x;
    const char *origin;
    char *value;
    if (was->same == NULL)
        return true;
    return cip_path_within(was->same->path, was->path) &&
           cip_arena_printf(mem, &value, NULL, "%s%s", path, was->same->path + strlen(was->path)) ==
               CIP_OK &&
           find_origin(e, mem, value, &origin, &x, NULL) == CIP_OK && x == NULL &&
           strcmp(origin, was->same->path) == 0;
}

/* An array that this update brought, or one of the file's that it moved; *out NULL: there is none.
 * *field, of paths that may name one, lives in the update's arena. */
static cip_status find_moved(cip_edit *e, const char *path, const char **field,
                             const cip_array **out, cip_err *err)
{
    cip_arena mem = { .mem = &e->file->env.mem };
    const char *origin = NULL;
    const char *rest = "";
    const cip_edit_place *x = NULL;
    char *asked;
    cip_status st;
    *out = NULL;
    if (e->places == NULL || path == NULL)
        return CIP_OK;
    CIP_GO(cip_path_plain(&e->file->env, &mem, path, &asked, err));
    CIP_GO(find_origin(e, &mem, asked, &origin, &x, err));
    if (x != NULL && x->deed == CIP_EDIT_PUT) {
        rest = origin + strlen(x->path);
        *out = *rest == '\0' || field != NULL ? cip_edit_added_array(e, x, NULL) : NULL;
        rest += *rest == '/';
    } else if (origin != asked) {
        const cip_array *was = field != NULL ? cip_find_field(e->file, origin, &rest, NULL)
                                             : cip_find(e->file, origin, NULL);
        const bool is = was != NULL && !counts(x, was) && keeps_value(e, &mem, asked, was);
        *out = is ? was : NULL;
    }
    if (*out != NULL && field != NULL)
        st = cip_arena_copy(&e->arena, rest, strlen(rest), (char **)field, err);
done:
    cip_arena_clear(&mem);
    return st;
}

/* The records, if the path names them or, where they are the file's only array, a field. */
static cip_status find_records(cip_edit *e, const char *path, const char **field,
                               const cip_array **out, cip_err *err)
{
    const bool root = path == NULL || cip_path_is_root(path) || strcmp(path, "/") == 0;
    const cip_array *was = cip_file_array_at(e->file, "", 0), *now;
    cip_err why = CIP_ERR_INIT;
    *out = NULL;
    if (e->ops->records_now == NULL || (e->places == NULL && e->slabs == NULL) || was == NULL ||
        (!root && (e->file->layout->narray != 1 || was->dtype->nfield == 0)))
        return CIP_OK;
    CIP_TRY(e->ops->records_now(e->state, was, &now, err));
    CIP_TRY(cip_edit_slabs_in(e, now, &now, err));
    const char *rest = root ? "" : path + (path[0] == '/');
    if (!root && cip_field_of_step(now->dtype, rest, strcspn(rest, "/")) == NULL) {
        cip_fail(&why, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "no array or field is named '%.120s'",
                 path);
        return not_found(e, path, &why, err);
    }
    if (!root && field == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "'%.120s' is a field of an array, not an array of its own", path);
    if (field != NULL)
        *field = rest;
    *out = now;
    return CIP_OK;
}

cip_status cip_edit_base(cip_edit *e, const char *path, const char **field, const cip_array **out,
                         cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(find_records(e, path, field, out, err));
    if (*out == NULL)
        CIP_TRY(find_moved(e, path, field, out, err));
    if (*out != NULL)
        return CIP_OK;
    *out =
        field != NULL ? cip_find_field(e->file, path, field, &why) : cip_find(e->file, path, &why);
    if (*out == NULL)
        return not_found(e, path, &why, err);
    CIP_TRY(still(e, path, *out, err));
    *out = cip_edit_slab_of(e, *out);
    return CIP_OK;
}

/* A place of its own for what is seen of it, so that others that are looked at leave it alone. */
static cip_status place_for(cip_edit *e, const cip_array *a, cip_edit_looked **out, cip_err *err)
{
    cip_edit_looked *x = e->looked;
    while (x != NULL && x->of != a)
        x = x->next;
    if (x == NULL) {
        CIP_TRY(CIP_ARENA_NEW(&e->arena, &x, 1, err));
        *x = (cip_edit_looked){ e->looked, a, *a };
        e->looked = x;
    }
    *out = x;
    return CIP_OK;
}

cip_status cip_edit_field(cip_edit *e, const char *path, const char **field, const cip_array **out,
                          cip_err *err)
{
    cip_edit_looked *x;
    const cip_array *a;
    CIP_TRY(cip_edit_base(e, path, field, &a, err));
    if (a->storage.kind == CIP_STORAGE_REFERENCE && (e->places != NULL || cip_edit_any_made(e)))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the target of '%.100s' may have changed in this update; commit it first",
                        a->path);
    CIP_TRY(place_for(e, a, &x, err));
    x->seen = *cip_edit_now(e, a);
    if (a->was == NULL)
        x->seen.was = cip_edit_added_of(e, a) == NULL ? a : NULL;
    *out = &x->seen;
    return CIP_OK;
}

cip_status cip_edit_tree(cip_edit *e, const cip_node **root, cip_err *err)
{
    CIP_TRY(cip_arg_given(root, "a pointer for the root", err));
    *root = e->file->layout->tree;
    return e->ops->tree_now != NULL ? e->ops->tree_now(e->state, root, err) : CIP_OK;
}
