/* SPDX-License-Identifier: BSD-3-Clause
 * Lock files that other programs keep beside a file of theirs: who changes the file holds a flock
 * of the lock file for himself, who reads shares one. Behind its first 8 bytes a number of 8 bytes,
 * in the machine's order, counts the changes: it rises before each, so that what is read is of one
 * state when the number is the same behind the reading. Ours are never made: where there is none,
 * nobody looks for one. */
#ifndef CIP_IO_LOCK_FILE_H
#define CIP_IO_LOCK_FILE_H

#include "io/store.h"

typedef struct cip_lock_file {
    int fd;
    uint64_t count; /* as of cip_lock_file_note */
} cip_lock_file;

#define CIP_LOCK_FILE_NONE ((cip_lock_file){ .fd = -1 })

/* The lock file `name` (or a path) in the folder `dir` (or AT_FDCWD); out->fd is -1 where there is
 * none. Refused (UNSUPPORTED) is what no program makes: a link, no regular file, one of several
 * names or of over 4 KiB. READONLY, IO: it cannot be opened, `change`: for writing. */
cip_status cip_lock_file_open(int dir, const char *name, bool change, cip_lock_file *out,
                              cip_err *err);
/* Tries once. */
cip_lock cip_lock_file_take(const cip_lock_file *f, bool shared);
void cip_lock_file_let(const cip_lock_file *f); /* NULL is fine */
/* Notes how many changes it counts. */
void cip_lock_file_note(cip_lock_file *f);
/* Whether it counts as many as were noted. */
bool cip_lock_file_is_same(const cip_lock_file *f);
/* One change more, which is to come: while the lock is held. */
cip_status cip_lock_file_count(const cip_lock_file *f, cip_err *err);
void cip_lock_file_close(cip_lock_file *f);

#endif
