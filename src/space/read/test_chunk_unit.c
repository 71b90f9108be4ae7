/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks whose codec decodes them in units: a small part decodes its unit, which is kept when it is
 * asked for a third time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/space/chunk_testing.h"

static uint64_t unit_len = 4;

/* Units of so many bytes, stored one more than they are; counts those that are decoded. */
static cip_status all_needs(const void *args, const cip_codec_env *env, cip_bytes head,
                            const cip_wants *w, cip_needs *out, cip_err *err)
{
    (void)args, (void)env, (void)err;
    assert_true(head.len >= 2);
    out->at[out->n++] = (cip_need){ 0, w->raw_len };
    out->unit = w->at->off / unit_len * unit_len;
    out->unit_end = out->unit + unit_len < w->raw_len ? out->unit + unit_len : w->raw_len;
    return CIP_OK;
}

static cip_status minus_one_spans(const void *args, const cip_codec_env *env, const cip_stored *src,
                                  const cip_wants *w, cip_err *err)
{
    (void)args, (void)env, (void)err;
    ndecode++;
    for (size_t i = 0; i < w->n; i++)
        for (size_t k = 0; k < w->at[i].len; k++)
            w->at[i].dst[k] = (uint8_t)(src->ptr[0][w->at[i].off + k] - 1);
    return CIP_OK;
}

static const cip_codec fours = { .name = "fours",

                                 .head_len = 2,
                                 .needs = all_needs,
                                 .decode_spans = minus_one_spans };

static void a_unit_is_kept_when_a_part_of_it_is_asked_for_often(void **state)
{
    (void)state;
    const cip_chunk c = { .at = in_file("BCDEFGHIJK", 10), .raw_len = 10 };
    uint8_t b[5];
    cip_space *s = chunked(&c, 1, 10, &fours);
    ndecode = 0;
    for (uint64_t at = 0; at < 10; at++) {
        assert_int_equal(read_at(s, at, b, 1, NULL), CIP_OK);
        assert_int_equal(b[0], 'A' + at);
        assert_int_equal(ndecode, at / 4 * 3 + (at % 4 < 3 ? at % 4 + 1 : 3));
    }
    assert_int_equal(read_at(s, 6, b, 2, NULL), CIP_OK); /* half of one */
    assert_memory_equal(b, "GH", 2);
    assert_int_equal(ndecode, 8);
    assert_int_equal(read_at(s, 5, b, 3, NULL), CIP_OK); /* more than half */
    assert_memory_equal(b, "FGH", 3);
    assert_int_equal(ndecode, 9);
    assert_int_equal(read_at(s, 3, b, 2, NULL), CIP_OK); /* of two */
    assert_memory_equal(b, "DE", 2);
    assert_int_equal(ndecode, 10);
}

/* Another revision of the file may lie there by the next read. */
static void a_unit_is_taken_from_the_cache_only_as_long_as_it_is_now(void **state)
{
    (void)state;
    const cip_chunk c = { .at = in_file("BCDEFGHIJKLMNOPQ", 16), .raw_len = 16 };
    static const uint8_t unit[] = { 16, 4, 8 }, at[] = { 13, 2, 7 };
    uint8_t b[1];
    cip_space *s = chunked(&c, 1, 16, &fours);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(read_at(s, 1, b, 1, NULL), CIP_OK);
    for (size_t i = 0; i < 3; i++) {
        unit_len = unit[i];
        assert_int_equal(read_at(s, at[i], b, 1, NULL), CIP_OK);
        assert_int_equal(b[0], 'A' + at[i]);
    }
    unit_len = 4;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_unit_is_kept_when_a_part_of_it_is_asked_for_often),
        TEST(a_unit_is_taken_from_the_cache_only_as_long_as_it_is_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
