/* SPDX-License-Identifier: BSD-3-Clause
 * New files that wait in temporary files until the commit: in a store of the caller's, which need
 * not be able to take anything back, and behind all that another file has, as frames are appended
 * to a file. That is under the writers' lock all the while, so its end stays where it is. In a
 * store nothing has to wait where writing begins with the commit and goes forwards only, nor in
 * memory. */
#include "core/writing/output.h"

#include "io/revision_out.h"
#include "io/temporary.h"

typedef struct target_output {
    cip_output o;
    cip_env *env;
    const cip_target *target; /* borrowed; NULL: into memory, which stays */
    cip_commit *commit;       /* of the file behind which it goes, or NULL */
    cip_memory *memory;
    cip_level level;
    cip_io *data;  /* what waits; NULL: nothing does */
    cip_io *waits; /* what waits of members; NULL: there are none, or in memory */
    cip_out out;
    cip_revision rev; /* of nothing, or of that file: what waits */
    bool tried;       /* that commit was */
} target_output;

/* --- members ---------------------------------------------------------------------------------- */

static cip_status new_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    target_output *o = user;
    cip_revision *as;
    cip_revision_out *p;
    CIP_TRY(cip_target_has_members(o->target, name, err));
    if (o->waits == NULL)
        CIP_TRY(cip_temporary_new(o->env, NULL, &o->waits, err));
    CIP_TRY(CIP_ARENA_NEW(&o->rev.patch.arena, &p, 1, err));
    CIP_TRY(cip_revision_make(&o->rev, name, &as, err));
    cip_revision_out_begin(p, o->waits, as);
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
    if (o->tried && !cip_commit_is_ready(o->commit))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "another program changed the file meanwhile");
    if (o->data != NULL && !o->tried)
        CIP_TRY(cip_revision_range(&o->rev, o->data, 0, o->data->size, err));
    o->tried = o->commit != NULL;
    if (o->commit != NULL)
        return cip_commit_apply(o->commit, &o->rev, err);
    if (o->target == NULL)
        return CIP_OK;
    if (o->data != NULL)
        return cip_commit_new_to_target(o->env, o->target, o->level, &o->rev, err);
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
    cip_commit_end(o->commit);
    cip_mem_put(mem, o);
}

static cip_out *target_out(cip_output *o)
{
    return &((target_output *)o)->out;
}

/* --- before the commit ------------------------------------------------------------------------ */

static cip_status write_at(void *user, uint64_t off, const void *p, size_t n, cip_err *err)
{
    return cip_temporary_write(user, off, p, n, err);
}

static cip_status resize(void *user, uint64_t nbytes, cip_err *err)
{
    return cip_temporary_resize(user, nbytes, err);
}

static cip_status target_reopen(cip_output *output, cip_env *env, cip_io **io, cip_target *target,
                                cip_err *err)
{
    target_output *o = (target_output *)output;
    if (o->memory == NULL && o->data == NULL)
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "an array written in one pass can be read and changed only after the commit");
    if (io == NULL)
        return CIP_OK;
    if (o->memory != NULL) {
        const cip_io_methods reads = cip_memory_reads(o->memory);
        *target = cip_memory_target(o->memory);
        return cip_io_open_user(env, &reads, o->memory, io, err);
    }
    *target = (cip_target){ .methods = { CIP_IO_WRITE_METHODS_INIT, .write_at = write_at,
                                         .resize = resize },
                            .user = o->data };
    return cip_io_open_part(o->data, 0, o->data->size, io, err);
}

/* --- beginning -------------------------------------------------------------------------------- */

static cip_status write_through(void *user, const void *p, size_t n, cip_err *err)
{
    const target_output *o = user;
    return cip_fail_in(err, cip_target_write(o->target, o->out.n, p, n, err), "output");
}

static cip_status begin_at_end(target_output *o, const char *path, const cip_output_how *how,
                               cip_err *err)
{
    const cip_change_options as = { .size = sizeof as, .level = how->level };
    if (how->overwrite)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a file to append to, not one to replace");
    if (how->folder)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a format of one file to append to another, not a folder");
    cip_status st = cip_commit_begin(o->env, path, &as, &o->commit, err);
    if (st == CIP_OK && cip_io_is_folder(cip_commit_io(o->commit)))
        st = cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                      "expected a file to append to, found a folder");
    if (st == CIP_OK)
        st = cip_temporary_new(o->env, NULL, &o->data, err);
    if (st != CIP_OK)
        return cip_fail_in(err, st, "output");
    o->out = cip_temporary_out(o->data);
    o->rev.anew = false;
    o->rev.has_tail = true;
    *how->at_end = o->rev.tail_off = cip_commit_io(o->commit)->size;
    return CIP_OK;
}

cip_status cip_output_begin_waiting(cip_env *env, const char *path, const cip_output_how *how,
                                    cip_output **out, cip_err *err)
{
    static const cip_output_ops ops = {
        .out = target_out, .reopen = target_reopen, .commit = target_commit, .end = target_end
    };
    target_output *o;
    cip_status st = CIP_OK;
    CIP_TRY(CIP_NEW(&env->mem, &o, 1, err));
    *o = (target_output){ .o = { &ops },
                          .env = env,
                          .target = how->target,
                          .memory = how->memory,
                          .level = how->level,
                          .rev = { .patch = { .arena = { .mem = &env->mem } }, .anew = true } };
    if (path != NULL) {
        st = begin_at_end(o, path, how, err);
    } else if (how->target != NULL) {
        o->out = (cip_out){ .write = write_through, .user = o };
        if (how->changes)
            st = cip_temporary_new(o->env, NULL, &o->data, err);
        if (how->changes && st == CIP_OK) {
            o->out = cip_temporary_out(o->data);
            o->out.member = o->target->methods.name != NULL ? new_member : NULL;
        }
        o->out.name = o->target->methods.name;
    } else {
        o->out = cip_memory_out(how->memory);
        o->out.member = new_in_memory;
    }
    o->out.member_user = o;
    if (st == CIP_OK)
        *out = &o->o;
    else
        target_end(&o->o);
    return st;
}
