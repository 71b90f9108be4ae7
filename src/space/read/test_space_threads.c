/* SPDX-License-Identifier: BSD-3-Clause
 * Eight threads reading through one layout: lazies made, tables left, decoders kept open and chunks
 * kept and dropped, all at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "base/pool.h"
#include "space/read/cache.h"
#include "support/fake/fake.h"

enum { THREADS = 8, SPACES = 2 * FAKE_NKIND + 4, BYTES = 5000, ROUNDS = 60 };

static fake f;
static uint8_t *bytes[SPACES];
static cip_space *space[SPACES];
static cip_pool *pool;
static _Atomic int nmade, nwrong;

typedef struct late {
    cip_space *s;
} late;

static cip_status make_late(void *self, cip_space **out, cip_err *err)
{
    uint8_t b[10];
    late *l = self;
    nmade++;
    CIP_TRY(cip_space_read_at(&f.how, l->s, 0, b, 10, err)); /* a maker may read */
    *out = l->s;
    return CIP_OK;
}

static void build(uint64_t seed)
{
    static const int64_t shape[3] = { 10, 25, 10 };
    cip_limits l = CIP_LIMITS_INIT;
    l.max_cache = 12000; /* not all fits */
    fake_open(&f, seed, pool, &l);
    for (int i = 0; i < SPACES; i++) {
        bytes[i] = fake_random(&f, BYTES);
        if (i < 2 * FAKE_NKIND)
            space[i] = fake_space(&f, (fake_kind)(i / 2), bytes[i], BYTES, 2, false);
        else
            space[i] = fake_grid(&f, shape, 3, 2, bytes[i], 2);
        late *self = fake_keep(&f, sizeof *self);
        self->s = space[i];
        assert_int_equal(cip_space_new_lazy(f.layout, make_late, self, &space[i], NULL), CIP_OK);
    }
}

static uint64_t next(uint64_t *r)
{
    *r = *r * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *r >> 33;
}

static bool spans_right(const cip_read_how *how, int i, uint64_t *r)
{
    uint8_t b[BYTES];
    size_t at = (size_t)(next(r) % BYTES), n = (size_t)(next(r) % (BYTES - at + 1));
    return cip_space_read_at(how, space[i], at, b, n, NULL) == CIP_OK &&
           memcmp(b, bytes[i] + at, n) == 0;
}

static bool view_right(const cip_read_how *how, int i, uint64_t *r)
{
    uint8_t b[4 * 500];
    cip_cast c;
    int64_t step = 2 * (1 + (int64_t)(next(r) % 5)), n = 5 + (int64_t)(next(r) % 495);
    cip_nd v = { .itemsize = 2, .ndim = 1, .shape = { n }, .stride = { step } }, to = v;
    to.itemsize = 4;
    to.stride[0] = 4;
    if (cip_cast_make(cip_dtype_fixed(CIP_U16, false), cip_dtype_fixed(CIP_U32, false),
                      CIP_OVERFLOW_ERROR, &c, NULL) != CIP_OK ||
        cip_space_gather(how, space[i], &(cip_transfer){ &v, &c, &to, b }, NULL, NULL) != CIP_OK)
        return false;
    for (int64_t k = 0; k < n; k++)
        if (memcmp(b + 4 * k, bytes[i] + step * k, 2) != 0 || b[4 * k + 2] != 0)
            return false;
    return true;
}

static void *reader(void *arg)
{
    uint64_t r = (uint64_t)(uintptr_t)arg;
    for (int k = 0; k < ROUNDS; k++) {
        cip_read_how how = { f.layout, next(&r) % 3 == 0 ? pool : NULL };
        int i = (int)(next(&r) % SPACES);
        if (next(&r) % 50 == 0)
            cip_cache_drop(f.layout->cache);
        if (!(next(&r) % 2 == 0 ? spans_right(&how, i, &r) : view_right(&how, i, &r)))
            nwrong++;
    }
    return NULL;
}

static void eight_threads_read_what_one_would(void **state)
{
    (void)state;
    assert_int_equal(cip_pool_new(3, &pool, NULL), CIP_OK);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        pthread_t t[THREADS];
        build(seed);
        nmade = nwrong = 0;
        for (size_t i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&t[i], NULL, reader, (void *)(seed * 100 + i)), 0);
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(t[i], NULL);
        assert_int_equal(nwrong, 0);
        assert_true(nmade <= SPACES);
        fake_close(&f);
    }
    cip_pool_free(pool);
}

/* Two lazies that need each other, asked for by two threads at once: no thread waits for ever. */
typedef struct needy {
    cip_space *other;
} needy;

static cip_status make_needy(void *self, cip_space **out, cip_err *err)
{
    return cip_space_resolve(((needy *)self)->other, out, err);
}

static cip_space *pair[2];

static void *ask(void *arg)
{
    cip_space *out;
    if (cip_space_resolve(pair[(uintptr_t)arg], &out, NULL) != CIP_ERR_CORRUPT)
        nwrong++;
    return NULL;
}

static void lazies_that_need_each_other_do_not_hang(void **state)
{
    (void)state;
    fake_open(&f, 1, NULL, NULL);
    nwrong = 0;
    for (int round = 0; round < 50; round++) {
        needy *n = fake_keep(&f, 2 * sizeof *n);
        pthread_t t[2];
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(cip_space_new_lazy(f.layout, make_needy, &n[i], &pair[i], NULL),
                             CIP_OK);
        n[0].other = pair[1];
        n[1].other = pair[0];
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&t[i], NULL, ask, (void *)(uintptr_t)i), 0);
        for (size_t i = 0; i < 2; i++)
            pthread_join(t[i], NULL);
    }
    assert_int_equal(nwrong, 0);
    fake_close(&f);
}

/* Jobs of a pool that meet a lazy whose maker reads with the pool. */
static void a_maker_that_reads_with_the_pool_does_not_hang(void **state)
{
    (void)state;
    assert_int_equal(cip_pool_new(4, &pool, NULL), CIP_OK);
    for (uint64_t seed = 1; seed <= 30; seed++) {
        cip_chunk c[50];
        cip_table t;
        cip_space *inner, *lazy, *s;
        late self;
        uint8_t out[500];
        fake_open(&f, seed, pool, NULL);
        fake_tiny_tuning(&f);
        uint8_t *raw = fake_random(&f, 500);
        inner = fake_space(&f, FAKE_CHUNKED, raw, 500, 2, true);
        self.s = inner;
        assert_int_equal(cip_space_new_lazy(f.layout, make_late, &self, &lazy, NULL), CIP_OK);
        for (size_t i = 0; i < 50; i++)
            c[i] = (cip_chunk){ .at = { lazy, 10 * i, 10 }, .raw_off = 10 * i, .raw_len = 10 };
        assert_int_equal(cip_table_from_array(f.layout, c, 50, &t, NULL), CIP_OK);
        assert_int_equal(cip_space_new_chunked(f.layout, &t, 500, NULL, 0, &s, NULL), CIP_OK);
        assert_int_equal(cip_space_read_at(&f.how, s, 0, out, 500, NULL), CIP_OK);
        assert_memory_equal(out, raw, 500);
        fake_close(&f);
    }
    cip_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_read_what_one_would),
        cmocka_unit_test(lazies_that_need_each_other_do_not_hang),
        cmocka_unit_test(a_maker_that_reads_with_the_pool_does_not_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
