/* SPDX-License-Identifier: BSD-3-Clause
 * How many requests reads of a far file make: an io that records them, Blosc chunks in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/blosc/blosc.h"
#include "space/read/far.h"
#include "space/read/reader.h"

/* 2 x 2 chunks of 512 x 512 numbers in blocks of 64 x 64: noise, so that a block takes 16 KiB. */
enum { SIDE = 1024, CHUNK = 512, BLOCK = 64, NCHUNK = 4, CHUNK_LEN = CHUNK * CHUNK * 4 };

typedef struct rig {
    cip_env env;
    cip_layout *layout;
    cip_read_how how;
    cip_space *grid, *linear;
    uint32_t *array;
    uint8_t *file;
    uint64_t size;
    unsigned calls, ranges; /* requests since they were set to 0 */
    bool fails;
} rig;

static cip_status rig_size(void *user, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((rig *)user)->size;
    return CIP_OK;
}

static cip_status rig_read(void *user, const cip_range *r, size_t n, cip_err *err)
{
    rig *g = user;
    g->calls++;
    g->ranges += (unsigned)n;
    if (g->fails)
        return cip_fail(err, CIP_ERR_IO, r->offset, "the line is dead");
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || r[i].offset >= r[i - 1].offset + r[i - 1].nbytes);
        memcpy(r[i].dst, g->file + r[i].offset, r[i].nbytes);
    }
    return CIP_OK;
}

/* Element `j` of chunk `i`, in the order of blocks, as an element of the array. */
static size_t element_of(size_t i, size_t j)
{
    size_t block = j / (BLOCK * BLOCK), in = j % (BLOCK * BLOCK), across = CHUNK / BLOCK;
    size_t row = i / 2 * CHUNK + block / across * BLOCK + in / BLOCK;
    return row * SIDE + i % 2 * CHUNK + block % across * BLOCK + in % BLOCK;
}

static void store_chunk(rig *g, size_t i, cip_chunk *out)
{
    const cip_blosc_spec spec = {
        .typesize = 4, .compcode = CIP_BLOSC_LZ4, .level = 5, .blocksize = BLOCK * BLOCK * 4
    };
    uint32_t *raw = malloc(CHUNK_LEN);
    size_t n;
    for (size_t j = 0; j < CHUNK * CHUNK; j++)
        raw[j] = g->array[element_of(i, j)];
    assert_int_equal(cip_blosc_encode(&g->env.mem, &spec, (cip_bytes){ (uint8_t *)raw, CHUNK_LEN },
                                      g->file + g->size, cip_blosc_stored_bound(CHUNK_LEN), &n,
                                      NULL),
                     CIP_OK);
    *out = (cip_chunk){ .at = { .off = g->size, .len = n },
                        .raw_off = i * CHUNK_LEN,
                        .raw_len = CHUNK_LEN };
    g->size += n + 10000; /* something between */
    free(raw);
}

static void make_spaces(rig *g, cip_chunk *c)
{
    static const int64_t shape[] = { SIDE, SIDE }, chunk[] = { CHUNK, CHUNK },
                         block[] = { BLOCK, BLOCK };
    const cip_grid grid = {
        .itemsize = 4, .ndim = 2, .blocked = true, .shape = shape, .chunk = chunk, .block = block
    };
    const cip_step step = { .codec = &cip_codec_blosc };
    cip_table t;
    for (size_t i = 0; i < NCHUNK; i++)
        c[i].at.in = g->layout->file;
    assert_int_equal(cip_table_from_array(g->layout, c, NCHUNK, &t, NULL), CIP_OK);
    assert_int_equal(cip_space_new_grid(g->layout, &grid, &t, &step, 1, &g->grid, NULL), CIP_OK);
    assert_int_equal(
        cip_space_new_chunked(g->layout, &t, NCHUNK * CHUNK_LEN, &step, 1, &g->linear, NULL),
        CIP_OK);
}

static int setup(void **state)
{
    static const cip_io_methods methods = { CIP_IO_METHODS_INIT, .read_ranges = rig_read,
                                            .size = rig_size };
    rig *g = calloc(1, sizeof *g);
    cip_chunk c[NCHUNK];
    uint32_t x = 1;
    cip_io *io;
    assert_int_equal(cip_env_init(&g->env, NULL, NULL, NULL, NULL), CIP_OK);
    g->array = malloc(SIDE * SIDE * 4);
    g->file = calloc(NCHUNK, CHUNK_LEN + 20000);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        g->array[i] = (x = x * 1664525 + 1013904223) & 0xFFFFFF;
    for (size_t i = 0; i < NCHUNK; i++)
        store_chunk(g, i, &c[i]);
    assert_int_equal(cip_io_open_user(&g->env, &methods, g, &io, NULL), CIP_OK);
    io->far = true;
    assert_int_equal(cip_layout_new(&g->env, io, &g->layout, NULL), CIP_OK);
    g->layout->owns_io = true;
    g->how.layout = g->layout;
    make_spaces(g, c);
    *state = g;
    return 0;
}

