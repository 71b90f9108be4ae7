/* SPDX-License-Identifier: BSD-3-Clause
 * Decodes Blosc chunks of other writers and compares: records on the standard input, each
 *   u32 typesize of the super-chunk, u32 ndim, ndim x i64 shape of a block, u32 bytes of the chunk,
 *   u32 raw bytes, the chunk, the raw bytes
 * (little-endian). Each chunk is decoded whole and in pieces, by what `needs` asks for, from and to
 * memory of exactly its size. A line for each that differs, and the number of all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "codec/codec.h"

enum { DIMS = 16, NEEDS = 256, PIECES = 3 };

typedef struct record {
    uint32_t typesize, ndim, stored_len, raw_len;
    int64_t block[DIMS];
    uint8_t *stored, *raw;
} record;

static void *get(size_t n)
{
    void *p = malloc(n != 0 ? n : 1);
    if (p == NULL)
        abort();
    return p;
}

static bool read_bytes(void *p, size_t n)
{
    return fread(p, 1, n, stdin) == n;
}

static bool read_u32(uint32_t *out)
{
    uint8_t b[4];
    bool there = read_bytes(b, sizeof b);
    *out = there ? cip_load_u32(b, false) : 0;
    return there;
}

static bool read_record(record *r)
{
    if (!read_u32(&r->typesize))
        return false;
    bool good = read_u32(&r->ndim) && r->ndim <= DIMS;
    for (uint32_t k = 0; good && k < r->ndim; k++) {
        uint8_t b[8];
        good = read_bytes(b, sizeof b);
        r->block[k] = (int64_t)cip_load_u64(b, false);
    }
    good = good && read_u32(&r->stored_len) && read_u32(&r->raw_len);
    r->stored = get(r->stored_len);
    r->raw = get(r->raw_len);
    if (!good || !read_bytes(r->stored, r->stored_len) || !read_bytes(r->raw, r->raw_len)) {
        fputs("a record that is cut short\n", stderr);
        exit(2);
    }
    return true;
}

static cip_status whole(const cip_codec *c, const cip_codec_env *env, const record *r, cip_err *err)
{
    uint8_t *dst = get(r->raw_len);
    cip_status st =
        c->decode(NULL, env, (cip_bytes){ r->stored, r->stored_len }, dst, r->raw_len, err);
    if (st == CIP_OK && memcmp(dst, r->raw, r->raw_len) != 0) {
        size_t k = 0;
        while (dst[k] == r->raw[k])
            k++;
        printf("byte %zu of %u is %02x, not %02x: ", k, r->raw_len, dst[k], r->raw[k]);
        st = CIP_ERR_CHECKSUM;
    }
    free(dst);
    return st;
}

/* The ranges that were asked for, each in memory of its own. */
static cip_status fetched(const cip_codec *c, const cip_codec_env *env, const record *r,
                          const cip_need *need, size_t n, const cip_want *want, cip_err *err)
{
    uint8_t *own[NEEDS];
    for (size_t i = 0; i < n; i++) {
        own[i] = get((size_t)need[i].len);
        if (need[i].off > r->stored_len || need[i].len > r->stored_len - need[i].off)
            abort();
        memcpy(own[i], r->stored + need[i].off, (size_t)need[i].len);
    }
    const cip_stored stored = { r->stored_len, n, need, (const uint8_t *const *)own };
    cip_status st =
        c->decode_spans(NULL, env, &stored, &(cip_wants){ want, PIECES, r->raw_len }, err);
    for (size_t i = 0; i < n; i++)
        free(own[i]);
    return st;
}

static cip_status pieces(const cip_codec *c, const cip_codec_env *env, const record *r,
                         cip_err *err)
{
    cip_want want[PIECES];
    cip_need need[NEEDS];
    cip_needs needs = { .at = need, .max = NEEDS };
    size_t head = r->stored_len < c->head_len ? r->stored_len : c->head_len;
    for (size_t i = 0; i < PIECES; i++) {
        size_t at = r->raw_len != 0 ? (size_t)rand() % r->raw_len : 0;
        size_t len = (size_t)rand() % (r->raw_len - at + 1) % (i == 0 ? 40 : r->raw_len + 1u);
        want[i] = (cip_want){ at, len, get(len) };
    }
    cip_status st = c->needs(NULL, env, (cip_bytes){ r->stored, head },
                             &(cip_wants){ want, PIECES, r->raw_len }, &needs, err);
    if (st == CIP_ERR_LIMIT || st == CIP_ERR_TRUNCATED) {
        needs.n = 1;
        need[0] = (cip_need){ 0, r->stored_len };
        st = CIP_OK;
    }
    if (st == CIP_OK)
        st = fetched(c, env, r, need, needs.n, want, err);
    for (size_t i = 0; i < PIECES; i++) {
        if (st == CIP_OK && memcmp(want[i].dst, r->raw + want[i].off, want[i].len) != 0) {
            printf("another piece of %zu at %zu: ", want[i].len, (size_t)want[i].off);
            st = CIP_ERR_CHECKSUM;
        }
        free(want[i].dst);
    }
    return st;
}

int main(void)
{
    const cip_codec *c = cip_codec_find("blosc");
    unsigned long n = 0, bad = 0;
    record r;
    cip_mem mem;
    srand(20261121);
    cip_mem_init(&mem, NULL, 0);
    for (; read_record(&r); n++) {
        const cip_codec_env env = {
            .mem = &mem, .typesize = r.typesize, .ndim = (int32_t)r.ndim, .block = r.block
        };
        cip_err err = CIP_ERR_INIT;
        cip_status st = whole(c, &env, &r, &err);
        if (st == CIP_OK)
            st = pieces(c, &env, &r, &err);
        if (st != CIP_OK) {
            printf("chunk %lu: status %d: %s\n", n, (int)st, err.text);
            bad++;
        }
        free(r.stored);
        free(r.raw);
    }
    printf("%lu chunks, %lu differ\n", n, bad);
    return bad != 0 || mem.used != 0;
}
