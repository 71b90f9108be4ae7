/* SPDX-License-Identifier: BSD-3-Clause
 * New frames: their bytes, chunks and blocks, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "codec/with.h"
#include "support/format/blosc2/b2_testing.h"
#include "format/blosc2/blosc2_write.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "support/one_format.h"

enum { OPTIONS = 8, TRAILER = 35 };

static cip_spec spec_of(const cip_spec_array *a, const char *const *option)
{
    return (cip_spec){ .narray = 1, .array = a, .big = -1, .option = option };
}

static cip_spec_array array_of(cip_kind kind, int32_t ndim, const int64_t *shape)
{
    return (cip_spec_array){
        .path = "", .dtype = cip_dtype_fixed(kind, false), .ndim = ndim, .shape = shape, .mask = -1
    };
}

/* Small numbers, so that codecs make something of them. */
static void fill(uint8_t *raw, size_t n)
{
    for (size_t i = 0; i < n; i++)
        raw[i] = (uint8_t)(i % 11 % 5);
}

/* The frame in `o` has the array's elements, and verify finds nothing. */
static void assert_holds(const one_output *o, const cip_spec_array *a, const uint8_t *raw)
{
    one_file f;
    size_t len;
    cip_report report;
    one_output found = { 0 };
    assert_int_equal(one_open(&f, &cip_format_blosc2, o->bytes.ptr, o->bytes.len, 0, NULL), CIP_OK);
    const cip_array *got = f.layout->array[0];
    assert_int_equal(got->view.ndim, a->ndim);
    for (int32_t k = 0; k < a->ndim; k++)
        assert_int_equal(got->view.shape[k], a->shape[k]);
    uint8_t *back = one_read(&f, 0, &len);
    assert_non_null(back);
    assert_memory_equal(back, raw, len);
    free(back);
    cip_report_init(&report, &f.env.mem, false, one_on_loss, &found);
    assert_int_equal(cip_b2_verify(f.layout, 1, &report, NULL), CIP_OK);
    assert_string_equal(found.lost, "");
    cip_report_clear(&report);
    one_close(&f);
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* python-blosc2 4.14 wrote these of asarray(arange(12, dtype="f4").reshape(3, 4), chunks=(2, 3),
 * blocks=(2, 2)), but for the lengths of the frame and its chunks and the threads (2). */
static void a_header_is_as_libblosc2_writes_it(void **state)
{
    (void)state;
    NEEDS(ZSTD);
    static const char hex[] =
        "9ea862326672616d6500d2000000a5cf0000000000000208a412005502d30000000000000080d300"
        "00000000000100d200000004d200000010d200000020d10001d10001c2d806000000000001050000"
        "0000000000000093cd0011de0001a462326e64d20000006bdc0001c60000003597000292d3000000"
        "0000000003d3000000000000000492d200000002d20000000392d200000002d20000000200db0000"
        "00033c6634";
    static const int64_t shape[] = { 3, 4 };
    const char *const option[OPTIONS] = { "2,3", "2,2" };
    const cip_spec_array a = array_of(CIP_F32, 2, shape);
    const cip_spec spec = spec_of(&a, option);
    uint8_t raw[48], want[200];
    size_t n = 0;
    one_output o = { 0 };
    for (size_t i = 0; i < 12; i++) {
        const float v = (float)i;
        memcpy(raw + 4 * i, &v, sizeof v);
    }
    for (const char *p = hex; *p != '\0'; p += 2) {
        unsigned byte;
        assert_int_equal(sscanf(p, "%2x", &byte), 1);
        want[n++] = (uint8_t)byte;
    }
    assert_int_equal(one_write(&o, &cip_format_blosc2, &spec, raw, 5), CIP_OK);
    assert_int_equal(n, 165);
    assert_memory_equal(o.bytes.ptr, want, 0x10);
    assert_memory_equal(o.bytes.ptr + 0x18, want + 0x18, 0x27 - 0x18);
    assert_memory_equal(o.bytes.ptr + 0x2F, want + 0x2F, n - 0x2F);
    assert_int_equal(cip_load_u64(o.bytes.ptr + 0x10, true), o.bytes.len);
    assert_holds(&o, &a, raw);
    one_output_clear(&o);
}

static void an_array_of_nothing_has_no_chunks_and_no_index(void **state)
{
    (void)state;
    static const int64_t shape[] = { 0, 7 };
    const cip_spec_array a = array_of(CIP_I32, 2, shape);
    const cip_spec spec = spec_of(&a, NULL);
    one_output o = { 0 };
    assert_int_equal(one_write(&o, &cip_format_blosc2, &spec, "", 1), CIP_OK);
    assert_int_equal(o.bytes.len, cip_load_u32(o.bytes.ptr + 0x0B, true) + TRAILER);
    assert_holds(&o, &a, (const uint8_t *)"");
    one_output_clear(&o);
}

/* --- chunks and blocks ------------------------------------------------------------------------ */

static void blocks_are_longer_along_the_last_axis(void **state)
{
    (void)state;
    static const struct {
        uint64_t item;
        int32_t ndim;
        int64_t shape[4], given_chunk[4], given_block[4], chunk[4], block[4];
    } row[] = {
        { 4, 1, { 10 }, { 0 }, { 0 }, { 10 }, { 10 } },
        { 4, 1, { 100000000 }, { 0 }, { 0 }, { 1048512 }, { 32766 } },
        { 4, 2, { 16384, 16384 }, { 0 }, { 0 }, { 1024, 1024 }, { 16, 1024 } },
        { 8, 2, { 10000, 10000 }, { 0 }, { 0 }, { 504, 1000 }, { 8, 1000 } },
        { 8, 2, { 3, 1000000 }, { 0 }, { 0 }, { 3, 126790 }, { 3, 2045 } },
        { 8, 2, { 1000000, 3 }, { 0 }, { 0 }, { 126790, 3 }, { 2045, 3 } },
        { 4, 3, { 100, 2000, 3000 }, { 0 }, { 0 }, { 56, 128, 125 }, { 8, 16, 125 } },
        { 4, 2, { 0, 300 }, { 0 }, { 0 }, { 2048, 300 }, { 128, 100 } },
        { 4, 2, { 2000, 1000 }, { 0 }, { 0 }, { 1008, 1000 }, { 63, 250 } },
        { 4, 2, { 1000, 1000 }, { 100, 70 }, { 0 }, { 100, 70 }, { 100, 70 } },
        { 4, 2, { 5000, 5000 }, { 0 }, { 30, 40 }, { 840, 640 }, { 30, 40 } },
        { 4, 2, { 5, 5 }, { 0 }, { 30, 40 }, { 30, 40 }, { 30, 40 } },
        { 1 << 20, 1, { 100 }, { 0 }, { 0 }, { 4 }, { 1 } },
        { 1 << 30, 1, { 100 }, { 0 }, { 0 }, { 1 }, { 1 } },
        { 4, 4, { 24, 40, 64, 128 }, { 0 }, { 0 }, { 24, 24, 32, 32 }, { 8, 8, 8, 32 } },
        { 1, 4, { 500, 500, 500, 3 }, { 0 }, { 0 }, { 64, 128, 128, 3 }, { 16, 32, 32, 3 } },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        cip_b2_nd nd = { .ndim = row[i].ndim };
        memcpy(nd.shape, row[i].shape, sizeof row[i].shape);
        memcpy(nd.chunk, row[i].given_chunk, sizeof row[i].chunk);
        memcpy(nd.block, row[i].given_block, sizeof row[i].block);
        cip_b2_choose_shapes(&nd, row[i].item, 1);
        for (int32_t k = 0; k < nd.ndim; k++) {
            assert_int_equal(nd.chunk[k], row[i].chunk[k]);
            assert_int_equal(nd.block[k], row[i].block[k]);
        }
    }
}

/* zfp takes no blocks that are shorter than 4. */
static void blocks_reach_over_axes_that_are_too_short(void **state)
{
    (void)state;
    static const struct {
        int64_t shape[2], given[2], chunk[2], block[2];
    } row[] = {
        { { 3, 50 }, { 0 }, { 4, 50 }, { 4, 50 } },
        { { 100000, 1 }, { 0 }, { 100000, 4 }, { 2041, 4 } },
        { { 5, 100000 }, { 0 }, { 5, 50029 }, { 5, 1021 } },
        { { 3, 50 }, { 3, 20 }, { 3, 20 }, { 3, 20 } },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        cip_b2_nd nd = { .ndim = 2 };
        memcpy(nd.shape, row[i].shape, sizeof row[i].shape);
        memcpy(nd.chunk, row[i].given, sizeof row[i].given);
        cip_b2_choose_shapes(&nd, 8, 4);
        assert_memory_equal(nd.chunk, row[i].chunk, sizeof row[i].chunk);
        assert_memory_equal(nd.block, row[i].block, sizeof row[i].block);
    }
}

static void chunks_and_blocks_may_be_given(void **state)
{
    (void)state;
    static const int64_t shape[] = { 3, 5, 4 };
    static const char *const grid[][2] = { { NULL, NULL },       { "2,2,3", NULL },
                                           { NULL, "2,1,3" },    { "2,4,4", "2,3,1" },
                                           { "7,9,8", "2,4,8" }, { "1,1,1", "1,1,1" } };
    const cip_spec_array a = array_of(CIP_U16, 3, shape);
    uint8_t raw[120];
    fill(raw, sizeof raw);
    for (size_t i = 0; i < sizeof grid / sizeof *grid; i++)
        for (size_t step = 1; step < 70; step += 13) {
            const char *const option[OPTIONS] = { grid[i][0], grid[i][1] };
            const cip_spec spec = spec_of(&a, option);
            one_output o = { 0 };
            assert_int_equal(one_write(&o, &cip_format_blosc2, &spec, raw, step), CIP_OK);
            assert_holds(&o, &a, raw);
            one_output_clear(&o);
        }
}

static void codecs_know_the_shape_of_blocks(void **state)
{
    (void)state;
    static const int64_t shape[] = { 50, 23 };
    static const struct {
        cip_kind kind;
        int level;
        uint8_t split;
        const char *option[OPTIONS];
    } row[] = { { CIP_U8, 4, 1, { "40,20", "16,12" } },
                { CIP_U8, 8, 1, { NULL } },
                { CIP_I32, 4, 0, { "13,20", "7,9" } },
                { CIP_I32, 8, 2, { "13,20", "7,9", "delta+shuffle", "auto" } } };
    uint8_t raw[50 * 23 * 4];
    fill(raw, sizeof raw);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const cip_spec_array a = array_of(row[i].kind, 2, shape);
        cip_spec spec = spec_of(&a, row[i].option);
        one_output o = { 0 };
        spec.codec = "ndlz";
        spec.level = row[i].level;
        assert_int_equal(one_write(&o, &cip_format_blosc2, &spec, raw, 1150 * a.dtype->itemsize),
                         CIP_OK);
        assert_int_equal(o.bytes.ptr[0x1B], 0x56); /* level 5, the codec is named behind */
        assert_int_equal(o.bytes.ptr[0x1C] & 3, row[i].split);
        assert_int_equal(o.bytes.ptr[0x4D], CIP_BLOSC_NDLZ);
        assert_int_equal(o.bytes.ptr[0x4E], row[i].level);
        assert_holds(&o, &a, raw);
        one_output_clear(&o);
    }
}

