/* SPDX-License-Identifier: BSD-3-Clause
 * Files that are compared with their checksums while they are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/core_testing.h"
#include "support/fail_alloc.h"
#include "support/temp_folder.h"

enum { N = 6000, CAP = 1 << 16 };

/* One ASDF file of one block, as bytes that may be changed. */
typedef struct one_block {
    uint8_t *bytes;
    size_t n;
    uint64_t data, stored; /* of the block */
} one_block;

static int setup(void **state)
{
    scratch *s = malloc(sizeof *s);
    *state = s;
    return scratch_open(s) && chdir(s->dir) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    int rc = chdir("/");
    scratch_close(*state);
    free(*state);
    return rc;
}

static int32_t value_at(size_t i)
{
    return (int32_t)(i * i % 977);
}

static void write_input(void)
{
    int32_t *v = malloc(N * sizeof *v);
    size_t n;
    for (size_t i = 0; i < N; i++)
        v[i] = value_at(i);
    char *mem = test_npy("'<i4'", "(60, 100)", 0, v, N * sizeof *v, &n);
    FILE *f = fopen("in.npy", "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(mem, 1, n, f), n);
    fclose(f);
    free(mem);
    free(v);
}

static bool is_available(const char *codec)
{
    bool there = false;
    const char *name;
    for (size_t i = 0; (name = cip_codec_at(i, &there, NULL)) != NULL; i++)
        if (strcmp(name, codec) == 0)
            return there;
    return strcmp(codec, "none") == 0;
}

static void make(const char *codec, const char *checksum, one_block *out)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    write_input();
    if (cip_convert("in.npy", "x.asdf",
                    CIP_CONVERT_OPTIONS(.codec = codec, .checksum = checksum, .overwrite = true),
                    &err) != CIP_OK)
        fail_msg("%s: %s", codec, err.text);
    out->bytes = malloc(CAP);
    FILE *in = fopen("x.asdf", "rb");
    assert_non_null(in);
    out->n = fread(out->bytes, 1, CAP, in);
    fclose(in);
    assert_int_equal(cip_open("x.asdf", NULL, &f, &err), CIP_OK);
    const cip_block_info *b = cip_file_block(f, 0);
    out->data = b->data_offset;
    out->stored = b->stored_nbytes;
    cip_file_close(f);
}

static cip_file *open_checked(const one_block *b, cip_check check)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    if (cip_open_memory(b->bytes, b->n, CIP_OPEN_OPTIONS(.check = check), &f, &err) != CIP_OK)
        fail_msg("%s", err.text);
    return f;
}

/* Of the window alone: the block is compared whole. */
static cip_status read_window(const one_block *b, cip_check check, const char *window, int32_t *got,
                              size_t n, cip_err *err)
{
    cip_file *f = open_checked(b, check);
    cip_status st =
        cip_read(cip_file_array(f, 0), window, cip_dtype_as_stored(), got, n * sizeof *got, err);
    cip_file_close(f);
    return st;
}

static bool is_refused(cip_status st)
{
    return st == CIP_ERR_CHECKSUM || st == CIP_ERR_CORRUPT || st == CIP_ERR_TRUNCATED;
}

static void a_flipped_bit_of_any_codec_is_found(void **state)
{
    (void)state;
    static const char *const codec[] = { "none", "zlib", "zstd", "lz4", "bzp2" };
    for (size_t k = 0; k < sizeof codec / sizeof codec[0]; k++) {
        one_block b;
        int32_t got[3], all[N];
        const char *library = strcmp(codec[k], "bzp2") == 0 ? "bzip2" : codec[k];
        if (!is_available(library))
            continue;
        make(codec[k], NULL, &b);
        assert_int_equal(read_window(&b, CIP_CHECK_ON, "[0, 1:4]", got, 3, NULL), CIP_OK);
        assert_int_equal(got[2], value_at(3));
        /* the first and last bytes, and what lies between, which are heads, tables and tails */
        for (uint64_t at = 0; at < b.stored; at += at < 24 || at + 24 > b.stored ? 1 : 97) {
            cip_err err = CIP_ERR_INIT;
            b.bytes[b.data + at] ^= (uint8_t)(1u << at % 8);
            cip_status st = read_window(&b, CIP_CHECK_ON, "[0, 1:4]", got, 3, &err);
            if (st != CIP_ERR_CHECKSUM || strstr(err.part, "block 0") == NULL)
                fail_msg("%s: byte %d: %s (%s)", codec[k], (int)at, cip_status_name(st), err.part);
            assert_true(is_refused(read_window(&b, CIP_CHECK_ON, NULL, all, N, NULL)));
            b.bytes[b.data + at] ^= (uint8_t)(1u << at % 8);
        }
        free(b.bytes);
    }
}

