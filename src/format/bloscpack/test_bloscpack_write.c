/* SPDX-License-Identifier: BSD-3-Clause
 * New files, and updates of the corpus's: what is in them then, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/endian.h"
#include "support/format/bloscpack/bp_testing.h"
#include "io/temporary.h"
#include "support/fail_alloc.h"
#include "tree/json_read.h"

static cip_spec spec_of(const cip_spec_array *a, const char *const *option)
{
    return (cip_spec){ .narray = 1, .array = a, .big = -1, .option = option };
}

static const int64_t shape_20x25[] = { 20, 25 };

static cip_spec_array array_20x25(void)
{
    return (cip_spec_array){
        .path = "", .dtype = cip_dtype_fixed(CIP_U16, false), .ndim = 2, .shape = shape_20x25
    };
}

static void fill(uint8_t *raw, size_t n)
{
    for (size_t i = 0; i < n; i++)
        raw[i] = bp_byte(i);
}

/* The file in `bytes` is this u16 array, and verify finds nothing but what it is to. */
static void assert_holds(cip_bytes bytes, int64_t rows, const uint8_t *raw, const char *found)
{
    one_file f;
    size_t len;
    cip_report report;
    assert_int_equal(one_open(&f, &cip_format_bloscpack, bytes.ptr, bytes.len, 0, NULL), CIP_OK);
    const cip_array *a = f.layout->array[0];
    assert_int_equal(a->view.ndim, 2);
    assert_int_equal(a->view.shape[0], rows);
    assert_int_equal(a->view.shape[1], 25);
    uint8_t *got = one_read(&f, 0, &len);
    assert_int_equal(len, 50 * (size_t)rows);
    assert_memory_equal(got, raw, len);
    free(got);
    one_output o = { 0 };
    cip_report_init(&report, &f.env.mem, false, one_on_loss, &o);
    assert_int_equal(cip_bp_verify(f.layout, false, &report, NULL), CIP_OK);
    assert_string_equal(o.lost, found);
    cip_report_clear(&report);
    one_close(&f);
}

static void new_files_have_what_was_asked_for(void **state)
{
    (void)state;
    static const char *const sums[] = { NULL,   "none",   "adler32", "crc32",  "md5",
                                        "sha1", "sha224", "sha256",  "sha384", "sha512" };
    uint8_t raw[1000];
    fill(raw, sizeof raw);
    const cip_spec_array a = array_20x25();
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        const char *const option[] = { "401", "bitshuffle", i % 2 == 0 ? "yes" : "no", "7" };
        cip_spec spec = spec_of(&a, option);
        cip_bp_header h;
        one_output o = { 0 };
        spec.checksum = sums[i];
        assert_int_equal(one_write(&o, &cip_format_bloscpack, &spec, raw, 33), CIP_OK);
        const cip_bytes all = { o.bytes.ptr, o.bytes.len };
        assert_int_equal(cip_bp_header_read(all, all.len, false, &h, NULL), CIP_OK);
        assert_true(h.version == 3 && h.typesize == 2 && h.chunk_size == 400);
        assert_true(h.last_chunk == 200 && h.nchunk == 3 && h.nspare == (i % 2 == 0 ? 7 : 0));
        assert_string_equal(cip_sum_name(h.sum), i == 0 ? "crc32" : sums[i]);
        assert_holds(all, 20, raw,
                     i % 2 != 0 ? ""
                                : "3 of 3 offsets were never written: the chunks are found one "
                                  "after the other\n"); /* as on a pipe */
        one_output_clear(&o);
    }
}

