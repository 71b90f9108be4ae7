/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cippus/cippus.h"
#include "support/fail_alloc.h"

enum { NITEM = 50000, NBYTES = NITEM * 4, CAP = NBYTES + 32 };

static uint32_t raw[NITEM];
static uint8_t chunk[CAP], back[NBYTES];

static int fill(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < NITEM; i++)
        raw[i] = i / 3;
    return 0;
}

static size_t compress(cip_blosc *b)
{
    size_t n = 0;
    assert_non_null(b);
    assert_int_equal(cip_blosc_compress(b, raw, NBYTES, chunk, CAP, &n, NULL), CIP_OK);
    return n;
}

static void chunks_come_back_with_one_context(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    cip_blosc *b = cip_blosc_new(CIP_BLOSC_PARAMS(.typesize = 4, .filter = "delta+shuffle"), &err);
    uint32_t items[300];
    for (int i = 0; i < 3; i++) {
        size_t n = compress(b);
        assert_in_range(n, 32, NBYTES);
        memset(back, 0xee, NBYTES);
        assert_int_equal(cip_blosc_decompress(b, chunk, CAP, back, NBYTES, &err), CIP_OK);
        assert_memory_equal(back, raw, NBYTES);
        assert_int_equal(cip_blosc_items(b, chunk, n, 40000, 300, items, &err), CIP_OK);
        assert_memory_equal(items, raw + 40000, sizeof items);
        assert_int_equal(cip_blosc_items(b, chunk, n, NITEM, 0, NULL, &err), CIP_OK);
    }
    cip_blosc_free(b);
    cip_blosc_free(NULL);
}

static void defaults_are_those_that_are_documented(void **state)
{
    (void)state;
    cip_blosc_chunk_info info = { .size = sizeof info };
    cip_blosc *b = cip_blosc_new(NULL, NULL),
              *c = cip_blosc_new(CIP_BLOSC_PARAMS(.level = 5), NULL);
    size_t n = compress(b), m;
    uint8_t *first = malloc(n);
    memcpy(first, chunk, n);
    assert_int_equal(cip_blosc_info(chunk, n, &info, NULL), CIP_OK);
    assert_string_equal(info.codec, "blosclz");
    assert_string_equal(info.filter, "shuffle");
    assert_string_equal(info.special, "");
    assert_true(info.version == 5 && info.typesize == 1 && info.nbytes == NBYTES);
    assert_true(info.cbytes == n && info.codec_id == 0 && !info.split && !info.dict);
    assert_true(info.nblock == (NBYTES + info.blocksize - 1) / info.blocksize);
    m = compress(c);
    assert_true(m == n && memcmp(first, chunk, n) == 0);
    free(first);
    cip_blosc_free(b);
    cip_blosc_free(c);
}

static void parameters_reach_the_chunk(void **state)
{
    (void)state;
    cip_blosc_chunk_info info = { .size = sizeof info };
    cip_blosc *b = cip_blosc_new(CIP_BLOSC_PARAMS(.codec = "zlib", .level = 9, .typesize = 4,
                                                  .filter = "bitshuffle", .blocksize = 4096,
                                                  .split = CIP_BLOSC_ALWAYS),
                                 NULL);
    size_t n = compress(b);
    assert_int_equal(cip_blosc_info(chunk, n, &info, NULL), CIP_OK);
    assert_string_equal(info.codec, "zlib");
    assert_string_equal(info.filter, "bitshuffle");
    assert_true(info.split && info.blocksize == 4096 && info.typesize == 4);
    cip_blosc_free(b);
    b = cip_blosc_new(CIP_BLOSC_PARAMS(.level = -1, .typesize = 4), NULL);
    n = compress(b);
    assert_int_equal(cip_blosc_info(chunk, n, &info, NULL), CIP_OK);
    assert_true(info.memcpyed && n == CAP && n == cip_blosc_bound(NBYTES));
    cip_blosc_free(b);
    b = cip_blosc_new(CIP_BLOSC_PARAMS(.typesize = 4, .blosc1 = true), NULL);
    n = compress(b);
    assert_int_equal(cip_blosc_info(chunk, n, &info, NULL), CIP_OK);
    assert_int_equal(info.version, 2);
    assert_int_equal(cip_blosc_decompress(b, chunk, n, back, NBYTES, NULL), CIP_OK);
    assert_memory_equal(back, raw, NBYTES);
    cip_blosc_free(b);
}

