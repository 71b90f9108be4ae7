/* SPDX-License-Identifier: BSD-3-Clause
 * Rows out of the midst of arrays, and into it: what becomes of them, what an update has seen by
 * then, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/endian.h"
#include "support/core/writing/edit_testing.h"
#include "support/own_folder.h"

static cip_change *begin(const char *path)
{
    cip_change *e = NULL;
    OK(cip_change_open(path, CIP_CHANGE_OPTIONS(.accept_loss = true), &e, err));
    return e;
}

static void commit(cip_change *e, const char *path)
{
    OK(cip_change_commit(&e, err));
    edit_verify(path);
}

static cip_status delete_slice(cip_change *e, const char *path, const char *slice, cip_err *err)
{
    int axis = -1;
    int64_t start = -1, count = -1;
    cip_status st = cip_change_range(e, path, slice, &axis, &start, &count, err);
    return st == CIP_OK ? cip_change_delete(e, path, axis, start, count, err) : st;
}

/* A RawArray of 0, 1, ..., 9. */
static const char *numbers(const char *name)
{
    static const int64_t shape[] = { 10 };
    const char *path = scratch_path(&s, name);
    int16_t v[10];
    cip_change *w;
    for (int16_t i = 0; i < 10; i++)
        v[i] = i;
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_put(w, "data", cip_dtype_of(CIP_I16), 1, shape, v, NULL, err));
    OK(cip_change_commit(&w, err));
    return path;
}

/* Then what is cut off is the end of the data, whichever axis it is of. */
static void axes_behind_those_of_one_element_change_too(void **state)
{
    (void)state;
    static const int64_t shape[] = { 1, 1, 4 };
    static const uint8_t v[] = { 1, 2, 3, 4 };
    const char *path = scratch_path(&s, "one.ra");
    cip_change *w;
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_put(w, "data", cip_dtype_of(CIP_U8), 3, shape, v, NULL, err));
    OK(cip_change_commit(&w, err));
    cip_change *e = begin(path);
    OK(cip_change_delete(e, NULL, 2, 1, 1, err));
    commit(e, path);
    edit_expect(path, NULL, "1 3 4\n");
    e = begin(path);
    OK(cip_change_insert(e, NULL, 2, 3, cip_dtype_as_stored(), v, 2, err));
    commit(e, path);
    edit_expect(path, NULL, "1 3 4 1 2\n");
    e = begin(path);
    OK(cip_change_delete(e, NULL, 1, 0, 1, err));
    commit(e, path);
    edit_expect(path, NULL, "");
}

static void what_is_behind_moves_up(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "a.asdf", true);
    cip_change *e = begin(path);
    OK(cip_change_delete(e, "image", 1, 1, 4, err));
    OK(cip_change_delete(e, "packed", 0, 1, 1, err));
    OK(delete_slice(e, "few", "[-1]", err));
    commit(e, path);
    edit_expect(path, "image", "0.0 5.0\n6.0 11.0\n12.0 17.0\n18.0 23.0\n");
    edit_expect(path, "packed", "0 1 2 3\n8 9 10 11\n");
    edit_expect(path, "few", "10 20\n");
}

static void a_selection_is_clipped_and_may_be_empty_or_all(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "b.asdf", false);
    cip_change *e = begin(path);
    OK(delete_slice(e, "image", "[..., 4:2]", err));
    OK(cip_change_delete(e, "packed", 1, 2, 0, err));
    OK(delete_slice(e, "image", "[2:100]", err));
    OK(delete_slice(e, "few", "[:]", err));
    commit(e, path);
    edit_expect(path, "image", "0.0 1.0 2.0 3.0 4.0 5.0\n6.0 7.0 8.0 9.0 10.0 11.0\n");
    edit_expect(path, "packed", "0 1 2 3\n4 5 6 7\n8 9 10 11\n");
    edit_expect(path, "few", "");
}

