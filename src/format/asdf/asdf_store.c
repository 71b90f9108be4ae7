/* SPDX-License-Identifier: BSD-3-Clause
 * The store of ASDF: new files, and arrays that come into one, by write/; files that are there by
 * update/. */
#include "format/asdf/update/asdf_update.h"
#include "format/asdf/write/asdf_sink.h"

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    if (b->coming != NULL)
        return cip_asdf_coming_begin(b, state, err);
    return b->old != NULL ? cip_asdf_update_begin(b, state, err)
                          : cip_asdf_sink_begin(b, state, err);
}

/* The states begin with what they are. */
static bool is_update(const void *state)
{
    return *(const bool *)state;
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    if (is_update(state))
        return cip_asdf_update_finish(state, r, err);
    CIP_TRY(cip_asdf_sink_finish(state, err));
    return ((const asdf_writer *)state)->coming != NULL ? cip_asdf_coming_finish(state, err)
                                                        : CIP_OK;
}

static void clear(void *state)
{
    if (is_update(state))
        cip_asdf_update_clear(state);
    else
        cip_asdf_sink_clear(state);
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
    .undo = cip_asdf_update_undo,
    .tree_now = cip_asdf_update_tree_now,
    .text = cip_asdf_update_get_text,
    .set_text = cip_asdf_update_set_text,
    .history = cip_asdf_update_history,
    .form = cip_asdf_update_form,
    .chunks = cip_asdf_update_chunks,
    .reshaped = cip_asdf_update_reshaped,
    .freeze = cip_asdf_update_freeze,
    .defrag = cip_asdf_update_defrag,
    .grows = cip_asdf_grows,
    .finish = finish,
    .clear = clear,
};
