/* SPDX-License-Identifier: BSD-3-Clause
 * Scattering works in boxes of the view, in C order, each small enough that all bytes between its
 * first and last element fit in a window: that is read, changed, and compared with what it was. */
#include "space/change/scatter.h"

#include <string.h>

#include "base/difference.h"
#include "base/num.h"

enum {
    WINDOW = 8 << 20, /* bytes between the first and the last of a box */
    SPARSE = 64, /* bytes of a window for each byte that is written, above which elements are read
                    one by one */
    SPARSE_UNITS = 8, /* the same for each byte of the units that they would be read as */
    NEAR = 64         /* bytes between changes that are worth no run of their own */
};

typedef struct scatter {
    const cip_scatter_to *to;
    const cip_feed *feed;
    cip_mem *mem;
    uint8_t *old, *now, *elems; /* the window as it was, as it becomes; elements from the feed */
    uint64_t first;             /* where the window starts in the io */
    size_t window_cap, elems_cap;
    cip_scatter_run *run; /* of the window */
    size_t nrun, run_cap;
    size_t near; /* changed bytes that are fewer apart are given out as one run */
} scatter;

/* Where the units end that differ, or (`differ` false) that do not, from byte i of the window on.
 */
static size_t end_of_units(const scatter *s, size_t i, size_t n, bool differ)
{
    const size_t unit = (size_t)s->to->unit;
    while (i < n) {
        const size_t len = n - i < unit ? n - i : unit;
        if ((memcmp(s->old + i, s->now + i, len) != 0) != differ)
            break;
        i += len;
    }
    return i;
}

/* What became another in the window, which is n bytes long. */
static cip_status give_out(scatter *s, size_t n, cip_err *err)
{
    s->nrun = 0;
    for (size_t i = 0, end; i < n; i = end) {
        if (s->to->unit != 0) {
            i = end_of_units(s, i, n, false);
            end = end_of_units(s, i, n, true);
        } else if (!cip_next_difference(s->old, s->now, n, s->near, &i, &end)) {
            break;
        }
        if (i == n)
            break;
        CIP_TRY(CIP_ROOM(s->mem, &s->run, s->nrun, &s->run_cap, err));
        s->run[s->nrun++] = (cip_scatter_run){ s->first + i, { s->now + i, end - i } };
    }
    return s->nrun == 0 ? CIP_OK : s->to->put(s->to->user, s->run, s->nrun, err);
}

/* Calls fn for each element in C order with the place where it belongs. */
typedef cip_status place_fn(scatter *s, const uint8_t *elem, uint64_t off, size_t size,
                            cip_err *err);
static cip_status each_place(scatter *s, const cip_nd *at, uint64_t nelem, place_fn *fn,
                             cip_err *err)
{
    int64_t i[CIP_MAX_NDIM] = { 0 };
    size_t size = (size_t)at->itemsize;
    const uint8_t *src = s->elems;
    uint64_t off = at->off;
    for (uint64_t k = 0; k < nelem; k++, src += size) {
        CIP_TRY(fn(s, src, off, size, err));
        for (int32_t d = at->ndim - 1; d >= 0; d--) {
            off += (uint64_t)at->stride[d];
            if (++i[d] < at->shape[d])
                break;
            off -= (uint64_t)at->stride[d] * (uint64_t)at->shape[d];
            i[d] = 0;
        }
    }
    return CIP_OK;
}

static cip_status into_window(scatter *s, const uint8_t *elem, uint64_t off, size_t size,
                              cip_err *err)
{
    (void)err;
    memcpy(s->now + (s->to->base + off - s->first), elem, size);
    return CIP_OK;
}

/* The window begins where the bytes [first, end) of the space do, or their first unit. */
static cip_status read_window(scatter *s, uint64_t first, uint64_t end, size_t *n, cip_err *err)
{
    const uint64_t unit = cip_max_u64(1, s->to->unit), size = s->to->io->size;
    const uint64_t from = s->to->base + first, to = s->to->base + end;
    s->first = from - from % unit;
    *n = (size_t)((size - to < unit ? size : cip_div_up(to, unit) * unit) - s->first);
    CIP_TRY(cip_io_read(s->to->io, s->first, s->old, *n, err));
    memcpy(s->now, s->old, *n);
    return CIP_OK;
}

/* An element alone; the window is as long as one. */
static cip_status by_itself(scatter *s, const uint8_t *elem, uint64_t off, size_t size,
                            cip_err *err)
{
    size_t n;
    CIP_TRY(read_window(s, off, off + size, &n, err));
    CIP_TRY(into_window(s, elem, off, size, err));
    return give_out(s, n, err);
}

