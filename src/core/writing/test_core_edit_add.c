/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays added to files that exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/endian.h"
#include "core/writing/edit_impl.h"
#include "support/core/writing/edit_testing.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "support/own_folder.h"

static const int64_t two[] = { 2, 3 };
static const int16_t six[] = { 1, 2, 3, 4, 5, 6 };

static void an_array_comes_behind_the_others(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const char *const codecs[] = { NULL, "zlib", "lz4", "bzp2" };
    const char *path = edit_file(&s, "add.asdf", false);
    size_t n, m;
    char *was = edit_bytes(path, &n);
    char name[32];
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        cip_change *e;
        int32_t many[5000];
        const int64_t shape[] = { 50, 100 };
        for (int k = 0; k < 5000; k++)
            many[k] = k / 100;
        OK(cip_change_open(path, NULL, &e, err));
        snprintf(name, sizeof name, "new/x%zu", i);
        OK(cip_change_put(e, name, cip_dtype_of(CIP_I32), 2, shape, many,
                          CIP_ARRAY_OPTIONS(.codec = codecs[i]), err));
        OK(cip_change_commit(&e, err));
        edit_verify(path);
        cip_file *f;
        int32_t back[100];
        OK(cip_open(path, NULL, &f, err));
        OK(cip_read(cip_find(f, name, err), "[7]", cip_dtype_of(CIP_I32), back, sizeof back, err));
        assert_true(back[0] == 7 && back[99] == 7);
        cip_file_close(f);
    }
    edit_expect(path, "few", "10 20 30\n");
    char *now = edit_bytes(path, &m);
    const char *block = memmem(was, n,
                               "\xd3"
                               "BLK",
                               4);
    const size_t from = (size_t)(block - was),
                 to = (size_t)((const char *)memmem(was, n, "#ASDF BLOCK", 11) - was);
    assert_memory_equal(now + from, was + from, to - from); /* nothing of it moved */
    free(was);
    free(now);
}

/* A last block with room that was never written, as Python's asdf leaves it: a reader that goes
 * from block to block must come to the new one. */
static void a_last_block_ends_where_the_next_begins(void **state)
{
    (void)state;
    static const char magic[] = "\xd3"
                                "BLK";
    enum { SIZE = 4, ALLOCATED = 14, FIELDS = 6 };
    const char *path = edit_file(&s, "cut.asdf", false);
    size_t n;
    cip_change *e;
    char *p = edit_bytes(path, &n), *last = NULL;
    n = (size_t)((char *)memmem(p, n, "#ASDF BLOCK", 11) - p);
    for (char *at = p; (at = memmem(at, n - (size_t)(at - p), magic, 4)) != NULL; at++)
        last = at;
    const size_t block = (size_t)(last - p);
    last[ALLOCATED + 6] = 0x20; /* 8 KiB and what there is */
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    free(p);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_put(e, "x", cip_dtype_of(CIP_I16), 2, two, six, NULL, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    edit_expect(path, "x", "1 2 3\n4 5 6\n");
    p = edit_bytes(path, &n);
    last = p + block;
    const uint64_t next =
        block + FIELDS + cip_load_u16(last + SIZE, true) + cip_load_u64(last + ALLOCATED, true);
    assert_true(next + 4 < n);
    assert_memory_equal(p + next, magic, 4);
    free(p);
}

static void several_come_in_one_update(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "several.asdf", false);
    const uint8_t mask[] = { 0, 1, 0, 0, 0, 0 };
    cip_change *e;
    cip_slab *slab;
    cip_file *f;
    OK(cip_open(path, NULL, &f, err));
    OK(cip_change_begin(f, NULL, &e, err));
    OK(cip_change_declare(e, "by/boxes", cip_dtype_of(CIP_I16), 2, two,
                          CIP_ARRAY_OPTIONS(.codec = "zlib"), &slab, err));
    OK(cip_change_put(e, "a", cip_dtype_of(CIP_I16), 2, two, six, CIP_ARRAY_OPTIONS(.mask = mask),
                      err));
    OK(cip_change_put_array(e, "part", cip_find(f, "image", err),
                            CIP_READ_ARGS(.selection = "[1, ::2]", .dtype = cip_dtype_of(CIP_I16)),
                            NULL, err));
    OK(cip_change_put(e, "in", cip_dtype_of(CIP_I16), 2, two, six,
                      CIP_ARRAY_OPTIONS(.storage = "inline"), err));
    OK(cip_change_set_string(e, "note", "four of them", err));
    OK(cip_change_move(e, "a", "by/name", false, err));
    OK(cip_slab_write(slab, CIP_BOX({ 0, 1 }, { 2, 3 }), six, 8, err));
    OK(cip_change_commit(&e, err));
    cip_file_close(f);
    edit_verify(path);
    edit_expect(path, "by/boxes", "0 1 2\n0 3 4\n");
    edit_expect(path, "by/name", "1 -- 3\n4 5 6\n");
    edit_expect(path, "part", "6 8 10\n");
    edit_expect(path, "in", "1 2 3\n4 5 6\n");
}

