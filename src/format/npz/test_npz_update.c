/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of .npz files: elements and CRCs in place, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "format/npz/npz.h"
#include "support/fail_alloc.h"
#include "support/one_update.h"

#define CORPUS CIP_SOURCE_DIR "/src/format/npz/corpus/fuzz_npz/"

static uint8_t file[4096];

static cip_bytes load(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, CORPUS "%s.npz", name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    const size_t n = fread(file, 1, sizeof file, in);
    fclose(in);
    return (cip_bytes){ file, n };
}

/* float32 9 for element 4 of the first array, which is 2 x 3. */
static const uint8_t nine[] = { 0, 0, 0x10, 0x41 };

static cip_status put_nine(one_update *u)
{
    one_bytes from = { nine, sizeof nine };
    cip_nd at = u->f.layout->array[0]->view;
    at.ndim = 1;
    at.shape[0] = 1;
    at.off = 16;
    return one_update_elements(u, &at, &(cip_feed){ .next = one_next, .self = &from });
}

static void elements_change_with_their_crc(void **state)
{
    (void)state;
    one_update u;
    one_file now;
    cip_io *io;
    size_t n;
    static uint8_t found[sizeof file];
    assert_int_equal(one_update_open(&u, &cip_format_npz, load("same-two"), NULL, NULL), CIP_OK);
    assert_int_equal(put_nine(&u), CIP_OK);
    assert_int_equal(one_update_finish(&u, NULL), CIP_OK);
    assert_int_equal(u.r.patch.n, 3);
    assert_false(u.r.has_tail);
    assert_int_equal(cip_revision_check(&u.r, u.f.io->size, NULL), CIP_OK);
    assert_int_equal(cip_io_open_revision(u.f.io, &u.r, &io, NULL), CIP_OK);
    assert_int_equal(io->size, u.f.io->size);
    assert_int_equal(cip_io_read(io, 0, found, (size_t)io->size, NULL), CIP_OK);
    /* Checked: each member is compared with its CRC before it is read. */
    assert_int_equal(one_open(&now, &cip_format_npz, found, (size_t)io->size, CIP_OPEN_CHECK, NULL),
                     CIP_OK);
    for (size_t i = 0; i < 2; i++) {
        uint8_t *raw = one_read(&now, i, &n), *was = one_read(&u.f, i, &n);
        assert_non_null(raw);
        if (i == 0)
            memcpy(was + 16, nine, sizeof nine);
        assert_memory_equal(raw, was, n);
        free(raw);
        free(was);
    }
    one_close(&now);
    cip_io_close(io);
    one_update_close(&u);
}

