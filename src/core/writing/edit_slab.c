/* SPDX-License-Identifier: BSD-3-Clause
 * Slabs of an update: each is an array whose elements can be read once they were written, until the
 * update ends and it becomes one of the file. */
#include <string.h>

#include "core/writing/edit_impl.h"
#include "core/writing/slab.h"
#include "tree/node.h"

static cip_status make_array(cip_edit_slab *x, cip_edit *e, cip_err *err)
{
    const cip_spec_array *spec = x->slab->spec;
    cip_array *a = &x->array;
    cip_io *io;
    CIP_TRY(cip_slab_open(x->slab, &io, err));
    cip_status st = cip_layout_new(&e->file->env, io, &a->layout, err);
    if (st != CIP_OK) {
        cip_io_close(io);
        return st;
    }
    a->layout->owns_io = true;
    a->path = x->place;
    a->dtype = spec->dtype;
    a->space = a->layout->file;
    a->space->label = x->place[0] != '\0' ? x->place : NULL; /* what errors name */
    a->storage = (cip_storage){ .codec = "none", .nbytes = io->size, .block = -1 };
    CIP_TRY(cip_layout_read_exactly(a->layout, err));
    CIP_TRY(cip_view_c_order(spec->ndim, spec->shape, spec->dtype->itemsize, &a->view, err));
    if (spec->masked) {
        cip_err why = CIP_ERR_INIT;
        cip_fail(&why, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                 "the array is being filled and has a mask: it can be read after the commit");
        cip_array_refuse(a, CIP_ERR_UNSUPPORTED, &why);
    }
    return CIP_OK;
}

cip_status cip_edit_slab_add(cip_edit *e, cip_slab *slab, const char *place, cip_err *err)
{
    cip_edit_slab *x;
    CIP_TRY(CIP_ARENA_NEW(&e->arena, &x, 1, err));
    *x = (cip_edit_slab){ .next = e->slabs, .slab = slab, .place = place };
    const cip_status st = make_array(x, e, err);
    if (st == CIP_OK)
        e->slabs = x;
    else
        cip_layout_free(x->array.layout);
    return st;
}

cip_status cip_edit_slab_over(cip_edit *e, cip_slab *slab, cip_err *err)
{
    const cip_array *a = e->file->layout->array[0];
    CIP_TRY(cip_edit_slab_add(e, slab, a->path, err));
    e->slabs->of = e->slabs->array.was = a;
    return CIP_OK;
}

const cip_array *cip_edit_slab_of(const cip_edit *e, const cip_array *a)
{
    const cip_edit_slab *x = e->slabs;
    while (x != NULL && x->of != a)
        x = x->next;
    return x != NULL ? &x->array : a;
}

cip_status cip_edit_slabs_failure(cip_edit *e, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    bool torn = false;
    cip_status st = CIP_OK;
    for (cip_edit_slab *x = e->slabs; x != NULL && st == CIP_OK; x = x->next)
        st = x->of != NULL ? cip_slab_failure(x->slab, &torn, &why) : CIP_OK;
    e->torn = e->torn || torn;
    if (st == CIP_OK)
        return CIP_OK;
    e->st = st;
    e->why = why;
    return cip_err_give(err, &why, st);
}

cip_status cip_edit_slabs_fill(cip_edit *e, cip_err *err)
{
    cip_edit_slab *x = e->slabs;
    while (x != NULL && x->of == NULL)
        x = x->next;
    if (x == NULL)
        return CIP_OK;
    CIP_TRY(cip_edit_slabs_failure(e, err));
    x->of = NULL;
    x->place = NULL;
    cip_slab_end(x->slab);
    return cip_edit_write_whole(e, &x->array, err);
}

void cip_edit_slabs_drop(cip_edit *e, cip_edit_slab *to)
{
    for (; e->slabs != to; e->slabs = e->slabs->next)
        cip_layout_free(e->slabs->array.layout);
}

cip_status cip_edit_slabs_mark(cip_edit *e, cip_err *err)
{
    for (cip_edit_slab *x = e->slabs; x != NULL; x = x->next)
        CIP_TRY(cip_slab_mark(x->slab, &e->undo, err));
    return CIP_OK;
}

void cip_edit_slabs_unmark(cip_edit *e)
{
    for (cip_edit_slab *x = e->slabs; x != NULL; x = x->next)
        cip_slab_unmark(x->slab);
}

const cip_array *cip_edit_slab_array(const cip_edit *e, const char *place)
{
    const cip_edit_slab *x = e->slabs;
    while (x != NULL && x->place != place)
        x = x->next;
    return x != NULL ? &x->array : NULL;
}

static cip_status fail_filled(const char *path, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "the array '%.100s' was added in this update and is being filled; commit it "
                    "first",
                    path);
}

cip_status cip_edit_no_slab(const cip_edit *e, const cip_array *a, cip_err *err)
{
    return cip_edit_slab_array(e, a->path) == NULL ? CIP_OK : fail_filled(a->path, err);
}

cip_status cip_edit_no_slab_at(const cip_edit *e, const char *path, cip_err *err)
{
    cip_arena mem = { .mem = &e->file->env.mem };
    const cip_edit_slab *x = e->slabs;
    char *asked;
    if (x == NULL)
        return CIP_OK;
    cip_status st = cip_path_plain(&e->file->env, &mem, path, &asked, err);
    while (
        st == CIP_OK && x != NULL &&
        (x->of != NULL || (!cip_path_within(asked, x->place) && !cip_path_within(x->place, asked))))
        x = x->next;
    if (st == CIP_OK && x != NULL)
        st = fail_filled(x->place, err);
    cip_arena_clear(&mem);
    return st;
}
