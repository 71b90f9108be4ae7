/* SPDX-License-Identifier: BSD-3-Clause
 * Where everything goes: text and payloads that fit stay where they are, a last block that has
 * grown and new blocks make a new end of the file, and what fits nowhere makes a new file. */
#include "format/asdf/asdf_store.h"

#include <string.h>

#include "base/num.h"
#include "io/revision_out.h"

enum { ROOM_MAX = 1 << 20 /* behind the last block's bytes, when they get fewer */ };

/* An update as it is being placed. */
typedef struct placing {
    asdf_state *u;
    cip_revision *r;
    cip_bytes text; /* of the tree; as it was when it did not change */
    bool crlf;
    size_t old;      /* blocks of the file */
    asdf_blocks all; /* as they will be */
    cip_out end;     /* of the file, once there is a tail */
} placing;

/* --- what has to be known first --------------------------------------------------------------- */

/* A block that has outgrown its place, and that others follow: a new one takes its data. */
static cip_status move_outgrown(asdf_state *u, size_t block, int64_t *to, cip_err *err)
{
    asdf_ublock old = u->b[block];
    size_t index;
    if (!old.changed || cip_asdf_update_payload(&old).len <= old.head.allocated)
        return CIP_OK;
    CIP_TRY(cip_asdf_update_new_block(u, block, &index, err));
    asdf_ublock *b = &u->b[index];
    *b = old;
    b->is_new = true;
    b->head.flags &= ~(uint32_t)ASDF_STREAMED;
    u->b[block] = (asdf_ublock){ .head = u->f->blocks.at[block], .chain_of = -1 };
    *to = (int64_t)index;
    return CIP_OK;
}

/* Whether a header is one that is only believed where it was promised: behind the text itself. */
static bool must_follow(const asdf_file *f)
{
    return f->blocks.n != 0 && f->blocks.at[0].offset == f->blocks_from &&
           !cip_asdf_block_plausible(&f->blocks.at[0], f->layout->io->size);
}

/* Whether the text can stay where it is. */
static bool fits(const placing *p)
{
    const asdf_state *u = p->u;
    const asdf_file *f = u->f;
    if (u->anew || (p->old == 0 && u->n != 0))
        return false;
    if (p->text.len != f->tree_len && must_follow(f))
        return false;
    return p->old == 0 || p->text.len <= f->blocks.at[0].offset - f->tree_off;
}

/* --- in place: bytes that change -------------------------------------------------------------- */

/* The text between its first and its last byte that differ, with spaces up to where the old one
 * ended. */
static cip_status change_text(placing *p, cip_err *err)
{
    const asdf_file *f = p->u->f;
    cip_mem *mem = &p->u->env->mem;
    cip_status st;
    uint8_t *now = NULL, *was = NULL;
    size_t n = (size_t)cip_max_u64(p->text.len, f->tree_len), i = 0;
    CIP_GO(cip_mem_get(mem, n, (void **)&now, err));
    CIP_GO(cip_mem_get(mem, n, (void **)&was, err));
    CIP_GO(cip_io_read(p->u->l->io, f->tree_off, was, n, err));
    memcpy(now, p->text.ptr, p->text.len);
    memset(now + p->text.len, ' ', n - p->text.len);
    while (i < n && now[i] == was[i])
        i++;
    while (n > i && now[n - 1] == was[n - 1])
        n--;
    st = cip_patch_bytes(&p->r->patch, f->tree_off + i, now + i, n - i, err);
done:
    cip_mem_put(mem, now);
    cip_mem_put(mem, was);
    return st;
}

/* --- in place: the end of the file ------------------------------------------------------------ */

static void start_tail(placing *p, uint64_t off)
{
    if (p->r->has_tail)
        return;
    p->r->has_tail = true;
    p->r->tail_off = off;
    p->end = cip_revision_tail(p->r);
}

/* Whether the last block is the end of the file anew: it is streamed, does not fit where it is, or
 * leaves more room there than it may want to grow into. */
static bool makes_tail(const asdf_ublock *b, const asdf_payload *load)
{
    if (cip_asdf_is_streamed(&b->head))
        return load->len != b->head.stored;
    return load->len > b->head.allocated || b->head.allocated - load->len > ROOM_MAX;
}

