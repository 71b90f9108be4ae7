/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/endian.h"
#include "format/npy/npy.h"
#include "support/fail_alloc.h"
#include "support/one_format.h"

#define CORPUS CIP_SOURCE_DIR "/src/format/npy/corpus/fuzz_npy/"

static cip_spec spec_of(const cip_spec_array *a)
{
    return (cip_spec){ .narray = 1, .array = a, .big = -1 };
}

/* The file that numpy wrote, written again from its elements. */
static void rewrite(one_output *o, one_file *f, const cip_allocator *from, cip_status *st)
{
    const cip_array *array = f->layout->array[0];
    const cip_spec_array a = { .path = "",
                               .dtype = array->dtype,
                               .ndim = array->view.ndim,
                               .shape = array->view.shape,
                               .masked = false };
    const cip_npy_preamble *p = &((const cip_npy_header *)f->layout->own)->pre;
    cip_spec spec = spec_of(&a);
    spec.big = cip_dtype_is_big(array->dtype);
    *st = one_write_from(o, &cip_format_npy, &spec, f->bytes + p->text_off + p->text_len, 2, from);
}

static void open_corpus(one_file *f, const char *name)
{
    char path[1024];
    uint8_t b[4096];
    snprintf(path, sizeof path, CORPUS "%s.npy", name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    size_t n = fread(b, 1, sizeof b, in);
    fclose(in);
    assert_int_equal(one_open(f, &cip_format_npy, b, n, 0, NULL), CIP_OK);
}

static void files_are_byte_for_byte_numpys(void **state)
{
    (void)state;
    static const char *const name[] = {
        "same-f4-2x3", "same-i8-7",   "same-bool-scalar", "same-u1-0x3",      "same-i1-3",
        "same-c16",    "same-S5",     "same-U3",          "same-M8",          "same-m8",
        "same-V3",     "same-f4-big", "same-record",      "same-latin1-name", "same-utf8-name",
    };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        one_file f;
        one_output o = { 0 };
        cip_status st;
        open_corpus(&f, name[i]);
        rewrite(&o, &f, NULL, &st);
        assert_int_equal(st, CIP_OK);
        assert_int_equal(o.nlost, 0);
        assert_int_equal(o.bytes.len, f.io->size);
        assert_memory_equal(o.bytes.ptr, f.bytes, o.bytes.len);
        one_output_clear(&o);
        one_close(&f);
    }
}

static void fortran_order_becomes_c_order(void **state)
{
    (void)state;
    one_file f, c;
    size_t len;
    one_output o = { 0 };
    open_corpus(&f, "good-fortran");
    open_corpus(&c, "same-f4-2x3");
    uint8_t *raw = one_read(&f, 0, &len);
    const cip_array *array = f.layout->array[0];
    const cip_spec_array a = {
        .path = "", .dtype = array->dtype, .ndim = 2, .shape = array->view.shape, .masked = false
    };
    cip_spec spec = spec_of(&a);
    assert_int_equal(one_write(&o, &cip_format_npy, &spec, raw, 4), CIP_OK);
    assert_int_equal(o.bytes.len, c.io->size);
    assert_memory_equal(o.bytes.ptr, c.bytes, o.bytes.len);
    free(raw);
    one_output_clear(&o);
    one_close(&f);
    one_close(&c);
}

static void without_a_wish_the_byte_order_is_kept(void **state)
{
    (void)state;
    one_file big, little;
    one_output o = { 0 };
    open_corpus(&big, "same-f4-big");
    open_corpus(&little, "same-f4-2x3");
    for (int from_big = 0; from_big < 2; from_big++)
        for (int wish = -1; wish < 2; wish++) {
            const one_file *f = from_big ? &big : &little;
            const one_file *same = wish == 1 || (wish < 0 && from_big) ? &big : &little;
            const cip_array *array = f->layout->array[0];
            const cip_spec_array a = { .path = "",
                                       .dtype = array->dtype,
                                       .ndim = 2,
                                       .shape = array->view.shape,
                                       .masked = false };
            cip_spec spec = spec_of(&a);
            spec.big = wish;
            assert_int_equal(one_write(&o, &cip_format_npy, &spec, f->bytes + 128, 4), CIP_OK);
            assert_int_equal(o.bytes.len, same->io->size);
            assert_memory_equal(o.bytes.ptr, same->bytes, o.bytes.len);
            one_output_clear(&o);
        }
    one_close(&big);
    one_close(&little);
}

