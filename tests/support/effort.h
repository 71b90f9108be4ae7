/* SPDX-License-Identifier: BSD-3-Clause
 * How much a sweep tries: a sample drawn by the seed $CIP_SEED, or all of it with CIP_FULL=1
 * (`make test FULL=1`, `SEED=7`). A failure names the seed it happened with. */
#ifndef CIP_TESTS_EFFORT_H
#define CIP_TESTS_EFFORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline bool test_full(void)
{
    const char *text = getenv("CIP_FULL");
    return text != NULL && text[0] != '\0' && text[0] != '0';
}

/* The first of the seeds that a sweep counts up from; 1 unless it is set. */
static inline uint64_t test_seed(void)
{
    const char *text = getenv("CIP_SEED");
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : 1;
}

#endif
