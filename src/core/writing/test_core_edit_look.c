/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays and the tree as an update has made them so far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/needs.h"
#include "support/own_folder.h"

static cip_change *begin(const char *path)
{
    cip_change *e = NULL;
    OK(cip_change_open(path, NULL, &e, err));
    return e;
}

static const cip_node *at(cip_change *e, const char *path)
{
    const cip_node *root = NULL;
    OK(cip_change_tree(e, &root, err));
    return cip_tree_get(root, path, NULL);
}

static void the_tree_is_as_the_changes_have_it(void **state)
{
    (void)state;
    int64_t i = 0;
    cip_change *e = begin(edit_file(&s, "a.asdf", false));
    assert_non_null(at(e, "meta/name"));
    OK(cip_change_set_int(e, "meta/n", 7, err));
    OK(cip_tree_get_int(at(e, ""), "meta/n", &i, err));
    assert_int_equal(i, 7);
    OK(cip_change_remove(e, "meta/name", err));
    assert_null(at(e, "meta/name"));
    OK(cip_change_move(e, "image", "deep/image", false, err));
    assert_null(at(e, "image"));
    assert_non_null(at(e, "deep/image"));
    cip_change_abort(&e);

    static const int64_t three[] = { 3 };
    const int16_t h[] = { 1, 2, 3 };
    const char *path = scratch_path(&s, "a.b2nd");
    cip_change *w;
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_put(w, "", cip_dtype_of(CIP_I16), 1, three, h, NULL, err));
    OK(cip_change_commit(&w, err));
    e = begin(path);
    assert_null(at(e, "vlmeta/k"));
    OK(cip_change_set_string(e, "vlmeta/k", "v", err));
    assert_non_null(at(e, "vlmeta/k"));
    OK(cip_change_remove(e, "vlmeta/k", err));
    assert_null(at(e, "vlmeta/k"));
    assert_null(at(e, "vlmeta"));
    cip_change_abort(&e);
}

static void arrays_are_as_the_changes_have_them(void **state)
{
    (void)state;
    static const int64_t five[] = { 5 }, three[] = { 3 };
    const int16_t h[] = { 1, 2, 3, 4 };
    int16_t now[6] = { 0 };
    const char *path = scratch_path(&s, "b.b2nd");
    const cip_array *a, *again;
    cip_change *w;
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_put(w, "", cip_dtype_of(CIP_I16), 1, three, h, NULL, err));
    OK(cip_change_commit(&w, err));
    cip_change *e = begin(path);
    OK(cip_change_array(e, "", &a, err));
    assert_int_equal(cip_array_shape(a)[0], 3);
    OK(cip_change_resize(e, "", 1, five, err));
    OK(cip_change_append(e, "", cip_dtype_as_stored(), h + 3, sizeof *h, err));
    OK(cip_change_array(e, "", &again, err));
    assert_ptr_equal(a, again);
    assert_int_equal(cip_array_shape(a)[0], 6);
    OK(cip_read_into(a, CIP_READ_ARGS(.dst = now, .dst_nbytes = sizeof now), err));
    assert_true(now[2] == 3 && now[3] == 0 && now[5] == 4);
    cip_change_abort(&e);
}

static void an_array_that_came_is_read(void **state)
{
    (void)state;
    static const int64_t three[] = { 3 };
    const int16_t h[] = { 7, 8, 9 };
    int16_t now[3] = { 0 };
    const cip_array *a;
    const char *path = edit_file(&s, "c.asdf", false);
    cip_change *e = begin(path);
    OK(cip_change_put(e, "deep/new", cip_dtype_of(CIP_I16), 1, three, h, NULL, err));
    OK(cip_change_array(e, "/\"deep\"/new", &a, err));
    OK(cip_read_into(a, CIP_READ_ARGS(.dst = now, .dst_nbytes = sizeof now), err));
    assert_memory_equal(now, h, sizeof h);
    OK(cip_change_remove(e, "deep", err));
    FAILS(CIP_ERR_NOT_FOUND, "", cip_change_array(e, "deep/new", &a, err));
    OK(cip_change_commit(&e, err));
}