/* Entries of the index, of the frame in `o`. */
static void read_index(const one_output *o, uint64_t n, uint64_t *entry)
{
    uint8_t raw[8 * 64];
    cip_blosc_head h;
    const uint64_t at =
        cip_load_u32(o->bytes.ptr + 0x0B, true) + cip_load_u64(o->bytes.ptr + 0x27, true);
    const cip_bytes in = { o->bytes.ptr + at, (size_t)(o->bytes.len - at) };
    const cip_codec_env env = { .mem = (cip_mem *)&o->env.mem };
    assert_int_equal(cip_blosc_head_parse(in, &h, NULL), CIP_OK);
    assert_int_equal(h.nbytes, 8 * n);
    assert_int_equal(
        cip_codec_blosc.decode(NULL, &env, (cip_bytes){ in.ptr, h.cbytes }, raw, h.nbytes, NULL),
        CIP_OK);
    for (uint64_t i = 0; i < n; i++)
        entry[i] = cip_load_u64(raw + 8 * i, false);
}

static void special_chunks_lie_in_the_index(void **state)
{
    (void)state;
    static const int64_t shape[] = { 10, 4 };
    const char *const option[OPTIONS] = { "2,4", "1,4" };
    const cip_spec_array a = array_of(CIP_F32, 2, shape);
    const cip_spec spec = spec_of(&a, option);
    uint8_t raw[160] = { 0 };
    uint64_t entry[5];
    one_output o = { 0 };
    for (size_t i = 8; i < 16; i++)
        cip_store_u32(raw + 4 * i, UINT32_C(0x7FC00000), false);
    for (size_t i = 16; i < 24; i++)
        cip_store_u32(raw + 4 * i, 77, false);
    cip_store_u32(raw + 4 * 25, 5, false);
    assert_int_equal(one_write(&o, &cip_format_blosc2, &spec, raw, 40), CIP_OK);
    read_index(&o, 5, entry);
    assert_int_equal(entry[0], UINT64_C(0x81) << 56);
    assert_int_equal(entry[1], UINT64_C(0x82) << 56);
    assert_int_equal(entry[2], 0); /* a value: 32 bytes and itself */
    assert_int_equal(entry[3], 36);
    assert_int_equal(entry[4], UINT64_C(0x81) << 56);
    assert_holds(&o, &a, raw);
    one_output_clear(&o);
}