static int teardown(void **state)
{
    rig *g = *state;
    cip_layout_free(g->layout);
    cip_env_clear(&g->env);
    free(g->array);
    free(g->file);
    free(g);
    return 0;
}

/* Reads a window of the grid and compares it; the number of requests it took. */
static unsigned window(rig *g, int64_t row, int64_t col, int64_t nrow, int64_t ncol)
{
    const cip_dtype *d = cip_dtype_of(CIP_U32);
    cip_nd from = { .itemsize = 4,
                    .ndim = 2,
                    .shape = { nrow, ncol },
                    .stride = { SIDE * 4, 4 },
                    .off = (uint64_t)(row * SIDE + col) * 4 };
    cip_nd to = from;
    cip_cast cast;
    uint32_t *out = malloc((size_t)(nrow * ncol) * 4);
    to.off = 0;
    to.stride[0] = ncol * 4;
    assert_int_equal(cip_cast_make(d, d, CIP_OVERFLOW_CLAMP, &cast, NULL), CIP_OK);
    g->calls = g->ranges = 0;
    assert_int_equal(cip_space_gather(&g->how, g->grid,
                                      &(cip_transfer){ &from, &cast, &to, (uint8_t *)out }, NULL,
                                      NULL),
                     CIP_OK);
    for (int64_t i = 0; i < nrow; i++)
        assert_memory_equal(out + i * ncol, g->array + (row + i) * SIDE + col, (size_t)ncol * 4);
    free(out);
    return g->calls;
}

static void a_window_of_one_block_takes_its_head_and_its_block(void **state)
{
    rig *g = *state;
    assert_int_equal(window(g, 130, 200, 3, 3), 2);
    assert_int_equal(g->ranges, 2);
    assert_int_equal(window(g, 140, 210, 3, 3), 0); /* the block is kept */
    assert_int_equal(window(g, 200, 200, 3, 3), 1); /* another block: the head is kept */
}

static void a_window_over_four_chunks_takes_as_many_requests(void **state)
{
    rig *g = *state;
    assert_int_equal(window(g, 510, 510, 4, 4), 2);
    assert_int_equal(g->ranges, 8);
    assert_int_equal(window(g, 500, 500, 4, 4), 0);
    assert_int_equal(window(g, 446, 510, 4, 4), 1); /* four blocks in the upper two */
}

static void whole_neighbours_come_in_one_request(void **state)
{
    rig *g = *state;
    assert_int_equal(window(g, 0, 0, SIDE, SIDE) <= 3, true);
}

static void linear_chunks_are_joined_too(void **state)
{
    rig *g = *state;
    uint8_t *b = malloc(3000);
    g->calls = 0;
    assert_int_equal(cip_space_read_at(&g->how, g->linear, CHUNK_LEN - 1000, b, 3000, NULL),
                     CIP_OK);
    assert_int_equal(g->calls, 2);
    g->calls = 0;
    assert_int_equal(cip_space_read_at(&g->how, g->linear, CHUNK_LEN - 900, b, 2000, NULL), CIP_OK);
    assert_int_equal(g->calls, 0);
    free(b);
}

/* In pieces of 256 KiB it would take 17. */
static void data_in_order_take_requests_that_grow(void **state)
{
    rig *g = *state;
    const cip_codec *zlib = cip_codec_find("zlib");
    const cip_codec_env env = { .mem = &g->env.mem };
    const cip_bytes raw = { (const uint8_t *)g->array, SIDE * SIDE * 4 };
    const cip_step step = { .codec = zlib };
    cip_extent at = { .in = g->layout->file };
    uint8_t b[9];
    cip_space *s;
    cip_dst to = { g->file, (size_t)g->size, 0 };
    assert_int_equal(zlib->encode(NULL, &env, 1, raw, &to, NULL), CIP_OK);
    at.len = to.len;
    assert_true(at.len > 3 << 20);
    assert_int_equal(cip_space_new_seq(g->layout, &at, raw.len, &step, &s, NULL), CIP_OK);
    g->calls = 0;
    assert_int_equal(cip_space_read_at(&g->how, s, raw.len / 16 - 9, b, 9, NULL), CIP_OK);
    assert_memory_equal(b, raw.ptr + raw.len / 16 - 9, 9);
    assert_int_equal(g->calls, 1);
    assert_int_equal(cip_space_read_at(&g->how, s, raw.len - 9, b, 9, NULL), CIP_OK);
    assert_memory_equal(b, raw.ptr + raw.len - 9, 9);
    assert_int_equal(g->calls, 2);
}

