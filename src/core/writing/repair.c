/* SPDX-License-Identifier: BSD-3-Clause
 * Repairing: every chunk of every array is decoded, what fails is named, and the rest is converted
 * as from a sound file. The damage is patched in the open file's spaces alone: lost chunks become
 * a value there, lost arrays leave the list. */
#include "cippus/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "cippus/convert.h"
#include "core/handle.h"
#include "core/writing/sink_run.h"
#include "base/sized.h"
#include "space/read/filled.h"

/* An array that is not whole. */
typedef struct damaged {
    struct damaged *next;
    cip_array *array;
    cip_chunk_list list;
    bool whole; /* all of it is lost */
    cip_lost_chunks *lost;
    size_t n, cap;
} damaged;

typedef struct repair {
    cip_file *f;
    const cip_repair_options *o;
    cip_report rep;
    damaged *first;
} repair;

/* What reading ends with where bytes are damaged or not there; anything else is no matter of the
 * file, and ends the repair. */
static bool is_loss(cip_status st)
{
    return st != CIP_OK && st != CIP_ERR_NOMEM && st != CIP_ERR_CANCELLED && st != CIP_ERR_BUSY &&
           st != CIP_ERR_LIMIT && st != CIP_ERR_ARG;
}

static cip_status pass_on(cip_status st, const cip_err *why, cip_err *err)
{
    cip_err_pass(err, why);
    return st;
}

/* --- what is lost ----------------------------------------------------------------------------- */

static cip_status add_lost(repair *r, damaged *d, uint64_t i, uint64_t n, cip_err *err)
{
    if (d->n != 0 && d->lost[d->n - 1].first + d->lost[d->n - 1].n == i) {
        d->lost[d->n - 1].n += n;
        return CIP_OK;
    }
    if (d->n == d->cap) {
        const size_t cap = d->cap == 0 ? 16 : 2 * d->cap;
        CIP_TRY(cip_mem_resize(&r->f->env.mem, (void **)&d->lost, cap * sizeof *d->lost, err));
        d->cap = cap;
    }
    d->lost[d->n++] = (cip_lost_chunks){ i, n };
    return CIP_OK;
}

static void say_box(const cip_chunk_info *o, cip_buf *text)
{
    if (!o->box_exact && o->range_exact) {
        cip_buf_addf(text, NULL, "elements %" PRIu64 " to %" PRIu64 " in C order", o->first,
                     o->first + o->nelem - 1);
        return;
    }
    cip_buf_addf(text, NULL, o->box_exact ? "[" : "elements in [");
    for (int k = 0; k < o->ndim; k++)
        cip_buf_addf(text, NULL, "%s%" PRId64 ":%" PRId64, k != 0 ? ", " : "", o->box.start[k],
                     o->box.stop[k]);
    cip_buf_addf(text, NULL, "]");
}

/* The elements of chunks i to i + n - 1, which are lost alike. */
static void tell_lost(repair *r, const damaged *d, uint64_t i, uint64_t n, const cip_err *why)
{
    cip_chunk c;
    cip_chunk_info info = { .size = sizeof info };
    cip_buf text = { .mem = &r->f->env.mem };
    const bool known = cip_chunk_list_regular(&d->list, i, &c) ||
                       cip_chunk_list_at(&d->list, i, &c, NULL) == CIP_OK;
    if (known) {
        cip_chunk_list_describe(&d->list, i, &c, &info);
        say_box(&info, &text);
    } else {
        cip_buf_addf(&text, NULL, "chunk %" PRIu64, i);
    }
    if (n > 1)
        cip_buf_addf(&text, NULL, " and the %" PRIu64 " chunks after it", n - 1);
    cip_report_add(&r->rep, CIP_BAD, (cip_status)why->code, why->offset, 0, d->array->path,
                   "%.*s %s lost: %s%s%s%s", (int)text.len, (const char *)text.ptr,
                   n > 1 ? "are" : "is", why->part, why->part[0] != '\0' ? ": " : "", why->text,
                   r->o->fill != NULL ? "; filled" : "");
    cip_buf_clear(&text);
}

/* --- looking at arrays ------------------------------------------------------------------------ */