static void records_become_packed_and_little_endian(void **state)
{
    (void)state;
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    const cip_dtype *d;
    const char *text = "[('a', '|u1'), ('', '|V1'), ('b', '>i2')]";
    const char *want = "{'descr': [('a', '|u1'), ('b', '<i2')], 'fortran_order': False, ";
    one_output o = { 0 };
    assert_int_equal(cip_dtype_of_text(&arena, text, strlen(text), false, &d, NULL), CIP_OK);
    const cip_spec_array a = { .path = "", .dtype = d, .ndim = 0, .shape = NULL, .masked = false };
    cip_spec spec = spec_of(&a);
    assert_int_equal(one_write(&o, &cip_format_npy, &spec, "\1-\0\2", 1), CIP_OK);
    assert_int_equal(o.bytes.len, 128 + 3);
    assert_memory_equal(o.bytes.ptr + 10, want, strlen(want));
    assert_memory_equal(o.bytes.ptr + 128, "\1\2\0", 3);
    one_output_clear(&o);
    cip_arena_clear(&arena);
}

static void padding_is_left_out(void **state)
{
    (void)state;
    one_file f, back;
    size_t len;
    one_output o = { 0 };
    cip_status st;
    open_corpus(&f, "good-aligned");
    rewrite(&o, &f, NULL, &st);
    assert_int_equal(st, CIP_OK);
    assert_int_equal(one_open(&back, &cip_format_npy, o.bytes.ptr, o.bytes.len, 0, NULL), CIP_OK);
    assert_int_equal(cip_dtype_itemsize(back.layout->array[0]->dtype), 6);
    uint8_t *raw = one_read(&back, 0, &len);
    assert_memory_equal(raw, "\1\3\0\0\0\5\2\4\0\0\0\6", 12);
    free(raw);
    one_close(&back);
    one_output_clear(&o);
    one_close(&f);
}

/* A record of n fields named by `name` with a number behind it. */
static const cip_dtype *wide_record(cip_arena *a, size_t n, const char *name)
{
    const cip_dtype *d;
    cip_field *field;
    assert_int_equal(CIP_ARENA_NEW(a, &field, n, NULL), CIP_OK);
    for (size_t i = 0; i < n; i++) {
        char *text;
        assert_int_equal(cip_arena_printf(a, &text, NULL, "%s%05zu", name, i), CIP_OK);
        field[i] = (cip_field){ .name = text, .dtype = cip_dtype_fixed(CIP_I8, false) };
    }
    assert_int_equal(cip_dtype_record(a, n, field, true, 0, &d, NULL), CIP_OK);
    return d;
}

/* Writes one such element; the header's length without magic, version and length. */
static uint32_t write_wide(one_output *o, size_t n, const char *name)
{
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    const cip_spec_array a = {
        .path = "", .dtype = wide_record(&arena, n, name), .ndim = 0, .shape = NULL, .masked = false
    };
    cip_spec spec = spec_of(&a);
    uint8_t *zeros = calloc(n, 1);
    assert_int_equal(one_write(o, &cip_format_npy, &spec, zeros, 1), CIP_OK);
    free(zeros);
    cip_arena_clear(&arena);
    const uint8_t *p = o->bytes.ptr;
    uint32_t npre = p[6] == 1 ? 10 : 12;
    uint32_t text = p[6] == 1 ? cip_load_u16(p + 8, false) : cip_load_u32(p + 8, false);
    assert_int_equal((npre + text) % 64, 0);
    assert_int_equal(p[npre + text - 1], '\n');
    assert_int_equal(o->bytes.len, npre + text + n);
    return text;
}

static void long_headers_are_version_2(void **state)
{
    (void)state;
    one_output o = { 0 };
    /* 61 characters around fields of 19: 65535 in all, then over it */
    uint32_t len = write_wide(&o, 3446, "f");
    assert_int_equal(o.bytes.ptr[6], 1);
    assert_int_equal(len, 65526);
    one_output_clear(&o);
    len = write_wide(&o, 3447, "f");
    assert_int_equal(o.bytes.ptr[6], 2);
    assert_in_range(len, 65520, 65599);
    one_output_clear(&o);
}

static void names_choose_the_version(void **state)
{
    (void)state;
    one_output o = { 0 };
    write_wide(&o, 1, "\xc3\xbf"); /* U+00FF: the last of Latin-1 */
    assert_int_equal(o.bytes.ptr[6], 1);
    assert_non_null(memchr(o.bytes.ptr + 10, 0xff, 118));
    one_output_clear(&o);
    write_wide(&o, 1, "\xc4\x80"); /* U+0100 */
    assert_int_equal(o.bytes.ptr[6], 3);
    assert_non_null(memchr(o.bytes.ptr + 12, 0xc4, 116));
    one_output_clear(&o);
    write_wide(&o, 4000, "\xc4\x80");
    assert_int_equal(o.bytes.ptr[6], 3);
    one_output_clear(&o);
}

