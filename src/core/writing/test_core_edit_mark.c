/* SPDX-License-Identifier: BSD-3-Clause
 * Several calls as one step; and what goes and comes at one path within an update. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cippus/ext/chunk.h"
#include "support/core/writing/edit_testing.h"

static scratch s;
static const int64_t two[] = { 2 }, three[] = { 3 };
static const int16_t pair[] = { 1, 2 }, row[] = { 7, 8, 9 };

static int setup(void **state)
{
    (void)state;
    return scratch_open(&s) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&s);
    return 0;
}

static cip_change *begin(const char *path)
{
    cip_change *e;
    OK(cip_change_open(path, NULL, &e, err));
    return e;
}

static void put(cip_change *e, const char *path, size_t n)
{
    OK(cip_change_put(e, path, cip_dtype_of(CIP_I16), 1, n == 2 ? two : three, n == 2 ? pair : row,
                      NULL, err));
}

/* The file is n bytes, those at `was`, which are freed. */
static void expect_bytes(char *was, size_t n, const char *path)
{
    size_t m;
    char *now = edit_bytes(path, &m);
    assert_int_equal(n, m);
    assert_memory_equal(was, now, n);
    free(was);
    free(now);
}

static void expect_bytes_of(const char *a, const char *b)
{
    size_t n;
    char *was = edit_bytes(a, &n);
    expect_bytes(was, n, b);
}

