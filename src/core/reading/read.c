/* SPDX-License-Identifier: BSD-3-Clause
 * Reading arrays: the public verbs over a worked-out plan. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "base/stop.h"
#include "core/reading/read_plan.h"

/* How many bytes behind dst the caller's strides reach. Modulo 2^64 they would be another number.
 */
static bool reach(const cip_nd *out, uint64_t itemsize, uint64_t *nbytes)
{
    uint64_t part;
    *nbytes = itemsize;
    for (int32_t d = 0; d < out->ndim; d++) {
        if (out->stride[d] <= 0 || out->shape[d] == 0)
            continue;
        if (cip_mul_overflow((uint64_t)out->stride[d], (uint64_t)out->shape[d] - 1, &part) ||
            cip_add_overflow(*nbytes, part, nbytes))
            return false;
    }
    return true;
}

static cip_status check_room(const cip_read_plan *p, const cip_read_args *args, const cip_nd *out,
                             cip_err *err)
{
    uint64_t need = p->nbytes;
    if (args->dst_nbytes == CIP_UNCHECKED)
        return CIP_OK;
    if (args->strides != NULL && p->nbytes != 0 && !reach(out, p->to->itemsize, &need))
        need = UINT64_MAX;
    if (args->strides != NULL ? args->dst_nbytes >= need : args->dst_nbytes == need)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                    "expected memory of %" PRIu64 " bytes for the selection, found %zu", need,
                    args->dst_nbytes);
}

/* A part's elements to their places in dst. */
static cip_status read_part(const cip_read_plan *p, const cip_part *part, cip_nd dst, uint8_t *mem,
                            cip_cast_stats *stats, cip_err *err)
{
    cip_cast_stats own = { 0, 0 };
    for (int32_t d = 0; d < dst.ndim; d++) {
        mem += part->start[d] * dst.stride[d]; /* within the caller's memory */
        dst.shape[d] = part->from.shape[d];
    }
    CIP_TRY(cip_space_gather(&p->how, p->array->space,
                             &(cip_transfer){ &part->from, &p->cast, &dst, mem }, &own, err));
    own.first += cip_read_plan_first_of(p, part);
    cip_cast_merge(stats, &own);
    return CIP_OK;
}

/* The mask goes part by part, as one that is a value needs the elements at hand; the elements
 * (dst NULL: none) as well where progress is told. */
static cip_status read_parts(const cip_read_plan *p, const cip_read_args *args, const cip_nd *dst,
                             cip_cast_stats *stats, cip_err *err)
{
    cip_parts it;
    cip_part part;
    uint8_t *mask = args->mask;
    uint64_t done = 0;
    cip_parts_start(&it, p, cip_piece_elems(cip_max_u64(p->stored->itemsize, p->to->itemsize)));
    while (cip_parts_next(&it, &part)) {
        if (dst != NULL)
            CIP_TRY(read_part(p, &part, *dst, args->dst, stats, err));
        if (mask != NULL)
            CIP_TRY(cip_read_plan_mask(p, &part, mask, err));
        mask = mask != NULL ? mask + part.nelem : NULL;
        CIP_TRY(cip_read_plan_progress(p, &done, part.nelem, err));
    }
    return CIP_OK;
}

static cip_status run(cip_read_plan *p, const cip_read_args *args, cip_err *err)
{
    cip_status st;
    cip_pool *pool = NULL;
    cip_nd dst;
    cip_cast_stats stats = { 0, 0 };
    if (args->threads > 1 && args->threads != cip_pool_threads(p->how.pool)) {
        CIP_GO(cip_pool_new(args->threads, &pool, err));
        p->how.pool = pool;
    }
    bool wanted = args->dst != NULL || args->mask == NULL;
    bool in_parts = args->dst != NULL && p->progress != NULL && p->nelem != 0;
    if (wanted) {
        /* Where the result goes: C order, or the caller's strides. */
        CIP_GO(cip_view_c_order(p->from.ndim, p->from.shape, p->to->itemsize, &dst, err));
        if (args->strides != NULL)
            memcpy(dst.stride, args->strides, sizeof(int64_t) * (size_t)dst.ndim);
        if (args->dst == NULL && p->nbytes != 0)
            CIP_GO(cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected memory to read into, found NULL"));
        CIP_GO(check_room(p, args, &dst, err));
    }
    if (wanted && !in_parts)
        CIP_GO(cip_space_gather(&p->how, p->array->space,
                                &(cip_transfer){ &p->from, &p->cast, &dst, args->dst }, &stats,
                                err));
    if (args->mask != NULL || in_parts)
        CIP_GO(read_parts(p, args, in_parts ? &dst : NULL, &stats, err));
    if (args->noverflow != NULL)
        *args->noverflow = stats.noverflow;
    st = cip_cast_check(&p->cast, &stats, ".overflow", err);
done:
    cip_pool_free(pool);
    return st;
}

cip_status cip_read_into(const cip_array *a, const cip_read_args *args, cip_err *err)
{
    cip_read_plan p;
    CIP_TRY(cip_array_state(a, err)); /* first, so that calls chain */
    err = cip_err_enter(err);
    CIP_TRY(cip_read_plan_make(a, args, CIP_AS_NATIVE, &p, err));
    cip_status st =
        p.take_mask ? cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                               "use cip_read_args.mask to read a mask; take_mask is for cip_export")
                    : run(&p, &p.args, err);
    cip_read_plan_clear(&p);
    return cip_fail_in(err, st, "%s", a->path);
}

