/* SPDX-License-Identifier: BSD-3-Clause
 * New folders: what their files say, what is read from them again, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blz/blz_out_testing.h"
#include "support/fail_alloc.h"
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

/* It is of this version and holds counting(), and verify finds nothing. */
static void has_counting(blz_folder *f, const char *version)
{
    assert_int_equal(blz_open(f), CIP_OK);
    assert_string_equal(f->layout->version, version);
    for (uint64_t i = 0; i < N; i++)
        assert_int_equal(blz_read(f, 0, i), CIP_OK);
    assert_string_equal(blz_verify(f).text, "");
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
    const char *const option[8] = { "100" };
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
        has_counting(&f, k == 0 ? "BLZ" : "bcolz");
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
        const char *const option[8] = { "7", [2] = "no" };
        const void *data[] = { zeros };
        const char *gap = strchr(row[k].said, '@');
        assert_int_equal(
            cip_dtype_of_text(&arena, row[k].type, strlen(row[k].type), false, &a.dtype, NULL),
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
        { "{\"attributes\": {\"a\\u0000b\": [-9223372036854775808, 18446744073709551616]}}",
          "{\"a\\u0000b\": [-9223372036854775808, 18446744073709551616]}\n", 0 },
        { "{\"attributes\": {\"a\": 1}, \"other\": 2}", "{\"a\": 1}\n", 1 },
    };
    const cip_spec_array a = int64s();
    const void *data[] = { counting() };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        blz_folder f;
        blz_out o;
        cip_env env;
        assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
        cip_arena arena = { .mem = &env.mem };
        const cip_json_source from = { .env = &env, .arena = &arena };
        cip_node *tree;
        cip_spec spec = spec_of(&a, "blz-dir", NULL);
        const cip_bytes text = { (const uint8_t *)row[k].tree, strlen(row[k].tree) };
        assert_int_equal(cip_json_read(&from, text, &tree, NULL), CIP_OK);
        spec.tree = tree;
        assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
        assert_int_equal(o.lost.count[CIP_WARN], row[k].nlost);
        blz_has_text(&f, "__attrs__", row[k].attrs);
        blz_end(&f);
        cip_arena_clear(&arena);
        cip_env_clear(&env);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *option[8], *codec, *text;
    } row[] = {
        { "bcolz", { "0" }, NULL, "expected 1 to 268435451 for chunklen, found 0" },
        { "bcolz", { "268435452" }, NULL, "expected 1 to 268435451 for chunklen, found 268435452" },
        { "bcolz", { "7x" }, NULL, "expected 1 to 268435451 for chunklen, found 7x" },
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
        { "bcolz", { [3] = "7" }, NULL, "the option superchunk applies only to superchunks" },
        { "bcolz", { [7] = "a" }, NULL, "the option shards applies only to superchunks" },
        { NULL, { [2] = "yes" }, NULL, "the option table applies only to blz-dir and bcolz" },
        { "bcolz", { [2] = "maybe" }, NULL, "expected yes or no for table, found maybe" },
        { NULL, { [3] = "0" }, NULL, "expected 1 to 2147483647 for superchunk, found 0" },
        { NULL, { [4] = "-1" }, NULL, "expected 0 to 2147483647 for spare, found -1" },
        { NULL, { [4] = "1", [5] = "no" }, NULL, "expected offsets, because there is spare space" },
        { NULL,
          { [7] = "a,../b" },
          NULL,
          "expected for shards different names of folders inside the array's folder, not data or "
          "meta, found '../b'" },
        { NULL,
          { [7] = "data/x" },
          NULL,
          "expected for shards different names of folders inside the array's folder, not data or "
          "meta, found 'data/x'" },
        { NULL,
          { [7] = "a,b,a" },
          NULL,
          "expected for shards different names of folders inside the array's folder, not data or "
          "meta, found 'a'" },
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

/* Which nobody could read again. */
static void a_superchunk_of_4_gib_is_refused(void **state)
{
    (void)state;
    static const char *const option[8] = { "10", [3] = "5", [4] = "1000000000" };
    const cip_spec_array a = int64s();
    const void *data[] = { counting() };
    cip_spec spec = spec_of(&a, NULL, option);
    blz_folder f;
    blz_out o;
    struct stat st;
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(f.err.text, "below 2^32 bytes"));
    assert_int_equal(stat(scratch_path(&f.dir, "data/__1__.bin"), &st), 0);
    assert_int_equal(st.st_size, 0); /* known before anything is written */
    blz_end(&f);
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
    blz_out_folder(&o, &f, &(cip_spec){ .narray = 1, .array = &a, .big = -1 }, data);
    assert_int_equal(o.lost.count[CIP_BAD], 1);
    blz_end(&f);
}

