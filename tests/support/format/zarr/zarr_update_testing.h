/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of Zarr stores for tests, seen as they will be without a commit. Included after cmocka.h.
 */
#ifndef CIP_TESTS_ZARR_UPDATE_TESTING_H
#define CIP_TESTS_ZARR_UPDATE_TESTING_H

#include "format/zarr/zarr_update.h"
#include "io/revision_out.h"
#include "io/temporary.h"
#include "space/make/chunker.h"
#include "support/format/zarr/zarr_testing.h"

enum { ZARR_CAME = 8, ZARR_CHUNKS = 4 };

/* An update of a store, and the store as it will be. */
typedef struct zarr_job {
    zarr_folder *f;
    cip_arena arena;
    cip_io *temporary, *after;
    cip_chunk_changes *c[ZARR_CHUNKS]; /* of the layout's arrays */
    void *u;
    struct {
        void *w;
        cip_spec_array array;
        int64_t shape[3];
        cip_coming how;
    } came[ZARR_CAME];
    size_t ncame;
    cip_revision r;
    cip_undo undo;
    cip_layout *layout;
    cip_err err;
} zarr_job;

static const cip_array_store *const zarr_store = &cip_zarr_store;

static inline void zarr_job_close(zarr_job *j)
{
    cip_layout_free(j->layout);
    cip_io_close(j->after);
    cip_revision_clear(&j->r);
    for (size_t i = 0; i < ZARR_CHUNKS; i++)
        cip_chunk_changes_free(j->c[i]);
    for (size_t i = 0; i < j->ncame; i++)
        zarr_store->clear(j->came[i].w);
    if (j->u != NULL)
        zarr_store->clear(j->u);
    cip_undo_end(&j->undo);
    cip_io_close(j->temporary);
    cip_arena_clear(&j->arena);
    zarr_close(j->f);
}

static inline cip_status zarr_job_open_as(zarr_job *j, zarr_folder *f, const cip_spec *how,
                                          const cip_allocator *from)
{
    memset(j, 0, sizeof *j);
    j->f = f;
    cip_status st = zarr_open_from(f, from);
    j->err = f->err;
    j->arena.mem = j->r.patch.arena.mem = &f->env.mem;
    j->undo = (cip_undo){ .mem = &f->env.mem, .call = 1 };
    CIP_TRY(st);
    CIP_TRY(cip_temporary_new(&f->env, NULL, &j->temporary, &j->err));
    const cip_store_begin b = { .env = &f->env,
                                .arena = &j->arena,
                                .spec = how,
                                .old = f->layout,
                                .undo = &j->undo,
                                .temporary = j->temporary };
    return zarr_store->begin(&b, &j->u, &j->err);
}

static inline cip_status zarr_job_open(zarr_job *j, zarr_folder *f)
{
    static const cip_spec as_it_is = { .big = -1 };
    return zarr_job_open_as(j, f, &as_it_is, NULL);
}

/* As a call that failed is ended. */
static inline cip_status zarr_ended(zarr_job *j, cip_status st)
{
    if (st == CIP_OK)
        cip_undo_next(&j->undo);
    else
        assert_true(cip_undo_call(&j->undo));
    return st;
}

/* A text, or NULL: it goes. */
static inline cip_status zarr_set(zarr_job *j, const char *path, const char *text)
{
    cip_node *n;
    if (text == NULL)
        return zarr_ended(j, zarr_store->remove(j->u, path, &j->err));
    cip_status st = cip_node_new_string(&j->arena, text, strlen(text), &n, &j->err);
    if (st == CIP_OK)
        st = zarr_store->set(j->u, path, n, &j->err);
    return zarr_ended(j, st);
}

static inline cip_status zarr_store_chunks(void *user, uint64_t i, size_t n,
                                           const cip_chunk_in *chunk, cip_err *err)
{
    return zarr_store->store(user, 0, i, n, chunk, err);
}

static inline cip_status zarr_elems(const zarr_job *j, void *w, const cip_array_form *form,
                                    cip_bytes elems, cip_err *err)
{
    const cip_chunker_to to = { zarr_store_chunks, w, NULL };
    cip_chunker *c;
    CIP_TRY(cip_chunker_new(&j->f->env, form, elems.len / form->dtype->itemsize, &to, &c, err));
    cip_status st = cip_chunker_write(c, elems, err);
    if (st == CIP_OK)
        st = cip_chunker_finish(c, err);
    cip_chunker_free(c);
    return st;
}

/* An array of rows x 2 int32 that counts from `first` on, in chunks of two rows; or in its place,
 * with the options. */
