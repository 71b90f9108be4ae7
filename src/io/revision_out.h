/* SPDX-License-Identifier: BSD-3-Clause
 * Outputs whose bytes wait in one temporary file among those of others, each at its end as they
 * come: what is made of many files needs one. And a revision as an output. */
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

/* The end of a file as an output: what is written comes behind the revision's pieces, of which the
 * first lies at r->tail_off. What was written can be changed where it lies, segments cannot. */
cip_out cip_revision_tail(cip_revision *r);
/* A segment to an output; a copy where that takes none. */
cip_status cip_out_segment(cip_out *o, const cip_segment *s, cip_err *err);

#endif
