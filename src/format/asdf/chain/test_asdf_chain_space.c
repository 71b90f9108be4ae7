/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <zlib.h>

#include "codec/quantize.h"
#include "format/asdf/chain/asdf_chain.h"
#include "support/format/asdf/chain/asdf_early_testing.h"
#include "support/fail_alloc.h"

static uint64_t seed = 88172645463325252u;

static uint64_t dice(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

/* --- a naive encoder -------------------------------------------------------------------------- */

typedef struct bytes {
    uint8_t *p;
    size_t n;
} bytes;

static bytes deflated(bytes in)
{
    uLongf n = compressBound((uLong)in.n);
    bytes out = { malloc(n), 0 };
    assert_int_equal(compress2(out.p, &n, in.p, (uLong)in.n, 1), Z_OK);
    out.n = n;
    return out;
}

typedef struct shape {
    int ndim;
    int64_t of[3], tile[3];
    size_t itemsize;
} shape;

static size_t nelem(const shape *s)
{
    size_t n = 1;
    for (int k = 0; k < s->ndim; k++)
        n *= (size_t)s->of[k];
    return n;
}

/* Tiles in C order, elements in C order within, junk where the array has none. */
static bytes tiled(const shape *s, bytes in)
{
    int64_t count[3] = { 1, 1, 1 }, tile[3] = { 1, 1, 1 }, of[3] = { 1, 1, 1 };
    for (int k = 0; k < s->ndim; k++) {
        of[3 - s->ndim + k] = s->of[k];
        tile[3 - s->ndim + k] = s->tile[k];
        count[3 - s->ndim + k] = (s->of[k] + s->tile[k] - 1) / s->tile[k];
    }
    size_t n = (size_t)(count[0] * count[1] * count[2] * tile[0] * tile[1] * tile[2]) * s->itemsize;
    bytes out = { malloc(n + 1), n };
    size_t at = 0;
    for (int64_t t = 0; t < count[0] * count[1] * count[2]; t++)
        for (int64_t e = 0; e < tile[0] * tile[1] * tile[2]; e++, at += s->itemsize) {
            int64_t i = t / (count[1] * count[2]) * tile[0] + e / (tile[1] * tile[2]);
            int64_t j = t / count[2] % count[1] * tile[1] + e / tile[2] % tile[1];
            int64_t k = t % count[2] * tile[2] + e % tile[2];
            if (i < of[0] && j < of[1] && k < of[2])
                memcpy(out.p + at, in.p + (size_t)((i * of[1] + j) * of[2] + k) * s->itemsize,
                       s->itemsize);
            else
                memset(out.p + at, 0x3f, s->itemsize); /* 0.74: any float */
        }
    assert_int_equal(at, n);
    return out;
}

/* Floats that are integers in 16 bits, in chunks of `each`: exact whatever the scale of 0.25. */
static bytes quantized(bytes in, bool wide, bool big, size_t each)
{
    size_t width = wide ? 8 : 4, n = in.n / width;
    bytes out = { malloc(in.n + 25 * (n / each + 2)), 0 };
    for (size_t i = 0; i < n; i += each) {
        size_t now = n - i < each ? n - i : each;
        const cip_quantize_head h = { 16, 1, 0.25, now };
        cip_quantize_head_bytes(&h, out.p + out.n);
        out.n += CIP_QUANTIZE_HEAD;
        for (size_t k = 0; k < now; k++, out.n += 2) {
            const uint8_t *at = in.p + (i + k) * width;
            uint64_t u64 = wide ? cip_load_u64(at, big) : 0;
            uint32_t u32 = wide ? 0 : cip_load_u32(at, big);
            double d = 0;
            float f = 0;
            memcpy(&d, &u64, sizeof d);
            memcpy(&f, &u32, sizeof f);
            double v = wide ? d : (double)f;
            cip_store_u16(out.p + out.n, (uint16_t)(int16_t)((v - 1) * 4), true);
        }
    }
    return out;
}

static bytes random_floats(size_t n, bool wide, bool big)
{
    bytes out = { malloc(n * 8 + 1), n * (wide ? 8 : 4) };
    for (size_t i = 0; i < n; i++) {
        double d = (double)((int64_t)dice(60000) - 30000) * 0.25 + 1;
        float f = (float)d;
        uint64_t u64;
        uint32_t u32;
        memcpy(&u64, &d, sizeof d);
        memcpy(&u32, &f, sizeof f);
        if (wide)
            cip_store_u64(out.p + 8 * i, u64, big);
        else
            cip_store_u32(out.p + 4 * i, u32, big);
    }
    return out;
}

/* --- one chain -------------------------------------------------------------------------------- */

/* A sample of what a chain stores, and its text. */
typedef struct sample {
    shape s;
    bool wide, big, tile, quantize;
    int nzlib;
    bytes raw, stored;
    char text[300];
} sample;

static void list(char *to, const int64_t *v, int n)
{
    strcat(to, "[");
    for (int k = 0; k < n; k++)
        sprintf(to + strlen(to), "%s%d", k ? ", " : "", (int)v[k]);
    strcat(to, "]");
}

static void step(bytes *now, bytes next)
{
    free(now->p);
    *now = next;
}

static void make_text_of(sample *m)
{
    int64_t flat[] = { (int64_t)m->raw.n / (m->wide ? 8 : 4) };
    strcpy(m->text, "[");
    if (m->tile) {
        strcat(m->text, "[tile, {shape: ");
        list(m->text, m->s.tile, m->s.ndim);
        strcat(m->text, ", original_shape: ");
        list(m->text, m->s.of, m->s.ndim);
        sprintf(m->text + strlen(m->text), ", item_size: %zu}], ", m->s.itemsize);
    }
    if (m->quantize) {
        sprintf(m->text + strlen(m->text),
                "[quantize, {dtype: %d, original_shape: ", m->wide ? 64 : 32);
        list(m->text, flat, 1);
        strcat(m->text, "}], ");
    }
    for (int i = 0; i < m->nzlib; i++)
        strcat(m->text, "zlib, ");
    strcat(m->text, "]\n...\n");
}

static void make_sample(sample *m)
{
    m->s.ndim = (int)dice(4);
    m->wide = dice(2) != 0;
    m->big = dice(2) != 0;
    m->s.itemsize = m->wide ? 8 : 4;
    for (int k = 0; k < m->s.ndim; k++) {
        m->s.of[k] = 1 + (int64_t)dice(m->s.ndim == 1 ? 200 : 14);
        m->s.tile[k] = 1 + (int64_t)dice((uint64_t)m->s.of[k] + 3);
    }
    m->tile = dice(4) != 0;
    m->quantize = dice(3) != 0;
    m->nzlib = (int)dice(3);
    m->raw = random_floats(nelem(&m->s), m->wide, m->big);
    m->stored = (bytes){ malloc(m->raw.n), m->raw.n };
    memcpy(m->stored.p, m->raw.p, m->raw.n);
    if (m->tile)
        step(&m->stored, tiled(&m->s, m->stored));
    if (m->tile && m->quantize) { /* the padding has to be in 16 bits too */
        for (size_t i = 0; i < m->stored.n; i += m->s.itemsize)
            if (m->stored.p[i] == 0x3f && m->stored.p[i + 1] == 0x3f)
                memset(m->stored.p + i, 0, m->s.itemsize);
    }
    if (m->quantize)
        step(&m->stored, quantized(m->stored, m->wide, m->big, 1 + (size_t)dice(60)));
    for (int i = 0; i < m->nzlib; i++)
        step(&m->stored, deflated(m->stored));
    make_text_of(m);
}

static void clear(sample *m)
{
    free(m->raw.p);
    free(m->stored.p);
}

static void make_file(asdf_make *f, const sample *m)
{
    char tree[200] = "a: !core/ndarray {source: 0, datatype: ";
    strcat(tree, m->wide ? "float64" : "float32");
    strcat(tree, m->big ? ", byteorder: big, shape: " : ", byteorder: little, shape: ");
    list(tree, m->s.of, m->s.ndim);
    strcat(tree, "}\n");
    make_early_tree(f, tree);
    make_encoded(f, m->text, m->stored.p, m->stored.n, m->raw.n);
}

/* A box of the array, by its view, against the naive bytes. */
static void check_box(one_file *f, const cip_array *a, const sample *s)
{
    const cip_read_how how = { .layout = f->layout };
    cip_nd from = a->view, to;
    cip_cast cast;
    size_t size = s->s.itemsize, total = size, first[3] = { 0 };
    for (int k = 0; k < from.ndim; k++) {
        first[k] = (size_t)dice((uint64_t)a->view.shape[k]);
        from.shape[k] = 1 + (int64_t)dice((uint64_t)a->view.shape[k] - first[k]);
        from.off += first[k] * (uint64_t)from.stride[k];
        total *= (size_t)from.shape[k];
    }
    uint8_t *got = malloc(total);
    assert_int_equal(cip_cast_make(a->dtype, a->dtype, CIP_OVERFLOW_ERROR, &cast, NULL), CIP_OK);
    assert_int_equal(cip_view_c_order(from.ndim, from.shape, size, &to, NULL), CIP_OK);
    assert_int_equal(
        cip_space_gather(&how, a->space, &(cip_transfer){ &from, &cast, &to, got }, NULL, &f->err),
        CIP_OK);
    for (size_t i = 0; i < total / size; i++) {
        size_t rest = i, at = 0;
        for (int k = from.ndim; k-- > 0; rest /= (size_t)from.shape[k])
            at += (first[k] + rest % (size_t)from.shape[k]) * (size_t)a->view.stride[k];
        assert_memory_equal(got + i * size, s->raw.p + at, size);
    }
    free(got);
}

static void any_chain_gives_its_array_in_any_window(void **state)
{
    (void)state;
    size_t windows = 0;
    for (int round = 0; round < 250; round++) {
        one_file f;
        asdf_make m = { 0 };
        sample s = { 0 };
        make_sample(&s);
        make_file(&m, &s);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        const cip_array *a = make_find(&f, "a");
        assert_int_equal(a->st, CIP_OK);
        assert_int_equal(f.layout->block[0].info.decoded_nbytes, s.raw.n);
        for (int k = 0; k < 20; k++, windows++) {
            const cip_read_how how = { .layout = f.layout };
            size_t off = (size_t)dice(s.raw.n), n = (size_t)dice(s.raw.n - off + 1);
            uint8_t *got = malloc(n + 1);
            assert_int_equal(cip_space_read_at(&how, a->space, off, got, n, &f.err), CIP_OK);
            assert_memory_equal(got, s.raw.p + off, n);
            free(got);
            check_box(&f, a, &s);
        }
        one_close(&f);
        make_clear(&m);
        clear(&s);
    }
    assert_int_equal(windows, 5000);
}

/* --- what arrays say -------------------------------------------------------------------------- */

/* 5 x 7 int32 in tiles of 2 x 3, and a chain that says no more than `chain`. */
static void make_hinted(asdf_make *m, const char *tree, const char *chain)
{
    static int32_t v[35];
    for (int32_t i = 0; i < 35; i++)
        cip_store_u32(&v[i], (uint32_t)i, false);
    const shape s = { 2, { 5, 7 }, { 2, 3 }, 4 };
    bytes t = tiled(&s, (bytes){ (uint8_t *)v, sizeof v });
    make_early_tree(m, tree);
    make_encoded(m, chain, t.p, t.n, sizeof v);
    free(t.p);
}

static bool gives_35(one_file *f, const char *path)
{
    uint8_t want[140];
    for (uint32_t i = 0; i < 35; i++)
        cip_store_u32(want + 4 * i, i, false);
    return make_gives(f, path, want, sizeof want);
}

static void what_the_chain_leaves_out_the_array_says(void **state)
{
    (void)state;
#define USES "!core/ndarray {source: 0, datatype: int32, byteorder: little, shape: "
    static const struct {
        const char *tree, *chain;
        cip_status st;
    } rows[] = {
        { "a: " USES "[5, 7]}\n", "[[tile, {shape: [2, 3]}]]\n...\n", CIP_OK },
        { "a: " USES "[5, 7]}\n", "[[tile, {shape: [2, 3], item_size: 4}]]\n...\n", CIP_OK },
        { "a: " USES "[35]}\n", "[[tile, {shape: [2, 3], original_shape: [5, 7]}]]\n...\n",
          CIP_OK },
        { "b: " USES "[2, 7]}\na: " USES "[5, 7]}\n", "[[tile, {shape: [2, 3]}]]\n...\n", CIP_OK },
        { "a: " USES "[5, 7]}\nb: " USES "[7, 5]}\n", "[[tile, {shape: [2, 3]}]]\n...\n", CIP_OK },
        { "b: " USES "['*']}\na: " USES "[5, 7]}\n", "[[tile, {shape: [2, 3]}]]\n...\n", CIP_OK },
        { "a: " USES "[4, 7]}\n", "[[tile, {shape: [2, 3]}]]\n...\n", CIP_ERR_CORRUPT },
        { "a: " USES "[7, 5]}\n", "[[tile, {shape: [2, 3]}]]\n...\n", CIP_ERR_CORRUPT },
        { "a: " USES "['*', 7]}\n", "[[tile, {shape: [2, 3]}]]\n...\n", CIP_ERR_CORRUPT },
        { "a: " USES "[5, 7]}\n", "[[tile, {shape: [2, 3], item_size: 5}]]\n...\n",
          CIP_ERR_CORRUPT },
        { "a: " USES "[5, 7]}\n", "[[tile, {shape: [2, 3], original_shape: [5, 8]}]]\n...\n",
          CIP_ERR_CORRUPT },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        asdf_make m = { 0 };
        make_hinted(&m, rows[i].tree, rows[i].chain);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(make_try(&f, "a"), rows[i].st);
        if (rows[i].st == CIP_OK)
            assert_true(gives_35(&f, "a"));
        one_close(&f);
        make_clear(&m);
    }
}

/* The bits of a float are no integer. */
static void quantized_values_of_no_dtype_are_floats_of_the_array(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        cip_status st;
    } rows[] = { { "float32", CIP_OK },
                 { "int32", CIP_ERR_CORRUPT },
                 { "uint32", CIP_ERR_CORRUPT } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        asdf_make m = { 0 };
        uint8_t p[CIP_QUANTIZE_HEAD + 2] = { 0 };
        char tree[120];
        const cip_quantize_head h = { 8, 0, 1, 2 };
        cip_quantize_head_bytes(&h, p);
        sprintf(tree, "a: !core/ndarray {source: 0, datatype: %s, byteorder: big, shape: [2]}\n",
                rows[i].type);
        make_early_tree(&m, tree);
        make_encoded(&m, "[quantize]\n...\n", p, sizeof p, 8);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(make_try(&f, "a"), rows[i].st);
        one_close(&f);
        make_clear(&m);
    }
}

