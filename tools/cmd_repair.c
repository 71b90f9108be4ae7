/* SPDX-License-Identifier: BSD-3-Clause
 * cippus repair: what can be read of a damaged file, and a line for each thing that is lost. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "findings.h"
#include "input.h"

static int repair(const opts *o, const cip_array *fill)
{
    cip_limits limits;
    cip_open_options open = open_options(o, &limits);
    cip_err err = CIP_ERR_INIT;
    bool any = false;
    findings u = { stdout, o->pos[0], o->json, 0, &any, o->bar };
    open.salvage = o->in_order ? CIP_SALVAGE_IN_ORDER : CIP_SALVAGE_CERTAIN;
    const cip_repair_options how = { .size = sizeof how,
                                     .format = o->format,
                                     .fill = fill,
                                     .accept_loss = o->accept_loss,
                                     .overwrite = o->overwrite,
                                     .level = opts_level(o),
                                     .input = &open,
                                     .on_finding = print_finding,
                                     .progress = show_progress_between,
                                     .user = &u };
    fputs(o->json ? "[" : "", stdout);
    const cip_status st = cip_repair(o->pos[0], o->pos[1], &how, &err);
    hide_progress(o->bar);
    fputs(o->json ? "]\n" : "", stdout);
    if (st != CIP_OK)
        return complain(o->pos[strcmp(err.part, "output") == 0], &err);
    if (!o->json && u.nbad == 0) {
        print_file_name(stdout, o->pos[0]);
        puts(": nothing is lost");
    }
    return finish_stdout(u.nbad == 0 ? EXIT_FINE : EXIT_FINDINGS);
}

int cmd_repair(const opts *o)
{
    strbuf literal = { 0 };
    cip_file *f = NULL;
    int rc = EXIT_FINE;
    if (strcmp(o->pos[1], "-") == 0) {
        fputs("cippus: the report goes to standard output; name a file for the copy\n", stderr);
        return EXIT_USAGE;
    }
    if (o->fill != NULL)
        f = literal_open("--fill: ", o->fill, &literal, &rc);
    if (o->fill == NULL || f != NULL)
        rc = repair(o, f != NULL ? cip_file_array(f, 0) : NULL);
    cip_file_close(f);
    free(literal.ptr);
    return rc;
}
