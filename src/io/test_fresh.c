/* SPDX-License-Identifier: BSD-3-Clause
 * New files before they have their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <string.h>
#include <sys/wait.h>

#include "cippus/change.h"
#include "io/fresh.h"
#include "support/temp_folder.h"

static scratch dir;
static cip_mem mem;
static cip_place place;

typedef cip_status open_fn(const cip_place *p, const char *name, mode_t mode, cip_fresh *out,
                           cip_err *err);
static open_fn *const ways[] = { cip_fresh_open, cip_fresh_open_named };

static int setup(void **state)
{
    (void)state;
    cip_mem_init(&mem, NULL, 0);
    return scratch_open(&dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&dir);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    scratch_close(&dir);
    mkdir(dir.dir, 0755);
    return (int)cip_place_open(&mem, scratch_path(&dir, "x"), &place, NULL);
}

static int end(void **state)
{
    (void)state;
    cip_place_close(&place);
    return 0;
}

static size_t names(void)
{
    size_t n = 0;
    DIR *d = opendir(dir.dir);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 2;
}

static void holds(const char *text)
{
    char got[16] = "";
    FILE *f = fopen(scratch_path(&dir, "x"), "rb");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, sizeof got - 1, f), strlen(text));
    fclose(f);
    assert_string_equal(got, text);
}

static void one_takes_its_name_when_it_is_complete(void **state)
{
    (void)state;
    for (size_t way = 0; way < 2; way++) {
        cip_fresh f;
        unlink(scratch_path(&dir, "x"));
        assert_int_equal(ways[way](&place, NULL, 0640, &f, NULL), CIP_OK);
        assert_int_equal(cip_store_write(f.fd, 0, "new", 3, NULL), CIP_OK);
        assert_int_not_equal(access(scratch_path(&dir, "x"), F_OK), 0);
        assert_int_equal(cip_fresh_place(&place, &f, false, NULL), CIP_OK);
        cip_fresh_end(&place, &f);
        assert_int_equal(names(), 1);
        holds("new");
    }
}

static void one_replaces_only_when_told(void **state)
{
    (void)state;
    for (size_t way = 0; way < 2; way++) {
        cip_fresh f;
        scratch_write(&dir, "x", "old", 3);
        assert_int_equal(ways[way](&place, ".x.cip-new", 0640, &f, NULL), CIP_OK);
        assert_int_equal(cip_store_write(f.fd, 0, "newer", 5, NULL), CIP_OK);
        assert_int_equal(cip_fresh_place(&place, &f, false, NULL), CIP_ERR_EXISTS);
        holds("old");
        assert_int_equal(cip_fresh_place(&place, &f, true, NULL), CIP_OK);
        cip_fresh_end(&place, &f);
        assert_int_equal(names(), 1);
        holds("newer");
    }
}

static void one_that_is_given_up_leaves_nothing(void **state)
{
    (void)state;
    for (size_t way = 0; way < 2; way++) {
        cip_fresh f;
        assert_int_equal(ways[way](&place, NULL, 0640, &f, NULL), CIP_OK);
        assert_int_equal(names(), way);
        cip_fresh_end(&place, &f);
        assert_int_equal(names(), 0);
        cip_fresh_end(&place, &f);
    }
}

/* A name that needs to be there is locked as long, and removed by a handler of signals. */
static void a_process_that_ends_leaves_nothing(void **state)
{
    (void)state;
    for (size_t way = 0; way < 2; way++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            cip_fresh f, g;
            bool ok = ways[way](&place, NULL, 0640, &f, NULL) == CIP_OK &&
                      ways[way](&place, ".x.cip-new", 0640, &g, NULL) == CIP_OK &&
                      names() == 2 * way;
            cip_remove_unfinished();
            _exit(ok ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(names(), 0);
    }
}

static void a_handler_removes_nothing_that_has_its_name(void **state)
{
    (void)state;
    for (size_t way = 0; way < 2; way++) {
        cip_fresh f;
        assert_int_equal(ways[way](&place, NULL, 0640, &f, NULL), CIP_OK);
        assert_int_equal(cip_fresh_place(&place, &f, true, NULL), CIP_OK);
        cip_remove_unfinished();
        assert_int_equal(names(), 1);
        cip_fresh_end(&place, &f);
    }
}

static void a_name_is_locked_while_it_is_written_to(void **state)
{
    (void)state;
    cip_fresh f;
    int fd;
    assert_int_equal(cip_fresh_open_named(&place, ".x.cip-new", 0640, &f, NULL), CIP_OK);
    assert_int_equal(cip_store_open(&place, ".x.cip-new", O_RDWR, 0, &fd, NULL), CIP_OK);
    assert_true(cip_store_is_locked(fd, CIP_LOCK_WRITERS));
    cip_fresh g;
    assert_int_equal(cip_fresh_open_named(&place, ".x.cip-new", 0640, &g, NULL), CIP_ERR_EXISTS);
    cip_fresh_end(&place, &g);
    assert_int_equal(cip_fresh_place(&place, &f, true, NULL), CIP_OK);
    assert_false(cip_store_is_locked(fd, CIP_LOCK_WRITERS));
    cip_fresh_end(&place, &f);
    close(fd);
}

static void several_at_once_have_names_of_their_own(void **state)
{
    cip_fresh f[2];
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(cip_fresh_open_named(&place, NULL, 0640, &f[i], NULL), CIP_OK);
    assert_int_equal(names(), 2);
    for (int i = 0; i < 2; i++)
        cip_fresh_end(&place, &f[i]);
    assert_int_equal(names(), 0);
}

static void open_folder(const struct stat *like, cip_fresh *f)
{
    assert_int_equal(cip_fresh_open_folder(&place, like, f, NULL), CIP_OK);
    assert_true(f->named);
    close(openat(f->fd, "in", O_CREAT | O_WRONLY, 0600));
}

static void a_folder_is_placed_as_a_file_is(void **state)
{
    struct stat old, now;
    cip_fresh f;
    (void)state;
    open_folder(NULL, &f);
    assert_int_equal(names(), 1);
    cip_fresh_end(&place, &f); /* with all in it */
    assert_int_equal(names(), 0);
    open_folder(NULL, &f);
    assert_int_equal(cip_fresh_place(&place, &f, false, NULL), CIP_OK);
    cip_fresh_end(&place, &f);
    assert_int_equal(names(), 1);
    open_folder(NULL, &f);
    assert_int_equal(cip_fresh_place(&place, &f, false, NULL), CIP_ERR_EXISTS);
    cip_fresh_end(&place, &f);
    assert_int_equal(names(), 1);
    assert_int_equal(chmod(scratch_path(&dir, "x"), 0710), 0);
    assert_int_equal(stat(scratch_path(&dir, "x"), &old), 0);
    open_folder(&old, &f);
    assert_int_equal(cip_fresh_place(&place, &f, true, NULL), CIP_OK);
    assert_int_equal(stat(scratch_path(&dir, "x"), &now), 0);
    assert_true(now.st_ino != old.st_ino && now.st_mode == old.st_mode);
    assert_int_equal(stat(scratch_path(&dir, f.name), &now), 0);
    assert_int_equal(now.st_ino, old.st_ino);
    cip_fresh_end(&place, &f);
    assert_int_equal(names(), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_takes_its_name_when_it_is_complete, begin, end),
        cmocka_unit_test_setup_teardown(one_replaces_only_when_told, begin, end),
        cmocka_unit_test_setup_teardown(one_that_is_given_up_leaves_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_process_that_ends_leaves_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_handler_removes_nothing_that_has_its_name, begin, end),
        cmocka_unit_test_setup_teardown(several_at_once_have_names_of_their_own, begin, end),
        cmocka_unit_test_setup_teardown(a_folder_is_placed_as_a_file_is, begin, end),
        cmocka_unit_test_setup_teardown(a_name_is_locked_while_it_is_written_to, begin, end),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
