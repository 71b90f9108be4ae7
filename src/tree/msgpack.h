/* SPDX-License-Identifier: BSD-3-Clause
 * MessagePack to nodes, and back. */
#ifndef CIP_TREE_MSGPACK_H
#define CIP_TREE_MSGPACK_H

#include "base/buffer.h"
#include "tree/value.h"

/* The one value that the bytes are, in the arena. Nested at most 24 deep, at most 2^18 values
 * (LIMIT); lengths are compared with the bytes before anything is made of them. FORMAT when they
 * are no msgpack, or more than one value. Binary data and strings that are not UTF-8 are BINARY.
 *
 * What python-blosc2 writes beyond the standard is tagged: the list ["__tuple__", ...] is !tuple;
 * extension types 42 !cframe (BINARY), 43 !reference, 44 !complex (two floats), 45 !set, 46 !array
 * (whatever msgpack is in them); others are BINARY, !ext. UNSUPPORTED in a build without msgpack.
 */
cip_status cip_msgpack_read(cip_arena *a, cip_bytes in, cip_node **out, cip_err *err);
/* What becomes of nodes that msgpack does not have. Zero-initialise. */
typedef struct cip_msgpack_how {
    bool (*leave_out)(void *user,
                      const cip_node *n); /* or NULL: without this one; null in a list */
    void *user;
    unsigned lost; /* CIP_MSGPACK_TAGS, _TYPES, _KEYS: set where that was so */
} cip_msgpack_how;

enum {
    CIP_MSGPACK_DEPTH = 24,
    CIP_MSGPACK_VALUES = 1 << 18,
    CIP_MSGPACK_TAGS = 1,  /* a tag that is none of the above */
    CIP_MSGPACK_TYPES = 2, /* a time or an integer beyond 64 bits, which became text */
    CIP_MSGPACK_KEYS = 4   /* a key that is neither text nor bytes: it is written, but Python's
                              msgpack refuses all of the value */
};

/* The node, appended: cip_msgpack_read makes the same of it, but for what `lost` says. LIMIT where
 * it would not read it. In every build. */
cip_status cip_msgpack_write(const cip_node *n, cip_msgpack_how *how, cip_buf *out, cip_err *err);
/* The version of the library, "" without it. */
const char *cip_msgpack_version(void);

#endif
