/* SPDX-License-Identifier: BSD-3-Clause
 * Tables as records: binary ones (standard 4.0, 7.3) and those of text (7.2). A column that cannot
 * be read is listed apart and refused; the others stay readable. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/strmap.h"
#include "format/fits/fits.h"

enum { MAX_FIELDS = 999 };

typedef struct table {
    fits_file *file;
    const fits_hdu *hdu;
    unsigned n; /* TFIELDS */
    cip_strmap names;
    fits_column *column; /* those that are read, ncolumn of them */
    cip_field *field;
    size_t ncolumn;
    uint64_t from, at; /* behind the columns so far: in the row, in the record */
    bool as_stored;    /* each is bytes as they are */
} table;

/* One column that is looked at. */
typedef struct look {
    unsigned i; /* from 1 */
    const char *name;
    fits_tform form;
    fits_column c;
    const cip_dtype *dtype;
    int64_t *shape;
    int32_t ndim;
} look;

/* --- TFORM and TDIM --------------------------------------------------------------------------- */

static bool take_digits(const char **p, uint64_t *n)
{
    const char *first = *p;
    for (*n = 0; **p >= '0' && **p <= '9'; (*p)++)
        if (*n > INT64_MAX / 10 - 1)
            return false;
        else
            *n = *n * 10 + (uint64_t)(**p - '0');
    return *p != first;
}

cip_status cip_fits_tform(const fits_hdu *h, unsigned i, fits_tform *out, cip_err *err)
{
    char key[16];
    const char *text = NULL;
    uint64_t n;
    CIP_TRY(cip_fits_text(&h->header, cip_fits_nth(key, "TFORM", i), &text, err));
    if (text == NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off, "%s: expected a string, found no card",
                        key);
    const char *p = text + strspn(text, " ");
    *out = (fits_tform){ .repeat = 1, .decimals = -1 };
    if (take_digits(&p, &n))
        out->repeat = n;
    out->type = *p;
    if (*p == '\0' || strchr("LXBIJKAEDCMPQF", *p) == NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                        "%s: expected a count and a letter of L X B I J K A E D C M P Q, found "
                        "'%.40s'",
                        key, text);
    p++;
    if ((out->type == 'P' || out->type == 'Q') && *p != '\0')
        out->item = *p++;
    if (take_digits(&p, &n))
        out->width = n;
    if (*p == '.' && p++ != NULL && take_digits(&p, &n) && n < 100)
        out->decimals = (int32_t)n;
    return CIP_OK; /* what follows is others' notes: "1PJ(12)" */
}

/* "(d1,d2,...)" in reverse; *ndim 0 where there is none or it says something else, which is warned
 * about: it then is no shape. */
static cip_status read_tdim(table *t, look *k, int64_t *dim, int32_t *ndim, cip_err *err)
{
    const fits_hdu *h = t->hdu;
    char key[16];
    const char *text = NULL;
    uint64_t n, all = 1;
    *ndim = 0;
    CIP_TRY(cip_fits_text(&h->header, cip_fits_nth(key, "TDIM", k->i), &text, err));
    if (text == NULL)
        return CIP_OK;
    const char *p = text + strspn(text, " ");
    int64_t found[CIP_MAX_NDIM];
    int32_t m = 0;
    bool good = *p++ == '(';
    while (good) {
        p += strspn(p, " ");
        good = m < CIP_MAX_NDIM - 1 && take_digits(&p, &n) && !cip_mul_overflow(all, n, &all);
        if (!good)
            break;
        found[m++] = (int64_t)n;
        p += strspn(p, " ");
        if (*p != ',')
            break;
        p++;
    }
    if (!good || *p != ')' || all > k->form.repeat) {
        cip_warn(t->file->layout->env, CIP_ERR_CORRUPT, h->header.off, h->key,
                 "%s is ignored: expected lengths of at most %" PRIu64 " items, found '%.40s'", key,
                 k->form.repeat, text);
        return CIP_OK;
    }
    for (int32_t i = 0; i < m; i++)
        dim[i] = found[m - 1 - i];
    *ndim = m;
    return CIP_OK;
}

