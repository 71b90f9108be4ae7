/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/pool.h"
#include "codec/with.h"
#include "support/format/blosc2/b2_testing.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "support/one_format.h"
#include "tree/msgpack.h"

static const b2_make plain = { .typesize = 4, .chunksize = 40, .nchunk = 3, .last = 20 };

static cip_status open_made(one_file *f, const b2_make *m)
{
    b2_bytes b = b2_build(m);
    cip_status st = one_open(f, &cip_format_blosc2, b.ptr, b.len, 0, NULL);
    free(b.ptr);
    return st;
}

static const cip_b2_frame *frame_of(const one_file *f)
{
    return ((const cip_b2_file *)f->layout->own)->frame;
}

/* All of the array is what b2_make puts in. */
static void assert_reads(one_file *f, const b2_make *m)
{
    size_t len, total = (size_t)b2_chunk_from(m, m->nchunk);
    uint8_t *raw = one_read(f, 0, &len), *want = malloc(total + 1);
    if (raw == NULL)
        fail_msg("%s", f->err.text);
    b2_pattern(0, want, total);
    assert_int_equal(len, total);
    assert_memory_equal(raw, want, total);
    free(raw);
    free(want);
}

static void assert_opens_and_reads(const b2_make *m)
{
    one_file f;
    if (open_made(&f, m) != CIP_OK)
        fail_msg("%s", f.err.text);
    assert_reads(&f, m);
    one_close(&f);
}

static void assert_read_fails(one_file *f, cip_status st)
{
    size_t len;
    assert_null(one_read(f, 0, &len));
    assert_int_equal(f->err.code, st);
}

static const char *fact(const one_file *f, const char *key)
{
    for (size_t i = 0; i < f->layout->nfact; i++)
        if (strcmp(f->layout->fact[i].key, key) == 0)
            return f->layout->fact[i].value;
    return NULL;
}

static void a_plain_frame_is_items_of_its_typesize(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_made(&f, &plain), CIP_OK);
    const cip_array *a = f.layout->array[0];
    assert_int_equal(f.layout->narray, 1);
    assert_string_equal(a->dtype->name, "bytes4");
    assert_int_equal(a->view.ndim, 1);
    assert_int_equal(a->view.shape[0], 25);
    assert_int_equal(a->storage.chunk[0], 10);
    assert_string_equal(a->storage.codec, "lz4");
    assert_string_equal(f.layout->version, "2");
    assert_string_equal(fact(&f, "chunks"), "3 of 40 bytes");
    assert_string_equal(fact(&f, "filters"), "shuffle");
    assert_null(fact(&f, "layout"));
    assert_reads(&f, &plain);
    one_close(&f);
}

/* As they are given to an encoder: numbers of bits may be negative. */
static void filters_are_shown_as_text(void **state)
{
    (void)state;
    b2_bytes b = b2_build(&plain);
    one_file f;
    b.ptr[0x4B] = CIP_BLOSC_TRUNC_PREC;
    b.ptr[0x4F + 4] = (uint8_t)-10;
    assert_int_equal(one_open(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL), CIP_OK);
    assert_string_equal(fact(&f, "filters"), "trunc_prec:-10+shuffle");
    one_close(&f);
    free(b.ptr);
}

static void single_bytes_are_numbers(void **state)
{
    (void)state;
    b2_make m = plain;
    one_file f;
    m.typesize = 1;
    assert_int_equal(open_made(&f, &m), CIP_OK);
    assert_string_equal(f.layout->array[0]->dtype->name, "uint8");
    one_close(&f);
    m.typesize = 3; /* does not divide the bytes there are */
    assert_int_equal(open_made(&f, &m), CIP_OK);
    assert_string_equal(f.layout->array[0]->dtype->name, "uint8");
    one_close(&f);
}

static void versions_gaps_and_other_forms_are_read(void **state)
{
    (void)state;
    b2_make m = plain;
    for (uint8_t v = 1; v <= 3; v++) {
        m.version = v;
        assert_opens_and_reads(&m);
    }
    m.gap = 7;
    assert_opens_and_reads(&m);
    m.short_heads = true;
    assert_opens_and_reads(&m);
    m = plain;
    m.version = 4;
    one_file f;
    assert_int_equal(open_made(&f, &m), CIP_ERR_UNSUPPORTED);
    one_close(&f);
}

