/* SPDX-License-Identifier: BSD-3-Clause
 * Csv as an array (RFC 4180, parsed by libcsv): a first line without a number names the columns of
 * a table, as does one that begins with "# " (numpy.savetxt); otherwise all cells are one 1-d or
 * 2-d array. A column is of booleans, integers, floats, complex numbers or texts, whichever holds
 * all its cells unchanged; an empty cell among numbers is NaN. Escapes in texts are what they look
 * like: a file of another writer may mean C:\x41. --unescape undoes those of our own.
 *
 * The file is walked twice: first for the types, widths and number of rows, then for the values,
 * which go to a temporary file behind an npy header. So memory holds one cell and one row of column
 * descriptions, however long the file is. */
#include <csv.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "csv_cell.h"
#include "input.h"
#include "print.h"

enum {
    PIECE = 1 << 16,
    CSV_FLAGS = CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL | CSV_APPEND_NULL
};

typedef struct column {
    unsigned kinds; /* of all its cells */
    column_type type;
    uint64_t width; /* of texts, in code points; at least 1 */
    uint64_t odd; /* the first line with an integer that not every type of numbers holds; 0: none */
    uint64_t zeros; /* the first line with an integer that has leading zeros; 0: none */
} column;

typedef struct csv {
    const char *path;
    const opts *o;
    int fd;
    uint64_t nbytes;
    char sep;
    bool blanks; /* runs of blanks and tabs separate cells */
    bool hash;   /* the first line begins with "# ", which is no part of its names */
    int rc;
    void (*take)(struct csv *c, const char *text, size_t n);
    /* Where the walk is: the line, the line breaks in cells of this row, rows and cells before. */
    uint64_t line, inside, nrow, empty_line;
    size_t col, extra; /* cells of this row, and those that are too many */
    int last_end;
    bool in_quotes, in_line, gap; /* of --sep blanks: what the byte before left open */
    bool some; /* anything but lines of blanks, which nobody can tell from missing numbers */
    /* What the first walk found. */
    size_t ncol, cap;
    column *cols; /* of an array without names the first holds for all */
    strbuf first; /* the cells of the first row, a NUL behind each */
    bool header;
    uint64_t rows; /* without the header */
    /* What the second one makes. */
    virtual_npy *npy;
    uint8_t *out; /* PIECE bytes */
    size_t nout;
} csv;

static void failed(csv *c, uint64_t line, const char *what)
{
    fputs("cippus: ", stderr);
    print_escaped(stderr, c->path);
    if (line != 0)
        fprintf(stderr, ": line %" PRIu64, line);
    fprintf(stderr, ": %s\n", what);
    c->rc = EXIT_FAILED;
}

static void uneven(csv *c)
{
    char why[CSV_WHY];
    snprintf(why, sizeof why, "expected %zu cells as in the first line, found %zu", c->ncol,
             c->col + c->extra);
    failed(c, c->line, why);
}

/* --- walking ---------------------------------------------------------------------------------- */

static void on_cell(void *cell, size_t n, void *user)
{
    csv *c = user;
    const char *text = cell != NULL ? cell : "";
    if (c->rc != EXIT_FINE)
        return;
    if (c->ncol != 0 && c->col == c->ncol) {
        c->extra++; /* on_end says how many */
        return;
    }
    if (n > 0 && memchr(text, '\0', n) != NULL) {
        failed(c, c->line, "expected text, found a NUL byte");
        return;
    }
    c->some = c->some || c->col != 0 || n == 0 || strspn(text, " \t") != n;
    c->take(c, text, n);
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(text + n - p))) != NULL; p++)
        c->inside++;
    c->col++;
    c->last_end = 0;
}

static void first_row_done(csv *c);

/* A row ended, or a line without any cell. In a file of one column such a line could be an empty
 * cell or nothing, so that rows behind it are in doubt. */
