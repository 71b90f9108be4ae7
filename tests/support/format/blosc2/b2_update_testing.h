/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of frames in memory for tests, seen as they will be without a commit. Included after
 * cmocka.h. */
#ifndef CIP_TESTS_B2_UPDATE_TESTING_H
#define CIP_TESTS_B2_UPDATE_TESTING_H

#include "support/format/blosc2/b2_testing.h"
#include "format/blosc2/blosc2_update.h"
#include "io/temporary.h"
#include "support/one_format.h"

typedef struct job {
    one_file f;
    cip_arena arena;
    cip_io *temporary, *after;
    cip_chunk_changes *c;
    void *u;
    cip_revision r;
    cip_err err;
} job;

static inline void job_close(job *j)
{
    cip_io_close(j->after);
    cip_revision_clear(&j->r);
    cip_chunk_changes_free(j->c);
    cip_io_close(j->temporary);
    cip_arena_clear(&j->arena);
    one_close(&j->f);
}

/* As in cip_store_begin. */
static bool (*job_alone)(void *user);

static inline cip_status job_open(job *j, cip_bytes file, const cip_allocator *from)
{
    static const cip_spec as_it_is = { .big = -1 };
    memset(j, 0, sizeof *j);
    j->err = (cip_err)CIP_ERR_INIT;
    cip_status st = one_open(&j->f, &cip_format_blosc2, file.ptr, file.len, 0, from);
    j->arena.mem = j->r.patch.arena.mem = &j->f.env.mem;
    CIP_TRY(st);
    CIP_TRY(cip_temporary_new(&j->f.env, NULL, &j->temporary, &j->err));
    const cip_store_begin b = { .env = &j->f.env,
                                .arena = &j->arena,
                                .spec = &as_it_is,
                                .old = j->f.layout,
                                .temporary = j->temporary,
                                .alone = job_alone };
    return cip_b2_store.begin(&b, &j->u, &j->err);
}

static inline cip_status job_finish(job *j)
{
    if (j->c != NULL) {
        CIP_TRY(cip_chunk_changes_finish(j->c, NULL, NULL, &j->err));
        CIP_TRY(cip_b2_store.chunks(j->u, j->c, &j->err));
    }
    CIP_TRY(cip_b2_store.finish(j->u, &j->r, &j->err));
    CIP_TRY(cip_revision_check(&j->r, j->f.io->size, &j->err));
    return cip_io_open_revision(j->f.io, &j->r, &j->after, &j->err);
}

#endif
