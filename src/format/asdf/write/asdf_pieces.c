/* SPDX-License-Identifier: BSD-3-Clause
 * A file put together anew from its text and its blocks, as a revision: what rewriting, defrag and
 * updates of a tree that has outgrown its room share. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/asdf/asdf.h"
#include "io/revision_out.h"

enum {
    SLACK_LEAST = 4 << 10, /* room behind a tree, or a quarter of it */
    TEXT_MAX = 256 << 20
};

uint64_t cip_asdf_slack(int64_t slack, uint64_t n)
{
    if (slack != 0)
        return slack < 0 ? 0 : (uint64_t)slack;
    return cip_max_u64(SLACK_LEAST, n / 4);
}

/* --- what a file has -------------------------------------------------------------------------- */

/* Bytes behind the known fields, but for zeros at their end, which only align: in the early forms a
 * header that is not of its form's own size keeps the size it had, as a smaller one may be another
 * form's. */
static cip_status read_extra(const asdf_file *f, const asdf_block *b, cip_arena *a, cip_bytes *out,
                             cip_err *err)
{
    uint16_t fields = b->form->header_size;
    size_t n = b->header_size > fields ? (size_t)b->header_size - fields : 0;
    uint8_t *p;
    CIP_TRY(cip_arena_get(a, n, (void **)&p, err));
    CIP_TRY(cip_io_read(f->layout->io, b->offset + cip_asdf_header_len(b->form), p, n, err));
    size_t used = n;
    while (used != 0 && p[used - 1] == 0)
        used--;
    *out = (cip_bytes){ p, used == 0 || b->form == &cip_asdf_form_1_0 ? used : n };
    return CIP_OK;
}

uint64_t cip_asdf_room(const asdf_file *f, const asdf_block *b)
{
    const asdf_block *next = b + 1;
    uint64_t end = f->layout->io->size;
    if (next < f->blocks.at + f->blocks.n)
        end = cip_min_u64(end, next->offset);
    const uint64_t there = end - cip_min_u64(b->data_off, end);
    return cip_max_u64(cip_min_u64(b->allocated, there), b->stored);
}

cip_status cip_asdf_piece_of(const asdf_file *f, size_t i, cip_arena *a, asdf_piece *out,
                             cip_err *err)
{
    const asdf_block *b = &f->blocks.at[i];
    cip_bytes extra;
    CIP_TRY(cip_asdf_check_number(f, i, err));
    if (b->state != CIP_OK)
        return cip_fail(err, b->state, b->offset,
                        "expected undamaged blocks, found block %zu damaged; see cip_verify", i);
    if (b->shifted && f->layout->block[i].data == NULL) /* what is its header, and what not? */
        return cip_fail(err, CIP_ERR_CORRUPT, b->offset,
                        "expected blocks that end where the next one starts, found block %zu, "
                        "which does not and cannot be decoded",
                        i);
    CIP_TRY(read_extra(f, b, a, &extra, err));
    *out = (asdf_piece){ .head = *b, .extra = extra, .io = f->layout->io };
    out->head.allocated = cip_asdf_room(f, b);
    out->head.used = b->stored;
    out->head.data_size = cip_asdf_is_raw(b) ? b->stored : b->data_size;
    return CIP_OK;
}

static const char marker[] = "\n...\n";

/* With room for an end marker behind it. */
static cip_status read_text(const asdf_file *f, uint64_t off, uint64_t n, cip_arena *a,
                            cip_bytes *out, cip_err *err)
{
    uint8_t *p;
    if (n > TEXT_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, off, "expected less text before the blocks");
    CIP_TRY(cip_arena_get(a, (size_t)n + sizeof marker, (void **)&p, err));
    CIP_TRY(cip_io_read(f->layout->io, off, p, (size_t)n, err));
    *out = (cip_bytes){ p, (size_t)n };
    return CIP_OK;
}

