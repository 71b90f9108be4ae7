/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks of a form out of elements: small cases by hand, failures, memory. tests/property has
 * random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "space/make/chunker.h"
#include "space/read/tuning.h"
#include "support/fail_alloc.h"
#include "support/needs.h"

enum { MOST = 64 };

/* What was stored: entries, and their bytes or value as text. */
typedef struct taken {
    size_t n;
    uint64_t i[MOST];
    cip_chunk_in in[MOST];
    char text[MOST][64];
    uint64_t nbytes;
    size_t fail_at; /* the call that fails, counted from 1 */
    size_t calls;
} taken;

static cip_status take(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk, cip_err *err)
{
    taken *t = user;
    if (++t->calls == t->fail_at)
        return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "the disk is full");
    for (size_t k = 0; k < n; k++) {
        if (t->n < MOST) {
            t->i[t->n] = i;
            t->in[t->n] = chunk[k];
            if (chunk[k].bytes.len < sizeof t->text[0] && chunk[k].bytes.len != 0)
                memcpy(t->text[t->n], chunk[k].bytes.ptr, chunk[k].bytes.len);
            if (chunk[k].value != NULL)
                t->text[t->n][0] = (char)*chunk[k].value;
        }
        t->n++;
        i += chunk[k].run;
        t->nbytes += chunk[k].bytes.len;
    }
    return CIP_OK;
}

/* Gives n elements of a byte each in pieces of `step`, promised `nelem`. */
static cip_status run(cip_env *env, const cip_array_form *form, uint64_t nelem, const char *data,
                      size_t n, size_t step, taken *t, cip_err *err)
{
    cip_chunker *c;
    const cip_chunker_to to = { take, t, NULL };
    CIP_TRY(cip_chunker_new(env, form, nelem, &to, &c, err));
    cip_status st = CIP_OK;
    for (size_t at = 0; st == CIP_OK && at < n; at += step) {
        size_t len = n - at < step ? n - at : step;
        st = cip_chunker_write(c, (cip_bytes){ (const uint8_t *)data + at, len }, err);
    }
    if (st == CIP_OK)
        st = cip_chunker_finish(c, err);
    cip_chunker_free(c);
    return st;
}

static cip_env env_of(const cip_limits *limits)
{
    cip_env env;
    assert_int_equal(cip_env_init(&env, limits, NULL, NULL, NULL), CIP_OK);
    return env;
}

static void end_env(cip_env *env)
{
    cip_env_clear(env);
    assert_int_equal(atomic_load(&env->mem.used), 0);
}

static void grids_are_padded_and_cut_in_inner_blocks(void **state)
{
    /* 3 x 5 in chunks of 2 x 3, stored as 2 x 4 in blocks of 1 x 2 */
    const int64_t shape[] = { 3, 5 }, chunk[] = { 2, 3 }, stored[] = { 2, 4 }, block[] = { 1, 2 };
    cip_grid g = { .itemsize = 1, .ndim = 2, .shape = shape, .chunk = chunk };
    cip_array_form form = { .dtype = cip_dtype_of(CIP_U8), .grid = &g };
    static const char *const plain[] = { "abcfgh", "de\0ij\0", "klm\0\0", "no\0\0\0" };
    static const char *const blocked[] = { "abc\0fgh", "de\0\0ij\0", "klm\0\0\0\0",
                                           "no\0\0\0\0\0" };
    (void)state;
    for (size_t step = 1; step <= 15; step++) {
        cip_env env = env_of(NULL);
        taken t = { .n = 0 }, b = { .n = 0 };
        assert_int_equal(run(&env, &form, 15, "abcdefghijklmno", 15, step, &t, NULL), CIP_OK);
        g.stored = stored;
        g.block = block;
        g.blocked = true;
        assert_int_equal(run(&env, &form, 15, "abcdefghijklmno", 15, step, &b, NULL), CIP_OK);
        g = (cip_grid){ .itemsize = 1, .ndim = 2, .shape = shape, .chunk = chunk };
        assert_int_equal(t.n, 4);
        assert_int_equal(b.n, 4);
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(t.i[i], i);
            assert_int_equal(t.in[i].raw_len, 6);
            assert_memory_equal(t.text[i], plain[i], 6);
            assert_int_equal(b.in[i].raw_len, 8);
            assert_memory_equal(b.text[i], blocked[i], 8);
        }
        end_env(&env);
    }
}

