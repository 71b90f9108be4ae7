/* SPDX-License-Identifier: BSD-3-Clause
 * Small files of python-blosc2 (corpus/make_blosc2.py): each is arange in its type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/endian.h"
#include "codec/with.h"
#include "format/blosc2/blosc2.h"
#include "support/needs.h"
#include "support/one_format.h"
#include "tree/msgpack.h"

#define CORPUS CIP_SOURCE_DIR "/src/format/blosc2/corpus/fuzz_blosc2_frame/"

static cip_status open_name(one_file *f, const char *name)
{
    char path[1024];
    uint8_t bytes[4096];
    snprintf(path, sizeof path, CORPUS "%s", name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    size_t n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    return one_open(f, &cip_format_blosc2, bytes, n, 0, NULL);
}

/* The array as float64. */
static void assert_arange(one_file *f, size_t first, size_t n)
{
    const cip_array *a = f->layout->array[0];
    double *got = malloc((n + 1) * sizeof *got);
    uint64_t have;
    assert_true(cip_shape_nelem(a->view.ndim, a->view.shape, &have));
    assert_int_equal(have, n);
    assert_int_equal(one_gather(f, a, cip_dtype_of(CIP_F64), (uint8_t *)got), CIP_OK);
    for (size_t i = 0; i < n; i++)
        assert_true(got[i] == (double)(first + i));
    free(got);
}

static void arrays_of_the_library_are_read(void **state)
{
    (void)state;
    NEEDS_CODECS();
    NEEDS(SNAPPY);
    NEEDS(ZFP);
    NEEDS(MSGPACK);
    static const struct {
        const char *name, *dtype;
        int ndim;
        size_t n;
    } row[] = {
        { "good-2d.b2nd", "float64", 2, 35 }, { "good-3d.b2nd", "int16", 3, 60 },
        { "good-0d.b2nd", "int32", 0, 1 },    { "good-1d.b2nd", "uint16", 1, 100 },
        { "good-empty.b2nd", "int32", 2, 0 }, { "good-big.b2nd", "int32", 1, 20 },
        { "good-16d.b2nd", "uint8", 16, 2 },  { "good-bytes.b2frame", "uint8", 1, 250 },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        one_file f;
        if (open_name(&f, row[i].name) != CIP_OK)
            fail_msg("%s: %s", row[i].name, f.err.text);
        assert_string_equal(f.layout->array[0]->dtype->name, row[i].dtype);
        assert_int_equal(f.layout->array[0]->view.ndim, row[i].ndim);
        assert_int_equal(f.env.warnings.count[CIP_WARN], 0);
        assert_arange(&f, 0, row[i].n);
        one_close(&f);
    }
}

