/* SPDX-License-Identifier: BSD-3-Clause
 * Makes the system answer a call with an error, for the rest of the process: how an older kernel or
 * another file system looks. To be used in a forked child. */
#ifndef CIP_TESTS_SECCOMP_H
#define CIP_TESTS_SECCOMP_H

#include <stddef.h>
#include <stdint.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "base/endian.h"

/* Call number `nr` fails with `errnum` when its third argument has all bits of `bits` (0: always).
 * Whether that could be arranged. */
static inline int seccomp_fail(long nr, uint32_t bits, int errnum)
{
    const uint32_t third =
        (uint32_t)offsetof(struct seccomp_data, args[2]) + (CIP_HOST_BIG ? 4 : 0);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, third),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, bits, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)errnum),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = { sizeof code / sizeof code[0], code };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

#endif
