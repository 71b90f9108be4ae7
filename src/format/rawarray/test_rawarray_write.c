/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "codec/checksum/checksum.h"
#include "format/rawarray/ra_make.h"
#include "format/rawarray/rawarray.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "support/one_format.h"

static cip_spec spec_of(const cip_spec_array *a)
{
    return (cip_spec){ .narray = 1, .array = a, .big = -1 };
}

/* Writes; expects no loss unless `lost` (a part of the only loss's text) is given. */
static void write_ok(one_output *o, const cip_spec *spec, const void *data, const char *lost)
{
    assert_int_equal(one_write(o, &cip_format_rawarray, spec, data, 7), CIP_OK);
    assert_int_equal(o->nimpossible, 0);
    assert_int_equal(o->nlost, lost == NULL ? 0 : 1);
    if (lost != NULL)
        assert_non_null(strstr(o->lost, lost));
}

static uint64_t field(const one_output *o, size_t offset)
{
    return cip_load_u64(o->bytes.ptr + offset, false);
}

static void the_documents_file_has_the_documents_md5(void **state)
{
    (void)state;
    static const uint8_t md5[] = { 0x1d, 0xd9, 0xf9, 0x8a, 0x0d, 0x57, 0xec, 0x3c,
                                   0x4d, 0x8a, 0xd5, 0x03, 0x43, 0xbd, 0x20, 0xcd };
    const int64_t shape[] = { 4, 3 }; /* stored: 3, 4 */
    float z[24];
    for (int k = 0; k < 12; k++) {
        z[2 * k] = (float)k;
        z[2 * k + 1] = k == 0 ? -__builtin_inff() : (float)(-1.0 / k);
    }
    const cip_spec_array a = {
        .path = "", .dtype = cip_dtype_of(CIP_C64), .ndim = 2, .shape = shape, .masked = false
    };
    cip_spec spec = spec_of(&a);
    one_output o = { 0 };
    cip_sum *sum;
    uint8_t got[CIP_SUM_MAX];
    write_ok(&o, &spec, z, NULL);
    assert_int_equal(o.bytes.len, 160);
    assert_int_equal(cip_sum_new(&o.env.mem, CIP_SUM_MD5, &sum, NULL), CIP_OK);
    cip_sum_add(sum, o.bytes.ptr, o.bytes.len);
    cip_sum_take(sum, got);
    cip_sum_free(sum);
    assert_memory_equal(got, md5, sizeof md5);
    one_output_clear(&o);
}

static void every_number_has_its_element_type(void **state)
{
    (void)state;
    static const struct {
        cip_kind kind;
        uint64_t eltype, elbyte;
    } row[] = {
        { CIP_I8, 1, 1 },    { CIP_I16, 1, 2 }, { CIP_I32, 1, 4 }, { CIP_I64, 1, 8 },
        { CIP_U8, 2, 1 },    { CIP_U16, 2, 2 }, { CIP_U32, 2, 4 }, { CIP_U64, 2, 8 },
        { CIP_F16, 3, 2 },   { CIP_F32, 3, 4 }, { CIP_F64, 3, 8 }, { CIP_C64, 4, 8 },
        { CIP_C128, 4, 16 },
    };
    const int64_t shape[] = { 2, 3, 4 };
    uint8_t data[24 * 16];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7 % 61);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (int from_big = 0; from_big < 2; from_big++)
            for (int big = -1; big < 2; big++) {
                const cip_spec_array a = { .path = "",
                                           .dtype = cip_dtype_fixed(row[i].kind, from_big),
                                           .ndim = 3,
                                           .shape = shape,
                                           .masked = false };
                cip_spec spec = spec_of(&a);
                one_output o = { 0 };
                one_file f;
                size_t len;
                spec.big = big;
                write_ok(&o, &spec, data, NULL);
                assert_int_equal(o.bytes.len, 72 + 24 * row[i].elbyte);
                assert_memory_equal(o.bytes.ptr, "rawarray", 8);
                assert_int_equal(field(&o, 8), big == 1);
                assert_int_equal(field(&o, 16), row[i].eltype);
                assert_int_equal(field(&o, 24), row[i].elbyte);
                assert_int_equal(field(&o, 32), 24 * row[i].elbyte);
                assert_int_equal(field(&o, 40), 3);
                assert_int_equal(field(&o, 48), 4);
                assert_int_equal(field(&o, 56), 3);
                assert_int_equal(field(&o, 64), 2);
                if (from_big == (big == 1)) /* the same order: the same bytes */
                    assert_memory_equal(o.bytes.ptr + 72, data, 24 * row[i].elbyte);
                assert_int_equal(
                    one_open(&f, &cip_format_rawarray, o.bytes.ptr, o.bytes.len, 0, NULL), CIP_OK);
                assert_int_equal(cip_dtype_kind(f.layout->array[0]->dtype), row[i].kind);
                uint8_t *raw = one_read(&f, 0, &len);
                if (!from_big)
                    assert_memory_equal(raw, data, len);
                free(raw);
                one_close(&f);
                one_output_clear(&o);
            }
}

