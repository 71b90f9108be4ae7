/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "format/rawarray/ra_make.h"
#include "format/rawarray/rawarray.h"
#include "support/fault_io.h"
#include "support/needs.h"
#include "support/one_format.h"

enum { RECORDS = 40 };

/* RECORDS files of `each` bytes: 2 x 3 int16 whose elements are all `i` for the i-th. */
typedef struct nest_bytes {
    uint8_t *ptr;
    size_t each;
} nest_bytes;

static nest_bytes make_records(void)
{
    const uint64_t dims[] = { 3, 2 };
    nest_bytes n = { NULL, 0 };
    for (size_t i = 0; i < RECORDS; i++) {
        uint8_t data[12];
        memset(data, (int)i, sizeof data);
        ra_make m = { .eltype = 1,
                      .elbyte = 2,
                      .size = 12,
                      .ndim = 2,
                      .dims = dims,
                      .data = data,
                      .data_len = 12 };
        ra_bytes b = ra_build(&m);
        n.each = b.len;
        n.ptr = realloc(n.ptr, (i + 1) * b.len);
        memcpy(n.ptr + i * b.len, b.ptr, b.len);
        free(b.ptr);
    }
    return n;
}

static cip_status open_records(one_file *f, const nest_bytes *n, size_t count, uint64_t flags)
{
    const uint64_t dims[] = { count };
    ra_make m = { .flags = flags,
                  .elbyte = n->each,
                  .size = n->each * count,
                  .ndim = 1,
                  .dims = dims,
                  .data = n->ptr,
                  .data_len = n->each * count };
    ra_bytes b = ra_build(&m);
    cip_status st = one_open(f, &cip_format_rawarray, b.ptr, b.len, 0, NULL);
    free(b.ptr);
    return st;
}

static void assert_label(const nest_bytes *n, size_t count, const char *label)
{
    one_file f;
    assert_int_equal(open_records(&f, n, count, 0), CIP_OK);
    const cip_array *a = f.layout->array[0];
    assert_string_equal(cip_dtype_name(a->dtype), label);
    assert_int_equal(cip_dtype_itemsize(a->dtype), n->each);
    assert_string_equal(cip_storage_text(&a->storage),
                        strncmp(label, "raw", 3) == 0 ? "nested" : "contiguous");
    one_close(&f);
}

static void files_in_a_file_are_named_as_such(void **state)
{
    (void)state;
    nest_bytes n = make_records();
    assert_label(&n, 1, "rawarray(int16[2, 3])");
    assert_label(&n, RECORDS, "rawarray(int16[2, 3])");
    assert_label(&n, 0, "bytes76");
    free(n.ptr);
}

static void a_record_is_a_file(void **state)
{
    (void)state;
    nest_bytes n = make_records();
    one_file f, inner;
    size_t len;
    assert_int_equal(open_records(&f, &n, RECORDS, 1), CIP_OK); /* the flag swaps no records */
    uint8_t *raw = one_read(&f, 0, &len);
    assert_int_equal(len, RECORDS * n.each);
    assert_memory_equal(raw, n.ptr, len);
    assert_int_equal(one_open(&inner, &cip_format_rawarray, raw + 3 * n.each, n.each, 0, NULL),
                     CIP_OK);
    free(raw);
    raw = one_read(&inner, 0, &len);
    assert_int_equal(len, 12);
    assert_memory_equal(raw, "\3\3\3\3\3\3\3\3\3\3\3\3", 12);
    free(raw);
    one_close(&inner);
    one_close(&f);
    free(n.ptr);
}

/* Spoils the magic of one record for the time of a look. */
static void assert_label_without(nest_bytes *n, size_t record, const char *label)
{
    n->ptr[record * n->each] = 'R';
    assert_label(n, RECORDS, label);
    n->ptr[record * n->each] = 'r';
}

static void the_first_16_and_the_last_are_looked_at(void **state)
{
    (void)state;
    nest_bytes n = make_records();
    for (size_t i = 0; i < 16; i++)
        assert_label_without(&n, i, "bytes76");
    assert_label_without(&n, 16, "rawarray(int16[2, 3])");
    assert_label_without(&n, RECORDS - 2, "rawarray(int16[2, 3])");
    assert_label_without(&n, RECORDS - 1, "bytes76");
    free(n.ptr);
}