cip_status cip_asdf_text_of(const asdf_file *f, cip_arena *a, cip_bytes *head, cip_bytes *tree,
                            cip_err *err)
{
    cip_bytes h, t = { (const uint8_t *)"", 0 };
    uint64_t nhead = f->has_tree ? f->tree_off : f->blocks_from;
    size_t end;
    CIP_TRY(read_text(f, 0, nhead, a, &h, err));
    if (!f->has_tree && h.len != 0 && h.ptr[h.len - 1] != '\n') /* what follows is another line */
        ((uint8_t *)(uintptr_t)h.ptr)[h.len++] = '\n';
    if (f->has_tree) {
        CIP_TRY(read_text(f, f->tree_off, f->tree_len, a, &t, err));
        if (cip_asdf_tree_end(t, 0, true, &end) == ASDF_END_UNMARKED) {
            size_t skip = t.len != 0 && t.ptr[t.len - 1] == '\n' ? 1 : 0;
            memcpy((uint8_t *)(uintptr_t)t.ptr + t.len, marker + skip, sizeof marker - 1 - skip);
            t.len += sizeof marker - 1 - skip;
        }
    }
    *head = h;
    *tree = t;
    return CIP_OK;
}

/* --- putting it together ---------------------------------------------------------------------- */

size_t cip_asdf_header_bytes(const asdf_block *b, uint16_t header_size,
                             uint8_t out[ASDF_HEADER_LEN])
{
    const asdf_block_form *form = cip_asdf_form_of(b);
    memset(out, 0, ASDF_HEADER_LEN);
    memcpy(out, ASDF_MAGIC, ASDF_MAGIC_LEN);
    cip_store_u16(out + 4, header_size, true);
    cip_store_u32(out + form->flags, b->flags, true);
    if (form->code != 0)
        memcpy(out + form->code, b->code, sizeof b->code);
    if (form->encoding != 0)
        memcpy(out + form->encoding, b->encoding, sizeof b->encoding);
    if ((b->flags & ASDF_STREAMED) == 0) {
        cip_store_u64(out + form->allocated, b->allocated, true);
        cip_store_u64(out + form->used, b->used, true);
        if (form->data_size != 0)
            cip_store_u64(out + form->data_size, b->data_size, true);
        memcpy(out + form->checksum, b->checksum, form->checksum_len);
    }
    return cip_asdf_header_len(form);
}

cip_status cip_asdf_put_index(const asdf_blocks *list, bool crlf, cip_mem *mem, cip_out *out,
                              cip_err *err)
{
    const char *eol = crlf ? "\r\n" : "\n";
    cip_buf text = { .mem = mem };
    cip_status st = CIP_OK;
    if (list->n == 0)
        return CIP_OK;
    CIP_GO(cip_buf_addf(&text, err, ASDF_INDEX_LINE "%s%%YAML 1.1%s---%s", eol, eol, eol));
    for (size_t i = 0; i < list->n; i++)
        CIP_GO(cip_buf_addf(&text, err, "- %" PRIu64 "%s", list->at[i].offset, eol));
    CIP_GO(cip_buf_addf(&text, err, "...%s", eol));
    st = cip_out_write(out, text.ptr, text.len, err);
done:
    cip_buf_clear(&text);
    return st;
}