static void a_refusal_names_the_path_of_the_caller(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "named.asdf", false);
    cip_err found = CIP_ERR_INIT;
    cip_change *e;
    OK(cip_change_open(path, NULL, &e, err));
    assert_int_equal(cip_change_put(e, "there", cip_dtype_of(CIP_I16), 2, two, six,
                                    CIP_ARRAY_OPTIONS(.codec = "rot13"), &found),
                     CIP_ERR_UNSUPPORTED);
    assert_string_equal(found.part, "there");
    cip_change_abort(&e);
}

static void what_cannot_come_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path, *storage, *words;
        cip_status st;
    } bad[] = {
        { "image", NULL, "does not exist yet", CIP_ERR_ARG },
        { "meta", NULL, "does not exist yet", CIP_ERR_ARG },
        { "", NULL, "a path for the array", CIP_ERR_ARG },
        { "image/data", NULL, "description", CIP_ERR_ARG },
        { "image/mask", NULL, "description", CIP_ERR_ARG }, /* which it might not fit */
        { "meta/name/x", NULL, "scalar", CIP_ERR_TYPE },
        { "x", "external", "another file", CIP_ERR_UNSUPPORTED },
        { NULL, NULL, "path", CIP_ERR_ARG },
    };
    const char *path = edit_file(&s, "bad.asdf", false);
    cip_change *e;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        OK(cip_change_open(path, NULL, &e, err));
        FAILS(bad[i].st, bad[i].words,
              cip_change_put(e, bad[i].path, cip_dtype_of(CIP_I16), 2, two, six,
                             CIP_ARRAY_OPTIONS(.storage = bad[i].storage), err));
        FAILS(bad[i].st, bad[i].words, cip_change_commit(&e, err));
    }
    path = edit_file(&s, "streamed.asdf", true);
    OK(cip_change_open(path, NULL, &e, err));
    FAILS(CIP_ERR_UNSUPPORTED, "finish it first",
          cip_change_put(e, "x", cip_dtype_of(CIP_I16), 2, two, six, NULL, err));
    cip_change_abort(&e);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_put(e, "x", cip_dtype_of(CIP_I16), 2, two, six,
                      CIP_ARRAY_OPTIONS(.storage = "inline"), err));
    OK(cip_change_commit(&e, err));
    edit_expect(path, "x", "1 2 3\n4 5 6\n");
}

/* Nothing comes to the place of an array that is being filled, above it or below it: the call fails
 * that would, and nothing is left of it. */
