/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/fits/fits_write.h"
#include "support/fail_alloc.h"
#include "support/one_format.h"
#include "tree/yaml.h"

static cip_status write_one(one_output *o, const char *dtype, int32_t ndim, const int64_t *shape,
                            const void *data, const cip_allocator *from)
{
    cip_dtype *d = cip_dtype_parse(dtype, NULL);
    assert_non_null(d);
    const cip_spec_array a = { .path = "", .dtype = d, .ndim = ndim, .shape = shape, .mask = -1 };
    const cip_spec spec = { .narray = 1, .array = &a, .big = -1 };
    const cip_status st = one_write_from(o, &cip_format_fits, &spec, data, 3, from);
    cip_dtype_free(d);
    return st;
}

/* What is written is whole blocks, and reads back the same. */
static void check_round(const char *dtype, const char *back, int32_t ndim, const int64_t *shape,
                        const void *data, size_t n)
{
    one_output o = { .fail_after = 0 };
    one_file f;
    size_t len;
    if (write_one(&o, dtype, ndim, shape, data, NULL) != CIP_OK)
        fail_msg("%s: %s", dtype, o.err.text);
    assert_int_equal(o.bytes.len % FITS_BLOCK, 0);
    assert_int_equal(o.nlost + o.nimpossible, 0);
    assert_int_equal(one_open(&f, &cip_format_fits, o.bytes.ptr, o.bytes.len, 0, NULL), CIP_OK);
    assert_string_equal(cip_dtype_name(f.layout->array[0]->dtype), back);
    assert_int_equal(f.layout->array[0]->view.ndim, ndim);
    uint8_t *raw = one_read(&f, 0, &len);
    if (raw == NULL)
        fail_msg("%s: %s", dtype, f.err.text);
    assert_int_equal(len, n);
    assert_memory_equal(raw, data, n);
    free(raw);
    one_close(&f);
    one_output_clear(&o);
}

static void images_of_every_type_read_back(void **state)
{
    (void)state;
    static const char *const type[] = { "i1",  "u1",  "<i2", "<u2", "<i4",
                                        "<u4", "<i8", "<u8", "<f4", "<f8" };
    static const char *const name[] = { "int8",   "uint8", "int16",  "uint16",  "int32",
                                        "uint32", "int64", "uint64", "float32", "float64" };
    static const size_t width[] = { 1, 1, 2, 2, 4, 4, 8, 8, 4, 8 };
    const int64_t shape[2] = { 2, 3 };
    uint8_t data[48];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 37 + 11);
    for (size_t i = 0; i < sizeof type / sizeof *type; i++)
        check_round(type[i], name[i], 2, shape, data, 6 * width[i]);
}

static void records_read_back(void **state)
{
    (void)state;
    const int64_t shape[1] = { 3 };
    static const uint8_t data[] = {
        1, 0xff, 0xfe, 0x80, 1, 0, 'a', 0,   'x', 'y', 'z', 'w', /* ? u2 i1[1] ?[2] S2 S1[4] */
        0, 0x00, 0x80, 0x7f, 0, 1, 'b', 'c', 'x', 0,   'z', 'w', /* */
        1, 0x01, 0x02, 0x00, 0, 0, 0,   0,   0,   0,   0,   'w', /* */
    };
    check_round(
        "[('yes', '?'), ('n', '<u2'), ('one', 'i1', (1,)), ('two', '?', (2,)), ('s', 'S2'), "
        "('t', 'S1', (2, 2))]",
        "{yes: bool, n: uint16, one: int8[1], two: bool[2], s: ascii2, t: ascii1[2, 2]}", 1, shape,
        data, sizeof data);
}

static void empty_arrays_are_written(void **state)
{
    (void)state;
    const int64_t shape[2] = { 0, 3 };
    check_round("<i2", "int16", 2, shape, "", 0);
    check_round("[('x', '<f8')]", "{x: float64}", 1, shape, "", 0);
}

static void what_fits_cannot_hold_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        int32_t ndim;
    } row[] = { { "?", 1 },     { "<c8", 1 },
                { "<f8", 0 },   { "[('x', '<i2')]", 2 },
                { "<U2", 1 },   { "[('x', '<M8[s]')]", 1 },
                { "<M8[s]", 1 } };
    const int64_t shape[2] = { 1, 1 };
    static const uint8_t data[64];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_output o = { .fail_after = 0 };
        assert_int_equal(write_one(&o, row[i].dtype, row[i].ndim, shape, data, NULL),
                         CIP_ERR_UNSUPPORTED);
        assert_int_equal(o.nimpossible, 1);
        assert_int_equal(o.bytes.len, 0);
        one_output_clear(&o);
    }
}

/* It gets the name that a column without one is read under. */
static void a_column_whose_name_is_lost_has_a_number(void **state)
{
    (void)state;
    const int64_t shape[1] = { 1 };
    one_output o = { .fail_after = 0 };
    assert_int_equal(write_one(&o, "[('x', '<i2'), ('\xc3\xa9', '<i2')]", 1, shape, "abcd", NULL),
                     CIP_OK);
    assert_int_equal(o.nlost, 1);
    assert_non_null(memmem(o.bytes.ptr, o.bytes.len, "TTYPE2  = 'col2    '", 20));
    one_output_clear(&o);
}

