/* SPDX-License-Identifier: BSD-3-Clause
 * What the files that choose how a frame is stored share with each other. */
#ifndef CIP_BLOSC2_BLOSC2_HOW_H
#define CIP_BLOSC2_BLOSC2_HOW_H

#include "format/blosc2/blosc2_write.h"

/* In cip_b2_options. */
enum {
    CIP_B2_OPTION_CHUNKS = 0,
    CIP_B2_OPTION_BLOCKS,
    CIP_B2_OPTION_FILTER,
    CIP_B2_OPTION_SPLIT,
    CIP_B2_OPTION_DICT,
    CIP_B2_OPTION_SPARSE
};

/* Of the array, where it is the only one, else of the file; NULL: not given. */
const char *cip_b2_given(const cip_spec *spec, size_t option);
/* ARG: one that was given is not what it has to be. */
cip_status cip_b2_bad_option(const cip_spec *spec, size_t option, const char *expected,
                             cip_err *err);
bool cip_b2_is_blosc1(const cip_spec *spec);
/* Whether the output is a folder is settled before there is an array: ARG for one that asks for it
 * by itself. */
cip_status cip_b2_take_sparse(const cip_spec *spec, bool *sparse, cip_err *err);

static inline bool cip_b2_is_zfp(const cip_blosc_spec *b)
{
    return b->compcode >= CIP_BLOSC_ZFP_ACC && b->compcode <= CIP_BLOSC_ZFP_RATE;
}

/* how->blosc but for its blocks, and how->takes. */
cip_status cip_b2_choose_codec(const cip_spec *spec, const cip_dtype *d, cip_b2_how *how,
                               cip_err *err);
/* The rest of it, once the shape of blocks is known: UNSUPPORTED where this build cannot. */
cip_status cip_b2_settle_codec(const cip_spec *spec, cip_b2_how *how, cip_err *err);

#endif
