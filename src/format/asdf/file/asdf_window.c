/* SPDX-License-Identifier: BSD-3-Clause
 * A window on the file while it is opened: one read of 64 KiB holds the header, the tree and the
 * first block header of most files, and a walk over small blocks costs a read for every 64 KiB
 * instead of one for each block. */
#include "format/asdf/asdf.h"

#include "base/num.h"

static bool holds(const asdf_window *w, uint64_t off, size_t n)
{
    return off >= w->off && off - w->off <= w->len && w->len - (size_t)(off - w->off) >= n;
}

cip_status cip_asdf_read_some(cip_layout *l, uint64_t off, void *dst, size_t n, size_t *got,
                              cip_err *err)
{
    const cip_read_how how = { .layout = l };
    *got = off < l->io->size ? (size_t)cip_min_u64(n, l->io->size - off) : 0;
    return *got == 0 ? CIP_OK : cip_space_read_at(&how, l->file, off, dst, *got, err);
}

static cip_status fill(asdf_window *w, uint64_t off, size_t n, cip_err *err)
{
    if (n > w->cap) {
        CIP_TRY(cip_mem_resize(&w->layout->env->mem, (void **)&w->buf, n, err));
        w->cap = n;
    }
    w->len = 0;
    w->off = off;
    return cip_asdf_read_some(w->layout, off, w->buf, n, &w->len, err);
}

cip_status cip_asdf_peek(asdf_window *w, uint64_t off, size_t n, size_t ahead, cip_bytes *out,
                         cip_err *err)
{
    const uint64_t size = w->layout->io->size;
    uint64_t left = off < size ? size - off : 0;
    n = (size_t)cip_min_u64(n, left);
    if (!holds(w, off, n))
        CIP_TRY(fill(w, off, n > ahead ? n : ahead, err));
    *out = (cip_bytes){ n == 0 ? (const uint8_t *)"" : w->buf + (size_t)(off - w->off), n };
    return CIP_OK;
}

void cip_asdf_window_clear(asdf_window *w)
{
    cip_mem_put(&w->layout->env->mem, w->buf);
    w->buf = NULL;
    w->cap = w->len = 0;
}
