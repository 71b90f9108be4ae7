/* SPDX-License-Identifier: BSD-3-Clause
 * Which file of checkpoints may be read or written, and when. Its bytes are space/sidecar.c's. */
#include "core/checkpoints_file.h"

#include <string.h>

#include "io/file_io.h"
#include "io/fresh.h"
#include "space/sequential/sidecar.h"

#define SUFFIX ".cip-marks"

void cip_checkpoints_file_load(cip_file *f, const char *path)
{
    cip_io *io = NULL;
    char why[256];
    cip_err err = CIP_ERR_INIT;
    struct stat st;
    if (f->overlay != NULL || !cip_io_stat(f->io, &st) ||
        cip_mem_copy(&f->env.mem, path, strlen(path), &f->checkpoints_path, NULL) != CIP_OK)
        return;
    cip_status found = cip_io_open_beside(f->io, path, SUFFIX, CIP_SIDECAR_MAX, &io, why, &err);
    if (io != NULL)
        found = cip_sidecar_load(&f->env, io, f->io->size, &f->layout->sidecar, &err);
    cip_io_close(io);
    if (found != CIP_OK || why[0] != '\0')
        cip_warn(&f->env, CIP_OK, CIP_NO_OFFSET, "checkpoints",
                 "the checkpoint file beside the data is ignored: %s",
                 found != CIP_OK ? err.text : why);
    if (f->layout->sidecar == NULL)
        cip_sidecar_new(&f->env, &f->layout->sidecar, NULL);
}

void cip_checkpoints_file_renew(cip_file *f)
{
    char *path = f->checkpoints_path;
    f->checkpoints_path = NULL;
    if (path != NULL)
        cip_checkpoints_file_load(f, path);
    cip_mem_put(&f->env.mem, path);
}

/* As readable as the file, written by nobody but its owner. */
static cip_status write_all(const cip_fresh *fresh, cip_mem *mem, cip_io *file, cip_bytes bytes,
                            cip_err *err)
{
    struct stat like;
    if (!cip_io_stat(file, &like))
        return CIP_ERR_UNSUPPORTED;
    like.st_mode &= 0644;
    CIP_TRY(cip_store_take_after(mem, fresh->fd, -1, &like, err));
    return cip_store_write(fresh->fd, 0, bytes.ptr, bytes.len, err);
}

static cip_status put_beside(cip_file *f, cip_bytes bytes, cip_err *err)
{
    cip_place place = { .dir = -1 }, beside = { .dir = -1 };
    cip_fresh fresh = CIP_FRESH_NONE;
    char *name = NULL;
    cip_status st;
    CIP_TRY(cip_place_open(&f->env.mem, f->checkpoints_path, &place, err));
    CIP_GO(cip_place_beside(&place, SUFFIX, &name, err));
    CIP_GO(cip_place_sibling(&place, name, &beside, err));
    CIP_GO(cip_fresh_open(&beside, NULL, 0600, &fresh, err));
    CIP_GO(write_all(&fresh, &f->env.mem, f->io, bytes, err));
    CIP_GO(cip_fresh_place(&beside, &fresh, true, err));
done:
    cip_fresh_end(&beside, &fresh);
    cip_mem_put(&f->env.mem, name);
    cip_place_close(&beside);
    cip_place_close(&place);
    return st;
}

/* Whether the bytes that checkpoints were made of are still those of the file: asked again behind
 * the digests. */
static bool is_unchanged(cip_file *f)
{
    return !f->updated && cip_io_unchanged(f->io, NULL) == CIP_OK;
}

void cip_checkpoints_file_save(cip_file *f)
{
    if (f->checkpoints_path == NULL || f->layout == NULL || f->layout->sidecar == NULL ||
        !is_unchanged(f) || !cip_sidecar_has_news(f->layout->sidecar, f->layout))
        return;
    cip_buf bytes = { .mem = &f->env.mem };
    const cip_read_how how = { .layout = f->layout, .pool = f->env.pool };
    if (cip_sidecar_encode(&how, f->io->size, &bytes, NULL) == CIP_OK &&
        bytes.len <= CIP_SIDECAR_MAX && is_unchanged(f))
        put_beside(f, (cip_bytes){ bytes.ptr, bytes.len }, NULL); /* read-only media: never mind */
    cip_buf_clear(&bytes);
}
