/* SPDX-License-Identifier: BSD-3-Clause
 * HDF5 files: opening. */
#include "format/hdf5/hdf5_write.h"

static int probe(cip_io *io, cip_bytes head)
{
    uint64_t at;
    (void)io;
    return cip_h5_find(head, &at) ? (at == 0 ? 100 : 80) : 0;
}

static cip_status open_file(cip_layout *l, cip_err *err)
{
    cip_h5 *f;
    char *version;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &f, 1, err));
    l->own = f;
    CIP_TRY(cip_fail_in(err, cip_h5_superblock(l, f, err), "superblock"));
    CIP_TRY(cip_arena_printf(&l->arena, &version, err, "superblock %u", f->version));
    l->version = version;
    if (f->base != 0)
        CIP_TRY(cip_layout_add_fact(l, "user block", err, "%" PRIu64 " bytes", f->base));
    return cip_h5_tree(f, err);
}

const cip_format cip_format_hdf5 = {
    .name = "hdf5",
    .title = "HDF5",
    .extensions = "h5 hdf5 he5 hdf nc nc4 mat",
    .probe = probe,
    .open = open_file,
    .verify = cip_h5_verify,
    .store = &cip_h5_store,
    .options = cip_h5_options,
};
