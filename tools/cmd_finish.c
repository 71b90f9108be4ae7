/* SPDX-License-Identifier: BSD-3-Clause
 * cippus finish: a streamed block becomes one of a known size. */
#include "commands.h"
#include "update.h"

int cmd_finish(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *edit;
    int rc = update_start(o, &edit);
    if (rc != EXIT_FINE)
        return rc;
    cip_status st = cip_change_freeze(edit, &err);
    return update_finish(o, edit, st, &err);
}
