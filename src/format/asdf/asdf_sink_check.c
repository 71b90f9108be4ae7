/* SPDX-License-Identifier: BSD-3-Clause
 * What of a spec ASDF cannot hold. */
#include <string.h>

#include "format/asdf/asdf_sink.h"

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

const char *cip_asdf_array_fault(const asdf_standard *s, const cip_spec_array *a, cip_where where)
{
    if (where == CIP_WHERE_INLINE && a->ndim == 0 && a->dtype->kind != CIP_RECORD)
        return "inline data are lists, which need an axis";
    if (where == CIP_WHERE_STREAMED && a->ndim == 0)
        return "what is streamed grows along its first axis";
    return cip_asdf_type_fault(s, a->dtype);
}

static void check_array(const asdf_standard *s, const cip_spec *spec, size_t i, cip_report *loss)
{
    const cip_spec_array *a = &spec->array[i];
    const char *fault = cip_asdf_array_fault(s, a, a->where);
    if (fault != NULL)
        cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                       "%.80s cannot be written: %s", cip_dtype_name(a->dtype), fault);
    bool inline_record = a->where == CIP_WHERE_INLINE && a->dtype->kind == CIP_RECORD;
    if (a->masked && a->mask_value == NULL && (a->mask < 0 || inline_record))
        lost(loss, CIP_WARN, a->path, "the mask is lost",
             inline_record ? "inline records have none" : "it cannot be expressed");
}

cip_status cip_asdf_sink_check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    const asdf_standard *s;
    size_t nstreamed = 0;
    CIP_TRY(cip_asdf_standard(spec->version, &s, err));
    check_tree(spec, loss);
    for (size_t i = 0; i < spec->narray; i++) {
        nstreamed += spec->array[i].where == CIP_WHERE_STREAMED;
        check_array(s, spec, i, loss);
    }
    if (nstreamed > 1)
        lost(loss, CIP_BAD, NULL, "more than one streamed array cannot be written",
             "only the last block of a file is streamed");
    return cip_report_status(loss, err);
}
