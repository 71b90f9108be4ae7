/* SPDX-License-Identifier: BSD-3-Clause
 * What the implementations of an io share with each other and nobody else. */
#ifndef CIP_IO_IO_IMPL_H
#define CIP_IO_IO_IMPL_H

#include "base/num.h"
#include "io/file_io.h"
#include "io/patch.h"

/* "cannot VERB 'NAME'" and what errno says. */
cip_status cip_fail_named(cip_err *err, uint64_t offset, const char *verb, const char *name);
/* Reads n bytes, or as many as there are: *got. What the system says, or 0. */
int cip_fd_read(int fd, uint64_t off, void *dst, size_t n, size_t *got);

/* The folder that `path` lies in, by its absolute path. */
cip_status cip_folder_new(cip_mem *mem, const char *path, cip_folder **out, cip_err *err);
cip_folder *cip_folder_keep(cip_folder *f);
void cip_folder_drop(cip_folder *f); /* NULL is fine */
/* Opens it now, so that it stays the same folder and can be locked; before anybody uses it. `fd`: a
 * descriptor of it, which stays the caller's, or -1: by its path. */
cip_status cip_folder_hold(cip_folder *f, int fd, cip_err *err);
/* A descriptor of it that was opened so; -1: it may not be read. Borrowed. */
int cip_folder_descriptor(const cip_folder *f);
/* Its absolute path with a slash at the end, borrowed. */
const char *cip_folder_path(const cip_folder *f);
/* The file at `name`, absolute or from `inside` of the folder, wherever that is. */
cip_status cip_folder_open_outside(cip_env *env, const cip_folder *f, const char *inside,
                                   const char *name, cip_io **out, cip_err *err);
/* A descriptor for `path` beneath the folder; `shown` is what errors call it. */
cip_status cip_folder_open_beneath(cip_folder *f, const char *path, const char *shown, int *fd,
                                   cip_err *err);
/* The same without openat2: follows no link at all. Apart for the tests. */
cip_status cip_folder_walk(int dirfd, const char *path, const char *shown, int *fd, cip_err *err);

/* The descriptor of a folder io, borrowed; -1: it has none, or is of another kind. */
int cip_folder_io_descriptor(const cip_io *io);
/* The absolute path of a folder io that has a descriptor, borrowed; else NULL. */
const char *cip_folder_io_path(const cip_io *io);
/* cip_io_taken_back of one; nothing for others. */
void cip_folder_io_taken_back(cip_io *io);

/* Whether a sealed journal's operations on members are ones that a crash may have left half made.
 * CORRUPT. `piece`: room for CIP_CHECK_PIECE bytes. */
enum { CIP_CHECK_PIECE = 64 << 10 };
cip_status cip_journal_check_members(cip_io *file, const cip_patch *p, uint8_t *piece,
                                     cip_err *err);
/* Whether the bytes there are old or new ones of the write. CORRUPT. */
cip_status cip_journal_check_write(cip_io *file, const cip_patch_op *op, uint8_t *piece,
                                   cip_err *err);
/* A member as it is after the operations of `patch`, opened through `under`'s own way. */
cip_status cip_patch_open_member(cip_io *under, const cip_patch *patch, const char *name,
                                 uint32_t flags, cip_io **out, cip_err *err);

/* A memory io that frees `ptr` (of cip_mem) at close; on failure too. */
cip_status cip_memory_own(cip_env *env, void *ptr, uint64_t n, const char *name, cip_io **out,
                          cip_err *err);

/* Puts the answer of a method of the caller's in order: a failing status may be any number, a
 * reason may be missing or unterminated. `own` is what it filled. */
cip_status cip_user_status(int status, const char *method, uint64_t offset, cip_err *own,
                           cip_err *err);

/* Names that changes of `under` are about, from its root; `view` shows it after them. */
typedef struct cip_changed_names {
    cip_io *view, *under;
    const char **name;
    size_t n;
} cip_changed_names;
/* The `list` of such a view. */
cip_status cip_io_list_changed(const cip_changed_names *c, const char *path, uint32_t flags,
                               cip_io_list_fn *fn, void *user, cip_err *err);

/* What is wrong with an operation (see cip_patch_add), or NULL. */
const char *cip_patch_op_fault(const cip_patch_op *op);
/* CORRUPT for a path that is not plain like a member's name. */
cip_status cip_io_check_beneath(const char *path, cip_err *err);
/* How long the file itself is after all operations, if it had `size` bytes before. */
uint64_t cip_patch_size_after(const cip_patch *p, uint64_t size);

#endif
