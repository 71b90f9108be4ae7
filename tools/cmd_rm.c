/* SPDX-License-Identifier: BSD-3-Clause
 * cippus rm: one node of the tree removed in place, or a range of an array. */
#include <stdio.h>

#include "commands.h"
#include "notes.h"
#include "update.h"

static cip_status rm_range(cip_change *edit, const char *path, const char *slice, cip_err *err)
{
    int axis;
    int64_t start, count;
    cip_status st = cip_change_range(edit, path, slice, &axis, &start, &count, err);
    return st == CIP_OK ? cip_change_delete(edit, path, axis, start, count, err) : st;
}

/* Those that say how elements are stored. */
static bool has_options_of_arrays(const opts *o)
{
    return o->noption != 0 || o->md5 != NULL || o->accept_loss;
}

int cmd_rm(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *edit;
    const char *last = o->pos[o->npos - 1]; /* as put has it, "[" begins a slice */
    const bool sliced = o->npos > 2 || last[0] == '[';
    if (!sliced && has_options_of_arrays(o)) {
        fputs("cippus: --encode, --option, --md5 and --accept-loss require a SLICE\n", stderr);
        return EXIT_USAGE;
    }
    const loss_note note = sliced ? (loss_note){ "" } : note_of_removal(o, last);
    int rc = update_start(o, &edit);
    if (rc != EXIT_FINE)
        return rc;
    cip_status st = sliced ? rm_range(edit, o->npos > 2 ? o->pos[1] : "", last, &err)
                           : cip_change_remove(edit, last, &err);
    return note_print(o, &note, update_finish(o, edit, st, &err));
}
