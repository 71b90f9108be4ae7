/* SPDX-License-Identifier: BSD-3-Clause
 * What commands print: escaped texts, JSON, complaints, progress. */
#ifndef CIPPUS_TOOLS_PRINT_H
#define CIPPUS_TOOLS_PRINT_H

#include <stdio.h>

#include "cippus/cippus.h"
#include "opts.h"

/* The text with control and bidi characters, and bytes that are no UTF-8, as \x1b or \u202e. */
void print_escaped(FILE *f, const char *text);
/* Whether what is behind the name is asked for by requests. */
bool is_url(const char *name);
/* The same of the name of a file; of a URL without user, password and query. */
void print_file_name(FILE *f, const char *name);
/* A message of the library, escaped: a field of its options (" .accept_loss") is told as the
 * command's option, and its function (" cip_recover") as the command. */
void print_words(FILE *f, const char *text);
/* Whether a JSON string can have the text as it is. */
bool print_is_utf8(const char *text);
/* The text as a JSON string, quotes included; invalid UTF-8 becomes U+FFFD. */
void print_json_string(FILE *f, const char *text);
/* A finite number, or NaN and infinities as strings. */
void print_json_double(FILE *f, double v);
/* A scalar of a tree: null, a boolean, a number (integers over 64 bits as strings) or a string. */
void print_json_scalar(FILE *f, const cip_node *n);
/* "[2, 3]"; the same in JSON. */
void print_shape(FILE *f, const int64_t *shape, int ndim);
/* "1.5 MiB (1572864 bytes)". */
void print_nbytes(FILE *f, uint64_t n);

/* One line to stderr: "cippus: FILE: what (part, byte N): text"; returns EXIT_FAILED, or EXIT_USAGE
 * where the call was wrong. */
int complain(const char *file, const cip_err *err);
/* The file's warnings from number `first` on, one line each, to stderr; returns how many there are.
 */
size_t print_warnings(const char *name, const cip_file *f, size_t first);
/* What a call told on its way, to stderr: "cippus: NAME: KIND PART: TEXT", its part if it has one;
 * `kind` is "" or ends with a blank. */
void print_told(const char *name, const char *kind, const cip_finding *f);
/* "warning", "damage", ...: a finding's severity in words, and in JSON. */
const char *severity_name(cip_severity s);

/* Columns of the terminal that standard output is; 80 where it is none. */
int terminal_width(void);
/* Its lines; 24 where it is none. */
int terminal_height(void);

/* A cip_write_fn over stdout. */
int write_stdout(void *user, const void *bytes, size_t n);
/* Flushes stdout; EXIT_FAILED with a complaint when that fails, otherwise rc. */
int finish_stdout(int rc);

/* Opens with the options of the command; complains and returns NULL on failure. */
cip_file *open_file(const char *path, const opts *o);
/* The same options for calls that open by themselves. `limits` must outlive the result's use. */
cip_open_options open_options(const opts *o, cip_limits *limits);

#endif
