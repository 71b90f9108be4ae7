/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks of every codec and kind, as short as they can be: cut at each place and with each byte
 * changed to each other value, in memory of exactly their size, whole and in pieces. The longer
 * chunks of the corpus are sampled by test_blosc_damage.c. */
#include "support/codec/blosc/blosc_hand_testing.h"
#include "support/codec/blosc/blosc_vl_testing.h"

#if CIP_WITH_ZSTD
#include <zstd.h>
#endif

enum { RAW = 128, ROOM = 1 << 14 };

/* Each way that it is damaged. */
static void damage(const char *name, cip_bytes in)
{
    uint8_t *copy = blosc_copy(in.ptr, in.len);
    if (blosc_both_ways_agree(in, ROOM) != CIP_OK)
        fail_msg("%s does not decode", name);
    for (size_t n = 0; n < in.len; n++) {
        uint8_t *cut = blosc_copy(in.ptr, n);
        cip_status st = blosc_both_ways_agree((cip_bytes){ cut, n }, ROOM);
        free(cut);
        if (st != CIP_ERR_TRUNCATED)
            fail_msg("%s cut at %zu: %d", name, n, (int)st);
    }
    for (size_t at = 0; at < in.len; at++, copy[at - 1] = in.ptr[at - 1])
        for (unsigned k = 1; k < 256; k++) {
            copy[at] = (uint8_t)(in.ptr[at] ^ k);
            blosc_both_ways_agree((cip_bytes){ copy, in.len }, ROOM);
        }
    free(copy);
}

static bool built(int compcode)
{
    return compcode == CIP_BLOSC_ZSTD                                 ? CIP_WITH_ZSTD
           : compcode == CIP_BLOSC_LZ4 || compcode == CIP_BLOSC_LZ4HC ? CIP_WITH_LZ4
                                                                      : true;
}

/* Small numbers of two bytes, in blocks of 64 bytes unless told otherwise. */
static void encoded(const char *name, cip_blosc_spec s, const char *filters)
{
    uint8_t raw[RAW], out[RAW + CIP_BLOSC_HEADER];
    cip_mem mem;
    size_t n;
    cip_err err = CIP_ERR_INIT;
    if (!built(s.compcode))
        return;
    for (size_t i = 0; i < RAW / 2; i++)
        cip_store_u16(raw + 2 * i, (uint16_t)(i / 16), false);
    s.typesize = 2;
    s.blocksize = s.blosc1 ? RAW : RAW / 2;
    cip_mem_init(&mem, NULL, 0);
    assert_int_equal(cip_blosc_filters_parse(filters, s.filter, s.filter_meta, &err), CIP_OK);
    if (cip_blosc_encode(&mem, &s, (cip_bytes){ raw, RAW }, out, sizeof out, &n, &err) != CIP_OK)
        fail_msg("%s: %s", name, err.text);
    if (n >= RAW)
        fail_msg("%s is not compressed", name);
    damage(name, (cip_bytes){ out, n });
}

static void chunks_of_blosc1(void **state)
{
    (void)state;
    encoded("blosclz", (cip_blosc_spec){ .blosc1 = true, .level = 5 }, "shuffle");
    encoded("lz4", (cip_blosc_spec){ .blosc1 = true, .compcode = CIP_BLOSC_LZ4, .level = 5 },
            "bitshuffle");
    encoded("zlib", (cip_blosc_spec){ .blosc1 = true, .compcode = CIP_BLOSC_ZLIB, .level = 5 },
            "none");
}

#if CIP_WITH_SNAPPY
static void chunks_of_snappy(void **state)
{
    (void)state;
    chunk c = start(2, 0x50, 1, 8, 8);
    put32(&c, 20);
    put32(&c, 5);
    put(&c, "\x08\0a\x0d\1", 5); /* 8 bytes: 'a', seven more from one back */
    damage("snappy", done(&c));
}
#endif

static void chunks_of_blosc2(void **state)
{
    (void)state;
    encoded("blosclz", (cip_blosc_spec){ .level = 5 }, "bytedelta");
    encoded("lz4", (cip_blosc_spec){ .compcode = CIP_BLOSC_LZ4, .level = 5 }, "delta+shuffle");
    encoded("lz4hc", (cip_blosc_spec){ .compcode = CIP_BLOSC_LZ4HC, .level = 5 }, "bitshuffle");
    encoded("zlib", (cip_blosc_spec){ .compcode = CIP_BLOSC_ZLIB, .level = 5 }, "shuffle");
}

static void chunks_of_zstd(void **state)
{
    (void)state;
    encoded("zstd", (cip_blosc_spec){ .compcode = CIP_BLOSC_ZSTD, .level = 5 }, "shuffle");
}

/* One block of n bytes through a user's codec. */
static chunk user_codec(uint8_t id, uint8_t meta, uint8_t typesize, uint32_t n, const void *p,
                        size_t len)
{
    chunk c = start(5, 0xd5, typesize, n, n);
    c.b[22] = id;
    c.b[23] = meta;
    put32(&c, 36);
    put32(&c, (uint32_t)len);
    put(&c, p, len);
    return c;
}

