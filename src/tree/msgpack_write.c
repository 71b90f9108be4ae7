/* SPDX-License-Identifier: BSD-3-Clause
 * Nodes to MessagePack: each number in the fewest bytes, as msgpack's own packers do, and what is
 * tagged as python-blosc2's (msgpack.h) in its form again. */
#include <string.h>

#include "base/endian.h"
#include "tree/base64.h"
#include "tree/msgpack.h"

typedef struct packer {
    cip_msgpack_how *how;
    cip_buf *out;
    size_t values;
} packer;

static cip_status put_node(packer *p, const cip_node *n, unsigned depth, cip_err *err);

/* --- marks and numbers ------------------------------------------------------------------------ */

static cip_status put(packer *p, uint8_t mark, uint64_t v, unsigned n, cip_err *err)
{
    uint8_t bytes[9] = { mark };
    for (unsigned i = 0; i < n; i++)
        bytes[1 + i] = (uint8_t)(v >> 8 * (n - 1 - i));
    return cip_buf_add(p->out, bytes, 1 + n, err);
}

/* A length behind the first of three marks, for lengths of 1, 2 and 4 bytes; `least`: of those. */
static cip_status put_len(packer *p, uint8_t mark, unsigned least, uint64_t n, cip_err *err)
{
    const unsigned width = n > UINT16_MAX ? 4 : n > UINT8_MAX || least == 2 ? 2 : 1;
    const unsigned step = width == 4 ? 2 : width == 2 ? 1 : 0;
    if (n > UINT32_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a value of over 2^32 bytes");
    return put(p, (uint8_t)(mark + step - (least == 2 ? 1 : 0)), n, width, err);
}

static cip_status put_int(packer *p, const cip_node *n, cip_err *err)
{
    static const uint8_t mark[2][4] = { { 0xcc, 0xcd, 0xce, 0xcf }, { 0xd0, 0xd1, 0xd2, 0xd3 } };
    const uint64_t v = n->negative ? (uint64_t)n->i : n->u, size = n->negative ? ~v : v;
    const unsigned sign = n->negative;
    if (size <= (sign ? 0x1fu : 0x7fu))
        return put(p, (uint8_t)v, 0, 0, err);
    for (unsigned k = 0; k < 3; k++)
        if (size >> ((8u << k) - sign) == 0)
            return put(p, mark[sign][k], v, 1u << k, err);
    return put(p, mark[sign][3], v, 8, err);
}

static cip_status put_text(packer *p, const char *text, size_t n, cip_err *err)
{
    if (n < 32)
        CIP_TRY(put(p, (uint8_t)(0xa0 + n), 0, 0, err));
    else
        CIP_TRY(put_len(p, 0xd9, 1, n, err));
    return cip_buf_add(p->out, text, n, err);
}

/* --- extension types -------------------------------------------------------------------------- */

enum { NO_EXT = 0, CFRAME = 42, REFERENCE, COMPLEX, SET, ARRAY };

static int ext_of(const char *tag)
{
    static const char *const tags[] = { "!cframe", "!reference", "!complex", "!set", "!array" };
    for (int i = 0; tag != NULL && i < 5; i++)
        if (strcmp(tag, tags[i]) == 0)
            return CFRAME + i;
    return NO_EXT;
}

static cip_status put_ext(packer *p, int type, cip_bytes data, cip_err *err)
{
    static const uint8_t fixed[] = { [1] = 0xd4, [2] = 0xd5, [4] = 0xd6, [8] = 0xd7, [16] = 0xd8 };
    const uint8_t id = (uint8_t)type;
    if (data.len < sizeof fixed && fixed[data.len] != 0)
        CIP_TRY(put(p, fixed[data.len], 0, 0, err));
    else
        CIP_TRY(put_len(p, 0xc7, 1, data.len, err));
    CIP_TRY(cip_buf_add(p->out, &id, 1, err));
    return cip_buf_add(p->out, data.ptr, data.len, err);
}

static cip_status put_binary(packer *p, const cip_node *n, cip_err *err)
{
    cip_buf raw = { .mem = p->out->mem };
    cip_status st = cip_base64_decode(n->text, n->len, &raw, err);
    const cip_bytes data = { raw.ptr, raw.len };
    if (st == CIP_OK && ext_of(n->tag) == CFRAME) {
        st = put_ext(p, CFRAME, data, err);
    } else if (st == CIP_OK) {
        st = put_len(p, 0xc4, 1, raw.len, err);
        if (st == CIP_OK)
            st = cip_buf_add(p->out, raw.ptr, raw.len, err);
    }
    cip_buf_clear(&raw);
    return st;
}

/* What is packed on its own and wrapped. */
static cip_status put_wrapped(packer *p, const cip_node *n, int type, unsigned depth, cip_err *err)
{
    cip_buf inner = { .mem = p->out->mem }, *outer = p->out;
    cip_node bare = *n;
    uint8_t parts[16];
    bare.tag = NULL;
    if (type == COMPLEX) {
        for (unsigned k = 0; k < 2; k++) {
            uint64_t bits;
            memcpy(&bits, &n->item[k]->f, sizeof bits);
            cip_store_u64(parts + 8 * k, bits, true);
        }
        return put_ext(p, type, (cip_bytes){ parts, sizeof parts }, err);
    }
    p->out = &inner;
    cip_status st = put_node(p, &bare, depth + 1, err);
    p->out = outer;
    if (st == CIP_OK)
        st = put_ext(p, type, (cip_bytes){ inner.ptr, inner.len }, err);
    cip_buf_clear(&inner);
    return st;
}

static bool is_tuple(const cip_node *n)
{
    return n->type == CIP_NODE_SEQ && n->tag != NULL && strcmp(n->tag, "!tuple") == 0;
}

/* --- collections ------------------------------------------------------------------------------ */

static bool left_out(const packer *p, const cip_node *n)
{
    return p->how->leave_out != NULL && p->how->leave_out(p->how->user, n);
}

static cip_status put_seq(packer *p, const cip_node *n, unsigned depth, cip_err *err)
{
    static const char mark[] = "__tuple__";
    const bool tuple = is_tuple(n);
    const uint64_t len = (uint64_t)n->len + tuple;
    CIP_TRY(len < 16 ? put(p, (uint8_t)(0x90 + len), 0, 0, err) : put_len(p, 0xdc, 2, len, err));
    if (tuple)
        CIP_TRY(put_text(p, mark, sizeof mark - 1, err));
    for (uint32_t i = 0; i < n->len; i++) {
        if (left_out(p, n->item[i]))
            CIP_TRY(put(p, 0xc0, 0, 0, err));
        else
            CIP_TRY(put_node(p, n->item[i], depth + 1, err));
    }
    return CIP_OK;
}

static cip_status put_map(packer *p, const cip_node *n, unsigned depth, cip_err *err)
{
    uint64_t len = 0;
    for (uint32_t i = 0; i < n->len; i++)
        len += !left_out(p, n->pair[i].value);
    CIP_TRY(len < 16 ? put(p, (uint8_t)(0x80 + len), 0, 0, err) : put_len(p, 0xde, 2, len, err));
    for (uint32_t i = 0; i < n->len; i++) {
        if (left_out(p, n->pair[i].value))
            continue;
        const cip_node *key = n->pair[i].key;
        if (key->type != CIP_NODE_STRING && (key->type != CIP_NODE_BINARY || key->tag != NULL))
            p->how->lost |= CIP_MSGPACK_KEYS;
        CIP_TRY(put_node(p, key, depth + 1, err));
        CIP_TRY(put_node(p, n->pair[i].value, depth + 1, err));
    }
    return CIP_OK;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static cip_status put_value(packer *p, const cip_node *n, unsigned depth, cip_err *err)
{
    uint64_t bits;
    switch (n->type) {
    case CIP_NODE_NULL:
        return put(p, 0xc0, 0, 0, err);
    case CIP_NODE_BOOL:
        return put(p, n->b ? 0xc3 : 0xc2, 0, 0, err);
    case CIP_NODE_INT:
        return put_int(p, n, err);
    case CIP_NODE_FLOAT:
        memcpy(&bits, &n->f, sizeof bits);
        return put(p, 0xcb, bits, 8, err);
    case CIP_NODE_BINARY:
        return put_binary(p, n, err);
    case CIP_NODE_SEQ:
        return put_seq(p, n, depth, err);
    case CIP_NODE_MAP:
        return put_map(p, n, depth, err);
    case CIP_NODE_BIGINT:
    case CIP_NODE_TIMESTAMP:
        p->how->lost |= CIP_MSGPACK_TYPES;
        break;
    default:
        break;
    }
    return put_text(p, n->text, n->len, err);
}

static cip_status put_node(packer *p, const cip_node *n, unsigned depth, cip_err *err)
{
    static const char yaml[] = "tag:yaml.org,2002:"; /* of what the value is anyway */
    const int ext = ext_of(n->tag);
    const bool two_floats = n->type == CIP_NODE_SEQ && n->len == 2 &&
                            n->item[0]->type == CIP_NODE_FLOAT &&
                            n->item[1]->type == CIP_NODE_FLOAT;
    const bool usual = n->tag == NULL || strncmp(n->tag, yaml, sizeof yaml - 1) == 0;
    const bool wrapped =
        ext > CFRAME && n->type != CIP_NODE_BINARY && (ext != COMPLEX || two_floats);
    const bool frame = n->type == CIP_NODE_BINARY && ext == CFRAME;
    if (++p->values > CIP_MSGPACK_VALUES || depth > CIP_MSGPACK_DEPTH)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %d values, nested at most %d deep", CIP_MSGPACK_VALUES,
                        CIP_MSGPACK_DEPTH);
    if (wrapped)
        return put_wrapped(p, n, ext, depth, err);
    if (!is_tuple(n) && !frame && !usual)
        p->how->lost |= CIP_MSGPACK_TAGS;
    return put_value(p, n, depth, err);
}

cip_status cip_msgpack_write(const cip_node *n, cip_msgpack_how *how, cip_buf *out, cip_err *err)
{
    packer p = { .how = how, .out = out };
    return put_node(&p, n, 0, err);
}
