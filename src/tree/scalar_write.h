/* SPDX-License-Identifier: BSD-3-Clause
 * One scalar or tag as YAML text that reads back as the same value under YAML 1.1 and 1.2. */
#ifndef CIP_TREE_SCALAR_WRITE_H
#define CIP_TREE_SCALAR_WRITE_H

#include "base/buffer.h"
#include "tree/value.h"

typedef struct cip_scalar_place {
    bool flow;     /* inside [] or {} */
    bool key;      /* of a mapping: its text stays, as keys are told apart by it */
    bool literal;  /* a literal block may stand here */
    size_t indent; /* of a literal block's lines, in columns */
} cip_scalar_place;

/* In double quotes, with the escapes of YAML or of JSON. */
cip_status cip_quote(cip_buf *out, const char *s, size_t len, bool yaml, cip_err *err);

/* A literal block is written without its last line's end. */
cip_status cip_yaml_put_scalar(cip_buf *out, const cip_node *node, cip_scalar_place place,
                               cip_err *err);

/* True when a literal block can hold the node's text and is how it was written. */
bool cip_yaml_is_literal(const cip_node *node);

/* `!suffix` when the tag starts with `prefix` (may be NULL), `!!suffix` for YAML's own, else
 * `!<verbatim>`. */
cip_status cip_yaml_put_tag(cip_buf *out, const char *tag, const char *prefix, cip_err *err);
/* A tag's prefix as %TAG gives it. */
cip_status cip_yaml_put_prefix(cip_buf *out, const char *prefix, cip_err *err);

#endif
