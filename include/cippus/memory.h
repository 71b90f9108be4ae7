/* SPDX-License-Identifier: BSD-3-Clause
 * Files in memory (cip_create_memory makes new ones), and complete files that take their names. */
#ifndef CIPPUS_MEMORY_H
#define CIPPUS_MEMORY_H

#include "cippus/change.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The file's bytes, *nbytes of them (none of a folder): borrowed until it is freed or a change of
 * it is committed (cip_change_open_memory). NULL and 0 before a commit has completed it. */
CIP_API const void *cip_memory_bytes(const cip_memory *memory, size_t *nbytes);
/** The i-th member by the order of their names: its name ("night0000.asdf", "data/0"), and its
 * bytes if asked for. Borrowed as cip_memory_bytes. NULL when there are no more. */
CIP_API const char *cip_memory_member(const cip_memory *memory, size_t i, const void **bytes,
                                      size_t *nbytes);
/** A file in memory from bytes that are there, which are copied: to be changed. */
CIP_API cip_status cip_memory_new(const void *bytes, size_t nbytes, cip_memory **out, cip_err *err);
/** Puts a member beside a complete one, a copy as well; with none of its own bytes it is a folder.
 * EXISTS when there is a member of that name. */
CIP_API cip_status cip_memory_add(cip_memory *memory, const char *name, const void *bytes,
                                  size_t nbytes, cip_err *err);
/** Opens it as cip_open does, members too, also for cip_change_begin and cip_append. It must
 * outlive *file, which can be read until an update is committed: then that is BUSY. */
CIP_API cip_status cip_memory_open(cip_memory *memory, const cip_open_options *opts,
                                   cip_file **file, cip_err *err);
/** What cip_open sees under `path` as one in memory, whole: a folder with all files beneath it (not
 * folders that are empty), a file with those beside it that its arrays lie in; an update that was
 * cut off is shown as cip_open shows it. BUSY when another one comes between. Names are opened by
 * the rules of reading: a link that leaves the folder without `allow_external` (CORRUPT), a FIFO
 * (UNSUPPORTED), more bytes together than cip_limits.max_memory (LIMIT) or a file that is missing
 * (NOT_FOUND) refuse it all, and so do `roots`, and files beside it that do not lie in its folder
 * or refer to others in turn (UNSUPPORTED). *out is the caller's to free; its memory comes from the
 * options' allocator. */
CIP_API cip_status cip_memory_load(const char *path, const cip_open_options *opts, cip_memory **out,
                                   cip_err *err);
/** Makes it a new file, or where it has members alone a new folder, under `path`: all of it or
 * nothing, as cip_change_commit does. Of the options count `overwrite`, `level`, `limits` and
 * `allocator`. EXISTS when the path exists and is not to be overwritten; a folder is replaced only
 * where it is of a format (ARG), a file beside the new one never (EXISTS). ARG for one in memory
 * that is not complete, or has nothing in it. It stays as it is. */
CIP_API cip_status cip_memory_save(const cip_memory *memory, const char *path,
                                   const cip_change_options *opts, cip_err *err);
/** Gives the complete file, or folder of a format, at `from` the name `path` in the same file
 * system, in one step and as cip_change_commit does: for files that several processes put together
 * beside their place. A file that is there is replaced under its writers' lock, after what an
 * interrupted update left of it is completed, and gives its mode, owner and extended attributes on.
 * Of the options count `overwrite`, `level`, `limits` and `allocator`; what is in a folder is as
 * durable as it was written. EXISTS when `path` exists and is not to be overwritten; BUSY when
 * somebody updates either of them; ARG for a folder of no format, or one that is to replace a file
 * or the other way about; IO for another file system. After a failure `from` is where it was. */
CIP_API cip_status cip_publish(const char *from, const char *path, const cip_change_options *opts,
                               cip_err *err);
/** After the change has ended. NULL is fine. */
CIP_API void cip_memory_free(cip_memory *memory);

#ifdef __cplusplus
}
#endif
#endif
