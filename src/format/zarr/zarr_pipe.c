/* SPDX-License-Identifier: BSD-3-Clause
 * A chunk's bytes through several codecs. The decoded length of the whole is known from the chunk's
 * shape; that between two steps is what the next one's bytes themselves say, and is limited by
 * the memory that the file may take. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/checksum/checksum.h"
#include "codec/entropy/entropy.h"
#include "codec/filter/filter.h"
#include "format/zarr/zarr.h"

/* --- CRC-32C ---------------------------------------------------------------------------------- */

enum { SLICES = 8 };

typedef struct crc_table {
    uint32_t at[SLICES][256];
} crc_table;

static crc_table table;
static pthread_once_t made = PTHREAD_ONCE_INIT;

/* Row k: what a byte does to the sum k bytes later. The polynomial 0x1EDC6F41, bits reversed. */
static void make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = (c & 1) != 0 ? c >> 1 ^ UINT32_C(0x82F63B78) : c >> 1;
        table.at[0][i] = c;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < SLICES; k++)
            table.at[k][i] = table.at[k - 1][i] >> 8 ^ table.at[0][table.at[k - 1][i] & 0xff];
}

uint32_t cip_zarr_crc32c(uint32_t crc, const void *p, size_t n)
{
    const uint8_t *at = p;
    pthread_once(&made, make_table);
    crc = ~crc;
    for (; n >= SLICES; n -= SLICES, at += SLICES) {
        const uint64_t v = cip_load_u64(at, false) ^ crc;
        crc = 0;
        for (int k = 0; k < SLICES; k++)
            crc ^= table.at[SLICES - 1 - k][v >> 8 * k & 0xff];
    }
    for (; n != 0; n--)
        crc = crc >> 8 ^ table.at[0][(crc ^ *at++) & 0xff];
    return ~crc;
}

static bool is_sum(cip_zarr_kind k)
{
    return k == CIP_ZARR_CRC32C || k == CIP_ZARR_CRC32 || k == CIP_ZARR_ADLER32;
}

static cip_status check_sum(const char *name, uint32_t stored, uint32_t found, cip_err *err)
{
    return stored == found
               ? CIP_OK
               : cip_fail(err, CIP_ERR_CHECKSUM, CIP_NO_OFFSET,
                          "expected the %s %08" PRIx32 " of its bytes, found %08" PRIx32, name,
                          stored, found);
}

/* What is left of `in` without its checksum, compared. */
static cip_status take_sum(const cip_zarr_step *s, const cip_codec_env *env, cip_bytes *in,
                           cip_err *err)
{
    uint8_t sum[CIP_SUM_MAX];
    if (in->len < CIP_ZARR_SUM)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected a checksum of %d bytes, found %zu bytes in all", CIP_ZARR_SUM,
                        in->len);
    const size_t n = in->len - CIP_ZARR_SUM;
    if (s->kind == CIP_ZARR_CRC32C) {
        *in = (cip_bytes){ in->ptr, n };
        return check_sum("CRC-32C", cip_load_u32(in->ptr + n, false),
                         cip_zarr_crc32c(0, in->ptr, n), err);
    }
    const uint32_t stored = cip_load_u32(in->ptr, false);
    const bool crc = s->kind == CIP_ZARR_CRC32;
    *in = (cip_bytes){ in->ptr + CIP_ZARR_SUM, n };
    CIP_TRY(cip_sum_of(env->mem, crc ? CIP_SUM_CRC32 : CIP_SUM_ADLER32, *in, sum, err));
    return check_sum(crc ? "CRC-32" : "Adler-32", stored, cip_load_u32(sum, true), err);
}

