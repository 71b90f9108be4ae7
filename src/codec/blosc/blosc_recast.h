/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks of one version of Blosc with the header of the other, none of their data decoded. */
#ifndef CIP_CODEC_BLOSC_BLOSC_RECAST_H
#define CIP_CODEC_BLOSC_BLOSC_RECAST_H

#include "codec/blosc/blosc.h"

/* Whether both versions take what the head says for the same data. Of chunks that are already as
 * they are wanted, too: then they have nothing of their version alone. */
bool cip_blosc_may_recast(const cip_blosc_head *h);
/* A chunk in the version that `p` has, as cip_codec.recast. */
cip_recast cip_blosc_recast(const cip_blosc_spec *p, cip_bytes chunk, cip_dst *out);

#endif
