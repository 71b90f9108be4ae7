/* SPDX-License-Identifier: BSD-3-Clause
 * Windows into compressed data that are too large to keep: by checkpoints, by decoders kept open,
 * by both, from many threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <zlib.h>

#include "space/read/reader.h"
#include "support/fake/fake.h"

enum { LEN = 300000, GAP = 2000, JUMP = 500 };

static fake f;
static cip_tuning tune;
static uint8_t raw[LEN], coded[2 * LEN];

/* zlib that counts the stored bytes it takes. */
static _Atomic uint64_t taken;
static cip_stream_codec counting;
static cip_codec counted;

static cip_status step_counted(void *state, cip_flow *io, cip_err *err)
{
    cip_status st = cip_codec_find("zlib")->stream->step(state, io, err);
    atomic_fetch_add(&taken, io->took);
    return st;
}

/* Half of it repeats what was. */
static void make_raw(void)
{
    uint32_t x = 1;
    for (size_t i = 0; i < LEN; i++) {
        x = x * 1664525u + 1013904223u;
        raw[i] = i > 4000 && (x >> 30) < 2 ? raw[i - 3000] : (uint8_t)('a' + (x >> 24) % 9);
    }
}

/* A cache so small that nothing is kept whole. */
static void open_fake(uint64_t checkpoint_bytes)
{
    cip_limits l = CIP_LIMITS_INIT;
    l.max_cache = 1024;
    fake_open(&f, 1, NULL, &l);
    tune = cip_tuning_default;
    tune.checkpoint_gap = GAP;
    tune.checkpoint_jump = JUMP;
    tune.seq_in = 700;
    tune.seq_skip = 900;
    f.layout->tuning = &tune;
    cip_checkpoints_free(f.layout->checkpoints);
    assert_int_equal(
        cip_checkpoints_new(f.layout->env, checkpoint_bytes, GAP, &f.layout->checkpoints, NULL),
        CIP_OK);
}

static int setup(void **state)
{
    (void)state;
    make_raw();
    counting = *cip_codec_find("zlib")->stream;
    counting.step = step_counted;
    counted = *cip_codec_find("zlib");
    counted.stream = &counting;
    open_fake(4 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_close(&f);
    return 0;
}

/* mem_level 1: a block each few hundred bytes; 9 and no more than 32,000 bytes: just one. */
static cip_space *space_of(size_t len, int level, int mem_level, int strategy)
{
    z_stream z = {
        .next_in = raw, .avail_in = (uInt)len, .next_out = coded, .avail_out = sizeof coded
    };
    cip_step step = { .codec = &counted };
    cip_space *s;
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 15, mem_level, strategy), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    cip_extent at = { f.layout->file, fake_append(&f, coded, z.total_out), z.total_out };
    assert_int_equal(cip_space_new_seq(f.layout, &at, len, &step, &s, NULL), CIP_OK);
    return s;
}

static cip_status read_at(cip_space *s, uint64_t off, uint8_t *dst, size_t n)
{
    cip_read_how how = { .layout = f.layout };
    return cip_space_read_at(&how, s, off, dst, n, NULL);
}

static void assert_window(cip_space *s, uint64_t off, size_t n)
{
    uint8_t out[512];
    assert_int_equal(read_at(s, off, out, n), CIP_OK);
    assert_memory_equal(out, raw + off, n);
}

static void windows_at_every_place_are_right(void **state)
{
    (void)state;
    const int kind[][3] = { { 6, 1, Z_DEFAULT_STRATEGY },
                            { 0, 8, Z_DEFAULT_STRATEGY },
                            { 6, 1, Z_FIXED } };
    for (size_t k = 0; k < 3; k++) {
        cip_space *s = space_of(40000, kind[k][0], kind[k][1], kind[k][2]);
        assert_window(s, 40000 - 20, 20); /* all checkpoints are made */
        for (uint64_t i = 0; i + 100 <= 40000; i += 37)
            assert_window(s, i * 7919 % (40000 - 100), 100);
    }
    assert_true(cip_checkpoints_count(f.layout->checkpoints, NULL) >= 12);
}

static void one_block_alone_is_decoded_on(void **state)
{
    (void)state;
    cip_space *s = space_of(16000, 9, 9, Z_DEFAULT_STRATEGY);
    assert_window(s, 15000, 100);
    assert_int_equal(cip_checkpoints_count(f.layout->checkpoints, NULL), 0);
    assert_window(s, 2000, 100);
    assert_window(s, 15000, 100);
}

/* How many stored bytes a window took. */
static uint64_t read_by(cip_space *s, uint64_t off)
{
    taken = 0;
    assert_window(s, off, 100);
    return taken;
}

