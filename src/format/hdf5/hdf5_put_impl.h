/* SPDX-License-Identifier: BSD-3-Clause
 * The tree of a new file while its metadata are made. */
#ifndef CIP_FORMAT_HDF5_PUT_IMPL_H
#define CIP_FORMAT_HDF5_PUT_IMPL_H

#include "format/hdf5/hdf5_write.h"

enum { CIP_H5_MOST_NAME = 4000 /* bytes */ };

/* What becomes of the axes of a dataset. */
typedef struct cip_h5_axes {
    const cip_node *names;  /* or NULL */
    const cip_node *labels; /* that its attributes have, or NULL */
    size_t *scale;     /* the array that is an axis's dimension scale; SIZE_MAX, of all of them,
                          where an axis has none: other programs read no mixture */
    bool is_scale;     /* of an axis of its own, or of others */
    size_t nuse, from; /* axes of others that it is the scale of: in `use` from `from` on */
} cip_h5_axes;

/* What is said of a group's members, in mappings as reading gives them. */
typedef enum cip_h5_said {
    CIP_H5_DIMS,
    CIP_H5_ATTRS,
    CIP_H5_ENUMS,
    CIP_H5_LINKS,
    CIP_H5_NSAID
} cip_h5_said;

/* An axis that has a scale. */
typedef struct cip_h5_axis_use {
    size_t array;
    int32_t axis;
} cip_h5_axis_use;

/* ... of a group: the mappings, or NULL. */
typedef struct cip_h5_group_said {
    const cip_node *map[CIP_H5_NSAID];
} cip_h5_group_said;

typedef struct cip_h5_builder {
    cip_h5_writer *w;
    cip_groups g;
    cip_h5_put put;
    const char **parent; /* of each array: the folder of its group */
    const char **name;
    size_t *group_of;        /* the number of it */
    cip_h5_group_said *said; /* of each group, once all groups are known */
    cip_h5_axes *axis;
    cip_h5_axis_use *use;
    uint64_t *at;     /* of each object: arrays, then groups; known the second time */
    cip_report *loss; /* NULL: nothing is told */
} cip_h5_builder;

/* --- hdf5_put_said.c: what of a mapping is what ----------------------------------------------- */

/* A link as reading has it: `{soft: path}`, `{external: file, path: path}`, or `{hard: path}` of an
 * object that has another name, too. */
typedef struct cip_h5_link_to {
    uint8_t kind; /* cip_h5_link_kind */
    const char *path, *file;
    size_t object; /* HARD */
} cip_h5_link_to;

bool cip_h5_is_name(cip_bytes s);
/* A text without a NUL. */
bool cip_h5_is_string(const cip_node *n);
bool cip_h5_is_word(const cip_node *key, const char *words);
/* Names of so many axes. */
bool cip_h5_are_axes(const cip_node *v, int32_t ndim);
cip_status cip_h5_as_link(cip_h5_builder *b, const cip_node *v, cip_h5_link_to *out, bool *yes,
                          cip_err *err);
/* Whether an entry of such a mapping has a place here. */
cip_status cip_h5_said_fits(cip_h5_builder *b, const char *dir, cip_h5_said k,
                            const cip_pair *entry, bool *yes, cip_err *err);
/* The mapping in a group, or NULL: one of whose entries any has a place. */
cip_status cip_h5_said_in(cip_h5_builder *b, const char *dir, cip_h5_said k, const cip_node **out,
                          cip_err *err);
/* All of them, once. */
cip_status cip_h5_find_said(cip_h5_builder *b, cip_err *err);
/* What is said of an array, or NULL; its attributes. */
cip_status cip_h5_said_of(cip_h5_builder *b, size_t array, cip_h5_said k, const cip_node **out,
                          cip_err *err);
cip_status cip_h5_attributes_of(cip_h5_builder *b, size_t array, const cip_node **out,
                                cip_err *err);
/* Whether a pair is no attribute, but something else that is stored, or is no part of the tree. */
cip_status cip_h5_is_other(cip_h5_builder *b, const char *dir, const cip_pair *p, bool *yes,
                           cip_err *err);

/* --- hdf5_put_axes.c: dimension scales and labels --------------------------------------------- */

cip_status cip_h5_find_axes(cip_h5_builder *b, cip_err *err);
/* The attributes that say which axes a dataset has and whose axis it is. */
cip_status cip_h5_put_axes(cip_h5_builder *b, size_t array, cip_err *err);
/* Whether an attribute is what that says, or would be in its way (*lost). */
bool cip_h5_is_of_axes(const cip_h5_axes *x, int32_t ndim, const cip_pair *p, bool *lost);

#endif
