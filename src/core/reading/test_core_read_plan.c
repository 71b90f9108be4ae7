/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/core_testing.h"
#include "core/reading/read_plan.h"

/* Every way to cut a 3 x 4 x 5 array gives the elements once and in order. */
static void parts_come_in_c_order_and_cover_everything(void **state)
{
    (void)state;
    uint8_t data[60], out[60];
    char *mem;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)i;
    cip_file *f = test_open_npy("'|u1'", "(3, 4, 5)", data, sizeof data, &mem);
    for (uint64_t most = 1; most <= 61; most++) {
        cip_read_plan p;
        cip_parts it;
        cip_part part;
        size_t n = 0;
        assert_int_equal(cip_read_plan_make(cip_file_array(f, 0), NULL, CIP_AS_RAW, &p, NULL),
                         CIP_OK);
        cip_parts_start(&it, &p, most);
        while (cip_parts_next(&it, &part)) {
            assert_true(part.nelem >= 1 && part.nelem <= most);
            assert_int_equal(cip_read_plan_fetch(&p, &part, out + n, NULL), CIP_OK);
            n += (size_t)part.nelem;
        }
        assert_int_equal(n, 60);
        assert_memory_equal(out, data, 60);
        cip_read_plan_clear(&p);
    }
    cip_file_close(f);
    free(mem);
}

static void parts_are_as_large_as_allowed(void **state)
{
    (void)state;
    uint8_t data[60] = { 0 };
    char *mem;
    cip_read_plan p;
    cip_parts it;
    cip_part part;
    cip_file *f = test_open_npy("'|u1'", "(3, 4, 5)", data, sizeof data, &mem);
    assert_int_equal(cip_read_plan_make(cip_file_array(f, 0), NULL, CIP_AS_RAW, &p, NULL), CIP_OK);
    cip_parts_start(&it, &p, 60);
    assert_true(cip_parts_next(&it, &part) && part.nelem == 60);
    assert_false(cip_parts_next(&it, &part));
    cip_parts_start(&it, &p, 59);
    assert_true(cip_parts_next(&it, &part) && part.nelem == 40);
    assert_true(cip_parts_next(&it, &part) && part.nelem == 20 && part.start[0] == 2);
    cip_parts_start(&it, &p, 10);
    assert_true(cip_parts_next(&it, &part) && part.nelem == 10);
    assert_true(cip_parts_next(&it, &part) && part.start[1] == 2);
    cip_read_plan_clear(&p);
    assert_int_equal(cip_read_plan_make(cip_file_array(f, 0),
                                        CIP_READ_ARGS(.selection = "[:, 2:2]"), CIP_AS_RAW, &p,
                                        NULL),
                     CIP_OK);
    cip_parts_start(&it, &p, 10);
    assert_false(cip_parts_next(&it, &part));
    cip_read_plan_clear(&p);
    cip_file_close(f);
    free(mem);
}

static void pieces_are_eight_mebibytes(void **state)
{
    (void)state;
    assert_int_equal(cip_piece_elems(8), 1 << 20);
    assert_int_equal(cip_piece_elems(UINT64_C(1) << 40), 1);
    assert_int_equal(cip_piece_elems(0), 8 << 20);
}

static void the_error_names_the_array(void **state)
{
    (void)state;
    char *mem;
    cip_read_plan p;
    cip_err err = CIP_ERR_INIT;
    cip_file *f = test_open_asdf("deep: {a: !core/ndarray-1.1.0 [1, 2]}\n", &mem);
    assert_int_equal(cip_read_plan_make(cip_find(f, "deep/a", NULL),
                                        CIP_READ_ARGS(.selection = "[7]"), CIP_AS_RAW, &p, &err),
                     CIP_ERR_RANGE);
    assert_string_equal(err.part, "deep/a");
    cip_file_close(f);
    free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_come_in_c_order_and_cover_everything),
        cmocka_unit_test(parts_are_as_large_as_allowed),
        cmocka_unit_test(pieces_are_eight_mebibytes),
        cmocka_unit_test(the_error_names_the_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