static void equal_special_chunks_are_one_entry(void **state)
{
    const cip_array_form form = { .dtype = cip_dtype_of(CIP_U8),
                                  .chunk_nbytes = 3,
                                  .specials = CIP_FORM_SPECIAL(CIP_CHUNK_ZERO) |
                                              CIP_FORM_SPECIAL(CIP_CHUNK_VALUE) };
    static const char data[] = "\0\0\0\0\0\0xxxxxxxyyyy\0\0z";
    cip_env env = env_of(NULL);
    taken t = { .n = 0 };
    (void)state;
    assert_int_equal(run(&env, &form, 20, data, 20, 20, &t, NULL), CIP_OK);
    assert_int_equal(t.n, 5);
    const struct {
        uint64_t i, run;
        int state;
        char first;
    } want[] = { { 0, 2, CIP_CHUNK_ZERO, 0 },
                 { 2, 2, CIP_CHUNK_VALUE, 'x' },
                 { 4, 1, CIP_CHUNK_DATA, 'x' },
                 { 5, 1, CIP_CHUNK_DATA, 'y' },
                 { 6, 1, CIP_CHUNK_DATA, 0 } };
    for (size_t k = 0; k < 5; k++) {
        assert_int_equal(t.i[k], want[k].i);
        assert_int_equal(t.in[k].run, want[k].run);
        assert_int_equal(t.in[k].state, want[k].state);
        assert_int_equal(t.text[k][0], want[k].first);
    }
    assert_int_equal(t.in[4].raw_len, 2);
    end_env(&env);
}

static void padding_does_not_keep_a_chunk_from_being_special(void **state)
{
    const int64_t shape[] = { 1, 3 }, chunk[] = { 2, 4 };
    const cip_grid g = { .itemsize = 1, .ndim = 2, .shape = shape, .chunk = chunk };
    const cip_array_form form = { .dtype = cip_dtype_of(CIP_U8),
                                  .grid = &g,
                                  .specials = CIP_FORM_SPECIAL(CIP_CHUNK_VALUE) };
    cip_env env = env_of(NULL);
    taken t = { .n = 0 };
    (void)state;
    assert_int_equal(run(&env, &form, 3, "vvv", 3, 3, &t, NULL), CIP_OK);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.in[0].state, CIP_CHUNK_VALUE);
    assert_int_equal(t.in[0].raw_len, 8);
    end_env(&env);
}

static void what_does_not_become_smaller_comes_plain(void **state)
{
    cip_array_form form = { .dtype = cip_dtype_of(CIP_U8), .chunk_nbytes = 8, .nstep = 1 };
    form.step[0].codec = cip_codec_find("zlib");
    form.caps = CIP_FORM_PLAIN;
    cip_env env = env_of(NULL);
    taken t = { .n = 0 };
    (void)state;
    SKIP_UNLESS(cip_codec_available(form.step[0].codec), "built without zlib");
    assert_int_equal(run(&env, &form, 16, "aqwertyubnmklopz", 16, 16, &t, NULL), CIP_OK);
    assert_int_equal(t.n, 2);
    assert_true(t.in[0].plain && t.in[1].plain);
    assert_memory_equal(t.text[1], "bnmklopz", 8);
    form.caps = 0;
    t = (taken){ .n = 0 };
    assert_int_equal(run(&env, &form, 16, "aqwertyubnmklopz", 16, 16, &t, NULL), CIP_OK);
    assert_false(t.in[0].plain);
    assert_true(t.in[0].bytes.len > 8);
    end_env(&env);
}

