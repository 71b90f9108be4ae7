/* SPDX-License-Identifier: BSD-3-Clause
 * NDLZ decoded: a plane of bytes in square cells of 4 or 8, row by row; those at the far edges are
 * smaller. Each is a token and then literal rows, a byte to fill it with, or how far back (from the
 * token, in the stored bytes) rows lie that it repeats:
 *   0x00                 all rows are literal
 *   0x40                 one byte fills the cell
 *   0xC0, u16            all rows are further back
 *   side 4, u16          0xE0 to 0xFF three rows, 0x80 to 0xBF two rows are further back
 *   side 4, u16, u16     0x28 to 0x3F two rows and the other two rows are
 *   side 8, u16          0xA8 on (three) and 0x88 on (two) rows from number token % 8 on are
 * The rows that are left are literal. */
#include "codec/blosc/blosc_decode.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"

enum { SIDE_MAX = 8 };

typedef struct plane {
    cip_cursor in;
    size_t side, nrow, ncol; /* of the plane */
    size_t height, width;    /* of the cell at hand */
    uint8_t cell[SIDE_MAX * SIDE_MAX];
} plane;

/* Which rows a token takes from further back, in their order there: up to two runs of them. */
typedef struct rows {
    size_t n[2];
    uint8_t at[2][3];
} rows;

static const rows none = { .n = { 0 } };

/* Tokens of side 4; false: none. */
static bool rows_of_4(uint8_t token, rows *r)
{
    static const uint8_t three[4][3] = { { 1, 2, 3 }, { 0, 1, 2 }, { 0, 1, 3 }, { 0, 2, 3 } };
    uint8_t code = token >> 3;
    *r = none;
    if (token >= 0xE0) {
        r->n[0] = 3;
        memcpy(r->at[0], three[code & 3], 3);
    } else if (token >= 0x80 && token <= 0xBF) {
        r->n[0] = 2;
        r->at[0][0] = token == 0x80 ? 2 : code >> 2 & 3;
        r->at[0][1] = token == 0x80 ? 3 : code & 3;
    } else if (token >= 0x28 && token <= 0x3F) {
        uint8_t with = code & 3; /* the row that goes with row 0; the other two go together */
        r->n[0] = r->n[1] = 2;
        r->at[0][1] = with;
        r->at[1][0] = with == 1 ? 2 : 1;
        r->at[1][1] = with == 3 ? 2 : 3;
    }
    return r->n[0] != 0 && r->at[0][0] != r->at[0][1];
}

static bool rows_of_8(uint8_t token, rows *r)
{
    uint8_t from = token & 7;
    *r = none;
    if (token >> 3 == 21)
        r->n[0] = 3;
    else if (token >> 3 == 17)
        r->n[0] = 2;
    for (uint8_t k = 0; k < r->n[0]; k++)
        r->at[0][k] = from + k;
    return r->n[0] != 0 && from + r->n[0] <= SIDE_MAX;
}

/* n stored bytes, as far back from the token at `token` as the next two bytes say. */
static const uint8_t *back(plane *p, size_t token, size_t n)
{
    size_t dist = cip_get_u16(&p->in), left = p->in.in.len;
    if (p->in.bad || dist > token || n > left - (token - dist))
        return NULL;
    return p->in.in.ptr + (token - dist);
}

static cip_status repeat_rows(plane *p, uint8_t token, cip_err *err)
{
    size_t at = p->in.pos - 1;
    bool have[SIDE_MAX] = { false };
    rows r;
    if (!(p->side == 4 ? rows_of_4(token, &r) : rows_of_8(token, &r)) || p->width != p->side ||
        p->height != p->side)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a token of NDLZ, found 0x%02x", token);
    for (int run = 0; run < 2 && r.n[run] != 0; run++) {
        const uint8_t *from = back(p, at, r.n[run] * p->side);
        if (from == NULL)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected earlier rows in NDLZ data, found none");
        for (size_t k = 0; k < r.n[run]; k++) {
            memcpy(p->cell + r.at[run][k] * p->side, from + k * p->side, p->side);
            have[r.at[run][k]] = true;
        }
    }
    for (size_t k = 0; k < p->side; k++)
        if (!have[k])
            cip_get_copy(&p->in, p->cell + k * p->side, p->side);
    return CIP_OK;
}

static cip_status read_cell(plane *p, cip_err *err)
{
    size_t at = p->in.pos, n = p->height * p->width;
    uint8_t token = cip_get_u8(&p->in);
    const uint8_t *from;
    switch (token) {
    case 0x00:
        cip_get_copy(&p->in, p->cell, n);
        break;
    case 0x40:
        memset(p->cell, cip_get_u8(&p->in), n);
        break;
    case 0xC0:
        from = back(p, at, n);
        if (from == NULL)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected an earlier cell in NDLZ data, found none");
        memcpy(p->cell, from, n);
        break;
    default:
        CIP_TRY(repeat_rows(p, token, err));
    }
    if (p->in.bad)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected more NDLZ data, found the end");
    return CIP_OK;
}

cip_status cip_ndlz_decode(int side, cip_bytes src, uint8_t *dst, size_t n, cip_err *err)
{
    plane p = { .in = cip_cursor_le(src), .side = (size_t)side };
    if (side != 4 && side != 8)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected cells of side 4 or 8 in NDLZ, found %d", side);
    uint8_t ndim = cip_get_u8(&p.in);
    uint32_t nrow = cip_get_u32(&p.in), ncol = cip_get_u32(&p.in);
    if (p.in.bad || ndim != 2 || (uint64_t)nrow * ncol != n)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a plane of %zu bytes in NDLZ data, found %" PRIu32 " x %" PRIu32,
                        n, nrow, ncol);
    p.nrow = nrow;
    p.ncol = ncol;
    for (size_t y = 0; y < p.nrow; y += p.side) {
        p.height = (size_t)cip_min_u64(p.side, p.nrow - y);
        for (size_t x = 0; x < p.ncol; x += p.side) {
            p.width = (size_t)cip_min_u64(p.side, p.ncol - x);
            CIP_TRY(read_cell(&p, err));
            for (size_t k = 0; k < p.height; k++)
                memcpy(dst + (y + k) * p.ncol + x, p.cell + k * p.width, p.width);
        }
    }
    return CIP_OK;
}
