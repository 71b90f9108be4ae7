/* SPDX-License-Identifier: BSD-3-Clause
 * Runs the sink of ASDF as core does, into memory, with files beside; for the tests of writing.
 * Included after cmocka.h. */
#ifndef CIP_TESTS_ASDF_WRITE_TESTING_H
#define CIP_TESTS_ASDF_WRITE_TESTING_H

#include "format/asdf/asdf_store.h"
#include "support/format/asdf/asdf_testing.h"
#include "io/temporary.h"

enum { MADE_MEMBERS = 4, MADE_ARRAYS = 8 };

typedef struct made {
    cip_env env;
    cip_io *io[1 + MADE_MEMBERS];
    cip_out out[1 + MADE_MEMBERS];
    char name[MADE_MEMBERS][64];
    size_t nmember;
    cip_err err;
    size_t nlost, nimpossible, nagain;
    char lost[2048];
    cip_array_form form[MADE_ARRAYS];
    bool whole_again; /* data may be given once more */
    uint8_t *bytes;   /* of the file, after made_bytes */
} made;

static inline cip_status made_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    made *m = (made *)user;
    size_t i = 1 + m->nmember;
    if (m->nmember == MADE_MEMBERS)
        return cip_fail(err, CIP_ERR_LIMIT, 0, "too many members");
    CIP_TRY(cip_temporary_new(&m->env, NULL, &m->io[i], err));
    m->out[i] = cip_temporary_out(m->io[i]);
    snprintf(m->name[m->nmember++], sizeof m->name[0], "%s", name);
    *out = &m->out[i];
    return CIP_OK;
}

static inline void made_start(made *m, const cip_allocator *from)
{
    memset(m, 0, sizeof *m);
    m->err = (cip_err)CIP_ERR_INIT;
    assert_int_equal(cip_env_init(&m->env, NULL, from, NULL, NULL), CIP_OK);
}

static inline cip_status made_open(made *m)
{
    CIP_TRY(cip_temporary_new(&m->env, NULL, &m->io[0], &m->err));
    m->out[0] = cip_temporary_out(m->io[0]);
    m->out[0].name = "m x.asdf";
    m->out[0].member = made_member;
    m->out[0].member_user = m;
    return CIP_OK;
}

static inline void made_end(made *m)
{
    free(m->bytes);
    for (size_t i = 0; i <= MADE_MEMBERS; i++)
        cip_io_close(m->io[i]);
    cip_env_clear(&m->env);
    assert_int_equal(m->env.mem.used, 0);
}

static inline int made_on_loss(void *user, const cip_finding *f)
{
    made *m = (made *)user;
    size_t at = strlen(m->lost);
    m->nlost += f->severity == CIP_WARN;
    m->nimpossible += f->severity == CIP_BAD;
    snprintf(m->lost + at, sizeof m->lost - at, "%s\n", f->text);
    return 0;
}

static inline cip_status made_check(made *m, const cip_spec *spec)
{
    cip_report loss;
    cip_spec with_env = *spec;
    with_env.env = &m->env;
    cip_report_init(&loss, &m->env.mem, false, made_on_loss, m);
    cip_status st = cip_asdf_store.check(&with_env, &loss, &m->err);
    cip_report_clear(&loss);
    return st;
}

static inline cip_status made_begin(made *m, cip_arena *a, const cip_spec *spec, void **w)
{
    const cip_store_begin b = {
        .env = &m->env, .arena = a, .spec = spec, .out = &m->out[0], .form = m->form
    };
    return cip_asdf_store.begin(&b, w, &m->err);
}

/* A chunk as it is. */
static inline cip_status made_store(void *w, size_t array, uint64_t i, const uint8_t *p, size_t n,
                                    cip_err *err)
{
    const cip_chunk_in in = { .bytes = { p, n }, .run = 1, .raw_len = n };
    return cip_asdf_store.store(w, array, i, 1, &in, err);
}