static void a_change_sees_those_before_it(void **state)
{
    (void)state;
    static const int16_t more[] = { 10, 11 }, other = 77;
    const char *path = numbers("c.ra");
    cip_change *e = begin(path);
    OK(cip_change_write(e, "", "[8]", cip_dtype_as_stored(), &other, sizeof other, err));
    OK(cip_change_append(e, "", cip_dtype_as_stored(), more, sizeof more, err));
    OK(cip_change_delete(e, "", 0, 2, 3, err));
    OK(delete_slice(e, "", "[-1]", err));
    FAILS(CIP_ERR_RANGE, "expected a range within the length 8 of axis 0, found 3 from 6 on",
          cip_change_delete(e, "", 0, 6, 3, err));
    cip_change_abort(&e);
    e = begin(path);
    OK(cip_change_write(e, "", "[8]", cip_dtype_as_stored(), &other, sizeof other, err));
    OK(cip_change_append(e, "", cip_dtype_as_stored(), more, sizeof more, err));
    OK(cip_change_delete(e, "", 0, 2, 3, err));
    OK(delete_slice(e, "", "[-1]", err));
    OK(cip_change_insert(e, "", 0, 7, cip_dtype_as_stored(), &other, sizeof other, err));
    commit(e, path);
    edit_expect(path, "", "0 1 5 6 7 77 9 77 10\n");
}

static void rows_come_before_the_one_that_is_named(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "f.asdf", false), *stream;
    const float column[4] = { -1, -2, -3, -4 };
    const int16_t two[] = { 50, 51, 52, 53, 60, 61, 62, 63 };
    const int64_t q[] = { 7, 9 };
    const double rows[] = { 1.5, 2.5, 3.5 };
    cip_change *e = begin(path);
    OK(cip_change_insert(e, "image", 1, 2, cip_dtype_as_stored(), column, sizeof column, err));
    OK(cip_change_insert(e, "packed", 0, 1, cip_dtype_as_stored(), two, sizeof two, err));
    OK(cip_change_insert(e, "few", 0, 3, cip_dtype_as_stored(), q, sizeof q, err));
    OK(cip_change_insert(e, "packed", 0, 0, cip_dtype_as_stored(), NULL, 0, err));
    commit(e, path);
    edit_expect(path, "image",
                "0.0 1.0 -1.0 2.0 3.0 4.0 5.0\n6.0 7.0 -2.0 8.0 9.0 10.0 11.0\n"
                "12.0 13.0 -3.0 14.0 15.0 16.0 17.0\n18.0 19.0 -4.0 20.0 21.0 22.0 23.0\n");
    edit_expect(path, "packed", "0 1 2 3\n50 51 52 53\n60 61 62 63\n4 5 6 7\n8 9 10 11\n");
    edit_expect(path, "few", "10 20 30 7 9\n");
    stream = edit_file(&s, "h.asdf", true);
    for (int i = 0; i < 2; i++) {
        e = begin(stream);
        OK(cip_change_insert(e, "rows", 0, 0, cip_dtype_as_stored(), rows + i, 2 * sizeof *rows,
                             err));
        commit(e, stream);
    }
    edit_expect(stream, "rows", "2.5 3.5\n1.5 2.5\n");
}

static void rows_of_another_file_are_cast(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "g.asdf", false), *more = numbers("g.ra");
    cip_file *f;
    OK(cip_open(more, NULL, &f, err));
    const cip_array *from = cip_file_array(f, 0);
    cip_change *e = begin(path);
    OK(cip_change_insert_array(e, "few", 0, 1, from, err));
    FAILS(CIP_ERR_RANGE, "expected rows of shape [",
          cip_change_insert_array(e, "image", 0, 1, from, err));
    cip_change_abort(&e);
    e = begin(path);
    OK(cip_change_insert_array(e, "few", 0, 1, from, err));
    OK(cip_change_delete(e, "packed", 0, 0, 3, err));
    commit(e, path);
    cip_file_close(f);
    edit_expect(path, "few", "10 0 1 2 3 4 5 6 7 8 9 20 30\n");
    edit_expect(path, "packed", "");
}

/* --- whole chunks ----------------------------------------------------------------------------- */

/* 0, 1, ..., 19 in chunks of 3, and two of them in a superchunk. */
static const char *chunks(const char *name)
{
    static const int64_t shape[] = { 20 };
    const char *path = scratch_path(&s, name);
    const bool pack = strstr(name, ".blp") != NULL, super = strstr(name, ".blz") != NULL;
    const cip_change_options o = { .size = sizeof o,
                                   .format_options = pack ? CIP_TEXTS("chunk_size=6")
                                                     : super
                                                         ? CIP_TEXTS("chunklen=3", "superchunk=2")
                                                         : CIP_TEXTS("chunklen=3") };
    int16_t v[20];
    cip_change *w;
    for (int16_t i = 0; i < 20; i++)
        v[i] = i;
    OK(cip_create(path, &o, &w, err));
    OK(cip_change_put(w, "data", cip_dtype_of(CIP_I16), 1, shape, v, NULL, err));
    OK(cip_change_commit(&w, err));
    return path;
}

