/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays going out as raw bytes, in a one-array format, or as text, csv and json:
 * streamed in parts, so that memory is bounded whatever the size. */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "core/reading/print_elem.h"
#include "core/writing/sink_run.h"

typedef struct taker {
    cip_write_fn *fn;
    void *user;
} taker;

static cip_status give(const taker *t, const void *p, size_t n, cip_err *err)
{
    if (n != 0 && t->fn(t->user, p, n) != 0)
        return cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
    return CIP_OK;
}

/* --- raw ------------------------------------------------------------------------------------ */

static cip_status export_raw(const cip_read_plan *p, const taker *t, cip_err *err)
{
    cip_status st = CIP_OK;
    cip_parts it;
    cip_part part;
    void *buf = NULL;
    uint64_t done = 0, most = cip_piece_elems(p->to->itemsize);
    cip_parts_start(&it, p, most);
    most = most < p->nelem ? most : p->nelem;
    CIP_TRY(cip_mem_zeroed(p->arena.mem, (size_t)most, (size_t)p->to->itemsize, &buf, err));
    while (cip_parts_next(&it, &part)) {
        CIP_GO(cip_read_plan_fetch(p, &part, buf, err));
        CIP_GO(give(t, buf, (size_t)(part.nelem * p->to->itemsize), err));
        CIP_GO(cip_read_plan_progress(p, &done, part.nelem, err));
    }
done:
    cip_mem_put(p->arena.mem, buf);
    return st;
}

/* --- a format's store ------------------------------------------------------------------------ */

static cip_status sink_write(void *user, const void *p, size_t n, cip_err *err)
{
    return give(user, p, n, err);
}

/* What the format cannot hold of the array is a warning of the file; what it cannot write at all is
 * refused. */
static int warn_of_loss(void *user, const cip_finding *f)
{
    cip_env *env = user;
    cip_warn(env, f->code, CIP_NO_OFFSET, f->part, "%s", f->text);
    return 0;
}

static cip_status check_loss(const cip_sink_job *job, cip_err *err)
{
    cip_report rep;
    cip_report_init(&rep, &job->env->mem, false, warn_of_loss, job->env);
    cip_status st = job->format->store->check(&job->spec, &rep, err);
    if (st == CIP_OK && rep.count[CIP_BAD] + rep.count[CIP_FATAL] != 0)
        st = cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot hold %.100s",
                      job->format->title, cip_dtype_name(job->spec.array->dtype));
    cip_report_clear(&rep);
    return st;
}

/* A store's run counts bytes. */
static int tell_elements(void *user, uint64_t done, uint64_t total)
{
    const cip_read_plan *p = user;
    uint64_t each = cip_max_u64(1, p->stored->itemsize);
    return p->progress(p->progress_user, done / each, total / each);
}

static cip_status export_format(cip_read_plan *p, const cip_format *format, taker *t, cip_err *err)
{
    cip_status st;
    cip_env *env = p->array->layout->env;
    cip_arena arena = { .mem = &env->mem };
    cip_revision r = { .patch = { .arena = { .mem = &env->mem } } };
    cip_out out = { .write = sink_write, .user = t };
    cip_sink_job job = { .format = format, .plan = p, .env = env, .user = p };
    job.progress = p->progress != NULL ? tell_elements : NULL;
    job.spec.narray = 1;
    job.spec.env = env;
    job.spec.big = -1;
    job.spec.source_format = p->array->layout->format;
    if (format->store == NULL ||
        (format->store->caps & (CIP_STORE_PATCHES | CIP_STORE_FOLDER)) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot be written in one pass",
                        format->title);
    CIP_GO(cip_sink_spec(&job, &arena, err));
    ((cip_spec_array *)job.spec.array)->path = ""; /* a name is not what was asked for */
    CIP_GO(check_loss(&job, err));
    st = cip_sink_run(&job, &out, &r, err);
done:
    cip_revision_clear(&r);
    cip_arena_clear(&arena);
    return st;
}

/* --- text, csv, json ------------------------------------------------------------------------ */

enum { TEXT_PART_BYTES = 1 << 18 }; /* its text is a few times that */

/* What a run of text keeps. */
typedef struct texter {
    const cip_read_plan *plan;
    cip_printer pr;
    uint64_t done;        /* elements printed */
    uint64_t most;        /* elements in a part */
    uint8_t *elem, *mask; /* of a part; mask NULL: none */
    cip_buf out;
} texter;

