/* SPDX-License-Identifier: BSD-3-Clause
 * Files of ASDF 0.1.0 as they are written: the document's layout, tags, chains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "support/format/asdf/write/asdf_write_testing.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "tree/edit.h"

#define ENCODE(chain)                                                                              \
    ((const char *const[]){ [ASDF_OPTION_ENCODE] = (chain), [ASDF_OPTION_FILTER] = NULL })

static const int64_t shape[] = { 3, 4 };
static const int64_t numbers[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
static const float floats[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12.5f };

typedef struct one {
    cip_spec_array a;
    cip_spec spec;
    const void *data;
} one;

static one one_of(bool real)
{
    one o = { .a = { .path = "data",
                     .dtype = cip_dtype_of(real ? CIP_F32 : CIP_I64),
                     .ndim = 2,
                     .shape = shape,
                     .mask = -1 },
              .spec = { .big = 0, .narray = 1, .version = "0.1.0" },
              .data = real ? (const void *)floats : numbers };
    return o;
}

static cip_status write_one(made *m, one *o)
{
    o->spec.array = &o->a;
    o->spec.env = &m->env;
    return made_write(m, &o->spec, &o->data);
}

static const char *block_of(const char *bytes, size_t n)
{
    return memmem(bytes, n, ASDF_MAGIC, 4);
}

/* --- the layout ------------------------------------------------------------------------------- */

static void a_file_is_as_the_document_shows_it(void **state)
{
    (void)state;
    static const char text[] = "#ASDF 0.1.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/0.1.0/\n"
                               "--- !core/asdf\nasdf_library: {name: cippus, version: ";
    static const char array[] = "data: !core/ndarray {source: 0, datatype: int64, byteorder: "
                                "little, shape: ";
    static const uint8_t head[] = { 0xd3, 'B', 'L', 'K', 0, 36, 0, 0, 0, 0, 0, 0,  0, 0,
                                    0,    0,   0,   96,  0, 0,  0, 0, 0, 0, 0, 96, 0, 0,
                                    0,    0,   0,   0,   0, 96, 0, 0, 0, 0, 0, 0,  0, 0 };
    made m;
    size_t n;
    one o = one_of(false);
    o.spec.tree_slack = -1;
    made_start(&m, NULL);
    assert_int_equal(write_one(&m, &o), CIP_OK);
    const char *bytes = made_bytes(&m, 0, &n);
    assert_memory_equal(bytes, text, sizeof text - 1);
    const char *block = block_of(bytes, n);
    assert_non_null(strstr(bytes, array));
    assert_memory_equal(block - 5, "\n...\n", 5); /* no comment makes room */
    assert_memory_equal(block, head, sizeof head);
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(cip_load_u64(block + sizeof head + 8 * i, false), numbers[i]);
    assert_int_equal(block + sizeof head + 96 - bytes, n); /* no index */
    assert_null(strchr(bytes + 1, '#'));
    made_end(&m);
}

static void room_aligns_the_first_block_and_headers_stay_short(void **state)
{
    (void)state;
    made m;
    size_t n;
    one o = one_of(false);
    cip_spec_array two[2];
    const void *data[] = { numbers, numbers };
    made_start(&m, NULL);
    two[0] = two[1] = o.a;
    two[1].path = "more";
    o.spec.array = two;
    o.spec.narray = 2;
    o.spec.env = &m.env;
    assert_int_equal(made_write(&m, &o.spec, data), CIP_OK);
    const char *bytes = made_bytes(&m, 0, &n), *block = block_of(bytes, n);
    assert_int_equal((block + 42 - bytes) % 64, 0);
    assert_memory_equal(block + 42 + 96, ASDF_MAGIC "\0\44", 6);
    assert_int_equal(block + 2 * (42 + 96) - bytes, n);
    made_end(&m);
}

static void an_alignment_that_is_asked_for_is_given(void **state)
{
    (void)state;
    made m;
    one o = one_of(false);
    one_file f;
    o.spec.align = 256;
    o.spec.tree_slack = -1;
    made_start(&m, NULL);
    assert_int_equal(write_one(&m, &o), CIP_OK);
    made_reopen(&m, &f);
    assert_int_equal(f.layout->block[0].info.data_offset % 256, 0);
    one_close(&f);
    made_end(&m);
}

