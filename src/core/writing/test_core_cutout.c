/* SPDX-License-Identifier: BSD-3-Clause
 * Parts of open arrays on their way into new files: selections, fields, other types, masks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"

static scratch s;
static cip_file *in;

/* image: int16 [4, 6] of 0 to 23, of which 0 and 7 are missing; table: records. */
static int start(void **state)
{
    (void)state;
    static const int64_t shape[] = { 4, 6 };
    static const uint8_t mask[24] = { 1, [7] = 1 };
    int16_t v[24];
    cip_change *w;
    if (!scratch_open(&s))
        return -1;
    for (int i = 0; i < 24; i++)
        v[i] = (int16_t)i;
    OK(cip_create(scratch_path(&s, "in.asdf"), NULL, &w, err));
    OK(cip_change_put(w, "image", cip_dtype_of(CIP_I16), 2, shape, v,
                      CIP_ARRAY_OPTIONS(.mask = mask), err));
    OK(cip_change_set_yaml(w, "table",
                           "!core/ndarray-1.1.0 {datatype: [{name: a, datatype: int32}, {name: b, "
                           "datatype: float32}], byteorder: little, data: [[1, 0.5], [2, 1.5]]}",
                           err));
    OK(cip_change_commit(&w, err));
    OK(cip_open(scratch_path(&s, "in.asdf"), NULL, &in, err));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    cip_file_close(in);
    scratch_close(&s);
    return 0;
}

static void cut(const char *array, const cip_read_args *args, const char *codec, const char *text)
{
    const char *path = scratch_path(&s, "out.asdf");
    cip_change *w;
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &w, err));
    OK(cip_change_put_array(w, "a", cip_find(in, array, err), args,
                            CIP_ARRAY_OPTIONS(.codec = codec), err));
    OK(cip_change_commit(&w, err));
    edit_verify(path);
    edit_expect(path, "a", text);
}

static void a_part_of_an_array_is_written(void **state)
{
    (void)state;
    static const char *const codecs[] = { NULL, "zlib" };
    for (size_t i = 0; i < 2; i++) {
        cut("image", CIP_READ_ARGS(.selection = "[1:3, ::-2]"), codecs[i], "11 9 --\n17 15 13\n");
        cut("image", CIP_READ_ARGS(.selection = "[3]", .dtype = cip_dtype_of(CIP_F64)), codecs[i],
            "18.0 19.0 20.0 21.0 22.0 23.0\n");
        cut("image", CIP_READ_ARGS(.selection = "[0:2, 0:2]", .take_mask = true), codecs[i],
            "True False\nFalse True\n");
        cut("image", CIP_READ_ARGS(.selection = "[4:6, 1]", .reversed = true), codecs[i],
            "10 11\n");
        cut("table", CIP_READ_ARGS(.field = "b", .selection = "[::-1]"), codecs[i], "1.5 0.5\n");
        cut("image", CIP_READ_ARGS(.selection = "[2:2]"), codecs[i], "");
        cut("image", CIP_READ_ARGS(.selection = "[3, 5]"), codecs[i], "23\n");
    }
}

static void values_that_a_type_does_not_hold_are_refused_or_clamped(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "no.asdf");
    cip_change *w;
    OK(cip_create(path, NULL, &w, err));
    FAILS(CIP_ERR_RANGE, "",
          cip_change_put_array(w, "a", cip_find(in, "table", err),
                               CIP_READ_ARGS(.field = "b", .dtype = cip_dtype_of(CIP_U8)), NULL,
                               err));
    cip_change_abort(&w);
    cut("table",
        CIP_READ_ARGS(.field = "b", .dtype = cip_dtype_of(CIP_U8), .overflow = CIP_OVERFLOW_CLAMP),
        NULL, "0 1\n");
}

static void a_place_for_elements_is_refused(void **state)
{
    (void)state;
    int16_t v[24];
    cip_change *w;
    OK(cip_create(scratch_path(&s, "no.asdf"), NULL, &w, err));
    FAILS(CIP_ERR_ARG, "destination",
          cip_change_put_array(w, "a", cip_find(in, "image", err), CIP_READ_ARGS(.dst = v), NULL,
                               err));
    cip_change_abort(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_an_array_is_written),
        cmocka_unit_test(values_that_a_type_does_not_hold_are_refused_or_clamped),
        cmocka_unit_test(a_place_for_elements_is_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
