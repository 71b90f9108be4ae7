/* SPDX-License-Identifier: BSD-3-Clause
 * What the commands that change a file in place share: how they begin, and how they end with a
 * commit, a plan or nothing. */
#ifndef CIPPUS_TOOLS_UPDATE_H
#define CIPPUS_TOOLS_UPDATE_H

#include "cippus/change.h"
#include "print.h"

/* Starts an update of the file o->pos[0] with the command's options; EXIT_FINE, or the exit status
 * after a complaint. */
int update_start(const opts *o, cip_change **edit);
/* After a complaint: whose input is the file that changes is told that who reads it keeps its bytes
 * from being written over. */
void update_hint(const opts *o, const char *input, const cip_err *err);
/* Ends it, whatever `st`, what its changes came to: a commit, or with --dry-run its plan; otherwise
 * a complaint, with the nearest path where PATH is none, and nothing. Returns the exit status. */
int update_finish(const opts *o, cip_change *edit, cip_status st, cip_err *err);
/* The same; the plan begins with a line (or NULL) that says what changes for the user. */
int update_finish_saying(const opts *o, cip_change *edit, cip_status st, cip_err *err,
                         const char *line);
/* Ends it without a word: a complaint was made. Returns rc. */
int update_give_up(cip_change *edit, int rc);
/* The same where an object of JSON is open on stdout: the plan is a further key, and it is closed.
 */
int update_finish_object(const opts *o, cip_change *edit, cip_status st, cip_err *err);

#endif
