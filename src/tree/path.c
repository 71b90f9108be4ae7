/* SPDX-License-Identifier: BSD-3-Clause
 * Paths: steps joined by `/`, `~1` and `~0` for `/` and `~` in a step, double quotes around one
 * that means a string, and the typed getters on them. Lookup, listing and edits all ask
 * cip_map_step which pair a step names. */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "tree/utf8.h"
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

static cip_bytes text_of(const cip_node *n)
{
    return (cip_bytes){ (const uint8_t *)n->text, n->len };
}

/* Keys that no text names: collections, and what C strings would cut. */
static bool is_odd(const cip_node *key)
{
    const cip_node_type type = cip_node_kind(key);
    return type >= CIP_NODE_SEQ || (type != CIP_NODE_NONE && memchr(key->text, '\0', key->len));
}

bool cip_path_is_root(const char *path)
{
    return path[0] == '\0' || (path[0] == '.' && path[1] == '\0');
}

/* A key that is a dot goes in quotes, as a dot alone is the root. */
static bool is_dot(const cip_node *key)
{
    return key->len == 1 && key->text[0] == '.';
}

bool cip_map_is_plain(const cip_node *map)
{
    for (uint32_t i = 0; i < map->len; i++) {
        const cip_node *key = map->pair[i].key;
        if (key == NULL || key->type != CIP_NODE_STRING || is_odd(key) || is_dot(key) ||
            (key->len != 0 && key->text[0] == '"'))
            return false;
    }
    return true;
}

bool cip_pair_is_quoted(const cip_node *map, size_t i, bool plain)
{
    const cip_node *key = map->pair[i].key;
    return !plain && cip_node_kind(key) == CIP_NODE_STRING &&
           (is_dot(key) || cip_map_step(map, text_of(key)) != i);
}

cip_status cip_pair_escape(cip_buf *b, const cip_node *map, size_t i, bool plain, cip_err *err)
{
    const cip_node *key = map->pair[i].key;
    /* whether a step can be made of the key's text */
    if (key == NULL || is_odd(key) ||
        (!plain && key->type != CIP_NODE_STRING && cip_map_step(map, text_of(key)) != i))
        return cip_buf_addf(b, err, "?%zu", i);
    const bool quoted = cip_pair_is_quoted(map, i, plain);
    CIP_TRY(cip_buf_add(b, "\"", quoted, err));
    CIP_TRY(cip_path_escape(b, text_of(key), err));
    return cip_buf_add(b, "\"", quoted, err);
}

cip_status cip_path_add_pair(cip_buf *b, const cip_node *map, size_t i, bool plain, cip_err *err)
{
    const cip_node *key = map->pair[i].key;
    const bool empty = key != NULL && key->type < CIP_NODE_SEQ && key->len == 0;
    if (b->len != 0 || (empty && !cip_pair_is_quoted(map, i, plain)))
        CIP_TRY(cip_buf_add(b, "/", 1, err));
    return cip_pair_escape(b, map, i, plain, err);
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
    if (!cip_utf8_is(path, strlen(path)))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a path in UTF-8, found '%.120s', which is not", path);
    if (!cip_path_is_root(path)) {
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

/* `escaped`: the step stands for a key's text. */
static size_t find_key(const cip_node *map, cip_bytes step, bool escaped, bool any)
{
    if (!escaped)
        return cip_map_find(map, step, any);
    for (uint32_t i = 0; i < map->len; i++) {
        size_t len = 0;
        const char *text = cip_node_text(map->pair[i].key, &len);
        const cip_bytes bytes = { (const uint8_t *)text, len };
        if (text != NULL && cip_path_step_is(step, bytes))
            return cip_map_find(map, bytes, any);
    }
    return SIZE_MAX;
}

/* What is between the double quotes of a step; NULL without them. */
static cip_bytes unquoted(cip_bytes step)
{
    if (step.len < 2 || step.ptr[0] != '"' || step.ptr[step.len - 1] != '"')
        return (cip_bytes){ NULL, 0 };
    return (cip_bytes){ step.ptr + 1, step.len - 2 };
}

static size_t map_step(const cip_node *map, cip_bytes step, bool escaped)
{
    const cip_bytes inner = unquoted(step);
    size_t i = SIZE_MAX;
    if (inner.ptr != NULL) {
        i = find_key(map, inner, escaped, false);
    } else if (step.len >= 2 && step.ptr[0] == '?') { /* a key that only its pair's number names */
        i = cip_path_item((cip_bytes){ step.ptr + 1, step.len - 1 });
        i = is_odd(cip_node_key(map, i)) ? i : SIZE_MAX;
    }
    return i != SIZE_MAX ? i : find_key(map, step, escaped, true);
}

size_t cip_map_step(const cip_node *map, cip_bytes step)
{
    return map_step(map, step, false);
}

cip_bytes cip_map_new_key(const cip_node *map, cip_bytes step)
{
    const cip_bytes inner = unquoted(step);
    return inner.ptr != NULL && cip_map_find(map, inner, true) != SIZE_MAX ? inner : step;
}

bool cip_path_within(const char *path, const char *place)
{
    const size_t n = strlen(place);
    return n == 0 || (strncmp(path, place, n) == 0 && (path[n] == '/' || path[n] == '\0'));
}

cip_status cip_path_plain(cip_env *env, cip_arena *a, const char *path, char **out, cip_err *err)
{
    cip_buf text = { .mem = &env->mem };
    cip_bytes *step;
    size_t n = 0;
    cip_status st = cip_path_split(a, path, &step, &n, err);
    for (size_t i = 0; i < n && st == CIP_OK; i++) {
        cip_bytes s = step[i];
        if (s.len > 1 && s.ptr[0] == '"' && s.ptr[s.len - 1] == '"')
            s = (cip_bytes){ s.ptr + 1, s.len - 2 };
        st = cip_path_add(&text, s, err);
    }
    if (st == CIP_OK)
        st = cip_arena_copy(a, text.ptr, text.len, out, err);
    cip_buf_clear(&text);
    return st;
}

cip_status cip_steps_new(cip_bytes *step, size_t n, cip_err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (step[i].len == 0)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected a key between or after the slashes of the path, found none; "
                            "\"\" in quotes is an empty one");
        if (step[i].len == 2 && memcmp(step[i].ptr, "\"\"", 2) == 0)
            step[i].len = 0;
        else if (step[i].len == 3 && memcmp(step[i].ptr, "\".\"", 3) == 0)
            step[i] = (cip_bytes){ step[i].ptr + 1, 1 };
    }
    return CIP_OK;
}

