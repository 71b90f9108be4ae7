/* SPDX-License-Identifier: BSD-3-Clause
 * What a format wants changed in a file (design: formats return patches, one commit does the rest),
 * and a file seen through such a patch. */
#ifndef CIP_IO_PATCH_H
#define CIP_IO_PATCH_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cursor.h"
#include "base/strmap.h"
#include "io/io.h"

typedef enum cip_patch_kind {
    CIP_PATCH_WRITE = 1,  /* bytes of a member are replaced, or appended behind its end */
    CIP_PATCH_LENGTH = 2, /* the member is cut or extended with zeros to `offset` */
    CIP_PATCH_CREATE = 3,
    CIP_PATCH_RENAME = 4, /* to `to` */
    CIP_PATCH_UNLINK = 5
} cip_patch_kind;

/* `member` "" is the file itself. */
typedef struct cip_patch_op {
    cip_patch_kind kind;
    const char *member;
    const char *to;
    uint64_t offset;
    cip_bytes before,
        after; /* WRITE: equal lengths, except behind the old end, where before is shorter */
    /* WRITE of a revision: where after.ptr is NULL, after.len bytes of this io, from io_off on, are
     * the new ones. Borrowed. */
    cip_io *io;
    uint64_t io_off;
} cip_patch_op;

/* Zero-initialise with an arena in it. Operations are in order; everything but an io is copied into
 * the arena. */
typedef struct cip_patch {
    cip_arena arena;
    cip_patch_op *op;
    size_t n, cap;
    uint64_t old_len, new_len; /* of the file itself */
} cip_patch;

/* ARG for an operation that makes no sense: an unknown kind, `before` longer than `after`, an end
 * beyond 2^64, a name that is absolute or has "..", or none where one is needed. */
cip_status cip_patch_add(cip_patch *p, const cip_patch_op *op, cip_err *err);
/* Adds one whose names and bytes are borrowed and known to be right. */
cip_status cip_patch_push(cip_patch *p, const cip_patch_op *op, cip_err *err);
cip_status cip_patch_write(cip_patch *p, const char *member, uint64_t offset, cip_bytes before,
                           cip_bytes after, cip_err *err);
/* n bytes of the file itself, whose `before` the commit reads; 0 are no operation. */
cip_status cip_patch_bytes(cip_patch *p, uint64_t at, const void *ptr, size_t n, cip_err *err);
/* The same of n bytes of an io from `off` on, which must lie in it (RANGE); they are read when they
 * are wanted. */
cip_status cip_patch_range(cip_patch *p, uint64_t at, cip_io *io, uint64_t off, uint64_t n,
                           cip_err *err);
/* Reads n of a write's new bytes, from its byte `skip` on. */
cip_status cip_patch_op_read(const cip_patch_op *op, uint64_t skip, void *dst, size_t n,
                             cip_err *err);
/* Whether it concerns the bytes or length of the file itself. */
bool cip_patch_op_own(const cip_patch_op *op);
/* The inode and, of one that was to be changed, the old length in a journal's operation on a
 * member (io/README.md); false when it is of another form. */
bool cip_member_op_was(const cip_patch_op *op, uint64_t *inode, uint64_t *old_len);
void cip_patch_clear(cip_patch *p);
/* Whether a member's name stays beneath the folder: relative, no empty, "." or ".." segment. */
bool cip_member_name_is_plain(const char *name);

/* A piece of what is to be written: bytes, or a part of an io (the old file, a temporary file). */
typedef struct cip_segment {
    const uint8_t *ptr; /* or NULL */
    cip_io *io;         /* borrowed; or NULL: with no ptr either, `off` is the value of each byte */
    uint64_t off, len;
} cip_segment;

/* Bytes of the file itself that nothing the old one names: they may be anything until the revision
 * counts, and after one that came to nothing. */
typedef struct cip_placed {
    uint64_t at;
    cip_segment what;
} cip_placed;

typedef struct cip_revision cip_revision;

typedef enum cip_member_change {
    CIP_MEMBER_MADE,        /* a new file, of the pieces of `as`; folders on the way to it too */
    CIP_MEMBER_REPLACED,    /* a new file of those pieces takes the name of the old one */
    CIP_MEMBER_PATCHED,     /* bytes change in place and at the end, as `as` says */
    CIP_MEMBER_RENAMED,     /* to `to`, with folders on the way to that */
    CIP_MEMBER_GONE,        /* it is removed */
    CIP_MEMBER_FOLDER_GONE, /* a folder is removed, if nothing is left in it */
} cip_member_change;

