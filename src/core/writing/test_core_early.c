/* SPDX-License-Identifier: BSD-3-Clause
 * ASDF 0.1 through the public calls: written, updated by the chains of its blocks, converted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "support/own_folder.h"

static int note(void *user, const cip_finding *f)
{
    assert_int_equal(f->severity, CIP_NOTE);
    snprintf(user, 200, "%s: %s", f->part, f->text);
    return 0;
}

static const int64_t shape[] = { 4, 3 };
static const float values[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };

/* tiles: float32 [4, 3] in tiles; plain: the same as it is; lossy: the same with 12 bits each. */
static const char *early_file(const char *name)
{
    char text[200] = "";
    const char *path = scratch_path(&s, name);
    const cip_change_options o = { .size = sizeof o,
                                   .overwrite = true,
                                   .version = "0.1.0",
                                   .accept_loss = true,
                                   .on_note = note,
                                   .user = text };
    cip_change *w;
    OK(cip_create(path, &o, &w, err));
    OK(cip_change_put(
        w, "tiles", cip_dtype_of(CIP_F32), 2, shape, values,
        CIP_ARRAY_OPTIONS(.format_options = CIP_TEXTS("encode=[[tile, {shape: [2, 2]}], zlib]")),
        err));
    OK(cip_change_put(w, "plain", cip_dtype_of(CIP_F32), 2, shape, values, NULL, err));
    OK(cip_change_put(
        w, "lossy", cip_dtype_of(CIP_F32), 2, shape, values,
        CIP_ARRAY_OPTIONS(.format_options = CIP_TEXTS("encode=[[quantize, {bits: 24}]]")), err));
    OK(cip_change_commit(&w, err));
    assert_non_null(strstr(text, "lossy: the largest error of a value is "));
    edit_verify(path);
    return path;
}

static void expect_codec(const char *path, const char *array, const char *codec)
{
    cip_file *f;
    cip_array_storage st = { .size = sizeof st };
    OK(cip_open(path, NULL, &f, err));
    assert_string_equal(cip_file_version(f), "0.1.0");
    OK(cip_array_get_storage(cip_find(f, array, err), &st, err));
    assert_string_equal(st.codec, codec);
    cip_file_close(f);
}

static cip_change *begin(const char *path, const cip_change_options *o)
{
    cip_change *e = NULL;
    OK(cip_change_open(path, o, &e, err));
    return e;
}