/* --- superchunks ------------------------------------------------------------------------------ */

static size_t load(blz_folder *f, const char *name, uint8_t *bytes, size_t most)
{
    FILE *file = fopen(scratch_path(&f->dir, name), "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, most, file);
    fclose(file);
    return n;
}

static void superchunks_are_as_the_document_has_them(void **state)
{
    (void)state;
    static const uint8_t head[] = { 'b', 'l', 'p', 'k', 3, 3, 1, 8, 0x90, 1, 0,  0, 0x90, 1,
                                    0,   0,   3,   0,   0, 0, 0, 0, 0,    0, 48, 0, 0,    0 };
    static const char meta[] = "{\"dtype\": \"int64\", \"shape\": [150], \"others\": []}";
    const char *const option[8] = { "50", NULL, NULL, "3", "10", NULL, "yes", NULL };
    const cip_spec_array a = int64s();
    const void *data[] = { counting() };
    cip_spec spec = spec_of(&a, NULL, option);
    blz_folder f;
    blz_out o;
    uint8_t bytes[4000];
    cip_blosc_head chunk;
    spec.checksum = "adler32";
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
    blz_has_text(&f, "meta/storage",
                 "{\"dtype\": \"int64\", \"cparams\": {\"clevel\": 5, \"shuffle\": 1, \"cname\": "
                 "\"blosclz\"}, \"chunklen\": 50, \"expectedlen\": 250, \"dflt\": 0, "
                 "\"superchunk\": 3}\n");
    assert_int_equal(o.n, 4);
    size_t n = load(&f, "data/__1__.bin", bytes, sizeof bytes), at = 32 + 48 + 24;
    assert_memory_equal(bytes, head, sizeof head);
    assert_memory_equal(bytes + 32, meta, 48);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(cip_load_u64(bytes + 32 + 48 + 8 * i, false), at);
        assert_int_equal(cip_blosc_head_parse((cip_bytes){ bytes + at, n - at }, &chunk, NULL),
                         CIP_OK);
        assert_int_equal(chunk.nbytes, 400);
        for (size_t k = 0; k < 10; k++)
            assert_int_equal(bytes[at + chunk.cbytes + 4 + k], 0);
        at += chunk.cbytes + 4 + 10;
    }
    assert_int_equal(at, n);
    assert_true(is_there(&f, "data/__2__.bin") && !is_there(&f, "data/__3__.bin"));
    has_counting(&f, "document");
    blz_end(&f);
}

static void superchunks_are_dealt_out_to_shards(void **state)
{
    (void)state;
    const char *const option[8] = { "50", NULL, NULL, "1", NULL, "no", NULL, "a,b/c" };
    const cip_spec_array a = int64s();
    const void *data[] = { counting() };
    const cip_spec spec = spec_of(&a, NULL, option);
    blz_folder f;
    blz_out o;
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
    blz_has_text(&f, "meta/shards", "[\"a\", \"b/c\"]\n");
    assert_true(is_there(&f, "a/data/__1__.bin") && is_there(&f, "b/c/data/__2__.bin"));
    assert_true(is_there(&f, "a/data/__5__.bin") && !is_there(&f, "data"));
    has_counting(&f, "document");
    blz_end(&f);
}

