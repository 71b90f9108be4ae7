/* SPDX-License-Identifier: BSD-3-Clause
 * Code points of UTF-8 text, and which of them are not to be shown as they are. */
#ifndef CIP_TREE_UTF8_H
#define CIP_TREE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes (1 to 4) of the code point at p, of which n > 0 bytes are there, and the code point in *cp;
 * 0 for what is no UTF-8: cut short, overlong, a surrogate, beyond U+10FFFF. */
unsigned cip_utf8_get(const uint8_t *p, size_t n, uint32_t *cp);

/* Whether all n bytes are such code points. */
bool cip_utf8_is(const void *p, size_t n);

/* True for what a terminal or an editor may obey instead of show: C0 and C1 controls (tab and line
 * feed too), DEL, the line and paragraph separators, bidirectional marks and overrides, the byte
 * order mark, U+FFFE and U+FFFF. */
bool cip_utf8_unsafe(uint32_t cp);

#endif
