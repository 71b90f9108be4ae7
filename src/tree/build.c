/* SPDX-License-Identifier: BSD-3-Clause
 * Trees made by paths. The collections on the way to a change are the builder's own, copied when
 * they came with a value, and grow by doubling, so that n appends take linear memory; mappings have
 * an index of their keys, so that n changes take linear time. */
#include <string.h>

#include "tree/edit.h"
#include "tree/node.h"

/* A collection of a builder. Its `end` is OWN, which no node that was parsed or made has. */
typedef struct own {
    cip_node node;
    const cip_build *by;
    uint32_t age;
    size_t cap; /* items or pairs */
} own;

#define OWN (CIP_NO_OFFSET - 1)

static own *own_of(const cip_build *b, const cip_node *n)
{
    own *o = (own *)(void *)n;
    return n->end == OWN && o->by == b && o->age == b->age ? o : NULL;
}

/* Room for `cap` items or pairs. */
static cip_status reserve(cip_build *b, own *o, size_t cap, cip_err *err)
{
    if (o->node.type == CIP_NODE_MAP) {
        CIP_TRY(cip_map_reserve(b->arena, &o->node, cap, err));
    } else {
        void *more;
        CIP_TRY(cip_arena_zeroed(b->arena, cap, sizeof *o->node.item, &more, err));
        if (o->node.len != 0)
            memcpy(more, o->node.item, o->node.len * sizeof *o->node.item);
        o->node.item = more;
    }
    o->cap = cap;
    return CIP_OK;
}

static cip_status make(cip_build *b, cip_node_type type, own **out, cip_err *err)
{
    CIP_TRY(CIP_ARENA_NEW(b->arena, out, 1, err));
    (*out)->node = (cip_node){ .type = (uint8_t)type, .offset = CIP_NO_OFFSET, .end = OWN };
    (*out)->by = b;
    (*out)->age = b->age;
    return CIP_OK;
}

/* `n` itself when it is the builder's, else a copy, which has no anchor. */
static cip_status adopt(cip_build *b, const cip_node *n, own **out, cip_err *err)
{
    *out = own_of(b, n);
    if (*out != NULL)
        return CIP_OK;
    CIP_TRY(make(b, cip_node_kind(n), out, err));
    (*out)->node.item = n->item;
    (*out)->node.len = n->len;
    (*out)->node.style = n->style;
    (*out)->node.tag = n->tag;
    return reserve(b, *out, n->len, err);
}

static bool is_collection(const cip_node *n)
{
    return cip_node_kind(n) >= CIP_NODE_SEQ;
}

/* Where in the collection the step is: len when it may be added there. */
static cip_status find(const own *o, cip_bytes step, size_t *at, cip_err *err)
{
    if (o->node.type == CIP_NODE_MAP) {
        *at = cip_map_step(&o->node, step);
        if (*at == SIZE_MAX)
            *at = o->node.len;
        return CIP_OK;
    }
    return cip_step_place(step, o->node.len, at, err);
}

/* Before the first node that a path makes or replaces; what is only copied stays what it is. */
static void note(cip_build *b, own *o, size_t at, const cip_node *was)
{
    if (b->in != NULL)
        return;
    b->in = &o->node;
    b->at = at;
    b->was = was;
}

/* Puts `value` at `at`, which may be one past the last. */
static cip_status put(cip_build *b, own *o, size_t at, cip_bytes step, const cip_node *value,
                      cip_err *err)
{
    cip_node *key;
    const bool map = o->node.type == CIP_NODE_MAP;
    if (at < o->node.len) {
        if (map)
            ((cip_pair *)o->node.pair)[at].value = value;
        else
            o->node.item[at] = value;
        return CIP_OK;
    }
    /* Room for one more. */
    if (o->node.len >= o->cap) {
        const size_t cap = o->cap == 0 ? 8 : 2 * o->cap;
        if (cap > UINT32_MAX)
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a collection of %zu items", cap);
        CIP_TRY(reserve(b, o, cap, err));
    }
    if (map) {
        step = cip_map_new_key(&o->node, step);
        CIP_TRY(cip_steps_new(&step, 1, err));
        CIP_TRY(cip_node_new_string(b->arena, (const char *)step.ptr, step.len, &key, err));
        cip_map_add(&o->node, (cip_pair){ key, value });
    } else {
        o->node.item[o->node.len++] = value;
    }
    return CIP_OK;
}

