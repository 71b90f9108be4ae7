/* SPDX-License-Identifier: BSD-3-Clause
 * Converting: what the output cannot hold is named and refused, the rest is streamed into its
 * sink and put in place in one step. */
#include "cippus/convert.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/commit.h"
#include "core/sink_run.h"

static cip_status check_options(const cip_convert_options *in, cip_convert_options *out,
                                cip_err *err)
{
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    if (in == NULL)
        return CIP_OK;
    if (in->size == 0 || in->size > sizeof *out)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected cip_convert_options.size between 1 and %zu, found %zu",
                        sizeof *out, in->size);
    memcpy(out, in, in->size);
    out->size = sizeof *out;
    return CIP_OK;
}

static cip_status choose_format(const char *out, const cip_convert_options *o, cip_sink_job *job,
                                cip_err *err)
{
    job->format = o->format != NULL ? cip_format_find(o->format) : cip_format_of_name(out);
    if (job->format == NULL && o->format != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "no format is named '%.60s'", o->format);
    if (job->format == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "'%.100s' does not tell the format; name it (--format)", out);
    if (job->format->sink == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot be written yet",
                        job->format->title);
    return CIP_OK;
}

/* "name" or "name:level". */
static cip_status parse_codec(const char *text, cip_arena *a, cip_spec *spec, cip_err *err)
{
    if (text == NULL)
        return CIP_OK;
    size_t len = strcspn(text, ":");
    char *name, *end = NULL;
    CIP_TRY(cip_arena_copy(a, text, len, &name, err));
    spec->codec = name;
    if (text[len] == '\0')
        return CIP_OK;
    long level = strtol(text + len + 1, &end, 10);
    if (end == text + len + 1 || *end != '\0' || level < -100 || level > 100)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a codec as NAME:LEVEL, found '%.60s'", text);
    spec->level = (int)level;
    return CIP_OK;
}

static cip_status parse_byteorder(const char *text, cip_spec *spec, cip_err *err)
{
    spec->big = -1;
    if (text == NULL)
        return CIP_OK;
    if (strcmp(text, "little") != 0 && strcmp(text, "big") != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected the byte order 'little' or 'big', found '%.60s'", text);
    spec->big = text[0] == 'b';
    return CIP_OK;
}

static cip_status plan_one(const cip_array *a, const char *field, cip_plan_read *p, cip_err *err)
{
    cip_read_args args = { .size = sizeof args, .field = field };
    CIP_TRY(cip_plan_make(a, &args, CIP_AS_STORED, p, err));
    cip_status st = cip_plan_check_amount(p, err);
    if (st != CIP_OK)
        cip_plan_clear(p);
    return cip_fail_in(err, st, "%s", a->path);
}

/* The arrays to write: the one that is named, or all. job->spec.narray counts the plans that are
 * made. */
static cip_status plan_arrays(const cip_file *in, const char *path, cip_arena *a, cip_sink_job *job,
                              cip_err *err)
{
    const char *field = NULL;
    const cip_array *only = NULL;
    size_t n = in->layout->narray;
    if (path != NULL) {
        only = cip_find_field(in, path, &field, err);
        if (only == NULL)
            return err != NULL ? (cip_status)err->code : CIP_ERR_NOT_FOUND;
        n = 1;
    }
    bool one = (job->format->sink->caps & CIP_SINK_ONE_ARRAY) != 0;
    if (one && n != 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "%s holds one array, the input has %zu; name one (--path)",
                        job->format->title, n);
    CIP_TRY(CIP_ARENA_NEW(a, &job->plan, n, err));
    for (size_t i = 0; i < n; i++, job->spec.narray++)
        CIP_TRY(plan_one(only != NULL ? only : in->layout->array[i], field, &job->plan[i], err));
    return CIP_OK;
}

/* --- loss ----------------------------------------------------------------------------------- */

typedef struct losses {
    const cip_convert_options *o;
    size_t n;
    char first[200];
} losses;

static int on_loss(void *user, const cip_finding *f)
{
    losses *l = user;
    if (l->n++ == 0)
        snprintf(l->first, sizeof l->first, "%s", f->text);
    return l->o->on_loss != NULL ? l->o->on_loss(l->o->user, f) : 0;
}

static cip_status check_loss(const cip_sink_job *job, const cip_convert_options *o, cip_err *err)
{
    losses l = { .o = o };
    cip_report rep;
    cip_report_init(&rep, &job->env->mem, false, on_loss, &l);
    cip_status st = job->format->sink->check(&job->spec, &rep, err);
    if (st == CIP_OK)
        st = cip_report_status(&rep, err);
    size_t impossible = rep.count[CIP_BAD] + rep.count[CIP_FATAL];
    cip_report_clear(&rep);
    if (st != CIP_OK || l.n == 0 || (o->accept_loss && impossible == 0))
        return st;
    const char *hint = impossible != 0 ? "" : "; accept it with --accept-loss";
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot hold all of it: %s%s%s",
                    job->format->title, l.first, l.n > 1 ? " (and more)" : "", hint);
}