/* --- columns ---------------------------------------------------------------------------------- */

static const char records[] = "[('a', '<i8'), ('p', [('/', '<u2'), ('%', '|S3', (2,))], (2,)), "
                              "('_', '|V0')]";

/* Of N records: counting() and bytes that tell their place. */
static cip_spec_array record_array(cip_arena *a, uint8_t *raw)
{
    cip_spec_array s = int64s();
    assert_int_equal(cip_dtype_of_text(a, records, strlen(records), false, &s.dtype, NULL), CIP_OK);
    assert_int_equal(s.dtype->itemsize, 24);
    for (size_t i = 0; i < N; i++) {
        cip_store_u64(raw + 24 * i, i, false);
        for (size_t k = 8; k < 24; k++)
            raw[24 * i + k] = (uint8_t)(i + k);
    }
    return s;
}

static void has_records(blz_folder *f, const uint8_t *raw)
{
    static uint8_t got[24 * N];
    const cip_read_how how = { f->layout, NULL };
    assert_int_equal(cip_space_read_at(&how, f->layout->array[0]->space, 0, got, 24 * N, &f->err),
                     CIP_OK);
    assert_memory_equal(got, raw, 24 * N);
    assert_string_equal(blz_verify(f).text, "");
}

static void records_lie_in_columns(void **state)
{
    (void)state;
    static uint8_t raw[24 * N];
    const char *const option[8] = { "70", NULL, NULL, "2" };
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    const cip_spec_array a = record_array(&arena, raw);
    const void *data[] = { raw };
    const cip_spec spec = spec_of(&a, NULL, option);
    blz_folder f;
    blz_out o;
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
    blz_has_text(
        &f, "meta/storage",
        "{\"dtype\": [[\"a\", \"<i8\"], [\"p\", [[\"/\", \"<u2\"], [\"%\", \"|S3\", [2]]], "
        "[2]], [\"_\", \"|V0\"]], \"cparams\": {\"clevel\": 5, \"shuffle\": 1, \"cname\": "
        "\"blosclz\"}, \"chunklen\": 70, \"expectedlen\": 250, \"dflt\": [0, [0, \"\"], "
        "\"\"], \"superchunk\": 2}\n");
    assert_true(is_there(&f, "data/a/__2__.bin") && is_there(&f, "data/p/%2F/__2__.bin") &&
                is_there(&f, "data/p/%25/__1__.bin") && !is_there(&f, "data/_"));
    assert_int_equal(blz_open(&f), CIP_OK);
    has_records(&f, raw);
    blz_end(&f);
    cip_arena_clear(&arena);
}

static void a_folder_is_named_as_the_field(void **state)
{
    (void)state;
    static const struct {
        const char *field, *folder;
    } row[] = {
        { "a b", "a b" },
        { "\xc3\xa9", "\xc3\xa9" },
        { ".", "%2E" },
        { "..", "%2E%2E" },
        { ".a.b", "%2Ea.b" },
        { "a/b%", "a%2Fb%25" },
        { "a\nb", "a%0Ab" },
        { "\x7f", "%7F" },
        { "__1__.bin", "%5F_1__.bin" },
        { "__1__.bin2", "__1__.bin2" },
    };
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        cip_buf b = { .mem = &mem };
        assert_int_equal(cip_blz_folder_name(row[i].field, &b, NULL), CIP_OK);
        assert_int_equal(cip_buf_nul(&b, NULL), CIP_OK);
        assert_string_equal((const char *)b.ptr, row[i].folder);
        assert_true(cip_blz_stands_for((const char *)b.ptr, row[i].field));
        cip_buf_clear(&b);
    }
    cip_buf b = { .mem = &mem };
    assert_int_equal(cip_blz_folder_name("", &b, NULL), CIP_ERR_UNSUPPORTED);
    assert_int_equal(cip_blz_folder_name("a\xff", &b, NULL), CIP_ERR_UNSUPPORTED);
    cip_buf_clear(&b);
}

