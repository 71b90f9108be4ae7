/* SPDX-License-Identifier: BSD-3-Clause
 * FILE/PATH[SLICE] in one word, and slices without brackets. */
#ifndef CIPPUS_TOOLS_JOINED_H
#define CIPPUS_TOOLS_JOINED_H

#include "opts.h"

/* Takes apart what o->pos has in one word, for commands that take FILE PATH, FILE PATH SLICE or, as
 * convert, FILE --path PATH: the
 * file with the rest behind a "/" or "[", a path with a slice behind it, a slice without brackets
 * ("0:3"; an index alone is none). What there is of that name is never taken apart: first a file,
 * then a node of the file. EXIT_FINE, or the exit status after a complaint. */
int split_joined(const command *c, opts *o);

#endif
