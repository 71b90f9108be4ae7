/* SPDX-License-Identifier: BSD-3-Clause
 * What holds for every io, shown over memory, the caller's methods and parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "io/io.h"
#include "support/fail_alloc.h"
#include "support/fault_io.h"
#include "support/own_env.h"

static const uint8_t ten[10] = { 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 };

static cip_io *open_ten(void)
{
    cip_io *io;
    assert_int_equal(cip_io_open_memory(&env, ten, sizeof ten, "ten", &io, NULL), CIP_OK);
    return io;
}

static void a_read_may_end_at_the_end_and_not_behind_it(void **state)
{
    (void)state;
    uint8_t b[12] = { 0 };
    cip_err err = CIP_ERR_INIT;
    cip_io *io = open_ten();
    assert_int_equal(cip_io_read(io, 0, b, 10, &err), CIP_OK);
    assert_memory_equal(b, ten, 10);
    assert_int_equal(cip_io_read(io, 9, b, 1, &err), CIP_OK);
    assert_int_equal(b[0], 19);
    assert_int_equal(err.code, 0);
    assert_int_equal(cip_io_read(io, 9, b, 2, &err), CIP_ERR_TRUNCATED);
    assert_int_equal(err.offset, 9);
    assert_string_equal(err.text, "expected 2 bytes, found 1");
    assert_int_equal(cip_io_read(io, 0, b, 11, &err), CIP_ERR_TRUNCATED);
    assert_string_equal(err.text, "expected 11 bytes, found 10");
    assert_int_equal(cip_io_read(io, UINT64_MAX, b, 2, &err), CIP_ERR_TRUNCATED);
    assert_string_equal(err.text, "expected 2 bytes, found 0");
    assert_int_equal(cip_io_read(io, 5, b, SIZE_MAX, &err), CIP_ERR_TRUNCATED);
    cip_io_close(io);
}

static void an_empty_read_needs_a_place_too(void **state)
{
    (void)state;
    cip_io *io = open_ten();
    assert_int_equal(cip_io_read(io, 10, NULL, 0, NULL), CIP_OK);
    assert_int_equal(cip_io_read(io, 11, NULL, 0, NULL), CIP_ERR_TRUNCATED);
    cip_io_close(io);
}

static void read_some_gives_what_there_is(void **state)
{
    (void)state;
    uint8_t b[12] = { 0 };
    size_t got = 99;
    cip_io *io = open_ten();
    assert_int_equal(cip_io_read_some(io, 8, b, 2, &got, NULL), CIP_OK);
    assert_int_equal(got, 2);
    assert_int_equal(cip_io_read_some(io, 7, b, 12, &got, NULL), CIP_OK);
    assert_int_equal(got, 3);
    assert_memory_equal(b, ten + 7, 3);
    assert_int_equal(b[3], 0);
    assert_int_equal(cip_io_read_some(io, 10, b, 1, &got, NULL), CIP_OK);
    assert_int_equal(got, 0);
    got = 99;
    assert_int_equal(cip_io_read_some(io, UINT64_MAX, b, 12, &got, NULL), CIP_OK);
    assert_int_equal(got, 0);
    cip_io_close(io);
}

static void read_some_that_fails_leaves_got_alone(void **state)
{
    (void)state;
    fault_io f;
    uint8_t b[10];
    size_t got = 99;
    cip_io *io = fault_io_init(&f, &env, ten, sizeof ten);
    f.fail_at = 1;
    assert_int_equal(cip_io_read_some(io, 0, b, 10, &got, NULL), CIP_ERR_IO);
    assert_int_equal(got, 99);
}

static void ranges_are_checked_before_any_is_read(void **state)
{
    (void)state;
    fault_io f;
    uint8_t b[8] = { 0 };
    cip_err err = CIP_ERR_INIT;
    cip_io *io = fault_io_init(&f, &env, ten, sizeof ten);
    cip_range r[2] = { { 0, 4, b }, { 7, 4, b + 4 } };
    assert_int_equal(cip_io_read_ranges(io, r, 2, &err), CIP_ERR_TRUNCATED);
    assert_int_equal(err.offset, 7);
    assert_int_equal(f.reads, 0);
    r[1].nbytes = 3;
    assert_int_equal(cip_io_read_ranges(io, r, 2, &err), CIP_OK);
    assert_memory_equal(b, "\x0a\x0b\x0c\x0d\x11\x12\x13", 7);
    assert_int_equal(f.reads, 2);
    assert_int_equal(f.nbytes, 7);
    assert_int_equal(f.highest, 10);
    assert_int_equal(cip_io_read_ranges(io, NULL, 0, &err), CIP_OK);
}

static void a_failing_range_ends_the_call(void **state)
{
    (void)state;
    fault_io f;
    uint8_t b[6] = { 0 };
    cip_err err = CIP_ERR_INIT;
    cip_io *io = fault_io_init(&f, &env, ten, sizeof ten);
    /* falling, so that each is a call of its own */
    cip_range r[3] = { { 6, 2, b }, { 3, 2, b + 2 }, { 0, 2, b + 4 } };
    f.fail_at = 2;
    f.status = CIP_ERR_TRUNCATED;
    f.filled = 1;
    assert_int_equal(cip_io_read_ranges(io, r, 3, &err), CIP_ERR_TRUNCATED);
    assert_int_equal(err.offset, 3);
    assert_memory_equal(b, "\x10\x11\x0d\0\0\0", 6);
    assert_int_equal(f.reads, 2);
}

