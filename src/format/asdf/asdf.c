/* SPDX-License-Identifier: BSD-3-Clause
 * ASDF 1.x, reading: the order in which a file is taken apart. Header and tree come with the first
 * read; the index at the end, when it can be trusted, saves walking from block to block. */
#include "format/asdf/asdf.h"

#include <string.h>

#include "base/num.h"
#include "format/asdf/asdf_store.h"
#include "format/asdf/write/asdf_write.h"

static int probe(cip_io *io, cip_bytes head)
{
    (void)io;
    return cip_asdf_is_header(head, NULL) ? 100 : 0;
}

/* --- blocks --------------------------------------------------------------------------------- */

/* Where the first block is: right behind the tree, or where a header can be believed. */
static cip_status find_first(asdf_file *f, cip_window *w, uint64_t *first, cip_err *err)
{
    cip_bytes in;
    *first = UINT64_MAX;
    if (f->blocks_from >= f->layout->io->size)
        return CIP_OK;
    CIP_TRY(cip_window_peek(w, f->blocks_from, ASDF_MAGIC_LEN, ASDF_HEADER_LEN, &in, err));
    if (in.len == ASDF_MAGIC_LEN && memcmp(in.ptr, ASDF_MAGIC, ASDF_MAGIC_LEN) == 0) {
        *first = f->blocks_from;
        return CIP_OK;
    }
    bool early = cip_asdf_is_early(f->header.file);
    asdf_search search = { .layout = f->layout,
                           .believe = early ? cip_asdf_believe_early : cip_asdf_believe_marked,
                           .user = &cip_asdf_form_1_0,
                           .left = ASDF_SEARCH_MAX };
    return cip_asdf_block_search(&search, f->blocks_from, first, err);
}

/* Bytes that mean nothing to us, between two blocks or behind the last. */
static void meet_gap(void *user, uint64_t from, uint64_t to, uint64_t next)
{
    asdf_file *f = user;
    bool before_index = f->index.state != ASDF_INDEX_NONE && f->index.at >= from;
    f->has_gaps = f->has_gaps || next != UINT64_MAX;
    if (next == UINT64_MAX && !before_index)
        cip_warn_lack(f->env, CIP_LACKS_BYTES, NULL, CIP_ERR_CORRUPT, from, "blocks",
                      "expected a block, an index or the end of the file, found %" PRIu64
                      " other bytes",
                      to - from);
}

/* Bytes between tree and first block may be padding, or a block whose header is gone: what is not
 * blank is compared with what arrays ask for. */
static cip_status look_at_padding(asdf_file *f, cip_window *w, uint64_t first, cip_err *err)
{
    static const char blank[] = " \t\r\n"; /* and the NUL */
    cip_bytes in;
    if (first - f->blocks_from < cip_asdf_header_len(f->blocks.form))
        return CIP_OK;
    size_t n = (size_t)cip_min_u64(first - f->blocks_from, ASDF_HEAD);
    CIP_TRY(cip_window_peek(w, f->blocks_from, n, 0, &in, err));
    for (size_t i = 0; i < in.len; i++) {
        if (memchr(blank, in.ptr[i], sizeof blank) != NULL)
            continue;
        f->odd_padding = true;
        f->binary_padding = f->binary_padding || in.ptr[i] < 0x20 || in.ptr[i] > 0x7e;
    }
    return CIP_OK;
}

/* An index was not found from the end of the file, but stands where the blocks end: whether more
 * than padding follows it. */
static cip_status look_behind_index(asdf_file *f, cip_window *w, cip_err *err)
{
    enum { MOST = 1 << 20 };
    const uint64_t left = f->layout->io->size - f->blocks_end;
    const size_t line = sizeof ASDF_INDEX_LINE - 1;
    cip_bytes in;
    size_t end;
    if (left <= line)
        return CIP_OK;
    CIP_TRY(cip_window_peek(w, f->blocks_end, (size_t)cip_min_u64(left, MOST), 0, &in, err));
    const asdf_end how = cip_asdf_tree_end(in, line, in.len == left, &end);
    if (how == ASDF_END_UNSEEN)
        return CIP_OK;
    if (how == ASDF_END_UNMARKED)
        end = line + cip_asdf_index_span((cip_bytes){ in.ptr + line, in.len - line });
    while (end < in.len && in.ptr[end] == 0)
        end++;
    if (end < in.len)
        cip_warn_lack(f->env, CIP_LACKS_BYTES, NULL, CIP_ERR_CORRUPT, f->blocks_end + end,
                      "block index",
                      "expected the end of the file after the block index, found %" PRIu64
                      " other bytes; the index was not used",
                      left - end);
    return CIP_OK;
}

