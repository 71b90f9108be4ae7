/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of FITS files: what of the file changes, its checksums, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/endian.h"
#include "format/fits/fits_write.h"
#include "support/fail_alloc.h"
#include "support/one_update.h"

#define CORPUS CIP_SOURCE_DIR "/src/format/fits/corpus/fuzz_fits/"

enum { MOST = 1 << 16, DATA = 2880 };

static uint8_t file[MOST], now[2 * MOST];

static cip_bytes load(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, CORPUS "%s.fits", name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    const size_t n = fread(file, 1, sizeof file, in);
    fclose(in);
    return (cip_bytes){ file, n };
}

static void begin(one_update *u, const char *name)
{
    assert_int_equal(one_update_open(u, &cip_format_fits, load(name), NULL, NULL), CIP_OK);
}

/* Elements i, i + 1, ... of the first array become these (n bytes, as the array has them). */
static cip_status put(one_update *u, size_t i, const void *elems, size_t n)
{
    const cip_array *a = u->f.layout->array[0];
    one_bytes from = { elems, (size_t)a->view.itemsize };
    const int64_t shape[] = { (int64_t)(n / from.each) };
    cip_nd at;
    assert_int_equal(cip_view_c_order(1, shape, a->view.itemsize, &at, NULL), CIP_OK);
    at.off = i * from.each;
    return one_update_elements(u, &at, &(cip_feed){ .next = one_next, .self = &from });
}

static cip_status add_rows(one_update *u, const void *elems, uint64_t nrow)
{
    one_bytes from = { elems, (size_t)u->f.layout->array[0]->view.itemsize };
    return one_update_rows(u, nrow, &(cip_feed){ .next = one_next, .self = &from });
}

static int count_bad(void *user, const cip_finding *f)
{
    *(int *)user += f->severity != CIP_NOTE;
    return 0;
}

