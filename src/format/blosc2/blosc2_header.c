/* SPDX-License-Identifier: BSD-3-Clause
 * A frame's header and trailer: msgpack of a fixed form, so that fields lie at fixed places; what
 * varies are the metalayers at the end of the header and the vlmetalayers in the trailer. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/blosc2/blosc2.h"

static const uint8_t magic[] = { 0x9e, 0xa8, 'b', '2', 'f', 'r', 'a', 'm', 'e', 0 };

enum {
    AT_HEADER_LEN = 0x0B,
    AT_FRAME_LEN = CIP_B2_FRAME_LEN,
    AT_FLAGS = 0x19,
    AT_KIND = 0x1A,
    AT_CODEC = 0x1B,
    AT_OTHER = 0x1C,
    AT_NBYTES = 0x1E,
    AT_CBYTES = 0x27,
    AT_TYPESIZE = 0x30,
    AT_BLOCKSIZE = 0x35,
    AT_CHUNKSIZE = 0x3A,
    AT_FILTERS = 0x47,
    AT_UCODEC = 0x4D,
    AT_CODEC_META = 0x4E,
    AT_FILTERS_META = 0x4F,
    AT_OTHER2 = 0x55,
    AT_METAS = 0x57
};

enum { FRAME_VERSION_MAX = 3, TAIL = 23 };

/* Marks that stand before the fields. */
static const struct {
    uint8_t at, mark;
} marks[] = { { 0x0A, 0xd2 }, { 0x0F, 0xcf }, { 0x18, 0xa4 }, { 0x1D, 0xd3 },
              { 0x26, 0xd3 }, { 0x2F, 0xd2 }, { 0x34, 0xd2 }, { 0x39, 0xd2 },
              { 0x3E, 0xd1 }, { 0x41, 0xd1 }, { 0x45, 0xd8 }, { 0x46, CIP_BLOSC_FILTERS } };

bool cip_b2_magic(cip_bytes in)
{
    return in.len >= sizeof magic && memcmp(in.ptr, magic, sizeof magic) == 0;
}

static cip_status check_lengths(const cip_b2_header *h, uint64_t total, cip_err *err)
{
    if (h->header_len < CIP_B2_HEADER_MIN || h->header_len > h->frame_len)
        return cip_fail(err, CIP_ERR_CORRUPT, AT_HEADER_LEN,
                        "expected a header of %d to %" PRIu64 " bytes, found %" PRId64,
                        CIP_B2_HEADER_MIN, h->frame_len, (int64_t)h->header_len);
    if (h->frame_len > total)
        return cip_fail(err, CIP_ERR_TRUNCATED, total,
                        "expected a frame of %" PRIu64 " bytes, found %" PRIu64, h->frame_len,
                        total);
    if (h->frame_len - h->header_len < CIP_B2_TRAILER_MIN)
        return cip_fail(err, CIP_ERR_CORRUPT, AT_FRAME_LEN,
                        "expected room for a trailer after the header, found %" PRIu64 " bytes",
                        h->frame_len - h->header_len);
    if (h->nbytes > INT64_MAX || h->cbytes > INT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, AT_NBYTES,
                        "expected lengths of at least 0, found %" PRId64 " and %" PRId64,
                        (int64_t)h->nbytes, (int64_t)h->cbytes);
    return CIP_OK;
}

/* A 32-bit field in `min` to 2^31 - 1. */
static cip_status get_size(const uint8_t *p, size_t at, const char *what, uint64_t min,
                           uint64_t *out, cip_err *err)
{
    uint32_t v = cip_load_u32(p + at, true);
    if (v > INT32_MAX || v < min)
        return cip_fail(err, CIP_ERR_CORRUPT, at,
                        "expected a %s of at least %" PRIu64 ", found %" PRId32, what, min,
                        (int32_t)v);
    *out = v;
    return CIP_OK;
}

