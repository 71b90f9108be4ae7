/* SPDX-License-Identifier: BSD-3-Clause
 * What one cell of a csv file is, and the type that holds all cells of a column without a change.
 */
#ifndef CIPPUS_TOOLS_CSV_CELL_H
#define CIPPUS_TOOLS_CSV_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cell is one of the first eight; an integer may be the last three as well, and a complex number
 * with such an integer CELL_ROUNDED. */
enum cell_kind {
    CELL_EMPTY = 1,      /* nothing, or blanks */
    CELL_BOOL = 2,       /* true, True, TRUE, ... */
    CELL_INT = 4,        /* int64 holds it */
    CELL_BIG = 8,        /* uint64 alone holds it */
    CELL_HUGE = 16,      /* an integer that neither holds */
    CELL_FLOAT = 32,     /* with a point or an exponent; nan, inf */
    CELL_TEXT = 64,      /* anything else */
    CELL_COMPLEX = 128,  /* 1+2j, (1+2j), 2j as Python and numpy write them */
    CELL_NEGATIVE = 256, /* an integer below 0 */
    CELL_ROUNDED = 512,  /* an integer that float64 does not hold exactly */
    CELL_ZEROS = 1024    /* an integer with leading zeros */
};

typedef enum column_type {
    COL_BOOL,
    COL_INT,
    COL_UINT,
    COL_FLOAT,
    COL_COMPLEX,
    COL_TEXT
} column_type;

/* Bits of cell_kind. `text` ends with a NUL that `n` does not count, and has no other. */
unsigned cell_kind(const char *text, size_t n);

/* The type of a column that has cells of these kinds; false, with what was expected in *why, where
 * none holds them all. */
bool column_type_of(unsigned kinds, column_type *type, const char **why);

/* The next code point at *at, which moves behind it; false where the bytes are no UTF-8. */
bool cell_code_point(const char *text, size_t n, size_t *at, uint32_t *point);

/* The same of a text as `cat --to csv` writes them: \xNN, \uNNNN and \UNNNNNNNN are the number in
 * hexadecimal, two backslashes are one, and one before anything else is itself. False also for an
 * escape without its digits, and for the byte of no code point that \x80 to \xff stand for. */
bool cell_unescaped_point(const char *text, size_t n, size_t *at, uint32_t *point);

/* The bytes of an element of that type; not for COL_TEXT. */
unsigned column_itemsize(column_type type);

/* The bits of a number's value in a column of that type: 64 (of a boolean the lowest), of complex
 * numbers as many again for the imaginary part; NaN for an empty cell. False where the cell is none
 * of that type, or a float out of range. */
bool cell_bits(const char *text, size_t n, column_type type, uint64_t bits[2]);

/* What separates the cells of a file that starts with `text` (NUL-terminated; `whole`: and ends
 * with it): a comma, semicolon, tab or bar that divides all of the first lines alike. A comma where
 * none does. False with the reason, where nobody can tell: numbers between blanks may be cells. */
enum { CSV_WHY = 200 };
bool csv_separator(const char *text, size_t n, bool whole, char *sep, char why[CSV_WHY]);
/* In the place of a separator: runs of blanks and tabs, none at the ends of a line. */
enum { CSV_BLANKS = '\0' };
/* --sep: one character, `tab` or `blanks`. */
bool csv_parse_separator(const char *text, char *sep);

#endif