static void an_array_of_nothing_is_one_chunk(void **state)
{
    (void)state;
    static const int64_t shape[] = { 0, 25 };
    cip_spec_array a = array_20x25();
    cip_bp_header h;
    one_output o = { 0 };
    a.shape = shape;
    const cip_spec spec = spec_of(&a, NULL);
    assert_int_equal(one_write(&o, &cip_format_bloscpack, &spec, "", 1), CIP_OK);
    const cip_bytes all = { o.bytes.ptr, o.bytes.len };
    assert_int_equal(cip_bp_header_read(all, all.len, false, &h, NULL), CIP_OK);
    assert_true(h.chunk_size == 0 && h.last_chunk == 0 && h.nchunk == 1 && h.nspare == 10);
    assert_holds(all, 0, (const uint8_t *)"",
                 "1 of 1 offsets were never written: the chunks are found one after the other\n");
    one_output_clear(&o);
}

static void options_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *option[4], *codec, *sum, *text;
    } row[] = {
        { { "x" }, NULL, NULL, "expected a number of bytes or chunks for chunk_size, found x" },
        { { "-1" }, NULL, NULL, "expected a number of bytes or chunks for chunk_size, found -1" },
        { { "4294967296" },
          NULL,
          NULL,
          "expected a number of bytes or chunks for chunk_size, found 4294967296" },
        { { NULL, "delta" },
          NULL,
          NULL,
          "expected shuffle, bitshuffle or none for filter, found delta" },
        { { NULL, NULL, "perhaps" }, NULL, NULL, "expected yes or no for offsets, found perhaps" },
        { { NULL, NULL, NULL, "1e3" },
          NULL,
          NULL,
          "expected a number of bytes or chunks for spare, found 1e3" },
        { { NULL },
          "snappy",
          NULL,
          "expected the codec blosclz, lz4, lz4hc, zlib, zstd or none, found "
          "snappy" },
        { { NULL },
          NULL,
          "md4",
          "expected the checksum adler32, crc32, md5, sha1, sha224, sha256, sha384, sha512 or none"
          ", found md4" },
    };
    const cip_spec_array a = array_20x25();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_output o = { 0 };
        cip_spec spec = spec_of(&a, row[i].option);
        spec.codec = row[i].codec;
        spec.checksum = row[i].sum;
        assert_int_not_equal(one_write(&o, &cip_format_bloscpack, &spec, "", 1), CIP_OK);
        assert_string_equal(o.err.text, row[i].text);
        one_output_clear(&o);
    }
}

/* --- metadata --------------------------------------------------------------------------------- */

static void metadata_go_along_if_json_holds_them(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        size_t nlost;
    } row[] = {
        { "{\"metadata\": {\"night\": 3, \"seeing\": [0.5, null, {\"a\": true}]}}", 0 },
        { "{\"metadata\": {}}", 0 },
        { "{\"metadata\": {\"shape\": [3]}}", 1 }, /* would be taken for the array's */
        { "{\"metadata\": [1, 2]}", 1 },
        { "{\"metadata\": {\"night\": 3}, \"more\": 1}", 1 },
        { "{\"metadata\": {\"a\": [-9223372036854775808, 18446744073709551615, "
          "123456789012345678901234567890],"
          " \"a\\u0000b\": 2}}",
          0 },
        { "{\"metadata\": {\"a\": \"\\ud800\", \"\\udfff\": 1}}", 0 }, /* as they stand */
    };
    uint8_t raw[1000];
    fill(raw, sizeof raw);
    const cip_spec_array a = array_20x25();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        cip_env env;
        assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
        cip_arena arena = { .mem = &env.mem };
        const cip_json_source from = { .env = &env, .arena = &arena };
        cip_node *tree;
        one_output o = { 0 };
        one_file f;
        cip_spec spec = spec_of(&a, NULL);
        assert_int_equal(
            cip_json_read(&from, (cip_bytes){ (const uint8_t *)row[i].json, strlen(row[i].json) },
                          &tree, NULL),
            CIP_OK);
        spec.tree = tree;
        assert_int_equal(one_write(&o, &cip_format_bloscpack, &spec, raw, 500), CIP_OK);
        assert_int_equal(o.nlost, row[i].nlost);
        assert_int_equal(one_open(&f, &cip_format_bloscpack, o.bytes.ptr, o.bytes.len, 0, NULL),
                         CIP_OK);
        const cip_node *kept = cip_map_get(f.layout->tree, "metadata");
        assert_int_equal(kept != NULL, i == 0 || i >= 4);
        if (i == 0)
            assert_int_equal(cip_map_get(kept, "seeing")->len, 3);
        if (i == 5) {
            assert_string_equal(cip_tree_get(kept, "a/0", NULL)->text, "-9223372036854775808");
            assert_string_equal(cip_tree_get(kept, "a/2", NULL)->text,
                                "123456789012345678901234567890");
            assert_int_equal(kept->pair[1].key->len, 3);
        }
        one_close(&f);
        one_output_clear(&o);
        cip_arena_clear(&arena);
        cip_env_clear(&env);
    }
}

