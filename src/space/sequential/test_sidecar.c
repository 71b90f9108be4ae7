/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/endian.h"
#include "space/read/reader.h"
#include "space/sequential/sidecar.h"
#include "support/fake/fake.h"

enum { LEN = 20000, GAP = 2000, HEAD = 40, SPACE = 40, SUM = 16 };

static uint8_t raw[LEN], coded[2 * LEN];
static size_t ncoded;

/* A file of one block, decoded by what checkpoints there are; nothing is kept whole. */
typedef struct kit {
    fake f;
    cip_space *s;
} kit;

static void kit_open(kit *k, const char *codec)
{
    cip_limits l = CIP_LIMITS_INIT;
    l.max_cache = 1024;
    fake_open(&k->f, 1, NULL, &l);
    k->f.tuning.checkpoint_jump = 100;
    cip_checkpoints_free(k->f.layout->checkpoints);
    assert_int_equal(cip_checkpoints_new(&k->f.env, 1 << 20, GAP, &k->f.layout->checkpoints, NULL),
                     CIP_OK);
    cip_step step = { .codec = cip_codec_find(codec) };
    cip_extent at = { k->f.layout->file, fake_append(&k->f, coded, ncoded), ncoded };
    assert_int_equal(cip_space_new_seq(k->f.layout, &at, LEN, &step, &k->s, NULL), CIP_OK);
}

static int setup(void **state)
{
    (void)state;
    uint32_t x = 1;
    for (size_t i = 0; i < LEN; i++) {
        x = x * 1664525u + 1013904223u;
        raw[i] = i > 3000 && (x >> 30) < 2 ? raw[i - 2900] : (uint8_t)('a' + (x >> 24) % 9);
    }
    z_stream z = { .next_in = raw, .avail_in = LEN, .next_out = coded, .avail_out = sizeof coded };
    deflateInit2(&z, 6, Z_DEFLATED, 15, 1, Z_DEFAULT_STRATEGY);
    deflate(&z, Z_FINISH);
    ncoded = z.total_out;
    deflateEnd(&z);
    return 0;
}

static cip_status read_at(kit *k, uint64_t off, uint8_t out[100])
{
    return cip_space_read_at(&k->f.how, k->s, off, out, 100, NULL);
}

static void assert_window(kit *k, uint64_t off)
{
    uint8_t out[100];
    assert_int_equal(read_at(k, off, out), CIP_OK);
    assert_memory_equal(out, raw + off, 100);
}

/* The file of checkpoints after reading to the end; free it. */
static uint8_t *made(size_t *n)
{
    kit k;
    kit_open(&k, "zlib");
    cip_layout *l = k.f.layout;
    assert_int_equal(cip_sidecar_new(&k.f.env, &l->sidecar, NULL), CIP_OK);
    assert_false(cip_sidecar_has_news(l->sidecar, l));
    assert_window(&k, LEN - 200);
    assert_true(cip_sidecar_has_news(l->sidecar, l));
    assert_true(cip_checkpoints_count(l->checkpoints, NULL) >= 5);
    cip_buf b = { .mem = &k.f.env.mem };
    assert_int_equal(cip_sidecar_encode(&k.f.how, FAKE_FILE_MAX, &b, NULL), CIP_OK);
    uint8_t *copy = malloc(b.len);
    memcpy(copy, b.ptr, *n = b.len);
    cip_buf_clear(&b);
    fake_close(&k.f);
    return copy;
}

static cip_status load(kit *k, const uint8_t *p, size_t n)
{
    cip_io *io;
    assert_int_equal(cip_io_open_memory(&k->f.env, p, n, "checkpoints", &io, NULL), CIP_OK);
    cip_sidecar_free(k->f.layout->sidecar);
    cip_status st = cip_sidecar_load(&k->f.env, io, FAKE_FILE_MAX, &k->f.layout->sidecar, NULL);
    cip_io_close(io);
    return st;
}

static void seal(uint8_t *p, size_t n)
{
    cip_mem mem;
    cip_sum *sum;
    cip_mem_init(&mem, NULL, 0);
    assert_int_equal(cip_sum_new(&mem, CIP_SUM_XXH3_128, &sum, NULL), CIP_OK);
    cip_sum_add(sum, p, n - SUM);
    cip_sum_take(sum, p + n - SUM);
    cip_sum_free(sum);
}