static void elements_and_rows_go_through_the_blocks_own_chain(void **state)
{
    (void)state;
    const char *path = early_file("a.asdf");
    const float x[] = { -1, -2, -3 };
    cip_change *e = begin(path, NULL);
    OK(cip_change_write(e, "tiles", "[1]", cip_dtype_as_stored(), x, sizeof x, err));
    OK(cip_change_write(e, "plain", "[1]", cip_dtype_as_stored(), x, sizeof x, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    edit_expect(path, "tiles", "0.0 1.0 2.0\n-1.0 -2.0 -3.0\n6.0 7.0 8.0\n9.0 10.0 11.0\n");
    e = begin(path, NULL);
    OK(cip_change_append(e, "tiles", cip_dtype_as_stored(), x, sizeof x, err));
    OK(cip_change_append(e, "plain", cip_dtype_as_stored(), x, sizeof x, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    expect_codec(path, "tiles", "tile+zlib");
    edit_expect(path, "tiles",
                "0.0 1.0 2.0\n-1.0 -2.0 -3.0\n6.0 7.0 8.0\n9.0 10.0 11.0\n-1.0 -2.0 -3.0\n");
    edit_expect(path, "plain",
                "0.0 1.0 2.0\n-1.0 -2.0 -3.0\n6.0 7.0 8.0\n9.0 10.0 11.0\n-1.0 -2.0 -3.0\n");
}

static void shapes_change_the_chains_arguments(void **state)
{
    (void)state;
    const char *path = early_file("a.asdf");
    const int64_t to[] = { 3, 5 };
    cip_change *e = begin(path, NULL);
    OK(cip_change_resize(e, "tiles", 2, to, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    edit_expect(path, "tiles", "0.0 1.0 2.0 0.0 0.0\n3.0 4.0 5.0 0.0 0.0\n6.0 7.0 8.0 0.0 0.0\n");
    size_t n;
    char *bytes = edit_bytes(path, &n);
    static const char text[] =
        "--- [[tile, {shape: [2, 2], item_size: 4, original_shape: [3, 5]}], zlib]\n...\n";
    assert_non_null(memmem(bytes, n, text, sizeof text - 1));
    free(bytes);
}

static void a_lossy_chain_is_run_again_only_where_that_is_accepted(void **state)
{
    (void)state;
    size_t n, m;
    char told[200] = "";
    const char *path = early_file("a.asdf");
    const float x[] = { 3, 4, 5.5f };
    char *before = edit_bytes(path, &n);
    cip_change *e = begin(path, NULL);
    OK(cip_change_write(e, "lossy", "[1]", cip_dtype_as_stored(), x, sizeof x, err));
    FAILS(CIP_ERR_UNSUPPORTED, ".accept_loss", cip_change_commit(&e, err));
    char *after = edit_bytes(path, &m);
    assert_int_equal(n, m);
    assert_memory_equal(before, after, n);
    free(before);
    free(after);
    e = begin(path, CIP_CHANGE_OPTIONS(.accept_loss = true, .on_note = note, .user = told));
    OK(cip_change_write(e, "lossy", "[1]", cip_dtype_as_stored(), x, sizeof x, err));
    OK(cip_change_commit(&e, err));
    assert_non_null(strstr(told, "lossy: the largest error of a value is "));
    expect_codec(path, "lossy", "quantize");
    e = begin(path, NULL); /* the tree, and other blocks, are changed without it */
    OK(cip_change_set_string(e, "note", "x", err));
    OK(cip_change_write(e, "plain", "[1]", cip_dtype_as_stored(), x, sizeof x, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
}

static cip_status put_with(const cip_allocator *from, const char *path)
{
    const float x[] = { 3, 4, 5.5f };
    const cip_open_options open = { .size = sizeof open, .allocator = from, .threads = 1 };
    cip_change *e;
    cip_status st = cip_change_open(
        path, CIP_CHANGE_OPTIONS(.open = &open, .level = CIP_LEVEL_PROCESS, .accept_loss = true),
        &e, NULL);
    if (st == CIP_OK)
        st = cip_change_write(e, "tiles", "[1]", cip_dtype_as_stored(), x, sizeof x, NULL);
    if (st == CIP_OK)
        st = cip_change_write(e, "lossy", "[1]", cip_dtype_as_stored(), x, sizeof x, NULL);
    if (st == CIP_OK)
        return cip_change_commit(&e, NULL);
    cip_change_abort(&e);
    return st;
}

static void every_allocation_of_an_update_may_fail(void **state)
{
    (void)state;
    size_t n, m;
    const char *path = early_file("a.asdf");
    char *before = edit_bytes(path, &n);
    for (size_t at = 1;; at++) {
        fail_alloc fa = { .fail_at = at };
        const cip_allocator from = { fail_alloc_resize, &fa };
        cip_status st = put_with(&from, path);
        assert_int_equal(fa.held, 0);
        if (fa.requests < at) {
            assert_int_equal(st, CIP_OK);
            break;
        }
        if (st == CIP_OK) /* it did without: a warning, or room for more pieces at once */
            early_file("a.asdf");
        else
            assert_int_equal(st, CIP_ERR_NOMEM);
        char *after = edit_bytes(path, &m);
        assert_int_equal(n, m);
        assert_memory_equal(before, after, n);
        free(after);
    }
    free(before);
    expect_codec(path, "tiles", "tile+zlib");
}

static void another_chain_may_be_asked_for(void **state)
{
    (void)state;
    const char *path = early_file("a.asdf");
    const float x[] = { 3, 4, 5.5f };
    cip_change *e =
        begin(path, CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("encode=[zlib, zlib]")));
    OK(cip_change_write(e, "plain", "[1]", cip_dtype_as_stored(), x, sizeof x, err));
    OK(cip_change_write(e, "lossy", "[1]", cip_dtype_as_stored(), x, sizeof x, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    expect_codec(path, "plain", "zlib+zlib");
    expect_codec(path, "lossy", "zlib+zlib");
    expect_codec(path, "tiles", "tile+zlib");
    edit_expect(path, "plain", "0.0 1.0 2.0\n3.0 4.0 5.5\n6.0 7.0 8.0\n9.0 10.0 11.0\n");
    e = begin(path, CIP_CHANGE_OPTIONS(.format_options =
                                           CIP_TEXTS("encode=[[tile, {shape: [1, 1, 1]}]]")));
    OK(cip_change_write(e, "plain", "[1]", cip_dtype_as_stored(), x, sizeof x, err));
    FAILS(CIP_ERR_ARG, "at most 2 axes", cip_change_commit(&e, err));
    const char *other = edit_file(&s, "b.asdf", false);
    FAILS(CIP_ERR_UNSUPPORTED, "layout B",
          cip_change_open(other, CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("encode=[zlib]")),
                          &e, err));
}

static void a_chain_that_nothing_would_go_through_is_refused(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "a.asdf");
    const cip_change_options o = { .size = sizeof o, .overwrite = true, .version = "0.1.0" };
    const float x[] = { 3, 4, 5.5f };
    cip_change *w;
    cip_change *e;
    OK(cip_create(path, &o, &w, err));
    OK(cip_change_put(w, "here", cip_dtype_of(CIP_F32), 2, shape, values,
                      CIP_ARRAY_OPTIONS(.storage = "inline"), err));
    OK(cip_change_put(w, "rows", cip_dtype_of(CIP_F32), 2, shape, values,
                      CIP_ARRAY_OPTIONS(.storage = "streamed"), err));
    OK(cip_change_commit(&w, err));
    e = begin(path, CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("encode=[zlib]")));
    FAILS(CIP_ERR_UNSUPPORTED, "inline data have no encoding chain",
          cip_change_write(e, "here", "[1]", cip_dtype_as_stored(), x, sizeof x, err));
    cip_change_abort(&e);
    e = begin(path, CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("encode=[zlib]")));
    FAILS(CIP_ERR_UNSUPPORTED, "streamed data have no encoding chain",
          cip_change_append(e, "rows", cip_dtype_as_stored(), x, sizeof x, err));
    cip_change_abort(&e);
    FAILS(CIP_ERR_UNSUPPORTED, "frobnicate",
          cip_change_open(path,
                          CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("encode=[frobnicate]")),
                          &e, err));
}

/* In the file, the text behind `key` where it first stands as `from` becomes `to`, as long. */
static void patch(const char *path, const char *key, const char *from, const char *to)
{
    size_t n;
    char *bytes = edit_bytes(path, &n), *at = memmem(bytes, n, key, strlen(key));
    assert_non_null(at);
    at = memmem(at, n - (size_t)(at - bytes), from, strlen(from));
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    FILE *f = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    free(bytes);
}

/* The arrays are of another shape than the chains say, or of only some of the bytes. */
static void a_block_is_encoded_as_its_chain_says(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "a.asdf");
    const cip_change_options o = { .size = sizeof o,
                                   .overwrite = true,
                                   .version = "0.1.0",
                                   .accept_loss = true,
                                   .byteorder = "big" };
    const float x[] = { -1 };
    char told[200] = "";
    cip_change *w;
    cip_change *e;
    OK(cip_create(path, &o, &w, err));
    OK(cip_change_put(
        w, "t", cip_dtype_of(CIP_F32), 2, shape, values,
        CIP_ARRAY_OPTIONS(.format_options = CIP_TEXTS("encode=[[tile, {shape: [2, 2]}], zlib]")),
        err));
    OK(cip_change_put(
        w, "q", cip_dtype_of(CIP_F32), 2, shape, values,
        CIP_ARRAY_OPTIONS(.format_options = CIP_TEXTS("encode=[[quantize, {bits: 24}]]")), err));
    OK(cip_change_commit(&w, err));
    patch(path, "\nt:", "shape: [4, 3]", "shape: [12]  ");
    patch(path, "\nq:", "shape: [4, 3]", "shape: [10]  ");
    patch(path, "--- [[quantize", "bits: 24", "note: ab");
    edit_expect(path, "t", "0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 10.0 11.0\n");
    e = begin(path, CIP_CHANGE_OPTIONS(.accept_loss = true, .on_note = note, .user = told));
    OK(cip_change_write(e, "t", "[1:2]", cip_dtype_as_stored(), x, sizeof x, err));
    OK(cip_change_write(e, "q", "[1:2]", cip_dtype_as_stored(), x, sizeof x, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    size_t n;
    char *bytes = edit_bytes(path, &n);
    static const char text[] =
        "[[quantize, {note: ab, dtype: 32, original_shape: [4, 3], bits: 32}]]\n...\n";
    assert_non_null(memmem(bytes, n, text, sizeof text - 1));
    free(bytes);
    edit_expect(path, "t", "0.0 -1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 10.0 11.0\n");
    cip_file *f;
    float y[10] = { 0 };
    OK(cip_open(path, NULL, &f, err));
    OK(cip_read(cip_find(f, "q", err), NULL, cip_dtype_as_stored(), y, sizeof y, err));
    cip_file_close(f);
    for (int i = 0; i < 10; i++)
        assert_float_equal(y[i], i == 1 ? -1 : (float)i, 1e-5);
}

static void the_file_stays_without_index_and_checksums(void **state)
{
    (void)state;
    size_t n;
    const char *path = early_file("a.asdf");
    const float x[] = { 3, 4, 5.5f };
    cip_change *e = begin(path, CIP_CHANGE_OPTIONS(.history = "moved"));
    for (int i = 0; i < 400; i++) {
        char key[20];
        snprintf(key, sizeof key, "key%d", i);
        OK(cip_change_set_string(e, key, "more than there is room for", err));
    }
    OK(cip_change_append(e, "plain", cip_dtype_as_stored(), x, sizeof x, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    char *bytes = edit_bytes(path, &n);
    assert_null(memmem(bytes, n, "BLOCK INDEX", 11));
    assert_non_null(memmem(bytes, n, "history: [{description: moved, software: {name", 46));
    free(bytes);
    e = begin(path, CIP_CHANGE_OPTIONS(.checksum = "md5"));
    OK(cip_change_write(e, "plain", "[1]", cip_dtype_as_stored(), x, sizeof x, err));
    FAILS(CIP_ERR_UNSUPPORTED, "has no checksums", cip_change_commit(&e, err));
}

/* Every byte with the key that stands in the chain, and back; wrong with some keys. */
static cip_status xor_encode(void *user, const char *args, const void *src, size_t n, void *dst,
                             size_t cap, size_t *out, cip_err *err)
{
    unsigned key = 0;
    uint8_t *to = dst;
    assert_int_equal(sscanf(args, "{key: %u}", &key), 1);
    ++*(int *)user;
    if (key == 0) {
        snprintf(err->text, sizeof err->text, "the key is 0");
        return CIP_ERR_ARG;
    }
    *out = key == 99 ? cap + 1 : n;
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(((const uint8_t *)src)[i] ^ key);
    return CIP_OK;
}

static size_t xor_bound(void *user, const char *args, size_t n)
{
    (void)user;
    (void)args;
    return n;
}

static cip_status put_xor(const cip_codec_methods *m, const char *chain, cip_err *err)
{
    const cip_codec_methods *list[] = { m };
    char encode[100];
    snprintf(encode, sizeof encode, "encode=%s", chain);
    const cip_change_options o = { .size = sizeof o,
                                   .overwrite = true,
                                   .format_options = CIP_TEXTS(encode),
                                   .codecs = list,
                                   .ncodec = 1 };
    cip_change *w;
    cip_create(scratch_path(&s, "x.asdf"), &o, &w, err);
    cip_change_put(w, "a", cip_dtype_of(CIP_F32), 2, shape, values, NULL, err);
    return cip_change_commit(&w, err);
}

static void an_applications_encoding_is_written_and_updated(void **state)
{
    (void)state;
    int calls = 0;
    cip_codec_methods m = { CIP_CODEC_METHODS_INIT, .name = "xor",        .user = &calls,
                            .decode = xor_encode,   .encode = xor_encode, .bound = xor_bound };
    const cip_codec_methods *list[] = { &m };
    const cip_open_options open = { .size = sizeof open, .codecs = list, .ncodec = 1 };
    const float x[] = { 3, 4, 5.5f };
    cip_file *f;
    float got[3];
    OK(put_xor(&m, "[[xor, {key: 90}], zlib]", err));
    assert_int_equal(calls, 1);
    const char *path = scratch_path(&s, "x.asdf");
    cip_change *e = begin(path, CIP_CHANGE_OPTIONS(.open = &open));
    OK(cip_change_write(e, "a", "[1]", cip_dtype_as_stored(), x, sizeof x, err));
    OK(cip_change_commit(&e, err));
    OK(cip_open(path, &open, &f, err));
    OK(cip_read(cip_find(f, "a", err), "[1]", cip_dtype_as_stored(), got, sizeof got, err));
    assert_memory_equal(got, x, sizeof x);
    cip_file_close(f);
    FAILS(CIP_ERR_ARG, "the key is 0", put_xor(&m, "[[xor, {key: 0}]]", err));
    FAILS(CIP_ERR_CORRUPT, "expected at most 48 bytes", put_xor(&m, "[[xor, {key: 99}]]", err));
    m.encode = NULL;
    FAILS(CIP_ERR_UNSUPPORTED, "'xor' cannot be written", put_xor(&m, "[[xor, {key: 90}]]", err));
}

static void options_of_a_format_are_told_and_no_others_taken(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "o.asdf"), *help = NULL;
    cip_change *w;
    cip_change *e;
    assert_string_equal(cip_format_option_at("asdf", 0, &help), "encode");
    assert_non_null(strstr(help, "chain"));
    assert_string_equal(cip_format_option_at("asdf", 1, NULL), "filter");
    assert_null(cip_format_option_at("asdf", 2, NULL));
    assert_null(cip_format_option_at("npy", 0, NULL));
    assert_null(cip_format_option_at("no such", 0, NULL));
    FAILS(
        CIP_ERR_UNSUPPORTED, "ASDF has no option 'encod', but encode",
        cip_create(path, CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("encod=[zlib]")), &w, err));
    FAILS(CIP_ERR_ARG, "expected an option as KEY=VALUE",
          cip_create(path, CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("encode")), &w, err));
    OK(cip_create(path, /* of one that comes twice the last counts */
                  CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("encode=[", "encode=[zlib]")), &w,
                  err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_F32), 2, shape, values, NULL, err));
    OK(cip_change_commit(&w, err));
    FAILS(
        CIP_ERR_UNSUPPORTED, "no option 'level'",
        cip_change_open(path, CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("level=1")), &e, err));
    FAILS(CIP_ERR_UNSUPPORTED, "no option 'level'",
          cip_convert(path, scratch_path(&s, "p.asdf"),
                      CIP_CONVERT_OPTIONS(.format_options = CIP_TEXTS("level=1")), err));
}

static void writing_refuses_what_is_lost_unless_it_is_accepted(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "c.asdf");
    cip_change *w;
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("encode=[quantize]")), &w,
                  err));
    FAILS(CIP_ERR_UNSUPPORTED, "values are not kept exactly",
          cip_change_put(w, "a", cip_dtype_of(CIP_F32), 2, shape, values, NULL, err));
    cip_change_abort(&w);
    OK(cip_create(path, NULL, &w, err));
    FAILS(CIP_ERR_ARG, "version 0.1.0",
          cip_change_put(w, "a", cip_dtype_of(CIP_F32), 2, shape, values,
                         CIP_ARRAY_OPTIONS(.format_options = CIP_TEXTS("encode=[zlib]")), err));
    cip_change_abort(&w);
    FAILS(CIP_ERR_UNSUPPORTED, "no option 'encode'",
          cip_create(scratch_path(&s, "c.npy"),
                     CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("encode=[zlib]")), &w, err));
}

