/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "base/endian.h"
#include "format/fits/fits.h"
#include "support/fail_alloc.h"
#include "support/one_format.h"

#define CORPUS CIP_SOURCE_DIR "/src/format/fits/corpus/fuzz_fits/"

typedef struct fits_bytes {
    uint8_t *ptr; /* free() it */
    size_t len;
} fits_bytes;

static fits_bytes load(const char *name)
{
    enum { MOST = 1 << 16 };
    char path[1024];
    snprintf(path, sizeof path, CORPUS "%s.fits", name);
    FILE *f = fopen(path, "rb");
    fits_bytes b = { malloc(MOST), 0 };
    assert_non_null(f);
    b.len = fread(b.ptr, 1, MOST, f);
    assert_in_range(b.len, 1, MOST - 1);
    fclose(f);
    return b;
}

static cip_status open_name(one_file *f, const char *name)
{
    fits_bytes b = load(name);
    const cip_status st = one_open(f, &cip_format_fits, b.ptr, b.len, 0, NULL);
    free(b.ptr);
    return st;
}

/* The elements of the i-th array, packed, little-endian. */
static void assert_elements(one_file *f, size_t i, const void *want, size_t n)
{
    size_t len;
    uint8_t *raw = one_read(f, i, &len);
    if (raw == NULL)
        fail_msg("%s", f->err.text);
    assert_int_equal(len, n);
    assert_memory_equal(raw, want, n);
    free(raw);
}

static const int16_t six[6] = { 0, 1, -2, 300, -400, 32767 };

typedef struct want {
    const char *name, *path, *dtype;
    int32_t ndim;
    int64_t shape[2];
} want;

static const cip_array *open_one(one_file *f, const want *w)
{
    if (open_name(f, w->name) != CIP_OK)
        fail_msg("%s: %s", w->name, f->err.text);
    const cip_array *a = f->layout->array[0];
    assert_string_equal(a->path, w->path);
    assert_string_equal(cip_dtype_name(a->dtype), w->dtype);
    assert_int_equal(a->view.ndim, w->ndim);
    for (int32_t k = 0; k < w->ndim; k++)
        assert_int_equal(a->view.shape[k], w->shape[k]);
    return a;
}

/* Numbers are compared as numbers: `each` bytes little-endian. */
static void check_numbers(const want *w, const double *number, size_t n)
{
    one_file f;
    size_t len;
    const cip_array *a = open_one(&f, w);
    uint8_t *raw = one_read(&f, 0, &len);
    if (raw == NULL)
        fail_msg("%s: %s", w->name, f.err.text);
    const size_t each = (size_t)a->dtype->itemsize;
    assert_int_equal(len, n * each);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = raw + i * each;
        const cip_kind kind = a->dtype->kind;
        const double v = kind == CIP_F32 || kind == CIP_F64 ? cip_load_float(p, each, false)
                         : kind == CIP_U8                   ? (double)*p
                         : kind == CIP_I8                   ? (double)(int8_t)*p
                         : kind == CIP_U16                  ? (double)cip_load_u16(p, false)
                                           : (double)(int16_t)cip_load_u16(p, false);
        if (isnan(number[i]) ? !isnan(v) : v != number[i])
            fail_msg("%s: element %zu: expected %.17g, found %.17g", w->name, i, number[i], v);
    }
    free(raw);
    one_close(&f);
}

static void images_have_their_axes_reversed(void **state)
{
    (void)state;
    const double n[6] = { 0, 1, -2, 300, -400, 32767 };
    const double d[2] = { 1.5, -2.25 };
    check_numbers(&(want){ "good-int16", "PRIMARY/data", "int16", 2, { 2, 3 } }, n, 6);
    check_numbers(&(want){ "good-not-filled", "PRIMARY/data", "int16", 2, { 2, 3 } }, n, 6);
    check_numbers(&(want){ "good-tail", "PRIMARY/data", "int16", 2, { 2, 3 } }, n, 6);
    check_numbers(&(want){ "good-float64", "PRIMARY/data", "float64", 1, { 2 } }, d, 2);
}