static void a_streamed_array_and_inline_ones_are_written(void **state)
{
    (void)state;
    const cip_where where[] = { CIP_WHERE_STREAMED, CIP_WHERE_INLINE, CIP_WHERE_EXTERNAL };
    for (int i = 0; i < 3; i++) {
        made m;
        size_t n;
        one o = one_of(false);
        o.a.where = where[i];
        o.spec.option = ENCODE("[zlib]"); /* of arrays that can have it */
        made_start(&m, NULL);
        assert_int_equal(write_one(&m, &o), CIP_OK);
        const char *bytes = made_bytes(&m, 0, &n), *block = block_of(bytes, n);
        if (i == 0) {
            assert_memory_equal(block + 4, "\0\44\0\0\0\1", 6);
            assert_non_null(strstr(bytes, "source: -1"));
        } else {
            assert_null(block);
        }
        if (i == 2) {
            bytes = made_bytes(&m, 1, &n);
            assert_memory_equal(block_of(bytes, n) + 4, "\0\44\0\0\0\2", 6);
            assert_memory_equal(bytes, "#ASDF 0.1.0\n\323BLK", 16); /* no tree, no room */
        }
        made_end(&m);
    }
}

/* --- tags ------------------------------------------------------------------------------------- */

static void check_tag(const char *version, const char *from, const char *want)
{
    made m;
    const asdf_standard *s;
    const char *out;
    made_start(&m, NULL);
    cip_arena a = { .mem = &m.env.mem };
    assert_int_equal(cip_asdf_standard(version, &s, NULL), CIP_OK);
    assert_int_equal(cip_asdf_standard_tag(s, from, &a, &out, NULL), CIP_OK);
    if (want == NULL)
        assert_null(out);
    else
        assert_string_equal(out, want);
    cip_arena_clear(&a);
    made_end(&m);
}

#define T "tag:stsci.edu:asdf/"

static void tags_become_those_of_the_version(void **state)
{
    (void)state;
    check_tag("0.1.0", T "core/asdf-1.1.0", T "0.1.0/core/asdf");
    check_tag("0.1.0", T "core/complex-1.0.0", T "0.1.0/core/complex");
    check_tag("0.1.0", T "0.1.0/core/complex", T "0.1.0/core/complex");
    check_tag("0.1.0", T "transform/compose-1.2.0", T "0.1.0/transform/compose");
    check_tag("0.1.0", T "unit/unit-1.0.0", T "0.1.0/unit/unit");
    check_tag("0.1.0", T "core/software-1.0.0", NULL);
    check_tag("0.1.0", T "core/integer-1.1.0", NULL);
    check_tag("0.1.0", T "core/ndarray-chunk-1.0.0", NULL);
    check_tag("0.1.0", "asdf://other.org/tags/x-1.0.0", "asdf://other.org/tags/x-1.0.0");
    check_tag("0.1.0", NULL, NULL);
    check_tag("1.6.0", T "0.1.0/core/asdf", T "core/asdf-1.1.0");
    check_tag("1.6.0", T "0.1.0/core/ndarray", T "core/ndarray-1.1.0");
    check_tag("1.5.0", T "core/ndarray-0.1.0", T "core/ndarray-1.0.0");
    check_tag("1.5.0", T "0.1.0/core/complex", T "core/complex-1.0.0");
    check_tag("1.5.0", T "transform/compose-1.2.0", T "transform/compose-1.2.0");
}

