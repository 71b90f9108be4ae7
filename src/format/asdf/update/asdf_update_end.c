/* SPDX-License-Identifier: BSD-3-Clause
 * What lies behind the last block of a file: an index, room, or bytes of somebody else's; which no
 * update drops without a word; and what lies in front of the first one. */
#include <string.h>

#include "base/num.h"
#include "format/asdf/asdf_store.h"

enum { PIECE = 64 << 10 };

/* The first byte of [off, end) that is not blank and begins no index. */
static cip_status find_in(const asdf_state *u, uint64_t off, uint64_t end, uint64_t *at,
                          cip_err *err)
{
    static const char blank[] = " \n\r\t"; /* and the NUL */
    static const char line[] = ASDF_INDEX_LINE;
    cip_mem *mem = &u->env->mem;
    uint8_t *buf;
    cip_status st = CIP_OK;
    CIP_TRY(cip_mem_get(mem, PIECE, (void **)&buf, err));
    while (off < end && *at == UINT64_MAX) {
        size_t n = (size_t)cip_min_u64(PIECE, end - off), i = 0;
        CIP_GO(cip_io_read(u->l->io, off, buf, n, err));
        while (i < n && memchr(blank, buf[i], sizeof blank) != NULL)
            i++;
        if (i < n && n - i < 32 && off + n < end && i != 0) { /* too few of them to tell */
            off += i;
            continue;
        }
        /* an index, which may be cut off: none of ours to judge */
        if (i < n && memcmp(buf + i, line, cip_min_u64(n - i, sizeof line - 1)) == 0)
            break;
        if (i < n)
            *at = off + i;
        off += n;
    }
done:
    cip_mem_put(mem, buf);
    return st;
}

cip_status cip_asdf_update_find_extra(const asdf_state *u, uint64_t *at, cip_err *err)
{
    const asdf_file *f = u->f;
    const asdf_block *last = f->blocks.n != 0 ? &f->blocks.at[f->blocks.n - 1] : NULL;
    const uint64_t size = u->l->io->size;
    const uint64_t from = last != NULL ? last->data_off + cip_asdf_room(f, last) : f->blocks_from;
    *at = UINT64_MAX;
    if (last != NULL && cip_asdf_is_streamed(last))
        return CIP_OK;
    if (f->index.state == ASDF_INDEX_NONE || f->index.at < from)
        return find_in(u, from, size, at, err);
    CIP_TRY(find_in(u, from, f->index.at, at, err));
    return *at != UINT64_MAX ? CIP_OK : find_in(u, f->index.at + f->index.len, size, at, err);
}

cip_status cip_asdf_update_check_end(const asdf_state *u, cip_err *err)
{
    uint64_t at;
    CIP_TRY(cip_asdf_update_find_extra(u, &at, err));
    if (at == UINT64_MAX)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, at,
                    "expected only an index after the last block, found other bytes, which this "
                    "update would remove; cip_change_defrag removes them");
}

cip_status cip_asdf_update_find_front(const asdf_state *u, uint64_t end, uint64_t *at, cip_err *err)
{
    const asdf_file *f = u->f;
    const uint64_t from = f->has_tree ? f->tree_off + f->tree_len : f->blocks_from;
    *at = UINT64_MAX;
    if (f->blocks.n == 0)
        return CIP_OK;
    return find_in(u, from, cip_min_u64(end, f->blocks.at[0].offset), at, err);
}
