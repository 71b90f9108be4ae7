/* SPDX-License-Identifier: BSD-3-Clause
 * Ios that are files or folders of the system: by their descriptors, and which file they are. */
#ifndef CIP_IO_FILE_IO_H
#define CIP_IO_FILE_IO_H

#include <limits.h>
#include <sys/stat.h>

#include "io/io.h"

/* The folder that members are looked up in. A file and its members share one, so that they cost
 * one descriptor; it is opened on first use. */
typedef struct cip_folder cip_folder;
/* A file io that takes `fd` over, on failure too. UNSUPPORTED when it is not a regular file.
 * `folder` may be NULL (no members) and is kept; `inside` is the io's own folder relative to it, ""
 * or with a slash at the end. */
cip_status cip_file_new(cip_env *env, int fd, const char *name, cip_folder *folder,
                        const char *inside, cip_io **out, cip_err *err);
/* The descriptor of the file that byte *off of the io lies in, and where there; -1: in none. The
 * bytes up to the io's end lie behind it. Borrowed. */
int cip_io_descriptor(cip_io *io, uint64_t *off);
/* As cip_place_follow; for what was opened by that path, mostly without asking the system again. */
const char *cip_io_followed(const cip_io *io, const char *path, char real[PATH_MAX]);
/* Which file a file io is, its length and time as of open; false for other ios. */
bool cip_file_opened(const cip_io *io, struct stat *st);
/* What fstat says of a file io now; false for other ios. */
bool cip_io_stat(cip_io *file, struct stat *st);
/* What fstat says of a file io or a folder io now. */
bool cip_target_stat(cip_io *io, struct stat *st);

#endif
