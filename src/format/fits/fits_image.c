/* SPDX-License-Identifier: BSD-3-Clause
 * Images (standard 4.0, 4.4.2 and 5): arrays with the axes reversed, big-endian. BSCALE and BZERO
 * give physical values, as astropy does; the pairs that stand for unsigned integers, those. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/fits/fits.h"

char cip_fits_type(int64_t bitpix)
{
    return bitpix == 8     ? 'B'
           : bitpix == 16  ? 'I'
           : bitpix == 32  ? 'J'
           : bitpix == 64  ? 'K'
           : bitpix == -32 ? 'E'
                           : 'D';
}

static const struct shown {
    char type;
    uint8_t width;
    cip_kind kind, flipped; /* flipped: with BZERO = zero */
    double zero;
} shown[] = {
    { 'B', 1, CIP_U8, CIP_I8, -128 },           { 'I', 2, CIP_I16, CIP_U16, 32768 },
    { 'J', 4, CIP_I32, CIP_U32, 2147483648.0 }, { 'K', 8, CIP_I64, CIP_U64, 9223372036854775808.0 },
    { 'E', 4, CIP_F32, CIP_NONE, 0 },           { 'D', 8, CIP_F64, CIP_NONE, 0 },
};

cip_status cip_fits_scaled(const fits_scaling *s, char type, bool table, fits_column *c,
                           const cip_dtype **dtype, cip_err *err)
{
    const struct shown *t = shown;
    while (t->type != type)
        t++;
    c->type = type;
    c->width = c->to = t->width;
    c->way = FITS_COPY;
    *dtype = cip_dtype_fixed(t->kind, true);
    if (s->scale == 1 && s->zero == 0)
        return CIP_OK;
    if (s->scale == 1 && t->flipped != CIP_NONE && s->zero == t->zero) {
        c->way = FITS_FLIP;
        *dtype = cip_dtype_fixed(t->flipped, true);
        return CIP_OK;
    }
    c->way = FITS_SCALE;
    c->scale = s->scale;
    c->zero = s->zero;
    c->has_null = s->has_null && t->flipped != CIP_NONE;
    c->null = s->null;
    c->narrow = !table && (t->width < 4 || type == 'E');
    c->to = c->narrow ? 4 : 8;
    *dtype = cip_dtype_fixed(c->narrow ? CIP_F32 : CIP_F64, true);
    (void)err;
    return CIP_OK;
}

cip_status cip_fits_mask_blank(cip_layout *l, const fits_column *c, int64_t blank, cip_array *a,
                               cip_err *err)
{
    uint8_t *value, whole[8];
    const int64_t low = c->width == 1   ? 0
                        : c->width == 8 ? INT64_MIN
                                        : -(INT64_C(1) << (8 * c->width - 1));
    const int64_t high = c->width == 1   ? UINT8_MAX
                         : c->width == 8 ? INT64_MAX
                                         : (INT64_C(1) << (8 * c->width - 1)) - 1;
    if (blank < low || blank > high) /* no element can be it */
        return CIP_OK;
    CIP_TRY(cip_arena_get(&l->arena, c->width, (void **)&value, err));
    cip_store_u64(whole, (uint64_t)blank, true);
    memcpy(value, whole + 8 - c->width, c->width);
    if (c->way == FITS_FLIP)
        *value ^= 0x80;
    a->mask = (cip_mask){ .kind = CIP_MASK_VALUE, .value = value };
    return CIP_OK;
}

static cip_status read_shape(const fits_hdu *h, int64_t *shape, cip_err *err)
{
    if (h->naxis > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->header.off,
                        "NAXIS: expected at most %d axes, found %d", CIP_MAX_NDIM, h->naxis);
    for (int32_t i = 0; i < h->naxis; i++)
        shape[i] = h->axis[h->naxis - 1 - i];
    return CIP_OK;
}

cip_status cip_fits_read_scaling(const fits_hdu *h, int64_t bitpix, fits_scaling *s, cip_err *err)
{
    const fits_header *m = &h->header;
    *s = (fits_scaling){ .scale = 1 };
    CIP_TRY(cip_fits_real(m, "BSCALE", &s->scale, err));
    CIP_TRY(cip_fits_real(m, "BZERO", &s->zero, err));
    if (bitpix < 0) /* BLANK is of integers alone: of floats it means nothing */
        return CIP_OK;
    s->has_null = cip_fits_has(m, "BLANK");
    return cip_fits_int(m, "BLANK", (fits_range){ INT64_MIN, INT64_MAX }, &s->null, err);
}

static cip_status fill(fits_file *f, const fits_hdu *h, cip_array *a, cip_err *err)
{
    cip_layout *l = f->layout;
    int64_t shape[CIP_MAX_NDIM];
    fits_scaling s;
    fits_column *c;
    fits_rows *r;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &c, 1, err));
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &r, 1, err));
    CIP_TRY(read_shape(h, shape, err));
    CIP_TRY(cip_fits_read_scaling(h, h->bitpix, &s, err));
    CIP_TRY(cip_fits_scaled(&s, cip_fits_type(h->bitpix), false, c, &a->dtype, err));
    if (cip_view_c_order(h->naxis, shape, a->dtype->itemsize, &a->view, err) != CIP_OK) {
        a->dtype = NULL; /* zeros beside lengths whose product no number holds */
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->header.off,
                        "NAXIS: expected less than 2^63 bytes, with lengths of 0 left out");
    }
    if (h->pcount != 0 || h->gcount != 1)
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                        "expected an image with PCOUNT 0 and GCOUNT 1, found %" PRId64
                        " and %" PRId64,
                        h->pcount, h->gcount);
    CIP_TRY(cip_fits_all_there(f, h, err));
    c->count = 1;
    if (s.has_null && c->way != FITS_SCALE)
        CIP_TRY(cip_fits_mask_blank(l, c, s.null, a, err));
    *r = (fits_rows){ .layout = l,
                      .data = h->data,
                      .stored = c->width,
                      .each = c->to,
                      .n = h->nbytes / c->width,
                      .ncolumn = 1,
                      .column = c };
    c->name = "data";
    f->hdu[h->number].rows = r;
    if (c->way != FITS_COPY)
        return cip_fits_rows_space(r, &a->space, err);
    CIP_TRY(cip_space_new_sub(l, l->file, h->data, h->nbytes, &a->space, err));
    a->space->label = "data";
    return CIP_OK;
}

cip_status cip_fits_image(fits_file *f, const fits_hdu *h, const cip_node *node, cip_err *err)
{
    cip_array *a;
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(cip_fits_array(f, h, "data", node, &a, err));
    return fill(f, h, a, &why) == CIP_OK ? CIP_OK : cip_fits_refuse(a, &why, err);
}
