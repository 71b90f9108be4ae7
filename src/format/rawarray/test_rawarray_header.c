/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "format/rawarray/ra_make.h"
#include "format/rawarray/rawarray.h"

static const uint64_t dims_4x3[] = { 4, 3 };
static const uint8_t zeros[256];

/* A 3 x 4 array of float32, as a start for others. */
static ra_make good(void)
{
    return (ra_make){ .eltype = 3,
                      .elbyte = 4,
                      .size = 48,
                      .ndim = 2,
                      .dims = dims_4x3,
                      .data = zeros,
                      .data_len = 48 };
}

/* Of a file that is `more` bytes longer than what was made. */
static cip_status read_more(const ra_make *m, uint64_t more, bool force, cip_ra_header *h,
                            cip_err *err)
{
    ra_bytes b = ra_build(m);
    cip_bytes in = { b.ptr, b.len < CIP_RA_HEADER_MAX ? b.len : CIP_RA_HEADER_MAX };
    cip_status st = cip_ra_header_read(in, b.len + more, force, h, err);
    free(b.ptr);
    return st;
}

static cip_status read_one(const ra_make *m, cip_ra_header *h)
{
    return read_more(m, 0, false, h, NULL);
}

/* Expects the failure at the offset, and an untouched output. */
static void assert_refused(const ra_make *m, cip_status st, uint64_t offset)
{
    cip_ra_header h = { .flags = 77 };
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(read_more(m, 0, false, &h, &err), st);
    assert_int_equal(err.code, st);
    assert_int_equal(err.offset, offset);
    assert_int_not_equal(err.text[0], '\0');
    assert_int_equal(h.flags, 77);
}

static void all_fields_are_read(void **state)
{
    (void)state;
    ra_make m = good();
    cip_ra_header h;
    m.flags = 1;
    assert_int_equal(read_one(&m, &h), CIP_OK);
    assert_int_equal(h.flags, 1);
    assert_int_equal(h.eltype, 3);
    assert_int_equal(h.elbyte, 4);
    assert_int_equal(h.size, 48);
    assert_int_equal(h.ndim, 2);
    assert_int_equal(h.dims[0], 4);
    assert_int_equal(h.dims[1], 3);
    assert_int_equal(h.raw_len, 48);
    assert_int_equal(h.data_off, 64);
    assert_true(h.data_big);
    assert_false(h.header_big);
    int64_t shape[CIP_MAX_NDIM];
    cip_ra_shape(&h, shape);
    assert_int_equal(shape[0], 3);
    assert_int_equal(shape[1], 4);
}

static void every_truncation_is_reported(void **state)
{
    (void)state;
    ra_make m = good();
    ra_bytes b = ra_build(&m);
    for (size_t n = 0; n < b.len; n++) {
        cip_ra_header h;
        cip_err err = CIP_ERR_INIT;
        uint8_t *exact = malloc(n + 1); /* ASan sees one byte over it */
        memcpy(exact + 1, b.ptr, n);
        cip_status st = cip_ra_header_read((cip_bytes){ exact + 1, n }, n, false, &h, &err);
        assert_int_equal(st, n < 8 ? CIP_ERR_FORMAT : CIP_ERR_TRUNCATED);
        assert_int_equal(err.offset, n < 8 ? 0 : n);
        free(exact);
    }
    free(b.ptr);
}

static void other_magic_is_not_ours(void **state)
{
    (void)state;
    ra_make m = good();
    m.magic = "rawarraz";
    assert_refused(&m, CIP_ERR_FORMAT, 0);
    assert_false(cip_ra_magic((cip_bytes){ (const uint8_t *)"rawarra", 7 }));
    assert_true(cip_ra_magic((cip_bytes){ (const uint8_t *)"rawarray", 8 }));
    assert_true(cip_ra_magic((cip_bytes){ (const uint8_t *)"yarrawar", 8 }));
}

