/* SPDX-License-Identifier: BSD-3-Clause
 * How readers tell updates of ours that leave all they read in place from changes by other
 * programs, who write over it: the extended attribute "user.cippus.switches" of a file
 * (docs/decisions/switches-of-a-file.md). It names a series of updates, and the states of the file
 * in front of the first and behind the last one. While one is going on its writer has the byte
 * CIP_LOCK_SWITCHES. */
#ifndef CIP_IO_SWITCHES_H
#define CIP_IO_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "io/lock_file.h"

typedef struct cip_switches {
    uint64_t series; /* not 0 */
    uint64_t first, last;
} cip_switches;

/* A file's state between two changes as one number: which file it is, its length, when it was
 * written to, and what `lock_file` (may be NULL) counts as of cip_lock_file_note. */
uint64_t cip_switches_state(const struct stat *st, const cip_lock_file *lock_file);
/* False where there is none, or none that is understood. */
bool cip_switches_get(int fd, cip_switches *out);
bool cip_switches_put(int fd, const cip_switches *s);
void cip_switches_clear(int fd);
/* The series whose last state this is, or 0. */
uint64_t cip_switches_series(int fd, uint64_t state);
/* Whether all changes of the file since it was in the state `opened`, then the last one of `series`
 * (0: of none), were updates of one series. To be asked behind a read that is to be believed. */
bool cip_switches_cover(int fd, uint64_t opened, uint64_t series, const cip_lock_file *lock_file);

#endif
