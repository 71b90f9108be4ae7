/* SPDX-License-Identifier: BSD-3-Clause
 * Spans of files, memory and their parts; mapping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/pool.h"
#include "space/read/reader.h"
#include "support/fault_io.h"
#include "support/own_fake.h"

static cip_space *mem(const char *text)
{
    cip_space *s;
    assert_int_equal(
        cip_space_new_mem(f.layout, (cip_bytes){ (const uint8_t *)text, strlen(text) }, &s, NULL),
        CIP_OK);
    return s;
}

static cip_space *sub(cip_space *in, uint64_t off, uint64_t len)
{
    cip_space *s;
    assert_int_equal(cip_space_new_sub(f.layout, in, off, len, &s, NULL), CIP_OK);
    return s;
}

/* The whole space as text. */
static const char *text_of(cip_space *s)
{
    static char text[200];
    memset(text, 0, sizeof text);
    assert_true(s->len < sizeof text);
    assert_int_equal(cip_space_read_at(&f.how, s, 0, text, (size_t)s->len, NULL), CIP_OK);
    return text;
}

static void spans_end_where_the_space_does(void **state)
{
    (void)state;
    uint8_t b[12];
    cip_err err = CIP_ERR_INIT;
    cip_space *s = mem("0123456789");
    assert_int_equal(cip_space_read_at(&f.how, s, 8, b, 2, &err), CIP_OK);
    assert_memory_equal(b, "89", 2);
    assert_int_equal(cip_space_read_at(&f.how, s, 10, b, 0, &err), CIP_OK);
    assert_int_equal(cip_space_read_at(&f.how, s, 8, b, 3, &err), CIP_ERR_RANGE);
    assert_string_equal(err.text, "expected 3 bytes at 8, found the end at 10");
    s->label = "block 7";
    assert_int_equal(cip_space_read_at(&f.how, s, 11, b, 0, &err), CIP_ERR_RANGE);
    assert_string_equal(err.part, "block 7");
    assert_int_equal(cip_space_read_at(&f.how, s, UINT64_MAX, b, 1, &err), CIP_ERR_RANGE);
    assert_int_equal(cip_space_read_at(&f.how, s, UINT64_MAX, b, 0, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_space_read(&f.how, s, NULL, 0, NULL), CIP_OK);
}

static void spans_that_do_not_rise_are_the_callers_fault(void **state)
{
    (void)state;
    uint8_t b[12];
    cip_space *s = mem("0123456789");
    cip_want w[3] = { { 2, 3, b }, { 5, 0, b }, { 5, 2, b + 3 } };
    assert_int_equal(cip_space_read(&f.how, s, w, 3, NULL), CIP_OK);
    assert_memory_equal(b, "23456", 5);
    w[1].off = 4;
    assert_int_equal(cip_space_read(&f.how, s, w, 3, NULL), CIP_ERR_ARG);
    w[1].off = 7;
    assert_int_equal(cip_space_read(&f.how, s, w, 3, NULL), CIP_ERR_ARG);
}

static void parts_of_parts_are_read_where_they_lie(void **state)
{
    (void)state;
    cip_space *s = sub(sub(mem("0123456789"), 2, 7), 1, 4);
    assert_string_equal(text_of(s), "3456");
    assert_int_equal(cip_space_read_at(&f.how, s, 3, &(uint8_t){ 0 }, 2, NULL), CIP_ERR_RANGE);
}

static void nesting_ends_somewhere(void **state)
{
    (void)state;
    cip_space *s = mem("x");
    cip_err err = CIP_ERR_INIT;
    for (int i = 1; i < CIP_SPACE_MAX_DEPTH; i++)
        s = sub(s, 0, 1);
    assert_string_equal(text_of(s), "x");
    s = sub(s, 0, 1);
    assert_int_equal(cip_space_read_at(&f.how, s, 0, &(uint8_t){ 0 }, 1, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "spaces nested over 16 deep");
}

static void a_part_of_itself_is_corrupt(void **state)
{
    (void)state;
    cip_space *s = sub(mem("x"), 0, 1);
    uint8_t b;
    const uint8_t *p;
    s->sub.in = s;
    assert_int_equal(cip_space_read_at(&f.how, s, 0, &b, 1, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_space_map(s, 0, 1, &p, NULL), CIP_ERR_UNSUPPORTED);
}

/* --- files ----------------------------------------------------------------------------------- */

typedef struct counted {
    fault_io io;
    cip_layout *layout;
    uint8_t bytes[100000];
} counted;

static counted c;

static int setup_counted(void **state)
{
    setup(state);
    for (size_t i = 0; i < sizeof c.bytes; i++)
        c.bytes[i] = (uint8_t)(i * 7 + i / 256);
    cip_io *io = fault_io_init(&c.io, &f.env, c.bytes, sizeof c.bytes);
    return (int)cip_layout_new(&f.env, io, &c.layout, NULL);
}

static int teardown_counted(void **state)
{
    cip_layout_free(c.layout);
    return teardown(state);
}

static void read_counted(const cip_want *w, size_t n, cip_pool *pool)
{
    cip_read_how how = { c.layout, pool };
    atomic_store(&c.io.reads, 0);
    atomic_store(&c.io.nbytes, 0);
    for (size_t i = 0; i < n; i++)
        memset(w[i].dst, 0, w[i].len);
    assert_int_equal(cip_space_read(&how, c.layout->file, w, n, NULL), CIP_OK);
    for (size_t i = 0; i < n; i++)
        assert_memory_equal(w[i].dst, c.bytes + w[i].off, w[i].len);
}

static void small_spans_close_together_are_one_read(void **state)
{
    (void)state;
    uint8_t b[20000];
    cip_tuning t = cip_tuning_default;
    c.layout->tuning = &t;
    cip_want w[4] = {
        { 100, 10, b }, { 4206, 10, b + 5000 }, { 8312, 4095, b + 10000 }, { 12407, 10, b + 15000 }
    };
    read_counted(w, 4, NULL);
    assert_int_equal(c.io.reads, 1);
    assert_int_equal(c.io.nbytes, 12417 - 100);
    w[1].off++; /* a gap of 4097 */
    read_counted(w, 4, NULL);
    assert_int_equal(c.io.reads, 2);
    w[1].off--;
    w[2].len++; /* no longer small: apart, and what follows with nothing before it */
    w[3].off++;
    read_counted(w, 4, NULL);
    assert_int_equal(c.io.reads, 3);
    w[2].len--;
    t.together = 12417 - 100;
    read_counted(w, 4, NULL);
    assert_int_equal(c.io.reads, 2);
    t.together++;
    read_counted(w, 4, NULL);
    assert_int_equal(c.io.reads, 1);
    w[0].len = 4096;
    w[1].off = 4196;
    w[2].off = 8302;
    read_counted(w, 4, NULL);
    assert_int_equal(c.io.reads, 2);
}

static void many_spans_far_apart_are_read_in_lists(void **state)
{
    (void)state;
    static uint8_t b[300];
    cip_want w[300];
    cip_tuning t = cip_tuning_default;
    t.near = 1;
    c.layout->tuning = &t;
    for (size_t i = 0; i < 300; i++)
        w[i] = (cip_want){ 300 * i, 1, b + i };
    read_counted(w, 300, NULL);
    assert_int_equal(c.io.reads, 300);
    assert_int_equal(c.io.nbytes, 300);
}

static void large_spans_are_shared_out(void **state)
{
    (void)state;
    static uint8_t b[100000];
    cip_pool *pool;
    cip_tuning t = cip_tuning_default;
    cip_want w[3] = { { 0, 30000, b }, { 30010, 10, b + 30000 }, { 31000, 69000, b + 30010 } };
    t.large = 20000;
    t.piece = 7000;
    c.layout->tuning = &t;
    assert_int_equal(cip_pool_new(2, &pool, NULL), CIP_OK);
    read_counted(w, 3, pool);
    assert_int_equal(c.io.reads, 5 + 1 + 10);
    t.large = 30001;
    read_counted(w, 3, pool);
    assert_int_equal(c.io.reads, 2 + 10);
    t.job_wants = 1;
    read_counted(w, 2, pool);
    assert_int_equal(c.io.reads, 2);
    read_counted(w, 3, NULL);
    assert_int_equal(c.io.reads, 3);
    cip_pool_free(pool);
}

static void the_lowest_failing_read_is_told(void **state)
{
    (void)state;
    static uint8_t b[100000];
    cip_read_how how = { c.layout, NULL };
    cip_err err = CIP_ERR_INIT;
    c.io.fail_at = 1;
    c.layout->file->label = "the file";
    assert_int_equal(cip_space_read_at(&how, c.layout->file, 10, b, 100, &err), CIP_ERR_IO);
    assert_int_equal(err.offset, 10);
    assert_string_equal(err.part, "the file");
}

static void positions_in_errors_are_those_of_the_file(void **state)
{
    (void)state;
    cip_space *deep = sub(sub(f.layout->file, 1000, 500), 20, 100);
    assert_int_equal(cip_space_file_offset(f.layout->file, 5), 5);
    assert_int_equal(cip_space_file_offset(deep, 5), 1025);
    assert_int_equal(cip_space_file_offset(deep, 101), CIP_NO_OFFSET);
    assert_int_equal(cip_space_file_offset(mem("abc"), 1), CIP_NO_OFFSET);
    assert_int_equal(cip_space_file_offset(c.layout->file, 7), 7);
    c.io.io.base = 100;
    assert_int_equal(cip_space_file_offset(c.layout->file, 7), 107);
    c.io.io.base = UINT64_MAX;
    assert_int_equal(cip_space_file_offset(c.layout->file, 7), CIP_NO_OFFSET);
}

/* --- in place -------------------------------------------------------------------------------- */

static cip_status give(void *self, cip_space **out, cip_err *err)
{
    (void)err;
    *out = self;
    return CIP_OK;
}

static void plain_parts_are_mapped_in_place(void **state)
{
    (void)state;
    const uint8_t *p = NULL;
    cip_space *s = mem("0123456789"), *lazy;
    assert_int_equal(cip_space_map(sub(s, 2, 5), 1, 4, &p, NULL), CIP_OK);
    assert_memory_equal(p, "3456", 4);
    cip_space *part = sub(f.layout->file, 50, 6);
    assert_int_equal(cip_space_map(part, 1, 5, &p, NULL), CIP_OK);
    assert_ptr_equal(p, f.file + 51);
    assert_int_equal(cip_space_map(part, 1, 6, &p, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_space_map(part, UINT64_MAX, 2, &p, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_space_new_lazy(f.layout, give, sub(s, 2, 3), &lazy, NULL), CIP_OK);
    assert_int_equal(cip_space_map(lazy, 0, 1, &p, NULL), CIP_OK);
    assert_memory_equal(p, "2", 1);
    assert_int_equal(cip_space_map(sub(lazy, 0, 3), 1, 1, &p, NULL), CIP_OK);
    assert_memory_equal(p, "3", 1);
    assert_int_equal(cip_space_map(mem(""), 0, 0, &p, NULL), CIP_OK);
    assert_non_null(p);
}

static void what_cannot_be_mapped_says_so(void **state)
{
    (void)state;
    const uint8_t *p = NULL;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_space_map(c.layout->file, 0, 1, &p, &err), CIP_ERR_UNSUPPORTED);
    assert_null(p);
    uint8_t *bytes = fake_random(&f, 100);
    cip_space *s = fake_space(&f, FAKE_SEQ, bytes, 100, 0, true);
    assert_int_equal(cip_space_map(s, 0, 1, &p, &err), CIP_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "the bytes are not contiguous");
}

static void only_memory_is_borrowed(void **state)
{
    (void)state;
    const uint8_t *bytes;
    cip_space *s = mem("0123456789");
    assert_ptr_equal(cip_space_borrow(sub(s, 2, 5), 1, 4), s->mem.ptr + 3);
    assert_null(cip_space_borrow(sub(s, 2, 5), 1, 5));
    assert_int_equal(cip_io_map(f.layout->io, &bytes, NULL), CIP_OK); /* a file in memory */
    assert_ptr_equal(cip_space_borrow(sub(f.layout->file, 2, 5), 1, 4), bytes + 3);
    assert_null(cip_space_borrow(f.layout->file, f.layout->file->len, 1));
    assert_null(cip_space_borrow(c.layout->file, 1, 4));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define COUNTED(name) cmocka_unit_test_setup_teardown(name, setup_counted, teardown_counted)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(spans_end_where_the_space_does),
        TEST(spans_that_do_not_rise_are_the_callers_fault),
        TEST(parts_of_parts_are_read_where_they_lie),

        TEST(nesting_ends_somewhere),
        TEST(a_part_of_itself_is_corrupt),
        COUNTED(small_spans_close_together_are_one_read),
        COUNTED(many_spans_far_apart_are_read_in_lists),
        COUNTED(large_spans_are_shared_out),
        COUNTED(the_lowest_failing_read_is_told),
        COUNTED(positions_in_errors_are_those_of_the_file),
        TEST(plain_parts_are_mapped_in_place),
        COUNTED(what_cannot_be_mapped_says_so),
        COUNTED(only_memory_is_borrowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
