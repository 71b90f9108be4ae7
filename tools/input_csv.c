/* SPDX-License-Identifier: BSD-3-Clause
 * Csv as an array (RFC 4180: commas, double quotes): numbers alone make a 1-d or 2-d array, a first
 * line with anything else names the columns of a table. A column is of booleans, integers, floats
 * or strings, whichever all its cells are; an empty cell among numbers is NaN. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "print.h"

typedef enum column_type { COL_BOOL, COL_INT, COL_FLOAT, COL_TEXT } column_type;

typedef struct cell {
    const char *text; /* NUL-terminated */
    size_t len;
} cell;

typedef struct column {
    column_type type;
    size_t width; /* of texts, in code points; at least 1 */
} column;

typedef struct csv {
    const char *path;
    loaded in;
    char *plain; /* cells without quotes, each with a NUL */
    cell *cells; /* nrow * ncol, the header's first */
    size_t ncell, cap, nrow, ncol;
    bool header;
    column *cols;
    strbuf npy;
} csv;

static void csv_free(csv *c)
{
    bytes_free(&c->in);
    free(c->plain);
    free(c->cells);
    free(c->cols);
    free(c->npy.ptr);
    free(c);
}

static int failed(const csv *c, size_t line, const char *what)
{
    fputs("cippus: ", stderr);
    print_escaped(stderr, c->path);
    if (line != 0)
        fprintf(stderr, ": line %zu", line);
    fprintf(stderr, ": %s\n", what);
    return EXIT_FAILED;
}

static bool add_cell(csv *c, const char *text, size_t len)
{
    if (c->ncell == c->cap) {
        size_t cap = c->cap == 0 ? 1024 : 2 * c->cap;
        cell *more = realloc(c->cells, cap * sizeof *more);
        if (more == NULL)
            return false;
        c->cells = more;
        c->cap = cap;
    }
    c->cells[c->ncell++] = (cell){ text, len };
    return true;
}

/* Copies one cell from *p to *to, without its quotes; *p is then at a comma, a line's end or the
 * end. False when a quote is not closed, or something follows it. */
static bool take_cell(const char **p, const char *end, char **to)
{
    const char *s = *p;
    bool quoted = s < end && *s == '"';
    for (s += quoted; s < end; s++) {
        if (quoted && *s == '"' && (s + 1 == end || s[1] != '"'))
            break;
        if (!quoted && (*s == ',' || *s == '\n' || *s == '\r'))
            break;
        s += quoted && *s == '"';
        *(*to)++ = *s;
    }
    if (quoted && s == end)
        return false;
    s += quoted;
    *(*to)++ = '\0';
    *p = s;
    return s == end || *s == ',' || *s == '\n' || *s == '\r';
}

/* One line's cells; a line without anything has none. */
static int take_line(csv *c, const char **p, const char *end, char **to, size_t line)
{
    const size_t first = c->ncell;
    while (*p < end && **p != '\n' && **p != '\r') {
        char *start = *to;
        if (!take_cell(p, end, to))
            return failed(c, line, "expected a comma or the line's end behind a quoted text");
        if (!add_cell(c, start, (size_t)(*to - start) - 1))
            return failed(c, 0, "out of memory");
        if (*p == end || **p != ',')
            break;
        (*p)++;
        if (*p == end || **p == '\n' || **p == '\r') { /* an empty last cell */
            *(*to)++ = '\0';
            if (!add_cell(c, *to - 1, 0))
                return failed(c, 0, "out of memory");
        }
    }
    if (*p < end)
        *p += **p == '\r' && *p + 1 < end && (*p)[1] == '\n' ? 2 : 1;
    const size_t n = c->ncell - first;
    if (n == 0)
        return EXIT_FINE;
    if (c->nrow++ == 0)
        c->ncol = n;
    return n == c->ncol ? EXIT_FINE
                        : failed(c, line, "expected as many cells as in the first line");
}

