/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of elements, rows and shapes: where they go, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/endian.h"
#include "cippus/ext/chunk.h"
#include "support/core/writing/edit_testing.h"
#include "support/own_folder.h"

static cip_change *begin(const char *path, const cip_change_options *o)
{
    cip_change *e = NULL;
    OK(cip_change_open(path, o, &e, err));
    return e;
}

static void commit(cip_change *e, const char *path)
{
    OK(cip_change_commit(&e, err));
    edit_verify(path);
}

static void elements_are_written_by_any_selection(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "a.asdf", false);
    const float a[] = { -1, -2, -3, -4 }, one = 99;
    const int16_t h[] = { 70, 80 };
    const int64_t q[] = { 7, 9 };
    cip_change *e = begin(path, NULL);
    OK(cip_change_write(e, "image", "[::-2, 0:4:3]", cip_dtype_as_stored(), a, sizeof a, err));
    OK(cip_change_write(e, "image", "[-1, 0]", cip_dtype_as_stored(), &one, sizeof one,
                        err)); /* over the one before */
    OK(cip_change_write(e, "packed", "[1, 1:3]", cip_dtype_as_stored(), h, sizeof h, err));
    OK(cip_change_write(e, "few", "[::2]", cip_dtype_as_stored(), q, sizeof q, err));
    OK(cip_change_write(e, "image", "[0:0]", cip_dtype_as_stored(), NULL, 0, err));
    commit(e, path);
    edit_expect(path, "image",
                "0.0 1.0 2.0 3.0 4.0 5.0\n-3.0 7.0 8.0 -4.0 10.0 11.0\n"
                "12.0 13.0 14.0 15.0 16.0 17.0\n99.0 19.0 20.0 -2.0 22.0 23.0\n");
    edit_expect(path, "packed", "0 1 2 3\n4 70 80 7\n8 9 10 11\n");
    edit_expect(path, "few", "7 20 9\n");
}

static void elements_come_in_the_byte_order_that_is_said(void **state)
{
    (void)state;
    static const uint8_t little[] = { 1, 2, 3, 4 }, big[] = { 2, 1, 4, 3 };
    static const double row[] = { 1.5, -2 };
    const char *path = edit_file(&s, "order.asdf", true);
    for (int i = 0; i < 2; i++) {
        uint8_t swapped[16];
        for (int k = 0; k < 2; k++) {
            uint64_t bits;
            memcpy(&bits, &row[k], sizeof bits);
            cip_store_u64(swapped + 8 * k, bits, i == 1);
        }
        cip_change *e = begin(path, CIP_CHANGE_OPTIONS(.byteorder = i == 0 ? "little" : "big"));
        OK(cip_change_write(e, "packed", i == 0 ? "[0, :2]" : "[2, :2]", cip_dtype_as_stored(),
                            i == 0 ? little : big, 4, err));
        OK(cip_change_append(e, "rows", cip_dtype_as_stored(), swapped, sizeof swapped, err));
        commit(e, path);
    }
    edit_expect(path, "packed", "513 1027 2 3\n4 5 6 7\n513 1027 10 11\n");
    edit_expect(path, "rows", "1.5 -2.0\n1.5 -2.0\n");
    cip_change *e;
    FAILS(CIP_ERR_ARG, "expected the byte order 'little' or 'big', found 'middle'",
          cip_change_open(path, CIP_CHANGE_OPTIONS(.byteorder = "middle"), &e, err));
}

static void the_right_number_of_bytes_is_wanted(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "b.asdf", false);
    const float a[4] = { 0 };
    cip_change *e = begin(path, NULL);
    FAILS(CIP_ERR_RANGE, "expected 16 bytes for the selection, found 12",
          cip_change_write(e, "image", "[0, 0:4]", cip_dtype_as_stored(), a, 12, err));
    FAILS(CIP_ERR_RANGE, "",
          cip_change_write(e, "image", "[0, 0:3]", cip_dtype_as_stored(), a, 16, err));
    FAILS(CIP_ERR_ARG, "found NULL",
          cip_change_write(e, "image", "[0, 0:4]", cip_dtype_as_stored(), NULL, 16, err));
    FAILS(CIP_ERR_RANGE, "",
          cip_change_write(e, "image", "[9, 0:4]", cip_dtype_as_stored(), a, 16, err));
    FAILS(CIP_ERR_NOT_FOUND, "",
          cip_change_write(e, "none", NULL, cip_dtype_as_stored(), a, 16, err));
    FAILS(CIP_ERR_ARG, "",
          cip_change_write(e, "", NULL, cip_dtype_as_stored(), a, 16, err)); /* there are several */
    FAILS(CIP_ERR_ARG, "",
          cip_change_write(NULL, "image", NULL, cip_dtype_as_stored(), a, 16, err));
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_change_write(e, "image", "[0]", cip_dtype_as_stored(), a, 1, &err),
                     CIP_ERR_RANGE);
    assert_string_equal(err.part, "image");
    cip_change_abort(&e);
}

/* A .npy file opened: n numbers in one axis, or two. */
static cip_file *numbers(const char *descr, const char *shape, const void *data, size_t n,
                         char **mem)
{
    return test_open_npy(descr, shape, data, n, mem);
}

