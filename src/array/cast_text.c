/* SPDX-License-Identifier: BSD-3-Clause
 * Texts to texts: code point by code point, cut or padded with NUL to the length of the target. */
#include "array/cast_kernels.h"

#include "base/endian.h"

/* What stands for a character that the target does not have. */
enum { NO_ASCII = '?', NO_UNICODE = 0xfffd };

/* The characters of a text type. */
typedef struct text {
    bool wide, big;
    uint64_t len;
} text;

static text text_of(const cip_dtype *d)
{
    bool wide = d->kind == CIP_UCS4;
    return (text){ wide, d->big, d->itemsize / (wide ? 4 : 1) };
}

static uint32_t load(const text *t, const uint8_t *p, uint64_t i)
{
    return t->wide ? cip_load_u32(p + 4 * i, t->big) : p[i];
}

/* Whether all of it fits. */
static bool cast_one(const text *from, const uint8_t *src, const text *to, uint8_t *dst)
{
    bool fits = true;
    for (uint64_t i = 0; i < to->len; i++) {
        uint32_t code = i < from->len ? load(from, src, i) : 0;
        if (code > 0x7f && from->wide != to->wide) {
            fits = false;
            code = to->wide ? NO_UNICODE : NO_ASCII;
        }
        if (to->wide)
            cip_store_u32(dst + 4 * i, code, to->big);
        else
            dst[i] = (uint8_t)code;
    }
    for (uint64_t i = to->len; i < from->len; i++)
        fits = fits && load(from, src, i) == 0;
    return fits;
}

void cip_cast_texts(const cip_cast *c, const cip_run *r, uint64_t base, cip_cast_stats *stats)
{
    text from = text_of(c->from), to = text_of(c->to);
    const uint8_t *src = r->src;
    uint8_t *dst = r->dst;
    if (c->from->itemsize == 0 && c->to->itemsize == 0)
        return;
    for (size_t i = 0; i < r->n; i++) {
        if (!cast_one(&from, src, &to, dst))
            cip_cast_count(stats, 1, base + i);
        src += r->src_stride;
        dst += r->dst_stride;
    }
}
