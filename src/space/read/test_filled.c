/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "space/read/filled.h"
#include "support/fake/fake.h"

enum { ITEM = 3, TIMES = 60 };

static const uint8_t value[ITEM] = { 0xf1, 0x11, 0xed };

/* Rising ranges, apart, of chunks below n. */
static size_t pick_ranges(fake *f, uint64_t n, cip_lost_chunks *out, size_t cap)
{
    size_t k = 0;
    for (uint64_t i = fake_pick(f, 0, 2); i < n && k < cap; k++) {
        uint64_t len = fake_pick(f, 1, 3);
        out[k] = (cip_lost_chunks){ i, len < n - i ? len : n - i };
        i += len + fake_pick(f, 1, 4);
    }
    return k;
}

static bool is_lost(const cip_lost_chunks *lost, size_t n, uint64_t i)
{
    for (size_t k = 0; k < n; k++)
        if (i >= lost[k].first && i - lost[k].first < lost[k].n)
            return true;
    return false;
}

static void assert_holds(fake *f, cip_space *s, const uint8_t *expected, size_t n)
{
    uint8_t *back = fake_keep(f, n);
    cip_err err = CIP_ERR_INIT;
    if (cip_space_read_at(&f->how, s, 0, back, n, &err) != CIP_OK)
        fail_msg("%s: %s", err.part, err.text);
    assert_memory_equal(back, expected, n);
    size_t from = (size_t)fake_pick(f, 0, n - 1), len = (size_t)fake_pick(f, 1, n - from);
    assert_int_equal(cip_space_read_at(&f->how, s, from, back, len, &err), CIP_OK);
    assert_memory_equal(back, expected + from, len);
}

static void lost_chunks_of_a_grid_read_as_the_value(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TIMES; seed++) {
        fake f;
        fake_open(&f, seed, NULL, NULL);
        fake_tiny_tuning(&f);
        const int64_t shape[2] = { (int64_t)fake_pick(&f, 1, 20), (int64_t)fake_pick(&f, 1, 20) };
        const size_t n = (size_t)(shape[0] * shape[1]) * ITEM;
        uint8_t *bytes = fake_random(&f, n);
        cip_space *s = fake_grid(&f, shape, 2, ITEM, bytes, 2);
        const int64_t *chunk = s->grid->chunk, rows = (shape[0] + chunk[0] - 1) / chunk[0],
                      columns = (shape[1] + chunk[1] - 1) / chunk[1];
        cip_lost_chunks lost[8];
        size_t nlost = pick_ranges(&f, (uint64_t)(rows * columns), lost, 8);
        assert_holds(&f, s, bytes, n); /* what the cache has of it counts no more */
        assert_int_equal(cip_space_fill(s, lost, nlost, (cip_bytes){ value, ITEM }, NULL), CIP_OK);
        for (int64_t i = 0; i < shape[0]; i++)
            for (int64_t j = 0; j < shape[1]; j++)
                if (is_lost(lost, nlost, (uint64_t)(i / chunk[0] * columns + j / chunk[1])))
                    memcpy(bytes + (i * shape[1] + j) * ITEM, value, ITEM);
        assert_holds(&f, s, bytes, n);
        fake_close(&f);
    }
}

static void lost_linear_chunks_read_as_the_value_the_last_one_too(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TIMES; seed++) {
        fake f;
        fake_open(&f, seed, NULL, NULL);
        fake_tiny_tuning(&f);
        const size_t n = (size_t)fake_pick(&f, 1, 100) * ITEM;
        uint8_t *bytes = fake_random(&f, n);
        cip_space *s = fake_space(&f, FAKE_CHUNKED, bytes, n, 2, false);
        const uint64_t each = s->table.raw_each;
        if (each == 0) { /* a table that finds them */
            fake_close(&f);
            continue;
        }
        cip_lost_chunks lost[8];
        size_t nlost = pick_ranges(&f, (n + each - 1) / each, lost, 8);
        cip_status st = cip_space_fill(s, lost, nlost, (cip_bytes){ value, ITEM }, NULL);
        bool whole = true;
        for (size_t k = 0; k < nlost; k++)
            whole =
                whole && lost[k].first * each % ITEM == 0 && (lost[k].n == 1 || each % ITEM == 0);
        if (!whole) {
            assert_int_equal(st, CIP_ERR_UNSUPPORTED);
        } else {
            assert_int_equal(st, CIP_OK);
            for (size_t p = 0; p < n; p++)
                if (is_lost(lost, nlost, p / each))
                    bytes[p] = value[p % ITEM];
        }
        assert_holds(&f, s, bytes, n);
        fake_close(&f);
    }
}

static void what_has_no_chunks_is_not_filled(void **state)
{
    (void)state;
    fake f;
    fake_open(&f, 1, NULL, NULL);
    cip_space *s = fake_space(&f, FAKE_MEM, fake_random(&f, 30), 30, 0, false);
    const cip_lost_chunks lost = { 0, 1 };
    assert_int_equal(cip_space_fill(s, &lost, 1, (cip_bytes){ value, ITEM }, NULL),
                     CIP_ERR_UNSUPPORTED);
    fake_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_chunks_of_a_grid_read_as_the_value),
        cmocka_unit_test(lost_linear_chunks_read_as_the_value_the_last_one_too),
        cmocka_unit_test(what_has_no_chunks_is_not_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