static void assert_repr(const char *descr, const char *want)
{
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_buf b = { .mem = &mem };
    assert_int_equal(cip_npy_repr(&b, descr, NULL), CIP_OK);
    assert_int_equal(cip_buf_nul(&b, NULL), CIP_OK);
    assert_string_equal((char *)b.ptr, want);
    cip_buf_clear(&b);
}

/* What Python prints for each. */
static void names_are_written_as_python_does(void **state)
{
    (void)state;
    assert_repr("<f4", "'<f4'");
    assert_repr("[]", "[]");
    assert_repr("[('a', '<i4', (2, 3))]", "[('a', '<i4', (2, 3))]");
    assert_repr("[('\\xe9\\u03bb\\U0001f600', '|i1')]",
                "[('\xc3\xa9\xce\xbb\xf0\x9f\x98\x80', '|i1')]");
    assert_repr("[('\\x01\\x7f\\xad\\u2028\\n\\\\x41', '|i1')]",
                "[('\\x01\\x7f\\xad\\u2028\\n\\\\x41', '|i1')]");
    assert_repr("[('it\\'s', '|i1'), ('b', '|i1')]", "[(\"it's\", '|i1'), ('b', '|i1')]");
    assert_repr("[('\\'\"', '|i1')]", "[('\\'\"', '|i1')]");
    assert_repr("[('\"\\'', '|i1')]", "[('\"\\'', '|i1')]");
    assert_repr("[('\"', '|i1')]", "[('\"', '|i1')]");
    assert_repr("[('\\\\', '|i1'), ('c', '|i1')]", "[('\\\\', '|i1'), ('c', '|i1')]");
    assert_repr("[('\\\\\\'', '|i1')]", "[(\"\\\\'\", '|i1')]");
}

/* numpy adds 64 blanks where none are needed. */
static void the_header_is_padded_like_numpys(void **state)
{
    (void)state;
    for (size_t n = 1; n < 70; n++) {
        char name[128] = "";
        one_output o = { 0 };
        memset(name, 'x', n);
        uint32_t text = write_wide(&o, 1, name);
        size_t dict =
            strlen("{'descr': [('00000', '|i1')], 'fortran_order': False, 'shape': (), }");
        assert_int_equal(text + 10, (10 + dict + n + 1) / 64 * 64 + 64);
        one_output_clear(&o);
    }
}

/* --- loss ----------------------------------------------------------------------------------- */

static cip_status check_only(const cip_spec *spec, one_output *o)
{
    cip_report loss;
    memset(o, 0, sizeof *o);
    assert_int_equal(cip_env_init(&o->env, NULL, NULL, NULL, NULL), CIP_OK);
    cip_report_init(&loss, &o->env.mem, false, one_on_loss, o);
    cip_spec with = *spec;
    with.env = &o->env;
    cip_status st = cip_npy_store.check(&with, &loss, NULL);
    cip_report_clear(&loss);
    one_output_clear(o);
    return st;
}

static void assert_lost(const cip_spec *spec, size_t n, const char *text)
{
    one_output o;
    assert_int_equal(check_only(spec, &o), CIP_OK);
    assert_int_equal(o.nlost, n);
    assert_int_equal(o.nimpossible, 0);
    assert_non_null(strstr(o.lost, text));
}

static void name_mask_and_labels_are_lost(void **state)
{
    (void)state;
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    const cip_dtype *d;
    cip_spec_array a = {
        .path = "x/y", .dtype = cip_dtype_of(CIP_F32), .ndim = 0, .shape = NULL, .masked = false
    };
    cip_spec spec = spec_of(&a);
    assert_lost(&spec, 0, "the array's name is left out"); /* told, not refused */
    a.path = NULL;
    a.masked = true;
    assert_lost(&spec, 1, "the mask is lost");
    a.masked = false;
    assert_lost(&spec, 0, "");
    assert_int_equal(cip_dtype_opaque(&arena, 3, "int24", &d, NULL), CIP_OK);
    a.dtype = d;
    assert_lost(&spec, 1, "int24");
    const cip_field f[] = { { .name = "i", .dtype = cip_dtype_of(CIP_I8) },
                            { .name = "f", .dtype = d } };
    assert_int_equal(cip_dtype_record(&arena, 2, f, true, 0, &a.dtype, NULL), CIP_OK);
    assert_lost(&spec, 1, "int24");
    assert_int_equal(cip_dtype_opaque(&arena, 3, NULL, &a.dtype, NULL), CIP_OK);
    assert_lost(&spec, 0, "");
    cip_arena_clear(&arena);
}

