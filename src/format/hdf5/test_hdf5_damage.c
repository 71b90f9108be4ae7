/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/endian.h"
#include "codec/with.h"
#include "support/fail_alloc.h"
#include "support/format/hdf5/h5_testing.h"

typedef struct told {
    size_t n;
    cip_status code;
    char part[64], text[256];
} told;

static int keep_finding(void *user, const cip_finding *f)
{
    told *t = user;
    if (f->severity < CIP_BAD || t->n++ != 0)
        return 0;
    t->code = (cip_status)f->code;
    snprintf(t->part, sizeof t->part, "%s", f->part != NULL ? f->part : "");
    snprintf(t->text, sizeof t->text, "%s", f->text);
    return 0;
}

static void verify(one_file *f, told *t)
{
    cip_report r;
    *t = (told){ .n = 0 };
    cip_report_init(&r, &f->env.mem, false, keep_finding, t);
    assert_int_equal(cip_format_hdf5.verify(f->layout, false, &r, &f->err), CIP_OK);
    cip_report_clear(&r);
}

static void good_files_verify_without_findings(void **state)
{
    static const char *const name[] = { "groups", "groups-2", "dense",     "many",  "scales",
                                        "types",  "types-2",  "empty",     "kinds", "kinds-110",
                                        "tree-1", "filters",  "user-block" };
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        one_file f;
        told t;
        assert_int_equal(h5_open(&f, "good", name[i]), CIP_OK);
        verify(&f, &t);
        if (t.n != 0)
            fail_msg("%s: %s: %s", name[i], t.part, t.text);
        one_close(&f);
    }
}

