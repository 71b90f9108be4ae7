/* SPDX-License-Identifier: BSD-3-Clause
 * New folders: whole under their name or not there; what may be replaced; more members than can be
 * open. Crashes are tests/fault's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <string.h>

#include "base/endian.h"
#include "support/core/writing/edit_testing.h"
#include "core/writing/output.h"
#include "support/fail_alloc.h"
#include "support/test_store.h"

static scratch dir;
static cip_env env;

static int setup(void **state)
{
    (void)state;
    if (!scratch_open(&dir))
        return -1;
    return (int)cip_env_init(&env, NULL, NULL, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    size_t left = (size_t)env.mem.used;
    scratch_close(&dir);
    cip_env_clear(&env);
    return left != 0;
}

static bool yes(const char *path)
{
    (void)path;
    return true;
}

static cip_status open_at(cip_env *in, const char *path, bool overwrite,
                          bool (*known)(const char *path), cip_output **o, cip_err *err)
{
    const cip_output_how how = {
        .level = CIP_LEVEL_PROCESS, .overwrite = overwrite, .folder = true, .known = known
    };
    return cip_output_begin(in, path, &how, o, err);
}

static cip_output *begin(const char *name, bool overwrite)
{
    cip_output *o;
    OK(open_at(&env, scratch_path(&dir, name), overwrite, yes, &o, err));
    return o;
}

static cip_out *add(cip_output *o, const char *name, const char *bytes)
{
    cip_out *all = cip_output_out(o), *out;
    OK(all->member(all->member_user, name, &out, err));
    OK(cip_out_write(out, bytes, strlen(bytes), err));
    return out;
}

static void holds(const char *name, const char *bytes)
{
    size_t n;
    char *found = edit_bytes(scratch_path(&dir, name), &n);
    assert_int_equal(n, strlen(bytes));
    assert_memory_equal(found, bytes, n);
    free(found);
}

/* Names in the folder of the test. */
static size_t count(void)
{
    size_t n = 0;
    DIR *d = opendir(dir.dir);
    const struct dirent *e;
    while ((e = readdir(d)) != NULL)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

static void a_folder_is_whole_or_not_there(void **state)
{
    (void)state;
    cip_output *o = begin("s/", false);
    add(o, "meta/sizes", "{}");
    assert_int_equal(count(), 1); /* under a name of ours */
    assert_int_equal(access(scratch_path(&dir, "s"), F_OK), -1);
    cip_output_end(o);
    assert_int_equal(count(), 0);
    o = begin("s", false);
    assert_string_equal(cip_output_out(o)->name, "s");
    add(o, "meta/sizes", "{}");
    add(o, "data/col/0", "zero");
    OK(cip_output_commit(o, NULL, err));
    cip_output_end(o);
    assert_int_equal(count(), 1);
    holds("s/meta/sizes", "{}");
    holds("s/data/col/0", "zero");
}

static void folders_are_made_side_by_side(void **state)
{
    (void)state;
    cip_output *one = begin("one", false), *two = begin("two", false);
    add(one, "a", "1");
    add(two, "a", "2");
    OK(cip_output_commit(two, NULL, err));
    OK(cip_output_commit(one, NULL, err));
    cip_output_end(one);
    cip_output_end(two);
    holds("one/a", "1");
    holds("two/a", "2");
}

static void failing_allocations_leave_nothing(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc f = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &f };
        cip_env own;
        cip_output *o = NULL;
        cip_out *out;
        assert_int_equal(cip_env_init(&own, NULL, &from, NULL, NULL), CIP_OK);
        cip_status st = open_at(&own, scratch_path(&dir, "s"), false, yes, &o, NULL);
        if (st == CIP_OK)
            st = cip_output_out(o)->member(cip_output_out(o)->member_user, "a/b", &out, NULL);
        if (st == CIP_OK)
            st = cip_output_commit(o, NULL, NULL);
        cip_output_end(o);
        cip_env_clear(&own);
        assert_int_equal(f.held, 0);
        assert_int_equal(count(), st == CIP_OK);
        if (st == CIP_OK)
            break;
        assert_int_equal(st, CIP_ERR_NOMEM);
    }
}

static void members_need_not_be_open(void **state)
{
    enum { MANY = 100 };
    cip_out *out[MANY];
    char name[40], bytes[40];
    (void)state;
    cip_output *o = begin("s", false);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "data/%d", i);
        out[i] = add(o, name, "begins, ");
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(bytes, sizeof bytes, "goes on %d", i);
        OK(cip_out_write(out[i], bytes, strlen(bytes), err));
        OK(cip_out_rewrite(out[i], 0, "BEGINS", 6, err));
    }
    OK(cip_out_rewind(out[7], 6, err));
    OK(cip_output_commit(o, NULL, err));
    cip_output_end(o);
    holds("s/data/7", "BEGINS");
    holds("s/data/8", "BEGINS, goes on 8");
    holds("s/data/99", "BEGINS, goes on 99");
}

