/* SPDX-License-Identifier: BSD-3-Clause
 * Files as they should be: every version and form opens, is the array that it says, and reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/bloscpack/bp_testing.h"
#include "support/fail_alloc.h"
#include "support/fault_io.h"

static void every_form_opens_and_reads(void **state)
{
    (void)state;
    static const struct {
        const char *name, *dtype;
        int32_t ndim;
        int64_t shape[2];
        const char *version, *warning; /* NULL: none */
    } row[] = {
        { "good-1", "uint8", 1, { 1000 }, "1", NULL },
        { "good-1-unknown", "uint8", 1, { 1000 }, "1", NULL },
        { "good-2", "uint8", 1, { 1000 }, "2", NULL },
        { "good-2-plain", "uint8", 1, { 1000 }, "2", NULL },
        { "good-3-none", "uint8", 1, { 1000 }, "3", NULL },
        { "good-3-adler32", "uint8", 1, { 1000 }, "3", NULL },
        { "good-3-crc32", "uint8", 1, { 1000 }, "3", NULL },
        { "good-3-md5", "uint8", 1, { 1000 }, "3", NULL },
        { "good-3-sha1", "uint8", 1, { 1000 }, "3", NULL },
        { "good-3-sha224", "uint8", 1, { 1000 }, "3", NULL },
        { "good-3-sha256", "uint8", 1, { 1000 }, "3", NULL },
        { "good-3-sha384", "uint8", 1, { 1000 }, "3", NULL },
        { "good-3-sha512", "uint8", 1, { 1000 }, "3", NULL },
        { "good-one-chunk", "uint8", 1, { 1000 }, "3", NULL },
        { "good-empty", "uint8", 1, { 0 }, "3", NULL },
        { "good-no-chunks", "uint8", 1, { 0 }, "3", NULL },
        { "good-streamed", "uint8", 1, { 1000 }, "3", NULL },
        { "good-streamed-nothing", "uint8", 1, { 0 }, "3", NULL },
        { "good-sizes-unknown", "uint8", 1, { 1000 }, "3", NULL },
        { "good-last-unknown", "uint8", 1, { 1000 }, "3", NULL },
        { "good-empty-between", "uint8", 1, { 1000 }, "3", NULL },
        { "good-offsets-unset", "uint8", 1, { 1000 }, "3", NULL },
        { "good-stale-tail", "uint8", 1, { 1000 }, "3", NULL },
        { "good-number-unknown-cut",
          "uint8",
          1,
          { 800 },
          "3",
          "expected 216 bytes of chunk 2, found the end of the file" },
        { "good-numpy", "uint16", 2, { 20, 25 }, "3", NULL },
        { "good-numpy-bare", "uint16", 1, { 500 }, "3", NULL },
        { "good-numpy-record",
          "{a: uint16, b: {c: uint32}, d: uint8[2, 2]}",
          1,
          { 100 },
          "3",
          NULL },
        { "good-numpy-more", "uint16", 1, { 500 }, "3", NULL },
        { "good-numpy-streamed", "uint16", 2, { 20, 25 }, "3", NULL },
        { "good-numpy-0d", "uint64", 0, { 0 }, "3", NULL },
        { "good-meta", "uint8", 1, { 1000 }, "3", NULL },
        { "good-meta-list", "uint8", 1, { 1000 }, "3", NULL },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        size_t len, want = row[i].ndim == 0 ? 8 : 1;
        const char *warning;
        bp_bytes b = bp_load(row[i].name);
        print_message("%s\n", row[i].name);
        assert_int_equal(bp_open(&f, &b, 0), CIP_OK);
        const cip_array *a = f.layout->array[0];
        assert_string_equal(a->dtype->name, row[i].dtype);
        assert_string_equal(f.layout->version, row[i].version);
        assert_int_equal(a->view.ndim, row[i].ndim);
        for (int32_t k = 0; k < row[i].ndim; k++) {
            assert_int_equal(a->view.shape[k], row[i].shape[k]);
            want *= (size_t)row[i].shape[k];
        }
        want *= row[i].ndim == 0 ? 1 : (size_t)a->dtype->itemsize;
        uint8_t *raw = one_read(&f, 0, &len);
        assert_non_null(raw);
        assert_int_equal(len, want);
        assert_true(bp_is_prefix(raw, len));
        free(raw);
        assert_int_equal(bp_warnings(&f, &warning), row[i].warning != NULL);
        assert_string_equal(warning, row[i].warning != NULL ? row[i].warning : "");
        one_close(&f);
    }
}

static void columns_first_is_an_order_of_the_array(void **state)
{
    (void)state;
    one_file f;
    size_t len;
    bp_bytes b = bp_load("good-numpy-f");
    assert_int_equal(bp_open(&f, &b, 0), CIP_OK);
    assert_true(f.layout->array[0]->f_order);
    uint8_t *raw = one_read(&f, 0, &len);
    assert_int_equal(len, 1000);
    for (size_t i = 0; i < 20; i++)
        for (size_t j = 0; j < 25; j++)
            assert_int_equal(raw[2 * (25 * i + j)], bp_byte(2 * (20 * j + i)));
    free(raw);
    one_close(&f);
}

