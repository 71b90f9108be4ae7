/* SPDX-License-Identifier: BSD-3-Clause
 * How far long work has come, on a terminal. */
#ifndef CIPPUS_TOOLS_PROGRESS_H
#define CIPPUS_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* One line on a terminal's stderr, after a second: " 42 %  120.0 MiB/s  0:17 left". */
typedef struct progress {
    bool off, shown;
    const char *unit;    /* of what is counted: "elements"; NULL: bytes */
    double start, last;  /* seconds; 0: nothing was told yet */
    uint64_t from, done; /* at the start, and last */
} progress;

/* A cip_progress_fn. Work that begins at less than was told last is another one. */
int show_progress(void *user, uint64_t done, uint64_t total);
/* Takes the line away, as others follow. */
void hide_progress(progress *p);

#endif