static void masks_and_empty_arrays_have_what_fits_them(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "m.asdf");
    const uint8_t mask[12] = { 0, 1 };
    const int64_t none[] = { 0, 3 };
    cip_change *w;
    OK(cip_create(path,
                  CIP_CHANGE_OPTIONS(.overwrite = true, .version = "0.1.0", .accept_loss = true),
                  &w, err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_F32), 2, shape, values,
                      CIP_ARRAY_OPTIONS(.format_options = CIP_TEXTS(
                                            "encode=[[tile, {shape: [3, 3]}], quantize, zlib]"),
                                        .mask = mask),
                      err));
    OK(cip_change_put(w, "none", cip_dtype_of(CIP_F32), 2, none, values,
                      CIP_ARRAY_OPTIONS(.format_options = CIP_TEXTS("encode=[quantize]")), err));
    OK(cip_change_commit(&w, err));
    edit_verify(path);
    expect_codec(path, "a", "tile+quantize+zlib");
    expect_codec(path, "none", "none");
    static const char text[] =
        "--- [[tile, {shape: [3, 3], item_size: 1, original_shape: [4, 3]}], zlib]\n...\n";
    size_t n;
    char *bytes = edit_bytes(path, &n);
    assert_non_null(memmem(bytes, n, text, sizeof text - 1));
    free(bytes);
    const int64_t to[] = { 0, 3 };
    path = early_file("a.asdf");
    cip_change *e = begin(path, NULL);
    OK(cip_change_resize(e, "tiles", 2, to, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    expect_codec(path, "tiles", "tile+zlib");
}

/* In place of a file beside: one array `a` of n rows of 3. */
static void replace_member(const char *name, const char *version, const char *codec, int64_t rows,
                           int64_t cols)
{
    const int64_t dims[] = { rows, cols };
    float v[24];
    cip_change *w;
    for (int i = 0; i < 24; i++)
        v[i] = (float)i;
    OK(cip_create(scratch_path(&s, name),
                  CIP_CHANGE_OPTIONS(.overwrite = true, .version = version, .codec = codec), &w,
                  err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_F32), 2, dims, v, NULL, err));
    OK(cip_change_commit(&w, err));
}