/* --- writing -------------------------------------------------------------------------------- */

static cip_status stdout_write(void *user, const void *p, size_t n, cip_err *err)
{
    (void)user;
    const uint8_t *at = p;
    while (n != 0) {
        ssize_t w = write(STDOUT_FILENO, at, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return cip_fail_errno(err, errno, CIP_NO_OFFSET, "writing to standard output");
        at += w;
        n -= (size_t)w;
    }
    return CIP_OK;
}

static cip_status to_pipe(const cip_sink_job *job, cip_err *err)
{
    cip_patch patch = { .arena = { .mem = &job->env->mem } };
    cip_out out = { .write = stdout_write };
    if (job->format->sink->caps & CIP_SINK_PATCHES)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "%s cannot be written in one pass to a pipe", job->format->title);
    cip_status st = cip_sink_run(job, &out, &patch, err);
    cip_patch_clear(&patch);
    return st;
}

static cip_status to_file(const cip_sink_job *job, const char *path, bool overwrite, cip_err *err)
{
    cip_status st;
    cip_patch patch = { .arena = { .mem = &job->env->mem } };
    cip_replace *r = NULL;
    struct stat there;
    if (!overwrite && lstat(path, &there) == 0) { /* told before the work; the commit looks again */
        cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "the output exists");
        return cip_fail_in(err, CIP_ERR_BUSY, "output");
    }
    st = cip_replace_begin(&job->env->mem, path, CIP_LEVEL_POWER, &r, err);
    CIP_GO(cip_fail_in(err, st, "output"));
    CIP_GO(cip_sink_run(job, cip_replace_out(r), &patch, err));
    st = cip_replace_commit(r, &patch, overwrite, err);
    cip_fail_in(err, st, "output");
done:
    cip_replace_end(r);
    cip_patch_clear(&patch);
    return st;
}

cip_status cip_convert_file(const cip_file *in, const char *out, const cip_convert_options *opts,
                            cip_err *err)
{
    cip_status st;
    cip_convert_options o;
    if (in == NULL || out == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected an input and an output, found NULL");
    CIP_TRY(check_options(opts, &o, err));
    cip_arena arena = { .mem = &in->layout->env->mem };
    cip_sink_job job = { .env = in->layout->env, .progress = o.progress, .user = o.user };
    CIP_GO(choose_format(out, &o, &job, err));
    job.spec.tree = in->layout->tree;
    job.spec.source_format = in->format->name;
    CIP_GO(parse_codec(o.codec, &arena, &job.spec, err));
    CIP_GO(parse_byteorder(o.byteorder, &job.spec, err));
    CIP_GO(plan_arrays(in, o.path, &arena, &job, err));
    CIP_GO(cip_sink_spec(&job, &arena, err));
    CIP_GO(check_loss(&job, &o, err));
    st = strcmp(out, "-") == 0 ? to_pipe(&job, err) : to_file(&job, out, o.overwrite, err);
done:
    for (size_t i = 0; i < job.spec.narray; i++)
        cip_plan_clear(&job.plan[i]);
    cip_arena_clear(&arena);
    return st;
}

cip_status cip_convert(const char *in, const char *out, const cip_convert_options *opts,
                       cip_err *err)
{
    cip_convert_options o;
    cip_file *f;
    CIP_TRY(check_options(opts, &o, err));
    CIP_TRY(cip_open(in, o.input, &f, err));
    cip_status st = cip_convert_file(f, out, &o, err);
    cip_file_close(f);
    return st;
}