static void offsets_may_have_any_width(void **state)
{
    (void)state;
    b2_make m = plain;
    for (m.width = 4; m.width <= 32; m.width *= 2) {
        assert_opens_and_reads(&m);
        m.width_code = 3; /* the index is believed, not the header */
        assert_opens_and_reads(&m);
        m.width_code = 0;
    }
}

static void chunks_may_have_sizes_of_their_own(void **state)
{
    (void)state;
    b2_make m = { .typesize = 4, .nchunk = 9, .version = 3 };
    one_file f;
    uint8_t got[30], want[30];
    assert_opens_and_reads(&m);
    assert_int_equal(open_made(&f, &m), CIP_OK);
    const cip_read_how how = { f.layout, NULL };
    for (uint64_t off = 0; off < b2_chunk_from(&m, 9) - 30; off++) {
        assert_int_equal(cip_space_read_at(&how, f.layout->array[0]->space, off, got, 30, NULL),
                         CIP_OK);
        b2_pattern(off, want, 30);
        assert_memory_equal(got, want, 30);
    }
    one_close(&f);
    m.special[3] = 0x81; /* nothing says how many zeros */
    assert_int_equal(open_made(&f, &m), CIP_OK);
    assert_read_fails(&f, CIP_ERR_CORRUPT);
    one_close(&f);
}

static void the_documents_form_is_read_and_named(void **state)
{
    (void)state;
    b2_make m = plain;
    one_file f;
    m.document = true;
    assert_opens_and_reads(&m);
    m.special[0] = 0x81;
    assert_int_equal(open_made(&f, &m), CIP_OK);
    uint8_t got[40], want[40];
    const cip_read_how how = { f.layout, NULL };
    assert_int_equal(cip_space_read_at(&how, f.layout->array[0]->space, 40, got, 40, NULL), CIP_OK);
    b2_pattern(40, want, 40);
    assert_memory_equal(got, want, 40);
    assert_true(frame_of(&f)->index.document);
    assert_string_equal(fact(&f, "layout"), "document");
    one_close(&f);
    m = plain;
    m.wrapped = true;
    b2_bytes value = b2_chunk_file(&m, 0);
    m.vl_name[0] = "k";
    m.vl[0] = value.ptr;
    m.vl_len[0] = value.len;
    assert_int_equal(open_made(&f, &m), CIP_OK);
    assert_string_equal(fact(&f, "layout"), "document");
    assert_int_equal(frame_of(&f)->vlmeta.n, 1);
    assert_int_equal(f.env.warnings.count[CIP_WARN], 0);
    one_close(&f);
    free(value.ptr);
}

/* One chunk that does not fit the document's reading, and it is not believed. */
static void the_documents_offsets_need_every_chunk(void **state)
{
    (void)state;
    b2_make m = plain;
    one_file f;
    m.document = true;
    b2_bytes b = b2_build(&m);
    const size_t last = b.len - 35 - 8; /* of the index, which ends before the trailer */
    cip_store_u64(b.ptr + last, cip_load_u64(b.ptr + last, false) + 1, false);
    assert_int_equal(one_open(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL), CIP_OK);
    assert_read_fails(&f, CIP_ERR_CORRUPT);
    assert_false(frame_of(&f)->index.document);
    one_close(&f);
    free(b.ptr);
}

static void special_offsets_are_what_they_stand_for(void **state)
{
    (void)state;
    b2_make m = { .typesize = 4, .chunksize = 8, .nchunk = 5, .last = 4 };
    one_file f;
    size_t len;
    m.special[0] = m.special[4] = 0x81;
    m.special[1] = 0x82;
    m.special[2] = 0x84;
    assert_int_equal(open_made(&f, &m), CIP_OK);
    uint8_t *raw = one_read(&f, 0, &len), want[36] = { 0 };
    cip_store_u32(want + 8, 0x7fc00000, false);
    cip_store_u32(want + 12, 0x7fc00000, false);
    b2_pattern(24, want + 24, 8);
    assert_non_null(raw);
    assert_memory_equal(raw, want, 36);
    free(raw);
    one_close(&f);
}