static const char *explode_and_implode(const char *path, const char *member, const char *version,
                                       const char *codec, int64_t rows, int64_t cols)
{
    char from[300], apart[300], whole[300];
    const cip_explode_options o = { .size = sizeof o, .overwrite = true };
    snprintf(from, sizeof from, "%s", path);
    snprintf(apart, sizeof apart, "%s", scratch_path(&s, "x.asdf"));
    snprintf(whole, sizeof whole, "%s", scratch_path(&s, "y.asdf"));
    OK(cip_explode(from, apart, &o, err));
    edit_verify(apart);
    replace_member(member, version, codec, rows, cols);
    OK(cip_implode(apart, whole, &o, err));
    edit_verify(whole);
    return scratch_path(&s, "y.asdf");
}

static void imploded_blocks_get_the_layout_of_the_file(void **state)
{
    (void)state;
    NEEDS_CODECS();
    const char *path = explode_and_implode(early_file("a.asdf"), "x0001.asdf", NULL, "lz4", 4, 3);
    expect_codec(path, "tiles", "tile+zlib");
    expect_codec(path, "plain", "none");
    edit_expect(path, "plain", "0.0 1.0 2.0\n3.0 4.0 5.0\n6.0 7.0 8.0\n9.0 10.0 11.0\n");
    path = edit_file(&s, "c2.asdf", false);
    path = explode_and_implode(path, "x0000.asdf", "0.1.0", "zlib", 4, 6);
    edit_expect(path, "image",
                "0.0 1.0 2.0 3.0 4.0 5.0\n6.0 7.0 8.0 9.0 10.0 11.0\n"
                "12.0 13.0 14.0 15.0 16.0 17.0\n18.0 19.0 20.0 21.0 22.0 23.0\n");
    edit_expect(path, "packed", "0 1 2 3\n4 5 6 7\n8 9 10 11\n");
}