static void records_become_a_table_on_demand(void **state)
{
    (void)state;
    static uint8_t raw[24 * N];
    static const char plain[] = "[('a', '<i8'), ('p', [('x', '<u2'), ('y', '<f4')], (2,)), "
                                "('q', '|S1', (2, 2))]";
    const char *const option[8] = { "70", NULL, "yes" };
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    cip_spec_array a = record_array(&arena, raw);
    const void *data[] = { raw };
    const cip_spec spec = spec_of(&a, "blz-dir", option);
    blz_folder f;
    blz_out o;
    assert_int_equal(cip_dtype_of_text(&arena, plain, strlen(plain), false, &a.dtype, NULL),
                     CIP_OK);
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
    blz_has_text(&f, "__rootdirs__",
                 "{\"names\": [\"a\", \"p\", \"q\"], \"dirs\": {\"a\": \"a\", \"p\": \"p\", "
                 "\"q\": \"q\"}}\n");
    assert_true(is_there(&f, "p/data/__3.blp") && is_there(&f, "q/__attrs__"));
    assert_int_equal(blz_open(&f), CIP_OK);
    has_records(&f, raw);
    blz_end(&f);
    cip_arena_clear(&arena);
}

/* By itself where the program opens no array of records: bcolz. */
static void records_of_bcolz_are_a_table(void **state)
{
    (void)state;
    static uint8_t raw[24 * N];
    static const char plain[] = "[('a', '<i8'), ('p', '<u2', (8,))]";
    const char *const no[8] = { [2] = "no" };
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    cip_spec_array a = record_array(&arena, raw);
    const void *data[] = { raw };
    cip_spec spec = spec_of(&a, "bcolz", NULL);
    blz_folder f;
    blz_out o;
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_ERR_UNSUPPORTED);
    assert_string_equal(f.err.text,
                        "the field '_' cannot be a column; table=no writes one array of "
                        "records, which bcolz does not open");
    blz_end(&f);
    spec.option = no;
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
    assert_true(!is_there(&f, "__rootdirs__") && is_there(&f, "data/__0.blp"));
    blz_end(&f);
    assert_int_equal(cip_dtype_of_text(&arena, plain, strlen(plain), false, &a.dtype, NULL),
                     CIP_OK);
    spec.option = NULL;
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
    blz_has_text(&f, "__rootdirs__", "{\"names\": [\"a\", \"p\"]}\n");
    assert_int_equal(blz_open(&f), CIP_OK);
    has_records(&f, raw);
    blz_end(&f);
    cip_arena_clear(&arena);
}

/* No chunk of records is one of a column, so theirs say nothing of its rows. */
static void columns_do_not_take_the_chunks_of_records(void **state)
{
    (void)state;
    static uint8_t raw[24 * N];
    const char *const option[8] = { "70" }, *const columns[8] = { [2] = "yes" };
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    cip_spec_array a = record_array(&arena, raw);
    const char plain[] = "[('a', '<i8'), ('p', '<u2', (8,))]";
    const void *data[] = { raw };
    blz_folder from, f;
    blz_out o;
    assert_int_equal(cip_dtype_of_text(&arena, plain, strlen(plain), false, &a.dtype, NULL),
                     CIP_OK);
    cip_spec spec = spec_of(&a, "blz-dir", option);
    assert_int_equal(blz_out_folder(&o, &from, &spec, data), CIP_OK);
    assert_int_equal(blz_open(&from), CIP_OK);
    a.source = from.layout->array[0];
    spec.option = columns;
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_int_equal(((cip_blz *)f.layout->own)->column[0]->meta.chunklen, (1 << 14) / 8);
    has_records(&f, raw);
    blz_end(&f);
    blz_end(&from);
    cip_arena_clear(&arena);
}

