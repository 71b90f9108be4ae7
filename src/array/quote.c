/* SPDX-License-Identifier: BSD-3-Clause
 * Quoting. Escaped are controls, the bidi and other invisible format characters, surrogates,
 * private use and what is no code point: whatever a reader could not see or could be misled by. */
#include "array/quote.h"

static const struct {
    uint32_t first, last;
} hidden[] = {
    { 0x0, 0x1f },        { 0x7f, 0x9f },       { 0xad, 0xad },       { 0x600, 0x605 },
    { 0x61c, 0x61c },     { 0x6dd, 0x6dd },     { 0x70f, 0x70f },     { 0x180e, 0x180e },
    { 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0xd800, 0xf8ff },
    { 0xfeff, 0xfeff },   { 0xfff9, 0xfffb },   { 0xfffe, 0xffff },   { 0x1bca0, 0x1bca3 },
    { 0x1d173, 0x1d17a }, { 0x1fffe, 0x1ffff }, { 0xe0000, 0xfffff }, { 0x100000, UINT32_MAX },
};

static bool is_hidden(uint32_t code)
{
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

cip_status cip_utf8_add(cip_buf *b, uint32_t code, cip_err *err)
{
    uint8_t u[4];
    if (code < 0x80) {
        u[0] = (uint8_t)code;
        return cip_buf_add(b, u, 1, err);
    }
    /* All but the first byte: six bits each, behind the mark 10. */
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    uint32_t rest = code;
    for (size_t i = n - 1; i > 0; i--) {
        u[i] = (uint8_t)(0x80 | (rest & 0x3f));
        rest >>= 6;
    }
    static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    u[0] = (uint8_t)(lead[n] | rest);
    return cip_buf_add(b, u, n, err);
}

cip_status cip_quote_code(cip_buf *b, uint32_t code, bool ascii, cip_err *err)
{
    switch (code) {
    case '\n':
        return cip_buf_add(b, "\\n", 2, err);
    case '\r':
        return cip_buf_add(b, "\\r", 2, err);
    case '\t':
        return cip_buf_add(b, "\\t", 2, err);
    case '\'':
    case '\\':
        return cip_buf_addf(b, err, "\\%c", (int)code);
    default:
        break;
    }
    if (!is_hidden(code) && (code < 0x80 || !ascii))
        return cip_utf8_add(b, code, err);
    const char *form = code < 0x100     ? "\\x%02" PRIx32
                       : code < 0x10000 ? "\\u%04" PRIx32
                                        : "\\U%08" PRIx32;
    return cip_buf_addf(b, err, form, code);
}

/* The code point that starts at p (n > 0 bytes are left) and its length; 0 when it is not UTF-8. */
static size_t utf8_code(const uint8_t *p, size_t n, uint32_t *code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (p[0] < 0x80) {
        *code = p[0];
        return 1;
    }
    size_t len = p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf8 ? 4 : 0;
    if (len == 0 || len > n)
        return 0;
    uint32_t v = p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (p[i] & 0x3fu);
    }
    if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
        return 0;
    *code = v;
    return len;
}

cip_status cip_quote_utf8(cip_buf *b, const char *text, size_t len, bool ascii, cip_err *err)
{
    const uint8_t *p = (const uint8_t *)text;
    CIP_TRY(cip_buf_add(b, "'", 1, err));
    for (size_t i = 0; i < len;) {
        uint32_t code;
        size_t n = utf8_code(p + i, len - i, &code);
        if (n == 0) {
            CIP_TRY(cip_buf_addf(b, err, "\\x%02x", p[i]));
            n = 1;
        } else {
            CIP_TRY(cip_quote_code(b, code, ascii, err));
        }
        i += n;
    }
    return cip_buf_add(b, "'", 1, err);
}
