/* SPDX-License-Identifier: BSD-3-Clause
 * Which elements a picture is made of. Steps along both axes are as long as it takes for the places
 * to fit into the picture, and for what is read or decoded to stay within max_nbytes: the cost is
 * worked out before anything is read. */
#include "base/num.h"
#include "picture/picture.h"

enum {
    NARROW = 16,         /* an axis so many times shorter than the other */
    FEWEST = 32,         /* gets at least as many places, and pixels */
    MOST_ZOOM = 16,      /* pixels of an element's side, unless asked for */
    LINE_ELEMS = 1 << 22 /* of a line: read in all of its places */
};

/* Where each axis of the array begins and steps, by the caller's selection. */
typedef struct origin {
    int64_t start[CIP_MAX_NDIM], step[CIP_MAX_NDIM];
    int32_t axis_of[CIP_MAX_NDIM]; /* of each axis that is left: the array's; -1: a new one */
} origin;

/* Views whose offset and strides count the steps along one axis. */
static cip_status find_origin(const cip_read_plan *r, origin *o, cip_err *err)
{
    cip_nd probe = r->whole, left;
    int8_t axis[CIP_MAX_NDIM];
    probe.off = 0;
    memset(probe.stride, 0, sizeof probe.stride);
    for (int32_t k = 0; k < probe.ndim; k++) {
        probe.stride[k] = 1;
        CIP_TRY(cip_view_select(&probe, &r->sel, &left, axis, err));
        probe.stride[k] = 0;
        o->start[k] = (int64_t)left.off;
        o->step[k] = 1;
        for (int32_t j = 0; j < left.ndim; j++)
            o->step[k] = axis[j] == k ? left.stride[j] : o->step[k];
    }
    CIP_TRY(cip_view_select(&probe, &r->sel, &left, axis, err));
    for (int32_t j = 0; j < left.ndim; j++)
        o->axis_of[j] = axis[j];
    return CIP_OK;
}

/* The selection of every step-th element of the last two axes that are left (down, across), n of
 * each, and of the first index of those before them. */
static void select_steps(const cip_read_plan *r, const origin *o, const int64_t *step,
                         const int64_t *n, cip_selection *out)
{
    *out = (cip_selection){ .n = (uint32_t)r->whole.ndim };
    for (int32_t k = 0; k < r->whole.ndim; k++)
        out->item[k] = (cip_slice)CIP_INDEX(o->start[k]);
    for (int32_t d = 0; d < 2; d++) {
        const int32_t j = r->from.ndim - 2 + d, k = j < 0 ? -1 : o->axis_of[j];
        if (k < 0)
            continue;
        const int64_t by = n[d] > 1 ? o->step[k] * step[d] : 1;
        const int64_t last = o->start[k] + (n[d] - 1) * by, stop = last + (by < 0 ? -1 : 1);
        out->item[k] = (cip_slice)CIP_STEPS(o->start[k], stop < 0 ? CIP_OPEN : stop, by);
    }
}

/* --- images ---------------------------------------------------------------------------------- */

typedef struct steps {
    int64_t len[2];  /* elements down and across */
    int64_t most[2]; /* places */
    int64_t step[2], n[2];
} steps;

static int64_t div_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* Whether axis d is so short against the other that its places are not square. */
static bool is_narrow(const int64_t *len, int32_t d)
{
    return len[1 - d] / NARROW >= len[d];
}

/* One step for both axes, but FEWEST places at least of a narrow one. */
static void set_steps(steps *s, int64_t step)
{
    for (int32_t d = 0; d < 2; d++) {
        const int64_t few = cip_min_i64(FEWEST, s->most[d]);
        s->step[d] = step;
        if (is_narrow(s->len, d) && s->len[d] / step < few)
            s->step[d] = s->len[d] > few ? cip_min_i64(step, div_up(s->len[d], few)) : 1;
        s->n[d] = div_up(s->len[d], s->step[d]);
    }
}

/* Longer steps along both axes, by a quarter, however few places that leaves. */
static void coarser(steps *s)
{
    for (int32_t d = 0; d < 2; d++) {
        const int64_t more = s->step[d] / 4 + 1;
        s->step[d] = s->step[d] > s->len[d] - more ? s->len[d] : s->step[d] + more;
        s->n[d] = div_up(s->len[d], s->step[d]);
    }
}

static cip_status too_dear(const cip_picture *p, uint64_t cost, cip_err *err)
{
    return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                    "the picture needs %" PRIu64 " bytes to be read or decoded, more than %" PRIu64
                    "; select a part, or set .max_nbytes",
                    cost, p->options.max_nbytes);
}

/* What a picture may cost: over a network people do not wait for what they did not ask for. */
static uint64_t most_cost(const cip_picture_options *o, const cip_array *a)
{
    const bool waits = o->reduce == CIP_PICTURE_EXTREMES && a->layout->far != NULL;
    return waits ? o->max_nbytes / 16 : o->max_nbytes;
}