/* What the methods below were asked for, and what they answer. */
typedef struct seen {
    size_t calls, nrange[8], nall;
    cip_range all[16];
    uint64_t size;
    int status;
    bool mute, unterminated;
    char member[64];
    cip_io_methods answer;
    int closed;
    struct seen *child;
} seen;

static cip_status seen_answer(seen *s, cip_err *err)
{
    if (s->status != 0 && !s->mute)
        cip_fail(err, CIP_ERR_BUSY, 5, "the reason");
    if (s->unterminated)
        memset(err->text, 'x', sizeof err->text);
    if (s->unterminated)
        memset(err->part, 'y', sizeof err->part);
    return (cip_status)s->status;
}

static cip_status seen_read(void *user, const cip_range *r, size_t n, cip_err *err)
{
    seen *s = user;
    s->nrange[s->calls++] = n;
    for (size_t i = 0; i < n; i++) {
        s->all[s->nall++] = r[i];
        memcpy(r[i].dst, ten + r[i].offset, r[i].nbytes);
    }
    return seen_answer(s, err);
}

static cip_status seen_size(void *user, uint64_t *nbytes, cip_err *err)
{
    seen *s = user;
    *nbytes = s->size;
    return s->nall == 0 ? seen_answer(s, err) : CIP_OK;
}

static cip_status seen_member(void *user, const char *name, cip_io_methods *m, void **member_user,
                              cip_err *err)
{
    seen *s = user;
    assert_true(strlen(name) < sizeof s->member);
    strcpy(s->member, name);
    *m = s->answer;
    *member_user = s->child;
    return seen_answer(s, err);
}

static void seen_close(void *user)
{
    ((seen *)user)->closed++;
}

static cip_io_methods seen_methods(void)
{
    return (cip_io_methods){
        CIP_IO_METHODS_INIT,        .read_ranges = seen_read, .size = seen_size,
        .open_member = seen_member, .close = seen_close,
    };
}

static cip_io *open_seen(seen *s)
{
    cip_io_methods m = seen_methods();
    cip_io *io;
    assert_int_equal(cip_io_open_user(&env, &m, s, &io, NULL), CIP_OK);
    memset(&m, 0xff, sizeof m); /* they were copied */
    return io;
}

static void methods_see_only_ranges_that_rise_and_are_not_empty(void **state)
{
    (void)state;
    seen s = { .size = 10 };
    uint8_t b[16] = { 0 };
    cip_io *io = open_seen(&s);
    const cip_range r[] = { { 10, 0, NULL }, { 0, 2, b },     { 2, 1, b + 2 }, { 5, 1, b + 3 },
                            { 5, 2, b + 4 }, { 9, 1, b + 6 }, { 9, 0, NULL },  { 8, 1, b + 7 },
                            { 8, 1, b + 8 }, { 0, 0, NULL },  { 0, 0, NULL },  { 1, 3, b + 9 },
                            { 3, 2, b + 12 } };
    assert_int_equal(cip_io_read_ranges(io, r, sizeof r / sizeof r[0], NULL), CIP_OK);
    const uint8_t expected[] = { 10, 11, 12, 15, 15, 16, 19, 18, 18, 11, 12, 13, 13, 14 };
    assert_memory_equal(b, expected, sizeof expected);
    const size_t runs[] = { 3, 2, 1, 1, 1, 1 };
    assert_int_equal(s.calls, 6);
    assert_memory_equal(s.nrange, runs, sizeof runs);
    for (size_t i = 0; i < s.nall; i++)
        assert_int_not_equal(s.all[i].nbytes, 0);
    cip_io_close(io);
    assert_int_equal(s.closed, 1);
}

