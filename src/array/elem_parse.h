/* SPDX-License-Identifier: BSD-3-Clause
 * What the two halves of the dtype parser share: words and our records, numpy's lists and dicts. */
#ifndef CIP_ARRAY_ELEM_PARSE_H
#define CIP_ARRAY_ELEM_PARSE_H

#include "array/elem.h"
#include "base/buffer.h"

typedef struct cip_dtype_parser {
    cip_arena *a;
    const char *text;
    size_t len, pos;
    bool big;  /* order of numbers that have no mark */
    int depth; /* of brackets */
    cip_err *err;
} cip_dtype_parser;

/* FORMAT at the position: "expected `what` in a dtype, found 'x'". */
cip_status cip_parse_expected(const cip_dtype_parser *p, const char *what);
#define cip_parse_expected(...) cip_failing(cip_parse_expected(__VA_ARGS__))
/* The next character behind blanks, which are skipped; -1 at the end. */
int cip_parse_peek(cip_dtype_parser *p);
/* Whether the next character behind blanks is c; it is skipped. */
bool cip_parse_skip(cip_dtype_parser *p, char c);
/* Digits right here (no blanks); false, and nothing moved, when there are none or too many. */
bool cip_parse_number(cip_dtype_parser *p, uint64_t *out);
/* Whether a string literal stands here, with or without the prefix u or b. */
bool cip_parse_at_string(cip_dtype_parser *p);
/* A string literal of Python; UTF-8 in the arena. */
cip_status cip_parse_string(cip_dtype_parser *p, char **out);
/* Lengths up to `close`, behind the opening bracket, appended to f->shape. */
cip_status cip_parse_shape(cip_dtype_parser *p, char close, cip_field *f);
/* One level deeper, or LIMIT. */
cip_status cip_parse_enter(cip_dtype_parser *p);

/* Any type. */
cip_status cip_parse_type(cip_dtype_parser *p, const cip_dtype **out);
/* [('a', '<i4'), ...] */
cip_status cip_parse_list(cip_dtype_parser *p, const cip_dtype **out);
/* {'names': ..., 'formats': ...}; the position is on its first key. */
cip_status cip_parse_dict(cip_dtype_parser *p, const cip_dtype **out);

#endif
