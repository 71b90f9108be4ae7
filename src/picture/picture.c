/* SPDX-License-Identifier: BSD-3-Clause
 * Pictures of arrays: options, and the making of one in the order of picture.h. */
#include "picture/picture.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/sized.h"

enum { MOST_SIDE = 16384, MOST_NBYTES = 512 << 20 };

static cip_status check_args(const cip_read_args *in, cip_read_args *out, cip_err *err)
{
    CIP_TRY(cip_read_args_check(in, out, err));
    if (out->dtype != NULL || out->dst != NULL || out->strides != NULL || out->mask != NULL ||
        out->overflow != CIP_OVERFLOW_ERROR || out->take_mask || out->noverflow != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "a picture uses no .dtype, .dst, .strides, .mask, .overflow, .take_mask or "
                        ".noverflow");
    return CIP_OK;
}

static cip_status check_side(const char *name, uint32_t n, cip_err *err)
{
    if (n <= MOST_SIDE)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a %s up to %d, found %" PRIu32, name,
                    MOST_SIDE, n);
}

static cip_status check_limits(const cip_picture_options *o, cip_err *err)
{
    if (o->has_limits && !(isfinite(o->low) && isfinite(o->high) && o->low < o->high))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected finite limits of which the first is less than the second, found "
                        "%g and %g",
                        o->low, o->high);
    if (o->has_limits && o->scale == CIP_PICTURE_LOG && o->low <= 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected limits above 0 for a logarithmic scale, found %g", o->low);
    const double low = o->low_percentile, high = o->high_percentile;
    if (!((low == 0 && high == 0) || (low >= 0 && low < high && high <= 100)))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected rising percentiles from 0 to 100, found %g and %g", low, high);
    return CIP_OK;
}

static uint32_t unless_0(uint32_t given, uint32_t value)
{
    return given != 0 ? given : value;
}

static cip_status take_options(const cip_picture_options *in, cip_picture_options *o, cip_err *err)
{
    CIP_TRY(CIP_SIZED_TAKE(cip_picture_options, in, o, err));
    CIP_TRY(cip_sized_value("cip_picture_options.scale", o->scale, CIP_PICTURE_SQRT, err));
    CIP_TRY(cip_sized_value("cip_picture_options.reduce", o->reduce, CIP_PICTURE_MEAN, err));
    CIP_TRY(check_side("width", o->max_width, err));
    CIP_TRY(check_side("height", o->max_height, err));
    CIP_TRY(check_side("zoom", o->zoom, err));
    CIP_TRY(check_limits(o, err));
    o->max_width = unless_0(o->max_width, CIP_PICTURE_SIDE);
    o->bad = unless_0(o->bad, 0xff00ffff);
    o->background = unless_0(o->background, 0xffffffff);
    o->line = unless_0(o->line, 0x1f77b4ff);
    o->max_nbytes = o->max_nbytes != 0 ? o->max_nbytes : MOST_NBYTES;
    o->map = o->map != NULL ? o->map : "viridis";
    if (o->zoom > o->max_width || (o->max_height != 0 && o->zoom > o->max_height))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a zoom that fits into the picture, found %" PRIu32, o->zoom);
    return CIP_OK;
}

static cip_status make(cip_picture *p, const cip_array *a, const cip_read_args *given,
                       const cip_picture_options *options, cip_err *err)
{
    cip_read_args args;
    cip_picture_plan plan;
    CIP_TRY(check_args(given, &args, err));
    CIP_TRY(take_options(options, &p->options, err));
    CIP_TRY(cip_picture_colours(p, p->options.map, err));
    p->limits.scale = p->options.scale;
    CIP_TRY(cip_picture_plan_make(p, a, &args, &plan, err));
    cip_status st = cip_picture_sample(p, &plan, err);
    cip_read_plan_clear(&plan.read);
    CIP_TRY(st);
    CIP_TRY(cip_picture_find_limits(p, err));
    CIP_TRY(cip_picture_draw(p, err));
    p->facts.low = p->limits.low + p->limits.base;
    p->facts.high = p->limits.high + p->limits.base;
    p->facts.scale = p->limits.scale;
    p->facts.map = p->options.map = p->map;
    p->facts.fixed = p->fixed;
    p->facts.reduce = p->options.reduce;
    p->facts.base = p->limits.base;
    p->facts.nvalue = p->nvalue;
    p->facts.values = p->value;
    p->facts.colours = p->colour[0].c;
    return CIP_OK;
}

cip_status cip_picture_make(const cip_array *a, const cip_read_args *args,
                            const cip_picture_options *options, cip_picture **out, cip_err *err)
{
    cip_picture *p = NULL;
    if (out != NULL)
        *out = NULL;
    CIP_TRY(cip_array_state(a, err));
    err = cip_err_enter(err);
    CIP_TRY(cip_arg_given(out, "a place for the picture", err));
    CIP_TRY(cip_mem_handle(NULL, sizeof *p, (void **)&p, err));
    cip_mem_init(&p->mem, NULL, a->layout->env->limits.max_memory);
    cip_status st = make(p, a, args, options, err);
    if (st != CIP_OK) {
        cip_picture_free(p);
        return cip_fail_in(err, st, "%s", a->path);
    }
    *out = p;
    return CIP_OK;
}

void cip_picture_free(cip_picture *p)
{
    if (p == NULL)
        return;
    cip_mem_put(&p->mem, p->value);
    cip_mem_put(&p->mem, p->pixels);
    cip_mem_handle_free(NULL, p);
}

cip_status cip_picture_get(const cip_picture *p, cip_picture_facts *out, cip_err *err)
{
    if (p == NULL)
        return cip_fail_null(err, "a picture");
    err = cip_err_enter(err);
    CIP_TRY(cip_sized_room("cip_picture_facts", out, err));
    cip_sized_give(out, &p->facts, sizeof p->facts);
    return CIP_OK;
}
