/* SPDX-License-Identifier: BSD-3-Clause
 * Structs of callers that were built with another version of the headers (see scripts/abi.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/core_testing.h"

/* The answer goes into as much of the struct as the caller's version has. */
static void older_structs_are_filled_as_far_as_they_go(void **state)
{
    (void)state;
    const uint8_t three[] = { 1, 0, 2 };
    char *mem;
    cip_file *f = test_open_npy("'|u1'", "(3,)", three, sizeof three, &mem);
    cip_array_storage storage = { .size = offsetof(cip_array_storage, chunk), .block = 77 };
    cip_stats stats = { .size = offsetof(cip_stats, min), .max = 77 };
    cip_err err = CIP_ERR_INIT;
    const cip_array *a = cip_find(f, "", &err);
    assert_int_equal(cip_array_get_storage(a, &storage, &err), CIP_OK);
    assert_string_equal(storage.codec, "none");
    assert_int_equal(storage.block, 77);
    assert_int_equal(cip_stat(a, NULL, &stats, &err), CIP_OK);
    assert_true(stats.nelem == 3 && stats.nzero == 1 && stats.max == 77);
    storage.size = stats.size = 0;
    assert_int_equal(cip_array_get_storage(a, &storage, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_stat(a, NULL, &stats, NULL), CIP_ERR_ARG);
    cip_file_close(f);
    free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_structs_are_filled_as_far_as_they_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