static void the_place_of_a_slab_is_taken(void **state)
{
    (void)state;
    static const char filled[] = "the array 'm/x' was added in this update and is being filled";
    const char *path = edit_file(&s, "taken.asdf", false);
    const cip_array_options *replace = CIP_ARRAY_OPTIONS(.replace = true);
    const char *text;
    size_t n;
    cip_change *e;
    cip_slab *slab, *other;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_text(e, &text, &n, err));
    char *copy = strndup(text, n);
    OK(cip_change_declare(e, "m/x", cip_dtype_of(CIP_I16), 2, two, NULL, &slab, err));
    static const char *const place[] = { "m/x", "m", "m/x/y", "m/\"x\"", "" };
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
        const char *at = place[i];
        FAILS(CIP_ERR_UNSUPPORTED, filled, cip_change_set_string(e, at, "a value", err));
        FAILS(CIP_ERR_UNSUPPORTED, filled, cip_change_remove(e, at, err));
        FAILS(CIP_ERR_UNSUPPORTED, filled, cip_change_move(e, at, "z", true, err));
        FAILS(CIP_ERR_UNSUPPORTED, filled, cip_change_move(e, "few", at, true, err));
        if (at[0] == '\0')
            continue;
        FAILS(CIP_ERR_UNSUPPORTED, filled,
              cip_change_put(e, at, cip_dtype_of(CIP_I16), 2, two, six, replace, err));
        FAILS(CIP_ERR_UNSUPPORTED, filled,
              cip_change_declare(e, at, cip_dtype_of(CIP_I16), 2, two, replace, &other, err));
    }
    FAILS(CIP_ERR_UNSUPPORTED, filled, cip_change_set_text(e, copy, n, err));
    free(copy);
    OK(cip_change_forget_failure(e, err));
    OK(cip_change_set_string(e, "m/y", "beside it", err));
    OK(cip_change_set_string(e, "m/xx", "too", err));
    OK(cip_slab_write(slab, CIP_BOX({ 0, 0 }, { 2, 3 }), six, sizeof six, err));
    OK(cip_change_commit(&e, err));
    edit_expect(path, "m/x", "1 2 3\n4 5 6\n");
    edit_expect(path, "few", "10 20 30\n");
}

/* What is there goes when the array comes, and is not seen before. */
static void a_slab_replaces_what_is_there(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "replaced.asdf", false);
    const cip_array *a;
    cip_change *e;
    cip_slab *slab;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_declare(e, "few", cip_dtype_of(CIP_I16), 2, two,
                          CIP_ARRAY_OPTIONS(.replace = true), &slab, err));
    OK(cip_slab_write(slab, CIP_BOX({ 0, 0 }, { 2, 3 }), six, sizeof six, err));
    OK(cip_change_array(e, "few", &a, err));
    assert_int_equal(cip_array_ndim(a), 2);
    a = cip_find(cip_change_file(e, NULL), "few", NULL);
    assert_int_equal(cip_array_ndim(a), 2);
    OK(cip_change_commit(&e, err));
    edit_expect(path, "few", "1 2 3\n4 5 6\n");
}

/* What was there is put back, or, where memory is too little for that, all is given up. */
static void memory_that_runs_out_in_a_refusal(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "refusal.asdf", false);
    bool failed = true, torn = false;
    for (size_t n = 1; failed; n++) {
        fail_alloc fa = { .fail_at = 0 };
        const cip_allocator from = { fail_alloc_resize, &fa };
        cip_change *e;
        OK(cip_change_open(path, CIP_CHANGE_OPTIONS(.allocator = &from, .threads = 1), &e, err));
        OK(cip_change_set_int(e, "k", 1, err));
        fa.fail_at = fa.requests + n;
        const cip_status st =
            cip_change_put(e, "k/x", cip_dtype_of(CIP_I16), 2, two, six, NULL, NULL);
        failed = fa.requests >= fa.fail_at;
        fa.fail_at = 0;
        assert_true(st == CIP_ERR_TYPE || (failed && st == CIP_ERR_NOMEM));
        if (cip_change_forget_failure(e, NULL) == CIP_OK)
            OK(cip_change_delete(e, "image", 0, 1, 1, err));
        else
            torn = true;
        cip_change_abort(&e);
        assert_int_equal(fa.held, 0);
    }
    assert_true(torn);
}

static void a_commit_after_a_failed_plan_fails_as_it_did(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "plan.asdf", false);
    size_t n, m;
    char *was = edit_bytes(path, &n), *now;
    taken said = { .n = 0 };
    cip_change *e;
    cip_slab *slab;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_declare(e, "x", cip_dtype_of(CIP_I16), 2, two, NULL, &slab, err));
    FAILS(CIP_ERR_RANGE, "12 bytes",
          cip_slab_write(slab, CIP_BOX({ 0, 0 }, { 2, 3 }), six, 2, err));
    FAILS(CIP_ERR_RANGE, "12 bytes", cip_change_plan(e, take_text, &said, err));
    FAILS(CIP_ERR_RANGE, "12 bytes", cip_change_commit(&e, err));
    now = edit_bytes(path, &m);
    assert_int_equal(m, n);
    assert_memory_equal(now, was, n);
    free(was);
    free(now);
}

