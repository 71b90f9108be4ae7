/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/entropy/entropy.h"

#include <limits.h>
#include <sys/mman.h>

#include "support/codec/codec_testing.h"
#include "support/needs.h"

static void a_step_without_progress_is_truncated_only_at_the_end(void **state)
{
    (void)state;
    static const struct {
        cip_flow f;
        cip_status st;
    } c[] = {
        { { .last = true, .out_len = 1 }, CIP_ERR_TRUNCATED },
        { { .last = false, .out_len = 1 }, CIP_OK },
        { { .last = true, .out_len = 0 }, CIP_OK },
        { { .last = true, .out_len = 1, .took = 1 }, CIP_OK },
        { { .last = true, .out_len = 1, .gave = 1 }, CIP_OK },
        { { .last = true, .out_len = 1, .end = true }, CIP_OK },
    };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        cip_err err = CIP_ERR_INIT;
        assert_int_equal(cip_step_end(&c[i].f, &err), c[i].st);
        assert_int_equal(err.code, c[i].st);
    }
}

static void a_librarys_memory_is_counted_and_its_failures_told(void **state)
{
    (void)state;
    test_env t;
    test_env_open(&t, 0, 1000);
    cip_lib_mem m = { .mem = &t.mem };
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_lib_fail(&m, &err), CIP_ERR_NOMEM); /* none of ours failed */
    assert_int_equal(err.code, CIP_ERR_NOMEM);
    void *p = cip_lib_get(&m, 10, 20);
    assert_non_null(p);
    assert_true(t.mem.used >= 200);
    memset(p, 1, 200);
    assert_null(cip_lib_get(&m, 1, 1000));
    assert_int_equal(cip_lib_fail(&m, &err), CIP_ERR_LIMIT);
    assert_int_equal(err.code, CIP_ERR_LIMIT);
    assert_int_equal(cip_lib_fail(&m, NULL), CIP_ERR_LIMIT);
    assert_null(cip_lib_get(&m, SIZE_MAX / 2, 3));
    assert_int_equal(cip_lib_fail(&m, &err), CIP_ERR_LIMIT);
    cip_mem_put(&t.mem, p);
    test_env_close(&t);
    test_env_open(&t, 1, 1000);
    assert_null(cip_lib_get(&m, 10, 20));
    assert_int_equal(cip_lib_fail(&m, &err), CIP_ERR_NOMEM);
    test_env_close(&t);
}

static void levels_are_checked_at_both_ends(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_check_level(-2, -2, 5, NULL), CIP_OK);
    assert_int_equal(cip_check_level(5, -2, 5, NULL), CIP_OK);
    assert_int_equal(cip_check_level(-3, -2, 5, &err), CIP_ERR_ARG);
    assert_int_equal(cip_check_level(6, -2, 5, &err), CIP_ERR_ARG);
    assert_string_equal(err.text, "expected a level from -2 to 5, found 6");
}

static void pieces_for_32_bits_end_where_they_end(void **state)
{
    (void)state;
    assert_int_equal(cip_piece32(0), 0);
    assert_int_equal(cip_piece32(77), 77);
    assert_int_equal(cip_piece32(UINT32_MAX), UINT32_MAX);
    assert_int_equal(cip_piece32((size_t)UINT32_MAX + 1), UINT32_MAX);
}

/* A 32-bit count would make nothing of 2^32 bytes of input or room. */
static void four_gib_in_a_step_are_no_surprise(void **state)
{
    (void)state;
    static const char *const names[] = { "zlib", "bzip2", "lz4f", "zstd" };
    size_t big = (size_t)1 << 32;
    uint8_t *in =
        mmap(NULL, big, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint8_t *out =
        mmap(NULL, big, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    SKIP_UNLESS(in != MAP_FAILED && out != MAP_FAILED, "no 4 GiB of addresses");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const cip_codec *c = cip_codec_find(names[i]);
        if (!cip_codec_available(c))
            continue;
        size_t len;
        test_env t;
        void *s;
        cip_flow f = { .in = in, .in_len = big, .last = true, .out = out, .out_len = big };
        uint8_t *coded = test_encode(c, 0, "some data", 9, &len);
        memcpy(in, coded, len);
        if (i >= 2) /* nothing may follow frames, but a skippable one */
            memcpy(in + len, "\x50\x2a\x4d\x18\x10\xff\xff\xff", 8);
        assert_int_equal(c->stream->begin(NULL, test_env_open(&t, 0, 0), &s, &t.err), CIP_OK);
        assert_int_equal(c->stream->step(s, &f, &t.err), CIP_OK);
        assert_true(f.took >= len);
        assert_int_equal(f.gave, 9);
        assert_memory_equal(out, "some data", 9);
        c->stream->finish(s);
        test_env_close(&t);
        free(coded);
    }
    munmap(in, big);
    munmap(out, big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_without_progress_is_truncated_only_at_the_end),
        cmocka_unit_test(a_librarys_memory_is_counted_and_its_failures_told),
        cmocka_unit_test(levels_are_checked_at_both_ends),
        cmocka_unit_test(pieces_for_32_bits_end_where_they_end),
        cmocka_unit_test(four_gib_in_a_step_are_no_surprise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