/* --- what is refused, what is lost ------------------------------------------------------------ */

static void options_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *option[OPTIONS], *codec;
        int level;
        cip_status st;
        const char *text;
    } row[] = {
        { { "4" },
          NULL,
          0,
          CIP_ERR_ARG,
          "expected a length of 1 to 2^31 - 1 for each axis for chunks, found 4" },
        { { "4,5," },
          NULL,
          0,
          CIP_ERR_ARG,
          "expected a length of 1 to 2^31 - 1 for each axis for chunks, found 4,5," },
        { { "4,2147483648" },
          NULL,
          0,
          CIP_ERR_ARG,
          "expected a length of 1 to 2^31 - 1 for each axis for chunks, found 4,2147483648" },
        { { "4,4", "2,5" },
          NULL,
          0,
          CIP_ERR_ARG,
          "expected blocks within chunks, found 5 and 4 along axis 1" },
        { { NULL, "0,1" },
          NULL,
          0,
          CIP_ERR_ARG,
          "expected a length of 1 to 2^31 - 1 for each axis for blocks, found 0,1" },
        { { "40000,40000" },
          NULL,
          0,
          CIP_ERR_UNSUPPORTED,
          "expected chunks of at most 2147483615 bytes and blocks of at most 536866816, found "
          "3200000000 and 64000" },
        { { NULL, NULL, "shuffled" },
          NULL,
          0,
          CIP_ERR_ARG,
          "expected the name of a filter, found \"shuffled\"" },
        { { NULL, NULL, "shuffle+delta" },
          NULL,
          0,
          CIP_ERR_ARG,
          "expected the filter delta only in first place, found 5" },
        { { NULL, NULL, "trunc_prec:5" },
          NULL,
          0,
          CIP_ERR_ARG,
          "expected a filter for elements of uint16, found trunc_prec" },
        { { NULL, NULL, "int_trunc:0" },
          NULL,
          0,
          CIP_ERR_ARG,
          "expected from 1 to 16 bits for int_trunc to keep, or -1 to -15 to zero, found 0" },
        { { NULL, NULL, NULL, "often" },
          NULL,
          0,
          CIP_ERR_ARG,
          "expected always, never or auto for split, found often" },
        { { NULL, NULL, NULL, NULL, "if" },
          NULL,
          0,
          CIP_ERR_ARG,
          "expected yes or no for dict, found if" },
        { { NULL },
          "snappy",
          0,
          CIP_ERR_UNSUPPORTED,
          "expected the codec blosclz, lz4, lz4hc, zlib, zstd, ndlz:4, ndlz:8, zfp:acc=N, "
          "zfp:prec=N, zfp:rate=N or none, found snappy" },
        { { NULL }, "ndlz", 5, CIP_ERR_ARG, "expected ndlz:4 or ndlz:8, found \"ndlz:5\"" },
        { { NULL },
          "zfp:acc=-3",
          0,
          CIP_ERR_ARG,
          "expected elements of float32 or float64 for zfp, found uint16" },
        { { NULL }, "zlib", 10, CIP_ERR_ARG, "expected a level from 0 to 9, found 10" },
    };
    static const int64_t shape[] = { 20, 25 };
    const cip_spec_array a = array_of(CIP_U16, 2, shape);
    uint8_t raw[1000];
    fill(raw, sizeof raw);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        cip_spec spec = spec_of(&a, row[i].option);
        one_output o = { 0 };
        spec.codec = row[i].codec;
        spec.level = row[i].level;
        assert_int_equal(one_write(&o, &cip_format_blosc2, &spec, raw, 500), row[i].st);
        assert_string_equal(o.err.text, row[i].text);
        assert_int_equal(o.bytes.len, 0);
        one_output_clear(&o);
    }
}

