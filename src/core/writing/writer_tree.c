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

static cip_status set(cip_writer *w, const char *path, const cip_given *value, cip_err *err)
{
    cip_err e = cip_err_of(cip_given_pointer(value), err);
    CIP_TRY(cip_writer_enter(w, err));
    return cip_writer_leave(w, put(w, path, value, &e), &e, err);
}

cip_status cip_writer_set_string(cip_writer *w, const char *path, const char *text, cip_err *err)
{
    return set(w, path, CIP_GIVEN(STRING, .text = text), err);
}

cip_status cip_writer_set_int(cip_writer *w, const char *path, int64_t value, cip_err *err)
{
    return set(w, path, CIP_GIVEN(INT, .i = value), err);
}

cip_status cip_writer_set_uint(cip_writer *w, const char *path, uint64_t value, cip_err *err)
{
    return set(w, path, CIP_GIVEN(UINT, .u = value), err);
}

cip_status cip_writer_set_double(cip_writer *w, const char *path, double value, cip_err *err)
{
    return set(w, path, CIP_GIVEN(DOUBLE, .d = value), err);
}

cip_status cip_writer_set_bool(cip_writer *w, const char *path, bool value, cip_err *err)
{
    return set(w, path, CIP_GIVEN(BOOL, .truth = value), err);
}

cip_status cip_writer_set_null(cip_writer *w, const char *path, cip_err *err)
{
    return set(w, path, CIP_GIVEN(NULL, .node = NULL), err);
}

cip_status cip_writer_set_yaml(cip_writer *w, const char *path, const char *text, cip_err *err)
{
    return set(w, path, CIP_GIVEN(YAML, .text = text), err);
}

cip_status cip_writer_set_typed(cip_writer *w, const char *path, const char *text, cip_err *err)
{
    return set(w, path, CIP_GIVEN(TYPED, .text = text), err);
}

cip_status cip_writer_set_node(cip_writer *w, const char *path, const cip_file *from,
                               const cip_node *node, cip_err *err)
{
    return set(w, path, CIP_GIVEN(NODE, .file = from, .node = node), err);
}
