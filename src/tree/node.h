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

/* Scalars of the same type and value: `1` and `0x1`, `true` and `True`, `1.0` and `1.00`, but not
 * `1` and `'1'` or `1.0`. Texts, times, binaries and integers beyond 64 bits: of the same text.
 * Keys that are collections are not compared. */
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

/* The place of the pair whose key is a string of this text, or SIZE_MAX. With `any`, of the scalar
 * key that answers best: one of this text that is no string, then an integer that is this in
 * decimal, then the string. */
size_t cip_map_find(const cip_node *map, cip_bytes text, bool any);
/* The text of the key that a step without escapes makes where it names none. */
cip_bytes cip_map_new_key(const cip_node *map, cip_bytes step);
/* Of steps that name nothing yet, where keys are made of them: ARG for an empty one; of two double
 * quotes alone the key is empty. */
cip_status cip_steps_new(cip_bytes *step, size_t n, cip_err *err);
/* Whether a collection that is made for the step is a list: for its first item, `-` or `0`. */
bool cip_step_makes_list(cip_bytes step);
/* `-`: one past the last item. */
bool cip_step_is_dash(cip_bytes step);
/* The place of a step in a list of n items; n itself for a new one. NOT_FOUND beyond. */
cip_status cip_step_place(cip_bytes step, uint32_t n, size_t *at, cip_err *err);
/* TYPE: what should have the step is a scalar. */
cip_status cip_step_fail_parent(cip_bytes step, cip_err *err);

/* Whether `path` is that place or lies below it, both in one spelling. */
bool cip_path_within(const char *path, const char *place);
/* The path with every step in one spelling, without quotes, from the arena: two paths that may lead
 * to one node are equal then. */
cip_status cip_path_plain(cip_env *env, cip_arena *a, const char *path, char **out, cip_err *err);
/* Appends the step, escaped. */
cip_status cip_path_escape(struct cip_buf *b, cip_bytes step, cip_err *err);
/* The number that a step spells in decimal, without leading zeros, or SIZE_MAX. */
size_t cip_path_item(cip_bytes step);
enum { CIP_STEP_DIGITS = 24 }; /* of an integer as text */
/* Whether each key is a string that has no double quote in front, so that its text names it. */
bool cip_map_is_plain(const cip_node *map);
/* Whether the i-th pair's key is a string whose text alone names another pair. `plain` is what
 * cip_map_is_plain said, to be asked once for a mapping. */
bool cip_pair_is_quoted(const cip_node *map, size_t i, bool plain);
/* Appends the step that names the i-th pair, escaped, as cip_path_add_pair has it. */
cip_status cip_pair_escape(struct cip_buf *b, const cip_node *map, size_t i, bool plain,
                           cip_err *err);

#endif
