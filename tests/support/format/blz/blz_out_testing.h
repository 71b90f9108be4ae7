/* SPDX-License-Identifier: BSD-3-Clause
 * New folders by the store alone, for tests: in a scratch folder, or counted and thrown away.
 * Included after cmocka.h. */
#ifndef CIP_TESTS_BLZ_OUT_TESTING_H
#define CIP_TESTS_BLZ_OUT_TESTING_H

#include "support/format/blz/blz_testing.h"
#include "space/make/splitter.h"

enum { BLZ_OUT_FILES = 200 };

/* A file of the new folder. */
typedef struct blz_out_file {
    cip_out out;
    FILE *f;
} blz_out_file;

typedef struct blz_out {
    blz_folder *folder;
    cip_out out;
    blz_out_file file[BLZ_OUT_FILES];
    size_t n;
    blz_findings lost;
} blz_out;

static inline cip_status blz_out_write(void *user, const void *p, size_t n, cip_err *err)
{
    (void)err;
    assert_int_equal(fwrite(p, 1, n, ((blz_out_file *)user)->f), n);
    return CIP_OK;
}

static inline cip_status blz_out_rewrite(void *user, uint64_t off, const void *p, size_t n,
                                         cip_err *err)
{
    const blz_out_file *b = user;
    (void)err;
    assert_int_equal(fseek(b->f, (long)off, SEEK_SET), 0);
    assert_int_equal(fwrite(p, 1, n, b->f), n);
    return fseek(b->f, 0, SEEK_END) == 0 ? CIP_OK : CIP_ERR_IO;
}

static inline cip_status blz_out_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    blz_out *o = user;
    blz_out_file *b = &o->file[o->n++];
    char path[1200];
    assert_true(o->n <= BLZ_OUT_FILES);
    snprintf(path, sizeof path, "%s", scratch_path(&o->folder->dir, name));
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    b->f = fopen(path, "wbx");
    assert_non_null(b->f);
    b->out = (cip_out){ .write = blz_out_write, .user = b, .rewrite = blz_out_rewrite };
    *out = &b->out;
    (void)err;
    return CIP_OK;
}

/* Where the finished chunks of an array go. */
typedef struct blz_out_sink {
    void *w;
    size_t array;
} blz_out_sink;

static inline cip_status blz_out_store(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk,
                                       cip_err *err)
{
    const blz_out_sink *s = user;
    return cip_blz_store.store(s->w, s->array, i, n, chunk, err);
}

static inline cip_status blz_out_column(void *user, size_t array, uint64_t i, size_t n,
                                        const cip_chunk_in *chunk, cip_err *err)
{
    return cip_blz_store.store(((const blz_out_sink *)user)->w, array, i, n, chunk, err);
}

static inline cip_status blz_out_split(cip_env *env, void *w, uint64_t n,
                                       const cip_array_form *form, const void *data, cip_err *err)
{
    cip_splitter *s;
    blz_out_sink sink = { w, 0 };
    const cip_splitter_to to = { blz_out_column, &sink, NULL };
    CIP_TRY(cip_splitter_new(env, form, n, &to, &s, err));
    cip_status st =
        cip_splitter_write(s, (cip_bytes){ data, (size_t)(n * form->dtype->itemsize) }, err);
    if (st == CIP_OK)
        st = cip_splitter_finish(s, err);
    cip_splitter_free(s);
    return st;
}

static inline cip_status blz_out_put(cip_env *env, void *w, size_t array, const cip_spec_array *a,
                                     const cip_array_form *form, const void *data, cip_err *err)
{
    cip_chunker *c;
    blz_out_sink sink = { w, array };
    const cip_chunker_to to = { blz_out_store, &sink, NULL };
    uint64_t n;
    assert_true(cip_shape_nelem(a->ndim, a->shape, &n));
    if (form->ncolumn != 0)
        return blz_out_split(env, w, n, form, data, err);
    CIP_TRY(cip_chunker_new(env, form, n, &to, &c, err));
    cip_status st =
        cip_chunker_write(c, (cip_bytes){ data, (size_t)(n * form->dtype->itemsize) }, err);
    if (st == CIP_OK)
        st = cip_chunker_finish(c, err);
    cip_chunker_free(c);
    return st;
}

static inline cip_status blz_out_run(blz_out *o, cip_arena *a, const cip_spec *spec,
                                     const void *const *data, cip_revision *r)
{
    cip_env *env = &o->folder->env;
    cip_err *err = &o->folder->err;
    cip_report loss;
    cip_array_form form[8] = { { .dtype = NULL } };
    const cip_store_begin b = {
        .env = env, .arena = a, .spec = spec, .out = &o->out, .form = form
    };
    void *w = NULL;
    cip_report_init(&loss, &env->mem, false, blz_note, &o->lost);
    cip_status st = cip_blz_store.check(spec, &loss, err);
    cip_report_clear(&loss);
    if (st == CIP_OK)
        st = cip_blz_store.begin(&b, &w, err);
    for (size_t i = 0; i < spec->narray && st == CIP_OK; i++)
        st = blz_out_put(env, w, i, &spec->array[i], &form[i], data[i], err);
    if (st == CIP_OK)
        st = cip_blz_store.finish(w, r, err);
    if (w != NULL && cip_blz_store.clear != NULL)
        cip_blz_store.clear(w);
    return st;
}

/* The same with an allocator (NULL: the usual one). */
static inline cip_status blz_out_from(blz_out *o, blz_folder *folder, const cip_spec *spec,
                                      const void *const *data, const cip_allocator *from)
{
    cip_spec with = *spec;
    memset(o, 0, sizeof *o);
    blz_start(folder);
    folder->err = (cip_err)CIP_ERR_INIT;
    if (cip_env_init(&folder->env, NULL, from, NULL, NULL) != CIP_OK)
        return CIP_ERR_NOMEM;
    cip_arena a = { .mem = &folder->env.mem };
    cip_revision r = { .patch = { .arena = { .mem = &folder->env.mem } } };
    o->folder = folder;
    o->out = (cip_out){ .write = blz_out_write, .member = blz_out_member, .member_user = o };
    with.env = &folder->env;
    cip_status st = blz_out_run(o, &a, &with, data, &r);
    for (size_t i = 0; i < o->n; i++)
        assert_int_equal(fclose(o->file[i].f), 0);
    cip_revision_clear(&r);
    cip_arena_clear(&a);
    assert_int_equal(folder->env.mem.used, 0);
    cip_env_clear(&folder->env);
    return st;
}

/* Writes the arrays, whose elements lie at data[i] as they are stored, into the new folder of
 * `folder`, which blz_open opens then. */
static inline cip_status blz_out_folder(blz_out *o, blz_folder *folder, const cip_spec *spec,
                                        const void *const *data)
{
    return blz_out_from(o, folder, spec, data, NULL);
}

/* The text of a file of the folder, which ends with a newline. */
static inline void blz_has_text(blz_folder *f, const char *name, const char *text)
{
    char got[2000];
    FILE *file = fopen(scratch_path(&f->dir, name), "rb");
    assert_non_null(file);
    got[fread(got, 1, sizeof got - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(got, text);
}

#endif