static void what_tells_of_the_files_origin_is_no_loss(void **state)
{
    (void)state;
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    cip_node *map, *when, *array;
    assert_int_equal(cip_node_new_map(&arena, 2, &map, NULL), CIP_OK);
    assert_int_equal(cip_node_new_string(&arena, "yesterday", 9, &when, NULL), CIP_OK);
    assert_int_equal(cip_node_new_string(&arena, "array", 5, &array, NULL), CIP_OK);
    assert_int_equal(cip_node_set_key(&arena, map, 0, "made", when, NULL), CIP_OK);
    assert_int_equal(cip_node_set_key(&arena, map, 1, "data", array, NULL), CIP_OK);
    const cip_spec_array a = {
        .path = "", .dtype = cip_dtype_of(CIP_F32), .ndim = 0, .shape = NULL, .node = array
    };
    cip_spec spec = spec_of(&a);
    spec.tree = map;
    spec.origin_keys = "by made";
    assert_lost(&spec, 0, "the file's origin (by made) is left out");
    spec.origin_keys = "by mad";
    assert_lost(&spec, 1, "the metadata tree is lost");
    cip_node_set_pair(map, 0, map->pair[0].key, array); /* all of it is the array */
    assert_lost(&spec, 0, "");
    cip_arena_clear(&arena);
}

static void a_tree_is_lost_unless_it_says_nothing(void **state)
{
    (void)state;
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    const cip_spec_array a = {
        .path = "", .dtype = cip_dtype_of(CIP_F32), .ndim = 0, .shape = NULL, .masked = false
    };
    cip_spec spec = spec_of(&a);
    cip_node *empty, *flags, *metadata, *nothing, *key;
    assert_int_equal(cip_node_new_map(&arena, 0, &empty, NULL), CIP_OK);
    assert_int_equal(cip_node_new_null(&arena, &nothing, NULL), CIP_OK);
    assert_int_equal(cip_node_new_map(&arena, 1, &flags, NULL), CIP_OK);
    assert_int_equal(cip_node_new_string(&arena, "flags", 5, &key, NULL), CIP_OK);
    cip_node_set_pair(flags, 0, key, nothing);
    assert_int_equal(cip_node_new_map(&arena, 1, &metadata, NULL), CIP_OK);
    assert_int_equal(cip_node_new_string(&arena, "metadata", 8, &key, NULL), CIP_OK);
    cip_node_set_pair(metadata, 0, key, nothing);
    spec.tree = empty;
    assert_lost(&spec, 0, "");
    spec.tree = nothing;
    assert_lost(&spec, 0, "");
    const cip_node tilde = { .type = CIP_NODE_NULL, .text = "~", .len = 1 };
    spec.tree = &tilde;
    assert_lost(&spec, 0, "");
    spec.tree = key; /* a tree of one text */
    assert_lost(&spec, 1, "the metadata tree is lost");
    spec.tree = flags;
    assert_lost(&spec, 1, "the metadata tree is lost");
    spec.source_format = "asdf";
    assert_lost(&spec, 1, "the metadata tree is lost");
    spec.form_keys = "flags eltype elbyte size dims";
    assert_lost(&spec, 0, "");
    spec.tree = metadata;
    assert_lost(&spec, 1, "the metadata tree is lost");
    cip_arena_clear(&arena);
}

/* --- failures ------------------------------------------------------------------------------- */

