/* SPDX-License-Identifier: BSD-3-Clause
 * What formats and the core call: spans of bytes, checked, and whether an array lies in its space.
 */
#include "space/read/reader.h"

cip_rd cip_rd_make(const cip_read_how *how)
{
    cip_layout *l = how->layout;
    return (cip_rd){ .env = l->env,
                     .cache = l->cache,
                     .buffers = l->buffers,
                     .decoders = l->decoders,
                     .checkpoints = l->checkpoints,
                     .sidecar = l->sidecar,
                     .tune = l->tuning,
                     .pool = cip_lazy_in_maker() ? NULL : how->pool };
}

cip_status cip_space_read(const cip_read_how *how, cip_space *s, const cip_want *want, size_t n,
                          cip_err *err)
{
    cip_rd rd = cip_rd_make(how);
    uint64_t end = 0;
    for (size_t i = 0; i < n; i++) {
        if (want[i].off < end)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected spans that rise, found one at %" PRIu64 " after %" PRIu64,
                            want[i].off, end);
        if (cip_add_overflow(want[i].off, want[i].len, &end))
            return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET, "a span ends beyond 2^64");
    }
    return cip_rd_spans(&rd, s, 0, want, n, err);
}

cip_status cip_space_read_at(const cip_read_how *how, cip_space *s, uint64_t off, void *dst,
                             size_t n, cip_err *err)
{
    cip_want w = { .off = off, .len = n, .dst = dst };
    return cip_space_read(how, s, &w, 1, err);
}

cip_status cip_array_check(const cip_array *a, cip_err *err)
{
    uint64_t first, end;
    cip_space *s;
    if (a->st != CIP_OK) {
        if (a->why == NULL)
            return cip_fail(err, a->st, CIP_NO_OFFSET, "the array cannot be read");
        cip_err_pass(err, a->why);
        return a->st;
    }
    CIP_TRY(cip_view_bounds(&a->view, &first, &end, err));
    CIP_TRY(cip_space_resolve(a->space, &s, err));
    if (end > s->len)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected %" PRIu64 " bytes for the array, found %" PRIu64, end, s->len);
    return CIP_OK;
}
