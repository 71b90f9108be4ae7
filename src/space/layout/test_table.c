/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/own_fake.h"

static cip_chunk data(uint64_t raw_off, uint64_t raw_len)
{
    return (cip_chunk){ .at = { f.layout->file, raw_off, raw_len },
                        .raw_off = raw_off,
                        .raw_len = raw_len };
}

static cip_table table(const cip_chunk *c, size_t n)
{
    cip_table t;
    assert_int_equal(cip_table_from_array(f.layout, c, n, &t, NULL), CIP_OK);
    return t;
}

static uint64_t count(const cip_table *t)
{
    uint64_t n = 77;
    assert_int_equal(t->count(t->self, &n, NULL), CIP_OK);
    return n;
}

static uint64_t find(const cip_table *t, uint64_t off)
{
    uint64_t i = 77;
    assert_int_equal(t->find(t->self, off, &i, NULL), CIP_OK);
    return i;
}

static void equal_chunks_are_found_by_division(void **state)
{
    (void)state;
    cip_chunk c[3] = { data(0, 10), data(10, 10), data(20, 7) };
    cip_table t = table(c, 3);
    assert_null(t.find);
    assert_int_equal(t.raw_each, 10);
    assert_int_equal(count(&t), 3);
    cip_chunk out[3];
    assert_int_equal(t.at(t.self, 1, 2, out, NULL), CIP_OK);
    assert_int_equal(out[0].raw_off, 10);
    assert_int_equal(out[1].raw_len, 7);
    assert_ptr_equal(out[1].at.in, f.layout->file);
    c[2].raw_len = 11; /* a last one may only be shorter */
    assert_non_null(table(c, 3).find);
    c[1].raw_len = 9; /* and only the last one */
    c[2] = data(19, 10);
    assert_int_equal(table(c, 3).raw_each, 0);
    c[0].raw_off = 1; /* they begin at 0 */
    assert_int_equal(table(c, 1).raw_each, 0);
    assert_int_equal(table(&c[1], 0).raw_each, 0);
    c[0] = data(0, 0);
    assert_int_equal(table(c, 1).raw_each, 0);
}

static void unequal_chunks_are_searched_for(void **state)
{
    (void)state;
    const cip_chunk c[4] = { data(0, 3), data(3, 10), data(13, 1), data(14, 6) };
    cip_table t = table(c, 4);
    assert_int_equal(find(&t, 0), 0);
    assert_int_equal(find(&t, 2), 0);
    assert_int_equal(find(&t, 3), 1);
    assert_int_equal(find(&t, 12), 1);
    assert_int_equal(find(&t, 13), 2);
    assert_int_equal(find(&t, 14), 3);
    assert_int_equal(find(&t, 19), 3);
    assert_int_equal(find(&t, 1000), 3); /* the reader sees that it does not hold it */
}