static void tags_without_a_like_are_losses(void **state)
{
    (void)state;
    made m;
    one o = one_of(false);
    made_start(&m, NULL);
    cip_arena a = { .mem = &m.env.mem };
    assert_int_equal(cip_yaml_value(&m.env, &a,
                                    "{a: !<" T "core/integer-1.0.0> {sign: '+'}, b: !<" T
                                    "core/integer-1.0.0> {}, c: !<" T
                                    "core/software-1.0.0> {name: x}, d: !<" T
                                    "core/complex-1.0.0> 1+2j}",
                                    NULL, &o.spec.tree, NULL),
                     CIP_OK);
    o.spec.array = &o.a;
    o.spec.env = &m.env;
    assert_int_equal(made_check(&m, &o.spec), CIP_OK);
    assert_int_equal(m.nlost, 1);
    assert_string_equal(m.lost,
                        "the tag " T "core/integer-1.0.0 is lost: ASDF 0.1.0 has no equivalent\n");
    o.spec.version = "1.6.0";
    assert_int_equal(made_check(&m, &o.spec), CIP_OK);
    assert_int_equal(m.nlost, 1);
    cip_arena_clear(&a);
    made_end(&m);
}

/* --- chains ----------------------------------------------------------------------------------- */

/* The first bytes of the payload. */
static void check_chain(bool real, const char *encode, const char *want)
{
    made m;
    size_t n;
    one o = one_of(real);
    one_file f;
    o.spec.option = ENCODE(encode);
    o.spec.version = NULL;
    made_start(&m, NULL);
    if (write_one(&m, &o) != CIP_OK)
        fail_msg("%s: %s", encode, m.err.text);
    const char *bytes = made_bytes(&m, 0, &n), *block = block_of(bytes, n);
    assert_memory_equal(block + 4, "\0\44\0\0\0\2", 6);
    assert_memory_equal(block + 42, want, strlen(want));
    assert_int_equal(cip_load_u64(block + 26, true), real ? 48 : 96);
    made_reopen(&m, &f);
    assert_int_equal(f.layout->block[0].info.state, CIP_OK);
    one_close(&f);
    made_end(&m);
}

static void chains_are_written_with_what_a_reader_needs(void **state)
{
    (void)state;
    check_chain(false, "[zlib]", "--- [zlib]\n...\n\x78");
    check_chain(false, "zlib", "--- [zlib]\n...\n\x78");
    check_chain(false, "[]", "--- []\n...\n\1\0\0\0\0\0\0\0\2");
    check_chain(false, "[[tile, {shape: [2, 2]}], zlib]",
                "--- [[tile, {shape: [2, 2], item_size: 8, original_shape: [3, 4]}], zlib]\n...\n");
    check_chain(false, "[[tile, {shape: [2]}]]",
                "--- [[tile, {shape: [2, 4], item_size: 8, original_shape: [3, 4]}]]\n...\n\1");
    check_chain(true, "[[tile, {shape: [2, 2]}], [quantize, {quality: 4}], zlib]",
                "--- [[tile, {shape: [2, 2], item_size: 4, original_shape: [3, 4]}], [quantize, "
                "{quality: 4, dtype: 32, original_shape: [3, 4]}], zlib]\n...\n");
    check_chain(true, "[quantize]",
                "--- [[quantize, {dtype: 32, quality: 4, original_shape: [3, 4]}]]\n...\n");
    check_chain(true, "[[quantize, {bits: 9}], zlib, zlib]",
                "--- [[quantize, {bits: 9, dtype: 32, original_shape: [3, 4]}], zlib, "
                "zlib]\n...\n");
    check_chain(true, "[[quantize, {bits: 9, dtype: 64, original_shape: [7]}]]",
                "--- [[quantize, {bits: 9, dtype: 32, original_shape: [3, 4]}]]\n...\n");
}

static void what_else_a_files_chain_says_stays(void **state)
{
    (void)state;
    static const char text[] = "[[tile, {by: me, shape: [2, 2], item_size: 1}], [zlib, {a: 1}]]";
    made m;
    one o = one_of(false);
    made_start(&m, NULL);
    cip_arena a = { .mem = &m.env.mem };
    cip_buf out = { .mem = &m.env.mem };
    const asdf_encoded of = { o.a.ndim, o.a.shape, o.a.dtype };
    asdf_chain c;
    assert_int_equal(cip_asdf_chain_read(&m.env, &a,
                                         (cip_bytes){ (const uint8_t *)text, sizeof text - 1 }, &c,
                                         NULL),
                     CIP_OK);
    assert_int_equal(cip_asdf_chain_text(&m.env, &c, &of, &out, NULL), CIP_OK);
    static const char want[] = "--- [[tile, {by: me, shape: [2, 2], item_size: 8, original_shape: "
                               "[3, 4]}], [zlib, {a: 1}]]\n...\n";
    assert_int_equal(out.len, sizeof want - 1);
    assert_memory_equal(out.ptr, want, out.len);
    cip_buf_clear(&out);
    cip_arena_clear(&a);
    made_end(&m);
}

