/* SPDX-License-Identifier: BSD-3-Clause
 * cippus set: one node of the tree changed in place. */
#include <inttypes.h>
#include <string.h>

#include "commands.h"
#include "update.h"

static int not_yaml(const cip_err *err)
{
    static const char front[] = "expected YAML, found ";
    const size_t n = sizeof front - 1;
    fprintf(stderr, "cippus: VALUE is not YAML at byte %" PRIu64 ": ", err->offset);
    print_escaped(stderr, err->text + (strncmp(err->text, front, n) == 0 ? n : 0));
    fputs("; --string takes it as it is\n", stderr);
    return EXIT_USAGE;
}

int cmd_set(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_edit *edit;
    int rc = update_start(o, &edit);
    if (rc != EXIT_FINE)
        return rc;
    cip_status st = o->string ? cip_edit_set(edit, o->pos[1], o->pos[2], &err)
                              : cip_edit_set_typed(edit, o->pos[1], o->pos[2], &err);
    if (st == CIP_ERR_CORRUPT && strcmp(err.part, "value") == 0)
        return update_give_up(edit, not_yaml(&err));
    return update_finish(o, edit, st, &err);
}