static void methods_that_are_not_whole_are_refused(void **state)
{
    (void)state;
    seen s = { .size = 10 };
    cip_io *io = (cip_io *)&s;
    cip_io_methods m = seen_methods();
    m.struct_size = 0;
    assert_int_equal(cip_io_open_user(&env, &m, &s, &io, NULL), CIP_ERR_ARG);
    assert_null(io);
    m.struct_size = sizeof m + 8;
    assert_int_equal(cip_io_open_user(&env, &m, &s, &io, NULL), CIP_ERR_ARG);
    m = seen_methods();
    m.read_ranges = NULL;
    assert_int_equal(cip_io_open_user(&env, &m, &s, &io, NULL), CIP_ERR_ARG);
    m = seen_methods();
    m.size = NULL;
    assert_int_equal(cip_io_open_user(&env, &m, &s, &io, NULL), CIP_ERR_ARG);
    assert_int_equal(s.closed, 2); /* not by methods of another version */
}

static void methods_may_lack_members_and_close(void **state)
{
    (void)state;
    seen s = { .size = 10 };
    cip_io *io, *member = (cip_io *)&s;
    cip_io_methods m = seen_methods();
    m.open_member = NULL;
    m.close = NULL;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_io_open_user(&env, &m, &s, &io, NULL), CIP_OK);
    assert_int_equal(cip_io_open_member(io, "x", 0, &member, &err), CIP_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "'x' cannot be opened: the caller's methods know no members");
    assert_null(member);
    cip_io_close(io);
    assert_int_equal(s.closed, 0);
}

static void a_failing_method_gives_its_reason(void **state)
{
    (void)state;
    seen s = { .size = 10 };
    uint8_t b[4];
    cip_err err = CIP_ERR_INIT;
    cip_io *io = open_seen(&s);
    s.status = CIP_ERR_NOT_FOUND;
    assert_int_equal(cip_io_read(io, 3, b, 4, &err), CIP_ERR_NOT_FOUND);
    assert_int_equal(err.code, CIP_ERR_NOT_FOUND);
    assert_int_equal(err.offset, 5);
    assert_string_equal(err.text, "the reason");
    assert_int_equal(cip_io_read(io, 3, b, 4, NULL), CIP_ERR_NOT_FOUND);
    cip_io_close(io);
}

static void a_failing_method_without_a_reason_gets_one(void **state)
{
    (void)state;
    seen s = { .size = 10 };
    uint8_t b[4];
    cip_err err = CIP_ERR_INIT;
    cip_io *io = open_seen(&s);
    s.mute = true;
    s.status = CIP_ERR_CANCELLED;
    assert_int_equal(cip_io_read(io, 3, b, 4, &err), CIP_ERR_CANCELLED);
    assert_int_equal(err.code, CIP_ERR_CANCELLED);
    assert_int_equal(err.offset, 3);
    assert_string_equal(err.text, "the caller's read_ranges failed without a reason");
    cip_io_close(io);
}

static void a_status_that_is_none_becomes_an_io_error(void **state)
{
    (void)state;
    uint8_t b[4];
    const int bad[] = { -1, CIP_ERR_EXISTS + 1, 1 << 20 };
    for (size_t i = 0; i < 3; i++) {
        seen s = { .size = 10 };
        cip_err err = CIP_ERR_INIT;
        cip_io *io = open_seen(&s);
        s.status = bad[i];
        assert_int_equal(cip_io_read(io, 3, b, 4, &err), CIP_ERR_IO);
        assert_int_equal(err.code, CIP_ERR_IO);
        cip_io_close(io);
    }
}

static void an_unterminated_reason_is_cut(void **state)
{
    (void)state;
    seen s = { .size = 10 };
    uint8_t b[4];
    cip_err err = CIP_ERR_INIT;
    cip_io *io = open_seen(&s);
    s.status = CIP_ERR_IO;
    s.unterminated = true;
    assert_int_equal(cip_io_read(io, 3, b, 4, &err), CIP_ERR_IO);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(strlen(err.part), sizeof err.part - 1);
    cip_io_close(io);
}

