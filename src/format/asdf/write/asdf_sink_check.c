/* SPDX-License-Identifier: BSD-3-Clause
 * What of a spec ASDF cannot hold. */
#include <string.h>

#include "base/strmap.h"
#include "format/asdf/asdf_store.h"
#include "tree/edit.h"
#include "tree/scalar.h"

bool cip_asdf_is_rawarray(const cip_spec *spec)
{
    return spec->source_format != NULL && strcmp(spec->source_format, "rawarray") == 0;
}

static void lost(cip_report *r, cip_severity severity, const char *part, const char *what,
                 const char *why)
{
    cip_report_add(r, severity, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, part, "%s: %.120s", what,
                   why);
}

static void check_tree(const cip_spec *spec, cip_report *loss)
{
    cip_node_type type = cip_node_kind(spec->tree);
    if (cip_asdf_is_rawarray(spec)) {
        const cip_node *m = cip_map_get(spec->tree, "metadata");
        if (m != NULL && m->type == CIP_NODE_NULL)
            lost(loss, CIP_WARN, "metadata", "the trailing metadata are lost",
                 "they are too long to be kept");
    } else if (type != CIP_NODE_MAP && type != CIP_NODE_NULL && type != CIP_NODE_NONE &&
               !(type == CIP_NODE_STRING && spec->tree->len == 0)) {
        lost(loss, CIP_BAD, NULL, "the metadata tree cannot be written",
             "the root of an ASDF tree is a mapping");
    }
}

/* --- tags and keys ---------------------------------------------------------------------------- */

typedef struct node_walk {
    const asdf_standard *s;
    const cip_spec *spec;
    cip_report *loss;
    cip_strmap seen;
    bool key_told;
    cip_status st;
    cip_err *err;
} node_walk;

static int visit_node(void *user, const cip_visit *v)
{
    node_walk *w = user;
    const cip_node *key = v->key;
    /* Python's asdf makes dicts of mappings, and of what has a tag of its own an object. A tree
     * that came from ASDF has its keys already. */
    if (!w->key_told && w->spec->from == NULL && key != NULL) {
        const bool tagged =
            key->tag != NULL && strncmp(key->tag, CIP_CORE_TAG, sizeof CIP_CORE_TAG - 1) != 0;
        w->key_told = tagged || key->type == CIP_NODE_SEQ || key->type == CIP_NODE_MAP;
        if (w->key_told)
            lost(w->loss, CIP_WARN, v->path, "Python's asdf cannot read the file",
                 "a key of the tree is a list, a mapping or has a tag");
    }
    if (v->again || v->node == NULL)
        return v->again;
    const char *tag = v->node->tag;
    size_t was = SIZE_MAX;
    if (!w->s->early || tag == NULL || !cip_asdf_tag_is_lost(w->s, tag))
        return 0;
    w->st =
        cip_strmap_put(&w->seen, (cip_bytes){ (const uint8_t *)tag, strlen(tag) }, 1, &was, w->err);
    if (w->st == CIP_OK && was == SIZE_MAX) /* each once */
        cip_report_add(w->loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, v->path,
                       "the tag %.120s is lost: ASDF %s has no equivalent", tag, w->s->version);
    return w->st == CIP_OK ? 0 : 2;
}

static cip_status check_nodes(const asdf_standard *s, const cip_spec *spec, cip_report *loss,
                              cip_err *err)
{
    node_walk w = {
        .s = s, .spec = spec, .loss = loss, .seen = { .mem = &spec->env->mem }, .err = err
    };
    cip_status st = cip_tree_walk_told(spec->tree, spec->env, visit_node, &w, &w.st, err);
    cip_strmap_clear(&w.seen);
    return st;
}

/* --- arrays ----------------------------------------------------------------------------------- */

bool cip_asdf_loses_rows(int32_t ndim, const int64_t *shape, uint64_t itemsize)
{
    uint64_t n;
    return shape[0] != 0 && cip_shape_nelem(ndim - 1, shape + 1, &n) && n * itemsize == 0;
}

