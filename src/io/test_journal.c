/* SPDX-License-Identifier: BSD-3-Clause
 * The bytes of journals: written, read back, damaged in every place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/endian.h"
#include "io/patch.h"
#include "support/fail_alloc.h"
#include "support/own_env.h"

#define BYTES(text) ((cip_bytes){ (const uint8_t *)(text), sizeof(text) - 1 })
static const cip_bytes none = { NULL, 0 };

static cip_patch new_patch(uint64_t old_len, uint64_t new_len)
{
    return (cip_patch){
        .arena = { .mem = &env.mem },
        .old_len = old_len,
        .new_len = new_len,
    };
}

static void add(cip_patch *p, cip_patch_kind kind, const char *member, const char *to, uint64_t off)
{
    cip_patch_op op = { .kind = kind, .member = member, .to = to, .offset = off };
    assert_int_equal(cip_patch_add(p, &op, NULL), CIP_OK);
}

static void write_bytes(cip_patch *p, const char *member, uint64_t off, cip_bytes before,
                        cip_bytes after)
{
    assert_int_equal(cip_patch_write(p, member, off, before, after, NULL), CIP_OK);
}

/* One operation of each kind. */
static cip_patch sample(void)
{
    cip_patch p = new_patch(100, 120);
    write_bytes(&p, "", 98, BYTES("ab"), BYTES("ABCD"));
    add(&p, CIP_PATCH_LENGTH, "", NULL, 120);
    write_bytes(&p, "sub/x", 1, none, BYTES("Z"));
    add(&p, CIP_PATCH_CREATE, "new", NULL, 0);
    add(&p, CIP_PATCH_RENAME, "new", "newer", 0);
    add(&p, CIP_PATCH_UNLINK, "old", NULL, 0);
    return p;
}

static cip_buf encode(const cip_patch *p)
{
    cip_buf b = { .mem = &env.mem };
    assert_int_equal(cip_journal_encode(p, 0x1122334455667788u, 0x99aabbccddeeff00u, &b, NULL),
                     CIP_OK);
    return b;
}

static void seal(uint8_t *b, size_t n)
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(b, n - 16));
    memcpy(b + n - 16, sum.digest, 16);
}

static cip_status decode(const uint8_t *b, size_t n, cip_patch *out, cip_err *err)
{
    uint64_t device = 1, inode = 2;
    cip_status st = cip_journal_decode((cip_bytes){ b, n }, out, &device, &inode, err);
    assert_int_equal(device, st == CIP_OK ? 0x1122334455667788u : 1);
    assert_int_equal(inode, st == CIP_OK ? 0x99aabbccddeeff00u : 2);
    return st;
}

/* Expects a status and text of the bytes, and that nothing is left behind. */
static void decode_fails(const uint8_t *b, size_t n, cip_status st, const char *text)
{
    cip_patch p = new_patch(5, 6);
    cip_err err = CIP_ERR_INIT;
    cip_status got = decode(b, n, &p, &err);
    if (got != st || strstr(err.text, text) == NULL)
        fail_msg("%s: '%s', not '%s'", cip_status_name(got), err.text, text);
    assert_int_equal(p.n, 0);
    assert_null(p.op);
    assert_int_equal(p.old_len, 5);
    cip_patch_clear(&p);
}