static void unequal_headers_have_no_type_in_common(void **state)
{
    (void)state;
    nest_bytes n = make_records();
    uint8_t *record = n.ptr + 5 * n.each;
    cip_store_u64(record + 48, 2, false);
    cip_store_u64(record + 56, 3, false);
    assert_label(&n, RECORDS, "rawarray");
    assert_label(&n, 6, "rawarray");
    assert_label(&n, 5, "rawarray(int16[2, 3])");
    free(n.ptr);
}

static void records_may_have_trailing_metadata(void **state)
{
    (void)state;
    nest_bytes n = make_records();
    for (size_t i = 0; i < RECORDS; i++) { /* one row fewer: 6 bytes behind the data */
        cip_store_u64(n.ptr + i * n.each + 32, 6, false);
        cip_store_u64(n.ptr + i * n.each + 56, 1, false);
    }
    assert_label(&n, RECORDS, "rawarray(int16[1, 3])");
    for (size_t i = 0; i < RECORDS; i++) { /* one row more than fits */
        cip_store_u64(n.ptr + i * n.each + 32, 18, false);
        cip_store_u64(n.ptr + i * n.each + 56, 3, false);
    }
    assert_label(&n, RECORDS, "bytes76");
    free(n.ptr);
}

static void a_scalar_inside_is_named_without_axes(void **state)
{
    (void)state;
    one_file f;
    ra_make m = { .eltype = 3, .elbyte = 8, .size = 8, .data = "12345678", .data_len = 8 };
    ra_bytes in = ra_build(&m);
    ra_make outer = { .elbyte = in.len, .size = in.len, .data = in.ptr, .data_len = in.len };
    ra_bytes out = ra_build(&outer);
    assert_int_equal(one_open(&f, &cip_format_rawarray, out.ptr, out.len, 0, NULL), CIP_OK);
    assert_string_equal(cip_dtype_name(f.layout->array[0]->dtype), "rawarray(float64)");
    one_close(&f);
    free(in.ptr);
    free(out.ptr);
}

static void only_user_types_nest(void **state)
{
    (void)state;
    nest_bytes n = make_records();
    const uint64_t dims[] = { RECORDS };
    one_file f;
    ra_make m = { .eltype = 2,
                  .elbyte = n.each,
                  .size = n.each * RECORDS,
                  .ndim = 1,
                  .dims = dims,
                  .data = n.ptr,
                  .data_len = n.each * RECORDS };
    ra_bytes b = ra_build(&m);
    assert_int_equal(one_open(&f, &cip_format_rawarray, b.ptr, b.len, 0, NULL), CIP_OK);
    assert_string_equal(cip_dtype_name(f.layout->array[0]->dtype), "uint608");
    one_close(&f);
    free(b.ptr);
    free(n.ptr);
}

/* An LZ4 block of nothing but literals. */
static ra_bytes literals(const uint8_t *p, size_t n)
{
    ra_bytes b = { malloc(n + n / 255 + 16), 0 };
    size_t rest = n - 15;
    b.ptr[b.len++] = 0xf0;
    for (; rest >= 255; rest -= 255)
        b.ptr[b.len++] = 255;
    b.ptr[b.len++] = (uint8_t)rest;
    memcpy(b.ptr + b.len, p, n);
    b.len += n;
    return b;
}

