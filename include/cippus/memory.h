/* SPDX-License-Identifier: BSD-3-Clause
 * Files in memory (cip_create_memory makes new ones), and complete files that take their names. */
#ifndef CIPPUS_MEMORY_H
#define CIPPUS_MEMORY_H

#include "cippus/change.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The file's bytes, *nbytes of them (none for a folder), borrowed until it is freed or a change of
 * it is committed (cip_change_open_memory). NULL and 0 before a commit has completed it. */
CIP_API const void *cip_memory_bytes(const cip_memory *memory, size_t *nbytes);
/** The i-th member by the order of their names: its name ("night0000.asdf", "data/0"), and its
 * bytes if asked for. Borrowed as cip_memory_bytes. NULL when there are no more. */
CIP_API const char *cip_memory_member(const cip_memory *memory, size_t i, const void **bytes,
                                      size_t *nbytes);
/** A file in memory, made of a copy of these bytes, to be changed. */
CIP_API cip_status cip_memory_new(const void *bytes, size_t nbytes, cip_memory **out, cip_err *err);
/** Adds a member, a copy as well, to a complete file. A file without bytes of its own is then a
 * folder. EXISTS when there is a member of that name. */
CIP_API cip_status cip_memory_add(cip_memory *memory, const char *name, const void *bytes,
                                  size_t nbytes, cip_err *err);
/** Opens it as cip_open does, members too, also for cip_change_begin and cip_append. It must
 * outlive *file. Once an update is committed, reading *file is BUSY. */
CIP_API cip_status cip_memory_open(cip_memory *memory, const cip_open_options *opts,
                                   cip_file **file, cip_err *err);
/** Loads into memory everything that cip_open sees under `path`: a folder with all files in it
 * (except empty folders), or a file with the files that contain its arrays. An interrupted update
 * is loaded as cip_open shows it. BUSY if another update comes between. Names are opened by the
 * rules of reading, and one failure refuses everything. CORRUPT: a link that leaves the folder,
 * without `allow_external`. LIMIT: more bytes together than cip_limits.max_memory. NOT_FOUND: a
 * missing file. UNSUPPORTED: a FIFO, `roots`, and other files that are not in its folder or refer
 * to further files. *out is the caller's to free; its memory comes from the options' allocator. */
CIP_API cip_status cip_memory_load(const char *path, const cip_open_options *opts, cip_memory **out,
                                   cip_err *err);
/** Saves it as a new file at `path`, or as a new folder if it has only members: all of it or
 * nothing, as cip_change_commit does. The options used are `overwrite`, `level`, `limits` and
 * `allocator`. EXISTS if the path exists and is not to be overwritten. A folder is replaced only if
 * it is of a format (ARG), a file next to the new one never (EXISTS). ARG for a memory that is not
 * complete or empty. The memory stays as it is. */
CIP_API cip_status cip_memory_save(const cip_memory *memory, const char *path,
                                   const cip_change_options *opts, cip_err *err);
/** Gives the complete file, or folder of a format, at `from` the name `path` in the same file
 * system, in one step as cip_change_commit does. It is for files that several processes put
 * together elsewhere. An existing file is replaced under its writers' lock, after an interrupted
 * update of it is completed; its mode, owner and extended attributes are kept. The options used are
 * `overwrite`, `level`, `limits` and `allocator`. The contents of a folder are as durable as they
 * were written. EXISTS if `path` exists and is not to be overwritten. BUSY if another program
 * updates one of them. ARG for a folder of no format, and for a folder that would replace a file or
 * the other way round. IO for another file system. After a failure, `from` is where it was. */
CIP_API cip_status cip_publish(const char *from, const char *path, const cip_change_options *opts,
                               cip_err *err);
/** After the change has ended. NULL is fine. */
CIP_API void cip_memory_free(cip_memory *memory);

#ifdef __cplusplus
}
#endif
#endif