/* Two int16, in each of two elements. */
static cip_dtype *pair(void)
{
    cip_dtype *d = cip_dtype_parse("[('p', '<i2'), ('q', '<i2')]", NULL);
    assert_non_null(d);
    return d;
}

static void expect_field(cip_change *c, const char *path, const char *field, const int16_t *want)
{
    const cip_array *a;
    const char *rest;
    int16_t now[4] = { 0 };
    OK(cip_change_field(c, path, &a, &rest, err));
    assert_string_equal(rest, field);
    const size_t n = *field != '\0' ? 2 : 4;
    OK(cip_read_into(a, CIP_READ_ARGS(.field = rest, .dst = now, .dst_nbytes = n * sizeof *now),
                     err));
    assert_memory_equal(now, want, n * sizeof *now);
}

/* In records of the file, of the update, and in those that it moved. */
static void paths_lead_into_records(void **state)
{
    (void)state;
    static const int64_t two[] = { 2 };
    static const int16_t of_file[] = { 1, 2, 3, 4 }, came[] = { 5, 6, 7, 8 };
    cip_dtype *d = pair();
    const char *path = scratch_path(&s, "records.asdf"), *rest;
    const cip_array *a;
    cip_change *e;
    OK(cip_create(path, NULL, &e, err));
    OK(cip_change_put(e, "r", d, 1, two, of_file, NULL, err));
    assert_null(cip_change_base(e));
    expect_field(e, "r/q", "q", (int16_t[]){ 2, 4 }); /* of a draft */
    assert_int_equal(cip_file_narray(cip_change_base(e)), 1);
    OK(cip_change_commit(&e, err));
    e = begin(path);
    assert_int_equal(cip_file_narray(cip_change_base(e)), 1);
    expect_field(e, "r", "", of_file);
    expect_field(e, "r/p", "p", (int16_t[]){ 1, 3 });
    FAILS(CIP_ERR_ARG, "is a field of an array", cip_change_array(e, "r/p", &a, err));
    OK(cip_change_put(e, "in/s", d, 1, two, came, NULL, err));
    expect_field(e, "in/s", "", came);
    expect_field(e, "/in/s/q", "q", (int16_t[]){ 6, 8 });
    OK(cip_change_write(e, "in/s/q", "[0]", cip_dtype_of(CIP_I16), &(int16_t){ 9 }, 2, err));
    expect_field(e, "in/s/q", "q", (int16_t[]){ 9, 8 });
    OK(cip_change_move(e, "r", "t", false, err));
    expect_field(e, "t/q", "q", (int16_t[]){ 2, 4 });
    FAILS(CIP_ERR_UNSUPPORTED, "moved", cip_change_field(e, "r/q", &a, &rest, err));
    FAILS(CIP_ERR_NOT_FOUND, "", cip_change_field(e, "nope/q", &a, &rest, err));
    OK(cip_change_remove(e, "in/s", err));
    FAILS(CIP_ERR_NOT_FOUND, "", cip_change_field(e, "in/s/q", &a, &rest, err));
    assert_int_equal(cip_file_narray(cip_change_base(e)), 1);
    OK(cip_change_commit(&e, err));
    cip_dtype_free(d);
}

