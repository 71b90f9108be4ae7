/* SPDX-License-Identifier: BSD-3-Clause
 * An update of a format of one array by itself, without core: its store, and the array's chunks,
 * changed as core does it. */
#ifndef CIP_TESTS_ONE_UPDATE_H
#define CIP_TESTS_ONE_UPDATE_H

#include "io/temporary.h"
#include "support/one_format.h"

typedef struct one_update {
    const cip_format *format;
    one_file f;
    cip_arena arena;
    cip_io *temporary;
    void *u; /* the store's state; NULL: the file could not be opened, or the update not begun */
    cip_chunk_changes *c;
    cip_revision r;
} one_update;

/* The store's state of another update of the file. */
static inline cip_status one_update_begin(one_update *j, const cip_spec *how, void **u)
{
    if (j->temporary == NULL)
        CIP_TRY(cip_temporary_new(&j->f.env, NULL, &j->temporary, NULL));
    const cip_store_begin b = { .env = &j->f.env,
                                .arena = &j->arena,
                                .spec = how,
                                .old = j->f.layout,
                                .temporary = j->temporary };
    return j->format->store->begin(&b, u, &j->f.err);
}

/* one_update_close is needed also on failure. `how`, `from` may be NULL. */
static inline cip_status one_update_open(one_update *j, const cip_format *format, cip_bytes file,
                                         const cip_spec *how, const cip_allocator *from)
{
    static const cip_spec none = { .big = -1 };
    memset(j, 0, sizeof *j);
    j->format = format;
    cip_status st = one_open(&j->f, format, file.ptr, file.len, 0, from);
    j->arena.mem = j->r.patch.arena.mem = &j->f.env.mem;
    return st == CIP_OK ? one_update_begin(j, how != NULL ? how : &none, &j->u) : st;
}

static inline void one_update_close(one_update *j)
{
    if (j->u != NULL && j->format->store->clear != NULL)
        j->format->store->clear(j->u);
    cip_chunk_changes_free(j->c);
    cip_revision_clear(&j->r);
    cip_io_close(j->temporary);
    cip_arena_clear(&j->arena);
    one_close(&j->f);
}

static inline cip_status one_update_form(one_update *j, cip_change_kind kind, const int64_t *shape,
                                         cip_err *err)
{
    const cip_array *a = j->f.layout->array[0];
    cip_change_form f = { .fill = NULL };
    CIP_TRY(j->format->store->form(j->u, a, kind, shape, &f, err));
    return j->c != NULL ? CIP_OK : cip_chunk_changes_new(a, &f.form, j->temporary, &j->c, err);
}

static inline cip_status one_update_elements(one_update *j, const cip_nd *at, const cip_feed *feed)
{
    CIP_TRY(one_update_form(j, CIP_CHANGE_ELEMENTS, NULL, NULL));
    return cip_chunk_changes_write(j->c, at, feed, NULL);
}

static inline cip_status one_update_shape(one_update *j, const int64_t *to)
{
    CIP_TRY(one_update_form(j, CIP_CHANGE_SHAPE, to, NULL));
    return cip_chunk_changes_resize(j->c, j->f.layout->array[0], to, NULL, NULL, NULL);
}

static inline cip_status one_update_rows(one_update *j, uint64_t n, const cip_feed *feed)
{
    const cip_array *a = j->f.layout->array[0];
    int64_t to[CIP_MAX_NDIM];
    cip_nd at;
    CIP_TRY(one_update_form(j, CIP_CHANGE_ROWS, NULL, NULL));
    memcpy(to, cip_chunk_changes_shape(j->c), sizeof *to * (size_t)a->view.ndim);
    const int64_t was = to[0];
    to[0] += (int64_t)n;
    CIP_TRY(cip_view_c_order(a->view.ndim, to, a->view.itemsize, &at, NULL));
    at.off = (uint64_t)(was * at.stride[0]);
    at.shape[0] = (int64_t)n;
    return cip_chunk_changes_resize(j->c, a, to, n != 0 ? &at : NULL, feed, NULL);
}

static inline cip_status one_update_finish(one_update *j, cip_err *err)
{
    if (j->c != NULL && cip_chunk_changes_made(j->c) != 0) {
        CIP_TRY(cip_chunk_changes_finish(j->c, NULL, NULL, err));
        CIP_TRY(j->format->store->chunks(j->u, j->c, err));
    }
    return j->format->store->finish(j->u, &j->r, err);
}

#endif
