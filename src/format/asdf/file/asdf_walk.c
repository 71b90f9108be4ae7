/* SPDX-License-Identifier: BSD-3-Clause
 * From block to block: each header says where the next one is expected. Where there is none, a
 * header lies or a block is lost, and every block behind it would be taken for another. So it is
 * tried first which field, if it alone is wrong, makes the block end where something starts; then
 * whether the bytes up to the next believable header are a block but for its magic; and where
 * neither explains them, and a block could have been there, the numbers from there on are doubtful
 * (what reads by number refuses those). */
#include "format/asdf/asdf.h"

#include <string.h>

#include "base/num.h"

static const char index_line[] = ASDF_INDEX_LINE;

cip_status cip_asdf_blocks_add(cip_env *env, asdf_blocks *list, uint64_t most, const asdf_block *b,
                               cip_err *err)
{
    if (list->n >= most)
        return cip_fail(err, CIP_ERR_LIMIT, b->offset, "more than %" PRIu64 " blocks (max_blocks)",
                        most);
    CIP_TRY(CIP_ROOM(&env->mem, &list->at, list->n, &list->cap, err));
    list->at[list->n++] = *b;
    return CIP_OK;
}

void cip_asdf_blocks_clear(cip_env *env, asdf_blocks *list)
{
    cip_mem_put(&env->mem, list->at);
    *list = (asdf_blocks){ .form = list->form };
}

/* One step's state. */
typedef struct walker {
    cip_env *env;
    cip_window *win;
    asdf_walk *w;
    const asdf_block_form *form;
    asdf_search search;
} walker;

static asdf_block *last_block(const walker *x)
{
    return x->w->blocks.n != 0 ? &x->w->blocks.at[x->w->blocks.n - 1] : NULL;
}

/* Marks the header of a block of the list as damaged. */
static void lies(const walker *x, asdf_block *b, const char *why)
{
    b->lie = why;
    cip_asdf_block_judge(b, x->win->layout->io->size, NULL);
}

static void doubt(asdf_walk *w)
{
    w->sure = w->doubtful && w->sure < w->blocks.n ? w->sure : w->blocks.n;
    w->doubtful = true;
}

/* Nothing tells where the payload of a streamed block starts but its header_size: what a larger one
 * skips are zeros for alignment, or data. */
static cip_status check_stream(const walker *x, asdf_block *b, cip_err *err)
{
    const size_t least = cip_asdf_header_len(x->form);
    cip_bytes in;
    if (b->state != CIP_OK || !cip_asdf_is_streamed(b) || b->data_off == b->offset + least)
        return CIP_OK;
    CIP_TRY(cip_window_peek(x->win, b->offset + least, (size_t)(b->data_off - b->offset) - least, 0,
                            &in, err));
    for (size_t i = 0; i < in.len && b->lie == NULL; i++)
        if (in.ptr[i] != 0)
            lies(x, b,
                 "expected zeros after the header of a streamed block, found other bytes: its "
                 "header_size may be wrong");
    return CIP_OK;
}

/* Adds the block whose header is expected at `at`. */
static cip_status take_block(walker *x, uint64_t at, bool marked, cip_err *err)
{
    const asdf_block *last = last_block(x);
    bool near = last == NULL || at - last->offset < ASDF_HEAD;
    cip_bytes in;
    asdf_block b;
    CIP_TRY(cip_window_peek(x->win, at, ASDF_HEADER_LEN, near ? ASDF_HEAD : 4096, &in, err));
    if (cip_asdf_block_parse(x->form, in, at, &b, NULL) != CIP_OK)
        b = (asdf_block){ .form = x->form, .offset = at };
    if (!marked)
        b.lie = "expected the magic bytes of a block, found other bytes before a header and its "
                "payload";
    cip_asdf_block_judge(&b, x->win->layout->io->size, NULL); /* its state says what is wrong */
    CIP_TRY(check_stream(x, &b, err));
    return cip_asdf_blocks_add(x->env, &x->w->blocks, x->env->limits.max_blocks, &b, err);
}

/* --- what stands somewhere -------------------------------------------------------------------- */

typedef enum standing {
    STANDS_OTHER,
    STANDS_BLOCK, /* a magic */
    STANDS_INDEX, /* the header line of an index; one that the file's end cuts off counts too */
    STANDS_END    /* the file's end */
} standing;

