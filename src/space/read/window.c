/* SPDX-License-Identifier: BSD-3-Clause
 * Reading ahead. Of ASDF one read holds the header, the tree and the first block header of most
 * files, and a walk over small blocks or chunks costs a read for every 64 KiB instead of one for
 * each. */
#include "space/read/window.h"

#include "base/num.h"
#include "space/read/read.h"

enum { AHEAD = 64 << 10, NEAR = 4096 };

static bool holds(const cip_window *w, uint64_t off, size_t n)
{
    return off >= w->off && off - w->off <= w->len && w->len - (size_t)(off - w->off) >= n;
}

cip_status cip_space_read_some(cip_layout *l, cip_space *s, uint64_t off, void *dst, size_t n,
                               size_t *got, cip_err *err)
{
    const cip_read_how how = { .layout = l };
    *got = off < s->len ? (size_t)cip_min_u64(n, s->len - off) : 0;
    return *got == 0 ? CIP_OK : cip_space_read_at(&how, s, off, dst, *got, err);
}

static cip_status fill(cip_window *w, uint64_t off, size_t n, cip_err *err)
{
    if (n > w->cap) {
        CIP_TRY(cip_mem_resize(&w->layout->env->mem, (void **)&w->buf, n, err));
        w->cap = n;
    }
    size_t got;
    w->len = 0; /* of a read that fails nothing is at hand */
    w->off = off;
    CIP_TRY(cip_space_read_some(w->layout, w->in, off, w->buf, n, &got, err));
    w->len = got;
    return CIP_OK;
}

cip_status cip_window_peek(cip_window *w, uint64_t off, size_t n, size_t ahead, cip_bytes *out,
                           cip_err *err)
{
    const uint64_t size = w->in->len;
    uint64_t left = off < size ? size - off : 0;
    n = (size_t)cip_min_u64(n, left);
    if (!holds(w, off, n))
        CIP_TRY(fill(w, off, n > ahead ? n : ahead, err));
    *out = (cip_bytes){ n == 0 ? (const uint8_t *)"" : w->buf + (size_t)(off - w->off), n };
    return CIP_OK;
}

cip_status cip_window_next(cip_window *w, uint64_t off, size_t n, cip_bytes *out, cip_err *err)
{
    const bool near = w->last != 0 && off >= w->last && off - w->last < NEAR;
    w->last = off;
    return cip_window_peek(w, off, n, near ? AHEAD : 0, out, err);
}

void cip_window_clear(cip_window *w)
{
    cip_mem_put(&w->layout->env->mem, w->buf);
    w->buf = NULL;
    w->cap = w->len = 0;
}
