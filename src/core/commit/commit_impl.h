/* SPDX-License-Identifier: BSD-3-Clause
 * What the files of the commit share with each other, with `recover` and the output, and
 * nobody else. */
#ifndef CIP_CORE_COMMIT_IMPL_H
#define CIP_CORE_COMMIT_IMPL_H

#include "core/commit/commit.h"
#include "io/fresh.h"
#include "io/io_impl.h"
#include "io/io_target.h"
#include "io/record.h"
#include "io/store.h"

/* A member on its way to its name. */
typedef struct cip_commit_member {
    cip_place place;
    bool below; /* in a folder of its own */
    cip_fresh fresh;
} cip_commit_member;

struct cip_commit {
    cip_env *env;
    cip_level level;
    bool break_links;
    bool recovering;           /* what somebody else left; else an update of our own */
    char *path;                /* with no link in its last step */
    cip_place place;           /* of it */
    cip_record record;         /* what the file says of it */
    char *tmp;                 /* names in the folder: ".NAME.cip-tmp" */
    char *journal;             /* ".NAME.cip-journal" */
    char *fresh;               /* ".NAME.cip-new": a file that replaces this one */
    int fd;                    /* for writing; holds the writers' lock */
    struct stat st;            /* as of begin */
    cip_io *io;                /* the file as it is, with a descriptor of its own */
    uint64_t end;              /* where cip_commit_append goes on */
    cip_commit_member *member; /* of the present revision */
    size_t nmember;
    const cip_patch *made; /* its CREATE operations: members that go when the update is not made */
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

/* A revision worked out. */
typedef struct cip_commit_plan {
    cip_commit_way way;
    const cip_revision *r;
    cip_io *after;   /* the file as it will be */
    cip_patch patch; /* what differs below the old end, rising; then the length if it changes */
    size_t nrun;     /* runs of bytes that differ */
    uint64_t nbytes; /* in them */
} cip_commit_plan;

/* Compares the revision with the file. cip_commit_plan_clear in any case. */
cip_status cip_commit_plan_make(cip_commit *c, const cip_revision *r, cip_commit_plan *p,
                                cip_err *err);
void cip_commit_plan_clear(cip_commit_plan *p);

/* Members of a revision: new ones are made without names, and named in p->patch with their inodes,
 * as are those that will go; then take their names. */
cip_status cip_commit_members_make(cip_commit *c, cip_commit_plan *p, cip_err *err);
cip_status cip_commit_members_place(cip_commit *c, cip_err *err);
void cip_commit_members_end(cip_commit *c);
/* Removes the members of these operations (CREATE: the update is not made; UNLINK: it is) that are
 * still the files that they were. */
cip_status cip_commit_members_drop(cip_commit *c, const cip_patch *p, cip_patch_kind kind,
                                   cip_err *err);
/* CORRUPT when a member that an undone update needs is gone. */
cip_status cip_commit_members_there(cip_commit *c, const cip_patch *p, cip_err *err);

/* The way of a plan in a store of the caller's. */
cip_status cip_commit_to_target(cip_commit *c, const cip_commit_plan *p, cip_err *err);

/* As cip_commit_begin, but what an interrupted update left is left as it is. */
cip_status cip_commit_lock(cip_env *env, const char *path, const cip_edit_options *opts,
                           cip_commit **out, cip_err *err);
/* Opens c->io anew, after the file was changed. */
cip_status cip_commit_reopen(cip_commit *c, cip_err *err);
/* Names the tmp, the journal and a file that replaces this one after `name`. */
cip_status cip_commit_name(cip_commit *c, const char *name, cip_err *err);
/* At the level `power` only. */
cip_status cip_commit_sync_file(cip_commit *c, cip_err *err);
cip_status cip_commit_sync_names(cip_commit *c, cip_err *err);

/* The readers' byte for us alone; BUSY. */
cip_status cip_commit_take_readers(cip_commit *c, cip_err *err);
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
/* Takes away the attribute by which the file points to its record. */
cip_status cip_commit_forget(cip_commit *c, cip_err *err);
/* Cuts the file and removes the tmp, in this order. */
cip_status cip_commit_cut(cip_commit *c, uint64_t nbytes, cip_err *err);
/* Removes what lies under the names of a tmp and of a new file, and of the journal if asked to,
 * whatever it is; not what a link points to, nor a folder with something in it (BUSY). */
cip_status cip_commit_throw_away(cip_commit *c, bool journal, cip_err *err);
/* Completes or clears away what an interrupted update left. */
cip_status cip_commit_recover(cip_commit *c, cip_err *err);

/* The descriptor of the new file, for bytes that do not come through its output. */
int cip_replace_descriptor(const cip_replace *r);

#endif