static void a_failing_size_fails_the_opening(void **state)
{
    (void)state;
    seen s = { .size = 10, .status = CIP_ERR_NOT_FOUND };
    cip_io *io = (cip_io *)&s;
    cip_err err = CIP_ERR_INIT;
    cip_io_methods m = seen_methods();
    assert_int_equal(cip_io_open_user(&env, &m, &s, &io, &err), CIP_ERR_NOT_FOUND);
    assert_string_equal(err.text, "the reason");
    assert_null(io);
    assert_int_equal(s.closed, 1);
    s.mute = true;
    assert_int_equal(cip_io_open_user(&env, &m, &s, &io, &err), CIP_ERR_NOT_FOUND);
    assert_string_equal(err.text, "the caller's size failed without a reason");
}

static void members_of_methods_get_a_clean_name(void **state)
{
    (void)state;
    seen child = { .size = 4 }, s = { .size = 10, .answer = seen_methods(), .child = &child };
    uint8_t b[4];
    cip_io *io = open_seen(&s), *member;
    assert_int_equal(cip_io_open_member(io, "a/./b%20c/../x.asdf#/p", 0, &member, NULL), CIP_OK);
    assert_string_equal(s.member, "a/x.asdf");
    assert_string_equal(member->name, "a/x.asdf");
    assert_int_equal(member->size, 4);
    cip_io_close(io);
    assert_int_equal(s.closed, 1);
    assert_int_equal(cip_io_read(member, 0, b, 4, NULL), CIP_OK);
    assert_int_equal(child.calls, 1);
    cip_io_close(member);
    assert_int_equal(child.closed, 1);
}

static void members_of_methods_never_lie_outside(void **state)
{
    (void)state;
    static const char *const outside[] = { "/x", "../x", "..", "../../x", "file:///x" };
    seen s = { .size = 10, .answer = seen_methods() };
    cip_io *io = open_seen(&s), *member;
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        assert_int_equal(cip_io_open_member(io, outside[i], CIP_IO_EXTERNAL, &member, NULL),
                         CIP_ERR_UNSUPPORTED);
        assert_null(member);
    }
    assert_string_equal(s.member, "");
    seen child = { .size = 4 };
    s.child = &child;
    assert_int_equal(cip_io_open_member(io, "..x", CIP_IO_EXTERNAL, &member, NULL), CIP_OK);
    assert_string_equal(s.member, "..x");
    cip_io_close(member);
    cip_io_close(io);
}

static void a_member_that_cannot_be_opened_is_given_back(void **state)
{
    (void)state;
    seen child = { .size = 4, .status = CIP_ERR_IO };
    seen s = { .size = 10, .answer = seen_methods(), .child = &child };
    cip_io *io = open_seen(&s), *member = io;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_io_open_member(io, "x", 0, &member, &err), CIP_ERR_IO);
    assert_null(member);
    assert_int_equal(child.closed, 1);
    s.answer.close = NULL;
    assert_int_equal(cip_io_open_member(io, "x", 0, &member, &err), CIP_ERR_IO);
    s.answer = seen_methods();
    s.answer.struct_size = 1; /* then nothing in it is believed */
    assert_int_equal(cip_io_open_member(io, "x", 0, &member, &err), CIP_ERR_ARG);
    assert_int_equal(child.closed, 1);
    s.status = CIP_ERR_NOT_FOUND;
    assert_int_equal(cip_io_open_member(io, "x", 0, &member, &err), CIP_ERR_NOT_FOUND);
    s.mute = true;
    assert_int_equal(cip_io_open_member(io, "x", 0, &member, &err), CIP_ERR_NOT_FOUND);
    assert_string_equal(err.text, "the caller's open_member failed without a reason");
    assert_int_equal(child.closed, 1);
    cip_io_close(io);
}

static void a_huge_size_is_no_trouble(void **state)
{
    (void)state;
    seen s = { .size = UINT64_MAX };
    cip_io *io = open_seen(&s), *part;
    uint8_t b[4];
    assert_int_equal(cip_io_read(io, UINT64_MAX - 1, b, 2, NULL), CIP_ERR_TRUNCATED);
    assert_int_equal(cip_io_open_part(io, UINT64_MAX - 4, 5, &part, NULL), CIP_ERR_RANGE);
    cip_io_close(io);
}

