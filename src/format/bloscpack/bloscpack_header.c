/* SPDX-License-Identifier: BSD-3-Clause
 * The header and that of the metadata section: bytes to fields, each checked by itself and against
 * the others. */
#include "format/bloscpack/bloscpack.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"

enum { HEADER_1 = 16, AT_VERSION = 4, AT_OPTIONS = 5, AT_SUM = 6 };

static const char magic[4] = "blpk";
static const char meta_magic[8] = "JSON";

/* The kinds of digests in the order of their numbers in files. */
static const cip_sum_id sums[] = { CIP_SUM_NONE,   CIP_SUM_ADLER32, CIP_SUM_CRC32,
                                   CIP_SUM_MD5,    CIP_SUM_SHA1,    CIP_SUM_SHA224,
                                   CIP_SUM_SHA256, CIP_SUM_SHA384,  CIP_SUM_SHA512 };

static cip_status sum_of_number(uint8_t number, uint64_t at, cip_sum_id *out, cip_err *err)
{
    const size_t n = sizeof sums / sizeof sums[0];
    if (number >= n)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, at,
                        "expected a checksum of number 0 to %zu, found %u", n - 1, number);
    *out = sums[number];
    return CIP_OK;
}

static uint8_t number_of_sum(cip_sum_id id)
{
    uint8_t i = 0;
    while (sums[i] != id)
        i++;
    return i;
}

bool cip_bp_sum_named(const char *name, cip_sum_id *out)
{
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        if (strcmp(cip_sum_name(sums[i]), name) != 0)
            continue;
        *out = sums[i];
        return true;
    }
    return false;
}

void cip_bp_digest(cip_sum_id id, const uint8_t *stored, uint8_t *out)
{
    size_t n = cip_sum_size(id);
    bool number = id == CIP_SUM_ADLER32 || id == CIP_SUM_CRC32;
    for (size_t i = 0; i < n; i++)
        out[i] = stored[number ? n - 1 - i : i];
}

/* -1, or 0 to `most`. */
static cip_status check_size(int64_t v, int64_t most, uint64_t at, const char *what, cip_err *err)
{
    if (v >= -1 && v <= most)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, at,
                    "expected %s of -1 (unknown) to %" PRId64 ", found %" PRId64, what, most, v);
}

static cip_status check_sizes(const cip_bp_header *h, int64_t spare, cip_err *err)
{
    bool offsets = (h->options & CIP_BP_OFFSETS) != 0;
    CIP_TRY(check_size(h->chunk_size, INT32_MAX, 8, "a chunk size", err));
    CIP_TRY(check_size(h->last_chunk, h->chunk_size < 0 ? INT32_MAX : h->chunk_size, 12,
                       "a size of the last chunk", err));
    CIP_TRY(check_size(h->nchunk, INT64_MAX, 16, "a number of chunks", err));
    if (h->version == 2 && spare != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, 24,
                        "expected 8 zero bytes in version 2, found other bytes");
    if (spare < 0 || (spare != 0 && !offsets))
        return cip_fail(err, CIP_ERR_CORRUPT, 24, "expected %s free offsets, found %" PRId64,
                        offsets ? "a number of" : "no", spare);
    if (h->nchunk == 0 && h->last_chunk > 0)
        return cip_fail(err, CIP_ERR_CORRUPT, 12,
                        "expected no last chunk where there are no chunks, found %" PRId64 " bytes",
                        h->last_chunk);
    if (offsets && h->nchunk < 0)
        return cip_fail(err, CIP_ERR_CORRUPT, 16,
                        "expected a number of chunks, because there are offsets, found -1");
    return CIP_OK;
}

static cip_status read_fields(cip_cursor *c, bool force, cip_bp_header *h, cip_err *err)
{
    uint8_t sum = cip_get_u8(c);
    int64_t spare = 0;
    h->typesize = cip_get_u8(c);
    h->chunk_size = h->last_chunk = -1;
    if (h->version != 1) {
        h->chunk_size = (int32_t)cip_get_u32(c);
        h->last_chunk = (int32_t)cip_get_u32(c);
    }
    h->nchunk = (int64_t)cip_get_u64(c);
    if (h->version != 1)
        spare = (int64_t)cip_get_u64(c);
    if (c->bad)
        return CIP_OK;
    if (h->version == 1 && (sum | h->typesize) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, AT_SUM,
                        "expected zero bytes in version 1, found 0x%02x%02x", sum, h->typesize);
    uint8_t known = h->version == 1   ? 0
                    : h->version == 2 ? CIP_BP_OFFSETS
                                      : CIP_BP_OFFSETS | CIP_BP_METADATA;
    if ((h->options & ~known) != 0 && !force)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, AT_OPTIONS,
                        "expected only the option bits 0x%02x in version %u, found 0x%02x", known,
                        h->version, h->options);
    h->options &= known;
    CIP_TRY(sum_of_number(sum, AT_SUM, &h->sum, err));
    h->nspare = (uint64_t)spare;
    h->len = c->pos;
    return check_sizes(h, spare, err);
}

