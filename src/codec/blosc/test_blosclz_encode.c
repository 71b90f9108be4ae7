/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/blosc/blosc.h"

enum { LARGE = 200000, FARTHEST = 65535 + 8191 - 1 };

static uint32_t table[CIP_BLOSCLZ_TABLE];

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* What the tokens of a stream are. */
typedef struct tokens {
    size_t nmatch, nfar, longest, farthest;
    bool literals_last;
} tokens;

/* Walks a stream by its own reading of the sheet, section 5.2. */
static tokens walk(const uint8_t *s, size_t n)
{
    tokens t = { 0 };
    assert_int_equal(s[0] & 0xe0, 0x20); /* literals, and the mark */
    uint8_t ctrl = s[0] & 31;
    for (size_t i = 1;; ctrl = s[i++]) {
        if (ctrl < 32) {
            i += ctrl + 1u;
        } else {
            size_t len = (ctrl >> 5) - 1u, high = ctrl & 31u, d;
            if (len == 6)
                do
                    len += s[i];
                while (s[i++] == 255);
            d = (high << 8 | s[i++]) + 1;
            if (d == 8192) {
                d = (size_t)(s[i] << 8 | s[i + 1]) + 8192;
                i += 2;
                t.nfar++;
            }
            t.nmatch++;
            t.longest = len + 3 > t.longest ? len + 3 : t.longest;
            t.farthest = d > t.farthest ? d : t.farthest;
        }
        assert_true(i <= n);
        t.literals_last = ctrl < 32;
        if (i == n)
            return t;
    }
}

/* Encodes into a buffer of just `cap` bytes; what came is walked and decoded again. */
static size_t round_trip(int level, const uint8_t *src, size_t n, size_t cap, tokens *t)
{
    uint8_t *in = malloc(n + (n == 0)), *out = malloc(cap + (cap == 0)), *back = malloc(n + 1);
    size_t len = 99, got = 0;
    memcpy(in, src, n);
    cip_blosclz_encode(level, (cip_bytes){ in, n }, table, out, cap, &len);
    assert_true(len <= cap);
    if (len != 0) {
        *t = walk(out, len);
        assert_true(t->literals_last);
        assert_int_equal(cip_blosclz_decode((cip_bytes){ out, len }, back, n, &got, NULL), CIP_OK);
        assert_int_equal(got, n);
        assert_memory_equal(back, src, n);
    }
    free(in);
    free(out);
    free(back);
    return len;
}

static void short_streams_of_all_lengths_come_back(void **state)
{
    (void)state;
    uint8_t v[400];
    uint32_t seed = 1;
    tokens t;
    for (size_t n = 0; n < sizeof v; n++)
        for (int kind = 0; kind < 4; kind++) {
            for (size_t i = 0; i < n; i++)
                v[i] = kind == 0   ? 7
                       : kind == 1 ? (uint8_t)(i % 5)
                       : kind == 2 ? (uint8_t)(next_random(&seed) % 3)
                                   : (uint8_t)next_random(&seed);
            size_t len = round_trip(1 + (int)(n % 9), v, n, n + 1, &t);
            if (n < 16)
                assert_int_equal(len, 0);
            else if (kind < 2)
                assert_in_range(len, 1, 16);
        }
}

static void long_streams_come_back_at_every_level(void **state)
{
    (void)state;
    uint8_t *v = malloc(LARGE);
    uint32_t seed = 2;
    tokens t = { 0 };
    for (size_t i = 0; i < LARGE;) { /* pieces seen before, near and far, and new bytes */
        size_t len = 4 + next_random(&seed) % 40, back = next_random(&seed);
        back = 1 + back % (back % 3 != 0 ? 5000 : 90000);
        for (; len > 0 && i < LARGE; len--, i++)
            v[i] = back <= i && back % 8 != 0 ? v[i - back] : (uint8_t)next_random(&seed);
    }
    size_t fast = 0;
    for (int level = 1; level <= 9; level++) {
        size_t len = round_trip(level, v, LARGE, LARGE, &t);
        assert_in_range(len, 1, LARGE / 2);
        assert_true(t.farthest <= FARTHEST && t.nfar != 0 && t.nmatch > t.nfar);
        fast = level == 1 ? len : fast;
    }
    assert_true(round_trip(9, v, LARGE, LARGE, &t) < fast);
    free(v);
}

/* Bytes that are found again `distance` bytes later, and zeros. */
static bool finds_at(size_t distance)
{
    size_t n = distance + 60;
    uint8_t *v = calloc(n, 1);
    uint32_t seed = 3;
    tokens t = { 0 };
    for (size_t i = 20; i < 40; i++)
        v[i] = v[i + distance] = (uint8_t)next_random(&seed);
    assert_true(round_trip(9, v, n, n, &t) != 0);
    free(v);
    assert_true(t.farthest <= distance);
    return t.farthest == distance;
}

static void the_far_form_begins_and_ends_where_it_should(void **state)
{
    (void)state;
    assert_true(finds_at(100));
    assert_true(finds_at(8190));
    assert_true(finds_at(8191));
    assert_true(finds_at(8192));
    assert_true(finds_at(8193));
    assert_true(finds_at(FARTHEST));
    assert_false(finds_at(FARTHEST + 1));
}

static void lengths_around_their_extra_bytes_come_back(void **state)
{
    (void)state;
    uint8_t v[1200];
    tokens t = { 0 };
    for (size_t n = 16; n < sizeof v; n++) {
        memset(v, 9, n);
        assert_in_range(round_trip(5, v, n, n, &t), 6, 12);
        assert_in_range(t.longest, n - 3, n - 2);
    }
}

static void what_does_not_fit_is_said_to(void **state)
{
    (void)state;
    uint8_t v[3000];
    uint32_t seed = 4;
    tokens t;
    for (size_t i = 0; i < sizeof v; i++)
        v[i] = (uint8_t)(next_random(&seed) % 5);
    size_t whole = round_trip(5, v, sizeof v, sizeof v, &t);
    assert_true(whole != 0);
    for (size_t cap = 0; cap < whole; cap += cap < 40 ? 1 : 13)
        assert_int_equal(round_trip(5, v, sizeof v, cap, &t), 0);
    assert_int_equal(round_trip(5, v, sizeof v, whole, &t), whole);
    for (size_t i = 0; i < sizeof v; i++)
        v[i] = (uint8_t)next_random(&seed);
    assert_int_equal(round_trip(5, v, sizeof v, sizeof v - 1, &t), 0);
}

static void what_was_in_the_table_does_not_matter(void **state)
{
    (void)state;
    uint8_t v[5000], a[5000], b[5000];
    uint32_t seed = 5;
    size_t na, nb;
    for (size_t i = 0; i < sizeof v; i++)
        v[i] = (uint8_t)(next_random(&seed) % 4);
    memset(table, 0xff, sizeof table);
    cip_blosclz_encode(7, (cip_bytes){ v, sizeof v }, table, a, sizeof a, &na);
    cip_blosclz_encode(7, (cip_bytes){ v, sizeof v }, table, b, sizeof b, &nb);
    assert_int_equal(na, nb);
    assert_memory_equal(a, b, na);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_streams_of_all_lengths_come_back),
        cmocka_unit_test(long_streams_come_back_at_every_level),
        cmocka_unit_test(the_far_form_begins_and_ends_where_it_should),
        cmocka_unit_test(lengths_around_their_extra_bytes_come_back),
        cmocka_unit_test(what_does_not_fit_is_said_to),
        cmocka_unit_test(what_was_in_the_table_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
