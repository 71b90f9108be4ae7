/* SPDX-License-Identifier: BSD-3-Clause
 * JSON text to nodes. */
#ifndef CIP_TREE_JSON_READ_H
#define CIP_TREE_JSON_READ_H

#include "tree/value.h"

enum {
    CIP_JSON_PRINTED = 1 /* as Python prints a dict: single quotes, True and False are fine too */
};

/* The one value that the text is, in the arena. NaN, Infinity and -Infinity are numbers, as
 * Python's json writes them. Of equal keys the last counts, at the first's place; *repeated (may be
 * NULL) says whether there were any. CORRUPT, with the position, for what is no JSON, has more
 * behind it, a NUL in a key, or an integer beyond 64 bits; LIMIT when it is nested over 64 deep,
 * has over 2^20 values or 2^16 lists and mappings. */
cip_status cip_json_read(cip_arena *a, cip_bytes text, uint32_t flags, cip_node **out,
                         bool *repeated, cip_err *err);

#endif
