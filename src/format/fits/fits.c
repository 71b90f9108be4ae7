/* SPDX-License-Identifier: BSD-3-Clause
 * FITS files: the walk over their headers, and the tree: a mapping for each HDU, by its name. */
#include "format/fits/fits_write.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "base/strmap.h"
#include "format/asdf/asdf.h"
#include "space/read/window.h"
#include "tree/node.h"

static const char first_card[] = "SIMPLE  =";

static int probe(cip_io *io, cip_bytes head)
{
    (void)io;
    const size_t n = sizeof first_card - 1;
    if (head.len < n || memcmp(head.ptr, first_card, n) != 0)
        return 0;
    return head.len >= FITS_CARD + n && memcmp(head.ptr + FITS_CARD, "BITPIX  =", n) == 0 ? 100
                                                                                          : 60;
}

/* --- the walk --------------------------------------------------------------------------------- */

static bool begins(cip_window *w, uint64_t off, const char *card, cip_status *st, cip_err *err)
{
    cip_bytes b;
    *st = cip_window_next(w, off, strlen(card), &b, err);
    return *st == CIP_OK && b.len == strlen(card) && memcmp(b.ptr, card, b.len) == 0;
}

/* What follows the last HDU may be anything ("special records"). A header that begins as one and
 * is none ends the walk, with the reason: what comes before it is sure. */
static cip_status next_hdu(fits_file *f, cip_window *w, bool *more, uint64_t *ncard, cip_err *err)
{
    cip_layout *l = f->layout;
    cip_status st;
    const bool first = f->nhdu == 0;
    *more = false;
    if (!begins(w, f->end, first ? first_card : "XTENSION=", &st, err)) {
        CIP_TRY(st);
        return first ? cip_fail(err, CIP_ERR_FORMAT, 0, "expected the card SIMPLE first") : CIP_OK;
    }
    CIP_TRY(CIP_ARENA_ROOM(&l->arena, &f->hdu, f->nhdu, &f->cap, err));
    fits_hdu *h = &f->hdu[f->nhdu];
    *h = (fits_hdu){ .number = (unsigned)f->nhdu };
    cip_err why = CIP_ERR_INIT;
    st = cip_fits_header_read(l, w, f->end, &h->header, &why);
    if (st == CIP_OK)
        st = cip_fits_hdu_read(l, h, &why);
    if (st != CIP_OK)
        cip_fail_in(&why, st, "HDU %u", h->number);
    if (st != CIP_OK && !first && cip_is_about_content(st)) {
        f->cut_short = why;
        return CIP_OK;
    }
    CIP_TRY(cip_err_give(err, &why, st));
    *ncard += h->header.ncard;
    if (*ncard > l->env->limits.max_nodes / 4)
        return cip_fail(err, CIP_ERR_LIMIT, f->end, "headers of over %" PRIu64 " cards",
                        l->env->limits.max_nodes / 4);
    f->nhdu++;
    f->end = h->data + cip_div_up(h->nbytes, FITS_BLOCK) * FITS_BLOCK;
    *more = f->end < l->io->size;
    return CIP_OK;
}

static cip_status walk(fits_file *f, cip_err *err)
{
    cip_window w = { .layout = f->layout, .in = f->layout->file };
    uint64_t ncard = 0;
    cip_status st = CIP_OK;
    for (bool more = true; more && st == CIP_OK;)
        st = next_hdu(f, &w, &more, &ncard, err);
    cip_window_clear(&w);
    return st;
}

/* --- names ------------------------------------------------------------------------------------ */

/* As astropy compares them: without regard to case. */
static cip_status folded(cip_arena *a, const char *name, int64_t ver, bool with, char **out,
                         cip_err *err)
{
    CIP_TRY(with ? cip_arena_printf(a, out, err, "%s,%" PRId64, name, ver)
                 : cip_arena_printf(a, out, err, "%s", name));
    for (char *p = *out; *p != '\0'; p++)
        *p = *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
    return CIP_OK;
}

/* Counts the name: SIZE_MAX of one that is there twice. */
static cip_status count(cip_strmap *m, const char *name, size_t hdu, cip_err *err)
{
    size_t was;
    const cip_bytes key = { (const uint8_t *)name, strlen(name) };
    CIP_TRY(cip_strmap_put(m, key, hdu, &was, err));
    return was == SIZE_MAX ? CIP_OK : cip_strmap_put(m, key, SIZE_MAX - 1, NULL, err);
}

static bool alone(const cip_strmap *m, const char *name, size_t hdu)
{
    return cip_strmap_get(m, (cip_bytes){ (const uint8_t *)name, strlen(name) }) == hdu;
}

static bool is_number(const char *name)
{
    return name[strspn(name, "0123456789")] == '\0';
}

