/* SPDX-License-Identifier: BSD-3-Clause
 * core/integer: a mapping with a sign and 32-bit words, which are an ndarray. It is one number: a
 * tree for formats that know no such mapping has that in its place. */
#include "format/asdf/asdf.h"

#include <string.h>

#include "array/cast.h"
#include "base/strmap.h"
#include "tree/scalar.h"

enum {
    WORDS_MAX = 4096,        /* of one that is compared with its string */
    PLAIN_WORDS_MAX = 512,   /* of one that becomes a number in text: 4,932 digits */
    PLAIN_WORK_MAX = 1 << 30 /* squares of the numbers of words, in all */
};

static cip_status read_words(const asdf_file *f, const cip_array *a, uint32_t **out, size_t *n,
                             cip_err *err)
{
    const cip_read_how how = { .layout = f->layout };
    cip_cast cast;
    cip_cast_stats stats = { 0 };
    cip_nd to;
    *out = NULL;
    CIP_TRY(cip_array_check(a, err));
    if (a->view.ndim != 1 || a->view.shape[0] > WORDS_MAX || a->mask.kind != CIP_MASK_NONE)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "an integer of too many digits");
    *n = (size_t)a->view.shape[0];
    CIP_TRY(CIP_NEW(&f->env->mem, out, *n, err));
    CIP_TRY(cip_cast_make(a->dtype, cip_dtype_of(CIP_U32), CIP_OVERFLOW_ERROR, &cast, err));
    CIP_TRY(cip_view_c_order(1, a->view.shape, sizeof **out, &to, err));
    CIP_TRY(cip_space_gather(
        &how, a->space, &(cip_transfer){ &a->view, &cast, &to, (uint8_t *)*out }, &stats, err));
    return cip_cast_check(&cast, &stats, "", err);
}

cip_status cip_asdf_integer_read(const asdf_file *f, const cip_node *n, const cip_array *words,
                                 cip_buf *out, cip_err *err)
{
    const cip_node *sign = cip_map_get(n, "sign");
    uint32_t *w = NULL;
    size_t nword = 0;
    cip_status st;
    CIP_GO(read_words(f, words, &w, &nword, err));
    st = cip_asdf_integer_text(&f->env->mem, w, nword,
                               sign != NULL && cip_node_is_string(sign, "-"), out, err);
done:
    cip_mem_put(&f->env->mem, w);
    return st;
}

bool cip_asdf_integer_is(const cip_node *string, const cip_buf *text)
{
    const char *s = string->text[0] == '+' ? string->text + 1 : string->text;
    return strlen(s) == text->len && memcmp(s, text->ptr, text->len) == 0;
}

/* --- a tree with numbers in the place of such mappings ---------------------------------------- */

typedef struct plainer {
    asdf_file *f;
    cip_arena *a;
    cip_strmap made; /* nodes and what stands for them */
    uint64_t work;
    bool any;
} plainer;

/* The mapping that the array is the words of, or NULL. */
static const cip_node *integer_of(const cip_node *tree, cip_arena *a, const cip_array *words)
{
    static const char last[] = "words";
    const size_t n = strlen(words->path), k = sizeof last - 1;
    char *path;
    if (words->node == NULL || n < k || strcmp(words->path + n - k, last) != 0 ||
        (n > k && words->path[n - k - 1] != '/') ||
        cip_arena_copy(a, words->path, n > k ? n - k - 1 : 0, &path, NULL) != CIP_OK)
        return NULL;
    const cip_node *map = cip_tree_get(tree, path, NULL);
    const bool is_one = map != NULL && map->type == CIP_NODE_MAP &&
                        cip_asdf_is_core(map->tag, "integer") &&
                        cip_map_get(map, last) == words->node;
    return is_one ? map : NULL;
}

