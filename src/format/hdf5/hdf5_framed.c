/* SPDX-License-Identifier: BSD-3-Clause
 * Filters that cut a chunk into blocks, each behind its stored length: LZ4 (32004) and bitshuffle
 * (32008). Lengths in them are big-endian. */
#include "codec/filter/filter.h"
#include "format/hdf5/hdf5.h"

static cip_status damaged(cip_err *err, const char *who, size_t n, size_t at)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "%s: expected %zu bytes, found damage after %zu", who, n, at);
}

/* Length of the chunk (8 bytes) and of a block (4), then blocks; one as long as it decodes to is
 * stored as it is. */
cip_status cip_h5_lz4(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                      size_t n, cip_err *err)
{
    cip_cursor c = cip_cursor_be(src);
    const uint64_t total = cip_get_u64(&c), each = cip_get_u32(&c);
    size_t to = 0;
    (void)f;
    if (c.bad || total != n || (each == 0 && n != 0))
        return damaged(err, "lz4", n, 0);
    for (; to < n;) {
        const size_t raw = (size_t)cip_min_u64(each, n - to), len = cip_get_u32(&c);
        const cip_bytes in = cip_get_bytes(&c, len);
        if (c.bad)
            return damaged(err, "lz4", n, to);
        if (len == raw)
            memcpy(dst + to, in.ptr, raw);
        else
            CIP_TRY(cip_codec_find("lz4")->decode(NULL, env, in, dst + to, raw, err));
        to += raw;
    }
    return CIP_OK;
}

enum { PLAIN = 0, LZ4 = 2, ZSTD = 3, TARGET = 8192, LEAST = 128, MULTIPLE = 8 };

/* Values: version (2), bytes of an element, elements of a block (0: so that it has about 8 KiB),
 * codec. The last elements that are no multiple of 8 are stored as they are. */
cip_status cip_h5_bitshuffle(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src,
                             uint8_t *dst, size_t n, cip_err *err)
{
    const uint64_t item = f->n > 2 ? f->value[2] : 0;
    const uint32_t kind = f->n > 4 ? f->value[4] : PLAIN;
    uint64_t each = f->n > 3 ? f->value[3] : 0;
    uint8_t *block = NULL;
    cip_cursor c = cip_cursor_be(src);
    cip_status st = CIP_OK;
    size_t to = 0;
    if (item == 0 || n % item != 0 || (kind != PLAIN && kind != LZ4 && kind != ZSTD))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "bitshuffle of elements of %" PRIu64 " bytes with codec %u is not read",
                        item, kind);
    if (kind != PLAIN) {
        const uint64_t total = cip_get_u64(&c);
        each = cip_get_u32(&c) / item;
        if (c.bad || total != n)
            return damaged(err, "bitshuffle", n, 0);
    } else if (each == 0) {
        each = cip_max_u64(TARGET / item / MULTIPLE * MULTIPLE, LEAST);
    }
    if (each == 0 || each % MULTIPLE != 0)
        return damaged(err, "bitshuffle", n, 0);
    const size_t whole = n / (size_t)item / MULTIPLE * MULTIPLE * (size_t)item;
    const size_t most = (size_t)cip_min_u64(each * item, whole);
    CIP_TRY(cip_mem_get(env->mem, most, (void **)&block, err));
    while (to < whole && st == CIP_OK) {
        const size_t raw = (size_t)cip_min_u64(most, whole - to);
        cip_bytes in = cip_get_bytes(&c, kind == PLAIN ? raw : cip_get_u32(&c));
        if (c.bad) {
            st = damaged(err, "bitshuffle", n, to);
            break;
        }
        if (kind != PLAIN) {
            st = cip_codec_find(kind == LZ4 ? "lz4" : "zstd")
                     ->decode(NULL, env, in, block, raw, err);
            in.ptr = block;
        }
        if (st == CIP_OK)
            cip_bitunshuffle((size_t)item, false, in.ptr, dst + to, raw);
        to += raw;
    }
    cip_get_copy(&c, dst + whole, n - whole);
    if (st == CIP_OK && c.bad)
        st = damaged(err, "bitshuffle", n, whole);
    cip_mem_put(env->mem, block);
    return st;
}