static void scalars_and_empty_arrays_are_written(void **state)
{
    (void)state;
    NEEDS(LZ4);
    static const int64_t empty[] = { 3, 0, 2 };
    const char *const codec[] = { NULL, "none", "lz4" };
    for (size_t i = 0; i < 3; i++) {
        cip_spec_array a = { .path = "",
                             .dtype = cip_dtype_fixed(CIP_I16, false),
                             .ndim = 0,
                             .shape = NULL,
                             .masked = false };
        cip_spec spec = spec_of(&a);
        one_output o = { 0 };
        spec.codec = codec[i];
        write_ok(&o, &spec, "ab", NULL);
        assert_int_equal(o.bytes.len, 50);
        assert_int_equal(field(&o, 8), 0);
        assert_int_equal(field(&o, 40), 0);
        one_output_clear(&o);
        a.ndim = 3;
        a.shape = empty;
        write_ok(&o, &spec, "", NULL);
        assert_int_equal(o.bytes.len, 72);
        assert_int_equal(field(&o, 8), 0);
        assert_int_equal(field(&o, 32), 0);
        assert_int_equal(field(&o, 56), 0);
        one_output_clear(&o);
    }
}

/* --- LZ4 ------------------------------------------------------------------------------------ */

static void lz4_is_used_where_it_makes_smaller(void **state)
{
    (void)state;
    NEEDS(LZ4);
    const int64_t shape[] = { 1000 };
    const cip_spec_array a = { .path = "",
                               .dtype = cip_dtype_fixed(CIP_U16, false),
                               .ndim = 1,
                               .shape = shape,
                               .masked = false };
    for (int big = 0; big < 2; big++) {
        cip_spec spec = spec_of(&a);
        uint8_t data[2000] = { 1, 2, 3 };
        one_output o = { 0 };
        one_file f;
        size_t len;
        spec.codec = "lz4";
        spec.big = big;
        write_ok(&o, &spec, data, NULL);
        assert_in_range(o.bytes.len, 57, 156);
        assert_int_equal(field(&o, 8), 2 + big);
        assert_int_equal(field(&o, 32), o.bytes.len - 56);
        assert_int_equal(one_open(&f, &cip_format_rawarray, o.bytes.ptr, o.bytes.len, 0, NULL),
                         CIP_OK);
        uint8_t *raw = one_read(&f, 0, &len);
        assert_int_equal(len, 2000);
        assert_memory_equal(raw, data, 2000);
        free(raw);
        one_close(&f);
        one_output_clear(&o);
    }
}

static void what_lz4_does_not_make_smaller_is_stored_raw(void **state)
{
    (void)state;
    NEEDS(LZ4);
    const int64_t shape[] = { 256 };
    const cip_spec_array a = { .path = "",
                               .dtype = cip_dtype_fixed(CIP_U8, false),
                               .ndim = 1,
                               .shape = shape,
                               .masked = false };
    cip_spec spec = spec_of(&a);
    uint8_t data[256];
    one_output o = { 0 };
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 167);
    spec.codec = "lz4";
    write_ok(&o, &spec, data, NULL);
    assert_int_equal(o.bytes.len, 56 + 256);
    assert_int_equal(field(&o, 8), 0);
    assert_int_equal(field(&o, 32), 256);
    assert_memory_equal(o.bytes.ptr + 56, data, 256);
    one_output_clear(&o);
}

