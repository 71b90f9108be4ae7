/* SPDX-License-Identifier: BSD-3-Clause
 * Lock files of other programs, and what a watched io says of changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "io/io_impl.h"
#include "io/lock_file.h"
#include "support/fail_alloc.h"
#include "support/temp_folder.h"

static cip_env env;
static scratch dir;

static int setup(void **state)
{
    (void)state;
    return scratch_open(&dir) && cip_env_init(&env, NULL, NULL, NULL, NULL) == CIP_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    cip_env_clear(&env);
    scratch_close(&dir);
    return 0;
}

static cip_lock_file opened(const char *name)
{
    cip_lock_file f;
    assert_int_equal(cip_lock_file_open(AT_FDCWD, scratch_path(&dir, name), true, &f, NULL),
                     CIP_OK);
    return f;
}

static void one_that_is_not_there_is_none(void **state)
{
    (void)state;
    cip_lock_file f = opened("none");
    assert_int_equal(f.fd, -1);
    assert_int_equal(cip_lock_file_count(&f, NULL), CIP_OK);
    assert_true(cip_lock_file_is_same(&f));
    cip_lock_file_let(&f);
    cip_lock_file_close(&f);
    assert_int_equal(access(scratch_path(&dir, "none"), F_OK), -1);
}

static void changes_are_counted_behind_eight_bytes(void **state)
{
    (void)state;
    uint64_t bytes[2] = { 1, 2 };
    scratch_write(&dir, "empty", bytes, 0); /* as its first opener leaves it */
    cip_lock_file mine = opened("empty"), other = opened("empty");
    cip_lock_file_note(&other);
    assert_int_equal(cip_lock_file_count(&mine, NULL), CIP_OK);
    assert_int_equal(cip_lock_file_count(&mine, NULL), CIP_OK);
    assert_false(cip_lock_file_is_same(&other));
    assert_int_equal(pread(mine.fd, bytes, sizeof bytes, 0), sizeof bytes);
    assert_int_equal(bytes[0], 0);
    assert_int_equal(bytes[1], 2);
    cip_lock_file_close(&mine);
    cip_lock_file_close(&other);
}

static void it_is_shared_or_held_alone(void **state)
{
    (void)state;
    scratch_write(&dir, "lock", "", 0);
    cip_lock_file a = opened("lock"), b = opened("lock");
    assert_int_equal(cip_lock_file_take(&a, true), CIP_LOCK_HELD);
    assert_int_equal(cip_lock_file_take(&b, true), CIP_LOCK_HELD);
    assert_int_equal(cip_lock_file_take(&a, false), CIP_LOCK_TAKEN);
    cip_lock_file_let(&b);
    assert_int_equal(cip_lock_file_take(&a, false), CIP_LOCK_HELD);
    assert_int_equal(cip_lock_file_take(&b, true), CIP_LOCK_TAKEN);
    cip_lock_file_close(&a);
    assert_int_equal(cip_lock_file_take(&b, false), CIP_LOCK_HELD);
    cip_lock_file_close(&b);
}

static cip_io *watched(const char *name)
{
    cip_io *io;
    const char *path = scratch_path(&dir, name);
    assert_int_equal(cip_io_open_path(&env, path, &io, NULL), CIP_OK);
    cip_lock_file lock = opened("lock");
    cip_lock_file_note(&lock);
    assert_int_equal(cip_io_watch(io, &lock, NULL), CIP_OK);
    return io;
}

static void a_read_of_a_watched_file_is_of_what_was_opened(void **state)
{
    (void)state;
    char got[4];
    scratch_write(&dir, "lock", "", 0);
    scratch_write(&dir, "data", "1234", 4);
    cip_io *io = watched("data");
    assert_int_equal(cip_io_read(io, 0, got, 4, NULL), CIP_OK);
    cip_lock_file other = opened("lock");
    assert_int_equal(cip_lock_file_count(&other, NULL), CIP_OK);
    const cip_range all = { .nbytes = 4, .dst = got };
    assert_int_equal(cip_io_read(io, 0, got, 4, NULL), CIP_ERR_BUSY);
    assert_int_equal(cip_io_read_ranges(io, &all, 1, NULL), CIP_ERR_BUSY);
    const int fd = open(scratch_path(&dir, "copy"), O_WRONLY | O_CREAT, 0600);
    assert_int_equal(cip_store_copy(fd, 0, io, 0, 4, NULL), CIP_ERR_BUSY);
    close(fd);
    cip_io_close(io);
    cip_lock_file_close(&other);
}

