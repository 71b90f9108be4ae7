/* SPDX-License-Identifier: BSD-3-Clause
 * Blocks of bzip2 decoded several at once: the same bytes and failures as in order, whatever the
 * data do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/framing.h"
#include "space/sequential/seq_parallel.h"
#include "support/fail_alloc.h"
#include "support/fake/fake.h"

static fake f;
static cip_pool *pool;
static uint8_t *raw;
static size_t nraw;

/* --- bzip2 that tells what it did ------------------------------------------------------------- */

static _Atomic int ntried, ngood;
static int nresumed;
static cip_split_codec counted_split;
static cip_stream_codec counted_stream;
static cip_codec counted;

static bool counted_decode(cip_mem *mem, const cip_checkpoint *like, const cip_split_piece *piece,
                           uint8_t *dst, size_t *len)
{
    bool good = cip_codec_find("bzip2")->stream->split->decode(mem, like, piece, dst, len);
    ntried++;
    ngood += good;
    return good;
}

static cip_status counted_resume(const void *args, const cip_codec_env *env,
                                 const cip_checkpoint *from, void **state, cip_err *err)
{
    nresumed++;
    return cip_codec_find("bzip2")->stream->resume(args, env, from, state, err);
}

static int setup(void **state)
{
    (void)state;
    counted = *cip_codec_find("bzip2");
    counted_stream = *counted.stream;
    counted_split = *counted_stream.split;
    counted_split.decode = counted_decode;
    counted_split.raw_usual = 100000; /* level 1 */
    counted_stream.split = &counted_split;
    counted_stream.resume = counted_resume;
    counted.stream = &counted_stream;
    return cip_pool_new(3, &pool, NULL) != CIP_OK;
}

static int teardown(void **state)
{
    (void)state;
    cip_pool_free(pool);
    return 0;
}

static void open_with(cip_pool *p, uint64_t cache)
{
    cip_limits l = CIP_LIMITS_INIT;
    l.max_cache = cache;
    fake_open(&f, 1, p, &l);
    ntried = ngood = 0;
    nresumed = 0;
}

/* --- data ------------------------------------------------------------------------------------- */

/* Byte values whose map in each block's head is the 48 bits of a block's beginning. */
static void fill_false(uint8_t *p, size_t n)
{
    uint8_t used[48];
    size_t nused = 0;
    for (unsigned i = 0; i < 48; i++)
        if ((UINT64_C(0x314159265359) >> (47 - i) & 1) != 0)
            used[nused++] = (uint8_t)(32 + i);
    for (size_t i = 0; i < n; i++)
        p[i] = used[p[i] % nused];
}

static uint8_t *noise(size_t n)
{
    uint32_t x = 2463534242u;
    raw = malloc(n);
    nraw = n;
    assert_non_null(raw);
    for (size_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        raw[i] = (uint8_t)(x >> 9);
    }
    return raw;
}

static uint8_t *encode(size_t *len)
{
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_codec_env env = { .mem = &mem };
    cip_dst out = { .cap = counted.bound(nraw) };
    out.ptr = malloc(out.cap);
    assert_int_equal(counted.encode(NULL, &env, 1, (cip_bytes){ raw, nraw }, &out, NULL), CIP_OK);
    *len = out.len;
    return out.ptr;
}

static cip_space *space_of(const uint8_t *coded, size_t len, uint64_t total)
{
    cip_space *s;
    cip_step step = { .codec = &counted };
    cip_extent at = { f.layout->file, fake_append(&f, coded, len), len };
    assert_int_equal(cip_space_new_seq(f.layout, &at, total, &step, &s, NULL), CIP_OK);
    return s;
}

static void assert_reads(cip_space *s, uint64_t off, size_t n)
{
    uint8_t *b = malloc(n + 1);
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_space_read_at(&f.how, s, off, b, n, &err), CIP_OK);
    assert_memory_equal(b, raw + off, n);
    assert_int_equal(err.code, 0);
    free(b);
}

enum { MANY = 950000 }; /* ten blocks */

/* --- sound data ------------------------------------------------------------------------------- */

