/* SPDX-License-Identifier: BSD-3-Clause
 * cippus convert with several inputs. */
#ifndef CIPPUS_TOOLS_CONVERT_SEVERAL_H
#define CIPPUS_TOOLS_CONVERT_SEVERAL_H

#include "print.h"

/* All inputs but the last of o->pos, which is the output, written as `how` says; losses are told as
 * findings. The exit status, complaints made. */
int convert_several(const opts *o, const cip_change_options *how, cip_finding_fn *tell, void *user);

/* Tells that the file has metadata beside its arrays, which the output will not have; false: it has
 * none. */
bool tell_left_out(const cip_file *f, const char *input, cip_finding_fn *tell, void *user);

#endif
