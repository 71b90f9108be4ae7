/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "array/half.h"
#include "cippus/ext/io.h"
#include "support/core/core_testing.h"

/* A picture, and what it shows. */
typedef struct made {
    char *mem;
    cip_file *file;
    cip_picture *picture;
    cip_picture_facts f;
    cip_status st;
    cip_err err;
} made;

static made make(const char *descr, const char *shape, const void *data, size_t nbytes,
                 const char *selection, const cip_picture_options *o)
{
    made m = { .f.size = sizeof m.f, .err = CIP_ERR_INIT };
    m.file = test_open_npy(descr, shape, data, nbytes, &m.mem);
    m.st = cip_picture_make(cip_file_array(m.file, 0), CIP_READ_ARGS(.selection = selection), o,
                            &m.picture, &m.err);
    assert_true((m.st == CIP_OK) == (m.picture != NULL));
    if (m.st == CIP_OK)
        assert_int_equal(cip_picture_get(m.picture, &m.f, NULL), CIP_OK);
    return m;
}

static void end(made *m)
{
    cip_picture_free(m->picture);
    cip_file_close(m->file);
    free(m->mem);
}

static uint32_t pixel(const made *m, uint32_t x, uint32_t y)
{
    const uint8_t *p = m->f.pixels + 4 * ((size_t)y * m->f.width + x);
    assert_true(x < m->f.width && y < m->f.height);
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t grey(int v)
{
    return (uint32_t)v * 0x01010100u | 0xff;
}

static const cip_picture_options by_grey = {
    .size = sizeof by_grey, .map = "gray", .has_limits = true, .high = 4, .zoom = 1
};

/* Values 0 to 5 in two rows, between limits 0 and 4. */
static void expect_ramp(made *m)
{
    assert_int_equal(m->st, CIP_OK);
    assert_true(m->f.width == 3 && m->f.height == 2 && m->f.whole && !m->f.line);
    assert_int_equal(pixel(m, 0, 0), grey(0));
    assert_int_equal(pixel(m, 1, 0), grey(64));
    assert_int_equal(pixel(m, 2, 0), grey(128));
    assert_int_equal(pixel(m, 0, 1), grey(192));
    assert_int_equal(pixel(m, 1, 1), grey(255));
    assert_int_equal(pixel(m, 2, 1), grey(255));
    end(m);
}

/* The ramp as the type of a descr ("<i2"): of the little-endian one and of its bytes reversed. */
static void ramp_of(const char *code, size_t size, const void *little)
{
    char descr[16], swapped[6 * 16];
    made m;
    snprintf(descr, sizeof descr, "'<%s'", code);
    m = make(descr, "(2, 3)", little, 6 * size, NULL, &by_grey);
    expect_ramp(&m);
    const size_t unit = code[0] == 'c' ? size / 2 : size;
    m = make(descr, "(2, 3)", little, 6 * size, NULL, &by_grey);
    const char *stored = m.mem + 128; /* in the file, little-endian */
    for (size_t at = 0; at < 6 * size; at += unit)
        for (size_t k = 0; k < unit; k++)
            swapped[at + k] = stored[at + unit - 1 - k];
    end(&m);
    descr[1] = '>';
    m = make(descr, "(2, 3)", swapped, 6 * size, NULL, &by_grey);
    expect_ramp(&m);
}

#define RAMP(type, code)                                                                           \
    do {                                                                                           \
        const type v[6] = { 0, 1, 2, 3, 4, 5 };                                                    \
        ramp_of(code, sizeof(type), v);                                                            \
    } while (0)

static void every_type_and_byte_order_gives_the_same_pixels(void **state)
{
    (void)state;
    RAMP(int8_t, "i1");
    RAMP(int16_t, "i2");
    RAMP(int32_t, "i4");
    RAMP(int64_t, "i8");
    RAMP(uint8_t, "u1");
    RAMP(uint16_t, "u2");
    RAMP(uint32_t, "u4");
    RAMP(uint64_t, "u8");
    RAMP(float, "f4");
    RAMP(double, "f8");
    RAMP(int64_t, "M8[ns]");
    RAMP(int64_t, "m8[s]");
    uint16_t half[6];
    double complex_of[12];
    for (int i = 0; i < 6; i++) {
        half[i] = cip_half_from_double(i);
        complex_of[2 * i] = -0.6 * i; /* of absolute value i */
        complex_of[2 * i + 1] = 0.8 * i;
    }
    ramp_of("f2", 2, half);
    ramp_of("c16", 16, complex_of);
}

static void first_axis_fastest_gives_the_same_pixels(void **state)
{
    (void)state;
    const uint8_t v[] = { 0, 3, 1, 4, 2, 5 };
    made m = { .f.size = sizeof m.f };
    size_t n;
    m.mem = test_npy("'|u1'", "(2, 3)", 1, v, sizeof v, &n);
    assert_int_equal(cip_open_memory(m.mem, n, NULL, &m.file, NULL), CIP_OK);
    m.st = cip_picture_make(cip_file_array(m.file, 0), NULL, &by_grey, &m.picture, NULL);
    cip_picture_get(m.picture, &m.f, NULL);
    expect_ramp(&m);
}

static void bool_shows_false_and_true(void **state)
{
    (void)state;
    made m =
        make("'|b1'", "(1, 3)", "\0\1\7", 3, NULL, CIP_PICTURE_OPTIONS(.map = "gray_r", .zoom = 1));
    assert_int_equal(m.st, CIP_OK);
    assert_true(m.f.low == 0 && m.f.high == 1);
    assert_int_equal(pixel(&m, 0, 0), grey(255));
    assert_int_equal(pixel(&m, 2, 0), grey(0));
    end(&m);
}

static void what_is_no_number_has_its_own_colour(void **state)
{
    (void)state;
    const double v[] = { NAN, -INFINITY, 2, INFINITY };
    cip_picture_options o = by_grey;
    o.bad = 0x01020304;
    made m = make("'<f8'", "(2, 2)", v, sizeof v, NULL, &o);
    assert_int_equal(pixel(&m, 0, 0), 0x01020304);
    assert_int_equal(pixel(&m, 1, 0), grey(0));
    assert_int_equal(pixel(&m, 0, 1), grey(128));
    assert_int_equal(pixel(&m, 1, 1), grey(255));
    assert_true(m.f.nmissing == 1 && m.f.ninf == 2 && m.f.nelem == 4);
    end(&m);
    o.transparent = true;
    m = make("'<f8'", "(2, 2)", v, sizeof v, NULL, &o);
    assert_int_equal(pixel(&m, 0, 0), 0);
    end(&m);
    const int64_t nat[] = { INT64_MIN, 5 };
    m = make("'<M8[s]'", "(1, 2)", nat, sizeof nat, NULL, &by_grey);
    assert_int_equal(pixel(&m, 0, 0), 0xff00ffff);
    assert_true(m.f.nmissing == 1);
    end(&m);
}

/* What is NaT of a date is a number like others of an integer. */
static void the_ends_of_integers_are_numbers(void **state)
{
    (void)state;
    const int64_t least[] = { INT64_MIN, INT64_MIN + 4 };
    const uint64_t most[] = { UINT64_MAX - 4, UINT64_MAX };
    const cip_picture_options *o = CIP_PICTURE_OPTIONS(.map = "gray", .zoom = 1);
    for (int i = 0; i < 2; i++) {
        made m = i == 0 ? make("'<i8'", "(1, 2)", least, sizeof least, NULL, o)
                        : make("'<u8'", "(1, 2)", most, sizeof most, NULL, o);
        assert_int_equal(m.f.nmissing, 0);
        assert_int_equal(pixel(&m, 0, 0), grey(0));
        assert_int_equal(pixel(&m, 1, 0), grey(255));
        end(&m);
    }
    const int64_t nat[] = { INT64_MIN, 5 };
    made m = make("'<m8[s]'", "(1, 2)", nat, sizeof nat, NULL, &by_grey);
    assert_int_equal(m.f.nmissing, 1);
    end(&m);
}

static void masked_elements_are_missing(void **state)
{
    (void)state;
    enum { ROWS = 4, COLUMNS = 6 };
    uint8_t mask[ROWS * COLUMNS];
    cip_read_args args = { .size = sizeof args, .mask = mask };
    made m = { .f.size = sizeof m.f };
    assert_int_equal(cip_open(CIP_SOURCE_DIR "/samples/night.asdf", NULL, &m.file, NULL), CIP_OK);
    const cip_array *a = cip_find(m.file, "masked", NULL);
    assert_int_equal(cip_read_into(a, &args, NULL), CIP_OK);
    assert_int_equal(cip_picture_make(a, NULL, CIP_PICTURE_OPTIONS(.zoom = 1), &m.picture, NULL),
                     CIP_OK);
    assert_int_equal(cip_picture_get(m.picture, &m.f, NULL), CIP_OK);
    assert_true(m.f.width == COLUMNS && m.f.height == ROWS && m.f.nmissing != 0);
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
        assert_int_equal(pixel(&m, i % COLUMNS, i / COLUMNS) == 0xff00ffff, mask[i] != 0);
    end(&m);
}

static void values_of_nothing_have_no_limits(void **state)
{
    (void)state;
    const double v[] = { NAN, INFINITY };
    made m =
        make("'<f8'", "(1, 2)", v, sizeof v, NULL, CIP_PICTURE_OPTIONS(.map = "gray", .zoom = 1));
    assert_true(isnan(m.f.low) && isnan(m.f.high));
    assert_int_equal(pixel(&m, 1, 0), grey(255));
    end(&m);
    const double same[] = { 7, 7 };
    m = make("'<f8'", "(1, 2)", same, sizeof same, NULL,
             CIP_PICTURE_OPTIONS(.map = "gray", .zoom = 1));
    assert_true(m.f.low == 7 && m.f.high == 7 && m.f.ninf == 0);
    assert_int_equal(pixel(&m, 1, 0), grey(128));
    end(&m);
}

static void scales_place_values_as_documented(void **state)
{
    (void)state;
    const double v[] = { -1, 1, 10, 100 };
    cip_picture_options o = {
        .size = sizeof o, .map = "gray", .zoom = 1, .has_limits = true, .low = 1, .high = 100
    };
    o.scale = CIP_PICTURE_LOG;
    made m = make("'<f8'", "(1, 4)", v, sizeof v, NULL, &o);
    assert_int_equal(pixel(&m, 0, 0), 0xff00ffff);
    assert_int_equal(pixel(&m, 1, 0), grey(0));
    assert_int_equal(pixel(&m, 2, 0), grey(128));
    assert_true(m.f.nmissing == 1);
    end(&m);
    o.scale = CIP_PICTURE_SQRT;
    m = make("'<f8'", "(1, 4)", v, sizeof v, NULL, &o);
    assert_int_equal(pixel(&m, 2, 0), grey((int)(sqrt(9 / 99.0) * 256)));
    end(&m);
    o.scale = CIP_PICTURE_ASINH;
    m = make("'<f8'", "(1, 4)", v, sizeof v, NULL, &o);
    assert_int_equal(pixel(&m, 0, 0), grey(0));
    assert_int_equal(pixel(&m, 2, 0), grey((int)(asinh(90 / 99.0) / asinh(10) * 256)));
    end(&m);
}

static void percentiles_are_those_of_numpy(void **state)
{
    (void)state;
    uint8_t v[101];
    for (int i = 0; i < 101; i++)
        v[i] = (uint8_t)i;
    made m = make("'|u1'", "(1, 101)", v, sizeof v, NULL,
                  CIP_PICTURE_OPTIONS(.low_percentile = 2.5, .high_percentile = 90));
    assert_true(fabs(m.f.low - 2.5) < 1e-9 && fabs(m.f.high - 90) < 1e-9);
    end(&m);
}

static void small_differences_of_large_integers_are_seen(void **state)
{
    (void)state;
    const int64_t v[] = { (INT64_C(1) << 62) + 1, (INT64_C(1) << 62) + 2, (INT64_C(1) << 62) + 3 };
    made m = make("'<i8'", "(1, 3)", v, sizeof v, NULL,
                  CIP_PICTURE_OPTIONS(.map = "gray", .zoom = 1, .high_percentile = 100));
    assert_int_equal(pixel(&m, 0, 0), grey(0));
    assert_int_equal(pixel(&m, 1, 0), grey(128));
    assert_int_equal(pixel(&m, 2, 0), grey(255));
    assert_true(m.f.base == 0x1p62 && m.f.values[2] == 2);
    end(&m);
    const int64_t below[] = { -(INT64_C(1) << 62), -(INT64_C(1) << 62) - 3 };
    m = make("'<i8'", "(1, 2)", below, sizeof below, NULL, NULL);
    assert_true(m.f.base == -0x1p62 && m.f.values[0] == 0 && m.f.values[1] == -3);
    end(&m);
    const uint64_t above[] = { (UINT64_C(1) << 63) + 5, (UINT64_C(1) << 63) + 4, 0 };
    m = make("'<u8'", "(1, 3)", above, sizeof above, NULL, NULL);
    assert_true(m.f.base == 0x1p63 && m.f.values[1] == -1 && m.f.values[2] == -0x1p63);
    end(&m);
}

static void large_images_are_reduced(void **state)
{
    (void)state;
    const size_t n = 300 * 500;
    uint16_t *v = malloc(n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = (uint16_t)(i % 500);
    cip_picture_options o = { .size = sizeof o,
                              .map = "gray",
                              .max_width = 100,
                              .max_height = 100,
                              .reduce = CIP_PICTURE_SAMPLE,
                              .has_limits = true,
                              .high = 500 };
    made m = make("'<u2'", "(300, 500)", v, n * 2, "[::-1, 10:]", &o);
    assert_true(m.f.across.n == 98 && m.f.across.step == 5 && m.f.across.start == 10);
    assert_true(m.f.down.n == 60 && m.f.down.step == -5 && m.f.down.start == 299);
    assert_true(m.f.across.axis == 1 && m.f.down.axis == 0 && !m.f.whole);
    assert_int_equal(m.f.nelem, 98 * 60);
    assert_int_equal(pixel(&m, 7, 3), grey((int)(45 / 500.0 * 256)));
    end(&m);
    static const struct {
        cip_picture_reduce how;
        double value;
    } kinds[] = { { CIP_PICTURE_MIN, 35 }, { CIP_PICTURE_MAX, 39 }, { CIP_PICTURE_MEAN, 37 } };
    for (size_t i = 0; i < 3; i++) {
        o.reduce = kinds[i].how;
        m = make("'<u2'", "(300, 500)", v, n * 2, NULL, &o);
        assert_true(m.f.whole && m.f.nelem == n);
        assert_int_equal(pixel(&m, 7, 3), grey((int)(kinds[i].value / 500 * 256)));
        end(&m);
    }
    free(v);
}

/* An image of 1100 x 1000 elements: 1000 and 1001 by turns, but for what is put into it. */
static double *flat(void)
{
    double *v = malloc(1100000 * sizeof *v);
    for (size_t i = 0; i < 1100000; i++)
        v[i] = 1000 + (double)(i % 2);
    return v;
}

static void single_elements_are_seen_in_any_image(void **state)
{
    (void)state;
    double *v = flat();
    v[1073 * 1000 + 555] = 9000; /* beyond 2^20 elements, which are read in parts */
    v[17 * 1000 + 999] = -9000;
    v[18 * 1000 + 999] = NAN;
    v[600 * 1000] = INFINITY;
    v[600 * 1000 + 2] = -INFINITY;
    cip_picture_options o = { .size = sizeof o,
                              .map = "gray",
                              .max_width = 100,
                              .max_height = 110,
                              .has_limits = true,
                              .low = -9000,
                              .high = 9000 };
    for (size_t kind = 0; kind < 2; kind++) {
        made m = make("'<f8'", "(1100, 1000)", v, 8800000, NULL, &o);
        assert_int_equal(m.st, CIP_OK);
        assert_true(m.f.whole && m.f.reduce == CIP_PICTURE_EXTREMES && m.f.nelem == 1100000);
        assert_true(m.f.nmissing == 1 && m.f.ninf == 2 && m.f.nvalue == 100 * 110);
        assert_int_equal(pixel(&m, 55, 107), grey(255));
        assert_int_equal(pixel(&m, 99, 1), grey(0));
        assert_int_equal(pixel(&m, 0, 60), grey(255)); /* either is as far */
        assert_true(m.f.values[107 * 100 + 55] == 9000 && m.f.values[100 + 99] == -9000);
        assert_true(m.f.values[0] == 1000 || m.f.values[0] == 1001);
        assert_memory_equal(m.f.colours + 4 * 255, "\xff\xff\xff\xff", 4);
        end(&m);
        o.has_limits = false; /* those of the values leave them at the ends */
        o.high_percentile = 100;
    }
    free(v);
}

static void extremes_lie_around_the_median(void **state)
{
    (void)state;
    cip_picture_options o = { .size = sizeof o, .max_width = 3, .max_height = 2 };
    /* boxes of 2 x 2; the first elements are 5, 5, 6, 6, NaN, 1000: of them 6 is in the middle */
    const double v[] = { 5, 9, 5,   -10, 6,    6, /**/ 5, 5, 20,  20,  6, 6,
                         6, 5, NAN, NAN, 1000, 7, /**/ 6, 8, NAN, NAN, 6, 1000 };
    made m = make("'<f8'", "(4, 6)", v, sizeof v, NULL, &o);
    assert_true(m.st == CIP_OK && m.f.nvalue == 6 && m.f.whole);
    static const double expected[] = { 9, -10, 6, 8, 0, 1000 };
    for (int i = 0; i < 6; i++)
        assert_true(i == 4 ? isnan(m.f.values[i]) : m.f.values[i] == expected[i]);
    end(&m);
    const int64_t big = INT64_C(1) << 62;
    const int64_t large[] = { big + 4, big + 4, big + 4, big + 9, big + 4, big - 2, big + 4, big };
    m = make("'<i8'", "(2, 4)", large, sizeof large, NULL,
             CIP_PICTURE_OPTIONS(.max_width = 2, .max_height = 1));
    assert_true(m.f.base == (double)big && m.f.nvalue == 2);
    assert_true(m.f.values[0] == -6 && m.f.values[1] == 5);
    end(&m);
}

static void extremes_that_cost_too_much_are_samples(void **state)
{
    (void)state;
    double *v = flat();
    v[1073 * 1000 + 555] = 9000;
    cip_picture_options o = { .size = sizeof o, .max_width = 50, .max_height = 50 };
    o.max_nbytes = 8 << 20;
    made m = make("'<f8'", "(1100, 1000)", v, 8800000, NULL, &o);
    assert_true(m.st == CIP_OK && !m.f.whole && m.f.reduce == CIP_PICTURE_SAMPLE);
    assert_true(m.f.across.n == 46 && m.f.nelem == 46 * 50 && m.f.nbytes <= o.max_nbytes);
    end(&m);
    o.max_nbytes = 9 << 20;
    m = make("'<f8'", "(1100, 1000)", v, 8800000, NULL, &o);
    assert_true(m.f.whole && m.f.reduce == CIP_PICTURE_EXTREMES);
    o.max_nbytes = m.f.nbytes;
    end(&m);
    m = make("'<f8'", "(1100, 1000)", v, 8800000, NULL, &o);
    assert_true(m.f.whole);
    end(&m);
    free(v);
    m = make("'<f8'", "(1, 2)", (const double[]){ 1, 2 }, 16, NULL, NULL);
    assert_true(m.f.whole && m.f.reduce == CIP_PICTURE_SAMPLE && m.f.values[1] == 2);
    end(&m);
}

static void rows_longer_than_a_part_are_whole(void **state)
{
    (void)state;
    const size_t n = 1500000; /* elements of a row, which are read 2^20 at once */
    uint8_t *v = malloc(2 * n);
    memset(v, 7, 2 * n);
    v[n + (1 << 20) + 1] = 9;
    made m = make("'|u1'", "(2, 1500000)", v, 2 * n, NULL,
                  CIP_PICTURE_OPTIONS(.max_width = 7, .max_height = 7, .zoom = 1));
    assert_true(m.st == CIP_OK && m.f.whole && m.f.across.n == 7 && m.f.down.n == 2);
    for (size_t i = 0; i < 14; i++)
        assert_true(m.f.values[i] == (i == 7 + 4 ? 9 : 7));
    end(&m);
    free(v);
}

static void either_part_of_a_complex_number_may_be_missing(void **state)
{
    (void)state;
    const double v[] = { NAN, 1, 1, NAN, 3, 4 };
    made m = make("'<c16'", "(1, 3)", v, sizeof v, NULL, NULL);
    assert_true(m.f.nmissing == 2 && isnan(m.f.values[0]) && m.f.values[2] == 5);
    end(&m);
}

static void fractions_of_halves_and_rows_before_the_first_are_right(void **state)
{
    (void)state;
    const uint16_t v[] = { cip_half_from_double(9), cip_half_from_double(0.5),
                           cip_half_from_double(1.5), cip_half_from_double(2.5) };
    made m = make("'<f2'", "(4, 1)", v, sizeof v, "[3:0:-1]", NULL);
    assert_true(m.f.nelem == 3 && m.f.nvalue == 3 && m.f.down.n == 3);
    assert_true(m.f.values[0] == 2.5 && m.f.values[1] == 1.5 && m.f.values[2] == 0.5);
    end(&m);
}

static void infinities_have_no_mean(void **state)
{
    (void)state;
    const double v[] = { INFINITY, 1, 2, 3, -INFINITY, 1, 4, 5 };
    made m = make("'<f8'", "(2, 4)", v, sizeof v, NULL,
                  CIP_PICTURE_OPTIONS(.max_width = 2, .max_height = 1, .reduce = CIP_PICTURE_MEAN));
    assert_true(m.st == CIP_OK && isnan(m.f.values[0]) && m.f.values[1] == 3.5);
    end(&m);
}

static void narrow_arrays_keep_some_places_of_each_axis(void **state)
{
    (void)state;
    uint8_t *v = calloc(100000, 3);
    made m = make("'|u1'", "(100000, 3)", v, 300000, NULL, NULL);
    assert_true(m.f.across.n == 3 && m.f.across.step == 1 && m.f.width >= 32);
    assert_true(m.f.down.step == 98 && m.f.height <= 1024);
    end(&m);
    free(v);
}

static void leading_axes_show_their_first_index(void **state)
{
    (void)state;
    uint8_t v[2 * 3 * 4 * 5];
    for (size_t i = 0; i < sizeof v; i++)
        v[i] = (uint8_t)i;
    made m = make("'|u1'", "(2, 3, 4, 5)", v, sizeof v, "[1]",
                  CIP_PICTURE_OPTIONS(.map = "gray", .zoom = 1, .has_limits = true, .high = 256));
    assert_true(m.f.nfixed == 1 && m.f.fixed[0] == 1 && !m.f.whole);
    assert_true(m.f.across.axis == 3 && m.f.down.axis == 2);
    assert_int_equal(pixel(&m, 4, 3), grey(79));
    end(&m);
    m = make("'|u1'", "(2, 3, 4, 5)", v, sizeof v, "[1, 2, None, 3]", NULL);
    assert_true(m.f.nfixed == 0 && m.f.whole && m.f.down.axis == -1 && m.f.down.n == 1);
    end(&m);
}

static void lines_keep_the_smallest_and_largest(void **state)
{
    (void)state;
    double *v = calloc(100000, sizeof *v);
    v[1234] = 9; /* one element of many in its pixel */
    v[77777] = -9;
    made m = make("'<f8'", "(100000,)", v, 100000 * sizeof *v, NULL,
                  CIP_PICTURE_OPTIONS(.max_width = 100, .max_height = 19, .line = 0x000000ff));
    assert_true(m.f.line && m.f.whole && m.f.width == 100 && m.f.height == 19);
    assert_true(m.f.low == -9 && m.f.high == 9 && m.f.across.step == 1000 && m.f.down.axis == -1);
    assert_int_equal(pixel(&m, 1, 0), 0x000000ff);
    assert_int_equal(pixel(&m, 1, 9), 0x000000ff);
    assert_int_equal(pixel(&m, 0, 0), 0xffffffff);
    assert_int_equal(pixel(&m, 77, 18), 0x000000ff);
    assert_int_equal(pixel(&m, 50, 9), 0x000000ff);
    end(&m);
    m = make("'<f8'", "(10,)", v, 80, "[3::2]", NULL);
    assert_true(m.f.across.axis == 0 && m.f.across.start == 3 && m.f.across.step == 2);
    end(&m);
    free(v);
}

static void missing_places_of_a_line_are_columns(void **state)
{
    (void)state;
    const double v[] = { 0, NAN, 1 };
    made m = make("'<f8'", "(3,)", v, sizeof v, NULL,
                  CIP_PICTURE_OPTIONS(.max_width = 30, .max_height = 10));
    assert_true(m.f.width == 30 && m.f.across.zoom == 10);
    assert_int_equal(pixel(&m, 15, 5), 0xff00ffff);
    assert_int_equal(pixel(&m, 5, 9), 0x1f77b4ff);
    assert_int_equal(pixel(&m, 25, 0), 0x1f77b4ff);
    assert_int_equal(pixel(&m, 7, 8), 0xffffffff); /* nothing is joined over it */
    end(&m);
}

static void ticks_are_round_indices(void **state)
{
    (void)state;
    cip_picture_tick t[16];
    uint8_t *v = calloc(300, 500);
    made m = make("'|u1'", "(300, 500)", v, 150000, "[::-1, 10:]",
                  CIP_PICTURE_OPTIONS(.max_width = 100, .max_height = 100));
    size_t n = cip_picture_ticks(m.picture, false, 30, t, 16);
    assert_int_equal(n, 2);
    assert_string_equal(t[0].text, "200");
    assert_int_equal(t[0].at, 38);
    assert_string_equal(t[1].text, "400");
    n = cip_picture_ticks(m.picture, true, 20, t, 16);
    assert_int_equal(n, 2);
    assert_string_equal(t[0].text, "100");
    assert_int_equal(t[0].at, 39);
    assert_string_equal(t[1].text, "200");
    assert_int_equal(t[1].at, 19);
    assert_int_equal(cip_picture_ticks(m.picture, false, 1, t, 2), 2);
    end(&m);
    free(v);
    const double line[] = { -1, 0.5, 3 };
    m = make("'<f8'", "(3,)", line, sizeof line, NULL, CIP_PICTURE_OPTIONS(.max_height = 101));
    n = cip_picture_ticks(m.picture, true, 25, t, 16);
    assert_int_equal(n, 5);
    assert_string_equal(t[0].text, "-1");
    assert_int_equal(t[0].at, 100);
    assert_string_equal(t[4].text, "3");
    assert_int_equal(t[4].at, 0);
    end(&m);
}

static void what_has_no_picture_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *descr, *shape, *selection;
        cip_status st;
    } rows[] = {
        { "'<f8'", "()", NULL, CIP_ERR_TYPE },
        { "'<f8'", "(1, 1)", "[0, 0]", CIP_ERR_TYPE },
        { "'<f8'", "(0, 1)", NULL, CIP_ERR_RANGE },
        { "'<f8'", "(1,)", "[1:]", CIP_ERR_RANGE },
        { "'<f8'", "(1,)", "[1]", CIP_ERR_RANGE },
        { "'|S8'", "(1,)", NULL, CIP_ERR_TYPE },
        { "[('x', '<f8')]", "(1,)", NULL, CIP_ERR_TYPE },
    };
    const double v = 1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        made m = make(rows[i].descr, rows[i].shape, &v, i == 2 ? 0 : 8, rows[i].selection, NULL);
        assert_int_equal(m.st, rows[i].st);
        end(&m);
    }
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    const cip_picture_options wrong[] = {
        { .size = sizeof wrong[0], .map = "Viridis" },
        { .size = sizeof wrong[0], .map = "_r" },
        { .size = sizeof wrong[0], .max_width = 16385 },
        { .size = sizeof wrong[0], .max_height = UINT32_MAX },
        { .size = sizeof wrong[0], .max_width = 7, .zoom = 8 },
        { .size = sizeof wrong[0], .scale = (cip_picture_scale)4 },
        { .size = sizeof wrong[0], .reduce = (cip_picture_reduce)5 },
        { .size = sizeof wrong[0], .has_limits = true },
        { .size = sizeof wrong[0], .has_limits = true, .low = NAN, .high = 1 },
        { .size = sizeof wrong[0], .has_limits = true, .high = INFINITY },
        { .size = sizeof wrong[0], .has_limits = true, .high = 1, .scale = CIP_PICTURE_LOG },
        { .size = sizeof wrong[0], .low_percentile = 50 },
        { .size = sizeof wrong[0], .low_percentile = 50, .high_percentile = 50 },
        { .size = sizeof wrong[0], .high_percentile = 101 },
        { .size = sizeof wrong[0], .low_percentile = NAN, .high_percentile = 1 },
    };
    const double v = 1;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        made m = make("'<f8'", "(1,)", &v, 8, NULL, &wrong[i]);
        assert_int_equal(m.st, CIP_ERR_ARG);
        end(&m);
    }
}

