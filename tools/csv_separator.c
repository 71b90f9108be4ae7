/* SPDX-License-Identifier: BSD-3-Clause
 * What separates the cells of a csv file, told from its first lines. */
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

/* In how many cells all lines fall apart; 1 where they do not agree. The last line is not looked at
 * where more may follow it. */
static size_t cells_by(const char *text, size_t n, bool whole, char sep)
{
    size_t cells = 0;
    for (size_t at = 0, line = 0; at < n && line < MOST_LINES; line++) {
        const size_t found = count_cells(text, n, sep, &at);
        if (at == n && !whole && line != 0)
            break;
        if (cells != 0 && found != cells)
            return 1;
        cells = found;
    }
    return cells;
}

/* Whether the first line is words apart by blanks, and the last of them a number. */
static bool has_blanks(const char *text, size_t n)
{
    const size_t line = strcspn(text, "\r\n") < n ? strcspn(text, "\r\n") : n;
    size_t last = line;
    while (last > 0 && text[last - 1] != ' ')
        last--;
    const unsigned kind = cell_kind(text + last, line - last);
    return last > 1 && text[last - 2] != ' ' && line > last &&
           (kind & (CELL_TEXT | CELL_EMPTY)) == 0 && cells_by(text, line, true, ' ') > 1 &&
           strcspn(text, " ") > 0;
}

const char *csv_separator(const char *text, size_t n, bool whole, char *sep)
{
    static const char known[] = ",;\t|";
    const char *found = NULL;
    *sep = ',';
    for (const char *k = known; *k != '\0'; k++) {
        if (cells_by(text, n, whole, *k) <= 1)
            continue;
        if (found != NULL)
            return "two characters may separate the cells; --sep says which";
        found = k;
    }
    if (found != NULL)
        *sep = *found;
    else if (has_blanks(text, n))
        return "expected cells separated by commas, semicolons, tabs or bars, found blanks; --sep "
               "' ' "
               "takes them, --sep ',' a single column";
    return NULL;
}

bool csv_parse_separator(const char *text, char *sep)
{
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0)
        *sep = '\t';
    else if (text[0] != '\0' && text[1] == '\0' && strchr("\"\r\n", text[0]) == NULL &&
             (text[0] & 0x80) == 0)
        *sep = text[0];
    else
        return false;
    return true;
}