static void a_reserved_special_value_costs_its_chunk_alone(void **state)
{
    (void)state;
    b2_make m = plain;
    static const uint8_t reserved[] = { 0x80, 0x83, 0x85, 0x86, 0x87, 0x89, 0x91, 0xa1, 0xc1 };
    for (size_t i = 0; i < sizeof reserved; i++) {
        one_file f;
        uint8_t got[20];
        m.special[1] = reserved[i];
        assert_int_equal(open_made(&f, &m), CIP_OK);
        const cip_read_how how = { f.layout, NULL };
        cip_space *s = f.layout->array[0]->space;
        assert_int_equal(cip_space_read_at(&how, s, 80, got, 20, NULL), CIP_OK);
        assert_int_equal(cip_space_read_at(&how, s, 40, got, 20, NULL), CIP_ERR_UNSUPPORTED);
        one_close(&f);
    }
}

/* What is read ahead begins at the chunk and is no more than the chunks behind it. */
static void chunks_lie_where_reading_ahead_looks(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_made(&f, &plain), CIP_OK);
    const cip_table *t = &f.layout->array[0]->space->table;
    cip_chunk c[3] = { 0 };
    assert_int_equal(t->at(t->self, 0, 3, c, NULL), CIP_OK);
    const uint64_t end = c[2].at.off + c[2].at.len;
    for (uint64_t i = 0; i < 3; i++) {
        cip_extent at = { 0 };
        t->place(t->self, i, &at);
        assert_ptr_equal(at.in, c[i].at.in);
        assert_int_equal(at.off, c[i].at.off);
        assert_int_equal(at.off + at.len, end); /* the index is next */
    }
    one_close(&f);
}

/* The index of 2^40 zero chunks is one repeated value: 40 bytes. */
static void endless_zeros_cost_nothing(void **state)
{
    (void)state;
    b2_make m = { .typesize = 4, .chunksize = 1024, .nchunk = 1 };
    one_file f;
    uint8_t got[16] = { 1 };
    m.special[0] = 0x81;
    b2_bytes b = b2_build(&m);
    uint8_t *index = b.ptr + b.len - 35 - 40;
    const uint64_t n = (1u << 27) - 4;
    cip_store_u64(b.ptr + 0x1E, n * 1024, true);
    index[2] = 0x15; /* not memcpyed */
    index[31] = 0x30;
    cip_store_u32(index + 4, (uint32_t)(n * 8), false);
    cip_store_u32(index + 8, 16384, false);
    assert_int_equal(one_open(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL), CIP_OK);
    const cip_read_how how = { f.layout, NULL };
    cip_space *s = f.layout->array[0]->space;
    assert_int_equal(s->len, n * 1024);
    assert_int_equal(cip_space_read_at(&how, s, s->len - 16, got, 16, NULL), CIP_OK);
    assert_int_equal(got[0], 0);
    assert_true(f.env.mem.used < 1 << 20);
    one_close(&f);
    index[39] = 0; /* all of them at one place: not believed */
    assert_int_equal(one_open(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL), CIP_ERR_CORRUPT);
    one_close(&f);
    free(b.ptr);
}