static cip_status get_kind(const uint8_t *p, cip_b2_header *h, cip_err *err)
{
    h->version = p[AT_FLAGS] & 0x0f;
    h->width_code = p[AT_FLAGS] >> 4 & 3;
    h->variable = (p[AT_FLAGS] & 0x40) != 0;
    h->vl = (p[AT_FLAGS] & 0x80) != 0;
    h->sparse = (p[AT_KIND] & 0x0f) == 1;
    h->codec = p[AT_CODEC] & 0x0f;
    h->level = p[AT_CODEC] >> 4;
    h->split = p[AT_OTHER] & 3;
    if (h->version == 0 || h->version > FRAME_VERSION_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, AT_FLAGS,
                        "expected a frame of version 1 to %d, found %u", FRAME_VERSION_MAX,
                        h->version);
    if ((p[AT_KIND] & 0x0f) > 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, AT_KIND,
                        "expected a frame of type 0 or 1, found %u", p[AT_KIND] & 0x0f);
    return CIP_OK;
}

cip_status cip_b2_header_read(cip_bytes in, uint64_t total, cip_b2_header *out, cip_err *err)
{
    cip_b2_header h = { 0 };
    const uint8_t *p = in.ptr;
    if (!cip_b2_magic(in))
        return cip_fail(err, CIP_ERR_FORMAT, 0, "expected the magic 'b2frame', found none");
    if (in.len < CIP_B2_HEADER_MIN)
        return cip_fail(err, CIP_ERR_TRUNCATED, in.len,
                        "expected a header of at least %d bytes, found %zu", CIP_B2_HEADER_MIN,
                        in.len);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (p[marks[i].at] != marks[i].mark)
            return cip_fail(err, CIP_ERR_CORRUPT, marks[i].at,
                            "expected the type byte 0x%02x, found 0x%02x", marks[i].mark,
                            p[marks[i].at]);
    if (p[0x44] != 0xc2 && p[0x44] != 0xc3)
        return cip_fail(err, CIP_ERR_CORRUPT, 0x44, "expected true or false, found 0x%02x",
                        p[0x44]);
    h.header_len = (uint64_t)(int64_t)(int32_t)cip_load_u32(p + AT_HEADER_LEN, true);
    h.frame_len = cip_load_u64(p + AT_FRAME_LEN, true);
    h.nbytes = cip_load_u64(p + AT_NBYTES, true);
    h.cbytes = cip_load_u64(p + AT_CBYTES, true);
    CIP_TRY(get_kind(p, &h, err));
    CIP_TRY(check_lengths(&h, total, err));
    CIP_TRY(get_size(p, AT_TYPESIZE, "typesize", 1, &h.typesize, err));
    CIP_TRY(get_size(p, AT_BLOCKSIZE, "block size", 0, &h.blocksize, err));
    if (h.nbytes != 0 || cip_load_u32(p + AT_CHUNKSIZE, true) <= INT32_MAX) /* -1: no chunks yet */
        CIP_TRY(get_size(p, AT_CHUNKSIZE, "chunk size", 0, &h.chunksize, err));
    memcpy(h.filter, p + AT_FILTERS, sizeof h.filter);
    memcpy(h.filter_meta, p + AT_FILTERS_META, sizeof h.filter_meta);
    h.user_codec = p[AT_UCODEC];
    h.codec_meta = p[AT_CODEC_META];
    h.dict = (p[AT_OTHER2] & 1) != 0;
    *out = h;
    return CIP_OK;
}

/* --- metalayers ------------------------------------------------------------------------------- */

/* What a section of metalayers lies in. */
typedef struct section {
    cip_bytes in; /* offsets count from its beginning */
    cip_cursor c; /* where it is read */
    size_t max;   /* metalayers */
} section;

static cip_status expect(section *s, uint8_t mark, const char *what, cip_err *err)
{
    size_t at = s->c.pos;
    uint8_t found = cip_get_u8(&s->c);
    if (s->c.bad)
        return cip_fail(err, CIP_ERR_TRUNCATED, at, "expected %s, found the end", what);
    if (found != mark)
        return cip_fail(err, CIP_ERR_CORRUPT, at, "expected %s (0x%02x), found 0x%02x", what, mark,
                        found);
    return CIP_OK;
}