static void checkpoints_of_another_run_are_used_as_far_as_is_read(void **state)
{
    (void)state;
    size_t n;
    uint8_t *file = made(&n);
    kit k;
    kit_open(&k, "zlib");
    assert_int_equal(load(&k, file, n), CIP_OK);
    assert_int_equal(cip_checkpoints_count(k.f.layout->checkpoints, NULL), 0);
    assert_window(&k, LEN / 2);
    size_t half = cip_checkpoints_count(k.f.layout->checkpoints, NULL);
    assert_true(half >= 2);
    assert_window(&k, LEN - 200);
    assert_true(cip_checkpoints_count(k.f.layout->checkpoints, NULL) > half);
    assert_false(cip_sidecar_has_news(k.f.layout->sidecar, k.f.layout));
    cip_buf again = { .mem = &k.f.env.mem };
    assert_int_equal(cip_sidecar_encode(&k.f.how, FAKE_FILE_MAX, &again, NULL), CIP_OK);
    assert_int_equal(again.len, n);
    assert_memory_equal(again.ptr, file, n);
    cip_buf_clear(&again);
    fake_close(&k.f);
    free(file);
}

static void a_block_that_was_not_read_keeps_its_checkpoints(void **state)
{
    (void)state;
    size_t n;
    uint8_t *file = made(&n);
    kit k;
    kit_open(&k, "zlib");
    assert_int_equal(load(&k, file, n), CIP_OK);
    cip_buf again = { .mem = &k.f.env.mem };
    assert_int_equal(cip_sidecar_encode(&k.f.how, FAKE_FILE_MAX, &again, NULL), CIP_OK);
    assert_int_equal(again.len, n);
    assert_memory_equal(again.ptr, file, n);
    cip_buf_clear(&again);
    fake_close(&k.f);
    free(file);
}

static void stale_checkpoints_are_forgotten_from_the_change_on(void **state)
{
    (void)state;
    size_t n;
    uint8_t *file = made(&n), out[100];
    for (size_t at = 10; at < ncoded; at += ncoded / 50) {
        kit k, plain;
        uint8_t want[100];
        kit_open(&k, "zlib");
        kit_open(&plain, "zlib");
        k.f.file[k.s->sub.off + at] ^= 4;
        plain.f.file[plain.s->sub.off + at] ^= 4;
        assert_int_equal(load(&k, file, n), CIP_OK);
        cip_status st = read_at(&plain, LEN - 200, want);
        assert_int_equal(read_at(&k, LEN - 200, out), st);
        if (st == CIP_OK)
            assert_memory_equal(out, want, 100);
        if (at < ncoded / 2)
            assert_true(k.f.env.warnings.n >= 1);
        fake_close(&plain.f);
        fake_close(&k.f);
    }
    free(file);
}

static void every_truncation_and_every_changed_byte_is_found(void **state)
{
    (void)state;
    size_t n;
    uint8_t *file = made(&n);
    kit k;
    kit_open(&k, "zlib");
    for (size_t cut = 0; cut < n; cut += cut < 400 ? 1 : 397) {
        assert_int_not_equal(load(&k, file, cut), CIP_OK);
        assert_null(k.f.layout->sidecar);
    }
    for (size_t i = 0; i < n; i += i < 1000 ? 1 : 7) {
        file[i] ^= 0x20;
        assert_int_not_equal(load(&k, file, n), CIP_OK);
        file[i] ^= 0x20;
    }
    assert_int_equal(load(&k, file, n), CIP_OK);
    fake_close(&k.f);
    free(file);
}

static void forged_numbers_are_refused_or_do_no_harm(void **state)
{
    (void)state;
    size_t n;
    uint8_t *file = made(&n), out[100];
    for (size_t i = 8; i < HEAD + SPACE + 40; i++) {
        for (int bit = 0; bit < 8; bit += 7) {
            kit k;
            kit_open(&k, "zlib");
            file[i] ^= (uint8_t)(1 << bit);
            seal(file, n);
            if (load(&k, file, n) == CIP_OK) /* a digest, or where a checkpoint lies */
                read_at(&k, LEN - 200, out);
            assert_true(load(&k, file, n) == CIP_OK ? i >= HEAD : true);
            fake_close(&k.f);
            file[i] ^= (uint8_t)(1 << bit);
        }
    }
    free(file);
}

static cip_status load_with(size_t at, uint8_t value)
{
    size_t n;
    uint8_t *file = made(&n);
    kit k;
    kit_open(&k, "zlib");
    file[at] = value;
    seal(file, n);
    cip_status st = load(&k, file, n);
    fake_close(&k.f);
    free(file);
    return st;
}

