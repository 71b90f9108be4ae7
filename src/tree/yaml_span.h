/* SPDX-License-Identifier: BSD-3-Clause
 * Where things lie in a YAML text that libyaml's marks do not say: ends without trailing blanks and
 * comments, indicators, lines. All places are bytes of t->text. */
#ifndef CIP_TREE_YAML_SPAN_H
#define CIP_TREE_YAML_SPAN_H

#include "tree/yaml_marks.h"

/* Past blanks, line breaks and comments. */
size_t cip_span_skip(const cip_yaml_text *t, size_t at);
/* The first byte of the line that holds `at`, behind a byte order mark. */
size_t cip_span_line(const cip_yaml_text *t, size_t at);
/* The end of that line: its break, or the end of the text. */
size_t cip_span_line_end(const cip_yaml_text *t, size_t at);
/* The same behind the break. */
size_t cip_span_next_line(const cip_yaml_text *t, size_t at);
/* Nothing but blanks from the line's start to `at`. */
bool cip_span_leads(const cip_yaml_text *t, size_t at);
/* A line break lies in [from, to). */
bool cip_span_breaks(const cip_yaml_text *t, size_t from, size_t to);
/* The text's own line break. */
const char *cip_span_eol(const cip_yaml_text *t);

/* Marks. A collection is in flow style when it has brackets or lies within some. */
bool cip_span_is_flow(const cip_yaml_text *t, uint32_t collection);
/* Whether the node lies in a collection in flow style. */
bool cip_span_in_flow(const cip_yaml_text *t, uint32_t i);
/* A scalar without a byte of content (anchor and tag it may have). */
bool cip_span_is_empty(const cip_yaml_text *t, uint32_t i);
/* A literal or folded scalar that keeps blank lines at its end. */
bool cip_span_keeps_lines(const cip_yaml_text *t, uint32_t i);
/* The mark of the key of the pair whose value is `i`, or CIP_NO_MARK in sequences and at the root.
 * Takes time in proportion to the pairs. */
uint32_t cip_span_key(const cip_yaml_text *t, uint32_t i);

/* One past the last byte of a node: without what libyaml adds to block style. */
size_t cip_span_end(const cip_yaml_text *t, uint32_t i);
/* One past the last byte of the last child of a collection that has one. */
size_t cip_span_inner(const cip_yaml_text *t, uint32_t collection);
/* The last mark of a node that has text of its own. */
uint32_t cip_span_last(const cip_yaml_text *t, uint32_t i);
/* Where a collection begins behind its anchor and tag; *props is the end of those, or
 * CIP_NO_OFFSET. */
size_t cip_span_content(const cip_yaml_text *t, uint32_t collection, uint64_t *props);
/* Behind the `:` of the key `key`; *colon tells whether there is one (else: behind the key). */
size_t cip_span_colon(const cip_yaml_text *t, uint32_t key, bool *colon);
/* Where the item or pair (whose key is) `i` begins, indicators `-` and `?` included; `before` is
 * the item or value in front of it, or CIP_NO_MARK. */
size_t cip_span_entry(const cip_yaml_text *t, uint32_t i, uint32_t before);

#endif
