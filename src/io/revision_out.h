/* SPDX-License-Identifier: BSD-3-Clause
 * Outputs whose bytes wait in one temporary file among those of others, each at its end as they
 * come: what is made of many files needs one. */
#ifndef CIP_IO_REVISION_OUT_H
#define CIP_IO_REVISION_OUT_H

#include "io/out.h"
#include "io/patch.h"

typedef struct cip_revision_out {
    cip_out out; /* can do all that an output can; at a fixed address */
    cip_io *waits;
    cip_revision *of;
} cip_revision_out;

/* What is written to p->out becomes pieces of `of`, which is anew and has no others. Both are
 * borrowed. */
void cip_revision_out_begin(cip_revision_out *p, cip_io *temporary, cip_revision *of);

#endif
