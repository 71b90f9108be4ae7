/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays whose elements are all one value: the same files as of elements given one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/endian.h"
#include "support/core/writing/edit_testing.h"

enum { ROWS = 700, COLUMNS = 300 };

static const int64_t shape[] = { ROWS, COLUMNS }, list[] = { ROWS * COLUMNS };

/* One file of elements, one of their value (NULL: not set); `elem`: what they are. */
static void same_bytes(const char *format, cip_kind kind, const void *value, const void *elem,
                       const char *byteorder)
{
    static uint8_t elems[ROWS * COLUMNS * 8], back[sizeof elems];
    const size_t each = (size_t)cip_dtype_itemsize(cip_dtype_of(kind)), n = each * ROWS * COLUMNS;
    const bool plain = strcmp(format, "b2frame") == 0;
    cip_err err = CIP_ERR_INIT;
    cip_memory *m[2];
    cip_file *f;
    size_t len[2] = { 0 };
    for (size_t i = 0; i < n; i += each)
        memcpy(elems + i, elem, each);
    for (int k = 0; k < 2; k++) {
        cip_change *w;
        assert_int_equal(cip_create_memory(format,
                                           CIP_CHANGE_OPTIONS(.byteorder = byteorder, .threads = 1,
                                                              .accept_loss = plain),
                                           &m[k], &w, &err),
                         CIP_OK);
        if (k == 0)
            cip_change_put(w, "a", cip_dtype_of(kind), plain ? 1 : 2, plain ? list : shape, elems,
                           NULL, &err);
        else
            cip_change_put_filled(w, "a", cip_dtype_of(kind), plain ? 1 : 2, plain ? list : shape,
                                  value, NULL, &err);
        if (cip_change_commit(&w, &err) != CIP_OK)
            fail_msg("%s: %s", format, err.text);
    }
    const void *one = cip_memory_bytes(m[0], &len[0]), *two = cip_memory_bytes(m[1], &len[1]);
    if (value != NULL) {
        assert_int_equal(len[0], len[1]);
        assert_memory_equal(one, two, len[0]);
    }
    assert_int_equal(cip_memory_open(m[1], NULL, &f, &err), CIP_OK);
    assert_int_equal(cip_verify_file(f, CIP_VERIFY_OPTIONS(.deep = true), &err), CIP_OK);
    const cip_dtype *as = plain ? cip_dtype_as_stored() : cip_dtype_of(kind);
    assert_int_equal(cip_read(cip_file_array(f, 0), NULL, as, back, n, &err), CIP_OK);
    for (size_t i = 0; i < n && plain; i++) /* no type says that they are little-endian */
        if (CIP_HOST_BIG && i % each < each / 2) {
            const size_t other = i - i % each + each - 1 - i % each;
            const uint8_t swap = elems[i];
            elems[i] = elems[other];
            elems[other] = swap;
        }
    assert_memory_equal(back, elems, n);
    cip_file_close(f);
    cip_memory_free(m[0]);
    cip_memory_free(m[1]);
}

static void filled_arrays_are_as_if_given(void **state)
{
    static const char *const formats[] = { "asdf",    "npy",       "rawarray", "blosc2",
                                           "b2frame", "bloscpack", "blz" };
    static const char *const orders[] = { "little", "big" };
    const float zero = 0, seven = 7.25f, nan = NAN;
    const int64_t number = INT64_C(0x123456789);
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (int k = 0; k < 2; k++) {
            if (k == 1 && (strcmp(formats[i], "asdf") != 0 && strcmp(formats[i], "npy") != 0))
                continue;
            same_bytes(formats[i], CIP_F32, &zero, &zero, orders[k]);
            same_bytes(formats[i], CIP_F32, &seven, &seven, orders[k]);
            same_bytes(formats[i], CIP_F32, &nan, &nan, orders[k]);
            same_bytes(formats[i], CIP_I64, &number, &number, orders[k]);
            same_bytes(formats[i], CIP_F32, NULL, &zero, orders[k]);
        }
}

static int count_chunks(const cip_array *a, cip_chunk_state want)
{
    cip_err err = CIP_ERR_INIT;
    cip_chunk_info c = { .size = sizeof c };
    uint64_t n;
    assert_int_equal(cip_chunk_count(a, &n, &err), CIP_OK);
    assert_true(n > 1000);
    for (uint64_t i = 0; i < n; i += n / 7) {
        assert_int_equal(cip_chunk_at(a, i, &c, &err), CIP_OK);
        if (c.state != want)
            return 1;
    }
    return 0;
}