static void big_endian_headers_are_told_by_what_makes_sense(void **state)
{
    (void)state;
    cip_ra_header h;
    ra_make m = good();
    m.big = true;
    assert_int_equal(read_one(&m, &h), CIP_OK);
    assert_true(h.header_big);
    assert_true(h.data_big);
    assert_int_equal(h.dims[0], 4);
    m.flags = 1;
    assert_int_equal(read_one(&m, &h), CIP_OK);
    assert_int_equal(h.flags, 1);
    m.magic = "yarrawar"; /* the magic as a number, written big-endian */
    assert_int_equal(read_one(&m, &h), CIP_OK);
    assert_true(h.header_big);
    m.big = false; /* that magic alone decides */
    assert_int_equal(read_one(&m, &h), CIP_ERR_UNSUPPORTED);
    m.flags = 0;
    assert_int_equal(read_one(&m, &h), CIP_ERR_CORRUPT);
    m = good();
    m.big = true;
    m.eltype = 4; /* the last type there is */
    assert_int_equal(read_one(&m, &h), CIP_OK);
    assert_true(h.header_big);
    /* Only elbyte tells the order of a user-defined scalar. */
    ra_make scalar = { .elbyte = 3, .size = 3, .data = zeros, .data_len = 3, .big = true };
    assert_int_equal(read_one(&scalar, &h), CIP_OK);
    assert_true(h.header_big);
    scalar.big = false;
    assert_int_equal(read_one(&scalar, &h), CIP_OK);
    assert_false(h.header_big);
}

static void an_implausible_header_is_taken_as_little_endian(void **state)
{
    (void)state;
    ra_make m = good();
    m.eltype = 5;
    assert_refused(&m, CIP_ERR_CORRUPT, 16);
    m = good();
    m.ndim = 65536; /* plausible only little-endian, if at all */
    m.ndims_written = 2;
    assert_refused(&m, CIP_ERR_TRUNCATED, 112);
    m.big = true;
    assert_refused(&m, CIP_ERR_CORRUPT, 16);
    m = good();
    m.big = true;
    m.ndim = 65535; /* the largest that still counts as plausible */
    m.ndims_written = 2;
    assert_refused(&m, CIP_ERR_TRUNCATED, 112);
    m = good();
    m.big = true;
    m.elbyte = (uint64_t)1 << 32; /* one over the largest plausible */
    assert_refused(&m, CIP_ERR_CORRUPT, 16);
    m.elbyte = UINT32_MAX;
    assert_refused(&m, CIP_ERR_CORRUPT, 32);
}

static void unknown_flags_are_refused_unless_forced(void **state)
{
    (void)state;
    cip_ra_header h;
    ra_make m = good();
    m.flags = 4;
    assert_refused(&m, CIP_ERR_UNSUPPORTED, 8);
    assert_int_equal(read_more(&m, 0, true, &h, NULL), CIP_OK);
    assert_int_equal(h.flags, 4);
    m.flags = (uint64_t)1 << 63;
    assert_refused(&m, CIP_ERR_UNSUPPORTED, 8);
}

static void only_the_five_element_types_exist(void **state)
{
    (void)state;
    cip_ra_header h;
    ra_make m = good();
    for (m.eltype = 0; m.eltype <= 4; m.eltype++)
        assert_int_equal(read_one(&m, &h), CIP_OK);
    assert_refused(&m, CIP_ERR_CORRUPT, 16);
    m.eltype = UINT64_MAX;
    assert_refused(&m, CIP_ERR_CORRUPT, 16);
}

static void widths_must_make_elements(void **state)
{
    (void)state;
    cip_ra_header h;
    const uint64_t three[] = { 3 };
    ra_make m = { .eltype = 4,
                  .elbyte = 7,
                  .size = 21,
                  .ndim = 1,
                  .dims = three,
                  .data = zeros,
                  .data_len = 21 };
    assert_refused(&m, CIP_ERR_CORRUPT, 24);
    m.eltype = 1;
    assert_int_equal(read_one(&m, &h), CIP_OK);
    m.elbyte = 0;
    assert_refused(&m, CIP_ERR_CORRUPT, 24);
    m.size = 0;
    assert_refused(&m, CIP_ERR_CORRUPT, 24);
    m = (ra_make){ .eltype = 1, .elbyte = (uint64_t)1 << 63, .size = (uint64_t)1 << 63 };
    assert_refused(&m, CIP_ERR_CORRUPT, 24);
    m = (ra_make){ .eltype = 1, .elbyte = INT64_MAX, .size = INT64_MAX };
    assert_refused(&m, CIP_ERR_TRUNCATED, 48);
}

