/* SPDX-License-Identifier: BSD-3-Clause
 * A growing run of bytes. */
#ifndef CIP_BASE_BUFFER_H
#define CIP_BASE_BUFFER_H

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"

/* Zero-initialise with the memory it uses: cip_buf b = { .mem = m }. */
typedef struct cip_buf {
    cip_mem *mem;
    uint8_t *ptr;
    size_t len;
    size_t cap;
} cip_buf;

/* Room for n bytes more; *at (may be NULL) points to them, len is unchanged. */
cip_status cip_buf_reserve(cip_buf *b, size_t n, uint8_t **at, cip_err *err);
cip_status cip_buf_add(cip_buf *b, const void *src, size_t n, cip_err *err);
/* A C string, without its NUL. */
static inline cip_status cip_buf_puts(cip_buf *b, const char *s, cip_err *err)
{
    return cip_buf_add(b, s, strlen(s), err);
}
/* n times the byte. */
cip_status cip_buf_fill(cip_buf *b, uint8_t byte, size_t n, cip_err *err);
cip_status cip_buf_addf(cip_buf *b, cip_err *err, const char *fmt, ...) CIP_PRINTF(3, 4);
/* A NUL after the content, not counted in len, so that ptr is a C string. */
cip_status cip_buf_nul(cip_buf *b, cip_err *err);
void cip_buf_clear(cip_buf *b);

#endif