static void a_codec_stands_for_a_chain(void **state)
{
    (void)state;
    static const int64_t many[] = { 40, 40 };
    static int64_t zeros[1600], noise[12];
    made m;
    size_t n;
    for (uint64_t i = 0; i < 12; i++)
        noise[i] = (int64_t)((i + 1) * UINT64_C(0x9e3779b97f4a7c15));
    for (int i = 0; i < 3; i++) { /* the file's, the array's, and one that makes it larger */
        one o = one_of(false);
        o.spec.codec = i != 1 ? "zlib" : NULL;
        o.a.codec = i == 1 ? "zlib" : NULL;
        o.data = i < 2 ? zeros : noise;
        o.a.shape = i < 2 ? many : shape;
        made_start(&m, NULL);
        m.whole_again = true;
        assert_int_equal(write_one(&m, &o), CIP_OK);
        const char *bytes = made_bytes(&m, 0, &n), *block = block_of(bytes, n);
        assert_memory_equal(block + 6, i == 2 ? "\0\0\0\0" : "\0\0\0\2", 4);
        assert_int_equal(m.nagain, i == 2);
        made_end(&m);
    }
}

static void an_array_has_a_chain_of_its_own_and_empty_ones_none(void **state)
{
    (void)state;
    static const int64_t none[] = { 0, 4 };
    made m;
    size_t n;
    one o = one_of(false);
    o.a.option = ENCODE("[zlib, zlib]");
    o.spec.option = ENCODE("[[tile, {shape: [1]}]]");
    made_start(&m, NULL);
    assert_int_equal(write_one(&m, &o), CIP_OK);
    const char *bytes = made_bytes(&m, 0, &n);
    assert_memory_equal(block_of(bytes, n) + 42, "--- [zlib, zlib]\n", 17);
    made_end(&m);
    o = one_of(false);
    o.a.shape = none;
    o.spec.option = ENCODE("[zlib]");
    made_start(&m, NULL);
    assert_int_equal(write_one(&m, &o), CIP_OK);
    bytes = made_bytes(&m, 0, &n);
    assert_memory_equal(block_of(bytes, n) + 6, "\0\0\0\0", 4);
    made_end(&m);
}

static int count_note(void *user, const cip_finding *f)
{
    made *m = user;
    assert_int_equal(f->severity, CIP_NOTE);
    assert_string_equal(f->part, "data");
    snprintf(m->lost, sizeof m->lost, "%s", f->text);
    return m->nlost != 0;
}

static void the_largest_error_is_told_and_may_stop_it(void **state)
{
    (void)state;
    for (int stop = 0; stop < 2; stop++) {
        made m;
        one o = one_of(true);
        cip_report notes;
        o.spec.option = ENCODE("[[quantize, {bits: 1}]]");
        made_start(&m, NULL);
        m.nlost = (size_t)stop;
        cip_report_init(&notes, &m.env.mem, false, count_note, &m);
        o.spec.notes = &notes;
        assert_int_equal(write_one(&m, &o), stop ? CIP_ERR_CANCELLED : CIP_OK);
        assert_string_equal(m.lost, "the largest error of a value is 5.5"); /* 1 or 12.5 */
        cip_report_clear(&notes);
        made_end(&m);
    }
}

static void check_refused(one *o, cip_status want, const char *words)
{
    made m;
    made_start(&m, NULL);
    assert_int_equal(write_one(&m, o), want);
    if (strstr(m.err.text, words) == NULL)
        fail_msg("expected '%s' in '%s'", words, m.err.text);
    made_end(&m);
}