/* 250 blocks of 10 x 20. */
static void chunks_of_arrays_know_the_shape_of_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *codec, *filter;
    } rows[] = { { "ndlz:4", "shuffle" },
                 { "ndlz:8", "none" },
                 { "lz4", "ndcell:4+shuffle" },
                 { "zfp:acc=-9", NULL },
                 { "lz4", "shuffle,ndcell:3" } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t block[2] = { 10, 20 };
        const bool zfp = rows[i].codec[0] == 'z';
        uint32_t item;
        cip_err err = CIP_ERR_INIT;
        cip_blosc *b =
            cip_blosc_new(CIP_BLOSC_PARAMS(.typesize = 4, .codec = rows[i].codec,
                                           .filter = rows[i].filter, .ndim = 2, .block = block),
                          &err);
        if (b == NULL && err.code == CIP_ERR_UNSUPPORTED) /* this build has it not */
            continue;
        block[0] = 0; /* it is copied */
        const size_t n = compress(b);
        assert_int_equal(cip_blosc_decompress(b, chunk, n, back, NBYTES, &err), CIP_OK);
        assert_int_equal(cip_blosc_items(b, chunk, n, 41234, 1, &item, &err), CIP_OK);
        assert_memory_equal(back + 4 * 41234, &item, 4);
        if (!zfp) /* as floats those are next to nothing */
            assert_memory_equal(back, raw, NBYTES);
        cip_blosc_free(b);
    }
}

static void wrong_parameters_give_no_context(void **state)
{
    (void)state;
    static const int64_t block[17] = { 4, 4 };
    const cip_blosc_params rows[] = {
        { .size = sizeof *rows, .codec = "lzma" },
        { .size = sizeof *rows, .codec = "ndlz:4" },
        { .size = sizeof *rows, .codec = "ndlz:5", .ndim = 2, .block = block },
        { .size = sizeof *rows, .codec = "zfp:acc=-3", .ndim = 2, .block = block },
        { .size = sizeof *rows, .ndim = 17, .block = block },
        { .size = sizeof *rows, .ndim = -1, .block = block },
        { .size = sizeof *rows, .ndim = 2 },
        { .size = sizeof *rows, .block = block },
        { .size = sizeof *rows, .filter = "shuffle+delta" },
        { .size = sizeof *rows, .filter = "shuffled" },
        { .size = sizeof *rows, .level = 10 },
        { .size = sizeof *rows, .level = -2 },
        { .size = sizeof *rows, .split = (cip_blosc_streams)3 },
        { .size = sizeof *rows, .blosc1 = true, .filter = "delta" },
        { .size = sizeof *rows, .blocksize = UINT32_MAX },
        { .size = 0 },
        { .size = SIZE_MAX },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cip_err err = CIP_ERR_INIT;
        assert_null(cip_blosc_new(&rows[i], &err));
        assert_int_equal(err.code, CIP_ERR_ARG);
    }
    cip_err err = CIP_ERR_INIT;
    assert_null(cip_blosc_new(CIP_BLOSC_PARAMS(.codec = "snappy"), &err));
    assert_int_equal(err.code, CIP_ERR_UNSUPPORTED);
}

