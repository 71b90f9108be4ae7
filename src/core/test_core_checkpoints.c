/* SPDX-License-Identifier: BSD-3-Clause
 * The file of checkpoints beside an open one: made, used, and left alone where it is not to be
 * trusted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "cippus/cippus.h"
#include "support/needs.h"
#include "support/temp_folder.h"

enum { LEN = 600000, LATE = 500000 };

static scratch dir;
static char path[512], beside[512];
static uint32_t data[LEN];

static int setup(void **state)
{
    (void)state;
    uint32_t x = 1;
    for (size_t i = 0; i < LEN; i++) {
        x = x * 1664525u + 1013904223u;
        data[i] = x >> 20;
    }
    assert_true(scratch_open(&dir));
    snprintf(path, sizeof path, "%s/f.asdf", dir.dir);
    snprintf(beside, sizeof beside, "%s/.f.asdf.cip-marks", dir.dir);
    cip_change *w = NULL;
    const int64_t shape[] = { LEN };
    assert_int_equal(cip_create(path, CIP_CHANGE_OPTIONS(.codec = "zlib:1"), &w, NULL), CIP_OK);
    assert_int_equal(cip_change_put(w, "data", cip_dtype_of(CIP_U32), 1, shape, data, NULL, NULL),
                     CIP_OK);
    assert_int_equal(cip_change_commit(&w, NULL), CIP_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&dir);
    return 0;
}

/* Reads ten elements with a cache so small that nothing is kept; the number of warnings, and the
 * last one's text. */
static size_t read_some(bool sidecar, int64_t at, char why[256])
{
    cip_file *f;
    uint32_t out[10];
    char text[64];
    const cip_limits limits = { .size = sizeof limits, .max_cache = 4096 };
    assert_int_equal(
        cip_open(path, CIP_OPEN_OPTIONS(.limits = &limits, .sidecar = sidecar), &f, NULL), CIP_OK);
    snprintf(text, sizeof text, "[%d:%d]", (int)at, (int)at + 10);
    assert_int_equal(
        cip_read(cip_file_array(f, 0), text, cip_dtype_as_stored(), out, sizeof out, NULL), CIP_OK);
    assert_memory_equal(out, data + at, sizeof out);
    assert_int_equal(cip_file_checkpoints_nbytes(f) != 0, at > LEN / 8 || sidecar);
    size_t n = 0;
    for (const cip_finding *w; (w = cip_file_finding(f, n)) != NULL; n++)
        snprintf(why, 256, "%s", w->text);
    cip_file_close(f);
    return n;
}

static bool is_there(void)
{
    struct stat st;
    return lstat(beside, &st) == 0;
}

static void it_is_written_when_asked_for_and_used_again(void **state)
{
    (void)state;
    char why[256];
    struct stat first, second;
    assert_int_equal(read_some(false, LATE, why), 0);
    assert_false(is_there());
    assert_int_equal(read_some(true, LATE, why), 0);
    assert_int_equal(stat(beside, &first), 0);
    assert_int_equal(first.st_mode & 022, 0);
    assert_int_equal(read_some(true, LATE - 5000, why), 0);
    assert_int_equal(stat(beside, &second), 0);
    assert_int_equal(first.st_ino, second.st_ino); /* no news: not written again */
}

static void a_link_is_not_followed(void **state)
{
    (void)state;
    char why[256], other[600];
    struct stat st;
    read_some(true, LATE, why);
    snprintf(other, sizeof other, "%s/other", dir.dir);
    assert_int_equal(rename(beside, other), 0);
    assert_int_equal(symlink(other, beside), 0);
    assert_int_equal(read_some(true, LATE, why), 1);
    assert_non_null(strstr(why, "it is a link"));
    assert_int_equal(lstat(beside, &st), 0);
    assert_true(S_ISREG(st.st_mode)); /* replaced by one of ours; what it led to is as it was */
    assert_int_equal(lstat(other, &st), 0);
}

static void one_that_others_may_write_is_ignored(void **state)
{
    (void)state;
    char why[256];
    read_some(true, LATE, why);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(chmod(beside, 0666), 0);
    assert_int_equal(read_some(true, LATE, why), 1);
    assert_non_null(strstr(why, "more users may write to it"));
}

static size_t count_files(void)
{
    size_t n = 0;
    const struct dirent *e;
    DIR *d = opendir(dir.dir);
    assert_non_null(d);
    while ((e = readdir(d)) != NULL)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

/* And what cannot take its name does not stay under another. */
static void a_folder_or_a_pipe_of_its_name_is_ignored(void **state)
{
    (void)state;
    char why[256];
    assert_int_equal(mkdir(beside, 0700), 0);
    assert_int_equal(read_some(true, LATE, why), 1);
    assert_non_null(strstr(why, "not a regular file"));
    assert_int_equal(count_files(), 2);
    assert_int_equal(rmdir(beside), 0);
    assert_int_equal(mkfifo(beside, 0600), 0);
    assert_int_equal(read_some(true, LATE, why), 1);
    assert_non_null(strstr(why, "not a regular file"));
}

static void a_damaged_one_is_ignored_and_made_anew(void **state)
{
    (void)state;
    char why[256];
    read_some(true, LATE, why);
    assert_int_equal(truncate(beside, 100), 0);
    assert_int_equal(read_some(true, LATE, why), 1);
    assert_non_null(strstr(why, "ignored"));
    assert_int_equal(read_some(true, LATE, why), 0);
}

static void a_folder_that_cannot_be_written_is_left_alone(void **state)
{
    (void)state;
    char why[256];
    SKIP_UNLESS(geteuid() != 0, "root may write everywhere");
    assert_int_equal(chmod(dir.dir, 0500), 0);
    assert_int_equal(read_some(true, LATE, why), 0);
    assert_int_equal(chmod(dir.dir, 0700), 0);
    assert_false(is_there());
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_written_when_asked_for_and_used_again),
        TEST(a_link_is_not_followed),
        TEST(one_that_others_may_write_is_ignored),
        TEST(a_folder_or_a_pipe_of_its_name_is_ignored),
        TEST(a_damaged_one_is_ignored_and_made_anew),
        TEST(a_folder_that_cannot_be_written_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
