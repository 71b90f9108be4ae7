/* SPDX-License-Identifier: BSD-3-Clause
 * Converting: what the output cannot hold is named and refused, the rest is streamed into its
 * store and put in place in one step. */
#include "cippus/convert.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/reading/lacks.h"
#include "core/writing/output.h"
#include "core/writing/sink_run.h"
#include "core/writing/spec_text.h"
#include "base/sized.h"
#include "io/temporary.h"

static cip_status choose_format(const char *out, const cip_convert_options *o, cip_sink_job *job,
                                cip_err *err)
{
    job->format = cip_format_to_write(o->format, out, &job->spec.kind);
    if (job->format == NULL)
        CIP_TRY(cip_format_check_name(o->format, out, err));
    if (job->format == NULL && o->format != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "no format is named '%.60s'", o->format);
    if (job->format == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "'%.100s' does not tell the format; set it (.format)", out);
    if (job->format->store == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot be written yet",
                        job->format->title);
    return CIP_OK;
}

/* --- loss ----------------------------------------------------------------------------------- */

typedef struct losses {
    const cip_convert_options *o;
    size_t n, nlack; /* those that are refused; nlack: in the input already */
    char first[200];
} losses;

static int on_loss(void *user, const cip_finding *f)
{
    losses *l = user;
    const bool refused = f->severity > CIP_WARN || (f->severity == CIP_WARN && !l->o->accept_loss);
    if (refused && l->n++ == 0)
        snprintf(l->first, sizeof l->first, "%s", f->text);
    return l->o->on_loss != NULL ? l->o->on_loss(l->o->user, f) : 0;
}

typedef struct conversion {
    const cip_file *in;
    const cip_convert_options *o;
    cip_sink_job *job;
    bool alone;   /* one array, without the tree */
    bool rewrite; /* the same format, and nothing that needs its arrays one by one */
    bool known;   /* what was left out when the input was read was told already */
} conversion;

/* What was left out when the input was read. Rewritten, the tree's text and the arrays' data go
 * along as they stand. */
static void tell_lacks(const conversion *c, cip_report *rep)
{
    if (c->known)
        return;
    if (!c->alone)
        cip_lacks_tell(c->in, !c->rewrite, rep);
    for (size_t i = 0; i < c->job->nplan; i++)
        cip_array_lacks_tell(c->job->plan[i].array, rep);
}

static cip_status check_stored(const conversion *c, cip_report *rep, cip_err *err)
{
    const cip_sink_job *job = c->job;
    const bool keeps = (job->format->store->caps & CIP_STORE_UNWRITTEN) != 0;
    for (size_t i = 0; !keeps && i < job->spec.narray; i++)
        if (job->spec.array[i].unwritten != NULL) /* who adds rows would get other values */
            cip_report_add(rep, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0,
                           job->spec.array[i].path, "the default value of added rows is lost");
    for (size_t i = 0; i < job->nleft_out; i++)
        cip_report_add(rep, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, job->left_out[i]->path,
                       "the array is left out: %.160s", job->left_out[i]->why->text);
    return job->format->store->check(&job->spec, rep, err);
}

static cip_status check_loss(const conversion *c, cip_err *err)
{
    const cip_convert_options *o = c->o;
    losses l = { .o = o };
    cip_report rep;
    cip_report_init(&rep, &c->job->env->mem, false, on_loss, &l);
    rep.once = true;
    tell_lacks(c, &rep);
    l.nlack = l.n;
    cip_status st = c->rewrite ? CIP_OK : check_stored(c, &rep, err);
    if (st == CIP_OK)
        st = cip_report_status(&rep, err);
    size_t impossible = rep.count[CIP_BAD] + rep.count[CIP_FATAL];
    cip_report_clear(&rep);
    if (st != CIP_OK || l.n == 0)
        return st;
    const char *hint = impossible != 0 ? "" : "; accept it with .accept_loss";
    if (l.nlack != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "not all of the input is read: %s%s%s", l.first,
                        l.n > 1 ? " (and more)" : "", hint);
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot hold all of it: %s%s%s",
                    c->job->format->title, l.first, l.n > 1 ? " (and more)" : "", hint);
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