static void elements_of_another_file_are_cast(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "c.asdf", false);
    const double d[] = { 1.5, -2.5, 3 };
    const int32_t big[] = { 1, 40000, 2 };
    char *mem[2];
    cip_file *f = numbers("'<f8'", "(3,)", d, sizeof d, &mem[0]);
    cip_file *g = numbers("'<i4'", "(3,)", big, sizeof big, &mem[1]);
    cip_change *e = begin(path, NULL);
    OK(cip_change_write_array(e, "image", "[2, 1:4]", cip_file_array(f, 0), err));
    FAILS(CIP_ERR_RANGE, "the selection has shape [4], the input [3]",
          cip_change_write_array(e, "image", "[2, 1:5]", cip_file_array(f, 0), err));
    FAILS(CIP_ERR_RANGE, "the selection has shape [1], the input [3]",
          cip_change_write_array(e, "image", "[2:3, 1]", cip_file_array(f, 0), err));
    FAILS(CIP_ERR_RANGE, "",
          cip_change_write_array(e, "packed", "[0:3, 0]", cip_file_array(g, 0), err));
    FAILS(CIP_ERR_ARG, "", cip_change_write_array(e, "packed", NULL, NULL, err));
    FAILS(CIP_ERR_NOT_FOUND, "",
          cip_change_write_array(e, "none", NULL, cip_file_array(g, 0), err));
    cip_change_abort(&e);
    e = begin(path, NULL);
    OK(cip_change_write_array(e, "image", "[2, 1:4]", cip_file_array(f, 0), err));
    commit(e, path);
    edit_expect(path, "image",
                "0.0 1.0 2.0 3.0 4.0 5.0\n6.0 7.0 8.0 9.0 10.0 11.0\n"
                "12.0 1.5 -2.5 3.0 16.0 17.0\n18.0 19.0 20.0 21.0 22.0 23.0\n");
    cip_file_close(f);
    cip_file_close(g);
    free(mem[0]);
    free(mem[1]);
}

static void an_array_in_one_piece_is_one_chunk(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "piece.asdf", false);
    float a[24] = { 5, 4 };
    int16_t h[12] = { 3, 2 };
    const int64_t q[] = { 7, 8, 9 };
    cip_change *e = begin(path, NULL);
    FAILS(CIP_ERR_RANGE, "chunk 1", cip_chunk_write(e, "image", 1, true, a, sizeof a, err));
    FAILS(CIP_ERR_RANGE, "of 96 bytes", cip_chunk_write(e, "image", 0, true, a, 95, err));
    FAILS(CIP_ERR_NOT_FOUND, "", cip_chunk_write(e, "none", 0, true, h, sizeof h, err));
    FAILS(CIP_ERR_ARG, "", cip_chunk_write(e, "image", 0, true, NULL, 96, err));
    FAILS(CIP_ERR_ARG, "", cip_chunk_write(NULL, "image", 0, true, a, sizeof a, err));
    cip_change_abort(&e);
    e = begin(path, NULL);
    OK(cip_chunk_write(e, "image", 0, true, a, sizeof a, err));
    OK(cip_chunk_write(e, "packed", 0, false, h, sizeof h, err));
    OK(cip_chunk_write(e, "few", 0, false, q, sizeof q, err));
    commit(e, path);
    edit_expect(path, "packed", "3 2 0 0\n0 0 0 0\n0 0 0 0\n");
    edit_expect(path, "few", "7 8 9\n");
    edit_expect(path, "image",
                "5.0 4.0 0.0 0.0 0.0 0.0\n0.0 0.0 0.0 0.0 0.0 0.0\n"
                "0.0 0.0 0.0 0.0 0.0 0.0\n0.0 0.0 0.0 0.0 0.0 0.0\n");
}

static void encoded_bytes_of_a_block_are_no_chunk(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "block.asdf");
    static const uint8_t zeros[5000];
    const int64_t shape[] = { 5000 };
    cip_change *w;
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_U8), 1, shape, zeros,
                      CIP_ARRAY_OPTIONS(.codec = "zlib"), err));
    OK(cip_change_commit(&w, err));
    cip_change *e = begin(path, NULL);
    FAILS(CIP_ERR_UNSUPPORTED, "", cip_chunk_write(e, "a", 0, true, zeros, 5000, err));
    cip_change_abort(&e);
    e = begin(path, NULL);
    OK(cip_chunk_write(e, "a", 0, false, zeros, 5000, err));
    commit(e, path);
}

