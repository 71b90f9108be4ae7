/* SPDX-License-Identifier: BSD-3-Clause
 * Spaces decoded in order: kept whole when small, gone on with when large. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "space/read/reader.h"
#include "support/own_fake.h"

static void with_cache(uint64_t max)
{
    cip_limits l = CIP_LIMITS_INIT;
    l.max_cache = max;
    fake_close(&f);
    fake_open(&f, 1, NULL, &l);
}

/* --- a codec that tells how much it did ------------------------------------------------------- */

typedef struct plain_state {
    cip_mem *mem;
    uint64_t seen;
} plain_state;

static uint64_t nstreamed; /* bytes, by all decoders */
static int nbegun, ndecoded;
static uint64_t ends_after;   /* the stream says that nothing follows; 0: at the end of its input */
static uint64_t breaks_after; /* the data are damaged there; 0: nowhere */

static cip_status plain_begin(const void *args, const cip_codec_env *env, void **state,
                              cip_err *err)
{
    (void)args;
    plain_state *s;
    CIP_TRY(CIP_NEW(env->mem, &s, 1, err));
    s->mem = env->mem;
    nbegun++;
    *state = s;
    return CIP_OK;
}

static cip_status plain_step(void *state, cip_flow *io, cip_err *err)
{
    plain_state *s = state;
    size_t n = io->in_len < io->out_len ? io->in_len : io->out_len;
    if (ends_after != 0 && n > ends_after - s->seen)
        n = (size_t)(ends_after - s->seen);
    if (breaks_after != 0 && n > breaks_after - s->seen)
        n = (size_t)(breaks_after - s->seen);
    if (breaks_after != 0 && s->seen == breaks_after)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "damaged data");
    if (n != 0)
        memcpy(io->out, io->in, n);
    io->end = (io->last && n == io->in_len) || (ends_after != 0 && s->seen + n == ends_after);
    io->took = io->gave = n;
    s->seen += n;
    nstreamed += n;
    return CIP_OK;
}

static void plain_finish(void *state)
{
    plain_state *s = state;
    if (s != NULL)
        cip_mem_put(s->mem, s);
}

static const cip_stream_codec plain_stream = { .begin = plain_begin,
                                               .step = plain_step,
                                               .finish = plain_finish };

static cip_status plain_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                               uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args;
    (void)env;
    ndecoded++;
    if (src.len != dst_len || breaks_after != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected %zu bytes, found %zu",
                        dst_len, src.len);
    memcpy(dst, src.ptr, dst_len);
    return CIP_OK;
}

static const cip_codec plain = { .name = "plain", .decode = plain_decode, .stream = &plain_stream };
static const cip_codec plain_whole = { .name = "plain", .decode = plain_decode };

static uint8_t *raw;

static cip_space *seq_of(const cip_codec *codec, size_t stored, size_t len)
{
    cip_space *s;
    cip_step step = { .codec = codec };
    raw = fake_random(&f, stored);
    cip_extent at = { f.layout->file, fake_append(&f, raw, stored), stored };
    nstreamed = 0;
    nbegun = ndecoded = 0;
    ends_after = 0;
    assert_int_equal(cip_space_new_seq(f.layout, &at, len, &step, &s, NULL), CIP_OK);
    return s;
}

static void assert_reads(cip_space *s, uint64_t off, size_t n)
{
    uint8_t *b = fake_keep(&f, n);
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_space_read_at(&f.how, s, off, b, n, &err), CIP_OK);
    assert_memory_equal(b, raw + off, n);
    assert_int_equal(err.code, 0);
}

static cip_status read_at(cip_space *s, uint64_t off, size_t n, cip_err *err)
{
    return cip_space_read_at(&f.how, s, off, fake_keep(&f, n), n, err);
}

/* --- small ones ------------------------------------------------------------------------------- */

static void all_of_it_is_decoded_at_once(void **state)
{
    (void)state;
    cip_space *s = seq_of(&plain, 1000, 1000);
    assert_reads(s, 0, 1000);
    assert_int_equal(ndecoded, 1);
    assert_int_equal(nbegun, 0);
    assert_int_equal(cip_cache_nbytes(f.layout->cache), 0); /* it went straight to us */
}

static void a_first_look_at_its_beginning_stops_early(void **state)
{
    (void)state;
    cip_space *s = seq_of(&plain, 1000, 1000);
    f.tuning.seq_in = 10;
    assert_reads(s, 25, 100);
    assert_int_equal(ndecoded, 0);
    assert_int_equal(nstreamed, 125);
    assert_reads(s, 25, 100); /* a second look decodes it for all who come */
    assert_reads(s, 500, 100);
    assert_reads(s, 0, 1000);
    assert_int_equal(ndecoded, 1);
    assert_int_equal(nbegun, 1);
    assert_int_equal(cip_cache_nbytes(f.layout->cache), 1000);
}

