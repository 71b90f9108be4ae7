/* SPDX-License-Identifier: BSD-3-Clause
 * The block index: found from the end of the file, and used only when it passes the checks that the
 * document asks for and a few more. All headers it lists are read in one batch, so that a wrong
 * entry in the middle is found when the file is opened, not when it is used. */
#include "format/asdf/asdf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "tree/yaml.h"

static const char header_line[] = ASDF_INDEX_LINE;

enum {
    TAIL = 4096,        /* read first: some 400 entries */
    NULS_MAX = 1 << 20, /* looked through for the text before them */
    BATCH = 1024        /* headers read at once */
};

static void bad(asdf_index *x, const char *fmt, ...) CIP_PRINTF(2, 3);
static void bad(asdf_index *x, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(x->why, sizeof x->why, fmt, ap);
    va_end(ap);
    x->state = ASDF_INDEX_BAD;
}

/* --- finding -------------------------------------------------------------------------------- */

/* Where the NULs at the end of the file start (or how far they were looked through, at most to
 * `low`), in pieces that grow, as data may end in NULs too. */
static cip_status end_of_text(cip_window *w, uint64_t low, uint64_t *end, cip_err *err)
{
    uint64_t size = w->layout->io->size, at = size, piece = TAIL;
    while (at > low && size - at < NULS_MAX) {
        uint64_t from = at - low > piece ? at - piece : low;
        cip_bytes in;
        CIP_TRY(cip_window_peek(w, from, (size_t)(at - from), 0, &in, err));
        size_t n = in.len;
        while (n > 0 && in.ptr[n - 1] == 0)
            n--;
        at = from + n;
        if (n != 0)
            break;
        piece *= 4;
    }
    *end = at;
    return CIP_OK;
}

/* What a list of offsets consists of: anything else in a longer piece says that it is none. */
size_t cip_asdf_index_span(cip_bytes t)
{
    static const char allowed[] = "0123456789-,[]. \t\r\n%YAML";
    size_t i = 0;
    while (i < t.len && memchr(allowed, t.ptr[i], sizeof allowed - 1) != NULL)
        i++;
    return i;
}

/* The last header line in the text, at the start or behind any byte; SIZE_MAX: none. */
static size_t last_header_line(cip_bytes t)
{
    size_t n = sizeof header_line - 1;
    for (size_t i = t.len >= n ? t.len - n + 1 : 0; i-- > 0;) {
        if (t.ptr[i] != '#' || memcmp(t.ptr + i, header_line, n) != 0)
            continue;
        size_t k = i + n;
        if (k < t.len &&
            (t.ptr[k] == '\n' || (t.ptr[k] == '\r' && k + 1 < t.len && t.ptr[k + 1] == '\n')))
            return i;
    }
    return SIZE_MAX;
}

typedef struct span {
    uint64_t low, end;
} span;

/* Finds the text [*at, end) in the span; *text is borrowed from the window. Empty: there is none.
 */
static cip_status find_text(cip_env *env, cip_window *w, span in, uint64_t *at, cip_bytes *text,
                            cip_err *err)
{
    uint64_t want = TAIL, end = in.end;
    for (;;) {
        uint64_t from = end - in.low > want ? end - want : in.low;
        CIP_TRY(cip_window_peek(w, from, (size_t)(end - from), 0, text, err));
        size_t i = last_header_line(*text);
        if (i != SIZE_MAX) {
            *at = from + i;
            *text = (cip_bytes){ text->ptr + i, text->len - i };
            return CIP_OK;
        }
        if (from == in.low || want >= env->limits.max_tree_bytes ||
            cip_asdf_index_span(*text) < text->len)
            break;
        want *= 4;
    }
    text->len = 0;
    return CIP_OK;
}

/* --- parsing -------------------------------------------------------------------------------- */

static cip_status parse(cip_env *env, cip_bytes text, asdf_index *x, cip_err *err)
{
    cip_arena arena = { .mem = &env->mem };
    const cip_yaml_options opt = { .base = x->at, .part = "block index", .quiet = true };
    const cip_node *list = NULL;
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_yaml_parse(env, &arena, text, &opt, &list, &why);
    if (st == CIP_OK && cip_node_kind(list) != CIP_NODE_SEQ) {
        bad(x, "expected a list of offsets");
    } else if (st == CIP_OK) {
        st = CIP_NEW(&env->mem, &x->entry, list->len, err);
        for (x->n = 0; st == CIP_OK && x->n < list->len && x->state == ASDF_INDEX_GOOD; x->n++)
            if (!cip_node_as_uint(list->item[x->n], &x->entry[x->n]))
                bad(x, "expected an offset as entry %zu", x->n);
        if (st != CIP_OK || x->state != ASDF_INDEX_GOOD)
            cip_asdf_index_clear(env, x);
    } else if (st == CIP_ERR_CORRUPT || st == CIP_ERR_LIMIT || st == CIP_ERR_UNSUPPORTED ||
               st == CIP_ERR_TRUNCATED || st == CIP_ERR_FORMAT) { /* of the content */
        bad(x, "expected a list of offsets, found text that cannot be parsed: %.90s", why.text);
        st = CIP_OK;
    } else if (err != NULL) {
        cip_err_pass(err, &why);
    }
    cip_arena_clear(&arena);
    return st;
}