static void damage_is_told_by_verify(void **state)
{
    static const struct {
        const char *name;
        cip_status code;
        const char *part;
    } row[] = {
        { "heap-outside", CIP_ERR_TRUNCATED, "a/b" },
        { "names-end", CIP_ERR_CORRUPT, "a/b" },
        { "tree-outside", CIP_ERR_TRUNCATED, "n, chunk index" },
        { "tree-loops", CIP_ERR_CORRUPT, "n, chunk index" },
        { "header-sum", CIP_ERR_CHECKSUM, "a/b/n" },
        { "cut", CIP_ERR_TRUNCATED, "superblock" },
        { "overlap", CIP_ERR_CORRUPT, "n" },
        { "fletcher32", CIP_ERR_CHECKSUM, "n, chunk 0" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        told t;
        assert_int_equal(h5_open(&f, "bad", row[i].name), CIP_OK);
        verify(&f, &t);
        if (t.n == 0 || t.code != row[i].code || strcmp(t.part, row[i].part) != 0)
            fail_msg("%s: %d %s: %s", row[i].name, t.code, t.part, t.text);
        one_close(&f);
    }
}

static void a_damaged_chunk_is_told_when_it_is_read(void **state)
{
    static const struct {
        const char *name, *array, *words;
        bool szip;
    } row[] = {
        { "chunk-sum", "n", "", false },
        { "scale-bits", "n-scale", "scaleoffset: expected the bits", false },
        { "scale-short", "n-scale", "scaleoffset: expected more bytes", false },
        { "szip-bits", "n-odd", "found 8, 31 and 21 for 336 bytes", true },
        { "szip-line", "n-odd", "found 8, 32 and 1048576 for 336 bytes", true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        size_t len;
        char part[64];
        if (row[i].szip && !CIP_WITH_AEC)
            continue;
        assert_int_equal(h5_open(&f, "bad", row[i].name), CIP_OK);
        assert_null(one_read(&f, h5_array(&f, row[i].array), &len));
        assert_int_equal(f.err.code, CIP_ERR_CORRUPT);
        snprintf(part, sizeof part, "%s, chunk 0", row[i].array);
        assert_string_equal(f.err.part, part);
        assert_non_null(strstr(f.err.text, row[i].words));
        one_close(&f);
    }
}

/* Of two elements of 4 bytes, or one of 8. */
static void values_of_filters_are_checked(void **state)
{
    enum { DECIMAL = 0, EXPONENT = 1, INTEGER = 2, N = 8 };
    static const uint8_t packed[32] = { [0] = 1, [4] = 8, [21] = 0x40 }; /* a bit each */
    static const uint8_t coded[32] = { N };
    static const struct {
        cip_h5_undo *undo;
        unsigned n; /* values */
        uint32_t value[10];
        const uint8_t *src;
        size_t len;
        cip_status code;
        const char *words;
    } row[] = {
        { cip_h5_scaleoffset, 9, { INTEGER, 0, 2, 0, 4, 0, 0, 1, 7 }, packed, 22, CIP_OK, "" },
        { cip_h5_scaleoffset, 8, { INTEGER, 0, 2, 0, 4 }, packed, 22, CIP_OK, "" },
        { cip_h5_scaleoffset, 8, { INTEGER, 0, 1, 0, 8 }, packed, 22, CIP_OK, "" },
        { cip_h5_scaleoffset, 7, { INTEGER, 0, 2, 0, 4 }, packed, 22, CIP_ERR_CORRUPT, "8 values" },
        { cip_h5_scaleoffset,
          8,
          { INTEGER, 0, 2, 0, 4, 0, 0, 1 },
          packed,
          22,
          CIP_ERR_CORRUPT,
          "a fill value" },
        { cip_h5_scaleoffset,
          9,
          { INTEGER, 0, 1, 0, 8, 0, 0, 1, 7 },
          packed,
          22,
          CIP_ERR_CORRUPT,
          "a fill value" },
        { cip_h5_scaleoffset, 8, { DECIMAL, 0, 2, 1, 4 }, packed, 22, CIP_OK, "" },
        { cip_h5_scaleoffset,
          8,
          { EXPONENT, 0, 2, 1, 4 },
          packed,
          22,
          CIP_ERR_UNSUPPORTED,
          "floats by decimal" },
        { cip_h5_scaleoffset,
          8,
          { DECIMAL, 0, 2, 2, 4 },
          packed,
          22,
          CIP_ERR_UNSUPPORTED,
          "floats by decimal" },
#if CIP_WITH_AEC
        { cip_h5_szip, 3, { 0, 2, 8 }, coded, 32, CIP_ERR_CORRUPT, "4 values" },
        { cip_h5_szip, 4, { 0, 0, 8, 8 }, coded, 32, CIP_ERR_CORRUPT, "expected blocks" },
        { cip_h5_szip, 4, { 0, 2, 8, 8 }, coded, 4, CIP_ERR_CORRUPT, "found damage" },
        { cip_h5_szip, 4, { 0, 32, 8, 8 }, coded, 4, CIP_ERR_CORRUPT, "found damage" },
        { cip_h5_szip, 4, { 0, 34, 8, 8 }, coded, 32, CIP_ERR_CORRUPT, "expected blocks" },
        { cip_h5_szip, 4, { 0, 2, 8, 8 }, coded, 3, CIP_ERR_CORRUPT, "of data, found 0" },
        { cip_h5_szip, 4, { 0, 2, 8, 8 }, packed, 32, CIP_ERR_CORRUPT, "found 1" },
#endif
    };
    cip_mem mem;
    const cip_codec_env env = { .mem = &mem };
    (void)state;
    cip_mem_init(&mem, NULL, 0);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        cip_err err = CIP_ERR_INIT;
        uint8_t dst[N];
        uint32_t *value = malloc(row[i].n * sizeof *value); /* ASan sees what is read behind them */
        memcpy(value, row[i].value, row[i].n * sizeof *value);
        const cip_h5_filter f = { .n = row[i].n, .value = value };
        const cip_status st =
            row[i].undo(&f, &env, (cip_bytes){ row[i].src, row[i].len }, dst, N, &err);
        if (st != row[i].code || strstr(err.text, row[i].words) == NULL)
            fail_msg("row %zu: %d %s", i, (int)st, err.text);
        free(value);
    }
}

/* An index says where the chunk of a frame is, or with its highest bit which value is in its place.
 */
static void an_entry_of_a_frame_is_a_chunk_or_a_value(void **state)
{
    static const struct {
        uint8_t last; /* of the entry's bytes */
        cip_status code;
        const char *words;
    } row[] = {
        { 0x7f, CIP_ERR_CORRUPT, "expected a chunk in the frame" },
        { 0x80, CIP_ERR_CORRUPT, "expected a chunk in the frame" },
        { 0x81, CIP_OK, "" },
        { 0x85, CIP_ERR_UNSUPPORTED, "a chunk of the special value 5" },
    };
    size_t n, len;
    uint8_t *bytes = h5_load("good", "filters", &n);
    const uint8_t *magic = memmem(bytes, n, "b2frame", 7);
    cip_b2_header h;
    (void)state;
    assert_non_null(magic);
    const size_t frame = (size_t)(magic - bytes) - 2;
    assert_int_equal(cip_b2_header_read((cip_bytes){ bytes + frame, n - frame }, n, &h, NULL),
                     CIP_OK);
    uint8_t *entry =
        bytes + frame + h.header_len + h.cbytes + 32; /* behind the header of its chunk */
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        entry[7] = row[i].last;
        assert_int_equal(one_open(&f, &cip_format_hdf5, bytes, n, 0, NULL), CIP_OK);
        void *data = one_read(&f, h5_array(&f, "n-blosc2"), &len);
        assert_int_equal(data == NULL ? f.err.code : CIP_OK, row[i].code);
        assert_non_null(strstr(f.err.text, row[i].words));
        free(data);
        one_close(&f);
    }
    free(bytes);
}

