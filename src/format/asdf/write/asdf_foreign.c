/* SPDX-License-Identifier: BSD-3-Clause
 * What may name blocks besides ndarrays: nodes under tags that we do not know (asdf-zarr's block
 * map, and whatever else uses the block storage of Python's asdf). Their numbers cannot be found,
 * so blocks that no ndarray names keep theirs, or it is a loss. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/asdf/write/asdf_write.h"

static int visit(void *user, const cip_visit *v)
{
    static const char *const known[] = { ASDF_TAGS "core/",   ASDF_TAGS "unit/",
                                         ASDF_TAGS "time/",   ASDF_TAGS "transform/",
                                         ASDF_TAGS "wcs/",    ASDF_TAGS "fits/",
                                         ASDF_TAGS "table/",  ASDF_TAGS "0.1.0/",
                                         "tag:yaml.org,2002:" };
    asdf_foreign *x = user;
    if (v->again || v->node == NULL || v->node->tag == NULL)
        return v->again;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(v->node->tag, known[i], strlen(known[i])) == 0)
            return 0;
    snprintf(x->path, sizeof x->path, "%s", v->path);
    snprintf(x->tag, sizeof x->tag, "%s", v->node->tag);
    x->found = true;
    return 2;
}

cip_status cip_asdf_find_foreign(cip_env *env, const cip_node *root, asdf_foreign *out,
                                 cip_err *err)
{
    *out = (asdf_foreign){ .found = false };
    return cip_tree_walk_told(root, env, visit, out, &(cip_status){ CIP_OK }, err);
}

/* --- losses ----------------------------------------------------------------------------------- */

static cip_status refuse_loss(const cip_spec *spec, const char *part, const char *text,
                              cip_err *err)
{
    if (spec->accept_loss)
        return CIP_OK;
    return cip_fail_in(
        err,
        cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s; accept it with .accept_loss", text),
        "%s", part != NULL ? part : "");
}

cip_status cip_asdf_lose(const cip_spec *spec, const char *part, cip_err *err, const char *fmt, ...)
{
    char text[320];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (spec->notes != NULL) {
        cip_report_add(spec->notes, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, part, "%s",
                       text);
        CIP_TRY(cip_report_status(spec->notes, err));
    }
    return refuse_loss(spec, part, text, err);
}

/* --- relative names of other files ------------------------------------------------------------ */

enum { LINKS_NAMED = 8 };

typedef struct linking {
    const cip_spec *spec;
    const asdf_file *f; /* that the tree is of; or NULL */
    bool sources;
    cip_report *loss; /* or NULL */
    size_t n;
    cip_err first;
} linking;

/* What becomes of a link, or NULL: it leads to the same as before. */
static const char *loss_of(const linking *x, const char *uri)
{
    /* a place in the same file, absolute, or with a scheme */
    if (strchr("#/", uri[0]) != NULL || uri[strcspn(uri, ":/#")] == ':')
        return NULL;
    if (x->f != NULL && cip_asdf_is_own_name(x->f, uri))
        return x->spec->renamed
                   ? "refers to the file by its own name, and the output has another name"
                   : NULL;
    return x->spec->elsewhere
               ? "is relative to the folder of the file, and the output is in another folder"
               : NULL;
}

static int visit_link(void *user, const cip_visit *v)
{
    linking *x = user;
    if (v->again || cip_node_kind(v->node) != CIP_NODE_MAP)
        return v->again;
    const char *uri = cip_asdf_ref_of(v->node);
    for (size_t i = 0; uri != NULL && i < x->spec->narray; i++)
        if (x->spec->array[i].node == v->node)
            return 1;
    const cip_node *source = x->sources ? cip_asdf_source_of(v->node) : NULL;
    if (uri == NULL && cip_node_kind(source) == CIP_NODE_STRING)
        uri = source->text;
    const char *loss = uri != NULL ? loss_of(x, uri) : NULL;
    if (loss == NULL)
        return 0;
    cip_err why = CIP_ERR_INIT;
    cip_fail_in(&why, cip_fail(&why, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "'%.100s' %s", uri, loss),
                "%s", v->path);
    if (x->n++ == 0)
        x->first = why;
    if (x->n <= LINKS_NAMED)
        cip_report_add(x->loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, v->path, "%s",
                       why.text);
    return 0;
}

static cip_status tell_links(linking *x, const cip_node *root, cip_err *err)
{
    if (!x->spec->elsewhere && !x->spec->renamed)
        return CIP_OK;
    const cip_status st = cip_tree_walk(root, x->spec->env, visit_link, x, err);
    if (x->n > LINKS_NAMED)
        cip_report_add(x->loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, NULL,
                       "%zu more such file names", x->n - LINKS_NAMED);
    return st;
}

cip_status cip_asdf_sink_links(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    linking x = { .spec = spec, .loss = loss, .first = CIP_ERR_INIT };
    x.f = spec->from != NULL ? cip_asdf_of(spec->from) : NULL;
    return tell_links(&x, spec->tree, err);
}

cip_status cip_asdf_check_links(const cip_spec *spec, const asdf_file *f, bool sources,
                                cip_err *err)
{
    linking x = { spec, f, sources, spec->notes, 0, CIP_ERR_INIT };
    CIP_TRY(tell_links(&x, f->layout->tree, err));
    if (spec->notes != NULL)
        CIP_TRY(cip_report_status(spec->notes, err));
    return x.n != 0 ? refuse_loss(spec, x.first.part, x.first.text, err) : CIP_OK;
}

/* --- which blocks ndarrays name --------------------------------------------------------------- */

typedef struct naming {
    size_t *n, nblock;
    size_t from_end; /* blocks that sources below 0 count from */
} naming;

static int count_name(void *user, const cip_visit *v)
{
    naming *x = user;
    const cip_node *source = v->again ? NULL : cip_asdf_source_of(v->node);
    const uint64_t i = source != NULL ? cip_asdf_block_of(source, x->from_end) : UINT64_MAX;
    if (i < x->nblock)
        x->n[i]++;
    return 0;
}

cip_status cip_asdf_count_names(cip_env *env, const cip_node *root, size_t from_end, size_t *n,
                                size_t nblock, cip_err *err)
{
    naming x = { n, nblock, from_end };
    memset(n, 0, nblock * sizeof *n);
    return cip_tree_walk(root, env, count_name, &x, err);
}

void cip_asdf_list_blocks(const bool *in, size_t n, asdf_block_list *out)
{
    *out = (asdf_block_list){ .count = 0 };
    for (size_t i = 0, from; i < n; i++) {
        if (!in[i])
            continue;
        for (from = i; i + 1 < n && in[i + 1]; i++)
            ;
        out->count += i + 1 - from;
        char run[48];
        const size_t len = strlen(out->text);
        snprintf(run, sizeof run, from == i ? "%s%zu" : "%s%zu to %zu", len != 0 ? ", " : "", from,
                 i);
        if (len + strlen(run) + sizeof ", ..." > sizeof out->text) /* dots where it gets too long */
            snprintf(run, sizeof run, "%s", out->full ? "" : ", ...");
        out->full = out->full || run[0] == '\0' || strcmp(run, ", ...") == 0;
        memcpy(out->text + len, run, strlen(run) + 1);
    }
}
