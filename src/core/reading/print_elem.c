/* SPDX-License-Identifier: BSD-3-Clause
 * Text: the last axis on a line, an empty line between planes. Csv: the same with commas and RFC
 * 4180 quotes, a header line and a column for each field of records. Json: nested arrays, records
 * as objects, complex numbers as [re, im], NaN and infinities as strings, text that is no Unicode
 * as its bytes. Json lines: the items of the first axis without their brackets, each on a line. */
#include "core/reading/print_elem.h"

#include <stdio.h>
#include <string.h>

#include "array/quote.h"
#include "base/endian.h"
#include "tree/utf8.h"
#include "tree/yaml.h"

void cip_printer_start(cip_printer *pr, const cip_read_plan *p, cip_print_style style)
{
    pr->style = style;
    pr->ndim = p->from.ndim;
    pr->nested = pr->ndim - (style == CIP_PRINT_JSON_LINES && pr->ndim != 0);
    pr->records = p->to->kind == CIP_RECORD;
}

/* A text element being taken apart. */
typedef struct text_elem {
    const uint8_t *p;
    size_t n;       /* bytes left, without the NULs at the end */
    bool wide, big; /* ucs4 */
} text_elem;

static text_elem text_of(const cip_dtype *d, const uint8_t *e)
{
    text_elem t = { e, (size_t)d->itemsize, d->kind == CIP_UCS4, d->big };
    size_t step = t.wide ? 4 : 1;
    while (t.n >= step && (t.wide ? cip_load_u32(e + t.n - 4, t.big) == 0 : e[t.n - 1] == 0))
        t.n -= step;
    return t;
}

/* The next code point; false for what is none: a byte that is no UTF-8, a surrogate, a number
 * beyond Unicode, which are then *c. */
static bool next_code(text_elem *t, uint32_t *c)
{
    unsigned step = t->wide ? 4 : cip_utf8_get(t->p, t->n, c);
    bool fine = step != 0;
    if (t->wide) {
        *c = cip_load_u32(t->p, t->big);
        fine = *c <= 0x10ffff && !(*c >= 0xd800 && *c <= 0xdfff);
    } else if (!fine) {
        *c = *t->p;
        step = 1;
    }
    t->p += step;
    t->n -= step;
    return fine;
}

static bool is_text(const cip_dtype *d)
{
    return d->kind == CIP_ASCII || d->kind == CIP_UCS4;
}

/* --- json ----------------------------------------------------------------------------------- */

static cip_status json_number(const cip_dtype *d, const uint8_t *e, cip_buf *out, cip_err *err)
{
    size_t was = out->len;
    CIP_TRY(cip_elem_format(d, e, out, err));
    const char *text = (const char *)out->ptr + was;
    size_t len = out->len - was;
    const char *word = NULL;
    if (len == 3 && memcmp(text, "nan", 3) == 0)
        word = "\"NaN\"";
    else if (len == 3 && memcmp(text, "inf", 3) == 0)
        word = "\"Infinity\"";
    else if (len == 4 && memcmp(text, "-inf", 4) == 0)
        word = "\"-Infinity\"";
    if (word == NULL)
        return CIP_OK;
    out->len = was;
    return cip_buf_puts(out, word, err);
}

static cip_status json_elem(const cip_dtype *d, const uint8_t *e, cip_buf *out, cip_err *err);

/* Text that has no code points: {"bytes": "..."}, two digits for each byte as it is stored. */
static cip_status json_bytes(text_elem t, cip_buf *out, cip_err *err)
{
    char digits[3];
    CIP_TRY(cip_buf_puts(out, "{\"bytes\": \"", err));
    for (size_t i = 0; i < t.n; i++) {
        size_t at = t.wide && t.big ? i / 4 * 4 + 3 - i % 4 : i; /* little-endian, as `raw` is */
        snprintf(digits, sizeof digits, "%02x", (unsigned)t.p[at]);
        CIP_TRY(cip_buf_puts(out, digits, err));
    }
    return cip_buf_puts(out, "\"}", err);
}

