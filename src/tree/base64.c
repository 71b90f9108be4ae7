/* SPDX-License-Identifier: BSD-3-Clause
 * Base64 (RFC 4648) without line ends. */
#include "tree/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

cip_status cip_base64_encode(cip_bytes in, cip_buf *out, cip_err *err)
{
    const uint8_t *p = in.ptr;
    size_t n = in.len;
    uint8_t *at;
    size_t len = (n + 2) / 3 * 4;
    CIP_TRY(cip_buf_reserve(out, len, &at, err));
    for (size_t i = 0; i < n; i += 3, at += 4) {
        uint32_t v = (uint32_t)p[i] << 16;
        v |= i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0;
        v |= i + 2 < n ? p[i + 2] : 0;
        at[0] = (uint8_t)digits[v >> 18];
        at[1] = (uint8_t)digits[v >> 12 & 63];
        at[2] = i + 1 < n ? (uint8_t)digits[v >> 6 & 63] : '=';
        at[3] = i + 2 < n ? (uint8_t)digits[v & 63] : '=';
    }
    out->len += len;
    return CIP_OK;
}

cip_status cip_base64_decode(const char *text, size_t len, cip_buf *out, cip_err *err)
{
    uint32_t v = 0;
    size_t pad = 0;
    for (size_t i = 0; i < len; i++) {
        const char *digit = text[i] == '\0' ? NULL : strchr(digits, text[i]);
        if (digit == NULL && text[i] != '=')
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected base64, found the byte 0x%02x", (uint8_t)text[i]);
        pad += digit == NULL;
        v = v << 6 | (digit == NULL ? 0 : (uint32_t)(digit - digits));
        if (i % 4 == 3) {
            const uint8_t b[3] = { (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };
            CIP_TRY(cip_buf_add(out, b, pad > 2 ? 0 : 3 - pad, err));
        }
    }
    return CIP_OK;
}

cip_status cip_node_new_binary(cip_arena *a, cip_bytes in, cip_node **out, cip_err *err)
{
    cip_buf b = { .mem = a->mem };
    cip_status st = cip_base64_encode(in, &b, err);
    if (st == CIP_OK)
        st = cip_node_new_string(a, (const char *)b.ptr, b.len, out, err);
    cip_buf_clear(&b);
    if (st == CIP_OK) {
        (*out)->type = CIP_NODE_BINARY;
        (*out)->tag = "tag:yaml.org,2002:binary";
    }
    return st;
}
