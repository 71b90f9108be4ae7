/* SPDX-License-Identifier: BSD-3-Clause
 * New files in a store of the caller's, which sees nothing of them before the commit: a store
 * need not be able to take anything back. So what is written waits in temporary files, but where
 * writing begins with the commit and goes forwards only. In memory nothing has to wait. */
#include "core/writing/output.h"

#include "io/pieces.h"
#include "io/temporary.h"

typedef struct target_output {
    cip_output o;
    cip_env *env;
    const cip_target *target; /* borrowed; NULL: into memory or a temporary file, which stay */
    cip_memory *memory;
    cip_level level;
    cip_io *data;  /* what waits; NULL: nothing does */
    cip_io *waits; /* what waits of members; NULL: there are none, or in memory */
    cip_out out;
    cip_revision rev; /* of nothing: what waits */
} target_output;

/* --- members ---------------------------------------------------------------------------------- */

static cip_status new_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    target_output *o = user;
    cip_revision *as;
    cip_pieces *p;
    CIP_TRY(cip_target_has_members(o->target, name, err));
    if (o->waits == NULL)
        CIP_TRY(cip_temporary_new(o->env, NULL, &o->waits, err));
    CIP_TRY(CIP_ARENA_NEW(&o->rev.patch.arena, &p, 1, err));
    CIP_TRY(cip_revision_make(&o->rev, name, &as, err));
    cip_pieces_begin(p, o->waits, as);
    *out = &p->out;
    return CIP_OK;
}

/* Nobody sees it before the whole is complete, so that it is written where it stays. */
static cip_status new_in_memory(void *user, const char *name, cip_out **out, cip_err *err)
{
    target_output *o = user;
    cip_memory *made;
    cip_out *to;
    CIP_TRY(CIP_ARENA_NEW(&o->rev.patch.arena, &to, 1, err));
    CIP_TRY(cip_memory_create(o->memory, name, &made, err));
    *to = cip_memory_out(made);
    *out = to;
    return CIP_OK;
}

/* --- the commit ------------------------------------------------------------------------------ */

static cip_status target_commit(cip_output *output, cip_err *err)
{
    target_output *o = (target_output *)output;
    if (o->memory != NULL)
        cip_memory_complete(o->memory);
    if (o->target == NULL)
        return CIP_OK;
    if (o->data != NULL) {
        CIP_TRY(cip_revision_range(&o->rev, o->data, 0, o->out.n, err));
        return cip_commit_new_to_target(o->env, o->target, o->level, &o->rev, err);
    }
    CIP_TRY(cip_target_resize(o->target, o->out.n, err));
    return cip_target_finish(o->target, o->level == CIP_LEVEL_POWER, err);
}

static void target_end(cip_output *output)
{
    target_output *o = (target_output *)output;
    cip_mem *mem = &o->env->mem;
    cip_revision_clear(&o->rev);
    cip_io_close(o->data);
    cip_io_close(o->waits);
    cip_mem_put(mem, o);
}

static cip_out *target_out(cip_output *o)
{
    return &((target_output *)o)->out;
}

/* --- beginning -------------------------------------------------------------------------------- */

static cip_status write_through(void *user, const void *p, size_t n, cip_err *err)
{
    const target_output *o = user;
    return cip_fail_in(err, cip_target_write(o->target, o->out.n, p, n, err), "output");
}

/* In a store, and what can have members there. */
static cip_status begin_target(target_output *o, const cip_output_how *how, cip_err *err)
{
    o->out = (cip_out){ .write = write_through, .user = o };
    if (how->changes) {
        CIP_TRY(cip_temporary_new(o->env, NULL, &o->data, err));
        o->out = cip_temporary_out(o->data);
        o->out.member = o->target->methods.name != NULL ? new_member : NULL;
    }
    o->out.name = o->target->methods.name;
    return CIP_OK;
}

cip_status cip_output_begin_elsewhere(cip_env *env, const cip_output_how *how, cip_output **out,
                                      cip_err *err)
{
    static const cip_output_ops ops = { .out = target_out,
                                        .commit = target_commit,
                                        .end = target_end };
    target_output *o;
    cip_status st = CIP_OK;
    CIP_TRY(CIP_NEW(&env->mem, &o, 1, err));
    *o = (target_output){ .o = { &ops },
                          .env = env,
                          .target = how->target,
                          .memory = how->memory,
                          .level = how->level,
                          .rev = { .patch = { .arena = { .mem = &env->mem } }, .anew = true } };
    if (how->target != NULL) {
        st = begin_target(o, how, err);
    } else if (how->memory != NULL) {
        o->out = cip_memory_out(how->memory);
        o->out.member = new_in_memory;
    } else {
        o->out = cip_temporary_out(how->temporary);
    }
    o->out.member_user = o;
    if (st == CIP_OK)
        *out = &o->o;
    else
        target_end(&o->o);
    return st;
}
