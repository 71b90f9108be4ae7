/* SPDX-License-Identifier: BSD-3-Clause
 * cippus convert --concat: arrays joined along an axis; --each: a file for each input. */
#ifndef CIPPUS_TOOLS_CONVERT_CONCAT_H
#define CIPPUS_TOOLS_CONVERT_CONCAT_H

#include "print.h"

/* All inputs but the last of o->pos, which is the output, as one array written as `how` says;
 * losses are told as findings. The exit status, complaints made. */
int convert_concat(const opts *o, const cip_change_options *how, cip_finding_fn *tell, void *user);
/* Each input as a file of its name in the folder that is the last of o->pos, which is made where it
 * is not there. One that fails does not keep the others from being converted. The exit status. */
int convert_each(const opts *o);
/* One input of these, `pos` being it and its output; with --json an object without its comma. */
int convert_one_of_each(const opts *o);

#endif
