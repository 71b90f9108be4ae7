/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of .npy files. Elements change where they are; with another shape the header is written
 * again in its room, and the data from the first byte on that moves. Where the header needs more
 * room, all of the file is made anew. What lies behind the array (numpy.save may write several to
 * one file) stays behind it. */
#include <string.h>

#include "format/npy/npy.h"

cip_status cip_npy_update_begin(const cip_store_begin *b, void **state, cip_err *err)
{
    const cip_npy_preamble *p = &((const cip_npy_header *)b->old->own)->pre;
    cip_npy_state *u;
    if (b->spec->checksum != NULL && strcmp(b->spec->checksum, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, ".npy files have no checksums");
    if (p->major > 3 || p->minor != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected version 1.0, 2.0 or 3.0 to change, found %d.%d", p->major,
                        p->minor);
    CIP_TRY(CIP_ARENA_NEW(b->arena, &u, 1, err));
    u->env = b->env;
    u->l = b->old;
    *state = u;
    return CIP_OK;
}

/* Rows come along the first axis, which varies fastest in Fortran order: none of it would stay. */
cip_status cip_npy_update_form(void *state, const cip_array *a, cip_change_kind kind,
                               const int64_t *shape, cip_change_form *out, cip_err *err)
{
    (void)state;
    (void)shape;
    if (kind != CIP_CHANGE_ELEMENTS && a->f_order && a->view.ndim > 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected C order to change the shape, found Fortran order; convert the "
                        "file to C order first");
    out->form = (cip_array_form){ .dtype = a->dtype, .caps = CIP_FORM_BYTES };
    return CIP_OK;
}

cip_status cip_npy_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    (void)err;
    ((cip_npy_state *)state)->c = c;
    return CIP_OK;
}

/* The header that the new shape needs, and the data behind it. */
static cip_status reshape(const cip_npy_state *u, const cip_npy_header *h, cip_revision *r,
                          cip_err *err)
{
    const uint64_t off = (uint64_t)h->pre.text_off + h->pre.text_len;
    cip_buf head = { .mem = &u->env->mem };
    cip_status st;
    CIP_GO(cip_npy_header_write(u->env, h, &head, err));
    r->anew = r->has_tail = head.len != off;
    CIP_GO(r->anew ? cip_revision_bytes(r, head.ptr, head.len, err)
                   : cip_patch_bytes(&r->patch, 0, head.ptr, head.len, err));
    st = cip_chunk_changes_revise(u->c, u->l->io, off, r, err);
done:
    cip_buf_clear(&head);
    return st;
}

cip_status cip_npy_update_finish(cip_npy_state *u, cip_revision *r, cip_err *err)
{
    cip_npy_header h = *(const cip_npy_header *)u->l->own;
    const size_t n = (size_t)h.ndim * sizeof *h.shape;
    r->patch.old_len = r->patch.new_len = u->l->io->size;
    if (u->c == NULL)
        return CIP_OK;
    const bool same = memcmp(h.shape, cip_chunk_changes_shape(u->c), n) == 0;
    memcpy(h.shape, cip_chunk_changes_shape(u->c), n);
    return same ? cip_chunk_changes_revise(u->c, u->l->io,
                                           (uint64_t)h.pre.text_off + h.pre.text_len, r, err)
                : reshape(u, &h, r, err);
}