static void names_and_bytes_that_cannot_be_are_refused(void **state)
{
    static const char *const bad[] = { "", "../x", "/x", "a/../x", ".cip-journal" };
    cip_out *out;
    (void)state;
    cip_output *o = begin("s", false);
    cip_out *all = cip_output_out(o);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        FAILS(CIP_ERR_ARG, "not a plain member name",
              all->member(all->member_user, bad[i], &out, err));
    add(o, "a", "file");
    FAILS(CIP_ERR_EXISTS, "exists", all->member(all->member_user, "a", &out, err));
    FAILS(CIP_ERR_UNSUPPORTED, "no bytes of its own", cip_out_write(all, "x", 1, err));
    cip_output_end(o);
    assert_int_equal(count(), 0);
}

static void only_a_folder_that_is_known_is_replaced(void **state)
{
    cip_output *o;
    cip_io *reader;
    char path[600];
    (void)state;
    snprintf(path, sizeof path, "%s/s", dir.dir);
    assert_int_equal(mkdir(path, 0750), 0);
    scratch_write(&dir, "s/precious", "data", 4);
    FAILS(CIP_ERR_EXISTS, "exists", open_at(&env, path, false, yes, &o, err));
    FAILS(CIP_ERR_ARG, "no known format", open_at(&env, path, true, NULL, &o, err));
    FAILS(CIP_ERR_ARG, "no known format", open_at(&env, path, true, NULL, &o, err));
    scratch_write(&dir, "s/.b2lock", "", 0); /* a lock file that nobody holds */
    FAILS(CIP_ERR_ARG, "no known format", open_at(&env, path, true, NULL, &o, err));
    scratch_write(&dir, "file", "data", 4);
    FAILS(CIP_ERR_ARG, "not a folder",
          open_at(&env, scratch_path(&dir, "file"), true, yes, &o, err));
    OK(cip_io_open_folder(&env, path, &reader, err));
    OK(cip_io_lock(reader, err));
    o = begin("s", true);
    add(o, "new", "bytes");
    FAILS(CIP_ERR_BUSY, "is reading the file", cip_output_commit(o, NULL, err));
    cip_output_end(o);
    cip_io_close(reader);
    holds("s/precious", "data");
    o = begin("s", true);
    add(o, "new", "bytes");
    FAILS(CIP_ERR_BUSY, "another writer",
          cip_commit_begin(&env, path, NULL, &(cip_commit *){ 0 }, err));
    OK(cip_output_commit(o, NULL, err));
    cip_output_end(o);
    holds("s/new", "bytes");
    assert_int_equal(access(scratch_path(&dir, "s/precious"), F_OK), -1);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
    assert_int_equal(count(), 2);
}

static void one_that_came_meanwhile_stays(void **state)
{
    (void)state;
    cip_output *o = begin("s", true);
    add(o, "new", "bytes");
    assert_int_equal(mkdir(scratch_path(&dir, "s"), 0755), 0);
    scratch_write(&dir, "s/theirs", "data", 4);
    FAILS(CIP_ERR_EXISTS, "the output exists", cip_output_commit(o, NULL, err));
    cip_output_end(o);
    holds("s/theirs", "data");
    assert_int_equal(count(), 1);
}

static void one_that_took_the_name_stays(void **state)
{
    (void)state;
    assert_int_equal(mkdir(scratch_path(&dir, "s"), 0755), 0);
    cip_output *o = begin("s", true);
    add(o, "new", "bytes");
    char was[600];
    snprintf(was, sizeof was, "%s/s", dir.dir);
    assert_int_equal(rename(was, scratch_path(&dir, "moved")), 0);
    assert_int_equal(mkdir(was, 0755), 0);
    scratch_write(&dir, "s/theirs", "data", 4);
    FAILS(CIP_ERR_STALE, "another file took its name", cip_output_commit(o, NULL, err));
    cip_output_end(o);
    holds("s/theirs", "data");
    assert_int_equal(count(), 2);
}

static int note(void *user, const cip_finding *f)
{
    strncat(user, f->text, 200);
    return 0;
}

static void a_folder_that_is_left_goes_with_recover(void **state)
{
    char text[1000] = "";
    (void)state;
    cip_output *o = begin("s", false);
    add(o, "data/new", "bytes");
    OK(cip_recover_folder(dir.dir, CIP_RECOVER_LOOK, note, text, err));
    assert_string_equal(text, "a new folder that is being written");
    OK(cip_recover_folder(dir.dir, CIP_RECOVER_DISCARD, note, text, err));
    assert_non_null(strstr(text, "being written; left alone"));
    cip_output_end(o);
    assert_int_equal(mkdir(scratch_path(&dir, ".cip-new-0123"), 0755), 0);
    assert_int_equal(mkdir(scratch_path(&dir, ".cip-new-0123/data"), 0755), 0);
    scratch_write(&dir, ".cip-new-0123/data/0", "bytes", 5);
    assert_int_equal(mkdir(scratch_path(&dir, ".gone.cip-new"), 0755), 0);
    assert_int_equal(mkdir(scratch_path(&dir, ".x.cip-new"), 0755), 0);
    scratch_write(&dir, "x", "bytes", 5);
    text[0] = '\0';
    OK(cip_recover_folder(dir.dir, CIP_RECOVER_LOOK, note, text, err));
    assert_non_null(strstr(text, "a new folder that never got its name"));
    assert_int_equal(count(), 4);
    OK(cip_recover_folder(dir.dir, CIP_RECOVER_DISCARD, note, text, err));
    assert_int_equal(count(), 2); /* x, and what may be needed for it */
    cip_commit *c;
    OK(cip_commit_begin(&env, scratch_path(&dir, "x"), NULL, &c, err));
    cip_commit_end(c);
    assert_int_equal(count(), 1);
}