static int take_cells(csv *c)
{
    const char *p = c->in.ptr, *end = p + c->in.n;
    c->plain = malloc(c->in.n * 2 + 2);
    if (c->plain == NULL)
        return failed(c, 0, "out of memory");
    char *to = c->plain;
    if (c->in.n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    for (size_t line = 1; p < end; line++) {
        int rc = take_line(c, &p, end, &to, line);
        if (rc != EXIT_FINE)
            return rc;
    }
    return c->nrow != 0 ? EXIT_FINE : failed(c, 0, "expected lines of cells, found none");
}

static bool is_bool(const cell *x)
{
    static const char *const words[] = { "true", "True", "TRUE", "false", "False", "FALSE" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(x->text, words[i]) == 0)
            return true;
    return false;
}

static bool is_int(const cell *x, int64_t *v)
{
    char *end;
    const char *digits = x->text + (x->text[0] == '-' || x->text[0] == '+');
    errno = 0;
    *v = strtoll(x->text, &end, 10);
    return *digits >= '0' && *digits <= '9' && end == x->text + x->len && errno == 0;
}

static bool is_float(const cell *x, double *v)
{
    char *end;
    *v = __builtin_nan("");
    if (x->len == 0)
        return true;
    if (strchr("+-.0123456789nNiI", x->text[0]) == NULL || strpbrk(x->text, "xX(") != NULL)
        return false;
    *v = strtod(x->text, &end);
    return end == x->text + x->len;
}

/* Code points, or SIZE_MAX when it is no UTF-8. */
static size_t decode(const cell *x, uint32_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < x->len; n++) {
        uint8_t b = (uint8_t)x->text[i++];
        int more = b < 0x80 ? 0 : b < 0xc2 ? 9 : b < 0xe0 ? 1 : b < 0xf0 ? 2 : b < 0xf5 ? 3 : 9;
        uint32_t v = more == 0 ? b : b & (0x3fu >> more);
        if (more > 3)
            return SIZE_MAX;
        for (; more > 0; more--) {
            if (i == x->len || ((uint8_t)x->text[i] & 0xc0) != 0x80)
                return SIZE_MAX;
            v = v << 6 | ((uint8_t)x->text[i++] & 0x3f);
        }
        if (out != NULL)
            out[n] = v;
    }
    return n;
}

static column_type type_of(const cell *x)
{
    int64_t i;
    double d;
    if (is_bool(x))
        return COL_BOOL;
    return is_int(x, &i) ? COL_INT : is_float(x, &d) ? COL_FLOAT : COL_TEXT;
}

/* The type that holds both. */
static column_type join(column_type x, column_type y)
{
    if (x == y)
        return x;
    return x == COL_BOOL || y == COL_BOOL ? COL_TEXT : x > y ? x : y;
}

static int find_types(csv *c)
{
    for (size_t k = 0; k < c->ncol; k++) {
        column_type t = type_of(&c->cells[k]);
        c->header |= t == COL_TEXT || t == COL_BOOL;
    }
    for (size_t k = 0; k < c->ncol; k++) {
        column *col = &c->cols[k];
        col->width = 1;
        for (size_t r = c->header; r < c->nrow; r++) {
            const cell *x = &c->cells[r * c->ncol + k];
            size_t n = decode(x, NULL);
            if (n == SIZE_MAX)
                return failed(c, r + 1, "expected UTF-8");
            col->width = n > col->width ? n : col->width;
            col->type = r == c->header ? type_of(x) : join(col->type, type_of(x));
        }
    }
    return EXIT_FINE;
}

static void put_code(strbuf *out, const column *col)
{
    if (col->type == COL_TEXT)
        text_addf(out, "'<U%zu'", col->width);
    else
        text_addf(out, "%s",
                  col->type == COL_BOOL  ? "'|b1'"
                  : col->type == COL_INT ? "'<i8'"
                                         : "'<f8'");
}

static void put_name(strbuf *out, const cell *x)
{
    for (size_t i = 0; i < x->len; i++) {
        if (x->text[i] == '\'' || x->text[i] == '\\')
            text_add(out, "\\", 1);
        if (x->text[i] == '\n')
            text_add(out, "\\n", 2);
        else
            text_add(out, x->text + i, 1);
    }
}

