/* SPDX-License-Identifier: BSD-3-Clause
 * The store of ASDF: one state, of a file that was there or of nothing. */
#include "format/asdf/asdf_store.h"

static void clear(void *state)
{
    asdf_state *s = state;
    cip_asdf_blockw_clear(&s->block);
    cip_asdf_part_clear(&s->main);
    cip_asdf_part_clear(&s->beside);
    for (size_t i = 0; i < s->ntarget; i++)
        cip_buf_clear(&s->target[i]->data);
    cip_mem_put(&s->env->mem, s->target);
    cip_layout_free(s->seen);
    cip_yaml_edit_free(s->tree);
    cip_strmap_clear(&s->own);
}

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    cip_out *out = b->out;
    cip_status st = CIP_OK;
    asdf_state *s;
    CIP_TRY(CIP_ARENA_NEW(b->arena, &s, 1, err));
    *s = (asdf_state){ .env = b->env,
                       .arena = b->arena,
                       .spec = *b->spec,
                       .l = b->old,
                       .f = b->old != NULL ? cip_asdf_of(b->old) : NULL,
                       .open = SIZE_MAX,
                       .own = { .mem = &b->env->mem },
                       .coming = b->coming,
                       .undo = b->undo,
                       .temporary = b->temporary,
                       .now = b->now,
                       .path_now = b->path_now,
                       .now_user = b->now_user };
    if (b->coming != NULL)
        st = cip_asdf_coming_begin(s, &out, err);
    if (st == CIP_OK)
        st = s->f != NULL ? cip_asdf_update_begin(s, err)
                          : cip_asdf_sink_begin(s, out, b->form, err);
    if (st != CIP_OK)
        clear(s);
    else
        *state = s;
    return st;
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    asdf_state *s = state;
    return s->f != NULL ? cip_asdf_update_finish(s, r, err) : cip_asdf_sink_finish(s, err);
}

const cip_array_store cip_asdf_store = {
    .caps =
        CIP_STORE_PATCHES | CIP_STORE_LATE | CIP_STORE_TREE | CIP_STORE_UPDATES | CIP_STORE_ADDS,
    .check = cip_asdf_sink_check,
    .begin = begin,
    .store = cip_asdf_sink_store,
    .end = cip_asdf_sink_end,
    .add = cip_asdf_sink_add,
    .tree = cip_asdf_sink_tree,
    .set = cip_asdf_update_set,
    .remove = cip_asdf_update_remove,
    .move = cip_asdf_update_move,
    .mark = cip_asdf_update_mark,
    .go_back = cip_asdf_update_go_back,
    .unmark = cip_asdf_update_unmark,
    .tree_now = cip_asdf_update_tree_now,
    .is_array = cip_asdf_is_array,
    .text = cip_asdf_update_get_text,
    .set_text = cip_asdf_update_set_text,
    .history = cip_asdf_update_history,
    .form = cip_asdf_update_form,
    .holds = cip_asdf_inline_holds,
    .chunks = cip_asdf_update_chunks,
    .reshaped = cip_asdf_update_reshaped,
    .freeze = cip_asdf_update_freeze,
    .defrag = cip_asdf_update_defrag,
    .grows = cip_asdf_grows,
    .finish = finish,
    .clear = clear,
};
