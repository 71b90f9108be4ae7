/* SPDX-License-Identifier: BSD-3-Clause
 * Recovery by hand: what is told, completed, undone, refused. Crashes are tests/fault's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/xattr.h>

#include "core/commit/commit_impl.h"
#include "support/needs.h"
#include "support/own_folder_env.h"

#define BYTES(text) ((cip_bytes){ (const uint8_t *)(text), sizeof(text) - 1 })

static int clean(void **state)
{
    (void)state;
    scratch_close(&dir);
    return mkdir(dir.dir, 0755);
}

/* The file, and beside it under `name` a journal from "0123456789" to "01AB456789" and new_len
 * bytes in all. */
static void put(const char *bytes, const char *name, uint64_t new_len)
{
    struct stat st;
    cip_buf b = { .mem = &env.mem };
    cip_patch p = { .arena = { .mem = &env.mem }, .old_len = 10, .new_len = new_len };
    cip_patch_op length = { .kind = CIP_PATCH_LENGTH, .offset = new_len };
    scratch_write(&dir, "x", bytes, strlen(bytes));
    assert_int_equal(stat(scratch_path(&dir, "x"), &st), 0);
    assert_int_equal(cip_patch_write(&p, "", 2, BYTES("23"), BYTES("AB"), NULL), CIP_OK);
    assert_int_equal(cip_patch_add(&p, &length, NULL), CIP_OK);
    assert_int_equal(cip_journal_encode(&p, st.st_dev, st.st_ino, &b, NULL), CIP_OK);
    scratch_write(&dir, name, b.ptr, b.len);
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static bool is_there(const char *name)
{
    struct stat st;
    return lstat(scratch_path(&dir, name), &st) == 0;
}

static void holds(const char *bytes)
{
    char got[64] = "";
    FILE *f = fopen(scratch_path(&dir, "x"), "rb");
    size_t n = fread(got, 1, sizeof got - 1, f);
    fclose(f);
    assert_int_equal(n, strlen(bytes));
    assert_string_equal(got, bytes);
}

static cip_status recover(int what, cip_recover_info *info)
{
    *info = (cip_recover_info){ .size = sizeof *info };
    return cip_recover(scratch_path(&dir, "x"), what, info, NULL);
}

static void looking_changes_nothing(void **state)
{
    (void)state;
    cip_recover_info info;
    put("01A3456789", ".x.cip-journal", 12);
    assert_int_equal(recover(CIP_RECOVER_LOOK, &info), CIP_OK);
    assert_int_equal(info.size, sizeof info);
    assert_int_equal(info.state, 1);
    assert_int_equal(info.nop, 2);
    assert_int_equal(info.nbytes, 2);
    assert_int_equal(info.old_nbytes, 10);
    assert_int_equal(info.new_nbytes, 12);
    assert_string_equal(info.text, "an unfinished update: 2 operations write 2 bytes; readers see "
                                   "the file as if it were complete");
    holds("01A3456789");
    assert_true(is_there(".x.cip-journal"));
}

static void a_sealed_update_is_completed(void **state)
{
    (void)state;
    cip_recover_info info;
    put("01A3456789+", ".x.cip-journal", 9);
    assert_int_equal(recover(CIP_RECOVER_APPLY, &info), CIP_ERR_CORRUPT); /* none of its lengths */
    put("01A345678", ".x.cip-journal", 9);
    assert_int_equal(recover(CIP_RECOVER_APPLY, &info), CIP_OK);
    assert_int_equal(info.state, 1);
    holds("01AB45678");
    assert_false(is_there(".x.cip-journal"));
    assert_int_equal(recover(CIP_RECOVER_APPLY, &info), CIP_OK);
    assert_int_equal(info.state, 0);
}

static void a_sealed_update_is_undone(void **state)
{
    (void)state;
    cip_recover_info info;
    put("01AB456789++", ".x.cip-journal", 12);
    assert_int_equal(recover(CIP_RECOVER_DISCARD, &info), CIP_OK);
    assert_int_equal(info.state, 1);
    holds("0123456789");
    assert_false(is_there(".x.cip-journal"));
    assert_false(is_there(".x.cip-tmp"));
    put("01AB456789", ".x.cip-journal", 9); /* nothing cut off yet */
    assert_int_equal(recover(CIP_RECOVER_DISCARD, &info), CIP_OK);
    holds("0123456789");
}

static void what_was_cut_off_does_not_come_back(void **state)
{
    (void)state;
    cip_recover_info info;
    put("01AB45678", ".x.cip-journal", 9);
    assert_int_equal(recover(CIP_RECOVER_DISCARD, &info), CIP_ERR_CORRUPT);
    holds("01AB45678");
    assert_true(is_there(".x.cip-journal"));
    assert_int_equal(recover(CIP_RECOVER_APPLY, &info), CIP_OK);
    holds("01AB45678");
}

static void an_unsealed_update_is_cut_off_either_way(void **state)
{
    (void)state;
    cip_recover_info info;
    for (int what = CIP_RECOVER_LOOK; what <= CIP_RECOVER_DISCARD; what++) {
        put("0123456789+", ".x.cip-tmp", 12);
        assert_int_equal(recover(what, &info), CIP_OK);
        assert_int_equal(info.state, 4);
        assert_int_equal(info.old_nbytes, 10);
        assert_int_equal(info.new_nbytes, 10);
        assert_int_equal(is_there(".x.cip-tmp"), what == CIP_RECOVER_LOOK);
        holds(what == CIP_RECOVER_LOOK ? "0123456789+" : "0123456789");
    }
    put("01AB456789++", ".x.cip-tmp", 12); /* its switch is made */
    assert_int_equal(recover(CIP_RECOVER_APPLY, &info), CIP_OK);
    assert_int_equal(info.state, 0);
    holds("01AB456789++");
    assert_false(is_there(".x.cip-tmp"));
}

static void an_update_that_does_not_fit_is_only_thrown_away(void **state)
{
    (void)state;
    cip_recover_info info;
    put("0xxx456789", ".x.cip-journal", 10);
    assert_int_equal(recover(CIP_RECOVER_LOOK, &info), CIP_OK);
    assert_int_equal(info.state, 2);
    assert_int_equal(recover(CIP_RECOVER_APPLY, &info), CIP_ERR_CORRUPT);
    assert_true(is_there(".x.cip-journal"));
    assert_int_equal(recover(CIP_RECOVER_DISCARD, &info), CIP_OK);
    assert_int_equal(info.state, 2);
    assert_false(is_there(".x.cip-journal"));
    holds("0xxx456789");
}

static void a_link_in_the_journals_place_is_not_trusted(void **state)
{
    (void)state;
    cip_recover_info info;
    put("0123456789", "other", 10);
    assert_int_equal(symlink("other", scratch_path(&dir, ".x.cip-journal")), 0);
    assert_int_equal(recover(CIP_RECOVER_LOOK, &info), CIP_OK);
    assert_int_equal(info.state, 3);
    assert_int_equal(recover(CIP_RECOVER_APPLY, &info), CIP_ERR_CORRUPT);
    holds("0123456789");
    assert_int_equal(recover(CIP_RECOVER_DISCARD, &info), CIP_OK);
    assert_false(is_there(".x.cip-journal"));
    assert_true(is_there("other"));
}

static void what_is_in_the_way_of_updates_is_thrown_away(void **state)
{
    (void)state;
    cip_recover_info info;
    put("0123456789", "other", 10);
    assert_int_equal(symlink("other", scratch_path(&dir, ".x.cip-tmp")), 0);
    assert_int_equal(mkdir(scratch_path(&dir, ".x.cip-new"), 0755), 0);
    assert_int_equal(recover(CIP_RECOVER_APPLY, &info), CIP_ERR_CORRUPT);
    assert_int_equal(recover(CIP_RECOVER_DISCARD, &info), CIP_OK);
    assert_false(is_there(".x.cip-tmp"));
    assert_false(is_there(".x.cip-new"));
    assert_true(is_there("other"));
    assert_int_equal(recover(CIP_RECOVER_APPLY, &info), CIP_OK);
    holds("0123456789");
}

static void a_folder_in_the_way_goes_if_it_is_empty(void **state)
{
    (void)state;
    cip_recover_info info = { .size = sizeof info };
    cip_err err = CIP_ERR_INIT;
    put("01AB456789", ".x.cip-journal", 10); /* undone by way of the tmp's name */
    assert_int_equal(mkdir(scratch_path(&dir, ".x.cip-tmp"), 0755), 0);
    scratch_write(&dir, ".x.cip-tmp/in", "", 0);
    assert_int_equal(cip_recover(scratch_path(&dir, "x"), CIP_RECOVER_DISCARD, &info, &err),
                     CIP_ERR_BUSY);
    assert_string_equal(err.text, "'.x.cip-tmp' is a folder that is not empty");
    assert_true(is_there(".x.cip-journal"));
    assert_int_equal(unlink(scratch_path(&dir, ".x.cip-tmp/in")), 0);
    assert_int_equal(recover(CIP_RECOVER_DISCARD, &info), CIP_OK);
    assert_false(is_there(".x.cip-tmp"));
    assert_false(is_there(".x.cip-journal"));
    holds("0123456789");
}

static void a_journal_that_is_a_folder_is_thrown_away(void **state)
{
    (void)state;
    cip_recover_info info;
    put("0123456789", "other", 10);
    assert_int_equal(mkdir(scratch_path(&dir, ".x.cip-journal"), 0755), 0);
    assert_int_equal(recover(CIP_RECOVER_DISCARD, &info), CIP_OK);
    assert_int_equal(info.state, 3);
    assert_false(is_there(".x.cip-journal"));
}

static void an_unsealed_update_goes_with_what_is_in_the_way(void **state)
{
    (void)state;
    cip_recover_info info;
    put("0123456789+", ".x.cip-tmp", 12);
    assert_int_equal(symlink("x", scratch_path(&dir, ".x.cip-new")), 0);
    assert_int_equal(recover(CIP_RECOVER_DISCARD, &info), CIP_OK);
    assert_int_equal(info.state, 4);
    holds("0123456789");
    assert_false(is_there(".x.cip-tmp"));
    assert_false(is_there(".x.cip-new"));
}

static void an_update_whose_record_is_lost_is_told_until_it_is_discarded(void **state)
{
    (void)state;
    cip_recover_info info;
    cip_file *f;
    cip_err err = CIP_ERR_INIT;
    put("01A3456789", ".w.cip-journal", 10);
    SKIP_UNLESS(!(setxattr(scratch_path(&dir, "x"), "user.cippus.update",
                           "cip1 open 0123456789abcdef w", 28, 0) != 0),
                "no extended attributes here");
    assert_int_equal(recover(CIP_RECOVER_LOOK, &info), CIP_OK); /* "x" was called "w" */
    assert_int_equal(info.state, 1);
    assert_int_equal(rename(scratch_path(&dir, ".w.cip-journal"), scratch_path(&dir, "kept")), 0);
    assert_int_equal(recover(CIP_RECOVER_LOOK, &info), CIP_OK);
    assert_int_equal(info.state, 5);
    assert_non_null(strstr(info.text, "an update was interrupted: its record, '.w.cip-journal'"));
    assert_int_equal(recover(CIP_RECOVER_APPLY, &info), CIP_ERR_CORRUPT);
    assert_int_equal(cip_open(scratch_path(&dir, "x"), NULL, &f, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.part, "journal");
    assert_int_equal(recover(CIP_RECOVER_DISCARD, &info), CIP_OK);
    assert_int_equal(info.state, 5);
    assert_int_equal(recover(CIP_RECOVER_LOOK, &info), CIP_OK);
    assert_int_equal(info.state, 0);
    holds("01A3456789");
}

/* Killed after the update counted, before its record went. */
static void the_record_of_an_update_that_counts_goes(void **state)
{
    (void)state;
    cip_recover_info info;
    for (int what = CIP_RECOVER_APPLY; what <= CIP_RECOVER_DISCARD; what++) {
        put("01A3456789", ".x.cip-journal", 10);
        SKIP_UNLESS(setxattr(scratch_path(&dir, "x"), "user.cippus.update",
                             "cip1 done 0123456789abcdef x", 28, 0) == 0,
                    "no extended attributes here");
        assert_int_equal(recover(what, &info), CIP_OK);
        assert_int_equal(info.state, 0);
        assert_false(is_there(".x.cip-journal"));
        assert_int_equal(recover(CIP_RECOVER_LOOK, &info), CIP_OK);
        assert_int_equal(info.state, 0);
    }
}

static void while_a_writer_is_at_work_no_record_is_lost(void **state)
{
    (void)state;
    cip_file *f;
    const char *x = scratch_write(&dir, "x", "0123456789", 10);
    int fd = open(x, O_RDWR | O_CLOEXEC);
    SKIP_UNLESS(fsetxattr(fd, "user.cippus.update", "cip1 open 0123456789abcdef w", 28, 0) == 0,
                "no extended attributes here");
    assert_int_equal(cip_store_lock(fd, CIP_LOCK_WRITERS, false), CIP_LOCK_HELD);
    assert_int_equal(cip_open(x, NULL, &f, NULL), CIP_ERR_BUSY); /* after a while */
    close(fd);
    assert_int_equal(cip_open(x, NULL, &f, NULL), CIP_ERR_CORRUPT);
}

static void an_update_is_completed_under_another_name(void **state)
{
    (void)state;
    cip_recover_info info;
    for (int what = CIP_RECOVER_APPLY; what <= CIP_RECOVER_DISCARD; what++) {
        put("01A3456789++", ".w.cip-journal", 12);
        SKIP_UNLESS(setxattr(scratch_path(&dir, "x"), "user.cippus.update",
                             "cip1 open 0123456789abcdef w", 28, 0) == 0,
                    "no extended attributes here");
        assert_int_equal(recover(what, &info), CIP_OK);
        assert_int_equal(info.state, 1);
        holds(what == CIP_RECOVER_APPLY ? "01AB456789++" : "0123456789");
        assert_false(is_there(".w.cip-journal"));
        assert_false(is_there(".w.cip-tmp"));
        assert_int_equal(recover(CIP_RECOVER_LOOK, &info), CIP_OK);
        assert_int_equal(info.state, 0);
    }
}

static void readers_keep_an_update_from_being_undone(void **state)
{
    (void)state;
    cip_recover_info info;
    cip_io *reader;
    put("01AB456789", ".x.cip-journal", 10);
    assert_int_equal(cip_io_open_file(&env, scratch_path(&dir, "x"), &reader, NULL), CIP_OK);
    assert_int_equal(cip_io_lock(reader, NULL), CIP_OK);
    assert_int_equal(recover(CIP_RECOVER_DISCARD, &info), CIP_ERR_BUSY);
    cip_io_close(reader);
    assert_int_equal(recover(CIP_RECOVER_DISCARD, &info), CIP_OK);
    holds("0123456789");
}

static void a_wrong_call_is_refused(void **state)
{
    (void)state;
    cip_recover_info info = { .size = 0 };
    put("0123456789", "other", 10);
    const char *path = scratch_path(&dir, "x");
    assert_int_equal(cip_recover(NULL, 0, NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_recover(path, -1, NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_recover(path, 3, NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_recover(path, 0, &info, NULL), CIP_ERR_ARG);
    info.size = SIZE_MAX;
    assert_int_equal(cip_recover(path, 0, &info, NULL), CIP_ERR_ARG);
    info = (cip_recover_info){ .size = offsetof(cip_recover_info, nop), .nop = 7 };
    assert_int_equal(cip_recover(path, 0, &info, NULL), CIP_OK); /* an older caller's struct */
    assert_int_equal(info.nop, 7);
    assert_int_equal(cip_recover(path, 0, NULL, NULL), CIP_OK);
    assert_int_equal(cip_recover(scratch_path(&dir, "none"), 0, NULL, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_recover(scratch_path(&dir, "none"), 1, NULL, NULL), CIP_ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(looking_changes_nothing, clean),
        cmocka_unit_test_setup(a_sealed_update_is_completed, clean),
        cmocka_unit_test_setup(a_sealed_update_is_undone, clean),
        cmocka_unit_test_setup(what_was_cut_off_does_not_come_back, clean),
        cmocka_unit_test_setup(an_unsealed_update_is_cut_off_either_way, clean),
        cmocka_unit_test_setup(an_update_that_does_not_fit_is_only_thrown_away, clean),
        cmocka_unit_test_setup(a_link_in_the_journals_place_is_not_trusted, clean),
        cmocka_unit_test_setup(what_is_in_the_way_of_updates_is_thrown_away, clean),
        cmocka_unit_test_setup(a_folder_in_the_way_goes_if_it_is_empty, clean),
        cmocka_unit_test_setup(a_journal_that_is_a_folder_is_thrown_away, clean),
        cmocka_unit_test_setup(an_unsealed_update_goes_with_what_is_in_the_way, clean),
        cmocka_unit_test_setup(the_record_of_an_update_that_counts_goes, clean),
        cmocka_unit_test_setup(an_update_whose_record_is_lost_is_told_until_it_is_discarded, clean),
        cmocka_unit_test_setup(while_a_writer_is_at_work_no_record_is_lost, clean),
        cmocka_unit_test_setup(an_update_is_completed_under_another_name, clean),
        cmocka_unit_test_setup(readers_keep_an_update_from_being_undone, clean),
        cmocka_unit_test_setup(a_wrong_call_is_refused, clean),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
