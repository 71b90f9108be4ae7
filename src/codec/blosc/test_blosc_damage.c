/* SPDX-License-Identifier: BSD-3-Clause
 * The small chunks of corpus/fuzz_blosc_chunk: each decodes to what it was made of; cut anywhere or
 * with any byte changed it does too, or fails, and whole and in pieces the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>

#include "base/endian.h"
#include "support/codec/blosc/blosc_testing.h"
#include "codec/with.h"

#define FOLDER CIP_SOURCE_DIR "/src/codec/blosc/corpus/fuzz_blosc_chunk"
enum { MAX_FILES = 96, SMALL = 400, EVERY = 48 };

typedef struct sample {
    char name[80];
    uint8_t *ptr;
    size_t len;
} sample;

static sample samples[MAX_FILES];
static size_t nsample;

static int read_samples(void **state)
{
    (void)state;
    DIR *d = opendir(FOLDER);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        char path[512];
        sample *s = &samples[nsample++];
        assert_true(nsample < MAX_FILES);
        snprintf(s->name, sizeof s->name, "%.79s", e->d_name);
        snprintf(path, sizeof path, "%s/%s", FOLDER, e->d_name);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        s->ptr = malloc(1 << 16);
        assert_non_null(s->ptr);
        s->len = fread(s->ptr, 1, 1 << 16, f);
        fclose(f);
    }
    closedir(d);
    return 0;
}

static int free_samples(void **state)
{
    (void)state;
    while (nsample > 0)
        free(samples[--nsample].ptr);
    return 0;
}

/* Bytes of the numbers i / 3. */
static uint8_t wanted_byte(const sample *s, size_t k)
{
    if (strcmp(s->name, "special-value") == 0)
        return (uint8_t) "abc"[k % 3];
    if (strcmp(s->name, "special-nan-4") == 0)
        return (uint8_t) "\0\0\xc0\x7f"[k % 4];
    if (strcmp(s->name, "special-nan-8") == 0)
        return (uint8_t) "\0\0\0\0\0\0\xf8\x7f"[k % 8];
    if (strncmp(s->name, "special", 7) == 0)
        return 0;
    return (uint8_t)((uint32_t)(k / 4 / 3) >> 8 * (k % 4));
}

static bool can_decode(const sample *s)
{
    cip_blosc_head h;
    assert_int_equal(cip_blosc_head_parse((cip_bytes){ s->ptr, s->len }, &h, NULL), CIP_OK);
    return cip_blosc_known(&h, NULL) == CIP_OK;
}

/* ndcell's chunk is a grid of 12 x 16 in blocks of 5 x 8, with edges: not told here. */
static bool is_plain(const sample *s)
{
    return strncmp(s->name, "lossy", 5) != 0 && strncmp(s->name, "ndcell", 6) != 0;
}

static void chunks_decode_to_what_they_were_made_of(void **state)
{
    (void)state;
    size_t seen = 0;
    for (size_t i = 0; i < nsample; i++) {
        const sample *s = &samples[i];
        const cip_bytes chunk = { s->ptr, s->len };
        blosc_world w;
        uint8_t *raw;
        cip_err err = CIP_ERR_INIT;
        size_t n = cip_load_u32(s->ptr + 4, false);
        if (!can_decode(s))
            continue;
        seen++;
        blosc_open(&w, chunk);
        if (blosc_whole(&w, chunk, n, &raw, &err) != CIP_OK)
            fail_msg("%s: %s", s->name, err.text);
        for (size_t k = 0; is_plain(s) && k < n; k++)
            if (raw[k] != wanted_byte(s, k))
                fail_msg("%s: byte %zu is %02x", s->name, k, raw[k]);
        free(raw);
        if (blosc_whole(&w, chunk, n + 1, &raw, &err) != CIP_ERR_CORRUPT)
            fail_msg("%s decodes to one byte more", s->name);
        assert_int_equal(blosc_both_ways_agree(chunk, 1 << 20), CIP_OK);
    }
    assert_true(seen >= (CIP_WITH_LZ4 && CIP_WITH_ZSTD ? 50 : 15));
}

static void chunks_cut_anywhere_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < nsample; i++)
        for (size_t n = 0; n<samples[i].len; n += samples[i].len> SMALL ? 7 : 1) {
            const cip_bytes chunk = { samples[i].ptr, n };
            cip_err err = CIP_ERR_INIT;
            blosc_world w;
            uint8_t *raw;
            if (!can_decode(&samples[i]))
                continue;
            blosc_open(&w, chunk);
            assert_int_equal(
                blosc_whole(&w, chunk, cip_load_u32(samples[i].ptr + 4, false), &raw, &err),
                CIP_ERR_TRUNCATED);
            assert_int_equal(blosc_both_ways_agree(chunk, 1 << 20), CIP_ERR_TRUNCATED);
        }
}

/* All values for the header and the table, some for the streams. */
static void change(const sample *s, size_t at)
{
    static const uint8_t flips[] = { 0x01, 0x02, 0x04, 0x10, 0x80, 0xff };
    uint8_t *copy = blosc_copy(s->ptr, s->len);
    size_t n = at < EVERY ? 255 : sizeof flips;
    for (size_t k = 0; k < n; k++) {
        copy[at] = (uint8_t)(s->ptr[at] ^ (at < EVERY ? k + 1 : flips[k]));
        blosc_both_ways_agree((cip_bytes){ copy, s->len }, 1 << 14);
    }
    free(copy);
}

static void changed_bytes_do_no_harm(void **state)
{
    (void)state;
    for (size_t i = 0; i < nsample; i++)
        for (size_t at = 0; at<samples[i].len; at += samples[i].len> SMALL ? 23 : 1)
            if (at >= EVERY || (at + i) % 8 == 0 || samples[i].len < 100)
                change(&samples[i], at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_decode_to_what_they_were_made_of),
        cmocka_unit_test(chunks_cut_anywhere_are_refused),
        cmocka_unit_test(changed_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, read_samples, free_samples);
}