/* An array in no chunks of its own is read from end to end: it is whole, or lost. */
static cip_status look_at_all(repair *r, const cip_array *a, cip_err *err)
{
    const cip_read_how how = { a->layout, r->f->env.pool };
    cip_space *s = a->space;
    char kind[CIP_LAYOUT_KIND];
    CIP_TRY(cip_space_resolve(s, &s, err));
    if (r->f->env.limits.max_elements == 0 && !cip_layout_expects(s->layout, s->len))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%" PRIu64 " bytes out of %s", s->len,
                        cip_layout_kind(s->layout, kind));
    return cip_space_stream(&how, s, 1 << 20, cip_report_read, &r->rep, err);
}

static cip_status look_at_chunk(repair *r, const damaged *d, uint64_t i, cip_chunk *c, cip_err *err)
{
    const cip_read_how how = { d->array->layout, r->f->env.pool };
    cip_mem *mem = &r->f->env.mem;
    uint8_t *raw = NULL;
    *c = (cip_chunk){ .run = 1 };
    CIP_TRY(cip_chunk_list_at(&d->list, i, c, err));
    if (c->state != CIP_CHUNK_DATA && c->state != CIP_CHUNK_MISSING)
        return CIP_OK;
    if (c->state == CIP_CHUNK_DATA)
        CIP_TRY(cip_mem_get(mem, (size_t)c->raw_len, (void **)&raw, err));
    cip_status st = cip_chunk_list_decode(&how, &d->list, i, c, raw, err);
    cip_mem_put(mem, raw);
    cip_report_progress(&r->rep, c->raw_len);
    return st;
}

/* Where a chunk lies that can be decoded. */
typedef struct place {
    cip_extent at;
    uint64_t i;
    uint64_t other; /* a chunk with some of the same bytes; UINT64_MAX: none */
} place;

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->at.in != y->at.in)
        return (uintptr_t)x->at.in < (uintptr_t)y->at.in ? -1 : 1;
    return x->at.off < y->at.off ? -1 : x->at.off > y->at.off;
}

static int by_number(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->i < y->i ? -1 : x->i > y->i;
}

