/* SPDX-License-Identifier: BSD-3-Clause
 * Blocks of the file that an output is made from, where its arrays are written one by one: each
 * keeps its number, and those that no array shows go along as they are stored. */
#include <string.h>

#include "base/num.h"
#include "format/asdf/asdf_store.h"

cip_status cip_asdf_number_blocks(cip_arena *a, const cip_spec *spec, asdf_kept *out, cip_err *err)
{
    *out = (asdf_kept){ .n = 0 };
    if (spec->from == NULL || !spec->whole)
        return CIP_OK;
    CIP_TRY(cip_asdf_check_numbers(cip_asdf_of(spec->from), err));
    size_t n = cip_asdf_of(spec->from)->blocks.n;
    bool *owned;
    CIP_TRY(CIP_ARENA_NEW(a, &out->to, n, err));
    CIP_TRY(CIP_ARENA_NEW(a, &out->kept, n, err));
    CIP_TRY(CIP_ARENA_NEW(a, &out->given, n, err));
    CIP_TRY(CIP_ARENA_NEW(a, &owned, n, err));
    for (size_t i = 0; i < n; i++)
        out->kept[i] = true;
    for (size_t i = 0; i < spec->narray; i++) {
        const cip_spec_array *s = &spec->array[i];
        if (s->block < 0 || (uint64_t)s->block >= n)
            continue;
        out->kept[s->block] = false;
        const bool here = s->where == CIP_WHERE_DEFAULT || s->where == CIP_WHERE_INTERNAL;
        owned[s->block] = owned[s->block] || (here && !s->is_view);
    }
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        bool stays = out->kept[i] && !spec->text_only;
        out->to[i] = stays || owned[i] ? (int64_t)out->next++ : -1;
        out->moved = out->moved || (stays && out->to[i] != (int64_t)i);
    }
    return CIP_OK;
}

int64_t cip_asdf_take_number(asdf_state *w, const cip_spec_array *s)
{
    const asdf_kept *k = &w->kept;
    bool has = s->block >= 0 && (uint64_t)s->block < k->n && k->to[s->block] >= 0;
    if (!has || k->given[s->block])
        return w->nblock++;
    k->given[s->block] = true;
    return k->to[s->block];
}

cip_status cip_asdf_check_kept(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    cip_arena arena = { .mem = &spec->env->mem };
    asdf_kept k;
    asdf_block_list list;
    asdf_foreign x = { .found = false };
    cip_status st;
    CIP_GO(cip_asdf_number_blocks(&arena, spec, &k, err));
    cip_asdf_list_blocks(k.kept, k.n, &list);
    if (list.count != 0 && spec->text_only)
        cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, "blocks",
                       "blocks that no array uses are lost, because a YAML file has no blocks: %s",
                       list.text);
    else if (list.count != 0)
        cip_report_add(loss, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, "blocks",
                       "blocks that no array uses are kept as stored: %s", list.text);
    if (k.moved)
        CIP_GO(cip_asdf_find_foreign(spec->env, spec->tree, &x, err));
    if (x.found)
        cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, x.path,
                       ASDF_FOREIGN_LOSS, x.tag);
    st = CIP_OK;
done:
    cip_arena_clear(&arena);
    return st;
}

/* --- writing them ----------------------------------------------------------------------------- */

static cip_status copy_block(asdf_state *w, size_t i, asdf_recoding *r, cip_err *err)
{
    const asdf_place at = { cip_asdf_of(w->spec.from), i };
    asdf_piece p;
    asdf_block as;
    CIP_TRY(cip_asdf_part_block(&w->main, err));
    CIP_TRY(cip_asdf_recode(r, &at, &p, err));
    if ((p.head.flags & ASDF_STREAMED) != 0 && w->main.blocks.n + 1 != (size_t)w->nblock)
        cip_asdf_freeze_piece(&p);
    p.head.allocated = p.head.used;
    w->main.streamed = (p.head.flags & ASDF_STREAMED) != 0;
    CIP_TRY(cip_asdf_put_block(&p, cip_asdf_block_align(w), w->main.out, &as, err));
    return cip_asdf_blocks_add(w->env, &w->main.blocks, UINT64_MAX, &as, err);
}

cip_status cip_asdf_copy_kept(asdf_state *w, int64_t before, cip_err *err)
{
    cip_status st = CIP_OK;
    asdf_recoding r;
    cip_arena arena = { .mem = &w->env->mem };
    asdf_kept *k = &w->kept;
    for (; k->done < k->n && k->to[k->done] < before; k->done++) {
        if (!k->kept[k->done] || k->to[k->done] < 0)
            continue;
        CIP_GO(cip_asdf_recoding_begin(w->spec.from, &arena, &w->spec, &r, err));
        r.form = w->main.form;
        st = copy_block(w, k->done, &r, err);
        cip_asdf_recoding_clear(&r);
        CIP_GO(st);
    }
done:
    cip_arena_clear(&arena);
    return st;
}
