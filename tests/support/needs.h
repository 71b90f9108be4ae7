/* SPDX-License-Identifier: BSD-3-Clause
 * Skips a test of what a build or a machine may lack, and says why. Behind cmocka.h. */
#ifndef CIP_TESTS_NEEDS_H
#define CIP_TESTS_NEEDS_H

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Ends the test as skipped unless the condition holds; the summary of `make test` has the reason.
 */
#define SKIP_UNLESS(condition, why)                                                                \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_message("%s\n", why);                                                            \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

/* NEEDS(LZ4): as in the option CIP_WITH_LZ4. */
#define NEEDS(library) SKIP_UNLESS(CIP_WITH_##library, "built without " #library)

/* What ASDF blocks are compressed with. */
#define NEEDS_CODECS()                                                                             \
    do {                                                                                           \
        NEEDS(LZ4);                                                                                \
        NEEDS(ZSTD);                                                                               \
        NEEDS(BZIP2);                                                                              \
    } while (0)

/* Whether links can be confined to a folder: not by Linux before 5.6, nor under qemu-user. */
static inline bool have_openat2(void)
{
    const struct open_how how = { .flags = O_RDONLY | O_CLOEXEC };
    const long fd = syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof how);
    if (fd != -1)
        close((int)fd);
    return fd != -1;
}

#define NEEDS_OPENAT2() SKIP_UNLESS(have_openat2(), "this system has no openat2")

#endif