static void a_folder_is_what_its_members_were(void **state)
{
    (void)state;
    char got[4];
    cip_io *io, *member, *later;
    scratch_write(&dir, "a", "1234", 4);
    scratch_write(&dir, "b", "1234", 4);
    assert_int_equal(cip_io_open_path(&env, dir.dir, &io, NULL), CIP_OK);
    cip_lock_file none = CIP_LOCK_FILE_NONE;
    assert_int_equal(cip_io_watch(io, &none, NULL), CIP_OK);
    cip_io_note_members(io, true);
    assert_int_equal(cip_io_open_member(io, "a", 0, &member, NULL), CIP_OK);
    cip_io_note_members(io, false);
    assert_int_equal(cip_io_open_member(io, "b", 0, &later, NULL), CIP_OK);
    scratch_write(&dir, "b", "12345", 5);
    assert_int_equal(cip_io_unchanged(io, NULL), CIP_OK); /* it is not noted, but */
    assert_int_equal(cip_io_read(later, 0, got, 4, NULL), CIP_ERR_BUSY);
    assert_int_equal(cip_io_read(member, 0, got, 4, NULL), CIP_OK);
    scratch_write(&dir, "a", "12345", 5);
    assert_int_equal(cip_io_unchanged(io, NULL), CIP_ERR_BUSY);
    assert_int_equal(cip_io_read(member, 0, got, 4, NULL), CIP_ERR_BUSY);
    cip_io_close(member);
    cip_io_close(later);
    cip_io_close(io);
}

static void what_no_program_makes_is_refused(void **state)
{
    (void)state;
    cip_lock_file f;
    char target[300];
    snprintf(target, sizeof target, "%s", scratch_write(&dir, "target", "x", 1));
    assert_int_equal(symlink(target, scratch_path(&dir, "link")), 0);
    assert_int_equal(link(target, scratch_path(&dir, "second")), 0);
    assert_int_equal(mkfifo(scratch_path(&dir, "fifo"), 0600), 0);
    assert_int_equal(mkdir(scratch_path(&dir, "folder"), 0700), 0);
    int fd = open(scratch_path(&dir, "huge"), O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, 1 << 20), 0);
    close(fd);
    const char *const name[] = { "link", "second", "fifo", "folder", "huge" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (int change = 0; change < 2; change++) {
            const char *path = scratch_path(&dir, name[i]);
            assert_int_equal(cip_lock_file_open(AT_FDCWD, path, change != 0, &f, NULL),
                             CIP_ERR_UNSUPPORTED);
            assert_int_equal(f.fd, -1);
        }
}

static void failing_memory_leaks_no_descriptor(void **state)
{
    (void)state;
    scratch_write(&dir, "lock", "", 0);
    scratch_write(&dir, "data", "1234", 4);
    bool done = false;
    for (size_t n = 1; !done; n++) {
        fail_alloc a = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &a };
        cip_env own;
        cip_io *io = NULL;
        assert_int_equal(cip_env_init(&own, NULL, &from, NULL, NULL), CIP_OK);
        cip_status st = cip_io_open_path(&own, scratch_path(&dir, "data"), &io, NULL);
        cip_lock_file lock = opened("lock");
        if (st == CIP_OK)
            st = cip_io_watch(io, &lock, NULL);
        else
            cip_lock_file_close(&lock);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        done = st == CIP_OK;
        cip_io_close(io);
        cip_env_clear(&own);
        assert_int_equal(a.held, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_not_there_is_none),
        cmocka_unit_test(changes_are_counted_behind_eight_bytes),
        cmocka_unit_test(it_is_shared_or_held_alone),
        cmocka_unit_test(a_read_of_a_watched_file_is_of_what_was_opened),
        cmocka_unit_test(a_folder_is_what_its_members_were),
        cmocka_unit_test(what_no_program_makes_is_refused),
        cmocka_unit_test(failing_memory_leaks_no_descriptor),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