static void without_a_check_a_flipped_bit_of_raw_data_is_read(void **state)
{
    (void)state;
    one_block b;
    int32_t got[3];
    make("none", NULL, &b);
    b.bytes[b.data + 4] ^= 1;
    assert_int_equal(read_window(&b, CIP_CHECK_OFF, "[0, :3]", got, 3, NULL), CIP_OK);
    assert_int_equal(got[1], value_at(1) ^ 1);
    assert_int_equal(read_window(&b, CIP_CHECK_DEFAULT, "[0, :3]", got, 3, NULL), CIP_OK);
    free(b.bytes);
}

static void a_flipped_bit_of_the_checksum_is_found(void **state)
{
    (void)state;
    one_block b;
    int32_t got[3];
    make("zlib", NULL, &b);
    b.bytes[b.data - 1] ^= 1;
    assert_int_equal(read_window(&b, CIP_CHECK_ON, "[0, :3]", got, 3, NULL), CIP_ERR_CHECKSUM);
    free(b.bytes);
}

static void a_checksum_of_decoded_bytes_is_right_too(void **state)
{
    (void)state;
    one_block b;
    int32_t got[3];
    make("zlib", "legacy", &b);
    assert_int_equal(read_window(&b, CIP_CHECK_ON, "[0, :3]", got, 3, NULL), CIP_OK);
    assert_int_equal(got[2], value_at(2));
    b.bytes[b.data + b.stored / 2] ^= 1;
    assert_int_equal(read_window(&b, CIP_CHECK_ON, "[0, :3]", got, 3, NULL), CIP_ERR_CHECKSUM);
    free(b.bytes);
}

static void data_without_a_checksum_are_read(void **state)
{
    (void)state;
    one_block b;
    int32_t got[3];
    make("none", "none", &b);
    b.bytes[b.data] ^= 1;
    assert_int_equal(read_window(&b, CIP_CHECK_ON, "[0, :3]", got, 3, NULL), CIP_OK);
    free(b.bytes);
}

static void chunks_of_a_damaged_block_are_not_given(void **state)
{
    (void)state;
    static const char *const codec[] = { "none", "zlib" };
    for (size_t k = 0; k < 2; k++) {
        one_block b;
        uint8_t *bytes = malloc(CAP);
        size_t n;
        make(codec[k], NULL, &b);
        cip_file *f = open_checked(&b, CIP_CHECK_ON);
        assert_int_equal(cip_chunk_read(cip_file_array(f, 0), 0, true, bytes, CAP, &n, NULL),
                         CIP_OK);
        assert_int_equal(n, b.stored);
        cip_file_close(f);
        b.bytes[b.data + b.stored / 2] ^= 1;
        f = open_checked(&b, CIP_CHECK_ON);
        for (int stored = 0; stored < 2; stored++)
            assert_int_equal(cip_chunk_read(cip_file_array(f, 0), 0, stored, bytes, CAP, &n, NULL),
                             CIP_ERR_CHECKSUM);
        cip_file_close(f);
        free(bytes);
        free(b.bytes);
    }
}

static void every_way_to_a_byte_is_checked(void **state)
{
    (void)state;
    one_block b;
    int32_t v;
    const int64_t point[] = { 0, 0 };
    cip_stats stats = { .size = sizeof stats };
    cip_err err = CIP_ERR_INIT;
    taken *t = calloc(1, sizeof *t);
    make("none", NULL, &b);
    b.bytes[b.data + b.stored - 1] ^= 1;
    cip_file *f = open_checked(&b, CIP_CHECK_ON);
    const cip_array *a = cip_file_array(f, 0);
    assert_int_equal(cip_read_points(a, 1, point, cip_dtype_as_stored(), &v, NULL),
                     CIP_ERR_CHECKSUM);
    assert_null(cip_view(a, &err));
    const bool native = cip_dtype_is_big(cip_array_native_dtype(a, NULL)) ==
                        cip_dtype_is_big(cip_array_dtype(a)); /* others have no view */
    assert_int_equal(err.code, native ? CIP_ERR_CHECKSUM : CIP_ERR_UNSUPPORTED);
    assert_int_equal(cip_stat(a, NULL, &stats, NULL), CIP_ERR_CHECKSUM);
    assert_int_equal(cip_export(a, NULL, "raw", take_text, t, NULL), CIP_ERR_CHECKSUM);
    assert_int_equal(t->n, 0);
    assert_int_equal(cip_block_read(f, 0, false, 0, &v, 4, NULL), CIP_ERR_CHECKSUM);
    assert_int_equal(cip_block_read(f, 0, true, 0, &v, 4, NULL), CIP_ERR_CHECKSUM);
    assert_int_equal(cip_convert_file(f, "y.asdf", NULL, NULL), CIP_ERR_CHECKSUM);
    assert_int_equal(access("y.asdf", F_OK), -1);
    cip_file_close(f);
    free(b.bytes);
    free(t);
}