static void several_arrays_are_columns(void **state)
{
    (void)state;
    static const int64_t shape[] = { N, 2 };
    static uint8_t pairs[2 * N];
    cip_spec_array a[] = { int64s(), int64s() };
    const void *data[] = { counting(), pairs };
    cip_spec spec = spec_of(a, "bcolz", NULL);
    blz_folder f;
    blz_out o;
    a[0].path = "a~0";
    a[1] = (cip_spec_array){
        .path = "b", .dtype = cip_dtype_fixed(CIP_U8, false), .ndim = 2, .shape = shape, .mask = -1
    };
    spec.narray = 2;
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
    assert_string_equal(o.lost.text, "");
    blz_has_text(&f, "__rootdirs__", "{\"names\": [\"a~\", \"b\"]}\n");
    blz_has_text(&f, "b/meta/sizes", "{\"shape\": [250, 2], \"nbytes\": 500, \"cbytes\": 48}\n");
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_int_equal(f.layout->narray, 3);
    assert_int_equal(blz_read(&f, 1, 249), CIP_OK);
    assert_string_equal(blz_verify(&f).text, "");
    blz_end(&f);
    spec.kind = NULL;
    a[1].path = "b~1";
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_OK);
    assert_true(is_there(&f, "data/b%2F/__1__.bin"));
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_string_equal(f.layout->array[0]->dtype->name, "{'a~': int64, 'b/': uint8[2]}");
    assert_string_equal(blz_verify(&f).text, "");
    blz_end(&f);
    spec.option = (const char *const[8]){ "220000000" }; /* of one column: below 2^31 bytes */
    assert_int_equal(blz_out_folder(&o, &f, &spec, data), CIP_ERR_ARG);
    assert_non_null(strstr(f.err.text, "for chunklen, found 220000000"));
    blz_end(&f);
}

/* What a table of n columns begins with: of the document, of bcolz, and of one array of records. */
static cip_status begin_columns(const char *kind, bool whole, size_t n, cip_err *err)
{
    blz_folder f;
    void *w = NULL;
    blz_start(&f);
    assert_int_equal(cip_env_init(&f.env, NULL, NULL, NULL, NULL), CIP_OK);
    cip_arena a = { .mem = &f.env.mem };
    cip_spec_array *column;
    cip_field *field;
    cip_array_form *form;
    const cip_dtype *record;
    assert_int_equal(CIP_ARENA_NEW(&a, &column, n, NULL), CIP_OK);
    assert_int_equal(CIP_ARENA_NEW(&a, &field, n, NULL), CIP_OK);
    assert_int_equal(CIP_ARENA_NEW(&a, &form, n, NULL), CIP_OK);
    for (size_t i = 0; i < n; i++) {
        char *name;
        assert_int_equal(cip_arena_printf(&a, &name, NULL, "c%zu", i), CIP_OK);
        field[i] = (cip_field){ .name = name, .dtype = cip_dtype_fixed(CIP_I64, false) };
        column[i] = int64s();
        column[i].path = name;
    }
    assert_int_equal(cip_dtype_record(&a, n, field, true, 0, &record, NULL), CIP_OK);
    if (whole) {
        column[0].path = "";
        column[0].dtype = record;
    }
    cip_spec spec = spec_of(column, kind, NULL);
    spec.env = &f.env;
    spec.narray = whole ? 1 : n;
    cip_out out = { .write = blz_out_write, .member = blz_out_member };
    const cip_store_begin b = {
        .env = &f.env, .arena = &a, .spec = &spec, .out = &out, .form = form
    };
    const cip_status st = cip_blz_store.begin(&b, &w, err);
    if (w != NULL)
        cip_blz_store.clear(w);
    cip_arena_clear(&a);
    cip_env_clear(&f.env);
    blz_end(&f);
    return st;
}