const char *cip_asdf_array_fault(const asdf_standard *s, const cip_spec_array *a, cip_where where)
{
    if (where == CIP_WHERE_INLINE && a->ndim == 0 && a->dtype->kind != CIP_RECORD)
        return "inline data are lists and need at least one axis";
    if (where == CIP_WHERE_STREAMED && a->ndim == 0)
        return "streamed data grow along the first axis, and this array has none";
    if (where == CIP_WHERE_STREAMED && cip_asdf_loses_rows(a->ndim, a->shape, a->dtype->itemsize))
        return "a streamed block cannot hold rows of zero bytes";
    return cip_asdf_type_fault(s, a->dtype);
}

/* Whether arrays can go through their chains, and come out as they were. */
static cip_status check_chains(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    asdf_how all;
    cip_arena arena = { .mem = &spec->env->mem };
    cip_status st = cip_asdf_how_of(spec->env, &arena, spec, &all, err);
    for (size_t i = 0; st == CIP_OK && i < spec->narray; i++) {
        const cip_spec_array *a = &spec->array[i];
        asdf_how how = all;
        cip_err why = CIP_ERR_INIT;
        uint64_t n = 1;
        asdf_target t = { .s = a, .where = a->where, .of = { a->ndim, a->shape, a->dtype } };
        t.nbytes = cip_shape_nelem(a->ndim, a->shape, &n) && n == 0 ? 0 : 1;
        if (cip_asdf_array_how(spec->env, &arena, &t, &how, &why) != CIP_OK)
            cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path, "%.180s",
                           why.text);
        else if (how.chain != NULL && cip_asdf_chain_is_lossy(how.chain))
            lost(loss, CIP_WARN, a->path, "values are not kept exactly",
                 "the chain quantizes them");
    }
    cip_arena_clear(&arena);
    return st;
}

/* The tree is written from its values. */
static cip_status check_comments(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    cip_arena arena = { .mem = &spec->env->mem };
    cip_bytes head, text;
    cip_yaml_edit *e;
    cip_status st;
    if (spec->from == NULL || spec->tree == NULL || !cip_asdf_of(spec->from)->has_tree)
        return CIP_OK;
    CIP_GO(cip_asdf_text_of(cip_asdf_of(spec->from), &arena, &head, &text, err));
    CIP_GO(cip_yaml_edit_new(spec->env, text, &cip_asdf_tree_options, &e, err));
    if (cip_yaml_edit_has_comments(e))
        cip_report_add(loss, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, NULL,
                       "the comments in the tree are left out");
    cip_yaml_edit_free(e);
done:
    cip_arena_clear(&arena);
    return st;
}

cip_status cip_asdf_sink_check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    const asdf_standard *s;
    size_t nstreamed = 0;
    if (cip_option_given(spec->option, ASDF_OPTION_ENCODE) != NULL &&
        spec->where == CIP_WHERE_INLINE)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected no encoding chain, because all data are inline in the tree");
    CIP_TRY(cip_asdf_standard_of(spec, &s, err));
    check_tree(spec, loss);
    CIP_TRY(check_nodes(s, spec, loss, err));
    CIP_TRY(cip_asdf_check_kept(spec, loss, err));
    CIP_TRY(check_comments(spec, loss, err));
    CIP_TRY(cip_asdf_sink_links(spec, loss, err));
    for (size_t i = 0; i < spec->narray; i++) {
        const cip_spec_array *a = &spec->array[i];
        const char *fault = cip_asdf_array_fault(s, a, a->where);
        const bool inline_record = a->where == CIP_WHERE_INLINE && a->dtype->kind == CIP_RECORD;
        nstreamed += a->where == CIP_WHERE_STREAMED;
        if (fault != NULL)
            cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "%.80s cannot be written: %s", cip_dtype_name(a->dtype), fault);
        if (a->masked && a->mask_value == NULL && (a->mask < 0 || inline_record))
            lost(loss, CIP_WARN, a->path, "the mask is lost",
                 inline_record ? "inline records have none" : "it cannot be expressed");
    }
    if (s->early)
        CIP_TRY(check_chains(spec, loss, err));
    if (nstreamed > 1)
        lost(loss, CIP_BAD, NULL, "more than one streamed array cannot be written",
             "only the last block of a file is streamed");
    return cip_report_status(loss, err);
}