static void memory_is_mapped_where_it_lies(void **state)
{
    (void)state;
    const uint8_t *p = NULL;
    cip_io *io = open_ten();
    assert_int_equal(cip_io_map(io, &p, NULL), CIP_OK);
    assert_ptr_equal(p, ten);
    cip_io_close(io);
    assert_int_equal(cip_io_open_memory(&env, NULL, 0, "none", &io, NULL), CIP_OK);
    assert_int_equal(io->size, 0);
    assert_int_equal(cip_io_map(io, &p, NULL), CIP_OK);
    assert_non_null(p);
    cip_io_close(io);
    io = (cip_io *)&env;
    assert_int_equal(cip_io_open_memory(&env, NULL, 1, "none", &io, NULL), CIP_ERR_ARG);
    assert_null(io);
}

static void what_cannot_be_mapped_says_so(void **state)
{
    (void)state;
    seen s = { .size = 10 };
    const uint8_t *p = ten;
    cip_err err = CIP_ERR_INIT;
    cip_io *io = open_seen(&s), *part;
    assert_int_equal(cip_io_map(io, &p, &err), CIP_ERR_UNSUPPORTED);
    assert_ptr_equal(p, ten);
    assert_int_equal(cip_io_open_part(io, 1, 2, &part, NULL), CIP_OK);
    assert_int_equal(cip_io_map(part, &p, &err), CIP_ERR_UNSUPPORTED);
    assert_ptr_equal(p, ten);
    cip_io_close(part);
    cip_io_close(io);
}

static void memory_has_no_members(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    cip_io *io = open_ten(), *part, *member = io;
    assert_int_equal(cip_io_open_member(io, "x.asdf", 0, &member, &err), CIP_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "'x.asdf' cannot be opened: 'ten' has no folder of its own");
    assert_null(member);
    assert_int_equal(cip_io_open_part(io, 1, 2, &part, NULL), CIP_OK);
    assert_int_equal(cip_io_open_member(part, "x.asdf", 0, &member, &err), CIP_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "'x.asdf' cannot be opened: 'ten' has no folder of its own");
    cip_io_close(part);
    cip_io_close(io);
}

static void a_part_lies_within(void **state)
{
    (void)state;
    cip_io *io = open_ten(), *part = io;
    static const uint64_t bad[][2] = { { 0, 11 },
                                       { 10, 1 },
                                       { 11, 0 },
                                       { UINT64_MAX, 1 },
                                       { 1, UINT64_MAX },
                                       { 9, 2 },
                                       { UINT64_MAX, UINT64_MAX } };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        part = io;
        assert_int_equal(cip_io_open_part(io, bad[i][0], bad[i][1], &part, NULL), CIP_ERR_RANGE);
        assert_null(part);
    }
    static const uint64_t good[][2] = { { 0, 10 }, { 10, 0 }, { 9, 1 }, { 3, 4 } };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(cip_io_open_part(io, good[i][0], good[i][1], &part, NULL), CIP_OK);
        assert_int_equal(part->size, good[i][1]);
        cip_io_close(part);
    }
    cip_io_close(io);
}

static void a_part_of_a_part_reads_and_maps_its_own_bytes(void **state)
{
    (void)state;
    uint8_t b[4] = { 0 };
    const uint8_t *p;
    cip_err err = CIP_ERR_INIT;
    cip_io *io = open_ten(), *part, *inner;
    assert_int_equal(cip_io_open_part(io, 2, 7, &part, NULL), CIP_OK);
    assert_int_equal(cip_io_open_part(part, 3, 3, &inner, NULL), CIP_OK);
    assert_int_equal(cip_io_read(inner, 0, b, 3, NULL), CIP_OK);
    assert_memory_equal(b, ten + 5, 3);
    assert_int_equal(cip_io_map(inner, &p, NULL), CIP_OK);
    assert_ptr_equal(p, ten + 5);
    /* errors name the place in the file */
    assert_int_equal(cip_io_read(inner, 1, b, 3, &err), CIP_ERR_TRUNCATED);
    assert_int_equal(err.offset, 6);
    assert_int_equal(cip_io_read(inner, UINT64_MAX - 2, b, 3, &err), CIP_ERR_TRUNCATED);
    assert_int_equal(err.offset, CIP_NO_OFFSET);
    assert_int_equal(cip_io_unchanged(inner, NULL), CIP_OK);
    cip_io_close(inner);
    cip_io_close(part);
    cip_io_close(io);
}

