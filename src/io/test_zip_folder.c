/* SPDX-License-Identifier: BSD-3-Clause
 * A zip archive as a folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "io/zip.h"
#include "support/each_request.h"
#include "support/own_env.h"

/* An archive of these members, each of its own name as data; "!" in front of one: it is deflated,
 * as far as the archive says. */
static cip_buf make(const char *const *name, size_t n)
{
    cip_buf b = { .mem = &env.mem };
    cip_zip_member m[16];
    assert_true(n <= 16);
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(name[i]);
        m[i] = (cip_zip_member){ .name = name[i], .header = b.len, .size = len, .stored = len };
        m[i].method = name[i][0] == '!' ? CIP_ZIP_DEFLATED : CIP_ZIP_STORED;
        assert_int_equal(cip_zip_header_write(&m[i], true, &b, NULL), CIP_OK);
        assert_int_equal(cip_buf_add(&b, name[i], len, NULL), CIP_OK);
    }
    assert_int_equal(cip_zip_directory_write(m, n, b.len, NULL, NULL, &b, NULL), CIP_OK);
    return b;
}

/* Upper case stands for what a codec does. */
static cip_status decode(cip_mem *mem, const cip_zip_member *m, const uint8_t *stored,
                         uint8_t *data, cip_err *err)
{
    (void)mem;
    if (strcmp(m->name, "!bad") == 0)
        return cip_fail(err, CIP_ERR_CHECKSUM, CIP_NO_OFFSET, "crc32 mismatch");
    for (uint64_t i = 0; i < m->size; i++)
        data[i] = stored[i] >= 'a' && stored[i] <= 'z' ? (uint8_t)(stored[i] - 32) : stored[i];
    return CIP_OK;
}

static cip_io *open_zip(cip_io **of, const cip_buf *b)
{
    cip_io *io;
    assert_int_equal(cip_io_open_memory(&env, b->ptr, b->len, "z.zip", of, NULL), CIP_OK);
    assert_int_equal(cip_io_open_zip(*of, decode, &io, NULL), CIP_OK);
    return io;
}

static int add_name(void *user, const char *name, bool is_folder)
{
    strcat(user, name);
    strcat(user, is_folder ? "/ " : " ");
    return 0;
}

static void names_are_listed_as_of_a_folder(void **state)
{
    (void)state;
    static const char *const name[] = { "b/x/1", "b/x/0", "a",   "b/y",       "b-c",
                                        "b.d/z", "e/",    "e/f", "b/x/deep/2" };
    static const struct {
        const char *path, *names;
    } row[] = { { "", "a b/ b-c b.d/ e/ " }, { "b", "x/ y " }, { "b/x", "0 1 deep/ " },
                { "b/x/deep", "2 " },        { "b.d", "z " },  { "e", "f " } };
    cip_io *of, *io;
    cip_err err = CIP_ERR_INIT;
    cip_buf b = make(name, sizeof name / sizeof *name);
    io = open_zip(&of, &b);
    assert_true(cip_io_is_folder(io));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char found[64] = "";
        assert_int_equal(cip_io_list(io, row[i].path, 0, add_name, found, NULL), CIP_OK);
        assert_string_equal(found, row[i].names);
    }
    char none[8] = "";
    assert_int_equal(cip_io_list(io, "c", 0, add_name, none, &err), CIP_ERR_NOT_FOUND);
    assert_string_equal(err.text, "no folder 'c' in 'z.zip'");
    assert_int_equal(cip_io_list(io, "../b", 0, add_name, none, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_io_list(io, "", CIP_IO_LINKS, add_name, none, NULL), CIP_OK);
    assert_string_equal(none, "");
    cip_io_close(io);
    cip_io_close(of);
    cip_buf_clear(&b);
}

