/* SPDX-License-Identifier: BSD-3-Clause
 * A few places, each taken and filled by one atomic exchange: there is nothing to wait for. */
#include "base/spares.h"

void *cip_spares_take(cip_spares *s)
{
    void *x = NULL;
    for (int i = 0; s != NULL && i < CIP_SPARES && x == NULL; i++)
        x = atomic_exchange_explicit(&s->at[i], NULL, memory_order_acquire);
    return x;
}

void cip_spares_give(cip_spares *s, void *x, void (*end)(void *))
{
    if (s != NULL)
        atomic_store_explicit(&s->end, end, memory_order_relaxed);
    for (int i = 0; s != NULL && i < CIP_SPARES; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&s->at[i], &none, x, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    end(x);
}

void cip_spares_clear(cip_spares *s)
{
    for (void *x; (x = cip_spares_take(s)) != NULL;)
        s->end(x);
}
