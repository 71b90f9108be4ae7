/* SPDX-License-Identifier: BSD-3-Clause
 * The header and the trailing metadata as a tree, and such metadata back to bytes. */
#include "base/num.h"
#include "format/rawarray/rawarray.h"
#include "tree/base64.h"
#include "tree/utf8.h"

uint64_t cip_ra_tail(const cip_layout *l, const cip_ra_header *h)
{
    return l->io->size - h->data_off - h->size;
}

/* Whether it can be shown as a string: UTF-8 without controls but tab and line ends. */
static bool is_text(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        unsigned len = cip_utf8_get(p + i, n - i, &cp);
        if (len == 0 || (cip_utf8_unsafe(cp) && cp != '\t' && cp != '\n' && cp != '\r'))
            return false;
        i += len;
    }
    return true;
}

cip_status cip_ra_metadata(const cip_node *node, cip_buf *out, cip_err *err)
{
    if (node->type == CIP_NODE_BINARY)
        return cip_base64_decode(node->text, node->len, out, err);
    return cip_buf_add(out, node->text, node->len, err);
}

cip_status cip_ra_metadata_node(cip_layout *l, const cip_ra_header *h, cip_node **out, cip_err *err)
{
    uint64_t n = cip_ra_tail(l, h);
    uint8_t *p;
    *out = NULL;
    if (n == 0)
        return CIP_OK;
    if (n > cip_min_u64(CIP_RA_METADATA_MAX, l->env->limits.max_tree_bytes)) {
        CIP_TRY(cip_node_new_null(&l->arena, out, err));
        cip_warn_lack(l->env, CIP_LACKS_NODE, *out, CIP_ERR_LIMIT, h->data_off + h->size,
                      "metadata", "%" PRIu64 " bytes of trailing metadata are left out", n);
        return CIP_OK;
    }
    CIP_TRY(cip_mem_get(&l->env->mem, (size_t)n, (void **)&p, err));
    cip_status st = cip_io_read(l->io, h->data_off + h->size, p, (size_t)n, err);
    if (st == CIP_OK)
        st = is_text(p, (size_t)n)
                 ? cip_node_new_string(&l->arena, (const char *)p, (size_t)n, out, err)
                 : cip_node_new_binary(&l->arena, (cip_bytes){ p, (size_t)n }, out, err);
    cip_mem_put(&l->env->mem, p);
    return st;
}

cip_status cip_ra_tree(cip_arena *a, const cip_ra_header *h, const cip_node *metadata,
                       const cip_node **out, cip_err *err)
{
    const bool known = h->size != CIP_RA_SIZE_UNKNOWN;
    cip_node *map, *v, *dim;
    const struct {
        const char *key;
        uint64_t value;
        bool known;
    } number[] = { { "flags", h->flags, known },
                   { "eltype", h->eltype, true },
                   { "elbyte", h->elbyte, true },
                   { "size", h->size, known } };
    const size_t n = sizeof number / sizeof *number;
    CIP_TRY(cip_node_new_map(a, n + 1 + (metadata != NULL), &map, err));
    for (size_t i = 0; i < n; i++) {
        CIP_TRY(number[i].known ? cip_node_new_uint(a, number[i].value, &v, err)
                                : cip_node_new_null(a, &v, err));
        CIP_TRY(cip_node_set_key(a, map, i, number[i].key, v, err));
    }
    CIP_TRY(cip_node_new_seq(a, (size_t)h->ndim, &v, err));
    v->style = CIP_STYLE_FLOW;
    for (int32_t i = 0; i < h->ndim; i++) {
        CIP_TRY(cip_node_new_uint(a, h->dims[i], &dim, err));
        cip_node_set_item(v, (size_t)i, dim);
    }
    CIP_TRY(cip_node_set_key(a, map, n, "dims", v, err));
    if (metadata != NULL)
        CIP_TRY(cip_node_set_key(a, map, n + 1, "metadata", metadata, err));
    *out = map;
    return CIP_OK;
}
