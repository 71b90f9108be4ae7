/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/asdf/write/asdf_write_testing.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "tree/edit.h"
#include "tree/yaml.h"

static const int64_t six_shape[] = { 6 }, three_shape[] = { 3 };
static const int32_t six[] = { 0, 1, 2, 3, 4, 5 };
static const double three[] = { 0, 1, 2 };
static const void *const two_data[] = { six, three };

static cip_spec_array array_of(const char *path, cip_kind kind, const int64_t *shape)
{
    return (cip_spec_array){
        .path = path, .dtype = cip_dtype_of(kind), .ndim = 1, .shape = shape, .mask = -1
    };
}

typedef struct two {
    cip_spec_array a[2];
    cip_spec spec;
} two;

static two two_of(void)
{
    return (two){ .a = { array_of("a", CIP_I32, six_shape), array_of("b", CIP_F64, three_shape) },
                  .spec = { .narray = 2, .big = 0 } };
}

static cip_status write_two(made *m, two *t)
{
    t->spec.array = t->a;
    return made_write(m, &t->spec, two_data);
}

/* three as it is stored: little-endian. */
static void assert_three(const void *at)
{
    for (size_t i = 0; i < 3; i++) {
        uint64_t bits = cip_load_u64((const uint8_t *)at + 8 * i, false), want;
        memcpy(&want, &three[i], 8);
        assert_int_equal(bits, want);
    }
}

static const char *place(const char *text, size_t n, const char *what)
{
    return memmem(text, n, what, strlen(what));
}

/* Whether the tree holds the text, wherever its lines break. */
static bool says(made *m, const char *what)
{
    size_t n, k = 0;
    const char *text = made_bytes(m, 0, &n);
    char flat[4096];
    for (size_t i = 0; i + 1 < n && k + 1 < sizeof flat && memcmp(text + i, "\n..", 3) != 0; i++) {
        if (text[i] == '\n' && text[i + 1] == ' ')
            while (text[i + 1] == ' ')
                i++;
        flat[k++] = text[i];
    }
    flat[k] = '\0';
    return strstr(flat, what) != NULL;
}

static void check_two(made *m)
{
    one_file f;
    made_reopen(m, &f);
    assert_true(make_gives_six(&f, "a"));
    assert_true(make_gives_three(&f, "b"));
    assert_int_equal(f.env.warnings.n, 0);
    one_close(&f);
}

static size_t block_at(const char *text, size_t n, size_t i)
{
    const char *p = text - 1;
    for (size_t k = 0; k <= i; k++)
        p = memmem(p + 1, n - (size_t)(p + 1 - text), ASDF_MAGIC, ASDF_MAGIC_LEN);
    return (size_t)(p - text);
}

static size_t header_size(const char *text, size_t at)
{
    return cip_load_u16(text + at + 4, true);
}

/* --- layout ----------------------------------------------------------------------------------- */

static void tree_room_blocks_and_index_follow_each_other(void **state)
{
    (void)state;
    static const char head[] =
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n"
        "--- !core/asdf-1.1.0\nasdf_library: !core/software-1.0.0 {name: cippus, version: ";
    made m;
    two t = two_of();
    size_t n;
    char index[160];
    made_start(&m, NULL);
    assert_int_equal(write_two(&m, &t), CIP_OK);
    const char *text = made_bytes(&m, 0, &n);
    assert_memory_equal(text, head, sizeof head - 1);
    assert_true(says(&m, "a: !core/ndarray-1.1.0 {source: 0, datatype: int32, byteorder: little, "
                         "shape: [6]}\n"));
    text = made_bytes(&m, 0, &n);
    size_t end = (size_t)(place(text, n, "\n...\n") - text) + 5, first = block_at(text, n, 0),
           second = block_at(text, n, 1);
    assert_true(first - end >= 4096 && first - end < 4096 + 64);
    assert_int_equal(text[end], ' ');
    assert_int_equal(text[first - 1], ' ');
    assert_int_equal((first + 54) % 64, 0);
    assert_int_equal(header_size(text, first), 48);
    assert_int_equal(second, first + 54 + 24);
    assert_int_equal((second + 6 + header_size(text, second)) % 64, 0);
    snprintf(index, sizeof index, "#ASDF BLOCK INDEX\n%%YAML 1.1\n---\n- %zu\n- %zu\n...\n", first,
             second);
    assert_string_equal(text + second + 6 + header_size(text, second) + 24, index);
    check_two(&m);
    made_end(&m);
}

