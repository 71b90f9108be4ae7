/* SPDX-License-Identifier: BSD-3-Clause
 * A new file of one array whose elements are all one value: convert --fill. */
#ifndef CIPPUS_TOOLS_CONVERT_FILLED_H
#define CIPPUS_TOOLS_CONVERT_FILLED_H

#include "cippus/cippus.h"
#include "opts.h"

/* Of --fill, --dtype and --shape into the only argument. An exit status, after a complaint. */
int convert_filled(const opts *o, const cip_change_options *how);

#endif