static void unsigned_integers_are_read_as_such(void **state)
{
    (void)state;
    const double n[6] = { 32768, 32769, 32766, 33068, 32368, 65535 };
    const double b[4] = { -128, -1, 0, 127 };
    check_numbers(&(want){ "good-unsigned", "PRIMARY/data", "uint16", 2, { 2, 3 } }, n, 6);
    check_numbers(&(want){ "good-signed", "PRIMARY/data", "int8", 1, { 4 } }, b, 4);
}

static void scaled_images_are_physical_values(void **state)
{
    (void)state;
    double n[6];
    for (int i = 0; i < 6; i++) {
        const float product = (float)six[i] * 0.1f;
        n[i] = i == 3 ? (double)NAN : (double)(product + 5.0f);
    }
    check_numbers(&(want){ "good-scaled", "PRIMARY/data", "float32", 2, { 2, 3 } }, n, 6);
}

static void blank_integers_are_masked(void **state)
{
    (void)state;
    static const struct {
        want w;
        uint8_t value[2];
    } row[] = {
        { { "good-blank", "PRIMARY/data", "int16", 2, { 2, 3 } }, { 0xff, 0xfe } },
        { { "good-blank-unsigned", "PRIMARY/data", "uint16", 2, { 2, 3 } }, { 0x7f, 0xfe } },
    };
    for (size_t i = 0; i < 2; i++) {
        one_file f;
        const cip_array *a = open_one(&f, &row[i].w);
        assert_int_equal(a->mask.kind, CIP_MASK_VALUE);
        assert_memory_equal(a->mask.value, row[i].value, 2);
        one_close(&f);
    }
}

static void hdus_have_names_that_are_theirs_alone(void **state)
{
    (void)state;
    static const char *const path[] = { "SCI,1/data", "SCI,2/data", "err/data",     "4/data",
                                        "5/data",     "6/data",     "a~1b~0c/data", "8/data" };
    one_file f;
    assert_int_equal(open_name(&f, "good-names"), CIP_OK);
    assert_int_equal(f.layout->narray, 8);
    for (size_t i = 0; i < 8; i++) {
        const uint8_t value = (uint8_t)i;
        assert_string_equal(f.layout->array[i]->path, path[i]);
        assert_ptr_equal(cip_tree_get(f.layout->tree, path[i], NULL), f.layout->array[i]->node);
        assert_elements(&f, i, &value, 1);
    }
    one_close(&f);
}

/* --- headers ---------------------------------------------------------------------------------- */

static const cip_node *in_header(const one_file *f, const char *key)
{
    const cip_node *n = cip_map_get(f->layout->tree->pair[0].value, "header");
    return n == NULL ? NULL : cip_map_get(n, key);
}

static const char *text_of(const one_file *f, const char *key)
{
    const cip_node *n = in_header(f, key);
    assert_non_null(n);
    assert_int_equal(n->type, CIP_NODE_STRING);
    return n->text;
}

