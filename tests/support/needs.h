/* SPDX-License-Identifier: BSD-3-Clause
 * Skips a test of what a build may leave out. Behind cmocka.h. */
#ifndef CIP_TESTS_NEEDS_H
#define CIP_TESTS_NEEDS_H

/* NEEDS(LZ4): as in the option CIP_WITH_LZ4. */
#define NEEDS(library)                                                                             \
    do {                                                                                           \
        if (!CIP_WITH_##library)                                                                   \
            skip();                                                                                \
    } while (0)

/* What ASDF blocks are compressed with. */
#define NEEDS_CODECS()                                                                             \
    do {                                                                                           \
        NEEDS(LZ4);                                                                                \
        NEEDS(ZSTD);                                                                               \
        NEEDS(BZIP2);                                                                              \
    } while (0)

#endif
