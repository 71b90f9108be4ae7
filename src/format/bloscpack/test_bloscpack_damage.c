/* SPDX-License-Identifier: BSD-3-Clause
 * Files as they should not be: every field, every byte, every length; and what verify says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/endian.h"
#include "support/format/bloscpack/bp_testing.h"

static void fields_that_cannot_be_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        size_t at, width;
        int64_t value;
        cip_status st;
        const char *text;
    } row[] = {
        { "good-3-md5", 0, 1, 'B', CIP_ERR_FORMAT, "expected the magic 'blpk', found none" },
        { "good-3-md5", 4, 1, 4, CIP_ERR_UNSUPPORTED, "expected version 1, 2 or 3, found 4" },
        { "good-3-md5", 4, 1, 0, CIP_ERR_UNSUPPORTED, "expected version 1, 2 or 3, found 0" },
        { "good-3-md5", 4, 1, 1, CIP_ERR_UNSUPPORTED,
          "expected zero bytes in version 1, found 0x0301" },
        { "good-3-md5", 4, 1, 2, CIP_ERR_UNSUPPORTED,
          "expected 8 zero bytes in version 2, found other bytes" },
        { "good-1", 5, 1, 1, CIP_ERR_UNSUPPORTED,
          "expected only the option bits 0x00 in version 1, found 0x01" },
        { "good-2", 5, 1, 3, CIP_ERR_UNSUPPORTED,
          "expected only the option bits 0x01 in version 2, found 0x03" },
        { "good-3-md5", 5, 1, 5, CIP_ERR_UNSUPPORTED,
          "expected only the option bits 0x03 in version 3, found 0x05" },
        { "good-3-md5", 6, 1, 9, CIP_ERR_UNSUPPORTED,
          "expected a checksum of number 0 to 8, found 9" },
        { "good-3-md5", 8, 4, -2, CIP_ERR_CORRUPT,
          "expected a chunk size of -1 (unknown) to 2147483647, found -2" },
        { "good-3-md5", 12, 4, 401, CIP_ERR_CORRUPT,
          "expected a size of the last chunk of -1 (unknown) to 400, found 401" },
        { "good-3-md5", 16, 8, -2, CIP_ERR_CORRUPT,
          "expected a number of chunks of -1 (unknown) to 9223372036854775807, found -2" },
        { "good-3-md5", 16, 8, 0, CIP_ERR_CORRUPT,
          "expected no last chunk where there are no chunks, found 200 bytes" },
        { "good-3-md5", 16, 8, -1, CIP_ERR_CORRUPT,
          "expected a number of chunks, because there are offsets, found -1" },
        { "good-3-md5", 16, 8, INT64_MAX, CIP_ERR_TRUNCATED,
          "expected offsets of 9223372036854775807 chunks and 5 free ones, found 1160 bytes" },
        { "good-3-crc32", 16, 8, INT64_MAX, CIP_ERR_CORRUPT,
          "expected under 2^63 bytes in all, found 9223372036854775807 chunks of 400" },
        { "good-3-md5", 24, 8, -1, CIP_ERR_CORRUPT, "expected a number of free offsets, found -1" },
        { "good-3-crc32", 24, 8, 1, CIP_ERR_CORRUPT, "expected no free offsets, found 1" },
        { "good-meta", 32, 1, 'X', CIP_ERR_UNSUPPORTED,
          "expected metadata of the kind 'JSON', found another kind" },
        { "good-meta", 40, 1, 4, CIP_ERR_UNSUPPORTED,
          "expected no option bits of the metadata, found 0x04" },
        { "good-meta", 41, 1, 9, CIP_ERR_UNSUPPORTED,
          "expected a checksum of number 0 to 8, found 9" },
        { "good-meta", 48, 4, 1 << 20, CIP_ERR_TRUNCATED,
          "expected a metadata section of 1048612 bytes, found 1152" },
        { "good-meta", 52, 4, 100, CIP_ERR_CORRUPT,
          "expected metadata of at most 68 stored bytes, found 100" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        uint8_t le[8];
        bp_bytes b = bp_load(row[i].file);
        print_message("%s at %zu\n", row[i].file, row[i].at);
        cip_store_u64(le, (uint64_t)row[i].value, false);
        memcpy(b.ptr + row[i].at, le, row[i].width);
        assert_int_equal(bp_open(&f, &b, 0), row[i].st);
        assert_string_equal(f.err.text, row[i].text);
        one_close(&f);
    }
}

static void metadata_that_cannot_be_read_refuse_the_data(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        size_t at;
        uint8_t value;
        cip_status st;
        const char *why;
    } row[] = {
        { "bad-meta", 70, '1', CIP_ERR_CORRUPT,
          "expected ',' or '}', found the end of the JSON text" },
        { "good-numpy", 42, 2, CIP_ERR_UNSUPPORTED,
          "expected codec 0 (none) or 1 (zlib), found 2" },
        { "good-numpy", 47, 1, CIP_ERR_CORRUPT,
          "expected a length that 68 stored bytes can decode to, found 16777289" },
        { "good-numpy", 70, 0xff, CIP_ERR_CHECKSUM,
          "the bytes do not match the adler32 stored after them" },
        { "good-numpy-bare", 75, '?', CIP_ERR_FORMAT, "unknown dtype '?u2'" },
        { "good-numpy-bare", 91, '9', CIP_ERR_CORRUPT,
          "expected an array of at most 1000 bytes, found one of 1800" },
        { "good-numpy-bare", 107, 'X', CIP_ERR_UNSUPPORTED,
          "expected the order 'C' or 'F', found another value" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        const char *warning;
        size_t len;
        bp_bytes b = bp_load(row[i].file);
        print_message("%s at %zu\n", row[i].file, row[i].at);
        b.ptr[row[i].at] = row[i].value;
        assert_int_equal(bp_open(&f, &b, 0), CIP_OK);
        assert_null(one_read(&f, 0, &len));
        assert_int_equal(f.err.code, row[i].st);
        assert_string_equal(f.err.text, row[i].why);
        assert_string_equal(f.err.part, "metadata");
        one_close(&f);
        assert_int_equal(bp_open(&f, &b, CIP_OPEN_FORCE), CIP_OK);
        assert_int_equal(bp_warnings(&f, &warning), 1);
        assert_string_equal(f.layout->array[0]->dtype->name, "uint8");
        uint8_t *raw = one_read(&f, 0, &len);
        assert_int_equal(len, 1000);
        assert_true(bp_is_prefix(raw, len));
        free(raw);
        one_close(&f);
    }
}

/* With digests and sizes that are said, whatever byte is another one: the same data or none. */
static void a_changed_byte_never_gives_other_data(void **state)
{
    (void)state;
    static const char *const names[] = { "good-3-adler32", "good-3-crc32", "good-3-md5",
                                         "good-3-sha512",  "good-2-plain", "good-empty",
                                         "good-stale-tail" };
    static const uint8_t masks[] = { 1, 2, 0x80, 0xff };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof masks; k++) {
            bp_bytes b = bp_load(names[i]);
            size_t all = strcmp(names[i], "good-empty") == 0 ? 0 : 1000;
            for (size_t at = 0; at < b.len; at++) {
                one_file f;
                size_t len;
                b.ptr[at] ^= masks[k];
                if (bp_open(&f, &b, 0) == CIP_OK) {
                    uint8_t *raw = one_read(&f, 0, &len);
                    if (raw != NULL && (len != all || !bp_is_prefix(raw, len)))
                        fail_msg("%s: byte %zu ^ 0x%02x gives other data", names[i], at, masks[k]);
                    free(raw);
                }
                one_close(&f);
                b.ptr[at] ^= masks[k];
            }
        }
}

