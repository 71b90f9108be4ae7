/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/frames_read.h"

#include "support/codec/frames_testing.h"

/* 3000 bytes 0, 1, 2, ... */
static void open_run(test_run *r, cip_frames *f, test_env *t, size_t fail_at)
{
    uint8_t b[3000];
    for (size_t i = 0; i < sizeof b; i++)
        b[i] = (uint8_t)(i * 7);
    *r = (test_run){ .fail_at = fail_at };
    test_run_add(r, b, sizeof b);
    test_env_open(t, 0, 0);
    *f = (cip_frames){ .mem = &t->mem,
                       .run = {
                           .read = test_run_read, .user = r, .len = sizeof b, .max_pieces = 100 } };
}

static void bytes_are_read_through_the_window(void **state)
{
    (void)state;
    test_run r;
    cip_frames f;
    test_env t;
    const uint8_t *p;
    open_run(&r, &f, &t, 0);
    for (size_t at = 0; at < 512; at += 4) { /* one window */
        assert_int_equal(cip_frames_get(&f, 4, &p, &t.err), CIP_OK);
        assert_memory_equal(p, r.ptr + at, 4);
        assert_int_equal(r.reads, 1);
    }
    assert_int_equal(cip_frames_get(&f, 4, &p, &t.err), CIP_OK);
    assert_int_equal(r.reads, 2);
    assert_memory_equal(p, r.ptr + 512, 4);
    /* What crosses its end is read anew. */
    assert_int_equal(cip_frames_skip(&f, 506, &t.err), CIP_OK);
    assert_int_equal(cip_frames_get(&f, 4, &p, &t.err), CIP_OK);
    assert_int_equal(r.reads, 3);
    assert_memory_equal(p, r.ptr + 1022, 4);
    /* A whole window, up to the run's end. */
    assert_int_equal(cip_frames_skip(&f, 3000 - 512 - f.at, &t.err), CIP_OK);
    assert_int_equal(cip_frames_get(&f, 512, &p, &t.err), CIP_OK);
    assert_memory_equal(p, r.ptr + 3000 - 512, 512);
    assert_int_equal(f.at, 3000);
    free(r.ptr);
    test_env_close(&t);
}

static void the_end_of_the_run_is_truncated(void **state)
{
    (void)state;
    test_run r;
    cip_frames f;
    test_env t;
    const uint8_t *p = NULL;
    open_run(&r, &f, &t, 0);
    assert_int_equal(cip_frames_skip(&f, 3001, &t.err), CIP_ERR_TRUNCATED);
    assert_int_equal(cip_frames_skip(&f, UINT64_MAX, &t.err), CIP_ERR_TRUNCATED);
    assert_int_equal(cip_frames_skip(&f, 2997, &t.err), CIP_OK);
    assert_int_equal(cip_frames_get(&f, 4, &p, &t.err), CIP_ERR_TRUNCATED);
    assert_string_equal(t.err.text, "expected 4 bytes at 2997 of the compressed data, found 3");
    assert_null(p);
    assert_int_equal(r.reads, 0);
    assert_int_equal(cip_frames_get(&f, 3, &p, &t.err), CIP_OK);
    assert_memory_equal(p, r.ptr + 2997, 3);
    assert_int_equal(cip_frames_skip(&f, 0, &t.err), CIP_OK);
    assert_int_equal(cip_frames_skip(&f, 1, &t.err), CIP_ERR_TRUNCATED);
    free(r.ptr);
    test_env_close(&t);
}

static void a_failing_read_is_passed_on(void **state)
{
    (void)state;
    test_run r;
    cip_frames f;
    test_env t;
    const uint8_t *p;
    open_run(&r, &f, &t, 2);
    assert_int_equal(cip_frames_get(&f, 4, &p, &t.err), CIP_OK);
    cip_frames_skip(&f, 1000, &t.err);
    assert_int_equal(cip_frames_get(&f, 4, &p, &t.err), CIP_ERR_IO);
    assert_string_equal(t.err.text, "the test's own fault");
    free(r.ptr);
    test_env_close(&t);
}

static void another_magic_is_corrupt(void **state)
{
    (void)state;
    test_run r;
    cip_frames f;
    test_env t;
    bool more;
    open_run(&r, &f, &t, 0);
    memcpy(r.ptr, "\x5f\x2a\x4d\x18\x02\0\0\0??\x60\x2a\x4d\x18", 14);
    assert_int_equal(cip_frames_next(&f, 0x11223344, &more, &t.err), CIP_ERR_CORRUPT);
    assert_string_equal(t.err.text,
                        "expected a frame's magic 11223344 at 10 of the compressed data, found "
                        "184d2a60");
    f.at = 0;
    assert_int_equal(cip_frames_next(&f, 0x184d2a60, &more, &t.err), CIP_OK);
    assert_true(more);
    assert_int_equal(f.at, 14);
    f.at = f.run.len;
    assert_int_equal(cip_frames_next(&f, 0x184d2a60, &more, &t.err), CIP_OK);
    assert_false(more);
    for (f.at = 8; f.at < 10; f.at = f.run.len - 3) { /* behind a frame it is none of the run */
        assert_int_equal(cip_frames_next(&f, 0x11223344, &more, &t.err), CIP_OK);
        assert_false(more);
    }
    free(r.ptr);
    test_env_close(&t);
}

/* Pieces are kept in growing memory; at every failure all of it is given back. */
static void pieces_that_do_not_fit_are_reported(void **state)
{
    (void)state;
    for (size_t fail = 1;; fail++) {
        test_env t;
        cip_frame_pieces out = { 0 };
        test_env_open(&t, fail, 0);
        cip_frames f = { .mem = &t.mem, .run.max_pieces = 100 };
        cip_status st = CIP_OK;
        for (uint64_t i = 0; st == CIP_OK && i < 100; i++)
            st = cip_frames_add(&f, (cip_frame_piece){ .off = i }, &t.err);
        if (st == CIP_OK)
            assert_int_equal(cip_frames_add(&f, (cip_frame_piece){ 0 }, &t.err), CIP_ERR_LIMIT);
        assert_int_equal(cip_frames_end(&f, st, &out), st);
        assert_int_equal(out.n, st == CIP_OK ? 100 : 0);
        for (uint64_t i = 0; i < out.n; i++)
            assert_int_equal(out.piece[i].off, i);
        cip_mem_put(&t.mem, out.piece);
        test_env_close(&t);
        if (t.alloc.requests < fail) {
            assert_int_equal(st, CIP_OK);
            assert_true(fail > 3 && fail < 10); /* it grows by doubling */
            break;
        }
        assert_int_equal(st, CIP_ERR_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_read_through_the_window),
        cmocka_unit_test(the_end_of_the_run_is_truncated),
        cmocka_unit_test(a_failing_read_is_passed_on),
        cmocka_unit_test(another_magic_is_corrupt),
        cmocka_unit_test(pieces_that_do_not_fit_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
