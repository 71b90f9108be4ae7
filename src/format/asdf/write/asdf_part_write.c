/* SPDX-License-Identifier: BSD-3-Clause
 * One file of the output: text, room, blocks, index; with the tree first where it is known, else
 * with room kept in front of the blocks. */
#include <string.h>

#include "base/num.h"
#include "format/asdf/write/asdf_write.h"
#include "io/temporary.h"

enum {
    RESERVE = 64 << 10,  /* for a tree that comes last */
    MOVE_MOST = 16 << 20 /* blocks up to this are moved to where they would lie otherwise */
};

/* What is missing until the payload of a block at pos is aligned. */
static uint64_t missing(const asdf_part *p, uint64_t pos)
{
    return cip_asdf_pad(pos + cip_asdf_header_len(p->form), p->align);
}

/* Without room behind the tree its last line before the end marker becomes a comment of n bytes. */
static cip_status stretch(cip_buf *text, uint64_t n, cip_err *err)
{
    static const char marker[] = "...\n";
    size_t len = sizeof marker - 1;
    uint8_t *at;
    if (n == 0)
        return CIP_OK;
    text->len -= len;
    CIP_TRY(cip_buf_reserve(text, (size_t)n + len, &at, err));
    memset(at, ' ', (size_t)n);
    at[0] = '#';
    at[n - 1] = '\n';
    memcpy(at + n, marker, len);
    text->len += (size_t)n + len;
    return CIP_OK;
}

/* Where the first block starts: the text is made so long, or *room spaces follow it. */
static cip_status place(const asdf_part *p, cip_buf *text, uint64_t *room, cip_err *err)
{
    uint64_t slack = cip_asdf_slack(p->slack, text->len);
    bool comments = p->form == &cip_asdf_form_1_0;
    *room = 0;
    if (slack != 0) {
        *room = slack + missing(p, text->len + slack);
        return CIP_OK;
    }
    uint64_t n = comments ? missing(p, text->len) : 0;
    return stretch(text, n == 1 ? 1 + p->align : n, err);
}

cip_status cip_asdf_part_text(asdf_part *p, cip_buf *text, bool blocks, cip_err *err)
{
    uint64_t room = 0;
    if (blocks)
        CIP_TRY(place(p, text, &room, err));
    CIP_TRY(cip_out_write(p->out, text->ptr, text->len, err));
    return cip_out_fill(p->out, ' ', room, err);
}

cip_status cip_asdf_part_block(asdf_part *p, cip_err *err)
{
    if (p->streamed)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected nothing after the streamed array");
    if (p->bare)
        *p->out = cip_temporary_out(p->out->user);
    else if (p->out->n == 0) {
        p->reserved = RESERVE + missing(p, RESERVE);
        CIP_TRY(cip_out_fill(p->out, ' ', p->reserved, err));
    }
    return CIP_OK;
}

cip_status cip_asdf_part_late_text(asdf_part *p, cip_buf *text, cip_err *err)
{
    uint64_t room, to;
    if (p->blocks.n == 0)
        return cip_asdf_part_text(p, text, false, err);
    CIP_TRY(place(p, text, &room, err));
    to = text->len + room;
    bool small = p->out->n - p->reserved <= MOVE_MOST;
    if (to != p->reserved && (to > p->reserved || small || p->slack < 0)) {
        CIP_TRY(cip_out_move(p->out, p->reserved, p->out->n - p->reserved, to, err));
        for (size_t i = 0; i < p->blocks.n; i++)
            p->blocks.at[i].offset += to - p->reserved;
        p->reserved = to;
    }
    size_t n = text->len;
    uint8_t *at;
    CIP_TRY(cip_buf_reserve(text, (size_t)(p->reserved - n), &at, err));
    memset(at, ' ', (size_t)(p->reserved - n));
    text->len = (size_t)p->reserved;
    return cip_out_rewrite(p->out, 0, text->ptr, text->len, err);
}

cip_status cip_asdf_part_end(asdf_part *p, cip_err *err)
{
    if (p->streamed || p->form != &cip_asdf_form_1_0)
        return CIP_OK;
    return cip_asdf_put_index(&p->blocks, false, &p->env->mem, p->out, err);
}

void cip_asdf_part_clear(asdf_part *p)
{
    if (p->env != NULL)
        cip_asdf_blocks_clear(p->env, &p->blocks);
}