static void the_level_reaches_lz4(void **state)
{
    (void)state;
    NEEDS(LZ4);
    enum { N = 20000 };
    const int64_t shape[] = { N };
    const cip_spec_array a = { .path = "",
                               .dtype = cip_dtype_fixed(CIP_U8, false),
                               .ndim = 1,
                               .shape = shape,
                               .masked = false };
    cip_spec spec = spec_of(&a);
    uint8_t *data = malloc(N);
    one_output fast = { 0 }, small = { 0 };
    uint32_t x = 1;
    for (size_t i = 0; i < N; i++) {
        x = x * 1103515245 + 12345;
        data[i] = (uint8_t)(x >> 30);
    }
    spec.codec = "lz4";
    write_ok(&fast, &spec, data, NULL);
    spec.level = 9;
    write_ok(&small, &spec, data, NULL);
    assert_true(small.bytes.len < fast.bytes.len);
    one_output_clear(&fast);
    one_output_clear(&small);
    free(data);
}

static void more_than_lz4_holds_is_refused(void **state)
{
    (void)state;
    const int64_t shape[] = { (int64_t)CIP_RA_LZ4_MAX + 1 };
    cip_spec_array a = { .path = "",
                         .dtype = cip_dtype_fixed(CIP_U8, false),
                         .ndim = 1,
                         .shape = shape,
                         .masked = false };
    cip_spec spec = spec_of(&a);
    one_output o = { 0 };
    spec.codec = "lz4";
    assert_int_equal(one_write(&o, &cip_format_rawarray, &spec, NULL, 1), CIP_ERR_UNSUPPORTED);
    assert_int_equal(o.bytes.len, 0);
    one_output_clear(&o);
}

/* Starts a file of n elements, writing none. */
static cip_status begin_only(cip_kind kind, int64_t n, const char *codec)
{
    const cip_spec_array a = {
        .path = "", .dtype = cip_dtype_fixed(kind, false), .ndim = 1, .shape = &n, .masked = false
    };
    cip_spec spec = spec_of(&a);
    one_output o = { 0 };
    cip_array_form form = { .dtype = NULL };
    void *w;
    spec.codec = codec;
    assert_int_equal(cip_env_init(&o.env, NULL, NULL, NULL, NULL), CIP_OK);
    cip_arena arena = { .mem = &o.env.mem };
    o.bytes.mem = &o.env.mem;
    cip_out to = { .write = one_out, .user = &o };
    const cip_store_begin b = {
        .env = &o.env, .arena = &arena, .spec = &spec, .out = &to, .form = &form
    };
    cip_status st = cip_ra_store.begin(&b, &w, NULL);
    cip_arena_clear(&arena);
    one_output_clear(&o);
    return st;
}

static void sizes_are_bounded(void **state)
{
    (void)state;
    NEEDS(LZ4);
    const int64_t half = (int64_t)1 << 62;
    assert_int_equal(begin_only(CIP_U8, INT64_MAX, NULL), CIP_OK);
    assert_int_equal(begin_only(CIP_U16, half - 1, NULL), CIP_OK);
    assert_int_equal(begin_only(CIP_U16, half, NULL), CIP_ERR_UNSUPPORTED);
    assert_int_equal(begin_only(CIP_U32, half, NULL), CIP_ERR_UNSUPPORTED); /* 0 modulo 2^64 */
    assert_int_equal(begin_only(CIP_U8, CIP_RA_LZ4_MAX, "lz4"), CIP_OK);
    assert_int_equal(begin_only(CIP_U8, (int64_t)CIP_RA_LZ4_MAX + 1, "lz4"), CIP_ERR_UNSUPPORTED);
}

