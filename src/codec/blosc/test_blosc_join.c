/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "codec/blosc/blosc_join.h"
#include "support/codec/blosc/blosc_testing.h"

enum { MOST = 40000, BLOCK = 4096 };

static uint64_t drawn = 7;

static unsigned draw(unsigned n)
{
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(drawn >> 33) % n;
}

typedef struct joined {
    cip_mem mem;
    cip_blosc_spec p;
    cip_blosc_join *j;
    cip_buf head, body;
    cip_err err;
    uint8_t raw[MOST], chunk[MOST + CIP_BLOSC_HEADER];
} joined;

static void begin(joined *t, uint32_t typesize, int compcode, uint8_t filter, uint64_t nbytes)
{
    memset(t, 0, sizeof *t);
    t->err = (cip_err)CIP_ERR_INIT;
    cip_mem_init(&t->mem, NULL, 64 << 20);
    t->head.mem = t->body.mem = &t->mem;
    t->p =
        (cip_blosc_spec){ .typesize = typesize, .compcode = compcode, .level = 5, .blosc1 = true };
    t->p.blocksize = BLOCK / typesize * typesize;
    t->p.filter[CIP_BLOSC_FILTERS - 1] = filter;
    if (cip_blosc_join_new(&t->mem, &t->p, nbytes, &t->j, &t->err) != CIP_OK)
        fail_msg("%s", t->err.text);
}

static void end(joined *t)
{
    cip_blosc_join_free(t->j);
    cip_buf_clear(&t->head);
    cip_buf_clear(&t->body);
    assert_int_equal(t->mem.used, 0);
}

static cip_status add(joined *t, const cip_blosc_spec *p, size_t off, size_t n)
{
    size_t len;
    assert_int_equal(cip_blosc_encode(&t->mem, p, (cip_bytes){ t->raw + off, n }, t->chunk,
                                      sizeof t->chunk, &len, &t->err),
                     CIP_OK);
    return cip_blosc_join_add(t->j, (cip_bytes){ t->chunk, len }, &t->body, &t->err);
}

/* The whole decodes to the raw bytes, all of it and block by block. */
static void same(joined *t, size_t n)
{
    static uint8_t back[MOST];
    blosc_world w;
    if (cip_blosc_join_head(t->j, &t->head, &t->err) != CIP_OK)
        fail_msg("%s", t->err.text);
    assert_int_equal(cip_buf_add(&t->head, t->body.ptr, t->body.len, &t->err), CIP_OK);
    const cip_bytes all = { t->head.ptr, t->head.len };
    blosc_open(&w, all);
    if (cip_codec_blosc.decode(NULL, &w.env, all, back, n, &t->err) != CIP_OK)
        fail_msg("%s", t->err.text);
    assert_memory_equal(back, t->raw, n);
    memset(back, 0, n);
    for (size_t off = 0; off < n; off += 1000) {
        const cip_want want = { off, n - off < 1000 ? n - off : 1000, back + off };
        assert_int_equal(blosc_spans(&w, all, n, &want, 1, &t->err), CIP_OK);
    }
    assert_memory_equal(back, t->raw, n);
}

/* Noise is stored as it is, the rest is coded; now and then a chunk of each. */
static void fill(joined *t, size_t n, size_t piece)
{
    for (size_t i = 0; i < n; i++)
        t->raw[i] = (uint8_t)(i / piece % 2 != 0 ? draw(256) : i / 7 % 50);
}

static void chunks_are_joined(uint32_t typesize, int compcode, uint8_t filter)
{
    static joined t;
    for (int k = 0; k < 12; k++) {
        const uint32_t block = BLOCK / typesize * typesize;
        const size_t piece = block * (1 + draw(3)), n = 1 + draw(MOST);
        begin(&t, typesize, compcode, filter, n);
        fill(&t, n, piece);
        for (size_t off = 0; off < n; off += piece)
            if (add(&t, &t.p, off, n - off < piece ? n - off : piece) != CIP_OK)
                fail_msg("%s", t.err.text);
        same(&t, n);
        end(&t);
    }
}