static cip_status print_part(texter *x, const cip_part *part, const taker *t, cip_err *err)
{
    const cip_read_plan *p = x->plan;
    CIP_TRY(cip_read_plan_fetch(p, part, x->elem, err));
    if (x->mask != NULL)
        CIP_TRY(cip_read_plan_mask(p, part, x->mask, err));
    for (uint64_t i = 0; i < part->nelem; i++) {
        bool missing = x->mask != NULL && x->mask[i] != 0;
        const uint8_t *elem = missing ? NULL : x->elem + i * p->to->itemsize;
        CIP_TRY(cip_print_elem(&x->pr, p, x->done + i, elem, &x->out, err));
    }
    CIP_TRY(cip_read_plan_progress(p, &x->done, part->nelem, err));
    CIP_TRY(give(t, x->out.ptr, x->out.len, err));
    x->out.len = 0;
    return CIP_OK;
}

static cip_status texter_start(texter *x, const cip_read_plan *p, cip_print_style style,
                               cip_err *err)
{
    uint64_t each = p->to->itemsize == 0 ? 1 : p->to->itemsize;
    x->plan = p;
    x->most = cip_max_u64(TEXT_PART_BYTES / each, 1);
    x->out.mem = p->arena.mem;
    cip_printer_start(&x->pr, p, style);
    CIP_TRY(cip_mem_zeroed(p->arena.mem, (size_t)x->most, (size_t)each, (void **)&x->elem, err));
    if (!cip_plan_is_masked(p) || p->take_mask)
        return CIP_OK;
    return cip_mem_zeroed(p->arena.mem, (size_t)x->most, 1, (void **)&x->mask, err);
}

static cip_status export_text(const cip_read_plan *p, cip_print_style style, const taker *t,
                              cip_err *err)
{
    cip_status st;
    cip_parts it;
    cip_part part;
    texter x = { 0 };
    CIP_GO(texter_start(&x, p, style, err));
    CIP_GO(cip_print_head(&x.pr, p, &x.out, err));
    cip_parts_start(&it, p, x.most);
    while (cip_parts_next(&it, &part))
        CIP_GO(print_part(&x, &part, t, err));
    CIP_GO(cip_print_tail(&x.pr, p, &x.out, err));
    st = give(t, x.out.ptr, x.out.len, err);
done:
    cip_buf_clear(&x.out);
    cip_mem_put(p->arena.mem, x.mask);
    cip_mem_put(p->arena.mem, x.elem);
    return st;
}

static bool text_style(const char *to, cip_print_style *style)
{
    if (strcmp(to, "text") == 0)
        *style = CIP_PRINT_TEXT;
    else if (strcmp(to, "csv") == 0)
        *style = CIP_PRINT_CSV;
    else if (strcmp(to, "json") == 0)
        *style = CIP_PRINT_JSON;
    else if (strcmp(to, "jsonl") == 0)
        *style = CIP_PRINT_JSON_LINES;
    else
        return false;
    return true;
}

cip_status cip_export(const cip_array *a, const cip_read_args *args, const char *to,
                      cip_write_fn *fn, void *user, cip_err *err)
{
    cip_read_plan p;
    cip_print_style style;
    cip_space *space;
    cip_status st;
    taker t = { fn, user };
    CIP_TRY(cip_array_state(a, err));
    err = cip_err_enter(err);
    if (to == NULL || fn == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a kind and a function, found NULL");
    const cip_format *format = cip_format_find(to);
    if (format == NULL)
        CIP_TRY(cip_format_check_name(to, NULL, err));
    bool raw = strcmp(to, "raw") == 0;
    CIP_TRY(cip_read_plan_make(a, args,
                               format != NULL ? CIP_AS_STORED
                               : raw          ? CIP_AS_RAW
                                              : CIP_AS_NATIVE,
                               &p, err));
    CIP_GO(cip_read_plan_check_amount(&p, err));
    /* what cannot be read at all, or is not what its checksum says, fails before a head is out */
    CIP_GO(cip_space_resolve(a->space, &space, err));
    if (raw)
        st = export_raw(&p, &t, err);
    else if (text_style(to, &style))
        st = export_text(&p, style, &t, err);
    else if (format != NULL)
        st = export_format(&p, format, &t, err);
    else
        st = cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                      "expected raw, text, csv, json, jsonl or a format's name, found '%.60s'", to);
done:
    cip_read_plan_clear(&p);
    return cip_fail_in(err, st, "%s", a->path);
}
