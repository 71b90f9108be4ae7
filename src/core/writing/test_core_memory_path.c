/* SPDX-License-Identifier: BSD-3-Clause
 * Trees of files that are loaded into memory, changed there by the calls that change them on disk,
 * and saved; complete ones that take another name. Crashes while they are saved are tests/fault's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/core/writing/edit_testing.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "support/own_folder.h"

static const char *at(const char *name)
{
    return scratch_path(&s, name);
}

/* An array, of a format without options of its own. */
static void make_any(const char *name, const char *format)
{
    const int32_t v[] = { 1, 2, 3 };
    const int64_t shape[] = { 3 };
    cip_change *w;
    OK(cip_create(at(name), CIP_CHANGE_OPTIONS(.format = format), &w, err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 1, shape, v, NULL, err));
    OK(cip_change_commit(&w, err));
}

/* 60 rows of two columns, 10 a chunk: records in superchunks, or a table of the old programs. */
static void make(const char *name, const char *format)
{
    uint32_t v[60];
    const int64_t shape[] = { 60 };
    cip_change *w;
    for (uint32_t i = 0; i < 60; i++)
        v[i] = i * i;
    OK(cip_create(at(name),
                  CIP_CHANGE_OPTIONS(.format = format, .format_options = CIP_TEXTS("chunklen=10")),
                  &w, err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_U32), 1, shape, v, NULL, err));
    OK(cip_change_put(w, "b", cip_dtype_of(CIP_U32), 1, shape, v, NULL, err));
    OK(cip_change_commit(&w, err));
}

static void change(cip_change *e)
{
    static const uint32_t some[25] = { 7, 8, 9 }, rows[2 * 15] = { 1, 2, 3, 4 };
    const int64_t shape[] = { 90 };
    OK(cip_change_write(e, "b", "[20:45]", cip_dtype_as_stored(), some, sizeof some, err));
    OK(cip_change_append(e, "", cip_dtype_as_stored(), rows, sizeof rows, err));
    OK(cip_change_resize(e, "", 1, shape, err));
    OK(cip_change_set_string(e, "attributes/unit", "K", err));
    OK(cip_change_commit(&e, err));
}

static void change_path(const char *name)
{
    cip_change *e;
    OK(cip_change_open(at(name), NULL, &e, err));
    change(e);
}

/* Both paths have the same files with the same bytes; how many. */
static size_t expect_same(const char *one, const char *other)
{
    cip_memory *m[2];
    const void *bytes[2];
    size_t n[2], i = 0;
    const char *name;
    OK(cip_memory_load(at(one), NULL, &m[0], err));
    OK(cip_memory_load(at(other), NULL, &m[1], err));
    for (; (name = cip_memory_member(m[0], i, &bytes[0], &n[0])) != NULL; i++) {
        const char *too = cip_memory_member(m[1], i, &bytes[1], &n[1]);
        assert_non_null(too);
        assert_string_equal(name, too);
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(bytes[0], bytes[1], n[0]);
    }
    assert_null(cip_memory_member(m[1], i, NULL, NULL));
    cip_memory_free(m[0]);
    cip_memory_free(m[1]);
    return i;
}

static void a_folder_changes_in_memory_as_on_disk(void **state)
{
    static const char *const formats[] = { "blz", "bcolz", "blz-dir" };
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        cip_memory *m;
        cip_change *e;
        size_t n;
        make("disk", formats[k]);
        OK(cip_memory_load(at("disk/"), NULL, &m, err));
        cip_memory_bytes(m, &n);
        assert_int_equal(n, 0);
        OK(cip_memory_save(m, at("as-it-was"), NULL, err));
        assert_int_equal(expect_same("disk", "as-it-was"), k == 0 ? 4 : 2 + 2 * (3 + 6));
        OK(cip_change_open_memory(m, NULL, &e, err));
        change(e);
        change_path("disk");
        OK(cip_memory_save(m, at("saved"), NULL, err));
        assert_true(expect_same("disk", "saved") > 3);
        edit_verify(at("saved"));
        change_path("saved");
        cip_memory_free(m);
        scratch_close(&s);
        assert_int_equal(mkdir(s.dir, 0700), 0);
    }
}