static void on_end(int end, void *user)
{
    csv *c = user;
    if (c->rc != EXIT_FINE)
        return;
    const bool crlf = end == '\n' && c->last_end == '\r';
    c->last_end = end;
    if (c->col == 0) {
        if (!crlf && c->empty_line == 0)
            c->empty_line = c->line;
        c->line += !crlf;
        return;
    }
    if (c->ncol == 0)
        first_row_done(c);
    else if (c->col + c->extra != c->ncol)
        uneven(c);
    if (c->rc == EXIT_FINE && c->ncol == 1 && c->empty_line != 0)
        failed(c, c->empty_line, "expected a cell, found an empty line (an empty cell is \"\")");
    c->line += 1 + c->inside;
    c->inside = 0;
    c->col = 0;
    c->nrow++;
}

/* libcsv would drop blanks around cells; numbers are trimmed as they are read, texts keep theirs.
 */
static int no_blank(unsigned char byte)
{
    (void)byte;
    return 0;
}

static void too_large(csv *c)
{
    char why[120];
    snprintf(why, sizeof why,
             "expected cells of at most %" PRIu64 " bytes, found more; see --max-memory",
             most_bytes(c->o));
    failed(c, c->line, why);
}

static void bad_quotes(csv *c, const struct csv_parser *p)
{
    failed(c, c->line + c->inside,
           p->quoted ? "expected a separator or the end of the line after a quoted text"
                     : "expected quotes around a whole cell, found a quote inside one");
}

static int is_blank(unsigned char byte)
{
    return byte == ' ' || byte == '\t';
}

static size_t bom_of(const char *start, size_t n)
{
    return n >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Makes one blank of each run of blanks and tabs within a line, and none of those at its ends.
 * `out` has room for a byte more than there are. */
static size_t squeeze(csv *c, const char *in, size_t n, char *out)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        const bool line_end = in[i] == '\n' || in[i] == '\r';
        if (!c->in_quotes && is_blank((unsigned char)in[i])) {
            c->gap = c->in_line;
            continue;
        }
        if (c->gap && !line_end)
            out[k++] = ' ';
        c->gap = false;
        c->in_quotes ^= in[i] == '"';
        c->in_line = c->in_quotes || !line_end;
        out[k++] = in[i];
    }
    return k;
}

/* Gives the next piece at *at to the parser; false at the end or after a complaint. */
static bool walk_piece(csv *c, struct csv_parser *p, uint64_t *at)
{
    static char piece[PIECE], squeezed[PIECE + 1];
    ssize_t got = pread(c->fd, piece, sizeof piece, (off_t)*at);
    if (got < 0 && errno == EINTR)
        return true;
    if (got < 0)
        failed(c, 0, strerror(errno));
    if (got <= 0)
        return false;
    size_t n = (size_t)got, front = *at == 0 ? bom_of(piece, n) + c->hash : 0;
    front = front < n ? front : n; /* the file may have got shorter since it was looked at */
    const char *text = piece + front;
    *at += n;
    n -= front;
    if (c->blanks) {
        n = squeeze(c, text, n, squeezed);
        text = squeezed;
    }
    if (csv_parse(p, text, n, on_cell, on_end, c) != n && c->rc == EXIT_FINE) {
        if (csv_error(p) == CSV_EPARSE)
            bad_quotes(c, p);
        else
            failed(c, c->line, "out of memory");
    }
    if (c->rc == EXIT_FINE && csv_get_buffer_size(p) > most_bytes(c->o))
        too_large(c);
    return c->rc == EXIT_FINE;
}

static void take_name(csv *c, const char *text, size_t n)
{
    if (c->nrow == 0)
        text_add(&c->first, text, n + 1);
}

/* Shows all cells to `take`, or those of the first row to take_name, without blanks around what is
 * not in quotes. */
