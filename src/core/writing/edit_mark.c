/* SPDX-License-Identifier: BSD-3-Clause
 * Several calls as one step: a mark, and back to it. */
#include "core/writing/edit_impl.h"

static cip_status mark(cip_edit *e, cip_err *err)
{
    CIP_TRY(cip_edit_check(e, true, "a mark", err));
    if (e->ops->mark != NULL)
        CIP_TRY(e->ops->mark(e->state, err));
    e->mark = (cip_edit_mark_of){ .is = true,
                                  .places = e->places,
                                  .added = e->added,
                                  .narray = cip_edit_added_count(e),
                                  .nmade = e->nmade,
                                  .st = e->st };
    return CIP_OK;
}

cip_status cip_edit_mark(cip_edit *e, cip_err *err)
{
    CIP_TRY(cip_edit_there(e, err));
    return mark(e, cip_err_enter(err));
}

static cip_status undo(cip_edit *e, cip_err *err)
{
    const cip_edit_mark_of *m = &e->mark;
    CIP_TRY(cip_edit_check(e, true, "going back", err));
    if (!m->is)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a mark to go back to");
    if (e->nmade != m->nmade || cip_edit_added_count(e) != m->narray)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected changes of the tree since the mark, found changed elements%s",
                        e->nmade == m->nmade ? " of a column that came" : "");
    if (e->ops->undo != NULL) {
        const cip_status st = e->ops->undo(e->state, err);
        e->halfway = st != CIP_OK && st != CIP_ERR_UNSUPPORTED; /* that takes nothing back */
        CIP_TRY(st);
    }
    cip_edit_added_drop(e, m->added);
    e->places = m->places;
    e->st = m->st;
    return CIP_OK;
}

cip_status cip_edit_undo(cip_edit *e, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(cip_edit_there(e, err));
    return cip_edit_leave(e, undo(e, &why), &why, err);
}
