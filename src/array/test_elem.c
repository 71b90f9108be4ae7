/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

#include "base/endian.h"

static void fixed_types_have_their_names_and_sizes(void **state)
{
    static const struct {
        cip_kind kind;
        const char *name;
        uint64_t itemsize;
    } rows[] = {
        { CIP_BOOL, "bool", 1 },     { CIP_I8, "int8", 1 },          { CIP_I16, "int16", 2 },
        { CIP_I32, "int32", 4 },     { CIP_I64, "int64", 8 },        { CIP_U8, "uint8", 1 },
        { CIP_U16, "uint16", 2 },    { CIP_U32, "uint32", 4 },       { CIP_U64, "uint64", 8 },
        { CIP_F16, "float16", 2 },   { CIP_F32, "float32", 4 },      { CIP_F64, "float64", 8 },
        { CIP_C64, "complex64", 8 }, { CIP_C128, "complex128", 16 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int big = 0; big < 2; big++) {
            const cip_dtype *d = cip_dtype_fixed(rows[i].kind, big != 0);
            assert_int_equal(cip_dtype_kind(d), rows[i].kind);
            assert_string_equal(cip_dtype_name(d), rows[i].name);
            assert_int_equal(cip_dtype_itemsize(d), rows[i].itemsize);
            assert_int_equal(cip_dtype_is_big(d), rows[i].itemsize > 1 && big);
            assert_int_equal(cip_dtype_nfield(d), 0);
            assert_null(cip_dtype_field(d, 0));
            assert_null(d->unit);
            assert_int_equal(d->depth, 0);
            assert_int_equal(d->weight, 1);
        }
        assert_ptr_equal(cip_dtype_of(rows[i].kind),
                         cip_dtype_fixed(rows[i].kind, CIP_HOST_BIG != 0));
    }
}

static void other_kinds_have_no_fixed_type(void **state)
{
    (void)state;
    assert_null(cip_dtype_fixed(CIP_NONE, false));
    assert_null(cip_dtype_fixed(CIP_ASCII, false));
    assert_null(cip_dtype_fixed(CIP_RECORD, true));
    assert_null(cip_dtype_of(CIP_OPAQUE));
}

static void no_dtype_has_no_properties(void **state)
{
    (void)state;
    assert_string_equal(cip_dtype_name(NULL), "");
    assert_int_equal(cip_dtype_kind(NULL), CIP_NONE);
    assert_int_equal(cip_dtype_itemsize(NULL), 0);
    assert_false(cip_dtype_is_big(NULL));
    assert_int_equal(cip_dtype_nfield(NULL), 0);
    assert_null(cip_dtype_field(NULL, 0));
}

static void ascii_counts_bytes(void **state)
{
    rig *r = *state;
    const cip_dtype *d;
    assert_int_equal(cip_dtype_ascii(&r->arena, 5, &d, &r->err), CIP_OK);
    assert_int_equal(d->kind, CIP_ASCII);
    assert_int_equal(d->itemsize, 5);
    assert_string_equal(d->name, "ascii5");
    assert_false(d->big);
    assert_int_equal(d->weight, 1);
    assert_int_equal(cip_dtype_ascii(&r->arena, 0, &d, &r->err), CIP_OK);
    assert_string_equal(d->name, "ascii0");
    assert_int_equal(cip_dtype_ascii(&r->arena, INT64_MAX, &d, &r->err), CIP_OK);
    assert_int_equal(d->itemsize, INT64_MAX);
    assert_int_equal(cip_dtype_ascii(&r->arena, (uint64_t)INT64_MAX + 1, &d, &r->err),
                     CIP_ERR_RANGE);
    assert_null(d);
}

static void ucs4_counts_code_points(void **state)
{
    rig *r = *state;
    const cip_dtype *d;
    assert_int_equal(cip_dtype_ucs4(&r->arena, 7, true, &d, &r->err), CIP_OK);
    assert_int_equal(d->kind, CIP_UCS4);
    assert_int_equal(d->itemsize, 28);
    assert_string_equal(d->name, "ucs4-7");
    assert_true(d->big);
    assert_int_equal(cip_dtype_ucs4(&r->arena, INT64_MAX / 4, false, &d, &r->err), CIP_OK);
    assert_int_equal(d->itemsize, INT64_MAX / 4 * 4);
    assert_false(d->big);
    assert_int_equal(cip_dtype_ucs4(&r->arena, INT64_MAX / 4 + 1, false, &d, &r->err),
                     CIP_ERR_RANGE);
    assert_null(d);
}