/* `believable`: a magic alone is not enough. */
static cip_status look(const walker *x, uint64_t at, bool believable, standing *out, cip_err *err)
{
    const size_t nline = sizeof index_line - 1;
    cip_io *io = x->win->layout->io;
    cip_bytes in;
    *out = at == io->size ? STANDS_END : STANDS_OTHER;
    if (at >= io->size)
        return CIP_OK;
    CIP_TRY(cip_window_peek(x->win, at, ASDF_HEADER_LEN, 4096, &in, err));
    if (in.len >= ASDF_MAGIC_LEN && memcmp(in.ptr, ASDF_MAGIC, ASDF_MAGIC_LEN) == 0)
        *out =
            !believable || cip_asdf_believe_form(x->form, io, in, at) ? STANDS_BLOCK : STANDS_OTHER;
    else if (memcmp(in.ptr, index_line, in.len < nline ? in.len : nline) == 0)
        *out = STANDS_INDEX;
    return CIP_OK;
}

/* Whether there are only the bytes of `set` from `from` to the end of the file, as far as it may be
 * read. */
static cip_status only_of(walker *x, cip_bytes set, uint64_t from, bool *yes, cip_err *err)
{
    uint8_t buf[4096];
    cip_io *io = x->win->layout->io;
    *yes = true;
    while (*yes && from < io->size) {
        size_t n;
        CIP_TRY(cip_space_read_some(x->win->layout, x->win->layout->file, from, buf, sizeof buf, &n,
                                    err));
        const bool alike = memcmp(buf, buf + 1, n - 1) == 0; /* as much padding is */
        for (size_t i = 0; *yes && i < (alike ? 1 : n); i++)
            *yes = memchr(set.ptr, buf[i], set.len) != NULL;
        from = cip_io_next_data(io, from + n);
        if (x->search.left < n) {
            x->search.stopped = from;
            return CIP_OK;
        }
        x->search.left -= n;
    }
    return CIP_OK;
}

/* --- one wrong field -------------------------------------------------------------------------- */

/* A place where the last block ends if one of its fields is wrong. */
typedef struct ending {
    uint64_t from, len;
    const char *lie; /* said of the block; NULL: its data are as good as they were */
} ending;

static const char stray_flag[] =
    "expected no streamed flag on a block that is followed by another block or an index";
static const char wrong_size[] = "expected a header_size that makes the block end where the next "
                                 "one starts, found a different one";

/* The last block does not end where something starts: whether it does with one field corrected.
 * *end stays as it is otherwise. */
static cip_status other_end(const walker *x, uint64_t *end, standing *out, cip_err *err)
{
    asdf_block *b = last_block(x);
    const uint64_t size = x->win->layout->io->size, least = cip_asdf_header_len(x->form);
    const bool streamed = cip_asdf_is_streamed(b), known = b->lie != NULL;
    b->shifted = b->state == CIP_OK && !streamed && b->header_size > b->form->header_size;
    const ending sized = { b->offset + 6 + b->header_size, b->allocated, stray_flag };
    const ending try[] = {
        streamed ? sized : (ending){ b->data_off, b->used, b->lie },
        { b->offset + least, b->allocated, wrong_size },
    };
    *out = STANDS_OTHER;
    if (streamed && (b->used == 0 || b->used > b->allocated))
        return CIP_OK;
    for (size_t i = 0; i < (streamed ? 1u : 2u); i++) {
        if (try[i].from > size || try[i].len > size - try[i].from)
            continue;
        uint64_t at = try[i].from + try[i].len;
        CIP_TRY(look(x, at, true, out, err));
        if (*out == STANDS_BLOCK || (*out == STANDS_INDEX && at == x->w->index_at)) {
            *end = at;
            if (try[i].lie != NULL && !known && b->state != CIP_ERR_CORRUPT)
                lies(x, b, try[i].lie);
            return CIP_OK;
        }
        *out = STANDS_OTHER;
    }
    return CIP_OK;
}

/* Data that are not compressed have their length in the header twice. Where the used size is the
 * larger of the two and something starts where the data_size ends, the used size is the damage. If
 * something starts where that ends, too, nobody can tell which of them is the next. */
