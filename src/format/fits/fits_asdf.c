/* SPDX-License-Identifier: BSD-3-Clause
 * ASDF in FITS: the HDU named ASDF holds an ASDF file, whose tree becomes a part of ours. Its
 * arrays lie in that file's own blocks, or are those of other HDUs, which their sources name:
 * "fits:SCI,1".
 */
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "format/asdf/asdf.h"
#include "format/fits/fits.h"
#include "space/read/window.h"

static const char magic[] = "#ASDF";

/* The file lies in the data of an image or an extension of its own type, or in the only column of a
 * table's only row. */
cip_status cip_fits_has_asdf(fits_file *f, const fits_hdu *h, uint64_t *len, cip_err *err)
{
    uint8_t head[sizeof magic - 1];
    size_t got;
    const bool rows = h->kind == FITS_BINARY && h->naxis == 2;
    *len = 0;
    if (h->extname == NULL || strcasecmp(h->extname, "ASDF") != 0 || h->bitpix != 8 ||
        h->gcount != 1 || h->kind == FITS_TILES || h->kind == FITS_ASCII ||
        cip_bytes_left(f->layout->io->size, h->data) < h->nbytes)
        return CIP_OK;
    CIP_TRY(cip_space_read_some(f->layout, f->layout->file, h->data, head, sizeof head, &got, err));
    if (got == sizeof head && memcmp(head, magic, got) == 0)
        *len = rows ? (uint64_t)(h->axis[0] * h->axis[1]) : h->nbytes; /* no more than nbytes */
    return CIP_OK;
}

/* --- sources ---------------------------------------------------------------------------------- */

/* "fits:NAME,VER", "fits:NAME" (1) or "fits:2", an HDU's number. NULL: it names no HDU. */
static const fits_hdu *named_hdu(const fits_file *f, const char *source)
{
    const char *name = source + strlen("fits:"), *comma = strrchr(name, ',');
    const size_t n = comma != NULL ? (size_t)(comma - name) : strlen(name);
    uint64_t ver = comma != NULL ? 0 : 1, number = 0;
    bool digits = n != 0 && comma == NULL;
    for (const char *p = comma != NULL ? comma + 1 : ""; *p != '\0'; p++)
        if (*p < '0' || *p > '9' || ver > INT32_MAX)
            return NULL;
        else
            ver = ver * 10 + (uint64_t)(*p - '0');
    for (size_t i = 0; i < n && digits; i++) {
        digits = name[i] >= '0' && name[i] <= '9' && number <= INT32_MAX;
        number = number * 10 + (uint64_t)(name[i] - '0');
    }
    for (size_t i = 0; i < f->nhdu; i++) {
        const fits_hdu *h = &f->hdu[i];
        if (digits ? i == number
                   : h->extname != NULL && h->extver == (int64_t)ver && strlen(h->extname) == n &&
                         strncasecmp(h->extname, name, n) == 0)
            return h;
    }
    return NULL;
}

/* The source of an array of the ASDF file that lies in another HDU, or NULL. */
static const char *source_of(const cip_array *a)
{
    const cip_node *n = a->node != NULL ? cip_asdf_source_of(a->node) : NULL;
    return n != NULL && n->type == CIP_NODE_STRING && strncmp(n->text, "fits:", 5) == 0 ? n->text
                                                                                        : NULL;
}

/* What the tree says of the array must be what the HDU has. */
static cip_status take_hdu(const fits_file *f, const char *source, cip_array *a, cip_err *err)
{
    const fits_hdu *h = named_hdu(f, source);
    if (h == NULL || h->array == NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "source '%.60s': expected an HDU with data, found none", source);
    const cip_array *b = h->array;
    if (b->st != CIP_OK) {
        cip_err_pass(err, b->why);
        return b->st;
    }
    if (!cip_view_same_shape(&a->view, &b->view))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "source '%.60s': expected an array of the shape that the tree has, found "
                        "another one",
                        source);
    const char *path = a->path;
    const cip_node *node = a->node;
    *a = *b;
    a->path = path;
    a->node = node;
    return CIP_OK;
}

static cip_status add_array(fits_file *f, const fits_hdu *h, const cip_array *from, cip_err *err)
{
    cip_array *a;
    char *path;
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(cip_layout_add_array(f->layout, true, &a, err));
    CIP_TRY(cip_arena_printf(&f->layout->arena, &path, err, "%s/tree%s%s", h->path,
                             from->path[0] == '/' || from->path[0] == '\0' ? "" : "/", from->path));
    *a = *from;
    a->layout = f->layout;
    a->path = path;
    a->storage.block = -1;
    const char *source = source_of(from);
    if (source == NULL)
        return CIP_OK;
    a->st = CIP_OK;
    a->why = NULL;
    return take_hdu(f, source, a, &why) == CIP_OK ? CIP_OK : cip_fits_refuse(a, &why, err);
}

/* --- the tree --------------------------------------------------------------------------------- */

static cip_status open_inner(fits_file *f, const fits_hdu *h, uint64_t len, cip_layout **out,
                             cip_err *err)
{
    cip_layout *l = f->layout;
    cip_io *io;
    CIP_TRY(cip_io_open_part(l->io, h->data, len, &io, err));
    const cip_status st = cip_layout_new_child(l, io, out, err);
    if (st != CIP_OK) {
        cip_io_close(io);
        return st;
    }
    (*out)->owns_io = true;
    (*out)->uri = l->uri;
    return cip_format_asdf.open(*out, err);
}

cip_status cip_fits_asdf(fits_file *f, const fits_hdu *h, uint64_t len, const cip_node **tree,
                         cip_err *err)
{
    cip_layout *inner = NULL;
    cip_err why = CIP_ERR_INIT;
    const cip_status st = open_inner(f, h, len, &inner, &why);
    *tree = NULL;
    if (st != CIP_OK && cip_is_about_content(st)) {
        cip_warn_lack(f->layout->env, CIP_LACKS_BYTES, NULL, st, h->data, h->key,
                      "the ASDF file in it is left out: %s", why.text);
        return CIP_OK;
    }
    CIP_TRY(cip_err_give(err, &why, st));
    *tree = inner->tree;
    for (size_t i = 0; i < inner->narray; i++)
        CIP_TRY(add_array(f, h, inner->array[i], err));
    return CIP_OK;
}