/* A text, or of any other element the text that people see, as a string. */
static cip_status json_text(const cip_dtype *d, const uint8_t *e, cip_buf *out, cip_err *err)
{
    cip_buf found = { .mem = out->mem };
    cip_status st = CIP_OK;
    bool fine = true;
    uint32_t c;
    if (is_text(d)) {
        for (text_elem t = text_of(d, e); fine && t.n != 0 && st == CIP_OK;) {
            fine = next_code(&t, &c);
            if (fine)
                st = cip_utf8_add(&found, c, err);
        }
    } else {
        st = cip_elem_format(d, e, &found, err);
    }
    if (st == CIP_OK && !fine)
        st = json_bytes(text_of(d, e), out, err);
    else if (st == CIP_OK)
        st = cip_json_string(out, (const char *)found.ptr, found.len, err);
    cip_buf_clear(&found);
    return st;
}

/* The items of a field's sub-array, flat or nested: axis d of ndim. */
static cip_status json_axis(const cip_field *f, int32_t d, const uint8_t **e, cip_buf *out,
                            cip_err *err)
{
    if (d == f->ndim) {
        CIP_TRY(json_elem(f->dtype, *e, out, err));
        *e += f->dtype->itemsize;
        return CIP_OK;
    }
    CIP_TRY(cip_buf_puts(out, "[", err));
    for (int64_t i = 0; i < f->shape[d]; i++) {
        CIP_TRY(cip_buf_puts(out, i == 0 ? "" : ", ", err));
        CIP_TRY(json_axis(f, d + 1, e, out, err));
    }
    return cip_buf_puts(out, "]", err);
}

static cip_status json_record(const cip_dtype *d, const uint8_t *e, cip_buf *out, cip_err *err)
{
    CIP_TRY(cip_buf_puts(out, "{", err));
    for (size_t i = 0; i < d->nfield; i++) {
        const cip_field *f = &d->field[i];
        const uint8_t *at = e + f->offset;
        CIP_TRY(cip_buf_puts(out, i == 0 ? "" : ", ", err));
        CIP_TRY(cip_json_string(out, f->name, strlen(f->name), err));
        CIP_TRY(cip_buf_puts(out, ": ", err));
        CIP_TRY(json_axis(f, 0, &at, out, err));
    }
    return cip_buf_puts(out, "}", err);
}

static cip_status json_elem(const cip_dtype *d, const uint8_t *e, cip_buf *out, cip_err *err)
{
    const cip_dtype *half;
    switch (d->kind) {
    case CIP_BOOL:
        return cip_buf_puts(out, *e != 0 ? "true" : "false", err);
    case CIP_C64:
    case CIP_C128:
        half = cip_dtype_fixed(d->kind == CIP_C64 ? CIP_F32 : CIP_F64, d->big);
        CIP_TRY(cip_buf_puts(out, "[", err));
        CIP_TRY(json_number(half, e, out, err));
        CIP_TRY(cip_buf_puts(out, ", ", err));
        CIP_TRY(json_number(half, e + half->itemsize, out, err));
        return cip_buf_puts(out, "]", err);
    case CIP_RECORD:
        return json_record(d, e, out, err);
    case CIP_ASCII:
    case CIP_UCS4:
    case CIP_OPAQUE:
    case CIP_DATETIME64:
    case CIP_TIMEDELTA64:
        return json_text(d, e, out, err);
    default:
        return json_number(d, e, out, err);
    }
}

/* --- csv ------------------------------------------------------------------------------------ */

/* `plain`: quotes only where the text itself needs them. */
static cip_status csv_quoted(const uint8_t *text, size_t len, bool plain, cip_buf *out,
                             cip_err *err)
{
    for (size_t i = 0; i < len; i++)
        plain = plain && strchr(",\"\r\n", text[i]) == NULL;
    if (plain && len != 0)
        return cip_buf_add(out, text, len, err);
    CIP_TRY(cip_buf_puts(out, "\"", err));
    for (size_t i = 0; i < len; i++)
        CIP_TRY(cip_buf_add(out, text[i] == '"' ? "\"\"" : (const char *)&text[i],
                            text[i] == '"' ? 2 : 1, err));
    return cip_buf_puts(out, "\"", err);
}

/* What is not to be shown as it is becomes \\xNN (a byte, or a control below 0x80), \\uNNNN or
 * \\UNNNNNNNN (a code point or what stands in its place); a backslash is doubled where such an
 * escape, another backslash or one of x, u, U follows. So different texts never look the same. */
