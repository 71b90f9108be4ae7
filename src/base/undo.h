/* SPDX-License-Identifier: BSD-3-Clause
 * What a change overwrites in memory, kept until nobody can want it back. A call that changes
 * something keeps what was there before it writes; going back puts all of it back, the last first.
 * Entries since the oldest mark stay; without marks those of the call under way alone, as long as
 * they are few. One thread at a time. */
#ifndef CIP_BASE_UNDO_H
#define CIP_BASE_UNDO_H

#include <stdbool.h>

#include "base/cursor.h"
#include "base/mem.h"

/* Puts back what `kept` (n bytes) says of `self`. It cannot fail. */
typedef void cip_undo_fn(void *self, const void *kept, size_t n);

/* Zero-initialise with the memory it uses, and `call` 1: cip_undo u = { .mem = m, .call = 1 }. */
typedef struct cip_undo {
    cip_mem *mem;
    uint8_t *at; /* entries, each with its head behind it */
    size_t n, cap;
    size_t began;  /* n, when the call under way began */
    uint64_t mark; /* the number of the newest mark; 0: there is none */
    uint64_t call; /* the number of the call under way */
    bool lost;     /* something of this call cannot be put back */
} cip_undo;

/* Keeps a copy of two pieces, one behind the other, for `back`. `u` NULL: nothing is kept. */
cip_status cip_undo_add(cip_undo *u, cip_undo_fn *back, void *self, cip_bytes one, cip_bytes rest,
                        cip_err *err);
/* n bytes at `at`, which stays where it is until they are put back or forgotten. */
cip_status cip_undo_keep(cip_undo *u, void *at, size_t n, cip_err *err);

/* The call under way has ended well: the next one begins. */
void cip_undo_next(cip_undo *u);
/* It failed: all of it is put back; false, with nothing done, where that cannot be. */
bool cip_undo_call(cip_undo *u);
/* Puts back all that came since u->n was `to`. */
void cip_undo_to(cip_undo *u, size_t to);
/* The same, and it stays kept: the state that a mark was set in. */
void cip_undo_again(const cip_undo *u, size_t to);
/* Nothing is wanted back; frees what it has. */
void cip_undo_end(cip_undo *u);

#endif
