/* SPDX-License-Identifier: BSD-3-Clause
 * A YAML text with the list of its events beside its tree: what a tree does not keep (aliases,
 * merge keys, duplicates) and where in the text each node lies. */
#ifndef CIP_TREE_YAML_MARKS_H
#define CIP_TREE_YAML_MARKS_H

#include "base/strmap.h"
#include "tree/yaml.h"

enum { CIP_MARK_SCALAR, CIP_MARK_ALIAS, CIP_MARK_OPEN, CIP_MARK_CLOSE };
#define CIP_NO_MARK UINT32_MAX

/* One event. Places are bytes of the text, as in cip_node. */
typedef struct cip_mark {
    uint8_t kind;
    uint32_t start, end;
    uint32_t parent;      /* the OPEN around it */
    uint32_t next;        /* the mark after its whole node; of CLOSE: its OPEN */
    uint32_t target;      /* of ALIAS: the mark of the node that it names */
    const cip_node *node; /* of ALIAS: that node; of CLOSE: the collection */
} cip_mark;

/* Zero-initialise with `list.mem` and `anchors.mem`, and `open` as CIP_NO_MARK. */
typedef struct cip_marks {
    cip_buf list; /* of cip_mark, in the text's order; a mapping's are key, value, key, value */
    cip_strmap anchors; /* name -> mark */
    const char *twice;  /* an anchor that two nodes have, which YAML allows and others refuse */
    uint32_t open;
    const char *handle; /* what the handle `!` stands for when the text is read, or NULL */
    const char *prefix; /* the same if the text itself says so: others read it so too */
} cip_marks;

/* Adds one event; `node` as in cip_mark. */
cip_status cip_marks_add(cip_marks *m, int kind, uint64_t start, uint64_t end, const cip_node *node,
                         cip_err *err);
void cip_marks_clear(cip_marks *m);

/* cip_yaml_parse that fills *marks (may be NULL) too. */
cip_status cip_yaml_parse_marks(cip_env *env, cip_arena *a, cip_bytes text,
                                const cip_yaml_options *opt, cip_marks *marks, const cip_node **out,
                                cip_err *err);

/* A text and all that was parsed from it. */
typedef struct cip_yaml_text {
    cip_buf text;
    cip_arena arena;
    cip_marks marks;
    const cip_node *root;
} cip_yaml_text;

void cip_yaml_text_init(cip_yaml_text *t, cip_env *env);
/* Parses t->text. */
cip_status cip_yaml_text_parse(cip_yaml_text *t, cip_env *env, const cip_yaml_options *opt,
                               cip_err *err);
void cip_yaml_text_clear(cip_yaml_text *t);

static inline const cip_mark *cip_mark_at(const cip_yaml_text *t, uint32_t i)
{
    return (const cip_mark *)(const void *)t->marks.list.ptr + i;
}

static inline uint32_t cip_mark_count(const cip_yaml_text *t)
{
    return (uint32_t)(t->marks.list.len / sizeof(cip_mark));
}

#endif
