/* SPDX-License-Identifier: BSD-3-Clause
 * New stores by the store alone: what is written into which member, what is taken as it is stored,
 * and memory that runs out. That others read them is shown in tests/compat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "space/make/chunk_move.h"
#include "space/make/chunker.h"
#include "support/fail_alloc.h"
#include "support/format/zarr/zarr_testing.h"
#include "format/zarr/zarr_write.h"

/* The members of a new store, in a scratch folder. */
typedef struct made {
    zarr_folder *f;
    cip_out out;
    struct {
        cip_out out;
        FILE *file;
    } member[64];
    size_t n;
} made;

static cip_status write_member(void *user, const void *p, size_t n, cip_err *err)
{
    (void)err;
    assert_int_equal(fwrite(p, 1, n, user), n);
    return CIP_OK;
}

static cip_status new_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    made *m = user;
    (void)err;
    assert_true(m->n < 64);
    zarr_bytes(m->f, name, "", 0);
    m->member[m->n].file = fopen(scratch_path(&m->f->dir, name), "wb");
    assert_non_null(m->member[m->n].file);
    m->member[m->n].out = (cip_out){ .write = write_member, .user = m->member[m->n].file };
    *out = &m->member[m->n++].out;
    return CIP_OK;
}

typedef struct sink {
    void *w;
    size_t array;
} sink;

static cip_status store_chunks(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk,
                               cip_err *err)
{
    const sink *s = user;
    return cip_zarr_store.store(s->w, s->array, i, n, chunk, err);
}

static cip_status put_elems(cip_env *env, const sink *s, const cip_array_form *form, cip_bytes data,
                            cip_err *err)
{
    const cip_chunker_to to = { store_chunks, (void *)(uintptr_t)s, NULL };
    cip_chunker *c;
    CIP_TRY(cip_chunker_new(env, form, data.len / form->dtype->itemsize, &to, &c, err));
    cip_status st = cip_chunker_write(c, data, err);
    if (st == CIP_OK)
        st = cip_chunker_finish(c, err);
    cip_chunker_free(c);
    return st;
}

/* Arrays of `data`, or (NULL) of their sources' chunks, as they are stored. */
static cip_status write_store(made *m, cip_env *env, const cip_spec *spec, cip_bytes data)
{
    cip_err err = CIP_ERR_INIT;
    cip_arena arena = { .mem = &env->mem };
    cip_revision r = { .patch = { .arena = { .mem = &env->mem } } };
    cip_array_form form[2] = { { .dtype = NULL } };
    cip_report loss;
    void *w = NULL;
    m->out = (cip_out){ .member = new_member, .member_user = m };
    m->n = 0;
    const cip_store_begin b = {
        .env = env, .arena = &arena, .spec = spec, .out = &m->out, .form = form
    };
    cip_report_init(&loss, &env->mem, false, NULL, NULL);
    cip_status st = cip_zarr_store.check(spec, &loss, &err);
    cip_report_clear(&loss);
    if (st == CIP_OK)
        st = cip_zarr_store.begin(&b, &w, &err);
    for (size_t i = 0; st == CIP_OK && i < spec->narray; i++) {
        sink s = { w, i };
        bool moved = false;
        if (data.ptr == NULL) {
            const cip_array *a = spec->array[i].source;
            const cip_chunk_mover move = { .env = env,
                                           .how = { a->layout, NULL },
                                           .array = a,
                                           .form = &form[i],
                                           .store = store_chunks,
                                           .user = &s };
            assert_true((form[i].caps & CIP_FORM_TAKES) != 0);
            st = cip_chunk_move(&move, &moved, &err);
            assert_true(st != CIP_OK || moved);
        } else {
            st = put_elems(env, &s, &form[i], data, &err);
        }
    }
    if (st == CIP_OK)
        st = cip_zarr_store.finish(w, &r, &err);
    if (w != NULL)
        cip_zarr_store.clear(w);
    for (size_t i = 0; i < m->n; i++)
        assert_int_equal(fclose(m->member[i].file), 0);
    cip_revision_clear(&r);
    cip_arena_clear(&arena);
    if (st != CIP_OK && st != CIP_ERR_NOMEM)
        fail_msg("%s: %s", err.part, err.text);
    return st;
}

static const int64_t shape[] = { 20, 8 };

static cip_spec_array array_of(const char *path)
{
    return (cip_spec_array){ .path = path,
                             .dtype = cip_dtype_fixed(CIP_I32, false),
                             .ndim = 2,
                             .shape = shape,
                             .of = -1,
                             .mask = -1 };
}

static void fill(uint8_t *data)
{
    for (uint32_t i = 0; i < 160; i++)
        cip_store_u32(data + 4 * i, i / 8, false);
}