static void shapes_broadcast_as_numpys(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *selection;
        float after[4]; /* image[:2, :2]; 0 first: refused */
    } cases[] = {
        { "()", "[:2, :2]", { 1, 1, 1, 1 } },
        { "(1,)", "[:2, :2]", { 1, 1, 1, 1 } },
        { "(1, 1, 1)", "[:2, :2]", { 1, 1, 1, 1 } },
        { "(2,)", "[:2, :2]", { 1, 2, 1, 2 } },
        { "(2, 1)", "[:2, :2]", { 1, 1, 2, 2 } },
        { "(1, 2)", "[:2, :2]", { 1, 2, 1, 2 } },
        { "(1, 2)", "[0, :2]", { 1, 2, 6, 7 } },
        { "(2,)", "[:3, :3]", { 0 } },
        { "(2, 1)", "[0, :2]", { 0 } },
        { "(2,)", "[0, 0]", { 0 } },
    };
    const double d[] = { 1, 2 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[16];
        snprintf(name, sizeof name, "cast%zu.asdf", i);
        const char *path = edit_file(&s, name, false);
        const size_t n = strchr(cases[i].shape, '2') != NULL ? sizeof d : sizeof d[0];
        char *mem;
        cip_file *f = numbers("'<f8'", cases[i].shape, d, n, &mem);
        cip_change *e = begin(path, NULL);
        cip_status st =
            cip_change_write_array(e, "image", cases[i].selection, cip_file_array(f, 0), NULL);
        const bool good = cases[i].after[0] != 0;
        assert_int_equal(st, good ? CIP_OK : CIP_ERR_RANGE);
        if (good)
            commit(e, path);
        else
            cip_change_abort(&e);
        cip_file_close(f);
        free(mem);
        float now[4];
        OK(cip_open(path, NULL, &f, err));
        OK(cip_read(cip_find(f, "image", err), "[:2, :2]", cip_dtype_of(CIP_F32), now, sizeof now,
                    err));
        cip_file_close(f);
        if (good)
            assert_memory_equal(now, cases[i].after, sizeof now);
    }
}

static void rows_are_added_wherever_the_array_lies(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "d.asdf", true);
    const float a[12] = { 1, 2 };
    const int16_t h[] = { 1, 2, 3, 4 };
    const int64_t q[] = { 40 };
    const double r[] = { 0.5, 1.5, 2.5, 3.5 };
    cip_change *e = begin(path, NULL);
    OK(cip_change_append(e, "few", cip_dtype_as_stored(), q, sizeof q, err));
    OK(cip_change_append(e, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    FAILS(CIP_ERR_RANGE, "expected whole rows of 16 bytes, found 8 bytes",
          cip_change_append(e, "rows", cip_dtype_as_stored(), r, 8, err));
    FAILS(CIP_ERR_NOT_FOUND, "", cip_change_append(e, "none", cip_dtype_as_stored(), r, 16, err));
    FAILS(CIP_ERR_ARG, "", cip_change_append(NULL, "rows", cip_dtype_as_stored(), r, 16, err));
    cip_change_abort(&e);
    e = begin(path, NULL);
    OK(cip_change_append(e, "few", cip_dtype_as_stored(), q, sizeof q, err));
    OK(cip_change_append(e, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    commit(e, path);
    edit_expect(path, "rows", "0.5 1.5\n2.5 3.5\n");
    edit_expect(path, "few", "10 20 30 40\n");
    e = begin(path, NULL); /* nothing can follow a stream */
    OK(cip_change_append(e, "image", cip_dtype_as_stored(), a, sizeof a, err));
    FAILS(CIP_ERR_UNSUPPORTED, "finish it first", cip_change_commit(&e, err));
    path = edit_file(&s, "d2.asdf", false);
    e = begin(path, NULL);
    OK(cip_change_append(e, "image", cip_dtype_as_stored(), a, sizeof a, err));
    OK(cip_change_append(e, "packed", cip_dtype_as_stored(), h, sizeof h, err));
    commit(e, path);
    edit_expect(path, "image",
                "0.0 1.0 2.0 3.0 4.0 5.0\n6.0 7.0 8.0 9.0 10.0 11.0\n12.0 13.0 14.0 15.0 16.0 "
                "17.0\n18.0 19.0 20.0 21.0 22.0 23.0\n1.0 2.0 0.0 0.0 0.0 0.0\n"
                "0.0 0.0 0.0 0.0 0.0 0.0\n");
    edit_expect(path, "packed", "0 1 2 3\n4 5 6 7\n8 9 10 11\n1 2 3 4\n");
}

static void rows_of_another_file(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "e.asdf", false);
    const int32_t v[] = { 5, 6, 7, 8 };
    char *mem[3];
    cip_file *one = numbers("'<i4'", "(4,)", v, sizeof v, &mem[0]);
    cip_file *two = numbers("'<i4'", "(1, 4)", v, sizeof v, &mem[1]);
    cip_file *bad = numbers("'<i4'", "(2, 2)", v, sizeof v, &mem[2]);
    cip_change *e = begin(path, NULL);
    FAILS(CIP_ERR_RANGE, ", found an input of shape [2, 2]",
          cip_change_append_array(e, "image", cip_file_array(bad, 0), err));
    FAILS(CIP_ERR_RANGE, "", cip_change_append_array(e, "few", cip_file_array(two, 0), err));
    FAILS(CIP_ERR_ARG, "", cip_change_append_array(e, "few", NULL, err));
    cip_change_abort(&e);
    e = begin(path, NULL);
    OK(cip_change_append_array(e, "packed", cip_file_array(one, 0), err));
    OK(cip_change_append_array(e, "few", cip_file_array(one, 0), err));
    commit(e, path);
    e = begin(path, NULL);
    OK(cip_change_append_array(e, "packed", cip_file_array(two, 0), err));
    commit(e, path);
    edit_expect(path, "packed", "0 1 2 3\n4 5 6 7\n8 9 10 11\n5 6 7 8\n5 6 7 8\n");
    edit_expect(path, "few", "10 20 30 5 6 7 8\n");
    cip_file_close(one);
    cip_file_close(two);
    cip_file_close(bad);
    for (int i = 0; i < 3; i++)
        free(mem[i]);
}

static void a_new_shape_keeps_elements_in_their_places(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "f.asdf", false);
    const int64_t image[] = { 2, 7 }, packed[] = { 4, 2 }, few[] = { 1 }, bad[] = { 1, -1 };
    cip_change *e = begin(path, NULL);
    FAILS(CIP_ERR_ARG, "expected a shape of 2 axes, found 1",
          cip_change_resize(e, "image", 1, few, err));
    FAILS(CIP_ERR_ARG, "", cip_change_resize(e, "image", 2, NULL, err));
    FAILS(CIP_ERR_ARG, "at least 0", cip_change_resize(e, "image", 2, bad, err));
    FAILS(CIP_ERR_NOT_FOUND, "", cip_change_resize(e, "none", 2, image, err));
    cip_change_abort(&e);
    e = begin(path, NULL);
    OK(cip_change_resize(e, "image", 2, image, err));
    OK(cip_change_resize(e, "packed", 2, packed, err));
    OK(cip_change_resize(e, "few", 1, few, err));
    commit(e, path);
    edit_expect(path, "image", "0.0 1.0 2.0 3.0 4.0 5.0 0.0\n6.0 7.0 8.0 9.0 10.0 11.0 0.0\n");
    edit_expect(path, "packed", "0 1\n4 5\n8 9\n0 0\n");
    edit_expect(path, "few", "10\n");
}

static void an_array_without_elements_takes_rows_again(void **state)
{
    (void)state;
    static const char *const codecs[] = { "none", "zlib", "bzp2", "lz4",
                                          "lz4f", "zstd", "blsc", "bls2" };
    static const int64_t three[] = { 3 }, none[] = { 0 };
    const int16_t v[] = { 7, 8, 9 };
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        const char *path = scratch_path(&s, "empty.asdf");
        cip_change *w;
        OK(cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &w, err));
        OK(cip_change_put(w, "a", cip_dtype_of(CIP_I16), 1, three, v,
                          CIP_ARRAY_OPTIONS(.codec = codecs[i]), err));
        OK(cip_change_commit(&w, err));
        cip_change *e = begin(path, NULL);
        OK(cip_change_resize(e, "a", 1, none, err));
        commit(e, path);
        e = begin(path, NULL);
        OK(cip_change_append(e, "a", cip_dtype_as_stored(), v, sizeof v, err));
        commit(e, path);
        edit_expect(path, "a", "7 8 9\n");
    }
}

