/* SPDX-License-Identifier: BSD-3-Clause
 * The files that a command line names: a file, or those in a folder that is no array store itself.
 */
#ifndef CIPPUS_TOOLS_FOLDERS_H
#define CIPPUS_TOOLS_FOLDERS_H

#include "cippus/cippus.h"
#include "opts.h"

/* One file, or folder of a format. `f` is closed by the caller of this; NULL where it cannot be
 * opened, for which `err` has the reason. */
typedef void walk_fn(void *user, const char *path, const cip_file *f, const cip_err *err);

/* Calls fn for `path`; where that is a folder of no format, for all files of known formats in it,
 * and with --recursive in its folders (links are not followed, hidden ones are left out).
 * EXIT_FINE, or EXIT_FAILED where there was none, which is told. */
int walk_files(const opts *o, const char *path, walk_fn *fn, void *user);
/* Whether that is such a folder: each file then needs its name in the output. */
bool is_plain_folder(const opts *o, const char *path);

#endif
