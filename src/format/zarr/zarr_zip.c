/* SPDX-License-Identifier: BSD-3-Clause
 * A store in one zip archive, as zarr-python's ZipStore writes it: it is read as the folder that
 * the archive holds. Chunks are stored members as a rule, that is parts of the file. */
#include <string.h>

#include "base/endian.h"
#include "codec/checksum/checksum.h"
#include "format/zarr/zarr.h"
#include "io/zip.h"

enum { PIECE = 1 << 20 };

static bool is_zip(cip_bytes head)
{
    return head.len >= 4 && memcmp(head.ptr, "PK\3\4", 4) == 0;
}

bool cip_zarr_is_zip(cip_io *io, cip_bytes head)
{
    cip_arena a = { .mem = &io->env->mem };
    cip_zip z;
    bool yes = false;
    if (cip_io_is_folder(io) || !is_zip(head))
        return false;
    if (cip_zip_read(io, &a, &z, NULL) == CIP_OK)
        for (const char *const *name = cip_zarr_names; *name != NULL && !yes; name++)
            yes = cip_zip_find(&z, *name) != NULL;
    cip_arena_clear(&a);
    return yes;
}

static cip_status inflate(cip_mem *mem, const cip_zip_member *m, const uint8_t *stored,
                          uint8_t *data, cip_err *err)
{
    const cip_codec_env env = { .mem = mem };
    const cip_deflate_args args = { m->crc };
    return cip_codec_deflate.decode(&args, &env, (cip_bytes){ stored, (size_t)m->stored }, data,
                                    (size_t)m->size, err);
}

cip_status cip_zarr_open_zip(cip_zarr *z, cip_err *err)
{
    uint8_t head[4];
    if (z->layout->io->size < sizeof head)
        return cip_fail(err, CIP_ERR_FORMAT, CIP_NO_OFFSET,
                        "expected a folder or a zip archive, found a file of %" PRIu64 " bytes",
                        z->layout->io->size);
    CIP_TRY(cip_io_read(z->layout->io, 0, head, sizeof head, err));
    if (!is_zip((cip_bytes){ head, sizeof head }))
        return cip_fail(err, CIP_ERR_FORMAT, 0, "expected a folder or a zip archive, found a file");
    CIP_TRY(cip_io_open_zip(z->layout->io, inflate, &z->zip, err));
    z->root = z->zip;
    return CIP_OK;
}

/* The CRC-32 of a stored member; a deflated one was compared when it was opened. */
static cip_status check_stored(const cip_zip_member *m, cip_io *io, cip_report *report,
                               cip_err *err)
{
    cip_mem *mem = &io->env->mem;
    uint8_t *piece = NULL, sum[CIP_SUM_MAX];
    cip_sum *s = NULL;
    cip_status st;
    CIP_GO(cip_sum_new(mem, CIP_SUM_CRC32, &s, err));
    CIP_GO(cip_mem_get(mem, PIECE, (void **)&piece, err));
    for (uint64_t at = 0; at < m->size; at += PIECE) {
        const size_t n = (size_t)cip_min_u64(PIECE, m->size - at);
        CIP_GO(cip_io_read(io, at, piece, n, err));
        cip_sum_add(s, piece, n);
        if (cip_report_progress(report, n))
            CIP_GO(cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller"));
    }
    cip_sum_take(s, sum);
    if (cip_load_u32(sum, true) != m->crc)
        st = cip_fail(err, CIP_ERR_CHECKSUM, m->header,
                      "crc32 mismatch: expected %08" PRIx32 ", found %08" PRIx32, m->crc,
                      cip_load_u32(sum, true));
done:
    cip_sum_free(s);
    cip_mem_put(mem, piece);
    return st;
}

static cip_status check_member(const cip_zarr *z, const cip_zip_member *m, cip_report *report,
                               cip_err *err)
{
    cip_io *io;
    cip_status st = CIP_OK;
    CIP_TRY(cip_io_open_beneath(z->root, m->name, 0, &io, err));
    if (m->method == CIP_ZIP_STORED)
        st = cip_fail_in(err, check_stored(m, io, report, err), "%.200s", m->name);
    cip_io_close(io);
    return st;
}

cip_status cip_zarr_verify_zip(const cip_zarr *z, cip_report *report, cip_err *err)
{
    cip_arena a = { .mem = &z->layout->env->mem };
    cip_zip zip;
    cip_status st;
    CIP_GO(cip_zip_read(z->layout->io, &a, &zip, err));
    for (size_t i = 0; i < zip.n; i++) {
        cip_err why = CIP_ERR_INIT;
        if (cip_zip_is_folder(&zip.at[i]))
            continue;
        st = check_member(z, &zip.at[i], report, &why);
        CIP_GO(cip_report_outcome(report, st, &why, err));
    }
done:
    cip_arena_clear(&a);
    return st;
}
