/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

/* The descr of the dtype of `text`. */
static void written(rig *r, const char *text, const char *want)
{
    char *got = NULL;
    if (cip_dtype_numpy(&r->arena, dtype_of(r, text), &got, &r->err) != CIP_OK)
        fail_msg("%s: %s", text, r->err.text);
    assert_string_equal(got, want);
}

static void unsupported(rig *r, const char *text)
{
    char *got = (char *)r;
    assert_int_equal(cip_dtype_numpy(&r->arena, dtype_of(r, text), &got, &r->err),
                     CIP_ERR_UNSUPPORTED);
    assert_null(got);
}

static void scalars_are_numpys_codes(void **state)
{
    static const char *const codes[] = {
        "|b1", "|i1",  "<i2", ">i4", "<i8",  "|u1", ">u2", "<u4",     ">u8",
        "<f2", ">f4",  "<f8", ">c8", "<c16", "|S5", "|S0", "<U7",     ">U7",
        "<U0", "|V12", "<M8", ">m8", "|S1",  "|V1", "|V0", "<M8[ns]", ">m8[25s]",
    };
    rig *r = *state;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        written(r, codes[i], codes[i]);
    written(r, "int24", "|V3");
    written(r, "float128", "|V16");
}

static void records_are_lists(void **state)
{
    rig *r = *state;
    written(r, "{}", "[]");
    written(r, "{a: >i4}", "[('a', '>i4')]");
    written(r, "{a: i4, b: f8[2, 3], c: u1[4]}",
            "[('a', '<i4'), ('b', '<f8', (2, 3)), ('c', '|u1', (4,))]");
    written(r, "{a: {b: S3, c: {d: U1}[2]}}",
            "[('a', [('b', '|S3'), ('c', [('d', '<U1')], (2,))])]");
    written(r, "{'it\\'s \\\\\\x1b\\u20ac': u1}", "[('it\\'s \\\\\\x1b\\u20ac', '|u1')]");
}

static void gaps_are_padding(void **state)
{
    rig *r = *state;
    written(r, "{'names': ['a', 'b'], 'formats': ['u1', 'i2'], 'offsets': [2, 4], 'itemsize': 9}",
            "[('', '|V2'), ('a', '|u1'), ('', '|V1'), ('b', '<i2'), ('', '|V3')]");
    written(r, "{'names': [], 'formats': [], 'itemsize': 3}", "[('', '|V3')]");
    written(r, "{'names': ['a'], 'formats': ['u1'], 'offsets': [2147483647]}",
            "[('', '|V2147483647'), ('a', '|u1')]");
    unsupported(r, "{'names': ['a'], 'formats': ['u1'], 'offsets': [2147483648]}");
    unsupported(r, "{'names': ['a'], 'formats': ['u1'], 'itemsize': 2147483650}");
}

static void what_numpy_cannot_say_is_unsupported(void **state)
{
    rig *r = *state;
    unsupported(r, "{'names': ['a', 'b'], 'formats': ['u1', 'u1'], 'offsets': [1, 0]}");
    unsupported(r, "{'names': ['a', 'b'], 'formats': ['i2', 'u1'], 'offsets': [0, 1]}");
    written(r, "S2147483647", "|S2147483647");
    unsupported(r, "S2147483648");
    written(r, "U536870911", "<U536870911");
    unsupported(r, "U536870912");
    unsupported(r, "{a: {b: V2147483648}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(scalars_are_numpys_codes),
        RIG_TEST(records_are_lists),
        RIG_TEST(gaps_are_padding),
        RIG_TEST(what_numpy_cannot_say_is_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
