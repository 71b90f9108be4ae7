/* SPDX-License-Identifier: BSD-3-Clause
 * New files that are read and changed before their commit: they become what the same changes make
 * of the file that the commit would have left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>

#include "support/core/writing/edit_testing.h"
#include "support/needs.h"
#include "support/test_store.h"
#include "support/own_folder.h"

static const int16_t twelve[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
static const int64_t four[] = { 4, 3 }, five[] = { 5, 3 };
static const int16_t after[] = { 1, 2, 3, 0, 20, 6, 7, 8, 9, 10, 11, 12, 3, 2, 1, 0, 0, 0 };

typedef struct kind {
    const char *file, *format, *path;
    bool tree;
} kind;

static const kind kinds[] = {
    { "x.asdf", "asdf", "a/x", true },   { "x.b2nd", "blosc2", "", false },
    { "x.blp", "bloscpack", "", false }, { "x.ra", "rawarray", "", false },
    { "x.npy", "npy", "", false },
};
enum { NKIND = sizeof kinds / sizeof kinds[0] };

static void put(cip_change *c, const kind *k)
{
    OK(cip_change_put(c, k->path, cip_dtype_of(CIP_I16), 2, four, twelve, NULL, err));
    if (k->tree) {
        OK(cip_change_set_int(c, "n", 3, err));
        OK(cip_change_put(c, "gone", cip_dtype_of(CIP_I16), 2, four, twelve, NULL, err));
    }
}

static void expect(cip_change *c, const kind *k, const int16_t *want, int64_t rows)
{
    const cip_array *a;
    int16_t now[18];
    OK(cip_change_array(c, k->path, &a, err));
    assert_int_equal(cip_array_shape(a)[0], rows);
    OK(cip_read(a, NULL, cip_dtype_of(CIP_I16), now, (size_t)rows * 6, err));
    assert_memory_equal(now, want, (size_t)rows * 6);
}

/* The same of a new file and of one that is there. */
static void change(cip_change *c, const kind *k)
{
    static const int16_t last[] = { 3, 2, 1 };
    const cip_node *root;
    expect(c, k, twelve, 4);
    OK(cip_change_write(c, k->path, "[1, 0]", cip_dtype_of(CIP_I64), &(int64_t){ 0 }, 8, err));
    OK(cip_change_write(c, k->path, "[1, 1]", cip_dtype_of(CIP_I16), &(int16_t){ 20 }, 2, err));
    OK(cip_change_append(c, k->path, cip_dtype_of(CIP_I16), last, sizeof last, err));
    expect(c, k, after, 5);
    OK(cip_change_resize(c, k->path, 2, (int64_t[]){ 6, 3 }, err));
    expect(c, k, after, 6);
    FAILS(CIP_ERR_RANGE, "",
          cip_change_write(c, k->path, "[9]", cip_dtype_of(CIP_I16), last, 6, err));
    OK(cip_change_forget_failure(c, err));
    if (!k->tree)
        return;
    OK(cip_change_tree(c, &root, err));
    assert_non_null(cip_tree_get(root, "n", NULL));
    OK(cip_change_remove(c, "gone", err));
    OK(cip_change_move(c, "n", "meta/n", false, err));
    OK(cip_change_put(c, "b/y", cip_dtype_of(CIP_I16), 2, five, after, NULL, err));
    OK(cip_change_append(c, "b/y", cip_dtype_of(CIP_I16), after + 15, 6, err));
    const cip_file *f = cip_change_file(c, NULL);
    assert_non_null(f);
    assert_int_equal(cip_file_narray(f), 2);
}

static char *two_commits(const kind *k, size_t *n)
{
    const char *path = scratch_path(&s, k->file);
    cip_change *c;
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &c, err));
    put(c, k);
    OK(cip_change_commit(&c, err));
    OK(cip_change_open(path, NULL, &c, err));
    change(c, k);
    OK(cip_change_commit(&c, err));
    return edit_bytes(path, n);
}

