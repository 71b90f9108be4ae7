/* SPDX-License-Identifier: BSD-3-Clause
 * MessagePack to nodes: the library takes the bytes apart, after a walk over them has seen that no
 * length promises more than there is, because the library allocates what lengths say. */
#include "tree/msgpack.h"

#include <string.h>

#include "base/endian.h"
#include "tree/base64.h"
#include "tree/utf8.h"

#ifndef CIP_WITH_MSGPACK
#define CIP_WITH_MSGPACK 1
#endif

#if CIP_WITH_MSGPACK

#include <msgpack.h>

enum { MAX_DEPTH = CIP_MSGPACK_DEPTH, MAX_VALUES = CIP_MSGPACK_VALUES, EXTS_DEEP = 4 };

/* --- before the library ----------------------------------------------------------------------- */

/* What stands behind a mark: bytes to pass over, values inside. */
typedef struct extent {
    uint64_t skip, inside;
    bool known;
} extent;

static uint64_t load(cip_cursor *c, unsigned n)
{
    return n == 1 ? cip_get_u8(c) : n == 2 ? cip_get_u16(c) : cip_get_u32(c);
}

static extent extent_of(cip_cursor *c, uint8_t mark)
{
    static const uint8_t fixed[] = { /* c0 to df: bytes behind it, of those without a length */
                                     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 1,
                                     2, 4, 8, 1, 2, 4, 8, 2, 3, 5, 9, 17
    };
    if (mark <= 0x7f || mark >= 0xe0)
        return (extent){ 0, 0, true };
    if (mark <= 0x8f)
        return (extent){ 0, 2u * (mark & 0x0f), true };
    if (mark <= 0x9f)
        return (extent){ 0, mark & 0x0f, true };
    if (mark <= 0xbf)
        return (extent){ mark & 0x1f, 0, true };
    if (mark >= 0xdc) /* arrays, maps */
        return (extent){ 0, (mark >= 0xde ? 2 : 1) * load(c, mark % 2 == 0 ? 2 : 4), true };
    if (mark >= 0xd9)
        return (extent){ load(c, 1u << (mark - 0xd9)), 0, true };
    if (mark >= 0xc4 && mark <= 0xc6)
        return (extent){ load(c, 1u << (mark - 0xc4)), 0, true };
    if (mark >= 0xc7 && mark <= 0xc9)
        return (extent){ load(c, 1u << (mark - 0xc7)) + 1, 0, true };
    return (extent){ fixed[mark - 0xc0], 0, mark != 0xc1 };
}