static void walk(csv *c, void (*take)(csv *, const char *, size_t))
{
    struct csv_parser p;
    uint64_t at = 0;
    c->take = take;
    c->line = 1;
    c->inside = c->nrow = c->empty_line = c->col = 0;
    c->in_quotes = c->in_line = c->gap = false;
    c->last_end = 0;
    if (csv_init(&p, CSV_FLAGS) != 0) {
        failed(c, 0, "out of memory");
        return;
    }
    csv_set_delim(&p, (unsigned char)c->sep);
    csv_set_space_func(&p, take == take_name ? is_blank : no_blank);
    csv_set_blk_size(&p, PIECE);
    while (walk_piece(c, &p, &at) && !(take == take_name && c->nrow != 0)) {
    }
    if (c->rc == EXIT_FINE && !(take == take_name && c->nrow != 0) &&
        csv_fini(&p, on_cell, on_end, c) != 0)
        failed(c, c->line, "expected a quote after a quoted text, found the file's end");
    csv_free(&p);
}

/* --- types ------------------------------------------------------------------------------------ */

static column *column_of(csv *c)
{
    if (c->ncol == 0 && c->col == c->cap) {
        size_t cap = c->cap == 0 ? 64 : 2 * c->cap;
        column *more = NULL;
        if (cap * sizeof *more + c->first.len > most_bytes(c->o))
            too_large(c);
        else if ((more = realloc(c->cols, cap * sizeof *more)) == NULL)
            failed(c, 0, "out of memory");
        if (more == NULL)
            return NULL;
        memset(more + c->cap, 0, (cap - c->cap) * sizeof *more);
        c->cols = more;
        c->cap = cap;
    }
    return &c->cols[c->col];
}

static bool next_point(const csv *c, const char *text, size_t n, size_t *at, uint32_t *point)
{
    return c->o->unescape ? cell_unescaped_point(text, n, at, point)
                          : cell_code_point(text, n, at, point);
}

/* Its code points; false after a complaint. An array's texts have no NUL at their ends. */
static bool count_points(csv *c, const char *text, size_t n, uint64_t *count)
{
    const char *why = NULL;
    uint32_t point = 1;
    *count = 0;
    for (size_t at = 0; at < n && why == NULL; (*count)++) {
        const bool slash = text[at] == '\\';
        if (!next_point(c, text, n, &at, &point))
            why =
                slash
                    ? "expected \\x00 to \\x7f, \\uNNNN, \\UNNNNNNNN or \\\\, found another escape"
                    : "expected UTF-8";
    }
    if (why == NULL && point == 0)
        why = "expected text, found a NUL at its end";
    if (why != NULL)
        failed(c, c->line, why);
    return why == NULL;
}

static void learn_cell(csv *c, const char *text, size_t n)
{
    uint64_t width = n; /* all but texts are ASCII */
    const unsigned kind = cell_kind(text, n);
    column *col = column_of(c);
    if (col == NULL)
        return;
    if (kind == CELL_TEXT && !count_points(c, text, n, &width))
        return;
    if (c->ncol == 0)
        text_add(&c->first, text, n + 1);
    col->kinds |= kind;
    col->width = width > col->width ? width : col->width;
    if ((kind & (CELL_BIG | CELL_HUGE | CELL_ROUNDED)) != 0 && col->odd == 0)
        col->odd = c->line;
    if ((kind & CELL_ZEROS) != 0 && col->zeros == 0)
        col->zeros = c->line;
}

/* Names are texts alone, or come behind "# "; --header and --no-header know better. */
static bool find_header(const csv *c)
{
    unsigned all = 0;
    for (size_t k = 0; k < c->ncol; k++)
        all |= c->cols[k].kinds;
    return c->o->header || c->hash ||
           (!c->o->no_header && (all & ~(unsigned)CELL_EMPTY) == CELL_TEXT);
}

static void first_row_done(csv *c)
{
    if (c->first.failed) {
        failed(c, 0, "out of memory");
        return;
    }
    c->ncol = c->col;
    c->header = find_header(c);
    if (c->header)
        memset(c->cols, 0, c->ncol * sizeof *c->cols);
}

