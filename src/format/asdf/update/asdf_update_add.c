/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays that come into a file: the blocks of another ASDF file, which holds nothing else, become
 * new blocks as they are stored, and its description of the array goes into the tree. */
#include <string.h>

#include "format/asdf/update/asdf_update.h"

/* The standard of the file, if it is one that we write; NULL: the default. */
static const char *own_standard(const asdf_update *u)
{
    const asdf_header *h = &u->f->header;
    return h->has_standard && cip_asdf_standard_known(h->standard) ? h->standard_text : NULL;
}

static cip_status check_free(asdf_update *u, const char *path, bool replace, cip_err *err)
{
    cip_yaml_edit *e;
    CIP_TRY(cip_asdf_update_check_path(u, path, NULL, err));
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    if (path[0] != '\0' && (replace || cip_yaml_edit_get(e, path, NULL) == NULL))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "expected a path that names nothing yet, found a node at \"%.80s\"", path);
}

cip_status cip_asdf_update_may_take(void *state, const char *path, bool replace, bool inlined,
                                    const char **version, cip_err *err)
{
    asdf_update *u = state;
    const asdf_header *h = &u->f->header;
    if (cip_asdf_is_early(h->file) || (h->has_standard && cip_asdf_is_early(h->standard)))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "arrays cannot be added to a file of ASDF 0.1; convert it first");
    if (!inlined)
        CIP_TRY(cip_asdf_update_check_last(u, err));
    CIP_TRY(check_free(u, path, replace, err));
    *version = own_standard(u);
    return CIP_OK;
}

/* The number in this file of the block that a source of the other file names; blocks that are
 * dropped have none. */
static uint64_t number_of(const asdf_update *u, const asdf_file *f, const cip_node *source)
{
    const size_t n = f->blocks.n;
    size_t first = 0;
    for (size_t i = 0; i < u->n - n; i++)
        first += !u->b[i].dropped;
    return first + cip_asdf_block_of(source, n);
}

/* A node with the sources in it, the ndarray's own and that of its mask, as they are in this file.
 */
static cip_status renumber(asdf_update *u, const asdf_file *f, const cip_node *node,
                           const cip_node **out, cip_err *err)
{
    cip_node *copy, *number;
    int64_t i;
    *out = node;
    if (cip_node_kind(node) != CIP_NODE_MAP)
        return CIP_OK;
    CIP_TRY(cip_node_new_map(u->arena, node->len, &copy, err));
    copy->tag = node->tag;
    copy->style = node->style;
    for (uint32_t k = 0; k < node->len; k++) {
        const cip_pair *p = &node->pair[k];
        const cip_node *value = p->value;
        if (cip_node_is_string(p->key, "mask")) {
            CIP_TRY(renumber(u, f, p->value, &value, err));
        } else if (cip_node_is_string(p->key, "source") && cip_node_as_int(p->value, &i)) {
            CIP_TRY(cip_node_new_uint(u->arena, number_of(u, f, p->value), &number, err));
            value = number;
        }
        cip_node_set_pair(copy, k, p->key, value);
    }
    *out = copy;
    return CIP_OK;
}

static cip_status take_block(asdf_update *u, const cip_layout *from, const asdf_block *b,
                             cip_err *err)
{
    asdf_ublock *to;
    CIP_TRY(cip_asdf_update_room(u, &to, err));
    to->head = *b;
    to->head.header_size = b->form->header_size;
    to->head.allocated = to->head.stored = 0;
    to->raw_len = b->data_size;
    to->sum_known = true;
    to->encoded = (cip_segment){ .io = from->io, .off = b->data_off, .len = b->stored };
    u->n++;
    return CIP_OK;
}

/* Codecs beyond the standard are announced, as in a new file. */
static cip_status add_extension(asdf_update *u, cip_yaml_edit *e, const asdf_block *b, cip_err *err)
{
    const asdf_standard *s;
    const cip_node *n;
    if (cip_asdf_is_raw(b))
        return CIP_OK;
    CIP_TRY(cip_asdf_standard(own_standard(u), &s, err));
    CIP_TRY(cip_asdf_codec_extension(u->arena, s, cip_yaml_edit_root(e), cip_asdf_codec_of(b->code),
                                     &n, err));
    return n == NULL ? CIP_OK : cip_yaml_edit_set(e, "history/extensions/-", n, err);
}

static cip_status take(asdf_update *u, const char *path, bool replace, const cip_layout *from,
                       const char *name, cip_err *err)
{
    const asdf_file *f = cip_asdf_of(from);
    cip_yaml_edit *e;
    const cip_node *node = cip_tree_get(from->tree, name, err);
    if (node == NULL)
        return CIP_ERR_NOT_FOUND;
    CIP_TRY(
        check_free(u, path, replace, err)); /* the update may have put something there meanwhile */
    for (size_t i = 0; i < f->blocks.n; i++)
        CIP_TRY(take_block(u, from, &f->blocks.at[i], err));
    CIP_TRY(renumber(u, f, node, &node, err));
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    u->tree_changed = true;
    CIP_TRY(cip_yaml_edit_set(e, path, node, err));
    for (size_t i = 0; i < f->blocks.n; i++)
        CIP_TRY(add_extension(u, e, &f->blocks.at[i], err));
    return CIP_OK;
}

cip_status cip_asdf_update_take(void *state, const char *path, bool replace, const cip_layout *from,
                                const char *name, cip_err *err)
{
    asdf_update *u = state;
    asdf_before before;
    cip_status st = cip_asdf_update_save(u, &before, err);
    if (st == CIP_OK)
        st = take(u, path, replace, from, name, err);
    if (st == CIP_OK)
        st = cip_asdf_update_went(u, path, err);
    return cip_asdf_update_end_of(u, &before, st, err);
}