static void compressed_records_are_looked_into(void **state)
{
    (void)state;
    NEEDS(LZ4);
    nest_bytes n = make_records();
    const uint64_t dims[] = { RECORDS };
    one_file f;
    ra_bytes packed = literals(n.ptr, RECORDS * n.each);
    ra_make m = { .flags = 2,
                  .elbyte = n.each,
                  .size = packed.len,
                  .ndim = 1,
                  .dims = dims,
                  .data = packed.ptr,
                  .data_len = packed.len };
    ra_bytes b = ra_build(&m);
    assert_int_equal(one_open(&f, &cip_format_rawarray, b.ptr, b.len, 0, NULL), CIP_OK);
    assert_string_equal(cip_dtype_name(f.layout->array[0]->dtype), "rawarray(int16[2, 3])");
    one_close(&f);
    b.ptr[56] = 0xf1; /* damaged: listed as what it can be */
    b.ptr[57] = 3;
    assert_int_equal(one_open(&f, &cip_format_rawarray, b.ptr, b.len, 0, NULL), CIP_OK);
    assert_string_equal(cip_dtype_name(f.layout->array[0]->dtype), "bytes76");
    one_close(&f);
    free(b.ptr);
    free(packed.ptr);
    free(n.ptr);
}

/* 2^20 files of 64 bytes (and `more`), as one LZ4 block: one of them, then the same again. */
static void assert_large(uint64_t more, const char *label)
{
    ra_make inner = { .eltype = 1, .elbyte = 16, .size = 16, .data = "0123456789abcdef" };
    inner.data_len = 16;
    ra_bytes in = ra_build(&inner);
    assert_int_equal(in.len, 64);
    const uint64_t dims[] = { (1 << 20) + more };
    uint64_t rest = dims[0] * 64 - 64 - 5 - 19;
    ra_bytes packed = { malloc(rest / 255 + 128), 0 };
    uint8_t *p = packed.ptr;
    *p++ = 0xff; /* 64 literals, a match of 19 and more */
    *p++ = 64 - 15;
    memcpy(p, in.ptr, 64);
    p += 64;
    *p++ = 64; /* so far back */
    *p++ = 0;
    for (; rest >= 255; rest -= 255)
        *p++ = 255;
    *p++ = (uint8_t)rest;
    *p++ = 0x50;
    memcpy(p, in.ptr + 59, 5);
    packed.len = (size_t)(p + 5 - packed.ptr);
    ra_make m = { .flags = 2, .elbyte = 64, .size = packed.len, .ndim = 1, .dims = dims };
    m.data = packed.ptr;
    m.data_len = packed.len;
    ra_bytes b = ra_build(&m);
    one_file f;
    assert_int_equal(one_open(&f, &cip_format_rawarray, b.ptr, b.len, 0, NULL), CIP_OK);
    assert_string_equal(cip_dtype_name(f.layout->array[0]->dtype), label);
    one_close(&f);
    free(b.ptr);
    free(packed.ptr);
    free(in.ptr);
}

static void large_compressed_data_are_not_decoded_to_look(void **state)
{
    (void)state;
    NEEDS(LZ4);
    assert_large(0, "rawarray(int128)");
    assert_large(1, "bytes64");
}

/* --- verify --------------------------------------------------------------------------------- */

typedef struct findings {
    size_t n, notes, warnings, bad;
    uint64_t offset, length; /* of the last */
    char part[64], text[256];
    size_t stop_at; /* the callback stops there; 0: never */
} findings;

static int on_finding(void *user, const cip_finding *f)
{
    findings *s = user;
    s->n++;
    s->notes += f->severity == CIP_NOTE;
    s->warnings += f->severity == CIP_WARN;
    s->bad += f->severity == CIP_BAD;
    s->offset = f->offset;
    s->length = f->length;
    snprintf(s->part, sizeof s->part, "%s", f->part != NULL ? f->part : "");
    snprintf(s->text, sizeof s->text, "%s", f->text);
    return s->n == s->stop_at;
}

static cip_status verify(one_file *f, findings *s)
{
    cip_report r;
    cip_report_init(&r, &f->env.mem, false, on_finding, s);
    cip_status st = cip_format_rawarray.verify(f->layout, false, &r, &f->err);
    cip_report_clear(&r);
    return st;
}

typedef struct failure {
    size_t at; /* which read of verify fails: one for all bytes, then one for each record */
    cip_status st, want;
    size_t bad, warnings; /* findings */
} failure;