/* Makes the first column stand for all. */
static void join_columns(csv *c)
{
    column *all = &c->cols[0];
    for (size_t k = 1; k < c->ncol; k++) {
        const column *col = &c->cols[k];
        all->kinds |= col->kinds;
        all->width = col->width > all->width ? col->width : all->width;
        if (col->odd != 0 && (all->odd == 0 || col->odd < all->odd))
            all->odd = col->odd;
        if (col->zeros != 0 && (all->zeros == 0 || col->zeros < all->zeros))
            all->zeros = col->zeros;
    }
}

static void note(const csv *c, uint64_t line, const char *what)
{
    fputs("cippus: note: ", stderr);
    print_escaped(stderr, c->path);
    if (line != 0)
        fprintf(stderr, ": line %" PRIu64, line);
    fprintf(stderr, ": %s\n", what);
}

static void find_types(csv *c)
{
    uint64_t zeros = 0;
    if (!c->header)
        join_columns(c);
    for (size_t k = 0; k < (c->header ? c->ncol : 1) && c->rc == EXIT_FINE; k++) {
        const char *why;
        column *col = &c->cols[k];
        col->width = col->width > 0 ? col->width : 1;
        if (!column_type_of(col->kinds, &col->type, &why))
            failed(c, col->odd, why);
        if (col->type != COL_TEXT && col->zeros != 0 && (zeros == 0 || col->zeros < zeros))
            zeros = col->zeros;
    }
    if (c->rc == EXIT_FINE && zeros != 0)
        note(c, zeros, "a number's leading zeros are not kept");
    if (c->rc == EXIT_FINE && isatty(STDERR_FILENO))
        note(c, 0,
             c->header ? "the first line names the columns (--no-header: it is data)"
                       : "the first line is data (--header: it names the columns)");
}

/* As --sep says, else as the first lines do; and whether those begin with "# ". */
static void look_at_start(csv *c)
{
    static char start[PIECE + 1];
    char why[CSV_WHY];
    const ssize_t got = pread(c->fd, start, PIECE, 0);
    const size_t n = got > 0 ? (size_t)got : 0, bom = bom_of(start, n);
    start[n] = '\0';
    c->hash = !c->o->no_header && start[bom] == '#' && is_blank((unsigned char)start[bom + 1]);
    if (c->o->sep != NULL)
        csv_parse_separator(c->o->sep, &c->sep);
    else if (!csv_separator(start + bom + c->hash, n - bom - c->hash, n == c->nbytes, &c->sep, why))
        failed(c, 0, why);
    c->blanks = c->sep == CSV_BLANKS;
    c->sep = c->blanks ? ' ' : c->sep;
}

static void learn(csv *c)
{
    look_at_start(c);
    if (c->rc != EXIT_FINE)
        return;
    walk(c, learn_cell);
    if (c->rc != EXIT_FINE)
        return;
    c->rows = c->nrow - c->header;
    if (c->nrow == 0 || !c->some)
        failed(c, 0,
               c->nrow == 0 ? "expected lines of cells, found none"
                            : "expected lines of cells, found only blanks");
    else if (c->rows == 0)
        failed(c, 0, "expected rows after the line of names, to find the types of the columns");
    else
        find_types(c);
    if (c->rc == EXIT_FINE && c->header) {
        c->first.len = 0;
        walk(c, take_name);
    }
}

/* --- the header of the array ------------------------------------------------------------------ */

static void put_code(strbuf *out, const column *col)
{
    static const char *const codes[] = {
        [COL_BOOL] = "'|b1'",  [COL_INT] = "'<i8'",      [COL_UINT] = "'<u8'",
        [COL_FLOAT] = "'<f8'", [COL_COMPLEX] = "'<c16'",
    };
    if (col->type == COL_TEXT)
        text_addf(out, "'<U%" PRIu64 "'", col->width);
    else
        text_addf(out, "%s", codes[col->type]);
}

