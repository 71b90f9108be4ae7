/* SPDX-License-Identifier: BSD-3-Clause
 * Events kept in a list: each knows its collection and where its node ends. */
#include <string.h>

#include "tree/yaml_marks.h"

static cip_mark *at(const cip_marks *m, uint32_t i)
{
    return (cip_mark *)(void *)m->list.ptr + i;
}

cip_status cip_marks_add(cip_marks *m, int kind, uint64_t start, uint64_t end, const cip_node *node,
                         cip_err *err)
{
    const uint32_t i = (uint32_t)(m->list.len / sizeof(cip_mark));
    cip_mark mark = { .kind = (uint8_t)kind,
                      .start = (uint32_t)start,
                      .end = (uint32_t)end,
                      .parent = m->open,
                      .next = i + 1,
                      .target = CIP_NO_MARK,
                      .node = node };
    size_t was = SIZE_MAX;
    const cip_bytes name = { (const uint8_t *)node->anchor,
                             node->anchor != NULL ? strlen(node->anchor) : 0 };
    if (kind == CIP_MARK_CLOSE) {
        mark.next = m->open;
        mark.parent = at(m, m->open)->parent;
    }
    if (kind == CIP_MARK_ALIAS)
        mark.target = (uint32_t)cip_strmap_get(&m->anchors, name);
    else if (node->anchor != NULL && kind != CIP_MARK_CLOSE)
        CIP_TRY(cip_strmap_put(&m->anchors, name, i, &was, err));
    if (was != SIZE_MAX)
        m->twice = node->anchor;
    CIP_TRY(cip_buf_add(&m->list, &mark, sizeof mark, err));
    if (kind == CIP_MARK_OPEN)
        m->open = i;
    if (kind == CIP_MARK_CLOSE) {
        at(m, m->open)->next = i + 1;
        m->open = mark.parent;
    }
    return CIP_OK;
}

void cip_marks_clear(cip_marks *m)
{
    cip_buf_clear(&m->list);
    cip_strmap_clear(&m->anchors);
}

void cip_yaml_text_init(cip_yaml_text *t, cip_env *env)
{
    *t = (cip_yaml_text){ .text = { .mem = &env->mem },
                          .arena = { .mem = &env->mem },
                          .marks = { .list = { .mem = &env->mem },
                                     .anchors = { .mem = &env->mem },
                                     .open = CIP_NO_MARK } };
}

cip_status cip_yaml_text_parse(cip_yaml_text *t, cip_env *env, const cip_yaml_options *opt,
                               cip_err *err)
{
    return cip_yaml_parse_marks(env, &t->arena, (cip_bytes){ t->text.ptr, t->text.len }, opt,
                                &t->marks, &t->root, err);
}

void cip_yaml_text_clear(cip_yaml_text *t)
{
    cip_buf_clear(&t->text);
    cip_arena_clear(&t->arena);
    cip_marks_clear(&t->marks);
}
