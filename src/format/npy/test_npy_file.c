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
#include "support/fault_io.h"
#include "support/one_format.h"

#define CORPUS CIP_SOURCE_DIR "/src/format/npy/corpus/fuzz_npy/"

typedef struct npy_bytes {
    uint8_t *ptr; /* free() it */
    size_t len;
} npy_bytes;

static npy_bytes load(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, CORPUS "%s.npy", name);
    FILE *f = fopen(path, "rb");
    npy_bytes b = { malloc(4096), 0 };
    assert_non_null(f);
    b.len = fread(b.ptr, 1, 4096, f);
    assert_in_range(b.len, 1, 4095);
    fclose(f);
    return b;
}

static cip_status open_name(one_file *f, const char *name, uint32_t flags)
{
    npy_bytes b = load(name);
    cip_status st = one_open(f, &cip_format_npy, b.ptr, b.len, flags, NULL);
    free(b.ptr);
    return st;
}

static void assert_elements(one_file *f, const void *want, size_t n)
{
    size_t len;
    uint8_t *raw = one_read(f, 0, &len);
    assert_non_null(raw);
    assert_int_equal(len, n);
    assert_memory_equal(raw, want, n);
    free(raw);
}

/* float32 0 ... 5, little-endian */
static const uint8_t six[] = { 0, 0, 0,    0,    0, 0, 0x80, 0x3f, 0, 0, 0,    0x40,
                               0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40, 0, 0, 0xa0, 0x40 };

static void files_of_every_version_and_order_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name, *version;
        bool f_order;
    } row[] = {
        { "same-f4-2x3", "1.0", false }, { "same-f4-big", "1.0", false },
        { "good-fortran", "1.0", true }, { "good-v2", "2.0", false },
        { "good-v3", "3.0", false },     { "good-two", "1.0", false },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        assert_int_equal(open_name(&f, row[i].name, 0), CIP_OK);
        assert_int_equal(f.layout->narray, 1);
        const cip_array *a = f.layout->array[0];
        assert_string_equal(f.layout->version, row[i].version);
        assert_string_equal(a->path, "");
        assert_string_equal(cip_dtype_name(a->dtype), "float32");
        assert_int_equal(a->view.ndim, 2);
        assert_int_equal(a->view.shape[0], 2);
        assert_int_equal(a->view.shape[1], 3);
        assert_int_equal(a->f_order, row[i].f_order);
        assert_string_equal(cip_storage_text(&a->storage), "contiguous");
        assert_string_equal(a->storage.codec, "none");
        assert_int_equal(a->storage.nbytes, 24);
        assert_int_equal(a->storage.block, -1);
        assert_null(f.layout->tree);
        assert_elements(&f, six, 24);
        one_close(&f);
    }
}

static void other_types_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name, *dtype;
        int ndim;
        const char *data;
        size_t len;
    } row[] = {
        { "same-bool-scalar", "bool", 0, "\1", 1 },
        { "same-u1-0x3", "uint8", 2, "", 0 },
        { "same-i1-3", "int8", 1, "\1\377\3", 3 },
        { "same-S5", "ascii5", 1, "a\0\0\0\0hello", 10 },
        { "same-V3", "bytes3", 1, "abcdef", 6 },
        { "same-U3", "ucs4-3", 1, "\351\0\0\0a\0\0\0\0\0\0\0x\0\0\0y\0\0\0z\0\0\0", 24 },
        { "same-m8", "timedelta64[ns]", 1, "\1\0\0\0\0\0\0\0\373\377\377\377\377\377\377\377", 16 },
        { "same-latin1-name", "{'\xc3\xa9t\xc3\xa9': int16}", 1, "\0\0", 2 },
        { "same-utf8-name", "{'\xce\xbb\\'\\\\': int16}", 1, "\0\0", 2 },
        { "good-aligned", "{a: int8, b: int32, c: int8}", 1, "\1\3\0\0\0\5\2\4\0\0\0\6", 12 },
        { "good-python2", "{a: int32}", 1, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24 },
        { "good-order", "int32", 1, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        assert_int_equal(open_name(&f, row[i].name, 0), CIP_OK);
        assert_string_equal(cip_dtype_name(f.layout->array[0]->dtype), row[i].dtype);
        assert_int_equal(f.layout->array[0]->view.ndim, row[i].ndim);
        assert_elements(&f, row[i].data, row[i].len);
        one_close(&f);
    }
}

