/* SPDX-License-Identifier: BSD-3-Clause
 * A sticky cursor over bytes: reads past the end give zeros and set `bad`, so a header is read
 * straight through and checked once. */
#ifndef CIP_BASE_CURSOR_H
#define CIP_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes borrowed from someone else. */
typedef struct cip_bytes {
    const uint8_t *ptr;
    size_t len;
} cip_bytes;

/* Writes n bytes of the pattern repeated for ever, from its byte `off` on. The pattern is not
 * empty.
 */
void cip_bytes_repeat(cip_bytes pattern, uint64_t off, uint8_t *dst, size_t n);

typedef struct cip_cursor {
    cip_bytes in;
    size_t pos; /* never beyond in.len */
    bool big;   /* byte order of the integers */
    bool bad;   /* something was read past the end */
} cip_cursor;

cip_cursor cip_cursor_le(cip_bytes in);
cip_cursor cip_cursor_be(cip_bytes in);

uint8_t cip_get_u8(cip_cursor *c);
uint16_t cip_get_u16(cip_cursor *c);
uint32_t cip_get_u32(cip_cursor *c);
uint64_t cip_get_u64(cip_cursor *c);

/* The next n bytes, borrowed; an empty run (and `bad`) when fewer are left. */
cip_bytes cip_get_bytes(cip_cursor *c, size_t n);
/* Copies n bytes to dst, or n zeros when fewer are left. */
void cip_get_copy(cip_cursor *c, void *dst, size_t n);

static inline size_t cip_cursor_left(const cip_cursor *c)
{
    return c->in.len - c->pos;
}

#endif
