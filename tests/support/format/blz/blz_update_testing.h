/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of folders for tests, seen as they will be without a commit. Included after cmocka.h. */
#ifndef CIP_TESTS_BLZ_UPDATE_TESTING_H
#define CIP_TESTS_BLZ_UPDATE_TESTING_H

#include "support/format/blz/blz_testing.h"
#include "format/blz/blz_update.h"
#include "io/revision_out.h"

enum { CHUNKS = 3, CAME = 16 };

/* An update of a folder, and the folder as it will be. */
typedef struct job {
    blz_folder *f;
    cip_arena arena;
    cip_io *temporary, *after;
    cip_chunk_changes *c[CHUNKS]; /* of the layout's arrays */
    void *u;
    void *came[CAME]; /* states of columns that came */
    size_t ncame;
    cip_revision r;
    cip_out out;
    cip_layout *layout;
    cip_err err;
} job;

static const cip_array_store *const store = &cip_blz_store;

static inline void job_close(job *j)
{
    cip_layout_free(j->layout);
    cip_io_close(j->after);
    cip_revision_clear(&j->r);
    for (size_t i = 0; i < CHUNKS; i++)
        cip_chunk_changes_free(j->c[i]);
    if (j->u != NULL && store->clear != NULL)
        store->clear(j->u);
    for (size_t i = 0; i < j->ncame; i++)
        store->clear(j->came[i]);
    cip_io_close(j->temporary);
    cip_arena_clear(&j->arena);
    blz_close(j->f);
}

static inline cip_status job_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    job *j = user;
    cip_revision *as;
    cip_revision_out *p;
    CIP_TRY(CIP_ARENA_NEW(&j->arena, &p, 1, err));
    CIP_TRY(cip_revision_make(&j->r, name, &as, err));
    cip_revision_out_begin(p, j->temporary, as);
    *out = &p->out;
    return CIP_OK;
}

static inline cip_status job_open_as(job *j, blz_folder *f, const cip_spec *how,
                                     const cip_allocator *from)
{
    memset(j, 0, sizeof *j);
    j->f = f;
    cip_status st = blz_open_from(f, 0, from);
    j->err = f->err;
    j->arena.mem = j->r.patch.arena.mem = &f->env.mem;
    CIP_TRY(st);
    CIP_TRY(cip_temporary_new(&f->env, NULL, &j->temporary, &j->err));
    j->out = (cip_out){ .member = job_member, .member_user = j };
    const cip_store_begin b = { .env = &f->env,
                                .arena = &j->arena,
                                .spec = how,
                                .old = f->layout,
                                .temporary = j->temporary,
                                .out = &j->out };
    return store->begin(&b, &j->u, &j->err);
}

static inline cip_status job_open(job *j, blz_folder *f)
{
    static const cip_spec as_it_is = { .big = -1 };
    return job_open_as(j, f, &as_it_is, NULL);
}

static inline cip_status job_plan(job *j)
{
    for (size_t i = 0; i < CHUNKS; i++)
        if (j->c[i] != NULL) {
            CIP_TRY(cip_chunk_changes_finish(j->c[i], NULL, NULL, &j->err));
            CIP_TRY(store->chunks(j->u, j->c[i], &j->err));
        }
    CIP_TRY(store->finish(j->u, &j->r, &j->err));
    return cip_io_open_revision(j->f->io, &j->r, &j->after, &j->err);
}

static inline cip_status job_finish(job *j)
{
    CIP_TRY(job_plan(j));
    CIP_TRY(cip_layout_new(&j->f->env, j->after, &j->layout, &j->err));
    return cip_format_blz.open(j->layout, &j->err);
}

/* --- changes of arrays of int64, which count up ----------------------------------------------- */

static inline cip_status next(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    uint64_t *value = self;
    (void)err;
    for (; nelem != 0; nelem--, dst += 8)
        cip_store_u64(dst, (*value)++, false);
    return CIP_OK;
}

static inline cip_status open_chunks(job *j, size_t array, cip_change_kind kind,
                                     const int64_t *shape, cip_change_form *form)
{
    cip_array *a = j->f->layout->array[array];
    *form = (cip_change_form){ .fill = NULL };
    CIP_TRY(store->form(j->u, a, kind, shape, form, &j->err));
    if (j->c[array] != NULL)
        return CIP_OK;
    return cip_chunk_changes_new(a, &form->form, j->temporary, &j->c[array], &j->err);
}

/* Rows [first, first + n) become `value` and on; those behind the end are new. */
static inline cip_status put_rows(job *j, size_t array, int64_t first, int64_t n, uint64_t value)
{
    const cip_array *a = j->f->layout->array[array];
    const int64_t shape[1] = { first + n };
    const cip_array *now = j->c[array] != NULL ? cip_chunk_changes_now(j->c[array], a) : a;
    const bool more = shape[0] > now->view.shape[0];
    const cip_feed feed = { .next = next, .self = &value };
    cip_change_form form;
    cip_nd at = a->view;
    CIP_TRY(open_chunks(j, array, more ? CIP_CHANGE_ROWS : CIP_CHANGE_ELEMENTS, NULL, &form));
    at.off = (uint64_t)first * 8;
    at.shape[0] = n;
    return more ? cip_chunk_changes_resize(j->c[array], a, shape, &at, &feed, &j->err)
                : cip_chunk_changes_write(j->c[array], &at, &feed, &j->err);
}

static inline cip_status resize(job *j, size_t array, int64_t rows)
{
    cip_change_form form;
    CIP_TRY(open_chunks(j, array, CIP_CHANGE_SHAPE, &rows, &form));
    return cip_chunk_changes_resize(j->c[array], j->f->layout->array[array], &rows, NULL, NULL,
                                    &j->err);
}

static inline uint64_t value_at(job *j, size_t array, uint64_t i)
{
    const cip_read_how how = { j->layout, NULL };
    uint8_t got[8];
    assert_int_equal(
        cip_space_read_at(&how, j->layout->array[array]->space, 8 * i, got, 8, &j->err), CIP_OK);
    return cip_load_u64(got, false);
}

/* The changes of the revision, a line each; the switch is marked. */
static const char *changes_of(const job *j)
{
    static const char *const what[] = { "made",    "replaced", "patched",
                                        "renamed", "gone",     "folder gone" };
    static char text[4096];
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < j->r.nmember; i++) {
        const cip_revision_member *m = &j->r.member[i];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %s%s%s\n",
                              j->r.last == i + 1 ? "last " : "", what[m->change], m->name,
                              m->to != NULL ? " to " : "", m->to != NULL ? m->to : "");
    }
    return text;
}

static inline void assert_member(const job *j, const char *name, const char *text)
{
    char found[1000];
    cip_io *io;
    size_t n;
    assert_int_equal(cip_io_open_beneath(j->after, name, 0, &io, NULL), CIP_OK);
    assert_int_equal(cip_io_read_some(io, 0, found, sizeof found - 1, &n, NULL), CIP_OK);
    found[n] = '\0';
    cip_io_close(io);
    assert_string_equal(found, text);
}

static inline void start(blz_folder *f)
{
    blz_start(f);
    blz_array_at(f, "");
}

static inline void blz_assert_ok(cip_status st, const cip_err *err)
{
    if (st != CIP_OK)
        fail_msg("%s: %s", err->part, err->text);
}

static inline void assert_refused(const job *j, cip_status st, cip_status code, const char *text)
{
    assert_int_equal(st, code);
    if (strstr(j->err.text, text) == NULL)
        fail_msg("expected '%s', found '%s'", text, j->err.text);
}

#define OK(j, call) blz_assert_ok((call), &(j)->err)

#endif
