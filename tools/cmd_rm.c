/* SPDX-License-Identifier: BSD-3-Clause
 * cippus rm: one node of the tree removed in place. */
#include "commands.h"
#include "update.h"

int cmd_rm(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_edit *edit;
    int rc = update_start(o, &edit);
    if (rc != EXIT_FINE)
        return rc;
    cip_status st = cip_edit_remove(edit, o->pos[1], &err);
    return update_finish(o, edit, st, &err);
}
