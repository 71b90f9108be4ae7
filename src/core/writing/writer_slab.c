/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays that are filled by boxes. They wait in a temporary file, whose room is made at once, so
 * that threads write disjoint boxes without waiting for each other: a store that takes one array
 * behind the other, each from its first chunk on, can take nothing before the commit. Where chunks
 * lie apart they are stored as they come, and only elements of chunks that come in parts wait. */
#include <string.h>

#include "core/writing/writer.h"
#include "space/make/box_runs.h"

/* From any thread. */
static cip_status store_chunk(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk,
                              cip_err *err)
{
    const cip_slab *s = user;
    return cip_engine_store(&s->w->engine, s->entry->index, i, n, chunk, err);
}

/* The store takes the array, and its chunks from now on. */
static cip_status open_boxes(cip_writer *w, cip_entry *e, cip_err *err)
{
    CIP_TRY(cip_writer_name(w, e, &e->form, err));
    if (!cip_boxes_can(&e->form))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected chunks of equal length to store them one by one");
    const cip_boxes_of of = { .env = &w->env,
                              .form = &e->form,
                              .dtype = e->spec.dtype,
                              .ndim = e->spec.ndim,
                              .shape = e->spec.shape,
                              .policy = w->o.accept_loss ? CIP_OVERFLOW_CLAMP : CIP_OVERFLOW_ERROR,
                              .waiting = e->temporary,
                              .store = store_chunk,
                              .user = &e->slab };
    return cip_boxes_new(&of, &e->boxes, err);
}

cip_status cip_writer_end_slab(cip_writer *w, cip_entry *e, cip_err *err)
{
    uint64_t n;
    cip_status st = cip_boxes_finish(e->boxes, err);
    if (st == CIP_OK)
        st = cip_engine_end(&w->engine, e->index, NULL, err);
    cip_shape_nelem(e->spec.ndim, e->spec.shape, &n);
    if (st == CIP_OK)
        st = cip_engine_tell(&w->engine, n * e->spec.dtype->itemsize, err);
    return cip_fail_in(err, st, "%s", e->spec.path);
}

cip_status cip_writer_put_slab(cip_writer *w, const cip_new_array *a, cip_err *err)
{
    cip_entry *e;
    uint64_t n;
    CIP_TRY(cip_writer_add(w, a, &e, err));
    cip_shape_nelem(a->ndim, a->shape, &n);
    CIP_TRY(cip_writer_mask(w, a, e, err));
    e->filled = true;
    cip_writer_link(w, e);
    CIP_TRY(cip_writer_room(w, e, err));
    CIP_TRY(cip_temporary_resize(e->temporary, n * e->spec.dtype->itemsize, err));
    if ((w->format->store->caps & CIP_STORE_APART) != 0 && !cip_writer_waits(w, e))
        CIP_TRY(open_boxes(w, e, err));
    *a->slab = &e->slab;
    return CIP_OK;
}

static cip_status check_box(const cip_spec_array *s, const cip_box *box, size_t nbytes,
                            cip_err *err)
{
    uint64_t want = s->dtype->itemsize;
    for (int i = 0; i < s->ndim; i++) {
        if (box->start[i] < 0 || box->stop[i] < box->start[i] || box->stop[i] > s->shape[i])
            return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected a box within %" PRId64 " elements of axis %d, found %" PRId64
                            " to %" PRId64,
                            s->shape[i], i, box->start[i], box->stop[i]);
        want *= (uint64_t)(box->stop[i] - box->start[i]); /* no more than the array has */
    }
    return nbytes == want
               ? CIP_OK
               : cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                          "expected %" PRIu64 " bytes for the box, found %zu", want, nbytes);
}

static cip_status expect_box(const cip_slab *slab, const cip_box *box, const uint8_t *data,
                             size_t nbytes, cip_err *err)
{
    if (slab->w->complete)
        return cip_fail_complete(err);
    if (box == NULL || (data == NULL && nbytes != 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a box and data, found NULL");
    return check_box(&slab->entry->spec, box, nbytes, err);
}

static cip_status write_box(const cip_slab *slab, const cip_box *box, const uint8_t *data,
                            cip_err *err)
{
    const cip_entry *e = slab->entry;
    const uint64_t each = e->spec.dtype->itemsize;
    cip_box_runs r;
    if (e->boxes != NULL)
        return cip_boxes_write(e->boxes, box->start, box->stop, data, err);
    cip_box_runs_begin(&r, e->spec.ndim, e->spec.shape, box->start, box->stop);
    do {
        const size_t n = (size_t)(r.n * each);
        CIP_TRY(cip_temporary_write(e->temporary, r.first * each, data, n, err));
        data += n;
    } while (cip_box_runs_next(&r));
    return CIP_OK;
}

/* The first one is what the commit fails with. `tears`: a part of the box may be there. */
static void keep_failure(cip_writer *w, bool tears, cip_status st, const cip_err *why)
{
    pthread_mutex_lock(&w->store_lock);
    if (w->slab_st == CIP_OK || (tears && !w->slab_torn)) {
        w->slab_why = *why;
        w->slab_st = st;
    }
    w->slab_torn = w->slab_torn || tears;
    pthread_mutex_unlock(&w->store_lock);
}

cip_status cip_slab_write(cip_slab *slab, const cip_box *box, const void *data, size_t nbytes,
                          cip_err *err)
{
    if (slab == NULL)
        return cip_fail_null(err, "a slab");
    cip_err why = CIP_ERR_INIT;
    cip_status st = expect_box(slab, box, data, nbytes, &why);
    const bool begins = st == CIP_OK && nbytes != 0;
    if (begins) {
        atomic_fetch_add(&slab->nbox, 1);
        st = write_box(slab, box, data, &why);
    }
    if (st != CIP_OK)
        keep_failure(slab->w, begins, st, &why);
    return cip_err_give(cip_err_enter(err), &why, st);
}
