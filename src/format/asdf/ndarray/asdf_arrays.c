/* SPDX-License-Identifier: BSD-3-Clause
 * Listing arrays: a walk over the tree that keeps its own stack, makes a path only where an array
 * is, enters no node inside itself, and goes but once through what aliases share when there is no
 * array in it. */
#include "format/asdf/asdf.h"

#include <stdio.h>
#include <string.h>

#include "base/strmap.h"

enum { ALIAS_ARRAYS_MAX = 1 << 16 /* arrays listed once more under another path */ };

typedef struct frame {
    const cip_node *node;
    uint32_t next; /* the child to look at next */
    size_t narray; /* listed before it was entered */
    uint64_t cuts; /* made before it was entered */
} frame;

typedef struct walker {
    asdf_file *f;
    frame *at; /* of the env's memory */
    size_t depth, cap;
    uint64_t visits;
    uint64_t cuts;   /* nodes that were not entered: cycles, too deep */
    uint32_t copies; /* arrays listed again */
    cip_buf path;
    cip_strmap seen; /* nodes with aliases: 0 no array in it, otherwise the array's number + 1 */
    const cip_node *value; /* of the quantity that was listed last, and its array */
    size_t value_array;
    bool stopped;
} walker;

static void stop(walker *w, const char *what)
{
    w->stopped = true;
    cip_warn_lack(w->f->env, CIP_LACKS_NODE, NULL, CIP_ERR_LIMIT, CIP_NO_OFFSET, "tree",
                  "%s; arrays after that are not listed", what);
}

/* --- paths ------------------------------------------------------------------------------------ */

static cip_status add_step(walker *w, const frame *x, cip_err *err)
{
    char number[24] = "";
    uint32_t i = x->next - 1;
    const bool map = x->node->type == CIP_NODE_MAP;
    const cip_node *key = map ? x->node->pair[i].key : NULL;
    if (!map)
        snprintf(number, sizeof number, "%" PRIu32, i);
    else if (key->type == CIP_NODE_INT) /* 00000000 is found as 0 */
        snprintf(number, sizeof number, key->negative ? "%" PRId64 : "%" PRIu64, key->u);
    const cip_bytes step = { (const uint8_t *)number, strlen(number) };
    if (!map || (key->type == CIP_NODE_INT && cip_map_step(x->node, step) == i))
        return cip_path_add(&w->path, step, err);
    return cip_path_add_pair(&w->path, x->node, i, false, err);
}

/* --- arrays ----------------------------------------------------------------------------------- */

static cip_status remember(walker *w, const cip_node *node, size_t value, cip_err *err)
{
    return cip_strmap_put_ptr(&w->seen, &w->f->layout->arena, node, value, NULL, err);
}

/* One at the path of the child that was looked at last. */
static cip_status new_array(walker *w, cip_array **out, cip_err *err)
{
    char *path;
    w->path.len = 0;
    for (size_t i = 0; i < w->depth; i++)
        CIP_TRY(add_step(w, &w->at[i], err));
    CIP_TRY(cip_arena_copy(&w->f->layout->arena,
                           w->path.ptr != NULL ? w->path.ptr : (const uint8_t *)"", w->path.len,
                           &path, err));
    CIP_TRY(cip_layout_add_array(w->f->layout, true, out, err));
    (*out)->path = path;
    return CIP_OK;
}

/* The i-th array by another path. */
static cip_status copy_array(walker *w, size_t i, const cip_node *node, cip_err *err)
{
    cip_array *a;
    CIP_TRY(new_array(w, &a, err));
    const char *path = a->path;
    *a = *w->f->layout->array[i];
    a->path = path;
    a->node = node;
    a->same = NULL;
    if (node != NULL && node == w->value) {
        w->f->layout->array[w->value_array]->same = a;
        w->value = NULL;
    }
    return CIP_OK;
}

static cip_status again(walker *w, size_t i, const cip_node *node, cip_err *err)
{
    if (w->copies++ < ALIAS_ARRAYS_MAX)
        return copy_array(w, i, node, err);
    stop(w, "aliases repeat arrays too often");
    return CIP_OK;
}

static cip_status ndarray(walker *w, const cip_node *node, cip_err *err)
{
    cip_array *a;
    size_t known =
        cip_strmap_get_ptr(&w->seen, node); /* it may lie in something that aliases name */
    if (known != SIZE_MAX)
        return again(w, known - 1, node, err);
    CIP_TRY(remember(w, node, w->f->layout->narray + 1, err));
    if (node == w->value)
        return copy_array(w, w->value_array, node, err);
    CIP_TRY(new_array(w, &a, err));
    return cip_asdf_ndarray(w->f, node, true, a, err);
}

/* A quantity is its value with a unit: its path leads to the array too. */
static bool is_quantity(const cip_node *node)
{
    static const char prefix[] = ASDF_TAGS "unit/quantity-";
    return node->type == CIP_NODE_MAP && node->tag != NULL &&
           strncmp(node->tag, prefix, sizeof prefix - 1) == 0;
}

/* A URI with a scheme and a host, no file's: not data that we could have. */
static bool is_elsewhere(const char *ref)
{
    return strncmp(ref + strcspn(ref, ":/#"), "://", 3) == 0 && strncmp(ref, "file:", 5) != 0;
}