static void more_or_fewer_elements_than_promised_are_refused(void **state)
{
    const int64_t shape[] = { 6 }, chunk[] = { 4 };
    const cip_grid g = { .itemsize = 1, .ndim = 1, .shape = shape, .chunk = chunk };
    cip_array_form form = { .dtype = cip_dtype_of(CIP_U8) };
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        cip_env env = env_of(NULL);
        taken t = { .n = 0 };
        form.chunk_nbytes = kind == 1 ? 4 : 0;
        form.grid = kind == 2 ? &g : NULL;
        assert_int_equal(run(&env, &form, 6, "abcdefg", 7, 7, &t, NULL), CIP_ERR_RANGE);
        assert_int_equal(run(&env, &form, 6, "abcdefg", 5, 2, &t, NULL), CIP_ERR_ARG);
        assert_int_equal(run(&env, &form, 6, "abcdefg", 6, 2, &t, NULL), CIP_OK);
        end_env(&env);
    }
}

static const cip_codec decodes_only = { .name = "half a codec" };

static void forms_that_cannot_be_written_are_refused(void **state)
{
    cip_array_form form = { .dtype = cip_dtype_of(CIP_U8), .chunk_nbytes = 4, .nstep = 1 };
    cip_env env = env_of(NULL);
    cip_err err = CIP_ERR_INIT;
    taken t = { .n = 0 };
    (void)state;
    form.step[0].codec = &decodes_only;
    assert_int_equal(run(&env, &form, 4, "abcd", 4, 4, &t, &err), CIP_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "half a codec cannot be written");
    form.chunk_nbytes = 0;
    assert_int_equal(run(&env, &form, 4, "abcd", 4, 4, &t, NULL), CIP_ERR_ARG);
    end_env(&env);
}

/* --- failures ------------------------------------------------------------------------------- */

static size_t same_length(size_t n)
{
    return n;
}

/* Refuses chunks that begin with '!'. */
static cip_status picky_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                               cip_dst *out, cip_err *err)
{
    (void)args, (void)env, (void)level;
    if (src.ptr[0] == '!')
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET, "chunk %c", src.ptr[1]);
    memcpy(out->ptr, src.ptr, src.len);
    out->len = src.len;
    return CIP_OK;
}

static const cip_codec picky = { .name = "picky", .bound = same_length, .encode = picky_encode };

static void the_first_failure_counts_and_nothing_comes_behind_it(void **state)
{
    cip_array_form form = { .dtype = cip_dtype_of(CIP_U8), .chunk_nbytes = 2, .nstep = 1 };
    cip_pool *pool;
    (void)state;
    form.step[0].codec = &picky;
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        cip_env env = env_of(NULL);
        cip_err err = CIP_ERR_INIT;
        taken t = { .n = 0 }, full = { .fail_at = 1 };
        assert_int_equal(cip_pool_new(threads, &pool, NULL), CIP_OK);
        env.pool = pool;
        assert_int_equal(run(&env, &form, 12, "a0b1c2!3d4!5", 12, 12, &t, &err), CIP_ERR_RANGE);
        assert_string_equal(err.text, "chunk 3");
        assert_int_equal(t.n, 3);
        err = (cip_err)CIP_ERR_INIT;
        assert_int_equal(run(&env, &form, 4, "a0!1", 4, 4, &full, &err), CIP_ERR_IO);
        assert_string_equal(err.text, "the disk is full");
        end_env(&env);
        cip_pool_free(pool);
    }
}

static void any_allocation_may_fail(void **state)
{
    const int64_t shape[] = { 5, 6 }, chunk[] = { 2, 4 }, block[] = { 1, 2 };
    const cip_grid g = {
        .itemsize = 1, .ndim = 2, .blocked = true, .shape = shape, .chunk = chunk, .block = block
    };
    cip_array_form form = { .dtype = cip_dtype_of(CIP_U8), .nstep = 1, .sum_id = CIP_SUM_MD5 };
    form.step[0].codec = &picky;
    (void)state;
    for (int grid = 0; grid < 2; grid++) {
        form.grid = grid ? &g : NULL;
        form.chunk_nbytes = 7;
        for (size_t n = 1;; n++) {
            fail_alloc f = { .fail_at = n };
            cip_allocator a = { fail_alloc_resize, &f };
            cip_env env;
            taken t = { .n = 0 };
            assert_int_equal(cip_env_init(&env, NULL, &a, NULL, NULL), CIP_OK);
            cip_status st = run(&env, &form, 30, "abcdefghijklmnopqrstuvwxyzabcd", 30, 4, &t, NULL);
            cip_env_clear(&env);
            assert_int_equal(f.held, 0);
            assert_true(st == CIP_ERR_NOMEM || (st == CIP_OK && t.n == (grid ? 6 : 5)));
            if (f.requests < n)
                break;
        }
    }
}

