/* SPDX-License-Identifier: BSD-3-Clause
 * Checking: CHECKSUM and DATASUM (standard 4.0, appendix J), padding, what the walk met, and that
 * every byte can be read. */
#include "base/num.h"
#include "format/fits/fits.h"
#include "space/read/window.h"

enum { PIECE = 1 << 20 };

/* A sum over pieces of any length, and the padding behind what is summed. */
typedef struct summing {
    fits_sum sum;
    uint8_t pad;   /* what the padding should hold ... */
    uint64_t from; /* ... from here on */
    uint64_t bad;  /* the first byte of it that is another; UINT64_MAX: none */
    cip_report *report;
} summing;

static int sum_piece(void *user, const uint8_t *p, size_t n)
{
    summing *s = user;
    const uint64_t at = s->sum.at;
    for (uint64_t i = cip_bytes_left(s->from, at); i < n && s->bad == UINT64_MAX; i++)
        if (p[i] != s->pad)
            s->bad = at + i;
    cip_fits_sum_add(&s->sum, p, n);
    return cip_report_read(s->report, p, n);
}

static cip_status sum_range(cip_layout *l, uint64_t off, uint64_t n, summing *s, cip_err *err)
{
    const cip_read_how how = { l, l->env->pool };
    cip_space *part;
    CIP_TRY(cip_space_new_sub(l, l->file, off, n, &part, err));
    return cip_space_stream(&how, part, PIECE, sum_piece, s, err);
}

static cip_status verify_hdu(fits_file *f, const fits_hdu *h, cip_report *report, cip_err *err)
{
    cip_layout *l = f->layout;
    const fits_header *m = &h->header;
    const uint64_t padded = cip_div_up(h->nbytes, FITS_BLOCK) * FITS_BLOCK;
    const uint64_t there = cip_bytes_left(l->io->size, h->data);
    const uint64_t head = cip_min_u64(m->end, l->io->size) - m->off;
    summing header = {
        .pad = ' ', .from = m->ncard * FITS_CARD, .bad = UINT64_MAX, .report = report
    };
    summing data = { .pad = h->kind == FITS_ASCII ? ' ' : 0,
                     .from = h->nbytes,
                     .bad = UINT64_MAX,
                     .report = report };
    cip_err why = CIP_ERR_INIT;
    uint64_t said;
    cip_status st = sum_range(l, m->off, head, &header, &why);
    if (st == CIP_OK)
        st = sum_range(l, cip_min_u64(h->data, l->io->size), cip_min_u64(padded, there), &data,
                       &why);
    CIP_TRY(cip_report_outcome(report, st, &why, err));
    if (st != CIP_OK)
        return CIP_OK;
    const uint32_t sum = cip_fits_fold(data.sum.sum);
    if (there < h->nbytes)
        cip_report_add(report, CIP_BAD, CIP_ERR_TRUNCATED, l->io->size, 0, h->key,
                       "expected %" PRIu64 " bytes of data, found %" PRIu64, h->nbytes, there);
    else if (there < padded || head < m->end - m->off)
        cip_report_add(report, CIP_WARN, CIP_ERR_TRUNCATED, l->io->size, 0, h->key,
                       "the last block is not filled to %d bytes", FITS_BLOCK);
    if (header.bad != UINT64_MAX)
        cip_report_add(report, CIP_WARN, CIP_ERR_CORRUPT, m->off + header.bad, 0, h->key,
                       "expected blanks after END");
    if (data.bad != UINT64_MAX)
        cip_report_add(report, CIP_NOTE, CIP_OK, h->data + data.bad, 0, h->key,
                       "the data are not padded with %s", data.pad == ' ' ? "blanks" : "zeros");
    if (there < padded)
        return CIP_OK;
    if (cip_fits_said_sum(m, &said) && said != sum)
        cip_report_add(report, CIP_BAD, CIP_ERR_CHECKSUM, h->data, h->nbytes, h->key,
                       "DATASUM: expected %" PRIu64 ", found %" PRIu32, said, sum);
    const cip_node *check = cip_map_get(m->map, "CHECKSUM");
    const uint32_t all = cip_fits_fold(header.sum.sum + sum);
    if (check != NULL && check->type == CIP_NODE_STRING && check->len == 16 && all != UINT32_MAX &&
        all != 0)
        cip_report_add(report, CIP_BAD, CIP_ERR_CHECKSUM, m->off, h->data + padded - m->off, h->key,
                       "CHECKSUM: expected a sum of 0xffffffff, found 0x%08" PRIx32, all);
    return CIP_OK;
}

cip_status cip_fits_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    fits_file *f = l->own;
    (void)deep;
    for (size_t i = 0; i < f->nhdu; i++) {
        CIP_TRY(verify_hdu(f, &f->hdu[i], report, err));
        CIP_TRY(cip_report_status(report, err));
    }
    if (f->end < l->io->size && f->cut_short.code == CIP_OK)
        cip_report_add(report, CIP_NOTE, CIP_OK, f->end, l->io->size - f->end, NULL,
                       "%" PRIu64 " bytes after the last HDU", l->io->size - f->end);
    return CIP_OK;
}
