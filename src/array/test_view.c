/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

#include "array/view.h"

/* Compares shape and strides with lists of ndim numbers. */
static void assert_axes(const cip_nd *v, int32_t ndim, const int64_t *shape, const int64_t *stride)
{
    assert_int_equal(v->ndim, ndim);
    for (int32_t k = 0; k < ndim; k++) {
        assert_int_equal(v->shape[k], shape[k]);
        assert_int_equal(v->stride[k], stride[k]);
    }
}

#define LIST(...) ((const int64_t[]){ __VA_ARGS__ })

static void c_order_has_the_last_axis_fastest(void **state)
{
    cip_nd v;
    (void)state;
    assert_int_equal(cip_view_c_order(3, LIST(2, 3, 4), 8, &v, NULL), CIP_OK);
    assert_axes(&v, 3, LIST(2, 3, 4), LIST(96, 32, 8));
    assert_int_equal(v.off, 0);
    assert_int_equal(v.itemsize, 8);
    assert_int_equal(cip_view_c_order(0, NULL, 8, &v, NULL), CIP_OK);
    assert_int_equal(v.ndim, 0);
    assert_int_equal(cip_view_c_order(3, LIST(2, 0, 4), 8, &v, NULL), CIP_OK);
    assert_axes(&v, 3, LIST(2, 0, 4), LIST(32, 32, 8));
    assert_int_equal(cip_view_c_order(2, LIST(2, 3), 0, &v, NULL), CIP_OK);
    assert_axes(&v, 2, LIST(2, 3), LIST(0, 0));
}

static void f_order_has_the_first_axis_fastest(void **state)
{
    cip_nd v;
    (void)state;
    assert_int_equal(cip_view_f_order(3, LIST(2, 3, 4), 8, &v, NULL), CIP_OK);
    assert_axes(&v, 3, LIST(2, 3, 4), LIST(8, 16, 48));
    assert_int_equal(v.itemsize, 8);
    assert_int_equal(cip_view_f_order(3, LIST(2, 0, 4), 8, &v, NULL), CIP_OK);
    assert_axes(&v, 3, LIST(2, 0, 4), LIST(8, 16, 16));
}

typedef cip_status order_fn(int32_t ndim, const int64_t *shape, uint64_t itemsize, cip_nd *out,
                            cip_err *err);

static void shapes_are_checked(void **state)
{
    order_fn *const orders[] = { cip_view_c_order, cip_view_f_order };
    int64_t ones[CIP_MAX_NDIM + 1];
    (void)state;
    for (int k = 0; k <= CIP_MAX_NDIM; k++)
        ones[k] = 1;
    for (int i = 0; i < 2; i++) {
        order_fn *order = orders[i];
        cip_nd v = { .ndim = 77 };
        cip_err err = CIP_ERR_INIT;
        assert_int_equal(order(2, LIST(2, -1), 8, &v, &err), CIP_ERR_RANGE);
        assert_int_equal(order(-1, ones, 8, &v, &err), CIP_ERR_RANGE);
        assert_int_equal(order(CIP_MAX_NDIM + 1, ones, 8, &v, &err), CIP_ERR_RANGE);
        assert_int_equal(order(1, LIST(INT64_MAX / 8 + 1), 8, &v, &err), CIP_ERR_CORRUPT);
        assert_int_equal(order(2, LIST(INT64_MAX, INT64_MAX), 8, &v, &err), CIP_ERR_CORRUPT);
        assert_int_equal(order(3, LIST(0, INT64_MAX, 2), 1, &v, &err), CIP_ERR_CORRUPT);
        assert_int_equal(order(3, LIST(INT64_MAX, 2, 0), 0, &v, &err), CIP_ERR_CORRUPT);
        assert_int_equal(order(0, NULL, (uint64_t)INT64_MAX + 1, &v, &err), CIP_ERR_CORRUPT);
        /* 2^64 bytes and 2^65, whose products wrap to small numbers */
        assert_int_equal(order(2, LIST(1, INT64_C(1) << 61), 8, &v, &err), CIP_ERR_CORRUPT);
        assert_int_equal(order(3, LIST(INT64_C(1) << 62, 1, 2), 8, &v, &err), CIP_ERR_CORRUPT);
        assert_int_equal(v.ndim, 77);
        assert_int_equal(order(CIP_MAX_NDIM, ones, 8, &v, &err), CIP_OK);
        assert_int_equal(order(1, LIST(INT64_MAX / 8), 8, &v, &err), CIP_OK);
        assert_int_equal(order(1, LIST(INT64_MAX), 1, &v, &err), CIP_OK);
        assert_int_equal(order(1, LIST(INT64_MAX), 0, &v, &err), CIP_OK);
        assert_int_equal(order(0, NULL, INT64_MAX, &v, &err), CIP_OK);
    }
}