static void each_number_is_checked(void **state)
{
    (void)state;
    assert_int_equal(load_with(0, 1), CIP_ERR_FORMAT);
    assert_int_equal(load_with(8, 2), CIP_ERR_UNSUPPORTED);
    assert_int_equal(load_with(12, 1), CIP_ERR_UNSUPPORTED);
    assert_int_equal(load_with(18, 9), CIP_ERR_TRUNCATED);
    assert_int_equal(load_with(24, 9), CIP_ERR_CORRUPT); /* another file's length */
    assert_int_equal(load_with(32, 2), CIP_ERR_CORRUPT); /* a space more */
    assert_int_equal(load_with(32, 0), CIP_ERR_CORRUPT); /* one less: more behind */
    assert_int_equal(load_with(36, 1), CIP_ERR_CORRUPT);
    assert_int_equal(load_with(HEAD + 32, 100), CIP_ERR_CORRUPT);       /* checkpoints */
    assert_int_equal(load_with(HEAD + SPACE + 6, 1), CIP_ERR_CORRUPT);  /* in_bits */
    assert_int_equal(load_with(HEAD + SPACE + 14, 1), CIP_ERR_CORRUPT); /* raw */
    assert_int_equal(load_with(HEAD + SPACE + 18, 1), CIP_ERR_CORRUPT); /* window */
    assert_int_equal(load_with(HEAD + SPACE + 20, 1), CIP_ERR_CORRUPT); /* zeros */
}

/* In the data that were read and in those that were made; the numbers lie at the same place in each
 * checkpoint. */
static void checkpoints_have_to_rise(void **state)
{
    (void)state;
    static const size_t field[] = { 0, 8 };
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        size_t n;
        uint8_t *file = made(&n), *first = file + HEAD + SPACE;
        uint8_t *second = first + 24 + SUM + cip_load_u32(first + 16, false);
        kit k;
        assert_true(cip_load_u64(file + HEAD + SPACE - 8, false) >= 2);
        kit_open(&k, "zlib");
        memcpy(second + field[i], first + field[i], 8);
        seal(file, n);
        assert_int_equal(load(&k, file, n), CIP_ERR_CORRUPT);
        fake_close(&k.f);
        free(file);
    }
}

static void checkpoints_of_another_codec_are_not_used(void **state)
{
    (void)state;
    size_t n;
    uint8_t *file = made(&n), out[100];
    kit k;
    kit_open(&k, "bzip2");
    assert_int_equal(load(&k, file, n), CIP_OK);
    assert_int_not_equal(read_at(&k, LEN - 200, out), CIP_OK);
    assert_int_equal(cip_checkpoints_count(k.f.layout->checkpoints, NULL), 0);
    fake_close(&k.f);
    free(file);
}

static void failing_allocations_are_survived(void **state)
{
    (void)state;
    size_t n;
    uint8_t *file = made(&n);
    size_t failed = 0, tried = 0;
    for (uint64_t left = 0; left < 2 * n; left += n / 20, tried++) { /* bytes that may be held */
        kit k;
        kit_open(&k, "zlib");
        cip_io *io;
        assert_int_equal(cip_io_open_memory(&k.f.env, file, n, "checkpoints", &io, NULL), CIP_OK);
        k.f.env.mem.limit = k.f.env.mem.used + left;
        cip_status st = cip_sidecar_load(&k.f.env, io, FAKE_FILE_MAX, &k.f.layout->sidecar, NULL);
        assert_true(st == CIP_OK || st == CIP_ERR_LIMIT);
        assert_int_equal(st == CIP_OK, k.f.layout->sidecar != NULL);
        failed += st != CIP_OK;
        cip_io_close(io);
        fake_close(&k.f);
    }
    assert_true(failed > 5 && failed < tried);
    free(file);
}

#define TEST(fn) cmocka_unit_test(fn)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(checkpoints_of_another_run_are_used_as_far_as_is_read),
        TEST(a_block_that_was_not_read_keeps_its_checkpoints),
        TEST(stale_checkpoints_are_forgotten_from_the_change_on),
        TEST(every_truncation_and_every_changed_byte_is_found),
        TEST(forged_numbers_are_refused_or_do_no_harm),
        TEST(each_number_is_checked),
        TEST(checkpoints_have_to_rise),
        TEST(checkpoints_of_another_codec_are_not_used),
        TEST(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
