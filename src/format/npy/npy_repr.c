/* SPDX-License-Identifier: BSD-3-Clause
 * A descr as Python's repr writes it: dtypes give it in ASCII with every name in single quotes;
 * Python shows what can be seen and takes double quotes around names with a single one in them. */
#include <string.h>

#include "array/quote.h"
#include "format/npy/npy.h"

/* The length of the literal at p, which starts with a single quote, both quotes included. */
static size_t literal_len(const char *p)
{
    size_t n = 1;
    while (p[n] != '\'')
        n += p[n] == '\\' ? 2 : 1;
    return n + 1;
}

static bool wants_double(const char *p, size_t n)
{
    bool single = false;
    for (size_t i = 1; i + 1 < n; i++) {
        if (p[i] == '"')
            return false;
        single |= p[i] == '\\' && p[i + 1] == '\'';
        i += p[i] == '\\';
    }
    return single;
}

static uint32_t hex(const char *p, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 4 | (uint32_t)(strchr(digits, p[i]) - digits);
    return v;
}

/* One escape, at a backslash; *n is its length. */
static cip_status add_escape(cip_buf *out, const char *p, char quote, size_t *n, cip_err *err)
{
    size_t ndigit = p[1] == 'x' ? 2 : p[1] == 'u' ? 4 : p[1] == 'U' ? 8 : 0;
    *n = 2 + ndigit;
    if (ndigit != 0)
        return cip_quote_code(out, hex(p + 2, ndigit), false, err);
    if (p[1] == '\'' && quote == '"')
        return cip_buf_add(out, p + 1, 1, err);
    return cip_buf_add(out, p, 2, err);
}

static cip_status add_literal(cip_buf *out, const char *p, size_t n, cip_err *err)
{
    char quote = wants_double(p, n) ? '"' : '\'';
    CIP_TRY(cip_buf_add(out, &quote, 1, err));
    for (size_t i = 1, step = 1; i + 1 < n; i += step) {
        step = 1;
        if (p[i] == '\\')
            CIP_TRY(add_escape(out, p + i, quote, &step, err));
        else
            CIP_TRY(cip_buf_add(out, p + i, 1, err));
    }
    return cip_buf_add(out, &quote, 1, err);
}

cip_status cip_npy_repr(cip_buf *out, const char *descr, cip_err *err)
{
    if (descr[0] != '[')
        return cip_buf_addf(out, err, "'%s'", descr);
    for (size_t i = 0, step; descr[i] != '\0'; i += step) {
        bool text = descr[i] == '\'';
        step = text ? literal_len(descr + i) : 1;
        if (text)
            CIP_TRY(add_literal(out, descr + i, step, err));
        else
            CIP_TRY(cip_buf_add(out, descr + i, 1, err));
    }
    return CIP_OK;
}
