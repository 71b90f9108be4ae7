/* SPDX-License-Identifier: BSD-3-Clause
 * The text of a file: its header, and the tree up to the end marker. The end is looked for while
 * the text is read, in pieces, and nothing behind it is given to the YAML parser. */
#include "format/asdf/asdf.h"

#include <string.h>

#include "base/num.h"
#include "tree/yaml.h"

/* What follows "\n..." on its line: nothing (1), blanks or a comment (2), or something else, so
 * that it is no end marker (0). -1: the bytes end too early to tell. */
static int marker_kind(cip_bytes t, size_t i, bool whole, size_t *end)
{
    size_t k = i;
    while (k < t.len && (t.ptr[k] == ' ' || t.ptr[k] == '\t'))
        k++;
    if (k < t.len && k > i && t.ptr[k] == '#') {
        const uint8_t *nl = memchr(t.ptr + k, '\n', t.len - k);
        k = nl != NULL ? (size_t)(nl - t.ptr) : t.len;
    }
    if (k == t.len) {
        *end = k;
        return whole ? (k > i ? 2 : 1) : -1;
    }
    bool crlf = t.ptr[k] == '\r' && k + 1 < t.len && t.ptr[k + 1] == '\n';
    if (t.ptr[k] == '\r' && k + 1 == t.len) {
        *end = t.len;
        return whole ? 2 : -1;
    }
    if (t.ptr[k] != '\n' && !crlf)
        return 0;
    *end = k + (crlf ? 2 : 1);
    return k > i ? 2 : 1;
}

/* The next "\n..." at or behind `pos`; t.len when there is none. */
static size_t next_dots(cip_bytes t, size_t pos)
{
    const uint8_t *p = pos < t.len ? memmem(t.ptr + pos, t.len - pos, "\n...", 4) : NULL;
    return p != NULL ? (size_t)(p - t.ptr) : t.len;
}

asdf_end cip_asdf_tree_end(cip_bytes text, size_t from, bool whole, size_t *end)
{
    const uint8_t *magic = memmem(text.ptr + from, text.len - from, ASDF_MAGIC, ASDF_MAGIC_LEN);
    /* A magic is no UTF-8, so no text reaches beyond it. */
    cip_bytes t = { text.ptr, magic != NULL ? (size_t)(magic - text.ptr) : text.len };
    whole = whole || magic != NULL;
    for (size_t i = next_dots(t, from); i < t.len; i = next_dots(t, i + 1)) {
        int kind = marker_kind(t, i + 4, whole, end);
        if (kind < 0)
            return ASDF_END_UNSEEN;
        if (kind > 0)
            return kind == 1 ? ASDF_END_MARKED : ASDF_END_BLANKS;
    }
    if (!whole)
        return ASDF_END_UNSEEN;
    *end = t.len;
    return ASDF_END_UNMARKED;
}

/* --- reading the text ----------------------------------------------------------------------- */

/* The first bytes of the file, growing as they are needed. */
typedef struct growing {
    cip_env *env;
    cip_layout *layout;
    cip_buf buf;
    cip_bytes text; /* of the window at first, of buf from then on */
} growing;

static bool is_whole(const growing *g)
{
    return g->text.len >= g->layout->io->size;
}

/* Twice as much, at most `max` bytes; LIMIT when that is reached. */
static cip_status grow(growing *g, uint64_t max, const char *what, cip_err *err)
{
    size_t have = g->text.len, got;
    uint64_t more = cip_min_u64(cip_max_u64(have, ASDF_HEAD), max > have ? max - have : 0);
    uint8_t *at;
    if (more == 0)
        return cip_fail(err, CIP_ERR_LIMIT, have,
                        "expected the end of the %s within %" PRIu64 " bytes", what, max);
    if (g->buf.len == 0)
        CIP_TRY(cip_buf_add(&g->buf, g->text.ptr, g->text.len, err));
    CIP_TRY(cip_buf_reserve(&g->buf, (size_t)more, &at, err));
    CIP_TRY(cip_space_read_some(g->layout, g->layout->file, have, at, (size_t)more, &got, err));
    g->buf.len += got;
    g->text = (cip_bytes){ g->buf.ptr, g->buf.len };
    return CIP_OK;
}