static void elements_are_counted_in_63_bits(void **state)
{
    uint64_t n = 77;
    (void)state;
    assert_false(cip_shape_nelem(2, LIST(2, -1), &n));
    assert_false(cip_shape_nelem(2, LIST(INT64_MAX, 2), &n));
    assert_false(cip_shape_nelem(3, LIST(0, INT64_MAX, 2), &n));
    assert_false(cip_shape_nelem(3, LIST(INT64_MAX, 2, 0), &n));
    assert_int_equal(n, 77);
    assert_true(cip_shape_nelem(0, NULL, &n));
    assert_int_equal(n, 1);
    assert_true(cip_shape_nelem(3, LIST(2, 3, 4), &n));
    assert_int_equal(n, 24);
    assert_true(cip_shape_nelem(3, LIST(2, 0, 4), &n));
    assert_int_equal(n, 0);
    assert_true(cip_shape_nelem(2, LIST(1, INT64_MAX), &n));
    assert_int_equal(n, INT64_MAX);
}

/* A view of two axes. */
static cip_nd two(uint64_t off, int64_t n, int64_t stride, int64_t m, int64_t inner)
{
    return (cip_nd){
        .off = off, .itemsize = 4, .ndim = 2, .shape = { n, m }, .stride = { stride, inner }
    };
}

static void bounds(cip_nd v, uint64_t want_first, uint64_t want_end)
{
    uint64_t first = 77, end = 77;
    assert_int_equal(cip_view_bounds(&v, &first, &end, NULL), CIP_OK);
    assert_int_equal(first, want_first);
    assert_int_equal(end, want_end);
}

static void beyond(cip_nd v)
{
    uint64_t first = 77, end = 77;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_view_bounds(&v, &first, &end, &err), CIP_ERR_RANGE);
    assert_int_equal(err.offset, v.off);
    assert_int_equal(first, 77);
    assert_int_equal(end, 77);
}

static void bounds_are_those_of_the_bytes_touched(void **state)
{
    (void)state;
    bounds(two(100, 3, 40, 5, 4), 100, 100 + 2 * 40 + 4 * 4 + 4);
    bounds(two(100, 3, -40, 5, 4), 20, 100 + 4 * 4 + 4);
    bounds(two(100, 3, 40, 5, -4), 84, 100 + 2 * 40 + 4);
    bounds(two(100, 3, 0, 5, 0), 100, 104);
    bounds(two(100, 1, 4000, 1, -4000), 100, 104);
    bounds(two(80, 3, -40, 1, 4), 0, 84);
    bounds(two(100, 0, 40, 5, 4), 0, 0);
    bounds(two(100, 3, -4000, 0, 4), 0, 0);
    bounds((cip_nd){ .off = 9, .itemsize = 4 }, 9, 13);
    bounds((cip_nd){ .off = 9, .ndim = 1, .shape = { 5 }, .stride = { -8 } }, 0, 0);
    bounds((cip_nd){ .off = UINT64_MAX - 4, .itemsize = 4 }, UINT64_MAX - 4, UINT64_MAX);
    bounds(two(UINT64_C(1) << 63, 2, INT64_MIN, 1, 0), 0, (UINT64_C(1) << 63) + 4);
}

static void bytes_out_of_reach_are_reported(void **state)
{
    (void)state;
    beyond(two(79, 3, -40, 1, 4));
    beyond((cip_nd){ .off = UINT64_MAX - 3, .itemsize = 4 });
    beyond(two(100, INT64_MAX, 40, 1, 4));
    beyond(two(100, INT64_MAX, -40, 1, 4));
    beyond(two(100, 3, INT64_MAX, 5, INT64_MAX));
    beyond(two(UINT64_MAX, 3, INT64_MIN / 2 - 1, 3, INT64_MIN / 2));
    beyond(two((UINT64_C(1) << 63) - 1, 2, INT64_MIN, 1, 0));
}

static bool contiguous(int32_t ndim, const int64_t *shape, const int64_t *stride)
{
    cip_nd v = { .itemsize = 4, .ndim = ndim };
    for (int32_t k = 0; k < ndim; k++) {
        v.shape[k] = shape[k];
        v.stride[k] = stride[k];
    }
    return cip_view_is_contiguous(&v);
}