static int take(void *user, const uint8_t *p, size_t n)
{
    size_t *at = user;
    assert_memory_equal(p, raw + *at, n);
    *at += n;
    return 0;
}

static void all_of_it_is_decoded_piece_by_piece(void **state)
{
    (void)state;
    size_t len;
    noise(MANY);
    uint8_t *coded = encode(&len);
    for (int way = 0; way < 3; way++) {
        size_t at = 0;
        open_with(pool, way == 0 ? 1 : 100u << 20); /* to us; to the cache; from it */
        cip_space *s = space_of(coded, len, nraw);
        if (way == 2)
            assert_int_equal(cip_space_stream(&f.how, s, 10000, take, &at, NULL), CIP_OK);
        else
            assert_reads(s, way == 0 ? 0 : nraw / 2, way == 0 ? nraw : 1000);
        if (way == 2)
            assert_int_equal(at, nraw);
        assert_true(ngood >= 9 && ngood <= 10);
        assert_int_equal(ngood, ntried);
        assert_int_equal(nresumed, 1); /* for the end */
        fake_close(&f);
    }
    free(coded);
    free(raw);
}

static void one_thread_decodes_in_order(void **state)
{
    (void)state;
    size_t len;
    noise(300000);
    uint8_t *coded = encode(&len);
    open_with(NULL, 1);
    assert_reads(space_of(coded, len, nraw), 0, nraw);
    assert_int_equal(ntried, 0);
    assert_int_equal(nresumed, 0);
    fake_close(&f);
    free(coded);
    free(raw);
}

static void a_window_decodes_no_further_than_it_needs(void **state)
{
    (void)state;
    size_t len;
    noise(MANY);
    uint8_t *coded = encode(&len);
    open_with(pool, 1);
    cip_space *s = space_of(coded, len, nraw);
    assert_reads(s, 100, 90000); /* one block */
    assert_int_equal(ntried, 0);
    assert_reads(s, 95000, 250000); /* the rest of the first, then three */
    assert_true(ntried >= 3 && ntried <= 4);
    assert_reads(s, 345000, 50); /* goes on where that ended */
    assert_true(ntried <= 4);
    assert_reads(s, 800000, 100000); /* what lies before is decoded at once */
    assert_true(ngood >= 6 && ngood <= 9);
    fake_close(&f);
    free(coded);
    free(raw);
}

static uint64_t ninput; /* stored bytes taken by decoders in order */

static cip_status counted_step(void *state, cip_flow *io, cip_err *err)
{
    cip_status st = cip_codec_find("bzip2")->stream->step(state, io, err);
    if (st == CIP_OK)
        ninput += io->took;
    return st;
}

static void each_block_that_went_by_is_a_checkpoint(void **state)
{
    (void)state;
    size_t len;
    noise(MANY);
    uint8_t *coded = encode(&len);
    counted_stream.step = counted_step;
    for (int i = 0; i < 2; i++) {
        open_with(pool, 1);
        cip_checkpoints_free(f.layout->checkpoints); /* small ones half a block apart */
        assert_int_equal(cip_checkpoints_new(f.layout->env, 1 << 20, UINT64_C(8) * 50000,
                                             &f.layout->checkpoints, NULL),
                         CIP_OK);
        cip_space *s = space_of(coded, len, nraw);
        if (i == 0)
            assert_reads(s, 0, nraw); /* all of it; up to the last block */
        else
            assert_reads(s, 900000, 10);
        int tried = ntried, resumed = nresumed;
        assert_true(cip_checkpoints_count(f.layout->checkpoints, NULL) >= 8);
        for (uint64_t off = 50000; off < nraw; off += 200000) {
            ninput = 0;
            f.tuning.seq_in = f.tuning.checkpoint_jump = 1000;
            assert_reads(s, nraw - off, 100);
            assert_true(ninput <= 110000); /* a block */
        }
        assert_int_equal(ntried, tried);
        assert_true(nresumed > resumed + 2);
        fake_close(&f);
    }
    counted_stream.step = cip_codec_find("bzip2")->stream->step;
    free(coded);
    free(raw);
}

