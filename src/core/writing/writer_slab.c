/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays that are filled by boxes. They wait in a temporary file: a store that takes one array
 * behind the other, each from its first chunk on, can take nothing before the commit. Where chunks
 * lie apart in a new file they are stored as they come, and only elements of chunks that come in
 * parts wait. */
#include <string.h>

#include "base/sized.h"
#include "core/writing/edit_impl.h"
#include "core/writing/spec_text.h"
#include "core/writing/writer.h"

/* From any thread. */
static cip_status store_chunk(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk,
                              cip_err *err)
{
    const cip_entry *e = user;
    return cip_engine_store(&e->writer->engine, e->index, i, n, chunk, err);
}

/* The store takes the array, and its chunks from now on. */
static cip_status open_boxes(cip_writer *w, cip_entry *e, cip_err *err)
{
    CIP_TRY(cip_writer_name(w, e, &e->form, err));
    e->given = true;
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
                              .user = e };
    return cip_boxes_new(&of, &e->slab->boxes, err);
}

cip_status cip_writer_end_slab(cip_writer *w, cip_entry *e, cip_err *err)
{
    uint64_t n;
    if (e->slab == NULL || e->value != NULL)
        return CIP_OK;
    CIP_TRY(cip_slab_settle(e->slab, err));
    if (e->slab->boxes == NULL)
        return CIP_OK;
    cip_status st = cip_boxes_finish(e->slab->boxes, err);
    if (st == CIP_OK)
        st = cip_engine_end(&w->engine, e->index, NULL, err);
    cip_shape_nelem(e->spec.ndim, e->spec.shape, &n);
    if (st == CIP_OK)
        st = cip_engine_tell(&w->engine, n * e->spec.dtype->itemsize, err);
    return cip_fail_in(err, st, "%s", e->spec.path);
}

void cip_writer_drop_entry(cip_entry *e)
{
    if (e->slab != NULL) {
        cip_slab_set_data(e->slab, NULL);
        cip_boxes_free(e->slab->boxes);
        e->slab->boxes = NULL;
    }
    cip_io_close(e->temporary);
    e->temporary = NULL;
}

static cip_status new_slab(cip_writer *w, cip_entry *e, const cip_array_options *opts, cip_err *err)
{
    cip_slab *s;
    CIP_TRY(CIP_ARENA_NEW(&w->arena, &s, 1, err));
    CIP_TRY(CIP_SIZED_TAKE(cip_array_options, opts, &s->opts, err));
    s->opts.size = sizeof s->opts;
    s->opts.mask = NULL;
    CIP_TRY(cip_spec_keep_array_texts(&w->arena, &s->opts, err));
    cip_slab_init(s, &w->env, &e->spec);
    s->beside = w->path;
    s->next = w->slabs;
    e->slab = w->slabs = s;
    return CIP_OK;
}

cip_status cip_writer_put_slab(cip_writer *w, const cip_new_array *a, cip_err *err)
{
    cip_entry *e;
    uint64_t n;
    CIP_TRY(cip_writer_add(w, a, &e, err));
    cip_shape_nelem(a->ndim, a->shape, &n);
    CIP_TRY(cip_writer_mask(w, a, e, err));
    if (a->had == NULL)
        CIP_TRY(new_slab(w, e, a->opts, err));
    cip_writer_link(w, e);
    w->nslab++;
    if (a->had != NULL) {
        w->engine.total += n * e->spec.dtype->itemsize;
        e->slab = a->had->slab;
        e->temporary = a->had->temporary;
        a->had->slab = NULL;
        a->had->temporary = NULL;
    } else {
        CIP_TRY(cip_writer_room(w, e, err));
        CIP_TRY(cip_temporary_resize(e->temporary, n * e->spec.dtype->itemsize, err));
        if ((w->format->store->caps & CIP_STORE_APART) != 0 && w->coming == NULL &&
            !cip_writer_waits(w, e))
            CIP_TRY(open_boxes(w, e, err));
        if (w->coming != NULL && !w->spec.late) /* what may not come is refused now */
            CIP_TRY(cip_writer_name(w, e, &e->form, err));
        cip_slab_set_data(e->slab, e->temporary);
    }
    *a->slab = e->slab;
    return CIP_OK;
}

