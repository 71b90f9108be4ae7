/* SPDX-License-Identifier: BSD-3-Clause
 * Handles of files that lost their names: updates and rows are refused, and go to no other file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/own_folder.h"

static const double row[] = { 1, 2 };

/* Another file of the same kind takes the name; the bytes of both come back unchanged. */
static void rotate(const char *path, const char *kept)
{
    char from[512], to[512];
    snprintf(from, sizeof from, "%s", path);
    snprintf(to, sizeof to, "%s", scratch_path(&s, kept));
    assert_int_equal(rename(from, to), 0);
    const char *theirs = edit_file(&s, "theirs.asdf", true);
    assert_int_equal(rename(theirs, from), 0);
}

static void an_update_of_a_file_opened_long_ago(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", edit_file(&s, "a.asdf", true));
    cip_file *f;
    cip_change *e;
    bool changed;
    OK(cip_open(path, NULL, &f, err));
    rotate(path, "a.old");
    FAILS(CIP_ERR_STALE, "another file took its name", cip_change_begin(f, NULL, &e, err));
    assert_null(e);
    OK(cip_file_refresh(f, &changed, err));
    assert_true(changed);
    OK(cip_change_begin(f, NULL, &e, err));
    OK(cip_change_set_string(e, "meta/name", "second", err));
    unlink(path);
    FAILS(CIP_ERR_STALE, "moved or removed", cip_change_commit(&e, err));
    FAILS(CIP_ERR_STALE, "moved or removed", cip_change_begin(f, NULL, &e, err));
    cip_file_close(f);
    edit_verify(scratch_path(&s, "a.old"));
}

static void rows_behind_a_rotated_log(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", edit_file(&s, "b.asdf", true));
    cip_file *f;
    OK(cip_open(path, NULL, &f, err));
    OK(cip_append(f, "rows", cip_dtype_as_stored(), row, sizeof row, err));
    OK(cip_sync(f, err));
    rotate(path, "b.old");
    FAILS(CIP_ERR_STALE, "nothing was written",
          cip_append(f, "rows", cip_dtype_as_stored(), row, sizeof row, err));
    FAILS(CIP_ERR_STALE, "another file", cip_sync(f, err));
    OK(cip_file_refresh(f, NULL, err));
    OK(cip_append(f, "rows", cip_dtype_as_stored(), row, sizeof row, err));
    OK(cip_sync(f, err));
    cip_file_close(f);
    edit_expect(path, "rows", "1.0 2.0\n");
    edit_expect(scratch_path(&s, "b.old"), "rows", "1.0 2.0\n");
    OK(cip_open(path, NULL, &f, err)); /* rotated before the first row */
    rotate(path, "b.older");
    FAILS(CIP_ERR_STALE, "nothing was written",
          cip_append(f, "rows", cip_dtype_as_stored(), row, sizeof row, err));
    cip_file_close(f);
}

/* Rows by updates may make another file of it: that one is ours. */
static void rows_by_updates(void **state)
{
    (void)state;
    char path[512];
    static const int64_t q[3000] = { 7 };
    snprintf(path, sizeof path, "%s", edit_file(&s, "c.asdf", false));
    cip_file *f;
    struct stat was, now;
    OK(cip_open(path, NULL, &f, err));
    assert_int_equal(stat(path, &was), 0);
    OK(cip_append(f, "few", cip_dtype_as_stored(), q, sizeof q, err));
    assert_int_equal(stat(path, &now), 0);
    assert_int_not_equal(was.st_ino, now.st_ino);
    OK(cip_append(f, "few", cip_dtype_as_stored(), q, 8, err));
    OK(cip_append(f, "few", cip_dtype_as_stored(), q, sizeof q, err));
    unlink(path);
    edit_file(&s, "c.asdf", false);
    FAILS(CIP_ERR_STALE, "another file", cip_append(f, "few", cip_dtype_as_stored(), q, 8, err));
    cip_file_close(f);
    edit_expect(path, "few", "10 20 30\n");
}

/* Moves the files beside d.asdf, to names as they were or others. */
static int move_parts(bool keep_names)
{
    int moved = 0;
    for (int i = 0; i < 8; i++) {
        char from[512], to[512], name[32];
        snprintf(name, sizeof name, "d%04d.asdf", i);
        snprintf(from, sizeof from, "%s", scratch_path(&s, name));
        snprintf(name, sizeof name, keep_names ? "far/d%04d.asdf" : "moved%d", i);
        snprintf(to, sizeof to, "%s", scratch_path(&s, name));
        moved += rename(from, to) == 0;
    }
    return moved;
}

static void streams_in_files_beside(void **state)
{
    (void)state;
    cip_file *f;
    mkdir(scratch_path(&s, "far"), 0755);
    for (int i = 0; i < 2; i++) {
        char apart[512];
        snprintf(apart, sizeof apart, "%s", scratch_path(&s, "d.asdf"));
        unlink(apart);
        unlink(scratch_path(&s, "all.asdf"));
        const char *path = edit_file(&s, "all.asdf", true);
        OK(cip_explode(path, apart, NULL, err));
        OK(cip_open(apart, NULL, &f, err));
        OK(cip_append(f, "rows", cip_dtype_as_stored(), row, sizeof row, err));
        cip_file_close(f);
        OK(cip_open(apart, NULL, &f, err));
        assert_non_null(cip_array_shape(cip_find(f, "rows", NULL))); /* opens it */
        assert_int_not_equal(move_parts(i == 0), 0);
        FAILS(CIP_ERR_STALE, "replaced, moved or removed",
              cip_append(f, "rows", cip_dtype_as_stored(), row, sizeof row, err));
        cip_file_close(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_of_a_file_opened_long_ago),
        cmocka_unit_test(rows_behind_a_rotated_log),
        cmocka_unit_test(rows_by_updates),
        cmocka_unit_test(streams_in_files_beside),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
