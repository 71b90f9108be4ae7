/* SPDX-License-Identifier: BSD-3-Clause
 * What small frames may make a reader do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blosc2/b2_testing.h"
#include "support/one_format.h"

enum { EMPTY_TRAILER = 35, NCHUNK = 40 };

/* Chunks of 4 bytes; special ones but the first. */
static b2_make few_data(void)
{
    b2_make m = { .typesize = 4, .chunksize = 4, .nchunk = NCHUNK };
    for (uint32_t i = 1; i < NCHUNK; i++)
        m.special[i] = i % 2 != 0 ? 0x81 : 0x84;
    return m;
}

static cip_status open_with(one_file *f, const b2_make *m, uint64_t max_blocks)
{
    const cip_limits limits = { .size = sizeof limits, .max_blocks = max_blocks };
    b2_bytes b = b2_build(m);
    cip_status st = one_open_limited(f, &cip_format_blosc2, b.ptr, b.len, 0, NULL, &limits);
    free(b.ptr);
    return st;
}

static void special_chunks_are_counted(void **state)
{
    (void)state;
    const b2_make m = few_data();
    one_file f;
    assert_int_equal(open_with(&f, &m, 4 * NCHUNK), CIP_OK);
    one_close(&f);
    assert_int_equal(open_with(&f, &m, 4 * NCHUNK - 4), CIP_ERR_LIMIT);
    one_close(&f);
    b2_make data = { .typesize = 4, .chunksize = 4, .nchunk = NCHUNK }; /* bytes stand for them */
    assert_int_equal(open_with(&f, &data, 4), CIP_OK);
    one_close(&f);
}

/* All chunks with data are the same one. */
static void more_data_than_bytes_are_refused(void **state)
{
    (void)state;
    const b2_make m = few_data();
    const cip_limits limits = { .size = sizeof limits, .max_blocks = 4 * NCHUNK };
    one_file f;
    b2_bytes b = b2_build(&m);
    uint8_t *entry = b.ptr + b.len - EMPTY_TRAILER - 8 * NCHUNK;
    memset(entry + 8, 0, 8);
    assert_int_equal(one_open_limited(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL, &limits),
                     CIP_OK); /* 36 bytes have room for two heads */
    one_close(&f);
    memset(entry + 16, 0, 8);
    assert_int_equal(one_open_limited(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL, &limits),
                     CIP_ERR_CORRUPT);
    one_close(&f);
    free(b.ptr);
}

static void chunk_files_are_counted(void **state)
{
    (void)state;
    b2_make m = few_data();
    one_file f;
    m.sparse = true;
    m.special[1] = m.special[2] = 0;
    assert_int_equal(open_with(&f, &m, 16 * 10), CIP_OK);
    one_close(&f);
    for (uint32_t i = 0; i < 12; i++)
        m.special[i] = 0;
    assert_int_equal(open_with(&f, &m, 16 * 10), CIP_ERR_LIMIT);
    one_close(&f);
}

/* A head that says a block of `block` bytes, in front of 16 bytes. */
static cip_status open_with_index_block(one_file *f, uint32_t nchunk, uint32_t block)
{
    const b2_make m = { .typesize = 4, .chunksize = 4, .nchunk = 2 };
    b2_bytes b = b2_build(&m);
    uint8_t *index = b.ptr + b.len - EMPTY_TRAILER - 32 - 16;
    cip_store_u64(b.ptr + 0x1E, 4 * (uint64_t)nchunk, true);
    index[2] = 0x15; /* not memcpyed */
    cip_store_u32(index + 4, 8 * nchunk, false);
    cip_store_u32(index + 8, block, false);
    const cip_limits limits = { .size = sizeof limits, .max_blocks = UINT64_C(1) << 30 };
    cip_status st = one_open_limited(f, &cip_format_blosc2, b.ptr, b.len, 0, NULL, &limits);
    free(b.ptr);
    return st;
}

static void blocks_of_an_index_have_a_limit(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_with_index_block(&f, 5 << 20, 40 << 20), CIP_ERR_LIMIT);
    assert_non_null(strstr(f.err.text, "in blocks of at most"));
    one_close(&f);
    assert_int_not_equal(open_with_index_block(&f, 2 << 20, 16 << 20), CIP_ERR_LIMIT);
    one_close(&f);
}

/* An index of blocks that are longer than a page and no multiple of an offset. */
static void an_index_may_have_blocks_of_any_length(void **state)
{
    (void)state;
    enum { N = 20000 };
    const b2_make m = { .typesize = 4, .chunksize = 4, .nchunk = 1, .special = { 0x81 } };
    const cip_blosc_spec spec = { .typesize = 1, .level = 5, .blocksize = 40005 };
    b2_bytes b = b2_build(&m);
    uint8_t *raw = calloc(N, 8);
    cip_mem mem;
    size_t n;
    one_file f;
    assert_non_null(raw);
    for (size_t i = 0; i < N; i++)
        raw[8 * i + 7] = i % 3 == 0 ? 0x82 : 0x81;
    cip_mem_init(&mem, NULL, 0);
    uint8_t tail[EMPTY_TRAILER], *index = b.ptr + b.len - EMPTY_TRAILER - 40;
    memcpy(tail, b.ptr + b.len - EMPTY_TRAILER, EMPTY_TRAILER);
    assert_int_equal(
        cip_blosc_encode(&mem, &spec, (cip_bytes){ raw, 8 * N }, index, 40000, &n, NULL), CIP_OK);
    memcpy(index + n, tail, EMPTY_TRAILER);
    b.len = (size_t)(index + n + EMPTY_TRAILER - b.ptr);
    cip_store_u64(b.ptr + 0x10, b.len, true);
    cip_store_u64(b.ptr + 0x1E, 4 * N, true);
    assert_int_equal(one_open(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL), CIP_OK);
    size_t len;
    uint8_t *got = one_read(&f, 0, &len);
    assert_non_null(got);
    assert_int_equal(len, 4 * N);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(cip_load_u32(got + 4 * i, false), i % 3 == 0 ? 0x7fc00000 : 0);
    free(got);
    one_close(&f);
    free(raw);
    free(b.ptr);
}

