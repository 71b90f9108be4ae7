/* SPDX-License-Identifier: BSD-3-Clause
 * Which file of marks may be read or written, and when. Its bytes are space/sidecar.c's. */
#include "core/marks_file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io/store.h"
#include "space/sidecar.h"

#define SUFFIX ".cip-marks"
#define SUFFIX_NEW ".cip-marks-new"

static void ignored(cip_file *f, const char *why)
{
    cip_warn(&f->env, CIP_OK, CIP_NO_OFFSET, "marks", "the file beside with marks is ignored: %s",
             why);
}

void cip_marks_file_load(cip_file *f, const char *path)
{
    cip_io *io = NULL;
    char why[256];
    cip_err err = CIP_ERR_INIT;
    struct stat st;
    if (f->overlay != NULL || !cip_io_stat(f->io, &st) ||
        cip_mem_copy(&f->env.mem, path, strlen(path), &f->marks_path, NULL) != CIP_OK)
        return;
    cip_status found = cip_io_open_beside(f->io, path, SUFFIX, CIP_SIDECAR_MAX, &io, why, &err);
    if (io != NULL)
        found = cip_sidecar_load(&f->env, io, f->io->size, &f->layout->sidecar, &err);
    cip_io_close(io);
    if (found != CIP_OK || why[0] != '\0')
        ignored(f, found != CIP_OK ? err.text : why);
    if (f->layout->sidecar == NULL)
        cip_sidecar_new(&f->env, &f->layout->sidecar, NULL);
}

/* As readable as the file, written by nobody but its owner. */
static cip_status write_new(const cip_place *place, const char *name, cip_io *file, cip_bytes bytes,
                            cip_err *err)
{
    int fd;
    struct stat like;
    if (!cip_io_stat(file, &like))
        return CIP_ERR_UNSUPPORTED;
    like.st_mode &= 0644;
    CIP_TRY(cip_store_unlink(place, name, err)); /* of somebody who was cut off */
    CIP_TRY(cip_store_open(place, name, O_WRONLY | O_CREAT | O_EXCL, 0600, &fd, err));
    cip_status st = cip_store_take_after(place->mem, fd, -1, &like, err);
    if (st == CIP_OK)
        st = cip_store_write(fd, 0, bytes.ptr, bytes.len, err);
    if (close(fd) != 0 && st == CIP_OK)
        st = CIP_ERR_IO;
    return st;
}

static cip_status put_beside(cip_file *f, cip_bytes bytes, cip_err *err)
{
    cip_place place = { .dir = -1 };
    char *name = NULL, *new_name = NULL;
    cip_status st;
    CIP_TRY(cip_place_open(&f->env.mem, f->marks_path, &place, err));
    CIP_GO(cip_place_beside(&place, SUFFIX, &name, err));
    CIP_GO(cip_place_beside(&place, SUFFIX_NEW, &new_name, err));
    st = write_new(&place, new_name, f->io, bytes, err);
    if (st == CIP_OK)
        st = cip_store_rename(&place, new_name, name, true, err);
    else if (st != CIP_ERR_READONLY)
        cip_store_unlink(&place, new_name, NULL);
done:
    cip_mem_put(&f->env.mem, name);
    cip_mem_put(&f->env.mem, new_name);
    cip_place_close(&place);
    return st;
}

/* Whether the bytes that marks were made of are still those of the file: asked again behind the
 * digests. */
static bool is_unchanged(cip_file *f)
{
    return !f->updated && cip_io_unchanged(f->io, NULL) == CIP_OK;
}

void cip_marks_file_save(cip_file *f)
{
    if (f->marks_path == NULL || f->layout == NULL || f->layout->sidecar == NULL ||
        !is_unchanged(f) || !cip_sidecar_has_news(f->layout->sidecar, f->layout))
        return;
    cip_buf bytes = { .mem = &f->env.mem };
    const cip_read_how how = { .layout = f->layout, .pool = f->env.pool };
    if (cip_sidecar_encode(&how, f->io->size, &bytes, NULL) == CIP_OK &&
        bytes.len <= CIP_SIDECAR_MAX && is_unchanged(f))
        put_beside(f, (cip_bytes){ bytes.ptr, bytes.len }, NULL); /* read-only media: never mind */
    cip_buf_clear(&bytes);
}
