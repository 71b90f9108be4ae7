/* SPDX-License-Identifier: BSD-3-Clause
 * Paths: steps joined by `/`, `~1` and `~0` for `/` and `~` in a step, and the typed getters on
 * them. */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "tree/node.h"

cip_status cip_path_escape(cip_buf *b, cip_bytes step, cip_err *err)
{
    size_t from = 0;
    for (size_t i = 0; i < step.len; i++) {
        if (step.ptr[i] != '/' && step.ptr[i] != '~')
            continue;
        CIP_TRY(cip_buf_add(b, step.ptr + from, i - from, err));
        CIP_TRY(cip_buf_add(b, step.ptr[i] == '/' ? "~1" : "~0", 2, err));
        from = i + 1;
    }
    return from == step.len ? CIP_OK : cip_buf_add(b, step.ptr + from, step.len - from, err);
}

cip_status cip_path_add(cip_buf *b, cip_bytes step, cip_err *err)
{
    if (b->len != 0 || step.len == 0)
        CIP_TRY(cip_buf_add(b, "/", 1, err));
    return cip_path_escape(b, step, err);
}

bool cip_path_step_is(cip_bytes escaped, cip_bytes text)
{
    size_t i = 0, k = 0;
    for (; i < escaped.len && k < text.len; i++, k++) {
        uint8_t c = escaped.ptr[i];
        uint8_t next = i + 1 < escaped.len ? escaped.ptr[i + 1] : 0;
        if (c == '~' && (next == '0' || next == '1')) {
            c = next == '1' ? '/' : '~';
            i++;
        }
        if (c != text.ptr[k])
            return false;
    }
    return i == escaped.len && k == text.len;
}

cip_bytes cip_pair_step(const cip_node *map, size_t i, char scratch[CIP_STEP_SCRATCH])
{
    const cip_node *key = map->pair[i].key;
    size_t len = 0;
    const char *text = cip_node_text(key, &len);
    if (text == NULL) {
        len = (size_t)snprintf(scratch, CIP_STEP_SCRATCH, "?%zu", i);
        text = scratch;
    }
    return (cip_bytes){ (const uint8_t *)text, len };
}

size_t cip_path_item(cip_bytes step)
{
    size_t v = 0;
    if (step.len == 0 || step.len > 10 || (step.len > 1 && step.ptr[0] == '0'))
        return SIZE_MAX;
    for (size_t i = 0; i < step.len; i++) {
        if (step.ptr[i] < '0' || step.ptr[i] > '9')
            return SIZE_MAX;
        v = v * 10 + (size_t)(step.ptr[i] - '0');
    }
    return v;
}

/* Takes the escapes out of one step, in place. */
static size_t unescape(uint8_t *p, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t c = p[i], next = i + 1 < n ? p[i + 1] : 0;
        if (c == '~' && (next == '0' || next == '1')) {
            c = next == '1' ? '/' : '~';
            i++;
        }
        p[k++] = c;
    }
    return k;
}

cip_status cip_path_split(cip_arena *a, const char *path, cip_bytes **steps, size_t *n,
                          cip_err *err)
{
    char *copy = NULL;
    cip_bytes *step = NULL;
    size_t count = 0, i = 0;
    if (path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    if (*path != '\0') {
        path += *path == '/';
        CIP_TRY(cip_arena_copy(a, path, strlen(path), &copy, err));
        for (count = 1; *path != '\0'; path++)
            count += *path == '/';
        CIP_TRY(CIP_ARENA_NEW(a, &step, count, err));
        for (char *p = copy; i < count; i++) {
            const size_t len = strcspn(p, "/");
            step[i] = (cip_bytes){ (uint8_t *)p, unescape((uint8_t *)p, len) };
            p += len + 1;
        }
    }
    *steps = step;
    *n = count;
    return CIP_OK;
}

const cip_node *cip_node_step(const cip_node *node, cip_bytes step)
{
    if (cip_node_kind(node) == CIP_NODE_SEQ)
        return cip_node_at(node, cip_path_item(step));
    if (cip_node_kind(node) != CIP_NODE_MAP)
        return NULL;
    size_t i = cip_map_find(node, step, true);
    return i == SIZE_MAX ? NULL : node->pair[i].value;
}

/* The same with a step that holds escapes: the keys are compared one by one. */
static const cip_node *escaped_step(const cip_node *map, cip_bytes step)
{
    const cip_node *found = NULL;
    if (cip_node_kind(map) != CIP_NODE_MAP)
        return NULL;
    for (size_t i = 0; i < map->len; i++) {
        size_t len = 0;
        const char *text = cip_node_text(map->pair[i].key, &len);
        if (text == NULL || !cip_path_step_is(step, (cip_bytes){ (const uint8_t *)text, len }))
            continue;
        if (map->pair[i].key->type == CIP_NODE_STRING)
            return map->pair[i].value;
        if (found == NULL)
            found = map->pair[i].value;
    }
    return found;
}

static cip_status missing(const cip_node *node, cip_bytes step, cip_err *err)
{
    int len = (int)(step.len < 80 ? step.len : 80);
    const char *text = (const char *)step.ptr;
    switch (cip_node_kind(node)) {
    case CIP_NODE_SEQ:
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "expected an item of a sequence of %" PRIu32 ", found \"%.*s\"", node->len,
                        len, text);
    case CIP_NODE_MAP:
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "expected a key of the mapping, found \"%.*s\"", len, text);
    default:
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "expected a collection to look for \"%.*s\" in, found a scalar", len, text);
    }
}