/* Whether the bytes are one whole value within the limits. */
static cip_status check(cip_bytes in, cip_err *err)
{
    uint64_t left[MAX_DEPTH + 1] = { 1 };
    cip_cursor c = cip_cursor_be(in);
    size_t values = 0;
    for (unsigned depth = 0;;) {
        if (left[depth] == 0) {
            if (depth == 0)
                break;
            depth--;
            continue;
        }
        left[depth]--;
        extent e = extent_of(&c, cip_get_u8(&c));
        bool fits =
            !c.bad && e.known && e.skip <= cip_cursor_left(&c) && e.inside <= cip_cursor_left(&c);
        if (!fits)
            return cip_fail(err, CIP_ERR_FORMAT, c.pos, "expected msgpack, found other bytes");
        cip_get_bytes(&c, (size_t)e.skip);
        if (++values > MAX_VALUES || (e.inside != 0 && depth == MAX_DEPTH))
            return cip_fail(err, CIP_ERR_LIMIT, c.pos,
                            "msgpack of more than %d values, or nested more than %d levels deep",
                            MAX_VALUES, MAX_DEPTH);
        if (e.inside != 0)
            left[++depth] = e.inside;
    }
    if (cip_cursor_left(&c) != 0)
        return cip_fail(err, CIP_ERR_FORMAT, c.pos, "expected one value, found more after it");
    return CIP_OK;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* `exts`: how many extension types it lies in. */
static cip_status make(cip_arena *a, const msgpack_object *o, unsigned exts, cip_node **out,
                       cip_err *err);
static cip_status read(cip_arena *a, cip_bytes in, unsigned exts, cip_node **out, cip_err *err);

static cip_status make_list(cip_arena *a, const msgpack_object_array *list, unsigned exts,
                            cip_node **out, cip_err *err)
{
    static const char mark[] = "__tuple__";
    const bool tuple = list->size != 0 && list->ptr[0].type == MSGPACK_OBJECT_STR &&
                       list->ptr[0].via.str.size == sizeof mark - 1 &&
                       memcmp(list->ptr[0].via.str.ptr, mark, sizeof mark - 1) == 0;
    const uint32_t first = tuple ? 1 : 0;
    CIP_TRY(cip_node_new_seq(a, list->size - first, out, err));
    if (first != 0)
        (*out)->tag = "!tuple";
    for (uint32_t i = first; i < list->size; i++) {
        cip_node *item;
        CIP_TRY(make(a, &list->ptr[i], exts, &item, err));
        cip_node_set_item(*out, i - first, item);
    }
    return CIP_OK;
}

static cip_status make_map(cip_arena *a, const msgpack_object_map *map, unsigned exts,
                           cip_node **out, cip_err *err)
{
    CIP_TRY(cip_node_new_map(a, map->size, out, err));
    for (uint32_t i = 0; i < map->size; i++) {
        cip_node *key, *value;
        CIP_TRY(make(a, &map->ptr[i].key, exts, &key, err));
        CIP_TRY(make(a, &map->ptr[i].val, exts, &value, err));
        cip_node_set_pair(*out, i, key, value);
    }
    return CIP_OK;
}

static cip_status make_ext(cip_arena *a, const msgpack_object_ext *e, unsigned exts, cip_node **out,
                           cip_err *err)
{
    enum { CFRAME = 42, FIRST_INNER = 43, COMPLEX = 44, LAST_INNER = 46 };
    static const char *const tag[] = { "!reference", "!complex", "!set", "!array" };
    cip_bytes in = { (const uint8_t *)e->ptr, e->size };
    if (e->type == COMPLEX && in.len == 16) {
        CIP_TRY(cip_node_new_seq(a, 2, out, err));
        for (size_t i = 0; i < 2; i++) {
            cip_node *part;
            CIP_TRY(cip_node_new_double(a, cip_load_float(in.ptr + 8 * i, 8, true), &part, err));
            cip_node_set_item(*out, i, part);
        }
        (*out)->style = CIP_STYLE_FLOW;
        (*out)->tag = "!complex";
        return CIP_OK;
    }
    bool inner = e->type >= FIRST_INNER && e->type <= LAST_INNER && exts < EXTS_DEEP;
    if (inner && read(a, in, exts + 1, out, NULL) == CIP_OK && (*out)->type != CIP_NODE_BINARY) {
        (*out)->tag = tag[e->type - FIRST_INNER];
        return CIP_OK;
    }
    CIP_TRY(cip_node_new_binary(a, in, out, err));
    (*out)->tag = e->type == CFRAME ? "!cframe" : "!ext";
    return CIP_OK;
}

static cip_status make(cip_arena *a, const msgpack_object *o, unsigned exts, cip_node **out,
                       cip_err *err)
{
    switch (o->type) {
    case MSGPACK_OBJECT_NIL:
        return cip_node_new_null(a, out, err);
    case MSGPACK_OBJECT_BOOLEAN:
        return cip_node_new_bool(a, o->via.boolean, out, err);
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        return cip_node_new_uint(a, o->via.u64, out, err);
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        return cip_node_new_int(a, o->via.i64, out, err);
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        return cip_node_new_double(a, o->via.f64, out, err);
    case MSGPACK_OBJECT_STR:
        if (cip_utf8_is(o->via.str.ptr, o->via.str.size))
            return cip_node_new_string(a, o->via.str.ptr, o->via.str.size, out, err);
        return cip_node_new_binary(
            a, (cip_bytes){ (const uint8_t *)o->via.str.ptr, o->via.str.size }, out, err);
    case MSGPACK_OBJECT_BIN: {
        cip_bytes in = { (const uint8_t *)o->via.bin.ptr, o->via.bin.size };
        return cip_node_new_binary(a, in, out, err);
    }
    case MSGPACK_OBJECT_ARRAY:
        return make_list(a, &o->via.array, exts, out, err);
    case MSGPACK_OBJECT_MAP:
        return make_map(a, &o->via.map, exts, out, err);
    case MSGPACK_OBJECT_EXT:
        return make_ext(a, &o->via.ext, exts, out, err);
    }
    return cip_fail(err, CIP_ERR_FORMAT, CIP_NO_OFFSET, "msgpack of an unknown type");
}

static cip_status read(cip_arena *a, cip_bytes in, unsigned exts, cip_node **out, cip_err *err)
{
    msgpack_unpacked got;
    CIP_TRY(check(in, err));
    msgpack_unpacked_init(&got);
    msgpack_unpack_return r =
        msgpack_unpack_next(&got, (const char *)in.ptr, in.len, &(size_t){ 0 });
    cip_status st = CIP_OK;
    if (r == MSGPACK_UNPACK_NOMEM_ERROR)
        st = cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for msgpack");
    else if (r != MSGPACK_UNPACK_SUCCESS)
        st = cip_fail(err, CIP_ERR_FORMAT, CIP_NO_OFFSET, "expected msgpack, found other bytes");
    else
        st = make(a, &got.data, exts, out, err);
    msgpack_unpacked_destroy(&got);
    return st;
}

cip_status cip_msgpack_read(cip_arena *a, cip_bytes in, cip_node **out, cip_err *err)
{
    return read(a, in, 0, out, err);
}

const char *cip_msgpack_version(void)
{
    return msgpack_version();
}

#else

cip_status cip_msgpack_read(cip_arena *a, cip_bytes in, cip_node **out, cip_err *err)
{
    (void)a, (void)in, (void)out;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "this build has no msgpack");
}

const char *cip_msgpack_version(void)
{
    return "";
}

#endif