static void opaque_is_named_by_its_label_or_length(void **state)
{
    rig *r = *state;
    char label[] = "int24";
    const cip_dtype *d;
    assert_int_equal(cip_dtype_opaque(&r->arena, 3, label, &d, &r->err), CIP_OK);
    label[0] = 'x'; /* it was copied */
    assert_int_equal(d->kind, CIP_OPAQUE);
    assert_int_equal(d->itemsize, 3);
    assert_string_equal(d->name, "int24");
    assert_int_equal(cip_dtype_opaque(&r->arena, 80, NULL, &d, &r->err), CIP_OK);
    assert_string_equal(d->name, "bytes80");
    assert_int_equal(cip_dtype_opaque(&r->arena, INT64_MAX, NULL, &d, &r->err), CIP_OK);
    assert_int_equal(cip_dtype_opaque(&r->arena, (uint64_t)INT64_MAX + 1, NULL, &d, &r->err),
                     CIP_ERR_RANGE);
    assert_null(d);
}

static void times_carry_their_unit(void **state)
{
    rig *r = *state;
    const cip_dtype *d;
    assert_int_equal(cip_dtype_time(&r->arena, CIP_DATETIME64, "ns", true, &d, &r->err), CIP_OK);
    assert_int_equal(d->kind, CIP_DATETIME64);
    assert_int_equal(d->itemsize, 8);
    assert_true(d->big);
    assert_string_equal(d->unit, "ns");
    assert_string_equal(d->name, "datetime64[ns]");
    assert_int_equal(cip_dtype_time(&r->arena, CIP_TIMEDELTA64, "25s", false, &d, &r->err), CIP_OK);
    assert_int_equal(d->kind, CIP_TIMEDELTA64);
    assert_string_equal(d->name, "timedelta64[25s]");
    assert_false(d->big);
    assert_int_equal(cip_dtype_time(&r->arena, CIP_DATETIME64, "1us", false, &d, &r->err), CIP_OK);
    assert_string_equal(d->unit, "us");
    assert_string_equal(d->name, "datetime64[us]");
    assert_int_equal(cip_dtype_time(&r->arena, CIP_TIMEDELTA64, NULL, false, &d, &r->err), CIP_OK);
    assert_string_equal(d->unit, "");
    assert_string_equal(d->name, "timedelta64");
    assert_int_equal(cip_dtype_time(&r->arena, CIP_TIMEDELTA64, "week", false, &d, &r->err),
                     CIP_ERR_FORMAT);
    assert_null(d);
    assert_non_null(strstr(r->err.text, "'week'"));
}

static void dtypes_need_no_file(void **state)
{
    static const char *const texts[] = { "float32", ">U7", "{x: float32, y: int16[3]}",
                                         "datetime64[ns]", "V80" };
    cip_err err = CIP_ERR_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cip_dtype *d = cip_dtype_parse(texts[i], &err);
        assert_non_null(d);
        cip_dtype *again = cip_dtype_parse(cip_dtype_name(d), &err);
        assert_string_equal(cip_dtype_name(again), cip_dtype_name(d));
        assert_int_equal(cip_dtype_itemsize(again), cip_dtype_itemsize(d));
        cip_dtype_free(d);
        assert_int_equal(cip_dtype_equal(again, again), true);
        cip_dtype_free(again);
    }
    assert_null(cip_dtype_parse("imt32", &err));
    assert_int_equal(err.code, CIP_ERR_FORMAT);
    assert_string_equal(err.part, "dtype");
    err = (cip_err)CIP_ERR_INIT;
    assert_null(cip_dtype_parse(NULL, &err));
    assert_int_equal(err.code, CIP_ERR_ARG);
    assert_null(cip_dtype_parse("float", NULL));
    cip_dtype_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(fixed_types_have_their_names_and_sizes),
        RIG_TEST(other_kinds_have_no_fixed_type),
        RIG_TEST(no_dtype_has_no_properties),
        RIG_TEST(ascii_counts_bytes),
        RIG_TEST(ucs4_counts_code_points),
        RIG_TEST(opaque_is_named_by_its_label_or_length),
        RIG_TEST(times_carry_their_unit),
        cmocka_unit_test(dtypes_need_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
