/* SPDX-License-Identifier: BSD-3-Clause
 * The header of a new HDU: cards that describe the data, then those that the tree has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/fits/fits_write.h"

enum { TDIM_MOST = 60 };

/* --- types ------------------------------------------------------------------------------------ */

static const fits_type types[] = {
    { CIP_BOOL, 'L', 0, CIP_BOOL, 0 },
    { CIP_I8, 'B', 8, CIP_I8, -128 },
    { CIP_I16, 'I', 16, CIP_I16, 0 },
    { CIP_I32, 'J', 32, CIP_I32, 0 },
    { CIP_I64, 'K', 64, CIP_I64, 0 },
    { CIP_U8, 'B', 8, CIP_U8, 0 },
    { CIP_U16, 'I', 16, CIP_U16, 32768 },
    { CIP_U32, 'J', 32, CIP_U32, 2147483648.0 },
    { CIP_U64, 'K', 64, CIP_U64, 9223372036854775808.0 },
    { CIP_F16, 'E', -32, CIP_F32, 0 },
    { CIP_F32, 'E', -32, CIP_F32, 0 },
    { CIP_F64, 'D', -64, CIP_F64, 0 },
    { CIP_C64, 'C', 0, CIP_C64, 0 },
    { CIP_C128, 'M', 0, CIP_C128, 0 },
    { CIP_ASCII, 'A', 0, CIP_ASCII, 0 },
    { CIP_UCS4, 'A', 0, CIP_ASCII, 0 },
};

const fits_type *cip_fits_type_of(const cip_dtype *d)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].kind == d->kind)
            return &types[i];
    return NULL;
}

uint64_t cip_fits_items(const cip_field *f)
{
    uint64_t n = 1;
    cip_shape_nelem(f->ndim, f->shape, &n);
    return n;
}

/* --- headers ---------------------------------------------------------------------------------- */

