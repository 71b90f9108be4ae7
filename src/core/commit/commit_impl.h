/* SPDX-License-Identifier: BSD-3-Clause
 * What the files of the commit share with each other and with `recover`, and nobody else. */
#ifndef CIP_CORE_COMMIT_IMPL_H
#define CIP_CORE_COMMIT_IMPL_H

#include "core/commit/commit.h"
#include "core/foreign_lock.h"
#include "io/fresh.h"
#include "io/file_io.h"
#include "io/io_target.h"
#include "io/record.h"
#include "io/store.h"
#include "io/switches.h"

struct cip_commit {
    cip_env *env;
    cip_level level;
    bool break_links;
    unsigned wait;     /* seconds, of each lock */
    bool recovering;   /* what somebody else left; else an update of our own */
    bool own_record;   /* recovering: the record is ours, and so what it says of files of ours */
    bool folder;       /* the path is a folder's: its members are all there is */
    char *path;        /* with no link in its last step */
    char *full;        /* the same from the root on, without any link, or NULL */
    cip_place place;   /* of it; a folder's own, under the name "" */
    cip_record record; /* what the file says of it */
    char *tmp;         /* names in the folder: ".NAME.cip-tmp", or in a folder ".cip-tmp" */
    char *journal;     /* ".NAME.cip-journal" */
    char *fresh;       /* ".NAME.cip-new": a file that replaces this one, or a folder of members
                          that wait for their names */
    int fd;            /* for writing; holds the writers' lock */
    cip_lock_file foreign;   /* of other programs: shared while the update is put together, so that
                                none of them writes, for itself alone while the file changes */
    struct stat st;          /* as of begin */
    cip_io *io;              /* the file as it is, with a descriptor of its own */
    uint64_t end;            /* where cip_commit_append goes on */
    int own_tmp;             /* the tmp that this update wrote, and the folder of new members: kept
                                open, as a number of a file that is gone may be given again */
    int own_fresh;           /* -1: none, or what somebody else left */
    int became;              /* -1, or the file that replaced this one */
    bool sealed;             /* a journal says all of it: readers see the update */
    pid_t owner;             /* the process that began it */
    bool ready;              /* BUSY, and all is as it was: may be tried again */
    const cip_patch *made;   /* what it says of members is undone when the update is not made */
    cip_switches switches;   /* of series 0: no update is going on that readers may read through */
    cip_finding_fn *on_note; /* of such a one: told of what could not be removed; or NULL */
    void *note_user;
    cip_target target; /* in place of all that: the caller's, written through methods; or none */
};

static inline bool cip_commit_has_target(const cip_commit *c)
{
    return c->target.methods.struct_size != 0;
}

/* How a revision gets into the file. */
typedef enum cip_commit_way {
    CIP_WAY_NOTHING,
    CIP_WAY_CUT,     /* only shorter */
    CIP_WAY_APPEND,  /* only longer */
    CIP_WAY_SWITCH,  /* one write within a sector makes it visible */
    CIP_WAY_JOURNAL, /* several, or more */
    CIP_WAY_REPLACE  /* a new file takes the name */
} cip_commit_way;

typedef struct cip_run {
    uint64_t from, to;
} cip_run;

/* Where a file and what it becomes differ, in rising order. */
typedef struct cip_runs {
    cip_io *was, *after;
    cip_run *run;
    size_t n;
    uint64_t nbytes; /* in them */
    /* What of both was read last, `len` bytes from `at` on: the runs of a small change all lie
     * there. Owned; old NULL: nothing. */
    uint8_t *old, *new;
    uint64_t at;
    size_t len;
} cip_runs;

/* What is done with a member. */
typedef struct cip_member_plan {
    bool staged;           /* a new file is made, beside, which takes its name */
    bool nothing;          /* it is as it should be */
    uint64_t was, becomes; /* bytes, of one that changes in place */
    uint64_t inode;        /* of the file that is there, and device; 0: there is none */
    uint64_t device;
    uint64_t new_inode; /* staged */
    cip_patch_op *op;   /* changed in place: its operations */
    size_t nop;
} cip_member_plan;

