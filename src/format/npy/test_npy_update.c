/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of .npy files: what becomes of the header, what is written, what is refused. That
 * elements are right is tests/property/test_update_steps.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/npy/npy.h"
#include "support/fail_alloc.h"
#include "support/one_update.h"

enum { ROOM = 1 << 12 };

typedef struct bytes {
    size_t n;
    uint8_t p[ROOM];
} bytes;

/* A file of this version whose header has `pad` blanks and a line feed behind the text. */
static bytes file_of(int major, const char *text, size_t pad, const char *data, size_t ndata)
{
    bytes b = { .n = major == 1 ? 10 : 12 };
    const size_t ntext = strlen(text), len = ntext + pad + 1;
    memcpy(b.p, "\x93NUMPY", 6);
    b.p[6] = (uint8_t)major;
    b.p[8] = (uint8_t)len;
    b.p[9] = (uint8_t)(len >> 8);
    memcpy(b.p + b.n, text, ntext);
    memset(b.p + b.n + ntext, ' ', pad);
    b.p[b.n + len - 1] = '\n';
    memcpy(b.p + b.n + len, data, ndata);
    b.n += len + ndata;
    return b;
}

/* The same as numpy pads it, of version 1.0. */
static bytes numpys(const char *text, const char *data, size_t ndata)
{
    return file_of(1, text, 117 - strlen(text), data, ndata);
}

static void open_bytes(one_update *u, const bytes *b)
{
    if (one_update_open(u, &cip_format_npy, (cip_bytes){ b->p, b->n }, NULL, NULL) != CIP_OK)
        fail_msg("%s", u->f.err.text);
}

