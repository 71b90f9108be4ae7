/* SPDX-License-Identifier: BSD-3-Clause
 * New files behind all that another file has, as frames are appended to a file: they wait in a
 * temporary file and are added by one commit, so that there is the old file or all of the new one
 * behind it. The file is under the writers' lock all the while, so its end stays where it is. */
#include "core/writing/output.h"
#include "io/temporary.h"

typedef struct end_output {
    cip_output o;
    cip_env *env;
    cip_commit *commit;
    uint64_t at; /* the file's end */
    cip_io *data;
    cip_out out;
} end_output;

static cip_out *end_out(cip_output *o)
{
    return &((end_output *)o)->out;
}

static cip_status add_all(const end_output *o, cip_revision *r, cip_err *err)
{
    r->has_tail = true;
    r->tail_off = o->at;
    CIP_TRY(cip_revision_range(r, o->data, 0, o->data->size, err));
    return cip_commit_apply(o->commit, r, err);
}

static cip_status end_commit(cip_output *output, cip_err *err)
{
    const end_output *o = (const end_output *)output;
    cip_revision r = { .patch = { .arena = { .mem = &o->env->mem } } };
    cip_status st = add_all(o, &r, err);
    cip_revision_clear(&r);
    return st;
}

static void end_end(cip_output *output)
{
    end_output *o = (end_output *)output;
    cip_mem *mem = &o->env->mem;
    cip_io_close(o->data);
    cip_commit_end(o->commit);
    cip_mem_put(mem, o);
}

static const cip_output_ops end_ops = { .out = end_out, .commit = end_commit, .end = end_end };

cip_status cip_output_begin_at_end(cip_env *env, const char *path, const cip_output_how *how,
                                   cip_output **out, cip_err *err)
{
    const cip_edit_options as = { .size = sizeof as, .level = how->level };
    end_output *o = NULL;
    cip_status st;
    if (how->overwrite)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a file to write behind, not one to replace");
    if (how->folder)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a format of one file to write behind another, not a folder");
    CIP_GO(CIP_NEW(&env->mem, &o, 1, err));
    o->o.ops = &end_ops;
    o->env = env;
    CIP_GO(cip_commit_begin(env, path, &as, &o->commit, err));
    if (cip_io_is_folder(cip_commit_io(o->commit)))
        CIP_GO(cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a file to write behind, found a folder"));
    CIP_GO(cip_temporary_new(env, NULL, &o->data, err));
    o->out = cip_temporary_out(o->data);
    o->at = cip_commit_io(o->commit)->size;
    *how->at_end = o->at;
    *out = &o->o;
    return CIP_OK;
done:
    if (o != NULL)
        end_end(&o->o);
    return cip_fail_in(err, st, "output");
}
