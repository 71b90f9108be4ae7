/* SPDX-License-Identifier: BSD-3-Clause
 * Scalars as text and as values: numbers read and spelled whatever the C locale, explicit tags. */
#ifndef CIP_TREE_SCALAR_H
#define CIP_TREE_SCALAR_H

#include "base/buffer.h"
#include "tree/value.h"

#define CIP_CORE_TAG "tag:yaml.org,2002:"

/* The double nearest to `[-+]digits.digits[eE][-+]digits` of n > 0 bytes; underscores are passed
 * over, and every part may be missing. The caller has checked the form. */
double cip_decimal_parse(const char *s, size_t n);

enum { CIP_DOUBLE_TEXT = 32 }; /* bytes that a double's spelling needs, NUL included */
/* The shortest spelling that reads back as v, with a dot and a signed exponent as YAML 1.1 wants
 * it: "0.1", "1.0e+16", ".nan", "-.inf". */
void cip_double_text(double v, char out[CIP_DOUBLE_TEXT]);

/* Appends an integer of YAML 1.1 (any base, underscores, any size) in decimal. *done is false, and
 * nothing is appended, when it is so long that converting it would take too much time. */
cip_status cip_int_decimal(cip_bytes text, cip_buf *out, bool *done, cip_err *err);

/* The value of a scalar whose tag is CIP_CORE_TAG followed by `name`, filled in as by
 * cip_yaml_resolve. False when the text is no such value: it is then a string. */
bool cip_yaml_resolve_as(cip_node *node, const char *name, const char *text, size_t len);

#endif
