/* SPDX-License-Identifier: BSD-3-Clause
 * A new file, and files beside it that belong to it: nothing is under their names before all are
 * complete. In a folder, in a store of the caller's, or in memory. */
#ifndef CIP_CORE_OUTPUT_H
#define CIP_CORE_OUTPUT_H

#include "core/commit/commit.h"
#include "core/commit/memory_file.h"
#include "format/format.h"

typedef struct cip_output cip_output;

typedef struct cip_output_ops {
    cip_out *(*out)(cip_output *o);
    /* As cip_output_reopen. */
    cip_status (*reopen)(cip_output *o, cip_env *env, cip_io **io, cip_target *target,
                         cip_err *err);
    cip_status (*commit)(cip_output *o, cip_err *err);
    void (*end)(cip_output *o);
} cip_output_ops;

/* Private fields of the implementation follow in its own struct. */
struct cip_output {
    const cip_output_ops *ops;
};

/* Says in spec->elsewhere whether `out` will not lie in the folder of the file `in`, so that what
 * `in` says of others beside it means nothing there, and in spec->renamed whether it will have
 * another name. True where nobody can say ("-"). */
void cip_output_place(const char *in, const char *out, cip_spec *spec);

/* Where a new file goes: to a path, or what else is not NULL, all of it borrowed. */
typedef struct cip_output_how {
    cip_level level;
    bool overwrite;
    uint64_t *at_end; /* not NULL: behind the file that is there; where its last byte is */
    bool folder;      /* it has no bytes of its own: all goes to members, with names in folders
                         below that are made for them; any number, as they need not be open */
    bool (*known)(const char *path); /* whether a folder may be replaced, as it goes with all in it;
                                        NULL: if some format can open it */
    const cip_target *target;        /* a file of the caller's store, called in the commit alone */
    bool changes; /* what was written to that is changed afterwards; else it goes there at once, and
                     what begins writing is the commit's business */
    cip_memory *memory;
} cip_output_how;

/* `path`: NULL for what goes elsewhere. Links are followed once, for the file and those beside it.
 * EXISTS when the name does and is not to be overwritten, BUSY when somebody updates what would be,
 * or is reading a folder that would; the commit looks again. What is to be overwritten is locked
 * for writers until the end. */
cip_status cip_output_begin(cip_env *env, const char *path, const cip_output_how *how,
                            cip_output **out, cip_err *err);
/* The complete file, or folder of a format, at `from`, in the same file system, takes the name
 * `path` by the commit of the output that it would be. On failure it stays what it is. */
cip_status cip_output_publish(cip_env *env, const char *from, const char *path,
                              const cip_output_how *how, cip_err *err);
/* Where it is written to: can be rewritten, cut and moved (but a target's that never changes); has
 * a name and gives members where there can be any. */
static inline cip_out *cip_output_out(cip_output *o)
{
    return o->ops->out(o);
}

/* Makes the patch's changes (NULL: none) in what was written. Then the files beside it take their
 * places, then the file itself; nothing but a file of its very name is replaced. */
cip_status cip_output_commit(cip_output *o, const cip_patch *patch, cip_err *err);
/* The first step of that alone, of what is no output. */
cip_status cip_output_patch(cip_out *out, const cip_patch *patch, cip_err *err);
/* What was written, after the same: to be read within the env, and changed, until the commit.
 * UNSUPPORTED of what is no longer here; `io` NULL: only whether it is. */
cip_status cip_output_settle(cip_output *o, const cip_patch *patch, cip_err *err);
cip_status cip_output_reopen(cip_output *o, cip_env *env, cip_io **io, cip_target *target,
                             cip_err *err);

/* Frees; what did not take its place is removed. NULL is fine. */
static inline void cip_output_end(cip_output *o)
{
    if (o != NULL)
        o->ops->end(o);
}

/* --- between the files of the output ---------------------------------------------------------- */

/* What goes behind a file, or with no path elsewhere. */
cip_status cip_output_begin_waiting(cip_env *env, const char *path, const cip_output_how *how,
                                    cip_output **out, cip_err *err);

/* The members of a new folder, whose descriptor is borrowed: *to makes them. */
typedef struct cip_members cip_members;

cip_status cip_members_begin(cip_env *env, cip_level level, int dir, cip_out *to, cip_members **out,
                             cip_err *err);
/* They as files of a store that can be changed, once all that was written is in them. */
cip_target cip_members_target(cip_members *o);
/* All that was written is in them, and as durable as the level says. */
cip_status cip_members_complete(cip_members *o, cip_err *err);
/* Closes them, frees. NULL is fine. */
void cip_members_end(cip_members *o);

#endif
