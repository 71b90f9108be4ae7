/* SPDX-License-Identifier: BSD-3-Clause
 * Zip archives as they are written, for formats whose files are folders: members that are stored as
 * they are, one behind the other, then the directory. In a new archive, or in one that is there. */
#ifndef CIP_FORMAT_ZIP_OUT_H
#define CIP_FORMAT_ZIP_OUT_H

#include "base/strmap.h"
#include "io/out.h"
#include "io/patch.h"
#include "io/zip.h"

/* Zero-initialise but for the first three, which are borrowed: zip64 fields stand where they are
 * needed alone, dates are fixed, and so the same members make the same bytes. */
typedef struct cip_zip_out {
    cip_mem *mem;
    cip_arena *arena; /* for names and entries */
    cip_out *to;
    cip_strmap name; /* of members so far, to their numbers */
    cip_zip_member *at;
    size_t n, cap;
} cip_zip_out;

/* A member of these n pieces, whose bytes are read for its CRC-32 before they are written.
 * UNSUPPORTED for a name that no member may have, ARG for one that is in the archive. */
cip_status cip_zip_put(cip_zip_out *z, const char *name, const cip_segment *piece, size_t n,
                       cip_err *err);
/* One whose stored bytes they are: `m` has the rest but name and place. */
cip_status cip_zip_put_stored(cip_zip_out *z, const char *name, const cip_zip_member *m,
                              const cip_segment *piece, size_t n, cip_err *err);
/* One that is there already, with all that the directory is to say of it. */
cip_status cip_zip_out_add(cip_zip_out *z, const cip_zip_member *m, cip_err *err);
/* The directory of a new archive. */
cip_status cip_zip_put_directory(cip_zip_out *z, cip_err *err);
void cip_zip_out_clear(cip_zip_out *z);

/* zip_revise.c: `files` says what becomes of the members of an archive as of a folder's files:
 * made, replaced, renamed, gone (ARG for others). *r, which is empty, becomes the revision of the
 * archive in `io`. Borrows `io`, and the ios of the pieces. */
cip_status cip_zip_revise(cip_io *io, const cip_zip *old, const cip_revision *files,
                          cip_revision *r, cip_err *err);

#endif
