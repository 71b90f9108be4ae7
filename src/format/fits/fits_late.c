/* SPDX-License-Identifier: BSD-3-Clause
 * New files whose arrays come before the tree is whole, and with it the headers. Each array leaves
 * room for its header as it is by then, usually all of it, and its data go where they stay. At the
 * end headers are made as ever. Only where one needs other room do data move: first those that go
 * to the end, the last ones first, then the others, the first ones first. So none is overwritten
 * before it moved: HDUs keep their order, and no two of their new places overlap. The first header,
 * without which no bytes are a FITS file, is written last. */
#include "format/fits/fits_write.h"

static cip_status end_before(fits_writer *w, cip_err *err)
{
    CIP_TRY(cip_fits_end_data(w, err));
    if (w->nhdu != 0)
        w->hdu[w->nhdu - 1].sum = w->data;
    return CIP_OK;
}

cip_status cip_fits_late_add(void *state, const cip_spec_array *array, cip_array_form *form,
                             cip_err *err)
{
    fits_writer *w = state;
    fits_cards c = { .out = &w->head, .sums = w->sums };
    uint64_t n, room = 0;
    CIP_TRY(CIP_ARENA_ROOM(w->arena, &w->hdu, w->nhdu, &w->cap, err));
    fits_new *h = &w->hdu[w->nhdu];
    const bool table = array->dtype->kind == CIP_RECORD;
    CIP_TRY(cip_fits_take_array(w, w->spec, array, h, err));
    CIP_TRY(cip_fits_form(h, form, err));
    CIP_TRY(cip_spec_array_nbytes(array, h->stored, &n, err));
    w->head.len = 0;
    CIP_TRY(cip_fits_put_header(&c, h, w->nhdu == 0 && !table, true, err));
    room = w->head.len + (w->nhdu == 0 && table ? FITS_BLOCK : 0); /* one without data before */
    CIP_TRY(end_before(w, err));
    CIP_TRY(cip_out_fill(w->out, 0, room, err));
    cip_fits_begin_data(w, n);
    h->at = w->out->n;
    h->nbytes = n + w->pad;
    w->nhdu++;
    return CIP_OK;
}

/* All HDUs as they are to be, their headers, and where all of it is to lie; *end: behind them. */
static cip_status lay_out(fits_writer *w, uint64_t *end, cip_err *err)
{
    const fits_new *came = w->hdu;
    fits_cards c = { .out = &w->head, .sums = w->sums };
    CIP_TRY(cip_fits_plan(w, w->spec, err));
    for (size_t i = 0; i < w->spec->narray; i++) {
        fits_new *h = &w->hdu[w->of[i]];
        h->at = came[i].at;
        h->nbytes = came[i].nbytes;
        h->sum = came[i].sum;
    }
    w->head.len = 0;
    *end = 0;
    for (size_t k = 0; k < w->nhdu; k++) {
        fits_new *h = &w->hdu[k];
        h->head = w->head.len;
        CIP_TRY(cip_fits_put_header(&c, h, k == 0, w->nhdu > 1, err));
        h->nhead = w->head.len - h->head;
        h->to = *end + h->nhead;
        *end = h->to + h->nbytes;
    }
    return CIP_OK;
}

static cip_status move_data(const fits_writer *w, cip_err *err)
{
    uint64_t end = 0;
    for (size_t k = 0; k < w->nhdu; k++)
        end = w->hdu[k].nbytes != 0 ? w->hdu[k].at + w->hdu[k].nbytes : end;
    CIP_TRY(cip_out_rewind(w->out, end, err)); /* room for headers without data */
    for (size_t k = w->nhdu; k-- > 0;) {
        const fits_new *h = &w->hdu[k];
        if (h->nbytes != 0 && h->to > h->at)
            CIP_TRY(cip_out_move(w->out, h->at, h->nbytes, h->to, err));
    }
    for (size_t k = 0; k < w->nhdu; k++) {
        const fits_new *h = &w->hdu[k];
        if (h->nbytes != 0 && h->to < h->at)
            CIP_TRY(cip_out_move(w->out, h->at, h->nbytes, h->to, err));
    }
    return CIP_OK;
}

cip_status cip_fits_late_finish(fits_writer *w, cip_err *err)
{
    uint64_t end;
    CIP_TRY(end_before(w, err));
    CIP_TRY(lay_out(w, &end, err));
    CIP_TRY(move_data(w, err));
    CIP_TRY(cip_out_fill(w->out, 0, end - w->out->n, err));
    for (size_t k = w->nhdu; k-- > 0;) {
        const fits_new *h = &w->hdu[k];
        uint8_t *head = w->head.ptr + h->head;
        if (w->sums)
            CIP_TRY(cip_fits_sum_header(&h->sum, head, h->nhead, err));
        CIP_TRY(cip_out_rewrite(w->out, h->to - h->nhead, head, h->nhead, err));
    }
    return CIP_OK;
}