/* The file as the update leaves it. */
static void expect(one_update *u, const bytes *want)
{
    cip_io *now;
    cip_err err = CIP_ERR_INIT;
    uint8_t found[ROOM];
    if (one_update_finish(u, &err) != CIP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(cip_revision_check(&u->r, u->f.io->size, NULL), CIP_OK);
    assert_int_equal(cip_io_open_revision(u->f.io, &u->r, &now, NULL), CIP_OK);
    assert_int_equal(now->size, want->n);
    assert_int_equal(cip_io_read(now, 0, found, want->n, NULL), CIP_OK);
    assert_memory_equal(found, want->p, want->n);
    cip_io_close(now);
    one_update_close(u);
}

static void expect_shape(const bytes *was, const int64_t *shape, const bytes *want)
{
    one_update u;
    open_bytes(&u, was);
    assert_int_equal(one_update_shape(&u, shape), CIP_OK);
    expect(&u, want);
}

static void rows_change_the_header_in_its_room(void **state)
{
    (void)state;
    one_update u;
    one_bytes more = { (const uint8_t *)"gh", 1 };
    const bytes was = numpys("{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }",
                             "abcdef", 6),
                now = numpys("{'descr': '|u1', 'fortran_order': False, 'shape': (4, 2), }",
                             "abcdefgh", 8);
    open_bytes(&u, &was);
    assert_int_equal(one_update_rows(&u, 1, &(cip_feed){ .next = one_next, .self = &more }),
                     CIP_OK);
    assert_int_equal(one_update_finish(&u, NULL), CIP_OK);
    assert_true(u.r.has_tail && !u.r.anew);
    assert_int_equal(u.r.tail_off, was.n);
    assert_int_equal(u.r.tail_len, 2);
    assert_int_equal(u.r.head, 128); /* a reader of the old rows may go on */
    cip_revision_clear(&u.r);
    u.r = (cip_revision){ .patch = { .arena = { .mem = &u.f.env.mem } } };
    expect(&u, &now);
    expect_shape(&now, (int64_t[]){ 3, 2 }, &was);
}

static void elements_leave_the_header(void **state)
{
    (void)state;
    one_update u;
    one_bytes other = { (const uint8_t *)"XY", 1 };
    const char *text = "{'shape':(2L,3), 'fortran_order':True,'descr':u'|u1'}";
    const bytes was = file_of(1, text, 3, "abcdefbehind", 12),
                now = file_of(1, text, 3, "abcdXYbehind", 12);
    const cip_nd at = { .off = 4, .itemsize = 1, .ndim = 1, .shape = { 2 }, .stride = { 1 } };
    open_bytes(&u, &was);
    assert_int_equal(one_update_elements(&u, &at, &(cip_feed){ .next = one_next, .self = &other }),
                     CIP_OK);
    expect(&u, &now);
    open_bytes(&u, &was);
    assert_int_equal(one_update_finish(&u, NULL), CIP_OK); /* nothing changed */
    assert_false(u.r.has_tail || u.r.patch.n != 0);
    one_update_close(&u);
}

/* Its dtype stays as it is written, and what lies behind the array stays behind it. */
static void a_header_that_does_not_fit_moves_the_data(void **state)
{
    (void)state;
    const bytes was =
                    file_of(1,
                            "{'descr': [(\"it's\", '|u1'), ('b', '>i2')], 'fortran_order': False, "
                            "'shape': (1,), }",
                            0, "abcbehind", 9),
                now = numpys("{'descr': [(\"it's\", '|u1'), ('b', '>i2')], 'fortran_order': False, "
                             "'shape': (10,), }",
                             "abc\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0behind", 36),
                none =
                    numpys("{'descr': [(\"it's\", '|u1'), ('b', '>i2')], 'fortran_order': False, "
                           "'shape': (0,), }",
                           "behind", 6);
    expect_shape(&was, (int64_t[]){ 10 }, &now);
    expect_shape(&now, (int64_t[]){ 0 }, &none);
}

static void version_and_names_are_kept(void **state)
{
    (void)state;
    /* UTF-8 in 3.0; Latin-1 in 1.0, and in 2.0 though 1.0 would do */
    for (int major = 1; major <= 3; major++) {
        char one[128], two[128];
        const char *name = major == 3 ? "\xce\xbb\xc3\xa9" : "\xe9";
        const char *form = "{'descr': [('%s', '|u1')], 'fortran_order': False, 'shape': (%d,), }";
        snprintf(one, sizeof one, form, name, 1);
        snprintf(two, sizeof two, form, name, 20);
        const bytes was = file_of(major, one, 9, "a", 1),
                    now = file_of(major, two, 8, "a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
        expect_shape(&was, (int64_t[]){ 20 }, &now);
    }
    /* where they move, the version is the one that numpy takes */
    const bytes was = file_of(
                    3, "{'descr': [('\xc3\xa9', '|u1')], 'fortran_order': False, 'shape': (1,), }",
                    0, "a", 1),
                now =
                    numpys("{'descr': [('\xe9', '|u1')], 'fortran_order': False, 'shape': (10,), }",
                           "a\0\0\0\0\0\0\0\0\0", 10);
    expect_shape(&was, (int64_t[]){ 10 }, &now);
}

static void expect_refused(const bytes *b, uint32_t flags, const cip_spec *how, const char *text)
{
    one_update u = { .format = &cip_format_npy };
    void *state = NULL;
    assert_int_equal(one_open(&u.f, &cip_format_npy, b->p, b->n, flags, NULL), CIP_OK);
    u.arena.mem = u.r.patch.arena.mem = &u.f.env.mem;
    assert_int_equal(one_update_begin(&u, how, &state), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(u.f.err.text, text));
    one_update_close(&u);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    one_update u;
    const cip_spec none = { .big = -1 }, lz4 = { .codec = "lz4" }, md5 = { .checksum = "md5" };
    const bytes fortran =
        numpys("{'descr': '|u1', 'fortran_order': True, 'shape': (3, 1), }", "abc", 3);
    const bytes of_4 =
        file_of(4, "{'descr': '|u1', 'fortran_order': True, 'shape': (), }", 9, "a", 1);
    expect_refused(&fortran, 0, &lz4, "expected no codec");
    expect_refused(&fortran, 0, &md5, "no checksums");
    expect_refused(&of_4, CIP_OPEN_FORCE, &none, "found 4.0");
    open_bytes(&u, &fortran);
    assert_int_equal(one_update_form(&u, CIP_CHANGE_ROWS, NULL, &err), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "found Fortran order"));
    assert_int_equal(one_update_form(&u, CIP_CHANGE_ELEMENTS, NULL, &err), CIP_OK);
    one_update_close(&u);
    const bytes of_one_axis =
                    numpys("{'descr': '|u1', 'fortran_order': True, 'shape': (3,), }", "abc", 3),
                shorter =
                    numpys("{'descr': '|u1', 'fortran_order': True, 'shape': (2,), }", "ab", 2);
    expect_shape(&of_one_axis, (int64_t[]){ 2 }, &shorter);
}

/* One that could not be read again. */
static void a_header_over_the_limit_is_refused(void **state)
{
    (void)state;
    cip_env env;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
    uint8_t *literal = malloc(CIP_NPY_HEADER_MAX);
    memset(literal, 'x', CIP_NPY_HEADER_MAX);
    cip_buf out = { .mem = &env.mem };
    const cip_npy_header h = { .pre = { 2, 0, 12, 100 },
                               .literal = { literal, CIP_NPY_HEADER_MAX } };
    assert_int_equal(cip_npy_header_write(&env, &h, &out, &err), CIP_ERR_UNSUPPORTED);
    assert_int_equal(out.len, 0);
    cip_buf_clear(&out);
    free(literal);
    cip_env_clear(&env);
}

static void a_failing_allocation_is_passed_on(void **state)
{
    (void)state;
    const bytes was =
        file_of(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", 0, "abc", 3);
    for (size_t n = 1;; n++) {
        one_update u;
        fail_alloc alloc = { 0 };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        assert_int_equal(
            one_update_open(&u, &cip_format_npy, (cip_bytes){ was.p, was.n }, NULL, &from), CIP_OK);
        const size_t before = alloc.requests;
        alloc.fail_at = before + n;
        cip_status st = one_update_shape(&u, (int64_t[]){ 12 });
        if (st == CIP_OK)
            st = one_update_finish(&u, NULL);
        const bool failed = alloc.requests >= before + n;
        if (st != CIP_OK || !failed) /* what is kept for later gives way first */
            assert_int_equal(st, failed ? CIP_ERR_NOMEM : CIP_OK);
        one_update_close(&u);
        assert_int_equal(alloc.held, 0);
        if (!failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_change_the_header_in_its_room),
        cmocka_unit_test(elements_leave_the_header),
        cmocka_unit_test(a_header_that_does_not_fit_moves_the_data),
        cmocka_unit_test(version_and_names_are_kept),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_header_over_the_limit_is_refused),
        cmocka_unit_test(a_failing_allocation_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
