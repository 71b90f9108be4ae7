/* SPDX-License-Identifier: BSD-3-Clause
 * Every cut and every changed byte of short frames. The longer ones of the corpus and those put
 * together elsewhere are sampled by test_blosc2_frame.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blosc2/blosc2_every_testing.h"

static void damage(const b2_make *m)
{
    b2_bytes b = b2_build(m);
    b2_damage(b2_try_frame, NULL, b.ptr, b.len);
    free(b.ptr);
}

static void a_plain_frame(void **state)
{
    (void)state;
    damage(&(b2_make){ .typesize = 2, .chunksize = 4, .nchunk = 2, .short_heads = true });
}

static void a_frame_with_vlmetalayers(void **state)
{
    (void)state;
    b2_make m = { .typesize = 1, .chunksize = 2, .nchunk = 1, .short_heads = true };
    b2_bytes value = { malloc(B2_CAP), 0 };
    b2_chunk(&value, (const uint8_t *)"\x81\xa1x\x2a", 4, 1, true);
    m.vl_name[0] = "k";
    m.vl[0] = value.ptr;
    m.vl_len[0] = value.len;
    damage(&m);
    free(value.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_frame),
        cmocka_unit_test(a_frame_with_vlmetalayers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
