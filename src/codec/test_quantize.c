/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "codec/quantize.h"

enum { MOST = 300, ROOM = CIP_QUANTIZE_HEAD + MOST * 8 + 8 };

/* A chunk and what it decodes to by the document's words, a bit at a time. */
typedef struct sample {
    cip_quantize_head head;
    cip_quantize_args args;
    int64_t value[MOST];
    uint8_t stored[ROOM];
    size_t nstored;
    uint8_t raw[MOST * 8];
    size_t nraw;
} sample;

static uint64_t seed = 88172645463325252u;

static uint64_t dice(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static int64_t in_bits(uint64_t v, unsigned bits)
{
    if (bits == 0)
        return 0;
    v &= bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    bool negative = (v >> (bits - 1) & 1) != 0;
    return negative && bits < 64 ? (int64_t)(v | UINT64_MAX << bits) : (int64_t)v;
}

static void put_float(const cip_quantize_args *a, double v, uint8_t *dst)
{
    union {
        double d;
        uint64_t u;
    } wide = { .d = v };
    union {
        float f;
        uint32_t u;
    } narrow = { .f = (float)v };
    if (a->wide)
        cip_store_u64(dst, wide.u, a->big);
    else
        cip_store_u32(dst, narrow.u, a->big);
}

static void finish(sample *s)
{
    size_t width = s->args.wide ? 8 : 4, bit = 0;
    memset(s->stored, 0, sizeof s->stored);
    cip_quantize_head_bytes(&s->head, s->stored);
    for (size_t i = 0; i < s->head.n; i++) {
        double product = (double)s->value[i] * s->head.scale, v = product + s->head.offset;
        put_float(&s->args, s->head.bits == 0 ? s->head.offset : v, s->raw + i * width);
        for (unsigned k = s->head.bits; k-- > 0; bit++)
            if (((uint64_t)s->value[i] >> k & 1) != 0)
                s->stored[CIP_QUANTIZE_HEAD + bit / 8] |= (uint8_t)(0x80 >> bit % 8);
    }
    s->nstored = CIP_QUANTIZE_HEAD + (bit + 7) / 8;
    s->nraw = (size_t)s->head.n * width;
}

static void make(sample *s, unsigned bits, size_t n)
{
    s->head = (cip_quantize_head){ (uint8_t)bits, -3.25, 0.37, n };
    for (size_t i = 0; i < n; i++)
        s->value[i] = in_bits(dice(), bits);
    if (n > 2) {
        s->value[0] = in_bits((uint64_t)1 << (bits != 0 ? bits - 1 : 0), bits); /* the least */
        s->value[1] = in_bits(UINT64_MAX >> 1 >> (64 - (bits != 0 ? bits : 1)), bits);
    }
    finish(s);
}

static const cip_codec_env env;

static cip_status decode(const sample *s, uint8_t *dst, size_t n, cip_err *err)
{
    uint8_t *exact = malloc(s->nstored); /* so that a byte too many is seen */
    memcpy(exact, s->stored, s->nstored);
    cip_status st =
        cip_codec_quantize.decode(&s->args, &env, (cip_bytes){ exact, s->nstored }, dst, n, err);
    free(exact);
    return st;
}

/* A part as a reader asks for it: only the planned bytes are at hand. */
static cip_status decode_part(const sample *s, const cip_want *want, size_t n, uint64_t *fetched,
                              cip_err *err)
{
    cip_need need[8];
    const uint8_t *ptr[8];
    cip_needs needs = { .at = need, .max = 8 };
    *fetched = 0;
    CIP_TRY(cip_codec_quantize.needs(&s->args, &env, (cip_bytes){ s->stored, CIP_QUANTIZE_HEAD },
                                     &(cip_wants){ want, n, s->nraw }, &needs, err));
    for (size_t i = 0; i < needs.n; i++) {
        assert_true(need[i].off + need[i].len <= s->nstored);
        *fetched += need[i].len;
        uint8_t *copy = malloc((size_t)need[i].len + 1);
        memcpy(copy, s->stored + need[i].off, (size_t)need[i].len);
        ptr[i] = copy;
    }
    const cip_stored stored = { s->nstored, needs.n, need, ptr };
    cip_status st = cip_codec_quantize.decode_spans(&s->args, &env, &stored,
                                                    &(cip_wants){ want, n, s->nraw }, err);
    for (size_t i = 0; i < needs.n; i++)
        free((void *)(uintptr_t)ptr[i]);
    return st;
}

static void every_width_decodes_as_the_document_says(void **state)
{
    (void)state;
    static sample s;
    static uint8_t out[MOST * 8];
    static const size_t counts[] = { 0, 1, 2, 7, 8, 9, 23, 64, 299 };
    for (unsigned bits = 0; bits <= 64; bits++)
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
            for (int how = 0; how < 4; how++) {
                s.args = (cip_quantize_args){ (how & 1) != 0, (how & 2) != 0 };
                make(&s, bits, counts[k]);
                assert_int_equal(decode(&s, out, s.nraw, NULL), CIP_OK);
                assert_memory_equal(out, s.raw, s.nraw);
            }
}

static void a_part_costs_its_part(void **state)
{
    (void)state;
    static sample s;
    uint8_t out[2][MOST * 8];
    uint64_t fetched;
    for (int round = 0; round < 3000; round++) {
        s.args = (cip_quantize_args){ (dice() & 1) != 0, (dice() & 1) != 0 };
        make(&s, (unsigned)(dice() % 65), 1 + (size_t)(dice() % (MOST - 1)));
        size_t first = (size_t)(dice() % s.nraw), len = (size_t)(dice() % (s.nraw - first + 1));
        size_t second = first + len, more = (size_t)(dice() % (s.nraw - second + 1));
        const cip_want want[] = { { first, len, out[0] }, { second, more, out[1] } };
        assert_int_equal(decode_part(&s, want, 2, &fetched, NULL), CIP_OK);
        assert_memory_equal(out[0], s.raw + first, len);
        assert_memory_equal(out[1], s.raw + second, more);
        size_t width = s.args.wide ? 8 : 4;
        size_t values = (len + more) / width + 4;
        assert_true(fetched <= CIP_QUANTIZE_HEAD + values * s.head.bits / 8 + 4);
    }
}

static void odd_scales_and_offsets_are_computed_with(void **state)
{
    (void)state;
    static sample s;
    static const double odd[] = { NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e308, 5e-324, 1e30 };
    uint8_t out[8 * 8];
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < 8; k++) {
            s.args = (cip_quantize_args){ (i & 1) != 0, true };
            make(&s, 16, 8);
            s.value[2] = 0;
            s.head.scale = odd[i];
            s.head.offset = odd[k];
            finish(&s);
            assert_int_equal(decode(&s, out, s.nraw, NULL), CIP_OK);
            for (size_t v = 0; v < 8; v++) {
                uint64_t found =
                    s.args.wide ? cip_load_u64(out + 8 * v, true) : cip_load_u32(out + 4 * v, true);
                uint64_t want = s.args.wide ? cip_load_u64(s.raw + 8 * v, true)
                                            : cip_load_u32(s.raw + 4 * v, true);
                uint64_t inf = s.args.wide ? 0x7ff0000000000000u : 0x7f800000u;
                uint64_t sign = s.args.wide ? (uint64_t)1 << 63 : 0x80000000u;
                bool nans = (found & ~sign) > inf && (want & ~sign) > inf;
                assert_true(nans || found == want);
            }
        }
    make(&s, 0, 4); /* no bits: the offset, whatever the scale */
    s.head.scale = NAN;
    finish(&s);
    assert_int_equal(decode(&s, out, s.nraw, NULL), CIP_OK);
    assert_memory_equal(out, s.raw, s.nraw);
}