/* The file as it is then, which must be well formed, its sums right. */
static void finish(one_update *u, one_file *f, size_t *len)
{
    cip_io *io;
    cip_report report;
    cip_err err = CIP_ERR_INIT;
    int bad = 0;
    if (one_update_finish(u, &err) != CIP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(cip_revision_check(&u->r, u->f.io->size, NULL), CIP_OK);
    assert_int_equal(cip_io_open_revision(u->f.io, &u->r, &io, NULL), CIP_OK);
    *len = (size_t)io->size;
    assert_in_range(*len, 1, sizeof now);
    assert_int_equal(cip_io_read(io, 0, now, *len, NULL), CIP_OK);
    cip_io_close(io);
    assert_int_equal(one_open(f, &cip_format_fits, now, *len, 0, NULL), CIP_OK);
    cip_report_init(&report, &f->env.mem, false, count_bad, &bad);
    assert_int_equal(cip_format_fits.verify(f->layout, true, &report, &f->err), CIP_OK);
    cip_report_clear(&report);
    assert_int_equal(bad, 0);
}

static void assert_elements(one_file *f, const void *want, size_t n)
{
    size_t len;
    uint8_t *raw = one_read(f, 0, &len);
    if (raw == NULL)
        fail_msg("%s", f->err.text);
    assert_int_equal(len, n);
    assert_memory_equal(raw, want, n);
    free(raw);
}

/* --- elements --------------------------------------------------------------------------------- */

static void elements_change_with_their_sums(void **state)
{
    (void)state;
    static const uint8_t elem[] = { 0x12, 0x34, 0x80, 0x01 };
    static const int16_t want[] = { 0, 1, 0x1234, -32767, -400, 32767 };
    one_update u;
    one_file f;
    size_t n;
    begin(&u, "good-sums");
    assert_int_equal(put(&u, 2, elem, sizeof elem), CIP_OK);
    finish(&u, &f, &n);
    assert_false(u.r.has_tail);
    assert_int_equal(n, u.f.io->size);
    assert_elements(&f, want, sizeof want);
    for (size_t i = 0; i < n; i++) /* cards of the sums and the elements, and nothing else */
        if (now[i] != file[i] && !(i >= DATA + 4 && i < DATA + 8)) {
            const uint8_t *card = file + i / FITS_CARD * FITS_CARD;
            assert_true(memcmp(card, "CHECKSUM", 8) == 0 || memcmp(card, "DATASUM ", 8) == 0);
        }
    one_close(&f);
    one_update_close(&u);
}

static void wrong_sums_stay_wrong(void **state)
{
    (void)state;
    static const uint8_t elem[] = { 0, 7 };
    one_update u;
    cip_io *io;
    one_file f;
    cip_report report;
    int bad = 0;
    begin(&u, "bad-sums");
    assert_int_equal(put(&u, 0, elem, sizeof elem), CIP_OK);
    assert_int_equal(one_update_finish(&u, NULL), CIP_OK);
    assert_int_equal(cip_io_open_revision(u.f.io, &u.r, &io, NULL), CIP_OK);
    assert_int_equal(cip_io_read(io, 0, now, (size_t)io->size, NULL), CIP_OK);
    assert_int_equal(one_open(&f, &cip_format_fits, now, (size_t)io->size, 0, NULL), CIP_OK);
    cip_report_init(&report, &f.env.mem, false, count_bad, &bad);
    assert_int_equal(cip_format_fits.verify(f.layout, true, &report, &f.err), CIP_OK);
    cip_report_clear(&report);
    assert_int_equal(bad, 2); /* both sums */
    one_close(&f);
    cip_io_close(io);
    one_update_close(&u);
}

static void the_sum_of_zeros_is_zero(void **state)
{
    (void)state;
    static const uint8_t zeros[12];
    one_update u;
    one_file f;
    size_t n;
    uint64_t sum = 1;
    begin(&u, "good-sums");
    assert_int_equal(put(&u, 0, zeros, sizeof zeros), CIP_OK);
    finish(&u, &f, &n);
    assert_true(cip_fits_said_sum(&((fits_file *)f.layout->own)->hdu[0].header, &sum));
    assert_int_equal(sum, 0);
    one_close(&f);
    one_update_close(&u);
}

static void unsigned_elements_are_stored_as_the_file_has_them(void **state)
{
    (void)state;
    static const uint8_t elem[] = { 0, 5 };
    one_update u;
    one_file f;
    size_t n, len;
    begin(&u, "good-unsigned");
    assert_int_equal(put(&u, 1, elem, sizeof elem), CIP_OK);
    finish(&u, &f, &n);
    assert_int_equal(now[DATA + 2], 0x80);
    assert_int_equal(now[DATA + 3], 5);
    uint8_t *raw = one_read(&f, 0, &len);
    assert_int_equal(cip_load_u16(raw + 2, false), 5);
    free(raw);
    one_close(&f);
    one_update_close(&u);
}

/* float32: value * 0.1 + 5, 300 is NaN. */
static void scaled_elements_are_exact_or_refused(void **state)
{
    (void)state;
    static const struct {
        float value;
        int16_t stored; /* 0: refused */
    } row[] = {
        { (float)7 * 0.1f + 5, 7 },  { (float)-400 * 0.1f + 5, -400 }, { 1.55f, 0 }, { 1e9f, 0 },
        { __builtin_nanf(""), 300 }, { __builtin_inff(), 0 }
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_update u;
        one_file f;
        size_t n;
        uint8_t elem[4];
        cip_err err = CIP_ERR_INIT;
        cip_store_float(elem, (double)row[i].value, 4, true);
        begin(&u, "good-scaled");
        assert_int_equal(put(&u, 0, elem, sizeof elem), CIP_OK);
        if (row[i].stored == 0) {
            assert_int_equal(one_update_finish(&u, &err), CIP_ERR_UNSUPPORTED);
            assert_non_null(strstr(err.text, "cannot be stored exactly"));
        } else {
            finish(&u, &f, &n);
            assert_int_equal((int16_t)cip_load_u16(now + DATA, true), row[i].stored);
            assert_memory_equal(now + DATA + 2, file + DATA + 2, 10);
            one_close(&f);
        }
        one_update_close(&u);
    }
}

static void rows_keep_what_does_not_change(void **state)
{
    (void)state;
    one_update u;
    one_file f;
    size_t len, n, where = 2 * DATA;
    begin(&u, "good-table");
    const cip_array *a = u.f.layout->array[0];
    const size_t each = (size_t)a->view.itemsize, stored = 35;
    uint8_t *rows = malloc(3 * each);
    assert_non_null(rows);
    const cip_read_how how = { u.f.layout, NULL };
    assert_int_equal(cip_space_read_at(&how, a->space, 0, rows, 3 * each, NULL), CIP_OK);
    assert_int_equal(put(&u, 0, rows, 3 * each), CIP_OK);
    finish(&u, &f, &n);
    assert_int_equal(n, u.f.io->size);
    while (memcmp(file + where, "T\xa0\x80", 3) != 0)
        where += DATA;
    assert_memory_equal(now, file, n); /* 0 for false, blanks behind a text, bits of no field */
    one_close(&f);
    one_update_close(&u);

    begin(&u, "good-table");
    assert_int_equal(put(&u, 1, rows, each), CIP_OK);
    finish(&u, &f, &n);
    uint8_t *raw = one_read(&f, 0, &len);
    assert_memory_equal(raw, raw + len / 3, len / 3);
    assert_memory_equal(now + where, file + where, stored);
    assert_memory_equal(now + where + 2 * stored, file + where + 2 * stored, stored);
    free(raw);
    one_close(&f);
    one_update_close(&u);
    free(rows);
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* NAXIS1 is 3, the first axis of the array NAXIS2. */
static void rows_fill_the_last_block_or_add_more(void **state)
{
    (void)state;
    static const uint8_t more[2 * 6000 * 3] = { 1, 2, 3, 4 };
    static const struct {
        uint64_t nrow;
        size_t len;
    } row[] = {
        { 0, 2 * DATA }, { 1, 2 * DATA }, { 478, 2 * DATA }, { 479, 3 * DATA }, { 6000, 14 * DATA }
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_update u;
        one_file f;
        size_t n, len;
        char want[32];
        begin(&u, "good-sums");
        assert_int_equal(add_rows(&u, more, row[i].nrow), CIP_OK);
        finish(&u, &f, &n);
        assert_int_equal(n, row[i].len);
        assert_int_equal(u.r.has_tail, row[i].len != 2 * DATA);
        uint8_t *raw = one_read(&f, 0, &len);
        assert_int_equal(len, 12 + 6 * row[i].nrow);
        if (row[i].nrow != 0)
            assert_int_equal(cip_load_u32(raw + 12, false), 0x03040102);
        free(raw);
        snprintf(want, sizeof want, "NAXIS2  = %20d", 2 + (int)row[i].nrow);
        assert_memory_equal(cip_fits_find_card(now, DATA, "NAXIS2"), want, 30);
        one_close(&f);
        one_update_close(&u);
    }
}

static void shorter_images_leave_zeros(void **state)
{
    (void)state;
    static const int64_t shape[] = { 1, 3 };
    static const int16_t want[] = { 0, 1, -2 };
    static const uint8_t zeros[DATA - 6];
    one_update u;
    one_file f;
    size_t n;
    begin(&u, "good-sums");
    assert_int_equal(one_update_shape(&u, shape), CIP_OK);
    finish(&u, &f, &n);
    assert_elements(&f, want, sizeof want);
    assert_memory_equal(now + DATA + 6, zeros, sizeof zeros);
    one_close(&f);
    one_update_close(&u);
}

/* The file is filled to a block then. */
static void files_that_are_not_filled_can_grow(void **state)
{
    (void)state;
    static const uint8_t row[] = { 0, 7, 0, 8, 0, 9 };
    static const int16_t want[] = { 0, 1, -2, 300, -400, 32767, 7, 8, 9 };
    one_update u;
    one_file f;
    size_t n;
    begin(&u, "good-not-filled");
    assert_int_equal(add_rows(&u, row, 1), CIP_OK);
    finish(&u, &f, &n);
    assert_int_equal(n, 2 * DATA);
    assert_elements(&f, want, sizeof want);
    one_close(&f);
    one_update_close(&u);
}

static void what_follows_moves(void **state)
{
    (void)state;
    static const uint8_t elems[5000] = { 9, 8, 7 };
    one_update u;
    one_file f;
    size_t n, len;
    begin(&u, "good-names"); /* eight images of a byte */
    assert_int_equal(add_rows(&u, elems, sizeof elems), CIP_OK);
    finish(&u, &f, &n);
    assert_int_equal(n, u.f.io->size + DATA);
    assert_int_equal(f.layout->narray, u.f.layout->narray);
    for (size_t i = 0; i < f.layout->narray; i++) {
        assert_string_equal(f.layout->array[i]->path, u.f.layout->array[i]->path);
        uint8_t *raw = one_read(&f, i, &len);
        assert_int_equal(raw[0], i);
        assert_int_equal(len, i == 0 ? 5001 : 1);
        free(raw);
    }
    one_close(&f);
    one_update_close(&u);
}

/* --- what cannot change ----------------------------------------------------------------------- */

static void what_cannot_change_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        cip_change_kind kind;
    } row[] = {
        { "good-rice", "compressed images are not changed", CIP_CHANGE_ELEMENTS },
        { "good-text-table", "tables of text are not changed", CIP_CHANGE_ELEMENTS },
        { "good-heap", "a heap after its rows", CIP_CHANGE_ROWS },
        { "good-asdf", "an ASDF tree", CIP_CHANGE_ROWS },
        { "good-asdf", "an ASDF tree", CIP_CHANGE_SHAPE },
    };
    const int64_t shape[] = { 3, 3 };
    one_update u;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        cip_err err = CIP_ERR_INIT;
        begin(&u, row[i].name);
        assert_int_equal(one_update_form(&u, row[i].kind, shape, &err), CIP_ERR_UNSUPPORTED);
        if (strstr(err.text, row[i].text) == NULL)
            fail_msg("%s: %s", row[i].name, err.text);
        one_update_close(&u);
    }
}

