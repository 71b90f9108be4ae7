/* SPDX-License-Identifier: BSD-3-Clause
 * Text as Python's repr shows it, so that nothing read from a file reaches a terminal as control.
 */
#ifndef CIP_ARRAY_QUOTE_H
#define CIP_ARRAY_QUOTE_H

#include "base/buffer.h"

/* One code point between single quotes: as UTF-8 where people can see it, otherwise escaped
 * (\n, \', \x1b, \u202e, \U000e0001). `ascii`: everything outside of ASCII is escaped. */
cip_status cip_quote_code(cip_buf *b, uint32_t code, bool ascii, cip_err *err);
/* UTF-8 text with its quotes; a byte that is not part of UTF-8 becomes \xNN. */
cip_status cip_quote_utf8(cip_buf *b, const char *text, size_t len, bool ascii, cip_err *err);
/* Appends the UTF-8 of a code point, which is at most 0x10ffff. */
cip_status cip_utf8_add(cip_buf *b, uint32_t code, cip_err *err);

#endif