/* Its block has the number that is left when those that nothing names are gone. */
static void a_slab_comes_behind_what_defrag_leaves(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "left.asdf", false);
    cip_change *e;
    cip_slab *slab;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_declare(e, "x", cip_dtype_of(CIP_I16), 2, two, NULL, &slab, err));
    OK(cip_slab_write(slab, CIP_BOX({ 0, 0 }, { 2, 3 }), six, sizeof six, err));
    OK(cip_change_remove(e, "image", err));
    OK(cip_change_defrag(e, NULL, NULL, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    edit_expect(path, "x", "1 2 3\n4 5 6\n");
    edit_expect(path, "packed", "0 1 2 3\n4 5 6 7\n8 9 10 11\n");
}

static void rows_and_arrays_come_in_one_update(void **state)
{
    (void)state;
    const double more[6] = { 1, 2, 3, 4, 5, 6 };
    for (int order = 0; order < 2; order++) {
        const char *path = edit_file(&s, order == 0 ? "both.asdf" : "other.asdf", false);
        cip_change *e;
        cip_change *w;
        OK(cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &w, err));
        OK(cip_change_put(w, "first", cip_dtype_of(CIP_I16), 2, two, six, NULL, err));
        OK(cip_change_put(w, "last", cip_dtype_of(CIP_F64), 2, two, more, NULL, err));
        OK(cip_change_commit(&w, err));
        OK(cip_change_open(path, NULL, &e, err));
        if (order == 0)
            OK(cip_change_append(e, "last", cip_dtype_as_stored(), more, sizeof more / 2, err));
        OK(cip_change_put(e, "new", cip_dtype_of(CIP_I16), 2, two, six, NULL, err));
        if (order == 1)
            OK(cip_change_append(e, "last", cip_dtype_as_stored(), more, sizeof more / 2, err));
        OK(cip_change_append(e, "first", cip_dtype_as_stored(), six, sizeof six, err));
        OK(cip_change_commit(&e, err));
        edit_verify(path);
        edit_expect(path, "first", "1 2 3\n4 5 6\n1 2 3\n4 5 6\n");
        edit_expect(path, "last", "1.0 2.0 3.0\n4.0 5.0 6.0\n1.0 2.0 3.0\n");
        edit_expect(path, "new", "1 2 3\n4 5 6\n");
    }
}

static void a_file_without_blocks_or_tree_takes_an_array(void **state)
{
    (void)state;
    static const char *const texts[] = {
        ("#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n"
         "--- !core/asdf-1.1.0\na: 1\n...\n"),
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n",
        "#ASDF 1.0.0\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *path = scratch_path(&s, "bare.asdf");
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        fputs(texts[i], f);
        fclose(f);
        cip_change *e;
        OK(cip_change_open(path, NULL, &e, err));
        OK(cip_change_put(e, "x/y", cip_dtype_of(CIP_I16), 2, two, six, NULL, err));
        OK(cip_change_commit(&e, err));
        edit_verify(path);
        edit_expect(path, "x/y", "1 2 3\n4 5 6\n");
        size_t n;
        char *now = edit_bytes(path, &n);
        const char *tag = i == 2 ? "core/ndarray-1.1.0" : "core/ndarray-1.0.0";
        assert_non_null(memmem(now, n, tag, strlen(tag)));
        free(now);
    }
}