static void contiguous_views_are_told(void **state)
{
    (void)state;
    assert_true(contiguous(0, NULL, NULL));
    assert_true(contiguous(2, LIST(3, 5), LIST(20, 4)));
    assert_false(contiguous(2, LIST(3, 5), LIST(24, 4)));
    assert_false(contiguous(2, LIST(3, 5), LIST(20, 8)));
    assert_false(contiguous(2, LIST(3, 5), LIST(20, -4)));
    assert_false(contiguous(2, LIST(3, 5), LIST(4, 12)));
    assert_true(contiguous(3, LIST(1, 3, 5), LIST(7, 20, 4)));
    assert_true(contiguous(3, LIST(3, 1, 5), LIST(20, 7, 4)));
    assert_true(contiguous(2, LIST(3, 1), LIST(4, 7)));
    assert_true(contiguous(2, LIST(3, 0), LIST(7, 7)));
    assert_true(contiguous(2, LIST(0, 3), LIST(7, 7)));
    assert_false(contiguous(1, LIST(2), LIST(0)));
}

/* Aligns two views of `ndim` axes that start at 1000 and 2000 and have elements of 1 byte. */
static void aligned(int32_t ndim, const int64_t *shape, const int64_t *as, const int64_t *bs,
                    cip_nd *a, cip_nd *b)
{
    *a = (cip_nd){ .off = 1000, .itemsize = 1, .ndim = ndim };
    *b = (cip_nd){ .off = 2000, .itemsize = 1, .ndim = ndim };
    for (int32_t k = 0; k < ndim; k++) {
        a->shape[k] = b->shape[k] = shape[k];
        a->stride[k] = as[k];
        b->stride[k] = bs[k];
    }
    cip_view_align(a, b);
}

static void following_axes_are_merged(void **state)
{
    cip_nd a, b;
    (void)state;
    aligned(3, LIST(2, 3, 4), LIST(12, 4, 1), LIST(24, 8, 2), &a, &b);
    assert_axes(&a, 1, LIST(24), LIST(1));
    assert_axes(&b, 1, LIST(24), LIST(2));
    aligned(3, LIST(2, 3, 4), LIST(12, 4, 1), LIST(50, 8, 2), &a, &b);
    assert_axes(&a, 2, LIST(2, 12), LIST(12, 1));
    assert_axes(&b, 2, LIST(2, 12), LIST(50, 2));
    aligned(3, LIST(2, 3, 4), LIST(50, 4, 1), LIST(24, 8, 2), &a, &b);
    assert_axes(&a, 2, LIST(2, 12), LIST(50, 1));
    aligned(3, LIST(2, 3, 4), LIST(30, 10, 1), LIST(24, 8, 2), &a, &b);
    assert_axes(&a, 2, LIST(6, 4), LIST(10, 1));
    assert_axes(&b, 2, LIST(6, 4), LIST(8, 2));
    aligned(2, LIST(2, 3), LIST(0, 0), LIST(0, 0), &a, &b);
    assert_axes(&a, 1, LIST(6), LIST(0));
}

static void axes_are_sorted_by_the_first_view(void **state)
{
    cip_nd a, b;
    (void)state;
    aligned(3, LIST(2, 3, 4), LIST(1, 90, 8), LIST(12, 4, 1), &a, &b);
    assert_axes(&a, 3, LIST(3, 4, 2), LIST(90, 8, 1));
    assert_axes(&b, 3, LIST(3, 4, 2), LIST(4, 1, 12));
    aligned(2, LIST(2, 3), LIST(1, 2), LIST(1, 2), &a, &b); /* both in Fortran's order */
    assert_axes(&a, 1, LIST(6), LIST(1));
    aligned(2, LIST(2, 3), LIST(0, 0), LIST(1, 7), &a, &b); /* the second view decides */
    assert_axes(&b, 2, LIST(3, 2), LIST(7, 1));
    aligned(2, LIST(2, 3), LIST(0, 0), LIST(5, -7), &a, &b);
    assert_axes(&b, 2, LIST(3, 2), LIST(-7, 5));
    aligned(3, LIST(2, 3, 4), LIST(5, -5, 9), LIST(1, 1, 1), &a, &b); /* equal ones keep order */
    assert_axes(&a, 3, LIST(4, 2, 3), LIST(9, 5, 5));
}

