/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blosc2/b2_testing.h"
#include "support/one_format.h"

static cip_bytes bytes_of(const void *p, size_t n)
{
    return (cip_bytes){ p, n };
}

static cip_status read_meta(const uint8_t *p, size_t n, cip_b2_nd *nd)
{
    uint8_t *exact = malloc(n);
    memcpy(exact, p, n);
    cip_status st = cip_b2_nd_read(bytes_of(exact, n), nd, NULL);
    free(exact);
    return st;
}

static void shapes_and_dtype_are_read(void **state)
{
    (void)state;
    /* section 8 of the sheet: (100, 100) in chunks of (30, 40) and blocks of (7, 9) */
    static const uint8_t sheet[] = {
        0x97, 0, 2, 0x92, 0xd3, 0,    0, 0, 0, 0,    0,    0, 100, 0xd3, 0,   0,    0,    0,
        0,    0, 0, 100,  0x92, 0xd2, 0, 0, 0, 30,   0xd2, 0, 0,   0,    40,  0x92, 0xd2, 0,
        0,    0, 7, 0xd2, 0,    0,    0, 9, 0, 0xdb, 0,    0, 0,   3,    '<', 'f',  '8',
    };
    cip_b2_nd nd;
    assert_int_equal(cip_b2_nd_read(bytes_of(sheet, sizeof sheet), &nd, NULL), CIP_OK);
    assert_int_equal(nd.ndim, 2);
    assert_int_equal(nd.shape[1], 100);
    assert_int_equal(nd.chunk[0], 30);
    assert_int_equal(nd.stored[0], 35);
    assert_int_equal(nd.stored[1], 45);
    assert_int_equal(nd.nchunk, 12);
    assert_true(nd.has_dtype);
    for (size_t n = 0; n < sizeof sheet; n++)
        assert_int_not_equal(read_meta(sheet, n, &nd), CIP_OK);
}

static void no_dimension_and_sixteen_are_read(void **state)
{
    (void)state;
    int64_t one[17];
    uint8_t meta[512];
    cip_b2_nd nd;
    for (int k = 0; k < 17; k++)
        one[k] = 1;
    for (int n = 0; n <= 16; n++) {
        size_t len = b2_nd_meta(meta, n, one, one, one, "|u1");
        assert_int_equal(read_meta(meta, len, &nd), CIP_OK);
        assert_int_equal(nd.ndim, n);
        assert_int_equal(nd.nchunk, 1);
    }
    size_t len = b2_nd_meta(meta, 16, one, one, one, NULL); /* caterva */
    assert_int_equal(read_meta(meta, len, &nd), CIP_OK);
    assert_false(nd.has_dtype);
    meta[2] = 17;
    assert_int_equal(read_meta(meta, len, &nd), CIP_ERR_UNSUPPORTED);
}

static void lengths_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        int64_t shape, chunk, block;
        cip_status st;
    } row[] = {
        { 0, 0, 0, CIP_OK },           { 0, 5, 2, CIP_OK },
        { 5, 0, 1, CIP_ERR_CORRUPT },  { 5, 1, 0, CIP_ERR_CORRUPT },
        { -1, 1, 1, CIP_ERR_CORRUPT }, { 5, -1, 1, CIP_ERR_CORRUPT },
        { 5, 1, -1, CIP_ERR_CORRUPT }, { 5, INT32_MAX, INT32_MAX, CIP_OK },
        { INT64_MAX, 1, 1, CIP_OK },   { 2, 1000, 3, CIP_OK },
    };
    uint8_t meta[128];
    cip_b2_nd nd;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        size_t n = b2_nd_meta(meta, 1, &row[i].shape, &row[i].chunk, &row[i].block, "|u1");
        assert_int_equal(read_meta(meta, n, &nd), row[i].st);
    }
    const int64_t many[] = { INT64_MAX, 3 }, one[] = { 1, 1 };
    size_t n = b2_nd_meta(meta, 2, many, one, one, "|u1");
    assert_int_equal(read_meta(meta, n, &nd), CIP_ERR_CORRUPT);
}

/* --- arrays ----------------------------------------------------------------------------------- */

typedef struct made_nd {
    b2_make m;
    uint8_t meta[512];
    int ndim;
    int64_t shape[4], chunk[4], block[4];
} made_nd;

static void make_nd(made_nd *d, uint32_t typesize, const char *dtype)
{
    uint32_t block = typesize, chunk = typesize, n = 1;
    for (int k = 0; k < d->ndim; k++) {
        int64_t nblock = (d->chunk[k] + d->block[k] - 1) / d->block[k];
        block *= (uint32_t)d->block[k];
        chunk *= (uint32_t)(nblock * d->block[k]);
        n *= (uint32_t)((d->shape[k] + d->chunk[k] - 1) / d->chunk[k]);
    }
    d->m = (b2_make){ .typesize = typesize, .blocksize = block, .chunksize = chunk, .nchunk = n };
    d->m.meta_name[0] = dtype != NULL ? "b2nd" : "caterva";
    d->m.meta[0] = d->meta;
    d->m.meta_len[0] = b2_nd_meta(d->meta, d->ndim, d->shape, d->chunk, d->block, dtype);
}

static cip_status open_nd(one_file *f, const made_nd *d)
{
    b2_bytes b = b2_build(&d->m);
    cip_status st = one_open(f, &cip_format_blosc2, b.ptr, b.len, 0, NULL);
    free(b.ptr);
    return st;
}

