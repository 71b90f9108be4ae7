/* SPDX-License-Identifier: BSD-3-Clause
 * The exploded form of a file, where its format has one, and back. */
#include <string.h>

#include "core/reading/lacks.h"
#include "core/writing/output.h"
#include "core/writing/sink_run.h"
#include "base/sized.h"

static cip_status find_arrays(const cip_file *f, const cip_explode_options *o, cip_arena *a,
                              cip_explosion *how, cip_err *err)
{
    const cip_array **list;
    cip_err why = CIP_ERR_INIT;
    how->bare = o->bare;
    CIP_TRY(CIP_ARENA_NEW(a, &list, o->npath, err));
    for (size_t i = 0; i < o->npath; i++) {
        list[i] = cip_find(f, o->path[i], &why);
        if (list[i] == NULL) {
            return cip_err_give(err, &why, (cip_status)why.code);
        }
    }
    how->array = list;
    how->narray = o->npath;
    return CIP_OK;
}

static cip_status write_to(cip_file *f, const cip_explosion *how, const cip_explode_options *o,
                           const char *path, cip_err *err)
{
    cip_status st;
    cip_output *out = NULL;
    const cip_format *format = f->format;
    cip_report notes;
    cip_report_init(&notes, &f->env.mem, false, o->on_loss, o->user);
    cip_spec spec = { .env = &f->env,
                      .big = -1,
                      .accept_loss = o->accept_loss,
                      .notes = &notes,
                      .tree_slack = o->tree_slack,
                      .align = o->align };
    cip_output_place(f->io->name, path, &spec);
    CIP_GO(cip_lost_bytes_check(f, o->accept_loss, &notes, err));
    const cip_output_how to = { .level = o->level, .overwrite = o->overwrite };
    CIP_GO(cip_output_begin(&f->env, path, &to, &out, err));
    if (how != NULL)
        CIP_GO(format->explode(f->layout, how, &spec, cip_output_out(out), err));
    else
        CIP_GO(format->rewrite(f->layout, &spec, cip_output_out(out), err));
    st = cip_output_commit(out, NULL, err);
done:
    cip_output_end(out);
    cip_report_clear(&notes);
    return st;
}

static cip_status run(const char *in, const char *out, const cip_explode_options *opts, bool apart,
                      cip_err *err)
{
    cip_explode_options o;
    cip_explosion how = { .narray = 0 };
    cip_file *f;
    cip_status st = CIP_OK;
    if (in == NULL || out == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected an input and an output, found NULL");
    if (strcmp(out, "-") == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file's name as the output");
    CIP_TRY(CIP_SIZED_TAKE(cip_explode_options, opts, &o, err));
    CIP_TRY(cip_open(in, o.input, &f, err));
    cip_arena arena = { .mem = &f->env.mem };
    if (f->format->explode == NULL)
        CIP_GO(cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s has no exploded form",
                        f->format->title));
    if (apart)
        CIP_GO(find_arrays(f, &o, &arena, &how, err));
    st = write_to(f, apart ? &how : NULL, &o, out, err);
done:
    cip_arena_clear(&arena);
    cip_file_close(f);
    return st;
}

cip_status cip_explode(const char *in, const char *out, const cip_explode_options *opts,
                       cip_err *err)
{
    err = cip_err_enter(err);
    return run(in, out, opts, true, err);
}

cip_status cip_implode(const char *in, const char *out, const cip_explode_options *opts,
                       cip_err *err)
{
    err = cip_err_enter(err);
    return run(in, out, opts, false, err);
}
