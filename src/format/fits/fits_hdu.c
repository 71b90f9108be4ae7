/* SPDX-License-Identifier: BSD-3-Clause
 * What an HDU is and how many bytes its data have (standard 4.0, 4.4.1, 6, 7 and 10). */
#include <string.h>

#include "base/num.h"
#include "format/fits/fits.h"

static const fits_range any_length = { 0, INT64_MAX };

static cip_status need_int(const fits_header *h, const char *key, fits_range in, int64_t *out,
                           cip_err *err)
{
    if (!cip_fits_has(h, key))
        return cip_fail(err, CIP_ERR_CORRUPT, h->off, "%s: expected an integer, found no such card",
                        key);
    return cip_fits_int(h, key, in, out, err);
}

static cip_status read_axes(cip_layout *l, fits_hdu *h, cip_err *err)
{
    int64_t n, *axis;
    char key[16];
    CIP_TRY(need_int(&h->header, "NAXIS", (fits_range){ 0, FITS_MAX_AXES }, &n, err));
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &axis, (size_t)n, err));
    for (int64_t i = 0; i < n; i++)
        CIP_TRY(need_int(&h->header, cip_fits_nth(key, "NAXIS", (unsigned)i + 1), any_length,
                         &axis[i], err));
    h->naxis = (int32_t)n;
    h->axis = axis;
    return CIP_OK;
}

static cip_status read_kind(fits_hdu *h, cip_err *err)
{
    static const struct {
        const char *name;
        fits_kind kind;
    } kind[] = { { "IMAGE", FITS_IMAGE },
                 { "IUEIMAGE", FITS_IMAGE },
                 { "TABLE", FITS_ASCII },
                 { "BINTABLE", FITS_BINARY },
                 { "A3DTABLE", FITS_BINARY } };
    const char *name = NULL;
    bool groups = false, tiles = false;
    h->kind = FITS_IMAGE;
    if (h->number == 0) {
        CIP_TRY(cip_fits_yes(&h->header, "GROUPS", &groups, err));
        if (groups && h->naxis > 0 && h->axis[0] == 0)
            h->kind = FITS_GROUPS;
        return CIP_OK;
    }
    CIP_TRY(cip_fits_text(&h->header, "XTENSION", &name, err));
    h->kind = FITS_OTHER;
    for (size_t i = 0; name != NULL && i < sizeof kind / sizeof *kind; i++)
        if (strcmp(name, kind[i].name) == 0)
            h->kind = kind[i].kind;
    if (h->kind == FITS_BINARY)
        CIP_TRY(cip_fits_yes(&h->header, "ZIMAGE", &tiles, err));
    if (tiles)
        h->kind = FITS_TILES;
    return CIP_OK;
}

/* |BITPIX| / 8 * GCOUNT * (PCOUNT + product of the axes), of a primary image without the counts;
 * the first axis of random groups, which is 0, is left out of the product. */
static cip_status count_bytes(fits_hdu *h, cip_err *err)
{
    uint64_t n = h->naxis != 0, bytes = (uint64_t)(h->bitpix < 0 ? -h->bitpix : h->bitpix) / 8;
    bool over = false, none = h->naxis == 0;
    for (int32_t i = h->kind == FITS_GROUPS; i < h->naxis; i++) {
        none |= h->axis[i] == 0;
        over |= cip_mul_overflow(n, (uint64_t)h->axis[i], &n);
    }
    if (none) { /* whatever the other axes are */
        n = 0;
        over = false;
    }
    if (h->number != 0 || h->kind == FITS_GROUPS)
        over |= cip_add_overflow(n, (uint64_t)h->pcount, &n) ||
                cip_mul_overflow(n, (uint64_t)h->gcount, &n);
    over |= cip_mul_overflow(n, bytes, &n) || n > INT64_MAX - FITS_BLOCK;
    if (over)
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                        "NAXIS: expected data of less than 2^63 bytes, found more");
    h->nbytes = n;
    return CIP_OK;
}

cip_status cip_fits_hdu_read(cip_layout *l, fits_hdu *h, cip_err *err)
{
    const fits_header *m = &h->header;
    CIP_TRY(need_int(m, "BITPIX", (fits_range){ -64, 64 }, &h->bitpix, err));
    if (h->bitpix != 8 && h->bitpix != 16 && h->bitpix != 32 && h->bitpix != 64 &&
        h->bitpix != -32 && h->bitpix != -64)
        return cip_fail(err, CIP_ERR_CORRUPT, m->off,
                        "BITPIX: expected 8, 16, 32, 64, -32 or -64, found %" PRId64, h->bitpix);
    CIP_TRY(read_axes(l, h, err));
    CIP_TRY(read_kind(h, err));
    h->pcount = 0;
    h->gcount = 1;
    if (h->number != 0 || h->kind == FITS_GROUPS) {
        CIP_TRY(cip_fits_int(m, "PCOUNT", any_length, &h->pcount, err));
        CIP_TRY(cip_fits_int(m, "GCOUNT", any_length, &h->gcount, err));
    }
    h->data = m->end;
    CIP_TRY(count_bytes(h, err));
    /* Names only help to find it: one of another type is none. */
    h->extver = 1;
    if (cip_fits_text(m, "EXTNAME", &h->extname, NULL) != CIP_OK ||
        (h->extname != NULL && h->extname[0] == '\0'))
        h->extname = NULL;
    (void)cip_fits_int(m, "EXTVER", (fits_range){ INT64_MIN, INT64_MAX }, &h->extver, NULL);
    return CIP_OK;
}
