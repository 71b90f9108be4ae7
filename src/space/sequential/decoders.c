/* SPDX-License-Identifier: BSD-3-Clause
 * Decoders kept open where a read of a large space ended, for the read that goes on there, so that
 * going through in pieces costs one pass. */
#include "space/read/reader.h"

enum { NSLOT = 8 };

struct cip_decoders {
    cip_env *env;
    pthread_mutex_t lock; /* guards all below; a leaf */
    uint64_t clock;
    struct {
        cip_seq *q; /* NULL: free */
        uint64_t id, since;
    } slot[NSLOT];
};

cip_status cip_decoders_new(cip_env *env, cip_decoders **out, cip_err *err)
{
    CIP_TRY(CIP_NEW(&env->mem, out, 1, err));
    (*out)->env = env;
    pthread_mutex_init(&(*out)->lock, NULL);
    return CIP_OK;
}

void cip_decoders_drop(cip_decoders *d)
{
    cip_seq *q[NSLOT];
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < NSLOT; i++) {
        q[i] = d->slot[i].q;
        d->slot[i].q = NULL;
    }
    pthread_mutex_unlock(&d->lock);
    for (size_t i = 0; i < NSLOT; i++)
        cip_seq_free(q[i]);
}

void cip_decoders_free(cip_decoders *d)
{
    if (d == NULL)
        return;
    cip_decoders_drop(d);
    pthread_mutex_destroy(&d->lock);
    cip_mem_put(&d->env->mem, d);
}

cip_seq *cip_decoders_take(cip_decoders *d, uint64_t id, uint64_t pos)
{
    size_t best = NSLOT;
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < NSLOT; i++)
        if (d->slot[i].q != NULL && d->slot[i].id == id && cip_seq_pos(d->slot[i].q) <= pos &&
            (best == NSLOT || cip_seq_pos(d->slot[i].q) > cip_seq_pos(d->slot[best].q)))
            best = i;
    cip_seq *q = best == NSLOT ? NULL : d->slot[best].q;
    if (q != NULL)
        d->slot[best].q = NULL;
    pthread_mutex_unlock(&d->lock);
    return q;
}

void cip_decoders_give(cip_decoders *d, uint64_t id, cip_seq *q)
{
    size_t at = 0;
    pthread_mutex_lock(&d->lock);
    for (size_t i = 1; i < NSLOT && d->slot[at].q != NULL; i++)
        if (d->slot[i].q == NULL || d->slot[i].since < d->slot[at].since)
            at = i;
    cip_seq *old = d->slot[at].q;
    d->slot[at].q = q;
    d->slot[at].id = id;
    d->slot[at].since = d->clock++;
    pthread_mutex_unlock(&d->lock);
    cip_seq_free(old);
}