static inline cip_status zarr_add(zarr_job *j, const char *path, int64_t rows, int32_t first,
                                  bool replace, const char *const *option)
{
    static uint8_t data[4000];
    static const char *const chunks[CIP_ZARR_OPTION_CONSOLIDATED + 1] = { "2,2" };
    cip_array_form form = { .dtype = NULL };
    const size_t k = j->ncame;
    assert_true(k < ZARR_CAME && rows * 8 <= (int64_t)sizeof data);
    for (int64_t i = 0; i < rows * 2; i++)
        cip_store_u32(data + 4 * i, (uint32_t)(first + (int32_t)i), false);
    j->came[k].shape[0] = rows;
    j->came[k].shape[1] = 2;
    j->came[k].array = (cip_spec_array){ .path = "array",
                                         .dtype = cip_dtype_fixed(CIP_I32, false),
                                         .ndim = 2,
                                         .shape = j->came[k].shape,
                                         .of = -1,
                                         .mask = -1 };
    j->came[k].how = (cip_coming){ .update = j->u, .path = path, .replace = replace };
    const cip_spec spec = { .env = &j->f->env,
                            .big = -1,
                            .array = &j->came[k].array,
                            .narray = 1,
                            .option = option != NULL ? option : chunks };
    const cip_store_begin b = { .env = &j->f->env,
                                .arena = &j->arena,
                                .spec = &spec,
                                .coming = &j->came[k].how,
                                .form = &form };
    void *w;
    CIP_TRY(zarr_ended(j, zarr_store->begin(&b, &w, &j->err)));
    cip_status st = zarr_elems(j, w, &form, (cip_bytes){ data, (size_t)rows * 8 }, &j->err);
    if (st == CIP_OK)
        st = zarr_store->finish(w, NULL, &j->err);
    if (zarr_ended(j, st) == CIP_OK)
        j->came[j->ncame++].w = w;
    else
        zarr_store->clear(w);
    return st;
}

static inline cip_status zarr_count_up(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    int32_t *value = self;
    (void)err;
    for (; nelem != 0; nelem--, dst += 4)
        cip_store_u32(dst, (uint32_t)(*value)++, false);
    return CIP_OK;
}

/* Rows [first, first + n) of an array of int32 of one axis; those behind its end are new. */
static inline cip_status zarr_put_rows(zarr_job *j, size_t array, int64_t first, int64_t n,
                                       int32_t value)
{
    const cip_array *a = j->f->layout->array[array];
    const int64_t shape[1] = { first + n };
    const bool more = shape[0] > a->view.shape[0];
    const cip_feed feed = { .next = zarr_count_up, .self = &value };
    cip_change_form form = { .fill = NULL };
    cip_nd at = a->view;
    CIP_TRY(zarr_store->form(j->u, a, more ? CIP_CHANGE_ROWS : CIP_CHANGE_ELEMENTS, NULL, &form,
                             &j->err));
    if (j->c[array] == NULL)
        CIP_TRY(cip_chunk_changes_new(a, &form.form, j->temporary, &j->c[array], &j->err));
    at.off = (uint64_t)first * 4;
    at.shape[0] = n;
    return more ? cip_chunk_changes_resize(j->c[array], a, shape, &at, &feed, &j->err)
                : cip_chunk_changes_write(j->c[array], &at, &feed, &j->err);
}

static inline cip_status zarr_plan(zarr_job *j)
{
    for (size_t i = 0; i < ZARR_CHUNKS; i++)
        if (j->c[i] != NULL) {
            CIP_TRY(cip_chunk_changes_finish(j->c[i], NULL, NULL, &j->err));
            CIP_TRY(zarr_store->chunks(j->u, j->c[i], &j->err));
        }
    CIP_TRY(zarr_store->finish(j->u, &j->r, &j->err));
    return cip_io_open_revision(j->f->io, &j->r, &j->after, &j->err);
}

static inline cip_status zarr_finish(zarr_job *j)
{
    CIP_TRY(zarr_plan(j));
    CIP_TRY(cip_layout_new(&j->f->env, j->after, &j->layout, &j->err));
    return cip_format_zarr.open(j->layout, &j->err);
}

/* The changes of the revision, a line each; the switch is marked. */
static inline const char *zarr_changes(const zarr_job *j)
{
    static const char *const what[] = { "made",    "replaced", "patched",
                                        "renamed", "gone",     "folder gone" };
    static char text[4096];
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < j->r.nmember; i++) {
        const cip_revision_member *m = &j->r.member[i];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %s\n",
                              j->r.last == i + 1 ? "last " : "", what[m->change], m->name);
    }
    return text;
}

static inline void zarr_has_text(const zarr_job *j, const char *name, const char *text)
{
    char found[4000];
    cip_io *io;
    size_t n;
    assert_int_equal(cip_io_open_beneath(j->after, name, 0, &io, NULL), CIP_OK);
    assert_int_equal(cip_io_read_some(io, 0, found, sizeof found - 1, &n, NULL), CIP_OK);
    found[n] = '\0';
    cip_io_close(io);
    assert_string_equal(found, text);
}

static inline void zarr_assert_ok(cip_status st, const cip_err *err)
{
    if (st != CIP_OK)
        fail_msg("%s: %s", err->part, err->text);
}

static inline void zarr_refused(const zarr_job *j, cip_status st, cip_status code, const char *text)
{
    if (st != code)
        fail_msg("expected status %d, found %d: %s", (int)code, (int)st, j->err.text);
    if (strstr(j->err.text, text) == NULL)
        fail_msg("expected '%s', found '%s'", text, j->err.text);
}

#define OK(j, call) zarr_assert_ok((call), &(j)->err)

#endif
