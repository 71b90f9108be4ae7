/* SPDX-License-Identifier: BSD-3-Clause
 * Zip archives as they are written, member by member. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "format/zip_out.h"
#include "support/each_request.h"
#include "support/own_env.h"

static cip_status add(void *user, const void *p, size_t n, cip_err *err)
{
    return cip_buf_add(user, p, n, err);
}

/* An archive with the members `x` and `y/z`. */
static cip_status make(cip_mem *mem, cip_buf *b, cip_err *err)
{
    cip_arena a = { .mem = mem };
    cip_out to = { .write = add, .user = b };
    cip_zip_out z = { .mem = mem, .arena = &a, .to = &to };
    const cip_segment piece[] = { { .ptr = (const uint8_t *)"12345", .len = 5 },
                                  { .off = '6', .len = 3 },
                                  { .ptr = (const uint8_t *)"9", .len = 1 } };
    b->mem = mem;
    cip_status st = cip_zip_put(&z, "x", piece, 3, err);
    if (st == CIP_OK)
        st = cip_zip_put(&z, "y/z", NULL, 0, err);
    if (st == CIP_OK)
        st = cip_zip_put_directory(&z, err);
    cip_zip_out_clear(&z);
    cip_arena_clear(&a);
    return st;
}

static void members_are_stored_as_they_are(void **state)
{
    (void)state;
    static const char first[] = "PK\3\4\x2d\0\0\0\0\0\0\0\x21\0";
    cip_buf b = { .mem = NULL };
    cip_arena a = { .mem = &env.mem };
    cip_io *io;
    cip_zip z;
    uint64_t off;
    assert_int_equal(make(&env.mem, &b, NULL), CIP_OK);
    assert_memory_equal(b.ptr, first, sizeof first - 1);
    assert_int_equal(cip_io_open_memory(&env, b.ptr, b.len, "z.zip", &io, NULL), CIP_OK);
    assert_int_equal(cip_zip_read(io, &a, &z, NULL), CIP_OK);
    assert_int_equal(z.n, 2);
    assert_false(z.wide);
    assert_string_equal(z.at[0].name, "x");
    assert_int_equal(z.at[0].size, 9);
    assert_int_equal(z.at[0].crc, 0x54b57e9f);
    assert_int_equal(cip_zip_data(io, &z.at[0], &off, NULL), CIP_OK);
    assert_int_equal(off, 30 + 1); /* no zip64 field */
    assert_memory_equal(b.ptr + off, "123456669", 9);
    assert_string_equal(z.at[1].name, "y/z");
    assert_int_equal(cip_zip_data(io, &z.at[1], &off, NULL), CIP_OK);
    cip_io_close(io);
    cip_arena_clear(&a);
    cip_buf_clear(&b);
}

static void names_that_no_member_has_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } bad[] = {
        { "", "a member of a zip archive needs a name, found ''" },
        { "/a", "a member of a zip archive needs a relative name, found '/a'" },
        { "a\\b", "a member of a zip archive needs a name without backslashes, found 'a\\b'" },
        { "a/../b", "a member of a zip archive needs a name without empty segments, '.' and '..', "
                    "found 'a/../b'" },
        { "a\xff", "a member of a zip archive needs a name in UTF-8, found 'a\xff'" },
    };
    cip_buf b = { .mem = &env.mem };
    cip_arena a = { .mem = &env.mem };
    cip_out to = { .write = add, .user = &b };
    cip_zip_out z = { .mem = &env.mem, .arena = &a, .to = &to };
    cip_err err = CIP_ERR_INIT;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(cip_zip_put(&z, bad[i].name, NULL, 0, &err), CIP_ERR_UNSUPPORTED);
        assert_string_equal(err.text, bad[i].text);
    }
    char *name = malloc(UINT16_MAX + 2);
    memset(name, 'n', UINT16_MAX + 1);
    name[UINT16_MAX + 1] = '\0';
    assert_int_equal(cip_zip_put(&z, name, NULL, 0, &err), CIP_ERR_UNSUPPORTED);
    free(name);
    assert_int_equal(cip_zip_put(&z, "a", NULL, 0, &err), CIP_OK);
    assert_int_equal(cip_zip_put(&z, "a", NULL, 0, &err), CIP_ERR_ARG);
    assert_string_equal(err.text, "'a' is in the archive already");
    assert_int_equal(z.n, 1);
    cip_zip_out_clear(&z);
    cip_arena_clear(&a);
    cip_buf_clear(&b);
}

static cip_status make_with(cip_env *with, void *user)
{
    cip_buf b = { .mem = NULL };
    (void)user;
    const cip_status st = make(&with->mem, &b, NULL);
    cip_buf_clear(&b);
    return st;
}

static void memory_that_runs_out_is_an_error(void **state)
{
    (void)state;
    each_request_fails_once(make_with, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(members_are_stored_as_they_are, setup, teardown),
        cmocka_unit_test_setup_teardown(names_that_no_member_has_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_that_runs_out_is_an_error, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