static void convert_brings_it_to_the_newest_version(void **state)
{
    (void)state;
    cip_file *f;
    const char *path = early_file("a.asdf");
    char out[300];
    snprintf(out, sizeof out, "%s", scratch_path(&s, "new.asdf"));
    OK(cip_convert(path, out, CIP_CONVERT_OPTIONS(.overwrite = true), err));
    OK(cip_open(out, NULL, &f, err));
    assert_string_equal(cip_file_version(f), "1.0.0");
    cip_file_close(f);
    edit_verify(out);
    edit_expect(out, "tiles", "0.0 1.0 2.0\n3.0 4.0 5.0\n6.0 7.0 8.0\n9.0 10.0 11.0\n");
    OK(cip_convert(out, path, CIP_CONVERT_OPTIONS(.overwrite = true, .version = "0.1.0"), err));
    edit_verify(path);
    edit_expect(path, "tiles", "0.0 1.0 2.0\n3.0 4.0 5.0\n6.0 7.0 8.0\n9.0 10.0 11.0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_and_rows_go_through_the_blocks_own_chain),
        cmocka_unit_test(shapes_change_the_chains_arguments),
        cmocka_unit_test(a_lossy_chain_is_run_again_only_where_that_is_accepted),
        cmocka_unit_test(every_allocation_of_an_update_may_fail),
        cmocka_unit_test(another_chain_may_be_asked_for),
        cmocka_unit_test(a_chain_that_nothing_would_go_through_is_refused),
        cmocka_unit_test(a_block_is_encoded_as_its_chain_says),
        cmocka_unit_test(the_file_stays_without_index_and_checksums),
        cmocka_unit_test(an_applications_encoding_is_written_and_updated),
        cmocka_unit_test(options_of_a_format_are_told_and_no_others_taken),
        cmocka_unit_test(writing_refuses_what_is_lost_unless_it_is_accepted),
        cmocka_unit_test(masks_and_empty_arrays_have_what_fits_them),
        cmocka_unit_test(imploded_blocks_get_the_layout_of_the_file),
        cmocka_unit_test(convert_brings_it_to_the_newest_version),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
