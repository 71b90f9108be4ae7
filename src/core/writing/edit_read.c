/* SPDX-License-Identifier: BSD-3-Clause
 * Reading what an update has made of an array so far. */
#include "core/writing/edit_impl.h"

cip_status cip_edit_read(cip_edit *e, const char *path, const cip_read_args *args, cip_err *err)
{
    cip_read_args in;
    const char *field;
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(cip_edit_there(e, err));
    err = cip_err_enter(err);
    CIP_TRY(cip_edit_check(e, e->ops->form != NULL, "changing elements", err));
    CIP_TRY(cip_read_args_check(args, &in, err));
    const cip_array *a = cip_find_field(e->file, path, &field, &why);
    if (a == NULL)
        return cip_edit_not_found(e, path, &why, err);
    if (in.field == NULL)
        in.field = field;
    else if (*field != '\0')
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected one field, found '%.80s' in the path and '%.80s'", field,
                        in.field);
    CIP_TRY(cip_edit_still(e, path, a, err));
    CIP_TRY(cip_array_state(a, err));
    a = cip_edit_now(e, a);
    CIP_TRY(cip_array_state(a, err));
    return cip_read_into(a, &in, err);
}