static void what_cannot_be_written_is_refused(void **state)
{
    (void)state;
    const int64_t huge[] = { INT64_MAX, 2 };
    cip_spec_array a[2] = {
        { .path = "", .dtype = cip_dtype_of(CIP_I16), .ndim = 0, .shape = NULL, .masked = false },
        { .path = "", .dtype = cip_dtype_of(CIP_I16), .ndim = 0, .shape = NULL, .masked = false }
    };
    one_output o = { 0 };
    cip_spec spec = spec_of(a);
    spec.narray = 2;
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nimpossible, 1);
    assert_int_equal(one_write(&o, &cip_format_npy, &spec, "", 1), CIP_ERR_UNSUPPORTED);
    one_output_clear(&o);
    spec.narray = 1;
    spec.codec = "zlib";
    assert_int_equal(one_write(&o, &cip_format_npy, &spec, "ab", 1), CIP_ERR_UNSUPPORTED);
    one_output_clear(&o);
    spec.codec = "none";
    assert_int_equal(one_write(&o, &cip_format_npy, &spec, "ab", 1), CIP_OK);
    assert_int_equal(o.bytes.len, 130);
    one_output_clear(&o);
    a[0].ndim = 2;
    a[0].shape = huge;
    assert_int_equal(one_write(&o, &cip_format_npy, &spec, "", 1), CIP_ERR_UNSUPPORTED);
    assert_int_equal(o.bytes.len, 0);
    one_output_clear(&o);
    a[0].ndim = 1; /* INT64_MAX elements of two bytes */
    assert_int_equal(one_write(&o, &cip_format_npy, &spec, "", 1), CIP_ERR_UNSUPPORTED);
    one_output_clear(&o);
}

static cip_status give(void *w, cip_bytes bytes, uint64_t raw_len)
{
    const cip_chunk_in in = { .bytes = bytes, .run = 1, .raw_len = raw_len };
    return cip_npy_store.store(w, 0, 0, 1, &in, NULL);
}

static void more_or_fewer_bytes_than_promised_are_refused(void **state)
{
    (void)state;
    const int64_t shape[] = { 5 };
    const cip_spec_array a = {
        .path = "", .dtype = cip_dtype_of(CIP_U8), .ndim = 1, .shape = shape, .masked = false
    };
    cip_spec spec = spec_of(&a);
    cip_array_form form = { .dtype = NULL };
    one_output o = { 0 };
    cip_env env;
    void *w;
    assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
    cip_arena arena = { .mem = &env.mem };
    o.bytes.mem = &env.mem;
    cip_out to = { .write = one_out, .user = &o };
    const cip_bytes data = { (const uint8_t *)"abcdef", 6 }, four = { data.ptr, 4 },
                    one = { data.ptr, 1 };
    const cip_store_begin b = {
        .env = &env, .arena = &arena, .spec = &spec, .out = &to, .form = &form
    };
    assert_int_equal(cip_npy_store.begin(&b, &w, NULL), CIP_OK);
    assert_int_equal(form.nstep, 0);
    assert_int_equal(form.chunk_nbytes, 0);
    assert_int_equal(give(w, data, 6), CIP_ERR_ARG);
    assert_int_equal(give(w, four, 5), CIP_ERR_ARG);
    assert_int_equal(give(w, four, 4), CIP_OK);
    assert_int_equal(cip_npy_store.finish(w, NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(give(w, one, 1), CIP_OK);
    assert_int_equal(cip_npy_store.finish(w, NULL, NULL), CIP_OK);
    assert_int_equal(o.bytes.len, 133);
    cip_buf_clear(&o.bytes);
    cip_arena_clear(&arena);
    cip_env_clear(&env);
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    one_file f;
    open_corpus(&f, "same-i8-7");
    for (size_t room = 1; room <= f.io->size; room++) {
        one_output o = { .fail_after = room };
        cip_status st;
        rewrite(&o, &f, NULL, &st);
        assert_int_equal(st, room < f.io->size ? CIP_ERR_IO : CIP_OK);
        one_output_clear(&o);
    }
    one_close(&f);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    one_file f;
    open_corpus(&f, "same-record");
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        one_output o = { 0 };
        cip_status st;
        rewrite(&o, &f, &from, &st);
        assert_int_equal(st, alloc.requests < n ? CIP_OK : CIP_ERR_NOMEM);
        one_output_clear(&o);
        assert_int_equal(alloc.held, 0);
        if (st == CIP_OK)
            break;
    }
    one_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_byte_for_byte_numpys),
        cmocka_unit_test(fortran_order_becomes_c_order),
        cmocka_unit_test(without_a_wish_the_byte_order_is_kept),
        cmocka_unit_test(records_become_packed_and_little_endian),
        cmocka_unit_test(padding_is_left_out),
        cmocka_unit_test(long_headers_are_version_2),
        cmocka_unit_test(names_choose_the_version),
        cmocka_unit_test(names_are_written_as_python_does),
        cmocka_unit_test(the_header_is_padded_like_numpys),
        cmocka_unit_test(name_mask_and_labels_are_lost),
        cmocka_unit_test(what_tells_of_the_files_origin_is_no_loss),
        cmocka_unit_test(a_tree_is_lost_unless_it_says_nothing),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(more_or_fewer_bytes_than_promised_are_refused),
        cmocka_unit_test(a_full_disk_is_reported),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
