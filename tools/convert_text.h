/* SPDX-License-Identifier: BSD-3-Clause
 * `convert` to csv, tsv and JSON. */
#ifndef CIPPUS_TOOLS_CONVERT_TEXT_H
#define CIPPUS_TOOLS_CONVERT_TEXT_H

#include "cippus/cippus.h"
#include "opts.h"

/* "csv", "tsv", "json" or "jsonl" where --format or the output's name tells one of them; else NULL.
 */
const char *convert_text_kind(const opts *o);
/* One array or table as such a text; what is left out is told to `tell`. The exit status. */
int convert_text(const opts *o, const char *kind, cip_finding_fn *tell, void *user);

#endif