bool cip_step_makes_list(cip_bytes step)
{
    return step.len == 1 && (step.ptr[0] == '-' || step.ptr[0] == '0');
}

bool cip_step_is_dash(cip_bytes step)
{
    return step.len == 1 && step.ptr[0] == '-';
}

cip_status cip_step_place(cip_bytes step, uint32_t n, size_t *at, cip_err *err)
{
    *at = cip_step_is_dash(step) ? n : cip_path_item(step);
    if (*at <= n)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "no item '%.*s' in a list of %" PRIu32,
                    (int)(step.len < 80 ? step.len : 80), (const char *)step.ptr, n);
}

cip_status cip_step_fail_parent(cip_bytes step, cip_err *err)
{
    return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                    "expected a mapping or sequence to hold \"%.*s\", found a scalar",
                    (int)(step.len < 80 ? step.len : 80), (const char *)step.ptr);
}

/* A step of a JSON pointer: its readers have strings for keys, and no quotes around them. */
static size_t pointer_step(const cip_node *map, cip_bytes step, bool escaped)
{
    const size_t i = find_key(map, step, escaped, false);
    return i != SIZE_MAX ? i : find_key(map, step, escaped, true);
}

typedef size_t step_fn(const cip_node *map, cip_bytes step, bool escaped);

static const cip_node *take_step(const cip_node *node, cip_bytes step, bool escaped, step_fn *fn)
{
    if (cip_node_kind(node) == CIP_NODE_SEQ)
        return cip_node_at(node, cip_path_item(step));
    return cip_node_kind(node) == CIP_NODE_MAP ? cip_node_at(node, fn(node, step, escaped)) : NULL;
}

const cip_node *cip_node_step(const cip_node *node, cip_bytes step)
{
    return take_step(node, step, false, map_step);
}

/* `path` up to `end`, whose last step starts at `step`, names nothing below `node`. */
static cip_status missing(const cip_node *node, const char *path, const char *step, const char *end,
                          cip_err *err)
{
    enum { MOST = 80 };
    const size_t len = (size_t)(end - path), front = step == path ? 0 : (size_t)(step - path) - 1;
    const int shown = (int)(len < MOST ? len : MOST), above = (int)(front < MOST ? front : MOST);
    switch (cip_node_kind(node)) {
    case CIP_NODE_MAP:
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "no node '%.*s'", shown, path);
    case CIP_NODE_SEQ:
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "no node '%.*s': '%.*s' has %" PRIu32 " items", shown, path, above, path,
                        node->len);
    default:
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "no node '%.*s': '%.*s' is a scalar",
                        shown, path, above, path);
    }
}

/* What a path leads to, and what holds that (NULL: it is the root). */
typedef struct reached {
    const cip_node *node, *parent;
} reached;

