/* SPDX-License-Identifier: BSD-3-Clause
 * Updates that add an array: a new block behind the others, and its description in the tree. */
#include "format/asdf/asdf_update.h"

#include <string.h>

#include "base/num.h"
#include "format/asdf/asdf_write.h"

static cip_status describe(asdf_update *u, const asdf_standard *s, const cip_spec_array *array,
                           size_t block, const cip_node **out, cip_err *err)
{
    asdf_list l = { .a = u->arena };
    const cip_node *type, *shape;
    cip_node *source, *map;
    char *tag;
    CIP_TRY(cip_asdf_type_node(u->arena, array->dtype, &type, err));
    CIP_TRY(cip_asdf_shape_node(u->arena, array->ndim, array->shape, false, &shape, err));
    CIP_TRY(cip_arena_printf(u->arena, &tag, err, ASDF_TAGS "core/ndarray-%s", s->ndarray));
    CIP_TRY(cip_node_new_int(u->arena, (int64_t)block, &source, err));
    CIP_TRY(cip_asdf_list_add(&l, "source", source, err));
    CIP_TRY(cip_asdf_list_add(&l, "datatype", type, err));
    CIP_TRY(cip_asdf_list_text(&l, "byteorder", array->dtype->big ? "big" : "little", err));
    CIP_TRY(cip_asdf_list_add(&l, "shape", shape, err));
    CIP_TRY(cip_asdf_list_map(&l, tag, CIP_STYLE_FLOW, &map, err));
    *out = map;
    return CIP_OK;
}

static cip_status fill(asdf_update *u, const cip_spec_array *array, const cip_feed *feed,
                       cip_io *to, cip_err *err)
{
    enum { PIECE = 1 << 20 };
    cip_status st = CIP_OK;
    void *buf;
    uint64_t nelem, size = array->dtype->itemsize, each = cip_max_u64(1, PIECE / size);
    cip_out out = cip_scratch_out(to);
    if (!cip_shape_nelem(array->ndim, array->shape, &nelem))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an array of over 2^63 elements");
    CIP_TRY(cip_mem_zeroed(&u->env->mem, (size_t)each, (size_t)size, &buf, err));
    for (uint64_t left = nelem, n; left != 0; left -= n) {
        n = cip_min_u64(each, left);
        CIP_GO(feed->next(feed->self, n, buf, err));
        CIP_GO(cip_out_write(&out, buf, (size_t)(n * size), err));
    }
done:
    cip_mem_put(&u->env->mem, buf);
    return st;
}

cip_status cip_asdf_update_add(void *state, const char *path, const cip_spec_array *array,
                               const cip_feed *feed, cip_err *err)
{
    asdf_update *u = state;
    const asdf_standard *s;
    asdf_packing how;
    cip_yaml_edit *e;
    const cip_node *node;
    size_t block;
    if (cip_asdf_standard(u->f->header.standard_text, &s, NULL) != CIP_OK)
        CIP_TRY(cip_asdf_standard(NULL, &s, err));
    const char *fault = cip_asdf_type_fault(s, array->dtype);
    if (fault != NULL || array->dtype->itemsize == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "ASDF has no %s",
                        fault != NULL ? fault : "elements of no bytes");
    CIP_TRY(cip_asdf_packing(u->how.codec, u->how.level, &how, err));
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    CIP_TRY(cip_asdf_update_new_block(u, how.code, &block, err));
    CIP_TRY(fill(u, array, feed, u->b[block].shadow, err));
    CIP_TRY(describe(u, s, array, block, &node, err));
    u->tree_changed = true;
    return cip_yaml_edit_set(e, path, node, err);
}
