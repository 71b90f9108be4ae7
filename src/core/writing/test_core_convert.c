/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>

#include "support/core/core_testing.h"
#include "support/core/writing/edit_testing.h"
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

static void write_file(const char *name, const void *p, size_t n)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    fclose(f);
}

static size_t read_file(const char *name, char *p, size_t cap)
{
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    size_t n = fread(p, 1, cap, f);
    fclose(f);
    return n;
}

/* in.npy: six numbers. */
static void write_input(void)
{
    size_t n;
    char *mem = test_npy("'<i4'", "(2, 3)", 0, six, sizeof six, &n);
    write_file("in.npy", mem, n);
    free(mem);
}

static int count_files(void)
{
    int n = 0;
    DIR *d = opendir(".");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void a_file_is_converted_and_read_back(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    int32_t v[6];
    write_input();
    assert_int_equal(cip_convert("in.npy", "out.ra", NULL, &err), CIP_OK);
    assert_int_equal(cip_open("out.ra", NULL, &f, &err), CIP_OK);
    assert_int_equal(
        cip_read(cip_find(f, "", &err), NULL, cip_dtype_as_stored(), v, sizeof v, &err), CIP_OK);
    assert_memory_equal(v, six, sizeof six);
    cip_file_close(f);
    assert_int_equal(count_files(), 2);
}

static void an_output_that_exists_is_replaced_only_when_asked(void **state)
{
    (void)state;
    char text[256];
    cip_err err = CIP_ERR_INIT;
    struct stat st;
    write_input();
    write_file("out.ra", "mine", 4);
    assert_int_equal(chmod("out.ra", 0640), 0);
    assert_int_equal(cip_convert("in.npy", "out.ra", NULL, &err), CIP_ERR_EXISTS);
    assert_int_equal(read_file("out.ra", text, sizeof text), 4);
    assert_int_equal(cip_convert("in.npy", "out.ra", CIP_CONVERT_OPTIONS(.overwrite = true), &err),
                     CIP_OK);
    assert_int_equal(read_file("out.ra", text, sizeof text), 64 + 24);
    assert_int_equal(stat("out.ra", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(count_files(), 2);
}

static void a_link_is_followed_not_replaced(void **state)
{
    (void)state;
    char text[256];
    struct stat st;
    write_input();
    write_file("real.ra", "old", 3);
    assert_int_equal(symlink("real.ra", "link.ra"), 0);
    assert_int_equal(cip_convert("in.npy", "link.ra", NULL, NULL), CIP_ERR_EXISTS);
    assert_int_equal(cip_convert("in.npy", "link.ra", CIP_CONVERT_OPTIONS(.overwrite = true), NULL),
                     CIP_OK);
    assert_int_equal(lstat("link.ra", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(read_file("real.ra", text, sizeof text), 64 + 24);
}

static void only_a_regular_file_is_replaced(void **state)
{
    (void)state;
    write_input();
    assert_int_equal(mkdir("out.ra", 0755), 0);
    assert_int_equal(cip_convert("in.npy", "out.ra", CIP_CONVERT_OPTIONS(.overwrite = true), NULL),
                     CIP_ERR_ARG);
    assert_int_equal(
        cip_convert("in.npy", "out.ra/", CIP_CONVERT_OPTIONS(.format = "rawarray"), NULL),
        CIP_ERR_ARG);
    assert_int_equal(cip_convert("in.npy", "nowhere/out.ra", NULL, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(count_files(), 2);
}

static int stop_at_once(void *user, uint64_t done, uint64_t total)
{
    assert_int_equal(total, sizeof six);
    assert_true(done <= total);
    *(int *)user += 1;
    return 1;
}

static void a_cancelled_conversion_leaves_nothing(void **state)
{
    (void)state;
    int calls = 0;
    write_input();
    assert_int_equal(cip_convert("in.npy", "out.ra",
                                 CIP_CONVERT_OPTIONS(.progress = stop_at_once, .user = &calls),
                                 NULL),
                     CIP_ERR_CANCELLED);
    assert_int_equal(calls, 1);
    assert_int_equal(count_files(), 1);
}

static int note_loss(void *user, const cip_finding *f)
{
    *(int *)user += 1;
    return strlen(f->text) == 0;
}

static void losses_are_told_and_refused(void **state)
{
    (void)state;
    size_t n;
    int told = 0;
    cip_err err = CIP_ERR_INIT;
    char *mem = test_npy("[('a', '<i2'), ('b', '<f4')]", "(1,)", 0, "123456", 6, &n);
    write_file("in.npy", mem, n);
    free(mem);
    assert_int_equal(cip_convert("in.npy", "out.ra",
                                 CIP_CONVERT_OPTIONS(.on_loss = note_loss, .user = &told), &err),
                     CIP_ERR_UNSUPPORTED);
    assert_true(told >= 1);
    assert_non_null(strstr(err.text, ".accept_loss"));
    assert_int_equal(count_files(), 1);
    assert_int_equal(
        cip_convert("in.npy", "out.ra", CIP_CONVERT_OPTIONS(.accept_loss = true), &err), CIP_OK);
}

static void wishes_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    write_input();
    cip_convert_options none = { .codec = "lz4" };
    assert_int_equal(cip_convert("in.npy", "o.ra", &none, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_convert("in.npy", "o", NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_convert("in.npy", "o.ra", CIP_CONVERT_OPTIONS(.format = "x"), NULL),
                     CIP_ERR_ARG);
    assert_int_equal(cip_convert("in.npy", "o.asdf", CIP_CONVERT_OPTIONS(.version = "9"), NULL),
                     CIP_ERR_ARG);
    assert_int_equal(cip_convert("in.npy", "o.asdf", CIP_CONVERT_OPTIONS(.storage = "x"), NULL),
                     CIP_ERR_ARG);
    assert_int_equal(cip_convert("in.npy", "o.ra", CIP_CONVERT_OPTIONS(.byteorder = "x"), NULL),
                     CIP_ERR_ARG);
    assert_int_equal(cip_convert("in.npy", "o.ra", CIP_CONVERT_OPTIONS(.codec = "lz4:x"), NULL),
                     CIP_ERR_ARG);
    assert_int_equal(cip_convert("in.npy", "o.ra", CIP_CONVERT_OPTIONS(.codec = "lz4:101"), NULL),
                     CIP_ERR_ARG);
    assert_int_equal(cip_convert("in.npy", "o.ra", CIP_CONVERT_OPTIONS(.path = "x/y"), NULL),
                     CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_convert("in.npy", NULL, NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_convert("missing", "o.ra", NULL, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(count_files(), 1);
}

static void byte_order_and_codec_are_as_wished(void **state)
{
    (void)state;
    NEEDS_CODECS();
    char text[4096];
    cip_file *f;
    static const int32_t same[256] = { 0 };
    size_t n;
    char *mem = test_npy("'<i4'", "(256,)", 0, same, sizeof same, &n);
    write_input();
    write_file("same.npy", mem, n);
    free(mem);
    assert_int_equal(cip_convert("in.npy", "b.ra", CIP_CONVERT_OPTIONS(.byteorder = "big"), NULL),
                     CIP_OK);
    assert_int_equal(read_file("b.ra", text, sizeof text), 88);
    assert_memory_equal(text + 64, "\0\0\0\1\xff\xff\xff\xfe", 8);
    assert_int_equal(text[8], 1);
    assert_int_equal(cip_convert("same.npy", "z.ra", CIP_CONVERT_OPTIONS(.codec = "lz4:9"), NULL),
                     CIP_OK);
    assert_true(read_file("z.ra", text, sizeof text) < 100);
    assert_int_equal(cip_open("z.ra", NULL, &f, NULL), CIP_OK);
    assert_int_equal(cip_read(cip_find(f, "", NULL), NULL, cip_dtype_as_stored(), text, 1024, NULL),
                     CIP_OK);
    assert_memory_equal(text, same, sizeof same);
    cip_file_close(f);
}

/* Larger than a piece: streamed in several. */
static void a_large_array_is_streamed(void **state)
{
    (void)state;
    enum { N = 3000001 };
    size_t n;
    int32_t *v = malloc(N * sizeof *v), *back = malloc(N * sizeof *v);
    cip_file *f;
    for (int32_t i = 0; i < N; i++)
        v[i] = i * 7;
    char *mem = test_npy("'<i4'", "(3000001,)", 0, v, N * sizeof *v, &n);
    write_file("in.npy", mem, n);
    free(mem);
    assert_int_equal(cip_convert("in.npy", "out.ra", NULL, NULL), CIP_OK);
    assert_int_equal(cip_open("out.ra", NULL, &f, NULL), CIP_OK);
    assert_int_equal(
        cip_read(cip_find(f, "", NULL), NULL, cip_dtype_as_stored(), back, N * sizeof *v, NULL),
        CIP_OK);
    assert_memory_equal(back, v, N * sizeof *v);
    cip_file_close(f);
    free(back);
    free(v);
}

/* With less memory than a run of elements takes: they go into the chunks from where they lie. */
static void elements_in_memory_are_not_copied(void **state)
{
    (void)state;
    enum { N = 3000001 };
    size_t n;
    int32_t *v = malloc(N * sizeof *v), *back = malloc(N * sizeof *v);
    cip_file *f;
    cip_limits limits = { .size = sizeof limits, .max_memory = 4 << 20 };
    for (int32_t i = 0; i < N; i++)
        v[i] = i * 7;
    char *mem = test_npy("'<i4'", "(3000001,)", 0, v, N * sizeof *v, &n);
    const cip_open_options *how = CIP_OPEN_OPTIONS(.limits = &limits);
    assert_int_equal(cip_open_memory(mem, n, how, &f, NULL), CIP_OK);
    assert_int_equal(cip_convert_file(f, "out.ra", NULL, NULL), CIP_OK);
    cip_file_close(f);
    assert_int_equal(cip_open("out.ra", NULL, &f, NULL), CIP_OK);
    const cip_array *a = cip_find(f, "", NULL);
    assert_int_equal(cip_read(a, NULL, cip_dtype_as_stored(), back, N * sizeof *v, NULL), CIP_OK);
    assert_memory_equal(back, v, N * sizeof *v);
    cip_file_close(f);
    free(mem);
    free(back);
    free(v);
}

/* in.asdf: five numbers, and the integer -(2^96 + 7) with its words in a block; `more` lies in its
 * mapping, too. */
static void write_integer(const char *sign, const char *more)
{
    const uint32_t word[] = { 7, 0, 0, 1 };
    const int64_t n5[] = { 5 }, n4[] = { 4 };
    const int32_t five[5] = { 1, 2, 3, 4, 5 };
    char text[200];
    cip_change *w;
    OK(cip_create("in.asdf", CIP_CHANGE_OPTIONS(.overwrite = true), &w, err));
    snprintf(text, sizeof text, "!core/integer-1.1.0 {sign: '%s'%s}", sign, more);
    OK(cip_change_set_yaml(w, "attributes", "{big: null, more: [1]}", err));
    OK(cip_change_set_yaml(w, "round", "&m [*m]", err));
    OK(cip_change_set_yaml(w, "attributes/big", text, err));
    OK(cip_change_put(w, "attributes/big/words", cip_dtype_of(CIP_U32), 1, n4, word, NULL, err));
    OK(cip_change_put(w, "x", cip_dtype_of(CIP_I32), 1, n5, five, NULL, err));
    OK(cip_change_commit(&w, err));
}

static void integers_of_words_are_numbers_in_other_formats(void **state)
{
    static const char number[] = "-79228162514264337593543950343";
    const cip_convert_options *over = CIP_CONVERT_OPTIONS(.overwrite = true);
    const char *text;
    size_t n;
    cip_file *f;
    (void)state;
    write_integer("-", ", string: '-79228162514264337593543950343'");
    OK(cip_convert("in.asdf", "out.bcolz", CIP_CONVERT_OPTIONS(.accept_loss = true), err));
    OK(cip_open("out.bcolz", NULL, &f, err));
    assert_int_equal(cip_file_narray(f), 1);
    const cip_node *big = cip_tree_get(cip_file_tree(f), "attributes/big", NULL);
    text = cip_node_text(big, &n);
    assert_int_equal(cip_node_kind(big), CIP_NODE_BIGINT);
    assert_string_equal(text, number);
    cip_file_close(f);

    /* asked for by its path it is an array, and from ASDF to ASDF it stays as it is */
    OK(cip_convert("in.asdf", "words.npy", CIP_CONVERT_OPTIONS(.path = "attributes/big/words"),
                   err));
    OK(cip_convert("in.asdf", "out.asdf", CIP_CONVERT_OPTIONS(.byteorder = "big"), err));
    OK(cip_open("out.asdf", NULL, &f, err));
    assert_int_equal(cip_file_narray(f), 2);
    assert_non_null(cip_find(f, "attributes/big/words", NULL));
    assert_string_equal(cip_dtype_name(cip_array_dtype(cip_find(f, "x", NULL))), "int32");
    cip_file_close(f);

    /* what is no number alone, or not the one that it says, stays an array */
    write_integer("-", ", string: '8'");
    FAILS(CIP_ERR_UNSUPPORTED, "holds one array, the input has 2",
          cip_convert("in.asdf", "out.ra", over, err));
    write_integer("-", ", unit: m");
    FAILS(CIP_ERR_UNSUPPORTED, "holds one array, the input has 2",
          cip_convert("in.asdf", "out.ra", over, err));
    write_integer("~", "");
    FAILS(CIP_ERR_UNSUPPORTED, "holds one array, the input has 2",
          cip_convert("in.asdf", "out.ra", over, err));
}

static void a_column_brings_its_own_attributes(void **state)
{
    static const int64_t two[] = { 2 };
    static const int32_t data[] = { 1, 2 };
    const cip_convert_options *of_a = CIP_CONVERT_OPTIONS(.path = "a", .overwrite = true);
    const cip_convert_options *of_b = CIP_CONVERT_OPTIONS(.path = "b", .overwrite = true);
    const cip_convert_options *own = CIP_CONVERT_OPTIONS(.path = "attributes", .overwrite = true);
    cip_change *w;
    cip_file *f;
    (void)state;
    OK(cip_create("t.bcolz", NULL, &w, err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 1, two, data, NULL, err));
    OK(cip_change_put(w, "b", cip_dtype_of(CIP_I32), 1, two, data, NULL, err));
    OK(cip_change_put(w, "attributes", cip_dtype_of(CIP_I32), 1, two, data, NULL, err));
    OK(cip_change_set_string(w, "column_attributes/a/unit", "m", err));
    OK(cip_change_set_string(w, "column_attributes/attributes/unit", "s", err));
    OK(cip_change_commit(&w, err));
    OK(cip_convert("t.bcolz", "o.asdf", of_a, err));
    OK(cip_open("o.asdf", NULL, &f, err));
    assert_string_equal(
        cip_node_text(cip_tree_get(cip_file_tree(f), "attributes/unit", NULL), NULL), "m");
    cip_file_close(f);
    OK(cip_convert("t.bcolz", "o.asdf", own, err));
    OK(cip_open("o.asdf", NULL, &f, err));
    assert_string_equal(
        cip_node_text(cip_tree_get(cip_file_tree(f), "_attributes/unit", NULL), NULL), "s");
    assert_non_null(cip_find(f, "attributes", NULL));
    cip_file_close(f);
    FAILS(CIP_ERR_UNSUPPORTED, "the metadata tree is lost",
          cip_convert("t.bcolz", "o.npy", of_a, err));
    OK(cip_convert("t.bcolz", "o.npy", of_b, err));

    /* attributes that cannot be read are a loss of their own column */
    FILE *io = fopen("t.bcolz/a/__attrs__", "wb");
    assert_non_null(io);
    fputs("{\"unit\":", io);
    assert_int_equal(fclose(io), 0);
    FAILS(CIP_ERR_UNSUPPORTED, "the attributes are left out",
          cip_convert("t.bcolz", "o.npy", of_a, err));
    OK(cip_convert("t.bcolz", "o.npy", of_b, err));
    FAILS(CIP_ERR_UNSUPPORTED, "the attributes are left out",
          cip_convert("t.bcolz", "o.asdf", CIP_CONVERT_OPTIONS(.overwrite = true), err));
    OK(cip_open("t.bcolz", NULL, &f, err));
    OK(cip_create("o.npy", CIP_CHANGE_OPTIONS(.overwrite = true), &w, err));
    OK(cip_change_put_array(w, "", cip_find(f, "a", err), NULL, NULL, err)); /* of elements alone */
    OK(cip_change_commit(&w, err));
    cip_file_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        TEST(a_file_is_converted_and_read_back),
        TEST(an_output_that_exists_is_replaced_only_when_asked),
        TEST(a_link_is_followed_not_replaced),
        TEST(only_a_regular_file_is_replaced),
        TEST(a_cancelled_conversion_leaves_nothing),
        TEST(losses_are_told_and_refused),
        TEST(wishes_that_make_no_sense_are_refused),
        TEST(byte_order_and_codec_are_as_wished),
        TEST(a_large_array_is_streamed),
        TEST(elements_in_memory_are_not_copied),
        TEST(integers_of_words_are_numbers_in_other_formats),
        TEST(a_column_brings_its_own_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