static cip_status follow(const cip_node *node, const char *path, step_fn *fn, reached *out,
                         cip_err *err)
{
    if (node == NULL)
        return cip_fail_null(err, "a node");
    if (path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    *out = (reached){ .node = node };
    if (*path == '\0' || (fn == map_step && cip_path_is_root(path)))
        return CIP_OK;
    path += *path == '/';
    for (const char *p = path;;) {
        cip_bytes step = { (const uint8_t *)p, strcspn(p, "/") };
        const bool escaped = memchr(p, '~', step.len) != NULL;
        const cip_node *next = take_step(node, step, escaped, fn);
        if (next == NULL)
            return missing(node, path, p, p + step.len, err);
        *out = (reached){ next, node };
        node = next;
        p += step.len;
        if (*p == '\0')
            break;
        p++;
    }
    return CIP_OK;
}

/* What getters begin with; *err is from then on what they write into. */
static cip_status find(const cip_node *node, const char *path, const cip_node **out, cip_err **err)
{
    reached r;
    if (node == NULL)
        return cip_fail_null(*err, "a node");
    *err = cip_err_enter(*err);
    CIP_TRY(follow(node, path, map_step, &r, *err));
    *out = r.node;
    return CIP_OK;
}

const cip_node *cip_tree_get(const cip_node *node, const char *path, cip_err *err)
{
    const cip_node *found = NULL;
    (void)find(node, path, &found, &err);
    return found;
}

const cip_node *cip_tree_get_in(const cip_node *node, const char *path, const cip_node **parent)
{
    reached r = { NULL, NULL };
    const bool there = follow(node, path, map_step, &r, NULL) == CIP_OK;
    *parent = there ? r.parent : NULL;
    return there ? r.node : NULL;
}

const cip_node *cip_tree_pointer(const cip_node *node, const char *pointer, cip_err *err)
{
    reached r;
    return follow(node, pointer, pointer_step, &r, err) == CIP_OK ? r.node : NULL;
}

static cip_status wrong_type(const cip_node *n, const char *expected, cip_err *err)
{
    static const char *const names[] = { "nothing",     "null",       "a bool",   "an integer",
                                         "an integer",  "a float",    "a string", "a timestamp",
                                         "binary data", "a sequence", "a mapping" };
    return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET, "expected %s, found %s", expected,
                    names[cip_node_kind(n)]);
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

cip_status cip_tree_get_double(const cip_node *node, const char *path, double *out, cip_err *err)
{
    const cip_node *n;
    CIP_TRY(find(node, path, &n, &err));
    CIP_TRY(cip_arg_given(out, "a pointer for the value", err));
    if (n->type != CIP_NODE_FLOAT && !is_integer(n))
        return wrong_type(n, "a number", err);
    uint64_t m = n->type != CIP_NODE_INT ? 0 : n->negative ? 0 - (uint64_t)n->i : n->u;
    if (m >> 53 != 0) /* the double nearest to it is another number if a bit below has no place */
        m &= (UINT64_C(1) << (64 - __builtin_clzll(m) - 53)) - 1;
    else
        m = 0;
    if (n->type == CIP_NODE_BIGINT || m != 0)
        return out_of_range(n, "an integer that a double can hold", err);
    (void)cip_node_as_double(n, out);
    return CIP_OK;
}

cip_status cip_tree_get_int(const cip_node *node, const char *path, int64_t *out, cip_err *err)
{
    const cip_node *n;
    CIP_TRY(find(node, path, &n, &err));
    CIP_TRY(cip_arg_given(out, "a pointer for the value", err));
    if (!is_integer(n))
        return wrong_type(n, "an integer", err);
    if (!cip_node_as_int(n, out))
        return out_of_range(n, "an integer of 64 bits", err);
    return CIP_OK;
}

cip_status cip_tree_get_uint(const cip_node *node, const char *path, uint64_t *out, cip_err *err)
{
    const cip_node *n;
    CIP_TRY(find(node, path, &n, &err));
    CIP_TRY(cip_arg_given(out, "a pointer for the value", err));
    if (!is_integer(n))
        return wrong_type(n, "an integer", err);
    if (!cip_node_as_uint(n, out))
        return out_of_range(n, "an unsigned integer of 64 bits", err);
    return CIP_OK;
}

cip_status cip_tree_get_bool(const cip_node *node, const char *path, bool *out, cip_err *err)
{
    const cip_node *n;
    CIP_TRY(find(node, path, &n, &err));
    CIP_TRY(cip_arg_given(out, "a pointer for the value", err));
    if (n->type != CIP_NODE_BOOL)
        return wrong_type(n, "a bool", err);
    *out = n->b;
    return CIP_OK;
}

cip_status cip_tree_get_string(const cip_node *node, const char *path, const char **out,
                               cip_err *err)
{
    const cip_node *n;
    CIP_TRY(find(node, path, &n, &err));
    CIP_TRY(cip_arg_given(out, "a pointer for the value", err));
    if (n->type != CIP_NODE_STRING)
        return wrong_type(n, "a string", err);
    *out = n->text;
    return CIP_OK;
}
