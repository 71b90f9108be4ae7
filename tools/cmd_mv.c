/* SPDX-License-Identifier: BSD-3-Clause
 * cippus mv: one node or array of the tree gets another path, in place. */
#include "commands.h"
#include "update.h"

int cmd_mv(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *edit;
    int rc = update_start(o, &edit);
    if (rc != EXIT_FINE)
        return rc;
    cip_status st = cip_change_move(edit, o->pos[1], o->pos[2], o->force, &err);
    return update_finish(o, edit, st, &err);
}
