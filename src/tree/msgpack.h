/* SPDX-License-Identifier: BSD-3-Clause
 * MessagePack to nodes. */
#ifndef CIP_TREE_MSGPACK_H
#define CIP_TREE_MSGPACK_H

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
/* The version of the library, "" without it. */
const char *cip_msgpack_version(void);

#endif
