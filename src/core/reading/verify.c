/* SPDX-License-Identifier: BSD-3-Clause
 * Verifying: the format checks its own structure and checksums, then every array is checked, and
 * with DEEP read from end to end. */
#include "cippus/check.h"

#include <string.h>

#include "core/handle.h"
#include "base/sized.h"

/* Whether the array can be read and its elements all lie in its space. */
static void check_array(const cip_array *a, cip_report *rep)
{
    cip_err err = CIP_ERR_INIT;
    cip_status st = cip_array_state(a, &err);
    if (st == CIP_OK)
        st = cip_array_check(a, &err);
    if (st == CIP_OK && a->mask.array != NULL)
        st = cip_array_state(a->mask.array, &err);
    if (st == CIP_OK && a->mask.array != NULL)
        st = cip_array_check(a->mask.array, &err);
    if (st == CIP_OK)
        return;
    cip_fail_in(&err, st, "%s", a->path);
    cip_report_err(rep, cip_severity_of(st), &err);
}

/* Decoding what a file cannot honestly stand for would never end. */
static cip_status check_amount(cip_file *f, cip_space *s, cip_err *err)
{
    char kind[CIP_LAYOUT_KIND];
    CIP_TRY(cip_space_resolve(s, &s, err));
    if (f->env.limits.max_elements != 0 || cip_layout_expects(s->layout, s->len))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                    "%" PRIu64 " bytes from %s are not decoded for the check", s->len,
                    cip_layout_kind(s->layout, kind));
}

/* Each space is streamed once, however many arrays lie in it. */
static void read_array(cip_file *f, const cip_array *a, cip_strmap *seen, cip_report *rep)
{
    cip_err err = CIP_ERR_INIT;
    cip_read_how how = { f->layout, f->env.pool };
    cip_bytes key = { (const uint8_t *)&a->space, sizeof a->space };
    if (a->st != CIP_OK || a->space == NULL || cip_strmap_get(seen, key) != SIZE_MAX ||
        cip_strmap_put(seen, key, 0, NULL, NULL) != CIP_OK)
        return;
    cip_status st = check_amount(f, a->space, &err);
    bool too_much = st == CIP_ERR_LIMIT;
    if (st == CIP_OK)
        st = cip_space_stream(&how, a->space, 1 << 20, cip_report_read, rep, &err);
    if (st == CIP_OK || cip_report_status(rep, NULL) != CIP_OK)
        return;
    cip_fail_in(&err, st, "%s", a->path);
    bool elsewhere = st == CIP_ERR_NOT_FOUND || st == CIP_ERR_UNSUPPORTED;
    cip_report_err(rep, too_much || elsewhere ? CIP_WARN : cip_severity_of(st), &err);
}

static cip_status verify_arrays(cip_file *f, bool deep, cip_report *rep, cip_err *err)
{
    cip_strmap seen = { .mem = &f->env.mem };
    cip_status st = CIP_OK;
    for (size_t i = 0; st == CIP_OK && i < f->layout->narray; i++) {
        const cip_array *a = f->layout->array[i];
        check_array(a, rep);
        /* whoever reads whole records is refused */
        for (size_t k = 0; k < a->mask.nfield; k++)
            cip_report_add(rep, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, a->path,
                           "values are missing in the field '%.60s'%s", a->mask.field[k].name,
                           a->mask.field[k].nan ? "" : ", so the fields are read one by one");
        if (deep)
            read_array(f, a, &seen, rep);
        if (deep && a->mask.array != NULL)
            read_array(f, a->mask.array, &seen, rep);
        st = cip_report_status(rep, err);
    }
    cip_strmap_clear(&seen);
    return st;
}

/* The first finding that is damage, where nobody else is told. */
static int keep_first(void *user, const cip_finding *found)
{
    cip_err *first = user;
    if (found->severity < CIP_BAD || first->code != CIP_OK)
        return 0;
    const cip_status st = found->code != CIP_OK ? found->code : CIP_ERR_CORRUPT;
    cip_fail(first, st, found->offset, "%s", found->text);
    cip_fail_in(first, st, "%s", found->part);
    return 0;
}

static cip_status verify_open(cip_file *f, const cip_verify_options *o, cip_err *err)
{
    cip_report rep;
    cip_err first = CIP_ERR_INIT;
    cip_finding_fn *fn = o->on_finding != NULL ? o->on_finding : keep_first;
    cip_report_init(&rep, &f->env.mem, false, fn, o->on_finding != NULL ? o->user : &first);
    rep.progress = o->progress;
    rep.progress_user = o->user;
    if (!o->deep)
        rep.total = f->layout->io->size; /* decoded bytes come on top: how many shows only then */
    rep.once = true;
    cip_status st = CIP_OK;
    if (f->format->verify != NULL)
        st = f->format->verify(f->layout, o->deep, &rep, err);
    if (st == CIP_OK)
        st = verify_arrays(f, o->deep, &rep, err);
    if (st == CIP_OK) {
        /* what opening tolerated is a finding too; last: found to be damage, it is not said again
         */
        const cip_finding *w;
        for (size_t i = 0; (w = cip_report_get(&f->env.warnings, i)) != NULL; i++)
            cip_report_add(&rep, w->severity, w->code, w->offset, w->length, w->part, "%s",
                           w->text);
    }
    if (st == CIP_OK && rep.done < rep.total) /* what needs no reading was looked at as well */
        cip_report_progress(&rep, rep.total - rep.done);
    if (st == CIP_OK)
        st = cip_report_status(&rep, err);
    cip_report_clear(&rep);
    return st == CIP_OK ? cip_err_give(err, &first, (cip_status)first.code) : st;
}

cip_status cip_verify_file(cip_file *f, const cip_verify_options *opts, cip_err *err)
{
    err = cip_err_enter(err);
    cip_verify_options o;
    CIP_TRY(CIP_SIZED_TAKE(cip_verify_options, opts, &o, err));
    if (f == NULL || o.open != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected an open file, found %s",
                        f == NULL ? "NULL" : "options for opening one");
    return verify_open(f, &o, err);
}

cip_status cip_verify(const char *path, const cip_verify_options *opts, cip_err *err)
{
    err = cip_err_enter(err);
    cip_verify_options o;
    cip_file *f;
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(CIP_SIZED_TAKE(cip_verify_options, opts, &o, err));
    cip_status st = cip_open(path, o.open, &f, &why);
    if (st != CIP_OK) {
        /* A file that cannot be opened because of what is in it is a finding, not a failure of the
         * check.
         */
        if (!cip_is_about_content(st) || o.on_finding == NULL) {
            cip_err_pass(err, &why);
            return st;
        }
        cip_finding fatal = { CIP_FATAL, st, why.offset, 0, why.part, why.text, false };
        if (o.on_finding(o.user, &fatal) != 0)
            return cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
        return CIP_OK;
    }
    st = verify_open(f, &o, err);
    cip_file_close(f);
    return st;
}