static int by_first(const void *a, const void *b)
{
    const cip_lost_chunks *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void compare_places(place *p, size_t n)
{
    qsort(p, n, sizeof *p, by_place);
    for (size_t k = 1, last = 0; k < n; k++) { /* `last`: that which reaches furthest */
        const cip_extent *was = &p[last].at, *now = &p[k].at;
        const bool same = was->in == now->in;
        if (same && now->off - was->off < was->len) {
            p[last].other = p[k].i;
            p[k].other = p[last].i;
        }
        if (!same || now->off + now->len > was->off + was->len)
            last = k;
    }
    qsort(p, n, sizeof *p, by_number);
}

/* Chunks with the same bytes: a damaged index names one of them in place of another, nobody knows
 * which. */
static cip_status lose_shared(repair *r, damaged *d, cip_buf *places, cip_err *err)
{
    place *p = (place *)(void *)places->ptr;
    const size_t n = places->len / sizeof *p;
    if (n > 1)
        compare_places(p, n);
    for (size_t k = 0; k < n; k++) {
        cip_err why = CIP_ERR_INIT;
        if (p[k].other == UINT64_MAX)
            continue;
        cip_fail(&why, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                 "expected separate chunks, found bytes of chunk %" PRIu64 " in this one",
                 p[k].other);
        CIP_TRY(add_lost(r, d, p[k].i, 1, err));
        tell_lost(r, d, p[k].i, 1, &why);
        CIP_TRY(cip_report_status(&r->rep, err));
    }
    if (d->n > 1)
        qsort(d->lost, d->n, sizeof *d->lost, by_first);
    return CIP_OK;
}

static cip_status look_at_each(repair *r, damaged *d, cip_buf *places, cip_err *err)
{
    cip_chunk c;
    for (uint64_t i = 0; i < d->list.n; i += c.run) {
        cip_err why = CIP_ERR_INIT;
        const cip_status st = look_at_chunk(r, d, i, &c, &why);
        const place here = { .at = c.at, .i = i, .other = UINT64_MAX };
        if (st != CIP_OK && !is_loss(st))
            return pass_on(st, &why, err);
        if (st != CIP_OK) {
            CIP_TRY(add_lost(r, d, i, c.run, err));
            tell_lost(r, d, i, c.run, &why);
        } else if (c.state == CIP_CHUNK_DATA) {
            CIP_TRY(cip_buf_add(places, &here, sizeof here, err));
        }
        CIP_TRY(cip_report_status(&r->rep, err));
    }
    return CIP_OK;
}

static cip_status look_at(repair *r, damaged *d, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_array_state(d->array, &why);
    if (st == CIP_OK && d->array->mask.array != NULL)
        st = look_at_all(r, d->array->mask.array, &why);
    if (st == CIP_OK)
        st = cip_chunk_list_open(d->array, &d->list, &why);
    const cip_space *s = st == CIP_OK ? d->list.s : NULL;
    if (st == CIP_OK && (s->kind == CIP_SPACE_CHUNKED || s->kind == CIP_SPACE_GRID) &&
        s->in_order == NULL) {
        cip_buf places = { .mem = &r->f->env.mem };
        st = look_at_each(r, d, &places, err);
        if (st == CIP_OK)
            st = lose_shared(r, d, &places, err);
        cip_buf_clear(&places);
        return st;
    }
    if (st == CIP_OK)
        st = look_at_all(r, d->array, &why);
    CIP_TRY(cip_report_status(&r->rep, err));
    if (st != CIP_OK && !is_loss(st))
        return pass_on(st, &why, err);
    d->whole = st != CIP_OK;
    if (d->whole)
        cip_report_add(&r->rep, CIP_BAD, (cip_status)why.code, why.offset, 0, d->array->path,
                       "the array is lost: %s%s%s", why.part, why.part[0] != '\0' ? ": " : "",
                       why.text);
    return CIP_OK;
}

/* Those that are not whole are kept. Records of columns are as whole as their columns, each of
 * which is an array. */
static cip_status look_at_arrays(repair *r, cip_err *err)
{
    cip_layout *l = r->f->layout;
    damaged **last = &r->first;
    for (size_t i = 0; i < l->narray; i++) {
        if (l->array[i] == cip_file_whole(r->f))
            continue;
        if (*last == NULL)
            CIP_TRY(CIP_NEW(&r->f->env.mem, last, 1, err));
        (*last)->array = l->array[i];
        CIP_TRY(look_at(r, *last, err));
        if ((*last)->whole || (*last)->n != 0)
            last = &(*last)->next;
    }
    if (*last != NULL)
        cip_mem_put(&r->f->env.mem, *last);
    *last = NULL;
    return CIP_OK;
}

/* One element of what fills, as the array has it. Zero stands for zero bytes in types that are no
 * numbers. */
static cip_status fill_value(const repair *r, const cip_dtype *dtype, uint8_t *value, cip_err *err)
{
    double zero = 1;
    cip_err why = CIP_ERR_INIT;
    const cip_read_args args = { .size = sizeof args,
                                 .dtype = dtype,
                                 .dst = value,
                                 .dst_nbytes = (size_t)dtype->itemsize,
                                 .overflow =
                                     r->o->accept_loss ? CIP_OVERFLOW_CLAMP : CIP_OVERFLOW_ERROR };
    cip_status st = cip_read_into(r->o->fill, &args, &why);
    if (st == CIP_ERR_TYPE &&
        cip_read(r->o->fill, NULL, cip_dtype_of(CIP_F64), &zero, sizeof zero, NULL) == CIP_OK &&
        zero == 0) {
        memset(value, 0, (size_t)dtype->itemsize);
        return CIP_OK;
    }
    if (st != CIP_OK)
        pass_on(st, &why, err);
    return cip_fail_in(err, st, "fill");
}

static cip_status fill_lost(repair *r, const damaged *d, cip_err *err)
{
    cip_mem *mem = &r->f->env.mem;
    const cip_dtype *dtype = d->array->dtype;
    uint8_t *value;
    for (const damaged *was = r->first; was != d; was = was->next)
        if (was->list.s == d->list.s && !was->whole)
            return CIP_OK; /* an array of the same chunks came before */
    CIP_TRY(cip_mem_get(mem, (size_t)dtype->itemsize, (void **)&value, err));
    cip_status st = fill_value(r, dtype, value, err);
    if (st == CIP_OK)
        st = cip_space_fill(d->list.s, d->lost, d->n, (cip_bytes){ value, (size_t)dtype->itemsize },
                            err);
    cip_mem_put(mem, value);
    return st;
}

static void drop(cip_layout *l, const cip_array *a)
{
    size_t n = 0;
    for (size_t i = 0; i < l->narray; i++)
        if (l->array[i] != a)
            l->array[n++] = l->array[i];
    l->narray = n;
}

static cip_status settle(repair *r, cip_err *err)
{
    cip_layout *l = r->f->layout;
    for (const damaged *d = r->first; d != NULL; d = d->next) {
        /* A description in a tree would have to go, or its block be another: what is copied of a
         * file with a tree is its blocks as they lie there. */
        if (d->array->node != NULL)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "'%.100s' is damaged, and the tree cannot be written without it; "
                            "cip_convert with .path copies undamaged arrays",
                            d->array->path);
        if (r->o->fill != NULL && !d->whole) {
            CIP_TRY(fill_lost(r, d, err));
            continue;
        }
        const cip_array *records = cip_file_whole(r->f);
        drop(l, d->array);
        if (records != NULL)
            drop(l, records);
        if (l->narray == 0)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected an undamaged array%s",
                            d->whole ? "" : "; .fill sets a value for lost elements");
    }
    return CIP_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int tell(void *user, const cip_finding *f)
{
    repair *r = user;
    return r->rep.fn != NULL ? r->rep.fn(r->rep.user, f) : 0;
}

