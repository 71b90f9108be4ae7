/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays in chunks of every form, in files of the fake format that are under an update, and what
 * they should be; perhaps in members of a set, which lies in a folder, in memory and in a store of
 * a caller's. */
#ifndef CIP_TESTS_EDIT_MODEL_H
#define CIP_TESTS_EDIT_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "cippus/ext/chunk.h"
#include "core/writing/edit_impl.h"
#include "core/writing/engine.h"
#include "io/temporary.h"
#include "support/fake/fake.h"
#include "support/fake/fake_members.h"
#include "support/three_stores.h"

static scratch dir; /* of the folders */

enum { MAX_AXES = 4, ELEMS_MAX = 3000 };
enum { MEMBERS_MOST = 24 /* of an array whose chunks are members each */ };

/* An array in a file of the fake format, under an update. */
typedef struct world {
    fake f;
    cip_file file;
    fake_stored stored;
    cip_array *a;
    cip_edit e;
} world;

/* What it should be. */
typedef struct model {
    world one, many; /* without threads, and with four */
    fake other;      /* where arrays come from */
    int32_t ndim;
    int64_t shape[CIP_MAX_NDIM];
    const cip_dtype *type, *native;
    uint8_t *bytes; /* as stored, in C order */
    bool takes;
    bool has_members; /* `one` lies in members of these, as store number `from` has them: */
    three_stores stores;
    fake_members in;
    int from;
} model;

static const cip_format fake_format = { .name = "fake", .title = "Fake", .store = &fake_store };

static inline uint64_t product(int32_t n, const int64_t *v)
{
    uint64_t p = 1;
    for (int32_t k = 0; k < n; k++)
        p *= (uint64_t)v[k];
    return p;
}

static inline void cast_all(const cip_dtype *from, const cip_dtype *to, uint64_t n,
                            const uint8_t *src, uint8_t *dst)
{
    cip_cast c;
    cip_cast_stats stats = { 0, 0 };
    assert_int_equal(cip_cast_make(from, to, CIP_OVERFLOW_ERROR, &c, NULL), CIP_OK);
    cip_cast_run(&c, (size_t)n, src, (int64_t)from->itemsize, dst, (int64_t)to->itemsize, 0,
                 &stats);
}

/* Elements as they are stored: small numbers, or all of one. */
static inline uint8_t *pick_elements(model *m, uint64_t n)
{
    fake *f = &m->one.f;
    double *v = fake_keep(f, (size_t)(n + 1) * sizeof *v);
    uint8_t *out = fake_keep(f, (size_t)(n * m->type->itemsize) + 1);
    const bool alike = fake_chance(f, 2);
    const double value = fake_chance(f, 2) ? 0 : 7;
    for (uint64_t i = 0; i < n; i++)
        v[i] = alike ? value : (double)fake_pick(f, 0, 100);
    cast_all(cip_dtype_of(CIP_F64), m->type, n, (const uint8_t *)v, out);
    return out;
}

/* --- files ------------------------------------------------------------------------------------ */

static inline cip_array *add_array(fake *f, const char *path, const fake_stored *s, int32_t ndim,
                                   const int64_t *shape)
{
    cip_array *a;
    FAKE_MUST(cip_layout_add_array(f->layout, true, &a, err));
    a->layout = f->layout;
    a->path = path;
    a->dtype = s->form.dtype;
    a->space = fake_stored_space(s);
    a->storage.block = -1;
    FAKE_MUST(cip_view_c_order(ndim, shape, a->dtype->itemsize, &a->view, err));
    return a;
}

static inline void store_all(fake *f, fake_stored *to, uint64_t nelem, const uint8_t *bytes)
{
    const cip_source from = { .dtype = to->form.dtype, .nelem = nelem, .mem = bytes };
    cip_engine e = { .env = &f->env, .store = &fake_store, .state = to, .tuning = &f->tuning };
    FAKE_MUST(cip_engine_put(&e, 0, &to->form, &from, err));
}

