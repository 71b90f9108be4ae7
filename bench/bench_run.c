/* SPDX-License-Identifier: BSD-3-Clause
 * One command as a whole process: its processor time, wall time and most memory. From a process of
 * few pages, as a child also counts what its parent held when it was started. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static uint64_t micros(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_usec;
}

int bench_run(int argc, char **argv)
{
    if (argc < 3)
        bench_die("no command", NULL);
    struct rusage used;
    int status = 0;
    uint64_t start = bench_now();
    pid_t child = fork();
    if (child == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execv(argv[2], argv + 2);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) < 0)
        bench_die(argv[2], NULL);
    printf("%d %" PRIu64 " %" PRIu64 " %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128,
           micros(used.ru_utime) + micros(used.ru_stime), (bench_now() - start) / 1000,
           used.ru_maxrss);
    return 0;
}