static int tell_progress(void *user, uint64_t done, uint64_t total)
{
    const repair *r = user;
    return r->o->progress(r->o->user, done, total);
}

static cip_status run(repair *r, const char *out, cip_err *err)
{
    const cip_convert_options c = { .size = sizeof c,
                                    .format = r->o->format,
                                    .accept_loss = r->o->accept_loss,
                                    .overwrite = r->o->overwrite,
                                    .on_loss = tell,
                                    .progress = r->o->progress != NULL ? tell_progress : NULL,
                                    .user = r,
                                    .level = r->o->level };
    const cip_verify_options v = { .size = sizeof v, .on_finding = tell, .user = r };
    CIP_TRY(cip_verify_file(r->f, &v, err));
    CIP_TRY(look_at_arrays(r, err));
    CIP_TRY(settle(r, err));
    return cip_convert_known(r->f, out, &c, err);
}

static bool is_same_file(const char *in, const char *out)
{
    struct stat a, b;
    return strcmp(out, "-") != 0 && stat(in, &a) == 0 && stat(out, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

cip_status cip_repair(const char *in, const char *out, const cip_repair_options *opts, cip_err *err)
{
    err = cip_err_enter(err);
    cip_repair_options o;
    cip_open_options how;
    repair r = { .o = &o };
    if (in == NULL || out == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected an input and an output, found NULL");
    CIP_TRY(CIP_SIZED_TAKE(cip_repair_options, opts, &o, err));
    CIP_TRY(CIP_SIZED_TAKE(cip_open_options, o.input, &how, err));
    if (how.check == CIP_CHECK_DEFAULT)
        how.check = CIP_CHECK_ON;
    if (how.salvage == CIP_SALVAGE_NONE)
        how.salvage = CIP_SALVAGE_CERTAIN;
    if (is_same_file(in, out))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected an output other than the input, which is never changed");
    CIP_TRY(cip_open(in, &how, &r.f, err));
    cip_report_init(&r.rep, &r.f->env.mem, false, o.on_finding, o.user);
    r.rep.progress = o.progress;
    r.rep.progress_user = o.user;
    cip_status st = run(&r, out, err);
    for (damaged *d = r.first, *next; d != NULL; d = next) {
        next = d->next;
        cip_mem_put(&r.f->env.mem, d->lost);
        cip_mem_put(&r.f->env.mem, d);
    }
    cip_report_clear(&r.rep);
    cip_file_close(r.f);
    return st;
}