/* What a getter that was given NULL ends with. */
static cip_status no_node(cip_err *err)
{
    if (err != NULL && err->code != CIP_OK)
        return (cip_status)err->code;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a node, found NULL");
}

static cip_status find(const cip_node *node, const char *path, const cip_node **out, cip_err *err)
{
    if (node == NULL)
        return no_node(err);
    if (path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    if (*path == '\0') {
        *out = node;
        return CIP_OK;
    }
    const char *p = *path == '/' ? path + 1 : path;
    for (;;) {
        cip_bytes step = { (const uint8_t *)p, strcspn(p, "/") };
        bool escaped = memchr(p, '~', step.len) != NULL;
        const cip_node *next = escaped ? escaped_step(node, step) : cip_node_step(node, step);
        if (next == NULL)
            return missing(node, step, err);
        node = next;
        p += step.len;
        if (*p == '\0')
            break;
        p++;
    }
    *out = node;
    return CIP_OK;
}

const cip_node *cip_tree_get(const cip_node *node, const char *path, cip_err *err)
{
    const cip_node *found = NULL;
    (void)find(node, path, &found, err);
    return found;
}

static const char *kind_name(const cip_node *node)
{
    static const char *const names[] = { "nothing",     "null",       "a bool",   "an integer",
                                         "an integer",  "a float",    "a string", "a timestamp",
                                         "binary data", "a sequence", "a mapping" };
    return names[cip_node_kind(node)];
}

static cip_status wrong_type(const cip_node *n, const char *expected, cip_err *err)
{
    return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET, "expected %s, found %s", expected,
                    kind_name(n));
}

static cip_status out_of_range(const cip_node *n, const char *expected, cip_err *err)
{
    return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET, "expected %s, found %.40s", expected,
                    n->text);
}

static bool is_integer(const cip_node *n)
{
    return n->type == CIP_NODE_INT || n->type == CIP_NODE_BIGINT;
}

/* True when the double nearest to an integer is that integer. */
static bool is_exact(const cip_node *n)
{
    uint64_t m = n->negative ? 0 - (uint64_t)n->i : n->u;
    return m >> 53 == 0 || (m & ((UINT64_C(1) << (64 - __builtin_clzll(m) - 53)) - 1)) == 0;
}

cip_status cip_tree_get_double(const cip_node *node, const char *path, double *out, cip_err *err)
{
    const cip_node *n;
    CIP_TRY(find(node, path, &n, err));
    if (n->type != CIP_NODE_FLOAT && !is_integer(n))
        return wrong_type(n, "a number", err);
    if (n->type == CIP_NODE_BIGINT || (n->type == CIP_NODE_INT && !is_exact(n)))
        return out_of_range(n, "an integer that a double can hold", err);
    (void)cip_node_as_double(n, out);
    return CIP_OK;
}

cip_status cip_tree_get_int(const cip_node *node, const char *path, int64_t *out, cip_err *err)
{
    const cip_node *n;
    CIP_TRY(find(node, path, &n, err));
    if (!is_integer(n))
        return wrong_type(n, "an integer", err);
    if (!cip_node_as_int(n, out))
        return out_of_range(n, "an integer of 64 bits", err);
    return CIP_OK;
}

cip_status cip_tree_get_uint(const cip_node *node, const char *path, uint64_t *out, cip_err *err)
{
    const cip_node *n;
    CIP_TRY(find(node, path, &n, err));
    if (!is_integer(n))
        return wrong_type(n, "an integer", err);
    if (!cip_node_as_uint(n, out))
        return out_of_range(n, "an unsigned integer of 64 bits", err);
    return CIP_OK;
}

cip_status cip_tree_get_bool(const cip_node *node, const char *path, bool *out, cip_err *err)
{
    const cip_node *n;
    CIP_TRY(find(node, path, &n, err));
    if (n->type != CIP_NODE_BOOL)
        return wrong_type(n, "a bool", err);
    *out = n->b;
    return CIP_OK;
}

cip_status cip_tree_get_string(const cip_node *node, const char *path, const char **out,
                               cip_err *err)
{
    const cip_node *n;
    CIP_TRY(find(node, path, &n, err));
    if (n->type != CIP_NODE_STRING)
        return wrong_type(n, "a string", err);
    *out = n->text;
    return CIP_OK;
}
