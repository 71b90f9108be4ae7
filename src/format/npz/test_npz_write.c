/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "format/npz/npz.h"
#include "support/fail_alloc.h"
#include "support/one_format.h"

#define CORPUS CIP_SOURCE_DIR "/src/format/npz/corpus/fuzz_npz/"

enum { MOST = 8 };

static void open_corpus(one_file *f, const char *name)
{
    char path[1024];
    uint8_t b[4096];
    snprintf(path, sizeof path, CORPUS "%s.npz", name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    size_t n = fread(b, 1, sizeof b, in);
    fclose(in);
    assert_int_equal(one_open(f, &cip_format_npz, b, n, 0, NULL), CIP_OK);
}

/* --- the arrays of a file, written as core does ----------------------------------------------- */

static cip_status rewrite(void *user, uint64_t off, const void *p, size_t n, cip_err *err)
{
    one_output *o = user;
    (void)err;
    memcpy(o->bytes.ptr + off, p, n);
    return CIP_OK;
}

static cip_status put_all(one_output *o, const one_file *f, const cip_store_begin *b, void *w)
{
    for (size_t i = 0; i < b->spec->narray; i++) {
        const cip_array *a = f->layout->array[i];
        const uint64_t n = a->space->len, half = n / 2;
        const uint8_t *raw =
            f->bytes + (size_t)((const cip_npz *)f->layout->own)->at[i].off + a->space->sub.off;
        const cip_chunk_in chunk[] = {
            { .state = CIP_CHUNK_DATA, .bytes = { raw, half }, .run = 1, .raw_len = half },
            { .state = CIP_CHUNK_DATA,
              .bytes = { raw + half, n - half },
              .run = 1,
              .raw_len = n - half },
        };
        if (n != 0)
            CIP_TRY(cip_npz_store.store(w, i, 0, 2, chunk, &o->err));
        CIP_TRY(cip_npz_store.end(w, i, NULL, &o->err));
    }
    return CIP_OK;
}

/* Those of a file that stores them as they are, in C order. */
static cip_status write_again(one_output *o, const one_file *f, const char *codec,
                              const cip_allocator *from)
{
    cip_spec_array a[MOST] = { { .path = NULL } };
    cip_array_form form[MOST] = { { .dtype = NULL } };
    const size_t n = f->layout->narray, fail_after = o->fail_after;
    assert_true(n <= MOST);
    for (size_t i = 0; i < n; i++) {
        const cip_array *in = f->layout->array[i];
        a[i] = (cip_spec_array){
            .path = in->path, .dtype = in->dtype, .ndim = in->view.ndim, .shape = in->view.shape
        };
    }
    *o = (one_output){ .fail_after = fail_after, .err = CIP_ERR_INIT };
    assert_int_equal(cip_env_init(&o->env, NULL, from, NULL, NULL), CIP_OK);
    o->bytes.mem = &o->env.mem;
    const cip_spec spec = {
        .env = &o->env, .narray = n, .array = a, .big = -1, .codec = codec, .level = 0
    };
    cip_out out = { .write = one_out, .rewrite = rewrite, .user = o };
    cip_arena arena = { .mem = &o->env.mem };
    cip_revision r = { .patch = { .arena = { .mem = &o->env.mem } } };
    const cip_store_begin b = {
        .env = &o->env, .arena = &arena, .spec = &spec, .out = &out, .form = form
    };
    cip_report loss;
    void *w = NULL;
    cip_report_init(&loss, &o->env.mem, false, one_on_loss, o);
    cip_status st = cip_npz_store.check(&spec, &loss, &o->err);
    cip_report_clear(&loss);
    if (st == CIP_OK)
        st = cip_npz_store.begin(&b, &w, &o->err);
    if (st == CIP_OK)
        st = put_all(o, f, &b, w);
    if (st == CIP_OK)
        st = cip_npz_store.finish(w, &r, &o->err);
    if (w != NULL)
        cip_npz_store.clear(w);
    cip_revision_clear(&r);
    cip_arena_clear(&arena);
    return st;
}

static const char *const same[] = { "same-two", "same-empty", "same-types", "same-names" };
enum { NSAME = sizeof same / sizeof *same };

static void files_are_byte_for_byte_numpys(void **state)
{
    (void)state;
    for (size_t i = 0; i < NSAME; i++) {
        one_file f;
        one_output o = { 0 };
        open_corpus(&f, same[i]);
        assert_int_equal(write_again(&o, &f, NULL, NULL), CIP_OK);
        assert_int_equal(o.nlost + o.nimpossible, 0);
        assert_int_equal(o.bytes.len, f.io->size);
        assert_memory_equal(o.bytes.ptr, f.bytes, o.bytes.len);
        one_output_clear(&o);
        one_close(&f);
    }
}

static void deflated_files_hold_the_same(void **state)
{
    (void)state;
    static const char *const names[] = { "zlib", "deflate" };
    for (size_t i = 0; i < 2 * NSAME; i++) {
        one_file f, g;
        one_output o = { 0 };
        open_corpus(&f, same[i / 2]);
        assert_int_equal(write_again(&o, &f, names[i % 2], NULL), CIP_OK);
        assert_int_equal(one_open(&g, &cip_format_npz, o.bytes.ptr, o.bytes.len, 0, NULL), CIP_OK);
        assert_int_equal(g.layout->narray, f.layout->narray);
        for (size_t k = 0; k < f.layout->narray; k++) {
            size_t n, m;
            uint8_t *want = one_read(&f, k, &n), *got = one_read(&g, k, &m);
            assert_string_equal(g.layout->array[k]->path, f.layout->array[k]->path);
            assert_string_equal(g.layout->array[k]->storage.codec, "deflate");
            assert_int_equal(m, n);
            assert_memory_equal(got, want, n);
            free(want);
            free(got);
        }
        one_output_clear(&o);
        one_close(&g);
        one_close(&f);
    }
}

static void other_codecs_and_levels_are_refused(void **state)
{
    (void)state;
    one_file f;
    one_output o = { 0 };
    open_corpus(&f, "same-two");
    assert_int_equal(write_again(&o, &f, "lz4", NULL), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(o.err.text, "expected the codec zlib or none for a .npz file"));
    one_output_clear(&o);
    one_close(&f);
}

/* --- names ------------------------------------------------------------------------------------ */

/* What is said of two arrays of these paths. */
static size_t check_paths(const char *a, const char *b, one_output *o)
{
    const int64_t shape[] = { 1 };
    const cip_dtype *u8 = cip_dtype_fixed(CIP_U8, false);
    const cip_spec_array array[] = { { .path = a, .dtype = u8, .ndim = 1, .shape = shape },
                                     { .path = b, .dtype = u8, .ndim = 1, .shape = shape } };
    cip_report loss;
    *o = (one_output){ .err = CIP_ERR_INIT };
    assert_int_equal(cip_env_init(&o->env, NULL, NULL, NULL, NULL), CIP_OK);
    const cip_spec spec = { .env = &o->env, .narray = b != NULL ? 2 : 1, .array = array };
    cip_report_init(&loss, &o->env.mem, false, one_on_loss, o);
    assert_int_equal(cip_npz_store.check(&spec, &loss, NULL), CIP_OK);
    cip_report_clear(&loss);
    cip_env_clear(&o->env);
    return o->nimpossible;
}

static void names_that_no_member_has_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b, *text;
    } row[] = {
        { "x/../y", NULL, "without empty segments, '.' and '..'" },
        { "./y", NULL, "without empty segments" },
        { "x//y", NULL, "without empty segments" },
        { "x\\y", NULL, "without backslashes" },
        { "~1x", NULL, "a relative name" },
        { "x~1y", "x/y", "a name of its own" },
        { "x", "x.npy", "a name that no other array has with '.npy'" },
    };
    one_output o;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(check_paths(row[i].a, row[i].b, &o), 1);
        assert_non_null(strstr(o.lost, row[i].text));
    }
    assert_int_equal(check_paths("", NULL, &o), 0); /* it is called arr_0 */
    assert_int_equal(check_paths("..", "a~0b", &o), 0);
}

/* --- failures --------------------------------------------------------------------------------- */

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    one_file f;
    open_corpus(&f, "same-names");
    for (int i = 0; i < 2; i++)
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = n };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            one_output o = { 0 };
            cip_status st = write_again(&o, &f, i == 0 ? NULL : "zlib", &from);
            assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
            one_output_clear(&o);
            assert_int_equal(alloc.held, 0);
            if (alloc.requests < n) {
                assert_int_equal(st, CIP_OK);
                break;
            }
        }
    one_close(&f);
}

static void a_failing_output_is_reported(void **state)
{
    (void)state;
    one_file f;
    open_corpus(&f, "same-two");
    for (size_t n = 1; n < f.io->size; n++) {
        one_output o = { .fail_after = n };
        assert_int_equal(write_again(&o, &f, NULL, NULL), CIP_ERR_IO);
        one_output_clear(&o);
    }
    one_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_byte_for_byte_numpys),
        cmocka_unit_test(deflated_files_hold_the_same),
        cmocka_unit_test(other_codecs_and_levels_are_refused),
        cmocka_unit_test(names_that_no_member_has_are_refused),
        cmocka_unit_test(failing_allocations_are_reported),
        cmocka_unit_test(a_failing_output_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
