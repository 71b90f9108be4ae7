/* SPDX-License-Identifier: BSD-3-Clause
 * From block to block: each header says where the next one is expected; where there is none, the
 * next believable one is looked for. */
#include "format/asdf/asdf.h"

#include <string.h>

#include "base/num.h"

static const char index_line[] = "#ASDF BLOCK INDEX";

cip_status cip_asdf_blocks_add(cip_env *env, asdf_blocks *list, const asdf_block *b, cip_err *err)
{
    if (list->n >= env->limits.max_blocks)
        return cip_fail(err, CIP_ERR_LIMIT, b->offset, "more than %" PRIu64 " blocks (max_blocks)",
                        env->limits.max_blocks);
    if (list->n == list->cap) {
        size_t cap = list->cap == 0 ? 8 : list->cap * 2;
        CIP_TRY(cip_mem_resize(&env->mem, (void **)&list->at, cap * sizeof *list->at, err));
        list->cap = cap;
    }
    list->at[list->n++] = *b;
    return CIP_OK;
}

void cip_asdf_blocks_clear(cip_env *env, asdf_blocks *list)
{
    cip_mem_put(&env->mem, list->at);
    *list = (asdf_blocks){ .form = list->form };
}

/* Adds the block whose magic stands at `at`. */
static cip_status take_block(cip_env *env, asdf_window *win, uint64_t at, asdf_walk *w,
                             cip_err *err)
{
    bool near = w->blocks.n == 0 || at - w->blocks.at[w->blocks.n - 1].offset < ASDF_HEAD;
    cip_bytes in;
    asdf_block b;
    CIP_TRY(cip_asdf_peek(win, at, ASDF_HEADER_LEN, near ? ASDF_HEAD : 4096, &in, err));
    const asdf_block_form *form = cip_asdf_blocks_form(&w->blocks);
    if (cip_asdf_block_parse(form, in, at, &b, NULL) != CIP_OK)
        b = (asdf_block){ .form = form, .offset = at };
    cip_asdf_block_judge(&b, win->io->size, NULL); /* its state says what is wrong */
    return cip_asdf_blocks_add(env, &w->blocks, &b, err);
}

static cip_status magic_at(asdf_window *win, uint64_t at, bool *yes, cip_err *err)
{
    cip_bytes in;
    CIP_TRY(cip_asdf_peek(win, at, ASDF_MAGIC_LEN, 4096, &in, err));
    *yes = in.len == ASDF_MAGIC_LEN && memcmp(in.ptr, ASDF_MAGIC, ASDF_MAGIC_LEN) == 0;
    return CIP_OK;
}

/* One that the file's end cuts off counts too: it is no junk. */
static cip_status index_at(asdf_window *win, uint64_t at, bool *yes, cip_err *err)
{
    size_t n = sizeof index_line - 1;
    cip_bytes in;
    CIP_TRY(cip_asdf_peek(win, at, n, 4096, &in, err));
    *yes = in.len != 0 && memcmp(in.ptr, index_line, in.len) == 0;
    return CIP_OK;
}

/* Whether there are only NULs from `from` to the end of the file. */
static cip_status only_nuls(cip_io *io, uint64_t from, bool *yes, cip_err *err)
{
    uint8_t buf[4096];
    *yes = true;
    while (*yes && from < io->size) {
        size_t n;
        CIP_TRY(cip_io_read_some(io, from, buf, sizeof buf, &n, err));
        *yes = buf[0] == 0 && memcmp(buf, buf + 1, n - 1) == 0;
        from += n;
    }
    return CIP_OK;
}

/* Where the next block starts, `end` being where it is expected; UINT64_MAX: there is none. */
static cip_status next_block(asdf_window *win, asdf_walk *w, uint64_t end, uint64_t *next,
                             cip_err *err)
{
    bool yes;
    *next = UINT64_MAX;
    if (end >= win->io->size)
        return CIP_OK;
    CIP_TRY(magic_at(win, end, &yes, err));
    if (yes) {
        *next = end;
        return CIP_OK;
    }
    CIP_TRY(index_at(win, end, &w->index_at_end, err));
    if (w->index_at_end)
        return CIP_OK;
    CIP_TRY(cip_asdf_block_search(win->io, end, cip_asdf_believe_form,
                                  cip_asdf_blocks_form(&w->blocks), next, err));
    if (w->blocks.n == 0 || w->gap == NULL)
        return CIP_OK;
    if (*next == UINT64_MAX)
        CIP_TRY(only_nuls(win->io, end, &yes, err));
    if (!yes)
        w->gap(w->user, end, *next == UINT64_MAX ? win->io->size : *next, *next);
    return CIP_OK;
}

cip_status cip_asdf_walk(cip_env *env, asdf_window *win, uint64_t from, asdf_walk *w, cip_err *err)
{
    w->end = from;
    for (;;) {
        uint64_t next;
        CIP_TRY(next_block(win, w, w->end, &next, err));
        if (next == UINT64_MAX)
            return CIP_OK;
        CIP_TRY(take_block(env, win, next, w, err));
        w->end = w->blocks.at[w->blocks.n - 1].end;
    }
}