static void changes_of_one_array_follow_each_other(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "g.asdf", false);
    const float a[6] = { -1, -1, -1, -1, -1, -1 };
    const int16_t h[4] = { 50, 51, 52, 53 };
    const int64_t shape[] = { 5, 2 };
    cip_change *e = begin(path, NULL);
    OK(cip_change_write(e, "image", "[0]", cip_dtype_as_stored(), a, sizeof a, err));
    OK(cip_change_append(e, "image", cip_dtype_as_stored(), a, sizeof a, err));
    OK(cip_change_append(e, "packed", cip_dtype_as_stored(), h, sizeof h, err));
    OK(cip_change_write(e, "packed", "[0]", cip_dtype_as_stored(), h, sizeof h, err));
    commit(e, path);
    edit_expect(path, "image",
                "-1.0 -1.0 -1.0 -1.0 -1.0 -1.0\n6.0 7.0 8.0 9.0 10.0 11.0\n12.0 13.0 14.0 15.0 "
                "16.0 17.0\n18.0 19.0 20.0 21.0 22.0 23.0\n-1.0 -1.0 -1.0 -1.0 -1.0 -1.0\n");
    edit_expect(path, "packed", "50 51 52 53\n4 5 6 7\n8 9 10 11\n50 51 52 53\n");
    e = begin(path, NULL);
    OK(cip_change_write(e, "packed", "[1]", cip_dtype_as_stored(), h, sizeof h, err));
    OK(cip_change_resize(e, "packed", 2, shape, err));
    commit(e, path);
    edit_expect(path, "packed", "50 51\n50 51\n8 9\n50 51\n0 0\n");
}