static void metalayers_are_a_tree(void **state)
{
    (void)state;
    NEEDS(MSGPACK);
    b2_make m = plain;
    one_file f;
    int64_t v;
    b2_bytes value = { malloc(B2_CAP), 0 };
    b2_chunk(&value, (const uint8_t *)"\x81\xa1x\x2a", 4, 1, false);
    m.meta_name[0] = "m1";
    m.meta[0] = "\x07";
    m.meta_len[0] = 1;
    m.meta_name[1] = "raw";
    m.meta[1] = "\xc1\xc1";
    m.meta_len[1] = 2;
    m.vl_name[0] = "k";
    m.vl[0] = value.ptr;
    m.vl_len[0] = value.len;
    m.vl_name[1] = "bad";
    m.vl[1] = "no chunk";
    m.vl_len[1] = 8;
    assert_int_equal(open_made(&f, &m), CIP_OK);
    assert_int_equal(cip_tree_get_int(f.layout->tree, "meta/m1", &v, NULL), CIP_OK);
    assert_int_equal(v, 7);
    assert_int_equal(cip_tree_get(f.layout->tree, "meta/raw", NULL)->type, CIP_NODE_BINARY);
    assert_int_equal(cip_tree_get_int(f.layout->tree, "vlmeta/k/x", &v, NULL), CIP_OK);
    assert_int_equal(v, 42);
    assert_int_equal(cip_tree_get(f.layout->tree, "vlmeta/bad", NULL)->type, CIP_NODE_NULL);
    assert_int_equal(f.env.warnings.count[CIP_WARN], 1);
    assert_reads(&f, &m);
    one_close(&f);
    free(value.ptr);
}

/* More than what is read of both ends at once. */
static void metalayers_may_be_long(void **state)
{
    (void)state;
    b2_make m = plain;
    uint8_t value[1000];
    one_file f;
    for (size_t i = 0; i < sizeof value; i++)
        value[i] = (uint8_t)(i * 7);
    m.meta_name[0] = m.vl_name[0] = "long";
    m.meta[0] = m.vl[0] = value;
    m.meta_len[0] = m.vl_len[0] = sizeof value;
    assert_int_equal(open_made(&f, &m), CIP_OK);
    const cip_b2_frame *frame = frame_of(&f);
    const cip_b2_metas *both[] = { &frame->meta, &frame->vlmeta };
    for (int k = 0; k < 2; k++) {
        const cip_b2_meta *found = cip_b2_meta_find(both[k], "long");
        assert_non_null(found);
        assert_int_equal(found->value.len, sizeof value);
        assert_memory_equal(found->value.ptr, value, sizeof value);
    }
    assert_reads(&f, &m);
    one_close(&f);
}

static void the_fingerprint_is_shown(void **state)
{
    (void)state;
    b2_make m = plain;
    static const char *const want[] = { NULL, "type 1: 0c0d0e0f", "type 2: 08090a0b0c0d0e0f",
                                        "type 3: 000102030405060708090a0b0c0d0e0f" };
    for (uint8_t i = 0; i < 16; i++)
        m.fingerprint[i] = i;
    for (m.fingerprint_type = 0; m.fingerprint_type < 4; m.fingerprint_type++) {
        one_file f;
        assert_int_equal(open_made(&f, &m), CIP_OK);
        const char *text = fact(&f, "fingerprint");
        if (want[m.fingerprint_type] == NULL)
            assert_null(text);
        else
            assert_string_equal(text, want[m.fingerprint_type]);
        one_close(&f);
    }
}

/* type 3 of pack_tensor: a tuple of kind, shape and dtype. */
static void a_packed_tensor_has_its_type_and_shape(void **state)
{
    (void)state;
    NEEDS(MSGPACK);
    b2_make m = plain;
    one_file f;
    static const char meta[] = "\x94\xa9__tuple__\xa5numpy\x92\x05\x05\xa3<f4";
    b2_bytes value = { malloc(B2_CAP), 0 };
    b2_chunk(&value, (const uint8_t *)meta, sizeof meta - 1, 1, false);
    m.vl_name[0] = "__pack_tensor__";
    m.vl[0] = value.ptr;
    m.vl_len[0] = value.len;
    assert_int_equal(open_made(&f, &m), CIP_OK);
    assert_string_equal(f.layout->array[0]->dtype->name, "float32");
    assert_int_equal(f.layout->array[0]->view.ndim, 2);
    assert_int_equal(f.layout->array[0]->view.shape[1], 5);
    one_close(&f);
    value.ptr[32 + 19] = 0x06; /* a shape that does not fit the data */
    assert_int_equal(open_made(&f, &m), CIP_OK);
    assert_string_equal(f.layout->array[0]->dtype->name, "bytes4");
    one_close(&f);
    free(value.ptr);
}