/* Whether it says what it is, and is no work without end. */
static bool is_plain(plainer *p, const cip_node *map, const cip_array *words)
{
    const cip_node *sign = cip_map_get(map, "sign"), *string = cip_map_get(map, "string");
    const uint64_t n = words->view.ndim == 1 ? (uint64_t)words->view.shape[0] : UINT32_MAX;
    if (sign == NULL || !(cip_node_is_string(sign, "+") || cip_node_is_string(sign, "-")) ||
        (string != NULL && string->text == NULL) || words->st != CIP_OK || n > PLAIN_WORDS_MAX)
        return false;
    for (uint32_t i = 0; i < map->len; i++) { /* what else it says would be lost */
        const cip_node *key = map->pair[i].key;
        if (!cip_node_is_string(key, "sign") && !cip_node_is_string(key, "string") &&
            !cip_node_is_string(key, "words"))
            return false;
    }
    p->work += n * n;
    return p->work <= PLAIN_WORK_MAX;
}

/* *is: a number stands for the mapping. What cannot be read, or contradicts itself, stays. */
static cip_status make_plain(plainer *p, const cip_node *map, const cip_array *words, bool *is,
                             cip_err *err)
{
    const cip_node *string = cip_map_get(map, "string");
    cip_buf text = { .mem = &p->f->env->mem };
    cip_err why = CIP_ERR_INIT;
    cip_node *n;
    *is = cip_strmap_get_ptr(&p->made, map) != SIZE_MAX;
    if (*is || !is_plain(p, map, words))
        return CIP_OK;
    cip_status st = cip_asdf_integer_read(p->f, map, words, &text, &why);
    if (st == CIP_ERR_NOMEM || st == CIP_ERR_CANCELLED)
        cip_err_pass(err, &why);
    else if (st != CIP_OK || (string != NULL && !cip_asdf_integer_is(string, &text)))
        st = CIP_OK;
    else if ((st = cip_node_new_string(p->a, (const char *)text.ptr, text.len, &n, err)) ==
             CIP_OK) {
        *is = p->any = cip_yaml_resolve_as(n, "int", n->text, n->len);
        st = cip_strmap_put_ptr(&p->made, p->a, map, (size_t)(uintptr_t)n, NULL, err);
    }
    cip_buf_clear(&text);
    return st;
}

/* Descriptions of arrays are known by their nodes, and stay themselves. */
static cip_status copy(plainer *p, const cip_node *from, uint32_t depth, const cip_node **out,
                       cip_err *err)
{
    cip_node *to;
    const size_t made = cip_strmap_get_ptr(&p->made, from);
    *out = made != SIZE_MAX ? (const cip_node *)(uintptr_t)made : from;
    if (made != SIZE_MAX)
        return CIP_OK;
    if (cip_node_kind(from) < CIP_NODE_SEQ || cip_asdf_is_ndarray(from->tag, NULL))
        return CIP_OK;
    if (depth >= p->f->env->limits.max_depth)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "too many nested collections");
    if (from->type == CIP_NODE_SEQ)
        CIP_TRY(cip_node_new_seq(p->a, from->len, &to, err));
    else
        CIP_TRY(cip_node_new_map(p->a, from->len, &to, err));
    to->tag = from->tag;
    to->anchor = from->anchor;
    to->style = from->style;
    to->alias_used = from->alias_used;
    *out = to;
    /* before what lies within: there may be cycles */
    CIP_TRY(cip_strmap_put_ptr(&p->made, p->a, from, (size_t)(uintptr_t)to, NULL, err));
    for (uint32_t i = 0; i < from->len; i++) {
        const bool map = from->type == CIP_NODE_MAP;
        const cip_node *value;
        CIP_TRY(copy(p, map ? from->pair[i].value : from->item[i], depth + 1, &value, err));
        if (map)
            cip_node_set_pair(to, i, from->pair[i].key, value);
        else
            cip_node_set_item(to, i, value);
    }
    return CIP_OK;
}

cip_status cip_asdf_plain(const cip_layout *l, cip_arena *a, const cip_node **tree, bool *within,
                          cip_err *err)
{
    plainer p = { .f = l->own, .a = a, .made = { .mem = &l->env->mem } };
    cip_status st = CIP_OK;
    for (size_t i = 0; st == CIP_OK && i < l->narray; i++) {
        const cip_node *map = integer_of(*tree, a, l->array[i]);
        if (map != NULL)
            st = make_plain(&p, map, l->array[i], &within[i], err);
    }
    if (st == CIP_OK && p.any)
        st = copy(&p, *tree, 0, tree, err);
    cip_strmap_clear(&p.made);
    return st;
}
