/* SPDX-License-Identifier: BSD-3-Clause
 * The index of an updated frame: entries of chunks that stay, and places of those that come. */
#include <stdlib.h>

#include "base/num.h"
#include "format/blosc2/blosc2_update.h"

static cip_status add_chunk(cip_b2_places *p, const cip_segment *bytes, cip_err *err)
{
    CIP_TRY(CIP_ROOM(p->mem, &p->chunk, p->n, &p->cap, err));
    uint64_t at = p->end;
    if (p->numbered)
        at = cip_b2_sparse_next(p);
    else if (cip_b2_holes_take(&p->holes, 0, bytes->len, &at))
        p->filled = cip_max_u64(p->filled, at + bytes->len);
    else
        p->end += bytes->len;
    p->chunk[p->n++] = (cip_b2_new_chunk){ .bytes = *bytes, .at = at };
    return cip_b2_entries_add(&p->entries, at, 1, err);
}

/* A chunk that stays; it lies elsewhere where all are packed. */
static cip_status keep_chunk(cip_b2_state *u, cip_b2_places *p, uint64_t i, cip_err *err)
{
    cip_b2_index *x = (cip_b2_index *)&u->f->index;
    cip_b2_entry e;
    cip_blosc_head head;
    cip_chunk c = { .run = 1 };
    CIP_TRY(cip_b2_index_entry(x, i, &e, err));
    if (e.special != CIP_BLOSC_NOT_SPECIAL)
        return cip_b2_entries_add(&p->entries, (uint64_t)(0x80 | e.special) << 56, 1, err);
    if (!u->packs)
        return cip_b2_entries_add(&p->entries, e.at, 1, err);
    CIP_TRY(cip_b2_index_head(x, i, &e, &head, &c, err));
    return add_chunk(p, &(cip_segment){ .io = u->l->io, .off = c.at.off, .len = c.at.len }, err);
}

/* An offset beyond what the frame holds could name bytes that come: so each is looked at. */
static cip_status keep_chunks(cip_b2_state *u, cip_b2_places *p, uint64_t from, uint64_t n,
                              cip_err *err)
{
    for (uint64_t i = from; i < from + n; i++)
        CIP_TRY(keep_chunk(u, p, i, err));
    return CIP_OK;
}

static cip_status add_new(cip_b2_state *u, cip_b2_places *p, const cip_chunk_now *now, cip_err *err)
{
    const cip_chunk *c = &now->chunk;
    uint8_t head[CIP_BLOSC_HEADER];
    if (c->state == CIP_CHUNK_VALUE) {
        /* A chunk of a value lies in the frame for each of them, so that each can be replaced. */
        cip_buf bytes = { .mem = &u->env->mem };
        char *copy = NULL;
        cip_status st =
            cip_b2_value_write(&bytes, &u->how.blosc, c->value_len, c->value, c->raw_len, err);
        if (st == CIP_OK)
            st = cip_arena_copy(u->arena, (const char *)bytes.ptr, bytes.len, &copy, err);
        const cip_segment one = { .ptr = (const uint8_t *)copy, .len = bytes.len };
        for (uint64_t k = 0; st == CIP_OK && k < now->run; k++)
            st = add_chunk(p, &one, err);
        cip_buf_clear(&bytes);
        return st;
    }
    if (c->state == CIP_CHUNK_DATA && c->at.len == sizeof head)
        CIP_TRY(cip_io_read(c->at.in->io, c->at.off, head, sizeof head, err));
    const uint64_t special = cip_b2_special_entry(c->state, head, c->at.len);
    if (special != 0)
        return cip_b2_entries_add(&p->entries, special, now->run, err);
    return add_chunk(p, &(cip_segment){ .io = c->at.in->io, .off = c->at.off, .len = c->at.len },
                     err);
}

cip_status cip_b2_places_find(cip_b2_state *u, cip_b2_places *p, cip_err *err)
{
    if (u->c == NULL)
        return keep_chunks(u, p, 0, u->f->index.n, err);
    for (uint64_t i = 0; i < u->how.nchunk;) {
        cip_chunk_now now;
        cip_chunk_changes_at(u->c, i, &now);
        if (now.from != UINT64_MAX)
            CIP_TRY(keep_chunks(u, p, now.from, now.run, err));
        else
            CIP_TRY(add_new(u, p, &now, err));
        i += now.run;
    }
    return CIP_OK;
}

static int by_place(const void *a, const void *b)
{
    const uint64_t x = ((const cip_b2_new_chunk *)a)->at, y = ((const cip_b2_new_chunk *)b)->at;
    return (x > y) - (x < y);
}

void cip_b2_places_sort(cip_b2_places *p)
{
    if (p->n != 0)
        qsort(p->chunk, p->n, sizeof *p->chunk, by_place);
}

void cip_b2_places_clear(cip_b2_places *p)
{
    cip_buf_clear(&p->entries);
    cip_buf_clear(&p->used);
    cip_b2_holes_clear(&p->holes);
    cip_mem_put(p->mem, p->chunk);
}