static void a_damaged_trailer_does_not_cost_the_data(void **state)
{
    (void)state;
    b2_bytes b = b2_build(&plain);
    one_file f;
    b.ptr[b.len - 35] = 0xff;
    assert_int_equal(one_open(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL), CIP_OK);
    assert_reads(&f, &plain);
    assert_int_equal(f.env.warnings.count[CIP_WARN], 1);
    one_close(&f);
    free(b.ptr);
}

static void a_frame_lies_anywhere_in_a_space(void **state)
{
    (void)state;
    b2_bytes b = b2_build(&plain);
    one_file f;
    cip_b2_frame *frame;
    uint8_t got[100], want[100];
    uint8_t *outer = calloc(b.len + 30, 1);
    memcpy(outer + 13, b.ptr, b.len);
    memset(&f, 0, sizeof f);
    assert_int_equal(cip_env_init(&f.env, NULL, NULL, NULL, NULL), CIP_OK);
    assert_int_equal(cip_io_open_memory(&f.env, outer, b.len + 30, "outer", &f.io, NULL), CIP_OK);
    assert_int_equal(cip_layout_new(&f.env, f.io, &f.layout, NULL), CIP_OK);
    assert_int_equal(cip_b2_frame_open(f.layout, f.layout->file, 13, b.len + 17, &frame, NULL),
                     CIP_OK);
    const cip_read_how how = { f.layout, NULL };
    assert_int_equal(cip_space_read_at(&how, frame->data, 0, got, 100, NULL), CIP_OK);
    b2_pattern(0, want, 100);
    assert_memory_equal(got, want, 100);
    cip_b2_frame_clear(frame);
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_b2_frame_open(f.layout, f.layout->file, 13, b.len - 1, &frame, &err),
                     CIP_ERR_TRUNCATED);
    assert_null(frame);
    one_close(&f);
    free(outer);
    free(b.ptr);
}

typedef struct wrong {
    size_t at; /* from the beginning; over 1000: from the end */
    uint32_t value;
    cip_status st;
} wrong;

static void wrong_fields_are_refused(void **state)
{
    (void)state;
    static const wrong row[] = {
        { 0x0B, 0, CIP_ERR_CORRUPT },
        { 0x0B, 86, CIP_ERR_CORRUPT },
        { 0x0B, 0xffffffff, CIP_ERR_CORRUPT },
        { 0x0B, 0x7fffffff, CIP_ERR_CORRUPT },
        { 0x14, 0, CIP_ERR_CORRUPT },
        { 0x14, 100000, CIP_ERR_TRUNCATED },
        { 0x10, 0x80000000, CIP_ERR_TRUNCATED },
        { 0x1E, 0x80000000, CIP_ERR_CORRUPT },
        { 0x22, 0, CIP_ERR_CORRUPT },
        { 0x22, 121, CIP_ERR_CORRUPT },
        { 0x27, 0x80000000, CIP_ERR_CORRUPT },
        { 0x2B, 5000, CIP_ERR_CORRUPT },
        { 0x30, 0, CIP_ERR_CORRUPT },
        { 0x30, 0x80000000, CIP_ERR_CORRUPT },
        { 0x35, 0xffffffff, CIP_ERR_CORRUPT },
        { 0x3A, 0xffffffff, CIP_ERR_CORRUPT },
        { 0x3A, 20, CIP_ERR_CORRUPT },
        { 1000 + 22, 0, CIP_ERR_CORRUPT },
        { 1000 + 22, 24, CIP_ERR_CORRUPT },
        { 1000 + 22, 100000, CIP_ERR_CORRUPT },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        b2_bytes b = b2_build(&plain);
        one_file f;
        size_t at = row[i].at > 1000 ? b.len - (row[i].at - 1000) : row[i].at;
        cip_store_u32(b.ptr + at, row[i].value, true);
        cip_status st = one_open(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL);
        if (st != row[i].st)
            fail_msg("row %zu: expected %d, found %d: %s", i, row[i].st, st, f.err.text);
        one_close(&f);
        free(b.ptr);
    }
}