static cip_status fail_missing(uint64_t at, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "element %" PRIu64
                    " of the selection is missing (masked); use cip_read_args.mask to get the mask",
                    at);
}

/* What lies under a mask is no data, and here is no place for the mask. */
static cip_status none_missing(const cip_array *a, const cip_read_args *args, cip_err *err)
{
    cip_read_plan p;
    cip_parts it;
    cip_part part;
    uint64_t done = 0, most;
    uint8_t *mask = NULL;
    cip_status st;
    if (a->mask.kind == CIP_MASK_NONE)
        return CIP_OK;
    CIP_TRY(cip_read_plan_make(a, args, CIP_AS_NATIVE, &p, err));
    most =
        cip_min_u64(cip_max_u64(p.nelem, 1), cip_piece_elems(cip_max_u64(p.stored->itemsize, 1)));
    CIP_GO(cip_mem_get(p.arena.mem, (size_t)most, (void **)&mask, err));
    cip_parts_start(&it, &p, most);
    while (cip_parts_next(&it, &part)) {
        CIP_GO(cip_read_plan_mask(&p, &part, mask, err));
        const uint8_t *set = memchr(mask, 1, (size_t)part.nelem);
        if (set != NULL)
            CIP_GO(fail_missing(done + (uint64_t)(set - mask), err));
        done += part.nelem;
    }
    st = CIP_OK;
done:
    cip_mem_put(p.arena.mem, mask);
    cip_read_plan_clear(&p);
    return cip_fail_in(err, st, "%s", a->path);
}

cip_status cip_read(const cip_array *a, const char *selection, const cip_dtype *dtype, void *dst,
                    size_t nbytes, cip_err *err)
{
    cip_read_args args = { .size = sizeof args,
                           .selection = selection,
                           .dtype = dtype,
                           .dst = dst,
                           .dst_nbytes = nbytes };
    CIP_TRY(cip_array_state(a, err));
    CIP_TRY(cip_dtype_there(dtype, err));
    err = cip_err_enter(err);
    CIP_TRY(none_missing(a, &args, err));
    return cip_read_into(a, &args, err);
}

cip_status cip_read_shape(const cip_array *a, const cip_read_args *args, int *ndim, int64_t *shape,
                          uint64_t *nbytes, cip_err *err)
{
    cip_read_plan p;
    CIP_TRY(cip_array_state(a, err));
    err = cip_err_enter(err);
    CIP_TRY(cip_read_plan_make(a, args, CIP_AS_NATIVE, &p, err));
    if (ndim != NULL)
        *ndim = p.from.ndim;
    if (shape != NULL)
        memcpy(shape, p.from.shape, sizeof(int64_t) * (size_t)p.from.ndim);
    if (nbytes != NULL)
        *nbytes = p.nbytes;
    cip_read_plan_clear(&p);
    return CIP_OK;
}

/* --- points --------------------------------------------------------------------------------- */

static cip_status point_offset(const cip_nd *v, const int64_t *coord, size_t i, uint64_t *off,
                               cip_err *err)
{
    *off = v->off;
    for (int32_t d = 0; d < v->ndim; d++) {
        int64_t c = coord[d] < 0 ? coord[d] + v->shape[d] : coord[d];
        if (c < 0 || c >= v->shape[d])
            return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected an index below %" PRId64 " on axis %d of point %zu, found "
                            "%" PRId64,
                            v->shape[d], (int)d, i, coord[d]);
        *off += (uint64_t)c * (uint64_t)v->stride[d]; /* modulo 2^64; the bounds were checked */
    }
    return CIP_OK;
}

