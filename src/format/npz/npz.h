/* SPDX-License-Identifier: BSD-3-Clause
 * numpy's .npz files: zip archives whose members are .npy files. */
#ifndef CIP_FORMAT_NPZ_H
#define CIP_FORMAT_NPZ_H

#include "format/npy/npy.h"
#include "io/zip.h"

/* A member that is no folder. */
typedef struct cip_npz_member {
    const cip_zip_member *zip;
    cip_array *array;
    cip_npy_header *header; /* NULL: of bytes that are no .npy file, or are not read */
    uint64_t off;           /* where its stored bytes are */
    cip_space *stored;      /* they; NULL: they could not be found */
    cip_space *data;        /* all decoded bytes; NULL: they cannot be had */
    cip_space *checked;     /* the same, compared with their CRC-32 before they are read */
    cip_deflate_args deflate;
} cip_npz_member;

typedef struct cip_npz {
    cip_layout *layout;
    cip_zip zip;
    cip_npz_member *at; /* n of them, for each array of the layout one */
    size_t n;
} cip_npz;

extern const cip_array_store cip_npz_store;
extern const cip_format cip_format_npz;

#endif