static void without_room_the_first_block_touches_the_tree(void **state)
{
    (void)state;
    for (uint64_t align = 1; align <= 130; align += 43) {
        made m;
        two t = two_of();
        size_t n;
        t.spec.tree_slack = -1;
        t.spec.align = align;
        made_start(&m, NULL);
        assert_int_equal(write_two(&m, &t), CIP_OK);
        const char *text = made_bytes(&m, 0, &n);
        assert_ptr_equal(text + block_at(text, n, 0), place(text, n, "\n...\n") + 5);
        assert_int_equal((block_at(text, n, 0) + 54) % align, 0);
        assert_int_equal(header_size(text, block_at(text, n, 0)), 48);
        assert_int_equal(
            (block_at(text, n, 1) + 6 + header_size(text, block_at(text, n, 1))) % align, 0);
        check_two(&m);
        made_end(&m);
    }
}

static void a_file_without_blocks_has_no_room_and_no_index(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        made m;
        size_t n;
        cip_spec spec = { .late = late };
        made_start(&m, NULL);
        assert_int_equal(made_write(&m, &spec, NULL), CIP_OK);
        const char *text = made_bytes(&m, 0, &n);
        assert_string_equal(text + n - 5, "\n...\n");
        assert_null(place(text, n, "INDEX"));
        made_end(&m);
    }
}

static void arrays_that_come_one_by_one_make_the_same_file(void **state)
{
    (void)state;
    for (int64_t slack = -1; slack < 200000; slack += 100000) {
        made now, later;
        size_t n, k;
        two t = two_of();
        t.spec.tree_slack = slack;
        made_start(&now, NULL);
        made_start(&later, NULL);
        assert_int_equal(write_two(&now, &t), CIP_OK);
        t.spec.late = true;
        assert_int_equal(write_two(&later, &t), CIP_OK);
        made_bytes(&now, 0, &n);
        made_bytes(&later, 0, &k);
        assert_int_equal(n, k);
        assert_memory_equal(now.bytes, later.bytes, n);
        check_two(&later);
        made_end(&now);
        made_end(&later);
    }
}

static void much_data_is_not_moved_for_a_small_tree(void **state)
{
    (void)state;
    static uint8_t data[3 * 64];
    const int64_t shape[] = { 300000 };
    made m;
    size_t n;
    cip_spec spec = { .late = true };
    made_start(&m, NULL);
    cip_arena a = { .mem = &m.env.mem }, own = { .mem = &m.env.mem };
    cip_spec_array s = { .path = "a", .ndim = 1, .shape = shape, .mask = -1 };
    void *w;
    assert_int_equal(cip_dtype_ascii(&own, 64, &s.dtype, NULL), CIP_OK);
    assert_int_equal(made_open(&m), CIP_OK);
    assert_int_equal(made_begin(&m, &a, &spec, &w), CIP_OK);
    assert_int_equal(cip_asdf_store.add(w, &s, &m.form[0], NULL), CIP_OK);
    for (uint64_t i = 0; i < 100000; i++)
        assert_int_equal(made_store(w, 0, i, data, sizeof data, NULL), CIP_OK);
    assert_int_equal(cip_asdf_store.tree(w, NULL, NULL), CIP_OK);
    assert_int_equal(cip_asdf_store.finish(w, NULL, NULL), CIP_OK);
    cip_asdf_store.clear(w);
    cip_arena_clear(&a);
    cip_arena_clear(&own);
    const char *text = made_bytes(&m, 0, &n);
    assert_int_equal(block_at(text, n, 0), 65536 + 64 - 54);
    assert_true(place(text, n, "\n...\n") < text + 4096);
    assert_int_equal(text[65535], ' ');
    one_file f;
    made_reopen(&m, &f);
    assert_int_equal(f.layout->nblock, 1);
    assert_int_equal(f.env.warnings.n, 0);
    one_close(&f);
    made_end(&m);
}