static cip_status run_to(const conversion *c, cip_out *out, cip_revision *r, cip_err *err)
{
    const cip_format *format = c->job->format;
    cip_report *notes = c->job->spec.notes;
    if (c->rewrite) { /* a store's run tells the progress itself */
        notes->progress = c->o->progress;
        notes->progress_user = c->o->user;
        CIP_TRY(format->rewrite(c->in->layout, &c->job->spec, out, err));
    } else {
        CIP_TRY(cip_sink_run(c->job, out, r, err));
    }
    return cip_report_status(notes, err);
}

/* What is changed after it was written goes through a temporary file. */
static cip_status to_pipe(const conversion *c, cip_err *err)
{
    cip_env *env = c->job->env;
    cip_revision r = { .patch = { .arena = { .mem = &env->mem } } };
    cip_out out = { .write = stdout_write };
    cip_io *temporary = NULL;
    const uint32_t caps = cip_store_caps(c->job->format->store, &c->job->spec);
    cip_status st;
    if (!c->rewrite && (caps & CIP_STORE_PATCHES) == 0) {
        CIP_GO(run_to(c, &out, &r, err));
    } else {
        CIP_GO(cip_temporary_new(env, NULL, &temporary, err));
        out = cip_temporary_out(temporary);
        CIP_GO(run_to(c, &out, &r, err));
        CIP_GO(cip_output_patch(&out, &r.patch, err));
        CIP_GO(cip_io_each(temporary, 0, temporary->size, stdout_write, NULL, err));
    }
done:
    cip_io_close(temporary);
    cip_revision_clear(&r);
    return st;
}

static cip_status to_file(const conversion *c, const char *path, cip_err *err)
{
    cip_status st;
    cip_env *env = c->job->env;
    cip_revision r = { .patch = { .arena = { .mem = &env->mem } } };
    cip_output *out = NULL;
    const uint32_t caps = cip_store_caps(c->job->format->store, &c->job->spec);
    const cip_output_how how = { .level = c->o->level,
                                 .overwrite = c->o->overwrite,
                                 .at_end = c->o->at_end,
                                 .folder = (caps & CIP_STORE_FOLDER) != 0 };
    CIP_GO(cip_output_begin(env, path, &how, &out, err));
    CIP_GO(run_to(c, cip_output_out(out), &r, err));
    st = cip_output_commit(out, &r.patch, err);
done:
    cip_output_end(out);
    cip_revision_clear(&r);
    return st;
}

/* What the options say of the output. */
static cip_status fill_spec(const cip_convert_options *o, cip_arena *a, cip_spec *spec,
                            cip_err *err)
{
    CIP_TRY(cip_spec_codec(o->codec, a, spec, err));
    spec->version = o->version;
    spec->checksum = o->checksum;
    spec->accept_loss = o->accept_loss;
    spec->tree_slack = o->tree_slack;
    spec->align = o->align;
    return cip_spec_byteorder(o->byteorder, spec, err);
}

static bool may_rewrite(const cip_file *in, const cip_convert_options *o, const cip_sink_job *job)
{
    return in->format == job->format && job->format->rewrite != NULL && o->path == NULL &&
           o->storage == NULL && !o->resolve_refs &&
           job->format->may_rewrite(in->layout, &job->spec);
}

/* Whether a file of this name is to be text and nothing else. */
static bool is_text(const cip_format *format, const char *out)
{
    const char *dot = strrchr(out, '.');
    return dot != NULL && cip_is_word_of(format->text_extensions, dot + 1, strlen(dot + 1));
}

/* Of the rest of the tree nothing was asked for. */
static cip_status tree_of_one(conversion *c, cip_arena *a, cip_err *err)
{
    static const char key[] = "attributes", other[] = "_attributes"; /* the array has the first */
    const char *field;
    cip_node *tree;
    const cip_array *only = cip_find_field(c->in, c->o->path, &field, NULL);
    if (only == NULL || only->attributes == NULL)
        return CIP_OK;
    const bool taken = strncmp(only->path, key, sizeof key - 1) == 0;
    CIP_TRY(cip_node_new_map(a, 1, &tree, err));
    c->job->spec.tree = tree;
    return cip_node_set_key(a, tree, 0, taken ? other : key, only->attributes, err);
}

/* The tree that goes along: of a format with values that are arrays, for another one, a tree with
 * plain values. */