static void what_cannot_go_through_is_refused(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const float bad[] = { 1, 2, 3, 4, 5, 6, NAN, 8, 9, 10, 11, INFINITY };
    one o = one_of(false);
    o.spec.option = ENCODE("[quantize]");
    check_refused(&o, CIP_ERR_UNSUPPORTED, "expected float32 or float64 to quantize, found int64");
    o.spec.option = ENCODE("[[tile, {shape: [1, 1, 1]}]]");
    check_refused(&o, CIP_ERR_ARG, "expected tiles of at most 2 axes");
    o.spec.option = ENCODE("[[tile, {shape: [1]}], [tile, {shape: [1]}]]");
    check_refused(&o, CIP_ERR_UNSUPPORTED, "at most one tile step");
    o.spec.option = ENCODE("[[tile, {shape: [1]}");
    check_refused(&o, CIP_ERR_ARG, "the encoding chain");
    o.spec.option = ENCODE("[[zlib, {level: 9}]]");
    check_refused(&o, CIP_ERR_ARG, "unknown argument 'level' of 'zlib'");
    o.spec.option = ENCODE("[[tile, {shape: [2], item_siz: 8}]]");
    check_refused(&o, CIP_ERR_ARG, "unknown argument 'item_siz' of 'tile'");
    o.spec.option = ENCODE("[[quantize, {qualty: 100}]]");
    check_refused(&o, CIP_ERR_ARG, "unknown argument 'qualty' of 'quantize'");
    o.spec.option = ENCODE("[[quantize, {quality: 4, bits: 9}]]");
    check_refused(&o, CIP_ERR_ARG, "quality or bits, found both");
    o.spec.option = ENCODE("[frobnicate]");
    check_refused(&o, CIP_ERR_UNSUPPORTED, "frobnicate");
    o.spec.option = ENCODE("[zlib]");
    o.spec.version = "1.6.0";
    check_refused(&o, CIP_ERR_ARG, "expected the version 0.1.0");
    o.spec.version = "0.1.0";
    o.spec.codec = "bzp2";
    check_refused(&o, CIP_ERR_UNSUPPORTED, "none, zlib for ASDF 0.1.0");
    o.spec.codec = NULL;
    o.spec.checksum = "md5";
    check_refused(&o, CIP_ERR_UNSUPPORTED, "expected the checksum none");
    o.spec.checksum = "none";
    o.a.option = ENCODE("[zlib]");
    o.a.where = CIP_WHERE_STREAMED;
    check_refused(&o, CIP_ERR_UNSUPPORTED, "streamed data have no encoding chain");
    o = one_of(true);
    o.data = bad;
    o.spec.option = ENCODE("[[tile, {shape: [1]}], [quantize, {bits: 8}]]");
    check_refused(&o, CIP_ERR_RANGE, "found NaN or an infinity at [1, 2]");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc fa = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &fa };
        made m;
        one o = one_of(true);
        o.spec.option = ENCODE("[[tile, {shape: [2, 3]}], [quantize, {bits: 9}], zlib, zlib]");
        made_start(&m, &from);
        cip_status st = write_one(&m, &o);
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
        cmocka_unit_test(a_file_is_as_the_document_shows_it),
        cmocka_unit_test(room_aligns_the_first_block_and_headers_stay_short),
        cmocka_unit_test(an_alignment_that_is_asked_for_is_given),
        cmocka_unit_test(a_streamed_array_and_inline_ones_are_written),
        cmocka_unit_test(tags_become_those_of_the_version),
        cmocka_unit_test(tags_without_a_like_are_losses),
        cmocka_unit_test(chains_are_written_with_what_a_reader_needs),
        cmocka_unit_test(what_else_a_files_chain_says_stays),
        cmocka_unit_test(a_codec_stands_for_a_chain),
        cmocka_unit_test(an_array_has_a_chain_of_its_own_and_empty_ones_none),
        cmocka_unit_test(the_largest_error_is_told_and_may_stop_it),
        cmocka_unit_test(what_cannot_go_through_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
