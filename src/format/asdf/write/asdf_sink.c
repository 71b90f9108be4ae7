/* SPDX-License-Identifier: BSD-3-Clause
 * The sink of ASDF. The tree goes first when it can be known before the data: then blocks follow in
 * order. With inline data, or with arrays that come one by one, room is kept for it in front. */
#include <string.h>

#include "format/asdf/asdf_store.h"

/* --- data ------------------------------------------------------------------------------------- */

static cip_status begin_beside(asdf_state *w, const asdf_target *t, cip_err *err)
{
    char *name;
    cip_buf text = { .mem = &w->env->mem };
    CIP_TRY(cip_asdf_member_name(w->arena, w->main.out, t->member, false, &name, err));
    cip_out *main = w->main.out;
    w->beside = (asdf_part){ .env = w->env,
                             .form = w->main.form,
                             .align = w->main.align,
                             .slack = cip_asdf_slack_beside(w->main.slack) };
    CIP_TRY(main->member(main->member_user, name, &w->beside.out, err));
    if (w->how.standard->early) /* no tree, then no room either */
        w->beside.slack = -1;
    cip_status st = cip_asdf_head_text(w->how.standard, &text, err);
    if (st == CIP_OK && !w->how.standard->early)
        st = cip_asdf_tree_text(w->env, w->how.standard, NULL, (asdf_swaps){ NULL, 0 }, &text, err);
    if (st == CIP_OK)
        st = cip_asdf_part_text(&w->beside, &text, true, err);
    cip_buf_clear(&text);
    return st;
}

static asdf_part *part_of(asdf_state *w, const asdf_target *t)
{
    return t->where == CIP_WHERE_EXTERNAL ? &w->beside : &w->main;
}

static cip_status begin_block(asdf_state *w, const asdf_target *t, cip_err *err)
{
    asdf_part *p = part_of(w, t);
    w->block = (asdf_blockw){ .env = w->env,
                              .out = p->out,
                              .bare = p->bare,
                              .form = p->form,
                              .align = cip_asdf_block_align(w),
                              .how = t->how.packing,
                              .chain = t->how.chain,
                              .of = &t->of,
                              .nbytes = t->nbytes,
                              .sum = w->sum };
    return cip_asdf_blockw_begin(&w->block, t->where == CIP_WHERE_STREAMED ? ASDF_STREAMED : 0,
                                 err);
}

static cip_status begin_data(asdf_state *w, size_t i, cip_err *err)
{
    asdf_target *t = w->target[i];
    w->open = i;
    t->state = ASDF_BEGUN;
    if (t->where == CIP_WHERE_INLINE || t->s->is_view)
        return CIP_OK;
    if (t->where == CIP_WHERE_EXTERNAL)
        CIP_TRY(begin_beside(w, t, err));
    asdf_part *p = part_of(w, t);
    if (p == &w->main)
        CIP_TRY(cip_asdf_copy_kept(w, t->block, err));
    CIP_TRY(cip_asdf_part_block(p, err));
    if (p == &w->main && p->blocks.n != (size_t)t->block)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected arrays in the order of their blocks");
    p->streamed = t->where == CIP_WHERE_STREAMED;
    return begin_block(w, t, err);
}

/* `again`: what did not become smaller may be asked for once more, to be stored as it is; but not
 * chunks that came as they are stored. */
static cip_status end_data(asdf_state *w, bool *again, cip_err *err)
{
    asdf_target *t = w->target[w->open];
    bool larger = false;
    if (t->left != 0 && !t->s->is_view)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " more bytes of '%.60s', found the end", t->left,
                        t->s->path != NULL ? t->s->path : "");
    if (t->where != CIP_WHERE_INLINE && !t->s->is_view) {
        asdf_part *p = part_of(w, t);
        CIP_TRY(cip_asdf_blockw_end(&w->block, &larger, err));
        CIP_TRY(cip_asdf_tell_worst(&w->block, t->s->path, w->spec.notes, err));
        if (larger && again != NULL && t->how.packing.source == NULL) {
            *again = true;
            t->left = t->nbytes;
            t->how.chain = NULL;
            t->asked = t->how.packing;
            t->how.packing = (asdf_packing){ .codec = NULL };
            CIP_TRY(cip_asdf_blockw_undo(&w->block, err));
            return begin_block(w, t, err);
        }
        CIP_TRY(cip_asdf_blocks_add(w->env, &p->blocks, UINT64_MAX, &w->block.head, err));
        if (t->where == CIP_WHERE_EXTERNAL)
            CIP_TRY(cip_asdf_part_end(p, err));
    }
    cip_asdf_part_clear(&w->beside);
    t->state = ASDF_DONE;
    w->open = SIZE_MAX;
    return CIP_OK;
}

/* Makes array i the one that data are taken for; those before it are done, even without data. */
static cip_status advance(asdf_state *w, size_t i, cip_err *err)
{
    if (w->open == i)
        return CIP_OK;
    if (w->open != SIZE_MAX)
        CIP_TRY(end_data(w, NULL, err));
    for (; w->ndone < i && w->ndone < w->ntarget; w->ndone++) {
        if (w->target[w->ndone]->state == ASDF_DONE)
            continue;
        CIP_TRY(begin_data(w, w->ndone, err));
        CIP_TRY(end_data(w, NULL, err));
    }
    return i < w->ntarget ? begin_data(w, i, err) : CIP_OK;
}