static void a_header_is_what_its_bytes_say(void **state)
{
    (void)state;
    const cip_quantize_head h = { 12, -0.5, 3e9, 0x0102030405060708 };
    cip_quantize_head back;
    uint8_t b[CIP_QUANTIZE_HEAD];
    cip_err err = CIP_ERR_INIT;
    cip_quantize_head_bytes(&h, b);
    static const uint8_t want[] = { 12,   0xbf, 0xe0, 0, 0, 0, 0, 0, 0, 0x41, 0xe6, 0x5a, 0x0b,
                                    0xc0, 0,    0,    0, 1, 2, 3, 4, 5, 6,    7,    8 };
    assert_memory_equal(b, want, sizeof want);
    assert_int_equal(cip_quantize_head_parse((cip_bytes){ b, sizeof b }, &back, NULL), CIP_OK);
    assert_int_equal(back.bits, 12);
    assert_true(back.offset == h.offset && back.scale == h.scale && back.n == h.n);
    assert_int_equal(cip_quantize_payload(&back), (h.n * 12 + 7) / 8);
    assert_int_equal(cip_quantize_head_parse((cip_bytes){ b, 24 }, &back, &err), CIP_ERR_TRUNCATED);
    b[0] = 65;
    assert_int_equal(cip_quantize_head_parse((cip_bytes){ b, 25 }, &back, &err), CIP_ERR_CORRUPT);
    assert_non_null(strstr(err.text, "expected at most 64 bits a quantized value, found 65"));
}

