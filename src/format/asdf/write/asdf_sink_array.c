/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays on their way into an ASDF file: as what type, where, and how many bytes. */
#include <string.h>

#include "base/num.h"
#include "format/asdf/asdf_store.h"

static cip_status place_target(asdf_state *w, asdf_target *t, cip_err *err)
{
    char *uri;
    if (t->s->is_view) {
        const int32_t i = t->s->of;
        const asdf_target *of = i >= 0 && (size_t)i < w->ntarget ? w->target[i] : NULL;
        if (of == NULL || of->where == CIP_WHERE_INLINE ||
            of->s->dtype->itemsize != of->stored->itemsize)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected a view of an array that is stored as it is");
        t->where = of->where;
        t->block = of->block;
        t->uri = of->uri;
        t->nbytes = 0;
        return CIP_OK;
    }
    switch (t->where) {
    case CIP_WHERE_INLINE:
        return CIP_OK;
    case CIP_WHERE_EXTERNAL:
        t->member = w->nexternal;
        CIP_TRY(cip_asdf_member_name(w->arena, w->main.out, t->member, true, &uri, err));
        t->uri = uri;
        w->nexternal++;
        return CIP_OK;
    default:
        t->block = cip_asdf_take_number(w, t->s);
        return CIP_OK;
    }
}

/* A mask is stored the way its array is. */
static cip_where where_of(const asdf_state *w, const cip_spec_array *s, const cip_spec_array *all,
                          size_t n)
{
    if (s->where != CIP_WHERE_DEFAULT)
        return s->where;
    if (w->yaml)
        return CIP_WHERE_INLINE;
    for (size_t i = 0; i < n; i++)
        if (s->is_mask && all[i].mask >= 0 && &all[all[i].mask] == s &&
            all[i].where == CIP_WHERE_INLINE)
            return CIP_WHERE_INLINE;
    return CIP_WHERE_INTERNAL;
}

cip_status cip_asdf_new_target(asdf_state *w, const cip_spec_array *s, const cip_spec_array *all,
                               size_t n, cip_array_form *form, cip_err *err)
{
    asdf_target *t;
    CIP_TRY(CIP_ARENA_NEW(w->arena, &t, 1, err));
    *t = (asdf_target){
        .s = s, .where = where_of(w, s, all, n), .block = -1, .data = { .mem = &w->env->mem }
    };
    CIP_TRY(cip_asdf_stored_type(w->arena, s->dtype, w->spec.big, &t->stored, err));
    const char *fault = cip_asdf_array_fault(w->how.standard, s, t->where);
    if (fault != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%.80s cannot be written: %s",
                        cip_dtype_name(s->dtype), fault);
    t->how = w->how;
    t->of = (asdf_encoded){ s->ndim, s->shape, t->stored };
    CIP_TRY(cip_spec_array_nbytes(s, t->stored, &t->nbytes, err));
    t->left = t->nbytes;
    CIP_TRY(cip_asdf_array_how(w->env, w->arena, t, &t->how, err));
    if (t->where == CIP_WHERE_STREAMED && cip_asdf_packs(&w->how.packing))
        cip_report_add(w->spec.notes, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, s->path,
                       "streamed data cannot be compressed: they are stored without '%s'",
                       cip_asdf_packing_name(&w->how.packing));
    *form = (cip_array_form){ .dtype = t->stored };
    if (cip_asdf_is_blosc(&t->how.packing) && w->sum != ASDF_SUM_DECODED && s->source != NULL)
        CIP_TRY(cip_asdf_blosc_take(&(asdf_blosc_taking){ w->env, w->arena, s->source, t->nbytes },
                                    &t->how.packing, form, err));
    CIP_TRY(CIP_ROOM(&w->env->mem, &w->target, w->ntarget, &w->target_cap, err));
    CIP_TRY(place_target(w, t, err)); /* last: a number that is taken is a block that must come */
    w->target[w->ntarget++] = t;
    return CIP_OK;
}