/* --- names ------------------------------------------------------------------------------------ */

/* TTYPEn; "col3" of one without, "name_3" of one that another column has. */
static cip_status name_column(table *t, look *k, cip_err *err)
{
    cip_arena *a = &t->file->layout->arena;
    char key[16], *own;
    const char *name = NULL;
    if (cip_fits_text(&t->hdu->header, cip_fits_nth(key, "TTYPE", k->i), &name, NULL) != CIP_OK)
        name = NULL;
    if (name == NULL || *name == '\0')
        CIP_TRY(cip_arena_printf(a, &own, err, "col%u", k->i));
    else
        CIP_TRY(cip_arena_printf(a, &own, err, "%s", name));
    for (int more = 0;
         cip_strmap_get(&t->names, (cip_bytes){ (const uint8_t *)own, strlen(own) }) != SIZE_MAX;
         more++)
        if (more > MAX_FIELDS)
            return cip_fail(err, CIP_ERR_CORRUPT, t->hdu->header.off, "%s: a name that others have",
                            key);
        else
            CIP_TRY(cip_arena_printf(a, &own, err, "%s_%u", own, k->i));
    k->name = k->c.name = own;
    return cip_strmap_put(&t->names, (cip_bytes){ (const uint8_t *)own, strlen(own) }, k->i, NULL,
                          err);
}

/* --- binary tables ---------------------------------------------------------------------------- */

static cip_status read_scaling(const fits_hdu *h, look *k, fits_scaling *s, cip_err *err)
{
    char key[16];
    *s = (fits_scaling){ .scale = 1 };
    CIP_TRY(cip_fits_real(&h->header, cip_fits_nth(key, "TSCAL", k->i), &s->scale, err));
    CIP_TRY(cip_fits_real(&h->header, cip_fits_nth(key, "TZERO", k->i), &s->zero, err));
    if (h->kind != FITS_BINARY || strchr("BIJK", k->form.type) == NULL)
        return CIP_OK;
    s->has_null = cip_fits_has(&h->header, cip_fits_nth(key, "TNULL", k->i));
    return cip_fits_int(&h->header, key, (fits_range){ INT64_MIN, INT64_MAX }, &s->null, err);
}

uint32_t cip_fits_item(char type)
{
    return strchr("LXBA", type) != NULL ? 1
           : type == 'I'                ? 2
           : strchr("JE", type) != NULL ? 4
           : type == 'M' || type == 'Q' ? 16
                                        : 8;
}

static cip_status refuse_heap(const look *k, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "column '%.60s' has rows of different lengths (TFORM%u with %c), which are not "
                    "read",
                    k->name, k->i, k->form.type);
}

/* Strings: the first length of TDIM is that of one. "A7" stands for "7A", a common mistake. */
static cip_status text_column(table *t, look *k, cip_err *err)
{
    int64_t dim[CIP_MAX_NDIM];
    int32_t n;
    CIP_TRY(read_tdim(t, k, dim, &n, err));
    uint64_t len = n > 0 ? (uint64_t)dim[n - 1] : k->form.repeat;
    if (len > UINT32_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, t->hdu->header.off,
                        "column '%.60s': strings of %" PRIu64 " bytes", k->name, len);
    k->c.way = FITS_TEXT;
    k->c.width = k->c.to = (uint32_t)len;
    k->c.count = 1;
    k->ndim = n > 0 ? n - 1 : 0;
    for (int32_t i = 0; i < k->ndim; i++) {
        k->shape[i] = dim[i];
        k->c.count *= (uint64_t)dim[i]; /* all of them: at most the repeat count */
    }
    if (len == 0)
        k->c.count = 0;
    return cip_dtype_ascii(&t->file->layout->arena, len, &k->dtype, err);
}

