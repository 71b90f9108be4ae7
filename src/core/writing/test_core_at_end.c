/* SPDX-License-Identifier: BSD-3-Clause
 * Files behind other files: written there by one commit, and opened where they begin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/own_folder.h"

static const int32_t values[] = { 1, 2, 3, 4, 5, 6 };
static const int64_t shape[] = { 6 };

static const char *other_file(const char *name)
{
    const char *path = scratch_path(&s, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite("somebody else", 1, 13, f), 13);
    assert_int_equal(fclose(f), 0);
    return path;
}

static uint64_t put(const char *path, const char *format, int32_t first)
{
    uint64_t at = 0;
    int32_t own[6];
    cip_change *w;
    memcpy(own, values, sizeof own);
    own[0] = first;
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.format = format, .at_end = &at), &w, err));
    OK(cip_change_put(w, "", cip_dtype_of(CIP_I32), 1, shape, own, NULL, err));
    OK(cip_change_commit(&w, err));
    return at;
}

static void expect(const char *path, uint64_t at, int32_t first)
{
    int32_t back[6];
    cip_file *f;
    OK(cip_open(path, CIP_OPEN_OPTIONS(.offset = at), &f, err));
    OK(cip_read(cip_file_array(f, 0), NULL, cip_dtype_of(CIP_I32), back, sizeof back, err));
    assert_int_equal(back[0], first);
    assert_memory_equal(back + 1, values + 1, sizeof back - sizeof *back);
    cip_file_close(f);
}

static void each_begins_where_the_file_ended(void **state)
{
    (void)state;
    const char *path = other_file("a");
    const uint64_t first = put(path, "blosc2", 10), second = put(path, "blosc2", 20);
    assert_int_equal(first, 13);
    assert_true(second > first);
    expect(path, first, 10);
    size_t n;
    char *bytes = edit_bytes(path, &n);
    assert_memory_equal(bytes, "somebody else\x9e\xa8", 15);
    assert_memory_equal(bytes + second, "\x9e\xa8", 2);
    free(bytes);
    expect(path, put(path, "npy", 30), 30); /* any format of one file */
}

static void a_file_in_memory_begins_there_too(void **state)
{
    (void)state;
    const char *path = other_file("m");
    const uint64_t at = put(path, "npy", 10);
    size_t n;
    int32_t back[6];
    cip_file *f;
    char *bytes = edit_bytes(path, &n);
    OK(cip_open_memory(bytes, n, CIP_OPEN_OPTIONS(.offset = at), &f, err));
    OK(cip_read(cip_file_array(f, 0), NULL, cip_dtype_of(CIP_I32), back, sizeof back, err));
    assert_int_equal(back[0], 10);
    cip_file_close(f);
    FAILS(CIP_ERR_RANGE, "", cip_open_memory(bytes, n, CIP_OPEN_OPTIONS(.offset = n), &f, err));
    free(bytes);
}

static void an_abort_leaves_the_file_as_it_was(void **state)
{
    (void)state;
    const char *path = other_file("b");
    uint64_t at = 0;
    cip_change *w;
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.format = "blosc2", .at_end = &at), &w, err));
    OK(cip_change_put(w, "", cip_dtype_of(CIP_I32), 1, shape, values, NULL, err));
    cip_change *e;
    FAILS(CIP_ERR_BUSY, "", cip_change_open(path, NULL, &e, err));
    cip_change_abort(&w);
    size_t n;
    char *bytes = edit_bytes(path, &n);
    assert_int_equal(n, 13);
    free(bytes);
}

static void what_lies_within_another_file_is_not_changed(void **state)
{
    (void)state;
    const char *path = other_file("c");
    const uint64_t at = put(path, "blosc2", 10);
    cip_file *f;
    cip_change *e;
    OK(cip_open(path, CIP_OPEN_OPTIONS(.offset = at), &f, err));
    FAILS(CIP_ERR_UNSUPPORTED, "embedded in another file", cip_change_begin(f, NULL, &e, err));
    FAILS(CIP_ERR_UNSUPPORTED, "embedded in another file",
          cip_append(f, "", cip_dtype_of(CIP_I32), values, 4, err));
    cip_file_close(f);
    FAILS(CIP_ERR_RANGE, "", cip_open(path, CIP_OPEN_OPTIONS(.offset = 1 << 20), &f, err));
    FAILS(CIP_ERR_FORMAT, "", cip_open(path, CIP_OPEN_OPTIONS(.offset = at + 1), &f, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_begins_where_the_file_ended),
        cmocka_unit_test(a_file_in_memory_begins_there_too),
        cmocka_unit_test(an_abort_leaves_the_file_as_it_was),
        cmocka_unit_test(what_lies_within_another_file_is_not_changed),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