static void a_part_passes_many_ranges_on(void **state)
{
    (void)state;
    enum { N = 200 };
    uint8_t bytes[3 * N], out[N] = { 0 };
    cip_range r[N];
    fault_io f;
    cip_io *part;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < N; i++)
        r[i] = (cip_range){ 2 * i, 1, out + i };
    cip_io *io = fault_io_init(&f, &env, bytes, sizeof bytes);
    assert_int_equal(cip_io_open_part(io, 5, 2 * N, &part, NULL), CIP_OK);
    for (size_t n = 0; n <= N; n++) {
        memset(out, 0, sizeof out);
        assert_int_equal(cip_io_read_ranges(part, r, n, NULL), CIP_OK);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(out[i], i < n ? bytes[5 + 2 * i] : 0);
    }
    f.reads = 0;
    f.fail_at = 130;
    assert_int_equal(cip_io_read_ranges(part, r, N, NULL), CIP_ERR_IO);
    assert_int_equal(f.reads, 130);
    cip_io_close(part);
}

static void a_part_keeps_the_name_and_members_of_the_whole(void **state)
{
    (void)state;
    seen child = { .size = 4 }, s = { .size = 10, .answer = seen_methods(), .child = &child };
    cip_io *io = open_seen(&s), *part, *member;
    assert_int_equal(cip_io_open_part(io, 1, 2, &part, NULL), CIP_OK);
    assert_string_equal(part->name, io->name);
    assert_int_equal(cip_io_open_member(part, "x", 0, &member, NULL), CIP_OK);
    assert_int_equal(member->size, 4);
    cip_io_close(member);
    cip_io_close(part);
    assert_int_equal(s.closed, 0);
    cip_io_close(io);
}

static void closing_nothing_is_fine(void **state)
{
    (void)state;
    cip_io_close(NULL);
}

static void each_failing_allocation_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    bool through = false;
    for (size_t n = 1; !through; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_env e;
        cip_io *io = NULL, *part = NULL, *user = NULL, *member = NULL;
        seen child = { .size = 4 }, s = { .size = 10, .answer = seen_methods(), .child = &child };
        cip_io_methods m = seen_methods();
        cip_status st;
        assert_int_equal(cip_env_init(&e, NULL, &a, NULL, NULL), CIP_OK);
        CIP_GO(cip_io_open_memory(&e, ten, 10, "ten", &io, NULL));
        CIP_GO(cip_io_open_part(io, 1, 2, &part, NULL));
        CIP_GO(cip_io_open_user(&e, &m, &s, &user, NULL));
        CIP_GO(cip_io_open_member(user, "x", 0, &member, NULL));
    done:
        through = f.requests < n;
        assert_int_equal(st, through ? CIP_OK : CIP_ERR_NOMEM);
        cip_io_close(member);
        cip_io_close(user);
        cip_io_close(part);
        cip_io_close(io);
        cip_env_clear(&e);
        assert_int_equal(f.held, 0);
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_may_end_at_the_end_and_not_behind_it),
        cmocka_unit_test(an_empty_read_needs_a_place_too),
        cmocka_unit_test(read_some_gives_what_there_is),
        cmocka_unit_test(read_some_that_fails_leaves_got_alone),
        cmocka_unit_test(ranges_are_checked_before_any_is_read),
        cmocka_unit_test(a_failing_range_ends_the_call),
        cmocka_unit_test(methods_see_only_ranges_that_rise_and_are_not_empty),
        cmocka_unit_test(methods_that_are_not_whole_are_refused),
        cmocka_unit_test(methods_may_lack_members_and_close),
        cmocka_unit_test(a_failing_method_gives_its_reason),
        cmocka_unit_test(a_failing_method_without_a_reason_gets_one),
        cmocka_unit_test(a_status_that_is_none_becomes_an_io_error),
        cmocka_unit_test(an_unterminated_reason_is_cut),
        cmocka_unit_test(a_failing_size_fails_the_opening),
        cmocka_unit_test(members_of_methods_get_a_clean_name),
        cmocka_unit_test(members_of_methods_never_lie_outside),
        cmocka_unit_test(a_member_that_cannot_be_opened_is_given_back),
        cmocka_unit_test(a_huge_size_is_no_trouble),
        cmocka_unit_test(memory_is_mapped_where_it_lies),
        cmocka_unit_test(what_cannot_be_mapped_says_so),
        cmocka_unit_test(memory_has_no_members),
        cmocka_unit_test(a_part_lies_within),
        cmocka_unit_test(a_part_of_a_part_reads_and_maps_its_own_bytes),
        cmocka_unit_test(a_part_passes_many_ranges_on),
        cmocka_unit_test(a_part_keeps_the_name_and_members_of_the_whole),
        cmocka_unit_test(closing_nothing_is_fine),
        cmocka_unit_test(each_failing_allocation_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