/* A file in the folder that is updated, or beside the file that is, or in a folder below, which
 * changes with a revision. */
typedef struct cip_revision_member {
    const char *name, *to;
    cip_member_change change;
    cip_revision *as;       /* MADE, REPLACED, PATCHED: without members of its own */
    uint64_t device, inode; /* of the file that must be there now; 0: any */
} cip_revision_member;

/* What becomes of a file, or of a folder by its members, as a format wants it; how it gets there
 * safely is the commit's business. Zero-initialise with an arena in the patch; pieces live in that
 * arena too. */
struct cip_revision {
    cip_patch patch; /* changed bytes below tail_off (old_len where there is no tail); their
                        `before` need not be given: the commit reads it */
    bool has_tail;
    uint64_t
        tail_off; /* from here on the file consists of the pieces: tail_off <= the old length */
    bool anew;    /* tail_off is 0 and the pieces are the whole new file: it is made beside */
    cip_segment *segment;
    size_t nsegment, segment_cap;
    uint64_t tail_len;
    cip_placed *placed; /* rising; below tail_off, and apart from what the patch changes */
    size_t nplaced, placed_cap;
    cip_revision_member *member;
    size_t nmember, member_cap, nrenamed;
    cip_strmap name; /* of members, old and new ones */
    size_t last; /* from 1 on: the member that is the switch: it names the others, and changes after
                    all of them; 0: the file itself does */
    uint64_t head; /* bytes before this are read when a file is opened and not again, and all that
                      the old ones name stays in place: readers need not go when they change */
    bool watched;  /* readers look behind each read whether the file changed */
};

/* Adds to the tail. `ptr` is copied into the arena; an io's range must lie in it (RANGE). A piece
 * that goes on where the last one ends is joined to it. */
cip_status cip_revision_bytes(cip_revision *r, const void *ptr, size_t n, cip_err *err);
cip_status cip_revision_range(cip_revision *r, cip_io *io, uint64_t off, uint64_t len,
                              cip_err *err);
/* n bytes of value `fill`. */
cip_status cip_revision_fill(cip_revision *r, uint8_t fill, uint64_t n, cip_err *err);
/* What is to be at `at`, where the old file has bytes that nothing of it names: written, and
 * synced, before anything else changes, and not compared. Pieces as above, in rising order (ARG).
 * Only the file itself has them, and none that is made anew. */
cip_status cip_revision_place(cip_revision *r, uint64_t at, const cip_segment *what, cip_err *err);
uint64_t cip_revision_placed_len(const cip_revision *r);
/* Members. A name is plain: relative, without "." and ".."; each stands in one change alone (ARG).
 * `known`: the file that the member must still be when the revision is committed (from
 * cip_io_open_member), or NULL. *as is r's, to be filled as the revision of a file.
 *
 * A new one of this name; empty until pieces are added to *as. The name must be free then, or given
 * up by a member before this one; of one that was to go it takes the place. */
cip_status cip_revision_make(cip_revision *r, const char *name, cip_revision **as, cip_err *err);
/* The same of one piece; its bytes are copied, its io is borrowed. */
cip_status cip_revision_create(cip_revision *r, const char *name, const cip_segment *data,
                               cip_err *err);
/* A new one in place of the old. */
cip_status cip_revision_replace(cip_revision *r, const char *name, cip_io *known, cip_revision **as,
                                cip_err *err);
/* Writes in *as's patch (member ""), and its tail. */
cip_status cip_revision_change(cip_revision *r, const char *name, cip_io *known, cip_revision **as,
                               cip_err *err);
/* Another name, which is free, or which a member before this one in the revision gives up. */
cip_status cip_revision_rename(cip_revision *r, const char *name, const char *to, cip_io *known,
                               cip_err *err);
/* A member goes, once nothing names it any more. */
cip_status cip_revision_unlink(cip_revision *r, const char *name, cip_io *known, cip_err *err);
/* A folder goes, if nothing is left in it when the members have gone. */
cip_status cip_revision_unlink_folder(cip_revision *r, const char *name, cip_err *err);
/* The folder `dir` of `in`, with all in it but members that the revision has already, gets the name
 * `to`, or goes (NULL). `links`: symbolic links are followed; else a folder with one is
 * UNSUPPORTED. LIMIT over max_blocks files. */
