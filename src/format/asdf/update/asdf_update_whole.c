/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of the file as a whole: a streamed block gets its size, and what nothing names goes. */
#include "format/asdf/asdf_store.h"

#include <string.h>

/* --- freeze ----------------------------------------------------------------------------------- */

cip_status cip_asdf_update_freeze(void *state, cip_err *err)
{
    asdf_state *u = state;
    asdf_ublock *b = u->n != 0 ? &u->b[u->n - 1] : NULL;
    if (b == NULL || !cip_asdf_is_streamed(&b->head))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a streamed block, found none");
    if (!cip_asdf_is_raw(&b->head))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, b->head.offset,
                        "a streamed block with a compression code");
    if (u->moved)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "nodes were moved in this update; commit it first");
    const size_t block = u->n - 1;
    asdf_before before;
    cip_status st;
    CIP_GO(cip_asdf_update_save(u, true, &before, err));
    for (size_t i = 0; i < u->l->narray; i++) { /* `*` becomes the number of rows that are there */
        const cip_array *a = u->l->array[i];
        cip_node *n;
        if (a->st != CIP_OK || a->storage.block != (int64_t)block || !cip_asdf_update_star(a))
            continue;
        CIP_GO(cip_node_new_int(u->arena, cip_asdf_update_now(u, a)->view.shape[0], &n, err));
        CIP_GO(cip_asdf_update_key(u, a, "shape/0", n, err));
    }
    CIP_GO(cip_asdf_update_renumber(u, NULL, u->f->blocks.n, NULL, err));
    CIP_GO(cip_asdf_update_keep(u, block, err));
done:
    CIP_TRY(cip_asdf_update_end_of(u, &before, st, err));
    b->head.flags &= ~(uint32_t)ASDF_STREAMED;
    b->head.allocated = 0;
    b->changed = b->summed = u->frozen = true;
    return CIP_OK;
}

/* --- defrag ----------------------------------------------------------------------------------- */

/* Blocks are counted by users of the tree as it is now. */
cip_status cip_asdf_update_defrag(void *state, cip_report *report, cip_err *err)
{
    asdf_state *u = state;
    int64_t *to, next = 0;
    const size_t *users;
    size_t nused = 0;
    uint64_t extra;
    CIP_TRY(cip_asdf_update_renumber(u, NULL, u->f->blocks.n, NULL, err));
    CIP_TRY(CIP_ARENA_NEW(u->arena, &to, u->n, err));
    CIP_TRY(cip_asdf_update_users(u, &users, err));
    for (size_t i = 0; i < u->n; i++)
        nused += users[i] != 0;
    if (nused == 0 && u->n != 0) /* as in a file beside an exploded one */
        CIP_TRY(cip_asdf_lose(&u->spec, "blocks", err,
                              "expected arrays that use blocks, found none: other files may "
                              "read these blocks"));
    if (nused < u->n) {
        /* Blocks that go may be named by what is under tags that we do not know, and so may those
         * behind, which get other numbers. */
        asdf_foreign x;
        CIP_TRY(cip_asdf_find_foreign(u->env, cip_yaml_edit_root(u->tree), &x, err));
        if (x.found)
            CIP_TRY(cip_asdf_lose(&u->spec, x.path, err, ASDF_FOREIGN_LOSS, x.tag));
    }
    for (size_t i = 0; i < u->n; i++) {
        const asdf_block *b = &u->b[i].head;
        u->b[i].dropped = users[i] == 0;
        to[i] = users[i] != 0 ? next++ : -1;
        if (users[i] == 0)
            cip_report_add(report, CIP_NOTE, CIP_OK, b->offset, b->stored, "blocks",
                           "block %zu of %" PRIu64 " bytes, which no array uses, is removed", i,
                           b->stored);
    }
    if (u->f->has_gaps)
        cip_report_add(report, CIP_NOTE, CIP_OK, u->f->blocks_from, 0, "blocks",
                       "bytes between blocks are removed");
    CIP_TRY(cip_asdf_update_find_extra(u, &extra, err));
    if (extra != UINT64_MAX)
        cip_report_add(report, CIP_NOTE, CIP_OK, extra, 0, "blocks",
                       "bytes after the last block are removed, from byte %" PRIu64 " on", extra);
    u->anew = u->compact = true;
    return cip_asdf_update_renumber(u, to, u->n, NULL, err);
}