static void a_request_that_fails_is_told_by_the_read(void **state)
{
    rig *g = *state;
    uint8_t b[100];
    cip_err err = CIP_ERR_INIT;
    g->fails = true;
    assert_int_equal(cip_space_read_at(&g->how, g->linear, CHUNK_LEN - 50, b, 100, &err),
                     CIP_ERR_IO);
    assert_string_equal(err.text, "the line is dead");
    g->fails = false;
    assert_int_equal(cip_space_read_at(&g->how, g->linear, CHUNK_LEN - 50, b, 100, NULL), CIP_OK);
    assert_int_equal(atomic_load(&g->env.mem.used) != 0, true);
}

static void a_small_read_takes_what_follows(void **state)
{
    rig *g = *state;
    uint8_t b[200];
    for (uint64_t off = 0; off < 4000; off += 200) {
        assert_int_equal(cip_space_read_at(&g->how, g->layout->file, off, b, 200, NULL), CIP_OK);
        assert_memory_equal(b, g->file + off, 200);
    }
    assert_int_equal(g->calls, 1);
    assert_int_equal(cip_space_read_at(&g->how, g->layout->file, g->size - 7, b, 7, NULL), CIP_OK);
    assert_int_equal(cip_space_read_at(&g->how, g->layout->file, g->size - 7, b, 8, NULL),
                     CIP_ERR_RANGE);
    assert_int_equal(g->calls, 2);
}

/* Rows of raw data: what lies between them costs less than a request for each. */
static unsigned raw_rows(rig *g, int64_t nrow, int64_t ncol, int64_t apart)
{
    const cip_dtype *d = cip_dtype_of(CIP_U8);
    const cip_nd from = {
        .itemsize = 1, .ndim = 2, .shape = { nrow, ncol }, .stride = { apart, 1 }, .off = 100
    };
    cip_nd to = from;
    cip_cast cast;
    uint8_t *out = malloc((size_t)(nrow * ncol));
    to.off = 0;
    to.stride[0] = ncol;
    assert_int_equal(cip_cast_make(d, d, CIP_OVERFLOW_CLAMP, &cast, NULL), CIP_OK);
    g->calls = g->ranges = 0;
    assert_int_equal(cip_space_gather(&g->how, g->layout->file,
                                      &(cip_transfer){ &from, &cast, &to, out }, NULL, NULL),
                     CIP_OK);
    for (int64_t i = 0; i < nrow; i++)
        assert_memory_equal(out + i * ncol, g->file + 100 + i * apart, (size_t)ncol);
    free(out);
    return g->ranges;
}

static void rows_near_each_other_are_read_as_one(void **state)
{
    rig *g = *state;
    assert_true(raw_rows(g, 1000, 400, 4096) <= 8);     /* 1000 rows in one range for each call */
    assert_int_equal(raw_rows(g, 20, 5000, 90000), 20); /* cheaper by themselves than joined */
    assert_true(atomic_load(&g->env.mem.used) < 20 << 20);
}

/* More pieces than are kept, in any order and overlapping: what is read is what is there. */
static void what_is_kept_is_bounded_and_right(void **state)
{
    rig *g = *state;
    uint8_t *b = malloc(100000);
    uint32_t x = 7;
    for (int k = 0; k < 2000; k++) {
        cip_need need[3];
        for (size_t i = 0; i < 3; i++) {
            x = x * 1664525 + 1013904223;
            need[i] = (cip_need){ x % (g->size - 100000), (x >> 8) % 60000 };
        }
        const cip_range r = { need[1].off + need[1].len / 3, (size_t)(need[1].len / 2), b };
        cip_far_expect(g->layout->far, need, 3);
        if (r.nbytes != 0) {
            assert_int_equal(cip_far_read(g->layout->far, &r, 1, NULL), CIP_OK);
            assert_memory_equal(b, g->file + r.offset, r.nbytes);
        }
        assert_true(atomic_load(&g->env.mem.used) < 20 << 20);
    }
    assert_true(g->calls <= 2000);
    free(b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_window_of_one_block_takes_its_head_and_its_block),
        TEST(a_window_over_four_chunks_takes_as_many_requests),
        TEST(whole_neighbours_come_in_one_request),
        TEST(linear_chunks_are_joined_too),
        TEST(data_in_order_take_requests_that_grow),
        TEST(a_request_that_fails_is_told_by_the_read),
        TEST(a_small_read_takes_what_follows),
        TEST(rows_near_each_other_are_read_as_one),
        TEST(what_is_kept_is_bounded_and_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