static void counts_that_no_file_holds_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint8_t bits;
        uint64_t n;
        cip_status st;
    } rows[] = {
        { 1, INT64_MAX, CIP_OK },
        { 1, (uint64_t)1 << 63, CIP_ERR_CORRUPT },
        { 8, (uint64_t)1 << 60, CIP_ERR_CORRUPT },
        { 8, ((uint64_t)1 << 60) - 1, CIP_OK },
        { 64, (uint64_t)1 << 58, CIP_ERR_CORRUPT },
        { 0, UINT64_MAX, CIP_OK },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const cip_quantize_head h = { rows[i].bits, 0, 1, rows[i].n };
        cip_quantize_head back;
        uint8_t b[CIP_QUANTIZE_HEAD];
        cip_quantize_head_bytes(&h, b);
        assert_int_equal(cip_quantize_head_parse((cip_bytes){ b, sizeof b }, &back, NULL),
                         rows[i].st);
    }
}

static void wrong_lengths_are_told(void **state)
{
    (void)state;
    static sample s;
    uint8_t out[256];
    uint64_t fetched;
    cip_err err = CIP_ERR_INIT;
    cip_want want = { 0, 8, out };
    s.args = (cip_quantize_args){ true, false };
    make(&s, 13, 9);
    assert_int_equal(decode(&s, out, s.nraw - 1, &err), CIP_ERR_CORRUPT);
    assert_int_equal(decode(&s, out, s.nraw + 1, &err), CIP_ERR_CORRUPT);
    s.nstored--;
    assert_int_equal(decode(&s, out, s.nraw, &err), CIP_ERR_TRUNCATED);
    s.nstored += 2;
    assert_int_equal(decode(&s, out, s.nraw, &err), CIP_ERR_CORRUPT);
    s.nstored = 24;
    assert_int_equal(decode(&s, out, s.nraw, &err), CIP_ERR_TRUNCATED);
    make(&s, 13, 9);
    s.nraw += 8;
    assert_int_equal(decode_part(&s, &want, 1, &fetched, &err), CIP_ERR_CORRUPT);
    s.nraw -= 8;
    want.off = s.nraw - 7;
    assert_int_equal(decode_part(&s, &want, 1, &fetched, &err), CIP_ERR_RANGE);
    s.args.wide = false; /* the same bytes are half as long */
    assert_int_equal(decode(&s, out, 72, &err), CIP_ERR_CORRUPT);
}

static void too_many_pieces_and_missing_bytes_are_told(void **state)
{
    (void)state;
    static sample s;
    uint8_t out[64];
    cip_need need[4];
    cip_needs needs = { .at = need, .max = 3 };
    const cip_want want[] = { { 0, 8, out }, { 8, 8, out + 8 }, { 16, 8, out + 16 } };
    s.args = (cip_quantize_args){ true, false };
    make(&s, 13, 9);
    const cip_bytes head = { s.stored, CIP_QUANTIZE_HEAD };
    assert_int_equal(cip_codec_quantize.needs(&s.args, &env, head, &(cip_wants){ want, 3, s.nraw },
                                              &needs, NULL),
                     CIP_ERR_LIMIT);
    needs = (cip_needs){ .at = need, .max = 4 };
    assert_int_equal(cip_codec_quantize.needs(&s.args, &env, head, &(cip_wants){ want, 3, s.nraw },
                                              &needs, NULL),
                     CIP_OK);
    assert_int_equal(needs.n, 4);
    const cip_need only = { 0, CIP_QUANTIZE_HEAD + 1 };
    const uint8_t *ptr = s.stored;
    const cip_stored stored = { s.nstored, 1, &only, &ptr };
    assert_int_equal(cip_codec_quantize.decode_spans(&s.args, &env, &stored,
                                                     &(cip_wants){ want, 1, s.nraw }, NULL),
                     CIP_ERR_TRUNCATED);
    const cip_stored nothing = { s.nstored, 0, &only, &ptr };
    assert_int_equal(cip_codec_quantize.decode_spans(&s.args, &env, &nothing,
                                                     &(cip_wants){ want, 1, s.nraw }, NULL),
                     CIP_ERR_TRUNCATED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_decodes_as_the_document_says),
        cmocka_unit_test(a_part_costs_its_part),
        cmocka_unit_test(odd_scales_and_offsets_are_computed_with),
        cmocka_unit_test(a_header_is_what_its_bytes_say),
        cmocka_unit_test(counts_that_no_file_holds_are_refused),
        cmocka_unit_test(wrong_lengths_are_told),
        cmocka_unit_test(too_many_pieces_and_missing_bytes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