/* The builder's own collection at `at`, put back there; made for step[1] when there is none. */
static cip_status enter(cip_build *b, own *o, size_t at, const cip_bytes *step, own **out,
                        cip_err *err)
{
    const cip_node *child = cip_node_at(&o->node, at);
    if (child != NULL && !is_collection(child))
        return cip_step_fail_parent(step[1], err);
    if (child != NULL)
        CIP_TRY(adopt(b, child, out, err));
    else
        CIP_TRY(make(b, cip_step_makes_list(step[1]) ? CIP_NODE_SEQ : CIP_NODE_MAP, out, err));
    if (child == NULL)
        note(b, o, at, NULL);
    return put(b, o, at, step[0], &(*out)->node, err);
}

static cip_status own_root(cip_build *b, own **out, cip_err *err)
{
    if (b->root == NULL)
        CIP_TRY(make(b, CIP_NODE_MAP, out, err));
    else
        CIP_TRY(adopt(b, b->root, out, err));
    b->root = &(*out)->node;
    return CIP_OK;
}

static cip_status set(cip_build *b, const char *path, const cip_node *value, cip_err *err)
{
    cip_bytes *step;
    size_t n, at;
    own *o;
    CIP_TRY(cip_path_split(b->arena, path, &step, &n, err));
    if (n == 0) {
        if (!is_collection(value))
            return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                            "expected a mapping or sequence as the tree, found a scalar");
        CIP_TRY(adopt(b, value, &o, err));
        b->root = &o->node;
        return CIP_OK;
    }
    CIP_TRY(own_root(b, &o, err));
    for (size_t i = 0;; i++) {
        CIP_TRY(find(o, step[i], &at, err));
        if (i + 1 == n) {
            note(b, o, at, cip_node_at(&o->node, at));
            return put(b, o, at, step[i], value, err);
        }
        CIP_TRY(enter(b, o, at, step + i, &o, err));
    }
}

cip_status cip_build_set(cip_build *b, const char *path, const cip_node *value, cip_err *err)
{
    b->old_root = b->root;
    b->in = NULL;
    cip_status st = set(b, path, value, err);
    if (st != CIP_OK)
        cip_build_undo(b);
    return st;
}

static void drop(own *o, size_t at)
{
    if (o->node.type == CIP_NODE_MAP) {
        cip_map_drop(&o->node, at);
        return;
    }
    const cip_node **p = o->node.item + at;
    memmove(p, p + 1, (o->node.len - at - 1) * sizeof *p);
    o->node.len--;
}

cip_status cip_build_remove(cip_build *b, const char *path, cip_err *err)
{
    cip_bytes *step;
    size_t n, at;
    own *o;
    CIP_TRY(cip_path_split(b->arena, path, &step, &n, err));
    if (n == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a path to a node within the tree, found the whole tree");
    CIP_TRY(own_root(b, &o, err));
    cip_err why = CIP_ERR_INIT;
    if (cip_tree_get(b->root, path, &why) == NULL)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "%s", why.text);
    for (size_t i = 0;; i++) {
        CIP_TRY(find(o, step[i], &at, err));
        if (i + 1 == n)
            break;
        CIP_TRY(enter(b, o, at, step + i, &o, err));
    }
    drop(o, at);
    return CIP_OK;
}

void cip_build_undo(cip_build *b)
{
    own *o = b->in != NULL ? own_of(b, b->in) : NULL;
    if (o != NULL && b->was != NULL && o->node.type == CIP_NODE_MAP)
        ((cip_pair *)o->node.pair)[b->at].value = b->was;
    else if (o != NULL && b->was != NULL)
        o->node.item[b->at] = b->was;
    else if (o != NULL && b->at < o->node.len)
        drop(o, b->at);
    if (b->old_root == NULL || o == NULL)
        b->root = b->old_root;
}

cip_node *cip_build_mark(cip_build *b)
{
    b->age++;
    b->in = NULL;
    return b->root;
}

void cip_build_return(cip_build *b, cip_node *marked)
{
    b->root = marked;
    cip_build_mark(b); /* as it is marked still */
}
