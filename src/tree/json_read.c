/* SPDX-License-Identifier: BSD-3-Clause
 * JSON to nodes. The text is gone through once; items wait on one stack until their collection
 * ends, so that memory stays in proportion to the nodes. What a node cannot hold is kept as text,
 * so that one odd value does not cost all others. */
#include "tree/json_read.h"

#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/num.h"
#include "tree/node.h"
#include "tree/scalar.h"
#include "tree/utf8.h"

enum {
    MOST_WARNINGS = 8, /* that a text gives one by one */
    SHOWN = 256        /* bytes of a path; warnings show no more of it */
};

typedef struct reader {
    const cip_json_source *from;
    cip_bytes t;
    size_t at;
    uint32_t most; /* collections inside each other */
    uint64_t nodes, nraw;
    cip_buf items; /* of cip_pair: the items of all collections around; of lists without keys */
    cip_buf text;  /* of the string that is read, without escapes */
} reader;

/* A collection around what is read, for the path in warnings. */
typedef struct around {
    const struct around *up;
    const cip_node *key; /* of the item that is read; NULL in lists */
    size_t item;
    uint32_t depth;
} around;

static cip_status read_value(reader *r, const around *in, cip_node **out, cip_err *err);

/* --- the text --------------------------------------------------------------------------------- */

static int peek(const reader *r)
{
    return r->at < r->t.len ? r->t.ptr[r->at] : -1;
}

static void pass_blanks(reader *r)
{
    while (peek(r) == ' ' || peek(r) == '\t' || peek(r) == '\n' || peek(r) == '\r')
        r->at++;
}

static cip_status expected(const reader *r, const char *what, cip_err *err)
{
    if (r->at >= r->t.len)
        return cip_fail(err, CIP_ERR_CORRUPT, r->at, "expected %s, found the end of the JSON text",
                        what);
    const uint8_t c = r->t.ptr[r->at];
    if (c > 0x20 && c < 0x7f)
        return cip_fail(err, CIP_ERR_CORRUPT, r->at, "expected %s in JSON, found '%c'", what, c);
    return cip_fail(err, CIP_ERR_CORRUPT, r->at, "expected %s in JSON, found the byte 0x%02x", what,
                    c);
}

