/* SPDX-License-Identifier: BSD-3-Clause
 * Places of blocks found at every bit, and blocks decoded alone. */
#include "support/codec/codec_testing.h"

#include "base/endian.h"
#include "codec/entropy/bzip2_blocks.h"

#define BLOCK UINT64_C(0x314159265359)
#define END UINT64_C(0x177245385090)

static void put_bits(uint8_t *p, uint64_t at, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++, at++) {
        uint8_t one = (uint8_t)(0x80 >> at % 8);
        p[at / 8] = (uint8_t)((p[at / 8] & ~one) | ((v >> (n - 1 - i) & 1) != 0 ? one : 0));
    }
}

/* All places, told by looking at each bit. */
static size_t plain_find(cip_bytes in, cip_bzip2_place *out, size_t max)
{
    size_t n = 0;
    uint64_t v = 0;
    for (uint64_t bit = 0; bit < 8 * (uint64_t)in.len && n < max; bit++) {
        v = (v << 1 | (in.ptr[bit / 8] >> (7 - bit % 8) & 1)) & (UINT64_MAX >> 16);
        uint64_t from = bit - 47;
        if (bit < 47 || (v != BLOCK && v != END) || from + 80 > 8 * (uint64_t)in.len)
            continue;
        uint32_t crc = 0;
        for (uint64_t k = from + 48; k < from + 80; k++)
            crc = crc << 1 | (in.ptr[k / 8] >> (7 - k % 8) & 1u);
        out[n++] = (cip_bzip2_place){ from, crc, v == END };
    }
    return n;
}

static void check_find(const cip_bzip2_finder *f, cip_bytes in)
{
    cip_bzip2_place all[64], one;
    size_t n = plain_find(in, all, 64);
    uint64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(cip_bzip2_find(f, in, &at, &one));
        assert_int_equal(one.bit, all[i].bit);
        assert_int_equal(one.crc, all[i].crc);
        assert_int_equal(one.end, all[i].end);
        assert_int_equal(at, one.bit + 1);
        uint64_t again = one.bit; /* the place itself is still one */
        assert_true(cip_bzip2_find(f, in, &again, &one));
        assert_int_equal(one.bit, all[i].bit);
    }
    assert_false(cip_bzip2_find(f, in, &at, &one));
    assert_true(at + 79 >= 8 * (uint64_t)in.len);
}

static void a_place_at_any_bit_is_found(void **state)
{
    (void)state;
    cip_bzip2_finder f;
    cip_bzip2_finder_init(&f);
    for (size_t len = 10; len < 24; len++)
        for (uint64_t bit = 0; bit + 80 <= 8 * len; bit++) {
            uint8_t *p = test_data(TEST_NOISE, len);
            put_bits(p, bit, bit % 2 != 0 ? BLOCK : END, 48);
            check_find(&f, (cip_bytes){ p, len });
            check_find(&f, (cip_bytes){ p, (size_t)((bit + 79) / 8) }); /* it is cut off */
            free(p);
        }
}

static void places_close_to_each_other_are_all_found(void **state)
{
    (void)state;
    cip_bzip2_finder f;
    uint8_t p[200] = { 0 };
    cip_bzip2_finder_init(&f);
    uint64_t n = 0;
    for (uint64_t bit = 3; bit + 80 <= 8 * sizeof p; bit += 48 + n % 3, n++)
        put_bits(p, bit, n % 2 != 0 ? BLOCK : END, 48);
    check_find(&f, (cip_bytes){ p, sizeof p });
    check_find(&f, (cip_bytes){ p, 9 });
    check_find(&f, (cip_bytes){ NULL, 0 });
    memset(p, 0, sizeof p);
    put_bits(p, 5, BLOCK, 48); /* its last three bits are another's first */
    put_bits(p, 50, BLOCK, 48);
    check_find(&f, (cip_bytes){ p, sizeof p });
}

/* --- blocks ----------------------------------------------------------------------------------- */

static uint64_t second_place(cip_bytes in)
{
    cip_bzip2_place all[2];
    assert_int_equal(plain_find(in, all, 2), 2);
    assert_int_equal(all[0].bit, 32);
    return all[1].bit;
}