/* A revision worked out. */
typedef struct cip_commit_plan {
    cip_commit_way way;
    const cip_revision *r;
    cip_io *after;   /* the file as it will be */
    cip_patch patch; /* what differs below the old end, rising; then the length if it changes.
                        Once members are made: what becomes of them before and after that */
    cip_member_plan *member; /* of r's; in the patch's arena */
    size_t nmember;          /* that change */
    size_t nrun;             /* runs of bytes that differ */
    uint64_t nbytes;         /* in them */
} cip_commit_plan;

/* Compares the revision with the file. cip_commit_plan_clear in any case. */
cip_status cip_commit_plan_make(cip_commit *c, const cip_revision *r, cip_commit_plan *p,
                                cip_err *err);
void cip_commit_plan_clear(cip_commit_plan *p);

/* Finds the runs of out->was and out->after; stops when a journal would have more than `most`
 * bytes. Cleared by the caller, on failure too. */
cip_status cip_commit_compare(cip_runs *out, const cip_revision *r, uint64_t most, cip_err *err);
void cip_runs_clear(cip_runs *r);
/* In a journal. */
uint64_t cip_runs_bytes(const cip_runs *r);
uint64_t cip_commit_journal_most(const cip_commit *c);
/* The operations that write the runs; `member` is borrowed. */
cip_status cip_commit_add_writes(cip_patch *patch, const char *member, const cip_runs *r,
                                 cip_err *err);
/* What lies behind `from`, the old end: by reference where that can be. */
cip_status cip_commit_write_behind(const cip_revision *r, int fd, uint64_t from, cip_io *after,
                                   cip_err *err);
/* The whole file that r makes of `was` (not used by one that is made anew). */
cip_status cip_commit_write_new(const cip_revision *r, cip_io *was, uint64_t size, int fd,
                                cip_err *err);

/* Members of a revision. What differs in those that change in place; `journal`: bytes that it has
 * without them. */
cip_status cip_commit_members_plan(cip_commit *c, cip_commit_plan *p, uint64_t journal,
                                   cip_err *err);
/* New files are made in a folder of ours, and p->patch says what becomes of all. BUSY when a
 * member is not what the revision takes it for. */
cip_status cip_commit_members_make(cip_commit *c, cip_commit_plan *p, cip_err *err);
/* Whether members are still what they were, before the record is written; `extended`: and once
 * more when nothing but the seal is left to be done. */
cip_status cip_commit_members_check(cip_commit *c, const cip_commit_plan *p, bool extended,
                                    cip_err *err);
/* What is added to the ends of members. */
cip_status cip_commit_members_extend(cip_commit *c, const cip_commit_plan *p, cip_err *err);

/* What a record says of members, made: all but removals, in order. */
cip_status cip_commit_members_apply(cip_commit *c, const cip_patch *p, cip_err *err);
/* Removals; then what was made ready is all in its place. */
cip_status cip_commit_members_remove(cip_commit *c, const cip_patch *p, cip_err *err);
/* Whether a sealed record can be undone: CORRUPT when what it needs for that is gone. */
cip_status cip_commit_members_undoable(cip_commit *c, const cip_patch *p, cip_err *err);
/* Names and bytes below the old ends as they were. */
cip_status cip_commit_members_undo(cip_commit *c, const cip_patch *p, cip_err *err);
/* What an update that is not made added: ends of members, new ones and their folders. */
cip_status cip_commit_members_drop(cip_commit *c, const cip_patch *p, cip_err *err);
/* The folder of members that wait for their names goes, with what is left in it. */
cip_status cip_commit_unstage(cip_commit *c, cip_err *err);
/* A member as it is for the commit: its folder by descriptor, and what lstat says of it; *there
 * false when it, or a folder on the way, is not there (then *at is closed). */
