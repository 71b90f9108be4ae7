/* SPDX-License-Identifier: BSD-3-Clause
 * Depth-first over a tree that may share nodes and hold cycles, with a stack of its own. */
#include <stdio.h>

#include "base/buffer.h"
#include "tree/node.h"

typedef struct frame {
    const cip_node *node;
    size_t next;     /* child to come */
    size_t path_len; /* of the node's own path */
    bool plain;      /* its keys' texts name them */
} frame;

typedef struct walker {
    cip_env *env;
    cip_buf frames; /* of frame */
    cip_buf path;
    uint64_t visits;
    int (*fn)(void *, const cip_visit *);
    void *user;
} walker;

static size_t depth(const walker *w)
{
    return w->frames.len / sizeof(frame);
}

static cip_status visit(walker *w, const cip_node *node, const cip_node *key, cip_err *err)
{
    if (node == NULL)
        return CIP_OK;
    if (w->visits++ >= w->env->limits.max_expansion)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " nodes, aliases counted, found more",
                        w->env->limits.max_expansion);
    bool container = node->type == CIP_NODE_SEQ || node->type == CIP_NODE_MAP;
    CIP_TRY(cip_buf_nul(&w->path, err));
    cip_visit v = {
        .node = node, .key = key, .path = (const char *)w->path.ptr, .depth = (uint32_t)depth(w)
    };
    const frame *outer = (const frame *)(const void *)w->frames.ptr;
    for (size_t i = 0; container && !v.again && i < v.depth; i++)
        v.again = outer[i].node == node;
    int answer = w->fn(w->user, &v);
    if (answer != 0 && answer != 1)
        return cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the callback");
    if (!container || answer != 0 || v.again)
        return CIP_OK;
    if (depth(w) >= w->env->limits.max_depth)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu32 " collections inside each other, found more",
                        w->env->limits.max_depth);
    const bool plain = node->type == CIP_NODE_MAP && cip_map_is_plain(node);
    const frame f = { node, 0, w->path.len, plain };
    return cip_buf_add(&w->frames, &f, sizeof f, err);
}

static cip_status next_child(walker *w, cip_err *err)
{
    frame *f = (frame *)(void *)(w->frames.ptr + w->frames.len) - 1;
    if (f->next == f->node->len) {
        w->frames.len -= sizeof *f;
        return CIP_OK;
    }
    char digits[CIP_STEP_DIGITS];
    const bool plain = f->plain;
    size_t i = f->next++;
    const cip_node *node = f->node;
    w->path.len = f->path_len;
    if (node->type == CIP_NODE_MAP) {
        CIP_TRY(cip_path_add_pair(&w->path, node, i, plain, err));
        return visit(w, node->pair[i].value, node->pair[i].key, err);
    }
    int n = snprintf(digits, sizeof digits, "%zu", i);
    CIP_TRY(cip_path_add(&w->path, (cip_bytes){ (const uint8_t *)digits, (size_t)n }, err));
    return visit(w, node->item[i], NULL, err);
}

cip_status cip_tree_walk(const cip_node *root, cip_env *env, int (*fn)(void *, const cip_visit *),
                         void *user, cip_err *err)
{
    walker w = { .env = env,
                 .frames = { .mem = &env->mem },
                 .path = { .mem = &env->mem },
                 .fn = fn,
                 .user = user };
    cip_status st = visit(&w, root, NULL, err);
    while (st == CIP_OK && depth(&w) != 0)
        st = next_child(&w, err);
    cip_buf_clear(&w.frames);
    cip_buf_clear(&w.path);
    return st;
}

cip_status cip_tree_walk_told(const cip_node *root, cip_env *env,
                              int (*fn)(void *, const cip_visit *), void *user,
                              const cip_status *said, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    const cip_status st = cip_tree_walk(root, env, fn, user, &why);
    return *said != CIP_OK || st == CIP_ERR_CANCELLED ? *said : cip_err_give(err, &why, st);
}