/* Where the element at idx[] lies in the frame's decoded bytes. */
static uint64_t place_of(const made_nd *d, const int64_t *idx)
{
    uint64_t chunk = 0, block = 0, inside = 0, nblock = 1, each = 1;
    for (int k = 0; k < d->ndim; k++) {
        int64_t r = idx[k] % d->chunk[k], per = (d->chunk[k] + d->block[k] - 1) / d->block[k];
        int64_t nchunk = (d->shape[k] + d->chunk[k] - 1) / d->chunk[k];
        chunk = chunk * (uint64_t)nchunk + (uint64_t)(idx[k] / d->chunk[k]);
        block = block * (uint64_t)per + (uint64_t)(r / d->block[k]);
        inside = inside * (uint64_t)d->block[k] + (uint64_t)(r % d->block[k]);
        nblock *= (uint64_t)per;
        each *= (uint64_t)d->block[k];
    }
    return ((chunk * nblock + block) * each + inside) * d->m.typesize;
}

static void assert_all_elements(const made_nd *d)
{
    one_file f;
    size_t len = 0;
    int64_t idx[4] = { 0 };
    if (open_nd(&f, d) != CIP_OK)
        fail_msg("%s", f.err.text);
    uint8_t *raw = one_read(&f, 0, &len), want[64];
    assert_non_null(raw);
    for (size_t e = 0; e < len / d->m.typesize; e++) {
        b2_pattern(place_of(d, idx), want, d->m.typesize);
        assert_memory_equal(raw + e * d->m.typesize, want, d->m.typesize);
        for (int k = d->ndim - 1; k >= 0 && ++idx[k] == d->shape[k]; k--)
            idx[k] = 0;
    }
    free(raw);
    one_close(&f);
}

static void elements_lie_in_blocks_in_chunks(void **state)
{
    (void)state;
    static const made_nd row[] = {
        { .ndim = 0 },
        { .ndim = 1, .shape = { 23 }, .chunk = { 7 }, .block = { 3 } },
        { .ndim = 2, .shape = { 7, 5 }, .chunk = { 4, 3 }, .block = { 3, 2 } },
        { .ndim = 2, .shape = { 2, 3 }, .chunk = { 4, 9 }, .block = { 2, 5 } },
        { .ndim = 2, .shape = { 6, 6 }, .chunk = { 2, 2 }, .block = { 4, 4 } },
        { .ndim = 3, .shape = { 4, 1, 9 }, .chunk = { 3, 1, 4 }, .block = { 2, 1, 4 } },
        { .ndim = 4, .shape = { 3, 2, 3, 2 }, .chunk = { 2, 2, 2, 1 }, .block = { 1, 2, 1, 1 } },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        made_nd d = row[i];
        make_nd(&d, 2, "<u2");
        assert_all_elements(&d);
    }
}

static const made_nd small = { .ndim = 2, .shape = { 7, 5 }, .chunk = { 4, 3 }, .block = { 3, 2 } };

static void assert_dtype(uint32_t typesize, const char *text, const char *name, bool warned)
{
    made_nd d = small;
    one_file f;
    make_nd(&d, typesize, text);
    assert_int_equal(open_nd(&f, &d), CIP_OK);
    assert_string_equal(f.layout->array[0]->dtype->name, name);
    assert_int_equal(f.env.warnings.count[CIP_WARN], warned ? 1 : 0);
    one_close(&f);
}

static void the_frames_typesize_is_trusted_over_the_dtype(void **state)
{
    (void)state;
    assert_dtype(8, "<f8", "float64", false);
    assert_dtype(4, ">i4", "int32", false);
    assert_dtype(12, "<U3", "ucs4-3", false);
    assert_dtype(8, "<M8[ns]", "datetime64[ns]", false);
    assert_dtype(15, "[('a', '<i4'), ('b', '>f8'), ('c', 'S3')]",
                 "{a: int32, b: float64, c: ascii3}", false);
    assert_dtype(4, "|u1", "bytes4", true);
    assert_dtype(4, "nonsense", "bytes4", true);
    assert_dtype(4, "", "bytes4", true);
    assert_dtype(8, "|O", "bytes8", true);
    assert_dtype(4, NULL, "bytes4", false);
    /* items of over 255 bytes: the frame says 1 */
    made_nd d = { .ndim = 1, .shape = { 5 }, .chunk = { 3 }, .block = { 2 } };
    one_file f;
    make_nd(&d, 300, "|V300");
    d.m.typesize = 1;
    assert_int_equal(open_nd(&f, &d), CIP_OK);
    assert_string_equal(f.layout->array[0]->dtype->name, "bytes300");
    one_close(&f);
}

static void the_array_is_compared_with_its_frame(void **state)
{
    (void)state;
    one_file f;
    made_nd d = small;
    make_nd(&d, 2, "<u2");
    d.m.nchunk--;
    assert_int_equal(open_nd(&f, &d), CIP_ERR_CORRUPT);
    one_close(&f);
    make_nd(&d, 2, "<u2");
    d.m.chunksize += 2;
    assert_int_equal(open_nd(&f, &d), CIP_ERR_CORRUPT);
    one_close(&f);
    make_nd(&d, 2, "<u2");
    d.m.last = 10;
    assert_int_equal(open_nd(&f, &d), CIP_ERR_CORRUPT);
    one_close(&f);
    make_nd(&d, 2, "<u2");
    d.m.typesize = 1 << 30;
    assert_int_equal(open_nd(&f, &d), CIP_ERR_CORRUPT);
    one_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_dtype_are_read),
        cmocka_unit_test(no_dimension_and_sixteen_are_read),
        cmocka_unit_test(lengths_that_cannot_be_are_refused),
        cmocka_unit_test(elements_lie_in_blocks_in_chunks),
        cmocka_unit_test(the_frames_typesize_is_trusted_over_the_dtype),
        cmocka_unit_test(the_array_is_compared_with_its_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
