/* SPDX-License-Identifier: BSD-3-Clause
 * How nodes and mappings are made inside this folder. */
#ifndef CIP_TREE_NODE_H
#define CIP_TREE_NODE_H

#include "tree/value.h"

/* A node with a copy of n bytes of text, all else zero and without a place; its type and value are
 * the caller's to set. */
cip_status cip_node_make_scalar(cip_arena *a, const char *text, size_t n, cip_node **out,
                                cip_err *err);
/* A sequence or mapping without items, the same way. */
cip_status cip_node_make_container(cip_arena *a, cip_node_type type, cip_node **out, cip_err *err);

/* Scalars of the same type and text; keys that are collections are not compared. */
bool cip_key_equal(const cip_node *a, const cip_node *b);

/* Called with each pair whose key came again later. */
typedef void cip_pair_fn(void *user, const cip_pair *earlier, const cip_pair *later);

typedef struct cip_pairs {
    cip_pair *pair;
    size_t n;
} cip_pairs;

/* Of pairs with equal keys only the last stays, at the place of the first: the number left in
 * pairs->n. `dropped` may be NULL. Time is linear in the number of pairs, whatever the keys. */
cip_status cip_pairs_unique(cip_mem *mem, cip_pairs *pairs, cip_pair_fn *dropped, void *user,
                            cip_err *err);

/* Gives a mapping its pairs, copied to the arena after the duplicates among `pairs` were dropped in
 * place, and, when they are many, an index of them. */
cip_status cip_map_fill(cip_arena *a, cip_node *map, cip_pairs pairs, cip_pair_fn *dropped,
                        void *user, cip_err *err);

/* Mappings that grow. Room for `cap` pairs in the arena, those that there are copied; with an index
 * when they are many. */
cip_status cip_map_reserve(cip_arena *a, cip_node *map, size_t cap, cip_err *err);
/* One more pair, whose key is not there yet, where there is room; the i-th goes. */
void cip_map_add(cip_node *map, cip_pair pair);
void cip_map_drop(cip_node *map, size_t i);

/* The place of the pair whose key is a scalar of this text, or SIZE_MAX: a string key before any
 * other, others only with `any`. */
size_t cip_map_find(const cip_node *map, cip_bytes text, bool any);

/* True when one escaped step of a path ("~1" for "/", "~0" for "~") stands for this text. */
bool cip_path_step_is(cip_bytes escaped, cip_bytes text);
/* Appends the step, escaped. */
cip_status cip_path_escape(struct cip_buf *b, cip_bytes step, cip_err *err);
/* The number that a step spells in decimal, without leading zeros, or SIZE_MAX. */
size_t cip_path_item(cip_bytes step);
/* All steps of a path, without their escapes, in the arena; none for "". ARG for NULL. */
cip_status cip_path_split(cip_arena *a, const char *path, cip_bytes **steps, size_t *n,
                          cip_err *err);
/* The step of the i-th pair of a mapping. A key that is a collection has no text: "?" and i,
 * written to `scratch`. */
enum { CIP_STEP_SCRATCH = 24 };
cip_bytes cip_pair_step(const cip_node *map, size_t i, char scratch[CIP_STEP_SCRATCH]);

#endif
