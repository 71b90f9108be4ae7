/* SPDX-License-Identifier: BSD-3-Clause
 * The bytes of a zip archive around its members, as Python's zipfile writes them. A local header
 * whose sizes are known later has a zip64 field, so that they fit (force_zip64, as numpy.savez asks
 * for it); other headers, entries and the end have one where a number is over 2^31 - 1. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "io/zip.h"

enum { VERSION = 45, UNIX = 3, DATE = 1 << 5 | 1, OWNER_ONLY = 0600 };

static const uint64_t zip64_from = (UINT64_C(1) << 31) - 1; /* numbers over this */

/* Little-endian numbers into a part of the archive, which is short. */
typedef struct part {
    uint8_t bytes[128];
    size_t n;
} part;

static void put(part *p, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        p->bytes[p->n++] = (uint8_t)(v >> 8 * i);
}

static bool is_ascii(const char *s)
{
    while (*s != '\0' && (uint8_t)*s < 0x80)
        s++;
    return *s == '\0';
}

/* What headers and entries have in common, from the version to the CRC. */
static void put_common(part *p, const cip_zip_member *m)
{
    put(p, VERSION, 2);
    put(p, is_ascii(m->name) ? 0 : CIP_ZIP_UTF8, 2);
    put(p, m->method, 2);
    put(p, 0, 2);
    put(p, DATE, 2);
    put(p, m->crc, 4);
}

static bool is_large(const cip_zip_member *m)
{
    return m->size > zip64_from || m->stored > zip64_from;
}

cip_status cip_zip_header_write(const cip_zip_member *m, bool wide, cip_buf *out, cip_err *err)
{
    part head = { .n = 0 }, extra = { .n = 0 };
    wide = wide || is_large(m);
    if (wide) {
        put(&extra, 1, 2);
        put(&extra, 16, 2);
        put(&extra, m->size, 8);
        put(&extra, m->stored, 8);
    }
    put(&head, 0x04034b50, 4);
    put_common(&head, m);
    put(&head, wide ? UINT32_MAX : m->stored, 4);
    put(&head, wide ? UINT32_MAX : m->size, 4);
    put(&head, strlen(m->name), 2);
    put(&head, extra.n, 2);
    CIP_TRY(cip_buf_add(out, head.bytes, head.n, err));
    CIP_TRY(cip_buf_puts(out, m->name, err));
    return cip_buf_add(out, extra.bytes, extra.n, err);
}

static cip_status put_entry(const cip_zip_member *m, cip_buf *out, cip_err *err)
{
    part head = { .n = 0 }, extra = { .n = 0 };
    const bool large = is_large(m);
    const bool far = m->header > zip64_from;
    if (large || far) {
        put(&extra, 1, 2);
        put(&extra, (large ? 16 : 0) + (far ? 8 : 0), 2);
    }
    if (large) {
        put(&extra, m->size, 8);
        put(&extra, m->stored, 8);
    }
    if (far)
        put(&extra, m->header, 8);
    put(&head, 0x02014b50, 4);
    put(&head, VERSION | UNIX << 8, 2);
    put_common(&head, m);
    put(&head, large ? UINT32_MAX : m->stored, 4);
    put(&head, large ? UINT32_MAX : m->size, 4);
    put(&head, strlen(m->name), 2);
    put(&head, extra.n, 2);
    put(&head, 0, 6); /* comment, disk, attributes of the contents */
    put(&head, OWNER_ONLY << 16, 4);
    put(&head, far ? UINT32_MAX : m->header, 4);
    CIP_TRY(cip_buf_add(out, head.bytes, head.n, err));
    CIP_TRY(cip_buf_puts(out, m->name, err));
    return cip_buf_add(out, extra.bytes, extra.n, err);
}

/* --- as they are, with other numbers ---------------------------------------------------------- */

/* Extra fields but zip64's, as far as they are fields. */
static cip_status put_extra(const uint8_t *p, size_t n, cip_buf *out, cip_err *err)
{
    for (size_t len; n >= 4; p += len, n -= len) {
        len = 4 + (size_t)cip_load_u16(p + 2, false);
        if (len > n)
            break;
        if (cip_load_u16(p, false) != 1)
            CIP_TRY(cip_buf_add(out, p, len, err));
    }
    return CIP_OK;
}

/* Bytes of a header or an entry: those of the directory have two more before the version. */
enum { FLAGS = 6, CRC = 14, STORED = 18, SIZE = 22, NNAME = 26, NEXTRA = 28, HEADER = 30 };
enum { BEHIND = 2, NCOMMENT = 32, OFFSET = 42, ENTRY = 46, DESCRIPTOR = 8 };