static void memory_that_runs_out_is_reported(void **state)
{
    (void)state;
    static const char *const option[][CIP_ZARR_OPTION_CONSOLIDATED + 1] = {
        { "5,4" }, { "5,8", "10,8" }, { "5,4" }, { "20,8" }
    };
    static const char *const codec[] = { "zstd", "gzip", "lz4", "none" };
    static const char *const kind[] = { NULL, NULL, "zarr2", "zarr2" };
    uint8_t data[640];
    fill(data);
    for (size_t k = 0; k < 4; k++) {
        const cip_spec_array arrays[] = { array_of("g/a"), array_of("b") };
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = 0 };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            zarr_folder f;
            made m = { .f = &f };
            cip_env env;
            zarr_start(&f);
            assert_int_equal(cip_env_init(&env, NULL, &from, NULL, NULL), CIP_OK);
            const cip_spec spec = { .env = &env,
                                    .array = arrays,
                                    .narray = 2,
                                    .big = -1,
                                    .codec = codec[k],
                                    .kind = kind[k],
                                    .option = option[k] };
            alloc.fail_at = alloc.requests + n;
            const cip_status st = write_store(&m, &env, &spec, (cip_bytes){ data, sizeof data });
            assert_int_equal(env.mem.used, 0);
            cip_env_clear(&env);
            assert_int_equal(alloc.held, 0);
            scratch_close(&f.dir);
            if (alloc.requests < alloc.fail_at) {
                assert_int_equal(st, CIP_OK);
                break;
            }
            assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        }
    }
}

static bool same_member(zarr_folder *a, zarr_folder *b, const char *name)
{
    uint8_t one[2000], other[2000];
    FILE *f = fopen(scratch_path(&a->dir, name), "rb");
    const size_t n = f != NULL ? fread(one, 1, sizeof one, f) : 0;
    if (f != NULL)
        fclose(f);
    f = fopen(scratch_path(&b->dir, name), "rb");
    const size_t m = f != NULL ? fread(other, 1, sizeof other, f) : 0;
    if (f != NULL)
        fclose(f);
    return n != 0 && n == m && memcmp(one, other, n) == 0;
}

/* The last byte of a chunk is wrong, which shows that nothing is decoded. */
static void a_copy_has_the_chunks_as_they_are_stored(void **state)
{
    (void)state;
    static const char *const option[CIP_ZARR_OPTION_CONSOLIDATED + 1] = { "5,4" };
    static const char *const codec[] = { "zstd", "gzip", "blosc", "zlib" };
    uint8_t data[640];
    fill(data);
    for (size_t k = 0; k < 8; k++) {
        cip_spec_array array = array_of("");
        zarr_folder f, g;
        made m = { .f = &f };
        cip_env env;
        zarr_start(&f);
        zarr_start(&g);
        assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
        cip_spec spec = { .env = &env,
                          .array = &array,
                          .narray = 1,
                          .big = -1,
                          .codec = codec[k % 4],
                          .option = option };
        assert_int_equal(write_store(&m, &env, &spec, (cip_bytes){ data, sizeof data }), CIP_OK);
        FILE *file = fopen(scratch_path(&f.dir, "c/1/1"), "r+b");
        assert_non_null(file);
        fseek(file, -1, SEEK_END);
        fputc(0x55, file);
        fclose(file);
        assert_int_equal(unlink(scratch_path(&f.dir, "c/2/0")), 0); /* it is the fill value */
        assert_int_equal(zarr_open(&f), CIP_OK);
        f.layout->format = "zarr"; /* as who opens it notes */
        array.source = f.layout->array[0];
        spec.codec = NULL;
        spec.option = NULL;
        spec.kind = k >= 4 ? "zarr2" : NULL;
        m.f = &g;
        assert_int_equal(write_store(&m, &env, &spec, (cip_bytes){ NULL, 0 }), CIP_OK);
        if (k < 4) {
            assert_true(same_member(&f, &g, "zarr.json"));
            assert_true(same_member(&f, &g, "c/0/0") && same_member(&f, &g, "c/1/1"));
            assert_false(same_member(&f, &g, "c/2/0"));
            assert_int_not_equal(access(scratch_path(&g.dir, "c/2/0"), F_OK), 0);
        } else {
            assert_int_not_equal(access(scratch_path(&g.dir, "2.0"), F_OK), 0);
            assert_int_equal(access(scratch_path(&g.dir, "3.1"), F_OK), 0);
        }
        zarr_end(&f);
        cip_env_clear(&env);
        scratch_close(&g.dir);
    }
}

/* They would not be read. */
static void files_of_4_gib_are_not_written(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    cip_zarr_writer w = { .out = NULL };
    const cip_segment piece[] = { { .len = UINT32_MAX }, { .len = 1 } };
    assert_int_equal(cip_zarr_put_file(&w, "c/0", piece, 2, &err), CIP_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "expected a file below 4 GiB, found 4294967296 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_4_gib_are_not_written),
        cmocka_unit_test(memory_that_runs_out_is_reported),
        cmocka_unit_test(a_copy_has_the_chunks_as_they_are_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
