/* SPDX-License-Identifier: BSD-3-Clause
 * cippus cat on a terminal: the edges of an array, aligned and within the width. What is shown is
 * exported piece by piece as text: the first and the last indices of each axis are added to the
 * user's selection, so that a large array is not read for its corners. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "input.h"

enum { MOST_ROWS = 20, FEW_ROWS = 8, MOST_PLANES = 4, FEW_PLANES = 1 };

/* Of an axis the indices below `head`, and those from `tail` on; head == tail: all. */
typedef struct edges {
    int64_t head, tail, len;
} edges;

typedef struct sketch {
    const target *t;
    cip_selection base;     /* the user's, with an item for each axis */
    int axis[CIP_MAX_NDIM]; /* the item of each axis that is left */
    int ndim;
    int64_t shape[CIP_MAX_NDIM];
    edges edge[CIP_MAX_NDIM];
    int width;
    bool cut; /* something is left out */
} sketch;

/* --- selections ------------------------------------------------------------------------------ */

/* An item without ends that are left out or count from the end: start + i step, i < count, where
 * count is in `stop`. */
static cip_slice resolved(cip_slice s, int64_t len)
{
    const int64_t low = s.step < 0 ? -1 : 0, high = s.step < 0 ? len - 1 : len;
    int64_t start = s.start == CIP_OPEN ? (s.step < 0 ? high : 0)
                    : s.start < 0       ? s.start + len
                                        : s.start;
    int64_t stop = s.stop == CIP_OPEN ? (s.step < 0 ? low : len)
                   : s.stop < 0       ? s.stop + len
                                      : s.stop;
    start = start < low ? low : start > high ? high : start;
    stop = stop < low ? low : stop > high ? high : stop;
    const int64_t way = s.step < 0 ? start - stop : stop - start,
                  step = s.step < 0 ? -s.step : s.step;
    s.start = start;
    s.stop = way <= 0 ? 0 : (way - 1) / step + 1;
    return s;
}

/* The user's selection with an item for each of the array's axes (`len`, `ndim`). */
static bool spread(sketch *k, const cip_selection *given, const int64_t *len, int ndim)
{
    static const cip_slice whole = CIP_RANGE(CIP_OPEN, CIP_OPEN);
    int named = 0, at = 0;
    bool dots = false;
    for (uint32_t i = 0; i < given->n; i++) {
        named += given->item[i].what <= CIP_SLICE_INDEX;
        dots |= given->item[i].what == CIP_SLICE_ELLIPSIS;
    }
    for (uint32_t i = 0; i < given->n + !dots; i++) {
        const cip_slice *s = i < given->n ? &given->item[i] : NULL;
        int n = s == NULL || s->what == CIP_SLICE_ELLIPSIS ? ndim - named : 1;
        for (; n > 0; n--) {
            cip_slice *out = &k->base.item[k->base.n];
            if (k->base.n == 2 * CIP_MAX_NDIM)
                return false;
            *out = s == NULL || s->what == CIP_SLICE_ELLIPSIS ? whole : *s;
            if (out->what == CIP_SLICE_RANGE && at < ndim)
                *out = resolved(*out, len[at]);
            at += out->what != CIP_SLICE_NEWAXIS;
            if (out->what != CIP_SLICE_INDEX && k->ndim < CIP_MAX_NDIM)
                k->axis[k->ndim++] = (int)k->base.n;
            k->base.n++;
        }
    }
    return at == ndim;
}

/* From `from` up to `to` along an axis of what is selected. */
static void narrow(const sketch *k, cip_selection *s, int d, int64_t from, int64_t to)
{
    cip_slice *out = &s->item[k->axis[d]];
    const cip_slice *base = &k->base.item[k->axis[d]];
    if (base->what != CIP_SLICE_RANGE)
        return;
    const int64_t stop = base->start + to * base->step;
    *out = (cip_slice)CIP_STEPS(base->start + from * base->step,
                                stop < 0 ? CIP_OPEN : stop, /* backwards over the first element */
                                base->step);
}

static edges edges_of(int64_t len, int64_t most, int64_t few)
{
    return len <= most ? (edges){ len, len, len } : (edges){ few, len - few, len };
}

/* --- pieces ---------------------------------------------------------------------------------- */

static int keep(void *user, const void *bytes, size_t n)
{
    text_add(user, bytes, n);
    return ((strbuf *)user)->failed;
}

/* What `s` selects, `to` text or csv. */
static cip_status piece(const sketch *k, const cip_selection *s, const char *to, strbuf *out,
                        cip_err *err)
{
    cip_read_args args = k->t->args;
    args.selection = NULL;
    args.slices = s;
    out->len = 0;
    text_add(out, "", 0);
    return cip_export(k->t->array, &args, to, keep, out, err);
}

