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
    const char *path;       /* in e->kept */
    const cip_node *value;  /* the caller's */
    cip_text_change change; /* of e->now */
} queued;

struct cip_yaml_edit {
    cip_env *env;
    cip_yaml_options opt;
    cip_yaml_text now;
    uint64_t nchange; /* of `now` and of what waits */
    /* Sets that wait. All below but `broken` is about `now`, and made when the first is queued. */
    cip_buf queue;    /* of queued *, in kept */
    size_t nqueued;   /* those that others took the place of included */
    bool unworked;    /* they are what a flush left: what they change is not known by now */
    cip_strmap paths; /* of those in the queue: which one */
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
/* The node at `path`, all of it. NOT_FOUND; UNSUPPORTED for the root and what a merge key brings.
 */
cip_status cip_yaml_find(cip_yaml_edit *e, cip_arena *a, const char *path, cip_place *p,
                         cip_err *err);
/* How many pairs of its mapping have the place's key: the last of them hides the others. */
size_t cip_yaml_twins(const cip_yaml_text *t, const cip_place *p);
/* ARG for a path that is not UTF-8. */
cip_status cip_yaml_check_path(const char *path, cip_err *err);
/* Makes the change, or leaves the text as it was. */
cip_status cip_yaml_apply(cip_yaml_edit *e, cip_text_change *c, cip_err *err);
/* Each gets the text of the other; nothing is queued. */
void cip_yaml_swap(cip_yaml_edit *e, cip_yaml_edit *other);
/* Whether comments stand in [from, to). */
bool cip_yaml_comments_in(const cip_yaml_text *t, size_t from, size_t to);

#endif
