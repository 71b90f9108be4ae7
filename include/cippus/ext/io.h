/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes from anywhere and to anywhere: methods of an application for files in memory, in an object
 * store or in a test. */
#ifndef CIPPUS_EXT_IO_H
#define CIPPUS_EXT_IO_H

#include <stdbool.h>

#include "cippus/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A wanted range of bytes and the memory it goes to. */
typedef struct cip_range {
    uint64_t offset;
    size_t nbytes;
    void *dst;
} cip_range;

/** Takes a name of a folder's listing; not 0 ends that. */
typedef int cip_io_list_fn(void *user, const char *name, bool is_folder);

struct cip_io_write_methods;

/** Read access to one file. All functions may be called from any thread at the same time. They
 *  return a status and say why in `err`, which is never NULL here. */
typedef struct cip_io_methods {
    size_t struct_size; /* sizeof(cip_io_methods) */
    /** Fills every range, or fails. Ranges rise, do not overlap, are not empty and lie within the
     *  size. A call is assumed to cost more than its bytes. So a small read asks for 4 KiB, and
     * ranges that many chunks need come in one call. A failed call may be repeated. Up to 16 MiB of
     * the bytes are kept for later reads, so they may not change meanwhile. */
    cip_status (*read_ranges)(void *user, const cip_range *range, size_t nrange, cip_err *err);
    /** Total bytes. Called once, when the file is opened (by an update once more). 0 for a folder,
     * which has only members (open_member must then exist). */
    cip_status (*size)(void *user, uint64_t *nbytes, cip_err *err);
    /** Opens a member next to the file (`name` is relative, percent-decoded, without "..") with
     *  methods and a user pointer of its own; NULL: there are none. *methods comes zeroed. */
    cip_status (*open_member)(void *user, const char *name, struct cip_io_methods *methods,
                              void **member_user, cip_err *err);
    /** Returns the user pointer; may be NULL. One rule for this and cip_io_write_methods.close:
     * whichever call took the pointer, also an open_member or create_member of the caller, it is
     * returned exactly once. That is when the opened object ends, or before the call that failed
     * returns. The exception is methods that are NULL or of another struct_size, because they are
     * unknown. */
    void (*close)(void *user);
    /** For cip_change_begin and cip_append on a file of cip_open_io, which are UNSUPPORTED unless
     * both this and `version` exist. `open_write` gives methods that write the file (*methods comes
     *  zeroed) and a user pointer of their own; the update reads by the methods above. */
    cip_status (*open_write)(void *user, struct cip_io_write_methods *methods, void **write_user,
                             cip_err *err);
    /** A number that differs after each change of the file or of a member, whoever made it: a
     * count, the hash of an entity tag. By it an update knows whether the file has changed since it
     * was opened, and a file that it changed is not read on (BUSY). Called at opening, by an update
     * before it begins and before it writes, and from then on by each read. */
    cip_status (*version)(void *user, uint64_t *version, cip_err *err);
    /** Calls `fn` with each name in the folder at `path` ("": the folder that is the file, or
     * contains it; no slash at either end). The order is free, and a folder may come several times.
     * If fn returns not 0, this ends without failure. NOT_FOUND if there is no such folder. NULL:
     * UNSUPPORTED for everything that needs it. (Formats whose files are folders find parts of
     * unknown names this way.) */
    cip_status (*list)(void *user, const char *path, cip_io_list_fn *fn, void *fn_user,
                       cip_err *err);
} cip_io_methods;

/** The first field in a list of them: { CIP_IO_METHODS_INIT, .read_ranges = ..., .size = ... }. */
#define CIP_IO_METHODS_INIT .struct_size = sizeof(cip_io_methods)

/** Write access to one file of a store, the counterpart of cip_io_methods. Threads: the functions
 * of one file and of its members are called one at a time, and all but `close` only within the
 *  commit. Errors: they return a status and say why in `err`, which is never NULL here; the commit
 *  ends with that status and calls `complete` no more.
 *  A new file gets write_at in rising order without a gap from 0 on, then resize to its length (an
 * older file's end is cut off), sync, complete. An update gets the bytes after the old end first,
 * then the changed ones below it, resize if the length changes, sync, complete. */
typedef struct cip_io_write_methods {
    size_t struct_size; /* sizeof(cip_io_write_methods) */
    /** The file's name, without a folder ("night.asdf"). It decides the format if the options do
     * not, and members are named after it. NULL: no name, and no members. */
    const char *name;
    /** All of nbytes (never 0) at `offset`, at most at the present end. */
    cip_status (*write_at)(void *user, uint64_t offset, const void *bytes, size_t nbytes,
                           cip_err *err);
    /** Cuts the file to nbytes, or extends it by zeros. */
    cip_status (*resize)(void *user, uint64_t nbytes, cip_err *err);
    /** Makes the written bytes survive a power failure; NULL: nothing needs to be done for that.
     * Not called with CIP_LEVEL_PROCESS. */
    cip_status (*sync)(void *user, cip_err *err);
    /** The last call of a commit: the file is complete, and may be shown; NULL: not wanted.
     */
    cip_status (*complete)(void *user, cip_err *err);
    /** Makes a file next to this one with methods (*methods comes zeroed; its name is ignored) and
     * a user pointer of its own. EXISTS if the name is taken; that file must stay as it is. Members
     * are complete before the file that names them. NULL: files that consist of several are
     * UNSUPPORTED. */
    cip_status (*create_member)(void *user, const char *name, struct cip_io_write_methods *methods,
                                void **member_user, cip_err *err);
    /** Opens an existing member, for an update that changes it, with methods and a user pointer of
     * its own. NULL: updates of members (in place, or whole) are UNSUPPORTED. */
    cip_status (*open_member)(void *user, const char *name, struct cip_io_write_methods *methods,
                              void **member_user, cip_err *err);
    /** Removes a member: one that create_member made for a commit that failed, or one that is
     * unused after an update. NULL: it stays. A failure does not change the commit's status: the
     * commit's error names a new member that stays, on_note is called for an unused one. */
    cip_status (*unlink_member)(void *user, const char *name, cip_err *err);
    /** Returns the user pointer, as cip_io_methods.close. If the file was not completed, the
     * written bytes are worthless. May be NULL. */
    void (*close)(void *user);
} cip_io_write_methods;

/** The first field in a list of them: { CIP_IO_WRITE_METHODS_INIT, .name = ..., .write_at = ... }.
 */
#define CIP_IO_WRITE_METHODS_INIT .struct_size = sizeof(cip_io_write_methods)

#ifdef __cplusplus
}
#endif
#endif
