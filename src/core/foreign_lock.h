/* SPDX-License-Identifier: BSD-3-Clause
 * The lock files that formats' other programs keep (io/lock_file.h), by the names that formats give
 * them. */
#ifndef CIP_CORE_FOREIGN_LOCK_H
#define CIP_CORE_FOREIGN_LOCK_H

#include "io/lock_file.h"

/* That of the file (or `folder`) at `path`, beneath `dir` or by AT_FDCWD: whatever is in it, as who
 * writes has to know before he looks. out->fd is -1 where there is none. Fails as
 * cip_lock_file_open. */
cip_status cip_foreign_lock_open(int dir, const char *path, bool folder, bool change,
                                 cip_lock_file *out, cip_err *err);
/* One in `from` is in `to` from now on: a folder that takes the place of another one keeps it. */
void cip_foreign_lock_move(const cip_place *from, const cip_place *to);

#endif
