/* SPDX-License-Identifier: BSD-3-Clause
 * The one way of whole arrays into a format's store, whatever they come from: engine.c. */
#ifndef CIP_CORE_ENGINE_H
#define CIP_CORE_ENGINE_H

#include <pthread.h>

#include "core/reading/read_plan.h"

/* Where elements come from, in C order: just one of memory, io, plan and value. Borrowed. */
typedef struct cip_source {
    const cip_dtype *dtype; /* of memory, io and value: packed elements of it */
    uint64_t nelem;
    const uint8_t *mem;
    cip_io *io;
    const cip_read_plan *plan;
    cip_overflow policy;  /* of its cast to what is stored */
    const uint8_t *value; /* the one that all elements are */
    bool unset;           /* ... as nobody has set them */
} cip_source;

/* Takes elements in C order, packed; borrowed. */
typedef cip_status cip_source_fn(void *user, cip_bytes elems, cip_err *err);
/* Walks a source: elements of `to` in runs of at most `most`. RANGE where the cast refuses one. */
cip_status cip_source_walk(cip_env *env, const cip_source *s, const cip_dtype *to, uint64_t most,
                           cip_source_fn *fn, void *user, cip_err *err);

/* A store that has begun, and what the caller is told meanwhile. One thread at a time. */
typedef struct cip_engine {
    cip_env *env;
    const cip_array_store *store;
    void *state;               /* of the store */
    cip_progress_fn *progress; /* may be NULL; not 0 cancels */
    void *user;
    pthread_mutex_t *lock; /* held while the store works, as others store as well; NULL: none do */
    uint64_t done, total;  /* bytes as they are in the sources */
    const struct cip_tuning *tuning; /* NULL: the default */
} cip_engine;

/* The store's `store`, under the lock. */
cip_status cip_engine_store(const cip_engine *e, size_t array, uint64_t i, size_t n,
                            const cip_chunk_in *chunk, cip_err *err);
/* Its `add`; its `end`, if it has one. */
cip_status cip_engine_add(const cip_engine *e, const cip_spec_array *array, cip_array_form *form,
                          cip_err *err);
cip_status cip_engine_end(const cip_engine *e, size_t array, bool *again, cip_err *err);
/* Tells the caller that so many bytes more are done; CANCELLED when it wants no more. */
cip_status cip_engine_tell(cip_engine *e, uint64_t more, cip_err *err);
/* Bytes that a source counts for in `total`. */
uint64_t cip_source_nbytes(const cip_source *s);
/* All of an array to the store, which stores it in this form, and its end; from NULL: a view, which
 * has no data. CANCELLED when the caller wants no more. */
cip_status cip_engine_put(cip_engine *e, size_t array, const cip_array_form *form,
                          const cip_source *from, cip_err *err);

#endif