/* `silent`: the caller wants no error record. */
static void assert_failure(ra_bytes b, const failure *row, bool silent)
{
    cip_env env;
    fault_io fault;
    cip_layout *l;
    cip_report r;
    cip_err err = CIP_ERR_INIT, *out = silent ? NULL : &err;
    findings s = { 0 };
    assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
    cip_io *io = fault_io_init(&fault, &env, b.ptr, b.len);
    assert_int_equal(cip_layout_new(&env, io, &l, NULL), CIP_OK);
    fault.fail_at = 10; /* the header, then 17 records are read */
    assert_int_equal(cip_format_rawarray.open(l, out), CIP_ERR_IO);
    assert_int_equal(err.code, silent ? CIP_OK : CIP_ERR_IO);
    cip_layout_free(l);
    fault.fail_at = 0;
    assert_int_equal(cip_layout_new(&env, io, &l, NULL), CIP_OK);
    assert_int_equal(cip_format_rawarray.open(l, NULL), CIP_OK);
    fault.reads = 0;
    fault.fail_at = row->at;
    fault.status = row->st;
    err = (cip_err)CIP_ERR_INIT;
    cip_report_init(&r, &env.mem, false, on_finding, &s);
    assert_int_equal(cip_format_rawarray.verify(l, 0, &r, out), row->want);
    assert_int_equal(err.code, silent ? CIP_OK : row->want);
    assert_int_equal(s.bad, row->bad);
    assert_int_equal(s.warnings, row->warnings);
    cip_report_clear(&r);
    cip_layout_free(l);
    cip_env_clear(&env);
}

static void failing_reads_are_reported(void **state)
{
    (void)state;
    static const failure row[] = {
        { 0, CIP_ERR_IO, CIP_OK, 0, 0 },           { 1, CIP_ERR_IO, CIP_ERR_IO, 0, 0 },
        { 1, CIP_ERR_TRUNCATED, CIP_OK, 1, 0 },    { 1, CIP_ERR_CORRUPT, CIP_OK, 1, 0 },
        { 1, CIP_ERR_UNSUPPORTED, CIP_OK, 0, 1 },  { 2, CIP_ERR_IO, CIP_ERR_IO, 0, 0 },
        { 41, CIP_ERR_IO, CIP_ERR_IO, 0, 0 },      { 41, CIP_ERR_TRUNCATED, CIP_OK, 1, 0 },
        { 41, CIP_ERR_UNSUPPORTED, CIP_OK, 0, 1 },
    };
    nest_bytes n = make_records();
    const uint64_t dims[] = { RECORDS };
    ra_make m = { .elbyte = n.each, .size = n.each * RECORDS, .ndim = 1, .dims = dims };
    m.data = n.ptr;
    m.data_len = n.each * RECORDS;
    ra_bytes b = ra_build(&m);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_failure(b, &row[i], false);
        assert_failure(b, &row[i], true);
    }
    free(b.ptr);
    free(n.ptr);
}

static void a_plain_file_has_no_findings(void **state)
{
    (void)state;
    nest_bytes n = make_records();
    one_file f;
    findings s = { 0 };
    assert_int_equal(one_open(&f, &cip_format_rawarray, n.ptr, n.each, 0, NULL), CIP_OK);
    assert_int_equal(verify(&f, &s), CIP_OK);
    assert_int_equal(s.n, 0);
    one_close(&f);
    assert_int_equal(open_records(&f, &n, RECORDS, 0), CIP_OK);
    assert_int_equal(verify(&f, &s), CIP_OK);
    assert_int_equal(s.n, 0);
    one_close(&f);
    free(n.ptr);
}

