/* SPDX-License-Identifier: BSD-3-Clause
 * cippus resize: an array given a new shape in place. */
#include "commands.h"
#include "notes.h"
#include "update.h"

int cmd_resize(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *edit;
    int ndim;
    int64_t shape[CIP_MAX_NDIM];
    const char *path = o->npos > 2 ? o->pos[1] : "", *text = o->pos[o->npos - 1];
    if (!parse_shape(text, false, &ndim, shape)) {
        fputs("cippus: expected a shape such as 100,3, found ", stderr);
        print_escaped(stderr, text);
        putc('\n', stderr);
        return EXIT_USAGE;
    }
    const loss_note note = note_of_shape(o, path, ndim, shape);
    int rc = update_start(o, &edit);
    if (rc != EXIT_FINE)
        return rc;
    cip_status st = cip_change_resize(edit, path, ndim, shape, &err);
    return note_print(o, &note, update_finish(o, edit, st, &err));
}
