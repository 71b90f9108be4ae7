/* SPDX-License-Identifier: BSD-3-Clause
 * Names of axes as dimension scales where arrays are such, else as labels. */
#include "format/hdf5/hdf5_put_impl.h"

/* The array that has the name of an axis and its length, and no other axis: beside this one, or in
 * a group around it. */
static cip_status scale_of(cip_h5_builder *b, size_t array, int32_t k, size_t *out, cip_err *err)
{
    const cip_spec *spec = b->w->spec;
    const cip_node *name = b->axis[array].names->item[k], *own;
    char *dir;
    size_t n = strlen(b->parent[array]), at;
    *out = SIZE_MAX;
    if (name->type != CIP_NODE_STRING || name->len == 0 || cip_is_alone(spec))
        return CIP_OK;
    CIP_TRY(cip_arena_copy(b->w->arena, b->parent[array], n, &dir, err));
    for (;;) {
        CIP_TRY(cip_groups_member_key(&b->g, dir, name, &at, err));
        if (at < spec->narray || n == 0)
            break;
        for (n--; n != 0 && dir[n - 1] != '/'; n--)
            ;
        dir[n] = '\0';
    }
    if (at >= spec->narray || spec->array[at].ndim != 1 ||
        spec->array[at].shape[0] != spec->array[array].shape[k])
        return CIP_OK;
    CIP_TRY(cip_h5_said_of(b, at, CIP_H5_DIMS, &own, err));
    if (own == NULL || cip_node_is_string(own->item[0], b->name[at]))
        *out = at;
    return CIP_OK;
}

/* Labels that an array's attributes have: a text for each axis. */
static const cip_node *labels_in(const cip_node *attrs, int32_t ndim)
{
    const cip_node *v = attrs != NULL ? cip_map_get(attrs, "DIMENSION_LABELS") : NULL;
    bool all = cip_node_kind(v) == CIP_NODE_SEQ && v->len == (uint32_t)ndim;
    for (uint32_t i = 0; all && i < v->len; i++)
        all = cip_h5_is_string(v->item[i]);
    return all ? v : NULL;
}

cip_status cip_h5_find_axes(cip_h5_builder *b, cip_err *err)
{
    const cip_spec *spec = b->w->spec;
    const cip_node *attrs, *root = spec->tree;
    size_t n = 0;
    CIP_TRY(CIP_ARENA_NEW(b->w->arena, &b->axis, spec->narray, err));
    for (size_t i = 0; i < spec->narray; i++) {
        cip_h5_axes *x = &b->axis[i];
        const int32_t ndim = spec->array[i].ndim;
        bool all = true;
        CIP_TRY(CIP_ARENA_NEW(b->w->arena, &x->scale, (size_t)ndim, err));
        CIP_TRY(cip_h5_attributes_of(b, i, &attrs, err));
        x->labels = ndim != 0 ? labels_in(attrs, ndim) : NULL;
        if (!cip_is_alone(spec))
            CIP_TRY(cip_h5_said_of(b, i, CIP_H5_DIMS, &x->names, err));
        else if (cip_node_kind(root) == CIP_NODE_MAP && cip_map_get(root, "dims") != NULL &&
                 cip_h5_are_axes(cip_map_get(root, "dims"), ndim))
            x->names = cip_map_get(root, "dims");
        for (int32_t k = 0; k < ndim; k++) {
            x->scale[k] = SIZE_MAX;
            if (x->names != NULL)
                CIP_TRY(scale_of(b, i, k, &x->scale[k], err));
            all = all && x->scale[k] != SIZE_MAX;
        }
        for (int32_t k = 0; k < ndim; k++) {
            if (!all)
                x->scale[k] = SIZE_MAX;
            else
                b->axis[x->scale[k]].is_scale = true;
        }
    }
    for (size_t i = 0; i < spec->narray; i++) /* how many axes each is the scale of, and which */
        for (int32_t k = 0; !b->axis[i].is_scale && k < spec->array[i].ndim; k++)
            if (b->axis[i].scale[k] != SIZE_MAX) {
                b->axis[b->axis[i].scale[k]].nuse++;
                n++;
            }
    CIP_TRY(CIP_ARENA_NEW(b->w->arena, &b->use, n, err));
    n = 0;
    for (size_t i = 0; i < spec->narray; i++) {
        b->axis[i].from = n;
        n += b->axis[i].nuse;
        b->axis[i].nuse = 0;
    }
    for (size_t i = 0; i < spec->narray; i++)
        for (int32_t k = 0; !b->axis[i].is_scale && k < spec->array[i].ndim; k++)
            if (b->axis[i].scale[k] != SIZE_MAX) {
                cip_h5_axes *of = &b->axis[b->axis[i].scale[k]];
                b->use[of->from + of->nuse++] = (cip_h5_axis_use){ i, k };
            }
    return CIP_OK;
}

