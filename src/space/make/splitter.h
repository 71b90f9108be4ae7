/* SPDX-License-Identifier: BSD-3-Clause
 * Records in C order in, the finished chunks of their columns out: each column's by a chunker of
 * its own. One pass over the records, and memory for the chunks of as many records as one chunker
 * would have: the columns share it. */
#ifndef CIP_SPACE_SPLITTER_H
#define CIP_SPACE_SPLITTER_H

#include "space/make/chunker.h"

typedef struct cip_splitter cip_splitter;

/* Takes n entries of the column of this number (cip_form_column.array), as cip_store_fn. */
typedef cip_status cip_split_fn(void *user, size_t array, uint64_t i, size_t n,
                                const cip_chunk_in *chunk, cip_err *err);

typedef struct cip_splitter_to {
    cip_split_fn *store;
    void *user;
    const struct cip_tuning *tuning; /* NULL: the default */
} cip_splitter_to;

/* nelem: records. The form has columns; it is borrowed while the splitter lives. */
cip_status cip_splitter_new(cip_env *env, const cip_array_form *form, uint64_t nelem,
                            const cip_splitter_to *to, cip_splitter **out, cip_err *err);
/* Whole records more, packed; the caller's again when this returns. */
cip_status cip_splitter_write(cip_splitter *s, cip_bytes records, cip_err *err);
/* Hands on what is left. ARG when records are missing. */
cip_status cip_splitter_finish(cip_splitter *s, cip_err *err);
void cip_splitter_free(cip_splitter *s); /* NULL is fine */

#endif
