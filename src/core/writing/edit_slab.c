/* SPDX-License-Identifier: BSD-3-Clause
 * Slabs of an update: each is an array whose elements can be read once they were written, until the
 * update ends and it becomes one of the file. */
#include <string.h>

#include "core/writing/edit_impl.h"
#include "base/num.h"
#include "array/elem.h"
#include "core/writing/slab.h"
#include "tree/node.h"

/* With a layout that is a child of the file's, so that records may show both. */
static cip_status make_array(cip_edit_slab *x, cip_edit *e, cip_err *err)
{
    const cip_spec_array *spec = x->slab->spec;
    cip_array *a = &x->array;
    cip_io *io;
    CIP_TRY(cip_slab_open(x->slab, &e->file->env, &io, err));
    const cip_status st = cip_layout_new_child(e->file->layout, io, &a->layout, err);
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
    return cip_view_c_order(spec->ndim, spec->shape, spec->dtype->itemsize, &a->view, err);
}

/* *x: the newest of them. */
static cip_status add(cip_edit *e, cip_slab *slab, const char *place, cip_edit_slab **x,
                      cip_err *err)
{
    CIP_TRY(CIP_ARENA_NEW(&e->arena, x, 1, err));
    **x = (cip_edit_slab){ .next = e->slabs, .slab = slab, .place = place };
    CIP_TRY(make_array(*x, e, err));
    e->slabs = *x;
    return CIP_OK;
}

cip_status cip_edit_slab_add(cip_edit *e, cip_slab *slab, const char *place, cip_err *err)
{
    cip_edit_slab *x;
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(add(e, slab, place, &x, err));
    if (!slab->spec->masked)
        return CIP_OK;
    cip_fail(&why, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
             "the array is being filled and has a mask: it can be read after the commit");
    cip_array_refuse(&x->array, CIP_ERR_UNSUPPORTED, &why);
    return CIP_OK;
}

/* --- in a file where zeros are in its place --------------------------------------------------- */

cip_status cip_edit_slab_over(cip_edit *e, cip_slab *slab, const char *path, const cip_nd *view,
                              cip_err *err)
{
    cip_edit_slab *x;
    const cip_array *a = cip_find(e->file, path, NULL);
    char *place;
    CIP_TRY(cip_arena_copy(&e->arena, path, strlen(path), &place, err));
    CIP_TRY(add(e, slab, a != NULL ? a->path : place, &x, err));
    x->over = true;
    x->is_view = view != NULL;
    if (x->is_view)
        x->array.view = *view;
    if (a == NULL) /* it is a field of records */
        return CIP_OK;
    if (!cip_view_same_shape(&a->view, &x->array.view))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.100s' is stored in another shape than it is being filled", path);
    x->of = x->array.was = a;
    x->array.node = a->node;
    x->array.attributes = a->attributes;
    x->array.mask = a->mask;
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
        st = x->over ? cip_slab_failure(x->slab, &torn, &why) : CIP_OK;
    e->torn = e->torn || torn;
    if (st == CIP_OK)
        return CIP_OK;
    e->st = st;
    e->why = why;
    return cip_err_give(err, &why, st);
}

cip_status cip_edit_slabs_fill(cip_edit *e, cip_err *err)
{
    CIP_TRY(cip_edit_slabs_failure(e, err));
    for (cip_edit_slab *x = e->slabs; x != NULL; x = x->next) {
        if (!x->over)
            continue;
        cip_slab_end(x->slab);
        x->of = NULL; /* from here on the file's is the array */
        x->place = NULL;
    }
    e->filled.records = NULL;
    for (cip_edit_slab *x = e->slabs; x != NULL; x = x->next) {
        cip_array from = x->array;
        from.mask = (cip_mask){ .kind = CIP_MASK_NONE };
        if (x->over && !x->is_view)
            CIP_TRY(cip_edit_write_whole(e, from.path[0] != '\0' ? from.path : NULL, &from, err));
    }
    return CIP_OK;
}

/* --- as columns of records -------------------------------------------------------------------- */

/* What records are put together of. */
typedef struct joining {
    cip_edit *e;
    cip_field *field;
    cip_record_column *column;
    size_t nfield, ncolumn;
    uint64_t itemsize;
    int32_t ndim; /* of the records */
} joining;

/* In the place of the field of its name, which has zeros, or as another one. */
static cip_status join(joining *j, const cip_edit_slab *x, cip_err *err)
{
    const cip_nd *v = &x->array.view;
    cip_arena *arena = &j->e->arena;
    cip_record_part *part;
    cip_bytes *step;
    size_t n, i = 0, left = 0;
    char *name;
    CIP_TRY(cip_path_split(arena, x->place, &step, &n, err));
    CIP_TRY(cip_arena_copy(arena, step[n - 1].ptr, step[n - 1].len, &name, err));
    cip_field f = { .name = name,
                    .dtype = x->array.dtype,
                    .ndim = v->ndim - j->ndim,
                    .shape = v->shape + j->ndim,
                    .offset = j->itemsize };
    const uint64_t nbytes = cip_field_nbytes(&f);
    while (i < j->nfield && strcmp(j->field[i].name, name) != 0)
        i++;
    if (i == j->nfield) {
        j->nfield++;
        if (cip_add_overflow(j->itemsize, nbytes, &j->itemsize))
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "records of over 2^64 bytes");
    } else if (cip_field_nbytes(&j->field[i]) != nbytes) {
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.100s' is stored otherwise than it is being filled: these records can "
                        "be read after the commit",
                        x->place);
    } else {
        f.offset = j->field[i].offset;
        for (size_t k = 0; k < j->ncolumn; k++)
            if (j->column[k].npart == 0 || j->column[k].part->off - f.offset >= nbytes)
                j->column[left++] = j->column[k];
        j->ncolumn = left;
    }
    j->field[i] = f;
    CIP_TRY(CIP_ARENA_NEW(arena, &part, 1, err));
    *part = (cip_record_part){ f.offset, 0, nbytes };
    j->column[j->ncolumn++] = (cip_record_column){ x->array.space, nbytes, part, 1, &x->array };
    return CIP_OK;
}

