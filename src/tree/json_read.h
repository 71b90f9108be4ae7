/* SPDX-License-Identifier: BSD-3-Clause
 * JSON text to nodes. */
#ifndef CIP_TREE_JSON_READ_H
#define CIP_TREE_JSON_READ_H

#include "tree/value.h"

enum {
    CIP_JSON_PRINTED = 1,  /* as Python prints a dict: single quotes, True, False and None too */
    CIP_JSON_DEPTH = 200,  /* collections inside each other; formats put a few more around them */
    CIP_JSON_DIGITS = 4300 /* of an integer that is written: Python's json reads no longer ones */
};

/* The tag of a value or key that JSON can write but a node cannot hold. Its node is a string: the
 * JSON text as it was read. */
#define CIP_JSON_RAW "!json"

typedef struct cip_json_source {
    cip_env *env;     /* its limits count, and it gets the warnings */
    cip_arena *arena; /* of the nodes */
    const char *part; /* in warnings; NULL: nobody is warned */
    uint64_t offset;  /* in warnings: where the text begins */
    uint32_t flags;
} cip_json_source;

/* The one value that the text is. NaN, Infinity and -Infinity are numbers, as Python's json writes
 * them; integers of over 64 bits are BIGINT. Of equal keys the last counts, at the first's place,
 * with a warning. A collection inside over CIP_JSON_DEPTH others (or limits.max_depth, if lower)
 * and a text with half a surrogate pair stay JSON text (CIP_JSON_RAW), with a warning that names
 * them. CORRUPT, with the position, for what is no JSON, no UTF-8 or has more behind it; LIMIT for
 * over limits.max_nodes nodes. */
cip_status cip_json_read(const cip_json_source *from, cip_bytes text, cip_node **out, cip_err *err);

#endif