/* --- checksums and codecs --------------------------------------------------------------------- */

static void checksums_are_of_stored_or_decoded_bytes_or_none(void **state)
{
    (void)state;
    static const uint8_t zeros[16];
    static const int64_t shape[] = { 4096 };
    static uint8_t data[4096];
    const void *const all[] = { data };
    const char *const which[] = { NULL, "md5", "legacy", "none" };
    for (size_t i = 0; i < 4; i++) {
        made m;
        size_t n;
        uint8_t want[16];
        cip_spec_array a = array_of("a", CIP_U8, shape);
        cip_spec spec = {
            .narray = 1, .array = &a, .codec = "zlib", .checksum = which[i], .big = -1
        };
        made_start(&m, NULL);
        assert_int_equal(made_write(&m, &spec, all), CIP_OK);
        const char *text = made_bytes(&m, 0, &n);
        const char *b = text + block_at(text, n, 0);
        size_t used = (size_t)cip_load_u64(b + 22, true);
        assert_memory_equal(b + 10, "zlib", 4);
        assert_true(used < 100);
        assert_int_equal(cip_load_u64(b + 14, true), used);
        assert_int_equal(cip_load_u64(b + 30, true), 4096);
        make_md5(i < 2 ? (const void *)(b + 54) : data, i < 2 ? used : 4096, want);
        assert_memory_equal(b + 38, i == 3 ? zeros : want, 16);
        made_end(&m);
    }
}

static void what_does_not_become_smaller_is_stored_as_it_is(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (int again = 0; again < 2; again++) {
        made m;
        size_t n;
        two t = two_of();
        t.spec.codec = "bzp2";
        made_start(&m, NULL);
        m.whole_again = again;
        assert_int_equal(write_two(&m, &t), CIP_OK);
        assert_int_equal(m.nagain, again ? 2 : 0);
        const char *text = made_bytes(&m, 0, &n);
        assert_memory_equal(text + block_at(text, n, 0) + 10, again ? "\0\0\0\0" : "bzp2", 4);
        check_two(&m);
        made_end(&m);
    }
}

static void every_codec_is_read_back(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const struct {
        const char *name, code[5];
    } row[] = { { "none", "\0\0\0\0" }, { "zlib", "zlib" },    { "bzip2", "bzp2" },
                { "bzp2", "bzp2" },     { "lz4", "lz4\0" },    { "lz4f", "lz4f" },
                { "zstd", "zstd" },     { "blsc", "blsc" },    { "blsc:zlib", "blsc" },
                { "bls2", "bls2" },     { "bls2:lz4", "bls2" } };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        made m;
        size_t n;
        two t = two_of();
        t.spec.codec = row[i].name;
        made_start(&m, NULL);
        assert_int_equal(write_two(&m, &t), CIP_OK);
        const char *text = made_bytes(&m, 0, &n);
        assert_memory_equal(text + block_at(text, n, 1) + 10, row[i].code, 4);
        check_two(&m);
        made_end(&m);
    }
}