/* Noise with a run of zeros that saves just what LZ4 costs. */
static void what_lz4_leaves_as_long_as_it_was_is_stored_raw(void **state)
{
    (void)state;
    NEEDS(LZ4);
    const cip_codec *lz4 = cip_codec_find("lz4");
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    const cip_codec_env env = { .mem = &mem };
    uint8_t data[64], packed[256];
    cip_dst to = { packed, sizeof packed, 0 };
    size_t run;
    for (run = 4; run < 24 && to.len != sizeof data; run++) {
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (uint8_t)(i * 167 + 13);
        memset(data + 20, 0, run);
        assert_int_equal(lz4->encode(NULL, &env, 0, (cip_bytes){ data, sizeof data }, &to, NULL),
                         CIP_OK);
    }
    assert_int_equal(to.len, sizeof data);
    const int64_t shape[] = { sizeof data };
    const cip_spec_array a = { .path = "",
                               .dtype = cip_dtype_fixed(CIP_U8, false),
                               .ndim = 1,
                               .shape = shape,
                               .masked = false };
    cip_spec spec = spec_of(&a);
    one_output o = { 0 };
    spec.codec = "lz4";
    write_ok(&o, &spec, data, NULL);
    assert_int_equal(field(&o, 8), 0);
    assert_memory_equal(o.bytes.ptr + 56, data, sizeof data);
    one_output_clear(&o);
}

static void other_codecs_are_refused(void **state)
{
    (void)state;
    cip_spec_array a = { .path = "",
                         .dtype = cip_dtype_fixed(CIP_U8, false),
                         .ndim = 0,
                         .shape = NULL,
                         .masked = false };
    cip_spec spec = spec_of(&a);
    one_output o = { 0 };
    spec.codec = "zlib";
    assert_int_equal(one_write(&o, &cip_format_rawarray, &spec, "x", 1), CIP_ERR_UNSUPPORTED);
    assert_int_equal(o.bytes.len, 0);
    one_output_clear(&o);
}

/* --- loss ----------------------------------------------------------------------------------- */

static void write_text(one_output *o, const char *dtype, const void *data, int big,
                       const char *lost)
{
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    const cip_dtype *d;
    const int64_t shape[] = { 2 };
    assert_int_equal(cip_dtype_of_text(&arena, dtype, strlen(dtype), false, &d, NULL), CIP_OK);
    const cip_spec_array a = { .path = "", .dtype = d, .ndim = 1, .shape = shape, .masked = false };
    cip_spec spec = spec_of(&a);
    spec.big = big;
    write_ok(o, &spec, data, lost);
    cip_arena_clear(&arena);
}

static void other_types_become_user_elements_with_the_loss_named(void **state)
{
    (void)state;
    one_output o = { 0 };
    write_text(&o, "bool", "\1\0", 0, "bool becomes a user-defined element");
    assert_int_equal(field(&o, 16), 0);
    assert_int_equal(field(&o, 24), 1);
    assert_memory_equal(o.bytes.ptr + 56, "\1\0", 2);
    one_output_clear(&o);
    write_text(&o, "S3", "abcdef", 0, "ascii3 becomes");
    assert_int_equal(field(&o, 16), 0);
    assert_int_equal(field(&o, 24), 3);
    one_output_clear(&o);
    write_text(&o, "<U1", "a\0\0\0b\0\0\0", 1, "ucs4-1 becomes");
    assert_memory_equal(o.bytes.ptr + 56, "\0\0\0a\0\0\0b", 8);
    one_output_clear(&o);
    write_text(&o, "<M8[ns]", "12345678abcdefgh", 0, "datetime64[ns] becomes");
    assert_int_equal(field(&o, 24), 8);
    one_output_clear(&o);
    write_text(&o, "V3", "abcdef", 0, NULL); /* bytes3: user elements are what they are */
    assert_int_equal(field(&o, 16), 0);
    one_output_clear(&o);
}