cip_status cip_bp_header_read(cip_bytes in, uint64_t total, bool force, cip_bp_header *out,
                              cip_err *err)
{
    cip_bp_header h = { .sum = CIP_SUM_NONE };
    if (in.len < sizeof magic || memcmp(in.ptr, magic, sizeof magic) != 0)
        return cip_fail(err, CIP_ERR_FORMAT, 0, "expected the magic 'blpk', found none");
    cip_cursor c = cip_cursor_le(in);
    cip_get_bytes(&c, sizeof magic);
    h.version = cip_get_u8(&c);
    h.options = cip_get_u8(&c);
    if (!c.bad && (h.version < 1 || h.version > 3) && (!force || h.version <= 3))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, AT_VERSION,
                        "expected version 1, 2 or 3, found %u", h.version);
    CIP_TRY(read_fields(&c, force, &h, err));
    if (c.bad)
        return cip_fail(err, CIP_ERR_TRUNCATED, total,
                        "expected a header of %d bytes, found %" PRIu64,
                        h.version == 1 ? HEADER_1 : CIP_BP_HEADER, total);
    *out = h;
    return CIP_OK;
}

void cip_bp_header_write(const cip_bp_header *h, uint8_t out[CIP_BP_HEADER])
{
    memcpy(out, magic, sizeof magic);
    out[AT_VERSION] = h->version;
    out[AT_OPTIONS] = h->options;
    out[AT_SUM] = number_of_sum(h->sum);
    out[7] = h->typesize;
    cip_store_u32(out + 8, (uint32_t)h->chunk_size, false);
    cip_store_u32(out + 12, (uint32_t)h->last_chunk, false);
    cip_store_u64(out + 16, (uint64_t)h->nchunk, false);
    cip_store_u64(out + 24, h->nspare, false);
}

/* --- metadata --------------------------------------------------------------------------------- */

cip_status cip_bp_meta_read(cip_bytes in, uint64_t at, uint64_t left, cip_bp_meta *out,
                            cip_err *err)
{
    cip_bp_meta m = { .codec = 0 };
    cip_cursor c = cip_cursor_le(in);
    cip_bytes found = cip_get_bytes(&c, sizeof meta_magic);
    uint8_t options = cip_get_u8(&c), sum = cip_get_u8(&c);
    m.codec = cip_get_u8(&c);
    m.level = cip_get_u8(&c);
    m.size = cip_get_u32(&c);
    m.room = cip_get_u32(&c);
    m.stored = cip_get_u32(&c);
    cip_get_copy(&c, m.user_codec, sizeof m.user_codec - 1);
    if (c.bad)
        return cip_fail(err, CIP_ERR_TRUNCATED, at + left,
                        "expected a metadata header of %d bytes, found %" PRIu64,
                        CIP_BP_META_HEADER, left);
    if (memcmp(found.ptr, meta_magic, sizeof meta_magic) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, at,
                        "expected metadata of the kind 'JSON', found another kind");
    if (options != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, at + 8,
                        "expected no option bits of the metadata, found 0x%02x", options);
    CIP_TRY(sum_of_number(sum, at + 9, &m.sum, err));
    m.len = CIP_BP_META_HEADER + (uint64_t)m.room + cip_sum_size(m.sum);
    if (m.len > left)
        return cip_fail(err, CIP_ERR_TRUNCATED, at + left,
                        "expected a metadata section of %" PRIu64 " bytes, found %" PRIu64, m.len,
                        left);
    if (m.stored > m.room)
        return cip_fail(err, CIP_ERR_CORRUPT, at + 20,
                        "expected metadata of at most %" PRIu32 " stored bytes, found %" PRIu32,
                        m.room, m.stored);
    *out = m;
    return CIP_OK;
}

void cip_bp_meta_write(const cip_bp_meta *m, uint8_t out[CIP_BP_META_HEADER])
{
    memset(out, 0, CIP_BP_META_HEADER);
    memcpy(out, meta_magic, sizeof meta_magic);
    out[9] = number_of_sum(m->sum);
    out[10] = m->codec;
    out[11] = m->level;
    cip_store_u32(out + 12, m->size, false);
    cip_store_u32(out + 16, m->room, false);
    cip_store_u32(out + 20, m->stored, false);
}
