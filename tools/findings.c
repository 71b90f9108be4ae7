/* SPDX-License-Identifier: BSD-3-Clause
 * Printing findings. */
#include "findings.h"

#include <inttypes.h>
#include <stdio.h>

#include "print.h"

static void print_text(const findings *u, const cip_finding *f)
{
    print_escaped(u->out, u->file);
    fprintf(u->out, ": %s", severity_name(f->severity));
    if (f->part[0] != '\0' || f->offset != CIP_NO_OFFSET) {
        fputs(" (", u->out);
        print_escaped(u->out, f->part);
        if (f->offset != CIP_NO_OFFSET)
            fprintf(u->out, "%sbyte %" PRIu64, f->part[0] != '\0' ? ", " : "", f->offset);
        putc(')', u->out);
    }
    fputs(": ", u->out);
    print_words(u->out, f->text);
    putc('\n', u->out);
}

static void print_json(const findings *u, const cip_finding *f)
{
    fputs(*u->any ? ",\n {\"file\": " : "{\"file\": ", u->out);
    print_json_string(u->out, u->file);
    fprintf(u->out,
            ", \"severity\": \"%s\", \"code\": \"%s\", \"part\": ", severity_name(f->severity),
            cip_status_name(f->code));
    print_json_string(u->out, f->part);
    if (f->offset != CIP_NO_OFFSET)
        fprintf(u->out, ", \"offset\": %" PRIu64, f->offset);
    fprintf(u->out, ", \"length\": %" PRIu64 ", \"fixable\": %s, \"text\": ", f->length,
            f->fixable ? "true" : "false");
    print_json_string(u->out, f->text);
    putc('}', u->out);
    *u->any = true;
}

int print_finding(void *user, const cip_finding *f)
{
    findings *u = user;
    u->nbad += f->severity >= CIP_WARN;
    hide_progress(u->bar);
    if (u->json)
        print_json(u, f);
    else
        print_text(u, f);
    return 0;
}

int show_progress_between(void *user, uint64_t done, uint64_t total)
{
    return show_progress(((findings *)user)->bar, done, total);
}