static void records_are_packed_and_swapped(void **state)
{
    (void)state;
    one_output o = { 0 };
    const char *dtype = "{'names': ['a', 'b'], 'formats': ['|u1', '>i2'], 'offsets': [0, 2], "
                        "'itemsize': 4}";
    write_text(&o, dtype, "\1-\0\2\3-\0\4", 0, "the names and types of the fields are lost");
    assert_int_equal(field(&o, 16), 0);
    assert_int_equal(field(&o, 24), 3);
    assert_int_equal(field(&o, 32), 6);
    assert_memory_equal(o.bytes.ptr + 56, "\1\2\0\3\4\0", 6);
    one_output_clear(&o);
    write_text(&o, dtype, "\1-\0\2\3-\0\4", 1, "fields are lost");
    assert_memory_equal(o.bytes.ptr + 56, "\1\0\2\3\0\4", 6);
    one_output_clear(&o);
}

static cip_status check_only(const cip_spec *spec, one_output *o)
{
    cip_report loss;
    memset(o, 0, sizeof *o);
    assert_int_equal(cip_env_init(&o->env, NULL, NULL, NULL, NULL), CIP_OK);
    cip_report_init(&loss, &o->env.mem, false, one_on_loss, o);
    cip_spec with = *spec;
    with.env = &o->env;
    cip_status st = cip_format_rawarray.store->check(&with, &loss, NULL);
    cip_report_clear(&loss);
    one_output_clear(o);
    return st;
}

static void name_and_mask_are_lost(void **state)
{
    (void)state;
    one_output o;
    const cip_spec_array a = { .path = "roman/data",
                               .dtype = cip_dtype_of(CIP_F32),
                               .ndim = 0,
                               .shape = NULL,
                               .masked = true };
    cip_spec spec = spec_of(&a);
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nlost, 1); /* the name is told, not refused */
    assert_non_null(strstr(o.lost, "the array's name is left out"));
    assert_non_null(strstr(o.lost, "the mask is lost"));
    spec.array = &(cip_spec_array){
        .path = NULL, .dtype = cip_dtype_of(CIP_F32), .ndim = 0, .shape = NULL, .masked = false
    };
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nlost, 0);
}

static void what_cannot_be_written_at_all_is_bad(void **state)
{
    (void)state;
    one_output o;
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    const cip_dtype *none;
    assert_int_equal(cip_dtype_ascii(&arena, 0, &none, NULL), CIP_OK);
    cip_spec_array a[2] = {
        { .path = "", .dtype = none, .ndim = 0, .shape = NULL, .masked = false },
        { .path = "", .dtype = cip_dtype_of(CIP_I8), .ndim = 0, .shape = NULL, .masked = false }
    };
    cip_spec spec = spec_of(a);
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nimpossible, 1);
    assert_int_equal(o.nlost, 0);
    assert_int_equal(one_write(&o, &cip_format_rawarray, &spec, "", 1), CIP_ERR_UNSUPPORTED);
    one_output_clear(&o);
    a[0] = a[1];
    spec.narray = 2;
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nimpossible, 1);
    assert_int_equal(one_write(&o, &cip_format_rawarray, &spec, "", 1), CIP_ERR_UNSUPPORTED);
    one_output_clear(&o);
    spec.narray = 0;
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nimpossible, 1);
    const int64_t huge[] = { INT64_MAX, 2 };
    a[0].ndim = 2;
    a[0].shape = huge;
    spec.narray = 1;
    assert_int_equal(one_write(&o, &cip_format_rawarray, &spec, "", 1), CIP_ERR_UNSUPPORTED);
    one_output_clear(&o);
    cip_arena_clear(&arena);
}

