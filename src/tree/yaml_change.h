/* SPDX-License-Identifier: BSD-3-Clause
 * What is to be done at a place of a YAML text, put into splices. */
#ifndef CIP_TREE_YAML_CHANGE_H
#define CIP_TREE_YAML_CHANGE_H

#include "tree/node.h"
#include "tree/scalar.h"
#include "tree/yaml_span.h"
#include "tree/yaml_splice.h"

/* Where a path leads. Marks; CIP_NO_MARK: none. */
typedef struct cip_place {
    size_t depth;           /* steps in front of it */
    uint32_t parent;        /* the collection */
    uint32_t key;           /* in mappings */
    uint32_t child;         /* the item or value */
    uint32_t before;        /* the item or value in front of it */
    const cip_node *merged; /* what a merge key brings in its stead, or NULL */
    bool merging;           /* a step leads through a merge key */
} cip_place;

/* No document, or one whose root is not written. */
bool cip_text_change_rootless(const cip_yaml_text *t);
/* The first pair of a text without a root. */
cip_status cip_text_change_begin(cip_text_change *c, cip_bytes key, const cip_node *value,
                                 cip_err *err);
/* p->child becomes `value`. */
cip_status cip_text_change_replace(cip_text_change *c, const cip_place *p, const cip_node *value,
                                   cip_err *err);
/* A pair of a mapping or, without regard to `key`, an item at the end of a sequence. */
cip_status cip_text_change_insert(cip_text_change *c, uint32_t collection, cip_bytes key,
                                  const cip_node *value, cip_err *err);
/* An entry that is written already ("key: value" or "- value", for a block collection with its
 * further lines indented) comes to the end of a collection. */
cip_status cip_text_change_put(cip_text_change *c, uint32_t collection, const cip_buf *entry,
                               cip_err *err);
/* The text of p->child goes, with its key; what names it is the caller's. */
cip_status cip_text_change_take(cip_text_change *c, const cip_place *p, cip_err *err);
/* The same, and anchors move to their aliases. */
cip_status cip_text_change_remove(cip_text_change *c, const cip_place *p, cip_err *err);
/* The nodes of the marks [from, to) are going: what aliases elsewhere name moves to the first of
 * them. */
cip_status cip_text_change_hoist(cip_text_change *c, uint32_t from, uint32_t to, cip_err *err);

#endif