static cip_status choose_tree(conversion *c, cip_arena *a, cip_err *err)
{
    cip_sink_job *job = c->job;
    const cip_layout *l = c->in->layout;
    bool *within;
    c->alone = c->o->path != NULL && !cip_path_is_root(c->o->path);
    job->spec.tree = NULL;
    if (c->alone)
        return tree_of_one(c, a, err);
    CIP_TRY(cip_lacks_prune(job->env, a, l->tree, &job->spec.tree, err));
    if (c->in->format == job->format || c->in->format->plain == NULL || job->spec.tree == NULL)
        return CIP_OK;
    CIP_TRY(CIP_ARENA_NEW(a, &within, l->narray, err));
    job->within = within;
    return c->in->format->plain(l, a, &job->spec.tree, within, err);
}

static cip_status convert(conversion *c, const char *out, cip_arena *a, cip_err *err)
{
    cip_sink_job *job = c->job;
    cip_where *where = &job->spec.where;
    CIP_TRY(choose_format(out, c->o, job, err));
    CIP_TRY(choose_tree(c, a, err));
    job->spec.source_format = c->in->format->name;
    job->spec.origin_keys = c->in->format->origin_keys;
    job->spec.form_keys = c->in->format->form_keys;
    if (c->in->format == job->format)
        job->spec.from = c->in->layout;
    cip_output_place(c->in->io->name, out, &job->spec);
    job->spec.whole = job->spec.from != NULL && !c->alone;
    CIP_TRY(fill_spec(c->o, a, &job->spec, err));
    CIP_TRY(cip_spec_may(job->format, &job->spec, err));
    CIP_TRY(cip_spec_options(job->format, c->o->format_options, a, &job->spec.option, err));
    CIP_TRY(cip_spec_where(c->o->storage, where, err));
    if (*where == CIP_WHERE_DEFAULT && is_text(job->format, out))
        *where = CIP_WHERE_INLINE;
    job->spec.text_only = *where == CIP_WHERE_INLINE && is_text(job->format, out);
    c->rewrite = *where == CIP_WHERE_DEFAULT && may_rewrite(c->in, c->o, job);
    if (!c->rewrite)
        CIP_TRY(cip_convert_plan(job, c->in, c->o->path, c->o->resolve_refs, a, err));
    CIP_TRY(check_loss(c, err));
    if (strcmp(out, "-") != 0)
        return to_file(c, out, err);
    if (c->o->at_end == NULL)
        return to_pipe(c, err);
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file to append to, found a pipe");
}

static cip_status convert_file(const cip_file *in, const char *out, const cip_convert_options *opts,
                               bool known, cip_err *err)
{
    cip_convert_options o;
    if (in == NULL || out == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected an input and an output, found NULL");
    CIP_TRY(cip_file_has_bytes(in, err));
    CIP_TRY(CIP_SIZED_TAKE(cip_convert_options, opts, &o, err));
    cip_arena arena = { .mem = &in->layout->env->mem };
    cip_sink_job job = { .env = in->layout->env, .progress = o.progress, .user = o.user };
    cip_report notes;
    cip_report_init(&notes, &job.env->mem, false, o.on_loss, o.user);
    job.spec.env = job.env;
    job.spec.notes = &notes;
    conversion c = { .in = in, .o = &o, .job = &job, .known = known };
    cip_status st = convert(&c, out, &arena, err);
    cip_report_clear(&notes);
    for (size_t i = 0; i < job.nplan; i++)
        cip_read_plan_clear(&job.plan[i]);
    cip_arena_clear(&arena);
    return st;
}

cip_status cip_convert_known(const cip_file *in, const char *out, const cip_convert_options *opts,
                             cip_err *err)
{
    return convert_file(in, out, opts, true, err);
}

cip_status cip_convert_file(const cip_file *in, const char *out, const cip_convert_options *opts,
                            cip_err *err)
{
    err = cip_err_enter(err);
    return convert_file(in, out, opts, false, err);
}

cip_status cip_convert(const char *in, const char *out, const cip_convert_options *opts,
                       cip_err *err)
{
    err = cip_err_enter(err);
    cip_convert_options o;
    cip_open_options how;
    cip_file *f;
    CIP_TRY(CIP_SIZED_TAKE(cip_convert_options, opts, &o, err));
    CIP_TRY(CIP_SIZED_TAKE(cip_open_options, o.input, &how, err));
    if (how.check == CIP_CHECK_DEFAULT) /* a copy with checksums of its own would hide damage */
        how.check = CIP_CHECK_ON;
    CIP_TRY(cip_open(in, &how, &f, err));
    cip_status st = cip_convert_file(f, out, &o, err);
    cip_file_close(f);
    return st;
}
