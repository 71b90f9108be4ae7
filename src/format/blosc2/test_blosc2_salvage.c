/* SPDX-License-Identifier: BSD-3-Clause
 * Frames with damage outside of their chunks: what is opened has the data of the frame before or
 * after the update that was cut off, or nothing is opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blosc2/b2_testing.h"
#include "support/fail_alloc.h"
#include "support/one_format.h"

enum { EACH = 200, CERTAIN = CIP_OPEN_SALVAGE, ORDER = CIP_OPEN_SALVAGE | CIP_OPEN_IN_ORDER };

static b2_make frame_of(uint32_t nchunk)
{
    return (b2_make){ .typesize = 1, .chunksize = EACH, .nchunk = nchunk };
}

/* The bytes that it reads as are so many of the pattern; or it does not open (0). */
static void expect_bytes(const b2_bytes *b, uint32_t flags, size_t nbytes)
{
    one_file f;
    size_t len = 0;
    uint8_t want[B2_MAX_CHUNKS * EACH];
    const cip_status st = one_open(&f, &cip_format_blosc2, b->ptr, b->len, flags, NULL);
    if (nbytes == 0) {
        assert_int_not_equal(st, CIP_OK);
        one_close(&f);
        return;
    }
    if (st != CIP_OK)
        fail_msg("%s: %s", f.err.part, f.err.text);
    uint8_t *got = one_read(&f, 0, &len);
    assert_non_null(got);
    assert_int_equal(len, nbytes);
    b2_pattern(0, want, len);
    assert_memory_equal(got, want, len);
    free(got);
    one_close(&f);
}

static void expect(const b2_bytes *b, uint32_t flags, uint32_t nchunk)
{
    expect_bytes(b, flags, nchunk * EACH);
}

static size_t index_at(const b2_bytes *b)
{
    return cip_load_u32(b->ptr + 0x0B, true) + (size_t)cip_load_u64(b->ptr + 0x27, true);
}

static size_t index_len(const b2_bytes *b)
{
    return cip_load_u32(b->ptr + index_at(b) + 12, false);
}

static void a_frame_opens_wherever_it_is_cut_behind_its_index(void **state)
{
    (void)state;
    const b2_make m = frame_of(5);
    b2_bytes b = b2_build(&m);
    const size_t whole = b.len, end = index_at(&b) + index_len(&b);
    for (b.len = 0; b.len < whole; b.len++) {
        expect(&b, 0, 0);
        expect(&b, CERTAIN, b.len >= end ? 5 : 0);
    }
    free(b.ptr);
}

static void an_append_that_was_cut_off_is_made_or_not_but_never_mixed(void **state)
{
    (void)state;
    const b2_make before = frame_of(5), after = frame_of(6);
    b2_bytes old = b2_build(&before), new = b2_build(&after);
    b2_bytes image = { malloc(B2_CAP), 0 };
    const size_t from = index_at(&old), end = index_at(&new) + index_len(&new);
    for (size_t cut = from; cut <= new.len;
         cut++) { /* chunk, index, trailer: one after the other */
        memcpy(image.ptr, old.ptr, old.len);
        memcpy(image.ptr + from, new.ptr + from, cut - from);
        if (cut > end) /* before the trailer comes the header */
            memcpy(image.ptr, new.ptr, cip_load_u32(new.ptr + 0x0B, true));
        image.len = cut > old.len ? cut : old.len;
        if (cut > from + 4) /* in front of their lengths, heads are alike */
            expect(&image, CERTAIN, cut < end ? 0 : 6);
        if (cut > from + 15)
            expect(&image, ORDER, cut < end ? 5 : 6);
    }
    memcpy(image.ptr, new.ptr, new.len); /* as a loss of power may leave it: the header is there */
    for (image.len = index_at(&old) + 32; image.len < new.len; image.len++)
        expect(&image, CERTAIN, image.len < end ? 0 : 6);
    free(old.ptr);
    free(new.ptr);
    free(image.ptr);
}

static void wrong_lengths_in_the_header_do_not_matter(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t byte;
    } wrong[] = { { 0x17, 1 }, { 0x16, 9 }, { 0x10, 0xff }, { 0x2e, 7 }, { 0x27, 1 } };
    const b2_make m = frame_of(5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        b2_bytes b = b2_build(&m);
        b.ptr[wrong[i].at] ^= wrong[i].byte;
        expect(&b, 0, 0);
        expect(&b, CERTAIN, 5);
        free(b.ptr);
    }
}

/* An index with one chunk fewer in front of what it was: a deletion that is half made. */
static void an_index_that_is_half_another_is_none(void **state)
{
    (void)state;
    const b2_make m = frame_of(5);
    b2_bytes b = b2_build(&m);
    uint8_t *head = b.ptr + index_at(&b);
    cip_store_u32(head + 4, 4 * 8, false);
    cip_store_u32(head + 8, 4 * 8, false);
    cip_store_u32(head + 12, 32 + 4 * 8, false);
    expect(&b, CERTAIN, 0);
    free(b.ptr);
}

