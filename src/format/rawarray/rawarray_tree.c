/* SPDX-License-Identifier: BSD-3-Clause
 * The header and the trailing metadata as a tree, and such metadata back to bytes. */
#include <string.h>

#include "base/num.h"
#include "format/rawarray/rawarray.h"
#include "tree/utf8.h"

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

uint64_t cip_ra_tail(const cip_layout *l, const cip_ra_header *h)
{
    return l->io->size - h->data_off - h->size;
}

/* Whether it can be shown as a string: UTF-8 without controls but tab and line ends. */
static bool is_text(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        unsigned len = cip_utf8_get(p + i, n - i, &cp);
        if (len == 0 || (cip_utf8_unsafe(cp) && cp != '\t' && cp != '\n' && cp != '\r'))
            return false;
        i += len;
    }
    return true;
}

static cip_status encode_base64(const uint8_t *p, size_t n, cip_buf *out, cip_err *err)
{
    uint8_t *at;
    size_t len = (n + 2) / 3 * 4;
    CIP_TRY(cip_buf_reserve(out, len, &at, err));
    for (size_t i = 0; i < n; i += 3, at += 4) {
        uint32_t v = (uint32_t)p[i] << 16;
        v |= i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0;
        v |= i + 2 < n ? p[i + 2] : 0;
        at[0] = (uint8_t)base64_digits[v >> 18];
        at[1] = (uint8_t)base64_digits[v >> 12 & 63];
        at[2] = i + 1 < n ? (uint8_t)base64_digits[v >> 6 & 63] : '=';
        at[3] = i + 2 < n ? (uint8_t)base64_digits[v & 63] : '=';
    }
    out->len += len;
    return CIP_OK;
}

/* What encode_base64 made; other text is CORRUPT. */
static cip_status decode_base64(const char *text, size_t len, cip_buf *out, cip_err *err)
{
    uint32_t v = 0;
    size_t pad = 0;
    for (size_t i = 0; i < len; i++) {
        const char *digit = text[i] == '\0' ? NULL : strchr(base64_digits, text[i]);
        if (digit == NULL && text[i] != '=')
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected base64, found the byte 0x%02x", (uint8_t)text[i]);
        pad += digit == NULL;
        v = v << 6 | (digit == NULL ? 0 : (uint32_t)(digit - base64_digits));
        if (i % 4 == 3) {
            const uint8_t b[3] = { (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };
            CIP_TRY(cip_buf_add(out, b, pad > 2 ? 0 : 3 - pad, err));
        }
    }
    return CIP_OK;
}

cip_status cip_ra_metadata(const cip_node *node, cip_buf *out, cip_err *err)
{
    if (node->type == CIP_NODE_BINARY)
        return decode_base64(node->text, node->len, out, err);
    return cip_buf_add(out, node->text, node->len, err);
}

static cip_status tail_node(cip_arena *a, const uint8_t *p, size_t n, cip_node **out, cip_err *err)
{
    if (is_text(p, n))
        return cip_node_new_string(a, (const char *)p, n, out, err);
    cip_buf b = { .mem = a->mem };
    cip_status st = encode_base64(p, n, &b, err);
    if (st == CIP_OK)
        st = cip_node_new_string(a, (const char *)b.ptr, b.len, out, err);
    cip_buf_clear(&b);
    if (st == CIP_OK) {
        (*out)->type = CIP_NODE_BINARY;
        (*out)->tag = "tag:yaml.org,2002:binary";
    }
    return st;
}

static cip_status read_tail(cip_layout *l, const cip_ra_header *h, cip_node **out, cip_err *err)
{
    uint64_t n = cip_ra_tail(l, h);
    uint8_t *p;
    if (n > cip_min_u64(CIP_RA_METADATA_MAX, l->env->limits.max_tree_bytes))
        return cip_node_new_null(&l->arena, out, err);
    CIP_TRY(cip_mem_get(&l->env->mem, (size_t)n, (void **)&p, err));
    cip_status st = cip_io_read(l->io, h->data_off + h->size, p, (size_t)n, err);
    if (st == CIP_OK)
        st = tail_node(&l->arena, p, (size_t)n, out, err);
    cip_mem_put(&l->env->mem, p);
    return st;
}

static cip_status set_pair(cip_arena *a, cip_node *map, size_t i, const char *key,
                           const cip_node *value, cip_err *err)
{
    cip_node *k;
    CIP_TRY(cip_node_new_string(a, key, strlen(key), &k, err));
    cip_node_set_pair(map, i, k, value);
    return CIP_OK;
}

static cip_status dims_node(cip_arena *a, const cip_ra_header *h, cip_node **out, cip_err *err)
{
    CIP_TRY(cip_node_new_seq(a, (size_t)h->ndim, out, err));
    (*out)->style = CIP_STYLE_FLOW;
    for (int32_t i = 0; i < h->ndim; i++) {
        cip_node *dim;
        CIP_TRY(cip_node_new_uint(a, h->dims[i], &dim, err));
        cip_node_set_item(*out, (size_t)i, dim);
    }
    return CIP_OK;
}

cip_status cip_ra_tree(cip_layout *l, const cip_ra_header *h, const cip_node **out, cip_err *err)
{
    cip_arena *a = &l->arena;
    cip_node *map, *v;
    const struct {
        const char *key;
        uint64_t value;
    } number[] = {
        { "flags", h->flags }, { "eltype", h->eltype }, { "elbyte", h->elbyte }, { "size", h->size }
    };
    const size_t n = sizeof number / sizeof *number;
    bool tail = cip_ra_tail(l, h) != 0;
    CIP_TRY(cip_node_new_map(a, n + 1 + (tail ? 1 : 0), &map, err));
    for (size_t i = 0; i < n; i++) {
        CIP_TRY(cip_node_new_uint(a, number[i].value, &v, err));
        CIP_TRY(set_pair(a, map, i, number[i].key, v, err));
    }
    CIP_TRY(dims_node(a, h, &v, err));
    CIP_TRY(set_pair(a, map, n, "dims", v, err));
    if (tail) {
        CIP_TRY(read_tail(l, h, &v, err));
        CIP_TRY(set_pair(a, map, n + 1, "metadata", v, err));
    }
    *out = map;
    return CIP_OK;
}