static void chunks_of_cells(void **state)
{
    (void)state;
    chunk c = user_codec(CIP_BLOSC_NDLZ, 4, 1, 32, "\x02\x04\0\0\0\x08\0\0\0\x40x\x40y", 13);
    damage("ndlz", done(&c));
#if CIP_WITH_ZFP
    static const uint8_t meta[] = { 0, 4, 12 }; /* within 1, 11 planes, an eighth */
    static const uint8_t stream[32] = { 0x85, 0x7f, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc };
    for (int k = 0; k < 3; k++) {
        uint8_t id = (uint8_t)(CIP_BLOSC_ZFP_ACC + k);
        c = user_codec(id, meta[k], 4, 64, stream, sizeof stream);
        damage(cip_blosc_codec_name(id), done(&c));
    }
#endif
}

static void special_chunks(void **state)
{
    (void)state;
    for (cip_blosc_special k = CIP_BLOSC_ZEROS; k <= CIP_BLOSC_UNINIT; k++) {
        uint8_t b[64];
        size_t n;
        const cip_blosc_spec s = { .typesize = 4 };
        assert_int_equal(cip_blosc_encode_special(&s, k, "abcd", 40, b, sizeof b, &n, NULL),
                         CIP_OK);
        damage("special", (cip_bytes){ b, n });
    }
}

static void stored_chunks(void **state)
{
    (void)state;
    chunk c = start(2, 0x02, 1, 7, 7);
    put(&c, "stored.", 7);
    damage("stored, Blosc1", done(&c));
    c = start(5, 0x07, 1, 7, 7);
    put(&c, "stored.", 7);
    damage("stored, Blosc2", done(&c));
}

/* Runs, zeros and streams as they are, in blocks out of order. */
static void chunks_of_runs(void **state)
{
    (void)state;
    chunk c = start(5, 0x15, 1, 12, 4);
    put32(&c, 44 + 9);
    put32(&c, 44);
    put32(&c, 44 + 5);
    put32(&c, (uint32_t) - 'z');
    put(&c, "\1", 1);
    put32(&c, 0);
    put32(&c, 4);
    put(&c, "asis", 4);
    damage("runs", done(&c));
}

static void chunks_of_variable_blocks(void **state)
{
    (void)state;
    uint8_t b[256];
    cip_mem mem;
    size_t n;
    const cip_bytes blocks[] = { { (const uint8_t *)"a short one", 11 },
                                 { (const uint8_t *)"ababababababababababababababababab", 34 } };
    const cip_blosc_spec s = { .typesize = 1, .compcode = CIP_BLOSC_ZLIB, .level = 5 };
    cip_mem_init(&mem, NULL, 0);
    assert_int_equal(blosc_encode_vl(&mem, &s, blocks, 2, b, sizeof b, &n, NULL), CIP_OK);
    damage("variable blocks", (cip_bytes){ b, n });
}

/* One block behind a dictionary of plain text. */
#define DICT "a dictionary"
#if CIP_WITH_LZ4 || CIP_WITH_ZSTD
static chunk behind_dictionary(uint8_t flags, const void *stream, size_t len, uint32_t nbytes)
{
    const uint32_t dict = sizeof DICT - 1;
    chunk c = start(5, flags, 1, nbytes, nbytes);
    c.b[31] = 1;
    put32(&c, 36 + 4 + dict);
    put32(&c, dict);
    put(&c, DICT, dict);
    put32(&c, (uint32_t)len);
    put(&c, stream, len);
    return c;
}
#endif

static void chunks_with_dictionaries(void **state)
{
    (void)state;
    chunk c;
#if CIP_WITH_LZ4
    c = behind_dictionary(0x35, "\x03\x0c\0\x50lmnop", 9, 12); /* 7 from 12 back, five more */
    damage("lz4 with a dictionary", done(&c));
#endif
#if CIP_WITH_ZSTD
    static const char raw[] = "a dictionary, a dictionary";
    uint8_t stream[64];
    ZSTD_CCtx *z = ZSTD_createCCtx();
    size_t n = ZSTD_compress_usingDict(z, stream, sizeof stream, raw, sizeof raw, DICT,
                                       sizeof DICT - 1, 5);
    ZSTD_freeCCtx(z);
    assert_false(ZSTD_isError(n));
    c = behind_dictionary(0x95, stream, n, sizeof raw);
    damage("zstd with a dictionary", done(&c));
#endif
    (void)c;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_blosc1),
        cmocka_unit_test(chunks_of_blosc2),
        cmocka_unit_test(chunks_of_zstd),
#if CIP_WITH_SNAPPY
        cmocka_unit_test(chunks_of_snappy),
#endif
        cmocka_unit_test(chunks_of_cells),
        cmocka_unit_test(special_chunks),
        cmocka_unit_test(stored_chunks),
        cmocka_unit_test(chunks_of_runs),
        cmocka_unit_test(chunks_of_variable_blocks),
        cmocka_unit_test(chunks_with_dictionaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