/* No value goes unsaid: one that has no card, or another meaning as a card. */
static void what_of_a_header_is_lost_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *header, *told;
        size_t nlost;
    } row[] = {
        { "{A: 1, HISTORY: [x]}", "", 0 },
        { "{A: []}", "the card A is lost: a list without values has no card\n", 1 },
        { "{A: [1, 2]}", "", 0 },
        { "{A: [1]}", "the card A: a list of one value becomes that value\n", 0 },
        { "{A: [[1, 2, 3]]}",
          "the card A: a list of one value becomes that value\n"
          "the card A is lost: a card holds one value\n",
          1 },
        { "{A: 'x '}", "the card A: blanks at the end of a text are not kept\n", 0 },
        { "{CONTINUE: 'x'}", "the card CONTINUE is lost: a keyword cannot have this name\n", 1 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_output o = { .fail_after = 0 };
        cip_env env;
        cip_arena arena = { .mem = &env.mem };
        const cip_spec_array a = { .path = "h/data",
                                   .dtype = cip_dtype_of(CIP_U8),
                                   .ndim = 1,
                                   .shape = &(int64_t){ 1 },
                                   .mask = -1 };
        cip_spec spec = { .narray = 1, .array = &a, .big = -1 };
        char text[100];
        const int n = snprintf(text, sizeof text, "{h: {header: %s}}", row[i].header);
        assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
        assert_int_equal(cip_yaml_parse(&env, &arena, (cip_bytes){ (uint8_t *)text, (size_t)n },
                                        NULL, &spec.tree, NULL),
                         CIP_OK);
        assert_int_equal(one_write_from(&o, &cip_format_fits, &spec, "x", 1, NULL), CIP_OK);
        assert_string_equal(o.lost, row[i].told);
        assert_int_equal(o.nlost, row[i].nlost);
        one_output_clear(&o);
        cip_arena_clear(&arena);
        cip_env_clear(&env);
    }
}

static cip_status rewrite(void *user, uint64_t off, const void *p, size_t n, cip_err *err)
{
    (void)err;
    memcpy(((one_output *)user)->bytes.ptr + off, p, n);
    return CIP_OK;
}

static cip_status rewind_to(void *user, uint64_t off, cip_err *err)
{
    (void)err;
    ((one_output *)user)->bytes.len = off;
    return CIP_OK;
}

/* With headers of the length that was left for them nothing moves: this output cannot. */
static void data_stay_where_they_came(void **state)
{
    (void)state;
    static const char *const type[] = { "<i2", "[('x', '<i2')]" };
    static const int64_t shape[] = { 2 };
    for (unsigned order = 0; order < 4; order++) { /* each may be a table */
        one_output o = { .fail_after = 0 };
        cip_arena a = { .mem = &o.env.mem };
        cip_out out = { .write = one_out, .user = &o, .rewrite = rewrite, .rewind = rewind_to };
        cip_spec_array array[2];
        cip_dtype *d[2];
        cip_spec spec = { .env = &o.env, .big = -1, .late = true, .array = array };
        void *w;
        assert_int_equal(cip_env_init(&o.env, NULL, NULL, NULL, NULL), CIP_OK);
        o.bytes.mem = &o.env.mem;
        const cip_store_begin b = { .env = &o.env, .arena = &a, .spec = &spec, .out = &out };
        assert_int_equal(cip_fits_store.begin(&b, &w, NULL), CIP_OK);
        for (size_t i = 0; i < 2; i++) {
            const cip_chunk_in chunk = { .bytes = { (const uint8_t *)"abcd", 4 }, .raw_len = 4 };
            cip_array_form form = { .dtype = NULL };
            d[i] = cip_dtype_parse(type[order >> i & 1], NULL);
            array[i] = (cip_spec_array){
                .path = i == 0 ? "one" : "two", .dtype = d[i], .ndim = 1, .shape = shape, .mask = -1
            };
            assert_int_equal(cip_fits_store.add(w, &array[i], &form, NULL), CIP_OK);
            assert_int_equal(cip_fits_store.store(w, i, 0, 1, &chunk, NULL), CIP_OK);
        }
        spec.narray = 2;
        assert_int_equal(cip_fits_store.finish(w, NULL, NULL), CIP_OK);
        const size_t first = order & 1 ? 2 * FITS_BLOCK : FITS_BLOCK;
        assert_memory_equal(o.bytes.ptr + first, "abcd", 5);
        assert_memory_equal(o.bytes.ptr + first + 2 * FITS_BLOCK, "abcd", 5);
        assert_int_equal(o.bytes.len, first + 3 * FITS_BLOCK);
        cip_fits_store.clear(w);
        for (size_t i = 0; i < 2; i++)
            cip_dtype_free(d[i]);
        cip_arena_clear(&a);
        one_output_clear(&o);
    }
}

static void failing_allocations_leave_nothing(void **state)
{
    (void)state;
    const int64_t shape[1] = { 3 };
    static const uint8_t data[6] = { 1, 2, 3, 4, 5, 6 };
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        one_output o = { .fail_after = 0 };
        const cip_status st = write_one(&o, "[('x', '<u2')]", 1, shape, data, &from);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        one_output_clear(&o);
        assert_int_equal(alloc.held, 0);
        if (alloc.requests < n) {
            assert_int_equal(st, CIP_OK);
            break;
        }
    }
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    const int64_t shape[1] = { 3 };
    static const uint8_t data[6];
    for (size_t n = 1; n < 2 * (size_t)FITS_BLOCK; n += 700) {
        one_output o = { .fail_after = n };
        assert_int_equal(write_one(&o, "<u2", 1, shape, data, NULL), CIP_ERR_IO);
        one_output_clear(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_of_every_type_read_back),
        cmocka_unit_test(records_read_back),
        cmocka_unit_test(empty_arrays_are_written),
        cmocka_unit_test(what_fits_cannot_hold_is_refused),
        cmocka_unit_test(a_column_whose_name_is_lost_has_a_number),
        cmocka_unit_test(what_of_a_header_is_lost_is_told),
        cmocka_unit_test(data_stay_where_they_came),
        cmocka_unit_test(failing_allocations_leave_nothing),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
