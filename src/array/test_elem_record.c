/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

static const int64_t three[] = { 3 }, two_three[] = { 2, 3 };

static const cip_dtype *f32(void)
{
    return cip_dtype_fixed(CIP_F32, false);
}

static const cip_dtype *i16(void)
{
    return cip_dtype_fixed(CIP_I16, false);
}

/* A record that has to be made. */
static const cip_dtype *record(rig *r, size_t n, const cip_field *f, bool packed, uint64_t itemsize)
{
    const cip_dtype *d = NULL;
    if (cip_dtype_record(&r->arena, n, f, packed, itemsize, &d, &r->err) != CIP_OK)
        fail_msg("%s", r->err.text);
    return d;
}

/* What a record that cannot be made gives. */
static cip_status refused(rig *r, size_t n, const cip_field *f, bool packed, uint64_t itemsize)
{
    const cip_dtype *d = f32();
    cip_status st = cip_dtype_record(&r->arena, n, f, packed, itemsize, &d, &r->err);
    assert_null(d);
    return st;
}

static void packed_fields_lie_one_behind_the_other(void **state)
{
    rig *r = *state;
    char name[] = "x";
    int64_t shape[] = { 2, 3 };
    cip_field f[] = { { name, f32(), 99, 0, NULL },
                      { "y", i16(), 99, 2, shape },
                      { "z", cip_dtype_fixed(CIP_U8, false), 0, 0, NULL } };
    const cip_dtype *d = record(r, 3, f, true, 0);
    name[0] = 'q'; /* names and shapes were copied */
    shape[0] = 7;
    assert_int_equal(d->kind, CIP_RECORD);
    assert_int_equal(d->itemsize, 17);
    assert_int_equal(cip_dtype_nfield(d), 3);
    assert_string_equal(d->name, "{x: float32, y: int16[2, 3], z: uint8}");
    assert_int_equal(cip_dtype_field(d, 0)->offset, 0);
    assert_int_equal(cip_dtype_field(d, 1)->offset, 4);
    assert_int_equal(cip_dtype_field(d, 2)->offset, 16);
    assert_null(cip_dtype_field(d, 3));
    assert_int_equal(cip_field_nbytes(cip_dtype_field(d, 0)), 4);
    assert_int_equal(cip_field_nbytes(cip_dtype_field(d, 1)), 12);
    assert_int_equal(d->depth, 1);
    assert_int_equal(d->weight, 4);
}

static void given_offsets_and_itemsize_are_kept(void **state)
{
    rig *r = *state;
    cip_field f[] = { { "a", f32(), 8, 0, NULL },
                      { "b", i16(), 2, 0, NULL },
                      { "c", i16(), 9, 0, NULL } }; /* overlaps a */
    const cip_dtype *d = record(r, 3, f, false, 0);
    assert_int_equal(d->itemsize, 12);
    assert_int_equal(d->field[1].offset, 2);
    assert_int_equal(record(r, 3, f, false, 12)->itemsize, 12);
    assert_int_equal(record(r, 3, f, false, 20)->itemsize, 20);
    assert_int_equal(refused(r, 3, f, false, 11), CIP_ERR_CORRUPT);
    assert_int_equal(record(r, 3, f, true, 9)->itemsize, 9);
    assert_int_equal(refused(r, 3, f, true, 7), CIP_ERR_CORRUPT);
}

static void nameless_fields_are_numbered(void **state)
{
    rig *r = *state;
    cip_field f[] = { { "", f32(), 0, 0, NULL }, { NULL, f32(), 0, 0, NULL } };
    const cip_dtype *d = record(r, 2, f, true, 0);
    assert_string_equal(d->field[0].name, "f0");
    assert_string_equal(d->field[1].name, "f1");
}

static void equal_names_are_corrupt(void **state)
{
    rig *r = *state;
    cip_field f[] = { { "a", f32(), 0, 0, NULL },
                      { "b", f32(), 0, 0, NULL },
                      { "a", i16(), 0, 0, NULL } };
    assert_int_equal(refused(r, 3, f, true, 0), CIP_ERR_CORRUPT);
    assert_non_null(strstr(r->err.text, "fields 0 and 2"));
    f[2].name = "f1"; /* the number of a nameless one counts as well */
    f[1].name = "";
    assert_int_equal(refused(r, 3, f, true, 0), CIP_ERR_CORRUPT);
}

static void empty_records_have_no_bytes(void **state)
{
    rig *r = *state;
    const cip_dtype *d = record(r, 0, NULL, true, 0);
    assert_int_equal(d->itemsize, 0);
    assert_string_equal(d->name, "{}");
    assert_false(d->big);
    assert_int_equal(record(r, 0, NULL, false, 6)->itemsize, 6);
    cip_field f = { "a", d, 0, 1, three };
    assert_int_equal(record(r, 1, &f, true, 0)->itemsize, 0);
}