static cip_status check_used(const walker *x, uint64_t *end, standing *there, cip_err *err)
{
    asdf_block *b = last_block(x);
    const uint64_t size = x->win->layout->io->size;
    standing sooner;
    if (b == NULL || b->lie != NULL || cip_asdf_is_streamed(b) || !cip_asdf_is_raw(b) ||
        b->header_size < b->form->header_size || b->data_size >= b->used || b->data_off > size ||
        b->data_size > size - b->data_off)
        return CIP_OK;
    const uint64_t at = b->data_off + b->data_size;
    const bool fits = b->state == CIP_OK && *there != STANDS_OTHER;
    if (at == *end)
        return CIP_OK;
    CIP_TRY(look(x, at, true, &sooner, err));
    if (sooner != STANDS_BLOCK && (sooner != STANDS_INDEX || at != x->w->index_at))
        return CIP_OK;
    lies(x, b, cip_asdf_used_lies);
    x->w->skipped = x->w->skipped || fits;
    if (fits && *there != STANDS_END) {
        doubt(x->w);
        return CIP_OK;
    }
    *end = at;
    *there = sooner;
    return CIP_OK;
}

/* A size that is too large may make a block end at the header behind the next one: then a
 * believable header stands between the least end of the block and the one that it says. */
static cip_status check_skipped(const walker *x, uint64_t end, cip_err *err)
{
    enum { MOST = 64 << 10 }; /* free space may be large, and is not read through */
    asdf_block *b = last_block(x);
    const size_t least = cip_asdf_header_len(x->form);
    cip_bytes in;
    if (b == NULL || b->state != CIP_OK || cip_asdf_is_streamed(b))
        return CIP_OK;
    uint64_t from = b->offset + least + b->used;
    if (end - from < least)
        return CIP_OK;
    CIP_TRY(cip_window_peek(x->win, from, (size_t)cip_min_u64(end - from, MOST), 0, &in, err));
    for (const uint8_t *p = in.ptr, *stop = in.ptr + in.len;
         (p = cip_asdf_find_magic(p, stop)) != NULL; p++) {
        cip_bytes head = { p, (size_t)(stop - p) };
        if (!cip_asdf_believe_form(x->form, x->win->layout->io, head,
                                   from + (uint64_t)(p - in.ptr)))
            continue;
        if (b->header_size > b->form->header_size)
            lies(
                x, b,
                "expected no block between the header of this block and the next block, found one");
        x->w->skipped = true;
        doubt(x->w);
        return CIP_OK;
    }
    return CIP_OK;
}

/* --- bytes in between ------------------------------------------------------------------------- */

/* Looks in [from, to) for a block that is whole but for its magic: a header that can be believed
 * and that ends the block at `to`. UINT64_MAX: there is none. */
static cip_status find_unmarked(const walker *x, uint64_t from, uint64_t to, uint64_t *at,
                                cip_err *err)
{
    enum { MOST = 64 << 10 };
    const size_t least = cip_asdf_header_len(x->form);
    cip_bytes in;
    *at = UINT64_MAX;
    if (to - from < least)
        return CIP_OK;
    CIP_TRY(cip_window_peek(x->win, from, (size_t)cip_min_u64(to - from, MOST), 0, &in, err));
    for (size_t i = 0; in.len - i >= least; i++) {
        asdf_block b;
        cip_bytes head = { in.ptr + i, in.len - i };
        cip_asdf_block_parse(x->form, head, from + i, &b, NULL);
        if (b.header_size < x->form->header_size ||
            !cip_asdf_block_plausible(&b, x->win->layout->io->size))
            continue;
        cip_asdf_block_judge(&b, x->win->layout->io->size, NULL);
        if (b.end == to && b.end_sure && b.state == CIP_OK) {
            *at = from + i;
            return CIP_OK;
        }
    }
    return CIP_OK;
}

/* No block follows: bytes that are no padding are told. Behind a tree that is any blank, behind a
 * block only NULs. */