/* A file of 2^40 bytes and a header, of which reads are counted. */
typedef struct vast {
    char *head;
    uint64_t nread;
} vast;

static cip_status vast_read(void *user, const cip_range *r, size_t n, cip_err *err)
{
    vast *v = user;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        memset(r[i].dst, (int)(r[i].offset % 251), r[i].nbytes);
        for (size_t k = 0; k < r[i].nbytes && r[i].offset + k < 128; k++)
            ((char *)r[i].dst)[k] = v->head[r[i].offset + k];
        v->nread += r[i].nbytes;
    }
    return CIP_OK;
}

static cip_status vast_size(void *user, uint64_t *nbytes, cip_err *err)
{
    (void)user, (void)err;
    *nbytes = (UINT64_C(1) << 40) + 128;
    return CIP_OK;
}

static void vast_arrays_cost_bounded_bytes(void **state)
{
    (void)state;
    static const char *const shapes[] = { "(1048576, 1048576)", "(1099511627776,)",
                                          "(2, 549755813888)" };
    for (size_t i = 0; i < 3; i++) {
        size_t n;
        vast v = { .head = test_npy("'|u1'", shapes[i], 0, NULL, 0, &n) };
        const cip_io_methods io = { CIP_IO_METHODS_INIT, .read_ranges = vast_read,
                                    .size = vast_size };
        cip_file *f = NULL;
        cip_picture *p = NULL;
        cip_err err = CIP_ERR_INIT;
        assert_int_equal(n, 128);
        assert_int_equal(cip_open_io(&io, &v, NULL, &f, &err), CIP_OK);
        const cip_array *a = cip_file_array(f, 0);
        v.nread = 0;
        assert_int_equal(
            cip_picture_make(a, NULL, CIP_PICTURE_OPTIONS(.max_nbytes = 16 << 20), &p, &err),
            CIP_OK);
        assert_true(v.nread <= 200 << 20);
        cip_picture_free(p);
        v.nread = 0;
        if (i != 1) {
            assert_int_equal(cip_picture_make(a, NULL,
                                              CIP_PICTURE_OPTIONS(.reduce = CIP_PICTURE_MEAN), &p,
                                              &err),
                             CIP_ERR_LIMIT);
            assert_int_equal(v.nread, 0);
        }
        cip_file_close(f);
        free(v.head);
    }
}