/* EXTNAME where no other HDU has it, else EXTNAME,EXTVER, else its number. */
static cip_status name_hdus(fits_file *f, cip_err *err)
{
    cip_arena *a = &f->layout->arena;
    cip_strmap seen = { .mem = &f->layout->env->mem };
    cip_status st = CIP_OK;
    char *text;
    if (f->hdu[0].extname == NULL)
        f->hdu[0].extname = "PRIMARY";
    for (size_t i = 0; i < 2 * f->nhdu; i++) { /* names, then names with versions */
        const fits_hdu *h = &f->hdu[i / 2];
        if (h->extname == NULL || is_number(h->extname))
            continue;
        CIP_GO(folded(a, h->extname, h->extver, i % 2 != 0, &text, err));
        CIP_GO(count(&seen, text, i / 2, err));
    }
    for (size_t i = 0; i < f->nhdu; i++) {
        fits_hdu *h = &f->hdu[i];
        char *key, *versioned, *path;
        CIP_GO(cip_arena_printf(a, &key, err, "%u", h->number));
        if (h->extname != NULL && !is_number(h->extname)) {
            CIP_GO(folded(a, h->extname, 0, false, &text, err));
            CIP_GO(folded(a, h->extname, h->extver, true, &versioned, err));
            if (alone(&seen, text, i))
                CIP_GO(cip_arena_printf(a, &key, err, "%s", h->extname));
            else if (alone(&seen, versioned, i))
                CIP_GO(cip_arena_printf(a, &key, err, "%s,%" PRId64, h->extname, h->extver));
        }
        h->key = key;
        cip_buf b = { .mem = &f->layout->env->mem };
        st = cip_path_add(&b, (cip_bytes){ (const uint8_t *)key, strlen(key) }, err);
        if (st == CIP_OK)
            st = cip_arena_copy(a, b.ptr, b.len, &path, err);
        cip_buf_clear(&b);
        CIP_GO(st);
        h->path = path;
    }
done:
    cip_strmap_clear(&seen);
    return st;
}

/* --- the tree --------------------------------------------------------------------------------- */

cip_status cip_fits_array(fits_file *f, const fits_hdu *h, const char *part, const cip_node *node,
                          cip_array **out, cip_err *err)
{
    char *path;
    CIP_TRY(cip_layout_add_array(f->layout, true, out, err));
    CIP_TRY(cip_arena_printf(&f->layout->arena, &path, err, "%s/%s", h->path, part));
    if (node != NULL)
        f->hdu[h->number].array = *out;
    (*out)->layout = f->layout;
    (*out)->path = path;
    (*out)->node = node;
    (*out)->storage = (cip_storage){
        .kind = CIP_STORAGE_CONTIGUOUS, .codec = "none", .nbytes = h->nbytes, .block = -1
    };
    return CIP_OK;
}

cip_status cip_fits_refuse(cip_array *a, const cip_err *why, cip_err *err)
{
    const int64_t none[1] = { 0 };
    if (!cip_is_about_content((cip_status)why->code))
        return cip_err_give(err, why, (cip_status)why->code);
    if (a->dtype == NULL) {
        a->dtype = cip_dtype_fixed(CIP_U8, false);
        CIP_TRY(cip_view_c_order(1, none, 1, &a->view, err));
    }
    cip_array_refuse(a, (cip_status)why->code, why);
    return CIP_OK;
}

cip_status cip_fits_all_there(const fits_file *f, const fits_hdu *h, cip_err *err)
{
    const uint64_t there = cip_bytes_left(f->layout->io->size, h->data);
    if (there >= h->nbytes)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_TRUNCATED, f->layout->io->size,
                    "expected %" PRIu64 " bytes of data at %" PRIu64 ", found %" PRIu64, h->nbytes,
                    h->data, there);
}

static cip_status refuse_whole(fits_file *f, const fits_hdu *h, const cip_node *node, cip_err *err)
{
    cip_array *a;
    cip_err why = CIP_ERR_INIT;
    const char *name = "";
    CIP_TRY(cip_fits_array(f, h, "data", node, &a, err));
    (void)cip_fits_text(&h->header, "XTENSION", &name, NULL);
    if (h->kind == FITS_GROUPS)
        cip_fail(&why, CIP_ERR_UNSUPPORTED, h->data,
                 "random groups, which are not read: expected an image or a table");
    else
        cip_fail(&why, CIP_ERR_UNSUPPORTED, h->data,
                 "XTENSION: expected IMAGE, TABLE or BINTABLE, found '%.40s'", name);
    return cip_fits_refuse(a, &why, err);
}

