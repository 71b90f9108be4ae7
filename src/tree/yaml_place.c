/* SPDX-License-Identifier: BSD-3-Clause
 * Where a path leads in the events of a text: steps matched with keys, and an index of the keys of
 * the mappings that queued sets go through. */
#include <string.h>

#include "tree/yaml_edit_impl.h"

static bool is_merge_key(const cip_node *key)
{
    return key->tag != NULL ? strcmp(key->tag, CIP_CORE_TAG "merge") == 0
                            : key->style == CIP_STYLE_PLAIN && strcmp(key->text, "<<") == 0;
}

/* --- the index of keys ----------------------------------------------------------------------- */

cip_status cip_yaml_numbered_key(cip_arena *a, uint32_t mark, cip_bytes text, cip_bytes *out,
                                 cip_err *err)
{
    uint8_t *p;
    CIP_TRY(cip_arena_get(a, sizeof mark + text.len, (void **)&p, err));
    memcpy(p, &mark, sizeof mark);
    if (text.len != 0)
        memcpy(p + sizeof mark, text.ptr, text.len);
    *out = (cip_bytes){ p, sizeof mark + text.len };
    return CIP_OK;
}

/* Enters the keys of a mapping whose keys are strings that differ: then a step can but be one of
 * those, or none. */
static cip_status index_keys(cip_yaml_edit *e, uint32_t map, cip_err *err)
{
    const cip_yaml_text *t = &e->now;
    e->indexed[map] = ODD;
    for (uint32_t key = map + 1; cip_mark_at(t, key)->kind != CIP_MARK_CLOSE;) {
        const cip_mark *m = cip_mark_at(t, key);
        cip_bytes name;
        size_t was;
        if (m->kind != CIP_MARK_SCALAR || m->node->type != CIP_NODE_STRING || is_merge_key(m->node))
            return CIP_OK;
        CIP_TRY(cip_yaml_numbered_key(&e->kept, map,
                                      (cip_bytes){ (const uint8_t *)m->node->text, m->node->len },
                                      &name, err));
        CIP_TRY(cip_strmap_put(&e->keys, name, key, &was, err));
        if (was != SIZE_MAX)
            return CIP_OK;
        key = cip_mark_at(t, m->next)->next;
    }
    e->indexed[map] = INDEXED;
    return CIP_OK;
}

/* find_pair in constant time, where the mapping can be indexed; *done tells. */
static cip_status look_up(cip_yaml_edit *e, cip_bytes step, cip_place *p, bool *done, cip_err *err)
{
    cip_bytes name;
    cip_arena a = { .mem = &e->env->mem };
    *done = false;
    if (e->indexed == NULL)
        return CIP_OK;
    if (e->indexed[p->parent] == NOT_INDEXED)
        CIP_TRY(index_keys(e, p->parent, err));
    if (e->indexed[p->parent] == ODD)
        return CIP_OK;
    const cip_node *map = cip_mark_at(&e->now, p->parent)->node;
    const cip_node *wanted = cip_node_key(map, cip_map_step(map, step));
    if (wanted != NULL) /* without the quotes that the step may have */
        step = (cip_bytes){ (const uint8_t *)wanted->text, wanted->len };
    cip_status st = cip_yaml_numbered_key(&a, p->parent, step, &name, err);
    const size_t key = st == CIP_OK ? cip_strmap_get(&e->keys, name) : SIZE_MAX;
    cip_arena_clear(&a);
    *done = st == CIP_OK;
    p->child = p->key = p->before = CIP_NO_MARK;
    if (key == SIZE_MAX)
        return st;
    p->key = (uint32_t)key;
    p->child = cip_mark_at(&e->now, p->key)->next;
    const cip_mark *before = cip_mark_at(&e->now, p->key - 1);
    if (p->key - 1 != p->parent)
        p->before = before->kind == CIP_MARK_CLOSE ? before->next : p->key - 1;
    return CIP_OK;
}

static void find_item(const cip_yaml_text *t, size_t number, cip_place *p)
{
    p->child = p->key = p->before = CIP_NO_MARK;
    uint32_t i = p->parent + 1;
    for (size_t n = 0; cip_mark_at(t, i)->kind != CIP_MARK_CLOSE; n++) {
        if (n == number) {
            p->child = i;
            return;
        }
        p->before = i;
        i = cip_mark_at(t, i)->next;
    }
}

/* Looks for one step in p->parent; p->child is CIP_NO_MARK when it is not there. */
static cip_status take_step(cip_yaml_edit *e, cip_bytes step, cip_place *p, cip_err *err)
{
    const cip_yaml_text *t = &e->now;
    bool done;
    const cip_mark *m = cip_mark_at(t, p->parent);
    p->merged = NULL;
    if (m->kind != CIP_MARK_OPEN)
        return cip_step_fail_parent(step, err);
    if (m->node->type == CIP_NODE_MAP) {
        CIP_TRY(look_up(e, step, p, &done, err));
        if (!done) {
            /* The pair that the tree has for the step. Of equal keys the tree holds the last. */
            const cip_node *map = cip_mark_at(t, p->parent)->node;
            const cip_node *wanted = cip_node_key(map, cip_map_step(map, step));
            uint32_t before = CIP_NO_MARK;
            p->key = p->child = p->before = CIP_NO_MARK;
            for (uint32_t key = p->parent + 1; cip_mark_at(t, key)->kind != CIP_MARK_CLOSE;) {
                const uint32_t value = cip_mark_at(t, key)->next;
                if (wanted != NULL && cip_mark_at(t, key)->node == wanted) {
                    p->key = key;
                    p->child = value;
                    p->before = before;
                }
                before = value;
                key = cip_mark_at(t, value)->next;
            }
        }
        if (p->child == CIP_NO_MARK)
            p->merged = cip_node_step(m->node, step);
        return CIP_OK;
    }
    size_t number;
    CIP_TRY(cip_step_place(step, m->node->len, &number, err));
    find_item(t, number, p);
    return CIP_OK;
}

cip_status cip_yaml_follow(cip_yaml_edit *e, const cip_bytes *step, size_t n, cip_place *p,
                           cip_err *err)
{
    const cip_yaml_text *t = &e->now;
    *p = (cip_place){ .child = CIP_NO_MARK, .key = CIP_NO_MARK, .before = CIP_NO_MARK };
    for (;;) {
        CIP_TRY(take_step(e, step[p->depth], p, err));
        p->merging |= p->merged != NULL;
        if (p->depth + 1 == n)
            return CIP_OK;
        uint32_t next = p->child;
        if (next == CIP_NO_MARK && p->merged == NULL)
            return CIP_OK;
        const uint32_t count = next == CIP_NO_MARK ? cip_mark_count(t) : 0;
        for (uint32_t i = 0; next == CIP_NO_MARK && i < count; i++) {
            const cip_mark *m = cip_mark_at(t, i); /* where the merged node itself is written */
            if (m->node == p->merged && (m->kind == CIP_MARK_SCALAR || m->kind == CIP_MARK_OPEN))
                next = i;
        }
        if (count == 0 && cip_mark_at(t, next)->kind == CIP_MARK_ALIAS)
            next = cip_mark_at(t, next)->target;
        p->parent = next;
        p->depth++;
    }
}
