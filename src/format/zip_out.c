/* SPDX-License-Identifier: BSD-3-Clause
 * Members of zip archives as they are written. A member's CRC-32 is worked out before its header is
 * written, so that outputs which only go forwards will do. */
#include "format/zip_out.h"

#include "base/endian.h"
#include "codec/checksum/checksum.h"
#include "io/revision_out.h"
#include "tree/utf8.h"

/* --- CRC-32 ----------------------------------------------------------------------------------- */

static cip_status add_to_sum(void *user, const void *p, size_t n, cip_err *err)
{
    (void)err;
    cip_sum_add(user, p, n);
    return CIP_OK;
}

static cip_status sum_pieces(cip_mem *mem, const cip_segment *piece, size_t n, uint32_t *crc,
                             cip_err *err)
{
    cip_out out = { .write = add_to_sum };
    uint8_t sum[CIP_SUM_MAX];
    cip_sum *s;
    cip_status st = CIP_OK;
    CIP_TRY(cip_sum_new(mem, CIP_SUM_CRC32, &s, err));
    out.user = s;
    for (size_t i = 0; i < n && st == CIP_OK; i++)
        st = cip_out_segment(&out, &piece[i], err);
    cip_sum_take(s, sum);
    *crc = cip_load_u32(sum, true);
    cip_sum_free(s);
    return st;
}

/* --- members ---------------------------------------------------------------------------------- */

static cip_status check_name(const cip_zip_out *z, const char *name, cip_err *err)
{
    const size_t n = strlen(name);
    const char *fault = cip_zip_name_fault(name, n);
    if (fault == NULL && n > UINT16_MAX)
        fault = "a name of less than 65,536 bytes";
    if (fault == NULL && !cip_utf8_is(name, n))
        fault = "a name in UTF-8";
    if (fault != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a member of a zip archive needs %s, found '%.120s'", fault, name);
    if (cip_strmap_get(&z->name, (cip_bytes){ (const uint8_t *)name, n }) != SIZE_MAX)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.120s' is in the archive already",
                        name);
    return CIP_OK;
}

cip_status cip_zip_out_add(cip_zip_out *z, const cip_zip_member *m, cip_err *err)
{
    const cip_bytes key = { (const uint8_t *)m->name, strlen(m->name) };
    z->name.mem = z->mem;
    CIP_TRY(CIP_ARENA_ROOM(z->arena, &z->at, z->n, &z->cap, err));
    CIP_TRY(cip_strmap_put(&z->name, key, z->n, NULL, err));
    z->at[z->n++] = *m;
    return CIP_OK;
}

cip_status cip_zip_put_stored(cip_zip_out *z, const char *name, const cip_zip_member *m,
                              const cip_segment *piece, size_t n, cip_err *err)
{
    cip_zip_member now = *m;
    cip_buf head = { .mem = z->mem };
    char *copy;
    CIP_TRY(check_name(z, name, err));
    CIP_TRY(cip_arena_copy(z->arena, name, strlen(name), &copy, err));
    now.name = copy;
    now.header = z->to->n;
    cip_status st = cip_zip_header_write(&now, false, &head, err);
    if (st == CIP_OK)
        st = cip_out_write(z->to, head.ptr, head.len, err);
    cip_buf_clear(&head);
    for (size_t i = 0; i < n && st == CIP_OK; i++)
        st = cip_out_segment(z->to, &piece[i], err);
    return st == CIP_OK ? cip_zip_out_add(z, &now, err) : st;
}

cip_status cip_zip_put(cip_zip_out *z, const char *name, const cip_segment *piece, size_t n,
                       cip_err *err)
{
    cip_zip_member m = { .method = CIP_ZIP_STORED };
    for (size_t i = 0; i < n; i++)
        m.size += piece[i].len;
    m.stored = m.size;
    CIP_TRY(sum_pieces(z->mem, piece, n, &m.crc, err));
    return cip_zip_put_stored(z, name, &m, piece, n, err);
}

cip_status cip_zip_put_directory(cip_zip_out *z, cip_err *err)
{
    cip_buf b = { .mem = z->mem };
    cip_status st = cip_zip_directory_write(z->at, z->n, z->to->n, NULL, NULL, &b, err);
    if (st == CIP_OK)
        st = cip_out_write(z->to, b.ptr, b.len, err);
    cip_buf_clear(&b);
    return st;
}

void cip_zip_out_clear(cip_zip_out *z)
{
    cip_strmap_clear(&z->name);
}
