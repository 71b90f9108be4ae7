/* SPDX-License-Identifier: BSD-3-Clause
 * Reading what an update has made of an array so far. */
#include "core/writing/edit_impl.h"

#include <string.h>

/* That the bytes which the format has are those of the shape that the array has by now. */
static cip_status expect_shape(cip_edit *e, const cip_array *a, const cip_nd *at, cip_err *err)
{
    const int64_t *shape = cip_edit_shape_now(e, a);
    if (memcmp(at->shape, shape, (size_t)at->ndim * sizeof *shape) == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "the array's shape changed in this update; commit it first");
}

cip_status cip_edit_array_now(cip_edit *e, const cip_array *a, cip_array *seen,
                              const cip_array **out, cip_err *err)
{
    cip_change_form f;
    cip_chunk_changes *x = NULL;
    *out = a;
    if (e->linear && !cip_edit_in_columns(a)) {
        CIP_TRY(cip_edit_form(e, a, CIP_CHANGE_ELEMENTS, NULL, &f, &x, err));
        if (x == NULL) {
            *seen = *a;
            seen->view = f.array.at;
            *out = seen;
            CIP_TRY(expect_shape(e, a, &f.array.at, err));
            return cip_changes_now(f.bytes, &seen->space, err);
        }
    }
    *out = cip_edit_now(e, a);
    return CIP_OK;
}

cip_status cip_edit_read(cip_edit *e, const char *path, const cip_read_args *args, cip_err *err)
{
    cip_read_args in;
    cip_array seen;
    const cip_array *now;
    const char *field;
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(cip_edit_there(e, err));
    err = cip_err_enter(err);
    CIP_TRY(cip_edit_check(e, e->ops->form != NULL, "changing elements", err));
    CIP_TRY(cip_read_args_check(args, &in, err));
    const cip_array *a = cip_find_field(e->file, path, &field, &why);
    if (a == NULL)
        return cip_err_give(err, &why, (cip_status)why.code);
    if (in.field == NULL)
        in.field = field;
    else if (*field != '\0')
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected one field, found '%.80s' in the path and '%.80s'", field,
                        in.field);
    CIP_TRY(cip_edit_still(e, path, a, err));
    CIP_TRY(cip_array_state(a, err));
    CIP_TRY(cip_fail_in(err, cip_edit_array_now(e, a, &seen, &now, err), "%s", a->path));
    return cip_read_into(now, &in, err);
}