static void a_file_that_is_cut_never_gives_other_data(void **state)
{
    (void)state;
    static const char *const names[] = { "good-1", "good-3-sha1", "good-numpy", "good-last-unknown",
                                         "good-offsets-unset" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bp_bytes b = bp_load(names[i]);
        while (b.len-- > 0) {
            one_file f;
            size_t len;
            if (bp_open(&f, &b, 0) == CIP_OK && one_read(&f, 0, &len) != NULL)
                fail_msg("%s: %zu bytes are enough", names[i], b.len);
            one_close(&f);
        }
    }
}

/* Two offsets of one place would give one chunk's data for another's. */
static void chunks_at_one_place_are_not_read(void **state)
{
    (void)state;
    one_file f;
    uint8_t some[10];
    bp_bytes b = bp_load("bad-overlap");
    assert_int_equal(bp_open(&f, &b, 0), CIP_OK);
    const cip_read_how how = { f.layout, NULL };
    cip_space *data = f.layout->array[0]->space;
    assert_int_equal(cip_space_read_at(&how, data, 10, some, 10, &f.err), CIP_ERR_CORRUPT);
    assert_int_equal(cip_space_read_at(&how, data, 410, some, 10, &f.err), CIP_ERR_CORRUPT);
    assert_int_equal(cip_space_read_at(&how, data, 810, some, 10, &f.err), CIP_OK);
    one_close(&f);
}

