/* SPDX-License-Identifier: BSD-3-Clause
 * Growing runs of bytes: doubled when full. */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

cip_status cip_buf_reserve(cip_buf *b, size_t n, uint8_t **at, cip_err *err)
{
    size_t need;
    if (cip_add_overflow(b->len, n, &need))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a buffer of over 2^64 bytes");
    if (need > b->cap || b->ptr == NULL) {
        size_t cap = b->cap < 64 ? 64 : b->cap;
        while (cap < need && !cip_mul_overflow(cap, (size_t)2, &cap))
            ;
        if (cap < need)
            cap = need;
        CIP_TRY(cip_mem_resize(b->mem, (void **)&b->ptr, cap, err));
        b->cap = cap;
    }
    if (at != NULL)
        *at = b->ptr + b->len;
    return CIP_OK;
}

cip_status cip_buf_add(cip_buf *b, const void *src, size_t n, cip_err *err)
{
    uint8_t *at;
    CIP_TRY(cip_buf_reserve(b, n, &at, err));
    if (n != 0)
        memcpy(at, src, n);
    b->len += n;
    return CIP_OK;
}

cip_status cip_buf_fill(cip_buf *b, uint8_t byte, size_t n, cip_err *err)
{
    uint8_t *at;
    CIP_TRY(cip_buf_reserve(b, n, &at, err));
    memset(at, byte, n);
    b->len += n;
    return CIP_OK;
}

cip_status cip_buf_addf(cip_buf *b, cip_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "a text that cannot be formatted");
    uint8_t *at;
    CIP_TRY(cip_buf_reserve(b, (size_t)n + 1, &at, err));
    va_start(ap, fmt);
    vsnprintf((char *)at, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
    return CIP_OK;
}

cip_status cip_buf_nul(cip_buf *b, cip_err *err)
{
    uint8_t *at;
    CIP_TRY(cip_buf_reserve(b, 1, &at, err));
    *at = 0;
    return CIP_OK;
}

void cip_buf_clear(cip_buf *b)
{
    cip_mem_put(b->mem, b->ptr);
    *b = (cip_buf){ .mem = b->mem };
}