/* What is found by a path in the file as it was is not taken for what the update put there. */
static void what_went_is_not_found(void **state)
{
    (void)state;
    static const int64_t three[] = { 3 };
    const int16_t h[] = { 7, 8, 9 };
    const float f[24] = { 0 };
    int16_t now[12];
    float moved[24];
    const cip_array *a;
    cip_change *e = begin(edit_file(&s, "d.asdf", false));
    OK(cip_change_remove(e, "packed", err));
    FAILS(CIP_ERR_NOT_FOUND, "was removed", cip_change_array(e, "packed", &a, err));
    FAILS(CIP_ERR_NOT_FOUND, "was removed",
          read_now(e, "packed", CIP_READ_ARGS(.dst = now, .dst_nbytes = sizeof now), err));
    OK(cip_change_put(e, "packed", cip_dtype_of(CIP_I16), 1, three, h, NULL, err));
    OK(cip_change_array(e, "packed", &a, err));
    assert_int_equal(cip_array_shape(a)[0], 3);
    OK(cip_change_set_int(e, "image", 1, err));
    FAILS(CIP_ERR_NOT_FOUND, "", cip_change_array(e, "image", &a, err));
    OK(cip_change_array(e, "few", &a, err));
    OK(cip_change_commit(&e, err));

    e = begin(edit_file(&s, "e.asdf", false));
    OK(cip_change_move(e, "packed", "other", false, err));
    FAILS(CIP_ERR_UNSUPPORTED, "moved", cip_change_array(e, "packed", &a, err));
    OK(cip_change_move(e, "image", "packed", false, err));
    OK(read_now(e, "packed", CIP_READ_ARGS(.dst = moved, .dst_nbytes = sizeof moved), err));
    assert_true(moved[23] == 23);
    OK(cip_change_array(e, "few", &a, err));
    cip_change_abort(&e);

    e = begin(edit_file(&s, "f.asdf", false));
    OK(cip_change_remove(e, "image", err));
    OK(cip_change_put(e, "image", cip_dtype_of(CIP_F32), 1, (int64_t[]){ 24 }, f, NULL, err));
    OK(cip_change_write(e, "image", "[0]", cip_dtype_as_stored(), &(float){ 5 }, 4, err));
    OK(read_now(e, "image", CIP_READ_ARGS(.dst = moved, .dst_nbytes = sizeof moved), err));
    assert_true(moved[0] == 5 && moved[1] == 0);
    cip_slab *slab;
    OK(cip_change_declare(e, "boxes", cip_dtype_of(CIP_I16), 1, three, NULL, &slab, err));
    FAILS(CIP_ERR_UNSUPPORTED, "was added in this update",
          cip_change_write(e, "boxes", "[0]", cip_dtype_as_stored(), f, 2, err));
    FAILS(CIP_ERR_UNSUPPORTED, "was added in this update", cip_change_commit(&e, err));
}

/* By an alias of it, which goes alone. */
static void an_array_is_found_by_each_of_its_names(void **state)
{
    (void)state;
    static const int64_t two[] = { 2 };
    int16_t h[] = { 1, 2 };
    const char *path = scratch_path(&s, "alias.asdf"), *text;
    const cip_array *a;
    size_t n;
    cip_change *e;
    OK(cip_create(path, NULL, &e, err));
    OK(cip_change_put(e, "x", cip_dtype_of(CIP_I16), 1, two, h, NULL, err));
    OK(cip_change_commit(&e, err));
    e = begin(path);
    OK(cip_change_text(e, &text, &n, err));
    const char *at = memmem(text, n, "\nx: ", 4), *end = memmem(text, n, "\n...", 4);
    assert_non_null(at);
    assert_non_null(end);
    char other[4096];
    const int len = snprintf(other, sizeof other, "%.*s\nx: &x %.*s\ny: *x%.*s", (int)(at - text),
                             text, (int)(end - at - 4), at + 4, (int)(text + n - end), end);
    OK(cip_change_set_text(e, other, (size_t)len, err));
    OK(cip_change_commit(&e, err));
    e = begin(path);
    OK(cip_change_write(e, "y", "[0]", cip_dtype_of(CIP_I16), &(int16_t){ 7 }, 2, err));
    OK(cip_change_remove(e, "y", err));
    FAILS(CIP_ERR_NOT_FOUND, "was removed", cip_change_array(e, "y", &a, err));
    OK(cip_change_array(e, "x", &a, err));
    OK(cip_change_commit(&e, err));
    edit_expect(path, "x", "7 2\n");
}

static int first(cip_change *e, const char *path)
{
    const cip_array *a;
    int16_t x[64] = { 0 };
    OK(cip_change_array(e, path, &a, err));
    OK(cip_read_into(
        a, CIP_READ_ARGS(.dst = x, .dst_nbytes = CIP_UNCHECKED, .dtype = cip_dtype_of(CIP_I16)),
        err));
    return x[0];
}