static void members_are_opened_by_name(void **state)
{
    (void)state;
    static const char *const name[] = { "a/b", "!deflated", "!bad", "c/" };
    cip_io *of, *io, *member;
    cip_err err = CIP_ERR_INIT;
    char data[16];
    cip_buf b = make(name, 4);
    io = open_zip(&of, &b);
    assert_int_equal(cip_io_open_beneath(io, "a/b", 0, &member, NULL), CIP_OK);
    assert_int_equal(member->size, 3);
    assert_int_equal(cip_io_read(member, 0, data, 3, NULL), CIP_OK);
    assert_memory_equal(data, "a/b", 3);
    cip_io_close(member);
    assert_int_equal(cip_io_open_beneath(io, "!deflated", 0, &member, NULL), CIP_OK);
    assert_int_equal(cip_io_read(member, 0, data, 9, NULL), CIP_OK);
    assert_memory_equal(data, "!DEFLATED", 9);
    cip_io_close(member);
    assert_int_equal(cip_io_open_beneath(io, "!bad", 0, &member, &err), CIP_ERR_CHECKSUM);
    assert_string_equal(err.part, "!bad");
    assert_int_equal(cip_io_open_beneath(io, "a", 0, &member, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_io_open_beneath(io, "c", 0, &member, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_io_open_beneath(io, "a/../a/b", 0, &member, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_io_unchanged(io, NULL), CIP_OK);
    cip_io_close(io);
    cip_io_close(of);
    cip_buf_clear(&b);
}

static void place(void *user, uint64_t i, cip_io **of, char name[CIP_IO_NUMBER_NAME])
{
    (void)user, (void)of;
    snprintf(name, CIP_IO_NUMBER_NAME, "c/%u", (unsigned)i);
}

static void numbered_members_are_one_io(void **state)
{
    (void)state;
    static const char *const name[] = { "c/0", "c/1", "c/3" };
    cip_io *of, *io, *numbered;
    char data[3];
    uint64_t size;
    cip_buf b = make(name, 3);
    io = open_zip(&of, &b);
    assert_int_equal(cip_io_open_numbered(io, 0, place, NULL, &numbered, NULL), CIP_OK);
    assert_int_equal(cip_io_read(numbered, UINT64_C(3) << CIP_IO_NUMBER_SHIFT, data, 3, NULL),
                     CIP_OK);
    assert_memory_equal(data, "c/3", 3);
    assert_int_equal(cip_io_numbered_size(numbered, 1, &size, NULL), CIP_OK);
    assert_int_equal(size, 3);
    assert_int_equal(cip_io_numbered_size(numbered, 2, &size, NULL), CIP_ERR_NOT_FOUND);
    cip_io_close(numbered);
    cip_io_close(io);
    cip_io_close(of);
    cip_buf_clear(&b);
}

static cip_status use(cip_env *with, void *user)
{
    const cip_buf *b = user;
    cip_io *of = NULL, *io = NULL, *member = NULL;
    char names[64] = "";
    cip_status st = cip_io_open_memory(with, b->ptr, b->len, "z.zip", &of, NULL);
    if (st == CIP_OK)
        st = cip_io_open_zip(of, decode, &io, NULL);
    if (st == CIP_OK)
        st = cip_io_list(io, "a", 0, add_name, names, NULL);
    if (st == CIP_OK)
        st = cip_io_open_beneath(io, "!deflated", 0, &member, NULL);
    cip_io_close(member);
    cip_io_close(io);
    cip_io_close(of);
    return st;
}

static void want_of_memory_is_reported(void **state)
{
    (void)state;
    static const char *const name[] = { "a/b", "!deflated" };
    cip_buf b = make(name, 2);
    each_request_fails_once(use, &b);
    cip_buf_clear(&b);
}

static void what_is_no_archive_is_refused(void **state)
{
    (void)state;
    cip_io *of, *io;
    assert_int_equal(cip_io_open_memory(&env, "PK\3\4", 4, "z.zip", &of, NULL), CIP_OK);
    assert_int_equal(cip_io_open_zip(of, decode, &io, NULL), CIP_ERR_TRUNCATED);
    assert_null(io);
    cip_io_close(of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_are_listed_as_of_a_folder, setup, teardown),
        cmocka_unit_test_setup_teardown(members_are_opened_by_name, setup, teardown),
        cmocka_unit_test_setup_teardown(numbered_members_are_one_io, setup, teardown),
        cmocka_unit_test_setup_teardown(want_of_memory_is_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_archive_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