/* Ten bytes in a stream of one block, shifted to begin at any bit. */
static void a_block_at_any_bit_decodes(void **state)
{
    (void)state;
    size_t len;
    uint8_t *coded =
        test_encode(cip_codec_find("bzip2"), 1, (const uint8_t *)"aaabbbbbbc", 10, &len);
    uint64_t end = second_place((cip_bytes){ coded, len });
    for (unsigned bit = 0; bit < 16; bit++) {
        uint8_t in[100], out[11];
        memset(in, 0xa5, sizeof in);
        for (uint64_t k = 32; k < end; k++)
            put_bits(in, bit + k - 32, coded[k / 8] >> (7 - k % 8) & 1u, 1);
        uint64_t to = bit + end - 32;
        cip_bytes src = { in, (size_t)((to + 7) / 8) };
        for (size_t room = 0; room < 12; room++) {
            test_env t;
            size_t n = room;
            cip_mem *mem = test_env_open(&t, 0, 0)->mem;
            bool good = cip_bzip2_decode_block(mem, 1, &(cip_split_piece){ src, bit, to }, out, &n);
            assert_int_equal(good, room >= 10);
            if (good) {
                assert_int_equal(n, 10);
                assert_memory_equal(out, "aaabbbbbbc", 10);
            }
            n = sizeof out; /* one bit less or more is no block */
            assert_false(
                cip_bzip2_decode_block(mem, 1, &(cip_split_piece){ src, bit, to - 1 }, out, &n));
            src.len = sizeof in;
            assert_false(
                cip_bzip2_decode_block(mem, 1, &(cip_split_piece){ src, bit, to + 1 }, out, &n));
            assert_false(
                cip_bzip2_decode_block(mem, 1, &(cip_split_piece){ src, bit + 1, to }, out, &n));
            src.len = (size_t)((to + 7) / 8);
            assert_false(cip_bzip2_decode_block(
                mem, 1, &(cip_split_piece){ src, bit, 8 * src.len + 1 }, out, &n));
            assert_false(
                cip_bzip2_decode_block(mem, 1, &(cip_split_piece){ src, bit, bit + 79 }, out, &n));
            assert_false(
                cip_bzip2_decode_block(mem, 0, &(cip_split_piece){ src, bit, to }, out, &n));
            test_env_close(&t);
        }
        put_bits(in, bit + 48 + 3, ~(unsigned)in[(bit + 51) / 8] >> (7 - (bit + 51) % 8) & 1, 1);
        size_t n = sizeof out; /* another checksum */
        test_env t;
        assert_false(cip_bzip2_decode_block(test_env_open(&t, 0, 0)->mem, 1,
                                            &(cip_split_piece){ src, bit, to }, out, &n));
        test_env_close(&t);
    }
    free(coded);
}

static void a_block_beyond_its_level_is_none(void **state)
{
    (void)state;
    enum { N = 150000 };
    size_t len, n = N;
    test_env t;
    uint8_t *data = test_data(TEST_NOISE, N), *out = malloc(N);
    uint8_t *coded = test_encode(cip_codec_find("bzip2"), 2, data, N, &len);
    cip_bytes src = { coded, len };
    uint64_t end = second_place(src);
    cip_mem *mem = test_env_open(&t, 0, 0)->mem;
    assert_true(cip_bzip2_decode_block(mem, 2, &(cip_split_piece){ src, 32, end }, out, &n));
    assert_int_equal(n, N);
    assert_memory_equal(out, data, N);
    assert_false(cip_bzip2_decode_block(mem, 1, &(cip_split_piece){ src, 32, end }, out, &n));
    n = N;
    assert_false(cip_bzip2_decode_block(mem, 2, &(cip_split_piece){ src, end, 8 * len }, out,
                                        &n)); /* the end mark */
    test_env_close(&t);
    free(out);
    free(coded);
    free(data);
}

static void without_memory_a_block_is_none(void **state)
{
    (void)state;
    size_t len;
    uint8_t *coded = test_encode(cip_codec_find("bzip2"), 1, (const uint8_t *)"abc", 3, &len);
    uint64_t end = second_place((cip_bytes){ coded, len });
    bool good = false;
    for (size_t at = 1; !good; at++) {
        test_env t;
        uint8_t out[3];
        size_t n = 3;
        cip_mem *mem = test_env_open(&t, at, 0)->mem;
        good = cip_bzip2_decode_block(
            mem, 1, &(cip_split_piece){ (cip_bytes){ coded, len }, 32, end }, out, &n);
        assert_int_equal(good, at > 2); /* its state and its table */
        test_env_close(&t);
    }
    free(coded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_at_any_bit_is_found),
        cmocka_unit_test(places_close_to_each_other_are_all_found),
        cmocka_unit_test(a_block_at_any_bit_decodes),
        cmocka_unit_test(a_block_beyond_its_level_is_none),
        cmocka_unit_test(without_memory_a_block_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