static void a_tree_is_lost_unless_it_says_nothing(void **state)
{
    (void)state;
    one_output o;
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    const cip_spec_array a = {
        .path = "", .dtype = cip_dtype_of(CIP_F32), .ndim = 0, .shape = NULL, .masked = false
    };
    cip_spec spec = spec_of(&a);
    cip_node *map, *nothing, *key;
    assert_int_equal(cip_node_new_map(&arena, 0, &map, NULL), CIP_OK);
    assert_int_equal(cip_node_new_null(&arena, &nothing, NULL), CIP_OK);
    assert_int_equal(cip_node_new_string(&arena, "metadata", 8, &key, NULL), CIP_OK);
    spec.source_format = "asdf";
    spec.tree = map;
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nlost, 0);
    spec.tree = nothing;
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nlost, 0);
    const cip_node tilde = { .type = CIP_NODE_NULL, .text = "~", .len = 1 };
    spec.tree = &tilde;
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nlost, 0);
    spec.tree = key; /* a tree of one text */
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nlost, 1);
    assert_int_equal(cip_node_new_map(&arena, 1, &map, NULL), CIP_OK);
    cip_node *other;
    assert_int_equal(cip_node_new_string(&arena, "other", 5, &other, NULL), CIP_OK);
    cip_node_set_pair(map, 0, other, key);
    spec.tree = map;
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nlost, 1);
    assert_non_null(strstr(o.lost, "the metadata tree is lost"));
    spec.source_format = NULL;
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nlost, 1);
    cip_node_set_pair(map, 0, key, key); /* a text of that name goes behind the data */
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nlost, 0);
    spec.source_format = "rawarray"; /* its metadata are written again */
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nlost, 0);
    assert_int_equal(cip_node_new_map(&arena, 1, &map, NULL), CIP_OK);
    cip_node_set_pair(map, 0, key, nothing);
    spec.tree = map; /* too long to be in the tree */
    assert_int_equal(check_only(&spec, &o), CIP_OK);
    assert_int_equal(o.nlost, 1);
    assert_non_null(strstr(o.lost, "the trailing metadata are lost"));
    cip_arena_clear(&arena);
}

/* --- from RawArray to RawArray -------------------------------------------------------------- */

/* Writes what `b` holds again. */
static void rewrite(one_output *o, ra_bytes b, int big, const char *lost)
{
    one_file f;
    assert_int_equal(one_open(&f, &cip_format_rawarray, b.ptr, b.len, 0, NULL), CIP_OK);
    const cip_array *array = f.layout->array[0];
    const cip_spec_array a = { .path = "",
                               .dtype = array->dtype,
                               .ndim = array->view.ndim,
                               .shape = array->view.shape,
                               .masked = false };
    cip_spec spec = spec_of(&a);
    spec.tree = f.layout->tree;
    spec.source_format = "rawarray";
    spec.big = big;
    write_ok(o, &spec, b.ptr + f.layout->block[0].info.data_offset, lost);
    one_close(&f);
}

static void trailing_metadata_are_written_again(void **state)
{
    (void)state;
    static const char *const tail[] = { "text: \xc3\xa9\n", "\xff\1\2", "\xff\1", "\xff", "" };
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++) {
        char data[32];
        one_output o = { 0 };
        ra_make m = { .eltype = 2, .elbyte = 1, .size = 1, .data = data };
        m.data_len = (size_t)snprintf(data, sizeof data, "x%s", tail[i]);
        ra_bytes b = ra_build(&m);
        rewrite(&o, b, -1, NULL);
        assert_int_equal(o.bytes.len, b.len);
        assert_memory_equal(o.bytes.ptr, b.ptr, b.len);
        one_output_clear(&o);
        free(b.ptr);
    }
}

static void only_a_text_or_bytes_named_metadata_are_a_tail(void **state)
{
    (void)state;
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    cip_node *map, *key;
    one_output o = { 0 };
    const cip_spec_array a = {
        .path = "", .dtype = cip_dtype_of(CIP_I8), .ndim = 0, .shape = NULL, .masked = false
    };
    cip_spec spec = spec_of(&a);
    assert_int_equal(cip_node_new_string(&arena, "metadata", 8, &key, NULL), CIP_OK);
    assert_int_equal(cip_node_new_map(&arena, 1, &map, NULL), CIP_OK);
    cip_node_set_pair(map, 0, key, key);
    spec.tree = map;
    spec.source_format = "asdf";
    write_ok(&o, &spec, "x", NULL);
    assert_int_equal(o.bytes.len, 49 + 8);
    assert_memory_equal(o.bytes.ptr + 49, "metadata", 8);
    one_output_clear(&o);
    cip_node *outer;
    assert_int_equal(cip_node_new_map(&arena, 1, &outer, NULL), CIP_OK);
    cip_node_set_pair(outer, 0, key, map);
    spec.tree = outer;
    write_ok(&o, &spec, "x", "the metadata tree is lost");
    assert_int_equal(o.bytes.len, 49);
    one_output_clear(&o);
    cip_arena_clear(&arena);
}

