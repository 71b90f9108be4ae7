/* SPDX-License-Identifier: BSD-3-Clause
 * gzip members: there and back, one behind the other, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "codec/entropy/entropy.h"

enum { N = 1000 };

static uint8_t raw[N], back[2 * N], packed[4000];

static size_t encode(int level)
{
    cip_dst out = { packed, sizeof packed / 2, 0 };
    for (size_t i = 0; i < N; i++)
        raw[i] = (uint8_t)(i / 7);
    assert_int_equal(cip_codec_gzip.encode(NULL, NULL, level, (cip_bytes){ raw, N }, &out, NULL),
                     CIP_OK);
    return out.len;
}

static cip_status decode(size_t n, size_t len)
{
    return cip_codec_gzip.decode(NULL, NULL, (cip_bytes){ packed, n }, back, len, NULL);
}

static void members_come_back(void **state)
{
    (void)state;
    for (int level = 0; level <= 12; level += 4) {
        const size_t n = encode(level);
        assert_int_equal(packed[0], 0x1f);
        assert_int_equal(decode(n, N), CIP_OK);
        assert_memory_equal(back, raw, N);
        memcpy(packed + n, packed, n);
        assert_int_equal(decode(2 * n, 2 * N), CIP_OK);
        assert_memory_equal(back + N, raw, N);
    }
}

static void other_lengths_and_damage_are_corrupt(void **state)
{
    (void)state;
    const size_t n = encode(0);
    assert_int_equal(decode(n, N - 1), CIP_ERR_CORRUPT);
    assert_int_equal(decode(n, N + 1), CIP_ERR_CORRUPT);
    for (size_t cut = 0; cut < n; cut++)
        assert_int_equal(decode(cut, N), CIP_ERR_CORRUPT);
    packed[n - 6] ^= 1; /* of the checksum */
    assert_int_equal(decode(n, N), CIP_ERR_CORRUPT);
}

static void levels_and_room_are_checked(void **state)
{
    (void)state;
    cip_dst out = { packed, 10, 0 };
    assert_int_equal(cip_codec_gzip.level(13, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_codec_gzip.level(0, NULL), CIP_OK);
    assert_int_equal(cip_codec_gzip.encode(NULL, NULL, 6, (cip_bytes){ raw, N }, &out, NULL),
                     CIP_ERR_RANGE);
    assert_true(cip_codec_gzip.bound(N) > N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_back),
        cmocka_unit_test(other_lengths_and_damage_are_corrupt),
        cmocka_unit_test(levels_and_room_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