/* As a literal of Python. False for what no name has: NUL, surrogates, what is beyond Unicode. */
static bool put_name(const csv *c, strbuf *out, const char *name)
{
    const size_t n = strlen(name);
    for (size_t at = 0, start = 0; at < n; start = at) {
        uint32_t point;
        if (!next_point(c, name, n, &at, &point) || point == 0 || point > 0x10ffff ||
            (point >= 0xd800 && point <= 0xdfff))
            return false;
        if (point == '\'' || point == '\\' || point == '\n' || name[start] == '\\')
            text_addf(out, "\\U%08" PRIx32, point);
        else
            text_add(out, name + start, at - start);
    }
    return true;
}

typedef struct named {
    const char *name;
    size_t column;
} named;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

/* The columns' names, in order. */
static void list_names(const csv *c, named *names)
{
    const char *at = c->first.ptr;
    for (size_t k = 0; k < c->ncol; k++, at += strlen(at) + 1)
        names[k] = (named){ at, k };
}

/* No column without a name, and no two of one. Puts the names in the order of the alphabet. */
static void check_names(csv *c, named *names)
{
    qsort(names, c->ncol, sizeof *names, by_name);
    if (names[0].name[0] == '\0')
        failed(c, 1, "expected a name for every column, found an empty one; see --no-header");
    for (size_t k = 1; c->rc == EXIT_FINE && k < c->ncol; k++)
        if (by_name(&names[k - 1], &names[k]) == 0) {
            char why[120];
            size_t a = names[k - 1].column, b = names[k].column;
            snprintf(why, sizeof why,
                     "expected different names for all columns, found the same for columns %zu and "
                     "%zu; see --no-header",
                     (a < b ? a : b) + 1, (a < b ? b : a) + 1);
            failed(c, 1, why);
        }
}

static void put_columns(csv *c, strbuf *descr)
{
    named *names = calloc(c->ncol, 2 * sizeof *names);
    if (names == NULL) {
        failed(c, 0, "out of memory");
        return;
    }
    list_names(c, names);
    memcpy(names + c->ncol, names, c->ncol * sizeof *names);
    check_names(c, names + c->ncol);
    text_addf(descr, "[");
    for (size_t k = 0; c->rc == EXIT_FINE && k < c->ncol; k++) {
        text_addf(descr, "('");
        if (!put_name(c, descr, names[k].name))
            failed(c, 1, "expected names in Unicode without NUL, found another");
        text_addf(descr, "', ");
        put_code(descr, &c->cols[k]);
        text_addf(descr, "), ");
    }
    text_addf(descr, "]");
    free(names);
}

static void put_header(csv *c)
{
    strbuf descr = { 0 };
    int64_t shape[2] = { (int64_t)c->rows, (int64_t)c->ncol };
    if (c->header)
        put_columns(c, &descr);
    else
        put_code(&descr, &c->cols[0]);
    if (c->rc == EXIT_FINE)
        npy_header(&c->npy->header, descr.failed ? "" : descr.ptr,
                   c->header || c->ncol == 1 ? 1 : 2, shape);
    if (c->rc == EXIT_FINE && (descr.failed || c->npy->header.failed))
        failed(c, 0, "out of memory");
    free(descr.ptr);
}

/* A text makes every row as wide: a file may grow 8-fold (1 byte for a cell of 8), beyond that only
 * up to what memory may be used. */
static void find_size(csv *c)
{
    uint64_t row = 0, all = 0, most = most_bytes(c->o);
    bool fits = true;
    for (size_t k = 0; k < c->ncol; k++) {
        const column *col = &c->cols[c->header ? k : 0];
        uint64_t each = col->type == COL_TEXT ? 4 * col->width : column_itemsize(col->type);
        fits = fits && !__builtin_add_overflow(row, each, &row);
    }
    fits = fits && !__builtin_mul_overflow(row, c->rows, &all);
    if (!fits || (all > most && all / 8 > c->nbytes)) {
        char why[160];
        snprintf(why, sizeof why,
                 "expected an array of at most %" PRIu64
                 " bytes, found a larger one; see --max-memory",
                 most);
        failed(c, 0, why);
    }
    c->npy->nbytes = all;
}

