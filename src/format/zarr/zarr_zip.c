/* SPDX-License-Identifier: BSD-3-Clause
 * A store in one zip archive, as zarr-python's ZipStore writes it: it is read as the folder that
 * the archive holds. Chunks are stored members as a rule, that is parts of the file. */
#include <string.h>

#include "format/zarr/zarr.h"
#include "format/zip_member.h"

static bool is_zip(cip_bytes head)
{
    return head.len >= 4 && memcmp(head.ptr, "PK\3\4", 4) == 0;
}

/* Of an archive whose directory cannot be read: whether its end names metadata, so that what is
 * wrong with it can be said. */
static bool names_metadata(cip_io *io)
{
    enum { END = 1 << 16 };
    const size_t n = (size_t)cip_min_u64(io->size, END);
    uint8_t *end = NULL;
    bool yes = false;
    if (cip_mem_get(&io->env->mem, n, (void **)&end, NULL) == CIP_OK &&
        cip_io_read(io, io->size - n, end, n, NULL) == CIP_OK)
        for (const char *const *name = cip_zarr_names; *name != NULL && !yes; name++)
            yes = memmem(end, n, *name, strlen(*name)) != NULL;
    cip_mem_put(&io->env->mem, end);
    return yes;
}

int cip_zarr_probe_zip(cip_io *io, cip_bytes head)
{
    cip_arena a = { .mem = &io->env->mem };
    cip_zip z;
    int sure = 0;
    if (cip_io_is_folder(io) || !is_zip(head))
        return 0;
    if (cip_zip_read(io, &a, &z, NULL) != CIP_OK)
        sure = names_metadata(io) ? 30 : 0;
    else
        for (const char *const *name = cip_zarr_names; *name != NULL && sure == 0; name++)
            sure = cip_zip_find(&z, *name) != NULL ? 90 : 0;
    cip_arena_clear(&a);
    return sure;
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

static cip_status check_member(const cip_zarr *z, const cip_zip_member *m, cip_report *report,
                               cip_err *err)
{
    cip_io *io = z->layout->io, *decoded;
    uint64_t off;
    if (m->method == CIP_ZIP_STORED) {
        CIP_TRY(cip_zip_data(io, m, &off, err));
        return cip_fail_in(err, cip_zip_check_stored(io, m, off, report, err), "%.200s", m->name);
    }
    CIP_TRY(cip_io_open_beneath(z->root, m->name, 0, &decoded, err));
    cip_io_close(decoded);
    return CIP_OK;
}

cip_status cip_zarr_verify_zip(const cip_zarr *z, cip_report *report, cip_err *err)
{
    const cip_zip *zip = cip_io_zip(z->zip);
    for (size_t i = 0; i < zip->n; i++) {
        cip_err why = CIP_ERR_INIT;
        if (cip_zip_is_folder(&zip->at[i]))
            continue;
        const cip_status st = check_member(z, &zip->at[i], report, &why);
        CIP_TRY(cip_report_outcome(report, st, &why, err));
    }
    return CIP_OK;
}
