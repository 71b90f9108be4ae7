/* SPDX-License-Identifier: BSD-3-Clause
 * The tree of a file being written: values set by path. */
#include "core/writing/given.h"
#include "core/writing/writer.h"

static cip_status put(cip_writer *w, const char *path, const cip_given *value, cip_err *err)
{
    const cip_node *n;
    const cip_maker m = { &w->env, &w->arena, w->format->tag_prefix, &w->notes, w->o.accept_loss };
    if (path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    CIP_TRY(cip_given_make(value, &m, &n, err));
    if (cip_writer_has_names(w)) /* elsewhere an array has no place in the tree */
        CIP_TRY(cip_writer_no_array(w, path, err));
    return cip_build_set(&w->tree, path, n, err);
}

cip_status cip_writer_set(cip_writer *w, const char *path, const cip_given *value, cip_err *err)
{
    cip_err e = cip_err_of(cip_given_pointer(value), err);
    CIP_TRY(cip_writer_enter(w, err));
    return cip_writer_leave(w, put(w, path, value, &e), &e, err);
}
