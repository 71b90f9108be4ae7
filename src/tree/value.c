/* SPDX-License-Identifier: BSD-3-Clause
 * Nodes: made in an arena, read through the public getters. A scalar's text lies right behind its
 * node. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "tree/node.h"
#include "tree/scalar.h"

cip_node_type cip_node_kind(const cip_node *node)
{
    return node == NULL ? CIP_NODE_NONE : (cip_node_type)node->type;
}

const char *cip_node_tag(const cip_node *node)
{
    return node == NULL ? NULL : node->tag;
}

static bool is_container(const cip_node *node)
{
    return node != NULL && (node->type == CIP_NODE_SEQ || node->type == CIP_NODE_MAP);
}

size_t cip_node_len(const cip_node *node)
{
    return is_container(node) ? node->len : 0;
}

const cip_node *cip_node_at(const cip_node *node, size_t i)
{
    if (i >= cip_node_len(node))
        return NULL;
    return node->type == CIP_NODE_SEQ ? node->item[i] : node->pair[i].value;
}

const cip_node *cip_node_key(const cip_node *node, size_t i)
{
    if (cip_node_kind(node) != CIP_NODE_MAP || i >= node->len)
        return NULL;
    return node->pair[i].key;
}

const char *cip_node_text(const cip_node *node, size_t *len)
{
    if (node == NULL || is_container(node))
        return NULL;
    if (len != NULL)
        *len = node->len;
    return node->text;
}

const cip_node *cip_map_get(const cip_node *map, const char *key)
{
    if (cip_node_kind(map) != CIP_NODE_MAP)
        return NULL;
    size_t i = cip_map_find(map, (cip_bytes){ (const uint8_t *)key, strlen(key) }, false);
    return i == SIZE_MAX ? NULL : map->pair[i].value;
}

bool cip_node_is_string(const cip_node *n, const char *text)
{
    return cip_node_kind(n) == CIP_NODE_STRING && n->len == strlen(text) &&
           memcmp(n->text, text, n->len) == 0;
}

bool cip_node_as_int(const cip_node *n, int64_t *out)
{
    if (cip_node_kind(n) != CIP_NODE_INT || (!n->negative && n->u > INT64_MAX))
        return false;
    *out = n->negative ? n->i : (int64_t)n->u;
    return true;
}

bool cip_node_as_uint(const cip_node *n, uint64_t *out)
{
    if (cip_node_kind(n) != CIP_NODE_INT || n->negative)
        return false;
    *out = n->u;
    return true;
}

bool cip_node_as_double(const cip_node *n, double *out)
{
    cip_node_type type = cip_node_kind(n);
    if (type == CIP_NODE_FLOAT)
        *out = n->f;
    else if (type == CIP_NODE_INT)
        *out = n->negative ? (double)n->i : (double)n->u;
    else
        return false;
    return true;
}

cip_status cip_node_make_scalar(cip_arena *a, const char *text, size_t n, cip_node **out,
                                cip_err *err)
{
    cip_node *node = NULL;
    *out = NULL;
    if (n > UINT32_MAX - sizeof *node - 1)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a scalar of %zu bytes", n);
    CIP_TRY(cip_arena_get(a, sizeof *node + n + 1, (void **)&node, err));
    char *copy = (char *)(node + 1);
    if (n != 0)
        memcpy(copy, text, n);
    copy[n] = '\0';
    *node = (cip_node){
        .len = (uint32_t)n, .text = copy, .offset = CIP_NO_OFFSET, .end = CIP_NO_OFFSET
    };
    *out = node;
    return CIP_OK;
}

cip_status cip_node_make_container(cip_arena *a, cip_node_type type, cip_node **out, cip_err *err)
{
    CIP_TRY(CIP_ARENA_NEW(a, out, 1, err));
    (*out)->type = (uint8_t)type;
    (*out)->offset = CIP_NO_OFFSET;
    (*out)->end = CIP_NO_OFFSET;
    return CIP_OK;
}

/* A scalar that no text was parsed for. */
static cip_status make(cip_arena *a, cip_node_type type, const char *text, cip_node **out,
                       cip_err *err)
{
    CIP_TRY(cip_node_make_scalar(a, text, strlen(text), out, err));
    (*out)->type = (uint8_t)type;
    return CIP_OK;
}

