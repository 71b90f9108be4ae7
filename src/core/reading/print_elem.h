/* SPDX-License-Identifier: BSD-3-Clause
 * Elements as text: rows of text, csv, nested json, a line of json for each row. */
#ifndef CIP_CORE_PRINT_ELEM_H
#define CIP_CORE_PRINT_ELEM_H

#include "core/reading/read_plan.h"

typedef enum cip_print_style {
    CIP_PRINT_TEXT,
    CIP_PRINT_CSV,
    CIP_PRINT_JSON,
    CIP_PRINT_JSON_LINES
} cip_print_style;

typedef struct cip_printer {
    cip_print_style style;
    int32_t ndim;
    int32_t nested; /* json: how many axes are in brackets */
    bool records;   /* each on a line of its own; in csv a column for each field */
} cip_printer;

void cip_printer_start(cip_printer *pr, const cip_read_plan *p, cip_print_style style);
/* What comes before the first element (a csv header of fields, json brackets) and behind the last.
 */
cip_status cip_print_head(const cip_printer *pr, const cip_read_plan *p, cip_buf *out,
                          cip_err *err);
cip_status cip_print_tail(const cip_printer *pr, const cip_read_plan *p, cip_buf *out,
                          cip_err *err);
/* Element number i (in C order) with what separates it from the one before. NULL: it is masked
 * ("--" in text, an empty cell, null). */
cip_status cip_print_elem(const cip_printer *pr, const cip_read_plan *p, uint64_t i,
                          const uint8_t *elem, cip_buf *out, cip_err *err);

#endif