cip_status cip_asdf_put_header(asdf_block *b, cip_bytes extra, uint64_t align, cip_out *out,
                               cip_err *err)
{
    const asdf_block_form *form = cip_asdf_form_of(b);
    const uint64_t end = out->n + cip_asdf_header_len(form) + extra.len,
                   pad = cip_asdf_pad(end, align), size = form->header_size + extra.len + pad;
    uint8_t head[ASDF_HEADER_LEN];
    if (size > UINT16_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected an alignment that a header of 65535 bytes can give");
    b->offset = out->n;
    b->header_size = (uint16_t)size;
    CIP_TRY(cip_out_write(out, head, cip_asdf_header_bytes(b, b->header_size, head), err));
    CIP_TRY(cip_out_write(out, extra.ptr, extra.len, err));
    return cip_out_fill(out, 0, pad, err);
}

cip_status cip_asdf_put_block(const asdf_piece *b, uint64_t align, cip_out *out, asdf_block *as,
                              cip_err *err)
{
    const asdf_block *h = &b->head;
    const cip_segment first = { .io = b->io, .off = h->data_off, .len = h->used - b->more.len };
    const bool room = (h->flags & ASDF_STREAMED) == 0 && h->allocated > h->used;
    const cip_segment zeros = { .len = room ? h->allocated - h->used : 0 };
    *as = *h;
    CIP_TRY(cip_asdf_put_header(as, b->extra, align, out, err));
    as->data_off = out->n;
    CIP_TRY(cip_out_segment(out, &first, err));
    CIP_TRY(cip_out_segment(out, &b->more, err));
    return cip_out_segment(out, &zeros, err);
}

/* A header that can be believed behind room, where it is searched for. */
static bool is_plain(const asdf_block *b)
{
    bool printable = true;
    for (size_t i = 0; i < sizeof b->code; i++)
        printable = printable && (b->code[i] == 0 || (b->code[i] >= 0x20 && b->code[i] < 0x7f));
    return printable && (b->flags & ~cip_asdf_form_of(b)->known_flags) == 0;
}

/* Head, tree, and spaces up to where the first block starts. */
static cip_status put_text(const asdf_pieces *p, uint64_t align, cip_out *out, cip_err *err)
{
    CIP_TRY(cip_out_write(out, p->head.ptr, p->head.len, err));
    CIP_TRY(cip_out_write(out, p->tree.ptr, p->tree.len, err));
    bool open = p->tree.len != 0 && p->tree.ptr[p->tree.len - 1] != '\n';
    if (open && p->n != 0)
        CIP_TRY(cip_out_write(out, p->crlf ? "\r\n" : "\n", p->crlf ? 2 : 1, err));
    if (p->n == 0 || p->tree.len == 0 || p->slack < 0 || !is_plain(&p->block[0].head))
        return CIP_OK;
    cip_segment room = { .off = ' ', .len = cip_asdf_slack(p->slack, p->tree.len) };
    size_t header = cip_asdf_header_len(cip_asdf_form_of(&p->block[0].head));
    room.len += cip_asdf_pad(out->n + room.len + header + p->block[0].extra.len, align);
    return cip_out_segment(out, &room, err);
}

cip_status cip_asdf_align_check(uint64_t align, cip_err *err)
{
    if (align > (1 << 15))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected an alignment of at most %d, found %" PRIu64, 1 << 15, align);
    return CIP_OK;
}

cip_status cip_asdf_put_pieces(cip_env *env, const asdf_pieces *p, cip_out *out, cip_err *err)
{
    cip_status st;
    asdf_blocks list = { .n = p->n };
    const uint64_t align = p->align != 0 ? p->align : ASDF_ALIGN;
    CIP_TRY(cip_asdf_align_check(p->align, err));
    if (p->align > 1 && p->n != 0 && p->early)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected no alignment for blocks of ASDF 0.1, because the header length "
                        "tells their layout; found %" PRIu64,
                        p->align);
    CIP_TRY(CIP_NEW(&env->mem, &list.at, p->n, err));
    CIP_GO(put_text(p, align, out, err));
    for (size_t i = 0; i < p->n; i++) {
        const asdf_block *b = &p->block[i].head;
        /* the length of the header tells the layout, so that no byte may be added */
        const bool exact = p->early && (cip_asdf_form_of(b) != &cip_asdf_form_1_0 || !is_plain(b));
        CIP_GO(cip_asdf_put_block(&p->block[i], exact ? 1 : align, out, &list.at[i], err));
    }
    if (p->n != 0 && (p->block[p->n - 1].head.flags & ASDF_STREAMED) == 0 &&
        cip_asdf_form_of(&p->block[0].head) == &cip_asdf_form_1_0)
        CIP_GO(cip_asdf_put_index(&list, p->crlf, &env->mem, out, err));
done:
    cip_mem_put(&env->mem, list.at);
    return st;
}
