/* SPDX-License-Identifier: BSD-3-Clause
 * A reader looks at the writer's byte, then at the attribute, then at the file. Where an update
 * came between these looks they are repeated, TRIES times at most; what cannot be told then counts
 * as a change by another program. */
#include "io/switches.h"

#include <sys/xattr.h>
#include <xxhash.h>

#include "io/store.h"

static const char ATTRIBUTE[] = "user.cippus.switches";
enum { MARK = 0x31706963 /* "cip1" */, TRIES = 16 /* of a look between two updates */ };

/* In the machine's order: nobody else needs to understand it. */
typedef struct stored {
    uint64_t mark, series, first, last;
} stored;

uint64_t cip_switches_state(const struct stat *st, const cip_lock_file *lock_file)
{
    const uint64_t is[] = {
        (uint64_t)st->st_dev,          (uint64_t)st->st_ino,
        (uint64_t)st->st_size,         (uint64_t)st->st_mtim.tv_sec,
        (uint64_t)st->st_mtim.tv_nsec, lock_file != NULL ? lock_file->count : 0
    };
    return XXH3_64bits(is, sizeof is);
}

bool cip_switches_get(int fd, cip_switches *out)
{
    stored s;
    if (fgetxattr(fd, ATTRIBUTE, &s, sizeof s) != (ssize_t)sizeof s || s.mark != MARK)
        return false;
    *out = (cip_switches){ .series = s.series, .first = s.first, .last = s.last };
    return s.series != 0;
}

bool cip_switches_put(int fd, const cip_switches *s)
{
    const stored is = { MARK, s->series, s->first, s->last };
    return fsetxattr(fd, ATTRIBUTE, &is, sizeof is, 0) == 0;
}

void cip_switches_clear(int fd)
{
    fremovexattr(fd, ATTRIBUTE);
}

uint64_t cip_switches_series(int fd, uint64_t state)
{
    cip_switches s;
    return cip_switches_get(fd, &s) && s.last == state ? s.series : 0;
}

/* The order of the looks matters: who has the byte wrote the attribute before, so one that is read
 * while he has it, or later, knows of all changes up to then. */
bool cip_switches_cover(int fd, uint64_t opened, uint64_t series, const cip_lock_file *lock_file)
{
    for (int i = 0; i < TRIES; i++) {
        const bool going_on = cip_store_is_locked(fd, CIP_LOCK_SWITCHES);
        cip_lock_file now = lock_file != NULL ? *lock_file : CIP_LOCK_FILE_NONE;
        cip_switches s;
        struct stat st;
        if (!cip_switches_get(fd, &s) || (s.series != series && s.first != opened))
            return false;
        cip_lock_file_note(&now);
        if (going_on || (fstat(fd, &st) == 0 && cip_switches_state(&st, &now) == s.last))
            return true;
    }
    return false;
}