static void nested_records_are_read(void **state)
{
    (void)state;
    static const uint8_t first[] = { 1, 0, 0, 0, 0, 0, 0,   0,   0, 0,    0, 0x3f, 0, 0, 1, 0, 2, 0,
                                     3, 0, 4, 0, 5, 0, 'a', 'b', 0, 0xe9, 0, 0,    0, 0, 0, 0, 0 };
    one_file f;
    size_t len;
    assert_int_equal(open_name(&f, "same-record", 0), CIP_OK);
    assert_string_equal(cip_dtype_name(f.layout->array[0]->dtype),
                        "{id: int32, pos: {x: float32, y: float32}, m: int16[2, 3], name: ascii3, "
                        "u: ucs4-2}");
    uint8_t *raw = one_read(&f, 0, &len);
    assert_int_equal(len, 70);
    assert_memory_equal(raw, first, sizeof first);
    free(raw);
    one_close(&f);
}

static const char *fact(const one_file *f, const char *key)
{
    for (size_t i = 0; i < f->layout->nfact; i++)
        if (strcmp(f->layout->fact[i].key, key) == 0)
            return f->layout->fact[i].value;
    return "";
}

static void facts_say_what_the_header_says(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_name(&f, "good-fortran", 0), CIP_OK);
    assert_string_equal(fact(&f, "descr"), "<f4");
    assert_string_equal(fact(&f, "fortran_order"), "True");
    assert_int_equal(f.layout->nfact, 2);
    one_close(&f);
    assert_int_equal(open_name(&f, "good-two", 0), CIP_OK);
    assert_string_equal(fact(&f, "fortran_order"), "False");
    assert_string_equal(fact(&f, "after the array"), "152 bytes");
    one_close(&f);
}

static void pickled_objects_are_listed_and_never_read(void **state)
{
    (void)state;
    static const char *const name[] = { "good-object", "good-object-field" };
    for (size_t i = 0; i < 2; i++) {
        one_file f;
        size_t len;
        assert_int_equal(open_name(&f, name[i], 0), CIP_OK);
        const cip_array *a = f.layout->array[0];
        assert_string_equal(cip_dtype_name(a->dtype),
                            i == 0 ? "|O" : "[('a', '<i4'), ('o', '|O')]");
        assert_int_equal(a->view.shape[0], i == 0 ? 2 : 1);
        assert_int_equal(a->st, CIP_ERR_UNSUPPORTED);
        assert_int_equal(a->storage.nbytes, f.io->size - 128);
        assert_null(one_read(&f, 0, &len));
        assert_non_null(strstr(f.err.text, "Python objects"));
        one_close(&f);
    }
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        cip_status st;
    } row[] = {
        { "bad-truncated", CIP_ERR_TRUNCATED }, { "bad-negative", CIP_ERR_CORRUPT },
        { "bad-overflow", CIP_ERR_CORRUPT },    { "bad-deep", CIP_ERR_LIMIT },
        { "bad-code", CIP_ERR_CORRUPT },        { "bad-key", CIP_ERR_CORRUPT },
        { "bad-version", CIP_ERR_UNSUPPORTED }, { "bad-length", CIP_ERR_TRUNCATED },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        assert_int_equal(open_name(&f, row[i].name, 0), row[i].st);
        assert_int_equal(f.err.code, row[i].st);
        one_close(&f);
    }
}

static void every_truncation_is_reported(void **state)
{
    (void)state;
    static const char *const name[] = { "same-record", "same-f4-2x3", "good-v2", "good-fortran" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        npy_bytes b = load(name[i]);
        for (size_t n = 0; n < b.len; n++) {
            one_file f;
            cip_status st = one_open(&f, &cip_format_npy, b.ptr, n, 0, NULL);
            assert_int_equal(st, n < 6 ? CIP_ERR_FORMAT : CIP_ERR_TRUNCATED);
            one_close(&f);
        }
        free(b.ptr);
    }
}

/* A file whose header is `text` in version `v`, with 24 bytes of data. */
static cip_status open_text(one_file *f, uint8_t v, const char *text, uint32_t flags)
{
    uint8_t b[1024] = "\x93NUMPY";
    size_t n = strlen(text);
    b[6] = v;
    cip_store_u32(b + 8, (uint32_t)n, false);
    memcpy(b + 12, text, n);
    memset(b + 12 + n, 7, 24);
    return one_open(f, &cip_format_npy, b, 12 + n + 24, flags, NULL);
}