/* The bytes at p, a header or an entry, with m's numbers. */
static cip_status put_again(const cip_zip_member *m, uint8_t *p, bool entry, cip_buf *out,
                            cip_err *err)
{
    uint8_t *f = p + (entry ? BEHIND : 0);
    const size_t fixed = entry ? ENTRY : HEADER, nname = cip_load_u16(f + NNAME, false);
    const size_t nextra = cip_load_u16(f + NEXTRA, false);
    const size_t ncomment = entry ? cip_load_u16(p + NCOMMENT, false) : 0;
    const uint8_t *name = p + fixed, *extra = name + nname;
    const bool sized = cip_load_u32(f + SIZE, false) == UINT32_MAX && !entry;
    const bool large = sized || is_large(m);
    const bool far = entry && m->header > zip64_from;
    const uint16_t flags = cip_load_u16(f + FLAGS, false);
    part wide = { .n = 0 };
    cip_buf rest = { .mem = out->mem };
    if (large || far) {
        put(&wide, 1, 2);
        put(&wide, (large ? 16 : 0) + (far ? 8 : 0), 2);
    }
    if (large) {
        put(&wide, m->size, 8);
        put(&wide, m->stored, 8);
    }
    if (far)
        put(&wide, m->header, 8);
    cip_status st = put_extra(extra, nextra, &rest, err);
    if (st == CIP_OK && rest.len + wide.n > UINT16_MAX)
        st = cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                      "member '%.100s' has no room for its sizes", m->name);
    CIP_GO(st);
    if (wide.n != 0 && cip_load_u16(f + FLAGS - 2, false) < VERSION)
        cip_store_u16(f + FLAGS - 2, VERSION, false);
    cip_store_u16(f + FLAGS, (uint16_t)((flags & ~DESCRIPTOR) | (m->flags & DESCRIPTOR)), false);
    cip_store_u32(f + CRC, m->crc, false);
    cip_store_u32(f + STORED, large ? UINT32_MAX : (uint32_t)m->stored, false);
    cip_store_u32(f + SIZE, large ? UINT32_MAX : (uint32_t)m->size, false);
    cip_store_u16(f + NEXTRA, (uint16_t)(rest.len + wide.n), false);
    if (entry)
        cip_store_u32(p + OFFSET, far ? UINT32_MAX : (uint32_t)m->header, false);
    CIP_GO(cip_buf_add(out, p, fixed + nname, err));
    CIP_GO(cip_buf_add(out, wide.bytes, wide.n, err));
    CIP_GO(cip_buf_add(out, rest.ptr, rest.len, err));
    st = cip_buf_add(out, extra + nextra, ncomment, err);
done:
    cip_buf_clear(&rest);
    return st;
}

static cip_status again(cip_io *io, uint64_t at, bool entry, const cip_zip_member *m, cip_buf *out,
                        cip_err *err)
{
    uint8_t fixed[ENTRY], *all;
    const size_t nfixed = entry ? ENTRY : HEADER;
    const uint8_t *f = fixed + (entry ? BEHIND : 0);
    CIP_TRY(cip_io_read(io, at, fixed, nfixed, err));
    const size_t n = nfixed + cip_load_u16(f + NNAME, false) + cip_load_u16(f + NEXTRA, false) +
                     (entry ? cip_load_u16(fixed + NCOMMENT, false) : 0);
    CIP_TRY(cip_mem_get(&io->env->mem, n, (void **)&all, err));
    cip_status st = cip_io_read(io, at, all, n, err);
    if (st == CIP_OK)
        st = put_again(m, all, entry, out, err);
    cip_mem_put(&io->env->mem, all);
    return st;
}

cip_status cip_zip_header_again(cip_io *io, uint64_t at, const cip_zip_member *m, cip_buf *out,
                                cip_err *err)
{
    return again(io, at, false, m, out, err);
}

/* --- the directory ---------------------------------------------------------------------------- */

static cip_status put_end(size_t n, uint64_t at, uint64_t len, cip_buf *out, cip_err *err)
{
    part end = { .n = 0 };
    if (n > UINT16_MAX || at > zip64_from || len > zip64_from) {
        put(&end, 0x06064b50, 4);
        put(&end, 44, 8);
        put(&end, VERSION, 2);
        put(&end, VERSION, 2);
        put(&end, 0, 8);
        put(&end, n, 8);
        put(&end, n, 8);
        put(&end, len, 8);
        put(&end, at, 8);
        put(&end, 0x07064b50, 4);
        put(&end, 0, 4);
        put(&end, at + len, 8);
        put(&end, 1, 4);
    }
    put(&end, 0x06054b50, 4);
    put(&end, 0, 4);
    put(&end, cip_min_u64(n, UINT16_MAX), 2);
    put(&end, cip_min_u64(n, UINT16_MAX), 2);
    put(&end, cip_min_u64(len, UINT32_MAX), 4);
    put(&end, cip_min_u64(at, UINT32_MAX), 4);
    return cip_buf_add(out, end.bytes, end.n, err);
}

/* The comment of an archive that is there, with its length; of a new one there is none. */
static cip_status put_comment(cip_io *io, const cip_zip *z, cip_buf *out, cip_err *err)
{
    const size_t n = z != NULL ? z->ncomment : 0;
    uint8_t *room;
    part len = { .n = 0 };
    put(&len, n, 2);
    CIP_TRY(cip_buf_add(out, len.bytes, len.n, err));
    if (n == 0)
        return CIP_OK;
    CIP_TRY(cip_buf_reserve(out, n, &room, err));
    CIP_TRY(cip_io_read(io, io->size - n, room, n, err));
    out->len += n;
    return CIP_OK;
}

cip_status cip_zip_directory_write(const cip_zip_member *m, size_t n, uint64_t at, cip_io *io,
                                   const cip_zip *z, cip_buf *out, cip_err *err)
{
    const size_t before = out->len;
    for (size_t i = 0; i < n; i++)
        CIP_TRY(m[i].entry == 0 ? put_entry(&m[i], out, err)
                                : again(io, m[i].entry, true, &m[i], out, err));
    CIP_TRY(put_end(n, at, out->len - before, out, err));
    return put_comment(io, z, out, err);
}