cip_status cip_zarr_check_sum(const cip_zarr_pipe *p, cip_mem *mem, cip_bytes stored, cip_err *err)
{
    const cip_codec_env env = { .mem = mem };
    for (size_t k = 0; k < p->n && is_sum(p->step[k].kind); k++)
        CIP_TRY(take_sum(&p->step[k], &env, &stored, err));
    return CIP_OK;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* The content size in the head of a zstd frame (RFC 8878, 3.1.1.1); false where it is not there. */
static bool zstd_len(cip_bytes in, size_t *len)
{
    static const uint8_t dictionary[] = { 0, 1, 2, 4 };
    if (in.len < 6 || cip_load_u32(in.ptr, false) != UINT32_C(0xFD2FB528))
        return false;
    const unsigned flags = in.ptr[4], size = flags >> 6;
    const bool single = (flags & 0x20) != 0;
    const size_t at = 5 + !single + dictionary[flags & 3];
    const size_t n = size == 0 ? single : (size_t)1 << size;
    if (n == 0 || in.len < at + n)
        return false;
    const uint64_t v = n == 1   ? in.ptr[at]
                       : n == 2 ? (uint64_t)cip_load_u16(in.ptr + at, false) + 256
                       : n == 4 ? cip_load_u32(in.ptr + at, false)
                                : cip_load_u64(in.ptr + at, false);
    return cip_to_size(v, len);
}

/* What step k gives: of what the steps behind it take, unless one of these compresses too; then
 * what its own input says. */
static cip_status decoded_len(const cip_zarr_pipe *p, size_t k, cip_bytes in, size_t dst_len,
                              size_t *len, cip_err *err)
{
    const cip_zarr_step *s = &p->step[k];
    cip_blosc_head head;
    bool known = true;
    *len = dst_len;
    for (size_t j = p->n; known && --j > k;) {
        const cip_zarr_kind kind = p->step[j].kind;
        known = kind != CIP_ZARR_ENTROPY && kind != CIP_ZARR_LZ4;
        if (kind == CIP_ZARR_PACKBITS)
            *len = *len / 8 + (*len % 8 != 0) + 1;
        else if (is_sum(kind))
            known = known && !cip_add_overflow(*len, CIP_ZARR_SUM, len);
    }
    if (known)
        return CIP_OK;
    if (s->kind == CIP_ZARR_LZ4 && in.len >= 4) {
        *len = cip_load_u32(in.ptr, false);
    } else if (s->kind == CIP_ZARR_ENTROPY && s->codec == &cip_codec_blosc) {
        CIP_TRY(cip_blosc_head_parse(in, &head, err));
        *len = head.nbytes;
    } else if (s->kind == CIP_ZARR_ENTROPY && s->codec == &cip_codec_gzip && in.len >= 18) {
        *len = cip_load_u32(in.ptr + in.len - 4, false);
    } else if (s->kind == CIP_ZARR_ENTROPY && strcmp(s->codec->name, "zstd") == 0 &&
               zstd_len(in, len)) {
        return CIP_OK;
    } else if (s->kind == CIP_ZARR_SHUFFLE || s->kind == CIP_ZARR_DELTA) {
        *len = in.len;
    } else {
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the length between two of its codecs is not known");
    }
    return CIP_OK;
}

static cip_status same_len(cip_bytes in, size_t n, cip_err *err)
{
    return in.len == n
               ? CIP_OK
               : cip_fail(err, in.len < n ? CIP_ERR_TRUNCATED : CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                          "expected a chunk of %zu bytes, found %zu", n, in.len);
}

/* Sums of differences; of integers modulo 2^bits, as numpy adds them up. */
static cip_status undo_delta(const cip_zarr_step *s, uint8_t *p, size_t n, cip_err *err)
{
    const size_t w = s->width;
    uint64_t sum = 0;
    double real = 0;
    float single = 0;
    if (n % w != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected whole elements of %zu bytes, found %zu bytes", w, n);
    for (size_t i = 0; i < n; i += w) {
        uint64_t v = w == 1   ? p[i]
                     : w == 2 ? cip_load_u16(p + i, s->big)
                     : w == 4 ? cip_load_u32(p + i, s->big)
                              : cip_load_u64(p + i, s->big);
        if (s->number == CIP_F64) {
            double d;
            memcpy(&d, &v, sizeof d);
            real = i == 0 ? d : real + d;
            memcpy(&v, &real, sizeof v);
        } else if (s->number == CIP_F32) {
            const uint32_t bits = (uint32_t)v;
            float f;
            uint32_t to;
            memcpy(&f, &bits, sizeof f);
            single = i == 0 ? f : single + f;
            memcpy(&to, &single, sizeof to);
            v = to;
        } else {
            v = sum += v;
        }
        if (w == 1)
            p[i] = (uint8_t)v;
        else if (w == 2)
            cip_store_u16(p + i, (uint16_t)v, s->big);
        else if (w == 4)
            cip_store_u32(p + i, (uint32_t)v, s->big);
        else
            cip_store_u64(p + i, v, s->big);
    }
    return CIP_OK;
}

/* Eight elements a byte, the first in the highest bit; in front how many of the last are none. */
static cip_status unpack_bits(cip_bytes in, uint8_t *dst, size_t n, cip_err *err)
{
    const size_t bytes = n / 8 + (n % 8 != 0);
    CIP_TRY(same_len(in, bytes + 1, err));
    if (in.ptr[0] != (8 - n % 8) % 8)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %zu bits that are no data, found %u", (8 - n % 8) % 8, in.ptr[0]);
    for (size_t i = 0; i < n; i++)
        dst[i] = in.ptr[1 + i / 8] >> (7 - i % 8) & 1;
    return CIP_OK;
}

static cip_status run_step(const cip_zarr_step *s, const cip_codec_env *env, cip_bytes in,
                           uint8_t *dst, size_t n, cip_err *err)
{
    if (s->kind == CIP_ZARR_ENTROPY)
        return s->codec->decode(NULL, env, in, dst, n, err);
    if (s->kind == CIP_ZARR_LZ4) {
        if (in.len < 4)
            return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                            "expected a length of 4 bytes, found %zu bytes in all", in.len);
        if (cip_load_u32(in.ptr, false) != n)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected a chunk of %zu bytes, found %" PRIu32, n,
                            cip_load_u32(in.ptr, false));
        return s->codec->decode(NULL, env, (cip_bytes){ in.ptr + 4, in.len - 4 }, dst, n, err);
    }
    if (s->kind == CIP_ZARR_PACKBITS)
        return unpack_bits(in, dst, n, err);
    CIP_TRY(same_len(in, n, err));
    if (s->kind == CIP_ZARR_SHUFFLE) {
        if (n % s->width != 0)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected whole elements of %zu bytes, found %zu bytes", s->width, n);
        cip_unshuffle(s->width, in.ptr, dst, n);
        return CIP_OK;
    }
    if (n != 0)
        memcpy(dst, in.ptr, n);
    return undo_delta(s, dst, n, err);
}

