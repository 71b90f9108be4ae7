/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>

#include "support/core/core_testing.h"
#include "support/needs.h"
#include "support/temp_folder.h"

static const int32_t six[] = { 1, -2, 3, -4, 5, -6 };

static int setup(void **state)
{
    scratch *s = malloc(sizeof *s);
    *state = s;
    return scratch_open(s) && chdir(s->dir) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    int rc = chdir("/");
    scratch_close(*state);
    free(*state);
    return rc;
}

static void write_text(const char *name, const char *text)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}

static size_t read_file(const char *name, char *p, size_t cap)
{
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    size_t n = fread(p, 1, cap - 1, f);
    fclose(f);
    p[n] = '\0';
    return n;
}

static int count_files(void)
{
    int n = 0;
    DIR *d = opendir(".");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

/* a: six numbers, two of them missing; v: every other one of them; c: by hand. */
static void write_input(void)
{
    static const uint8_t mask[] = { 0, 1, 0, 0, 0, 1 };
    static const int64_t shape[] = { 6 };
    cip_change *w;
    cip_err err = CIP_ERR_INIT;
    const cip_dtype *i4 = cip_dtype_of(CIP_I32);
    assert_int_equal(cip_create("in.asdf", NULL, &w, &err), CIP_OK);
    assert_int_equal(cip_change_put(w, "a", i4, 1, shape, six, NULL, &err), CIP_OK);
    assert_int_equal(cip_change_put_view(w, "v", "a", "[::-2]", &err), CIP_OK);
    assert_int_equal(
        cip_change_put(w, "m", i4, 1, shape, six, CIP_ARRAY_OPTIONS(.mask = mask), &err), CIP_OK);
    assert_int_equal(cip_change_set_string(w, "who", "me", &err), CIP_OK);
    assert_int_equal(cip_change_commit(&w, &err), CIP_OK);
}

static const char by_hand[] =
    "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n"
    "i: !core/ndarray-1.1.0 {data: [1, -9, 3], mask: -9, datatype: int32}\n"
    "f: !core/ndarray-1.1.0 {data: [1.5, 2.5], mask: .nan, datatype: float32}\n"
    "u: !core/ndarray-1.1.0 {data: [7, 8], mask: 8, datatype: uint16}\n"
    "r: {$ref: '#/i'}\nx: &x !core/ndarray-1.1.0 [true, false]\ny: *x\n"
    "t: !core/ndarray-1.1.0\n  data: [[1, 2.0], [3, 4.0]]\n"
    "  datatype: [{name: p, datatype: int8}, {name: q, datatype: float64}]\n...\n";

static void gives(const char *file, const char *path, const int32_t *want, size_t n)
{
    cip_file *f;
    int32_t found[16];
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_open(file, NULL, &f, &err), CIP_OK);
    const cip_read_args *args =
        CIP_READ_ARGS(.dtype = cip_dtype_of(CIP_I32), .dst = found, .dst_nbytes = n * 4);
    if (cip_read_into(cip_find(f, path, &err), args, &err) !=
        CIP_OK) /* what lies under masks, too */
        fail_msg("%s: %s", path, err.text);
    assert_memory_equal(found, want, n * 4);
    cip_file_close(f);
}

static size_t blocks(const char *file)
{
    cip_file *f;
    assert_int_equal(cip_open(file, NULL, &f, NULL), CIP_OK);
    size_t n = cip_file_nblock(f);
    cip_file_close(f);
    return n;
}

static void convert(const char *in, const char *out, const cip_convert_options *o)
{
    cip_err err = CIP_ERR_INIT;
    if (cip_convert(in, out, o, &err) != CIP_OK)
        fail_msg("%s", err.text);
}

static void check_input(const char *file)
{
    static const int32_t view[] = { -6, -4, -2 };
    cip_file *f;
    const char *who;
    gives(file, "a", six, 6);
    gives(file, "v", view, 3);
    assert_int_equal(cip_open(file, NULL, &f, NULL), CIP_OK);
    assert_int_equal(cip_tree_get_string(cip_file_tree(f), "who", &who, NULL), CIP_OK);
    assert_string_equal(who, "me");
    uint8_t mask[6];
    int32_t all[6];
    cip_read_args args = {
        .size = sizeof args, .dst = all, .dst_nbytes = sizeof all, .mask = mask
    };
    assert_int_equal(cip_read_into(cip_find(f, "m", NULL), &args, NULL), CIP_OK);
    assert_memory_equal(mask, "\0\1\0\0\0\1", 6);
    for (size_t i = 0; i < 6; i++)
        assert_true(mask[i] || all[i] == six[i]); /* what lies beneath is not kept inline */
    cip_file_close(f);
}

static void masks_views_and_trees_go_along(void **state)
{
    (void)state;
    NEEDS_CODECS();
    write_input();
    convert("in.asdf", "same.asdf", NULL);
    convert("in.asdf", "new.asdf", CIP_CONVERT_OPTIONS(.version = "1.4.0"));
    convert("in.asdf", "big.asdf", CIP_CONVERT_OPTIONS(.byteorder = "big", .codec = "lz4"));
    convert("in.asdf", "in.yaml", NULL);
    check_input("same.asdf");
    check_input("new.asdf");
    check_input("big.asdf");
    check_input("in.yaml");
    assert_int_equal(blocks("same.asdf"), 3);
    assert_int_equal(blocks("new.asdf"), 3); /* the view has none of its own */
    assert_int_equal(blocks("big.asdf"), 3);
    assert_int_equal(blocks("in.yaml"), 0);
}

