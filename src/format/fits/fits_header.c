/* SPDX-License-Identifier: BSD-3-Clause
 * A header as a mapping: cards of one keyword are joined to a list, strings over several cards to
 * one, and comments stand in a mapping of their own. */
#include <stdio.h>
#include <string.h>

#include "base/strmap.h"
#include "format/fits/fits.h"
#include "space/read/window.h"
#include "tree/node.h"

typedef struct value {
    const cip_node *node;
    struct value *next;
} value;

/* A keyword and what its cards say, in their order. */
typedef struct entry {
    cip_bytes key;
    value *first, *last;
    uint32_t n;
    bool commentary; /* a card of it has no value */
    cip_bytes comment;
} entry;

typedef struct reader {
    cip_layout *layout;
    cip_strmap by_key;
    entry *entry;
    size_t n, cap;
    value *open;        /* a string that CONTINUE may go on with; NULL: none */
    size_t open_entry;  /* whose it is */
    cip_buf text, more; /* it and its comment so far */
} reader;

/* --- cards ------------------------------------------------------------------------------------ */

/* A keyword's bytes that cannot be read are shown as "?". */
static cip_status new_key(cip_arena *a, cip_bytes key, cip_bytes *out, cip_err *err)
{
    char *copy;
    CIP_TRY(cip_arena_copy(a, key.ptr, key.len, &copy, err));
    for (size_t i = 0; i < key.len; i++)
        if (copy[i] < 0x20 || copy[i] > 0x7e)
            copy[i] = '?';
    *out = (cip_bytes){ (const uint8_t *)copy, key.len };
    return CIP_OK;
}

static cip_status text_node(cip_arena *a, cip_bytes t, cip_node **out, cip_err *err)
{
    cip_buf utf8 = { .mem = a->mem };
    cip_status st = CIP_OK;
    for (size_t i = 0; i < t.len && st == CIP_OK; i++) { /* Latin-1, as in values */
        const uint8_t two[2] = { (uint8_t)(0xc0 | t.ptr[i] >> 6),
                                 (uint8_t)(0x80 | (t.ptr[i] & 0x3f)) };
        st = t.ptr[i] < 0x80 ? cip_buf_add(&utf8, t.ptr + i, 1, err)
                             : cip_buf_add(&utf8, two, 2, err);
    }
    if (st == CIP_OK)
        st = cip_node_new_string(a, (const char *)utf8.ptr, utf8.len, out, err);
    cip_buf_clear(&utf8);
    return st;
}

static cip_status find_entry(reader *r, cip_bytes key, size_t *at, cip_err *err)
{
    cip_arena *a = &r->layout->arena;
    cip_bytes own;
    CIP_TRY(new_key(a, key, &own, err));
    *at = cip_strmap_get(&r->by_key, own);
    if (*at != SIZE_MAX)
        return CIP_OK;
    CIP_TRY(CIP_ROOM(&r->layout->env->mem, &r->entry, r->n, &r->cap, err));
    CIP_TRY(cip_strmap_put(&r->by_key, own, r->n, NULL, err));
    r->entry[r->n] = (entry){ .key = own };
    *at = r->n++;
    return CIP_OK;
}

/* The string that was open has all of its cards; `cut`: its last one still ended with "&". */
static cip_status end_string(reader *r, bool cut, cip_err *err)
{
    cip_arena *a = &r->layout->arena;
    cip_node *node;
    char *comment;
    if (r->open == NULL)
        return CIP_OK;
    if (cut)
        CIP_TRY(cip_buf_puts(&r->text, "&", err));
    CIP_TRY(cip_node_new_string(a, (const char *)r->text.ptr, r->text.len, &node, err));
    CIP_TRY(cip_arena_copy(a, r->more.ptr, r->more.len, &comment, err));
    r->open->node = node;
    if (r->more.len != 0)
        r->entry[r->open_entry].comment = (cip_bytes){ (const uint8_t *)comment, r->more.len };
    r->open = NULL;
    return CIP_OK;
}