static void codecs_beyond_the_standard_are_announced_once(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (int standard = 1; standard < 3; standard++) {
        made m;
        two t = two_of();
        t.spec.codec = "zstd";
        t.spec.version = standard == 1 ? "1.1.0" : "1.2.0";
        made_start(&m, NULL);
        assert_int_equal(write_two(&m, &t), CIP_OK);
        one_file f;
        made_reopen(&m, &f);
        const cip_node *list = cip_tree_get(f.layout->tree, "history/extensions", NULL);
        assert_int_equal(cip_node_len(list), standard == 1 ? 0 : 2);
        t.spec.codec = "lz4f";
        t.spec.tree = f.layout->tree;
        made again;
        made_start(&again, NULL);
        assert_int_equal(write_two(&again, &t), CIP_OK);
        assert_int_equal(says(&again, "supported_compression: [zstd]"), standard == 2);
        assert_int_equal(says(&again, "supported_compression: [lz4f]"), standard == 2);
        made_end(&again);
        t.spec.codec = "zstd";
        made_start(&again, NULL);
        assert_int_equal(write_two(&again, &t), CIP_OK);
        one_file g;
        made_reopen(&again, &g);
        list = cip_tree_get(g.layout->tree, "history/extensions", NULL);
        assert_int_equal(cip_node_len(list), standard == 1 ? 0 : 2);
        one_close(&g);
        made_end(&again);
        one_close(&f);
        made_end(&m);
    }
}

static void an_array_has_its_own_codec(void **state)
{
    (void)state;
    made m;
    size_t n;
    two t = two_of();
    t.a[1].codec = "zlib";
    t.a[1].level = 9;
    made_start(&m, NULL);
    assert_int_equal(write_two(&m, &t), CIP_OK);
    const char *text = made_bytes(&m, 0, &n);
    assert_memory_equal(text + block_at(text, n, 0) + 10, "\0\0\0\0", 4);
    assert_memory_equal(text + block_at(text, n, 1) + 10, "zlib", 4);
    made_end(&m);
}

static void arrays_without_bytes_are_never_compressed(void **state)
{
    (void)state;
    static const int64_t none[] = { 0 };
    const void *const data[] = { "" };
    made m;
    one_file f;
    cip_spec_array a = array_of("a", CIP_I16, none);
    cip_spec spec = { .narray = 1, .array = &a, .codec = "zlib", .big = -1 };
    made_start(&m, NULL);
    assert_int_equal(made_write(&m, &spec, data), CIP_OK);
    made_reopen(&m, &f);
    assert_int_equal(f.layout->nblock, 1);
    assert_string_equal(f.layout->block[0].info.codec, "none");
    assert_int_equal(f.layout->array[0]->view.shape[0], 0);
    one_close(&f);
    made_end(&m);
}

/* --- storage ---------------------------------------------------------------------------------- */

static void a_streamed_array_is_last_and_has_no_sizes(void **state)
{
    (void)state;
    static const uint8_t zeros[40];
    made m;
    size_t n;
    two t = two_of();
    t.spec.codec = "zlib";
    t.a[1].where = CIP_WHERE_STREAMED;
    made_start(&m, NULL);
    assert_int_equal(write_two(&m, &t), CIP_OK);
    const char *text = made_bytes(&m, 0, &n);
    const char *b = text + block_at(text, n, 1);
    assert_int_equal(cip_load_u32(b + 6, true), 1);
    assert_memory_equal(b + 10, zeros, 40);
    assert_null(place(text, n, "INDEX"));
    assert_three(text + n - sizeof three);
    assert_true(says(&m, "{source: -1, datatype: float64, byteorder: little, shape: ['*']}"));
    check_two(&m);
    made_end(&m);
}

