/* SPDX-License-Identifier: BSD-3-Clause
 * What the parts of cip_yaml_edit share. */
#ifndef CIP_TREE_YAML_EDIT_IMPL_H
#define CIP_TREE_YAML_EDIT_IMPL_H

#include "tree/edit.h"
#include "tree/yaml_change.h"

/* What queued sets do to a node of the text: it goes, or (of the end of a collection) more comes in
 * front of it. */
enum { GONE = 1, GROWN = 2 };

/* Whether a mapping's keys are in the index: all of them are, strings without an equal; or not, and
 * it is searched. */
enum { NOT_INDEXED, INDEXED, ODD };

typedef struct queued {
    const char *path;      /* in e->kept */
    const cip_node *value; /* the caller's */
    cip_change change;     /* of e->now */
} queued;

struct cip_yaml_edit {
    cip_env *env;
    cip_yaml_options opt;
    cip_yaml_text now;
    /* Sets that wait. All below but `broken` is about `now`, and made when the first is queued. */
    cip_buf queue; /* of queued *, in kept */
    cip_arena kept;
    uint8_t *touched; /* of each mark: GONE, GROWN; NULL: nothing is queued */
    uint8_t *indexed; /* of each mark of a mapping: INDEXED ... */
    cip_strmap
        added; /* keys that are queued to be inserted, behind the mark of their mapping's end */
    cip_strmap keys; /* of indexed mappings, behind their mark: the key's mark */
    cip_err broken;  /* a flush failed: the text is not what was asked for */
};

/* A mark and a text as one key, in the arena. */
cip_status cip_yaml_numbered_key(cip_arena *a, uint32_t mark, cip_bytes text, cip_bytes *out,
                                 cip_err *err);
/* Goes down as far as the path exists: p->depth steps are behind p->parent, and the next one is
 * p->child or missing. */
cip_status cip_yaml_follow(cip_yaml_edit *e, const cip_bytes *step, size_t n, cip_place *p,
                           cip_err *err);

#endif
