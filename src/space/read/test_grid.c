/* SPDX-License-Identifier: BSD-3-Clause
 * n-d chunks: where their elements lie, and which of them a window touches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/pool.h"
#include "space/read/grid.h"
#include "space/read/reader.h"
#include "support/own_fake.h"

static const int64_t shape[2] = { 7, 10 }, chunk[2] = { 3, 4 }, stored[2] = { 3, 5 };

static cip_grid grid(bool wider)
{
    return (cip_grid){
        .itemsize = 2, .ndim = 2, .shape = shape, .chunk = chunk, .stored = wider ? stored : NULL
    };
}

static cip_grid_chunk at(const cip_grid *g, int64_t i, int64_t j)
{
    cip_grid_chunk c;
    int64_t coord[2] = { i, j };
    cip_grid_chunk_at(g, coord, &c);
    return c;
}

static void chunks_are_numbered_and_shaped_as_stored(void **state)
{
    (void)state;
    cip_grid g = grid(false);
    cip_grid_chunk c = at(&g, 2, 1);
    assert_int_equal(cip_grid_nchunk(&g, 0), 3);
    assert_int_equal(cip_grid_nchunk(&g, 1), 3);
    assert_int_equal(c.i, 7);
    assert_int_equal(c.first[0], 6);
    assert_int_equal(c.first[1], 4);
    assert_int_equal(c.raw_len, 24);
    assert_int_equal(c.stride[0], 8);
    assert_int_equal(c.stride[1], 2);
    g = grid(true);
    c = at(&g, 2, 2);
    assert_int_equal(c.raw_len, 30);
    assert_int_equal(c.stride[0], 10);
    g.ndim = 0;
    c = at(&g, 0, 0);
    assert_int_equal(c.i, 0);
    assert_int_equal(c.raw_len, 2);
}

/* --- which chunks are asked for --------------------------------------------------------------- */

static unsigned asked; /* bit i: chunk i */
static int nasked;
static bool wrong_len;

static cip_status ask(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    (void)self;
    (void)err;
    assert_int_equal(n, 1);
    assert_true(i < 32);
    asked |= 1U << i;
    nasked++;
    static uint8_t value[1];
    value[0] = (uint8_t)i;
    out->state = CIP_CHUNK_VALUE;
    out->value = value;
    out->value_len = 1;
    out->raw_len = wrong_len ? 23 : 0;
    return CIP_OK;
}

static cip_status count(void *self, uint64_t *n, cip_err *err)
{
    (void)self;
    (void)err;
    *n = 9;
    return CIP_OK;
}

static cip_space *space(const cip_grid *g)
{
    cip_table t = { .at = ask, .count = count };
    cip_space *s;
    asked = 0;
    nasked = 0;
    wrong_len = false;
    assert_int_equal(cip_space_new_grid(f.layout, g, &t, NULL, 0, &s, NULL), CIP_OK);
    return s;
}

static uint8_t out[400];

static cip_status gather(cip_space *s, const cip_nd *from, cip_err *err)
{
    cip_cast c;
    cip_nd to;
    cip_kind kind = from->itemsize == 1 ? CIP_U8 : CIP_U16;
    memset(out, 0xEE, sizeof out);
    assert_int_equal(cip_view_c_order(from->ndim, from->shape, from->itemsize, &to, NULL), CIP_OK);
    assert_int_equal(
        cip_cast_make(cip_dtype_of(kind), cip_dtype_of(kind), CIP_OVERFLOW_ERROR, &c, NULL),
        CIP_OK);
    return cip_space_gather(&f.how, s, &(cip_transfer){ from, &c, &to, out }, NULL, err);
}

static void check_window(const char *selection, unsigned chunks)
{
    cip_nd all, window;
    cip_selection sel;
    cip_grid g = grid(false);
    cip_space *s = space(&g);
    assert_int_equal(cip_view_c_order(2, shape, 2, &all, NULL), CIP_OK);
    assert_int_equal(cip_selection_parse(selection, &sel, NULL), CIP_OK);
    assert_int_equal(cip_view_select(&all, &sel, &window, NULL, NULL), CIP_OK);
    assert_int_equal(gather(s, &window, NULL), CIP_OK);
    assert_int_equal(asked, chunks);
    assert_int_equal(nasked, __builtin_popcount(chunks));
}