static void oddities_are_noted(void **state)
{
    (void)state;
    one_file f;
    findings s = { 0 };
    ra_make m = { .flags = 1, .eltype = 1, .elbyte = 2, .size = 2, .data = "abcde", .data_len = 2 };
    ra_bytes b = ra_build(&m);
    assert_int_equal(one_open(&f, &cip_format_rawarray, b.ptr, b.len, 0, NULL), CIP_OK);
    assert_int_equal(verify(&f, &s), CIP_OK);
    assert_int_equal(s.notes, 1);
    assert_int_equal(s.offset, 8);
    assert_non_null(strstr(s.text, "flag bit 0"));
    one_close(&f);
    free(b.ptr);
    m.big = true;
    m.data_len = 5;
    s = (findings){ 0 };
    b = ra_build(&m);
    assert_int_equal(one_open(&f, &cip_format_rawarray, b.ptr, b.len, 0, NULL), CIP_OK);
    assert_int_equal(verify(&f, &s), CIP_OK);
    assert_int_equal(s.notes, 2);
    assert_int_equal(s.offset, 50);
    assert_int_equal(s.length, 3);
    assert_string_equal(s.part, "metadata");
    one_close(&f);
    free(b.ptr);
    const uint64_t fifty[] = { 50 };
    m = (ra_make){ .flags = 2, .eltype = 2, .elbyte = 1, .size = 2, .ndim = 1, .dims = fifty };
    m.data = "\x10z"; /* shorter than what it should make is nothing to note */
    m.data_len = 2;
    s = (findings){ 0 };
    b = ra_build(&m);
    assert_int_equal(one_open(&f, &cip_format_rawarray, b.ptr, b.len, 0, NULL), CIP_OK);
    assert_int_equal(verify(&f, &s), CIP_OK);
    assert_int_equal(s.n, 0);
    one_close(&f);
    free(b.ptr);
    m = (ra_make){
        .flags = 2, .eltype = 2, .elbyte = 1, .size = 2, .data = "\x10z", .data_len = 2
    };
    s = (findings){ 0 };
    b = ra_build(&m);
    assert_int_equal(one_open(&f, &cip_format_rawarray, b.ptr, b.len, 0, NULL), CIP_OK);
    assert_int_equal(verify(&f, &s), CIP_OK);
    assert_int_equal(s.notes, 1);
    assert_int_equal(s.offset, 32);
    one_close(&f);
    free(b.ptr);
}

/* A flag that is not known yet, a version to come. */
static void a_record_that_is_not_understood_is_no_damage(void **state)
{
    (void)state;
    nest_bytes n = make_records();
    one_file f;
    findings s = { 0 };
    n.ptr[20 * n.each + 15] = 1;
    assert_int_equal(open_records(&f, &n, RECORDS, 0), CIP_OK);
    assert_int_equal(verify(&f, &s), CIP_OK);
    assert_int_equal(s.bad, 0);
    assert_int_equal(s.warnings, 1);
    assert_int_equal(s.offset, 56 + 20 * n.each);
    assert_non_null(strstr(s.text, "record 20"));
    one_close(&f);
    free(n.ptr);
}

static void each_record_that_is_no_file_is_found(void **state)
{
    (void)state;
    nest_bytes n = make_records();
    one_file f;
    findings s = { 0 };
    n.ptr[20 * n.each] = 'R';
    n.ptr[30 * n.each + 16] = 9;
    assert_int_equal(open_records(&f, &n, RECORDS, 0), CIP_OK);
    assert_int_equal(verify(&f, &s), CIP_OK);
    assert_int_equal(s.bad, 2);
    assert_int_equal(s.offset, 56 + 30 * n.each);
    assert_int_equal(s.length, n.each);
    assert_non_null(strstr(s.text, "record 30"));
    s = (findings){ .stop_at = 1 };
    assert_int_equal(verify(&f, &s), CIP_ERR_CANCELLED);
    assert_int_equal(s.n, 1);
    one_close(&f);
    free(n.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_in_a_file_are_named_as_such),
        cmocka_unit_test(a_record_is_a_file),
        cmocka_unit_test(the_first_16_and_the_last_are_looked_at),
        cmocka_unit_test(unequal_headers_have_no_type_in_common),
        cmocka_unit_test(records_may_have_trailing_metadata),
        cmocka_unit_test(a_scalar_inside_is_named_without_axes),
        cmocka_unit_test(only_user_types_nest),
        cmocka_unit_test(compressed_records_are_looked_into),
        cmocka_unit_test(large_compressed_data_are_not_decoded_to_look),
        cmocka_unit_test(failing_reads_are_reported),
        cmocka_unit_test(a_plain_file_has_no_findings),
        cmocka_unit_test(oddities_are_noted),
        cmocka_unit_test(each_record_that_is_no_file_is_found),
        cmocka_unit_test(a_record_that_is_not_understood_is_no_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