static void no_array_no_shape(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_hinted(&m, "x: 1\n", "[[tile, {shape: [2, 3]}]]\n...\n");
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(f.layout->block[0].info.state, CIP_ERR_CORRUPT);
    assert_non_null(strstr(f.layout->block[0].why->text, "expected an original_shape in 'tile'"));
    one_close(&f);
    make_clear(&m);
}

static void missing_axes_of_tiles_are_whole(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    uint8_t v[36];
    for (size_t i = 0; i < 35; i++)
        v[i] = (uint8_t)i;
    v[35] = 99;
    const char *tree = "a: !core/ndarray {source: 0, datatype: uint8, byteorder: little, "
                       "shape: [5, 7]}\n";
    make_early_tree(&m, tree);
    uint8_t stored[42];
    memset(stored, 0xee, sizeof stored);
    memcpy(stored, v, 35);
    make_encoded(&m, "[[tile, {shape: [2]}]]\n...\n", stored, sizeof stored, 35);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_true(make_gives(&f, "a", v, 35));
    one_close(&f);
    make_clear(&m);
}

/* --- forms and failures ----------------------------------------------------------------------- */

static cip_status fate(const char *chain, const void *p, size_t n, uint64_t memory, cip_err *err)
{
    one_file f;
    asdf_make m = { 0 };
    make_early_tree(&m, "a: !core/ndarray {source: 0, datatype: float32, byteorder: little, "
                        "shape: [6]}\nb: !core/ndarray {source: 1, datatype: uint8, byteorder: "
                        "little, shape: [3]}\n");
    make_encoded(&m, chain, p, n, memory);
    make_early(&m, (asdf_block){ .form = &cip_asdf_form_b }, 0, "abc", 3);
    const cip_limits limits = { .size = sizeof limits, .max_blocks = 20 };
    assert_int_equal(one_open_limited(&f, &cip_format_asdf, m.ptr, m.len, 0, NULL, &limits),
                     CIP_OK);
    cip_status st = make_try(&f, "a");
    *err = f.err;
    assert_true(make_gives(&f, "b", "abc", 3)); /* only that block */
    one_close(&f);
    make_clear(&m);
    return st;
}