static void names_are_latin1_or_utf8_by_version(void **state)
{
    (void)state;
    one_file f;
    const char *text = "{'descr': [('\xc3\xa9', '<i4')], 'fortran_order': False, 'shape': (6,)}";
    assert_int_equal(open_text(&f, 2, text, 0), CIP_OK);
    assert_string_equal(f.layout->array[0]->dtype->field[0].name, "\xc3\x83\xc2\xa9");
    one_close(&f);
    assert_int_equal(open_text(&f, 3, text, 0), CIP_OK);
    assert_string_equal(f.layout->array[0]->dtype->field[0].name, "\xc3\xa9");
    one_close(&f);
    text = "{'descr': [('\x80\x7f', '<i4')], 'fortran_order': False, 'shape': (6,)}";
    assert_int_equal(open_text(&f, 2, text, 0), CIP_OK);
    assert_string_equal(f.layout->array[0]->dtype->field[0].name, "\xc2\x80\x7f");
    one_close(&f);
    text = "{'descr': [('\xe9', '<i4')], 'fortran_order': False, 'shape': (6,)}";
    assert_int_equal(open_text(&f, 3, text, 0), CIP_ERR_CORRUPT);
    assert_int_equal(f.err.offset, 12 + 13);
    assert_string_equal(f.err.part, "header");
    one_close(&f);
}

static void impossible_shapes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        cip_status st;
    } row[] = {
        { "(6,)", CIP_OK },
        { "(7,)", CIP_ERR_TRUNCATED },
        { "(2305843009213693951,)", CIP_ERR_TRUNCATED },
        { "(2305843009213693952,)", CIP_ERR_CORRUPT },
        { "(0, 2305843009213693952)", CIP_ERR_CORRUPT },
        { "(0, 9223372036854775807, 9)", CIP_ERR_CORRUPT },
        { "(9223372036854775808,)", CIP_ERR_CORRUPT },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (int order = 0; order < 2; order++) {
            char text[256];
            one_file f;
            snprintf(text, sizeof text, "{'descr': '<i4', 'fortran_order': %s, 'shape': %s}",
                     order ? "True" : "False", row[i].shape);
            assert_int_equal(open_text(&f, 2, text, 0), row[i].st);
            one_close(&f);
        }
}

static void an_unknown_version_is_warned_about_when_forced(void **state)
{
    (void)state;
    one_file f;
    const char *text = "{'descr': '<i4', 'fortran_order': False, 'shape': (6,)}";
    assert_int_equal(open_text(&f, 4, text, 0), CIP_ERR_UNSUPPORTED);
    one_close(&f);
    assert_int_equal(open_text(&f, 4, text, CIP_OPEN_FORCE), CIP_OK);
    const cip_finding *w = cip_report_get(&f.env.warnings, 0);
    assert_non_null(w);
    assert_int_equal(w->code, CIP_ERR_UNSUPPORTED);
    assert_int_equal(w->offset, 6);
    assert_string_equal(f.layout->version, "4.0");
    one_close(&f);
    assert_int_equal(open_text(&f, 3, text, CIP_OPEN_FORCE), CIP_OK);
    assert_null(cip_report_get(&f.env.warnings, 0));
    one_close(&f);
}

static int probe(const void *bytes, size_t n)
{
    cip_io io = { .size = n };
    return cip_format_npy.probe(&io, (cip_bytes){ bytes, n });
}

static void the_magic_is_recognised(void **state)
{
    (void)state;
    npy_bytes b = load("same-i1-3");
    assert_int_equal(probe(b.ptr, b.len), 100);
    assert_int_equal(probe(b.ptr, 20), 90);
    assert_int_equal(probe(b.ptr, 6), 90);
    assert_int_equal(probe(b.ptr, 5), 0);
    b.ptr[6] = 9;
    assert_int_equal(probe(b.ptr, b.len), 90);
    b.ptr[0] = 'x';
    assert_int_equal(probe(b.ptr, b.len), 0);
    free(b.ptr);
}

/* --- verify --------------------------------------------------------------------------------- */

typedef struct findings {
    size_t n, notes;
    uint64_t offset, length;
    cip_severity severity; /* of the last */
} findings;

static int on_finding(void *user, const cip_finding *f)
{
    findings *s = user;
    s->n++;
    s->notes += f->severity == CIP_NOTE;
    s->severity = f->severity;
    s->offset = f->offset;
    s->length = f->length;
    return 0;
}