static void as_many_columns_are_written_as_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        bool whole;
    } row[] = { { "bcolz", false }, { NULL, false }, { "bcolz", true }, { NULL, true } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        cip_err err = CIP_ERR_INIT;
        assert_int_equal(begin_columns(row[i].kind, row[i].whole, CIP_BLZ_MAX_COLUMNS, &err),
                         CIP_OK);
        assert_int_equal(begin_columns(row[i].kind, row[i].whole, CIP_BLZ_MAX_COLUMNS + 1, &err),
                         CIP_ERR_LIMIT);
        assert_string_equal(err.text, "expected at most 16384 columns, found 16385");
    }
}

static void what_is_no_column_is_named(void **state)
{
    (void)state;
    static const int64_t other[] = { 7 };
    static const struct {
        const char *kind, *path, *text;
    } row[] = {
        { "bcolz", "b/c", "b/c: 'b/c' cannot be the name of a column\n" },
        { "bcolz", "b~1c", "b~1c: 'b~1c' cannot be the name of a column\n" },
        { "bcolz", "_b", "_b: '_b' cannot be the name of a column\n" },
        { "bcolz", "\xff", "\xff: '\xff' cannot be the name of a column\n" },
        { NULL, "", ": '' cannot be the name of a column\n" },
        { NULL, "b",
          "b: all columns of a table need the same length: expected 250 rows, found 7\n" },
    };
    cip_spec_array a[] = { int64s(), int64s() };
    const void *data[] = { counting(), counting() };
    a[0].path = "a";
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        blz_folder f;
        blz_out o;
        cip_spec spec = spec_of(a, row[k].kind, NULL);
        spec.narray = 2;
        a[1].path = row[k].path;
        if (k == 5)
            a[1].shape = other;
        blz_out_folder(&o, &f, &spec, data);
        assert_int_equal(o.lost.count[CIP_BAD], 1);
        assert_string_equal(o.lost.text, row[k].text);
        blz_end(&f);
    }
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    static uint8_t raw[24 * N];
    static const char *const kinds[] = { NULL, "bcolz", "blz-dir" };
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    const cip_spec_array a = record_array(&arena, raw);
    const void *data[] = { raw };
    for (size_t k = 0; k < 3; k++)
        for (size_t n = 1;; n++) {
            const char *const option[8] = { "100", [2] = k == 0 ? NULL : "no" };
            const cip_spec spec = spec_of(&a, kinds[k], option);
            fail_alloc alloc = { .fail_at = n };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            blz_folder f;
            blz_out o;
            cip_status st = blz_out_from(&o, &f, &spec, data, &from);
            assert_int_equal(alloc.held, 0);
            blz_end(&f);
            assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
            if (alloc.requests < n)
                break;
        }
    cip_arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_is_as_the_programs_wrote_it),
        cmocka_unit_test(types_are_said_as_numpy_prints_them),
        cmocka_unit_test(an_array_of_nothing_has_no_data),
        cmocka_unit_test(attributes_go_along_in_ascii),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_superchunk_of_4_gib_is_refused),
        cmocka_unit_test(losses_are_named),
        cmocka_unit_test(superchunks_are_as_the_document_has_them),
        cmocka_unit_test(superchunks_are_dealt_out_to_shards),
        cmocka_unit_test(records_lie_in_columns),
        cmocka_unit_test(a_folder_is_named_as_the_field),
        cmocka_unit_test(records_become_a_table_on_demand),
        cmocka_unit_test(records_of_bcolz_are_a_table),
        cmocka_unit_test(columns_do_not_take_the_chunks_of_records),
        cmocka_unit_test(several_arrays_are_columns),
        cmocka_unit_test(as_many_columns_are_written_as_are_read),
        cmocka_unit_test(what_is_no_column_is_named),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
