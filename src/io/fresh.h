/* SPDX-License-Identifier: BSD-3-Clause
 * New files that have no name until they are complete: what ends the process before that leaves
 * nothing. Where the system has no such files they lie under a name of ours until then, locked for
 * writers, so that one that is left can be told from one that is being written. */
#ifndef CIP_IO_FRESH_H
#define CIP_IO_FRESH_H

#include "io/store.h"

typedef struct cip_fresh {
    int fd;      /* -1: none; for reading and writing */
    bool folder; /* it is one, and so has a name */
    bool named;  /* `name` is in the folder */
    int slot;    /* in the table of names that cip_remove_unfinished removes, or -1 */
    pid_t owner; /* of the file: a child of fork() shares it, and neither places nor removes it */
    char name[300]; /* the temporary name, which the file has or can be given */
} cip_fresh;

#define CIP_FRESH_NONE ((cip_fresh){ .fd = -1, .slot = -1 })
/* Names of ours begin so, or end so behind ".NAME". */
#define CIP_FRESH_PREFIX ".cip-new-"
#define CIP_FRESH_SUFFIX ".cip-new"

/* A new file in the folder. `name`: its name until it is complete, if it needs one; NULL: one that
 * nobody has. BUSY when that is taken. */
cip_status cip_fresh_open(const cip_place *p, const char *name, mode_t mode, cip_fresh *out,
                          cip_err *err);
/* The same on systems without files that have no name. */
cip_status cip_fresh_open_named(const cip_place *p, const char *name, mode_t mode, cip_fresh *out,
                                cip_err *err);
/* A new folder, which always has a name until it is complete. Owner and mode are those of *like
 * (NULL: as mkdir makes it). */
cip_status cip_fresh_open_folder(const cip_place *p, const struct stat *like, cip_fresh *out,
                                 cip_err *err);
/* The file or folder takes the place's name in one step; without `replace`, EXISTS when that does.
 * A folder that is replaced has the temporary name then. */
cip_status cip_fresh_place(const cip_place *p, cip_fresh *f, bool replace, cip_err *err);
/* Closes it, and removes it if it still has its temporary name and is this process's. */
void cip_fresh_end(const cip_place *p, cip_fresh *f);

#endif
