/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of the metadata tree: values by path, nodes that go or move, the whole text. */
#include "core/writing/edit_impl.h"
#include "core/writing/given.h"

/* Refusals leave no trace of a change of the tree; nobody knows of one that memory was too little
 * for. */
static cip_status done(cip_edit *e, cip_edit_place *before, cip_status st)
{
    e->halfway = st == CIP_ERR_NOMEM;
    return cip_edit_did(e, before, st);
}

cip_status cip_edit_set(cip_edit *e, const char *path, const cip_given *value, cip_err *err)
{
    const cip_node *n;
    const cip_maker m = { &e->file->env, &e->arena, e->file->format->tag_prefix, &e->notes,
                          e->o.accept_loss };
    CIP_TRY(cip_edit_check(e, e->ops->set != NULL, "setting metadata", err));
    if (path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    CIP_TRY(cip_edit_no_slab_at(e, path, err));
    CIP_TRY(cip_given_make(value, &m, &n, err));
    cip_edit_place *const before = e->places;
    CIP_TRY(cip_edit_note(e, path, CIP_EDIT_SET, err));
    return done(e, before, e->ops->set(e->state, path, n, err));
}

cip_status cip_edit_remove(cip_edit *e, const char *path, cip_err *err)
{
    CIP_TRY(cip_edit_check(e, e->ops->remove != NULL, "removing metadata", err));
    if (path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    CIP_TRY(cip_edit_no_slab_at(e, path, err));
    cip_edit_place *const before = e->places;
    CIP_TRY(cip_edit_note(e, path, CIP_EDIT_GONE, err));
    return done(e, before, e->ops->remove(e->state, path, err));
}

cip_status cip_edit_move(cip_edit *e, const char *from, const char *to, bool replace, cip_err *err)
{
    CIP_TRY(cip_edit_check(e, e->ops->move != NULL, "moving metadata", err));
    if (from == NULL || to == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected two paths, found NULL");
    CIP_TRY(cip_edit_no_slab_at(e, from, err));
    CIP_TRY(cip_edit_no_slab_at(e, to, err));
    CIP_TRY(cip_edit_no_filled_field(e, err));
    cip_edit_place *const before = e->places;
    CIP_TRY(cip_edit_note_move(e, from, to, err));
    return done(e, before, e->ops->move(e->state, from, to, replace, err));
}

cip_status cip_edit_text(cip_edit *e, const char **text, size_t *nbytes, cip_err *err)
{
    cip_bytes t;
    CIP_TRY(cip_edit_check(e, e->ops->text != NULL, "editing the metadata as text", err));
    if (text == NULL || nbytes == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected pointers for the text, found NULL");
    CIP_TRY(e->ops->text(e->state, &t, err));
    *text = (const char *)t.ptr;
    *nbytes = t.len;
    return CIP_OK;
}

cip_status cip_edit_set_text(cip_edit *e, const char *text, size_t nbytes, cip_err *err)
{
    CIP_TRY(cip_edit_check(e, e->ops->set_text != NULL, "editing the metadata as text", err));
    if (text == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a text, found NULL");
    if (nbytes > PTRDIFF_MAX)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a text, found an impossible number of bytes");
    CIP_TRY(cip_edit_no_slab_at(e, "", err));
    cip_edit_place *const before = e->places;
    CIP_TRY(cip_edit_note(e, "", CIP_EDIT_MOVED, err));
    return done(e, before,
                e->ops->set_text(e->state, (cip_bytes){ (const uint8_t *)text, nbytes }, err));
}
