/* SPDX-License-Identifier: BSD-3-Clause
 * Options structs of callers that were built with another version of the library. */
#ifndef CIP_CORE_TAKE_OPTIONS_H
#define CIP_CORE_TAKE_OPTIONS_H

#include "base/err.h"

/* The caller's options (NULL: none) as the struct of this build, whose first field is its size:
 * fields that the caller's version lacks are zero. ARG for a size of 0 or over `size`. */
cip_status cip_options_take(const char *name, const void *in, void *out, size_t size, cip_err *err);

#define CIP_OPTIONS_TAKE(type, in, out, err)                                                       \
    cip_options_take(#type, (const type *){ in }, (type *){ out }, sizeof(type), err)

#endif
