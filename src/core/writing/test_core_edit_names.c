/* SPDX-License-Identifier: BSD-3-Clause
 * Changes of arrays that have several names, or that share the bytes of a block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/own_folder.h"

#define U8(block, rest)                                                                            \
    "!core/ndarray-1.1.0 {source: " #block ", datatype: uint8, byteorder: little, " rest "}"

/* A file of this tree and a block of the bytes 0, 1, ..., n - 1; then, where asked for, a streamed
 * one of as many. */
static const char *file_of(const char *name, const char *tree, uint8_t n, bool streamed)
{
    static char text[2048];
    size_t at = (size_t)snprintf(text, sizeof text,
                                 "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%%YAML 1.1\n"
                                 "%%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n%s...\n",
                                 tree);
    for (int k = 0; k < 1 + streamed; k++) {
        const uint8_t used = k == 0 ? n : 0;
        const uint8_t head[54] = { 0xd3, 'B',          'L',         'K',         0,
                                   48,   [9] = k == 1, [21] = used, [29] = used, [37] = used };
        memcpy(text + at, head, sizeof head);
        at += sizeof head;
        for (uint8_t i = 0; i < n; i++)
            text[at++] = (char)i;
    }
    return scratch_write(&s, name, text, at);
}

static cip_change *begin(const char *path)
{
    cip_change *e = NULL;
    OK(cip_change_open(path, NULL, &e, err));
    return e;
}

static void commit(cip_change *e, const char *path)
{
    OK(cip_change_commit(&e, err));
    edit_verify(path);
}

static void expect_now(cip_change *e, const char *path, const void *want, int64_t nbytes)
{
    uint8_t now[64];
    const cip_array *a;
    assert_in_range(nbytes, 0, sizeof now);
    OK(cip_change_array(e, path, &a, err));
    OK(cip_read_into(a, CIP_READ_ARGS(.dst = now, .dst_nbytes = (size_t)nbytes), err));
    assert_memory_equal(now, want, (size_t)nbytes);
}

static void a_bare_list_changes_under_its_own_name(void **state)
{
    (void)state;
    const int64_t was[] = { 1, 2, 3 }, now[] = { 10, 2, 3, 10 };
    const char *path =
        file_of("l.asdf", "x: &x !core/ndarray-1.1.0 [1, 2, 3]\ny: *x\nz: *x\n", 1, false);
    cip_change *e = begin(path);
    OK(cip_change_write(e, "y", "[0]", cip_dtype_as_stored(), now, sizeof *now, err));
    expect_now(e, "x", was, sizeof was);
    OK(cip_change_append(e, "y", cip_dtype_as_stored(), now, sizeof *now, err));
    expect_now(e, "x", was, sizeof was);
    expect_now(e, "y", now, sizeof now);
    commit(e, path);
    edit_expect(path, "x", "1 2 3\n");
    edit_expect(path, "y", "10 2 3 10\n");
    edit_expect(path, "z", "1 2 3\n");
}

static void a_quantity_of_an_alias_is_that_array(void **state)
{
    (void)state;
    const uint8_t v[] = { 7, 8 }, now[] = { 0, 7, 8, 7, 8 };
    const char *path = file_of(
        "q.asdf",
        "a: &a " U8(0, "shape: [3]") "\n"
                                     "q: &q !unit/quantity-1.1.0 {unit: m, value: *a}\nr: *q\n",
        6, false);
    cip_change *e = begin(path);
    OK(cip_change_write(e, "q", "[1:]", cip_dtype_as_stored(), v, sizeof v, err));
    OK(cip_change_insert(e, "q/value", 0, 3, cip_dtype_as_stored(), v, sizeof v, err));
    for (int i = 0; i < 5; i++)
        expect_now(e, ((const char *[]){ "a", "q", "q/value", "r", "r/value" })[i], now,
                   sizeof now);
    OK(cip_change_remove(e, "a", err));
    OK(cip_change_append(e, "r", cip_dtype_as_stored(), v, 1, err));
    commit(e, path);
    edit_expect(path, "q", "0 7 8 7 8 7\n");
    edit_expect(path, "r", "0 7 8 7 8 7\n");
}

static void a_quantity_goes_with_its_value(void **state)
{
    (void)state;
    const uint8_t v = 7;
    const cip_array *a;
    const char *path = file_of(
        "v.asdf", "q: !unit/quantity-1.1.0 {unit: m, value: " U8(0, "shape: [3]") "}\n", 3, false);
    cip_change *e = begin(path);
    OK(cip_change_append(e, "q", cip_dtype_as_stored(), &v, 1, err));
    OK(cip_change_set_int(e, "q/value", 5, err));
    FAILS(CIP_ERR_NOT_FOUND, "removed or replaced", cip_change_array(e, "q", &a, err));
    FAILS(CIP_ERR_NOT_FOUND, "removed or replaced",
          read_now(e, "q", CIP_READ_ARGS(.dst = NULL), err));
    FAILS(CIP_ERR_NOT_FOUND, "removed or replaced",
          cip_change_append(e, "q", cip_dtype_as_stored(), &v, 1, err));
    cip_change_abort(&e);
}

static void no_rows_move_nothing(void **state)
{
    (void)state;
    static const uint8_t even[] = { 0, 2, 4 }, three[] = { 0, 1, 2 };
    const char *path =
        file_of("n.asdf",
                "a: " U8(0, "shape: [3], strides: [2]") "\n"
                                                        "b: " U8(0, "shape: [3]") "\nc: " U8(
                                                            0, "shape: [6]") "\n",
                6, true);
    cip_file *f;
    cip_change *e = begin(path);
    OK(cip_change_append(e, "a", cip_dtype_as_stored(), NULL, 0, err));
    OK(cip_change_append(e, "b", cip_dtype_as_stored(), NULL, 0, err));
    expect_now(e, "a", even, sizeof even);
    expect_now(e, "b", three, sizeof three);
    commit(e, path);
    edit_expect(path, "a", "0 2 4\n");
    OK(cip_open(path, NULL, &f, err));
    assert_int_equal(cip_file_nblock(f), 2);
    cip_file_close(f);
}

/* Of rows of 4 bytes, in a stream of 6: what is no row of theirs is a torn one, but for what others
 * added in the same update. */
static void rows_of_another_array_are_not_torn(void **state)
{
    (void)state;
    static const uint8_t v[] = { 7, 8, 9, 10 }, now[] = { 0, 1, 2, 3, 4, 5, 7 };
    const char *path = file_of("t.asdf",
                               "a: " U8(1, "shape: [6]") "\n"
                                                         "b: " U8(1, "shape: ['*', 4]") "\n",
                               6, true);
    cip_change *e = begin(path);
    OK(cip_change_append(e, "a", cip_dtype_as_stored(), v, 1, err));
    FAILS(CIP_ERR_UNSUPPORTED, "finish it first",
          cip_change_append(e, "b", cip_dtype_as_stored(), v, sizeof v, err));
    expect_now(e, "a", now, sizeof now);
    cip_change_abort(&e);
    e = begin(path);
    OK(cip_change_append(e, "b", cip_dtype_as_stored(), v, sizeof v, err));
    commit(e, path);
    edit_expect(path, "b", "0 1 2 3\n7 8 9 10\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bare_list_changes_under_its_own_name),
        cmocka_unit_test(a_quantity_of_an_alias_is_that_array),
        cmocka_unit_test(a_quantity_goes_with_its_value),
        cmocka_unit_test(no_rows_move_nothing),
        cmocka_unit_test(rows_of_another_array_are_not_torn),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
