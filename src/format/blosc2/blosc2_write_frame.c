/* SPDX-License-Identifier: BSD-3-Clause
 * The parts of a frame as bytes, field by field as libblosc2 writes them. Numbers are big-endian
 * and have a mark of msgpack before them; only the index is little-endian. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/blosc2/blosc2_write.h"

enum {
    VERSION = 2,       /* what readers since 2021 know; later ones are for variable chunks */
    OFFSETS_64 = 0x10, /* of 64 bits */
    THREADS = 1,       /* what readers without a wish of their own use */
    EXT_FILTERS = 6,   /* number of slots, as msgpack's type of an extension */
    INDEX_BLOCK = 16384,
    INDEX_LEVEL = 5,
    TRAILER_END = 23 /* its length and fingerprint, with their marks */
};

/* --- header ----------------------------------------------------------------------------------- */

static uint8_t *put(uint8_t *at, uint8_t mark, uint64_t v, unsigned n)
{
    *at++ = mark;
    for (unsigned i = n; i-- > 0;)
        *at++ = (uint8_t)(v >> 8 * i);
    return at;
}

void cip_b2_header_write(const cip_b2_header *h, bool vlmeta, uint8_t out[CIP_B2_HEADER_MIN])
{
    static const uint8_t magic[] = { 0x9e, 0xa8, 'b', '2', 'f', 'r', 'a', 'm', 'e', 0 };
    uint8_t *at = out;
    memcpy(at, magic, sizeof magic);
    at = put(at + sizeof magic, 0xd2, h->header_len, 4);
    at = put(at, 0xcf, h->frame_len, 8);
    *at++ = 0xa4;
    *at++ = VERSION | OFFSETS_64;
    *at++ = h->sparse;
    *at++ = (uint8_t)(h->codec | h->level << 4);
    *at++ = h->split;
    at = put(at, 0xd3, h->nbytes, 8);
    at = put(at, 0xd3, h->cbytes, 8);
    at = put(at, 0xd2, h->typesize, 4);
    at = put(at, 0xd2, h->blocksize, 4);
    at = put(at, 0xd2, h->chunksize, 4);
    at = put(at, 0xd1, THREADS, 2);
    at = put(at, 0xd1, THREADS, 2);
    *at++ = vlmeta ? 0xc3 : 0xc2;
    *at++ = 0xd8;
    *at++ = EXT_FILTERS;
    memset(at, 0, 16);
    memcpy(at, h->filter, CIP_BLOSC_FILTERS);
    at[6] = h->codec == CIP_B2_USER_CODEC ? h->user_codec : h->codec;
    at[7] = h->codec_meta;
    memcpy(at + 8, h->filter_meta, CIP_BLOSC_FILTERS);
    at[14] = h->dict;
}

/* --- metalayers ------------------------------------------------------------------------------- */

static cip_status add_number(cip_buf *b, uint8_t mark, uint64_t v, unsigned n, cip_err *err)
{
    uint8_t bytes[9];
    put(bytes, mark, v, n);
    return cip_buf_add(b, bytes, n + 1, err);
}

/* Names with the places of their values, then the values. A place counts from the beginning of the
 * header, or of the trailer; the length of the names includes their mark in the header alone. */