static cip_status place_old(placing *p, size_t i, cip_err *err)
{
    asdf_ublock *b = &p->u->b[i];
    uint8_t head[ASDF_HEADER_LEN];
    asdf_piece piece;
    p->all.at[i] = b->head;
    if (!b->changed)
        return CIP_OK;
    const asdf_payload load = cip_asdf_update_payload(b);
    const bool tail = i + 1 == p->old && makes_tail(b, &load);
    const uint64_t end = tail ? cip_min_u64(load.len, b->head.stored) : load.len;
    CIP_TRY(cip_asdf_update_piece(p->u, i, &piece, err));
    if (tail)
        piece.head.allocated = piece.head.used;
    size_t len = cip_asdf_header_bytes(&piece.head, b->head.header_size, head);
    if (!cip_asdf_is_streamed(&b->head))
        CIP_TRY(cip_patch_bytes(&p->r->patch, b->head.offset, head, len, err));
    /* the new bytes over the old ones, up to `end` */
    const uint64_t at = b->head.data_off;
    if (b->encoded.io == NULL && b->c != NULL)
        CIP_TRY(cip_chunk_changes_patch(b->c, end, at, &p->r->patch, err));
    else if (b->encoded.io != NULL && load.kept < end)
        CIP_TRY(cip_patch_range(&p->r->patch, at + load.kept, load.more.io, load.more.off,
                                end - load.kept, err));
    if (!tail)
        return CIP_OK;
    cip_segment rest = load.more;
    rest.off += end - load.kept;
    rest.len -= end - load.kept;
    start_tail(p, at + end);
    return cip_out_segment(&p->end, &rest, err);
}

/* The tail comes behind the last block. Where the file ended before all that was allocated to it,
 * what is there becomes all: a reader that goes from block to block would go past the others. */
static cip_status start_behind_old(placing *p, cip_err *err)
{
    const size_t last = p->old - 1;
    const asdf_ublock *b = &p->u->b[last];
    uint8_t head[ASDF_HEADER_LEN];
    asdf_piece piece;
    if (p->r->has_tail)
        return CIP_OK;
    start_tail(p, b->head.data_off + cip_max_u64(b->head.allocated, b->head.stored));
    if (b->changed || p->u->f->blocks.at[last].allocated <= b->head.allocated)
        return CIP_OK;
    CIP_TRY(cip_asdf_update_piece(p->u, last, &piece, err));
    const size_t len = cip_asdf_header_bytes(&piece.head, b->head.header_size, head);
    return cip_patch_bytes(&p->r->patch, b->head.offset, head, len, err);
}

static cip_status place_new(placing *p, size_t i, cip_err *err)
{
    const asdf_state *u = p->u;
    asdf_piece piece;
    CIP_TRY(start_behind_old(p, err));
    CIP_TRY(cip_asdf_update_piece(p->u, i, &piece, err));
    bool exact = piece.head.form != &cip_asdf_form_1_0; /* its length tells the form */
    const uint64_t align = u->spec.align != 0 ? u->spec.align : exact ? 1 : ASDF_ALIGN;
    return cip_asdf_put_block(&piece, align, &p->end, &p->all.at[i], err);
}

/* Blocks that cannot be read stand in the way of anything behind them. */
static cip_status check_blocks(const asdf_file *f, cip_err *err)
{
    for (size_t i = 0; i < f->blocks.n; i++)
        if (f->blocks.at[i].state != CIP_OK)
            return cip_fail(err, f->blocks.at[i].state, f->blocks.at[i].offset,
                            "expected undamaged blocks, found block %zu damaged; see cip_verify",
                            i);
    return CIP_OK;
}

static cip_status in_place(placing *p, bool blocks_changed, cip_err *err)
{
    asdf_state *u = p->u;
    const asdf_file *f = u->f;
    const uint64_t behind = u->l->io->size - f->blocks_from;
    uint64_t extra = UINT64_MAX;
    if (u->n == 0 && u->tree_changed) { /* the text and what follows it are the end of the file */
        p->r->has_tail = true;
        p->r->tail_off = f->tree_off;
        CIP_TRY(cip_revision_bytes(p->r, p->text.ptr, p->text.len, err));
        if (behind != 0)
            CIP_TRY(cip_revision_range(p->r, u->l->io, f->blocks_from, behind, err));
    }
    if (u->n == 0)
        return CIP_OK;
    if (u->tree_changed)
        CIP_TRY(change_text(p, err));
    if (!blocks_changed && check_blocks(f, NULL) != CIP_OK)
        return CIP_OK;
    CIP_TRY(check_blocks(f, err));
    for (size_t i = 0; i < p->old; i++)
        CIP_TRY(place_old(p, i, err));
    for (size_t i = p->old; i < u->n; i++)
        CIP_TRY(place_new(p, i, err));
    if (p->r->has_tail)
        CIP_TRY(cip_asdf_update_check_end(u, err));
    else /* an index alone is not worth what lies in its place */
        CIP_TRY(cip_asdf_update_find_extra(u, &extra, err));
    if (extra != UINT64_MAX || cip_asdf_is_streamed(&u->b[u->n - 1].head) ||
        u->b[0].head.form != &cip_asdf_form_1_0 ||
        (!p->r->has_tail && f->index.state == ASDF_INDEX_GOOD))
        return CIP_OK;
    CIP_TRY(start_behind_old(p, err));
    return cip_asdf_put_index(&p->all, p->crlf, &u->env->mem, &p->end, err);
}

/* --- a new file ------------------------------------------------------------------------------- */

