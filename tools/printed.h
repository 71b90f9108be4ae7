/* SPDX-License-Identifier: BSD-3-Clause
 * What a command prints as a file (`cat -o`, `convert` to csv, tsv, json and jsonl), and in which
 * form. */
#ifndef CIPPUS_TOOLS_PRINTED_H
#define CIPPUS_TOOLS_PRINTED_H

#include "cippus/cippus.h"
#include "opts.h"

/* From here on standard output is a new file beside `path`, which takes that name at the end; "-":
 * it stays what it is. EXIT_FINE, or the exit status after a complaint: a file that is there and
 * not to be overwritten, a folder that cannot be written to. */
int output_begin(const opts *o, const char *path);
/* The file appears under its name if rc is EXIT_FINE; else nothing is left. The exit status. */
int output_end(const opts *o, const char *path, int rc);
/* For a handler of signals that end the process. */
void output_remove_unfinished(void);

/* "csv", "tsv", "json", "jsonl", "npy", "raw": what a file's name tells; NULL: none of them. */
const char *output_kind(const char *path);
/* Whether bytes that are no text would go to a terminal, after a complaint. */
bool refuse_terminal(bool binary);

/* cip_export to stdout, which knows `tsv` too: csv with tabs. */
cip_status export_stdout(const cip_array *array, const cip_read_args *args, const char *to,
                         cip_err *err);

#endif