static int count_encoded(void *user, uint64_t done, uint64_t total)
{
    (void)done;
    *(uint64_t *)user = total;
    return 0;
}

/* Two chunks go, and one and a half of others come; how many are encoded then. */
static void move_chunks(cip_change *e)
{
    static const int16_t three[] = { 100, 101, 102 };
    OK(cip_change_delete(e, "", 0, 3, 6, err));
    OK(cip_change_insert(e, "", 0, 7, cip_dtype_as_stored(), three, sizeof three, err));
    OK(cip_change_commit(&e, err));
}

static void whole_chunks_move_as_they_are_stored(void **state)
{
    static const char *const names[] = { "w.blp", "w.bcolz", "w.blz" };
    static const int16_t want[] = { 0,   1,  2,  9,  10, 11, 12, 100, 101,
                                    102, 13, 14, 15, 16, 17, 18, 19 };
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        const char *path = chunks(names[k]);
        uint64_t encoded = 0;
        int16_t got[17];
        cip_memory *m;
        cip_file *f;
        cip_change *e;
        const cip_change_options o = { .size = sizeof o,
                                       .progress = count_encoded,
                                       .user = &encoded };
        OK(cip_memory_load(path, NULL, &m, err));
        OK(cip_change_open(path, &o, &e, err));
        move_chunks(e);
        assert_int_equal(encoded, 2); /* the one that is cut in two */
        edit_verify(path);
        edit_expect(path, "", "0 1 2 9 10 11 12 100 101 102 13 14 15 16 17 18 19\n");
        OK(cip_change_open_memory(m, NULL, &e, err));
        move_chunks(e);
        OK(cip_memory_open(m, NULL, &f, err));
        OK(cip_read(cip_find(f, "", err), NULL, cip_dtype_of(CIP_I16), got, sizeof got, err));
        assert_memory_equal(got, want, sizeof want);
        cip_file_close(f);
        cip_memory_free(m);
    }
}

static int count_findings(void *user, const cip_finding *f)
{
    *(int *)user += f->severity > CIP_NOTE;
    return 0;
}

static void put_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* The last byte of a chunk is another: its digest stays what it was wherever it moves. */
static void a_damaged_chunk_gets_no_new_digest(void **state)
{
    static const char *const names[] = { "x.blp", "x.blz" }, *const last[] = {
        "x.blp", "x.blz/data/__4__.bin"
    };
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const char *path = chunks(names[k]), *file = scratch_path(&s, last[k]);
        int findings = 0;
        size_t n;
        char *bytes = edit_bytes(file, &n);
        bytes[n - 5] ^= 1; /* in front of a digest of 4 bytes */
        put_bytes(file, bytes, n);
        free(bytes);
        cip_change *e = begin(path);
        OK(cip_change_delete(e, "", 0, 3, 6, err));
        OK(cip_change_commit(&e, err));
        OK(cip_verify(path, CIP_VERIFY_OPTIONS(.on_finding = count_findings, .user = &findings),
                      err));
        assert_int_equal(findings, 1);
    }
}

