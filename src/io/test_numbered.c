/* SPDX-License-Identifier: BSD-3-Clause
 * Folders as ios, and their numbered members as one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/pool.h"
#include "io/io_impl.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "support/temp_folder.h"

enum { NMEMBER = 100 };

static cip_env env;
static scratch dir;

static void name_of(void *user, uint64_t i, cip_io **of, char out[CIP_IO_NUMBER_NAME])
{
    (void)user, (void)of;
    snprintf(out, CIP_IO_NUMBER_NAME, "m%03u", (unsigned)i);
}

/* Member i holds i + 1 bytes of value i. */
static int setup(void **state)
{
    (void)state;
    if (!scratch_open(&dir))
        return -1;
    for (unsigned i = 0; i < NMEMBER; i++) {
        char name[CIP_IO_NUMBER_NAME];
        uint8_t bytes[NMEMBER];
        memset(bytes, (int)i, sizeof bytes);
        name_of(NULL, i, NULL, name);
        scratch_write(&dir, name, bytes, i + 1);
    }
    mkdir(scratch_path(&dir, "sub"), 0755);
    scratch_write(&dir, "sub/leaf", "leaf", 4);
    return (int)cip_env_init(&env, NULL, NULL, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    size_t left = (size_t)env.mem.used;
    cip_env_clear(&env);
    scratch_close(&dir);
    return left != 0;
}

static void a_folder_has_members_and_no_bytes(void **state)
{
    (void)state;
    cip_io *io, *member, *deeper;
    uint8_t byte;
    size_t got = 1;
    assert_int_equal(cip_io_open_path(&env, dir.dir, &io, NULL), CIP_OK);
    assert_true(cip_io_is_folder(io));
    assert_int_equal(io->size, 0);
    assert_int_equal(cip_io_read_some(io, 0, &byte, 1, &got, NULL), CIP_OK);
    assert_int_equal(got, 0);
    assert_int_equal(cip_io_open_member(io, "sub/leaf", 0, &member, NULL), CIP_OK);
    assert_int_equal(member->size, 4);
    assert_int_equal(cip_io_open_member(member, "leaf", 0, &deeper, NULL), CIP_OK);
    cip_io_close(deeper);
    cip_io_close(member);
    assert_int_equal(cip_io_open_member(io, "m099", CIP_IO_EXTERNAL, &member, NULL), CIP_OK);
    assert_int_equal(member->size, NMEMBER);
    cip_io_close(member);
    assert_int_equal(cip_io_open_member(io, "gone", 0, &member, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_io_open_member(io, "../x", 0, &member, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_io_open_member(io, "sub", 0, &member, NULL), CIP_ERR_UNSUPPORTED);
    assert_null(member);
    cip_io_close(io);
}

static void a_path_is_a_folder_or_a_file(void **state)
{
    (void)state;
    cip_io *io;
    const char *file = scratch_path(&dir, "m000");
    assert_int_equal(cip_io_open_path(&env, file, &io, NULL), CIP_OK);
    assert_false(cip_io_is_folder(io));
    cip_io_close(io);
    assert_int_equal(cip_io_open_folder(&env, file, &io, NULL), CIP_ERR_UNSUPPORTED);
    assert_null(io);
    assert_int_equal(cip_io_open_path(&env, scratch_path(&dir, "gone"), &io, NULL),
                     CIP_ERR_NOT_FOUND);
}

typedef struct seen {
    char names[200];
    size_t n;
} seen;

static int see(void *user, const char *name, bool is_folder)
{
    seen *s = user;
    size_t at = strlen(s->names);
    if (name[0] != 'm' || s->n++ < 2)
        snprintf(s->names + at, sizeof s->names - at, "%s%s ", name, is_folder ? "/" : "");
    return s->n == 0;
}

static int stop(void *user, const char *name, bool is_folder)
{
    (void)user, (void)name, (void)is_folder;
    return 1;
}

static void a_folder_is_listed_in_order(void **state)
{
    (void)state;
    NEEDS_OPENAT2();
    cip_io *io;
    seen s = { .n = 0 };
    assert_int_equal(cip_io_open_path(&env, dir.dir, &io, NULL), CIP_OK);
    assert_int_equal(symlink("sub", scratch_path(&dir, "in")), 0);
    assert_int_equal(symlink("/etc", scratch_path(&dir, "out")), 0);
    assert_int_equal(cip_io_list(io, "", 0, see, &s, NULL), CIP_ERR_CANCELLED); /* at "in" */
    s = (seen){ .n = 1 };
    assert_int_equal(cip_io_list(io, "", 0, see, &s, NULL), CIP_OK);
    assert_string_equal(s.names, "in/ m000 out/ sub/ ");
    s = (seen){ .n = 1 };
    assert_int_equal(cip_io_list(io, "in", 0, see, &s, NULL), CIP_OK);
    assert_int_equal(cip_io_list(io, "sub", CIP_IO_EXTERNAL, see, &s, NULL), CIP_OK);
    assert_string_equal(s.names, "leaf leaf ");
    assert_int_equal(cip_io_list(io, "out", 0, see, &s, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_io_list(io, "out", CIP_IO_EXTERNAL, stop, &s, NULL), CIP_ERR_CANCELLED);
    assert_int_equal(cip_io_list(io, "../x", 0, see, &s, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_io_list(io, "gone", 0, see, &s, NULL), CIP_ERR_NOT_FOUND);
    cip_io_close(io);
    assert_int_equal(cip_io_open_path(&env, scratch_path(&dir, "m000"), &io, NULL), CIP_OK);
    assert_int_equal(cip_io_list(io, "", 0, see, &s, NULL), CIP_ERR_UNSUPPORTED);
    cip_io_close(io);
}

static void a_name_beneath_is_taken_as_it_is(void **state)
{
    (void)state;
    cip_io *io, *member;
    const char *const outside[] = {
        "", "/etc/passwd", "../x", "sub/../m000", "./m000", "sub//leaf"
    };
    assert_int_equal(cip_io_open_path(&env, dir.dir, &io, NULL), CIP_OK);
    scratch_write(&dir, "a%20b#c", "x", 1);
    assert_int_equal(cip_io_open_beneath(io, "a%20b#c", 0, &member, NULL), CIP_OK);
    cip_io_close(member);
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
        assert_int_equal(cip_io_open_beneath(io, outside[i], 0, &member, NULL), CIP_ERR_CORRUPT);
    cip_io_close(io);
}

static unsigned open_files(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

static cip_io *open_numbered(cip_io **folder)
{
    cip_io *io;
    assert_int_equal(cip_io_open_path(&env, dir.dir, folder, NULL), CIP_OK);
    assert_int_equal(cip_io_open_numbered(*folder, 0, name_of, NULL, &io, NULL), CIP_OK);
    return io;
}

static uint64_t at(uint64_t i, uint64_t off)
{
    return (i << CIP_IO_NUMBER_SHIFT) + off;
}

static void members_are_found_by_their_number(void **state)
{
    (void)state;
    cip_io *folder, *io = open_numbered(&folder);
    uint64_t size = 7;
    uint8_t a[2], b[3];
    const cip_range r[2] = { { at(7, 6), 2, a }, { at(50, 0), 3, b } };
    for (uint64_t i = 0; i < NMEMBER; i++) {
        assert_int_equal(cip_io_numbered_size(io, i, &size, NULL), CIP_OK);
        assert_int_equal(size, i + 1);
    }
    assert_int_equal(cip_io_read_ranges(io, r, 2, NULL), CIP_OK);
    assert_int_equal(a[1], 7);
    assert_int_equal(b[2], 50);
    cip_io_close(io);
    cip_io_close(folder);
}

static void members_that_end_or_are_not_there_say_so(void **state)
{
    (void)state;
    cip_io *folder, *io = open_numbered(&folder);
    cip_err err = CIP_ERR_INIT;
    uint64_t size = 7;
    uint8_t byte[2];
    assert_int_equal(cip_io_read(io, at(7, 7), byte, 2, &err), CIP_ERR_TRUNCATED);
    assert_string_equal(err.part, "m007");
    err = (cip_err)CIP_ERR_INIT;
    assert_int_equal(cip_io_read(io, at(200, 0), byte, 1, &err), CIP_ERR_NOT_FOUND);
    assert_string_equal(err.part, "m200");
    assert_int_equal(cip_io_numbered_size(io, 200, &size, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(size, 7);
    cip_io_close(io);
    cip_io_close(folder);
}

static void at_most_64_are_open(void **state)
{
    (void)state;
    cip_io *folder, *io = open_numbered(&folder);
    unsigned before = open_files();
    for (int turn = 0; turn < 2; turn++)
        for (uint64_t i = 0; i < NMEMBER; i++) {
            uint8_t byte;
            assert_int_equal(cip_io_read(io, at(i, i), &byte, 1, NULL), CIP_OK);
            assert_int_equal(byte, i);
        }
    assert_int_equal(open_files() - before, CIP_IO_NUMBERED_OPEN); /* the folder was before */
    cip_io_close(io);
    cip_io_close(folder);
}

static cip_status read_one(void *arg, size_t i, cip_err *err)
{
    uint8_t byte = 0xff;
    uint64_t n = i * 37 % NMEMBER;
    CIP_TRY(cip_io_read(arg, at(n, n), &byte, 1, err));
    return byte == n ? CIP_OK : cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "another byte");
}

static void many_threads_may_read(void **state)
{
    (void)state;
    cip_io *folder, *io = open_numbered(&folder);
    cip_pool *pool;
    assert_int_equal(cip_pool_new(4, &pool, NULL), CIP_OK);
    assert_int_equal(cip_pool_run(pool, 2000, read_one, io, NULL), CIP_OK);
    cip_pool_free(pool);
    cip_io_close(io);
    cip_io_close(folder);
}

static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc a = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &a };
        cip_env own;
        cip_io *folder = NULL, *io = NULL;
        uint8_t byte;
        assert_int_equal(cip_env_init(&own, NULL, &from, NULL, NULL), CIP_OK);
        cip_status st = cip_io_open_path(&own, dir.dir, &folder, NULL);
        if (st == CIP_OK)
            st = cip_io_open_numbered(folder, 0, name_of, NULL, &io, NULL);
        if (st == CIP_OK)
            st = cip_io_read(io, at(3, 0), &byte, 1, NULL);
        assert_int_equal(st, a.requests < n ? CIP_OK : CIP_ERR_NOMEM);
        cip_io_close(io);
        cip_io_close(folder);
        cip_env_clear(&own);
        assert_int_equal(a.held, 0);
        if (a.requests < n)
            break;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_folder_has_members_and_no_bytes),
        TEST(a_path_is_a_folder_or_a_file),
        TEST(a_folder_is_listed_in_order),
        TEST(a_name_beneath_is_taken_as_it_is),
        TEST(members_are_found_by_their_number),
        TEST(members_that_end_or_are_not_there_say_so),
        TEST(at_most_64_are_open),
        TEST(many_threads_may_read),
        TEST(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