/* --- numbers --------------------------------------------------------------------------------- */

/* A plane's cells that may be shown, row by row; of columns `head` and `tail` many. */
typedef struct plane {
    char **cell;
    size_t nrow, head, tail;
    size_t cut_row;    /* rows are left out before this one; 0: none */
    bool every_column; /* none was left out when they were read */
    bool *at_left;     /* columns that begin at the left; NULL: none does */
} plane;

static void plane_free(plane *p)
{
    for (size_t i = 0; p->cell != NULL && i < p->nrow * (p->head + p->tail); i++)
        free(p->cell[i]);
    free(p->cell);
    free(p->at_left);
}

/* The words of `text` as cells of rows from `row` and columns from `column` on, `n` in a row. */
static void take_words(plane *p, char *text, size_t row, size_t column, size_t n)
{
    static const char blank[] = " \n";
    char *rest = NULL;
    const size_t all = p->head + p->tail;
    size_t i = 0;
    for (char *w = strtok_r(text, blank, &rest); w != NULL && n != 0;
         w = strtok_r(NULL, blank, &rest)) {
        const size_t at = (row + i / n) * all + column + i % n;
        if (row + i / n < p->nrow && p->cell[at] == NULL)
            p->cell[at] = strdup(w);
        i++;
    }
}

/* Reads the corners of the plane that `s` selects along the outer axes. */
static cip_status read_plane(const sketch *k, cip_selection s, plane *p, cip_err *err)
{
    const edges one = { 1, 1, 1 }, *r = k->ndim > 1 ? &k->edge[k->ndim - 2] : &one;
    const edges *c = &k->edge[k->ndim - 1];
    strbuf text = { 0 };
    cip_status st = CIP_OK;
    p->nrow = (size_t)(r->head + r->len - r->tail);
    p->head = (size_t)c->head;
    p->tail = (size_t)(c->len - c->tail);
    p->cut_row = r->head != r->tail ? (size_t)r->head : 0;
    p->every_column = c->head == c->tail;
    p->cell = calloc(p->nrow * (p->head + p->tail) + 1, sizeof *p->cell);
    for (int i = 0; i < 4 && st == CIP_OK && p->cell != NULL; i++) {
        const bool low = i >= 2, right = i % 2 != 0;
        const int64_t row = low ? r->tail : 0, nrow = low ? r->len - r->tail : r->head;
        const int64_t col = right ? c->tail : 0, ncol = right ? c->len - c->tail : c->head;
        if (nrow == 0 || ncol == 0)
            continue;
        if (k->ndim > 1)
            narrow(k, &s, k->ndim - 2, row, row + nrow);
        narrow(k, &s, k->ndim - 1, col, col + ncol);
        st = piece(k, &s, "text", &text, err);
        if (st == CIP_OK && text.ptr != NULL)
            take_words(p, text.ptr, low ? (size_t)r->head : 0, right ? p->head : 0, (size_t)ncol);
    }
    free(text.ptr);
    return st;
}

/* How many letters a text has. */
static int letters(const char *text)
{
    int n = 0;
    for (; text != NULL && *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* How wide column i is, and a blank. */
static int column_width(const plane *p, size_t i)
{
    int most = 1;
    for (size_t r = 0; r < p->nrow; r++) {
        const int n = letters(p->cell[r * (p->head + p->tail) + i]);
        most = n > most ? n : most;
    }
    return most + 1;
}

/* How many columns of each side fit into the width; true: all. */
static bool fit_columns(const plane *p, int width, size_t *left, size_t *right)
{
    const size_t n = p->head + p->tail;
    int used = 0;
    for (size_t i = 0; i < n; i++)
        used += column_width(p, i);
    *left = p->head;
    *right = p->tail;
    if (p->every_column && used <= width + 1)
        return true;
    for (used = 4, *left = *right = 0; *left + *right < n;) { /* "... " */
        const bool next_left = *left <= *right;
        used += column_width(p, next_left ? *left : n - 1 - *right);
        if (used > width + 1 && *left != 0)
            break;
        *(next_left ? left : right) += 1;
    }
    return *left + *right == n && p->every_column;
}

static void print_cell(const plane *p, size_t row, size_t i)
{
    const char *cell = p->cell[row * (p->head + p->tail) + i];
    const int pad = column_width(p, i) - 1 - letters(cell);
    const bool at_left = p->at_left != NULL && p->at_left[i];
    const bool last = i + 1 == p->head + p->tail;
    printf("%s%*s%s%*s", i == 0 ? "" : " ", at_left ? 0 : pad, "", cell != NULL ? cell : "",
           at_left && !last ? pad : 0, "");
}

static void print_plane(sketch *k, const plane *p)
{
    const size_t n = p->head + p->tail;
    size_t left, right;
    const bool all = fit_columns(p, k->width, &left, &right);
    k->cut |= !all;
    for (size_t row = 0; row < p->nrow; row++) {
        if (p->cut_row != 0 && row == p->cut_row)
            puts("...");
        for (size_t i = 0; i < n; i++) {
            if (!all && i == left)
                printf("%s...", i == 0 ? "" : " ");
            if (all || i < left || i >= n - right)
                print_cell(p, row, i);
        }
        putchar('\n');
    }
}

/* All planes that are shown, one index of each outer axis after the other. */
static cip_status print_planes(sketch *k, int d, cip_selection s, bool *any, cip_err *err)
{
    if (d >= k->ndim - 2) {
        plane p = { 0 };
        cip_status st = read_plane(k, s, &p, err);
        if (st == CIP_OK) {
            fputs(*any ? "\n" : "", stdout);
            print_plane(k, &p);
            *any = true;
        }
        plane_free(&p);
        return st;
    }
    const edges *e = &k->edge[d];
    for (int64_t i = 0; i < e->len; i++) {
        if (i == e->head && e->head != e->tail) {
            puts("\n...");
            i = e->tail;
        }
        narrow(k, &s, d, i, i + 1);
        cip_status st = print_planes(k, d + 1, s, any, err);
        if (st != CIP_OK)
            return st;
    }
    return CIP_OK;
}

/* --- anything else: lines --------------------------------------------------------------------- */

static void print_cut(sketch *k, char *text)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        size_t n = strlen(line), most = (size_t)k->width - 3;
        if (n <= (size_t)k->width) {
            puts(line);
            continue;
        }
        while (most > 0 && ((unsigned char)line[most] & 0xc0) == 0x80)
            most--; /* not within a letter */
        printf("%.*s...\n", (int)most, line);
        k->cut = true;
    }
}