static cip_status decode(const void *args, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                         size_t dst_len, cip_err *err)
{
    const cip_zarr_pipe *p = args;
    void *room = NULL, *older = NULL; /* the last step's output, and what it was made of */
    cip_status st = CIP_OK;
    bool done = false;
    size_t last = p->n; /* the step that gives the data: behind it only checksums come */
    while (last != 0 && is_sum(p->step[last - 1].kind))
        last--;
    for (size_t k = 0; k < p->n; k++) {
        const cip_zarr_step *s = &p->step[k];
        size_t n = dst_len;
        if (is_sum(s->kind)) {
            CIP_GO(take_sum(s, env, &src, err));
            continue;
        }
        const bool final = k + 1 == last && last == p->n;
        if (!final) {
            CIP_GO(decoded_len(p, k, src, dst_len, &n, err));
            CIP_GO(cip_mem_get(env->mem, n, &room, err));
        }
        CIP_GO(run_step(s, env, src, final ? dst : room, n, err));
        done = final;
        cip_mem_put(env->mem, older);
        older = room;
        room = NULL;
        src = (cip_bytes){ older, n };
    }
    if (!done) {
        CIP_GO(same_len(src, dst_len, err));
        if (dst_len != 0)
            memcpy(dst, src.ptr, dst_len);
    }
done:
    cip_mem_put(env->mem, room);
    cip_mem_put(env->mem, older);
    return st;
}

