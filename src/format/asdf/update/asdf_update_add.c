/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays that come into a file. Each is written as that of a new file is, by a writer whose blocks
 * go to the update's temporary file without headers; then they become new blocks as they are
 * stored, and the description goes into the tree. */
#include <string.h>

#include "format/asdf/asdf_store.h"

static cip_status check_free(asdf_state *u, const char *path, bool replace, cip_err *err)
{
    static const cip_node described = { .type = CIP_NODE_MAP };
    const cip_node *found = NULL;
    CIP_TRY(cip_asdf_update_check_path(u, path, &described, err));
    if (!replace)
        CIP_TRY(cip_yaml_edit_peek(u->tree, path, &found, err));
    if (found == NULL)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "expected a path that does not exist yet, found a node at \"%.80s\"", path);
}

cip_status cip_asdf_coming_begin(asdf_state *w, cip_out **out, cip_err *err)
{
    const cip_coming *c = w->coming;
    asdf_state *u = c->update;
    const asdf_header *h = &u->f->header;
    if (cip_asdf_is_early(h->file) || (h->has_standard && cip_asdf_is_early(h->standard)))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "arrays cannot be added to a file of ASDF 0.1; convert it first");
    if (!c->inlined)
        CIP_TRY(cip_asdf_update_check_last(u, err));
    CIP_TRY(check_free(u, c->path, c->replace, err));
    CIP_TRY(CIP_ARENA_NEW(w->arena, out, 1, err));
    **out = cip_temporary_out(u->temporary);
    w->spec.version = w->coming->version = cip_asdf_own_standard(h);
    return CIP_OK;
}

/* The blocks and the array where they lie now: what comes is taken from there, and who looks at
 * what the update has made so far reads it. */
static cip_status see(const asdf_state *u, asdf_state *w, const asdf_target *t, cip_err *err)
{
    asdf_file *f;
    cip_array *a;
    const cip_node *node;
    CIP_TRY(cip_layout_new(w->env, u->temporary, &w->seen, err));
    CIP_TRY(cip_asdf_new_state(w->seen, &f, err));
    f->header = u->f->header;
    f->blocks = w->main.blocks;
    w->main.blocks = (asdf_blocks){ .n = 0 };
    f->sure = f->blocks.n;
    CIP_TRY(cip_asdf_make_blocks(f, err));
    CIP_TRY(cip_asdf_target_node(w, &w->seen->arena, t, &node, err));
    CIP_TRY(cip_layout_add_array(w->seen, true, &a, err));
    a->path = w->coming->path;
    w->coming->array = a;
    w->coming->seen = w->seen;
    return cip_asdf_ndarray(f, node, true, a, err);
}

/* The i-th block that came, and how it was to be stored. */
static cip_status take_block(asdf_state *u, const asdf_state *w, size_t i, cip_err *err)
{
    const asdf_block *b = &cip_asdf_of(w->seen)->blocks.at[i];
    const asdf_target *t = w->target[0];
    asdf_ublock *to;
    CIP_TRY(cip_asdf_update_room(u, &to, err));
    for (size_t k = 0; k < w->ntarget; k++)
        t = w->target[k]->block == (int64_t)i ? w->target[k] : t;
    to->head = *b;
    to->head.stored = 0;
    to->raw_len = b->data_size;
    to->sum_known = true;
    to->packing = cip_asdf_packs(&t->asked) ? &t->asked : &t->how.packing;
    to->encoded = (cip_segment){ .io = u->temporary, .off = b->data_off, .len = b->stored };
    u->n++;
    return CIP_OK;
}

/* Of a codec that the tree has to name. */
static uint32_t bit_of(const asdf_codec *codec)
{
    return codec != NULL && codec->extension_uri != NULL
               ? UINT32_C(1) << (unsigned)(codec - cip_asdf_codecs)
               : 0;
}

cip_status cip_asdf_update_announce(asdf_state *u, const asdf_codec *codec, cip_err *err)
{
    const cip_node *n;
    cip_yaml_edit *e;
    const asdf_standard *s;
    if ((bit_of(codec) & ~u->announced) == 0)
        return CIP_OK;
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    CIP_TRY(cip_asdf_standard(cip_asdf_own_standard(&u->f->header), &s, err));
    CIP_TRY(cip_asdf_codec_extension(u->arena, s, cip_yaml_edit_root(e), codec, &n, err));
    if (n != NULL)
        CIP_TRY(cip_yaml_edit_set(e, "history/extensions/-", n, err));
    u->announced |= bit_of(codec);
    return CIP_OK;
}

/* The array is the last target, after its mask. Its description waits with others', so that
 * thousands of arrays cost no more each than one; nothing can fail after that. */
static cip_status take(asdf_state *u, asdf_state *w, cip_err *err)
{
    const asdf_target *t = w->target[w->ntarget - 1];
    const char *path = w->coming->path;
    const cip_node *node;
    asdf_came *x;
    /* the number of its first block in the end; those dropped have none */
    int64_t first = u->compact ? 0 : (int64_t)u->n;
    for (size_t i = 0; u->compact && i < u->n; i++)
        first += !u->b[i].dropped;
    /* the update may have put something there meanwhile */
    CIP_TRY(check_free(u, path, w->coming->replace, err));
    CIP_TRY(see(u, w, t, err));
    const asdf_blocks *came = &cip_asdf_of(w->seen)->blocks;
    for (size_t i = 0; i < came->n; i++)
        CIP_TRY(take_block(u, w, i, err));
    for (size_t i = 0; i < w->ntarget; i++)
        w->target[i]->block += first;
    /* it is one of the update's arrays from now on */
    CIP_TRY(CIP_ARENA_NEW(u->arena, &x, 1, err));
    *x = (asdf_came){ u->came, w->coming->array, NULL };
    u->came = x;
    for (size_t i = 0; i < w->seen->narray; i++)
        w->seen->array[i]->storage.block += w->seen->array[i]->storage.block < 0 ? 0 : first;
    CIP_TRY(cip_asdf_target_node(w, u->arena, t, &node, err));
    u->tree_changed = true;
    for (size_t i = 0; i < came->n; i++)
        CIP_TRY(cip_asdf_update_announce(u, cip_asdf_codec_of(came->at[i].code), err));
    CIP_TRY(cip_asdf_update_went(u, path, err));
    u->came->gone = u->gone;
    CIP_TRY(cip_yaml_edit_queue(u->tree, path, node, err));
    cip_asdf_update_queued_at(u, path);
    return CIP_OK;
}

cip_status cip_asdf_coming_finish(asdf_state *w, cip_err *err)
{
    asdf_state *u = w->coming->update;
    asdf_before before;
    bool announces = false; /* a codec that the tree may not name yet: that changes its text */
    for (size_t i = 0; i < w->main.blocks.n; i++)
        announces = announces ||
                    (bit_of(cip_asdf_codec_of(w->main.blocks.at[i].code)) & ~u->announced) != 0;
    cip_status st = cip_asdf_update_save(u, announces, &before, err);
    if (st == CIP_OK)
        st = take(u, w, err);
    return cip_asdf_update_end_of(u, &before, st, err);
}