static void an_array_whose_place_changed_goes_on_changing(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "g2.asdf", false);
    const int16_t h[4] = { 1, 2, 3, 4 };
    const double r[2] = { 1, 2 };
    const int64_t q[3] = { 1, 2, 3 };
    const float one = 100;
    const int64_t shape[] = { 2, 2 }, more[] = { 3, 3 }, two[] = { 2 };
    cip_change *e = begin(path, NULL);
    OK(cip_change_append(e, "packed", cip_dtype_as_stored(), h, sizeof h, err));
    OK(cip_change_append(e, "packed", cip_dtype_as_stored(), h, sizeof h, err));
    OK(cip_change_write(e, "packed", "[-1, -1]", cip_dtype_as_stored(), h, 2, err));
    OK(cip_change_delete(e, "packed", 0, 0, 2, err));
    OK(cip_change_resize(e, "image", 2, shape, err));
    OK(cip_change_write(e, "image", "[0, 0]", cip_dtype_as_stored(), &one, sizeof one, err));
    OK(cip_change_resize(e, "image", 2, more, err));
    OK(cip_change_write(e, "image", "[2, 2]", cip_dtype_as_stored(), &one, sizeof one, err));
    OK(cip_change_resize(e, "few", 1, two, err));
    OK(cip_change_append(e, "few", cip_dtype_as_stored(), q, 8, err));
    OK(cip_change_write(e, "few", "[0:2]", cip_dtype_as_stored(), q + 1, 16, err));
    commit(e, path);
    edit_expect(path, "packed", "8 9 10 11\n1 2 3 4\n1 2 3 1\n");
    edit_expect(path, "image", "100.0 1.0 0.0\n6.0 7.0 0.0\n0.0 0.0 100.0\n");
    edit_expect(path, "few", "2 3 1\n");
    path = edit_file(&s, "g3.asdf", true);
    e = begin(path, NULL);
    OK(cip_change_append(e, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    commit(e, path);
    edit_expect(path, "rows", "1.0 2.0\n");
    e = begin(path, NULL);
    OK(cip_change_append(e, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    OK(cip_change_freeze(e, err));
    OK(cip_change_append(e, "rows", cip_dtype_as_stored(), r, sizeof r, err));
    commit(e, path);
    edit_expect(path, "rows", "1.0 2.0\n1.0 2.0\n1.0 2.0\n");
}

static void an_array_that_is_removed_cannot_change(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "g4.asdf", false);
    const int16_t h[4] = { 1, 2, 3, 4 };
    const int64_t q[3] = { 1, 2, 3 };
    cip_change *e = begin(path, NULL);
    cip_file *f;
    OK(cip_change_remove(e, "packed", err));
    FAILS(CIP_ERR_NOT_FOUND, "removed",
          cip_change_append(e, "packed", cip_dtype_as_stored(), h, sizeof h, err));
    FAILS(CIP_ERR_NOT_FOUND, "removed",
          cip_change_write(e, "packed", "[0]", cip_dtype_as_stored(), h, sizeof h, err));
    cip_change_abort(&e);
    e = begin(path, NULL);
    OK(cip_change_remove(e, "packed", err));
    OK(cip_change_write(e, "few", NULL, cip_dtype_as_stored(), q, sizeof q, err));
    OK(cip_change_remove(e, "few", err));
    commit(e, path);
    OK(cip_open(path, NULL, &f, err));
    assert_int_equal(cip_file_narray(f), 1);
    cip_file_close(f);
}

static void checksums_follow_the_options(void **state)
{
    (void)state;
    static const uint8_t none[16] = { 0 };
    const char *path = edit_file(&s, "h.asdf", false);
    const int16_t h[] = { 1, 1, 1, 1 };
    cip_file *f;
    cip_change *e = begin(path, CIP_CHANGE_OPTIONS(.checksum = "none"));
    OK(cip_change_write(e, "packed", "[0]", cip_dtype_as_stored(), h, sizeof h, err));
    commit(e, path);
    OK(cip_open(path, NULL, &f, err));
    assert_memory_equal(cip_file_block(f, 1)->checksum_value, none, 16);
    assert_memory_not_equal(cip_file_block(f, 0)->checksum_value, none, 16);
    cip_file_close(f);
    e = begin(path, NULL); /* none stays none */
    OK(cip_change_write(e, "packed", "[1]", cip_dtype_as_stored(), h, sizeof h, err));
    commit(e, path);
    OK(cip_open(path, NULL, &f, err));
    assert_memory_equal(cip_file_block(f, 1)->checksum_value, none, 16);
    cip_file_close(f);
    e = begin(path, CIP_CHANGE_OPTIONS(.checksum = "legacy"));
    OK(cip_change_write(e, "packed", "[2]", cip_dtype_as_stored(), h, sizeof h, err));
    commit(e, path);
    OK(cip_open(path, NULL, &f, err));
    assert_memory_not_equal(cip_file_block(f, 1)->checksum_value, none, 16);
    cip_file_close(f);
}

static void masks_and_external_data_stand_in_the_way(void **state)
{
    (void)state;
    const int64_t shape[] = { 3 };
    const uint8_t mask[] = { 0, 1, 0 };
    const int64_t v[] = { 1, 2, 3 };
    cip_change *w;
    const char *path = scratch_path(&s, "i.asdf");
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_put(w, "m", cip_dtype_of(CIP_I64), 1, shape, v, CIP_ARRAY_OPTIONS(.mask = mask),
                      err));
    OK(cip_change_put(w, "x", cip_dtype_of(CIP_I64), 1, shape, v,
                      CIP_ARRAY_OPTIONS(.storage = "external"), err));
    OK(cip_change_commit(&w, err));
    cip_change *e = begin(path, NULL);
    FAILS(CIP_ERR_UNSUPPORTED, "mask", cip_change_append(e, "m", cip_dtype_as_stored(), v, 8, err));
    FAILS(CIP_ERR_UNSUPPORTED, "mask", cip_change_resize(e, "m", 1, (const int64_t[]){ 2 }, err));
    FAILS(CIP_ERR_UNSUPPORTED, "another file",
          cip_change_write(e, "x", "[0]", cip_dtype_as_stored(), v, 8, err));
    cip_change_abort(&e);
    e = begin(path, NULL);
    OK(cip_change_write(e, "m", "[2]", cip_dtype_as_stored(), v, 8, err));
    commit(e, path);
    edit_expect(path, "m", "1 -- 1\n");
}

/* n bytes with a tree of this text and blocks of 2, 3 and 4 bytes. */
static const char *by_hand(const char *name, const char *tree)
{
    static char text[2048];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%%YAML 1.1\n"
                                "%%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n%s...\n",
                                tree);
    for (uint8_t i = 2; i < 5; i++) {
        const uint8_t head[54] = { 0xd3, 'B', 'L', 'K', 0, 48, [21] = i, [29] = i, [37] = i };
        memcpy(text + n, head, sizeof head);
        memset(text + n + sizeof head, 10 * i, i);
        n += sizeof head + i;
    }
    return scratch_write(&s, name, text, n);
}

