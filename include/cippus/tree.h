/* SPDX-License-Identifier: BSD-3-Clause
 * The metadata tree of a file: ordered mappings, sequences and scalars, with tags, whatever the
 * format. */
#ifndef CIPPUS_TREE_H
#define CIPPUS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cippus/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A node of a tree. Borrowed from its file; immutable; any thread. Aliases (YAML `*x`) are seen as
 *  the node they name, so a tree may be shared and cyclic: bound your walks (see
 *  cip_limits.max_expansion). Every getter takes NULL and then fails with the status already in
 *  err (or ARG), so that calls chain. */
typedef struct cip_node cip_node;

typedef enum cip_node_type {
    CIP_NODE_NONE = 0, /* of NULL */
    CIP_NODE_NULL = 1,
    CIP_NODE_BOOL = 2,
    CIP_NODE_INT = 3,    /* fits in int64 or uint64 */
    CIP_NODE_BIGINT = 4, /* an integer beyond; as text */
    CIP_NODE_FLOAT = 5,
    CIP_NODE_STRING = 6,
    CIP_NODE_TIMESTAMP = 7, /* a YAML date or time; as text */
    CIP_NODE_BINARY = 8,    /* !!binary; as base64 text */
    CIP_NODE_SEQ = 9,
    CIP_NODE_MAP = 10
} cip_node_type;

/** Its type; CIP_NODE_NONE for NULL. */
CIP_API cip_node_type cip_node_kind(const cip_node *node);
/** Its tag in full ("tag:stsci.edu:asdf/core/ndarray-1.0.0"), or NULL where none was written. */
CIP_API const char *cip_node_tag(const cip_node *node);
/** Items of a sequence, pairs of a mapping, 0 for scalars and NULL. */
CIP_API size_t cip_node_len(const cip_node *node);
/** The i-th item of a sequence or value of a mapping, or NULL. Pairs are in file order. If keys are
 * equal (in type and value: `1` and `0x1`, not `1` and `"1"`), only the last is seen, at the place
 * of the first. Merge keys (`<<`) are already merged in. */
CIP_API const cip_node *cip_node_at(const cip_node *node, size_t i);
/** The i-th key of a mapping, or NULL. Keys are nodes: ints and bools occur. */
CIP_API const cip_node *cip_node_key(const cip_node *node, size_t i);
/** A scalar's text as written, without quotes; NUL-terminated UTF-8, its length (bytes) in *len
 * (may be NULL). NULL for sequences and mappings. */
CIP_API const char *cip_node_text(const cip_node *node, size_t *len);

/** The node at `path` below `node` (docs/guide/paths.md): keys joined by `/`, list items by number,
 * `~1` and `~0` as in JSON pointers, a leading `/` optional, "" is the node itself. A key is given
 * by its text, an integer also in decimal (`16` for 0x10). If a mapping has a string and another
 * key with the same text (`"1"` and 1), the text alone is the other key. In double quotes
 * (`a/"1"/b`) it is the string, as paths are listed. In double quotes a step is always the string
 * between them, if there is one. A key that is a collection, or has a NUL in it, is `?` and the
 * number of its pair. NULL with NOT_FOUND and the missing step in err. */
CIP_API const cip_node *cip_tree_get(const cip_node *node, const char *path, cip_err *err);

/** Typed getters: the value at `path`. TYPE when it is of another type, RANGE when it does not fit;
 *  an integer is also a double (when it is one exactly, RANGE otherwise). *out is untouched on
 *  failure. Strings are borrowed. (The text of a scalar of any type: cip_node_text.) */
CIP_API cip_status cip_tree_get_double(const cip_node *node, const char *path, double *out,
                                       cip_err *err);
CIP_API cip_status cip_tree_get_int(const cip_node *node, const char *path, int64_t *out,
                                    cip_err *err);
CIP_API cip_status cip_tree_get_uint(const cip_node *node, const char *path, uint64_t *out,
                                     cip_err *err);
CIP_API cip_status cip_tree_get_bool(const cip_node *node, const char *path, bool *out,
                                     cip_err *err);
CIP_API cip_status cip_tree_get_string(const cip_node *node, const char *path, const char **out,
                                       cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