static cip_status make_records(joining *j, const cip_array *a, cip_array *out, cip_err *err)
{
    const cip_edit_slab *last = j->e->slabs;
    *out = *a;
    out->layout = last->array.layout; /* nothing is read that is not asked for */
    out->was = cip_array_listed(a);
    out->unwritten = NULL;
    out->packed[0] = out->packed[1] = NULL;
    CIP_TRY(cip_arena_copy(&j->e->arena, "", 0, (char **)&out->path, err)); /* to be known by */
    CIP_TRY(
        cip_dtype_record(&j->e->arena, j->nfield, j->field, false, j->itemsize, &out->dtype, err));
    CIP_TRY(cip_view_c_order(a->view.ndim, a->view.shape, j->itemsize, &out->view, err));
    uint64_t nrecord;
    for (size_t i = 0; i < j->ncolumn; i++) /* no more rows than all have */
        if (j->column[i].array != NULL && j->column[i].array->view.shape[0] < out->view.shape[0])
            out->view.shape[0] = j->column[i].array->view.shape[0];
    cip_shape_nelem(a->view.ndim, out->view.shape, &nrecord);
    return cip_space_new_records(out->layout, nrecord, j->itemsize, j->column, j->ncolumn,
                                 &out->space, err);
}

cip_status cip_edit_slabs_in(cip_edit *e, const cip_array *a, const cip_array **out, cip_err *err)
{
    const cip_edit_slab **slab;
    const cip_space *s = cip_edit_records_space(a);
    joining j = { .e = e, .itemsize = a->view.itemsize, .ndim = a->view.ndim };
    cip_array *made;
    size_t n = 0;
    *out = cip_edit_slab_of(e, a);
    if (*out != a || e->slabs == NULL || s == NULL)
        return CIP_OK;
    *out = e->filled.records;
    if (*out != NULL && e->filled.of == a && e->filled.last == e->slabs)
        return CIP_OK;
    for (const cip_edit_slab *x = e->slabs; x != NULL; x = x->next)
        n++;
    CIP_TRY(CIP_ARENA_NEW(&e->arena, &slab, n, err));
    CIP_TRY(CIP_ARENA_NEW(&e->arena, &j.field, a->dtype->nfield + n, err));
    CIP_TRY(CIP_ARENA_NEW(&e->arena, &j.column, s->records.n + n, err));
    CIP_TRY(CIP_ARENA_NEW(&e->arena, &made, 1, err));
    j.nfield = a->dtype->nfield;
    j.ncolumn = s->records.n;
    memcpy(j.field, a->dtype->field, j.nfield * sizeof *j.field);
    if (j.ncolumn != 0)
        memcpy(j.column, s->records.column, j.ncolumn * sizeof *j.column);
    for (const cip_edit_slab *x = e->slabs; x != NULL; x = x->next)
        slab[--n] = x; /* the first declared comes first */
    for (const cip_edit_slab *x = e->slabs; x != NULL; x = x->next, n++)
        if (slab[n]->place != NULL)
            CIP_TRY(join(&j, slab[n], err));
    CIP_TRY(make_records(&j, a, made, err));
    e->filled.of = a;
    e->filled.last = e->slabs;
    *out = e->filled.records = made;
    return CIP_OK;
}

/* --- all of them ------------------------------------------------------------------------------ */

void cip_edit_slabs_drop(cip_edit *e, cip_edit_slab *to)
{
    e->slabs = to;
    e->filled.records = NULL;
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

cip_status cip_edit_no_filled_field(const cip_edit *e, cip_err *err)
{
    for (const cip_edit_slab *x = e->slabs; x != NULL; x = x->next)
        if (x->over && x->of == NULL && x->place != NULL && x->place[0] != '\0')
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "'%.100s' is being filled: other fields of its records are moved after "
                            "the commit",
                            x->place);
    return CIP_OK;
}

cip_status cip_edit_no_slab_at(const cip_edit *e, const char *path, cip_err *err)
{
    cip_arena mem = { .mem = &e->file->env.mem };
    const cip_edit_slab *x = e->slabs;
    char *asked;
    if (x == NULL)
        return CIP_OK;
    cip_status st = cip_path_plain(&e->file->env, &mem, path, &asked, err);
    while (st == CIP_OK && x != NULL &&
           (x->place[0] == '\0' ||
            (!cip_path_within(asked, x->place) && !cip_path_within(x->place, asked))))
        x = x->next;
    if (st == CIP_OK && x != NULL)
        st = fail_filled(x->place, err);
    cip_arena_clear(&mem);
    return st;
}