static void sources_from_the_end_mean_the_blocks_of_the_file(void **state)
{
    (void)state;
    const char *path = by_hand(
        "n.asdf",
        "a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: little, shape: [2]}\n"
        "b: !core/ndarray-1.1.0 {source: -2, datatype: uint8, byteorder: little, shape: [3]}\n"
        "b2: !core/ndarray-1.1.0 {source: -2, datatype: uint8, byteorder: little, shape: [3]}\n"
        "c: !core/ndarray-1.1.0 {source: -1, datatype: uint8, byteorder: little, shape: [4]}\n");
    const int64_t four[] = { 4 };
    cip_change *e = begin(path, NULL);
    OK(cip_change_resize(e, "b", 1, four, err)); /* a block of its own */
    OK(cip_change_resize(e, "a", 1, four, err));
    OK(cip_change_defrag(e, NULL, NULL, err));
    commit(e, path);
    edit_expect(path, "a", "20 20 0 0\n");
    edit_expect(path, "b", "30 30 30 0\n");
    edit_expect(path, "b2", "30 30 30\n");
    edit_expect(path, "c", "40 40 40 40\n");
}

static void what_an_alias_shares_is_not_changed_for_the_others(void **state)
{
    (void)state;
    const char *path = by_hand(
        "o.asdf",
        "q: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: little, shape: &s "
        "[2]}\n"
        "r: !core/ndarray-1.1.0 {source: 2, datatype: uint8, byteorder: little, shape: *s}\n"
        "t: !core/ndarray-1.1.0 &t {source: 1, datatype: uint8, byteorder: little, shape: "
        "[3]}\n"
        "u: !core/ndarray-1.1.0 {<<: *t, source: 2}\n");
    const uint8_t row = 7;
    cip_change *e = begin(path, NULL);
    OK(cip_change_append(e, "r", cip_dtype_as_stored(), &row, 1, err));
    OK(cip_change_append(e, "u", cip_dtype_as_stored(), &row, 1, err));
    commit(e, path);
    edit_expect(path, "q", "20 20\n");
    edit_expect(path, "r", "40 40 7\n");
    edit_expect(path, "t", "30 30 30\n");
    edit_expect(path, "u", "40 40 40 7\n");
}

/* The tree has the new numbers of blocks by then: a block that grew must not get another. */
static void a_block_may_outgrow_its_place_before_defrag(void **state)
{
    (void)state;
    const char *path = by_hand(
        "grown.asdf",
        "a: !core/ndarray-1.1.0 {source: 1, datatype: uint8, byteorder: little, shape: [3]}\n"
        "b: !core/ndarray-1.1.0 {source: 2, datatype: uint8, byteorder: little, shape: [4]}\n");
    const uint8_t row = 7;
    cip_change *e = begin(path, NULL);
    cip_file *f;
    OK(cip_change_append(e, "a", cip_dtype_as_stored(), &row, 1, err));
    OK(cip_change_defrag(e, NULL, NULL, err));
    commit(e, path);
    edit_expect(path, "a", "30 30 30 7\n");
    edit_expect(path, "b", "40 40 40 40\n");
    OK(cip_open(path, NULL, &f, err));
    assert_int_equal(cip_file_nblock(f), 2);
    cip_file_close(f);
}

static void inline_data_that_an_alias_names_too_are_one(void **state)
{
    (void)state;
    const char *tree = "x: &x !core/ndarray-1.1.0 {data: [1, 2, 3], datatype: int64, shape: [3]}\n"
                       "y: *x\n";
    const int64_t v[] = { 10, 20 };
    const char *path = by_hand("names.asdf", tree);
    cip_change *e = begin(path, NULL);
    OK(cip_change_write(e, "x", "[0]", cip_dtype_as_stored(), &v[0], 8, err));
    OK(cip_change_write(e, "y", "[1]", cip_dtype_as_stored(), &v[1], 8, err));
    commit(e, path);
    edit_expect(path, "x", "10 20 3\n");
    edit_expect(path, "y", "10 20 3\n");
    path = by_hand("names.asdf", tree);
    e = begin(path, NULL);
    OK(cip_change_write(e, "y", "[0]", cip_dtype_as_stored(), &v[0], 8, err));
    OK(cip_change_write(e, "x", "[1]", cip_dtype_as_stored(), &v[1], 8, err));
    OK(cip_change_remove(e, "y", err));
    commit(e, path);
    edit_expect(path, "x", "10 20 3\n");
}