static void defrag_keeps_what_came_before_it(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "defrag.asdf", false);
    cip_change *e;
    cip_file *f;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_put(e, "new", cip_dtype_of(CIP_I16), 2, two, six, NULL, err));
    OK(cip_change_remove(e, "image", err));
    OK(cip_change_defrag(e, NULL, NULL, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    edit_expect(path, "new", "1 2 3\n4 5 6\n");
    edit_expect(path, "packed", "0 1 2 3\n4 5 6 7\n8 9 10 11\n");
    OK(cip_open(path, NULL, &f, err));
    assert_int_equal(cip_file_nblock(f), 2);
    cip_file_close(f);
}

static void a_file_in_memory_takes_an_array(void **state)
{
    (void)state;
    cip_memory *m;
    cip_change *w;
    cip_change *e;
    cip_file *f;
    size_t n;
    int16_t back[6] = { 0 };
    OK(cip_create_memory("asdf", NULL, &m, &w, err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I16), 2, two, six, NULL, err));
    OK(cip_change_commit(&w, err));
    OK(cip_change_open_memory(m, NULL, &e, err));
    OK(cip_change_put(e, "b", cip_dtype_of(CIP_I16), 2, two, six, NULL, err));
    OK(cip_change_commit(&e, err));
    const void *bytes = cip_memory_bytes(m, &n);
    OK(cip_open_memory(bytes, n, NULL, &f, err));
    OK(cip_read(cip_find(f, "b", err), NULL, cip_dtype_of(CIP_I16), back, sizeof back, err));
    assert_memory_equal(back, six, sizeof six);
    cip_file_close(f);
    cip_memory_free(m);
}

static void a_streamed_array_may_come_last(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "stream.asdf", false);
    cip_change *e;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_put(e, "rows", cip_dtype_of(CIP_I16), 2, two, six,
                      CIP_ARRAY_OPTIONS(.storage = "streamed"), err));
    FAILS(CIP_ERR_UNSUPPORTED, "finish it first",
          cip_change_put(e, "x", cip_dtype_of(CIP_I16), 2, two, six, NULL, err));
    cip_change_abort(&e);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_put(e, "rows", cip_dtype_of(CIP_I16), 2, two, six,
                      CIP_ARRAY_OPTIONS(.storage = "streamed"), err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    cip_file *f;
    OK(cip_open(path, NULL, &f, err));
    OK(cip_append(f, "rows", cip_dtype_of(CIP_I16), six, 6, err));
    cip_file_close(f);
    edit_expect(path, "rows", "1 2 3\n4 5 6\n1 2 3\n");
}

/* The elements of a 1-d array of int16 as the change has them. */
static void expect_now(cip_change *e, const char *path, const int16_t *want, int64_t n)
{
    const cip_array *a;
    int16_t now[64];
    OK(cip_change_array(e, path, &a, err));
    assert_int_equal(cip_array_shape(a)[0], n);
    OK(cip_read(a, NULL, cip_dtype_of(CIP_I16), now, (size_t)n * 2, err));
    assert_memory_equal(now, want, (size_t)n * 2);
}

/* Its elements and its shape, in whatever way it is stored; with the last of it it is as one that
 * came so at once. */
static void what_came_changes_before_the_commit(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const struct {
        const char *codec, *storage;
    } row[] = { { NULL, NULL },   { "zlib", NULL },   { "lz4", NULL },
                { "bls2", NULL }, { NULL, "inline" }, { NULL, "streamed" } };
    static const int64_t long_[] = { 3000 }, eight[] = { 8 };
    static const int16_t now[] = { 1, 20, 3, 0, 0, 9, 8, 7 };
    int16_t any[3000];
    for (int i = 0; i < 3000; i++) /* nothing that a codec makes smaller */
        any[i] = (int16_t)(i * 40503 ^ i * i * 7);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const cip_array_options o = { .size = sizeof o,
                                      .codec = row[i].codec,
                                      .storage = row[i].storage };
        const char *path = edit_file(&s, "came.asdf", false);
        cip_change *e;
        size_t n, m;
        OK(cip_change_open(path, NULL, &e, err));
        OK(cip_change_put(e, "new/x", cip_dtype_of(CIP_I16), 1, long_, any, &o, err));
        OK(cip_change_resize(e, "new/x", 1, (int64_t[]){ 3 }, err));
        OK(cip_change_write(e, "new/x", NULL, cip_dtype_of(CIP_I16), six, 6, err));
        expect_now(e, "new/x", six, 3);
        OK(cip_change_write(e, "new/x", "[1]", cip_dtype_of(CIP_I32), &(int32_t){ 20 }, 4, err));
        OK(cip_change_append(e, "new/x", cip_dtype_of(CIP_I16), now + 5, 6, err));
        OK(cip_change_insert(e, "new/x", 0, 3, cip_dtype_of(CIP_I16), six, 6, err));
        OK(cip_change_delete(e, "new/x", 0, -6, 1, err));
        OK(cip_change_write(e, "new/x", "[3:5]", cip_dtype_of(CIP_I16), now + 3, 4, err));
        expect_now(e, "new/x", now, 8);
        FAILS(CIP_ERR_RANGE, "",
              cip_change_write(e, "new/x", "[9]", cip_dtype_of(CIP_I16), six, 2, err));
        OK(cip_change_forget_failure(e, err));
        OK(cip_change_commit(&e, err));
        edit_verify(path);
        edit_expect(path, "new/x", "1 20 3 0 0 9 8 7\n");
        edit_expect(path, "few", "10 20 30\n");
        char *changed = edit_bytes(path, &n);

        assert_int_equal(unlink(path), 0);
        path = edit_file(&s, "came.asdf", false);
        OK(cip_change_open(path, NULL, &e, err));
        OK(cip_change_put(e, "new/x", cip_dtype_of(CIP_I16), 1, eight, now, &o, err));
        OK(cip_change_commit(&e, err));
        char *whole = edit_bytes(path, &m);
        if (row[i].codec == NULL) { /* one that grew has its chunks otherwise */
            assert_int_equal(n, m);
            assert_memory_equal(changed, whole, n);
        }
        free(changed);
        free(whole);
        assert_int_equal(unlink(path), 0);
    }
}

