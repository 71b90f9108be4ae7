/* SPDX-License-Identifier: BSD-3-Clause
 * A set of files that lies in a folder, in memory and in a store of a caller's: what is committed
 * to one of them is to be seen in each. */
#ifndef CIP_TESTS_THREE_STORES_H
#define CIP_TESTS_THREE_STORES_H

#include <sys/stat.h>

#include "core/commit/commit.h"
#include "core/commit/memory_file.h"
#include "support/temp_folder.h"
#include "support/test_store.h"

enum { IN_FOLDER, IN_MEMORY, IN_METHODS, NSTORES };

typedef struct three_stores {
    char path[600]; /* of the folder, which is empty */
    cip_memory *memory;
    test_store methods;
    test_file *file;
} three_stores;

static const cip_io_methods three_stores_reads = TEST_STORE_READS;

static inline void three_stores_open(three_stores *t, scratch *s)
{
    memset(t, 0, sizeof *t);
    snprintf(t->path, sizeof t->path, "%s", scratch_path(s, "set"));
    if (mkdir(t->path, 0755) != 0 || cip_memory_new(NULL, 0, &t->memory, NULL) != CIP_OK)
        abort();
    t->file = test_store_put(&t->methods, "(root)", "", 0);
}

/* Removes the folder, which must be empty. */
static inline void three_stores_close(three_stores *t)
{
    if (rmdir(t->path) != 0)
        abort();
    cip_memory_free(t->memory);
    test_store_clear(&t->methods);
}

static inline cip_status three_stores_io(three_stores *t, int kind, cip_env *env, cip_io **out,
                                         cip_err *err)
{
    if (kind == IN_FOLDER)
        return cip_io_open_path(env, t->path, out, err);
    if (kind == IN_METHODS)
        return cip_io_open_user(env, &three_stores_reads, t->file, out, err);
    const cip_io_methods reads = cip_memory_reads(t->memory);
    return cip_io_open_user(env, &reads, t->memory, out, err);
}

static inline cip_status three_stores_begin(three_stores *t, int kind, cip_env *env,
                                            cip_commit **out, cip_err *err)
{
    static const cip_io_write_methods writes = TEST_STORE_WRITES;
    const cip_change_options o = { .size = sizeof o, .level = CIP_LEVEL_PROCESS };
    cip_target target = { .methods = writes, .user = t->file };
    cip_io *io;
    if (kind == IN_FOLDER)
        return cip_commit_begin(env, t->path, &o, out, err);
    if (kind == IN_MEMORY)
        target = cip_memory_target(t->memory);
    CIP_TRY(three_stores_io(t, kind, env, &io, err));
    return cip_commit_begin_io(env, io, &target, &o, out, err);
}

static inline cip_status three_stores_commit(three_stores *t, int kind, cip_env *env,
                                             const cip_revision *r, cip_err *err)
{
    cip_commit *c;
    CIP_TRY(three_stores_begin(t, kind, env, &c, err));
    cip_status st = cip_commit_apply(c, r, err);
    cip_commit_end(c);
    return st;
}

#endif