static cip_status make_anew(placing *p, cip_bytes head, cip_err *err)
{
    asdf_state *u = p->u;
    asdf_piece *piece;
    size_t n = 0;
    uint64_t front;
    CIP_TRY(check_blocks(u->f, err));
    if (!u->compact)
        CIP_TRY(cip_asdf_update_check_end(u, err));
    CIP_TRY(cip_asdf_update_find_front(u, UINT64_MAX, &front, err));
    if (front != UINT64_MAX && u->spec.notes != NULL) { /* nothing stays there but room */
        const uint64_t len = u->f->blocks.at[0].offset - front;
        cip_report_add(u->spec.notes, CIP_NOTE, CIP_OK, front, len, NULL,
                       "%" PRIu64 " unused bytes between the tree and the first block are removed",
                       len);
        CIP_TRY(cip_report_status(u->spec.notes, err));
    }
    CIP_TRY(CIP_ARENA_NEW(u->arena, &piece, u->n + 1, err));
    for (size_t i = 0; i < u->n; i++) {
        if (u->b[i].dropped)
            continue;
        CIP_TRY(cip_asdf_update_piece(u, i, &piece[n], err));
        if (u->compact || u->b[i].changed)
            piece[n].head.allocated = piece[n].head.used;
        n++;
    }
    const asdf_pieces all = { .head = head,
                              .early = cip_asdf_is_early(u->f->header.file),
                              .tree = p->text,
                              .slack = must_follow(u->f) ? -1 : u->spec.tree_slack,
                              .align = u->spec.align,
                              .crlf = p->crlf,
                              .n = n,
                              .block = piece };
    p->r->anew = p->r->has_tail = true;
    p->r->tail_off = 0;
    cip_out tail = cip_revision_tail(p->r);
    return cip_asdf_put_pieces(u->env, &all, &tail, err);
}

/* Blocks that came, and whose arrays went again, are as if they had not come. */
static cip_status drop_unnamed(asdf_state *u, cip_err *err)
{
    const size_t *users;
    int64_t *to;
    size_t next = 0;
    if (u->n == u->f->blocks.n || u->compact)
        return CIP_OK;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &to, u->n, err));
    CIP_TRY(cip_asdf_update_users(u, &users, err));
    for (size_t i = 0; i < u->n; i++)
        to[i] = u->b[i].is_new && users[i] == 0 ? -1 : (int64_t)next++;
    if (next == u->n)
        return CIP_OK;
    CIP_TRY(cip_asdf_update_renumber(u, to, u->n, NULL, err));
    for (size_t i = 0; i < u->n; i++)
        if (to[i] >= 0)
            u->b[to[i]] = u->b[i];
    u->n = next;
    return CIP_OK;
}

cip_status cip_asdf_update_finish(asdf_state *u, cip_revision *r, cip_err *err)
{
    placing p = { .u = u, .r = r, .old = u->f->blocks.n };
    cip_bytes head;
    int64_t *to;
    uint64_t front;
    CIP_TRY(cip_asdf_inline_finish(u, err));
    CIP_TRY(drop_unnamed(u, err));
    const bool blocks = cip_asdf_update_any_changed(u);
    u->anew = u->anew || (u->tree_changed && !u->f->has_tree);
    CIP_TRY(cip_asdf_update_check_refs(u, err));
    if (!blocks && !u->tree_changed && !u->anew)
        return CIP_OK;
    for (size_t i = 0; i < u->n; i++)
        CIP_TRY(cip_asdf_update_encode(u, i, err));
    CIP_TRY(CIP_ARENA_NEW(u->arena, &to, p.old, err));
    for (size_t i = 0; i < p.old; i++)
        to[i] = (int64_t)i;
    /* where all blocks move, and may have other numbers already, none is outgrown */
    const size_t n = u->n;
    for (size_t i = 0; i + 1 < p.old && !u->anew; i++)
        CIP_TRY(move_outgrown(u, i, &to[i], err));
    if (u->n != n)
        CIP_TRY(cip_asdf_update_renumber(u, to, p.old, NULL, err));
    p.all.n = u->n;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &p.all.at, u->n, err));
    CIP_TRY(cip_asdf_text_of(u->f, u->arena, &head, &p.text, err));
    p.crlf = cip_asdf_is_crlf(head);
    if (u->tree_changed) {
        CIP_TRY(cip_yaml_edit_flush(u->tree, err));
        p.text = cip_yaml_edit_text(u->tree);
    }
    /* Over half of somebody's bytes the text is not written: the rest could be read as more of it.
     * Nor does it come to end at such, which could be taken for a block there. */
    const uint64_t end = u->f->tree_off + p.text.len + (p.text.len != u->f->tree_len);
    CIP_TRY(cip_asdf_update_find_front(u, end, &front, err));
    bool fit = front == UINT64_MAX && fits(&p);
    return fit ? in_place(&p, blocks, err) : make_anew(&p, head, err);
}
