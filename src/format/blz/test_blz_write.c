/* SPDX-License-Identifier: BSD-3-Clause
 * New folders: what their files say, what is read from them again, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/blz/blz_out_testing.h"
#include "tree/json_read.h"

enum { N = 250 };

static const int64_t shape_250[] = { N };

static cip_spec_array int64s(void)
{
    return (cip_spec_array){ .path = "",
                             .dtype = cip_dtype_fixed(CIP_I64, false),
                             .ndim = 1,
                             .shape = shape_250,
                             .mask = -1 };
}

static cip_spec spec_of(const cip_spec_array *a, const char *kind, const char *const *option)
{
    return (cip_spec){ .narray = 1, .array = a, .big = -1, .kind = kind, .option = option };
}

static const void *counting(void)
{
    static uint8_t raw[8 * N];
    for (size_t i = 0; i < N; i++)
        cip_store_u64(raw + 8 * i, i, false);
    return raw;
}

static bool is_there(blz_folder *f, const char *name)
{
    struct stat st;
    return stat(scratch_path(&f->dir, name), &st) == 0;
}

static void an_array_is_as_the_programs_wrote_it(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *storage;
    } row[] = {
        { "blz-dir", "{\"dtype\": \"int64\", \"bparams\": {\"clevel\": 5, \"shuffle\": true}, "
                     "\"chunklen\": 100, \"expectedlen\": 250, \"dflt\": 0}\n" },
        { "bcolz", "{\"dtype\": \"int64\", \"cparams\": {\"clevel\": 5, \"shuffle\": 1, \"cname\": "
                   "\"lz4\", \"quantize\": 0}, \"chunklen\": 100, \"expectedlen\": 250, \"dflt\": "
                   "0}\n" },
    };
    const char *const option[] = { "100", NULL };
    const cip_spec_array a = int64s();
    const void *data[] = { counting() };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        blz_folder f;
        blz_out o;
        char sizes[100];
        const cip_spec spec = spec_of(&a, row[k].kind, option);
        assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
        assert_string_equal(o.lost.text, "");
        blz_has_text(&f, "__attrs__", "{}\n");
        blz_has_text(&f, "meta/storage", row[k].storage);
        size_t stored = 0;
        for (int i = 0; i < 3; i++)
            stored += (size_t)o.file[i].out.n - CIP_BLZ_HEADER_1;
        snprintf(sizes, sizeof sizes, "{\"shape\": [250], \"nbytes\": 2000, \"cbytes\": %zu}\n",
                 stored);
        blz_has_text(&f, "meta/sizes", sizes);
        assert_true(is_there(&f, "data/__2.blp") && !is_there(&f, "data/__3.blp"));
        assert_int_equal(blz_open(&f), CIP_OK);
        assert_string_equal(f.layout->version, k == 0 ? "BLZ" : "bcolz");
        for (uint64_t i = 0; i < N; i++)
            assert_int_equal(blz_read(&f, 0, i), CIP_OK);
        assert_string_equal(blz_verify(&f).text, "");
        blz_end(&f);
    }
}

static void types_are_said_as_numpy_prints_them(void **state)
{
    (void)state;
    static const struct {
        const char *type, *said;
    } row[] = {
        { "bool", "{\"dtype\": \"bool\", @, \"dflt\": false}\n" },
        { "<u2", "{\"dtype\": \"uint16\", @, \"dflt\": 0}\n" },
        { ">f8", "{\"dtype\": \">f8\", @, \"dflt\": 0.0}\n" },
        { "<c16", "{\"dtype\": \"complex128\", @, \"dflt\": 0.0}\n" },
        { "|S5", "{\"dtype\": \"|S5\", @, \"dflt\": \"\"}\n" },
        { "<U3", "{\"dtype\": \"<U3\", @, \"dflt\": \"\"}\n" },
        { ">U3", "{\"dtype\": \">U3\", @, \"dflt\": \"\"}\n" },
        { "<M8[ns]", "{\"dtype\": \"datetime64[ns]\", @, \"dflt\": 0}\n" },
        { ">m8[25s]", "{\"dtype\": \">m8[25s]\", @, \"dflt\": 0}\n" },
        { "|V3", "{\"dtype\": \"|V3\", @, \"dflt\": \"\"}\n" },
        { "[('a', '<i4'), ('b', '>f8', (2,))]",
          "{\"dtype\": \"[('a', '<i4'), ('b', '<f8', (2,))]\", @, \"dflt\": [0, 0.0]}\n" },
    };
    static const char at[] = "\"cparams\": {\"clevel\": 5, \"shuffle\": 1, \"cname\": \"lz4\", "
                             "\"quantize\": 0}, \"chunklen\": 7, \"expectedlen\": 3";
    static const int64_t shape[] = { 3, 2 };
    static const uint8_t zeros[1000];
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        blz_folder f;
        blz_out o;
        cip_mem mem;
        cip_mem_init(&mem, NULL, 0);
        cip_arena arena = { .mem = &mem };
        cip_spec_array a = int64s();
        char text[400];
        const char *const option[] = { "7", NULL };
        const void *data[] = { zeros };
        const char *gap = strchr(row[k].said, '@');
        assert_int_equal(
            cip_dtype_parse(&arena, row[k].type, strlen(row[k].type), false, &a.dtype, NULL),
            CIP_OK);
        a.ndim = 2;
        a.shape = shape;
        const cip_spec spec = spec_of(&a, "bcolz", option);
        assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(gap - row[k].said), row[k].said, at, gap + 1);
        blz_has_text(&f, "meta/storage", text);
        assert_int_equal(blz_open(&f), CIP_OK);
        const cip_array *back = f.layout->array[0];
        assert_int_equal(back->view.shape[1], 2);
        assert_true(back->dtype->kind == CIP_RECORD || cip_dtype_equal(back->dtype, a.dtype));
        assert_string_equal(blz_verify(&f).text, "");
        blz_end(&f);
        cip_arena_clear(&arena);
    }
}

static void an_array_of_nothing_has_no_data(void **state)
{
    (void)state;
    static const int64_t shape[] = { 0, 25 };
    blz_folder f;
    blz_out o;
    cip_spec_array a = int64s();
    const void *data[] = { "" };
    a.ndim = 2;
    a.shape = shape;
    const cip_spec spec = spec_of(&a, "bcolz", NULL);
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
    assert_int_equal(o.n, 3);
    blz_has_text(&f, "meta/sizes", "{\"shape\": [0, 25], \"nbytes\": 0, \"cbytes\": 0}\n");
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_string_equal(f.layout->version, "bcolz");
    assert_string_equal(blz_verify(&f).text, "");
    blz_end(&f);
}

static void attributes_go_along_in_ascii(void **state)
{
    (void)state;
    static const struct {
        const char *tree, *attrs;
        size_t nlost;
    } row[] = {
        { "{\"attributes\": {\"\u00e9\U0001F600\": [1, null, NaN, -Infinity, 0.5, \"a\\nb\"]}}",
          "{\"\\u00e9\\ud83d\\ude00\": [1, null, NaN, -Infinity, 0.5, \"a\\nb\"]}\n", 0 },
        { "{\"attributes\": [1]}", "{}\n", 1 },
        { "{\"attributes\": {\"a\": 1}, \"other\": 2}", "{\"a\": 1}\n", 1 },
    };
    const cip_spec_array a = int64s();
    const void *data[] = { counting() };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        blz_folder f;
        blz_out o;
        cip_mem mem;
        cip_mem_init(&mem, NULL, 0);
        cip_arena arena = { .mem = &mem };
        cip_node *tree;
        cip_spec spec = spec_of(&a, "blz-dir", NULL);
        const cip_bytes text = { (const uint8_t *)row[k].tree, strlen(row[k].tree) };
        assert_int_equal(cip_json_read(&arena, text, 0, &tree, NULL, NULL), CIP_OK);
        spec.tree = tree;
        assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
        assert_int_equal(o.lost.count[CIP_WARN], row[k].nlost);
        blz_has_text(&f, "__attrs__", row[k].attrs);
        blz_end(&f);
        cip_arena_clear(&arena);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *option[2], *codec, *text;
    } row[] = {
        { "bcolz", { "0" }, NULL, "expected 1 to 268435451 rows for chunklen, found 0" },
        { "bcolz",
          { "268435452" },
          NULL,
          "expected 1 to 268435451 rows for chunklen, found 268435452" },
        { "bcolz", { "7x" }, NULL, "expected 1 to 268435451 rows for chunklen, found 7x" },
        { "bcolz",
          { NULL, "delta" },
          NULL,
          "expected shuffle, bitshuffle or none for filter, found delta" },
        { "bcolz",
          { NULL },
          "bzip2",
          "expected the codec blosclz, lz4, lz4hc, zlib, zstd or none, found bzip2" },
        { "blz-dir", { NULL }, "zstd", "expected a codec that BLZ has, found zstd" },
        { "blz-dir",
          { NULL, "bitshuffle" },
          NULL,
          "expected a filter that BLZ has, found bitshuffle" },
    };
    const cip_spec_array a = int64s();
    const void *data[] = { counting() };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        blz_folder f;
        blz_out o;
        cip_spec spec = spec_of(&a, row[k].kind, row[k].option);
        spec.codec = row[k].codec;
        assert_int_not_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
        assert_string_equal(f.err.text, row[k].text);
        assert_int_equal(o.n, 0);
        blz_end(&f);
    }
}

static void losses_are_named(void **state)
{
    (void)state;
    blz_folder f;
    blz_out o;
    cip_spec_array a = int64s();
    const void *data[] = { counting() };
    a.masked = true;
    const cip_spec spec = spec_of(&a, "bcolz", NULL);
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
    assert_string_equal(o.lost.text, ": the mask is lost: BLZ and bcolz have none\n");
    blz_end(&f);
    a.ndim = 0;
    blz_out_folder(&o, &f, &(cip_spec){ .narray = 1, .array = &a, .kind = "bcolz" }, data);
    assert_int_equal(o.lost.count[CIP_BAD], 1);
    blz_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_is_as_the_programs_wrote_it),
        cmocka_unit_test(types_are_said_as_numpy_prints_them),
        cmocka_unit_test(an_array_of_nothing_has_no_data),
        cmocka_unit_test(attributes_go_along_in_ascii),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(losses_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
