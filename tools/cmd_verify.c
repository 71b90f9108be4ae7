/* SPDX-License-Identifier: BSD-3-Clause
 * cippus verify: a line for each finding; exit 1 when a file is not as it should be. */
#include "commands.h"
#include "findings.h"
#include "print.h"
#include "folders.h"

static int verify_one(const char *path, const opts *o, bool *any)
{
    cip_limits limits;
    cip_open_options open = open_options(o, &limits);
    cip_err err = CIP_ERR_INIT;
    findings u = { stdout, path, o->json, 0, any, o->bar };
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
    if (u.nbad == 0 && !o->json && !o->quiet) {
        print_file_name(stdout, path);
        puts(": ok");
    }
    return u.nbad == 0 ? EXIT_FINE : EXIT_FINDINGS;
}

typedef struct verifier {
    const opts *o;
    bool any;
    int rc;
} verifier;

/* A walk_fn: what cannot be opened is reported by verifying it. */
static void verify_file(void *user, const char *path, const cip_file *f, const cip_err *err)
{
    verifier *v = user;
    (void)f;
    (void)err;
    const int one = verify_one(path, v->o, &v->any);
    v->rc = one > v->rc ? one : v->rc;
}

int cmd_verify(const opts *o)
{
    verifier v = { .o = o, .rc = EXIT_FINE };
    fputs(o->json ? "[" : "", stdout);
    for (int i = 0; i < o->npos; i++)
        if (o->recursive || is_plain_folder(o, o->pos[i])) {
            const int none = walk_files(o, o->pos[i], verify_file, &v);
            v.rc = none > v.rc ? none : v.rc;
        } else {
            verify_file(&v, o->pos[i], NULL, NULL);
        }
    fputs(o->json ? "]\n" : "", stdout);
    return finish_stdout(v.rc);
}
