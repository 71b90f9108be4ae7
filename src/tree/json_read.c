/* SPDX-License-Identifier: BSD-3-Clause
 * JSON to nodes: the library parses, after a walk over the text has counted what it will hold. The
 * library's memory is a few hundred bytes for each list and mapping, so short texts could take
 * gigabytes; and it drops equal keys silently, which the number of colons tells. */
#include "tree/json_read.h"

#include <json-c/json.h>
#include <limits.h>
#include <string.h>

#include "tree/node.h"

enum { MAX_DEPTH = 64, MAX_VALUES = 1 << 20, MAX_COLLECTIONS = 1 << 16 };

/* --- before the library ----------------------------------------------------------------------- */

typedef struct census {
    size_t depth, values, collections, pairs;
    bool nul; /* the last string has an escaped NUL */
} census;

/* From the opening quote to one past the closing one; to the end without one. */
static size_t pass_string(cip_bytes t, size_t i, census *c)
{
    uint8_t quote = t.ptr[i++];
    c->nul = false;
    for (; i < t.len && t.ptr[i] != quote; i++) {
        if (t.ptr[i] != '\\')
            continue;
        c->nul = c->nul || (t.len - i > 5 && memcmp(t.ptr + i, "\\u0000", 6) == 0);
        i++;
    }
    return i < t.len ? i + 1 : t.len;
}

static cip_status take_mark(census *c, uint8_t mark, size_t at, cip_err *err)
{
    switch (mark) {
    case '[':
    case '{':
        c->depth++;
        c->collections++;
        c->values++;
        break;
    case ']':
    case '}':
        c->depth -= c->depth != 0;
        break;
    case ',':
        c->values++;
        break;
    case ':':
        c->pairs++;
        if (c->nul) /* keys are C strings to the library */
            return cip_fail(err, CIP_ERR_CORRUPT, at, "expected a key without a NUL, found one");
        break;
    case '\0':
        return cip_fail(err, CIP_ERR_CORRUPT, at, "expected JSON, found a NUL");
    default:
        break;
    }
    return CIP_OK;
}

static cip_status count(cip_bytes t, bool printed, census *c, cip_err *err)
{
    *c = (census){ .values = 1 };
    for (size_t i = 0; i < t.len;) {
        bool quote = t.ptr[i] == '"' || (printed && t.ptr[i] == '\'');
        if (quote) {
            i = pass_string(t, i, c);
            continue;
        }
        CIP_TRY(take_mark(c, t.ptr[i], i, err));
        if (c->depth > MAX_DEPTH || c->values > MAX_VALUES || c->collections > MAX_COLLECTIONS)
            return cip_fail(err, CIP_ERR_LIMIT, i,
                            "JSON nested over %d deep, or of over %d values or %d collections",
                            MAX_DEPTH, MAX_VALUES, MAX_COLLECTIONS);
        i++;
    }
    return CIP_OK;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static cip_status make(cip_arena *a, json_object *v, cip_node **out, size_t *pairs, cip_err *err);

static cip_status make_list(cip_arena *a, json_object *v, cip_node **out, size_t *pairs,
                            cip_err *err)
{
    size_t n = json_object_array_length(v);
    CIP_TRY(cip_node_new_seq(a, n, out, err));
    for (size_t i = 0; i < n; i++) {
        cip_node *item;
        CIP_TRY(make(a, json_object_array_get_idx(v, i), &item, pairs, err));
        cip_node_set_item(*out, i, item);
    }
    return CIP_OK;
}

static cip_status make_map(cip_arena *a, json_object *v, cip_node **out, size_t *pairs,
                           cip_err *err)
{
    cip_pairs p = { .n = 0 };
    size_t n = (size_t)json_object_object_length(v);
    CIP_TRY(CIP_ARENA_NEW(a, &p.pair, n, err));
    CIP_TRY(cip_node_make_container(a, CIP_NODE_MAP, out, err));
    struct json_object_iterator i = json_object_iter_begin(v), end = json_object_iter_end(v);
    for (; p.n < n && !json_object_iter_equal(&i, &end); json_object_iter_next(&i)) {
        const char *name = json_object_iter_peek_name(&i);
        cip_node *key, *value;
        CIP_TRY(cip_node_new_string(a, name, strlen(name), &key, err));
        CIP_TRY(make(a, json_object_iter_peek_value(&i), &value, pairs, err));
        p.pair[p.n++] = (cip_pair){ key, value };
    }
    *pairs += p.n;
    return cip_map_fill(a, *out, p, NULL, NULL, err);
}

/* Where it is lenient, the library takes the nearest 64-bit integer for a larger one. */
static cip_status make_int(cip_arena *a, json_object *v, cip_node **out, cip_err *err)
{
    int64_t i = json_object_get_int64(v);
    uint64_t u = json_object_get_uint64(v);
    if (i == INT64_MIN || u == UINT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected an integer of 64 bits, found one at their end or beyond");
    return i < 0 ? cip_node_new_int(a, i, out, err) : cip_node_new_uint(a, u, out, err);
}

static cip_status make(cip_arena *a, json_object *v, cip_node **out, size_t *pairs, cip_err *err)
{
    switch (json_object_get_type(v)) {
    case json_type_boolean:
        return cip_node_new_bool(a, json_object_get_boolean(v), out, err);
    case json_type_double:
        return cip_node_new_double(a, json_object_get_double(v), out, err);
    case json_type_int:
        return make_int(a, v, out, err);
    case json_type_string:
        return cip_node_new_string(a, json_object_get_string(v),
                                   (size_t)json_object_get_string_len(v), out, err);
    case json_type_array:
        return make_list(a, v, out, pairs, err);
    case json_type_object:
        return make_map(a, v, out, pairs, err);
    case json_type_null:
        break;
    }
    return cip_node_new_null(a, out, err);
}

/* --- the library ------------------------------------------------------------------------------ */

static cip_status parse(json_tokener *t, cip_bytes text, json_object **out, cip_err *err)
{
    *out = json_tokener_parse_ex(t, (const char *)text.ptr, (int)text.len);
    if (json_tokener_get_error(t) == json_tokener_continue) /* the end ends a number */
        *out = json_tokener_parse_ex(t, "", 1);
    enum json_tokener_error e = json_tokener_get_error(t);
    if (e == json_tokener_success)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, json_tokener_get_parse_end(t), "expected JSON: %s",
                    e == json_tokener_continue ? "it ends early" : json_tokener_error_desc(e));
}

cip_status cip_json_read(cip_arena *a, cip_bytes text, uint32_t flags, cip_node **out,
                         bool *repeated, cip_err *err)
{
    bool printed = (flags & CIP_JSON_PRINTED) != 0;
    json_object *v = NULL;
    size_t pairs = 0;
    census c;
    *out = NULL;
    if (text.len >= INT_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%zu bytes of JSON", text.len);
    CIP_TRY(count(text, printed, &c, err));
    json_tokener *t = json_tokener_new_ex(MAX_DEPTH + 1);
    if (t == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for JSON");
    json_tokener_set_flags(t, JSON_TOKENER_VALIDATE_UTF8 | (printed ? 0 : JSON_TOKENER_STRICT));
    cip_status st = parse(t, text, &v, err);
    if (st == CIP_OK)
        st = make(a, v, out, &pairs, err);
    json_object_put(v);
    json_tokener_free(t);
    if (st != CIP_OK)
        *out = NULL;
    else if (repeated != NULL)
        *repeated = pairs < c.pairs;
    return st;
}
