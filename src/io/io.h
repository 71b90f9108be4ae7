/* SPDX-License-Identifier: BSD-3-Clause
 * Positional bytes: a file, a mapping, memory, a spooled pipe, the caller's own methods; and the
 * members beside it. */
#ifndef CIP_IO_IO_H
#define CIP_IO_IO_H

#include <stdbool.h>

#include "base/env.h"
#include "cippus/ext/io.h"

/* Immutable after opening but for `user`; any thread may read. */
typedef struct cip_io cip_io;

enum { CIP_IO_NUMBER_NAME = 1024 }; /* bytes of the name of a numbered member, its NUL among them */

typedef struct cip_io_ops {
    const char *name; /* "file", "memory", ... */
    bool through;     /* it reads from others, which tell of their reads themselves */
    /* Fills all ranges or fails. They rise, do not overlap, lie within the size and are not empty:
     * the functions below see to that. */
    cip_status (*read_ranges)(cip_io *io, const cip_range *r, size_t n, cip_err *err);
    /* Optional: the bytes as they lie in memory, as long as the io is open (mmap, memory). */
    cip_status (*map)(cip_io *io, const uint8_t **ptr, cip_err *err);
    /* Optional: a member by its path, percent-decoded, without "." and ".." but for leading ".."
     * with CIP_IO_EXTERNAL, which may be absolute too. */
    cip_status (*open_member)(cip_io *io, const char *name, uint32_t flags, cip_io **out,
                              cip_err *err);
    /* Optional, of folders: the names in the folder at `path` ("": itself), in any order. */
    cip_status (*list)(cip_io *io, const char *path, uint32_t flags, cip_io_list_fn *fn, void *user,
                       cip_err *err);
    /* Optional, of folders: these n members are going to be read whole. */
    void (*expect)(cip_io *io, const char (*name)[CIP_IO_NUMBER_NAME], size_t n);
    /* Optional: whether the file is still what was opened; BUSY ("file changed since open") if not.
     */
    cip_status (*unchanged)(cip_io *io, cip_err *err);
    /* Optional: a descriptor that *off of the io lies in, which becomes the offset there; or -1. */
    int (*descriptor)(cip_io *io, uint64_t *off);
    void (*close)(cip_io *io);
} cip_io_ops;

struct cip_io {
    const cip_io_ops *ops;
    cip_env *env;
    uint64_t size;    /* bytes, as of open */
    uint64_t base;    /* where its first byte lies in the file, for the offsets of errors */
    const char *name; /* for messages; owned */
    bool folder;      /* it is a folder, or one seen through a patch or as a part */
    bool far;         /* set by who opened it: a request costs far more than its bytes, and these do
                         not change */
    bool watched;     /* each read looks whether the file is still what was opened */
    struct cip_watch *watch; /* by what it is told; NULL: by nothing of its own */
    const uint8_t *bytes;    /* all of them, where they lie in memory; NULL of others, mapped files
                                too: there a file that others make shorter faults */
    /* private fields of the implementation follow in its own struct */
};

/* A zeroed io of `struct_size` bytes (cip_io in front) with a copy of the name. */
cip_status cip_io_new(cip_env *env, const cip_io_ops *ops, size_t struct_size, const char *name,
                      cip_io **out, cip_err *err);
/* Frees the name and the struct; the last step of every close. */
void cip_io_free(cip_io *io);

enum {
    CIP_IO_EXTERNAL =
        1, /* the member may lie outside the file's folder (cip_open_options.allow_external) */
    CIP_IO_LINKS = 2 /* of cip_io_list: the symbolic links alone, which only a folder has */
};

/* A regular file by path (opened O_NONBLOCK | O_CLOEXEC | O_NOCTTY and then checked to be one; a
 * FIFO or device does not hang us: UNSUPPORTED naming what it is). Reads are preads; one that finds
 * the file shorter than it was at open ends BUSY ("file changed since open"). NOT_FOUND, IO. */
