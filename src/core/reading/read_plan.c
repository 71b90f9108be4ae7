/* SPDX-License-Identifier: BSD-3-Clause
 * Working out a read: the field, the selection, the cast; and walking it in parts. */
#include "core/reading/read_plan.h"

#include "base/sized.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"

enum { PIECE_BYTES = 8 << 20 };

cip_status cip_read_args_check(const cip_read_args *in, cip_read_args *out, cip_err *err)
{
    CIP_TRY(CIP_SIZED_TAKE(cip_read_args, in, out, err));
    CIP_TRY(cip_sized_value("cip_read_args.overflow", out->overflow, CIP_OVERFLOW_WRAP, err));
    if (out->dtype == cip_dtype_as_stored())
        out->dtype = NULL;
    if (out->selection != NULL && out->slices != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a selection as text or as numbers, found both");
    return CIP_OK;
}

cip_status cip_dtype_there(const cip_dtype *dtype, cip_err *err)
{
    return dtype != NULL
               ? CIP_OK
               : cip_fail_null(err, "a dtype (cip_dtype_as_stored() for the array's own)");
}

/* Undoes "~1" and "~0" of one step of a path. Returns the length, or SIZE_MAX when it is too long.
 */
static size_t unescape(const char *step, size_t len, char *out, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++, n++) {
        if (n + 1 >= cap)
            return SIZE_MAX;
        out[n] = step[i];
        if (step[i] == '~' && i + 1 < len && (step[i + 1] == '0' || step[i + 1] == '1'))
            out[n] = step[++i] == '0' ? '~' : '/';
    }
    out[n] = '\0';
    return n;
}

const cip_field *cip_field_of_step(const cip_dtype *d, const char *step, size_t len)
{
    char name[1024];
    const size_t n = unescape(step, len, name, sizeof name);
    return n == SIZE_MAX ? NULL : cip_dtype_find_field(d, name, n);
}

/* Narrows the view to one field: its bytes, and its sub-array's axes behind the others. */
static cip_status enter_field(cip_read_plan *p, const char *step, size_t len, cip_err *err)
{
    const cip_field *f = cip_field_of_step(p->stored, step, len);
    if (f == NULL)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "no field is named '%.*s' in elements of %.100s",
                        (int)(len < 60 ? len : 60), step, cip_dtype_name(p->stored));
    if (p->from.ndim + f->ndim > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the array has more than %d dimensions with those of the field",
                        CIP_MAX_NDIM);
    cip_nd sub;
    CIP_TRY(cip_view_c_order(f->ndim, f->shape, f->dtype->itemsize, &sub, err));
    for (int32_t d = 0; d < f->ndim; d++) {
        p->from.shape[p->from.ndim + d] = sub.shape[d];
        p->from.stride[p->from.ndim + d] = sub.stride[d];
    }
    p->from.ndim += f->ndim;
    p->nfaxis += f->ndim;
    p->from.itemsize = f->dtype->itemsize;
    p->from.off += f->offset;
    p->stored = f->dtype;
    return CIP_OK;
}

void cip_read_plan_axes(const cip_read_plan *p, cip_nd *v, const int64_t *fstride)
{
    for (int32_t a = 0, b = v->ndim - 1; p->reversed && a < b; a++, b--) {
        int64_t shape = v->shape[a], stride = v->stride[a];
        v->shape[a] = v->shape[b];
        v->stride[a] = v->stride[b];
        v->shape[b] = shape;
        v->stride[b] = stride;
    }
    for (int32_t d = 0; d < p->nfaxis; d++) {
        v->shape[v->ndim + d] = p->from.shape[p->from.ndim - p->nfaxis + d];
        v->stride[v->ndim + d] = fstride != NULL ? fstride[d] : 0;
    }
    v->ndim += p->nfaxis;
}

