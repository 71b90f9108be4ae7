/* SPDX-License-Identifier: BSD-3-Clause
 * cippus verify: a line for each finding; exit 1 when a file is not as it should be. */
#include "commands.h"
#include "findings.h"
#include "print.h"

static int verify_one(const char *path, const opts *o, bool *any)
{
    cip_limits limits;
    cip_open_options open = open_options(o, &limits);
    cip_err err = CIP_ERR_INIT;
    findings u = { path, o->json, 0, any, o->bar };
    const cip_verify_options v = { .size = sizeof v,
                                   .deep = o->deep,
                                   .open = &open,
                                   .on_finding = print_finding,
                                   .progress = show_progress_between,
                                   .user = &u };
    cip_status st = cip_verify(path, &v, &err);
    hide_progress(o->bar);
    if (st != CIP_OK)
        return complain(path, &err);
    if (u.nbad == 0 && !o->json) {
        print_escaped(stdout, path);
        puts(": ok");
    }
    return u.nbad == 0 ? EXIT_FINE : EXIT_FINDINGS;
}

int cmd_verify(const opts *o)
{
    int rc = EXIT_FINE;
    bool any = false;
    fputs(o->json ? "[" : "", stdout);
    for (int i = 0; i < o->npos; i++) {
        int one = verify_one(o->pos[i], o, &any);
        rc = one > rc ? one : rc;
    }
    fputs(o->json ? "]\n" : "", stdout);
    return finish_stdout(rc);
}