/* A codec that did not shrink what came has another try with what it became. */
static void what_came_is_stored_as_it_was_to_be(void **state)
{
    (void)state;
    NEEDS_CODECS();
    const char *path = edit_file(&s, "try.asdf", false);
    int16_t any[3000], zeros[3000] = { 0 };
    static const int64_t shape[] = { 3000 };
    const cip_array *a;
    cip_change *e;
    cip_file *f;
    for (int i = 0; i < 3000; i++)
        any[i] = (int16_t)(i * 40503 ^ i * i * 7);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_put(e, "x", cip_dtype_of(CIP_I16), 1, shape, any,
                      CIP_ARRAY_OPTIONS(.codec = "lz4:9"), err));
    OK(cip_change_array(e, "x", &a, err));
    assert_string_equal(a->storage.codec, "none");
    OK(cip_change_write(e, "x", NULL, cip_dtype_of(CIP_I16), zeros, sizeof zeros, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    OK(cip_open(path, NULL, &f, err));
    a = cip_find(f, "x", NULL);
    assert_string_equal(a->storage.codec, "lz4");
    OK(cip_read(a, NULL, cip_dtype_of(CIP_I16), any, sizeof any, err));
    assert_memory_equal(any, zeros, sizeof any);
    assert_non_null(cip_tree_get(cip_file_tree(f), "history/extensions/0", NULL));
    cip_file_close(f);
}

/* Whatever took its name from the tree since: a value at another name of the node, an array. */
static void a_codec_is_named_again_where_it_went(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const char uri[] = "compression/extensions/zstd-1.0.0", alias[] = "also: *h\n...\n";
    static const int64_t shape[] = { 3000 };
    static int16_t zeros[3000];
    for (int i = 0; i < 2; i++) {
        const char *path = scratch_path(&s, "named.asdf"), *text;
        const cip_array_options *o = CIP_ARRAY_OPTIONS(.codec = "zstd", .replace = 1);
        cip_change *e;
        size_t n, from;
        OK(cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &e, err));
        OK(cip_change_put(e, "first", cip_dtype_of(CIP_I16), 1, two, six, NULL, err));
        OK(cip_change_commit(&e, err));
        OK(cip_change_open(path, NULL, &e, err));
        OK(cip_change_text(e, &text, &n, err));
        char anchored[4096];
        from = (size_t)((const char *)memmem(text, n, "history:", 8) + 8 - text);
        OK(cip_change_set_text(e, anchored,
                               (size_t)snprintf(anchored, sizeof anchored, "%.*s%s%.*s%s",
                                                (int)from, text, i == 0 ? " &h" : "",
                                                (int)(n - from - 4), text + from,
                                                i == 0 ? alias : "...\n"),
                               err));
        OK(cip_change_put(e, "a", cip_dtype_of(CIP_I16), 1, shape, zeros, o, err));
        if (i == 0)
            OK(cip_change_set_yaml(e, "also/extensions", "[]", err));
        else
            OK(cip_change_put(e, "history/extensions/1", cip_dtype_of(CIP_I16), 1, shape, zeros, o,
                              err));
        OK(cip_change_put(e, "b", cip_dtype_of(CIP_I16), 1, shape, zeros, o, err));
        OK(cip_change_text(e, &text, &n, err));
        const char *once = memmem(text, n, uri, strlen(uri));
        assert_non_null(once);
        assert_null(memmem(once + 1, n - (size_t)(once + 1 - text), uri, strlen(uri)));
        OK(cip_change_commit(&e, err));
        edit_verify(path);
    }
}