static void a_mask_by_value_stays_one(void **state)
{
    (void)state;
    char text[4096];
    write_text("h.asdf", by_hand);
    convert("h.asdf", "o.asdf", CIP_CONVERT_OPTIONS(.storage = "internal"));
    read_file("o.asdf", text, sizeof text);
    assert_non_null(strstr(text, "mask: -9"));
    assert_non_null(strstr(text, "mask: .nan"));
    assert_non_null(strstr(text, "mask: 8"));
}

static void references_become_arrays_only_when_asked(void **state)
{
    (void)state;
    static const int32_t want[] = { 1, -9, 3 };
    char text[4096];
    write_text("h.asdf", by_hand);
    convert("h.asdf", "o.asdf", CIP_CONVERT_OPTIONS(.storage = "internal"));
    read_file("o.asdf", text, sizeof text);
    assert_non_null(strstr(text, "$ref: '#/i'"));
    assert_non_null(strstr(text, "'y': *x"));
    assert_int_equal(blocks("o.asdf"), 5);
    convert("h.asdf", "q.asdf", CIP_CONVERT_OPTIONS(.byteorder = "big"));
    assert_int_equal(blocks("q.asdf"), 0); /* inline stays inline */
    convert("h.asdf", "p.asdf", CIP_CONVERT_OPTIONS(.resolve_refs = true));
    read_file("p.asdf", text, sizeof text);
    assert_null(strstr(text, "$ref"));
    gives("p.asdf", "r", want, 3);
}

static void one_array_or_field_is_taken_alone(void **state)
{
    (void)state;
    static const int32_t want[] = { 2, 4 };
    char text[4096];
    write_text("h.asdf", by_hand);
    convert("h.asdf", "o.asdf", CIP_CONVERT_OPTIONS(.path = "t/q"));
    gives("o.asdf", "t/q", want, 2);
    read_file("o.asdf", text, sizeof text);
    assert_null(strstr(text, "mask"));
    convert("h.asdf", "i.asdf", CIP_CONVERT_OPTIONS(.path = "i"));
    read_file("i.asdf", text, sizeof text);
    assert_non_null(strstr(text, "mask: -9"));
}

static void arrays_may_lie_in_files_beside(void **state)
{
    (void)state;
    write_input();
    convert("in.asdf", "o.asdf", CIP_CONVERT_OPTIONS(.storage = "external"));
    check_input("o.asdf");
    assert_int_equal(count_files(), 2 + 3);
    assert_int_equal(blocks("o.asdf"), 0);
    assert_int_equal(blocks("o0002.asdf"), 1);
}

static void files_are_taken_apart_and_put_together(void **state)
{
    (void)state;
    write_input();
    const char *const paths[] = { "m" };
    assert_int_equal(cip_explode("in.asdf", "all.asdf", NULL, NULL), CIP_OK);
    assert_int_equal(count_files(), 2 + 3);
    check_input("all.asdf");
    assert_int_equal(cip_explode("in.asdf", "some.asdf",
                                 CIP_EXPLODE_OPTIONS(.path = paths, .npath = 1, .bare = true),
                                 NULL),
                     CIP_OK);
    assert_int_equal(blocks("some.asdf"), 1);
    check_input("some.asdf");
    convert("some.asdf", "whole.asdf", NULL); /* data beside it come along */
    check_input("whole.asdf");
    assert_int_equal(blocks("whole.asdf"), 3);
    assert_int_equal(cip_implode("some.asdf", "back.asdf", NULL, NULL), CIP_OK);
    check_input("back.asdf");
    assert_int_equal(blocks("back.asdf"), 3);
    assert_int_equal(cip_implode("all.asdf", "back.asdf", NULL, NULL), CIP_ERR_EXISTS);
    assert_int_equal(
        cip_implode("all.asdf", "back.asdf", CIP_EXPLODE_OPTIONS(.overwrite = true), NULL), CIP_OK);
    check_input("back.asdf");
}

static void what_fails_leaves_nothing(void **state)
{
    (void)state;
    const char *const paths[] = { "who" };
    write_input();
    write_text("c.npy", "no npy");
    cip_explode_options none = { .bare = true };
    assert_int_equal(cip_explode("in.asdf", "o.asdf", &none, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_explode("in.asdf", NULL, NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_explode(NULL, "o.asdf", NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_implode("in.asdf", "-", NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_explode("missing", "o.asdf", NULL, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(
        cip_explode("in.asdf", "o.asdf", CIP_EXPLODE_OPTIONS(.path = paths, .npath = 1), NULL),
        CIP_ERR_TYPE);
    assert_int_equal(count_files(), 2);
    write_text("o0001.asdf", "mine");
    assert_int_equal(cip_explode("in.asdf", "o.asdf", NULL, NULL), CIP_ERR_EXISTS);
    assert_int_equal(count_files(), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        TEST(masks_views_and_trees_go_along),
        TEST(a_mask_by_value_stays_one),
        TEST(references_become_arrays_only_when_asked),
        TEST(one_array_or_field_is_taken_alone),
        TEST(arrays_may_lie_in_files_beside),
        TEST(files_are_taken_apart_and_put_together),
        TEST(what_fails_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