static void assert_ints(const char *name, uint32_t first, size_t n)
{
    one_file f;
    size_t len;
    if (open_name(&f, name) != CIP_OK)
        fail_msg("%s: %s", name, f.err.text);
    uint8_t *raw = one_read(&f, 0, &len);
    assert_non_null(raw);
    assert_int_equal(len, 4 * n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(cip_load_u32(raw + 4 * i, false), first + i);
    free(raw);
    one_close(&f);
}

static void frames_of_the_library_are_read(void **state)
{
    (void)state;
    NEEDS_CODECS();
    NEEDS(SNAPPY);
    NEEDS(ZFP);
    NEEDS(MSGPACK);
    static const char *const name[] = { "good-blosclz.b2frame",    "good-lz4.b2frame",
                                        "good-zlib.b2frame",       "good-zstd.b2frame",
                                        "good-bitshuffle.b2frame", "good-delta.b2frame",
                                        "good-stored.b2frame",     "good-meta.b2frame" };
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        assert_ints(name[i], 0, 250);
    assert_ints("good-chunk.b2chunk", 0, 40);
    assert_ints("holes.b2frame", 100, 150);
}

static void what_the_library_packs_is_what_it_was(void **state)
{
    (void)state;
    NEEDS(MSGPACK);
    one_file f;
    size_t len = 1;
    assert_int_equal(open_name(&f, "tensor.b2frame"), CIP_OK);
    assert_string_equal(f.layout->array[0]->dtype->name, "float32");
    assert_int_equal(f.layout->array[0]->view.shape[0], 3);
    assert_arange(&f, 0, 12);
    one_close(&f);
    assert_int_equal(open_name(&f, "good-record.b2nd"), CIP_OK);
    assert_string_equal(f.layout->array[0]->dtype->name, "{a: int32, b: float64, c: ascii3}");
    one_close(&f);
    assert_int_equal(open_name(&f, "good-wide.b2nd"), CIP_OK);
    assert_int_equal(f.layout->array[0]->dtype->itemsize, 300);
    one_close(&f);
    assert_int_equal(open_name(&f, "good-empty.b2frame"), CIP_OK);
    free(one_read(&f, 0, &len));
    assert_int_equal(len, 0);
    one_close(&f);
}

static void metadata_of_the_library_are_a_tree(void **state)
{
    (void)state;
    NEEDS(MSGPACK);
    one_file f;
    int64_t v;
    const char *text;
    assert_int_equal(open_name(&f, "good-meta.b2frame"), CIP_OK);
    const cip_node *root = f.layout->tree;
    assert_int_equal(cip_tree_get_int(root, "meta/m1/x", &v, NULL), CIP_OK);
    assert_int_equal(cip_tree_get(root, "meta/m2", NULL)->type, CIP_NODE_BINARY);
    assert_int_equal(cip_tree_get_int(root, "vlmeta/k", &v, NULL), CIP_OK);
    assert_int_equal(v, 7);
    assert_int_equal(cip_tree_get_string(root, "vlmeta/s", &text, NULL), CIP_OK);
    assert_string_equal(text, "text");
    assert_string_equal(cip_tree_get(root, "vlmeta/list/3", NULL)->tag, "!tuple");
    assert_string_equal(cip_tree_get(root, "vlmeta/c", NULL)->tag, "!complex");
    one_close(&f);
}

static cip_status read_span(one_file *f, uint64_t from, double *got, size_t n)
{
    const cip_read_how how = { f->layout, NULL };
    return cip_space_read_at(&how, f->layout->array[0]->space, from * sizeof *got, got,
                             n * sizeof *got, &f->err);
}

static void data_that_a_frame_does_not_hold_are_refused_by_name(void **state)
{
    (void)state;
    NEEDS(MSGPACK);
    static const char *const kind[] = { "lazyexpr", "lazyudf", "lazyarray",
                                        "c2array",  "hdf5",    "unknown" };
    for (size_t i = 0; i < sizeof kind / sizeof kind[0]; i++) {
        one_file f;
        char name[40];
        snprintf(name, sizeof name, "held-%s.b2nd", kind[i]);
        if (open_name(&f, name) != CIP_OK)
            fail_msg("%s: %s", name, f.err.text);
        const char *said = strcmp(kind[i], "unknown") == 0 ? "b2o" : kind[i];
        assert_string_equal(cip_storage_text(&f.layout->array[0]->storage), said);
        assert_int_equal(f.layout->array[0]->st, CIP_ERR_UNSUPPORTED);
        assert_non_null(strstr(f.layout->array[0]->why->text, said));
        assert_null(f.layout->array[0]->space);
        one_close(&f);
    }
}

/* held: bit i for chunk i of three of 8, 8 and 4 doubles. */
static void assert_held(const char *name, unsigned held)
{
    one_file f;
    double got[8];
    if (open_name(&f, name) != CIP_OK)
        fail_msg("%s: %s", name, f.err.text);
    for (size_t i = 0; i < 3; i++) {
        size_t n = i < 2 ? 8 : 4;
        cip_status st = read_span(&f, 8 * i, got, n);
        if (st != ((held >> i & 1) != 0 ? CIP_OK : CIP_ERR_NOT_FOUND))
            fail_msg("%s: chunk %zu: %s", name, i, cip_status_name(st));
        for (size_t k = 0; st == CIP_OK && k < n; k++) {
            uint64_t bits = cip_load_u64(&got[k], false);
            memcpy(&got[k], &bits, sizeof bits);
            assert_true(got[k] == (double)(8 * i + k));
        }
    }
    assert_int_equal(read_span(&f, 0, got, 1) == CIP_OK, (held & 1) != 0);
    one_close(&f);
}

static void of_a_cache_only_the_chunks_that_were_fetched_are_read(void **state)
{
    (void)state;
    NEEDS(MSGPACK);
    assert_held("held-proxy-none.b2nd", 0);
    assert_held("held-proxy-some.b2nd", 2);
    assert_held("held-proxy-old.b2nd", 2);
    assert_held("held-proxy-blocks.b2nd", 2);
    assert_held("held-proxy-dirty.b2nd", 0);
    assert_held("held-proxy-short.b2nd", 0);
    assert_held("held-proxy-long.b2nd", 0);
    assert_held("held-remote.b2nd", 2);
}

static void an_array_that_was_emptied_is_read(void **state)
{
    (void)state;
    static const char *const name[] = { "emptied.b2nd", "emptied.b2frame" };
    for (size_t i = 0; i < 2; i++) {
        one_file f;
        size_t len = 1;
        if (open_name(&f, name[i]) != CIP_OK)
            fail_msg("%s: %s", name[i], f.err.text);
        free(one_read(&f, 0, &len));
        assert_int_equal(len, 0);
        assert_int_equal(f.layout->array[0]->storage.nbytes, 0);
        assert_int_equal(((const cip_b2_file *)f.layout->own)->frame->h.chunksize,
                         64); /* to come */
        one_close(&f);
    }
}

static void packed_records_keep_their_type(void **state)
{
    (void)state;
    NEEDS(MSGPACK);
    static const char *const name[] = { "tensor-record.b2frame", "tensor-record-aligned.b2frame" };
    for (size_t i = 0; i < 2; i++) {
        one_file f;
        assert_int_equal(open_name(&f, name[i]), CIP_OK);
        const cip_dtype *d = f.layout->array[0]->dtype;
        assert_string_equal(d->name, "{x: int16, y: float64[2], n: {k: uint8, z: ascii3}}");
        assert_int_equal(d->itemsize, i == 0 ? 22 : 32);
        assert_int_equal(f.env.warnings.count[CIP_WARN], 0);
        one_close(&f);
    }
}

static void a_packed_type_that_is_not_understood_is_warned_of(void **state)
{
    (void)state;
    NEEDS(MSGPACK);
    one_file f;
    assert_int_equal(open_name(&f, "tensor-unknown.b2frame"), CIP_OK);
    assert_int_equal(f.env.warnings.count[CIP_WARN], 1);
    assert_string_equal(cip_report_get(&f.env.warnings, 0)->part, "__pack_tensor__");
    assert_int_equal(f.layout->array[0]->dtype->kind, CIP_OPAQUE);
    one_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_the_library_are_read),
        cmocka_unit_test(frames_of_the_library_are_read),
        cmocka_unit_test(what_the_library_packs_is_what_it_was),
        cmocka_unit_test(metadata_of_the_library_are_a_tree),
        cmocka_unit_test(data_that_a_frame_does_not_hold_are_refused_by_name),
        cmocka_unit_test(of_a_cache_only_the_chunks_that_were_fetched_are_read),
        cmocka_unit_test(an_array_that_was_emptied_is_read),
        cmocka_unit_test(packed_records_keep_their_type),
        cmocka_unit_test(a_packed_type_that_is_not_understood_is_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
