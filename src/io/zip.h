/* SPDX-License-Identifier: BSD-3-Clause
 * Zip archives (PKWARE's APPNOTE 6.3) as a store of members that is read: where each lies in the
 * file, and how. What is compressed stays so: whoever opened the archive has the codecs. */
#ifndef CIP_IO_ZIP_H
#define CIP_IO_ZIP_H

#include "base/arena.h"
#include "base/buffer.h"
#include "io/io.h"

/* The methods that are ours; archives may have others. */
enum { CIP_ZIP_STORED = 0, CIP_ZIP_DEFLATED = 8 };
enum { CIP_ZIP_UTF8 = 0x800 }; /* of the flags: so is the name */

typedef struct cip_zip_member {
    const char *name; /* UTF-8: a plain path beneath, "a/b"; of a folder with a slash at the end */
    cip_bytes raw;    /* the same as the archive has it, perhaps in code page 437 */
    uint64_t entry;   /* where the central directory describes it; 0 of a member to be written */
    uint64_t header;  /* where its local header is, and then its data */
    uint64_t end; /* its data end there at the latest: the next one's header, or the directory */
    uint64_t stored, size; /* bytes as they lie there, and decoded; equal when STORED */
    uint32_t crc;          /* CRC-32 of the decoded bytes */
    uint16_t method, flags;
} cip_zip_member;

typedef struct cip_zip {
    cip_zip_member *at; /* n of them, as the directory has them */
    size_t n;
    const cip_zip_member **by_name; /* the same, by bytes of their names */
    uint64_t directory;             /* where it begins, behind all members */
    bool wide;                      /* its end is a zip64 record */
    uint16_t ncomment;              /* bytes of the archive's comment, the last of the file */
} cip_zip;

/* The central directory of all of the io, into the arena. Names that leave the archive, members
 * that are there twice or overlap, and numbers that contradict each other are CORRUPT; FORMAT and
 * TRUNCATED where there is no directory, UNSUPPORTED for parts of split archives, LIMIT over
 * max_blocks members. Reads no member, nor its local header. */
cip_status cip_zip_read(cip_io *io, cip_arena *a, cip_zip *out, cip_err *err);
/* The member of that name, or NULL. */
const cip_zip_member *cip_zip_find(const cip_zip *z, const char *name);
bool cip_zip_is_folder(const cip_zip_member *m);
/* Where the member's data begin: m->stored bytes lie there. Its local header (and what a writer to
 * a pipe put behind the data) must say what the directory does: CORRUPT. UNSUPPORTED for encrypted
 * ones. Thread-safe. */
cip_status cip_zip_data(cip_io *io, const cip_zip_member *m, uint64_t *off, cip_err *err);
/* The archive as a folder (cip_io_open_beneath, cip_io_list, cip_io_open_numbered): for formats
 * whose files are folders. `of` is borrowed, and members that are open borrow it too. `decode`
 * makes m->size bytes of the m->stored ones of a deflated member, compared with m->crc; these are
 * kept in memory while it is open. */
typedef cip_status cip_zip_decode(cip_mem *mem, const cip_zip_member *m, const uint8_t *stored,
                                  uint8_t *data, cip_err *err);
cip_status cip_io_open_zip(cip_io *of, cip_zip_decode *decode, cip_io **out, cip_err *err);
/* The directory of an archive that was opened so, until it is closed. */
const cip_zip *cip_io_zip(const cip_io *io);

/* What n > 0 bytes of a name have that no member's may, in words ("a name without NUL" is what is
 * expected), or NULL: absolute paths, backslashes, empty and dot segments. */
const char *cip_zip_name_fault(const char *name, size_t n);

/* Writing, as Python's zipfile does for members of any length: the same bytes for the same members,
 * with the date 1980-01-01. `m`: name, sizes, crc, method. `wide`: what is known only later is
 * written over, which has the same length then. Names are UTF-8 of at most 65,535 bytes. */
cip_status cip_zip_header_write(const cip_zip_member *m, bool wide, cip_buf *out, cip_err *err);
/* The directory of n members, and all that follows it up to the end of the file; m->header: where
 * each was written. `at`: where it begins. Of an archive `z` that is there, in `io`, the comment
 * stays, and of members with an `entry` in it that one, as cip_zip_header_again says; both are NULL
 * for a new archive. */
cip_status cip_zip_directory_write(const cip_zip_member *m, size_t n, uint64_t at, cip_io *io,
                                   const cip_zip *z, cip_buf *out, cip_err *err);
/* The local header at `at` of an archive that is there, as it is but for m's CRC, sizes and whether
 * a descriptor follows (m->flags). Names, dates, attributes, comments and other fields stay. */
cip_status cip_zip_header_again(cip_io *io, uint64_t at, const cip_zip_member *m, cip_buf *out,
                                cip_err *err);

#endif