static void up_to_64_dimensions_are_read(void **state)
{
    (void)state;
    cip_ra_header h;
    uint64_t ones[65];
    for (size_t i = 0; i < 65; i++)
        ones[i] = 1;
    ra_make m = { .eltype = 2, .elbyte = 1, .size = 1, .data = zeros, .data_len = 1 };
    m.dims = ones;
    m.ndim = 64;
    assert_int_equal(read_one(&m, &h), CIP_OK);
    assert_int_equal(h.ndim, 64);
    assert_int_equal(h.data_off, CIP_RA_HEADER_MAX);
    m.ndim = 65;
    assert_refused(&m, CIP_ERR_UNSUPPORTED, 40);
    m.ndims_written = 64; /* with the one byte of data, 7 are missing */
    assert_refused(&m, CIP_ERR_TRUNCATED, 48 + 64 * 8 + 1);
    m.ndim = (uint64_t)1 << 61; /* times 8 is 0 */
    assert_refused(&m, CIP_ERR_TRUNCATED, 48 + 64 * 8 + 1);
    m.ndim = 0;
    m.ndims_written = 0;
    assert_int_equal(read_one(&m, &h), CIP_OK);
    assert_int_equal(h.raw_len, 1);
    assert_int_equal(h.data_off, 48);
}

static void dims_that_need_too_much_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t dims[3];
        uint64_t offset; /* of the first that is too much */
    } bad[] = {
        { { (uint64_t)1 << 32, (uint64_t)1 << 32, 1 }, 56 },
        { { (uint64_t)1 << 63, 2, 6 }, 48 }, /* 12 modulo 2^64 */
        { { UINT64_MAX, 1, 1 }, 48 },
        { { 0, (uint64_t)1 << 63, 1 }, 56 },
        { { 0, (uint64_t)1 << 31, (uint64_t)1 << 31 }, 64 },
        { { (uint64_t)1 << 31, (uint64_t)1 << 30, 1 }, 56 }, /* 2^63 with 4 bytes each */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ra_make m = good();
        m.ndim = 3;
        m.dims = bad[i].dims;
        m.size = 0;
        assert_refused(&m, CIP_ERR_CORRUPT, bad[i].offset);
    }
}

static void the_largest_array_is_only_too_long_for_the_file(void **state)
{
    (void)state;
    cip_ra_header h;
    const uint64_t dims[] = { ((uint64_t)1 << 61) - 1 };
    ra_make m = good();
    m.ndim = 1;
    m.dims = dims;
    m.size = dims[0] * 4;
    assert_refused(&m, CIP_ERR_TRUNCATED, 56 + 48);
    m.data_len = 0;
    assert_int_equal(read_more(&m, m.size, false, &h, NULL), CIP_OK);
    assert_int_equal(read_more(&m, m.size - 1, false, &h, NULL), CIP_ERR_TRUNCATED);
}

static void an_empty_axis_makes_an_empty_array(void **state)
{
    (void)state;
    cip_ra_header h;
    const uint64_t dims[] = { 5, 0, 7 };
    ra_make m = good();
    m.ndim = 3;
    m.dims = dims;
    m.size = 0;
    m.data_len = 0;
    assert_int_equal(read_one(&m, &h), CIP_OK);
    assert_int_equal(h.raw_len, 0);
    m.size = 4;
    assert_refused(&m, CIP_ERR_CORRUPT, 32);
}

static void the_size_must_be_that_of_the_dims(void **state)
{
    (void)state;
    ra_make m = good();
    m.size = 47;
    assert_refused(&m, CIP_ERR_CORRUPT, 32);
    m.size = 49;
    assert_refused(&m, CIP_ERR_CORRUPT, 32);
    m.size = UINT64_MAX - 8;
    assert_refused(&m, CIP_ERR_CORRUPT, 32);
}