static void put_header(csv *c)
{
    strbuf descr = { 0 };
    int64_t shape[2] = { (int64_t)(c->nrow - c->header), (int64_t)c->ncol };
    if (!c->header) {
        put_code(&descr, &c->cols[0]);
        npy_header(&c->npy, descr.failed ? "" : descr.ptr, c->ncol == 1 ? 1 : 2, shape);
        free(descr.ptr);
        return;
    }
    text_addf(&descr, "[");
    for (size_t k = 0; k < c->ncol; k++) {
        text_addf(&descr, "('");
        put_name(&descr, &c->cells[k]);
        text_addf(&descr, "', ");
        put_code(&descr, &c->cols[k]);
        text_addf(&descr, "), ");
    }
    text_addf(&descr, "]");
    npy_header(&c->npy, descr.failed ? "" : descr.ptr, 1, shape);
    free(descr.ptr);
}

static void put_le(strbuf *out, uint64_t v, size_t n)
{
    uint8_t b[8];
    for (size_t i = 0; i < n; i++)
        b[i] = (uint8_t)(v >> (8 * i));
    text_add(out, b, n);
}

static void put_text(strbuf *out, const cell *x, size_t width)
{
    uint32_t *points = calloc(width + 1, sizeof *points);
    if (points == NULL) {
        out->failed = true;
        return;
    }
    (void)decode(x, points);
    for (size_t i = 0; i < width; i++)
        put_le(out, points[i], 4);
    free(points);
}

static void put_cell(strbuf *out, const cell *x, const column *col)
{
    int64_t i = 0;
    double d;
    uint64_t bits;
    switch (col->type) {
    case COL_BOOL:
        put_le(out, x->text[0] == 't' || x->text[0] == 'T', 1);
        break;
    case COL_INT:
        (void)is_int(x, &i);
        put_le(out, (uint64_t)i, 8);
        break;
    case COL_FLOAT:
        (void)is_float(x, &d);
        memcpy(&bits, &d, sizeof bits);
        put_le(out, bits, 8);
        break;
    default:
        put_text(out, x, col->width);
    }
}

static int make_npy(csv *c)
{
    int rc = take_cells(c);
    if (rc != EXIT_FINE)
        return rc;
    c->cols = calloc(c->ncol, sizeof *c->cols);
    if (c->cols == NULL)
        return failed(c, 0, "out of memory");
    rc = find_types(c);
    if (rc != EXIT_FINE)
        return rc;
    for (size_t k = 1; !c->header && k < c->ncol; k++)
        c->cols[0].type = join(c->cols[0].type, c->cols[k].type);
    put_header(c);
    for (size_t i = c->header * c->ncol; i < c->ncell && !c->npy.failed; i++)
        put_cell(&c->npy, &c->cells[i], &c->cols[c->header ? i % c->ncol : 0]);
    return c->npy.failed ? failed(c, 0, "out of memory") : EXIT_FINE;
}

static cip_status csv_ranges(void *user, const cip_range *range, size_t nrange, cip_err *err)
{
    const csv *c = user;
    (void)err;
    for (size_t i = 0; i < nrange; i++)
        memcpy(range[i].dst, c->npy.ptr + range[i].offset, range[i].nbytes);
    return CIP_OK;
}

static cip_status csv_size(void *user, uint64_t *nbytes, cip_err *err)
{
    (void)err;
    *nbytes = ((const csv *)user)->npy.len;
    return CIP_OK;
}

static void csv_close(void *user)
{
    csv_free(user);
}

cip_file *csv_open(const char *path, const opts *o, int *rc)
{
    static const cip_io_methods methods = { CIP_IO_METHODS_INIT, .read_ranges = csv_ranges,
                                            .size = csv_size, .close = csv_close };
    cip_limits limits;
    cip_open_options open = open_options(o, &limits);
    cip_err err = CIP_ERR_INIT;
    cip_file *f = NULL;
    csv *c = calloc(1, sizeof *c);
    *rc = EXIT_FAILED;
    if (c == NULL)
        return NULL;
    c->path = path;
    if (o->shape != NULL) {
        fputs("cippus: --shape does not go with csv, which has its own\n", stderr);
        *rc = EXIT_USAGE;
    } else {
        *rc = bytes_load(path, o, &c->in);
    }
    if (*rc == EXIT_FINE)
        *rc = make_npy(c);
    if (*rc != EXIT_FINE) {
        csv_free(c);
        return NULL;
    }
    open.format = "npy";
    if (cip_open_io(&methods, c, &open, &f, &err) != CIP_OK)
        *rc = complain(path, &err);
    return f;
}
