/* SPDX-License-Identifier: BSD-3-Clause
 * FILE [PATH] [SLICE]: which array, and which part of it. */
#include <string.h>

#include "commands.h"
#include "print.h"

/* In a file of one array the path may be left out: a word that starts with "[" is then the slice.
 */
static void split(const opts *o, const char **path, const char **slice)
{
    *path = o->npos > 1 ? o->pos[1] : "";
    *slice = o->npos > 2 ? o->pos[2] : NULL;
    if (o->npos == 2 && (*path)[0] == '[') {
        *slice = *path;
        *path = "";
    }
}

static const cip_dtype *dtype_option(const cip_file *f, const char *text, cip_err *err, bool *bad)
{
    const cip_dtype *d = text != NULL ? cip_dtype_from_text(f, text, err) : NULL;
    *bad = *bad || (text != NULL && d == NULL);
    return d;
}

bool target_open(const opts *o, target *t)
{
    cip_err err = CIP_ERR_INIT;
    const char *path, *slice, *field;
    bool bad = false;
    memset(t, 0, sizeof *t);
    split(o, &path, &slice);
    t->file = open_file(o->pos[0], o);
    if (t->file == NULL)
        return false;
    print_warnings(o->pos[0], t->file);
    t->args.size = sizeof t->args;
    t->args.selection = slice;
    t->args.reversed = o->column_major;
    t->array = cip_find_field(t->file, path, &field, &err);
    t->args.field = field;
    if (t->array != NULL) {
        t->args.dtype = dtype_option(t->file, o->dtype, &err, &bad);
        t->args.as = dtype_option(t->file, o->as, &err, &bad);
    }
    if (t->array != NULL && !bad)
        return true;
    complain(o->pos[0], &err);
    target_close(t);
    return false;
}

void target_close(target *t)
{
    cip_file_close(t->file);
    t->file = NULL;
}