static cip_status csv_escaped(text_elem t, cip_buf *out, cip_err *err)
{
    char escape[12];
    bool slash = false; /* a backslash waits for what follows */
    while (t.n != 0) {
        uint32_t c;
        bool fine = next_code(&t, &c);
        bool shown = fine && (!cip_utf8_unsafe(c) || c == '\t' || c == '\n' || c == '\r');
        bool marked = !shown || c == '\\' || c == 'x' || c == 'u' || c == 'U';
        if (slash)
            CIP_TRY(cip_buf_puts(out, marked ? "\\\\" : "\\", err));
        slash = shown && c == '\\';
        if (slash)
            continue;
        if (shown) {
            CIP_TRY(cip_utf8_add(out, c, err));
            continue;
        }
        bool byte = fine ? c < 0x80 : !t.wide;
        snprintf(escape, sizeof escape,
                 byte          ? "\\x%02x"
                 : c <= 0xffff ? "\\u%04x"
                               : "\\U%08x",
                 (unsigned)c);
        CIP_TRY(cip_buf_puts(out, escape, err));
    }
    return slash ? cip_buf_puts(out, "\\", err) : CIP_OK;
}

static cip_status csv_elem(const cip_dtype *d, const uint8_t *e, cip_buf *out, cip_err *err)
{
    cip_buf found = { .mem = out->mem };
    cip_status st =
        is_text(d) ? csv_escaped(text_of(d, e), &found, err) : cip_elem_format(d, e, &found, err);
    if (st == CIP_OK)
        st = csv_quoted(found.ptr, found.len, true, out, err);
    cip_buf_clear(&found);
    return st;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* Readers drop blanks around a name, and "# " in front, where it is not in quotes. */
static cip_status csv_name(const char *name, cip_buf *out, cip_err *err)
{
    cip_buf found = { .mem = out->mem };
    cip_status st =
        csv_escaped((text_elem){ (const uint8_t *)name, strlen(name), false, false }, &found, err);
    if (st == CIP_OK) {
        const uint8_t *text = found.ptr;
        const size_t n = found.len;
        const bool plain =
            n == 0 || (!is_blank(text[0]) && !is_blank(text[n - 1]) && text[0] != '#');
        st = csv_quoted(text, n, plain, out, err);
    }
    cip_buf_clear(&found);
    return st;
}

/* A record as columns; a sub-array or nested record is one cell, as json. */
static cip_status csv_columns(const cip_dtype *d, const uint8_t *e, cip_buf *out, cip_err *err)
{
    for (size_t i = 0; i < d->nfield; i++) {
        const cip_field *f = &d->field[i];
        const uint8_t *at = e + f->offset;
        CIP_TRY(cip_buf_puts(out, i == 0 ? "" : ",", err));
        if (f->ndim == 0 && f->dtype->kind != CIP_RECORD) {
            CIP_TRY(csv_elem(f->dtype, at, out, err));
            continue;
        }
        cip_buf cell = { .mem = out->mem };
        cip_status st = json_axis(f, 0, &at, &cell, err);
        if (st == CIP_OK)
            st = csv_quoted(cell.ptr, cell.len, true, out, err);
        cip_buf_clear(&cell);
        CIP_TRY(st);
    }
    return CIP_OK;
}

/* --- rows ----------------------------------------------------------------------------------- */

/* How many axes begin anew at element i: 0 within a row, ndim at the very first. */
static int32_t axes_begun(const cip_read_plan *p, uint64_t i)
{
    int32_t n = 0;
    while (n < p->from.ndim && i % (uint64_t)p->from.shape[p->from.ndim - 1 - n] == 0)
        i /= (uint64_t)p->from.shape[p->from.ndim - 1 - n++];
    return n;
}

static cip_status brackets(char c, int32_t n, cip_buf *out, cip_err *err)
{
    for (int32_t d = 0; d < n; d++)
        CIP_TRY(cip_buf_add(out, &c, 1, err));
    return CIP_OK;
}

static bool is_json(const cip_printer *pr)
{
    return pr->style == CIP_PRINT_JSON || pr->style == CIP_PRINT_JSON_LINES;
}

/* Of json lines the axis without brackets only begins a line. */
static cip_status json_separator(const cip_printer *pr, uint64_t i, int32_t begun, cip_buf *out,
                                 cip_err *err)
{
    const bool lines = pr->style == CIP_PRINT_JSON_LINES;
    if (i != 0) {
        CIP_TRY(brackets(']', begun, out, err));
        CIP_TRY(cip_buf_puts(out,
                             !lines                ? begun == 0 ? ", " : ",\n"
                             : begun == pr->nested ? "\n"
                                                   : ", ",
                             err));
    }
    return brackets('[', i == 0 ? pr->nested : begun, out, err);
}

static cip_status row_separator(const cip_printer *pr, uint64_t i, int32_t begun, cip_buf *out,
                                cip_err *err)
{
    bool own_line = pr->records || (pr->style == CIP_PRINT_CSV && pr->ndim == 1);
    if (i == 0)
        return CIP_OK;
    if (begun == 0 && !own_line)
        return cip_buf_puts(out, pr->style == CIP_PRINT_CSV ? "," : " ", err);
    return cip_buf_puts(out, begun > 1 && pr->style == CIP_PRINT_TEXT ? "\n\n" : "\n", err);
}

/* A row of empty cells. The only cell of a line gets quotes, since readers pass over empty lines.
 */
static cip_status empty_cells(size_t ncell, bool alone, cip_buf *out, cip_err *err)
{
    if (alone && ncell == 1)
        return cip_buf_puts(out, "\"\"", err);
    for (size_t i = 1; i < ncell; i++)
        CIP_TRY(cip_buf_puts(out, ",", err));
    return CIP_OK;
}

cip_status cip_print_elem(const cip_printer *pr, const cip_read_plan *p, uint64_t i,
                          const uint8_t *elem, cip_buf *out, cip_err *err)
{
    int32_t begun = axes_begun(p, i);
    if (is_json(pr)) {
        CIP_TRY(json_separator(pr, i, begun, out, err));
        return elem == NULL ? cip_buf_puts(out, "null", err) : json_elem(p->to, elem, out, err);
    }
    CIP_TRY(row_separator(pr, i, begun, out, err));
    if (elem == NULL && pr->style == CIP_PRINT_TEXT)
        return cip_buf_puts(out, "--", err);
    const bool alone = pr->records || pr->ndim <= 1 || p->from.shape[pr->ndim - 1] == 1;
    if (elem == NULL) /* as many empty cells as there are columns; alone: on a line of its own */
        return empty_cells(pr->records ? p->to->nfield : 1, alone, out, err);
    if (pr->records && pr->style == CIP_PRINT_CSV)
        return csv_columns(p->to, elem, out, err);
    if (pr->style == CIP_PRINT_CSV)
        return csv_elem(p->to, elem, out, err);
    return cip_elem_format(p->to, elem, out, err);
}

cip_status cip_print_head(const cip_printer *pr, const cip_read_plan *p, cip_buf *out, cip_err *err)
{
    if (!pr->records || pr->style != CIP_PRINT_CSV)
        return CIP_OK;
    for (size_t i = 0; i < p->to->nfield; i++) {
        const char *name = p->to->field[i].name;
        CIP_TRY(cip_buf_puts(out, i == 0 ? "" : ",", err));
        CIP_TRY(csv_name(name, out, err));
    }
    return cip_buf_puts(out, "\n", err);
}

/* An array without elements: its axes down to the first of length 0, each item of which is "[]"; of
 * json lines without rows nothing. */
static cip_status json_empty(const cip_printer *of, const cip_read_plan *p, cip_buf *out,
                             cip_err *err)
{
    cip_read_plan outer = { .from = p->from };
    cip_printer pr;
    uint64_t n;
    outer.from.ndim = 0;
    while (p->from.shape[outer.from.ndim] != 0)
        outer.from.ndim++;
    pr = (cip_printer){ .style = of->style, .ndim = outer.from.ndim, .nested = outer.from.ndim };
    if (of->style == CIP_PRINT_JSON_LINES && pr.nested-- == 0)
        return CIP_OK;
    if (!cip_shape_nelem(outer.from.ndim, outer.from.shape, &n) || n > 1 << 20)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "too many empty rows to print");
    for (uint64_t i = 0; i < n; i++) {
        CIP_TRY(json_separator(&pr, i, axes_begun(&outer, i), out, err));
        CIP_TRY(cip_buf_puts(out, "[]", err));
    }
    CIP_TRY(brackets(']', pr.nested, out, err));
    return cip_buf_puts(out, "\n", err);
}

cip_status cip_print_tail(const cip_printer *pr, const cip_read_plan *p, cip_buf *out, cip_err *err)
{
    if (p->nelem == 0)
        return is_json(pr) ? json_empty(pr, p, out, err) : CIP_OK;
    if (is_json(pr))
        CIP_TRY(brackets(']', pr->nested, out, err));
    return cip_buf_puts(out, "\n", err);
}
