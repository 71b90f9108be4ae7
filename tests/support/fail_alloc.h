/* SPDX-License-Identifier: BSD-3-Clause
 * An allocator that counts what is held and fails the n-th request, for tests:
 *
 *     for (size_t n = 1;; n++) {
 *         fail_alloc f = { .fail_at = n };
 *         cip_allocator a = { fail_alloc_resize, &f };
 *         ...                           with an environment that has &a
 *         assert_int_equal(f.held, 0);
 *         if (f.requests < n)
 *             break;                    it went through without that many
 *     }
 */
#ifndef CIP_TESTS_FAIL_ALLOC_H
#define CIP_TESTS_FAIL_ALLOC_H

#include <stdatomic.h>
#include <stdlib.h>

#include "cippus/options.h"

typedef struct fail_alloc {
    size_t fail_at;          /* counted from 1; 0: never */
    _Atomic size_t requests; /* so far, failed ones too */
    _Atomic size_t held;     /* bytes */
} fail_alloc;

static inline void *fail_alloc_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    fail_alloc *f = (fail_alloc *)user;
    if (new_size == 0) {
        free(ptr);
        atomic_fetch_sub(&f->held, old_size);
        return NULL;
    }
    if (atomic_fetch_add(&f->requests, 1) + 1 == f->fail_at)
        return NULL;
    void *p = realloc(ptr, new_size);
    if (p != NULL)
        atomic_fetch_add(&f->held, new_size - old_size);
    return p;
}

#endif