bool cip_asdf_is_array(const cip_node *node, bool *within)
{
    const char *ref = cip_asdf_ref_of(node);
    *within = ref == NULL && !cip_asdf_is_ndarray(node->tag, NULL);
    if (!*within)
        return ref == NULL || !is_elsewhere(ref);
    const cip_node *value = is_quantity(node) ? cip_map_get(node, "value") : NULL;
    return value != NULL && cip_asdf_is_ndarray(value->tag, NULL);
}

static cip_status quantity(walker *w, const cip_node *node, cip_err *err)
{
    const cip_node *value = cip_map_get(node, "value");
    cip_array *a;
    size_t known = cip_strmap_get_ptr(&w->seen, node);
    if (value == NULL || !cip_asdf_is_ndarray(value->tag, NULL))
        return CIP_OK;
    w->value_array = w->f->layout->narray;
    if (known != SIZE_MAX && known != 0) {
        CIP_TRY(again(w, known - 1, NULL, err));
        w->value = value;
        return CIP_OK;
    }
    CIP_TRY(remember(w, node, w->f->layout->narray + 1, err));
    CIP_TRY(new_array(w, &a, err));
    CIP_TRY(cip_asdf_ndarray(w->f, value, true, a, err));
    a->node = NULL; /* the tree shows the unit beside it */
    w->value = value;
    return CIP_OK;
}

/* A `$ref` mapping, when it leads to an array, or nobody can tell. */
static cip_status reference(walker *w, const char *ref, cip_err *err)
{
    asdf_file *owner = NULL;
    const cip_node *target = NULL;
    cip_array *a;
    cip_err why = CIP_ERR_INIT;
    if (is_elsewhere(ref))
        return CIP_OK;
    cip_status st = cip_asdf_resolve(w->f, ref, &owner, &target, &why);
    if (st == CIP_ERR_NOMEM) {
        cip_err_pass(err, &why);
        return st;
    }
    if (st == CIP_OK && !cip_asdf_is_ndarray(target->tag, NULL))
        return CIP_OK;
    CIP_TRY(new_array(w, &a, err));
    if (st == CIP_OK) {
        CIP_TRY(cip_asdf_ndarray(owner, target, true, a, err));
    } else {
        CIP_TRY(cip_dtype_opaque(&w->f->layout->arena, 0, "unknown", &a->dtype, err));
        a->storage = (cip_storage){ .codec = "", .block = -1 };
        cip_fail_in(&why, st, "%s", a->path);
        cip_array_refuse(a, st, &why);
    }
    a->storage.kind = CIP_STORAGE_REFERENCE;
    a->node = NULL; /* the tree shows the reference */
    return CIP_OK;
}

/* --- the walk --------------------------------------------------------------------------------- */

static cip_status enter(walker *w, const cip_node *node, cip_err *err)
{
    if (node->len == 0 || (node->alias_used && cip_strmap_get_ptr(&w->seen, node) == 0))
        return CIP_OK;
    size_t i = node->alias_used ? 0 : w->depth;
    while (i < w->depth && w->at[i].node != node)
        i++;
    /* inside itself, or too deep: only aliases reach deeper than the text */
    if (i < w->depth || w->depth >= w->f->env->limits.max_depth) {
        w->cuts++;
        return CIP_OK;
    }
    CIP_TRY(CIP_ROOM(&w->f->env->mem, &w->at, w->depth, &w->cap, err));
    w->at[w->depth++] = (frame){ node, 0, w->f->layout->narray, w->cuts };
    return CIP_OK;
}

static cip_status visit(walker *w, const cip_node *node, cip_err *err)
{
    if (cip_asdf_is_ndarray(node->tag, NULL))
        return ndarray(w, node, err);
    if (node->type != CIP_NODE_SEQ && node->type != CIP_NODE_MAP)
        return CIP_OK;
    const char *ref = cip_asdf_ref_of(node);
    if (ref != NULL)
        return reference(w, ref, err);
    if (is_quantity(node))
        CIP_TRY(quantity(w, node, err));
    return enter(w, node, err);
}

static cip_status step(walker *w, cip_err *err)
{
    frame *x = &w->at[w->depth - 1];
    if (x->next == x->node->len) {
        w->depth--;
        const bool none = x->narray == w->f->layout->narray && x->cuts == w->cuts;
        return x->node->alias_used && none ? remember(w, x->node, 0, err) : CIP_OK;
    }
    uint32_t i = x->next++;
    if (++w->visits > w->f->env->limits.max_expansion) {
        stop(w, "aliases make the tree larger than max_expansion");
        return CIP_OK;
    }
    return visit(w, x->node->type == CIP_NODE_MAP ? x->node->pair[i].value : x->node->item[i], err);
}

cip_status cip_asdf_list_arrays(asdf_file *f, cip_err *err)
{
    cip_mem *mem = &f->env->mem;
    walker w = { .f = f, .path = { .mem = mem }, .seen = { .mem = mem } };
    cip_status st = CIP_OK;
    if (f->layout->tree != NULL)
        st = visit(&w, f->layout->tree, err);
    while (st == CIP_OK && w.depth > 0 && !w.stopped)
        st = step(&w, err);
    cip_mem_put(mem, w.at);
    cip_buf_clear(&w.path);
    cip_strmap_clear(&w.seen);
    return st;
}
