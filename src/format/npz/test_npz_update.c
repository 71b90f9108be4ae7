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

static void what_cannot_change_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        cip_change_kind kind;
    } row[] = {
        { "same-two", "the shape of an array in a .npz file is not changed", CIP_CHANGE_SHAPE },
        { "same-two", "the shape of an array in a .npz file is not changed", CIP_CHANGE_ROWS },
        { "good-deflated", "found one that is compressed", CIP_CHANGE_ELEMENTS },
        { "good-piped", "found one that was written to a pipe", CIP_CHANGE_ELEMENTS },
    };
    const int64_t shape[] = { 3, 3 };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_update u;
        cip_err err = CIP_ERR_INIT;
        assert_int_equal(one_update_open(&u, &cip_format_npz, load(row[i].name), NULL, NULL),
                         CIP_OK);
        assert_int_equal(one_update_form(&u, row[i].kind, shape, &err), CIP_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, row[i].text));
        one_update_close(&u);
    }
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

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    const cip_bytes b = load("same-two");
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        one_update u;
        cip_status st = one_update_open(&u, &cip_format_npz, b, NULL, &from);
        if (st == CIP_OK)
            st = put_nine(&u);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_change_with_their_crc),
        cmocka_unit_test(what_cannot_change_is_refused),
        cmocka_unit_test(nothing_changes_without_a_change),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