/* An array, one of another type, a value and a mapping are replaced by arrays. */
static void what_goes_may_come_in_the_same_update(void **state)
{
    (void)state;
    static const char *const paths[] = { "image", "packed", "few", "meta/name", "meta" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char name[24];
        snprintf(name, sizeof name, "comes%zu.asdf", i);
        const char *path = edit_file(&s, name, false);
        cip_change *e = begin(path);
        FAILS(CIP_ERR_ARG, "does not exist yet",
              cip_change_put(e, paths[i], cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
        OK(cip_change_forget_failure(e, err));
        OK(cip_change_remove(e, paths[i], err));
        put(e, paths[i], 3);
        OK(cip_change_remove(e, paths[i], err));
        put(e, paths[i], 2);
        OK(cip_change_commit(&e, err));
        edit_expect(path, paths[i], "1 2\n");
        edit_verify(path);
    }
}

/* What came and went leaves no block. */
static void what_comes_may_go_in_the_same_update(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "goes.asdf", false), *same = edit_file(&s, "b.asdf", false);
    cip_change *e = begin(path), *f = begin(same);
    put(e, "new/x", 3);
    put(e, "new/y", 2);
    OK(cip_change_remove(e, "new/x", err));
    put(e, "z", 3);
    put(f, "new/y", 2);
    put(f, "z", 3);
    OK(cip_change_commit(&e, err));
    OK(cip_change_commit(&f, err));
    expect_bytes_of(path, same);
    edit_expect(path, "new/y", "1 2\n");
    edit_expect(path, "z", "7 8 9\n");
    edit_verify(path);
}

/* The one that goes is there until the end. */
static void a_column_that_goes_gives_its_name_up(void **state)
{
    (void)state;
    static const char *const kinds[] = { "bcolz", "blz-dir", "blz" };
    for (size_t i = 0; i < 3; i++) {
        const char *path = scratch_path(&s, kinds[i]);
        cip_change *w;
        OK(cip_create(path, CIP_CHANGE_OPTIONS(.format = kinds[i]), &w, err));
        OK(cip_change_put(w, "a", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
        OK(cip_change_put(w, "b", cip_dtype_of(CIP_I16), 1, two, pair + 0, NULL, err));
        OK(cip_change_commit(&w, err));
        cip_change *e = begin(path);
        OK(cip_change_mark(e, NULL, err));
        OK(cip_change_remove(e, "a", err));
        OK(cip_change_put(e, "a", cip_dtype_of(CIP_I32), 1, two, (int32_t[]){ 1, 2 }, NULL, err));
        OK(cip_change_undo(e, 0, err));
        OK(cip_change_set_int(e, "attributes/k", 1, err));
        OK(cip_change_commit(&e, err));
        cip_file *f;
        const char *field;
        OK(cip_open(path, NULL, &f, err));
        assert_non_null(cip_find_field(f, "a", &field, NULL));
        cip_file_close(f);
    }
}

static void a_step_is_taken_back_whole(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "step.asdf", false), *same = edit_file(&s, "c.asdf", false);
    for (int i = 0; i < 2; i++) {
        cip_change *e = begin(i == 0 ? path : same);
        cip_slab *slab;
        OK(cip_change_set_string(e, "meta/name", "second", err));
        put(e, "before", 2);
        for (int k = 0; k < 2 && i == 0; k++) {
            OK(cip_change_mark(e, NULL, err));
            OK(cip_change_remove(e, "image", err));
            OK(cip_change_set_string(e, "image/title", "no array", err));
            put(e, "image/x", 2);
            OK(cip_change_declare(e, "image/y", cip_dtype_of(CIP_I16), 1, two, NULL, &slab, err));
            OK(cip_change_move(e, "meta", "image/meta", false, err));
            FAILS(CIP_ERR_ARG, "does not exist yet",
                  cip_change_put(e, "image/x", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
            OK(cip_change_undo(e, 0, err));
        }
        put(e, "behind", 3);
        OK(cip_change_write(e, "image", "[0, 0]", cip_dtype_as_stored(), (float[]){ 5 }, 4, err));
        OK(cip_change_commit(&e, err));
    }
    expect_bytes_of(path, same);
    edit_verify(path);
}

static void elements_go_back(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "elements.asdf", false);
    size_t n;
    char *was = edit_bytes(path, &n);
    cip_change *e = begin(path);
    FAILS(CIP_ERR_ARG, "mark", cip_change_undo(e, 0, err));
    OK(cip_change_forget_failure(e, err));
    OK(cip_change_mark(e, NULL, err));
    OK(cip_change_write(e, "image", "[0, 0]", cip_dtype_as_stored(), (float[]){ 5 }, 4, err));
    OK(cip_change_undo(e, 0, err));
    OK(cip_change_commit(&e, err));
    expect_bytes(was, n, path);
}

/* --- several marks ---------------------------------------------------------------------------- */

static const struct {
    const char *name, *format, *codec;
} kinds[] = {
    { "k.asdf", NULL, NULL }, { "kz.asdf", NULL, "zlib" }, { "k.b2nd", NULL, NULL },
    { "k.blp", NULL, NULL },  { "k.ra", NULL, NULL },      { "kz.ra", NULL, "lz4" },
    { "k.npy", NULL, NULL },  { "k.bcolz", NULL, NULL },   { "k.blz-dir", "blz-dir", NULL },
    { "k.blz", "blz", NULL },
};

static cip_memory *eight(size_t i, cip_change **draft)
{
    static const int64_t n[] = { 8 };
    static const int32_t v[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    cip_memory *m;
    cip_change *w;
    OK(cip_create_memory(kinds[i].name, CIP_CHANGE_OPTIONS(.format = kinds[i].format), &m, &w,
                         err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 1, n, v,
                      CIP_ARRAY_OPTIONS(.codec = kinds[i].codec), err));
    if (draft != NULL)
        *draft = w;
    else
        OK(cip_change_commit(&w, err));
    return m;
}

static void expect_now(cip_change *e, const char *text)
{
    const cip_array *a;
    static taken t;
    t.n = 0;
    t.calls = t.stop_at = 0;
    OK(cip_change_array(e, "", &a, err));
    OK(cip_export(a, NULL, "text", take_text, &t, err));
    t.text[t.n] = '\0';
    assert_string_equal(t.text, text);
}

static void write_one(cip_change *e, const char *at, int32_t v)
{
    OK(cip_change_write(e, "", at, cip_dtype_of(CIP_I32), &v, sizeof v, err));
}

/* Elements, rows that come, go and are cut off, and elements that are overwritten in their place:
 * back to the second of three marks, then to the first, twice. */
static void a_change_goes_back_to_any_mark(void **state)
{
    (void)state;
    static const int32_t more[] = { 8, 9 };
    static const int64_t few[] = { 3 };
    for (size_t i = 0; i < 2 * (sizeof kinds / sizeof *kinds); i++) {
        const size_t k = i / 2;
        cip_change *e, *f;
        cip_memory *m = eight(k, i % 2 == 0 ? NULL : &e), *same = eight(k, i % 2 == 0 ? NULL : &f);
        uint64_t first, second;
        if (i % 2 == 0) {
            OK(cip_change_open_memory(m, NULL, &e, err));
            OK(cip_change_open_memory(same, NULL, &f, err));
        }
        write_one(e, "[0]", 10);
        OK(cip_change_mark(e, &first, err));
        write_one(e, "[0]", 20);
        write_one(e, "[1]", 21);
        OK(cip_change_append(e, "", cip_dtype_of(CIP_I32), more, sizeof more, err));
        OK(cip_change_mark(e, &second, err));
        assert_true(first > 0 && second > first);
        expect_now(e, "20 21 2 3 4 5 6 7 8 9\n");
        write_one(e, "[1]", 31);
        OK(cip_change_delete(e, "", 0, 1, 2, err));
        OK(cip_change_mark(e, NULL, err));
        OK(cip_change_insert(e, "", 0, 0, cip_dtype_of(CIP_I32), more, sizeof more, err));
        OK(cip_change_resize(e, "", 1, few, err));
        expect_now(e, "8 9 20\n");
        OK(cip_change_undo(e, second, err));
        expect_now(e, "20 21 2 3 4 5 6 7 8 9\n");
        write_one(e, "[9]", 99);
        OK(cip_change_undo(e, 0, err)); /* that is the second by now */
        expect_now(e, "20 21 2 3 4 5 6 7 8 9\n");
        OK(cip_change_undo(e, first, err));
        expect_now(e, "10 1 2 3 4 5 6 7\n");
        FAILS(CIP_ERR_ARG, "mark", cip_change_undo(e, second, err));
        OK(cip_change_forget_failure(e, err));
        OK(cip_change_resize(e, "", 1, few, err));
        OK(cip_change_undo(e, first, err));
        write_one(e, "[7]", 17);
        expect_now(e, "10 1 2 3 4 5 6 17\n");
        write_one(f, "[0]", 10);
        write_one(f, "[7]", 17);
        OK(cip_change_commit(&e, err));
        OK(cip_change_commit(&f, err));
        edit_expect_same(m, same);
        cip_memory_free(m);
        cip_memory_free(same);
    }
}

static void a_mark_that_is_dropped_keeps_the_changes(void **state)
{
    (void)state;
    cip_memory *m = eight(0, NULL);
    cip_change *e;
    uint64_t outer, inner;
    OK(cip_change_open_memory(m, NULL, &e, err));
    OK(cip_change_mark(e, &outer, err));
    write_one(e, "[0]", 10);
    OK(cip_change_mark(e, &inner, err));
    write_one(e, "[1]", 11);
    OK(cip_change_release(e, inner, err));
    assert_int_equal(cip_change_release(e, inner, NULL), CIP_ERR_ARG);
    write_one(e, "[1]", 12);
    expect_now(e, "10 12 2 3 4 5 6 7\n");
    OK(cip_change_undo(e, 0, err));
    expect_now(e, "0 1 2 3 4 5 6 7\n");
    OK(cip_change_release(e, 0, err));
    assert_int_equal(cip_change_release(e, 0, NULL), CIP_ERR_ARG);
    FAILS(CIP_ERR_ARG, "mark", cip_change_undo(e, 0, err));
    OK(cip_change_forget_failure(e, err));
    OK(cip_change_mark(e, NULL, err));
    OK(cip_change_plan(e, take_text, &(taken){ .n = 0 }, err));
    assert_int_equal(cip_change_undo(e, 0, NULL), CIP_ERR_ARG); /* all of it is planned */
    cip_change_abort(&e);
    cip_memory_free(m);
}

/* Its boxes since the mark go, as slabs do that were declared since. */
static void boxes_of_a_slab_from_before_are_taken_back(void **state)
{
    (void)state;
    cip_memory *m = eight(0, NULL);
    cip_change *e;
    cip_slab *before, *since;
    cip_file *f;
    int16_t got[2];
    OK(cip_change_open_memory(m, NULL, &e, err));
    OK(cip_change_declare(e, "x", cip_dtype_of(CIP_I16), 1, two, NULL, &before, err));
    OK(cip_slab_write(before, CIP_BOX({ 0 }, { 1 }), pair, 2, err));
    OK(cip_change_mark(e, NULL, err));
    OK(cip_change_declare(e, "y", cip_dtype_of(CIP_I16), 1, two, NULL, &since, err));
    OK(cip_slab_write(since, CIP_BOX({ 0 }, { 2 }), pair, 4, err));
    write_one(e, "[0]", 10);
    OK(cip_change_undo(e, 0, err));
    write_one(e, "[0]", 11);
    OK(cip_slab_write(before, CIP_BOX({ 1 }, { 2 }), pair + 1, 2, err));
    OK(cip_slab_write(before, CIP_BOX({ 0 }, { 1 }), pair + 1, 2, err));
    OK(cip_change_undo(e, 0, err));
    expect_now(e, "0 1 2 3 4 5 6 7\n");
    OK(cip_change_commit(&e, err));
    OK(cip_memory_open(m, NULL, &f, err));
    OK(cip_read(cip_find(f, "x", NULL), NULL, cip_dtype_of(CIP_I16), got, sizeof got, err));
    assert_int_equal(got[0], 1);
    assert_int_equal(got[1], 0);
    cip_file_close(f);
    cip_memory_free(m);
}

/* A frame of 64 chunks, of which the 33rd cannot be decoded. */
static cip_memory *damaged_frame(void)
{
    static int32_t v[1 << 16];
    const int64_t n[] = { 1 << 16 };
    cip_chunk_info at = { .size = sizeof at };
    cip_memory *m, *bad;
    cip_change *w;
    cip_file *f;
    size_t nbytes;
    for (int i = 0; i < 1 << 16; i++)
        v[i] = (int32_t)((uint32_t)i * (uint32_t)i);
    OK(cip_create_memory("x.b2nd", CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("chunks=1024")),
                         &m, &w, err));
    OK(cip_change_put(w, "", cip_dtype_of(CIP_I32), 1, n, v, NULL, err));
    OK(cip_change_commit(&w, err));
    OK(cip_memory_open(m, NULL, &f, err));
    OK(cip_chunk_at(cip_find(f, "", NULL), 32, &at, err));
    cip_file_close(f);
    const void *bytes = cip_memory_bytes(m, &nbytes);
    char *copy = malloc(nbytes);
    assert_non_null(copy);
    memcpy(copy, bytes, nbytes);
    memset(copy + at.offset + 40, 0xff, at.stored_nbytes - 40);
    OK(cip_memory_new(copy, nbytes, &bad, err));
    free(copy);
    cip_memory_free(m);
    return bad;
}

/* It stays in part, and chunks before it have changed when that turns out: they are put back. Where
 * elements of the same update were written over in their place, a mark is needed. */
static void a_damaged_chunk_leaves_no_trace_of_a_write(void **state)
{
    (void)state;
    static int32_t v[1 << 15];
    cip_memory *m = damaged_frame();
    size_t n, now;
    const void *bytes = cip_memory_bytes(m, &n);
    void *was = malloc(n);
    assert_non_null(was);
    memcpy(was, bytes, n);
    cip_change *e;
    OK(cip_change_open_memory(m, NULL, &e, err));
    for (int k = 0; k < 2; k++) {
        assert_int_not_equal(
            cip_change_write(e, "", "[5:32773]", cip_dtype_of(CIP_I32), v, sizeof v, NULL), CIP_OK);
        OK(cip_change_forget_failure(e, err));
    }
    OK(cip_change_mark(e, NULL, err));
    OK(cip_change_write(e, "", "[3:2000]", cip_dtype_of(CIP_I32), v, 1997 * 4, err));
    assert_int_not_equal(
        cip_change_write(e, "", "[5:32773]", cip_dtype_of(CIP_I32), v, sizeof v, NULL), CIP_OK);
    assert_int_not_equal(cip_change_forget_failure(e, NULL), CIP_OK);
    assert_int_not_equal(cip_change_resize(e, "", 1, (int64_t[]){ 5 }, NULL), CIP_OK);
    OK(cip_change_undo(e, 0, err));
    OK(cip_change_commit(&e, err));
    bytes = cip_memory_bytes(m, &now);
    assert_int_equal(now, n);
    assert_memory_equal(bytes, was, n);
    free(was);
    cip_memory_free(m);
}

static void a_stream_that_was_frozen_is_one_again(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "frozen.asdf", true);
    const double rows[] = { 1, 2, 3, 4 };
    size_t n;
    char *was = edit_bytes(path, &n);
    cip_change *e = begin(path);
    OK(cip_change_mark(e, NULL, err));
    OK(cip_change_append(e, "rows", cip_dtype_of(CIP_F64), rows, sizeof rows, err));
    OK(cip_change_freeze(e, err));
    put(e, "behind", 2);
    OK(cip_change_undo(e, 0, err));
    OK(cip_change_commit(&e, err));
    expect_bytes(was, n, path);
}

/* Each array's blocks get others' numbers, and the list of blocks grows out of its place. */
static void arrays_that_moved_into_blocks_of_their_own_go_back(void **state)
{
    (void)state;
    static const int64_t one[] = { 1 };
    const char *path = edit_file(&s, "own.asdf", false), *same = edit_file(&s, "own2.asdf", false);
    for (int i = 0; i < 2; i++) {
        cip_change *e = begin(i == 0 ? path : same);
        put(e, "first", 3);
        OK(cip_change_resize(e, "first", 1, one, err));
        for (int k = 0; k < 3 && i == 0; k++) {
            uint64_t outer;
            OK(cip_change_mark(e, &outer, err));
            OK(cip_change_resize(e, "first", 1, two, err));
            OK(cip_change_resize(e, "packed", 2, (int64_t[]){ 1, 2 }, err));
            for (int j = 0; j < 12; j++) {
                char name[16];
                snprintf(name, sizeof name, "n%d", j);
                put(e, name, 2);
                OK(cip_change_mark(e, NULL, err));
                OK(cip_change_append(e, name, cip_dtype_of(CIP_I16), row, 2, err));
            }
            OK(cip_change_undo(e, outer, err));
        }
        put(e, "last", 2);
        OK(cip_change_commit(&e, err));
    }
    expect_bytes_of(path, same);
    edit_expect(path, "first", "7\n");
    edit_expect(path, "packed", "0 1 2 3\n4 5 6 7\n8 9 10 11\n");
    edit_verify(path);
}

/* Shapes wait with other changes of the tree: each call sees those before it, and what is taken
 * back leaves none. */
static void rows_of_several_arrays_wait_together(void **state)
{
    (void)state;
    static const int64_t more[] = { 40, 50, 60, 70 };
    const char *path = edit_file(&s, "rows.asdf", false);
    const cip_dtype *i64 = cip_dtype_of(CIP_I64);
    cip_change *e = begin(path);
    const cip_array *a;
    put(e, "mine", 2);
    OK(cip_change_append(e, "few", i64, more, 16, err));
    OK(cip_change_append(e, "mine", cip_dtype_of(CIP_I16), row, 2, err));
    OK(cip_change_set_int(e, "meta/seen", 1, err));
    OK(cip_change_mark(e, NULL, err));
    for (int k = 0; k < 2; k++) {
        OK(cip_change_append(e, "few", i64, more + 2, 8, err));
        OK(cip_change_append(e, "mine", cip_dtype_of(CIP_I16), row + 1, 4, err));
        OK(cip_change_array(e, "few", &a, err));
        assert_int_equal(cip_array_shape(a)[0], 6);
        OK(cip_change_append(e, "few", i64, more + 3, 8, err));
        if (k == 0)
            OK(cip_change_undo(e, 0, err));
    }
    OK(cip_change_remove(e, "meta/seen", err));
    OK(cip_change_commit(&e, err));
    edit_expect(path, "few", "10 20 30 40 50 60 70\n");
    edit_expect(path, "mine", "1 2 7 8 9\n");
    edit_verify(path);
}

/* Of a slab's boxes those that were refused are forgotten with the rest. */
static void a_box_that_is_refused_is_forgotten(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "boxes.asdf", false);
    for (int forgets = 0; forgets < 2; forgets++) {
        cip_change *e = begin(path);
        cip_slab *slab;
        OK(cip_change_declare(e, "x", cip_dtype_of(CIP_I16), 1, two, NULL, &slab, err));
        FAILS(CIP_ERR_RANGE, "4 bytes", cip_slab_write(slab, CIP_BOX({ 0 }, { 2 }), pair, 3, err));
        OK(cip_slab_write(slab, CIP_BOX({ 0 }, { 2 }), pair, 4, err));
        if (forgets == 0) {
            FAILS(CIP_ERR_RANGE, "4 bytes", cip_change_commit(&e, err));
            continue;
        }
        OK(cip_change_forget_failure(e, err));
        OK(cip_change_commit(&e, err));
    }
    edit_expect(path, "x", "1 2\n");
}

static void metalayers_go_back(void **state)
{
    (void)state;
    const char *path[] = { scratch_path(&s, "a.b2nd"), NULL };
    char *copy = strdup(path[0]);
    path[0] = copy;
    path[1] = scratch_path(&s, "b.b2nd");
    for (int i = 0; i < 2; i++) {
        cip_change *w;
        OK(cip_create(path[i], NULL, &w, err));
        OK(cip_change_set_int(w, "vlmeta/k", 1, err));
        OK(cip_change_put(w, "", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
        OK(cip_change_commit(&w, err));
        cip_change *e = begin(path[i]);
        for (int k = 0; k < 2 && i == 0; k++) {
            OK(cip_change_mark(e, NULL, err));
            OK(cip_change_set_int(e, "vlmeta/j/x", 1, err));
            OK(cip_change_move(e, "vlmeta/k", "vlmeta/l", false, err));
            OK(cip_change_remove(e, "vlmeta/j", err));
            OK(cip_change_undo(e, 0, err));
        }
        OK(cip_change_set_int(e, "vlmeta/m", 2, err));
        OK(cip_change_commit(&e, err));
    }
    expect_bytes_of(path[0], path[1]);
    free(copy);
}

/* The changes of the tree that wait are made when a mark is set; here there are too many of them.
 */
static void a_mark_that_fails_keeps_the_one_before(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "limit.asdf", false);
    const cip_limits few = { .size = sizeof few, .max_nodes = 110 };
    char list[2 * 60 + 2] = "[";
    cip_file *f;
    cip_change *e;
    cip_err why = CIP_ERR_INIT;
    for (size_t i = 1; i < sizeof list - 1; i += 2)
        memcpy(list + i, i + 2 < sizeof list - 1 ? "1," : "1]", 2);
    list[sizeof list - 1] = '\0';
    OK(cip_open(path, CIP_OPEN_OPTIONS(.limits = &few), &f, err));
    OK(cip_change_begin(f, NULL, &e, err));
    OK(cip_change_mark(e, NULL, err));
    OK(cip_change_set_yaml(e, "x", list, err));
    OK(cip_change_set_yaml(e, "y", list, err));
    assert_int_equal(cip_change_mark(e, NULL, &why), CIP_ERR_LIMIT);
    cip_change_undo(e, 0, NULL);
    cip_change_commit(&e, NULL);
    cip_file_close(f);
    edit_expect(path, "few", "10 20 30\n"); /* whatever of it went well */
}

static void an_array_that_comes_in_another_spelling_keeps_its_elements(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "spelling.asdf", false);
    const int64_t was[] = { 1, 2, 3 };
    cip_change *e = begin(path);
    OK(cip_change_write(e, "few", "", cip_dtype_as_stored(), was, sizeof was, err));
    OK(cip_change_put(e, "\"few\"", cip_dtype_of(CIP_I16), 1, two, pair,
                      CIP_ARRAY_OPTIONS(.replace = true, .storage = "inline"), err));
    OK(cip_change_commit(&e, err));
    edit_expect(path, "few", "1 2\n");
}

/* Its elements are written into the tree by the move; taken back, they still wait for the commit.
 */
static void an_inline_array_that_moved_goes_back_with_its_elements(void **state)
{
    (void)state;
    const int64_t now[] = { 4, 5, 6 };
    for (int back = 0; back < 2; back++) {
        const char *path = edit_file(&s, back ? "back.asdf" : "moved.asdf", false);
        cip_change *e = begin(path);
        OK(cip_change_write(e, "few", "", cip_dtype_as_stored(), now, sizeof now, err));
        OK(cip_change_mark(e, NULL, err));
        OK(cip_change_move(e, "few", "other", false, err));
        if (back)
            OK(cip_change_undo(e, 0, err));
        OK(cip_change_commit(&e, err));
        edit_expect(path, back ? "few" : "other", "4 5 6\n");
        edit_verify(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_may_come_in_the_same_update),
        cmocka_unit_test(what_comes_may_go_in_the_same_update),
        cmocka_unit_test(a_column_that_goes_gives_its_name_up),
        cmocka_unit_test(a_step_is_taken_back_whole),
        cmocka_unit_test(elements_go_back),
        cmocka_unit_test(a_change_goes_back_to_any_mark),
        cmocka_unit_test(a_mark_that_is_dropped_keeps_the_changes),
        cmocka_unit_test(boxes_of_a_slab_from_before_are_taken_back),
        cmocka_unit_test(a_damaged_chunk_leaves_no_trace_of_a_write),
        cmocka_unit_test(a_stream_that_was_frozen_is_one_again),
        cmocka_unit_test(arrays_that_moved_into_blocks_of_their_own_go_back),
        cmocka_unit_test(rows_of_several_arrays_wait_together),
        cmocka_unit_test(a_box_that_is_refused_is_forgotten),
        cmocka_unit_test(metalayers_go_back),
        cmocka_unit_test(a_mark_that_fails_keeps_the_one_before),
        cmocka_unit_test(an_array_that_comes_in_another_spelling_keeps_its_elements),
        cmocka_unit_test(an_inline_array_that_moved_goes_back_with_its_elements),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