static void a_chunk_outside_is_refused_alone(void **state)
{
    (void)state;
    static const uint64_t offset[] = { 72 * 3 - 20, UINT64_C(1) << 62, 52 * 3 + 32 + 24, 5 };
    for (size_t i = 0; i < sizeof offset / sizeof offset[0]; i++) {
        b2_bytes b = b2_build(&plain);
        one_file f;
        uint8_t got[20];
        cip_store_u64(b.ptr + b.len - 35 - 16, offset[i], false);
        assert_int_equal(one_open(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL), CIP_OK);
        const cip_read_how how = { f.layout, NULL };
        cip_space *s = f.layout->array[0]->space;
        assert_int_equal(cip_space_read_at(&how, s, 80, got, 20, NULL), CIP_OK);
        cip_err err = CIP_ERR_INIT;
        assert_int_not_equal(cip_space_read_at(&how, s, 40, got, 20, &err), CIP_OK);
        assert_string_equal(err.part, "data, chunk 1");
        one_close(&f);
        free(b.ptr);
    }
}

static int count_findings(void *user, const cip_finding *f)
{
    size_t *n = user;
    n[f->severity]++;
    return 0;
}

static void verify(one_file *f, bool deep, size_t found[4])
{
    cip_report rep;
    memset(found, 0, 4 * sizeof *found);
    cip_report_init(&rep, &f->env.mem, false, count_findings, found);
    assert_int_equal(cip_format_blosc2.verify(f->layout, deep, &rep, &f->err), CIP_OK);
    cip_report_clear(&rep);
}

static void verify_names_what_is_wrong(void **state)
{
    (void)state;
    size_t found[4];
    one_file f;
    b2_make m = plain;
    assert_int_equal(open_made(&f, &m), CIP_OK);
    verify(&f, 1, found);
    assert_int_equal(found[CIP_NOTE] + found[CIP_WARN] + found[CIP_BAD], 0);
    one_close(&f);
    m.gap = 3;
    assert_int_equal(open_made(&f, &m), CIP_OK);
    verify(&f, 0, found);
    assert_int_equal(found[CIP_NOTE], 1);
    one_close(&f);
    m = plain;
    m.short_heads = true;
    m.width_code = 2;
    assert_int_equal(open_made(&f, &m), CIP_OK);
    verify(&f, 0, found);
    assert_int_equal(found[CIP_WARN], 4);
    one_close(&f);
    m = plain;
    m.document = true;
    m.special[1] = 0x87;
    b2_bytes b = b2_build(&plain);
    cip_store_u64(b.ptr + b.len - 35 - 16, 0, false); /* chunk 1 where chunk 0 is */
    assert_int_equal(one_open(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL), CIP_OK);
    verify(&f, 0, found);
    assert_int_equal(found[CIP_BAD], 1);
    assert_int_equal(found[CIP_NOTE], 1); /* and a hole */
    one_close(&f);
    free(b.ptr);
}

/* Every cut and every changed byte of small frames: an error or data, never more. */
static void try_bytes(const uint8_t *p, size_t n)
{
    one_file f;
    size_t len;
    if (one_open(&f, &cip_format_blosc2, p, n, 0, NULL) == CIP_OK && f.layout->narray == 1 &&
        f.layout->array[0]->space->len < 4096) {
        size_t found[4];
        free(one_read(&f, 0, &len));
        verify(&f, 1, found);
    }
    one_close(&f);
}