cip_status cip_io_open_file(cip_env *env, const char *path, cip_io **out, cip_err *err);
/* A descriptor that may be a pipe: a regular file is read in place (the descriptor is duplicated,
 * its position does not matter); anything else is spooled to its end, under 16 MiB (or an eighth of
 * max_memory) in memory, then in an unnamed temporary file in $TMPDIR or /tmp. `fd` stays the
 * caller's. No members: its folder is not known. */
cip_status cip_io_open_fd(cip_env *env, int fd, const char *name, cip_io **out, cip_err *err);
/* n bytes, borrowed. */
cip_status cip_io_open_memory(cip_env *env, const void *ptr, uint64_t n, const char *name,
                              cip_io **out, cip_err *err);
/* The caller's methods, copied (struct_size of them). ARG when they are not whole. `user` is
 * taken over, and closed on failure too, unless they are of another version. */
cip_status cip_io_open_user(cip_env *env, const cip_io_methods *m, void *user, cip_io **out,
                            cip_err *err);
/* Closes `user` where the methods (may be NULL) say how. */
void cip_io_user_give_back(const cip_io_methods *m, void *user);
/* The same with a user pointer that stays the caller's. */
cip_status cip_io_open_user_again(cip_env *env, const cip_io_methods *m, void *user, cip_io **out,
                                  cip_err *err);
/* The file was changed behind the io's end alone: its version now is the one that the io shows,
 * unless that cannot be had. Of any other io nothing is done. While nobody reads. */
void cip_io_user_renew(cip_io *io);
/* `to` closes what the caller's methods are given in place of `from`, which is of the same ones. */
void cip_io_user_pass(cip_io *from, cip_io *to);
/* The methods of such an io and its user pointer, borrowed; NULL of any other. */
const cip_io_methods *cip_io_user_methods(const cip_io *io, void **user);
/* A part of another io as one of its own: [off, off + len). `of` is borrowed. RANGE when it does
 * not lie within. Members pass through. */
cip_status cip_io_open_part(cip_io *of, uint64_t off, uint64_t len, cip_io **out, cip_err *err);
/* The io that this one is a part of, or itself; *off becomes the offset there. */
cip_io *cip_io_whole(cip_io *io, uint64_t *off);
void cip_io_close(cip_io *io);

/* All of n bytes at off, or TRUNCATED naming what was expected and found (position base + off).
 * All reads may be called from any thread. */
cip_status cip_io_read(cip_io *io, uint64_t off, void *dst, size_t n, cip_err *err);
/* As many as there are, up to n; *got. */
cip_status cip_io_read_some(cip_io *io, uint64_t off, void *dst, size_t n, size_t *got,
                            cip_err *err);
/* All of [off, off + n) in order, in pieces of up to CIP_IO_PIECE bytes, each given to fn; its
 * failure ends it. */
typedef cip_status cip_piece_fn(void *user, const void *p, size_t n, cip_err *err);
cip_status cip_io_each(cip_io *io, uint64_t off, uint64_t n, cip_piece_fn *fn, void *user,
                       cip_err *err);
/* The same in pieces of up to `most` bytes. */
cip_status cip_io_in_pieces(cip_io *io, uint64_t off, uint64_t n, size_t most, cip_piece_fn *fn,
                            void *user, cip_err *err);
/* Every range whole; all are checked against the size first. Rising offsets are read together,
 * which is quicker; others are fine. Empty ranges need no `dst`. */
cip_status cip_io_read_ranges(cip_io *io, const cip_range *r, size_t n, cip_err *err);
/* Where at `off` or behind it data may lie: what is before is a hole of a sparse file, which reads
 * as zeros. `off` itself where nothing is known of holes; the io's size when no data follow. */
uint64_t cip_io_next_data(cip_io *io, uint64_t off);
/* The bytes in place, for views only: a file truncated by others then faults. UNSUPPORTED where it
 * cannot. Lives until close. Thread-safe. */