static void a_gap_in_a_read_is_gone_through_at_once(void **state)
{
    (void)state;
    size_t len;
    noise(MANY);
    uint8_t *coded = encode(&len), b[3][10];
    open_with(pool, 1);
    cip_space *s = space_of(coded, len, nraw);
    const cip_want want[] = { { 10, 10, b[0] }, { 90000, 10, b[1] }, { 380000, 10, b[2] } };
    assert_int_equal(cip_space_read(&f.how, s, want, 3, NULL), CIP_OK);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(b[i], raw + want[i].off, 10);
    assert_int_equal(ntried, 4); /* from the beginning on, though the first wants lie near */
    fake_close(&f);
    free(coded);
    free(raw);
}

static void windows_equal_those_of_one_thread(void **state)
{
    (void)state;
    size_t len;
    fill_false(noise(MANY), MANY);
    memset(raw + 300000, 7, 200000);
    uint8_t *coded = encode(&len);
    open_with(pool, 1);
    cip_space *s = space_of(coded, len, nraw);
    for (int i = 0; i < 12; i++) {
        uint64_t off = fake_pick(&f, 0, nraw - 1);
        size_t n = (size_t)fake_pick(&f, 0, fake_chance(&f, 3) ? nraw - off : (nraw - off) / 8);
        assert_reads(s, off, n);
    }
    fake_close(&f);
    free(coded);
    free(raw);
}

/* --- data that do not split ------------------------------------------------------------------- */

static void false_places_are_decoded_in_order(void **state)
{
    (void)state;
    size_t len;
    fill_false(noise(MANY), MANY);
    uint8_t *coded = encode(&len);
    open_with(pool, 1);
    assert_reads(space_of(coded, len, nraw), 0, nraw);
    assert_int_equal(ngood, 0); /* from a beginning to a false one, always */
    assert_true(ntried != 0 && ntried < 30);
    fake_close(&f);
    free(raw);
    fill_false(noise(MANY), 150000); /* only the first two blocks have them */
    free(coded);
    coded = encode(&len);
    open_with(pool, 1);
    assert_reads(space_of(coded, len, nraw), 0, nraw);
    assert_true(ngood >= 5);
    fake_close(&f);
    free(coded);
    free(raw);
}

static void pieces_that_grow_far_are_decoded_in_order(void **state)
{
    (void)state;
    size_t len;
    noise(16000000);
    memset(raw, 0, nraw); /* five million to a block */
    uint8_t *coded = encode(&len);
    open_with(pool, 1);
    assert_reads(space_of(coded, len, nraw), 0, nraw);
    assert_true(ngood >= 1 && ngood <= 2); /* the last one is short */
    assert_true(ntried < 12);
    fake_close(&f);
    free(coded);
    free(raw);
}

/* A thousand blocks of ten bytes, joined as an encoder of pieces does it. */
static uint8_t *tiny_blocks(size_t *len)
{
    enum { BLOCKS = 1000, EACH = 10 };
    const cip_framing *framing = cip_framing_find("bzip2");
    uint8_t *out = calloc(BLOCKS, 100), piece[1000];
    uint64_t pos = 0, all = 0;
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    noise(BLOCKS * EACH);
    for (size_t i = 0; i <= BLOCKS; i++) {
        cip_framing_piece p = { .first = i == 0,
                                .raw = { raw + i * EACH, EACH },
                                .out = { piece, sizeof piece, 0 } };
        if (i == BLOCKS)
            p.out.len = 8 * framing->tail(all, piece);
        else
            assert_int_equal(framing->encode(&mem, 1, &p, NULL), CIP_OK);
        for (size_t k = 0; k < p.out.len; k++, pos++)
            out[pos / 8] |= (uint8_t)((piece[k / 8] >> (7 - k % 8) & 1) << (7 - pos % 8));
        framing->join(&all, p.sum, EACH);
    }
    *len = (size_t)((pos + 7) / 8);
    return out;
}

static void tiny_pieces_are_seldom_tried(void **state)
{
    (void)state;
    size_t len;
    uint8_t *coded = tiny_blocks(&len);
    open_with(pool, 1);
    counted_split.raw_usual = 100;
    assert_reads(space_of(coded, len, nraw), 0, nraw);
    counted_split.raw_usual = 100000;
    assert_true(ntried >= 6 && ntried < 200); /* of a thousand */
    assert_int_equal(ngood, ntried);
    fake_close(&f);
    free(coded);
    free(raw);
}

