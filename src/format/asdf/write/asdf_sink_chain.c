/* SPDX-License-Identifier: BSD-3-Clause
 * Through which codec or encoding chain arrays go. Version 0.1.0 has chains alone. */
#include <string.h>

#include "format/asdf/asdf_store.h"

const cip_format_option cip_asdf_options[] = {
    { "encode", "encoding chain (ASDF 0.1), such as [[tile, {shape: [32, 32]}], zlib]" },
    { "filter", "codecs blsc and bls2: shuffle (default), bitshuffle, none; bls2 also: delta, "
                "bytedelta, several in a row" },
    { NULL, NULL },
};

static cip_status read_chain(cip_env *env, cip_arena *a, const char *text, asdf_how *how,
                             cip_err *err)
{
    asdf_chain *c;
    CIP_TRY(CIP_ARENA_NEW(a, &c, 1, err));
    CIP_TRY(cip_asdf_chain_given(env, a, text, c, err));
    how->chain = c;
    return CIP_OK;
}

/* What codec and chain come to in 0.1.0. A chain that was asked for stays, whatever becomes of the
 * size. */
static cip_status early(cip_env *env, cip_arena *a, const char *encode, asdf_how *how, cip_err *err)
{
    bool zlib = strcmp(cip_asdf_packing_name(&how->packing), "zlib") == 0;
    how->chain = NULL;
    if (cip_asdf_packs(&how->packing) && !zlib)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected one of the codecs none, zlib for ASDF 0.1.0, found '%.40s'",
                        cip_asdf_packing_name(&how->packing));
    if (encode == NULL)
        return zlib ? read_chain(env, a, "[zlib]", how, err) : CIP_OK;
    how->packing = (asdf_packing){ .level = how->packing.level };
    return read_chain(env, a, encode, how, err);
}

cip_status cip_asdf_how_of(cip_env *env, cip_arena *a, const cip_spec *spec, asdf_how *out,
                           cip_err *err)
{
    asdf_how how = { .chain = NULL };
    CIP_TRY(cip_asdf_standard_of(spec, &how.standard, err));
    CIP_TRY(cip_asdf_packing_of(spec, &how.packing, err));
    if (how.standard->early)
        CIP_TRY(early(env, a, cip_option_given(spec->option, ASDF_OPTION_ENCODE), &how, err));
    *out = how;
    return CIP_OK;
}

/* What is in the tree is text, and what is streamed grows. */
static bool has_codec(const asdf_target *t)
{
    return t->where != CIP_WHERE_INLINE && t->where != CIP_WHERE_STREAMED;
}

/* What the array's own options say. */
static cip_status own_way(cip_env *env, cip_arena *a, const asdf_target *t, asdf_how *how,
                          cip_err *err)
{
    const cip_spec_array *s = t->s;
    const char *encode = cip_option_given(s->option, ASDF_OPTION_ENCODE);
    const char *filter = cip_option_given(s->option, ASDF_OPTION_FILTER);
    if (s->codec == NULL && encode == NULL && filter == NULL)
        return CIP_OK;
    if (encode != NULL && !how->standard->early)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a file of version 0.1.0 for an encoding chain, found %s",
                        how->standard->version);
    if (encode != NULL && !has_codec(t))
        return cip_asdf_chain_has_no_place(t->where == CIP_WHERE_INLINE, err);
    if (s->codec != NULL)
        CIP_TRY(cip_asdf_packing(s->codec, s->level, &how->packing, err));
    CIP_TRY(cip_asdf_packing_filter(filter, &how->packing, err));
    if (!has_codec(t) && cip_asdf_packs(&how->packing))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "%s data have no codec, '%.40s' was asked for",
                        t->where == CIP_WHERE_INLINE ? "inline" : "streamed",
                        cip_asdf_packing_name(&how->packing));
    return how->standard->early ? early(env, a, encode, how, err) : CIP_OK;
}

cip_status cip_asdf_array_how(cip_env *env, cip_arena *a, const asdf_target *t, asdf_how *how,
                              cip_err *err)
{
    CIP_TRY(own_way(env, a, t, how, err));
    if (t->nbytes == 0 || t->s->is_view || !has_codec(t)) {
        how->packing = (asdf_packing){ .codec = NULL };
        how->chain = NULL;
    }
    how->packing.typesize = t->of.dtype->itemsize;
    if (how->chain == NULL)
        return CIP_OK;
    if (t->s->is_mask) { /* has no floats to quantize */
        asdf_chain *c;
        CIP_TRY(CIP_ARENA_NEW(a, &c, 1, err));
        cip_asdf_chain_lossless(how->chain, c);
        how->chain = c;
    }
    return cip_asdf_chain_check(how->chain, &t->of, err);
}
