/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes as text, for binary nodes. */
#ifndef CIP_TREE_BASE64_H
#define CIP_TREE_BASE64_H

#include "base/buffer.h"
#include "tree/value.h"

cip_status cip_base64_encode(cip_bytes in, cip_buf *out, cip_err *err);
/* What cip_base64_encode made; other text is CORRUPT. */
cip_status cip_base64_decode(const char *text, size_t len, cip_buf *out, cip_err *err);
/* A node of type BINARY, in the arena. */
cip_status cip_node_new_binary(cip_arena *a, cip_bytes in, cip_node **out, cip_err *err);

#endif