static void a_quantity_is_changed_where_its_value_lies(void **state)
{
    (void)state;
    const char *path = by_hand(
        "p.asdf",
        "a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: little, shape: [2]}\n"
        "q: !unit/quantity-1.1.0 {unit: m, value: !core/ndarray-1.1.0 {source: 1, datatype: uint8, "
        "byteorder: little, shape: [3]}}\n");
    const uint8_t v[2] = { 7, 8 };
    cip_change *e = begin(path, NULL);
    OK(cip_change_write(e, "q", "[1:]", cip_dtype_as_stored(), v, 2, err));
    OK(cip_change_append(e, "q", cip_dtype_as_stored(), v, 2, err));
    commit(e, path);
    edit_expect(path, "a", "20 20\n");
    edit_expect(path, "q", "30 7 8 7 8\n");
}

/* The elements in memory hold no nulls: lists that are written again would have zeros there. */
static void inline_nulls_are_never_written_as_values(void **state)
{
    (void)state;
    const char *const arrays[] = { "data: [1, null, 3, -9], datatype: int32",
                                   "data: [1, null, 3, -9], datatype: int32, mask: -9",
                                   "data: [1, null, 3], datatype: int32, mask: !core/ndarray-1.1.0 "
                                   "{data: [false, false, true], datatype: bool8}",
                                   "data: [1, null, 3], datatype: int32, mask: [true]",
                                   "data: [1, null, .nan], datatype: int32, mask: .nan",
                                   "data: [a, null], datatype: [ascii, 4], mask: 3",
                                   "data: [[1.5, 2], [null, 3]], datatype: [{name: x, datatype: "
                                   "float32}, {name: y, datatype: int32}]" };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        char tree[400], element[64] = { 0 };
        snprintf(tree, sizeof tree, "a: !core/ndarray-1.1.0 {%s}\n", arrays[i]);
        const char *path = by_hand("nulls.asdf", tree);
        cip_file *f;
        OK(cip_open(path, NULL, &f, err));
        const cip_array *a = cip_find(f, "a", NULL);
        const size_t size = (size_t)cip_dtype_itemsize(cip_array_native_dtype(a, NULL));
        cip_file_close(f);
        const int64_t two[] = { 2 };
        for (int k = 0; k < 3; k++) {
            cip_change *e = begin(path, NULL);
            cip_status got =
                k == 0 ? cip_change_write(e, "a", "[0]", cip_dtype_as_stored(), element, size, NULL)
                : k == 1 ? cip_change_append(e, "a", cip_dtype_as_stored(), element, size, NULL)
                         : cip_change_resize(e, "a", 1, two, NULL);
            if (got != CIP_ERR_UNSUPPORTED)
                fail_msg("%s: change %d ended with %d", arrays[i], k, got);
            cip_change_abort(&e);
        }
    }
}

/* Stored bytes of a zlib block after an element of it changed with this codec asked for. */
static uint64_t stored_with(const char *codec)
{
    static int16_t v[16000];
    const int64_t shape[] = { 16000 };
    const char *path = scratch_path(&s, "q.asdf");
    cip_change *w;
    cip_file *f;
    for (int i = 0; i < 16000; i++)
        v[i] = (int16_t)(i * (i % 7) * 31 % 997 + i % 11);
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.codec = "zlib", .overwrite = true), &w, err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I16), 1, shape, v, NULL, err));
    OK(cip_change_commit(&w, err));
    cip_change *e = begin(path, CIP_CHANGE_OPTIONS(.codec = codec));
    OK(cip_change_write(e, "a", "[0]", cip_dtype_as_stored(), &v[1], 2, err));
    commit(e, path);
    OK(cip_open(path, NULL, &f, err));
    const cip_block_info *b = cip_file_block(f, cip_file_nblock(f) - 1);
    assert_string_equal(b->codec, "zlib");
    uint64_t n = b->stored_nbytes;
    cip_file_close(f);
    return n;
}

static void a_level_counts_for_the_codec_it_belongs_to(void **state)
{
    (void)state;
    uint64_t usual = stored_with(NULL), quick = stored_with("zlib:1");
    assert_true(usual != 0 && quick != usual);
    assert_int_equal(stored_with("lz4:1"), usual);
}

/* More bytes than are kept in memory. */
static void large_changes_go_through_a_scratch_file(void **state)
{
    (void)state;
    const int64_t n = 36 << 20;
    const int64_t shape[] = { n };
    uint8_t *v = calloc((size_t)n, 1), back[2];
    cip_change *w;
    cip_file *f;
    const char *path = scratch_path(&s, "j.asdf");
    assert_non_null(v);
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_U8), 1, shape, v, NULL, err));
    OK(cip_change_commit(&w, err));
    memset(v, 7, (size_t)n);
    v[n - 1] = 8;
    cip_change *e = begin(path, NULL);
    OK(cip_change_write(e, "a", NULL, cip_dtype_as_stored(), v, (size_t)n, err));
    OK(cip_change_write(e, "a", "[0]", cip_dtype_as_stored(), v + n - 1, 1, err));
    commit(e, path);
    OK(cip_open(path, NULL, &f, err));
    OK(cip_read(cip_find(f, "a", err), "[::-37748735]", cip_dtype_as_stored(), back, 2, err));
    assert_int_equal(back[0], 8);
    assert_int_equal(back[1], 8);
    OK(cip_read(cip_find(f, "a", err), "[20000000:20000002]", cip_dtype_as_stored(), back, 2, err));
    assert_int_equal(back[0] + back[1], 14);
    cip_file_close(f);
    free(v);
}