static void a_record_is_big_when_a_field_is(void **state)
{
    rig *r = *state;
    cip_field f[] = { { "a", f32(), 0, 0, NULL }, { "b", i16(), 0, 0, NULL } };
    assert_false(record(r, 2, f, true, 0)->big);
    f[0].dtype = cip_dtype_fixed(CIP_F32, true);
    assert_true(record(r, 2, f, true, 0)->big);
    f[0].dtype = f32();
    f[1].dtype = cip_dtype_fixed(CIP_I16, true);
    assert_true(record(r, 2, f, true, 0)->big);
}

static void shapes_are_checked(void **state)
{
    rig *r = *state;
    int64_t shape[CIP_MAX_NDIM + 1];
    for (int k = 0; k <= CIP_MAX_NDIM; k++)
        shape[k] = 1;
    cip_field f = { "a", i16(), 0, CIP_MAX_NDIM, shape };
    assert_int_equal(record(r, 1, &f, true, 0)->itemsize, 2);
    f.ndim = CIP_MAX_NDIM + 1;
    assert_int_equal(refused(r, 1, &f, true, 0), CIP_ERR_UNSUPPORTED);
    f.ndim = -1;
    assert_int_equal(refused(r, 1, &f, true, 0), CIP_ERR_UNSUPPORTED);
    f.ndim = 2;
    shape[1] = -1;
    assert_int_equal(refused(r, 1, &f, true, 0), CIP_ERR_CORRUPT);
    shape[1] = 0;
    assert_int_equal(record(r, 1, &f, true, 0)->itemsize, 0);
    shape[0] = INT64_MAX;
    shape[1] = 2;
    assert_int_equal(refused(r, 1, &f, true, 0), CIP_ERR_CORRUPT);
}

static void records_have_less_than_2_to_the_63_bytes(void **state)
{
    rig *r = *state;
    int64_t shape[] = { INT64_MAX / 2 };
    cip_field f[] = { { "a", i16(), 0, 1, shape },
                      { "b", cip_dtype_fixed(CIP_U8, false), 0, 0, NULL },
                      { "c", cip_dtype_fixed(CIP_U8, false), 0, 0, NULL } };
    assert_int_equal(record(r, 1, f, true, 0)->itemsize, INT64_MAX - 1);
    assert_int_equal(record(r, 2, f, true, 0)->itemsize, INT64_MAX);
    assert_int_equal(refused(r, 3, f, true, 0), CIP_ERR_CORRUPT);
    shape[0]++; /* 2^63 bytes */
    assert_int_equal(refused(r, 1, f, true, 0), CIP_ERR_CORRUPT);
    f[1].offset = INT64_MAX - 1;
    assert_int_equal(record(r, 1, &f[1], false, 0)->itemsize, INT64_MAX);
    f[1].offset = INT64_MAX;
    assert_int_equal(refused(r, 1, &f[1], false, 0), CIP_ERR_CORRUPT);
    f[1].offset = UINT64_MAX;
    assert_int_equal(refused(r, 1, &f[1], false, 0), CIP_ERR_CORRUPT);
    f[1].offset = 0;
    assert_int_equal(record(r, 1, &f[1], false, INT64_MAX)->itemsize, INT64_MAX);
    assert_int_equal(refused(r, 1, &f[1], false, (uint64_t)INT64_MAX + 1), CIP_ERR_CORRUPT);
}

static void nesting_is_limited(void **state)
{
    rig *r = *state;
    const cip_dtype *d = f32();
    for (uint32_t depth = 1; depth <= 32; depth++) {
        cip_field f[] = { { "a", d, 0, 0, NULL }, { "b", i16(), 0, 0, NULL } };
        d = record(r, 2, f, true, 0);
        assert_int_equal(d->depth, depth);
    }
    cip_field f = { "a", d, 0, 0, NULL };
    assert_int_equal(refused(r, 1, &f, true, 0), CIP_ERR_LIMIT);
}

static void shared_types_are_counted_wherever_they_are_used(void **state)
{
    rig *r = *state;
    const cip_dtype *d = f32();
    for (int k = 0; k < 19; k++) { /* 2^20 - 1 types in the end: each doubles, and one itself */
        cip_field f[] = { { "a", d, 0, 0, NULL }, { "b", d, 0, 0, NULL } };
        d = record(r, 2, f, true, 0);
    }
    assert_int_equal(d->weight, (1 << 20) - 1);
    cip_field f[] = { { "a", d, 0, 0, NULL }, { "b", f32(), 0, 0, NULL } };
    assert_int_equal(record(r, 1, f, true, 0)->weight, 1 << 20);
    assert_int_equal(refused(r, 2, f, true, 0), CIP_ERR_LIMIT);
}