/* Whether elements that span so many bytes are better read one by one. */
static bool is_sparse(const scatter *s, uint64_t span, uint64_t nelem, uint64_t nbytes)
{
    const uint64_t unit = s->to->unit;
    uint64_t units;
    if (unit == 0)
        return span / SPARSE > nbytes;
    return !cip_mul_overflow(nelem, unit, &units) &&
           span / SPARSE_UNITS > cip_max_u64(nbytes, units);
}

static cip_status write_box(scatter *s, const cip_nd *at, uint64_t first, uint64_t end,
                            cip_err *err)
{
    uint64_t nelem, nbytes;
    size_t n, elems;
    if (!cip_shape_nelem(at->ndim, at->shape, &nelem) ||
        cip_mul_overflow(nelem, at->itemsize, &nbytes) || nbytes > end - first)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "elements that share bytes cannot be written one by one");
    const bool sparse = is_sparse(s, end - first, nelem, nbytes);
    uint64_t window = sparse ? at->itemsize : end - first;
    if (cip_add_overflow(window, 2 * s->to->unit, &window) || !cip_to_size(window, &n) ||
        !cip_to_size(nbytes, &elems))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an element of over %zu bytes",
                        SIZE_MAX);
    if (n > s->window_cap) {
        CIP_TRY(cip_mem_resize(s->mem, (void **)&s->old, n, err));
        CIP_TRY(cip_mem_resize(s->mem, (void **)&s->now, n, err));
        s->window_cap = n;
    }
    if (elems > s->elems_cap) {
        CIP_TRY(cip_mem_resize(s->mem, (void **)&s->elems, elems, err));
        s->elems_cap = elems;
    }
    CIP_TRY(s->feed->next(s->feed->self, nelem, s->elems, err));
    if (sparse)
        return each_place(s, at, nelem, by_itself, err);
    CIP_TRY(read_window(s, first, end, &n, err));
    CIP_TRY(each_place(s, at, nelem, into_window, err));
    return give_out(s, n, err);
}

/* Whether boxes of `step` along the axis lie in ranges of bytes of their own. */
static bool apart(const cip_nd *at, int32_t axis, uint64_t step)
{
    cip_nd part = *at;
    uint64_t first, end, reach;
    part.shape[axis] = (int64_t)cip_min_u64(step, (uint64_t)at->shape[axis]);
    return cip_view_bounds(&part, &first, &end, NULL) == CIP_OK &&
           !cip_mul_overflow(step, cip_magnitude(at->stride[axis]), &reach) && end - first <= reach;
}

static cip_status write_view(scatter *s, const cip_nd *at, cip_err *err)
{
    uint64_t first, end;
    int32_t axis = 0; /* to be cut: the first that is longer than 1 */
    CIP_TRY(cip_view_bounds(at, &first, &end, err));
    while (axis < at->ndim && at->shape[axis] <= 1)
        axis++;
    if (end - first <= WINDOW || axis == at->ndim)
        return end == first ? CIP_OK : write_box(s, at, first, end, err);
    uint64_t parts = (end - first) / WINDOW + 1, length = (uint64_t)at->shape[axis];
    uint64_t step = cip_max_u64(1, length / parts);
    cip_nd part = *at;
    if (!s->to->live && !apart(at, axis, step))
        s->near = 1; /* a run must not bring back what another box changed in the same window */
    for (uint64_t i = 0; i < length; i += step) { /* as deep as there are axes */
        part.off = at->off + i * (uint64_t)at->stride[axis];
        part.shape[axis] = (int64_t)cip_min_u64(step, length - i);
        CIP_TRY(write_view(s, &part, err));
    }
    return CIP_OK;
}

cip_status cip_scatter(cip_env *env, const cip_scatter_to *to, const cip_nd *at,
                       const cip_feed *feed, cip_err *err)
{
    scatter s = { .to = to, .feed = feed, .mem = &env->mem, .near = NEAR };
    uint64_t first, end, last;
    CIP_TRY(cip_view_bounds(at, &first, &end, err));
    if (cip_add_overflow(to->base, end, &last) || last > to->io->size)
        return cip_fail(err, CIP_ERR_RANGE, to->base,
                        "expected places within %" PRIu64 " bytes, found one at %" PRIu64,
                        to->io->size, end);
    cip_status st = write_view(&s, at, err);
    cip_mem_put(s.mem, s.old);
    cip_mem_put(s.mem, s.now);
    cip_mem_put(s.mem, s.elems);
    cip_mem_put(s.mem, s.run);
    return st;
}
