/* SPDX-License-Identifier: BSD-3-Clause
 * Blocks of `blsc` and `bls2` as they are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/asdf/write/asdf_write_testing.h"
#include "codec/blosc/blosc.h"
#include "support/fail_alloc.h"

enum { ROWS = 3000, COLUMNS = 700 }; /* 8 MB: several chunks */

static int32_t *data;

static int make_data(void **state)
{
    (void)state;
    data = malloc(ROWS * COLUMNS * sizeof *data);
    for (int32_t i = 0; data != NULL && i < ROWS * COLUMNS; i++)
        data[i] = (int32_t)((uint32_t)i * UINT32_C(2654435761) >> 20) + i / 1000;
    return data == NULL;
}

static int free_data(void **state)
{
    (void)state;
    free(data);
    return 0;
}

static cip_status write_it(made *m, const char *codec, int level, const char *filter, int64_t rows)
{
    const char *const option[] = { [ASDF_OPTION_FILTER] = filter };
    const int64_t own[2] = { rows, COLUMNS };
    const cip_spec_array a = {
        .path = "a", .dtype = cip_dtype_of(CIP_I32), .ndim = 2, .shape = own, .mask = -1
    };
    const cip_spec spec = {
        .narray = 1, .array = &a, .codec = codec, .level = level, .option = option, .big = 0
    };
    const void *const of[] = { data };
    return made_write(m, &spec, of);
}

static const char *const codecs[] = { "blsc", "bls2:blosclz" };

/* What a window does not touch may be anything. */
static void windows_decode_only_the_blocks_they_touch(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        made m;
        one_file f;
        size_t n;
        int32_t got[5000];
        made_start(&m, NULL);
        assert_int_equal(write_it(&m, codecs[k], 0, NULL, ROWS), CIP_OK);
        made_reopen(&m, &f);
        const cip_block_info b = f.layout->block[0].info;
        assert_memory_equal(b.codec, codecs[k], 4);
        assert_true(b.stored_nbytes < b.decoded_nbytes);
        one_close(&f);
        made_bytes(&m, 0, &n);
        memset(m.bytes + b.data_offset + b.stored_nbytes / 4, 0xff, (size_t)b.stored_nbytes / 2);
        if (one_open(&f, &cip_format_asdf, m.bytes, n, 0, NULL) != CIP_OK)
            fail_msg("%s", f.err.text);
        const cip_read_how how = { f.layout, NULL };
        cip_space *s = make_find(&f, "a")->space;
        assert_int_equal(cip_space_read_at(&how, s, 40000, got, sizeof got, &f.err), CIP_OK);
        for (size_t i = 0; i < sizeof got / sizeof *got; i++)
            assert_int_equal((int32_t)cip_load_u32((uint8_t *)&got[i], false), data[10000 + i]);
        assert_int_not_equal(
            cip_space_read_at(&how, s, ROWS * COLUMNS * 2, got, sizeof got, &f.err), CIP_OK);
        one_close(&f);
        made_end(&m);
    }
}

static void chunks_know_how_long_elements_are(void **state)
{
    made m;
    one_file f;
    cip_blosc_head h;
    (void)state;
    made_start(&m, NULL);
    assert_int_equal(write_it(&m, "blsc", 3, "bitshuffle", ROWS), CIP_OK);
    made_reopen(&m, &f);
    assert_int_equal(
        cip_blosc_head_parse(
            (cip_bytes){ m.bytes + f.layout->block[0].info.data_offset, CIP_BLOSC_HEADER }, &h,
            &m.err),
        CIP_OK);
    assert_int_equal(h.typesize, 4);
    assert_int_equal(h.nbytes, ROWS * COLUMNS * 4); /* one chunk */
    assert_int_equal(h.filter[CIP_BLOSC_FILTERS - 1], CIP_BLOSC_BITSHUFFLE);
    assert_true(h.blocksize <= 128 << 10);
    one_close(&f);
    made_end(&m);
}

static void other_codecs_filters_and_levels_are_refused(void **state)
{
    static const struct {
        const char *codec, *filter;
        int level;
        cip_status st;
    } row[] = { { "blsc:snappy", NULL, 0, CIP_ERR_UNSUPPORTED },
                { "bls2:zfp:prec=16", NULL, 0, CIP_ERR_UNSUPPORTED },
                { "blsc", NULL, 10, CIP_ERR_ARG },
                { "bls2", NULL, -1, CIP_ERR_ARG },
                { "blsc", "delta", 0, CIP_ERR_UNSUPPORTED },
                { "blsc", "shuffle,bitshuffle", 0, CIP_ERR_UNSUPPORTED },
                { "bls2", "trunc_prec:5", 0, CIP_ERR_UNSUPPORTED },
                { "bls2", "sharpen", 0, CIP_ERR_ARG },
                { "zlib", "shuffle", 0, CIP_ERR_ARG },
                { NULL, "shuffle", 0, CIP_ERR_ARG },
                { "zlib:fast", NULL, 0, CIP_ERR_ARG } };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        made m;
        made_start(&m, NULL);
        assert_int_equal(write_it(&m, row[i].codec, row[i].level, row[i].filter, 5), row[i].st);
        made_end(&m);
    }
}

/* One chunk, as other readers know no more. */
static void more_than_2_gib_are_refused_for_blsc(void **state)
{
    const int64_t length = INT64_C(1) << 29;
    const cip_spec_array a = {
        .path = "a", .dtype = cip_dtype_of(CIP_I32), .ndim = 1, .shape = &length, .mask = -1
    };
    const cip_spec spec = { .narray = 1, .array = &a, .codec = "blsc", .big = 0 };
    const void *const of[] = { data };
    made m;
    (void)state;
    made_start(&m, NULL);
    assert_int_equal(made_write(&m, &spec, of), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(m.err.text, "bls2 allows more"));
    made_end(&m);
}

static void want_of_memory_is_reported(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        cip_status st = CIP_ERR_NOMEM;
        for (size_t fail_at = 1; st != CIP_OK && fail_at < 500; fail_at++) {
            made m;
            fail_alloc a = { .fail_at = 0 };
            const cip_allocator own = { fail_alloc_resize, &a };
            made_start(&m, &own);
            a.fail_at = a.requests + fail_at;
            st = write_it(&m, codecs[k], 0, NULL, 40);
            assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
            made_end(&m);
        }
        assert_int_equal(st, CIP_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_decode_only_the_blocks_they_touch),
        cmocka_unit_test(chunks_know_how_long_elements_are),
        cmocka_unit_test(other_codecs_filters_and_levels_are_refused),
        cmocka_unit_test(more_than_2_gib_are_refused_for_blsc),
        cmocka_unit_test(want_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