/* Texts and others: the first and the last along the first axis. */
static cip_status print_lines(sketch *k, cip_err *err)
{
    const edges *e = &k->edge[0];
    cip_selection s = k->base;
    strbuf text = { 0 };
    narrow(k, &s, 0, 0, e->head);
    for (int d = 1; d < k->ndim; d++)
        narrow(k, &s, d, 0, k->shape[d]);
    cip_status st = piece(k, &s, "text", &text, err);
    if (st == CIP_OK)
        print_cut(k, text.ptr);
    if (st == CIP_OK && e->head != e->tail) {
        puts("...");
        narrow(k, &s, 0, e->tail, e->len);
        st = piece(k, &s, "text", &text, err);
        if (st == CIP_OK)
            print_cut(k, text.ptr);
    }
    free(text.ptr);
    return st;
}

/* --- records ---------------------------------------------------------------------------------- */

/* A text that would take more than half of the width ends in dots. */
static void cut_cell(sketch *k, strbuf *cell)
{
    const int most = k->width / 2;
    if (letters(cell->ptr) <= most)
        return;
    size_t n = 0;
    for (int seen = 0; seen < most - 3 || ((unsigned char)cell->ptr[n] & 0xc0) == 0x80; n++)
        seen += ((unsigned char)cell->ptr[n] & 0xc0) != 0x80;
    cell->len = n;
    text_add(cell, "...", 3);
    k->cut = true;
}

/* The cells of csv from a row on, where there is none yet; line ends and tabs in them as escapes.
 */
static void take_cells(sketch *k, plane *p, const char *text, size_t row)
{
    static const char odd[] = "\n\r\t", letter[] = "nrt";
    const size_t n = p->head + p->tail;
    strbuf cell = { 0 };
    bool quoted = false;
    for (size_t i = row * n; *text != '\0' && i < p->nrow * n; text++) {
        const char *escape = strchr(odd, *text);
        if (*text == '"' && quoted && text[1] == '"') {
            text_add(&cell, text++, 1);
        } else if (*text == '"') {
            quoted = !quoted;
        } else if (!quoted && (*text == ',' || *text == '\n')) {
            cut_cell(k, &cell);
            if (p->cell[i] == NULL && cell.ptr != NULL)
                p->cell[i] = strdup(cell.ptr);
            cell.len = 0;
            text_add(&cell, "", 0);
            i++;
        } else if (escape != NULL) {
            text_addf(&cell, "\\%c", letter[escape - odd]);
        } else {
            text_add(&cell, text, 1);
        }
    }
    free(cell.ptr);
}

/* As what its elements are shown. */
static const cip_dtype *shown_dtype(const target *t)
{
    return t->args.dtype != NULL ? t->args.dtype
           : t->args.as != NULL  ? t->args.as
                                 : cip_array_dtype(t->array);
}

static bool is_number(const cip_field *f)
{
    const cip_kind kind = cip_dtype_kind(f->dtype);
    return f->ndim == 0 && kind >= CIP_BOOL && kind <= CIP_C128;
}

