/* SPDX-License-Identifier: BSD-3-Clause
 * The two kinds of changes behind cip_change: of a new file (cip_writer) and of one that is there
 * (cip_edit). */
#ifndef CIP_CORE_CHANGE_H
#define CIP_CORE_CHANGE_H

#include "cippus/memory.h"

typedef struct cip_writer cip_writer;
typedef struct cip_edit cip_edit;

/* The first field of both. */
struct cip_change {
    bool is_new; /* a cip_writer; else a cip_edit */
};

/* An array that comes, and what it comes from. */
typedef struct cip_new_array {
    const char *path;
    const cip_dtype *dtype;
    int ndim;
    const int64_t *shape;
    const cip_array_options *opts; /* or NULL */
    enum {
        CIP_NEW_OF_MEMORY,
        CIP_NEW_OF_VALUE,
        CIP_NEW_OF_ARRAY, /* which has dtype and shape */
        CIP_NEW_OF_BOXES
    } from;
    const void *data; /* elements, or one; NULL: nobody has set them */
    const cip_array *array;
    const cip_read_args *args; /* of the array; or NULL */
    cip_slab **slab;
    struct cip_entry *had; /* OF_BOXES: whose slab it is, and what waits of it; NULL: a new one */
} cip_new_array;

/* What the caller gave a pointer to: where it is NULL, what is in err is likely why. */
static inline const void *cip_new_array_given(const cip_new_array *a)
{
    return a->from == CIP_NEW_OF_ARRAY ? (const void *)a->array : (const void *)a->dtype;
}

#endif