static void axes_of_length_one_are_dropped(void **state)
{
    cip_nd a, b;
    (void)state;
    aligned(4, LIST(1, 3, 1, 4), LIST(-7, 8, 99, 1), LIST(5, 9, 5, 1), &a, &b);
    assert_axes(&a, 2, LIST(3, 4), LIST(8, 1));
    assert_int_equal(a.off, 1000);
    aligned(2, LIST(1, 1), LIST(5, 5), LIST(5, 5), &a, &b);
    assert_int_equal(a.ndim, 0);
    assert_int_equal(b.ndim, 0);
    aligned(0, NULL, NULL, NULL, &a, &b);
    assert_int_equal(a.ndim, 0);
    assert_int_equal(a.itemsize, 1);
}

static void negative_strides_are_flipped_in_both(void **state)
{
    cip_nd a, b;
    (void)state;
    aligned(2, LIST(3, 4), LIST(-10, -2), LIST(-8, 2), &a, &b);
    assert_axes(&a, 2, LIST(3, 4), LIST(10, 2));
    assert_axes(&b, 2, LIST(3, 4), LIST(8, -2));
    assert_int_equal(a.off, 1000 - 2 * 10 - 3 * 2);
    assert_int_equal(b.off, 2000 - 2 * 8 + 3 * 2);
    aligned(1, LIST(3), LIST(10), LIST(-8), &a, &b); /* those of the second are not */
    assert_axes(&b, 1, LIST(3), LIST(-8));
    assert_int_equal(b.off, 2000);
    aligned(2, LIST(3, 4), LIST(-4, -1), LIST(4, 1), &a, &b); /* and merged */
    assert_axes(&a, 1, LIST(12), LIST(1));
    assert_axes(&b, 1, LIST(12), LIST(-1));
    assert_int_equal(a.off, 1000 - 11);
    assert_int_equal(b.off, 2000 + 11);
    aligned(2, LIST(0, 4), LIST(-4, -1), LIST(4, 1), &a, &b); /* nothing to walk */
    assert_int_equal(a.off, 1000 - 3);
}

static void products_that_overflow_are_not_merged(void **state)
{
    cip_nd a, b;
    (void)state;
    aligned(2, LIST(INT64_C(1) << 62, 2), LIST(0, 0), LIST(0, 0), &a, &b);
    assert_int_equal(a.ndim, 2);
    aligned(2, LIST(2, INT64_C(1) << 62), LIST(INT64_MAX, 2), LIST(0, 0), &a, &b);
    assert_int_equal(a.ndim, 2);
    aligned(2, LIST(2, INT64_C(1) << 61), LIST(0, 0), LIST(0, 0), &a, &b);
    assert_int_equal(a.ndim, 1);
    assert_int_equal(a.shape[0], INT64_C(1) << 62);
    assert_int_equal(b.shape[0], INT64_C(1) << 62);
}

static void sixty_four_axes_are_aligned(void **state)
{
    cip_nd a, b;
    int64_t shape[CIP_MAX_NDIM], as[CIP_MAX_NDIM], bs[CIP_MAX_NDIM];
    (void)state;
    for (int k = 0; k < CIP_MAX_NDIM; k++) {
        shape[k] = 2;
        as[k] = 3 * (k + 1);
        bs[k] = 1;
    }
    aligned(CIP_MAX_NDIM, shape, as, bs, &a, &b);
    assert_int_equal(a.ndim, CIP_MAX_NDIM);
    for (int k = 0; k < CIP_MAX_NDIM; k++)
        assert_int_equal(a.stride[k], 3 * (CIP_MAX_NDIM - k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_order_has_the_last_axis_fastest),
        cmocka_unit_test(f_order_has_the_first_axis_fastest),
        cmocka_unit_test(shapes_are_checked),
        cmocka_unit_test(elements_are_counted_in_63_bits),
        cmocka_unit_test(bounds_are_those_of_the_bytes_touched),
        cmocka_unit_test(bytes_out_of_reach_are_reported),
        cmocka_unit_test(contiguous_views_are_told),
        cmocka_unit_test(following_axes_are_merged),
        cmocka_unit_test(axes_are_sorted_by_the_first_view),
        cmocka_unit_test(axes_of_length_one_are_dropped),
        cmocka_unit_test(negative_strides_are_flipped_in_both),
        cmocka_unit_test(products_that_overflow_are_not_merged),
        cmocka_unit_test(sixty_four_axes_are_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