/* Nor is the extension named that would decode it. */
static void data_without_a_codec_are_refused_one(void **state)
{
    (void)state;
    static const cip_where where[] = { CIP_WHERE_STREAMED, CIP_WHERE_INLINE };
    for (size_t i = 0; i < 2; i++) {
        made m;
        two t = two_of();
        t.a[1].where = where[i];
        t.a[1].codec = "zstd";
        made_start(&m, NULL);
        assert_int_equal(write_two(&m, &t), CIP_ERR_UNSUPPORTED);
        assert_non_null(strstr(m.err.text, "data have no codec, 'zstd' was asked for"));
        made_end(&m);
        t.a[1].codec = NULL;
        t.spec.codec = "zstd";
        t.spec.narray = 1;
        t.a[0] = t.a[1];
        made_start(&m, NULL);
        t.spec.array = t.a;
        assert_int_equal(made_write(&m, &t.spec, two_data + 1), CIP_OK);
        assert_false(says(&m, "zstd"));
        made_end(&m);
    }
}

static void nothing_follows_a_streamed_array(void **state)
{
    (void)state;
    made m;
    two t = two_of();
    t.a[0].where = CIP_WHERE_STREAMED;
    made_start(&m, NULL);
    assert_int_equal(write_two(&m, &t), CIP_ERR_UNSUPPORTED);
    made_end(&m);
    t.a[1].where = CIP_WHERE_STREAMED;
    t.spec.array = t.a;
    made_start(&m, NULL);
    assert_int_equal(made_check(&m, &t.spec), CIP_OK);
    assert_int_equal(m.nimpossible, 1);
    made_end(&m);
}

static void external_arrays_lie_in_whole_files_beside(void **state)
{
    (void)state;
    made m;
    size_t n;
    two t = two_of();
    t.a[0].where = t.a[1].where = CIP_WHERE_EXTERNAL;
    made_start(&m, NULL);
    assert_int_equal(write_two(&m, &t), CIP_OK);
    assert_int_equal(m.nmember, 2);
    assert_string_equal(m.name[0], "m x0000.asdf");
    assert_string_equal(m.name[1], "m x0001.asdf");
    const char *text = made_bytes(&m, 0, &n);
    assert_non_null(place(text, n, "source: m%20x0001.asdf"));
    assert_null(place(text, n, ASDF_MAGIC));
    assert_string_equal(text + n - 5, "\n...\n");
    one_file f;
    made_bytes(&m, 2, &n);
    assert_int_equal(one_open(&f, &cip_format_asdf, m.bytes, n, 0, NULL), CIP_OK);
    assert_int_equal(f.layout->nblock, 1);
    assert_non_null(cip_map_get(f.layout->tree, "asdf_library"));
    assert_three(f.bytes + f.layout->block[0].info.offset + 54);
    assert_int_equal(f.env.warnings.n, 0);
    one_close(&f);
    made_end(&m);
}

static void without_a_name_nothing_lies_beside(void **state)
{
    (void)state;
    made m;
    two t = two_of();
    void *w;
    t.a[0].where = CIP_WHERE_EXTERNAL;
    t.spec.array = t.a;
    made_start(&m, NULL);
    cip_arena a = { .mem = &m.env.mem };
    assert_int_equal(made_open(&m), CIP_OK);
    m.out[0].name = NULL;
    assert_int_equal(made_begin(&m, &a, &t.spec, &w), CIP_ERR_UNSUPPORTED);
    cip_arena_clear(&a);
    made_end(&m);
}

static void views_share_the_block_of_their_array(void **state)
{
    (void)state;
    made m;
    one_file f;
    two t = two_of();
    static const uint8_t want[] = { 5, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0 };
    t.a[1] = array_of("b", CIP_I32, three_shape);
    t.a[1].is_view = true;
    t.a[1].view = (cip_nd){ .off = 20, .itemsize = 4, .ndim = 1, .shape = { 3 }, .stride = { -8 } };
    made_start(&m, NULL);
    assert_int_equal(write_two(&m, &t), CIP_OK);
    made_reopen(&m, &f);
    assert_int_equal(f.layout->nblock, 1);
    assert_true(make_gives(&f, "b", want, sizeof want));
    one_close(&f);
    made_end(&m);
    t.a[0].where = CIP_WHERE_INLINE;
    made_start(&m, NULL);
    assert_int_equal(write_two(&m, &t), CIP_ERR_UNSUPPORTED);
    made_end(&m);
}