static cip_status scaled_column(table *t, look *k, cip_err *err)
{
    fits_scaling s;
    CIP_TRY(read_scaling(t->hdu, k, &s, err));
    if (k->form.type == 'C' || k->form.type == 'M') {
        if (s.scale != 1 || s.zero != 0)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, t->hdu->header.off,
                            "column '%.60s': complex numbers with TSCAL%u or TZERO%u", k->name,
                            k->i, k->i);
        k->c.way = FITS_COPY;
        k->c.width = k->c.to = cip_fits_item(k->form.type);
        k->dtype = cip_dtype_fixed(k->form.type == 'C' ? CIP_C64 : CIP_C128, true);
        return CIP_OK;
    }
    return cip_fits_scaled(&s, k->form.type, true, &k->c, &k->dtype, err);
}

static cip_status binary_column(table *t, look *k, cip_err *err)
{
    int64_t dim[CIP_MAX_NDIM];
    int32_t n;
    const char type = k->form.type;
    if (type == 'P' || type == 'Q')
        return refuse_heap(k, err);
    if (type == 'A')
        return text_column(t, k, err);
    if (type == 'L' || type == 'X') {
        k->c.way = type == 'L' ? FITS_LOGICAL : FITS_BIT;
        k->c.width = k->c.to = 1;
        k->dtype = cip_dtype_fixed(CIP_BOOL, false);
    } else {
        CIP_TRY(scaled_column(t, k, err));
    }
    CIP_TRY(read_tdim(t, k, dim, &n, err));
    k->c.count = k->form.repeat;
    k->ndim = n > 0 ? n : k->form.repeat != 1 || type == 'X';
    k->shape[0] = (int64_t)k->form.repeat;
    if (n > 0)
        k->c.count = 1;
    for (int32_t i = 0; i < n; i++) {
        k->shape[i] = dim[i];
        k->c.count *= (uint64_t)dim[i];
    }
    return CIP_OK;
}

cip_status cip_fits_row_bytes(const fits_hdu *h, unsigned i, const fits_tform *form, uint64_t *n,
                              cip_err *err)
{
    if (form->type == 'X')
        *n = cip_div_up(form->repeat, 8);
    else if (cip_mul_overflow(form->repeat, (uint64_t)cip_fits_item(form->type), n))
        *n = UINT64_MAX;
    if (*n > (uint64_t)h->axis[0])
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                        "TFORM%u: expected at most %" PRId64 " bytes, as NAXIS1 says, found more",
                        i, h->axis[0]);
    return CIP_OK;
}

/* --- tables of text --------------------------------------------------------------------------- */

static cip_status ascii_column(table *t, look *k, cip_err *err)
{
    const fits_hdu *h = t->hdu;
    const char type = k->form.type;
    fits_scaling s;
    char key[16];
    int64_t begin = 0;
    CIP_TRY(cip_fits_int(&h->header, cip_fits_nth(key, "TBCOL", k->i), (fits_range){ 1, INT64_MAX },
                         &begin, err));
    if (begin == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                        "%s: expected an integer, found no such card", key);
    if (strchr("AIFED", type) == NULL || k->form.width == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                        "TFORM%u: expected A, I, F, E or D and a width", k->i);
    if (k->form.width > (uint64_t)h->axis[0] ||
        (uint64_t)begin - 1 > (uint64_t)h->axis[0] - k->form.width || k->form.width > UINT32_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                        "TFORM%u: expected a column within %" PRId64 " characters, found %" PRIu64
                        " at %" PRId64,
                        k->i, h->axis[0], k->form.width, begin);
    k->c.from = (uint64_t)begin - 1;
    k->c.width = k->c.to = (uint32_t)k->form.width;
    k->c.count = 1;
    if (type == 'A') {
        k->c.way = FITS_TEXT;
        return cip_dtype_ascii(&t->file->layout->arena, k->form.width, &k->dtype, err);
    }
    CIP_TRY(read_scaling(h, k, &s, err));
    if (cip_fits_text(&h->header, cip_fits_nth(key, "TNULL", k->i), &k->c.null_text, NULL) !=
        CIP_OK)
        k->c.null_text = NULL; /* a number there can be no field's text */
    if (k->c.null_text != NULL)
        k->c.null_text += strspn(k->c.null_text, " ");
    const bool whole = type == 'I' && s.scale == 1 && s.zero == 0;
    k->c.way = FITS_DECIMAL;
    k->c.type = whole ? 'I' : 'F';
    k->c.scale = s.scale;
    k->c.zero = s.zero;
    k->c.decimals = type == 'I' || k->form.decimals < 0 ? 0 : k->form.decimals;
    /* The widths of cfitsio and astropy: what an integer of so many characters takes. */
    k->c.to = !whole ? 8 : k->form.width <= 4 ? 2 : k->form.width <= 9 ? 4 : 8;
    k->dtype = cip_dtype_fixed(!whole         ? CIP_F64
                               : k->c.to == 2 ? CIP_I16
                               : k->c.to == 4 ? CIP_I32
                                              : CIP_I64,
                               true);
    return CIP_OK;
}

