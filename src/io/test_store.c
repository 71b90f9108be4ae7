/* SPDX-License-Identifier: BSD-3-Clause
 * Named files being written: places behind links, names, copies, moves, attributes, locks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/xattr.h>

#include "io/io_impl.h"
#include "io/temporary.h"
#include "io/store.h"
#include "support/needs.h"
#include "support/own_folder_env.h"

static cip_place place_of(const char *name)
{
    cip_place p;
    assert_int_equal(cip_place_open(&env.mem, scratch_path(&dir, name), &p, NULL), CIP_OK);
    return p;
}

static int open_rw(const cip_place *p, const char *name)
{
    int fd = -1;
    assert_int_equal(cip_store_open(p, name, O_RDWR | O_CREAT, 0644, &fd, NULL), CIP_OK);
    return fd;
}

static void assert_holds(int fd, const void *want, size_t n)
{
    uint8_t got[4096];
    assert_int_equal(pread(fd, got, sizeof got, 0), n);
    assert_memory_equal(got, want, n);
}

static void a_link_is_followed_to_its_file(void **state)
{
    (void)state;
    char sub[512];
    snprintf(sub, sizeof sub, "%s", scratch_path(&dir, "sub"));
    assert_int_equal(mkdir(sub, 0755), 0);
    scratch_write(&dir, "sub/real", "x", 1);
    assert_int_equal(symlink("sub/real", scratch_path(&dir, "link")), 0);
    assert_int_equal(symlink("nothing", scratch_path(&dir, "dangling")), 0);
    cip_place p = place_of("link");
    assert_string_equal(p.name, "real");
    assert_int_equal(faccessat(p.dir, "real", F_OK, 0), 0);
    cip_place_close(&p);
    assert_int_equal(p.dir, -1);
    cip_place_close(&p);
    p = place_of("dangling");
    assert_string_equal(p.name, "dangling");
    cip_place_close(&p);
}

static void a_place_needs_a_name_and_a_folder(void **state)
{
    (void)state;
    cip_place p = { .dir = -7 };
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_place_open(&env.mem, "/tmp/", &p, &err), CIP_ERR_ARG);
    assert_int_equal(cip_place_open(&env.mem, "/nonexistent/x", &p, &err), CIP_ERR_NOT_FOUND);
    assert_string_equal(err.text,
                        "cannot open the folder '/nonexistent': No such file or directory");
    assert_int_equal(p.dir, -7);
    assert_int_equal(cip_place_open(&env.mem, "name", &p, &err), CIP_OK);
    assert_string_equal(p.name, "name");
    cip_place_close(&p);
    assert_int_equal(cip_place_open(&env.mem, "/name", &p, &err), CIP_OK);
    assert_string_equal(p.name, "name");
    cip_place_close(&p);
}

static void names_beside_a_file_have_a_dot_and_an_end(void **state)
{
    (void)state;
    char *name = NULL, longest[256];
    cip_place p = place_of("a.asdf");
    assert_int_equal(cip_place_beside(&p, ".cip-tmp", &name, NULL), CIP_OK);
    assert_string_equal(name, ".a.asdf.cip-tmp");
    cip_mem_put(&env.mem, name);
    cip_place_close(&p);
    memset(longest, 'a', 255);
    longest[246] = '\0';
    p = (cip_place){ .mem = &env.mem, .name = longest };
    assert_int_equal(cip_place_beside(&p, ".cip-tmp", &name, NULL), CIP_OK);
    assert_int_equal(strlen(name), 255);
    cip_mem_put(&env.mem, name);
    longest[246] = 'a';
    longest[247] = '\0';
    assert_int_equal(cip_place_beside(&p, ".cip-tmp", &name, NULL), CIP_ERR_LIMIT);
}

static void opening_says_what_is_in_the_way(void **state)
{
    (void)state;
    int fd = -7;
    cip_err err = CIP_ERR_INIT;
    cip_place p = place_of("opened");
    close(open_rw(&p, "opened"));
    assert_int_equal(cip_store_open(&p, "opened", O_RDWR | O_CREAT | O_EXCL, 0600, &fd, &err),
                     CIP_ERR_EXISTS);
    assert_string_equal(err.text, "'opened' exists");
    assert_int_equal(cip_store_open(&p, "absent", O_RDWR, 0, &fd, &err), CIP_ERR_NOT_FOUND);
    assert_int_equal(symlink("opened", scratch_path(&dir, "to-opened")), 0);
    assert_int_equal(cip_store_open(&p, "to-opened", O_RDWR, 0, &fd, &err), CIP_ERR_IO);
    assert_int_equal(fd, -7);
    cip_place_close(&p);
}

static void names_are_taken_and_given_up(void **state)
{
    (void)state;
    cip_place p = place_of("one");
    close(open_rw(&p, "one"));
    close(open_rw(&p, "two"));
    assert_int_equal(cip_store_rename(&p, "one", "two", false, NULL), CIP_ERR_EXISTS);
    assert_int_equal(cip_store_rename(&p, "one", "two", true, NULL), CIP_OK);
    assert_int_equal(cip_store_rename(&p, "one", "two", true, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_store_rename(&p, "two", "three", false, NULL), CIP_OK);
    assert_int_equal(cip_place_sync(&p, NULL), CIP_OK);
    assert_int_equal(cip_store_unlink(&p, "three", NULL), CIP_OK);
    assert_int_equal(cip_store_unlink(&p, "three", NULL), CIP_OK);
    assert_int_equal(access(scratch_path(&dir, "three"), F_OK), -1);
    cip_place_close(&p);
}

static void bytes_are_written_filled_and_cut(void **state)
{
    (void)state;
    cip_place p = place_of("bytes");
    int fd = open_rw(&p, "bytes");
    assert_int_equal(cip_store_write(fd, 2, "abc", 3, NULL), CIP_OK);
    assert_holds(fd, "\0\0abc", 5);
    assert_int_equal(cip_store_fill(fd, 1, 'z', 2, NULL), CIP_OK);
    assert_int_equal(cip_store_resize(fd, 4, NULL), CIP_OK);
    assert_int_equal(cip_store_resize(fd, 6, NULL), CIP_OK);
    assert_holds(fd, "\0zzb\0\0", 6);
    assert_int_equal(cip_store_sync(fd, NULL), CIP_OK);
    assert_int_equal(cip_store_sync_all(fd, NULL), CIP_OK);
    close(fd);
    cip_place_close(&p);
}

static void runs_move_both_ways(void **state)
{
    (void)state;
    enum { N = 100000 };
    static uint8_t want[2 * N], got[2 * N];
    static const uint64_t to[] = { 0, 1, 99, 100, 101, 40000, 90000 };
    cip_place p = place_of("moved");
    int fd = open_rw(&p, "moved");
    for (size_t k = 0; k < sizeof to / sizeof *to; k++) {
        for (size_t i = 0; i < N; i++)
            want[i] = (uint8_t)(i * 31 >> 3);
        assert_int_equal(cip_store_resize(fd, 0, NULL), CIP_OK);
        assert_int_equal(cip_store_write(fd, 0, want, N, NULL), CIP_OK);
        assert_int_equal(cip_store_move(fd, 100, N, to[k], NULL), CIP_OK);
        memmove(want + to[k], want + 100, N - 100);
        size_t n = to[k] > 100 ? N + (size_t)to[k] - 100 : N;
        assert_int_equal(pread(fd, got, sizeof got, 0), n);
        assert_memory_equal(got, want, n);
    }
    close(fd);
    cip_place_close(&p);
}

/* From a file, a part of one, memory and a scratch: by the system or by hand. */
static void ranges_are_copied_from_anything(void **state)
{
    (void)state;
    enum { N = 3000000 };
    static uint8_t data[N], got[N];
    cip_io *io[4];
    for (size_t i = 0; i < N; i++)
        data[i] = (uint8_t)(i * 77 >> 5);
    const char *path = scratch_write(&dir, "source", data, N);
    assert_int_equal(cip_io_open_file(&env, path, &io[0], NULL), CIP_OK);
    assert_int_equal(cip_io_open_part(io[0], 1000, N - 1000, &io[1], NULL), CIP_OK);
    assert_int_equal(cip_io_open_memory(&env, data, N, "memory", &io[2], NULL), CIP_OK);
    assert_int_equal(cip_temporary_new(&env, NULL, &io[3], NULL), CIP_OK);
    assert_int_equal(cip_temporary_write(io[3], 0, data, N, NULL), CIP_OK);
    cip_place p = place_of("copy");
    for (size_t k = 0; k < 4; k++) {
        int fd = open_rw(&p, "copy");
        size_t off = k == 1 ? 500 : 1500;
        assert_int_equal(cip_store_copy(fd, 7, io[k], off, N - 2000, NULL), CIP_OK);
        assert_int_equal(pread(fd, got, N, 7), N - 2000);
        assert_memory_equal(got, data + 1500, N - 2000);
        assert_int_equal(cip_store_copy(fd, 0, io[k], io[k]->size - 9, 10, NULL), CIP_ERR_RANGE);
        assert_int_equal(cip_store_copy(fd, 0, io[k], io[k]->size + 1, 0, NULL), CIP_ERR_RANGE);
        assert_int_equal(cip_store_copy(fd, 0, io[k], io[k]->size, 0, NULL), CIP_OK);
        close(fd);
        assert_int_equal(cip_store_unlink(&p, "copy", NULL), CIP_OK);
    }
    cip_place_close(&p);
    cip_io_close(io[1]);
    for (size_t k = 0; k < 4; k++)
        if (k != 1)
            cip_io_close(io[k]);
}