/* --- masks ------------------------------------------------------------------------------------ */

static cip_status write_masked(made *m, cip_where where)
{
    static const uint8_t mask[] = { 0, 1, 0, 0, 0, 1 };
    const void *const data[] = { mask, six };
    cip_spec_array a[2] = { array_of("a", CIP_BOOL, six_shape), array_of("a", CIP_I32, six_shape) };
    a[0].is_mask = true;
    a[1].masked = true;
    a[1].mask = 0;
    a[0].where = a[1].where = where;
    cip_spec spec = { .narray = 2, .array = a, .big = 0 };
    return made_write(m, &spec, data);
}

static void a_mask_is_an_array_within(void **state)
{
    (void)state;
    made m;
    one_file f;
    made_start(&m, NULL);
    assert_int_equal(write_masked(&m, CIP_WHERE_DEFAULT), CIP_OK);
    made_reopen(&m, &f);
    assert_int_equal(f.layout->narray, 1);
    assert_int_equal(f.layout->nblock, 2);
    assert_int_equal(f.layout->array[0]->mask.kind, CIP_MASK_SET_MISSING);
    assert_int_equal(f.layout->array[0]->mask.array->dtype->kind, CIP_BOOL);
    assert_true(make_gives_six(&f, "a"));
    one_close(&f);
    made_end(&m);
}

static void what_is_missing_inline_is_null(void **state)
{
    (void)state;
    made m;
    one_file f;
    made_start(&m, NULL);
    assert_int_equal(write_masked(&m, CIP_WHERE_INLINE), CIP_OK);
    assert_true(says(&m, "{data: [0, null, 2, 3, 4, null], datatype"));
    made_reopen(&m, &f);
    assert_int_equal(f.layout->nblock, 0);
    assert_int_equal(f.layout->array[0]->mask.kind, CIP_MASK_SET_MISSING);
    one_close(&f);
    made_end(&m);
}

static void a_mask_may_be_a_value(void **state)
{
    (void)state;
    made m;
    two t = two_of();
    made_start(&m, NULL);
    cip_arena a = { .mem = &m.env.mem };
    cip_node *v;
    assert_int_equal(cip_node_new_int(&a, -9, &v, NULL), CIP_OK);
    t.a[0].masked = true;
    t.a[0].mask_value = v;
    assert_int_equal(write_two(&m, &t), CIP_OK);
    assert_true(says(&m, "{source: 0, mask: -9, datatype: int32"));
    cip_arena_clear(&a);
    made_end(&m);
}

/* --- what cannot be written ------------------------------------------------------------------- */

static void types_that_the_standard_lacks_are_named(void **state)
{
    (void)state;
    made m;
    cip_spec_array a[4];
    made_start(&m, NULL);
    cip_arena arena = { .mem = &m.env.mem };
    for (size_t i = 0; i < 4; i++)
        a[i] = array_of("a", CIP_F16, six_shape);
    assert_int_equal(cip_dtype_opaque(&arena, 3, NULL, &a[1].dtype, NULL), CIP_OK);
    assert_int_equal(cip_dtype_time(&arena, CIP_DATETIME64, "ns", false, &a[2].dtype, NULL),
                     CIP_OK);
    cip_field field = { .name = "x", .dtype = a[1].dtype };
    assert_int_equal(cip_dtype_record(&arena, 1, &field, true, 0, &a[3].dtype, NULL), CIP_OK);
    cip_spec spec = { .narray = 4, .array = a, .big = -1 };
    assert_int_equal(made_check(&m, &spec), CIP_OK);
    assert_int_equal(m.nimpossible, 3);
    spec.version = "1.5.0";
    assert_int_equal(made_check(&m, &spec), CIP_OK);
    assert_int_equal(m.nimpossible, 3 + 4);
    spec.narray = 1;
    assert_int_equal(made_write(&m, &spec, two_data), CIP_ERR_UNSUPPORTED);
    cip_arena_clear(&arena);
    made_end(&m);
}