/* The value at an offset: a bin32. */
static cip_status get_value(const section *s, uint32_t at, cip_b2_meta *m, cip_err *err)
{
    if (at > s->in.len || s->in.len - at < 5 || s->in.ptr[at] != 0xc6)
        return cip_fail(err, CIP_ERR_CORRUPT, at,
                        "expected the value of metalayer '%.*s' at this place, found none",
                        (int)m->name.len, (const char *)m->name.ptr);
    uint32_t len = cip_load_u32(s->in.ptr + at + 1, true);
    if (len > s->in.len - at - 5)
        return cip_fail(err, CIP_ERR_CORRUPT, at,
                        "expected %" PRIu32 " bytes of metalayer '%.*s', found %zu", len,
                        (int)m->name.len, (const char *)m->name.ptr, s->in.len - at - 5);
    m->value = (cip_bytes){ s->in.ptr + at + 5, len };
    m->at = (uint64_t)at + 5;
    return CIP_OK;
}

/* 93 cd size de n {name, offset}... dc n {value}...; the size is that up to dc, without the 93 in
 * trailers. */
static cip_status get_metas(section *s, cip_arena *a, cip_b2_metas *out, cip_err *err)
{
    size_t from = s->c.pos;
    cip_b2_metas m = { NULL, 0 };
    CIP_TRY(expect(s, 0x93, "an array of three", err));
    CIP_TRY(expect(s, 0xcd, "the size of the metalayers", err));
    uint16_t size = cip_get_u16(&s->c);
    CIP_TRY(expect(s, 0xde, "a map of metalayers", err));
    m.n = cip_get_u16(&s->c);
    if (m.n > s->max || m.n > cip_cursor_left(&s->c) / 6)
        return cip_fail(err, CIP_ERR_CORRUPT, s->c.pos - 2,
                        "expected at most %zu metalayers, found %zu", s->max, m.n);
    CIP_TRY(CIP_ARENA_NEW(a, &m.at, m.n, err));
    for (size_t i = 0; i < m.n; i++) {
        uint32_t at = 0;
        size_t pos = s->c.pos;
        uint8_t mark = cip_get_u8(&s->c);
        if (mark < 0xa0 || mark > 0xbf)
            return cip_fail(err, CIP_ERR_CORRUPT, pos, "expected a metalayer's name, found 0x%02x",
                            mark);
        m.at[i].name = cip_get_bytes(&s->c, mark & 0x1f);
        CIP_TRY(expect(s, 0xd2, "a metalayer's offset", err));
        at = cip_get_u32(&s->c);
        if (s->c.bad)
            return cip_fail(err, CIP_ERR_TRUNCATED, pos, "expected a metalayer's name and offset");
        CIP_TRY(get_value(s, at, &m.at[i], err));
    }
    size_t found = s->c.pos - from;
    if (size != (uint16_t)found && size != (uint16_t)(found - 1))
        return cip_fail(err, CIP_ERR_CORRUPT, from + 2,
                        "expected a map of metalayers of %u bytes, found %zu", size, found);
    CIP_TRY(expect(s, 0xdc, "an array of values", err));
    uint16_t n = cip_get_u16(&s->c);
    if (s->c.bad || n != m.n)
        return cip_fail(err, CIP_ERR_CORRUPT, s->c.pos, "expected %zu values, found %u", m.n, n);
    *out = m;
    return CIP_OK;
}

cip_status cip_b2_header_metas(cip_bytes in, cip_arena *a, cip_b2_metas *out, cip_err *err)
{
    section s = { .in = in, .c = cip_cursor_be(in), .max = CIP_B2_MAX_META };
    if (in.len == CIP_B2_HEADER_MIN) {
        *out = (cip_b2_metas){ NULL, 0 };
        return CIP_OK;
    }
    s.c.pos = AT_METAS;
    return get_metas(&s, a, out, err);
}

