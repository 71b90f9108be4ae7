/* SPDX-License-Identifier: BSD-3-Clause
 * YAML 1.1 text to a tree and back: libyaml's events, our own scalar resolver and limits. */
#ifndef CIP_TREE_YAML_H
#define CIP_TREE_YAML_H

#include "base/buffer.h"
#include "tree/value.h"

typedef struct cip_yaml_options {
    const char *default_handle; /* what the primary handle `!` stands for when no %TAG names it, or
                                   NULL for none; its use is warned about once */
    uint64_t base;              /* added to positions in errors and warnings: where the text lies */
    const char *part;           /* the part named in errors and warnings: "tree", "block index" */
    bool quiet;                 /* no warnings */
} cip_yaml_options;

/* Parses exactly one document (or none: *out is a null node) from `text`, which must be UTF-8. The
 * tree lives in `a`; scalars' text too. Directives, depth, the sum of depth over events, nodes and
 * bytes are bounded by env->limits before libyaml sees them where it is super-linear (design.md
 * section 6). CORRUPT with the byte position for what is no YAML (a second document, an undefined
 * alias, control characters, invalid UTF-8, a NUL, ... too); LIMIT where a bound is reached.
 * Duplicate keys (of one type and text): the last wins, with a warning. Merge keys are merged.
 * Unknown directives and YAML versions other than 1.1 are warned about. */
cip_status cip_yaml_parse(cip_env *env, cip_arena *a, cip_bytes text, const cip_yaml_options *opt,
                          const cip_node **out, cip_err *err);

/* The YAML 1.1 type of a plain scalar, as PyYAML resolves it (formats/asdf.md 3.1), filled into
 * node->type and its value. `text` is NUL-terminated. */
void cip_yaml_resolve(cip_node *node, const char *text, size_t len);

typedef struct cip_yaml_write {
    const char *handle_prefix; /* tags that start with this are written with the handle `!`; NULL:
                                  all verbatim */
    uint32_t max_depth;        /* deeper collections are shown as `...` scalars; 0: no bound */
    bool line;                 /* all on one line without its end: in flow style, no literals */
    bool flow;                 /* it stands inside [] or {} */
    bool document;             /* with `%YAML 1.1`, %TAG, `---` and `...` */
    /* May take over a node: returns true and the text to write in its place (borrowed until the
     * next call). */
    bool (*special)(void *user, const cip_node *node, const char **text);
    void *user;
} cip_yaml_write;

/* Writes the tree as YAML that 1.1 and 1.2 readers understand alike: order, tags, anchors and
 * aliases (cycles too) kept, plain scalars as written where both resolve them alike, strings quoted
 * otherwise. Control and bidi characters are escaped. LIMIT over env->limits.max_expansion. */
cip_status cip_yaml_emit(cip_env *env, const cip_node *root, const cip_yaml_write *opt,
                         cip_buf *out, cip_err *err);

/* JSON (RFC 8259): ints of any size as numbers, NaN and infinities as strings "NaN", "Infinity",
 * "-Infinity", invalid UTF-8 replaced, keys as text; tags as {"$tag": ..., "$value": ...} only with
 * `tags`. Aliases are expanded up to the limit; a cycle becomes {"$ref": "#/path"}. */
cip_status cip_json_emit(cip_env *env, const cip_node *root, bool tags, cip_buf *out, cip_err *err);

typedef struct cip_json_write {
    bool tags;
    /* What a file holds, to be read by cip_json_read: NaN, Infinity and -Infinity are numbers, as
     * Python's json has them; what stayed JSON text (CIP_JSON_RAW) is that again; LIMIT over
     * CIP_JSON_DEPTH collections inside each other. */
    bool file;
    uint32_t max_depth; /* deeper collections are shown as "..."; 0: no bound */
    /* May take over a node: returns true and the text to write as a string in its place. */
    bool (*special)(void *user, const cip_node *node, const char **text);
    void *user;
} cip_json_write;

/* The same with more to choose. */
cip_status cip_json_emit_as(cip_env *env, const cip_node *root, const cip_json_write *opt,
                            cip_buf *out, cip_err *err);
/* One JSON string, quotes included. */
cip_status cip_json_string(cip_buf *out, const char *text, size_t len, cip_err *err);

#endif
