/* SPDX-License-Identifier: BSD-3-Clause
 * Masks: which of the elements read are missing. */
#include <assert.h>
#include <string.h>

#include "base/num.h"
#include "core/reading/read_plan.h"

/* The mask array seen with the shape of the array: numpy's broadcasting (missing leading axes, axes
 * of length 1). */
static cip_status broadcast(const cip_nd *mask, const cip_nd *to, cip_nd *out, cip_err *err)
{
    bool fits = mask->ndim <= to->ndim;
    *out = *to;
    out->off = mask->off;
    out->itemsize = mask->itemsize;
    for (int32_t d = 0; fits && d < to->ndim; d++) {
        int32_t s = d - (to->ndim - mask->ndim);
        bool spread = s < 0 || mask->shape[s] == 1;
        fits = spread || mask->shape[s] == to->shape[d];
        if (fits)
            out->stride[d] = spread ? 0 : mask->stride[s];
    }
    if (!fits)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a mask that broadcasts to the array's shape");
    return CIP_OK;
}

/* The elements of the mask array that a part's are. */
static cip_status view_of_mask(const cip_read_plan *p, const cip_part *part, cip_nd *chosen,
                               cip_err *err)
{
    const cip_array *m = p->array->mask.array;
    cip_nd all;
    CIP_TRY(cip_array_state(m, err));
    CIP_TRY(broadcast(&m->view, &p->array->view, &all, err));
    cip_read_plan_axes(p, &all, NULL); /* every item of a field has the element's mask */
    CIP_TRY(cip_view_select(&all, &p->sel, chosen, NULL, err));
    for (int32_t d = 0; d < chosen->ndim; d++) {
        chosen->off += (uint64_t)(part->start[d] * chosen->stride[d]);
        chosen->shape[d] = part->from.shape[d];
    }
    return CIP_OK;
}

static cip_status mask_from_array(const cip_read_plan *p, const cip_part *part, uint8_t *dst,
                                  cip_err *err)
{
    const cip_array *m = p->array->mask.array;
    cip_nd chosen, packed;
    cip_cast cast;
    cip_cast_stats stats = { 0, 0 };
    CIP_TRY(view_of_mask(p, part, &chosen, err));
    CIP_TRY(cip_cast_make(m->dtype, cip_dtype_of(CIP_BOOL), CIP_OVERFLOW_CLAMP, &cast, err));
    CIP_TRY(cip_view_c_order(chosen.ndim, chosen.shape, 1, &packed, err));
    return cip_space_gather(&p->how, m->space, &(cip_transfer){ &chosen, &cast, &packed, dst },
                            &stats, err);
}

cip_status cip_read_plan_cost(const cip_read_plan *p, const cip_part *part, uint64_t *nbytes,
                              cip_err *err)
{
    cip_nd mask;
    uint64_t more = 0;
    CIP_TRY(cip_space_gather_cost(&p->how, p->array->space, &part->from, nbytes, err));
    if (p->array->mask.kind != CIP_MASK_NONE && p->array->mask.kind != CIP_MASK_VALUE) {
        CIP_TRY(view_of_mask(p, part, &mask, err));
        CIP_TRY(cip_space_gather_cost(&p->how, p->array->mask.array->space, &mask, &more, err));
    }
    if (cip_add_overflow(*nbytes, more, nbytes))
        *nbytes = UINT64_MAX;
    return CIP_OK;
}

static cip_status mask_from_value(const cip_read_plan *p, const cip_part *part, uint8_t *dst,
                                  cip_err *err)
{
    cip_status st;
    cip_read_plan raw = *p;
    void *elems = NULL;
    assert(p->nfaxis == 0 && p->array->dtype->kind != CIP_RECORD); /* layout.h says so */
    raw.stored = raw.to = p->array->dtype;                         /* whatever they are read as */
    raw.take_mask = false;
    CIP_GO(cip_cast_make(raw.stored, raw.to, CIP_OVERFLOW_CLAMP, &raw.cast, err));
    CIP_GO(
        cip_mem_zeroed(p->arena.mem, (size_t)part->nelem, (size_t)raw.to->itemsize, &elems, err));
    CIP_GO(cip_read_plan_fetch(&raw, part, elems, err));
    CIP_GO(cip_equal_run(raw.to, p->array->mask.value, elems, (size_t)part->nelem, dst, err));
done:
    cip_mem_put(p->arena.mem, elems);
    return st;
}

cip_status cip_mask_shows(const cip_mask *m, uint64_t off, uint64_t itemsize, cip_err *err)
{
    for (size_t i = 0; i < m->nfield; i++) {
        const cip_masked_field *x = &m->field[i];
        if (!x->nan && x->off >= off && x->off - off < itemsize)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "values are missing in the field '%.60s', and records have no mask: "
                            "read the fields one by one",
                            x->name);
    }
    return CIP_OK;
}

static cip_status mask_of_elements(const cip_read_plan *p, const cip_part *part, uint8_t *dst,
                                   cip_err *err)
{
    switch (p->array->mask.kind) {
    case CIP_MASK_NONE:
        memset(dst, 0, (size_t)part->nelem);
        return CIP_OK;
    case CIP_MASK_VALUE:
        return mask_from_value(p, part, dst, err);
    case CIP_MASK_SET_MISSING:
        return mask_from_array(p, part, dst, err);
    case CIP_MASK_SET_VALID:
        CIP_TRY(mask_from_array(p, part, dst, err));
        for (uint64_t i = 0; i < part->nelem; i++)
            dst[i] = !dst[i];
        return CIP_OK;
    case CIP_MASK_BITS:
        break;
    }
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "a mask of single bits");
}

/* Sets what is missing of the field alone. */
static cip_status add_missing(const cip_read_plan *p, const cip_part *part, uint8_t *dst,
                              cip_err *err)
{
    cip_status st;
    cip_cast cast;
    cip_cast_stats stats = { 0, 0 };
    cip_nd from = part->from, packed;
    uint8_t *set = NULL;
    from.itemsize = 1;
    CIP_GO(cip_cast_make(cip_dtype_of(CIP_BOOL), cip_dtype_of(CIP_BOOL), CIP_OVERFLOW_CLAMP, &cast,
                         err));
    CIP_GO(cip_view_c_order(from.ndim, from.shape, 1, &packed, err));
    CIP_GO(cip_mem_get(p->arena.mem, (size_t)part->nelem, (void **)&set, err));
    CIP_GO(cip_space_gather(&p->how, p->array->mask.in_fields,
                            &(cip_transfer){ &from, &cast, &packed, set }, &stats, err));
    for (uint64_t i = 0; i < part->nelem; i++)
        dst[i] |= set[i];
done:
    cip_mem_put(p->arena.mem, set);
    return st;
}

cip_status cip_read_plan_mask(const cip_read_plan *p, const cip_part *part, uint8_t *dst,
                              cip_err *err)
{
    CIP_TRY(mask_of_elements(p, part, dst, err));
    return p->by_field ? add_missing(p, part, dst, err) : CIP_OK;
}