/* The file as it is then, each member compared with its CRC before it is read. */
static void finish(one_update *u, one_file *now)
{
    static uint8_t found[2 * sizeof file];
    cip_err err = CIP_ERR_INIT;
    cip_io *io;
    if (one_update_finish(u, &err) != CIP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(cip_revision_check(&u->r, u->f.io->size, NULL), CIP_OK);
    assert_int_equal(cip_io_open_revision(u->f.io, &u->r, &io, NULL), CIP_OK);
    assert_in_range(io->size, 1, sizeof found);
    assert_int_equal(cip_io_read(io, 0, found, (size_t)io->size, NULL), CIP_OK);
    if (one_open(now, &cip_format_npz, found, (size_t)io->size, CIP_OPEN_CHECK, NULL) != CIP_OK)
        fail_msg("%s", now->err.text);
    cip_io_close(io);
}

/* `changed`: of the first array, n bytes; the others are as they were. */
static void assert_arrays(one_file *now, one_file *was, const uint8_t *changed, size_t n)
{
    size_t len, want = n;
    assert_int_equal(now->layout->narray, was->layout->narray);
    for (size_t i = 0; i < now->layout->narray; i++) {
        assert_string_equal(now->layout->array[i]->path, was->layout->array[i]->path);
        if (was->layout->array[i]->st != CIP_OK)
            continue;
        uint8_t *raw = one_read(now, i, &len), *old = i == 0 ? NULL : one_read(was, i, &want);
        if (raw == NULL)
            fail_msg("%s", now->err.text);
        assert_int_equal(len, want);
        assert_memory_equal(raw, i == 0 ? changed : old, len);
        free(raw);
        free(old);
    }
}

static const char *const members[] = { "same-two", "good-deflated", "good-piped",
                                       "good-piped-deflated" };
enum { NMEMBER = sizeof members / sizeof *members };

static void members_get_other_shapes(void **state)
{
    (void)state;
    static const int64_t rows[] = { 0, 1, 2, 3, 40 };
    for (size_t i = 0; i < NMEMBER; i++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            one_update u;
            one_file now;
            size_t n;
            uint8_t want[40 * 12] = { 0 };
            const int64_t shape[] = { rows[k], 3 };
            assert_int_equal(one_update_open(&u, &cip_format_npz, load(members[i]), NULL, NULL),
                             CIP_OK);
            uint8_t *was = one_read(&u.f, 0, &n);
            assert_int_equal(n, 24);
            memcpy(want, was, rows[k] < 2 ? (size_t)rows[k] * 12 : 24);
            free(was);
            assert_int_equal(one_update_shape(&u, shape), CIP_OK);
            finish(&u, &now);
            assert_arrays(&now, &u.f, want, (size_t)rows[k] * 12);
            one_close(&now);
            one_update_close(&u);
        }
}

static void rows_come_behind_what_stays(void **state)
{
    (void)state;
    for (size_t i = 0; i < NMEMBER; i++) {
        one_update u;
        one_file now;
        size_t n;
        uint8_t want[36], more[12];
        one_bytes from = { more, 4 };
        memset(more, 0x41, sizeof more);
        assert_int_equal(one_update_open(&u, &cip_format_npz, load(members[i]), NULL, NULL),
                         CIP_OK);
        uint8_t *was = one_read(&u.f, 0, &n);
        memcpy(want, was, 24);
        memcpy(want + 16, nine, sizeof nine);
        memcpy(want + 24, more, sizeof more);
        free(was);
        assert_int_equal(put_nine(&u), CIP_OK);
        assert_int_equal(one_update_rows(&u, 1, &(cip_feed){ .next = one_next, .self = &from }),
                         CIP_OK);
        finish(&u, &now);
        assert_true(u.r.has_tail);
        if (i == 0) /* the elements before stay where they are */
            assert_int_equal(u.r.tail_off, ((cip_npz *)u.f.layout->own)->at[0].off + 128 + 24);
        assert_arrays(&now, &u.f, want, sizeof want);
        one_close(&now);
        one_update_close(&u);
    }
}

static void elements_of_any_member_change(void **state)
{
    (void)state;
    for (size_t i = 1; i < NMEMBER; i++) {
        one_update u;
        one_file now;
        size_t n;
        assert_int_equal(one_update_open(&u, &cip_format_npz, load(members[i]), NULL, NULL),
                         CIP_OK);
        uint8_t *want = one_read(&u.f, 0, &n);
        memcpy(want + 16, nine, sizeof nine);
        assert_int_equal(put_nine(&u), CIP_OK);
        finish(&u, &now);
        assert_arrays(&now, &u.f, want, n);
        free(want);
        one_close(&now);
        one_update_close(&u);
    }
}

/* What is damaged gets no right CRC: a member that is written again is compared with its own first;
 * where rows come behind the others, the CRC stays as wrong. */
static void damage_is_still_found(void **state)
{
    (void)state;
    static const int64_t shape[2][2] = { { 1, 3 }, { 4, 3 } };
    for (size_t i = 0; i < 2; i++) {
        one_update u;
        one_file now;
        size_t len;
        cip_err err = CIP_ERR_INIT;
        const cip_bytes b = load("same-two");
        uint8_t *one = memmem(file, b.len, "\0\0\x80\x3f", 4);
        assert_non_null(one);
        one[2] ^= 1;
        assert_int_equal(one_update_open(&u, &cip_format_npz, b, NULL, NULL), CIP_OK);
        assert_int_equal(one_update_shape(&u, shape[i]), CIP_OK);
        if (i == 0) {
            assert_int_equal(one_update_finish(&u, &err), CIP_ERR_CHECKSUM);
        } else {
            finish(&u, &now);
            assert_null(one_read(&now, 0, &len));
            assert_int_equal(now.err.code, CIP_ERR_CHECKSUM);
            one_close(&now);
        }
        one_update_close(&u);
    }
}

static void what_cannot_change_is_refused(void **state)
{
    (void)state;
    const int64_t shape[] = { 4, 3 };
    one_update fortran, bytes;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(one_update_open(&fortran, &cip_format_npz, load("good-fortran"), NULL, NULL),
                     CIP_OK);
    assert_int_equal(one_update_form(&fortran, CIP_CHANGE_SHAPE, shape, &err), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "Fortran order"));
    one_update_close(&fortran);
    assert_int_equal(one_update_open(&bytes, &cip_format_npz, load("good-bytes"), NULL, NULL),
                     CIP_OK);
    cip_change_form form;
    const cip_array *text = bytes.f.layout->array[1];
    assert_int_equal(cip_npz_store.form(bytes.u, text, CIP_CHANGE_ROWS, NULL, &form, &err),
                     CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "no .npy file"));
    one_update_close(&bytes);
    for (int i = 0; i < 2; i++) {
        one_update u;
        const cip_spec how = { .big = -1,
                               .codec = i == 0 ? "zlib" : NULL,
                               .checksum = i == 0 ? NULL : "md5" };
        assert_int_equal(one_update_open(&u, &cip_format_npz, load("same-two"), &how, NULL),
                         CIP_ERR_UNSUPPORTED);
        one_update_close(&u);
    }
}

static void nothing_changes_without_a_change(void **state)
{
    (void)state;
    one_update u;
    assert_int_equal(one_update_open(&u, &cip_format_npz, load("same-two"), NULL, NULL), CIP_OK);
    assert_int_equal(one_update_finish(&u, NULL), CIP_OK);
    assert_int_equal(u.r.patch.n, 0);
    assert_int_equal(u.r.patch.new_len, u.f.io->size);
    one_update_close(&u);
}

static void try_allocations(const char *name, bool reshape)
{
    const int64_t shape[] = { 5, 3 };
    const cip_bytes b = load(name);
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        one_update u;
        cip_status st = one_update_open(&u, &cip_format_npz, b, NULL, &from);
        if (st == CIP_OK)
            st = put_nine(&u);
        if (st == CIP_OK && reshape)
            st = one_update_shape(&u, shape);
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

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    try_allocations("same-two", false);
    try_allocations("same-two", true);
    try_allocations("good-deflated", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_change_with_their_crc),
        cmocka_unit_test(members_get_other_shapes),
        cmocka_unit_test(rows_come_behind_what_stays),
        cmocka_unit_test(elements_of_any_member_change),
        cmocka_unit_test(damage_is_still_found),
        cmocka_unit_test(what_cannot_change_is_refused),
        cmocka_unit_test(nothing_changes_without_a_change),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