/* --- values ----------------------------------------------------------------------------------- */

static void flush(csv *c)
{
    if (c->rc == EXIT_FINE && !write_bytes(c->npy->fd, c->out, c->nout)) {
        char why[160];
        snprintf(why, sizeof why, "temporary file: %s", strerror(errno));
        failed(c, 0, why);
    }
    c->nout = 0;
}

/* The lowest n bytes, least first. */
static void put_le(csv *c, uint64_t v, unsigned n)
{
    if (c->nout + n > PIECE)
        flush(c);
    for (unsigned i = 0; i < n; i++)
        c->out[c->nout++] = (uint8_t)(v >> (8 * i));
}

/* False when the text is longer than the column, or none. */
static bool put_text(csv *c, const char *text, size_t n, uint64_t width)
{
    uint64_t count = 0;
    for (size_t at = 0; at < n; count++) {
        uint32_t point;
        if (count == width || !next_point(c, text, n, &at, &point))
            return false;
        put_le(c, point, 4);
    }
    for (; count < width && c->rc == EXIT_FINE; count++)
        put_le(c, 0, 4);
    return true;
}

static void store_cell(csv *c, const char *text, size_t n)
{
    uint64_t bits[2] = { 0 };
    if (c->nrow == 0 && c->header)
        return;
    const column *col = &c->cols[c->header ? c->col : 0];
    if (c->nrow - c->header == c->rows)
        failed(c, c->line, "the file changed while it was read");
    else if (col->type == COL_TEXT && !put_text(c, text, n, col->width))
        failed(c, c->line, "the file changed while it was read");
    else if (col->type != COL_TEXT && !cell_bits(text, n, col->type, bits))
        failed(c, c->line,
               (cell_kind(text, n) & (CELL_FLOAT | CELL_COMPLEX)) != 0
                   ? "expected a number in the range of float64"
                   : "the file changed while it was read");
    else if (col->type != COL_TEXT)
        for (unsigned left = column_itemsize(col->type), i = 0; left > 0;
             left -= left < 8 ? left : 8)
            put_le(c, bits[i++], left < 8 ? left : 8);
}

static void store(csv *c)
{
    c->npy = calloc(1, sizeof *c->npy);
    c->out = malloc(PIECE);
    if (c->npy != NULL)
        c->npy->fd = -1;
    if (c->npy == NULL || c->out == NULL) {
        failed(c, 0, "out of memory");
        return;
    }
    find_size(c);
    if (c->rc == EXIT_FINE)
        put_header(c);
    if (c->rc != EXIT_FINE)
        return;
    c->npy->fd = temporary_file();
    if (c->npy->fd < 0)
        failed(c, 0, strerror(errno));
    else
        walk(c, store_cell);
    flush(c);
    if (c->rc == EXIT_FINE && c->nrow - c->header != c->rows)
        failed(c, 0, "the file changed while it was read");
}

cip_file *csv_open(const char *path, const opts *o, int *rc)
{
    csv c = { .path = path, .o = o, .fd = -1 };
    cip_file *f = NULL;
    *rc = EXIT_USAGE;
    if (o->shape != NULL || o->byteorder != NULL) {
        fprintf(stderr, "cippus: --%s does not apply to csv, which has its own\n",
                o->shape != NULL ? "shape" : "byteorder");
        return NULL;
    }
    c.fd = bytes_open(path, UINT64_MAX, &c.nbytes, NULL);
    if (c.fd < 0)
        failed(&c, 0, strerror(errno));
    else
        learn(&c);
    if (c.rc == EXIT_FINE)
        store(&c);
    *rc = c.rc;
    if (*rc == EXIT_FINE)
        f = virtual_open(c.npy, path, o, rc);
    else
        virtual_free(c.npy);
    if (c.fd >= 0)
        close(c.fd);
    free(c.out);
    free(c.cols);
    free(c.first.ptr);
    return f;
}
