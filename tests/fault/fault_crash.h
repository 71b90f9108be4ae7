/* SPDX-License-Identifier: BSD-3-Clause
 * What a log of operations may have left on a disk when it was cut off anywhere. */
#ifndef CIP_TESTS_FAULT_CRASH_H
#define CIP_TESTS_FAULT_CRASH_H

#include "fault/fault_log.h"

typedef struct fault_crash {
    bool power;     /* what was not synced may be lost, whole or in part, in any order; otherwise
                       only the last operation is cut short */
    bool ordered;   /* with `power`: data reach the disk in their order (a file that grows) */
    size_t nsubset; /* seeded subsets of what was not synced, at each point */
    size_t ntorn;   /* places where the last write is torn; 0: each byte */
    uint64_t seed;
    /* Called with each disk once. `done`: the log had ended. false stops. */
    bool (*image)(void *user, const fault_disk *d, bool done);
    void *user;
    size_t npoint, nimage; /* counted */
} fault_crash;

/* false: stopped. */
bool fault_crash_run(fault_crash *c, const fault_log *log);

#endif