/* --- in a draft ------------------------------------------------------------------------------- */

/* In a format with a tree a slab comes by the update, as one that is declared there. What cannot
 * come so is zeros in what is written, and fills that at the end: the only array, columns, masked
 * arrays, one that others are views of, and with a streamed block, behind which nothing comes, all
 * of them. */
static bool is_moved(const cip_writer *w, const cip_entry *e)
{
    bool moved = (w->format->store->caps & CIP_STORE_TREE) != 0 && !e->spec.masked;
    for (const cip_entry *x = w->first; x != NULL; x = x->next)
        moved = moved && x->of != e && x->spec.where != CIP_WHERE_STREAMED;
    return moved;
}

cip_status cip_writer_may_move(const cip_entry *e, cip_err *err)
{
    /* Of those a folder may make several arrays. */
    const bool parted = e->spec.dtype->kind == CIP_RECORD &&
                        (e->writer->format->store->caps & CIP_STORE_FOLDER) != 0;
    if (e->slab == NULL ||
        (e->slab->boxes == NULL && e->spec.where != CIP_WHERE_EXTERNAL && !parted))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "'%.100s' is being filled by boxes: nothing can be read or changed until the "
                    "commit",
                    e->spec.path);
}

cip_status cip_writer_leave_out(cip_writer *w, cip_err *err)
{
    cip_entry **to = &w->moved, **from = &w->first;
    while (w->nslab != 0 && *from != NULL) {
        cip_entry *const e = *from;
        const bool moved = e->slab != NULL && is_moved(w, e);
        if (e->slab != NULL && !moved) {
            uint8_t *zeros;
            CIP_TRY(
                cip_arena_get(&w->arena, (size_t)e->spec.dtype->itemsize, (void **)&zeros, err));
            e->value = memset(zeros, 0, (size_t)e->spec.dtype->itemsize);
        }
        if (!moved) {
            from = &e->next;
            continue;
        }
        CIP_TRY(cip_build_remove(&w->tree, e->spec.path, err));
        *from = e->next;
        e->next = NULL;
        *to = e;
        to = &e->next;
        w->nslab--;
    }
    w->last = from;
    return CIP_OK;
}

cip_status cip_writer_move_on(cip_writer *w, cip_err *err)
{
    for (cip_entry *e = w->nslab != 0 ? w->first : NULL; e != NULL; e = e->next) {
        cip_slab *slab = e->slab != NULL ? e->slab : e->of != NULL ? e->of->slab : NULL;
        const bool alone = w->narray == 1 && cip_find(w->draft->file, e->spec.path, NULL) == NULL;
        if (slab != NULL) /* where there is one array its name may not be kept */
            CIP_TRY(cip_edit_slab_over(w->draft, slab, alone ? "" : e->spec.path,
                                       e->spec.is_view ? &e->spec.view : NULL, err));
    }
    for (cip_entry *e = w->moved; e != NULL; e = e->next) {
        cip_slab *slab = e->slab;
        const cip_new_array a = { .path = e->spec.path,
                                  .dtype = e->spec.dtype,
                                  .ndim = e->spec.ndim,
                                  .shape = e->spec.shape,
                                  .opts = &slab->opts,
                                  .from = CIP_NEW_OF_BOXES,
                                  .slab = &slab,
                                  .had = e };
        cip_err why = CIP_ERR_INIT;
        CIP_TRY(cip_edit_leave(w->draft, cip_edit_put(w->draft, &a, &why), &why, err));
    }
    return CIP_OK;
}