/* Finds the end of the tree; *how says what stands there. */
static cip_status find_end(asdf_file *f, growing *g, asdf_end *how, cip_err *err)
{
    uint64_t start = f->header.at, max;
    size_t from = (size_t)start, end;
    if (cip_add_overflow(start, f->env->limits.max_tree_bytes, &max))
        max = UINT64_MAX;
    while ((*how = cip_asdf_tree_end(g->text, from, is_whole(g), &end)) == ASDF_END_UNSEEN) {
        /* What was looked through is not looked at again, but for a marker across the border. */
        const uint8_t *last = memrchr(g->text.ptr + from, '\n', g->text.len - from);
        size_t again = last != NULL ? (size_t)(last - g->text.ptr) : g->text.len - 3;
        from = (size_t)cip_max_u64(again, from);
        CIP_TRY(grow(g, max, "tree", err));
    }
    f->has_tree = true;
    f->tree_off = start;
    f->tree_len = end - start;
    f->blocks_from = end;
    if (f->tree_len > f->env->limits.max_tree_bytes)
        return cip_fail(err, CIP_ERR_LIMIT, start, "a tree of %" PRIu64 " bytes (max_tree_bytes)",
                        f->tree_len);
    return CIP_OK;
}

const cip_yaml_options cip_asdf_tree_options = { .default_handle = ASDF_TAGS,
                                                 .part = "tree",
                                                 .quiet = true };

static cip_status parse_tree(asdf_file *f, cip_bytes text, cip_err *err)
{
    cip_layout *l = f->layout;
    const cip_yaml_options opt = { .default_handle = ASDF_TAGS,
                                   .base = f->tree_off,
                                   .part = "tree" };
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_yaml_parse(f->env, &l->arena, text, &opt, &l->tree, &why);
    if (st == CIP_ERR_CORRUPT && (l->flags & CIP_OPEN_FORCE) != 0) {
        cip_warn_lack(f->env, CIP_LACKS_NODE, NULL, st, why.offset, "tree",
                      "%s; only the blocks are shown", why.text);
        return CIP_OK;
    }
    if (st != CIP_OK)
        cip_err_pass(err, &why);
    const cip_node_type type = cip_node_kind(l->tree);
    const bool usual = type == CIP_NODE_MAP || type == CIP_NODE_NULL || type == CIP_NODE_NONE ||
                       (type == CIP_NODE_STRING && l->tree->len == 0); /* or an empty document */
    if (st == CIP_OK && !usual)
        cip_warn(f->env, CIP_ERR_TYPE, f->tree_off, "tree", "expected a mapping as the tree");
    return st;
}

cip_status cip_asdf_text_read(asdf_file *f, cip_window *w, uint32_t parts, cip_err *err)
{
    growing g = { .env = f->env, .layout = f->layout, .buf = { .mem = &f->env->mem } };
    cip_status st;
    asdf_end how;
    CIP_GO(cip_window_peek(w, 0, ASDF_HEAD, 0, &g.text, err));
    do {
        if (f->header.found == ASDF_MORE)
            CIP_GO(grow(&g, ASDF_PREAMBLE_MAX, "comments before the tree", err));
        CIP_GO(cip_asdf_header_read(f->layout, g.text, is_whole(&g), &f->header, err));
    } while (f->header.found == ASDF_MORE);
    f->blocks_from = f->header.at;
    if (f->header.found == ASDF_NOTHING)
        f->blocks_from = f->layout->io->size;
    if (f->header.found != ASDF_TREE)
        goto done;
    CIP_GO(find_end(f, &g, &how, err));
    if (how == ASDF_END_BLANKS)
        cip_warn(f->env, CIP_ERR_CORRUPT, f->blocks_from, "tree",
                 "expected only '...' on the line that ends the tree, found more");
    if (how == ASDF_END_UNMARKED)
        cip_warn(f->env, CIP_ERR_TRUNCATED, f->blocks_from, "tree",
                 "expected '...' at the end of the tree, found %s",
                 f->blocks_from < f->layout->io->size ? "a block" : "the end of the file");
    if ((parts & ASDF_OPEN_TREE) != 0) {
        cip_bytes text = { g.text.ptr + f->tree_off, (size_t)f->tree_len };
        CIP_GO(parse_tree(f, text, err));
    }
done:
    cip_buf_clear(&g.buf);
    return st;
}
