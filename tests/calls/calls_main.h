/* SPDX-License-Identifier: BSD-3-Clause
 * Makes the calls that calls.py wrote, each in a process of its own, and looks at how they end. */
#ifndef CIP_CALLS_MAIN_H
#define CIP_CALLS_MAIN_H

#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls_fixture.h"

/* How a call is to end. Whatever it is, `err` says why it failed, and nothing when it did not. */
typedef enum expected {
    FINE,  /* as the good call does */
    WRONG, /* ARG */
    NEW,   /* UNSUPPORTED or ARG: a later version may know it */
    ANY    /* in any way, but it ends */
} expected;

typedef struct variant {
    const char *label;
    expected ends;
} variant;

typedef struct outcome {
    int status; /* -1: NULL without a reason */
    bool ended, more;
    cip_err err, held;
} outcome;

typedef struct function {
    const char *name;
    bool (*call)(fixture *x, int how, cip_err *err, outcome *o);
    const variant *of;
    bool fails;
    int good;
} function;

static fixture fx;
static outcome *shared;

/* `first`: an error that err holds already, which must stay. */
static bool run(const function *f, int how, const cip_err *first)
{
    int wstatus = 0;
    memset(shared, 0, sizeof *shared);
    const pid_t pid = fork();
    if (pid == 0) {
        cip_err err = *first;
        alarm(30);
        snprintf(fx.out, sizeof fx.out, "%.400s/out-%d.asdf", fx.folder, (int)getpid());
        const bool more = f->call(&fx, how, &err, shared);
        shared->err = err;
        shared->more = more;
        shared->ended = true;
        _exit(0);
    }
    waitpid(pid, &wstatus, 0);
    return shared->ended && WIFEXITED(wstatus) && WEXITSTATUS(wstatus) == 0;
}

static bool complain(const function *f, const variant *v, const char *what)
{
    printf("[  FAILED  ] %s, %s: %s: %s, '%s'\n", f->name, v->label, what,
           shared->status < 0 ? "NULL" : cip_status_name((cip_status)shared->status),
           shared->err.text);
    return false;
}

static bool check(const function *f, const variant *v)
{
    const outcome *o = shared;
    if (!f->fails)
        return true;
    if (o->status < 0)
        return complain(f, v, "no reason");
    if (o->status == CIP_OK && o->err.code != CIP_OK)
        return complain(f, v, "an error although it went well");
    if (o->status != CIP_OK && (o->err.code != o->status || o->err.text[0] == '\0'))
        return complain(f, v, "err does not say why");
    if (v->ends == FINE && o->status != f->good)
        return complain(f, v, "it should go as a good call (see calls.py)");
    if (v->ends == WRONG && o->status != CIP_ERR_ARG)
        return complain(f, v, "expected ARG");
    if (v->ends == NEW && o->status != CIP_ERR_ARG && o->status != CIP_ERR_UNSUPPORTED)
        return complain(f, v, "expected ARG or UNSUPPORTED");
    return true;
}

/* Number of faults. */
static int call_one(const function *f)
{
    const cip_err none = CIP_ERR_INIT;
    cip_err held = { .size = sizeof held, .code = CIP_ERR_IO, .part = "before", .text = "first" };
    int bad = 0;
    for (int how = 0;; how++) {
        const bool ended = run(f, how, &none);
        if (ended && !shared->more)
            return bad;
        bad += !(ended ? check(f, &f->of[how]) : complain(f, &f->of[how], "it crashed"));
        if (!f->fails || !run(f, how, &held))
            continue;
        if (memcmp(&shared->err, &held, sizeof held) != 0)
            bad += !complain(f, &f->of[how], "the first error is not kept");
    }
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static int call_all(const function *f, size_t n)
{
    int bad = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    shared = (outcome *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fx_start(&fx);
    for (size_t i = 0; i < n; i++)
        bad += call_one(&f[i]);
    nftw(fx.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(fx.bytes);
    printf("%zu functions, %d faults\n", n, bad);
    return bad != 0;
}

#endif
