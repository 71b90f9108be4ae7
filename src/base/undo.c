/* SPDX-License-Identifier: BSD-3-Clause
 * One piece of memory that grows and is used again, so that a call that keeps little costs no
 * allocation. */
#include "base/undo.h"

#include <string.h>

#include "base/num.h"

enum {
    ALIGN = 16,
    CALL_MOST = 1 << 20, /* bytes that a call keeps when there is no mark */
    IDLE_MOST = 64 << 10 /* that stay allocated between calls */
};

typedef struct head {
    cip_undo_fn *back;
    void *self;
    size_t n, room; /* bytes that were kept, and those that they take here */
} head;

/* The last entry of those below `end`. */
static head *last(const cip_undo *u, size_t end)
{
    return (head *)(void *)(u->at + end) - 1;
}

cip_status cip_undo_add(cip_undo *u, cip_undo_fn *back, void *self, cip_bytes one, cip_bytes rest,
                        cip_err *err)
{
    const size_t n = one.len + rest.len, room = (n + ALIGN - 1) / ALIGN * ALIGN;
    if (u == NULL || (u->lost && u->mark == 0))
        return CIP_OK;
    const size_t need = u->n + room + sizeof(head);
    if (u->mark == 0 && need - u->began > CALL_MOST) { /* more than it is worth */
        u->lost = true;
        u->n = u->began;
        return CIP_OK;
    }
    if (need > u->cap) {
        const size_t cap = u->cap > need / 2 ? u->cap * 2 : need;
        CIP_TRY(cip_mem_resize(u->mem, (void **)&u->at, cap, err));
        u->cap = cap;
    }
    if (one.len != 0)
        memcpy(u->at + u->n, one.ptr, one.len);
    if (rest.len != 0)
        memcpy(u->at + u->n + one.len, rest.ptr, rest.len);
    u->n = need;
    *last(u, u->n) = (head){ back, self, n, room };
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
        u->n = 0;
    if (u->n == 0 && u->cap > IDLE_MOST)
        cip_undo_end(u);
    u->began = u->n;
    u->call++;
    u->lost = false;
}

bool cip_undo_call(cip_undo *u)
{
    if (u->lost)
        return false;
    cip_undo_to(u, u->began);
    return true;
}

void cip_undo_again(const cip_undo *u, size_t to)
{
    for (size_t end = u->n; end > to;) {
        const head *h = last(u, end);
        h->back(h->self, (const uint8_t *)h - h->room, h->n);
        end -= sizeof *h + h->room;
    }
}

void cip_undo_to(cip_undo *u, size_t to)
{
    cip_undo_again(u, to);
    if (u->n > to)
        u->n = to;
}

void cip_undo_end(cip_undo *u)
{
    cip_mem_put(u->mem, u->at);
    u->at = NULL;
    u->n = u->cap = u->began = 0;
}