/* Damage elsewhere does not matter, so it was not looked at. */
static void a_slice_reads_only_its_chunks(void **state)
{
    (void)state;
    static const char *const names[] = { "good-3-md5", "good-3-none", "good-last-unknown",
                                         "good-offsets-unset" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        one_file f;
        bp_bytes b = bp_load(names[i]);
        uint8_t some[300];
        assert_int_equal(bp_open(&f, &b, 0), CIP_OK);
        const cip_read_how how = { f.layout, NULL };
        cip_space *data;
        assert_int_equal(cip_space_resolve(f.layout->array[0]->space, &data, NULL), CIP_OK);
        cip_chunk c[3];
        memset(c, 0, sizeof c);
        assert_int_equal(data->table.at(data->table.self, 0, 3, c, NULL), CIP_OK);
        memset(f.bytes + c[0].at.off, 0xff, c[0].at.len);
        memset(f.bytes + c[2].at.off, 0xff, c[2].at.len);
        assert_int_equal(cip_space_read_at(&how, data, 450, some, 300, &f.err), CIP_OK);
        for (size_t k = 0; k < 300; k++)
            assert_int_equal(some[k], bp_byte(450 + k));
        assert_int_not_equal(cip_space_read_at(&how, data, 390, some, 20, &f.err), CIP_OK);
        one_close(&f);
    }
}

/* The front with the first chunk's head; then the offsets, the chunk's head with its digest, and
 * the chunk. A change asks for the head of each chunk once. */
static void nothing_is_read_twice(void **state)
{
    (void)state;
    const bp_bytes b = bp_load("good-numpy");
    cip_env env;
    cip_layout *l;
    cip_space *data;
    cip_bp_old old;
    fault_io fault;
    uint8_t some[10];
    uint64_t end, again;
    assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
    cip_io *io = fault_io_init(&fault, &env, b.ptr, b.len);
    assert_int_equal(cip_layout_new(&env, io, &l, NULL), CIP_OK);
    assert_int_equal(cip_format_bloscpack.open(l, NULL), CIP_OK);
    assert_int_equal(fault.reads, 1);
    const cip_read_how how = { l, NULL };
    assert_int_equal(cip_space_resolve(l->array[0]->space, &data, NULL), CIP_OK);
    assert_int_equal(fault.reads, 2);
    assert_int_equal(cip_space_read_at(&how, data, 450, some, sizeof some, NULL), CIP_OK);
    assert_int_equal(fault.reads, 4);
    assert_int_equal(cip_bp_old_open(l->own, &old, NULL), CIP_OK);
    for (uint64_t i = 0; i < old.f->chunks.n; i++)
        assert_int_equal(cip_bp_old_end(&old, i, &end, NULL), CIP_OK);
    assert_int_equal(end, b.len);
    const size_t reads = fault.reads;
    assert_in_range(reads, 5, 6); /* the first by itself, the others as they lie near it */
    assert_int_equal(cip_bp_old_end(&old, old.f->chunks.n - 1, &again, NULL), CIP_OK);
    assert_int_equal(again, end);
    assert_int_equal(fault.reads, reads);
    cip_bp_old_clear(&old);
    cip_layout_free(l);
    cip_env_clear(&env);
}

static void what_an_aborted_writer_left_is_read(void **state)
{
    (void)state;
    one_file f;
    bp_bytes b = bp_load("good-numpy-cut");
    uint8_t some[800];
    assert_int_equal(bp_open(&f, &b, 0), CIP_OK);
    const cip_read_how how = { f.layout, NULL };
    const cip_array *a = f.layout->array[0];
    assert_int_equal(a->view.shape[0], 20);
    assert_int_equal(cip_space_read_at(&how, a->space, 0, some, 800, &f.err), CIP_OK);
    assert_true(bp_is_prefix(some, 800));
    assert_int_equal(cip_space_read_at(&how, a->space, 799, some, 2, &f.err), CIP_ERR_TRUNCATED);
    assert_string_equal(f.err.text, "the file ends before it");
    one_close(&f);
}

static void metadata_are_a_tree(void **state)
{
    (void)state;
    one_file f;
    double x;
    bp_bytes b = bp_load("good-meta");
    assert_int_equal(bp_open(&f, &b, 0), CIP_OK);
    const cip_node *meta = cip_map_get(f.layout->tree, "metadata");
    assert_true(cip_node_as_double(cip_map_get(meta, "x"), &x) && x == 1e300);
    assert_true(cip_node_is_string(cip_map_get(meta, "u"), "\xc3\xa9\xf0\x9f\x98\x80"));
    assert_int_equal(cip_map_get(meta, "a")->len, 3);
    one_close(&f);
    b = bp_load("good-numpy"); /* what the array says is not said again */
    assert_int_equal(bp_open(&f, &b, 0), CIP_OK);
    assert_null(cip_map_get(f.layout->tree, "metadata"));
    one_close(&f);
    b = bp_load("good-numpy-more");
    assert_int_equal(bp_open(&f, &b, 0), CIP_OK);
    meta = cip_map_get(f.layout->tree, "metadata");
    assert_int_equal(meta->len, 1);
    assert_non_null(cip_map_get(meta, "night"));
    one_close(&f);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    static const char *const names[] = { "good-numpy", "good-streamed", "good-numpy-record" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bp_bytes b = bp_load(names[i]);
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = n };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            one_file f;
            size_t len;
            cip_status st = one_open(&f, &cip_format_bloscpack, b.ptr, b.len, 0, &from);
            if (st == CIP_OK) {
                uint8_t *raw = one_read(&f, 0, &len);
                st = raw == NULL ? (cip_status)f.err.code : CIP_OK;
                free(raw);
            }
            assert_true(st == CIP_OK || (st == CIP_ERR_NOMEM && f.err.code == CIP_ERR_NOMEM));
            one_close(&f);
            assert_int_equal(alloc.held, 0);
            if (alloc.requests < n) {
                assert_int_equal(st, CIP_OK);
                break;
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_opens_and_reads),
        cmocka_unit_test(columns_first_is_an_order_of_the_array),
        cmocka_unit_test(a_slice_reads_only_its_chunks),
        cmocka_unit_test(nothing_is_read_twice),
        cmocka_unit_test(what_an_aborted_writer_left_is_read),
        cmocka_unit_test(metadata_are_a_tree),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
