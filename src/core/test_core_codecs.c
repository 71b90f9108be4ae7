/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/core_testing.h"
#include "support/fail_alloc.h"

/* Turns each byte by the number in its arguments (13 without), or by what `user` points to. */
static cip_status turn(void *user, const char *args, const void *src, size_t n, void *dst,
                       size_t cap, size_t *out, cip_err *err)
{
    int by = user != NULL ? *(int *)user : 13;
    if (by < 0) {
        snprintf(err->text, sizeof err->text, "turned too far");
        return CIP_ERR_CHECKSUM;
    }
    if (n > cap)
        return CIP_ERR_CORRUPT;
    sscanf(args, "{by: %d}", &by);
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)dst)[i] = (uint8_t)(((const uint8_t *)src)[i] - by);
    *out = n;
    return CIP_OK;
}

static cip_status same_length(void *user, const char *args, const void *src, size_t n,
                              uint64_t *nbytes, cip_err *err)
{
    (void)user, (void)args, (void)src, (void)err;
    *nbytes = n;
    return CIP_OK;
}

static void put64(uint8_t *at, uint64_t v)
{
    for (int i = 8; i-- > 0; v >>= 8)
        at[i] = (uint8_t)v;
}

/* A block of layout B with a chain, or of 1.0 with a code, over which lies the array a. */
static size_t make_file(uint8_t file[512], const char *chain, const char *code, const void *p,
                        size_t n, uint64_t size)
{
    static const uint8_t magic[4] = { 0xd3, 'B', 'L', 'K' };
    size_t at =
        (size_t)snprintf((char *)file, 400,
                         "#ASDF %s\n%%YAML 1.1\n%%TAG ! tag:stsci.edu:asdf/%s\n--- !core/%s\n"
                         "a: !core/ndarray%s {source: 0, datatype: uint8, byteorder: "
                         "little, shape: [%d]}\n...\n",
                         chain ? "0.1.0" : "1.0.0", chain ? "0.1.0/" : "",
                         chain ? "asdf" : "asdf-1.1.0", chain ? "" : "-1.0.0", (int)(size & 0xff));
    size_t text = chain ? strlen(chain) : 0, header = chain ? 36 : 48, sizes = chain ? 10 : 14;
    memset(file + at, 0, 54);
    memcpy(file + at, magic, 4);
    file[at + 5] = (uint8_t)header;
    file[at + 9] = chain ? 2 : 0;
    if (code != NULL)
        memcpy(file + at + 10, code, 4);
    put64(file + at + sizes, text + n);
    put64(file + at + sizes + 8, text + n);
    put64(file + at + sizes + 16, size);
    at += 6 + header;
    memcpy(file + at, chain ? chain : "", text);
    memcpy(file + at + text, p, n);
    return at + text + n;
}

static cip_status read_a(const uint8_t *file, size_t n, const cip_codec_methods *m,
                         const cip_allocator *from, uint8_t out[8], cip_err *err)
{
    cip_file *f = NULL;
    const cip_codec_methods *list[] = { m };
    *err = (cip_err)CIP_ERR_INIT;
    memset(out, 0, 8);
    cip_status st = cip_open_memory(
        file, n,
        CIP_OPEN_OPTIONS(.codecs = list, .ncodec = m != NULL, .allocator = from, .threads = 1), &f,
        err);
    if (st != CIP_OK)
        return st;
    st = cip_read_into(
        cip_find(f, "a", err),
        &(cip_read_args){ .size = sizeof(cip_read_args), .dst = out, .dst_nbytes = CIP_UNCHECKED },
        err);
    cip_file_close(f);
    return st;
}

static void an_encoding_in_a_chain_is_called(void **state)
{
    (void)state;
    const cip_codec_methods m = { CIP_CODEC_METHODS_INIT, .name = "turn", .decode = turn };
    uint8_t file[512], out[8];
    cip_err err = CIP_ERR_INIT;
    size_t n = make_file(file, "[turn]\n...\n", NULL, "nop", 3, 3);
    assert_int_equal(read_a(file, n, NULL, NULL, out, &err), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "found 'turn'"));
    assert_int_equal(read_a(file, n, &m, NULL, out, &err), CIP_OK);
    assert_memory_equal(out, "abc", 3);
    n = make_file(file, "[[turn, {by: 1}]]\n...\n", NULL, "bcd", 3, 3);
    assert_int_equal(read_a(file, n, &m, NULL, out, &err), CIP_OK);
    assert_memory_equal(out, "abc", 3);
}

static void a_code_of_a_block_is_called(void **state)
{
    (void)state;
    const cip_codec_methods m = { CIP_CODEC_METHODS_INIT, .name = "turn", .code = "turn",
                                  .decode = turn };
    uint8_t file[512], out[8];
    cip_err err = CIP_ERR_INIT;
    size_t n = make_file(file, NULL, "turn", "nop", 3, 3);
    assert_int_equal(read_a(file, n, NULL, NULL, out, &err), CIP_ERR_UNSUPPORTED);
    assert_int_equal(read_a(file, n, &m, NULL, out, &err), CIP_OK);
    assert_memory_equal(out, "abc", 3);
    n = make_file(file, NULL, "turm", "nop", 3, 3);
    assert_int_equal(read_a(file, n, &m, NULL, out, &err), CIP_ERR_UNSUPPORTED);
}

static void what_the_library_knows_can_be_taken_over(void **state)
{
    (void)state;
    const cip_codec_methods m = { CIP_CODEC_METHODS_INIT, .name = "zlib", .code = "zlib",
                                  .decode = turn };
    uint8_t file[512], out[8];
    cip_err err = CIP_ERR_INIT;
    size_t n = make_file(file, NULL, "zlib", "nop", 3, 3);
    assert_int_equal(read_a(file, n, &m, NULL, out, &err), CIP_OK);
    assert_memory_equal(out, "abc", 3);
    n = make_file(file, "[zlib]\n...\n", NULL, "nop", 3, 3);
    assert_int_equal(read_a(file, n, &m, NULL, out, &err), CIP_OK);
    assert_memory_equal(out, "abc", 3);
}

