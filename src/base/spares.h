/* SPDX-License-Identifier: BSD-3-Clause
 * Decoders of a library that no thread uses at the moment: made for one chunk, kept for the next
 * ones, of all threads, until the file is closed. One kind for each list. Thread-safe. */
#ifndef CIP_BASE_SPARES_H
#define CIP_BASE_SPARES_H

#include <stdatomic.h>
#include <stddef.h>

enum { CIP_SPARES = 4 };

/* Zeroed: empty. */
typedef struct cip_spares {
    _Atomic(void *) at[CIP_SPARES]; /* NULL: free */
    _Atomic(void (*)(void *)) end;  /* what ends each of them */
} cip_spares;

/* One of them, which is the caller's then; NULL when there is none. s may be NULL: no list. */
void *cip_spares_take(cip_spares *s);
/* Keeps x (not NULL), or ends it where there is no room. `end` is the same in all calls. */
void cip_spares_give(cip_spares *s, void *x, void (*end)(void *));
/* Ends all. No other thread uses the list any more. */
void cip_spares_clear(cip_spares *s);

#endif