static cip_status read_points(const cip_read_plan *p, size_t n, const int64_t *coords, uint8_t *dst,
                              cip_err *err)
{
    cip_status st;
    uint64_t *off = NULL;
    cip_cast_stats stats = { 0, 0 };
    CIP_GO(CIP_NEW(p->arena.mem, &off, n, err));
    for (size_t i = 0; i < n; i++)
        CIP_GO(point_offset(&p->from, coords + i * (size_t)p->from.ndim, i, &off[i], err));
    const cip_points at = { off, n, dst };
    CIP_GO(cip_space_gather_points(&p->how, p->array->space, &at, &p->cast, &stats, err));
    if (p->args.noverflow != NULL)
        *p->args.noverflow = stats.noverflow;
    st = cip_cast_check(&p->cast, &stats, NULL, err);
done:
    cip_mem_put(p->arena.mem, off);
    return st;
}

/* One by one. `mask` NULL: none may be missing. */
static cip_status mask_of_points(const cip_read_plan *p, size_t n, const int64_t *coords,
                                 uint8_t *mask, cip_err *err)
{
    uint8_t one = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t *coord = coords + i * (size_t)p->from.ndim;
        cip_part part = { .from = p->from, .nelem = 1 };
        CIP_TRY(cip_stop_ask(err));
        CIP_TRY(point_offset(&p->from, coord, i, &part.from.off, err));
        for (int32_t d = 0; d < p->from.ndim; d++) {
            part.start[d] = coord[d] < 0 ? coord[d] + p->from.shape[d] : coord[d];
            part.from.shape[d] = 1;
        }
        CIP_TRY(cip_read_plan_mask(p, &part, &one, err));
        if (mask != NULL)
            mask[i] = one;
        else if (one != 0)
            return fail_missing(i, err);
    }
    return CIP_OK;
}

static cip_status points_into(const cip_array *a, size_t n, const int64_t *coords,
                              const cip_read_args *args, bool missing_too, cip_err *err)
{
    cip_read_plan p;
    uint64_t need;
    cip_status st = CIP_OK;
    CIP_TRY(cip_read_plan_make(a, args, CIP_AS_NATIVE, &p, err));
    const cip_read_args *o = &p.args;
    if (o->selection != NULL || o->slices != NULL || o->field != NULL || o->strides != NULL ||
        o->take_mask || o->reversed || o->progress != NULL)
        CIP_GO(cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected only dtype, dst, mask and overflow for points"));
    if (n != 0 && (o->dst == NULL || (coords == NULL && cip_array_ndim(a) != 0)))
        CIP_GO(cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected indices and memory for the values, found NULL"));
    if (o->dst_nbytes != CIP_UNCHECKED &&
        (cip_mul_overflow(n, p.to->itemsize, &need) || need != o->dst_nbytes))
        CIP_GO(cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected memory for %zu elements of %" PRIu64 " bytes, found %zu bytes", n,
                        (uint64_t)p.to->itemsize, o->dst_nbytes));
    if (o->mask != NULL || (!missing_too && a->mask.kind != CIP_MASK_NONE))
        CIP_GO(mask_of_points(&p, n, coords, o->mask, err));
    st = read_points(&p, n, coords, o->dst, err);
done:
    cip_read_plan_clear(&p);
    return cip_fail_in(err, st, "%s", a->path);
}

cip_status cip_read_points_into(const cip_array *a, size_t npoint, const int64_t *coords,
                                const cip_read_args *args, cip_err *err)
{
    CIP_TRY(cip_array_state(a, err));
    return points_into(a, npoint, coords, args, true, cip_err_enter(err));
}

cip_status cip_read_points(const cip_array *a, size_t npoint, const int64_t *coords,
                           const cip_dtype *dtype, void *values, cip_err *err)
{
    const cip_read_args args = {
        .size = sizeof args, .dtype = dtype, .dst = values, .dst_nbytes = CIP_UNCHECKED
    };
    CIP_TRY(cip_array_state(a, err));
    CIP_TRY(cip_dtype_there(dtype, err));
    return points_into(a, npoint, coords, &args, false, cip_err_enter(err));
}

/* --- views ---------------------------------------------------------------------------------- */

/* The strictest alignment that the machine wants for the type. */
static uint64_t alignment(const cip_dtype *d)
{
    uint64_t most = 1;
    switch (d->kind) {
    case CIP_ASCII:
    case CIP_OPAQUE:
        return 1;
    case CIP_UCS4:
        return 4;
    case CIP_C64:
    case CIP_C128:
        return d->itemsize / 2;
    case CIP_RECORD:
        for (size_t i = 0; i < d->nfield; i++)
            most = cip_max_u64(most, alignment(d->field[i].dtype));
        return most;
    default:
        return d->itemsize;
    }
}

/* Nesting of records is bounded by their makers. */
static bool in_host_order(const cip_dtype *d)
{
    switch (d->kind) {
    case CIP_BOOL:
    case CIP_I8:
    case CIP_U8:
    case CIP_ASCII:
    case CIP_OPAQUE:
        return true;
    case CIP_RECORD:
        for (size_t i = 0; i < d->nfield; i++)
            if (!in_host_order(d->field[i].dtype))
                return false;
        return true;
    default:
        return d->big == (CIP_HOST_BIG != 0);
    }
}

static cip_status view_in_place(const cip_array *a, const uint8_t **out, cip_err *err)
{
    uint64_t nelem, nbytes;
    CIP_TRY(cip_mask_shows(&a->mask, 0, a->dtype->itemsize, err));
    if (!in_host_order(a->dtype))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "no view: the elements are not in this machine's byte order");
    if (!cip_view_is_contiguous(&a->view))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "no view: the elements do not lie in C order without gaps");
    CIP_TRY(cip_array_check(a, err));
    if (!cip_shape_nelem(a->view.ndim, a->view.shape, &nelem) ||
        cip_mul_overflow(nelem, a->dtype->itemsize, &nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "no view: over 2^63 bytes");
    CIP_TRY(none_missing(a, CIP_READ_ARGS(.selection = NULL), err)); /* reads the mask */
    CIP_TRY(cip_space_map(a->space, a->view.off, nbytes, out, err));
    uint64_t align = alignment(a->dtype);
    if (align != 0 && (uintptr_t)*out % align != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "no view: the elements are not aligned to %" PRIu64 " bytes", align);
    return CIP_OK;
}

