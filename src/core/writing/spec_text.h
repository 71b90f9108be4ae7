/* SPDX-License-Identifier: BSD-3-Clause
 * Options given as text, as a format's spec has them. */
#ifndef CIP_CORE_SPEC_TEXT_H
#define CIP_CORE_SPEC_TEXT_H

#include "format/format.h"

/* "name" or "name:level"; the name is copied into the arena. NULL leaves the spec as it is. ARG. */
cip_status cip_spec_codec(const char *text, cip_arena *a, cip_spec *spec, cip_err *err);
/* "little", "big"; NULL: the format's own (-1). ARG. */
cip_status cip_spec_byteorder(const char *text, cip_spec *spec, cip_err *err);
/* NULL, or UNSUPPORTED in a format without encoding chains. */
cip_status cip_spec_encode(const cip_format *format, const char *text, cip_err *err);
/* "md5", "legacy", "none" or NULL; ARG for anything else. */
cip_status cip_spec_checksum(const char *text, cip_err *err);

#endif
