/* SPDX-License-Identifier: BSD-3-Clause
 * What the tests of bloscpack share: the files of the corpus, and what they hold. Behind cmocka.h.
 */
#ifndef CIP_TESTS_BP_TESTING_H
#define CIP_TESTS_BP_TESTING_H

#include "format/bloscpack/bloscpack.h"
#include "support/one_format.h"

enum { BP_FILE_MAX = 4096 };

typedef struct bp_bytes {
    uint8_t ptr[BP_FILE_MAX];
    size_t len;
} bp_bytes;

#define BP_CORPUS CIP_SOURCE_DIR "/src/format/bloscpack/corpus/fuzz_bloscpack"
#define bp_load(name) bp_load_from(BP_CORPUS, name)

static inline bp_bytes bp_load_from(const char *folder, const char *name)
{
    char path[1024];
    bp_bytes b;
    snprintf(path, sizeof path, "%s/%s.blp", folder, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        abort();
    b.len = fread(b.ptr, 1, sizeof b.ptr, f);
    fclose(f);
    return b;
}

static inline cip_status bp_open(one_file *f, const bp_bytes *b, uint32_t flags)
{
    return one_open(f, &cip_format_bloscpack, b->ptr, b->len, flags, NULL);
}

/* Decoded byte i of the good files. */
static inline uint8_t bp_byte(uint64_t i)
{
    return (uint8_t)(i * i / 7 + 3 * i);
}

static inline bool bp_is_prefix(const uint8_t *raw, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (raw[i] != bp_byte(i))
            return false;
    return true;
}

/* The number of warnings, and the text of the first in *text ("" for none). */
static inline size_t bp_warnings(one_file *f, const char **text)
{
    const cip_finding *w = cip_report_get(&f->env.warnings, 0);
    size_t n = 0;
    *text = w == NULL ? "" : w->text;
    while (cip_report_get(&f->env.warnings, n) != NULL)
        n++;
    return n;
}

#endif
