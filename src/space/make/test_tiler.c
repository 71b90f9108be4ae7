/* SPDX-License-Identifier: BSD-3-Clause
 * Tiles out of bytes in C order, against a definition that looks at every element by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cippus/dtype.h"
#include "space/make/tiler.h"
#include "support/fail_alloc.h"

static cip_mem plain;

typedef struct taken {
    cip_buf got;
    cip_buf valid; /* of int64_t */
    int32_t ndim;
    uint64_t n;
    uint64_t fail_at;       /* the tile that is refused, counted from 1 */
    const cip_tiling *lend; /* of rows that are given whole; or NULL */
    uint64_t nlent;
} taken;

static cip_status take(void *user, uint64_t index, cip_bytes tile, const int64_t *valid,
                       cip_err *err)
{
    taken *t = user;
    assert_int_equal(index, t->n);
    if (++t->n == t->fail_at)
        return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "the disk is full");
    CIP_TRY(cip_buf_add(&t->valid, valid, (size_t)t->ndim * sizeof *valid, err));
    return cip_buf_add(&t->got, tile.ptr, tile.len, err);
}

/* As it is when it is cut. */
static cip_status take_lent(void *user, uint64_t index, const uint8_t *at, const int64_t *stride,
                            const int64_t *valid, cip_err *err)
{
    taken *t = user;
    const cip_tiling *how = t->lend;
    uint64_t each = 1;
    for (int32_t i = 0; i < how->ndim; i++)
        each *= (uint64_t)how->tile[i];
    uint8_t *tile = calloc(each, how->itemsize);
    assert_non_null(tile);
    for (uint64_t e = 0; e < each; e++) {
        uint64_t left = e;
        int64_t off = 0;
        bool inside = true;
        for (int32_t i = how->ndim - 1; i >= 0; i--) {
            const int64_t x = (int64_t)(left % (uint64_t)how->tile[i]);
            left /= (uint64_t)how->tile[i];
            off += x * stride[i];
            inside = inside && x < valid[i];
        }
        if (inside)
            memcpy(tile + e * how->itemsize, at + off, how->itemsize);
    }
    t->nlent++;
    cip_status st = take(user, index, (cip_bytes){ tile, each * how->itemsize }, valid, err);
    free(tile);
    return st;
}

/* Element e of tile k by definition; false: it is padding. `at`: its index in the array. */
static bool find(const cip_tiling *t, uint64_t k, uint64_t e, uint64_t *at)
{
    uint64_t step = 1;
    bool inside = true;
    *at = 0;
    for (int32_t i = t->ndim - 1; i >= 0; i--) {
        uint64_t n = (uint64_t)t->shape[i], len = (uint64_t)t->tile[i], grid = (n + len - 1) / len;
        uint64_t x = k % grid * len + e % len;
        inside = inside && x < n;
        *at += x * step;
        step *= n;
        k /= grid;
        e /= len;
    }
    return inside;
}

static void check_tiles(const cip_tiling *t, const uint8_t *raw, const taken *x, uint64_t nbytes)
{
    static const uint8_t zeros[64];
    uint64_t each = 1, at;
    for (int32_t i = 0; i < t->ndim; i++)
        each *= (uint64_t)t->tile[i];
    assert_int_equal(x->got.len, nbytes);
    assert_int_equal(x->n, nbytes / (each * t->itemsize));
    for (uint64_t i = 0; i < x->n * each; i++) {
        bool inside = find(t, i / each, i % each, &at);
        assert_memory_equal(x->got.ptr + i * t->itemsize, inside ? raw + at * t->itemsize : zeros,
                            t->itemsize);
    }
}

