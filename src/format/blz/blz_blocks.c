/* SPDX-License-Identifier: BSD-3-Clause
 * The chunks as blocks, column by column, for those who look at stored bytes: the pickles of Python
 * objects are seen only so. Made when they are asked for. */
#include "base/num.h"
#include "format/blz/blz.h"

enum { BLOCKS_MAX = 1 << 14 }; /* more are not listed */

static cip_status locked_name(cip_layout *l, const char *text, const char **out, cip_err *err)
{
    char *kept;
    pthread_mutex_lock(&l->lock);
    cip_status st = cip_arena_printf(&l->arena, &kept, err, "%s", text);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    *out = kept;
    return CIP_OK;
}

static cip_status fill(const cip_blz_column *c, uint64_t i, cip_block *b, cip_err *err)
{
    const cip_step step = { .codec = &cip_codec_blosc };
    cip_layout *l = c->blz->layout;
    cip_blosc_head head;
    cip_extent at;
    cip_table table;
    CIP_TRY(cip_blz_chunk_head(c, i, &head, &at, err));
    b->info.offset = at.off % (UINT64_C(1) << CIP_IO_NUMBER_SHIFT);
    b->info.header_nbytes = head.header;
    b->info.data_offset = b->info.offset + head.header;
    b->info.allocated_nbytes = b->info.stored_nbytes = head.cbytes;
    b->info.decoded_nbytes = head.nbytes;
    b->info.flags = head.flags;
    b->info.codec = cip_blosc_coder_name(&head);
    const cip_chunk chunk = { .at = at, .raw_len = head.nbytes };
    CIP_TRY(cip_space_new_sub(l, at.in, at.off, at.len, &b->stored, err));
    CIP_TRY(cip_table_from_array(l, &chunk, head.nbytes == 0 ? 0 : 1, &table, err));
    CIP_TRY(cip_space_new_chunked(l, &table, head.nbytes, &step, 1, &b->data, err));
    return cip_blosc_known(&head, err);
}

/* One that cannot be read is listed with the reason. */
static cip_status add(const cip_blz_column *c, uint64_t i, cip_block *b, cip_err *err)
{
    cip_layout *l = c->blz->layout;
    uint64_t off = (c->member + i) << CIP_IO_NUMBER_SHIFT;
    char name[CIP_IO_NUMBER_NAME];
    cip_err why = CIP_ERR_INIT, *kept;
    b->info.codec = "unknown";
    b->info.checksum = "";
    cip_io_numbered_name(c->blz->numbered, &off, name);
    CIP_TRY(locked_name(l, name, &b->info.member, err));
    CIP_TRY(cip_space_new_mem(l, (cip_bytes){ NULL, 0 }, &b->stored, err));
    cip_status st = fill(c, i, b, &why);
    if (st == CIP_OK || st == CIP_ERR_NOMEM)
        return st == CIP_OK ? CIP_OK : cip_fail(err, st, why.offset, "%s", why.text);
    pthread_mutex_lock(&l->lock);
    st = CIP_ARENA_NEW(&l->arena, &kept, 1, err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    cip_fail_in(&why, (cip_status)why.code, "%s", name);
    *kept = why;
    b->why = kept;
    b->info.state = (cip_status)why.code;
    return CIP_OK;
}

cip_status cip_blz_list_blocks(cip_layout *l, cip_err *err)
{
    const cip_blz *b = l->own;
    uint64_t all = 0, n = 0;
    for (size_t i = 0; i < b->ncolumn; i++)
        all += b->column[i]->nchunk;
    pthread_mutex_lock(&l->lock);
    cip_status st = CIP_ARENA_NEW(&l->arena, &l->block, (size_t)cip_min_u64(all, BLOCKS_MAX), err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    for (size_t i = 0; i < b->ncolumn; i++)
        for (uint64_t k = 0; k < b->column[i]->nchunk && n < BLOCKS_MAX; k++)
            CIP_TRY(add(b->column[i], k, &l->block[n++], err));
    l->nblock = (size_t)n;
    if (n < all)
        cip_warn(l->env, CIP_ERR_LIMIT, CIP_NO_OFFSET, "chunks",
                 "only the first %" PRIu64 " of %" PRIu64 " are listed", n, all);
    return CIP_OK;
}