static cip_status add_piece(reader *r, const fits_card *c, cip_err *err)
{
    CIP_TRY(cip_buf_add(&r->text, c->value->text, c->value->len - c->continued, err));
    if (c->text.len == 0)
        return CIP_OK;
    if (r->more.len != 0)
        CIP_TRY(cip_buf_puts(&r->more, " ", err));
    return cip_buf_add(&r->more, c->text.ptr, c->text.len, err);
}

static cip_status add_card(reader *r, const fits_card *c, cip_err *err)
{
    cip_arena *a = &r->layout->arena;
    cip_node *text;
    value *v;
    size_t at;
    char *comment;
    if (r->open != NULL && c->continues) {
        CIP_TRY(add_piece(r, c, err));
        return c->continued ? CIP_OK : end_string(r, false, err);
    }
    CIP_TRY(end_string(r, true, err));
    if (c->blank)
        return CIP_OK;
    CIP_TRY(find_entry(r, c->key, &at, err));
    CIP_TRY(CIP_ARENA_NEW(a, &v, 1, err));
    entry *e = &r->entry[at];
    if (c->value == NULL) {
        CIP_TRY(text_node(a, c->text, &text, err));
        v->node = text;
        e->commentary = true;
    } else {
        v->node = c->value;
        if (e->n == 0) {
            CIP_TRY(cip_arena_copy(a, c->text.ptr, c->text.len, &comment, err));
            e->comment = (cip_bytes){ (const uint8_t *)comment, c->text.len };
        }
        if (c->continued && !c->continues) {
            r->open = v;
            r->open_entry = at;
            r->text.len = r->more.len = 0;
            CIP_TRY(add_piece(r, c, err));
        }
    }
    *(e->n == 0 ? &e->first : &e->last->next) = v;
    e->last = v;
    e->n++;
    return CIP_OK;
}

/* --- the mapping ------------------------------------------------------------------------------ */

static cip_status entry_node(cip_arena *a, const entry *e, const cip_node **out, cip_err *err)
{
    cip_node *list;
    *out = e->first->node;
    bool same = !e->commentary;
    for (const value *v = e->first->next; same && v != NULL; v = v->next)
        same = cip_key_equal(v->node, e->first->node);
    if (same) /* also of a card that stands there again, as it is */
        return CIP_OK;
    CIP_TRY(cip_node_new_seq(a, e->n, &list, err));
    size_t i = 0;
    for (const value *v = e->first; v != NULL; v = v->next)
        cip_node_set_item(list, i++, v->node);
    *out = list;
    return CIP_OK;
}

