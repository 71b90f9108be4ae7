/* SPDX-License-Identifier: BSD-3-Clause
 * Elements that may turn out not to be had, or not to fit, when some of them are changed already:
 * all are taken before any is. */
#include "core/writing/edit_impl.h"

#include "base/num.h"

enum { PIECE = 1 << 20 };

static cip_status next_of_stage(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    cip_edit_stage *s = self;
    const uint64_t n = nelem * s->itemsize;
    CIP_TRY(cip_io_read(s->io, s->at, dst, (size_t)n, err));
    s->at += n;
    return CIP_OK;
}

/* Changes of n-d chunks take them all first by themselves. */
static bool is_grid(const cip_array *a)
{
    cip_space *s;
    return a->space != NULL && cip_space_resolve(a->space, &s, NULL) == CIP_OK &&
           s->kind == CIP_SPACE_GRID;
}

/* Whether the format has to be asked if it can store the elements. */
static bool asks(const cip_edit *e, const cip_array *a)
{
    return e->ops->holds != NULL && a->storage.kind == CIP_STORAGE_INLINE;
}

static cip_status fill(cip_edit *e, const cip_array *a, const cip_dtype *dtype, cip_edit_stage *s,
                       const cip_feed *feed, uint64_t nelem, cip_err *err)
{
    cip_mem *mem = &e->file->env.mem;
    const uint64_t most = cip_min_u64(nelem, cip_max_u64(1, PIECE / cip_max_u64(1, s->itemsize)));
    cip_status st = CIP_OK;
    size_t nbytes;
    void *buf;
    if (cip_mul_overflow(most, s->itemsize, &nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an element of over 2^64 bytes");
    CIP_TRY(cip_mem_get(mem, nbytes, &buf, err));
    for (uint64_t left = nelem, n; left != 0; left -= n) {
        n = cip_min_u64(most, left);
        CIP_GO(feed->next(feed->self, n, buf, err));
        if (asks(e, a))
            CIP_GO(e->ops->holds(e->state, dtype, buf, (size_t)n, err));
        CIP_GO(cip_temporary_write(s->io, s->io->size, buf, (size_t)(n * s->itemsize), err));
    }
done:
    cip_mem_put(mem, buf);
    return st;
}

cip_status cip_edit_stage_begin(cip_edit *e, const cip_array *a, const cip_feed *feed,
                                uint64_t nelem, const cip_dtype *dtype, cip_edit_stage *s,
                                cip_err *err)
{
    *s = (cip_edit_stage){ .feed = *feed, .itemsize = dtype->itemsize };
    if ((feed->sure && !asks(e, a)) || nelem == 0 || is_grid(a))
        return CIP_OK;
    CIP_TRY(cip_temporary_new(&e->file->env, cip_io_path(a->layout->io), &s->io, err));
    cip_status st = fill(e, a, dtype, s, feed, nelem, err);
    if (st != CIP_OK)
        cip_edit_stage_end(s);
    s->feed = (cip_feed){ .next = next_of_stage, .self = s };
    return st;
}

void cip_edit_stage_end(cip_edit_stage *s)
{
    cip_io_close(s->io);
    s->io = NULL;
}
