/* SPDX-License-Identifier: BSD-3-Clause
 * New files in a store of the caller's, which sees nothing of them before the commit: a store
 * need not be able to take anything back. So what is written waits in temporary files, but where
 * writing begins with the commit and goes forwards only. In memory nothing has to wait. */
#include "core/writing/output.h"

#include <string.h>

#include "io/pieces.h"
#include "io/temporary.h"

/* A file that waits, and where it goes. */
typedef struct member {
    struct member *next;
    char *name;
    cip_revision bytes;
    cip_pieces pieces; /* of them, in what all members wait in */
    cip_out out;       /* of one in memory */
    cip_target target; /* once it is made */
    bool made;
} member;

typedef struct target_output {
    cip_output o;
    cip_env *env;
    const cip_target *target; /* borrowed; NULL: into memory or a temporary file, which stay */
    cip_memory *memory;
    cip_level level;
    cip_io *data;  /* what waits; NULL: nothing does */
    cip_io *waits; /* what waits of members; NULL: there are none, or in memory */
    cip_out out;
    member *first, **last;
} target_output;

/* --- members ------------------------------------------------------------------------------------
 */

static void member_end(cip_mem *mem, member *m)
{
    cip_target_close(&m->target);
    cip_revision_clear(&m->bytes);
    cip_mem_put(mem, m->name);
    cip_mem_put(mem, m);
}

static cip_status new_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    target_output *o = user;
    cip_mem *mem = &o->env->mem;
    cip_status st;
    member *m;
    CIP_TRY(cip_target_has_members(o->target, name, err));
    CIP_TRY(CIP_NEW(mem, &m, 1, err));
    CIP_GO(cip_mem_copy(mem, name, strlen(name), &m->name, err));
    if (o->waits == NULL)
        CIP_GO(cip_temporary_new(o->env, NULL, &o->waits, err));
    m->bytes = (cip_revision){ .patch = { .arena = { .mem = mem } }, .anew = true };
    cip_pieces_begin(&m->pieces, o->waits, &m->bytes);
    *o->last = m;
    o->last = &m->next;
    *out = &m->pieces.out;
    return CIP_OK;
done:
    member_end(mem, m);
    return st;
}

/* Nobody sees it before the whole is complete, so that it is written where it stays. */
static cip_status new_in_memory(void *user, const char *name, cip_out **out, cip_err *err)
{
    target_output *o = user;
    cip_memory *made;
    member *m;
    CIP_TRY(CIP_NEW(&o->env->mem, &m, 1, err));
    *o->last = m;
    o->last = &m->next;
    CIP_TRY(cip_memory_create(o->memory, name, &made, err));
    m->out = cip_memory_out(made);
    *out = &m->out;
    return CIP_OK;
}

/* --- the commit ------------------------------------------------------------------------------ */

/* `data` NULL: the bytes are there already. */
static cip_status deliver(const target_output *o, const cip_target *t, cip_io *data,
                          uint64_t nbytes, cip_err *err)
{
    if (data != NULL)
        CIP_TRY(cip_target_copy(t, 0, data, 0, nbytes, err));
    CIP_TRY(cip_target_resize(t, nbytes, err));
    return cip_target_finish(t, o->level == CIP_LEVEL_POWER, err);
}

static cip_status make_member(const target_output *o, member *m, cip_err *err)
{
    cip_io *data;
    CIP_TRY(cip_target_member(o->target, m->name, &m->target, err));
    m->made = true;
    CIP_TRY(cip_io_open_revision(o->waits, &m->bytes, &data, err));
    cip_status st = deliver(o, &m->target, data, data->size, err);
    cip_io_close(data);
    return st;
}

static cip_status deliver_all(target_output *o, cip_err *err)
{
    if (o->memory != NULL)
        cip_memory_complete(o->memory);
    if (o->target == NULL)
        return CIP_OK;
    for (member *m = o->first; m != NULL; m = m->next)
        CIP_TRY(make_member(o, m, err));
    return deliver(o, o->target, o->data, o->out.n, err);
}

static cip_status target_commit(cip_output *output, cip_err *err)
{
    target_output *o = (target_output *)output;
    cip_status st = deliver_all(o, err);
    for (member *m = o->first; st != CIP_OK && m != NULL; m = m->next) {
        cip_target_close(&m->target);
        if (m->made)
            cip_target_unlink(o->target, m->name);
    }
    return st;
}

static void target_end(cip_output *output)
{
    target_output *o = (target_output *)output;
    cip_mem *mem = &o->env->mem;
    for (member *m = o->first, *next; m != NULL; m = next) {
        next = m->next;
        member_end(mem, m);
    }
    cip_io_close(o->data);
    cip_io_close(o->waits);
    cip_mem_put(mem, o);
}

static cip_out *target_out(cip_output *o)
{
    return &((target_output *)o)->out;
}

/* --- beginning --------------------------------------------------------------------------------
 */

static cip_status output_new(cip_env *env, target_output **out, cip_err *err)
{
    static const cip_output_ops ops = { .out = target_out,
                                        .commit = target_commit,
                                        .end = target_end };
    CIP_TRY(CIP_NEW(&env->mem, out, 1, err));
    (*out)->o.ops = &ops;
    (*out)->env = env;
    (*out)->last = &(*out)->first;
    return CIP_OK;
}

cip_status cip_output_begin_memory(cip_env *env, cip_memory *memory, cip_output **out, cip_err *err)
{
    target_output *o;
    *out = NULL;
    CIP_TRY(output_new(env, &o, err));
    o->memory = memory;
    o->out = cip_memory_out(memory);
    o->out.member = new_in_memory;
    o->out.member_user = o;
    *out = &o->o;
    return CIP_OK;
}

cip_status cip_output_begin_temporary(cip_env *env, cip_io *temporary, cip_output **out,
                                      cip_err *err)
{
    target_output *o;
    *out = NULL;
    CIP_TRY(output_new(env, &o, err));
    o->out = cip_temporary_out(temporary);
    *out = &o->o;
    return CIP_OK;
}

static cip_status write_through(void *user, const void *p, size_t n, cip_err *err)
{
    const target_output *o = user;
    return cip_fail_in(err, cip_target_write(o->target, o->out.n, p, n, err), "output");
}

cip_status cip_output_begin_target(cip_env *env, const cip_target *target, cip_level level,
                                   bool changes, cip_output **out, cip_err *err)
{
    target_output *o;
    *out = NULL;
    CIP_TRY(output_new(env, &o, err));
    o->target = target;
    o->level = level;
    cip_status st = changes ? cip_temporary_new(env, NULL, &o->data, err) : CIP_OK;
    if (st != CIP_OK) {
        target_end(&o->o);
        return st;
    }
    o->out = changes ? cip_temporary_out(o->data) : (cip_out){ .write = write_through, .user = o };
    o->out.name = target->methods.name;
    o->out.member = changes && target->methods.name != NULL ? new_member : NULL;
    o->out.member_user = o;
    *out = &o->o;
    return CIP_OK;
}