static cip_status whole_cost(const cip_read_plan *r, uint64_t *cost, cip_err *err)
{
    cip_part part = { .from = r->from, .nelem = r->nelem };
    return cip_read_plan_cost(r, &part, cost, err);
}

static void set_axes(cip_picture *p, const cip_read_plan *r, const origin *o, const steps *s)
{
    cip_picture_axis *axis[2] = { &p->facts.down, &p->facts.across };
    int64_t zoom[2];
    for (int32_t d = 0; d < 2; d++)
        zoom[d] =
            p->options.zoom != 0 ? p->options.zoom : cip_min_i64(MOST_ZOOM, s->most[d] / s->n[d]);
    for (int32_t d = 0; d < 2; d++) {
        const int32_t k = o->axis_of[r->from.ndim - 2 + d];
        int64_t z = cip_min_i64(zoom[0], zoom[1]);
        if (p->options.zoom == 0 && is_narrow(s->len, d) && z * s->n[d] < FEWEST)
            z = cip_min_i64(s->most[d] / s->n[d], div_up(FEWEST, s->n[d]));
        *axis[d] = (cip_picture_axis){ .axis = k, .zoom = (uint32_t)z, .n = s->n[d] };
        axis[d]->start = k < 0 ? 0 : o->start[k];
        axis[d]->step = k < 0 ? 1 : s->n[d] > 1 ? o->step[k] * s->step[d] : o->step[k];
    }
    p->facts.width = (uint32_t)p->facts.across.n * p->facts.across.zoom;
    p->facts.height = (uint32_t)p->facts.down.n * p->facts.down.zoom;
}

/* Plans to read what `sel` selects, at `cost`. */
static cip_status plan_steps(const cip_array *a, const cip_read_args *args,
                             const cip_selection *sel, cip_read_plan *out, uint64_t *cost,
                             cip_err *err)
{
    cip_read_args some = *args;
    some.selection = NULL;
    some.slices = sel;
    CIP_TRY(cip_read_plan_make(a, &some, CIP_AS_STORED, out, err));
    const cip_status st = whole_cost(out, cost, err);
    if (st != CIP_OK)
        cip_read_plan_clear(out);
    return st;
}

static cip_status plan_image(cip_picture *p, const cip_array *a, const cip_read_args *args,
                             const cip_read_plan *given, const origin *o, cip_picture_plan *out,
                             cip_err *err)
{
    static const int64_t ones[2] = { 1, 1 };
    cip_picture_options *opts = &p->options;
    opts->max_height = opts->max_height != 0 ? opts->max_height : CIP_PICTURE_SIDE;
    bool all;
    const int64_t *len = given->from.shape + given->from.ndim - 2;
    const int64_t zoom = opts->zoom != 0 ? opts->zoom : 1;
    steps s = { .len = { len[0], len[1] },
                .most = { div_up(opts->max_height - zoom + 1, zoom),
                          div_up(opts->max_width - zoom + 1, zoom) } };
    const int64_t down = div_up(s.len[0], s.most[0]), across = div_up(s.len[1], s.most[1]);
    uint64_t cost;
    set_steps(&s, down > across ? down : across);
    if (opts->reduce == CIP_PICTURE_EXTREMES && s.step[0] == 1 && s.step[1] == 1)
        opts->reduce = CIP_PICTURE_SAMPLE;
    for (;;) {
        cip_selection sel;
        all = opts->reduce != CIP_PICTURE_SAMPLE;
        select_steps(given, o, all ? ones : s.step, all ? s.len : s.n, &sel);
        CIP_TRY(plan_steps(a, args, &sel, &out->read, &cost, err));
        if (cost <= most_cost(opts, a))
            break;
        cip_read_plan_clear(&out->read);
        if (opts->reduce == CIP_PICTURE_EXTREMES)
            opts->reduce = CIP_PICTURE_SAMPLE;
        else if (all || (s.n[0] == 1 && s.n[1] == 1))
            return too_dear(p, cost, err);
        else
            coarser(&s);
    }
    out->row = all ? s.len[1] : s.n[1];
    out->box[0] = all ? s.step[0] : 1;
    out->box[1] = all ? s.step[1] : 1;
    set_axes(p, given, o, &s);
    p->facts.nbytes = cost;
    p->facts.whole = out->read.nelem == given->nelem;
    return CIP_OK;
}

/* --- lines ----------------------------------------------------------------------------------- */

/* What reading `run` elements of each place costs: where that is not all of them, the place's first
 * one as in a view of these, and as much again, since the run may go over the end of a chunk. */