static void a_window_asks_for_the_chunks_it_touches(void **state)
{
    (void)state;
    check_window("[:, :]", 0x1FF);
    check_window("[0:3, 0:4]", 1);
    check_window("[0:3, 3:5]", 3);
    check_window("[2:4, 4:8]", 1 << 1 | 1 << 4);
    check_window("[6, 9]", 1 << 8);
    check_window("[::-1, 0]", 1 | 1 << 3 | 1 << 6);
    check_window("[0:3, ::5]", 1 | 1 << 1);
    check_window("[0, ::9]", 1 | 1 << 2); /* steps over a chunk */
    check_window("[::6, ::-9]", 0x145);   /* the corners */
    check_window("[0, ::4]", 7);          /* a step of a chunk */
    check_window("[5:0:-3, 1]", 1 | 1 << 3);
    check_window("[3:3]", 0);
    check_window("[0, 3:0:-1]", 1);
    check_window("[2::4, 2::5]", 0xC3);
}

static void values_come_from_the_chunk_they_lie_in(void **state)
{
    (void)state;
    cip_nd all;
    cip_grid g = grid(false);
    cip_space *s = space(&g);
    assert_int_equal(cip_view_c_order(2, shape, 2, &all, NULL), CIP_OK);
    assert_int_equal(gather(s, &all, NULL), CIP_OK);
    for (int64_t i = 0; i < 7; i++)
        for (int64_t j = 0; j < 10; j++) {
            uint8_t v = (uint8_t)(3 * (i / 3) + j / 4);
            assert_int_equal(out[2 * (10 * i + j)], v);
            assert_int_equal(out[2 * (10 * i + j) + 1], v);
        }
}

static cip_nd view2(int64_t n0, int64_t n1, int64_t s0, int64_t s1, uint64_t off, uint64_t size)
{
    return (cip_nd){
        .off = off, .itemsize = size, .ndim = 2, .shape = { n0, n1 }, .stride = { s0, s1 }
    };
}

static void views_that_are_boxes_are_seen(void **state)
{
    (void)state;
    static const struct {
        cip_nd view;
        bool box;
    } cases[] = {
        { { .off = 0, .itemsize = 2, .ndim = 2, .shape = { 7, 10 }, .stride = { 20, 2 } }, true },
        { { .off = 0, .itemsize = 2, .ndim = 2, .shape = { 10, 7 }, .stride = { 2, 20 } }, true },
        { { .off = 138, .itemsize = 2, .ndim = 2, .shape = { 7, 10 }, .stride = { -20, -2 } },
          true },
        { { .off = 0, .itemsize = 2, .ndim = 1, .shape = { 7 }, .stride = { 22 } }, false },
        { { .off = 0, .itemsize = 2, .ndim = 1, .shape = { 20 }, .stride = { 2 } }, false },
        { { .off = 2, .itemsize = 2, .ndim = 1, .shape = { 10 }, .stride = { 2 } }, false },
        { { .off = 2, .itemsize = 2, .ndim = 1, .shape = { 9 }, .stride = { 2 } }, true },
        { { .off = 0, .itemsize = 2, .ndim = 1, .shape = { 7 }, .stride = { 0 } }, true },
        { { .off = 1, .itemsize = 1, .ndim = 1, .shape = { 10 }, .stride = { 2 } }, true },
        { { .off = 1, .itemsize = 2, .ndim = 1, .shape = { 9 }, .stride = { 2 } }, false },
        { { .off = 0, .itemsize = 1, .ndim = 2, .shape = { 10, 2 }, .stride = { 2, 1 } }, true },
        { { .off = 1, .itemsize = 1, .ndim = 2, .shape = { 10, 2 }, .stride = { 2, -1 } }, true },
        { { .off = 0, .itemsize = 1, .ndim = 1, .shape = { 3 }, .stride = { 1 } }, false },
        { { .off = 2, .itemsize = 1, .ndim = 1, .shape = { 2 }, .stride = { -1 } }, false },
        { { .off = 0, .itemsize = 2, .ndim = 2, .shape = { 3, 3 }, .stride = { 2, 2 } }, false },
        { { .off = 40, .itemsize = 2, .ndim = 1, .shape = { 3 }, .stride = { -20 } }, true },
        { { .off = 20, .itemsize = 2, .ndim = 1, .shape = { 11 }, .stride = { -2 } }, false },
        { { .off = 0, .itemsize = 4, .ndim = 1, .shape = { 7 }, .stride = { 20 } }, false },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cip_grid g = grid(false);
        cip_space *s = space(&g);
        cip_nd to = cases[k].view;
        bool done;
        cip_cast c;
        cip_gather gg = { .rd = cip_rd_make(&f.how), .s = s, .cast = &c, .dst = out };
        const cip_dtype *d;
        assert_int_equal(cip_dtype_opaque(&f.layout->arena, to.itemsize, NULL, &d, NULL), CIP_OK);
        assert_int_equal(cip_cast_make(d, d, CIP_OVERFLOW_ERROR, &c, NULL), CIP_OK);
        assert_int_equal(cip_view_c_order(to.ndim, to.shape, to.itemsize, &to, NULL), CIP_OK);
        pthread_mutex_init(&gg.lock, NULL);
        cip_walk_make(&cases[k].view, &to, false, &gg.w);
        assert_int_equal(cip_gather_grid(&gg, &cases[k].view, &to, &done, NULL), CIP_OK);
        if (done != cases[k].box)
            fail_msg("case %zu", k);
        pthread_mutex_destroy(&gg.lock);
    }
}