static void a_file_comes_with_those_beside_it(void **state)
{
    static const int64_t shape[] = { 24 };
    const cip_array_options own = { .size = sizeof own, .storage = "external" };
    float v[24] = { 1, 2, 3 };
    cip_change *w;
    cip_memory *m;
    cip_change *e;
    size_t n;
    (void)state;
    OK(cip_create(at("night.asdf"), NULL, &w, err));
    OK(cip_change_put(w, "one", cip_dtype_of(CIP_F32), 1, shape, v, &own, err));
    OK(cip_change_put(w, "two", cip_dtype_of(CIP_F32), 1, shape, v, &own, err));
    OK(cip_change_put(w, "three", cip_dtype_of(CIP_F32), 1, shape, v, NULL, err));
    OK(cip_change_commit(&w, err));
    scratch_write(&s, "other.asdf", "not of it", 9);
    OK(cip_memory_load(at("night.asdf"), NULL, &m, err));
    assert_non_null(cip_memory_bytes(m, &n));
    assert_true(n > 96);
    assert_string_equal(cip_memory_member(m, 0, NULL, &n), "night0000.asdf");
    assert_string_equal(cip_memory_member(m, 1, NULL, NULL), "night0001.asdf");
    assert_null(cip_memory_member(m, 2, NULL, NULL));
    OK(cip_change_open_memory(m, NULL, &e, err));
    v[0] = 5;
    OK(cip_change_write(e, "three", "[0]", cip_dtype_as_stored(), v, 4, err));
    OK(cip_change_commit(&e, err));
    FAILS(CIP_ERR_EXISTS, "exists", cip_memory_save(m, at("night.asdf"), NULL, err));
    FAILS(CIP_ERR_EXISTS, "'night0000.asdf' exists",
          cip_memory_save(m, at("night.asdf"), CIP_CHANGE_OPTIONS(.overwrite = true), err));
    assert_int_equal(mkdir(at("new"), 0755), 0);
    OK(cip_memory_save(m, at("new/night.asdf"), NULL, err));
    edit_verify(at("new/night.asdf"));
    edit_expect(
        at("new/night.asdf"), "three",
        "5.0 2.0 3.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 "
        "0.0 0.0 0.0\n");
    cip_memory_free(m);
    unlink(at("night0001.asdf"));
    FAILS(CIP_ERR_NOT_FOUND, "night0001.asdf", cip_memory_load(at("night.asdf"), NULL, &m, err));
    assert_null(m);
}

static void what_is_not_all_within_is_refused(void **state)
{
    const cip_limits little = { .size = sizeof little, .max_memory = 3000 };
    char deep[140];
    cip_memory *m;
    (void)state;
    NEEDS_OPENAT2();
    make("x", "bcolz");
    FAILS(CIP_ERR_LIMIT, "",
          cip_memory_load(at("x"), CIP_OPEN_OPTIONS(.limits = &little), &m, err));
    assert_null(m);
    assert_int_equal(mkfifo(at("x/pipe"), 0600), 0);
    FAILS(CIP_ERR_UNSUPPORTED, "'pipe' is a FIFO", cip_memory_load(at("x"), NULL, &m, err));
    unlink(at("x/pipe"));
    scratch_write(&s, "outside", "text", 4);
    assert_int_equal(symlink("../../outside", at("x/a/link")), 0);
    FAILS(CIP_ERR_CORRUPT, "leaves", cip_memory_load(at("x"), NULL, &m, err));
    OK(cip_memory_load(at("x"), CIP_OPEN_OPTIONS(.allow_external = true), &m, err));
    cip_memory_free(m);
    unlink(at("x/a/link"));
    assert_int_equal(symlink(".", at("x/a/round")), 0);
    FAILS(CIP_ERR_CORRUPT, "circular", cip_memory_load(at("x"), NULL, &m, err));
    unlink(at("x/a/round"));
    for (size_t i = 0; i < 64; i++) {
        memcpy(deep + 2 * i, i == 0 ? "x/" : "d/", 3);
        assert_true(mkdir(at(deep), 0755) == 0 || i == 0);
    }
    OK(cip_memory_load(at("x"), NULL, &m, err));
    cip_memory_free(m);
    memcpy(deep + 2 * 64, "d/", 3);
    assert_int_equal(mkdir(at(deep), 0755), 0);
    FAILS(CIP_ERR_LIMIT, "64 nested folders", cip_memory_load(at("x"), NULL, &m, err));
    FAILS(CIP_ERR_FORMAT, "known format", cip_memory_load(at("outside"), NULL, &m, err));
    FAILS(CIP_ERR_ARG, "path", cip_memory_load(NULL, NULL, &m, err));
    make("y", "blz");
    assert_true(mkdir(at("shard"), 0755) == 0 && mkdir(at("shard/data"), 0755) == 0);
    const char *const root[] = { at("shard") };
    FAILS(CIP_ERR_UNSUPPORTED, "roots",
          cip_memory_load(at("y"), CIP_OPEN_OPTIONS(.roots = root, .nroot = 1), &m, err));
}