cip_status cip_io_map(cip_io *io, const uint8_t **ptr, cip_err *err);
/* Reads of a file, and of members that are opened from now on, are copies from a mapping: they cost
 * no system call, but a file that others make shorter faults. Before anybody else reads it;
 * nothing changes for what cannot be mapped. */
void cip_io_read_mapped(cip_io *io);
/* BUSY ("file changed since open") when a file's size or time of change, what its lock file counts,
 * a store's version, or a member that was noted is not what it was; OK for ios that cannot tell. To
 * be asked before and after what must not be a mixture. */
cip_status cip_io_unchanged(cip_io *io, cip_err *err);
/* What was written to a file or folder since then was ours, and was taken back: it counts as
 * unchanged. */
void cip_io_taken_back(cip_io *io);
/* Of a folder: members that are opened while this is on are noted as what it consists of. */
void cip_io_note_members(cip_io *io, bool on);
/* From now on every read of it, and of members that are opened from now on, ends BUSY when it is
 * not what it was: for files that others write over in place without our locks. Our own updates
 * that leave what is read in place are no such change of a file (io/switches.h). `lock_file`:
 * copied, and closed with the io, on failure too; of descriptor -1: none. NOMEM. */
struct cip_lock_file;
cip_status cip_io_watch(cip_io *io, const struct cip_lock_file *lock_file, cip_err *err);
/* The lock that is shared in it. */
void cip_io_watch_let(cip_io *io);
/* What each read of a watched io ends with: BUSY when bytes of what was opened may be others by
 * now. */
cip_status cip_io_still(cip_io *io, cip_err *err);
/* Takes the readers' byte of a file (io/store.h), shared, until the io is closed or unlocked: no
 * update writes over bytes in place meanwhile. BUSY when one does just now; OK where nothing can be
 * locked. */
cip_status cip_io_lock(cip_io *io, cip_err *err);
void cip_io_unlock(cip_io *io);
/* BUSY while somebody holds the file's writers' byte. */
cip_status cip_io_unwritten(cip_io *io, cip_err *err);

/* A member beside the file (opened by a symbolic link: beside that, or what it leads to), by a URI
 * reference relative to it (a fragment is left out): its path is
 * percent-decoded once, then refused (CORRUPT) with a NUL, an encoded slash, a backslash, and
 * without CIP_IO_EXTERNAL also when it is absolute, a file: URI or leaves by "..". Opened beneath
 * the folder of the file without following links out of it (openat2 RESOLVE_BENEATH |
 * RESOLVE_NO_MAGICLINKS, or where the kernel lacks it a walk that follows no link), a regular file
 * only. With CIP_IO_EXTERNAL: file: URIs, absolute and outside paths and links too. Other schemes
 * and hosts are UNSUPPORTED always: there is no network. An empty reference is ARG. The member does
 * not need `io` once it is open. A reference is a C string here: whoever has one with a NUL
 * in it refuses it before. */
cip_status cip_io_open_member(cip_io *io, const char *reference, uint32_t flags, cip_io **out,
                              cip_err *err);

/* The path that a reference names, by the rules of cip_io_open_member; from `mem`. */
cip_status cip_reference_path(cip_mem *mem, const char *reference, uint32_t flags, char **path,
                              cip_err *err);

/* A folder as an io: no bytes of its own, only members, which are opened as those beside a file are
 * (a link may not leave the folder without CIP_IO_EXTERNAL). UNSUPPORTED when it is not a folder.
 */
cip_status cip_io_open_folder(cip_env *env, const char *path, cip_io **out, cip_err *err);
/* The one that a descriptor (which stays the caller's) is of, whatever has the path by now. */
cip_status cip_io_open_folder_fd(cip_env *env, int fd, const char *path, cip_io **out,
                                 cip_err *err);
bool cip_io_is_folder(const cip_io *io);
/* The path of a file or folder, or of one that this is a part of; NULL of an io that is none.
 * Borrowed. */