const void *cip_view(const cip_array *a, cip_err *err)
{
    const uint8_t *p = NULL;
    cip_status st = cip_array_state(a, err);
    if (st != CIP_OK)
        return NULL;
    err = cip_err_enter(err);
    st = cip_layout_settled(a->layout, err);
    if (st == CIP_OK)
        st = view_in_place(a, &p, err);
    cip_fail_in(err, st, "%s", a->path);
    return st == CIP_OK ? p : NULL;
}

/* --- dtypes and elements -------------------------------------------------------------------- */

/* Made once for each array, in the layout's arena. */
static const cip_dtype *made_dtype(const cip_array *a, bool big, cip_err *err)
{
    cip_layout *l = a->layout;
    const cip_dtype **kept =
        ((cip_array *)a)->packed; /* guarded by the layout's lock, as the arena is */
    cip_status st = CIP_OK;
    pthread_mutex_lock(&l->lock);
    if (kept[0] == NULL)
        st = cip_dtype_packed_le(&l->arena, a->dtype, &kept[0], err);
    if (st == CIP_OK && big && kept[1] == NULL)
        st = cip_dtype_with_order(&l->arena, kept[0], true, &kept[1], err);
    const cip_dtype *d = st == CIP_OK ? kept[big] : NULL;
    pthread_mutex_unlock(&l->lock);
    return d;
}

const cip_dtype *cip_array_native_dtype(const cip_array *a, cip_err *err)
{
    return cip_array_state(a, err) == CIP_OK ? made_dtype(a, CIP_HOST_BIG, cip_err_enter(err))
                                             : NULL;
}

const cip_dtype *cip_array_raw_dtype(const cip_array *a, cip_err *err)
{
    return cip_array_state(a, err) == CIP_OK ? made_dtype(a, false, cip_err_enter(err)) : NULL;
}

size_t cip_format_element(const cip_dtype *dtype, const void *elem, char *text, size_t cap)
{
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_buf b = { .mem = &mem };
    size_t n = 0;
    cap = text != NULL ? cap : 0;
    if (dtype != NULL && elem != NULL && cip_elem_format(dtype, elem, &b, NULL) == CIP_OK)
        n = b.len;
    if (cap != 0) {
        size_t m = n < cap - 1 ? n : cap - 1;
        if (m != 0)
            memcpy(text, b.ptr, m);
        text[m] = '\0';
    }
    cip_buf_clear(&b);
    return n;
}