/* As a read of an array does. */
static cip_status gather(cip_space *s, uint64_t off, size_t n)
{
    cip_cast c;
    cip_nd from = {
        .itemsize = 1, .ndim = 1, .shape = { (int64_t)n }, .stride = { 1 }, .off = off
    };
    cip_nd to = from;
    uint8_t *out = fake_keep(&f, n);
    to.off = 0;
    assert_int_equal(cip_cast_make(cip_dtype_fixed(CIP_U8, false), cip_dtype_fixed(CIP_U8, false),
                                   CIP_OVERFLOW_ERROR, &c, NULL),
                     CIP_OK);
    cip_status st = cip_space_gather(&f.how, s, &(cip_transfer){ &from, &c, &to, out }, NULL, NULL);
    if (st == CIP_OK)
        assert_memory_equal(out, raw + off, n);
    return st;
}

static void an_array_at_its_beginning_stops_early_too(void **state)
{
    (void)state;
    cip_space *s = seq_of(&plain, 1000, 1000);
    f.tuning.seq_in = 10;
    assert_int_equal(gather(s, 25, 100), CIP_OK);
    assert_int_equal(ndecoded, 0);
    assert_int_equal(nstreamed, 125);
    assert_int_equal(gather(s, 25, 100), CIP_OK);
    assert_int_equal(ndecoded, 1);
}

/* Whatever was read before. */
static void damage_behind_a_window_does_not_matter(void **state)
{
    (void)state;
    for (int arrays = 0; arrays < 2; arrays++) {
        breaks_after = 1000;
        cip_space *s = seq_of(&plain, 1001, 1001);
        for (int i = 0; i < 3; i++) {
            static const struct {
                uint64_t off;
                size_t n;
                cip_status st;
            } rows[] = { { 25, 100, CIP_OK },
                         { 500, 400, CIP_OK },
                         { 0, 1000, CIP_OK },
                         { 990, 11, CIP_ERR_CORRUPT },
                         { 0, 1001, CIP_ERR_CORRUPT } };
            for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
                assert_int_equal(arrays ? gather(s, rows[k].off, rows[k].n)
                                        : read_at(s, rows[k].off, rows[k].n, NULL),
                                 rows[k].st);
        }
        assert_true(ndecoded <= 7); /* once for it all, and for what goes to the end */
        cip_space *whole = seq_of(&plain_whole, 1001, 1001);
        assert_int_equal(gather(whole, 25, 100), CIP_ERR_CORRUPT); /* it cannot be had otherwise */
        breaks_after = 0;
    }
}

static void a_look_further_in_decodes_it_whole(void **state)
{
    (void)state;
    cip_space *s = seq_of(&plain, 1000, 1000);
    assert_reads(s, 25, 101);
    assert_int_equal(ndecoded, 1);
    s = seq_of(&plain_whole, 1000, 1000);
    assert_reads(s, 0, 1);
    assert_int_equal(ndecoded, 1);
}

static void views_of_one_stream_share_its_decoding(void **state)
{
    (void)state;
    cip_space *s = seq_of(&plain, 800, 800);
    cip_cast c;
    assert_int_equal(cip_cast_make(cip_dtype_fixed(CIP_U16, true), cip_dtype_fixed(CIP_U16, false),
                                   CIP_OVERFLOW_ERROR, &c, NULL),
                     CIP_OK);
    for (int64_t i = 0; i < 20; i++) {
        uint8_t out[20];
        cip_nd from = { .itemsize = 2, .ndim = 1, .shape = { 10 }, .stride = { -4 } }, to = from;
        from.off = 400 + (uint64_t)i;
        to.stride[0] = 2;
        assert_int_equal(
            cip_space_gather(&f.how, s, &(cip_transfer){ &from, &c, &to, out }, NULL, NULL),
            CIP_OK);
        assert_int_equal(out[0], raw[401 + i]);
        assert_int_equal(out[19], raw[400 + i - 36]);
    }
    assert_int_equal(ndecoded, 1);
    assert_int_equal(nbegun, 0);
}

/* --- large ones ------------------------------------------------------------------------------- */

