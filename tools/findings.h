/* SPDX-License-Identifier: BSD-3-Clause
 * Findings of a file as lines, or as a list in JSON: what `verify` and `repair` print. */
#ifndef CIPPUS_TOOLS_FINDINGS_H
#define CIPPUS_TOOLS_FINDINGS_H

#include <stdio.h>

#include "cippus/cippus.h"
#include "progress.h"

typedef struct findings {
    FILE *out;
    const char *file;
    bool json;
    size_t nbad; /* warnings and worse */
    bool *any;   /* in JSON: whether the list has something already, of this file or another */
    progress *bar;
} findings;

/* A cip_finding_fn and a cip_progress_fn of the same user. */
int print_finding(void *user, const cip_finding *f);
int show_progress_between(void *user, uint64_t done, uint64_t total);

#endif