cip_status cip_node_new_string(cip_arena *a, const char *text, size_t len, cip_node **out,
                               cip_err *err)
{
    CIP_TRY(cip_node_make_scalar(a, text, len, out, err));
    (*out)->type = CIP_NODE_STRING;
    return CIP_OK;
}

cip_status cip_node_new_int(cip_arena *a, int64_t v, cip_node **out, cip_err *err)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, v);
    CIP_TRY(make(a, CIP_NODE_INT, text, out, err));
    (*out)->negative = v < 0;
    (*out)->i = v; /* the same bits as u when it is not negative */
    return CIP_OK;
}

cip_status cip_node_new_uint(cip_arena *a, uint64_t v, cip_node **out, cip_err *err)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, v);
    CIP_TRY(make(a, CIP_NODE_INT, text, out, err));
    (*out)->u = v;
    return CIP_OK;
}

cip_status cip_node_new_double(cip_arena *a, double v, cip_node **out, cip_err *err)
{
    char text[CIP_DOUBLE_TEXT];
    cip_double_text(v, text);
    CIP_TRY(make(a, CIP_NODE_FLOAT, text, out, err));
    (*out)->f = v;
    return CIP_OK;
}

cip_status cip_node_new_bool(cip_arena *a, bool v, cip_node **out, cip_err *err)
{
    CIP_TRY(make(a, CIP_NODE_BOOL, v ? "true" : "false", out, err));
    (*out)->b = v;
    return CIP_OK;
}

cip_status cip_node_new_null(cip_arena *a, cip_node **out, cip_err *err)
{
    return make(a, CIP_NODE_NULL, "null", out, err);
}

/* A container with room for n items or pairs. */
static cip_status make_room(cip_arena *a, cip_node_type type, size_t n, void **room, cip_node **out,
                            cip_err *err)
{
    const size_t each = type == CIP_NODE_SEQ ? sizeof(cip_node *) : sizeof(cip_pair);
    *out = NULL;
    *room = NULL;
    if (n > UINT32_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a collection of %zu items", n);
    CIP_TRY(cip_arena_zeroed(a, n, each, room, err));
    CIP_TRY(cip_node_make_container(a, type, out, err));
    (*out)->len = (uint32_t)n;
    return CIP_OK;
}

cip_status cip_node_new_seq(cip_arena *a, size_t n, cip_node **out, cip_err *err)
{
    void *room;
    CIP_TRY(make_room(a, CIP_NODE_SEQ, n, &room, out, err));
    (*out)->item = room;
    return CIP_OK;
}

cip_status cip_node_new_map(cip_arena *a, size_t n, cip_node **out, cip_err *err)
{
    void *room;
    CIP_TRY(make_room(a, CIP_NODE_MAP, n, &room, out, err));
    (*out)->pair = room;
    return CIP_OK;
}

void cip_node_set_item(cip_node *seq, size_t i, const cip_node *item)
{
    assert(seq->type == CIP_NODE_SEQ && i < seq->len);
    seq->item[i] = item;
}

void cip_node_set_pair(cip_node *map, size_t i, const cip_node *key, const cip_node *value)
{
    assert(map->type == CIP_NODE_MAP && i < map->len);
    ((cip_pair *)map->pair)[i] = (cip_pair){ key, value };
}

cip_status cip_node_set_key(cip_arena *a, cip_node *map, size_t i, const char *key,
                            const cip_node *value, cip_err *err)
{
    cip_node *k;
    CIP_TRY(cip_node_new_string(a, key, strlen(key), &k, err));
    cip_node_set_pair(map, i, k, value);
    return CIP_OK;
}