/* Records along one axis: columns below the names of the fields. */
static cip_status print_columns(sketch *k, cip_err *err)
{
    const cip_dtype *dtype = shown_dtype(k->t);
    const edges *e = &k->edge[0];
    cip_selection s = k->base;
    strbuf text = { 0 };
    plane p = { .nrow = (size_t)(1 + e->head + e->len - e->tail),
                .head = cip_dtype_nfield(dtype),
                .cut_row = e->head != e->tail ? (size_t)e->head + 1 : 0,
                .every_column = true };
    p.cell = calloc(p.nrow * p.head, sizeof *p.cell);
    p.at_left = calloc(p.head, sizeof *p.at_left);
    cip_status st = CIP_OK;
    for (size_t i = 0; i < p.head && p.at_left != NULL; i++)
        p.at_left[i] = !is_number(cip_dtype_field(dtype, i));
    for (int low = 0; low < 1 + (p.cut_row != 0) && st == CIP_OK && p.cell != NULL; low++) {
        narrow(k, &s, 0, low ? e->tail : 0, low ? e->len : e->head);
        st = piece(k, &s, "csv", &text, err);
        if (st == CIP_OK && text.ptr != NULL)
            take_cells(k, &p, text.ptr,
                       low ? (size_t)e->head : 0); /* its names are there already */
    }
    if (st == CIP_OK && p.cell != NULL)
        print_plane(k, &p);
    plane_free(&p);
    free(text.ptr);
    if (st == CIP_OK)
        return st;
    cip_err_clear(err); /* what csv does not hold */
    return print_lines(k, err);
}

/* --- the command ------------------------------------------------------------------------------ */

/* Whether no element's text has a blank in it. */
static bool has_words(const target *t)
{
    if (t->args.take_mask)
        return true;
    if (t->args.field != NULL && t->args.field[0] != '\0')
        return false;
    const cip_kind kind = cip_dtype_kind(shown_dtype(t));
    return kind >= CIP_BOOL && kind <= CIP_C128;
}

/* Whether the elements are records along one axis. */
static bool has_columns(const sketch *k)
{
    const target *t = k->t;
    return k->ndim == 1 && (t->args.field == NULL || t->args.field[0] == '\0') &&
           cip_dtype_nfield(shown_dtype(t)) != 0;
}

static cip_status sketch_start(sketch *k, const target *t, cip_err *err)
{
    cip_selection given = { .n = 0 };
    cip_read_args args = t->args;
    int64_t len[CIP_MAX_NDIM];
    int ndim, left;
    *k = (sketch){ .t = t, .width = terminal_width() };
    cip_status st =
        args.selection != NULL ? cip_selection_parse(args.selection, &given, err) : CIP_OK;
    if (st == CIP_OK)
        st = cip_read_shape(t->array, &args, &left, k->shape, NULL, err); /* and all is in range */
    args.selection = NULL;
    if (st == CIP_OK)
        st = cip_read_shape(t->array, &args, &ndim, len, NULL, err);
    if (st == CIP_OK && (!spread(k, &given, len, ndim) || k->ndim != left))
        k->ndim = 0;
    const bool words = has_words(t);
    for (int d = 0; d < k->ndim; d++) {
        const bool row = d >= k->ndim - 2 || !words;
        k->edge[d] =
            edges_of(k->shape[d], row ? MOST_ROWS : MOST_PLANES, row ? FEW_ROWS : FEW_PLANES);
        if (d == k->ndim - 1 && words) /* each takes a digit and a blank at least */
            k->edge[d] = edges_of(k->shape[d], k->width, k->width / 2);
        k->cut |= k->edge[d].head != k->edge[d].tail;
    }
    return st;
}

int cat_edges(const target *t, const opts *o)
{
    sketch k;
    cip_err err = CIP_ERR_INIT;
    bool any = false, empty = false;
    cip_status st = sketch_start(&k, t, &err);
    for (int d = 0; d < k.ndim; d++)
        empty |= k.shape[d] == 0;
    if (st == CIP_OK && (k.ndim == 0 || empty))
        st = cip_export(t->array, &t->args, "text", write_stdout, NULL, &err);
    else if (st == CIP_OK)
        st = has_words(t)      ? print_planes(&k, 0, k.base, &any, &err)
             : has_columns(&k) ? print_columns(&k, &err)
                               : print_lines(&k, &err);
    hide_progress(o->bar);
    if (st != CIP_OK)
        return cat_failed(t, o, &err);
    if (k.cut && !empty) {
        fflush(stdout);
        fputs("cippus: note: the edges of ", stderr);
        print_shape(stderr, k.shape, k.ndim);
        fputs("; --all prints everything\n", stderr);
    }
    return EXIT_FINE;
}