static inline void world_begin(world *w, const char *path, const model *m)
{
    w->a = add_array(&w->f, path, &w->stored, m->ndim, m->shape);
    const cip_bytes key = { (const uint8_t *)path, strlen(path) };
    FAKE_MUST(cip_strmap_put(&w->file.by_path, key, w->f.layout->narray - 1, NULL, err));
    memset(&w->e, 0, sizeof w->e);
    w->e.file = &w->file;
    w->e.owner = getpid();
    w->e.big = -1; /* elements come in this machine's order */
    w->e.arena.mem = &w->file.env.mem;
    w->e.undo = (cip_undo){ .mem = &w->file.env.mem, .call = 1 };
    w->e.ops = &fake_store;
    w->e.state = &w->stored;
    FAKE_MUST(cip_temporary_new(&w->file.env, NULL, &w->e.temporary, err));
}

static inline void world_end(world *w)
{
    cip_edit_marks_end(&w->e);
    cip_edit_chunks_end(&w->e, NULL);
    cip_io_close(w->e.temporary);
    cip_arena_clear(&w->e.arena);
}

static inline void world_open(world *w)
{
    memset(&w->file, 0, sizeof w->file);
    FAKE_MUST(cip_env_init(&w->file.env, NULL, NULL, w->f.env.pool, err));
    w->file.layout = w->f.layout;
    w->file.format = &fake_format;
    w->file.by_path.mem = &w->file.env.mem;
}

static inline void world_close(world *w)
{
    cip_strmap_clear(&w->file.by_path);
    cip_env_clear(&w->file.env);
    fake_close(&w->f);
}

static inline void pick_array(model *m)
{
    fake *f = &m->one.f;
    static const cip_kind kinds[] = { CIP_U8, CIP_I16, CIP_U32, CIP_I64, CIP_F32, CIP_F64 };
    const cip_kind kind = kinds[fake_pick(f, 0, 5)];
    m->type = cip_dtype_fixed(kind, fake_chance(f, 2));
    m->native = cip_dtype_of(kind);
    m->ndim = (int32_t)fake_pick(f, 0, MAX_AXES);
    for (int32_t k = 0; k < m->ndim; k++)
        m->shape[k] = (int64_t)fake_pick(f, fake_chance(f, 30) ? 0 : 1, m->ndim < 3 ? 20 : 7);
    do
        fake_pick_form(f, m->type, m->ndim, m->shape, &m->one.stored);
    while (m->one.stored.grid == NULL && m->one.stored.form.chunk_nbytes == 0);
    m->takes = fake_chance(f, 2);
    cip_array_form *form = &m->one.stored.form;
    for (size_t k = 0; k < form->nstep && m->takes; k++)
        form->step[k].level = 0;
    form->caps |= m->takes ? CIP_FORM_TAKES : 0;
    fake_same_form(&m->many.f, &m->one.stored, &m->many.stored);
}

/* --- what comes of it ------------------------------------------------------------------------- */

static inline void compare(model *m, world *w, cip_space *s)
{
    const size_t n = (size_t)(product(m->ndim, m->shape) * m->type->itemsize);
    uint8_t *got = fake_keep(&w->f, n + 1);
    assert_int_equal(s->len, n);
    FAKE_MUST(cip_space_read_at(&w->f.how, s, 0, got, n, err));
    assert_memory_equal(got, m->bytes, n);
}

static inline void compare_stored(const fake_stored *a, const fake_stored *b)
{
    assert_int_equal(a->nstored, b->nstored);
    for (size_t i = 0; i < a->nstored; i++) {
        const cip_chunk *x = &a->chunk[i], *y = &b->chunk[i];
        assert_int_equal(x->state, y->state);
        assert_int_equal(x->raw_len, y->raw_len);
        assert_ptr_equal(x->codec, y->codec);
        assert_int_equal(x->at.len, y->at.len);
        if (x->state != CIP_CHUNK_DATA)
            continue;
        uint8_t *bytes = fake_keep(a->f, 2 * (size_t)x->at.len), *more = bytes + x->at.len;
        FAKE_MUST(cip_io_read(x->at.in->io, x->at.off, bytes, (size_t)x->at.len, err));
        FAKE_MUST(cip_io_read(y->at.in->io, y->at.off, more, (size_t)y->at.len, err));
        assert_memory_equal(bytes, more, (size_t)x->at.len);
    }
}

/* --- in members ------------------------------------------------------------------------------- */

static inline int count_name(void *user, const char *name, bool is_folder)
{
    (void)name;
    *(size_t *)user += !is_folder;
    return 0;
}