static void masks_and_several_arrays_are_named(void **state)
{
    (void)state;
    cip_spec_array two[] = { array_20x25(), array_20x25() };
    cip_spec spec = spec_of(two, NULL);
    uint8_t raw[1000] = { 0 };
    one_output o = { 0 };
    two[0].masked = true;
    assert_int_equal(one_write(&o, &cip_format_bloscpack, &spec, raw, 500), CIP_OK);
    assert_string_equal(o.lost, "the mask is lost: bloscpack files have none\n");
    one_output_clear(&o);
    spec.narray = 2;
    assert_int_not_equal(one_write(&o, &cip_format_bloscpack, &spec, raw, 500), CIP_OK);
    assert_int_equal(o.nimpossible, 1);
    one_output_clear(&o);
}

/* --- updates ---------------------------------------------------------------------------------- */

typedef struct job {
    one_file f;
    cip_arena arena;
    cip_io *temporary, *after;
    cip_chunk_changes *c;
    void *u;
    cip_revision r;
    cip_err err;
} job;

static void job_close(job *j)
{
    cip_io_close(j->after);
    if (j->u != NULL)
        cip_bp_store.clear(j->u);
    cip_revision_clear(&j->r);
    cip_chunk_changes_free(j->c);
    cip_io_close(j->temporary);
    cip_arena_clear(&j->arena);
    one_close(&j->f);
}

static cip_status job_open(job *j, cip_bytes file, const cip_spec *how, const cip_allocator *from)
{
    const cip_array_store *s = &cip_bp_store;
    cip_change_form form = { .fill = NULL };
    memset(j, 0, sizeof *j);
    j->err = (cip_err)CIP_ERR_INIT;
    cip_status st = one_open(&j->f, &cip_format_bloscpack, file.ptr, file.len, 0, from);
    j->arena.mem = j->r.patch.arena.mem = &j->f.env.mem;
    CIP_TRY(st);
    CIP_TRY(cip_temporary_new(&j->f.env, NULL, &j->temporary, &j->err));
    const cip_store_begin b = { .env = &j->f.env,
                                .arena = &j->arena,
                                .spec = how,
                                .old = j->f.layout,
                                .temporary = j->temporary };
    CIP_TRY(s->begin(&b, &j->u, &j->err));
    const cip_array *a = j->f.layout->array[0];
    CIP_TRY(
        s->form(j->u, a, a->f_order ? CIP_CHANGE_ROWS : CIP_CHANGE_ELEMENTS, NULL, &form, &j->err));
    return cip_chunk_changes_new(a, &form.form, j->temporary, &j->c, &j->err);
}

static cip_status job_finish(job *j)
{
    CIP_TRY(cip_chunk_changes_finish(j->c, NULL, NULL, &j->err));
    CIP_TRY(cip_bp_store.chunks(j->u, j->c, &j->err));
    CIP_TRY(cip_bp_store.finish(j->u, &j->r, &j->err));
    CIP_TRY(cip_revision_check(&j->r, j->f.io->size, &j->err));
    return cip_io_open_revision(j->f.io, &j->r, &j->after, &j->err);
}