/* The checksums that are there, or not, are the only ones that can be asked for. */
static void a_file_keeps_its_codec_and_checksums(void **state)
{
    (void)state;
    static const struct {
        const char *name, *codec, *checksum;
        cip_status status;
    } row[] = {
        { "good-sums", "zlib", NULL, CIP_ERR_UNSUPPORTED },
        { "good-sums", "none", "datasum", CIP_OK },
        { "good-sums", NULL, "none", CIP_ERR_UNSUPPORTED },
        { "good-sums", NULL, "md5", CIP_ERR_UNSUPPORTED },
        { "good-int16", NULL, "none", CIP_OK },
        { "good-int16", NULL, "datasum", CIP_ERR_UNSUPPORTED },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const cip_spec how = { .big = -1, .codec = row[i].codec, .checksum = row[i].checksum };
        one_update u;
        assert_int_equal(one_update_open(&u, &cip_format_fits, load(row[i].name), &how, NULL),
                         row[i].status);
        one_update_close(&u);
    }
}

/* A card twice with one value is one card to the reader, but not to the one who changes it. */
static void cards_without_room_are_refused(void **state)
{
    (void)state;
    enum { NAXIS2 = 4, END };
    static const uint8_t row[6];
    static const struct {
        int at;
        const char *card[3], *text; /* instead of those from there on */
    } bad[] = {
        { NAXIS2, { "NAXIS2  = 2/ rows" }, "room" },
        { END, { "NAXIS2  =                    2", "END" }, "several" },
        { END, { "HIERARCH NAXIS2 = 2", "END" }, "several" },
        { END, { "END       of nothing", "NAXIS2  =                    2", "END" }, "several" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        one_update u;
        cip_err err = CIP_ERR_INIT;
        const cip_bytes b = load("good-int16");
        for (int k = 0; k < 3 && bad[i].card[k] != NULL; k++) {
            char card[FITS_CARD + 1];
            snprintf(card, sizeof card, "%-80s", bad[i].card[k]);
            memcpy(file + (bad[i].at + k) * FITS_CARD, card, FITS_CARD);
        }
        assert_int_equal(one_update_open(&u, &cip_format_fits, b, NULL, NULL), CIP_OK);
        assert_int_equal(add_rows(&u, row, 1), CIP_OK);
        assert_int_equal(one_update_finish(&u, &err), CIP_ERR_UNSUPPORTED);
        if (strstr(err.text, bad[i].text) == NULL)
            fail_msg("%s", err.text);
        one_update_close(&u);
    }
}

static void nothing_changes_without_a_change(void **state)
{
    (void)state;
    one_update u;
    begin(&u, "good-sums");
    assert_int_equal(one_update_finish(&u, NULL), CIP_OK);
    assert_int_equal(u.r.patch.n, 0);
    assert_int_equal(u.r.patch.new_len, u.f.io->size);
    one_update_close(&u);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    static const uint8_t more[5000];
    const cip_bytes b = load("good-scaled");
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        one_update u;
        const int64_t shape[] = { 900, 3 };
        cip_status st = one_update_open(&u, &cip_format_fits, b, NULL, &from);
        if (st == CIP_OK)
            st = one_update_shape(&u, shape);
        if (st == CIP_OK)
            st = one_update_finish(&u, NULL);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM); /* zeros are -50 of this scale */
        one_update_close(&u);
        assert_int_equal(alloc.held, 0);
        if (alloc.requests < n) {
            assert_int_equal(st, CIP_OK);
            break;
        }
    }
    const cip_bytes whole = load("good-sums");
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        one_update u;
        cip_status st = one_update_open(&u, &cip_format_fits, whole, NULL, &from);
        if (st == CIP_OK)
            st = add_rows(&u, more, 800);
        if (st == CIP_OK)
            st = one_update_finish(&u, NULL);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        one_update_close(&u);
        assert_int_equal(alloc.held, 0);
        if (alloc.requests < n) {
            assert_int_equal(st, CIP_OK);
            break;
        }
    }
}

