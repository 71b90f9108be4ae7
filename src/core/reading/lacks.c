/* SPDX-License-Identifier: BSD-3-Clause
 * What was left out when a file was read. It is kept with the warnings, of which it is a part. */
#include "core/reading/lacks.h"

#include "tree/value.h"

/* Where more is left out than is kept, anything may lack something. */
static const cip_finding more = { .severity = CIP_WARN,
                                  .code = CIP_ERR_LIMIT,
                                  .offset = CIP_NO_OFFSET,
                                  .part = "",
                                  .text = "more parts of the input are left out than are listed" };

static void tell(cip_report *loss, const cip_finding *f)
{
    cip_report_add(loss, CIP_WARN, f->code != CIP_OK ? f->code : CIP_ERR_UNSUPPORTED, f->offset, 0,
                   f->part, "%s", f->text);
}

const cip_finding *cip_lack_of(const cip_env *env, cip_lacking what, const void *of)
{
    cip_report *r = (cip_report *)&env->warnings;
    cip_report_item *at = NULL;
    const cip_finding *f;
    cip_lacking found;
    const void *by;
    if (r->nlack == 0 && r->nlack_more == 0)
        return NULL;
    while ((f = cip_report_next_lack(r, &at, &found, &by)) != NULL)
        if (found == what && by == of)
            return f;
    return r->nlack_more != 0 ? &more : NULL;
}

void cip_lacks_tell(const cip_file *f, bool tree, cip_report *loss)
{
    const cip_file *own = f->of != NULL ? f->of : f;
    cip_report *r = (cip_report *)&own->env.warnings;
    cip_report_item *at = own->warned;
    const cip_finding *found;
    cip_lacking what;
    const void *of;
    while ((found = cip_report_next_lack(r, &at, &what, &of)) != NULL)
        if (what == CIP_LACKS_BYTES || (what == CIP_LACKS_NODE && tree))
            tell(loss, found);
    if (r->nlack_more != 0)
        tell(loss, &more);
}

void cip_array_lacks_tell(const cip_array *a, cip_report *loss)
{
    static const cip_lacking what[] = { CIP_LACKS_ARRAY, CIP_LACKS_NODE };
    for (size_t i = 0; i < sizeof what / sizeof what[0]; i++) {
        const cip_finding *f = cip_lack_of(a->layout->env, what[i], cip_array_listed(a));
        if (f != NULL)
            tell(loss, f);
    }
}

/* Mappings that readers make of values apart from each other: a root, and its members. */
enum { PRUNE_DEPTH = 2 };

static cip_status prune(const cip_env *env, cip_arena *a, const cip_node *map, int depth,
                        const cip_node **out, cip_err *err)
{
    cip_node *rest;
    uint32_t n = 0;
    *out = map;
    if (depth == 0 || cip_node_kind(map) != CIP_NODE_MAP)
        return CIP_OK;
    CIP_TRY(cip_node_new_map(a, map->len, &rest, err));
    rest->tag = map->tag;
    rest->anchor = map->anchor;
    bool changed = false;
    for (uint32_t i = 0; i < map->len; i++) {
        const cip_node *was = map->pair[i].value, *value;
        CIP_TRY(prune(env, a, was, depth - 1, &value, err));
        changed = changed || value != was;
        if (was->type != CIP_NODE_NULL || cip_lack_of(env, CIP_LACKS_NODE, was) == NULL)
            cip_node_set_pair(rest, n++, map->pair[i].key, value);
    }
    changed = changed || n != map->len;
    rest->len = n;
    *out = changed ? rest : map;
    return CIP_OK;
}

cip_status cip_lacks_prune(const cip_env *env, cip_arena *a, const cip_node *node,
                           const cip_node **out, cip_err *err)
{
    *out = node;
    return env->warnings.nlack == 0 ? CIP_OK : prune(env, a, node, PRUNE_DEPTH, out, err);
}

/* Tells it where that is accepted. */
static cip_status settle(const cip_finding *f, bool accepted, cip_report *notes, cip_err *err)
{
    if (accepted) {
        tell(notes, f);
        return cip_report_status(notes, err);
    }
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "not all of the input is read (%.40s): %.120s; accept it with .accept_loss",
                    f->part, f->text);
}

cip_status cip_lack_check(const cip_env *env, cip_lacking what, const void *of, bool accepted,
                          cip_report *notes, cip_err *err)
{
    const cip_finding *f = cip_lack_of(env, what, of);
    return f == NULL ? CIP_OK : settle(f, accepted, notes, err);
}

cip_status cip_array_lack_check(const cip_array *a, bool accepted, cip_report *notes, cip_err *err)
{
    return cip_lack_check(a->layout->env, CIP_LACKS_ARRAY, cip_array_listed(a), accepted, notes,
                          err);
}

cip_status cip_lost_bytes_check(const cip_file *f, bool accepted, cip_report *notes, cip_err *err)
{
    const cip_file *own = f->of != NULL ? f->of : f;
    cip_report *r = (cip_report *)&own->env.warnings;
    cip_report_item *at = own->warned;
    const cip_finding *found;
    cip_lacking what;
    const void *of;
    while ((found = cip_report_next_lack(r, &at, &what, &of)) != NULL)
        if (what == CIP_LACKS_BYTES)
            CIP_TRY(settle(found, accepted, notes, err));
    return CIP_OK;
}
