/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of the file as a whole: a streamed block gets its size, and what nothing names goes. */
#include "format/asdf/asdf_update.h"

#include <string.h>

/* --- freeze --------------------------------------------------------------------------------------
 */

static bool is_star(const cip_array *a)
{
    const cip_node *shape = cip_map_get(a->node, "shape");
    return cip_node_kind(shape) == CIP_NODE_SEQ && shape->len != 0 &&
           cip_node_is_string(shape->item[0], "*");
}

/* `*` becomes the number of rows that are there. */
static cip_status fix_shapes(asdf_update *u, size_t block, cip_err *err)
{
    for (size_t i = 0; i < u->l->narray; i++) {
        const cip_array *a = u->l->array[i];
        cip_node *n;
        if (a->st != CIP_OK || a->storage.block != (int64_t)block || !is_star(a))
            continue;
        CIP_TRY(cip_node_new_int(u->arena, a->view.shape[0], &n, err));
        CIP_TRY(cip_asdf_update_key(u, a, "shape/0", n, err));
    }
    return CIP_OK;
}

/* Sources that count from the end by their numbers. */
static cip_status fix_sources(asdf_update *u, cip_err *err)
{
    cip_yaml_edit *e;
    int64_t *same;
    cip_buf text = { .mem = &u->env->mem };
    CIP_TRY(CIP_ARENA_NEW(u->arena, &same, u->n, err));
    for (size_t i = 0; i < u->n; i++)
        same[i] = (int64_t)i;
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    cip_status st = cip_asdf_renumber(u->env, cip_yaml_edit_text(e), same, u->n, &text, err);
    if (st == CIP_OK)
        st = cip_asdf_update_text(u, (cip_bytes){ text.ptr, text.len }, err);
    cip_buf_clear(&text);
    return st;
}

cip_status cip_asdf_update_freeze(void *state, cip_err *err)
{
    asdf_update *u = state;
    asdf_ublock *b = u->n != 0 ? &u->b[u->n - 1] : NULL;
    if (b == NULL || !cip_asdf_is_streamed(&b->head))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a streamed block, found none");
    if (!cip_asdf_is_raw(&b->head))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, b->head.offset,
                        "a streamed block with a compression code");
    b->head.flags &= ~(uint32_t)ASDF_STREAMED;
    b->head.allocated = 0;
    b->changed = b->summed = true;
    CIP_TRY(fix_shapes(u, u->n - 1, err));
    return fix_sources(u, err);
}

/* --- defrag --------------------------------------------------------------------------------------
 */

static cip_status tell(const asdf_update *u, size_t i, cip_report *report)
{
    const asdf_block *b = &u->b[i].head;
    cip_report_add(report, CIP_NOTE, CIP_OK, b->offset, b->stored, "blocks",
                   "block %zu of %" PRIu64 " bytes, which no array names, is dropped", i,
                   b->stored);
    return CIP_OK;
}

/* Blocks are counted by users of the tree as it is now. */
cip_status cip_asdf_update_defrag(void *state, cip_report *report, cip_err *err)
{
    asdf_update *u = state;
    cip_yaml_edit *e;
    int64_t *to, next = 0;
    cip_buf text = { .mem = &u->env->mem };
    CIP_TRY(CIP_ARENA_NEW(u->arena, &to, u->n, err));
    for (size_t i = 0; i < u->n; i++) {
        size_t users;
        CIP_TRY(cip_asdf_update_users(u, i, &users, err));
        u->b[i].dropped = users == 0;
        to[i] = users != 0 ? next++ : -1;
        if (users == 0)
            CIP_TRY(tell(u, i, report));
    }
    if (u->f->has_gaps)
        cip_report_add(report, CIP_NOTE, CIP_OK, u->f->blocks_from, 0, "blocks",
                       "bytes between blocks are dropped");
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    cip_status st = cip_asdf_renumber(u->env, cip_yaml_edit_text(e), to, u->n, &text, err);
    if (st == CIP_OK)
        st = cip_asdf_update_text(u, (cip_bytes){ text.ptr, text.len }, err);
    cip_buf_clear(&text);
    u->anew = u->compact = true;
    return st;
}