static bool take_word(reader *r, const char *word)
{
    const size_t n = strlen(word);
    if (r->t.len - r->at < n || memcmp(r->t.ptr + r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool is_quote(const reader *r, int c)
{
    return c == '"' || (c == '\'' && (r->from->flags & CIP_JSON_PRINTED) != 0);
}

/* --- warnings --------------------------------------------------------------------------------- */

static cip_status add_steps(const around *in, cip_buf *path, cip_err *err)
{
    if (in == NULL)
        return CIP_OK;
    CIP_TRY(add_steps(in->up, path, err)); /* no deeper than collections are read */
    if (path->len >= SHOWN)
        return CIP_OK;
    const size_t n = in->key != NULL ? (size_t)cip_min_u64(in->key->len, SHOWN) : 0;
    const bool named = in->key != NULL && memchr(in->key->text, '\0', n) == NULL;
    if (!named)
        return cip_buf_addf(path, err, "%s%s%zu", path->len != 0 ? "/" : "",
                            in->key != NULL ? "?" : "", in->item);
    return cip_path_add(path, (cip_bytes){ (const uint8_t *)in->key->text, n }, err);
}

/* The path of what a warning is of. */
static cip_status name_place(const around *in, cip_buf *path, cip_err *err)
{
    CIP_TRY(add_steps(in, path, err));
    return cip_buf_nul(path, err);
}

static cip_status warn_of_raw(reader *r, const around *in, size_t at, const char *what,
                              cip_err *err)
{
    cip_buf path = { .mem = &r->from->env->mem };
    uint64_t *n = &r->nraw;
    if (r->from->part == NULL || (*n)++ > MOST_WARNINGS)
        return CIP_OK;
    cip_status st = name_place(in, &path, err);
    if (st == CIP_OK)
        cip_warn(r->from->env, CIP_ERR_UNSUPPORTED, r->from->offset + at, r->from->part,
                 *n > MOST_WARNINGS ? "'%.200s' and maybe more: %s" : "'%.200s': %s",
                 (const char *)path.ptr, what);
    cip_buf_clear(&path);
    return st;
}

/* Each, as the mapping lacks the value that came before. */
static cip_status warn_of_repeated(const reader *r, const around *in, const cip_node *map,
                                   cip_err *err)
{
    cip_buf path = { .mem = &r->from->env->mem };
    if (r->from->part == NULL)
        return CIP_OK;
    cip_status st = name_place(in, &path, err);
    if (st == CIP_OK)
        cip_warn_lack(r->from->env, CIP_LACKS_NODE, map, CIP_ERR_CORRUPT,
                      r->from->offset + r->at - 1, r->from->part,
                      "'%.200s': the key is repeated: the last one counts", (const char *)path.ptr);
    cip_buf_clear(&path);
    return st;
}

/* --- strings ---------------------------------------------------------------------------------- */

/* The four digits of \uXXXX. */
static cip_status take_unit(reader *r, uint32_t *unit, cip_err *err)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        const int digit = cip_hex_digit(peek(r));
        if (digit < 0)
            return expected(r, "four hexadecimal digits", err);
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return CIP_OK;
}

static cip_status add_code_point(cip_buf *b, uint32_t c, cip_err *err)
{
    const uint8_t tail = (uint8_t)(0x80 | (c & 0x3f)), mid = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    if (c < 0x80)
        return cip_buf_add(b, &(uint8_t){ (uint8_t)c }, 1, err);
    if (c < 0x800)
        return cip_buf_add(b, (uint8_t[]){ (uint8_t)(0xc0 | c >> 6), tail }, 2, err);
    if (c < 0x10000)
        return cip_buf_add(b, (uint8_t[]){ (uint8_t)(0xe0 | c >> 12), mid, tail }, 3, err);
    const uint8_t four[] = { (uint8_t)(0xf0 | c >> 18), (uint8_t)(0x80 | (c >> 12 & 0x3f)), mid,
                             tail };
    return cip_buf_add(b, four, sizeof four, err);
}

/* *half: it is half a surrogate pair without the other, which UTF-8 has nothing for. */
static cip_status take_code_point(reader *r, bool *half, cip_err *err)
{
    uint32_t c, low;
    CIP_TRY(take_unit(r, &c, err));
    if (c < 0xd800 || c > 0xdfff)
        return add_code_point(&r->text, c, err);
    const size_t behind = r->at;
    if (c < 0xdc00 && take_word(r, "\\u")) {
        CIP_TRY(take_unit(r, &low, err));
        if (low >= 0xdc00 && low <= 0xdfff)
            return add_code_point(&r->text, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00), err);
    }
    r->at = behind;
    *half = true;
    return CIP_OK;
}

static cip_status take_escape(reader *r, bool *half, cip_err *err)
{
    static const char from[] = "\"\\/bfnrt'", to[] = "\"\\/\b\f\n\r\t'";
    const int c = peek(r);
    const char *found = c > 0 ? strchr(from, c) : NULL;
    if (c == 'u') {
        r->at++;
        return take_code_point(r, half, err);
    }
    if (found == NULL || (c == '\'' && !is_quote(r, c)))
        return expected(r, "an escape such as \\n", err);
    r->at++;
    return cip_buf_add(&r->text, to + (found - from), 1, err);
}

/* Into r->text, from the opening quote to behind the closing one. */
static cip_status take_text(reader *r, bool *half, cip_err *err)
{
    const uint8_t quote = r->t.ptr[r->at++];
    *half = false;
    r->text.len = 0;
    for (;;) {
        const size_t from = r->at;
        while (r->at < r->t.len && r->t.ptr[r->at] != quote && r->t.ptr[r->at] != '\\' &&
               r->t.ptr[r->at] != '\0')
            r->at++;
        CIP_TRY(cip_buf_add(&r->text, r->t.ptr + from, r->at - from, err));
        if (peek(r) == quote) {
            r->at++;
            return CIP_OK;
        }
        if (peek(r) != '\\')
            return expected(r, "the end of a string", err);
        r->at++;
        CIP_TRY(take_escape(r, half, err));
    }
}

static cip_status make_raw(reader *r, size_t from, cip_node **out, cip_err *err)
{
    CIP_TRY(
        cip_node_new_string(r->from->arena, (const char *)r->t.ptr + from, r->at - from, out, err));
    (*out)->tag = CIP_JSON_RAW;
    return CIP_OK;
}

static cip_status read_string(reader *r, const around *in, cip_node **out, cip_err *err)
{
    const size_t from = r->at;
    bool half;
    CIP_TRY(take_text(r, &half, err));
    if (!half)
        return cip_node_new_string(r->from->arena, (const char *)r->text.ptr, r->text.len, out,
                                   err);
    CIP_TRY(warn_of_raw(r, in, from,
                        "half a surrogate pair is not valid text: it is shown as written in JSON",
                        err));
    return make_raw(r, from, out, err);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static cip_status take_digits(reader *r, cip_err *err)
{
    const size_t from = r->at;
    while (peek(r) >= '0' && peek(r) <= '9')
        r->at++;
    return r->at > from ? CIP_OK : expected(r, "a digit", err);
}

static cip_status make_int(reader *r, size_t from, cip_node **out, cip_err *err)
{
    cip_arena *a = r->from->arena;
    const bool negative = r->t.ptr[from] == '-';
    uint64_t v = 0;
    bool fits = true;
    for (size_t i = from + negative; i < r->at; i++)
        fits = fits && !cip_mul_overflow(v, 10, &v) &&
               !cip_add_overflow(v, (uint64_t)(r->t.ptr[i] - '0'), &v);
    if (fits && !negative)
        return cip_node_new_uint(a, v, out, err);
    if (fits && v <= (uint64_t)INT64_MAX + 1)
        return cip_node_new_int(a, v == 0 ? 0 : -(int64_t)(v - 1) - 1, out, err);
    CIP_TRY(cip_node_make_scalar(a, (const char *)r->t.ptr + from, r->at - from, out, err));
    (*out)->type = CIP_NODE_BIGINT;
    return CIP_OK;
}

static cip_status read_number(reader *r, cip_node **out, cip_err *err)
{
    const size_t from = r->at;
    bool whole = true;
    r->at += peek(r) == '-';
    if (take_word(r, "Infinity"))
        return cip_node_new_double(r->from->arena, r->t.ptr[from] == '-' ? -INFINITY : INFINITY,
                                   out, err);
    if (peek(r) == '0')
        r->at++;
    else
        CIP_TRY(take_digits(r, err));
    if (peek(r) == '.') {
        whole = false;
        r->at++;
        CIP_TRY(take_digits(r, err));
    }
    if (peek(r) == 'e' || peek(r) == 'E') {
        whole = false;
        r->at++;
        r->at += peek(r) == '+' || peek(r) == '-';
        CIP_TRY(take_digits(r, err));
    }
    if (whole)
        return make_int(r, from, out, err);
    return cip_node_new_double(
        r->from->arena, cip_decimal_parse((const char *)r->t.ptr + from, r->at - from), out, err);
}

/* --- collections ------------------------------------------------------------------------------ */

/* To behind the end of the collection that begins here, whatever is in it. */
static cip_status pass_collection(reader *r, cip_err *err)
{
    size_t depth = 0;
    do {
        const int c = peek(r);
        bool half;
        if (is_quote(r, c)) {
            CIP_TRY(take_text(r, &half, err));
            continue;
        }
        if (c <= 0)
            return expected(r, "the end of a list or an object", err);
        depth += c == '[' || c == '{';
        depth -= c == ']' || c == '}';
        r->at++;
    } while (depth != 0);
    return CIP_OK;
}

/* The items up to the closing mark, onto the stack. */
static cip_status read_items(reader *r, around *in, bool map, cip_err *err)
{
    const char *end = map ? "}" : "]";
    r->at++;
    pass_blanks(r);
    if (take_word(r, end))
        return CIP_OK;
    for (;; in->item++) {
        cip_node *key = NULL, *value;
        if (map) {
            if (!is_quote(r, peek(r)))
                return expected(r, "a key in double quotes", err);
            CIP_TRY(read_string(r, in->up, &key, err));
            pass_blanks(r);
            if (!take_word(r, ":"))
                return expected(r, "':'", err);
            pass_blanks(r);
        }
        in->key = key;
        CIP_TRY(read_value(r, in, &value, err));
        CIP_TRY(cip_buf_add(&r->items, &(cip_pair){ key, value }, sizeof(cip_pair), err));
        pass_blanks(r);
        if (take_word(r, end))
            return CIP_OK;
        if (!take_word(r, ","))
            return expected(r, map ? "',' or '}'" : "',' or ']'", err);
        pass_blanks(r);
    }
}

static void see_repeated(void *user, const cip_pair *earlier, const cip_pair *later)
{
    (void)earlier;
    *(const cip_node **)user = later->key;
}

static cip_status read_collection(reader *r, const around *up, cip_node **out, cip_err *err)
{
    around in = { .up = up, .depth = up != NULL ? up->depth + 1 : 1 };
    const size_t base = r->items.len;
    const bool map = peek(r) == '{';
    if (in.depth > r->most) {
        const size_t from = r->at;
        CIP_TRY(
            warn_of_raw(r, up, from, "it is nested too deep: it is shown as written in JSON", err));
        CIP_TRY(pass_collection(r, err));
        return make_raw(r, from, out, err);
    }
    CIP_TRY(read_items(r, &in, map, err));
    const size_t n = (r->items.len - base) / sizeof(cip_pair);
    cip_pair *p = n != 0 ? (cip_pair *)(void *)(r->items.ptr + base) : NULL;
    r->items.len = base;
    if (map) {
        const cip_node *repeated = NULL;
        around place = in;
        CIP_TRY(cip_node_make_container(r->from->arena, CIP_NODE_MAP, out, err));
        CIP_TRY(
            cip_map_fill(r->from->arena, *out, (cip_pairs){ p, n }, see_repeated, &repeated, err));
        place.key = repeated;
        return repeated == NULL ? CIP_OK : warn_of_repeated(r, &place, *out, err);
    }
    CIP_TRY(cip_node_new_seq(r->from->arena, n, out, err));
    for (size_t i = 0; i < n; i++)
        cip_node_set_item(*out, i, p[i].value);
    return CIP_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

static cip_status read_word(reader *r, cip_node **out, cip_err *err)
{
    const bool printed = (r->from->flags & CIP_JSON_PRINTED) != 0;
    cip_arena *a = r->from->arena;
    if (take_word(r, "null") || (printed && take_word(r, "None")))
        return cip_node_new_null(a, out, err);
    if (take_word(r, "true") || (printed && take_word(r, "True")))
        return cip_node_new_bool(a, true, out, err);
    if (take_word(r, "false") || (printed && take_word(r, "False")))
        return cip_node_new_bool(a, false, out, err);
    if (take_word(r, "NaN"))
        return cip_node_new_double(a, NAN, out, err);
    return expected(r, "a value", err);
}

static cip_status read_value(reader *r, const around *in, cip_node **out, cip_err *err)
{
    const int c = peek(r);
    if (r->nodes++ >= r->from->env->limits.max_nodes)
        return cip_fail(err, CIP_ERR_LIMIT, r->at,
                        "expected JSON of at most %" PRIu64 " values, found more",
                        r->from->env->limits.max_nodes);
    if (c == '[' || c == '{')
        return read_collection(r, in, out, err);
    if (is_quote(r, c))
        return read_string(r, in, out, err);
    if (c == '-' || c == 'I' || (c >= '0' && c <= '9'))
        return read_number(r, out, err);
    return read_word(r, out, err);
}

cip_status cip_json_read(const cip_json_source *from, cip_bytes text, cip_node **out, cip_err *err)
{
    cip_mem *mem = &from->env->mem;
    const uint32_t most = from->env->limits.max_depth;
    cip_node *root = NULL;
    reader r = { .from = from,
                 .t = text,
                 .most = most < CIP_JSON_DEPTH ? most : CIP_JSON_DEPTH,
                 .items = { .mem = mem },
                 .text = { .mem = mem } };
    cip_status st;
    *out = NULL;
    if (!cip_utf8_is(text.ptr, text.len))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected JSON in UTF-8");
    pass_blanks(&r);
    CIP_GO(read_value(&r, NULL, &root, err));
    pass_blanks(&r);
    if (r.at != text.len)
        st = expected(&r, "nothing after the value", err);
    *out = st == CIP_OK ? root : NULL;
done:
    cip_buf_clear(&r.items);
    cip_buf_clear(&r.text);
    return st;
}
