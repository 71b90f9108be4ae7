/* SPDX-License-Identifier: BSD-3-Clause
 * Where the shared corpus of real files lies: $CIPPUS_CORPUS, else ../shared/corpus beside the
 * project. A test that needs it skips where there is none. */
#ifndef CIP_TESTS_CORPUS_H
#define CIP_TESTS_CORPUS_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The corpus folder, or NULL with a word about it on stderr. */
static inline const char *test_corpus(void)
{
    const char *set = getenv("CIPPUS_CORPUS");
    const char *folder = set && *set ? set : CIP_SOURCE_DIR "/../shared/corpus";
    char manifest[4096];
    snprintf(manifest, sizeof manifest, "%s/manifest.json", folder);
    if (access(manifest, R_OK) == 0)
        return folder;
    fprintf(stderr, "skipped: no corpus in %s\n", folder);
    return NULL;
}

#endif