static void put_back(const one_block *b)
{
    FILE *f = fopen("x.asdf", "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b->bytes, 1, b->n, f), b->n);
    fclose(f);
}

static void conversion_checks_unless_it_is_told_not_to(void **state)
{
    (void)state;
    static const char *const codec[] = { NULL, "zlib" }; /* blocks as they are, and anew */
    one_block b;
    make("none", NULL, &b);
    b.bytes[b.data] ^= 1;
    put_back(&b);
    for (size_t i = 0; i < 2; i++) {
        const cip_open_options off = { .size = sizeof off, .check = CIP_CHECK_OFF };
        cip_convert_options o = { .size = sizeof o, .codec = codec[i] };
        assert_int_equal(cip_convert("x.asdf", "y.asdf", &o, NULL), CIP_ERR_CHECKSUM);
        assert_int_equal(access("y.asdf", F_OK), -1);
        o.input = &off;
        assert_int_equal(cip_convert("x.asdf", "y.asdf", &o, NULL), CIP_OK);
        assert_int_equal(unlink("y.asdf"), 0);
    }
    assert_int_equal(cip_convert("x.asdf", "y.npy", CIP_CONVERT_OPTIONS(.accept_loss = true), NULL),
                     CIP_ERR_CHECKSUM);
    assert_int_equal(access("y.npy", F_OK), -1);
    free(b.bytes);
}

/* Nor is it kept: the next one may go well. */
static void a_comparison_without_memory_is_no_mismatch(void **state)
{
    one_block b;
    cip_status st = CIP_ERR_NOMEM;
    (void)state;
    make("none", "md5", &b);
    for (size_t n = 1; st != CIP_OK; n++) {
        fail_alloc alloc = { .fail_at = 0 };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        int32_t got[100];
        cip_file *f;
        assert_int_equal(cip_open_memory(b.bytes, b.n,
                                         CIP_OPEN_OPTIONS(.check = CIP_CHECK_ON, .threads = 1,
                                                          .allocator = &from),
                                         &f, NULL),
                         CIP_OK);
        const cip_array *a = cip_file_array(f, 0);
        alloc.fail_at = alloc.requests + n;
        st = cip_read(a, "[0]", cip_dtype_as_stored(), got, sizeof got, NULL);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        assert_int_equal(cip_read(a, "[0]", cip_dtype_as_stored(), got, sizeof got, NULL), CIP_OK);
        for (size_t i = 0; i < 100; i++)
            assert_int_equal(got[i], value_at(i));
        cip_file_close(f);
        assert_int_equal(alloc.held, 0);
    }
    free(b.bytes);
}

/* The file that is open is the damaged one, whatever has its name by then. */
static void a_repaired_file_is_read_after_a_refresh(void **state)
{
    one_block b;
    int32_t got[100];
    cip_file *f;
    (void)state;
    make("none", "md5", &b);
    b.bytes[b.data] ^= 1;
    put_back(&b);
    assert_int_equal(cip_open("x.asdf", CIP_OPEN_OPTIONS(.check = CIP_CHECK_ON), &f, NULL), CIP_OK);
    const cip_array *a = cip_file_array(f, 0);
    assert_int_equal(cip_read(a, "[0]", cip_dtype_as_stored(), got, sizeof got, NULL),
                     CIP_ERR_CHECKSUM);
    assert_int_equal(cip_convert("in.npy", "x.asdf", CIP_CONVERT_OPTIONS(.overwrite = true), NULL),
                     CIP_OK);
    assert_int_equal(cip_read(a, "[0]", cip_dtype_as_stored(), got, sizeof got, NULL),
                     CIP_ERR_CHECKSUM);
    bool changed = false;
    assert_int_equal(cip_file_refresh(f, &changed, NULL), CIP_OK);
    assert_true(changed);
    assert_int_equal(
        cip_read(cip_file_array(f, 0), "[0]", cip_dtype_as_stored(), got, sizeof got, NULL),
        CIP_OK);
    assert_int_equal(got[0], value_at(0));
    cip_file_close(f);
    free(b.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_flipped_bit_of_any_codec_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_check_a_flipped_bit_of_raw_data_is_read, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_flipped_bit_of_the_checksum_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(a_checksum_of_decoded_bytes_is_right_too, setup, teardown),
        cmocka_unit_test_setup_teardown(data_without_a_checksum_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(chunks_of_a_damaged_block_are_not_given, setup, teardown),
        cmocka_unit_test_setup_teardown(every_way_to_a_byte_is_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(conversion_checks_unless_it_is_told_not_to, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_comparison_without_memory_is_no_mismatch, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_repaired_file_is_read_after_a_refresh, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
