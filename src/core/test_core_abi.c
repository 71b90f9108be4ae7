/* SPDX-License-Identifier: BSD-3-Clause
 * Structs of the callers' that may grow: the last field ends where the struct does, as a new one
 * would otherwise come to lie in bytes that older programs never set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/core_testing.h"

#define ENDS_WITH(type, field)                                                                     \
    _Static_assert(offsetof(type, size) == 0 &&                                                    \
                       offsetof(type, field) + sizeof((type){ 0 }.field) == sizeof(type),          \
                   #type " ends in padding")

ENDS_WITH(cip_array_options, format_options);
ENDS_WITH(cip_blosc_params, block);
ENDS_WITH(cip_convert_options, at_end);
ENDS_WITH(cip_edit_options, reserved);
ENDS_WITH(cip_explode_options, user);
ENDS_WITH(cip_limits, reserved);
ENDS_WITH(cip_open_options, reserved);
ENDS_WITH(cip_read_args, user);
ENDS_WITH(cip_repair_options, user);
ENDS_WITH(cip_tree_print_options, reserved);
ENDS_WITH(cip_verify_options, user);
ENDS_WITH(cip_write_options, at_end);

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
