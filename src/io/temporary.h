/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes that may not fit in memory, kept until they go where they belong: under a few MiB in
 * memory, then in a temporary file without a name. */
#ifndef CIP_IO_TEMPORARY_H
#define CIP_IO_TEMPORARY_H

#include "io/io.h"
#include "io/out.h"

/* An io that can be written. The file is made in the folder of $TMPDIR (or /tmp), or where `beside`
 * (a path, may be NULL) lies, so that it can be copied there by reference. Closed by cip_io_close.
 * Its size is what was written so far. */
cip_status cip_temporary_new(cip_env *env, const char *beside, cip_io **out, cip_err *err);
/* Writes at any place; a gap reads as zeros. Any number of threads may write disjoint ranges once
 * cip_temporary_resize has made room for them; growing is one thread's business. */
cip_status cip_temporary_write(cip_io *temporary, uint64_t off, const void *p, size_t n,
                               cip_err *err);
cip_status cip_temporary_resize(cip_io *temporary, uint64_t n, cip_err *err);
/* n bytes of `from` at `off` to its end, in pieces. `from` may be any io but itself. */
cip_status cip_temporary_add(cip_io *temporary, cip_io *from, uint64_t off, uint64_t n,
                             cip_err *err);
/* It as an output that starts at its present end and can do all that an output can. */
cip_out cip_temporary_out(cip_io *temporary);

#endif