static void cards_become_values(void **state)
{
    (void)state;
    one_file f;
    int64_t i;
    uint64_t u;
    assert_int_equal(open_name(&f, "good-cards"), CIP_OK);
    assert_int_equal(f.layout->narray, 0);
    assert_string_equal(text_of(&f, "TEXT"), "it's");
    assert_string_equal(text_of(&f, "SPACES"), "  both");
    assert_string_equal(text_of(&f, "LONG"), "begins goes on ends");
    assert_string_equal(text_of(&f, "LOOSE"), "no card follows&");
    assert_string_equal(text_of(&f, "HUGE"), "123456789012345678901234567890");
    assert_string_equal(text_of(&f, "WRONG"), "what is this");
    assert_string_equal(text_of(&f, "OPEN"), "'never ends");
    assert_string_equal(text_of(&f, "LATIN"), "caf\xc3\xa9");
    assert_true(cip_node_as_int(in_header(&f, "INT"), &i) && i == -12);
    assert_true(cip_node_as_uint(in_header(&f, "BIG"), &u) && u == UINT64_MAX);
    assert_true(in_header(&f, "REAL")->type == CIP_NODE_FLOAT && in_header(&f, "REAL")->f == 1500);
    assert_int_equal(in_header(&f, "NOTHING")->type, CIP_NODE_NULL);
    assert_true(cip_node_as_int(in_header(&f, "ESO DET CHIP"), &i) && i == 7);
    assert_true(cip_node_as_int(in_header(&f, "SAME"), &i) && i == 3);
    const cip_node *pair = in_header(&f, "PAIR"), *twice = in_header(&f, "TWICE");
    assert_true(pair->type == CIP_NODE_SEQ && pair->len == 2 && pair->item[1]->f == -2);
    assert_true(twice->type == CIP_NODE_SEQ && twice->len == 2);
    const cip_node *comment = in_header(&f, "COMMENT"), *none = in_header(&f, "");
    assert_true(comment->type == CIP_NODE_SEQ && comment->len == 2);
    assert_string_equal(comment->item[1]->text, "two / three");
    assert_true(none->type == CIP_NODE_SEQ && none->len == 1);
    const cip_node *comments = cip_map_get(f.layout->tree->pair[0].value, "comments");
    assert_string_equal(cip_map_get(comments, "LONG")->text, "half a comment");
    assert_string_equal(cip_map_get(comments, "TEXT")->text, "a quote");
    assert_null(cip_map_get(comments, "INT"));
    one_close(&f);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void columns_of_every_type_are_read(void **state)
{
    (void)state;
    static const uint8_t first[] = {
        1,                                           /* flag */
        1,    0,    1,    0,    0, 0, 0,    0,    1, /* bits */
        7,    0,                                     /* count */
        0,    0,    0,    0,    0, 0, 0xf8, 0x3f,    /* value: 1.5 */
        0xff, 0x7f,                                  /* unsigned: 32767 */
        'a',  'b',  0,    0,                         /* name */
        0,    0,    0,    0,    0, 0, 4,    0x40,    /* scaled: 3 * 0.5 + 1 */
        0,    0,    0x80, 0x3f, 0, 0, 0,    0x40,    /* pair */
        'x',  'y',                                   /* chars */
        100,  0,
    };
    one_file f;
    size_t len;
    open_one(&f, &(want){ "good-table",
                          "T/data",
                          "{flag: bool, bits: bool[9], count: int16, value: float64, unsigned: "
                          "uint16, name: ascii4, scaled: float64, pair: complex64, chars: "
                          "ascii1[2], col10: int16}",
                          1,
                          { 3 } });
    uint8_t *raw = one_read(&f, 0, &len);
    assert_non_null(raw);
    assert_int_equal(len, 3 * sizeof first);
    assert_memory_equal(raw, first, sizeof first);
    const uint8_t *second = raw + sizeof first, *third = second + sizeof first;
    assert_memory_equal(second + 22, "c\0\0\0", 4); /* nothing behind the NUL */
    assert_memory_equal(second + 42, "\0\0", 2);    /* blanks alone */
    assert_int_equal(third[0], 0);
    assert_true(isnan(cip_load_float(third + 26, 8, false))); /* TNULL */
    free(raw);
    one_close(&f);
}

static void plain_rows_are_read_as_they_lie(void **state)
{
    (void)state;
    one_file f;
    size_t len;
    const cip_array *a = open_one(
        &f,
        &(want){
            "good-plain-table", "1/data", "{a: int16, a_2: float64, c: float32[2]}", 1, { 3 } });
    assert_int_equal(a->space->kind, CIP_SPACE_SUB);
    uint8_t *raw = one_read(&f, 0, &len);
    assert_int_equal(len, 54);
    assert_int_equal(cip_load_u16(raw + 36, false), 2);
    assert_true(cip_load_float(raw + 38, 8, false) == 1);
    assert_true(cip_load_float(raw + 50, 4, false) == -2);
    free(raw);
    one_close(&f);
}

static void columns_of_different_lengths_are_refused_alone(void **state)
{
    (void)state;
    static const uint8_t n[] = { 1, 0, 2, 0 };
    one_file f;
    open_one(&f, &(want){ "good-heap", "1/data", "{n: int16}", 1, { 2 } });
    assert_elements(&f, 0, n, sizeof n);
    assert_int_equal(f.layout->narray, 2);
    assert_string_equal(f.layout->array[1]->path, "1/rows");
    assert_int_equal(f.layout->array[1]->st, CIP_ERR_UNSUPPORTED);
    one_close(&f);
}

static void tables_of_text_become_numbers(void **state)
{
    (void)state;
    one_file f;
    size_t len;
    open_one(&f, &(want){ "good-text-table",
                          "1/data",
                          "{name: ascii3, small: int16, real: float64, point: float64}",
                          1,
                          { 3 } });
    uint8_t *raw = one_read(&f, 0, &len);
    if (raw == NULL)
        fail_msg("%s", f.err.text);
    assert_int_equal(len, 3 * 21);
    assert_memory_equal(raw, "ab\0", 3);
    assert_int_equal(cip_load_u16(raw + 3, false), 12);
    assert_true(cip_load_float(raw + 5, 8, false) == -15);
    assert_true(cip_load_float(raw + 13, 8, false) == 12.34); /* F5.2 without a point */
    assert_int_equal((int16_t)cip_load_u16(raw + 24, false), -3);
    assert_true(cip_load_float(raw + 26, 8, false) == 2.5);
    assert_true(cip_load_float(raw + 34, 8, false) == 0.7);
    assert_int_equal(cip_load_u16(raw + 45, false), 0); /* blank */
    assert_true(isnan(cip_load_float(raw + 47, 8, false)));
    assert_true(isnan(cip_load_float(raw + 55, 8, false)));
    free(raw);
    one_close(&f);
}

/* --- tiles ------------------------------------------------------------------------------------ */

static void compressed_tiles_are_decoded(void **state)
{
    (void)state;
    double n[12], up[12];
    for (int i = 0; i < 12; i++) {
        n[i] = (double)(i * i % 37 - 5);
        up[i] = n[i] + 32768;
    }
    const double wild[8] = { 0, 30000, -30000, 5, 5, 5, 5, 5 };
    check_numbers(&(want){ "good-rice", "1/data", "int16", 2, { 3, 4 } }, n, 12);
    check_numbers(&(want){ "good-rice-whole", "1/data", "int16", 1, { 8 } }, wild, 8);
    check_numbers(&(want){ "good-gzip", "1/data", "int16", 2, { 3, 4 } }, n, 12);
    check_numbers(&(want){ "good-gzip-2", "1/data", "int16", 2, { 3, 4 } }, n, 12);
    check_numbers(&(want){ "good-tiles", "1/data", "uint16", 2, { 3, 4 } }, up, 12);
}

/* The values are those of astropy 8.0.2. */
static void quantized_floats_are_dithered_back(void **state)
{
    (void)state;
    const double n[6] = { 0.7776235938072205, 1.5196512937545776, 0,
                          (double)NAN,        -2.326662540435791, 1.5337104797363281 };
    check_numbers(&(want){ "good-dithered", "1/data", "float32", 2, { 2, 3 } }, n, 6);
}

/* --- ASDF in FITS ----------------------------------------------------------------------------- */

static void an_asdf_file_inside_is_part_of_the_tree(void **state)
{
    (void)state;
    static const char *const name[] = { "good-asdf", "good-asdf-image" };
    static const struct {
        const char *path;
        cip_status st;
    } row[] = { { "SCI,1/data", CIP_OK },
                { "SCI,2/data", CIP_OK },
                { "ASDF/tree/inner", CIP_OK },
                { "ASDF/tree/sky", CIP_OK },
                { "ASDF/tree/first", CIP_OK },
                { "ASDF/tree/none", CIP_ERR_CORRUPT },
                { "ASDF/tree/other", CIP_ERR_CORRUPT } };
    static const uint8_t inner[] = { 1, 2, 3, 4 }, first[] = { 5 };
    for (size_t k = 0; k < 2; k++) {
        one_file f;
        uint8_t sky[12];
        assert_int_equal(open_name(&f, name[k]), CIP_OK);
        assert_int_equal(f.layout->narray, sizeof row / sizeof *row);
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            const cip_array *a = f.layout->array[i];
            assert_string_equal(a->path, row[i].path);
            assert_int_equal(a->st, row[i].st);
            assert_ptr_equal(cip_tree_get(f.layout->tree, row[i].path, NULL), a->node);
        }
        for (size_t i = 0; i < 6; i++)
            cip_store_u16(sky + 2 * i, (uint16_t)six[i], false);
        assert_elements(&f, 2, inner, sizeof inner);
        assert_elements(&f, 3, sky, sizeof sky);
        assert_elements(&f, 4, first, sizeof first);
        assert_string_equal(cip_tree_get(f.layout->tree, "ASDF/tree/name", NULL)->text, "M 13");
        one_close(&f);
    }
}