static void compressed_sizes_must_be_possible(void **state)
{
    (void)state;
    cip_ra_header h;
    const uint64_t n[] = { 255 * 48 / 4 + 63 }, over[] = { n[0] + 1 };
    ra_make m = good();
    m.flags = 2;
    m.ndim = 1;
    m.dims = n; /* 255 times the stored bytes, and up to 254 more */
    assert_int_equal(read_one(&m, &h), CIP_OK);
    assert_int_equal(h.raw_len, n[0] * 4);
    m.dims = over;
    assert_refused(&m, CIP_ERR_CORRUPT, 32);
    m.size = 49; /* enough, but not there */
    assert_refused(&m, CIP_ERR_TRUNCATED, 56 + 48);
    m.size = UINT64_MAX;
    assert_refused(&m, CIP_ERR_TRUNCATED, 56 + 48);
    const uint64_t most[] = { CIP_RA_LZ4_MAX }, more[] = { (uint64_t)CIP_RA_LZ4_MAX + 1 };
    m.elbyte = 1;
    m.eltype = 2;
    m.size = CIP_RA_LZ4_MAX / 200;
    m.dims = most;
    assert_int_equal(read_more(&m, m.size, false, &h, NULL), CIP_OK);
    m.dims = more;
    assert_int_equal(read_more(&m, m.size, false, &h, NULL), CIP_ERR_UNSUPPORTED);
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    ra_make m = good();
    cip_ra_header h;
    uint8_t out[CIP_RA_HEADER_MAX];
    m.flags = 3;
    m.size = 7;
    ra_bytes b = ra_build(&m);
    assert_int_equal(cip_ra_header_read((cip_bytes){ b.ptr, b.len }, b.len, false, &h, NULL),
                     CIP_OK);
    assert_int_equal(cip_ra_header_write(&h, out), 64);
    assert_memory_equal(out, b.ptr, 64);
    free(b.ptr);
}

/* --- types ---------------------------------------------------------------------------------- */

typedef struct types {
    cip_mem mem;
    cip_arena arena;
} types;

static int types_setup(void **state)
{
    types *t = calloc(1, sizeof *t);
    cip_mem_init(&t->mem, NULL, 0);
    t->arena.mem = &t->mem;
    *state = t;
    return 0;
}

static int types_teardown(void **state)
{
    types *t = *state;
    cip_arena_clear(&t->arena);
    int held = atomic_load(&t->mem.used) != 0;
    free(t);
    return held;
}

/* The name of the dtype, and of the document's query for it; back to the same eltype. */
static void assert_type(types *t, uint64_t eltype, uint64_t elbyte, bool big, const char *name,
                        const char *query)
{
    const cip_ra_header h = { .eltype = eltype, .elbyte = elbyte, .data_big = big };
    const cip_dtype *d;
    bool lost;
    cip_buf b = { .mem = &t->mem };
    assert_int_equal(cip_ra_dtype(&t->arena, &h, &d, NULL), CIP_OK);
    assert_string_equal(cip_dtype_name(d), name);
    assert_int_equal(cip_dtype_itemsize(d), elbyte);
    assert_int_equal(cip_ra_eltype(d, big, &lost), eltype);
    assert_false(lost);
    assert_int_equal(cip_ra_type_name(&h, &b, NULL), CIP_OK);
    assert_int_equal(cip_buf_nul(&b, NULL), CIP_OK);
    assert_string_equal((char *)b.ptr, query);
    cip_buf_clear(&b);
}

static void every_type_and_width_has_its_dtype(void **state)
{
    types *t = *state;
    static const char *const stem[] = { "bytes", "int", "uint", "float", "complex" };
    static const char *const asked[] = { "user", "int", "uint", "float", "complex" };
    for (uint64_t eltype = 0; eltype <= 4; eltype++)
        for (uint64_t n = eltype == 4 ? 2 : 1; n <= 40; n += eltype == 4 ? 2 : 1) {
            bool fixed = (eltype == 1 || eltype == 2) && (n == 1 || n == 2 || n == 4 || n == 8);
            fixed = fixed || (eltype == 3 && (n == 2 || n == 4 || n == 8));
            fixed = fixed || (eltype == 4 && (n == 8 || n == 16));
            char name[32], query[32];
            snprintf(query, sizeof query, "%s%d", asked[eltype], (int)n * 8);
            snprintf(name, sizeof name, "%s%d", stem[eltype], (int)(eltype == 0 ? n : n * 8));
            assert_type(t, eltype, n, false, name, query);
            if (!fixed && eltype != 0)
                strcat(name, "be");
            assert_type(t, eltype, n, true, name, query);
        }
}