/* Through all moves, with what else came to the paths that it had meanwhile. */
static void what_was_moved_is_read(void **state)
{
    (void)state;
    static const int64_t three[] = { 3 };
    const cip_array *a;
    int16_t h[] = { 1, 2, 3 };
    const char *path = scratch_path(&s, "m.asdf");
    cip_change *w;
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_put(w, "g/a", cip_dtype_of(CIP_I16), 1, three, h, NULL, err));
    h[0] = 11;
    OK(cip_change_put(w, "b", cip_dtype_of(CIP_I16), 1, three, h, NULL, err));
    OK(cip_change_put(w, "l/0", cip_dtype_of(CIP_I16), 1, three, h, NULL, err));
    OK(cip_change_put(w, "l/1", cip_dtype_of(CIP_I16), 1, three, h, NULL, err));
    OK(cip_change_commit(&w, err));

    cip_change *e = begin(path);
    OK(cip_change_move(e, "b", "g/b", false, err));
    assert_int_equal(first(e, "g/b"), 11);
    OK(cip_change_move(e, "g", "deep/er", false, err));
    assert_int_equal(first(e, "deep/er/a"), 1);
    assert_int_equal(first(e, "deep/er/b"), 11);
    h[0] = 31;
    OK(cip_change_put(e, "g", cip_dtype_of(CIP_I16), 1, three, h, NULL, err));
    OK(cip_change_move(e, "g", "b", false, err));
    h[0] = 41;
    OK(cip_change_put(e, "g", cip_dtype_of(CIP_I16), 1, three, h, NULL, err));
    assert_int_equal(first(e, "b"), 31);
    assert_int_equal(first(e, "g"), 41);
    OK(cip_change_move(e, "deep/er/a", "g", true, err));
    assert_int_equal(first(e, "g"), 1);
    OK(cip_change_remove(e, "deep/er/b", err));
    FAILS(CIP_ERR_NOT_FOUND, "", cip_change_array(e, "deep/er/b", &a, err));
    OK(cip_change_set_int(e, "g", 5, err));
    FAILS(CIP_ERR_TYPE, "", cip_change_array(e, "g", &a, err));
    OK(cip_change_move(e, "l/1", "q", false, err));
    assert_int_equal(first(e, "q"), 11);
    FAILS(CIP_ERR_UNSUPPORTED, "moved", cip_change_array(e, "l/0", &a, err));
    OK(cip_change_move(e, "l/0", "r", false, err));
    FAILS(CIP_ERR_UNSUPPORTED, "moved", cip_change_array(e, "r", &a, err));
    OK(cip_change_commit(&e, err));
    edit_expect(path, "b", "31 2 3\n");
    edit_verify(path);
}