static void tall_grids_need_little_memory(void **state)
{
    enum { SIDE = 512, DEEP = 64, ALL = SIDE * SIDE * DEEP };
    const int64_t shape[] = { DEEP, SIDE, SIDE }, chunk[] = { 32, 64, 64 };
    const cip_grid g = { .itemsize = 1, .ndim = 3, .shape = shape, .chunk = chunk };
    const cip_array_form form = { .dtype = cip_dtype_of(CIP_U8), .grid = &g };
    const cip_limits limits = { .size = sizeof limits, .max_memory = 8 << 20 };
    cip_tuning tuning = cip_tuning_default;
    cip_env env = env_of(&limits);
    taken t = { .n = 0 };
    const cip_chunker_to to = { take, &t, &tuning };
    cip_chunker *c;
    uint8_t *row = calloc(1, SIDE * SIDE);
    (void)state;
    tuning.tiles = 2 << 20;
    assert_int_equal(cip_chunker_new(&env, &form, ALL, &to, &c, NULL), CIP_OK);
    for (int i = 0; i < DEEP; i++)
        assert_int_equal(cip_chunker_write(c, (cip_bytes){ row, SIDE * SIDE }, NULL), CIP_OK);
    assert_int_equal(cip_chunker_finish(c, NULL), CIP_OK);
    cip_chunker_free(c);
    free(row);
    assert_int_equal(t.n, 2 * 8 * 8);
    assert_int_equal(t.nbytes, ALL);
    end_env(&env);
}

/* A row of tiles is as long as all memory; chunks of as many threads would be longer. */
static void chunks_and_tiles_share_the_memory(void **state)
{
    enum { ROWS = 256, COLUMNS = 8192, PIECE = 1000 };
    const int64_t shape[] = { ROWS, COLUMNS }, chunk[] = { 128, 128 };
    const cip_grid g = { .itemsize = 1, .ndim = 2, .shape = shape, .chunk = chunk };
    cip_array_form form = { .dtype = cip_dtype_of(CIP_U8), .grid = &g, .nstep = 1 };
    const cip_limits limits = { .size = sizeof limits, .max_memory = 1 << 20 };
    static const uint8_t piece[PIECE];
    cip_env env = env_of(&limits);
    taken t = { .n = 0 };
    const cip_chunker_to to = { take, &t, NULL };
    cip_chunker *c;
    (void)state;
    form.step[0].codec = &picky;
    assert_int_equal(cip_pool_new(8, &env.pool, NULL), CIP_OK);
    assert_int_equal(cip_chunker_new(&env, &form, ROWS * COLUMNS, &to, &c, NULL), CIP_OK);
    for (size_t at = 0; at < ROWS * COLUMNS; at += PIECE) {
        size_t n = ROWS * COLUMNS - at < PIECE ? ROWS * COLUMNS - at : PIECE;
        assert_int_equal(cip_chunker_write(c, (cip_bytes){ piece, n }, NULL), CIP_OK);
    }
    assert_int_equal(cip_chunker_finish(c, NULL), CIP_OK);
    cip_chunker_free(c);
    assert_int_equal(t.n, 2 * 64);
    cip_pool_free(env.pool);
    env.pool = NULL;
    end_env(&env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_are_padded_and_cut_in_inner_blocks),
        cmocka_unit_test(equal_special_chunks_are_one_entry),
        cmocka_unit_test(padding_does_not_keep_a_chunk_from_being_special),
        cmocka_unit_test(what_does_not_become_smaller_comes_plain),
        cmocka_unit_test(more_or_fewer_elements_than_promised_are_refused),
        cmocka_unit_test(forms_that_cannot_be_written_are_refused),
        cmocka_unit_test(the_first_failure_counts_and_nothing_comes_behind_it),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(tall_grids_need_little_memory),
        cmocka_unit_test(chunks_and_tiles_share_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
