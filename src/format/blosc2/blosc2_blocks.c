/* SPDX-License-Identifier: BSD-3-Clause
 * The chunks of a frame as blocks that users can look at, one by one: made when they are asked for.
 */
#include "base/num.h"
#include "format/blosc2/blosc2.h"

enum { BLOCKS_MAX = 1 << 18 }; /* more are not listed */

static cip_status fill_stored(const cip_b2_frame *f, uint64_t i, const cip_b2_entry *e,
                              cip_block *b, cip_err *err)
{
    cip_blosc_head head;
    cip_chunk c = { .run = 1 };
    cip_b2_index *x = (cip_b2_index *)&f->index;
    if (x->numbered != NULL) {
        /* told also of a file that is not there */
        char name[CIP_IO_NUMBER_NAME], *kept;
        cip_b2_member_name(NULL, e->at, NULL, name);
        pthread_mutex_lock(&f->layout->lock);
        cip_status st = cip_arena_printf(&f->layout->arena, &kept, err, "%s", name);
        pthread_mutex_unlock(&f->layout->lock);
        CIP_TRY(st);
        b->info.member = kept;
    }
    CIP_TRY(cip_b2_index_head(x, i, e, &head, &c, err));
    b->info.offset = x->numbered != NULL ? 0 : c.at.off; /* of a sparse frame: in its file */
    b->info.header_nbytes = head.header;
    b->info.data_offset = b->info.offset + head.header;
    b->info.allocated_nbytes = head.cbytes;
    b->info.stored_nbytes = head.cbytes;
    b->info.flags = head.flags;
    b->info.codec = cip_blosc_coder_name(&head);
    CIP_TRY(cip_space_new_sub(f->layout, c.at.in, c.at.off, c.at.len, &b->stored, err));
    return cip_blosc_known(&head, err);
}

static cip_status fill_block(const cip_b2_frame *f, cip_space *linear, uint64_t i, cip_block *b,
                             cip_err *err)
{
    cip_b2_index *x = (cip_b2_index *)&f->index;
    cip_b2_entry e;
    uint64_t from = x->start != NULL ? x->start[i] : i * f->h.chunksize;
    b->info.decoded_nbytes =
        x->start != NULL ? x->start[i + 1] - from : cip_b2_index_expected(x, i);
    CIP_TRY(cip_space_new_sub(f->layout, linear, from, b->info.decoded_nbytes, &b->data, err));
    CIP_TRY(cip_b2_index_entry(x, i, &e, err));
    if (e.special == CIP_BLOSC_NOT_SPECIAL)
        CIP_TRY(fill_stored(f, i, &e, b, err));
    else
        b->info.codec = cip_blosc_special_name(e.special);
    return cip_b2_partial_chunk(&x->partial, i, e.special) ? CIP_OK
                                                           : cip_b2_partial_fail(&x->partial, err);
}

/* A chunk that cannot be read is listed with the reason. */
static cip_status add_block(cip_layout *l, const cip_b2_frame *f, cip_space *linear, uint64_t i,
                            cip_err *err)
{
    cip_err why = CIP_ERR_INIT, *kept;
    cip_block *b = &l->block[i];
    b->info.codec = "unknown";
    b->info.checksum = "";
    CIP_TRY(cip_space_new_mem(l, (cip_bytes){ NULL, 0 }, &b->stored, err));
    cip_status st = fill_block(f, linear, i, b, &why);
    if (st == CIP_OK)
        return CIP_OK;
    if (st == CIP_ERR_NOMEM)
        return cip_fail(err, st, why.offset, "%s", why.text);
    pthread_mutex_lock(&l->lock);
    st = CIP_ARENA_NEW(&l->arena, &kept, 1, err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    cip_fail_in(&why, (cip_status)why.code, "chunk %" PRIu64, i);
    *kept = why;
    b->why = kept;
    b->info.state = (cip_status)why.code;
    return CIP_OK;
}

cip_status cip_b2_list_blocks(cip_layout *l, cip_err *err)
{
    const cip_b2_file *own = l->own;
    const cip_b2_frame *f = own->frame;
    cip_space *linear;
    if (f == NULL)
        return CIP_OK;
    CIP_TRY(cip_b2_index_ready((cip_b2_index *)&f->index, err));
    CIP_TRY(cip_b2_frame_linear(f, &linear, err));
    uint64_t n = cip_min_u64(f->index.n, BLOCKS_MAX);
    pthread_mutex_lock(&l->lock);
    cip_status st = CIP_ARENA_NEW(&l->arena, &l->block, (size_t)n, err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    for (uint64_t i = 0; i < n; i++)
        CIP_TRY(add_block(l, f, linear, i, err));
    l->nblock = (size_t)n;
    if (n < f->index.n)
        cip_warn(l->env, CIP_ERR_LIMIT, CIP_NO_OFFSET, "chunks",
                 "only the first %" PRIu64 " of %" PRIu64 " are listed", n, f->index.n);
    return CIP_OK;
}