/* --- the sink --------------------------------------------------------------------------------- */

cip_status cip_asdf_sink_begin(asdf_state *w, cip_out *out, cip_array_form *form, cip_err *err)
{
    const cip_spec *spec = &w->spec;
    const char *dot = out->name != NULL ? strrchr(out->name, '.') : NULL;
    w->root = spec->tree;
    w->tree_last = spec->late;
    /* a file that is called YAML is to be just that */
    w->yaml = dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
    w->main = (asdf_part){ .env = w->env,
                           .out = out,
                           .bare = w->coming != NULL,
                           .slack = spec->tree_slack,
                           .align = spec->align != 0 ? spec->align : ASDF_ALIGN };
    if (out->rewrite == NULL || out->rewind == NULL || out->move == NULL ||
        (out->n != 0 && w->coming == NULL))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected an empty output that can be changed");
    CIP_TRY(cip_asdf_align_check(spec->align, err));
    CIP_TRY(cip_asdf_how_of(w->env, w->arena, spec, &w->how, err));
    CIP_TRY(cip_asdf_sum_of(w->how.standard, spec->checksum, &w->sum, err));
    w->main.form = w->how.standard->early ? &cip_asdf_form_b : &cip_asdf_form_1_0;
    CIP_TRY(cip_asdf_number_blocks(w->arena, spec, &w->kept, err));
    w->nblock = (int64_t)w->kept.next;
    for (size_t i = 0; i < spec->narray && !spec->late; i++)
        w->tree_last = w->tree_last || spec->array[i].where == CIP_WHERE_INLINE || w->yaml;
    for (size_t i = 0; i < spec->narray && !spec->late; i++)
        CIP_TRY(cip_asdf_new_target(w, &spec->array[i], spec->array, spec->narray, &form[i], err));
    return w->tree_last ? CIP_OK : cip_asdf_write_text(w, err);
}

static cip_status store_chunk(asdf_state *w, asdf_target *t, uint64_t i, const cip_chunk_in *c,
                              cip_err *err)
{
    uint64_t n;
    if (cip_mul_overflow(c->raw_len, c->run, &n) || n > t->left || t->s->is_view)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " bytes of data, found %" PRIu64, t->left, n);
    t->left -= n;
    if (t->how.packing.source != NULL)
        return cip_asdf_blockw_chunk(&w->block, i, c, err);
    if (t->where == CIP_WHERE_INLINE)
        return cip_buf_add(&t->data, c->bytes.ptr, c->bytes.len, err);
    return cip_asdf_blockw_write(&w->block, c->bytes.ptr, c->bytes.len, err);
}

cip_status cip_asdf_sink_store(void *state, size_t array, uint64_t i, size_t n,
                               const cip_chunk_in *chunk, cip_err *err)
{
    asdf_state *w = state;
    for (size_t k = 0; k < n; k++) {
        const cip_chunk_in *c = &chunk[k];
        const asdf_target *t = array < w->ntarget ? w->target[array] : NULL;
        if (t == NULL || t->state == ASDF_DONE || /* encoded only where that was said */
            (t->how.packing.source == NULL &&
             (c->state != CIP_CHUNK_DATA || c->bytes.len != c->raw_len)))
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected arrays in order, unencoded");
        CIP_TRY(advance(w, array, err));
        CIP_TRY(store_chunk(w, w->target[array], i, c, err));
        i += c->run;
    }
    return CIP_OK;
}

cip_status cip_asdf_sink_end(void *state, size_t array, bool *again, cip_err *err)
{
    asdf_state *w = state;
    if (again != NULL)
        *again = false;
    if (array >= w->ntarget || w->target[array]->state == ASDF_DONE)
        return CIP_OK;
    CIP_TRY(advance(w, array, err));
    return end_data(w, again, err);
}

cip_status cip_asdf_sink_add(void *state, const cip_spec_array *array, cip_array_form *form,
                             cip_err *err)
{
    asdf_state *w = state;
    CIP_TRY(advance(w, w->ntarget, err));
    return cip_asdf_new_target(w, array, NULL, 0, form, err);
}

cip_status cip_asdf_sink_tree(void *state, const cip_node *root, cip_err *err)
{
    asdf_state *w = state;
    (void)err;
    w->root = root;
    return CIP_OK;
}

cip_status cip_asdf_sink_finish(asdf_state *w, cip_err *err)
{
    CIP_TRY(advance(w, w->ntarget, err));
    if (w->coming != NULL)
        return cip_asdf_coming_finish(w, err);
    CIP_TRY(cip_asdf_copy_kept(w, INT64_MAX, err));
    if (w->tree_last)
        CIP_TRY(cip_asdf_write_text(w, err));
    return cip_asdf_part_end(&w->main, err);
}