/* --- encoding --------------------------------------------------------------------------------- */

/* Bytes that are enough for what one step makes of n. */
static size_t step_bound(const cip_zarr_step *s, size_t n)
{
    const size_t more =
        s->kind == CIP_ZARR_ENTROPY || s->kind == CIP_ZARR_LZ4 ? s->codec->bound(n) : n;
    return more == 0 && n != 0 ? 0 : more + CIP_ZARR_SUM;
}

static size_t bound(size_t n)
{
    size_t more;
    return cip_add_overflow(n, n / 16 + 1024, &more) ? 0 : more;
}

static cip_status encode_step(const cip_zarr_step *s, const cip_codec_env *env, cip_bytes in,
                              cip_dst *out, cip_err *err)
{
    if (s->kind == CIP_ZARR_CRC32C) {
        if (out->cap < in.len || out->cap - in.len < CIP_ZARR_SUM)
            return cip_fail_room(err, out->cap);
        if (in.len != 0)
            memcpy(out->ptr, in.ptr, in.len);
        cip_store_u32(out->ptr + in.len, cip_zarr_crc32c(0, in.ptr, in.len), false);
        out->len = in.len + CIP_ZARR_SUM;
        return CIP_OK;
    }
    const size_t front = s->kind == CIP_ZARR_LZ4 ? 4 : 0;
    if (out->cap < front || in.len > UINT32_MAX)
        return cip_fail_room(err, out->cap);
    cip_dst part = { out->ptr + front, out->cap - front, 0 };
    CIP_TRY(s->codec->encode(s->blosc, env, s->level, in, &part, err));
    if (front != 0)
        cip_store_u32(out->ptr, (uint32_t)in.len, false);
    out->len = front + part.len;
    return CIP_OK;
}

/* Steps of the kinds ENTROPY, LZ4 and CRC32C, the last one first. */
static cip_status encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                         cip_dst *out, cip_err *err)
{
    const cip_zarr_pipe *p = args;
    void *room = NULL, *older = NULL;
    cip_status st = CIP_OK;
    (void)level;
    for (size_t k = p->n; k-- != 0;) {
        cip_dst to = *out;
        if (k != 0) {
            to.cap = step_bound(&p->step[k], src.len);
            CIP_GO(cip_mem_get(env->mem, to.cap, &room, err));
            to.ptr = room;
        }
        CIP_GO(encode_step(&p->step[k], env, src, &to, err));
        cip_mem_put(env->mem, older);
        older = room;
        room = NULL;
        src = (cip_bytes){ to.ptr, to.len };
    }
    out->len = src.len;
done:
    cip_mem_put(env->mem, room);
    cip_mem_put(env->mem, older);
    return st;
}

const cip_codec cip_zarr_codec = {
    .name = "zarr", .decode = decode, .bound = bound, .encode = encode
};

/* --- a shard's index -------------------------------------------------------------------------- */

static cip_status decode_index(const void *args, const cip_codec_env *env, cip_bytes src,
                               uint8_t *dst, size_t dst_len, cip_err *err)
{
    const cip_zarr_level *v = args;
    const cip_zarr_step sum = { .kind = CIP_ZARR_CRC32C };
    if (v->index_sum)
        CIP_TRY(take_sum(&sum, env, &src, err));
    CIP_TRY(same_len(src, dst_len, err));
    for (size_t i = 0; i + 8 <= dst_len; i += 8)
        cip_store_u64(dst + i, cip_load_u64(src.ptr + i, v->index_big), false);
    return CIP_OK;
}

const cip_codec cip_zarr_index_codec = { .name = "shard index", .decode = decode_index };