static void odd_widths_keep_their_type(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++)
        for (uint64_t eltype = 0; eltype < 4; eltype++) {
            one_output o = { 0 };
            const uint64_t dims[] = { 2 };
            ra_make m = { .flags = (uint64_t)big, .eltype = eltype, .elbyte = 3, .size = 6 };
            m.ndim = 1;
            m.dims = dims;
            m.data = "abcdef";
            m.data_len = 6;
            ra_bytes b = ra_build(&m);
            rewrite(&o, b, big, NULL);
            assert_int_equal(o.bytes.len, b.len);
            assert_memory_equal(o.bytes.ptr, b.ptr, b.len);
            one_output_clear(&o);
            rewrite(&o, b, !big, eltype == 0 ? NULL : "type's name is lost");
            assert_int_equal(field(&o, 16), 0);
            assert_memory_equal(o.bytes.ptr + 56, "abcdef", 6);
            one_output_clear(&o);
            free(b.ptr);
        }
}

/* --- failures ------------------------------------------------------------------------------- */

typedef struct misuse {
    cip_env env;
    cip_arena arena;
    one_output out;
    cip_out to;
    void *w;
} misuse;

/* A writer of 5 bytes. */
static void misuse_begin(misuse *m, const char *codec)
{
    const int64_t shape[] = { 5 };
    const cip_spec_array a = {
        .path = "", .dtype = cip_dtype_of(CIP_U8), .ndim = 1, .shape = shape, .masked = false
    };
    cip_spec spec = spec_of(&a);
    cip_array_form form = { .dtype = NULL };
    memset(m, 0, sizeof *m);
    assert_int_equal(cip_env_init(&m->env, NULL, NULL, NULL, NULL), CIP_OK);
    m->arena.mem = &m->env.mem;
    m->out.bytes.mem = &m->env.mem;
    m->to = (cip_out){ .write = one_out, .user = &m->out };
    spec.codec = codec;
    const cip_store_begin b = {
        .env = &m->env, .arena = &m->arena, .spec = &spec, .out = &m->to, .form = &form
    };
    assert_int_equal(cip_ra_store.begin(&b, &m->w, NULL), CIP_OK);
}

static void misuse_end(misuse *m)
{
    cip_arena_clear(&m->arena);
    cip_buf_clear(&m->out.bytes);
    cip_env_clear(&m->env);
}

static cip_status give(misuse *m, size_t n)
{
    m->out.err = (cip_err)CIP_ERR_INIT;
    const cip_chunk_in in = {
        .bytes = { (const uint8_t *)"abcdef", n }, .plain = true, .run = 1, .raw_len = n
    };
    return cip_ra_store.store(m->w, 0, 0, 1, &in, &m->out.err);
}