static uint32_t adler32(const uint8_t *p, size_t n)
{
    uint32_t a = 1, b = 0;
    for (; n != 0; n--) {
        a = (a + *p++) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

/* A superchunk gets another kind of digests; right ones, or what was there. */
static void other_digests(const char *path, bool right)
{
    enum { KIND = 6, ADLER = 1, OFFSETS = 32, CBYTES = 12 };
    size_t n;
    char *file = edit_bytes(path, &n);
    uint8_t *bytes = (uint8_t *)file;
    assert_int_not_equal(bytes[KIND], ADLER);
    bytes[KIND] = ADLER;
    for (size_t k = 0; k < 2 && right; k++) {
        const size_t at = (size_t)cip_load_u64(bytes + OFFSETS + 8 * k, false),
                     len = cip_load_u32(bytes + at + CBYTES, false);
        cip_store_u32(bytes + at + len, adler32(bytes + at, len), false);
    }
    put_bytes(path, file, n);
    free(file);
}

static void a_chunk_that_comes_to_other_digests_is_checked(void **state)
{
    (void)state;
    for (int right = 0; right < 2; right++) {
        const char *path = chunks(right == 1 ? "y.blz" : "z.blz");
        other_digests(
            scratch_path(&s, right == 1 ? "y.blz/data/__3__.bin" : "z.blz/data/__3__.bin"),
            right == 1);
        cip_change *e = begin(path);
        OK(cip_change_delete(e, "", 0, 3, 6, err));
        if (right == 0) {
            FAILS(CIP_ERR_CHECKSUM, "adler32 mismatch", cip_change_commit(&e, err));
            continue;
        }
        commit(e, path);
        edit_expect(path, "", "0 1 2 9 10 11 12 13 14 15 16 17 18 19\n");
    }
}

/* Rows that went and then come again in one update are new ones. */
static void rows_that_come_again_hold_what_dflt_says(void **state)
{
    static const char *const names[] = { "v.bcolz", "v.blz" }, *const storage[] = {
        "v.bcolz/meta/storage", "v.blz/meta/storage"
    };
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const char *path = chunks(names[k]), *file = scratch_path(&s, storage[k]);
        size_t n;
        char *bytes = edit_bytes(file, &n), *dflt;
        bytes[n] = '\0';
        dflt = strstr(bytes, "\"dflt\": 0");
        assert_non_null(dflt);
        dflt[8] = '7';
        put_bytes(file, bytes, n);
        free(bytes);
        cip_change *e = begin(path);
        OK(cip_change_delete(e, "", 0, 2, 15, err));
        OK(cip_change_resize(e, "", 1, (const int64_t[]){ 9 }, err));
        commit(e, path);
        edit_expect(path, "", "0 1 17 18 19 7 7 7 7\n");
        e = begin(path);
        OK(cip_change_resize(e, "", 1, (const int64_t[]){ 1 }, err));
        OK(cip_change_resize(e, "", 1, (const int64_t[]){ 4 }, err));
        commit(e, path);
        edit_expect(path, "", "0 7 7 7\n");
    }
}

static void only_what_is_behind_is_written(void **state)
{
    (void)state;
    static const int16_t other = 77;
    const char *path = numbers("d.ra");
    taken plan = { 0 };
    cip_change *e = begin(path);
    OK(cip_change_write(e, "", "[9]", cip_dtype_as_stored(), &other, sizeof other, err));
    OK(cip_change_delete(e, "", 0, 5, 3, err));
    OK(cip_change_plan(e, take_text, &plan, err));
    plan.text[plan.n] = '\0';
    assert_non_null(strstr(plan.text, "write 14 bytes at 56\n"));
    commit(e, path);
    edit_expect(path, "", "0 1 2 3 4 8 77\n");
}

static void negative_ones_count_from_the_end(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "negative.asdf", false);
    const int64_t seven = 7, eight = 8;
    const float column[] = { -1, -2, -3 };
    cip_change *e = begin(path);
    OK(cip_change_delete(e, "image", -2, -1, 1, err));
    OK(cip_change_delete(e, "image", -1, -6, 4, err));
    OK(cip_change_insert(e, "image", -1, -1, cip_dtype_of(CIP_F32), column, sizeof column, err));
    OK(cip_change_insert(e, "few", 0, -1, cip_dtype_of(CIP_I64), &seven, sizeof seven, err));
    OK(cip_change_insert(e, "few", -1, -4, cip_dtype_of(CIP_I64), &eight, sizeof eight, err));
    OK(cip_change_commit(&e, err));
    edit_expect(path, "image", "4.0 -1.0 5.0\n10.0 -2.0 11.0\n16.0 -3.0 17.0\n");
    edit_expect(path, "few", "8 10 20 7 30\n");
}

/* Two arrays in one block, and a stream behind it: where one needs bytes of its own there is no
 * place for them, and nothing has changed. */