cip_status cip_asdf_index_find(cip_env *env, cip_window *w, uint64_t low, asdf_index *out,
                               cip_err *err)
{
    span in = { .low = low };
    uint64_t at = 0;
    cip_bytes text;
    *out = (asdf_index){ 0 };
    CIP_TRY(end_of_text(w, low, &in.end, err));
    CIP_TRY(find_text(env, w, in, &at, &text, err));
    if (text.len == 0)
        return CIP_OK;
    asdf_index x = { .state = ASDF_INDEX_GOOD, .at = at, .len = text.len };
    CIP_TRY(parse(env, text, &x, err));
    *out = x;
    return CIP_OK;
}

void cip_asdf_index_clear(cip_env *env, asdf_index *x)
{
    cip_mem_put(&env->mem, x->entry);
    x->entry = NULL;
    x->n = 0;
}

/* --- checking -------------------------------------------------------------------------------
 * What has to hold: the entries rise, far enough apart, and start where the blocks do. Then each
 * header is read. One that is damaged is the block's fault as long as those around it are where the
 * index says, since then entry i is block i and only that block is lost. A header that stands where
 * a block ends and is not listed, or an entry within the payload of a sound block, is the index's
 * fault: it is out of date, and no entry is believed. */

/* Without looking at the blocks: rising, far enough apart, first and last. */
static bool check_numbers(asdf_index *x, uint64_t low, uint64_t first, const asdf_block_form *form)
{
    size_t least = cip_asdf_header_len(form);
    if (x->state != ASDF_INDEX_GOOD)
        return false;
    if (x->n == 0)
        bad(x, "expected at least one entry");
    else if (x->entry[0] > first || x->entry[0] < low)
        bad(x, "expected %" PRIu64 ", the start of the first block, found %" PRIu64, first,
            x->entry[0]);
    for (size_t i = 1; i < x->n && x->state == ASDF_INDEX_GOOD; i++)
        if (x->entry[i] <= x->entry[i - 1] || x->entry[i] - x->entry[i - 1] < least)
            bad(x, "expected entry %zu to be at least %zu after %" PRIu64 ", found %" PRIu64, i,
                least, x->entry[i - 1], x->entry[i]);
    if (x->state == ASDF_INDEX_GOOD && x->entry[x->n - 1] >= x->at)
        bad(x, "expected the last entry to be before the index, found %" PRIu64,
            x->entry[x->n - 1]);
    return x->state == ASDF_INDEX_GOOD;
}

/* Where what follows block i starts. */
static uint64_t behind(const asdf_index *x, size_t i)
{
    return i + 1 < x->n ? x->entry[i + 1] : x->at;
}

static const char no_magic[] =
    "expected the magic bytes of a block where the index lists one, found other bytes";

/* Takes the block of entry i, of the form that *b has. A streamed block ends with the file and has
 * no index behind it: where its sizes fit all the same, its flag is the damage. */
static void take_header(asdf_index *x, size_t i, const uint8_t *raw, const cip_window *w,
                        asdf_block *b)
{
    cip_bytes in = { raw, ASDF_HEADER_LEN };
    if (cip_asdf_block_parse(b->form, in, x->entry[i], b, NULL) != CIP_OK)
        *b = (asdf_block){ .form = b->form, .offset = x->entry[i] };
    if (memcmp(raw, ASDF_MAGIC, ASDF_MAGIC_LEN) != 0)
        b->lie = no_magic;
    else if (cip_asdf_is_streamed(b)) {
        asdf_block sized = *b;
        sized.flags &= ~(uint32_t)ASDF_STREAMED;
        if (cip_asdf_block_judge(&sized, w->layout->io->size, NULL) == CIP_OK &&
            sized.end == behind(x, i))
            b->lie = "expected no streamed flag on a block that is followed by another block or an "
                     "index";
        else
            bad(x, "expected no streamed block at entry %zu", i);
    }
    cip_asdf_block_judge(b, w->layout->io->size, NULL);
}

static bool has_magic(const asdf_block *b)
{
    return b->lie != no_magic;
}

/* Whether sound block i ends where the next one may start. Behind its used bytes the list is
 * believed before an allocated size that reaches too far; but a block that stands where this one
 * ends and is not listed makes the list wrong. */