static cip_status tell_rest(walker *x, uint64_t from, uint64_t to, cip_err *err)
{
    static const uint8_t blank[] = { 0, ' ', '\t', '\r', '\n' };
    const asdf_block *b = last_block(x);
    asdf_walk *w = x->w;
    bool padding;
    CIP_TRY(only_of(x, (cip_bytes){ blank, b != NULL ? 1 : sizeof blank }, from, &padding, err));
    if (padding)
        return CIP_OK;
    w->skipped = w->skipped || (b != NULL && to - from >= cip_asdf_header_len(x->form));
    if (w->gap != NULL && to > from)
        w->gap(w->user, from, x->win->layout->io->size, UINT64_MAX);
    return CIP_OK;
}

/* Nothing starts at `end`: what does behind it. */
static cip_status search(walker *x, uint64_t end, uint64_t *next, bool *marked, cip_err *err)
{
    asdf_walk *w = x->w;
    cip_io *io = x->win->layout->io;
    asdf_block *b = last_block(x);
    /* where the last block ends at the earliest: with a header as short as can be, and no free
     * space */
    const uint64_t from = b == NULL || b->state != CIP_OK
                              ? end
                              : b->offset + cip_asdf_header_len(x->form) + b->stored;
    uint64_t unmarked;
    CIP_TRY(cip_asdf_block_search(&x->search, from, next, err));
    bool found = *next != UINT64_MAX;
    uint64_t to = found ? *next : w->index_at > from ? w->index_at : io->size;
    CIP_TRY(find_unmarked(x, from, to, &unmarked, err));
    if (unmarked != UINT64_MAX) {
        *next = to = unmarked;
        *marked = false;
    }
    if (b != NULL && *next != UINT64_MAX && to - from >= cip_asdf_header_len(x->form)) {
        /* Where all that says where the block ends is as most writers have it, none of it is likely
         * to lie: other bytes behind such a block are a gap. */
        w->skipped = w->skipped || b->state != CIP_OK || b->allocated != b->used ||
                     b->header_size != b->form->header_size;
        doubt(w);
    }
    if (b != NULL) {
        uint64_t off = to > b->end ? to - b->end : b->end - to;
        b->shifted = b->state == CIP_OK && off != 0 && off <= UINT16_MAX;
    }
    if (*next == UINT64_MAX)
        return tell_rest(x, from, to, err);
    if (b != NULL && w->gap != NULL && to > from)
        w->gap(w->user, from, *next, *next);
    return CIP_OK;
}

/* Where the next block starts, `end` being where it is expected; UINT64_MAX: there is none. */
static cip_status next_block(walker *x, uint64_t end, uint64_t *next, bool *marked, cip_err *err)
{
    const asdf_block *b = last_block(x);
    standing there;
    *next = UINT64_MAX;
    *marked = true;
    CIP_TRY(look(x, end, false, &there, err));
    CIP_TRY(check_used(x, &end, &there, err));
    bool in_order = b == NULL || (b->end_sure && b->state == CIP_OK && !cip_asdf_is_streamed(b));
    if (there == STANDS_OTHER || (there == STANDS_END && !in_order)) {
        standing better = STANDS_OTHER;
        if (b != NULL)
            CIP_TRY(other_end(x, &end, &better, err));
        there = better != STANDS_OTHER ? better : there;
    }
    if (there != STANDS_OTHER)
        CIP_TRY(check_skipped(x, end, err));
    x->w->end = end;
    x->w->index_at_end = there == STANDS_INDEX;
    if (there == STANDS_BLOCK)
        *next = end;
    return there == STANDS_OTHER ? search(x, end, next, marked, err) : CIP_OK;
}

cip_status cip_asdf_walk(cip_env *env, cip_window *win, uint64_t from, asdf_walk *w, cip_err *err)
{
    walker x = { env, win, w, cip_asdf_blocks_form(&w->blocks), { .left = ASDF_SEARCH_MAX } };
    x.search.layout = win->layout;
    x.search.believe = cip_asdf_believe_marked;
    x.search.user = x.form;
    w->end = from;
    for (;;) {
        uint64_t next;
        bool marked;
        CIP_TRY(next_block(&x, w->end, &next, &marked, err));
        w->stopped = x.search.stopped;
        if (next == UINT64_MAX)
            return CIP_OK;
        CIP_TRY(take_block(&x, next, marked, err));
        w->end = last_block(&x)->end;
    }
}
