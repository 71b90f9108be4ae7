/* SPDX-License-Identifier: BSD-3-Clause
 * What the tests of updates share: a file with arrays of several kinds, and what it holds. */
#ifndef CIP_TESTS_EDIT_TESTING_H
#define CIP_TESTS_EDIT_TESTING_H

#include "support/core/core_testing.h"
#include "support/temp_folder.h"

#define OK(x)                                                                                      \
    do {                                                                                           \
        cip_err ok_err = CIP_ERR_INIT;                                                             \
        cip_err *err = &ok_err;                                                                    \
        if ((x) != CIP_OK || ok_err.code != CIP_OK)                                                \
            fail_msg("%s: %s: %s", #x, ok_err.part, ok_err.text);                                  \
    } while (0)

/* The call fails with this status, and its text has this in it. */
#define FAILS(status, words, x)                                                                    \
    do {                                                                                           \
        cip_err fails_err = CIP_ERR_INIT;                                                          \
        cip_err *err = &fails_err;                                                                 \
        assert_int_equal((x), (status));                                                           \
        if (strstr(fails_err.text, (words)) == NULL)                                               \
            fail_msg("expected '%s' in '%s'", (words), fails_err.text);                            \
    } while (0)

/* Reads elements of the array at the path, or of a field of it, as the change so far has them. */
static inline cip_status read_now(cip_change *e, const char *path, const cip_read_args *args,
                                  cip_err *err)
{
    const cip_array *a;
    cip_status st = cip_change_array(e, path, &a, err);
    return st == CIP_OK ? cip_read_into(a, args, err) : st;
}

/* Commits, or gives up where it would have to be tried again. */
static inline cip_status edit_end(cip_change *e, cip_err *err)
{
    const cip_status st = cip_change_commit(&e, err);
    if (st == CIP_ERR_BUSY)
        cip_change_abort(&e);
    return st;
}

/* tree: meta/name; image: float32 [4, 6]; packed: int16 [3, 4] zlib; few: inline int64 [3];
 * rows: float64 [0, 2], streamed when `streamed`. */
static inline const char *edit_file(scratch *s, const char *name, bool streamed)
{
    static const int64_t image[] = { 4, 6 }, packed[] = { 3, 4 }, few[] = { 3 }, rows[] = { 0, 2 };
    float f[24];
    int16_t h[12];
    const int64_t q[] = { 10, 20, 30 };
    const char *path = scratch_path(s, name);
    cip_change *w;
    for (int i = 0; i < 24; i++)
        f[i] = (float)i;
    for (int i = 0; i < 12; i++)
        h[i] = (int16_t)i;
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_set_string(w, "meta/name", "first", err));
    OK(cip_change_put(w, "image", cip_dtype_of(CIP_F32), 2, image, f, NULL, err));
    OK(cip_change_put(w, "packed", cip_dtype_of(CIP_I16), 2, packed, h,
                      CIP_ARRAY_OPTIONS(.codec = "zlib"), err));
    OK(cip_change_put(w, "few", cip_dtype_of(CIP_I64), 1, few, q,
                      CIP_ARRAY_OPTIONS(.storage = "inline"), err));
    if (streamed)
        OK(cip_change_put(w, "rows", cip_dtype_of(CIP_F64), 2, rows, NULL,
                          CIP_ARRAY_OPTIONS(.storage = "streamed"), err));
    OK(cip_change_commit(&w, err));
    return path;
}

/* A whole file; free(). */
static inline char *edit_bytes(const char *path, size_t *n)
{
    struct stat st;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &st), 0);
    char *p = malloc((size_t)st.st_size + 1);
    *n = fread(p, 1, (size_t)st.st_size, f);
    assert_int_equal(*n, st.st_size);
    fclose(f);
    return p;
}

/* An array's elements as text, as `cippus cat` prints them. */
static inline void edit_expect(const char *path, const char *array, const char *text)
{
    cip_file *f;
    static taken t;
    t.n = 0;
    t.calls = t.stop_at = 0;
    OK(cip_open(path, NULL, &f, err));
    OK(cip_export(cip_find(f, array, err), NULL, "text", take_text, &t, err));
    t.text[t.n] = '\0';
    assert_string_equal(t.text, text);
    cip_file_close(f);
}

/* That checking the file finds nothing wrong. */
static inline int edit_no_finding(void *user, const cip_finding *f)
{
    (void)user;
    if (f->severity > CIP_NOTE)
        fail_msg("%s: %s", f->part, f->text);
    return 0;
}

static inline void edit_verify(const char *path)
{
    OK(cip_verify(path, CIP_VERIFY_OPTIONS(.deep = true, .on_finding = edit_no_finding), err));
}

/* Files or folders in memory, member by member. */
static inline void edit_expect_same(const cip_memory *x, const cip_memory *y)
{
    size_t n = 0, m = 0;
    const void *p = cip_memory_bytes(x, &n), *q = cip_memory_bytes(y, &m);
    assert_int_equal(n, m);
    if (n != 0)
        assert_memory_equal(p, q, n);
    for (size_t i = 0;; i++) {
        const char *a = cip_memory_member(x, i, &p, &n), *b = cip_memory_member(y, i, &q, &m);
        assert_true((a == NULL) == (b == NULL));
        if (a == NULL)
            return;
        assert_string_equal(a, b);
        assert_int_equal(n, m);
        if (n != 0)
            assert_memory_equal(p, q, n);
    }
}

#endif