cip_status cip_revision_move_folder(cip_revision *r, cip_io *in, const char *dir, const char *to,
                                    bool links, cip_err *err);
/* Which of the members is the switch. ARG when it is none of them, or goes. */
cip_status cip_revision_switch(cip_revision *r, const char *name, cip_err *err);
/* Whether a member has the name, gets it or gives it up. */
bool cip_revision_has(const cip_revision *r, const char *name);
/* The k-th member in the order in which they change: as they were added, but the switch last. */
const cip_revision_member *cip_revision_in_order(const cip_revision *r, size_t k);
/* Whether a member that is renamed gives the name up. */
bool cip_revision_gives_up(const cip_revision *r, const char *name);
/* Whether the member gives its name up, and none takes it. */
bool cip_revision_frees(const cip_revision *r, const cip_revision_member *m);
/* The file as it will be, as one io: for reading one's own writes and for --dry-run's checks.
 * `under` is the old file; everything is borrowed. */
cip_status cip_io_open_revision(cip_io *under, const cip_revision *r, cip_io **out, cip_err *err);
void cip_revision_clear(cip_revision *r);
/* How long a file of old_len bytes is afterwards. */
uint64_t cip_revision_new_len(const cip_revision *r, uint64_t old_len);
/* ARG when it makes no sense for a file of old_len bytes: a tail behind its end, operations that
 * reach into the tail or are on members. */
cip_status cip_revision_check(const cip_revision *r, uint64_t old_len, cip_err *err);

/* A file with a patch over it (writes and the length of member ""), as one io. Both are borrowed.
 * Later operations win; a gap behind the end reads as zeros. ARG when the end is not new_len. */
cip_status cip_io_open_overlay(cip_io *under, const cip_patch *patch, cip_io **out, cip_err *err);

/* A sealed journal beside `path` (".NAME.cip-journal"; layout: io/README.md): design section 2. */
typedef enum cip_journal_state {
    CIP_JOURNAL_NONE = 0, /* none, or only an unsealed ".NAME.cip-tmp" that left the file alone */
    CIP_JOURNAL_APPLIES =
        1, /* every byte in each range is the old or the new one: the overlay is right */
    CIP_JOURNAL_ALIEN = 2, /* it does not match this file: an error for readers */
    CIP_JOURNAL_IGNORED =
        3, /* not owned by the file's owner or us, a link, over the limit: a warning */
    CIP_JOURNAL_UNSEALED = 4, /* only a ".NAME.cip-tmp" whose update added bytes behind the file's
                                old end, or made members, and came no further: the patch cuts
                                them off, and names the members (CREATE) */
    CIP_JOURNAL_LOST = 5,   /* the file says that an update of it was cut off, and its record is not
                               beside this name: an error for readers */
    CIP_JOURNAL_SETTLED = 6 /* the file says that the update counts which a record is left of */
} cip_journal_state;

/* Looks for a journal beside the file (behind a link: beside what it points to), called after its
 * name, or after the one that it had when the update began (io/record.h); never writes.
 * `file`: from cip_io_open_file(path); NONE for anything else. APPLIES, UNSEALED: *patch
 * holds the operations, otherwise it is untouched. `why` (256 bytes) says why one is ALIEN,
 * IGNORED or LOST, which it is too while its writer goes on after the file was moved. */
cip_status cip_journal_find(cip_env *env, const char *path, cip_io *file, cip_journal_state *state,
                            cip_patch *patch, char *why, cip_err *err);
/* The bytes of a sealed journal for the patch, for the commit to write (and tests), added to *out.
 * device, inode: of the target. Writes to the file itself must not overlap and `before` must be all
 * there was (ARG): else a half-applied journal could not be told from an alien one. LIMIT over
 * CIP_JOURNAL_MAX. */
cip_status cip_journal_encode(const cip_patch *p, uint64_t device, uint64_t inode, cip_buf *out,
                              cip_err *err);
/* The patch in a journal's bytes, into a patch without operations; its arena may hold `in`. Bytes
 * are borrowed from `in`, names are not. CHECKSUM, CORRUPT, FORMAT, TRUNCATED, UNSUPPORTED. */
cip_status cip_journal_decode(cip_bytes in, cip_patch *out, uint64_t *device, uint64_t *inode,
                              cip_err *err);

enum { CIP_JOURNAL_MAX = 64 << 20 };

#endif
