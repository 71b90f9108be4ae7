/* SPDX-License-Identifier: BSD-3-Clause
 * One line about what was done as asked, but perhaps not as meant. */
#ifndef CIPPUS_TOOLS_NOTES_H
#define CIPPUS_TOOLS_NOTES_H

#include "cippus/cippus.h"
#include "opts.h"

/* Tells `tell` (as a note) of arrays in a new file `out` whose --codec did not make them smaller;
 * `path` NULL: any of them, else that one. */
void note_unshrunk(const opts *o, const char *out, const char *path, cip_finding_fn *tell,
                   void *user);
/* To stderr, before the work begins: --codec is slow, where `nbytes` of input make that matter. */
void note_slow_codec(const opts *o, uint64_t nbytes);
/* Bytes of a file; 0 for what is none. */
uint64_t file_nbytes(const char *path);

/* What an update of o->pos[0] is about to take away, before it starts: "" or a line for
 * note_print. */
typedef struct loss_note {
    char text[400];
} loss_note;
/* Arrays at `path` or below, with their sizes. */
loss_note note_of_removal(const opts *o, const char *path);
/* Elements of the array at `path` that its new shape has not. */
loss_note note_of_shape(const opts *o, const char *path, int ndim, const int64_t *shape);
/* To stderr, when rc says that the update was made or planned. Returns rc. */
int note_print(const opts *o, const loss_note *n, int rc);

#endif