static void going_through_in_pieces_costs_one_pass(void **state)
{
    (void)state;
    with_cache(1000);
    cip_space *s = seq_of(&plain, 10000, 10000);
    f.tuning.seq_in = 64;
    for (uint64_t off = 0; off < 10000; off += 100)
        assert_reads(s, off, 100);
    assert_int_equal(nbegun, 1);
    assert_int_equal(nstreamed, 10000);
    assert_int_equal(ndecoded, 0);
    assert_reads(s, 500, 10); /* back: begun anew */
    assert_int_equal(nbegun, 2);
    assert_reads(s, 600, 10); /* on, with a gap */
    assert_int_equal(nbegun, 2);
    assert_int_equal(nstreamed, 10610);
    assert_reads(s, 609, 10); /* one byte back */
    assert_int_equal(nbegun, 3);
}

static void more_than_half_of_it_is_decoded_whole(void **state)
{
    (void)state;
    with_cache(1000);
    cip_space *s = seq_of(&plain, 10000, 10000);
    assert_reads(s, 100, 5000);
    assert_int_equal(ndecoded, 0);
    assert_reads(s, 100, 5001);
    assert_int_equal(ndecoded, 1);
    assert_int_equal(cip_cache_nbytes(f.layout->cache), 0);
    f.env.mem.limit = atomic_load(&f.env.mem.used); /* no room for that: in order then */
    cip_err err = CIP_ERR_INIT;
    uint8_t *b = fake_keep(&f, 10000);
    f.env.mem.limit += 9000;
    assert_int_equal(cip_space_read_at(&f.how, s, 0, b, 10000, &err), CIP_OK);
    assert_memory_equal(b, raw, 10000);
    f.env.mem.limit = UINT64_MAX;
}

static void without_a_stream_it_is_decoded_whole(void **state)
{
    (void)state;
    with_cache(1000);
    cip_space *s = seq_of(&plain_whole, 10000, 10000);
    f.env.mem.limit = 1;
    assert_int_equal(read_at(s, 100, 10, NULL), CIP_ERR_LIMIT);
    assert_int_equal(ndecoded, 0);
    assert_int_equal(read_at(s, 0, 10000, NULL), CIP_OK); /* from memory to where it goes */
    f.env.mem.limit = UINT64_MAX;
    assert_reads(s, 100, 10);
    assert_int_equal(ndecoded, 2);
}

static void several_spans_are_one_pass(void **state)
{
    (void)state;
    with_cache(1000);
    uint8_t b[40];
    cip_space *s = seq_of(&plain, 10000, 10000);
    cip_want w[4] = { { 5, 10, b }, { 100, 0, b }, { 5000, 10, b + 10 }, { 9990, 10, b + 20 } };
    assert_int_equal(cip_space_read(&f.how, s, w, 4, NULL), CIP_OK);
    assert_memory_equal(b, raw + 5, 10);
    assert_memory_equal(b + 10, raw + 5000, 10);
    assert_memory_equal(b + 20, raw + 9990, 10);
    assert_int_equal(nbegun, 1);
    assert_int_equal(nstreamed, 10000);
    assert_int_equal(cip_space_read(&f.how, s, &w[1], 1, NULL), CIP_OK);
    assert_int_equal(nbegun, 1);
}

static void only_a_few_decoders_are_put_aside(void **state)
{
    (void)state;
    with_cache(100);
    cip_space *s[10];
    for (size_t i = 0; i < 10; i++) {
        s[i] = seq_of(&plain, 1000, 1000);
        assert_reads(s[i], 0, 10);
    }
    uint8_t *last = raw;
    nbegun = 0;
    uint8_t b[10];
    for (size_t i = 2; i < 10; i++)
        assert_int_equal(cip_space_read_at(&f.how, s[i], 20, b, 10, NULL), CIP_OK);
    assert_memory_equal(b, last + 20, 10);
    assert_int_equal(nbegun, 0);
    assert_int_equal(cip_space_read_at(&f.how, s[1], 20, b, 10, NULL), CIP_OK);
    assert_int_equal(nbegun, 1); /* its own was given up for others */
    assert_int_equal(cip_space_read_at(&f.how, s[3], 30, b, 10, NULL), CIP_OK);
    assert_int_equal(nbegun, 1);
    assert_int_equal(cip_space_read_at(&f.how, s[2], 30, b, 10, NULL), CIP_OK);
    assert_int_equal(nbegun, 2); /* and this one for s[1], as the oldest */
}