static void a_stream_that_is_in_the_way_is_known_before(void **state)
{
    (void)state;
    static const int64_t four[] = { 4, 3 }, three[] = { 3, 2 };
    static const int16_t twelve[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    const char *path = scratch_path(&s, "shared.asdf");
    cip_change *c;
    OK(cip_create(path, NULL, &c, err));
    OK(cip_change_put(c, "x", cip_dtype_of(CIP_I16), 2, four, twelve, NULL, err));
    OK(cip_change_put_view(c, "v", "x", "[1:3]", err));
    OK(cip_change_put(c, "rows", cip_dtype_of(CIP_I16), 2, four, twelve,
                      CIP_ARRAY_OPTIONS(.storage = "streamed"), err));
    OK(cip_change_commit(&c, err));
    OK(cip_change_open(path, NULL, &c, err));
    FAILS(CIP_ERR_UNSUPPORTED, "streamed", cip_change_delete(c, "x", 0, 1, 1, err));
    FAILS(CIP_ERR_UNSUPPORTED, "streamed", cip_change_resize(c, "v", 2, three, err));
    FAILS(CIP_ERR_UNSUPPORTED, "streamed",
          cip_change_append(c, "v", cip_dtype_of(CIP_I16), twelve, 6, err));
    OK(cip_change_forget_failure(c, err));
    OK(cip_change_write(c, "v", "[0]", cip_dtype_of(CIP_I16), twelve, 6, err));
    OK(cip_change_commit(&c, err));
    edit_verify(path);
    edit_expect(path, "x", "1 2 3\n1 2 3\n7 8 9\n10 11 12\n");
    edit_expect(path, "v", "1 2 3\n7 8 9\n");
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "e.asdf", false);
    size_t n, now;
    char *was = edit_bytes(path, &n);
    cip_change *e;
#define REFUSED(status, words, call)                                                               \
    do {                                                                                           \
        e = begin(path);                                                                           \
        FAILS(status, words, call);                                                                \
        cip_change_abort(&e);                                                                      \
    } while (0)
    REFUSED(CIP_ERR_ARG, "expected one of the array's 2 axes, found axis 2",
            cip_change_delete(e, "image", 2, 0, 1, err));
    REFUSED(CIP_ERR_ARG, "found axis -3", cip_change_delete(e, "image", -3, 0, 1, err));
    REFUSED(CIP_ERR_RANGE, "within the length 4 of axis 0, found 5 from 0 on",
            cip_change_delete(e, "image", 0, 0, 5, err));
    REFUSED(CIP_ERR_RANGE, "from -5 on", cip_change_delete(e, "image", 0, -5, 1, err));
    REFUSED(CIP_ERR_RANGE, "found 2 from 3 on", cip_change_delete(e, "image", 0, -1, 2, err));
    REFUSED(CIP_ERR_RANGE, "found -1 from 2 on", cip_change_delete(e, "image", 0, 2, -1, err));
    REFUSED(CIP_ERR_RANGE, "from 5 on", cip_change_delete(e, "image", 0, 5, INT64_MAX, err));
    REFUSED(CIP_ERR_UNSUPPORTED, "expected a range of step 1, found step 2",
            delete_slice(e, "image", "[::2]", err));
    REFUSED(CIP_ERR_ARG, "found parts of several axes",
            delete_slice(e, "image", "[1:2, 1:2]", err));
    REFUSED(CIP_ERR_ARG, "found all axes complete", delete_slice(e, "image", "[:, :]", err));
    REFUSED(CIP_ERR_ARG, "expected one of the array's",
            cip_change_delete(e, "image", 9, 0, 0, err));
    REFUSED(CIP_ERR_RANGE, "within the length 4 of axis 0, found 0 from 5 on",
            cip_change_insert(e, "image", 0, 5, cip_dtype_as_stored(), was, 24, err));
    REFUSED(CIP_ERR_RANGE, "expected whole rows of 16 bytes, found 24 bytes",
            cip_change_insert(e, "image", 1, 1, cip_dtype_as_stored(), was, 24, err));
    REFUSED(CIP_ERR_ARG, "found axis 3",
            cip_change_insert(e, "image", 3, 0, cip_dtype_as_stored(), was, 24, err));
    REFUSED(CIP_ERR_ARG, "", cip_change_insert_array(e, "image", 0, 0, NULL, err));
    REFUSED(CIP_ERR_NOT_FOUND, "", cip_change_delete(e, "nothing", 0, 0, 1, err));
#undef REFUSED
    char *is = edit_bytes(path, &now);
    assert_int_equal(now, n);
    assert_memory_equal(is, was, n);
    free(is);
    free(was);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_behind_those_of_one_element_change_too),
        cmocka_unit_test(what_is_behind_moves_up),
        cmocka_unit_test(a_selection_is_clipped_and_may_be_empty_or_all),
        cmocka_unit_test(a_change_sees_those_before_it),
        cmocka_unit_test(rows_come_before_the_one_that_is_named),
        cmocka_unit_test(rows_of_another_file_are_cast),
        cmocka_unit_test(whole_chunks_move_as_they_are_stored),
        cmocka_unit_test(a_damaged_chunk_gets_no_new_digest),
        cmocka_unit_test(a_chunk_that_comes_to_other_digests_is_checked),
        cmocka_unit_test(rows_that_come_again_hold_what_dflt_says),
        cmocka_unit_test(only_what_is_behind_is_written),
        cmocka_unit_test(negative_ones_count_from_the_end),
        cmocka_unit_test(a_stream_that_is_in_the_way_is_known_before),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