/* Whether the keyword is of the structure, which is written anew: "NAXIS1" by the stem NAXIS. */
static bool is_structure(const char *key)
{
    static const char *const whole[] = {
        "SIMPLE",  "XTENSION", "BITPIX",   "NAXIS",   "EXTEND",  "PCOUNT",   "GCOUNT",
        "GROUPS",  "BSCALE",   "BZERO",    "BLANK",   "TFIELDS", "THEAP",    "CHECKSUM",
        "DATASUM", "EXTNAME",  "EXTVER",   "END",     "ZIMAGE",  "ZCMPTYPE", "ZBITPIX",
        "ZNAXIS",  "ZQUANTIZ", "ZDITHER0", "ZBLANK",  "ZSCALE",  "ZZERO",    "ZMASKCMP",
        "ZSIMPLE", "ZEXTEND",  "ZTENSION", "ZPCOUNT", "ZGCOUNT", "ZHECKSUM", "ZDATASUM"
    };
    static const char *const stem[] = { "NAXIS", "TFORM", "TTYPE",  "TDIM",  "TSCAL", "TZERO",
                                        "TNULL", "TBCOL", "ZNAXIS", "ZTILE", "ZNAME", "ZVAL" };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(key, whole[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof stem / sizeof *stem; i++) {
        const size_t n = strlen(stem[i]);
        if (strncmp(key, stem[i], n) == 0 && key[n] != '\0' &&
            key[n + strspn(key + n, "0123456789")] == '\0')
            return true;
    }
    return false;
}

/* Whether reading makes the key of the header's EXTNAME and EXTVER, or of the HDU's number. */
static bool is_key_of(const char *key, const char *name, int64_t ver)
{
    char versioned[FITS_CARD * 2];
    snprintf(versioned, sizeof versioned, "%.80s,%" PRId64, name, ver);
    return strcmp(key, name) == 0 || strcmp(key, versioned) == 0 ||
           key[strspn(key, "0123456789")] == '\0';
}

/* EXTNAME as the header has it, unless the tree has another name for the HDU; a number is none. */
static cip_status put_name(fits_cards *c, const fits_new *h, bool first, cip_err *err)
{
    const cip_node *header = h->map != NULL ? cip_map_get(h->map, "header") : NULL;
    const cip_node *name = header != NULL ? cip_map_get(header, "EXTNAME") : NULL;
    const cip_node *ver = header != NULL ? cip_map_get(header, "EXTVER") : NULL;
    int64_t v = 1;
    const bool has_ver = ver != NULL && cip_node_as_int(ver, &v);
    if (cip_node_kind(name) == CIP_NODE_STRING && is_key_of(h->key, name->text, v)) {
        CIP_TRY(cip_fits_put_text(c, "EXTNAME", name->text, err));
        return has_ver ? cip_fits_put_int(c, "EXTVER", v, err) : CIP_OK;
    }
    if (h->key == NULL || h->key[strspn(h->key, "0123456789")] == '\0' ||
        (first && strcmp(h->key, "PRIMARY") == 0))
        return CIP_OK;
    return cip_fits_put_text(c, "EXTNAME", h->key, err);
}

static cip_status put_zero(fits_cards *c, const char *key, const fits_type *t, cip_err *err)
{
    /* 2^63 fits no int64_t, so the number is a node of its text. */
    const cip_node name = { .type = CIP_NODE_STRING, .text = key, .len = (uint32_t)strlen(key) };
    const bool minus = t->zero < 0;
    const cip_node v = { .type = CIP_NODE_INT,
                         .negative = minus,
                         .u = minus ? (uint64_t)(int64_t)t->zero : (uint64_t)t->zero };
    return cip_fits_put_node(c, &name, &v, err);
}

static cip_status put_image(fits_cards *c, const fits_new *h, bool first, bool more, cip_err *err)
{
    const cip_spec_array *a = h->array;
    const fits_type *t = a != NULL ? cip_fits_type_of(a->dtype) : NULL;
    char key[16];
    if (first)
        CIP_TRY(cip_fits_put_yes(c, "SIMPLE", true, err));
    else
        CIP_TRY(cip_fits_put_text(c, "XTENSION", "IMAGE", err));
    CIP_TRY(cip_fits_put_int(c, "BITPIX", t != NULL ? t->bitpix : 8, err));
    CIP_TRY(cip_fits_put_int(c, "NAXIS", a != NULL ? a->ndim : 0, err));
    for (int32_t i = 0; a != NULL && i < a->ndim; i++)
        CIP_TRY(cip_fits_put_int(c, cip_fits_nth(key, "NAXIS", (unsigned)i + 1),
                                 a->shape[a->ndim - 1 - i], err));
    if (first && more)
        CIP_TRY(cip_fits_put_yes(c, "EXTEND", true, err));
    if (!first) {
        CIP_TRY(cip_fits_put_int(c, "PCOUNT", 0, err));
        CIP_TRY(cip_fits_put_int(c, "GCOUNT", 1, err));
    }
    return t != NULL && t->zero != 0 ? put_zero(c, "BZERO", t, err) : CIP_OK;
}

static cip_status put_column(fits_cards *c, const cip_field *f, unsigned i, cip_err *err)
{
    const fits_type *t = cip_fits_type_of(f->dtype);
    const bool text = t->letter == 'A';
    const uint64_t n = cip_fits_items(f) * (text ? f->dtype->itemsize : 1);
    char key[16], form[32], dim[FITS_CARD] = "(";
    size_t len = 1;
    if (f->ndim == 0 && !text)
        snprintf(form, sizeof form, "%c", t->letter);
    else
        snprintf(form, sizeof form, "%" PRIu64 "%c", n, t->letter);
    const size_t before = c->out != NULL ? c->out->len : 0;
    CIP_TRY(cip_fits_put_text(c, cip_fits_nth(key, "TTYPE", i), f->name, err));
    if (c->out != NULL && c->out->len == before) { /* lost; astropy reads no column without one */
        char name[16];
        snprintf(name, sizeof name, "col%u", i);
        CIP_TRY(cip_fits_put_text(c, key, name, err));
    }
    CIP_TRY(cip_fits_put_text(c, cip_fits_nth(key, "TFORM", i), form, err));
    if (t->zero != 0)
        CIP_TRY(put_zero(c, cip_fits_nth(key, "TZERO", i), t, err));
    /* One axis is the count; strings and one axis of length 1 need more. */
    if (f->ndim == 0 || (f->ndim == 1 && !text && f->shape[0] != 1))
        return CIP_OK;
    if (text)
        len += (size_t)snprintf(dim + len, sizeof dim - len, "%" PRIu64 ",", f->dtype->itemsize);
    for (int32_t k = f->ndim; k-- > 0 && len < sizeof dim;)
        len += (size_t)snprintf(dim + len, sizeof dim - len, "%" PRId64 "%s", f->shape[k],
                                k == 0 ? ")" : ",");
    if (len >= TDIM_MOST)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "column '%.60s' has too many axes for a card", f->name);
    return cip_fits_put_text(c, cip_fits_nth(key, "TDIM", i), dim, err);
}