const char *cip_io_path(cip_io *io);
/* What the path names: a folder or a file. */
cip_status cip_io_open_path(cip_env *env, const char *path, cip_io **out, cip_err *err);
/* The same; IO where its last part is a link. */
cip_status cip_io_open_no_link(cip_env *env, const char *path, cip_io **out, cip_err *err);

/* Where bytes of URLs are kept for later runs. */
typedef struct cip_url_cache {
    const char *folder; /* NULL: nowhere */
    uint64_t nbytes;    /* at most, of all files there; 0: 1 GiB */
} cip_url_cache;
/* A URL of http, https or s3, read by ranges; `cache` may be NULL; of a folder it ends with a
 * slash, or the server says that it is one. Members lie beneath. UNSUPPORTED in builds without
 * libcurl, and for servers without ranges; NOT_FOUND, IO, and STALE once the server has another
 * version. */
cip_status cip_io_open_url(cip_env *env, const char *url, const cip_url_cache *cache, cip_io **out,
                           cip_err *err);
/* The URL that it was opened by; NULL of any other io. Borrowed. */
const char *cip_io_url(const cip_io *io);

/* A member by its path beneath the folder as it is, no reference: relative, without empty, "." or
 * ".." segments (CORRUPT otherwise). Links as in cip_io_open_member. */
cip_status cip_io_open_beneath(cip_io *io, const char *path, uint32_t flags, cip_io **out,
                               cip_err *err);
/* Calls fn for each name in a folder beneath (path "": the folder itself), by byte order; nonzero
 * is CANCELLED. What updates keep in the folder itself (".cip-*") is left out. `is_folder`: of a
 * link that it leads to one. UNSUPPORTED for ios that are no folders; NOT_FOUND, CORRUPT (as above,
 * or a link out), LIMIT over max_blocks names. */
cip_status cip_io_list(cip_io *io, const char *path, uint32_t flags, cip_io_list_fn *fn, void *user,
                       cip_err *err);

/* The members with numbers for names as one io: byte b of member i is byte (i << SHIFT) + b, for
 * members below 2^32 bytes and numbers below 2^31. At most 64 are open at a time. `of` is borrowed;
 * `flags` as for opening a member; `place` writes the path of member i (cip_io_open_beneath), and
 * may set *of to another io that it lies beneath. */
enum { CIP_IO_NUMBER_SHIFT = 32, CIP_IO_NUMBERED_OPEN = 64 };
#define CIP_IO_NUMBERS (UINT64_C(1) << 31)
typedef void cip_io_number_place(void *user, uint64_t i, cip_io **of,
                                 char name[CIP_IO_NUMBER_NAME]);
cip_status cip_io_open_numbered(cip_io *of, uint32_t flags, cip_io_number_place *place, void *user,
                                cip_io **out, cip_err *err);
/* These members are going to be read whole: of a folder behind a URL they are asked for together,
 * as far as there is room. Any other io: nothing. What fails is met again by who reads. */
void cip_io_numbered_expect(cip_io *io, const uint64_t *member, size_t n);
/* The size of member i of such an io; NOT_FOUND. */
cip_status cip_io_numbered_size(cip_io *io, uint64_t i, uint64_t *size, cip_err *err);
/* The name of the member that byte *off lies in, which becomes the offset there; false for an io
 * that is not of numbered members. */
bool cip_io_numbered_name(const cip_io *io, uint64_t *off, char name[CIP_IO_NUMBER_NAME]);

/* What lies beside a file of ours at ".NAME" and `suffix`: *out is NULL, and all is well, where
 * there is none, or none that should be looked into: a link, no regular file, over max_nbytes, of
 * another owner than the file's and us, or writable by more people than the file. Then why[] (256
 * bytes, "" otherwise) says so. `path`: by which `file` was opened. LIMIT, NOMEM, IO. */
cip_status cip_io_open_beside(cip_io *file, const char *path, const char *suffix,
                              uint64_t max_nbytes, cip_io **out, char *why, cip_err *err);

/* Ready-made: large reads are cut into pieces of at most this for counting and cancelling. */
enum { CIP_IO_PIECE = 8 << 20 };

#endif