static void a_damaged_asdf_file_inside_leaves_the_rest(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_name(&f, "bad-asdf"), CIP_OK);
    assert_int_equal(f.layout->narray, 3);
    assert_string_equal(f.layout->array[2]->path, "ASDF/data"); /* its bytes */
    assert_int_equal(f.env.warnings.nlack, 1);
    one_close(&f);
}

/* --- damage ----------------------------------------------------------------------------------- */

static void damage_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        cip_status st;
        const char *text;
        bool opens, lists; /* it opens; the array is not refused, but cannot be read */
    } row[] = {
        { "bad-no-end", CIP_ERR_TRUNCATED, "expected the card END", false, false },
        { "bad-huge", CIP_ERR_CORRUPT, "less than 2^63 bytes", false, false },
        { "bad-negative", CIP_ERR_CORRUPT, "NAXIS1", false, false },
        { "bad-bitpix", CIP_ERR_CORRUPT, "found 12", false, false },
        { "bad-long", CIP_ERR_TRUNCATED, "found 100", true, false },
        { "bad-truncated", CIP_ERR_TRUNCATED, "expected 12 bytes", true, false },
        { "bad-tform", CIP_ERR_CORRUPT, "TFORM1", true, false },
        { "bad-width", CIP_ERR_CORRUPT, "found 2", true, false },
        { "bad-tiles", CIP_ERR_CORRUPT, "a row for each tile", true, false },
        { "bad-number", CIP_ERR_CORRUPT, "found '12 34'", true, true },
        { "bad-logical", CIP_ERR_CORRUPT, "the byte 0x59", true, true },
        { "bad-heap", CIP_ERR_CORRUPT, "out of the heap", true, true },
        { "bad-rice", CIP_ERR_TRUNCATED, "Rice codes", true, true },
        { "unsupported-hcompress", CIP_ERR_UNSUPPORTED, "HCOMPRESS_1", true, false },
        { "unsupported-groups", CIP_ERR_UNSUPPORTED, "random groups", true, false },
        { "unsupported-extension", CIP_ERR_UNSUPPORTED, "FOREIGN", true, false },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        size_t len;
        cip_status st = open_name(&f, row[i].name);
        assert_int_equal(st == CIP_OK, row[i].opens);
        if (st == CIP_OK) {
            const cip_array *a = f.layout->array[0];
            assert_int_equal(a->st == CIP_OK, row[i].lists);
            assert_null(one_read(&f, 0, &len));
            st = (cip_status)f.err.code;
        }
        if (st != row[i].st || strstr(f.err.text, row[i].text) == NULL)
            fail_msg("%s: %d, %s", row[i].name, st, f.err.text);
        one_close(&f);
    }
}