/* --- the parts -------------------------------------------------------------------------------- */

static void the_text_of_a_sum_means_it(void **state)
{
    (void)state;
    static const uint32_t value[] = { 0, 1, 0x12345678, 0xfffffffe, 0x80000000, 0x3a5b7c9d };
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        char text[16];
        cip_fits_sum_text(value[i], text);
        for (int k = 0; k < 16; k++)
            assert_non_null(
                strchr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", text[k]));
        /* 0 and 2^32 - 1 are one number there */
        assert_int_equal(cip_fits_sum_value(text) % UINT32_MAX, value[i] % UINT32_MAX);
    }
}

static void cards_get_another_value_in_their_room(void **state)
{
    (void)state;
    static const struct {
        const char *card, *value, *want; /* NULL: refused */
        bool right;
    } row[] = {
        { "NAXIS2  =                    2 / rows", "12", "NAXIS2  =                   12 / rows",
          true },
        { "NAXIS2  = 2 / rows", "7", "NAXIS2  = 7 / rows", true },
        { "NAXIS2  = 2 / rows", "12", NULL, true },
        { "NAXIS2  = 2", "12", "NAXIS2  =                   12", true },
        { "DATASUM = '0       '           / a sum", "'4294967295'",
          "DATASUM = '4294967295'         / a sum", false },
        { "DATASUM = 'it''s / no'  / a sum", "'1       '", "DATASUM = '1       '    / a sum",
          false },
        { "DATASUM = '0' / a sum", "'4294967295'", NULL, false },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint8_t card[FITS_CARD];
        memset(card, ' ', sizeof card);
        memcpy(card, row[i].card, strlen(row[i].card));
        const cip_status st = cip_fits_set_card(card, row[i].value, row[i].right, NULL);
        assert_int_equal(st, row[i].want != NULL ? CIP_OK : CIP_ERR_UNSUPPORTED);
        if (row[i].want == NULL)
            continue;
        const size_t n = strlen(row[i].want);
        assert_memory_equal(card, row[i].want, n);
        for (size_t k = n; k < sizeof card; k++)
            assert_int_equal(card[k], ' ');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_change_with_their_sums),
        cmocka_unit_test(wrong_sums_stay_wrong),
        cmocka_unit_test(the_sum_of_zeros_is_zero),
        cmocka_unit_test(unsigned_elements_are_stored_as_the_file_has_them),
        cmocka_unit_test(scaled_elements_are_exact_or_refused),
        cmocka_unit_test(rows_keep_what_does_not_change),
        cmocka_unit_test(rows_fill_the_last_block_or_add_more),
        cmocka_unit_test(shorter_images_leave_zeros),
        cmocka_unit_test(files_that_are_not_filled_can_grow),
        cmocka_unit_test(what_follows_moves),
        cmocka_unit_test(what_cannot_change_is_refused),
        cmocka_unit_test(a_file_keeps_its_codec_and_checksums),
        cmocka_unit_test(cards_without_room_are_refused),
        cmocka_unit_test(nothing_changes_without_a_change),
        cmocka_unit_test(failing_allocations_are_reported),
        cmocka_unit_test(the_text_of_a_sum_means_it),
        cmocka_unit_test(cards_get_another_value_in_their_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