static void the_nearest_decoder_before_is_taken(void **state)
{
    (void)state;
    with_cache(100);
    cip_space *s = seq_of(&plain, 1000, 1000);
    cip_rd rd = cip_rd_make(&f.how);
    cip_seq *q[3];
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(cip_seq_begin(&rd, &s->step[0], &s->codec_env, &s->sub, &q[i], NULL),
                         CIP_OK);
        assert_int_equal(cip_seq_take(&rd, q[i], NULL, 100 + 100 * (i * 2 % 3), NULL), CIP_OK);
        cip_decoders_give(f.layout->decoders, s->id, q[i]); /* at 100, 300, 200 */
    }
    assert_null(cip_decoders_take(f.layout->decoders, s->id, 99));
    assert_null(cip_decoders_take(f.layout->decoders, s->id + 1, 500));
    cip_seq *got = cip_decoders_take(f.layout->decoders, s->id, 299);
    assert_ptr_equal(got, q[2]);
    assert_int_equal(cip_seq_pos(got), 200);
    cip_seq_free(got);
    got = cip_decoders_take(f.layout->decoders, s->id, 300);
    assert_ptr_equal(got, q[1]);
    cip_seq_free(got);
}

static void decoders_put_aside_give_way_when_memory_is_short(void **state)
{
    (void)state;
    with_cache(100);
    cip_space *s = seq_of(&plain, 1000, 1000);
    cip_rd rd = cip_rd_make(&f.how);
    cip_mem *mem = &rd.env->mem;
    cip_seq *q;
    uint8_t *more;
    uint64_t before = mem->used, limit = mem->limit;
    assert_int_equal(cip_seq_begin(&rd, &s->step[0], &s->codec_env, &s->sub, &q, NULL), CIP_OK);
    uint64_t held = mem->used - before;
    cip_decoders_give(f.layout->decoders, s->id, q);
    mem->limit = mem->used; /* nothing is left */
    cip_status st = cip_buffer_pool_get(rd.buffers, (size_t)held / 2, &more, NULL);
    mem->limit = limit;
    assert_int_equal(st, CIP_OK);
    assert_null(cip_decoders_take(f.layout->decoders, s->id, 1000));
    cip_mem_put(mem, more);
}

/* --- data that do not fit --------------------------------------------------------------------- */

static void what_goes_to_the_end_of_a_large_one_takes_no_memory_for_it(void **state)
{
    (void)state;
    with_cache(1000);
    cip_space *s = seq_of(&plain, 10000, 10000);
    assert_reads(s, 100, 9900);
    assert_int_equal(ndecoded, 0);
    assert_int_equal(nstreamed, 10000);
}

