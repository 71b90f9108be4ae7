/* SPDX-License-Identifier: BSD-3-Clause
 * Progress with its rate and the time that is left. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* "12.3 MiB", "1.2 million elements". */
static void print_amount(const progress *p, double n)
{
    static const char *const bytes[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
    static const char *const count[] = { "", "thousand ", "million ", "billion " };
    const double step = p->unit == NULL ? 1024 : 1000;
    int u = 0;
    for (; n >= step && u < (p->unit == NULL ? 4 : 3); u++)
        n /= step;
    fprintf(stderr, "%.*f %s%s", u != 0, n, p->unit == NULL ? bytes[u] : count[u],
            p->unit == NULL ? "" : p->unit);
}

static void print_time(double s)
{
    const uint64_t n = s < 359999 ? (uint64_t)(s + 0.5) : 359999;
    if (n >= 3600)
        fprintf(stderr, "%" PRIu64 ":%02d:%02d", n / 3600, (int)(n / 60 % 60), (int)(n % 60));
    else
        fprintf(stderr, "%d:%02d", (int)(n / 60), (int)(n % 60));
}

static void print_line(const progress *p, uint64_t done, uint64_t total, double took)
{
    const double rate = (double)(done - p->from) / took;
    putc('\r', stderr);
    if (total != 0)
        fprintf(stderr, "%3.0f %%", 100 * (double)done / (double)total);
    else
        print_amount(p, (double)done);
    fputs("  ", stderr);
    print_amount(p, rate);
    fputs("/s", stderr);
    if (total > done && rate > 0) {
        fputs("  ", stderr);
        print_time((double)(total - done) / rate);
        fputs(" left", stderr);
    }
    fputs("\x1b[K", stderr);
    fflush(stderr);
}

int show_progress(void *user, uint64_t done, uint64_t total)
{
    progress *p = user;
    const double now = seconds();
    if (p->start == 0)
        p->off = p->off || !isatty(STDERR_FILENO);
    if (p->start == 0 || done < p->done) {
        p->start = now;
        p->from = done;
    }
    p->done = done;
    if (p->off || now - p->start < 1 || now - p->last < 0.1)
        return 0;
    p->last = now;
    p->shown = true;
    print_line(p, done, total, now - p->start);
    return 0;
}

void hide_progress(progress *p)
{
    if (p->shown)
        fputs("\r\x1b[K", stderr);
    p->shown = false;
}