static void png_files_have_their_signature(void **state)
{
    (void)state;
    static taken t;
    const double v[] = { 1, 2, 3, 4 };
    made m = make("'<f8'", "(2, 2)", v, sizeof v, NULL, NULL);
    for (int axes = 0; axes < 2; axes++) {
        t.n = 0;
        const cip_status st = cip_picture_png(m.picture, axes != 0, take_text, &t, NULL);
        if (st == CIP_ERR_UNSUPPORTED)
            break; /* no libpng */
        assert_int_equal(st, CIP_OK);
        assert_memory_equal(t.text, "\x89PNG\r\n\x1a\n", 8);
        assert_memory_equal(t.text + t.n - 8, "IEND\xae\x42\x60\x82", 8);
        assert_int_equal(t.text[25], 2); /* red, green and blue */
        t.calls = 0;
        t.stop_at = 3;
        assert_int_equal(cip_picture_png(m.picture, axes != 0, take_text, &t, NULL),
                         CIP_ERR_CANCELLED);
        t.stop_at = 0;
    }
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_byte_order_gives_the_same_pixels),
        cmocka_unit_test(first_axis_fastest_gives_the_same_pixels),
        cmocka_unit_test(bool_shows_false_and_true),
        cmocka_unit_test(what_is_no_number_has_its_own_colour),
        cmocka_unit_test(the_ends_of_integers_are_numbers),
        cmocka_unit_test(masked_elements_are_missing),
        cmocka_unit_test(values_of_nothing_have_no_limits),
        cmocka_unit_test(scales_place_values_as_documented),
        cmocka_unit_test(percentiles_are_those_of_numpy),
        cmocka_unit_test(small_differences_of_large_integers_are_seen),
        cmocka_unit_test(large_images_are_reduced),
        cmocka_unit_test(single_elements_are_seen_in_any_image),
        cmocka_unit_test(extremes_lie_around_the_median),
        cmocka_unit_test(extremes_that_cost_too_much_are_samples),
        cmocka_unit_test(rows_longer_than_a_part_are_whole),
        cmocka_unit_test(either_part_of_a_complex_number_may_be_missing),
        cmocka_unit_test(fractions_of_halves_and_rows_before_the_first_are_right),
        cmocka_unit_test(infinities_have_no_mean),
        cmocka_unit_test(narrow_arrays_keep_some_places_of_each_axis),
        cmocka_unit_test(leading_axes_show_their_first_index),
        cmocka_unit_test(lines_keep_the_smallest_and_largest),
        cmocka_unit_test(missing_places_of_a_line_are_columns),
        cmocka_unit_test(ticks_are_round_indices),
        cmocka_unit_test(what_has_no_picture_is_refused),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(vast_arrays_cost_bounded_bytes),
        cmocka_unit_test(png_files_have_their_signature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