static void a_later_window_begins_at_a_checkpoint_and_nothing_behind_it_is_read(void **state)
{
    (void)state;
    cip_space *s = space_of(LEN, 6, 1, Z_DEFAULT_STRATEGY);
    uint64_t cold = read_by(s, LEN / 2);
    assert_true(cold > s->sub.len / 3 && cold < s->sub.len * 2 / 3); /* an early stop */
    assert_true(read_by(s, LEN / 4) < s->sub.len / 20);
    assert_true(read_by(s, LEN / 8) < s->sub.len / 20);
    assert_true(read_by(s, LEN / 2 - 300) < s->sub.len / 20);
    assert_true(read_by(s, LEN - 200) > s->sub.len / 3); /* not decoded yet */
    assert_true(read_by(s, LEN - 5000) < s->sub.len / 20);
}

static void rows_far_apart_are_reached_from_mark_to_checkpoint(void **state)
{
    (void)state;
    cip_space *s = space_of(LEN, 6, 1, Z_DEFAULT_STRATEGY);
    cip_read_how how = { .layout = f.layout };
    uint8_t out[10][50];
    cip_want want[10];
    assert_window(s, LEN - 100, 100);
    for (size_t i = 0; i < 10; i++)
        want[i] = (cip_want){ 20000 * i + 777, 50, out[i] };
    taken = 0;
    assert_int_equal(cip_space_read(&how, s, want, 10, NULL), CIP_OK);
    assert_true(taken < s->sub.len / 4);
    for (size_t i = 0; i < 10; i++)
        assert_memory_equal(out[i], raw + want[i].off, 50);
}

static void the_bound_on_memory_holds(void **state)
{
    (void)state;
    fake_close(&f);
    open_fake(200 << 10);
    cip_space *s = space_of(LEN, 6, 1, Z_DEFAULT_STRATEGY);
    assert_window(s, LEN - 100, 100);
    assert_true(cip_checkpoints_nbytes(f.layout->checkpoints) <= 200 << 10);
    assert_true(cip_checkpoints_count(f.layout->checkpoints, NULL) >= 3);
    for (uint64_t i = 0; i < 60; i++)
        assert_window(s, i * 4999 % (LEN - 100), 100);
}

static void data_in_data_in_order_have_checkpoints_too(void **state)
{
    (void)state;
    cip_space *inner = space_of(LEN, 0, 8, Z_DEFAULT_STRATEGY), *outer;
    static uint8_t twice[2 * LEN];
    uLongf n = sizeof twice;
    assert_int_equal(compress2(twice, &n, coded, (uLong)inner->sub.len, 6), Z_OK);
    cip_step step = { .codec = cip_codec_find("zlib") };
    cip_extent at = { f.layout->file, fake_append(&f, twice, n), n };
    assert_int_equal(cip_space_new_seq(f.layout, &at, inner->sub.len, &step, &outer, NULL), CIP_OK);
    at = (cip_extent){ outer, 0, outer->len };
    assert_int_equal(cip_space_new_seq(f.layout, &at, LEN, &step, &inner, NULL), CIP_OK);
    assert_window(inner, LEN - 100, 100);
    for (uint64_t i = 0; i < 40; i++)
        assert_window(inner, i * 7919 % (LEN - 100), 100);
}

static void damage_before_a_checkpoint_does_not_hide_the_window(void **state)
{
    (void)state;
    cip_space *s = space_of(LEN, 6, 1, Z_DEFAULT_STRATEGY);
    uint8_t out[100];
    f.file[s->sub.off + s->sub.len - 2] ^= 0x55; /* in the Adler-32 */
    assert_int_equal(read_at(s, LEN - 100, out, 100), CIP_ERR_CHECKSUM);
    assert_window(s, LEN / 2, 100);
}

enum { NTHREAD = 4 };

static void *read_many(void *arg)
{
    cip_space *s = *(cip_space **)arg;
    uint8_t out[100];
    size_t bad = 0;
    for (uint64_t i = 0; i < 25; i++) {
        uint64_t off = (i * 7919 + (uintptr_t)&out / 64 * 997) % (LEN - 100);
        bad += read_at(s, off, out, 100) != CIP_OK || memcmp(out, raw + off, 100) != 0;
    }
    return (void *)bad;
}

static void many_threads_share_the_checkpoints(void **state)
{
    (void)state;
    pthread_t thread[NTHREAD];
    cip_space *s = space_of(LEN, 6, 1, Z_DEFAULT_STRATEGY);
    for (size_t i = 0; i < NTHREAD; i++)
        pthread_create(&thread[i], NULL, read_many, &s);
    for (size_t i = 0; i < NTHREAD; i++) {
        void *bad;
        pthread_join(thread[i], &bad);
        assert_null(bad);
    }
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(windows_at_every_place_are_right),
        TEST(one_block_alone_is_decoded_on),
        TEST(a_later_window_begins_at_a_checkpoint_and_nothing_behind_it_is_read),
        TEST(rows_far_apart_are_reached_from_mark_to_checkpoint),
        TEST(the_bound_on_memory_holds),
        TEST(data_in_data_in_order_have_checkpoints_too),
        TEST(damage_before_a_checkpoint_does_not_hide_the_window),
        TEST(many_threads_share_the_checkpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
