/* SPDX-License-Identifier: BSD-3-Clause
 * Random updates of one Blosc2 frame in a file, in memory and in a store of the caller's: all have
 * what a plain array has that is changed in the same way. Where nobody reads the file meanwhile it
 * does not grow for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cippus/cippus.h"
#include "support/effort.h"
#include "support/temp_folder.h"
#include "support/test_store.h"

enum { MOST = 3000, STEPS = 40, PATH = 0, MEMORY, METHODS, STORES };

#define OK(x)                                                                                      \
    do {                                                                                           \
        cip_err ok_err = CIP_ERR_INIT, *err = &ok_err;                                             \
        if ((x) != CIP_OK || ok_err.code != CIP_OK)                                                \
            fail_msg("%s: %s: %s", #x, ok_err.part, ok_err.text);                                  \
    } while (0)

static const cip_io_methods reads = TEST_STORE_READS;
static const cip_io_write_methods writes = TEST_STORE_WRITES;

typedef struct places {
    scratch dir;
    const char *path;
    cip_memory *memory;
    test_store store;
    test_file *file;
} places;

typedef struct model {
    int32_t v[2 * MOST];
    int64_t n;
    uint64_t seed;
} model;

static uint64_t next(model *m, uint64_t below)
{
    m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (m->seed >> 33) % below;
}

static void places_open(places *p, const model *m)
{
    const int64_t shape[] = { m->n };
    const char *const options[] = { "chunks=100", "blocks=50", NULL };
    const cip_change_options o = { .size = sizeof o,
                                   .codec = "blosclz",
                                   .threads = 1,
                                   .accept_loss = true,
                                   .format_options = options };
    cip_change *w;
    size_t n;
    memset(p, 0, sizeof *p);
    assert_true(scratch_open(&p->dir));
    OK(cip_create_memory("blosc2", &o, &p->memory, &w, err));
    OK(cip_change_put(w, "data", cip_dtype_of(CIP_I32), 1, shape, m->v, NULL, err));
    OK(cip_change_commit(&w, err));
    const char *bytes = cip_memory_bytes(p->memory, &n);
    p->path = scratch_write(&p->dir, "x.b2nd", bytes, n);
    p->file = test_store_put(&p->store, "x.b2nd", bytes, n);
}

static void places_close(places *p)
{
    cip_memory_free(p->memory);
    test_store_clear(&p->store);
    scratch_close(&p->dir);
}

static cip_status edit(places *p, int kind, cip_change **e, cip_err *err)
{
    const cip_change_options o = { .size = sizeof o, .level = CIP_LEVEL_PROCESS };
    return kind == PATH     ? cip_change_open(p->path, &o, e, err)
           : kind == MEMORY ? cip_change_open_memory(p->memory, &o, e, err)
                            : cip_change_open_io(&reads, &writes, p->file, &o, e, err);
}

static uint64_t assert_holds(places *p, int kind, const model *m)
{
    int32_t *back = malloc(sizeof m->v);
    cip_file *f;
    OK(kind == PATH     ? cip_open(p->path, NULL, &f, err)
       : kind == MEMORY ? cip_memory_open(p->memory, NULL, &f, err)
                        : cip_open_io(&reads, p->file, NULL, &f, err));
    const cip_array *a = cip_file_array(f, 0);
    assert_int_equal(cip_array_shape(a)[0], m->n);
    const size_t nbytes = (size_t)m->n * sizeof *m->v;
    if (nbytes != 0)
        OK(cip_read(a, NULL, cip_dtype_as_stored(), back, nbytes, err));
    assert_memory_equal(back, m->v, nbytes);
    OK(cip_verify_file(f, NULL, err));
    const uint64_t size = cip_file_nbytes(f);
    cip_file_close(f);
    free(back);
    return size;
}

/* A change, of the model too. */
typedef struct change {
    int kind;
    int64_t at, n;
    int32_t v[MOST];
} change;

static void choose(model *m, change *c)
{
    c->kind = (int)next(m, 5);
    c->at = (int64_t)next(m, (uint64_t)m->n + 1);
    c->n = 1 + (int64_t)next(m, 300);
    const bool zeros = next(m, 4) == 0;
    for (int64_t i = 0; i < c->n; i++)
        c->v[i] = zeros ? 0 : (int32_t)next(m, 5000);
    if (c->kind <= 1 && c->n > m->n - c->at) /* elements, rows that go */
        c->n = m->n - c->at;
    if (c->kind == 2) /* rows that come at the end */
        c->at = m->n;
    if (c->kind >= 2 && m->n + c->n > MOST)
        c->kind = 4;
    if (c->kind == 4) /* another length */
        c->n = (int64_t)next(m, MOST);
}

static void apply(model *m, const change *c)
{
    int32_t *at = m->v + c->at;
    const size_t n = (size_t)c->n * sizeof *at, behind = (size_t)(m->n - c->at) * sizeof *at;
    if (c->kind == 0)
        memcpy(at, c->v, n);
    if (c->kind == 1)
        memmove(at, at + c->n, behind - n);
    if (c->kind == 2 || c->kind == 3) {
        memmove(at + c->n, at, behind);
        memcpy(at, c->v, n);
    }
    if (c->kind == 4 && c->n > m->n)
        memset(m->v + m->n, 0, (size_t)(c->n - m->n) * sizeof *at);
    m->n = c->kind == 4 ? c->n : c->kind == 1 ? m->n - c->n : c->kind == 0 ? m->n : m->n + c->n;
}

static cip_status make(cip_change *e, const change *c, cip_err *err)
{
    char slice[64];
    const size_t n = (size_t)c->n * sizeof *c->v;
    snprintf(slice, sizeof slice, "[%lld:%lld]", (long long)c->at, (long long)(c->at + c->n));
    return c->kind == 0   ? cip_change_write(e, NULL, slice, cip_dtype_as_stored(), c->v, n, err)
           : c->kind == 1 ? cip_change_delete(e, NULL, 0, c->at, c->n, err)
           : c->kind == 2 ? cip_change_append(e, NULL, cip_dtype_as_stored(), c->v, n, err)
           : c->kind == 3
               ? cip_change_insert(e, NULL, 0, c->at, cip_dtype_as_stored(), c->v, n, err)
               : cip_change_resize(e, NULL, 1, &c->n, err);
}

static void run(uint64_t seed)
{
    static model m;
    static change c;
    places p;
    uint64_t size[STORES];
    m = (model){ .n = 700, .seed = seed };
    for (int64_t i = 0; i < m.n; i++)
        m.v[i] = (int32_t)(i * i % 997);
    places_open(&p, &m);
    for (int i = 0; i < STEPS; i++) {
        choose(&m, &c);
        if (c.n == 0 && c.kind < 4)
            continue;
        apply(&m, &c);
        for (int kind = 0; kind < STORES; kind++) {
            cip_change *e;
            OK(edit(&p, kind, &e, err));
            OK(make(e, &c, err));
            OK(cip_change_commit(&e, err));
            size[kind] = assert_holds(&p, kind, &m);
        }
        assert_int_equal(size[PATH], size[MEMORY]);
        assert_true(size[PATH] <= 5 * MOST * sizeof *m.v);
    }
    places_close(&p);
}

static void arrays_have_what_the_model_has(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < (test_full() ? 200 : 12); i++)
        run(test_seed() * 1000 + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_have_what_the_model_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