static cip_status walk_blocks(asdf_file *f, cip_window *w, cip_err *err)
{
    asdf_walk walk = {
        .blocks.form = f->blocks.form, .index_at = f->index.at, .gap = meet_gap, .user = f
    };
    cip_status st = cip_asdf_walk(f->env, w, f->blocks_from, &walk, err);
    f->blocks = walk.blocks; /* freed with the file, whatever happened */
    f->blocks_end = walk.end;
    f->sure = walk.doubtful ? walk.sure : walk.blocks.n;
    f->no_last = walk.skipped;
    if (st != CIP_OK)
        return st;
    if (walk.stopped != 0)
        cip_warn_lack(f->env, CIP_LACKS_BYTES, NULL, CIP_ERR_LIMIT, walk.stopped, "blocks",
                      "searched %" PRIu64 " MiB for the next block; the rest is not searched",
                      ASDF_SEARCH_MAX >> 20);
    if (f->index.at < f->blocks_end) { /* text in a block's data */
        cip_asdf_index_clear(f->env, &f->index);
        f->index.state = ASDF_INDEX_NONE;
    }
    if (walk.index_at_end && f->index.state == ASDF_INDEX_NONE)
        CIP_TRY(look_behind_index(f, w, err));
    if (f->blocks.n != 0)
        CIP_TRY(look_at_padding(f, w, f->blocks.at[0].offset, err));
    if (f->sure < f->blocks.n)
        cip_warn(f->env, CIP_ERR_CORRUPT, f->blocks.at[f->sure].offset, "blocks",
                 "found %zu blocks after other bytes that may hold a lost block, and no valid "
                 "index: the numbers of these blocks are unknown",
                 f->blocks.n - f->sure);
    return CIP_OK;
}

/* `tail`: a window for the end of the file, the same as `w` for small files. */
static cip_status read_blocks(asdf_file *f, cip_window *w, cip_window *tail, cip_err *err)
{
    uint64_t first;
    bool sure = true;
    CIP_TRY(find_first(f, w, &first, err));
    f->blocks_end = f->blocks_from;
    f->blocks.form = &cip_asdf_form_1_0;
    if (f->blocks_from >= f->layout->io->size)
        return CIP_OK;
    if (cip_asdf_is_early(f->header.file) && first != UINT64_MAX)
        CIP_TRY(cip_asdf_form_find(w, first, &f->blocks.form, &sure, err));
    f->form_unsure = !sure;
    CIP_TRY(cip_asdf_index_find(f->env, tail, f->blocks_from, &f->index, err));
    CIP_TRY(cip_asdf_index_check(w, f->blocks_from, first, &f->index, &f->blocks, err));
    if (f->index.state != ASDF_INDEX_GOOD)
        return walk_blocks(f, w, err);
    f->blocks_end = f->index.at;
    f->sure = f->blocks.n;
    return CIP_OK;
}

cip_status cip_asdf_check_numbers(const asdf_file *f, cip_err *err)
{
    for (size_t i = 0; i < f->blocks.n; i++) {
        const asdf_block *b = &f->blocks.at[i];
        const cip_block *cb = &f->layout->block[i];
        const char *damage = b->lie;
        /* also where only its payload's place is in doubt: the same header says something else once
         * other bytes follow the block */
        if (damage == NULL && b->shifted && cb->info.state == CIP_ERR_CORRUPT)
            damage = cb->why->text;
        if (damage != NULL)
            return cip_fail(err, CIP_ERR_CORRUPT, b->offset,
                            "a file with a damaged block header is not changed (block %zu): %s", i,
                            damage);
    }
    if (f->form_unsure && f->blocks.n != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, f->blocks.at[0].offset,
                        "a file of ASDF 0.1 whose blocks may not have layout %s is not changed: "
                        "their ends do not match any layout",
                        f->blocks.form->name);
    if (f->sure < f->blocks.n)
        return cip_asdf_check_number(f, f->sure, err);
    return CIP_OK;
}

/* --- opening -------------------------------------------------------------------------------- */

static void clear(cip_layout *l)
{
    asdf_file *f = cip_asdf_of(l);
    cip_asdf_blocks_clear(f->env, &f->blocks);
    cip_asdf_index_clear(f->env, &f->index);
}

cip_status cip_asdf_new_state(cip_layout *l, asdf_file **out, cip_err *err)
{
    CIP_TRY(CIP_ARENA_NEW(&l->arena, out, 1, err));
    asdf_file *f = *out;
    f->layout = l;
    f->env = l->env;
    l->own = f;
    l->clear = clear;
    l->format = cip_format_asdf.name;
    return CIP_OK;
}

cip_status cip_asdf_open(cip_layout *l, uint32_t parts, cip_err *err)
{
    asdf_file *f;
    CIP_TRY(cip_asdf_new_state(l, &f, err));
    cip_window head = { .layout = l, .in = l->file }, tail = { .layout = l, .in = l->file };
    bool small = l->io->size <= ASDF_HEAD;
    cip_status st;
    CIP_GO(cip_asdf_text_read(f, &head, parts, err));
    l->version = f->header.version;
    CIP_GO(read_blocks(f, &head, small ? &head : &tail, err));
    CIP_GO(cip_asdf_make_blocks(f, err));
    if ((parts & ASDF_OPEN_ARRAYS) != 0) {
        CIP_GO(cip_asdf_list_arrays(f, err));
        st = cip_asdf_facts(f, err);
    }
done:
    cip_window_clear(&head);
    cip_window_clear(&tail);
    return st;
}

static cip_status open_file(cip_layout *l, cip_err *err)
{
    return cip_asdf_open(l, ASDF_OPEN_TREE | ASDF_OPEN_ARRAYS, err);
}

const cip_format cip_format_asdf = {
    .name = "asdf",
    .title = "ASDF",
    .extensions = "asdf yaml yml",
    .text_extensions = "yaml yml",
    .probe = probe,
    .open = open_file,
    .verify = cip_asdf_verify,
    .store = &cip_asdf_store,
    .options = cip_asdf_options,
    .may_rewrite = cip_asdf_may_rewrite,
    .rewrite = cip_asdf_rewrite,
    .explode = cip_asdf_explode,
    .tag_prefix = ASDF_TAGS,
    .origin_keys = "asdf_library history",
    .plain = cip_asdf_plain,
};
