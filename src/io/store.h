/* SPDX-License-Identifier: BSD-3-Clause
 * Named files as they are written: the one place of the library that creates, changes, renames and
 * removes them. What is done when, so that a crash leaves the old or the new file, is the commit's
 * business (core/commit/commit.h). */
#ifndef CIP_IO_STORE_H
#define CIP_IO_STORE_H

#include <limits.h>
#include <sys/stat.h>

#include "io/io.h"

/* ARG in a child of the process `owner`, which fork() gave a copy of what that process writes: its
 * files are shared, its locks too, and one of the two must leave them alone. */
cip_status cip_owned(pid_t owner, cip_err *err);

/* Where a file lies: its folder, by descriptor, and its name there. */
typedef struct cip_place {
    cip_mem *mem;
    int dir;    /* -1: closed */
    char *name; /* without a slash */
} cip_place;

/* `path`, or where it leads when it is a symbolic link that leads somewhere. */
const char *cip_place_follow(const char *path, char real[PATH_MAX]);
/* `path` so that it goes on naming the same file when the process changes its working directory,
 * from `mem`. Where that directory has no path any more it stays relative ("./..."). */
cip_status cip_path_absolute(cip_mem *mem, const char *path, char **out, cip_err *err);
/* The place of `path`; a symbolic link is followed first, so that what is there is changed and not
 * the link. The file need not exist, its folder must. ARG for a path without a name. */
cip_status cip_place_open(cip_mem *mem, const char *path, cip_place *out, cip_err *err);
/* That of another name in the same folder, by descriptor. */
cip_status cip_place_sibling(const cip_place *p, const char *name, cip_place *out, cip_err *err);
/* That of a plain name in the folder or in one below it, which must be there; no link is followed.
 */
cip_status cip_place_beneath(const cip_place *p, const char *name, cip_place *out, cip_err *err);
/* A zeroed one with dir -1, or one that was closed, is fine. */
void cip_place_close(cip_place *p);
/* ".NAME" and the suffix, from `mem`. LIMIT when no file can have so long a name. */
cip_status cip_name_beside(cip_mem *mem, const char *name, const char *suffix, char **out,
                           cip_err *err);
/* The same of the place's own name, from its memory. */
cip_status cip_place_beside(const cip_place *p, const char *suffix, char **name, cip_err *err);

/* A folder itself as a place, whose files are called by their names. The place's own is "". */
cip_status cip_place_folder(cip_mem *mem, const char *path, cip_place *out, cip_err *err);

/* Opens `name` in the folder: O_NOFOLLOW, O_NONBLOCK, O_NOCTTY and O_CLOEXEC are added. READONLY
 * where the system grants no writing, BUSY where O_EXCL finds the name taken. */
cip_status cip_store_open(const cip_place *p, const char *name, int flags, mode_t mode, int *fd,
                          cip_err *err);
/* A file without a name, gone when it is closed: in the folder of `beside` (a path; may be NULL),
 * else in $TMPDIR or /tmp. */
cip_status cip_store_temporary(const char *beside, int *fd, cip_err *err);

/* All n bytes at off. */
cip_status cip_store_write(int fd, uint64_t off, const void *p, size_t n, cip_err *err);
/* Cuts, or extends by zeros. */
cip_status cip_store_resize(int fd, uint64_t nbytes, cip_err *err);
/* n bytes of `io` from `off` on to `at` in fd; by reference where both are files and the system can
 * share or copy by itself. The ranges must not overlap in one file. */
cip_status cip_store_copy(int fd, uint64_t at, cip_io *io, uint64_t off, uint64_t n, cip_err *err);
/* Moves [from, end) within the file to `to`, earlier or later, overlapping or not. */
cip_status cip_store_move(int fd, uint64_t from, uint64_t end, uint64_t to, cip_err *err);
/* n bytes of value `fill` at off. */
cip_status cip_store_fill(int fd, uint64_t off, uint8_t fill, uint64_t n, cip_err *err);
/* What was written is on the medium afterwards, and the file's length. */
cip_status cip_store_sync(int fd, cip_err *err);
/* So are its mode, owner and attributes. */
cip_status cip_store_sync_all(int fd, cip_err *err);
/* So are the names in the folder. */
cip_status cip_place_sync(const cip_place *p, cip_err *err);

/* Within the folder. Without `replace`, BUSY when `to` exists. */
cip_status cip_store_rename(const cip_place *p, const char *from, const char *to, bool replace,
                            cip_err *err);
/* A name that is not there is fine. */
cip_status cip_store_unlink(const cip_place *p, const char *name, cip_err *err);
/* From one folder to another of the same file system. */
cip_status cip_store_rename_to(const cip_place *p, const char *from, const cip_place *q,
                               const char *to, bool replace, cip_err *err);
/* A new folder that has owner and mode of *like (NULL: as mkdir makes it); BUSY when the name is
 * taken. */
cip_status cip_store_make_folder(const cip_place *p, const char *name, const struct stat *like,
                                 cip_err *err);
/* An empty one, or none; BUSY when there is something in it. */
cip_status cip_store_remove_folder(const cip_place *p, const char *name, cip_err *err);
/* Two names change places at once. UNSUPPORTED where the file system cannot. */
cip_status cip_store_exchange(const cip_place *p, const char *a, const char *b, cip_err *err);
/* A folder and all in it; links go, not what they lead to. One that is not there is fine. */
cip_status cip_store_remove_tree(const cip_place *p, const char *name, cip_err *err);
/* The files in a folder beneath, those that are regular and of *like's owner or ours, and itself.
 * BUSY when anything else is in it; one that is not there is fine. */
cip_status cip_store_clear_folder(const cip_place *p, const char *name, const struct stat *like,
                                  cip_err *err);

/* Gives the new file `fd` the owner (where we may), mode and extended attributes (those that can be
 * read and set) of the file `like`, whose stat is *st. Where even the group is not ours to give,
 * the mode has nothing for it, and for others no more than it had. */
cip_status cip_store_take_after(cip_mem *mem, int fd, int like, const struct stat *st,
                                cip_err *err);

typedef enum cip_lock {
    CIP_LOCK_HELD = 0,  /* it is ours until the descriptor's last copy is closed */
    CIP_LOCK_TAKEN = 1, /* somebody else has it */
    CIP_LOCK_NONE = 2   /* this file system cannot lock */
} cip_lock;

/* Locks (of open file descriptions) on single bytes far behind any data (design section 2). A
 * folder's, of a descriptor for reading, are the same to their callers: the writers' is flock, and
 * who wants the readers' for himself alone says so by a lock on a third byte, which readers look
 * at when they have theirs. */
#define CIP_LOCK_WRITERS (UINT64_C(1) << 62)
#define CIP_LOCK_READERS ((UINT64_C(1) << 62) + 1)
/* Of files: its holder, who has the writers', leaves all bytes in place that readers may want. */
#define CIP_LOCK_SWITCHES ((UINT64_C(1) << 62) + 3)
/* Tries once. `shared`: any number of holders, and a descriptor for reading will do. */
cip_lock cip_store_lock(int fd, uint64_t at, bool shared);
/* The same, shared, of what is known to be a file. */
cip_lock cip_store_share(int fd, uint64_t at);
void cip_store_unlock(int fd, uint64_t at);
/* Whether somebody else holds it; nothing is locked. */
bool cip_store_is_locked(int fd, uint64_t at);

#endif
