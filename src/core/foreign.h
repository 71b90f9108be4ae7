/* SPDX-License-Identifier: BSD-3-Clause
 * Files of other formats, by their first bytes. */
#ifndef CIPPUS_CORE_FOREIGN_H
#define CIPPUS_CORE_FOREIGN_H

#include "base/cursor.h"

/* What a file that is of no format of ours starts as: "an HDF5 file (or netCDF-4)"; NULL where it
 * is not known. `hint` then says how its data can be had ("" for nothing). */
const char *cip_foreign_name(cip_bytes head, const char **hint);

#endif