/* Rows [first, first + n) become others: those behind the end are new. */
static cip_status put_rows(job *j, uint8_t *raw, int64_t first, int64_t n)
{
    const cip_array *a = j->f.layout->array[0];
    const int64_t row = a->view.stride[0], end = first + n;
    one_bytes b = { raw + first * row, (size_t)a->view.itemsize };
    const cip_feed feed = { .next = one_next, .self = &b };
    cip_nd at = a->view;
    for (int64_t i = first * row; i < end * row; i++)
        raw[i] = (uint8_t)(raw[i] + i % 5);
    at.off += (uint64_t)(first * row);
    at.shape[0] = n;
    if (end <= a->view.shape[0])
        return cip_chunk_changes_write(j->c, &at, &feed, &j->err);
    int64_t shape[CIP_MAX_NDIM];
    memcpy(shape, a->view.shape, sizeof shape);
    shape[0] = end;
    return cip_chunk_changes_resize(j->c, a, shape, &at, &feed, &j->err);
}

static const cip_spec as_it_is = { .big = -1 };

static cip_status update(job *j, cip_bytes file, uint8_t *raw, int64_t first, int64_t n,
                         const cip_allocator *from)
{
    CIP_TRY(job_open(j, file, &as_it_is, from));
    CIP_TRY(put_rows(j, raw, first, n));
    return job_finish(j);
}

static void rows_change_and_are_added(void **state)
{
    (void)state;
    static const struct {
        int64_t first, n;
        bool anew;
    } row[] = { { 3, 2, false }, { 0, 20, false }, { 19, 1, false }, { 20, 3, false } };
    bp_bytes b = bp_load("good-numpy");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        job j;
        uint8_t raw[2000], file[8192];
        fill(raw, sizeof raw);
        assert_int_equal(update(&j, (cip_bytes){ b.ptr, b.len }, raw, row[i].first, row[i].n, NULL),
                         CIP_OK);
        assert_int_equal(j.r.anew, row[i].anew);
        assert_true(j.after->size <= sizeof file);
        assert_int_equal(cip_io_read(j.after, 0, file, (size_t)j.after->size, NULL), CIP_OK);
        const int64_t end = row[i].first + row[i].n;
        assert_holds((cip_bytes){ file, (size_t)j.after->size }, end > 20 ? end : 20, raw, "");
        job_close(&j);
    }
}

/* Bytes, in version 2: made anew as version 3; the kind of digests stays. */
static void an_older_version_is_made_anew(void **state)
{
    (void)state;
    static const char *const names[] = { "good-2", "good-2-plain", "good-offsets-unset" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        job j;
        one_file f;
        size_t len;
        uint8_t raw[1100], file[8192];
        bp_bytes b = bp_load(names[i]);
        fill(raw, sizeof raw);
        assert_int_equal(update(&j, (cip_bytes){ b.ptr, b.len }, raw, 10, 1090, NULL), CIP_OK);
        assert_true(j.r.anew);
        assert_int_equal(cip_io_read(j.after, 0, file, (size_t)j.after->size, NULL), CIP_OK);
        assert_int_equal(one_open(&f, &cip_format_bloscpack, file, (size_t)j.after->size, 0, NULL),
                         CIP_OK);
        assert_string_equal(f.layout->version, "3");
        uint8_t *got = one_read(&f, 0, &len);
        assert_int_equal(len, sizeof raw);
        assert_memory_equal(got, raw, len);
        free(got);
        one_close(&f);
        job_close(&j);
    }
}