static void damage_all(const b2_make *m)
{
    static const uint8_t to[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
    b2_bytes b = b2_build(m);
    for (size_t i = 0; i < b.len; i++) {
        uint8_t was = b.ptr[i];
        try_bytes(b.ptr, i);
        for (size_t k = 0; k < sizeof to; k++) {
            b.ptr[i] = to[k];
            try_bytes(b.ptr, b.len);
        }
        b.ptr[i] = was;
    }
    free(b.ptr);
}

static void every_cut_and_changed_byte_is_survived(void **state)
{
    (void)state;
    static const int64_t shape[] = { 3, 5 }, chunk[] = { 2, 3 }, block[] = { 1, 2 };
    uint8_t nd[128];
    b2_make m = { .typesize = 1, .chunksize = 8, .nchunk = 4 };
    m.meta_name[0] = "b2nd";
    m.meta[0] = nd;
    m.meta_len[0] = b2_nd_meta(nd, 2, shape, chunk, block, "|u1");
    damage_all(&m);
    m = (b2_make){ .typesize = 2, .nchunk = 3, .version = 3 };
    b2_bytes value = { malloc(B2_CAP), 0 };
    b2_chunk(&value, (const uint8_t *)"\x81\xa1x\x2a", 4, 1, false);
    m.vl_name[0] = "k";
    m.vl[0] = value.ptr;
    m.vl_len[0] = value.len;
    damage_all(&m);
    free(value.ptr);
}

typedef struct shared {
    one_file *f;
    const b2_make *m;
} shared;

static cip_status read_somewhere(void *arg, size_t i, cip_err *err)
{
    const shared *s = arg;
    const cip_read_how how = { s->f->layout, NULL };
    uint8_t got[16], want[16];
    uint64_t off = i * 37 % (b2_chunk_from(s->m, s->m->nchunk) - sizeof got);
    CIP_TRY(cip_space_read_at(&how, s->f->layout->array[0]->space, off, got, sizeof got, err));
    b2_pattern(off, want, sizeof want);
    return memcmp(got, want, sizeof got) == 0
               ? CIP_OK
               : cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "other bytes");
}

/* The first of them measures the chunks, all share the index. */
static void many_threads_may_read(void **state)
{
    (void)state;
    const b2_make m = { .typesize = 4, .nchunk = 40, .version = 3 };
    one_file f;
    cip_pool *pool;
    assert_int_equal(open_made(&f, &m), CIP_OK);
    assert_int_equal(cip_pool_new(4, &pool, NULL), CIP_OK);
    shared s = { &f, &m };
    assert_int_equal(cip_pool_run(pool, 500, read_somewhere, &s, NULL), CIP_OK);
    cip_pool_free(pool);
    one_close(&f);
}

static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    b2_bytes b = b2_build(&plain);
    for (size_t n = 1;; n++) {
        fail_alloc a = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &a };
        one_file f;
        size_t len;
        uint8_t *raw = NULL;
        cip_status st = one_open(&f, &cip_format_blosc2, b.ptr, b.len, 0, &from);
        if (st == CIP_OK)
            raw = one_read(&f, 0, &len);
        if (raw == NULL)
            assert_int_equal(f.err.code, CIP_ERR_NOMEM);
        free(raw);
        one_close(&f);
        assert_int_equal(a.held, 0);
        if (a.requests < n)
            break;
    }
    free(b.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_frame_is_items_of_its_typesize),
        cmocka_unit_test(filters_are_shown_as_text),
        cmocka_unit_test(single_bytes_are_numbers),
        cmocka_unit_test(versions_gaps_and_other_forms_are_read),
        cmocka_unit_test(offsets_may_have_any_width),
        cmocka_unit_test(chunks_may_have_sizes_of_their_own),
        cmocka_unit_test(the_documents_form_is_read_and_named),
        cmocka_unit_test(the_documents_offsets_need_every_chunk),
        cmocka_unit_test(special_offsets_are_what_they_stand_for),
        cmocka_unit_test(a_reserved_special_value_costs_its_chunk_alone),
        cmocka_unit_test(chunks_lie_where_reading_ahead_looks),
        cmocka_unit_test(endless_zeros_cost_nothing),
        cmocka_unit_test(metalayers_are_a_tree),
        cmocka_unit_test(metalayers_may_be_long),
        cmocka_unit_test(the_fingerprint_is_shown),
        cmocka_unit_test(a_packed_tensor_has_its_type_and_shape),
        cmocka_unit_test(a_damaged_trailer_does_not_cost_the_data),
        cmocka_unit_test(a_frame_lies_anywhere_in_a_space),
        cmocka_unit_test(wrong_fields_are_refused),
        cmocka_unit_test(a_chunk_outside_is_refused_alone),
        cmocka_unit_test(verify_names_what_is_wrong),
        cmocka_unit_test(every_cut_and_changed_byte_is_survived),
        cmocka_unit_test(many_threads_may_read),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