static void what_comes_before_a_bad_header_is_read(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_name(&f, "bad-second"), CIP_OK);
    assert_int_equal(f.layout->narray, 1);
    assert_int_equal(f.env.warnings.nlack, 1);
    one_close(&f);
}

static void every_truncation_is_an_error_or_less(void **state)
{
    (void)state;
    fits_bytes b = load("good-rice");
    for (size_t n = 0; n < b.len; n += n % 80 == 79 ? 1 : 79) {
        one_file f;
        size_t len;
        if (one_open(&f, &cip_format_fits, b.ptr, n, 0, NULL) == CIP_OK && f.layout->narray != 0) {
            uint8_t *raw = one_read(&f, 0, &len);
            assert_true(raw == NULL || len == 24);
            free(raw);
        }
        one_close(&f);
    }
    free(b.ptr);
}

static void failing_allocations_leave_nothing(void **state)
{
    (void)state;
    static const char *const name[] = { "good-cards",    "good-table", "good-names",
                                        "good-dithered", "good-heap",  "good-asdf" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        fits_bytes b = load(name[i]);
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = n };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            one_file f;
            size_t len;
            cip_status st = one_open(&f, &cip_format_fits, b.ptr, b.len, 0, &from);
            if (st == CIP_OK && f.layout->narray != 0) {
                uint8_t *raw = one_read(&f, 0, &len);
                st = raw == NULL ? (cip_status)f.err.code : CIP_OK;
                free(raw);
            }
            assert_true(st == CIP_OK || (st == CIP_ERR_NOMEM && f.err.code == CIP_ERR_NOMEM));
            one_close(&f);
            assert_int_equal(alloc.held, 0);
            if (alloc.requests < n) {
                assert_int_equal(st, CIP_OK);
                break;
            }
        }
        free(b.ptr);
    }
}