static void a_journal_has_the_layout_that_is_written_down(void **state)
{
    (void)state;
    static const uint8_t expected[] = {
        0x89, 'C',  'I',  'P',  'J',  '\r', '\n', 0x1a, /* magic */
        1,    0,    0,    0,    0,    0,    0,    0,    /* version, flags */
        126,  0,    0,    0,    0,    0,    0,    0,    /* length of it all */
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* device */
        0x00, 0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, /* inode */
        100,  0,    0,    0,    0,    0,    0,    0,    102, 0,   0,   0,   0,   0,   0,
        0,                                           /* old and new length */
        1,    0,    0,    0,    0,    0,    0,    0, /* operations */
        1,    0,    0,    0,    0,    0,    0,    0,    0,   0,   0,   0,   0,   0,   0,
        0, /* write; names; 0 */
        98,   0,    0,    0,    0,    0,    0,    0,    2,   0,   0,   0,   0,   0,   0,
        0, /* offset, bytes before */
        4,    0,    0,    0,    0,    0,    0,    0,    'a', 'b', 'A', 'B', 'C', 'D', /* bytes
                                                                                         after; both
                                                                                       */
    };
    cip_patch p = new_patch(100, 102);
    write_bytes(&p, "", 98, BYTES("ab"), BYTES("ABCD"));
    cip_buf b = encode(&p);
    assert_int_equal(b.len, sizeof expected + 16);
    assert_memory_equal(b.ptr, expected, sizeof expected);
    static const uint8_t sum[16] = { 0 };
    assert_memory_not_equal(b.ptr + sizeof expected, sum, 16);
    seal(b.ptr, b.len);
    cip_buf again = encode(&p);
    assert_memory_equal(b.ptr, again.ptr, b.len);
    cip_buf_clear(&again);
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static void every_operation_comes_back(void **state)
{
    (void)state;
    cip_patch p = sample(), q = new_patch(0, 0);
    cip_buf b = encode(&p);
    assert_int_equal(decode(b.ptr, b.len, &q, NULL), CIP_OK);
    assert_int_equal(q.old_len, 100);
    assert_int_equal(q.new_len, 120);
    assert_int_equal(q.n, p.n);
    for (size_t i = 0; i < p.n; i++) {
        assert_int_equal(q.op[i].kind, p.op[i].kind);
        assert_string_equal(q.op[i].member, p.op[i].member);
        assert_string_equal(q.op[i].to, p.op[i].to);
        assert_int_equal(q.op[i].offset, p.op[i].offset);
        assert_int_equal(q.op[i].before.len, p.op[i].before.len);
        assert_int_equal(q.op[i].after.len, p.op[i].after.len);
        if (p.op[i].before.len != 0)
            assert_memory_equal(q.op[i].before.ptr, p.op[i].before.ptr, p.op[i].before.len);
        if (p.op[i].after.len != 0)
            assert_memory_equal(q.op[i].after.ptr, p.op[i].after.ptr, p.op[i].after.len);
    }
    cip_patch_clear(&q);
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static void a_journal_is_added_to_what_a_buffer_has(void **state)
{
    (void)state;
    cip_patch p = sample(), q = new_patch(0, 0);
    cip_buf b = { .mem = &env.mem };
    assert_int_equal(cip_buf_add(&b, "front", 5, NULL), CIP_OK);
    assert_int_equal(cip_journal_encode(&p, 0x1122334455667788u, 0x99aabbccddeeff00u, &b, NULL),
                     CIP_OK);
    assert_memory_equal(b.ptr, "front", 5);
    assert_int_equal(decode(b.ptr + 5, b.len - 5, &q, NULL), CIP_OK);
    cip_patch_clear(&q);
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static void every_truncation_is_reported(void **state)
{
    (void)state;
    cip_patch p = sample();
    cip_buf b = encode(&p);
    for (size_t n = 0; n < b.len; n++) {
        uint8_t *exact = malloc(n + 1); /* on the heap: ASan sees an overread */
        memcpy(exact + 1, b.ptr, n);
        decode_fails(exact + 1, n, CIP_ERR_TRUNCATED, "expected a journal of ");
        free(exact);
    }
    cip_buf_add(&b, "x", 1, NULL);
    decode_fails(b.ptr, b.len, CIP_ERR_CORRUPT, "1 bytes after the journal's end");
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static void every_flipped_bit_is_reported(void **state)
{
    (void)state;
    cip_patch p = sample();
    cip_buf b = encode(&p);
    for (size_t i = 0; i < b.len * 8; i++) {
        cip_patch q = new_patch(0, 0);
        cip_err err = CIP_ERR_INIT;
        b.ptr[i / 8] ^= (uint8_t)(1 << i % 8);
        cip_status st = decode(b.ptr, b.len, &q, &err);
        if (i < 64)
            assert_int_equal(st, CIP_ERR_FORMAT);
        else if (i < 128)
            assert_int_equal(st, CIP_ERR_UNSUPPORTED);
        else if (i < 192)
            assert_true(st == CIP_ERR_CORRUPT || st == CIP_ERR_TRUNCATED);
        else
            assert_int_equal(st, CIP_ERR_CHECKSUM);
        b.ptr[i / 8] ^= (uint8_t)(1 << i % 8);
        cip_patch_clear(&q);
    }
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

/* Flips bits of sealed journals: whatever the fields say, nothing is read out of bounds. */
static void every_flipped_bit_under_a_right_checksum_is_survived(void **state)
{
    (void)state;
    cip_patch p = sample();
    cip_buf b = encode(&p);
    size_t taken = 0;
    for (size_t i = 64 * 3; i < (b.len - 16) * 8; i++) {
        uint64_t device, inode;
        cip_patch q = new_patch(0, 0);
        uint8_t *copy = malloc(b.len);
        memcpy(copy, b.ptr, b.len);
        copy[i / 8] ^= (uint8_t)(1 << i % 8);
        seal(copy, b.len);
        cip_status st = cip_journal_decode((cip_bytes){ copy, b.len }, &q, &device, &inode, NULL);
        if (st == CIP_OK)
            taken++;
        else
            assert_true(st == CIP_ERR_CORRUPT || st == CIP_ERR_TRUNCATED);
        cip_patch_clear(&q);
        free(copy);
    }
    assert_in_range(taken, 100, 700); /* device, inode, bytes, letters of names */
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

enum { OPS = 64 }; /* where the first operation lies */

/* A journal of one write, with the field at `at` replaced. */
static void field_fails(size_t at, uint64_t value, size_t width, cip_status st, const char *text)
{
    cip_patch p = new_patch(10, 12);
    write_bytes(&p, "", 8, BYTES("ab"), BYTES("ABCD"));
    cip_buf b = encode(&p);
    if (width == 4)
        cip_store_u32(b.ptr + at, (uint32_t)value, false);
    else
        cip_store_u64(b.ptr + at, value, false);
    seal(b.ptr, b.len);
    decode_fails(b.ptr, b.len, st, text);
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static void fields_that_lie_are_found_out(void **state)
{
    (void)state;
    field_fails(8, 2, 4, CIP_ERR_UNSUPPORTED, "expected a journal of version 1, found 2");
    field_fails(12, 1, 4, CIP_ERR_UNSUPPORTED, "unknown flags");
    field_fails(56, 2, 8, CIP_ERR_TRUNCATED, "2 operations do not fit in 46 bytes");
    field_fails(56, UINT64_MAX, 8, CIP_ERR_TRUNCATED, "do not fit");
    field_fails(56, 0, 8, CIP_ERR_CORRUPT, "46 bytes after the last operation");
    field_fails(48, 13, 8, CIP_ERR_CORRUPT,
                "the operations produce 12 bytes, not the new length 13");
    field_fails(40, 9, 8, CIP_ERR_CORRUPT, "keeps only 2 of the old bytes");
    field_fails(40, 11, 8, CIP_ERR_CORRUPT, "keeps only 2 of the old bytes");
    field_fails(OPS, 0, 4, CIP_ERR_CORRUPT, "an unknown kind");
    field_fails(OPS, 6, 4, CIP_ERR_CORRUPT, "an unknown kind");
    field_fails(OPS, 0x10001, 4, CIP_ERR_CORRUPT, "an unknown kind");
    field_fails(OPS, 0xffffffff, 4, CIP_ERR_CORRUPT, "an unknown kind");
    field_fails(OPS + 12, 1, 4, CIP_ERR_CORRUPT, "an unknown kind");
    field_fails(OPS + 4, 7, 4, CIP_ERR_TRUNCATED, "operation 0 runs beyond the journal");
    field_fails(OPS + 4, UINT32_MAX, 4, CIP_ERR_TRUNCATED, "runs beyond");
    field_fails(OPS + 8, 1, 4, CIP_ERR_TRUNCATED, "runs beyond");
    field_fails(OPS + 16, UINT64_MAX - 2, 8, CIP_ERR_CORRUPT, "an end after 2^64");
    field_fails(OPS + 24, 3, 8, CIP_ERR_TRUNCATED, "runs beyond");
    field_fails(OPS + 24, UINT64_MAX, 8, CIP_ERR_TRUNCATED, "runs beyond");
    field_fails(OPS + 24, 1, 8, CIP_ERR_CORRUPT, "1 bytes after the last operation");
    field_fails(OPS + 32, 5, 8, CIP_ERR_TRUNCATED, "runs beyond");
    field_fails(OPS + 32, UINT64_MAX, 8, CIP_ERR_TRUNCATED, "runs beyond");
    field_fails(OPS + 32, 1, 8, CIP_ERR_CORRUPT, "more old bytes than new ones");
}

/* A journal of one renaming with these names, which are as long as "ab/c" and "de". */
static void names_fail(const char *member, const char *to, const char *text)
{
    cip_patch p = new_patch(0, 0);
    add(&p, CIP_PATCH_RENAME, "ab/c", "de", 0);
    cip_buf b = encode(&p);
    memcpy(b.ptr + OPS + 40, member, 4);
    memcpy(b.ptr + OPS + 44, to, 2);
    seal(b.ptr, b.len);
    decode_fails(b.ptr, b.len, CIP_ERR_CORRUPT, text);
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static void names_that_leave_the_folder_are_corrupt(void **state)
{
    (void)state;
    names_fail("../c", "de", "operation 0 has not a plain member name");
    names_fail("/b/c", "de", "not a plain member name");
    names_fail("a/..", "de", "not a plain member name");
    names_fail("ab/c", "..", "not a plain new name");
    names_fail("ab\0c", "de", "a NUL in a name");
    names_fail("ab/c", "d", "a NUL in a name");
}

static void encode_fails(cip_patch *p, const char *text)
{
    cip_buf b = { .mem = &env.mem };
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_journal_encode(p, 1, 2, &b, &err), CIP_ERR_ARG);
    if (strstr(err.text, text) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, text);
    assert_int_equal(b.len, 0);
    cip_buf_clear(&b);
    cip_patch_clear(p);
}

static void patches_that_a_crash_would_spoil_are_refused(void **state)
{
    (void)state;
    cip_patch p = new_patch(10, 10);
    write_bytes(&p, "", 4, BYTES("ab"), BYTES("AB"));
    write_bytes(&p, "", 2, BYTES("abc"), BYTES("ABC"));
    encode_fails(&p, "its writes overlap");
    p = new_patch(10, 10);
    write_bytes(&p, "", 4, BYTES("a"), BYTES("A"));
    write_bytes(&p, "", 4, BYTES("a"), BYTES("B"));
    encode_fails(&p, "its writes overlap");
    p = new_patch(10, 11);
    encode_fails(&p, "the operations produce 10 bytes, not the new length 11");
    p = new_patch(10, 10);
    write_bytes(&p, "", 4, none, BYTES("A"));
    encode_fails(&p, "operation 0 keeps only 0 of the old bytes");
    p = new_patch(10, 12);
    write_bytes(&p, "", 9, none, BYTES("ABC"));
    encode_fails(&p, "operation 0 keeps only 0 of the old bytes");
    p = new_patch(10, 12);
    write_bytes(&p, "", 9, BYTES("ab"), BYTES("ABC"));
    encode_fails(&p, "operation 0 keeps only 2 of the old bytes");
}

static void writes_that_touch_do_not_overlap(void **state)
{
    (void)state;
    cip_patch p = new_patch(10, 13), q = new_patch(0, 0);
    write_bytes(&p, "", 4, BYTES("ab"), BYTES("AB"));
    write_bytes(&p, "", 6, BYTES("c"), BYTES("C"));
    write_bytes(&p, "", 0, BYTES("cdef"), BYTES("CDEF"));
    write_bytes(&p, "", 5, none, none); /* empty, in the midst of another */
    write_bytes(&p, "", 10, none, BYTES("XYZ"));
    write_bytes(&p, "x", 5, none, BYTES("another member's"));
    write_bytes(&p, "x", 5, none, BYTES("another member's"));
    cip_buf b = encode(&p);
    assert_int_equal(decode(b.ptr, b.len, &q, NULL), CIP_OK);
    assert_int_equal(q.n, 7);
    cip_patch_clear(&q);
    cip_patch_clear(&p);
    cip_buf_clear(&b);
}

static void an_empty_patch_is_a_journal_too(void **state)
{
    (void)state;
    cip_patch p = new_patch(10, 10), q = new_patch(0, 0);
    cip_buf b = encode(&p);
    assert_int_equal(b.len, 80);
    assert_int_equal(decode(b.ptr, b.len, &q, NULL), CIP_OK);
    assert_int_equal(q.n, 0);
    assert_int_equal(q.old_len, 10);
    cip_patch_clear(&q);
    cip_buf_clear(&b);
}

static void a_journal_over_64_mib_is_refused(void **state)
{
    (void)state;
    const size_t room = ((size_t)64 << 20) - 80 - 40;
    uint8_t *big = calloc(1, room + 1);
    cip_buf b = { .mem = &env.mem };
    cip_err err = CIP_ERR_INIT;
    cip_patch p = new_patch(0, room);
    write_bytes(&p, "", 0, none, (cip_bytes){ big, room });
    assert_int_equal(cip_journal_encode(&p, 1, 2, &b, &err), CIP_OK);
    assert_int_equal(b.len, 64 << 20);
    cip_buf_clear(&b);
    cip_patch_clear(&p);
    p = new_patch(0, room + 1);
    write_bytes(&p, "", 0, none, (cip_bytes){ big, room + 1 });
    assert_int_equal(cip_journal_encode(&p, 1, 2, &b, &err), CIP_ERR_LIMIT);
    assert_string_equal(err.text, "a journal of 67108865 bytes, more than the limit of 67108864");
    cip_buf_clear(&b);
    cip_patch_clear(&p);
    free(big);
}

static void each_failing_allocation_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    bool through = false;
    cip_patch p = new_patch(100, 200);
    for (uint64_t i = 0; i < 100; i++)
        write_bytes(&p, "", 100 + i, none, BYTES("x"));
    for (size_t n = 1; !through; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_mem mem;
        cip_mem_init(&mem, &a, 0);
        cip_patch q = { .arena = { .mem = &mem } };
        cip_buf b = { .mem = &mem };
        uint64_t device, inode;
        cip_mem *was = p.arena.mem;
        p.arena.mem = &mem; /* for what encoding needs; nothing is added to it */
        cip_status st = cip_journal_encode(&p, 1, 2, &b, NULL);
        p.arena.mem = was;
        if (st == CIP_OK)
            st = cip_journal_decode((cip_bytes){ b.ptr, b.len }, &q, &device, &inode, NULL);
        through = f.requests < n;
        assert_int_equal(st, through ? CIP_OK : CIP_ERR_NOMEM);
        cip_buf_clear(&b);
        cip_patch_clear(&q);
        assert_int_equal(f.held, 0);
        assert_true(n < 100);
    }
    cip_patch_clear(&p);
}

/* The seeds of the fuzz target are journals as they are written today. With CIP_WRITE_CORPUS in the
 * environment they are written anew. */
static void seed_is(const char *name, cip_patch p)
{
    char path[512];
    static uint8_t was[1000];
    snprintf(path, sizeof path, "%s/src/io/corpus/fuzz_journal/%s", CIP_SOURCE_DIR, name);
    cip_buf b = encode(&p);
    FILE *f = fopen(path, getenv("CIP_WRITE_CORPUS") != NULL ? "w+b" : "rb");
    assert_non_null(f);
    if (getenv("CIP_WRITE_CORPUS") != NULL) {
        assert_int_equal(fwrite(b.ptr, 1, b.len, f), b.len);
        rewind(f);
    }
    assert_int_equal(fread(was, 1, sizeof was, f), b.len);
    assert_memory_equal(was, b.ptr, b.len);
    fclose(f);
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static void the_seeds_of_the_fuzz_target_are_up_to_date(void **state)
{
    (void)state;
    seed_is("good-empty", new_patch(10, 10));
    seed_is("good-every-kind", sample());
    cip_patch p = new_patch(20, 12);
    write_bytes(&p, "", 4, BYTES("abc"), BYTES("ABC"));
    write_bytes(&p, "", 8, BYTES("abcd"), BYTES("ABCD"));
    add(&p, CIP_PATCH_LENGTH, "", NULL, 12);
    seed_is("good-shorter", p);
    p = new_patch(5, 400);
    write_bytes(&p, "", 390, none, BYTES("ABCDEFGHIJ"));
    write_bytes(&p, "", 0, BYTES("12345"), BYTES("1X3X56"));
    seed_is("good-longer", p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_journal_has_the_layout_that_is_written_down),
        cmocka_unit_test(every_operation_comes_back),
        cmocka_unit_test(a_journal_is_added_to_what_a_buffer_has),
        cmocka_unit_test(every_truncation_is_reported),
        cmocka_unit_test(every_flipped_bit_is_reported),
        cmocka_unit_test(every_flipped_bit_under_a_right_checksum_is_survived),
        cmocka_unit_test(fields_that_lie_are_found_out),
        cmocka_unit_test(names_that_leave_the_folder_are_corrupt),
        cmocka_unit_test(patches_that_a_crash_would_spoil_are_refused),
        cmocka_unit_test(writes_that_touch_do_not_overlap),
        cmocka_unit_test(an_empty_patch_is_a_journal_too),
        cmocka_unit_test(a_journal_over_64_mib_is_refused),
        cmocka_unit_test(each_failing_allocation_is_reported_and_nothing_leaks),
        cmocka_unit_test(the_seeds_of_the_fuzz_target_are_up_to_date),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
