/* SPDX-License-Identifier: BSD-3-Clause
 * A lock file has to be found before the file is read, so before its format is known: each format
 * is asked what its lock file would be called, and the first one that is there is it. */
#include "core/foreign_lock.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "format/format.h"

cip_status cip_foreign_lock_open(int dir, const char *path, bool folder, bool change,
                                 cip_lock_file *out, cip_err *err)
{
    const char *slash = folder ? NULL : strrchr(path, '/');
    const char *name = folder ? "" : slash != NULL ? slash + 1 : path;
    const int before = folder ? (int)strlen(path) : (int)(name - path);
    char own[NAME_MAX + 1], full[PATH_MAX];
    *out = CIP_LOCK_FILE_NONE;
    for (size_t i = 0; cip_formats[i] != NULL && out->fd == -1; i++) {
        if (cip_formats[i]->lock_file == NULL)
            continue;
        cip_formats[i]->lock_file(name, own, sizeof own);
        int n = snprintf(full, sizeof full, "%.*s%s%s", before, path,
                         folder && before != 0 ? "/" : "", own);
        if (strlen(own) < sizeof own - 1 && n < (int)sizeof full)
            CIP_TRY(cip_lock_file_open(dir, full, change, out, err));
    }
    return CIP_OK;
}

void cip_foreign_lock_move(const cip_place *from, const cip_place *to)
{
    char own[NAME_MAX + 1];
    for (size_t i = 0; cip_formats[i] != NULL; i++) {
        if (cip_formats[i]->lock_file == NULL)
            continue;
        cip_formats[i]->lock_file("", own, sizeof own);
        cip_store_rename_to(from, own, to, own, true, NULL);
    }
}