const cip_b2_meta *cip_b2_meta_find(const cip_b2_metas *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->at[i].name.len == strlen(name) &&
            memcmp(m->at[i].name.ptr, name, m->at[i].name.len) == 0)
            return &m->at[i];
    return NULL;
}

const cip_b2_meta *cip_b2_meta_nd(const cip_b2_metas *m)
{
    const cip_b2_meta *nd = cip_b2_meta_find(m, "b2nd");
    return nd != NULL ? nd : cip_b2_meta_find(m, "caterva");
}

/* --- trailer ---------------------------------------------------------------------------------- */

cip_status cip_b2_trailer_len(cip_bytes in, const cip_b2_header *h, uint64_t *len, cip_err *err)
{
    uint64_t at = h->frame_len - TAIL;
    if (in.len != TAIL || in.ptr[0] != 0xce || in.ptr[5] != 0xd8)
        return cip_fail(err, CIP_ERR_CORRUPT, at,
                        "expected the trailer's length and fingerprint, found other bytes");
    uint32_t n = cip_load_u32(in.ptr + 1, true);
    if (n < CIP_B2_TRAILER_MIN || n > h->frame_len - h->header_len)
        return cip_fail(err, CIP_ERR_CORRUPT, at + 1,
                        "expected a trailer of %d to %" PRIu64 " bytes, found %" PRIu32,
                        CIP_B2_TRAILER_MIN, h->frame_len - h->header_len, n);
    *len = n;
    return CIP_OK;
}

cip_status cip_b2_trailer_read(cip_bytes in, cip_arena *a, cip_b2_trailer *out, cip_b2_metas *metas,
                               cip_err *err)
{
    const uint8_t *tail = in.ptr + in.len - TAIL;
    *out = (cip_b2_trailer){ .len = in.len, .version = in.ptr[1], .fingerprint_type = tail[6] };
    memcpy(out->fingerprint, tail + 7, sizeof out->fingerprint);
    *metas = (cip_b2_metas){ NULL, 0 };
    if (in.ptr[0] != 0x94)
        return cip_fail(err, CIP_ERR_CORRUPT, 0, "expected a trailer (0x94), found 0x%02x",
                        in.ptr[0]);
    if (out->version > 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, 1,
                        "expected a trailer of version 0 or 1, found %u", out->version);
    if (in.len == CIP_B2_TRAILER_MIN)
        return CIP_OK;
    /* The document says that the vlmetalayers lie in a bin32, and nothing of where offsets count
     * from: from the trailer or from the object. */
    cip_bytes body = { in.ptr, in.len - TAIL };
    section s = { .in = body, .c = cip_cursor_be(body), .max = CIP_B2_MAX_VLMETA };
    s.c.pos = 2;
    out->wrapped = body.len > 7 && body.ptr[2] == 0xc6;
    if (!out->wrapped)
        return get_metas(&s, a, metas, err);
    uint32_t len = cip_load_u32(body.ptr + 3, true);
    if (len > body.len - 7)
        return cip_fail(err, CIP_ERR_CORRUPT, 3,
                        "expected %" PRIu32 " bytes of vlmetalayers, found %zu", len, body.len - 7);
    s.c.pos = 7;
    if (get_metas(&s, a, metas, NULL) == CIP_OK)
        return CIP_OK;
    s.in = (cip_bytes){ body.ptr + 7, len };
    s.c = cip_cursor_be(s.in);
    return get_metas(&s, a, metas, err);
}

const char *cip_b2_codec_name(const cip_b2_header *h)
{
    static const char *const of_nibble[] = { "blosclz", "lz4", "lz4hc", "zlib", "zlib", "zstd" };
    if (h->codec < sizeof of_nibble / sizeof of_nibble[0]) /* 3: the document's number of zlib */
        return of_nibble[h->codec];
    const char *name = h->codec == CIP_B2_USER_CODEC ? cip_blosc_codec_name(h->user_codec) : NULL;
    return name != NULL ? name : "unknown";
}
