/* SPDX-License-Identifier: BSD-3-Clause
 * What separates the cells of a csv file, told from its first lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv_cell.h"

enum { MOST_LINES = 100 };

/* The cells of the line at *at, which is moved behind it; quotes keep separators and line ends. */
static size_t count_cells(const char *text, size_t n, char sep, size_t *at)
{
    size_t cells = 1;
    bool quoted = false;
    size_t i = *at;
    for (; i < n && (quoted || (text[i] != '\n' && text[i] != '\r')); i++) {
        quoted ^= text[i] == '"';
        cells += !quoted && text[i] == sep;
    }
    while (i < n && (text[i] == '\n' || text[i] == '\r'))
        i++;
    *at = i;
    return cells;
}

/* How a separator divides the first lines: all into `cells`, or up to a row (0: the first) at the
 * byte `at`, which it divides into `odd` of them. */
typedef struct division {
    size_t cells, row, at, odd;
} division;

/* The last line is not looked at where more may follow it. */
static division divide(const char *text, size_t n, bool whole, char sep)
{
    division d = { 0 };
    for (size_t at = 0, from = 0, row = 0; at < n && row < MOST_LINES; row++, from = at) {
        const size_t found = count_cells(text, n, sep, &at);
        if (at == n && !whole && row != 0)
            break;
        if (row != 0 && found != d.cells)
            return (division){ d.cells, row, from, found };
        d.cells = found;
    }
    return d;
}

/* The number of the line that begins at a byte. */
static size_t line_at(const char *text, size_t at)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n');
    return line;
}

static size_t cells_by(const char *text, size_t n, bool whole, char sep)
{
    const division d = divide(text, n, whole, sep);
    return d.row == 0 ? d.cells : 1;
}

/* The words of a line, apart by blanks: how many, how many numbers, and whether the last is one. */
typedef struct line_words {
    size_t n, nnumber;
    bool last;
} line_words;

static line_words count_words(const char *line, size_t n)
{
    line_words w = { 0 };
    for (size_t at = 0, from; at < n;) {
        while (at < n && (line[at] == ' ' || line[at] == '\t'))
            at++;
        for (from = at; at < n && line[at] != ' ' && line[at] != '\t';)
            at++;
        if (at == from)
            break;
        w.last = (cell_kind(line + from, at - from) & CELL_TEXT) == 0;
        w.n++;
        w.nnumber += w.last;
    }
    return w;
}

/* Whether blanks may separate cells: the first line is words of which the last is a number, or one
 * of the first lines is several numbers. */
static bool has_blanks(const char *text, size_t n)
{
    for (size_t at = 0, row = 0; at < n && row < MOST_LINES; row++) {
        const size_t len = strcspn(text + at, "\r\n");
        const line_words w = count_words(text + at, len < n - at ? len : n - at);
        if (w.n > 1 && (w.nnumber == w.n || (row == 0 && w.last)))
            return true;
        at += len;
        at += strspn(text + at, "\r\n");
    }
    return false;
}

/* Whether lines are divided by a separator of others, but not alike: no column of texts. */
static bool is_uneven(const char *text, size_t n, bool whole, char *why, size_t cap)
{
    static const char foreign[] = ";\t|";
    if (divide(text, n, whole, ',').cells > 1)
        return false;
    for (const char *k = foreign; *k != '\0'; k++) {
        const division d = divide(text, n, whole, *k);
        const char name[] = { '\'', *k, '\'', '\0' };
        if (d.row == 0 || (d.cells == 1 && (d.row != 1 || *k == '\t')))
            continue;
        snprintf(why, cap,
                 "cells by %s: %zu in line 1, %zu in line %zu; --sep ',' reads lines as they are",
                 *k == '\t' ? "tabs" : name, d.cells, d.odd, line_at(text, d.at));
        return true;
    }
    return false;
}

bool csv_separator(const char *text, size_t n, bool whole, char *sep, char why[CSV_WHY])
{
    static const char known[] = ",;\t|";
    const char *found = NULL, *doubt = NULL;
    *sep = ',';
    for (const char *k = known; *k != '\0' && doubt == NULL; k++) {
        if (cells_by(text, n, whole, *k) <= 1)
            continue;
        if (found != NULL)
            doubt = "two characters could separate the cells; choose one with --sep";
        found = k;
    }
    if (found != NULL)
        *sep = *found;
    else if (is_uneven(text, n, whole, why, CSV_WHY))
        return false;
    else if (has_blanks(text, n))
        doubt = "expected cells separated by commas, semicolons, tabs or bars, found blanks; use "
                "--sep blanks for these, or --sep ',' for a single column";
    if (doubt != NULL)
        snprintf(why, CSV_WHY, "%s", doubt);
    return doubt == NULL;
}

bool csv_parse_separator(const char *text, char *sep)
{
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0)
        *sep = '\t';
    else if (strcmp(text, "blanks") == 0)
        *sep = CSV_BLANKS;
    else if (text[0] != '\0' && text[1] == '\0' && strchr("\"\r\n", text[0]) == NULL &&
             (text[0] & 0x80) == 0)
        *sep = text[0];
    else
        return false;
    return true;
}
