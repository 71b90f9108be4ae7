/* SPDX-License-Identifier: BSD-3-Clause
 * Boxes of an array in, from any thread; the finished chunks of a form out, in any order. Chunks
 * that a box covers are made by the thread that brings it and handed on at once, so that they never
 * lie anywhere raw; elements of others wait in a temporary file, and their chunks are made at the
 * end. The same chunks whatever the boxes and the threads, which is of use where the order in which
 * chunks come leaves no trace in the file. Memory: for each thread that writes, a chunk as it
 * comes, as the steps take it and as they leave it. */
#ifndef CIP_SPACE_BOXES_H
#define CIP_SPACE_BOXES_H

#include "array/cast.h"
#include "base/env.h"
#include "space/layout/form.h"

typedef struct cip_boxes cip_boxes;

/* All borrowed while the boxes live, the form and the shape included. */
typedef struct cip_boxes_of {
    cip_env *env;
    const cip_array_form *form;
    const cip_dtype *dtype; /* of the elements that come, in C order of their box */
    int32_t ndim;
    const int64_t *shape; /* of the array */
    cip_overflow policy;  /* of their cast to what is stored */
    cip_io *waiting;      /* a temporary file with room for all of the array */
    cip_store_fn *store;  /* one chunk, once each; called by several threads at a time */
    void *user;
} cip_boxes_of;

/* Whether the form has chunks that can be told from boxes: of a grid, or linear ones of one length.
 */
bool cip_boxes_can(const cip_array_form *form);
/* UNSUPPORTED for a form that cannot be written. */
cip_status cip_boxes_new(const cip_boxes_of *of, cip_boxes **out, cip_err *err);
/* The elements from start[] to stop[] (within the array). Any number of threads may write boxes
 * that have no elements in common. ARG for elements of a chunk that was handed on already; RANGE
 * for a value that the cast refuses; what `store` fails with. */
cip_status cip_boxes_write(cip_boxes *b, const int64_t *start, const int64_t *stop,
                           const void *data, cip_err *err);
/* Hands on all other chunks, made on the env's pool; what no box had is zeros. */
cip_status cip_boxes_finish(cip_boxes *b, cip_err *err);
void cip_boxes_free(cip_boxes *b); /* NULL is fine */

#endif