/* By the path that it has now, and so are arrays beside it. */
static void what_was_changed_and_moved_is_read(void **state)
{
    (void)state;
    const cip_array *a;
    const int16_t seven = 7, nine = 9;
    const float eight = 8;
    const char *path = edit_file(&s, "n.asdf", false);
    cip_change *e = begin(path);
    OK(cip_change_write(e, "packed", "[0, 0]", cip_dtype_as_stored(), &seven, sizeof seven, err));
    OK(cip_change_write(e, "image", "[0, 0]", cip_dtype_as_stored(), &eight, sizeof eight, err));
    OK(cip_change_move(e, "packed", "deep/p", false, err));
    assert_int_equal(first(e, "deep/p"), 7);
    assert_int_equal(first(e, "image"), 8);
    OK(cip_change_move(e, "deep", "deeper", false, err));
    OK(cip_change_move(e, "image", "packed", false, err));
    assert_int_equal(first(e, "deeper/p"), 7);
    assert_int_equal(first(e, "packed"), 8);
    FAILS(CIP_ERR_UNSUPPORTED, "moved", cip_change_array(e, "image", &a, err));
    OK(cip_change_remove(e, "packed", err));
    FAILS(CIP_ERR_NOT_FOUND, "", cip_change_array(e, "packed", &a, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);

    path = edit_file(&s, "o.asdf", false);
    e = begin(path);
    OK(cip_change_move(e, "image", "other", false, err));
    OK(cip_change_write(e, "packed", "[0, 0]", cip_dtype_as_stored(), &nine, sizeof nine, err));
    assert_int_equal(first(e, "packed"), 9);
    assert_int_equal(first(e, "other"), 0);
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    e = begin(path);
    assert_int_equal(first(e, "packed"), 9);
    cip_change_abort(&e);
}

/* What comes to a path that an array of records left, or is called as a field of theirs is, is not
 * about their fields. */
static void fields_of_records_are_not_mistaken_for_others(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const char *const file[] = { "fields.asdf", "fields.b2nd" };
    const int16_t v[] = { 1, 2, 3, 4 };
    const int64_t n[] = { 2 };
    cip_dtype *record = cip_dtype_parse("{vlmeta: int16, x: int16}", NULL);
    for (int i = 0; i < 2; i++) {
        const char *at = i == 0 ? "moved" : "";
        const cip_array *a;
        int16_t got[4];
        cip_change *c;
        OK(cip_create(scratch_path(&s, file[i]), NULL, &c, err));
        OK(cip_change_put(c, "r", record, 1, n, v, NULL, err));
        OK(cip_change_commit(&c, err));
        OK(cip_change_open(scratch_path(&s, file[i]), NULL, &c, err));
        if (i == 0) {
            OK(cip_change_move(c, "r", "moved", false, err));
            OK(cip_change_put(c, "r/x", cip_dtype_of(CIP_I16), 1, n, v, NULL, err));
        } else {
            OK(cip_change_set_int(c, "vlmeta/k", 1, err));
            OK(cip_change_remove(c, "vlmeta/k", err));
        }
        OK(cip_change_array(c, at, &a, err));
        OK(cip_read(a, NULL, record, got, sizeof got, err));
        assert_memory_equal(got, v, sizeof v);
        OK(cip_change_commit(&c, err));
        edit_expect(scratch_path(&s, file[i]), at, "(1, 2)\n(3, 4)\n");
    }
    cip_dtype_free(record);
}

/* In one step: where it is refused, what was there stays. */
static void an_array_takes_the_place_of_what_is_there(void **state)
{
    (void)state;
    static const int64_t three[] = { 3 };
    const int16_t h[] = { 7, 8, 9 };
    int16_t now[3] = { 0 };
    const cip_array *a;
    cip_change *w;
    const char *path = edit_file(&s, "g.asdf", false);
    cip_change *e = begin(path);
    FAILS(CIP_ERR_ARG, "does not exist yet",
          cip_change_put(e, "image", cip_dtype_of(CIP_I16), 1, three, h, NULL, err));
    cip_change_abort(&e);
    e = begin(path);
    for (int i = 0; i < 2; i++) { /* of the file's own array, and of the one that came */
        OK(cip_change_put(e, "image", cip_dtype_of(CIP_I16), 1, three, h,
                          CIP_ARRAY_OPTIONS(.replace = true), err));
        OK(cip_change_put(e, "meta", cip_dtype_of(CIP_I16), 1, three, h,
                          CIP_ARRAY_OPTIONS(.replace = true), err));
        OK(cip_change_array(e, "image", &a, err));
        OK(cip_read_into(a, CIP_READ_ARGS(.dst = now, .dst_nbytes = sizeof now), err));
        assert_memory_equal(now, h, sizeof h);
    }
    OK(cip_change_commit(&e, err));
    edit_expect(path, "image", "7 8 9\n");
    edit_expect(path, "meta", "7 8 9\n");
    edit_verify(path);
    OK(cip_create(scratch_path(&s, "h.asdf"), NULL, &w, err));
    FAILS(CIP_ERR_ARG, "only in an update",
          cip_change_put(w, "x", cip_dtype_of(CIP_I16), 1, three, h,
                         CIP_ARRAY_OPTIONS(.replace = true), err));
    cip_change_abort(&w);
}

/* What was changed of an array in the tree is not written over what took its place. */
static void changes_of_an_inline_array_go_with_it(void **state)
{
    (void)state;
    static const int64_t three[] = { 3 };
    const int64_t seven = 7;
    const int16_t h[] = { 7, 8, 9 };
    for (int i = 0; i < 4; i++) {
        const char *path = edit_file(&s, "i.asdf", false);
        cip_change *e = begin(path);
        OK(cip_change_write(e, "few", "[0]", cip_dtype_as_stored(), &seven, sizeof seven, err));
        if (i == 1)
            OK(cip_change_remove(e, "few", err));
        if (i == 2)
            OK(cip_change_set_yaml(e, "few", "[1]", err));
        OK(cip_change_put(e, "few", cip_dtype_of(CIP_I16), 1, three, h,
                          CIP_ARRAY_OPTIONS(.replace = true, .storage = i == 3 ? "inline" : NULL),
                          err));
        OK(cip_change_commit(&e, err));
        edit_expect(path, "few", "7 8 9\n");
        edit_verify(path);
        unlink(path);
    }
}

/* What LZ4 makes of the data is known at the commit. */
static void the_header_of_a_rawarray_is_as_the_changes_have_it(void **state)
{
    (void)state;
    static const int64_t shape[] = { 4, 3 }, other[] = { 4, 2 };
    const uint8_t zeros[24] = { 0 };
    for (int packed = 0; packed < 2; packed++) {
        const char *path = scratch_path(&s, "h.ra");
        uint64_t n = 0;
        cip_change *e;
        cip_file *f;
        OK(cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true, .codec = packed ? "lz4" : NULL),
                      &e, err));
        OK(cip_change_put(e, "", cip_dtype_of(CIP_I16), 2, shape, zeros, NULL, err));
        OK(cip_change_commit(&e, err));
        FILE *tail = fopen(path, "ab");
        assert_true(fputs("metadata", tail) >= 0 && fclose(tail) == 0);
        e = begin(path);
        OK(cip_tree_get_uint(at(e, ""), "dims/1", &n, err));
        assert_int_equal(n, 4);
        OK(cip_change_append(e, "", cip_dtype_as_stored(), zeros, 12, err));
        OK(cip_tree_get_uint(at(e, ""), "dims/1", &n, err));
        assert_int_equal(n, 6);
        OK(cip_change_resize(e, "", 2, other, err));
        OK(cip_tree_get_uint(at(e, ""), "dims/0", &n, err));
        assert_int_equal(n, 2);
        assert_int_equal(cip_node_kind(at(e, "flags")), packed ? CIP_NODE_NULL : CIP_NODE_INT);
        if (packed)
            assert_int_equal(cip_node_kind(at(e, "size")), CIP_NODE_NULL);
        else
            OK(cip_tree_get_uint(at(e, ""), "size", &n, err));
        assert_int_equal(n, packed ? 2 : 16);
        OK(cip_open(path, NULL, &f, err)); /* as it is */
        OK(cip_tree_get_uint(cip_file_tree(f), "dims/0", &n, err));
        assert_int_equal(n, 3);
        assert_non_null(at(e, "metadata"));
        cip_file_close(f);
        OK(cip_change_commit(&e, err));
        OK(cip_open(path, NULL, &f, err));
        OK(cip_tree_get_uint(cip_file_tree(f), "dims/0", &n, err));
        assert_int_equal(n, 2);
        cip_file_close(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_is_as_the_changes_have_it),
        cmocka_unit_test(arrays_are_as_the_changes_have_them),
        cmocka_unit_test(an_array_that_came_is_read),
        cmocka_unit_test(paths_lead_into_records),
        cmocka_unit_test(what_went_is_not_found),
        cmocka_unit_test(an_array_is_found_by_each_of_its_names),
        cmocka_unit_test(what_was_moved_is_read),
        cmocka_unit_test(what_was_changed_and_moved_is_read),
        cmocka_unit_test(fields_of_records_are_not_mistaken_for_others),
        cmocka_unit_test(an_array_takes_the_place_of_what_is_there),
        cmocka_unit_test(changes_of_an_inline_array_go_with_it),
        cmocka_unit_test(the_header_of_a_rawarray_is_as_the_changes_have_it),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