/* --- verify ----------------------------------------------------------------------------------- */

typedef struct found {
    size_t n;
    cip_severity worst;
    char text[2048];
} found;

static int note(void *user, const cip_finding *x)
{
    found *w = user;
    size_t at = strlen(w->text);
    w->n++;
    w->worst = x->severity > w->worst ? x->severity : w->worst;
    snprintf(w->text + at, sizeof w->text - at, "%s: %s\n", x->part == NULL ? "" : x->part,
             x->text);
    return 0;
}

static found verify(const bp_bytes *b)
{
    one_file f;
    cip_report rep;
    found w = { .n = 0 };
    assert_int_equal(bp_open(&f, b, 0), CIP_OK);
    cip_report_init(&rep, &f.env.mem, false, note, &w);
    assert_int_equal(cip_format_bloscpack.verify(f.layout, false, &rep, &f.err), CIP_OK);
    cip_report_clear(&rep);
    one_close(&f);
    return w;
}

static void verify_says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        size_t at; /* a byte that is changed, or 0 */
        cip_severity worst;
        const char *text;
    } row[] = {
        { "good-3-md5", 0, CIP_NOTE, "" },
        { "good-1", 0, CIP_NOTE, "" },
        { "good-streamed", 0, CIP_NOTE, "" },
        { "good-empty", 0, CIP_NOTE, "" },
        { "good-stale-tail", 0, CIP_NOTE,
          ": 19 bytes after the last chunk, as append may leave them\n" },
        { "good-offsets-unset", 0, CIP_WARN,
          "offsets: 3 of 3 offsets were never written: the chunks are found one after the "
          "other\n" },
        { "good-3-md5", 200, CIP_BAD,
          "data, chunk 0: the stored bytes do not match the md5 stored after them\n" },
        { "good-3-md5", 60, CIP_WARN,
          "offsets: expected -1 in 5 free offsets, found another value in 1\n" },
        { "good-empty", 139, CIP_BAD,
          "data, chunk 0: the stored bytes do not match the crc32 stored after them\n" },
        { "bad-overlap", 0, CIP_BAD,
          "data, chunk 0: expected the chunk of 416 bytes at 56 to end at 56 or earlier\n"
          "data, chunk 1: expected a chunk at 57 or later, found it at 56\n" },
        { "bad-cut", 0, CIP_BAD,
          "data, chunk 2: expected the chunk of 232 bytes at 896 to end at 1127 or earlier\n" },
        { "good-numpy-cut", 0, CIP_BAD,
          "chunks: expected 3 chunks, found 2: the file ends before it\n" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        bp_bytes b = bp_load(row[i].file);
        b.ptr[row[i].at] ^= row[i].at != 0 ? 1 : 0;
        found w = verify(&b);
        assert_string_equal(w.text, row[i].text);
        assert_int_equal(w.worst, row[i].worst);
    }
}

static void forced_what_is_unknown_is_read(void **state)
{
    (void)state;
    one_file f;
    size_t len;
    bp_bytes b = bp_load("good-3-md5");
    b.ptr[4] = 9;
    b.ptr[5] |= 0x80;
    assert_int_equal(bp_open(&f, &b, CIP_OPEN_FORCE), CIP_OK);
    uint8_t *raw = one_read(&f, 0, &len);
    assert_int_equal(len, 1000);
    free(raw);
    one_close(&f);
    static const char *const cut[] = { "good-1", "bad-streamed-tail" };
    for (size_t i = 0; i < 2; i++) {
        b = bp_load(cut[i]);
        b.len -= i == 0 ? 100 : 0;
        assert_int_equal(bp_open(&f, &b, 0), i == 0 ? CIP_ERR_TRUNCATED : CIP_ERR_CORRUPT);
        one_close(&f);
        assert_int_equal(bp_open(&f, &b, CIP_OPEN_FORCE), CIP_OK);
        one_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_that_cannot_be_are_named),
        cmocka_unit_test(metadata_that_cannot_be_read_refuse_the_data),
        cmocka_unit_test(a_changed_byte_never_gives_other_data),
        cmocka_unit_test(a_file_that_is_cut_never_gives_other_data),
        cmocka_unit_test(chunks_at_one_place_are_not_read),
        cmocka_unit_test(verify_says_what_is_wrong),
        cmocka_unit_test(forced_what_is_unknown_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
