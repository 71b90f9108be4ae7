/* SPDX-License-Identifier: BSD-3-Clause
 * `$ref`: a URI and a JSON pointer to a node of this file's tree or another's. The tree keeps the
 * mapping as it is written; only arrays are looked for behind it. */
#include "format/asdf/asdf.h"

#include <string.h>

#include "base/num.h"

enum { HOPS_MAX = 16 };

const char *cip_asdf_ref_of(const cip_node *node)
{
    if (cip_node_kind(node) != CIP_NODE_MAP)
        return NULL;
    const cip_node *ref = cip_map_get(node, "$ref");
    if (cip_node_kind(ref) != CIP_NODE_STRING || strlen(ref->text) != ref->len)
        return NULL;
    return ref->text;
}

/* Decodes %XX in place; "~1" and "~0" are decoded later, step by step. False for a NUL, which would
 * end the pointer early. */
static bool percent_decode(char *s)
{
    char *to = s;
    for (; *s != '\0'; s++) {
        if (s[0] == '%' && s[1] == '0' && s[2] == '0')
            return false;
        if (s[0] == '%' && cip_hex_digit(s[1]) >= 0 && cip_hex_digit(s[2]) >= 0) {
            *to++ = (char)(cip_hex_digit(s[1]) * 16 + cip_hex_digit(s[2]));
            s += 2;
        } else {
            *to++ = *s;
        }
    }
    *to = '\0';
    return true;
}

/* The node of a tree (or NULL) that the fragment of a reference names, or NULL. */
static cip_status node_at(cip_mem *mem, const cip_node *root, const char *ref, const cip_node **out,
                          cip_err *err)
{
    const char *fragment = ref + strcspn(ref, "#");
    char *pointer;
    cip_err why = CIP_ERR_INIT;
    fragment += *fragment == '#';
    CIP_TRY(cip_mem_copy(mem, fragment, strlen(fragment), &pointer, err));
    const bool whole = percent_decode(pointer);
    *out = root != NULL && whole ? cip_tree_pointer(root, pointer, &why) : NULL;
    cip_mem_put(mem, pointer);
    return CIP_OK;
}

cip_status cip_asdf_ref_here(const asdf_file *f, const cip_node *root, const char *ref, bool *here,
                             const cip_node **out, cip_err *err)
{
    *out = NULL;
    *here = cip_asdf_is_own_name(f, ref);
    return *here ? node_at(&f->env->mem, root, ref, out, err) : CIP_OK;
}

/* One reference: the file and the node it names. */
static cip_status follow(asdf_file *f, const char *ref, asdf_file **owner, const cip_node **out,
                         cip_err *err)
{
    cip_mem *mem = &f->env->mem;
    char *uri;
    cip_layout *l;
    const cip_node *node;
    CIP_TRY(cip_mem_copy(mem, ref, strcspn(ref, "#"), &uri, err));
    cip_status st = cip_asdf_external(f, uri, true, &l, err);
    cip_mem_put(mem, uri);
    CIP_TRY(st);
    if (l == NULL)
        l = f->layout;
    CIP_TRY(node_at(mem, l->tree, ref, &node, err));
    if (node == NULL)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "expected a node where '%.120s' refers to, found none", ref);
    *owner = cip_asdf_of(l);
    *out = node;
    return CIP_OK;
}

cip_status cip_asdf_resolve(asdf_file *f, const char *ref, asdf_file **owner, const cip_node **out,
                            cip_err *err)
{
    const char *next = ref;
    for (int hops = 0; hops < HOPS_MAX; hops++) {
        CIP_TRY(follow(f, next, owner, out, err));
        next = cip_asdf_ref_of(*out);
        if (next == NULL)
            return CIP_OK;
        f = *owner;
    }
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected '%.100s' to lead to a node, found references in a circle", ref);
}
