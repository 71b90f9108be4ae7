/* SPDX-License-Identifier: BSD-3-Clause
 * cippus rm: one node of the tree removed in place, or a range of an array. */
#include "commands.h"
#include "update.h"

int cmd_rm(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_edit *edit;
    const char *last = o->pos[o->npos - 1]; /* as put has it, "[" begins a slice */
    const bool sliced = o->npos > 2 || last[0] == '[';
    int rc = update_start(o, &edit);
    if (rc != EXIT_FINE)
        return rc;
    cip_status st = sliced ? cip_edit_delete_slice(edit, o->npos > 2 ? o->pos[1] : "", last, &err)
                           : cip_edit_remove(edit, last, &err);
    return update_finish(o, edit, st, &err);
}
