/* SPDX-License-Identifier: BSD-3-Clause
 * A list of entries, the last one first. */
#include "base/undo.h"

#include <stdalign.h>
#include <string.h>

enum { CALL_MOST = 1 << 20 }; /* bytes that a call keeps when there is no mark */

struct cip_undo_entry {
    cip_undo_entry *next; /* the one before it */
    cip_undo_fn *back;
    void *self;
    size_t n;
    alignas(max_align_t) uint8_t kept[];
};

static void free_last(cip_undo *u)
{
    cip_undo_entry *x = u->last;
    u->last = x->next;
    cip_mem_put(u->mem, x);
}

cip_status cip_undo_add(cip_undo *u, cip_undo_fn *back, void *self, cip_bytes head, cip_bytes rest,
                        cip_err *err)
{
    cip_undo_entry *x;
    if (u == NULL || (u->lost && u->mark == 0))
        return CIP_OK;
    if (u->mark == 0 && u->nbytes + head.len + rest.len > CALL_MOST) { /* more than it is worth */
        u->lost = true;
        cip_undo_forget(u);
        return CIP_OK;
    }
    CIP_TRY(cip_mem_get(u->mem, sizeof *x + head.len + rest.len, (void **)&x, err));
    *x = (cip_undo_entry){ u->last, back, self, head.len + rest.len };
    if (head.len != 0)
        memcpy(x->kept, head.ptr, head.len);
    if (rest.len != 0)
        memcpy(x->kept + head.len, rest.ptr, rest.len);
    u->last = x;
    u->nbytes += x->n;
    return CIP_OK;
}

static void copy_back(void *self, const void *kept, size_t n)
{
    memcpy(self, kept, n);
}

cip_status cip_undo_keep(cip_undo *u, void *at, size_t n, cip_err *err)
{
    return cip_undo_add(u, copy_back, at, (cip_bytes){ at, n }, (cip_bytes){ NULL, 0 }, err);
}

void cip_undo_next(cip_undo *u)
{
    if (u->mark == 0)
        cip_undo_forget(u);
    u->began = u->last;
    u->call++;
    u->nbytes = 0;
    u->lost = false;
}

bool cip_undo_call(cip_undo *u)
{
    if (u->lost)
        return false;
    cip_undo_to(u, u->began);
    return true;
}

void cip_undo_to(cip_undo *u, const cip_undo_entry *to)
{
    for (; u->last != to; free_last(u))
        u->last->back(u->last->self, u->last->kept, u->last->n);
}

void cip_undo_again(const cip_undo *u, const cip_undo_entry *to)
{
    for (const cip_undo_entry *x = u->last; x != to; x = x->next)
        x->back(x->self, x->kept, x->n);
}

void cip_undo_forget(cip_undo *u)
{
    while (u->last != NULL)
        free_last(u);
    u->began = NULL;
}