static void a_new_file_takes_after_the_old(void **state)
{
    (void)state;
    struct stat st;
    char value[8] = "";
    cip_place p = place_of("old");
    int old = open_rw(&p, "old"), new = open_rw(&p, "new");
    assert_int_equal(fchmod(old, 0640), 0);
    int rc = fsetxattr(old, "user.a", "1", 1, 0);
    if (rc == 0)
        rc = fsetxattr(old, "user.note", "kept", 4, 0) | fsetxattr(old, "user.z", "26", 2, 0);
    assert_int_equal(fstat(old, &st), 0);
    assert_int_equal(cip_store_take_after(&env.mem, new, old, &st, NULL), CIP_OK);
    if (rc == 0) {
        assert_int_equal(fgetxattr(new, "user.note", value, sizeof value), 4);
        assert_memory_equal(value, "kept", 4);
        assert_int_equal(fgetxattr(new, "user.a", value, sizeof value), 1);
        assert_int_equal(fgetxattr(new, "user.z", value, sizeof value), 2);
    }
    assert_int_equal(fstat(new, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    close(old);
    close(new);
    cip_place_close(&p);
}

/* The mode that a file of user and group 65534 gets after one of 0:group with `mode`, made by that
 * user, who is in group 4242 as well; 0: that could not be tried. */
static mode_t mode_after(gid_t group, mode_t mode, gid_t *got)
{
    const gid_t groups[] = { 4242 };
    struct stat st = { .st_uid = 0, .st_gid = group, .st_mode = S_IFREG | mode };
    cip_place p = place_of("given");
    int fd = open_rw(&p, "given");
    cip_status status = CIP_ERR_IO;
    bool able = geteuid() == 0 && fchown(fd, 65534, 65534) == 0 && setgroups(1, groups) == 0;
    if (able && setegid(65534) == 0 && seteuid(65534) == 0)
        status = cip_store_take_after(&env.mem, fd, -1, &st, NULL);
    if (able)
        able = seteuid(0) == 0 && setegid(0) == 0 && setgroups(0, NULL) == 0;
    assert_int_equal(fstat(fd, &st), 0);
    close(fd);
    unlinkat(p.dir, "given", 0);
    cip_place_close(&p);
    *got = st.st_gid;
    return able && status == CIP_OK ? st.st_mode & 07777 : 0;
}

static void another_group_gets_no_rights_of_the_old_one(void **state)
{
    (void)state;
    gid_t group;
    mode_t mode = mode_after(0, 0664, &group);
    SKIP_UNLESS(mode != 0, "only root gives files away");
    assert_int_equal(mode, 0604);
    assert_int_equal(group, 65534);
    assert_int_equal(mode_after(0, 02775, &group), 0705);
    assert_int_equal(mode_after(0, 0646, &group), 0604);
    assert_int_equal(mode_after(4242, 0664, &group), 0664); /* the group alone */
    assert_int_equal(group, 4242);
}

static void locks_are_of_open_files(void **state)
{
    (void)state;
    cip_place p = place_of("locked");
    int a = open_rw(&p, "locked"), b = open_rw(&p, "locked");
    assert_int_equal(cip_store_lock(a, CIP_LOCK_WRITERS, false), CIP_LOCK_HELD);
    assert_int_equal(cip_store_lock(a, CIP_LOCK_WRITERS, false), CIP_LOCK_HELD);
    assert_int_equal(cip_store_lock(b, CIP_LOCK_WRITERS, false), CIP_LOCK_TAKEN);
    assert_int_equal(cip_store_lock(b, CIP_LOCK_READERS, true), CIP_LOCK_HELD);
    assert_int_equal(cip_store_lock(a, CIP_LOCK_READERS, true), CIP_LOCK_HELD);
    assert_int_equal(cip_store_lock(a, CIP_LOCK_READERS, false), CIP_LOCK_TAKEN);
    cip_store_unlock(b, CIP_LOCK_READERS);
    assert_int_equal(cip_store_lock(a, CIP_LOCK_READERS, false), CIP_LOCK_HELD);
    assert_int_equal(cip_store_lock(b, CIP_LOCK_READERS, true), CIP_LOCK_TAKEN);
    close(a);
    assert_int_equal(cip_store_lock(b, CIP_LOCK_WRITERS, false), CIP_LOCK_HELD);
    close(b);
    assert_int_equal(cip_store_lock(b, CIP_LOCK_WRITERS, false), CIP_LOCK_NONE);
    cip_place_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_followed_to_its_file),
        cmocka_unit_test(a_place_needs_a_name_and_a_folder),
        cmocka_unit_test(names_beside_a_file_have_a_dot_and_an_end),
        cmocka_unit_test(opening_says_what_is_in_the_way),
        cmocka_unit_test(names_are_taken_and_given_up),
        cmocka_unit_test(bytes_are_written_filled_and_cut),
        cmocka_unit_test(runs_move_both_ways),
        cmocka_unit_test(ranges_are_copied_from_anything),
        cmocka_unit_test(a_new_file_takes_after_the_old),
        cmocka_unit_test(another_group_gets_no_rights_of_the_old_one),
        cmocka_unit_test(locks_are_of_open_files),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