static cip_status work_out(cip_read_plan *p, const cip_read_args *args, cip_as as, cip_err *err)
{
    for (const char *path = args->field; path != NULL && *path != '\0';) {
        const size_t len = strcspn(path, "/");
        CIP_TRY(enter_field(p, path, len, err));
        path += len + (path[len] == '/');
    }
    /* What the mask of the array's fields means to this read. */
    const cip_mask *m = &p->array->mask;
    uint64_t off = p->from.off - p->array->view.off;
    bool any = false, record = p->stored->kind == CIP_RECORD;
    for (size_t i = 0; i < m->nfield; i++)
        any = any || (m->field[i].off >= off && m->field[i].off - off < p->stored->itemsize);
    p->by_field = any && !record;
    p->as_nan = any && record;
    if (record)
        CIP_TRY(cip_mask_shows(m, off, p->stored->itemsize, err));
    if (args->as != NULL && args->as->itemsize != p->stored->itemsize)
        return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                        "expected a type of %" PRIu64 " bytes to reinterpret %.80s, found %.80s",
                        p->stored->itemsize, cip_dtype_name(p->stored), cip_dtype_name(args->as));
    p->stored = args->as != NULL ? args->as : p->stored;
    p->reversed = args->reversed;
    uint64_t first, end; /* positions are then computed modulo 2^64 without harm */
    CIP_TRY(cip_view_bounds(&p->array->view, &first, &end, err));
    p->whole = p->array->view;
    p->whole.off = p->from.off;
    p->whole.itemsize = p->from.itemsize;
    cip_read_plan_axes(p, &p->whole, p->from.stride + p->from.ndim - p->nfaxis);
    if (args->slices != NULL)
        p->sel = *args->slices;
    else if (args->selection != NULL && args->selection[0] != '\0')
        CIP_TRY(cip_selection_parse(args->selection, &p->sel, err));
    CIP_TRY(cip_view_select(&p->whole, &p->sel, &p->from, NULL, err));
    p->take_mask = args->take_mask;
    if (p->take_mask)
        p->to = cip_dtype_of(CIP_BOOL);
    else {
        p->to = args->dtype != NULL ? args->dtype : p->stored;
        if (args->dtype == NULL && as != CIP_AS_STORED) {
            CIP_TRY(cip_dtype_packed_le(&p->arena, p->stored, &p->to, err));
            if (as == CIP_AS_NATIVE && CIP_HOST_BIG)
                CIP_TRY(cip_dtype_with_order(&p->arena, p->to, true, &p->to, err));
        }
    }
    if (!cip_shape_nelem(p->from.ndim, p->from.shape, &p->nelem) ||
        cip_mul_overflow(p->nelem, p->to->itemsize, &p->nbytes) || p->nbytes > INT64_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "the selection has over 2^63 bytes");
    return cip_cast_make(p->take_mask ? p->to : p->stored, p->to, args->overflow, &p->cast, err);
}

cip_status cip_layout_settled(const cip_layout *l, cip_err *err)
{
    if (!l->may_change || cip_io_unchanged(l->io, NULL) == CIP_OK)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                    "the file was changed by an update; open it again");
}

cip_status cip_read_plan_make(const cip_array *a, const cip_read_args *args, cip_as as,
                              cip_read_plan *out, cip_err *err)
{
    CIP_TRY(cip_array_state(a, err));
    CIP_TRY(cip_layout_settled(a->layout, err));
    memset(out, 0, sizeof *out);
    CIP_TRY(cip_read_args_check(args, &out->args, err));
    cip_env *env = a->layout->env;
    out->array = a;
    out->from = a->view;
    out->stored = a->dtype;
    out->arena.mem = &env->mem;
    out->progress = out->args.progress;
    out->progress_user = out->args.user;
    out->how = (cip_read_how){ a->layout, out->args.threads == 1 ? NULL : env->pool };
    cip_status st = work_out(out, &out->args, as, err);
    if (st != CIP_OK)
        cip_read_plan_clear(out);
    return cip_fail_in(err, st, "%s", a->path);
}

void cip_read_plan_clear(cip_read_plan *p)
{
    cip_arena_clear(&p->arena);
}

uint64_t cip_read_plan_first_of(const cip_read_plan *p, const cip_part *part)
{
    uint64_t first = 0;
    for (int32_t d = 0; d < p->from.ndim; d++)
        first = first * (uint64_t)p->from.shape[d] + (uint64_t)part->start[d];
    return first;
}

