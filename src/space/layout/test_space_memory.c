/* SPDX-License-Identifier: BSD-3-Clause
 * Memory that fails anywhere in a read, of every kind of space: an error, nothing lost, and the
 * next read is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/pool.h"
#include "support/fail_alloc.h"
#include "support/fake/fake.h"

enum { BYTES = 2400 };

typedef struct subject {
    fail_alloc fa;
    cip_allocator from;
    fake f;
    uint8_t *bytes;
    cip_space *s;
    cip_cast cast;
    uint8_t out[BYTES * 8];
} subject;

static subject t;

static void open_kind(int kind, uint64_t seed, bool tiny)
{
    static const int64_t shape[3] = { 10, 20, 6 };
    memset(&t, 0, sizeof t);
    t.from = (cip_allocator){ fail_alloc_resize, &t.fa };
    cip_limits l = CIP_LIMITS_INIT;
    l.max_cache = seed % 2 == 0 ? 0 : 500;
    fake_open_from(&t.f, seed, NULL, &l, &t.from);
    if (tiny)
        fake_tiny_tuning(&t.f);
    t.bytes = fake_random(&t.f, BYTES);
    t.s = kind == FAKE_GRID ? fake_grid(&t.f, shape, 3, 2, t.bytes, 2)
                            : fake_space(&t.f, (fake_kind)kind, t.bytes, BYTES, 2, false);
    assert_int_equal(cip_cast_make(cip_dtype_fixed(CIP_U16, true), cip_dtype_of(CIP_F64),
                                   CIP_OVERFLOW_CLAMP, &t.cast, NULL),
                     CIP_OK);
}

static int drop(void *user, const uint8_t *p, size_t n)
{
    (void)user;
    (void)p;
    (void)n;
    return 0;
}

/* One of several ways to read. */
static cip_status read_somehow(int way)
{
    const uint64_t off[3] = { 2000, 100, 102 };
    cip_nd v = { .itemsize = 2, .ndim = 2, .shape = { 20, 30 }, .stride = { 120, 4 } }, to = v;
    cip_want w[3] = { { 3, 500, t.out }, { 600, 3, t.out + 500 }, { 2300, 100, t.out + 503 } };
    to.itemsize = 8;
    to.stride[0] = 240;
    to.stride[1] = 8;
    switch (way) {
    case 0:
        return cip_space_read(&t.f.how, t.s, w, 3, NULL);
    case 1:
        return cip_space_gather(&t.f.how, t.s, &(cip_transfer){ &v, &t.cast, &to, t.out }, NULL,
                                NULL);
    case 2:
        v.stride[0] = 2; /* overlapping */
        return cip_space_gather(&t.f.how, t.s, &(cip_transfer){ &v, &t.cast, &to, t.out }, NULL,
                                NULL);
    case 3:
        return cip_space_gather_points(&t.f.how, t.s, &(cip_points){ off, 3, t.out }, &t.cast, NULL,
                                       NULL);
    default:
        return cip_space_stream(&t.f.how, t.s, 100, drop, NULL, NULL);
    }
}

static void check_kind(int kind, int way, uint64_t seed)
{
    for (size_t n = 1;; n++) {
        open_kind(kind, seed, n % 2 == 0);
        size_t before = t.fa.requests;
        t.fa.fail_at = before + n;
        cip_status st = read_somehow(way);
        bool through = t.fa.requests < before + n;
        assert_true(st == CIP_OK || (st == CIP_ERR_NOMEM && !through));
        t.fa.fail_at = 0;
        assert_int_equal(cip_space_read_at(&t.f.how, t.s, 0, t.out, BYTES, NULL), CIP_OK);
        assert_memory_equal(t.out, t.bytes, BYTES);
        fake_close(&t.f);
        assert_int_equal(t.fa.held, 0);
        if (through && n % 2 == 0)
            return;
    }
}

static void failing_memory_is_survived_everywhere(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++)
        for (int kind = 0; kind <= FAKE_GRID; kind++)
            for (int way = 0; way < 5; way++)
                check_kind(kind, way, seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_memory_is_survived_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