static void elements_with_a_dtype_are_cast(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "as.asdf", false);
    const int32_t i[] = { 5, -6 }, row[] = { 1, 2, 3, 4 };
    const int16_t stored[] = { 1, 0, 2, 0 };
    const double half[] = { 0.5 };
    cip_change *e;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_write(e, "image", "[0, 0:2]", cip_dtype_of(CIP_I32), i, sizeof i, err));
    OK(cip_change_write(e, "few", "[2]", cip_dtype_of(CIP_I32), i, 4, err));
    OK(cip_change_append(e, "packed", cip_dtype_of(CIP_I32), row, sizeof row, err));
    OK(cip_change_commit(&e, err));
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_append(e, "packed", cip_dtype_as_stored(), stored, 8, err));
    OK(cip_change_insert(e, "few", 0, 3, cip_dtype_of(CIP_I32), i, 4, err));
    OK(cip_change_commit(&e, err));
    edit_expect(path, "few", "10 20 5 5\n");
    edit_expect(path, "packed", "0 1 2 3\n4 5 6 7\n8 9 10 11\n1 2 3 4\n1 0 2 0\n");
    edit_verify(path);
    OK(cip_change_open(path, NULL, &e, err));
    FAILS(CIP_ERR_RANGE, "",
          cip_change_write(e, "few", "[0]", cip_dtype_of(CIP_F64), half, 8, err));
    FAILS(CIP_ERR_RANGE, "expected 4 bytes",
          cip_change_write(e, "few", "[0]", cip_dtype_of(CIP_I32), i, 8, err));
    FAILS(CIP_ERR_ARG, "a dtype", cip_change_write(e, "few", "[0]", NULL, i, 8, err));
    FAILS(CIP_ERR_ARG, "a dtype", cip_change_append(e, "packed", NULL, row, 8, err));
    FAILS(CIP_ERR_RANGE, "",
          cip_change_insert(e, "few", 0, 0, cip_dtype_of(CIP_F64), half, 8, err));
    FAILS(CIP_ERR_ARG, "a dtype", cip_change_insert(e, "few", 0, 0, NULL, row, 8, err));
    cip_change_abort(&e);
    edit_expect(path, "few", "10 20 5 5\n");
}

/* Two of them would become one: U+FFFD stands for both. */
/* Its status says what is wrong. */
static void a_check_that_nobody_listens_to_fails(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "bad.asdf", false);
    char *bytes;
    size_t n;
    OK(cip_verify(path, NULL, err));
    bytes = edit_bytes(path, &n);
    for (size_t i = 0; i + 4 < n; i++)
        if (memcmp(bytes + i, "\323BLK", 4) == 0) {
            bytes[i + 54] ^= 1; /* the data: its MD5 differs */
            break;
        }
    const char *bad = scratch_write(&s, "bad.asdf", bytes, n);
    FAILS(CIP_ERR_CHECKSUM, "", cip_verify(bad, CIP_VERIFY_OPTIONS(.deep = true), err));
    FAILS(CIP_ERR_FORMAT, "", cip_verify(scratch_write(&s, "no", "garbage", 7), NULL, err));
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_with_a_dtype_are_cast),
        cmocka_unit_test(a_check_that_nobody_listens_to_fails),
        cmocka_unit_test(elements_are_written_by_any_selection),
        cmocka_unit_test(elements_come_in_the_byte_order_that_is_said),
        cmocka_unit_test(the_right_number_of_bytes_is_wanted),
        cmocka_unit_test(elements_of_another_file_are_cast),
        cmocka_unit_test(an_array_in_one_piece_is_one_chunk),
        cmocka_unit_test(encoded_bytes_of_a_block_are_no_chunk),
        cmocka_unit_test(shapes_broadcast_as_numpys),
        cmocka_unit_test(rows_are_added_wherever_the_array_lies),
        cmocka_unit_test(rows_of_another_file),
        cmocka_unit_test(a_new_shape_keeps_elements_in_their_places),
        cmocka_unit_test(an_array_without_elements_takes_rows_again),
        cmocka_unit_test(changes_of_one_array_follow_each_other),
        cmocka_unit_test(an_array_whose_place_changed_goes_on_changing),
        cmocka_unit_test(an_array_that_is_removed_cannot_change),
        cmocka_unit_test(checksums_follow_the_options),
        cmocka_unit_test(masks_and_external_data_stand_in_the_way),
        cmocka_unit_test(sources_from_the_end_mean_the_blocks_of_the_file),
        cmocka_unit_test(what_an_alias_shares_is_not_changed_for_the_others),
        cmocka_unit_test(a_block_may_outgrow_its_place_before_defrag),
        cmocka_unit_test(inline_data_that_an_alias_names_too_are_one),
        cmocka_unit_test(a_quantity_is_changed_where_its_value_lies),
        cmocka_unit_test(inline_nulls_are_never_written_as_values),
        cmocka_unit_test(a_level_counts_for_the_codec_it_belongs_to),
        cmocka_unit_test(large_changes_go_through_a_scratch_file),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