/* --- verify ----------------------------------------------------------------------------------- */

static int count_bad(void *user, const cip_finding *x)
{
    *(int *)user += x->severity == CIP_BAD;
    return 0;
}

static int verify(const char *name)
{
    one_file f;
    cip_report report;
    int n = 0;
    assert_int_equal(open_name(&f, name), CIP_OK);
    cip_report_init(&report, &f.env.mem, false, count_bad, &n);
    assert_int_equal(cip_format_fits.verify(f.layout, true, &report, &f.err), CIP_OK);
    cip_report_clear(&report);
    one_close(&f);
    return n;
}

static void checksums_are_verified(void **state)
{
    (void)state;
    assert_int_equal(verify("good-sums"), 0);
    assert_int_equal(verify("bad-sums"), 2); /* DATASUM and CHECKSUM */
    assert_int_equal(verify("good-int16"), 0);
    assert_int_equal(verify("bad-truncated"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_have_their_axes_reversed),
        cmocka_unit_test(unsigned_integers_are_read_as_such),
        cmocka_unit_test(scaled_images_are_physical_values),
        cmocka_unit_test(blank_integers_are_masked),
        cmocka_unit_test(hdus_have_names_that_are_theirs_alone),
        cmocka_unit_test(cards_become_values),
        cmocka_unit_test(columns_of_every_type_are_read),
        cmocka_unit_test(plain_rows_are_read_as_they_lie),
        cmocka_unit_test(columns_of_different_lengths_are_refused_alone),
        cmocka_unit_test(tables_of_text_become_numbers),
        cmocka_unit_test(compressed_tiles_are_decoded),
        cmocka_unit_test(quantized_floats_are_dithered_back),
        cmocka_unit_test(an_asdf_file_inside_is_part_of_the_tree),
        cmocka_unit_test(a_damaged_asdf_file_inside_leaves_the_rest),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(what_comes_before_a_bad_header_is_read),
        cmocka_unit_test(every_truncation_is_an_error_or_less),
        cmocka_unit_test(failing_allocations_leave_nothing),
        cmocka_unit_test(checksums_are_verified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
