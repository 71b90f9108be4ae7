/* SPDX-License-Identifier: BSD-3-Clause
 * Floating numbers as the shortest text that reads back equal. */
#ifndef CIP_ARRAY_NUMBER_TEXT_H
#define CIP_ARRAY_NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Long enough for any number, NUL included. */
enum { CIP_NUMBER_TEXT = 64 };

typedef enum cip_float_width { CIP_HALF, CIP_FLOAT, CIP_DOUBLE } cip_float_width;

/* Writes `v`, a value of the given width, as Python and numpy do ("1.0", "1e+16", "-0.0", "nan",
 * "-inf"), whatever the locale, and returns the length. `bare`: without ".0" behind a whole number,
 * as in complex ones. */
size_t cip_float_text(char text[CIP_NUMBER_TEXT], double v, cip_float_width width, bool bare);

#endif