/* What 200 arrays of two codecs by turns ask of the allocator. */
static size_t requests_for(const char *one, const char *other)
{
    static const int64_t shape[] = { 3000 };
    static int16_t zeros[3000];
    fail_alloc fa = { .fail_at = 0 };
    const cip_allocator from = { fail_alloc_resize, &fa };
    const char *path = edit_file(&s, "turns.asdf", false);
    cip_change *e;
    OK(cip_change_open(path, CIP_CHANGE_OPTIONS(.allocator = &from, .threads = 1), &e, err));
    for (int i = 0; i < 200; i++) {
        char name[20];
        snprintf(name, sizeof name, "a%d", i);
        OK(cip_change_put(e, name, cip_dtype_of(CIP_I16), 1, shape, zeros,
                          CIP_ARRAY_OPTIONS(.codec = i % 2 == 0 ? one : other), err));
    }
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    assert_int_equal(unlink(path), 0);
    return fa.requests;
}

static void arrays_of_several_codecs_cost_no_more_than_of_one(void **state)
{
    (void)state;
    NEEDS_CODECS();
    const size_t same = requests_for("zstd", "zstd");
    assert_in_range(requests_for("zstd", "blsc"), 1, same + same / 4);
    assert_in_range(requests_for("zstd", "none"), 1, same + same / 4);
}