static void a_path(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (size_t i = 0; i < NKIND; i++) {
        size_t n, m;
        char *want = two_commits(&kinds[i], &n);
        const char *path = scratch_path(&s, kinds[i].file);
        cip_change *c;
        cip_file *old;
        OK(cip_open(path, NULL, &old, err));
        OK(cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &c, err));
        put(c, &kinds[i]);
        change(c, &kinds[i]);
        char *before = edit_bytes(path, &m);
        assert_int_equal(n, m);
        assert_memory_equal(want, before, n); /* nothing is there before the commit */
        OK(cip_change_commit(&c, err));
        assert_null(c);
        edit_verify(path);
        edit_expect(path, kinds[i].path, "1 2 3\n0 20 6\n7 8 9\n10 11 12\n3 2 1\n0 0 0\n");
        char *now = edit_bytes(path, &m);
        assert_int_equal(n, m);
        assert_memory_equal(want, now, n);
        cip_file_close(old);

        OK(cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &c, err));
        put(c, &kinds[i]);
        change(c, &kinds[i]);
        cip_change_abort(&c);
        char *still = edit_bytes(path, &m);
        assert_int_equal(n, m);
        assert_memory_equal(want, still, n);
        free(still);
        free(want);
        free(before);
        free(now);
    }
}

static void memory(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (size_t i = 0; i < NKIND; i++) {
        size_t n, m;
        char *want = two_commits(&kinds[i], &n);
        cip_memory *memory;
        cip_change *c;
        OK(cip_create_memory(kinds[i].file, NULL, &memory, &c, err));
        put(c, &kinds[i]);
        change(c, &kinds[i]);
        assert_null(cip_memory_bytes(memory, NULL));
        OK(cip_change_commit(&c, err));
        const void *now = cip_memory_bytes(memory, &m);
        assert_int_equal(n, m);
        assert_memory_equal(want, now, n);
        cip_memory_free(memory);
        free(want);
    }
}

static cip_status same_tree(const char *one, const char *other)
{
    char line[1200];
    snprintf(line, sizeof line, "diff -r '%s' '%s'", one, other);
    return system(line) == 0 ? CIP_OK : CIP_ERR_CORRUPT;
}

/* Folders as well. */
static void a_folder(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const char *const formats[] = { "bcolz", "blz", "blosc2", "blz-dir" };
    for (size_t i = 0; i < 4; i++) {
        char two[64], one[64];
        kind k = { NULL, formats[i], "x", false };
        snprintf(two, sizeof two, "two%zu", i);
        snprintf(one, sizeof one, "one%zu", i);
        const cip_change_options o = {
            .size = sizeof o,
            .format = formats[i],
            .format_options = i == 2 ? (const char *const[]){ "sparse=yes", NULL } : NULL
        };
        char path[600];
        cip_change *c;
        cip_file *f;
        int16_t now[18];
        snprintf(path, sizeof path, "%s", scratch_path(&s, two));
        OK(cip_create(path, &o, &c, err));
        put(c, &k);
        OK(cip_change_commit(&c, err));
        OK(cip_change_open(path, NULL, &c, err));
        k.path = "";
        change(c, &k);
        OK(cip_change_commit(&c, err));

        OK(cip_create(scratch_path(&s, one), &o, &c, err));
        k.path = "x";
        put(c, &k);
        k.path = "";
        change(c, &k);
        assert_int_equal(access(scratch_path(&s, one), F_OK), -1);
        OK(cip_change_commit(&c, err));
        OK(cip_open(scratch_path(&s, one), NULL, &f, err));
        OK(cip_read(cip_file_array(f, 0), NULL, cip_dtype_of(CIP_I16), now, sizeof now, err));
        assert_memory_equal(now, after, sizeof now);
        cip_file_close(f);
        edit_verify(scratch_path(&s, one));
        assert_int_equal(same_tree(path, scratch_path(&s, one)), CIP_OK);

        cip_change_options again = o;
        again.overwrite = true;
        OK(cip_create(scratch_path(&s, one), &again, &c, err));
        k.path = "x";
        put(c, &k);
        k.path = "";
        change(c, &k);
        cip_change_abort(&c);
        assert_int_equal(same_tree(path, scratch_path(&s, one)), CIP_OK);
    }
}

static void put_table(cip_change *c)
{
    static const int64_t twelve_rows[] = { 12 };
    for (size_t i = 0; i < 2; i++)
        OK(cip_change_put(c, CIP_TEXTS("stays", "goes")[i], cip_dtype_of(CIP_I16), 1, twelve_rows,
                          twelve, NULL, err));
}

