/* SPDX-License-Identifier: BSD-3-Clause
 * Runs a change of a file into every crash there is, and looks at what is left through the public
 * API: read as it is, and after the next writer has cleared up. */
#ifndef CIP_TESTS_FAULT_RUN_H
#define CIP_TESTS_FAULT_RUN_H

#include "cippus/cippus.h"
#include "cippus/change.h"

typedef struct fault_scenario {
    const char *name;
    cip_level level;
    const char *file; /* in the folder */
    /* Puts the files into the folder `dir`. */
    void (*make)(const char *dir);
    /* Changes them. `path`: of `file`. `step` counts from 1 to nstep: how far to go, for changes
     * that may be seen in steps (rows appended). */
    cip_status (*change)(const char *path, cip_level level, int step, cip_err *err);
    int nstep;    /* 0: 1 */
    bool ordered; /* as in fault_crash: rows added without a sync after each */
    bool quiet;   /* the change may leave the digest as it is */
    /* After a crash the file gets this name, or this one as well (it may have it from before): what
     * is shown under it counts, and it is what recovers. */
    const char *renamed, *linked;
    /* Files beside that the old and the new file have: once recovered, that one alone is there. */
    const char *member[2];
    /* Members, NULL last: a file or folder is then judged by its own bytes and theirs, whatever
     * format they are of, and once recovered by all that lies in the folder. */
    const char *const *members;
} fault_scenario;

typedef struct fault_effort {
    size_t nsubset, ntorn; /* as in fault_crash */
    size_t every;          /* each such image is also crashed while it is recovered */
    size_t rec_nsubset, rec_ntorn;
} fault_effort;

typedef struct fault_result {
    size_t npoint, nimage, nrecovery; /* crash points, images, and images of recoveries in it */
    char text[1024];                  /* what was wrong, or "" */
} fault_result;

/* true: every image showed the old file or the new one. */
bool fault_scenario_crash(const fault_scenario *s, const fault_effort *e, fault_result *out);
/* Every operation fails in turn, alone and as on a full disk. Counts runs in nimage. */
bool fault_scenario_fail(const fault_scenario *s, fault_result *out);

/* Of tree and arrays; 0: there is no file. `why` (256 bytes) says what could not be read. */
bool fault_digest(const char *path, uint64_t *digest, char *why);
/* Of a file's or folder's own bytes and of these members, as a reader sees them. */
bool fault_digest_set(const char *path, const char *const *members, uint64_t *digest, char *why);

#endif
