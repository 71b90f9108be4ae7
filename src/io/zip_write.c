/* SPDX-License-Identifier: BSD-3-Clause
 * The bytes of a zip archive around its members, as Python's zipfile writes them with force_zip64,
 * which is what numpy.savez does: local headers always have a zip64 field, so that a size that is
 * known later fits; entries and the end have one where a number is over 2^31 - 1. */
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

cip_status cip_zip_header_write(const cip_zip_member *m, cip_buf *out, cip_err *err)
{
    part head = { .n = 0 }, extra = { .n = 0 };
    put(&head, 0x04034b50, 4);
    put_common(&head, m);
    put(&head, UINT64_MAX, 8);
    put(&head, strlen(m->name), 2);
    put(&head, 20, 2);
    put(&extra, 1, 2);
    put(&extra, 16, 2);
    put(&extra, m->size, 8);
    put(&extra, m->stored, 8);
    CIP_TRY(cip_buf_add(out, head.bytes, head.n, err));
    CIP_TRY(cip_buf_puts(out, m->name, err));
    return cip_buf_add(out, extra.bytes, extra.n, err);
}

static cip_status put_entry(const cip_zip_member *m, cip_buf *out, cip_err *err)
{
    part head = { .n = 0 }, extra = { .n = 0 };
    const bool large = m->size > zip64_from || m->stored > zip64_from;
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

cip_status cip_zip_directory_write(const cip_zip_member *m, size_t n, uint64_t at, cip_buf *out,
                                   cip_err *err)
{
    const size_t before = out->len;
    part end = { .n = 0 };
    for (size_t i = 0; i < n; i++)
        CIP_TRY(put_entry(&m[i], out, err));
    const uint64_t len = out->len - before;
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
    put(&end, 0, 2);
    return cip_buf_add(out, end.bytes, end.n, err);
}