cip_status cip_b2_metas_write(cip_buf *out, const cip_b2_metas *m, bool in_trailer, cip_err *err)
{
    const size_t base = in_trailer ? out->len - 2 : 0, from = out->len;
    uint64_t names = 1 + 3 + 3, at;
    for (size_t i = 0; i < m->n; i++)
        names += 1 + m->at[i].name.len + 5;
    if (names > UINT16_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected metalayers whose names take less than 64 KiB");
    at = from - base + names + 3;
    CIP_TRY(cip_buf_add(out, "\x93", 1, err));
    CIP_TRY(add_number(out, 0xcd, names - (in_trailer ? 1 : 0), 2, err));
    CIP_TRY(add_number(out, 0xde, m->n, 2, err));
    for (size_t i = 0; i < m->n; i++) {
        CIP_TRY(add_number(out, (uint8_t)(0xa0 + m->at[i].name.len), 0, 0, err));
        CIP_TRY(cip_buf_add(out, m->at[i].name.ptr, m->at[i].name.len, err));
        CIP_TRY(add_number(out, 0xd2, at, 4, err));
        at += 5 + m->at[i].value.len;
    }
    if (at > INT32_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected metalayers of less than 2^31 bytes");
    CIP_TRY(add_number(out, 0xdc, m->n, 2, err));
    for (size_t i = 0; i < m->n; i++) {
        CIP_TRY(add_number(out, 0xc6, m->at[i].value.len, 4, err));
        CIP_TRY(cip_buf_add(out, m->at[i].value.ptr, m->at[i].value.len, err));
    }
    return CIP_OK;
}

static cip_status add_lengths(cip_buf *b, int32_t ndim, const int64_t *len, bool wide, cip_err *err)
{
    CIP_TRY(add_number(b, (uint8_t)(0x90 + ndim), 0, 0, err)); /* of 16, too: as it is read */
    for (int32_t k = 0; k < ndim; k++)
        CIP_TRY(add_number(b, wide ? 0xd3 : 0xd2, (uint64_t)len[k], wide ? 8 : 4, err));
    return CIP_OK;
}

cip_status cip_b2_nd_write(cip_buf *b, const cip_b2_nd *nd, cip_err *err)
{
    CIP_TRY(cip_buf_add(b, nd->has_dtype ? "\x97\0" : "\x95\0", 2, err));
    CIP_TRY(add_number(b, (uint8_t)nd->ndim, 0, 0, err));
    CIP_TRY(add_lengths(b, nd->ndim, nd->shape, true, err));
    CIP_TRY(add_lengths(b, nd->ndim, nd->chunk, false, err));
    CIP_TRY(add_lengths(b, nd->ndim, nd->block, false, err));
    if (!nd->has_dtype) /* as Caterva has it */
        return CIP_OK;
    CIP_TRY(add_number(b, nd->dtype_format, 0, 0, err));
    CIP_TRY(add_number(b, 0xdb, nd->dtype.len, 4, err));
    return cip_buf_add(b, nd->dtype.ptr, nd->dtype.len, err);
}

/* --- chunks ----------------------------------------------------------------------------------- */

/* Chunks of bytes that lossy filters, or the frame that they come from, made special by themselves
 * are special to the index, as libblosc2 has it. */
uint64_t cip_b2_special_entry(uint8_t state, const uint8_t *bytes, uint64_t len)
{
    static const uint8_t code[] = { [CIP_CHUNK_ZERO] = CIP_BLOSC_ZEROS,
                                    [CIP_CHUNK_NAN] = CIP_BLOSC_NANS,
                                    [CIP_CHUNK_UNINIT] = CIP_BLOSC_UNINIT };
    uint64_t special = 0;
    if (state != CIP_CHUNK_DATA && state != CIP_CHUNK_VALUE)
        special = code[state];
    else if (state == CIP_CHUNK_DATA && len == CIP_BLOSC_HEADER)
        special = bytes[CIP_BLOSC_HEADER - 1] >> 4 & 7;
    return special == CIP_BLOSC_NOT_SPECIAL ? 0 : (0x80 | special) << 56;
}

cip_status cip_b2_value_write(cip_buf *out, const cip_blosc_spec *how, uint64_t item,
                              const uint8_t *value, uint64_t raw_len, cip_err *err)
{
    cip_blosc_spec spec = *how;
    uint8_t *at;
    size_t n;
    spec.typesize = (uint32_t)item; /* a frame may say 1 of long items */
    CIP_TRY(cip_buf_reserve(out, (size_t)(CIP_BLOSC_HEADER + item), &at, err));
    CIP_TRY(cip_blosc_encode_special(&spec, CIP_BLOSC_VALUE, value, (uint32_t)raw_len, at,
                                     (size_t)(CIP_BLOSC_HEADER + item), &n, err));
    out->len += n;
    return CIP_OK;
}

/* --- index and trailer ------------------------------------------------------------------------ */

cip_status cip_b2_entries_add(cip_buf *out, uint64_t entry, uint64_t n, cip_err *err)
{
    uint8_t *at;
    CIP_TRY(cip_buf_reserve(out, (size_t)(8 * n), &at, err));
    for (uint64_t i = 0; i < n; i++)
        cip_store_u64(at + 8 * i, entry, false);
    out->len += (size_t)(8 * n);
    return CIP_OK;
}

/* As libblosc2 encodes it; one special value for all chunks is a chunk of that value. */
cip_status cip_b2_index_write(cip_env *env, const uint8_t *offsets, uint64_t n, cip_buf *out,
                              cip_err *err)
{
    const cip_blosc_spec spec = { .typesize = 8,
                                  .blocksize = INDEX_BLOCK,
                                  .compcode = CIP_BLOSC_BLOSCLZ,
                                  .level = INDEX_LEVEL,
                                  .split = CIP_BLOSC_SPLIT_NEVER,
                                  .filter = { [CIP_BLOSC_FILTERS - 1] = CIP_BLOSC_SHUFFLE } };
    const uint32_t nbytes = (uint32_t)(8 * n);
    const size_t cap = cip_blosc_stored_bound(nbytes);
    uint8_t *at;
    size_t len;
    if (n == 0)
        return CIP_OK;
    CIP_TRY(cip_buf_reserve(out, cap, &at, err));
    if ((offsets[7] & 0x80) != 0 && memcmp(offsets, offsets + 8, nbytes - 8) == 0)
        CIP_TRY(
            cip_blosc_encode_special(&spec, CIP_BLOSC_VALUE, offsets, nbytes, at, cap, &len, err));
    else
        CIP_TRY(
            cip_blosc_encode(&env->mem, &spec, (cip_bytes){ offsets, nbytes }, at, cap, &len, err));
    out->len += len;
    return CIP_OK;
}

cip_status cip_b2_trailer_write(cip_buf *out, const cip_b2_metas *m, cip_err *err)
{
    const size_t from = out->len;
    uint8_t end[18] = { 0xd8 };
    CIP_TRY(cip_buf_add(out, "\x94\x01", 2, err));
    CIP_TRY(cip_b2_metas_write(out, m, true, err));
    CIP_TRY(add_number(out, 0xce, out->len - from + TRAILER_END, 4, err));
    return cip_buf_add(out, end, sizeof end, err);
}