static void calls_that_do_not_fit_the_chunk_fail(void **state)
{
    (void)state;
    cip_blosc *b = cip_blosc_new(CIP_BLOSC_PARAMS(.typesize = 4), NULL);
    cip_blosc_chunk_info info = { .size = sizeof info };
    size_t n = compress(b), m = 99;
    assert_int_equal(cip_blosc_decompress(b, chunk, n, back, NBYTES - 1, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_blosc_decompress(b, chunk, n, back, NBYTES + 1, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_blosc_decompress(b, chunk, n - 1, back, NBYTES, NULL), CIP_ERR_TRUNCATED);
    assert_int_equal(cip_blosc_decompress(b, chunk, 31, back, NBYTES, NULL), CIP_ERR_TRUNCATED);
    assert_int_equal(cip_blosc_info(chunk, 15, &info, NULL), CIP_ERR_TRUNCATED);
    assert_int_equal(cip_blosc_items(b, chunk, n, NITEM, 1, back, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_blosc_items(b, chunk, n, UINT64_MAX, 2, back, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_blosc_items(b, chunk, n - 1, 0, 1, back, NULL), CIP_ERR_TRUNCATED);
    assert_int_equal(cip_blosc_compress(b, raw, NBYTES, chunk, 100, &m, NULL), CIP_ERR_RANGE);
    assert_int_equal(m, 99);
    assert_int_equal(cip_blosc_compress(b, NULL, 4, chunk, 100, &m, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_blosc_compress(NULL, raw, 4, chunk, 100, &m, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_blosc_decompress(b, chunk, n, NULL, NBYTES, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_blosc_items(b, chunk, n, 0, 1, NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_blosc_info(NULL, 40, &info, NULL), CIP_ERR_ARG);
    cip_blosc_free(b);
}

static void long_items_are_as_long_as_the_context_says(void **state)
{
    (void)state;
    uint8_t item[600];
    cip_blosc *b = cip_blosc_new(CIP_BLOSC_PARAMS(.typesize = 300), NULL);
    cip_blosc *bytes = cip_blosc_new(NULL, NULL);
    size_t n = compress(b);
    assert_int_equal(cip_blosc_items(b, chunk, n, 5, 2, item, NULL), CIP_OK);
    assert_memory_equal(item, (uint8_t *)raw + 1500, 600);
    assert_int_equal(cip_blosc_items(bytes, chunk, n, 5, 2, item, NULL), CIP_OK);
    assert_memory_equal(item, (uint8_t *)raw + 5, 2);
    cip_blosc_free(b);
    cip_blosc_free(bytes);
}

static void nothing_is_a_chunk_too(void **state)
{
    (void)state;
    size_t n;
    cip_blosc *b = cip_blosc_new(NULL, NULL);
    assert_int_equal(cip_blosc_compress(b, NULL, 0, chunk, CAP, &n, NULL), CIP_OK);
    assert_int_equal(n, 32);
    assert_int_equal(cip_blosc_decompress(b, chunk, n, NULL, 0, NULL), CIP_OK);
    cip_blosc_free(b);
}

static void specials_are_named(void **state)
{
    (void)state;
    size_t n;
    cip_blosc_chunk_info info = { .size = sizeof info };
    cip_blosc *b = cip_blosc_new(CIP_BLOSC_PARAMS(.typesize = 4), NULL);
    memset(back, 0, NBYTES);
    assert_int_equal(cip_blosc_compress(b, back, NBYTES, chunk, CAP, &n, NULL), CIP_OK);
    assert_int_equal(cip_blosc_info(chunk, n, &info, NULL), CIP_OK);
    assert_string_equal(info.special, "zeros");
    cip_blosc_free(b);
}

/* Requests of one compress and decompress with a context that has done both before. */
static void scratch_memory_is_kept(void **state)
{
    (void)state;
    fail_alloc f = { 0 };
    cip_allocator a = { fail_alloc_resize, &f };
    cip_blosc *b = cip_blosc_new(
        CIP_BLOSC_PARAMS(.typesize = 4, .filter = "delta+bitshuffle", .allocator = &a), NULL);
    size_t asked = 0, n;
    for (int i = 0; i < 3; i++) {
        asked = f.requests;
        n = compress(b);
        assert_int_equal(cip_blosc_decompress(b, chunk, n, back, NBYTES, NULL), CIP_OK);
    }
    assert_int_equal(f.requests, asked);
    cip_blosc_free(b);
    assert_int_equal(f.held, 0);
}

static void the_limit_of_memory_holds(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    size_t n;
    fail_alloc f = { 0 };
    cip_allocator a = { fail_alloc_resize, &f };
    cip_blosc *b =
        cip_blosc_new(CIP_BLOSC_PARAMS(.typesize = 4, .allocator = &a, .max_memory = 100000), &err);
    assert_int_equal(cip_blosc_compress(b, raw, NBYTES, chunk, CAP, &n, &err), CIP_ERR_LIMIT);
    assert_true(f.held <= 100000);
    assert_int_equal(cip_blosc_compress(b, raw, 16000, chunk, CAP, &n, &err), CIP_OK);
    for (size_t size = 8000; size < 16000; size += 400) { /* each keeps memory of its own size */
        assert_int_equal(cip_blosc_compress(b, raw, size, chunk, CAP, &n, &err), CIP_OK);
        assert_int_equal(cip_blosc_decompress(b, chunk, n, back, size, &err), CIP_OK);
        assert_true(f.held <= 100000 + 2000); /* and what counts it */
    }
    cip_blosc_free(b);
}

static void without_memory_every_call_says_so(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_err err = CIP_ERR_INIT;
        size_t len = 0;
        cip_blosc *b = cip_blosc_new(
            CIP_BLOSC_PARAMS(.typesize = 4, .filter = "delta+bitshuffle", .allocator = &a), &err);
        if (b != NULL && cip_blosc_compress(b, raw, NBYTES, chunk, CAP, &len, &err) == CIP_OK &&
            cip_blosc_decompress(b, chunk, len, back, NBYTES, &err) == CIP_OK)
            cip_blosc_items(b, chunk, len, 33000, 9, back, &err);
        cip_blosc_free(b);
        assert_int_equal(f.held, 0);
        if (f.requests < n) {
            assert_int_equal(err.code, CIP_OK);
            break;
        }
        assert_int_equal(err.code, CIP_ERR_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_come_back_with_one_context),
        cmocka_unit_test(defaults_are_those_that_are_documented),
        cmocka_unit_test(parameters_reach_the_chunk),
        cmocka_unit_test(chunks_of_arrays_know_the_shape_of_blocks),
        cmocka_unit_test(wrong_parameters_give_no_context),
        cmocka_unit_test(calls_that_do_not_fit_the_chunk_fail),
        cmocka_unit_test(long_items_are_as_long_as_the_context_says),
        cmocka_unit_test(nothing_is_a_chunk_too),
        cmocka_unit_test(specials_are_named),
        cmocka_unit_test(scratch_memory_is_kept),
        cmocka_unit_test(the_limit_of_memory_holds),
        cmocka_unit_test(without_memory_every_call_says_so),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