static void numbers_have_the_order_of_the_data(void **state)
{
    types *t = *state;
    cip_ra_header h = { .eltype = 3, .elbyte = 4, .data_big = true };
    const cip_dtype *d;
    assert_int_equal(cip_ra_dtype(&t->arena, &h, &d, NULL), CIP_OK);
    assert_int_equal(cip_dtype_kind(d), CIP_F32);
    assert_true(cip_dtype_is_big(d));
    h.data_big = false;
    assert_int_equal(cip_ra_dtype(&t->arena, &h, &d, NULL), CIP_OK);
    assert_false(cip_dtype_is_big(d));
}

static void widths_of_over_2_to_61_are_named_in_bits(void **state)
{
    types *t = *state;
    cip_ra_header h = { .eltype = 1, .elbyte = INT64_MAX };
    cip_buf b = { .mem = &t->mem };
    assert_int_equal(cip_ra_type_name(&h, &b, NULL), CIP_OK);
    assert_memory_equal(b.ptr, "int73786976294838206456", 23);
    assert_int_equal(b.len, 23);
    b.len = 0;
    h.elbyte = 125000000; /* a round number of bits */
    assert_int_equal(cip_ra_type_name(&h, &b, NULL), CIP_OK);
    assert_memory_equal(b.ptr, "int1000000000", 13);
    assert_int_equal(b.len, 13);
    cip_buf_clear(&b);
}

static void assert_user(types *t, const char *label, uint64_t n, bool big, bool want_lost)
{
    const cip_dtype *d;
    bool lost = !want_lost;
    assert_int_equal(cip_dtype_opaque(&t->arena, n, label, &d, NULL), CIP_OK);
    assert_int_equal(cip_ra_eltype(d, big, &lost), CIP_RA_USER);
    assert_int_equal(lost, want_lost);
}

static void names_that_rawarray_cannot_hold_are_lost(void **state)
{
    types *t = *state;
    bool lost = false;
    const cip_dtype *d;
    assert_int_equal(cip_ra_eltype(cip_dtype_of(CIP_BOOL), false, &lost), CIP_RA_USER);
    assert_true(lost);
    assert_int_equal(cip_dtype_ascii(&t->arena, 5, &d, NULL), CIP_OK);
    assert_int_equal(cip_ra_eltype(d, false, &lost), CIP_RA_USER);
    assert_true(lost);
    assert_user(t, NULL, 12, false, false);
    assert_user(t, "rawarray(int8)", 49, false, false);
    assert_user(t, "int24", 3, true, true); /* little-endian in a big-endian file */
    assert_user(t, "int24be", 3, false, true);
    assert_user(t, "int24", 4, false, true);
    assert_user(t, "int25", 3, false, true);
    assert_user(t, "int024", 3, false, true);
    assert_user(t, "int+24", 3, false, true);
    assert_user(t, "int", 3, false, true);
    assert_user(t, "int24x", 3, false, true);
    assert_user(t, "complex24", 3, false, true);
    assert_user(t, "bfloat16", 2, false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fields_are_read),
        cmocka_unit_test(every_truncation_is_reported),
        cmocka_unit_test(other_magic_is_not_ours),
        cmocka_unit_test(big_endian_headers_are_told_by_what_makes_sense),
        cmocka_unit_test(an_implausible_header_is_taken_as_little_endian),
        cmocka_unit_test(unknown_flags_are_refused_unless_forced),
        cmocka_unit_test(only_the_five_element_types_exist),
        cmocka_unit_test(widths_must_make_elements),
        cmocka_unit_test(up_to_64_dimensions_are_read),
        cmocka_unit_test(dims_that_need_too_much_are_refused),
        cmocka_unit_test(the_largest_array_is_only_too_long_for_the_file),
        cmocka_unit_test(an_empty_axis_makes_an_empty_array),
        cmocka_unit_test(the_size_must_be_that_of_the_dims),
        cmocka_unit_test(compressed_sizes_must_be_possible),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test_setup_teardown(every_type_and_width_has_its_dtype, types_setup,
                                        types_teardown),
        cmocka_unit_test_setup_teardown(numbers_have_the_order_of_the_data, types_setup,
                                        types_teardown),
        cmocka_unit_test_setup_teardown(widths_of_over_2_to_61_are_named_in_bits, types_setup,
                                        types_teardown),
        cmocka_unit_test_setup_teardown(names_that_rawarray_cannot_hold_are_lost, types_setup,
                                        types_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