cip_status cip_read_plan_fetch(const cip_read_plan *p, const cip_part *part, uint8_t *dst,
                               cip_err *err)
{
    const cip_nd *from = &part->from;
    cip_cast_stats stats = { 0, 0 };
    cip_nd packed;
    if (p->take_mask)
        return cip_read_plan_mask(p, part, dst, err);
    CIP_TRY(cip_view_c_order(from->ndim, from->shape, p->to->itemsize, &packed, err));
    CIP_TRY(cip_space_gather(&p->how, p->array->space,
                             &(cip_transfer){ from, &p->cast, &packed, dst }, &stats, err));
    stats.first += cip_read_plan_first_of(p, part);
    return cip_cast_check(&p->cast, &stats, ".accept_loss", err);
}

cip_status cip_read_plan_progress(const cip_read_plan *p, uint64_t *done, uint64_t n, cip_err *err)
{
    *done += n;
    if (p->progress != NULL && p->progress(p->progress_user, *done, p->nelem) != 0)
        return cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
    return CIP_OK;
}

cip_status cip_read_plan_check_amount(const cip_read_plan *p, cip_err *err)
{
    const cip_layout *l = p->array->layout;
    uint64_t most = l->env->limits.max_elements, nbytes;
    char kind[CIP_LAYOUT_KIND];
    if (most != 0 && p->nelem > most)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " elements, found %" PRIu64, most, p->nelem);
    bool fits = !cip_mul_overflow(p->nelem, cip_max_u64(1, p->to->itemsize), &nbytes);
    if (most != 0 || (fits && cip_layout_expects(l, nbytes)))
        return CIP_OK;
    return cip_fail(
        err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
        "%" PRIu64
        " elements from %s are more than the default limit; set .max_elements to allow them",
        p->nelem, cip_layout_kind(l, kind));
}

bool cip_read_plan_is_whole(const cip_read_plan *p)
{
    const cip_nd *all = &p->array->view;
    bool same = p->from.ndim == all->ndim && p->from.off == all->off && p->nfaxis == 0;
    for (int32_t k = 0; same && k < all->ndim; k++)
        same = p->from.shape[k] == all->shape[k] && p->from.stride[k] == all->stride[k];
    return same && p->stored == p->array->dtype && !p->reversed && !p->take_mask && !p->as_nan;
}

const uint8_t *cip_read_plan_in_memory(const cip_read_plan *p)
{
    uint64_t nbytes;
    if (p->take_mask || !cip_view_is_contiguous(&p->from) ||
        cip_mul_overflow(p->nelem, p->from.itemsize, &nbytes))
        return NULL;
    return cip_space_borrow(p->array->space, p->from.off, nbytes);
}

/* --- parts ---------------------------------------------------------------------------------- */

uint64_t cip_piece_elems(uint64_t itemsize)
{
    return itemsize == 0 ? PIECE_BYTES : cip_max_u64(1, PIECE_BYTES / itemsize);
}

void cip_parts_start(cip_parts *it, const cip_read_plan *p, uint64_t max_elem)
{
    memset(it, 0, sizeof *it);
    it->plan = p;
    it->end = p->nelem == 0;
    uint64_t inner = 1; /* elements behind one step of `axis` */
    int32_t d = p->from.ndim;
    while (d > 0 && inner * (uint64_t)p->from.shape[d - 1] <= max_elem && !it->end)
        inner *= (uint64_t)p->from.shape[--d];
    it->axis = d - 1; /* -1: all in one part */
    it->step = it->axis < 0 ? 1 : (int64_t)cip_max_u64(1, max_elem / inner);
}

/* Moves on by one part: like an odometer whose last wheel is `axis`. */
static void advance(cip_parts *it)
{
    const int64_t *shape = it->plan->from.shape;
    int32_t d = it->axis;
    if (d >= 0)
        it->at[d] += it->step;
    while (d >= 0 && it->at[d] >= shape[d]) {
        it->at[d] = 0;
        if (--d >= 0)
            it->at[d]++;
    }
    it->end = d < 0;
}

bool cip_parts_next(cip_parts *it, cip_part *out)
{
    if (it->end)
        return false;
    memset(out, 0, sizeof *out);
    out->from = it->plan->from;
    for (int32_t d = 0; d <= it->axis; d++) {
        int64_t left = out->from.shape[d] - it->at[d];
        out->start[d] = it->at[d];
        out->from.off += (uint64_t)(it->at[d] * out->from.stride[d]);
        out->from.shape[d] = d < it->axis ? 1 : left < it->step ? left : it->step;
    }
    cip_shape_nelem(out->from.ndim, out->from.shape, &out->nelem);
    advance(it);
    return true;
}
