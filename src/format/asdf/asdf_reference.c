/* SPDX-License-Identifier: BSD-3-Clause
 * `$ref`: a URI and a JSON pointer to a node of this file's tree or another's. The tree keeps the
 * mapping as it is written; only arrays are looked for behind it. */
#include "format/asdf/asdf.h"

#include <string.h>

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

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes %XX in place; "~1" and "~0" are decoded later, step by step. */
static void percent_decode(char *s)
{
    char *to = s;
    for (; *s != '\0'; s++) {
        if (s[0] == '%' && hex(s[1]) >= 0 && hex(s[2]) >= 0) {
            *to++ = (char)(hex(s[1]) * 16 + hex(s[2]));
            s += 2;
        } else {
            *to++ = *s;
        }
    }
    *to = '\0';
}

bool cip_asdf_ref_here(const asdf_file *f, const cip_node *root, const char *ref,
                       const cip_node **out)
{
    cip_mem *mem = &f->env->mem;
    size_t n = strcspn(ref, "#");
    const char *fragment = ref[n] == '#' ? ref + n + 1 : "";
    char *uri = NULL, *pointer = NULL;
    *out = NULL;
    bool here = cip_mem_copy(mem, ref, n, &uri, NULL) == CIP_OK && cip_asdf_is_own_name(f, uri);
    if (here && cip_mem_copy(mem, fragment, strlen(fragment), &pointer, NULL) == CIP_OK) {
        cip_err why = CIP_ERR_INIT;
        percent_decode(pointer);
        *out = root != NULL ? cip_tree_get(root, pointer, &why) : NULL;
    }
    cip_mem_put(mem, uri);
    cip_mem_put(mem, pointer);
    return here;
}

/* One reference: the file and the node it names. */
static cip_status follow(asdf_file *f, const char *ref, asdf_file **owner, const cip_node **out,
                         cip_err *err)
{
    cip_mem *mem = &f->env->mem;
    size_t n = strcspn(ref, "#");
    const char *fragment = ref[n] == '#' ? ref + n + 1 : "";
    char *uri = NULL, *pointer = NULL;
    cip_layout *l;
    cip_status st;
    CIP_GO(cip_mem_copy(mem, ref, n, &uri, err));
    CIP_GO(cip_mem_copy(mem, fragment, strlen(fragment), &pointer, err));
    CIP_GO(cip_asdf_external(f, uri, true, &l, err));
    if (l == NULL)
        l = f->layout;
    percent_decode(pointer);
    const cip_node *node = NULL;
    if (l->tree != NULL) {
        cip_err why = CIP_ERR_INIT;
        node = cip_tree_pointer(l->tree, pointer, &why);
    }
    if (node == NULL)
        CIP_GO(cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "expected a node where '%.120s' refers to, found none", ref));
    *owner = cip_asdf_of(l);
    *out = node;
done:
    cip_mem_put(mem, uri);
    cip_mem_put(mem, pointer);
    return st;
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
                    "expected '%.100s' to lead somewhere, found references in a circle", ref);
}