static cip_status run(cip_env *env, const cip_tiling *t, uint64_t memory, cip_bytes raw,
                      size_t each, taken *x, cip_err *err)
{
    cip_tiler *tiler;
    *x = (taken){ .got = { .mem = &plain },
                  .valid = { .mem = &plain },
                  .ndim = t->ndim,
                  .fail_at = x->fail_at,
                  .lend = x->lend };
    cip_status st = cip_tiler_new(env, t, memory, take, x, &tiler, err);
    if (st == CIP_OK && x->lend != NULL)
        cip_tiler_lend(tiler, take_lent);
    for (size_t i = 0; st == CIP_OK && i < raw.len; i += each)
        st = cip_tiler_write(tiler, raw.ptr + i, raw.len - i < each ? raw.len - i : each, err);
    if (st == CIP_OK)
        st = cip_tiler_finish(tiler, err);
    cip_tiler_free(tiler);
    return st;
}

static void taken_clear(taken *x)
{
    cip_buf_clear(&x->got);
    cip_buf_clear(&x->valid);
}

static uint32_t seed;

static uint32_t draw(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static uint8_t *bytes(size_t n)
{
    uint8_t *p = malloc(n + 1);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(1 + draw(255)); /* none is padding's */
    return p;
}

static void random_tilings_are_as_defined_whatever_the_memory(void **state)
{
    (void)state;
    uint64_t nlent = 0, n_all = 0;
    seed = 1;
    for (int round = 0; round < 600; round++) {
        int64_t shape[4], tile[4];
        cip_tiling t = { .ndim = (int32_t)draw(5), .shape = shape, .tile = tile };
        uint64_t n = t.itemsize = 1 + draw(5), nbytes;
        for (int32_t i = 0; i < t.ndim; i++) {
            shape[i] = draw(40) == 0 ? 0 : 1 + draw(9);
            tile[i] = 1 + draw(11);
            n *= (uint64_t)shape[i];
        }
        uint8_t *raw = bytes(n);
        const uint64_t memory[] = { 0, 1, 1 + draw(200), 1 + draw(2000) };
        assert_int_equal(cip_tiling_nbytes(&t, &nbytes, NULL), CIP_OK);
        for (size_t m = 0; m < 8; m++) {
            taken x = { .lend = m < 4 ? NULL : &t };
            cip_env env;
            cip_err err = CIP_ERR_INIT;
            assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
            assert_int_equal(
                run(&env, &t, memory[m % 4], (cip_bytes){ raw, n }, 1 + draw(300), &x, &err),
                CIP_OK);
            check_tiles(&t, raw, &x, nbytes);
            nlent += x.nlent;
            n_all += m < 4 ? 0 : x.n;
            taken_clear(&x);
            assert_int_equal(env.mem.used, 0);
            cip_env_clear(&env);
        }
        free(raw);
    }
    assert_true(nlent > n_all / 8 && nlent < n_all); /* both ways were taken */
}

static void what_is_valid_of_a_tile_is_told(void **state)
{
    (void)state;
    const int64_t shape[] = { 3, 5 }, tile[] = { 2, 4 };
    const cip_tiling t = { 2, shape, tile, 1 };
    const int64_t want[] = { 2, 4, 2, 1, 1, 4, 1, 1 };
    uint8_t *raw = bytes(15);
    cip_env env;
    taken x = { .fail_at = 0 };
    assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
    assert_int_equal(run(&env, &t, 0, (cip_bytes){ raw, 15 }, 15, &x, NULL), CIP_OK);
    assert_int_equal(x.valid.len, sizeof want);
    assert_memory_equal(x.valid.ptr, want, sizeof want);
    taken_clear(&x);
    free(raw);
    cip_env_clear(&env);
}

static void check_refused(const cip_tiling *t, cip_status want)
{
    cip_env env;
    cip_tiler *tiler = (cip_tiler *)1;
    uint64_t n = 77;
    assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
    assert_int_equal(cip_tiling_nbytes(t, &n, NULL), want);
    assert_int_equal(n, 77);
    assert_int_equal(cip_tiler_new(&env, t, 0, take, NULL, &tiler, NULL), want);
    assert_null(tiler);
    cip_env_clear(&env);
}

static void what_is_no_tiling_is_refused(void **state)
{
    (void)state;
    int64_t shape[] = { 4, 4 }, tile[] = { 2, 2 };
    cip_tiling t = { 2, shape, tile, 4 };
    tile[1] = 0;
    check_refused(&t, CIP_ERR_ARG);
    tile[1] = -1;
    check_refused(&t, CIP_ERR_ARG);
    tile[1] = INT64_C(1) << 60;
    check_refused(&t, CIP_ERR_LIMIT);
    tile[1] = INT64_MAX;
    check_refused(&t, CIP_ERR_LIMIT);
    tile[1] = 2;
    t.itemsize = 0;
    check_refused(&t, CIP_ERR_ARG);
    t.itemsize = 4;
    t.ndim = CIP_MAX_NDIM + 1;
    check_refused(&t, CIP_ERR_ARG);
    t.ndim = 2;
    shape[0] = -1;
    check_refused(&t, CIP_ERR_ARG);
}

static void bytes_too_many_and_too_few_are_told(void **state)
{
    (void)state;
    const int64_t shape[] = { 3, 5 }, tile[] = { 2, 4 };
    const cip_tiling t = { 2, shape, tile, 1 };
    uint8_t *raw = bytes(16);
    cip_env env;
    taken x = { .fail_at = 0 };
    assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
    assert_int_equal(run(&env, &t, 0, (cip_bytes){ raw, 14 }, 16, &x, NULL), CIP_ERR_ARG);
    taken_clear(&x);
    assert_int_equal(run(&env, &t, 0, (cip_bytes){ raw, 16 }, 16, &x, NULL), CIP_ERR_RANGE);
    taken_clear(&x);
    assert_int_equal(run(&env, &t, 4, (cip_bytes){ raw, 9 }, 16, &x, NULL), CIP_ERR_ARG);
    taken_clear(&x);
    free(raw);
    cip_env_clear(&env);
}

static void a_tile_that_is_not_taken_ends_it(void **state)
{
    (void)state;
    const int64_t shape[] = { 6, 5 }, tile[] = { 2, 4 };
    const cip_tiling t = { 2, shape, tile, 1 };
    uint8_t *raw = bytes(30);
    for (uint64_t at = 1; at <= 6; at++) {
        cip_env env;
        taken x = { .fail_at = at };
        assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
        assert_int_equal(run(&env, &t, at % 2, (cip_bytes){ raw, 30 }, 30, &x, NULL), CIP_ERR_IO);
        assert_int_equal(x.n, at);
        taken_clear(&x);
        assert_int_equal(env.mem.used, 0);
        cip_env_clear(&env);
    }
    free(raw);
}

static void a_lack_of_memory_is_told_at_every_place(void **state)
{
    (void)state;
    const int64_t shape[] = { 6, 5 }, tile[] = { 2, 4 };
    const cip_tiling t = { 2, shape, tile, 1 };
    uint8_t *raw = bytes(30);
    for (size_t n = 1;; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_env env;
        taken x = { .fail_at = 0 };
        assert_int_equal(cip_env_init(&env, NULL, &a, NULL, NULL), CIP_OK);
        cip_status st = run(&env, &t, 1, (cip_bytes){ raw, 30 }, 30, &x, NULL);
        taken_clear(&x);
        cip_env_clear(&env);
        assert_int_equal(f.held, 0);
        if (f.requests < n) {
            assert_int_equal(st, CIP_OK);
            break;
        }
        assert_int_equal(st, CIP_ERR_NOMEM);
    }
    free(raw);
}

int main(void)
{
    cip_mem_init(&plain, NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_tilings_are_as_defined_whatever_the_memory),
        cmocka_unit_test(what_is_valid_of_a_tile_is_told),
        cmocka_unit_test(what_is_no_tiling_is_refused),
        cmocka_unit_test(bytes_too_many_and_too_few_are_told),
        cmocka_unit_test(a_tile_that_is_not_taken_ends_it),
        cmocka_unit_test(a_lack_of_memory_is_told_at_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
