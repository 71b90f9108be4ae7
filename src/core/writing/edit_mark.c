/* SPDX-License-Identifier: BSD-3-Clause
 * Marks, and back to one. What changes overwrite lies in e->undo, the last first; what only grows -
 * lists of arrays, of changed chunks, of places - goes back to the length that it had. */
#include "core/writing/edit_impl.h"

/* The marks since `m`, and (`itself`) that one. */
static void drop_since(cip_edit *e, const cip_edit_mark_of *m, bool itself)
{
    const cip_edit_mark_of *const to = itself && m != NULL ? m->next : m;
    while (e->mark != to) {
        cip_edit_mark_of *const x = e->mark;
        e->mark = x->next;
        if (x->format != NULL)
            e->ops->unmark(e->state, x->format);
        cip_mem_put(&e->file->env.mem, x);
    }
    e->undo.mark = e->mark != NULL ? e->mark->number : 0;
    if (e->mark == NULL)
        cip_edit_slabs_unmark(e);
}

void cip_edit_marks_end(cip_edit *e)
{
    drop_since(e, NULL, false);
    cip_undo_end(&e->undo);
}

cip_status cip_edit_mark(cip_edit *e, uint64_t *number, cip_err *err)
{
    cip_edit_mark_of *m;
    CIP_TRY(cip_edit_check(e, true, "a mark", err));
    CIP_TRY(CIP_NEW(&e->file->env.mem, &m, 1, err));
    *m = (cip_edit_mark_of){ .next = e->mark,
                             .number = e->nmark + 1,
                             .before = e->undo.n,
                             .places = e->places,
                             .added = e->added,
                             .chunks = e->chunks,
                             .slabs = e->slabs,
                             .st = e->st,
                             .why = e->why };
    e->mark = m;
    e->undo.mark = m->number;
    cip_status st = e->ops->mark != NULL ? e->ops->mark(e->state, &m->format, err) : CIP_OK;
    if (st == CIP_OK)
        st = cip_edit_slabs_mark(e, err);
    if (st == CIP_OK) {
        m->undo = e->undo.n;
        e->nmark++;
        if (number != NULL)
            *number = e->nmark;
    } else {
        cip_undo_to(&e->undo, m->before);
        drop_since(e, m, true);
    }
    cip_undo_next(&e->undo);
    return st;
}

static cip_status expect_mark(const cip_edit *e, uint64_t number, cip_edit_mark_of **m,
                              cip_err *err)
{
    *m = e->mark;
    while (*m != NULL && number != 0 && (*m)->number != number)
        *m = (*m)->next;
    return *m != NULL ? CIP_OK
                      : cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                                 "expected a mark that is still there, found none");
}

/* A change that failed halfway goes with the rest. */
cip_status cip_edit_undo(cip_edit *e, uint64_t number, cip_err *err)
{
    cip_edit_mark_of *m;
    CIP_TRY(expect_mark(e, number, &m, err));
    if (m->format != NULL)
        CIP_TRY(e->ops->go_back(e->state, m->format, err));
    cip_undo_to(&e->undo, m->undo);
    cip_undo_again(&e->undo, m->before);
    e->records = NULL; /* they show columns as they were */
    cip_edit_chunks_end(e, m->chunks);
    cip_edit_slabs_drop(e, m->slabs);
    cip_edit_added_drop(e, m->added);
    e->places = m->places;
    e->st = m->st;
    e->why = m->why;
    e->torn = false;
    drop_since(e, m, false);
    return CIP_OK;
}

cip_status cip_edit_release(cip_edit *e, uint64_t number, cip_err *err)
{
    cip_edit_mark_of *m;
    CIP_TRY(expect_mark(e, number, &m, err));
    drop_since(e, m, true);
    cip_undo_next(&e->undo);
    return CIP_OK;
}
