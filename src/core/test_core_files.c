/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/core_testing.h"
#include "io/patch.h"
#include "support/fail_alloc.h"
#include "support/temp_folder.h"

static const int32_t six[] = { 1, -2, 3, -4, 5, -6 };

static void options_are_checked(void **state)
{
    (void)state;
    cip_file *f = NULL;
    cip_open_options none = { .threads = 1 };
    cip_open_options large = { .size = SIZE_MAX };
    cip_limits bad = { 0 };
    size_t n;
    char *mem = test_npy("'<i4'", "(6,)", 0, six, sizeof six, &n);
    assert_int_equal(cip_open_memory(mem, n, &none, &f, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_open_memory(mem, n, &large, &f, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_open_memory(mem, n, CIP_OPEN_OPTIONS(.limits = &bad), &f, NULL),
                     CIP_ERR_ARG);
    assert_int_equal(cip_open_memory(mem, n, CIP_OPEN_OPTIONS(.format = "x"), &f, NULL),
                     CIP_ERR_ARG);
    assert_int_equal(cip_open_memory(mem, n, CIP_OPEN_OPTIONS(.format = "asdf"), &f, NULL),
                     CIP_ERR_FORMAT);
    assert_int_equal(cip_open_memory(NULL, n, NULL, &f, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_open(NULL, NULL, &f, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_open_io(NULL, NULL, NULL, &f, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_open_memory(mem, n, CIP_OPEN_OPTIONS(.threads = 1000), &f, NULL),
                     CIP_ERR_ARG);
    assert_int_equal(cip_open_memory(mem, n, CIP_OPEN_OPTIONS(.nroot = 1), &f, NULL), CIP_ERR_ARG);
    assert_null(f);
    const char *const roots[] = { "/disk1", "/disk2" }, *const ended[] = { "/disk1", NULL };
    assert_int_equal(
        cip_open_memory(mem, n, CIP_OPEN_OPTIONS(.format = "npy", .roots = ended), &f, NULL),
        CIP_ERR_ARG); /* not ignored */
    assert_int_equal(cip_open_memory(mem, n,
                                     CIP_OPEN_OPTIONS(.format = "npy", .roots = roots, .nroot = 2),
                                     &f, NULL),
                     CIP_ERR_ARG);
    assert_int_equal(
        cip_open_memory(mem, n, CIP_OPEN_OPTIONS(.format = "npy", .threads = 3), &f, NULL), CIP_OK);
    assert_string_equal(cip_file_format(f), "npy");
    assert_int_equal(cip_file_nbytes(f), n);
    cip_file_close(f);
    free(mem);
}

static void what_is_no_known_format_is_shown(void **state)
{
    (void)state;
    cip_file *f;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_open_memory("hello, world", 12, NULL, &f, &err), CIP_ERR_FORMAT);
    assert_string_equal(err.text,
                        "expected the start of a known format, found the text 'hello, world'");
    cip_err_clear(&err);
    assert_int_equal(cip_open_memory("abc\n\x01\x02\x03\x04\x05", 9, NULL, &f, &err),
                     CIP_ERR_FORMAT);
    assert_string_equal(err.text, "expected the start of a known format, found the bytes"
                                  " 61 62 63 0a 01 02 03 04");
    cip_err_clear(&err);
    assert_int_equal(cip_open_memory("\x0e\x03\x13\x01", 4, NULL, &f, &err), CIP_ERR_FORMAT);
    assert_string_equal(err.text, "this is an HDF4 file, which is not read");
    cip_err_clear(&err);
    assert_int_equal(cip_open_memory("\x0e\x03\x13", 3, NULL, &f, &err), CIP_ERR_FORMAT);
    assert_null(strstr(err.text, "HDF4"));
    cip_err_clear(&err);
    assert_int_equal(cip_open_memory("", 0, NULL, &f, &err), CIP_ERR_FORMAT);
    assert_string_equal(err.text, "expected the start of a known format, found an empty file");
}

static const char several[] =
    "a: {b: !core/ndarray-1.1.0 [1, 2]}\n"
    "l: [x, &arr !core/ndarray-1.1.0 [3]]\n"
    "again: *arr\n"
    "'': {'x/y': !core/ndarray-1.1.0 [4]}\n"
    "r: !core/ndarray-1.1.0 {data: [[1]], datatype: [{name: f, datatype: int8}]}\n";

static void arrays_are_found_by_every_form_of_path(void **state)
{
    (void)state;
    char *mem;
    const char *field;
    cip_err err = CIP_ERR_INIT;
    cip_file *f = test_open_asdf(several, &mem);
    assert_non_null(cip_find(f, "a/b", &err));
    assert_ptr_equal(cip_find(f, "/a/b", NULL), cip_find(f, "a/b", NULL));
    assert_non_null(cip_find(f, "l/1", NULL));
    assert_ptr_equal(cip_array_node(cip_find(f, "again", NULL)),
                     cip_array_node(cip_find(f, "l/1", NULL)));
    assert_non_null(cip_find(f, "//x~1y", NULL));
    assert_non_null(cip_find_field(f, "r/f", &field, NULL));
    assert_string_equal(field, "f");
    assert_null(cip_find(f, "a", &err));
    assert_int_equal(err.code, CIP_ERR_TYPE);
    cip_err_clear(&err);
    assert_null(cip_find(f, "a/c", &err));
    assert_int_equal(err.code, CIP_ERR_NOT_FOUND);
    cip_err_clear(&err);
    assert_null(cip_find(f, "", &err));
    assert_int_equal(err.code, CIP_ERR_ARG);
    assert_null(cip_find(f, NULL, &err));
    assert_int_equal(cip_file_narray(f), 5);
    assert_null(cip_file_array(f, 5));
    assert_ptr_equal(cip_array_of_node(f, cip_tree_get(cip_file_tree(f), "a/b", NULL)),
                     cip_find(f, "a/b", NULL));
    assert_null(cip_array_of_node(f, cip_file_tree(f)));
    assert_null(cip_array_of_node(f, NULL));
    cip_file_close(f);
    free(mem);
}

static void a_file_without_arrays_says_so(void **state)
{
    (void)state;
    char *mem;
    cip_err err = CIP_ERR_INIT;
    cip_file *f = test_open_asdf("a: 1\n", &mem);
    cip_err_clear(&err);
    assert_null(cip_find(f, "", &err));
    assert_int_equal(err.code, CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_file_nblock(f), 0);
    assert_null(cip_file_block(f, 0));
    assert_int_equal(cip_block_read(f, 0, false, 0, NULL, 0, &err), CIP_ERR_RANGE);
    cip_file_close(f);
    free(mem);
}

static void what_only_this_file_needs_is_told(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_asdf("history: []\nhistorian: Ada\n", &mem), *ra = NULL;
    cip_err err = CIP_ERR_INIT;
    assert_true(cip_tree_is_own(f, "history"));
    assert_true(cip_tree_is_own(f, "asdf_library"));
    assert_false(cip_tree_is_own(f, "historian"));
    assert_false(cip_tree_is_own(f, "hist"));
    assert_false(cip_tree_is_own(f, "asdf_library history"));
    assert_false(cip_tree_is_own(f, "eltype"));
    assert_false(cip_tree_is_own(f, ""));
    assert_false(cip_tree_is_own(f, NULL));
    assert_false(cip_tree_is_own(NULL, "history"));
    cip_file_close(f);
    free(mem);
    if (cip_open(CIP_SOURCE_DIR "/samples/complex.ra", NULL, &ra, &err) != CIP_OK)
        fail_msg("%s", err.text);
    assert_true(cip_tree_is_own(ra, "eltype"));
    assert_false(cip_tree_is_own(ra, "history"));
    cip_file_close(ra);
}

static void blocks_are_read_stored_and_decoded(void **state)
{
    (void)state;
    char *mem, a[4], b[4];
    cip_file *f = test_open_npy("'<i4'", "(6,)", six, sizeof six, &mem);
    if (cip_file_nblock(f) != 0) {
        assert_int_equal(cip_block_read(f, 0, false, 4, a, 4, NULL), CIP_OK);
        assert_int_equal(cip_block_read(f, 0, true, 4, b, 4, NULL), CIP_OK);
        assert_memory_equal(a, b, 4);
        assert_int_equal(cip_block_read(f, 0, true, 24, b, 1, NULL), CIP_ERR_RANGE);
    }
    cip_array_storage s = { .size = sizeof s };
    assert_int_equal(cip_array_get_storage(cip_file_array(f, 0), &s, NULL), CIP_OK);
    assert_string_equal(s.codec, "none");
    assert_false(s.masked);
    assert_int_equal(cip_array_get_storage(NULL, &s, NULL), CIP_ERR_ARG);
    cip_file_close(f);
    free(mem);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    size_t n;
    char *mem = test_npy("[('a', '<i4'), ('b', '<i2', (2,))]", "(3,)", 0, six, sizeof six, &n);
    for (size_t at = 1;; at++) {
        fail_alloc fail = { .fail_at = at };
        const cip_allocator from = { fail_alloc_resize, &fail };
        cip_file *f;
        char v[24];
        cip_status st =
            cip_open_memory(mem, n, CIP_OPEN_OPTIONS(.allocator = &from, .threads = 1), &f, NULL);
        if (st == CIP_OK)
            st = cip_read(cip_file_array(f, 0), "[::-1]", cip_dtype_as_stored(), v, sizeof v, NULL);
        cip_file_close(f);
        assert_int_equal(fail.held, 0);
        if (fail.requests < at) {
            assert_int_equal(st, CIP_OK);
            break;
        }
        assert_true(st == CIP_ERR_NOMEM || st == CIP_OK); /* the cache does without */
    }
    free(mem);
}

/* --- verify ---------------------------------------------------------------------------------- */

typedef struct seen {
    int n, stop_at;
    cip_severity worst;
    cip_status code;
} seen;

static int note(void *user, const cip_finding *f)
{
    seen *s = user;
    s->n++;
    if (f->severity >= s->worst) {
        s->worst = f->severity;
        s->code = f->code;
    }
    return s->n == s->stop_at;
}

static void damage_is_a_finding_not_a_failure(void **state)
{
    (void)state;
    scratch dir;
    char path[512];
    seen s = { 0 };
    const cip_verify_options how = { .size = sizeof how, .on_finding = note, .user = &s };
    assert_true(scratch_open(&dir));
    snprintf(path, sizeof path, "%s/x.ra", dir.dir);
    FILE *f = fopen(path, "wb");
    fputs("no format of ours", f);
    fclose(f);
    assert_int_equal(cip_verify(path, &how, NULL), CIP_OK);
    assert_true(s.n == 1 && s.worst == CIP_FATAL && s.code == CIP_ERR_FORMAT);
    s = (seen){ .stop_at = 1 };
    assert_int_equal(cip_verify(path, &how, NULL), CIP_ERR_CANCELLED);
    snprintf(path, sizeof path, "%s/missing", dir.dir);
    s = (seen){ 0 };
    assert_int_equal(cip_verify(path, &how, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(s.n, 0);
    assert_int_equal(cip_verify(path, &(cip_verify_options){ .on_finding = note }, NULL),
                     CIP_ERR_ARG);
    scratch_close(&dir);
}

static void an_array_beyond_its_data_is_found(void **state)
{
    (void)state;
    char *mem;
    seen s = { 0 };
    const cip_verify_options how = {
        .size = sizeof how, .deep = true, .on_finding = note, .user = &s
    };
    cip_file *f = test_open_asdf("a: !core/ndarray-1.1.0 {data: [1, 2]}\n"
                                 "bad: !core/ndarray-1.1.0 {data: [[1], [2, 3]]}\n",
                                 &mem);
    assert_int_equal(cip_verify_file(f, &how, NULL), CIP_OK);
    assert_true(s.n >= 1 && s.worst >= CIP_BAD);
    s = (seen){ .stop_at = 1 };
    assert_int_equal(cip_verify_file(f, CIP_VERIFY_OPTIONS(.on_finding = note, .user = &s), NULL),
                     CIP_ERR_CANCELLED);
    assert_int_equal(cip_verify_file(NULL, &how, NULL), CIP_ERR_ARG);
    const cip_open_options open = { .size = sizeof open };
    assert_int_equal(cip_verify_file(f, CIP_VERIFY_OPTIONS(.open = &open), NULL), CIP_ERR_ARG);
    cip_file_close(f);
    free(mem);
}

/* --- an update that was cut off --------------------------------------------------------------- */

typedef struct cut_off {
    scratch dir;
    char path[512], journal[512];
    size_t n;
} cut_off;

/* x.npy with 1 in its first element, and a sealed journal that makes it 9 (before: what it says was
 * there). */
static void make_cut_off(cut_off *c, uint8_t before, uint64_t inode_off)
{
    struct stat st;
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    assert_true(scratch_open(&c->dir));
    snprintf(c->path, sizeof c->path, "%s/x.npy", c->dir.dir);
    snprintf(c->journal, sizeof c->journal, "%s/.x.npy.cip-journal", c->dir.dir);
    char *file = test_npy("'<i4'", "(6,)", 0, six, sizeof six, &c->n);
    FILE *f = fopen(c->path, "wb");
    fwrite(file, 1, c->n, f);
    fclose(f);
    free(file);
    assert_int_equal(stat(c->path, &st), 0);
    cip_patch p = { .arena = { .mem = &mem }, .old_len = c->n, .new_len = c->n };
    cip_buf b = { .mem = &mem };
    const uint8_t after = 9;
    assert_int_equal(cip_patch_write(&p, "", c->n - sizeof six, (cip_bytes){ &before, 1 },
                                     (cip_bytes){ &after, 1 }, NULL),
                     CIP_OK);
    assert_int_equal(
        cip_journal_encode(&p, (uint64_t)st.st_dev, (uint64_t)st.st_ino + inode_off, &b, NULL),
        CIP_OK);
    f = fopen(c->journal, "wb");
    fwrite(b.ptr, 1, b.len, f);
    fclose(f);
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static void a_sealed_journal_is_shown_over_the_file(void **state)
{
    (void)state;
    cut_off c;
    cip_file *f;
    int32_t v[6];
    make_cut_off(&c, 1, 0);
    assert_int_equal(cip_open(c.path, NULL, &f, NULL), CIP_OK);
    assert_int_equal(
        cip_read(cip_find(f, "", NULL), NULL, cip_dtype_as_stored(), v, sizeof v, NULL), CIP_OK);
    assert_true(v[0] == 9 && v[1] == -2);
    assert_non_null(cip_file_finding(f, 0));
    assert_string_equal(cip_file_finding(f, 0)->part, "journal");
    assert_null(cip_file_finding(f, 1));
    cip_file_close(f);
    scratch_close(&c.dir);
}

static void a_journal_of_other_bytes_is_an_error(void **state)
{
    (void)state;
    cut_off c;
    cip_file *f;
    cip_err err = CIP_ERR_INIT;
    make_cut_off(&c, 77, 0);
    assert_int_equal(cip_open(c.path, NULL, &f, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.part, "journal");
    assert_non_null(strstr(err.text, "see cip_recover"));
    scratch_close(&c.dir);
}

static void a_journal_that_is_a_link_is_ignored(void **state)
{
    (void)state;
    cut_off c;
    cip_file *f;
    char real[600];
    int32_t first;
    make_cut_off(&c, 1, 0);
    snprintf(real, sizeof real, "%s/elsewhere", c.dir.dir);
    assert_int_equal(rename(c.journal, real), 0);
    assert_int_equal(symlink(real, c.journal), 0);
    assert_int_equal(cip_open(c.path, NULL, &f, NULL), CIP_OK);
    assert_int_equal(cip_read(cip_find(f, "", NULL), "[0]", cip_dtype_as_stored(), &first, 4, NULL),
                     CIP_OK);
    assert_int_equal(first, 1);
    assert_non_null(cip_file_finding(f, 0));
    cip_file_close(f);
    scratch_close(&c.dir);
}

static void a_path_that_is_a_link_is_refused_on_request(void **state)
{
    (void)state;
    scratch dir;
    cip_file *f;
    char file[600], to_file[600], to_folder[600];
    size_t n;
    char *mem = test_npy("'<i4'", "(6,)", 0, six, sizeof six, &n);
    const cip_open_options no_link = { .size = sizeof no_link, .no_link = true };
    assert_true(scratch_open(&dir));
    snprintf(file, sizeof file, "%s/a.npy", dir.dir);
    snprintf(to_file, sizeof to_file, "%s/b.npy", dir.dir);
    snprintf(to_folder, sizeof to_folder, "%s/c", dir.dir);
    scratch_write(&dir, "a.npy", mem, n);
    assert_int_equal(symlink("a.npy", to_file), 0);
    assert_int_equal(symlink(".", to_folder), 0);
    assert_int_equal(cip_open(to_file, NULL, &f, NULL), CIP_OK);
    cip_file_close(f);
    assert_int_equal(cip_open(to_file, &no_link, &f, NULL), CIP_ERR_IO);
    assert_int_equal(cip_open(file, &no_link, &f, NULL), CIP_OK);
    cip_file_close(f);
    assert_int_equal(cip_open(to_folder, &no_link, &f, NULL), CIP_ERR_IO);
    assert_int_equal(cip_open(dir.dir, &no_link, &f, NULL), CIP_ERR_UNSUPPORTED); /* as a folder */
    assert_null(f);
    free(mem);
    scratch_close(&dir);
}

static void the_build_tells_what_it_has(void **state)
{
    (void)state;
    const char *title = NULL, *caps = NULL, *version = NULL;
    bool there = false, found = false;
    for (size_t i = 0; cip_format_at(i, &title, &caps) != NULL; i++)
        if (strcmp(cip_format_at(i, NULL, NULL), "rawarray") == 0) {
            found = true;
            cip_format_at(i, &title, &caps);
            assert_string_equal(title, "RawArray");
            assert_string_equal(caps, "read verify write");
        }
    assert_true(found);
    assert_null(cip_format_at(1000, NULL, NULL));
    assert_string_equal(cip_format_of_path("a.x/b.b2nd", &found), "blosc2");
    assert_false(found);
    assert_string_equal(cip_format_of_path("a/b.zarr", &found), "zarr");
    assert_true(found);
    assert_string_equal(cip_format_of_path("b.zarr.zip", &found), "zarr");
    assert_false(found);
    assert_null(cip_format_of_path("a.asdf/b", NULL));
    assert_null(cip_format_of_path(NULL, &found));
    assert_string_equal(cip_codec_at(0, &there, &version), "zlib");
    assert_true(there);
    assert_null(cip_codec_at(1000, NULL, NULL));
    assert_string_equal(cip_version(), CIP_VERSION_STRING);
    assert_int_equal(cip_version_number(), CIP_VERSION_NUM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(what_is_no_known_format_is_shown),
        cmocka_unit_test(arrays_are_found_by_every_form_of_path),
        cmocka_unit_test(a_file_without_arrays_says_so),
        cmocka_unit_test(what_only_this_file_needs_is_told),
        cmocka_unit_test(blocks_are_read_stored_and_decoded),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(damage_is_a_finding_not_a_failure),
        cmocka_unit_test(an_array_beyond_its_data_is_found),
        cmocka_unit_test(a_sealed_journal_is_shown_over_the_file),
        cmocka_unit_test(a_journal_of_other_bytes_is_an_error),
        cmocka_unit_test(a_journal_that_is_a_link_is_ignored),
        cmocka_unit_test(a_path_that_is_a_link_is_refused_on_request),
        cmocka_unit_test(the_build_tells_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
