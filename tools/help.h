/* SPDX-License-Identifier: BSD-3-Clause
 * `--help`: of the command as a whole, and of one of its commands. */
#ifndef CIPPUS_TOOLS_HELP_H
#define CIPPUS_TOOLS_HELP_H

#include "opts.h"

/* All commands of the table (up to a row without a name), by group. */
void help_overview(const command *commands);
/* One command: usage, what it does, examples and the usual options; with `all` every option. Lines
 * are as wide as the terminal, 80 columns where there is none. */
void help_command(const command *c, const opts *o);
/* What messages mean, and what to do. */
void help_errors(void);
/* Words of `text`, broken before the width; the line has `at` columns already, and those that
 * follow start at `indent`. '\n' ends a line. */
void help_wrapped(const char *text, int at, int indent);

#endif
