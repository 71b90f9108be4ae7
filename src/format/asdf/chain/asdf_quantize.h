/* SPDX-License-Identifier: BSD-3-Clause
 * Quantized floats of a chain as a space. */
#ifndef CIP_FORMAT_ASDF_QUANTIZE_H
#define CIP_FORMAT_ASDF_QUANTIZE_H

#include "codec/quantize.h"
#include "space/layout/layout.h"
#include "space/read/read.h"

/* The space of `len` bytes of floats that the chunks in `below` decode to. Their headers are walked
 * once, when it is first needed: CORRUPT then for one that claims more than is there, or when they
 * hold fewer values. What they hold beyond is left alone, a rest that is no header is warned of. */
cip_status cip_asdf_quantize_space(cip_layout *l, cip_space *below, uint64_t len,
                                   cip_quantize_args args, cip_space **out, cip_err *err);

#endif
