/* SPDX-License-Identifier: BSD-3-Clause
 * Options given as text, as a format's spec has them. */
#ifndef CIP_CORE_SPEC_TEXT_H
#define CIP_CORE_SPEC_TEXT_H

#include "format/format.h"

/* Texts of options which are asked for later, in place of the caller's: codec, checksum, byte
 * order, the format's own, history. */
cip_status cip_spec_keep_texts(cip_arena *a, cip_change_options *o, cip_err *err);
/* The same of an array's: codec, storage, the format's own. */
cip_status cip_spec_keep_array_texts(cip_arena *a, cip_array_options *o, cip_err *err);
/* "name", "name:level" or "name:key=value", which is a name as a whole; the name is copied into the
 * arena. NULL leaves the spec as it is. ARG. */
cip_status cip_spec_codec(const char *text, cip_arena *a, cip_spec *spec, cip_err *err);
/* "little", "big"; NULL: the format's own (-1). ARG. */
cip_status cip_spec_byteorder(const char *text, cip_spec *spec, cip_err *err);
/* "internal", "inline", "external", "streamed"; NULL: CIP_WHERE_DEFAULT. ARG. */
cip_status cip_spec_where(const char *text, cip_where *out, cip_err *err);
/* "KEY=VALUE" texts, NULL last (or NULL), as values of the format's own options, copied into the
 * arena. ARG for another text, UNSUPPORTED for a key that the format does not have. */
cip_status cip_spec_options(const cip_format *format, const char *const *texts, cip_arena *a,
                            const char *const **out, cip_err *err);
/* The shape of chunks that an array is to have (all zero: none is asked for) as the value of the
 * format's option "chunks", if it has one and that is not given. */
cip_status cip_spec_chunks(const cip_format *format, int32_t ndim, const int64_t *chunk,
                           cip_arena *a, const char *const **option, cip_err *err);
/* UNSUPPORTED where the spec asks for a version, a checksum, slack or alignment of a format that
 * has none to choose. */
cip_status cip_spec_may(const cip_format *format, const cip_spec *spec, cip_err *err);

#endif