static void what_is_wrong_costs_that_block_alone(void **state)
{
    (void)state;
    uint8_t six[24] = { 0 }, bomb[24];
    bytes small = deflated((bytes){ six, 24 }), twice = deflated(small);
    bytes zeros = { calloc(1, 3 << 20), 3 << 20 }, inner = deflated(zeros), big = deflated(inner);
    memcpy(bomb, big.p, sizeof bomb);
    const struct {
        const char *chain;
        const void *p;
        size_t n;
        uint64_t memory;
        cip_status st;
        const char *why;
    } rows[] = {
        { "[]\n...\n", six, 24, 24, CIP_OK, "" },
        { "[]\n...\n", six, 24, 25, CIP_ERR_CORRUPT, "expected 25 bytes after a chain" },
        { "[zlib]\n...\n", small.p, small.n, 24, CIP_OK, "" },
        { "zlib\n...\n", small.p, small.n, 24, CIP_OK, "" },
        { "[zlib]\n...\n", small.p, small.n, 23, CIP_ERR_RANGE, "" },
        { "[zlib]\n...\n", small.p, small.n, 25, CIP_ERR_CORRUPT, "found 24" },
        { "[zlib]\n...\n", small.p, small.n - 6, 24, CIP_ERR_TRUNCATED, "" },
        { "[zlib]\n...\n", small.p, small.n, 1 << 30, CIP_ERR_CORRUPT, "found a claim of" },
        { "[zlib, zlib]\n...\n", twice.p, twice.n, 24, CIP_OK, "" },
        { "[zlib, zlib]\n...\n", small.p, small.n, 24, CIP_ERR_CORRUPT, "" },
        { "[zlib, zlib, zlib]\n...\n", big.p, big.n, 24, CIP_ERR_CORRUPT, "" },
        { "[foo]\n...\n", six, 24, 24, CIP_ERR_UNSUPPORTED, "found 'foo'" },
        { "[zlib, foo]\n...\n", six, 24, 24, CIP_ERR_UNSUPPORTED, "found 'foo'" },
        { "[zlib, quantize]\n...\n", six, 24, 24, CIP_ERR_CORRUPT, "which needs an array" },
        { "[zlib\n...\n", six, 24, 24, CIP_ERR_CORRUPT, "" },
        { "[zlib]\n", six, 24, 24, CIP_ERR_CORRUPT, "expected the end marker" },
        { "[[tile, {shape: [4]}]]\n...\n", six, 24, 24, CIP_ERR_CORRUPT,
          "expected 32 bytes of tiles, found 24" },
        { "[[tile, {shape: [3]}]]\n...\n", six, 24, 24, CIP_OK, "" },
        { "[[tile, {shape: [4000000000]}], zlib]\n...\n", small.p, small.n, 24, CIP_ERR_CORRUPT,
          "found a claim of 16000000000" },
        { "[[tile, {shape: [4611686018427387904]}], quantize]\n...\n", six, 24, 24, CIP_ERR_CORRUPT,
          "under 2^63 bytes" },
        { "[[tile, {shape: [3, 1]}]]\n...\n", six, 24, 24, CIP_ERR_CORRUPT, "at most 1 axes" },
        { "[[tile, {shape: [1]}], [tile, {shape: [1]}]]\n...\n", six, 24, 24, CIP_ERR_CORRUPT,
          "expected an original_shape" },
        { "[[quantize, {dtype: 32, original_shape: [7]}]]\n...\n", six, 24, 24, CIP_ERR_CORRUPT,
          "an original_shape or dtype that does not match" },
        { "[[quantize, {dtype: 64}]]\n...\n", six, 24, 20, CIP_ERR_CORRUPT,
          "an original_shape or dtype that does not match" },
        { "[[tile, {shape: [1]}]]\n...\n", six, 24, 24, CIP_OK, "" },
        { "[[tile, {shape: [1], item_size: 1, original_shape: [24]}]]\n...\n", six, 24, 24,
          CIP_ERR_LIMIT, "more than 20 tiles (max_blocks)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cip_err err = CIP_ERR_INIT;
        assert_int_equal(fate(rows[i].chain, rows[i].p, rows[i].n, rows[i].memory, &err),
                         rows[i].st);
        if (rows[i].why[0] != '\0')
            assert_non_null(strstr(err.text, rows[i].why));
    }
    free(small.p), free(twice.p), free(zeros.p), free(inner.p), free(big.p);
}

static void more_between_two_encodings_than_makes_sense_is_a_bomb(void **state)
{
    (void)state;
    bytes zeros = { calloc(1, 3 << 20), 3 << 20 }, one = deflated(zeros);
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(fate("[zlib, zlib]\n...\n", one.p, one.n, 24, &err), CIP_ERR_CORRUPT);
    assert_non_null(strstr(err.text, "expected at most 1048960 decoded bytes, found more"));
    free(zeros.p), free(one.p);
}

static size_t put_chunk(uint8_t *at, uint8_t bits, uint64_t n, size_t payload)
{
    const cip_quantize_head h = { bits, 2, 1, n };
    cip_quantize_head_bytes(&h, at);
    memset(at + CIP_QUANTIZE_HEAD, 0, payload);
    return CIP_QUANTIZE_HEAD + payload;
}

static void quantized_chunks_are_counted_before_anything_is_made(void **state)
{
    (void)state;
    static const struct {
        struct {
            uint8_t bits;
            uint64_t n;
            size_t payload;
        } chunk[3];
        size_t rest;
        cip_status st;
        const char *why;
    } rows[] = {
        { { { 8, 6, 6 } }, 0, CIP_OK, "" },
        { { { 8, 2, 2 }, { 8, 0, 0 }, { 4, 4, 2 } }, 0, CIP_OK, "" },
        { { { 8, 9, 9 } }, 0, CIP_OK, "" }, /* more than the array has */
        { { { 8, 6, 6 }, { 8, 6, 6 } }, 0, CIP_OK, "" },
        { { { 0, 6, 0 } }, 0, CIP_OK, "" },
        { { { 0, (uint64_t)1 << 60, 0 } }, 0, CIP_OK, "" },
        { { { 8, 6, 6 } }, 24, CIP_OK, "" },
        { { { 8, 5, 5 } }, 0, CIP_ERR_CORRUPT, "expected 6 quantized values, found 5" },
        { { { 8, 5, 5 } }, 24, CIP_ERR_CORRUPT, "expected 6 quantized values, found 5" },
        { { { 8, 7, 6 } }, 0, CIP_ERR_CORRUPT, "expected at most 6 bytes of quantized values" },
        { { { 8, 2, 2 }, { 8, 1000, 4 } }, 0, CIP_ERR_CORRUPT, "found a claim of 1000" },
        { { { 65, 6, 6 } }, 0, CIP_ERR_CORRUPT, "found 65" },
        { { { 0, (uint64_t)1 << 62, 0 } }, 0, CIP_ERR_CORRUPT, "under 2^63 bytes" },
        { { { 0, 1, 0 }, { 0, UINT64_MAX, 0 } }, 0, CIP_ERR_CORRUPT, "under 2^63 bytes" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t p[200];
        size_t n = 0;
        cip_err err = CIP_ERR_INIT;
        for (size_t k = 0; k < 3; k++)
            if (rows[i].chunk[k].n != 0 || rows[i].chunk[k].bits != 0)
                n += put_chunk(p + n, rows[i].chunk[k].bits, rows[i].chunk[k].n,
                               rows[i].chunk[k].payload);
        memset(p + n, 0, rows[i].rest);
        assert_int_equal(fate("quantize\n...\n", p, n + rows[i].rest, 24, &err), rows[i].st);
        if (rows[i].why[0] != '\0')
            assert_non_null(strstr(err.text, rows[i].why));
    }
}

static void chunks_are_counted_against_the_limit(void **state)
{
    (void)state;
    for (uint64_t max = 2; max <= 3; max++) {
        one_file f;
        asdf_make m = { 0 };
        uint8_t p[200] = { 0 };
        const cip_limits limits = { .size = sizeof limits, .max_blocks = max };
        size_t n = 0;
        for (int i = 0; i < 3; i++)
            n += put_chunk(p + n, 8, 2, 2);
        make_early_tree(&m, "a: !core/ndarray {source: 0, datatype: float32, byteorder: big, "
                            "shape: [6]}\n");
        make_encoded(&m, "quantize\n...\n", p, n, 24);
        assert_int_equal(one_open_limited(&f, &cip_format_asdf, m.ptr, m.len, 0, NULL, &limits),
                         CIP_OK);
        assert_int_equal(make_try(&f, "a"), max == 3 ? CIP_OK : CIP_ERR_LIMIT);
        one_close(&f);
        make_clear(&m);
    }
}

static void a_rest_that_is_no_chunk_is_warned_of(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    uint8_t p[60] = { 0 };
    size_t n = put_chunk(p, 8, 6, 6);
    make_early_tree(&m, "a: !core/ndarray {source: 0, datatype: float32, byteorder: big, "
                        "shape: [6]}\n");
    make_encoded(&m, "[quantize]\n...\n", p, n + 3, 24);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(f.env.warnings.n, 0);
    assert_int_equal(make_try(&f, "a"), CIP_OK);
    assert_int_equal(make_warned(&f, "3 bytes after the last quantized values"), 1);
    one_close(&f);
    make_clear(&m);
}

static void tile_of_tiles_is_legal_when_it_says_its_shape(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    static const uint8_t stored[8] = { 0, 4, 1, 5, 2, 6, 3, 7 };
    make_early_tree(&m, "a: !core/ndarray {source: 0, datatype: uint8, byteorder: little, "
                        "shape: [8]}\n");
    make_encoded(&m,
                 "[[tile, {shape: [8], original_shape: [8], item_size: 1}], [tile, {shape: [2, 1], "
                 "original_shape: [2, 4], item_size: 1}]]\n...\n",
                 stored, 8, 8);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_true(make_gives(&f, "a", "\0\1\2\3\4\5\6\7", 8));
    assert_string_equal(make_find(&f, "a")->storage.codec, "tile+tile");
    one_close(&f);
    make_clear(&m);
}

static void arrays_of_nothing_and_of_no_axes_are_tiled_too(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *tile;
        size_t n;
    } rows[] = {
        { "[]", "[]", 1 },
        { "[0]", "[5]", 0 },
        { "[3, 0]", "[1, 1]", 0 },
        { "[1, 1]", "[1]", 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        asdf_make m = { 0 };
        char tree[120], chain[80];
        snprintf(tree, sizeof tree,
                 "a: !core/ndarray {source: 0, datatype: uint8, byteorder: little, shape: %s}\n",
                 rows[i].shape);
        snprintf(chain, sizeof chain, "[[tile, {shape: %s}]]\n...\n", rows[i].tile);
        make_early_tree(&m, tree);
        make_encoded(&m, chain, "x", rows[i].n, rows[i].n);
        if (rows[i].n == 0) /* make_early takes 0 for "as many as there are" */
            cip_store_u64((uint8_t *)memmem(m.ptr, m.len, ASDF_MAGIC, 4) + 26, 0, true);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_true(make_gives(&f, "a", "x", rows[i].n));
        one_close(&f);
        make_clear(&m);
    }
}

static void a_streamed_block_is_not_encoded(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_early_tree(&m, "a: !core/ndarray {source: 0, datatype: uint8, byteorder: little, shape: "
                        "[3]}\n");
    make_early(&m, (asdf_block){ .form = &cip_asdf_form_b, .flags = ASDF_STREAMED | ASDF_ENCODED },
               0, "[]\n...\nabc", 10);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_CORRUPT);
    assert_non_null(strstr(f.err.text, "streamed or encoded, found both"));
    assert_int_equal(f.env.warnings.n, 0);
    one_close(&f);
    make_clear(&m);
}

static void names_of_the_chain_are_the_codec(void **state)
{
    (void)state;
    static const struct {
        const char *chain, *codec;
    } rows[] = {
        { "[[tile, {shape: [1]}], [quantize], zlib]\n...\n", "tile+quantize+zlib" },
        { "[]\n...\n", "none" },
        { "[[foo, {a: 1}], zlib]\n...\n", "foo+zlib" },
        { "[[[]], zlib]\n...\n", "?+zlib" },
        { "{}\n...\n", "?" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        asdf_make m = { 0 };
        make_early_tree(&m, "a: 1\n");
        make_encoded(&m, rows[i].chain, "abcd", 4, 4);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_string_equal(f.layout->block[0].info.codec, rows[i].codec);
        assert_int_equal(f.layout->block[0].stored->len, strlen(rows[i].chain) + 4);
        one_close(&f);
        make_clear(&m);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

static void running_out_of_memory_is_told_and_leaks_nothing(void **state)
{
    (void)state;
    sample s = { .s = { 2, { 5, 7 }, { 2, 3 }, 4 }, .tile = true, .quantize = true, .nzlib = 1 };
    s.raw = random_floats(35, false, false);
    s.stored = tiled(&s.s, s.raw);
    memset(s.stored.p, 0, s.stored.n);
    step(&s.stored, quantized(s.stored, false, false, 6));
    step(&s.stored, deflated(s.stored));
    make_text_of(&s);
    asdf_make m = { 0 };
    make_file(&m, &s);
    for (size_t n = 1;; n++) {
        one_file f;
        fail_alloc alloc = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        cip_status st = one_open(&f, &cip_format_asdf, m.ptr, m.len, 0, &from);
        if (st == CIP_OK)
            st = make_try(&f, "a");
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        one_close(&f);
        assert_int_equal(alloc.held, 0);
        if (alloc.requests < n)
            break;
    }
    make_clear(&m);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_chain_gives_its_array_in_any_window),
        cmocka_unit_test(what_the_chain_leaves_out_the_array_says),
        cmocka_unit_test(quantized_values_of_no_dtype_are_floats_of_the_array),
        cmocka_unit_test(no_array_no_shape),
        cmocka_unit_test(missing_axes_of_tiles_are_whole),
        cmocka_unit_test(what_is_wrong_costs_that_block_alone),
        cmocka_unit_test(more_between_two_encodings_than_makes_sense_is_a_bomb),
        cmocka_unit_test(quantized_chunks_are_counted_before_anything_is_made),
        cmocka_unit_test(chunks_are_counted_against_the_limit),
        cmocka_unit_test(a_rest_that_is_no_chunk_is_warned_of),
        cmocka_unit_test(tile_of_tiles_is_legal_when_it_says_its_shape),
        cmocka_unit_test(arrays_of_nothing_and_of_no_axes_are_tiled_too),
        cmocka_unit_test(a_streamed_block_is_not_encoded),
        cmocka_unit_test(names_of_the_chain_are_the_codec),
        cmocka_unit_test(running_out_of_memory_is_told_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