static void a_reshaped_axis_may_be_walked_by_two(void **state)
{
    (void)state;
    /* Ten elements of an axis that lies in one chunk, as five pairs. */
    const int64_t one[1] = { 10 };
    cip_grid g = { .itemsize = 2, .ndim = 1, .shape = one, .chunk = one };
    cip_nd v = view2(5, 2, 4, 2, 0, 2);
    assert_int_equal(gather(space(&g), &v, NULL), CIP_OK);
    assert_int_equal(nasked, 1);
    assert_int_equal(out[19], 0);
    assert_int_equal(out[20], 0xEE);
    v = view2(5, 3, 4, 2, 0, 2); /* overlapping, and beyond the end */
    assert_int_equal(gather(space(&g), &v, NULL), CIP_ERR_RANGE);
    v = view2(4, 3, 4, 2, 0, 2);
    assert_int_equal(gather(space(&g), &v, NULL), CIP_OK);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void a_chunk_of_another_length_is_corrupt(void **state)
{
    (void)state;
    cip_grid g = grid(false);
    cip_space *s = space(&g);
    cip_nd all;
    cip_err err = CIP_ERR_INIT;
    uint8_t b[10];
    s->label = "data";
    wrong_len = true;
    assert_int_equal(cip_view_c_order(2, shape, 2, &all, NULL), CIP_OK);
    assert_int_equal(gather(s, &all, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.part, "data, chunk 0");
    assert_string_equal(err.text, "expected a chunk of 24 bytes, found 23");
    assert_int_equal(cip_space_read_at(&f.how, s, 10, b, 10, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.part, "data, chunk 1");
}

static void a_view_beyond_the_array_is_out_of_range(void **state)
{
    (void)state;
    cip_grid g = grid(false);
    cip_nd v = view2(7, 10, 20, 2, 2, 2);
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(gather(space(&g), &v, &err), CIP_ERR_RANGE);
    assert_string_equal(err.text, "expected 140 bytes at 2, found the end at 140");
    v = view2(7, 10, 20, -2, 0, 2);
    assert_int_equal(gather(space(&g), &v, &err), CIP_ERR_RANGE);
    assert_int_equal(nasked, 0);
}

static cip_status no_count(void *self, uint64_t *n, cip_err *err)
{
    (void)self;
    (void)n;
    return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET, "the index is cut off");
}

static void an_index_that_fails_fails_the_read(void **state)
{
    (void)state;
    cip_grid g = grid(false);
    cip_space *s = space(&g);
    cip_nd v = view2(7, 10, 20, 2, 0, 2);
    uint8_t b[10];
    s->table.count = no_count;
    assert_int_equal(gather(s, &v, NULL), CIP_ERR_TRUNCATED);
    assert_int_equal(cip_space_read_at(&f.how, s, 10, b, 10, NULL), CIP_ERR_TRUNCATED);
}

/* --- spans ------------------------------------------------------------------------------------ */

static void spans_of_any_cut_are_right(void **state)
{
    (void)state;
    const int64_t sh[3] = { 4, 5, 6 };
    for (unsigned seed = 0; seed < 40; seed++) {
        fake_close(&f);
        fake_open(&f, seed, NULL, NULL);
        f.tuning.grid_pieces = seed % 2 == 0 ? 1 << 16 : 3;
        uint8_t *bytes = fake_random(&f, 4 * 5 * 6 * 3), b[360];
        cip_space *s = fake_grid(&f, sh, 3, 3, bytes, 0);
        for (size_t lo = 0; lo <= 360; lo += 7)
            for (size_t hi = lo; hi <= 360; hi += 13) {
                assert_int_equal(cip_space_read_at(&f.how, s, lo, b, hi - lo, NULL), CIP_OK);
                assert_memory_equal(b, bytes + lo, hi - lo);
            }
    }
}

static void the_largest_array_there_can_be_is_read_at_its_end(void **state)
{
    (void)state;
    const int64_t most[1] = { INT64_MAX - 1 },
                  each[1] = { INT64_MAX / 2 }; /* no chunk ends later */
    cip_grid g = { .itemsize = 1, .ndim = 1, .shape = most, .chunk = each };
    cip_space *s = space(&g);
    uint8_t b[10];
    assert_int_equal(cip_space_read_at(&f.how, s, INT64_MAX - 11, b, 10, NULL), CIP_OK);
    assert_int_equal(asked, 2);
    assert_int_equal(b[9], 1);
    cip_nd v = { .off = 1, .itemsize = 1, .ndim = 1, .shape = { 2 }, .stride = { INT64_MAX - 3 } };
    assert_int_equal(gather(s, &v, NULL), CIP_OK);
    assert_int_equal(asked, 3);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 1);
}

static void an_array_of_no_elements_has_no_bytes(void **state)
{
    (void)state;
    const int64_t none[2] = { 0, 10 };
    cip_grid g = { .itemsize = 2, .ndim = 2, .shape = none, .chunk = chunk };
    cip_space *s = space(&g);
    cip_nd v = view2(0, 10, 20, 2, 0, 2);
    assert_int_equal(cip_space_read_at(&f.how, s, 0, out, 0, NULL), CIP_OK);
    assert_int_equal(cip_space_read_at(&f.how, s, 0, out, 1, NULL), CIP_ERR_RANGE);
    assert_int_equal(gather(s, &v, NULL), CIP_OK);
    assert_int_equal(nasked, 0);
}

/* --- chunks of blocks ------------------------------------------------------------------------- */

enum { BLOCK = 6, NBLOCK = 8 }; /* a chunk of 8 x 6 bytes in blocks of 2 x 3 */

static _Atomic unsigned decoded; /* bit i: block i */
static _Atomic int ndecoded, ncall;
static _Atomic size_t wanted; /* bytes */

/* Stored byte i stands for raw byte i: what is planned is what is read. */
static cip_status block_needs(const void *args, const cip_codec_env *env, cip_bytes head,
                              const cip_wants *w, cip_needs *needs, cip_err *err)
{
    (void)args, (void)env, (void)head, (void)err;
    ncall++;
    for (size_t i = 0; i < w->n; i++) {
        assert_true(i < needs->max);
        if (f.tuning.run_work > BLOCK) { /* blocks are wanted whole */
            assert_int_equal(w->at[i].off % BLOCK, 0);
            assert_int_equal(w->at[i].len, BLOCK);
        }
        wanted += w->at[i].len;
        decoded |= 1U << w->at[i].off / BLOCK;
        ndecoded++;
        needs->at[needs->n++] = (cip_need){ w->at[i].off, w->at[i].len };
    }
    return CIP_OK;
}

static cip_status block_spans(const void *args, const cip_codec_env *env, const cip_stored *src,
                              const cip_wants *w, cip_err *err)
{
    (void)args, (void)env, (void)src, (void)err;
    for (size_t i = 0; i < w->n; i++)
        for (size_t k = 0; k < w->at[i].len; k++)
            w->at[i].dst[k] = (uint8_t)(w->at[i].off + k);
    return CIP_OK;
}

static cip_status block_all(const void *args, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                            size_t dst_len, cip_err *err)
{
    (void)args, (void)env, (void)src, (void)err;
    decoded = (1U << NBLOCK) - 1;
    for (size_t k = 0; k < dst_len; k++)
        dst[k] = (uint8_t)k;
    return CIP_OK;
}

static const cip_codec by_block = {
    .name = "by block", .decode = block_all, .needs = block_needs, .decode_spans = block_spans
};

/* The chunk itself speaks of pieces of 4 bytes. */
static cip_status fours_needs(const void *args, const cip_codec_env *env, cip_bytes head,
                              const cip_wants *w, cip_needs *needs, cip_err *err)
{
    (void)args, (void)env, (void)head, (void)err;
    needs->unit = w->at->off / 4 * 4;
    needs->unit_end = needs->unit + 4;
    return CIP_OK;
}

static const cip_codec by_four = {
    .name = "by four", .decode = block_all, .needs = fours_needs, .decode_spans = block_spans
};

static cip_space *blocked_space(void)
{
    static const int64_t all[2] = { 7, 6 }, piece[2] = { 2, 3 }, whole[2] = { 8, 6 };
    const cip_grid g = { .itemsize = 1,
                         .ndim = 2,
                         .blocked = true,
                         .shape = all,
                         .chunk = whole,
                         .stored = whole,
                         .block = piece };
    const cip_step step = { .codec = &by_block };
    const uint8_t *raw = fake_random(&f, NBLOCK * BLOCK);
    cip_chunk c = { .at = { .len = NBLOCK * BLOCK } };
    cip_table t;
    cip_space *s;
    assert_int_equal(
        cip_space_new_mem(f.layout, (cip_bytes){ raw, NBLOCK * BLOCK }, &c.at.in, NULL), CIP_OK);
    assert_int_equal(cip_table_from_array(f.layout, &c, 1, &t, NULL), CIP_OK);
    assert_int_equal(cip_space_new_grid(f.layout, &g, &t, &step, 1, &s, NULL), CIP_OK);
    return s;
}

/* Element (i, j): block (i / 2, j / 3), and in it (i % 2, j % 3). */
static uint8_t element(int64_t i, int64_t j)
{
    return (uint8_t)((i / 2 * 2 + j / 3) * BLOCK + i % 2 * 3 + j % 3);
}

static void check_blocks(cip_space *s, int64_t i, int64_t j, int64_t ni, int64_t nj, unsigned want)
{
    cip_nd from = { .itemsize = 1, .off = (uint64_t)(i * 6 + j), .ndim = 2 };
    from.shape[0] = ni;
    from.shape[1] = nj;
    from.stride[0] = 6;
    from.stride[1] = 1;
    decoded = 0;
    ndecoded = ncall = 0;
    wanted = 0;
    assert_int_equal(gather(s, &from, NULL), CIP_OK);
    for (int64_t a = 0; a < ni; a++)
        for (int64_t b = 0; b < nj; b++)
            assert_int_equal(out[a * nj + b], element(i + a, j + b));
    assert_int_equal(decoded, want);
}

static void a_window_costs_the_blocks_it_touches(void **state)
{
    (void)state;
    check_blocks(blocked_space(), 0, 0, 1, 1, 1);
    check_blocks(blocked_space(), 1, 2, 2, 2, 0xF);
    check_blocks(blocked_space(), 6, 4, 1, 2, 1 << 7);
    check_blocks(blocked_space(), 2, 0, 2, 6, 3 << 2);
    check_blocks(blocked_space(), 0, 0, 7, 1, 0x55);
    check_blocks(blocked_space(), 0, 0, 7, 6, 0xFF); /* all of it: at once */
}

static void blocks_of_which_a_part_was_used_again_are_kept(void **state)
{
    (void)state;
    cip_space *s = blocked_space();
    check_blocks(s, 1, 2, 2, 1, 1 | 1 << 2);
    check_blocks(s, 1, 2, 2, 1, 1 | 1 << 2);
    check_blocks(s, 0, 0, 3, 2, 1 | 1 << 2);
    check_blocks(s, 0, 0, 4, 3, 0);
    check_blocks(s, 0, 1, 1, 3, 1 << 1);
    check_blocks(s, 2, 3, 2, 3, 1 << 3); /* all of the block: not kept */
    check_blocks(s, 2, 3, 2, 3, 1 << 3);
    check_blocks(s, 2, 3, 1, 1, 1 << 3);
    check_blocks(s, 3, 3, 1, 1, 0);
}

static void check_wanted(int64_t i, int64_t j, int64_t ni, int64_t nj, unsigned want, size_t nbytes)
{
    check_blocks(blocked_space(), i, j, ni, nj, want);
    assert_int_equal(wanted, nbytes);
}

static void a_few_short_runs_of_a_block_are_wanted_alone(void **state)
{
    (void)state;
    f.tuning.run_work = 3; /* up to two */
    check_wanted(0, 1, 1, 2, 1, 2);
    check_wanted(0, 1, 2, 1, 1, 2);
    check_wanted(2, 0, 1, 6, 3 << 2, 6);
    check_wanted(1, 1, 3, 1, 1 | 1 << 2, 3);
    check_wanted(0, 0, 2, 2, 1, BLOCK);     /* more than half */
    check_wanted(0, 0, 3, 2, 5, BLOCK + 2); /* of one block */
    check_wanted(0, 0, 3, 3, 5, BLOCK + 3); /* all of one */
    f.tuning.run_work = 6;                  /* only one */
    check_wanted(0, 1, 2, 1, 1, BLOCK);
    check_wanted(0, 1, 1, 2, 1, 2);
    cip_space *s = blocked_space(); /* kept are whole blocks */
    check_blocks(s, 0, 1, 1, 2, 1);
    check_blocks(s, 0, 1, 1, 2, 1);
    assert_int_equal(wanted, 2);
    check_blocks(s, 0, 1, 1, 2, 1);
    assert_int_equal(wanted, BLOCK);
    check_blocks(s, 0, 0, 2, 3, 0);
}

static void threads_share_the_blocks_of_a_chunk_if_much_of_it_is_wanted(void **state)
{
    (void)state;
    cip_pool *pool;
    assert_int_equal(cip_pool_new(2, &pool, NULL), CIP_OK);
    f.how.pool = pool;
    for (size_t job = 12; job <= 13; job++) {
        f.tuning.job = job;
        check_blocks(blocked_space(), 0, 0, 4, 6, 0xF);
        assert_int_equal(ndecoded, 4);
        assert_int_equal(ncall, job == 12 ? 2 : 1);
        check_blocks(blocked_space(), 0, 0, 2, 6, 3);
        assert_int_equal(ncall, 1);
        check_blocks(blocked_space(), 0, 0, 7, 6, 0xFF); /* all of it, by one */
        assert_int_equal(ncall, 0);
    }
    f.tuning.job = 1; /* a block each, one for none, and what is kept */
    cip_space *s = blocked_space();
    for (unsigned i = 0; i < 3; i++)
        check_blocks(s, 1, 0, 1, 6, 3);
    check_blocks(s, 1, 0, 1, 6, 0);
    check_blocks(s, 1, 2, 1, 1, 0);
    f.how.pool = NULL;
    cip_pool_free(pool);
}

static void what_is_kept_of_a_chunk_with_other_blocks_is_not_taken_for_one(void **state)
{
    (void)state;
    cip_space *s = blocked_space();
    uint8_t b;
    s->step[0].codec = &by_four;
    for (int i = 0; i < 3; i++) /* element (0, 0) */
        assert_int_equal(cip_space_read_at(&f.how, s, 0, &b, 1, NULL), CIP_OK);
    check_blocks(s, 0, 0, 2, 2, 0);
}

static void grids_of_blocks_that_cannot_be_are_refused(void **state)
{
    (void)state;
    cip_grid g = grid(false);
    cip_table t = { .at = ask, .count = count };
    cip_space *s;
    const int64_t block[2] = { 3, 2 }, odd[2] = { 2, 2 }, none[2] = { 3, 0 };
    g.blocked = true;
    assert_int_equal(cip_space_new_grid(f.layout, &g, &t, NULL, 0, &s, NULL), CIP_ERR_ARG);
    g.block = block;
    assert_int_equal(cip_space_new_grid(f.layout, &g, &t, NULL, 0, &s, NULL), CIP_OK);
    g.block = odd;
    assert_int_equal(cip_space_new_grid(f.layout, &g, &t, NULL, 0, &s, NULL), CIP_ERR_CORRUPT);
    g.block = none;
    assert_int_equal(cip_space_new_grid(f.layout, &g, &t, NULL, 0, &s, NULL), CIP_ERR_CORRUPT);
    assert_null(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(chunks_are_numbered_and_shaped_as_stored),
        TEST(a_window_asks_for_the_chunks_it_touches),
        TEST(values_come_from_the_chunk_they_lie_in),
        TEST(views_that_are_boxes_are_seen),
        TEST(a_reshaped_axis_may_be_walked_by_two),
        TEST(a_chunk_of_another_length_is_corrupt),
        TEST(a_view_beyond_the_array_is_out_of_range),
        TEST(an_index_that_fails_fails_the_read),
        TEST(spans_of_any_cut_are_right),
        TEST(the_largest_array_there_can_be_is_read_at_its_end),
        TEST(an_array_of_no_elements_has_no_bytes),
        TEST(a_window_costs_the_blocks_it_touches),
        TEST(blocks_of_which_a_part_was_used_again_are_kept),
        TEST(a_few_short_runs_of_a_block_are_wanted_alone),
        TEST(threads_share_the_blocks_of_a_chunk_if_much_of_it_is_wanted),
        TEST(what_is_kept_of_a_chunk_with_other_blocks_is_not_taken_for_one),
        TEST(grids_of_blocks_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