static cip_status check_end(cip_window *w, asdf_index *x, const asdf_blocks *list, size_t i,
                            cip_err *err)
{
    asdf_block *b = &list->at[i];
    const bool last = i + 1 == x->n;
    cip_bytes in;
    uint64_t next = behind(x, i);
    if (b->state != CIP_OK || b->end == next)
        return CIP_OK;
    if (last || (b->data_off + b->stored > next && !has_magic(&list->at[i + 1]))) {
        bad(x, "expected block %zu to end at %" PRIu64 ", found its end at %" PRIu64, i, next,
            b->end);
        return CIP_OK;
    }
    if (b->data_off + b->stored > next) {
        b->lie = "expected a block that ends where the index lists the next one, found one that "
                 "overlaps it";
        cip_asdf_block_judge(b, w->layout->io->size, NULL);
        return CIP_OK;
    }
    b->shifted = (b->end > next ? b->end - next : next - b->end) <= UINT16_MAX;
    CIP_TRY(cip_window_peek(w, b->end, ASDF_MAGIC_LEN, TAIL, &in, err));
    if (b->end < next && in.len == ASDF_MAGIC_LEN &&
        memcmp(in.ptr, ASDF_MAGIC, ASDF_MAGIC_LEN) == 0)
        bad(x, "expected the block at %" PRIu64 " to be listed", b->end);
    return CIP_OK;
}

/* All blocks against each other, once their headers are known. Where a magic is missing, the block
 * before has to end just there, and half of the blocks at least have to be where the index says. */
static cip_status check_all(cip_window *w, asdf_index *x, const asdf_blocks *list, cip_err *err)
{
    size_t found = 0;
    for (size_t i = 0; i < x->n && x->state == ASDF_INDEX_GOOD; i++) {
        const asdf_block *before = i != 0 ? &list->at[i - 1] : NULL;
        CIP_TRY(check_end(w, x, list, i, err));
        found += has_magic(&list->at[i]);
        if (!has_magic(&list->at[i]) && before != NULL && before->state == CIP_OK &&
            before->end != x->entry[i])
            bad(x, "expected a block at %" PRIu64 ", where entry %zu points", x->entry[i], i);
    }
    if (x->state == ASDF_INDEX_GOOD && found < x->n - found)
        bad(x, "expected blocks where the entries point, found %zu of %zu", found, x->n);
    return CIP_OK;
}

static cip_status read_batch(cip_window *w, asdf_index *x, size_t i, asdf_blocks *list,
                             cip_err *err)
{
    cip_env *env = w->layout->env;
    size_t n = x->n - i < BATCH ? x->n - i : BATCH;
    cip_status st = CIP_OK;
    uint8_t *raw = NULL;
    cip_range *range = NULL;
    CIP_GO(CIP_NEW(&env->mem, &raw, n * ASDF_HEADER_LEN, err));
    CIP_GO(CIP_NEW(&env->mem, &range, n, err));
    for (size_t k = 0; k < n; k++)
        range[k] = (cip_range){ x->entry[i + k], ASDF_HEADER_LEN, raw + k * ASDF_HEADER_LEN };
    if ((range[n - 1].offset - range[0].offset + ASDF_HEADER_LEN) / n > TAIL)
        CIP_GO(cip_io_read_ranges(w->layout->io, range, n, err));
    else
        for (size_t k = 0; k < n; k++) { /* close together: read as one piece */
            cip_bytes in;
            CIP_GO(cip_window_peek(w, range[k].offset, ASDF_HEADER_LEN, ASDF_HEAD, &in, err));
            memcpy(range[k].dst, in.ptr, in.len);
        }
    for (size_t k = 0; k < n && x->state == ASDF_INDEX_GOOD; k++) {
        asdf_block b = { .form = cip_asdf_blocks_form(list) };
        take_header(x, i + k, raw + k * ASDF_HEADER_LEN, w, &b);
        CIP_GO(cip_asdf_blocks_add(env, list, env->limits.max_blocks, &b, err));
    }
done:
    cip_mem_put(&env->mem, raw);
    cip_mem_put(&env->mem, range);
    return st;
}

cip_status cip_asdf_index_check(cip_window *w, uint64_t low, uint64_t first, asdf_index *x,
                                asdf_blocks *list, cip_err *err)
{
    if (x->state == ASDF_INDEX_NONE)
        return CIP_OK;
    cip_status st = CIP_OK;
    if (check_numbers(x, low, first, cip_asdf_blocks_form(list))) {
        for (size_t i = 0; i < x->n && st == CIP_OK && x->state == ASDF_INDEX_GOOD; i += BATCH)
            st = read_batch(w, x, i, list, err);
        if (st == CIP_OK && x->state == ASDF_INDEX_GOOD)
            st = check_all(w, x, list, err);
    }
    if (st != CIP_OK || x->state != ASDF_INDEX_GOOD)
        cip_asdf_blocks_clear(w->layout->env, list);
    return st;
}