static findings verify_name(const char *name)
{
    one_file f;
    findings s = { 0 };
    cip_report r;
    assert_int_equal(open_name(&f, name, 0), CIP_OK);
    cip_report_init(&r, &f.env.mem, false, on_finding, &s);
    assert_int_equal(cip_format_npy.verify(f.layout, false, &r, &f.err), CIP_OK);
    cip_report_clear(&r);
    one_close(&f);
    return s;
}

static void verify_notes_what_is_odd(void **state)
{
    (void)state;
    findings s = verify_name("same-f4-2x3");
    assert_int_equal(s.n, 0);
    s = verify_name("good-two");
    assert_int_equal(s.n, 1);
    assert_int_equal(s.notes, 1);
    assert_int_equal(s.offset, 152);
    assert_int_equal(s.length, 152);
    s = verify_name("good-order"); /* 61 bytes of header */
    assert_int_equal(s.n, 1);
    assert_int_equal(s.notes, 1);
    assert_int_equal(s.offset, 61);
    s = verify_name("good-object");
    assert_int_equal(s.n, 0);
}

static void failing_reads_are_reported(void **state)
{
    (void)state;
    npy_bytes b = load("same-f4-2x3");
    static const struct {
        cip_status st, want;
        size_t findings;
        cip_severity severity;
    } row[] = { { CIP_ERR_IO, CIP_ERR_IO, 0, CIP_NOTE },
                { CIP_ERR_TRUNCATED, CIP_OK, 1, CIP_BAD },
                { CIP_ERR_CORRUPT, CIP_OK, 1, CIP_BAD },
                { CIP_ERR_UNSUPPORTED, CIP_OK, 1, CIP_WARN } };
    for (size_t i = 0; i < 4; i++) {
        cip_env env;
        fault_io fault;
        cip_layout *l;
        cip_err err = CIP_ERR_INIT;
        cip_report r;
        findings s = { 0 };
        assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
        cip_io *io = fault_io_init(&fault, &env, b.ptr, b.len);
        fault.fail_at = 1; /* one read brings all of the header */
        assert_int_equal(cip_layout_new(&env, io, &l, NULL), CIP_OK);
        fault.reads = 0;
        assert_int_equal(cip_format_npy.open(l, &err), CIP_ERR_IO);
        cip_layout_free(l);
        assert_int_equal(cip_layout_new(&env, io, &l, NULL), CIP_OK);
        fault.fail_at = 0;
        assert_int_equal(cip_format_npy.open(l, &err), CIP_OK);
        fault.reads = 0;
        fault.fail_at = 1;
        fault.status = row[i].st;
        cip_report_init(&r, &env.mem, false, on_finding, &s);
        err = (cip_err)CIP_ERR_INIT;
        assert_int_equal(cip_format_npy.verify(l, 0, &r, &err), row[i].want);
        assert_int_equal(err.code, row[i].want);
        assert_int_equal(s.n, row[i].findings);
        assert_int_equal(s.severity, row[i].severity);
        fault.reads = 0;
        assert_int_equal(cip_format_npy.verify(l, 0, &r, NULL), row[i].want);
        cip_report_clear(&r);
        cip_layout_free(l);
        cip_env_clear(&env);
    }
    free(b.ptr);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    static const char *const name[] = { "same-record", "same-utf8-name", "good-longdouble",
                                        "good-object" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        npy_bytes b = load(name[i]);
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = n };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            one_file f;
            cip_status st = one_open(&f, &cip_format_npy, b.ptr, b.len, 0, &from);
            assert_true(st == CIP_OK || (st == CIP_ERR_NOMEM && f.err.code == CIP_ERR_NOMEM));
            one_close(&f);
            assert_int_equal(alloc.held, 0);
            if (alloc.requests < n) {
                assert_int_equal(st, CIP_OK);
                break;
            }
        }
        free(b.ptr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_every_version_and_order_are_read),
        cmocka_unit_test(other_types_are_read),
        cmocka_unit_test(nested_records_are_read),
        cmocka_unit_test(facts_say_what_the_header_says),
        cmocka_unit_test(pickled_objects_are_listed_and_never_read),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(every_truncation_is_reported),
        cmocka_unit_test(names_are_latin1_or_utf8_by_version),
        cmocka_unit_test(impossible_shapes_are_refused),
        cmocka_unit_test(an_unknown_version_is_warned_about_when_forced),
        cmocka_unit_test(the_magic_is_recognised),
        cmocka_unit_test(verify_notes_what_is_odd),
        cmocka_unit_test(failing_reads_are_reported),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