static void a_place_that_is_taken_is_kept(void **state)
{
    const cip_change_options over = { .size = sizeof over, .overwrite = true };
    cip_memory *m, *none;
    cip_change *w;
    (void)state;
    make("x", "bcolz");
    make("y", "blz");
    OK(cip_memory_load(at("y"), NULL, &m, err));
    FAILS(CIP_ERR_EXISTS, "exists", cip_memory_save(m, at("x"), NULL, err));
    OK(cip_memory_save(m, at("x"), &over, err));
    expect_same("x", "y");
    assert_int_equal(mkdir(at("mine"), 0755), 0);
    FAILS(CIP_ERR_ARG, "no known format", cip_memory_save(m, at("mine"), &over, err));
    scratch_write(&s, "file", "text", 4);
    FAILS(CIP_ERR_ARG, "not a folder", cip_memory_save(m, at("file"), &over, err));
    FAILS(CIP_ERR_ARG, "name", cip_memory_save(m, "-", NULL, err));
    OK(cip_memory_new(NULL, 0, &none, err));
    FAILS(CIP_ERR_ARG, "complete", cip_memory_save(none, at("none"), NULL, err));
    cip_memory_free(none);
    OK(cip_create_memory("asdf", NULL, &none, &w, err));
    FAILS(CIP_ERR_ARG, "complete", cip_memory_save(none, at("none"), NULL, err));
    cip_change_abort(&w);
    cip_memory_free(none);
    cip_memory_free(m);
}

static void failing_allocations_leave_nothing(void **state)
{
    (void)state;
    make("x", "bcolz");
    for (size_t n = 1;; n++) {
        fail_alloc f = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &f };
        cip_memory *m;
        char name[24];
        snprintf(name, sizeof name, "y%zu", n);
        cip_status st = cip_memory_load(
            at("x"), CIP_OPEN_OPTIONS(.allocator = &from, .threads = 1, .format = "blz"), &m, NULL);
        if (st == CIP_OK)
            st = cip_memory_save(m, at(name), CIP_CHANGE_OPTIONS(.allocator = &from), NULL);
        cip_memory_free(m);
        assert_int_equal(f.held, 0);
        if (st == CIP_OK) { /* as it is without some that only make it quicker */
            expect_same("x", name);
        } else {
            assert_int_equal(st, CIP_ERR_NOMEM);
            assert_int_equal(access(at(name), F_OK), -1);
        }
        if (f.requests < n)
            break;
    }
}

/* `to` has the bytes of `was`, which another folder keeps, and `from` is gone. */
static void expect_taken(const char *from, const char *was, const char *to)
{
    expect_same(was, to);
    assert_int_equal(access(at(from), F_OK), -1);
}

static void a_complete_one_takes_a_name(void **state)
{
    static const char *const format[] = { "bcolz", "asdf" };
    (void)state;
    assert_int_equal(mkdir(at("in"), 0777), 0);
    for (size_t i = 0; i < 2; i++) {
        const cip_change_options over = { .size = sizeof over, .overwrite = true };
        struct stat old, now;
        cip_change *e;
        char to[16], in[16], kept[16];
        snprintf(to, sizeof to, "x%zu", i);
        snprintf(in, sizeof in, "in/x%zu", i);
        snprintf(kept, sizeof kept, "kept%zu", i);
        make_any(in, format[i]);
        make_any(kept, format[i]);
        OK(cip_publish(at(in), at(to), NULL, err));
        expect_taken(in, kept, to);
        make_any(in, format[i]);
        FAILS(CIP_ERR_EXISTS, "exists", cip_publish(at(in), at(to), NULL, err));
        FAILS(CIP_ERR_NOT_FOUND, "", cip_publish(at("none"), at(to), &over, err));
        expect_same(kept, in);
        OK(cip_change_open(at(to), NULL, &e, err));
        FAILS(CIP_ERR_BUSY, "another writer", cip_publish(at(in), at(to), &over, err));
        cip_change_abort(&e);
        OK(cip_change_open(at(in), NULL, &e, err));
        FAILS(CIP_ERR_BUSY, "another writer", cip_publish(at(in), at(to), &over, err));
        cip_change_abort(&e);
        expect_same(kept, in);
        assert_int_equal(chmod(at(to), i == 0 ? 0750 : 0640), 0);
        assert_int_equal(stat(at(to), &old), 0);
        OK(cip_publish(at(in), at(to), &over, err));
        expect_taken(in, kept, to);
        assert_int_equal(stat(at(to), &now), 0);
        assert_int_equal(now.st_mode, old.st_mode);
        assert_int_not_equal(now.st_ino, old.st_ino);
    }
    /* a file and a folder do not replace each other, and are where they were */
    const cip_change_options over = { .size = sizeof over, .overwrite = true };
    FAILS(CIP_ERR_ARG, "not a folder", cip_publish(at("x0"), at("x1"), &over, err));
    FAILS(CIP_ERR_ARG, "not a regular file", cip_publish(at("x1"), at("x0"), &over, err));
    expect_same("kept0", "x0");
    expect_same("kept1", "x1");
    assert_int_equal(rmdir(at("in")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_folder_changes_in_memory_as_on_disk, start, stop),
        cmocka_unit_test_setup_teardown(a_file_comes_with_those_beside_it, start, stop),
        cmocka_unit_test_setup_teardown(what_is_not_all_within_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(a_place_that_is_taken_is_kept, start, stop),
        cmocka_unit_test_setup_teardown(failing_allocations_leave_nothing, start, stop),
        cmocka_unit_test_setup_teardown(a_complete_one_takes_a_name, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
