/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes from anywhere and to anywhere: what an application provides so that a file can lie in
 * memory, in an object store or behind a test. */
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
     *  size. A call is taken to cost more than its bytes: a small read asks for 4 KiB, ranges that
     *  many chunks need come in one call, and a failed call may be made again. Some of what was
     *  read (up to 16 MiB) is kept for later reads, so the bytes may not change meanwhile. */
    cip_status (*read_ranges)(void *user, const cip_range *range, size_t nrange, cip_err *err);
    /** Total bytes. Asked once, when the file is opened (by an update once more). 0 of a folder,
     *  which has members alone (open_member must be there then). */
    cip_status (*size)(void *user, uint64_t *nbytes, cip_err *err);
    /** Opens a member beside the file (`name` is relative, percent-decoded, without "..") with
     *  methods and a user pointer of its own; NULL: there are none. *methods comes zeroed. */
    cip_status (*open_member)(void *user, const char *name, struct cip_io_methods *methods,
                              void **member_user, cip_err *err);
    /** Gives the user pointer back, may be NULL. One rule for this and cip_io_write_methods.close:
     *  whatever call took the pointer, also an open_member or create_member of the caller's, it is
     *  given back exactly once, when what was opened ends or before the call that failed returns.
     *  Not where the methods are NULL or of another struct_size: nobody knows them then. */
    void (*close)(void *user);
    /** For cip_change_begin and cip_append on a file that cip_open_io opened, which are UNSUPPORTED
     *  unless both are there. `open_write` gives methods that write the file (*methods comes
     *  zeroed) and a user pointer of their own; the update reads by the methods above. */
    cip_status (*open_write)(void *user, struct cip_io_write_methods *methods, void **write_user,
                             cip_err *err);
    /** A number that is another one after each change of the file or of a member, whoever made it:
     *  a count, the hash of an entity tag. By it an update knows whether the file is still what was
     *  opened, and a file that it changed is not read on (BUSY). Asked at opening, by an update
     *  before it begins and before it writes, and from then on by each read. */
    cip_status (*version)(void *user, uint64_t *version, cip_err *err);
    /** Gives `fn` each name in the folder at `path` ("": the one that the file is, or lies in; no
     *  slash at either end), in any order, a folder perhaps several times, until it returns not 0,
     *  which is no failure. NOT_FOUND where there is no such folder. NULL: what needs to know is
     * UNSUPPORTED (formats whose files are folders look for parts of no known name so). */
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
 *  older file's end goes), sync, complete. An update gets the bytes behind the old end first, then
 *  the changed ones below it, resize when the length changes, sync, complete. */
typedef struct cip_io_write_methods {
    size_t struct_size; /* sizeof(cip_io_write_methods) */
    /** The file's name, without a folder ("night.asdf"): tells the format where the options do not,
     *  and members are named after it; NULL: it has none, and no members. */
    const char *name;
    /** All of nbytes (never 0) at `offset`, at most at the present end. */
    cip_status (*write_at)(void *user, uint64_t offset, const void *bytes, size_t nbytes,
                           cip_err *err);
    /** Cuts the file to nbytes, or extends it by zeros. */
    cip_status (*resize)(void *user, uint64_t nbytes, cip_err *err);
    /** What was written survives a loss of power afterwards; NULL: nothing needs to be done for
     *  that. Not called with CIP_LEVEL_PROCESS. */
    cip_status (*sync)(void *user, cip_err *err);
    /** The last call of a commit: the file is whole, and may be shown; NULL: nobody needs to know.
     */
    cip_status (*complete)(void *user, cip_err *err);
    /** Makes a file beside this one with methods (*methods comes zeroed; its name counts for
     *  nothing) and a user pointer of its own; EXISTS when the name is taken, which must stay as it
     *  is. Members are complete before the file that names them. NULL: files that consist of
     *  several are UNSUPPORTED. */
    cip_status (*create_member)(void *user, const char *name, struct cip_io_write_methods *methods,
                                void **member_user, cip_err *err);
    /** Opens a member that is there, for an update that changes it, with methods and a user pointer
     *  of its own. NULL: updates of members (in place, or written anew) are UNSUPPORTED. */
    cip_status (*open_member)(void *user, const char *name, struct cip_io_write_methods *methods,
                              void **member_user, cip_err *err);
    /** Removes a member: one that create_member made for a commit that failed, or one that an
     * update does not name any more. NULL: it stays. */
    cip_status (*unlink_member)(void *user, const char *name, cip_err *err);
    /** Gives the user pointer back, as cip_io_methods.close: when the file was not completed, what
     *  was written is worth nothing. May be NULL. */
    void (*close)(void *user);
} cip_io_write_methods;

/** The first field in a list of them: { CIP_IO_WRITE_METHODS_INIT, .name = ..., .write_at = ... }.
 */
#define CIP_IO_WRITE_METHODS_INIT .struct_size = sizeof(cip_io_write_methods)

#ifdef __cplusplus
}
#endif
#endif
