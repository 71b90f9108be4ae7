/* SPDX-License-Identifier: BSD-3-Clause
 * The chunks as blocks, column by column, for those who look at stored bytes: the pickles of Python
 * objects are seen only so. Made when they are asked for. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "format/blz/blz.h"

enum {
    BLOCKS_MAX = 1 << 18, /* more are not listed, nor */
    BAD_MAX = 1 << 14, /* more of those that cannot be read: a small folder may claim any number */
    FIRST = 1 << 10
};

cip_status cip_blz_keep_text(cip_layout *l, const char *text, const char **out, cip_err *err)
{
    char *kept;
    pthread_mutex_lock(&l->lock);
    cip_status st = cip_arena_printf(&l->arena, &kept, err, "%s", text);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    *out = kept;
    return CIP_OK;
}

/* Chunk i, and its head; *name: the file that it lies in. */
static cip_status find(cip_blz_column *c, uint64_t i, cip_blosc_head *head, cip_chunk *out,
                       cip_err *err)
{
    const cip_read_how how = { c->blz->layout, NULL };
    uint8_t bytes[CIP_BLOSC_HEADER];
    if (!c->document) {
        CIP_TRY(cip_blz_chunk_head(c, i, head, &out->at, err));
        out->raw_len = head->nbytes;
        return CIP_OK;
    }
    CIP_TRY(c->data->table.at(c->data->table.self, i, 1, out, err));
    if (out->state != CIP_CHUNK_DATA)
        return cip_fail(err, out->why, CIP_NO_OFFSET, "%s",
                        out->lack != NULL ? out->lack : "its data are missing");
    size_t n = (size_t)cip_min_u64(sizeof bytes, out->at.len);
    CIP_TRY(cip_space_read_at(&how, out->at.in, out->at.off, bytes, n, err));
    return cip_blosc_head_parse((cip_bytes){ bytes, n }, head, err);
}

static cip_status fill(cip_blz_column *c, uint64_t i, cip_block *b, cip_err *err)
{
    const cip_step step = { .codec = &cip_codec_blosc };
    cip_layout *l = c->blz->layout;
    cip_blosc_head head;
    cip_chunk chunk = { .run = 0 };
    cip_table table;
    CIP_TRY(find(c, i, &head, &chunk, err));
    if (c->document)
        b->info.member = chunk.at.in->layout->uri;
    b->info.offset = chunk.at.off % (UINT64_C(1) << CIP_IO_NUMBER_SHIFT);
    b->info.header_nbytes = head.header;
    b->info.data_offset = b->info.offset + head.header;
    b->info.allocated_nbytes = b->info.stored_nbytes = head.cbytes;
    b->info.decoded_nbytes = head.nbytes;
    b->info.flags = head.flags;
    b->info.codec = cip_blosc_coder_name(&head);
    b->info.checksum = chunk.sum_id == CIP_SUM_NONE ? "" : cip_sum_name((cip_sum_id)chunk.sum_id);
    b->info.checksum_nbytes = (uint8_t)cip_sum_size((cip_sum_id)chunk.sum_id);
    memcpy(b->info.checksum_value, chunk.sum, sizeof chunk.sum);
    b->sum_id = chunk.sum_id;
    chunk.raw_off = 0;
    chunk.run = 0;
    CIP_TRY(cip_space_new_sub(l, chunk.at.in, chunk.at.off, chunk.at.len, &b->stored, err));
    CIP_TRY(cip_table_from_array(l, &chunk, head.nbytes == 0 ? 0 : 1, &table, err));
    CIP_TRY(cip_space_new_chunked(l, &table, head.nbytes, &step, 1, &b->data, err));
    return cip_blosc_known(&head, err);
}

/* One that cannot be read is listed with the reason. */
static cip_status add(cip_blz_column *c, uint64_t i, cip_block *b, cip_err *err)
{
    cip_layout *l = c->blz->layout;
    uint64_t off = (c->member + i) << CIP_IO_NUMBER_SHIFT;
    char name[CIP_IO_NUMBER_NAME];
    cip_err why = CIP_ERR_INIT, *kept;
    b->info.codec = "unknown";
    b->info.checksum = "";
    snprintf(name, sizeof name, "%s", c->dir);
    if (!c->document)
        cip_io_numbered_name(c->blz->numbered, &off, name);
    CIP_TRY(cip_blz_keep_text(l, name, &b->info.member, err));
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

/* As far as it can be told; a column that cannot be counted has none. */
static uint64_t count(cip_blz_column *c)
{
    uint64_t n = 0;
    if (c->data == NULL)
        return c->document ? 0 : c->nchunk;
    return c->data->table.count(c->data->table.self, &n, NULL) == CIP_OK ? n : 0;
}

static cip_status list(cip_layout *l, const cip_blz *b, const uint64_t *each, uint64_t all,
                       cip_err *err)
{
    size_t n = 0, bad = 0, cap = 0;
    for (size_t i = 0; i < b->ncolumn; i++)
        for (uint64_t k = 0; k < each[i] && n < BLOCKS_MAX && bad < BAD_MAX; k++) {
            pthread_mutex_lock(&l->lock);
            cip_status st = CIP_ARENA_ROOM(&l->arena, &l->block, n, &cap, err);
            pthread_mutex_unlock(&l->lock);
            CIP_TRY(st);
            CIP_TRY(add(b->column[i], k, &l->block[n], err));
            bad += l->block[n++].info.state != CIP_OK;
        }
    l->nblock = n;
    if (n < all)
        cip_warn(l->env, CIP_ERR_LIMIT, CIP_NO_OFFSET, "chunks",
                 "only the first %zu of %" PRIu64 " are listed", n, all);
    return CIP_OK;
}

cip_status cip_blz_list_blocks(cip_layout *l, cip_err *err)
{
    const cip_blz *b = l->own;
    uint64_t all = 0, *each;
    CIP_TRY(CIP_NEW(&l->env->mem, &each, b->ncolumn, err));
    for (size_t i = 0; i < b->ncolumn; i++) {
        each[i] = count(b->column[i]);
        all += each[i];
    }
    cip_status st = list(l, b, each, all, err);
    cip_mem_put(&l->env->mem, each);
    return st;
}