static void fewer_bytes_than_told_are_an_error(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    cip_space *s = seq_of(&plain, 1000, 1001);
    s->label = "block 2";
    assert_int_equal(read_at(s, 0, 1001, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.part, "block 2");
    with_cache(100);
    s = seq_of(&plain, 1000, 1001);
    s->label = "block 2";
    assert_int_equal(read_at(s, 989, 10, &err), CIP_OK);
    assert_int_equal(read_at(s, 990, 10, &err), CIP_ERR_CORRUPT); /* the end is met there */
    assert_string_equal(err.text, "expected 1001 decoded bytes, found 1000");
    assert_int_equal(read_at(s, 990, 11, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.part, "block 2");
    assert_string_equal(err.text, "expected 1 more bytes, found the end of the data after 1000");
}

static void more_bytes_than_told_are_an_error(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    cip_space *s = seq_of(&plain, 1000, 999);
    assert_int_equal(read_at(s, 0, 999, &err), CIP_ERR_CORRUPT);
    with_cache(100);
    s = seq_of(&plain, 1000, 999);
    assert_int_equal(read_at(s, 0, 998, &err), CIP_ERR_CORRUPT); /* tried whole: then it is known */
    assert_int_equal(read_at(s, 900, 98, &err), CIP_OK);         /* in order: nobody looks behind */
    assert_int_equal(read_at(s, 900, 99, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "expected 999 bytes, found more");
}

static void what_follows_the_end_of_the_data_does_not_matter(void **state)
{
    (void)state;
    with_cache(100);
    cip_space *s = seq_of(&plain, 1000, 900);
    ends_after = 900;
    assert_reads(s, 890, 10);
    ends_after = 890;
    assert_int_equal(read_at(s, 885, 10, NULL), CIP_ERR_CORRUPT);
}

static cip_status stuck_step(void *state, cip_flow *io, cip_err *err)
{
    (void)state, (void)err;
    io->took = io->gave = 0;
    return CIP_OK;
}

static void a_decoder_that_is_stuck_is_left(void **state)
{
    (void)state;
    static const cip_stream_codec stream = { .begin = plain_begin,
                                             .step = stuck_step,
                                             .finish = plain_finish };
    static const cip_codec stuck = { .name = "stuck", .decode = plain_decode, .stream = &stream };
    cip_err err = CIP_ERR_INIT;
    with_cache(100);
    cip_space *s = seq_of(&stuck, 1000, 1000);
    assert_int_equal(read_at(s, 0, 1, &err), CIP_ERR_TRUNCATED);
    assert_string_equal(err.text, "the stored data end after 0 bytes");
    f.tuning.seq_in = 10;
    assert_int_equal(read_at(s, 0, 1, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "the data stop after 0 bytes");
}

/* Takes three bytes at once, or none. */
static cip_status triple_step(void *state, cip_flow *io, cip_err *err)
{
    (void)state, (void)err;
    size_t n = io->in_len < 3 && !io->last ? 0 : io->in_len < 3 ? io->in_len : 3;
    n = n > io->out_len ? 0 : n;
    if (n != 0)
        memcpy(io->out, io->in, n);
    io->end = io->last && n == io->in_len;
    io->took = io->gave = n;
    return CIP_OK;
}

static void input_that_was_left_comes_again_with_more(void **state)
{
    (void)state;
    static const cip_stream_codec stream = { .begin = plain_begin,
                                             .step = triple_step,
                                             .finish = plain_finish };
    static const cip_codec triple = { .name = "triple", .decode = plain_decode, .stream = &stream };
    with_cache(100);
    cip_space *s = seq_of(&triple, 999, 999);
    f.tuning.seq_in = 4;
    assert_reads(s, 0, 99);
    assert_reads(s, 99, 300);
}

static void stored_data_beyond_the_file_are_truncated(void **state)
{
    (void)state;
    cip_space *s = seq_of(&plain, 1000, 1000);
    cip_err err = CIP_ERR_INIT;
    s->sub.off = FAKE_FILE_MAX - 999;
    assert_int_equal(read_at(s, 0, 10, &err), CIP_ERR_TRUNCATED);
    assert_int_equal(err.offset, FAKE_FILE_MAX - 999);
    assert_int_equal(read_at(s, 0, 1000, &err), CIP_ERR_TRUNCATED);
}

static void a_chain_of_streams_is_read_through(void **state)
{
    (void)state;
    with_cache(100);
    uint8_t *bytes = fake_random(&f, 5000), b[5000];
    cip_codec_env env = { .typesize = 1 };
    cip_step z = { .codec = cip_codec_find("zlib") }, t = { .codec = &fake_trickle };
    fake_bytes inner = fake_encode(&f, t.codec, &env, bytes, 5000);
    fake_bytes outer = fake_encode(&f, z.codec, &env, inner.ptr, inner.len);
    cip_extent at = { f.layout->file, fake_append(&f, outer.ptr, outer.len), outer.len };
    cip_space *mid, *s;
    assert_int_equal(cip_space_new_seq(f.layout, &at, inner.len, &z, &mid, NULL), CIP_OK);
    at = (cip_extent){ mid, 0, inner.len };
    assert_int_equal(cip_space_new_seq(f.layout, &at, 5000, &t, &s, NULL), CIP_OK);
    for (uint64_t off = 0; off < 5000; off += 500) {
        assert_int_equal(cip_space_read_at(&f.how, s, off, b, 500, NULL), CIP_OK);
        assert_memory_equal(b, bytes + off, 500);
    }
    assert_int_equal(cip_space_read_at(&f.how, s, 0, b, 5000, NULL), CIP_OK);
    assert_memory_equal(b, bytes, 5000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_of_it_is_decoded_at_once),
        TEST(a_first_look_at_its_beginning_stops_early),
        TEST(an_array_at_its_beginning_stops_early_too),
        TEST(damage_behind_a_window_does_not_matter),
        TEST(a_look_further_in_decodes_it_whole),
        TEST(views_of_one_stream_share_its_decoding),
        TEST(going_through_in_pieces_costs_one_pass),
        TEST(more_than_half_of_it_is_decoded_whole),
        TEST(what_goes_to_the_end_of_a_large_one_takes_no_memory_for_it),
        TEST(without_a_stream_it_is_decoded_whole),
        TEST(several_spans_are_one_pass),
        TEST(only_a_few_decoders_are_put_aside),
        TEST(the_nearest_decoder_before_is_taken),
        TEST(decoders_put_aside_give_way_when_memory_is_short),
        TEST(fewer_bytes_than_told_are_an_error),
        TEST(more_bytes_than_told_are_an_error),
        TEST(what_follows_the_end_of_the_data_does_not_matter),
        TEST(a_decoder_that_is_stuck_is_left),
        TEST(input_that_was_left_comes_again_with_more),
        TEST(stored_data_beyond_the_file_are_truncated),
        TEST(a_chain_of_streams_is_read_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