static void a_chunk_is_not_much_longer_than_what_it_holds(void **state)
{
    (void)state;
    b2_make m = { .typesize = 4, .chunksize = 40, .nchunk = 2, .gap = 1000 };
    b2_bytes b = b2_build(&m);
    uint8_t *head = b.ptr + cip_load_u32(b.ptr + 0x0B, true) + 1000, got[40];
    head[2] = 0x15; /* not memcpyed: one block, which is stored as it is */
    cip_store_u32(head + 12, 64 + 16 * 40 + 16, false);
    memmove(head + 40, head + 32, 40);
    cip_store_u32(head + 32, 36, false);
    cip_store_u32(head + 36, 40, false);
    for (int i = 0; i < 2; i++) {
        one_file f;
        assert_int_equal(one_open(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL), CIP_OK);
        const cip_read_how how = { f.layout, NULL };
        cip_space *s = f.layout->array[0]->space;
        assert_int_equal(cip_space_read_at(&how, s, 0, got, 40, NULL),
                         i == 0 ? CIP_ERR_CORRUPT : CIP_OK);
        one_close(&f);
        cip_store_u32(head + 12, 64 + 16 * 40 + 15, false);
    }
    free(b.ptr);
}

static int count_findings(void *user, const cip_finding *f)
{
    size_t *n = user;
    n[f->severity]++;
    return 0;
}

/* 2^27 chunks, and one thing wrong with all of them. */
static void what_is_wrong_with_all_chunks_is_said_once(void **state)
{
    (void)state;
    b2_make m = { .typesize = 4, .chunksize = 4, .nchunk = 1, .special = { 0x88 } };
    b2_bytes b = b2_build(&m);
    uint8_t *index = b.ptr + b.len - EMPTY_TRAILER - 40;
    size_t found[4] = { 0 };
    one_file f;
    cip_report rep;
    cip_store_u64(b.ptr + 0x1E, 4 * (uint64_t)(1 << 27), true);
    index[2] = 0x15; /* not memcpyed */
    index[31] = 0x30;
    cip_store_u32(index + 4, 8u << 27, false);
    cip_store_u32(index + 8, 16384, false);
    assert_int_equal(one_open(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL), CIP_OK);
    cip_report_init(&rep, &f.env.mem, false, count_findings, found);
    assert_int_equal(cip_format_blosc2.verify(f.layout, false, &rep, &f.err), CIP_OK);
    assert_int_equal(found[CIP_WARN], 1);
    cip_report_clear(&rep);
    one_close(&f);
    free(b.ptr);
}

/* Many names may stand for one value: all of them together have a limit. */
static void values_have_a_limit_together(void **state)
{
    (void)state;
    static const char *const name[] = { "a", "b", "c" };
    b2_make m = { .typesize = 4, .chunksize = 40, .nchunk = 1 };
    b2_bytes value = { malloc(B2_CAP), 0 };
    uint8_t text[1000] = { 0xc5, 1000 / 256, (1000 - 3) % 256 };
    b2_chunk(&value, text, sizeof text, 1, false);
    for (size_t i = 0; i < 3; i++) {
        m.vl_name[i] = name[i];
        m.vl[i] = value.ptr;
        m.vl_len[i] = value.len;
    }
    const cip_limits limits = { .size = sizeof limits, .max_tree_bytes = 4000 };
    b2_bytes b = b2_build(&m);
    one_file f;
    assert_int_equal(one_open_limited(&f, &cip_format_blosc2, b.ptr, b.len, 0, NULL, &limits),
                     CIP_OK);
    assert_int_equal(cip_tree_get(f.layout->tree, "vlmeta/a", NULL)->type, CIP_NODE_BINARY);
    assert_int_equal(cip_tree_get(f.layout->tree, "vlmeta/b", NULL)->type, CIP_NODE_NULL);
    assert_int_equal(cip_tree_get(f.layout->tree, "vlmeta/c", NULL)->type, CIP_NODE_NULL);
    assert_int_equal(f.env.warnings.count[CIP_WARN], 2);
    one_close(&f);
    free(value.ptr);
    free(b.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_chunks_are_counted),
        cmocka_unit_test(more_data_than_bytes_are_refused),
        cmocka_unit_test(chunk_files_are_counted),
        cmocka_unit_test(blocks_of_an_index_have_a_limit),
        cmocka_unit_test(an_index_may_have_blocks_of_any_length),
        cmocka_unit_test(a_chunk_is_not_much_longer_than_what_it_holds),
        cmocka_unit_test(what_is_wrong_with_all_chunks_is_said_once),
        cmocka_unit_test(values_have_a_limit_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
