/* SPDX-License-Identifier: BSD-3-Clause
 * The header as numpy.save (2.x) writes it. One that is written again keeps its length where the
 * text fits, so that the data stay. */
#include <string.h>

#include "base/endian.h"
#include "format/npy/npy.h"
#include "tree/utf8.h"

enum {
    ALIGN = 64,
    GROWTH_DIGITS = 21 /* numpy leaves room so that the first length can be rewritten in place */
};

static cip_status add_blanks(cip_buf *b, size_t n, cip_err *err)
{
    uint8_t *at;
    CIP_TRY(cip_buf_reserve(b, n, &at, err));
    memset(at, ' ', n);
    b->len += n;
    return CIP_OK;
}

/* UTF-8 in Latin-1, in place. False, with nothing done, when it has other characters. */
static bool to_latin1(cip_buf *b)
{
    uint32_t cp;
    size_t n = 0;
    for (size_t i = 0; i < b->len;) {
        unsigned len = cip_utf8_get(b->ptr + i, b->len - i, &cp);
        if (len == 0 || cp > 0xff)
            return false;
        i += len;
    }
    for (size_t i = 0; i < b->len; n++) {
        i += cip_utf8_get(b->ptr + i, b->len - i, &cp);
        b->ptr[n] = (uint8_t)cp;
    }
    b->len = n;
    return true;
}

/* The text's blanks and line feed, behind the magic, a version, and the length. */
static cip_status finish(cip_buf *text, uint8_t major, size_t pad, cip_buf *out, cip_err *err)
{
    uint8_t pre[CIP_NPY_PREAMBLE_MAX] = "\x93NUMPY";
    const size_t n = text->len + pad + 1;
    pre[6] = major;
    if (major == 1)
        cip_store_u16(pre + 8, (uint16_t)n, false);
    else
        cip_store_u32(pre + 8, (uint32_t)n, false);
    CIP_TRY(add_blanks(text, pad, err));
    CIP_TRY(cip_buf_add(text, "\n", 1, err));
    CIP_TRY(cip_buf_add(out, pre, major == 1 ? 10 : 12, err));
    return cip_buf_add(out, text->ptr, text->len, err);
}

/* In the room that there is, or as numpy has it: blanks up to a multiple of 64 bytes. */
static cip_status lay_out(const cip_npy_preamble *room, size_t growth, cip_buf *text, cip_buf *out,
                          cip_err *err)
{
    const bool there = room->text_len != 0;
    bool latin1 = !(there && room->major == 3) && to_latin1(text);
    if (there && text->len < room->text_len)
        return finish(text, room->major, room->text_len - text->len - 1, out, err);
    latin1 = latin1 || to_latin1(text);
    CIP_TRY(add_blanks(text, growth, err));
    const size_t n = text->len + 1, most = there ? CIP_NPY_HEADER_MAX : UINT32_MAX;
    const uint8_t major = !latin1 ? 3 : n + ALIGN - (10 + n) % ALIGN > UINT16_MAX ? 2 : 1;
    const size_t pad = ALIGN - ((major == 1 ? 10 : 12) + n) % ALIGN;
    if (n + pad > most)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a header of at most %zu bytes, found %zu", most, n + pad);
    return finish(text, major, pad, out, err);
}

cip_status cip_npy_header_write(cip_env *env, const cip_npy_header *h, cip_buf *out, cip_err *err)
{
    cip_status st;
    size_t growth = 0;
    cip_buf text = { .mem = &env->mem };
    CIP_GO(cip_buf_addf(&text, err, "{'descr': "));
    CIP_GO(cip_buf_add(&text, h->literal.ptr, h->literal.len, err));
    CIP_GO(cip_buf_addf(&text, err,
                        ", 'fortran_order': %s, 'shape': ", h->f_order ? "True" : "False"));
    /* repr() of the tuple, and its blanks for growing */
    CIP_GO(cip_buf_addf(&text, err, "("));
    for (int32_t i = 0; i < h->ndim; i++) {
        const size_t before = text.len;
        CIP_GO(cip_buf_addf(&text, err, "%" PRId64, h->shape[i]));
        if (i == 0)
            growth = GROWTH_DIGITS - (text.len - before);
        CIP_GO(cip_buf_addf(&text, err, "%s", i + 1 < h->ndim ? ", " : i == 0 ? "," : ""));
    }
    CIP_GO(cip_buf_addf(&text, err, "), }"));
    st = lay_out(&h->pre, growth, &text, out, err);
done:
    cip_buf_clear(&text);
    return st;
}