/* What the store has is the model, and nothing else lies there. */
static inline void compare_members(model *m, int kind, const fake_members *like)
{
    fake_members next = *like;
    fake_stored s = m->one.stored;
    size_t n = 0, outside = 0;
    cip_io *set;
    s.chunk = fake_keep(&m->one.f, (size_t)(s.nbytes + 2) * sizeof *s.chunk);
    FAKE_MUST(three_stores_io(&m->stores, kind, &m->one.f.env, &set, err));
    fake_members_open(&m->one.f, set, &next, &s);
    compare(m, &m->one, fake_stored_space(&s));
    FAKE_MUST(cip_io_list(set, next.name, 0, count_name, &n, err));
    FAKE_MUST(cip_io_list(set, "", 0, count_name, &outside, err));
    assert_int_equal(n, fake_members_count(&next));
    assert_int_equal(outside, 0);
    fake_members_close(&next);
    cip_io_close(set);
}

/* Members that changed so, in all. */
static size_t members_changed[CIP_MEMBER_FOLDER_GONE + 1];

/* To each store; the one that pieces of the revision lie in comes last, as it changes. */
static inline void commit_members(model *m, cip_revision *r)
{
    for (int k = 1; k <= NSTORES; k++)
        FAKE_MUST(three_stores_commit(&m->stores, (m->from + k) % NSTORES, &m->one.f.env, r, err));
    cip_revision_clear(r);
    cip_io_close(m->in.set);
    fake_members_close(&m->in);
}

/* What the array has become goes there, and the next update begins with what is read there. */
static inline void put_in_members(model *m)
{
    fake *f = &m->one.f;
    cip_revision r = { .patch = { .arena = { .mem = &f->env.mem } } };
    fake_members next = { .together = m->in.together };
    const bool moves = m->in.name[0] == '\0' || fake_chance(f, 3);
    next.name[0] = moves ? (m->in.name[0] == 'a' ? 'b' : 'a') : m->in.name[0];
    if (fake_chance(f, 5))
        next.together = !next.together;
    next.together = next.together || m->one.stored.nstored > MEMBERS_MOST;
    fake_members_revise(&r, &m->in, &next, &m->one.stored);
    for (size_t i = 0; i < r.nmember; i++)
        members_changed[r.member[i].change]++;
    commit_members(m, &r);
    for (int kind = 0; kind < NSTORES; kind++)
        compare_members(m, kind, &next);
    m->in = next;
    m->from = (int)fake_pick(f, 0, NSTORES - 1);
    FAKE_MUST(three_stores_io(&m->stores, m->from, &f->env, &m->in.set, err));
    fake_members_open(f, m->in.set, &m->in, &m->one.stored);
}

static inline void remove_members(model *m)
{
    cip_revision r = { .patch = { .arena = { .mem = &m->one.f.env.mem } } };
    fake_members_remove(&r, &m->in);
    commit_members(m, &r);
    for (int kind = IN_MEMORY; kind < NSTORES; kind++) {
        size_t n = 0;
        cip_io *set;
        FAKE_MUST(three_stores_io(&m->stores, kind, &m->one.f.env, &set, err));
        FAKE_MUST(cip_io_list(set, "", 0, count_name, &n, err));
        assert_int_equal(n, 0);
        cip_io_close(set);
    }
    three_stores_close(&m->stores);
}

static inline void model_open(model *m, uint64_t seed, cip_pool *pool)
{
    fake_open(&m->one.f, seed, NULL, NULL);
    fake_open(&m->many.f, seed + 1, pool, NULL);
    fake_open(&m->other, seed + 2, NULL, NULL);
    fake_tiny_tuning(&m->one.f);
    if (fake_chance(&m->one.f, 2))
        fake_tiny_tuning(&m->many.f);
    world_open(&m->one);
    world_open(&m->many);
    pick_array(m);
    const uint64_t n = product(m->ndim, m->shape);
    m->bytes = pick_elements(m, n);
    store_all(&m->one.f, &m->one.stored, n, m->bytes);
    store_all(&m->many.f, &m->many.stored, n, m->bytes);
    m->has_members = fake_chance(&m->one.f, 2);
    if (!m->has_members)
        return;
    three_stores_open(&m->stores, &dir);
    put_in_members(m);
}

static inline void model_close(model *m)
{
    if (m->has_members)
        remove_members(m);
    fake_close(&m->other);
    world_close(&m->many);
    world_close(&m->one);
}

#endif