static cip_status add_data(fits_file *f, const fits_hdu *h, const cip_node *node, cip_err *err)
{
    switch (h->kind) {
    case FITS_IMAGE:
        return cip_fits_image(f, h, node, err);
    case FITS_ASCII:
    case FITS_BINARY:
        return cip_fits_table(f, h, node, err);
    case FITS_TILES:
        return cip_fits_tiles(f, h, node, err);
    default:
        return refuse_whole(f, h, node, err);
    }
}

static cip_status add_hdu(fits_file *f, const fits_hdu *h, cip_pair *pair, cip_err *err)
{
    cip_arena *a = &f->layout->arena;
    cip_node *map, *data = NULL, *key;
    const cip_node *tree = NULL;
    uint64_t asdf;
    size_t n = 0;
    CIP_TRY(cip_fits_has_asdf(f, h, &asdf, err));
    if (asdf != 0)
        CIP_TRY(cip_fits_asdf(f, h, asdf, &tree, err));
    f->has_tree |= tree != NULL;
    const bool has = tree == NULL && (h->nbytes != 0 || h->naxis != 0);
    CIP_TRY(
        cip_node_new_map(a, 1u + (h->header.comments != NULL) + has + (tree != NULL), &map, err));
    CIP_TRY(cip_node_set_key(a, map, n++, "header", h->header.map, err));
    if (h->header.comments != NULL)
        CIP_TRY(cip_node_set_key(a, map, n++, "comments", h->header.comments, err));
    if (tree != NULL)
        CIP_TRY(cip_node_set_key(a, map, n++, "tree", tree, err));
    if (has) {
        CIP_TRY(cip_node_new_null(a, &data, err));
        CIP_TRY(cip_node_set_key(a, map, n++, "data", data, err));
    }
    CIP_TRY(cip_node_new_string(a, h->key, strlen(h->key), &key, err));
    pair[h->number] = (cip_pair){ key, map };
    return has ? add_data(f, h, data, err) : CIP_OK;
}

/* SIMPLE = F: a file that follows the standard only in part; its author alone knows how far. */
static void warn_of_other_files(const fits_file *f)
{
    bool simple = true;
    if (cip_fits_yes(&f->hdu[0].header, "SIMPLE", &simple, NULL) != CIP_OK || !simple)
        cip_warn(f->layout->env, CIP_ERR_UNSUPPORTED, 0, f->hdu[0].key,
                 "SIMPLE is not T: the file says that it does not conform to the standard");
}

static cip_status add_facts(fits_file *f, cip_err *err)
{
    cip_layout *l = f->layout;
    CIP_TRY(cip_layout_add_fact(l, "HDUs", err, "%zu", f->nhdu));
    if (f->end < l->io->size)
        CIP_TRY(cip_layout_add_fact(l, "after the last HDU", err, "%" PRIu64 " bytes",
                                    l->io->size - f->end));
    return CIP_OK;
}

/* An HDU named ASDF comes last: its arrays may be those of others. */
static cip_status add_hdus(fits_file *f, cip_err *err)
{
    cip_arena *a = &f->layout->arena;
    cip_node *root;
    cip_pair *pair;
    CIP_TRY(CIP_ARENA_NEW(a, &pair, f->nhdu, err));
    for (size_t i = 0; i < 2 * f->nhdu; i++) {
        const fits_hdu *h = &f->hdu[i % f->nhdu];
        const bool asdf = h->extname != NULL && strcasecmp(h->extname, "ASDF") == 0;
        if (asdf == (i >= f->nhdu))
            CIP_TRY(add_hdu(f, h, pair, err));
    }
    CIP_TRY(cip_node_new_map(a, 0, &root, err));
    f->layout->tree = root;
    return cip_map_fill(a, root, (cip_pairs){ pair, f->nhdu }, NULL, NULL, err);
}

static cip_status open_file(cip_layout *l, cip_err *err)
{
    fits_file *f;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &f, 1, err));
    f->layout = l;
    l->own = f;
    l->version = "4.0";
    CIP_TRY(walk(f, err));
    CIP_TRY(name_hdus(f, err));
    CIP_TRY(add_hdus(f, err));
    warn_of_other_files(f);
    if (f->cut_short.code != CIP_OK)
        cip_warn_lack(l->env, CIP_LACKS_BYTES, NULL, (cip_status)f->cut_short.code,
                      f->cut_short.offset, f->cut_short.part, "%s; what follows is left out",
                      f->cut_short.text);
    return add_facts(f, err);
}

const cip_format cip_format_fits = {
    .name = "fits",
    .title = "FITS",
    .extensions = "fits fit fts",
    .probe = probe,
    .open = open_file,
    .verify = cip_fits_verify,
    .store = &cip_fits_store,
    .tag_prefix = ASDF_TAGS,
};