/* --- into memory and stores ------------------------------------------------------------------- */

typedef struct row {
    int32_t n;
    float v[2];
} row;

enum { ROWS = 500 };

/* An array of records, and an attribute; the writer is gone then. */
static void put_rows(cip_change *w)
{
    static row rows[ROWS];
    const int64_t shape[] = { ROWS };
    static const char text[] = "[('n', '=i4'), ('v', '=f4', (2,))]";
    const cip_dtype *d = NULL;
    cip_arena a = { .mem = &env.mem };
    for (int i = 0; i < ROWS; i++)
        rows[i] = (row){ i, { (float)i / 2, -1 } };
    OK(cip_dtype_of_text(&a, text, strlen(text), CIP_HOST_BIG != 0, &d, err));
    OK(cip_change_put(w, "rows", d, 1, shape, rows, NULL, err));
    OK(cip_change_set_string(w, "attributes/unit", "m", err));
    OK(cip_change_commit(&w, err));
    cip_arena_clear(&a);
}

static void formats_of_folders_are_written_into_memory(void **state)
{
    (void)state;
    static const char *const kinds[] = { "blz", "bcolz", "blz-dir" };
    for (size_t i = 0; i < 3; i++) {
        cip_memory *m;
        cip_change *w;
        cip_file *f;
        int32_t n[ROWS];
        const char *unit = "";
        OK(cip_create_memory(
            kinds[i], CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("chunklen=70")), &m, &w, err));
        put_rows(w);
        OK(cip_memory_open(m, NULL, &f, err));
        assert_int_equal(cip_file_narray(f), i == 1 ? 3 : 1); /* a table has columns */
        OK(cip_read_into(cip_file_array(f, 0),
                         CIP_READ_ARGS(.field = "n", .dtype = cip_dtype_of(CIP_I32), .dst = n,
                                       .dst_nbytes = sizeof n),
                         err));
        for (int32_t k = 0; k < ROWS; k++)
            assert_int_equal(n[k], k);
        OK(cip_tree_get_string(cip_file_tree(f), "attributes/unit", &unit, err));
        assert_string_equal(unit, "m");
        cip_file_close(f);
        cip_memory_free(m);
    }
}

static void formats_of_folders_are_written_into_stores(void **state)
{
    (void)state;
    static const cip_io_write_methods writes = TEST_STORE_WRITES;
    static const char *const names[] = { "data/n/__1__.bin", "data/v/__1__.bin", "meta/storage",
                                         "meta/sizes", "meta/attributes" };
    static test_store s;
    cip_change *w;
    OK(cip_create_io(&writes, test_store_file(&s, "out.asdf"), CIP_CHANGE_OPTIONS(.format = "blz"),
                     &w, err));
    put_rows(w);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const test_file *f = test_store_find(&s, names[i]);
        assert_non_null(f);
        assert_true(f->n != 0 && f->complete == 1 && f->closed == 1);
    }
    assert_int_equal(test_store_find(&s, "out.asdf")->n, 0);
    test_store_clear(&s);
}

static void a_folder_is_no_run_of_bytes(void **state)
{
    (void)state;
    cip_err why = CIP_ERR_INIT;
    cip_convert_options o = { .size = sizeof o, .format = "blz" };
    assert_int_equal(cip_convert(CIP_SOURCE_DIR "/samples/complex.ra", "-", &o, &why),
                     CIP_ERR_UNSUPPORTED);
    assert_string_equal(why.text, "a folder of files cannot be written to a pipe");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_folder_is_whole_or_not_there),
        TEST(failing_allocations_leave_nothing),
        TEST(folders_are_made_side_by_side),
        TEST(members_need_not_be_open),
        TEST(names_and_bytes_that_cannot_be_are_refused),
        TEST(only_a_folder_that_is_known_is_replaced),
        TEST(one_that_came_meanwhile_stays),
        TEST(one_that_took_the_name_stays),
        TEST(a_folder_that_is_left_goes_with_recover),
        TEST(formats_of_folders_are_written_into_memory),
        TEST(formats_of_folders_are_written_into_stores),
        TEST(a_folder_is_no_run_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