static void inline_and_streamed_arrays_need_an_axis(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        made m;
        cip_spec_array a = { .path = "a", .dtype = cip_dtype_of(CIP_I32), .mask = -1 };
        cip_spec spec = { .narray = 1, .array = &a };
        a.where = i == 0 ? CIP_WHERE_INLINE : CIP_WHERE_STREAMED;
        made_start(&m, NULL);
        assert_int_equal(made_check(&m, &spec), CIP_OK);
        assert_int_equal(m.nimpossible, 1);
        assert_int_equal(made_write(&m, &spec, two_data), CIP_ERR_UNSUPPORTED);
        made_end(&m);
        a.where = CIP_WHERE_INTERNAL;
        made_start(&m, NULL);
        assert_int_equal(made_write(&m, &spec, two_data), CIP_OK);
        made_end(&m);
    }
}

static void a_stream_does_not_say_how_many_rows_without_bytes_it_has(void **state)
{
    (void)state;
    static const struct {
        int64_t shape[3];
        size_t nimpossible;
    } of[] = { { { 5, 0, 2 }, 1 }, { { 0, 0, 2 }, 0 }, { { 0, 3, 2 }, 0 } };
    for (size_t i = 0; i < 3; i++) {
        made m;
        cip_spec_array a = { .path = "a", .dtype = cip_dtype_of(CIP_I32), .mask = -1, .ndim = 3 };
        cip_spec spec = { .narray = 1, .array = &a };
        a.where = CIP_WHERE_STREAMED;
        a.shape = of[i].shape;
        made_start(&m, NULL);
        assert_int_equal(made_check(&m, &spec), CIP_OK);
        assert_int_equal(m.nimpossible, of[i].nimpossible);
        made_end(&m);
    }
}

static void masks_that_nobody_can_say_are_losses(void **state)
{
    (void)state;
    made m;
    two t = two_of();
    t.spec.array = t.a;
    t.a[0].masked = true;
    made_start(&m, NULL);
    assert_int_equal(made_check(&m, &t.spec), CIP_OK);
    assert_int_equal(m.nlost, 1);
    t.a[0].mask = 1;
    assert_int_equal(made_check(&m, &t.spec), CIP_OK);
    assert_int_equal(m.nlost, 1);
    made_end(&m);
}

static void keys_that_python_cannot_have_are_losses(void **state)
{
    (void)state;
    const struct {
        const char *tree;
        size_t nlost;
    } row[] = {
        { "{m: {1: a, '1': b, ~: c, 1.5: d, x: [e]}}", 0 },
        { "{m: {x: a, ? [1, 2] : b, ? {} : c}}", 1 },
        { "{? {a: 1} : b}", 1 },
        { "{m: [{!<!ext> aGk=: c}]}", 1 },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        made m;
        cip_spec spec = { .version = NULL };
        made_start(&m, NULL);
        cip_arena a = { .mem = &m.env.mem };
        assert_int_equal(cip_yaml_value(&m.env, &a, row[i].tree, NULL, &spec.tree, NULL), CIP_OK);
        spec.env = &m.env;
        assert_int_equal(made_check(&m, &spec), CIP_OK);
        assert_int_equal(m.nlost, row[i].nlost);
        cip_arena_clear(&a);
        made_end(&m);
    }
}

static void wishes_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const struct {
        cip_spec spec;
        cip_status st;
    } row[] = {
        { { .version = "1.7.0" }, CIP_ERR_ARG },       { { .version = "1.6" }, CIP_ERR_ARG },
        { { .codec = "blosc" }, CIP_ERR_UNSUPPORTED }, { { .checksum = "crc" }, CIP_ERR_ARG },
        { { .align = 32769 }, CIP_ERR_ARG },           { { .align = 32768 }, CIP_OK }
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        made m;
        made_start(&m, NULL);
        assert_int_equal(made_write(&m, &row[i].spec, NULL), row[i].st);
        made_end(&m);
    }
}

