/* SPDX-License-Identifier: BSD-3-Clause
 * cippus verify: a line for each finding; exit 1 when a file is not as it should be. */
#include <inttypes.h>

#include "commands.h"
#include "print.h"

typedef struct findings {
    const char *file;
    bool json;
    size_t n, nbad; /* nbad: warnings and worse */
    bool *any;      /* in JSON: over all files */
} findings;

static void print_text(const findings *u, const cip_finding *f)
{
    print_escaped(stdout, u->file);
    printf(": %s", severity_name(f->severity));
    if (f->part[0] != '\0' || f->offset != CIP_NO_OFFSET) {
        fputs(" (", stdout);
        print_escaped(stdout, f->part);
        if (f->offset != CIP_NO_OFFSET)
            printf("%sbyte %" PRIu64, f->part[0] != '\0' ? ", " : "", f->offset);
        putchar(')');
    }
    fputs(": ", stdout);
    print_escaped(stdout, f->text);
    putchar('\n');
}

static void print_json(const findings *u, const cip_finding *f)
{
    fputs(*u->any ? ",\n {\"file\": " : "{\"file\": ", stdout);
    print_json_string(stdout, u->file);
    printf(", \"severity\": \"%s\", \"code\": \"%s\", \"part\": ", severity_name(f->severity),
           cip_status_name(f->code));
    print_json_string(stdout, f->part);
    if (f->offset != CIP_NO_OFFSET)
        printf(", \"offset\": %" PRIu64, f->offset);
    printf(", \"length\": %" PRIu64 ", \"fixable\": %s, \"text\": ", f->length,
           f->fixable ? "true" : "false");
    print_json_string(stdout, f->text);
    putchar('}');
    *u->any = true;
}

static int on_finding(void *user, const cip_finding *f)
{
    findings *u = user;
    u->n++;
    u->nbad += f->severity >= CIP_WARN;
    if (u->json)
        print_json(u, f);
    else
        print_text(u, f);
    return 0;
}

static int verify_one(const char *path, const opts *o, bool *any)
{
    cip_limits limits;
    cip_open_options open = open_options(o, &limits);
    cip_err err = CIP_ERR_INIT;
    findings u = { path, o->json, 0, 0, any };
    cip_verify_options v = { .size = sizeof v, .flags = o->deep ? CIP_VERIFY_DEEP : 0 };
    progress p = { .off = o->no_progress };
    v.open = &open;
    v.progress = show_progress;
    v.user = &p;
    cip_status st = cip_verify_with(path, &v, on_finding, &u, &err);
    end_progress(&p);
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
