/* SPDX-License-Identifier: BSD-3-Clause
 * Structs of callers that were built with another version of the header: the first field, a size_t,
 * says how much of one the caller has. */
#ifndef CIP_BASE_SIZED_H
#define CIP_BASE_SIZED_H

#include "base/err.h"

/* The caller's struct (NULL: none) as the one of this build, of `size` bytes: fields that the
 * caller's version lacks are zero. ARG for a size of 0 or beyond reason, UNSUPPORTED where a field
 * is set that this build does not know. */
cip_status cip_sized_take(const char *name, const void *in, void *out, size_t size, cip_err *err);

#define CIP_SIZED_TAKE(type, in, out, err)                                                         \
    cip_sized_take(#type, (const type *){ in }, (type *){ out }, sizeof(type), err)

/* ARG where a field of one ("cip_open_options.check") is beyond the last value that there is. */
cip_status cip_sized_value(const char *field, unsigned value, unsigned last, cip_err *err);

/* Whether the caller has a struct to be filled: ARG for NULL, and for such a size. */
cip_status cip_sized_room(const char *name, const void *out, cip_err *err);
/* Fills as much of it as there is, from one of this build, of `size` bytes; fields that this build
 * does not know become zero. */
void cip_sized_give(void *out, const void *from, size_t size);

#endif
