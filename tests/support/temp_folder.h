/* SPDX-License-Identifier: BSD-3-Clause
 * A folder of a test's own, removed with all in it at the end. */
#ifndef CIP_TESTS_TEMP_FOLDER_H
#define CIP_TESTS_TEMP_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct scratch {
    char dir[256];
} scratch;

static inline int scratch_remove_one(const char *path, const struct stat *st, int kind,
                                     struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

/* Whether it could be made. */
static inline int scratch_open(scratch *s)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(s->dir, sizeof s->dir, "%.200s/cippus-test-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    return mkdtemp(s->dir) != NULL;
}

static inline void scratch_close(scratch *s)
{
    nftw(s->dir, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* "DIR/name"; lives until the next call but one. */
static inline const char *scratch_path(scratch *s, const char *name)
{
    static char kept[2][512];
    static unsigned turn;
    char *path = kept[turn++ % 2];
    snprintf(path, sizeof kept[0], "%s/%.200s", s->dir, name);
    return path;
}

/* Writes a file anew, with all n bytes or abort. Gives its path. */
static inline const char *scratch_write(scratch *s, const char *name, const void *bytes, size_t n)
{
    const char *path = scratch_path(s, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        abort();
    return path;
}

#endif