/* python-blosc2 opens no frame whose header counts the bits that go. */
static void bits_that_go_are_stored_as_those_that_stay(void **state)
{
    (void)state;
    static const int64_t shape[] = { 20 };
    static const struct {
        cip_kind kind;
        const char *filter;
        uint8_t stored;
    } row[] = {
        { CIP_F32, "trunc_prec:-10", 13 }, { CIP_F64, "trunc_prec:-10", 42 },
        { CIP_U16, "int_trunc:-15", 1 },   { CIP_F32, "trunc_prec:23", 23 }, /* all of them */
        { CIP_U16, "int_trunc:16", 16 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const cip_spec_array a = array_of(row[i].kind, 1, shape);
        const char *const option[OPTIONS] = { NULL, NULL, row[i].filter };
        const cip_spec spec = spec_of(&a, option);
        uint8_t raw[160] = { 0 };
        one_output o = { 0 };
        one_file f;
        assert_int_equal(one_write(&o, &cip_format_blosc2, &spec, raw, 20), CIP_OK);
        assert_int_equal(one_open(&f, &cip_format_blosc2, o.bytes.ptr, o.bytes.len, 0, NULL),
                         CIP_OK);
        const cip_b2_file *b2 = f.layout->own;
        assert_int_equal(b2->frame->h.filter_meta[CIP_BLOSC_FILTERS - 1], row[i].stored);
        one_close(&f);
        one_output_clear(&o);
    }
}

/* Plain frames: their one partial chunk takes no memory for the rest of it. */
static void a_chunk_has_at_most_what_a_chunk_can_have(void **state)
{
    (void)state;
    static const uint8_t raw[10] = { 1, 2, 3 };
    static const int64_t shape[] = { sizeof raw };
    const struct {
        const char *chunks;
        cip_status st;
    } row[] = { { "2147483615", CIP_OK }, { "2147483616", CIP_ERR_UNSUPPORTED } };
    for (size_t i = 0; i < 2; i++) {
        const char *const option[OPTIONS] = { row[i].chunks };
        cip_spec_array a = array_of(CIP_U8, 1, shape);
        const cip_spec spec = { .kind = "frame", .array = &a, .narray = 1, .option = option };
        one_output o = { 0 };
        assert_int_equal(one_write(&o, &cip_format_blosc2, &spec, raw, sizeof raw), row[i].st);
        one_output_clear(&o);
    }
}

static void what_a_frame_cannot_hold_is_named(void **state)
{
    (void)state;
    static const int64_t many[17] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    const char *const lossy[OPTIONS] = { NULL, NULL, "trunc_prec:5+shuffle" };
    const struct {
        cip_spec_array a;
        const char *kind;
        const char *const *option;
        size_t nlost, nimpossible;
        const char *text;
    } row[] = {
        { array_of(CIP_F32, 1, many), NULL, NULL, 0, 0, "" },
        { array_of(CIP_F32, 17, many), NULL, NULL, 0, 1, "a Blosc2 array has at most 16 axes\n" },
        { array_of(CIP_U8, 2, many), "b2frame", NULL, 0, 1,
          "a plain frame has one axis; a .b2nd file has any\n" },
        { array_of(CIP_F32, 1, many), "b2frame", NULL, 1, 0,
          "the element type is lost: a plain frame records only the size of its items\n" },
        { array_of(CIP_F32, 1, many), NULL, lossy, 1, 0,
          "the filter trunc_prec loses bits of the elements\n" },
        { array_of(CIP_U8, 1, many), "b2chunk", NULL, 0, 0, "" },
        { array_of(CIP_F32, 2, many), "blosc", NULL, 1, 1,
          "a chunk has one axis; a .b2nd file has any\n"
          "the element type is lost: a bare chunk does not record it\n" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        cip_spec spec = spec_of(&row[i].a, row[i].option);
        one_output o = { 0 };
        cip_report loss;
        assert_int_equal(cip_env_init(&o.env, NULL, NULL, NULL, NULL), CIP_OK);
        spec.kind = row[i].kind;
        spec.env = &o.env;
        cip_report_init(&loss, &o.env.mem, false, one_on_loss, &o);
        cip_b2_store.check(&spec, &loss, NULL);
        assert_string_equal(o.lost, row[i].text);
        assert_int_equal(o.nlost, row[i].nlost);
        assert_int_equal(o.nimpossible, row[i].nimpossible);
        cip_report_clear(&loss);
        one_output_clear(&o);
    }
}

/* --- metadata --------------------------------------------------------------------------------- */

/* {name: {k0: 0, k1: 1, ...}}, n of them, each key behind `before`. */
static cip_node *tree_of(cip_arena *a, const char *name, const char *before, size_t n)
{
    cip_node *root, *map, *v;
    char key[80];
    assert_int_equal(cip_node_new_map(a, 1, &root, NULL), CIP_OK);
    assert_int_equal(cip_node_new_map(a, n, &map, NULL), CIP_OK);
    for (size_t i = 0; i < n; i++) {
        snprintf(key, sizeof key, "%s%zu", before, i);
        assert_int_equal(cip_node_new_int(a, (int64_t)i, &v, NULL), CIP_OK);
        assert_int_equal(cip_node_set_key(a, map, i, key, v, NULL), CIP_OK);
    }
    assert_int_equal(cip_node_set_key(a, root, 0, name, map, NULL), CIP_OK);
    return root;
}

static void metadata_become_metalayers(void **state)
{
    (void)state;
    static const int64_t shape[] = { 3 };
    static const uint8_t raw[6] = { 1, 2, 3 };
    static const struct {
        const char *name, *before;
        size_t n, kept, lost;
        const char *map; /* where they are then */
    } row[] = {
        { "meta", "k", 3, 3, 0, "meta" },
        { "meta", "k", 16, 15, 1, "meta" },
        { "vlmeta", "k", 40, 40, 0, "vlmeta" },
        { "vlmeta", "a name of thirty-one characters", 1, 0, 1, NULL },
        { "vlmeta", "a name of thirty characters..", 1, 1, 0, "vlmeta" },
        { "vlmeta", "k", 8200, 6058, 2142, "vlmeta" },
        { "other", "k", 5, 5, 0, "vlmeta/other" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        cip_mem mem;
        cip_mem_init(&mem, NULL, 0);
        cip_arena arena = { .mem = &mem };
        one_file f;
        one_output o = { 0 };
        const cip_spec_array a = array_of(CIP_U16, 1, shape);
        cip_spec spec = spec_of(&a, NULL);
        spec.tree = tree_of(&arena, row[i].name, row[i].before, row[i].n);
        assert_int_equal(one_write(&o, &cip_format_blosc2, &spec, raw, 3), CIP_OK);
        assert_int_equal(o.nlost, row[i].lost);
        assert_holds(&o, &a, raw);
        assert_int_equal(one_open(&f, &cip_format_blosc2, o.bytes.ptr, o.bytes.len, 0, NULL),
                         CIP_OK);
        const cip_node *there =
            cip_tree_get(f.layout->tree, row[i].map != NULL ? row[i].map : "vlmeta", NULL);
        const size_t own = row[i].map != NULL && strcmp(row[i].map, "meta") == 0;
        assert_int_equal(there != NULL ? there->len : 0, row[i].kept + own);
        one_close(&f);
        one_output_clear(&o);
        cip_arena_clear(&arena);
    }
}

/* --- failures --------------------------------------------------------------------------------- */

static void fail_each(const cip_spec *spec, const void *raw)
{
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        one_output o = { 0 };
        cip_status st = one_write_from(&o, &cip_format_blosc2, spec, raw, 100, &from);
        one_output_clear(&o);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        assert_int_equal(alloc.held, 0);
        if (alloc.requests < n)
            break;
    }
    for (size_t n = 1;; n += 17) {
        one_output o = { .fail_after = n };
        cip_status st = one_write(&o, &cip_format_blosc2, spec, raw, 100);
        one_output_clear(&o);
        if (st == CIP_OK)
            break;
        assert_int_equal(st, CIP_ERR_IO);
    }
}

/* Without memory nobody can say whether this build has a codec: no other takes its place. */
static void a_lack_of_memory_changes_no_codec(void **state)
{
    (void)state;
    static const int64_t shape[] = { 50, 23 };
    static const char *const option[OPTIONS] = { "40,20", "16,12" };
    uint8_t raw[50 * 23];
    fill(raw, sizeof raw);
    for (int i = 0; i < 2; i++) {
        cip_spec_array a = array_of(CIP_U8, 2, shape);
        cip_spec spec = spec_of(&a, option);
        cip_status st = CIP_ERR_NOMEM;
        one_output o = { 0 };
        one_file f;
        spec.codec = i == 0 ? "lz4" : "ndlz";
        spec.level = 4;
        assert_int_equal(one_write(&o, &cip_format_blosc2, &spec, raw, sizeof raw), CIP_OK);
        assert_int_equal(one_open(&f, &cip_format_blosc2, o.bytes.ptr, o.bytes.len, 0, NULL),
                         CIP_OK);
        f.layout->format = cip_format_blosc2.name;
        spec.codec = NULL;
        a.source = f.layout->array[0];
        for (size_t n = 1; st != CIP_OK; n++) {
            fail_alloc alloc = { .fail_at = n };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            one_output again = { 0 };
            st = one_write_from(&again, &cip_format_blosc2, &spec, raw, sizeof raw, &from);
            assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
            if (st == CIP_OK)
                assert_memory_equal(again.bytes.ptr + 0x1B, o.bytes.ptr + 0x1B, 1);
            if (st == CIP_OK && i == 1)
                assert_int_equal(again.bytes.ptr[0x4D], CIP_BLOSC_NDLZ);
            one_output_clear(&again);
        }
        one_close(&f);
        one_output_clear(&o);
    }
}

static void failing_allocations_and_writes_are_reported(void **state)
{
    (void)state;
    static const int64_t shape[] = { 20, 25 }, list[] = { 500 };
    const char *const option[OPTIONS] = { "7,25", "3,8" };
    const cip_spec_array a = array_of(CIP_U16, 2, shape), items = array_of(CIP_U16, 1, list);
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_arena arena = { .mem = &mem };
    cip_spec spec = spec_of(&a, option);
    uint8_t raw[1000];
    fill(raw, sizeof raw);
    spec.tree = tree_of(&arena, "vlmeta", "k", 3);
    fail_each(&spec, raw);
    spec = spec_of(&items, NULL);
    for (int k = 0; k < 3; k++) {
        spec.kind = cip_b2_kinds[k].name;
        fail_each(&spec, raw);
        memset(raw, 7, sizeof raw); /* special from the second on */
    }
    cip_arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_as_libblosc2_writes_it),
        cmocka_unit_test(an_array_of_nothing_has_no_chunks_and_no_index),
        cmocka_unit_test(blocks_are_longer_along_the_last_axis),
        cmocka_unit_test(blocks_reach_over_axes_that_are_too_short),
        cmocka_unit_test(chunks_and_blocks_may_be_given),
        cmocka_unit_test(codecs_know_the_shape_of_blocks),
        cmocka_unit_test(special_chunks_lie_in_the_index),
        cmocka_unit_test(options_that_cannot_be_are_refused),
        cmocka_unit_test(bits_that_go_are_stored_as_those_that_stay),
        cmocka_unit_test(a_chunk_has_at_most_what_a_chunk_can_have),
        cmocka_unit_test(what_a_frame_cannot_hold_is_named),
        cmocka_unit_test(metadata_become_metalayers),
        cmocka_unit_test(a_lack_of_memory_changes_no_codec),
        cmocka_unit_test(failing_allocations_and_writes_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
