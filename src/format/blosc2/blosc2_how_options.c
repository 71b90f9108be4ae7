/* SPDX-License-Identifier: BSD-3-Clause
 * The options of new frames, and what an array loses in one. */
#include <string.h>

#include "format/blosc2/blosc2_how.h"
#include "format/blosc_codec.h"

const cip_format_option cip_b2_options[] = {
    { "chunks", "A,B,...: shape of the chunks (default: about 4 MiB)" },
    { "blocks", "A,B,...: shape of the blocks in a chunk (default: about 64 KiB)" },
    { "filter", "shuffle (default), bitshuffle, bytedelta, delta, trunc_prec:BITS, int_trunc:BITS, "
                "ndcell:SIDE, ndmean:SIDE or none; several: delta+shuffle, or shuffle,delta for "
                "any order that works" },
    { "split", "always, never or auto (default): compress each byte of the elements as a stream of "
               "its own" },
    { "dict", "yes: train a dictionary for each chunk (zstd, lz4, lz4hc)" },
    { "sparse", "yes: write a folder with one file per chunk" },
    { NULL, NULL },
};

const cip_format_kind cip_b2_kinds[] = {
    { "b2frame", "Blosc2 frame that is a list of items, without type and shape" },
    { "b2chunk", "one chunk of Blosc2 and nothing else" },
    { "blosc", "one chunk of Blosc1 and nothing else" },
    { NULL, NULL },
};

const char *cip_b2_given(const cip_spec *spec, size_t option)
{
    return cip_option_of(spec, spec->narray == 1 ? &spec->array[0] : NULL, option);
}

cip_status cip_b2_bad_option(const cip_spec *spec, size_t option, const char *expected,
                             cip_err *err)
{
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %s for %s, found %.60s", expected,
                    cip_b2_options[option].key, cip_b2_given(spec, option));
}

bool cip_b2_is_blosc1(const cip_spec *spec)
{
    return spec->kind != NULL && strcmp(spec->kind, "blosc") == 0;
}

bool cip_b2_is_bare(const cip_spec *spec)
{
    return cip_b2_is_blosc1(spec) || (spec->kind != NULL && strcmp(spec->kind, "b2chunk") == 0);
}

bool cip_b2_is_sparse(const cip_spec *spec)
{
    const char *text = cip_option_given(spec->option, CIP_B2_OPTION_SPARSE);
    return text != NULL && strcmp(text, "yes") == 0;
}

/* Whether the output is a folder is settled before there is an array. */
cip_status cip_b2_take_sparse(const cip_spec *spec, bool *sparse, cip_err *err)
{
    CIP_TRY(cip_option_take_yes(cip_b2_given(spec, CIP_B2_OPTION_SPARSE),
                                cip_b2_options[CIP_B2_OPTION_SPARSE].key, sparse, err));
    if (*sparse == cip_b2_is_sparse(spec))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "the option %s applies to the whole file, not to one array",
                    cip_b2_options[CIP_B2_OPTION_SPARSE].key);
}

/* --- what is lost ----------------------------------------------------------------------------- */

static void tell(cip_report *loss, cip_severity how, const cip_spec_array *a, const char *text)
{
    cip_report_add(loss, how, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path, "%s", text);
}

void cip_b2_check_array(const cip_spec *spec, const cip_spec_array *a, cip_report *loss)
{
    const char *filter = cip_b2_given(spec, CIP_B2_OPTION_FILTER);
    cip_blosc_spec b = { .compcode = CIP_BLOSC_BLOSCLZ };
    if (a->masked)
        tell(loss, CIP_WARN, a, "the mask is lost: Blosc2 frames have none");
    if (a->dtype->itemsize == 0)
        tell(loss, CIP_BAD, a, "elements of no bytes cannot be written");
    const bool bare = cip_b2_is_bare(spec);
    if (bare && a->ndim != 1)
        tell(loss, CIP_BAD, a, "a chunk has one axis; a .b2nd file has any");
    if (bare && a->dtype->kind != CIP_U8)
        tell(loss, CIP_WARN, a, "the element type is lost: a bare chunk does not record it");
    if (!bare && spec->kind != NULL && a->ndim != 1)
        tell(loss, CIP_BAD, a, "a plain frame has one axis; a .b2nd file has any");
    if (!bare && spec->kind != NULL && a->dtype->kind != CIP_U8 && a->dtype->kind != CIP_OPAQUE)
        tell(loss, CIP_WARN, a,
             "the element type is lost: a plain frame records only the size of its items");
    if (a->ndim > CIP_B2_MAX_NDIM)
        tell(loss, CIP_BAD, a, "a Blosc2 array has at most 16 axes");
    if (filter != NULL)
        (void)cip_blosc_filters_parse(filter, b.filter, b.filter_meta, NULL);
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++)
        if (cip_blosc_filter_is_lossy(b.filter[i]))
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the filter %s loses bits of the elements",
                           cip_blosc_filter_name(b.filter[i]));
    if (cip_blosc_take_codec(spec, a, &b, NULL) == CIP_OK && cip_b2_is_zfp(&b))
        tell(loss, CIP_WARN, a, "the codec zfp loses bits of the elements");
}
