/* SPDX-License-Identifier: BSD-3-Clause
 * Elements of an array in C order in, the finished chunks of a form out: cut, padded, special ones
 * found, encoded and summed on the pool, handed on in order. The same chunks whatever the number of
 * threads and however the elements come. Memory is bounded by chunks x threads and by a quarter of
 * max_memory, but for one chunk; n-d chunks that are being cut have as much, at most 64 MiB: more
 * waits in a temporary file. */
#ifndef CIP_SPACE_CHUNKER_H
#define CIP_SPACE_CHUNKER_H

#include "base/env.h"
#include "io/io.h"
#include "space/layout/form.h"

typedef struct cip_chunker cip_chunker;

/* Where chunks go: `store` is called by the caller's thread, during the calls below. */
typedef struct cip_chunker_to {
    cip_store_fn *store;
    void *user;
    const struct cip_tuning *tuning; /* NULL: the default */
} cip_chunker_to;

/* nelem: elements of the array. The form is copied; what it points to is borrowed while the chunker
 * lives. UNSUPPORTED for a form that cannot be written. */
cip_status cip_chunker_new(cip_env *env, const cip_array_form *form, uint64_t nelem,
                           const cip_chunker_to *to, cip_chunker **out, cip_err *err);
/* For chunks that come one by one, with gaps: `most` of them, of up to `longest` raw bytes (linear
 * ones). */
cip_status cip_chunker_new_apart(cip_env *env, const cip_array_form *form, uint64_t longest,
                                 uint64_t most, const cip_chunker_to *to, cip_chunker **out,
                                 cip_err *err);
/* Chunk i, whose n raw bytes lie in the io as the form's steps take them, padding included. The io
 * must not grow before the end. */
cip_status cip_chunker_chunk(cip_chunker *c, uint64_t i, cip_io *io, uint64_t off, uint64_t n,
                             cip_err *err);
/* Elements more, of the form's dtype, packed; the caller's again when this returns. */
cip_status cip_chunker_write(cip_chunker *c, cip_bytes elems, cip_err *err);
/* Hands on what is left. ARG when elements are missing. */
cip_status cip_chunker_finish(cip_chunker *c, cip_err *err);
void cip_chunker_free(cip_chunker *c); /* NULL is fine */

#endif