/* ... and the folders in them that nothing is left in are gone. */
static void a_column_that_goes(void **state)
{
    (void)state;
    NEEDS_CODECS();
    char two[600];
    const char *one;
    cip_change *c;
    snprintf(two, sizeof two, "%s", scratch_path(&s, "columns2"));
    OK(cip_create(two, CIP_CHANGE_OPTIONS(.format = "bcolz"), &c, err));
    put_table(c);
    OK(cip_change_commit(&c, err));
    OK(cip_change_open(two, NULL, &c, err));
    OK(cip_change_remove(c, "goes", err));
    OK(cip_change_commit(&c, err));

    one = scratch_path(&s, "columns1");
    OK(cip_create(one, CIP_CHANGE_OPTIONS(.format = "bcolz"), &c, err));
    put_table(c);
    OK(cip_change_remove(c, "goes", err));
    OK(cip_change_commit(&c, err));
    assert_int_equal(same_tree(two, one), CIP_OK);
}

/* Folders in memory are changed as files are. */
static void a_table_in_memory(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const char *const formats[] = { "bcolz", "blz" };
    for (size_t i = 0; i < 2; i++) {
        kind k = { NULL, formats[i], "x", false };
        cip_memory *memory;
        cip_change *c;
        cip_file *f;
        int16_t now[18];
        OK(cip_create_memory(k.format, NULL, &memory, &c, err));
        put(c, &k);
        k.path = ""; /* one array alone has no name */
        change(c, &k);
        OK(cip_change_commit(&c, err));
        OK(cip_memory_open(memory, NULL, &f, err));
        OK(cip_read(cip_file_array(f, 0), NULL, cip_dtype_of(CIP_I16), now, sizeof now, err));
        assert_memory_equal(now, after, sizeof now);
        cip_file_close(f);
        cip_memory_free(memory);
    }
}

static void behind_another_file(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (size_t i = 0; i < NKIND; i++) {
        size_t n, m;
        uint64_t at = 0;
        char *want = two_commits(&kinds[i], &n);
        const char *path = scratch_path(&s, "other");
        FILE *f = fopen(path, "wb");
        cip_change *c;
        assert_non_null(f);
        assert_int_equal(fputs("somebody else", f) >= 0, 1);
        assert_int_equal(fclose(f), 0);
        OK(cip_create(path, CIP_CHANGE_OPTIONS(.format = kinds[i].format, .at_end = &at), &c, err));
        put(c, &kinds[i]);
        change(c, &kinds[i]);
        OK(cip_change_commit(&c, err));
        char *now = edit_bytes(path, &m);
        assert_int_equal(at, 13);
        assert_int_equal(m, 13 + n);
        assert_memory_equal(now + 13, want, n);
        free(now);
        free(want);
    }
}

static void a_store_of_the_caller(void **state)
{
    (void)state;
    NEEDS_CODECS();
    cip_io_write_methods writes = TEST_STORE_WRITES;
    for (size_t i = 0; i < NKIND; i++) {
        size_t n;
        writes.name = kinds[i].file;
        char *want = two_commits(&kinds[i], &n);
        test_store store = { .fail_at = 0 };
        test_file *f = test_store_file(&store, kinds[i].file);
        cip_change *c;
        OK(cip_create_io(&writes, f, NULL, &c, err));
        put(c, &kinds[i]);
        if (strcmp(kinds[i].format, "rawarray") != 0 && strcmp(kinds[i].format, "npy") != 0) {
            /* what waits for the commit */
            change(c, &kinds[i]);
            assert_int_equal(f->n, 0);
            OK(cip_change_commit(&c, err));
            assert_int_equal(f->n, n);
            assert_memory_equal(f->bytes, want, n);
        }
        cip_change_abort(&c);
        test_store_clear(&store);
        free(want);
    }
}