/* --- all columns ------------------------------------------------------------------------------ */

static cip_status refuse_column(table *t, const look *k, const cip_err *why, cip_err *err)
{
    cip_array *a;
    cip_buf b = { .mem = &t->file->layout->env->mem };
    cip_status st = cip_path_add(&b, (cip_bytes){ (const uint8_t *)k->name, strlen(k->name) }, err);
    if (st == CIP_OK)
        st = cip_buf_nul(&b, err);
    if (st == CIP_OK)
        st = cip_fits_array(t->file, t->hdu, (const char *)b.ptr, NULL, &a, err);
    cip_buf_clear(&b);
    CIP_TRY(st);
    a->storage.kind = CIP_STORAGE_OWN;
    a->storage.own = "column";
    return cip_fits_refuse(a, why, err);
}

static cip_status add_column(table *t, look *k, cip_err *err)
{
    uint64_t bytes;
    k->c.at = t->at;
    if (cip_mul_overflow(k->c.count, (uint64_t)k->c.to, &bytes) ||
        cip_add_overflow(t->at, bytes, &t->at))
        return cip_fail(err, CIP_ERR_CORRUPT, t->hdu->header.off, "rows of 2^64 bytes");
    t->as_stored &= k->c.way == FITS_COPY;
    t->field[t->ncolumn] = (cip_field){ k->name, k->dtype, k->c.at, k->ndim, k->shape };
    t->column[t->ncolumn++] = k->c;
    return CIP_OK;
}

static cip_status look_at(table *t, unsigned i, cip_err *err)
{
    const bool binary = t->hdu->kind == FITS_BINARY;
    cip_err why = CIP_ERR_INIT;
    uint64_t bytes = 0;
    look k = { .i = i };
    CIP_TRY(CIP_ARENA_NEW(&t->file->layout->arena, &k.shape, CIP_MAX_NDIM, err));
    CIP_TRY(name_column(t, &k, err));
    CIP_TRY(cip_fits_tform(t->hdu, i, &k.form, err));
    if (binary && k.form.type == 'A' && k.form.width != 0 && k.form.repeat == 1)
        k.form.repeat = k.form.width;
    if (binary)
        CIP_TRY(cip_fits_row_bytes(t->hdu, i, &k.form, &bytes, err));
    cip_status st = (binary ? binary_column : ascii_column)(t, &k, &why);
    if (binary)
        k.c.from = t->from;
    t->from += bytes;
    if (t->from > (uint64_t)t->hdu->axis[0])
        return cip_fail(err, CIP_ERR_CORRUPT, t->hdu->header.off,
                        "TFORM%u: expected columns of %" PRId64
                        " bytes in all, as NAXIS1 says, found more",
                        i, t->hdu->axis[0]);
    return st == CIP_OK ? add_column(t, &k, err) : refuse_column(t, &k, &why, err);
}