static void more_or_fewer_bytes_than_promised_are_refused(void **state)
{
    (void)state;
    NEEDS(LZ4);
    misuse m;
    misuse_begin(&m, NULL);
    assert_int_equal(give(&m, 6), CIP_ERR_ARG);
    assert_string_equal(m.out.err.text, "expected at most 5 bytes of data, found 6");
    assert_int_equal(give(&m, 4), CIP_OK);
    assert_int_equal(cip_ra_store.finish(m.w, NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(give(&m, 2), CIP_ERR_ARG);
    assert_int_equal(give(&m, 1), CIP_OK);
    assert_int_equal(give(&m, 0), CIP_OK);
    assert_int_equal(cip_ra_store.finish(m.w, NULL, NULL), CIP_OK);
    assert_int_equal(m.out.bytes.len, 61);
    misuse_end(&m);
    misuse_begin(&m, "lz4");
    assert_int_equal(give(&m, 4), CIP_ERR_ARG);
    assert_string_equal(m.out.err.text, "expected 5 bytes of data, found 4");
    assert_int_equal(give(&m, 0), CIP_OK);
    assert_int_equal(give(&m, 5), CIP_OK);
    assert_int_equal(give(&m, 0), CIP_OK);
    assert_int_equal(cip_ra_store.finish(m.w, NULL, NULL), CIP_OK);
    assert_int_equal(m.out.bytes.len, 61);
    const cip_chunk_in two = {
        .bytes = { (const uint8_t *)"ab", 2 }, .plain = true, .run = 1, .raw_len = 1
    };
    assert_int_equal(cip_ra_store.store(m.w, 0, 0, 1, &two, NULL), CIP_ERR_ARG);
    misuse_end(&m);
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    NEEDS(LZ4);
    const int64_t shape[] = { 40 };
    const cip_spec_array a = { .path = "",
                               .dtype = cip_dtype_fixed(CIP_U8, false),
                               .ndim = 1,
                               .shape = shape,
                               .masked = false };
    const uint8_t zeros[40] = { 0 };
    for (size_t room = 1; room < 96; room++)
        for (int lz4 = 0; lz4 < 2; lz4++) {
            cip_spec spec = spec_of(&a);
            one_output o = { .fail_after = room };
            spec.codec = lz4 ? "lz4" : NULL;
            cip_status st = one_write(&o, &cip_format_rawarray, &spec, zeros, 7);
            if (st == CIP_OK) /* it fits when it is compressed */
                assert_int_equal(o.bytes.len, 56 + field(&o, 32));
            else
                assert_int_equal(st, CIP_ERR_IO);
            assert_true(lz4 || st == CIP_ERR_IO);
            assert_true(room > 56 || st == CIP_ERR_IO);
            one_output_clear(&o);
        }
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    NEEDS(LZ4);
    const int64_t shape[] = { 400 };
    const cip_spec_array a = { .path = "",
                               .dtype = cip_dtype_fixed(CIP_U8, false),
                               .ndim = 1,
                               .shape = shape,
                               .masked = false };
    const uint8_t zeros[400] = { 0 };
    cip_node metadata = { .type = CIP_NODE_BINARY, .text = "AAAA", .len = 4 };
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    cip_node *map, *key;
    assert_int_equal(cip_node_new_string(&arena, "metadata", 8, &key, NULL), CIP_OK);
    assert_int_equal(cip_node_new_map(&arena, 1, &map, NULL), CIP_OK);
    cip_node_set_pair(map, 0, key, &metadata);
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        one_output o = { 0 };
        cip_spec spec = spec_of(&a);
        spec.codec = "lz4";
        spec.big = 1;
        spec.tree = map;
        spec.source_format = "rawarray";
        cip_status st = one_write_from(&o, &cip_format_rawarray, &spec, zeros, 7, &from);
        assert_int_equal(st, alloc.requests < n ? CIP_OK : CIP_ERR_NOMEM);
        one_output_clear(&o);
        assert_int_equal(alloc.held, 0);
        if (st == CIP_OK)
            break;
    }
    cip_arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documents_file_has_the_documents_md5),
        cmocka_unit_test(every_number_has_its_element_type),
        cmocka_unit_test(scalars_and_empty_arrays_are_written),
        cmocka_unit_test(lz4_is_used_where_it_makes_smaller),
        cmocka_unit_test(what_lz4_does_not_make_smaller_is_stored_raw),
        cmocka_unit_test(the_level_reaches_lz4),
        cmocka_unit_test(more_than_lz4_holds_is_refused),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(what_lz4_leaves_as_long_as_it_was_is_stored_raw),
        cmocka_unit_test(other_codecs_are_refused),
        cmocka_unit_test(other_types_become_user_elements_with_the_loss_named),
        cmocka_unit_test(records_are_packed_and_swapped),
        cmocka_unit_test(name_and_mask_are_lost),
        cmocka_unit_test(what_cannot_be_written_at_all_is_bad),
        cmocka_unit_test(a_tree_is_lost_unless_it_says_nothing),
        cmocka_unit_test(trailing_metadata_are_written_again),
        cmocka_unit_test(only_a_text_or_bytes_named_metadata_are_a_tail),
        cmocka_unit_test(odd_widths_keep_their_type),
        cmocka_unit_test(more_or_fewer_bytes_than_promised_are_refused),
        cmocka_unit_test(a_full_disk_is_reported),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