/* What the file was begun with holds for arrays that come afterwards, too. */
static void what_comes_later_is_as_the_first(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const int64_t many[] = { 3000 };
    static const int16_t zeros[3000];
    static const char *const paths[] = { "first", "later" };
    const char *path = scratch_path(&s, "as.asdf");
    cip_array_storage how = { .size = sizeof how };
    char codec[8] = "zlib:9";
    cip_change *c;
    cip_file *f;
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.codec = codec, .byteorder = "big"), &c, err));
    memset(codec, 'x', sizeof codec - 1); /* the caller's again */
    OK(cip_change_put(c, "first", cip_dtype_of(CIP_I16), 1, many, zeros, NULL, err));
    assert_non_null(cip_change_file(c, NULL));
    OK(cip_change_put(c, "later", cip_dtype_of(CIP_I16), 1, many, zeros, NULL, err));
    OK(cip_change_write(c, "first", "[1]", cip_dtype_of(CIP_I16), twelve, 2, err));
    OK(cip_change_commit(&c, err));
    OK(cip_open(path, NULL, &f, err));
    for (int i = 0; i < 2; i++) {
        const cip_array *a = cip_find(f, paths[i], NULL);
        OK(cip_array_get_storage(a, &how, err));
        assert_string_equal(how.codec, "zlib");
        assert_true(cip_dtype_is_big(cip_array_dtype(a)));
    }
    cip_file_close(f);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    NEEDS_CODECS();
    const kind one = { "r.b2nd", "b2nd", "", false };
    const cip_array *a;
    const cip_node *root;
    cip_change *c;
    cip_slab *slab;
    OK(cip_create(scratch_path(&s, "r.b2nd"), NULL, &c, err));
    FAILS(CIP_ERR_NOT_FOUND, "no array has been added yet", cip_change_array(c, "", &a, err));
    put(c, &one); /* a look spoils nothing */
    expect(c, &one, twelve, 4);
    cip_change_abort(&c);
    OK(cip_create(scratch_path(&s, "r.bcolz"), CIP_CHANGE_OPTIONS(.format = "bcolz"), &c, err));
    FAILS(CIP_ERR_NOT_FOUND, "no array has been added yet", cip_change_tree(c, &root, err));
    put_table(c);
    OK(cip_change_remove(c, "goes", err));
    OK(cip_change_commit(&c, err));
    OK(cip_create(scratch_path(&s, "r.b2nd"), NULL, &c, err));
    put(c, &one);
    expect(c, &one, twelve, 4);
    FAILS(CIP_ERR_UNSUPPORTED, "found one of a new file", cip_change_plan(c, NULL, NULL, err));
    FAILS(CIP_ERR_UNSUPPORTED, "adding arrays",
          cip_change_put(c, "", cip_dtype_of(CIP_I16), 2, four, twelve, NULL, err));
    FAILS(CIP_ERR_UNSUPPORTED, "adding arrays", cip_change_commit(&c, err));
    assert_null(c);

    OK(cip_create(scratch_path(&s, "r.asdf"), NULL, &c, err));
    OK(cip_change_tree(c, &root, err)); /* of nothing */
    OK(cip_change_declare(c, "s", cip_dtype_of(CIP_I16), 2, four, NULL, &slab, err));
    OK(cip_slab_write(slab, CIP_BOX({ 0, 0 }, { 4, 3 }), twelve, sizeof twelve, err));
    OK(cip_change_commit(&c, err));
    edit_expect(scratch_path(&s, "r.asdf"), "s", "1 2 3\n4 5 6\n7 8 9\n10 11 12\n");

    OK(cip_create(scratch_path(&s, "s.asdf"), NULL, &c, err));
    OK(cip_change_declare(c, "s", cip_dtype_of(CIP_I16), 2, four,
                          CIP_ARRAY_OPTIONS(.storage = "external"), &slab, err));
    FAILS(CIP_ERR_UNSUPPORTED, "'s' is being filled by boxes", cip_change_array(c, "s", &a, err));
    OK(cip_slab_write(slab, CIP_BOX({ 0, 0 }, { 4, 3 }), twelve, sizeof twelve, err));
    FAILS(CIP_ERR_UNSUPPORTED, "'s' is being filled by boxes", cip_change_remove(c, "s", err));
    FAILS(CIP_ERR_UNSUPPORTED, "'s' is being filled by boxes", cip_change_commit(&c, err));
}

/* A format that is never changed: what is refused leaves the new file as it was. */
static void a_file_that_takes_new_arrays_only_still_takes_them(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "only.h5");
    const cip_array *a;
    cip_change *c;
    OK(cip_create(path, NULL, &c, err));
    OK(cip_change_put(c, "a", cip_dtype_of(CIP_I16), 2, four, twelve, NULL, err));
    FAILS(CIP_ERR_UNSUPPORTED, "HDF5 cannot be changed in place",
          cip_change_array(c, "a", &a, err));
    FAILS(CIP_ERR_UNSUPPORTED, "HDF5 cannot be changed in place", cip_change_remove(c, "a", err));
    OK(cip_change_forget_failure(c, err));
    OK(cip_change_put(c, "b", cip_dtype_of(CIP_I16), 2, four, twelve, NULL, err));
    OK(cip_change_commit(&c, err));
    edit_expect(path, "b", "1 2 3\n4 5 6\n7 8 9\n10 11 12\n");
    edit_verify(path);
}

