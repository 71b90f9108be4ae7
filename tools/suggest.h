/* SPDX-License-Identifier: BSD-3-Clause
 * "did you mean": the nearest of the names that there are to one that is none of them. */
#ifndef CIPPUS_TOOLS_SUGGEST_H
#define CIPPUS_TOOLS_SUGGEST_H

#include <stdbool.h>

#include "cippus/cippus.h"
#include "opts.h"

/* Start with { .wanted = NAME }. */
typedef struct suggestion {
    const char *wanted;
    unsigned rank;  /* of `name`; 0: none was near so far */
    bool ambiguous; /* another name fits as well, and neither is nearer */
    bool there;     /* the path that was wanted is one of them */
    char name[120];
} suggestion;

/* One of the names that there are. In order of nearness: equal but for case; the only one that ends
 * with wanted as its last steps (`data` for `roman/data`); the only one that begins with it; the
 * one with the fewest changed letters, at most a third of them. */
void suggest_offer(suggestion *s, const char *name);
/* The nearest, or NULL where none is near enough. */
const char *suggest_found(const suggestion *s);

/* Ends a line on stderr with "; did you mean 'PREFIXname'?"; false, and nothing is printed, where
 * no name is near. */
bool suggest_print(const suggestion *s, const char *prefix);

/* Adds "; did you mean 'PATH'?" to the text of an error that says that `path` is none of the file's
 * nodes; where `arrays`, only arrays and fields of records are proposed. Leaves any other error as
 * it is. */
void suggest_path(const cip_file *f, const char *path, bool arrays, cip_err *err);
/* The same of a file that the library opened by itself, or whose update failed: it is opened once
 * more. */
void suggest_path_in(const char *file, const opts *o, const char *path, bool arrays, cip_err *err);

#endif