/* The records as they lie in the file, with the gaps of columns that are left out. */
static cip_status as_stored(table *t, cip_array *a, cip_err *err)
{
    cip_layout *l = t->file->layout;
    const fits_hdu *h = t->hdu;
    for (size_t i = 0; i < t->ncolumn; i++)
        t->field[i].offset = t->column[i].at = t->column[i].from;
    CIP_TRY(cip_dtype_record(&l->arena, t->ncolumn, t->field, false, (uint64_t)h->axis[0],
                             &a->dtype, err));
    CIP_TRY(cip_space_new_sub(l, l->file, h->data, (uint64_t)h->axis[0] * (uint64_t)h->axis[1],
                              &a->space, err));
    a->space->label = "data";
    return CIP_OK;
}

static cip_status make_records(table *t, cip_array *a, cip_err *err)
{
    cip_layout *l = t->file->layout;
    const fits_hdu *h = t->hdu;
    fits_rows *r;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &r, 1, err));
    *r = (fits_rows){ .layout = l,
                      .data = h->data,
                      .stored = (uint64_t)h->axis[0],
                      .each = t->as_stored ? (uint64_t)h->axis[0] : t->at,
                      .n = (uint64_t)h->axis[1],
                      .ncolumn = t->ncolumn,
                      .column = t->column,
                      .partial = t->ncolumn != t->n };
    t->file->hdu[h->number].rows = r;
    if (t->as_stored) {
        CIP_TRY(as_stored(t, a, err));
    } else {
        CIP_TRY(cip_dtype_record(&l->arena, t->ncolumn, t->field, false, t->at, &a->dtype, err));
        CIP_TRY(cip_fits_rows_space(r, &a->space, err));
    }
    return cip_view_c_order(1, &h->axis[1], a->dtype->itemsize, &a->view, err);
}

cip_status cip_fits_check_table(const fits_hdu *h, unsigned *n, cip_err *err)
{
    int64_t fields = -1;
    CIP_TRY(cip_fits_int(&h->header, "TFIELDS", (fits_range){ 0, MAX_FIELDS }, &fields, err));
    if (fields < 0 || h->bitpix != 8 || h->naxis != 2 || h->gcount != 1)
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                        "expected a table with TFIELDS, BITPIX 8, NAXIS 2 and GCOUNT 1, found "
                        "%" PRId64 ", %" PRId64 ", %d and %" PRId64,
                        fields, h->bitpix, h->naxis, h->gcount);
    *n = (unsigned)fields;
    return CIP_OK;
}

static cip_status fill(table *t, cip_array *a, cip_err *err)
{
    const fits_hdu *h = t->hdu;
    CIP_TRY(cip_fits_check_table(h, &t->n, err));
    CIP_TRY(CIP_ARENA_NEW(&t->file->layout->arena, &t->column, t->n, err));
    CIP_TRY(CIP_ARENA_NEW(&t->file->layout->arena, &t->field, t->n, err));
    CIP_TRY(cip_fits_all_there(t->file, h, err));
    for (unsigned i = 1; i <= t->n; i++)
        CIP_TRY(look_at(t, i, err));
    if (h->kind == FITS_BINARY && t->from != (uint64_t)h->axis[0])
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                        "expected columns of %" PRId64 " bytes, as NAXIS1 says, found %" PRIu64,
                        h->axis[0], t->from);
    if (t->ncolumn == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->header.off,
                        "a table without columns that are read");
    return make_records(t, a, err);
}

cip_status cip_fits_table(fits_file *f, const fits_hdu *h, const cip_node *node, cip_err *err)
{
    table t = { .file = f,
                .hdu = h,
                .names = { .mem = &f->layout->env->mem },
                .as_stored = h->kind == FITS_BINARY };
    cip_array *a;
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(cip_fits_array(f, h, "data", node, &a, err));
    cip_status st = fill(&t, a, &why);
    cip_strmap_clear(&t.names);
    return st == CIP_OK ? CIP_OK : cip_fits_refuse(a, &why, err);
}
