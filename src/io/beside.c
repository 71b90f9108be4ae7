/* SPDX-License-Identifier: BSD-3-Clause
 * Files of ours that lie beside another one and are read only if nobody else can have made them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "io/io_impl.h"
#include "io/store.h"

enum { WHY = 256 };

static bool is_trusted(const struct stat *st, const struct stat *file, uint64_t max, char *why)
{
    if (!S_ISREG(st->st_mode))
        snprintf(why, WHY, "it is not a regular file");
    else if (st->st_uid != file->st_uid && st->st_uid != geteuid())
        snprintf(why, WHY, "it belongs to another user (%ju)", (uintmax_t)st->st_uid);
    else if ((st->st_mode & ~file->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        snprintf(why, WHY, "more users may write to it than to the file");
    else if ((uint64_t)st->st_size > max)
        snprintf(why, WHY, "it has more than %ju bytes", (uintmax_t)max);
    else
        return true;
    return false;
}

/* The descriptor, or -1. */
static int open_trusted(cip_io *file, const cip_place *place, const char *name, uint64_t max,
                        char *why)
{
    struct stat of_file, st;
    int fd = openat(place->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd == -1) {
        if (errno != ENOENT)
            snprintf(why, WHY, errno == ELOOP ? "it is a link" : "it cannot be opened");
        return -1;
    }
    if (cip_io_stat(file, &of_file) && fstat(fd, &st) == 0 && is_trusted(&st, &of_file, max, why))
        return fd;
    close(fd);
    return -1;
}

cip_status cip_io_open_beside(cip_io *file, const char *path, const char *suffix,
                              uint64_t max_nbytes, cip_io **out, char *why, cip_err *err)
{
    cip_place place = { .dir = -1 };
    char *name = NULL;
    cip_status st;
    int fd = -1;
    *out = NULL;
    why[0] = '\0';
    CIP_TRY(cip_place_open(&file->env->mem, path, &place, err));
    CIP_GO(cip_place_beside(&place, suffix, &name, err));
    fd = open_trusted(file, &place, name, max_nbytes, why);
    if (fd != -1)
        st = cip_file_new(file->env, fd, name, NULL, "", out, err);
done:
    cip_mem_put(&file->env->mem, name);
    cip_place_close(&place);
    return st;
}
