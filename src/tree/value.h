/* SPDX-License-Identifier: BSD-3-Clause
 * The tree of values: nodes in an arena, made by a reader (YAML, later JSON and msgpack) or by
 * hand. */
#ifndef CIP_TREE_VALUE_H
#define CIP_TREE_VALUE_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/env.h"
#include "cippus/tree.h"

typedef enum cip_style {
    CIP_STYLE_ANY = 0,
    CIP_STYLE_PLAIN,
    CIP_STYLE_SINGLE, /* 'quoted' */
    CIP_STYLE_DOUBLE,
    CIP_STYLE_LITERAL,
    CIP_STYLE_FOLDED,
    CIP_STYLE_FLOW, /* [] and {} */
    CIP_STYLE_BLOCK
} cip_style;

typedef struct cip_pair {
    const cip_node *key, *value;
} cip_pair;

/* Scalars are resolved to their type when the tree is made; `text` is kept as written. */
struct cip_node {
    uint8_t type;  /* cip_node_type */
    uint8_t style; /* cip_style */
    union {
        bool negative; /* INT: the value is in i, otherwise in u */
        bool indexed;  /* MAP, private: a hash of its keys belongs to the pairs */
    };
    bool alias_used;    /* an alias (or merge key) names this node */
    uint32_t len;       /* bytes of text, items or pairs */
    const char *tag;    /* in full, or NULL */
    const char *anchor; /* as written, or NULL */
    uint64_t
        offset;   /* where it starts in the text that was parsed, in bytes; CIP_NO_OFFSET if made */
    uint64_t end; /* one past its last byte */
    const char *text; /* scalars: NUL-terminated */
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double f;
        const cip_node **item; /* SEQ: len of them */
        const cip_pair *pair;  /* MAP: len of them; found by cip_map_get */
    };
};

/* The value of the string key `key`, or NULL. */
const cip_node *cip_map_get(const cip_node *map, const char *key);
/* One step of a path: a key (as cip_map_step) or an item by number, not escaped. NULL when there is
 * none. */
const cip_node *cip_node_step(const cip_node *node, cip_bytes step);
/* As cip_tree_get, by a JSON pointer: of keys that look alike the string, and quotes are part of a
 * key. */
const cip_node *cip_tree_pointer(const cip_node *node, const char *pointer, cip_err *err);
/* Scalars, by value, without conversion. */
bool cip_node_is_string(const cip_node *n, const char *text);
bool cip_node_as_int(const cip_node *n, int64_t *out);
bool cip_node_as_uint(const cip_node *n, uint64_t *out);
bool cip_node_as_double(const cip_node *n, double *out); /* ints too, rounded */

/* Making nodes by hand, all in the arena. Text is copied. */
cip_status cip_node_new_string(cip_arena *a, const char *text, size_t len, cip_node **out,
                               cip_err *err);
cip_status cip_node_new_int(cip_arena *a, int64_t v, cip_node **out, cip_err *err);
cip_status cip_node_new_uint(cip_arena *a, uint64_t v, cip_node **out, cip_err *err);
cip_status cip_node_new_double(cip_arena *a, double v, cip_node **out, cip_err *err);
cip_status cip_node_new_bool(cip_arena *a, bool v, cip_node **out, cip_err *err);
cip_status cip_node_new_null(cip_arena *a, cip_node **out, cip_err *err);
/* Room for n items or pairs; fill item[i] / pair[i] with cip_node_set_*, in order, each once. */
cip_status cip_node_new_seq(cip_arena *a, size_t n, cip_node **out, cip_err *err);
cip_status cip_node_new_map(cip_arena *a, size_t n, cip_node **out, cip_err *err);
void cip_node_set_item(cip_node *seq, size_t i, const cip_node *item);
void cip_node_set_pair(cip_node *map, size_t i, const cip_node *key, const cip_node *value);
/* The same with a key that is made of text. */
cip_status cip_node_set_key(cip_arena *a, cip_node *map, size_t i, const char *key,
                            const cip_node *value, cip_err *err);

/* Paths: appends one escaped step ("/", "~" -> "~1", "~0") to b; the first step gets no leading "/"
 * unless it is empty (key "" gives "/"). */
struct cip_buf;
cip_status cip_path_add(struct cip_buf *b, cip_bytes step, cip_err *err);
/* The same with the step that names the i-th pair of a mapping: the key's text, in double quotes
 * where it needs them; `?` and i for a collection or a text with a NUL, and for one of two keys
 * that look alike though they are no strings, which no step names. `plain`: what cip_map_is_plain
 * says, or false. */
cip_status cip_path_add_pair(struct cip_buf *b, const cip_node *map, size_t i, bool plain,
                             cip_err *err);
/* Whether a path is that of the whole tree: "" or ".". */
bool cip_path_is_root(const char *path);
/* All steps of a path, without their escapes, in the arena; none for those of the root. ARG for
 * NULL. */
cip_status cip_path_split(cip_arena *a, const char *path, cip_bytes **steps, size_t *n,
                          cip_err *err);
/* As cip_tree_get, with the collection that holds the node (NULL for the root, and on failure). */
const cip_node *cip_tree_get_in(const cip_node *node, const char *path, const cip_node **parent);
/* True when one escaped step of a path ("~1" for "/", "~0" for "~") stands for this text. */
bool cip_path_step_is(cip_bytes escaped, cip_bytes text);
/* The place of the pair that a step without escapes names, or SIZE_MAX. In double quotes: the
 * string key of the text between them, where there is one. `?` and the number of a pair whose key
 * is a collection or has a NUL: that pair. Else as cip_map_find with `any`. */
size_t cip_map_step(const cip_node *map, cip_bytes step);

/* Depth-first over the tree: maps' values and sequences' items in order. Each node that can be
 * reached is entered once per way to it, except that a node inside itself (a cycle) is given to
 * `fn` with `again` set and not entered. fn returns 0 to enter, 1 to skip the children, other: stop
 * with CANCELLED. `path` is the path so far (NUL-terminated, borrowed); below a key that is a
 * collection or has a NUL its step is `?` and the pair's number. LIMIT over limits.max_expansion
 * visits and over limits.max_depth collections inside each other. */
typedef struct cip_visit {
    const cip_node *node;
    const cip_node *key; /* in a mapping: its key */
    const char *path;
    uint32_t depth;
    bool again;
} cip_visit;
cip_status cip_tree_walk(const cip_node *root, cip_env *env, int (*fn)(void *, const cip_visit *),
                         void *user, cip_err *err);
/* The same for a function that can fail: before it stops the walk it leaves in *said what it failed
 * with, which is given then, and says why in err. A stop without that is no failure. */
cip_status cip_tree_walk_told(const cip_node *root, cip_env *env,
                              int (*fn)(void *, const cip_visit *), void *user,
                              const cip_status *said, cip_err *err);

#endif