/* An array's data: cast, in pieces of 3 elements. */
static inline cip_status made_feed(made *m, void *w, size_t i, const cip_spec_array *s,
                                   const void *data)
{
    cip_cast cast;
    cip_cast_stats stats = { 0, 0 };
    const cip_dtype *to = m->form[i].dtype;
    uint64_t n, left;
    uint8_t piece[3 * 64];
    const uint8_t *from = (const uint8_t *)data;
    if (s->is_view || data == NULL)
        return CIP_OK;
    CIP_TRY(cip_cast_make(s->dtype, to, CIP_OVERFLOW_ERROR, &cast, &m->err));
    assert_true(to->itemsize <= 64);
    cip_shape_nelem(s->ndim, s->shape, &n);
    for (uint64_t k = 0; k < n; k += left) {
        left = n - k < 3 ? n - k : 3;
        cip_cast_run(&cast, (size_t)left, from + k * s->dtype->itemsize,
                     (int64_t)s->dtype->itemsize, piece, (int64_t)to->itemsize, k, &stats);
        size_t nbytes = (size_t)(left * to->itemsize);
        CIP_TRY(made_store(w, i, k / 3, piece, nbytes, &m->err));
    }
    return CIP_OK;
}

static inline cip_status made_array(made *m, void *w, size_t i, const cip_spec_array *s,
                                    const void *data)
{
    bool again = false;
    CIP_TRY(made_feed(m, w, i, s, data));
    CIP_TRY(cip_asdf_store.end(w, i, m->whole_again ? &again : NULL, &m->err));
    if (!again)
        return CIP_OK;
    m->nagain++;
    CIP_TRY(made_feed(m, w, i, s, data));
    return cip_asdf_store.end(w, i, NULL, &m->err);
}

static inline cip_status made_arrays(made *m, void *w, const cip_spec *spec,
                                     const cip_spec_array *array, size_t n, const void *const *data)
{
    for (size_t i = 0; i < n; i++) {
        if (spec->late)
            CIP_TRY(cip_asdf_store.add(w, &array[i], &m->form[i], &m->err));
        CIP_TRY(made_array(m, w, i, &array[i], data[i]));
    }
    return spec->late ? cip_asdf_store.tree(w, spec->tree, &m->err) : CIP_OK;
}

/* Writes the arrays of the spec; with spec.late they are added one by one and the tree comes last.
 */
static inline cip_status made_write(made *m, const cip_spec *spec, const void *const *data)
{
    void *w = NULL;
    cip_arena a = { .mem = &m->env.mem };
    cip_revision r = { .patch = { .arena = { .mem = &m->env.mem } } };
    cip_spec s = *spec;
    cip_status st = made_open(m);
    if (s.late)
        s.narray = 0;
    if (st == CIP_OK)
        st = made_begin(m, &a, &s, &w);
    if (st == CIP_OK) {
        st = made_arrays(m, w, spec, spec->array, spec->narray, data);
        if (st == CIP_OK)
            st = cip_asdf_store.finish(w, &r, &m->err);
        cip_asdf_store.clear(w);
    }
    cip_revision_clear(&r);
    cip_arena_clear(&a);
    return st;
}

/* What was written, with a NUL behind it. */
static inline const char *made_bytes(made *m, size_t file, size_t *n)
{
    free(m->bytes);
    *n = (size_t)m->io[file]->size;
    m->bytes = (uint8_t *)malloc(*n + 1);
    assert_int_equal(cip_io_read(m->io[file], 0, m->bytes, *n, NULL), CIP_OK);
    m->bytes[*n] = 0;
    return (const char *)m->bytes;
}

/* Opens what was written. */
static inline void made_reopen(made *m, one_file *f)
{
    size_t n;
    made_bytes(m, 0, &n);
    if (one_open(f, &cip_format_asdf, m->bytes, n, 0, NULL) != CIP_OK)
        fail_msg("%s", f->err.text);
}

#endif