/* A chunk of 8-byte items that hold what an index would, where the index was. */
static void data_that_look_like_an_index_are_none(void **state)
{
    (void)state;
    const b2_make m = { .typesize = 8, .chunksize = 8, .nchunk = 1 };
    b2_bytes b = b2_build(&m);
    const size_t at = index_at(&b);
    static const uint8_t zeros[8] = { 0, 0, 0, 0, 0, 0, 0, 0x81 };
    b.len = at;
    b2_chunk(&b, zeros, 8, 8, false);
    one_file f;
    assert_int_not_equal(one_open(&f, &cip_format_blosc2, b.ptr, b.len, CERTAIN, NULL), CIP_OK);
    one_close(&f);
    free(b.ptr);
}

static void two_chunks_at_one_place_are_no_index(void **state)
{
    (void)state;
    const b2_make m = frame_of(5);
    b2_bytes b = b2_build(&m);
    uint8_t *entry = b.ptr + index_at(&b) + 32;
    memcpy(entry + 8, entry + 16, 8);
    b.len -= 20;
    expect(&b, CERTAIN, 0);
    free(b.ptr);
}

/* What the file's order would make of them is not what they were. */
static void the_order_of_the_file_is_taken_only_when_it_is_asked_for(void **state)
{
    (void)state;
    b2_make m = frame_of(5);
    b2_bytes b = b2_build(&m);
    b.len = index_at(&b);
    expect(&b, CERTAIN, 0);
    expect(&b, ORDER, 5);
    b.ptr[0x2E] += 3; /* bytes behind the chunks, of which nobody knows what they were */
    memset(b.ptr + b.len, 0, 3);
    b.len += 3;
    expect(&b, ORDER, 0);
    free(b.ptr);
    m.last = 50; /* a chunk that is shorter */
    b = b2_build(&m);
    b.len = index_at(&b);
    expect_bytes(&b, ORDER, 4 * EACH + 50);
    free(b.ptr);
    m.last = 0;
    m.gap = 3; /* holes: what was there nobody knows */
    b = b2_build(&m);
    b.len = index_at(&b);
    expect(&b, ORDER, 0);
    free(b.ptr);
    m.gap = 0;
    m.special[2] = 0x81; /* fewer chunks than the header says */
    b = b2_build(&m);
    b.len = index_at(&b);
    expect(&b, ORDER, 0);
    free(b.ptr);
}

/* A shape of three chunks, as it was before the index got a fourth, or as it became before the
 * index lost one: which of them the array has is not known. */
static void a_resize_that_was_cut_off_is_not_guessed_at(void **state)
{
    (void)state;
    uint8_t meta[200];
    const int64_t shape[] = { 3 * EACH }, chunk[] = { EACH };
    for (uint32_t special = 0; special < 5; special++) { /* 4: none */
        b2_make m = frame_of(4);
        m.blocksize = EACH;
        m.meta_name[0] = "b2nd";
        m.meta[0] = meta;
        m.meta_len[0] = b2_nd_meta(meta, 1, shape, chunk, chunk, "|u1");
        m.special[special] = 0x84;
        b2_bytes b = b2_build(&m);
        expect(&b, 0, 0);
        expect(&b, CERTAIN, 0);
        if (special >= 3) /* all that there are, where they are three */
            expect(&b, ORDER, special == 3 ? 3 : 0);
        free(b.ptr);
    }
}

static void want_of_memory_is_no_damage(void **state)
{
    (void)state;
    const b2_make m = frame_of(5);
    b2_bytes b = b2_build(&m);
    b.len -= 5;
    for (size_t at = 1;; at++) {
        one_file f;
        fail_alloc fa = { .fail_at = at };
        const cip_allocator from = { fail_alloc_resize, &fa };
        cip_status st = one_open(&f, &cip_format_blosc2, b.ptr, b.len, CERTAIN, &from);
        one_close(&f);
        assert_int_equal(fa.held, 0);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        if (fa.requests < at)
            break;
    }
    free(b.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_opens_wherever_it_is_cut_behind_its_index),
        cmocka_unit_test(an_append_that_was_cut_off_is_made_or_not_but_never_mixed),
        cmocka_unit_test(wrong_lengths_in_the_header_do_not_matter),
        cmocka_unit_test(an_index_that_is_half_another_is_none),
        cmocka_unit_test(data_that_look_like_an_index_are_none),
        cmocka_unit_test(two_chunks_at_one_place_are_no_index),
        cmocka_unit_test(the_order_of_the_file_is_taken_only_when_it_is_asked_for),
        cmocka_unit_test(a_resize_that_was_cut_off_is_not_guessed_at),
        cmocka_unit_test(want_of_memory_is_no_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