static cip_status put_scale(cip_h5_builder *b, size_t array, const cip_node *attrs, cip_err *err)
{
    const cip_h5_axes *x = &b->axis[array];
    const cip_node *name = attrs != NULL ? cip_map_get(attrs, "NAME") : NULL;
    cip_h5_use *list;
    CIP_TRY(cip_h5_put_text(&b->put, "CLASS", "DIMENSION_SCALE", err));
    CIP_TRY(cip_h5_put_text(&b->put, "NAME", cip_h5_is_string(name) ? name->text : b->name[array],
                            err));
    CIP_TRY(CIP_ARENA_NEW(b->w->arena, &list, x->nuse, err));
    for (size_t i = 0; i < x->nuse; i++)
        list[i] = (cip_h5_use){ b->at[b->use[x->from + i].array], b->use[x->from + i].axis };
    return cip_h5_put_uses(&b->put, x->nuse, list, err);
}

/* The name of an axis as its label; of an axis with a scale the label that it has besides. */
static const char *label_of(const cip_h5_axes *x, int32_t k)
{
    const cip_node *name = x->names != NULL ? x->names->item[k] : NULL;
    if (x->labels != NULL && x->labels->item[k]->len != 0)
        return x->labels->item[k]->text;
    return x->scale[k] == SIZE_MAX && cip_node_kind(name) == CIP_NODE_STRING ? name->text : "";
}

/* The attributes that say which axes a dataset has and whose axis it is. */
cip_status cip_h5_put_axes(cip_h5_builder *b, size_t array, cip_err *err)
{
    const cip_h5_axes *x = &b->axis[array];
    const int32_t ndim = b->w->spec->array[array].ndim;
    const cip_node *attrs;
    uint64_t at[CIP_MAX_NDIM];
    bool any = false;
    CIP_TRY(cip_h5_attributes_of(b, array, &attrs, err));
    if (x->is_scale)
        return put_scale(b, array, attrs, err);
    for (int32_t k = 0; k < ndim; k++) {
        any = any || label_of(x, k)[0] != '\0';
        at[k] = x->scale[k] != SIZE_MAX ? b->at[x->scale[k]] : CIP_H5_NONE;
    }
    if (ndim != 0 && x->scale[0] != SIZE_MAX)
        CIP_TRY(cip_h5_put_scales(&b->put, ndim, at, err));
    if (!any)
        return CIP_OK;
    cip_node *labels, *text;
    cip_node key = { .type = CIP_NODE_STRING, .text = "DIMENSION_LABELS", .len = 16 };
    CIP_TRY(cip_node_new_seq(b->w->arena, (size_t)ndim, &labels, err));
    for (int32_t k = 0; k < ndim; k++) {
        const char *label = label_of(x, k);
        CIP_TRY(cip_node_new_string(b->w->arena, label, strlen(label), &text, err));
        cip_node_set_item(labels, (size_t)k, text);
    }
    return cip_h5_put_attribute(&b->put, &key, labels, NULL, err);
}

/* Whether an attribute is what `cip_h5_put_axes` says, or would be in its way (*lost). */
bool cip_h5_is_of_axes(const cip_h5_axes *x, int32_t ndim, const cip_pair *p, bool *lost)
{
    const bool labels = cip_node_is_string(p->key, "DIMENSION_LABELS");
    const bool scale =
        cip_node_is_string(p->key, "CLASS") && cip_node_is_string(p->value, "DIMENSION_SCALE");
    *lost = cip_h5_is_word(p->key, "DIMENSION_LIST REFERENCE_LIST") || (scale && !x->is_scale);
    for (int32_t k = 0; labels && x->labels == p->value && !x->is_scale && k < ndim; k++) {
        const cip_node *name = x->names != NULL ? x->names->item[k] : NULL;
        *lost = *lost || (x->scale[k] == SIZE_MAX && cip_node_kind(name) == CIP_NODE_STRING &&
                          !cip_node_is_string(name, label_of(x, k)));
    }
    *lost = *lost || (labels && (x->labels != p->value || x->is_scale));
    return *lost || labels || scale || (x->is_scale && cip_h5_is_word(p->key, "CLASS NAME"));
}