/* A last chunk of nothing, as a writer may end with one: it goes, and so does its offset. */
static void a_last_chunk_of_nothing_goes(void **state)
{
    (void)state;
    const int64_t shape[] = { 16, 25 };
    const char *const option[] = { "400", NULL, NULL, "5" };
    uint8_t raw[1000], file[8192];
    cip_spec_array a = array_20x25();
    one_output o = { 0 };
    size_t none;
    job j;
    fill(raw, sizeof raw);
    a.shape = shape;
    cip_spec spec = spec_of(&a, option);
    spec.checksum = "none";
    assert_int_equal(one_write(&o, &cip_format_bloscpack, &spec, raw, 500), CIP_OK);
    memcpy(file, o.bytes.ptr, o.bytes.len);
    const cip_blosc_spec b = { .typesize = 2, .blosc1 = true };
    assert_int_equal(cip_blosc_encode(&o.env.mem, &b, (cip_bytes){ raw, 0 }, file + o.bytes.len,
                                      CIP_BLOSC_HEADER, &none, NULL),
                     CIP_OK);
    cip_store_u32(file + 12, 0, false);
    cip_store_u64(file + 16, 3, false);
    cip_store_u64(file + 24, 4, false);
    const size_t len = o.bytes.len + none;
    uint8_t *offset = file + CIP_BP_HEADER + CIP_BP_META_HEADER;
    offset += cip_load_u32(file + CIP_BP_HEADER + 16, false) + 4;
    uint64_t at = (uint64_t)(offset - file) + 8 * 7;
    for (size_t i = 0; i < 3; i++) {
        cip_store_u64(offset + 8 * i, at, false);
        at += cip_load_u32(file + at + 12, false);
    }
    assert_int_equal(update(&j, (cip_bytes){ file, len }, raw, 0, 16, NULL), CIP_OK);
    assert_false(j.r.anew);
    assert_int_equal(cip_io_read(j.after, 0, file, (size_t)j.after->size, NULL), CIP_OK);
    assert_holds((cip_bytes){ file, (size_t)j.after->size }, 16, raw, "");
    job_close(&j);
    one_output_clear(&o);
}

static void what_cannot_be_changed_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        const char *sum;
        const char *text;
    } row[] = {
        { "good-streamed", NULL,
          "expected a header with the number and the size of the chunks, found one without" },
        { "good-numpy-cut", NULL, "expected 3 chunks, found 2" },
        { "good-3-md5", "crc32",
          "expected md5, the checksum of all chunks of the file, found crc32" },
        { "good-numpy-f", NULL,
          "expected an array in C order to change its shape, found Fortran order" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        job j;
        uint8_t raw[2000] = { 0 };
        bp_bytes b = bp_load(row[i].file);
        cip_spec how = as_it_is;
        how.checksum = row[i].sum;
        cip_status st = job_open(&j, (cip_bytes){ b.ptr, b.len }, &how, NULL);
        if (st == CIP_OK)
            st = put_rows(&j, raw, 20, 2);
        assert_int_not_equal(st, CIP_OK);
        assert_string_equal(j.err.text, row[i].text);
        job_close(&j);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    bp_bytes b = bp_load("good-numpy");
    const cip_spec_array a = array_20x25();
    const char *const option[] = { "400", NULL, NULL, NULL };
    const cip_spec spec = spec_of(&a, option);
    for (int kind = 0; kind < 3; kind++)
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = n };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            uint8_t raw[2000];
            cip_status st;
            fill(raw, sizeof raw);
            if (kind == 0) {
                one_output o = { 0 };
                st = one_write_from(&o, &cip_format_bloscpack, &spec, raw, 500, &from);
                one_output_clear(&o);
            } else {
                job j;
                st = update(&j, (cip_bytes){ b.ptr, b.len }, raw, kind == 1 ? 3 : 20, 2, &from);
                job_close(&j);
            }
            assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
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
        cmocka_unit_test(new_files_have_what_was_asked_for),
        cmocka_unit_test(an_array_of_nothing_is_one_chunk),
        cmocka_unit_test(options_that_cannot_be_are_refused),
        cmocka_unit_test(metadata_go_along_if_json_holds_them),
        cmocka_unit_test(masks_and_several_arrays_are_named),
        cmocka_unit_test(rows_change_and_are_added),
        cmocka_unit_test(an_older_version_is_made_anew),
        cmocka_unit_test(a_last_chunk_of_nothing_goes),
        cmocka_unit_test(what_cannot_be_changed_is_refused),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