/* What was asked for when it was new goes for what is looked at, too. */
static void a_new_file_with_checksums_is_looked_at(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "sums.fits");
    const kind k = { .path = "a/data" };
    cip_change *c;
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.checksum = "datasum"), &c, err));
    OK(cip_change_put(c, "a", cip_dtype_of(CIP_I16), 2, four, twelve, NULL, err));
    expect(c, &k, twelve, 4);
    OK(cip_change_append(c, k.path, cip_dtype_of(CIP_I16), twelve, 6, err));
    OK(cip_change_commit(&c, err));
    edit_expect(path, NULL, "1 2 3\n4 5 6\n7 8 9\n10 11 12\n1 2 3\n");
    edit_verify(path);
}

static void move_away(const char *from, char to[512])
{
    snprintf(to, 512, "%.500s-moved", from);
    assert_int_equal(rename(from, to), 0);
}

/* It is known by its descriptor, not by a path. */
static void a_new_folder_is_looked_at_wherever_its_parent_is(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *parent = scratch_path(&s, i == 0 ? "p0" : "p1");
        char path[600], moved[512];
        const cip_array *a;
        int16_t now[12];
        cip_change *c;
        assert_int_equal(mkdir(parent, 0700), 0);
        snprintf(path, sizeof path, "%s/x.blz", parent);
        OK(cip_create(path, CIP_CHANGE_OPTIONS(.threads = 1), &c, err));
        OK(cip_change_put(c, "a", cip_dtype_of(CIP_I16), 2, four, twelve, NULL, err));
        move_away(parent, moved);
        if (i == 1)
            assert_int_equal(mkdir(parent, 0700), 0); /* another one has its name */
        OK(cip_change_array(c, "", &a, err));
        OK(cip_read(a, NULL, cip_dtype_of(CIP_I16), now, sizeof now, err));
        assert_memory_equal(now, twelve, sizeof now);
        OK(cip_change_append(c, "", cip_dtype_of(CIP_I16), twelve, 6, err));
        OK(cip_change_commit(&c, err));
        snprintf(path, sizeof path, "%s/x.blz", moved);
        edit_expect(path, NULL, "1 2 3\n4 5 6\n7 8 9\n10 11 12\n1 2 3\n");
        edit_verify(path);
    }
}

/* What lies beside a new file has no name either before the commit. */
static void data_beside_a_new_file_are_read_before_the_commit(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "e.asdf");
    cip_change *c;
    kind k = { .path = "x" };
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.threads = 1), &c, err));
    for (int i = 0; i < 3; i++)
        OK(cip_change_put(c,
                          i == 0   ? "x"
                          : i == 1 ? "y"
                                   : "z",
                          cip_dtype_of(CIP_I16), 2, four, twelve,
                          CIP_ARRAY_OPTIONS(.storage = i < 2 ? "external" : NULL), err));
    expect(c, &k, twelve, 4);
    OK(cip_change_set_int(c, "n", 3, err));
    OK(cip_change_append(c, "z", cip_dtype_of(CIP_I16), twelve, 6, err));
    FAILS(CIP_ERR_UNSUPPORTED, "another file",
          cip_change_append(c, "y", cip_dtype_of(CIP_I16), twelve, 6, err));
    OK(cip_change_forget_failure(c, err));
    OK(cip_change_move(c, "x", "m/x", false, err));
    k.path = "m/x";
    expect(c, &k, twelve, 4);
    k.path = "y";
    expect(c, &k, twelve, 4);
    OK(cip_change_commit(&c, err));
    edit_expect(path, "m/x", "1 2 3\n4 5 6\n7 8 9\n10 11 12\n");
    edit_expect(path, "y", "1 2 3\n4 5 6\n7 8 9\n10 11 12\n");
    edit_expect(path, "z", "1 2 3\n4 5 6\n7 8 9\n10 11 12\n1 2 3\n");
    edit_verify(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path),
        cmocka_unit_test(memory),
        cmocka_unit_test(a_folder),
        cmocka_unit_test(a_column_that_goes),
        cmocka_unit_test(a_table_in_memory),
        cmocka_unit_test(behind_another_file),
        cmocka_unit_test(a_store_of_the_caller),
        cmocka_unit_test(what_comes_later_is_as_the_first),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_file_that_takes_new_arrays_only_still_takes_them),
        cmocka_unit_test(a_new_file_with_checksums_is_looked_at),
        cmocka_unit_test(a_new_folder_is_looked_at_wherever_its_parent_is),
        cmocka_unit_test(data_beside_a_new_file_are_read_before_the_commit),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