static cip_status make_maps(reader *r, fits_header *out, cip_err *err)
{
    cip_arena *a = &r->layout->arena;
    cip_status st;
    cip_pair *pair = NULL;
    cip_node *map[2] = { NULL, NULL };
    CIP_GO(CIP_NEW(&r->layout->env->mem, &pair, r->n, err));
    for (int k = 0; k < 2; k++) { /* values, comments */
        size_t n = 0;
        for (size_t i = 0; i < r->n; i++) {
            const entry *e = &r->entry[i];
            cip_node *key, *text;
            const cip_node *v;
            if (k == 1 && e->comment.len == 0)
                continue;
            CIP_GO(cip_node_new_string(a, (const char *)e->key.ptr, e->key.len, &key, err));
            if (k == 0) {
                CIP_GO(entry_node(a, e, &v, err));
            } else {
                CIP_GO(text_node(a, e->comment, &text, err));
                v = text;
            }
            pair[n++] = (cip_pair){ key, v };
        }
        if (k == 1 && n == 0)
            break;
        CIP_GO(cip_node_new_map(a, 0, &map[k], err));
        CIP_GO(cip_map_fill(a, map[k], (cip_pairs){ pair, n }, NULL, NULL, err));
    }
    out->map = map[0];
    out->comments = map[1];
    st = CIP_OK;
done:
    cip_mem_put(&r->layout->env->mem, pair);
    return st;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static cip_status read_cards(reader *r, cip_window *w, uint64_t off, fits_header *out, cip_err *err)
{
    const uint64_t most = r->layout->env->limits.max_tree_bytes;
    uint64_t at = off;
    for (bool ended = false; !ended; at += FITS_BLOCK) {
        cip_bytes block;
        CIP_TRY(cip_window_next(w, at, FITS_BLOCK, &block, err));
        if (at - off > most)
            return cip_fail(err, CIP_ERR_LIMIT, off, "a header of over %" PRIu64 " bytes", most);
        /* The last block may lack what pads it. */
        for (size_t i = 0; !ended; i += FITS_CARD) {
            fits_card c;
            if (i == FITS_BLOCK)
                break;
            if (i + FITS_CARD > block.len)
                return cip_fail(err, CIP_ERR_TRUNCATED, at + block.len,
                                "expected the card END, found the end of the file");
            CIP_TRY(cip_fits_card_read(&r->layout->arena, block.ptr + i, &c, err));
            out->ncard++;
            ended = c.end;
            if (!c.end)
                CIP_TRY(add_card(r, &c, err));
        }
    }
    out->off = off;
    out->end = at;
    return end_string(r, true, err);
}

cip_status cip_fits_header_read(cip_layout *l, cip_window *w, uint64_t off, fits_header *out,
                                cip_err *err)
{
    cip_mem *mem = &l->env->mem;
    reader r = {
        .layout = l, .by_key = { .mem = mem }, .text = { .mem = mem }, .more = { .mem = mem }
    };
    *out = (fits_header){ .off = off };
    cip_status st = read_cards(&r, w, off, out, err);
    if (st == CIP_OK)
        st = make_maps(&r, out, err);
    cip_strmap_clear(&r.by_key);
    cip_mem_put(mem, r.entry);
    cip_buf_clear(&r.text);
    cip_buf_clear(&r.more);
    return st;
}

/* --- values ----------------------------------------------------------------------------------- */

const char *cip_fits_nth(char key[16], const char *stem, unsigned n)
{
    snprintf(key, 16, "%s%u", stem, n);
    return key;
}

bool cip_fits_has(const fits_header *h, const char *key)
{
    return cip_map_get(h->map, key) != NULL;
}

static cip_status wrong(const fits_header *h, const char *key, const char *what, cip_err *err)
{
    const cip_node *n = cip_map_get(h->map, key);
    const bool list = n->type == CIP_NODE_SEQ;
    return cip_fail(err, CIP_ERR_CORRUPT, h->off, "%s: expected %s, found %s%.40s%s", key, what,
                    list ? "several values" : "'", list || n->text == NULL ? "" : n->text,
                    list ? "" : "'");
}

cip_status cip_fits_int(const fits_header *h, const char *key, fits_range in, int64_t *out,
                        cip_err *err)
{
    const cip_node *n = cip_map_get(h->map, key);
    int64_t v;
    if (n == NULL)
        return CIP_OK;
    if (!cip_node_as_int(n, &v))
        return wrong(h, key, "an integer", err);
    if (v < in.low || v > in.high)
        return cip_fail(err, CIP_ERR_CORRUPT, h->off,
                        "%s: expected %" PRId64 " to %" PRId64 ", found %" PRId64, key, in.low,
                        in.high, v);
    *out = v;
    return CIP_OK;
}

cip_status cip_fits_real(const fits_header *h, const char *key, double *out, cip_err *err)
{
    const cip_node *n = cip_map_get(h->map, key);
    return n == NULL || cip_node_as_double(n, out) ? CIP_OK : wrong(h, key, "a number", err);
}

cip_status cip_fits_text(const fits_header *h, const char *key, const char **out, cip_err *err)
{
    const cip_node *n = cip_map_get(h->map, key);
    if (n == NULL)
        return CIP_OK;
    if (n->type != CIP_NODE_STRING || strlen(n->text) != n->len)
        return wrong(h, key, "a string", err);
    *out = n->text;
    return CIP_OK;
}

cip_status cip_fits_yes(const fits_header *h, const char *key, bool *out, cip_err *err)
{
    const cip_node *n = cip_map_get(h->map, key);
    if (n == NULL)
        return CIP_OK;
    if (n->type != CIP_NODE_BOOL)
        return wrong(h, key, "T or F", err);
    *out = n->b;
    return CIP_OK;
}