static void chunks_of_every_form_are_joined(void **state)
{
    static const int codecs[] = { CIP_BLOSC_BLOSCLZ, CIP_BLOSC_LZ4, CIP_BLOSC_LZ4HC, CIP_BLOSC_ZLIB,
                                  CIP_BLOSC_ZSTD };
    static const uint32_t sizes[] = { 1, 2, 3, 4, 8, 16, 17, 255 };
    cip_blosc_head h = { .version = 0 };
    (void)state;
    for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++) {
        h.compcode = codecs[c];
        for (size_t s = 0; cip_blosc_known(&h, NULL) == CIP_OK && s < 8; s++)
            for (uint8_t f = CIP_BLOSC_NOFILTER; f <= CIP_BLOSC_BITSHUFFLE; f++)
                chunks_are_joined(sizes[s], codecs[c], f);
    }
}

static void other_chunks_are_refused(void **state)
{
    static joined t;
    cip_blosc_spec p;
    (void)state;
    begin(&t, 4, CIP_BLOSC_BLOSCLZ, CIP_BLOSC_SHUFFLE, 4 * BLOCK);
    p = t.p;
    p.typesize = 8;
    assert_int_equal(add(&t, &p, 0, BLOCK), CIP_ERR_ARG);
    p = t.p;
    p.blocksize = 2 * BLOCK;
    assert_int_equal(add(&t, &p, 0, 2 * BLOCK), CIP_ERR_ARG);
    p = t.p;
    p.filter[CIP_BLOSC_FILTERS - 1] = CIP_BLOSC_BITSHUFFLE;
    assert_int_equal(add(&t, &p, 0, BLOCK), CIP_ERR_ARG);
    p = t.p;
    p.blosc1 = false;
    assert_int_equal(add(&t, &p, 0, BLOCK), CIP_ERR_ARG);
    assert_int_equal(add(&t, &t.p, 0, BLOCK + 4), CIP_ERR_ARG);     /* no whole blocks */
    assert_int_equal(add(&t, &t.p, 0, 4 * BLOCK + 4), CIP_ERR_ARG); /* too many */
    assert_int_equal(add(&t, &t.p, 0, 2 * BLOCK), CIP_OK);
    assert_int_equal(cip_blosc_join_head(t.j, &t.head, &t.err), CIP_ERR_ARG); /* too few */
    end(&t);
}

static void a_damaged_table_is_reported(void **state)
{
    static joined t;
    size_t n;
    (void)state;
    begin(&t, 4, CIP_BLOSC_BLOSCLZ, CIP_BLOSC_SHUFFLE, BLOCK);
    assert_int_equal(cip_blosc_encode(&t.mem, &t.p, (cip_bytes){ t.raw, BLOCK }, t.chunk,
                                      sizeof t.chunk, &n, &t.err),
                     CIP_OK);
    for (unsigned v = 0; v < 256; v++) {
        uint8_t *wrong = blosc_copy(t.chunk, n);
        cip_blosc_join_free(t.j);
        t.body.len = 0;
        assert_int_equal(cip_blosc_join_new(&t.mem, &t.p, BLOCK, &t.j, &t.err), CIP_OK);
        wrong[19] = (uint8_t)v;
        if (v != t.chunk[19])
            assert_int_equal(cip_blosc_join_add(t.j, (cip_bytes){ wrong, n }, &t.body, &t.err),
                             CIP_ERR_CORRUPT);
        free(wrong);
    }
    end(&t);
}

static void more_than_a_chunk_holds_is_refused(void **state)
{
    cip_mem mem;
    cip_blosc_join *j;
    const cip_blosc_spec p = { .typesize = 4, .level = 5, .blocksize = BLOCK, .blosc1 = true };
    cip_err err = CIP_ERR_INIT;
    (void)state;
    cip_mem_init(&mem, NULL, 1 << 20);
    assert_int_equal(cip_blosc_join_new(&mem, &p, UINT64_C(1) << 31, &j, &err),
                     CIP_ERR_UNSUPPORTED);
    assert_null(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_every_form_are_joined),
        cmocka_unit_test(other_chunks_are_refused),
        cmocka_unit_test(a_damaged_table_is_reported),
        cmocka_unit_test(more_than_a_chunk_holds_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