/* 2^40 elements, within 64 MiB. */
static void an_array_of_any_length_costs_next_to_nothing(void **state)
{
    static const int64_t huge[] = { 1 << 20, 1 << 20 };
    static const struct {
        bool set;
        float value;
        cip_chunk_state want;
    } row[] = { { true, 0, CIP_CHUNK_ZERO },
                { true, NAN, CIP_CHUNK_NAN },
                { false, 0, CIP_CHUNK_UNINIT } };
    cip_limits limits = { .size = sizeof limits, .max_memory = 64 << 20 };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        cip_err err = CIP_ERR_INIT;
        cip_memory *m;
        cip_change *w;
        cip_file *f;
        float got;
        size_t n;
        assert_int_equal(cip_create_memory(
                             "blosc2", CIP_CHANGE_OPTIONS(.limits = &limits, .byteorder = "little"),
                             &m, &w, &err),
                         CIP_OK);
        cip_change_put_filled(w, "", cip_dtype_of(CIP_F32), 2, huge,
                              row[i].set ? &row[i].value : NULL, NULL, &err);
        assert_int_equal(cip_change_commit(&w, &err), CIP_OK);
        cip_memory_bytes(m, &n);
        assert_true(n < 1000);
        assert_int_equal(cip_memory_open(m, NULL, &f, &err), CIP_OK);
        const cip_array *a = cip_file_array(f, 0);
        assert_int_equal(cip_read(a, "[-1, 12345]", cip_dtype_of(CIP_F32), &got, sizeof got, &err),
                         CIP_OK);
        assert_true(isnan(row[i].value) ? isnan(got) : got == 0);
        assert_int_equal(count_chunks(a, row[i].want), 0);
        cip_file_close(f);
        cip_memory_free(m);
    }
}

static void a_mask_an_empty_array_and_wrong_calls(void **state)
{
    static const int64_t three[] = { 3 }, none[] = { 0, 5 }, wrong[] = { -1 };
    static const uint8_t mask[] = { 0, 1, 0 };
    const int32_t value = 9;
    int32_t got[3] = { 0 };
    uint8_t missing[3] = { 0 };
    cip_err err = CIP_ERR_INIT;
    cip_memory *m;
    cip_change *w;
    cip_file *f;
    (void)state;
    assert_int_equal(cip_create_memory("asdf", NULL, &m, &w, &err), CIP_OK);
    cip_change_put_filled(w, "a", cip_dtype_of(CIP_I32), 1, three, &value,
                          CIP_ARRAY_OPTIONS(.mask = mask), &err);
    cip_change_put_filled(w, "b", cip_dtype_of(CIP_I32), 2, none, &value, NULL, &err);
    cip_change_put_filled(w, "c", cip_dtype_of(CIP_I32), 1, three, &value,
                          CIP_ARRAY_OPTIONS(.storage = "inline"), &err);
    cip_change_put_filled(w, "d", cip_dtype_of(CIP_I32), 1, three, &value,
                          CIP_ARRAY_OPTIONS(.storage = "streamed"), &err);
    assert_int_equal(cip_change_commit(&w, &err), CIP_OK);
    assert_int_equal(cip_memory_open(m, NULL, &f, &err), CIP_OK);
    assert_int_equal(cip_read_into(cip_find(f, "a", &err),
                                   CIP_READ_ARGS(.dst = got, .dst_nbytes = sizeof got,
                                                 .dtype = cip_dtype_of(CIP_I32), .mask = missing),
                                   &err),
                     CIP_OK);
    assert_memory_equal(missing, mask, sizeof mask);
    assert_int_equal(got[0], 9);
    for (const char *path = "c"; path != NULL; path = path[0] == 'c' ? "d" : NULL) {
        assert_int_equal(
            cip_read(cip_find(f, path, &err), NULL, cip_dtype_of(CIP_I32), got, sizeof got, &err),
            CIP_OK);
        assert_int_equal(got[2], 9);
    }
    cip_file_close(f);
    cip_memory_free(m);
    assert_int_equal(cip_create_memory("npy", NULL, &m, &w, &err), CIP_OK);
    assert_int_equal(cip_change_put_filled(w, "", NULL, 1, three, &value, NULL, NULL), CIP_ERR_ARG);
    cip_change_abort(&w);
    cip_memory_free(m);
    assert_int_equal(cip_create_memory("npy", NULL, &m, &w, &err), CIP_OK);
    assert_int_not_equal(
        cip_change_put_filled(w, "", cip_dtype_of(CIP_I32), 1, wrong, &value, NULL, NULL), CIP_OK);
    cip_change_abort(&w);
    cip_memory_free(m);
    assert_int_equal(
        cip_change_put_filled(NULL, "", cip_dtype_of(CIP_I32), 1, three, &value, NULL, NULL),
        CIP_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filled_arrays_are_as_if_given),
        cmocka_unit_test(an_array_of_any_length_costs_next_to_nothing),
        cmocka_unit_test(a_mask_an_empty_array_and_wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