/* --- bad data --------------------------------------------------------------------------------- */

/* What a read says with threads is what it says without. */
static void assert_same(const uint8_t *coded, size_t len, uint64_t total, uint64_t off, size_t n)
{
    cip_status st[2];
    cip_err err[2] = { CIP_ERR_INIT, CIP_ERR_INIT };
    uint8_t *b[2];
    for (int i = 0; i < 2; i++) {
        open_with(i == 0 ? NULL : pool, 1);
        b[i] = malloc(n + 1);
        st[i] = cip_space_read_at(&f.how, space_of(coded, len, total), off, b[i], n, &err[i]);
        fake_close(&f);
    }
    assert_int_equal(st[0], st[1]);
    assert_string_equal(err[0].text, err[1].text);
    if (st[0] == CIP_OK)
        assert_memory_equal(b[0], b[1], n);
    free(b[0]);
    free(b[1]);
}

static void damage_is_told_as_by_one_thread(void **state)
{
    (void)state;
    size_t len;
    noise(600000);
    uint8_t *coded = encode(&len);
    for (size_t at = 3; at < 6; at++) {
        size_t i = len * at / 7;
        coded[i] ^= 4;
        assert_same(coded, len, nraw, 0, nraw);
        assert_same(coded, len, nraw, 1000, nraw * at / 9); /* it lies behind */
        assert_same(coded, len, nraw, nraw - 1000, 900);
        coded[i] ^= 4;
    }
    coded[len - 3] ^= 16; /* the checksum of all */
    assert_same(coded, len, nraw, 0, nraw);
    assert_same(coded, len, nraw, 1000, nraw - 2000);
    coded[len - 3] ^= 16;
    for (size_t cut = len; cut > 10; cut = cut * 2 / 3 - 5)
        assert_same(coded, cut, nraw, 0, nraw);
    assert_same(coded, len, nraw + 1, 0, nraw + 1); /* it holds fewer, more */
    assert_same(coded, len, nraw - 1, 0, nraw - 1);
    assert_same(coded, len, nraw - 250000, 1, nraw - 250001);
    free(coded);
    free(raw);
}

static void a_lack_of_memory_is_told_or_got_over(void **state)
{
    (void)state;
    size_t len, nfine = 0, nfailed = 0;
    noise(350000);
    uint8_t *coded = encode(&len), *b = malloc(nraw);
    for (size_t at = 1; nfine < 12; at++) {
        fail_alloc alloc = { 0 };
        cip_allocator from = { fail_alloc_resize, &alloc };
        cip_limits l = CIP_LIMITS_INIT;
        l.max_cache = 1;
        fake_open_from(&f, 1, pool, &l, &from);
        cip_space *s = space_of(coded, len, nraw);
        alloc.fail_at = alloc.requests + at;
        cip_status st = cip_space_read_at(&f.how, s, 0, b, nraw, NULL);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        if (st == CIP_OK)
            assert_memory_equal(b, raw, nraw);
        nfine += st == CIP_OK;
        nfailed += st != CIP_OK;
        fake_close(&f);
        assert_int_equal(alloc.held, 0);
    }
    assert_true(nfailed >= 5);
    free(b);
    free(coded);
    free(raw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_is_decoded_piece_by_piece),
        cmocka_unit_test(one_thread_decodes_in_order),
        cmocka_unit_test(a_window_decodes_no_further_than_it_needs),
        cmocka_unit_test(each_block_that_went_by_is_a_checkpoint),
        cmocka_unit_test(a_gap_in_a_read_is_gone_through_at_once),
        cmocka_unit_test(windows_equal_those_of_one_thread),
        cmocka_unit_test(false_places_are_decoded_in_order),
        cmocka_unit_test(pieces_that_grow_far_are_decoded_in_order),
        cmocka_unit_test(tiny_pieces_are_seldom_tried),
        cmocka_unit_test(damage_is_told_as_by_one_thread),
        cmocka_unit_test(a_lack_of_memory_is_told_or_got_over),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