static void too_few_or_too_many_data_are_refused(void **state)
{
    (void)state;
    for (size_t n = 4; n <= 28; n += 24) {
        made m;
        two t = two_of();
        void *w;
        uint8_t data[28] = { 0 };
        t.spec.array = t.a;
        made_start(&m, NULL);
        cip_arena a = { .mem = &m.env.mem };
        assert_int_equal(made_open(&m), CIP_OK);
        assert_int_equal(made_begin(&m, &a, &t.spec, &w), CIP_OK);
        cip_status st = made_store(w, 0, 0, data, n, &m.err);
        assert_int_equal(st, n == 4 ? CIP_OK : CIP_ERR_ARG);
        if (n == 4)
            assert_int_equal(cip_asdf_store.end(w, 0, NULL, &m.err), CIP_ERR_ARG);
        cip_asdf_store.clear(w);
        cip_arena_clear(&a);
        made_end(&m);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++)
        for (size_t n = 1;; n++) {
            fail_alloc fa = { .fail_at = n };
            const cip_allocator from = { fail_alloc_resize, &fa };
            made m;
            two t = two_of();
            t.spec.late = late;
            t.spec.codec = "zlib";
            t.a[0].where = late ? CIP_WHERE_INLINE : CIP_WHERE_EXTERNAL;
            made_start(&m, &from);
            cip_status st = write_two(&m, &t);
            made_end(&m);
            assert_int_equal(fa.held, 0);
            if (fa.requests < n)
                break;
            assert_int_equal(st, CIP_ERR_NOMEM);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_room_blocks_and_index_follow_each_other),
        cmocka_unit_test(without_room_the_first_block_touches_the_tree),
        cmocka_unit_test(a_file_without_blocks_has_no_room_and_no_index),
        cmocka_unit_test(arrays_that_come_one_by_one_make_the_same_file),
        cmocka_unit_test(much_data_is_not_moved_for_a_small_tree),
        cmocka_unit_test(checksums_are_of_stored_or_decoded_bytes_or_none),
        cmocka_unit_test(what_does_not_become_smaller_is_stored_as_it_is),
        cmocka_unit_test(every_codec_is_read_back),
        cmocka_unit_test(codecs_beyond_the_standard_are_announced_once),
        cmocka_unit_test(an_array_has_its_own_codec),
        cmocka_unit_test(arrays_without_bytes_are_never_compressed),
        cmocka_unit_test(a_streamed_array_is_last_and_has_no_sizes),
        cmocka_unit_test(data_without_a_codec_are_refused_one),
        cmocka_unit_test(nothing_follows_a_streamed_array),
        cmocka_unit_test(external_arrays_lie_in_whole_files_beside),
        cmocka_unit_test(without_a_name_nothing_lies_beside),
        cmocka_unit_test(views_share_the_block_of_their_array),
        cmocka_unit_test(a_mask_is_an_array_within),
        cmocka_unit_test(what_is_missing_inline_is_null),
        cmocka_unit_test(a_mask_may_be_a_value),
        cmocka_unit_test(types_that_the_standard_lacks_are_named),
        cmocka_unit_test(inline_and_streamed_arrays_need_an_axis),
        cmocka_unit_test(a_stream_does_not_say_how_many_rows_without_bytes_it_has),
        cmocka_unit_test(masks_that_nobody_can_say_are_losses),
        cmocka_unit_test(keys_that_python_cannot_have_are_losses),
        cmocka_unit_test(wishes_that_make_no_sense_are_refused),
        cmocka_unit_test(too_few_or_too_many_data_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
