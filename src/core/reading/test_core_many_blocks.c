/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks as blocks: all of a file that has many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"

static void all_of_many_chunks_are_listed(void **state)
{
    (void)state;
    enum { N = 20000 };
    static uint8_t data[N];
    const int64_t shape[] = { N };
    cip_memory *m;
    cip_change *w;
    cip_file *f;
    size_t n;
    uint8_t last = 0;
    for (int i = 0; i < N; i++)
        data[i] = (uint8_t)(1 + i % 7);
    OK(cip_create_memory("a.b2nd", NULL, &m, &w, err));
    OK(cip_change_put(w, "", cip_dtype_of(CIP_U8), 1, shape, data,
                      CIP_ARRAY_OPTIONS(.chunk = { 1 }), err));
    OK(cip_change_commit(&w, err));
    const void *bytes = cip_memory_bytes(m, &n);
    OK(cip_open_memory(bytes, n, NULL, &f, err));
    assert_int_equal(cip_file_nblock(f), N);
    assert_non_null(cip_file_block(f, N - 1));
    OK(cip_block_read(f, N - 1, false, 0, &last, 1, err));
    assert_int_equal(last, data[N - 1]);
    cip_file_close(f);
    cip_memory_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_many_chunks_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