static cip_status put_table(fits_cards *c, const fits_new *h, cip_err *err)
{
    const cip_dtype *d = h->stored;
    CIP_TRY(cip_fits_put_text(c, "XTENSION", "BINTABLE", err));
    CIP_TRY(cip_fits_put_int(c, "BITPIX", 8, err));
    CIP_TRY(cip_fits_put_int(c, "NAXIS", 2, err));
    CIP_TRY(cip_fits_put_int(c, "NAXIS1", (int64_t)d->itemsize, err));
    CIP_TRY(cip_fits_put_int(c, "NAXIS2", h->array->shape[0], err));
    CIP_TRY(cip_fits_put_int(c, "PCOUNT", 0, err));
    CIP_TRY(cip_fits_put_int(c, "GCOUNT", 1, err));
    CIP_TRY(cip_fits_put_int(c, "TFIELDS", (int64_t)d->nfield, err));
    for (size_t i = 0; i < d->nfield; i++)
        CIP_TRY(put_column(c, &d->field[i], (unsigned)i + 1, err));
    return CIP_OK;
}

/* TNULLn of a column of integers, which are stored as they were. */
static bool keeps_null(const fits_new *h, const char *key)
{
    const bool table = h->array != NULL && h->stored->kind == CIP_RECORD;
    const unsigned long n = strncmp(key, "TNULL", 5) == 0 ? strtoul(key + 5, NULL, 10) : 0;
    return table && n >= 1 && n <= h->stored->nfield &&
           strchr("BIJK", cip_fits_type_of(h->stored->field[n - 1].dtype)->letter) != NULL;
}

cip_status cip_fits_put_header(fits_cards *c, const fits_new *h, bool first, bool more,
                               cip_err *err)
{
    const cip_node *header = h->map != NULL ? cip_map_get(h->map, "header") : NULL;
    c->part = h->key;
    c->comments = h->map != NULL ? cip_map_get(h->map, "comments") : NULL;
    if (h->array != NULL && h->array->dtype->kind == CIP_RECORD)
        CIP_TRY(put_table(c, h, err));
    else
        CIP_TRY(put_image(c, h, first, more, err));
    CIP_TRY(put_name(c, h, first, err));
    for (uint32_t k = 0; header != NULL && k < header->len; k++) {
        const cip_pair *p = &header->pair[k];
        if (cip_node_kind(p->key) == CIP_NODE_STRING && is_structure(p->key->text) &&
            !keeps_null(h, p->key->text))
            continue;
        CIP_TRY(cip_fits_put_node(c, p->key, p->value, err));
    }
    return cip_fits_put_end(c, err);
}