/* Whatever else becomes of it, and of what had its place. */
static void what_came_and_changed_goes_as_others_do(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "goes.asdf", false);
    static const int16_t other[] = { 1, 7, 3, 4, 5, 6 };
    static const int64_t flat[] = { 6 };
    const uint8_t mask[] = { 0, 1, 0, 0, 0, 0 };
    const cip_array *a;
    cip_change *e;
    size_t n, m;
    char *was = edit_bytes(path, &n);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_put(e, "few", cip_dtype_of(CIP_I16), 1, flat, six,
                      CIP_ARRAY_OPTIONS(.replace = 1), err));
    OK(cip_change_write(e, "few", "[1]", cip_dtype_of(CIP_I16), other + 1, 2, err));
    OK(cip_change_remove(e, "few", err));
    FAILS(CIP_ERR_NOT_FOUND, "was removed",
          cip_change_write(e, "few", "[1]", cip_dtype_of(CIP_I16), other + 1, 2, err));
    OK(cip_change_forget_failure(e, err));
    OK(cip_change_put(e, "few", cip_dtype_of(CIP_I16), 1, flat, six, NULL, err));
    OK(cip_change_write(e, "few", "[1]", cip_dtype_of(CIP_I16), other + 1, 2, err));
    OK(cip_change_move(e, "few", "less", false, err));
    OK(cip_change_write(e, "less", "[3]", cip_dtype_of(CIP_I16), other, 2, err));
    OK(cip_change_resize(e, "less", 1, (int64_t[]){ 4 }, err));
    OK(cip_change_move(e, "packed", "b/packed", false, err));
    OK(cip_change_append(e, "b/packed", cip_dtype_of(CIP_I16), six, 8, err));
    OK(cip_change_move(e, "b", "c", false, err));
    OK(cip_change_delete(e, "c/packed", 0, 0, 1, err));
    OK(cip_change_move(e, "less", "packed", false, err));
    expect_now(e, "packed", (int16_t[]){ 1, 7, 3, 1 }, 4);
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    edit_expect(path, "packed", "1 7 3 1\n");
    edit_expect(path, "c/packed", "4 5 6 7\n8 9 10 11\n1 2 3 4\n");

    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_put(e, "m", cip_dtype_of(CIP_I16), 1, flat, six, CIP_ARRAY_OPTIONS(.mask = mask),
                      err));
    OK(cip_change_write(e, "m", "[0]", cip_dtype_of(CIP_I16), other + 1, 2, err));
    FAILS(CIP_ERR_UNSUPPORTED, "mask", cip_change_resize(e, "m", 1, two, err));
    OK(cip_change_forget_failure(e, err));
    OK(cip_change_remove(e, "packed", err));
    OK(cip_change_defrag(e, NULL, NULL, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    edit_expect(path, "m", "7 -- 3 4 5 6\n");
    free(was);

    path = edit_file(&s, "again.asdf", false);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_put(e, "x", cip_dtype_of(CIP_I16), 1, flat, six,
                      CIP_ARRAY_OPTIONS(.storage = "inline"), err));
    OK(cip_change_write(e, "x", "[1]", cip_dtype_of(CIP_I16), other + 1, 2, err));
    OK(cip_change_remove(e, "x", err));
    OK(cip_change_put(e, "x", cip_dtype_of(CIP_I16), 1, flat, six, NULL, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    edit_expect(path, "x", "1 2 3 4 5 6\n");

    path = edit_file(&s, "mark.asdf", false);
    was = edit_bytes(path, &n);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_mark(e, NULL, err));
    OK(cip_change_put(e, "x", cip_dtype_of(CIP_I16), 1, flat, six, NULL, err));
    FAILS(CIP_ERR_RANGE, "", cip_change_write(e, "x", NULL, cip_dtype_of(CIP_I16), six, 8, err));
    OK(cip_change_forget_failure(e, err));
    OK(cip_change_undo(e, 0, err));
    OK(cip_change_put(e, "x", cip_dtype_of(CIP_I16), 1, flat, six, NULL, err));
    OK(cip_change_write(e, "x", "[1]", cip_dtype_of(CIP_I16), other + 1, 2, err));
    OK(cip_change_array(e, "x", &a, err));
    OK(cip_change_undo(e, 0, err));
    FAILS(CIP_ERR_NOT_FOUND, "x", cip_change_array(e, "x", &a, err));
    cip_change_abort(&e);
    char *same = edit_bytes(path, &m);
    assert_int_equal(n, m);
    assert_memory_equal(was, same, n);
    free(was);
    free(same);
}

static void other_formats_take_no_array(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "one.ra");
    cip_change *w;
    cip_change *e;
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_put(w, "", cip_dtype_of(CIP_I16), 2, two, six, NULL, err));
    OK(cip_change_commit(&w, err));
    OK(cip_change_open(path, NULL, &e, err));
    FAILS(CIP_ERR_UNSUPPORTED, "adding arrays",
          cip_change_put(e, "x", cip_dtype_of(CIP_I16), 2, two, six, NULL, err));
    cip_change_abort(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_comes_behind_the_others),
        cmocka_unit_test(a_last_block_ends_where_the_next_begins),
        cmocka_unit_test(several_come_in_one_update),
        cmocka_unit_test(what_cannot_come_is_refused),
        cmocka_unit_test(a_refusal_names_the_path_of_the_caller),
        cmocka_unit_test(the_place_of_a_slab_is_taken),
        cmocka_unit_test(a_slab_replaces_what_is_there),
        cmocka_unit_test(memory_that_runs_out_in_a_refusal),
        cmocka_unit_test(a_commit_after_a_failed_plan_fails_as_it_did),
        cmocka_unit_test(a_slab_comes_behind_what_defrag_leaves),
        cmocka_unit_test(rows_and_arrays_come_in_one_update),
        cmocka_unit_test(a_file_without_blocks_or_tree_takes_an_array),
        cmocka_unit_test(defrag_keeps_what_came_before_it),
        cmocka_unit_test(a_file_in_memory_takes_an_array),
        cmocka_unit_test(a_streamed_array_may_come_last),
        cmocka_unit_test(what_came_changes_before_the_commit),
        cmocka_unit_test(what_came_is_stored_as_it_was_to_be),
        cmocka_unit_test(a_codec_is_named_again_where_it_went),
        cmocka_unit_test(arrays_of_several_codecs_cost_no_more_than_of_one),
        cmocka_unit_test(what_came_and_changed_goes_as_others_do),
        cmocka_unit_test(other_formats_take_no_array),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