static void a_byte_before_the_first_chunk_is_nowhere(void **state)
{
    (void)state;
    const cip_chunk c[2] = { data(5, 3), data(8, 10) };
    uint64_t i = 77;
    cip_table t = table(c, 2);
    assert_int_equal(t.find(t.self, 4, &i, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(i, 77);
    assert_int_equal(find(&t, 5), 0);
    t = table(c, 0);
    assert_int_equal(t.find(t.self, 5, &i, NULL), CIP_ERR_CORRUPT);
}

static void chunks_beyond_the_end_are_out_of_range(void **state)
{
    (void)state;
    const cip_chunk c[2] = { data(0, 3), data(3, 10) };
    cip_chunk out[3];
    cip_err err = CIP_ERR_INIT;
    cip_table t = table(c, 2);
    assert_int_equal(t.at(t.self, 0, 2, out, NULL), CIP_OK);
    assert_int_equal(t.at(t.self, 2, 0, out, NULL), CIP_OK);
    assert_int_equal(t.at(t.self, 1, 2, out, &err), CIP_ERR_RANGE);
    assert_string_equal(err.text, "expected a chunk below 2, found 2");
    assert_int_equal(t.at(t.self, 3, 0, out, NULL), CIP_ERR_RANGE);
    assert_int_equal(t.at(t.self, UINT64_MAX, 2, out, NULL), CIP_ERR_RANGE);
}

static cip_chunk zeros(uint64_t raw_off, uint64_t raw_len, uint64_t run)
{
    return (
        cip_chunk){ .raw_off = raw_off, .raw_len = raw_len, .run = run, .state = CIP_CHUNK_ZERO };
}

static void a_run_is_as_many_chunks(void **state)
{
    (void)state;
    const cip_chunk c[4] = { data(0, 4), zeros(4, 4, 5), data(24, 4), zeros(28, 4, 2) };
    cip_chunk out[9];
    cip_table t = table(c, 4);
    assert_int_equal(count(&t), 9);
    assert_int_equal(t.at(t.self, 0, 9, out, NULL), CIP_OK);
    for (uint64_t i = 0; i < 9; i++)
        assert_int_equal(out[i].raw_off, 4 * i);
    assert_int_equal(out[1].run, 5);
    assert_int_equal(out[2].run, 4);
    assert_int_equal(out[5].run, 1);
    assert_int_equal(out[6].state, CIP_CHUNK_DATA);
    assert_int_equal(out[7].run, 2);
    assert_int_equal(t.at(t.self, 3, 2, out, NULL), CIP_OK);
    assert_int_equal(out[0].run, 3);
    assert_int_equal(out[1].raw_off, 16);
    assert_int_equal(t.at(t.self, 8, 1, out, NULL), CIP_OK);
    assert_int_equal(out[0].raw_off, 32);
    assert_int_equal(t.at(t.self, 8, 2, out, NULL), CIP_ERR_RANGE);
}

static void runs_of_unequal_chunks_are_searched(void **state)
{
    (void)state;
    const cip_chunk c[3] = { zeros(0, 3, 4), data(12, 5), zeros(17, 2, 3) };
    cip_table t = table(c, 3);
    assert_int_equal(find(&t, 0), 0);
    assert_int_equal(find(&t, 2), 0);
    assert_int_equal(find(&t, 3), 1);
    assert_int_equal(find(&t, 11), 3);
    assert_int_equal(find(&t, 12), 4);
    assert_int_equal(find(&t, 16), 4);
    assert_int_equal(find(&t, 17), 5);
    assert_int_equal(find(&t, 22), 7);
    assert_int_equal(find(&t, 1000), 7);
}

static void a_short_run_at_the_end_is_not_equal(void **state)
{
    (void)state;
    cip_chunk c[2] = { zeros(0, 4, 2), zeros(8, 3, 1) };
    assert_int_equal(table(c, 2).raw_each, 4);
    c[1].run = 2;
    assert_int_equal(table(c, 2).raw_each, 0);
}

static void two_to_the_fortieth_chunks_cost_nothing(void **state)
{
    (void)state;
    const cip_chunk c = zeros(0, 1 << 20, UINT64_C(1) << 40);
    cip_chunk out;
    cip_table t = table(&c, 1);
    assert_int_equal(count(&t), UINT64_C(1) << 40);
    assert_int_equal(t.at(t.self, (UINT64_C(1) << 40) - 1, 1, &out, NULL), CIP_OK);
    assert_int_equal(out.run, 1);
    assert_int_equal(out.raw_off, ((UINT64_C(1) << 40) - 1) << 20);
}

static void impossible_chunks_are_refused(void **state)
{
    (void)state;
    cip_table t;
    cip_err err = CIP_ERR_INIT;
    cip_chunk c[2] = { data(0, 10), data(10, 10) };
    c[1].raw_len = UINT64_MAX - 9;
    assert_int_equal(cip_table_from_array(f.layout, c, 2, &t, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "chunk 1 ends beyond 2^64");
    c[1].raw_len = UINT64_MAX - 10;
    assert_int_equal(cip_table_from_array(f.layout, c, 2, &t, NULL), CIP_OK);
    c[1] = zeros(10, UINT64_C(1) << 32, UINT64_C(1) << 32);
    assert_int_equal(cip_table_from_array(f.layout, c, 2, &t, NULL), CIP_ERR_CORRUPT);
    c[0] = zeros(0, 0, UINT64_MAX);
    c[1] = data(0, 1);
    assert_int_equal(cip_table_from_array(f.layout, c, 2, &t, NULL), CIP_ERR_CORRUPT);
    c[0] = data(5, 10);
    c[1] = data(4, 10);
    assert_int_equal(cip_table_from_array(f.layout, c, 2, &t, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "expected rising chunks, found chunk 1 at 4 after 5");
    c[1].raw_off = 5; /* as in a grid, where places do not matter */
    assert_int_equal(cip_table_from_array(f.layout, c, 2, &t, NULL), CIP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_chunks_are_found_by_division, setup, teardown),
        cmocka_unit_test_setup_teardown(unequal_chunks_are_searched_for, setup, teardown),
        cmocka_unit_test_setup_teardown(a_byte_before_the_first_chunk_is_nowhere, setup, teardown),
        cmocka_unit_test_setup_teardown(chunks_beyond_the_end_are_out_of_range, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_is_as_many_chunks, setup, teardown),
        cmocka_unit_test_setup_teardown(runs_of_unequal_chunks_are_searched, setup, teardown),
        cmocka_unit_test_setup_teardown(a_short_run_at_the_end_is_not_equal, setup, teardown),
        cmocka_unit_test_setup_teardown(two_to_the_fortieth_chunks_cost_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(impossible_chunks_are_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
