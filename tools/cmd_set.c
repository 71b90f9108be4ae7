/* SPDX-License-Identifier: BSD-3-Clause
 * cippus set: one node of the tree changed in place. */
#include "commands.h"
#include "update.h"

int cmd_set(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_edit *edit;
    int rc = update_start(o, &edit);
    if (rc != EXIT_FINE)
        return rc;
    cip_status st = o->string ? cip_edit_set(edit, o->pos[1], o->pos[2], &err)
                              : cip_edit_set_typed(edit, o->pos[1], o->pos[2], &err);
    return update_finish(o, edit, st, &err);
}