static cip_status line_cost(const cip_picture_plan *l, uint64_t *cost, cip_err *err)
{
    const cip_read_plan *r = &l->read;
    cip_part part = { .from = r->from, .nelem = r->nelem };
    uint64_t more;
    if (l->run < l->each) {
        part.nelem = (uint64_t)div_up(r->from.shape[0], l->each);
        part.from.shape[0] = (int64_t)part.nelem;
        part.from.stride[0] = cip_stride_times(part.from.stride[0], l->each);
    }
    CIP_TRY(cip_read_plan_cost(r, &part, cost, err));
    if (l->run < l->each && l->run > 1 &&
        (cip_mul_overflow(*cost, 2, cost) ||
         cip_mul_overflow(part.nelem * (uint64_t)l->run, r->from.itemsize, &more) ||
         cip_add_overflow(*cost, more, cost)))
        *cost = UINT64_MAX;
    return CIP_OK;
}

static cip_status plan_line(cip_picture *p, const origin *o, cip_picture_plan *out, cip_err *err)
{
    const cip_picture_options *opts = &p->options;
    const int64_t len = out->read.from.shape[0];
    const uint32_t zoom = opts->zoom != 0 ? opts->zoom : 1;
    const int64_t most = div_up(opts->max_width - zoom + 1, zoom);
    int64_t n;
    uint64_t cost;
    out->each = div_up(len, most);
    for (out->run = out->each;;) {
        n = div_up(len, out->each);
        out->run = cip_min_i64(out->run, n < LINE_ELEMS ? LINE_ELEMS / n : 1);
        CIP_TRY(line_cost(out, &cost, err));
        if (cost <= opts->max_nbytes)
            break;
        if (n == 1 && out->run == 1)
            return too_dear(p, cost, err);
        if (out->run == 1)
            out->each = cip_min_i64(len, out->each + out->each / 4 + 1);
        out->run = 1;
    }
    const int32_t k = o->axis_of[0];
    p->facts.line = true;
    p->facts.nbytes = cost;
    p->facts.whole = out->run == out->each;
    p->facts.across = (cip_picture_axis){ .axis = k,
                                          .zoom = opts->zoom != 0 ? zoom : (uint32_t)(most / n),
                                          .n = n,
                                          .start = k < 0 ? 0 : o->start[k],
                                          .step = k < 0 ? 1 : o->step[k] };
    if (n > 1)
        p->facts.across.step *= out->each;
    p->facts.down = (cip_picture_axis){ .axis = -1, .zoom = 1, .step = 1 };
    p->facts.width = (uint32_t)n * p->facts.across.zoom;
    p->facts.height = opts->max_height != 0 ? opts->max_height
                                            : (uint32_t)cip_max_u64(FEWEST, opts->max_width / 3);
    return CIP_OK;
}

/* --- both ------------------------------------------------------------------------------------ */

static bool is_shown(cip_kind kind)
{
    return (kind >= CIP_BOOL && kind <= CIP_C128) || kind == CIP_DATETIME64 ||
           kind == CIP_TIMEDELTA64;
}

static cip_status check(const cip_read_plan *r, cip_err *err)
{
    if (!is_shown(r->stored->kind))
        return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                        "expected numbers, dates or times for a picture, found %.100s%s",
                        cip_dtype_name(r->stored),
                        r->stored->kind == CIP_RECORD ? "; name a field" : "");
    if (r->from.ndim == 0)
        return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                        "expected at least one axis for a picture, found a single element");
    if (r->nelem == 0)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected elements for a picture, found a selection of none");
    return CIP_OK;
}

/* Values are read as numbers of 64 bits, complex ones as two. */
static cip_status plan_cast(cip_read_plan *r, cip_err *err)
{
    const cip_kind kind = r->stored->kind;
    const cip_kind to = kind >= CIP_U8 && kind <= CIP_U64     ? CIP_U64
                        : kind >= CIP_F16 && kind <= CIP_F64  ? CIP_F64
                        : kind == CIP_C64 || kind == CIP_C128 ? CIP_C128
                                                              : CIP_I64;
    r->to = cip_dtype_of(to);
    return cip_cast_make(r->stored, r->to, CIP_OVERFLOW_CLAMP, &r->cast, err);
}

cip_status cip_picture_plan_make(cip_picture *p, const cip_array *a, const cip_read_args *args,
                                 cip_picture_plan *out, cip_err *err)
{
    cip_status st;
    origin o = { .step = { 0 } };
    cip_read_plan given;
    memset(out, 0, sizeof *out);
    CIP_TRY(cip_read_plan_make(a, args, CIP_AS_STORED, &given, err));
    CIP_GO(check(&given, err));
    CIP_GO(find_origin(&given, &o, err));
    for (int32_t j = 0; j < given.from.ndim - 2; j++)
        if (o.axis_of[j] >= 0 && given.from.shape[j] > 1)
            p->fixed[p->facts.nfixed++] = o.axis_of[j];
    if (given.from.ndim == 1) {
        out->read = given;
        CIP_GO(plan_line(p, &o, out, err));
        return plan_cast(&out->read, err);
    }
    CIP_GO(plan_image(p, a, args, &given, &o, out, err));
    st = plan_cast(&out->read, err);
done:
    cip_read_plan_clear(&given);
    return st;
}