static void odd_names_are_quoted(void **state)
{
    rig *r = *state;
    cip_field f[] = { { "A_9z", f32(), 0, 0, NULL },
                      { "two words", f32(), 0, 0, NULL },
                      { "it's\x1b", f32(), 0, 0, NULL } };
    assert_string_equal(record(r, 3, f, true, 0)->name,
                        "{A_9z: float32, 'two words': float32, 'it\\'s\\x1b': float32}");
}

static void long_names_are_cut_at_a_field(void **state)
{
    rig *r = *state;
    static char text[65535];
    cip_field f[] = { { text, f32(), 0, 0, NULL }, { "b", f32(), 0, 0, NULL } };
    memset(text, 'x', sizeof text - 1);
    const size_t around = strlen("{") + strlen(": float32");
    /* The longest that fits leaves room for ", ...}". */
    text[65535 - 6 - around] = '\0';
    const cip_dtype *d = record(r, 1, f, true, 0);
    assert_int_equal(strlen(d->name), 65535 - 6 + 1);
    assert_string_equal(d->name + strlen(d->name) - 10, ": float32}");
    d = record(r, 2, f, true, 0);
    assert_int_equal(strlen(d->name), 65535);
    assert_string_equal(d->name + strlen(d->name) - 15, ": float32, ...}");
    text[65535 - 6 - around] = 'x';
    text[65535 - 6 - around + 1] = '\0';
    assert_string_equal(record(r, 1, f, true, 0)->name, "{...}");
    assert_string_equal(record(r, 2, f, true, 0)->name, "{...}");
}

static void fields_are_found_by_name(void **state)
{
    rig *r = *state;
    const cip_dtype *d = dtype_of(r, "{x: float32, xy: int16}");
    assert_ptr_equal(cip_dtype_find_field(d, "x", 1), &d->field[0]);
    assert_ptr_equal(cip_dtype_find_field(d, "xyz", 2), &d->field[1]);
    assert_null(cip_dtype_find_field(d, "xyz", 3));
    assert_null(cip_dtype_find_field(d, "y", 1));
    assert_null(cip_dtype_find_field(d, "", 0));
    assert_null(cip_dtype_find_field(f32(), "x", 1));
}

static const char holes[] =
    "{'names': ['a', 'b', 'c', 'd', 'e'], 'formats': ['>f8', ('<U2', (2,)), 'S3', '>M8[25s]',"
    " [('p', '>i2'), ('q', 'V3')]], 'offsets': [40, 0, 20, 24, 50], 'itemsize': 64}";

static void copies_share_nothing(void **state)
{
    rig *r = *state;
    cip_arena other = { .mem = &r->mem };
    const cip_dtype *d = dtype_of(r, holes), *copy;
    assert_int_equal(cip_dtype_copy(&other, d, &copy, &r->err), CIP_OK);
    assert_true(cip_dtype_equal(d, copy));
    cip_arena_clear(&r->arena);
    assert_string_equal(copy->name, "{a: float64, b: ucs4-2[2], c: ascii3, d: datetime64[25s], "
                                    "e: {p: int16, q: bytes3}}");
    assert_string_equal(copy->field[4].dtype->field[1].name, "q");
    assert_int_equal(copy->field[1].shape[0], 2);
    assert_int_equal(copy->itemsize, 64);
    cip_arena_clear(&other);
    assert_int_equal(cip_dtype_copy(&other, f32(), &copy, &r->err), CIP_OK);
    assert_ptr_equal(copy, f32());
    cip_arena_clear(&other);
}

static void packing_takes_padding_and_order_away(void **state)
{
    rig *r = *state;
    const cip_dtype *d;
    assert_int_equal(cip_dtype_packed_le(&r->arena, dtype_of(r, holes), &d, &r->err), CIP_OK);
    assert_true(cip_dtype_equal(
        d, dtype_of(r, "[('a', '<f8'), ('b', '<U2', (2,)), ('c', 'S3'), ('d', '<M8[25s]'),"
                       " ('e', [('p', '<i2'), ('q', 'V3')])]")));
    assert_int_equal(d->itemsize, 40);
    assert_false(d->big);
    assert_int_equal(cip_dtype_packed_le(&r->arena, cip_dtype_fixed(CIP_I16, true), &d, &r->err),
                     CIP_OK);
    assert_ptr_equal(d, i16());
}

