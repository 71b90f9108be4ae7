/* SPDX-License-Identifier: BSD-3-Clause
 * A descr as Python's repr writes it: dtypes give it in ASCII with every name in single quotes;
 * Python shows what can be seen and takes double quotes around names with a single one in them. */
#include "array/quote.h"
#include "base/num.h"
#include "format/npy/npy.h"

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

static cip_status add_literal(cip_buf *out, const char *p, size_t n, cip_err *err)
{
    char quote = wants_double(p, n) ? '"' : '\'';
    CIP_TRY(cip_buf_add(out, &quote, 1, err));
    for (size_t i = 1, step; i + 1 < n; i += step) {
        const char *at = p + i;
        size_t ndigit = at[1] == 'x' ? 2 : at[1] == 'u' ? 4 : at[1] == 'U' ? 8 : 0;
        uint32_t code = 0;
        if (*at != '\\') {
            step = 1;
            CIP_TRY(cip_buf_add(out, at, 1, err));
            continue;
        }
        step = 2 + ndigit;
        for (size_t k = 2; k < step; k++)
            code = code << 4 | (uint32_t)cip_hex_digit(at[k]);
        if (ndigit != 0)
            CIP_TRY(cip_quote_code(out, code, false, err));
        else if (at[1] == '\'' && quote == '"')
            CIP_TRY(cip_buf_add(out, at + 1, 1, err));
        else
            CIP_TRY(cip_buf_add(out, at, 2, err));
    }
    return cip_buf_add(out, &quote, 1, err);
}

cip_status cip_npy_repr(cip_buf *out, const char *descr, cip_err *err)
{
    if (descr[0] != '[')
        return cip_buf_addf(out, err, "'%s'", descr);
    for (size_t i = 0, step; descr[i] != '\0'; i += step) {
        const char *at = descr + i;
        step = 1;
        if (*at != '\'') {
            CIP_TRY(cip_buf_add(out, at, 1, err));
            continue;
        }
        while (at[step] != '\'') /* to the quote at the end of the literal, and over it */
            step += at[step] == '\\' ? 2 : 1;
        step++;
        CIP_TRY(add_literal(out, at, step, err));
    }
    return CIP_OK;
}