cip_status cip_commit_member_find(cip_commit *c, const char *name, cip_place *at, struct stat *st,
                                  bool *there, cip_err *err);
/* The same, but *at stays open where the folder of one that is not there is. */
cip_status cip_commit_member_look(cip_commit *c, const char *name, cip_place *at, struct stat *st,
                                  bool *there, cip_err *err);
/* What a folder that is made takes after: whoever reads the file reads what is in it. */
struct stat cip_commit_folder_like(const cip_commit *c);
/* Whether it is a file that the record, or we, may change. */
bool cip_commit_is_ours(const cip_commit *c, const struct stat *st);

/* The way of a plan in a store of the caller's. */
cip_status cip_commit_to_target(cip_commit *c, const cip_commit_plan *p, cip_err *err);

/* Whether what is in the folder under that name is this file, or not there; of -1 nothing is known.
 */
bool cip_commit_is_own(const cip_commit *c, const char *name, int fd);
/* STALE when the path does not name the file any more that was opened. To be asked last before
 * anything counts. */
cip_status cip_commit_named(const cip_commit *c, cip_err *err);

/* Shares the lock file of other programs, if there is one; BUSY when one of them writes. */
cip_status cip_commit_share_foreign(cip_commit *c, cip_err *err);
void cip_commit_let_foreign(cip_commit *c);
/* Opens c->io anew, after the file was changed. */
cip_status cip_commit_reopen(cip_commit *c, cip_err *err);
/* Names the tmp, the journal and a file that replaces this one after `name`. */
cip_status cip_commit_name(cip_commit *c, const char *name, cip_err *err);
/* At the level `power` only. */
cip_status cip_commit_sync_file(cip_commit *c, cip_err *err);
cip_status cip_commit_sync_names(cip_commit *c, cip_err *err);

/* A switch is going to be made that leaves all that readers may want in place (io/switches.h). What
 * cannot be told them makes them BUSY. */
void cip_commit_switches_begin(cip_commit *c, const cip_revision *r);
/* It is made, or undone: the file has `size` bytes. */
void cip_commit_switches_end(cip_commit *c, uint64_t size);

/* One of the file's locks for the commit alone; others are waited for as long as the options say.
 */
cip_lock cip_commit_take(const cip_commit *c, uint64_t at);
/* Writes the patch's journal to the tmp; the name is durable, and the file points to it. On failure
 * it is gone. */
cip_status cip_commit_write_tmp(cip_commit *c, const cip_patch *p, cip_err *err);
/* Makes the journal's changes and removes it. */
cip_status cip_commit_replay(cip_commit *c, const cip_patch *p, cip_err *err);
/* Undoes a sealed journal: the old bytes, the old length. CORRUPT when it has cut off bytes. */
cip_status cip_commit_undo(cip_commit *c, const cip_patch *p, cip_err *err);
/* The file counts as it is from here on: its attribute says so, then the record (called `name`) and
 * the attribute are removed. */
cip_status cip_commit_settle(cip_commit *c, const char *name, cip_err *err);
/* The tmp goes, on a full disk too, of a file that is as it would be taken for with it. */
cip_status cip_commit_drop_tmp(cip_commit *c, cip_err *err);
/* Takes away the attribute by which the file points to its record. */
cip_status cip_commit_forget(cip_commit *c, cip_err *err);
/* Cuts the file and removes the tmp, in this order. */
cip_status cip_commit_cut(cip_commit *c, uint64_t nbytes, cip_err *err);
/* Removes what lies under the names of a tmp and of a new file, and of the journal if asked to,
 * whatever it is; not what a link points to, nor a folder with something in it (BUSY). */
cip_status cip_commit_throw_away(cip_commit *c, bool journal, cip_err *err);

#endif