static void its_failure_is_the_blocks(void **state)
{
    (void)state;
    int by = -1;
    const cip_codec_methods m = { CIP_CODEC_METHODS_INIT, .name = "turn", .user = &by,
                                  .decode = turn };
    uint8_t file[512], out[8];
    cip_err err = CIP_ERR_INIT;
    size_t n = make_file(file, "[turn]\n...\n", NULL, "nop", 3, 3);
    assert_int_equal(read_a(file, n, &m, NULL, out, &err), CIP_ERR_CHECKSUM);
    assert_string_equal(err.text, "turned too far");
    assert_string_equal(err.part, "block 0");
    by = 13;
    n = make_file(file, "[turn]\n...\n", NULL, "nop", 3, 4);
    assert_int_equal(read_a(file, n, &m, NULL, out, &err), CIP_ERR_CORRUPT);
    assert_non_null(strstr(err.text, "expected 4 bytes of the encoding 'turn', found 3"));
}

static void one_behind_another_has_to_tell_its_length(void **state)
{
    (void)state;
    cip_codec_methods m = { CIP_CODEC_METHODS_INIT, .name = "turn", .decode = turn };
    uint8_t file[512], out[8];
    cip_err err = CIP_ERR_INIT;
    size_t n = make_file(file, "[[turn, {by: 1}], [turn, {by: 2}]]\n...\n", NULL, "def", 3, 3);
    assert_int_equal(read_a(file, n, &m, NULL, out, &err), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "the decoded size of the encoding 'turn' is not known"));
    m.decoded_nbytes = same_length;
    assert_int_equal(read_a(file, n, &m, NULL, out, &err), CIP_OK);
    assert_memory_equal(out, "abc", 3);
}

static void what_is_no_list_of_encodings_is_a_wrong_call(void **state)
{
    (void)state;
    const cip_codec_methods bad[] = {
        { .name = "x", .decode = turn },
        { CIP_CODEC_METHODS_INIT, .decode = turn },
        { CIP_CODEC_METHODS_INIT, .name = "", .decode = turn },
        { CIP_CODEC_METHODS_INIT, .name = "x" },
    };
    uint8_t file[512], out[8];
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    size_t n = make_file(file, "[]\n...\n", NULL, "abc", 3, 3);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(read_a(file, n, &bad[i], NULL, out, &err), CIP_ERR_ARG);
    assert_int_equal(cip_open_memory(file, n, CIP_OPEN_OPTIONS(.ncodec = 1), &f, &err),
                     CIP_ERR_ARG);
    const cip_codec_methods *none[] = { NULL };
    assert_int_equal(
        cip_open_memory(file, n, CIP_OPEN_OPTIONS(.codecs = none, .ncodec = 1), &f, &err),
        CIP_ERR_ARG);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    const cip_codec_methods m = { CIP_CODEC_METHODS_INIT, .name = "turn", .decode = turn,
                                  .decoded_nbytes = same_length };
    uint8_t file[512], out[8];
    size_t n = make_file(file, "[turn, [turn, {by: 1}]]\n...\n", NULL, "opq", 3, 3);
    for (size_t i = 1;; i++) {
        fail_alloc fa = { .fail_at = i };
        const cip_allocator from = { fail_alloc_resize, &fa };
        cip_err err = CIP_ERR_INIT;
        cip_status st = read_a(file, n, &m, &from, out, &err);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        assert_int_equal(fa.held, 0);
        if (fa.requests < i)
            break;
    }
    assert_memory_equal(out, "abc", 3);
}

/* --- what a file claims ----------------------------------------------------------------------- */

static int take_finding(void *user, const cip_finding *f)
{
    cip_finding *all = user;
    for (int i = 0; i < 4; i++)
        if (all[i].text == NULL) {
            all[i] = *f;
            all[i].text = "";
            break;
        }
    return 0;
}

/* 2^38 floats in a chunk of 25 bytes: values of no bits. */
static void what_a_file_cannot_stand_for_is_not_decoded_to_verify_it(void **state)
{
    (void)state;
    uint8_t file[512], chunk[25] = { 0 };
    cip_finding found[4] = { { 0 } };
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    put64(chunk + 17, UINT64_C(1) << 38);
    size_t n = make_file(file, "[[quantize, {dtype: 32}]]\n...\n", NULL, chunk, sizeof chunk,
                         UINT64_C(1) << 40);
    assert_int_equal(cip_open_memory(file, n, NULL, &f, &err), CIP_OK);
    assert_int_equal(
        cip_verify_file(
            f, CIP_VERIFY_OPTIONS(.deep = true, .on_finding = take_finding, .user = found), &err),
        CIP_OK);
    assert_int_equal(found[0].severity, CIP_WARN);
    assert_int_equal(found[0].code, CIP_ERR_LIMIT);
    assert_null(found[1].text);
    cip_file_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_encoding_in_a_chain_is_called),
        cmocka_unit_test(a_code_of_a_block_is_called),
        cmocka_unit_test(what_the_library_knows_can_be_taken_over),
        cmocka_unit_test(its_failure_is_the_blocks),
        cmocka_unit_test(one_behind_another_has_to_tell_its_length),
        cmocka_unit_test(what_is_no_list_of_encodings_is_a_wrong_call),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
        cmocka_unit_test(what_a_file_cannot_stand_for_is_not_decoded_to_verify_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