static void files_without_a_root_are_refused(void **state)
{
    one_file f;
    (void)state;
    assert_int_equal(h5_open(&f, "bad", "version"), CIP_ERR_UNSUPPORTED);
    assert_string_equal(f.err.text, "expected a superblock of version 0 to 3, found 99");
    one_close(&f);
    assert_int_equal(h5_open(&f, "bad", "short"), CIP_ERR_TRUNCATED);
    one_close(&f);
    assert_int_equal(one_open(&f, &cip_format_hdf5, "", 0, 0, NULL), CIP_ERR_FORMAT);
    one_close(&f);
}

/* Opens, reads and verifies whatever comes of it, within a small limit of memory. */
static void survive(const uint8_t *bytes, size_t n)
{
    const cip_limits limits = { .size = sizeof limits, .max_memory = 16 << 20 };
    one_file f;
    told t;
    if (one_open_limited(&f, &cip_format_hdf5, bytes, n, 0, NULL, &limits) == CIP_OK) {
        cip_report r;
        size_t len;
        for (size_t i = 0; i < f.layout->narray; i++)
            free(one_read(&f, i, &len));
        t = (told){ .n = 0 };
        cip_report_init(&r, &f.env.mem, false, keep_finding, &t);
        cip_format_hdf5.verify(f.layout, true, &r, &f.err);
        cip_report_clear(&r);
    }
    one_close(&f);
}

static const char *const small[] = { "groups-2", "tree-1", "kinds", "types" };

static void every_truncation_is_survived(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        size_t len;
        uint8_t *bytes = h5_load("good", small[i], &len);
        for (size_t n = 0; n < len; n += 7)
            survive(bytes, n);
        free(bytes);
    }
}

static void every_changed_byte_is_survived(void **state)
{
    static const uint8_t to[] = { 0, 1, 0x7f, 0xff };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        size_t len;
        uint8_t *bytes = h5_load("good", small[i], &len);
        for (size_t k = 0; k < len; k++) {
            const uint8_t was = bytes[k];
            bytes[k] = to[(k + i) % 4] == was ? (uint8_t)~was : to[(k + i) % 4];
            survive(bytes, len);
            bytes[k] = was;
        }
        free(bytes);
    }
}

static void a_failing_allocation_is_told(void **state)
{
    size_t len;
    uint8_t *bytes = h5_load("good", "kinds-110", &len);
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        one_file f;
        const cip_status st = one_open(&f, &cip_format_hdf5, bytes, len, 0, &from);
        assert_true(st == CIP_OK || (st == CIP_ERR_NOMEM && f.err.code == CIP_ERR_NOMEM));
        one_close(&f);
        assert_int_equal(alloc.held, 0);
        if (alloc.requests < n) {
            assert_int_equal(st, CIP_OK);
            break;
        }
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files_verify_without_findings),
        cmocka_unit_test(damage_is_told_by_verify),
        cmocka_unit_test(a_damaged_chunk_is_told_when_it_is_read),
        cmocka_unit_test(values_of_filters_are_checked),
        cmocka_unit_test(an_entry_of_a_frame_is_a_chunk_or_a_value),
        cmocka_unit_test(files_without_a_root_are_refused),
        cmocka_unit_test(every_truncation_is_survived),
        cmocka_unit_test(every_changed_byte_is_survived),
        cmocka_unit_test(a_failing_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