static void order_is_set_and_the_rest_kept(void **state)
{
    rig *r = *state;
    const cip_dtype *d;
    const char big[] =
        "{'names': ['a', 'b', 'c', 'd', 'e'], 'formats': ['>f8', ('>U2', (2,)), 'S3', '>M8[25s]',"
        " [('p', '>i2'), ('q', 'V3')]], 'offsets': [40, 0, 20, 24, 50], 'itemsize': 64}";
    assert_int_equal(cip_dtype_with_order(&r->arena, dtype_of(r, holes), true, &d, &r->err),
                     CIP_OK);
    assert_true(cip_dtype_equal(d, dtype_of(r, big)));
    assert_int_equal(cip_dtype_with_order(&r->arena, dtype_of(r, holes), false, &d, &r->err),
                     CIP_OK);
    assert_false(d->big);
    assert_int_equal(d->itemsize, 64);
    assert_int_equal(d->field[4].dtype->field[1].offset, 2);
}

/* Whether two texts mean equal dtypes, and dtypes of the same bytes. */
static void compared(rig *r, const char *a, const char *b, bool equal, bool same_bytes)
{
    const cip_dtype *d = dtype_of(r, a), *e = dtype_of(r, b);
    assert_int_equal(cip_dtype_equal(d, e), equal);
    assert_int_equal(cip_dtype_equal(e, d), equal);
    assert_int_equal(cip_dtype_same_bytes(d, e), same_bytes);
    assert_int_equal(cip_dtype_same_bytes(e, d), same_bytes);
}

static void dtypes_are_compared(void **state)
{
    rig *r = *state;
    compared(r, "<f4", "float32", true, true);
    compared(r, "<f4", ">f4", false, false);
    compared(r, "<f4", "<i4", false, false);
    compared(r, "<f4", "<f8", false, false);
    compared(r, "S3", "S3", true, true);
    compared(r, "S3", "S4", false, false);
    compared(r, "<U3", ">U3", false, false);
    compared(r, "<U0", ">U0", false, true);
    compared(r, "int24", "V3", false, true);
    compared(r, "int24", "int24", true, true);
    compared(r, "<M8[ns]", "<M8[us]", false, false);
    compared(r, "<M8[ns]", "<m8[ns]", false, false);
    compared(r, "<M8[ns]", "<M8[1ns]", true, true);
    compared(r, "[('a', '<f4')]", "[('a', '<f4')]", true, true);
    compared(r, "[('a', '<f4')]", "[('b', '<f4')]", false, true);
    compared(r, "[('a', '<f4')]", "[('a', '>f4')]", false, false);
    compared(r, "[('a', '<f4')]", "<f4", false, false);
    compared(r, "[('a', 'u1'), ('', 'V1')]", "[('', 'V1'), ('a', 'u1')]", false, false);
    compared(r, "[('a', 'u1'), ('', 'V1')]", "[('a', 'u1'), ('', 'V2')]", false, false);
    compared(r, "[('a', 'u1'), ('b', 'V1')]", "[('a', 'u1'), ('', 'V1')]", false, false);
    compared(r, "[('a', 'u1', (2,))]", "[('a', 'u1', (2, 1))]", false, false);
    compared(r, "[('a', 'u1', (2, 3))]", "[('a', 'u1', (3, 2))]", false, false);
    compared(r, "[('a', 'u1', (2, 3))]", "[('z', 'u1', (2, 3))]", false, true);
    compared(r, "[('a', [('x', '<f4')])]", "[('a', [('y', '<f4')])]", false, true);
    /* A field without bytes of its own has no order that matters; one with, has. */
    compared(r, "[('a', '<U0'), ('b', '<i2')]", "[('a', '>U0'), ('b', '<i2')]", false, true);
}

static void shapes_of_fields_are_not_mixed_up(void **state)
{
    rig *r = *state;
    cip_field f = { "a", i16(), 0, 2, two_three };
    const cip_dtype *d = record(r, 1, &f, true, 0);
    f.ndim = 1;
    f.shape = three;
    assert_false(cip_dtype_same_bytes(d, record(r, 1, &f, true, 12)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(packed_fields_lie_one_behind_the_other),
        RIG_TEST(given_offsets_and_itemsize_are_kept),
        RIG_TEST(nameless_fields_are_numbered),
        RIG_TEST(equal_names_are_corrupt),
        RIG_TEST(empty_records_have_no_bytes),
        RIG_TEST(a_record_is_big_when_a_field_is),
        RIG_TEST(shapes_are_checked),
        RIG_TEST(records_have_less_than_2_to_the_63_bytes),
        RIG_TEST(nesting_is_limited),
        RIG_TEST(shared_types_are_counted_wherever_they_are_used),
        RIG_TEST(odd_names_are_quoted),
        RIG_TEST(long_names_are_cut_at_a_field),
        RIG_TEST(fields_are_found_by_name),
        RIG_TEST(copies_share_nothing),
        RIG_TEST(packing_takes_padding_and_order_away),
        RIG_TEST(order_is_set_and_the_rest_kept),
        RIG_TEST(dtypes_are_compared),
        RIG_TEST(shapes_of_fields_are_not_mixed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
