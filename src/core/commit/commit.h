/* SPDX-License-Identifier: BSD-3-Clause
 * The only place where files are written (design section 2). A new file is made beside its name and
 * put there in one step; a file that is there is changed by a switch, through a journal, or is
 * replaced: whichever suits what the format wants changed. */
#ifndef CIP_CORE_COMMIT_H
#define CIP_CORE_COMMIT_H

#include "cippus/change.h"
#include "io/io_target.h"
#include "io/out.h"
#include "io/patch.h"
#include "io/store.h"

/* --- new files ------------------------------------------------------------------------------ */

typedef struct cip_replace cip_replace;

typedef struct cip_commit cip_commit;

typedef struct cip_replace_how {
    cip_level level;
    bool overwrite; /* else EXISTS when the name does; a folder's `of` must say which one goes */
    bool break_links;
    bool folder;
    const char
        *temp;      /* a file's name until it is complete, if it needs one; NULL: one of its own */
    cip_commit *of; /* that of what is replaced, which must still have the name then (STALE), and
                       is told what it became; NULL: none */
} cip_replace_how;

/* A new file or folder for the place (which is taken over, also on failure), in its folder under no
 * name of a user's until it is complete, with mode and owner of what it replaces, a file with its
 * extended attributes. What is written to cip_replace_out, which can be rewritten, cut and moved,
 * goes into the file. */
cip_status cip_replace_at(cip_mem *mem, cip_place place, const cip_replace_how *how,
                          cip_replace **out, cip_err *err);
cip_out *cip_replace_out(cip_replace *r);
/* The descriptor of the new file or folder; and the name that it takes. */
int cip_replace_descriptor(const cip_replace *r);
const char *cip_replace_name(const cip_replace *r);
/* A complete file or folder at `from` (borrowed until cip_replace_end), in the same file system,
 * becomes the new one, in place of what was written. If it does not take the place it goes back. */
cip_status cip_replace_take(cip_replace *r, const cip_place *from, cip_err *err);
/* Syncs, takes its place, syncs the folder. A folder that was replaced is removed then, but for its
 * lock file of other programs, which is the new one's. */
cip_status cip_replace_commit(cip_replace *r, cip_err *err);
/* Whether it has taken its place: also when the sync behind that failed. */
bool cip_replace_placed(const cip_replace *r);
/* Removes it from the place that it has taken, if any. */
void cip_replace_take_back(cip_replace *r);
/* Frees; removes what never took its place. NULL is fine. */
void cip_replace_end(cip_replace *r);

/* --- changes of a file that is there ---------------------------------------------------------- */

/* Opens `path` for an update: takes the writers' lock (BUSY), sees that the path still names what
 * is locked, completes or clears away what an interrupted update left. READONLY, NOT_FOUND, CORRUPT
 * (a sealed journal that does not fit, naming cip_recover). */
cip_status cip_commit_begin(cip_env *env, const char *path, const cip_change_options *opts,
                            cip_commit **out, cip_err *err);
/* The same of the very file that is *was: STALE where the path does not name that one, which is
 * then left alone, and with it what an update of it left. */
cip_status cip_commit_begin_of(cip_env *env, const char *path, const struct stat *was,
                               const cip_change_options *opts, cip_commit **out, cip_err *err);
/* The same as cip_commit_begin of a file that is read through `io` and written through `target`,
 * which are the commit's from here on, on failure too. */
cip_status cip_commit_begin_io(cip_env *env, cip_io *io, const cip_target *target,
                               const cip_change_options *opts, cip_commit **out, cip_err *err);
/* A new file that is written through `target` (borrowed), and what lies beside it: a revision of
 * nothing, that is anew and makes members. The methods are called here alone; after a failure no
 * member is left, and the file is not complete. */
cip_status cip_commit_new_to_target(cip_env *env, const cip_target *target, cip_level level,
                                    const cip_revision *r, cip_err *err);
/* The file as it is now; members can be opened. Borrowed until cip_commit_end. */
cip_io *cip_commit_io(cip_commit *c);
/* The new file by which an update replaced the old one, as a descriptor that is the caller's; -1
 * where it is still the same file. */
int cip_commit_became(cip_commit *c);
bool cip_is_same_file(const struct stat *a, const struct stat *b);
/* STALE: what the path names is not the file that was opened; nothing was written. */
cip_status cip_fail_stale(const char *path, cip_err *err);
/* Whether nobody has the file open as it was before, whom new contents of bytes that it does not
 * name any more could mislead: no reader now, or, in memory, those see that it changed. */
bool cip_commit_is_alone(cip_commit *c);
/* How a revision would be committed, as one line of words. */
cip_status cip_commit_kind(cip_commit *c, const cip_revision *r, char *text, size_t cap,
                           cip_err *err);
/* Makes the file what the revision says. Before it returns OK everything is as durable as the level
 * says. After a failure the file is as it was, or a sealed journal lies beside it that says the
 * rest. STALE when the name is another file's by now, or nobody's: what is there is left alone.
 * Once for each begin, but for BUSY: then again where cip_commit_is_ready. */
cip_status cip_commit_apply(cip_commit *c, const cip_revision *r, cip_err *err);
/* Whether the last one ended BUSY because of a lock, and left all as it was. */
bool cip_commit_is_ready(const cip_commit *c);
/* Rows at the end of the file, at once and as often as wanted; nothing else changes. Both are STALE
 * like cip_commit_apply; rows that were appended before lie in the file that was opened. */
cip_status cip_commit_append(cip_commit *c, const void *p, size_t n, cip_err *err);
cip_status cip_commit_sync(cip_commit *c, cip_err *err);
/* Unlocks and frees. NULL is fine. */
void cip_commit_end(cip_commit *c);

/* --- a file that another one replaces: it is locked, and not changed any more ----------------- */

/* As cip_commit_begin, but what an interrupted update left is left as it is. */
cip_status cip_commit_lock(cip_env *env, const char *path, const cip_change_options *opts,
                           cip_commit **out, cip_err *err);
/* Completes or clears away what an interrupted update left. */
cip_status cip_commit_recover(cip_commit *c, cip_err *err);
/* The file is going to be changed: nobody else has its lock file any more, which counts a change.
 * BUSY; also when another program changed the file since it was shared. */
cip_status cip_commit_take_foreign(cip_commit *c, cip_err *err);
/* The readers' byte for us alone; BUSY. And for others again. */
cip_status cip_commit_take_readers(cip_commit *c, cip_err *err);
void cip_commit_let_readers(cip_commit *c);
bool cip_commit_is_folder(const cip_commit *c);

#endif
