/* SPDX-License-Identifier: BSD-3-Clause
 * A tree as formats of named groups have it: mappings on the way to an array are groups, and so are
 * lists; what else they hold are the group's attributes. Beside arrays `dims` and `attrs` are what
 * is said of these, by their names, as reading gives it. */
#ifndef CIP_FORMAT_GROUPS_H
#define CIP_FORMAT_GROUPS_H

#include "base/buffer.h"
#include "base/strmap.h"
#include "format/format.h"

typedef struct cip_groups cip_groups;
struct cip_groups {
    const cip_spec *spec;
    cip_arena *arena;
    /* The steps of an array's path as its folder: "a/b/"; UNSUPPORTED where a name cannot be one.
     */
    cip_status (*dir)(cip_arena *a, const char *path, char **out, cip_err *err);
    /* Whether an array's attributes can be this mapping. */
    bool (*holds)(const cip_groups *g, const cip_node *attrs);
    /* All below: zeroed before cip_groups_find. */
    const char **array; /* the folder of each array of the spec */
    const char **group; /* folders: the root ("") first, each before those that lie in it */
    size_t n, cap;      /* of groups */
    cip_strmap known;   /* folders to numbers: of arrays, and behind those of groups */
    cip_buf path;       /* of what is looked for */
};

/* All groups on the way to arrays. UNSUPPORTED where one array would lie in another, or two in one
 * place. */
cip_status cip_groups_find(cip_groups *g, cip_err *err);
/* One more, the first n bytes of dir, unless it is there; *added says whether it was not. */
cip_status cip_groups_add(cip_groups *g, const char *dir, size_t n, bool *added, cip_err *err);
void cip_groups_clear(cip_groups *g);
/* What the folder has under a name: an array's number, narray and the number of a group, or
 * SIZE_MAX for nothing. */
cip_status cip_groups_member(cip_groups *g, const char *dir, cip_bytes name, size_t *out,
                             cip_err *err);
/* The same under a key. */
static inline cip_status cip_groups_member_key(cip_groups *g, const char *dir, const cip_node *key,
                                               size_t *out, cip_err *err)
{
    const cip_bytes name = { (const uint8_t *)key->text, key->len };
    *out = SIZE_MAX;
    return key->text != NULL ? cip_groups_member(g, dir, name, out, err) : CIP_OK;
}
/* The same under the key of a pair of its mapping; *hidden: another node has the place, such as the
 * array under 1 beside a text under "1". */
cip_status cip_groups_member_pair(cip_groups *g, const char *dir, const cip_pair *p, size_t *out,
                                  bool *hidden, cip_err *err);
/* The same of what has this path, as arrays have it. */
cip_status cip_groups_member_path(cip_groups *g, const char *path, size_t *out, cip_err *err);
/* Whether a pair of a group's mapping is what is said of its arrays. */
cip_status cip_groups_beside(cip_groups *g, const char *dir, const cip_pair *p, bool *yes,
                             cip_err *err);
/* Whether a pair of the root tells how the file came about, or how its array lies in it. */
bool cip_groups_apart(const cip_groups *g, const cip_pair *p);
/* The mapping or list at a folder's place, or NULL. */
const cip_node *cip_groups_node(const cip_groups *g, const char *dir);
/* A thing of the tree that a file will not have. `loss` NULL: nothing is told. */
void cip_groups_tell(cip_report *loss, const char *dir, const char *name, const char *what);
/* What no group has of its node: a tag, items of a list that are no members, and entries whose
 * place another node has. `files`: what has none, such as "HDF5 files". */
cip_status cip_groups_tell_lost(cip_groups *g, const char *dir, const char *files, cip_report *loss,
                                cip_err *err);
/* What a mapping of this name beside the array in the folder says of it, or NULL. */
const cip_node *cip_groups_said(const cip_groups *g, const char *dir, const char *key);
/* The mapping that the only array has beside it, or NULL: the tree is the array's own, or holds
 * nothing else, as of an array that was picked out of a file. */
const cip_node *cip_groups_own_attributes(const cip_spec *spec);
/* The names of its axes, or NULL. */
const cip_node *cip_groups_dims(const cip_groups *g, const char *dir, const cip_spec_array *a);
/* A list with a name, or null, for each axis. */
bool cip_names_axes(const cip_node *n, int32_t ndim);

/* Whether the only array has no name, so that the tree is its own. */
static inline bool cip_is_alone(const cip_spec *spec)
{
    return spec->narray == 1 && (spec->array[0].path == NULL || spec->array[0].path[0] == '\0');
}

#endif
